/*
 * Reading Thrift's compact protocol. The bytes come from a file, so every length is compared with
 * the bytes that are left, and skipping unknown fields has a depth limit.
 */
#include <stdio.h>

#include "format/parquet/parquet_internal.h"

#define MAX_SKIP_DEPTH 32

void parquet_thrift_init(parquet_thrift *t, const uint8_t *bytes, size_t len, uint64_t offset,
                         frz_error *err)
{
    *t = (parquet_thrift){.start = bytes,
                          .at = bytes,
                          .end = len == 0 ? bytes : bytes + len, /* of nothing, bytes may be NULL */
                          .offset = offset,
                          .rc = FRZ_OK,
                          .err = err};
}

frz_code parquet_thrift_fail(parquet_thrift *t, const char *fmt, ...)
{
    if (t->rc == FRZ_OK) {
        char text[256];
        va_list args;
        va_start(args, fmt);
        vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        t->rc = frz_fail_at(t->err, FRZ_E_CORRUPT, t->offset + (uint64_t)(t->at - t->start),
                            "thrift at byte %llu: %s",
                            (unsigned long long)(t->offset + (uint64_t)(t->at - t->start)), text);
        t->at = t->end;
    }
    return t->rc;
}

static void fail_short(parquet_thrift *t)
{
    if (t->rc == FRZ_OK) {
        t->ended_early = true;
        parquet_thrift_fail(t, "the bytes end inside a struct");
    }
}

static uint8_t read_byte(parquet_thrift *t)
{
    if (t->at == t->end) {
        fail_short(t);
        return 0;
    }
    return *t->at++;
}

static uint64_t read_varint(parquet_thrift *t)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = read_byte(t);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return t->rc == FRZ_OK ? value : 0;
        }
    }
    parquet_thrift_fail(t, "a number has more than 64 bits");
    return 0;
}

static int64_t read_zigzag(parquet_thrift *t)
{
    uint64_t value = read_varint(t);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

bool parquet_thrift_next(parquet_thrift *t, parquet_thrift_field *field)
{
    uint8_t head = read_byte(t);
    if (t->rc != FRZ_OK || head == PARQUET_THRIFT_STOP) {
        return false;
    }
    int64_t id = (head >> 4) != 0 ? (int64_t)field->id + (head >> 4) : read_zigzag(t);
    if (id < INT16_MIN || id > INT16_MAX) {
        parquet_thrift_fail(t, "field number %lld is out of range", (long long)id);
    }
    if ((head & 0x0F) == 0 || (head & 0x0F) > PARQUET_THRIFT_UUID) {
        parquet_thrift_fail(t, "unknown field type %d", head & 0x0F);
    }
    field->id = (int32_t)id;
    field->type = (parquet_thrift_type)(head & 0x0F);
    return t->rc == FRZ_OK;
}

static bool expect(parquet_thrift *t, const parquet_thrift_field *field, parquet_thrift_type type,
                   const char *name)
{
    if (t->rc == FRZ_OK && field->type != type) {
        parquet_thrift_fail(t, "field %d has type %d, expected %s", field->id, (int)field->type,
                            name);
    }
    return t->rc == FRZ_OK;
}

int64_t parquet_thrift_i64(parquet_thrift *t, const parquet_thrift_field *field)
{
    return expect(t, field, PARQUET_THRIFT_I64, "i64") ? read_zigzag(t) : 0;
}

int32_t parquet_thrift_i32(parquet_thrift *t, const parquet_thrift_field *field)
{
    int64_t value = 0;
    if (t->rc == FRZ_OK && field->type == PARQUET_THRIFT_BYTE) {
        return (int8_t)read_byte(t);
    }
    if (t->rc == FRZ_OK && field->type == PARQUET_THRIFT_I16) {
        value = read_zigzag(t);
    } else if (expect(t, field, PARQUET_THRIFT_I32, "i32")) {
        value = read_zigzag(t);
    }
    if (value < INT32_MIN || value > INT32_MAX) {
        parquet_thrift_fail(t, "field %d: %lld does not fit 32 bits", field->id, (long long)value);
        return 0;
    }
    return (int32_t)value;
}

bool parquet_thrift_bool(parquet_thrift *t, const parquet_thrift_field *field)
{
    if (field->type != PARQUET_THRIFT_TRUE) {
        expect(t, field, PARQUET_THRIFT_FALSE, "bool");
        return false;
    }
    return t->rc == FRZ_OK;
}

frz_str parquet_thrift_binary(parquet_thrift *t, const parquet_thrift_field *field)
{
    frz_str none = {NULL, 0};
    if (!expect(t, field, PARQUET_THRIFT_BINARY, "binary")) {
        return none;
    }
    uint64_t len = read_varint(t);
    if (t->rc != FRZ_OK) {
        return none;
    }
    if (len > parquet_thrift_left(t)) {
        fail_short(t);
        return none;
    }
    frz_str value = {(const char *)t->at, (size_t)len};
    t->at += len;
    return value;
}

/* Count and element type of a list or set. */
static size_t list_header(parquet_thrift *t, parquet_thrift_type *element, size_t least)
{
    uint8_t head = read_byte(t);
    uint64_t count = (head >> 4) == 15 ? read_varint(t) : head >> 4;
    *element = (parquet_thrift_type)(head & 0x0F);
    if (t->rc == FRZ_OK && count > parquet_thrift_left(t) / least) {
        t->ended_early = true;
        parquet_thrift_fail(t, "a list of %llu elements cannot fit in the %zu bytes left",
                            (unsigned long long)count, parquet_thrift_left(t));
    }
    return t->rc == FRZ_OK ? (size_t)count : 0;
}

size_t parquet_thrift_list(parquet_thrift *t, const parquet_thrift_field *field,
                           parquet_thrift_type element, size_t least)
{
    parquet_thrift_type found;
    if (!expect(t, field, PARQUET_THRIFT_LIST, "list")) {
        return 0;
    }
    size_t count = list_header(t, &found, least);
    /* both of its types stand for booleans in lists */
    bool boolean = element == PARQUET_THRIFT_TRUE && found == PARQUET_THRIFT_FALSE;
    if (count > 0 && found != element && !boolean) {
        parquet_thrift_fail(t, "field %d is a list of type %d, expected %d", field->id, (int)found,
                            (int)element);
        return 0;
    }
    return count;
}

bool parquet_thrift_bool_element(parquet_thrift *t)
{
    uint8_t value = read_byte(t);
    if (value > PARQUET_THRIFT_FALSE) {
        parquet_thrift_fail(t, "a boolean of value %d", value);
    }
    return t->rc == FRZ_OK && value == PARQUET_THRIFT_TRUE;
}

bool parquet_thrift_struct(parquet_thrift *t, const parquet_thrift_field *field)
{
    return expect(t, field, PARQUET_THRIFT_STRUCT, "struct");
}

static void skip_bytes(parquet_thrift *t, uint64_t len)
{
    if (t->rc == FRZ_OK && len > parquet_thrift_left(t)) {
        fail_short(t);
    } else if (t->rc == FRZ_OK) {
        t->at += len;
    }
}

static void skip_value(parquet_thrift *t, parquet_thrift_type type, bool in_list, int depth);

static void skip_list(parquet_thrift *t, int depth)
{
    parquet_thrift_type element;
    size_t count = list_header(t, &element, 1);
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        skip_value(t, element, true, depth + 1);
    }
}

