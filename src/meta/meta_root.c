/*
 * Root manifests: each row becomes a data entry or a manifest with everything resolved, checked on
 * the way. spec: root manifest, values in root entries
 */
#include "meta/meta_root.h"

typedef struct root_reader {
    const meta_root *root;
    meta_tracked tracked;
    meta_parent parent;
    const frz_type **partition_types; /* in the root's arena */
    int64_t position;
} root_reader;

static frz_code read_data(root_reader *r, const meta_tracked_row *row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena *arena = r->root->arena;
    size_t fields = r->tracked.partition == NULL ? 0 : r->tracked.partition->field_count;
    if (fields > 0 && e->spec_id >= 0) {
        frz_partition_value *room = frz_arena_array(arena, fields, sizeof *room);
        FRZ_TRY(room == NULL ? frz_fail_nomem(err, fields * sizeof *room) : FRZ_OK);
        FRZ_TRY(meta_tracked_partition(row, r->partition_types, room, arena, e, err));
    }
    FRZ_TRY(meta_tracked_data(row, arena, e, err));
    FRZ_TRY(r->root->row(r->root->ctx, e, NULL, err));
out:
    return rc;
}

static frz_code read_stats(root_reader *r, const meta_tracked_row *row, frz_entry *e,
                           frz_error *err)
{
    size_t count = r->tracked.shape_count;
    frz_field_stats *room = frz_arena_array(r->root->arena, count, sizeof *room);
    return room == NULL
               ? frz_fail_nomem(err, count * sizeof *room)
               : meta_tracked_stats(row, room, r->root->arena, &e->stats, &e->stats_count, err);
}

static frz_code read_manifest(root_reader *r, const meta_tracked_row *row, const frz_entry *e,
                              frz_error *err)
{
    meta_tracked_manifest manifest = {.dv = {NULL, 0}};
    frz_code rc = meta_tracked_manifest_of(row, e, &manifest, err);
    manifest.file.stats = e->stats;
    manifest.file.stats_count = e->stats_count;
    return rc == FRZ_OK ? r->root->row(r->root->ctx, e, &manifest, err) : rc;
}

static frz_code read_row(root_reader *r, const meta_tracked_row *row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(meta_tracked_file(row, r->root->arena, e, err));
    FRZ_TRY(meta_tracked_head(row, &r->parent, e, err));
    if (r->tracked.shape_count > 0) {
        FRZ_TRY(read_stats(r, row, e, err));
    }
    rc = e->content == FRZ_CONTENT_DATA ? read_data(r, row, e, err) : read_manifest(r, row, e, err);
out:
    return rc;
}

static frz_code read_batch(root_reader *r, const struct ArrowArray *batch, frz_error *err)
{
    meta_tracked_row row = {.tracked = &r->tracked, .shape = &r->tracked.full, .batch = batch};
    for (row.row = 0; row.row < batch->length; row.row++) {
        frz_entry e = {.position = r->position++};
        frz_code rc = read_row(r, &row, &e, err);
        if (rc != FRZ_OK) {
            return e.location.len > 0 ? frz_context(err, rc, "entry %lld (%.*s)",
                                                    (long long)e.position, FRZ_STR_ARG(e.location))
                                      : frz_context(err, rc, "entry %lld", (long long)e.position);
        }
    }
    return FRZ_OK;
}

static frz_code read_batches(root_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    frz_read_request request = {.projection = r->tracked.full.type};
    FRZ_TRY(frz_data_reader_open(r->tracked.file, &request, &reader, err));
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

frz_code meta_root_read(const meta_root *root, frz_error *err)
{
    frz_code rc = FRZ_OK;
    root_reader r = {
        .root = root,
        .tracked = {.table = root->table, .schema = root->schema, .rules = root->rules},
        .parent = {.is_root = true,
                   .snapshot_id = root->snapshot->snapshot_id,
                   .sequence_number = root->snapshot->sequence_number,
                   .next_row_id = FRZ_NO_VALUE},
    };
    FRZ_TRY(meta_tracked_open(&r.tracked, root->location, &root->stats, err));
    root->arena->limit = meta_memory_limit(frz_data_file_size(r.tracked.file));
    FRZ_TRY(meta_tracked_partition_types(&r.tracked, root->arena, &r.partition_types, err));
    FRZ_TRY(read_batches(&r, err));
out:
    meta_tracked_close(&r.tracked);
    return rc;
}

frz_code meta_root_check(const frz_snapshot *snapshot, frz_error *err)
{
    if (snapshot->root_manifest.ptr == NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: manifest lists (snapshot %lld is older than format version "
                        "4)",
                        (long long)snapshot->snapshot_id);
    }
    if (snapshot->key_id.ptr != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: encrypted root manifests (snapshot %lld)",
                        (long long)snapshot->snapshot_id);
    }
    return FRZ_OK;
}
