/*
 * The schemas of a metadata document. Version 1 may have a list with the id of the current one, or
 * only the current one, or both. spec: Table Metadata Fields, schemas
 */
#include <stdio.h>

#include "meta/meta_internal.h"

#define PATH_TEXT 32

static frz_code read_schema(frz_table *table, const json_t *json, const char *path,
                            const frz_schema **out, frz_error *err)
{
    frz_code rc = frz_schema_from_json(&table->arena, json, path, out, err);
    if (rc == FRZ_OK) {
        /* some writers do not raise last-column-id: a new column must not get an id in use */
        int32_t max_id = frz_type_max_id((*out)->type);
        table->metadata.last_column_id = FRZ_MAX(table->metadata.last_column_id, max_id);
    }
    return rc;
}

static int64_t schema_id_of(const void *schemas, size_t i)
{
    return ((const frz_schema *const *)schemas)[i]->schema_id;
}

/* The list and, if the current schema stands beside it and is not in it, that one. */
static frz_code read_list(frz_table *table, const json_t *list, const json_t *beside,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    size_t count = json_array_size(list);
    const frz_schema **schemas = frz_arena_array(&table->arena, count + 1, sizeof *schemas);
    if (schemas == NULL) {
        return frz_fail_nomem(err, (count + 1) * sizeof *schemas);
    }
    for (size_t i = 0; i < count; i++) {
        char path[PATH_TEXT];
        snprintf(path, sizeof path, "schemas[%zu]", i);
        FRZ_TRY(read_schema(table, json_array_get(list, i), path, &schemas[i], err));
    }
    m->schemas = schemas;
    m->schema_count = count;
    if (beside != NULL) {
        FRZ_TRY(read_schema(table, beside, "schema", &schemas[count], err));
        m->current_schema_id = schemas[count]->schema_id;
        m->schema_count += frz_metadata_schema(m, m->current_schema_id) == NULL;
    }
    FRZ_TRY(meta_check_unique(table->env, schemas, m->schema_count, schema_id_of, "schemas", err));
out:
    return rc;
}

frz_code meta_read_schemas(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL, *beside = NULL;
    bool by_id = meta_json_member(m->json, "current-schema-id") != NULL;
    if (m->format_version > 1) {
        FRZ_TRY(meta_json_array(m->json, "", "schemas", &list, err));
    } else {
        FRZ_TRY(meta_json_array_or_none(m->json, "", "schemas", &list, err));
        beside = list != NULL && by_id ? NULL : meta_json_member(m->json, "schema");
    }
    if (list == NULL && beside == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "schemas, schema: expected one of them, found neither");
        goto out;
    }
    FRZ_TRY(read_list(table, list, beside, err));
    if (beside == NULL) {
        FRZ_TRY(meta_json_i32(m->json, "", "current-schema-id", &m->current_schema_id, err));
    }
    if (frz_metadata_current_schema(m) == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "current-schema-id: there is no schema %d",
                      (int)m->current_schema_id);
    }
out:
    return rc;
}
