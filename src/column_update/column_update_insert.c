/*
 * MERGE's inserts: rows of the source that no row of the table has, as new data files.
 */
#include "column_update/column_update_internal.h"

/* Values of the table's columns, and which rows get any. */
typedef struct insert_job {
    const frz_env *env;
    const frz_commit_attempt *attempt;
    update_plan *plan;
    frz_arena arena;
    const frz_type *row_type; /* what expressions see */
    const frz_type *type;     /* of the rows that are stored */
    frz_partitioning partitioning;
    frz_bound_expr *filter;
    frz_bound_expr **columns;
    int64_t row; /* of the source, for messages */
} insert_job;

/* ---- expressions ---- */

typedef struct column_context {
    frz_arena *arena;
    const frz_field *field;
} column_context;

static frz_code default_of(frz_arena *arena, const frz_field *field, const frz_expr **out,
                           frz_error *err)
{
    const frz_value null = {.type = frz_type_primitive(FRZ_TYPE_UNKNOWN), .is_null = true};
    return frz_expr_literal(arena, field->write_default == NULL ? &null : field->write_default, out,
                            err);
}

static frz_code value_of(void *ctx, const update_clause *clause, const frz_expr **out,
                         frz_error *err)
{
    const column_context *column = ctx;
    frz_code rc = FRZ_OK;
    const frz_expr *value = NULL;
    for (size_t i = 0; i < clause->assignment_count; i++) {
        if (clause->assignments[i].field->id == column->field->id) {
            value = clause->assignments[i].scoped;
        }
    }
    if (value == NULL) {
        FRZ_TRY(default_of(column->arena, column->field, &value, err));
    }
    FRZ_TRY(frz_expr_assigned(column->arena, value, column->field->type, out, err));
out:
    return rc;
}

static frz_code is_insert(void *ctx, const update_clause *clause, const frz_expr **out,
                          frz_error *err)
{
    (void)clause;
    return frz_expr_boolean(ctx, true, out, err);
}

static frz_code bind_column(insert_job *job, const frz_field *field, frz_bound_expr **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *otherwise = NULL, *value = NULL;
    column_context column = {&job->arena, field};
    FRZ_TRY(default_of(&job->arena, field, &otherwise, err));
    FRZ_TRY(frz_expr_assigned(&job->arena, otherwise, field->type, &otherwise, err));
    FRZ_TRY(update_merge_first(job->plan->merge, true, &job->arena, value_of, &column, otherwise,
                               &value, err));
    FRZ_TRY(frz_expr_bind_assign(job->env, value, job->row_type, field, out, err));
out:
    return rc;
}

static frz_code bind(insert_job *job, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *none = NULL, *inserted = NULL;
    size_t count = job->type->field_count;
    job->columns = frz_alloc_zero(job->env, count, sizeof *job->columns);
    if (job->columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *job->columns);
    }
    FRZ_TRY(frz_type_struct_of(&job->arena, &job->plan->source->field, 1, &job->row_type, err));
    FRZ_TRY(frz_expr_boolean(&job->arena, false, &none, err));
    FRZ_TRY(update_merge_first(job->plan->merge, true, &job->arena, is_insert, &job->arena, none,
                               &inserted, err));
    FRZ_TRY(frz_expr_bind_filter(job->env, inserted, job->row_type, &job->filter, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(bind_column(job, &job->type->fields[i], &job->columns[i], err));
    }
out:
    return rc;
}

/* ---- rows ---- */

static frz_code make_rows(const insert_job *job, const struct ArrowArray *batch,
                          struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = job->type->field_count, made = 0;
    struct ArrowArray *columns = frz_alloc_zero(job->env, count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *columns);
    }
    for (; made < count; made++) {
        FRZ_TRY(frz_expr_eval(job->columns[made], job->row_type, batch, job->row, NULL,
                              &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(job->env, batch->length, columns, count, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(job->env, columns);
    return rc;
}

/* The rows that a clause inserts, of those that are left; batch stays what it is, or becomes less.
 */
static frz_code select_rows(const insert_job *job, struct ArrowArray *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t selected = 0, length = batch->length;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    struct ArrowArray kept = {0};
    uint8_t *bits = frz_alloc_zero(job->env, 1, bytes);
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    FRZ_TRY(
        frz_expr_select(job->filter, job->row_type, batch, job->row, NULL, bits, &selected, err));
    if (selected < length) {
        FRZ_TRY(frz_array_filter(job->env, job->row_type, batch, bits, selected, &kept, err));
        frz_array_release(batch);
        frz_array_move(&kept, batch);
    }
out:
    frz_array_release(&kept);
    frz_free(job->env, bits);
    return rc;
}

static frz_code insert_rows(insert_job *job, frz_row_files *files, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_join *join = job->plan->source->join;
    struct ArrowArray batch = {0}, rows = {0};
    FRZ_TRY(frz_join_rest_open(join, err));
    while ((rc = frz_join_rest_next(join, &batch, err)) == FRZ_OK) {
        int64_t length = batch.length;
        FRZ_TRY(select_rows(job, &batch, err));
        FRZ_TRY(make_rows(job, &batch, &rows, err));
        FRZ_TRY(rows.length == 0 ? FRZ_OK : frz_row_files_write(files, &rows, err));
        frz_array_release(&rows);
        frz_array_release(&batch);
        job->row += length;
        FRZ_TRY(frz_progress(job->env, "insert", (uint64_t)job->row, 0, err));
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&rows);
    frz_array_release(&batch);
    return rc;
}

/* ---- files ---- */

static frz_code write_files(insert_job *job, const frz_row_file **made, size_t *count,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &job->attempt->table->metadata;
    frz_row_files_options options = {.type = job->type, .partitioning = &job->partitioning};
    frz_row_files *files = NULL;
    FRZ_TRY(frz_partitioning_of(metadata, job->type, job->attempt->arena, &job->partitioning, err));
    FRZ_TRY(frz_write_parquet_options(metadata, &options.write, err));
    FRZ_TRY(frz_write_target_bytes(metadata, &options.target_bytes, err));
    FRZ_TRY(frz_row_files_new(job->attempt, &options, job->attempt->arena, &files, err));
    FRZ_TRY(insert_rows(job, files, err));
    FRZ_TRY(frz_row_files_finish(files, made, count, err));
out:
    frz_row_files_free(files);
    return rc;
}

static void reset(insert_job *job)
{
    for (size_t i = 0; job->columns != NULL && i < job->type->field_count; i++) {
        frz_bound_expr_free(job->columns[i]);
    }
    frz_free(job->env, job->columns);
    frz_bound_expr_free(job->filter);
    frz_arena_reset(&job->arena);
}

frz_code update_merge_insert(update_plan *plan, const frz_commit_attempt *attempt,
                             frz_commit_plan *commit, frz_error *err)
{
    frz_code rc = FRZ_OK;
    insert_job job = {.env = plan->env, .attempt = attempt, .plan = plan};
    const frz_row_file *made = NULL;
    size_t count = 0;
    frz_arena_init(&job.arena, plan->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_stored_type(attempt->arena, attempt->schema->type, &job.type, err));
    FRZ_TRY(bind(&job, err));
    FRZ_TRY(write_files(&job, &made, &count, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(
            frz_row_file_plan(attempt, &job.partitioning, &made[i], &plan->metrics, commit, err));
        plan->merge->rows_inserted += made[i].written.row_count;
        commit->rows += made[i].written.row_count;
        commit->data_files++;
    }
out:
    reset(&job);
    return frz_context(err, rc, "inserting rows of \"%.*s\"", FRZ_STR_ARG(plan->source->rows.name));
}
