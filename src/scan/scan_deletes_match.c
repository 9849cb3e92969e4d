/*
 * Which delete files apply to a data file, told by their entries alone.
 *
 * spec: Scan Planning
 */
#include "scan/scan_deletes_internal.h"

/* ---- places in the sorted lists ---- */

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

static delete_file *find_vector(const frz_delete_index *index, const delete_sought *data)
{
    size_t i = first_of_place(&index->vectors, &data->place);
    delete_file *file = &index->vectors.files[i];
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
static bool path_may_be_in(const delete_file *file, const delete_sought *data)
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

/* ---- visiting ---- */

static frz_code visit_positions(frz_delete_index *index, const delete_sought *data,
                                const delete_visitor *visitor, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_list *single = &index->single, *shared = &index->shared;
    for (size_t i = first_of_place(single, &data->place);
         i < single->count && frz_place_equal(single->files[i].place, data->place) &&
         single->files[i].entry->sequence_number >= data->entry->sequence_number;
         i++) {
        FRZ_TRY(visitor->positions(visitor->ctx, data, &single->files[i], err));
    }
    for (size_t i = first_of_partition(shared, data->partition);
         i < shared->count && frz_str_equal(shared->files[i].partition, data->partition) &&
         shared->files[i].entry->sequence_number >= data->entry->sequence_number;
         i++) {
        if (path_may_be_in(&shared->files[i], data)) {
            FRZ_TRY(visitor->positions(visitor->ctx, data, &shared->files[i], err));
        }
    }
out:
    return rc;
}

static frz_code visit_groups(frz_delete_index *index, frz_str partition, const delete_sought *data,
                             const delete_visitor *visitor, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = first_group(index, partition);
         rc == FRZ_OK && i < index->group_count &&
         frz_str_equal(index->groups[i].partition, partition);
         i++) {
        rc = visitor->group(visitor->ctx, data, &index->groups[i], err);
    }
    return rc;
}

frz_code delete_visit(frz_delete_index *index, const frz_entry *entry,
                      const delete_visitor *visitor, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_buf partition = FRZ_BUF_INIT(index->env, FRZ_BUF_NO_LIMIT);
    delete_sought data = {.entry = entry};
    const frz_str all = {NULL, 0};
    frz_arena_init(&arena, index->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_table_resolve_view(index->table, entry->location, &arena, &data.location, err));
    data.place = frz_location_place(data.location);
    FRZ_TRY(delete_partition_key(&index->table->metadata, entry->spec_id, entry->partition,
                                 entry->partition_count, &partition, err));
    data.partition = frz_buf_view(&partition);
    delete_file *vector =
        entry->has_deletion_vector || index->vectors.count == 0 ? NULL : find_vector(index, &data);
    if (vector != NULL) {
        FRZ_TRY(visitor->vector(visitor->ctx, &data, vector, err));
    } else if (!entry->has_deletion_vector) {
        FRZ_TRY(visit_positions(index, &data, visitor, err));
    }
    FRZ_TRY(visit_groups(index, all, &data, visitor, err));
    if (data.partition.len > 0) {
        FRZ_TRY(visit_groups(index, data.partition, &data, visitor, err));
    }
out:
    frz_buf_reset(&partition);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- as a list ---- */

typedef struct applying {
    frz_delete_index *index;
    frz_arena *arena;
    frz_applied_delete *items;
    size_t count, capacity;
} applying;

static frz_code add_item(applying *a, delete_file *file, frz_error *err)
{
    if (a->count == a->capacity) {
        size_t wanted = FRZ_MAX(a->capacity * 2, (size_t)4);
        frz_applied_delete *larger = frz_arena_array(a->arena, wanted, sizeof *larger);
        if (larger == NULL) {
            return frz_fail_nomem(err, wanted * sizeof *larger);
        }
        if (a->count > 0) {
            memcpy(larger, a->items, a->count * sizeof *larger);
        }
        a->items = larger;
        a->capacity = wanted;
    }
    bool many = file->place.rest.ptr == NULL;
    frz_str named = file->entry->referenced_data_file;
    a->items[a->count++] = (frz_applied_delete){.entry = file->entry,
                                                .data_file = many            ? (frz_str){NULL, 0}
                                                             : named.len > 0 ? named
                                                                             : file->lower_path,
                                                .is_new = !file->listed};
    file->listed = true;
    return FRZ_OK;
}

static frz_code add_file(void *ctx, const delete_sought *data, delete_file *file, frz_error *err)
{
    (void)data;
    return add_item(ctx, file, err);
}

static frz_code add_group(void *ctx, const delete_sought *data, key_group *group, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; rc == FRZ_OK && i < group->file_count; i++) {
        if (delete_keys_may_match(&group->files[i], data->entry)) {
            rc = add_item(ctx, &group->files[i], err);
        }
    }
    return rc;
}

frz_code frz_delete_index_list(frz_delete_index *index, const frz_entry *entry, frz_arena *arena,
                               const frz_applied_delete **out, size_t *count, frz_error *err)
{
    applying a = {.index = index, .arena = arena};
    const delete_visitor visitor = {add_file, add_file, add_group, &a};
    frz_code rc = delete_visit(index, entry, &visitor, err);
    *out = a.items;
    *count = a.count;
    return frz_context(err, rc, "deletes of %.*s", FRZ_STR_ARG(entry->location));
}
