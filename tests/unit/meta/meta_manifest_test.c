/*
 * Root manifests: written and read back, tables of another writer, and broken ones.
 */
#include "unit/meta/meta_fixture.h"

#include "meta/meta_ids.h"
#include "scan/scan_live.h"

/* A table in a folder of its own. */
typedef struct manifest_fixture {
    const frz_env *env;
    char folder[64];
    frz_table *table;
    frz_arena arena;
} manifest_fixture;

static manifest_fixture fixture_make(const frz_env *env, const char *path, const char *value)
{
    manifest_fixture f = {.env = env, .folder = "/tmp/frazil-manifest-XXXXXX"};
    frz_error err = {0};
    char location[96];
    assert_non_null(mkdtemp(f.folder));
    snprintf(location, sizeof location, "'file://%s'", f.folder);
    json_t *document = fixture_json(fixture_document);
    fixture_set(document, "location", location);
    if (path != NULL) {
        fixture_set(document, path, value);
    }
    assert_ok(fixture_parse(env, document, NULL, &f.table, &err), &err);
    json_decref(document);
    frz_arena_init(&f.arena, env, FRZ_ARENA_NO_LIMIT);
    return f;
}

static void fixture_remove(manifest_fixture *f)
{
    char command[128];
    frz_arena_reset(&f->arena);
    frz_table_unref(f->table);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    assert_int_equal(system(command), 0);
}

static frz_field_stats long_stats(int32_t id, int64_t lower, int64_t upper)
{
    const frz_type *type = frz_type_primitive(FRZ_TYPE_LONG);
    frz_field_stats s = FRZ_FIELD_STATS_UNKNOWN(id, type);
    s.has_lower = s.has_upper = true;
    s.lower = (frz_value){.type = type, .as.i64 = lower};
    s.upper = (frz_value){.type = type, .as.i64 = upper};
    s.tight_bounds = 1;
    s.value_count = 9;
    return s;
}

static frz_field_stats double_stats(int32_t id, double lower, double upper)
{
    const frz_type *type = frz_type_primitive(FRZ_TYPE_DOUBLE);
    frz_field_stats s = FRZ_FIELD_STATS_UNKNOWN(id, type);
    s.has_lower = s.has_upper = true;
    s.lower = (frz_value){.type = type, .as.f64 = lower};
    s.upper = (frz_value){.type = type, .as.f64 = upper};
    s.tight_bounds = 1;
    s.value_count = 9;
    s.null_value_count = 0;
    return s;
}

static frz_field_stats text_stats(int32_t id, const char *lower, const char *upper)
{
    const frz_type *type = frz_type_primitive(FRZ_TYPE_STRING);
    frz_field_stats s = FRZ_FIELD_STATS_UNKNOWN(id, type);
    s.has_lower = s.has_upper = true;
    s.lower = (frz_value){.type = type, .as.bytes = frz_str_from(lower)};
    s.upper = (frz_value){.type = type, .as.bytes = frz_str_from(upper)};
    s.tight_bounds = 0;
    s.value_count = 9;
    s.null_value_count = 2;
    s.total_bytes = 40;
    return s;
}

static frz_entry entry_of(const char *location, frz_status status)
{
    return (frz_entry){.status = status,
                       .snapshot_id = 11,
                       .modified_snapshot_id = FRZ_NO_VALUE,
                       .sequence_number = 1,
                       .file_sequence_number = 1,
                       .first_row_id = 0,
                       .content = FRZ_CONTENT_DATA,
                       .location = frz_str_from(location),
                       .file_format = FRZ_STR("parquet"),
                       .record_count = 9,
                       .file_size = 1234,
                       .spec_id = -1,
                       .sort_order_id = -1};
}

/* Write entries as the root of the fixture's current snapshot. */
static frz_code write_root(manifest_fixture *f, const frz_entry *entries, size_t count,
                           int64_t *bytes, frz_error *err)
{
    char *location = NULL;
    const frz_entry **list = frz_arena_array(&f->arena, count, sizeof(frz_entry *));
    assert_non_null(list);
    for (size_t i = 0; i < count; i++) {
        list[i] = &entries[i];
    }
    assert_ok(frz_table_resolve(f->table, FRZ_STR("metadata/root-2.parquet"), &location, err), err);
    (void)frz_file_remove(f->env, location, NULL);
    const frz_manifest_rows rows = {.entries = list, .entry_count = count};
    frz_code rc =
        frz_manifest_write(f->table, location, frz_metadata_current_schema(&f->table->metadata),
                           &rows, false, bytes, err);
    frz_free(f->env, location);
    return rc;
}

