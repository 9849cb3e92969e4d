/*
 * A network of its own for programs that link this in place of io_http.c: requests are answered in
 * turn from bytes. Answers end at a NUL byte or at the end; each is a status of three digits and
 * the body. When they run out, nothing is found any more.
 */
#ifndef FRZ_FUZZ_HTTP_H
#define FRZ_FUZZ_HTTP_H

#include "io/io_http.h"

#define FUZZ_STATUS_DIGITS 3

/* Of the program's only network. */
static struct {
    const uint8_t *data;
    size_t size, at;
    size_t requests;
} fuzz_answers;

struct frz_http {
    const frz_env *env;
};

static inline void fuzz_answers_set(const void *data, size_t size)
{
    fuzz_answers.data = data;
    fuzz_answers.size = size;
    fuzz_answers.at = 0;
    fuzz_answers.requests = 0;
}

/* The next answer; ptr NULL: there is none left. */
static inline frz_str fuzz_answer_next(void)
{
    if (fuzz_answers.at >= fuzz_answers.size) {
        return (frz_str){NULL, 0};
    }
    const char *from = (const char *)fuzz_answers.data + fuzz_answers.at;
    size_t left = fuzz_answers.size - fuzz_answers.at;
    const char *end = memchr(from, '\0', left);
    size_t len = end == NULL ? left : (size_t)(end - from);
    fuzz_answers.at += len + 1;
    return (frz_str){from, len};
}

frz_code frz_http_open(const frz_env *env, const frz_http_options *opts, frz_http **out,
                       frz_error *err)
{
    (void)opts;
    *out = frz_alloc_zero(env, 1, sizeof **out);
    if (*out == NULL) {
        return frz_fail_nomem(err, sizeof **out);
    }
    (*out)->env = env;
    return FRZ_OK;
}

void frz_http_close(frz_http *http)
{
    if (http != NULL) {
        frz_free(http->env, http);
    }
}

frz_code frz_http_send(frz_http *http, const frz_http_request *request, frz_http_answer *answer,
                       bool *sent, frz_error *err)
{
    frz_str text = fuzz_answer_next();
    int64_t status = 404;
    *answer = (frz_http_answer){.content_type = "application/json", .retry_after_ms = -1};
    answer->body = (frz_buf)FRZ_BUF_INIT(http->env, request->max_answer);
    *sent = true;
    fuzz_answers.requests++;
    if (text.len >= FUZZ_STATUS_DIGITS &&
        frz_str_to_i64((frz_str){text.ptr, FUZZ_STATUS_DIGITS}, &status)) {
        text = (frz_str){text.ptr + FUZZ_STATUS_DIGITS, text.len - FUZZ_STATUS_DIGITS};
    }
    answer->status = (int)status;
    return frz_buf_append(&answer->body, text.ptr, text.len, err);
}

#endif
