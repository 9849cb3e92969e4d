/*
 * The SQLite catalog, in the layout of the JDBC catalog (schema V1; V0, without iceberg_type, is
 * read and written as it is).
 *
 * Invariants:
 *  1. The pointer of a table changes in one transaction that compares the old value.
 *  2. A writing connection uses synchronous=EXTRA, so that a commit that was reported is there
 *     after a power cut. A file that others made keeps its journal mode.
 *  3. If COMMIT fails for any other reason than a lock, a fresh connection reads the pointer, and
 *     what it finds is the answer; if it cannot tell, the outcome is unknown.
 *  4. No lock is held while a caller's function runs.
 *  5. A file comes into being with the first table, not by looking at it.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "catalog/catalog_internal.h"

#define WAIT_MS 10000
#define DEFAULT_NAME "frazil"
#define NAME_SIZE 256
#define LISTING_MAX ((size_t)1 << 30)

typedef struct sqlite_catalog {
    const frz_env *env;
    char *path;
    char name[NAME_SIZE]; /* catalog_name of the rows; empty: not known yet */
    sqlite3 *db;          /* NULL: the file is not there yet */
    bool has_tables;      /* iceberg_tables exists */
    bool has_type;        /* schema V1 */
    bool has_namespaces;  /* iceberg_namespace_properties exists */
    bool durable;         /* synchronous=EXTRA was set on this connection */
    int wait_ms;
} sqlite_catalog;

static const char sql_create_tables[] = "CREATE TABLE IF NOT EXISTS iceberg_tables ("
                                        "catalog_name VARCHAR(255) NOT NULL, "
                                        "table_namespace VARCHAR(255) NOT NULL, "
                                        "table_name VARCHAR(255) NOT NULL, "
                                        "metadata_location VARCHAR(1000), "
                                        "previous_metadata_location VARCHAR(1000), "
                                        "iceberg_type VARCHAR(5), "
                                        "PRIMARY KEY (catalog_name, table_namespace, table_name))";

static const char sql_create_namespaces[] = "CREATE TABLE IF NOT EXISTS "
                                            "iceberg_namespace_properties ("
                                            "catalog_name VARCHAR(255) NOT NULL, "
                                            "namespace VARCHAR(255) NOT NULL, "
                                            "property_key VARCHAR(255) NOT NULL, "
                                            "property_value VARCHAR(1000) NOT NULL, "
                                            "PRIMARY KEY (catalog_name, namespace, property_key))";

/* Rows of other types, such as views, are not tables; V0 has tables only. */
#define ROW_OF "catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3"
#define IS_TABLE " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)"

/* ---- errors ---- */

static frz_code fail_sqlite(const sqlite_catalog *c, int code, frz_error *err)
{
    const char *text = c->db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(c->db);
    int os_error = c->db == NULL ? 0 : sqlite3_system_errno(c->db);
    frz_code rc = FRZ_E_IO;
    switch (code & 0xFF) {
    case SQLITE_NOMEM:
        return frz_fail_nomem(err, 0);
    case SQLITE_NOTADB:
        return frz_fail(err, FRZ_E_CORRUPT, "catalog %s is not a SQLite database", c->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        rc = frz_fail(err, FRZ_E_IO, "catalog %s is locked by another process", c->path);
        frz_hint(err, "try again when the other process is done");
        return rc;
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* the layout is not what it should be */
        rc = frz_fail(err, FRZ_E_CORRUPT, "catalog %s: %s", c->path, text);
        break;
    default: /* READONLY, FULL, CANTOPEN, IOERR, PERM, … */
        rc = frz_fail(err, FRZ_E_IO, "catalog %s: %s", c->path, text);
        break;
    }
    if (err != NULL) {
        err->os_error = os_error;
    }
    return rc;
}

/* ---- statements ---- */

static frz_code exec(sqlite_catalog *c, const char *sql, frz_error *err)
{
    int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? FRZ_OK : fail_sqlite(c, code, err);
}

/* Texts are bound in order and must live until the statement is finalized; NULL binds null. */
static frz_code prepare(sqlite_catalog *c, const char *sql, const char *const *texts, size_t count,
                        sqlite3_stmt **out, frz_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL);
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        code = sqlite3_bind_text(statement, (int)i + 1, texts[i], -1, SQLITE_STATIC);
    }
    if (code != SQLITE_OK) {
        frz_code rc = fail_sqlite(c, code, err);
        sqlite3_finalize(statement);
        return rc;
    }
    *out = statement;
    return FRZ_OK;
}