static const frz_stats_choice all_stats = {.all = true};

static frz_code open_root(manifest_fixture *f, frz_tree **out, frz_error *err)
{
    const frz_metadata *m = &f->table->metadata;
    return frz_tree_open(f->table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                         &all_stats, out, err);
}

/* Its live files, as statements find them. */
static frz_code list_live(manifest_fixture *f, frz_tree *root, frz_live_files *out, frz_error *err)
{
    const frz_metadata *m = &f->table->metadata;
    return frz_live_files_list(f->table, frz_metadata_current_snapshot(m),
                               frz_metadata_current_schema(m), root, NULL, &f->arena, out, err);
}

/* ---- written and read back ---- */

static void assert_str(frz_str actual, const char *expected)
{
    assert_int_equal(actual.len, strlen(expected));
    assert_memory_equal(actual.ptr, expected, actual.len);
}

static void assert_same_tracking(const frz_entry *a, const frz_entry *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->snapshot_id, b->snapshot_id);
    assert_int_equal(a->modified_snapshot_id, b->modified_snapshot_id);
    assert_int_equal(a->sequence_number, b->sequence_number);
    assert_int_equal(a->file_sequence_number, b->file_sequence_number);
    assert_int_equal(a->first_row_id, b->first_row_id);
    assert_int_equal(a->record_count, b->record_count);
    assert_int_equal(a->file_size, b->file_size);
    assert_int_equal(a->spec_id, b->spec_id);
    assert_int_equal(a->sort_order_id, b->sort_order_id);
}

static void manifest__entries_read_back_as_written(void **state)
{
    frz_error err = {0};
    manifest_fixture f = fixture_make(*state, NULL, NULL);
    const int64_t splits[] = {4, 400};
    const int32_t ids[] = {3, FRZ_ID_LAST_UPDATED};
    const frz_column_file column_file = {.location = FRZ_STR("data/cf.parquet"),
                                         .field_ids = ids,
                                         .field_id_count = 2,
                                         .file_format = FRZ_STR("parquet"),
                                         .file_size = 77};
    const frz_field_stats stats[] = {long_stats(1, -5, INT64_MAX), text_stats(2, "a", "zz")};
    const frz_field_stats new_stats[] = {double_stats(3, -0.5, 1e300), long_stats(1, 0, 1)};
    frz_entry entries[] = {entry_of("data/a.parquet", FRZ_STATUS_REPLACED),
                           entry_of("data/a.parquet", FRZ_STATUS_MODIFIED),
                           entry_of("s3://other/b.parquet", FRZ_STATUS_EXISTING)};
    entries[0].split_offsets = splits;
    entries[0].split_count = 2;
    entries[0].stats = stats;
    entries[0].stats_count = 2;
    entries[1].modified_snapshot_id = INT64_MAX;
    entries[1].sequence_number = 2;
    entries[1].column_files = &column_file;
    entries[1].column_file_count = 1;
    entries[1].stats = new_stats;
    entries[1].stats_count = 2;
    entries[2].first_row_id = 9007199254740993;
    entries[2].spec_id = 0;
    entries[2].sort_order_id = 3;
    int64_t bytes = 0;
    frz_tree *m = NULL;
    assert_ok(write_root(&f, entries, 3, &bytes, &err), &err);
    assert_ok(open_root(&f, &m, &err), &err);
    assert_int_equal(frz_tree_entry_count(m), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_same_tracking(frz_tree_entry(m, i), &entries[i]);
        assert_true(frz_str_equal(frz_tree_entry(m, i)->location, entries[i].location));
    }
    const frz_entry *replaced = frz_tree_entry(m, 0);
    assert_int_equal(replaced->split_count, 2);
    assert_int_equal(replaced->split_offsets[1], 400);
    assert_int_equal(replaced->column_file_count, 0);
    const frz_field_stats *name = frz_entry_stats(replaced, 2);
    assert_str(name->upper.as.bytes, "zz");
    assert_int_equal(name->tight_bounds, 0);
    assert_int_equal(name->null_value_count, 2);
    assert_int_equal(name->nan_value_count, -1);
    assert_int_equal(name->total_bytes, 40);
    assert_null(frz_entry_stats(replaced, 3));
    const frz_entry *modified = frz_tree_entry(m, 1);
    assert_int_equal(frz_entry_stats(modified, 1)->upper.as.i64, 1);
    assert_true(frz_entry_stats(modified, 3)->lower.as.f64 == -0.5);
    assert_null(frz_entry_stats(modified, 2));
    assert_int_equal(frz_entry_provider(modified, 3)->file_size, 77);
    assert_ptr_equal(frz_entry_provider(modified, FRZ_ID_LAST_UPDATED),
                     frz_entry_provider(modified, 3));
    assert_null(frz_entry_provider(modified, 1));
    frz_live_files live = {0};
    assert_ok(list_live(&f, m, &live, &err), &err);
    assert_int_equal(live.count, 2);
    assert_ptr_equal(live.entries[0], modified);
    frz_live_files_reset(&live);
    frz_tree_free(m);
    fixture_remove(&f);
}

