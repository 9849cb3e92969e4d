/*
 * Requests to a REST catalog.
 *
 * Invariants:
 *  1. A request ends within the time limit, retries and waits included.
 *  2. Only requests that change nothing are sent again; those for a token as well.
 *  3. An answer is a JSON object of the status expected, or an error that says what came instead.
 *  4. Neither messages nor the log hold a token or a credential.
 */
#include <strings.h>

#include "catalog/catalog_rest.h"

#define ANSWER_MAX ((size_t)1 << 30)
#define TRIES_MAX 6
#define WAIT_FIRST_MS 250
#define LIMIT_MS 60000
#define HEADERS_MAX 64
#define TOKEN_MARGIN                                                                               \
    10 /* a token is asked for again when less than a tenth of its time is left                    \
        */
#define DEFAULT_SEPARATOR "%1F"

struct rest_client {
    const frz_env *env;
    frz_arena arena; /* properties, headers */
    frz_http *http;
    json_t *properties; /* of text */
    char where[256];
    int64_t limit_ms;
    char *token_header; /* "Authorization: Bearer …", or NULL */
    int64_t token_until_ms;
    bool can_ask_token; /* there is a credential */
    const char *headers[HEADERS_MAX];
    size_t header_count;
};

const char *rest_property(const rest_client *client, const char *key)
{
    return json_string_value(json_object_get(client->properties, key));
}

const char *rest_where(const rest_client *client)
{
    return client->where;
}

static frz_code set_property(rest_client *client, const char *key, const char *value,
                             frz_error *err)
{
    return json_object_set_new(client->properties, key, json_string(value)) == 0
               ? FRZ_OK
               : frz_fail(err, FRZ_E_ARGUMENT, "property %s is not UTF-8 text", key);
}

/* ---- answers that are not what was asked for ---- */

/* The server's own words, of the error object of the protocol. */
static const char *error_member(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json_object_get(json, "error"), key));
}

static frz_code code_of_status(int status)
{
    switch (status) {
    case 401:
    case 403:
    case 419:
        return FRZ_E_AUTH;
    case 404:
        return FRZ_E_NOT_FOUND;
    case 409:
        return FRZ_E_CONFLICT;
    case 406:
    case 501:
        return FRZ_E_UNSUPPORTED;
    default:
        return FRZ_E_IO;
    }
}

static frz_code fail_answer(const frz_http_request *request, const frz_http_answer *answer,
                            const json_t *json, frz_error *err)
{
    char shown[256];
    frz_http_shown(request->url, shown, sizeof shown);
    if (json == NULL) {
        /* not the protocol's 404: nothing is known about the table */
        frz_code code = code_of_status(answer->status);
        frz_code rc =
            frz_fail(err, code == FRZ_E_AUTH ? code : FRZ_E_IO,
                     "%s %s: expected JSON, found %s (status %d)", request->method, shown,
                     answer->content_type[0] == '\0' ? "something else" : answer->content_type,
                     answer->status);
        frz_hint(err, "is this the address of an Iceberg REST catalog?");
        return rc;
    }
    const char *message = error_member(json, "message");
    message =
        message != NULL ? message : json_string_value(json_object_get(json, "error_description"));
    return frz_fail(err, code_of_status(answer->status), "%s %s: status %d: %.200s",
                    request->method, shown, answer->status,
                    message == NULL ? "no reason given" : message);
}

/* The JSON object of an answer; NULL if it is none. */
static frz_code parse_answer(const rest_client *client, const frz_http_answer *answer, json_t **out,
                             frz_error *err)
{
    frz_error ignored = {0};
    *out = NULL;
    frz_code rc = frz_json_parse(client->env, frz_buf_view(&answer->body), out, &ignored);
    if (rc == FRZ_E_NOMEM) {
        return frz_fail_nomem(err, answer->body.len);
    }
    if (*out != NULL && !json_is_object(*out)) {
        json_decref(*out);
        *out = NULL;
    }
    return FRZ_OK;
}

