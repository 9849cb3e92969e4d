/*
 * scan: sets of keys, as equality deletes give them: which rows of a batch have values in some
 * columns that are in the set. spec: Equality Delete Files
 *
 * Two keys are equal if all their values are: null equals null alone; floats are equal if their
 * bits are, all NaNs being one. Values of types that promote into each other without another value
 * (int and long, float and double, decimals of one scale) are the same keys.
 */
#ifndef FRZ_SCAN_KEY_SET_H
#define FRZ_SCAN_KEY_SET_H

#include "type/type_schema.h"

/* How values of a type are compared. */
typedef enum frz_key_class {
    FRZ_KEY_NONE, /* cannot be a key */
    FRZ_KEY_NULL, /* unknown: always null */
    FRZ_KEY_BOOL,
    FRZ_KEY_INTEGER, /* int, long, dates and times */
    FRZ_KEY_FLOAT,
    FRZ_KEY_DECIMAL,
    FRZ_KEY_FIXED, /* fixed, uuid */
    FRZ_KEY_BYTES  /* string, binary */
} frz_key_class;

frz_key_class frz_key_class_of(const frz_type *type);
/* True if values of both types can be in one set; nulls of no type agree with all. */
bool frz_key_types_agree(const frz_type *a, const frz_type *b);

/* A column of keys in a batch, maybe inside of structs. */
typedef struct frz_key_column {
    frz_key_class class;
    const frz_type *type;
    const struct ArrowArray *array;
    int64_t first;           /* in the array's buffers, the place of the batch's first row */
    const uint8_t *validity; /* NULL: no nulls */
    int64_t validity_first;  /* place of the first row in it */
    uint8_t *own_validity;   /* made of those of several levels */
} frz_key_column;

/* Find the column of a field at any depth of a batch of this struct type, which must have it. */
frz_code frz_key_column_init(frz_key_column *column, const frz_env *env, const frz_type *type,
                             const struct ArrowArray *batch, int32_t field_id, frz_error *err);
/* The top-level field that is it, or that it is in; the field count: there is none. */
size_t frz_key_column_index(const frz_type *type, int32_t field_id);
void frz_key_column_reset(frz_key_column *column, const frz_env *env);

typedef struct frz_key_set frz_key_set;

/* Of keys of these types, or types that agree with them. */
frz_code frz_key_set_new(const frz_env *env, const frz_type *const *types, size_t count,
                         frz_key_set **out, frz_error *err);
void frz_key_set_free(frz_key_set *set); /* NULL is fine */
/* Add the keys of all rows, deleted with this sequence number; of equal keys the greatest counts.
 * Columns always come in the same order. */
frz_code frz_key_set_add(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                         int64_t sequence_number, frz_error *err);
/* Clear the bits of the rows whose key was deleted after (with a greater sequence number). Several
 * threads may do so at once while nothing is added. */
frz_code frz_key_set_clear(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                           int64_t sequence_number, uint8_t *bits, frz_error *err);
bool frz_key_set_is_empty(const frz_key_set *set);
/* Memory that it holds, about. */
size_t frz_key_set_bytes(const frz_key_set *set);
/* About, what so many more rows could add. */
size_t frz_key_set_bytes_of(int64_t rows, size_t column_count);

/* ---- keys with numbers: which row of one table has the key of a row of another ---- */

#define FRZ_KEY_ABSENT (-1)
#define FRZ_KEY_TWICE INT64_MAX /* several rows have the key */

/* Give the keys of rows the numbers first, first + 1, ... A null in a key equals nothing: such rows
 * are left out. twice receives the first row whose key was there already; -1: there was none. For a
 * set that nothing else is added to. */
frz_code frz_key_set_number(frz_key_set *set, const frz_key_column *columns, int64_t rows,
                            int64_t first, int64_t *twice, frz_error *err);
/* The number of each row's key, FRZ_KEY_ABSENT or FRZ_KEY_TWICE. */
void frz_key_set_find(const frz_key_set *set, const frz_key_column *columns, int64_t rows,
                      int64_t *numbers);
/* Hashes of keys, as sets use them: equal keys have equal ones. */
void frz_key_hashes(const frz_key_column *columns, size_t count, int64_t rows, uint64_t *hashes);

#endif
