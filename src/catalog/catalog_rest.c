/*
 * A catalog behind Iceberg's REST protocol, for reading: namespaces of any depth, tables, and their
 * metadata as the server hands it out. spec: REST catalog, open API
 */
#include "catalog/catalog_rest.h"
#include "meta/meta_table.h"

#define DEPTH_MAX 32
#define PAGES_MAX 100000

typedef struct rest_catalog {
    const frz_env *env;
    rest_client *client;
} rest_catalog;

/* ---- tables ---- */

static frz_code table_path(const rest_catalog *c, const frz_table_name *name, frz_buf *path,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_str(path, "namespaces/", err));
    FRZ_TRY(rest_append_namespace(c->client, path, frz_str_from(name->levels), err));
    FRZ_TRY(frz_buf_append_str(path, "/tables/", err));
    FRZ_TRY(frz_http_escape(path, frz_str_from(name->table_name), err));
    FRZ_TRY(frz_buf_append_byte(path, 0, err));
out:
    return rc;
}

static frz_code get_table(const rest_catalog *c, const frz_table_name *name, json_t **out,
                          frz_error *err)
{
    frz_buf path = FRZ_BUF_INIT(c->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = table_path(c, name, &path, err);
    rc = rc == FRZ_OK ? rest_get(c->client, (const char *)path.data, out, err) : rc;
    frz_buf_reset(&path);
    return rc == FRZ_E_NOT_FOUND ? catalog_no_table(name, rest_where(c->client), err) : rc;
}

static frz_code rest_catalog_get(void *ctx, const frz_table_name *name, char **location,
                                 frz_error *err)
{
    rest_catalog *c = ctx;
    json_t *json = NULL;
    frz_code rc = get_table(c, name, &json, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    const char *text = json_string_value(json_object_get(json, "metadata-location"));
    char *copy = text == NULL ? NULL : frz_strdup(c->env, frz_str_from(text));
    if (text == NULL) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND, "table %s.%s of %s has no metadata file yet",
                      name->namespace_name, name->table_name, rest_where(c->client));
    } else if (copy == NULL) {
        rc = frz_fail_nomem(err, strlen(text));
    } else {
        *location = copy;
    }
    json_decref(json);
    return rc;
}

static frz_code rest_catalog_load(void *ctx, const frz_table_name *name, frz_table **out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    rest_catalog *c = ctx;
    json_t *json = NULL;
    frz_buf text = FRZ_BUF_INIT(c->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(get_table(c, name, &json, err));
    const json_t *metadata = json_object_get(json, "metadata");
    if (!json_is_object(metadata)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: the answer for table %s.%s has no metadata",
                      rest_where(c->client), name->namespace_name, name->table_name);
        goto out;
    }
    FRZ_TRY(frz_json_dump(metadata, &text, err));
    rc = frz_table_parse(c->env, json_string_value(json_object_get(json, "metadata-location")),
                         frz_buf_view(&text), NULL, out, err);
    frz_context(err, rc, "table %s.%s of %s", name->namespace_name, name->table_name,
                rest_where(c->client));
out:
    frz_buf_reset(&text);
    json_decref(json);
    return rc;
}

/* ---- listing ---- */

typedef struct listing {
    rest_catalog *catalog;
    frz_catalog_visit visit;
    void *visit_ctx;
    bool stopped;
} listing;

/* Called with each item of a list; FRZ_END stops. */
typedef frz_code (*item_visit)(listing *l, const json_t *item, frz_str levels, int depth,
                               frz_error *err);

static frz_code page_path(const rest_catalog *c, const char *path, const char *token, frz_buf *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    (void)c;
    FRZ_TRY(frz_buf_append_str(out, path, err));
    if (token != NULL) {
        FRZ_TRY(frz_buf_append_str(out,
                                   strchr(path, '?') == NULL ? "?pageToken=" : "&pageToken=", err));
        FRZ_TRY(frz_http_escape(out, frz_str_from(token), err));
    }
    FRZ_TRY(frz_buf_append_byte(out, 0, err));
out:
    return rc;
}

