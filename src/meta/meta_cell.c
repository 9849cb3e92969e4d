/*
 * Values of manifest columns that must be there, and copies of those that outlive their batch.
 */
#include "meta/meta_cell.h"

frz_code meta_want_i64(meta_cell c, const char *name, int64_t *out, frz_error *err)
{
    if (meta_cell_null(c)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: expected a number, found null", name);
    }
    *out = frz_get_i64(c.array, c.row);
    return FRZ_OK;
}

frz_code meta_want_i32(meta_cell c, const char *name, int32_t *out, frz_error *err)
{
    if (meta_cell_null(c)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: expected a number, found null", name);
    }
    *out = frz_get_i32(c.array, c.row);
    return FRZ_OK;
}

frz_code meta_want_count(meta_cell c, const char *name, int64_t *out, frz_error *err)
{
    frz_code rc = meta_want_i64(c, name, out, err);
    if (rc == FRZ_OK && *out < 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: expected no negative number, found %lld", name,
                      (long long)*out);
    }
    return rc;
}

frz_code meta_want_text(meta_cell c, const char *name, frz_arena *arena, frz_str *out,
                        frz_error *err)
{
    frz_str text = meta_cell_str(c);
    if (text.len == 0 || !frz_str_is_clean(text)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: expected text, found %s", name,
                        text.ptr == NULL ? "null"
                        : text.len == 0  ? "an empty text"
                                         : "a zero byte in it");
    }
    return frz_arena_str(arena, text, out, err);
}

frz_code meta_copy_bytes(meta_cell c, frz_arena *arena, frz_str *out, frz_error *err)
{
    frz_str bytes = meta_cell_str(c);
    *out = bytes;
    return bytes.ptr == NULL ? FRZ_OK : frz_arena_str(arena, bytes, out, err);
}

frz_code meta_copy_id_list(meta_cell c, const char *name, frz_arena *arena, const int32_t **out,
                           size_t *count, frz_error *err)
{
    size_t n = meta_cell_size(c);
    int32_t *values = frz_arena_array(arena, n, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, n * sizeof *values);
    }
    for (size_t i = 0; i < n; i++) {
        int64_t id = 0;
        frz_code rc = meta_want_i64(meta_cell_element(c, i), name, &id, err);
        if (rc == FRZ_OK && (id < 0 || id > INT32_MAX)) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%s: expected field ids, found %lld", name,
                          (long long)id);
        }
        if (rc != FRZ_OK) {
            return rc;
        }
        values[i] = (int32_t)id;
    }
    *out = values;
    *count = n;
    return FRZ_OK;
}

frz_code meta_copy_count_list(meta_cell c, const char *name, frz_arena *arena, const int64_t **out,
                              size_t *count, frz_error *err)
{
    size_t n = meta_cell_size(c);
    int64_t *values = frz_arena_array(arena, n, sizeof *values);
    if (values == NULL) {
        return frz_fail_nomem(err, n * sizeof *values);
    }
    for (size_t i = 0; i < n; i++) {
        frz_code rc = meta_want_count(meta_cell_element(c, i), name, &values[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    *out = values;
    *count = n;
    return FRZ_OK;
}
