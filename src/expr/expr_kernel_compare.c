/*
 * Comparison over whole columns, into bitmaps. Every order here is total (NaN equals NaN and is
 * greatest), so equality and "less" are enough: the other four are those two with sides exchanged
 * or the answer inverted.
 *
 * A loop fills 64 bytes of zeros and ones, which vectorises, and packs them into one word.
 */
#include "expr/expr_internal.h"

static inline uint64_t pack_64(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        /* byte k of eight moves to bit k of the topmost byte */
        uint64_t bits = frz_load_le64(bytes + i * 8) * UINT64_C(0x0102040810204080) >> 56;
        word |= bits << (i * 8);
    }
    return word;
}

/* For each word of out: set t[0..63] by the statement, given block (first row of 64) and m rows. */
#define EACH_WORD(n, out, statement)                                                               \
    do {                                                                                           \
        for (int64_t block = 0; block < (n); block += 64) {                                        \
            uint8_t t[64] = {0};                                                                   \
            if ((n)-block >= 64) {                                                                 \
                const int64_t m = 64;                                                              \
                statement                                                                          \
            } else {                                                                               \
                const int64_t m = (n)-block;                                                       \
                statement                                                                          \
            }                                                                                      \
            (out)[block / 64] = pack_64(t);                                                        \
        }                                                                                          \
    } while (0)

/* A block of an argument: constants do not move. */
#define A_BLOCK (shape == EXPR_LEFT_CONSTANT ? a : a + block)
#define B_BLOCK (shape == EXPR_RIGHT_CONSTANT ? b : b + block)

#define COMPARE_FUNCTION(name, T, condition)                                                       \
    static void name(expr_shape shape, const T *a, const T *b, int64_t n, uint64_t *out)           \
    {                                                                                              \
        if (shape == EXPR_BOTH_VARY) {                                                             \
            EACH_WORD(n, out, EXPR_EACH(T, EXPR_BOTH_VARY, A_BLOCK, B_BLOCK, m, {                  \
                          t[i] = (uint8_t)(condition);                                             \
                      }););                                                                        \
        } else if (shape == EXPR_RIGHT_CONSTANT) {                                                 \
            EACH_WORD(n, out, EXPR_EACH(T, EXPR_RIGHT_CONSTANT, A_BLOCK, B_BLOCK, m, {             \
                          t[i] = (uint8_t)(condition);                                             \
                      }););                                                                        \
        } else {                                                                                   \
            EACH_WORD(n, out, EXPR_EACH(T, EXPR_LEFT_CONSTANT, A_BLOCK, B_BLOCK, m, {              \
                          t[i] = (uint8_t)(condition);                                             \
                      }););                                                                        \
        }                                                                                          \
    }

COMPARE_FUNCTION(equal_i32, int32_t, x == y)
COMPARE_FUNCTION(less_i32, int32_t, x < y)
COMPARE_FUNCTION(equal_i64, int64_t, x == y)
COMPARE_FUNCTION(less_i64, int64_t, x < y)
COMPARE_FUNCTION(equal_i128, frz_i128, x == y)
COMPARE_FUNCTION(less_i128, frz_i128, x < y)
COMPARE_FUNCTION(equal_any_f32, float, (x == y) | ((x != x) & (y != y)))
COMPARE_FUNCTION(less_any_f32, float, (x < y) | ((y != y) & (x == x)))
COMPARE_FUNCTION(equal_any_f64, double, (x == y) | ((x != x) & (y != y)))
COMPARE_FUNCTION(less_any_f64, double, (x < y) | ((y != y) & (x == x)))
/* One side a constant that is not NaN: one comparison is enough. */
COMPARE_FUNCTION(equal_plain_f32, float, x == y)
COMPARE_FUNCTION(less_plain_f32, float, x < y)
COMPARE_FUNCTION(not_above_f32, float, !(y <= x))
COMPARE_FUNCTION(equal_plain_f64, double, x == y)
COMPARE_FUNCTION(less_plain_f64, double, x < y)
COMPARE_FUNCTION(not_above_f64, double, !(y <= x))

