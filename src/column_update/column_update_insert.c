/*
 * MERGE's inserts: rows of the source that no row of the table has, as new data files.
 */
#include "column_update/column_update_internal.h"

/* Values of the table's columns, and which rows get any. */
typedef struct insert_job {
    const frz_env *env;
    const frz_table *table;
    update_plan *plan;
    frz_arena arena;
    const frz_type *row_type; /* what expressions see */
    const frz_type *type;     /* of the table */
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

/* kept: where what outlives it is. */
static frz_code bind(insert_job *job, const frz_schema *schema, frz_arena *kept, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *none = NULL, *inserted = NULL;
    FRZ_TRY(frz_type_copy(kept, schema->type, &job->type, err));
    FRZ_TRY(frz_partitioning_of(&job->table->metadata, job->type, kept, &job->partitioning, err));
    size_t count = job->type->field_count;
    job->columns = frz_alloc_zero(job->env, count, sizeof *job->columns);
    FRZ_TRY(job->columns == NULL ? frz_fail_nomem(err, count * sizeof *job->columns) : FRZ_OK);
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

/* The list lives in the arena. */
static frz_code write_files(insert_job *job, const frz_commit_attempt *attempt, frz_arena *arena,
                            const frz_row_file **made, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &job->table->metadata;
    frz_row_files_options options = {.type = job->type, .partitioning = &job->partitioning};
    frz_row_files *files = NULL;
    FRZ_TRY(frz_write_parquet_options(metadata, &options.write, err));
    FRZ_TRY(frz_write_target_bytes(metadata, &options.target_bytes, err));
    FRZ_TRY(frz_row_files_new(attempt, &options, arena, &files, err));
    FRZ_TRY(insert_rows(job, files, err));
    FRZ_TRY(frz_row_files_finish(files, made, count, err));
out:
    frz_row_files_free(files);
    return rc;
}

static void init(insert_job *job, update_plan *plan, const frz_table *table)
{
    *job = (insert_job){.env = plan->env, .table = table, .plan = plan};
    frz_arena_init(&job->arena, plan->env, FRZ_ARENA_NO_LIMIT);
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

/* The same rows of the source are left as when the files were written, and what they store is the
 * same. */
static bool inserts_hold(const update_attempt *a)
{
    const update_inserts *inserts = &a->job->inserts;
    const frz_join *join = a->job->plan.source->join;
    return inserts->made != NULL && inserts->schema_id == a->commit->schema->schema_id &&
           inserts->default_spec_id == a->commit->table->metadata.default_spec_id &&
           memcmp(inserts->used, frz_join_marks(join), frz_bitmap_bytes(frz_join_rows(join))) == 0;
}

static frz_code write_inserts(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_job *job = a->job;
    update_inserts *inserts = &job->inserts;
    const frz_join *join = job->plan.source->join;
    size_t bytes = frz_bitmap_bytes(frz_join_rows(join));
    insert_job insert;
    init(&insert, &job->plan, a->commit->table);
    update_inserts_reset(job);
    inserts->used = frz_alloc(job->env, bytes + 1);
    FRZ_TRY(inserts->used == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    memcpy(inserts->used, frz_join_marks(join), bytes);
    inserts->schema_id = a->commit->schema->schema_id;
    inserts->default_spec_id = a->commit->table->metadata.default_spec_id;
    FRZ_TRY(bind(&insert, a->commit->schema, &job->arena, err));
    inserts->partitioning = insert.partitioning;
    FRZ_TRY(write_files(&insert, a->commit, &job->arena, &inserts->made, &inserts->count, err));
out:
    reset(&insert);
    return frz_context(err, rc, "inserting rows of \"%.*s\"",
                       FRZ_STR_ARG(job->plan.source->rows.name));
}

void update_inserts_reset(update_job *job)
{
    frz_free(job->env, job->inserts.used);
    job->inserts = (update_inserts){0};
}

frz_code update_merge_insert(update_attempt *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_inserts *inserts = &a->job->inserts;
    FRZ_TRY(inserts_hold(a) ? FRZ_OK : write_inserts(a, err));
    for (size_t i = 0; i < inserts->count; i++) {
        const frz_row_file *file = &inserts->made[i];
        FRZ_TRY(frz_row_file_plan(a->commit, &inserts->partitioning, file, &a->job->plan.metrics,
                                  a->plan, err));
        a->job->plan.merge->rows_inserted += file->written.row_count;
        a->plan->rows += file->written.row_count;
        a->plan->data_files++;
    }
out:
    return rc;
}

/* ---- what it would come to ---- */

/* Tuples of partitions, ascending. */
typedef struct tuple_set {
    frz_str *list;
    size_t count, capacity;
} tuple_set;

static frz_code add_tuple(insert_job *job, tuple_set *set, frz_str key, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frz_str_compare(set->list[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < set->count && frz_str_equal(set->list[low], key)) {
        return FRZ_OK;
    }
    FRZ_TRY(FRZ_GROW(job->env, &set->list, &set->capacity, set->count, err));
    memmove(&set->list[low + 1], &set->list[low], (set->count - low) * sizeof *set->list);
    set->list[low] = (frz_str){0};
    set->count++;
    FRZ_TRY(frz_arena_str(&job->arena, key, &set->list[low], err));
out:
    return rc;
}

static frz_code add_tuples(insert_job *job, const struct ArrowArray *rows, tuple_set *set,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t fields = job->partitioning.field_count;
    frz_buf key = FRZ_BUF_INIT(job->env, FRZ_BUF_NO_LIMIT);
    frz_value *values = frz_alloc_zero(job->env, fields + 1, sizeof *values);
    FRZ_TRY(values == NULL ? frz_fail_nomem(err, fields * sizeof *values) : FRZ_OK);
    for (int64_t row = 0; row < rows->length; row++) {
        frz_buf_clear(&key);
        FRZ_TRY(frz_partition_tuple(&job->partitioning, rows, row, values, &key, err));
        FRZ_TRY(add_tuple(job, set, frz_buf_view(&key), err));
    }
out:
    frz_buf_reset(&key);
    frz_free(job->env, values);
    return rc;
}

/* Rows that are inserted, and their partitions. */
static frz_code count_rows(insert_job *job, int64_t *inserted, tuple_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_join *join = job->plan->source->join;
    struct ArrowArray batch = {0}, rows = {0};
    FRZ_TRY(frz_join_rest_open(join, err));
    while ((rc = frz_join_rest_next(join, &batch, err)) == FRZ_OK) {
        int64_t length = batch.length;
        FRZ_TRY(select_rows(job, &batch, err));
        *inserted += batch.length;
        FRZ_TRY(make_rows(job, &batch, &rows, err));
        FRZ_TRY(add_tuples(job, &rows, set, err));
        frz_array_release(&rows);
        frz_array_release(&batch);
        job->row += length;
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&rows);
    frz_array_release(&batch);
    return rc;
}

/* Those that get other values than constants. */
static frz_code list_columns(const insert_job *job, frz_arena *arena, frz_cost_inserts *out,
                             frz_error *err)
{
    size_t count = job->type->field_count;
    int32_t *columns = frz_arena_array(arena, count + 1, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *columns);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = &job->type->fields[i];
        if (!update_merge_gives_constant(job->plan->merge, field, true)) {
            columns[out->column_count++] = field->id;
        }
    }
    out->columns = columns;
    return FRZ_OK;
}

frz_code update_merge_count(update_plan *plan, const frz_table *table, const frz_schema *schema,
                            frz_arena *arena, frz_cost_inserts *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    insert_job job;
    tuple_set tuples = {0};
    int64_t inserted = 0;
    init(&job, plan, table);
    FRZ_TRY(bind(&job, schema, arena, err));
    FRZ_TRY(count_rows(&job, &inserted, &tuples, err));
    out->rows = (double)inserted;
    out->files = (double)tuples.count;
    FRZ_TRY(list_columns(&job, arena, out, err));
out:
    frz_free(plan->env, tuples.list);
    reset(&job);
    return frz_context(err, rc, "counting new rows of \"%.*s\"",
                       FRZ_STR_ARG(plan->source->rows.name));
}
