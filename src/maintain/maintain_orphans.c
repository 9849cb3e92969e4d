/*
 * Removal of orphans: files in a table's folder that nothing refers to.
 *
 * Invariants:
 *  1. The folder is listed before the newest version of the table is read: what a commit made
 *     visible in between is listed and kept. What is not visible yet only its age protects.
 *  2. Kept is what any snapshot of that version reaches, its statistics, its metadata file and
 *     those that its log names.
 *  3. Only what looks like a file of a table goes: by its ending, and not below a folder that is
 *     another table's, nor hidden.
 *  4. Another table's metadata beside this one's keeps what it reaches, by a walk of its own.
 *  5. If one of the files kept is recorded with another scheme or host, but a path below the
 *     folder, or if metadata beside this table's is whole and cannot be read, nothing goes.
 */
#include "maintain/maintain_removal.h"

#define AGE_DEFAULT "3d"
#define HOUR_MS (INT64_C(60) * 60 * 1000)

static const char metadata_ending[] = ".metadata.json";

typedef struct orphan_job {
    const frz_env *env;
    const frz_orphan_options *options;
    frz_catalog *catalog;
    const char *name;
    frz_table *table; /* the newest version */
    frz_removal *removal;
    frz_reach reach;
    int64_t older_than_ms;
    frz_arena arena;
    frz_str base;     /* its folder as it is listed, without a slash at its end */
    frz_str *foreign; /* folders of other tables, as listed */
    size_t foreign_count, foreign_capacity;
    uint64_t listed;
    frz_error *err; /* of the listing, whose callback has none */
} orphan_job;

/* ---- names ---- */

static bool ends_with(frz_str name, const char *ending)
{
    size_t len = strlen(ending);
    return name.len > len && memcmp(name.ptr + name.len - len, ending, len) == 0;
}

/* Endings of the files that Iceberg tables are made of. */
static bool is_table_file(frz_str location)
{
    static const char *const endings[] = {".parquet", ".avro",  ".orc",
                                          ".puffin",  ".stats", metadata_ending};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(endings); i++) {
        if (ends_with(location, endings[i])) {
            return true;
        }
    }
    return false;
}

/* A name or folder that begins with a dot or an underscore, unless it is a partition. */
static bool is_hidden(frz_str below)
{
    for (size_t start = 0; start < below.len;) {
        size_t end = start;
        bool partition = false;
        while (end < below.len && below.ptr[end] != '/') {
            partition = partition || below.ptr[end] == '=';
            end++;
        }
        bool marked = end > start && (below.ptr[start] == '.' || below.ptr[start] == '_');
        if (marked && (!partition || end == below.len)) {
            return true;
        }
        start = end + 1;
    }
    return false;
}

static bool is_below(frz_str folder, frz_str location)
{
    return location.len > folder.len && frz_str_starts_with(location, folder) &&
           location.ptr[folder.len] == '/';
}

static frz_str folder_of(frz_str location)
{
    while (location.len > 0 && location.ptr[location.len - 1] != '/') {
        location.len--;
    }
    location.len -= location.len > 0;
    return location;
}

static frz_str name_of(frz_str location)
{
    size_t folder = folder_of(location).len;
    folder += folder < location.len && location.ptr[folder] == '/';
    return (frz_str){location.ptr + folder, location.len - folder};
}

/* Of a table with a metadata file at this location. */
static frz_str table_folder_of(frz_str location)
{
    frz_str folder = folder_of(location);
    return ends_with(folder, "/metadata") ? folder_of(folder) : folder;
}

/* ---- what stays ---- */

/* Behind scheme and host. */
static frz_str path_of(frz_place place)
{
    frz_str path = place.rest;
    if (frz_str_starts_with(path, FRZ_STR("//"))) {
        size_t at = 2;
        while (at < path.len && path.ptr[at] != '/') {
            at++;
        }
        path = (frz_str){path.ptr + at, path.len - at};
    }
    return path;
}