static frz_code visit_page(listing *l, const json_t *list, frz_str levels, int depth,
                           item_visit visit, frz_error *err)
{
    for (size_t i = 0; i < json_array_size(list) && !l->stopped; i++) {
        frz_code rc = visit(l, json_array_get(list, i), levels, depth, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

/* The list and the token of the next page, NULL at the end, of an answer. before: the token that it
 * was asked with, or NULL. */
static frz_code read_page(const listing *l, const json_t *json, const char *key, const char *before,
                          const json_t **list, const char **token, frz_error *err)
{
    const char *where = rest_where(l->catalog->client);
    const json_t *next = json_object_get(json, "next-page-token");
    *list = json_object_get(json, key);
    *token = json_string_value(next);
    *token = *token == NULL || (*token)[0] == '\0' ? NULL : *token;
    if (*list != NULL && !json_is_null(*list) && !json_is_array(*list)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: %s in the answer is not a list", where, key);
    }
    if (next != NULL && !json_is_null(next) && !json_is_string(next)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: next-page-token in the answer is not a text",
                        where);
    }
    if (*token != NULL && before != NULL && strcmp(*token, before) == 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: the next page of %s is the same page again", where,
                        key);
    }
    return FRZ_OK;
}

/* Every item of the list named key at a path, page by page. */
static frz_code visit_pages(listing *l, const char *path, const char *key, frz_str levels,
                            int depth, item_visit visit, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL, *last = NULL; /* the one before owns the token */
    const json_t *list = NULL;
    frz_buf page = FRZ_BUF_INIT(l->catalog->env, FRZ_BUF_NO_LIMIT);
    const char *token = NULL;
    for (int pages = 0; pages == 0 || token != NULL; pages++) {
        const char *before = token;
        if (pages == PAGES_MAX) {
            rc = frz_fail(err, FRZ_E_LIMIT, "%s: %s has more than %d pages",
                          rest_where(l->catalog->client), key, PAGES_MAX);
            goto out;
        }
        frz_buf_clear(&page);
        FRZ_TRY(page_path(l->catalog, path, before, &page, err));
        json_decref(last);
        last = json;
        json = NULL;
        FRZ_TRY(rest_get(l->catalog->client, (const char *)page.data, &json, err));
        FRZ_TRY(read_page(l, json, key, before, &list, &token, err));
        FRZ_TRY(visit_page(l, list, levels, depth, visit, err));
        token = l->stopped ? NULL : token;
    }
out:
    json_decref(json);
    json_decref(last);
    frz_buf_reset(&page);
    return rc;
}

/* A level as users write it: in quotes if it holds a dot or a quote. */
static frz_code append_level(frz_buf *out, frz_str level, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool plain =
        memchr(level.ptr, '.', level.len) == NULL && memchr(level.ptr, '"', level.len) == NULL;
    if (plain) {
        return frz_buf_append(out, level.ptr, level.len, err);
    }
    FRZ_TRY(frz_buf_append_byte(out, '"', err));
    for (size_t i = 0; i < level.len; i++) {
        FRZ_TRY(frz_buf_append_byte(out, (uint8_t)level.ptr[i], err));
        if (level.ptr[i] == '"') {
            FRZ_TRY(frz_buf_append_byte(out, '"', err));
        }
    }
    FRZ_TRY(frz_buf_append_byte(out, '"', err));
out:
    return rc;
}

static frz_code visit_table(listing *l, const json_t *item, frz_str levels, int depth,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    (void)depth;
    const char *name = json_string_value(json_object_get(item, "name"));
    frz_buf dotted = FRZ_BUF_INIT(l->catalog->env, FRZ_BUF_NO_LIMIT);
    if (name == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: a table in the list has no name",
                        rest_where(l->catalog->client));
    }
    for (size_t from = 0; from <= levels.len;) {
        const char *end = memchr(levels.ptr + from, FRZ_LEVEL_END, levels.len - from);
        size_t len = end == NULL ? levels.len - from : (size_t)(end - levels.ptr) - from;
        if (from > 0) {
            FRZ_TRY(frz_buf_append_byte(&dotted, '.', err));
        }
        FRZ_TRY(append_level(&dotted, (frz_str){levels.ptr + from, len}, err));
        from += len + 1;
    }
    FRZ_TRY(frz_buf_append_byte(&dotted, 0, err));
    l->stopped = l->visit(l->visit_ctx, (const char *)dotted.data, name) != 0;
out:
    frz_buf_reset(&dotted);
    return rc;
}

static frz_code visit_namespace(listing *l, const json_t *item, frz_str levels, int depth,
                                frz_error *err);

