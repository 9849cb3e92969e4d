/*
 * A table of two data files with 50 and 30 rows and the columns id, a, b, s; with and without
 * column files, and with deletion vectors and leaf manifests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "fault/fault_scenario.h"
#include "format/parquet/parquet.h"
#include "frazil/changes.h"
#include "frazil/merge.h"
#include "frazil/plan.h"
#include "frazil/rows.h"
#include "frazil/sql.h"
#include "frazil/update_task.h"
#include "type/type_value.h"
#include "unit/test_roots.h"

/* Leaf: imported, into a leaf; tuples: imported, and as Hive leaves a table. Twice: two columns are
 * updated; small: the same, and two files are enough to be combined. The last two: updated, with
 * copy-on-write from now on; deleted, with merge-on-read. */
enum {
    BASE_EMPTY,
    BASE_IMPORTED,
    BASE_LEAF,
    BASE_TUPLES,
    BASE_UPDATED,
    BASE_TWICE,
    BASE_SMALL,
    BASE_DELETED,
    BASE_LITTERED,
    BASE_REWRITING,
    BASE_MOVING
};

#define ROWS 80
#define SUM_IMPORTED 3160.0 /* a is id: 0 to 79 */
#define SUM_UPDATED (SUM_IMPORTED + 1000.0 * ROWS)
#define SUM_MERGED (SUM_IMPORTED + 2000.0 * ROWS)
#define ROWS_DELETED 8 /* 3, 13 ... 73 */
#define SUM_DELETED (SUM_UPDATED - 304.0 - 1000.0 * ROWS_DELETED)
#define ROWS_OF_FILE 27         /* of the second file, without 53, 63, 73 */
#define SUM_FILE_DELETED 1746.0 /* of these */

/* ---- operations ---- */

static frz_code open_catalog(const frz_env *env, const char *folder, frz_catalog **out,
                             frz_error *err)
{
    char uri[SCENARIO_PATH + 32], warehouse[SCENARIO_PATH + 32];
    frz_catalog_options opts = FRZ_CATALOG_OPTIONS_INIT;
    snprintf(uri, sizeof uri, "sqlite://%s/warehouse/catalog.db", folder);
    snprintf(warehouse, sizeof warehouse, "%s/warehouse", folder);
    opts.uri = uri;
    opts.warehouse = warehouse;
    return frz_catalog_open(env, &opts, out, err);
}

frz_code scenario_run(frz_code (*run)(frz_catalog *, const scenario_files *, frz_error *),
                      const frz_env *env, const char *folder, frz_error *err)
{
    frz_catalog *catalog = NULL;
    scenario_files files = {.paths = {files.one, files.two}, .folder = folder};
    snprintf(files.one, sizeof files.one, "%s/one.parquet", folder);
    snprintf(files.two, sizeof files.two, "%s/two.parquet", folder);
    frz_code rc = open_catalog(env, folder, &catalog, err);
    rc = rc == FRZ_OK ? run(catalog, &files, err) : rc;
    frz_catalog_close(catalog);
    return rc;
}

static frz_code run_import(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    return frz_import(catalog, "db.t", files->paths, 2, NULL, NULL, err);
}

/* Every entry is in a leaf from the first version on. */
static frz_code run_import_leaf(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    static const frz_property no_entries = {"write.root-manifest.max-entries", "0"};
    frz_import_options options = FRZ_IMPORT_OPTIONS_INIT;
    options.properties = &no_entries;
    options.property_count = 1;
    return frz_import(catalog, "db.t", files->paths, 2, &options, NULL, err);
}

static frz_code run_update_all(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    static const frz_assignment all = {"a", "id + 1000"};
    (void)files;
    return frz_update_columns(catalog, "db.t", &all, 1, NULL, NULL, err);
}

static frz_code run_update_some(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    static const frz_assignment some[] = {{"a", "id + 1"}, {"b", "b + 1"}};
    (void)files;
    return frz_update_columns(catalog, "db.t", some, 2, "id % 2 = 0", NULL, err);
}

