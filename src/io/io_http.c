/*
 * HTTP through libcurl's easy interface. The answer's body goes into a bounded buffer, the few
 * headers that matter are picked out as they come.
 */
#include "io/io_http.h"

#include "frazil/version.h"

#include <curl/curl.h>
#include <stdlib.h>

#define CONNECT_MS 10000
#define TOTAL_MS 60000

/* In the order of the symbols below. */
typedef struct curl_functions {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_easy_init) *init;
    __typeof__(curl_easy_cleanup) *cleanup;
    __typeof__(curl_easy_reset) *reset;
    CURLcode (*setopt)(CURL *handle, CURLoption option, ...);
    __typeof__(curl_easy_perform) *perform;
    CURLcode (*getinfo)(CURL *handle, CURLINFO info, ...);
    __typeof__(curl_easy_strerror) *strerror;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
    __typeof__(curl_getdate) *getdate;
} curl_functions;

static const char *const curl_symbols[] = {
    "curl_global_init",  "curl_easy_init",      "curl_easy_cleanup", "curl_easy_reset",
    "curl_easy_setopt",  "curl_easy_perform",   "curl_easy_getinfo", "curl_easy_strerror",
    "curl_slist_append", "curl_slist_free_all", "curl_getdate"};

_Static_assert(sizeof(curl_functions) == FRZ_ARRAY_COUNT(curl_symbols) * sizeof(void *),
               "one symbol for each function");

static const frz_library libcurl = {"libcurl.so.4", "libcurl4", "a server on the network",
                                    curl_symbols, FRZ_ARRAY_COUNT(curl_symbols)};

struct frz_http {
    const frz_env *env;
    curl_functions curl;
    CURL *handle;
    frz_http_options opts;
    char *ca_file;
};

/* What the callbacks of one request fill in. */
typedef struct exchange {
    frz_http *http;
    frz_http_answer *answer;
    frz_error *err;
    frz_code rc; /* of a callback that failed */
} exchange;

/* ---- the answer ---- */

static size_t take_body(char *bytes, size_t one, size_t count, void *ctx)
{
    (void)one; /* always 1 */
    exchange *e = ctx;
    e->rc = frz_buf_append(&e->answer->body, bytes, count, e->err);
    return e->rc == FRZ_OK ? count : 0;
}

/* The value of a header line if it has this name; ptr NULL: another one. */
static frz_str header_value(frz_str line, const char *name)
{
    size_t len = strlen(name);
    if (line.len <= len || line.ptr[len] != ':' || strncasecmp(line.ptr, name, len) != 0) {
        return (frz_str){NULL, 0};
    }
    frz_str value = {line.ptr + len + 1, line.len - len - 1};
    while (value.len > 0 && strchr(" \t\r\n", value.ptr[value.len - 1]) != NULL) {
        value.len--;
    }
    while (value.len > 0 && (value.ptr[0] == ' ' || value.ptr[0] == '\t')) {
        value.ptr++;
        value.len--;
    }
    return value;
}

static void take_content_type(frz_str value, frz_http_answer *answer)
{
    size_t len = 0;
    while (len < value.len && value.ptr[len] != ';') {
        len++;
    }
    snprintf(answer->content_type, sizeof answer->content_type, "%.*s", (int)FRZ_MIN(len, 63),
             value.ptr);
}

/* Seconds, or a date. */
static void take_retry_after(const frz_http *http, frz_str value, frz_http_answer *answer)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)FRZ_MIN(value.len, 63), value.ptr);
    char *end = text;
    long seconds = strtol(text, &end, 10);
    if (*end != '\0' || end == text) {
        time_t date = http->curl.getdate(text, NULL);
        if (date == -1) {
            return;
        }
        seconds = (long)(date - (time_t)(frz_now_ms(http->env) / 1000));
    }
    answer->retry_after_ms = (int64_t)FRZ_MIN(FRZ_MAX(seconds, 0), 86400) * 1000;
}

static size_t take_header(char *bytes, size_t one, size_t count, void *ctx)
{
    exchange *e = ctx;
    frz_str line = {bytes, one * count};
    frz_str value = header_value(line, "content-type");
    if (value.ptr != NULL) {
        take_content_type(value, e->answer);
    }
    value = header_value(line, "retry-after");
    if (value.ptr != NULL) {
        take_retry_after(e->http, value, e->answer);
    }
    return count;
}

/* ---- requests ---- */

static frz_code make_headers(frz_http *http, const frz_http_request *request,
                             struct curl_slist **out, frz_error *err)
{
    for (size_t i = 0; i < request->header_count; i++) {
        struct curl_slist *longer = http->curl.slist_append(*out, request->headers[i]);
        if (longer == NULL) {
            return frz_fail_nomem(err, strlen(request->headers[i]));
        }
        *out = longer;
    }
    return FRZ_OK;
}

