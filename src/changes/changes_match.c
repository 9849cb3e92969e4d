/*
 * Rows that a snapshot moved from one file to another: copy-on-write leaves a file and arrives with
 * all its rows in a new one, merge-on-read deletes a row and writes it again. They are the same row
 * if their row ids are.
 *
 * Only ids are held, and only of rows that are older than the snapshot: those that arrived, and of
 * these those that also left. Ids of a file mostly follow each other, which packs well.
 *
 * spec: row lineage; change detection
 */
#include "changes/changes_internal.h"

void change_matches_reset(change_matches *matches)
{
    frz_positions_free(matches->arrived);
    frz_positions_free(matches->updated);
    frz_positions_free(matches->left);
    *matches = (change_matches){.arrived = NULL};
}

/* ---- the ids of a pass ---- */

typedef struct matcher {
    change_set *set;
    const change_matches *matches;
    const frz_type *type; /* _row_id, _last_updated_sequence_number */
    change_gatherer ids;
    change_gatherer updated; /* of rows that arrive */
} matcher;

/* Rows that are not older than the snapshot cannot have been anywhere before. */
static bool is_of_interest(const matcher *m, const change_pass *pass, int64_t id)
{
    if (id < 0 || id >= m->set->after.snapshot->first_row_id) {
        return false;
    }
    return pass->role == CHANGE_ARRIVES || frz_positions_has(m->matches->arrived, id);
}

static frz_code take_batch(matcher *m, const change_pass *pass, const frz_batch *batch,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowArray *ids = batch->array.children[0], *numbers = batch->array.children[1];
    size_t bytes = frz_bitmap_bytes(batch->array.length) + 8;
    uint8_t *bits = frz_alloc(m->set->env, bytes);
    if (bits == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    change_pass_select(pass, batch, bits);
    for (int64_t i = 0; i < batch->array.length; i++) {
        if (!frz_bit_get(bits, i) || frz_is_null(ids, i) ||
            !is_of_interest(m, pass, frz_get_i64(ids, i))) {
            continue;
        }
        FRZ_TRY(change_gather(&m->ids, frz_get_i64(ids, i), err));
        if (pass->role == CHANGE_ARRIVES && !frz_is_null(numbers, i) &&
            frz_get_i64(numbers, i) == m->set->after.snapshot->sequence_number) {
            FRZ_TRY(change_gather(&m->updated, frz_get_i64(ids, i), err));
        }
    }
out:
    frz_free(m->set->env, bits);
    return rc;
}

static frz_code take_pass(matcher *m, const change_pass *pass, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_arena arena;
    frz_arena_init(&arena, m->set->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(change_pass_open(m->set, pass, m->type, NULL, &arena, &stitch, err));
    while (stitch != NULL && (rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        rc = take_batch(m, pass, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_stitch_close(stitch);
    frz_arena_reset(&arena);
    return frz_context(err, rc, "row ids of %.*s", FRZ_STR_ARG(pass->entry->location));
}

/* ---- files ---- */

static frz_code take_new(matcher *m, const change_file *file, frz_error *err)
{
    frz_positions *deleted = NULL;
    frz_code rc = change_deleted_rows(m->set, &m->set->after, file->new, &deleted, err);
    const change_pass pass = {.role = CHANGE_ARRIVES, .entry = file->new, .deleted = deleted};
    rc = rc == FRZ_OK ? take_pass(m, &pass, err) : rc;
    frz_positions_free(deleted);
    return rc;
}

static frz_code take_removed(matcher *m, const change_file *file, frz_error *err)
{
    frz_positions *deleted = NULL;
    frz_code rc = change_deleted_rows(m->set, &m->set->before, file->old, &deleted, err);
    const change_pass pass = {.role = CHANGE_LEAVES, .entry = file->old, .deleted = deleted};
    rc = rc == FRZ_OK ? take_pass(m, &pass, err) : rc;
    frz_positions_free(deleted);
    return rc;
}

static frz_code take_pair(matcher *m, const change_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_deletes deletes = {.old = NULL};
    frz_positions *gone = NULL;
    FRZ_TRY(change_compare_deletes(m->set, file, &deletes, err));
    if (deletes.grew) {
        FRZ_TRY(change_deletes_beyond(m->set->env, &deletes, &gone, err));
        const change_pass pass = {
            .role = CHANGE_LEAVES, .entry = file->old, .deleted = deletes.old, .wanted = gone};
        rc = take_pass(m, &pass, err);
    }
out:
    frz_positions_free(gone);
    change_deletes_reset(&deletes);
    return rc;
}

static frz_code find_arrived(matcher *m, change_matches *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < m->set->file_count; i++) {
        const change_file *file = &m->set->files[i];
        if (file->old == NULL && file->new->first_row_id != FRZ_NO_VALUE) {
            FRZ_TRY(take_new(m, file, err));
        }
    }
    FRZ_TRY(change_gather_finish(&m->ids, &out->arrived, err));
    rc = change_gather_finish(&m->updated, &out->updated, err);
out:
    return rc;
}

static frz_code find_left(matcher *m, change_matches *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < m->set->file_count; i++) {
        const change_file *file = &m->set->files[i];
        if (file->old != NULL) {
            FRZ_TRY(file->new == NULL ? take_removed(m, file, err) : take_pair(m, file, err));
        }
    }
    rc = change_gather_finish(&m->ids, &out->left, err);
out:
    return rc;
}

/* Rows can only have moved if some file lost rows and another one is new. */
static bool may_match(const change_set *set)
{
    bool arrives = false, leaves = false;
    for (size_t i = 0; i < set->file_count; i++) {
        arrives = arrives || set->files[i].old == NULL;
        leaves = leaves || set->files[i].old != NULL;
    }
    return arrives && leaves && set->after.snapshot->first_row_id != FRZ_NO_VALUE;
}

frz_code change_match_rows(change_set *set, change_matches *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    matcher m = {
        .set = set, .matches = out, .ids = {.env = set->env}, .updated = {.env = set->env}};
    const frz_field fields[] = {frz_field_row_id, frz_field_last_updated};
    *out = (change_matches){.arrived = NULL};
    frz_arena_init(&arena, set->env, FRZ_ARENA_NO_LIMIT);
    if (may_match(set)) {
        FRZ_TRY(frz_type_struct_of(&arena, fields, FRZ_ARRAY_COUNT(fields), &m.type, err));
        FRZ_TRY(find_arrived(&m, out, err));
        rc = out->arrived == NULL ? FRZ_OK : find_left(&m, out, err);
    }
out:
    change_gatherer_reset(&m.ids);
    change_gatherer_reset(&m.updated);
    frz_arena_reset(&arena);
    if (rc != FRZ_OK) {
        change_matches_reset(out);
    }
    return rc;
}
