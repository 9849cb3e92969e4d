/*
 * Equality delete files: those of one partition that compare the same fields are a group with one
 * set of keys, each with the greatest sequence number that it was deleted with. Files are read into
 * the set when a data file is first met that they can apply to.
 *
 * spec: Equality Delete Files
 */
#include <stdlib.h>

#include "scan/scan_deletes_internal.h"

/* ---- groups ---- */

static int compare_ids(const int32_t *a, size_t a_count, const int32_t *b, size_t b_count)
{
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return a_count < b_count ? -1 : a_count > b_count;
}

static int by_group(const void *a, const void *b)
{
    const delete_file *x = a, *y = b;
    int order = frz_str_compare(x->partition, y->partition);
    if (order == 0) {
        order = compare_ids(x->entry->equality_ids, x->entry->equality_id_count,
                            y->entry->equality_ids, y->entry->equality_id_count);
    }
    if (order == 0) {
        order = x->entry->sequence_number > y->entry->sequence_number   ? -1
                : x->entry->sequence_number < y->entry->sequence_number ? 1
                                                                        : 0;
    }
    return order;
}

static bool same_group(const key_group *group, const delete_file *file)
{
    return frz_str_equal(group->partition, file->partition) &&
           compare_ids(group->ids, group->id_count, file->entry->equality_ids,
                       file->entry->equality_id_count) == 0;
}

static frz_code find_types(frz_delete_index *index, key_group *group, frz_error *err)
{
    group->types = frz_arena_array(&index->arena, group->id_count, sizeof(frz_type *));
    group->sources = frz_arena_array(&index->arena, group->id_count, sizeof(frz_type *));
    if (group->types == NULL || group->sources == NULL) {
        return frz_fail_nomem(err, group->id_count * sizeof(frz_type *));
    }
    for (size_t i = 0; i < group->id_count; i++) {
        const frz_field *field = delete_find_field(index, group->ids[i], &group->sources[i]);
        group->types[i] = field == NULL ? NULL : field->type;
    }
    return FRZ_OK;
}

/* Fields in another order are the same ones. */
static int compare_i32(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static frz_code sort_ids(frz_delete_index *index, delete_file *file, frz_error *err)
{
    size_t count = file->entry->equality_id_count;
    frz_entry *entry = frz_arena_alloc(&index->arena, sizeof *entry);
    int32_t *ids = frz_arena_array(&index->arena, count, sizeof *ids);
    if (entry == NULL || ids == NULL) {
        return frz_fail_nomem(err, count * sizeof *ids);
    }
    memcpy(ids, file->entry->equality_ids, count * sizeof *ids);
    qsort(ids, count, sizeof *ids, compare_i32);
    *entry = *file->entry;
    entry->equality_ids = ids;
    file->entry = entry;
    return FRZ_OK;
}

frz_code delete_make_groups(frz_delete_index *index, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_list *list = &index->equality;
    for (size_t i = 0; i < list->count; i++) {
        FRZ_TRY(sort_ids(index, &list->files[i], err));
    }
    if (list->count > 1) {
        qsort(list->files, list->count, sizeof *list->files, by_group);
    }
    for (size_t i = 0; i < list->count; i++) {
        delete_file *file = &list->files[i];
        if (index->group_count > 0 && same_group(&index->groups[index->group_count - 1], file)) {
            index->groups[index->group_count - 1].file_count++;
            continue;
        }
        FRZ_TRY(
            FRZ_GROW(index->env, &index->groups, &index->group_capacity, index->group_count, err));
        key_group *group = &index->groups[index->group_count++];
        *group = (key_group){.partition = file->partition,
                             .ids = file->entry->equality_ids,
                             .id_count = file->entry->equality_id_count,
                             .files = file,
                             .file_count = 1};
        FRZ_TRY(find_types(index, group, err));
    }
out:
    return rc;
}

frz_code frz_delete_index_keys(const frz_delete_index *index, frz_arena *arena, const int32_t **ids,
                               size_t *count, frz_error *err)
{
    size_t most = 0, n = 0;
    for (size_t i = 0; i < index->group_count; i++) {
        most += index->groups[i].id_count;
    }
    int32_t *list = frz_arena_array(arena, most + 1, sizeof *list);
    if (list == NULL) {
        return frz_fail_nomem(err, most * sizeof *list);
    }
    for (size_t i = 0; i < index->group_count; i++) {
        const key_group *group = &index->groups[i];
        if (i > 0 && compare_ids(group->ids, group->id_count, index->groups[i - 1].ids,
                                 index->groups[i - 1].id_count) == 0) {
            continue; /* of another partition */
        }
        memcpy(list + n, group->ids, group->id_count * sizeof *list);
        n += group->id_count;
    }
    if (n > 1) {
        qsort(list, n, sizeof *list, compare_i32);
    }
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || list[i] != list[i - 1]) {
            list[(*count)++] = list[i];
        }
    }
    *ids = list;
    return FRZ_OK;
}

