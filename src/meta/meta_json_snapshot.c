/*
 * The snapshots of a metadata document. What a snapshot must say depends on the version that made
 * it, and a document may hold snapshots from before its upgrade: without sequence numbers (version
 * 1) or row ids (versions 1 and 2), with a manifest list, or with the manifests themselves.
 * spec: Snapshots; v4 snapshot fields
 */
#include <stdio.h>
#include <stdlib.h>

#include "meta/meta_internal.h"

#define PREFIX_TEXT 64

/* ---- where the manifests are ---- */

/* Version 1 could list its manifests in place. */
static frz_code read_manifests(frz_arena *arena, const json_t *json, const char *prefix,
                               frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array(json, prefix, "manifests", &list, err));
    size_t count = json_array_size(list);
    frz_str *manifests = frz_arena_array(arena, count, sizeof *manifests);
    if (manifests == NULL) {
        return frz_fail_nomem(err, count * sizeof *manifests);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        manifests[i] = (frz_str){json_string_value(item), json_string_length(item)};
        if (manifests[i].len == 0) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%smanifests[%zu]: expected a location, found %s",
                          prefix, i,
                          json_is_string(item) ? "an empty string" : meta_json_kind(item));
            goto out;
        }
    }
    s->manifests = manifests;
    s->manifest_count = count;
out:
    return rc;
}

static frz_code check_location(frz_str location, const char *prefix, const char *key,
                               frz_error *err)
{
    return location.ptr == NULL || location.len > 0
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "%s%s: expected a location, found an empty string",
                          prefix, key);
}

static frz_code read_files(frz_table *table, const json_t *json, const char *prefix,
                           frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool may_have_root = table->metadata.format_version >= 4;
    bool in_place = meta_json_member(json, "manifests") != NULL;
    FRZ_TRY(meta_json_str_or_none(json, prefix, "manifest-list", &s->manifest_list, err));
    if (may_have_root) {
        FRZ_TRY(meta_json_str_or_none(json, prefix, "root-manifest", &s->root_manifest, err));
    }
    bool older = s->manifest_list.ptr != NULL || in_place;
    if (may_have_root && (s->root_manifest.ptr != NULL) == older) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%sroot-manifest, manifest-list: expected exactly one of them, found %s",
                      prefix, older ? "both" : "neither");
    } else if (!may_have_root && !older) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%smanifest-list: expected a string, found nothing",
                      prefix);
    }
    FRZ_TRY(rc);
    FRZ_TRY(check_location(s->root_manifest, prefix, "root-manifest", err));
    FRZ_TRY(check_location(s->manifest_list, prefix, "manifest-list", err));
    if (in_place && s->manifest_list.ptr == NULL) {
        FRZ_TRY(read_manifests(&table->arena, json, prefix, s, err));
    }
out:
    return rc;
}

/* ---- numbers ---- */

static frz_code check_operation(const frz_snapshot *s, const char *prefix, frz_error *err)
{
    for (size_t i = 0; i < s->summary_count; i++) {
        if (frz_str_equal(s->summary[i].key, FRZ_STR("operation"))) {
            return FRZ_OK;
        }
    }
    return frz_fail(err, FRZ_E_CORRUPT, "%ssummary.operation: expected a string, found nothing",
                    prefix);
}

/* What a snapshot with a root manifest must have, and older ones may. */
static frz_code read_numbers(const json_t *json, const char *prefix, frz_snapshot *s,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool rooted = s->root_manifest.ptr != NULL;
    if (rooted) {
        FRZ_TRY(meta_json_i64(json, prefix, "sequence-number", &s->sequence_number, err));
        FRZ_TRY(meta_json_i64(json, prefix, "first-row-id", &s->first_row_id, err));
        FRZ_TRY(meta_json_i64(json, prefix, "added-rows", &s->added_rows, err));
        FRZ_TRY(check_operation(s, prefix, err));
    } else {
        FRZ_TRY(meta_json_i64_or(json, prefix, "sequence-number", 0, &s->sequence_number, err));
        FRZ_TRY(
            meta_json_i64_or(json, prefix, "first-row-id", FRZ_NO_VALUE, &s->first_row_id, err));
        FRZ_TRY(meta_json_i64_or(json, prefix, "added-rows", FRZ_NO_VALUE, &s->added_rows, err));
    }
    if ((s->first_row_id < 0 && s->first_row_id != FRZ_NO_VALUE) ||
        (s->added_rows < 0 && s->added_rows != FRZ_NO_VALUE)) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%sfirst-row-id, added-rows: expected no negative numbers", prefix);
    }
out:
    return rc;
}