static frz_code keep_file(void *ctx, frz_removed kind, frz_str location, frz_error *err)
{
    orphan_job *job = ctx;
    frz_place place = frz_location_place(location), base = frz_location_place(job->base);
    bool same_prefix = frz_str_equal(place.scheme, base.scheme) && is_below(base.rest, place.rest);
    (void)kind;
    if (!same_prefix && is_below(path_of(base), path_of(place))) {
        frz_code rc = frz_fail(err, FRZ_E_ARGUMENT,
                               "%.*s is part of the table and may be the same file as one in its "
                               "folder %s, which has another scheme or host",
                               FRZ_STR_ARG(location), job->table->base);
        frz_hint(err, "no file was removed");
        return rc;
    }
    return frz_removal_keep(job->removal, location, err);
}

/* ---- other tables ---- */

/* The table whose metadata file this is; NULL: it was not finished, or has gone. Below, one that
 * this version cannot read is another table all the same; beside, nobody knows what it keeps. */
static frz_code open_metadata(orphan_job *job, const char *location, bool beside, frz_table **out,
                              frz_error *err)
{
    frz_error why = {0};
    frz_code rc = frz_table_open(job->env, location, NULL, out, &why);
    if (rc == FRZ_E_CORRUPT || rc == FRZ_E_NOT_FOUND || (rc == FRZ_E_UNSUPPORTED && !beside)) {
        return FRZ_OK;
    }
    if (rc != FRZ_OK && err != NULL) {
        *err = why;
    }
    return frz_context(err, rc, "metadata in the table's folder, %s", location);
}

static bool is_foreign(const orphan_job *job, frz_str location)
{
    for (size_t i = 0; i < job->foreign_count; i++) {
        if (is_below(job->foreign[i], location)) {
            return true;
        }
    }
    return false;
}

static frz_code note_foreign(orphan_job *job, frz_str folder, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(FRZ_GROW(job->env, &job->foreign, &job->foreign_capacity, job->foreign_count, err));
    FRZ_TRY(frz_arena_str(&job->arena, folder, &job->foreign[job->foreign_count], err));
    job->foreign_count++;
out:
    return rc;
}

/* Whether the table's own log, or its pointer, names the metadata file: names are unique. */
static bool is_logged(const orphan_job *job, frz_str location)
{
    const frz_metadata *m = &job->table->metadata;
    frz_str name = name_of(location);
    bool is_own = frz_str_equal(name, name_of(frz_str_from(job->table->metadata_location)));
    for (size_t i = 0; !is_own && i < m->metadata_log_count; i++) {
        is_own = frz_str_equal(name, name_of(m->metadata_log[i].metadata_file));
    }
    return is_own && frz_str_equal(table_folder_of(location), job->base);
}

/* Like the first attempt of an import that was killed. It may be without files: then nobody reads
 * it, and it keeps nothing. A copy has this table's ids and manifests, but reaches other files:
 * what was seen of one is not known of the other. */
static frz_code keep_other(orphan_job *job, const frz_table *other, const char *location,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_reach reach;
    frz_reach_init(&reach, job->env, keep_file, job);
    FRZ_TRY(frz_removal_keep(job->removal, frz_str_from(location), err));
    FRZ_TRY(frz_reach_statistics(&reach, other, 0, err));
    for (size_t i = 0; i < other->metadata.snapshot_count; i++) {
        frz_error why = {0};
        rc = frz_reach_snapshot(&reach, other, &other->metadata.snapshots[i], &why);
        if (rc != FRZ_OK && rc != FRZ_E_NOT_FOUND && err != NULL) {
            *err = why;
        }
        FRZ_TRY(rc == FRZ_E_NOT_FOUND ? FRZ_OK : rc);
    }
out:
    frz_reach_reset(&reach);
    return frz_context(err, rc, "another table's metadata, %s", location);
}

