/*
 * The parser of expressions: precedence climbing over the lexer's tokens.
 *
 * From loosest to tightest: OR; AND; NOT; comparison, IS, IN, BETWEEN, LIKE; + - ||; * / %; unary
 * minus; field access. Depth is bounded twice: nested text by the parser's own recursion, chains
 * of operators by the depth of the tree they build.
 */
#include <math.h>

#include "expr/expr_internal.h"

enum { LEVEL_OR = 1, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY };

typedef struct expr_parser {
    frz_lexer *lexer;
    frz_error *err;
    unsigned depth;
} expr_parser;

/* Deepest nesting of the text: a printed tree has at most one pair of parentheses per node. */
#define NESTING_MAX (2 * EXPR_DEPTH_MAX + 10)

static frz_code parse_level(expr_parser *p, int level, frz_expr **out);

/* ---- nodes ---- */

static frz_code too_deep(expr_parser *p, size_t at)
{
    return expr_fail_at(p->lexer->source, at, p->err, FRZ_E_LIMIT,
                        "the expression is nested too deeply: at most %d levels", EXPR_DEPTH_MAX);
}

static frz_code node_new(expr_parser *p, expr_kind kind, size_t start, frz_expr **out)
{
    frz_expr *node = frz_arena_alloc(p->lexer->arena, sizeof *node);
    if (node == NULL) {
        return frz_fail_nomem(p->err, sizeof *node);
    }
    node->kind = kind;
    node->start = start;
    node->source = p->lexer->source;
    node->depth = 1;
    *out = node;
    return FRZ_OK;
}

static frz_code node_add(expr_parser *p, frz_expr *node, const frz_expr *arg)
{
    if (node->arg_count == node->arg_capacity) {
        size_t capacity = FRZ_MAX(node->arg_capacity * 2, (size_t)2);
        const frz_expr **args = frz_arena_array(p->lexer->arena, capacity, sizeof *args);
        if (args == NULL) {
            return frz_fail_nomem(p->err, capacity * sizeof *args);
        }
        if (node->arg_count > 0) {
            memcpy(args, node->args, node->arg_count * sizeof *args);
        }
        node->args = args;
        node->arg_capacity = capacity;
    }
    node->args[node->arg_count++] = arg;
    node->depth = FRZ_MAX(node->depth, arg->depth + 1);
    return node->depth > EXPR_DEPTH_MAX ? too_deep(p, arg->start) : FRZ_OK;
}

static bool at_symbol(const expr_parser *p, const char *symbol)
{
    return p->lexer->token.kind == FRZ_TOKEN_SYMBOL && frz_lexer_is(p->lexer, symbol);
}

bool expr_is_reserved(frz_str word)
{
    static const char *const words[] = {
        "and",   "as",   "between", "case",   "cast", "distinct", "else", "end",   "escape",
        "false", "from", "group",   "having", "in",   "is",       "like", "limit", "not",
        "null",  "or",   "order",   "select", "set",  "then",     "true", "when",  "where"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(words); i++) {
        if (frz_str_equal_nocase(word, frz_str_from(words[i]))) {
            return true;
        }
    }
    return false;
}

/* ---- literals ---- */

static frz_value value_of(frz_type_id id)
{
    return (frz_value){.type = frz_type_primitive(id)};
}

/* The narrowest of int, long and decimal(n,0). */
static frz_code integer_value(expr_parser *p, frz_i128 number, frz_value *out)
{
    if (number >= INT32_MIN && number <= INT32_MAX) {
        *out = value_of(FRZ_TYPE_INT);
        out->as.i32 = (int32_t)number;
        return FRZ_OK;
    }
    if (number >= INT64_MIN && number <= INT64_MAX) {
        *out = value_of(FRZ_TYPE_LONG);
        out->as.i64 = (int64_t)number;
        return FRZ_OK;
    }
    *out = (frz_value){.as.i128 = number};
    return expr_decimal_type(p->lexer->arena, expr_digit_count(number), 0, &out->type, p->err);
}