/* FRZ_OK: there is a row; FRZ_END: there are no more. */
static frz_code step(sqlite_catalog *c, sqlite3_stmt *statement, frz_error *err)
{
    int code = sqlite3_step(statement);
    return code == SQLITE_ROW ? FRZ_OK : code == SQLITE_DONE ? FRZ_END : fail_sqlite(c, code, err);
}

/* A statement without rows. */
static frz_code run(sqlite_catalog *c, const char *sql, const char *const *texts, size_t count,
                    frz_error *err)
{
    sqlite3_stmt *statement = NULL;
    frz_code rc = prepare(c, sql, texts, count, &statement, err);
    if (rc == FRZ_OK) {
        rc = step(c, statement, err);
        rc = rc == FRZ_END ? FRZ_OK : rc;
    }
    sqlite3_finalize(statement);
    return rc;
}

/* ---- connections ---- */

static void disconnect(sqlite_catalog *c)
{
    sqlite3_close(c->db);
    c->db = NULL;
    c->durable = false;
    c->has_tables = false;
}

static frz_code connect(sqlite_catalog *c, bool create, frz_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (create ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(c->path, &c->db, flags, c->env->sqlite_vfs);
    if (code != SQLITE_OK) {
        frz_code rc = fail_sqlite(c, code, err);
        disconnect(c);
        return rc;
    }
    sqlite3_busy_timeout(c->db, c->wait_ms);
    return FRZ_OK;
}

/* True for a file with content: an empty one is a catalog that is yet to be made. */
static frz_code file_exists(const sqlite_catalog *c, bool *exists, frz_error *err)
{
    int found = 0;
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) {
        return fail_sqlite(c, code, err);
    }
    sqlite3_vfs *vfs = sqlite3_vfs_find(c->env->sqlite_vfs);
    if (vfs == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "there is no SQLite VFS \"%s\"",
                        c->env->sqlite_vfs == NULL ? "" : c->env->sqlite_vfs);
    }
    if (vfs->xAccess(vfs, c->path, SQLITE_ACCESS_EXISTS, &found) != SQLITE_OK) {
        return frz_fail(err, FRZ_E_IO, "catalog %s cannot be looked up", c->path);
    }
    *exists = found != 0;
    return FRZ_OK;
}

static frz_code has_column(sqlite_catalog *c, const char *table, const char *column, bool *out,
                           frz_error *err)
{
    int code =
        sqlite3_table_column_metadata(c->db, NULL, table, column, NULL, NULL, NULL, NULL, NULL);
    if (code != SQLITE_OK && code != SQLITE_ERROR) {
        return fail_sqlite(c, code, err);
    }
    *out = code == SQLITE_OK;
    return FRZ_OK;
}

/* The only catalog_name of a table's rows into name; several names and none leave it empty. */
static frz_code only_name(sqlite_catalog *c, const char *sql, frz_error *err)
{
    sqlite3_stmt *statement = NULL;
    frz_code rc = FRZ_OK;
    FRZ_TRY(prepare(c, sql, NULL, 0, &statement, err));
    FRZ_TRY(step(c, statement, err));
    const char *least = (const char *)sqlite3_column_text(statement, 0);
    const char *most = (const char *)sqlite3_column_text(statement, 1);
    if (least != NULL && most != NULL && strlen(least) < NAME_SIZE) {
        strncpy(c->name, strcmp(least, most) == 0 ? least : DEFAULT_NAME, NAME_SIZE - 1);
    }
out:
    sqlite3_finalize(statement);
    return rc;
}

static frz_code find_name(sqlite_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (c->name[0] == '\0') {
        FRZ_TRY(only_name(c,
                          "SELECT (SELECT min(catalog_name) FROM iceberg_tables), "
                          "(SELECT max(catalog_name) FROM iceberg_tables)",
                          err));
    }
    if (c->name[0] == '\0' && c->has_namespaces) {
        FRZ_TRY(only_name(c,
                          "SELECT (SELECT min(catalog_name) FROM iceberg_namespace_properties), "
                          "(SELECT max(catalog_name) FROM iceberg_namespace_properties)",
                          err));
    }
out:
    return rc;
}

