/*
 * Reading the entries of one manifest of a tree: what manifests of all versions have in common.
 *
 * Invariants:
 *  1. Every row is looked at in the order of the file, wanted or not, because row ids are inherited
 *     by counting the rows before.
 *  2. The manifest's dv is held against the ordinal number of a row after everything is inherited.
 *
 * spec: inheritance, manifest deletion vectors
 */
#include "meta/meta_tree_internal.h"

static frz_code inherit_row_id(meta_parent *parent, frz_entry *e, frz_error *err)
{
    if (parent->next_row_id == FRZ_NO_VALUE) {
        e->first_row_id = FRZ_NO_VALUE;
        return FRZ_OK;
    }
    if (e->first_row_id != FRZ_NO_VALUE || !frz_status_is_live(e->status)) {
        return FRZ_OK;
    }
    e->first_row_id = parent->next_row_id;
    if (!frz_add_i64(parent->next_row_id, e->record_count, &parent->next_row_id)) {
        return frz_fail(err, FRZ_E_CORRUPT, "row ids from %lld on exceed 64 bits with %lld rows",
                        (long long)e->first_row_id, (long long)e->record_count);
    }
    return FRZ_OK;
}

frz_code meta_reader_take(frz_entry_reader *reader, frz_entry *entry, bool *seen, frz_error *err)
{
    const frz_mumbling *dv = reader->file->dv;
    frz_code rc = inherit_row_id(&reader->parent, entry, err);
    entry->is_masked = dv != NULL && frz_mumbling_has(dv, (uint64_t)entry->position);
    bool live = frz_status_is_live(entry->status) && !entry->is_masked;
    reader->live_count += live;
    *seen = live || reader->request.all_entries;
    return rc;
}

/* ---- opening ---- */

static frz_code start(frz_entry_reader *reader, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_table_resolve_access(reader->tree->table, reader->file->location, &reader->location,
                                     err));
    rc = reader->file->legacy ? meta_legacy_open(reader, err) : meta_leaf_open(reader, err);
    frz_context(err, rc, "manifest %s", reader->location);
out:
    return rc;
}

frz_code frz_entry_reader_open(const frz_tree *tree, size_t i, const frz_entry_request *request,
                               frz_entry_reader **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = frz_alloc_zero(tree->env, 1, sizeof *reader);
    if (reader == NULL) {
        return frz_fail_nomem(err, sizeof *reader);
    }
    const frz_manifest_file *file = frz_tree_manifest(tree, i);
    reader->tree = tree;
    reader->manifest = i;
    reader->file = file;
    reader->request = *request;
    frz_arena_init(&reader->arena, tree->env, FRZ_ARENA_NO_LIMIT);
    reader->parent = (meta_parent){.snapshot_id = file->snapshot_id,
                                   .sequence_number = file->sequence_number,
                                   .next_row_id = file->first_row_id};
    FRZ_TRY(start(reader, err));
    *out = reader;
    reader = NULL;
out:
    frz_entry_reader_close(reader);
    return rc;
}

frz_code frz_entry_reader_next(frz_entry_reader *reader, frz_arena *arena, const frz_entry **out,
                               size_t *count, frz_error *err)
{
    frz_code rc = reader->legacy != NULL ? meta_legacy_next(reader, arena, out, count, err)
                                         : meta_leaf_next(reader, arena, out, count, err);
    return frz_context(err, rc, "manifest %s", reader->location);
}

int64_t frz_entry_reader_live_count(const frz_entry_reader *reader)
{
    return reader->live_count;
}

void frz_entry_reader_close(frz_entry_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    const frz_env *env = reader->tree->env;
    frz_data_reader_close(reader->rows);
    meta_leaf_close(reader);
    meta_legacy_close(reader);
    frz_free(env, reader->kept);
    frz_free(env, reader->location);
    frz_arena_reset(&reader->arena);
    frz_free(env, reader);
}
