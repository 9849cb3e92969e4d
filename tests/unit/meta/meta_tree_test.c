/*
 * Trees of manifests: what the root and its leaves say together, on tables of another writer.
 */
#include "unit/meta/meta_fixture.h"
#include "unit/test_alloc.h"

#include "meta/meta_mumbling.h"
#include "meta/meta_tree.h"

/* ---- the live data entries of a snapshot ---- */

typedef struct live_files {
    frz_tree *tree;
    frz_arena arena;
    const frz_entry *entries[2048];
    size_t count;
} live_files;

static void add_live(live_files *live, const frz_entry *e)
{
    if (e->content == FRZ_CONTENT_DATA && frz_status_is_live(e->status) && !e->is_masked) {
        assert_true(live->count < FRZ_ARRAY_COUNT(live->entries));
        live->entries[live->count++] = e;
    }
}

static frz_code read_manifest(live_files *live, size_t i, const frz_entry_request *request,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    FRZ_TRY(frz_entry_reader_open(live->tree, i, request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &live->arena, &entries, &count, err)) == FRZ_OK) {
        for (size_t k = 0; k < count; k++) {
            add_live(live, &entries[k]);
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_entry_reader_close(reader);
    return rc;
}

static frz_code read_live_as(const frz_table *table, const frz_snapshot *snapshot,
                             const frz_schema *schema, const frz_entry_request *request,
                             live_files *live, frz_error *err)
{
    frz_code rc = FRZ_OK;
    memset(live, 0, sizeof *live);
    frz_arena_init(&live->arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_tree_open(table, snapshot, schema, &request->stats, &live->tree, err));
    for (size_t i = 0; i < frz_tree_entry_count(live->tree); i++) {
        add_live(live, frz_tree_entry(live->tree, i));
    }
    for (size_t i = 0; i < frz_tree_manifest_count(live->tree); i++) {
        if (frz_status_is_live(frz_tree_manifest(live->tree, i)->status)) {
            FRZ_TRY(read_manifest(live, i, request, err));
        }
    }
out:
    return rc;
}

static frz_code read_live(const frz_table *table, live_files *live, frz_error *err)
{
    const frz_entry_request request = {.stats = {.all = true}};
    const frz_metadata *m = &table->metadata;
    return read_live_as(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                        &request, live, err);
}

static void release_live(live_files *live)
{
    frz_tree_free(live->tree);
    frz_arena_reset(&live->arena);
}

static const frz_entry *find_live(const live_files *live, const char *end)
{
    frz_str suffix = frz_str_from(end);
    for (size_t i = 0; i < live->count; i++) {
        frz_str location = live->entries[i]->location;
        if (location.len >= suffix.len &&
            frz_str_equal((frz_str){location.ptr + location.len - suffix.len, suffix.len},
                          suffix)) {
            return live->entries[i];
        }
    }
    fail_msg("no live entry %s", end);
    return NULL;
}

/* The line of the listing for a folder. */
static void find_metadata(const char *root, fixture_corpus_table *entry)
{
    char path[512], dir[sizeof entry->dir];
    snprintf(dir, sizeof dir, "%s", entry->dir);
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, entry) && strcmp(entry->dir, dir) != 0) {
    }
    fclose(list);
    assert_string_equal(entry->dir, dir);
}

static frz_table *open_named(const frz_env *env, const char *root, const char *dir)
{
    frz_table *table = NULL;
    frz_error err = {0};
    fixture_corpus_table entry;
    snprintf(entry.dir, sizeof entry.dir, "%s", dir);
    find_metadata(root, &entry);
    assert_ok(fixture_corpus_open(env, root, &entry, &table, &err), &err);
    return table;
}

/* ---- the corpus as a whole ---- */

typedef void (*table_check)(const char *root, const fixture_corpus_table *entry,
                            const frz_table *table);

/* Call check on each valid table that has a snapshot. */
static int each_table(const frz_env *env, table_check check)
{
    char root[256], path[512];
    fixture_corpus_table entry;
    int tables = 0;
    if (fixture_corpus("iceberg-v4", root, sizeof root) == NULL) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/TABLES.tsv", root);
    FILE *list = fopen(path, "r");
    assert_non_null(list);
    while (fixture_corpus_next(list, &entry)) {
        frz_table *table = NULL;
        frz_error err = {0};
        if (entry.must_fail[0] == '\0' && strcmp(entry.dir, "no_snapshot") != 0) {
            frz_code rc = fixture_corpus_open(env, root, &entry, &table, &err);
            if (rc == FRZ_E_UNSUPPORTED) {
                continue;
            }
            assert_ok(rc, &err);
            check(root, &entry, table);
            frz_table_unref(table);
            tables++;
        }
    }
    fclose(list);
    return tables;
}