static bool has_any(frz_str text, const char *bytes)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(bytes, text.ptr[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static frz_code number_value(expr_parser *p, frz_str text, frz_value *out)
{
    size_t start = p->lexer->token.start;
    if (has_any(text, "eE")) {
        *out = value_of(FRZ_TYPE_DOUBLE);
        if (!frz_str_to_double(text, &out->as.f64) || isinf(out->as.f64)) {
            return expr_fail_at(p->lexer->source, start, p->err, FRZ_E_ARGUMENT,
                                "this number does not fit a double");
        }
        return FRZ_OK;
    }
    frz_code rc = expr_decimal_from_text(p->lexer->arena, text, out, p->err);
    if (rc != FRZ_OK) {
        expr_hint_at(p->lexer->source, start, p->err);
        return rc;
    }
    return has_any(text, ".") ? FRZ_OK : integer_value(p, out->as.i128, out);
}

static frz_code parse_number(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(node_new(p, EXPR_LITERAL, p->lexer->token.start, out));
    FRZ_TRY(number_value(p, p->lexer->token.text, &(*out)->value));
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
out:
    return rc;
}

static frz_code parse_string(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(node_new(p, EXPR_LITERAL, p->lexer->token.start, out));
    (*out)->value = value_of(FRZ_TYPE_STRING);
    (*out)->value.as.bytes = p->lexer->token.text;
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
out:
    return rc;
}

/* The types whose literals are written as a word and a string. */
static frz_code check_literal_type(expr_parser *p, const frz_token *word, const frz_type *type)
{
    char text[80];
    if ((type->id >= FRZ_TYPE_BOOLEAN && type->id <= FRZ_TYPE_UUID) ||
        type->id == FRZ_TYPE_BINARY) {
        return FRZ_OK;
    }
    return expr_fail_at(p->lexer->source, word->start, p->err, FRZ_E_ARGUMENT,
                        "a literal of type %s is written with CAST",
                        frz_type_text(type, text, sizeof text));
}

/* DATE '…', X'…', DECIMAL '…': the word is behind us, the string is the current token. */
static frz_code parse_typed_literal(expr_parser *p, const frz_token *word, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    frz_arena *arena = p->lexer->arena;
    const frz_type *type = NULL;
    frz_str text = p->lexer->token.text;
    FRZ_TRY(node_new(p, EXPR_LITERAL, word->start, out));
    frz_value *value = &(*out)->value;
    if (frz_str_equal_nocase(word->text, FRZ_STR("decimal")) ||
        frz_str_equal_nocase(word->text, FRZ_STR("numeric"))) {
        rc = expr_decimal_from_text(arena, text, value, p->err);
    } else if (frz_str_equal_nocase(word->text, FRZ_STR("x"))) {
        rc = frz_value_parse(arena, frz_type_primitive(FRZ_TYPE_BINARY), text, value, p->err);
    } else {
        rc = frz_type_parse(arena, word->text, &type, p->err);
        rc = rc == FRZ_OK ? check_literal_type(p, word, type) : rc;
        if (rc == FRZ_OK && type->id == FRZ_TYPE_STRING) {
            *value = (frz_value){.type = type, .as.bytes = text};
        } else if (rc == FRZ_OK) {
            rc = frz_value_parse(arena, type, text, value, p->err);
        }
    }
    if (rc != FRZ_OK) {
        expr_hint_at(p->lexer->source, word->start, p->err);
        goto out;
    }
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
out:
    return rc;
}

/* TRUE, FALSE, NULL: the current token. */
static frz_code parse_constant(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(node_new(p, EXPR_LITERAL, p->lexer->token.start, out));
    bool is_null = frz_lexer_is(p->lexer, "null");
    frz_value *value = &(*out)->value;
    *value = value_of(is_null ? FRZ_TYPE_UNKNOWN : FRZ_TYPE_BOOLEAN);
    value->is_null = is_null;
    value->as.boolean = frz_lexer_is(p->lexer, "true");
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
out:
    return rc;
}

/* A minus before a number is part of the number. False if value is not a number. */
static frz_code negate_literal(expr_parser *p, frz_value *value, bool *done)
{
    *done = true;
    switch (value->type->id) {
    case FRZ_TYPE_INT:
        return integer_value(p, -(frz_i128)value->as.i32, value);
    case FRZ_TYPE_LONG:
        return integer_value(p, -(frz_i128)value->as.i64, value);
    case FRZ_TYPE_DECIMAL:
        if (value->type->scale == 0 && value->as.i128 == -(frz_i128)INT64_MIN) {
            return integer_value(p, INT64_MIN, value);
        }
        value->as.i128 = -value->as.i128;
        return FRZ_OK;
    case FRZ_TYPE_FLOAT:
        value->as.f32 = -value->as.f32;
        return FRZ_OK;
    case FRZ_TYPE_DOUBLE:
        value->as.f64 = -value->as.f64;
        return FRZ_OK;
    default:
        *done = false;
        return FRZ_OK;
    }
}

/* ---- operands ---- */

/* ( expression ) */
static frz_code parse_parenthesised(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
    FRZ_TRY(parse_level(p, LEVEL_OR, out));
    FRZ_TRY(frz_lexer_expect(p->lexer, ")", p->err));
out:
    return rc;
}

/* expression, expression, … ) */
static frz_code parse_list(expr_parser *p, frz_expr *node)
{
    frz_code rc = FRZ_OK;
    bool more = true;
    while (more) {
        frz_expr *arg = NULL;
        FRZ_TRY(parse_level(p, LEVEL_OR, &arg));
        FRZ_TRY(node_add(p, node, arg));
        FRZ_TRY(frz_lexer_accept(p->lexer, ",", &more, p->err));
    }
    FRZ_TRY(frz_lexer_expect(p->lexer, ")", p->err));
out:
    return rc;
}

/* name ( … ): the parenthesis is the current token. */
static frz_code parse_call(expr_parser *p, const frz_token *word, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    bool empty = false;
    FRZ_TRY(node_new(p, EXPR_CALL, word->start, out));
    FRZ_TRY(frz_arena_str(p->lexer->arena, word->text, &(*out)->text, p->err));
    char *name = (char *)(uintptr_t)(*out)->text.ptr; /* the copy just made */
    for (size_t i = 0; i < word->text.len; i++) {
        name[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    }
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
    FRZ_TRY(frz_lexer_accept(p->lexer, ")", &empty, p->err));
    if (empty) {
        goto out;
    }
    if (frz_lexer_is(p->lexer, "distinct")) {
        rc = expr_fail_at(p->lexer->source, p->lexer->token.start, p->err, FRZ_E_UNSUPPORTED,
                          "unsupported: DISTINCT");
        goto out;
    }
    if (at_symbol(p, "*") && frz_str_equal((*out)->text, FRZ_STR("count"))) {
        frz_expr *star = NULL;
        FRZ_TRY(node_new(p, EXPR_STAR, p->lexer->token.start, &star));
        FRZ_TRY(node_add(p, *out, star));
        FRZ_TRY(frz_lexer_next(p->lexer, p->err));
        FRZ_TRY(frz_lexer_expect(p->lexer, ")", p->err));
        goto out;
    }
    FRZ_TRY(parse_list(p, *out));
out:
    return rc;
}

/* CAST ( expression AS type ): the type's text goes to the parenthesis that closes the call. */
static frz_code parse_cast(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    frz_expr *operand = NULL;
    frz_lexer *lexer = p->lexer;
    FRZ_TRY(node_new(p, EXPR_CAST, lexer->token.start, out));
    FRZ_TRY(frz_lexer_next(lexer, p->err));
    FRZ_TRY(frz_lexer_expect(lexer, "(", p->err));
    FRZ_TRY(parse_level(p, LEVEL_OR, &operand));
    FRZ_TRY(node_add(p, *out, operand));
    if (!frz_lexer_is(lexer, "as")) {
        rc = frz_lexer_fail(lexer, lexer->token.start, p->err, "expected AS and a type");
        goto out;
    }
    FRZ_TRY(frz_lexer_next(lexer, p->err));
    size_t start = lexer->token.start;
    size_t end = start;
    for (int open = 0; end < lexer->source.len; end++) {
        char c = lexer->source.ptr[end];
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (open < 0) {
            break;
        }
    }
    frz_str text = {lexer->source.ptr + start, end - start};
    while (text.len > 0 && text.ptr[text.len - 1] == ' ') {
        text.len--;
    }
    if (end == lexer->source.len || text.len == 0) {
        rc = frz_lexer_fail(lexer, start, p->err, "expected a type and )");
        goto out;
    }
    rc = frz_type_parse(lexer->arena, text, &(*out)->type, p->err);
    if (rc != FRZ_OK) {
        expr_hint_at(lexer->source, start, p->err);
        goto out;
    }
    lexer->at = end;
    FRZ_TRY(frz_lexer_next(lexer, p->err));
    FRZ_TRY(frz_lexer_expect(lexer, ")", p->err));
out:
    return rc;
}

/* CASE [operand] WHEN … THEN … [WHEN …] [ELSE …] END */
static frz_code parse_case(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    frz_expr *arg = NULL;
    frz_lexer *lexer = p->lexer;
    bool more = true;
    FRZ_TRY(node_new(p, EXPR_CASE, lexer->token.start, out));
    FRZ_TRY(frz_lexer_next(lexer, p->err));
    (*out)->has_operand = !frz_lexer_is(lexer, "when");
    if ((*out)->has_operand) {
        FRZ_TRY(parse_level(p, LEVEL_OR, &arg));
        FRZ_TRY(node_add(p, *out, arg));
    }
    FRZ_TRY(frz_lexer_expect(lexer, "WHEN", p->err));
    while (more) {
        FRZ_TRY(parse_level(p, LEVEL_OR, &arg));
        FRZ_TRY(node_add(p, *out, arg));
        FRZ_TRY(frz_lexer_expect(lexer, "THEN", p->err));
        FRZ_TRY(parse_level(p, LEVEL_OR, &arg));
        FRZ_TRY(node_add(p, *out, arg));
        FRZ_TRY(frz_lexer_accept(lexer, "when", &more, p->err));
    }
    FRZ_TRY(frz_lexer_accept(lexer, "else", &(*out)->has_else, p->err));
    if ((*out)->has_else) {
        FRZ_TRY(parse_level(p, LEVEL_OR, &arg));
        FRZ_TRY(node_add(p, *out, arg));
    }
    FRZ_TRY(frz_lexer_expect(lexer, "END", p->err));
out:
    return rc;
}

/* What begins with a word: a constant, CASE, CAST, a typed literal, a call or a name. */
static frz_code parse_word(expr_parser *p, frz_expr **out)
{
    frz_lexer *lexer = p->lexer;
    frz_token word = lexer->token;
    if (word.kind == FRZ_TOKEN_NAME && expr_is_reserved(word.text)) {
        if (frz_lexer_is(lexer, "null") || frz_lexer_is(lexer, "true") ||
            frz_lexer_is(lexer, "false")) {
            return parse_constant(p, out);
        }
        if (frz_lexer_is(lexer, "case")) {
            return parse_case(p, out);
        }
        if (frz_lexer_is(lexer, "cast")) {
            return parse_cast(p, out);
        }
        return frz_lexer_fail(lexer, word.start, p->err, "expected an expression");
    }
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_lexer_next(lexer, p->err));
    if (word.kind == FRZ_TOKEN_NAME && lexer->token.kind == FRZ_TOKEN_STRING) {
        return parse_typed_literal(p, &word, out);
    }
    if (word.kind == FRZ_TOKEN_NAME && at_symbol(p, "(")) {
        return parse_call(p, &word, out);
    }
    FRZ_TRY(node_new(p, EXPR_NAME, word.start, out));
    (*out)->text = word.text;
out:
    return rc;
}

static frz_code parse_primary(expr_parser *p, frz_expr **out)
{
    switch (p->lexer->token.kind) {
    case FRZ_TOKEN_NUMBER:
        return parse_number(p, out);
    case FRZ_TOKEN_STRING:
        return parse_string(p, out);
    case FRZ_TOKEN_NAME:
    case FRZ_TOKEN_QUOTED:
        return parse_word(p, out);
    default:
        if (at_symbol(p, "(")) {
            return parse_parenthesised(p, out);
        }
        return frz_lexer_fail(p->lexer, p->lexer->token.start, p->err, "expected an expression");
    }
}

/* primary . name . name … */
static frz_code parse_postfix(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(parse_primary(p, out));
    while (at_symbol(p, ".")) {
        frz_expr *field = NULL;
        FRZ_TRY(frz_lexer_next(p->lexer, p->err));
        frz_token_kind kind = p->lexer->token.kind;
        if (kind != FRZ_TOKEN_NAME && kind != FRZ_TOKEN_QUOTED) {
            rc = frz_lexer_fail(p->lexer, p->lexer->token.start, p->err, "expected a field name");
            goto out;
        }
        FRZ_TRY(node_new(p, EXPR_FIELD, p->lexer->token.start, &field));
        field->text = p->lexer->token.text;
        FRZ_TRY(node_add(p, field, *out));
        FRZ_TRY(frz_lexer_next(p->lexer, p->err));
        *out = field;
    }
out:
    return rc;
}

static frz_code parse_sign(expr_parser *p, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    size_t start = p->lexer->token.start;
    bool minus = at_symbol(p, "-");
    bool done = !minus;
    frz_expr *operand = NULL;
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
    FRZ_TRY(parse_level(p, LEVEL_UNARY, &operand));
    if (minus && operand->kind == EXPR_LITERAL) {
        operand->start = start;
        FRZ_TRY(negate_literal(p, &operand->value, &done));
    }
    if (done) {
        *out = operand;
        goto out;
    }
    FRZ_TRY(node_new(p, EXPR_NEGATE, start, out));
    FRZ_TRY(node_add(p, *out, operand));
out:
    return rc;
}

static frz_code parse_prefix(expr_parser *p, int level, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    if (at_symbol(p, "-") || at_symbol(p, "+")) {
        return parse_sign(p, out);
    }
    if (!frz_lexer_is(p->lexer, "not") || level > LEVEL_NOT) {
        return parse_postfix(p, out);
    }
    frz_expr *operand = NULL;
    FRZ_TRY(node_new(p, EXPR_NOT, p->lexer->token.start, out));
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
    FRZ_TRY(parse_level(p, LEVEL_NOT, &operand));
    FRZ_TRY(node_add(p, *out, operand));
out:
    return rc;
}

/* ---- operators ---- */

typedef struct infix {
    const char *symbol;
    int level;
    expr_kind kind;
    int op;
} infix;

static const infix infixes[] = {
    {"or", LEVEL_OR, EXPR_OR, 0},
    {"and", LEVEL_AND, EXPR_AND, 0},
    {"=", LEVEL_COMPARE, EXPR_COMPARE, EXPR_EQUAL},
    {"<>", LEVEL_COMPARE, EXPR_COMPARE, EXPR_NOT_EQUAL},
    {"!=", LEVEL_COMPARE, EXPR_COMPARE, EXPR_NOT_EQUAL},
    {"<", LEVEL_COMPARE, EXPR_COMPARE, EXPR_LESS},
    {"<=", LEVEL_COMPARE, EXPR_COMPARE, EXPR_LESS_EQUAL},
    {">", LEVEL_COMPARE, EXPR_COMPARE, EXPR_GREATER},
    {">=", LEVEL_COMPARE, EXPR_COMPARE, EXPR_GREATER_EQUAL},
    {"+", LEVEL_SUM, EXPR_ARITHMETIC, EXPR_ADD},
    {"-", LEVEL_SUM, EXPR_ARITHMETIC, EXPR_SUBTRACT},
    {"||", LEVEL_SUM, EXPR_CONCAT, 0},
    {"*", LEVEL_PRODUCT, EXPR_ARITHMETIC, EXPR_MULTIPLY},
    {"/", LEVEL_PRODUCT, EXPR_ARITHMETIC, EXPR_DIVIDE},
    {"%", LEVEL_PRODUCT, EXPR_ARITHMETIC, EXPR_MODULO},
};

static const infix *infix_at(const expr_parser *p)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(infixes); i++) {
        if (frz_lexer_is(p->lexer, infixes[i].symbol)) {
            return &infixes[i];
        }
    }
    return NULL;
}

