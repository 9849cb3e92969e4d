/*
 * DELETE: the matching rows of each data file join its deletion vector; files that lose their last
 * row are removed. spec: deletion_vector; what one commit writes
 */
#include "expr/expr.h"
#include "frazil/rows.h"
#include "scan/scan_live.h"
#include "scan/scan_plan.h"
#include "write/write_commit.h"

typedef struct delete_job {
    const frz_env *env;
    frz_arena arena;
    const frz_expr *where; /* NULL: all rows */
} delete_job;

/* One attempt. */
typedef struct row_delete {
    const frz_env *env;
    const frz_commit_attempt *commit;
    frz_commit_plan *plan;
    frz_bound_expr *filter;    /* NULL: all rows */
    const frz_type *read_type; /* what the filter reads */
    frz_live_files files;
    frz_commit_vectors vectors;
} row_delete;

/* The rows of one data file that are deleted afterwards. */
typedef struct deleted_rows {
    int64_t *positions; /* those that are new first, then others */
    size_t count, capacity;
    int64_t added; /* how many are new */
} deleted_rows;

static frz_code add_position(const frz_env *env, deleted_rows *rows, int64_t position,
                             frz_error *err)
{
    frz_code rc = FRZ_GROW(env, &rows->positions, &rows->capacity, rows->count, err);
    if (rc == FRZ_OK) {
        rows->positions[rows->count++] = position;
    }
    return rc;
}

/* ---- which rows match ---- */

