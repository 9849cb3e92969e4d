/*
 * Arrow's types three ways: the C data interface's format strings, the tables of Schema.fbs, and
 * ipc_type between them. Types without free parameters are rows of one table.
 */
#include <inttypes.h>

#include "arrow/arrow_ipc.h"

#define MAX_PARAMETERS 3

static const struct {
    const char *format;
    ipc_type type;
} fixed_types[] = {
    {"n", {.tag = IPC_NULL, .layout = IPC_NULLS}},
    {"b", {.tag = IPC_BOOL, .layout = IPC_BITS}},
    {"c", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 1, .a = 8, .b = 1}},
    {"C", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 1, .a = 8}},
    {"s", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 2, .a = 16, .b = 1}},
    {"S", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 2, .a = 16}},
    {"i", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 4, .a = 32, .b = 1}},
    {"I", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 4, .a = 32}},
    {"l", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 8, .a = 64, .b = 1}},
    {"L", {.tag = IPC_INT, .layout = IPC_FIXED, .width = 8, .a = 64}},
    {"e", {.tag = IPC_FLOAT, .layout = IPC_FIXED, .width = 2, .a = 0}},
    {"f", {.tag = IPC_FLOAT, .layout = IPC_FIXED, .width = 4, .a = 1}},
    {"g", {.tag = IPC_FLOAT, .layout = IPC_FIXED, .width = 8, .a = 2}},
    {"z", {.tag = IPC_BINARY, .layout = IPC_BYTES, .width = 4}},
    {"Z", {.tag = IPC_LARGE_BINARY, .layout = IPC_BYTES, .width = 8}},
    {"u", {.tag = IPC_UTF8, .layout = IPC_BYTES, .width = 4}},
    {"U", {.tag = IPC_LARGE_UTF8, .layout = IPC_BYTES, .width = 8}},
    {"vz", {.tag = IPC_BINARY_VIEW, .layout = IPC_VIEWS, .width = 16}},
    {"vu", {.tag = IPC_UTF8_VIEW, .layout = IPC_VIEWS, .width = 16}},
    {"tdD", {.tag = IPC_DATE, .layout = IPC_FIXED, .width = 4, .a = 0}},
    {"tdm", {.tag = IPC_DATE, .layout = IPC_FIXED, .width = 8, .a = 1}},
    {"tts", {.tag = IPC_TIME, .layout = IPC_FIXED, .width = 4, .a = 0, .b = 32}},
    {"ttm", {.tag = IPC_TIME, .layout = IPC_FIXED, .width = 4, .a = 1, .b = 32}},
    {"ttu", {.tag = IPC_TIME, .layout = IPC_FIXED, .width = 8, .a = 2, .b = 64}},
    {"ttn", {.tag = IPC_TIME, .layout = IPC_FIXED, .width = 8, .a = 3, .b = 64}},
    {"tDs", {.tag = IPC_DURATION, .layout = IPC_FIXED, .width = 8, .a = 0}},
    {"tDm", {.tag = IPC_DURATION, .layout = IPC_FIXED, .width = 8, .a = 1}},
    {"tDu", {.tag = IPC_DURATION, .layout = IPC_FIXED, .width = 8, .a = 2}},
    {"tDn", {.tag = IPC_DURATION, .layout = IPC_FIXED, .width = 8, .a = 3}},
    {"tiM", {.tag = IPC_INTERVAL, .layout = IPC_FIXED, .width = 4, .a = 0}},
    {"tiD", {.tag = IPC_INTERVAL, .layout = IPC_FIXED, .width = 8, .a = 1}},
    {"tin", {.tag = IPC_INTERVAL, .layout = IPC_FIXED, .width = 16, .a = 2}},
    {"+l", {.tag = IPC_LIST, .layout = IPC_ITEMS, .width = 4}},
    {"+L", {.tag = IPC_LARGE_LIST, .layout = IPC_ITEMS, .width = 8}},
    {"+vl", {.tag = IPC_LIST_VIEW, .layout = IPC_ITEM_VIEWS, .width = 4}},
    {"+vL", {.tag = IPC_LARGE_LIST_VIEW, .layout = IPC_ITEM_VIEWS, .width = 8}},
    {"+s", {.tag = IPC_STRUCT, .layout = IPC_FIELDS}},
    {"+m", {.tag = IPC_MAP, .layout = IPC_ITEMS, .width = 4}},
    {"+r", {.tag = IPC_RUN_END, .layout = IPC_RUNS}},
};

