/*
 * Reading the statistics of column chunks with distrust. Bounds count only where the order they
 * were made in is certain: min_value and max_value with a column order, or the old pair for types
 * whose order was never in doubt. spec: parquet.thrift, Statistics and ColumnOrder
 */
#include "format/parquet/parquet_statistics.h"

#define ORDER_TYPE 1
#define ORDER_IEEE754 2

#define HALF_BYTES 2

static const uint8_t zero[8];
static const uint8_t negative_zero_double[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
static const uint8_t negative_zero_float[4] = {0, 0, 0, 0x80};
static const uint8_t negative_zero_half[2] = {0, 0x80};

/* ---- which bounds there are ---- */

static bool is_half(const parquet_element *e)
{
    return e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY && e->logical == PARQUET_LOGICAL_FLOAT16;
}

static bool is_float(const parquet_element *e)
{
    return e->physical == PARQUET_FLOAT || e->physical == PARQUET_DOUBLE || is_half(e);
}

/* Signed comparison of the physical type, which is what the old pair was always made with. */
static bool has_old_order(const parquet_element *e)
{
    bool is_unsigned = e->logical == PARQUET_LOGICAL_INTEGER && !e->is_signed;
    switch (e->physical) {
    case PARQUET_INT32:
    case PARQUET_INT64:
        return !is_unsigned;
    case PARQUET_BOOLEAN:
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        return true;
    default:
        return false;
    }
}

static bool written_by(const parquet_file *file, const char *const *writers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (frz_str_starts_with(file->metadata.created_by, frz_str_from(writers[i]))) {
            return true;
        }
    }
    return false;
}

/* Arrow before 4.0 compared the bytes of decimals one by one, each with a sign of its own;
 * parquet-rs goes wrong where they are not equally many. */
static bool misorders(const parquet_file *file, const parquet_element *e)
{
    static const char *const bytewise[] = {
        "parquet-cpp version", "parquet-cpp-arrow version 0.", "parquet-cpp-arrow version 1.",
        "parquet-cpp-arrow version 2.", "parquet-cpp-arrow version 3."};
    static const char *const by_length[] = {"parquet-rs"};
    if (e->logical != PARQUET_LOGICAL_DECIMAL ||
        (e->physical != PARQUET_BYTE_ARRAY && e->physical != PARQUET_FIXED_LEN_BYTE_ARRAY)) {
        return false;
    }
    return written_by(file, bytewise, FRZ_ARRAY_COUNT(bytewise)) ||
           (e->physical == PARQUET_BYTE_ARRAY &&
            written_by(file, by_length, FRZ_ARRAY_COUNT(by_length)));
}

static bool has_order(const parquet_file *file, size_t column)
{
    const parquet_metadata *m = &file->metadata;
    if (m->column_orders == NULL || column >= m->column_order_count ||
        misorders(file, file->columns[column].element)) {
        return false;
    }
    int8_t order = m->column_orders[column];
    return order == ORDER_TYPE ||
           (order == ORDER_IEEE754 && is_float(file->columns[column].element));
}

/* Parquet.Net has written bounds of times in the zone of its machine, and in units that are not
 * those of the column. */
static bool has_wrong_times(const parquet_file *file, const parquet_element *e)
{
    bool is_time = e->logical == PARQUET_LOGICAL_DATE || e->logical == PARQUET_LOGICAL_TIME ||
                   e->logical == PARQUET_LOGICAL_TIMESTAMP;
    return is_time && frz_str_starts_with(file->metadata.created_by, FRZ_STR("Parquet.Net"));
}

static void take_bounds(const parquet_file *file, size_t column, const parquet_statistics *in,
                        parquet_statistics *out)
{
    const parquet_element *e = file->columns[column].element;
    if (e->physical == PARQUET_INT96 || has_wrong_times(file, e)) {
        return; /* has no order, or not that of the values */
    }
    if (has_order(file, column)) {
        out->min_value = in->min_value;
        out->max_value = in->max_value;
        out->min_exact = in->min_exact;
        out->max_exact = in->max_exact;
    }
    if (has_old_order(e)) {
        out->min_value = out->min_value.ptr == NULL ? in->min : out->min_value;
        out->max_value = out->max_value.ptr == NULL ? in->max : out->max_value;
    }
}

/* ---- which of them can be right ---- */