#define CHOOSE_FLOATING(suffix, T)                                                                 \
    static void equal_##suffix(expr_shape shape, const T *a, const T *b, int64_t n, uint64_t *out) \
    {                                                                                              \
        bool plain = (shape == EXPR_RIGHT_CONSTANT && b[0] == b[0]) ||                             \
                     (shape == EXPR_LEFT_CONSTANT && a[0] == a[0]);                                \
        (plain ? equal_plain_##suffix : equal_any_##suffix)(shape, a, b, n, out);                  \
    }                                                                                              \
    static void less_##suffix(expr_shape shape, const T *a, const T *b, int64_t n, uint64_t *out)  \
    {                                                                                              \
        if (shape == EXPR_RIGHT_CONSTANT && b[0] == b[0]) {                                        \
            less_plain_##suffix(shape, a, b, n, out);                                              \
        } else if (shape == EXPR_LEFT_CONSTANT && a[0] == a[0]) {                                  \
            not_above_##suffix(shape, a, b, n, out);                                               \
        } else {                                                                                   \
            less_any_##suffix(shape, a, b, n, out);                                                \
        }                                                                                          \
    }

CHOOSE_FLOATING(f32, float)
CHOOSE_FLOATING(f64, double)

/* ---- bytes and booleans ---- */

/* Strings and binaries of any width, read through a small cursor. */
typedef struct byte_source {
    frz_str constant;
    bool is_constant;
    const struct ArrowArray *array;
    size_t width; /* 0: offsets */
} byte_source;

static byte_source byte_source_of(const frz_type *type, const expr_vec *vec)
{
    return (byte_source){.constant = vec->constant ? vec->value.as.bytes : (frz_str){0},
                         .is_constant = vec->constant,
                         .array = &vec->array,
                         .width = frz_type_width(type)};
}

static inline frz_str byte_source_at(const byte_source *source, int64_t i)
{
    if (source->is_constant) {
        return source->constant;
    }
    if (source->width == 0) {
        return frz_get_bytes(source->array, i);
    }
    const char *values = source->array->buffers[1];
    return (frz_str){values + (size_t)(source->array->offset + i) * source->width, source->width};
}

static void compare_bytes(bool less, const byte_source *a, const byte_source *b, int64_t n,
                          uint64_t *out)
{
    if (less) {
        EACH_WORD(
            n, out, for (int64_t i = 0; i < m; i++) {
                t[i] =
                    frz_str_compare(byte_source_at(a, block + i), byte_source_at(b, block + i)) < 0;
            });
    } else {
        EACH_WORD(
            n, out, for (int64_t i = 0; i < m; i++) {
                t[i] = frz_str_equal(byte_source_at(a, block + i), byte_source_at(b, block + i));
            });
    }
}

static frz_code compare_booleans(expr_eval *eval, bool less, const expr_vec *a, const expr_vec *b,
                                 uint64_t *out)
{
    frz_code rc = FRZ_OK;
    expr_truth left = {0};
    expr_truth right = {0};
    FRZ_TRY(expr_truth_of(eval, a, &left));
    FRZ_TRY(expr_truth_of(eval, b, &right));
    for (int64_t i = 0; i < expr_words(eval); i++) {
        uint64_t x = expr_words_of(left.is_true)[i];
        uint64_t y = expr_words_of(right.is_true)[i];
        out[i] = less ? ~x & y : ~(x ^ y);
    }
out:
    expr_truth_reset(&left);
    expr_truth_reset(&right);
    return rc;
}

/* ---- by type ---- */

static frz_code compare_column(expr_eval *eval, const frz_type *type, bool less, const expr_vec *a,
                               const expr_vec *b, uint64_t *out)
{
    expr_shape shape = expr_shape_of(a, b);
    size_t width = frz_type_width(type);
    int64_t n = eval->length;
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        return compare_booleans(eval, less, a, b, out);
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        (less ? less_i32 : equal_i32)(shape, expr_values_of(a, width), expr_values_of(b, width), n,
                                      out);
        return FRZ_OK;
    case FRZ_TYPE_FLOAT:
        (less ? less_f32 : equal_f32)(shape, expr_values_of(a, width), expr_values_of(b, width), n,
                                      out);
        return FRZ_OK;
    case FRZ_TYPE_DOUBLE:
        (less ? less_f64 : equal_f64)(shape, expr_values_of(a, width), expr_values_of(b, width), n,
                                      out);
        return FRZ_OK;
    case FRZ_TYPE_DECIMAL:
        (less ? less_i128 : equal_i128)(shape, expr_values_of(a, width), expr_values_of(b, width),
                                        n, out);
        return FRZ_OK;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED: {
        byte_source left = byte_source_of(type, a);
        byte_source right = byte_source_of(type, b);
        compare_bytes(less, &left, &right, n, out);
        return FRZ_OK;
    }
    default:
        (less ? less_i64 : equal_i64)(shape, expr_values_of(a, width), expr_values_of(b, width), n,
                                      out);
        return FRZ_OK;
    }
}

/* A boolean column of given bits, null where an argument is. Takes bits. */
static frz_code finish(expr_eval *eval, const expr_vec *args, size_t count, frz_buffer *bits,
                       expr_vec *out)
{
    frz_buffer *validity = NULL;
    frz_code rc = expr_validity(eval, args, count, &validity);
    if (rc != FRZ_OK) {
        frz_buffer_unref(bits);
        return rc;
    }
    return expr_array_of(eval, validity, bits, out);
}

