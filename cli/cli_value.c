/*
 * One value of an Arrow array as text, of any type. Offsets count at every level: row i of an array
 * is slot offset + i of its buffers, and a struct's or fixed-size list's offset applies to its
 * children besides their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static bool bit_get(const void *bits, int64_t i)
{
    return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

static int64_t load_signed(const void *buffer, int64_t width, int64_t slot)
{
    switch (width) {
    case 1:
        return ((const int8_t *)buffer)[slot];
    case 2:
        return ((const int16_t *)buffer)[slot];
    case 4:
        return ((const int32_t *)buffer)[slot];
    default:
        return ((const int64_t *)buffer)[slot];
    }
}

static uint64_t load_unsigned(const void *buffer, int64_t width, int64_t slot)
{
    switch (width) {
    case 1:
        return ((const uint8_t *)buffer)[slot];
    case 2:
        return ((const uint16_t *)buffer)[slot];
    case 4:
        return ((const uint32_t *)buffer)[slot];
    default:
        return ((const uint64_t *)buffer)[slot];
    }
}

static bool is_invalid(const struct ArrowArray *array, int64_t i)
{
    return array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] != NULL &&
           !bit_get(array->buffers[0], array->offset + i);
}

bool cli_value_int(const cli_type *type, const struct ArrowArray *array, int64_t i, int64_t *out)
{
    if ((type->kind != CLI_INT && type->kind != CLI_UINT) || is_invalid(array, i)) {
        return false;
    }
    int64_t slot = array->offset + i;
    *out = type->kind == CLI_INT ? load_signed(array->buffers[1], type->width, slot)
                                 : (int64_t)load_unsigned(array->buffers[1], type->width, slot);
    return true;
}

/* ---- values that lie elsewhere ---- */

/* A value by its type, array and row. */
typedef struct place {
    const cli_type *type;
    const struct ArrowArray *array;
    int64_t i;
} place;

static place union_place(const place *p)
{
    int64_t slot = p->array->offset + p->i;
    int code = ((const int8_t *)p->array->buffers[0])[slot];
    size_t child = 0;
    for (const char *at = p->type->codes; strtol(at, NULL, 10) != code; child++) {
        at = strchr(at, ',');
        if (at == NULL) {
            child = 0; /* a code of no child breaks the format's rules */
            break;
        }
        at++;
    }
    if (p->type->width > 0) {
        slot = load_signed(p->array->buffers[1], p->type->width, slot);
    }
    return (place){&p->type->children[child], p->array->children[child], slot};
}

/* The first run that ends behind the row. */
static place runs_place(const place *p)
{
    const struct ArrowArray *ends = p->array->children[0];
    int64_t row = p->array->offset + p->i;
    int64_t low = 0;
    int64_t high = ends->length - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t end =
            load_signed(ends->buffers[1], p->type->children[0].width, ends->offset + middle);
        low = end > row ? low : middle + 1;
        high = end > row ? middle : high;
    }
    return (place){&p->type->children[1], p->array->children[1], low};
}

/* Where the value really is. A null index of a dictionary stays where it is. */
static place place_of(const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    place p = {type, array, i};
    int64_t index;
    for (;;) {
        if (p.type->kind == CLI_UNION) {
            p = union_place(&p);
        } else if (p.type->kind == CLI_RUNS) {
            p = runs_place(&p);
        } else if (p.type->kind == CLI_DICTIONARY &&
                   cli_value_int(&p.type->children[0], p.array, p.i, &index)) {
            p = (place){&p.type->children[1], p.array->dictionary, index};
        } else {
            return p;
        }
    }
}

static bool is_null_at(const place *p)
{
    return p->type->kind == CLI_NULL || p->type->kind == CLI_DICTIONARY ||
           is_invalid(p->array, p->i);
}

bool cli_value_is_null(const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    place p = place_of(type, array, i);
    return is_null_at(&p);
}

void cli_value_range(const cli_type *type, const struct ArrowArray *array, int64_t i,
                     int64_t *first, int64_t *count)
{
    int64_t slot = array->offset + i;
    if (type->kind == CLI_FIXED_LIST) {
        *first = slot * type->width;
        *count = type->width;
        return;
    }
    bool large = type->kind == CLI_LARGE_LIST || type->kind == CLI_LARGE_LIST_VIEW;
    int64_t width = large ? 8 : 4;
    *first = load_signed(array->buffers[1], width, slot);
    if (type->kind == CLI_LIST_VIEW || type->kind == CLI_LARGE_LIST_VIEW) {
        *count = load_signed(array->buffers[2], width, slot);
        return;
    }
    *count = load_signed(array->buffers[1], width, slot + 1) - *first;
}

#define VIEW_SIZE 16
#define VIEW_INLINE 12 /* more bytes than that lie in a buffer of their own */

static void view_bytes(const struct ArrowArray *array, int64_t slot, const uint8_t **bytes,
                       size_t *len)
{
    const uint8_t *view = (const uint8_t *)array->buffers[1] + slot * VIEW_SIZE;
    int32_t parts[4]; /* length, first bytes, buffer, offset */
    memcpy(parts, view, sizeof parts);
    *len = (size_t)parts[0];
    *bytes = parts[0] <= VIEW_INLINE ? view + 4
                                     : (const uint8_t *)array->buffers[2 + parts[2]] + parts[3];
}

