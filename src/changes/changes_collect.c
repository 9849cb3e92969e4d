/*
 * The entries of a snapshot that tell of its changes, from its root or list and from the manifests
 * that it changed.
 *
 * Invariants:
 *  1. Manifests that the snapshot left as they were are not read.
 *  2. The rows of a new manifest are changes by their status, those of a modified one by its two
 *     bitmaps alone: their status is history.
 *  3. A row tells of this snapshot only if it names it: as the one that added, deleted, replaced or
 *     modified the file.
 *
 * spec: reading changes out of a leaf; change detection
 */
#include "changes/changes_internal.h"

/* ---- halves ---- */

static bool is_by(const change_set *set, int64_t snapshot_id)
{
    return snapshot_id == set->after.snapshot->snapshot_id;
}

/* The one that last modified it; older writers left it out of entries that they had made. */
static int64_t modifier_of(int64_t modified_snapshot_id, int64_t snapshot_id)
{
    return modified_snapshot_id == FRZ_NO_VALUE ? snapshot_id : modified_snapshot_id;
}

static frz_code add_half(change_set *set, const frz_entry *entry, frz_status status, bool is_hint,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_half half = {.status = status, .is_hint = is_hint, .entry = entry};
    FRZ_TRY(frz_table_resolve_view(set->table, entry->location, &set->arena, &half.location, err));
    half.place = frz_location_place(half.location);
    FRZ_TRY(FRZ_GROW(set->env, &set->halves, &set->half_capacity, set->half_count, err));
    set->halves[set->half_count++] = half;
out:
    return rc;
}

/* A row whose status counts. */
static frz_code take_row(change_set *set, const frz_entry *entry, frz_error *err)
{
    switch (entry->status) {
    case FRZ_STATUS_ADDED:
    case FRZ_STATUS_DELETED:
        return is_by(set, entry->snapshot_id) ? add_half(set, entry, entry->status, false, err)
                                              : FRZ_OK;
    case FRZ_STATUS_MODIFIED:
        return is_by(set, modifier_of(entry->modified_snapshot_id, entry->snapshot_id))
                   ? add_half(set, entry, entry->status, false, err)
                   : FRZ_OK;
    case FRZ_STATUS_REPLACED:
        return add_half(set, entry, entry->status, !is_by(set, entry->snapshot_id), err);
    default:
        return FRZ_OK;
    }
}

static frz_code take_delete_file(change_set *set, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_file file = {.old = entry->status == FRZ_STATUS_DELETED ? entry : NULL,
                        .new = entry->status == FRZ_STATUS_ADDED ? entry : NULL};
    if ((file.old == NULL && file.new == NULL) || !is_by(set, entry->snapshot_id)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_table_resolve_view(set->table, entry->location, &set->arena, &file.location, err));
    FRZ_TRY(FRZ_GROW(set->env, &set->delete_files, &set->delete_file_capacity,
                     set->delete_file_count, err));
    set->delete_files[set->delete_file_count++] = file;
out:
    return rc;
}

/* ---- one manifest ---- */

typedef enum walk_mode {
    WALK_NEW,      /* status by status */
    WALK_MODIFIED, /* the positions of the two bitmaps */
    WALK_GONE      /* what the parent had in it */
} walk_mode;

typedef struct walk {
    change_set *set;
    const frz_manifest_file *file;
    walk_mode mode;
    frz_locations *seen;         /* locations of the snapshot's other entries; NULL: nobody asks */
    const frz_mumbling *gone_dv; /* of a manifest that is gone, as the parent had it */
    int64_t found;               /* entries at the positions of the bitmaps */
} walk;

static bool holds(const frz_mumbling *positions, const frz_entry *entry)
{
    return positions != NULL && frz_mumbling_has(positions, (uint64_t)entry->position);
}

static bool is_marked(const frz_manifest_file *file, const frz_entry *entry)
{
    return holds(file->deleted_positions, entry) || holds(file->replaced_positions, entry);
}