static void skip_map(parquet_thrift *t, int depth)
{
    uint64_t count = read_varint(t);
    if (count == 0) {
        return;
    }
    uint8_t types = read_byte(t);
    for (uint64_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        skip_value(t, (parquet_thrift_type)(types >> 4), true, depth + 1);
        skip_value(t, (parquet_thrift_type)(types & 0x0F), true, depth + 1);
    }
}

static void skip_struct(parquet_thrift *t, int depth)
{
    parquet_thrift_field field = {0};
    while (parquet_thrift_next(t, &field)) {
        skip_value(t, field.type, false, depth + 1);
    }
}

/* Booleans take a byte in a list and none as a field. */
static void skip_value(parquet_thrift *t, parquet_thrift_type type, bool in_list, int depth)
{
    if (depth > MAX_SKIP_DEPTH) {
        parquet_thrift_fail(t, "structs are nested more than %d deep", MAX_SKIP_DEPTH);
        return;
    }
    switch (type) {
    case PARQUET_THRIFT_TRUE:
    case PARQUET_THRIFT_FALSE:
        skip_bytes(t, in_list ? 1 : 0);
        break;
    case PARQUET_THRIFT_BYTE:
        skip_bytes(t, 1);
        break;
    case PARQUET_THRIFT_I16:
    case PARQUET_THRIFT_I32:
    case PARQUET_THRIFT_I64:
        (void)read_varint(t);
        break;
    case PARQUET_THRIFT_DOUBLE:
        skip_bytes(t, 8);
        break;
    case PARQUET_THRIFT_UUID:
        skip_bytes(t, 16);
        break;
    case PARQUET_THRIFT_BINARY:
        skip_bytes(t, read_varint(t));
        break;
    case PARQUET_THRIFT_LIST:
    case PARQUET_THRIFT_SET:
        skip_list(t, depth);
        break;
    case PARQUET_THRIFT_MAP:
        skip_map(t, depth);
        break;
    case PARQUET_THRIFT_STRUCT:
        skip_struct(t, depth);
        break;
    case PARQUET_THRIFT_STOP:
    default:
        parquet_thrift_fail(t, "unknown type %d", (int)type);
        break;
    }
}

void parquet_thrift_skip(parquet_thrift *t, const parquet_thrift_field *field)
{
    if (t->rc == FRZ_OK) {
        skip_value(t, field->type, false, 0);
    }
}

void parquet_thrift_counts(parquet_thrift *t, const parquet_thrift_field *field,
                           parquet_encoded_list *out)
{
    size_t count = parquet_thrift_list(t, field, PARQUET_THRIFT_I64, 1);
    const uint8_t *first = t->at;
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        parquet_thrift_skip(t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_I64));
    }
    if (t->rc == FRZ_OK) {
        *out = (parquet_encoded_list){{(const char *)first, (size_t)(t->at - first)}, count};
    }
}