/* ---- sending, with retries ---- */

static bool is_passing(int status)
{
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

/* How long to wait before the next try; negative: there is none. */
static int64_t wait_before(const rest_client *client, int number, int64_t told_ms, int64_t end_ms)
{
    int64_t wait = told_ms >= 0 ? told_ms : (int64_t)WAIT_FIRST_MS << (number - 1);
    return number >= TRIES_MAX || frz_now_ms(client->env) + wait >= end_ms ? -1 : wait;
}

/* An answer that is worth something, after as many tries as the time allows. */
static frz_code send_patiently(rest_client *client, const frz_http_request *request,
                               frz_http_answer *answer, frz_error *err)
{
    int64_t end_ms = frz_now_ms(client->env) + client->limit_ms;
    for (int number = 1;; number++) {
        bool sent = false;
        frz_code rc = frz_http_send(client->http, request, answer, &sent, err);
        bool again = rc == FRZ_E_IO || (rc == FRZ_OK && is_passing(answer->status));
        int64_t told = rc == FRZ_OK ? answer->retry_after_ms : -1;
        int64_t wait = again ? wait_before(client, number, told, end_ms) : -1;
        if (wait < 0) {
            return rc;
        }
        char shown[256];
        frz_http_shown(request->url, shown, sizeof shown);
        frz_log(client->env, "catalog", FRZ_LOG_INFO, "%s %s: status %d, again in %lld ms",
                request->method, shown, rc == FRZ_OK ? answer->status : 0, (long long)wait);
        if (rc == FRZ_OK) {
            frz_http_answer_reset(answer);
        }
        frz_error_reset(err);
        frz_sleep_ms(wait);
    }
}

/* ---- tokens: spec: OAuth2, client credentials ---- */

static frz_code append_form(frz_buf *form, const char *key, const char *value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (value != NULL) {
        FRZ_TRY(frz_buf_printf(form, err, "&%s=", key));
        FRZ_TRY(frz_http_escape(form, frz_str_from(value), err));
    }
out:
    return rc;
}

/* "id:secret", or a secret alone. */
static frz_code append_credential(frz_buf *form, const char *credential, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *colon = strchr(credential, ':');
    if (colon != NULL) {
        FRZ_TRY(frz_buf_append_str(form, "&client_id=", err));
        FRZ_TRY(frz_http_escape(form, (frz_str){credential, (size_t)(colon - credential)}, err));
    }
    FRZ_TRY(append_form(form, "client_secret", colon == NULL ? credential : colon + 1, err));
out:
    return rc;
}

static frz_code make_token_form(const rest_client *client, frz_buf *form, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *scope = rest_property(client, "scope");
    FRZ_TRY(frz_buf_append_str(form, "grant_type=client_credentials", err));
    FRZ_TRY(append_credential(form, rest_property(client, "credential"), err));
    FRZ_TRY(append_form(form, "scope", scope == NULL ? "catalog" : scope, err));
    FRZ_TRY(append_form(form, "audience", rest_property(client, "audience"), err));
    FRZ_TRY(append_form(form, "resource", rest_property(client, "resource"), err));
out:
    return rc;
}

static frz_code set_token(rest_client *client, const char *token, frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(client->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = strpbrk(token, "\r\n") != NULL
                      ? frz_fail(err, FRZ_E_ARGUMENT, "the token has a line end in it")
                      : frz_buf_printf(&text, err, "Authorization: Bearer %s", token);
    if (rc == FRZ_OK) {
        char *copy = frz_strdup(client->env, frz_buf_view(&text));
        rc = copy == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK;
        if (rc == FRZ_OK) {
            frz_free(client->env, client->token_header);
            client->token_header = copy;
        }
    }
    frz_buf_reset(&text);
    return rc;
}

static frz_code take_token(rest_client *client, const frz_http_request *request,
                           const frz_http_answer *answer, int64_t asked_ms, frz_error *err)
{
    json_t *json = NULL;
    frz_code rc = parse_answer(client, answer, &json, err);
    const char *token = json_string_value(json_object_get(json, "access_token"));
    if (rc != FRZ_OK) {
        return rc;
    }
    if (answer->status != 200 || json == NULL) {
        rc = fail_answer(request, answer, json, err);
    } else if (token == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "the token server's answer has no access_token");
    } else {
        const json_t *expires = json_object_get(json, "expires_in");
        int64_t seconds = json_is_integer(expires) ? json_integer_value(expires) : 0;
        int64_t kept = FRZ_MIN(FRZ_MAX(seconds, 0), (int64_t)1 << 40) * 1000;
        client->token_until_ms = kept == 0 ? INT64_MAX : asked_ms + kept - kept / TOKEN_MARGIN;
        rc = set_token(client, token, err);
    }
    json_decref(json);
    return rc == FRZ_E_IO || rc == FRZ_E_NOT_FOUND ? FRZ_E_AUTH : rc;
}

static frz_code token_url(const rest_client *client, frz_buf *url, frz_error *err)
{
    const char *server = rest_property(client, "oauth2-server-uri");
    frz_code rc = server != NULL ? frz_buf_append_str(url, server, err)
                                 : frz_buf_printf(url, err, "%s/v1/oauth/tokens",
                                                  rest_property(client, "uri"));
    return rc == FRZ_OK ? frz_buf_append_byte(url, 0, err) : rc;
}

static frz_code ask_token(rest_client *client, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf url = FRZ_BUF_INIT(client->env, FRZ_BUF_NO_LIMIT);
    frz_buf form = FRZ_BUF_INIT(client->env, FRZ_BUF_NO_LIMIT);
    static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded",
                                          "Accept: application/json"};
    frz_http_answer answer = {0};
    int64_t asked_ms = frz_now_ms(client->env);
    FRZ_TRY(token_url(client, &url, err));
    FRZ_TRY(make_token_form(client, &form, err));
    frz_str body = frz_buf_view(&form);
    frz_http_request request = {
        "POST", (const char *)url.data, headers, FRZ_ARRAY_COUNT(headers), &body, ANSWER_MAX};
    FRZ_TRY(send_patiently(client, &request, &answer, err));
    rc = take_token(client, &request, &answer, asked_ms, err);
    frz_http_answer_reset(&answer);
    frz_context(err, rc, "asking for a token");
out:
    frz_buf_reset(&form);
    frz_buf_reset(&url);
    return rc;
}