/* ---- can a file's keys be in a data file? ---- */

static bool may_have_null(const frz_field_stats *stats)
{
    return stats->null_value_count != 0;
}

static bool may_have_nan(const frz_field_stats *stats)
{
    frz_type_id id = stats->type->id;
    return (id == FRZ_TYPE_FLOAT || id == FRZ_TYPE_DOUBLE) && stats->nan_value_count != 0;
}

static bool only_nulls(const frz_field_stats *stats)
{
    return stats->value_count >= 0 && stats->value_count == stats->null_value_count;
}

/* Bounds of the two have no value in common. */
static bool apart(const frz_field_stats *a, const frz_field_stats *b)
{
    return (a->has_lower && b->has_upper && frz_value_compare(&a->lower, &b->upper, false) > 0) ||
           (a->has_upper && b->has_lower && frz_value_compare(&a->upper, &b->lower, false) < 0);
}

static bool field_may_match(const frz_field_stats *keys, const frz_field_stats *data)
{
    if (keys == NULL || data == NULL || (may_have_null(keys) && may_have_null(data)) ||
        (may_have_nan(keys) && may_have_nan(data))) {
        return true;
    }
    return !only_nulls(keys) && !only_nulls(data) &&
           !(frz_type_equal(keys->type, data->type) && apart(keys, data));
}

bool delete_keys_may_match(const delete_file *file, const frz_entry *data)
{
    if (file->entry->sequence_number <= data->sequence_number) {
        return false;
    }
    for (size_t i = 0; i < file->entry->equality_id_count; i++) {
        int32_t id = file->entry->equality_ids[i];
        if (!field_may_match(frz_entry_stats(file->entry, id), frz_entry_stats(data, id))) {
            return false;
        }
    }
    return true;
}

/* ---- reading keys ---- */

/* The types that a file's columns are read with: the table's if they promote to it, else their
 * own. A dropped column that no schema has any more keeps the type of the first file. */
static frz_code choose_type(frz_delete_index *index, key_group *group, size_t i,
                            const frz_data_file *file, frz_arena *arena,
                            const frz_type **projection, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char text[80], expected[80];
    const frz_type *stored = frz_data_file_type(file), *all = NULL;
    const frz_field *field = frz_type_find_id(stored, group->ids[i]);
    if (field == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: a delete file by field id %d does not store it",
                        frz_data_file_location(file), group->ids[i]);
    }
    if (group->types[i] == NULL) {
        FRZ_TRY(frz_type_copy(&index->arena, stored, &all, err));
        group->sources[i] = all;
        group->types[i] = frz_type_find_id(all, group->ids[i])->type;
    }
    const frz_type *type =
        frz_type_promotes(field->type, group->types[i]) ? group->types[i] : field->type;
    if (!frz_key_types_agree(type, group->types[i])) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: field id %d: expected keys of type %s, found %s",
                      frz_data_file_location(file), group->ids[i],
                      frz_type_text(group->types[i], expected, sizeof expected),
                      frz_type_text(field->type, text, sizeof text));
        goto out;
    }
    rc = delete_add_field(arena, *projection, stored, group->ids[i], type, projection, err);
out:
    return rc;
}

frz_code delete_key_columns(const frz_env *env, const key_group *group, const frz_type *type,
                            const struct ArrowArray *batch, frz_key_column **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_key_column *columns = frz_alloc_zero(env, group->id_count, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, group->id_count * sizeof *columns);
    }
    for (size_t i = 0; i < group->id_count; i++) {
        FRZ_TRY(frz_key_column_init(&columns[i], env, type, batch, group->ids[i], err));
    }
    *out = columns;
    columns = NULL;
out:
    delete_key_columns_free(env, group, columns);
    return rc;
}

void delete_key_columns_free(const frz_env *env, const key_group *group, frz_key_column *columns)
{
    for (size_t i = 0; columns != NULL && i < group->id_count; i++) {
        frz_key_column_reset(&columns[i], env);
    }
    frz_free(env, columns);
}

