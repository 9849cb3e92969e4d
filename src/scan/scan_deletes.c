/*
 * The delete files of a snapshot, sorted by what they can apply to, and what of them applies to one
 * data file.
 *
 * Invariants:
 *  1. Paths are compared as places, absolute and before location maps.
 *  2. A deletion vector of the entry itself, or else of a delete manifest, stands for all position
 *     deletes of the file. Equality deletes apply beside it.
 *  3. Position deletes and vectors apply to files of the same or a lower sequence number, equality
 *     deletes to files of a lower one.
 *  4. A delete file that applies and cannot be read is an error.
 *
 * spec: Scan Planning; deletion_vector of v4
 */
#include <stdlib.h>

#include "scan/scan_deletes_internal.h"

#define POSITION_BYTES ((size_t)256 << 20)
#define KEY_BYTES ((size_t)512 << 20)

/* ---- partitions ---- */

static bool partitions_rows(const frz_partition_spec *spec)
{
    for (size_t i = 0; spec != NULL && i < spec->field_count; i++) {
        if (spec->fields[i].transform.kind != FRZ_TRANSFORM_VOID) {
            return true;
        }
    }
    return false;
}

/* spec: floats of a partition are equal if their bits are, with one NaN */
static uint64_t float_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7ff8000000000000u : bits;
}

static frz_code put_number(frz_buf *out, uint64_t number, frz_error *err)
{
    return frz_buf_append(out, &number, sizeof number, err);
}

static frz_code put_value(frz_buf *out, const frz_value *value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (value->is_null) {
        return put_number(out, 0, err);
    }
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return put_number(out, value->as.boolean ? 2 : 1, err);
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DOUBLE:
        FRZ_TRY(put_number(out, 1, err));
        return put_number(
            out,
            float_bits(value->type->id == FRZ_TYPE_FLOAT ? (double)value->as.f32 : value->as.f64),
            err);
    case FRZ_TYPE_DECIMAL:
        FRZ_TRY(put_number(out, 1, err));
        return frz_buf_append(out, &value->as.i128, sizeof value->as.i128, err);
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        FRZ_TRY(put_number(out, 1 + value->as.bytes.len, err));
        return frz_buf_append(out, value->as.bytes.ptr, value->as.bytes.len, err);
    default:
        FRZ_TRY(put_number(out, 1, err));
        return put_number(out,
                          (uint64_t)(frz_type_width(value->type) == sizeof(int32_t)
                                         ? (int64_t)value->as.i32
                                         : value->as.i64),
                          err);
    }
out:
    return rc;
}

