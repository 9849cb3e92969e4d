/*
 * The catalog in a PostgreSQL database, in the layout of the JDBC catalog (schema V1; V0, without
 * iceberg_type, is read and written as it is). libpq is loaded when the first such catalog is
 * opened.
 *
 * Invariants:
 *  1. The pointer of a table changes by one UPDATE that compares the old value, in a transaction of
 *     its own.
 *  2. A connection lost before COMMIT was sent changed nothing. Lost at COMMIT: a fresh connection
 *     reads the pointer; the new value is success, anything else is unknown, because the server may
 *     still be committing.
 *  3. No lock is held while a caller's function runs.
 *  4. Neither messages nor the log hold a password.
 */
#include <libpq-fe.h>
#include <stdlib.h>

#include "catalog/catalog_internal.h"

#define DEFAULT_NAME "frazil"
#define NAME_SIZE 256
#define MESSAGE_MAX 300
#define LISTING_MAX ((size_t)1 << 30)

/* In the order of the symbols below. */
typedef struct pq_functions {
    __typeof__(PQconninfoParse) *conninfo_parse;
    __typeof__(PQconninfoFree) *conninfo_free;
    __typeof__(PQfreemem) *freemem;
    __typeof__(PQconnectdb) *connect;
    __typeof__(PQfinish) *finish;
    __typeof__(PQstatus) *status;
    __typeof__(PQerrorMessage) *error_message;
    __typeof__(PQsetNoticeProcessor) *set_notice_processor;
    __typeof__(PQexecParams) *exec_params;
    __typeof__(PQresultStatus) *result_status;
    __typeof__(PQresultErrorField) *result_error_field;
    __typeof__(PQntuples) *ntuples;
    __typeof__(PQgetisnull) *getisnull;
    __typeof__(PQgetvalue) *getvalue;
    __typeof__(PQcmdTuples) *cmd_tuples;
    __typeof__(PQclear) *clear;
} pq_functions;

static const char *const pq_symbols[] = {
    "PQconninfoParse", "PQconninfoFree", "PQfreemem",          "PQconnectdb",
    "PQfinish",        "PQstatus",       "PQerrorMessage",     "PQsetNoticeProcessor",
    "PQexecParams",    "PQresultStatus", "PQresultErrorField", "PQntuples",
    "PQgetisnull",     "PQgetvalue",     "PQcmdTuples",        "PQclear"};

_Static_assert(sizeof(pq_functions) == FRZ_ARRAY_COUNT(pq_symbols) * sizeof(void *),
               "one symbol for each function");

static const frz_library libpq = {"libpq.so.5", "libpq5", "a catalog in PostgreSQL", pq_symbols,
                                  FRZ_ARRAY_COUNT(pq_symbols)};

typedef struct postgres_catalog {
    const frz_env *env;
    pq_functions pq;
    char *uri;             /* as libpq wants it, with the password in it */
    char where[NAME_SIZE]; /* for messages: host and database */
    char name[NAME_SIZE];  /* catalog_name of the rows; empty: not known yet */
    PGconn *connection;    /* NULL: not connected */
    bool has_tables;       /* iceberg_tables exists */
    bool has_type;         /* schema V1 */
    bool has_namespaces;   /* iceberg_namespace_properties exists */
} postgres_catalog;

#define ROW_OF "catalog_name = $1 AND table_namespace = $2 AND table_name = $3"
#define IS_TABLE " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)"

static const char sql_create_tables[] =
    "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL, "
    "table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
    "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
    "iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))";

