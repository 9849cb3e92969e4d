/*
 * Printing trees as text that parses to the same tree: parentheses only where precedence asks for
 * them, names quoted only where they must be, every literal in a form that keeps its type.
 */
#include <math.h>
#include <stdio.h>

#include "expr/expr_internal.h"

/* As in the parser, from loosest to tightest. */
enum {
    BIND_OR = 1,
    BIND_AND,
    BIND_NOT,
    BIND_COMPARE,
    BIND_SUM,
    BIND_PRODUCT,
    BIND_UNARY,
    BIND_PRIMARY
};

static frz_code print_node(const frz_expr *expr, int least, frz_buf *out, frz_error *err);

/* ---- names and literals ---- */

static bool is_plain_name(frz_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return name.len > 0 && !expr_is_reserved(name);
}

static frz_code print_quoted(frz_str text, char quote, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_byte(out, (uint8_t)quote, err));
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == quote) {
            FRZ_TRY(frz_buf_append_byte(out, (uint8_t)quote, err));
        }
        FRZ_TRY(frz_buf_append_byte(out, (uint8_t)text.ptr[i], err));
    }
    FRZ_TRY(frz_buf_append_byte(out, (uint8_t)quote, err));
out:
    return rc;
}

frz_code expr_print_name(frz_str name, frz_buf *out, frz_error *err)
{
    return is_plain_name(name) ? frz_buf_append(out, name.ptr, name.len, err)
                               : print_quoted(name, '"', out, err);
}

/* WORD 'value' */
static frz_code print_typed(const char *word, const frz_value *value, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_printf(out, err, "%s '", word));
    FRZ_TRY(frz_value_print(value, out, err));
    FRZ_TRY(frz_buf_append_byte(out, '\'', err));
out:
    return rc;
}

static frz_code print_bytes(frz_str bytes, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_str(out, "X'", err));
    for (size_t i = 0; i < bytes.len; i++) {
        FRZ_TRY(frz_buf_printf(out, err, "%02x", (unsigned)(uint8_t)bytes.ptr[i]));
    }
    FRZ_TRY(frz_buf_append_byte(out, '\'', err));
out:
    return rc;
}

/* Always with an exponent: without one it would be a decimal. */
static frz_code print_double(double number, frz_buf *out, frz_error *err)
{
    char text[64];
    if (!isfinite(number)) {
        return frz_buf_printf(out, err, "DOUBLE '%s'",
                              isnan(number) ? "NaN"
                              : number > 0  ? "Infinity"
                                            : "-Infinity");
    }
    size_t len = frz_double_text(number, text);
    bool exponent = strpbrk(text, "eE") != NULL;
    if (!exponent && len > 2 && strcmp(text + len - 2, ".0") == 0) {
        text[len - 2] = '\0';
    }
    return frz_buf_printf(out, err, "%s%s", text, exponent ? "" : "e0");
}

static frz_code print_decimal(const frz_value *value, frz_buf *out, frz_error *err)
{
    char text[64];
    frz_decimal_text(value->as.i128, value->type->scale, text);
    bool plain = value->type->scale > 0 || value->as.i128 > INT64_MAX || value->as.i128 < INT64_MIN;
    return plain ? frz_buf_append_str(out, text, err)
                 : frz_buf_printf(out, err, "DECIMAL '%s'", text);
}

/* A literal that only CAST can make. */
static frz_code print_cast_literal(const frz_value *value, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_str(out, "CAST(", err));
    FRZ_TRY(print_bytes(value->as.bytes, out, err));
    FRZ_TRY(frz_buf_append_str(out, " AS ", err));
    FRZ_TRY(frz_type_print(value->type, out, err));
    FRZ_TRY(frz_buf_append_byte(out, ')', err));
out:
    return rc;
}

static const char *typed_word(frz_type_id id)
{
    switch (id) {
    case FRZ_TYPE_FLOAT:
        return "FLOAT";
    case FRZ_TYPE_DATE:
        return "DATE";
    case FRZ_TYPE_TIME:
        return "TIME";
    case FRZ_TYPE_TIMESTAMP:
        return "TIMESTAMP";
    case FRZ_TYPE_TIMESTAMPTZ:
        return "TIMESTAMPTZ";
    case FRZ_TYPE_TIMESTAMP_NS:
        return "TIMESTAMP_NS";
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return "TIMESTAMPTZ_NS";
    case FRZ_TYPE_UUID:
        return "UUID";
    default:
        return NULL;
    }
}

