/*
 * What the parts of expr share: the unbound tree, the bound tree, vectors, and the conversion and
 * kernel entries between binding and evaluation.
 */
#ifndef FRZ_EXPR_INTERNAL_H
#define FRZ_EXPR_INTERNAL_H

#include "expr/expr.h"
#include "type/type_value.h"

/* Deepest tree: parsing, binding and evaluation recurse, so this bounds the stack. Chains of AND,
 * OR and || are one node and do not count. */
#define EXPR_DEPTH_MAX 200

typedef enum expr_arithmetic {
    EXPR_ADD,
    EXPR_SUBTRACT,
    EXPR_MULTIPLY,
    EXPR_DIVIDE,
    EXPR_MODULO
} expr_arithmetic;

typedef enum expr_comparison {
    EXPR_EQUAL,
    EXPR_NOT_EQUAL,
    EXPR_LESS,
    EXPR_LESS_EQUAL,
    EXPR_GREATER,
    EXPR_GREATER_EQUAL
} expr_comparison;

/* ---- unbound trees ---- */

typedef enum expr_kind {
    EXPR_NAME,    /* text */
    EXPR_FIELD,   /* args[0] . text */
    EXPR_LITERAL, /* value */
    EXPR_STAR,    /* the argument of count(*) */
    EXPR_NEGATE,
    EXPR_NOT,
    EXPR_ARITHMETIC, /* op: expr_arithmetic */
    EXPR_COMPARE,    /* op: expr_comparison */
    EXPR_AND,        /* AND, OR, CONCAT: two or more args */
    EXPR_OR,
    EXPR_CONCAT,
    EXPR_IS_NULL, /* IS_NULL, IS_NAN, IN, BETWEEN, LIKE: may be negated */
    EXPR_IS_NAN,
    EXPR_IN,
    EXPR_BETWEEN,
    EXPR_LIKE, /* args[2], if there, is the escape character */
    EXPR_CASE, /* [operand], when, then, when, then, ..., [else] */
    EXPR_CAST, /* args[0] to type; op EXPR_ASSIGN: as assignment does */
    EXPR_CALL  /* text: name in lower case */
} expr_kind;

struct frz_expr {
    expr_kind kind;
    int op;
    bool negated;
    bool has_operand, has_else; /* CASE */
    unsigned depth;
    size_t start; /* where it begins in source */
    frz_str source;
    frz_str text;
    frz_value value;
    const frz_type *type;
    const frz_expr **args;
    size_t arg_count, arg_capacity;
};

/* Fail at a place of a source text: the line with a caret below becomes the hint. */
frz_code expr_fail_at(frz_str source, size_t at, frz_error *err, frz_code code, const char *fmt,
                      ...) FRZ_PRINTF(5, 6);
/* The hint of expr_fail_at for an error that somebody else wrote. */
void expr_hint_at(frz_str source, size_t at, frz_error *err);
/* True for words that must be quoted to be names. */
bool expr_is_reserved(frz_str word);
/* Append a name, quoted if it has to be. */
frz_code expr_print_name(frz_str name, frz_buf *out, frz_error *err);
/* A literal as SQL that reads back as the same value; any primitive type. */
frz_code expr_print_literal(const frz_value *value, frz_buf *out, frz_error *err);
/* The decimal type that holds a number written with these digits. */
frz_code expr_decimal_type(frz_arena *arena, int32_t precision, int32_t scale, const frz_type **out,
                           frz_error *err);
/* Decimal digits of a number, at least 1. */
int32_t expr_digit_count(frz_i128 value);
/* 10 to the n, n from 0 to 38. */
frz_i128 expr_power_of_ten(int32_t n);
/* Digits with at most one point, optionally signed, as a decimal of its own precision and scale. */
frz_code expr_decimal_from_text(frz_arena *arena, frz_str text, frz_value *out, frz_error *err);

/* ---- bound trees ---- */

typedef enum expr_op {
    EXPR_OP_LITERAL, /* value */
    EXPR_OP_COLUMN,  /* field_id */
    EXPR_OP_CHILD,   /* args[0] is a struct; index */
    EXPR_OP_NEGATE,  /* argument and result of one type: int, long, double, decimal */
    EXPR_OP_NOT,
    EXPR_OP_ARITHMETIC, /* both arguments of one type, see expr_bind_arithmetic */
    EXPR_OP_COMPARE,    /* both arguments of one type */
    EXPR_OP_AND,
    EXPR_OP_OR,
    EXPR_OP_CONCAT, /* all strings or all binaries */
    EXPR_OP_IS_NULL,
    EXPR_OP_IS_NAN,
    EXPR_OP_IN,      /* all arguments of one type */
    EXPR_OP_BETWEEN, /* the same */
    EXPR_OP_LIKE,    /* strings; escape in index, or -1 */
    EXPR_OP_CASE,    /* condition, result, condition, result, ..., result */
    EXPR_OP_COALESCE,
    EXPR_OP_NULLIF,  /* args[0] where args[1] = args[2] is not true */
    EXPR_OP_CONVERT, /* mode */
    EXPR_OP_FUNCTION /* function */
} expr_op;

