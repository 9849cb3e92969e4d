/*
 * EXPLAIN SELECT: what a scan would read and what it would leave out at each level, as rows. The
 * plan is gone through, no data file is opened. EXPLAIN UPDATE, MERGE and DELETE: what each mode
 * costs.
 */
#include "frazil/plan.h"
#include "sql/sql_internal.h"

/* One row of the answer: a number, or a text. */
typedef struct figure {
    const char *level, *item;
    int64_t count; /* FRZ_NO_VALUE: none */
    const char *text;
} figure;

static frz_code put_text(frz_builder *builder, const char *text, frz_error *err)
{
    return text == NULL ? frz_builder_null(builder, err)
                        : frz_builder_bytes(builder, frz_str_from(text), err);
}

static frz_code put_figure(frz_builder *rows, const figure *f, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *count = frz_builder_child(rows, 2);
    FRZ_TRY(put_text(frz_builder_child(rows, 0), f->level, err));
    FRZ_TRY(put_text(frz_builder_child(rows, 1), f->item, err));
    FRZ_TRY(f->count == FRZ_NO_VALUE ? frz_builder_null(count, err)
                                     : frz_builder_i64(count, f->count, err));
    FRZ_TRY(put_text(frz_builder_child(rows, 3), f->text, err));
    rc = frz_builder_end(rows, err);
out:
    return rc;
}

static frz_code put_report(frz_builder *rows, const frz_plan_report *r, frz_error *err)
{
    const figure figures[] = {
        {"snapshot", "id", r->snapshot_id == 0 ? FRZ_NO_VALUE : r->snapshot_id, NULL},
        {"manifests", "of the snapshot", r->manifests, NULL},
        {"manifests", "skipped without live entries", r->manifests_empty, NULL},
        {"manifests", "skipped by partition", r->manifests_by_partition, NULL},
        {"manifests", "skipped by statistics", r->manifests_by_statistics, NULL},
        {"files", "of the snapshot", r->files, NULL},
        {"files", "skipped with their manifest", r->files_in_manifests, NULL},
        {"files", "skipped by partition", r->files_by_partition, NULL},
        {"files", "skipped by counts", r->files_by_counts, NULL},
        {"files", "skipped by bounds", r->files_by_bounds, NULL},
        {"read", "files", r->files_planned, NULL},
        {"read", "rows", r->rows_planned, NULL},
        {"read", "bytes", r->bytes_planned, NULL},
        {"read", "delete files", r->delete_files, NULL},
        {"read", "tasks", r->tasks, NULL},
    };
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(figures) && rc == FRZ_OK; i++) {
        rc = put_figure(rows, &figures[i], err);
    }
    return rc;
}

static frz_code put_names(frz_builder *rows, const frz_env *env, const char *const *columns,
                          size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(frz_buf_printf(&text, err, "%s%s", i == 0 ? "" : ", ", columns[i]));
    }
    FRZ_TRY(frz_buf_append_byte(&text, '\0', err));
    const figure f = {"scan", "columns", (int64_t)count, (const char *)text.data};
    rc = put_figure(rows, &f, err);
out:
    frz_buf_reset(&text);
    return rc;
}

static frz_code go_through(frz_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK) {
        frz_task *task = NULL;
        rc = frz_plan_next(plan, &task, err);
        frz_task_unref(task);
    }
    return rc == FRZ_END ? FRZ_OK : rc;
}

/* ---- the answer as a stream of one batch ---- */

typedef struct answer {
    const frz_env *env;
    frz_arena arena;
    const frz_type *type;
    struct ArrowArray batch; /* released: it was handed out */
} answer;

static frz_code answer_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const answer *a = ctx;
    return frz_type_to_arrow(a->env, a->type, out, err);
}

static frz_code answer_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    answer *a = ctx;
    (void)err;
    if (a->batch.release == NULL) {
        return FRZ_END;
    }
    frz_array_move(&a->batch, out);
    return FRZ_OK;
}

static void answer_free(void *ctx)
{
    answer *a = ctx;
    if (a != NULL) {
        const frz_env *env = a->env;
        frz_array_release(&a->batch);
        frz_arena_reset(&a->arena);
        frz_free(env, a);
    }
}

static frz_code set_type(answer *a, frz_error *err)
{
    const frz_type *text = frz_type_primitive(FRZ_TYPE_STRING);
    const frz_field fields[] = {
        {.id = FRZ_ID_NONE, .name = FRZ_STR("level"), .required = true, .type = text},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("item"), .required = true, .type = text},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("count"), .type = frz_type_primitive(FRZ_TYPE_LONG)},
        {.id = FRZ_ID_NONE, .name = FRZ_STR("text"), .type = text},
    };
    return frz_type_struct_of(&a->arena, fields, FRZ_ARRAY_COUNT(fields), &a->type, err);
}