/* Connect if the file is there, and learn its layout. Cheap when that was done before. */
static frz_code attach(sqlite_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool exists = c->db != NULL;
    if (!exists) {
        FRZ_TRY(file_exists(c, &exists, err));
        if (!exists) {
            return FRZ_OK;
        }
        FRZ_TRY(connect(c, false, err));
    }
    if (!c->has_tables) {
        FRZ_TRY(has_column(c, "iceberg_tables", NULL, &c->has_tables, err));
        FRZ_TRY(has_column(c, "iceberg_tables", "iceberg_type", &c->has_type, err));
        FRZ_TRY(has_column(c, "iceberg_namespace_properties", NULL, &c->has_namespaces, err));
    }
    if (c->has_tables) {
        FRZ_TRY(find_name(c, err));
    }
out:
    return rc;
}

static const char *row_name(const sqlite_catalog *c)
{
    return c->name[0] == '\0' ? DEFAULT_NAME : c->name;
}

/* ---- reading ---- */

static frz_code read_pointer(sqlite_catalog *c, const frz_table_name *name, char **location,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    sqlite3_stmt *statement = NULL;
    const char *texts[] = {row_name(c), name->namespace_name, name->table_name};
    FRZ_TRY(attach(c, err));
    if (!c->has_tables) {
        return catalog_no_table(name, c->path, err);
    }
    texts[0] = row_name(c);
    FRZ_TRY(prepare(c,
                    c->has_type
                        ? "SELECT metadata_location FROM iceberg_tables WHERE " ROW_OF IS_TABLE
                        : "SELECT metadata_location FROM iceberg_tables WHERE " ROW_OF,
                    texts, FRZ_ARRAY_COUNT(texts), &statement, err));
    rc = step(c, statement, err);
    if (rc == FRZ_END) {
        rc = catalog_no_table(name, c->path, err);
    }
    FRZ_TRY(rc);
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (text == NULL || text[0] == '\0') {
        rc = frz_fail(err, FRZ_E_CORRUPT, "catalog %s: table %s.%s has no metadata_location",
                      c->path, name->namespace_name, name->table_name);
        goto out;
    }
    char *copy = frz_strdup(c->env, frz_str_from(text));
    FRZ_TRY(copy == NULL ? frz_fail_nomem(err, strlen(text)) : FRZ_OK);
    *location = copy;
out:
    sqlite3_finalize(statement);
    return rc;
}

static frz_code sqlite_get(void *ctx, const frz_table_name *name, char **location, frz_error *err)
{
    return read_pointer(ctx, name, location, err);
}

