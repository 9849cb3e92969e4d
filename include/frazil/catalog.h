/**
 * Catalogs: who owns the current metadata pointer of each table.
 *
 * Source: Apache Iceberg, JDBC catalog layout (tables iceberg_tables and
 * iceberg_namespace_properties), shared with Iceberg-Java and PyIceberg.
 */
#ifndef FRAZIL_CATALOG_H
#define FRAZIL_CATALOG_H

#include "frazil/env.h"
#include "frazil/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_catalog frz_catalog;

typedef struct frz_catalog_property {
    const char *key, *value;
} frz_catalog_property;

typedef struct frz_catalog_options {
    size_t struct_size;
    const char *uri;       /**< "sqlite:///abs/path/catalog.db", "postgresql://user@host/base",
                                "http://host:port" or "https://…" for a REST catalog */
    const char *warehouse; /**< folder or location under which new tables are placed */
    const char *name; /**< catalog_name of the rows; NULL: the file's only name, else "frazil" */
    int must_exist;   /**< non-zero: opening a catalog that is not there is FRZ_E_NOT_FOUND */
    /** Properties by Iceberg's names, for REST catalogs: token, credential, scope,
     * oauth2-server-uri, prefix, header.NAME, rest.client.connection-timeout-ms,
     * rest.client.socket-timeout-ms, ssl.cabundle. Others are ignored. */
    const frz_catalog_property *properties;
    size_t property_count;
    /** Where folders of the tables' files really are, as in frz_table_open_options. With any,
     * tables can only be read. */
    const frz_location_map *maps;
    size_t map_count;
} frz_catalog_options;

#define FRZ_CATALOG_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(frz_catalog_options), 0, 0, 0, 0, 0, 0, 0, 0                                        \
    }

/**
 * Open a catalog.
 *
 * @param env   borrowed; must outlive the catalog
 * @param opts  uri is required; warehouse only to create tables
 * @param out   receives the catalog; free with frz_catalog_close()
 * @return FRZ_OK, FRZ_E_ARGUMENT for a uri of unknown kind, FRZ_E_CORRUPT for a file that is not a
 *         catalog, FRZ_E_NOT_FOUND, FRZ_E_IO
 *
 * A catalog is used by one thread at a time; several catalogs on one database may be open.
 */
FRZ_API frz_code frz_catalog_open(const frz_env *env, const frz_catalog_options *opts,
                                  frz_catalog **out, frz_error *err);

typedef struct frz_catalog_config frz_catalog_config;

/**
 * Read how to open a catalog from a JSON file: an object with a member for each named catalog,
 * whose members are "uri", "warehouse", "catalog-name" and properties. Values are texts, or
 * {"env": "VARIABLE"} for what stands in an environment variable.
 *
 * @param file  NULL: $XDG_CONFIG_HOME/frazil/catalogs.json, else ~/.config/frazil/catalogs.json
 * @param out   receives the options; free with frz_catalog_config_free() after opening
 * @return FRZ_OK; FRZ_E_NOT_FOUND if there is no such file or no such name in it
 */
FRZ_API frz_code frz_catalog_config_read(const frz_env *env, const char *file, const char *name,
                                         frz_catalog_config **out, frz_error *err);

/** What was read; belongs to the config. */
FRZ_API const frz_catalog_options *frz_catalog_config_options(const frz_catalog_config *config);

/** NULL is fine. */
FRZ_API void frz_catalog_config_free(frz_catalog_config *config);

/** Close a catalog. Tables loaded from it stay valid. NULL is fine. */
FRZ_API void frz_catalog_close(frz_catalog *catalog);

/** Called once per table with dotted namespace (levels that hold a dot in quotes) and name;
 * non-zero stops the listing. */
typedef int (*frz_catalog_visit)(void *ctx, const char *namespace_name, const char *table_name);

/** Visit every table in order of namespace and name. */
FRZ_API frz_code frz_catalog_list_tables(frz_catalog *catalog, frz_catalog_visit visit, void *ctx,
                                         frz_error *err);

/**
 * Load the current version of a table.
 *
 * @param name  "namespace.table"; the last dot separates; parts may be quoted with double quotes
 * @param out   receives an immutable version of the table; free with frz_table_unref()
 */
FRZ_API frz_code frz_catalog_load_table(frz_catalog *catalog, const char *name, frz_table **out,
                                        frz_error *err);

/**
 * Make a table that exists already known to a catalog. Nothing but the catalog's entry is written.
 *
 * @param location  of a metadata file, or of a table's folder (its newest metadata file is taken)
 * @return FRZ_OK, FRZ_E_EXISTS if the catalog has a table of that name, or what frz_table_open()
 *         answers
 */
FRZ_API frz_code frz_catalog_register(frz_catalog *catalog, const char *name, const char *location,
                                      frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