static const char sql_create_namespaces[] =
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties ("
    "catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, "
    "property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000) NOT NULL, "
    "PRIMARY KEY (catalog_name, namespace, property_key))";

/* ---- errors ---- */

/* The first line of a text of libpq, which ends each with a newline. */
static frz_str first_line(const char *text)
{
    frz_str line = {text, strcspn(text, "\n")};
    line.len = FRZ_MIN(line.len, (size_t)MESSAGE_MAX);
    return line;
}

static bool is_lost(const postgres_catalog *c)
{
    return c->connection == NULL || c->pq.status(c->connection) != CONNECTION_OK;
}

static frz_code fail_result(const postgres_catalog *c, const PGresult *result, frz_error *err)
{
    const char *state = c->pq.result_error_field(result, PG_DIAG_SQLSTATE);
    const char *text = c->pq.result_error_field(result, PG_DIAG_MESSAGE_PRIMARY);
    frz_str line = first_line(text != NULL ? text : c->pq.error_message(c->connection));
    state = state == NULL ? "" : state;
    if (strcmp(state, "23505") == 0) { /* unique_violation */
        return frz_fail(err, FRZ_E_EXISTS, "catalog %s: %.*s", c->where, FRZ_STR_ARG(line));
    }
    if (strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0) { /* serialization, deadlock */
        return frz_fail(err, FRZ_E_CONFLICT, "catalog %s: %.*s", c->where, FRZ_STR_ARG(line));
    }
    bool layout = strncmp(state, "42", 2) == 0 && strcmp(state, "42501") != 0;
    return frz_fail(err, layout ? FRZ_E_CORRUPT : FRZ_E_IO, "catalog %s: %.*s", c->where,
                    FRZ_STR_ARG(line));
}

/* ---- statements ---- */

/* rows may be NULL: the statement gives none. Texts are the parameters $1, $2, … */
static frz_code run(postgres_catalog *c, const char *sql, const char *const *texts, int count,
                    PGresult **rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    PGresult *result =
        c->pq.exec_params(c->connection, sql, count, NULL, texts, NULL, NULL, /* as text */ 0);
    if (result == NULL) {
        return frz_fail_nomem(err, 0);
    }
    ExecStatusType status = c->pq.result_status(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        rc = fail_result(c, result, err);
    }
    if (rc == FRZ_OK && rows != NULL) {
        *rows = result;
    } else {
        c->pq.clear(result);
    }
    return rc;
}

/* The number of rows that a statement changed, in changed. */
static frz_code run_change(postgres_catalog *c, const char *sql, const char *const *texts,
                           int count, int64_t *changed, frz_error *err)
{
    PGresult *result = NULL;
    frz_code rc = run(c, sql, texts, count, &result, err);
    if (rc == FRZ_OK) {
        *changed = strtoll(c->pq.cmd_tuples(result), NULL, 10);
        c->pq.clear(result);
    }
    return rc;
}

/* Cell of a result, NULL for null and for rows that are not there. */
static const char *cell(const postgres_catalog *c, const PGresult *result, int row, int column)
{
    return row >= c->pq.ntuples(result) || c->pq.getisnull(result, row, column)
               ? NULL
               : c->pq.getvalue(result, row, column);
}

static void roll_back(postgres_catalog *c)
{
    if (!is_lost(c)) {
        (void)run(c, "ROLLBACK", NULL, 0, NULL, NULL);
    }
}

/* ---- connections ---- */

static void ignore_notice(void *ctx, const char *message)
{
    (void)ctx;
    (void)message;
}

static void disconnect(postgres_catalog *c)
{
    if (c->connection != NULL) {
        c->pq.finish(c->connection);
    }
    c->connection = NULL;
    c->has_tables = false;
}

static frz_code connect(postgres_catalog *c, frz_error *err)
{
    c->connection = c->pq.connect(c->uri);
    if (c->connection == NULL) {
        return frz_fail_nomem(err, 0);
    }
    if (c->pq.status(c->connection) != CONNECTION_OK) {
        frz_str line = first_line(c->pq.error_message(c->connection));
        frz_code rc = frz_fail(err, FRZ_E_IO, "catalog %s cannot be reached: %.*s", c->where,
                               FRZ_STR_ARG(line));
        disconnect(c);
        return rc;
    }
    c->pq.set_notice_processor(c->connection, ignore_notice, NULL);
    return run(c, "SET lock_timeout = '10s'", NULL, 0, NULL, err);
}

static frz_code has_column(postgres_catalog *c, const char *table, const char *column, bool *out,
                           frz_error *err)
{
    PGresult *result = NULL;
    const char *texts[] = {table, column};
    frz_code rc = run(c,
                      "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND "
                      "attname = $2 AND NOT attisdropped",
                      texts, FRZ_ARRAY_COUNT(texts), &result, err);
    if (rc == FRZ_OK) {
        *out = c->pq.ntuples(result) > 0;
        c->pq.clear(result);
    }
    return rc;
}

/* The only catalog_name of a table's rows into name; several names stand for the default. */
static frz_code only_name(postgres_catalog *c, const char *sql, frz_error *err)
{
    PGresult *result = NULL;
    frz_code rc = run(c, sql, NULL, 0, &result, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    const char *least = cell(c, result, 0, 0), *most = cell(c, result, 0, 1);
    if (least != NULL && most != NULL && strlen(least) < NAME_SIZE) {
        strncpy(c->name, strcmp(least, most) == 0 ? least : DEFAULT_NAME, NAME_SIZE - 1);
    }
    c->pq.clear(result);
    return FRZ_OK;
}

/* Connect, and learn the layout. Cheap when that was done before. */
static frz_code attach(postgres_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (is_lost(c)) {
        disconnect(c);
        FRZ_TRY(connect(c, err));
    }
    if (!c->has_tables) {
        FRZ_TRY(has_column(c, "iceberg_tables", "table_name", &c->has_tables, err));
        FRZ_TRY(has_column(c, "iceberg_tables", "iceberg_type", &c->has_type, err));
        FRZ_TRY(
            has_column(c, "iceberg_namespace_properties", "namespace", &c->has_namespaces, err));
    }
    if (c->has_tables && c->name[0] == '\0') {
        FRZ_TRY(
            only_name(c, "SELECT min(catalog_name), max(catalog_name) FROM iceberg_tables", err));
    }
    if (c->has_namespaces && c->name[0] == '\0') {
        FRZ_TRY(only_name(c,
                          "SELECT min(catalog_name), max(catalog_name) "
                          "FROM iceberg_namespace_properties",
                          err));
    }
out:
    return rc;
}

static const char *row_name(const postgres_catalog *c)
{
    return c->name[0] == '\0' ? DEFAULT_NAME : c->name;
}

/* ---- reading ---- */

static frz_code postgres_get(void *ctx, const frz_table_name *name, char **location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    postgres_catalog *c = ctx;
    PGresult *result = NULL;
    FRZ_TRY(attach(c, err));
    if (!c->has_tables) {
        return catalog_no_table(name, c->where, err);
    }
    const char *texts[] = {row_name(c), name->namespace_name, name->table_name};
    FRZ_TRY(run(c,
                c->has_type ? "SELECT metadata_location FROM iceberg_tables WHERE " ROW_OF IS_TABLE
                            : "SELECT metadata_location FROM iceberg_tables WHERE " ROW_OF,
                texts, FRZ_ARRAY_COUNT(texts), &result, err));
    const char *text = cell(c, result, 0, 0);
    if (c->pq.ntuples(result) == 0) {
        rc = catalog_no_table(name, c->where, err);
    } else if (text == NULL || text[0] == '\0') {
        rc = frz_fail(err, FRZ_E_CORRUPT, "catalog %s: table %s.%s has no metadata_location",
                      c->where, name->namespace_name, name->table_name);
    } else {
        char *copy = frz_strdup(c->env, frz_str_from(text));
        rc = copy == NULL ? frz_fail_nomem(err, strlen(text)) : FRZ_OK;
        *location = copy == NULL ? *location : copy;
    }
    c->pq.clear(result);
out:
    return rc;
}

static frz_code postgres_list(void *ctx, frz_catalog_visit visit, void *visit_ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    postgres_catalog *c = ctx;
    PGresult *result = NULL;
    FRZ_TRY(attach(c, err));
    if (!c->has_tables) {
        return FRZ_OK;
    }
    const char *texts[] = {row_name(c)};
    /* in the order of bytes, whatever the collation of the database */
    FRZ_TRY(run(c,
                c->has_type ? "SELECT table_namespace, table_name FROM iceberg_tables WHERE "
                              "catalog_name = $1" IS_TABLE
                              " ORDER BY table_namespace COLLATE \"C\", table_name COLLATE \"C\""
                            : "SELECT table_namespace, table_name FROM iceberg_tables WHERE "
                              "catalog_name = $1"
                              " ORDER BY table_namespace COLLATE \"C\", table_name COLLATE \"C\"",
                texts, FRZ_ARRAY_COUNT(texts), &result, err));
    for (int i = 0; i < c->pq.ntuples(result); i++) {
        if (visit(visit_ctx, c->pq.getvalue(result, i, 0), c->pq.getvalue(result, i, 1)) != 0) {
            break;
        }
    }
    c->pq.clear(result);
out:
    return rc;
}

/* ---- writing ---- */

/* COMMIT failed: what does the server say now? */
static frz_code settle_commit(postgres_catalog *c, const frz_table_name *name, const char *location,
                              frz_error *err)
{
    char *found = NULL;
    frz_error why = {0};
    frz_code rc = FRZ_E_COMMIT_UNKNOWN;
    disconnect(c);
    if (postgres_get(c, name, &found, &why) == FRZ_OK && strcmp(found, location) == 0) {
        frz_error_reset(err);
        rc = FRZ_OK;
    } else {
        if (err != NULL) {
            err->code = rc;
        }
        frz_context(err, rc, "the commit may have happened");
    }
    frz_free(c->env, found);
    return rc;
}

static frz_code commit(postgres_catalog *c, const frz_table_name *name, const char *location,
                       frz_error *err)
{
    frz_code rc = run(c, "COMMIT", NULL, 0, NULL, err);
    return rc != FRZ_OK && is_lost(c) ? settle_commit(c, name, location, err) : rc;
}

static frz_code postgres_swap(void *ctx, const frz_table_name *name, const char *expected,
                              const char *location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    postgres_catalog *c = ctx;
    int64_t changed = 0;
    FRZ_TRY(attach(c, err));
    if (!c->has_tables) {
        return catalog_no_table(name, c->where, err);
    }
    const char *texts[] = {row_name(c), name->namespace_name, name->table_name, expected, location};
    FRZ_TRY(run(c, "BEGIN", NULL, 0, NULL, err));
    FRZ_TRY(run_change(c,
                       c->has_type ? "UPDATE iceberg_tables SET metadata_location = $5, "
                                     "previous_metadata_location = $4 WHERE " ROW_OF
                                     " AND metadata_location = $4" IS_TABLE
                                   : "UPDATE iceberg_tables SET metadata_location = $5, "
                                     "previous_metadata_location = $4 WHERE " ROW_OF
                                     " AND metadata_location = $4",
                       texts, FRZ_ARRAY_COUNT(texts), &changed, err));
    if (changed == 0) {
        rc = frz_fail(err, FRZ_E_CONFLICT, "table %s.%s was changed by another writer",
                      name->namespace_name, name->table_name);
        goto out;
    }
    rc = commit(c, name, location, err);
out:
    if (rc != FRZ_OK) {
        roll_back(c);
    }
    return rc;
}

/* Two processes that make the layout at once collide in the database's own tables: the one that
 * fails finds the tables of the other. */
static frz_code create_layout(postgres_catalog *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (c->has_tables && c->has_namespaces) {
        return FRZ_OK;
    }
    frz_code tables = run(c, sql_create_tables, NULL, 0, NULL, err);
    frz_code namespaces =
        tables == FRZ_OK ? run(c, sql_create_namespaces, NULL, 0, NULL, err) : tables;
    c->has_tables = false;
    FRZ_TRY(attach(c, namespaces == FRZ_OK ? err : NULL));
    if (c->has_tables && !c->has_namespaces && namespaces != FRZ_OK) {
        namespaces = run(c, sql_create_namespaces, NULL, 0, NULL, err);
    }
    rc = c->has_tables ? FRZ_OK : namespaces;
out:
    return rc;
}

/* A namespace is there if it has a property; "exists" is the one that others write for it. */
static frz_code insert_namespace(postgres_catalog *c, const char *namespace_name, frz_error *err)
{
    const char *texts[] = {row_name(c), namespace_name};
    return run(c,
               "INSERT INTO iceberg_namespace_properties "
               "(catalog_name, namespace, property_key, property_value) "
               "SELECT $1::varchar, $2::varchar, 'exists', 'true' WHERE NOT EXISTS (SELECT 1 FROM "
               "iceberg_namespace_properties WHERE catalog_name = $1 AND namespace = $2) "
               "ON CONFLICT DO NOTHING",
               texts, FRZ_ARRAY_COUNT(texts), NULL, err);
}

static frz_code insert_row(postgres_catalog *c, const frz_table_name *name, const char *location,
                           frz_error *err)
{
    const char *texts[] = {row_name(c), name->namespace_name, name->table_name, location};
    frz_code rc = run(c,
                      c->has_type ? "INSERT INTO iceberg_tables (catalog_name, table_namespace, "
                                    "table_name, metadata_location, iceberg_type) "
                                    "VALUES ($1, $2, $3, $4, 'TABLE')"
                                  : "INSERT INTO iceberg_tables (catalog_name, table_namespace, "
                                    "table_name, metadata_location) VALUES ($1, $2, $3, $4)",
                      texts, FRZ_ARRAY_COUNT(texts), NULL, err);
    if (rc == FRZ_E_EXISTS) {
        rc = frz_fail(err, FRZ_E_EXISTS, "%s.%s exists already in %s", name->namespace_name,
                      name->table_name, c->where);
    }
    return rc;
}

static frz_code postgres_create(void *ctx, const frz_table_name *name, const char *location,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    postgres_catalog *c = ctx;
    FRZ_TRY(attach(c, err));
    FRZ_TRY(create_layout(c, err));
    FRZ_TRY(run(c, "BEGIN", NULL, 0, NULL, err));
    FRZ_TRY(insert_namespace(c, name->namespace_name, err));
    FRZ_TRY(insert_row(c, name, location, err));
    rc = commit(c, name, location, err);
out:
    if (rc != FRZ_OK) {
        roll_back(c);
    }
    return rc;
}

/* ---- opening ---- */

static void postgres_close(void *ctx)
{
    postgres_catalog *c = ctx;
    if (c == NULL) {
        return;
    }
    disconnect(c);
    frz_free(c->env, c->uri);
    frz_free(c->env, c);
}

static const frz_catalog_ops postgres_ops = {
    .get = postgres_get,
    .create = postgres_create,
    .swap = postgres_swap,
    .list = postgres_list,
    .close = postgres_close,
};

/* libpq's own uri out of those of JDBC and SQLAlchemy ("jdbc:postgresql:", "postgresql+driver:").
 */
static frz_code set_uri(postgres_catalog *c, const char *uri, frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(c->env, SIZE_MAX);
    uri += strncmp(uri, "jdbc:", 5) == 0 ? 5 : 0;
    const char *rest = strchr(uri, ':');
    frz_code rc = frz_buf_printf(&text, err, "postgresql%s", rest == NULL ? ":" : rest);
    rc = rc == FRZ_OK ? frz_buf_append_byte(&text, 0, err) : rc;
    if (rc == FRZ_OK) {
        c->uri = frz_strdup(c->env, frz_str_from((const char *)text.data));
        rc = c->uri == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK;
    }
    frz_buf_reset(&text);
    return rc;
}

static const char *option_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++) {
        if (strcmp(options->keyword, keyword) == 0) {
            return options->val;
        }
    }
    return NULL;
}