/* All names as "namespace NUL name NUL …". */
static frz_code collect_names(sqlite_catalog *c, frz_buf *names, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sqlite3_stmt *statement = NULL;
    const char *texts[] = {row_name(c)};
    FRZ_TRY(prepare(c,
                    c->has_type ? "SELECT table_namespace, table_name FROM iceberg_tables "
                                  "WHERE catalog_name = ?1" IS_TABLE " ORDER BY 1, 2"
                                : "SELECT table_namespace, table_name FROM iceberg_tables "
                                  "WHERE catalog_name = ?1 ORDER BY 1, 2",
                    texts, 1, &statement, err));
    for (rc = step(c, statement, err); rc == FRZ_OK; rc = step(c, statement, err)) {
        for (int column = 0; column < 2; column++) {
            const char *text = (const char *)sqlite3_column_text(statement, column);
            text = text == NULL ? "" : text;
            FRZ_TRY(frz_buf_append(names, text, strlen(text) + 1, err));
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    sqlite3_finalize(statement);
    return rc;
}

static frz_code sqlite_list(void *ctx, frz_catalog_visit visit, void *visit_ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sqlite_catalog *c = ctx;
    frz_buf names = FRZ_BUF_INIT(c->env, LISTING_MAX);
    FRZ_TRY(attach(c, err));
    if (c->has_tables) {
        FRZ_TRY(collect_names(c, &names, err));
    }
    const char *p = (const char *)names.data;
    const char *end = p == NULL ? NULL : p + names.len;
    while (p != end) {
        const char *table = p + strlen(p) + 1;
        if (visit(visit_ctx, p, table) != 0) {
            break;
        }
        p = table + strlen(table) + 1;
    }
out:
    frz_buf_reset(&names);
    return rc;
}

/* ---- writing ---- */

static frz_code begin(sqlite_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!c->durable) {
        FRZ_TRY(exec(c, "PRAGMA synchronous=EXTRA", err));
        c->durable = true;
    }
    FRZ_TRY(exec(c, "BEGIN IMMEDIATE", err));
out:
    return rc;
}

static void roll_back(sqlite_catalog *c)
{
    if (c->db != NULL && sqlite3_get_autocommit(c->db) == 0) {
        (void)sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

/* COMMIT failed: what does the file say now? expected NULL: the row was new. */
static frz_code settle_commit(sqlite_catalog *c, const frz_table_name *name, const char *expected,
                              const char *location, frz_code failure, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *found = NULL;
    frz_error why = {0};
    roll_back(c);
    disconnect(c);
    frz_code read = read_pointer(c, name, &found, &why);
    if (read == FRZ_OK && strcmp(found, location) == 0) {
        frz_error_reset(err);
        goto out;
    }
    bool unchanged =
        expected == NULL ? read == FRZ_E_NOT_FOUND : read == FRZ_OK && strcmp(found, expected) == 0;
    rc = failure;
    if (!unchanged) {
        if (err != NULL) {
            err->code = FRZ_E_COMMIT_UNKNOWN;
        }
        rc = frz_context(err, FRZ_E_COMMIT_UNKNOWN, "the commit may have happened");
    }
out:
    frz_free(c->env, found);
    return rc;
}

static frz_code commit(sqlite_catalog *c, const frz_table_name *name, const char *expected,
                       const char *location, frz_error *err)
{
    int code = sqlite3_exec(c->db, "COMMIT", NULL, NULL, NULL);
    if (code == SQLITE_OK) {
        return FRZ_OK;
    }
    frz_code rc = fail_sqlite(c, code, err);
    if ((code & 0xFF) == SQLITE_BUSY && sqlite3_get_autocommit(c->db) == 0) {
        roll_back(c); /* readers did not let go: nothing was written */
        return rc;
    }
    return settle_commit(c, name, expected, location, rc, err);
}

static frz_code sqlite_swap(void *ctx, const frz_table_name *name, const char *expected,
                            const char *location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    sqlite_catalog *c = ctx;
    FRZ_TRY(attach(c, err));
    if (!c->has_tables) {
        return catalog_no_table(name, c->path, err);
    }
    const char *texts[] = {row_name(c), name->namespace_name, name->table_name, expected, location};
    FRZ_TRY(begin(c, err));
    FRZ_TRY(run(c,
                c->has_type ? "UPDATE iceberg_tables SET metadata_location = ?5, "
                              "previous_metadata_location = ?4 WHERE " ROW_OF
                              " AND metadata_location = ?4" IS_TABLE
                            : "UPDATE iceberg_tables SET metadata_location = ?5, "
                              "previous_metadata_location = ?4 WHERE " ROW_OF
                              " AND metadata_location = ?4",
                texts, FRZ_ARRAY_COUNT(texts), err));
    if (sqlite3_changes(c->db) == 0) {
        rc = frz_fail(err, FRZ_E_CONFLICT, "table %s.%s was changed by another writer",
                      name->namespace_name, name->table_name);
        goto out;
    }
    rc = commit(c, name, expected, location, err);
out:
    if (rc != FRZ_OK) {
        roll_back(c);
    }
    return rc;
}

/* Folders above the file; new ones are made durable. */
static frz_code make_folders(const sqlite_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *path = frz_strdup(c->env, frz_str_from(c->path));
    if (path == NULL) {
        return frz_fail_nomem(err, strlen(c->path));
    }
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) == 0) {
            FRZ_TRY(frz_sync_dir(c->env, path, err));
        } else if (errno != EEXIST) {
            rc = frz_fail_os(err, errno, "folder %s of the catalog cannot be made", path);
            goto out;
        }
        *slash = '/';
    }
out:
    frz_free(c->env, path);
    return rc;
}

static frz_code create_layout(sqlite_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!c->has_tables) {
        FRZ_TRY(exec(c, sql_create_tables, err));
    }
    if (!c->has_namespaces) {
        FRZ_TRY(exec(c, sql_create_namespaces, err));
    }
    /* another process may have made them first, in either schema */
    c->has_tables = true;
    FRZ_TRY(has_column(c, "iceberg_tables", "iceberg_type", &c->has_type, err));
    c->has_namespaces = true;
    FRZ_TRY(find_name(c, err));
out:
    return rc;
}

/* A namespace is there if it has a property; "exists" is the one that others write for it. */
static frz_code insert_namespace(sqlite_catalog *c, const char *namespace_name, frz_error *err)
{
    const char *texts[] = {row_name(c), namespace_name};
    return run(c,
               "INSERT INTO iceberg_namespace_properties "
               "(catalog_name, namespace, property_key, property_value) "
               "SELECT ?1, ?2, 'exists', 'true' WHERE NOT EXISTS (SELECT 1 FROM "
               "iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2)",
               texts, FRZ_ARRAY_COUNT(texts), err);
}

