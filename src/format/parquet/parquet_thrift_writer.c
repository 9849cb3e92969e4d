/*
 * Writing the Thrift compact protocol: field headers as deltas of ids, integers as zigzag varints.
 */
#include "format/parquet/parquet_write.h"

static void put_bytes(parquet_thrift_out *t, const void *bytes, size_t len)
{
    if (t->rc == FRZ_OK) {
        t->rc = frz_buf_append(t->out, bytes, len, t->err);
    }
}

static void put_byte(parquet_thrift_out *t, uint8_t byte)
{
    put_bytes(t, &byte, 1);
}

static void put_varint(parquet_thrift_out *t, uint64_t value)
{
    uint8_t bytes[10];
    size_t len = 0;
    while (value >= 0x80) {
        bytes[len++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[len++] = (uint8_t)value;
    put_bytes(t, bytes, len);
}

static void put_zigzag(parquet_thrift_out *t, int64_t value)
{
    put_varint(t, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void put_field(parquet_thrift_out *t, int16_t id, parquet_thrift_type type)
{
    int16_t *last = &t->last[t->depth - 1];
    int delta = id - *last;
    if (delta > 0 && delta <= 15) {
        put_byte(t, (uint8_t)(delta << 4 | (int)type));
    } else {
        put_byte(t, (uint8_t)type);
        put_zigzag(t, id);
    }
    *last = id;
}

static void open_struct(parquet_thrift_out *t)
{
    assert(t->depth < PARQUET_THRIFT_DEPTH);
    t->last[t->depth++] = 0;
}

void parquet_put_begin(parquet_thrift_out *t, frz_buf *out, frz_error *err)
{
    *t = (parquet_thrift_out){.out = out, .err = err, .rc = FRZ_OK};
    open_struct(t);
}

void parquet_put_bool(parquet_thrift_out *t, int16_t id, bool value)
{
    put_field(t, id, value ? PARQUET_THRIFT_TRUE : PARQUET_THRIFT_FALSE);
}

void parquet_put_i8(parquet_thrift_out *t, int16_t id, int8_t value)
{
    put_field(t, id, PARQUET_THRIFT_BYTE);
    put_byte(t, (uint8_t)value);
}

void parquet_put_i16(parquet_thrift_out *t, int16_t id, int16_t value)
{
    put_field(t, id, PARQUET_THRIFT_I16);
    put_zigzag(t, value);
}

void parquet_put_i32(parquet_thrift_out *t, int16_t id, int32_t value)
{
    put_field(t, id, PARQUET_THRIFT_I32);
    put_zigzag(t, value);
}

void parquet_put_i64(parquet_thrift_out *t, int16_t id, int64_t value)
{
    put_field(t, id, PARQUET_THRIFT_I64);
    put_zigzag(t, value);
}

void parquet_put_item_binary(parquet_thrift_out *t, frz_str value)
{
    put_varint(t, value.len);
    put_bytes(t, value.ptr, value.len);
}

void parquet_put_binary(parquet_thrift_out *t, int16_t id, frz_str value)
{
    put_field(t, id, PARQUET_THRIFT_BINARY);
    parquet_put_item_binary(t, value);
}

void parquet_put_struct(parquet_thrift_out *t, int16_t id)
{
    put_field(t, id, PARQUET_THRIFT_STRUCT);
    open_struct(t);
}

void parquet_put_list(parquet_thrift_out *t, int16_t id, parquet_thrift_type element, size_t count)
{
    put_field(t, id, PARQUET_THRIFT_LIST);
    if (count < 15) {
        put_byte(t, (uint8_t)(count << 4 | (size_t)element));
    } else {
        put_byte(t, (uint8_t)(0xf0 | (unsigned)element));
        put_varint(t, count);
    }
}

/* Outside of a field's header a boolean takes a byte, which names the same types as the header. */
void parquet_put_item_bool(parquet_thrift_out *t, bool value)
{
    put_byte(t, value ? PARQUET_THRIFT_TRUE : PARQUET_THRIFT_FALSE);
}

void parquet_put_item_i64(parquet_thrift_out *t, int64_t value)
{
    put_zigzag(t, value);
}

void parquet_put_item_i32(parquet_thrift_out *t, int32_t value)
{
    put_zigzag(t, value);
}

void parquet_put_item_struct(parquet_thrift_out *t)
{
    open_struct(t);
}

void parquet_put_encoded(parquet_thrift_out *t, frz_str bytes)
{
    put_bytes(t, bytes.ptr, bytes.len);
}

void parquet_put_pause(parquet_thrift_out *t)
{
    assert(t->depth > 0);
    t->depth--;
}

void parquet_put_resume(parquet_thrift_out *t, int16_t last)
{
    open_struct(t);
    t->last[t->depth - 1] = last;
}

void parquet_put_end(parquet_thrift_out *t)
{
    assert(t->depth > 0);
    put_byte(t, 0);
    t->depth--;
}
