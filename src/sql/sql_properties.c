/*
 * Table properties: SET and UNSET TBLPROPERTIES, and what becomes of those that name a column when
 * it is renamed or dropped.
 */
#include "sql/sql_internal.h"

static const char mapping_key[] = "schema.name-mapping.default";

/* ---- SET ---- */

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
    frz_name_mapping mapping;
    frz_str text = frz_metadata_property(metadata, mapping_key, NULL);
    if (text.ptr == NULL) {
        return FRZ_OK;
    }
    frz_code rc = frz_name_mapping_parse(attempt->arena, text, &mapping, err);
    return frz_context(err, rc == FRZ_E_CORRUPT ? FRZ_E_ARGUMENT : rc, "table property %s",
                       mapping_key);
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
frz_code sql_properties_set(const sql_statement *statement, const frz_commit_attempt *attempt,
                            frz_commit_plan *plan, frz_error *err)
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

/* ---- UNSET ---- */

static bool names_key(const sql_statement *statement, frz_str key)
{
    for (size_t i = 0; i < statement->property_count; i++) {
        if (frz_str_equal(statement->properties[i].key, key)) {
            return true;
        }
    }
    return false;
}

static bool has_key(const frz_metadata *metadata, frz_str key)
{
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (frz_str_equal(metadata->properties[i].key, key)) {
            return true;
        }
    }
    return false;
}

static frz_code check_unset(const sql_statement *statement, const frz_commit_attempt *attempt,
                            frz_str key, frz_error *err)
{
    const frz_table *table = attempt->table;
    frz_code rc = frz_write_check_key(key, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (!statement->if_exists && !has_key(&table->metadata, key)) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "the table has no property %.*s", FRZ_STR_ARG(key));
    }
    if (table->has_mapping && frz_str_equal(key, frz_str_from(mapping_key))) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "table property %s must stay", mapping_key);
        frz_hint(err, "data files without field ids would lose their columns");
    }
    return rc;
}

/* The properties that are left, for checks; and those that go, into the plan. */
static frz_code split_properties(const sql_statement *statement, const frz_commit_attempt *attempt,
                                 frz_metadata *left, frz_commit_plan *plan, frz_error *err)
{
    const frz_metadata *metadata = &attempt->table->metadata;
    frz_property_kv *kept = frz_arena_array(attempt->arena, metadata->property_count, sizeof *kept);
    frz_str *gone = frz_arena_array(attempt->arena, metadata->property_count, sizeof *gone);
    size_t count = 0;
    if (kept == NULL || gone == NULL) {
        return frz_fail_nomem(err, metadata->property_count * sizeof *kept);
    }
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (names_key(statement, metadata->properties[i].key)) {
            gone[plan->unset_key_count++] = metadata->properties[i].key;
        } else {
            kept[count++] = metadata->properties[i];
        }
    }
    left->properties = kept;
    left->property_count = count;
    plan->unset_keys = gone;
    plan->nothing = plan->unset_key_count == 0;
    return FRZ_OK;
}

frz_code sql_properties_unset(const sql_statement *statement, const frz_commit_attempt *attempt,
                              frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata left = attempt->table->metadata;
    for (size_t i = 0; i < statement->property_count; i++) {
        FRZ_TRY(check_unset(statement, attempt, statement->properties[i].key, err));
    }
    FRZ_TRY(split_properties(statement, attempt, &left, plan, err));
    FRZ_TRY(check_merged(attempt, &left, err));
out:
    return rc;
}

/* ---- properties that name a column ---- */

static const char *const column_prefixes[] = {
    "write.metadata.metrics.column.", "write.parquet.bloom-filter-enabled.column.",
    "write.parquet.bloom-filter-fpp.column.", "write.parquet.stats-enabled.column."};

/* The place in a key where a column's own name ends; 0: the key is not about it, nor about a field
 * inside it. */
static size_t column_in_key(frz_str key, frz_str name)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(column_prefixes); i++) {
        frz_str prefix = frz_str_from(column_prefixes[i]);
        size_t end = prefix.len + name.len;
        if (key.len >= end && frz_str_starts_with(key, prefix) &&
            frz_str_equal((frz_str){key.ptr + prefix.len, name.len}, name) &&
            (key.len == end || key.ptr[end] == '.')) {
            return end;
        }
    }
    return 0;
}

/* The key with another last part of the column's name. */
static frz_code follow_key(const frz_commit_attempt *attempt, const sql_column *column, frz_str key,
                           size_t end, frz_str new_name, frz_str *out, frz_error *err)
{
    size_t start = end - column->field->name.len;
    char *text = frz_arena_printf(attempt->arena, "%.*s%.*s%.*s", (int)start, key.ptr,
                                  FRZ_STR_ARG(new_name), (int)(key.len - end), key.ptr + end);
    *out = frz_str_from(text == NULL ? "" : text);
    return text == NULL ? frz_fail_nomem(err, key.len + new_name.len) : FRZ_OK;
}

frz_code sql_properties_follow(const frz_commit_attempt *attempt, const sql_column *column,
                               const frz_str *new_name, frz_commit_plan *plan, frz_error *err)
{
    const frz_metadata *metadata = &attempt->table->metadata;
    frz_property_kv *set = frz_arena_array(attempt->arena, metadata->property_count, sizeof *set);
    frz_str *unset = frz_arena_array(attempt->arena, metadata->property_count, sizeof *unset);
    if (set == NULL || unset == NULL) {
        return frz_fail_nomem(err, metadata->property_count * sizeof *set);
    }
    for (size_t i = 0; i < metadata->property_count; i++) {
        const frz_property_kv *property = &metadata->properties[i];
        size_t end = column_in_key(property->key, column->name);
        if (end == 0) {
            continue;
        }
        unset[plan->unset_key_count++] = property->key;
        if (new_name != NULL) {
            frz_property_kv *moved = &set[plan->set_property_count++];
            moved->value = property->value;
            frz_code rc =
                follow_key(attempt, column, property->key, end, *new_name, &moved->key, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
    }
    plan->set_properties = set;
    plan->unset_keys = unset;
    return FRZ_OK;
}