static bool is_nan(const parquet_element *e, frz_str bound)
{
    if (e->physical == PARQUET_DOUBLE) {
        return (frz_load_le64(bound.ptr) & INT64_MAX) > 0x7ff0000000000000u;
    }
    if (e->physical == PARQUET_FLOAT) {
        return (frz_load_le32(bound.ptr) & INT32_MAX) > 0x7f800000u;
    }
    return is_half(e) && (frz_load_le16(bound.ptr) & INT16_MAX) > 0x7c00u;
}

static bool is_possible(const parquet_element *e, frz_str bound)
{
    size_t size = parquet_element_width(e);
    if (bound.ptr == NULL || (size != 0 && bound.len != size)) {
        return false;
    }
    if (e->logical == PARQUET_LOGICAL_DECIMAL && (bound.len == 0 || bound.len > sizeof(frz_i128))) {
        return false;
    }
    if (is_half(e) && bound.len != HALF_BYTES) {
        return false; /* the annotation on bytes of another length */
    }
    if (e->logical == PARQUET_LOGICAL_STRING && !frz_utf8_valid(bound)) {
        return false;
    }
    return !is_nan(e, bound);
}

/* Writers may have taken one zero for the other: the lower bound is the lower zero. */
static frz_str outer_zero(const parquet_element *e, frz_str bound, bool lower)
{
    const uint8_t *negative = is_half(e)                      ? negative_zero_half
                              : e->physical == PARQUET_FLOAT  ? negative_zero_float
                              : e->physical == PARQUET_DOUBLE ? negative_zero_double
                                                              : NULL;
    if (negative == NULL || bound.ptr == NULL) {
        return bound;
    }
    const uint8_t *from = lower ? zero : negative;
    const uint8_t *to = lower ? negative : zero;
    return memcmp(bound.ptr, from, bound.len) == 0 ? (frz_str){(const char *)to, bound.len} : bound;
}

static bool count_possible(bool has, int64_t count, int64_t most)
{
    return has && count >= 0 && count <= most;
}

/* ---- nulls ---- */

/* Writers that are known to count a null struct as a null of each column below it. */
static bool counts_null_structs(const parquet_file *file)
{
    static const char *const writers[] = {"parquet-mr", "parquet-cpp-arrow", "frazil"};
    return written_by(file, writers, FRZ_ARRAY_COUNT(writers));
}

/* A count of nulls that others than these writers made can be believed where no struct around the
 * column may be null, or if all is null. */
static bool nulls_certain(const parquet_file *file, size_t column, int64_t nulls, int64_t values)
{
    const parquet_column *c = &file->columns[column];
    bool own = c->element->repetition == PARQUET_OPTIONAL;
    return c->max_def <= (own ? 1 : 0) || nulls == values || counts_null_structs(file);
}

/* What is reliable of statistics of a chunk or a page of this many values. */
static void check_statistics(const parquet_file *file, size_t column, const parquet_statistics *in,
                             int64_t values, parquet_statistics *out)
{
    const parquet_element *e = file->columns[column].element;
    *out = (parquet_statistics){.min_exact = -1, .max_exact = -1};
    take_bounds(file, column, in, out);
    if (!is_possible(e, out->min_value)) {
        out->min_value = (frz_str){NULL, 0};
        out->min_exact = -1;
    }
    if (!is_possible(e, out->max_value)) {
        out->max_value = (frz_str){NULL, 0};
        out->max_exact = -1;
    }
    out->min_value = outer_zero(e, out->min_value, true);
    out->max_value = outer_zero(e, out->max_value, false);
    out->has_null_count = count_possible(in->has_null_count, in->null_count, values) &&
                          nulls_certain(file, column, in->null_count, values);
    out->null_count = out->has_null_count ? in->null_count : 0;
    if (file->columns[column].max_def == 0) {
        out->has_null_count = true;
        out->null_count = 0;
    }
    out->has_nan_count = is_float(e) && count_possible(in->has_nan_count, in->nan_count, values);
    out->nan_count = out->has_nan_count ? in->nan_count : 0;
}

void parquet_statistics_check(const parquet_file *file, size_t column, const parquet_chunk *chunk,
                              parquet_statistics *out)
{
    check_statistics(file, column, &chunk->statistics, chunk->num_values, out);
}

/* ---- as values ---- */