static void manifest__without_entries_is_a_file_with_all_columns(void **state)
{
    frz_error err = {0};
    int64_t bytes = 0;
    frz_tree *m = NULL;
    manifest_fixture f = fixture_make(*state, NULL, NULL);
    assert_ok(write_root(&f, NULL, 0, &bytes, &err), &err);
    assert_ok(open_root(&f, &m, &err), &err);
    assert_int_equal(frz_tree_entry_count(m), 0);
    frz_tree_free(m);
    fixture_remove(&f);
}

static void manifest__statistics_follow_the_configuration(void **state)
{
    frz_error err = {0};
    int64_t bytes = 0;
    frz_tree *m = NULL;
    manifest_fixture f =
        fixture_make(*state, "properties/write.metadata.metrics.column.id", "'none'");
    const frz_field_stats stats[] = {long_stats(1, 0, 5), double_stats(3, 0, 1)};
    frz_entry e = entry_of("data/a", FRZ_STATUS_ADDED);
    e.stats = stats;
    e.stats_count = 2;
    assert_ok(write_root(&f, &e, 1, &bytes, &err), &err);
    assert_ok(open_root(&f, &m, &err), &err);
    assert_null(frz_entry_stats(frz_tree_entry(m, 0), 1));
    assert_non_null(frz_entry_stats(frz_tree_entry(m, 0), 3));
    frz_tree_free(m);
    fixture_remove(&f);
}

static void manifest__of_many_entries_keeps_their_order(void **state)
{
    frz_error err = {0};
    int64_t bytes = 0;
    enum { COUNT = 10000 };
    frz_tree *m = NULL;
    manifest_fixture f = fixture_make(*state, NULL, NULL);
    frz_entry *entries = frz_arena_array(&f.arena, COUNT, sizeof *entries);
    assert_non_null(entries);
    for (int i = 0; i < COUNT; i++) {
        char *name = frz_arena_printf(&f.arena, "data/%d.parquet", i);
        frz_field_stats *stats = frz_arena_alloc(&f.arena, sizeof *stats);
        assert_true(name != NULL && stats != NULL);
        *stats = long_stats(1, i, i + 1);
        entries[i] = entry_of(name, FRZ_STATUS_ADDED);
        entries[i].first_row_id = 9 * i;
        entries[i].stats = stats;
        entries[i].stats_count = 1;
    }
    assert_ok(write_root(&f, entries, COUNT, &bytes, &err), &err);
    assert_ok(open_root(&f, &m, &err), &err);
    assert_int_equal(frz_tree_entry_count(m), COUNT);
    for (int i = 0; i < COUNT; i++) {
        const frz_entry *e = frz_tree_entry(m, (size_t)i);
        assert_int_equal(e->first_row_id, 9 * i);
        assert_int_equal(frz_entry_stats(e, 1)->lower.as.i64, i);
    }
    frz_tree_free(m);
    fixture_remove(&f);
}

/* A column update of a wide table writes one such root: two entries with statistics of a hundred
 * columns. */
