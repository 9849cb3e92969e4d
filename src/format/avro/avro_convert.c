/*
 * From the file's types to those of the request: which step reads a value.
 */
#include "format/avro/avro_internal.h"

static bool is_micros(const frz_type *t)
{
    return t->id == FRZ_TYPE_TIMESTAMP || t->id == FRZ_TYPE_TIMESTAMPTZ;
}

static bool is_nanos(const frz_type *t)
{
    return t->id == FRZ_TYPE_TIMESTAMP_NS || t->id == FRZ_TYPE_TIMESTAMPTZ_NS;
}

static bool is_utc(const frz_type *t)
{
    return t->id == FRZ_TYPE_TIMESTAMPTZ || t->id == FRZ_TYPE_TIMESTAMPTZ_NS ||
           (t->id == FRZ_TYPE_FOREIGN && t->foreign == FRZ_FOREIGN_TIMESTAMPTZ_MS);
}

/* A file that does not say whether its timestamps are in UTC is read as either. */
static bool same_zone(const avro_node *node, const frz_type *to)
{
    return node->schema->utc == AVRO_UTC_UNKNOWN || is_utc(node->type) == is_utc(to);
}

static bool choose_int(const avro_node *node, const frz_type *to, avro_code *code)
{
    switch (node->schema->logical) {
    case AVRO_LOGICAL_DATE:
        *code = to->id == FRZ_TYPE_TIMESTAMP      ? AVRO_GET_DATE_AS_MICROS
                : to->id == FRZ_TYPE_TIMESTAMP_NS ? AVRO_GET_DATE_AS_NANOS
                                                  : AVRO_GET_INT;
        return *code != AVRO_GET_INT || to->id == FRZ_TYPE_DATE;
    case AVRO_LOGICAL_TIME_MILLIS:
        *code = to->id == FRZ_TYPE_TIME ? AVRO_GET_TIME_MILLIS : AVRO_GET_INT;
        return to->id == FRZ_TYPE_TIME || frz_type_equal(node->type, to);
    default:
        *code = to->id == FRZ_TYPE_LONG ? AVRO_GET_INT_AS_LONG : AVRO_GET_INT;
        return to->id == FRZ_TYPE_LONG || to->id == FRZ_TYPE_INT;
    }
}

static bool choose_long(const avro_node *node, const frz_type *to, avro_code *code)
{
    *code = AVRO_GET_LONG;
    switch (node->schema->logical) {
    case AVRO_LOGICAL_TIME_MICROS:
        return to->id == FRZ_TYPE_TIME;
    case AVRO_LOGICAL_TIMESTAMP_MILLIS:
        *code = is_micros(to) ? AVRO_GET_MILLIS : AVRO_GET_LONG;
        return (is_micros(to) && same_zone(node, to)) || frz_type_equal(node->type, to);
    case AVRO_LOGICAL_TIMESTAMP_MICROS:
        return is_micros(to) && same_zone(node, to);
    case AVRO_LOGICAL_TIMESTAMP_NANOS:
        return is_nanos(to) && same_zone(node, to);
    default:
        return to->id == FRZ_TYPE_LONG;
    }
}

static bool is_bytes(const frz_type *to)
{
    return to->id == FRZ_TYPE_STRING || to->id == FRZ_TYPE_BINARY || to->id == FRZ_TYPE_GEOMETRY ||
           to->id == FRZ_TYPE_GEOGRAPHY;
}

static bool choose_decimal(const avro_node *node, const frz_type *to, avro_code *code)
{
    *code = node->schema->kind == AVRO_FIXED ? AVRO_GET_FIXED_DECIMAL : AVRO_GET_DECIMAL;
    return frz_type_promotes(node->type, to);
}

static bool choose_fixed(const avro_node *node, const frz_type *to, avro_code *code)
{
    size_t size = node->schema->size;
    if (node->schema->logical == AVRO_LOGICAL_DURATION) {
        *code = AVRO_GET_DURATION;
        return frz_type_equal(node->type, to);
    }
    *code = AVRO_GET_FIXED;
    return (to->id == FRZ_TYPE_UUID && size == 16) ||
           (to->id == FRZ_TYPE_FIXED && (size_t)to->length == size);
}

static bool choose(const avro_node *node, const frz_type *to, avro_code *code)
{
    if (node->schema->logical == AVRO_LOGICAL_DECIMAL) {
        return choose_decimal(node, to, code);
    }
    switch (node->schema->kind) {
    case AVRO_BOOLEAN:
        *code = AVRO_GET_BOOLEAN;
        return to->id == FRZ_TYPE_BOOLEAN;
    case AVRO_INT:
        return choose_int(node, to, code);
    case AVRO_LONG:
        return choose_long(node, to, code);
    case AVRO_FLOAT:
        *code = to->id == FRZ_TYPE_DOUBLE ? AVRO_GET_FLOAT_AS_DOUBLE : AVRO_GET_4;
        return to->id == FRZ_TYPE_DOUBLE || to->id == FRZ_TYPE_FLOAT;
    case AVRO_DOUBLE:
        *code = AVRO_GET_8;
        return to->id == FRZ_TYPE_DOUBLE;
    case AVRO_STRING:
        *code = to->id == FRZ_TYPE_UUID ? AVRO_GET_UUID_TEXT : AVRO_GET_BYTES;
        return to->id == FRZ_TYPE_UUID ? node->schema->logical == AVRO_LOGICAL_UUID : is_bytes(to);
    case AVRO_BYTES:
        *code = AVRO_GET_BYTES;
        return is_bytes(to);
    case AVRO_FIXED:
        return choose_fixed(node, to, code);
    case AVRO_ENUM:
        *code = AVRO_GET_SYMBOL;
        return to->id == FRZ_TYPE_STRING;
    default:
        return false;
    }
}

frz_code avro_convert_choose(const avro_node *node, const frz_type *to, avro_code *code,
                             frz_error *err)
{
    char from_text[64], to_text[64], path[256];
    if (choose(node, to, code)) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\" is %s in the file and is to be read as %s",
                    avro_node_path(node, path, sizeof path),
                    frz_type_text(node->type, from_text, sizeof from_text),
                    frz_type_text(to, to_text, sizeof to_text));
}