static frz_code parse_infix(expr_parser *p, const infix *op, frz_expr **left)
{
    frz_code rc = FRZ_OK;
    frz_expr *right = NULL;
    frz_expr *node = *left;
    size_t start = p->lexer->token.start;
    bool chain = op->kind == EXPR_OR || op->kind == EXPR_AND || op->kind == EXPR_CONCAT;
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
    FRZ_TRY(parse_level(p, op->level + 1, &right));
    if (!chain || node->kind != op->kind) {
        FRZ_TRY(node_new(p, op->kind, start, &node));
        node->op = op->op;
        FRZ_TRY(node_add(p, node, *left));
    }
    FRZ_TRY(node_add(p, node, right));
    *left = node;
out:
    return rc;
}

/* IS [NOT] NULL, IS [NOT] NAN: behind IS. */
static frz_code parse_is(expr_parser *p, frz_expr *node)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_lexer_accept(p->lexer, "not", &node->negated, p->err));
    node->kind = EXPR_IS_NULL;
    if (frz_lexer_is(p->lexer, "nan")) {
        node->kind = EXPR_IS_NAN;
    } else if (!frz_lexer_is(p->lexer, "null")) {
        rc = frz_lexer_fail(p->lexer, p->lexer->token.start, p->err, "expected NULL or NAN");
        goto out;
    }
    FRZ_TRY(frz_lexer_next(p->lexer, p->err));
