/*
 * Merge-on-read: rows with new values move to new data files of their partitions, where they keep
 * their row ids and have no number of their own, so that it is that of the commit; the deletion
 * vector takes them out where they were.
 *
 * Only batches with a matching row are read in full, and of these only runs of rows with matches.
 */
#include "column_update/column_update_internal.h"

#define GAP 64 /* rows without a match that are read rather than skipped */

/* The rows of one data file on their way. */
typedef struct file_move {
    update_attempt *attempt;
    update_reader reader;
    const frz_type *rest_type; /* stored columns without new values, and the row ids */
    frz_row_list gone;         /* rows that moved, those removed, then those deleted before */
} file_move;

/* ---- the columns of a row that moves ---- */

static bool is_assigned(const update_plan *plan, int32_t field_id, size_t *index)
{
    for (size_t i = 0; i < plan->assignment_count; i++) {
        if (plan->assignments[i].field->id == field_id) {
            *index = i;
            return true;
        }
    }
    return false;
}

static frz_code plan_rest(file_move *move, frz_error *err)
{
    const frz_type *type = move->attempt->job->moves.type;
    size_t count = 0, index;
    frz_field *fields = frz_arena_array(&move->reader.arena, type->field_count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        if (field->id != FRZ_ID_LAST_UPDATED &&
            !is_assigned(move->reader.plan, field->id, &index)) {
            fields[count++] = *field;
        }
    }
    return frz_type_struct_of(&move->reader.arena, fields, count, &move->rest_type, err);
}

/* Columns of a window of a batch, in the order of the files' type: new values of the window, and
 * what was read of the rest, which is moved. */
