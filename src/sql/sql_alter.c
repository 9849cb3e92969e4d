/*
 * ALTER TABLE: plans of commits that write a metadata file and nothing else.
 *
 * A field keeps its id through everything that happens to it, and an id is never given twice, so
 * files that were written before need no change. The name mapping, which tells the ids of imported
 * files by the names in them, stays as it is: those files keep their names. spec: Schema Evolution
 */
#include <stdarg.h>
#include <stdio.h>

#include "sql/sql_internal.h"
#include "type/type_transform.h"

/* Names of columns that every table has beside its own. */
static const char *const reserved_names[] = {
    "_row_id",   "_last_updated_sequence_number", "_file", "_pos", "_deleted", "_spec_id",
    "_partition"};

static frz_code check_column_name(frz_str name, frz_error *err)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(reserved_names); i++) {
        if (frz_str_equal_nocase(name, frz_str_from(reserved_names[i]))) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "column name \"%.*s\" is reserved for what a table tells of its rows",
                            FRZ_STR_ARG(name));
        }
    }
    return name.len > 0 ? FRZ_OK : frz_fail(err, FRZ_E_ARGUMENT, "a column name must not be empty");
}

/* The current schema with another type; the ids that were given stay given. */
static frz_code plan_schema(const frz_commit_attempt *attempt, const frz_type *type,
                            int32_t last_column_id, frz_commit_plan *plan, frz_error *err)
{
    frz_schema *schema = frz_arena_alloc(attempt->arena, sizeof *schema);
    if (schema == NULL) {
        return frz_fail_nomem(err, sizeof *schema);
    }
    *schema = *attempt->schema;
    schema->type = type;
    plan->schema = schema;
    plan->last_column_id = last_column_id;
    return FRZ_OK;
}

/* ---- ADD COLUMN ---- */

/* The value of DEFAULT as a value of the new column. */
static frz_code default_value(const frz_commit_attempt *attempt, const sql_statement *statement,
                              const frz_field *field, const frz_value **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_bound_expr *bound = NULL;
    struct ArrowArray rows = {0};
    struct ArrowArray batch = {.length = 1};
    frz_type none = {.id = FRZ_TYPE_STRUCT};
    if (statement->default_value.tree == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_expr_bind_assign(attempt->env, statement->default_value.tree, &none, field, &bound,
                                 err));
    FRZ_TRY(frz_expr_eval(bound, &none, &batch, 0, NULL, &rows, err));
    frz_value row = frz_value_at(field->type, &rows, 0);
    if (!row.is_null) {
        frz_value *value = frz_arena_alloc(attempt->arena, sizeof *value);
        if (value == NULL) {
            rc = frz_fail_nomem(err, sizeof *value);
            goto out;
        }
        FRZ_TRY(frz_value_copy(attempt->arena, &row, value, err));
        value->type = field->type;
        *out = value;
    }
out:
    frz_array_release(&rows);
    frz_bound_expr_free(bound);
    return rc;
}

static frz_code name_is_taken(frz_str name, frz_error *err)
{
    return frz_fail(err, FRZ_E_EXISTS, "column \"%.*s\" exists already", FRZ_STR_ARG(name));
}

static frz_code plan_add_column(const sql_statement *statement, const frz_commit_attempt *attempt,
                                frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *old = attempt->schema->type;
    int32_t last = attempt->table->metadata.last_column_id;
    if (sql_column_is_taken(old, statement->column)) {
        plan->nothing = statement->if_not_exists;
        return plan->nothing ? FRZ_OK : name_is_taken(statement->column, err);
    }
    FRZ_TRY(check_column_name(statement->column, err));
    if (last >= FRZ_ID_USER_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "the table has used all field ids");
    }
    const frz_type *type = NULL;
    frz_field *fields = frz_arena_array(attempt->arena, old->field_count + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, (old->field_count + 1) * sizeof *fields);
    }
    memcpy(fields, old->fields, old->field_count * sizeof *fields);
    frz_field *field = &fields[old->field_count];
    *field = (frz_field){.id = last + 1, .name = statement->column, .type = statement->type};
    FRZ_TRY(default_value(attempt, statement, field, &field->initial_default, err));
    field->write_default = field->initial_default;
    FRZ_TRY(frz_type_struct_of(attempt->arena, fields, old->field_count + 1, &type, err));
    FRZ_TRY(plan_schema(attempt, type, last + 1, plan, err));