/* Most of an entry is read only if it is kept. */
static bool keep(void *ctx, const frz_entry *entry)
{
    const walk *w = ctx;
    switch (w->mode) {
    case WALK_NEW:
        return w->seen != NULL || (entry->status != FRZ_STATUS_EXISTING && !entry->is_masked);
    case WALK_MODIFIED:
        return is_marked(w->file, entry);
    default:
        return frz_status_is_live(entry->status) && !holds(w->gone_dv, entry);
    }
}

static frz_code see(walk *w, const frz_entry *entry, bool *added, frz_error *err)
{
    return w->seen == NULL ? FRZ_OK
                           : frz_locations_add(w->seen, w->set->table, entry->location, added, err);
}

static frz_code take_new(walk *w, const frz_entry *entry, frz_error *err)
{
    bool added;
    if (w->file->content == FRZ_CONTENT_DELETE_MANIFEST) {
        return take_delete_file(w->set, entry, err);
    }
    frz_code rc = see(w, entry, &added, err);
    return rc == FRZ_OK && !entry->is_masked ? take_row(w->set, entry, err) : rc;
}

static frz_code take_marked(walk *w, const frz_entry *entry, frz_error *err)
{
    bool deleted = holds(w->file->deleted_positions, entry);
    w->found++;
    if (!frz_status_is_live(entry->status)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: entry %lld was %s before",
                        deleted ? "deleted_positions" : "replaced_positions",
                        (long long)entry->position, frz_status_name(entry->status));
    }
    return add_half(w->set, entry, deleted ? FRZ_STATUS_DELETED : FRZ_STATUS_REPLACED, false, err);
}

/* An entry of a manifest that the snapshot dropped: if nothing else tells what became of the file,
 * it was removed. */
static frz_code take_gone(walk *w, const frz_entry *entry, frz_error *err)
{
    bool added = true;
    if (holds(w->file->replaced_positions, entry)) {
        return add_half(w->set, entry, FRZ_STATUS_REPLACED, true, err);
    }
    frz_code rc = see(w, entry, &added, err);
    return rc == FRZ_OK && added ? add_half(w->set, entry, FRZ_STATUS_DELETED, false, err) : rc;
}

static frz_code take(walk *w, const frz_entry *entry, frz_error *err)
{
    switch (w->mode) {
    case WALK_NEW:
        return take_new(w, entry, err);
    case WALK_MODIFIED:
        return take_marked(w, entry, err);
    default:
        return take_gone(w, entry, err);
    }
}

static int64_t cardinality_of(const frz_mumbling *positions)
{
    return positions == NULL ? 0 : (int64_t)positions->cardinality;
}

/* Lists of old writers do not say how many entries a manifest has. */
static frz_code check_found(const walk *w, frz_error *err)
{
    int64_t marked =
        cardinality_of(w->file->deleted_positions) + cardinality_of(w->file->replaced_positions);
    return w->mode != WALK_MODIFIED || w->found == marked
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT,
                          "manifest %.*s: deleted_positions and replaced_positions have %lld "
                          "positions, of which %lld are entries",
                          FRZ_STR_ARG(w->file->location), (long long)marked, (long long)w->found);
}

static frz_code walk_manifest(walk *w, size_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = NULL;
    const frz_entry_request request = {.all_entries = true, .keep = keep, .keep_ctx = w};
    const frz_entry *entries = NULL;
    size_t count = 0;
    FRZ_TRY(frz_entry_reader_open(w->set->after.tree, i, &request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &w->set->arena, &entries, &count, err)) == FRZ_OK) {
        for (size_t k = 0; k < count; k++) {
            rc = take(w, &entries[k], err);
            FRZ_TRY(frz_context(err, rc, "manifest %.*s", FRZ_STR_ARG(w->file->location)));
        }
    }
    rc = rc == FRZ_END ? check_found(w, err) : rc;
