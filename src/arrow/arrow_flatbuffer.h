/*
 * FlatBuffers, as far as Arrow's messages need them: tables, vectors and strings, written front to
 * back into a buffer and read from bytes that are not trusted.
 *
 * A table is a signed distance back to its vtable, then the fields; the vtable has its own size,
 * the table's size, and for each field the distance from the table's start, 0 for one that is not
 * there. A reference is an unsigned distance forward. Numbers are little-endian.
 */
#ifndef FRZ_ARROW_FLATBUFFER_H
#define FRZ_ARROW_FLATBUFFER_H

#include "base/base.h"

/* ---- writing: what is referred to comes after the reference, which is filled in then ---- */

#define FLAT_MAX ((size_t)INT32_MAX - 64) /* the bytes of one buffer */

typedef struct flat_field {
    uint8_t width; /* bytes: 1, 2, 4, 8; 0: left out */
    int64_t value;
    size_t at; /* set by flat_put_table: where the value is */
} flat_field;

/* A field whose reference is given later, by the put functions. */
#define FLAT_REF                                                                                   \
    {                                                                                              \
        .width = 4                                                                                 \
    }
#define FLAT_VALUE(bytes, v)                                                                       \
    {                                                                                              \
        .width = (bytes), .value = (v)                                                             \
    }

/* The reference to the root, the first bytes. The buffer is empty before. */
frz_code flat_start(frz_buf *buf, frz_error *err);
/* Fill with zero bytes up to a multiple. */
frz_code flat_pad(frz_buf *buf, size_t multiple, frz_error *err);
/* Each of these is put at the end and the reference at `ref` is pointed to it (0: the root). */
frz_code flat_put_table(frz_buf *buf, size_t ref, flat_field *fields, size_t count, frz_error *err);
frz_code flat_put_string(frz_buf *buf, size_t ref, frz_str text, frz_error *err);
/* A vector of zeroed items, aligned to 4 or, for items of 8 bytes and more, to 8; *at is the place
 * of the first. */
frz_code flat_put_vector(frz_buf *buf, size_t ref, size_t count, size_t width, size_t *at,
                         frz_error *err);

/* ---- reading: stays failed once something is impossible; then everything reads as absent ---- */

typedef struct flat_bytes {
    const uint8_t *data;
    size_t size;
    const char *fault; /* NULL: nothing was wrong so far */
    size_t fault_at;
} flat_bytes;

typedef struct flat_table {
    flat_bytes *in;
    size_t at; /* 0: not there */
    size_t vtable;
    uint16_t size, vtable_size;
} flat_table;

typedef struct flat_vector {
    flat_bytes *in;
    size_t at; /* of the first item */
    size_t count, width;
} flat_vector;

flat_table flat_root(flat_bytes *in);
/* A number; missing if the field is not there. */
int64_t flat_i8(const flat_table *t, unsigned field, int64_t missing);
int64_t flat_i16(const flat_table *t, unsigned field, int64_t missing);
int64_t flat_i32(const flat_table *t, unsigned field, int64_t missing);
int64_t flat_i64(const flat_table *t, unsigned field, int64_t missing);
bool flat_bool(const flat_table *t, unsigned field);
flat_table flat_get_table(const flat_table *t, unsigned field);
frz_str flat_get_string(const flat_table *t, unsigned field); /* ptr NULL: not there */
/* Items of a width; all of them are inside the bytes. */
flat_vector flat_get_vector(const flat_table *t, unsigned field, size_t width);
/* An item of a vector of tables (width 4). */
flat_table flat_item_table(const flat_vector *v, size_t i);
static inline const uint8_t *flat_item(const flat_vector *v, size_t i)
{
    assert(i < v->count);
    return v->in->data + v->at + i * v->width;
}
/* FRZ_E_CORRUPT with the first fault, if there was one. */
frz_code flat_check(const flat_bytes *in, frz_error *err);

#endif
