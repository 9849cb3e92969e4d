/*
 * JSON: a strict reader by recursive descent. It makes values only through functions of the JSON
 * library that report when memory is short.
 */
#include "base/base_json.h"

#include <math.h>
#include <stdio.h>

typedef struct json_reader {
    const frz_env *env;
    const char *start, *at, *end;
    frz_error *err;
} json_reader;

/* A string's text: a view of the source, or unescaped in memory of its own. */
typedef struct json_text {
    frz_str view;
    char *own;
} json_text;

/* ---- errors ---- */

static frz_code no_memory(const json_reader *r)
{
    return frz_fail_nomem(r->err, sizeof(json_t));
}

/* Lines and columns count from 1, columns in code points. */
static frz_code expected_not(const json_reader *r, const char *at, const char *expected,
                             const char *found)
{
    size_t line = 1, column = 1;
    for (const char *p = r->start; p < at; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            column++;
        }
    }
    return frz_fail_at(r->err, FRZ_E_CORRUPT, (uint64_t)(at - r->start),
                       "line %zu, column %zu: expected %s, found %s", line, column, expected,
                       found);
}

static frz_code expected(const json_reader *r, const char *what)
{
    char found[32] = "the end of the text";
    if (r->at < r->end) {
        unsigned char c = (unsigned char)*r->at;
        snprintf(found, sizeof found, c > 0x20 && c < 0x7F ? "'%c'" : "byte 0x%02x", c);
    }
    return expected_not(r, r->at, what, found);
}

/* ---- tokens ---- */

static void skip_space(json_reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) {
        r->at++;
    }
}

static bool take(json_reader *r, char c)
{
    bool taken = r->at < r->end && *r->at == c;
    r->at += taken;
    return taken;
}

/* A character of the structure, with space around it. */
static bool take_mark(json_reader *r, char c)
{
    skip_space(r);
    bool taken = take(r, c);
    skip_space(r);
    return taken;
}

static bool take_digits(json_reader *r)
{
    const char *first = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return r->at > first;
}

/* ---- strings ---- */

/* The bytes between the quotes. */
static frz_code scan_string(json_reader *r, frz_str *raw, bool *escaped)
{
    const char *first = r->at + 1;
    if (!take(r, '"')) {
        return expected(r, "a string");
    }
    *escaped = false;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20) {
            return expected(r, "a string without control characters");
        }
        if (*r->at == '\\') {
            *escaped = true;
            r->at++;
        }
        r->at += r->at < r->end; /* what an escape is made of is looked at later */
    }
    *raw = (frz_str){first, (size_t)(r->at - first)};
    if (!take(r, '"')) {
        return expected(r, "a '\"' that ends the string");
    }
    return frz_utf8_valid(*raw) ? FRZ_OK
                                : expected_not(r, first, "a string in UTF-8", "bytes that are not");
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;
    if (end - p < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, int32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(lead[more] | (point >> (6 * more)));
    while (more-- > 0) {
        *to++ = (char)(0x80 | ((point >> (6 * more)) & 0x3F));
    }
    return to;
}

/* from stands behind \u; the second half of a pair is taken with the first. */
static frz_code unescape_unicode(const json_reader *r, const char **from, const char *end,
                                 char **to)
{
    const char *escape = *from - 2;
    int32_t point = hex4(*from, end);
    if (point < 0) {
        return expected_not(r, escape, "four hexadecimal digits after \\u", "something else");
    }
    *from += 4;
    if (point == 0) {
        return expected_not(r, escape, "a string without NUL", "\\u0000");
    }
    if (point >= 0xD800 && point < 0xE000) {
        bool paired = point < 0xDC00 && end - *from >= 6 && (*from)[0] == '\\' && (*from)[1] == 'u';
        int32_t low = paired ? hex4(*from + 2, end) : -1;
        if (low < 0xDC00 || low >= 0xE000) {
            return expected_not(r, escape, "a pair of surrogates", "one half");
        }
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        *from += 6;
    }
    *to = put_utf8(*to, point);
    return FRZ_OK;
}

