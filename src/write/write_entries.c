/*
 * What a commit says about its files: entries by status, the snapshot and its summary, and where a
 * new table lies. spec: field values per status; snapshots
 */
#include <stdio.h>

#include "write/write_internal.h"

frz_code frz_commit_plan_add(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                             const frz_entry *entry, frz_error *err)
{
    if (plan->entry_count == plan->entry_capacity) {
        size_t capacity = plan->entry_capacity == 0 ? 16 : plan->entry_capacity * 2;
        frz_entry **grown = frz_arena_array(attempt->arena, capacity, sizeof *grown);
        if (grown == NULL) {
            return frz_fail_nomem(err, capacity * sizeof *grown);
        }
        if (plan->entry_count > 0) {
            memcpy(grown, plan->entries, plan->entry_count * sizeof *grown);
        }
        plan->entries = grown;
        plan->entry_capacity = capacity;
    }
    frz_entry *copy = frz_arena_alloc(attempt->arena, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, sizeof *copy);
    }
    *copy = *entry;
    plan->entries[plan->entry_count++] = copy;
    return FRZ_OK;
}

frz_entry frz_entry_existing(const frz_entry *source)
{
    frz_entry entry = *source;
    entry.status = FRZ_STATUS_EXISTING;
    return entry;
}

frz_entry frz_entry_deleted(const frz_entry *source, const frz_commit_attempt *attempt)
{
    frz_entry entry = *source;
    entry.status = FRZ_STATUS_DELETED;
    entry.snapshot_id = attempt->snapshot_id;
    return entry;
}

frz_entry frz_entry_replaced(const frz_entry *source, const frz_commit_attempt *attempt)
{
    frz_entry entry = *source;
    entry.status = FRZ_STATUS_REPLACED;
    entry.snapshot_id = attempt->snapshot_id;
    return entry;
}

/* The data sequence number rises, so that null lineage values mean this commit; the base file's
 * own number, snapshot and first row id stay. */
frz_entry frz_entry_column_update(const frz_entry *source, const frz_commit_attempt *attempt)
{
    frz_entry entry = *source;
    entry.status = FRZ_STATUS_MODIFIED;
    entry.modified_snapshot_id = attempt->snapshot_id;
    entry.sequence_number = attempt->sequence_number;
    return entry;
}

frz_entry frz_entry_added(const frz_commit_attempt *attempt)
{
    return (frz_entry){
        .status = FRZ_STATUS_ADDED,
        .snapshot_id = attempt->snapshot_id,
        .modified_snapshot_id = FRZ_NO_VALUE,
        .sequence_number = attempt->sequence_number,
        .file_sequence_number = attempt->sequence_number,
        .first_row_id = FRZ_NO_VALUE,
        .content = FRZ_CONTENT_DATA,
        .file_format = FRZ_STR("parquet"),
        .spec_id = -1,
        .sort_order_id = -1,
    };
}

/* ---- the snapshot ---- */

/* Counted from the entries; zero counts are left out. */
static void count_entries(const frz_commit_plan *plan, int64_t counts[5], int64_t *files,
                          int64_t *records)
{
    for (size_t i = 0; i < plan->entry_count; i++) {
        const frz_entry *entry = plan->entries[i];
        counts[entry->status]++;
        if (frz_status_is_live(entry->status)) {
            *files += 1;
            *records += entry->record_count;
        }
    }
}

static frz_code add_summary(frz_arena *arena, frz_property_kv *summary, size_t *count,
                            const char *key, int64_t value, frz_error *err)
{
    char *text = frz_arena_printf(arena, "%lld", (long long)value);
    if (text == NULL) {
        return frz_fail_nomem(err, 32);
    }
    summary[(*count)++] = (frz_property_kv){frz_str_from(key), frz_str_from(text)};
    return FRZ_OK;
}

