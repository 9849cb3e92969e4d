/*
 * arrow: columnar memory in Arrow C Data Interface structures.
 *
 * Rules inside the library:
 *  - buffers are reference-counted and 64-byte aligned; arrays made here own references to them;
 *  - a batch is a struct array with offset 0 and no validity; its children may have offsets;
 *  - validity is NULL when there are no nulls; booleans are bitmaps; strings, binaries and lists
 *    have 32-bit offsets; no dictionaries;
 *  - the Iceberg type beside an array says how to read it, so no ArrowSchema is carried around.
 */
#ifndef FRZ_ARROW_ARRAY_H
#define FRZ_ARROW_ARRAY_H

#include "base/base.h"
#include "frazil/arrow.h"

/* ---- buffers ---- */

typedef struct frz_buffer {
    _Atomic int64_t refs;
    const frz_env *env;
    struct frz_buffer *parent; /* of a slice */
    size_t size;               /* bytes in use; the owner of the only reference may change it */
    size_t capacity; /* bytes allocated, at least size + 64 so that wide loads stay inside */
    uint8_t *data;   /* 64-byte aligned, a slice's as its offset is */
} frz_buffer;

#define FRZ_BUFFER_SLACK 64

frz_code frz_buffer_new(const frz_env *env, size_t size, frz_buffer **out, frz_error *err);
/* A part of a buffer, which stays alive as long; the size of a slice stays as it is. */
frz_code frz_buffer_slice(frz_buffer *parent, size_t offset, size_t size, frz_buffer **out,
                          frz_error *err);
frz_buffer *frz_buffer_ref(frz_buffer *buffer); /* NULL gives NULL */
void frz_buffer_unref(frz_buffer *buffer);      /* NULL is fine */
/* Change the size, keeping the bytes; only for the owner of the only reference. */
frz_code frz_buffer_resize(frz_buffer **buffer, size_t size, frz_error *err);

/* ---- arrays ---- */

/* Build an array. Ownership of the buffer references and of the children moves into the array, also
 * on failure; entries may be NULL (validity). null_count -1: unknown. */
frz_code frz_array_make(const frz_env *env, int64_t length, int64_t null_count,
                        frz_buffer *const *buffers, size_t n_buffers, struct ArrowArray *children,
                        size_t n_children, struct ArrowArray *out, frz_error *err);
/* Make an array's values the indices of a dictionary, which moves. The array must be new. */
void frz_array_set_dictionary(struct ArrowArray *array, struct ArrowArray *dictionary);
/* A batch from columns of equal length; the columns move into it, also on failure. */
frz_code frz_batch_make(const frz_env *env, int64_t length, struct ArrowArray *columns,
                        size_t n_columns, struct ArrowArray *out, frz_error *err);
/* A view of rows that shares the memory; src stays as it is. src must be made by this library. */
frz_code frz_array_slice(const frz_env *env, const struct ArrowArray *src, int64_t first,
                         int64_t length, struct ArrowArray *out, frz_error *err);
/* The same for a batch: each child is sliced, the batch's offset stays 0. */
frz_code frz_batch_slice(const frz_env *env, const struct ArrowArray *src, int64_t first,
                         int64_t length, struct ArrowArray *out, frz_error *err);
/* The same rows by reference with another validity: bit i of the buffer is row i, NULL means no
 * nulls. validity is taken, also on failure. src must be made by this library. */
frz_code frz_array_with_validity(const frz_env *env, const struct ArrowArray *src,
                                 frz_buffer *validity, struct ArrowArray *out, frz_error *err);
/* Release if there is something to release; can run twice. */
void frz_array_release(struct ArrowArray *array);
void frz_schema_release(struct ArrowSchema *schema);
static inline void frz_array_move(struct ArrowArray *from, struct ArrowArray *to)
{
    *to = *from;
    from->release = NULL;
}
/* The only reference to a buffer of an array, with leave to change it: it moves out of the array,
 * which still shows it and can only be released then. NULL: others may have it, too. */
frz_buffer *frz_array_take_buffer(struct ArrowArray *array, int64_t i);
/* True if the array was made by this library (its buffers can be shared). */
bool frz_array_is_own(const struct ArrowArray *array);

/* ---- schemas (arrow_schema.c) ---- */

typedef struct frz_schema_spec {
    frz_str format, name;
    frz_str metadata; /* in the interface's binary form; empty: none */
    int64_t flags;
    size_t n_children;
    bool has_dictionary;
} frz_schema_spec;