static frz_code refresh_token(rest_client *client, bool refused, frz_error *err)
{
    bool needed = client->token_header == NULL || refused ||
                  frz_now_ms(client->env) >= client->token_until_ms;
    return client->can_ask_token && needed ? ask_token(client, err) : FRZ_OK;
}

/* ---- requests ---- */

/* The headers of every request; the token is the last one. */
static size_t collect_headers(const rest_client *client, const char **out)
{
    size_t n = 0;
    for (; n < client->header_count; n++) {
        out[n] = client->headers[n];
    }
    if (client->token_header != NULL) {
        out[n++] = client->token_header;
    }
    return n;
}

static frz_code get_url(rest_client *client, const char *url, json_t **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *headers[HEADERS_MAX + 1];
    frz_http_answer answer = {0};
    frz_http_request request = {
        .method = "GET", .url = url, .headers = headers, .max_answer = ANSWER_MAX};
    json_t *json = NULL;
    for (int number = 1; number <= 2; number++) {
        FRZ_TRY(refresh_token(client, number > 1, err));
        request.header_count = collect_headers(client, headers);
        FRZ_TRY(send_patiently(client, &request, &answer, err));
        bool refused = answer.status == 401 || answer.status == 419;
        if (!refused || !client->can_ask_token || number > 1) {
            break;
        }
        frz_http_answer_reset(&answer); /* the token was taken back early: ask for another, once */
    }
    FRZ_TRY(parse_answer(client, &answer, &json, err));
    if (answer.status != 200 || json == NULL) {
        rc = fail_answer(&request, &answer, json, err);
        json_decref(json);
        goto out;
    }
    *out = json;
out:
    frz_http_answer_reset(&answer);
    return rc;
}

