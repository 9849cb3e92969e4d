/*
 * Validation: proves from the files themselves that a table is sound. This file checks the table's
 * metadata and walks the snapshots, newest first; the root manifest of each is checked on its own
 * and against its parent's, then every file it refers to. What several snapshots share is looked at
 * once. spec: snapshots; sequence numbers; row lineage
 */
#include <stdio.h>

#include "maintain/maintain_internal.h"

/* ---- findings ---- */

void frz_validate_find(frz_validation *v, const char *location, const char *fmt, ...)
{
    char text[1536];
    bool added = true;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    frz_key key = frz_key_of("finding"); /* what many snapshots share is told once */
    frz_key_str(&key, frz_str_from(location));
    frz_key_str(&key, frz_str_from(text));
    (void)frz_key_map_put(&v->done, key, 0, &added, NULL); /* without memory it is told again */
    if (!added) {
        return;
    }
    v->findings++;
    if (v->visit == NULL) {
        return;
    }
    for (char *p = text; *p != '\0'; p++) { /* one line, whatever names and values hold */
        *p = (unsigned char)*p < 0x20 ? ' ' : *p;
    }
    v->visit(v->ctx, location, text);
}

frz_code frz_validate_failure(frz_validation *v, const char *location, frz_code rc, frz_error *err)
{
    char text[1536];
    switch (rc) {
    case FRZ_OK:
        return FRZ_OK;
    case FRZ_E_NOMEM:
    case FRZ_E_CANCELLED:
    case FRZ_E_INTERNAL:
        return rc;
    default:
        frz_error_format(err, text, sizeof text);
        frz_validate_find(v, location, "%s", err == NULL ? frz_code_name(rc) : text);
        frz_error_reset(err);
        return FRZ_OK;
    }
}

/* ---- metadata ---- */

static const char *metadata_location(const frz_validation *v)
{
    return v->table->metadata_location == NULL ? "metadata" : v->table->metadata_location;
}

static void check_snapshot_parent(frz_validation *v, const frz_snapshot *snapshot,
                                  const frz_snapshot *parent)
{
    bool numbered = snapshot->sequence_number > 0; /* snapshots of version 1 are not */
    if (numbered && parent->sequence_number >= snapshot->sequence_number) {
        frz_validate_find(v, metadata_location(v),
                          "snapshot %lld: sequence number %lld is not above its parent's %lld",
                          (long long)snapshot->snapshot_id, (long long)snapshot->sequence_number,
                          (long long)parent->sequence_number);
    }
    if (parent->first_row_id == FRZ_NO_VALUE || snapshot->first_row_id == FRZ_NO_VALUE) {
        return; /* from before row lineage */
    }
    int64_t end = frz_maintain_sum(parent->first_row_id, parent->added_rows);
    if (end > snapshot->first_row_id) {
        frz_validate_find(v, metadata_location(v),
                          "snapshot %lld: first-row-id %lld lies in the row ids of its parent, "
                          "which end at %lld",
                          (long long)snapshot->snapshot_id, (long long)snapshot->first_row_id,
                          (long long)end);
    }
}

static void check_snapshot(frz_validation *v, const frz_snapshot *snapshot)
{
    const frz_metadata *metadata = &v->table->metadata;
    long long id = (long long)snapshot->snapshot_id;
    bool has_row_ids =
        snapshot->first_row_id != FRZ_NO_VALUE && snapshot->added_rows != FRZ_NO_VALUE;
    int64_t end;
    if (has_row_ids && (!frz_add_i64(snapshot->first_row_id, snapshot->added_rows, &end) ||
                        end > metadata->next_row_id)) {
        frz_validate_find(v, metadata_location(v),
                          "snapshot %lld: first-row-id %lld and added-rows %lld do not fit below "
                          "next-row-id %lld",
                          id, (long long)snapshot->first_row_id, (long long)snapshot->added_rows,
                          (long long)metadata->next_row_id);
        return;
    }
    if (snapshot->schema_id >= 0 && frz_metadata_schema(metadata, snapshot->schema_id) == NULL) {
        frz_validate_find(v, metadata_location(v), "snapshot %lld: schema %d does not exist", id,
                          snapshot->schema_id);
    }
    const frz_snapshot *parent = frz_metadata_snapshot(metadata, snapshot->parent_id);
    if (snapshot->parent_id != 0 && parent != NULL) { /* it may have been expired */
        check_snapshot_parent(v, snapshot, parent);
    }
}