/* Do files of the table store row ids of their own? */
static bool stores_row_ids(const char *dir)
{
    static const char *const names[] = {
        "stored_lineage_with_nulls", "compacted_with_older_sequence",
        "worked_examples",           "time_travel",
        "base_superseded",
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        if (strcmp(names[i], dir) == 0) {
            return true;
        }
    }
    return false;
}

/* Every expected row id belongs to exactly one live file. Returns the number of rows. */
static int64_t check_row_ids(const live_files *live, const char *root, const char *dir)
{
    char path[512], line[1 << 16];
    int64_t rows = 0;
    snprintf(path, sizeof path, "%s/%s/expected.jsonl", root, dir);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        const char *at = strstr(line, "\"_row_id\":");
        assert_non_null(at);
        long long id = atoll(at + strlen("\"_row_id\":"));
        int found = 0;
        for (size_t i = 0; i < live->count; i++) {
            const frz_entry *e = live->entries[i];
            found += id >= e->first_row_id && id < e->first_row_id + e->record_count;
        }
        if (found != 1 && !stores_row_ids(dir)) {
            fail_msg("%s: row %lld is in %d files", dir, id, found);
        }
        rows++;
    }
    fclose(f);
    return rows;
}

static bool has_delete_manifests(const frz_tree *tree)
{
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        if (file->content == FRZ_CONTENT_DELETE_MANIFEST && frz_status_is_live(file->status)) {
            return true;
        }
    }
    return false;
}

static void check_rows(const char *root, const fixture_corpus_table *entry, const frz_table *table)
{
    frz_error err = {0};
    live_files live;
    int64_t rows = 0;
    assert_ok(read_live(table, &live, &err), &err);
    for (size_t i = 0; i < live.count; i++) {
        const frz_entry *e = live.entries[i];
        rows += e->record_count - (e->has_deletion_vector ? e->deletion_vector.cardinality : 0);
        assert_true(e->first_row_id >= 0 && e->sequence_number >= 0 && e->file_size > 0);
    }
    int64_t expected = check_row_ids(&live, root, entry->dir);
    if (has_delete_manifests(live.tree) ? rows < expected : rows != expected) {
        fail_msg("%s: found %lld rows", entry->dir, (long long)rows);
    }
    release_live(&live);
}

static void tree__rows_and_row_ids_of_all_tables(void **state)
{
    int tables = each_table(*state, check_rows);
    assert_true(tables < 0 || tables == 80);
}

/* ---- wanted entries ---- */

/* A decision that depends on everything it may look at. */
static uint64_t digest(const frz_entry *e)
{
    uint64_t d = (uint64_t)e->sequence_number * 31 + (uint64_t)e->first_row_id * 7 +
                 (uint64_t)e->record_count + (uint64_t)e->partition_count * 3;
    for (size_t i = 0; i < e->stats_count; i++) {
        const frz_field_stats *s = &e->stats[i];
        d = d * 1099511628211u + (uint64_t)s->field_id;
        d = d * 1099511628211u + (uint64_t)s->value_count + (s->has_lower ? 1 : 0);
        if (s->has_lower && s->type->id == FRZ_TYPE_STRING && s->lower.as.bytes.len > 0) {
            d += (uint8_t)s->lower.as.bytes.ptr[0];
        }
    }
    return d;
}

static bool keep_some(void *ctx, const frz_entry *entry)
{
    return digest(entry) % 3 != *(const uint64_t *)ctx;
}

static bool is_of_root(const live_files *live, const frz_entry *e)
{
    for (size_t i = 0; i < frz_tree_entry_count(live->tree); i++) {
        if (frz_tree_entry(live->tree, i) == e) {
            return true;
        }
    }
    return false;
}

