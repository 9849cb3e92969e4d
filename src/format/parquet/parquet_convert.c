/*
 * From the file's physical and logical types to the types of the request: which conversion a column
 * needs.
 */
#include "format/parquet/parquet_read.h"
#include "type/type_value.h"

/* ---- choosing ---- */

static bool is_micros(const frz_type *t)
{
    return t->id == FRZ_TYPE_TIMESTAMP || t->id == FRZ_TYPE_TIMESTAMPTZ;
}

/* Decimals widen in precision only. */
static bool choose_decimal(const parquet_element *e, const frz_type *to, parquet_conversion *out)
{
    if (to->id != FRZ_TYPE_DECIMAL || to->scale != e->scale || to->precision < e->precision) {
        return false;
    }
    switch (e->physical) {
    case PARQUET_INT32:
        *out = PARQUET_I32_DECIMAL;
        return true;
    case PARQUET_INT64:
        *out = PARQUET_I64_DECIMAL;
        return true;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        *out = PARQUET_FIXED_DECIMAL;
        return e->type_length <= PARQUET_MAX_DECIMAL_WIDTH;
    case PARQUET_BYTE_ARRAY:
        *out = PARQUET_BYTES_DECIMAL;
        return true;
    default:
        return false;
    }
}

static bool choose_int32(const parquet_element *e, const frz_type *from, const frz_type *to,
                         parquet_conversion *out)
{
    if (e->logical == PARQUET_LOGICAL_TIME) {
        *out = PARQUET_MS32_US;
        return to->id == FRZ_TYPE_TIME;
    }
    if (e->logical == PARQUET_LOGICAL_DATE) {
        if (to->id == FRZ_TYPE_TIMESTAMP || to->id == FRZ_TYPE_TIMESTAMP_NS) {
            *out = to->id == FRZ_TYPE_TIMESTAMP ? PARQUET_DATE_US : PARQUET_DATE_NS;
            return true;
        }
        *out = PARQUET_COPY;
        return to->id == FRZ_TYPE_DATE;
    }
    if (to->id == FRZ_TYPE_LONG) {
        *out = from->id == FRZ_TYPE_LONG ? PARQUET_U32_I64 : PARQUET_I32_I64;
        return true;
    }
    *out = PARQUET_COPY;
    return from->id == FRZ_TYPE_INT && to->id == FRZ_TYPE_INT;
}

/* Writers before logical types did not say whether a timestamp is UTC: both are accepted then. */
static bool same_zone(const parquet_element *e, const frz_type *from, const frz_type *to)
{
    if (from->id == to->id) {
        return true;
    }
    return (e->from_converted || e->physical == PARQUET_INT96) && is_micros(from) && is_micros(to);
}

static bool choose_int64(const parquet_element *e, const frz_type *from, const frz_type *to,
                         parquet_conversion *out)
{
    *out = PARQUET_COPY;
    if (e->logical == PARQUET_LOGICAL_TIMESTAMP) {
        if (e->unit == PARQUET_MILLIS) {
            *out = PARQUET_MS64_US;
        }
        return same_zone(e, from, to);
    }
    if (e->logical == PARQUET_LOGICAL_INTEGER && e->bit_width == 64 && !e->is_signed) {
        *out = PARQUET_U64_I64;
    }
    return from->id == to->id;
}

static bool choose_floating(const parquet_element *e, const frz_type *to, parquet_conversion *out)
{
    bool half = e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    if (to->id == FRZ_TYPE_FLOAT && e->physical != PARQUET_DOUBLE) {
        *out = half ? PARQUET_F16_F32 : PARQUET_COPY;
        return true;
    }
    *out = half ? PARQUET_F16_F64 : e->physical == PARQUET_FLOAT ? PARQUET_F32_F64 : PARQUET_COPY;
    return to->id == FRZ_TYPE_DOUBLE;
}

static bool choose_bytes(const frz_type *to, parquet_conversion *out)
{
    /* the annotation is often missing, so that text and bytes are read as either */
    *out = to->id == FRZ_TYPE_STRING ? PARQUET_TEXT : PARQUET_BYTES;
    return to->id == FRZ_TYPE_STRING || to->id == FRZ_TYPE_BINARY || to->id == FRZ_TYPE_GEOMETRY ||
           to->id == FRZ_TYPE_GEOGRAPHY;
}

static bool choose_fixed(const parquet_element *e, const frz_type *to, parquet_conversion *out)
{
    *out = PARQUET_COPY;
    return (to->id == FRZ_TYPE_UUID && e->type_length == 16) ||
           (to->id == FRZ_TYPE_FIXED && to->length == e->type_length);
}

