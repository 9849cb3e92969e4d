/*
 * The commit loop.
 *
 * Invariants:
 *  1. Nothing is visible before the catalog's swap; whatever fails earlier leaves the old table and
 *     at most files that nothing refers to.
 *  2. When the swap is asked for, every file of the new version and the names of all of them are
 *     durable (unless write.durability is "none").
 *  3. A file is removed only if the outcome is known and no committed version refers to it. An
 *     unknown outcome removes nothing.
 *  4. Each attempt starts from the newest version: sequence number, first row id and entries are
 *     taken from it, never from an earlier attempt.
 *
 * States of one attempt, and the function of each step:
 *
 *   load (attempt_begin) -> build (caller) -> write root, metadata (attempt_write)
 *     -> make durable (attempt_sync) -> swap (attempt_publish) -> settle (commit_settle)
 *   conflict at swap -> drop this attempt's root and metadata, wait, load again
 */
#include <stdio.h>

#include "write/write_internal.h"

/* ---- files ------------------------------------------------------------------------------------
 */

frz_code frz_commit_track(const frz_commit_attempt *attempt, const char *location, int64_t bytes,
                          bool is_data, frz_error *err)
{
    frz_commit *commit = attempt->commit;
    frz_code rc =
        FRZ_GROW(commit->env, &commit->files, &commit->file_capacity, commit->file_count, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    char *copy = frz_strdup(commit->env, frz_str_from(location));
    if (copy == NULL) {
        return frz_fail_nomem(err, strlen(location));
    }
    commit->files[commit->file_count++] =
        (frz_written_file){.location = copy, .bytes = bytes, .is_data = is_data};
    return FRZ_OK;
}

bool frz_commit_sync_each(const frz_commit_attempt *attempt, size_t files)
{
    bool each = files <= FRZ_SYNC_EACH_MAX;
    if (attempt->durable && !each) {
        attempt->commit->sync_all = true;
    }
    return attempt->durable && each;
}

frz_code frz_commit_data_path(const frz_commit_attempt *attempt, const char *suffix, char **out,
                              frz_error *err)
{
    char uuid[FRZ_UUID_TEXT];
    char name[128];
    frz_code rc = frz_uuid_text(attempt->env, uuid, err);
    if (rc == FRZ_OK) {
        snprintf(name, sizeof name, "%s%s.parquet", uuid, suffix);
        rc = frz_table_new_data_path(attempt->table, name, out, err);
    }
    return rc;
}

/* True if an entry of the plan refers to a file at this absolute location. */
static bool entry_refers(const frz_table *table, const frz_entry *entry, frz_str location)
{
    frz_str recorded = frz_table_relativize(table, location);
    if (frz_str_equal(entry->location, recorded) || frz_str_equal(entry->location, location)) {
        return true;
    }
    for (size_t i = 0; i < entry->column_file_count; i++) {
        frz_str file = entry->column_files[i].location;
        if (frz_str_equal(file, recorded) || frz_str_equal(file, location)) {
            return true;
        }
    }
    return false;
}

static void mark_data_in_use(frz_commit *commit, const frz_table *table,
                             const frz_commit_plan *plan)
{
    for (size_t i = 0; i < commit->file_count; i++) {
        frz_written_file *file = &commit->files[i];
        for (size_t k = 0; file->is_data && !file->in_use && k < plan->entry_count; k++) {
            file->in_use = entry_refers(table, plan->entries[k], frz_str_from(file->location));
        }
    }
}

/* Remove what the committed version does not use; with metadata_only what a lost attempt left. */
static void remove_unused(frz_commit *commit, bool metadata_only)
{
    size_t kept = 0;
    for (size_t i = 0; i < commit->file_count; i++) {
        frz_written_file *file = &commit->files[i];
        if (file->in_use || (metadata_only && file->is_data)) {
            commit->files[kept++] = *file;
            continue;
        }
        /* best effort: what stays behind is referenced by nothing */
        (void)frz_file_remove(commit->env, file->location, NULL);
        frz_free(commit->env, file->location);
    }
    commit->file_count = kept;
}

/* ---- durability ---------------------------------------------------------------------------------
 */

static size_t folder_length(const char *location)
{
    const char *slash = strrchr(location, '/');
    return slash == NULL ? 0 : (size_t)(slash - location);
}

/* True if an earlier file of the list lies in the same folder. */
static bool folder_seen(const frz_commit *commit, size_t index)
{
    const char *location = commit->files[index].location;
    size_t length = folder_length(location);
    for (size_t i = 0; i < index; i++) {
        const char *other = commit->files[i].location;
        if (folder_length(other) == length && memcmp(other, location, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The names of new folders above the table's files, up to the warehouse's own. */
static frz_code sync_new_folders(frz_commit *commit, const char *location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *warehouse = commit->catalog->warehouse;
    size_t stop = warehouse == NULL ? 0 : strlen(warehouse);
    char *path = frz_strdup(commit->env, frz_str_from(location));
    if (path == NULL) {
        return frz_fail_nomem(err, strlen(location));
    }
    for (size_t length = folder_length(path); length >= stop && length > 0;
         length = folder_length(path)) {
        path[length] = '\0';
        FRZ_TRY(frz_sync_dir(commit->env, path, err));
    }
out:
    frz_free(commit->env, path);
    return rc;
}

static frz_code attempt_sync(frz_commit *commit, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < commit->file_count; i++) {
        const char *location = commit->files[i].location;
        if (folder_seen(commit, i)) {
            continue;
        }
        if (commit->sync_all && commit->files[i].is_data) {
            FRZ_TRY(frz_sync_all(commit->env, location, err));
        }
        FRZ_TRY(frz_sync_dir(commit->env, location, err));
        if (commit->creating) {
            FRZ_TRY(sync_new_folders(commit, location, err));
        }
    }
out:
    return rc;
}

/* ---- one attempt
 * ------------------------------------------------------------------------------------ */

static frz_code attempt_numbers(frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &attempt->table->metadata;
    attempt->schema = frz_metadata_current_schema(metadata);
    attempt->parent = frz_metadata_current_snapshot(metadata);
    attempt->first_row_id = metadata->next_row_id;
    if (!frz_add_i64(metadata->last_sequence_number, 1, &attempt->sequence_number)) {
        return frz_fail(err, FRZ_E_CORRUPT, "last-sequence-number %lld cannot be raised",
                        (long long)metadata->last_sequence_number);
    }
    do {
        FRZ_TRY(frz_random_id(attempt->env, &attempt->snapshot_id, err));
    } while (frz_metadata_snapshot(metadata, attempt->snapshot_id) != NULL);
    FRZ_TRY(frz_write_durable(metadata, &attempt->durable, err));
out:
    return rc;
}

/* Give row ids to new files. spec: row lineage, assigning first_row_id */
static frz_code assign_row_ids(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                               int64_t *next_row_id, frz_error *err)
{
    int64_t next = attempt->first_row_id;
    for (size_t i = 0; i < plan->entry_count; i++) {
        frz_entry *entry = plan->entries[i];
        if (entry->status == FRZ_STATUS_ADDED && entry->first_row_id == FRZ_NO_VALUE) {
            entry->first_row_id = next;
            if (!frz_add_i64(next, entry->record_count, &next)) {
                return frz_fail(err, FRZ_E_LIMIT, "row ids beyond %lld are needed",
                                (long long)INT64_MAX);
            }
        }
    }
    *next_row_id = next;
    return FRZ_OK;
}

static frz_code write_root(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                           frz_str *recorded, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char uuid[FRZ_UUID_TEXT];
    char name[128];
    char *location = NULL;
    int64_t bytes = 0;
    FRZ_TRY(frz_uuid_text(attempt->env, uuid, err));
    snprintf(name, sizeof name, "root-%lld-%s.parquet", (long long)attempt->snapshot_id, uuid);
    FRZ_TRY(frz_table_new_metadata_path(attempt->table, name, &location, err));
    const frz_schema *schema = plan->schema != NULL ? plan->schema : attempt->schema;
    FRZ_TRY(frz_manifest_write(attempt->table, location, schema,
                               (const frz_entry *const *)plan->entries, plan->entry_count,
                               attempt->durable, &bytes, err));
    rc = frz_commit_track(attempt, location, bytes, false, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
        goto out;
    }
    FRZ_TRY(frz_arena_str(attempt->arena,
                          frz_table_relativize(attempt->table, frz_str_from(location)), recorded,
                          err));
out:
    frz_free(attempt->env, location);
    return rc;
}

/* Write root manifest and metadata JSON; new_location: free with frz_free. */
static frz_code attempt_write(const frz_commit_attempt *attempt, frz_commit_plan *plan,
                              char **new_location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_table *table = attempt->table;
    frz_snapshot snapshot = {0};
    json_t *json = NULL;
    char *location = NULL;
    int64_t bytes = 0;
    const char *previous = attempt->commit->creating ? NULL : table->metadata_location;
    frz_metadata_change change = {.schema = plan->schema,
                                  .last_column_id = plan->last_column_id,
                                  .set_properties = plan->set_properties,
                                  .set_property_count = plan->set_property_count};
    if (plan->operation != NULL) {
        FRZ_TRY(assign_row_ids(attempt, plan, &change.next_row_id, err));
        FRZ_TRY(write_root(attempt, plan, &snapshot.root_manifest, err));
        FRZ_TRY(frz_commit_snapshot(attempt, plan, change.next_row_id, &snapshot, err));
        change.snapshot = &snapshot;
    }
    FRZ_TRY(frz_metadata_json_change(attempt->env, table->metadata.json, previous, &change, &json,
                                     err));
    int64_t version = previous == NULL ? -1 : frz_metadata_version_of(previous);
    FRZ_TRY(frz_metadata_write(table, json, version + 1, attempt->durable, &location, &bytes, err));
    rc = frz_commit_track(attempt, location, bytes, false, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
        goto out;
    }
    *new_location = location;
    location = NULL;
out:
    json_decref(json);
    frz_free(attempt->env, location);
    return rc;
}

static frz_code attempt_publish(frz_commit *commit, const frz_commit_attempt *attempt,
                                const char *location, frz_error *err)
{
    const frz_catalog *catalog = commit->catalog;
    frz_code rc;
    if (commit->creating) {
        rc = catalog->ops->create(catalog->ctx, &commit->name, location, err);
    } else {
        rc = catalog->ops->swap(catalog->ctx, &commit->name, attempt->table->metadata_location,
                                location, err);
    }
    if (rc == FRZ_E_COMMIT_UNKNOWN) {
        frz_hint(err,
                 "the commit may have happened: compare \"frazil snapshots %s\" with snapshot "
                 "%lld before trying again; no file was removed",
                 commit->text, (long long)attempt->snapshot_id);
    }
    return rc;
}

/* The plan was published: say what it cost and drop files that it does not use. */
static void commit_settle(frz_commit *commit, const frz_commit_attempt *attempt,
                          const frz_commit_plan *plan, frz_commit_report *report)
{
    mark_data_in_use(commit, attempt->table, plan);
    report->snapshot_id = plan->operation == NULL ? 0 : attempt->snapshot_id;
    report->rows = plan->rows;
    report->data_files = plan->data_files;
    report->live_data_bytes = plan->live_data_bytes;
    for (size_t i = 0; i < commit->file_count; i++) {
        frz_written_file *file = &commit->files[i];
        file->in_use = file->in_use || !file->is_data;
        report->files_written++;
        *(file->is_data ? &report->data_bytes : &report->metadata_bytes) += file->bytes;
    }
    remove_unused(commit, false);
}

/* Load, build, write, publish. *again: a lost race that may be tried again. */
static frz_code commit_attempt(frz_commit *commit, frz_table *table, int64_t number, bool *again,
                               frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_manifest *manifest = NULL;
    char *location = NULL;
    frz_commit_plan plan = {0};
    frz_arena_init(&arena, commit->env, FRZ_ARENA_NO_LIMIT);
    frz_commit_attempt attempt = {
        .env = commit->env, .table = table, .number = number, .arena = &arena, .commit = commit};
    commit->sync_all = false;
    FRZ_TRY(attempt_numbers(&attempt, err));
    if (attempt.parent != NULL) {
        FRZ_TRY(frz_manifest_open(table, attempt.parent, attempt.schema, &manifest, err));
        attempt.manifest = manifest;
    }
    FRZ_TRY(commit->build(commit->build_ctx, &attempt, &plan, err));
    report->attempts = number;
    if (plan.nothing) {
        remove_unused(commit, false);
        goto out;
    }
    FRZ_TRY(attempt_write(&attempt, &plan, &location, err));
    if (attempt.durable) {
        FRZ_TRY(attempt_sync(commit, err));
    }
    rc = attempt_publish(commit, &attempt, location, err);
    *again = rc == FRZ_E_CONFLICT && !commit->creating;
    if (rc == FRZ_OK) {
        commit_settle(commit, &attempt, &plan, report);
        frz_log(commit->env, "write", FRZ_LOG_INFO, "committed %s, attempt %lld", location,
                (long long)number);
    }
out:
    frz_free(commit->env, location);
    frz_manifest_free(manifest);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- the loop
 * --------------------------------------------------------------------------------------- */

typedef struct retry_limits {
    int64_t retries, min_wait_ms, max_wait_ms;
} retry_limits;

static frz_code retry_limits_of(const frz_metadata *metadata, retry_limits *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(
        frz_metadata_property_i64(metadata, "commit.retry.num-retries", 20, &out->retries, err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "commit.retry.min-wait-ms", 10, &out->min_wait_ms,
                                      err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "commit.retry.max-wait-ms", 2000, &out->max_wait_ms,
                                      err));
out:
    return rc;
}

/* Wait before the next attempt: doubling, with a random half so that rivals drift apart. */
static void back_off(const frz_env *env, const retry_limits *limits, int64_t number)
{
    uint32_t random = 0;
    int64_t wait = FRZ_MAX(limits->min_wait_ms, 1);
    for (int64_t i = 1; i < number && wait < limits->max_wait_ms; i++) {
        wait *= 2;
    }
    wait = FRZ_MIN(wait, FRZ_MAX(limits->max_wait_ms, 1));
    if (frz_random_bytes(env, &random, sizeof random, NULL) != FRZ_OK) {
        random = (uint32_t)number;
    }
    frz_sleep_ms(wait / 2 + (int64_t)(random % (uint64_t)(wait / 2 + 1)));
}

static void commit_close(frz_commit *commit, frz_code rc)
{
    if (rc != FRZ_OK && rc != FRZ_E_COMMIT_UNKNOWN) {
        remove_unused(commit, false);
    }
    for (size_t i = 0; i < commit->file_count; i++) {
        frz_free(commit->env, commit->files[i].location);
    }
    frz_free(commit->env, commit->files);
}

frz_code frz_commit_run(frz_catalog *catalog, const char *table_name, frz_commit_build build,
                        void *ctx, frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    frz_commit_report figures = {0};
    retry_limits limits = {0};
    bool again = true;
    frz_commit commit = {.env = catalog->env,
                         .catalog = catalog,
                         .text = table_name,
                         .build = build,
                         .build_ctx = ctx};
    FRZ_TRY(frz_table_name_parse(table_name, &commit.name, err));
    for (int64_t number = 1; again; number++) {
        again = false;
        frz_table_unref(table);
        table = NULL;
        FRZ_TRY(frz_catalog_load_table(catalog, table_name, &table, err));
        FRZ_TRY(retry_limits_of(&table->metadata, &limits, err));
        rc = commit_attempt(&commit, table, number, &again, &figures, err);
        again = again && number <= limits.retries;
        if (again) {
            frz_log(catalog->env, "write", FRZ_LOG_INFO,
                    "%s: another writer was first, attempt %lld", table_name, (long long)number);
            remove_unused(&commit, true);
            back_off(catalog->env, &limits, number);
        }
    }
    if (rc == FRZ_OK && report != NULL) {
        *report = figures;
    }
out:
    commit_close(&commit, rc);
    frz_table_unref(table);
    return rc;
}

/* The in-memory table that a new table's first commit starts from. */
static frz_code table_begin(frz_commit *commit, const frz_new_table *new_table, frz_table **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL;
    char *location = NULL;
    frz_new_table placed = *new_table;
    frz_buf text = FRZ_BUF_INIT(commit->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_commit_table_location(commit, &location, err));
    placed.location = frz_str_from(location);
    FRZ_TRY(frz_metadata_json_new(commit->env, &placed, &json, err));
    FRZ_TRY(frz_json_dump(json, &text, err));
    FRZ_TRY(frz_table_parse(commit->env, location, frz_buf_view(&text), NULL, out, err));
out:
    frz_buf_reset(&text);
    json_decref(json);
    frz_free(commit->env, location);
    return rc;
}

frz_code frz_commit_create(frz_catalog *catalog, const char *table_name,
                           const frz_new_table *new_table, frz_commit_build build, void *ctx,
                           frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    char *existing = NULL;
    frz_commit_report figures = {0};
    bool again = false;
    frz_commit commit = {.env = catalog->env,
                         .catalog = catalog,
                         .text = table_name,
                         .build = build,
                         .build_ctx = ctx,
                         .creating = true};
    FRZ_TRY(frz_table_name_parse(table_name, &commit.name, err));
    frz_code found = catalog->ops->get(catalog->ctx, &commit.name, &existing, err);
    if (found != FRZ_E_NOT_FOUND) {
        rc = found != FRZ_OK ? found
                             : frz_fail(err, FRZ_E_EXISTS, "table %s exists already", table_name);
        goto out;
    }
    frz_error_reset(err);
    FRZ_TRY(table_begin(&commit, new_table, &table, err));
    FRZ_TRY(commit_attempt(&commit, table, 1, &again, &figures, err));
    if (report != NULL) {
        *report = figures;
    }
out:
    commit_close(&commit, rc);
    frz_free(catalog->env, existing);
    frz_table_unref(table);
    return rc;
}
