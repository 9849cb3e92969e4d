/*
 * Recorded locations, absolute locations, and where files really are. A recorded location is
 * absolute if it starts with a URI scheme; everything else is relative to the table's location,
 * even with a leading slash. Joining is plain concatenation. spec: v4 paths
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

frz_code frz_table_resolve(const frz_table *table, frz_str recorded, char **out, frz_error *err)
{
    if (recorded.len == 0 || !frz_str_is_clean(recorded)) {
        return frz_fail(err, FRZ_E_CORRUPT, "a location is empty or holds a zero byte");
    }
    if (frz_location_has_scheme(recorded)) {
        return concat(table->env, recorded, "", (frz_str){NULL, 0}, out, err);
    }
    if (table->base == NULL) {
        frz_code rc = frz_fail(err, FRZ_E_ARGUMENT,
                               "location \"%.*s\" is relative and the metadata does not say where "
                               "the table is",
                               FRZ_STR_ARG(recorded));
        frz_hint(err, "give the table's location when opening it");
        return rc;
    }
    return concat(table->env, frz_str_from(table->base), "/", recorded, out, err);
}

/* "file:/p" and "file:///p" are one place, so local prefixes are compared as paths. */
static bool map_matches(const char *from, frz_str location, frz_str *rest)
{
    frz_str prefix = frz_str_from(from);
    frz_str local_prefix, local;
    if (frz_location_local_path(prefix, &local_prefix) &&
        frz_location_local_path(location, &local)) {
        prefix = local_prefix;
        location = local;
    }
    if (!frz_str_starts_with(location, prefix)) {
        return false;
    }
    *rest = (frz_str){location.ptr + prefix.len, location.len - prefix.len};
    return true;
}

frz_code frz_table_resolve_access(const frz_table *table, frz_str recorded, char **out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *absolute = NULL;
    char *mapped = NULL;
    frz_str rest, best_rest = {NULL, 0};
    const char *best = NULL;
    FRZ_TRY(frz_table_resolve(table, recorded, &absolute, err));
    for (size_t i = 0; i < table->map_count; i++) {
        if (map_matches(table->maps[i].from, frz_str_from(absolute), &rest) &&
            (best == NULL || rest.len < best_rest.len)) {
            best = table->maps[i].to;
            best_rest = rest;
        }
    }
    if (best != NULL) {
        FRZ_TRY(concat(table->env, frz_str_from(best), "", best_rest, &mapped, err));
    }
    *out = mapped != NULL ? mapped : absolute;
    absolute = mapped != NULL ? absolute : NULL;
out:
    frz_free(table->env, absolute);
    return rc;
}

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

/* FOLDER/NAME, where FOLDER comes from a property and may be relative to the table. */
static frz_code new_path(const frz_table *table, const char *property, const char *fallback,
                         const char *name, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *folder = NULL;
    frz_str setting = frz_metadata_property(&table->metadata, property, fallback);
    while (setting.len > 0 && setting.ptr[setting.len - 1] == '/') {
        setting.len--;
    }
    if (setting.len == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "property %s: expected a folder, found nothing",
                        property);
    }
    FRZ_TRY(frz_table_resolve(table, setting, &folder, err));
    FRZ_TRY(concat(table->env, frz_str_from(folder), "/", frz_str_from(name), out, err));
out:
    frz_free(table->env, folder);
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