/* One node; texts are copied. Its children (and dictionary) are there but empty (released): fill
 * them in place. Releasing the node releases those that were filled. */
frz_code frz_schema_make(const frz_env *env, const frz_schema_spec *spec, struct ArrowSchema *out,
                         frz_error *err);
/* A deep copy. */
frz_code frz_arrow_schema_copy(const frz_env *env, const struct ArrowSchema *src,
                               struct ArrowSchema *out, frz_error *err);
/* The metadata value of a key (a view; ptr NULL if there is none) and the bytes of all metadata. */
frz_code frz_schema_metadata(const struct ArrowSchema *schema, frz_str key, frz_str *value,
                             size_t *size, frz_error *err);

/* ---- bitmaps: bit i is bit i % 8 of byte i / 8 ---- */

static inline bool frz_bit_get(const uint8_t *bits, int64_t i)
{
    return (bits[i >> 3] >> (i & 7)) & 1;
}
static inline void frz_bit_set(uint8_t *bits, int64_t i)
{
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (1u << (i & 7)));
}
static inline void frz_bit_clear(uint8_t *bits, int64_t i)
{
    bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1u << (i & 7)));
}
static inline void frz_bit_put(uint8_t *bits, int64_t i, bool value)
{
    value ? frz_bit_set(bits, i) : frz_bit_clear(bits, i);
}
static inline size_t frz_bitmap_bytes(int64_t bits)
{
    return (size_t)((bits + 7) / 8);
}
int64_t frz_bitmap_count(const uint8_t *bits, int64_t first, int64_t length);
void frz_bitmap_copy(const uint8_t *src, int64_t src_first, int64_t length, uint8_t *dst,
                     int64_t dst_first);
void frz_bitmap_fill(uint8_t *bits, int64_t first, int64_t length, bool value);

/* ---- reading rows: i counts from the array's own first row ---- */

/* An array without buffers is one of type unknown: all null. */
static inline bool frz_is_null(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *validity = a->n_buffers == 0 ? NULL : a->buffers[0];
    return a->n_buffers == 0 || (validity != NULL && !frz_bit_get(validity, a->offset + i));
}
/* The number of nulls, counted if the array does not know it. */
int64_t frz_null_count(const struct ArrowArray *a);
static inline int64_t frz_get_i64(const struct ArrowArray *a, int64_t i)
{
    return ((const int64_t *)a->buffers[1])[a->offset + i];
}
static inline int32_t frz_get_i32(const struct ArrowArray *a, int64_t i)
{
    return ((const int32_t *)a->buffers[1])[a->offset + i];
}
static inline double frz_get_f64(const struct ArrowArray *a, int64_t i)
{
    return ((const double *)a->buffers[1])[a->offset + i];
}
static inline float frz_get_f32(const struct ArrowArray *a, int64_t i)
{
    return ((const float *)a->buffers[1])[a->offset + i];
}
static inline bool frz_get_bool(const struct ArrowArray *a, int64_t i)
{
    return frz_bit_get(a->buffers[1], a->offset + i);
}
static inline frz_str frz_get_bytes(const struct ArrowArray *a, int64_t i)
{
    const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + i;
    return (frz_str){(const char *)a->buffers[2] + offsets[0], (size_t)(offsets[1] - offsets[0])};
}

/* ---- streams ---- */

/* An Arrow stream over functions: next returns FRZ_OK, FRZ_END or a failure. ctx is released with
 * the stream. */
typedef struct frz_stream_ops {
    frz_code (*schema)(void *ctx, struct ArrowSchema *out, frz_error *err);
    frz_code (*next)(void *ctx, struct ArrowArray *out, frz_error *err);
    void (*release)(void *ctx);
} frz_stream_ops;

/* ctx moves into the stream, also on failure. */
frz_code frz_stream_make(const frz_env *env, const frz_stream_ops *ops, void *ctx,
                         struct ArrowArrayStream *out, frz_error *err);
/* A stream of given batches (moved, also on failure) and a schema (moved). */
frz_code frz_stream_of_batches(const frz_env *env, struct ArrowSchema *schema,
                               struct ArrowArray *batches, size_t n_batches,
                               struct ArrowArrayStream *out, frz_error *err);
/* The error of a stream whose function returned os_error. */
frz_code frz_stream_fail(struct ArrowArrayStream *stream, int os_error, frz_error *err);

#endif