static frz_code put_together(const file_move *move, const struct ArrowArray *values, int64_t first,
                             struct ArrowArray *rest, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = move->reader.plan->env;
    const frz_type *type = move->attempt->job->moves.type;
    size_t made = 0, from = 0, index = 0;
    int64_t rows = rest->length;
    struct ArrowArray *columns = frz_alloc_zero(env, type->field_count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *columns);
    }
    for (; made < type->field_count; made++) {
        if (type->fields[made].id == FRZ_ID_LAST_UPDATED) {
            FRZ_TRY(frz_array_nulls(env, type->fields[made].type, rows, &columns[made], err));
        } else if (is_assigned(move->reader.plan, type->fields[made].id, &index)) {
            FRZ_TRY(frz_array_slice(env, &values[index], first, rows, &columns[made], err));
        } else {
            frz_array_move(rest->children[from++], &columns[made]);
        }
    }
    made = 0; /* the columns move, also on failure */
    rc = frz_batch_make(env, rows, columns, type->field_count, out, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

/* ---- writing ---- */

static frz_code open_files(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_moves *moves = &a->job->moves;
    const frz_metadata *metadata = &a->commit->table->metadata;
    frz_row_files_options options = {.type = moves->type, .partitioning = &moves->partitioning};
    if (moves->open != NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_write_parquet_options(metadata, &options.write, err));
    FRZ_TRY(frz_write_target_bytes(metadata, &options.target_bytes, err));
    FRZ_TRY(frz_row_files_new(a->commit, &options, &a->job->arena, &moves->open, err));
out:
    return rc;
}

/* The selected rows of a window that starts with this row of the batch. */
static frz_code write_window(file_move *move, const update_rows *rows, int64_t first,
                             const struct ArrowArray *window, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = move->reader.plan->env;
    update_moves *moves = &move->attempt->job->moves;
    struct ArrowArray chosen = {0};
    uint8_t *bits = NULL;
    size_t bytes = frz_bitmap_bytes(window->length) + 8;
    FRZ_TRY(open_files(move->attempt, err));
    if (rows->selected == NULL) {
        rc = frz_row_files_write(moves->open, window, err);
        goto out;
    }
    bits = frz_alloc_zero(env, 1, bytes);
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    frz_bitmap_copy(rows->selected, first, window->length, bits, 0);
    FRZ_TRY(frz_array_filter(env, moves->type, window, bits,
                             frz_bitmap_count(bits, 0, window->length), &chosen, err));
    FRZ_TRY(frz_row_files_write(moves->open, &chosen, err));
out:
    frz_free(env, bits);
    frz_array_release(&chosen);
    return rc;
}

/* ---- reading ---- */

/* The selected rows of a batch, as ranges of rows of the file, and their positions. */
static frz_code find_ranges(file_move *move, const frz_batch *batch, const update_rows *rows,
                            frz_row_range **out, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = move->reader.plan->env;
    frz_row_range *ranges = NULL;
    size_t n = 0, capacity = 0;
    for (int64_t i = 0; i < batch->array.length; i++) {
        int64_t row = batch->first_row + i;
        if (rows->selected != NULL && !frz_bit_get(rows->selected, i)) {
            continue;
        }
        if (n == 0 || row - ranges[n - 1].end > GAP) {
            FRZ_TRY(FRZ_GROW(env, &ranges, &capacity, n, err));
            ranges[n++].start = row;
        }
        ranges[n - 1].end = row + 1;
        FRZ_TRY(frz_row_list_add(env, &move->gone, row, err));
    }
    *out = ranges;
    *count = n;
    ranges = NULL;
out:
    frz_free(env, ranges);
    return rc;
}

/* Read the rest of the selected rows and write them with their new values. */
static frz_code move_rest(file_move *move, const frz_batch *batch, const update_rows *rows,
                          const struct ArrowArray *values, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_reader *reader = &move->reader;
    frz_row_range *ranges = NULL;
    frz_stitch *stitch = NULL;
    frz_batch rest = {0};
    struct ArrowArray window = {0};
    frz_stitch_request request = {.projection = move->rest_type};
    frz_live_request(&reader->live, &request);
    FRZ_TRY(find_ranges(move, batch, rows, &ranges, &request.range_count, err));
    request.ranges = ranges;
    FRZ_TRY(frz_stitch_open(reader->table, reader->entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &rest, err)) == FRZ_OK) {
        int64_t first = rest.first_row - batch->first_row;
        FRZ_TRY(put_together(move, values, first, &rest.array, &window, err));
        FRZ_TRY(write_window(move, rows, first, &window, err));
        frz_array_release(&window);
        frz_array_release(&rest.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&window);
    frz_array_release(&rest.array);
    frz_stitch_close(stitch);
    frz_free(reader->plan->env, ranges);
    return rc;
}

static frz_code move_batch(file_move *move, const frz_batch *batch, const update_rows *rows,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = move->reader.plan;
    size_t made = 0;
    struct ArrowArray *values = frz_alloc_zero(plan->env, plan->assignment_count, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, plan->assignment_count * sizeof *values);
    }
    for (; made < plan->assignment_count; made++) {
        FRZ_TRY(update_reader_values(&move->reader, &plan->assignments[made], batch, rows,
                                     &values[made], err));
    }
    FRZ_TRY(move_rest(move, batch, rows, values, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&values[i]);
    }
    frz_free(plan->env, values);
    return rc;
}

/* Rows that MERGE deletes go without coming anywhere. */
static frz_code add_removed(file_move *move, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_row_list *removed = &move->reader.removed;
    for (size_t i = 0; i < removed->count; i++) {
        FRZ_TRY(frz_row_list_add(move->reader.plan->env, &move->gone, removed->rows[i], err));
    }
out:
    return rc;
}

