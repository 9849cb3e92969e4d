/*
 * Parsing FileMetaData into structs of one arena. Strings are views of the footer's bytes; column
 * chunks are passed over. Nothing is trusted: a list is allocated only if the bytes left could hold
 * its elements, so the arena grows by at most a fixed multiple of the footer's size.
 */
#include "format/parquet/parquet_internal.h"

/* Fewest bytes of the structs in lists: their required fields and the stop byte. */
#define LEAST_ELEMENT 3
#define LEAST_GROUP 7
#define LEAST_CHUNK 6
#define LEAST_SORTING 5
#define LEAST_KEY_VALUE 3

/* ---- schema elements ---- */

static void *list_array(parquet_thrift *t, frz_arena *arena, size_t count, size_t size)
{
    void *items = count == 0 ? NULL : frz_arena_array(arena, count, size);
    if (items == NULL && count > 0 && t->rc == FRZ_OK) {
        t->rc = frz_fail_nomem(t->err, count * size);
    }
    return items;
}

static void parse_decimal(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            e->scale = parquet_thrift_i32(t, &f);
            break;
        case 2:
            e->precision = parquet_thrift_i32(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_unit(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (f.id >= PARQUET_MILLIS && f.id <= PARQUET_NANOS) {
            e->unit = (parquet_time_unit)f.id;
        }
        parquet_thrift_skip(t, &f);
    }
}

static void parse_time(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (f.id == 1) {
            e->utc = parquet_thrift_bool(t, &f);
        } else if (f.id == 2 && parquet_thrift_struct(t, &f)) {
            parse_unit(t, e);
        } else {
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_integer(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (f.id == 1) {
            e->bit_width = (int8_t)parquet_thrift_i32(t, &f);
        } else if (f.id == 2) {
            e->is_signed = parquet_thrift_bool(t, &f);
        } else {
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_variant(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (f.id == 1) {
            e->version = (int8_t)parquet_thrift_i32(t, &f);
        } else {
            parquet_thrift_skip(t, &f);
        }
    }
}

/* GeometryType, and GeographyType which has one member more. */
static void parse_geo(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (f.id == 1) {
            e->crs = parquet_thrift_binary(t, &f);
        } else if (f.id == 2) {
            int32_t algorithm = parquet_thrift_i32(t, &f);
            e->algorithm =
                (int8_t)(algorithm < 0 || algorithm >= INT8_MAX ? INT8_MAX : algorithm + 1);
        } else {
            parquet_thrift_skip(t, &f);
        }
    }
}

/* The union LogicalType. A member that is not known is ignored, as the format asks. */
static void parse_logical(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        if (!parquet_thrift_struct(t, &f)) {
            return;
        }
        if (f.id >= PARQUET_LOGICAL_STRING && f.id <= PARQUET_LOGICAL_FILE && f.id != 9) {
            e->logical = (parquet_logical)f.id;
        }
        switch (f.id) {
        case PARQUET_LOGICAL_DECIMAL:
            parse_decimal(t, e);
            break;
        case PARQUET_LOGICAL_TIME:
        case PARQUET_LOGICAL_TIMESTAMP:
            parse_time(t, e);
            break;
        case PARQUET_LOGICAL_INTEGER:
            parse_integer(t, e);
            break;
        case PARQUET_LOGICAL_VARIANT:
            parse_variant(t, e);
            break;
        case PARQUET_LOGICAL_GEOMETRY:
        case PARQUET_LOGICAL_GEOGRAPHY:
            parse_geo(t, e);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

/* spec: LogicalTypes, what the older ConvertedType means */
typedef struct converted_meaning {
    parquet_logical logical;
    parquet_time_unit unit;
    int8_t bit_width;
    bool is_signed;
} converted_meaning;

static const converted_meaning converted_meanings[] = {
    {PARQUET_LOGICAL_STRING, 0, 0, false},
    {PARQUET_LOGICAL_MAP, 0, 0, false},
    {PARQUET_LOGICAL_MAP, 0, 0, false}, /* MAP_KEY_VALUE */
    {PARQUET_LOGICAL_LIST, 0, 0, false},
    {PARQUET_LOGICAL_ENUM, 0, 0, false},
    {PARQUET_LOGICAL_DECIMAL, 0, 0, false},
    {PARQUET_LOGICAL_DATE, 0, 0, false},
    {PARQUET_LOGICAL_TIME, PARQUET_MILLIS, 0, false},
    {PARQUET_LOGICAL_TIME, PARQUET_MICROS, 0, false},
    {PARQUET_LOGICAL_TIMESTAMP, PARQUET_MILLIS, 0, false},
    {PARQUET_LOGICAL_TIMESTAMP, PARQUET_MICROS, 0, false},
    {PARQUET_LOGICAL_INTEGER, 0, 8, false},
    {PARQUET_LOGICAL_INTEGER, 0, 16, false},
    {PARQUET_LOGICAL_INTEGER, 0, 32, false},
    {PARQUET_LOGICAL_INTEGER, 0, 64, false},
    {PARQUET_LOGICAL_INTEGER, 0, 8, true},
    {PARQUET_LOGICAL_INTEGER, 0, 16, true},
    {PARQUET_LOGICAL_INTEGER, 0, 32, true},
    {PARQUET_LOGICAL_INTEGER, 0, 64, true},
    {PARQUET_LOGICAL_JSON, 0, 0, false},
    {PARQUET_LOGICAL_BSON, 0, 0, false},
};

static void apply_converted(parquet_element *e)
{
    if (e->logical != PARQUET_LOGICAL_NONE || e->converted < 0 ||
        (size_t)e->converted >= FRZ_ARRAY_COUNT(converted_meanings)) {
        return;
    }
    const converted_meaning *m = &converted_meanings[e->converted];
    e->logical = m->logical;
    e->unit = m->unit;
    e->bit_width = m->bit_width;
    e->is_signed = m->is_signed;
    e->utc = true;
    e->from_converted = true;
}

static void parse_element_field(parquet_thrift *t, const parquet_thrift_field *f,
                                parquet_element *e)
{
    int32_t value;
    switch (f->id) {
    case 1:
        value = parquet_thrift_i32(t, f);
        if (value < PARQUET_BOOLEAN || value > PARQUET_FIXED_LEN_BYTE_ARRAY) {
            parquet_thrift_fail(t, "unknown physical type %d", value);
            return;
        }
        e->physical = (parquet_physical)value;
        break;
    case 2:
        e->type_length = parquet_thrift_i32(t, f);
        break;
    case 3:
        value = parquet_thrift_i32(t, f);
        if (value < PARQUET_REQUIRED || value > PARQUET_REPEATED) {
            parquet_thrift_fail(t, "unknown repetition %d", value);
            return;
        }
        e->repetition = (parquet_repetition)value;
        break;
    case 4:
        e->name = parquet_thrift_binary(t, f);
        break;
    case 5:
        e->num_children = parquet_thrift_i32(t, f);
        break;
    case 6:
        e->converted = parquet_thrift_i32(t, f);
        break;
    case 7:
        e->scale = parquet_thrift_i32(t, f);
        break;
    case 8:
        e->precision = parquet_thrift_i32(t, f);
        break;
    case 9:
        e->field_id = parquet_thrift_i32(t, f);
        e->has_field_id = true;
        break;
    case 10:
        if (parquet_thrift_struct(t, f)) {
            parse_logical(t, e);
        }
        break;
    default:
        parquet_thrift_skip(t, f);
    }
}

static void parse_element(parquet_thrift *t, parquet_element *e)
{
    parquet_thrift_field f = {0};
    *e = (parquet_element){.physical = PARQUET_NO_PHYSICAL, .converted = -1};
    while (parquet_thrift_next(t, &f)) {
        parse_element_field(t, &f, e);
    }
    if (t->rc == FRZ_OK && e->name.ptr == NULL) {
        parquet_thrift_fail(t, "a schema element has no name");
    }
    apply_converted(e);
}

/* ---- row groups ---- */

/* Chunks are passed over and parsed when they are asked for. */
static void parse_chunks(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                         parquet_shapes *shapes, parquet_group *g)
{
    size_t count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, LEAST_CHUNK);
    g->chunk_count = count;
    g->chunk_at = list_array(t, arena, count, sizeof *g->chunk_at);
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        g->chunk_at[i] = (uint32_t)(t->at - t->start);
        parquet_shapes_skip(shapes, t);
    }
}

static void parse_sorting_column(parquet_thrift *t, parquet_sorting_column *column)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            column->column = parquet_thrift_i32(t, &f);
            break;
        case 2:
            column->descending = parquet_thrift_bool(t, &f);
            break;
        case 3:
            column->nulls_first = parquet_thrift_bool(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

static void parse_sorting(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                          parquet_group *g)
{
    size_t count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, LEAST_SORTING);
    parquet_sorting_column *sorting = list_array(t, arena, count, sizeof *sorting);
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        parse_sorting_column(t, &sorting[i]);
    }
    g->sorting = sorting;
    g->sorting_count = count;
}

static void parse_group(parquet_thrift *t, frz_arena *arena, parquet_shapes *shapes,
                        parquet_group *g)
{
    parquet_thrift_field f = {0};
    g->ordinal = -1;
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            parse_chunks(t, &f, arena, shapes, g);
            break;
        case 2:
            g->total_byte_size = parquet_thrift_i64(t, &f);
            break;
        case 3:
            g->num_rows = parquet_thrift_i64(t, &f);
            break;
        case 4:
            parse_sorting(t, &f, arena, g);
            break;
        case 5:
            g->file_offset = parquet_thrift_i64(t, &f);
            break;
        case 7:
            g->ordinal = parquet_thrift_i32(t, &f);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

/* ---- the whole ---- */

static void parse_schema(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                         parquet_metadata *m)
{
    m->element_count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, LEAST_ELEMENT);
    m->elements = list_array(t, arena, m->element_count, sizeof *m->elements);
    for (size_t i = 0; i < m->element_count && t->rc == FRZ_OK; i++) {
        parse_element(t, &m->elements[i]);
    }
}

static void parse_groups(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                         parquet_metadata *m)
{
    parquet_shapes shapes;
    parquet_shapes_init(&shapes);
    m->group_count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, LEAST_GROUP);
    m->groups = list_array(t, arena, m->group_count, sizeof *m->groups);
    for (size_t i = 0; i < m->group_count && t->rc == FRZ_OK; i++) {
        parse_group(t, arena, &shapes, &m->groups[i]);
    }
}

static void parse_key_values(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                             parquet_metadata *m)
{
    m->key_count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, LEAST_KEY_VALUE);
    m->keys = list_array(t, arena, m->key_count, sizeof *m->keys);
    for (size_t i = 0; i < m->key_count && t->rc == FRZ_OK; i++) {
        parquet_thrift_field kv = {0};
        while (parquet_thrift_next(t, &kv)) {
            if (kv.id == 1) {
                m->keys[i].key = parquet_thrift_binary(t, &kv);
            } else if (kv.id == 2) {
                m->keys[i].value = parquet_thrift_binary(t, &kv);
            } else {
                parquet_thrift_skip(t, &kv);
            }
        }
    }
}