/* Takes the answer over, also on failure. */
static frz_code answer_give(answer *a, frz_code rc, struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {answer_schema, answer_next, answer_free};
    if (rc != FRZ_OK) {
        answer_free(a);
        return rc;
    }
    return frz_stream_make(a->env, &ops, a, out, err);
}

static frz_code answer_new(const frz_env *env, answer **out, frz_error *err)
{
    answer *a = frz_alloc_zero(env, 1, sizeof *a);
    if (a == NULL) {
        return frz_fail_nomem(err, sizeof *a);
    }
    a->env = env;
    frz_arena_init(&a->arena, env, FRZ_ARENA_NO_LIMIT);
    *out = a;
    return FRZ_OK;
}

static frz_code fill(answer *a, frz_table *table, const frz_plan_options *options, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_plan *plan = NULL;
    frz_builder *rows = NULL;
    frz_plan_report report;
    const figure condition = {"scan", "condition", FRZ_NO_VALUE, options->where};
    FRZ_TRY(set_type(a, err));
    FRZ_TRY(frz_builder_new(a->env, a->type, &rows, err));
    FRZ_TRY(frz_plan_open(table, options, &plan, err));
    FRZ_TRY(go_through(plan, err));
    frz_plan_report_get(plan, &report);
    FRZ_TRY(put_names(rows, a->env, options->columns, options->column_count, err));
    FRZ_TRY(put_figure(rows, &condition, err));
    FRZ_TRY(put_report(rows, &report, err));
    rc = frz_builder_finish(rows, &a->batch, err);
out:
    frz_builder_free(rows);
    frz_plan_close(plan);
    return rc;
}

frz_code sql_explain_read(frz_table *table, const frz_snapshot_choice *choice,
                          const char *const *columns, size_t count, const char *where,
                          struct ArrowArrayStream *out, frz_error *err)
{
    frz_plan_options options = FRZ_PLAN_OPTIONS_INIT;
    answer *a = NULL;
    frz_code rc = answer_new(table->env, &a, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    options.columns = columns;
    options.column_count = count;
    options.where = where;
    options.snapshot_id = choice->snapshot_id;
    options.as_of = choice->as_of;
    options.ref = choice->ref;
    return answer_give(a, fill(a, table, &options, err), out, err);
}

/* ---- modes ---- */

static const char *const mode_columns[] = {
    "rows", "data_files", "files_written", "bytes_written", "bytes_read", "read_tax", "cost"};

static frz_code set_mode_type(answer *a, frz_error *err)
{
    frz_field fields[FRZ_ARRAY_COUNT(mode_columns) + 2] = {
        {.id = FRZ_ID_NONE,
         .name = FRZ_STR("mode"),
         .required = true,
         .type = frz_type_primitive(FRZ_TYPE_STRING)},
        {.id = FRZ_ID_NONE,
         .name = FRZ_STR("auto"),
         .required = true,
         .type = frz_type_primitive(FRZ_TYPE_BOOLEAN)}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(mode_columns); i++) {
        fields[i + 2] = (frz_field){.id = FRZ_ID_NONE,
                                    .name = frz_str_from(mode_columns[i]),
                                    .required = true,
                                    .type = frz_type_primitive(FRZ_TYPE_LONG)};
    }
    return frz_type_struct_of(&a->arena, fields, FRZ_ARRAY_COUNT(fields), &a->type, err);
}

static frz_code fill_modes(answer *a, const frz_statement_estimate *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *rows = NULL;
    FRZ_TRY(set_mode_type(a, err));
    FRZ_TRY(frz_builder_new(a->env, a->type, &rows, err));
    for (size_t i = 0; i < e->mode_count; i++) {
        const frz_mode_estimate *m = &e->modes[i];
        const int64_t figures[] = {e->rows,       e->data_files, m->files_written, m->bytes_written,
                                   m->bytes_read, m->read_tax,   m->cost};
        FRZ_TRY(frz_builder_bytes(frz_builder_child(rows, 0), frz_str_from(m->mode), err));
        FRZ_TRY(frz_builder_bool(frz_builder_child(rows, 1), i == e->cheapest, err));
        for (size_t k = 0; k < FRZ_ARRAY_COUNT(figures); k++) {
            FRZ_TRY(frz_builder_i64(frz_builder_child(rows, k + 2), figures[k], err));
        }
        FRZ_TRY(frz_builder_end(rows, err));
    }
    rc = frz_builder_finish(rows, &a->batch, err);
out:
    frz_builder_free(rows);
    return rc;
}

frz_code sql_explain_modes(const frz_env *env, const frz_statement_estimate *estimate,
                           struct ArrowArrayStream *out, frz_error *err)
{
    answer *a = NULL;
    frz_code rc = answer_new(env, &a, err);
    return rc == FRZ_OK ? answer_give(a, fill_modes(a, estimate, err), out, err) : rc;
}
