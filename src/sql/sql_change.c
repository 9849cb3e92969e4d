/*
 * Statements that change a table: UPDATE, DELETE, and the two forms of ALTER TABLE.
 */
#include "frazil/column_update.h"
#include "frazil/rows.h"
#include "sql/sql_internal.h"
#include "write/write_commit.h"

frz_code sql_update(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                    frz_error *err)
{
    frz_assignment *assignments =
        frz_alloc_zero(catalog->env, statement->set_count, sizeof *assignments);
    if (assignments == NULL) {
        return frz_fail_nomem(err, statement->set_count * sizeof *assignments);
    }
    for (size_t i = 0; i < statement->set_count; i++) {
        assignments[i].column = statement->sets[i].column;
        assignments[i].expression = statement->sets[i].value.text;
    }
    frz_code rc = frz_update_columns(catalog, statement->table, assignments, statement->set_count,
                                     statement->where.text, report, err);
    frz_free(catalog->env, assignments);
    return rc;
}

frz_code sql_delete(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                    frz_error *err)
{
    return frz_delete_rows(catalog, statement->table, statement->where.text, report, err);
}

/* ---- ADD COLUMN ---- */

static const frz_field *field_named(const frz_type *type, frz_str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, name)) {
            return &type->fields[i];
        }
    }
    return NULL;
}

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

static frz_code name_is_taken(const sql_statement *statement, frz_commit_plan *plan, frz_error *err)
{
    if (statement->if_not_exists) {
        plan->nothing = true;
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_EXISTS, "column \"%.*s\" exists already",
                    FRZ_STR_ARG(statement->column));
}

/* Names that mean row lineage beside every column. */
static frz_code check_column_name(frz_str name, frz_error *err)
{
    if (frz_str_equal_nocase(name, frz_field_row_id.name) ||
        frz_str_equal_nocase(name, frz_field_last_updated.name)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "column name \"%.*s\" is reserved for row lineage",
                        FRZ_STR_ARG(name));
    }
    return FRZ_OK;
}

static frz_code plan_add_column(const sql_statement *statement, const frz_commit_attempt *attempt,
                                frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *old = attempt->schema->type;
    int32_t last = attempt->table->metadata.last_column_id;
    if (field_named(old, statement->column) != NULL) {
        return name_is_taken(statement, plan, err);
    }
    FRZ_TRY(check_column_name(statement->column, err));
    if (last >= FRZ_ID_USER_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "the table has used all field ids");
    }
    frz_schema *schema = frz_arena_alloc(attempt->arena, sizeof *schema);
    frz_field *fields = frz_arena_array(attempt->arena, old->field_count + 1, sizeof *fields);
    if (schema == NULL || fields == NULL) {
        return frz_fail_nomem(err, (old->field_count + 1) * sizeof *fields);
    }
    memcpy(fields, old->fields, old->field_count * sizeof *fields);
    frz_field *field = &fields[old->field_count];
    *field = (frz_field){.id = last + 1, .name = statement->column, .type = statement->type};
    FRZ_TRY(default_value(attempt, statement, field, &field->initial_default, err));
    field->write_default = field->initial_default;
    *schema = *attempt->schema;
    FRZ_TRY(frz_type_struct_of(attempt->arena, fields, old->field_count + 1, &schema->type, err));
    plan->schema = schema;
    plan->last_column_id = last + 1;
out:
    return rc;
}

/* ---- SET TBLPROPERTIES ---- */

static frz_code merge_properties(const sql_statement *statement, const frz_commit_attempt *attempt,
                                 frz_metadata *merged, frz_error *err)
{
    size_t count = merged->property_count;
    frz_property_kv *all =
        frz_arena_array(attempt->arena, count + statement->property_count + 1, sizeof *all);
    if (all == NULL) {
        return frz_fail_nomem(err, count * sizeof *all);
    }
    if (count > 0) {
        memcpy(all, merged->properties, count * sizeof *all);
    }
    for (size_t i = 0; i < statement->property_count; i++) {
        size_t at = 0;
        while (at < count && !frz_str_equal(all[at].key, statement->properties[i].key)) {
            at++;
        }
        count += at == count;
        all[at] = statement->properties[i];
    }
    merged->properties = all;
    merged->property_count = count;
    return FRZ_OK;
}

/* New files must go where they can be reached. */
static frz_code check_place(const frz_table *table,
                            frz_code (*place)(const frz_table *, const char *, char **,
                                              frz_error *),
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    uint64_t size;
    FRZ_TRY(place(table, "probe", &location, err));
    rc = frz_file_stat(table->env, location, &size, err);
    if (rc == FRZ_E_NOT_FOUND) {
        frz_error_reset(err);
        rc = FRZ_OK;
    }
out:
    frz_free(table->env, location);
    return rc;
}

/* Without a mapping that can be read the whole table could not be read any more. */
static frz_code check_mapping(const frz_commit_attempt *attempt, const frz_metadata *metadata,
                              frz_error *err)
{
    static const char key[] = "schema.name-mapping.default";
    frz_name_mapping mapping;
    frz_str text = frz_metadata_property(metadata, key, NULL);
    if (text.ptr == NULL) {
        return FRZ_OK;
    }
    frz_code rc = frz_name_mapping_parse(attempt->arena, text, &mapping, err);
    return frz_context(err, rc == FRZ_E_CORRUPT ? FRZ_E_ARGUMENT : rc, "table property %s", key);
}

static frz_code check_merged(const frz_commit_attempt *attempt, const frz_metadata *merged,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metrics_config metrics;
    frz_table changed = *attempt->table; /* as far as its properties go */
    changed.metadata = *merged;
    FRZ_TRY(frz_write_check_properties(merged, err));
    FRZ_TRY(frz_metrics_config_of(merged, attempt->schema, attempt->arena, &metrics, err));
    FRZ_TRY(check_mapping(attempt, merged, err));
    FRZ_TRY(check_place(&changed, frz_table_new_metadata_path, err));
    FRZ_TRY(check_place(&changed, frz_table_new_data_path, err));
out:
    return rc;
}

/* A value that reading or writing would stumble over later is refused now. */
static frz_code plan_set_properties(const sql_statement *statement,
                                    const frz_commit_attempt *attempt, frz_commit_plan *plan,
                                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata merged = attempt->table->metadata;
    for (size_t i = 0; i < statement->property_count; i++) {
        FRZ_TRY(frz_write_check_key(statement->properties[i].key, err));
    }
    FRZ_TRY(merge_properties(statement, attempt, &merged, err));
    FRZ_TRY(check_merged(attempt, &merged, err));
    plan->set_properties = statement->properties;
    plan->set_property_count = statement->property_count;
out:
    return rc;
}

/* ---- commit ---- */

static frz_code build(void *ctx, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                      frz_error *err)
{
    const sql_statement *statement = ctx;
    return statement->verb == SQL_ADD_COLUMN ? plan_add_column(statement, attempt, plan, err)
                                             : plan_set_properties(statement, attempt, plan, err);
}

frz_code sql_alter(frz_catalog *catalog, const sql_statement *statement, frz_commit_report *report,
                   frz_error *err)
{
    return frz_commit_run(catalog, statement->table, build, (void *)(uintptr_t)statement, report,
                          err);
}