typedef enum expr_mode {
    EXPR_WIDEN,  /* of operands: to the common type */
    EXPR_ASSIGN, /* nothing may be lost */
    EXPR_CAST_TO /* CAST: fractions are cut off, text is parsed */
} expr_mode;

typedef enum expr_function {
    EXPR_FUNCTION_ABS,
    EXPR_FUNCTION_ROUND, /* digits in index */
    EXPR_FUNCTION_FLOOR,
    EXPR_FUNCTION_CEIL,
    EXPR_FUNCTION_SQRT,
    EXPR_FUNCTION_LN,
    EXPR_FUNCTION_EXP,
    EXPR_FUNCTION_POWER,
    EXPR_FUNCTION_LENGTH,
    EXPR_FUNCTION_LOWER,
    EXPR_FUNCTION_UPPER,
    EXPR_FUNCTION_SUBSTR
} expr_function;

typedef struct expr_node expr_node;
struct expr_node {
    expr_op op;
    int code; /* expr_arithmetic, expr_comparison, expr_mode, expr_function */
    const frz_type *type;
    const expr_node **args;
    size_t arg_count;
    int32_t field_id;
    int64_t index;
    frz_str name; /* COLUMN, CHILD: for messages */
    frz_value value;
    const expr_node **sorted; /* IN: the constants in order, or NULL */
    size_t sorted_count;
};

struct frz_bound_expr {
    const frz_env *env;
    frz_arena arena;
    const expr_node *root;
    frz_str column; /* assigned to; empty: none */
    bool required;  /* it takes no nulls */
    int32_t *fields;
    size_t field_count;
};

/* Build nodes; constants are folded. The tree's arena is used. */
typedef struct expr_binder {
    frz_bound_expr *bound;
    const frz_type *struct_type;
    frz_error *err;
} expr_binder;

/* A new node. If all arguments are literals it is evaluated here, unless that fails: then the
 * failure is left to the rows that need it. */
frz_code expr_node_new(expr_binder *binder, expr_op op, int code, const frz_type *type,
                       const expr_node *const *args, size_t arg_count, const expr_node **out);
/* The same with index set before it is evaluated. */
frz_code expr_node_new_index(expr_binder *binder, expr_op op, int code, int64_t index,
                             const frz_type *type, const expr_node *const *args, size_t arg_count,
                             const expr_node **out);
/* A literal of a value that lives in the arena. */
frz_code expr_node_literal(expr_binder *binder, const frz_value *value, const expr_node **out);
/* FRZ_E_ARGUMENT unless values of this type can be ordered. */
frz_code expr_check_comparable(expr_binder *binder, const frz_expr *at, const frz_type *type);

/* ---- types of operands (expr_bind_type.c) ---- */

/* Convert, or fail at a place; literals are converted at once. */
frz_code expr_node_convert(expr_binder *binder, const frz_expr *at, const expr_node *node,
                           const frz_type *to, expr_mode mode, const expr_node **out);
/* Bring args[first], args[first + step], ... to their common type, or fail naming two types that
 * have none. */
frz_code expr_unify(expr_binder *binder, const frz_expr *at, const expr_node **args, size_t count,
                    size_t first, size_t step, const frz_type **out);
/* An arithmetic operator over two operands. */
frz_code expr_bind_arithmetic(expr_binder *binder, const frz_expr *at, expr_arithmetic op,
                              const expr_node *a, const expr_node *b, const expr_node **out);

/* Functions by name, arguments bound (expr_bind_call.c). */
frz_code expr_bind_call(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                        const expr_node **out);
/* All to strings, or all binaries as they are; for || and concat. */
frz_code expr_bind_concat(expr_binder *binder, const frz_expr *expr, const expr_node **args,
                          const expr_node **out);

static inline bool expr_is_literal(const expr_node *node)
{
    return node->op == EXPR_OP_LITERAL;
}
static inline bool expr_is_number(const frz_type *type)
{
    return type->id >= FRZ_TYPE_INT && type->id <= FRZ_TYPE_DECIMAL;
}

