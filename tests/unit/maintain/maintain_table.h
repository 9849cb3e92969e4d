/*
 * Small tables for the tests of compaction and validation: a warehouse in a folder of its own and a
 * catalog in memory. Values are written as text, one word a value, "null" for null.
 */
#ifndef FRZ_TEST_MAINTAIN_TABLE_H
#define FRZ_TEST_MAINTAIN_TABLE_H

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalog/catalog_store.h"
#include "format/parquet/parquet.h"
#include "frazil/import.h"
#include "frazil/maintain.h"
#include "scan/scan_stitch.h"
#include "unit/test_support.h"
#include "write/write_commit.h"

#define TEST_NAME "db.t"

typedef struct test_table {
    frz_env *env;
    char folder[64];
    frz_catalog *catalog;
    frz_arena arena;
    frz_error err;
    int file_count;
} test_table;

/* A column of a file: a field and its values. */
typedef struct test_column {
    frz_field field;
    const char *values;
} test_column;

static inline void table_open(test_table *t, void **state)
{
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    memset(t, 0, sizeof *t);
    t->env = *state;
    snprintf(t->folder, sizeof t->folder, "/tmp/frazil-maintain-XXXXXX");
    assert_non_null(mkdtemp(t->folder));
    options.uri = "memory:";
    options.warehouse = t->folder;
    frz_arena_init(&t->arena, t->env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_catalog_open(t->env, &options, &t->catalog, &t->err), &t->err);
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void table_close(test_table *t)
{
    frz_catalog_close(t->catalog);
    frz_arena_reset(&t->arena);
    assert_int_equal(nftw(t->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline frz_field test_field(int32_t id, const char *name, bool required, frz_type_id type)
{
    return (frz_field){.id = id,
                       .required = required,
                       .name = frz_str_from(name),
                       .type = frz_type_primitive(type)};
}

/* ---- a catalog whose answers are scripted ---- */

/* What it does at a swap. */
typedef enum swap_answer {
    SWAP_DONE,
    SWAP_UNKNOWN_DONE, /* it happened, but nobody can tell */
    SWAP_UNKNOWN_NOT,
    SWAP_FAILS
} swap_answer;

static inline frz_code test_swap(frz_catalog *inner, swap_answer answer, const frz_table_name *name,
                                 const char *expected, const char *location, frz_error *err)
{
    if (answer == SWAP_FAILS) {
        return frz_fail(err, FRZ_E_IO, "the catalog is out of order");
    }
    frz_code rc = answer == SWAP_UNKNOWN_NOT
                      ? FRZ_OK
                      : inner->ops->swap(inner->ctx, name, expected, location, err);
    return rc == FRZ_OK && answer != SWAP_DONE
               ? frz_fail(err, FRZ_E_COMMIT_UNKNOWN, "the connection was lost")
               : rc;
}

/* ---- arrays as text ---- */

static inline void array_of(test_table *t, const frz_type *type, const char *values,
                            struct ArrowArray *out)
{
    frz_builder *builder = NULL;
    assert_ok(frz_builder_new(t->env, type, &builder, &t->err), &t->err);
    for (const char *at = values; *at != '\0';) {
        size_t len = strcspn(at, " ");
        frz_value value;
        if (len == 4 && memcmp(at, "null", 4) == 0) {
            assert_ok(frz_builder_null(builder, &t->err), &t->err);
        } else if (len > 0) {
            assert_ok(frz_value_parse(&t->arena, type, (frz_str){at, len}, &value, &t->err),
                      &t->err);
            assert_ok(frz_builder_value(builder, &value, &t->err), &t->err);
        }
        at += len + (at[len] == ' ');
    }
    assert_ok(frz_builder_finish(builder, out, &t->err), &t->err);
    frz_builder_free(builder);
}

static inline void text_of_array(const frz_type *type, const struct ArrowArray *array, frz_buf *out)
{
    for (int64_t i = 0; i < array->length; i++) {
        frz_value value = frz_value_at(type, array, i);
        if (out->len > 0) {
            assert_int_equal(frz_buf_append_byte(out, ' ', NULL), FRZ_OK);
        }
        if (value.is_null) {
            assert_int_equal(frz_buf_append_str(out, "null", NULL), FRZ_OK);
        } else {
            assert_int_equal(frz_value_print(&value, out, NULL), FRZ_OK);
        }
    }
}

/* ---- files ---- */

/* Write a Parquet file with row groups of so many rows (0: one group). */
static inline void put_file(test_table *t, const char *location, const test_column *columns,
                            size_t count, int64_t group_rows, frz_parquet_written *written)
{
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *writer = NULL;
    const frz_type *type = NULL;
    frz_field *fields = frz_arena_array(&t->arena, count, sizeof *fields);
    struct ArrowArray *arrays = frz_arena_array(&t->arena, count, sizeof *arrays);
    struct ArrowArray batch;
    for (size_t i = 0; i < count; i++) {
        fields[i] = columns[i].field;
        array_of(t, columns[i].field.type, columns[i].values, &arrays[i]);
    }
    int64_t rows = arrays[0].length;
    assert_ok(frz_type_struct_of(&t->arena, fields, count, &type, &t->err), &t->err);
    assert_ok(frz_batch_make(t->env, rows, arrays, count, &batch, &t->err), &t->err);
    assert_ok(frz_parquet_writer_open(t->env, location, type, &options, &writer, &t->err), &t->err);
    for (int64_t at = 0; at < rows;) {
        int64_t length = group_rows == 0 ? rows : FRZ_MIN(group_rows, rows - at);
        struct ArrowArray part;
        assert_ok(frz_batch_slice(t->env, &batch, at, length, &part, &t->err), &t->err);
        assert_ok(frz_parquet_writer_write(writer, &part, &t->err), &t->err);
        assert_ok(frz_parquet_writer_end_group(writer, &t->err), &t->err);
        frz_array_release(&part);
        at += length;
    }
    frz_array_release(&batch);
    assert_ok(frz_parquet_writer_finish(writer, false, &t->arena, written, &t->err), &t->err);
}

#define COLUMNS(...) (test_column[]){__VA_ARGS__}, FRZ_ARRAY_COUNT(((test_column[]){__VA_ARGS__}))

/* A file to import; returns its path, in the arena. */
static inline const char *source_file(test_table *t, const test_column *columns, size_t count,
                                      int64_t group_rows)
{
    const char *path =
        frz_arena_printf(&t->arena, "%s/source-%d.parquet", t->folder, t->file_count++);
    put_file(t, path, columns, count, group_rows, NULL);
    return path;
}

static inline void import_files(test_table *t, const char *const *files, size_t count)
{
    static const frz_property scratch = {"write.durability", "none"};
    frz_import_options options = FRZ_IMPORT_OPTIONS_INIT;
    options.properties = &scratch;
    options.property_count = 1;
    assert_ok(frz_import(t->catalog, TEST_NAME, files, count, &options, NULL, &t->err), &t->err);
}

/* ---- commits ---- */

/* Fills in a plan. */
typedef void (*plan_change)(test_table *t, const frz_commit_attempt *attempt, frz_commit_plan *plan,
                            void *ctx);

typedef struct plan_job {
    test_table *t;
    plan_change change;
    void *ctx;
} plan_job;

static inline frz_code build_plan(void *ctx, const frz_commit_attempt *attempt,
                                  frz_commit_plan *plan, frz_error *err)
{
    plan_job *job = ctx;
    (void)err;
    plan->operation = "overwrite";
    job->change(job->t, attempt, plan, job->ctx);
    return FRZ_OK;
}

static inline void commit_change(test_table *t, plan_change change, void *ctx)
{
    plan_job job = {t, change, ctx};
    assert_ok(frz_commit_run(t->catalog, TEST_NAME, build_plan, &job, NULL, &t->err), &t->err);
}

/* A column file for one entry. */
typedef struct test_update {
    size_t entry;               /* among the live ones */
    const test_column *columns; /* the lineage column is added if updated is set */
    size_t column_count;
    const char *updated; /* values of _last_updated_sequence_number */
    int64_t group_rows;
    void (*spoil)(frz_entry *); /* break the entry */
} test_update;

/* Fields that the new file lists leave the old lists. */
static inline size_t other_column_files(test_table *t, const frz_entry *entry,
                                        const frz_column_file *added, frz_column_file *out)
{
    size_t count = 0;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *old = &entry->column_files[i];
        int32_t *ids = frz_arena_array(&t->arena, old->field_id_count, sizeof *ids);
        out[count] = *old;
        out[count].field_ids = ids;
        out[count].field_id_count = 0;
        for (size_t k = 0; k < old->field_id_count; k++) {
            bool moved = false;
            for (size_t m = 0; m < added->field_id_count; m++) {
                moved = moved || added->field_ids[m] == old->field_ids[k];
            }
            if (!moved) {
                ids[out[count].field_id_count++] = old->field_ids[k];
            }
        }
        count += out[count].field_id_count > 0;
    }
    return count;
}

static inline const frz_entry *live_entry(const frz_commit_attempt *attempt, size_t at)
{
    size_t i = 0;
    for (;; i++) {
        const frz_entry *entry = frz_tree_entry(attempt->tree, i);
        if (frz_status_is_live(entry->status) && at-- == 0) {
            return entry;
        }
    }
}

static inline void apply_update(test_table *t, const frz_commit_attempt *attempt,
                                frz_commit_plan *plan, void *ctx)
{
    const test_update *update = ctx;
    const frz_entry *source = live_entry(attempt, update->entry);
    frz_parquet_written written = {0};
    char *location = NULL;
    size_t count = update->column_count + (update->updated != NULL);
    test_column *columns = frz_arena_array(&t->arena, count, sizeof *columns);
    int32_t *ids = frz_arena_array(&t->arena, count, sizeof *ids);
    frz_column_file *files =
        frz_arena_array(&t->arena, source->column_file_count + 1, sizeof *files);
    for (size_t i = 0; i < count; i++) {
        columns[i] = i < update->column_count
                         ? update->columns[i]
                         : (test_column){frz_field_last_updated, update->updated};
        columns[i].field.required = false;
        ids[i] = columns[i].field.id;
    }
    assert_ok(frz_commit_new_path(attempt, "-columns.parquet", &location, &t->err), &t->err);
    put_file(t, location, columns, count, update->group_rows, &written);
    assert_ok(frz_commit_track(attempt, location, written.file_size, true, &t->err), &t->err);
    frz_column_file file = {.field_ids = ids,
                            .field_id_count = count,
                            .file_format = FRZ_STR("parquet"),
                            .file_size = written.file_size};
    assert_ok(frz_arena_str(&t->arena, frz_table_relativize(attempt->table, frz_str_from(location)),
                            &file.location, &t->err),
              &t->err);
    frz_free(t->env, location);

    frz_entry entry = frz_entry_column_update(source, attempt);
    entry.column_file_count = other_column_files(t, source, &file, files);
    files[entry.column_file_count++] = file;
    entry.column_files = files;
    entry.stats = written.stats;
    entry.stats_count = written.stats_count;
    if (update->spoil != NULL) {
        update->spoil(&entry);
    }
    assert_ok(frz_commit_plan_change(attempt, plan, source, &entry, &t->err), &t->err);
}

static inline void update_entry(test_table *t, const test_update *update)
{
    commit_change(t, apply_update, (void *)update);
}

/* ---- reading ---- */

typedef struct test_snapshot {
    frz_table *table;
    frz_tree *tree;
    const frz_schema *schema;
    const frz_entry **entries; /* live ones of the root, in the test's arena */
    size_t count;
} test_snapshot;

static inline void snapshot_open(test_table *t, test_snapshot *out)
{
    static const frz_stats_choice all_stats = {.all = true};
    const frz_snapshot *snapshot = NULL;
    memset(out, 0, sizeof *out);
    assert_ok(frz_catalog_load_table(t->catalog, TEST_NAME, &out->table, &t->err), &t->err);
    assert_ok(frz_table_snapshot(out->table, 0, &snapshot, &out->schema, &t->err), &t->err);
    assert_ok(frz_tree_open(out->table, snapshot, out->schema, &all_stats, &out->tree, &t->err),
              &t->err);
    out->entries =
        frz_arena_array(&t->arena, frz_tree_entry_count(out->tree), sizeof *out->entries);
    assert_non_null(out->entries);
    for (size_t i = 0; i < frz_tree_entry_count(out->tree); i++) {
        const frz_entry *entry = frz_tree_entry(out->tree, i);
        if (frz_status_is_live(entry->status)) {
            out->entries[out->count++] = entry;
        }
    }
}

static inline void snapshot_close(test_snapshot *snapshot)
{
    frz_tree_free(snapshot->tree);
    frz_table_unref(snapshot->table);
}

/* All values of a field, files one after the other, in the arena. */
static inline const char *column_text(test_table *t, const frz_field *field)
{
    test_snapshot snapshot;
    const frz_type *projection = NULL;
    frz_buf text = FRZ_BUF_INIT(t->env, 1 << 20);
    snapshot_open(t, &snapshot);
    assert_ok(frz_type_struct_of(&t->arena, field, 1, &projection, &t->err), &t->err);
    for (size_t i = 0; i < snapshot.count; i++) {
        frz_stitch_request request = {.projection = projection};
        frz_stitch *stitch = NULL;
        frz_batch batch = {0};
        frz_code rc;
        assert_ok(frz_stitch_open(snapshot.table, snapshot.entries[i], &request, &stitch, &t->err),
                  &t->err);
        while ((rc = frz_stitch_next(stitch, &batch, &t->err)) == FRZ_OK) {
            text_of_array(field->type, batch.array.children[0], &text);
            frz_array_release(&batch.array);
        }
        assert_int_equal(rc, FRZ_END);
        frz_stitch_close(stitch);
    }
    const char *out = frz_arena_strdup(&t->arena, frz_buf_view(&text));
    frz_buf_reset(&text);
    snapshot_close(&snapshot);
    return out;
}

/* The path of a live entry's base (part 0) or column file, in the arena. */
static inline const char *part_path(test_table *t, size_t entry, size_t part)
{
    test_snapshot snapshot;
    char *location = NULL;
    frz_str path;
    snapshot_open(t, &snapshot);
    const frz_entry *e = snapshot.entries[entry];
    assert_ok(frz_table_resolve(snapshot.table,
                                part == 0 ? e->location : e->column_files[part - 1].location,
                                &location, &t->err),
              &t->err);
    assert_true(frz_location_local_path(frz_str_from(location), &path));
    const char *out = frz_arena_strdup(&t->arena, path);
    frz_free(t->env, location);
    snapshot_close(&snapshot);
    return out;
}

/* ---- findings ---- */

static inline void collect_finding(void *ctx, const char *location, const char *text)
{
    assert_int_equal(frz_buf_printf(ctx, NULL, "%s: %s\n", location, text), FRZ_OK);
}

/* All findings, a line each, in the arena. */
static inline const char *findings_of(test_table *t, int64_t *count)
{
    frz_table *table = NULL;
    frz_buf text = FRZ_BUF_INIT(t->env, 1 << 20);
    assert_ok(frz_catalog_load_table(t->catalog, TEST_NAME, &table, &t->err), &t->err);
    assert_ok(frz_validate(table, collect_finding, &text, count, &t->err), &t->err);
    frz_table_unref(table);
    const char *out = frz_arena_strdup(&t->arena, frz_buf_view(&text));
    frz_buf_reset(&text);
    return out;
}

static inline void assert_clean(test_table *t)
{
    int64_t count = -1;
    assert_string_equal(findings_of(t, &count), "");
    assert_int_equal(count, 0);
}

static inline void assert_found(test_table *t, const char *phrase)
{
    int64_t count = 0;
    const char *text = findings_of(t, &count);
    if (strstr(text, phrase) == NULL || count == 0) {
        fail_msg("expected a finding with \"%s\", found: %s", phrase, text);
    }
}

#endif
