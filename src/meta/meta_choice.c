/*
 * Which snapshot is read, and with which schema: the current one, or one chosen by its id, by a
 * time, or by a reference. spec: Point in Time Reads, Snapshot References
 */
#include "meta/meta_internal.h"
#include "type/type_value.h"

static const char *title_of(const frz_table *table)
{
    const char *location = table->metadata_location == NULL ? "" : table->metadata_location;
    return table->name == NULL ? location : table->name;
}

/* ---- times ---- */

/* Snapshots have milliseconds: the last one that had begun. */
frz_code frz_time_parse(const frz_env *env, frz_str text, int64_t *ms, frz_error *err)
{
    frz_arena arena;
    frz_value value;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    frz_code rc =
        frz_value_parse(&arena, frz_type_primitive(FRZ_TYPE_TIMESTAMPTZ), text, &value, err);
    if (rc == FRZ_OK) {
        *ms = value.as.i64 / 1000 - (value.as.i64 % 1000 < 0);
    }
    frz_arena_reset(&arena);
    return rc;
}

/* What was current at a time is in the log alone: parents tell of a branch, not of rollbacks. */
static frz_code find_at(const frz_table *table, const char *as_of, const frz_snapshot **out,
                        frz_error *err)
{
    const frz_metadata *m = &table->metadata;
    const frz_snapshot_log_entry *best = NULL;
    int64_t time;
    frz_code rc = frz_time_parse(table->env, frz_str_from(as_of), &time, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (m->snapshot_log_count == 0) {
        return frz_fail(err, FRZ_E_NOT_FOUND,
                        "table %s has no snapshot log, so what was current at a time is not known",
                        title_of(table));
    }
    for (size_t i = 0; i < m->snapshot_log_count; i++) {
        const frz_snapshot_log_entry *entry = &m->snapshot_log[i];
        if (entry->timestamp_ms <= time &&
            (best == NULL || entry->timestamp_ms >= best->timestamp_ms)) {
            best = entry;
        }
    }
    if (best == NULL) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "table %s had no snapshot yet at %s", title_of(table),
                        as_of);
    }
    *out = frz_metadata_snapshot(m, best->snapshot_id);
    return *out != NULL ? FRZ_OK
                        : frz_fail(err, FRZ_E_NOT_FOUND,
                                   "table %s: snapshot %lld, current at %s, has expired",
                                   title_of(table), (long long)best->snapshot_id, as_of);
}

/* ---- references ---- */

static frz_code find_ref(const frz_table *table, const char *name, const frz_snapshot **out,
                         bool *is_tag, frz_error *err)
{
    const frz_ref *ref = frz_metadata_ref(&table->metadata, frz_str_from(name));
    if (ref == NULL) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "table %s has no branch or tag %s", title_of(table),
                        name);
    }
    *out = frz_metadata_snapshot(&table->metadata, ref->snapshot_id);
    *is_tag = ref->is_tag;
    return FRZ_OK;
}

/* ---- the choice ---- */

static frz_code find(const frz_table *table, const frz_snapshot_choice *choice,
                     const frz_snapshot **out, bool *own_schema, frz_error *err)
{
    int ways = (choice->snapshot_id != 0) + (choice->as_of != NULL) + (choice->ref != NULL);
    if (ways > 1) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "a snapshot is chosen by its id, by a time or by a reference, not by two "
                        "of them");
    }
    *own_schema = true;
    if (choice->as_of != NULL) {
        return find_at(table, choice->as_of, out, err);
    }
    if (choice->ref != NULL) {
        return find_ref(table, choice->ref, out, own_schema, err);
    }
    if (choice->snapshot_id == 0) {
        *out = frz_metadata_current_snapshot(&table->metadata);
        *own_schema = false;
        return FRZ_OK;
    }
    *out = frz_metadata_snapshot(&table->metadata, choice->snapshot_id);
    return *out != NULL ? FRZ_OK
                        : frz_fail(err, FRZ_E_NOT_FOUND, "table %s has no snapshot %lld",
                                   title_of(table), (long long)choice->snapshot_id);
}

/* The current snapshot and branches are read with the table's schema, tags and named snapshots
 * with their own, if they recorded one. spec: which schema a time-travel read uses */
frz_code frz_table_choose(const frz_table *table, const frz_snapshot_choice *choice,
                          const frz_snapshot **snapshot, const frz_schema **schema, frz_error *err)
{
    const frz_snapshot *found = NULL;
    const frz_schema *read_as = frz_metadata_current_schema(&table->metadata);
    bool own_schema = false;
    frz_code rc = find(table, choice, &found, &own_schema, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (own_schema && found->schema_id >= 0) {
        read_as = frz_metadata_schema(&table->metadata, found->schema_id);
    }
    if (read_as == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "snapshot %lld was written with schema %d, which the metadata lacks",
                        (long long)found->snapshot_id, (int)found->schema_id);
    }
    if (found != NULL && found->key_id.ptr != NULL) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                      "unsupported: snapshot %lld has a key-id, its manifests are encrypted",
                      (long long)found->snapshot_id);
        return frz_context(err, rc, "metadata %s", title_of(table));
    }
    *snapshot = found;
    *schema = read_as;
    return FRZ_OK;
}

frz_code frz_table_snapshot(const frz_table *table, int64_t snapshot_id,
                            const frz_snapshot **snapshot, const frz_schema **schema,
                            frz_error *err)
{
    const frz_snapshot_choice choice = {.snapshot_id = snapshot_id};
    return frz_table_choose(table, &choice, snapshot, schema, err);
}

frz_code frz_table_find_snapshot(const frz_table *table, const char *as_of, const char *ref,
                                 int64_t *out, frz_error *err)
{
    const frz_snapshot_choice choice = {.as_of = as_of, .ref = ref};
    const frz_snapshot *found = NULL;
    bool own_schema;
    frz_code rc = find(table, &choice, &found, &own_schema, err);
    if (rc == FRZ_OK && found == NULL) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND, "table %s has no snapshot yet", title_of(table));
    }
    if (rc == FRZ_OK) {
        *out = found->snapshot_id;
    }
    return rc;
}

frz_code frz_table_current_snapshot(const frz_table *table, int64_t *out, frz_error *err)
{
    return frz_table_find_snapshot(table, NULL, NULL, out, err);
}