static frz_code add_batch(frz_delete_index *index, key_group *group, const frz_type *type,
                          const struct ArrowArray *batch, int64_t sequence_number, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_key_column *columns = NULL;
    if (group->set == NULL) {
        FRZ_TRY(frz_key_set_new(index->env, group->types, group->id_count, &group->set, err));
    }
    FRZ_TRY(delete_key_columns(index->env, group, type, batch, &columns, err));
    rc = frz_key_set_add(group->set, columns, batch->length, sequence_number, err);
out:
    delete_key_columns_free(index->env, group, columns);
    return rc;
}

frz_code delete_read_keys(frz_delete_index *index, key_group *group, const delete_file *file,
                          frz_code (*full)(void *ctx, frz_error *err), void *ctx, frz_error *err)
{
    static const frz_type nothing = {.id = FRZ_TYPE_STRUCT};
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_data_file *opened = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    frz_read_request request = {.projection = &nothing};
    const frz_name_mapping *mapping = index->table->has_mapping ? &index->table->mapping : NULL;
    frz_arena_init(&arena, index->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(delete_open_file(index, file, mapping, &opened, err));
    for (size_t i = 0; i < group->id_count; i++) {
        FRZ_TRY(choose_type(index, group, i, opened, &arena, &request.projection, err));
    }
    FRZ_TRY(frz_data_reader_open(opened, &request, &reader, err));
    while ((rc = frz_data_reader_next(reader, &batch, err)) == FRZ_OK) {
        rc = add_batch(index, group, request.projection, &batch.array, file->entry->sequence_number,
                       err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
        FRZ_TRY(full == NULL ? FRZ_OK : full(ctx, err));
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_data_reader_close(reader);
    frz_data_file_close(opened);
    frz_arena_reset(&arena);
    return frz_context(err, rc, "reading equality deletes of %.*s", FRZ_STR_ARG(file->location));
}

/* ---- sets within the limit ---- */

static void drop_set(key_group *group)
{
    frz_key_set_free(group->set);
    group->set = NULL;
    for (size_t i = 0; i < group->file_count; i++) {
        group->files[i].in_set = false;
    }
}

/* Drop sets that were not used for longest until so many bytes more can be held. Sets that this
 * data file uses are newer than started. */
static void make_room(frz_delete_index *index, size_t more, uint64_t started)
{
    for (;;) {
        size_t held = 0;
        key_group *oldest = NULL;
        for (size_t i = 0; i < index->group_count; i++) {
            key_group *group = &index->groups[i];
            held += group->set == NULL ? 0 : frz_key_set_bytes(group->set);
            if (group->set != NULL && group->used <= started &&
                (oldest == NULL || group->used < oldest->used)) {
                oldest = group;
            }
        }
        if (held + more <= index->options.key_bytes || oldest == NULL) {
            return;
        }
        drop_set(oldest);
    }
}

/* What reading the files that are missing in the set could add to it. */
static size_t bytes_missing(const key_group *group, const frz_entry *data)
{
    size_t bytes = 0;
    for (size_t i = 0; i < group->file_count; i++) {
        const delete_file *file = &group->files[i];
        if (!file->in_set && delete_keys_may_match(file, data)) {
            bytes += frz_key_set_bytes_of(file->entry->record_count, group->id_count);
        }
    }
    return bytes;
}

static bool any_may_match(const key_group *group, const frz_entry *data)
{
    for (size_t i = 0; i < group->file_count; i++) {
        if (delete_keys_may_match(&group->files[i], data)) {
            return true;
        }
    }
    return false;
}

static frz_code add_group(frz_delete_index *index, key_group *group, frz_file_deletes *deletes,
                          frz_error *err)
{
    frz_code rc =
        FRZ_GROW(index->env, &deletes->groups, &deletes->group_capacity, deletes->group_count, err);
    if (rc == FRZ_OK) {
        deletes->groups[deletes->group_count++] = group;
    }
    return rc;
}

frz_code delete_use_group(frz_delete_index *index, key_group *group, const frz_entry *entry,
                          frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!any_may_match(group, entry)) {
        return FRZ_OK;
    }
    size_t missing = bytes_missing(group, entry);
    if (missing > index->options.key_bytes / 2) {
        drop_set(group);
        return delete_in_portions(index, group, entry, deletes, err);
    }
    make_room(index, missing, deletes->started);
    group->used = ++index->clock;
    for (size_t i = 0; i < group->file_count; i++) {
        delete_file *file = &group->files[i];
        if (!file->in_set && delete_keys_may_match(file, entry)) {
            FRZ_TRY(delete_read_keys(index, group, file, NULL, NULL, err));
            file->in_set = true;
        }
    }
    rc = group->set != NULL && !frz_key_set_is_empty(group->set)
             ? add_group(index, group, deletes, err)
             : FRZ_OK;
out:
    return rc;
}