static void check_kept(const char *root, const fixture_corpus_table *entry, const frz_table *table)
{
    (void)root;
    const frz_metadata *m = &table->metadata;
    frz_error err = {0};
    live_files all, some;
    assert_ok(read_live(table, &all, &err), &err);
    for (uint64_t left_out = 0; left_out <= 3; left_out++) {
        const frz_entry_request request = {
            .stats = {.all = true}, .keep = keep_some, .keep_ctx = &left_out};
        size_t n, k;
        assert_ok(read_live_as(table, frz_metadata_current_snapshot(m),
                               frz_metadata_current_schema(m), &request, &some, &err),
                  &err);
        for (k = 0, n = 0; n < all.count; n++) {
            const frz_entry *e = all.entries[n];
            bool of_root = is_of_root(&all, e);
            if (of_root || keep_some(&left_out, e)) {
                assert_true(k < some.count);
                assert_true(frz_str_equal(some.entries[k]->location, e->location));
                assert_int_equal(digest(some.entries[k]), digest(e));
                k++;
            }
        }
        if (k != some.count) {
            fail_msg("%s: expected %zu entries, found %zu", entry->dir, k, some.count);
        }
        release_live(&some);
    }
    release_live(&all);
}

static void tree__wanted_entries_are_those_of_a_full_read(void **state)
{
    int tables = each_table(*state, check_kept);
    assert_true(tables < 0 || tables == 80);
}

/* ---- statistics asked for ---- */

static bool same_bound(bool has_a, const frz_value *a, bool has_b, const frz_value *b)
{
    return has_a == has_b && (!has_a || frz_value_compare(a, b, true) == 0);
}

static void check_chosen(const char *root, const fixture_corpus_table *entry,
                         const frz_table *table)
{
    static const int32_t ids[] = {3, 1};
    const frz_metadata *m = &table->metadata;
    const frz_entry_request request = {.stats = {.field_ids = ids, .field_count = 2}};
    frz_error err = {0};
    live_files all, some;
    (void)root;
    assert_ok(read_live(table, &all, &err), &err);
    assert_ok(read_live_as(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                           &request, &some, &err),
              &err);
    assert_int_equal(all.count, some.count);
    for (size_t i = 0; i < all.count; i++) {
        assert_true(some.entries[i]->stats_count <= 2);
        for (size_t k = 0; k < 2; k++) {
            const frz_field_stats *a = frz_entry_stats(all.entries[i], ids[k]);
            const frz_field_stats *b = frz_entry_stats(some.entries[i], ids[k]);
            if ((a == NULL) != (b == NULL) ||
                (a != NULL &&
                 (a->value_count != b->value_count || a->null_value_count != b->null_value_count ||
                  !same_bound(a->has_lower, &a->lower, b->has_lower, &b->lower) ||
                  !same_bound(a->has_upper, &a->upper, b->has_upper, &b->upper)))) {
                fail_msg("%s: entry %zu, field %d", entry->dir, i, (int)ids[k]);
            }
        }
    }
    release_live(&all);
    release_live(&some);
}

static void tree__statistics_asked_for_are_those_of_all(void **state)
{
    int tables = each_table(*state, check_chosen);
    assert_true(tables < 0 || tables == 80);
}

/* ---- single tables ---- */

static const char *v4_root(char *root, size_t size)
{
    return fixture_corpus("iceberg-v4", root, size);
}

static void tree__null_numbers_are_inherited(void **state)
{
    char root[256];
    live_files live;
    frz_error err = {0};
    if (v4_root(root, sizeof root) == NULL) {
        return;
    }
    frz_table *table = open_named(*state, root, "null_sequence_modified");
    assert_ok(read_live(table, &live, &err), &err);
    const frz_entry *e = find_live(&live, "f-001.parquet"); /* MODIFIED in a leaf */
    assert_int_equal(e->sequence_number, 2);
    assert_int_equal(e->file_sequence_number, 1);
    assert_int_equal(e->first_row_id, 0);
    release_live(&live);
    frz_table_unref(table);

    table = open_named(*state, root, "first_row_id_inheritance");
    assert_ok(read_live(table, &live, &err), &err);
    e = find_live(&live, "f-009.parquet"); /* behind f-006, two old rows and f-008 */
    assert_int_equal(e->first_row_id, 29);
    assert_int_equal(e->sequence_number, 2);
    assert_int_equal(e->snapshot_id, 3743984550956973489);
    assert_int_equal(e->position, 5);
    e = find_live(&live, "f-007.parquet");
    assert_int_equal(e->first_row_id, 34);
    e = find_live(&live, "f-001.parquet"); /* EXISTING: its own */
    assert_int_equal(e->first_row_id, 6);
    assert_int_equal(e->snapshot_id, 4098925676295568210);
    release_live(&live);
    frz_table_unref(table);
}

