/*
 * What a command works on: catalog and table, from options, environment variables and defaults.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define SQLITE_SCHEME "sqlite://"
#define CATALOG_FILE "catalog.db"
#define MOST_THREADS 1024

const char *cli_table_name(const cli_context *context)
{
    return context->args->word_count > 0 ? context->args->words[0] : NULL;
}

/* An option's value, else its environment variable; empty counts as absent. */
static const char *setting(const cli_context *context, cli_option_id id, const char *variable)
{
    const char *value = cli_args_value(context->args, id);
    if (value == NULL) {
        value = getenv(variable);
    }
    return value != NULL && *value != '\0' ? value : NULL;
}

frz_code cli_threads(const cli_context *context, int *out, frz_error *err)
{
    const char *text = setting(context, CLI_OPTION_THREADS, "FRAZIL_THREADS");
    int64_t threads = FRZ_THREADS_ALL;
    if (text != NULL) {
        frz_code rc = cli_parse_int64(text, 1, "threads", &threads, err);
        if (rc != FRZ_OK && !cli_args_has(context->args, CLI_OPTION_THREADS)) {
            cli_hint(err, "FRAZIL_THREADS is set in the environment");
        }
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    *out = (int)(threads < MOST_THREADS ? threads : MOST_THREADS);
    return FRZ_OK;
}

/* ---- paths ---- */

static char *format_path(frz_error *err, const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *path = malloc(size);
    if (path == NULL) {
        cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu bytes", size);
        return NULL;
    }
    snprintf(path, size, "%s%s%s", a, b, c);
    return path;
}

/* The path behind "file:/p" or "file:///p"; other text stays. */
static const char *strip_file_scheme(const char *path)
{
    if (strncmp(path, "file:///", 8) == 0) {
        return path + 7;
    }
    return strncmp(path, "file:/", 6) == 0 ? path + 5 : path;
}

static bool has_scheme(const char *path)
{
    size_t len = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return len > 1 && path[len] == ':' && path[len + 1] == '/';
}

char *cli_absolute_path(const char *path, frz_error *err)
{
    if (path[0] == '/' || has_scheme(path)) {
        return format_path(err, strip_file_scheme(path), "", "");
    }
    while (path[0] == '.' && path[1] == '/') {
        path += 2 + strspn(path + 2, "/");
    }
    path += strcmp(path, ".") == 0;
    char *folder = getcwd(NULL, 0);
    if (folder == NULL) {
        cli_fail_os(err, errno, "cannot tell the current folder");
        return NULL;
    }
    bool root = strcmp(folder, "/") == 0;
    char *absolute = format_path(err, folder, root || *path == '\0' ? "" : "/", path);
    free(folder);
    return absolute;
}

/* The folder that a path lies in, without a slash at its end. */
static char *parent_of(const char *path, frz_error *err)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return format_path(err, slash == NULL ? "." : "/", "", "");
    }
    char *parent = strndup(path, (size_t)(slash - path));
    if (parent == NULL) {
        cli_fail(err, FRZ_E_NOMEM, "out of memory for a folder's name");
    }
    return parent;
}

/* Make a folder and those above it. made_from: the length of the first one that was not there. */
static frz_code make_folders(char *path, size_t *made_from, frz_error *err)
{
    *made_from = SIZE_MAX;
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL) {
            *slash = '\0';
        }
        bool made = mkdir(path, 0777) == 0;
        int failed = made || errno == EEXIST ? 0 : errno;
        *made_from = made && *made_from == SIZE_MAX ? strlen(path) : *made_from;
        struct stat found;
        if (failed != 0 && stat(path, &found) != 0) {
            frz_code rc = cli_fail_os(err, failed, "cannot make the folder %s", path);
            return rc == FRZ_E_NOT_FOUND ? FRZ_E_IO : rc;
        }
        if (slash == NULL) {
            return FRZ_OK;
        }
        *slash = '/';
    }
}

/* ---- location maps ---- */

void cli_maps_free(frz_location_map *maps, size_t count)
{
    for (size_t i = 0; maps != NULL && i < count; i++) {
        free((char *)maps[i].from);
        free((char *)maps[i].to);
    }
    free(maps);
}

frz_code cli_maps_read(const cli_context *context, frz_location_map **out, size_t *count,
                       frz_error *err)
{
    size_t wanted = cli_args_count(context->args, CLI_OPTION_MAP_LOCATION);
    frz_location_map *maps = calloc(wanted + 1, sizeof *maps);
    size_t done = 0;
    frz_code rc =
        maps == NULL ? cli_fail(err, FRZ_E_NOMEM, "out of memory for --map-location") : FRZ_OK;
    for (size_t i = 0; rc == FRZ_OK && i < context->args->given_count; i++) {
        const cli_given *given = &context->args->given[i];
        char *from = NULL;
        char *to = NULL;
        if (given->id != CLI_OPTION_MAP_LOCATION) {
            continue;
        }
        rc = cli_split_pair(given->value, "map-location", &from, &to, err);
        if (rc == FRZ_OK) {
            maps[done++] = (frz_location_map){from, to};
        }
    }
    if (rc != FRZ_OK) {
        cli_maps_free(maps, done);
        return rc;
    }
    *out = maps;
    *count = done;
    return FRZ_OK;
}

