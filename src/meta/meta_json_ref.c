/*
 * References, and the logs of what was current before. spec: Snapshot References; snapshot-log,
 * metadata-log
 */
#include <stdio.h>

#include "meta/meta_internal.h"

#define PREFIX_TEXT 160

/* ---- references ---- */

static frz_code read_kind(const json_t *json, const char *prefix, bool *is_tag, frz_error *err)
{
    frz_str text;
    frz_code rc = meta_json_str(json, prefix, "type", &text, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    *is_tag = frz_str_equal_nocase(text, FRZ_STR("tag"));
    if (!*is_tag && !frz_str_equal_nocase(text, FRZ_STR("branch"))) {
        return frz_fail(err, FRZ_E_CORRUPT, "%stype: expected branch or tag, found \"%.*s\"",
                        prefix, FRZ_STR_ARG(text));
    }
    return FRZ_OK;
}

static frz_code read_ref(const frz_metadata *m, const char *name, const json_t *json, frz_ref *out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    char prefix[PREFIX_TEXT];
    snprintf(prefix, sizeof prefix, "refs.%s.", name);
    out->name = frz_str_from(name);
    FRZ_TRY(meta_json_i64(json, prefix, "snapshot-id", &out->snapshot_id, err));
    FRZ_TRY(read_kind(json, prefix, &out->is_tag, err));
    FRZ_TRY(
        meta_json_i64_or(json, prefix, "max-ref-age-ms", FRZ_NO_VALUE, &out->max_ref_age_ms, err));
    FRZ_TRY(meta_json_i64_or(json, prefix, "max-snapshot-age-ms", FRZ_NO_VALUE,
                             &out->max_snapshot_age_ms, err));
    FRZ_TRY(meta_json_i64_or(json, prefix, "min-snapshots-to-keep", FRZ_NO_VALUE,
                             &out->min_snapshots_to_keep, err));
    if (frz_metadata_snapshot(m, out->snapshot_id) == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%ssnapshot-id: there is no snapshot %lld", prefix,
                      (long long)out->snapshot_id);
    }
out:
    return rc;
}

/* Branch main and current-snapshot-id say the same thing twice; where only the latter is said, the
 * branch is there all the same. */
static frz_code settle_main(frz_metadata *m, frz_ref *refs, frz_error *err)
{
    const frz_ref *branch = frz_metadata_ref(m, FRZ_STR("main"));
    if (branch == NULL && m->current_snapshot_id != 0) {
        refs[m->ref_count++] = (frz_ref){.name = FRZ_STR("main"),
                                         .snapshot_id = m->current_snapshot_id,
                                         .max_ref_age_ms = FRZ_NO_VALUE,
                                         .max_snapshot_age_ms = FRZ_NO_VALUE,
                                         .min_snapshots_to_keep = FRZ_NO_VALUE};
    } else if (branch != NULL && branch->is_tag) {
        return frz_fail(err, FRZ_E_CORRUPT, "refs.main.type: expected branch, found tag");
    } else if (branch != NULL && branch->snapshot_id != m->current_snapshot_id) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "refs.main.snapshot-id: %lld is not current-snapshot-id %lld",
                        (long long)branch->snapshot_id, (long long)m->current_snapshot_id);
    }
    return FRZ_OK;
}

frz_code meta_read_refs(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *map = meta_json_member(m->json, "refs");
    if (map != NULL && !json_is_object(map)) {
        return meta_json_mismatch("", "refs", "an object", map, err);
    }
    size_t room = json_object_size(map) + 1;
    frz_ref *refs = frz_arena_array(&table->arena, room, sizeof *refs);
    if (refs == NULL) {
        return frz_fail_nomem(err, room * sizeof *refs);
    }
    m->refs = refs;
    const char *name;
    json_t *ref;
    json_object_foreach((json_t *)(uintptr_t)map, name, ref)
    {
        if (!json_is_object(ref)) {
            return meta_json_mismatch("refs.", name, "an object", ref, err);
        }
        FRZ_TRY(read_ref(m, name, ref, &refs[m->ref_count], err));
        m->ref_count++;
    }
    FRZ_TRY(settle_main(m, refs, err));
out:
    return rc;
}

/* ---- logs ---- */

static frz_code read_snapshot_log(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(m->json, "", "snapshot-log", &list, err));
    size_t count = json_array_size(list);
    frz_snapshot_log_entry *log = frz_arena_array(&table->arena, count, sizeof *log);
    if (log == NULL) {
        return frz_fail_nomem(err, count * sizeof *log);
    }
    for (size_t i = 0; i < count; i++) {
        char prefix[PREFIX_TEXT];
        const json_t *json = json_array_get(list, i);
        snprintf(prefix, sizeof prefix, "snapshot-log[%zu].", i);
        FRZ_TRY(meta_json_element(json, "snapshot-log", i, err));
        FRZ_TRY(meta_json_i64(json, prefix, "timestamp-ms", &log[i].timestamp_ms, err));
        FRZ_TRY(meta_json_i64(json, prefix, "snapshot-id", &log[i].snapshot_id, err));
    }
    m->snapshot_log = log;
    m->snapshot_log_count = count;
out:
    return rc;
}

static frz_code read_metadata_log(frz_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metadata *m = &table->metadata;
    const json_t *list = NULL;
    FRZ_TRY(meta_json_array_or_none(m->json, "", "metadata-log", &list, err));
    size_t count = json_array_size(list);
    frz_metadata_log_entry *log = frz_arena_array(&table->arena, count, sizeof *log);
    if (log == NULL) {
        return frz_fail_nomem(err, count * sizeof *log);
    }
    for (size_t i = 0; i < count; i++) {
        char prefix[PREFIX_TEXT];
        const json_t *json = json_array_get(list, i);
        snprintf(prefix, sizeof prefix, "metadata-log[%zu].", i);
        FRZ_TRY(meta_json_element(json, "metadata-log", i, err));
        FRZ_TRY(meta_json_i64(json, prefix, "timestamp-ms", &log[i].timestamp_ms, err));
        FRZ_TRY(meta_json_str(json, prefix, "metadata-file", &log[i].metadata_file, err));
    }
    m->metadata_log = log;
    m->metadata_log_count = count;
out:
    return rc;
}

frz_code meta_read_logs(frz_table *table, frz_error *err)
{
    frz_code rc = read_snapshot_log(table, err);
    return rc == FRZ_OK ? read_metadata_log(table, err) : rc;
}
