/*
 * One value of an Arrow array as text. Offsets count at every level: row i of an array is slot
 * offset + i of its buffers, and a struct's or fixed-size list's offset applies to its children
 * besides their own.
 */
#include <string.h>

#include "cli.h"

static bool bit_get(const void *bits, int64_t i)
{
    return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

bool cli_value_is_null(const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    if (type->kind == CLI_NULL) {
        return true;
    }
    if (array->null_count != 0 && array->buffers[0] != NULL &&
        !bit_get(array->buffers[0], array->offset + i)) {
        return true;
    }
    if (type->kind != CLI_DICTIONARY) {
        return false;
    }
    int64_t index;
    return !cli_value_int(&type->children[0], array, i, &index) ||
           cli_value_is_null(&type->children[1], array->dictionary, index);
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

bool cli_value_int(const cli_type *type, const struct ArrowArray *array, int64_t i, int64_t *out)
{
    if ((type->kind != CLI_INT && type->kind != CLI_UINT) || cli_value_is_null(type, array, i)) {
        return false;
    }
    int64_t slot = array->offset + i;
    *out = type->kind == CLI_INT ? load_signed(array->buffers[1], type->width, slot)
                                 : (int64_t)load_unsigned(array->buffers[1], type->width, slot);
    return true;
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
    int64_t width = type->kind == CLI_LARGE_LIST ? 8 : 4;
    *first = load_signed(array->buffers[1], width, slot);
    *count = load_signed(array->buffers[1], width, slot + 1) - *first;
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

static void text_number(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                        int64_t slot)
{
    char number[CLI_NUMBER_TEXT];
    const void *values = array->buffers[1];
    size_t len = 0;
    switch (type->kind) {
    case CLI_INT:
        len = cli_int_text(load_signed(values, type->width, slot), number);
        break;
    case CLI_UINT:
        len = cli_uint_text(load_unsigned(values, type->width, slot), number);
        break;
    case CLI_FLOAT:
        len = cli_float_text(((const float *)values)[slot], number);
        break;
    case CLI_DOUBLE:
        len = cli_double_text(((const double *)values)[slot], number);
        break;
    default:
        len = cli_decimal_text((const uint8_t *)values + 16 * slot, type->scale, number);
        break;
    }
    cli_text_bytes(out, number, len);
}

static void text_date(cli_text *out, const cli_type *type, int64_t value)
{
    if (type->width == 8) {
        int64_t per_day = 86400000;
        value = value / per_day - (value % per_day < 0);
    }
    cli_text_date(out, value);
}

static void text_time(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                      int64_t slot)
{
    int64_t value = load_signed(array->buffers[1], type->width, slot);
    if (type->kind == CLI_DATE) {
        text_date(out, type, value);
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
    } else if (type->kind == CLI_STRING || type->kind == CLI_LARGE_STRING) {
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
    case CLI_FLOAT:
    case CLI_DOUBLE:
    case CLI_DECIMAL:
        text_number(out, type, array, array->offset + i);
        break;
    case CLI_DATE:
    case CLI_TIME:
    case CLI_TIMESTAMP:
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

/* NaN and the infinities are strings, as JSON has no numbers for them. */
static void json_real(cli_text *out, const cli_type *type, const struct ArrowArray *array,
                      int64_t slot)
{
    char number[CLI_NUMBER_TEXT];
    size_t len = type->kind == CLI_FLOAT
                     ? cli_float_text(((const float *)array->buffers[1])[slot], number)
                     : cli_double_text(((const double *)array->buffers[1])[slot], number);
    bool word = number[0] == 'N' || number[0] == 'I' || number[1] == 'I';
    if (word) {
        cli_text_char(out, '"');
    }
    cli_text_bytes(out, number, len);
    if (word) {
        cli_text_char(out, '"');
    }
}

void cli_value_json(cli_text *out, const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    int64_t index;
    if (cli_value_is_null(type, array, i)) {
        cli_text_str(out, "null");
        return;
    }
    switch (type->kind) {
    case CLI_BOOL:
    case CLI_INT:
    case CLI_UINT:
        text_scalar(out, type, array, i);
        break;
    case CLI_FLOAT:
    case CLI_DOUBLE:
        json_real(out, type, array, array->offset + i);
        break;
    case CLI_STRING:
    case CLI_LARGE_STRING:
        json_string(out, type, array, i);
        break;
    case CLI_STRUCT:
        json_struct(out, type, array, i);
        break;
    case CLI_LIST:
    case CLI_LARGE_LIST:
    case CLI_FIXED_LIST:
    case CLI_MAP:
        json_list(out, type, array, i);
        break;
    case CLI_DICTIONARY:
        cli_value_int(&type->children[0], array, i, &index);
        cli_value_json(out, &type->children[1], array->dictionary, index);
        break;
    default:
        cli_text_char(out, '"');
        text_scalar(out, type, array, i);
        cli_text_char(out, '"');
        break;
    }
}

void cli_value_plain(cli_text *out, const cli_type *type, const struct ArrowArray *array, int64_t i)
{
    int64_t index;
    if (cli_value_is_null(type, array, i)) {
        return;
    }
    switch (type->kind) {
    case CLI_STRUCT:
    case CLI_LIST:
    case CLI_LARGE_LIST:
    case CLI_FIXED_LIST:
    case CLI_MAP:
        cli_value_json(out, type, array, i);
        break;
    case CLI_DICTIONARY:
        cli_value_int(&type->children[0], array, i, &index);
        cli_value_plain(out, &type->children[1], array->dictionary, index);
        break;
    default:
        text_scalar(out, type, array, i);
        break;
    }
}