/* ---- catalog ---- */

/* Where the catalog is and where new tables go; both owned. */
typedef struct catalog_place {
    char *uri, *file, *warehouse; /* file NULL: the uri is of another kind */
} catalog_place;

static void place_reset(catalog_place *place)
{
    free(place->uri);
    free(place->file);
    free(place->warehouse);
    *place = (catalog_place){0};
}

/* A URI is given: "sqlite:///abs", or a bare file name for convenience. */
static frz_code place_of_uri(const char *uri, catalog_place *place, frz_error *err)
{
    if (strncmp(uri, SQLITE_SCHEME, strlen(SQLITE_SCHEME)) == 0) {
        uri += strlen(SQLITE_SCHEME);
    } else if (has_scheme(uri)) {
        place->uri = format_path(err, uri, "", "");
        return place->uri != NULL ? FRZ_OK : err->code;
    }
    place->file = cli_absolute_path(uri, err);
    return place->file != NULL ? FRZ_OK : err->code;
}

static frz_code place_find(const cli_context *context, catalog_place *place, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *uri = setting(context, CLI_OPTION_CATALOG, "FRAZIL_CATALOG");
    const char *warehouse = setting(context, CLI_OPTION_WAREHOUSE, "FRAZIL_WAREHOUSE");
    if (uri != NULL) {
        rc = place_of_uri(uri, place, err);
    } else if (warehouse != NULL && has_scheme(strip_file_scheme(warehouse))) {
        rc = cli_fail(err, FRZ_E_ARGUMENT, "warehouse %s needs a catalog of its own", warehouse);
        cli_hint(err, "--catalog sqlite:///path/catalog.db names it");
    }
    if (rc != FRZ_OK) {
        return rc;
    }
    if (warehouse != NULL && uri != NULL && strncmp(uri, "http", 4) == 0) {
        place->warehouse = format_path(err, warehouse, "", ""); /* a name that the server knows */
    } else if (warehouse != NULL || uri == NULL) {
        place->warehouse = cli_absolute_path(warehouse != NULL ? warehouse : "warehouse", err);
    } else if (place->file != NULL) {
        place->warehouse = parent_of(place->file, err);
    }
    if (uri == NULL && place->warehouse != NULL) {
        place->file = format_path(err, place->warehouse, "/", CATALOG_FILE);
    }
    if (place->file != NULL) {
        place->uri = format_path(err, SQLITE_SCHEME, place->file, "");
    }
    return place->uri == NULL ? err->code : FRZ_OK;
}

/* The options of a catalog that is chosen by its name in catalogs.json; NULL: it is not there. */
static frz_code find_named(const cli_context *context, frz_catalog_config **out, frz_error *err)
{
    const char *name = setting(context, CLI_OPTION_CATALOG, "FRAZIL_CATALOG");
    frz_error why = {0};
    *out = NULL;
    if (name == NULL || strpbrk(name, ":/") != NULL) {
        return FRZ_OK;
    }
    frz_code rc = frz_catalog_config_read(context->env, getenv("FRAZIL_CATALOGS"), name, out, &why);
    if (rc != FRZ_OK && rc != FRZ_E_NOT_FOUND) {
        *err = why;
        return rc;
    }
    return FRZ_OK; /* perhaps a file in the current folder */
}

static frz_code open_named(cli_context *context, const frz_catalog_config *config, bool create,
                           const frz_catalog_options *given, frz_error *err)
{
    frz_catalog_options options = *frz_catalog_config_options(config);
    const char *warehouse = setting(context, CLI_OPTION_WAREHOUSE, "FRAZIL_WAREHOUSE");
    options.warehouse = warehouse != NULL ? warehouse : options.warehouse;
    options.name = given->name != NULL ? given->name : options.name;
    options.must_exist = !create;
    options.maps = given->maps;
    options.map_count = given->map_count;
    return frz_catalog_open(context->env, &options, &context->catalog, err);
}

static frz_code fail_no_catalog(const catalog_place *place, frz_error *err)
{
    cli_fail(err, FRZ_E_NOT_FOUND, "there is no catalog %s", place->file);
    cli_hint(err, "frazil import db.name file.parquet makes one; "
                  "--warehouse or --catalog names another place");
    return FRZ_E_NOT_FOUND;
}

static frz_code place_prepare(cli_context *context, const catalog_place *place, bool create,
                              frz_error *err)
{
    struct stat found;
    if (place->file == NULL || stat(place->file, &found) == 0) {
        return FRZ_OK;
    }
    if (!create) {
        return fail_no_catalog(place, err);
    }
    context->made = parent_of(place->file, err);
    if (context->made == NULL) {
        return err->code;
    }
    return make_folders(context->made, &context->made_from, err);
}