static void manifest__of_a_wide_table_is_small(void **state)
{
    frz_error err = {0};
    int64_t bytes = 0;
    enum { COLUMNS = 100 };
    frz_tree *m = NULL;
    char *fields = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&fields, &size);
    fputs("[{'type':'struct','schema-id':1,'fields':[", text);
    for (int i = 0; i < COLUMNS; i++) {
        fprintf(text, "%s{'id':%d,'name':'c_%d','required':false,'type':'double'}",
                i == 0 ? "" : ",", i + 1, i + 1);
    }
    fputs("]}]", text);
    fclose(text);
    json_t *document = fixture_json(fixture_document);
    fixture_set(document, "last-column-id", "100");
    fixture_set(document, "schemas", fields);
    manifest_fixture f = {.env = *state, .folder = "/tmp/frazil-manifest-XXXXXX"};
    char location[96];
    assert_non_null(mkdtemp(f.folder));
    snprintf(location, sizeof location, "'file://%s'", f.folder);
    fixture_set(document, "location", location);
    assert_ok(fixture_parse(f.env, document, NULL, &f.table, &err), &err);
    frz_arena_init(&f.arena, f.env, FRZ_ARENA_NO_LIMIT);
    free(fields);
    json_decref(document);

    frz_field_stats stats[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        stats[i] = double_stats(i + 1, 0.001 * i, 1 - 0.001 * i);
        stats[i].nan_value_count = i == 0 ? 0 : -1; /* known of the updated column only */
    }
    frz_entry entries[] = {entry_of("data/a.parquet", FRZ_STATUS_REPLACED),
                           entry_of("data/a.parquet", FRZ_STATUS_MODIFIED)};
    entries[0].stats = entries[1].stats = stats;
    entries[0].stats_count = entries[1].stats_count = COLUMNS;
    assert_ok(write_root(&f, entries, 2, &bytes, &err), &err);
    print_message("two entries, statistics of %d columns: %lld bytes\n", COLUMNS, (long long)bytes);
    assert_true(bytes < 110000);
    assert_ok(open_root(&f, &m, &err), &err);
    assert_int_equal(frz_tree_entry(m, 1)->stats_count, COLUMNS);
    frz_tree_free(m);
    fixture_remove(&f);
}

/* ---- refused ---- */

static void manifest__rules_of_column_files(void **state)
{
    static const int32_t twice[] = {3, 3}, row_id[] = {FRZ_ID_ROW_ID}, inside[] = {5},
                         above[] = {7}, fine[] = {3}, below[] = {-1};
    static const frz_column_file files[] = {
        {FRZ_STR("f"), twice, 2, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), row_id, 1, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), inside, 1, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), above, 1, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), below, 1, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), fine, 0, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), fine, 1, FRZ_STR("csv"), 1, {NULL, 0}},
        {FRZ_STR(""), fine, 1, FRZ_STR("parquet"), 1, {NULL, 0}},
        {FRZ_STR("f"), fine, 1, FRZ_STR("parquet"), -1, {NULL, 0}},
    };
    static const char *const phrases[] = {
        "entry 0 (data/a): column_files[0]: field_ids: field 3 is listed twice",
        "_row_id is never stored",
        "field 5 is inside a list or map",
        "expected 0 to last-column-id 6, found 7",
        "expected 0 to last-column-id 6, found -1",
        "expected at least one, found none",
        "expected parquet, avro or orc, found \"csv\"",
        "location: expected a location",
        "expected no negative number, found -1",
    };
    manifest_fixture f = fixture_make(*state, NULL, NULL);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(files); i++) {
        frz_error err = {0};
        int64_t bytes = 0;
        frz_tree *m = NULL;
        frz_entry e = entry_of("data/a", FRZ_STATUS_MODIFIED);
        e.column_files = &files[i];
        e.column_file_count = 1;
        assert_ok(write_root(&f, &e, 1, &bytes, &err), &err);
        assert_fails(open_root(&f, &m, &err), &err, FRZ_E_CORRUPT, phrases[i]);
        assert_null(m);
    }
    fixture_remove(&f);
}

