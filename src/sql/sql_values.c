/*
 * VALUES: each is an assignment to the column of the table that it is for, over no columns.
 */
#include "sql/sql_internal.h"

/* ---- which columns ---- */

static frz_code find_fields(const sql_statement *statement, const frz_type *table, frz_field *out,
                            frz_error *err)
{
    size_t count = statement->columns == NULL ? table->field_count : statement->column_count;
    if (count != statement->value_width) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected values for %zu columns, found %zu", count,
                        statement->value_width);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = &table->fields[i];
        frz_code rc =
            statement->columns == NULL
                ? FRZ_OK
                : frz_type_resolve_name(table, frz_str_from(statement->columns[i]), &field, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        out[i] = *field;
    }
    return FRZ_OK;
}

/* ---- values ---- */

static frz_code make_value(const frz_env *env, const sql_expr *value, const frz_field *field,
                           const frz_type *none, int64_t row, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_bound_expr *bound = NULL;
    struct ArrowArray batch = {0};
    if (value->tree == NULL) {
        return frz_array_constant(env, field->type, field->write_default, 1, out, err);
    }
    FRZ_TRY(frz_expr_bind_assign(env, value->tree, none, field, &bound, err));
    FRZ_TRY(frz_batch_make(env, 1, NULL, 0, &batch, err));
    FRZ_TRY(frz_expr_eval(bound, none, &batch, row, NULL, out, err));
out:
    frz_array_release(&batch);
    frz_bound_expr_free(bound);
    return rc;
}

static frz_code make_column(const frz_env *env, const sql_statement *statement, size_t column,
                            const frz_field *field, const frz_type *none, struct ArrowArray *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t rows = statement->value_count / statement->value_width, made = 0;
    struct ArrowArray *parts = frz_alloc_zero(env, rows, sizeof *parts);
    if (parts == NULL) {
        return frz_fail_nomem(err, rows * sizeof *parts);
    }
    for (; made < rows; made++) {
        const sql_expr *value = &statement->values[made * statement->value_width + column];
        FRZ_TRY(make_value(env, value, field, none, (int64_t)made, &parts[made], err));
    }
    FRZ_TRY(frz_array_concat(env, field->type, parts, rows, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&parts[i]);
    }
    frz_free(env, parts);
    return rc;
}

static frz_code make_rows(const frz_env *env, const sql_statement *statement, const frz_type *type,
                          const frz_type *none, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = type->field_count, made = 0;
    int64_t rows = (int64_t)(statement->value_count / statement->value_width);
    struct ArrowArray *columns = frz_alloc_zero(env, count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, count * sizeof *columns);
    }
    for (; made < count; made++) {
        FRZ_TRY(make_column(env, statement, made, &type->fields[made], none, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(env, rows, columns, count, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(env, columns);
    return rc;
}

frz_code sql_values(frz_catalog *catalog, const sql_statement *statement, frz_arena *arena,
                    struct ArrowArrayStream *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = catalog->env;
    frz_table *table = NULL;
    const frz_type *type = NULL, *none = NULL;
    struct ArrowArray batch = {0};
    struct ArrowSchema schema = {0};
    frz_field *fields = frz_arena_array(arena, statement->value_width, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, statement->value_width * sizeof *fields);
    }
    FRZ_TRY(frz_catalog_load_table(catalog, statement->into, &table, err));
    const frz_schema *current = frz_metadata_current_schema(&table->metadata);
    FRZ_TRY(find_fields(statement, current->type, fields, err));
    FRZ_TRY(frz_type_struct_of(arena, fields, statement->value_width, &type, err));
    FRZ_TRY(frz_type_struct_of(arena, fields, 0, &none, err));
    FRZ_TRY(make_rows(env, statement, type, none, &batch, err));
    FRZ_TRY(frz_type_to_arrow(env, type, &schema, err));
    rc = frz_stream_of_batches(env, &schema, &batch, 1, out, err);
    memset(&batch, 0, sizeof batch); /* both moved, also on failure */
    schema.release = NULL;
out:
    frz_array_release(&batch);
    frz_schema_release(&schema);
    frz_table_unref(table);
    return rc;
}