out:
    return rc;
}

/* ---- columns that exist ---- */

/* The field itself or one below it. */
static bool holds(const frz_field *field, int32_t id)
{
    return field->id == id || frz_type_find_id(field->type, id) != NULL;
}

static bool holds_any(const frz_field *field, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (holds(field, ids[i])) {
            return true;
        }
    }
    return false;
}

static bool is_identifier(const frz_schema *schema, const frz_field *field)
{
    return holds_any(field, schema->identifier_ids, schema->identifier_count);
}

/* The column of the statement. what says in messages what is to be done with it. */
static frz_code find_column(const sql_statement *statement, const frz_commit_attempt *attempt,
                            const char *what, sql_column *out, frz_error *err)
{
    frz_code rc = sql_column_find(attempt->arena, attempt->schema->type, statement->path,
                                  statement->path_count, out, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (out->below_key) {
        rc =
            frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: %s column \"%.*s\", in the key of a map",
                     what, FRZ_STR_ARG(out->name));
        frz_hint(err, "entries could come to have equal keys, so keys stay as they are");
    }
    return rc;
}

/* field NULL: the column goes. */
static frz_code put_column(const frz_commit_attempt *attempt, const sql_column *column,
                           const frz_field *field, frz_commit_plan *plan, frz_error *err)
{
    const frz_type *type = NULL;
    frz_code rc = sql_column_replace(attempt->arena, column, field, &type, err);
    return rc != FRZ_OK
               ? rc
               : plan_schema(attempt, type, attempt->table->metadata.last_column_id, plan, err);
}

/* Elements, keys and values have no names of their own. */
static frz_code check_in_struct(const sql_column *column, const char *what, frz_error *err)
{
    return sql_column_parent(column)->id == FRZ_TYPE_STRUCT
               ? FRZ_OK
               : frz_fail(err, FRZ_E_UNSUPPORTED,
                          "unsupported: %s \"%.*s\", a part of every list or map", what,
                          FRZ_STR_ARG(column->name));
}

/* ---- RENAME COLUMN ---- */

static frz_code plan_rename(const sql_statement *statement, const frz_commit_attempt *attempt,
                            frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sql_column column = {0};
    frz_str name = {0};
    FRZ_TRY(find_column(statement, attempt, "renaming", &column, err));
    FRZ_TRY(check_in_struct(&column, "renaming", err));
    if (frz_str_equal(column.field->name, statement->new_name)) {
        plan->nothing = true;
        return FRZ_OK;
    }
    FRZ_TRY(sql_column_new_name(attempt->arena, &column, statement->new_name, &name, err));
    if (sql_column_is_taken(attempt->schema->type, name)) {
        return name_is_taken(name, err);
    }
    FRZ_TRY(check_column_name(statement->new_name, err));
    frz_field field = *column.field;
    field.name = statement->new_name;
    FRZ_TRY(put_column(attempt, &column, &field, plan, err));
    FRZ_TRY(sql_properties_follow(attempt, &column, &statement->new_name, plan, err));
out:
    return rc;
}

/* ---- DROP COLUMN ---- */

static frz_code still_used(const sql_column *column, frz_error *err, const char *fmt, ...)
    FRZ_PRINTF(3, 4);

static frz_code still_used(const sql_column *column, frz_error *err, const char *fmt, ...)
{
    char by[160];
    va_list list;
    va_start(list, fmt);
    vsnprintf(by, sizeof by, fmt, list);
    va_end(list);
    return frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" cannot be dropped: it is used by %s",
                    FRZ_STR_ARG(column->name), by);
}

/* Also specs that are not written with any more: data files have partitions by them, whose types
 * are those of their sources. */
