/*
 * SELECT: a scan of the columns that the list reads, and the list evaluated over each batch. The
 * condition goes to the scan as text and is evaluated there only.
 */
#include "scan/scan_plan.h"
#include "sql/sql_internal.h"

/* One column of the answer: an expression, or an aggregate with its argument. */
typedef struct select_column {
    frz_bound_expr *bound; /* NULL for count(*) */
    sql_aggregate aggregate;
} select_column;

typedef struct select_run {
    const frz_env *env;
    frz_arena arena;
    sql_source source;
    const frz_type *batch_type; /* of the source */
    const frz_type *type;       /* of the answer */
    select_column *columns;
    size_t column_count;
    bool aggregates;
    bool done;
    int64_t limit; /* of aggregates; the source has its own */
    int64_t rows;  /* seen so far */
} select_run;

static void run_free(void *ctx)
{
    select_run *run = ctx;
    if (run == NULL) {
        return;
    }
    const frz_env *env = run->env;
    for (size_t i = 0; i < run->column_count; i++) {
        frz_bound_expr_free(run->columns[i].bound);
        sql_aggregate_reset(&run->columns[i].aggregate);
    }
    sql_source_close(&run->source);
    frz_arena_reset(&run->arena);
    frz_free(env, run);
}

/* ---- the list ---- */

/* The name given, or a column's own name however it was written, or the text of the expression. */
static frz_code item_name(select_run *run, const sql_item *item, const frz_type *readable,
                          const frz_bound_expr *bound, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = NULL;
    size_t reads = 0;
    const int32_t *ids = bound == NULL ? NULL : frz_bound_expr_fields(bound, &reads);
    frz_buf text = FRZ_BUF_INIT(run->env, FRZ_BUF_NO_LIMIT);
    if (item->name.ptr != NULL) {
        return frz_arena_str(&run->arena, item->name, out, err);
    }
    FRZ_TRY(frz_expr_default_name(item->expr.tree, &text, err));
    frz_str name = frz_buf_view(&text);
    if (reads == 1 && frz_type_resolve_name(readable, name, &field, NULL) == FRZ_OK &&
        field->id == ids[0]) {
        name = field->name;
    }
    FRZ_TRY(frz_arena_str(&run->arena, name, out, err));
out:
    frz_buf_reset(&text);
    return rc;
}

static frz_code bind_aggregate(select_run *run, const sql_item *item, const frz_type *readable,
                               frz_aggregate kind, const frz_expr *argument, select_column *column,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    if (argument != NULL) {
        FRZ_TRY(frz_expr_bind(run->env, argument, readable, &column->bound, err));
        type = frz_bound_expr_type(column->bound);
    }
    FRZ_TRY(sql_aggregate_init(&column->aggregate, run->env, &run->arena, kind, type,
                               item->expr.text, err));
out:
    return rc;
}

/* The next column of the answer from an expression. */
static frz_code add_column(select_run *run, const sql_item *item, const frz_type *readable,
                           frz_field *field, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *argument = NULL;
    select_column *column = &run->columns[run->column_count++];
    frz_aggregate kind = frz_expr_aggregate(item->expr.tree, &argument);
    *field = (frz_field){.id = FRZ_ID_NONE};
    if (kind != FRZ_AGGREGATE_NONE) {
        FRZ_TRY(bind_aggregate(run, item, readable, kind, argument, column, err));
        field->type = column->aggregate.result;
    } else {
        FRZ_TRY(frz_expr_bind(run->env, item->expr.tree, readable, &column->bound, err));
        field->type = frz_bound_expr_type(column->bound);
    }
    FRZ_TRY(item_name(run, item, readable, column->bound, &field->name, err));
    if (run->column_count > 1 && run->aggregates != (kind != FRZ_AGGREGATE_NONE)) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                      "unsupported: GROUP BY, which columns beside "
                      "aggregates would need");
        goto out;
    }
    run->aggregates = kind != FRZ_AGGREGATE_NONE;
out:
    return rc;
}

/* A * is one column after the other. */
static frz_code add_star(select_run *run, const frz_type *all, const frz_type *readable,
                         frz_field *fields, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf name = FRZ_BUF_INIT(run->env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < all->field_count; i++) {
        sql_item item = {.name = all->fields[i].name};
        frz_buf_clear(&name);
        FRZ_TRY(frz_buf_append_byte(&name, '"', err));
        for (size_t k = 0; k < item.name.len; k++) {
            FRZ_TRY(frz_buf_append_byte(&name, (uint8_t)item.name.ptr[k], err));
            if (item.name.ptr[k] == '"') {
                FRZ_TRY(frz_buf_append_byte(&name, '"', err));
            }
        }
        FRZ_TRY(frz_buf_append_byte(&name, '"', err));
        FRZ_TRY(frz_expr_parse(&run->arena, frz_buf_view(&name), &item.expr.tree, err));
        FRZ_TRY(add_column(run, &item, readable, &fields[run->column_count], err));
        fields[run->column_count - 1].id = all->fields[i].id;
    }
out:
    frz_buf_reset(&name);
    return rc;
}