static void tree__masked_entries_are_told_on_request(void **state)
{
    char root[256];
    frz_error err = {0};
    frz_tree *tree = NULL;
    frz_entry_reader *reader = NULL;
    frz_arena arena;
    const frz_entry *entries = NULL;
    size_t count = 0, masked = 0, seen = 0;
    const frz_entry_request request = {.all_entries = true};
    if (v4_root(root, sizeof root) == NULL) {
        return;
    }
    frz_table *table = open_named(*state, root, "mdv_dense");
    const frz_metadata *m = &table->metadata;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_tree_open(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                            &request.stats, &tree, &err),
              &err);
    assert_int_equal(frz_tree_manifest_count(tree), 1);
    const frz_manifest_file *file = frz_tree_manifest(tree, 0);
    assert_int_equal(file->entry_count, 1100);
    assert_int_equal(file->dv->cardinality, 1097);
    assert_ok(frz_manifest_file_check_changes(file, &err), &err);
    assert_ok(frz_entry_reader_open(tree, 0, &request, &reader, &err), &err);
    while (frz_entry_reader_next(reader, &arena, &entries, &count, &err) == FRZ_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(entries[i].position, seen);
            assert_int_equal(entries[i].is_masked, frz_mumbling_has(file->dv, seen));
            masked += entries[i].is_masked;
            seen++;
        }
    }
    assert_int_equal(seen, 1100);
    assert_int_equal(masked, 1097);
    assert_int_equal(frz_entry_reader_live_count(reader), 3);
    frz_entry_reader_close(reader);
    frz_tree_free(tree);
    frz_arena_reset(&arena);
    frz_table_unref(table);
}

static void tree__tuples_come_by_the_spec_of_the_entry(void **state)
{
    char root[256];
    frz_error err = {0};
    live_files live;
    size_t with_tuple = 0;
    if (v4_root(root, sizeof root) == NULL) {
        return;
    }
    frz_table *table = open_named(*state, root, "partition_union");
    if (table->metadata.spec_count == 0) {
        frz_table_unref(table);
        skip();
    }
    assert_ok(read_live(table, &live, &err), &err);
    for (size_t i = 0; i < live.count; i++) {
        const frz_entry *e = live.entries[i];
        const frz_partition_spec *spec = frz_metadata_spec(&table->metadata, e->spec_id);
        assert_int_equal(e->partition_count, spec == NULL ? 0 : spec->field_count);
        for (size_t k = 0; k < e->partition_count; k++) {
            assert_int_equal(e->partition[k].field_id, spec->fields[k].field_id);
        }
        with_tuple += e->partition_count > 0;
    }
    assert_true(with_tuple > 1);
    release_live(&live);
    frz_table_unref(table);
}

/* ---- refused ---- */

