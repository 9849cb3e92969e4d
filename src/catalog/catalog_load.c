/*
 * Loading the current version of a table through a catalog, and making tables known to it.
 */
#include "catalog/catalog_internal.h"
#include "meta/meta_table.h"

/* A commit may remove old metadata files, also one that was current when the catalog was asked:
 * then it names another by now. */
static bool has_moved(frz_catalog *catalog, const frz_table_name *parts, char **location)
{
    char *newest = NULL;
    bool moved = catalog->ops->get(catalog->ctx, parts, &newest, NULL) == FRZ_OK &&
                 strcmp(newest, *location) != 0;
    if (moved) {
        frz_free(catalog->env, *location);
        *location = newest;
        newest = NULL;
    }
    frz_free(catalog->env, newest);
    return moved;
}

static frz_code load_file(frz_catalog *catalog, const frz_table_name *parts, const char *name,
                          frz_table **out, frz_error *err)
{
    char *location = NULL;
    frz_table *table = NULL;
    frz_table_open_options options = FRZ_TABLE_OPEN_OPTIONS_INIT;
    options.maps = catalog->maps;
    options.map_count = catalog->map_count;
    frz_code rc = catalog->ops->get(catalog->ctx, parts, &location, err);
    for (bool again = rc == FRZ_OK; again;) {
        rc = frz_table_open(catalog->env, location, &options, &table, err);
        again = rc == FRZ_E_NOT_FOUND && has_moved(catalog, parts, &location);
        frz_context(err, rc, "table %s", name);
        if (again) {
            frz_error_reset(err);
        }
    }
    if (rc == FRZ_OK) {
        table->pointer = frz_arena_strdup(&table->arena, frz_str_from(location));
        rc = table->pointer != NULL ? FRZ_OK : frz_fail_nomem(err, strlen(location));
    }
    if (rc == FRZ_OK) {
        *out = table;
        table = NULL;
    }
    frz_table_unref(table);
    frz_free(catalog->env, location);
    return rc;
}

frz_code frz_catalog_load_table(frz_catalog *catalog, const char *name, frz_table **out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    frz_table_name parts;
    FRZ_TRY(frz_table_name_parse(name, &parts, err));
    FRZ_TRY(catalog->ops->load != NULL ? catalog->ops->load(catalog->ctx, &parts, &table, err)
                                       : load_file(catalog, &parts, name, &table, err));
    if (table->map_count < catalog->map_count) { /* it did not come out of a file */
        FRZ_TRY(frz_location_maps_copy(&table->arena, catalog->maps, catalog->map_count,
                                       &table->maps, err));
        table->map_count = catalog->map_count;
    }
    table->name = frz_arena_strdup(&table->arena, frz_str_from(name));
    FRZ_TRY(table->name != NULL ? FRZ_OK : frz_fail_nomem(err, strlen(name)));
    *out = table;
    table = NULL;
out:
    frz_table_unref(table);
    return rc;
}

frz_code frz_catalog_register(frz_catalog *catalog, const char *name, const char *location,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    frz_table_name parts;
    FRZ_TRY(frz_table_name_parse(name, &parts, err));
    FRZ_TRY(frz_table_open(catalog->env, location, NULL, &table, err));
    FRZ_TRY(catalog->ops->create(catalog->ctx, &parts, table->metadata_location, err));
out:
    frz_table_unref(table);
    return frz_context(err, rc, "registering table %s", name);
}
