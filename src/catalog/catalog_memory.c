/*
 * A catalog in memory, for tests and for tables that need no name beyond the process. It lives as
 * long as its handle.
 */
#include "catalog/catalog_internal.h"

typedef struct memory_row {
    frz_table_name name;
    char *location;
} memory_row;

typedef struct memory_catalog {
    const frz_env *env;
    memory_row *rows; /* in order of namespace and name */
    size_t count, capacity;
} memory_catalog;

static int compare_names(const frz_table_name *a, const frz_table_name *b)
{
    int order = strcmp(a->namespace_name, b->namespace_name);
    return order != 0 ? order : strcmp(a->table_name, b->table_name);
}

/* The first row that is not before the name. */
static size_t row_place(const memory_catalog *c, const frz_table_name *name)
{
    size_t i = 0;
    while (i < c->count && compare_names(&c->rows[i].name, name) < 0) {
        i++;
    }
    return i;
}

static memory_row *row_find(const memory_catalog *c, const frz_table_name *name)
{
    size_t i = row_place(c, name);
    return i < c->count && compare_names(&c->rows[i].name, name) == 0 ? &c->rows[i] : NULL;
}

static frz_code memory_get(void *ctx, const frz_table_name *name, char **location, frz_error *err)
{
    memory_catalog *c = ctx;
    const memory_row *row = row_find(c, name);
    if (row == NULL) {
        return catalog_no_table(name, "the catalog in memory", err);
    }
    char *copy = frz_strdup(c->env, frz_str_from(row->location));
    if (copy == NULL) {
        return frz_fail_nomem(err, strlen(row->location));
    }
    *location = copy;
    return FRZ_OK;
}

static frz_code memory_create(void *ctx, const frz_table_name *name, const char *location,
                              frz_error *err)
{
    memory_catalog *c = ctx;
    if (row_find(c, name) != NULL) {
        return frz_fail(err, FRZ_E_EXISTS, "table %s.%s exists already", name->namespace_name,
                        name->table_name);
    }
    frz_code rc = FRZ_GROW(c->env, &c->rows, &c->capacity, c->count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    char *copy = frz_strdup(c->env, frz_str_from(location));
    if (copy == NULL) {
        return frz_fail_nomem(err, strlen(location));
    }
    size_t place = row_place(c, name);
    memmove(&c->rows[place + 1], &c->rows[place], (c->count - place) * sizeof *c->rows);
    c->rows[place] = (memory_row){.name = *name, .location = copy};
    c->count++;
    return FRZ_OK;
}

static frz_code memory_swap(void *ctx, const frz_table_name *name, const char *expected,
                            const char *location, frz_error *err)
{
    memory_catalog *c = ctx;
    memory_row *row = row_find(c, name);
    if (row == NULL || strcmp(row->location, expected) != 0) {
        return frz_fail(err, FRZ_E_CONFLICT, "table %s.%s was changed by another writer",
                        name->namespace_name, name->table_name);
    }
    char *copy = frz_strdup(c->env, frz_str_from(location));
    if (copy == NULL) {
        return frz_fail_nomem(err, strlen(location));
    }
    frz_free(c->env, row->location);
    row->location = copy;
    return FRZ_OK;
}

static frz_code memory_list(void *ctx, frz_catalog_visit visit, void *visit_ctx, frz_error *err)
{
    const memory_catalog *c = ctx;
    (void)err;
    for (size_t i = 0; i < c->count; i++) {
        const frz_table_name *name = &c->rows[i].name;
        if (visit(visit_ctx, name->namespace_name, name->table_name) != 0) {
            break;
        }
    }
    return FRZ_OK;
}

static void memory_close(void *ctx)
{
    memory_catalog *c = ctx;
    for (size_t i = 0; i < c->count; i++) {
        frz_free(c->env, c->rows[i].location);
    }
    frz_free(c->env, c->rows);
    frz_free(c->env, c);
}

static const frz_catalog_ops memory_ops = {
    .get = memory_get,
    .create = memory_create,
    .swap = memory_swap,
    .list = memory_list,
    .close = memory_close,
};

frz_code frz_catalog_memory_open(const frz_env *env, void **ctx, const frz_catalog_ops **ops,
                                 frz_error *err)
{
    memory_catalog *c = frz_alloc_zero(env, 1, sizeof *c);
    if (c == NULL) {
        return frz_fail_nomem(err, sizeof *c);
    }
    c->env = env;
    *ctx = c;
    *ops = &memory_ops;
    return FRZ_OK;
}