static frz_code read_ids(const json_t *json, const char *prefix, frz_snapshot *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_json_i64(json, prefix, "snapshot-id", &s->snapshot_id, err));
    if (s->snapshot_id == 0 ||
        s->snapshot_id == -1) { /* how this library and old writers say none */
        rc = frz_fail(err, FRZ_E_CORRUPT, "%ssnapshot-id: expected a positive number, found %lld",
                      prefix, (long long)s->snapshot_id);
        goto out;
    }
    FRZ_TRY(meta_json_i64_or(json, prefix, "parent-snapshot-id", 0, &s->parent_id, err));
    s->parent_id = s->parent_id == -1 ? 0 : s->parent_id;
    FRZ_TRY(meta_json_i64(json, prefix, "timestamp-ms", &s->timestamp_ms, err));
    FRZ_TRY(meta_json_i32_or(json, prefix, "schema-id", -1, &s->schema_id, err));
    if (s->schema_id < -1) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%sschema-id: expected a schema's id, found %d", prefix,
                      (int)s->schema_id);
    }
out:
    return rc;
}

/* ---- the list ---- */

static frz_code read_snapshot(frz_table *table, const json_t *json, size_t index, frz_snapshot *s,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &table->metadata;
    char prefix[PREFIX_TEXT];
    snprintf(prefix, sizeof prefix, "snapshots[%zu].", index);
    FRZ_TRY(meta_json_element(json, "snapshots", index, err));
    FRZ_TRY(read_ids(json, prefix, s, err));
    FRZ_TRY(meta_json_pairs(json, prefix, "summary", &table->arena, &s->summary, &s->summary_count,
                            err));
    FRZ_TRY(read_files(table, json, prefix, s, err));
    FRZ_TRY(read_numbers(json, prefix, s, err));
    FRZ_TRY(meta_json_str_or_none(json, prefix, "key-id", &s->key_id, err));
    if (m->format_version == 1) {
        s->sequence_number = 0; /* version 1 has none, whatever stands there */
    }
    if (s->sequence_number < 0 || s->sequence_number > m->last_sequence_number) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%ssequence-number: expected 0 to last-sequence-number %lld, found %lld",
                      prefix, (long long)m->last_sequence_number, (long long)s->sequence_number);
    }
out:
    return rc;
}

static int64_t snapshot_id_of(const void *snapshots, size_t i)
{
    return ((const frz_snapshot *)snapshots)[i].snapshot_id;
}

static int compare_snapshots(const void *a, const void *b)
{
    int64_t x = (*(const frz_snapshot *const *)a)->snapshot_id;
    int64_t y = (*(const frz_snapshot *const *)b)->snapshot_id;
    return x < y ? -1 : x > y;
}

static frz_code sort_by_id(frz_table *table, frz_error *err)
{
    frz_metadata *m = &table->metadata;
    const frz_snapshot **sorted = frz_arena_array(&table->arena, m->snapshot_count, sizeof *sorted);
    if (sorted == NULL) {
        return frz_fail_nomem(err, m->snapshot_count * sizeof *sorted);
    }
    for (size_t i = 0; i < m->snapshot_count; i++) {
        sorted[i] = &m->snapshots[i];
    }
    if (m->snapshot_count > 1) {
        qsort(sorted, m->snapshot_count, sizeof *sorted, compare_snapshots);
    }
    m->snapshots_by_id = sorted;
    return FRZ_OK;
}

static frz_code read_current(frz_metadata *m, frz_error *err)
{
    frz_code rc =
        meta_json_i64_or(m->json, "", "current-snapshot-id", 0, &m->current_snapshot_id, err);
    if (m->current_snapshot_id == -1) {
        m->current_snapshot_id = 0; /* how versions 1 and 2 said none */
    }
    if (rc == FRZ_OK && m->current_snapshot_id != 0 && frz_metadata_current_snapshot(m) == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "current-snapshot-id: there is no snapshot %lld",
                      (long long)m->current_snapshot_id);
    }
    return rc;
}

frz_code meta_read_snapshots(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(m->json, "", "snapshots", &list, err));
    size_t count = json_array_size(list);
    frz_snapshot *snapshots = frz_arena_array(&table->arena, count, sizeof *snapshots);
    if (snapshots == NULL) {
        return frz_fail_nomem(err, count * sizeof *snapshots);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_snapshot(table, json_array_get(list, i), i, &snapshots[i], err));
    }
    m->snapshots = snapshots;
    m->snapshot_count = count;
    FRZ_TRY(meta_check_unique(table->env, snapshots, count, snapshot_id_of, "snapshots", err));
    FRZ_TRY(sort_by_id(table, err));
    FRZ_TRY(read_current(m, err));
out:
    return rc;
}