/* Tables of a namespace, then the namespaces in it. */
static frz_code visit_inside(listing *l, frz_str levels, int depth, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf path = FRZ_BUF_INIT(l->catalog->env, FRZ_BUF_NO_LIMIT);
    if (depth > 0) {
        FRZ_TRY(frz_buf_append_str(&path, "namespaces/", err));
        FRZ_TRY(rest_append_namespace(l->catalog->client, &path, levels, err));
        FRZ_TRY(frz_buf_append(&path, "/tables", sizeof "/tables", err));
        FRZ_TRY(visit_pages(l, (const char *)path.data, "identifiers", levels, depth, visit_table,
                            err));
        frz_buf_clear(&path);
    }
    if (depth == DEPTH_MAX || l->stopped) {
        goto out;
    }
    FRZ_TRY(frz_buf_append_str(&path, depth == 0 ? "namespaces" : "namespaces?parent=", err));
    if (depth > 0) {
        FRZ_TRY(rest_append_namespace(l->catalog->client, &path, levels, err));
    }
    FRZ_TRY(frz_buf_append_byte(&path, 0, err));
    rc = visit_pages(l, (const char *)path.data, "namespaces", levels, depth, visit_namespace, err);
    if (rc == FRZ_E_NOT_FOUND &&
        depth > 0) { /* dropped meanwhile, or no namespaces inside others */
        frz_error_reset(err);
        rc = FRZ_OK;
    }
out:
    frz_buf_reset(&path);
    return rc;
}

/* A namespace of the list: a list of its levels. Servers that know no nesting repeat themselves. */
static frz_code visit_namespace(listing *l, const json_t *item, frz_str levels, int depth,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf inner = FRZ_BUF_INIT(l->catalog->env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < json_array_size(item); i++) {
        const char *level = json_string_value(json_array_get(item, i));
        if (level == NULL || level[0] == '\0' || strchr(level, FRZ_LEVEL_END) != NULL) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%s: a namespace in the list is not a list of names",
                          rest_where(l->catalog->client));
            goto out;
        }
        if (i > 0) {
            FRZ_TRY(frz_buf_append_byte(&inner, FRZ_LEVEL_END, err));
        }
        FRZ_TRY(frz_buf_append_str(&inner, level, err));
    }
    frz_str found = frz_buf_view(&inner);
    bool inside = json_array_size(item) == (size_t)depth + 1 &&
                  (depth == 0 ||
                   (frz_str_starts_with(found, levels) && found.ptr[levels.len] == FRZ_LEVEL_END));
    if (inside) {
        rc = visit_inside(l, found, depth + 1, err);
    }
out:
    frz_buf_reset(&inner);
    return rc;
}

static frz_code rest_catalog_list(void *ctx, frz_catalog_visit visit, void *visit_ctx,
                                  frz_error *err)
{
    listing l = {ctx, visit, visit_ctx, false};
    return visit_inside(&l, (frz_str){"", 0}, 0, err);
}

/* ---- changes ---- */

static frz_code refuse_change(const rest_catalog *c, frz_error *err)
{
    frz_code rc = frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: changing tables through %s",
                           rest_where(c->client));
    frz_hint(err, "REST catalogs are read; SQLite and PostgreSQL catalogs are written, too");
    return rc;
}

static frz_code rest_catalog_create(void *ctx, const frz_table_name *name, const char *location,
                                    frz_error *err)
{
    (void)name;
    (void)location;
    return refuse_change(ctx, err);
}

static frz_code rest_catalog_swap(void *ctx, const frz_table_name *name, const char *expected,
                                  const char *location, frz_error *err)
{
    (void)name;
    (void)expected;
    (void)location;
    return refuse_change(ctx, err);
}

/* ---- opening ---- */

static void rest_catalog_close(void *ctx)
{
    rest_catalog *c = ctx;
    if (c != NULL) {
        rest_client_close(c->client);
        frz_free(c->env, c);
    }
}

static const frz_catalog_ops rest_ops = {
    .get = rest_catalog_get,
    .create = rest_catalog_create,
    .swap = rest_catalog_swap,
    .list = rest_catalog_list,
    .load = rest_catalog_load,
    .close = rest_catalog_close,
};

frz_code frz_catalog_rest_open(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                               const frz_catalog_ops **ops, frz_error *err)
{
    frz_code rc = FRZ_OK;
    rest_catalog *c = frz_alloc_zero(env, 1, sizeof *c);
    if (c == NULL) {
        return frz_fail_nomem(err, sizeof *c);
    }
    c->env = env;
    rc = rest_client_open(env, opts, &c->client, err);
    if (rc != FRZ_OK) {
        rest_catalog_close(c);
        return frz_context(err, rc, "catalog");
    }
    *ctx = c;
    *ops = &rest_ops;
    return FRZ_OK;
}
