/*
 * How the two sides of one file differ: fields that come from other files, and rows that were
 * deleted.
 *
 * Invariants:
 *  1. What deletes rows of an entry is asked of the snapshot that the entry lives in: the old half
 *     of the parent, the new one of the snapshot. Deletes that were only folded into a vector are
 *     then no new ones.
 *  2. A deleted row never comes back.
 *
 * spec: change detection, step 3
 */
#include <stdlib.h>

#include "changes/changes_internal.h"

/* ---- column files ---- */

frz_code change_same_location(change_set *set, frz_str a, frz_str b, bool *same, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str x, y;
    *same = frz_str_equal(a, b);
    if (*same) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_table_resolve_view(set->table, a, &set->arena, &x, err));
    FRZ_TRY(frz_table_resolve_view(set->table, b, &set->arena, &y, err));
    *same = frz_str_equal(x, y);
out:
    return rc;
}

static frz_code same_provider(change_set *set, const change_file *file, int32_t id, bool *same,
                              frz_error *err)
{
    const frz_column_file *old = frz_entry_provider(file->old, id);
    const frz_column_file *new = frz_entry_provider(file->new, id);
    if (old == NULL || new == NULL) {
        *same = old == new;
        return FRZ_OK;
    }
    return change_same_location(set, old->location, new->location, same, err);
}

static size_t count_listed(const frz_entry *entry)
{
    size_t count = 0;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        count += entry->column_files[i].field_id_count;
    }
    return count;
}

static size_t put_listed(const frz_entry *entry, int32_t *ids, size_t count)
{
    for (size_t i = 0; i < entry->column_file_count; i++) {
        for (size_t k = 0; k < entry->column_files[i].field_id_count; k++) {
            ids[count++] = entry->column_files[i].field_ids[k];
        }
    }
    return count;
}

static int compare_ids(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

frz_code change_moved_fields(change_set *set, const change_file *file, const int32_t **out,
                             size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t most = count_listed(file->old) + count_listed(file->new), listed, moved = 0;
    int32_t *ids = frz_arena_array(&set->arena, most + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, most * sizeof *ids);
    }
    listed = put_listed(file->new, ids, put_listed(file->old, ids, 0));
    if (listed > 1) {
        qsort(ids, listed, sizeof *ids, compare_ids);
    }
    for (size_t i = 0; i < listed; i++) {
        bool same = true;
        if (i == 0 || ids[i] != ids[i - 1]) {
            FRZ_TRY(same_provider(set, file, ids[i], &same, err));
        }
        if (!same) {
            ids[moved++] = ids[i];
        }
    }
    *out = ids;
    *count = moved;
out:
    return rc;
}

/* ---- what is in force in a snapshot ---- */

static bool has_delete_files(const frz_tree *tree)
{
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        if (file->content == FRZ_CONTENT_DELETE_MANIFEST && frz_status_is_live(file->status)) {
            return true;
        }
    }
    return false;
}

/* Without the parent nobody knows which delete files were in force in it. */
static frz_code check_parent(const change_set *set, const frz_entry *entry, frz_error *err)
{
    bool matters = entry->is_legacy || !frz_tree_has_root(set->after.tree) ||
                   has_delete_files(set->after.tree);
    return !set->parent_expired || !matters
               ? FRZ_OK
               : change_fail_expired(set, "what it had deleted is not known", err);
}

