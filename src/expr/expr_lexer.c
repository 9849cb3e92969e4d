/*
 * The lexer of expressions and statements, and errors that show their place with a caret.
 */
#include <stdio.h>

#include "expr/expr_internal.h"

/* Text around the caret that a hint shows of a long line. */
#define CARET_BEFORE 70
#define CARET_AFTER 40

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c) || c == '$';
}

static bool is_continuation(char c)
{
    return (c & 0xC0) == 0x80;
}

/* ---- carets ---- */

void expr_hint_at(frz_str source, size_t at, frz_error *err)
{
    if (err == NULL || at > source.len) {
        return;
    }
    size_t first = at;
    size_t last = at;
    while (first > 0 && source.ptr[first - 1] != '\n' && at - first < CARET_BEFORE) {
        first--;
    }
    while (last < source.len && source.ptr[last] != '\n' && last - at < CARET_AFTER) {
        last++;
    }
    while (first < at && is_continuation(source.ptr[first])) {
        first++;
    }
    while (last > at && last < source.len && is_continuation(source.ptr[last])) {
        last--;
    }
    char line[CARET_BEFORE + CARET_AFTER + 1];
    char blanks[CARET_BEFORE + 1];
    size_t width = 0;
    for (size_t i = first; i < last; i++) {
        char c = source.ptr[i];
        line[i - first] = is_blank(c) || c == '\0' ? ' ' : c;
        if (i < at && !is_continuation(c)) {
            blanks[width++] = ' ';
        }
    }
    line[last - first] = '\0';
    blanks[width] = '\0';
    frz_hint(err, "%s\n%s^", line, blanks);
}

static void fail_at_va(frz_str source, size_t at, frz_error *err, frz_code code, const char *fmt,
                       va_list args)
{
    char message[sizeof err->message];
    vsnprintf(message, sizeof message, fmt, args);
    frz_fail(err, code, "%s", message);
    expr_hint_at(source, at, err);
}

frz_code expr_fail_at(frz_str source, size_t at, frz_error *err, frz_code code, const char *fmt,
                      ...)
{
    va_list args;
    va_start(args, fmt);
    fail_at_va(source, at, err, code, fmt, args);
    va_end(args);
    return code;
}

/* A message that starts with "expected" and stands at the current token says what was found. */
frz_code frz_lexer_fail(const frz_lexer *lexer, size_t start, frz_error *err, const char *fmt, ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    bool wants_found = len > 0 && (size_t)len < sizeof message && start == lexer->token.start &&
                       strncmp(message, "expected", 8) == 0;
    if (wants_found && lexer->token.kind == FRZ_TOKEN_END) {
        snprintf(message + len, sizeof message - (size_t)len, ", found the end of the text");
    } else if (wants_found) {
        size_t width = FRZ_MIN(lexer->token.end - start, (size_t)60);
        while (width > 0 && start + width < lexer->source.len &&
               is_continuation(lexer->source.ptr[start + width])) {
            width--;
        }
        snprintf(message + len, sizeof message - (size_t)len, ", found %.*s", (int)width,
                 lexer->source.ptr + start);
    }
    return expr_fail_at(lexer->source, start, err, FRZ_E_ARGUMENT, "%s", message);
}

/* ---- tokens ---- */

static char lexer_peek(const frz_lexer *lexer, size_t ahead)
{
    size_t at = lexer->at + ahead;
    return at < lexer->source.len ? lexer->source.ptr[at] : '\0';
}

