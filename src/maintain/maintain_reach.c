/*
 * Which files a snapshot reaches.
 *
 *  - Live entries reach their data file, its column files and the Puffin file of its deletion
 *    vector; entries of delete manifests reach their delete file.
 *  - Every manifest of a root or list is reached, also one that is DELETED or has no live entry:
 *    what the snapshot changed, and its validation, are read from it.
 *  - What an entry says that is DELETED or REPLACED is not reached by this snapshot.
 *
 * Trees share most of their manifests, so a manifest is read once for each state of its mask.
 */
#include "maintain/maintain_removal.h"
#include "meta/meta_json.h"
#include "meta/meta_mumbling.h"

void frz_reach_init(frz_reach *reach, const frz_env *env, frz_reach_fn visit, void *ctx)
{
    *reach = (frz_reach){.env = env, .visit = visit, .ctx = ctx};
    frz_key_map_init(&reach->seen, env);
}

void frz_reach_reset(frz_reach *reach)
{
    frz_key_map_reset(&reach->seen);
}

/* One snapshot on the way. */
typedef struct reach_walk {
    frz_reach *reach;
    const frz_table *table;
    frz_tree *tree;
    frz_arena arena; /* of one part of a manifest */
} reach_walk;

static frz_code visit_file(reach_walk *w, frz_removed kind, frz_str recorded, frz_error *err)
{
    frz_str location;
    frz_code rc = frz_table_resolve_view(w->table, recorded, &w->arena, &location, err);
    return rc == FRZ_OK ? w->reach->visit(w->reach->ctx, kind, location, err) : rc;
}

static frz_removed kind_of(const frz_entry *entry)
{
    if (entry->content == FRZ_CONTENT_DATA) {
        return FRZ_REMOVED_DATA_FILE;
    }
    return frz_str_equal_nocase(entry->file_format, FRZ_STR("puffin")) ? FRZ_REMOVED_VECTOR_FILE
                                                                       : FRZ_REMOVED_DELETE_FILE;
}

static frz_code walk_entry(reach_walk *w, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!frz_status_is_live(entry->status) || entry->is_masked) {
        return FRZ_OK;
    }
    FRZ_TRY(visit_file(w, kind_of(entry), entry->location, err));
    if (entry->has_deletion_vector && entry->deletion_vector.location.len > 0) {
        FRZ_TRY(visit_file(w, FRZ_REMOVED_VECTOR_FILE, entry->deletion_vector.location, err));
    }
    for (size_t i = 0; i < entry->column_file_count; i++) {
        FRZ_TRY(visit_file(w, FRZ_REMOVED_COLUMN_FILE, entry->column_files[i].location, err));
    }
out:
    return rc;
}

static frz_key manifest_key(frz_str location, const frz_mumbling *masked)
{
    frz_key key = frz_key_of("manifest");
    frz_key_str(&key, location);
    if (masked != NULL) {
        frz_key_bytes(&key, masked->words, masked->container_count * (FRZ_MUMBLING_CONTAINER / 8));
    }
    return key;
}

/* Whether the live entries of a manifest are yet to be seen. Where nothing was masked, all were. */
static frz_code is_new(reach_walk *w, const frz_manifest_file *file, bool *out, frz_error *err)
{
    frz_str location;
    frz_code rc = frz_table_resolve_view(w->table, file->location, &w->arena, &location, err);
    *out = false;
    if (rc != FRZ_OK || frz_key_map_get(&w->reach->seen, manifest_key(location, NULL), NULL)) {
        return rc;
    }
    return frz_key_map_put(&w->reach->seen, manifest_key(location, file->dv), 0, out, err);
}

