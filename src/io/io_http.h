/*
 * io: requests over HTTP, with libcurl behind it, which is loaded on first use.
 */
#ifndef FRZ_IO_HTTP_H
#define FRZ_IO_HTTP_H

#include "base/base.h"

/* One client keeps its connections. Used by one thread at a time. */
typedef struct frz_http frz_http;

typedef struct frz_http_options {
    int64_t connect_ms;  /* to be connected; 0: 10 s */
    int64_t total_ms;    /* for one request, the answer included; 0: 60 s */
    const char *ca_file; /* certificates to trust; NULL: the system's */
} frz_http_options;

typedef struct frz_http_request {
    const char *method; /* "GET" */
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const frz_str *body; /* NULL: none */
    size_t max_answer;   /* bytes of the answer's body; more is FRZ_E_LIMIT */
} frz_http_request;

typedef struct frz_http_answer {
    int status;
    char content_type[64];  /* without parameters; empty: none */
    int64_t retry_after_ms; /* -1: not told */
    frz_buf body;
} frz_http_answer;

frz_code frz_http_open(const frz_env *env, const frz_http_options *opts, frz_http **out,
                       frz_error *err);
void frz_http_close(frz_http *http); /* NULL is fine */

/* Any status is an answer. FRZ_E_IO: there was none, *sent tells whether the server may have seen
 * the request. Redirects are not followed. Messages name the url without user, password and query.
 */
frz_code frz_http_send(frz_http *http, const frz_http_request *request, frz_http_answer *answer,
                       bool *sent, frz_error *err);
void frz_http_answer_reset(frz_http_answer *answer);

/* The part of a url that may be shown. */
frz_str frz_http_shown(const char *url, char *text, size_t size);

/* Append a text so that it may stand in a path or a form: all but letters, digits and -._~ as %XX.
 */
frz_code frz_http_escape(frz_buf *out, frz_str text, frz_error *err);

#endif