static frz_i128 big_endian(frz_str bytes)
{
    unsigned __int128 value = (bytes.ptr[0] & 0x80) != 0 ? ~(unsigned __int128)0 : 0;
    for (size_t i = 0; i < bytes.len; i++) {
        value = value << 8 | (uint8_t)bytes.ptr[i];
    }
    return (frz_i128)value;
}

/* An INT32 or INT64 bound as the number that is meant; false if 64 bits do not hold it. */
static bool integer_bound(const parquet_element *e, frz_str bound, int64_t *out)
{
    bool is_unsigned = e->logical == PARQUET_LOGICAL_INTEGER && !e->is_signed;
    if (e->physical == PARQUET_INT32) {
        uint32_t bits = frz_load_le32(bound.ptr);
        *out = is_unsigned ? (int64_t)bits : (int64_t)(int32_t)bits;
    } else {
        *out = (int64_t)frz_load_le64(bound.ptr);
        if (is_unsigned && *out < 0) {
            return false;
        }
    }
    bool is_time = e->logical == PARQUET_LOGICAL_TIME || e->logical == PARQUET_LOGICAL_TIMESTAMP;
    return !is_time || e->unit != PARQUET_MILLIS || frz_mul_i64(*out, 1000, out);
}

/* A bound as a value of the column's own type, as reading converts it. */
static bool bound_value(const parquet_element *e, const frz_type *type, frz_str bound,
                        frz_value *out)
{
    int64_t integer = 0;
    *out = (frz_value){.type = type};
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        out->as.boolean = bound.ptr[0] != 0;
        return type->id == FRZ_TYPE_BOOLEAN;
    case PARQUET_FLOAT:
        memcpy(&out->as.f32, bound.ptr, 4);
        return type->id == FRZ_TYPE_FLOAT;
    case PARQUET_DOUBLE:
        memcpy(&out->as.f64, bound.ptr, 8);
        return type->id == FRZ_TYPE_DOUBLE;
    case PARQUET_INT32:
    case PARQUET_INT64:
        if (!integer_bound(e, bound, &integer)) {
            return false;
        }
        break;
    default:
        if (is_half(e)) {
            out->as.f32 = frz_half_to_float(frz_load_le16(bound.ptr));
        } else if (type->id == FRZ_TYPE_DECIMAL) {
            out->as.i128 = big_endian(bound);
        } else {
            out->as.bytes = bound;
        }
        return true;
    }
    if (type->id == FRZ_TYPE_DECIMAL) {
        out->as.i128 = integer;
    } else if (type->id == FRZ_TYPE_INT || type->id == FRZ_TYPE_DATE) {
        out->as.i32 = (int32_t)integer;
        return integer >= INT32_MIN && integer <= INT32_MAX;
    } else {
        out->as.i64 = integer;
    }
    return true;
}

/* Text and bytes are read as either; times of old writers with or without a zone. */
static bool reads_alike(const parquet_element *e, const frz_type *own, const frz_type *wanted)
{
    bool own_micros = own->id == FRZ_TYPE_TIMESTAMP || own->id == FRZ_TYPE_TIMESTAMPTZ;
    bool micros = wanted->id == FRZ_TYPE_TIMESTAMP || wanted->id == FRZ_TYPE_TIMESTAMPTZ;
    bool own_bytes = own->id == FRZ_TYPE_STRING || own->id == FRZ_TYPE_BINARY;
    bool bytes = wanted->id == FRZ_TYPE_STRING || wanted->id == FRZ_TYPE_BINARY;
    return (own_micros && micros && e->from_converted) || (own_bytes && bytes);
}

/* A bound of one side in the wanted type; none if it cannot be had. */
static bool promoted_bound(const parquet_element *e, const frz_type *own, frz_str bound,
                           const frz_type *wanted, frz_value *out)
{
    frz_value value;
    if (bound.ptr == NULL || !bound_value(e, own, bound, &value)) {
        return false;
    }
    if (reads_alike(e, own, wanted)) {
        value.type = wanted;
        *out = value;
        return wanted->id != FRZ_TYPE_STRING || frz_utf8_valid(value.as.bytes);
    }
    return frz_value_promote(&value, wanted, out, NULL) == FRZ_OK;
}