frz_code expr_print_literal(const frz_value *value, frz_buf *out, frz_error *err)
{
    if (value->is_null) {
        return frz_buf_append_str(out, "NULL", err);
    }
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return frz_buf_append_str(out, value->as.boolean ? "TRUE" : "FALSE", err);
    case FRZ_TYPE_INT:
        return frz_buf_printf(out, err, "%d", value->as.i32);
    case FRZ_TYPE_LONG:
        return frz_buf_printf(out, err,
                              value->as.i64 == (int32_t)value->as.i64 ? "LONG '%lld'" : "%lld",
                              (long long)value->as.i64);
    case FRZ_TYPE_DOUBLE:
        return print_double(value->as.f64, out, err);
    case FRZ_TYPE_DECIMAL:
        return print_decimal(value, out, err);
    case FRZ_TYPE_STRING:
        return print_quoted(value->as.bytes, '\'', out, err);
    case FRZ_TYPE_BINARY:
        return print_bytes(value->as.bytes, out, err);
    default:
        return typed_word(value->type->id) == NULL
                   ? print_cast_literal(value, out, err)
                   : print_typed(typed_word(value->type->id), value, out, err);
    }
}

/* ---- operators ---- */

static int binding_of(const frz_expr *expr)
{
    switch (expr->kind) {
    case EXPR_OR:
        return BIND_OR;
    case EXPR_AND:
        return BIND_AND;
    case EXPR_NOT:
        return BIND_NOT;
    case EXPR_COMPARE:
    case EXPR_IS_NULL:
    case EXPR_IS_NAN:
    case EXPR_IN:
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        return BIND_COMPARE;
    case EXPR_CONCAT:
        return BIND_SUM;
    case EXPR_ARITHMETIC:
        return expr->op == EXPR_ADD || expr->op == EXPR_SUBTRACT ? BIND_SUM : BIND_PRODUCT;
    case EXPR_NEGATE:
        return BIND_UNARY;
    default:
        return BIND_PRIMARY;
    }
}

static const char *symbol_of(const frz_expr *expr)
{
    static const char *const arithmetic[] = {" + ", " - ", " * ", " / ", " % "};
    static const char *const comparison[] = {" = ", " <> ", " < ", " <= ", " > ", " >= "};
    switch (expr->kind) {
    case EXPR_OR:
        return " OR ";
    case EXPR_AND:
        return " AND ";
    case EXPR_CONCAT:
        return " || ";
    case EXPR_COMPARE:
        return comparison[expr->op];
    default:
        return arithmetic[expr->op];
    }
}

/* a OP b [OP c …], grouping to the left */
static frz_code print_infix(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int binding = binding_of(expr);
    FRZ_TRY(print_node(expr->args[0], binding, out, err));
    for (size_t i = 1; i < expr->arg_count; i++) {
        FRZ_TRY(frz_buf_append_str(out, symbol_of(expr), err));
        FRZ_TRY(print_node(expr->args[i], binding + 1, out, err));
    }
out:
    return rc;
}

static frz_code print_list(const frz_expr *expr, size_t first, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_byte(out, '(', err));
    for (size_t i = first; i < expr->arg_count; i++) {
        FRZ_TRY(frz_buf_append_str(out, i == first ? "" : ", ", err));
        FRZ_TRY(print_node(expr->args[i], BIND_OR, out, err));
    }
    FRZ_TRY(frz_buf_append_byte(out, ')', err));
out:
    return rc;
}

static frz_code print_prefix(const char *word, const frz_expr *expr, int least, frz_buf *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_str(out, word, err));
    size_t before = out->len;
    FRZ_TRY(print_node(expr->args[0], least, out, err));
    if (out->data[before] == '-' && word[0] == '-') {
        /* "--" would begin a comment */
        FRZ_TRY(frz_buf_append_byte(out, ' ', err));
        memmove(out->data + before + 1, out->data + before, out->len - before - 1);
        out->data[before] = ' ';
    }
out:
    return rc;
}

static frz_code print_predicate(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *negation = expr->negated ? "NOT " : "";
    FRZ_TRY(print_node(expr->args[0], BIND_COMPARE, out, err));
    switch (expr->kind) {
    case EXPR_IS_NULL:
        return frz_buf_printf(out, err, " IS %sNULL", negation);
    case EXPR_IS_NAN:
        return frz_buf_printf(out, err, " IS %sNAN", negation);
    case EXPR_IN:
        FRZ_TRY(frz_buf_printf(out, err, " %sIN ", negation));
        return print_list(expr, 1, out, err);
    default:
        break;
    }
    bool between = expr->kind == EXPR_BETWEEN;
    FRZ_TRY(frz_buf_printf(out, err, " %s%s ", negation, between ? "BETWEEN" : "LIKE"));
    FRZ_TRY(print_node(expr->args[1], BIND_SUM, out, err));
    if (expr->arg_count == 3) {
        FRZ_TRY(frz_buf_append_str(out, between ? " AND " : " ESCAPE ", err));
        FRZ_TRY(print_node(expr->args[2], BIND_SUM, out, err));
    }
out:
    return rc;
}