out:
    return rc;
}

static frz_code parse_between(expr_parser *p, frz_expr *node)
{
    frz_code rc = FRZ_OK;
    frz_expr *arg = NULL;
    FRZ_TRY(parse_level(p, LEVEL_SUM, &arg));
    FRZ_TRY(node_add(p, node, arg));
    FRZ_TRY(frz_lexer_expect(p->lexer, "AND", p->err));
    FRZ_TRY(parse_level(p, LEVEL_SUM, &arg));
    FRZ_TRY(node_add(p, node, arg));
out:
    return rc;
}

static frz_code parse_like(expr_parser *p, frz_expr *node)
{
    frz_code rc = FRZ_OK;
    frz_expr *arg = NULL;
    bool escape = false;
    FRZ_TRY(parse_level(p, LEVEL_SUM, &arg));
    FRZ_TRY(node_add(p, node, arg));
    FRZ_TRY(frz_lexer_accept(p->lexer, "escape", &escape, p->err));
    if (escape) {
        FRZ_TRY(parse_level(p, LEVEL_SUM, &arg));
        FRZ_TRY(node_add(p, node, arg));
    }
out:
    return rc;
}

/* [NOT] IN, BETWEEN, LIKE and IS; the word is the current token. */
static frz_code parse_predicate(expr_parser *p, frz_expr **left)
{
    frz_code rc = FRZ_OK;
    frz_expr *node = NULL;
    frz_lexer *lexer = p->lexer;
    bool is = false;
    FRZ_TRY(node_new(p, EXPR_IN, lexer->token.start, &node));
    FRZ_TRY(node_add(p, node, *left));
    FRZ_TRY(frz_lexer_accept(lexer, "is", &is, p->err));
    if (is) {
        FRZ_TRY(parse_is(p, node));
    } else {
        FRZ_TRY(frz_lexer_accept(lexer, "not", &node->negated, p->err));
        bool in = frz_lexer_is(lexer, "in");
        bool between = frz_lexer_is(lexer, "between");
        if (!in && !between && !frz_lexer_is(lexer, "like")) {
            rc = frz_lexer_fail(lexer, lexer->token.start, p->err, "expected IN, BETWEEN or LIKE");
            goto out;
        }
        node->kind = in ? EXPR_IN : between ? EXPR_BETWEEN : EXPR_LIKE;
        FRZ_TRY(frz_lexer_next(lexer, p->err));
        if (in) {
            FRZ_TRY(frz_lexer_expect(lexer, "(", p->err));
        }
        FRZ_TRY(in ? parse_list(p, node) : between ? parse_between(p, node) : parse_like(p, node));
    }
    *left = node;
out:
    return rc;
}

