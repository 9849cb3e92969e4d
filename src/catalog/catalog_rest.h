/*
 * The client side of Iceberg's REST protocol: requests with retries, tokens and error messages.
 * spec: REST catalog, open API
 */
#ifndef FRZ_CATALOG_REST_H
#define FRZ_CATALOG_REST_H

#include "base/base_json.h"
#include "catalog/catalog_internal.h"
#include "io/io_http.h"

typedef struct rest_client rest_client;

/* Properties given, then read from the server's config: its defaults below them, its overrides
 * above. */
frz_code rest_client_open(const frz_env *env, const frz_catalog_options *opts, rest_client **out,
                          frz_error *err);
void rest_client_close(rest_client *client); /* NULL is fine */

/* A property in force, or NULL. */
const char *rest_property(const rest_client *client, const char *key);
/* For messages: the uri without user, password and query. */
const char *rest_where(const rest_client *client);

/* GET the JSON object at a path below "v1/PREFIX/", such as "namespaces". what is sought is said in
 * messages. FRZ_E_NOT_FOUND for 404. */
frz_code rest_get(rest_client *client, const char *path, json_t **out, frz_error *err);

/* ---- what rest_client has of its own parts ---- */

/* The levels of a namespace, joined with FRZ_LEVEL_END, as one part of a path. */
frz_code rest_append_namespace(const rest_client *client, frz_buf *path, frz_str levels,
                               frz_error *err);

#endif