/* Move the matching rows of one data file. */
static frz_code move_file(update_attempt *a, const frz_entry *entry, update_result *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = a->job->env;
    frz_batch batch = {0};
    update_rows rows = {0};
    file_move move = {.attempt = a};
    FRZ_TRY(update_reader_open(&move.reader, &a->job->plan, a->commit->table, entry, a->computed++,
                               a->files.deletes, err));
    FRZ_TRY(plan_rest(&move, err));
    while ((rc = update_reader_next(&move.reader, &batch, &rows, err)) == FRZ_OK) {
        FRZ_TRY(rows.selected_count > 0 ? move_batch(&move, &batch, &rows, err) : FRZ_OK);
        update_rows_reset(env, &rows);
        frz_array_release(&batch.array);
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    out->record_count = entry->record_count;
    out->rows = (int64_t)move.gone.count;
    FRZ_TRY(add_removed(&move, err));
    FRZ_TRY(update_result_take(&move.reader, out, err));
    if (move.gone.count > 0) {
        FRZ_TRY(
            frz_row_list_add_deleted(env, &move.gone, &move.reader.live, entry->record_count, err));
        FRZ_TRY(frz_positions_sort(env, move.gone.rows, move.gone.count, &out->moved, err));
    }
out:
    update_rows_reset(env, &rows);
    frz_array_release(&batch.array);
    update_reader_close(&move.reader);
    frz_row_list_reset(env, &move.gone);
    return frz_context(err, rc, "updating %.*s", FRZ_STR_ARG(entry->location));
}

/* ---- one entry ---- */

static frz_code plan_moved(update_attempt *a, const frz_entry *entry, const update_done *done,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_result *result = &done->result;
    frz_entry modified = frz_entry_row_delete(entry, a->commit);
    bool all = frz_positions_count(result->moved) == (uint64_t)entry->record_count;
    if (!all) {
        FRZ_TRY(frz_commit_vectors_add(&a->vectors, result->moved, &modified, err));
    }
    FRZ_TRY(all ? frz_commit_plan_change(a->commit, a->plan, entry, NULL, err)
                : frz_commit_plan_update(a->commit, a->plan, entry, &modified, NULL, 0, err));
    update_done_count(a, done);
    a->plan->data_files++;
    a->plan->live_data_bytes += frz_entry_bytes(entry);
out:
    return rc;
}

frz_code update_move_entry(update_attempt *a, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_done *done = update_done_find(a->job, entry);
    if (update_must_compute(a, entry)) {
        FRZ_TRY(update_done_new(a->job, a->commit, entry, &done, err));
        FRZ_TRY(move_file(a, entry, &done->result, err));
    }
    if (done->result.moved != NULL) {
        FRZ_TRY(plan_moved(a, entry, done, err));
    }
out:
    return rc;
}

/* ---- one attempt ---- */

/* All entries that rows came from are there as they were, and the rows went to partitions that the
 * table still has. */
static bool moves_hold(const update_attempt *a)
{
    const update_job *job = a->job;
    size_t held = 0, all = 0;
    for (size_t i = 0; i < a->files.count; i++) {
        const update_done *done = update_done_find(job, a->files.entries[i]);
        held += done != NULL && done->result.moved != NULL &&
                update_done_same(done, a, a->files.entries[i]);
    }
    for (size_t i = 0; i < job->done_count; i++) {
        all += job->done[i].result.moved != NULL;
    }
    return all > 0 && held == all &&
           job->moves.default_spec_id == a->commit->table->metadata.default_spec_id;
}

/* What the files store: the table's columns and the lineage. */
static frz_code plan_files(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena *arena = &a->job->arena;
    update_moves *moves = &a->job->moves;
    const frz_metadata *metadata = &a->commit->table->metadata;
    FRZ_TRY(frz_carried_type(arena, a->commit->schema->type, &moves->type, err));
    FRZ_TRY(frz_partitioning_of(metadata, moves->type, arena, &moves->partitioning, err));
    moves->default_spec_id = metadata->default_spec_id;
out:
    return rc;
}

frz_code update_moves_begin(update_attempt *a, frz_error *err)
{
    if (a->job->mode != FRZ_MODE_MERGE_ON_READ || moves_hold(a)) {
        return FRZ_OK;
    }
    update_done_forget(a->job);
    return plan_files(a, err);
}

frz_code update_moves_finish(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_moves *moves = &a->job->moves;
    const frz_row_file *made = NULL;
    size_t count = 0;
    if (moves->open != NULL) {
        FRZ_TRY(frz_row_files_finish(moves->open, &made, &count, err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(FRZ_GROW(a->job->env, &moves->made, &moves->made_capacity, moves->made_count, err));
        moves->made[moves->made_count++] = made[i];
    }
    for (size_t i = 0; i < moves->made_count; i++) {
        FRZ_TRY(frz_row_file_plan(a->commit, &moves->partitioning, &moves->made[i],
                                  &a->job->plan.metrics, a->plan, err));
    }
out:
    return rc;
}

void update_moves_end(update_moves *moves)
{
    frz_row_files_free(moves->open);
    moves->open = NULL;
}
