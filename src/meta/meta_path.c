/*
 * Recorded locations, absolute locations, and where files really are. In version 4 a recorded
 * location is absolute if it starts with a URI scheme; everything else is relative to the table's
 * location, even with a leading slash, and joining is plain concatenation. Before version 4 there
 * were no relative locations, but paths without a scheme. spec: Paths in Metadata
 */
#include "meta/meta_internal.h"

static frz_code concat(const frz_env *env, frz_str a, const char *between, frz_str b, char **out,
                       frz_error *err)
{
    size_t middle = strlen(between);
    char *text = frz_alloc(env, a.len + middle + b.len + 1);
    if (text == NULL) {
        return frz_fail_nomem(err, a.len + middle + b.len + 1);
    }
    if (a.len > 0) {
        memcpy(text, a.ptr, a.len);
    }
    memcpy(text + a.len, between, middle);
    if (b.len > 0) {
        memcpy(text + a.len + middle, b.ptr, b.len);
    }
    text[a.len + middle + b.len] = '\0';
    *out = text;
    return FRZ_OK;
}

frz_code meta_join_location(const frz_env *env, frz_str folder, frz_str name, char **out,
                            frz_error *err)
{
    return concat(env, folder, "/", name, out, err);
}

/* ---- recorded -> absolute ---- */

/* A location in two parts, one after the other; the first may be empty. */
typedef struct location_parts {
    frz_str front;
    const char *between;
    frz_str rest;
} location_parts;

/* "hdfs://host" of "hdfs://host/p", "file://" of local ones, else empty. */
static frz_str root_of(frz_str location)
{
    frz_str path;
    if (frz_location_local_path(location, &path)) {
        return FRZ_STR("file://");
    }
    size_t at = 0;
    while (at < location.len && location.ptr[at] != ':') {
        at++;
    }
    frz_str rest = {location.ptr + at, location.len - at};
    if (!frz_str_starts_with(rest, FRZ_STR("://"))) {
        return (frz_str){NULL, 0};
    }
    at += strlen("://");
    while (at < location.len && location.ptr[at] != '/') {
        at++;
    }
    return (frz_str){location.ptr, at};
}

/* The table's root before a path without scheme, or with its scheme and no authority. */
static location_parts legacy_parts(const frz_table *table, frz_str recorded)
{
    frz_str root = table->base == NULL ? FRZ_STR("file://") : root_of(frz_str_from(table->base));
    if (recorded.ptr[0] == '/') {
        return (location_parts){root, "", recorded};
    }
    size_t scheme = 0;
    while (scheme < root.len && root.ptr[scheme] != ':') {
        scheme++;
    }
    size_t bare = scheme + strlen("://");
    if (bare < root.len && recorded.len > bare && recorded.ptr[bare] == '/' &&
        frz_str_starts_with(recorded, (frz_str){root.ptr, bare})) {
        return (location_parts){root, "", {recorded.ptr + bare, recorded.len - bare}};
    }
    return (location_parts){.between = "", .rest = recorded};
}

static frz_code check_recorded(frz_str recorded, frz_error *err)
{
    return recorded.len > 0 && frz_str_is_clean(recorded)
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "a location is empty or holds a zero byte");
}