static void set_options(frz_http *http, const frz_http_request *request, exchange *e,
                        struct curl_slist *headers)
{
    CURL *h = http->handle;
    curl_functions *curl = &http->curl;
    curl->reset(h);
    curl->setopt(h, CURLOPT_URL, request->url);
    curl->setopt(h, CURLOPT_CUSTOMREQUEST, request->method);
    curl->setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl->setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)http->opts.connect_ms);
    curl->setopt(h, CURLOPT_TIMEOUT_MS, (long)http->opts.total_ms);
    curl->setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    curl->setopt(h, CURLOPT_USERAGENT, "frazil/" FRZ_VERSION_STRING);
    curl->setopt(h, CURLOPT_HTTPHEADER, headers);
    curl->setopt(h, CURLOPT_HEADERFUNCTION, take_header);
    curl->setopt(h, CURLOPT_HEADERDATA, e);
    curl->setopt(h, CURLOPT_WRITEFUNCTION, take_body);
    curl->setopt(h, CURLOPT_WRITEDATA, e);
    if (http->ca_file != NULL) {
        curl->setopt(h, CURLOPT_CAINFO, http->ca_file);
    }
    if (request->body != NULL) {
        curl->setopt(h, CURLOPT_POSTFIELDS, request->body->ptr);
        curl->setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body->len);
    }
}

static frz_code fail_send(const frz_http *http, const frz_http_request *request, CURLcode code,
                          frz_error *err)
{
    char shown[256];
    frz_http_shown(request->url, shown, sizeof shown);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return frz_fail(err, FRZ_E_IO, "%s %s: no answer within the time limit of %lld s",
                        request->method, shown, (long long)(http->opts.total_ms / 1000));
    }
    if (code == CURLE_OUT_OF_MEMORY) {
        return frz_fail_nomem(err, 0);
    }
    return frz_fail(err, FRZ_E_IO, "%s %s: %s", request->method, shown, http->curl.strerror(code));
}

frz_code frz_http_send(frz_http *http, const frz_http_request *request, frz_http_answer *answer,
                       bool *sent, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct curl_slist *headers = NULL;
    long status = 0, uploaded = 0;
    exchange e = {http, answer, err, FRZ_OK};
    *answer = (frz_http_answer){.retry_after_ms = -1};
    answer->body = (frz_buf)FRZ_BUF_INIT(http->env, request->max_answer);
    *sent = false;
    FRZ_TRY(make_headers(http, request, &headers, err));
    set_options(http, request, &e, headers);
    CURLcode code = http->curl.perform(http->handle);
    http->curl.getinfo(http->handle, CURLINFO_RESPONSE_CODE, &status);
    http->curl.getinfo(http->handle, CURLINFO_REQUEST_SIZE, &uploaded);
    *sent = uploaded > 0;
    answer->status = (int)status;
    if (code != CURLE_OK) {
        rc = e.rc != FRZ_OK ? e.rc : fail_send(http, request, code, err);
    }
out:
    http->curl.slist_free_all(headers);
    if (rc != FRZ_OK) {
        frz_http_answer_reset(answer);
    }
    return rc;
}

/* ---- clients ---- */

frz_code frz_http_open(const frz_env *env, const frz_http_options *opts, frz_http **out,
                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_http *http = frz_alloc_zero(env, 1, sizeof *http);
    if (http == NULL) {
        return frz_fail_nomem(err, sizeof *http);
    }
    http->env = env;
    http->opts.connect_ms = opts->connect_ms > 0 ? opts->connect_ms : CONNECT_MS;
    http->opts.total_ms = opts->total_ms > 0 ? opts->total_ms : TOTAL_MS;
    FRZ_TRY(frz_library_load(&libcurl, &http->curl, err));
    if (opts->ca_file != NULL) {
        http->ca_file = frz_strdup(env, frz_str_from(opts->ca_file));
        FRZ_TRY(http->ca_file == NULL ? frz_fail_nomem(err, strlen(opts->ca_file)) : FRZ_OK);
    }
    /* safe from several threads since libcurl 7.84, and counted */
    bool ready = http->curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    http->handle = ready ? http->curl.init() : NULL;
    FRZ_TRY(http->handle == NULL ? frz_fail_nomem(err, 0) : FRZ_OK);
    *out = http;
    http = NULL;
out:
    frz_http_close(http);
    return rc;
}

void frz_http_close(frz_http *http)
{
    if (http == NULL) {
        return;
    }
    if (http->handle != NULL) {
        http->curl.cleanup(http->handle);
    }
    frz_free(http->env, http->ca_file);
    frz_free(http->env, http);
}
