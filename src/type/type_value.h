/*
 * One value of a primitive type: literals, defaults, bounds. Also the builder that collects values
 * into arrays row by row.
 */
#ifndef FRZ_TYPE_VALUE_H
#define FRZ_TYPE_VALUE_H

#include "type/type_schema.h"

typedef __int128 frz_i128;

/* The representation is that of the Arrow buffer of the type. */
struct frz_value {
    const frz_type *type;
    bool is_null;
    union {
        bool boolean;
        int32_t i32; /* INT, DATE */
        int64_t i64; /* LONG, TIME, TIMESTAMP* */
        float f32;
        double f64;
        frz_i128 i128; /* DECIMAL, unscaled */
        frz_str bytes; /* STRING, BINARY, UUID, FIXED; borrowed from an arena or array */
    } as;
};

/* Row i of an array of a primitive type; bytes are borrowed from the array. */
frz_value frz_value_at(const frz_type *type, const struct ArrowArray *array, int64_t i);
/* Iceberg's order: floats with NaN greatest and equal to itself and -0 below +0 only if strict;
 * bytes unsigned; false before true. Both of the same type and not null. */
int frz_value_compare(const frz_value *a, const frz_value *b, bool total_order);
/* Promote along type promotion rules. */
frz_code frz_value_promote(const frz_value *value, const frz_type *to, frz_value *out,
                           frz_error *err);
frz_code frz_value_copy(frz_arena *arena, const frz_value *value, frz_value *out, frz_error *err);
/* Text as Iceberg's JSON single-value form without quotes: dates ISO, decimals with all digits of
 * their scale, binary in hex. Doubles in the shortest form that reads back. Appended. */
frz_code frz_value_print(const frz_value *value, frz_buf *out, frz_error *err);
/* From text as SQL and JSON write it: "2026-11-01", "12:34:56.5", "2026-11-01T00:00:00+00:00"
 * (a blank instead of T is fine), "1.50", hex for binary. bytes are copied to the arena. */
frz_code frz_value_parse(frz_arena *arena, const frz_type *type, frz_str text, frz_value *out,
                         frz_error *err);
/* spec appendix D: JSON single-value serialization */
frz_code frz_value_from_json(frz_arena *arena, const frz_type *type, const json_t *json,
                             const char *path, frz_value *out, frz_error *err);
frz_code frz_value_to_json(const frz_value *value, json_t **out, frz_error *err);
/* spec appendix D: binary single-value serialization. A value of a type that was promoted since is
 * as wide as it was written. False if these are not the bytes of such a value; bytes are borrowed.
 */
bool frz_value_from_binary(const frz_type *type, frz_str bytes, frz_value *out);
/* The shortest text that reads back as the same number, at least 32 bytes. Returns the length. */
size_t frz_double_text(double value, char *text);
size_t frz_float_text(float value, char *text);
/* A float of 16 bits; exact, the bits of a NaN included. */
float frz_half_to_float(uint16_t bits);
size_t frz_half_text(uint16_t bits, char *text); /* whole numbers with all their digits */
/* "-12.34" from unscaled digits; at least 64 bytes. */
size_t frz_decimal_text(frz_i128 unscaled, int32_t scale, char *text);

/* ---- builders (type_builder.c) ---- */

/* Collects rows of any type, nested ones through child builders. */
typedef struct frz_builder frz_builder;

frz_code frz_builder_new(const frz_env *env, const frz_type *type, frz_builder **out,
                         frz_error *err);
void frz_builder_free(frz_builder *builder);
const frz_type *frz_builder_type(const frz_builder *builder);
int64_t frz_builder_length(const frz_builder *builder);
frz_code frz_builder_null(frz_builder *builder, frz_error *err); /* nested: children as needed */
frz_code frz_builder_value(frz_builder *builder, const frz_value *value, frz_error *err);
frz_code frz_builder_bool(frz_builder *builder, bool value, frz_error *err);
frz_code frz_builder_i32(frz_builder *builder, int32_t value, frz_error *err);
frz_code frz_builder_i64(frz_builder *builder, int64_t value, frz_error *err);
frz_code frz_builder_f64(frz_builder *builder, double value, frz_error *err);
frz_code frz_builder_bytes(frz_builder *builder, frz_str value, frz_error *err);
/* Child i of a struct, element of a list (0), key and value of a map (0, 1). Append to the
 * children first, then end the row of the parent. */
frz_builder *frz_builder_child(frz_builder *builder, size_t i);
/* A non-null struct row: every child must be one row further. A list or map row: everything
 * appended to the children since the last row. */
frz_code frz_builder_end(frz_builder *builder, frz_error *err);
/* Hand out the array and start anew. */
frz_code frz_builder_finish(frz_builder *builder, struct ArrowArray *out, frz_error *err);

#endif