out:
    frz_entry_reader_close(reader);
    return rc;
}

/* ---- the manifests of a root ---- */

static bool is_gone(const change_set *set, const frz_manifest_file *file)
{
    return file->content == FRZ_CONTENT_DATA_MANIFEST && file->status == FRZ_STATUS_DELETED &&
           is_by(set, file->snapshot_id);
}

/* How a manifest is to be walked; false: it tells of no change. */
static bool mode_of(const change_set *set, const frz_manifest_file *file, walk_mode *mode)
{
    if (file->status == FRZ_STATUS_ADDED && is_by(set, file->snapshot_id)) {
        *mode = WALK_NEW;
        return true;
    }
    *mode = WALK_MODIFIED;
    return file->status == FRZ_STATUS_MODIFIED &&
           is_by(set, modifier_of(file->modified_snapshot_id, file->snapshot_id)) &&
           (file->deleted_positions != NULL || file->replaced_positions != NULL);
}

/* Entries of delete manifests only ever fall out of use in version 4, when what they delete is in
 * deletion vectors or gone. */
static frz_code check_manifest(const change_set *set, const frz_manifest_file *file, frz_error *err)
{
    if (file->content == FRZ_CONTENT_DELETE_MANIFEST && file->status == FRZ_STATUS_ADDED &&
        is_by(set, file->snapshot_id)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "manifest %.*s: a snapshot of version 4 cannot add a delete manifest",
                        FRZ_STR_ARG(file->location));
    }
    return frz_manifest_file_check_changes(file, err);
}

static frz_code walk_changed(change_set *set, frz_locations *seen, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < frz_tree_manifest_count(set->after.tree); i++) {
        walk w = {.set = set, .file = frz_tree_manifest(set->after.tree, i), .seen = seen};
        FRZ_TRY(check_manifest(set, w.file, err));
        if (w.file->content == FRZ_CONTENT_DATA_MANIFEST && mode_of(set, w.file, &w.mode)) {
            FRZ_TRY(walk_manifest(&w, i, err));
        }
    }
out:
    return rc;
}

/* What of a manifest was live before only the parent says: its bitmap may have grown since. */
static frz_code find_gone_dv(walk *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_side *before = &w->set->before;
    bool same = false;
    if (w->file->dv == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(w->set->parent_expired
                ? change_fail_expired(w->set, "what it had deleted is not known", err)
                : change_open_tree(w->set, before, err));
    for (size_t i = 0; before->tree != NULL && i < frz_tree_manifest_count(before->tree) && !same;
         i++) {
        const frz_manifest_file *file = frz_tree_manifest(before->tree, i);
        FRZ_TRY(change_same_location(w->set, file->location, w->file->location, &same, err));
        w->gone_dv = same ? file->dv : NULL;
    }
out:
    return rc;
}

static frz_code walk_gone(change_set *set, frz_locations *seen, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; seen != NULL && i < frz_tree_manifest_count(set->after.tree); i++) {
        walk w = {.set = set,
                  .file = frz_tree_manifest(set->after.tree, i),
                  .mode = WALK_GONE,
                  .seen = seen};
        if (is_gone(set, w.file)) {
            FRZ_TRY(find_gone_dv(&w, err));
            FRZ_TRY(walk_manifest(&w, i, err));
        }
    }
out:
    return rc;
}

static frz_code walk_entries(change_set *set, frz_locations *seen, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < frz_tree_entry_count(set->after.tree); i++) {
        const frz_entry *entry = frz_tree_entry(set->after.tree, i);
        bool added;
        FRZ_TRY(take_row(set, entry, err));
        if (seen != NULL) {
            FRZ_TRY(frz_locations_add(seen, set->table, entry->location, &added, err));
        }
    }
out:
    return rc;
}