frz_code delete_partition_key(const frz_metadata *metadata, int32_t spec_id,
                              const frz_partition_value *values, size_t count, frz_buf *out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_partition_spec *spec = frz_metadata_spec(metadata, spec_id);
    if (spec_id < 0 || (spec != NULL && !partitions_rows(spec))) {
        return FRZ_OK;
    }
    FRZ_TRY(put_number(out, (uint64_t)spec_id, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(put_number(out, (uint64_t)values[i].field_id, err));
        FRZ_TRY(put_value(out, &values[i].value, err));
    }
out:
    return rc;
}

static frz_code own_partition_key(frz_delete_index *index, const frz_entry *entry, frz_str *out,
                                  frz_error *err)
{
    frz_buf key = FRZ_BUF_INIT(index->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = delete_partition_key(&index->table->metadata, entry->spec_id, entry->partition,
                                       entry->partition_count, &key, err);
    if (rc == FRZ_OK) {
        rc = frz_arena_str(&index->arena, frz_buf_view(&key), out, err);
    }
    frz_buf_reset(&key);
    return rc;
}

/* ---- places ---- */

int delete_compare_places(const frz_place *a, const frz_place *b)
{
    int order = frz_str_compare(a->scheme, b->scheme);
    return order != 0 ? order : frz_str_compare(a->rest, b->rest);
}

/* The place of a path as a delete file or its entry records it. */
static frz_code place_of(frz_delete_index *index, frz_str recorded, frz_place *out, frz_error *err)
{
    frz_str location = {NULL, 0};
    frz_code rc = frz_table_resolve_legacy(index->table, recorded, &index->arena, &location, err);
    *out = frz_location_place(location);
    return rc;
}

/* ---- taking the entries of delete manifests ---- */

static frz_code add_file(frz_delete_index *index, delete_list *list, const delete_file *file,
                         frz_error *err)
{
    frz_code rc = FRZ_GROW(index->env, &list->files, &list->capacity, list->count, err);
    if (rc == FRZ_OK) {
        list->files[list->count++] = *file;
    }
    return rc;
}

/* Bounds of the paths in a position delete file. If they are one, it is for one data file. */
static frz_code take_paths(frz_delete_index *index, delete_file *file, frz_error *err)
{
    const frz_field_stats *stats = frz_entry_stats(file->entry, FRZ_ID_DELETE_FILE_PATH);
    if (file->entry->referenced_data_file.len > 0) {
        return place_of(index, file->entry->referenced_data_file, &file->place, err);
    }
    if (stats == NULL || !stats->has_lower || !stats->has_upper) {
        return FRZ_OK;
    }
    file->lower_path = stats->lower.as.bytes;
    file->upper_path = stats->upper.as.bytes;
    return file->lower_path.len > 0 && frz_str_equal(file->lower_path, file->upper_path)
               ? place_of(index, file->lower_path, &file->place, err)
               : FRZ_OK;
}

/* Other columns of an equality delete file may hold anything. */
static const frz_field_stats *lookup_key(void *ctx, int32_t field_id)
{
    const frz_entry *entry = ctx;
    for (size_t i = 0; i < entry->equality_id_count; i++) {
        if (entry->equality_ids[i] == field_id) {
            return frz_entry_stats(entry, field_id);
        }
    }
    return NULL;
}

static frz_code take_entry(frz_delete_index *index, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    delete_file file = {.entry = entry};
    int64_t added_by = index->options.added_by;
    if (added_by != 0 && (entry->status != FRZ_STATUS_ADDED || entry->snapshot_id != added_by)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_table_resolve_legacy(index->table, entry->location, &index->arena, &file.location,
                                     err));
    FRZ_TRY(own_partition_key(index, entry, &file.partition, err));
    if (entry->content == FRZ_CONTENT_EQUALITY_DELETES) {
        const frz_bound_expr *filter = index->options.filter;
        bool matters = filter == NULL || frz_expr_may_match(filter, lookup_key, NULL, (void *)entry,
                                                            entry->record_count);
        return matters ? add_file(index, &index->equality, &file, err) : FRZ_OK;
    }
    if (entry->has_deletion_vector) {
        FRZ_TRY(place_of(index, entry->referenced_data_file, &file.place, err));
        return add_file(index, &index->vectors, &file, err);
    }
    FRZ_TRY(take_paths(index, &file, err));
    rc = add_file(index, file.place.rest.ptr != NULL ? &index->single : &index->shared, &file, err);
out:
    return frz_context(err, rc, "delete file %.*s", FRZ_STR_ARG(entry->location));
}

static frz_code read_manifest(frz_delete_index *index, const frz_tree *tree, size_t i,
                              const frz_stats_choice *stats, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = NULL;
    const frz_entry_request request = {.stats = *stats};
    const frz_entry *entries = NULL;
    size_t count = 0;
    FRZ_TRY(frz_entry_reader_open(tree, i, &request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &index->arena, &entries, &count, err)) == FRZ_OK) {
        for (size_t k = 0; k < count; k++) {
            FRZ_TRY(take_entry(index, &entries[k], err));
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_entry_reader_close(reader);
    return rc;
}

typedef struct id_list {
    int32_t *ids; /* NULL: only count */
    size_t count;
} id_list;

static frz_code collect_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    id_list *list = ctx;
    (void)err;
    if (!in_repeated && !frz_type_is_nested(field->type)) {
        if (list->ids != NULL) {
            list->ids[list->count] = field->id;
        }
        list->count++;
    }
    return FRZ_OK;
}

/* Bounds of paths, and of all fields that can be keys. */
static frz_code choose_stats(frz_delete_index *index, frz_stats_choice *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    id_list list = {NULL, 0};
    const frz_type *type = index->options.schema->type;
    FRZ_TRY(frz_type_visit(type, collect_id, &list, err));
    list.ids = frz_arena_array(&index->arena, list.count + 1, sizeof *list.ids);
    if (list.ids == NULL) {
        rc = frz_fail_nomem(err, list.count * sizeof *list.ids);
        goto out;
    }
    list.count = 0;
    FRZ_TRY(frz_type_visit(type, collect_id, &list, err));
    list.ids[list.count++] = FRZ_ID_DELETE_FILE_PATH;
    *out = (frz_stats_choice){.field_ids = list.ids, .field_count = list.count};
out:
    return rc;
}

/* ---- sorting ---- */

static int falling_numbers(const delete_file *a, const delete_file *b)
{
    int64_t x = a->entry->sequence_number, y = b->entry->sequence_number;
    return x > y ? -1 : x < y;
}

static int by_place(const void *a, const void *b)
{
    const delete_file *x = a, *y = b;
    int order = delete_compare_places(&x->place, &y->place);
    return order != 0 ? order : falling_numbers(x, y);
}

static int by_partition(const void *a, const void *b)
{
    const delete_file *x = a, *y = b;
    int order = frz_str_compare(x->partition, y->partition);
    return order != 0 ? order : falling_numbers(x, y);
}

static void sort_list(delete_list *list, int (*compare)(const void *, const void *))
{
    if (list->count > 1) {
        qsort(list->files, list->count, sizeof *list->files, compare);
    }
}

/* spec: at most one deletion vector per data file in a snapshot */
static frz_code check_vectors(const frz_delete_index *index, frz_error *err)
{
    for (size_t i = 1; i < index->vectors.count; i++) {
        const delete_file *a = &index->vectors.files[i - 1], *b = &index->vectors.files[i];
        if (delete_compare_places(&a->place, &b->place) == 0) {
            return frz_fail(
                err, FRZ_E_CORRUPT,
                "%.*s has two deletion vectors, at byte %lld of %.*s and byte %lld of "
                "%.*s",
                FRZ_STR_ARG(b->entry->referenced_data_file),
                (long long)a->entry->deletion_vector.offset, FRZ_STR_ARG(a->entry->location),
                (long long)b->entry->deletion_vector.offset, FRZ_STR_ARG(b->entry->location));
        }
    }
    return FRZ_OK;
}

/* ---- opening ---- */

static frz_code read_manifests(frz_delete_index *index, const frz_tree *tree, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stats_choice stats = {.field_count = 0};
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        if (file->content != FRZ_CONTENT_DELETE_MANIFEST || !frz_status_is_live(file->status)) {
            continue;
        }
        if (stats.field_count == 0) {
            FRZ_TRY(choose_stats(index, &stats, err));
        }
        FRZ_TRY(read_manifest(index, tree, i, &stats, err));
    }
out:
    return rc;
}

bool frz_tree_has_delete_files(const frz_tree *tree)
{
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        if (file->content == FRZ_CONTENT_DELETE_MANIFEST && frz_status_is_live(file->status)) {
            return true;
        }
    }
    return false;
}