static frz_code open_side(change_set *set, change_side *side, frz_error *err)
{
    const frz_delete_options options = {.schema = set->schema};
    frz_code rc = FRZ_OK;
    if (side->is_open || side->snapshot == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(change_open_tree(set, side, err));
    if (has_delete_files(side->tree)) {
        FRZ_TRY(frz_delete_index_open(set->table, side->tree, &options, &side->deletes, err));
    }
    side->is_open = true;
out:
    return rc;
}

/* ---- rows that are deleted in a file ---- */

static frz_code gather_batch(change_gatherer *g, const frz_file_deletes *deletes,
                             const frz_type *type, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = batch->array.length;
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    uint8_t *live = frz_alloc(g->env, bytes);
    if (live == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    memset(live, 0xff, bytes);
    FRZ_TRY(frz_file_deletes_clear(deletes, type, batch, live, err));
    for (int64_t i = 0; i < rows; i++) {
        if (!frz_bit_get(live, i)) {
            FRZ_TRY(change_gather(g, batch->first_row + i, err));
        }
    }
out:
    frz_free(g->env, live);
    return rc;
}

/* Keys of equality deletes are held against the rows of the file. */
static frz_code read_deleted(change_set *set, const frz_entry *entry,
                             const frz_file_deletes *deletes, const frz_type *type,
                             change_gatherer *g, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    const frz_stitch_request request = {
        .projection = type, .with_deleted = true, .deleted = frz_file_deletes_positions(deletes)};
    FRZ_TRY(frz_stitch_open(set->table, entry, &request, &stitch, err));
    for (rc = frz_stitch_next(stitch, &batch, err); rc == FRZ_OK;
         rc = frz_stitch_next(stitch, &batch, err)) {
        rc = gather_batch(g, deletes, type, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_stitch_close(stitch);
    return rc;
}

static frz_code all_deleted(change_set *set, const frz_entry *entry,
                            const frz_file_deletes *deletes, frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *none = NULL, *type = NULL;
    const frz_positions *positions = frz_file_deletes_positions(deletes);
    frz_arena arena;
    change_gatherer g = {.env = set->env};
    frz_arena_init(&arena, set->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_type_struct_of(&arena, NULL, 0, &none, err));
    FRZ_TRY(frz_file_deletes_read_type(deletes, none, &arena, &type, err));
    if (type->field_count > 0) {
        FRZ_TRY(read_deleted(set, entry, deletes, type, &g, err));
        rc = change_gather_finish(&g, out, err);
    } else if (positions != NULL) {
        rc = frz_positions_union(set->env, &positions, 1, out, err);
    }
out:
    change_gatherer_reset(&g);
    frz_arena_reset(&arena);
    return rc;
}

frz_code change_deleted_rows(change_set *set, change_side *side, const frz_entry *entry,
                             frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_deletes *deletes = NULL;
    *out = NULL;
    if (side == &set->before) {
        FRZ_TRY(check_parent(set, entry, err));
    }
    FRZ_TRY(open_side(set, side, err));
    FRZ_TRY(frz_file_deletes_find(side->deletes, set->table, entry, &deletes, err));
    if (deletes != NULL) {
        FRZ_TRY(all_deleted(set, entry, deletes, out, err));
    }
out:
    frz_file_deletes_free(deletes);
    return rc;
}

/* ---- rows that were deleted ---- */

void change_deletes_reset(change_deletes *deletes)
{
    frz_positions_free(deletes->old);
    frz_positions_free(deletes->new);
    *deletes = (change_deletes){.old = NULL};
}

static int64_t count_of(const frz_positions *set)
{
    return set == NULL ? 0 : (int64_t)frz_positions_count(set);
}

/* The first position of a set that is not in another; -1: there is none. */
static int64_t first_beyond(const frz_positions *set, const frz_positions *other)
{
    frz_row_range run, known;
    for (int64_t at = 0; set != NULL && frz_positions_next_run(set, at, &run); at = run.end) {
        for (int64_t row = run.start; row < run.end; row = known.end) {
            if (other == NULL || !frz_positions_next_run(other, row, &known) || known.start > row) {
                return row;
            }
        }
    }
    return -1;
}

frz_code change_deletes_beyond(const frz_env *env, const change_deletes *deletes,
                               frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range run;
    change_gatherer g = {.env = env};
    for (int64_t at = 0; deletes->new != NULL &&frz_positions_next_run(deletes->new, at, &run);
         at = run.end) {
        for (int64_t row = run.start; row < run.end; row++) {
            if (deletes->old == NULL || !frz_positions_has(deletes->old, row)) {
                FRZ_TRY(change_gather(&g, row, err));
            }
        }
    }
    rc = change_gather_finish(&g, out, err);
out:
    change_gatherer_reset(&g);
    return rc;
}

/* Both sides have one vector. */
static frz_code same_vector(change_set *set, const change_file *file, bool *same, frz_error *err)
{
    const frz_entry *a = file->old, *b = file->new;
    const frz_deletion_vector *x = &a->deletion_vector, *y = &b->deletion_vector;
    *same = a->has_deletion_vector && b->has_deletion_vector && x->offset == y->offset &&
            x->size == y->size && x->cardinality == y->cardinality;
    return *same ? change_same_location(set, x->location, y->location, same, err) : FRZ_OK;
}

frz_code change_is_untouched(change_set *set, const change_file *file, bool *untouched,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    *untouched = false;
    if (file->old->is_legacy) {
        return FRZ_OK;
    }
    FRZ_TRY(same_vector(set, file, untouched, err));
    if (!file->old->has_deletion_vector && !file->new->has_deletion_vector) {
        FRZ_TRY(open_side(set, &set->before, err));
        *untouched = set->before.deletes == NULL;
    }
out:
    return rc;
}

frz_code change_compare_deletes(change_set *set, const change_file *file, change_deletes *out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool untouched;
    change_deletes deletes = {.old = NULL};
    *out = deletes;
    FRZ_TRY(change_is_untouched(set, file, &untouched, err));
    if (untouched) {
        return FRZ_OK;
    }
    FRZ_TRY(change_deleted_rows(set, &set->before, file->old, &deletes.old, err));
    FRZ_TRY(change_deleted_rows(set, &set->after, file->new, &deletes.new, err));
    int64_t back = first_beyond(deletes.old, deletes.new);
    if (back >= 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "row %lld is deleted in snapshot %lld and not in its child", (long long)back,
                      (long long)set->after.snapshot->parent_id);
        goto out;
    }
    deletes.compared = true;
    deletes.grew = first_beyond(deletes.new, deletes.old) >= 0;
    *out = deletes;
    deletes = (change_deletes){.old = NULL};
out:
    change_deletes_reset(&deletes);
    return frz_context(err, rc, "changes of %.*s", FRZ_STR_ARG(file->location));
}

/* What the two vectors say of themselves, where no delete files can count. */
static frz_code compare_cardinalities(const change_set *set, const change_file *file, int64_t *rows,
                                      frz_error *err)
{
    int64_t old = file->old->deletion_vector.cardinality;
    int64_t new = file->new->has_deletion_vector ? file->new->deletion_vector.cardinality : 0;
    *rows = new - old;
    return new >= old
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT,
                          "%.*s: %lld rows are deleted in snapshot %lld and %lld in its child",
                          FRZ_STR_ARG(file->location), (long long)old,
                          (long long)set->after.snapshot->parent_id, (long long)new);
}

frz_code change_count_deletes(change_set *set, const change_file *file, int64_t *rows,
                              frz_error *err)
{
    change_deletes deletes = {.old = NULL};
    if (set->parent_expired && file->old->has_deletion_vector &&
        !has_delete_files(set->after.tree)) {
        return compare_cardinalities(set, file, rows, err);
    }
    frz_code rc = change_compare_deletes(set, file, &deletes, err);
    *rows = count_of(deletes.new) - count_of(deletes.old);
    change_deletes_reset(&deletes);
    return rc;
}

/* ---- a parent that has expired ---- */

static frz_code lists_file(change_set *set, const frz_entry *entry, frz_str location, bool *lists,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    *lists = false;
    for (size_t i = 0; rc == FRZ_OK && i < entry->column_file_count && !*lists; i++) {
        rc = change_same_location(set, entry->column_files[i].location, location, lists, err);
    }
    return rc;
}

/* Whether all files of the old side are files of the new one. */
static frz_code keeps_files(change_set *set, const change_file *file, bool *keeps, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *old = file->old, *new = file->new;
    *keeps = new != NULL;
    if (*keeps && old->has_deletion_vector) {
        FRZ_TRY(same_vector(set, file, keeps, err));
    }
    for (size_t i = 0; i < old->column_file_count && *keeps; i++) {
        FRZ_TRY(lists_file(set, new, old->column_files[i].location, keeps, err));
    }
out:
    return rc;
}

frz_code change_check_before(change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool keeps = true;
    for (size_t i = 0; set->parent_expired && i < set->file_count && keeps; i++) {
        if (set->files[i].old != NULL) {
            FRZ_TRY(keeps_files(set, &set->files[i], &keeps, err));
        }
    }
    rc = keeps ? FRZ_OK : change_fail_expired(set, "its rows are not known any more", err);
out:
    return rc;
}

frz_code change_set_moves_rows(change_set *set, bool *moves, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *moves = set->delete_file_count > 0;
    for (size_t i = 0; i < set->file_count && !*moves; i++) {
        const change_file *file = &set->files[i];
        bool untouched = false;
        if (file->old != NULL && file->new != NULL) {
            FRZ_TRY(change_is_untouched(set, file, &untouched, err));
        }
        *moves = !untouched;
    }
out:
    return rc;
}