static frz_code check_specs(const frz_metadata *metadata, const sql_column *column, frz_error *err)
{
    for (size_t i = 0; i < metadata->spec_count; i++) {
        const frz_partition_spec *spec = &metadata->specs[i];
        for (size_t j = 0; j < spec->field_count; j++) {
            const frz_partition_field *field = &spec->fields[j];
            if (field->transform.kind != FRZ_TRANSFORM_VOID &&
                holds_any(column->field, field->source_ids, field->source_count)) {
                return still_used(column, err, "field \"%.*s\" of partition spec %d",
                                  FRZ_STR_ARG(field->name), (int)spec->spec_id);
            }
        }
    }
    return FRZ_OK;
}

/* Only the order that is written with: what is left of older ones is a mark on data files. */
static frz_code check_order(const frz_metadata *metadata, const sql_column *column, frz_error *err)
{
    for (size_t i = 0; i < metadata->sort_order_count; i++) {
        const frz_sort_order *order = &metadata->sort_orders[i];
        if (order->order_id != metadata->default_sort_order_id) {
            continue;
        }
        for (size_t j = 0; j < order->field_count; j++) {
            const frz_sort_field *field = &order->fields[j];
            if (holds_any(column->field, field->source_ids, field->source_count)) {
                return still_used(column, err, "sort order %d", (int)order->order_id);
            }
        }
    }
    return FRZ_OK;
}

static frz_code check_unused(const frz_commit_attempt *attempt, const sql_column *column,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &attempt->table->metadata;
    FRZ_TRY(check_specs(metadata, column, err));
    FRZ_TRY(check_order(metadata, column, err));
    if (is_identifier(attempt->schema, column->field)) {
        return still_used(column, err, "the table's identifier fields");
    }
    if (sql_column_parent(column)->field_count == 1) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\" cannot be dropped: it is the only one there",
                        FRZ_STR_ARG(column->name));
    }
out:
    return rc;
}

static frz_code plan_drop(const sql_statement *statement, const frz_commit_attempt *attempt,
                          frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sql_column column = {0};
    rc = find_column(statement, attempt, "dropping", &column, err);
    if (rc == FRZ_E_NOT_FOUND && statement->if_exists) {
        frz_error_reset(err);
        plan->nothing = true;
        return FRZ_OK;
    }
    FRZ_TRY(rc);
    FRZ_TRY(check_in_struct(&column, "dropping", err));
    FRZ_TRY(check_unused(attempt, &column, err));
    FRZ_TRY(put_column(attempt, &column, NULL, plan, err));
    FRZ_TRY(sql_properties_follow(attempt, &column, NULL, plan, err));
out:
    return rc;
}

/* ---- ALTER COLUMN ... TYPE ---- */

/* A data file may tell less than the table of a geometry, so reading allows more than this. */
static bool may_become(const frz_type *from, const frz_type *to)
{
    bool is_geo = to->id == FRZ_TYPE_GEOMETRY || to->id == FRZ_TYPE_GEOGRAPHY;
    return from->id == FRZ_TYPE_UNKNOWN || (!is_geo && frz_type_promotes(from, to));
}

/* Partitions keep the values that they have: a transform must make the same of both types. */
static bool transform_keeps(const frz_partition_field *field, const frz_type *from,
                            const frz_type *to)
{
    switch (field->transform.kind) {
    case FRZ_TRANSFORM_VOID:
    case FRZ_TRANSFORM_TRUNCATE:
        return true;
    case FRZ_TRANSFORM_UNKNOWN:
        return false;
    case FRZ_TRANSFORM_IDENTITY:
    case FRZ_TRANSFORM_BUCKET:
        return from->id != FRZ_TYPE_DATE && from->id != FRZ_TYPE_UNKNOWN;
    default:
        return frz_transform_result(&field->transform, to) != NULL;
    }
}

static frz_code check_type_in_specs(const frz_metadata *metadata, const sql_column *column,
                                    const frz_type *to, frz_error *err)
{
    char text[80];
    for (size_t i = 0; i < metadata->spec_count; i++) {
        const frz_partition_spec *spec = &metadata->specs[i];
        for (size_t j = 0; j < spec->field_count; j++) {
            const frz_partition_field *field = &spec->fields[j];
            if (holds_any(column->field, field->source_ids, field->source_count) &&
                !transform_keeps(field, column->field->type, to)) {
                return frz_fail(err, FRZ_E_ARGUMENT,
                                "column \"%.*s\" cannot become %s: values of field \"%.*s\" of "
                                "partition spec %d would change",
                                FRZ_STR_ARG(column->name), frz_type_text(to, text, sizeof text),
                                FRZ_STR_ARG(field->name), (int)spec->spec_id);
            }
        }
    }
    return FRZ_OK;
}

