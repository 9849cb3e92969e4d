/*
 * Variants as JSON text.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "frazil/variant.h"
#include "type/type_internal.h"
#include "type/type_variant.h"

typedef struct printer {
    const frz_variant_names *names;
    frz_variant_put put;
    void *ctx;
    frz_error *err;
} printer;

static void put(const printer *p, const char *text)
{
    p->put(p->ctx, text, strlen(text));
}

/* A text without anything to escape. */
static void put_quoted(const printer *p, const char *text, size_t len)
{
    put(p, "\"");
    p->put(p->ctx, text, len);
    put(p, "\"");
}

static void put_escape(const printer *p, unsigned char c)
{
    static const char letters[] = "btn?fr";
    char text[8];
    if (c == '"' || c == '\\') {
        snprintf(text, sizeof text, "\\%c", c);
    } else if (c >= '\b' && c <= '\r' && c != '\v') {
        snprintf(text, sizeof text, "\\%c", letters[c - '\b']);
    } else {
        snprintf(text, sizeof text, "\\u%04x", c);
    }
    put(p, text);
}

static void put_string(const printer *p, frz_str s)
{
    size_t from = 0;
    put(p, "\"");
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            p->put(p->ctx, s.ptr + from, i - from);
            put_escape(p, c);
            from = i + 1;
        }
    }
    p->put(p->ctx, s.ptr + from, s.len - from);
    put(p, "\"");
}

static void put_hex(const printer *p, frz_str bytes)
{
    char text[128];
    put(p, "\"");
    for (size_t i = 0; i < bytes.len; i += sizeof text / 2) {
        frz_str some = {bytes.ptr + i, FRZ_MIN(bytes.len - i, sizeof text / 2)};
        p->put(p->ctx, text, type_hex_text(some, text));
    }
    put(p, "\"");
}

static void put_uuid(const printer *p, frz_str bytes)
{
    char text[40];
    put_quoted(p, text, type_uuid_text(bytes, text));
}

static void put_floating(const printer *p, const frz_variant *v)
{
    char text[40];
    size_t len = v->kind == FRZ_VARIANT_FLOAT ? frz_float_text((float)v->f64, text)
                                              : frz_double_text(v->f64, text);
    if (isfinite(v->f64)) {
        p->put(p->ctx, text, len);
    } else {
        put_quoted(p, text, len);
    }
}

static void put_decimal(const printer *p, const frz_variant *v)
{
    char text[80];
    frz_i128 unscaled = v->i128;
    int32_t scale = v->scale;
    while (scale > 0 && unscaled % 10 == 0) {
        unscaled /= 10;
        scale--;
    }
    put_quoted(p, text, frz_decimal_text(unscaled, scale, text));
}

static void put_number(const printer *p, int64_t value)
{
    char text[24];
    p->put(p->ctx, text, (size_t)snprintf(text, sizeof text, "%" PRId64, value));
}

static void put_time(const printer *p, const frz_variant *v)
{
    char text[80];
    size_t len;
    switch (v->kind) {
    case FRZ_VARIANT_DATE:
        len = type_date_text(v->i64, text);
        break;
    case FRZ_VARIANT_TIME:
        len = type_time_text(v->i64, 6, text);
        break;
    case FRZ_VARIANT_TIMESTAMP:
    case FRZ_VARIANT_TIMESTAMPTZ:
        len = type_timestamp_text(v->i64, 6, v->kind == FRZ_VARIANT_TIMESTAMPTZ, text);
        break;
    default:
        len = type_timestamp_text(v->i64, 9, v->kind == FRZ_VARIANT_TIMESTAMPTZ_NS, text);
        break;
    }
    put_quoted(p, text, len);
}

static frz_code put_value(const printer *p, const frz_variant *v, int depth);

static frz_code put_items(const printer *p, const frz_variant *v, int depth)
{
    frz_code rc = FRZ_OK;
    bool is_object = v->kind == FRZ_VARIANT_OBJECT;
    frz_variant item;
    frz_str name;
    uint32_t id;
    if (depth == FRZ_VARIANT_MAX_DEPTH) {
        return frz_fail(p->err, FRZ_E_LIMIT, "variant: nested more than %d levels deep",
                        FRZ_VARIANT_MAX_DEPTH);
    }
    put(p, is_object ? "{" : "[");
    for (uint32_t i = 0; i < v->count; i++) {
        put(p, i == 0 ? "" : ",");
        if (is_object) {
            FRZ_TRY(frz_variant_field_name(v, p->names, i, &id, &name, p->err));
            put_string(p, name);
            put(p, ":");
        }
        FRZ_TRY(frz_variant_item(v, i, &item, p->err));
        FRZ_TRY(put_value(p, &item, depth + 1));
    }
    put(p, is_object ? "}" : "]");
out:
    return rc;
}

static frz_code put_value(const printer *p, const frz_variant *v, int depth)
{
    switch (v->kind) {
    case FRZ_VARIANT_NULL:
        put(p, "null");
        break;
    case FRZ_VARIANT_TRUE:
    case FRZ_VARIANT_FALSE:
        put(p, v->kind == FRZ_VARIANT_TRUE ? "true" : "false");
        break;
    case FRZ_VARIANT_INT8:
    case FRZ_VARIANT_INT16:
    case FRZ_VARIANT_INT32:
    case FRZ_VARIANT_INT64:
        put_number(p, v->i64);
        break;
    case FRZ_VARIANT_FLOAT:
    case FRZ_VARIANT_DOUBLE:
        put_floating(p, v);
        break;
    case FRZ_VARIANT_DECIMAL4:
    case FRZ_VARIANT_DECIMAL8:
    case FRZ_VARIANT_DECIMAL16:
        put_decimal(p, v);
        break;
    case FRZ_VARIANT_STRING:
        put_string(p, v->bytes);
        break;
    case FRZ_VARIANT_BINARY:
        put_hex(p, v->bytes);
        break;
    case FRZ_VARIANT_UUID:
        put_uuid(p, v->bytes);
        break;
    case FRZ_VARIANT_OBJECT:
    case FRZ_VARIANT_ARRAY:
        return put_items(p, v, depth);
    default:
        put_time(p, v);
        break;
    }
    return FRZ_OK;
}

frz_code frz_variant_print(const frz_variant_names *names, frz_str value, frz_variant_put put_text,
                           void *ctx, frz_error *err)
{
    printer p = {names, put_text, ctx, err};
    frz_variant v;
    frz_code rc = frz_variant_read(value, &v, err);
    return rc == FRZ_OK ? put_value(&p, &v, 0) : rc;
}

frz_code frz_variant_to_json(const void *metadata, size_t metadata_size, const void *value,
                             size_t value_size,
                             void (*put_text)(void *ctx, const char *text, size_t size), void *ctx,
                             frz_error *err)
{
    frz_variant_names names;
    frz_code rc = frz_variant_names_read((frz_str){metadata, metadata_size}, &names, err);
    return rc == FRZ_OK
               ? frz_variant_print(&names, (frz_str){value, value_size}, put_text, ctx, err)
               : rc;
}
