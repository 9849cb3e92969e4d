/*
 * What a commit says about its files: entries by status, the snapshot and its summary, and where a
 * new table lies. spec: field values per status; snapshots
 */
#include <stdio.h>

#include "write/write_internal.h"

/* Room for one more change. */
static frz_code grow(const frz_commit_attempt *attempt, frz_commit_plan *plan, frz_error *err)
{
    size_t capacity = plan->change_capacity == 0 ? 16 : plan->change_capacity * 2;
    frz_entry_change *grown = frz_arena_array(attempt->arena, capacity, sizeof *grown);
    if (grown == NULL) {
        return frz_fail_nomem(err, capacity * sizeof *grown);
    }
    if (plan->change_count > 0) {
        memcpy(grown, plan->changes, plan->change_count * sizeof *grown);
    }
    plan->changes = grown;
    plan->change_capacity = capacity;
    return FRZ_OK;
}

static frz_code keep(frz_arena *arena, const frz_entry *entry, frz_entry **out, frz_error *err)
{
    frz_entry *copy = entry == NULL ? NULL : frz_arena_alloc(arena, sizeof *copy);
    if (entry != NULL && copy == NULL) {
        return frz_fail_nomem(err, sizeof *copy);
    }
    if (copy != NULL) {
        *copy = *entry;
    }
    *out = copy;
    return FRZ_OK;
}

static frz_code add_change(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                           const frz_entry *before, const frz_entry *after, frz_entry_change **out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry *old = NULL, *new = NULL;
    assert(before != NULL || after != NULL);
    if (plan->change_count == plan->change_capacity) {
        FRZ_TRY(grow(attempt, plan, err));
    }
    FRZ_TRY(keep(attempt->arena, before, &old, err));
    FRZ_TRY(keep(attempt->arena, after, &new, err));
    if (old != NULL && new != NULL &&new->file_sequence_number == FRZ_NO_VALUE) {
        new->file_sequence_number = old->sequence_number; /* early writers did not record it */
    }
    *out = &plan->changes[plan->change_count++];
    **out = (frz_entry_change){.before = old, .after = new};
out:
    return rc;
}

frz_code frz_commit_plan_change(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                                const frz_entry *before, const frz_entry *after, frz_error *err)
{
    frz_entry_change *change;
    return add_change(attempt, plan, before, after, &change, err);
}

/* Entries of the root itself are read with all statistics. */
frz_code frz_commit_plan_update(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                                const frz_entry *before, const frz_entry *after,
                                const int32_t *stats_ids, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_change *change = NULL;
    frz_entry known = *after;
    known.stats_count = count == 0 ? 0 : after->stats_count;
    FRZ_TRY(add_change(attempt, plan, before, &known, &change, err));
    if (before->manifest == FRZ_IN_ROOT) {
        return frz_stats_overlay(attempt->arena, before, stats_ids, count, change->after, err);
    }
    int32_t *ids = frz_arena_array(attempt->arena, count, sizeof *ids);
    FRZ_TRY(ids == NULL ? frz_fail_nomem(err, count * sizeof *ids) : FRZ_OK);
    if (count > 0) {
        memcpy(ids, stats_ids, count * sizeof *ids);
    }
    change->is_partial = true;
    change->stats_ids = ids;
    change->stats_id_count = count;
out:
    return rc;
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

frz_entry frz_entry_row_delete(const frz_entry *source, const frz_commit_attempt *attempt)
{
    frz_entry entry = *source;
    entry.status = FRZ_STATUS_MODIFIED;
    entry.modified_snapshot_id = attempt->snapshot_id;
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

/* What a commit changes, as its summary tells it. */
typedef struct change_counts {
    int64_t added, removed, modified; /* data files */
    int64_t added_rows, removed_rows; /* of added and removed files */
} change_counts;

static change_counts count_changes(const frz_commit_plan *plan)
{
    change_counts c = {0};
    for (size_t i = 0; i < plan->change_count; i++) {
        const frz_entry *before = plan->changes[i].before, *after = plan->changes[i].after;
        bool modified = frz_change_stays(&plan->changes[i]);
        c.modified += modified;
        if (after != NULL && !modified) {
            c.added++;
            c.added_rows += after->record_count;
        }
        if (before != NULL && !modified) {
            c.removed++;
            c.removed_rows += before->record_count;
        }
    }
    return c;
}

/* A number that the parent's summary tells; false if it does not. */
static bool parent_total(const frz_snapshot *parent, const char *key, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; parent != NULL && i < parent->summary_count; i++) {
        if (frz_str_equal(parent->summary[i].key, frz_str_from(key))) {
            return frz_str_to_i64(parent->summary[i].value, out) && *out >= 0;
        }
    }
    return parent == NULL;
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

/* Most members that a summary gets here. */
#define SUMMARY_MOST 8

static frz_code add_counts(frz_arena *arena, const change_counts *c, frz_property_kv *summary,
                           size_t *count, frz_error *err)
{
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {
        {"added-data-files", c->added},       {"added-records", c->added_rows},
        {"deleted-data-files", c->removed},   {"deleted-records", c->removed_rows},
        {"modified-data-files", c->modified},
    };
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(counts); i++) {
        if (counts[i].value > 0) {
            FRZ_TRY(add_summary(arena, summary, count, counts[i].key, counts[i].value, err));
        }
    }
out:
    return rc;
}

/* Totals follow from the parent's, as far as it tells them. */
static frz_code add_totals(const frz_commit_attempt *attempt, const change_counts *c,
                           frz_property_kv *summary, size_t *count, frz_error *err)
{
    const struct {
        const char *key;
        int64_t change;
    } totals[] = {
        {"total-data-files", c->added - c->removed},
        {"total-records", c->added_rows - c->removed_rows},
    };
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(totals); i++) {
        int64_t total = 0;
        if (parent_total(attempt->parent, totals[i].key, &total) &&
            frz_add_i64(total, totals[i].change, &total) && total >= 0) {
            FRZ_TRY(add_summary(attempt->arena, summary, count, totals[i].key, total, err));
        }
    }
out:
    return rc;
}

static frz_code snapshot_summary(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                                 frz_snapshot *snapshot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = 0, most = SUMMARY_MOST + plan->summary_count;
    const change_counts counts = count_changes(plan);
    frz_property_kv *summary = frz_arena_array(attempt->arena, most, sizeof *summary);
    if (summary == NULL) {
        return frz_fail_nomem(err, most * sizeof *summary);
    }
    summary[n++] = (frz_property_kv){FRZ_STR("operation"), frz_str_from(plan->operation)};
    FRZ_TRY(add_counts(attempt->arena, &counts, summary, &n, err));
    FRZ_TRY(add_totals(attempt, &counts, summary, &n, err));
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
