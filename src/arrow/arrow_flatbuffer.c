/*
 * FlatBuffers. Written with each table before what it refers to, so a message is put down in one
 * pass and every reference is patched when its target is known. Read with checks at each step: no
 * pass over the whole comes first, and what nobody asks for is not looked at.
 */
#include "arrow/arrow_flatbuffer.h"

#define VTABLE_HEAD 4 /* its own size and the table's */
#define REF 4

/* ---- writing ---- */

frz_code flat_pad(frz_buf *buf, size_t multiple, frz_error *err)
{
    static const uint8_t zeros[64];
    size_t over = buf->len % multiple;
    assert(multiple <= sizeof zeros);
    return over == 0 ? FRZ_OK : frz_buf_append(buf, zeros, multiple - over, err);
}

static frz_code put_zeros(frz_buf *buf, size_t count, frz_error *err)
{
    frz_code rc = frz_buf_reserve(buf, count, err);
    if (rc == FRZ_OK && count > 0) {
        memset(buf->data + buf->len, 0, count);
        buf->len += count;
    }
    return rc;
}

static frz_code put_u32(frz_buf *buf, size_t value, frz_error *err)
{
    uint8_t bytes[4];
    frz_store_le32(bytes, (uint32_t)value);
    return frz_buf_append(buf, bytes, sizeof bytes, err);
}

/* Point a reference to what is put next. */
static void point_here(frz_buf *buf, size_t ref)
{
    assert(ref + REF <= buf->len);
    frz_store_le32(buf->data + ref, (uint32_t)(buf->len - ref));
}

frz_code flat_start(frz_buf *buf, frz_error *err)
{
    assert(buf->len == 0 && buf->max <= FLAT_MAX);
    return put_zeros(buf, REF, err);
}

static void store(uint8_t *at, int64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        at[i] = (uint8_t)((uint64_t)value >> (8 * i));
    }
}

/* Places the fields behind each other from `start`, each at a multiple of its width; the end. */
static size_t place_fields(flat_field *fields, size_t count, size_t start)
{
    size_t end = start;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].width > 0) {
            fields[i].at = (end + fields[i].width - 1) / fields[i].width * fields[i].width;
            end = fields[i].at + fields[i].width;
        }
    }
    return end;
}

frz_code flat_put_table(frz_buf *buf, size_t ref, flat_field *fields, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t vtable_size = VTABLE_HEAD + 2 * count;
    FRZ_TRY(flat_pad(buf, 4, err));
    size_t vtable = buf->len;
    FRZ_TRY(put_zeros(buf, vtable_size, err));
    FRZ_TRY(flat_pad(buf, 4, err));
    size_t table = buf->len;
    point_here(buf, ref);
    FRZ_TRY(put_zeros(buf, place_fields(fields, count, table + REF) - table, err));
    store(buf->data + vtable, (int64_t)vtable_size, 2);
    store(buf->data + vtable + 2, (int64_t)(buf->len - table), 2);
    store(buf->data + table, (int64_t)(table - vtable), REF);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].width > 0) {
            store(buf->data + vtable + VTABLE_HEAD + 2 * i, (int64_t)(fields[i].at - table), 2);
            store(buf->data + fields[i].at, fields[i].value, fields[i].width);
        }
    }
out:
    return rc;
}

frz_code flat_put_string(frz_buf *buf, size_t ref, frz_str text, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(flat_pad(buf, 4, err));
    point_here(buf, ref);
    if (text.len > FLAT_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "a text of %zu bytes does not fit into a message",
                        text.len);
    }
    FRZ_TRY(put_u32(buf, text.len, err));
    FRZ_TRY(frz_buf_append(buf, text.ptr, text.len, err));
    FRZ_TRY(frz_buf_append_byte(buf, 0, err));
out:
    return rc;
}

frz_code flat_put_vector(frz_buf *buf, size_t ref, size_t count, size_t width, size_t *at,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t bytes;
    if (!frz_mul_size(count, width, &bytes) || bytes > FLAT_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "%zu items of %zu bytes do not fit into a message", count,
                        width);
    }
    FRZ_TRY(flat_pad(buf, 4, err));
    if (width >= 8 && (buf->len + REF) % 8 != 0) {
        FRZ_TRY(put_zeros(buf, 4, err));
    }
    point_here(buf, ref);
    FRZ_TRY(put_u32(buf, count, err));
    *at = buf->len;
    FRZ_TRY(put_zeros(buf, bytes, err));
out:
    return rc;
}

/* ---- reading ---- */

static void fault(flat_bytes *in, size_t at, const char *what)
{
    if (in->fault == NULL) {
        in->fault = what;
        in->fault_at = at;
    }
}

frz_code flat_check(const flat_bytes *in, frz_error *err)
{
    if (in->fault == NULL) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT, "%s at byte %zu of %zu", in->fault, in->fault_at, in->size);
}