/* A metadata file is this table's, or tells that files or a whole folder are another's. */
static frz_code see_metadata(orphan_job *job, const char *location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *other = NULL;
    frz_str above = table_folder_of(frz_str_from(location));
    bool beside = frz_str_equal(above, job->base);
    FRZ_TRY(open_metadata(job, location, beside, &other, err));
    if (other == NULL) {
        rc = beside ? FRZ_OK : note_foreign(job, above, err);
    } else if (!frz_str_equal(other->metadata.table_uuid, job->table->metadata.table_uuid)) {
        rc = beside ? keep_other(job, other, location, err) : note_foreign(job, above, err);
    }
out:
    frz_table_unref(other);
    return rc;
}

/* ---- listing ---- */

static frz_code see_file(void *ctx, const char *location, uint64_t size, int64_t modified_ms)
{
    orphan_job *job = ctx;
    frz_code rc = FRZ_OK;
    frz_str at = frz_str_from(location);
    (void)size;
    FRZ_TRY(frz_progress(job->env, "remove-orphans", job->listed++, 0, job->err));
    if (!is_below(job->base, at) || !is_table_file(at)) {
        goto out;
    }
    frz_str below = {at.ptr + job->base.len + 1, at.len - job->base.len - 1};
    if (is_hidden(below) || is_foreign(job, at)) {
        goto out;
    }
    if (ends_with(at, metadata_ending) && !is_logged(job, at)) {
        FRZ_TRY(see_metadata(job, location, job->err));
    }
    if (modified_ms < job->older_than_ms) {
        FRZ_TRY(frz_removal_offer(job->removal, FRZ_REMOVED_ORPHAN, at, job->err));
    }
out:
    return rc;
}

static frz_code list_folder(orphan_job *job, frz_error *err)
{
    frz_str path;
    const char *location = frz_arena_strdup(&job->arena, frz_str_from(job->table->base));
    if (location == NULL) {
        return frz_fail_nomem(err, strlen(job->table->base));
    }
    job->base = frz_str_from(location);
    if (frz_location_local_path(job->base, &path)) {
        job->base = path; /* as the local storage tells locations */
    }
    while (job->base.len > 0 && job->base.ptr[job->base.len - 1] == '/') {
        job->base.len--;
    }
    if (job->base.len == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the table's folder is %s", location);
    }
    job->err = err;
    return frz_context(err, frz_storage_list(job->env, location, see_file, job, err), "listing %s",
                       location);
}

/* ---- this table ---- */

static frz_code keep_metadata(orphan_job *job, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &job->table->metadata;
    FRZ_TRY(keep_file(job, FRZ_REMOVED_ORPHAN, frz_str_from(job->table->metadata_location), err));
    for (size_t i = 0; i < m->metadata_log_count; i++) {
        frz_str location;
        FRZ_TRY(frz_table_resolve_view(job->table, m->metadata_log[i].metadata_file, &job->arena,
                                       &location, err));
        FRZ_TRY(keep_file(job, FRZ_REMOVED_ORPHAN, location, err));
    }
out:
    return rc;
}

static frz_code keep_all(orphan_job *job, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *m = &job->table->metadata;
    FRZ_TRY(keep_metadata(job, err));
    FRZ_TRY(frz_reach_statistics(&job->reach, job->table, 0, err));
    for (size_t i = 0; i < m->snapshot_count; i++) {
        FRZ_TRY(frz_progress(job->env, "remove-orphans", i, m->snapshot_count, err));
        FRZ_TRY(frz_reach_snapshot(&job->reach, job->table, &m->snapshots[i], err));
    }
out:
    return rc;
}

static frz_code load_table(orphan_job *job, frz_error *err)
{
    frz_table *newest = NULL;
    frz_code rc = frz_catalog_load_table(job->catalog, job->name, &newest, err);
    if (rc == FRZ_OK && job->table != NULL &&
        !frz_str_equal(newest->metadata.table_uuid, job->table->metadata.table_uuid)) {
        rc = frz_fail(err, FRZ_E_CONFLICT, "the table was replaced by another meanwhile");
        frz_table_unref(newest);
        return rc;
    }
    if (rc == FRZ_OK) {
        frz_table_unref(job->table);
        job->table = newest;
    }
    return rc;
}

