/*
 * What deletes rows of one data file, and taking them out of its batches.
 */
#include "scan/scan_deletes_internal.h"

/* ---- positions ---- */

frz_code delete_add_positions(frz_file_deletes *deletes, frz_positions *more, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *all = more;
    if (deletes->positions != NULL && frz_positions_count(more) > 0) {
        const frz_positions *both[] = {deletes->positions, more};
        rc = frz_positions_union(deletes->env, both, 2, &all, err);
        frz_positions_free(more);
        if (rc != FRZ_OK) {
            return rc;
        }
    } else if (frz_positions_count(more) == 0) {
        frz_positions_free(more);
        return FRZ_OK;
    }
    frz_positions_free(deletes->own_positions);
    deletes->positions = deletes->own_positions = all;
    return FRZ_OK;
}

/* ---- deletion vectors ---- */

/* The file that vectors were read from last is kept open: one file holds many. index NULL: none is.
 */
static frz_code open_puffin(frz_delete_index *index, const frz_table *table, frz_str location,
                            frz_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *access = NULL;
    if (index != NULL && index->puffin != NULL && frz_str_equal(index->puffin_location, location)) {
        *out = index->puffin;
        return FRZ_OK;
    }
    FRZ_TRY(frz_table_resolve_access(table, location, &access, err));
    if (index != NULL) {
        frz_file_close(index->puffin);
        index->puffin = NULL;
        FRZ_TRY(frz_arena_str(&index->arena, location, &index->puffin_location, err));
    }
    FRZ_TRY(frz_file_open(table->env, access, out, err));
    if (index != NULL) {
        index->puffin = *out;
    }
out:
    frz_free(table->env, access);
    return rc;
}

static frz_code read_vector(frz_delete_index *index, const frz_table *table,
                            const frz_deletion_vector *vector, frz_str location,
                            const frz_entry *data, frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *file = NULL;
    frz_positions *set = NULL;
    if (vector->key_metadata.ptr != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encrypted deletion vector in %.*s",
                        FRZ_STR_ARG(location));
    }
    FRZ_TRY(open_puffin(index, table, location, &file, err));
    FRZ_TRY(frz_vector_read(table->env, file, vector->offset, vector->size, vector->cardinality,
                            &set, err));
    if (frz_positions_last(set) >= data->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "the deletion vector at byte %lld of %.*s deletes row %lld of a file of %lld "
                      "rows",
                      (long long)vector->offset, FRZ_STR_ARG(location),
                      (long long)frz_positions_last(set), (long long)data->record_count);
        goto out;
    }
    rc = delete_add_positions(deletes, set, err);
    set = NULL;
out:
    frz_positions_free(set);
    if (index == NULL) {
        frz_file_close(file);
    }
    return rc;
}

/* ---- what applies ---- */

/* A data file's deletes in the making. */
typedef struct finding {
    frz_delete_index *index;
    frz_file_deletes *deletes;
} finding;

static frz_code use_vector(void *ctx, const delete_sought *data, delete_file *file, frz_error *err)
{
    finding *f = ctx;
    f->index->files_read++;
    return read_vector(f->index, f->index->table, &file->entry->deletion_vector, file->location,
                       data->entry, f->deletes, err);
}

static frz_code use_positions(void *ctx, const delete_sought *data, delete_file *file,
                              frz_error *err)
{
    finding *f = ctx;
    frz_code rc = FRZ_OK;
    frz_file_deletes *deletes = f->deletes;
    frz_positions *both = NULL;
    const frz_positions *found = NULL;
    FRZ_TRY(delete_positions_of(f->index, file, &data->place, &found, err));
    if (found == NULL || frz_positions_count(found) == 0) {
        return FRZ_OK;
    }
    if (deletes->positions == NULL) {
        deletes->positions = found;
        return FRZ_OK;
    }
    const frz_positions *sets[] = {deletes->positions, found};
    FRZ_TRY(frz_positions_union(f->index->env, sets, 2, &both, err));
    frz_positions_free(deletes->own_positions);
    deletes->positions = deletes->own_positions = both;
out:
    return rc;
}

