/*
 * Locations: which of them are local, and how a path becomes one.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io_file.h"

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* spec: v4 paths, an absolute location starts with a URI scheme (RFC 3986, 3.1) */
bool frz_location_has_scheme(frz_str location)
{
    if (location.len == 0 || !is_alpha(location.ptr[0])) {
        return false;
    }
    for (size_t i = 1; i < location.len; i++) {
        char c = location.ptr[i];
        if (c == ':') {
            return true;
        }
        if (!is_alpha(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') {
            return false;
        }
    }
    return false;
}

bool frz_location_local_path(frz_str location, frz_str *path)
{
    frz_str rest = location;
    if (frz_location_has_scheme(location)) {
        if (location.len < 5 ||
            !frz_str_equal_nocase((frz_str){location.ptr, 5}, FRZ_STR("file:"))) {
            return false;
        }
        rest = (frz_str){location.ptr + 5, location.len - 5};
        if (frz_str_starts_with(rest, FRZ_STR("//"))) {
            rest = (frz_str){rest.ptr + 2, rest.len - 2};
            if (rest.len == 0 || rest.ptr[0] != '/') {
                return false; /* another host's files */
            }
        }
    }
    if (rest.len == 0 || !frz_str_is_clean(rest)) {
        return false;
    }
    *path = rest;
    return true;
}

/* Length of the scheme, without its colon. */
static size_t scheme_length(frz_str location)
{
    return (size_t)((const char *)memchr(location.ptr, ':', location.len) - location.ptr);
}

frz_place frz_location_place(frz_str location)
{
    static const char *const one_scheme[] = {"s3", "s3a", "s3n"};
    frz_place place = {FRZ_STR("file"), location};
    if (frz_location_local_path(location, &place.rest) || !frz_location_has_scheme(location)) {
        while (frz_str_starts_with(place.rest, FRZ_STR("./"))) {
            place.rest = (frz_str){place.rest.ptr + 2, place.rest.len - 2};
        }
        return place;
    }
    size_t len = scheme_length(location);
    place.scheme = (frz_str){location.ptr, len};
    place.rest = (frz_str){location.ptr + len + 1, location.len - len - 1};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(one_scheme); i++) {
        if (frz_str_equal_nocase(place.scheme, frz_str_from(one_scheme[i]))) {
            place.scheme = FRZ_STR("s3");
        }
    }
    return place;
}

bool frz_place_equal(frz_place a, frz_place b)
{
    return frz_str_equal(a.rest, b.rest) && frz_str_equal(a.scheme, b.scheme);
}

bool frz_location_same(frz_str a, frz_str b)
{
    return frz_str_equal(a, b) || frz_place_equal(frz_location_place(a), frz_location_place(b));
}

frz_code frz_location_from_path(const frz_env *env, const char *path, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(env, PATH_MAX * 2);
    if (frz_location_has_scheme(frz_str_from(path))) {
        FRZ_TRY(frz_buf_append_str(&text, path, err));
    } else {
        char folder[PATH_MAX];
        while (path[0] == '.' && path[1] == '/') {
            path += 2 + strspn(path + 2, "/");
        }
        FRZ_TRY(frz_buf_append_str(&text, "file://", err));
        if (path[0] != '/') {
            if (getcwd(folder, sizeof folder) == NULL) {
                rc = frz_fail(err, FRZ_E_IO, "the current folder has no path");
                goto out;
            }
            FRZ_TRY(frz_buf_append_str(&text, folder, err));
            if (path[0] != '\0' && strcmp(path, ".") != 0) {
                FRZ_TRY(frz_buf_append_str(&text, "/", err));
            }
        }
        if (strcmp(path, ".") != 0) {
            FRZ_TRY(frz_buf_append_str(&text, path, err));
        }
    }
    *out = frz_strdup(env, frz_buf_view(&text));
    rc = *out == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK;
out:
    frz_buf_reset(&text);
    return rc;
}

frz_code frz_location_real_folder(const frz_env *env, frz_str location, char **out, frz_error *err)
{
    char path[PATH_MAX], real[PATH_MAX];
    frz_str local;
    if (!frz_location_local_path(location, &local) || local.len >= sizeof path) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "%.*s is not a local path", FRZ_STR_ARG(location));
    }
    while (local.len > 0 && local.ptr[local.len - 1] != '/') {
        local.len--;
    }
    memcpy(path, local.ptr, local.len);
    path[local.len] = '\0';
    if (realpath(local.len == 0 ? "." : path, real) == NULL) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "folder %s is not there", path);
    }
    *out = frz_strdup(env, frz_str_from(real));
    return *out != NULL ? FRZ_OK : frz_fail_nomem(err, strlen(real));
}