static const char units[] = "smun"; /* TimeUnit */

size_t ipc_type_children(const ipc_type *type)
{
    switch (type->layout) {
    case IPC_ITEMS:
    case IPC_ITEM_VIEWS:
    case IPC_FIXED_ITEMS:
        return 1;
    case IPC_RUNS:
        return 2;
    case IPC_SPARSE:
    case IPC_DENSE:
        return type->choice->count;
    case IPC_FIELDS:
        return SIZE_MAX;
    default:
        return 0;
    }
}

size_t ipc_type_buffers(const ipc_type *type)
{
    switch (type->layout) {
    case IPC_NULLS:
    case IPC_RUNS:
        return 0;
    case IPC_FIXED_ITEMS:
    case IPC_FIELDS:
    case IPC_SPARSE:
        return 1;
    case IPC_BYTES:
    case IPC_ITEM_VIEWS:
        return 3;
    default:
        return 2;
    }
}

/* ---- types with parameters ---- */

static bool make_fixed_binary(int64_t width, ipc_type *out)
{
    *out = (ipc_type){.tag = IPC_FIXED_BINARY, .layout = IPC_FIXED, .width = (int32_t)width};
    return width >= 0 && width <= INT32_MAX;
}

static bool make_fixed_list(int64_t size, ipc_type *out)
{
    *out = (ipc_type){.tag = IPC_FIXED_LIST, .layout = IPC_FIXED_ITEMS, .width = (int32_t)size};
    return size >= 0 && size <= INT32_MAX;
}

static bool make_decimal(int64_t precision, int64_t scale, int64_t bits, ipc_type *out)
{
    int64_t digits = bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : bits == 256 ? 76 : 0;
    *out = (ipc_type){.tag = IPC_DECIMAL,
                      .layout = IPC_FIXED,
                      .width = (int32_t)bits / 8,
                      .a = (int32_t)precision,
                      .b = (int32_t)scale,
                      .c = (int32_t)bits};
    return precision > 0 && precision <= digits && scale >= INT32_MIN && scale <= INT32_MAX;
}

static ipc_type timestamp_of(int32_t unit, frz_str zone)
{
    return (ipc_type){
        .tag = IPC_TIMESTAMP, .layout = IPC_FIXED, .width = 8, .a = unit, .zone = zone};
}

/* Take a type id as the next child's; false if it is impossible or there already. */
static bool add_id(ipc_union *u, int64_t id)
{
    if (u->count == FRZ_ARRAY_COUNT(u->ids) || id < 0 || id > 127 || u->child_of[id] >= 0) {
        return false;
    }
    u->child_of[id] = (int16_t)u->count;
    u->ids[u->count++] = (uint8_t)id;
    return true;
}

static frz_code new_union(frz_arena *arena, bool dense, ipc_type *type, ipc_union **out,
                          frz_error *err)
{
    ipc_union *u = frz_arena_alloc(arena, sizeof *u);
    if (u == NULL) {
        return frz_fail_nomem(err, sizeof *u);
    }
    memset(u->child_of, 0xFF, sizeof u->child_of);
    *type = (ipc_type){
        .tag = IPC_UNION, .layout = dense ? IPC_DENSE : IPC_SPARSE, .a = dense, .choice = u};
    *out = u;
    return FRZ_OK;
}

/* ---- format strings ---- */

static frz_code bad_format(frz_str format, frz_error *err)
{
    return frz_fail(err, FRZ_E_ARGUMENT, "\"%.*s\" is not the format of an Arrow type",
                    FRZ_STR_ARG(format));
}

/* Numbers between commas; false unless there are `least` to `most` of them and nothing else. */
static bool parse_numbers(frz_str text, int64_t *numbers, size_t least, size_t most, size_t *count)
{
    *count = 0;
    while (text.len > 0) {
        const char *comma = memchr(text.ptr, ',', text.len);
        size_t len = comma == NULL ? text.len : (size_t)(comma - text.ptr);
        if (*count == most || !frz_str_to_i64((frz_str){text.ptr, len}, &numbers[*count])) {
            return false;
        }
        *count += 1;
        size_t step = comma == NULL ? len : len + 1;
        if (comma != NULL && step == text.len) {
            return false;
        }
        text = (frz_str){text.ptr + step, text.len - step};
    }
    return *count >= least;
}