static void parse_orders(parquet_thrift *t, const parquet_thrift_field *f, frz_arena *arena,
                         parquet_metadata *m)
{
    size_t count = parquet_thrift_list(t, f, PARQUET_THRIFT_STRUCT, 1);
    int8_t *orders = list_array(t, arena, count, sizeof *orders);
    for (size_t i = 0; i < count && t->rc == FRZ_OK; i++) {
        parquet_thrift_field order = {0};
        while (parquet_thrift_next(t, &order)) {
            orders[i] = order.id > 0 && order.id <= INT8_MAX ? (int8_t)order.id : 0;
            parquet_thrift_skip(t, &order);
        }
    }
    m->column_orders = orders;
    m->column_order_count = count;
}

static void parse_metadata(parquet_thrift *t, frz_arena *arena, parquet_metadata *m)
{
    parquet_thrift_field f = {0};
    while (parquet_thrift_next(t, &f)) {
        switch (f.id) {
        case 1:
            m->version = parquet_thrift_i32(t, &f);
            break;
        case 2:
            parse_schema(t, &f, arena, m);
            break;
        case 3:
            m->num_rows = parquet_thrift_i64(t, &f);
            break;
        case 4:
            parse_groups(t, &f, arena, m);
            break;
        case 5:
            parse_key_values(t, &f, arena, m);
            break;
        case 6:
            m->created_by = parquet_thrift_binary(t, &f);
            break;
        case 7:
            parse_orders(t, &f, arena, m);
            break;
        default:
            parquet_thrift_skip(t, &f);
        }
    }
}