/* Another column: then there are two column files. */
static frz_code run_update_b(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    static const frz_assignment b = {"b", "b + 1"};
    (void)files;
    return frz_update_columns(catalog, "db.t", &b, 1, NULL, NULL, err);
}

/* All rows leave a partition of which q is told by the tuple alone. */
static frz_code run_leave_partition(frz_catalog *catalog, const scenario_files *files,
                                    frz_error *err)
{
    static const frz_assignment all[] = {{"a", "id + 1000"}, {"p", "'z'"}};
    (void)files;
    return frz_update_columns(catalog, "db.t", all, 2, NULL, NULL, err);
}

/* The files that the table was made of, as rows from outside. */
static frz_row_source source_of(const scenario_files *files)
{
    frz_row_source source = FRZ_ROW_SOURCE_INIT;
    source.name = "s";
    source.files = files->paths;
    source.file_count = 2;
    return source;
}

/* a becomes id + 1000. */
static frz_code update_from(frz_catalog *catalog, const scenario_files *files, size_t memory_bytes,
                            const char *where, frz_error *err)
{
    static const frz_assignment all = {"a", "s.id + 1000"};
    frz_row_source source = source_of(files);
    source.memory_bytes = memory_bytes;
    return frz_update_columns_from(catalog, "db.t", NULL, &all, 1, &source, where, NULL, err);
}

static frz_code run_update_by_key(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    return update_from(catalog, files, 0, "t.id = s.id AND t.s = s.s", err);
}

static frz_code run_update_spilled(frz_catalog *catalog, const scenario_files *files,
                                   frz_error *err)
{
    /* what a process that ends leaves there goes with the folder */
    setenv("TMPDIR", files->folder, 1);
    return update_from(catalog, files, 1, "t.id = s.id AND t.s = s.s AND s.id < 4", err);
}

static frz_code run_update_by_position(frz_catalog *catalog, const scenario_files *files,
                                       frz_error *err)
{
    static const frz_assignment all = {"a", "s.id + 1000"};
    frz_row_source source = source_of(files);
    return frz_update_columns_by_position(catalog, "db.t", &all, 1, &source, NULL, err);
}

/* Rows 40 to 79 that are there are matched and updated, those that are not are inserted: a becomes
 * id + 2000. Rows 0 to 39 are not matched: they are deleted, and inserted again in the same way. */
static frz_code run_merge(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    static const frz_assignment all = {"a", "s.id + 2000"};
    static const frz_assignment inserted[] = {
        {"id", "s.id"}, {"a", "s.id + 2000"}, {"b", "s.b"}, {"s", "s.s"}};
    static const frz_merge_clause clauses[] = {
        {FRZ_MERGE_MATCHED, FRZ_MERGE_UPDATE, NULL, &all, 1},
        {FRZ_MERGE_NOT_MATCHED, FRZ_MERGE_INSERT, NULL, inserted, 4},
        {FRZ_MERGE_NOT_MATCHED_BY_SOURCE, FRZ_MERGE_DELETE, "t.id < 40", NULL, 0}};
    frz_row_source source = source_of(files);
    return frz_merge(catalog, "db.t", "t", &source, "t.id = s.id AND t.id >= 40", clauses, 3, NULL,
                     err);
}

static frz_code compact_by(frz_catalog *catalog, frz_compact_mode mode, frz_error *err)
{
    frz_compact_options options = FRZ_COMPACT_OPTIONS_INIT;
    options.mode = mode;
    return frz_compact_by(catalog, "db.t", &options, NULL, NULL, err);
}

static frz_code run_compact(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    (void)files;
    return compact_by(catalog, FRZ_COMPACT_REWRITE, err);
}

static frz_code run_compact_columns(frz_catalog *catalog, const scenario_files *files,
                                    frz_error *err)
{
    (void)files;
    return compact_by(catalog, FRZ_COMPACT_COLUMNS, err);
}