static void manifest__one_provider_per_field(void **state)
{
    static const int32_t a[] = {2, 3}, b[] = {3};
    const frz_column_file files[] = {{FRZ_STR("f"), a, 2, FRZ_STR("parquet"), 1, {NULL, 0}},
                                     {FRZ_STR("g"), b, 1, FRZ_STR("ORC"), 1, {NULL, 0}}};
    frz_error err = {0};
    int64_t bytes = 0;
    frz_tree *m = NULL;
    manifest_fixture f = fixture_make(*state, NULL, NULL);
    frz_entry e = entry_of("data/a", FRZ_STATUS_MODIFIED);
    e.column_files = files;
    e.column_file_count = 2;
    assert_ok(write_root(&f, &e, 1, &bytes, &err), &err);
    assert_fails(open_root(&f, &m, &err), &err, FRZ_E_CORRUPT, "field 3 is in two column files");
    fixture_remove(&f);
}

static void manifest__one_live_entry_per_location(void **state)
{
    frz_error err = {0};
    int64_t bytes = 0;
    char absolute[128];
    frz_tree *m = NULL;
    manifest_fixture f = fixture_make(*state, NULL, NULL);
    snprintf(absolute, sizeof absolute, "file://%s/data/a", f.folder);
    const frz_entry entries[] = {entry_of("data/a", FRZ_STATUS_EXISTING),
                                 entry_of(absolute, FRZ_STATUS_EXISTING)};
    assert_ok(write_root(&f, entries, 2, &bytes, &err), &err);
    assert_ok(open_root(&f, &m, &err), &err);
    frz_live_files live = {0};
    assert_fails(list_live(&f, m, &live, &err), &err, FRZ_E_CORRUPT,
                 "/data/a has two live entries");
    frz_live_files_reset(&live);
    frz_tree_free(m);
    fixture_remove(&f);
}

static void manifest__what_would_be_lost_is_refused(void **state)
{
    frz_error err = {0};
    int64_t bytes = 0;
    manifest_fixture f =
        fixture_make(*state, "partition-specs",
                     "[{'spec-id':0,'fields':[{'source-id':1,'field-id':1000,'name':'p',"
                     "'transform':'sorted[3]'}]}]");
    const frz_partition_value value = {1000,
                                       {.type = frz_type_primitive(FRZ_TYPE_LONG), .as.i64 = 7}};
    frz_entry e = entry_of("data/a", FRZ_STATUS_ADDED);
    e.spec_id = 0;
    e.partition = &value;
    e.partition_count = 1;
    assert_fails(write_root(&f, &e, 1, &bytes, &err), &err, FRZ_E_UNSUPPORTED,
                 "unsupported: writing partition field 1000 of data/a, whose type is not known");
    e.partition_count = 0;
    e.first_row_id = FRZ_NO_VALUE;
    assert_fails(write_root(&f, &e, 1, &bytes, &err), &err, FRZ_E_INTERNAL, "lacks a number");
    fixture_remove(&f);
}

/* ---- tables of others ---- */

static bool has_feature(const fixture_corpus_table *entry, const char *feature)
{
    char features[130];
    char wanted[64];
    snprintf(features, sizeof features, ",%s,", entry->features);
    snprintf(wanted, sizeof wanted, ",%s,", feature);
    return strstr(features, wanted) != NULL;
}

