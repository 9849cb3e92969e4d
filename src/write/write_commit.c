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
 *   conflict at swap, or a file has gone with the version -> drop this attempt's root and
 *     metadata, wait, load again
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base_json.h"
#include "write/write_internal.h"

/* ---- files ---- */

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

void frz_commit_drop(const frz_commit_attempt *attempt, const char *location)
{
    frz_commit *commit = attempt->commit;
    for (size_t i = commit->file_count; i-- > 0;) { /* it is one of the last */
        frz_written_file *file = &commit->files[i];
        if (strcmp(file->location, location) == 0) {
            (void)frz_file_remove(commit->env, location, NULL); /* best effort, as any removal */
            frz_free(commit->env, file->location);
            memmove(file, file + 1, (--commit->file_count - i) * sizeof *file);
            return;
        }
    }
}

frz_code frz_commit_adopt(const frz_commit_attempt *attempt, const char *location, int64_t bytes,
                          frz_error *err)
{
    frz_code rc = frz_commit_track(attempt, location, bytes, true, err);
    if (rc == FRZ_OK) {
        attempt->commit->files[attempt->commit->file_count - 1].adopted = true;
    }
    return rc;
}

bool frz_commit_sync_each(const frz_commit_attempt *attempt, size_t files)
{
    bool each = attempt->durable && files <= FRZ_SYNC_EACH_MAX;
    if (!each) {
        attempt->commit->unsynced = true;
    }
    return each;
}

frz_code frz_commit_new_path(const frz_commit_attempt *attempt, const char *ending, char **out,
                             frz_error *err)
{
    char uuid[FRZ_UUID_TEXT];
    char name[128];
    frz_code rc = frz_uuid_text(attempt->env, uuid, err);
    if (rc == FRZ_OK) {
        snprintf(name, sizeof name, "%s%s", uuid, ending);
        rc = frz_table_new_data_path(attempt->table, name, out, err);
    }
    return rc;
}

static int by_location(const void *a, const void *b)
{
    return frz_str_compare(*(const frz_str *)a, *(const frz_str *)b);
}

/* Every location that the plan's new entries name, as recorded and sorted; free with frz_free. NULL
 * if there is no memory. */
static frz_str *locations_of(const frz_table *table, const frz_commit_plan *plan, size_t *count)
{
    size_t room = 0, n = 0;
    for (size_t i = 0; i < plan->change_count; i++) {
        const frz_entry *entry = plan->changes[i].after;
        room += entry == NULL ? 0 : 2 + entry->column_file_count;
    }
    frz_str *locations = frz_alloc_zero(table->env, room, sizeof *locations);
    for (size_t i = 0; locations != NULL && i < plan->change_count; i++) {
        const frz_entry *entry = plan->changes[i].after;
        if (entry == NULL) {
            continue;
        }
        locations[n++] = frz_table_relativize(table, entry->location);
        if (entry->has_deletion_vector) {
            locations[n++] = frz_table_relativize(table, entry->deletion_vector.location);
        }
        for (size_t k = 0; k < entry->column_file_count; k++) {
            locations[n++] = frz_table_relativize(table, entry->column_files[k].location);
        }
    }
    if (n > 1) {
        qsort(locations, n, sizeof *locations, by_location);
    }
    *count = n;
    return locations;
}

/* Without the memory to tell, all files count as in use: they are not removed. */
static void mark_data_in_use(frz_commit *commit, const frz_table *table,
                             const frz_commit_plan *plan)
{
    size_t count = 0;
    frz_str *locations = locations_of(table, plan, &count);
    for (size_t i = 0; i < commit->file_count; i++) {
        frz_written_file *file = &commit->files[i];
        frz_str recorded = frz_table_relativize(table, frz_str_from(file->location));
        if (file->is_data) {
            file->in_use = locations == NULL || bsearch(&recorded, locations, count,
                                                        sizeof recorded, by_location) != NULL;
        }
    }
    frz_free(commit->env, locations);
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
        if (!file->adopted) { /* best effort: what stays behind is referenced by nothing */
            (void)frz_file_remove(commit->env, file->location, NULL);
        }
        frz_free(commit->env, file->location);
    }
    commit->file_count = kept;
}

/* ---- durability ---- */

/* Without the slash at its end. */
static frz_str folder_of(frz_str location)
{
    while (location.len > 0 && location.ptr[location.len - 1] != '/') {
        location.len--;
    }
    location.len -= location.len > 0;
    return location;
}

/* True if the table's version that the attempt starts from has a file in the folder: then the
 * folder's own name has been durable for long. */
