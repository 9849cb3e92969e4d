/*
 * Rules that entries of a manifest must keep, apart from the ones that reading them checks on the
 * way. spec: column files, field_ids; partition tuple
 */
#include <stdlib.h>

#include "meta/meta_ids.h"
#include "meta/meta_internal.h"

static int compare_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* ---- rules of one schema ---- */

typedef struct repeated_collector {
    int32_t *ids; /* NULL: only count */
    size_t count;
} repeated_collector;

static frz_code collect_repeated(void *ctx, const frz_field *field, bool in_repeated,
                                 frz_error *err)
{
    repeated_collector *c = ctx;
    (void)err;
    if (in_repeated) {
        if (c->ids != NULL) {
            c->ids[c->count] = field->id;
        }
        c->count++;
    }
    return FRZ_OK;
}

frz_code meta_entry_rules_of(const frz_metadata *metadata, const frz_schema *schema,
                             frz_arena *arena, meta_entry_rules *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    repeated_collector c = {NULL, 0};
    FRZ_TRY(frz_type_visit(schema->type, collect_repeated, &c, err));
    c.ids = frz_arena_array(arena, c.count, sizeof *c.ids);
    if (c.ids == NULL) {
        return frz_fail_nomem(err, c.count * sizeof *c.ids);
    }
    c.count = 0;
    FRZ_TRY(frz_type_visit(schema->type, collect_repeated, &c, err));
    qsort(c.ids, c.count, sizeof *c.ids, compare_i32);
    *out =
        (meta_entry_rules){.metadata = metadata, .repeated_ids = c.ids, .repeated_count = c.count};
out:
    return rc;
}

/* ---- column files ---- */

frz_code meta_check_format(frz_str format, frz_error *err)
{
    if (frz_str_equal_nocase(format, FRZ_STR("parquet")) ||
        frz_str_equal_nocase(format, FRZ_STR("avro")) ||
        frz_str_equal_nocase(format, FRZ_STR("orc"))) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT,
                    "file_format: expected parquet, avro or orc, found \"%.*s\"",
                    FRZ_STR_ARG(format));
}

static frz_code check_field_id(const meta_entry_rules *rules, int32_t id, frz_error *err)
{
    if (id == FRZ_ID_ROW_ID) {
        return frz_fail(err, FRZ_E_CORRUPT, "field_ids: _row_id is never stored in a column file");
    }
    if (id != FRZ_ID_LAST_UPDATED && (id < 0 || id > rules->metadata->last_column_id)) {
        return frz_fail(err, FRZ_E_CORRUPT, "field_ids: expected 0 to last-column-id %d, found %d",
                        (int)rules->metadata->last_column_id, (int)id);
    }
    if (bsearch(&id, rules->repeated_ids, rules->repeated_count, sizeof id, compare_i32) != NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "field_ids: field %d is inside a list or map, which is stored as a whole",
                        (int)id);
    }
    return FRZ_OK;
}

static frz_code check_column_file(const meta_entry_rules *rules, const frz_column_file *file,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (file->location.len == 0 || !frz_str_is_clean(file->location)) {
        return frz_fail(err, FRZ_E_CORRUPT, "location: expected a location, found nothing");
    }
    if (file->field_id_count == 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "field_ids: expected at least one, found none");
    }
    if (file->file_size < 0) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "file_size_in_bytes: expected no negative number, found %lld",
                        (long long)file->file_size);
    }
    FRZ_TRY(meta_check_format(file->file_format, err));
    for (size_t i = 0; i < file->field_id_count; i++) {
        FRZ_TRY(check_field_id(rules, file->field_ids[i], err));
        if (i > 0 && file->field_ids[i] == file->field_ids[i - 1]) {
            return frz_fail(err, FRZ_E_CORRUPT, "field_ids: field %d is listed twice",
                            (int)file->field_ids[i]);
        }
    }
out:
    return rc;
}

/* Each field has one provider: the ids of all files together are different. */
static frz_code check_providers(const frz_entry *entry, const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t total = 0, n = 0;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        total += entry->column_files[i].field_id_count;
    }
    int32_t *ids = frz_alloc_zero(env, total, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, total * sizeof *ids);
    }
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        memcpy(ids + n, file->field_ids, file->field_id_count * sizeof *ids);
        n += file->field_id_count;
    }
    qsort(ids, n, sizeof *ids, compare_i32);
    for (size_t i = 1; i < n && rc == FRZ_OK; i++) {
        if (ids[i] == ids[i - 1]) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "column_files: field %d is in two column files",
                          (int)ids[i]);
        }
    }
    frz_free(env, ids);
    return rc;
}

frz_code meta_check_column_files(const meta_entry_rules *rules, const frz_entry *entry,
                                 const frz_env *env, frz_error *err)
{
    for (size_t i = 0; i < entry->column_file_count; i++) {
        frz_code rc = check_column_file(rules, &entry->column_files[i], err);
        if (rc != FRZ_OK) {
            return frz_context(err, rc, "column_files[%zu]", i);
        }
    }
    return entry->column_file_count > 1 ? check_providers(entry, env, err) : FRZ_OK;
}

frz_code frz_entry_check_column_files(const frz_table *table, const frz_schema *schema,
                                      const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_entry_rules rules;
    frz_arena arena;
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (entry->column_file_count > 0) {
        FRZ_TRY(meta_entry_rules_of(&table->metadata, schema, &arena, &rules, err));
        FRZ_TRY(meta_check_column_files(&rules, entry, table->env, err));
    }
out:
    frz_arena_reset(&arena);
    return rc;
}

/* ---- partitions ---- */

bool meta_spec_is_partitioned(const frz_metadata *metadata, int32_t spec_id)
{
    const json_t *specs = json_object_get(metadata->json, "partition-specs");
    size_t i;
    const json_t *spec;
    json_array_foreach(specs, i, spec)
    {
        const json_t *id = json_object_get(spec, "spec-id");
        if (json_is_integer(id) && json_integer_value(id) == spec_id) {
            return json_array_size(json_object_get(spec, "fields")) > 0;
        }
    }
    return true; /* a spec that is not there may have had fields */
}