static frz_code use_group(void *ctx, const delete_sought *data, key_group *group, frz_error *err)
{
    finding *f = ctx;
    return delete_use_group(f->index, group, data->entry, f->deletes, err);
}

static frz_code find_in_index(frz_delete_index *index, const frz_entry *entry,
                              frz_file_deletes *deletes, frz_error *err)
{
    finding f = {index, deletes};
    const delete_visitor visitor = {use_vector, use_positions, use_group, &f};
    delete_trim_tables(index);
    return delete_visit(index, entry, &visitor, err);
}

frz_code frz_file_deletes_find(frz_delete_index *index, const frz_table *table,
                               const frz_entry *entry, frz_file_deletes **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_deletes *deletes = NULL;
    *out = NULL;
    if (index == NULL && !entry->has_deletion_vector) {
        return FRZ_OK;
    }
    deletes = frz_alloc_zero(table->env, 1, sizeof *deletes);
    if (deletes == NULL) {
        return frz_fail_nomem(err, sizeof *deletes);
    }
    deletes->env = table->env;
    deletes->sequence_number = entry->sequence_number;
    deletes->started = index == NULL ? 0 : index->clock;
    if (entry->has_deletion_vector) {
        FRZ_TRY(read_vector(index, table, &entry->deletion_vector, entry->deletion_vector.location,
                            entry, deletes, err));
    }
    if (index != NULL) {
        FRZ_TRY(find_in_index(index, entry, deletes, err));
    }
    if (deletes->positions != NULL || deletes->group_count > 0) {
        *out = deletes;
        deletes = NULL;
    }
out:
    frz_file_deletes_free(deletes);
    return frz_context(err, rc, "deletes of %.*s", FRZ_STR_ARG(entry->location));
}

void frz_file_deletes_free(frz_file_deletes *deletes)
{
    if (deletes != NULL) {
        frz_positions_free(deletes->own_positions);
        frz_free(deletes->env, deletes->groups);
        frz_free(deletes->env, deletes);
    }
}

/* ---- taking rows out ---- */

const frz_positions *frz_file_deletes_positions(const frz_file_deletes *deletes)
{
    return deletes == NULL ? NULL : deletes->positions;
}

frz_code frz_file_deletes_read_type(const frz_file_deletes *deletes, const frz_type *projection,
                                    frz_arena *arena, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = projection;
    for (size_t i = 0; i < deletes->group_count; i++) {
        const key_group *group = deletes->groups[i];
        for (size_t k = 0; k < group->id_count; k++) {
            FRZ_TRY(
                delete_add_field(arena, *out, group->sources[k], group->ids[k], NULL, out, err));
        }
    }
out:
    return rc;
}

frz_code frz_file_deletes_columns(const frz_file_deletes *deletes, const frz_type *read_type,
                                  frz_arena *arena, const size_t **out, size_t *count,
                                  frz_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < deletes->group_count; i++) {
        most += deletes->groups[i]->id_count;
    }
    size_t *list = frz_arena_array(arena, most + 1, sizeof *list);
    if (list == NULL) {
        return frz_fail_nomem(err, most * sizeof *list);
    }
    *count = 0;
    for (size_t i = 0; i < deletes->group_count; i++) {
        const key_group *group = deletes->groups[i];
        for (size_t k = 0; k < group->id_count; k++) {
            list[(*count)++] = frz_key_column_index(read_type, group->ids[k]);
        }
    }
    *out = list;
    return FRZ_OK;
}

frz_code frz_file_deletes_clear(const frz_file_deletes *deletes, const frz_type *read_type,
                                const frz_batch *batch, uint8_t *bits, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_key_column *columns = NULL;
    int64_t rows = batch->array.length;
    if (deletes->positions != NULL) {
        frz_positions_clear(deletes->positions, batch->first_row, rows, bits);
    }
    for (size_t i = 0; i < deletes->group_count; i++) {
        const key_group *group = deletes->groups[i];
        FRZ_TRY(delete_key_columns(deletes->env, group, read_type, &batch->array, &columns, err));
        rc = frz_key_set_clear(group->set, columns, rows, deletes->sequence_number, bits, err);
        delete_key_columns_free(deletes->env, group, columns);
        columns = NULL;
        FRZ_TRY(rc);
    }
out:
    return rc;
}