static frz_code print_case(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t i = 0;
    FRZ_TRY(frz_buf_append_str(out, "CASE", err));
    if (expr->has_operand) {
        FRZ_TRY(frz_buf_append_byte(out, ' ', err));
        FRZ_TRY(print_node(expr->args[i++], BIND_OR, out, err));
    }
    for (; i + 1 < expr->arg_count; i += 2) {
        FRZ_TRY(frz_buf_append_str(out, " WHEN ", err));
        FRZ_TRY(print_node(expr->args[i], BIND_OR, out, err));
        FRZ_TRY(frz_buf_append_str(out, " THEN ", err));
        FRZ_TRY(print_node(expr->args[i + 1], BIND_OR, out, err));
    }
    if (expr->has_else) {
        FRZ_TRY(frz_buf_append_str(out, " ELSE ", err));
        FRZ_TRY(print_node(expr->args[i], BIND_OR, out, err));
    }
    FRZ_TRY(frz_buf_append_str(out, " END", err));
out:
    return rc;
}

static frz_code print_cast(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_append_str(out, "CAST(", err));
    FRZ_TRY(print_node(expr->args[0], BIND_OR, out, err));
    FRZ_TRY(frz_buf_append_str(out, " AS ", err));
    FRZ_TRY(frz_type_print(expr->type, out, err));
    FRZ_TRY(frz_buf_append_byte(out, ')', err));
out:
    return rc;
}

static frz_code print_field(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool bare = expr->args[0]->kind != EXPR_LITERAL; /* "1.x" would be a broken number */
    FRZ_TRY(print_node(expr->args[0], bare ? BIND_PRIMARY : BIND_PRIMARY + 1, out, err));
    FRZ_TRY(frz_buf_append_byte(out, '.', err));
    FRZ_TRY(expr_print_name(expr->text, out, err));
out:
    return rc;
}

static frz_code print_bare(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    switch (expr->kind) {
    case EXPR_NAME:
        return expr_print_name(expr->text, out, err);
    case EXPR_FIELD:
        return print_field(expr, out, err);
    case EXPR_LITERAL:
        return expr_print_literal(&expr->value, out, err);
    case EXPR_STAR:
        return frz_buf_append_byte(out, '*', err);
    case EXPR_NEGATE:
        return print_prefix("-", expr, BIND_UNARY, out, err);
    case EXPR_NOT:
        return print_prefix("NOT ", expr, BIND_NOT, out, err);
    case EXPR_ARITHMETIC:
    case EXPR_COMPARE:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_CONCAT:
        return print_infix(expr, out, err);
    case EXPR_IS_NULL:
    case EXPR_IS_NAN:
    case EXPR_IN:
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        return print_predicate(expr, out, err);
    case EXPR_CASE:
        return print_case(expr, out, err);
    case EXPR_CAST:
        return print_cast(expr, out, err);
    case EXPR_CALL:
        FRZ_TRY(frz_buf_append(out, expr->text.ptr, expr->text.len, err));
        return print_list(expr, 0, out, err);
    }
out:
    return rc;
}

/* least: the loosest binding that needs no parentheses here. */
static frz_code print_node(const frz_expr *expr, int least, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool parentheses = binding_of(expr) < least;
    if (parentheses) {
        FRZ_TRY(frz_buf_append_byte(out, '(', err));
    }
    FRZ_TRY(print_bare(expr, out, err));
    if (parentheses) {
        FRZ_TRY(frz_buf_append_byte(out, ')', err));
    }
out:
    return rc;
}

/* ---- entries ---- */

frz_code frz_expr_print(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    return print_node(expr, BIND_OR, out, err);
}

frz_code frz_expr_default_name(const frz_expr *expr, frz_buf *out, frz_error *err)
{
    return expr->kind == EXPR_NAME || expr->kind == EXPR_FIELD
               ? frz_buf_append(out, expr->text.ptr, expr->text.len, err)
               : frz_expr_print(expr, out, err);
}