static bool at_predicate(const expr_parser *p)
{
    static const char *const words[] = {"is", "not", "in", "between", "like"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(words); i++) {
        if (frz_lexer_is(p->lexer, words[i])) {
            return true;
        }
    }
    return false;
}

static frz_code parse_level(expr_parser *p, int level, frz_expr **out)
{
    frz_code rc = FRZ_OK;
    frz_expr *left = NULL;
    if (p->depth == NESTING_MAX) {
        return too_deep(p, p->lexer->token.start);
    }
    p->depth++;
    FRZ_TRY(parse_prefix(p, level, &left));
    for (;;) {
        const infix *op = infix_at(p);
        if (op != NULL && op->level >= level) {
            FRZ_TRY(parse_infix(p, op, &left));
        } else if (level <= LEVEL_COMPARE && at_predicate(p)) {
            FRZ_TRY(parse_predicate(p, &left));
        } else {
            break;
        }
    }
    *out = left;
out:
    p->depth--;
    return rc;
}

/* ---- entries ---- */

frz_code frz_expr_parse_from(frz_lexer *lexer, const frz_expr **out, frz_error *err)
{
    expr_parser parser = {.lexer = lexer, .err = err};
    frz_expr *root = NULL;
    frz_code rc = parse_level(&parser, LEVEL_OR, &root);
    if (rc == FRZ_OK) {
        *out = root;
    }
    return rc;
}