static frz_code run_combine(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    (void)files;
    return compact_by(catalog, FRZ_COMPACT_POLICY, err);
}

static frz_code run_delete(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    (void)files;
    return frz_delete_rows(catalog, "db.t", "id % 10 = 3", NULL, err);
}

/* The first file and some rows of the second. */
static frz_code run_delete_file(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    (void)files;
    return frz_delete_rows(catalog, "db.t", "id < 50 OR id % 10 = 3", NULL, err);
}

static frz_code set_property(frz_catalog *catalog, const char *key, const char *value,
                             frz_error *err)
{
    frz_sql_result result;
    char sql[256];
    snprintf(sql, sizeof sql, "ALTER TABLE db.t SET TBLPROPERTIES ('%s' = '%s')", key, value);
    return frz_sql_run(catalog, NULL, sql, &result, err);
}

static frz_code set_modes(frz_catalog *catalog, const char *mode, frz_error *err)
{
    frz_code rc = set_property(catalog, "write.update.mode", mode, err);
    rc = rc == FRZ_OK ? set_property(catalog, "write.merge.mode", mode, err) : rc;
    return rc == FRZ_OK ? set_property(catalog, "write.delete.mode", mode, err) : rc;
}

static frz_code run_append(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    return frz_append_files(catalog, "db.t", files->paths, 2, NULL, NULL, err);
}

/* All snapshots but the last go. */
static frz_code run_expire(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    frz_expire_options options = FRZ_EXPIRE_OPTIONS_INIT;
    (void)files;
    options.older_than = "2099-01-01";
    return frz_expire(catalog, "db.t", &options, NULL, err);
}

static frz_code run_orphans(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    frz_removal_report report = {.failed = 0};
    frz_orphan_options options = FRZ_ORPHAN_OPTIONS_INIT;
    (void)files;
    options.older_than = "2099-01-01";
    options.force = 1;
    frz_code rc = frz_remove_orphans(catalog, "db.t", &options, &report, err);
    return rc == FRZ_OK && report.failed > 0 ? frz_fail(err, FRZ_E_IO, "orphans cannot be removed")
                                             : rc;
}

static frz_code append_line(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    frz_code rc = frz_buf_append(ctx, bytes, len, err);
    return rc == FRZ_OK ? frz_buf_append_byte(ctx, '\n', err) : rc;
}

/* Run the next task; its result is another line. */
static frz_code run_next(const frz_env *env, frz_update_plan *plan, frz_buf *results,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf task = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_update_plan_next(plan, append_line, &task, err));
    rc = frz_update_task_run(env, (const char *)task.data, task.len, append_line, results, err);
out:
    frz_buf_reset(&task);
    return rc;
}