/* What a version reaches may be gone by now, if another process has expired snapshots since: then a
 * newer version tells. */
static frz_code keep_newest(orphan_job *job, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (bool again = true; again;) {
        frz_table *before = frz_table_ref(job->table);
        frz_error why = {0};
        rc = keep_all(job, &why);
        again = rc == FRZ_E_NOT_FOUND && load_table(job, NULL) == FRZ_OK &&
                strcmp(before->metadata_location, job->table->metadata_location) != 0;
        frz_table_unref(before);
        if (rc != FRZ_OK && !again && err != NULL) {
            *err = why;
        }
    }
    return rc;
}

/* ---- the whole ---- */

static frz_code read_limit(orphan_job *job, frz_error *err)
{
    const frz_orphan_options *o = job->options;
    int64_t safe = frz_limit_before(frz_now_ms(job->env), FRZ_ORPHAN_SAFE_HOURS * HOUR_MS);
    frz_code rc =
        frz_limit_parse(job->env, "older-than", o->older_than == NULL ? AGE_DEFAULT : o->older_than,
                        &job->older_than_ms, err);
    if (rc == FRZ_OK && job->older_than_ms > safe && o->force == 0) {
        rc = frz_fail(err, FRZ_E_ARGUMENT,
                      "older-than: files of the last %d hours may belong to a commit that is under "
                      "way",
                      FRZ_ORPHAN_SAFE_HOURS);
        frz_hint(err, "if nobody writes to the table, force it");
    }
    return rc;
}

static bool spares(void *ctx, const char *location)
{
    return is_foreign(ctx, frz_str_from(location));
}

static frz_code run(orphan_job *job, frz_removal_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_orphan_options *o = job->options;
    const frz_removal_run how = {.dry = o->dry_run != 0,
                                 .what = "remove-orphans",
                                 .spares = spares,
                                 .spares_ctx = job,
                                 .visit = o->visit,
                                 .visit_ctx = o->ctx};
    FRZ_TRY(read_limit(job, err));
    FRZ_TRY(load_table(job, err));
    FRZ_TRY(frz_limit_check_removal(&job->table->metadata, err));
    FRZ_TRY(job->table->map_count > 0
                ? frz_fail(err, FRZ_E_ARGUMENT,
                           "tables of a catalog opened with location maps are read-only")
                : FRZ_OK);
    FRZ_TRY(list_folder(job, err));
    FRZ_TRY(load_table(job, err));
    FRZ_TRY(keep_newest(job, err));
    FRZ_TRY(frz_removal_do(job->removal, &how, report, err));
out:
    return rc;
}

frz_code frz_remove_orphans(frz_catalog *catalog, const char *table, const frz_orphan_options *opts,
                            frz_removal_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_orphan_options given = FRZ_ORPHAN_OPTIONS_INIT;
    frz_removal_report figures = {0};
    if (opts != NULL) {
        memcpy(&given, opts, FRZ_MIN(opts->struct_size, sizeof given));
    }
    orphan_job job = {.env = catalog->env, .options = &given, .catalog = catalog, .name = table};
    frz_arena_init(&job.arena, job.env, FRZ_ARENA_NO_LIMIT);
    frz_reach_init(&job.reach, job.env, keep_file, &job);
    FRZ_TRY(frz_removal_new(job.env, FRZ_REMOVAL_MEMORY, &job.removal, err));
    FRZ_TRY(run(&job, &figures, err));
    if (report != NULL) {
        *report = figures;
    }
out:
    frz_reach_reset(&job.reach);
    frz_removal_free(job.removal);
    frz_free(job.env, job.foreign);
    frz_arena_reset(&job.arena);
    frz_table_unref(job.table);
    return frz_context(err, rc, "removing orphans of table %s", table);
}