/* ---- conversion of one value (expr_convert.c) ---- */

typedef enum expr_converted {
    EXPR_CONVERTED,
    EXPR_DOES_NOT_FIT,
    EXPR_NOT_READABLE, /* text that is not of the type */
    EXPR_NO_MEMORY
} expr_converted;

/* Is there any way from one type to the other? */
bool expr_convertible(const frz_type *from, const frz_type *to, expr_mode mode);
/* Bytes of the result live in the arena or are those of the input. */
expr_converted expr_convert_value(frz_arena *arena, const frz_value *value, const frz_type *to,
                                  expr_mode mode, frz_value *out);

/* ---- vectors ---- */

/* What a node evaluates to: a column of values, or one value for all rows. */
typedef struct expr_vec {
    bool constant;
    frz_value value;         /* if constant */
    struct ArrowArray array; /* else */
} expr_vec;

typedef struct expr_eval {
    const frz_bound_expr *bound;
    const frz_env *env;
    frz_arena scratch; /* values made while evaluating */
    const frz_type *batch_type;
    const struct ArrowArray *batch;
    int64_t length, first_row;
    frz_error *err;
} expr_eval;

frz_code expr_eval_node(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                        expr_vec *out);
void expr_vec_reset(expr_vec *vec);
/* Turn a constant into a column; a column stays. */
frz_code expr_vec_expand(expr_eval *eval, const frz_type *type, expr_vec *vec);
/* Value of row i, constant or not. */
frz_value expr_vec_at(const expr_vec *vec, const frz_type *type, int64_t i);

static inline bool expr_vec_is_null(const expr_vec *vec)
{
    return vec->constant && vec->value.is_null;
}
static inline bool expr_selected(const uint8_t *selection, int64_t i)
{
    return selection == NULL || frz_bit_get(selection, i);
}

/* Kernels: each fills *out, whose rows are those of eval. Arguments have the types that the op
 * promises; they are not all constant and none is a constant null. selection is padded to words. */
frz_code expr_kernel_arithmetic(expr_eval *eval, const expr_node *node, const expr_vec *args,
                                const uint8_t *selection, expr_vec *out);
frz_code expr_kernel_negate(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                            const uint8_t *selection, expr_vec *out);
frz_code expr_kernel_compare(expr_eval *eval, const frz_type *type, expr_comparison comparison,
                             const expr_vec *a, const expr_vec *b, expr_vec *out);
frz_code expr_kernel_in_sorted(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                               expr_vec *out);
frz_code expr_kernel_is_nan(expr_eval *eval, const frz_type *type, const expr_vec *arg,
                            expr_vec *out);
frz_code expr_kernel_like(expr_eval *eval, const expr_node *node, const expr_vec *args,
                          expr_vec *out);
frz_code expr_kernel_convert(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                             const uint8_t *selection, expr_vec *out);
frz_code expr_kernel_math(expr_eval *eval, const expr_node *node, const expr_vec *args,
                          const uint8_t *selection, expr_vec *out);
frz_code expr_kernel_text(expr_eval *eval, const expr_node *node, const expr_vec *args,
                          const uint8_t *selection, expr_vec *out);
frz_code expr_kernel_concat(expr_eval *eval, const expr_node *node, const expr_vec *args,
                            const uint8_t *selection, expr_vec *out);
/* Row i comes from choices[pick[i]]. */
frz_code expr_kernel_choose(expr_eval *eval, const frz_type *type, const expr_vec *choices,
                            size_t choice_count, const uint32_t *pick, expr_vec *out);

/* ---- bitmaps (expr_vec.c): of eval's length from bit 0, whole words, zero behind the end ---- */

static inline int64_t expr_words(const expr_eval *eval)
{
    return (eval->length + 63) / 64;
}
static inline uint64_t *expr_words_of(frz_buffer *bits)
{
    return (uint64_t *)(void *)bits->data;
}
frz_code expr_bits_new(expr_eval *eval, bool value, frz_buffer **out);
/* Flip every bit. */
void expr_bits_invert(const expr_eval *eval, uint64_t *bits);
bool expr_bits_any(const expr_eval *eval, const uint64_t *bits);
/* Validity shared by all of the vectors, or NULL if no row is null. Constants are not null. */
frz_code expr_validity(expr_eval *eval, const expr_vec *vecs, size_t count, frz_buffer **out);
/* The first row from a row on that matters: selected and, if validity is given, valid; or -1. */
int64_t expr_next_row(const expr_eval *eval, const uint8_t *selection, const frz_buffer *validity,
                      int64_t from);