static bool folder_is_known(const frz_commit_attempt *attempt, frz_str folder)
{
    const frz_table *table = attempt->table;
    bool known = !attempt->commit->creating &&
                 frz_str_equal(folder_of(frz_str_from(table->metadata_location)), folder);
    size_t count = attempt->tree == NULL ? 0 : frz_tree_entry_count(attempt->tree);
    frz_str recorded = frz_table_relativize(table, folder);
    for (size_t i = 0; !known && i < count; i++) {
        const frz_entry *entry = frz_tree_entry(attempt->tree, i);
        known = frz_str_equal(folder_of(frz_table_relativize(table, entry->location)), recorded);
        for (size_t k = 0; !known && k < entry->column_file_count; k++) {
            frz_str file = frz_table_relativize(table, entry->column_files[k].location);
            known = frz_str_equal(folder_of(file), recorded);
        }
    }
    return known;
}

/* Where the folders of a location begin: behind the scheme and, if it has one, the authority. */
static size_t folders_begin(const char *location)
{
    frz_str path;
    if (frz_location_local_path(frz_str_from(location), &path)) {
        return (size_t)(path.ptr - location);
    }
    const char *authority = strstr(location, "://");
    const char *slash = authority == NULL ? NULL : strchr(authority + 3, '/');
    return slash == NULL ? strlen(location) : (size_t)(slash - location);
}

/* A folder that this process may not touch, or whose file system knows no syncing of folders, is
 * none that it has made. */
static bool is_foreign(const frz_error *why)
{
    return why->os_error == EACCES || why->os_error == EPERM || why->os_error == EROFS ||
           why->os_error == EINVAL;
}

/* Make the names of a folder and of those above it durable, up to the top. */
static frz_code sync_folder_names(const frz_env *env, frz_str folder, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *path = frz_strdup(env, folder);
    if (path == NULL) {
        return frz_fail_nomem(err, folder.len);
    }
    size_t begin = folders_begin(path);
    for (size_t length = folder.len; length > begin; length = folder_of(frz_str_from(path)).len) {
        frz_error why = {0};
        path[length] = '\0';
        rc = frz_sync_dir(env, path, &why);
        if (rc != FRZ_OK) {
            bool foreign = is_foreign(&why);
            if (!foreign && err != NULL) {
                *err = why;
            }
            rc = foreign ? FRZ_OK : rc;
            break;
        }
    }
    frz_free(env, path);
    return rc;
}

static bool holds_folder(const frz_str *folders, size_t count, frz_str folder)
{
    for (size_t i = count; i-- > 0;) {
        if (frz_str_equal(folders[i], folder)) {
            return true;
        }
    }
    return false;
}

/* The names of all files of one kind, folder by folder, and the bytes of those that were not
 * synced on their own. */
static frz_code sync_files(const frz_commit_attempt *attempt, bool data, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_commit *commit = attempt->commit;
    size_t count = 0;
    frz_str *folders = frz_arena_array(attempt->arena, commit->file_count, sizeof *folders);
    if (folders == NULL) {
        return frz_fail_nomem(err, commit->file_count * sizeof *folders);
    }
    for (size_t i = 0; i < commit->file_count; i++) {
        const char *location = commit->files[i].location;
        frz_str folder = folder_of(frz_str_from(location));
        if (commit->files[i].is_data != data || holds_folder(folders, count, folder)) {
            continue;
        }
        folders[count++] = folder;
        if (data && commit->unsynced) {
            FRZ_TRY(frz_sync_all(commit->env, location, err));
        }
        FRZ_TRY(frz_sync_dir(commit->env, location, err));
        if (!folder_is_known(attempt, folder)) {
            FRZ_TRY(sync_folder_names(commit->env, folder, err));
        }
    }
out:
    return rc;
}

static frz_code attempt_sync(const frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(sync_files(attempt, true, err));
    attempt->commit->unsynced = false;
    FRZ_TRY(sync_files(attempt, false, err));
out:
    return rc;
}

/* ---- one attempt ---- */

frz_code frz_commit_check_table(const frz_table *table, const char *name, frz_error *err)
{
    if (table->metadata.format_version < FRZ_FORMAT_VERSION) {
        frz_code rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                               "unsupported: changing table %s of format version %d (this library "
                               "writes version %d)",
                               name, (int)table->metadata.format_version, FRZ_FORMAT_VERSION);
        frz_hint(err, "\"frazil upgrade %s --to %d\" makes it one", name, FRZ_FORMAT_VERSION);
        return rc;
    }
    return FRZ_OK;
}