static frz_code union_from_format(frz_arena *arena, frz_str format, frz_str ids, bool dense,
                                  ipc_type *out, frz_error *err)
{
    int64_t numbers[128];
    size_t count;
    ipc_union *u;
    frz_code rc = new_union(arena, dense, out, &u, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (!parse_numbers(ids, numbers, 0, FRZ_ARRAY_COUNT(numbers), &count)) {
        return bad_format(format, err);
    }
    for (size_t i = 0; i < count; i++) {
        if (!add_id(u, numbers[i])) {
            return bad_format(format, err);
        }
    }
    return FRZ_OK;
}

/* "tsu:UTC" */
static bool timestamp_from_format(frz_str format, ipc_type *out)
{
    const char *unit = format.len < 4 ? NULL : strchr(units, format.ptr[2]);
    if (unit == NULL || *unit == '\0' || format.ptr[3] != ':') {
        return false;
    }
    frz_str zone = {format.ptr + 4, format.len - 4};
    *out = timestamp_of((int32_t)(unit - units), zone.len > 0 ? zone : (frz_str){0});
    return true;
}

static bool behind(frz_str format, frz_str prefix, frz_str *rest)
{
    *rest = (frz_str){format.ptr + prefix.len, format.len - prefix.len};
    return frz_str_starts_with(format, prefix);
}

static frz_code parameters_from_format(frz_arena *arena, frz_str format, ipc_type *out,
                                       frz_error *err)
{
    int64_t n[MAX_PARAMETERS] = {0, 0, 128};
    size_t count;
    frz_str rest;
    bool good = false;
    if (behind(format, FRZ_STR("w:"), &rest)) {
        good = parse_numbers(rest, n, 1, 1, &count) && make_fixed_binary(n[0], out);
    } else if (behind(format, FRZ_STR("+w:"), &rest)) {
        good = parse_numbers(rest, n, 1, 1, &count) && make_fixed_list(n[0], out);
    } else if (behind(format, FRZ_STR("d:"), &rest)) {
        good = parse_numbers(rest, n, 2, 3, &count) && make_decimal(n[0], n[1], n[2], out);
    } else if (behind(format, FRZ_STR("ts"), &rest)) {
        good = timestamp_from_format(format, out);
    } else if (behind(format, FRZ_STR("+us:"), &rest)) {
        return union_from_format(arena, format, rest, false, out, err);
    } else if (behind(format, FRZ_STR("+ud:"), &rest)) {
        return union_from_format(arena, format, rest, true, out, err);
    }
    return good ? FRZ_OK : bad_format(format, err);
}

frz_code ipc_type_from_format(frz_arena *arena, frz_str format, ipc_type *out, frz_error *err)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(fixed_types); i++) {
        if (frz_str_equal(format, frz_str_from(fixed_types[i].format))) {
            *out = fixed_types[i].type;
            return FRZ_OK;
        }
    }
    return parameters_from_format(arena, format, out, err);
}

/* The row of the table with the same parameters; NULL if there is none. MAP's `a` is a flag. */
static const char *fixed_format(const ipc_type *type)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(fixed_types); i++) {
        const ipc_type *t = &fixed_types[i].type;
        if (t->tag == type->tag && (t->tag == IPC_MAP || (t->a == type->a && t->b == type->b))) {
            return fixed_types[i].format;
        }
    }
    return NULL;
}

static char *union_format(frz_arena *arena, const ipc_type *type)
{
    const ipc_union *u = type->choice;
    char *text = frz_arena_alloc(arena, 8 + 4 * u->count);
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, type->a != 0 ? "+ud:" : "+us:", 4);
    char *end = text + 4;
    for (size_t i = 0; i < u->count; i++) {
        unsigned id = u->ids[i];
        if (i > 0) {
            *end++ = ',';
        }
        if (id >= 100) {
            *end++ = '1';
        }
        if (id >= 10) {
            *end++ = (char)('0' + id / 10 % 10);
        }
        *end++ = (char)('0' + id % 10);
    }
    return text;
}