frz_code frz_expr_parse(frz_arena *arena, frz_str text, const frz_expr **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_lexer lexer;
    const frz_expr *root = NULL;
    FRZ_TRY(frz_lexer_init(&lexer, arena, text, err));
    FRZ_TRY(frz_expr_parse_from(&lexer, &root, err));
    if (lexer.token.kind != FRZ_TOKEN_END) {
        rc = frz_lexer_fail(&lexer, lexer.token.start, err,
                            "expected an operator or the end of the expression");
        goto out;
    }
    *out = root;
out:
    return rc;
}

frz_aggregate frz_expr_aggregate(const frz_expr *expr, const frz_expr **argument)
{
    static const struct {
        const char *name;
        frz_aggregate aggregate;
    } names[] = {{"count", FRZ_AGGREGATE_COUNT},
                 {"sum", FRZ_AGGREGATE_SUM},
                 {"min", FRZ_AGGREGATE_MIN},
                 {"max", FRZ_AGGREGATE_MAX},
                 {"avg", FRZ_AGGREGATE_AVG}};
    *argument = NULL;
    if (expr->kind != EXPR_CALL || expr->arg_count != 1) {
        return FRZ_AGGREGATE_NONE;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        if (frz_str_equal(expr->text, frz_str_from(names[i].name))) {
            if (expr->args[0]->kind == EXPR_STAR) {
                return FRZ_AGGREGATE_COUNT_ALL;
            }
            *argument = expr->args[0];
            return names[i].aggregate;
        }
    }
    return FRZ_AGGREGATE_NONE;
}