/* A command that failed leaves no empty folders behind; folders with something in them stay. */
static void remove_empty_folders(cli_context *context)
{
    char *path = context->made;
    while (path != NULL && strlen(path) >= context->made_from && rmdir(path) == 0) {
        char *slash = strrchr(path, '/');
        path[slash == NULL ? 0 : slash - path] = '\0';
    }
    free(context->made);
    context->made = NULL;
}

frz_code cli_open_catalog(cli_context *context, bool create, frz_error *err)
{
    frz_code rc = FRZ_OK;
    catalog_place place = {0};
    frz_catalog_config *config = NULL;
    frz_location_map *maps = NULL;
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    CLI_TRY(cli_maps_read(context, &maps, &options.map_count, err));
    options.maps = maps;
    options.name = cli_args_value(context->args, CLI_OPTION_CATALOG_NAME);
    CLI_TRY(find_named(context, &config, err));
    if (config != NULL) {
        CLI_TRY(open_named(context, config, create, &options, err));
        goto out;
    }
    CLI_TRY(place_find(context, &place, err));
    CLI_TRY(place_prepare(context, &place, create, err));
    options.uri = place.uri;
    options.warehouse = place.warehouse;
    options.must_exist = !create;
    CLI_TRY(frz_catalog_open(context->env, &options, &context->catalog, err));
out:
    frz_catalog_config_free(config);
    cli_maps_free(maps, options.map_count);
    place_reset(&place);
    return rc;
}

/* ---- tables ---- */

#define NEAR_TABLES_MAX 512

typedef struct table_names {
    char *names[NEAR_TABLES_MAX + 1]; /* NULL-ended */
    size_t count;
} table_names;

static int collect_name(void *ctx, const char *namespace_name, const char *table_name)
{
    table_names *list = ctx;
    cli_text name = {0};
    cli_text_table_name(&name, namespace_name, table_name);
    if (cli_text_c(&name) == NULL || list->count == NEAR_TABLES_MAX) {
        cli_text_reset(&name);
        return 1;
    }
    list->names[list->count++] = name.data;
    return 0;
}

/* For a table that is not there: the one that was perhaps meant. */
static void hint_near_table(cli_context *context, const char *name, frz_error *err)
{
    table_names *list = calloc(1, sizeof *list);
    frz_error ignored = {0};
    if (list == NULL) {
        return;
    }
    if (frz_catalog_list_tables(context->catalog, collect_name, list, &ignored) == FRZ_OK) {
        const char *near = cli_nearest(name, (const char *const *)list->names);
        if (near != NULL && strcmp(near, name) != 0) { /* the same: a file of it is missing */
            cli_hint(err, "did you mean %s?", near);
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        free(list->names[i]);
    }
    free(list);
}

static frz_code load_from_catalog(cli_context *context, frz_error *err)
{
    const char *name = cli_table_name(context);
    frz_code rc = cli_open_catalog(context, false, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    rc = frz_catalog_load_table(context->catalog, name, &context->table, err);
    if (rc == FRZ_E_NOT_FOUND) {
        hint_near_table(context, name, err);
    }
    return rc;
}

frz_code cli_open_metadata(cli_context *context, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table_open_options options = FRZ_TABLE_OPEN_OPTIONS_INIT;
    frz_location_map *maps = NULL;
    char *place = cli_absolute_path(cli_args_value(context->args, CLI_OPTION_METADATA), err);
    if (place == NULL) {
        return err->code;
    }
    CLI_TRY(cli_maps_read(context, &maps, &options.map_count, err));
    options.maps = maps;
    CLI_TRY(frz_table_open(context->env, place, &options, &context->table, err));
out:
    cli_maps_free(maps, options.map_count);
    free(place);
    return rc;
}

frz_code cli_open_table(cli_context *context, frz_error *err)
{
    if (cli_args_has(context->args, CLI_OPTION_METADATA)) {
        return cli_open_metadata(context, err);
    }
    return load_from_catalog(context, err);
}

frz_code cli_snapshot_read(const cli_args *args, cli_snapshot *out, frz_error *err)
{
    const char *id = cli_args_value(args, CLI_OPTION_SNAPSHOT);
    cli_snapshot read = {.as_of = cli_args_value(args, CLI_OPTION_AS_OF),
                         .ref = cli_args_value(args, CLI_OPTION_REF)};
    if ((id != NULL) + (read.as_of != NULL) + (read.ref != NULL) > 1) {
        return cli_fail(err, FRZ_E_ARGUMENT, "--snapshot, --as-of and --ref exclude each other");
    }
    frz_code rc = id == NULL ? FRZ_OK : cli_parse_int64(id, 1, "snapshot", &read.id, err);
    if (rc == FRZ_OK) {
        *out = read;
    }
    return rc;
}

void cli_context_reset(cli_context *context)
{
    frz_table_unref(context->table);
    frz_catalog_close(context->catalog);
    frz_env_free(context->env);
    remove_empty_folders(context);
    cli_text_reset(&context->out.text);
    context->table = NULL;
    context->catalog = NULL;
    context->env = NULL;
}
