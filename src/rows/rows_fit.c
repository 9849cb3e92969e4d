/*
 * Rows of a source as rows of a table. Columns are matched by name; those that the source lacks get
 * their write default, else null. Each other column is an assignment of the source's column to the
 * table's, evaluated over whole batches: it converts, and refuses nulls of required columns.
 */
#include "expr/expr.h"
#include "rows/rows_internal.h"
#include "source/source.h"

#define TYPE_TEXT 160

/* Where one column of the table comes from. */
typedef struct fit_column {
    const frz_field *field; /* of the table */
    frz_bound_expr *bound;  /* NULL: the source lacks it */
} fit_column;

struct rows_fit {
    const frz_env *env;
    frz_arena arena;
    source_plain rows;
    frz_field *found;        /* the columns of the source */
    const frz_type **nested; /* their own types where these are rebuilt; NULL: they are not */
    const frz_type *source;
    const frz_type *table;
    fit_column *columns;
};

/* ---- columns ---- */

/* The table's column that column i of the source belongs to. */
static frz_code match_name(const rows_fit *fit, const rows_fit_options *options, size_t i,
                           const frz_field **out, frz_error *err)
{
    frz_str name =
        options->columns == NULL ? fit->found[i].name : frz_str_from(options->columns[i]);
    frz_code rc = frz_type_resolve_name(fit->table, name, out, err);
    if (rc == FRZ_E_NOT_FOUND) {
        frz_error_reset(err);
        rc = frz_fail(err, FRZ_E_ARGUMENT, "the table has no column \"%.*s\"", FRZ_STR_ARG(name));
    }
    return rc;
}

/* Types of the same values by another name, as files without Iceberg's schema have them. */
static bool is_another_name(const frz_type *from, const frz_type *to)
{
    return (to->id == FRZ_TYPE_UUID && from->id == FRZ_TYPE_FIXED && from->length == 16) ||
           ((to->id == FRZ_TYPE_GEOMETRY || to->id == FRZ_TYPE_GEOGRAPHY) &&
            from->id == FRZ_TYPE_BINARY);
}

static frz_code check_types(const frz_field *found, const frz_field *field,
                            const rows_fit_options *options, frz_error *err)
{
    char have[TYPE_TEXT], want[TYPE_TEXT];
    const frz_type *from = found->type, *to = field->type;
    if (frz_type_is_nested(from) && from->id == to->id) {
        return frz_context(err, rows_nested_check(from, to, err), "column \"%.*s\"",
                           FRZ_STR_ARG(field->name));
    }
    bool fits = from->id == FRZ_TYPE_UNKNOWN || to->id == FRZ_TYPE_UNKNOWN ||
                frz_type_same_shape(from, to) || frz_type_promotes(from, to) ||
                (options->assign && !frz_type_is_nested(from) && !frz_type_is_nested(to));
    if (fits) {
        return FRZ_OK;
    }
    frz_code rc = frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\": expected %s, found %s",
                           FRZ_STR_ARG(field->name), frz_type_text(to, want, sizeof want),
                           frz_type_text(from, have, sizeof have));
    if (!options->assign && !frz_type_is_nested(from) && !frz_type_is_nested(to)) {
        frz_hint(err, "INSERT INTO table SELECT ... FROM 'file' converts values that fit");
    }
    return rc;
}

static frz_code plan_column(rows_fit *fit, const rows_fit_options *options, size_t i,
                            const frz_field **taken, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = NULL;
    FRZ_TRY(match_name(fit, options, i, &field, err));
    size_t place = (size_t)(field - fit->table->fields);
    if (taken[place] != NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" is given twice",
                        FRZ_STR_ARG(field->name));
    }
    taken[place] = &fit->found[i];
    if (is_another_name(fit->found[i].type, field->type)) {
        fit->found[i].type = field->type;
    }
    FRZ_TRY(check_types(&fit->found[i], field, options, err));
    if (frz_type_is_nested(field->type) && fit->found[i].type->id == field->type->id &&
        !frz_type_same_shape(fit->found[i].type, field->type)) {
        fit->nested[i] = fit->found[i].type;
        fit->found[i].type = field->type;
    }
    fit->found[i].id = (int32_t)place + 1;
    /* names may need quotes, and the source's need not be unique in themselves */
    fit->found[i].name = field->name;
out:
    return rc;
}

static frz_code bind_column(rows_fit *fit, fit_column *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr = NULL;
    frz_buf text = FRZ_BUF_INIT(fit->env, FRZ_BUF_NO_LIMIT);
    frz_str name = column->field->name;
    FRZ_TRY(frz_buf_append_byte(&text, '"', err));
    for (size_t i = 0; i < name.len; i++) {
        FRZ_TRY(frz_buf_append_byte(&text, (uint8_t)name.ptr[i], err));
        if (name.ptr[i] == '"') {
            FRZ_TRY(frz_buf_append_byte(&text, '"', err));
        }
    }
    FRZ_TRY(frz_buf_append_byte(&text, '"', err));
    FRZ_TRY(frz_expr_parse(&fit->arena, frz_buf_view(&text), &expr, err));
    FRZ_TRY(frz_expr_bind_assign(fit->env, expr, fit->source, column->field, &column->bound, err));
out:
    frz_buf_reset(&text);
    return rc;
}