static frz_code collect_root(change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_locations locations = {.env = set->env}, *seen = NULL;
    for (size_t i = 0; i < frz_tree_manifest_count(set->after.tree); i++) {
        seen = is_gone(set, frz_tree_manifest(set->after.tree, i)) ? &locations : seen;
    }
    FRZ_TRY(walk_entries(set, seen, err));
    FRZ_TRY(walk_changed(set, seen, err));
    FRZ_TRY(walk_gone(set, seen, err));
out:
    frz_locations_reset(&locations);
    return rc;
}

/* ---- the manifests of a list ---- */

/* spec: versions 1 to 3 write the manifests that hold changes anew with every snapshot */
static frz_code collect_list(change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < frz_tree_manifest_count(set->after.tree); i++) {
        walk w = {.set = set, .file = frz_tree_manifest(set->after.tree, i), .mode = WALK_NEW};
        if (w.file->snapshot_id == FRZ_NO_VALUE || is_by(set, w.file->snapshot_id)) {
            FRZ_TRY(walk_manifest(&w, i, err));
        }
    }
out:
    return rc;
}

/* ---- opening ---- */

frz_code change_open_tree(change_set *set, change_side *side, frz_error *err)
{
    static const frz_stats_choice no_stats = {false, NULL, 0};
    return side->tree != NULL || side->snapshot == NULL
               ? FRZ_OK
               : frz_tree_open(set->table, side->snapshot, set->schema, &no_stats, &side->tree,
                               err);
}

frz_code change_fail_expired(const change_set *set, const char *unknown, frz_error *err)
{
    const frz_snapshot *after = set->after.snapshot;
    frz_code rc = frz_fail(err, FRZ_E_NOT_FOUND,
                           "snapshot %lld, the parent of snapshot %lld, has expired: %s",
                           (long long)after->parent_id, (long long)after->snapshot_id, unknown);
    if (after->first_row_id == FRZ_NO_VALUE) {
        frz_hint(err, "changes made after snapshot %lld are known", (long long)after->snapshot_id);
    } else {
        frz_hint(err,
                 "changes made after snapshot %lld are known; the rows that it inserted or updated "
                 "are those with _last_updated_sequence_number = %lld",
                 (long long)after->snapshot_id, (long long)after->sequence_number);
    }
    return rc;
}

frz_code change_set_open(const frz_table *table, const frz_schema *schema,
                         const frz_snapshot *snapshot, change_set **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_set *set = frz_alloc_zero(table->env, 1, sizeof *set);
    if (set == NULL) {
        return frz_fail_nomem(err, sizeof *set);
    }
    set->env = table->env;
    set->table = table;
    set->schema = schema;
    frz_arena_init(&set->arena, table->env, FRZ_ARENA_NO_LIMIT);
    set->after.snapshot = snapshot;
    set->before.snapshot = frz_metadata_snapshot(&table->metadata, snapshot->parent_id);
    set->parent_expired = snapshot->parent_id != 0 && set->before.snapshot == NULL;
    FRZ_TRY(change_open_tree(set, &set->after, err));
    FRZ_TRY(frz_tree_has_root(set->after.tree) ? collect_root(set, err) : collect_list(set, err));
    rc = change_set_pair(set, err);
    FRZ_TRY(frz_context(err, rc, "manifest %s", frz_tree_location(set->after.tree)));
    *out = set;
    set = NULL;
out:
    change_set_free(set);
    return frz_context(err, rc, "changes of snapshot %lld", (long long)snapshot->snapshot_id);
}

static void close_side(change_side *side)
{
    frz_delete_index_free(side->deletes);
    frz_tree_free(side->tree);
}

void change_set_free(change_set *set)
{
    if (set == NULL) {
        return;
    }
    const frz_env *env = set->env;
    close_side(&set->before);
    close_side(&set->after);
    frz_free(env, set->halves);
    frz_free(env, set->files);
    frz_free(env, set->delete_files);
    frz_arena_reset(&set->arena);
    frz_free(env, set);
}