static void bytes_of(const cli_type *type, const struct ArrowArray *array, int64_t i,
                     const uint8_t **bytes, size_t *len)
{
    int64_t slot = array->offset + i;
    if (type->kind == CLI_FIXED || type->kind == CLI_UUID) {
        *bytes = (const uint8_t *)array->buffers[1] + slot * type->width;
        *len = (size_t)type->width;
        return;
    }
    if (type->kind == CLI_STRING_VIEW || type->kind == CLI_BINARY_VIEW) {
        view_bytes(array, slot, bytes, len);
        return;
    }
    bool large = type->kind == CLI_LARGE_STRING || type->kind == CLI_LARGE_BINARY;
    int64_t from = load_signed(array->buffers[1], large ? 8 : 4, slot);
    int64_t to = load_signed(array->buffers[1], large ? 8 : 4, slot + 1);
    *bytes = to > from ? (const uint8_t *)array->buffers[2] + from : NULL;
    *len = (size_t)(to - from);
}

/* ---- single values ---- */

static void text_uuid(cli_text *out, const uint8_t *bytes)
{
    static const size_t parts[] = {4, 2, 2, 2, 6};
    for (size_t i = 0; i < 5; i++) {
        if (i > 0) {
            cli_text_char(out, '-');
        }
        cli_text_hex(out, bytes, parts[i]);
        bytes += parts[i];
    }
}

/* out has room for CLI_NUMBER_TEXT bytes. */
static size_t number_text(const cli_type *type, const struct ArrowArray *array, int64_t slot,
                          char *out)
{
    const void *values = array->buffers[1];
    switch (type->kind) {
    case CLI_INT:
        return cli_int_text(load_signed(values, type->width, slot), out);
    case CLI_UINT:
        return cli_uint_text(load_unsigned(values, type->width, slot), out);
    case CLI_HALF:
        return cli_half_text(((const uint16_t *)values)[slot], out);
    case CLI_FLOAT:
        return cli_float_text(((const float *)values)[slot], out);
    case CLI_DOUBLE:
        return cli_double_text(((const double *)values)[slot], out);
    default:
        return cli_decimal_text((const uint8_t *)values + type->width * slot, (size_t)type->width,
                                type->scale, out);
    }
}

static void text_number(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                        int64_t slot)
{
    char number[CLI_NUMBER_TEXT];
    cli_text_bytes(out, number, number_text(type, array, slot, number));
}

static void text_date(cli_text *out, const cli_type *type, int64_t value)
{
    if (type->width == 8) {
        int64_t per_day = 86400000;
        value = value / per_day - (value % per_day < 0);
    }
    cli_text_date(out, value);
}

static void text_interval(cli_text *out, const cli_type *type, const void *values, int64_t slot)
{
    const int32_t *parts = (const int32_t *)values + slot * (type->width / 4);
    int64_t nanos;
    switch (type->width) {
    case 4:
        cli_text_printf(out, "P%" PRId32 "M", parts[0]);
        break;
    case 8:
        cli_text_interval(out, 0, parts[0], parts[1], type->unit);
        break;
    default:
        memcpy(&nanos, parts + 2, sizeof nanos);
        cli_text_interval(out, parts[0], parts[1], nanos, type->unit);
        break;
    }
}

static void text_time(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                      int64_t slot)
{
    if (type->kind == CLI_INTERVAL) {
        text_interval(out, type, array->buffers[1], slot);
        return;
    }
    int64_t value = load_signed(array->buffers[1], type->width, slot);
    if (type->kind == CLI_DATE) {
        text_date(out, type, value);
    } else if (type->kind == CLI_DURATION) {
        cli_text_duration(out, value, type->unit);
    } else if (type->kind == CLI_TIME) {
        cli_text_time(out, value, type->unit);
    } else {
        cli_text_timestamp(out, value, type->unit, type->zoned);
    }
}

static void text_bytes(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                       int64_t i)
{
    const uint8_t *bytes;
    size_t len;
    bytes_of(type, array, i, &bytes, &len);
    if (type->kind == CLI_UUID) {
        text_uuid(out, bytes);
    } else if (type->kind == CLI_STRING || type->kind == CLI_LARGE_STRING ||
               type->kind == CLI_STRING_VIEW) {
        cli_text_bytes(out, bytes, len);
    } else {
        cli_text_hex(out, bytes, len);
    }
}

/* A value that is neither null nor nested, without quotes. */
static void text_scalar(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                        int64_t i)
{
    switch (type->kind) {
    case CLI_BOOL:
        cli_text_str(out, bit_get(array->buffers[1], array->offset + i) ? "true" : "false");
        break;
    case CLI_INT:
    case CLI_UINT:
    case CLI_HALF:
    case CLI_FLOAT:
    case CLI_DOUBLE:
    case CLI_DECIMAL:
        text_number(out, type, array, array->offset + i);
        break;
    case CLI_DATE:
    case CLI_TIME:
    case CLI_TIMESTAMP:
    case CLI_DURATION:
    case CLI_INTERVAL:
        text_time(out, type, array, array->offset + i);
        break;
    default:
        text_bytes(out, type, array, i);
        break;
    }
}