/* Blanks, "-- to the end of the line" and block comments. */
static frz_code skip_blanks(frz_lexer *lexer, frz_error *err)
{
    frz_str s = lexer->source;
    while (lexer->at < s.len) {
        if (is_blank(s.ptr[lexer->at])) {
            lexer->at++;
        } else if (lexer_peek(lexer, 0) == '-' && lexer_peek(lexer, 1) == '-') {
            while (lexer->at < s.len && s.ptr[lexer->at] != '\n') {
                lexer->at++;
            }
        } else if (lexer_peek(lexer, 0) == '/' && lexer_peek(lexer, 1) == '*') {
            size_t start = lexer->at;
            lexer->at += 2;
            while (lexer->at + 1 < s.len &&
                   (s.ptr[lexer->at] != '*' || s.ptr[lexer->at + 1] != '/')) {
                lexer->at++;
            }
            if (lexer->at + 1 >= s.len) {
                return expr_fail_at(s, start, err, FRZ_E_ARGUMENT, "this comment has no end");
            }
            lexer->at += 2;
        } else {
            break;
        }
    }
    return FRZ_OK;
}

/* 'text', "name" or `name`; the quote doubled stands for itself. */
static frz_code lex_quoted(frz_lexer *lexer, char quote, frz_error *err)
{
    frz_str s = lexer->source;
    size_t start = lexer->at;
    size_t doubled = 0;
    size_t i = start + 1;
    for (; i < s.len; i++) {
        if (s.ptr[i] != quote) {
            continue;
        }
        if (i + 1 >= s.len || s.ptr[i + 1] != quote) {
            break;
        }
        doubled++;
        i++;
    }
    if (i >= s.len) {
        return expr_fail_at(s, start, err, FRZ_E_ARGUMENT, "this %s has no closing %c",
                            quote == '\'' ? "string" : "name", quote);
    }
    frz_token *token = &lexer->token;
    token->kind = quote == '\'' ? FRZ_TOKEN_STRING : FRZ_TOKEN_QUOTED;
    token->text = (frz_str){s.ptr + start + 1, i - start - 1};
    lexer->at = i + 1;
    if (token->kind == FRZ_TOKEN_QUOTED && token->text.len == 0) {
        return expr_fail_at(s, start, err, FRZ_E_ARGUMENT, "a name must not be empty");
    }
    if (doubled == 0) {
        return FRZ_OK;
    }
    char *text = frz_arena_alloc(lexer->arena, token->text.len - doubled + 1);
    if (text == NULL) {
        return frz_fail_nomem(err, token->text.len - doubled + 1);
    }
    size_t len = 0;
    for (size_t j = 0; j < token->text.len; j++) {
        text[len++] = token->text.ptr[j];
        j += token->text.ptr[j] == quote; /* the second of a pair */
    }
    token->text = (frz_str){text, len};
    return FRZ_OK;
}

static void skip_digits(frz_lexer *lexer)
{
    while (is_digit(lexer_peek(lexer, 0))) {
        lexer->at++;
    }
}

/* 12, 1.5, .5, 1e3, 1.5E-3 */
static frz_code lex_number(frz_lexer *lexer, frz_error *err)
{
    size_t start = lexer->at;
    skip_digits(lexer);
    if (lexer_peek(lexer, 0) == '.') {
        lexer->at++;
        skip_digits(lexer);
    }
    char c = lexer_peek(lexer, 0);
    if (c == 'e' || c == 'E') {
        lexer->at++;
        if (lexer_peek(lexer, 0) == '+' || lexer_peek(lexer, 0) == '-') {
            lexer->at++;
        }
        if (!is_digit(lexer_peek(lexer, 0))) {
            return expr_fail_at(lexer->source, start, err, FRZ_E_ARGUMENT,
                                "this number has no digits after its e");
        }
        skip_digits(lexer);
    }
    if (is_name_part(lexer_peek(lexer, 0))) {
        return expr_fail_at(lexer->source, start, err, FRZ_E_ARGUMENT,
                            "a number runs into a name; names that start with a digit are quoted");
    }
    lexer->token.kind = FRZ_TOKEN_NUMBER;
    lexer->token.text = (frz_str){lexer->source.ptr + start, lexer->at - start};
    return FRZ_OK;
}