/* Row numbers of groups; rows by position need them to add up. */
static frz_code number_groups(parquet_metadata *m, frz_error *err)
{
    int64_t row = 0;
    for (size_t i = 0; i < m->group_count; i++) {
        parquet_group *g = &m->groups[i];
        if (g->num_rows < 0) {
            return frz_fail(err, FRZ_E_CORRUPT, "row group %zu has %lld rows", i,
                            (long long)g->num_rows);
        }
        g->first_row = row;
        if (!frz_add_i64(row, g->num_rows, &row)) {
            return frz_fail(err, FRZ_E_CORRUPT, "the rows of the row groups overflow 64 bits");
        }
    }
    /* a count of 0 beside filled groups is a quirk of a writer; the groups have the rows */
    if (m->num_rows == 0) {
        m->num_rows = row;
    }
    if (row != m->num_rows) {
        return frz_fail(err, FRZ_E_CORRUPT, "the footer says %lld rows, its row groups hold %lld",
                        (long long)m->num_rows, (long long)row);
    }
    return FRZ_OK;
}

frz_code parquet_footer_parse(frz_arena *arena, frz_str bytes, uint64_t offset,
                              parquet_metadata *out, frz_error *err)
{
    parquet_metadata m = {.bytes = bytes, .offset = offset};
    parquet_thrift t;
    parquet_thrift_init(&t, (const uint8_t *)bytes.ptr, bytes.len, offset, err);
    parse_metadata(&t, arena, &m);
    frz_code rc = t.rc;
    if (rc == FRZ_OK && m.element_count == 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "the footer has no schema");
    }
    if (rc == FRZ_OK) {
        rc = number_groups(&m, err);
    }
    if (rc == FRZ_OK) {
        *out = m;
    }
    return frz_context(err, rc, "Parquet footer");
}