static frz_code bind_list(select_run *run, const sql_statement *statement, const frz_type *all,
                          const frz_type *readable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = 0;
    for (size_t i = 0; i < statement->item_count; i++) {
        count += statement->items[i].star ? all->field_count : 1;
    }
    frz_field *fields = frz_arena_array(&run->arena, count + 1, sizeof *fields);
    run->columns = frz_arena_array(&run->arena, count + 1, sizeof *run->columns);
    if (fields == NULL || run->columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *run->columns);
    }
    for (size_t i = 0; i < statement->item_count; i++) {
        const sql_item *item = &statement->items[i];
        FRZ_TRY(item->star ? add_star(run, all, readable, fields, err)
                           : add_column(run, item, readable, &fields[run->column_count], err));
    }
    /* ids only where the answer is the table's own columns */
    for (size_t i = 0; i < run->column_count && statement->item_count > 1; i++) {
        fields[i].id = FRZ_ID_NONE;
    }
    FRZ_TRY(frz_type_struct_of(&run->arena, fields, run->column_count, &run->type, err));
out:
    return rc;
}

/* ---- the source ---- */

static int compare_ids(const frz_type *readable, int32_t a, int32_t b)
{
    int64_t at_a = frz_type_index_of_id(readable, a);
    int64_t at_b = frz_type_index_of_id(readable, b);
    return (at_a > at_b) - (at_a < at_b);
}

/* The fields that the list reads, each once, in the order of the table. */
static frz_code collect_fields(select_run *run, const frz_type *readable, int32_t **out,
                               size_t *out_count, frz_error *err)
{
    size_t count = 0;
    int32_t *ids = frz_arena_array(&run->arena, readable->field_count + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, readable->field_count * sizeof *ids);
    }
    for (size_t i = 0; i < run->column_count; i++) {
        size_t n = 0;
        const int32_t *fields =
            run->columns[i].bound == NULL ? NULL : frz_bound_expr_fields(run->columns[i].bound, &n);
        for (size_t k = 0; k < n; k++) {
            size_t at = count;
            while (at > 0 && compare_ids(readable, ids[at - 1], fields[k]) > 0) {
                at--;
            }
            if (at > 0 && ids[at - 1] == fields[k]) {
                continue;
            }
            memmove(ids + at + 1, ids + at, (count - at) * sizeof *ids);
            ids[at] = fields[k];
            count++;
        }
    }
    *out = ids;
    *out_count = count;
    return FRZ_OK;
}

/* The names of what the list reads, for the source. */
static frz_code name_columns(select_run *run, const char *const **out, size_t *out_count,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t *ids = NULL;
    size_t count = 0;
    FRZ_TRY(collect_fields(run, run->source.readable, &ids, &count, err));
    FRZ_TRY(frz_project_ids(&run->arena, run->source.readable, ids, count, &run->batch_type, err));
    const char **names = frz_arena_array(&run->arena, count + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < count; i++) {
        names[i] = frz_arena_strdup(&run->arena, run->batch_type->fields[i].name);
        if (names[i] == NULL) {
            names = NULL;
        }
    }
    if (names == NULL) {
        rc = frz_fail_nomem(err, count * sizeof *names);
        goto out;
    }
    *out = names;
    *out_count = count;
out:
    return rc;
}

/* ---- rows ---- */

