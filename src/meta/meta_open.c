/*
 * Opening a table without a catalog: from a metadata file or from the table's folder.
 */
#include "meta/meta_internal.h"

/* What a location names: a metadata file if it says so or is a file, else a folder. */
static frz_code find_file(const frz_env *env, const char *location,
                          const frz_table_open_options *opts, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t size;
    char *access = NULL;
    const char *slash = strrchr(location, '/');
    bool named = strstr(slash == NULL ? location : slash, ".json") != NULL;
    FRZ_TRY(meta_map_location(env, opts->maps, opts->map_count, location, &access, err));
    if (named || frz_file_stat(env, access, &size, NULL) == FRZ_OK) {
        *out = frz_strdup(env, frz_str_from(location));
        rc = *out == NULL ? frz_fail_nomem(err, strlen(location)) : FRZ_OK;
    } else {
        rc = meta_find_newest(env, location, opts->maps, opts->map_count, out, err);
    }
out:
    frz_free(env, access);
    return rc;
}

static frz_code read_file(const frz_env *env, const char *location,
                          const frz_table_open_options *opts, frz_buf *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *access = NULL;
    FRZ_TRY(meta_map_location(env, opts->maps, opts->map_count, location, &access, err));
    FRZ_TRY(frz_file_read_all(env, access, META_JSON_MAX, bytes, err));
    FRZ_TRY(meta_unpack(env, bytes, err));
out:
    frz_free(env, access);
    return frz_context(err, rc, "metadata %s", location);
}

/* A table without a location of its own lies above the folder "metadata" that its file is in. */
static frz_code default_location(const frz_env *env, const char *file, char **out, frz_error *err)
{
    static const char folder[] = "/metadata";
    const char *slash = strrchr(file, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - file);
    size_t tail = sizeof folder - 1;
    if (len <= tail || memcmp(file + len - tail, folder, tail) != 0) {
        return FRZ_OK;
    }
    *out = frz_strdup(env, (frz_str){file, len - tail});
    return *out == NULL ? frz_fail_nomem(err, len) : FRZ_OK;
}

frz_code frz_table_open(const frz_env *env, const char *location,
                        const frz_table_open_options *opts, frz_table **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *absolute = NULL, *file = NULL, *place = NULL;
    frz_table_open_options own = FRZ_TABLE_OPEN_OPTIONS_INIT;
    frz_buf bytes = FRZ_BUF_INIT(env, META_JSON_MAX);
    if (location == NULL || location[0] == '\0') {
        return frz_fail(err, FRZ_E_ARGUMENT, "no metadata file was named");
    }
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    FRZ_TRY(frz_location_from_path(env, location, &absolute, err));
    FRZ_TRY(find_file(env, absolute, &own, &file, err));
    FRZ_TRY(read_file(env, file, &own, &bytes, err));
    if (own.location == NULL) {
        FRZ_TRY(default_location(env, file, &place, err));
        own.location = place;
    }
    FRZ_TRY(frz_table_parse(env, file, frz_buf_view(&bytes), &own, out, err));
out:
    frz_buf_reset(&bytes);
    frz_free(env, place);
    frz_free(env, file);
    frz_free(env, absolute);
    return rc;
}
