/*
 * Manifest lists, and the list of manifests inside the metadata of version 1. Which version wrote a
 * list is not asked: fields that it lacks have the values of version 1.
 * spec: manifest lists, manifest_file, field_summary
 */
#include "meta/meta_legacy.h"
#include "meta/meta_tree_internal.h"

typedef struct list_reader {
    frz_tree *tree;
    const frz_snapshot *snapshot;
    frz_arena scratch;
    frz_data_file *file;
    meta_list_row row;
    int64_t position;
} list_reader;

static meta_cell column(const list_reader *r, meta_cell entry, int which)
{
    return meta_cell_member(entry, r->row.at[which]);
}

/* ---- one manifest ---- */

static frz_code read_summary(meta_cell c, frz_arena *arena, frz_partition_summary *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    out->contains_null = meta_cell_bool(meta_cell_member(c, META_SUMMARY_CONTAINS_NULL)) != 0;
    out->contains_nan = meta_cell_bool(meta_cell_member(c, META_SUMMARY_CONTAINS_NAN));
    FRZ_TRY(meta_copy_bytes(meta_cell_member(c, META_SUMMARY_LOWER_BOUND), arena, &out->lower_bound,
                            err));
    FRZ_TRY(meta_copy_bytes(meta_cell_member(c, META_SUMMARY_UPPER_BOUND), arena, &out->upper_bound,
                            err));
out:
    return rc;
}