frz_code rest_get(rest_client *client, const char *path, json_t **out, frz_error *err)
{
    frz_buf url = FRZ_BUF_INIT(client->env, FRZ_BUF_NO_LIMIT);
    const char *prefix = rest_property(client, "prefix");
    bool has_prefix = prefix != NULL && prefix[0] != '\0';
    frz_code rc = frz_buf_printf(&url, err, "%s/v1/%s%s%s", rest_property(client, "uri"),
                                 has_prefix ? prefix : "", has_prefix ? "/" : "", path);
    rc = rc == FRZ_OK ? frz_buf_append_byte(&url, 0, err) : rc;
    rc = rc == FRZ_OK ? get_url(client, (const char *)url.data, out, err) : rc;
    frz_buf_reset(&url);
    return rc;
}

frz_code rest_append_namespace(const rest_client *client, frz_buf *path, frz_str levels,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *separator = rest_property(client, "namespace-separator"); /* percent-encoded */
    separator = separator == NULL || separator[0] == '\0' ? DEFAULT_SEPARATOR : separator;
    while (rc == FRZ_OK) {
        const char *end = memchr(levels.ptr, FRZ_LEVEL_END, levels.len);
        size_t len = end == NULL ? levels.len : (size_t)(end - levels.ptr);
        FRZ_TRY(frz_http_escape(path, (frz_str){levels.ptr, len}, err));
        if (end == NULL) {
            break;
        }
        FRZ_TRY(frz_buf_append_str(path, separator, err));
        levels = (frz_str){end + 1, levels.len - len - 1};
    }
out:
    return rc;
}

/* ---- opening ---- */

/* A part of a config answer into the properties; known ones stay unless they are to be replaced. */
static frz_code merge(rest_client *client, const json_t *config, const char *part, bool replace,
                      frz_error *err)
{
    json_t *from = json_object_get(config, part);
    const char *key;
    json_t *value;
    if (from != NULL && !json_is_null(from) && !json_is_object(from)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: %s in the config is not an object", client->where,
                        part);
    }
    json_object_foreach(from, key, value)
    {
        if (json_is_string(value) && (replace || rest_property(client, key) == NULL)) {
            frz_code rc = set_property(client, key, json_string_value(value), err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
    }
    return FRZ_OK;
}

/* Slashes at the end of the uri are none of its business. */
static frz_code trim_uri(rest_client *client, frz_error *err)
{
    const char *uri = rest_property(client, "uri");
    size_t len = strlen(uri);
    while (len > 0 && uri[len - 1] == '/') {
        len--;
    }
    char *copy = frz_arena_strdup(&client->arena, (frz_str){uri, len});
    return copy == NULL ? frz_fail_nomem(err, len) : set_property(client, "uri", copy, err);
}

static frz_code read_config(rest_client *client, const char *warehouse, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *config = NULL;
    frz_buf url = FRZ_BUF_INIT(client->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_buf_printf(&url, err, "%s/v1/config", rest_property(client, "uri")));
    if (warehouse != NULL && warehouse[0] != '\0') {
        FRZ_TRY(frz_buf_append_str(&url, "?warehouse=", err));
        FRZ_TRY(frz_http_escape(&url, frz_str_from(warehouse), err));
    }
    FRZ_TRY(frz_buf_append_byte(&url, 0, err));
    FRZ_TRY(get_url(client, (const char *)url.data, &config, err));
    FRZ_TRY(merge(client, config, "defaults", false, err));
    FRZ_TRY(merge(client, config, "overrides", true, err));
    FRZ_TRY(trim_uri(client, err));
out:
    json_decref(config);
    frz_buf_reset(&url);
    return rc;
}

static frz_code add_header(rest_client *client, const char *name, const char *value, frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(client->env, FRZ_BUF_NO_LIMIT);
    if (client->header_count == HEADERS_MAX || strpbrk(name, "\r\n:") != NULL ||
        strpbrk(value, "\r\n") != NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "property header.%.64s: not a header, or one too many",
                        name);
    }
    frz_code rc = frz_buf_printf(&text, err, "%s: %s", name, value);
    char *copy = rc == FRZ_OK ? frz_arena_strdup(&client->arena, frz_buf_view(&text)) : NULL;
    if (rc == FRZ_OK && copy == NULL) {
        rc = frz_fail_nomem(err, text.len);
    }
    frz_buf_reset(&text);
    if (rc == FRZ_OK) {
        client->headers[client->header_count++] = copy;
    }
    return rc;
}

