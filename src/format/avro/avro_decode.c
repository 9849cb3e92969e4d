/*
 * Running a plan over the data of a block.
 *
 * Invariants:
 *  1. Nothing is read at or behind d->end. A number or length is checked before it is used.
 *  2. A body is run only after its columns were given room for it, so that a value is stored
 *     without a question. Bytes of variable length ask for room themselves.
 *  3. Steps return where the next value begins, or NULL after a failure, which d->rc keeps.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/avro/avro_internal.h"
#include "type/type_value.h"

#define MOST_DEPTH 1000 /* of values that are passed over; others are as deep as types may be */

#define AT_ONCE 1024 /* rows and items that are given room at once */

#define SHORT 16 /* bytes that are copied without asking how many there are */

#define MICROS_PER_DAY (INT64_C(86400) * 1000000)
#define NANOS_PER_DAY (MICROS_PER_DAY * 1000)

/* ---- failures ---- */

static const uint8_t *fail(avro_decoder *d, const avro_op *op, const uint8_t *p, frz_code code,
                           const char *fmt, ...) FRZ_PRINTF(5, 6);

static const uint8_t *fail(avro_decoder *d, const avro_op *op, const uint8_t *p, frz_code code,
                           const char *fmt, ...)
{
    char text[256], path[256], place[96];
    if (d->rc != FRZ_OK) {
        return NULL;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    uint64_t at = d->block + (d->packed ? 0 : (uint64_t)(p - d->start));
    if (d->packed) {
        snprintf(place, sizeof place, "block at byte %" PRIu64 ", byte %zu of its data", at,
                 (size_t)(p - d->start));
    } else {
        snprintf(place, sizeof place, "byte %" PRIu64, at);
    }
    d->rc = frz_fail_at(d->err, code, at, "%s: %s", place, text);
    if (op != NULL && op->node != NULL) {
        frz_context(d->err, d->rc, "column \"%s\"", avro_node_path(op->node, path, sizeof path));
    }
    return NULL;
}

static const uint8_t *bad_number(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    bool cut = d->end - p < 10;
    return fail(d, op, p, FRZ_E_CORRUPT,
                cut ? "the block's data ends inside of a number"
                    : "a number of more than 10 bytes");
}

static const uint8_t *ends_early(avro_decoder *d, const avro_op *op, const uint8_t *p, size_t size)
{
    return fail(d, op, p, FRZ_E_CORRUPT, "%zu bytes are expected and %zu left", size,
                (size_t)(d->end - p));
}

static const uint8_t *too_large(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    return fail(d, op, p, FRZ_E_LIMIT, "a row takes more than %zu bytes of memory", AVRO_MAX_BATCH);
}

/* ---- numbers ---- */

static inline const uint8_t *get_long(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                      int64_t *out)
{
    uint64_t folded;
    const uint8_t *next = avro_varint(p, d->end, &folded);
    if (next == NULL) {
        return bad_number(d, op, p);
    }
    *out = avro_unfold(folded);
    return next;
}

static inline const uint8_t *get_int(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                     int32_t *out)
{
    int64_t value = 0;
    const uint8_t *next = get_long(d, op, p, &value);
    if (next != NULL && (value < INT32_MIN || value > INT32_MAX)) {
        return fail(d, op, p, FRZ_E_CORRUPT, "%" PRId64 " is not an integer of 32 bits", value);
    }
    *out = (int32_t)value;
    return next;
}

/* The bytes of a string; they follow the place that is returned. */
static inline const uint8_t *get_length(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                        size_t *out)
{
    int64_t len = 0;
    const uint8_t *next = get_long(d, op, p, &len);
    if (next == NULL) {
        return NULL;
    }
    if (len < 0 || (uint64_t)len > (uint64_t)(d->end - next)) {
        return fail(d, op, p, FRZ_E_CORRUPT, "a length of %" PRId64 " with %zu bytes left", len,
                    (size_t)(d->end - next));
    }
    *out = (size_t)len;
    return next;
}

/* ---- storing ---- */

static inline void put_valid(avro_column *c, uint8_t valid)
{
    if (c->nullable) {
        c->valid[c->count] = valid;
    }
}

static inline void put_i32(avro_column *c, int32_t value)
{
    memcpy(c->values + c->count * 4, &value, 4);
    c->count++;
}

static inline void put_i64(avro_column *c, int64_t value)
{
    memcpy(c->values + c->count * 8, &value, 8);
    c->count++;
}

static inline void put_offset(avro_column *c)
{
    c->count++;
    int32_t end = (int32_t)c->bytes_len;
    memcpy(c->values + c->count * 4, &end, 4);
}

/* A value where there is none. */
static void put_nothing(avro_column *c)
{
    put_valid(c, 0);
    switch (c->shape) {
    case AVRO_SHAPE_NOTHING:
        c->count++;
        break;
    case AVRO_SHAPE_FIXED:
        memset(c->values + c->count * c->width, 0, c->width);
        c->count++;
        break;
    case AVRO_SHAPE_BYTES:
    case AVRO_SHAPE_ITEMS:
        put_offset(c);
        break;
    }
}

static bool put_long_bytes(avro_decoder *d, avro_column *c, const void *bytes, size_t len)
{
    if (len > c->bytes_capacity - c->bytes_len) {
        frz_code rc = avro_column_reserve_bytes(c, len, d->err);
        if (rc != FRZ_OK) {
            d->rc = rc;
            return false;
        }
    }
    if (len > 0) {
        memcpy(c->bytes + c->bytes_len, bytes, len);
    }
    c->bytes_len += len;
    d->bytes += len;
    put_offset(c);
    return true;
}

/* end: of what may be read. */
static inline bool put_bytes(avro_decoder *d, avro_column *c, const uint8_t *bytes, size_t len,
                             const uint8_t *end)
{
    if (len <= SHORT && end - bytes >= SHORT && c->bytes_capacity - c->bytes_len >= SHORT) {
        memcpy(c->bytes + c->bytes_len, bytes, SHORT); /* what is too much is overwritten */
        c->bytes_len += len;
        d->bytes += len;
        put_offset(c);
        return true;
    }
    return put_long_bytes(d, c, bytes, len);
}

/* Make room in all columns of a body for n runs. */
static bool make_room(avro_decoder *d, const avro_body *body, size_t n)
{
    for (size_t i = 0; i < body->column_count; i++) {
        avro_column *c = body->columns[i];
        if (n > c->capacity - c->count) {
            frz_code rc = avro_column_reserve(c, n, d->err);
            if (rc != FRZ_OK) {
                d->rc = rc;
                return false;
            }
        }
    }
    return true;
}

/* ---- values that are converted ---- */

static const uint8_t *get_scaled(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                 int64_t value, int64_t factor, const uint8_t *next)
{
    int64_t scaled;
    if (!frz_mul_i64(value, factor, &scaled)) {
        return fail(d, op, p, FRZ_E_CORRUPT, "%" PRId64 " is out of the range of its type", value);
    }
    put_i64(op->column, scaled);
    return next;
}

/* Big-endian two's complement of any length. False: no bytes, or more than 38 digits. */
static bool load_decimal(const uint8_t *bytes, size_t len, frz_i128 *out)
{
    static const frz_i128 limit =
        (frz_i128)UINT64_C(10000000000000000000) * UINT64_C(10000000000000000000);
    if (len == 0) {
        return false;
    }
    uint8_t fill = (bytes[0] & 0x80) != 0 ? 0xFF : 0;
    unsigned __int128 value = fill == 0 ? 0 : ~(unsigned __int128)0;
    for (; len > sizeof value; bytes++, len--) {
        if (bytes[0] != fill || (bytes[1] & 0x80) != (fill & 0x80)) {
            return false;
        }
    }
    for (size_t i = 0; i < len; i++) {
        value = value << 8 | bytes[i];
    }
    *out = (frz_i128)value;
    return *out<limit && * out> - limit;
}

static const uint8_t *get_decimal(avro_decoder *d, const avro_op *op, const uint8_t *p, size_t len)
{
    frz_i128 value;
    avro_column *c = op->column;
    if (!load_decimal(p, len, &value)) {
        return fail(d, op, p, FRZ_E_CORRUPT,
                    "a decimal of %zu bytes has none or more than 38 digits", len);
    }
    memcpy(c->values + c->count * sizeof value, &value, sizeof value);
    c->count++;
    return p + len;
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* RFC 4122: 8-4-4-4-12 hexadecimal digits. */
static bool parse_uuid(const uint8_t *text, size_t len, uint8_t *out)
{
    static const uint8_t dashes[] = {8, 13, 18, 23};
    size_t digits = 0;
    if (len != 36) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (memchr(dashes, (int)i, sizeof dashes) != NULL) {
            if (text[i] != '-') {
                return false;
            }
            continue;
        }
        int digit = hex_digit(text[i]);
        if (digit < 0) {
            return false;
        }
        out[digits / 2] = (uint8_t)(digits % 2 == 0 ? digit << 4 : out[digits / 2] | digit);
        digits++;
    }
    return true;
}

static const uint8_t *get_uuid_text(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                    size_t len)
{
    avro_column *c = op->column;
    if (!parse_uuid(p, len, c->values + c->count * 16)) {
        return fail(d, op, p, FRZ_E_CORRUPT, "\"%.*s\" is not a UUID", (int)FRZ_MIN(len, 40),
                    (const char *)p);
    }
    c->count++;
    return p + len;
}

/* Months, days and milliseconds of 32 bits, to months, days and nanoseconds. */
static const uint8_t *get_duration(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    avro_column *c = op->column;
    uint8_t *to = c->values + c->count * 16;
    uint32_t months = frz_load_le32(p), days = frz_load_le32(p + 4);
    if (months > INT32_MAX || days > INT32_MAX) {
        return fail(d, op, p, FRZ_E_CORRUPT, "a duration of more than %d months or days",
                    INT32_MAX);
    }
    frz_store_le32(to, months);
    frz_store_le32(to + 4, days);
    frz_store_le64(to + 8, (uint64_t)frz_load_le32(p + 8) * 1000000);
    c->count++;
    return p + 12;
}

static const uint8_t *get_symbol(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    int64_t place = 0;
    const uint8_t *next = get_long(d, op, p, &place);
    if (next == NULL) {
        return NULL;
    }
    if (place < 0 || (uint64_t)place >= op->schema->symbol_count) {
        return fail(d, op, p, FRZ_E_CORRUPT, "symbol %" PRId64 " of an enum of %zu", place,
                    op->schema->symbol_count);
    }
    frz_str symbol = op->schema->symbols[place];
    return put_long_bytes(d, op->column, symbol.ptr, symbol.len) ? next : NULL;
}

/* ---- steps ---- */

static const uint8_t *run(avro_decoder *d, const avro_body *body, const uint8_t *p);

/* The branch of a union that follows. */
static const uint8_t *get_branch(avro_decoder *d, const avro_op *op, const uint8_t *p, size_t count,
                                 size_t *out)
{
    int64_t branch = 0;
    const uint8_t *next = get_long(d, op, p, &branch);
    if (next == NULL) {
        return NULL;
    }
    if (branch < 0 || (uint64_t)branch >= count) {
        return fail(d, op, p, FRZ_E_CORRUPT, "branch %" PRId64 " of a union of %zu types", branch,
                    count);
    }
    *out = (size_t)branch;
    return next;
}

/* The count of the next items, with the end that they claim to have; NULL: not claimed. */
static const uint8_t *get_count(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                const avro_body *item, size_t *count, const uint8_t **claimed)
{
    int64_t said = 0;
    size_t size = 0;
    const uint8_t *next = get_long(d, op, p, &said);
    *claimed = NULL;
    if (next != NULL && said < 0) {
        next = get_length(d, op, next, &size);
        *claimed = next == NULL ? NULL : next + size;
    }
    if (next == NULL) {
        return NULL;
    }
    uint64_t items = said < 0 ? 0 - (uint64_t)said : (uint64_t)said;
    uint64_t most =
        item->least == 0 ? (uint64_t)AVRO_MAX_EMPTY : (uint64_t)(d->end - next) / item->least;
    if (items > most) {
        return fail(d, op, p, FRZ_E_CORRUPT,
                    "%" PRIu64 " items of at least %" PRIu64
                    " bytes cannot be in the %zu bytes left",
                    items, item->least, (size_t)(d->end - next));
    }
    *count = (size_t)items;
    return next;
}

/* The keys are few or many. */
static inline bool is_wanted(const avro_wanted *wanted, int32_t key)
{
    size_t low = 0, high = wanted->count;
    while (high - low > 4) {
        size_t middle = low + (high - low) / 2;
        if (wanted->keys[middle] <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    while (low < high && wanted->keys[low] != key) {
        low++;
    }
    return low < high;
}

/* Values of counts and of bounds are one step each. */
static inline const uint8_t *skip_entry(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    const avro_body *skip = op->wanted->skip;
    avro_code code = skip->count == 1 ? skip->ops[0].code : AVRO_SKIP_RECORD;
    int64_t number = 0;
    size_t len = 0;
    if (code == AVRO_SKIP_STRING) {
        p = get_length(d, &skip->ops[0], p, &len);
        return p == NULL ? NULL : p + len;
    }
    return code == AVRO_SKIP_VARINTS && skip->ops[0].size == 1
               ? get_long(d, &skip->ops[0], p, &number)
               : run(d, skip, p);
}

/* Entries of a map whose keys are of use; *kept tells how many. */
static const uint8_t *get_entries(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                  size_t count, size_t *kept)
{
    const avro_wanted *wanted = op->wanted;
    for (size_t i = 0; i < count && p != NULL; i++) {
        int32_t key = 0;
        const uint8_t *value = get_int(d, &op->body->ops[0], p, &key);
        if (value == NULL) {
            return NULL;
        }
        bool keep = is_wanted(wanted, key);
        p = keep ? run(d, op->body, p) : skip_entry(d, op, value);
        *kept += keep;
    }
    return p;
}

/* Items are given room some at a time, so that it follows what is really there. *kept tells how
 * many there are in the columns. */
static const uint8_t *get_block(avro_decoder *d, const avro_op *op, const uint8_t *p, size_t count,
                                size_t *kept)
{
    const avro_body *item = op->body;
    *kept = 0;
    for (size_t done = 0; done < count && p != NULL;) {
        size_t some = FRZ_MIN(count - done, (size_t)AT_ONCE), before = *kept;
        if (!make_room(d, item, some)) {
            return NULL;
        }
        if (op->wanted != NULL) {
            p = get_entries(d, op, p, some, kept);
        } else {
            for (size_t i = 0; i < some && p != NULL && item->count > 0; i++) {
                p = run(d, item, p);
            }
            *kept += some;
        }
        done += some;
        d->bytes += (*kept - before) * item->width;
        if (d->bytes > AVRO_MAX_BATCH) {
            return p == NULL ? NULL : too_large(d, op, p);
        }
    }
    return p;
}

static const uint8_t *get_items(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    avro_column *c = op->column;
    for (;;) {
        size_t count = 0, kept = 0;
        const uint8_t *claimed = NULL;
        const uint8_t *begin = p;
        p = get_count(d, op, p, op->body, &count, &claimed);
        if (p == NULL || count == 0) {
            break;
        }
        if (count > (size_t)INT32_MAX - c->bytes_len) {
            return fail(d, op, begin, FRZ_E_LIMIT, "one array holds at most %d items", INT32_MAX);
        }
        p = get_block(d, op, p, count, &kept);
        if (p == NULL) {
            return NULL;
        }
        if (claimed != NULL && claimed != p) {
            return fail(d, op, begin, FRZ_E_CORRUPT,
                        "items are said to end %zu bytes from here, and end after %zu",
                        (size_t)(claimed - begin), (size_t)(p - begin));
        }
        c->bytes_len += kept;
    }
    if (p != NULL) {
        put_offset(c);
    }
    return p;
}

static inline const uint8_t *skip_size(avro_decoder *d, const avro_op *op, const uint8_t *p,
                                       size_t size)
{
    return size <= (size_t)(d->end - p) ? p + size : ends_early(d, op, p, size);
}

/* Numbers end with a byte below 0x80; eight bytes do not have more than eight such. */
static const uint8_t *skip_numbers(avro_decoder *d, const avro_op *op, const uint8_t *p, uint64_t n)
{
    while (n >= 8 && d->end - p >= 8) {
        uint64_t ends = ~frz_load_le64(p) & UINT64_C(0x8080808080808080);
        n -= (uint64_t)__builtin_popcountll(ends);
        p += 8;
    }
    while (n > 0 && p < d->end) {
        n -= *p++ < 0x80;
    }
    return n == 0 ? p : bad_number(d, op, p);
}

/* Items of which each is a step that many of them make one of. */
static bool is_run(const avro_body *item)
{
    return item->count == 1 &&
           (item->ops[0].code == AVRO_SKIP_VARINTS || item->ops[0].code == AVRO_SKIP_BYTES_OF);
}

static const uint8_t *skip_run(avro_decoder *d, const avro_op *op, const uint8_t *p, size_t count)
{
    size_t size;
    if (!frz_mul_size(op->size, count, &size)) {
        return ends_early(d, op, p, SIZE_MAX);
    }
    return op->code == AVRO_SKIP_VARINTS ? skip_numbers(d, op, p, size) : skip_size(d, op, p, size);
}

/* The claim of an empty block is of no use, so it is not looked at. */
static const uint8_t *skip_items(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    const avro_body *item = op->body;
    for (;;) {
        size_t count = 0;
        const uint8_t *claimed = NULL;
        p = get_count(d, op, p, item, &count, &claimed);
        if (p == NULL || count == 0) {
            return p;
        }
        if (claimed != NULL) {
            p = claimed;
            continue;
        }
        if (item->count == 0) {
            continue;
        }
        if (is_run(item)) {
            p = skip_run(d, &item->ops[0], p, count);
        }
        for (size_t i = 0; i < count && p != NULL && !is_run(item); i++) {
            p = run(d, item, p);
        }
        if (p == NULL) {
            return NULL;
        }
    }
}

static const uint8_t *skip_branch(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    size_t branch = 0;
    p = get_branch(d, op, p, op->size, &branch);
    return p == NULL ? NULL : run(d, &op->body[branch], p);
}

static const uint8_t *skip(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    size_t len = 0;
    switch (op->code) {
    case AVRO_SKIP_BYTES_OF:
        return skip_size(d, op, p, op->size);
    case AVRO_SKIP_VARINTS:
        return skip_numbers(d, op, p, op->size);
    case AVRO_SKIP_STRING:
        p = get_length(d, op, p, &len);
        return p == NULL ? NULL : p + len;
    case AVRO_SKIP_ITEMS:
        return skip_items(d, op, p);
    case AVRO_SKIP_UNION:
        return skip_branch(d, op, p);
    default:
        return run(d, op->body, p);
    }
}

static const uint8_t *get_string(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    size_t len = 0;
    p = get_length(d, op, p, &len);
    if (p == NULL) {
        return NULL;
    }
    switch (op->code) {
    case AVRO_GET_DECIMAL:
        return get_decimal(d, op, p, len);
    case AVRO_GET_UUID_TEXT:
        return get_uuid_text(d, op, p, len);
    default:
        return put_bytes(d, op->column, p, len, d->end) ? p + len : NULL;
    }
}

/* Values of a known number of bytes. */
static const uint8_t *get_fixed(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    avro_column *c = op->column;
    float single;
    double wide;
    size_t size = op->code == AVRO_GET_BOOLEAN                                     ? 1
                  : op->code == AVRO_GET_4 || op->code == AVRO_GET_FLOAT_AS_DOUBLE ? 4
                  : op->code == AVRO_GET_8                                         ? 8
                                                                                   : op->size;
    if (size > (size_t)(d->end - p)) {
        return ends_early(d, op, p, size);
    }
    switch (op->code) {
    case AVRO_GET_BOOLEAN:
        if (*p > 1) {
            return fail(d, op, p, FRZ_E_CORRUPT, "a boolean is 0 or 1, found %u", *p);
        }
        break;
    case AVRO_GET_FLOAT_AS_DOUBLE:
        memcpy(&single, p, sizeof single);
        wide = (double)single;
        memcpy(c->values + c->count * 8, &wide, sizeof wide);
        c->count++;
        return p + size;
    case AVRO_GET_FIXED_DECIMAL:
        return get_decimal(d, op, p, size);
    case AVRO_GET_DURATION:
        return get_duration(d, op, p);
    default:
        break;
    }
    memcpy(c->values + c->count * size, p, size);
    c->count++;
    return p + size;
}

static const uint8_t *get_int_as(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    int32_t value = 0;
    const uint8_t *next = get_int(d, op, p, &value);
    if (next == NULL) {
        return NULL;
    }
    switch (op->code) {
    case AVRO_GET_INT:
        put_i32(op->column, value);
        return next;
    case AVRO_GET_TIME_MILLIS:
        return get_scaled(d, op, p, value, 1000, next);
    case AVRO_GET_DATE_AS_MICROS:
        return get_scaled(d, op, p, value, MICROS_PER_DAY, next);
    case AVRO_GET_DATE_AS_NANOS:
        return get_scaled(d, op, p, value, NANOS_PER_DAY, next);
    default:
        put_i64(op->column, value);
        return next;
    }
}

static inline const uint8_t *get_long_as(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    int64_t value = 0;
    const uint8_t *next = get_long(d, op, p, &value);
    if (next == NULL) {
        return NULL;
    }
    if (op->code == AVRO_GET_MILLIS) {
        return get_scaled(d, op, p, value, 1000, next);
    }
    put_i64(op->column, value);
    return next;
}

static const uint8_t *get_struct(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    op->column->count++;
    return run(d, op->body, p);
}

/* A null: the column's value, and those of the fields of a struct. */
static const uint8_t *get_null(avro_decoder *d, const avro_op *op, const uint8_t *p,
                               const uint8_t *next)
{
    if (op->required) {
        return fail(d, op, p, FRZ_E_CORRUPT, "null in a required field");
    }
    put_nothing(op->column);
    for (size_t i = 0; op->code == AVRO_GET_STRUCT && i < op->body->column_count; i++) {
        put_nothing(op->body->columns[i]);
    }
    return next;
}

static inline const uint8_t *get(avro_decoder *d, const avro_op *op, const uint8_t *p)
{
    if (op->branches > 0) {
        size_t branch = 0;
        const uint8_t *next = get_branch(d, op, p, op->branches, &branch);
        if (next == NULL) {
            return NULL;
        }
        if (op->branches == 2 && branch == op->null_branch) {
            return get_null(d, op, p, next);
        }
        p = next;
    }
    put_valid(op->column, 1);
    switch (op->code) {
    case AVRO_GET_LONG:
    case AVRO_GET_MILLIS:
        return get_long_as(d, op, p);
    case AVRO_GET_INT:
    case AVRO_GET_INT_AS_LONG:
    case AVRO_GET_DATE_AS_MICROS:
    case AVRO_GET_DATE_AS_NANOS:
    case AVRO_GET_TIME_MILLIS:
        return get_int_as(d, op, p);
    case AVRO_GET_BYTES:
    case AVRO_GET_DECIMAL:
    case AVRO_GET_UUID_TEXT:
        return get_string(d, op, p);
    case AVRO_GET_SYMBOL:
        return get_symbol(d, op, p);
    case AVRO_GET_STRUCT:
        return get_struct(d, op, p);
    case AVRO_GET_ITEMS:
        return get_items(d, op, p);
    default:
        return get_fixed(d, op, p);
    }
}

static const uint8_t *run(avro_decoder *d, const avro_body *body, const uint8_t *p)
{
    if (++d->depth > MOST_DEPTH) {
        return fail(d, NULL, p, FRZ_E_LIMIT, "values nested more than %d deep", MOST_DEPTH);
    }
    for (size_t i = 0; i < body->count && p != NULL; i++) {
        const avro_op *op = &body->ops[i];
        p = op->code < AVRO_SKIP_BYTES_OF ? get(d, op, p) : skip(d, op, p);
    }
    d->depth--;
    return p;
}

/* ---- rows ---- */

frz_code avro_decode_rows(avro_decoder *d, const avro_body *body, size_t n, size_t most_bytes,
                          size_t *done, frz_error *err)
{
    d->err = err;
    d->rc = FRZ_OK;
    d->depth = 0;
    *done = 0;
    while (*done < n) {
        size_t left = most_bytes > d->bytes ? (most_bytes - d->bytes) / (body->width + 1) : 0;
        size_t some = FRZ_MIN(FRZ_MIN(n - *done, (size_t)AT_ONCE), left + 1);
        if (!make_room(d, body, some)) {
            return d->rc;
        }
        for (size_t i = 0; i < some; i++) {
            const uint8_t *p = run(d, body, d->at);
            if (p == NULL) {
                return d->rc;
            }
            d->at = p;
            d->bytes += body->width;
            ++*done;
            if (d->bytes >= most_bytes) {
                return FRZ_OK;
            }
        }
    }
    return FRZ_OK;
}

frz_code avro_skip_rows(avro_decoder *d, const avro_body *body, int64_t n, frz_error *err)
{
    d->err = err;
    d->rc = FRZ_OK;
    d->depth = 0;
    for (int64_t i = 0; i < n && body->count > 0; i++) {
        const uint8_t *p = run(d, body, d->at);
        if (p == NULL) {
            return d->rc;
        }
        d->at = p;
    }
    return FRZ_OK;
}