static frz_code attempt_numbers(frz_commit_attempt *attempt, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &attempt->table->metadata;
    attempt->schema = frz_metadata_current_schema(metadata);
    attempt->parent = frz_metadata_current_snapshot(metadata);
    attempt->first_row_id = attempt->next_row_id = metadata->next_row_id;
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

frz_code frz_commit_manifest_path(const frz_commit_attempt *attempt, const char *kind, char **out,
                                  frz_error *err)
{
    char uuid[FRZ_UUID_TEXT];
    char name[128];
    frz_code rc = frz_uuid_text(attempt->env, uuid, err);
    if (rc == FRZ_OK) {
        snprintf(name, sizeof name, "%s-%lld-%s.parquet", kind, (long long)attempt->snapshot_id,
                 uuid);
        rc = frz_table_new_metadata_path(attempt->table, name, out, err);
    }
    return rc;
}

static frz_code write_root(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                           const frz_new_tree *tree, frz_str *recorded, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    int64_t bytes = 0;
    FRZ_TRY(frz_commit_manifest_path(attempt, "root", &location, err));
    const frz_schema *schema = plan->schema != NULL ? plan->schema : attempt->schema;
    const frz_manifest_rows rows = {.entries = tree->entries,
                                    .entry_count = tree->entry_count,
                                    .manifests = tree->manifests,
                                    .manifest_count = tree->manifest_count};
    FRZ_TRY(
        frz_manifest_write(attempt->table, location, schema, &rows, attempt->durable, &bytes, err));
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
    frz_new_tree tree = {0};
    json_t *json = NULL;
    char *location = NULL;
    int64_t bytes = 0;
    const char *previous = attempt->commit->creating ? NULL : table->metadata_location;
    frz_metadata_change change = {.schema = plan->schema,
                                  .last_column_id = plan->last_column_id,
                                  .set_properties = plan->set_properties,
                                  .set_property_count = plan->set_property_count,
                                  .unset_keys = plan->unset_keys,
                                  .unset_key_count = plan->unset_key_count,
                                  .unpartitioned_spec = plan->unpartitioned_spec,
                                  .expired = plan->expired};
    if (plan->operation != NULL) {
        FRZ_TRY(frz_new_tree_make(attempt, plan, &tree, err));
        FRZ_TRY(frz_new_tree_spill(attempt, plan, &tree, err));
        change.next_row_id = tree.next_row_id;
        FRZ_TRY(write_root(attempt, plan, &tree, &snapshot.root_manifest, err));
        FRZ_TRY(frz_commit_snapshot(attempt, plan, change.next_row_id, &snapshot, err));
        change.snapshot = &snapshot;
    }
    FRZ_TRY(
        attempt->commit->upgrade_to > 0
            ? frz_metadata_json_upgrade(table, attempt->commit->upgrade_to, previous, &json, err)
            : frz_metadata_json_change(attempt->env, table->metadata.json, previous, &change, &json,
                                       err));
    FRZ_TRY(frz_commit_note_old_versions(attempt, json, err));
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
    frz_new_tree_reset(&tree);
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
        const frz_table *table = attempt->table;
        const char *expected = table->pointer == NULL ? table->metadata_location : table->pointer;
        rc = catalog->ops->swap(catalog->ctx, &commit->name, expected, location, err);
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
    report->attempts = attempt->number;
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
    frz_commit_remove_old_versions(attempt);
}

/* What the attempt is to commit. The tree is the caller's to free. */
static frz_code attempt_plan(frz_commit_attempt *attempt, frz_commit_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_commit *commit = attempt->commit;
    static const frz_stats_choice all = {.all = true};
    if (commit->upgrade_to > 0) { /* of the metadata alone */
        plan->nothing = attempt->table->metadata.format_version == commit->upgrade_to;
        return FRZ_OK;
    }
    FRZ_TRY(frz_commit_check_table(attempt->table, commit->text, err));
    if (attempt->parent != NULL) {
        FRZ_TRY(frz_tree_open(attempt->table, attempt->parent, attempt->schema, &all,
                              &attempt->tree, err));
        FRZ_TRY(frz_tree_settle(attempt->tree, &attempt->next_row_id, err));
    }
    FRZ_TRY(commit->build(commit->build_ctx, attempt, plan, err));
out:
    return rc;
}

/* Load, plan, write, publish. *again: a lost race that may be tried again. */
static frz_code commit_attempt(frz_commit *commit, frz_table *table, int64_t number, bool *again,
                               frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    char *location = NULL;
    frz_commit_plan plan = {0};
    frz_arena_init(&arena, commit->env, FRZ_ARENA_NO_LIMIT);
    frz_commit_attempt attempt = {
        .env = commit->env, .table = table, .number = number, .arena = &arena, .commit = commit};
    FRZ_TRY(attempt_numbers(&attempt, err));
    FRZ_TRY(attempt_plan(&attempt, &plan, err));
    if (plan.nothing) {
        remove_unused(commit, false);
        goto out;
    }
    FRZ_TRY(attempt_write(&attempt, &plan, &location, err));
    if (attempt.durable) {
        FRZ_TRY(attempt_sync(&attempt, err));
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
    frz_tree_free(attempt.tree);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- the loop ---- */

/* Wait before the next attempt: doubling, with a random half so that rivals drift apart. */
static void back_off(const frz_env *env, const frz_retry_limits *limits, int64_t number)
{
    uint32_t random = 0;
    int64_t most = FRZ_MAX(limits->max_wait_ms, 1);
    int64_t wait = FRZ_MIN(FRZ_MAX(limits->min_wait_ms, 1), most);
    for (int64_t i = 1; i < number && wait < most; i++) {
        wait = wait > most / 2 ? most : wait * 2;
    }
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

/* A file that the attempt did not find may have gone with snapshots that another writer expired:
 * then there is a newer version to start from. */
static bool was_overtaken(const frz_commit *commit, const frz_table *table, frz_code rc)
{
    frz_table *newest = NULL;
    bool moved = rc == FRZ_E_NOT_FOUND &&
                 frz_catalog_load_table(commit->catalog, commit->text, &newest, NULL) == FRZ_OK &&
                 strcmp(newest->metadata_location, table->metadata_location) != 0;
    frz_table_unref(newest);
    return moved;
}

static frz_code commit_loop(frz_commit *commit, frz_commit_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *table = NULL;
    frz_commit_report figures = {0};
    frz_retry_limits limits = {0};
    bool again = true;
    FRZ_TRY(frz_table_name_parse(commit->text, &commit->name, err));
    for (int64_t number = 1; again; number++) {
        again = false;
        frz_table_unref(table);
        table = NULL;
        FRZ_TRY(frz_catalog_load_table(commit->catalog, commit->text, &table, err));
        FRZ_TRY(frz_write_retry_limits(&table->metadata, &limits, err));
        rc = commit_attempt(commit, table, number, &again, &figures, err);
        again = (again || was_overtaken(commit, table, rc)) && number <= limits.retries;
        if (again) {
            frz_log(commit->env, "write", FRZ_LOG_INFO,
                    "%s: another writer was first, attempt %lld", commit->text, (long long)number);
            remove_unused(commit, true);
            frz_error_reset(err);
            back_off(commit->env, &limits, number);
        }
    }
    if (rc == FRZ_OK && report != NULL) {
        *report = figures;
    }
out:
    commit_close(commit, rc);
    frz_table_unref(table);
    return rc;
}

/* What is written would be recorded where readers do not look for it. */
static frz_code check_not_mapped(const frz_catalog *catalog, frz_error *err)
{
    return catalog->map_count == 0
               ? FRZ_OK
               : frz_fail(err, FRZ_E_ARGUMENT,
                          "tables of a catalog opened with location maps are read-only");
}

frz_code frz_commit_run(frz_catalog *catalog, const char *table_name, frz_commit_build build,
                        void *ctx, frz_commit_report *report, frz_error *err)
{
    frz_commit commit = {.env = catalog->env,
                         .catalog = catalog,
                         .text = table_name,
                         .build = build,
                         .build_ctx = ctx};
    frz_code rc = check_not_mapped(catalog, err);
    return rc != FRZ_OK ? rc : commit_loop(&commit, report, err);
}

frz_code frz_commit_upgrade(frz_catalog *catalog, const char *table_name, int32_t format_version,
                            frz_commit_report *report, frz_error *err)
{
    frz_commit commit = {
        .env = catalog->env, .catalog = catalog, .text = table_name, .upgrade_to = format_version};
    frz_code rc = check_not_mapped(catalog, err);
    return rc != FRZ_OK ? rc : commit_loop(&commit, report, err);
}

frz_code frz_commit_apart(const frz_table *table, frz_commit_work work, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_commit commit = {.env = table->env};
    frz_commit_attempt attempt = {
        .env = table->env, .table = table, .number = 1, .arena = &arena, .commit = &commit};
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(attempt_numbers(&attempt, err));
    FRZ_TRY(work(ctx, &attempt, err));
    if (attempt.durable) {
        FRZ_TRY(sync_files(&attempt, true, err));
    }
out:
    commit_close(&commit, rc);
    frz_arena_reset(&arena);
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
    FRZ_TRY(check_not_mapped(catalog, err));
    FRZ_TRY(frz_table_name_parse(table_name, &commit.name, err));
    frz_code found = catalog->ops->get(catalog->ctx, &commit.name, &existing, err);
    if (found != FRZ_E_NOT_FOUND) {
        rc = found != FRZ_OK ? found
                             : frz_fail(err, FRZ_E_EXISTS, "table %s exists already", table_name);
        goto out;
    }
    frz_error_reset(err);
    FRZ_TRY(table_begin(&commit, new_table, &table, err));
    FRZ_TRY(frz_write_check_properties(&table->metadata, err));
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