/* An escape is never shorter than what it stands for. */
static frz_code unescape(const json_reader *r, frz_str raw, char *own, size_t *len)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    frz_code rc = FRZ_OK;
    const char *from = raw.ptr, *end = raw.ptr + raw.len;
    char *to = own;
    while (from < end) {
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        const char *name = memchr(names, from[1], sizeof names - 1);
        from += 2;
        if (name != NULL) {
            *to++ = bytes[name - names];
        } else if (from[-1] == 'u') {
            FRZ_TRY(unescape_unicode(r, &from, end, &to));
        } else {
            return expected_not(r, from - 2, "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
                                "another escape");
        }
    }
    *len = (size_t)(to - own);
out:
    return rc;
}

static frz_code read_text(json_reader *r, json_text *out)
{
    frz_code rc = FRZ_OK;
    json_text text = {0};
    bool escaped = false;
    FRZ_TRY(scan_string(r, &text.view, &escaped));
    if (escaped) {
        size_t len = 0;
        text.own = frz_alloc(r->env, text.view.len);
        FRZ_TRY(text.own == NULL ? frz_fail_nomem(r->err, text.view.len) : FRZ_OK);
        FRZ_TRY(unescape(r, text.view, text.own, &len));
        text.view = (frz_str){text.own, len};
    }
    *out = text;
    text.own = NULL;
out:
    frz_free(r->env, text.own);
    return rc;
}

static frz_code made_or_no_memory(const json_reader *r, json_t *made, json_t **out)
{
    *out = made;
    return made == NULL ? no_memory(r) : FRZ_OK;
}

static frz_code read_string(json_reader *r, json_t **out)
{
    json_text text;
    frz_code rc = read_text(r, &text);
    if (rc == FRZ_OK) {
        rc = made_or_no_memory(r, json_stringn_nocheck(text.view.ptr, text.view.len), out);
        frz_free(r->env, text.own);
    }
    return rc;
}

/* ---- numbers and names ---- */

static frz_code number_out_of_range(const json_reader *r, frz_str text, const char *what)
{
    char found[48];
    snprintf(found, sizeof found, "%.*s%s", (int)FRZ_MIN(text.len, 40), text.ptr,
             text.len > 40 ? "..." : "");
    return expected_not(r, text.ptr, what, found);
}

static frz_code read_number(json_reader *r, json_t **out)
{
    frz_str text = {r->at, 0};
    int64_t whole;
    double real;
    (void)take(r, '-');
    if (!take(r, '0') && !take_digits(r)) {
        return expected(r, "a digit");
    }
    bool is_real = take(r, '.');
    if (is_real && !take_digits(r)) {
        return expected(r, "a digit after the point");
    }
    if (take(r, 'e') || take(r, 'E')) {
        is_real = true;
        (void)(take(r, '-') || take(r, '+'));
        if (!take_digits(r)) {
            return expected(r, "a digit of the exponent");
        }
    }
    text.len = (size_t)(r->at - text.ptr);
    if (is_real) {
        return frz_str_to_double(text, &real) && isfinite(real)
                   ? made_or_no_memory(r, json_real(real), out)
                   : number_out_of_range(r, text, "a number that a double can hold");
    }
    return frz_str_to_i64(text, &whole) ? made_or_no_memory(r, json_integer(whole), out)
                                        : number_out_of_range(r, text, "an integer of 64 bits");
}

static frz_code read_name(json_reader *r, const char *name, json_t *value, json_t **out)
{
    for (const char *p = name; *p != '\0'; p++) {
        if (!take(r, *p)) {
            return expected(r, name);
        }
    }
    *out = value;
    return FRZ_OK;
}

/* ---- lists and objects ---- */

static frz_code read_value(json_reader *r, int depth, json_t **out);

static frz_code read_array(json_reader *r, int depth, json_t **out)
{
    frz_code rc = FRZ_OK;
    json_t *item = NULL;
    json_t *made = json_array();
    FRZ_TRY(made == NULL ? no_memory(r) : FRZ_OK);
    (void)take_mark(r, '[');
    if (!take(r, ']')) {
        do {
            FRZ_TRY(read_value(r, depth, &item));
            FRZ_TRY(json_array_append_new(made, item) == 0 ? FRZ_OK : no_memory(r));
        } while (take_mark(r, ','));
        FRZ_TRY(take(r, ']') ? FRZ_OK : expected(r, "',' or ']'"));
    }
    *out = made;
    made = NULL;
out:
    json_decref(made);
    return rc;
}