static frz_code parts_of(const frz_table *table, frz_str recorded, location_parts *out,
                         frz_error *err)
{
    frz_code rc = check_recorded(recorded, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (table->metadata.format_version < 4) {
        *out = legacy_parts(table, recorded);
    } else if (frz_location_has_scheme(recorded)) {
        *out = (location_parts){.between = "", .rest = recorded};
    } else if (table->base != NULL) {
        *out = (location_parts){frz_str_from(table->base), "/", recorded};
    } else {
        rc = frz_fail(err, FRZ_E_ARGUMENT,
                      "location \"%.*s\" is relative and the metadata does not say where the table "
                      "is",
                      FRZ_STR_ARG(recorded));
        frz_hint(err, "give the table's location when opening it");
    }
    return rc;
}

static frz_code parts_join(const location_parts *parts, frz_arena *arena, frz_str *out,
                           frz_error *err)
{
    if (parts->front.len == 0) {
        *out = parts->rest;
        return FRZ_OK;
    }
    char *text = frz_arena_printf(arena, "%.*s%s%.*s", FRZ_STR_ARG(parts->front), parts->between,
                                  FRZ_STR_ARG(parts->rest));
    *out = frz_str_from(text);
    return text != NULL ? FRZ_OK : frz_fail_nomem(err, parts->front.len + parts->rest.len + 2);
}

frz_code frz_table_resolve(const frz_table *table, frz_str recorded, char **out, frz_error *err)
{
    location_parts parts;
    frz_code rc = parts_of(table, recorded, &parts, err);
    return rc == FRZ_OK ? concat(table->env, parts.front, parts.between, parts.rest, out, err) : rc;
}

frz_code frz_table_resolve_view(const frz_table *table, frz_str recorded, frz_arena *arena,
                                frz_str *out, frz_error *err)
{
    location_parts parts;
    frz_code rc = parts_of(table, recorded, &parts, err);
    return rc == FRZ_OK ? parts_join(&parts, arena, out, err) : rc;
}

frz_code frz_table_resolve_legacy(const frz_table *table, frz_str recorded, frz_arena *arena,
                                  frz_str *out, frz_error *err)
{
    frz_code rc = check_recorded(recorded, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    location_parts parts = legacy_parts(table, recorded);
    return parts_join(&parts, arena, out, err);
}

frz_code meta_settle_legacy(const frz_table *table, frz_arena *arena, frz_str *location,
                            frz_error *err)
{
    return table->metadata.format_version < 4
               ? FRZ_OK
               : frz_table_resolve_legacy(table, *location, arena, location, err);
}

/* ---- absolute -> where files are ---- */

/* Behind a prefix that is a folder of the location, or the location itself. */
static bool below(frz_str prefix, frz_str location, frz_str *rest)
{
    if (!frz_str_starts_with(location, prefix)) {
        return false;
    }
    *rest = (frz_str){location.ptr + prefix.len, location.len - prefix.len};
    bool at_border = prefix.len > 0 && prefix.ptr[prefix.len - 1] == '/';
    return at_border || rest->len == 0 || rest->ptr[0] == '/';
}

static frz_str without_slash(frz_str text)
{
    text.len -= text.len > 0 && text.ptr[text.len - 1] == '/';
    return text;
}

frz_code meta_map_location(const frz_env *env, const frz_location_map *maps, size_t count,
                           const char *location, char **out, frz_error *err)
{
    frz_place place = frz_location_place(frz_str_from(location));
    const frz_location_map *best = NULL;
    frz_str rest, best_rest = {NULL, 0};
    for (size_t i = 0; i < count; i++) {
        frz_place from = frz_location_place(frz_str_from(maps[i].from));
        if (frz_str_equal(from.scheme, place.scheme) &&
            below(without_slash(from.rest), place.rest, &rest) &&
            (best == NULL || rest.len < best_rest.len)) {
            best = &maps[i];
            best_rest = rest;
        }
    }
    if (best == NULL) {
        return concat(env, frz_str_from(location), "", (frz_str){NULL, 0}, out, err);
    }
    if (best_rest.len > 0 && best_rest.ptr[0] == '/') {
        best_rest = (frz_str){best_rest.ptr + 1, best_rest.len - 1};
    }
    return concat(env, without_slash(frz_str_from(best->to)), best_rest.len > 0 ? "/" : "",
                  best_rest, out, err);
}

frz_code frz_table_resolve_access(const frz_table *table, frz_str recorded, char **out,
                                  frz_error *err)
{
    char *absolute = NULL;
    frz_code rc = frz_table_resolve(table, recorded, &absolute, err);
    if (rc != FRZ_OK || table->map_count == 0) {
        *out = absolute;
        return rc;
    }
    rc = meta_map_location(table->env, table->maps, table->map_count, absolute, out, err);
    frz_free(table->env, absolute);
    return rc;
}

/* ---- new files ---- */

frz_str frz_table_relativize(const frz_table *table, frz_str absolute)
{
    frz_str base = frz_str_from(table->base);
    if (base.ptr == NULL || absolute.len < base.len + 2 || !frz_str_starts_with(absolute, base) ||
        absolute.ptr[base.len] != '/') {
        return absolute;
    }
    frz_str rest = {absolute.ptr + base.len + 1, absolute.len - base.len - 1};
    /* a rest that looks absolute would be read as such */
    return frz_location_has_scheme(rest) ? absolute : rest;
}

/* FOLDER/NAME, where FOLDER comes from a property and may be relative to the table, in every
 * version. */
static frz_code new_path(const frz_table *table, const char *property, const char *fallback,
                         const char *name, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *folder = NULL, *path = NULL;
    frz_str setting = frz_metadata_property(&table->metadata, property, fallback);
    while (setting.len > 0 && setting.ptr[setting.len - 1] == '/') {
        setting.len--;
    }
    if (setting.len == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "property %s: expected a folder, found nothing",
                        property);
    }
    bool absolute = frz_location_has_scheme(setting) ||
                    (table->metadata.format_version < 4 && setting.ptr[0] == '/');
    if (!absolute && table->base != NULL) {
        FRZ_TRY(concat(table->env, frz_str_from(table->base), "/", setting, &folder, err));
        setting = frz_str_from(folder);
    }
    FRZ_TRY(frz_table_resolve(table, setting, &path, err));
    FRZ_TRY(concat(table->env, frz_str_from(path), "/", frz_str_from(name), out, err));
out:
    frz_free(table->env, folder);
    frz_free(table->env, path);
    return rc;
}

frz_code frz_table_new_metadata_path(const frz_table *table, const char *name, char **out,
                                     frz_error *err)
{
    return new_path(table, "write.metadata.path", "metadata", name, out, err);
}

frz_code frz_table_new_data_path(const frz_table *table, const char *name, char **out,
                                 frz_error *err)
{
    return new_path(table, "write.data.path", "data", name, out, err);
}

/* ---- location maps ---- */

frz_code frz_location_maps_copy(frz_arena *arena, const frz_location_map *maps, size_t count,
                                const frz_location_map **out, frz_error *err)
{
    *out = NULL;
    if (count == 0) {
        return FRZ_OK;
    }
    frz_location_map *copy = frz_arena_array(arena, count, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, count * sizeof *copy);
    }
    for (size_t i = 0; i < count; i++) {
        copy[i].from = frz_arena_strdup(arena, frz_str_from(maps[i].from));
        copy[i].to = frz_arena_strdup(arena, frz_str_from(maps[i].to));
        if (copy[i].from == NULL || copy[i].to == NULL) {
            return frz_fail_nomem(err, strlen(maps[i].from));
        }
    }
    *out = copy;
    return FRZ_OK;
}