static frz_code walk_manifest(reach_walk *w, size_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const frz_entry_request live = {.all_entries = false};
    const frz_manifest_file *file = frz_tree_manifest(w->tree, i);
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    bool unseen = false;
    FRZ_TRY(visit_file(w, FRZ_REMOVED_MANIFEST, file->location, err));
    if (!frz_manifest_is_live(file)) {
        goto out;
    }
    FRZ_TRY(is_new(w, file, &unseen, err));
    if (!unseen) {
        goto out;
    }
    FRZ_TRY(frz_entry_reader_open(w->tree, i, &live, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &w->arena, &entries, &count, err)) == FRZ_OK) {
        for (size_t k = 0; k < count; k++) {
            FRZ_TRY(walk_entry(w, &entries[k], err));
        }
        frz_arena_reset(&w->arena);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_entry_reader_close(reader);
    frz_arena_reset(&w->arena);
    return rc;
}

static frz_code walk_tree(reach_walk *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < frz_tree_entry_count(w->tree); i++) {
        FRZ_TRY(walk_entry(w, frz_tree_entry(w->tree, i), err));
    }
    frz_arena_reset(&w->arena);
    for (size_t i = 0; i < frz_tree_manifest_count(w->tree); i++) {
        FRZ_TRY(walk_manifest(w, i, err));
    }
out:
    return rc;
}

static frz_code walk_root(reach_walk *w, const frz_snapshot *snapshot, frz_error *err)
{
    frz_str root =
        snapshot->root_manifest.ptr != NULL ? snapshot->root_manifest : snapshot->manifest_list;
    return root.ptr == NULL ? FRZ_OK : visit_file(w, FRZ_REMOVED_SNAPSHOT_ROOT, root, err);
}

frz_code frz_reach_snapshot(frz_reach *reach, const frz_table *table, const frz_snapshot *snapshot,
                            frz_error *err)
{
    static const frz_stats_choice no_stats = {.all = false};
    frz_code rc = FRZ_OK;
    const frz_schema *schema = NULL;
    bool unseen = false;
    reach_walk w = {.reach = reach, .table = table};
    frz_arena_init(&w.arena, reach->env, FRZ_ARENA_NO_LIMIT);
    frz_key key = frz_key_of("snapshot");
    frz_key_i64(&key, snapshot->snapshot_id);
    FRZ_TRY(frz_key_map_put(&reach->seen, key, 0, &unseen, err));
    if (!unseen) {
        goto out;
    }
    FRZ_TRY(frz_table_snapshot(table, snapshot->snapshot_id, &snapshot, &schema, err));
    FRZ_TRY(walk_root(&w, snapshot, err));
    FRZ_TRY(frz_tree_open(table, snapshot, schema, &no_stats, &w.tree, err));
    FRZ_TRY(walk_tree(&w, err));
out:
    if (rc != FRZ_OK) { /* whoever goes on sees again what may have been seen in part */
        frz_key_map_reset(&reach->seen);
    }
    frz_tree_free(w.tree);
    frz_arena_reset(&w.arena);
    return frz_context(err, rc, "files of snapshot %lld", (long long)snapshot->snapshot_id);
}

frz_code frz_reach_statistics(frz_reach *reach, const frz_table *table, int64_t snapshot_id,
                              frz_error *err)
{
    static const char *const lists[] = {"statistics", "partition-statistics"};
    frz_code rc = FRZ_OK;
    reach_walk w = {.reach = reach, .table = table};
    frz_arena_init(&w.arena, reach->env, FRZ_ARENA_NO_LIMIT);
    for (size_t k = 0; k < FRZ_ARRAY_COUNT(lists); k++) {
        const json_t *list = NULL;
        FRZ_TRY(meta_json_array_or_none(table->metadata.json, "", lists[k], &list, err));
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *file = json_array_get(list, i);
            frz_str location;
            int64_t of;
            FRZ_TRY(meta_json_element(file, lists[k], i, err));
            FRZ_TRY(meta_json_i64(file, "statistics.", "snapshot-id", &of, err));
            FRZ_TRY(meta_json_str(file, "statistics.", "statistics-path", &location, err));
            if (snapshot_id == 0 || of == snapshot_id) {
                FRZ_TRY(visit_file(&w, FRZ_REMOVED_STATISTICS, location, err));
            }
        }
    }
out:
    frz_arena_reset(&w.arena);
    return rc;
}