static frz_code read_member(json_reader *r, int depth, json_t *object)
{
    frz_code rc = FRZ_OK;
    json_text key = {0};
    json_t *value = NULL;
    const char *at = r->at;
    FRZ_TRY(read_text(r, &key));
    if (json_object_getn(object, key.view.ptr, key.view.len) != NULL) {
        FRZ_TRY(expected_not(r, at, "each key once", "one of them again"));
    }
    FRZ_TRY(take_mark(r, ':') ? FRZ_OK : expected(r, "':'"));
    FRZ_TRY(read_value(r, depth, &value));
    if (json_object_setn_new_nocheck(object, key.view.ptr, key.view.len, value) != 0) {
        rc = no_memory(r);
    }
out:
    frz_free(r->env, key.own);
    return rc;
}

static frz_code read_object(json_reader *r, int depth, json_t **out)
{
    frz_code rc = FRZ_OK;
    json_t *made = json_object();
    FRZ_TRY(made == NULL ? no_memory(r) : FRZ_OK);
    (void)take_mark(r, '{');
    if (!take(r, '}')) {
        do {
            FRZ_TRY(read_member(r, depth, made));
        } while (take_mark(r, ','));
        FRZ_TRY(take(r, '}') ? FRZ_OK : expected(r, "',' or '}'"));
    }
    *out = made;
    made = NULL;
out:
    json_decref(made);
    return rc;
}

/* depth: lists and objects around the value. */
static frz_code read_value(json_reader *r, int depth, json_t **out)
{
    char c = r->at < r->end ? *r->at : '\0';
    if ((c == '[' || c == '{') && depth >= FRZ_JSON_MAX_DEPTH) {
        char most[48];
        snprintf(most, sizeof most, "at most %d levels of nesting", FRZ_JSON_MAX_DEPTH);
        return expected_not(r, r->at, most, "more");
    }
    switch (c) {
    case '{':
        return read_object(r, depth + 1, out);
    case '[':
        return read_array(r, depth + 1, out);
    case '"':
        return read_string(r, out);
    case 't':
        return read_name(r, "true", json_true(), out);
    case 'f':
        return read_name(r, "false", json_false(), out);
    case 'n':
        return read_name(r, "null", json_null(), out);
    default:
        return c == '-' || (c >= '0' && c <= '9') ? read_number(r, out) : expected(r, "a value");
    }
}

frz_code frz_json_parse(const frz_env *env, frz_str text, json_t **out, frz_error *err)
{
    const char *start = text.ptr == NULL ? "" : text.ptr;
    json_reader r = {env, start, start, start + text.len, err};
    json_t *made = NULL;
    skip_space(&r);
    frz_code rc = read_value(&r, 0, &made);
    skip_space(&r);
    if (rc == FRZ_OK && r.at < r.end) {
        rc = expected(&r, "the end of the text");
        json_decref(made);
    }
    if (rc == FRZ_OK) {
        *out = made;
    }
    return rc;
}

/* ---- text of values ---- */

typedef struct dump_sink {
    frz_buf *out;
    frz_error *err;
    frz_code rc;
} dump_sink;

/* jansson does not look at every result, so a failure must last. */
static int dump_bytes(const char *bytes, size_t len, void *ctx)
{
    dump_sink *sink = ctx;
    if (sink->rc == FRZ_OK) {
        sink->rc = frz_buf_append(sink->out, bytes, len, sink->err);
    }
    return sink->rc == FRZ_OK ? 0 : -1;
}

frz_code frz_json_dump(const json_t *json, frz_buf *out, frz_error *err)
{
    dump_sink sink = {.out = out, .err = err};
    if (json_dump_callback(json, dump_bytes, &sink, JSON_COMPACT) != 0 && sink.rc == FRZ_OK) {
        sink.rc = frz_fail_nomem(err, sizeof(json_t));
    }
    return sink.rc;
}

/* ---- copies ---- */

/* The library's copy leaves out members that it has no memory for, and says nothing. */
frz_code frz_json_copy(const json_t *value, json_t **out, frz_error *err)
{
    json_t *made = json_copy((json_t *)(uintptr_t)value);
    if (made == NULL || json_array_size(made) != json_array_size(value) ||
        json_object_size(made) != json_object_size(value)) {
        json_decref(made);
        return frz_fail_nomem(err, sizeof(json_t));
    }
    *out = made;
    return FRZ_OK;
}