/* Most of what metadata must fulfil was checked when it was read: a table that is open has it. */
static void check_metadata(frz_validation *v)
{
    const frz_metadata *metadata = &v->table->metadata;
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        check_snapshot(v, &metadata->snapshots[i]);
    }
}

/* ---- snapshots ---- */

/* The parent's manifests for comparison; nothing if it is not retained or cannot be read, which is
 * told when the parent's own turn comes. */
static frz_code open_parent(frz_validation *v, const frz_snapshot *snapshot,
                            frz_validate_root *root, bool *open, frz_error *err)
{
    const frz_snapshot *parent = NULL;
    const frz_schema *schema = NULL;
    frz_code rc = FRZ_OK;
    if (snapshot->parent_id == 0 ||
        frz_metadata_snapshot(&v->table->metadata, snapshot->parent_id) == NULL) {
        return FRZ_OK;
    }
    rc = frz_table_snapshot(v->table, snapshot->parent_id, &parent, &schema, err);
    rc = rc == FRZ_OK ? frz_validate_root_open(v, parent, schema, root, err) : rc;
    if (rc == FRZ_E_NOMEM || rc == FRZ_E_CANCELLED) {
        return rc;
    }
    *open = rc == FRZ_OK;
    if (rc != FRZ_OK) {
        frz_error_reset(err);
    }
    return FRZ_OK;
}

static frz_code check_tracking(frz_validation *v, const frz_validate_root *root, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_validate_root parent = {0};
    bool has_parent = false;
    FRZ_TRY(open_parent(v, root->snapshot, &parent, &has_parent, err));
    FRZ_TRY(frz_validate_tracking(v, root, has_parent ? &parent : NULL, err));
out:
    frz_validate_root_reset(v, &parent);
    return rc;
}

static frz_code check_root(frz_validation *v, const frz_validate_root *root, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (root->is_tracked) {
        FRZ_TRY(check_tracking(v, root, err));
    }
    for (size_t i = 0; i < root->count; i++) {
        if (frz_status_is_live(root->items[i].entry->status)) {
            FRZ_TRY(frz_validate_files(v, root, &root->items[i], err));
        }
    }
    if (root->is_tracked) {
        FRZ_TRY(frz_validate_row_ids(v, root, err));
    }
out:
    return rc;
}

static frz_code check_snapshot_files(frz_validation *v, int64_t snapshot_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    frz_validate_root root = {0};
    bool current = snapshot_id == v->table->metadata.current_snapshot_id;
    rc = frz_table_snapshot(v->table, current ? 0 : snapshot_id, &snapshot, &schema, err);
    rc = rc == FRZ_OK ? frz_validate_root_open(v, snapshot, schema, &root, err) : rc;
    if (rc != FRZ_OK) {
        frz_context(err, rc, "snapshot %lld", (long long)snapshot_id);
        rc = frz_validate_failure(v, metadata_location(v), rc, err);
        goto out;
    }
    FRZ_TRY(check_root(v, &root, err));
out:
    frz_validate_root_reset(v, &root);
    return rc;
}

static void validation_reset(frz_validation *v)
{
    for (size_t i = 0; i < v->run_count; i++) {
        frz_free(v->env, v->runs[i].runs);
    }
    frz_free(v->env, v->runs);
    frz_key_map_reset(&v->done);
    frz_key_map_reset(&v->runs_of);
}

frz_code frz_validate(frz_table *table, frz_finding_fn visit, void *ctx, int64_t *findings,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_error own = {0};
    frz_error *error = err == NULL ? &own : err; /* findings are told from its text */
    size_t count = table->metadata.snapshot_count;
    frz_validation v = {.env = table->env, .table = table, .visit = visit, .ctx = ctx};
    frz_key_map_init(&v.done, table->env);
    frz_key_map_init(&v.runs_of, table->env);
    check_metadata(&v);
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(frz_progress(v.env, "validate", i, count, error));
        FRZ_TRY(
            check_snapshot_files(&v, table->metadata.snapshots[count - 1 - i].snapshot_id, error));
    }
    FRZ_TRY(frz_progress(v.env, "validate", count, count, error));
    if (findings != NULL) {
        *findings = v.findings;
    }
out:
    validation_reset(&v);
    return rc;
}
