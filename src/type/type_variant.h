/*
 * type: variants, the binary form of values of any shape. A variant is a pair: a dictionary of
 * field names (the metadata) and a value. spec: Parquet, Variant Binary Encoding and Variant
 * Shredding
 *
 * Nothing is copied: names and values are views of the bytes they were read from. All bytes are
 * untrusted.
 */
#ifndef FRZ_TYPE_VARIANT_H
#define FRZ_TYPE_VARIANT_H

#include "type/type_value.h"

/* Deepest nesting that is read or made. */
#define FRZ_VARIANT_MAX_DEPTH 500

/* ---- the dictionary ---- */

typedef struct frz_variant_names {
    frz_str metadata;
    uint32_t count;
    uint8_t width;  /* of an offset */
    bool sorted;    /* names are unique and ascending */
    size_t offsets; /* where they begin */
    size_t bytes;   /* where the names begin */
} frz_variant_names;

/* FRZ_E_CORRUPT; FRZ_E_UNSUPPORTED for another version. Trailing bytes are let be. */
frz_code frz_variant_names_read(frz_str metadata, frz_variant_names *out, frz_error *err);
frz_code frz_variant_name(const frz_variant_names *names, uint32_t id, frz_str *out,
                          frz_error *err);
/* The id of a name, or -1; also if the dictionary is broken where it looks. */
int64_t frz_variant_find_name(const frz_variant_names *names, frz_str name);

/* ---- values ---- */

typedef enum frz_variant_kind {
    FRZ_VARIANT_NULL = 0, /* the numbers of primitives are those of the specification */
    FRZ_VARIANT_TRUE = 1,
    FRZ_VARIANT_FALSE = 2,
    FRZ_VARIANT_INT8 = 3,
    FRZ_VARIANT_INT16 = 4,
    FRZ_VARIANT_INT32 = 5,
    FRZ_VARIANT_INT64 = 6,
    FRZ_VARIANT_DOUBLE = 7,
    FRZ_VARIANT_DECIMAL4 = 8,
    FRZ_VARIANT_DECIMAL8 = 9,
    FRZ_VARIANT_DECIMAL16 = 10,
    FRZ_VARIANT_DATE = 11,
    FRZ_VARIANT_TIMESTAMPTZ = 12,
    FRZ_VARIANT_TIMESTAMP = 13,
    FRZ_VARIANT_FLOAT = 14,
    FRZ_VARIANT_BINARY = 15,
    FRZ_VARIANT_STRING = 16, /* short ones, too */
    FRZ_VARIANT_TIME = 17,
    FRZ_VARIANT_TIMESTAMPTZ_NS = 18,
    FRZ_VARIANT_TIMESTAMP_NS = 19,
    FRZ_VARIANT_UUID = 20,
    FRZ_VARIANT_OBJECT,
    FRZ_VARIANT_ARRAY
} frz_variant_kind;

/* A value, without what is inside of it. */
typedef struct frz_variant {
    frz_variant_kind kind;
    frz_str all;   /* its bytes, and no more */
    frz_str bytes; /* STRING, BINARY, UUID */
    int64_t i64;   /* whole numbers, dates and times */
    double f64;    /* FLOAT, DOUBLE */
    frz_i128 i128; /* DECIMAL*, unscaled */
    int32_t scale;
    uint32_t count; /* OBJECT, ARRAY */
    uint8_t id_width, offset_width;
    size_t ids, offsets, items; /* where each begins, in all */
} frz_variant;

/* The value that the bytes begin with. */
frz_code frz_variant_read(frz_str bytes, frz_variant *out, frz_error *err);
/* Item i of an array or an object, without what is inside of it. */
frz_code frz_variant_item(const frz_variant *variant, uint32_t i, frz_variant *out, frz_error *err);
/* The name of field i of an object. */
frz_code frz_variant_field_name(const frz_variant *object, const frz_variant_names *names,
                                uint32_t i, uint32_t *id, frz_str *out, frz_error *err);

/* ---- text (type_variant_text.c) ---- */

typedef void (*frz_variant_put)(void *ctx, const char *text, size_t size);

/* The value as JSON: whole numbers exact; decimals as strings without zeros at the end; dates,
 * times, uuids and binary as strings in the form of values of these types. A piece at a time, also
 * before a fault is found. */
frz_code frz_variant_print(const frz_variant_names *names, frz_str value, frz_variant_put put,
                           void *ctx, frz_error *err);

/* ---- making values (type_variant_make.c): appended to a buffer ---- */

frz_code frz_variant_put_null(frz_buf *out, frz_error *err);
/* A value of a primitive type that is not null, of FOREIGN ones INT8 and INT16. */
frz_code frz_variant_put_value(frz_buf *out, const frz_value *value, frz_error *err);

typedef struct frz_variant_part {
    frz_str name; /* of an object's field */
    uint32_t id;
    size_t offset; /* from the first value */
} frz_variant_part;

/* An array or object of values that lie in the buffer from start on. The parts of an object are put
 * into the order of their names; two of one name are FRZ_E_CORRUPT. */
frz_code frz_variant_close_array(frz_buf *out, size_t start, const frz_variant_part *parts,
                                 size_t count, frz_error *err);
frz_code frz_variant_close_object(frz_buf *out, size_t start, frz_variant_part *parts, size_t count,
                                  frz_error *err);

/* ---- shredded columns (type_variant_shred.c) ---- */

/*
 * Variants as a data file stores them, as the pair that frz_type_storage(VARIANT) is. stored: a
 * STRUCT with "metadata", and "value", "typed_value" or both; other fields are not looked at. Rows
 * [0, length) of array; what is not shredded is taken over by reference.
 */
frz_code frz_variant_unshred(const frz_env *env, const frz_type *stored,
                             const struct ArrowArray *array, struct ArrowArray *out,
                             frz_error *err);
/* FRZ_E_CORRUPT or FRZ_E_UNSUPPORTED if variants cannot be stored so. */
frz_code frz_variant_check_shape(const frz_env *env, const frz_type *stored, frz_error *err);

#endif