static frz_code check_absent(const frz_field *field, frz_error *err)
{
    if (field->required && field->write_default == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\" is required and has no default, but is not given",
                        FRZ_STR_ARG(field->name));
    }
    return FRZ_OK;
}

static frz_code plan_columns(rows_fit *fit, const rows_fit_options *options, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t given = (size_t)fit->rows.schema.n_children, count = fit->table->field_count;
    const frz_field **taken = frz_arena_array(&fit->arena, count, sizeof *taken);
    fit->columns = frz_arena_array(&fit->arena, count, sizeof *fit->columns);
    if (taken == NULL || fit->columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *fit->columns);
    }
    if (options->columns != NULL && options->column_count != given) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected values for %zu columns, found %zu",
                        options->column_count, given);
    }
    for (size_t i = 0; i < given; i++) {
        FRZ_TRY(plan_column(fit, options, i, taken, err));
    }
    FRZ_TRY(frz_type_struct_of(&fit->arena, fit->found, given, &fit->source, err));
    for (size_t i = 0; i < count; i++) {
        fit->columns[i].field = &fit->table->fields[i];
        FRZ_TRY(taken[i] == NULL ? check_absent(&fit->table->fields[i], err)
                                 : bind_column(fit, &fit->columns[i], err));
    }
out:
    return rc;
}

static frz_code plan_source(rows_fit *fit, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = (size_t)fit->rows.schema.n_children;
    fit->found = frz_arena_array(&fit->arena, count, sizeof *fit->found);
    fit->nested = frz_arena_array(&fit->arena, count, sizeof *fit->nested);
    if (fit->found == NULL || fit->nested == NULL) {
        return frz_fail_nomem(err, count * sizeof *fit->found);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(expr_plain_field(&fit->arena, fit->rows.schema.children[i], &fit->found[i], err));
    }
    FRZ_TRY(source_plain_choose(&fit->rows, NULL, count, err));
out:
    return rc;
}

frz_code rows_fit_open(const frz_env *env, struct ArrowArrayStream *stream, const frz_type *table,
                       const rows_fit_options *options, rows_fit **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    rows_fit *fit = frz_alloc_zero(env, 1, sizeof *fit);
    if (fit == NULL) {
        return frz_fail_nomem(err, sizeof *fit);
    }
    *fit = (rows_fit){.env = env, .table = table};
    frz_arena_init(&fit->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(source_plain_open(&fit->rows, env, stream, err));
    FRZ_TRY(plan_source(fit, err));
    FRZ_TRY(plan_columns(fit, options, err));
    *out = fit;
    fit = NULL;
out:
    rows_fit_close(fit);
    return rc;
}

void rows_fit_close(rows_fit *fit)
{
    if (fit == NULL) {
        return;
    }
    const frz_env *env = fit->env;
    for (size_t i = 0; fit->columns != NULL && i < fit->table->field_count; i++) {
        frz_bound_expr_free(fit->columns[i].bound);
    }
    source_plain_reset(&fit->rows);
    frz_arena_reset(&fit->arena);
    frz_free(env, fit);
}

/* ---- rows ---- */

static frz_code fit_nested(const rows_fit *fit, struct ArrowArray *plain, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t i = 0; i < plain->n_children; i++) {
        if (fit->nested[i] != NULL) {
            rc = rows_nested_fit(fit->env, fit->nested[i], fit->found[i].type, plain->children[i],
                                 err);
            FRZ_TRY(frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(fit->found[i].name)));
        }
    }
out:
    return rc;
}

static frz_code fit_column_rows(const rows_fit *fit, const fit_column *column,
                                const struct ArrowArray *plain, int64_t first,
                                struct ArrowArray *out, frz_error *err)
{
    const frz_field *field = column->field;
    if (column->bound != NULL) {
        return frz_expr_eval(column->bound, fit->source, plain, first, NULL, out, err);
    }
    return field->write_default == NULL
               ? frz_array_nulls(fit->env, field->type, plain->length, out, err)
               : frz_array_constant(fit->env, field->type, field->write_default, plain->length, out,
                                    err);
}

static frz_code fit_rows(const rows_fit *fit, const struct ArrowArray *plain, int64_t first,
                         struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = fit->table->field_count, made = 0;
    struct ArrowArray *columns = frz_alloc_zero(fit->env, count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *columns);
    }
    for (; made < count; made++) {
        FRZ_TRY(fit_column_rows(fit, &fit->columns[made], plain, first, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(fit->env, plain->length, columns, count, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(fit->env, columns);
    return rc;
}

frz_code rows_fit_next(rows_fit *fit, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray plain = {0};
    int64_t first = 0;
    rc = source_plain_next(&fit->rows, &plain, &first, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    FRZ_TRY(fit_nested(fit, &plain, err));
    FRZ_TRY(fit_rows(fit, &plain, first, out, err));
out:
    frz_array_release(&plain);
    return rc;
}