frz_code expr_kernel_compare(expr_eval *eval, const frz_type *type, expr_comparison comparison,
                             const expr_vec *a, const expr_vec *b, expr_vec *out)
{
    bool exchange = comparison == EXPR_GREATER || comparison == EXPR_LESS_EQUAL;
    bool invert = comparison == EXPR_NOT_EQUAL || comparison == EXPR_LESS_EQUAL ||
                  comparison == EXPR_GREATER_EQUAL;
    bool less = comparison != EXPR_EQUAL && comparison != EXPR_NOT_EQUAL;
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    expr_vec both[] = {exchange ? *b : *a, exchange ? *a : *b}; /* borrowed */
    FRZ_TRY(expr_bits_new(eval, false, &bits));
    FRZ_TRY(compare_column(eval, type, less, &both[0], &both[1], expr_words_of(bits)));
    if (invert) {
        expr_bits_invert(eval, expr_words_of(bits));
    }
    rc = finish(eval, both, 2, bits, out);
    bits = NULL;
out:
    frz_buffer_unref(bits);
    return rc;
}

/* ---- IN a sorted list ---- */

static int64_t integer_of(const frz_value *value)
{
    bool narrow = value->type->id == FRZ_TYPE_INT || value->type->id == FRZ_TYPE_DATE;
    return narrow ? value->as.i32 : value->as.i64;
}

/* Position of the first list entry that is not less. */
static size_t lower_bound(const expr_node *node, const frz_value *value)
{
    size_t low = 0;
    size_t high = node->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frz_value_compare(&node->sorted[middle]->value, value, false) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_in(const expr_node *node, const frz_value *value)
{
    size_t at = lower_bound(node, value);
    return at < node->sorted_count &&
           frz_value_compare(&node->sorted[at]->value, value, false) == 0;
}

static void in_integers(const expr_node *node, const expr_vec *arg, int64_t *list, int64_t n,
                        uint64_t *out)
{
    bool narrow = frz_type_width(node->args[0]->type) == 4;
    for (size_t i = 0; i < node->sorted_count; i++) {
        list[i] = integer_of(&node->sorted[i]->value);
    }
    EACH_WORD(
        n, out, for (int64_t i = 0; i < m; i++) {
            int64_t x =
                narrow ? frz_get_i32(&arg->array, block + i) : frz_get_i64(&arg->array, block + i);
            const int64_t *base = list;
            for (size_t left = node->sorted_count; left > 1;) {
                size_t half = left / 2;
                base = base[half] <= x ? base + half : base;
                left -= half;
            }
            t[i] = *base == x;
        });
}

static bool is_integer_like(frz_type_id id)
{
    return id == FRZ_TYPE_INT || id == FRZ_TYPE_LONG ||
           (id >= FRZ_TYPE_DATE && id <= FRZ_TYPE_TIMESTAMPTZ_NS);
}

frz_code expr_kernel_in_sorted(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                               expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    const frz_type *type = node->args[0]->type;
    int64_t *list = frz_arena_array(&eval->scratch, node->sorted_count + 1, sizeof *list);
    if (list == NULL) {
        return frz_fail_nomem(eval->err, node->sorted_count * sizeof *list);
    }
    FRZ_TRY(expr_bits_new(eval, false, &bits));
    if (node->sorted_count > 0 && is_integer_like(type->id)) {
        in_integers(node, arg, list, eval->length, expr_words_of(bits));
    } else if (node->sorted_count > 0) {
        for (int64_t i = 0; i < eval->length; i++) {
            frz_value value = frz_value_at(type, &arg->array, i);
            if (!value.is_null && is_in(node, &value)) {
                frz_bit_set(bits->data, i);
            }
        }
    }
    if (node->index == 1) {
        /* a null in the list: true stays, the rest is unknown */
        frz_buffer *validity = NULL;
        FRZ_TRY(expr_validity(eval, arg, 1, &validity));
        for (int64_t i = 0; validity != NULL && i < expr_words(eval); i++) {
            expr_words_of(bits)[i] &= expr_words_of(validity)[i];
        }
        frz_buffer_unref(validity);
        rc = expr_array_of(eval, frz_buffer_ref(bits), bits, out);
    } else {
        rc = finish(eval, arg, 1, bits, out);
    }
    bits = NULL;
out:
    frz_buffer_unref(bits);
    return rc;
}

frz_code expr_kernel_is_nan(expr_eval *eval, const frz_type *type, const expr_vec *arg,
                            expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    int64_t n = eval->length;
    FRZ_TRY(expr_bits_new(eval, false, &bits));
    uint64_t *words = expr_words_of(bits);
    if (type->id == FRZ_TYPE_FLOAT) {
        const float *x = expr_values_of(arg, sizeof *x);
        EACH_WORD(
            n, words, for (int64_t i = 0; i < m; i++) { t[i] = x[block + i] != x[block + i]; });
    } else {
        const double *x = expr_values_of(arg, sizeof *x);
        EACH_WORD(
            n, words, for (int64_t i = 0; i < m; i++) { t[i] = x[block + i] != x[block + i]; });
    }
    rc = finish(eval, arg, 1, bits, out);
    bits = NULL;
out:
    frz_buffer_unref(bits);
    return rc;
}