frz_code ipc_type_format(frz_arena *arena, const ipc_type *type, frz_str *out, frz_error *err)
{
    const char *text = fixed_format(type);
    if (text == NULL) {
        switch (type->tag) {
        case IPC_FIXED_BINARY:
            text = frz_arena_printf(arena, "w:%" PRId32, type->width);
            break;
        case IPC_FIXED_LIST:
            text = frz_arena_printf(arena, "+w:%" PRId32, type->width);
            break;
        case IPC_DECIMAL:
            text = type->c == 128
                       ? frz_arena_printf(arena, "d:%" PRId32 ",%" PRId32, type->a, type->b)
                       : frz_arena_printf(arena, "d:%" PRId32 ",%" PRId32 ",%" PRId32, type->a,
                                          type->b, type->c);
            break;
        case IPC_TIMESTAMP:
            text = frz_arena_printf(arena, "ts%c:%.*s", units[type->a], FRZ_STR_ARG(type->zone));
            break;
        case IPC_UNION:
            text = union_format(arena, type);
            break;
        default:
            return frz_fail(err, FRZ_E_INTERNAL, "type %d has no format", (int)type->tag);
        }
    }
    if (text == NULL) {
        return frz_fail_nomem(err, 0);
    }
    *out = frz_str_from(text);
    return FRZ_OK;
}

/* ---- the tables of Schema.fbs: writing ---- */

/* Union: mode, typeIds. */
static frz_code put_union(frz_buf *buf, size_t ref, const ipc_type *type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t at;
    flat_field fields[] = {FLAT_VALUE(2, type->a), FLAT_REF};
    FRZ_TRY(flat_put_table(buf, ref, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(flat_put_vector(buf, fields[1].at, type->choice->count, 4, &at, err));
    for (size_t i = 0; i < type->choice->count; i++) {
        frz_store_le32(buf->data + at + 4 * i, type->choice->ids[i]);
    }
out:
    return rc;
}

/* Timestamp: unit, timezone. */
static frz_code put_timestamp(frz_buf *buf, size_t ref, const ipc_type *type, frz_error *err)
{
    flat_field fields[] = {FLAT_VALUE(2, type->a), FLAT_REF};
    fields[1].width = type->zone.ptr == NULL ? 0 : 4;
    frz_code rc = flat_put_table(buf, ref, fields, FRZ_ARRAY_COUNT(fields), err);
    if (rc == FRZ_OK && type->zone.ptr != NULL) {
        rc = flat_put_string(buf, fields[1].at, type->zone, err);
    }
    return rc;
}

frz_code ipc_type_put(frz_buf *buf, size_t ref, const ipc_type *type, frz_error *err)
{
    flat_field fields[MAX_PARAMETERS] = {{0}};
    size_t count = 1;
    switch (type->tag) {
    case IPC_UNION:
        return put_union(buf, ref, type, err);
    case IPC_TIMESTAMP:
        return put_timestamp(buf, ref, type, err);
    case IPC_INT: /* bitWidth, is_signed */
        fields[0] = (flat_field)FLAT_VALUE(4, type->a);
        fields[1] = (flat_field)FLAT_VALUE(1, type->b);
        count = 2;
        break;
    case IPC_DECIMAL: /* precision, scale, bitWidth */
        fields[0] = (flat_field)FLAT_VALUE(4, type->a);
        fields[1] = (flat_field)FLAT_VALUE(4, type->b);
        fields[2] = (flat_field)FLAT_VALUE(4, type->c);
        count = 3;
        break;
    case IPC_TIME: /* unit, bitWidth */
        fields[0] = (flat_field)FLAT_VALUE(2, type->a);
        fields[1] = (flat_field)FLAT_VALUE(4, type->b);
        count = 2;
        break;
    case IPC_FLOAT: /* precision */
    case IPC_DATE:  /* unit */
    case IPC_INTERVAL:
    case IPC_DURATION:
        fields[0] = (flat_field)FLAT_VALUE(2, type->a);
        break;
    case IPC_FIXED_BINARY: /* byteWidth */
    case IPC_FIXED_LIST:   /* listSize */
        fields[0] = (flat_field)FLAT_VALUE(4, type->width);
        break;
    case IPC_MAP: /* keysSorted */
        fields[0] = (flat_field)FLAT_VALUE(1, type->a);
        break;
    default:
        count = 0;
    }
    return flat_put_table(buf, ref, fields, count, err);
}

/* ---- the tables of Schema.fbs: reading ---- */

/* A row of the table with these parameters. */
static bool find_fixed(const ipc_type *wanted, ipc_type *out)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(fixed_types); i++) {
        const ipc_type *t = &fixed_types[i].type;
        if (t->tag == wanted->tag && t->a == wanted->a && t->b == wanted->b) {
            *out = *t;
            return true;
        }
    }
    return false;
}