static void tree__broken_tables_are_refused_by_file_and_rule(void **state)
{
    static const struct {
        const char *dir, *phrase;
    } tables[] = {
        {"invalid/cf_field_in_two_files", "column_files: field 2 is in two column files"},
        {"invalid/cf_duplicate_field_id", "field 3 is listed twice"},
        {"invalid/cf_empty_field_ids", "field_ids: expected at least one, found none"},
        {"invalid/cf_row_id_listed", "_row_id is never stored in a column file"},
        {"invalid/cf_element_listed", "field 5 is inside a list or map"},
        {"invalid/cf_unknown_format", "expected parquet, avro or orc, found \"csv\""},
        {"invalid/cf_on_manifest", "unsupported: column files of manifests"},
        {"invalid/root_unknown_content_type",
         "content_type: expected 0, 3 or 4 in a root, found 9"},
        {"invalid/root_equality_deletes", "found 2 (equality deletes)"},
        {"invalid/leaf_inside_leaf",
         "content_type: expected 0 in a leaf manifest, found 3 (a manifest)"},
        {"invalid/v4_delete_manifest", "format version 4 has no delete manifests"},
        {"invalid/manifest_sequence_numbers_differ", "of a manifest differ"},
        {"invalid/manifest_info_missing", "manifest_info: a manifest has one, found null"},
        {"invalid/status_unknown", "status: expected 0 to 4, found 7"},
        {"invalid/location_missing", "field 100 (location) is missing"},
        {"invalid/root_without_field_ids", "columns have no field ids"},
        {"invalid/root_truncated", "root-"},
        {"invalid/encrypted_root", "unsupported: encrypted root manifests"},
        {"invalid/mdv_version_2", "dv: broken bitmap of positions: version 2"},
        {"invalid/mdv_reserved_container", "dv: "},
        {"invalid/mdv_cardinality_wrong", "dv: "},
        {"invalid/mdv_truncated", "dv: "},
        {"invalid/mdv_not_ascending", "dv: "},
        {"invalid/mdv_bit_widths", "dv: "},
        {"invalid/mdv_container_count", "dv: "},
    };
    char root[256];
    if (v4_root(root, sizeof root) == NULL) {
        return;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tables); i++) {
        frz_error err = {0};
        live_files live;
        frz_table *table = open_named(*state, root, tables[i].dir);
        char text[2048];
        frz_code rc = read_live(table, &live, &err);
        frz_error_format(&err, text, sizeof text);
        if ((rc != FRZ_E_CORRUPT && rc != FRZ_E_UNSUPPORTED) ||
            strstr(text, tables[i].phrase) == NULL) {
            fail_msg("%s: expected \"%s\", found %s: %s", tables[i].dir, tables[i].phrase,
                     frz_code_name(rc), text);
        }
        assert_true(strstr(text, ".parquet") != NULL || rc == FRZ_E_UNSUPPORTED);
        release_live(&live);
        frz_table_unref(table);
    }
}

static void tree__positions_of_changes_are_held_against_the_dv(void **state)
{
    char root[256];
    frz_error err = {0};
    live_files live;
    int refused = 0;
    if (v4_root(root, sizeof root) == NULL) {
        return;
    }
    frz_table *table = open_named(*state, root, "invalid/positions_overlap");
    assert_ok(read_live(table, &live, &err), &err); /* who is live is not in doubt */
    for (size_t i = 0; i < frz_tree_manifest_count(live.tree); i++) {
        frz_code rc = frz_manifest_file_check_changes(frz_tree_manifest(live.tree, i), &err);
        refused += rc == FRZ_E_CORRUPT && strstr(err.message, "share a position") != NULL;
    }
    assert_int_equal(refused, 1);
    release_live(&live);
    frz_table_unref(table);
}

/* ---- without memory ---- */

static const char *alloc_dir; /* of the table that a scenario reads */

static bool keep_all(void *ctx, const frz_entry *entry)
{
    (void)ctx;
    return entry->record_count >= 0;
}

static frz_code scenario_tree(const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char root[256];
    fixture_corpus_table entry;
    frz_table *table = NULL;
    const frz_entry_request request = {.stats = {.all = true}, .keep = keep_all};
    live_files live = {.count = 0};
    snprintf(entry.dir, sizeof entry.dir, "%s", alloc_dir);
    assert_non_null(v4_root(root, sizeof root));
    find_metadata(root, &entry);
    FRZ_TRY(fixture_corpus_open(env, root, &entry, &table, err));
    const frz_metadata *m = &table->metadata;
    FRZ_TRY(read_live_as(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                         &request, &live, err));
out:
    release_live(&live);
    frz_table_unref(table);
    return rc;
}

static void tree__every_allocation_may_fail(void **state)
{
    static const char *const dirs[] = {"partition_union", "upgraded_json_only",
                                       "upgraded_vector_and_equality"};
    char root[256];
    (void)state;
    if (v4_root(root, sizeof root) == NULL) {
        return;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(dirs); i++) {
        alloc_dir = dirs[i];
        assert_true(test_fail_every_allocation(scenario_tree) > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(tree__rows_and_row_ids_of_all_tables),
        TEST_WITH_ENV(tree__wanted_entries_are_those_of_a_full_read),
        TEST_WITH_ENV(tree__statistics_asked_for_are_those_of_all),
        TEST_WITH_ENV(tree__null_numbers_are_inherited),
        TEST_WITH_ENV(tree__masked_entries_are_told_on_request),
        TEST_WITH_ENV(tree__tuples_come_by_the_spec_of_the_entry),
        TEST_WITH_ENV(tree__broken_tables_are_refused_by_file_and_rule),
        TEST_WITH_ENV(tree__positions_of_changes_are_held_against_the_dv),
        cmocka_unit_test(tree__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