static frz_code run_tasks(frz_catalog *catalog, const frz_assignment *set, size_t count,
                          const char *where, const frz_row_source *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_update_plan_options opts = FRZ_UPDATE_PLAN_OPTIONS_INIT;
    frz_table *table = NULL;
    frz_update_plan *plan = NULL;
    frz_buf results = FRZ_BUF_INIT(catalog->env, FRZ_BUF_NO_LIMIT);
    opts.target_bytes = 1; /* a task for each data file */
    opts.source = source;
    FRZ_TRY(frz_catalog_load_table(catalog, "db.t", &table, err));
    FRZ_TRY(frz_update_plan_open(table, set, count, where, &opts, &plan, err));
    while ((rc = run_next(catalog->env, plan, &results, err)) == FRZ_OK) {
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    rc = frz_update_commit(catalog, "db.t", (const char *)results.data, results.len, NULL, err);
out:
    frz_buf_reset(&results);
    frz_update_plan_close(plan);
    frz_table_unref(table);
    return rc;
}

static frz_code run_update_tasks(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    static const frz_assignment some[] = {{"a", "id + 1"}, {"b", "b + 1"}};
    (void)files;
    return run_tasks(catalog, some, 2, "id % 2 = 0", NULL, err);
}

static frz_code run_update_tasks_by_key(frz_catalog *catalog, const scenario_files *files,
                                        frz_error *err)
{
    static const frz_assignment all = {"a", "s.id + 1000"};
    frz_row_source source = source_of(files);
    return run_tasks(catalog, &all, 1, "t.id = s.id AND t.s = s.s", &source, err);
}

const fault_scenario scenarios[] = {
    {"import", run_import, -1, SUM_IMPORTED, BASE_EMPTY, 1},
    {"update all", run_update_all, SUM_IMPORTED, SUM_UPDATED, BASE_IMPORTED, 0},
    {"update some", run_update_some, SUM_UPDATED, SUM_UPDATED - 999.0 * ROWS / 2, BASE_UPDATED, 0},
    {"compact", run_compact, SUM_UPDATED, SUM_UPDATED, BASE_UPDATED, 0},
    {"delete", run_delete, SUM_UPDATED, SUM_DELETED, BASE_UPDATED, 0},
    {"update some in leaves", run_update_some, SUM_DELETED, SUM_DELETED - 999.0 * ROWS / 2,
     BASE_DELETED, 0},
    {"update some by tasks", run_update_tasks, SUM_DELETED, SUM_DELETED - 999.0 * ROWS / 2,
     BASE_DELETED, 0},
    {"compact leaves", run_compact, SUM_DELETED, SUM_DELETED, BASE_DELETED, 0},
    {"update some by copy-on-write", run_update_some, SUM_UPDATED, SUM_UPDATED - 999.0 * ROWS / 2,
     BASE_REWRITING, 0},
    {"delete by copy-on-write", run_delete, SUM_UPDATED, SUM_DELETED, BASE_REWRITING, 0},
    {"update some by merge-on-read", run_update_some, SUM_DELETED, SUM_DELETED - 999.0 * ROWS / 2,
     BASE_MOVING, 0},
    {"append", run_append, SUM_IMPORTED, 2 * SUM_IMPORTED, BASE_IMPORTED, 1},
    {"update by key", run_update_by_key, SUM_IMPORTED, SUM_UPDATED, BASE_IMPORTED, 0},
    {"update by key by tasks", run_update_tasks_by_key, SUM_IMPORTED, SUM_UPDATED, BASE_IMPORTED,
     0},
    {"update by key on disk", run_update_spilled, SUM_IMPORTED, SUM_IMPORTED + 4000.0,
     BASE_IMPORTED, 0},
    {"merge", run_merge, SUM_IMPORTED, SUM_MERGED, BASE_IMPORTED, 0},
    {"merge by copy-on-write", run_merge, SUM_UPDATED, SUM_MERGED, BASE_REWRITING, 0},
    {"merge by merge-on-read", run_merge, SUM_DELETED, SUM_MERGED, BASE_MOVING, 0},
    {"update by position", run_update_by_position, SUM_IMPORTED, SUM_UPDATED, BASE_IMPORTED, 0},
    {"compact columns", run_compact_columns, SUM_UPDATED, SUM_UPDATED, BASE_TWICE, 0},
    {"combine", run_combine, SUM_UPDATED, SUM_UPDATED, BASE_SMALL, 0},
    {"update in a leaf", run_update_all, SUM_IMPORTED, SUM_UPDATED, BASE_LEAF, 0},
    {"delete in a leaf", run_delete_file, SUM_IMPORTED, SUM_FILE_DELETED, BASE_LEAF, 0},
    {"leave a partition", run_leave_partition, SUM_IMPORTED, SUM_UPDATED, BASE_TUPLES, 0},
    {"expire", run_expire, SUM_DELETED, SUM_DELETED, BASE_DELETED, 0},
    {"remove orphans", run_orphans, SUM_DELETED, SUM_DELETED, BASE_LITTERED, 0},
};
const size_t scenario_count = sizeof scenarios / sizeof scenarios[0];

/* ---- prepared folders ---- */

static const frz_type *table_type(void)
{
    static frz_field fields[4];
    static frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 4};
    fields[0] = (frz_field){.id = 1,
                            .required = true,
                            .name = FRZ_STR("id"),
                            .type = frz_type_primitive(FRZ_TYPE_LONG)};
    fields[1] = (frz_field){.id = 2,
                            .required = false,
                            .name = FRZ_STR("a"),
                            .type = frz_type_primitive(FRZ_TYPE_DOUBLE)};
    fields[2] = (frz_field){.id = 3,
                            .required = false,
                            .name = FRZ_STR("b"),
                            .type = frz_type_primitive(FRZ_TYPE_LONG)};
    fields[3] = (frz_field){.id = 4,
                            .required = false,
                            .name = FRZ_STR("s"),
                            .type = frz_type_primitive(FRZ_TYPE_STRING)};
    return &type;
}