/* An array of validity and one buffer of values; both are taken, also on failure. */
frz_code expr_array_of(expr_eval *eval, frz_buffer *validity, frz_buffer *values, expr_vec *out);
frz_code expr_values_new(expr_eval *eval, size_t width, frz_buffer **out);
/* The values of a fixed-width vector: of a constant, one. */
const void *expr_values_of(const expr_vec *vec, size_t width);
/* The same rows of an array by reference. */
frz_code expr_vec_share(expr_eval *eval, const expr_vec *vec, expr_vec *out);
/* The same rows with another validity (taken, also on failure). */
frz_code expr_vec_mask(expr_eval *eval, const expr_vec *vec, frz_buffer *validity, expr_vec *out);
void expr_vec_null(const frz_type *type, expr_vec *out);

/* Which arguments of a kernel with two are constant. */
typedef enum expr_shape { EXPR_BOTH_VARY, EXPR_RIGHT_CONSTANT, EXPR_LEFT_CONSTANT } expr_shape;
static inline expr_shape expr_shape_of(const expr_vec *a, const expr_vec *b)
{
    assert(!a->constant || !b->constant);
    return a->constant ? EXPR_LEFT_CONSTANT : b->constant ? EXPR_RIGHT_CONSTANT : EXPR_BOTH_VARY;
}

/* Run a statement for i from 0 below n with x and y of type T set from a and b by their shape. A
 * loop per shape, so that each can be vectorised. */
#define EXPR_EACH(T, shape, a, b, n, statement)                                                    \
    do {                                                                                           \
        if ((shape) == EXPR_BOTH_VARY) {                                                           \
            for (int64_t i = 0; i < (n); i++) {                                                    \
                const T x = (a)[i];                                                                \
                const T y = (b)[i];                                                                \
                statement                                                                          \
            }                                                                                      \
        } else if ((shape) == EXPR_RIGHT_CONSTANT) {                                               \
            const T y = (b)[0];                                                                    \
            for (int64_t i = 0; i < (n); i++) {                                                    \
                const T x = (a)[i];                                                                \
                statement                                                                          \
            }                                                                                      \
        } else {                                                                                   \
            const T x = (a)[0];                                                                    \
            for (int64_t i = 0; i < (n); i++) {                                                    \
                const T y = (b)[i];                                                                \
                statement                                                                          \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* ---- failures of rows (expr_vec.c) ---- */

/* FRZ_E_ARGUMENT 'column "c": WHAT at row N: DETAIL'. The column is the one assigned to, else the
 * first that node reads. */
frz_code expr_fail_row(expr_eval *eval, const expr_node *node, int64_t i, const char *what,
                       const char *fmt, ...) FRZ_PRINTF(5, 6);
/* A value in a message. */
#define EXPR_VALUE_TEXT 80
const char *expr_value_text(expr_eval *eval, const frz_value *value, char text[EXPR_VALUE_TEXT]);

/* ---- three-valued logic (expr_truth.c) ---- */

/* Two bitmaps without a common bit; rows in neither are false. */
typedef struct expr_truth {
    frz_buffer *is_true, *is_null;
} expr_truth;

/* All empty to start with: false throughout, or true throughout. */
frz_code expr_truth_new(expr_eval *eval, bool value, expr_truth *out);
frz_code expr_truth_of(expr_eval *eval, const expr_vec *vec, expr_truth *out);
void expr_truth_reset(expr_truth *truth);
void expr_truth_and(const expr_eval *eval, expr_truth *a, const expr_truth *b);
void expr_truth_or(const expr_eval *eval, expr_truth *a, const expr_truth *b);
void expr_truth_not(const expr_eval *eval, expr_truth *a);
/* Takes the buffers, also on failure. */
frz_code expr_truth_array(expr_eval *eval, expr_truth *truth, expr_vec *out);

/* ---- LIKE (expr_like.c) ---- */

typedef enum expr_like_kind { EXPR_LIKE_BYTE, EXPR_LIKE_ONE, EXPR_LIKE_ANY } expr_like_kind;
typedef struct expr_like_step {
    uint8_t kind; /* expr_like_kind: this byte, any one character, any text */
    uint8_t byte;
} expr_like_step;

/* steps has room for pattern.len entries. escape: the character, or -1. */
size_t expr_like_compile(frz_str pattern, int64_t escape, expr_like_step *steps);
bool expr_like_match(const expr_like_step *steps, size_t count, frz_str text);

#endif