/* What the message about a broken root must say; other broken tables fail elsewhere. */
static const struct {
    const char *dir;
    frz_code code;
    const char *phrase;
} root_faults[] = {
    {"invalid/cf_field_in_two_files", FRZ_E_CORRUPT, "is in two column files"},
    {"invalid/cf_duplicate_field_id", FRZ_E_CORRUPT, "is listed twice"},
    {"invalid/cf_empty_field_ids", FRZ_E_CORRUPT, "expected at least one, found none"},
    {"invalid/cf_row_id_listed", FRZ_E_CORRUPT, "_row_id is never stored"},
    {"invalid/cf_element_listed", FRZ_E_CORRUPT, "is inside a list or map"},
    {"invalid/cf_unknown_format", FRZ_E_CORRUPT, "expected parquet, avro or orc"},
    {"invalid/cf_on_manifest", FRZ_E_UNSUPPORTED, "unsupported: column files of manifests"},
    {"invalid/root_unknown_content_type", FRZ_E_CORRUPT, "content_type: expected 0, 3 or 4"},
    {"invalid/root_equality_deletes", FRZ_E_CORRUPT, "found 2 (equality deletes)"},
    {"invalid/v4_delete_manifest", FRZ_E_CORRUPT, "has no delete manifests"},
    {"invalid/manifest_sequence_numbers_differ", FRZ_E_CORRUPT, "of a manifest differ"},
    {"invalid/manifest_info_missing", FRZ_E_CORRUPT, "manifest_info: a manifest has one"},
    {"invalid/status_unknown", FRZ_E_CORRUPT, "status: expected 0 to 4"},
    {"invalid/location_missing", FRZ_E_CORRUPT, "field 100 (location) is missing"},
    {"invalid/root_without_field_ids", FRZ_E_CORRUPT, "no field ids"},
    {"invalid/root_truncated", FRZ_E_CORRUPT, "root"},
    {"invalid/mdv_version_2", FRZ_E_CORRUPT, "version 2, expected 1"},
    {"invalid/mdv_cardinality_wrong", FRZ_E_CORRUPT, "cardinality 2, but 1 positions"},
    {"invalid/mdv_container_count", FRZ_E_CORRUPT, "more than 8192 containers"},
    {"invalid/mdv_bit_widths", FRZ_E_CORRUPT, "descriptors of more than 8 bits"},
    {"invalid/mdv_not_ascending", FRZ_E_CORRUPT, "dv: broken bitmap of positions"},
    {"invalid/mdv_reserved_container", FRZ_E_CORRUPT, "a container of a reserved kind"},
    {"invalid/mdv_truncated", FRZ_E_CORRUPT, "containers of 32 bytes, but 31 are left"},
    {"invalid/encrypted_root", FRZ_E_UNSUPPORTED, "has a key-id, its manifests are encrypted"},
};

static size_t find_fault(const char *dir)
{
    size_t i = 0;
    while (i < FRZ_ARRAY_COUNT(root_faults) && strcmp(root_faults[i].dir, dir) != 0) {
        i++;
    }
    return i;
}

/* Every snapshot with a root manifest. */
static frz_code open_all_roots(const frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &table->metadata;
    for (size_t i = 0; i < m->snapshot_count && rc == FRZ_OK; i++) {
        const frz_snapshot *snapshot = NULL;
        const frz_schema *schema = NULL;
        frz_tree *tree = NULL;
        if (m->snapshots[i].root_manifest.ptr != NULL) {
            rc = frz_table_snapshot(table, m->snapshots[i].snapshot_id, &snapshot, &schema, err);
            rc = rc == FRZ_OK ? frz_tree_open(table, snapshot, schema, &all_stats, &tree, err) : rc;
            frz_tree_free(tree);
        }
    }
    return rc;
}

static void corpus__roots_of_others_are_read_or_refused(void **state)
{
    const frz_env *env = *state;
    char root[256], path[512];
    fixture_corpus_table entry;
    size_t read = 0, refused = 0;
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        skip();
    }
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, &entry)) {
        frz_error err = {0};
        frz_table *table = NULL;
        if (fixture_corpus_open(env, root, &entry, &table, &err) != FRZ_OK) {
            continue; /* the JSON is broken: another test's business */
        }
        size_t fault = find_fault(entry.dir);
        frz_code rc = open_all_roots(table, &err);
        if (fault < FRZ_ARRAY_COUNT(root_faults)) {
            assert_fails(rc, &err, root_faults[fault].code, root_faults[fault].phrase);
            refused++;
        } else if (rc != FRZ_OK) {
            char text[1024];
            frz_error_format(&err, text, sizeof text);
            fail_msg("%s: %s", entry.dir, text);
        } else {
            read++;
        }
        (void)has_feature;
        frz_table_unref(table);
    }
    fclose(list);
    assert_int_equal(refused, FRZ_ARRAY_COUNT(root_faults));
    assert_true(read > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(manifest__entries_read_back_as_written),
        TEST_WITH_ENV(manifest__without_entries_is_a_file_with_all_columns),
        TEST_WITH_ENV(manifest__statistics_follow_the_configuration),
        TEST_WITH_ENV(manifest__of_many_entries_keeps_their_order),
        TEST_WITH_ENV(manifest__of_a_wide_table_is_small),
        TEST_WITH_ENV(manifest__rules_of_column_files),
        TEST_WITH_ENV(manifest__one_provider_per_field),
        TEST_WITH_ENV(manifest__one_live_entry_per_location),
        TEST_WITH_ENV(manifest__what_would_be_lost_is_refused),
        TEST_WITH_ENV(corpus__roots_of_others_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
