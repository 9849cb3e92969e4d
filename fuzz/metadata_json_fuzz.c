/*
 * fuzz: a metadata JSON file. What parses is listed, chosen from, changed or upgraded, written and
 * parsed again.
 */
#include "base/base_json.h"
#include "fuzz_storage.h"
#include "meta/meta_table.h"

#define LOCATION "file:///t/metadata/00001-x.metadata.json"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_view(const frz_table *table, frz_table_view view)
{
    struct ArrowArrayStream stream = {0};
    if (frz_table_list(table, view, 0, &stream, NULL) == FRZ_OK) {
        stream.release(&stream);
    }
}

/* A commit on the table: the new document must parse. */
static void change(const frz_env *env, const frz_table *table)
{
    const frz_metadata *m = &table->metadata;
    const frz_property_kv summary = {FRZ_STR("operation"), FRZ_STR("overwrite")};
    json_t *json = NULL;
    frz_table *again = NULL;
    frz_error err = {0};
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_snapshot snapshot = {.parent_id = m->current_snapshot_id,
                             .root_manifest = FRZ_STR("metadata/root.parquet"),
                             .summary = &summary,
                             .summary_count = 1};
    frz_metadata_change what = {
        .snapshot = &snapshot, .next_row_id = m->next_row_id, .schema = m->schemas[0]};
    do {
        if (frz_random_id(env, &snapshot.snapshot_id, NULL) != FRZ_OK) {
            abort();
        }
    } while (frz_metadata_snapshot(m, snapshot.snapshot_id) != NULL);
    if (!frz_add_i64(m->last_sequence_number, 1, &snapshot.sequence_number)) {
        return;
    }
    if (frz_metadata_json_change(env, m->json, LOCATION, &what, &json, &err) == FRZ_OK) {
        if (frz_json_dump(json, &text, &err) != FRZ_OK ||
            frz_table_parse(env, LOCATION, frz_buf_view(&text), NULL, &again, &err) != FRZ_OK) {
            abort();
        }
    }
    frz_table_unref(again);
    frz_buf_reset(&text);
    json_decref(json);
}

/* Every way to choose a snapshot. */
static void choose(const frz_table *table)
{
    const frz_metadata *m = &table->metadata;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    frz_snapshot_choice choice = {.as_of = "2026-11-01"};
    (void)frz_table_choose(table, &choice, &snapshot, &schema, NULL);
    choice = (frz_snapshot_choice){.ref = m->ref_count == 0 ? "main" : m->refs[0].name.ptr};
    (void)frz_table_choose(table, &choice, &snapshot, &schema, NULL);
    for (size_t i = 0; i < m->snapshot_count; i++) {
        choice = (frz_snapshot_choice){.snapshot_id = m->snapshots[i].snapshot_id};
        if (frz_table_choose(table, &choice, &snapshot, &schema, NULL) == FRZ_OK &&
            snapshot != &m->snapshots[i]) {
            abort();
        }
    }
}

/* An older table as one of a newer version: what others recorded is not lost. */
static void upgrade(const frz_env *env, const frz_table *table, int32_t to)
{
    json_t *json = NULL;
    frz_table *again = NULL;
    frz_error err = {0};
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    if (frz_metadata_json_upgrade(table, to, LOCATION, &json, &err) == FRZ_OK) {
        if (frz_json_dump(json, &text, &err) != FRZ_OK ||
            frz_table_parse(env, LOCATION, frz_buf_view(&text), NULL, &again, &err) != FRZ_OK ||
            again->metadata.format_version != to ||
            again->metadata.snapshot_count != table->metadata.snapshot_count ||
            again->metadata.spec_count != table->metadata.spec_count ||
            again->metadata.schema_count != table->metadata.schema_count) {
            abort();
        }
    }
    frz_table_unref(again);
    frz_buf_reset(&text);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = LOCATION, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = NULL;
    frz_error err = {0};
    if (frz_table_open(env, LOCATION, NULL, &table, &err) == FRZ_OK) {
        list_view(table, FRZ_TABLE_VIEW_DESCRIBE);
        list_view(table, FRZ_TABLE_VIEW_SCHEMA);
        list_view(table, FRZ_TABLE_VIEW_SNAPSHOTS);
        list_view(table, FRZ_TABLE_VIEW_FILES);
        choose(table);
        change(env, table);
        for (int32_t to = table->metadata.format_version + 1; to <= FRZ_FORMAT_VERSION; to++) {
            upgrade(env, table, to);
        }
    }
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
