/*
 * Opening a catalog by its uri, and listing. Which kinds there are stands in one table.
 */
#include "catalog/catalog_internal.h"
#include "meta/meta_table.h"

static frz_code open_memory(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                            const frz_catalog_ops **ops, frz_error *err)
{
    (void)opts;
    return frz_catalog_memory_open(env, ctx, ops, err);
}

static const struct {
    const char *prefix;
    frz_code (*open)(const frz_env *env, const frz_catalog_options *opts, void **ctx,
                     const frz_catalog_ops **ops, frz_error *err);
} kinds[] = {
    {"sqlite:", frz_catalog_sqlite_open},
    {"jdbc:sqlite:", frz_catalog_sqlite_open},
    {"postgresql:", frz_catalog_postgres_open},
    {"postgresql+", frz_catalog_postgres_open},
    {"postgres:", frz_catalog_postgres_open},
    {"jdbc:postgresql:", frz_catalog_postgres_open},
    {"http:", frz_catalog_rest_open},
    {"https:", frz_catalog_rest_open},
    {"memory:", open_memory},
};

static frz_code open_kind(const frz_env *env, const frz_catalog_options *opts, frz_catalog *out,
                          frz_error *err)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        if (frz_str_starts_with(frz_str_from(opts->uri), frz_str_from(kinds[i].prefix))) {
            return kinds[i].open(env, opts, &out->ctx, &out->ops, err);
        }
    }
    /* not the whole uri: it may hold a password */
    frz_code rc = frz_fail(err, FRZ_E_ARGUMENT, "catalog \"%.*s:\" is of an unknown kind",
                           (int)strcspn(opts->uri, ":"), opts->uri);
    frz_hint(err, "write sqlite:///path/catalog.db, postgresql://host/database or https://host");
    return rc;
}

/* As a location without a slash at its end; NULL stays NULL. */
static frz_code set_warehouse(frz_catalog *catalog, const char *warehouse, frz_error *err)
{
    if (warehouse == NULL || warehouse[0] == '\0') {
        return FRZ_OK;
    }
    frz_code rc = frz_location_from_path(catalog->env, warehouse, &catalog->warehouse, err);
    if (rc == FRZ_OK) {
        size_t len = strlen(catalog->warehouse);
        while (len > 0 && catalog->warehouse[len - 1] == '/') {
            catalog->warehouse[--len] = '\0';
        }
    }
    return rc;
}

frz_code frz_catalog_open(const frz_env *env, const frz_catalog_options *opts, frz_catalog **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_catalog *catalog = NULL;
    frz_catalog_options own = FRZ_CATALOG_OPTIONS_INIT;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    if (own.uri == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a catalog needs a uri");
    }
    catalog = frz_alloc_zero(env, 1, sizeof *catalog);
    if (catalog == NULL) {
        return frz_fail_nomem(err, sizeof *catalog);
    }
    catalog->env = env;
    frz_arena_init(&catalog->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_location_maps_copy(&catalog->arena, own.maps, own.map_count, &catalog->maps, err));
    catalog->map_count = own.map_count;
    FRZ_TRY(open_kind(env, &own, catalog, err));
    if (catalog->ops->load == NULL) { /* else the warehouse is a name that the server knows */
        FRZ_TRY(set_warehouse(catalog, own.warehouse, err));
    }
    *out = catalog;
    catalog = NULL;
out:
    frz_catalog_close(catalog);
    return rc;
}

void frz_catalog_close(frz_catalog *catalog)
{
    if (catalog == NULL) {
        return;
    }
    if (catalog->ops != NULL) {
        catalog->ops->close(catalog->ctx);
    }
    frz_free(catalog->env, catalog->warehouse);
    frz_arena_reset(&catalog->arena);
    frz_free(catalog->env, catalog);
}

frz_code frz_catalog_list_tables(frz_catalog *catalog, frz_catalog_visit visit, void *ctx,
                                 frz_error *err)
{
    return catalog->ops->list(catalog->ctx, visit, ctx, err);
}