static bool inside(const flat_bytes *in, size_t at, size_t bytes)
{
    return at <= in->size && bytes <= in->size - at;
}

/* Where the reference at `at`, which is inside, leads; 0 if outside. */
static size_t follow(flat_bytes *in, size_t at)
{
    uint32_t distance = frz_load_le32(in->data + at);
    if (distance == 0 || !inside(in, at, (size_t)distance + 4)) {
        fault(in, at, "a reference leads outside");
        return 0;
    }
    return at + distance;
}

static flat_table open_table(flat_bytes *in, size_t at)
{
    flat_table none = {.in = in};
    flat_table t = {.in = in, .at = at};
    int64_t vtable = (int64_t)at - (int32_t)frz_load_le32(in->data + at);
    if (vtable < 0 || !inside(in, (size_t)vtable, VTABLE_HEAD)) {
        fault(in, at, "the vtable of a table is outside");
        return none;
    }
    t.vtable = (size_t)vtable;
    t.vtable_size = frz_load_le16(in->data + t.vtable);
    t.size = frz_load_le16(in->data + t.vtable + 2);
    if (t.vtable_size < VTABLE_HEAD || !inside(in, t.vtable, t.vtable_size)) {
        fault(in, t.vtable, "a vtable has an impossible size");
        return none;
    }
    if (t.size < REF || !inside(in, at, t.size)) {
        fault(in, t.vtable, "a table has an impossible size");
        return none;
    }
    return t;
}

flat_table flat_root(flat_bytes *in)
{
    size_t at = 0;
    if (in->size < REF) {
        fault(in, 0, "there is no reference to a table");
    } else {
        at = follow(in, 0);
    }
    return at == 0 ? (flat_table){.in = in} : open_table(in, at);
}

/* Where a field of a width is; 0 if it is not there or impossible. */
static size_t field_at(const flat_table *t, unsigned field, size_t width)
{
    size_t entry = VTABLE_HEAD + 2 * (size_t)field;
    if (t->at == 0 || t->in->fault != NULL || entry + 2 > t->vtable_size) {
        return 0;
    }
    size_t offset = frz_load_le16(t->in->data + t->vtable + entry);
    if (offset == 0) {
        return 0;
    }
    if (offset < REF || offset + width > t->size) {
        fault(t->in, t->vtable + entry, "a field lies outside its table");
        return 0;
    }
    return t->at + offset;
}

int64_t flat_i8(const flat_table *t, unsigned field, int64_t missing)
{
    size_t at = field_at(t, field, 1);
    return at == 0 ? missing : (int8_t)t->in->data[at];
}

int64_t flat_i16(const flat_table *t, unsigned field, int64_t missing)
{
    size_t at = field_at(t, field, 2);
    return at == 0 ? missing : (int16_t)frz_load_le16(t->in->data + at);
}

int64_t flat_i32(const flat_table *t, unsigned field, int64_t missing)
{
    size_t at = field_at(t, field, 4);
    return at == 0 ? missing : (int32_t)frz_load_le32(t->in->data + at);
}

int64_t flat_i64(const flat_table *t, unsigned field, int64_t missing)
{
    size_t at = field_at(t, field, 8);
    return at == 0 ? missing : (int64_t)frz_load_le64(t->in->data + at);
}

bool flat_bool(const flat_table *t, unsigned field)
{
    return flat_i8(t, field, 0) != 0;
}

flat_table flat_get_table(const flat_table *t, unsigned field)
{
    size_t at = field_at(t, field, REF);
    at = at == 0 ? 0 : follow(t->in, at);
    return at == 0 ? (flat_table){.in = t->in} : open_table(t->in, at);
}

/* A count and that many items; at is 0 if they are not there. */
static flat_vector open_vector(const flat_table *t, unsigned field, size_t width)
{
    flat_vector v = {.in = t->in, .width = width};
    size_t at = field_at(t, field, REF);
    at = at == 0 ? 0 : follow(t->in, at);
    if (at == 0) {
        return v;
    }
    size_t count = frz_load_le32(t->in->data + at);
    if (count > (t->in->size - at - REF) / width) {
        fault(t->in, at, "a vector reaches beyond the end");
        return v;
    }
    v.at = at + REF;
    v.count = count;
    return v;
}

flat_vector flat_get_vector(const flat_table *t, unsigned field, size_t width)
{
    return open_vector(t, field, width);
}

frz_str flat_get_string(const flat_table *t, unsigned field)
{
    flat_vector v = open_vector(t, field, 1);
    return v.at == 0 ? (frz_str){0} : (frz_str){(const char *)v.in->data + v.at, v.count};
}

flat_table flat_item_table(const flat_vector *v, size_t i)
{
    assert(v->width == REF && i < v->count);
    size_t at = v->in->fault != NULL ? 0 : follow(v->in, v->at + i * REF);
    return at == 0 ? (flat_table){.in = v->in} : open_table(v->in, at);
}
