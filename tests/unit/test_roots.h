/*
 * Tables as others leave them: the files of the current version, its root manifest and its
 * metadata, are written again at their places.
 */
#ifndef FRZ_TEST_ROOTS_H
#define FRZ_TEST_ROOTS_H

#include "base/base_json.h"
#include "catalog/catalog_store.h"
#include "frazil/sql.h"
#include "meta/meta_tree.h"

/* The root again with each of its entries as edit leaves it, or without it (false). */
static inline frz_code test_rewrite_root(frz_catalog *catalog, const char *name,
                                         bool (*edit)(frz_entry *entry), frz_error *err)
{
    static const frz_stats_choice all = {.all = true};
    frz_code rc = FRZ_OK;
    const frz_env *env = catalog->env;
    frz_table *table = NULL;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    frz_tree *tree = NULL;
    frz_manifest_rows rows = {.entry_count = 0};
    const frz_entry **kept = NULL;
    int64_t bytes = 0;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_catalog_load_table(catalog, name, &table, err));
    FRZ_TRY(frz_table_snapshot(table, 0, &snapshot, &schema, err));
    FRZ_TRY(frz_tree_open(table, snapshot, schema, &all, &tree, err));
    size_t count = frz_tree_entry_count(tree);
    frz_entry *entries = frz_arena_array(&arena, count, sizeof *entries);
    kept = frz_arena_array(&arena, count, sizeof *kept);
    FRZ_TRY(entries == NULL || kept == NULL ? frz_fail_nomem(err, count) : FRZ_OK);
    for (size_t i = 0; i < count; i++) {
        entries[i] = *frz_tree_entry(tree, i);
        if (edit(&entries[i])) {
            kept[rows.entry_count++] = &entries[i];
        }
    }
    rows.entries = kept;
    FRZ_TRY(frz_file_remove(env, frz_tree_location(tree), err));
    rc = frz_manifest_write(table, frz_tree_location(tree), schema, &rows, false, &bytes, err);
out:
    frz_tree_free(tree);
    frz_table_unref(table);
    frz_arena_reset(&arena);
    return rc;
}

/* The metadata again as edit leaves the document. */
static inline frz_code test_rewrite_metadata(frz_catalog *catalog, const char *name,
                                             void (*edit)(json_t *document), frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = catalog->env;
    frz_table *table = NULL;
    json_t *document = NULL;
    frz_file_writer *writer = NULL, *finished = NULL;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_catalog_load_table(catalog, name, &table, err));
    FRZ_TRY(frz_json_copy(table->metadata.json, &document, err));
    edit(document);
    FRZ_TRY(frz_json_dump(document, &text, err));
    FRZ_TRY(frz_file_remove(env, table->metadata_location, err));
    FRZ_TRY(frz_file_create(env, table->metadata_location, &writer, err));
    FRZ_TRY(frz_file_append(writer, text.data, text.len, err));
    finished = writer;
    writer = NULL;
    rc = frz_file_finish(finished, false, err);
out:
    frz_file_abort(writer);
    frz_buf_reset(&text);
    json_decref(document);
    frz_table_unref(table);
    return rc;
}

/* ---- values that only partition tuples tell ---- */

#define TEST_TUPLE_FIELDS 1000 /* ids of the partition fields: p, then q */

/* A column of the newest schema. */
static inline json_t *test_json_column(const json_t *document, const char *name)
{
    const json_t *schemas = json_object_get(document, "schemas");
    const json_t *schema = json_array_get(schemas, json_array_size(schemas) - 1);
    const json_t *fields = json_object_get(schema, "fields");
    json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        json_t *field = json_array_get(fields, i);
        if (strcmp(json_string_value(json_object_get(field, "name")), name) == 0) {
            found = field;
        }
    }
    return found;
}

static inline void test_add_identity_spec(json_t *document)
{
    json_int_t p = json_integer_value(json_object_get(test_json_column(document, "p"), "id"));
    json_int_t q = json_integer_value(json_object_get(test_json_column(document, "q"), "id"));
    json_t *spec = json_pack("{s:i, s:[{s:I, s:i, s:s, s:s}, {s:I, s:i, s:s, s:s}]}", "spec-id", 1,
                             "fields", "source-id", p, "field-id", TEST_TUPLE_FIELDS, "name", "p",
                             "transform", "identity", "source-id", q, "field-id",
                             TEST_TUPLE_FIELDS + 1, "name", "q", "transform", "identity");
    json_array_append_new(json_object_get(document, "partition-specs"), spec);
    json_object_set_new(document, "last-partition-id", json_integer(TEST_TUPLE_FIELDS + 1));
    json_object_set_new(test_json_column(document, "q"), "required", json_true());
}

static inline bool test_give_tuple(frz_entry *entry)
{
    static frz_partition_value tuple[2];
    static const char *const values[] = {"x", "y"};
    for (int i = 0; i < 2; i++) {
        tuple[i] = (frz_partition_value){
            TEST_TUPLE_FIELDS + i,
            {.type = frz_type_primitive(FRZ_TYPE_STRING), .as.bytes = frz_str_from(values[i])}};
    }
    entry->spec_id = 1;
    entry->partition = tuple;
    entry->partition_count = 2;
    return true;
}

/* Give a table with all entries in its root the columns p and q, which are in no data file, as in
 * tables of Hive: every tuple tells that they are "x" and "y". q is required. */
static inline frz_code test_leave_tuples(frz_catalog *catalog, const char *name, frz_error *err)
{
    static const char *const columns[] = {"p", "q"};
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(columns); i++) {
        char sql[128];
        frz_sql_result result;
        snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN %s string", name, columns[i]);
        FRZ_TRY(frz_sql_run(catalog, NULL, sql, &result, err));
    }
    FRZ_TRY(test_rewrite_metadata(catalog, name, test_add_identity_spec, err));
    FRZ_TRY(test_rewrite_root(catalog, name, test_give_tuple, err));
out:
    return rc;
}

#endif