static frz_code snapshot_summary(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                                 frz_snapshot *snapshot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t counts[5] = {0}, files = 0, records = 0;
    size_t n = 0;
    frz_property_kv *summary =
        frz_arena_array(attempt->arena, 6 + plan->summary_count, sizeof *summary);
    if (summary == NULL) {
        return frz_fail_nomem(err, 6 * sizeof *summary);
    }
    count_entries(plan, counts, &files, &records);
    summary[n++] = (frz_property_kv){FRZ_STR("operation"), frz_str_from(plan->operation)};
    if (counts[FRZ_STATUS_ADDED] > 0) {
        FRZ_TRY(add_summary(attempt->arena, summary, &n, "added-data-files",
                            counts[FRZ_STATUS_ADDED], err));
    }
    if (counts[FRZ_STATUS_DELETED] > 0) {
        FRZ_TRY(add_summary(attempt->arena, summary, &n, "deleted-data-files",
                            counts[FRZ_STATUS_DELETED], err));
    }
    if (counts[FRZ_STATUS_MODIFIED] > 0) {
        FRZ_TRY(add_summary(attempt->arena, summary, &n, "modified-data-files",
                            counts[FRZ_STATUS_MODIFIED], err));
    }
    FRZ_TRY(add_summary(attempt->arena, summary, &n, "total-data-files", files, err));
    FRZ_TRY(add_summary(attempt->arena, summary, &n, "total-records", records, err));
    for (size_t i = 0; i < plan->summary_count; i++) {
        summary[n++] = plan->summary[i];
    }
    snapshot->summary = summary;
    snapshot->summary_count = n;
out:
    return rc;
}

frz_code frz_commit_snapshot(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                             int64_t next_row_id, frz_snapshot *snapshot, frz_error *err)
{
    int64_t now = frz_now_ms(attempt->env);
    const frz_schema *schema = plan->schema != NULL ? plan->schema : attempt->schema;
    snapshot->snapshot_id = attempt->snapshot_id;
    snapshot->parent_id = attempt->parent == NULL ? 0 : attempt->parent->snapshot_id;
    snapshot->sequence_number = attempt->sequence_number;
    snapshot->timestamp_ms = now;
    if (attempt->parent != NULL && now <= attempt->parent->timestamp_ms) {
        /* times of a table rise, even if the clock does not */
        int64_t before = attempt->parent->timestamp_ms;
        snapshot->timestamp_ms = before < INT64_MAX ? before + 1 : before;
    }
    snapshot->schema_id = schema->schema_id;
    snapshot->first_row_id = attempt->first_row_id;
    snapshot->added_rows = next_row_id - attempt->first_row_id;
    return snapshot_summary(attempt, plan, snapshot, err);
}

/* ---- where a new table lies ---- */

/* One folder name: bytes that could mean something to a shell, a path or a URI become %XX. */
static frz_code append_folder(frz_buf *out, const char *name, frz_error *err)
{
    frz_code rc = frz_buf_append_byte(out, '/', err);
    for (const char *p = name; *p != '\0' && rc == FRZ_OK; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '_' || *p == '-' || (*p == '.' && p != name);
        rc = plain ? frz_buf_append_byte(out, (uint8_t)*p, err)
                   : frz_buf_printf(out, err, "%%%02X", (unsigned)(uint8_t)*p);
    }
    return rc;
}

frz_code frz_commit_table_location(const frz_commit *commit, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(commit->env, 8192);
    const char *warehouse = commit->catalog->warehouse;
    if (warehouse == NULL) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "the catalog has no warehouse to put table %s into",
                      commit->text);
        frz_hint(err, "give a folder with --warehouse");
        goto out;
    }
    FRZ_TRY(frz_buf_append_str(&text, warehouse, err));
    FRZ_TRY(append_folder(&text, commit->name.namespace_name, err));
    FRZ_TRY(append_folder(&text, commit->name.table_name, err));
    *out = frz_strdup(commit->env, frz_buf_view(&text));
    rc = *out == NULL ? frz_fail_nomem(err, text.len) : FRZ_OK;
out:
    frz_buf_reset(&text);
    return rc;
}