/* Without a flag, bounds of numbers are exact and those of byte strings may have been cut. */
static int8_t tightness(const parquet_element *e, const parquet_statistics *s)
{
    if (is_float(e) && !s->has_nan_count) {
        return FRZ_STAT_UNKNOWN;
    }
    if (s->min_exact == 0 || s->max_exact == 0) {
        return 0;
    }
    if (s->min_exact == 1 && s->max_exact == 1) {
        return 1;
    }
    bool is_bytes =
        e->physical == PARQUET_BYTE_ARRAY || e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    return is_bytes && e->logical != PARQUET_LOGICAL_DECIMAL && !is_half(e) ? FRZ_STAT_UNKNOWN : 1;
}

/* Checked statistics in terms of a field; nothing if the column is not read as its type. */
static void fill_metrics(const parquet_file *file, size_t column, const parquet_statistics *s,
                         const frz_field *field, frz_field_stats *out)
{
    const parquet_column *c = &file->columns[column];
    const parquet_element *e = c->element;
    const frz_type *own = c->node->type;
    if (own->id == FRZ_TYPE_UNKNOWN || frz_type_is_nested(own) ||
        !(frz_type_equal(own, field->type) || frz_type_promotes(own, field->type) ||
          reads_alike(e, own, field->type))) {
        return;
    }
    out->null_value_count = s->has_null_count ? s->null_count : FRZ_STAT_UNKNOWN;
    out->nan_value_count = s->has_nan_count ? s->nan_count : FRZ_STAT_UNKNOWN;
    out->has_lower = promoted_bound(e, own, s->min_value, field->type, &out->lower);
    out->has_upper = promoted_bound(e, own, s->max_value, field->type, &out->upper);
    if (out->has_lower && out->has_upper && frz_value_compare(&out->lower, &out->upper, true) > 0) {
        out->has_lower = out->has_upper = false; /* neither can be trusted */
    }
    out->tight_bounds = out->has_lower && out->has_upper ? tightness(e, s) : FRZ_STAT_UNKNOWN;
}

void parquet_statistics_metrics(const parquet_file *file, size_t column, size_t group,
                                const parquet_chunk *chunk, const frz_field *field,
                                frz_field_stats *out)
{
    const parquet_group *g = &file->metadata.groups[group];
    parquet_statistics s;
    *out = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(field->id, field->type);
    out->value_count = g->num_rows;
    if (chunk->num_values == g->num_rows) {
        parquet_statistics_check(file, column, chunk, &s);
        fill_metrics(file, column, &s, field, out);
    }
}

void parquet_statistics_page(const parquet_file *file, size_t column,
                             const parquet_column_index *index, size_t page, int64_t rows,
                             const frz_field *field, frz_field_stats *out)
{
    parquet_statistics in = {.min_exact = -1, .max_exact = -1};
    parquet_statistics s;
    *out = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(field->id, field->type);
    out->value_count = rows;
    if (index->null_counts != NULL) {
        in.has_null_count = true;
        in.null_count = index->null_counts[page];
    }
    if (index->nan_counts != NULL) {
        in.has_nan_count = true;
        in.nan_count = index->nan_counts[page];
    }
    if (index->null_page[page] != 0) {
        if (in.has_null_count && in.null_count != rows) {
            return; /* contradicts itself */
        }
        in.has_null_count = true;
        in.null_count = rows;
    } else {
        in.min_value = index->mins[page];
        in.max_value = index->maxs[page];
    }
    check_statistics(file, column, &in, rows, &s);
    fill_metrics(file, column, &s, field, out);
}

bool parquet_statistics_index_holds(const parquet_file *file, size_t column,
                                    const parquet_column_index *index)
{
    for (size_t i = 0; i < index->count; i++) {
        parquet_statistics in = {.min_value = index->mins[i],
                                 .max_value = index->maxs[i],
                                 .min_exact = -1,
                                 .max_exact = -1};
        parquet_statistics s;
        check_statistics(file, column, &in, INT64_MAX, &s);
        if (index->null_page[i] == 0 && (s.min_value.ptr == NULL || s.max_value.ptr == NULL)) {
            return false;
        }
        /* in a file of this library's own its counts would be believed */
        if (index->null_page[i] == 0 && index->null_counts != NULL &&
            !nulls_certain(file, column, index->null_counts[i], INT64_MAX)) {
            return false;
        }
    }
    return true;
}