static frz_code take_batch(row_delete *d, const frz_live *live, const frz_type *read_type,
                           frz_batch *batch, deleted_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length, selected = 0;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    uint8_t *among = NULL;
    uint8_t *selection = frz_alloc_zero(d->env, 1, bytes);
    FRZ_TRY(selection == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    FRZ_TRY(frz_live_bits(live, read_type, batch, d->read_type, &among, err));
    FRZ_TRY(frz_expr_select(d->filter, read_type, &batch->array, batch->first_row, among, selection,
                            &selected, err));
    for (int64_t i = 0; selected > 0 && i < length; i++) {
        if (frz_bit_get(selection, i)) {
            FRZ_TRY(add_position(d->env, rows, batch->first_row + i, err));
        }
    }
out:
    frz_free(d->env, among);
    frz_free(d->env, selection);
    return rc;
}

static frz_code read_matches(row_delete *d, const frz_entry *entry, const frz_live *live,
                             deleted_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_stitch_request request = {.filter = d->filter};
    frz_arena_init(&arena, d->env, FRZ_ARENA_NO_LIMIT);
    frz_live_request(live, &request);
    FRZ_TRY(frz_live_read_type(live, d->read_type, &arena, &request.projection, err));
    FRZ_TRY(frz_stitch_open(d->commit->table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(take_batch(d, live, request.projection, &batch, rows, err));
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    frz_arena_reset(&arena);
    return rc;
}

/* Rows that were deleted before. What delete files say of rows behind the end means nothing. */
static frz_code add_earlier(row_delete *d, const frz_entry *entry, const frz_live *live,
                            deleted_rows *rows, frz_error *err)
{
    const frz_positions *positions =
        live->found == NULL ? NULL : frz_file_deletes_positions(live->found);
    frz_row_range run = {0, 0};
    while (positions != NULL && frz_positions_next_run(positions, run.end, &run) &&
           run.start < entry->record_count) {
        run.end = FRZ_MIN(run.end, entry->record_count);
        for (int64_t row = run.start; row < run.end; row++) {
            frz_code rc = add_position(d->env, rows, row, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
    }
    return FRZ_OK;
}

/* ---- one data file ---- */

static frz_code write_vector(row_delete *d, const frz_entry *entry, deleted_rows *rows,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *set = NULL;
    frz_entry modified = frz_entry_row_delete(entry, d->commit);
    FRZ_TRY(frz_positions_sort(d->env, rows->positions, rows->count, &set, err));
    FRZ_TRY(frz_commit_vectors_add(&d->vectors, set, &modified, err));
    FRZ_TRY(frz_commit_plan_change(d->commit, d->plan, entry, &modified, err));
out:
    frz_positions_free(set);
    return rc;
}

/* How many rows a file has that only equality deletes do not delete. */
static frz_code remove_all(row_delete *d, const frz_entry *entry, const frz_live *live,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    deleted_rows earlier = {0};
    FRZ_TRY(add_earlier(d, entry, live, &earlier, err));
    FRZ_TRY(frz_commit_plan_change(d->commit, d->plan, entry, NULL, err));
    d->plan->rows += entry->record_count - (int64_t)earlier.count;
    d->plan->data_files++;
out:
    frz_free(d->env, earlier.positions);
    return rc;
}

static frz_code delete_matches(row_delete *d, const frz_entry *entry, const frz_live *live,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    deleted_rows rows = {0};
    FRZ_TRY(read_matches(d, entry, live, &rows, err));
    rows.added = (int64_t)rows.count;
    if (rows.added == 0) {
        goto out;
    }
    FRZ_TRY(add_earlier(d, entry, live, &rows, err));
    if ((int64_t)rows.count == entry->record_count) {
        FRZ_TRY(frz_commit_plan_change(d->commit, d->plan, entry, NULL, err));
    } else {
        FRZ_TRY(write_vector(d, entry, &rows, err));
    }
    d->plan->rows += rows.added;
    d->plan->data_files++;
out:
    frz_free(d->env, rows.positions);
    return rc;
}

static frz_code delete_from(row_delete *d, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_live live = {.env = d->env};
    FRZ_TRY(frz_live_open(&live, d->files.deletes, d->commit->table, entry, err));
    rc =
        d->filter == NULL ? remove_all(d, entry, &live, err) : delete_matches(d, entry, &live, err);
out:
    frz_live_reset(&live);
    return frz_context(err, rc, "deleting from %.*s", FRZ_STR_ARG(entry->location));
}

/* ---- all of them ---- */

static frz_code bind(row_delete *d, const frz_expr *where, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *readable = NULL, *projectable = NULL;
    frz_arena *arena = d->commit->arena;
    size_t count = 0;
    if (where == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_readable_type(arena, d->commit->schema, &readable, err));
    FRZ_TRY(frz_projectable_type(arena, d->commit->schema, &projectable, err));
    FRZ_TRY(frz_expr_bind_filter(d->env, where, readable, &d->filter, err));
    const int32_t *ids = frz_bound_expr_fields(d->filter, &count);
    FRZ_TRY(frz_project_ids(arena, projectable, ids, count, &d->read_type, err));
out:
    return rc;
}

static frz_code build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    const delete_job *job = ctx;
    row_delete d = {.env = job->env, .commit = attempt, .plan = plan};
    frz_commit_vectors_init(&d.vectors, attempt);
    FRZ_TRY(bind(&d, job->where, err));
    FRZ_TRY(frz_live_files_find(attempt->table, attempt->parent, attempt->schema, attempt->tree,
                                d.filter, attempt->arena, &d.files, err));
    for (size_t i = 0; i < d.files.count; i++) {
        FRZ_TRY(frz_progress(job->env, "delete", i, d.files.count, err));
        FRZ_TRY(delete_from(&d, d.files.entries[i], err));
    }
    FRZ_TRY(frz_progress(job->env, "delete", d.files.count, d.files.count, err));
    FRZ_TRY(frz_commit_vectors_finish(&d.vectors, frz_commit_sync_each(attempt, 1), err));
    plan->operation = "delete";
    plan->nothing = plan->rows == 0;
out:
    frz_commit_vectors_reset(&d.vectors);
    frz_live_files_reset(&d.files);
    frz_bound_expr_free(d.filter);
    return rc;
}

frz_code frz_delete_rows(frz_catalog *catalog, const char *table, const char *where,
                         frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_job job = {.env = catalog->env};
    frz_arena_init(&job.arena, catalog->env, FRZ_ARENA_NO_LIMIT);
    if (where != NULL) {
        FRZ_TRY(frz_expr_parse(&job.arena, frz_str_from(where), &job.where, err));
    }
    FRZ_TRY(frz_commit_run(catalog, table, build, &job, report, err));
out:
    frz_arena_reset(&job.arena);
    return rc;
}