/* ---- JSON ---- */

static void json_string(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                        int64_t i)
{
    const uint8_t *bytes;
    size_t len;
    bytes_of(type, array, i, &bytes, &len);
    cli_text_json_string(out, (const char *)bytes, len);
}

static void json_struct(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                        int64_t i)
{
    cli_text_char(out, '{');
    for (size_t c = 0; c < type->child_count; c++) {
        const cli_type *child = &type->children[c];
        if (c > 0) {
            cli_text_char(out, ',');
        }
        cli_text_json_string(out, child->name, strlen(child->name));
        cli_text_char(out, ':');
        cli_value_json(out, child, array->children[c], array->offset + i);
    }
    cli_text_char(out, '}');
}

static void json_entry(cli_text *out, const cli_type *entry, const struct ArrowArray *array,
                       int64_t i)
{
    cli_text_str(out, "{\"key\":");
    cli_value_json(out, &entry->children[0], array->children[0], array->offset + i);
    cli_text_str(out, ",\"value\":");
    cli_value_json(out, &entry->children[1], array->children[1], array->offset + i);
    cli_text_char(out, '}');
}

static void json_list(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                      int64_t i)
{
    int64_t first, count;
    cli_value_range(type, array, i, &first, &count);
    cli_text_char(out, '[');
    for (int64_t k = 0; k < count; k++) {
        if (k > 0) {
            cli_text_char(out, ',');
        }
        if (type->kind == CLI_MAP) {
            json_entry(out, &type->children[0], array->children[0], first + k);
        } else {
            cli_value_json(out, &type->children[0], array->children[0], first + k);
        }
    }
    cli_text_char(out, ']');
}

static void put_text(void *ctx, const char *text, size_t size)
{
    cli_text_bytes(ctx, text, size);
}

static void json_variant(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                         int64_t i)
{
    const uint8_t *metadata, *value;
    size_t metadata_len, value_len;
    int64_t slot = array->offset + i;
    bytes_of(&type->children[0], array->children[0], slot, &metadata, &metadata_len);
    bytes_of(&type->children[1], array->children[1], slot, &value, &value_len);
    frz_code rc =
        frz_variant_to_json(metadata, metadata_len, value, value_len, put_text, out, NULL);
    if (rc != FRZ_OK && out->failed == FRZ_OK) {
        out->failed = FRZ_E_CORRUPT;
    }
}

/* NaN and the infinities are strings, as JSON has no numbers for them. */
static void json_real(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                      int64_t slot)
{
    char number[CLI_NUMBER_TEXT];
    size_t len = number_text(type, array, slot, number);
    const char *quote = number[0] == 'N' || number[0] == 'I' || number[1] == 'I' ? "\"" : "";
    cli_text_str(out, quote);
    cli_text_bytes(out, number, len);
    cli_text_str(out, quote);
}

static bool is_list(cli_kind kind)
{
    return kind == CLI_LIST || kind == CLI_LARGE_LIST || kind == CLI_LIST_VIEW ||
           kind == CLI_LARGE_LIST_VIEW || kind == CLI_FIXED_LIST || kind == CLI_MAP;
}

static void json_at(cli_text *out, const place *p)
{
    const cli_type *type = p->type;
    switch (type->kind) {
    case CLI_BOOL:
    case CLI_INT:
    case CLI_UINT:
        text_scalar(out, type, p->array, p->i);
        break;
    case CLI_HALF:
    case CLI_FLOAT:
    case CLI_DOUBLE:
        json_real(out, type, p->array, p->array->offset + p->i);
        break;
    case CLI_STRING:
    case CLI_LARGE_STRING:
    case CLI_STRING_VIEW:
        json_string(out, type, p->array, p->i);
        break;
    case CLI_STRUCT:
        json_struct(out, type, p->array, p->i);
        break;
    case CLI_VARIANT:
        json_variant(out, type, p->array, p->i);
        break;
    default:
        if (is_list(type->kind)) {
            json_list(out, type, p->array, p->i);
            break;
        }
        cli_text_char(out, '"');
        text_scalar(out, type, p->array, p->i);
        cli_text_char(out, '"');
        break;
    }
}

void cli_value_json(cli_text *out, const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    place p = place_of(type, array, i);
    if (is_null_at(&p)) {
        cli_text_str(out, "null");
    } else {
        json_at(out, &p);
    }
}

void cli_value_plain(cli_text *out, const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    place p = place_of(type, array, i);
    if (is_null_at(&p)) {
        return;
    }
    if (p.type->kind == CLI_STRUCT || p.type->kind == CLI_VARIANT || is_list(p.type->kind)) {
        json_at(out, &p);
    } else {
        text_scalar(out, p.type, p.array, p.i);
    }
}