/* Host and database for messages. What libpq says about a bad uri may quote the password, so it is
 * not shown. */
static frz_code set_where(postgres_catalog *c, frz_error *err)
{
    char *text = NULL;
    PQconninfoOption *options = c->pq.conninfo_parse(c->uri, &text);
    if (options == NULL) {
        frz_code rc = text == NULL
                          ? frz_fail_nomem(err, 0)
                          : frz_fail(err, FRZ_E_ARGUMENT, "the catalog's uri cannot be read");
        frz_hint(err, "write postgresql://user@host:port/database; in names and passwords, "
                      "percent-encode what is not a letter or digit");
        c->pq.freemem(text);
        return rc;
    }
    const char *host = option_of(options, "host"), *base = option_of(options, "dbname");
    snprintf(c->where, sizeof c->where, "postgresql://%s/%s", host == NULL ? "" : host,
             base == NULL ? "" : base);
    c->pq.conninfo_free(options);
    return FRZ_OK;
}

frz_code frz_catalog_postgres_open(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                                   const frz_catalog_ops **ops, frz_error *err)
{
    frz_code rc = FRZ_OK;
    postgres_catalog *c = frz_alloc_zero(env, 1, sizeof *c);
    if (c == NULL) {
        return frz_fail_nomem(err, sizeof *c);
    }
    c->env = env;
    FRZ_TRY(frz_library_load(&libpq, &c->pq, err));
    FRZ_TRY(set_uri(c, opts->uri, err));
    FRZ_TRY(set_where(c, err));
    FRZ_TRY(catalog_set_name(opts->name, c->name, sizeof c->name, err));
    FRZ_TRY(attach(c, err));
    if (opts->must_exist && !c->has_tables) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND, "there is no catalog in %s", c->where);
        frz_hint(err, "\"frazil import\" makes a catalog with its first table");
        goto out;
    }
    *ctx = c;
    *ops = &postgres_ops;
    c = NULL;
out:
    postgres_close(c);
    return rc;
}