static frz_code insert_row(sqlite_catalog *c, const frz_table_name *name, const char *location,
                           frz_error *err)
{
    const char *texts[] = {row_name(c), name->namespace_name, name->table_name, location};
    frz_code rc = run(c,
                      c->has_type ? "INSERT INTO iceberg_tables (catalog_name, table_namespace, "
                                    "table_name, metadata_location, iceberg_type) "
                                    "VALUES (?1, ?2, ?3, ?4, 'TABLE')"
                                  : "INSERT INTO iceberg_tables (catalog_name, table_namespace, "
                                    "table_name, metadata_location) VALUES (?1, ?2, ?3, ?4)",
                      texts, FRZ_ARRAY_COUNT(texts), err);
    if (rc != FRZ_OK && (sqlite3_errcode(c->db) & 0xFF) == SQLITE_CONSTRAINT) {
        rc = frz_fail(err, FRZ_E_EXISTS, "%s.%s exists already in %s", name->namespace_name,
                      name->table_name, c->path);
    }
    return rc;
}

static frz_code sqlite_create(void *ctx, const frz_table_name *name, const char *location,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    sqlite_catalog *c = ctx;
    FRZ_TRY(attach(c, err));
    if (c->db == NULL) {
        FRZ_TRY(make_folders(c, err));
        FRZ_TRY(connect(c, true, err));
    }
    FRZ_TRY(begin(c, err));
    FRZ_TRY(create_layout(c, err));
    FRZ_TRY(insert_namespace(c, name->namespace_name, err));
    FRZ_TRY(insert_row(c, name, location, err));
    rc = commit(c, name, NULL, location, err);
out:
    if (rc != FRZ_OK) {
        roll_back(c);
        c->has_tables = false; /* what was made in the transaction is gone: look again */
    }
    return rc;
}

/* ---- opening ---- */

static void sqlite_catalog_close(void *ctx)
{
    sqlite_catalog *c = ctx;
    if (c == NULL) {
        return;
    }
    disconnect(c);
    frz_free(c->env, c->path);
    frz_free(c->env, c);
}

static const frz_catalog_ops sqlite_ops = {
    .get = sqlite_get,
    .create = sqlite_create,
    .swap = sqlite_swap,
    .list = sqlite_list,
    .close = sqlite_catalog_close,
};

const char *catalog_sqlite_path(const char *uri)
{
    static const char jdbc[] = "jdbc:", scheme[] = "sqlite:";
    if (strncmp(uri, jdbc, sizeof jdbc - 1) == 0) {
        uri += sizeof jdbc - 1;
    }
    if (strncmp(uri, scheme, sizeof scheme - 1) != 0) {
        return NULL;
    }
    const char *path = uri + sizeof scheme - 1;
    size_t slashes = strspn(path, "/");
    if (slashes == 2 || path[slashes] == '\0') {
        return NULL; /* sqlite://host, or no file */
    }
    return slashes > 1 ? path + slashes - 1 : path;
}

void catalog_sqlite_set_wait(void *ctx, int milliseconds)
{
    sqlite_catalog *c = ctx;
    c->wait_ms = milliseconds;
    if (c->db != NULL) {
        sqlite3_busy_timeout(c->db, milliseconds);
    }
}

frz_code frz_catalog_sqlite_open(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                                 const frz_catalog_ops **ops, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *path = catalog_sqlite_path(opts->uri);
    sqlite_catalog *c = NULL;
    if (path == NULL) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "catalog \"%s\" does not name a file", opts->uri);
        frz_hint(err, "write sqlite:///path/catalog.db, or sqlite:catalog.db for a relative path");
        return rc;
    }
    c = frz_alloc_zero(env, 1, sizeof *c);
    if (c == NULL) {
        return frz_fail_nomem(err, sizeof *c);
    }
    c->env = env;
    c->wait_ms = WAIT_MS;
    c->path = frz_strdup(env, frz_str_from(path));
    FRZ_TRY(c->path == NULL ? frz_fail_nomem(err, strlen(path)) : FRZ_OK);
    FRZ_TRY(catalog_set_name(opts->name, c->name, sizeof c->name, err));
    FRZ_TRY(attach(c, err));
    if (opts->must_exist && !c->has_tables) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND, "there is no catalog at %s", c->path);
        frz_hint(err, "\"frazil import\" makes a catalog with its first table");
        goto out;
    }
    *ctx = c;
    *ops = &sqlite_ops;
    c = NULL;
out:
    sqlite_catalog_close(c);
    return rc;
}