static bool choose(const parquet_node *node, const frz_type *to, parquet_conversion *out)
{
    const parquet_element *e = node->element;
    if (node->type->id == FRZ_TYPE_DECIMAL) {
        return choose_decimal(e, to, out);
    }
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        *out = PARQUET_COPY;
        return to->id == FRZ_TYPE_BOOLEAN;
    case PARQUET_INT32:
        return choose_int32(e, node->type, to, out);
    case PARQUET_INT64:
        return choose_int64(e, node->type, to, out);
    case PARQUET_INT96:
        *out = PARQUET_INT96_US;
        return is_micros(to);
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        return choose_floating(e, to, out);
    case PARQUET_BYTE_ARRAY:
        return choose_bytes(to, out);
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return node->type->id == FRZ_TYPE_FLOAT ? choose_floating(e, to, out)
                                                : choose_fixed(e, to, out);
    case PARQUET_NO_PHYSICAL:
    default:
        return false;
    }
}

/* How a decimal of more than 38 digits is read. */
static parquet_conversion wide_decimal(const parquet_element *e)
{
    switch (e->physical) {
    case PARQUET_INT32:
        return PARQUET_I32_DECIMAL256;
    case PARQUET_INT64:
        return PARQUET_I64_DECIMAL256;
    case PARQUET_BYTE_ARRAY:
        return PARQUET_BYTES_DECIMAL256;
    default:
        return PARQUET_FIXED_DECIMAL256;
    }
}

/* How a column becomes its own native type. */
static parquet_conversion choose_foreign(const parquet_element *e, const frz_type *native)
{
    switch (native->foreign) {
    case FRZ_FOREIGN_INT8:
        return PARQUET_I32_I8;
    case FRZ_FOREIGN_INT16:
        return PARQUET_I32_I16;
    case FRZ_FOREIGN_UINT8:
        return PARQUET_I32_U8;
    case FRZ_FOREIGN_UINT16:
        return PARQUET_I32_U16;
    case FRZ_FOREIGN_INTERVAL:
        return PARQUET_INTERVAL;
    case FRZ_FOREIGN_DECIMAL256:
        return wide_decimal(e);
    default:
        return PARQUET_COPY;
    }
}

/* Native types without an Iceberg type beside them: foreign ones, and storage as it is. */
static bool choose_native(const parquet_node *node, const frz_type *to, parquet_conversion *out)
{
    frz_type native = parquet_native_leaf(node->element);
    if (!frz_type_equal(&native, to)) {
        return false;
    }
    if (to->id == FRZ_TYPE_FOREIGN) {
        *out = choose_foreign(node->element, to);
        return true;
    }
    if (node->unsupported == NULL) {
        return false; /* as Iceberg reads it */
    }
    *out = to->id == FRZ_TYPE_STRING   ? PARQUET_TEXT
           : to->id == FRZ_TYPE_BINARY ? PARQUET_BYTES
                                       : PARQUET_COPY;
    return to->id != FRZ_TYPE_UNKNOWN;
}

frz_code parquet_conversion_choose(const parquet_node *node, const frz_type *to,
                                   parquet_conversion *out, frz_error *err)
{
    char from_text[64];
    char to_text[64];
    if (choose_native(node, to, out)) {
        return FRZ_OK;
    }
    if (node->unsupported != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column \"%s\" is %s", node->path,
                        node->unsupported);
    }
    if (!frz_type_is_nested(node->type) && choose(node, to, out)) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\" is %s in the file and is to be read as %s",
                    node->path, frz_type_text(node->type, from_text, sizeof from_text),
                    frz_type_text(to, to_text, sizeof to_text));
}

const char *parquet_conversion_problem(parquet_conversion conversion)
{
    switch (conversion) {
    case PARQUET_U64_I64:
        return "an unsigned value is too large for long";
    case PARQUET_MS64_US:
    case PARQUET_MS32_US:
        return "a time in milliseconds is too large in microseconds";
    case PARQUET_INT96_US:
        return "an INT96 timestamp is out of range";
    case PARQUET_DATE_US:
    case PARQUET_DATE_NS:
        return "a date is out of the range of timestamps";
    case PARQUET_FIXED_DECIMAL:
    case PARQUET_BYTES_DECIMAL:
        return "a decimal has more than 38 digits";
    case PARQUET_FIXED_DECIMAL256:
    case PARQUET_BYTES_DECIMAL256:
        return "a decimal has more than 76 digits";
    case PARQUET_I32_I8:
    case PARQUET_I32_I16:
    case PARQUET_I32_U8:
    case PARQUET_I32_U16:
        return "an integer is larger than its annotation allows";
    case PARQUET_INTERVAL:
        return "an interval has more than 2147483647 months or days";
    default:
        return "a value does not fit its type";
    }
}
