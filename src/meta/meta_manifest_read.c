/*
 * Root manifests as those who write the next one need them: every row as an entry, with all
 * statistics. What others may legally write and this library cannot write again is remembered and
 * refused when live files are asked for.
 * spec: root manifest, values in root entries
 */
#include <stdlib.h>

#include "meta/meta_root.h"

struct frz_manifest {
    const frz_env *env;
    frz_arena arena; /* texts, lists and statistics of entries */
    char *location;
    frz_entry *entries;
    size_t count, capacity;
    const frz_entry **live;
    size_t live_count;
    const char *missing; /* what this library lacks to write the live files; NULL: nothing */
    size_t missing_at;   /* entry */
};

typedef struct manifest_reader {
    const frz_table *table;
    frz_manifest *manifest;
} manifest_reader;

/* ---- rows ---- */

/* What v4 knows but this library does not write yet, of a live entry; NULL: nothing. */
static const char *missing_of(const frz_metadata *metadata, const frz_entry *e)
{
    if (e->content != FRZ_CONTENT_DATA) {
        return e->content == FRZ_CONTENT_DATA_MANIFEST ? "leaf manifests" : "delete manifests";
    }
    if (e->has_deletion_vector) {
        return "deletion vectors";
    }
    if (e->key_metadata.ptr != NULL) {
        return "encrypted data files";
    }
    if (e->spec_id >= 0 && meta_spec_is_partitioned(metadata, e->spec_id)) {
        return "partitioned data files";
    }
    for (size_t i = 0; i < e->column_file_count; i++) {
        if (e->column_files[i].key_metadata.ptr != NULL) {
            return "encrypted column files";
        }
    }
    return NULL;
}

static frz_code take_row(void *ctx, const frz_entry *entry, const meta_tracked_manifest *manifest,
                         frz_error *err)
{
    manifest_reader *r = ctx;
    frz_manifest *m = r->manifest;
    (void)manifest;
    frz_code rc = FRZ_GROW(m->env, &m->entries, &m->capacity, m->count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (m->missing == NULL && frz_status_is_live(entry->status)) {
        m->missing = missing_of(&r->table->metadata, entry);
        m->missing_at = m->count;
    }
    m->entries[m->count++] = *entry;
    return FRZ_OK;
}

/* ---- after the last entry ---- */

static int compare_locations(const void *a, const void *b)
{
    return frz_str_compare(*(const frz_str *)a, *(const frz_str *)b);
}

/* spec: a location has at most one live entry in a snapshot; compared as resolved */
static frz_code check_unique(const manifest_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_manifest *m = r->manifest;
    frz_str *locations = frz_alloc_zero(m->env, m->live_count, sizeof *locations);
    if (locations == NULL) {
        return frz_fail_nomem(err, m->live_count * sizeof *locations);
    }
    for (size_t i = 0; i < m->live_count; i++) {
        locations[i] = frz_table_relativize(r->table, m->live[i]->location);
    }
    qsort(locations, m->live_count, sizeof *locations, compare_locations);
    for (size_t i = 1; i < m->live_count && rc == FRZ_OK; i++) {
        if (frz_str_equal(locations[i], locations[i - 1])) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%.*s has two live entries",
                          FRZ_STR_ARG(locations[i]));
        }
    }
    frz_free(m->env, locations);
    return rc;
}

static frz_code collect_live(manifest_reader *r, frz_error *err)
{
    frz_manifest *m = r->manifest;
    m->live = frz_arena_array(&m->arena, m->count, sizeof(frz_entry *));
    if (m->live == NULL) {
        return frz_fail_nomem(err, m->count * sizeof(frz_entry *));
    }
    for (size_t i = 0; i < m->count; i++) {
        const frz_entry *e = &m->entries[i];
        if (e->content == FRZ_CONTENT_DATA && frz_status_is_live(e->status)) {
            m->live[m->live_count++] = e;
        }
    }
    return check_unique(r, err);
}

/* ---- opening ---- */

static frz_code read_root(manifest_reader *r, const frz_snapshot *snapshot,
                          const frz_schema *schema, frz_arena *scratch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_manifest *m = r->manifest;
    meta_entry_rules rules;
    meta_root root = {.table = r->table,
                      .snapshot = snapshot,
                      .schema = schema,
                      .rules = &rules,
                      .stats = {.all = true},
                      .location = m->location,
                      .arena = &m->arena,
                      .row = take_row,
                      .ctx = r};
    FRZ_TRY(meta_entry_rules_of(&r->table->metadata, schema, scratch, &rules, err));
    FRZ_TRY(meta_root_read(&root, err));
    FRZ_TRY(collect_live(r, err));
out:
    return rc;
}

frz_code frz_manifest_open(const frz_table *table, const frz_snapshot *snapshot,
                           const frz_schema *schema, frz_manifest **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = table->env;
    manifest_reader r = {.table = table};
    frz_arena scratch;
    frz_arena_init(&scratch, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(meta_root_check(snapshot, err));
    r.manifest = frz_alloc_zero(env, 1, sizeof *r.manifest);
    FRZ_TRY(r.manifest == NULL ? frz_fail_nomem(err, sizeof *r.manifest) : FRZ_OK);
    r.manifest->env = env;
    frz_arena_init(&r.manifest->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_table_resolve_access(table, snapshot->root_manifest, &r.manifest->location, err));
    rc = read_root(&r, snapshot, schema, &scratch, err);
    if (rc != FRZ_OK) {
        frz_context(err, rc, "manifest %s", r.manifest->location);
        goto out;
    }
    *out = r.manifest;
    r.manifest = NULL;
out:
    frz_arena_reset(&scratch);
    frz_manifest_free(r.manifest);
    return rc;
}

void frz_manifest_free(frz_manifest *manifest)
{
    if (manifest == NULL) {
        return;
    }
    frz_arena_reset(&manifest->arena);
    frz_free(manifest->env, manifest->entries);
    frz_free(manifest->env, manifest->location);
    frz_free(manifest->env, manifest);
}

/* ---- looking up ---- */

static int compare_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

const char *frz_manifest_location(const frz_manifest *manifest)
{
    return manifest->location;
}

size_t frz_manifest_count(const frz_manifest *manifest)
{
    return manifest->count;
}

const frz_entry *frz_manifest_entry(const frz_manifest *manifest, size_t i)
{
    assert(i < manifest->count);
    return &manifest->entries[i];
}

frz_code frz_manifest_live(const frz_manifest *manifest, const frz_entry *const **out,
                           size_t *count, frz_error *err)
{
    if (manifest->missing != NULL) {
        const frz_entry *e = &manifest->entries[manifest->missing_at];
        frz_code rc = frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: %s (entry %zu, %.*s)",
                               manifest->missing, manifest->missing_at, FRZ_STR_ARG(e->location));
        return frz_context(err, rc, "manifest %s", manifest->location);
    }
    *out = manifest->live;
    *count = manifest->live_count;
    return FRZ_OK;
}

const frz_field_stats *frz_entry_stats(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->stats_count; i++) {
        if (entry->stats[i].field_id == field_id) {
            return &entry->stats[i];
        }
    }
    return NULL;
}

const frz_column_file *frz_entry_provider(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        if (bsearch(&field_id, file->field_ids, file->field_id_count, sizeof field_id,
                    compare_i32) != NULL) {
            return file;
        }
    }
    return NULL;
}

const char *frz_status_name(frz_status status)
{
    static const char *const names[] = {"EXISTING", "ADDED", "DELETED", "REPLACED", "MODIFIED"};
    return (size_t)status < FRZ_ARRAY_COUNT(names) ? names[status] : "unknown";
}