static frz_code eval_list(select_run *run, const struct ArrowArray *batch, struct ArrowArray *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t made = 0;
    struct ArrowArray *columns = frz_alloc_zero(run->env, run->column_count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, run->column_count * sizeof *columns);
    }
    for (; made < run->column_count; made++) {
        FRZ_TRY(frz_expr_eval(run->columns[made].bound, run->batch_type, batch, run->rows, NULL,
                              &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(run->env, batch->length, columns, run->column_count, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(run->env, columns);
    return rc;
}

static frz_code add_batch(select_run *run, const struct ArrowArray *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray array = {0};
    for (size_t i = 0; i < run->column_count; i++) {
        select_column *column = &run->columns[i];
        if (column->bound == NULL) {
            FRZ_TRY(sql_aggregate_add(&column->aggregate, NULL, batch->length, err));
            continue;
        }
        FRZ_TRY(frz_expr_eval(column->bound, run->batch_type, batch, run->rows, NULL, &array, err));
        FRZ_TRY(sql_aggregate_add(&column->aggregate, &array, batch->length, err));
        frz_array_release(&array);
    }
out:
    frz_array_release(&array);
    return rc;
}

/* The one row of an answer of aggregates. */
static frz_code aggregate_row(select_run *run, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t made = 0;
    struct ArrowArray *columns = frz_alloc_zero(run->env, run->column_count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, run->column_count * sizeof *columns);
    }
    for (; made < run->column_count; made++) {
        frz_value value;
        FRZ_TRY(sql_aggregate_value(&run->columns[made].aggregate, &value, err));
        FRZ_TRY(value.is_null
                    ? frz_array_nulls(run->env, value.type, 1, &columns[made], err)
                    : frz_array_constant(run->env, value.type, &value, 1, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(run->env, 1, columns, run->column_count, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(run->env, columns);
    return rc;
}

static frz_code next_aggregates(select_run *run, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (run->done || run->limit == 0) {
        return FRZ_END;
    }
    for (;;) {
        struct ArrowArray batch = {0};
        rc = sql_source_next(&run->source, &batch, err);
        if (rc == FRZ_END) {
            break;
        }
        FRZ_TRY(rc);
        rc = add_batch(run, &batch, err);
        run->rows += batch.length;
        frz_array_release(&batch);
        FRZ_TRY(rc);
    }
    FRZ_TRY(aggregate_row(run, out, err));
    run->done = true;
out:
    return rc;
}

static frz_code run_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const select_run *run = ctx;
    return frz_type_to_arrow(run->env, run->type, out, err);
}

static frz_code run_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    select_run *run = ctx;
    if (run->aggregates) {
        return next_aggregates(run, out, err);
    }
    struct ArrowArray batch = {0};
    frz_code rc = sql_source_next(&run->source, &batch, err);
    if (rc == FRZ_OK) {
        rc = eval_list(run, &batch, out, err);
        run->rows += batch.length;
    }
    frz_array_release(&batch);
    return rc;
}

/* ---- entry ---- */

/* table NULL: a file. */
static frz_code prepare(select_run *run, frz_table *table, const frz_table_view *view,
                        const sql_statement *statement, const char *const **names, size_t *count,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_bound_expr *filter = NULL;
    sql_source *source = &run->source;
    FRZ_TRY(table == NULL
                ? sql_source_init_file(source, run->env, statement->file, &run->arena, err)
                : sql_source_init(source, table, view, &statement->choice, &run->arena, err));
    FRZ_TRY(bind_list(run, statement, source->star, source->readable, err));
    if (statement->where.tree != NULL) {
        /* only so that a mistake is shown in the whole statement */
        FRZ_TRY(
            frz_expr_bind_filter(run->env, statement->where.tree, source->readable, &filter, err));
    }
    FRZ_TRY(name_columns(run, names, count, err));
out:
    frz_bound_expr_free(filter);
    return rc;
}

static frz_code new_run(const frz_env *env, select_run **out, frz_error *err)
{
    select_run *run = frz_alloc_zero(env, 1, sizeof *run);
    if (run == NULL) {
        return frz_fail_nomem(err, sizeof *run);
    }
    run->env = env;
    frz_arena_init(&run->arena, env, FRZ_ARENA_NO_LIMIT);
    *out = run;
    return FRZ_OK;
}

frz_code sql_select(const frz_env *env, frz_table *table, const frz_table_view *view,
                    const sql_statement *statement, frz_arena *arena, struct ArrowArrayStream *out,
                    frz_error *err)
{
    static const frz_stream_ops ops = {run_schema, run_next, run_free};
    frz_code rc = FRZ_OK;
    select_run *run = NULL;
    const char *const *names = NULL;
    size_t count = 0;
    rc = new_run(env, &run, err);
    if (rc != FRZ_OK) {
        frz_arena_reset(arena);
        return rc;
    }
    run->arena = *arena;
    *arena = (frz_arena){.env = env};
    run->limit = statement->limit;
    FRZ_TRY(prepare(run, table, view, statement, &names, &count, err));
    FRZ_TRY(sql_source_open(&run->source, names, count, statement->where.text,
                            run->aggregates ? -1 : statement->limit, err));
    rc = frz_stream_make(run->env, &ops, run, out, err);
    run = NULL;
out:
    run_free(run);
    return rc;
}

frz_code sql_explain_select(frz_table *table, const frz_table_view *view,
                            const sql_statement *statement, struct ArrowArrayStream *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    select_run *run = NULL;
    const char *const *names = NULL;
    size_t count = 0;
    if (view != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: EXPLAIN of what is listed about a table");
    }
    FRZ_TRY(new_run(table->env, &run, err));
    FRZ_TRY(prepare(run, table, view, statement, &names, &count, err));
    rc = sql_explain_read(table, &statement->choice, names, count, statement->where.text, out, err);
out:
    run_free(run);
    return rc;
}
