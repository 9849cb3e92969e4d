/*
 * What the tests of meta share: a small metadata document whose members can be replaced, and tables
 * parsed from it.
 */
#ifndef FRZ_META_FIXTURE_H
#define FRZ_META_FIXTURE_H

#include <stdlib.h>

#include "meta/meta_manifest.h"
#include "unit/test_support.h"

#define FIXTURE_LOCATION "file:///w/db/wide/metadata/00001-x.metadata.json"

static const char fixture_document[] =
    "{'format-version': 4, 'table-uuid': '8cff5649-77f3-5294-9913-351d87f5b508',"
    " 'location': 'file:///w/db/wide', 'last-sequence-number': 2, 'last-updated-ms': 1000,"
    " 'last-column-id': 6, 'current-schema-id': 1,"
    " 'schemas': ["
    "  {'type': 'struct', 'schema-id': 0, 'fields': ["
    "   {'id': 1, 'name': 'id', 'required': true, 'type': 'long'}]},"
    "  {'type': 'struct', 'schema-id': 1, 'fields': ["
    "   {'id': 1, 'name': 'id', 'required': true, 'type': 'long'},"
    "   {'id': 2, 'name': 'name', 'required': false, 'type': 'string'},"
    "   {'id': 3, 'name': 'x', 'required': false, 'type': 'double'},"
    "   {'id': 4, 'name': 'tags', 'required': false, 'type': {'type': 'list', 'element-id': 5,"
    "    'element-required': false, 'element': 'string'}}]}],"
    " 'partition-specs': [{'spec-id': 0, 'fields': []}], 'default-spec-id': 0,"
    " 'last-partition-id': 999, 'sort-orders': [{'order-id': 0, 'fields': []}],"
    " 'default-sort-order-id': 0, 'next-row-id': 9007199254740993,"
    " 'properties': {'owner': 'me', 'commit.retry.num-retries': '7'},"
    " 'current-snapshot-id': 9223372036854775807,"
    " 'snapshots': ["
    "  {'snapshot-id': 11, 'sequence-number': 1, 'timestamp-ms': 900, 'schema-id': 0,"
    "   'root-manifest': 'metadata/root-1.parquet', 'first-row-id': 0, 'added-rows': 9,"
    "   'summary': {'operation': 'append'}},"
    "  {'snapshot-id': 9223372036854775807, 'parent-snapshot-id': 11, 'sequence-number': 2,"
    "   'timestamp-ms': 950, 'schema-id': 1, 'root-manifest': 'metadata/root-2.parquet',"
    "   'first-row-id': 9, 'added-rows': 0, 'summary': {'operation': 'overwrite', 'k': 'v'}}],"
    " 'refs': {'main': {'snapshot-id': 9223372036854775807, 'type': 'branch',"
    "   'max-ref-age-ms': 5}},"
    " 'future': {'kept': [1, 2.5, 'x']}}";

/* JSON in single quotes. */
static inline json_t *fixture_json(const char *text)
{
    json_error_t fault;
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    json_t *json = json_loads(copy, JSON_DECODE_ANY, &fault);
    if (json == NULL) {
        fail_msg("%s: %s", copy, fault.text);
    }
    free(copy);
    return json;
}

/* Replace the member at a path such as "snapshots/1/summary"; value NULL removes it. */
static inline void fixture_set(json_t *document, const char *path, const char *value)
{
    char part[128];
    json_t *at = document;
    for (;;) {
        size_t len = strcspn(path, "/");
        assert_true(len < sizeof part);
        memcpy(part, path, len);
        part[len] = '\0';
        if (path[len] == '\0') {
            break;
        }
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(part)) : json_object_get(at, part);
        assert_non_null(at);
        path += len + 1;
    }
    if (json_is_array(at)) {
        assert_int_equal(json_array_set_new(at, (size_t)atoi(part), fixture_json(value)), 0);
    } else if (value == NULL) {
        assert_int_equal(json_object_del(at, part), 0);
    } else {
        assert_int_equal(json_object_set_new(at, part, fixture_json(value)), 0);
    }
}

static inline frz_code fixture_parse(const frz_env *env, const json_t *document,
                                     const frz_table_open_options *opts, frz_table **out,
                                     frz_error *err)
{
    char *text = json_dumps(document, JSON_COMPACT);
    assert_non_null(text);
    frz_code rc = frz_table_parse(env, FIXTURE_LOCATION, frz_str_from(text), opts, out, err);
    free(text);
    return rc;
}

/* The document with one member replaced (path NULL: none), as a table. */
static inline frz_table *fixture_table(const frz_env *env, const char *path, const char *value)
{
    frz_error err = {0};
    frz_table *table = NULL;
    json_t *document = fixture_json(fixture_document);
    if (path != NULL) {
        fixture_set(document, path, value);
    }
    assert_ok(fixture_parse(env, document, NULL, &table, &err), &err);
    json_decref(document);
    return table;
}

/* ---- corpora ---- */

/* A folder of files of other writers, or NULL with a note if it is not here. */
static inline const char *fixture_corpus(const char *name, char *path, size_t size)
{
    const char *root = getenv("FRAZIL_CORPORA");
    snprintf(path, size, "%s/%s", root == NULL ? "../shared/corpora" : root, name);
    FILE *list = NULL;
    char probe[512];
    snprintf(probe, sizeof probe, "%s/TABLES.tsv", path);
    list = fopen(probe, "r");
    if (list == NULL) {
        print_message("skipped: %s is not here (set FRAZIL_CORPORA)\n", probe);
        return NULL;
    }
    fclose(list);
    return path;
}

/* One line of TABLES.tsv. */
typedef struct fixture_corpus_table {
    char dir[128], metadata[128], must_fail[32], features[128];
} fixture_corpus_table;

/* The next line, or false. */
static inline bool fixture_corpus_next(FILE *list, fixture_corpus_table *out)
{
    char line[1024];
    while (fgets(line, sizeof line, list) != NULL) {
        char *fields[6] = {NULL};
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < 6; i++) {
            fields[i] = strsep(&rest, "\t");
            assert_non_null(fields[i]);
        }
        if (strcmp(fields[0], "dir") == 0) {
            continue;
        }
        snprintf(out->dir, sizeof out->dir, "%s", fields[0]);
        snprintf(out->metadata, sizeof out->metadata, "%s", fields[1]);
        snprintf(out->must_fail, sizeof out->must_fail, "%s", fields[4]);
        snprintf(out->features, sizeof out->features, "%s", fields[5]);
        return true;
    }
    return false;
}

/* Open a table of the corpus with its locations mapped to where it is. */
static inline frz_code fixture_corpus_open(const frz_env *env, const char *root,
                                           const fixture_corpus_table *entry, frz_table **out,
                                           frz_error *err)
{
    char path[768], to[512], location[256];
    frz_location_map map = {"file:///golden/", to};
    frz_table_open_options opts = FRZ_TABLE_OPEN_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/%s/metadata/%s", root, entry->dir, entry->metadata);
    snprintf(to, sizeof to, "%s/", root);
    snprintf(location, sizeof location, "file:///golden/%s", entry->dir);
    opts.location = location;
    opts.maps = &map;
    opts.map_count = 1;
    return frz_table_open(env, path, &opts, out, err);
}

#endif
