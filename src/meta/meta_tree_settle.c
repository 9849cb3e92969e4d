/*
 * A tree as the base of a new root manifest, which says more of a manifest than older lists did.
 * spec: first v4 commit on an upgraded table; row lineage, assigning first_row_id
 */
#include "meta/meta_tree_internal.h"

/* ---- what only the manifest itself knows ---- */

static bool lacks_counts(const frz_manifest_file *file)
{
    bool lacks = file->entry_count == FRZ_NO_VALUE;
    for (size_t i = 0; i < META_STATUS_COUNT; i++) {
        lacks = lacks || file->files[i] == FRZ_NO_VALUE || file->rows[i] == FRZ_NO_VALUE;
    }
    return lacks;
}

static frz_code count_entries(const frz_entry *entries, size_t count, frz_manifest_file *file,
                              frz_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *rows = &file->rows[entries[i].status];
        file->files[entries[i].status]++;
        if (!frz_add_i64(*rows, entries[i].record_count, rows)) {
            return frz_fail(err, FRZ_E_CORRUPT, "manifest %.*s: rows exceed 64 bits",
                            FRZ_STR_ARG(file->location));
        }
    }
    return FRZ_OK;
}

/* Lists of version 1 need not count. */
static frz_code count_manifest(frz_tree *tree, size_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_manifest_file *file = &tree->manifests[i];
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    frz_arena arena;
    const frz_entry_request request = {.all_entries = true};
    frz_arena_init(&arena, tree->env, FRZ_ARENA_NO_LIMIT);
    memset(file->files, 0, sizeof file->files);
    memset(file->rows, 0, sizeof file->rows);
    FRZ_TRY(frz_entry_reader_open(tree, i, &request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &arena, &entries, &count, err)) == FRZ_OK) {
        FRZ_TRY(count_entries(entries, count, file, err));
        frz_arena_reset(&arena);
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    rc = FRZ_OK;
    file->entry_count = file->files[FRZ_STATUS_EXISTING] + file->files[FRZ_STATUS_ADDED] +
                        file->files[FRZ_STATUS_DELETED];
out:
    frz_entry_reader_close(reader);
    frz_arena_reset(&arena);
    return rc;
}

/* The file's own bytes tell its format, not its name. */
static frz_code look_at_file(frz_tree *tree, frz_manifest_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_file *opened = NULL;
    uint8_t magic[4] = {0};
    FRZ_TRY(frz_table_resolve_access(tree->table, file->location, &location, err));
    FRZ_TRY(frz_file_open(tree->env, location, &opened, err));
    uint64_t size = frz_file_size(opened);
    FRZ_TRY(frz_file_read(opened, 0, magic, (size_t)FRZ_MIN(size, sizeof magic), err));
    bool parquet = memcmp(magic, "PAR1", sizeof magic) == 0;
    file->file_format = parquet ? FRZ_STR("parquet") : FRZ_STR("avro");
    file->length = file->length == FRZ_NO_VALUE ? (int64_t)size : file->length;
out:
    frz_file_close(opened);
    frz_free(tree->env, location);
    return rc;
}

/* ---- row ids ---- */

static frz_code give_row_ids(frz_manifest_file *file, int64_t *next_row_id, frz_error *err)
{
    static const frz_status counted[] = {FRZ_STATUS_ADDED, FRZ_STATUS_EXISTING,
                                         FRZ_STATUS_MODIFIED};
    if (file->content != FRZ_CONTENT_DATA_MANIFEST || file->first_row_id != FRZ_NO_VALUE) {
        return FRZ_OK;
    }
    file->first_row_id = *next_row_id;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(counted); i++) {
        if (!frz_add_i64(*next_row_id, file->rows[counted[i]], next_row_id)) {
            return frz_fail(err, FRZ_E_LIMIT, "row ids beyond %lld are needed",
                            (long long)INT64_MAX);
        }
    }
    return FRZ_OK;
}

frz_code frz_tree_settle(frz_tree *tree, int64_t *next_row_id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < tree->manifest_count; i++) {
        frz_manifest_file *file = &tree->manifests[i];
        if (!frz_status_is_live(file->status)) {
            continue;
        }
        if (lacks_counts(file)) {
            FRZ_TRY(count_manifest(tree, i, err));
        }
        if (file->file_format.ptr == NULL || file->length == FRZ_NO_VALUE) {
            FRZ_TRY(look_at_file(tree, file, err));
        }
        FRZ_TRY(give_row_ids(file, next_row_id, err));
    }
out:
    return rc;
}