static frz_code append_row(frz_builder *rows, int64_t id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char text[32];
    snprintf(text, sizeof text, "row %lld", (long long)id);
    FRZ_TRY(frz_builder_i64(frz_builder_child(rows, 0), id, err));
    FRZ_TRY(frz_builder_f64(frz_builder_child(rows, 1), (double)id, err));
    FRZ_TRY(id % 5 == 0 ? frz_builder_null(frz_builder_child(rows, 2), err)
                        : frz_builder_i64(frz_builder_child(rows, 2), id * 10, err));
    FRZ_TRY(frz_builder_bytes(frz_builder_child(rows, 3), frz_str_from(text), err));
    FRZ_TRY(frz_builder_end(rows, err));
out:
    return rc;
}

static frz_code write_file(const frz_env *env, const char *path, int64_t first, int64_t end,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *rows = NULL;
    struct ArrowArray batch = {0};
    frz_parquet_writer *writer = NULL;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    opts.group_rows = 20;
    FRZ_TRY(frz_builder_new(env, table_type(), &rows, err));
    for (int64_t id = first; id < end; id++) {
        FRZ_TRY(append_row(rows, id, err));
    }
    FRZ_TRY(frz_builder_finish(rows, &batch, err));
    FRZ_TRY(frz_parquet_writer_open(env, path, table_type(), &opts, &writer, err));
    FRZ_TRY(frz_parquet_writer_write(writer, &batch, err));
    rc = frz_parquet_writer_finish(writer, false, NULL, NULL, err);
    writer = NULL;
out:
    frz_parquet_writer_abort(writer);
    frz_array_release(&batch);
    frz_builder_free(rows);
    return rc;
}

static int shell(const char *fmt, ...)
{
    char command[SCENARIO_PATH * 4];
    va_list args;
    va_start(args, fmt);
    vsnprintf(command, sizeof command, fmt, args);
    va_end(args);
    return system(command);
}

frz_env *scenario_env(int faults, const frz_allocator *allocator)
{
    frz_env *env = NULL;
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    opts.allocator = allocator;
    if (faults) {
        fault_vfs_register();
        opts.storage = &fault_storage;
        opts.sqlite_vfs = FAULT_VFS;
    }
    return frz_env_new(&opts, &env, NULL) == FRZ_OK ? env : NULL;
}