/* Properties "header.NAME". */
static frz_code add_headers(rest_client *client, frz_error *err)
{
    frz_code rc = add_header(client, "Accept", "application/json", err);
    const char *key;
    json_t *value;
    json_object_foreach(client->properties, key, value)
    {
        if (rc == FRZ_OK && strncmp(key, "header.", 7) == 0) {
            rc = add_header(client, key + 7, json_string_value(value), err);
        }
    }
    return rc;
}

static frz_code number_property(const rest_client *client, const char *key, int64_t *out,
                                frz_error *err)
{
    const char *text = rest_property(client, key);
    if (text != NULL && (!frz_str_to_i64(frz_str_from(text), out) || *out <= 0)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "property %s: expected milliseconds, found \"%.64s\"",
                        key, text);
    }
    return FRZ_OK;
}

static frz_code open_http(rest_client *client, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_http_options http = {.ca_file = rest_property(client, "ssl.cabundle")};
    FRZ_TRY(number_property(client, "rest.client.connection-timeout-ms", &http.connect_ms, err));
    FRZ_TRY(number_property(client, "rest.client.socket-timeout-ms", &http.total_ms, err));
    client->limit_ms = http.total_ms > 0 ? http.total_ms : LIMIT_MS;
    FRZ_TRY(frz_http_open(client->env, &http, &client->http, err));
out:
    return rc;
}

static frz_code set_properties(rest_client *client, const frz_catalog_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    client->properties = json_object();
    FRZ_TRY(client->properties == NULL ? frz_fail_nomem(err, 0) : FRZ_OK);
    for (size_t i = 0; i < opts->property_count; i++) {
        FRZ_TRY(set_property(client, opts->properties[i].key, opts->properties[i].value, err));
    }
    FRZ_TRY(set_property(client, "uri", opts->uri, err));
    FRZ_TRY(trim_uri(client, err));
out:
    return rc;
}

frz_code rest_client_open(const frz_env *env, const frz_catalog_options *opts, rest_client **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    rest_client *client = frz_alloc_zero(env, 1, sizeof *client);
    if (client == NULL) {
        return frz_fail_nomem(err, sizeof *client);
    }
    client->env = env;
    frz_arena_init(&client->arena, env, FRZ_ARENA_NO_LIMIT);
    frz_http_shown(opts->uri, client->where, sizeof client->where);
    FRZ_TRY(set_properties(client, opts, err));
    FRZ_TRY(open_http(client, err));
    FRZ_TRY(add_headers(client, err));
    client->can_ask_token = rest_property(client, "credential") != NULL;
    if (!client->can_ask_token && rest_property(client, "token") != NULL) {
        FRZ_TRY(set_token(client, rest_property(client, "token"), err));
    }
    FRZ_TRY(read_config(client, opts->warehouse, err));
    *out = client;
    client = NULL;
out:
    rest_client_close(client);
    return rc;
}

void rest_client_close(rest_client *client)
{
    if (client == NULL) {
        return;
    }
    frz_http_close(client->http);
    json_decref(client->properties);
    frz_free(client->env, client->token_header);
    frz_arena_reset(&client->arena);
    frz_free(client->env, client);
}