static bool get_timestamp(frz_arena *arena, const flat_table *t, ipc_type *out, frz_code *rc,
                          frz_error *err)
{
    int64_t unit = flat_i16(t, 0, 0);
    frz_str zone = flat_get_string(t, 1);
    if (unit < 0 || unit > 3 || !frz_utf8_valid(zone) || !frz_str_is_clean(zone)) {
        return false;
    }
    *out = timestamp_of((int32_t)unit, (frz_str){0});
    if (zone.len > 0) {
        *rc = frz_arena_str(arena, zone, &out->zone, err);
    }
    return true;
}

static bool get_union(frz_arena *arena, const flat_table *t, size_t children, ipc_type *out,
                      frz_code *rc, frz_error *err)
{
    int64_t mode = flat_i16(t, 0, 0);
    flat_vector ids = flat_get_vector(t, 1, 4);
    ipc_union *u;
    if (mode < 0 || mode > 1 || (ids.at != 0 && ids.count != children)) {
        return false;
    }
    *rc = new_union(arena, mode == 1, out, &u, err);
    for (size_t i = 0; i < children && *rc == FRZ_OK; i++) {
        int64_t id = ids.at == 0 ? (int64_t)i : (int32_t)frz_load_le32(flat_item(&ids, i));
        if (!add_id(u, id)) {
            return false;
        }
    }
    return true;
}

/* False if the parameters make no sense; *rc is a failure of another kind. */
static bool get_parameters(frz_arena *arena, const flat_table *t, ipc_tag tag, size_t children,
                           ipc_type *out, frz_code *rc, frz_error *err)
{
    ipc_type key = {.tag = tag};
    switch (tag) {
    case IPC_TIMESTAMP:
        return get_timestamp(arena, t, out, rc, err);
    case IPC_UNION:
        return get_union(arena, t, children, out, rc, err);
    case IPC_DECIMAL:
        return make_decimal(flat_i32(t, 0, 0), flat_i32(t, 1, 0), flat_i32(t, 2, 128), out);
    case IPC_FIXED_BINARY:
        return make_fixed_binary(flat_i32(t, 0, 0), out);
    case IPC_FIXED_LIST:
        return make_fixed_list(flat_i32(t, 0, 0), out);
    case IPC_INT:
        key.a = (int32_t)flat_i32(t, 0, 0);
        key.b = flat_bool(t, 1);
        break;
    case IPC_TIME:
        key.a = (int32_t)flat_i16(t, 0, 1);
        key.b = (int32_t)flat_i32(t, 1, 32);
        break;
    case IPC_DATE:
    case IPC_DURATION:
        key.a = (int32_t)flat_i16(t, 0, 1); /* milliseconds */
        break;
    case IPC_FLOAT:
    case IPC_INTERVAL:
        key.a = (int32_t)flat_i16(t, 0, 0);
        break;
    default:
        break;
    }
    bool found = find_fixed(&key, out);
    if (tag == IPC_MAP) {
        out->a = flat_bool(t, 0);
    }
    return found;
}

frz_code ipc_type_get(frz_arena *arena, const flat_table *table, int64_t tag, size_t children,
                      ipc_type *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (tag > IPC_LARGE_LIST_VIEW || tag < 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: Arrow type number %d", (int)tag);
    }
    if (tag == 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "a field has no type");
    }
    if (!get_parameters(arena, table, (ipc_tag)tag, children, out, &rc, err)) {
        return frz_fail(err, FRZ_E_CORRUPT, "Arrow type number %d has impossible parameters",
                        (int)tag);
    }
    return rc;
}