static frz_code read_summaries(const list_reader *r, meta_cell entry, frz_manifest_file *file,
                               frz_error *err)
{
    meta_cell list = column(r, entry, META_LIST_PARTITIONS);
    size_t count = meta_cell_size(list);
    frz_partition_summary *summaries = frz_arena_array(&r->tree->arena, count, sizeof *summaries);
    if (summaries == NULL) {
        return frz_fail_nomem(err, count * sizeof *summaries);
    }
    for (size_t i = 0; i < count; i++) {
        frz_code rc = read_summary(meta_cell_element(list, i), &r->tree->arena, &summaries[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    file->partitions = summaries;
    file->partition_count = count;
    return FRZ_OK;
}

/* Old writers left counts out; negative ones are no counts. */
static int64_t count_of(meta_cell c)
{
    int64_t count = meta_cell_i64(c, FRZ_NO_VALUE);
    return count < 0 ? FRZ_NO_VALUE : count;
}

static void read_counts(const list_reader *r, meta_cell entry, frz_manifest_file *file)
{
    int64_t sum = 0;
    for (int status = FRZ_STATUS_EXISTING; status <= FRZ_STATUS_DELETED; status++) {
        file->files[status] = count_of(column(r, entry, META_LIST_FILES + status));
        file->rows[status] = count_of(column(r, entry, META_LIST_ROWS + status));
        if (file->files[status] == FRZ_NO_VALUE || sum == FRZ_NO_VALUE ||
            !frz_add_i64(sum, file->files[status], &sum)) {
            sum = FRZ_NO_VALUE;
        }
    }
    file->entry_count = sum;
}

static frz_code read_content(const list_reader *r, meta_cell entry, frz_manifest_file *file,
                             frz_error *err)
{
    int32_t content = meta_cell_i32(column(r, entry, META_LIST_CONTENT), 0);
    if (content != 0 && content != 1) {
        return frz_fail(err, FRZ_E_CORRUPT, "content: expected 0 (data) or 1 (deletes), found %d",
                        (int)content);
    }
    file->content = content == 0 ? FRZ_CONTENT_DATA_MANIFEST : FRZ_CONTENT_DELETE_MANIFEST;
    return FRZ_OK;
}

static frz_code check_numbers(const frz_manifest_file *file, frz_error *err)
{
    if (file->sequence_number < 0 || (file->length < 0 && file->length != FRZ_NO_VALUE)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "sequence_number, manifest_length: expected no negative numbers, found "
                        "%lld, %lld",
                        (long long)file->sequence_number, (long long)file->length);
    }
    if (file->first_row_id < 0 && file->first_row_id != FRZ_NO_VALUE) {
        return frz_fail(err, FRZ_E_CORRUPT, "first_row_id: expected a row id, found %lld",
                        (long long)file->first_row_id);
    }
    return FRZ_OK;
}

static frz_code read_manifest(const list_reader *r, meta_cell entry, frz_manifest_file *file,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_want_text(column(r, entry, META_LIST_PATH), "manifest_path", &r->tree->arena,
                           &file->location, err));
    FRZ_TRY(meta_settle_legacy(r->tree->table, &r->tree->arena, &file->location, err));
    FRZ_TRY(read_content(r, entry, file, err));
    file->length = meta_cell_i64(column(r, entry, META_LIST_LENGTH), FRZ_NO_VALUE);
    file->spec_id = FRZ_MAX(meta_cell_i32(column(r, entry, META_LIST_SPEC_ID), -1), -1);
    file->sequence_number = meta_cell_i64(column(r, entry, META_LIST_SEQUENCE_NUMBER), 0);
    file->min_sequence_number = meta_cell_i64(column(r, entry, META_LIST_MIN_SEQUENCE_NUMBER), 0);
    file->snapshot_id = meta_cell_i64(column(r, entry, META_LIST_SNAPSHOT_ID), FRZ_NO_VALUE);
    file->status =
        file->snapshot_id == r->snapshot->snapshot_id ? FRZ_STATUS_ADDED : FRZ_STATUS_EXISTING;
    file->first_row_id = file->content == FRZ_CONTENT_DATA_MANIFEST
                             ? meta_cell_i64(column(r, entry, META_LIST_FIRST_ROW_ID), FRZ_NO_VALUE)
                             : FRZ_NO_VALUE;
    FRZ_TRY(check_numbers(file, err));
    read_counts(r, entry, file);
    FRZ_TRY(read_summaries(r, entry, file, err));
out:
    return rc;
}

static frz_manifest_file legacy_file(int64_t position)
{
    return (frz_manifest_file){.legacy = true,
                               .spec_id = -1,
                               .length = FRZ_NO_VALUE,
                               .snapshot_id = FRZ_NO_VALUE,
                               .modified_snapshot_id = FRZ_NO_VALUE,
                               .first_row_id = FRZ_NO_VALUE,
                               .entry_count = FRZ_NO_VALUE,
                               .files = {FRZ_NO_VALUE, FRZ_NO_VALUE, FRZ_NO_VALUE, 0, 0},
                               .rows = {FRZ_NO_VALUE, FRZ_NO_VALUE, FRZ_NO_VALUE, 0, 0},
                               .position = position};
}

/* ---- the list ---- */

static frz_code read_batch(list_reader *r, const struct ArrowArray *batch, frz_error *err)
{
    for (int64_t row = 0; row < batch->length; row++) {
        frz_manifest_file file = legacy_file(r->position++);
        frz_code rc = read_manifest(r, (meta_cell){batch, row}, &file, err);
        rc = rc == FRZ_OK ? meta_tree_add_manifest(r->tree, &file, err) : rc;
        if (rc != FRZ_OK) {
            return frz_context(err, rc, "entry %lld (%.*s)", (long long)file.position,
                               FRZ_STR_ARG(file.location));
        }
    }
    return FRZ_OK;
}

static frz_code read_batches(list_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    frz_read_request request = {.projection = r->row.type};
    FRZ_TRY(frz_data_reader_open(r->file, &request, &reader, err));
    for (rc = frz_data_reader_next(reader, &batch, err); rc == FRZ_OK;
         rc = frz_data_reader_next(reader, &batch, err)) {
        rc = read_batch(r, &batch.array, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_data_reader_close(reader);
    return rc;
}

/* A manifest's location alone takes more than a byte, packed or not. */
static frz_code check_size(const list_reader *r, frz_error *err)
{
    int64_t rows = frz_data_file_row_count(r->file);
    uint64_t size = frz_data_file_size(r->file);
    r->tree->arena.limit = meta_memory_limit(size);
    return rows >= 0 && (uint64_t)rows <= size
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "%lld manifests cannot be in %llu bytes",
                          (long long)rows, (unsigned long long)size);
}

static frz_code read_list(list_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_data_file_open(r->tree->env, r->tree->location, NULL, &r->file, err));
    FRZ_TRY(check_size(r, err));
    FRZ_TRY(meta_list_row_to_read(&r->scratch, frz_data_file_type(r->file), &r->row, err));
    FRZ_TRY(read_batches(r, err));
out:
    return frz_context(err, rc, "manifest list %s", r->tree->location);
}

frz_code meta_list_read(frz_tree *tree, const frz_snapshot *snapshot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    list_reader r = {.tree = tree, .snapshot = snapshot};
    frz_arena_init(&r.scratch, tree->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_table_resolve_access(tree->table, snapshot->manifest_list, &tree->location, err));
    FRZ_TRY(read_list(&r, err));
out:
    frz_data_file_close(r.file);
    frz_arena_reset(&r.scratch);
    return rc;
}

/* ---- version 1 without a list ---- */

frz_code meta_inline_read(frz_tree *tree, const frz_snapshot *snapshot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *location = tree->table->metadata_location;
    tree->location = frz_strdup(tree->env, frz_str_from(location == NULL ? "" : location));
    if (tree->location == NULL) {
        return frz_fail_nomem(err, 1);
    }
    for (size_t i = 0; i < snapshot->manifest_count; i++) {
        frz_manifest_file file = legacy_file((int64_t)i);
        file.content = FRZ_CONTENT_DATA_MANIFEST;
        file.status = FRZ_STATUS_EXISTING;
        file.location = snapshot->manifests[i];
        file.snapshot_id = snapshot->snapshot_id;
        FRZ_TRY(meta_tree_add_manifest(tree, &file, err));
    }
out:
    return rc;
}