static frz_code promote_default(const frz_commit_attempt *attempt, const frz_type *type,
                                const frz_value **value, frz_error *err)
{
    frz_value *promoted = NULL;
    if (*value == NULL) {
        return FRZ_OK;
    }
    promoted = frz_arena_alloc(attempt->arena, sizeof *promoted);
    if (promoted == NULL) {
        return frz_fail_nomem(err, sizeof *promoted);
    }
    frz_code rc = frz_value_promote(*value, type, promoted, err);
    *value = promoted;
    return rc;
}

static frz_code check_type(const frz_commit_attempt *attempt, const sql_column *column,
                           const frz_type *to, frz_error *err)
{
    char from_text[80], to_text[80];
    const frz_type *from = column->field->type;
    if (!may_become(from, to)) {
        frz_code rc =
            frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" of type %s cannot become %s",
                     FRZ_STR_ARG(column->name), frz_type_text(from, from_text, sizeof from_text),
                     frz_type_text(to, to_text, sizeof to_text));
        frz_hint(err, "types only grow: int to long, float to double, decimal(p, s) to more digits "
                      "of the same scale, date to timestamp or timestamp_ns");
        return rc;
    }
    return check_type_in_specs(&attempt->table->metadata, column, to, err);
}

static frz_code plan_type(const sql_statement *statement, const frz_commit_attempt *attempt,
                          frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sql_column column = {0};
    const frz_type *to = statement->type;
    FRZ_TRY(find_column(statement, attempt, "changing the type of", &column, err));
    if (frz_type_equal(column.field->type, to)) {
        plan->nothing = true;
        return FRZ_OK;
    }
    FRZ_TRY(check_type(attempt, &column, to, err));
    frz_field field = *column.field;
    field.type = to;
    FRZ_TRY(promote_default(attempt, to, &field.initial_default, err));
    FRZ_TRY(promote_default(attempt, to, &field.write_default, err));
    FRZ_TRY(put_column(attempt, &column, &field, plan, err));
out:
    return rc;
}

/* ---- ALTER COLUMN ... DROP NOT NULL ---- */

static frz_code plan_optional(const sql_statement *statement, const frz_commit_attempt *attempt,
                              frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sql_column column = {0};
    FRZ_TRY(find_column(statement, attempt, "allowing null in", &column, err));
    if (!column.field->required) {
        plan->nothing = true;
        return FRZ_OK;
    }
    if (is_identifier(attempt->schema, column.field)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\" must stay NOT NULL: it is used by the table's identifier "
                        "fields",
                        FRZ_STR_ARG(column.name));
    }
    frz_field field = *column.field;
    field.required = false;
    FRZ_TRY(put_column(attempt, &column, &field, plan, err));
out:
    return rc;
}

/* ---- commit ---- */

static frz_code build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                      frz_error *err)
{
    const sql_statement *statement = ctx;
    switch (statement->verb) {
    case SQL_ADD_COLUMN:
        return plan_add_column(statement, attempt, plan, err);
    case SQL_RENAME_COLUMN:
        return plan_rename(statement, attempt, plan, err);
    case SQL_DROP_COLUMN:
        return plan_drop(statement, attempt, plan, err);
    case SQL_COLUMN_TYPE:
        return plan_type(statement, attempt, plan, err);
    case SQL_COLUMN_OPTIONAL:
        return plan_optional(statement, attempt, plan, err);
    case SQL_UNSET_PROPERTIES:
        return sql_properties_unset(statement, attempt, plan, err);
    default:
        return sql_properties_set(statement, attempt, plan, err);
    }
}

frz_code sql_alter(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                   frz_error *err)
{
    return frz_commit_run(catalog, statement->table, build, (void *)(uintptr_t)statement, report,
                          err);
}
