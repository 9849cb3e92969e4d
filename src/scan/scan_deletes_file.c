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

/* The first file of a list whose place is not below. */
static size_t first_of_place(const delete_list *list, const frz_place *place)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (delete_compare_places(&list->files[middle].place, place) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static size_t first_of_partition(const delete_list *list, frz_str partition)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frz_str_compare(list->files[middle].partition, partition) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A data file, as deletes look for it. */
typedef struct sought {
    const frz_entry *entry;
    frz_str location; /* absolute */
    frz_place place;
    frz_str partition;
} sought;

static const delete_file *find_vector(const frz_delete_index *index, const sought *data)
{
    size_t i = first_of_place(&index->vectors, &data->place);
    const delete_file *file = &index->vectors.files[i];
    bool applies = i < index->vectors.count && frz_place_equal(file->place, data->place) &&
                   file->entry->sequence_number >= data->entry->sequence_number;
    return applies ? file : NULL;
}

/* How a path is spelled in front of what places compare. */
static size_t spelling_of(frz_str path)
{
    return path.len - FRZ_MIN(frz_location_place(path).rest.len, path.len);
}

/* False only if the data file's path is outside of the bounds. These are texts as recorded, so that
 * they say something only if all paths between them are spelled alike. */
static bool path_may_be_in(const delete_file *file, const sought *data)
{
    frz_str low = file->lower_path, high = file->upper_path;
    size_t same = 0, spelling;
    if (low.ptr == NULL || high.ptr == NULL) {
        return true;
    }
    while (same < FRZ_MIN(low.len, high.len) && low.ptr[same] == high.ptr[same]) {
        same++;
    }
    spelling = spelling_of(low);
    if (spelling != spelling_of(high) || same <= spelling ||
        !frz_str_equal(frz_location_place(low).scheme, data->place.scheme)) {
        return true;
    }
    frz_str least = {low.ptr + spelling, low.len - spelling};
    frz_str greatest = {high.ptr + spelling, high.len - spelling};
    return frz_str_compare(data->place.rest, least) >= 0 &&
           (frz_str_compare(data->place.rest, greatest) <= 0 ||
            frz_str_starts_with(data->place.rest, greatest));
}

static frz_code use_positions(frz_delete_index *index, delete_file *file, const sought *data,
                              frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *both = NULL;
    const frz_positions *found = NULL;
    FRZ_TRY(delete_positions_of(index, file, &data->place, &found, err));
    if (found == NULL || frz_positions_count(found) == 0) {
        return FRZ_OK;
    }
    if (deletes->positions == NULL) {
        deletes->positions = found;
        return FRZ_OK;
    }
    const frz_positions *sets[] = {deletes->positions, found};
    FRZ_TRY(frz_positions_union(index->env, sets, 2, &both, err));
    frz_positions_free(deletes->own_positions);
    deletes->positions = deletes->own_positions = both;
out:
    return rc;
}

static frz_code find_positions(frz_delete_index *index, const sought *data,
                               frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_list *single = &index->single, *shared = &index->shared;
    delete_trim_tables(index);
    for (size_t i = first_of_place(single, &data->place);
         i < single->count && frz_place_equal(single->files[i].place, data->place) &&
         single->files[i].entry->sequence_number >= data->entry->sequence_number;
         i++) {
        FRZ_TRY(use_positions(index, &single->files[i], data, deletes, err));
    }
    for (size_t i = first_of_partition(shared, data->partition);
         i < shared->count && frz_str_equal(shared->files[i].partition, data->partition) &&
         shared->files[i].entry->sequence_number >= data->entry->sequence_number;
         i++) {
        if (path_may_be_in(&shared->files[i], data)) {
            FRZ_TRY(use_positions(index, &shared->files[i], data, deletes, err));
        }
    }
out:
    return rc;
}

static size_t first_group(const frz_delete_index *index, frz_str partition)
{
    size_t low = 0, high = index->group_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frz_str_compare(index->groups[middle].partition, partition) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static frz_code use_groups(frz_delete_index *index, frz_str partition, const sought *data,
                           frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = first_group(index, partition);
         rc == FRZ_OK && i < index->group_count &&
         frz_str_equal(index->groups[i].partition, partition);
         i++) {
        rc = delete_use_group(index, &index->groups[i], data->entry, deletes, err);
    }
    return rc;
}

static frz_code find_keys(frz_delete_index *index, const sought *data, frz_file_deletes *deletes,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_str all = {NULL, 0};
    FRZ_TRY(use_groups(index, all, data, deletes, err));
    if (data->partition.len > 0) {
        FRZ_TRY(use_groups(index, data->partition, data, deletes, err));
    }
out:
    return rc;
}

static frz_code find_in_index(frz_delete_index *index, const frz_entry *entry, frz_arena *arena,
                              frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf partition = FRZ_BUF_INIT(index->env, FRZ_BUF_NO_LIMIT);
    sought data = {.entry = entry};
    FRZ_TRY(frz_table_resolve_view(index->table, entry->location, arena, &data.location, err));
    data.place = frz_location_place(data.location);
    FRZ_TRY(delete_partition_key(&index->table->metadata, entry->spec_id, entry->partition,
                                 entry->partition_count, &partition, err));
    data.partition = frz_buf_view(&partition);
    const delete_file *vector =
        entry->has_deletion_vector || index->vectors.count == 0 ? NULL : find_vector(index, &data);
    if (vector != NULL) {
        FRZ_TRY(read_vector(index, index->table, &vector->entry->deletion_vector, vector->location,
                            entry, deletes, err));
        index->files_read++;
    } else if (!entry->has_deletion_vector) {
        FRZ_TRY(find_positions(index, &data, deletes, err));
    }
    FRZ_TRY(find_keys(index, &data, deletes, err));
out:
    frz_buf_reset(&partition);
    return rc;
}

frz_code frz_file_deletes_find(frz_delete_index *index, const frz_table *table,
                               const frz_entry *entry, frz_file_deletes **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_file_deletes *deletes = NULL;
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
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
        FRZ_TRY(find_in_index(index, entry, &arena, deletes, err));
    }
    if (deletes->positions != NULL || deletes->group_count > 0) {
        *out = deletes;
        deletes = NULL;
    }
out:
    frz_file_deletes_free(deletes);
    frz_arena_reset(&arena);
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
        frz_key_set_clear(group->set, columns, rows, deletes->sequence_number, bits);
        delete_key_columns_free(deletes->env, group, columns);
        columns = NULL;
    }
out:
    return rc;
}