static frz_code lex_symbol(frz_lexer *lexer, frz_error *err)
{
    static const char *const pairs[] = {"<>", "!=", "<=", ">=", "||"};
    frz_str rest = {lexer->source.ptr + lexer->at, lexer->source.len - lexer->at};
    size_t len = rest.ptr[0] != '\0' && strchr("+-*/%=<>(),.;[]", rest.ptr[0]) != NULL ? 1 : 0;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(pairs); i++) {
        if (frz_str_starts_with(rest, frz_str_from(pairs[i]))) {
            len = 2;
        }
    }
    if (len == 0) {
        unsigned byte = (uint8_t)rest.ptr[0];
        return byte >= 0x20 && byte < 0x7F
                   ? expr_fail_at(lexer->source, lexer->at, err, FRZ_E_ARGUMENT,
                                  "unexpected character %c", rest.ptr[0])
                   : expr_fail_at(lexer->source, lexer->at, err, FRZ_E_ARGUMENT,
                                  "unexpected byte 0x%02x", byte);
    }
    lexer->token.kind = FRZ_TOKEN_SYMBOL;
    lexer->token.text = (frz_str){rest.ptr, len};
    lexer->at += len;
    return FRZ_OK;
}

static frz_code lex_token(frz_lexer *lexer, frz_error *err)
{
    char c = lexer_peek(lexer, 0);
    if (lexer->at >= lexer->source.len) {
        lexer->token.kind = FRZ_TOKEN_END;
        lexer->token.text = (frz_str){0};
        return FRZ_OK;
    }
    if (c == '\'' || c == '"' || c == '`') {
        return lex_quoted(lexer, c, err);
    }
    if (is_digit(c) || (c == '.' && is_digit(lexer_peek(lexer, 1)))) {
        return lex_number(lexer, err);
    }
    if (!is_name_start(c)) {
        return lex_symbol(lexer, err);
    }
    size_t start = lexer->at;
    while (lexer->at < lexer->source.len && is_name_part(lexer->source.ptr[lexer->at])) {
        lexer->at++;
    }
    lexer->token.kind = FRZ_TOKEN_NAME;
    lexer->token.text = (frz_str){lexer->source.ptr + start, lexer->at - start};
    return FRZ_OK;
}

frz_code frz_lexer_next(frz_lexer *lexer, frz_error *err)
{
    frz_code rc = skip_blanks(lexer, err);
    if (rc == FRZ_OK) {
        lexer->token.start = lexer->at;
        rc = lex_token(lexer, err);
        lexer->token.end = lexer->at;
    }
    return rc;
}

frz_code frz_lexer_init(frz_lexer *lexer, frz_arena *arena, frz_str source, frz_error *err)
{
    *lexer = (frz_lexer){.arena = arena};
    if (!frz_utf8_valid(source)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the text is not valid UTF-8");
    }
    frz_code rc = frz_arena_str(arena, source, &lexer->source, err);
    return rc == FRZ_OK ? frz_lexer_next(lexer, err) : rc;
}

bool frz_lexer_is(const frz_lexer *lexer, const char *word)
{
    const frz_token *token = &lexer->token;
    return (token->kind == FRZ_TOKEN_NAME || token->kind == FRZ_TOKEN_SYMBOL) &&
           frz_str_equal_nocase(token->text, frz_str_from(word));
}

frz_code frz_lexer_accept(frz_lexer *lexer, const char *word, bool *accepted, frz_error *err)
{
    *accepted = frz_lexer_is(lexer, word);
    return *accepted ? frz_lexer_next(lexer, err) : FRZ_OK;
}

frz_code frz_lexer_expect(frz_lexer *lexer, const char *word, frz_error *err)
{
    if (!frz_lexer_is(lexer, word)) {
        return frz_lexer_fail(lexer, lexer->token.start, err, "expected %s", word);
    }
    return frz_lexer_next(lexer, err);
}