/* From the tree's delete manifests, or else from the entries. */
static frz_code open_index(const frz_table *table, const frz_tree *tree,
                           const frz_entry *const *entries, size_t count,
                           const frz_delete_options *options, frz_delete_index **out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_delete_index *index = frz_alloc_zero(table->env, 1, sizeof *index);
    if (index == NULL) {
        return frz_fail_nomem(err, sizeof *index);
    }
    index->env = table->env;
    index->table = table;
    index->options = *options;
    if (index->options.position_bytes == 0) {
        index->options.position_bytes = POSITION_BYTES;
    }
    if (index->options.key_bytes == 0) {
        index->options.key_bytes = KEY_BYTES;
    }
    frz_arena_init(&index->arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (tree != NULL) {
        FRZ_TRY(read_manifests(index, tree, err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(take_entry(index, entries[i], err));
    }
    sort_list(&index->vectors, by_place);
    sort_list(&index->single, by_place);
    sort_list(&index->shared, by_partition);
    FRZ_TRY(check_vectors(index, err));
    FRZ_TRY(delete_make_groups(index, err));
    *out = index;
    index = NULL;
out:
    frz_delete_index_free(index);
    return rc;
}

frz_code frz_delete_index_open(const frz_table *table, const frz_tree *tree,
                               const frz_delete_options *options, frz_delete_index **out,
                               frz_error *err)
{
    return open_index(table, tree, NULL, 0, options, out, err);
}

frz_code frz_delete_index_of(const frz_table *table, const frz_entry *const *entries, size_t count,
                             const frz_delete_options *options, frz_delete_index **out,
                             frz_error *err)
{
    return open_index(table, NULL, entries, count, options, out, err);
}

static void free_list(const frz_env *env, delete_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        delete_table_free(env, list->files[i].table);
    }
    frz_free(env, list->files);
}

void frz_delete_index_free(frz_delete_index *index)
{
    if (index == NULL) {
        return;
    }
    const frz_env *env = index->env;
    free_list(env, &index->vectors);
    free_list(env, &index->single);
    free_list(env, &index->shared);
    free_list(env, &index->equality);
    for (size_t i = 0; i < index->group_count; i++) {
        frz_key_set_free(index->groups[i].set);
    }
    frz_free(env, index->groups);
    frz_file_close(index->puffin);
    frz_arena_reset(&index->arena);
    frz_free(env, index);
}

int64_t frz_delete_index_files(const frz_delete_index *index)
{
    return index->files_read;
}

/* ---- delete files ---- */

frz_code delete_open_file(frz_delete_index *index, const delete_file *file,
                          const frz_name_mapping *mapping, frz_data_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_data_file *opened = NULL;
    if (file->entry->key_metadata.ptr != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encrypted delete file %.*s",
                        FRZ_STR_ARG(file->location));
    }
    FRZ_TRY(frz_table_resolve_access(index->table, file->location, &location, err));
    FRZ_TRY(frz_data_file_open(index->env, location, mapping, &opened, err));
    if (frz_data_file_row_count(opened) != file->entry->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: file has %lld rows, its manifest entry says %lld",
                      location, (long long)frz_data_file_row_count(opened),
                      (long long)file->entry->record_count);
        goto out;
    }
    index->files_read++;
    *out = opened;
    opened = NULL;
out:
    frz_data_file_close(opened);
    frz_free(index->env, location);
    return rc;
}