static int report(const char *what, const frz_error *err)
{
    char text[2048];
    frz_error_format(err, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

static char root[SCENARIO_PATH - 64]; /* of the prepared folders */

int scenario_setup(void **state)
{
    (void)state;
    frz_error err = {0};
    char path[SCENARIO_PATH + 32];
    frz_env *env = scenario_env(0, NULL);
    /* memory if there is some: the checks sync thousands of files, the faults sync nothing */
    snprintf(root, sizeof root, "%s/frazil-fault-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (env == NULL || mkdtemp(root) == NULL) {
        return report("cannot prepare", &err);
    }
    snprintf(path, sizeof path, "%s/base0", root);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/base0/one.parquet", root);
    frz_code rc = write_file(env, path, 0, 50, &err);
    snprintf(path, sizeof path, "%s/base0/two.parquet", root);
    rc = rc == FRZ_OK ? write_file(env, path, 50, ROWS, &err) : rc;
    frz_env_free(env);
    return rc == FRZ_OK ? 0 : report("cannot prepare", &err);
}

/* What a prepared folder has beyond the files that tables are made of. */
static frz_code prepare(frz_catalog *catalog, const scenario_files *files, int base, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(base == BASE_LEAF ? run_import_leaf(catalog, files, err)
                              : run_import(catalog, files, err));
    if (base == BASE_TUPLES) {
        FRZ_TRY(test_leave_tuples(catalog, "db.t", err));
    }
    if (base < BASE_UPDATED) {
        return FRZ_OK;
    }
    FRZ_TRY(run_update_all(catalog, files, err));
    if (base == BASE_TWICE || base == BASE_SMALL) {
        FRZ_TRY(run_update_b(catalog, files, err));
    }
    if (base == BASE_SMALL) {
        FRZ_TRY(set_property(catalog, "write.compact.min-small-files", "2", err));
    }
    if (base >= BASE_DELETED && base != BASE_REWRITING) {
        /* from now on every entry is in a leaf */
        FRZ_TRY(set_property(catalog, "write.root-manifest.max-entries", "0", err));
        FRZ_TRY(run_delete(catalog, files, err));
    }
    if (base >= BASE_REWRITING) {
        FRZ_TRY(set_modes(catalog, base == BASE_MOVING ? "merge-on-read" : "copy-on-write", err));
    }
out:
    return rc;
}

static int base_now; /* scenario_run takes no more than what it runs */

static frz_code prepare_now(frz_catalog *catalog, const scenario_files *files, frz_error *err)
{
    return prepare(catalog, files, base_now, err);
}

/* Locations in the table are absolute, so a table is made at the place where it is used. */
int scenario_reset(const fault_scenario *scenario, char folder[SCENARIO_PATH])
{
    frz_error err = {0};
    char kept[SCENARIO_PATH + 32];
    snprintf(folder, SCENARIO_PATH, "%s/work", root);
    snprintf(kept, sizeof kept, "%s/base%d", root, scenario->base);
    if (shell("rm -rf '%s'", folder) != 0) {
        return 1;
    }
    if (access(kept, F_OK) == 0) {
        return shell("cp -r '%s' '%s'", kept, folder);
    }
    frz_env *env = scenario_env(0, NULL);
    base_now = scenario->base;
    frz_code rc = shell("cp -r '%s/base0' '%s'", root, folder) == 0 ? FRZ_OK : FRZ_E_IO;
    rc = rc == FRZ_OK ? scenario_run(prepare_now, env, folder, &err) : rc;
    if (rc == FRZ_OK && scenario->base == BASE_LITTERED &&
        shell(
            "for i in 1 2 3; do cp '%s/one.parquet' '%s/warehouse/db/t/data/left-'$i.parquet; done",
            folder, folder) != 0) {
        rc = FRZ_E_IO;
    }
    frz_env_free(env);
    return rc == FRZ_OK ? shell("cp -r '%s' '%s'", folder, kept) : report("cannot reset", &err);
}

int scenario_teardown(void **state)
{
    (void)state;
    return shell("rm -rf '%s'", root);
}

/* ---- checks ---- */

/* As many as there may be, also after a delete or an append. */
static bool is_whole(int64_t rows)
{
    return rows == ROWS || rows == ROWS - ROWS_DELETED || rows == 2 * ROWS || rows == ROWS_OF_FILE;
}

static frz_code add_up(frz_scan *scan, double *sum, int64_t *rows, frz_error *err)
{
    struct ArrowArray batch = {0};
    frz_code rc;
    for (rc = frz_scan_next(scan, &batch, err); rc == FRZ_OK;
         rc = frz_scan_next(scan, &batch, err)) {
        for (int64_t i = 0; i < batch.length; i++) {
            *sum += frz_get_f64(batch.children[0], i);
        }
        *rows += batch.length;
        frz_array_release(&batch);
    }
    return rc == FRZ_END ? FRZ_OK : rc;
}

/* A table of a folder, and the catalog that it is in. */
typedef struct open_table {
    frz_catalog *catalog;
    frz_table *table;
} open_table;

static frz_code table_open(const frz_env *env, const char *folder, open_table *out, frz_error *err)
{
    *out = (open_table){.table = NULL};
    frz_code rc = open_catalog(env, folder, &out->catalog, err);
    return rc == FRZ_OK ? frz_catalog_load_table(out->catalog, "db.t", &out->table, err) : rc;
}

static void table_close(open_table *t)
{
    frz_table_unref(t->table);
    frz_catalog_close(t->catalog);
}

static frz_code check_whole(int64_t rows, frz_error *err)
{
    return is_whole(rows)
               ? FRZ_OK
               : frz_fail(err, FRZ_E_INTERNAL, "%lld rows instead of %d", (long long)rows, ROWS);
}

static const char *const column_a[] = {"a"};

frz_code scenario_sum(const frz_env *env, const char *folder, double *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_scan_options opts = FRZ_SCAN_OPTIONS_INIT;
    open_table t;
    frz_scan *scan = NULL;
    int64_t rows = 0;
    opts.columns = column_a;
    opts.column_count = 1;
    *out = 0;
    FRZ_TRY(table_open(env, folder, &t, err));
    FRZ_TRY(frz_scan_open(t.table, &opts, &scan, err));
    FRZ_TRY(add_up(scan, out, &rows, err));
    rc = check_whole(rows, err);
out:
    frz_scan_close(scan);
    table_close(&t);
    return rc;
}

static frz_code append(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_buf_append(ctx, bytes, len, err);
}

/* Write a task, make it again of its text, and read it. */
static frz_code add_up_task(const frz_env *env, const frz_task *task, double *sum, int64_t *rows,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_task *again = NULL;
    frz_scan *scan = NULL;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_task_write(task, append, &text, err));
    FRZ_TRY(frz_task_parse(env, (const char *)text.data, text.len, NULL, &again, err));
    FRZ_TRY(frz_task_scan(again, &scan, err));
    FRZ_TRY(add_up(scan, sum, rows, err));
out:
    frz_scan_close(scan);
    frz_task_unref(again);
    frz_buf_reset(&text);
    return rc;
}

frz_code scenario_task_sum(const frz_env *env, const char *folder, double *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_plan_options opts = FRZ_PLAN_OPTIONS_INIT;
    open_table t;
    frz_plan *plan = NULL;
    frz_task *task = NULL;
    int64_t rows = 0;
    opts.columns = column_a;
    opts.column_count = 1;
    opts.target_bytes = 1000; /* several parts of a file */
    opts.open_file_bytes = 1;
    *out = 0;
    FRZ_TRY(table_open(env, folder, &t, err));
    FRZ_TRY(frz_plan_open(t.table, &opts, &plan, err));
    while ((rc = frz_plan_next(plan, &task, err)) == FRZ_OK) {
        FRZ_TRY(add_up_task(env, task, out, &rows, err));
        frz_task_unref(task);
        task = NULL;
    }
    rc = rc == FRZ_END ? check_whole(rows, err) : rc;
out:
    frz_task_unref(task);
    frz_plan_close(plan);
    table_close(&t);
    return rc;
}

frz_code scenario_count_rows(struct ArrowArrayStream *stream, int64_t *rows, frz_error *err)
{
    struct ArrowArray batch = {0};
    int os_error = 0;
    for (;;) {
        os_error = stream->get_next(stream, &batch);
        if (os_error != 0 || batch.release == NULL) {
            break;
        }
        *rows += batch.length;
        frz_array_release(&batch);
    }
    frz_code rc = os_error == 0 ? FRZ_OK : frz_stream_fail(stream, os_error, err);
    stream->release(stream);
    return rc;
}

frz_code scenario_changes(const frz_env *env, const char *folder, int64_t *files, int64_t *rows,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    open_table t;
    struct ArrowArrayStream stream = {0};
    *files = *rows = 0;
    FRZ_TRY(table_open(env, folder, &t, err));
    FRZ_TRY(frz_changes_files(t.table, NULL, &stream, err));
    FRZ_TRY(scenario_count_rows(&stream, files, err));
    FRZ_TRY(frz_changes_rows(t.table, NULL, &stream, err));
    rc = scenario_count_rows(&stream, rows, err);
out:
    table_close(&t);
    return rc;
}

static void print_finding(void *ctx, const char *location, const char *text)
{
    (void)ctx;
    fprintf(stderr, "finding: %s: %s\n", location, text);
}

static frz_code validate(const frz_env *env, const char *folder, frz_error *err)
{
    frz_code rc = FRZ_OK;
    open_table t;
    int64_t findings = 0;
    FRZ_TRY(table_open(env, folder, &t, err));
    FRZ_TRY(frz_validate(t.table, print_finding, NULL, &findings, err));
    if (findings != 0) {
        rc = frz_fail(err, FRZ_E_INTERNAL, "validate has %lld findings", (long long)findings);
    }
out:
    table_close(&t);
    return rc;
}

/* sum(a), or -1 if there is no table; then the table must be sound. */
static frz_code state_of(const frz_env *env, const char *folder, double *sum, frz_error *err)
{
    frz_code rc = scenario_sum(env, folder, sum, err);
    if (rc == FRZ_E_NOT_FOUND) {
        char text[1024];
        frz_error_format(err, text, sizeof text);
        if (strstr(text, "table") == NULL) {
            return rc; /* a file is missing, not the table */
        }
        *sum = -1;
        return FRZ_OK;
    }
    return rc == FRZ_OK ? validate(env, folder, err) : rc;
}

/* Do it once more, if it was not done or can be done twice, and clean up: nothing that is needed
 * goes with what was left behind. */
static frz_code finish(const fault_scenario *scenario, const frz_env *env, const char *folder,
                       bool again, double *sum, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (again) {
        FRZ_TRY(scenario_run(scenario->run, env, folder, err));
    }
    FRZ_TRY(scenario_run(run_orphans, env, folder, err));
    FRZ_TRY(state_of(env, folder, sum, err));
out:
    return rc;
}

int scenario_check(const fault_scenario *scenario, const char *folder, int must_be_new,
                   int *was_new)
{
    frz_error err = {0};
    double sum = 0;
    int wrong = 0;
    frz_env *env = scenario_env(0, NULL);
    if (state_of(env, folder, &sum, &err) != FRZ_OK) {
        wrong = report("after the fault", &err);
        goto out;
    }
    *was_new = sum == scenario->after && (scenario->before != scenario->after || must_be_new);
    if (sum != scenario->after && (must_be_new || sum != scenario->before)) {
        fprintf(stderr, "%s: sum(a) is %g, not %g or %g\n", scenario->name, sum, scenario->before,
                scenario->after);
        wrong = 1;
        goto out;
    }
    if (finish(scenario, env, folder, sum != scenario->after || !scenario->once, &sum, &err) !=
        FRZ_OK) {
        wrong = report("the next operation", &err);
        goto out;
    }
    if (sum != scenario->after) {
        fprintf(stderr, "%s: after the next operation sum(a) is %g\n", scenario->name, sum);
        wrong = 1;
    }
out:
    frz_env_free(env);
    return wrong;
}
