/*
 * Entries of a snapshot, manifest by manifest: what is held at once does not grow with the table.
 */
#include "meta/meta_mumbling.h"
#include "meta/meta_view.h"

void meta_view_walk_reset(meta_view_walk *walk)
{
    frz_entry_reader_close(walk->reader);
    walk->reader = NULL;
    frz_arena_reset(&walk->arena);
}

/* The entries of the root itself. */
static frz_code root_entries(meta_view *v, bool all, const frz_entry **out, size_t *count,
                             frz_error *err)
{
    size_t entries = frz_tree_entry_count(v->tree);
    frz_entry *kept = frz_arena_array(&v->walk.arena, entries, sizeof *kept);
    size_t n = 0;
    if (kept == NULL) {
        return frz_fail_nomem(err, entries * sizeof *kept);
    }
    for (size_t i = 0; i < entries; i++) {
        const frz_entry *entry = frz_tree_entry(v->tree, i);
        if (all || frz_status_is_live(entry->status)) {
            kept[n++] = *entry;
        }
    }
    v->walk.manifest = NULL;
    *out = kept;
    *count = n;
    return FRZ_OK;
}

/* Open the next manifest that can have entries; FRZ_END: there is none. */
static frz_code open_next(meta_view *v, bool all, frz_error *err)
{
    meta_view_walk *walk = &v->walk;
    const frz_entry_request request = {.all_entries = all};
    while (walk->next_manifest < frz_tree_manifest_count(v->tree)) {
        size_t at = walk->next_manifest++;
        walk->manifest = frz_tree_manifest(v->tree, at);
        if (frz_status_is_live(walk->manifest->status)) {
            return frz_entry_reader_open(v->tree, at, &request, &walk->reader, err);
        }
    }
    return FRZ_END;
}

frz_code meta_view_walk_next(meta_view *v, bool all, const frz_entry **out, size_t *count,
                             frz_error *err)
{
    meta_view_walk *walk = &v->walk;
    *count = 0;
    if (v->tree == NULL) {
        return FRZ_END;
    }
    frz_arena_reset(&walk->arena);
    if (!walk->root_done) {
        walk->root_done = true;
        return root_entries(v, all, out, count, err);
    }
    for (;;) {
        if (walk->reader == NULL) {
            frz_code rc = open_next(v, all, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
        frz_code rc = frz_entry_reader_next(walk->reader, &walk->arena, out, count, err);
        if (rc != FRZ_END) {
            return rc;
        }
        frz_entry_reader_close(walk->reader);
        walk->reader = NULL;
    }
}

bool meta_view_is_masked(const meta_view *v, const frz_entry *entry)
{
    const frz_manifest_file *manifest = v->walk.manifest;
    return manifest != NULL && manifest->dv != NULL && entry->position >= 0 &&
           entry->position <= UINT32_MAX &&
           frz_mumbling_has(manifest->dv, (uint32_t)entry->position);
}
