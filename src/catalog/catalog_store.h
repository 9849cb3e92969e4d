/*
 * catalog: the interface behind frz_catalog, and what the commit loop needs of it.
 */
#ifndef FRZ_CATALOG_STORE_H
#define FRZ_CATALOG_STORE_H

#include "base/base.h"
#include "frazil/catalog.h"

#define FRZ_LEVEL_END '\x1f'

/* Namespace and name as given by the user, quotes resolved. */
typedef struct frz_table_name {
    char namespace_name[256]; /* levels joined with dots */
    char levels[256];         /* the same, joined with FRZ_LEVEL_END */
    char table_name[256];
} frz_table_name;

frz_code frz_table_name_parse(const char *text, frz_table_name *out, frz_error *err);

typedef struct frz_catalog_ops {
    /* Metadata location of a table, to be freed with frz_free; FRZ_E_NOT_FOUND. */
    frz_code (*get)(void *ctx, const frz_table_name *name, char **location, frz_error *err);
    /* Record a new table; FRZ_E_EXISTS. Namespaces come into being as needed. */
    frz_code (*create)(void *ctx, const frz_table_name *name, const char *location, frz_error *err);
    /* Compare and swap. FRZ_E_CONFLICT: somebody else was first, nothing happened.
     * FRZ_E_COMMIT_UNKNOWN: it may have happened. Other failures: it did not happen. */
    frz_code (*swap)(void *ctx, const frz_table_name *name, const char *expected,
                     const char *location, frz_error *err);
    frz_code (*list)(void *ctx, frz_catalog_visit visit, void *visit_ctx, frz_error *err);
    /* The table itself, of catalogs that hand out its metadata; NULL: get() and read the file. */
    frz_code (*load)(void *ctx, const frz_table_name *name, frz_table **out, frz_error *err);
    void (*close)(void *ctx);
} frz_catalog_ops;

struct frz_catalog {
    const frz_env *env;
    const frz_catalog_ops *ops;
    void *ctx;
    char *warehouse; /* location without trailing slash, or NULL */
    frz_arena arena; /* of the maps */
    const frz_location_map *maps;
    size_t map_count; /* not 0: tables can only be read */
};

/* Implementations. */
frz_code frz_catalog_sqlite_open(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                                 const frz_catalog_ops **ops, frz_error *err);
frz_code frz_catalog_postgres_open(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                                   const frz_catalog_ops **ops, frz_error *err);
frz_code frz_catalog_rest_open(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                               const frz_catalog_ops **ops, frz_error *err);
frz_code frz_catalog_memory_open(const frz_env *env, void **ctx, const frz_catalog_ops **ops,
                                 frz_error *err);

#endif
