/*
 * Root manifest -> entries. The file is read as columns of the requested tracked_file struct, by
 * field id; each row becomes one entry with everything resolved, checked on the way.
 *
 * Invariants:
 *  1. An open manifest keeps all rules that its entries alone can break; what others may legally
 *     write and this library lacks is remembered and refused when live files are asked for.
 *  2. Nothing is guessed: a null where a value must be is an error, but a missing statistic is
 *     unknown.
 *  3. Memory is bounded by the size of the file.
 *
 * spec: root manifest, tracked_file, values in root entries, ids that moved
 */
#include <stdlib.h>

#include "format/format.h"
#include "meta/meta_ids.h"
#include "meta/meta_internal.h"

/* An entry with statistics of a field takes at least so many bytes of memory per byte of file. */
#define MEMORY_PER_BYTE 1024
#define MEMORY_LEAST ((size_t)64 << 20)

struct frz_manifest {
    const frz_env *env;
    frz_arena arena; /* texts, lists and statistics of entries */
    char *location;
    frz_entry *entries;
    size_t count, capacity;
    const frz_entry **live;
    size_t live_count;
    const char *missing; /* what this library lacks to read the live files; NULL: nothing */
    size_t missing_at;   /* entry */
};

typedef struct manifest_reader {
    const frz_table *table;
    const frz_snapshot *snapshot;
    const frz_schema *schema;
    frz_manifest *manifest;
    frz_arena scratch; /* types, shapes, rules */
    frz_data_file *file;
    meta_manifest_row row;
    meta_stats_shape *shapes;
    size_t shape_count;
    meta_entry_rules rules;
    const struct ArrowArray *batch;
} manifest_reader;

/* ---- cells: one value of a column, null if the column or a parent is not there ---- */

typedef struct cell {
    const struct ArrowArray *array;
    int64_t row;
} cell;

static const cell no_cell = {NULL, 0};

static bool cell_null(cell c)
{
    return c.array == NULL || frz_is_null(c.array, c.row);
}

static cell cell_member(cell c, int index)
{
    return index < 0 || cell_null(c) ? no_cell
                                     : (cell){c.array->children[index], c.array->offset + c.row};
}

/* Element i of a list; *count gets the length. */
static size_t cell_list_size(cell c)
{
    if (cell_null(c)) {
        return 0;
    }
    const int32_t *offsets = (const int32_t *)c.array->buffers[1] + c.array->offset + c.row;
    return (size_t)(offsets[1] - offsets[0]);
}

static cell cell_element(cell c, size_t i)
{
    const int32_t *offsets = (const int32_t *)c.array->buffers[1] + c.array->offset + c.row;
    return (cell){c.array->children[0], offsets[0] + (int64_t)i};
}

static int64_t cell_i64(cell c, int64_t fallback)
{
    return cell_null(c) ? fallback : frz_get_i64(c.array, c.row);
}

static int32_t cell_i32(cell c, int32_t fallback)
{
    return cell_null(c) ? fallback : frz_get_i32(c.array, c.row);
}

static frz_str cell_str(cell c)
{
    return cell_null(c) ? (frz_str){NULL, 0} : frz_get_bytes(c.array, c.row);
}

static cell row_cell(const manifest_reader *r, int64_t row, meta_column column)
{
    int at = r->row.at[column];
    return at < 0 ? no_cell : (cell){r->batch->children[at], r->batch->offset + row};
}

/* ---- values that must be there ---- */

static frz_code want_i64(cell c, const char *name, int64_t *out, frz_error *err)
{
    if (cell_null(c)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: expected a number, found null", name);
    }
    *out = frz_get_i64(c.array, c.row);
    return FRZ_OK;
}

static frz_code want_count(cell c, const char *name, int64_t *out, frz_error *err)
{
    frz_code rc = want_i64(c, name, out, err);
    if (rc == FRZ_OK && *out < 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: expected no negative number, found %lld", name,
                      (long long)*out);
    }
    return rc;
}

static frz_code want_i32(cell c, const char *name, int32_t *out, frz_error *err)
{
    if (cell_null(c)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: expected a number, found null", name);
    }
    *out = frz_get_i32(c.array, c.row);
    return FRZ_OK;
}

static frz_code want_text(manifest_reader *r, cell c, const char *name, frz_str *out,
                          frz_error *err)
{
    frz_str text = cell_str(c);
    if (text.len == 0 || !frz_str_is_clean(text)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: expected text, found %s", name,
                        cell_null(c)    ? "null"
                        : text.len == 0 ? "an empty text"
                                        : "a zero byte in it");
    }
    return frz_arena_str(&r->manifest->arena, text, out, err);
}

static void missing(manifest_reader *r, const frz_entry *entry, const char *what)
{
    if (r->manifest->missing == NULL && frz_status_is_live(entry->status)) {
        r->manifest->missing = what;
        r->manifest->missing_at = r->manifest->count;
    }
}

/* ---- tracking ---- */

/* Null in the root means the snapshot's value, for entries that this snapshot wrote. */
static frz_code resolve(cell c, bool inherits, int64_t inherited, const char *name, int64_t *out,
                        frz_error *err)
{
    if (cell_null(c) && inherits) {
        *out = inherited;
        return FRZ_OK;
    }
    return want_i64(c, name, out, err);
}

static frz_code read_tracking(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t status = 0;
    cell tracking = row_cell(r, row, META_TRACKING);
    FRZ_TRY(want_i32(cell_member(tracking, META_STATUS), "status", &status, err));
    if (status < FRZ_STATUS_EXISTING || status > FRZ_STATUS_MODIFIED) {
        return frz_fail(err, FRZ_E_CORRUPT, "status: expected 0 to 4, found %d", (int)status);
    }
    e->status = (frz_status)status;
    bool added = e->status == FRZ_STATUS_ADDED;
    bool changed = added || e->status == FRZ_STATUS_MODIFIED;
    FRZ_TRY(resolve(cell_member(tracking, META_SNAPSHOT_ID), added, r->snapshot->snapshot_id,
                    "snapshot_id", &e->snapshot_id, err));
    FRZ_TRY(resolve(cell_member(tracking, META_SEQUENCE_NUMBER), changed,
                    r->snapshot->sequence_number, "sequence_number", &e->sequence_number, err));
    FRZ_TRY(resolve(cell_member(tracking, META_FILE_SEQUENCE_NUMBER), changed,
                    r->snapshot->sequence_number, "file_sequence_number", &e->file_sequence_number,
                    err));
    e->modified_snapshot_id =
        cell_i64(cell_member(tracking, META_MODIFIED_SNAPSHOT_ID), FRZ_NO_VALUE);
    e->first_row_id = cell_i64(cell_member(tracking, META_FIRST_ROW_ID), FRZ_NO_VALUE);
    if (e->sequence_number < 0 || e->file_sequence_number < 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "sequence_number, file_sequence_number: expected no negative numbers, found "
                      "%lld, %lld",
                      (long long)e->sequence_number, (long long)e->file_sequence_number);
    }
out:
    return rc;
}

/* ---- statistics ---- */

static bool is_nan(const frz_value *value)
{
    return (value->type->id == FRZ_TYPE_FLOAT && value->as.f32 != value->as.f32) ||
           (value->type->id == FRZ_TYPE_DOUBLE && value->as.f64 != value->as.f64);
}

static frz_code read_bound(manifest_reader *r, const meta_stats_shape *shape, cell c, bool *has,
                           frz_value *out, frz_error *err)
{
    *has = false;
    if (cell_null(c)) {
        return FRZ_OK;
    }
    frz_value value = frz_value_at(shape->type, c.array, c.row);
    if (is_nan(&value)) {
        return FRZ_OK; /* never a bound */
    }
    frz_code rc = frz_value_copy(&r->manifest->arena, &value, out, err);
    *has = rc == FRZ_OK;
    return rc;
}

static int64_t read_metric(cell stats, const meta_stats_shape *shape, int metric)
{
    return FRZ_MAX(
        cell_i64(cell_member(stats, meta_stats_place(shape->metrics, metric)), FRZ_STAT_UNKNOWN),
        FRZ_STAT_UNKNOWN);
}

/* *known is false if every metric is null. */
static frz_code read_field_stats(manifest_reader *r, const meta_stats_shape *shape, cell stats,
                                 frz_field_stats *s, bool *known, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *s = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(shape->field_id, shape->type);
    unsigned metrics = shape->metrics;
    FRZ_TRY(read_bound(r, shape,
                       cell_member(stats, meta_stats_place(metrics, FRZ_STATS_LOWER_BOUND)),
                       &s->has_lower, &s->lower, err));
    FRZ_TRY(read_bound(r, shape,
                       cell_member(stats, meta_stats_place(metrics, FRZ_STATS_UPPER_BOUND)),
                       &s->has_upper, &s->upper, err));
    cell tight = cell_member(stats, meta_stats_place(metrics, FRZ_STATS_TIGHT_BOUNDS));
    s->tight_bounds = cell_null(tight) ? -1 : (int8_t)frz_get_bool(tight.array, tight.row);
    s->value_count = read_metric(stats, shape, FRZ_STATS_VALUE_COUNT);
    s->null_value_count = read_metric(stats, shape, FRZ_STATS_NULL_VALUE_COUNT);
    s->nan_value_count = read_metric(stats, shape, FRZ_STATS_NAN_VALUE_COUNT);
    s->total_bytes = read_metric(stats, shape, FRZ_STATS_TOTAL_BYTES);
    *known = s->has_lower || s->has_upper || s->value_count >= 0 || s->null_value_count >= 0 ||
             s->nan_value_count >= 0 || s->total_bytes >= 0;
out:
    return rc;
}

static frz_code read_stats(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    cell all = row_cell(r, row, META_CONTENT_STATS);
    if (cell_null(all)) {
        return FRZ_OK;
    }
    frz_field_stats *stats = frz_arena_array(&r->manifest->arena, r->shape_count, sizeof *stats);
    if (stats == NULL) {
        return frz_fail_nomem(err, r->shape_count * sizeof *stats);
    }
    size_t n = 0;
    for (size_t i = 0; i < r->shape_count; i++) {
        bool known = false;
        frz_code rc =
            read_field_stats(r, &r->shapes[i], cell_member(all, (int)i), &stats[n], &known, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        n += known;
    }
    e->stats = stats;
    e->stats_count = n;
    return FRZ_OK;
}

/* ---- column files, split offsets, vectors ---- */

static int compare_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static frz_code read_field_ids(manifest_reader *r, cell list, frz_column_file *file, frz_error *err)
{
    size_t count = cell_list_size(list);
    int32_t *ids = frz_arena_array(&r->manifest->arena, count, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, count * sizeof *ids);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = cell_i32(cell_element(list, i), 0); /* 0 is refused as an id */
    }
    qsort(ids, count, sizeof *ids, compare_i32);
    file->field_ids = ids;
    file->field_id_count = count;
    return FRZ_OK;
}

static frz_code read_column_file(manifest_reader *r, const frz_entry *e, cell c,
                                 frz_column_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena *arena = &r->manifest->arena;
    FRZ_TRY(frz_arena_str(arena, cell_str(cell_member(c, META_CF_LOCATION)), &file->location, err));
    FRZ_TRY(frz_arena_str(arena, cell_str(cell_member(c, META_CF_FILE_FORMAT)), &file->file_format,
                          err));
    file->file_size = cell_i64(cell_member(c, META_CF_FILE_SIZE), -1);
    FRZ_TRY(read_field_ids(r, cell_member(c, META_CF_FIELD_IDS), file, err));
    if (!cell_null(cell_member(c, META_CF_KEY_METADATA))) {
        missing(r, e, "encrypted column files");
    }
out:
    return rc;
}

static frz_code read_column_files(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cell list = row_cell(r, row, META_COLUMN_FILES);
    size_t count = cell_list_size(list);
    if (count == 0) {
        return FRZ_OK;
    }
    frz_column_file *files = frz_arena_array(&r->manifest->arena, count, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, count * sizeof *files);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(read_column_file(r, e, cell_element(list, i), &files[i], err));
    }
    e->column_files = files;
    e->column_file_count = count;
    FRZ_TRY(meta_check_column_files(&r->rules, e, r->manifest->env, err));
out:
    return rc;
}

static frz_code read_split_offsets(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    cell list = row_cell(r, row, META_SPLIT_OFFSETS);
    size_t count = cell_list_size(list);
    if (count == 0) {
        return FRZ_OK;
    }
    int64_t *offsets = frz_arena_array(&r->manifest->arena, count, sizeof *offsets);
    if (offsets == NULL) {
        return frz_fail_nomem(err, count * sizeof *offsets);
    }
    for (size_t i = 0; i < count; i++) {
        frz_code rc = want_count(cell_element(list, i), "split_offsets", &offsets[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    e->split_offsets = offsets;
    e->split_count = count;
    return FRZ_OK;
}

/* The content of data files that v4 knows but this library does not read yet. */
static void note_missing_data(manifest_reader *r, int64_t row, frz_entry *e)
{
    e->has_deletion_vector = !cell_null(row_cell(r, row, META_DELETION_VECTOR));
    if (e->has_deletion_vector) {
        missing(r, e, "deletion vectors");
    }
    if (!cell_null(row_cell(r, row, META_KEY_METADATA))) {
        missing(r, e, "encrypted data files");
    }
    if (e->spec_id >= 0 && meta_spec_is_partitioned(r->rules.metadata, e->spec_id)) {
        missing(r, e, "partitioned data files");
    }
}

static frz_code read_data(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(want_count(row_cell(r, row, META_RECORD_COUNT), "record_count", &e->record_count, err));
    if (e->first_row_id < 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "first_row_id: expected a row id, found %s",
                        e->first_row_id == FRZ_NO_VALUE ? "null" : "a negative number");
    }
    FRZ_TRY(meta_check_format(e->file_format, err));
    note_missing_data(r, row, e);
    FRZ_TRY(read_stats(r, row, e, err));
    FRZ_TRY(read_split_offsets(r, row, e, err));
    FRZ_TRY(read_column_files(r, row, e, err));
out:
    return rc;
}

/* ---- entries of manifests ---- */

static frz_code check_info(cell info, frz_content content, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t files = 0, rows = 0, sequence = 0, version = 0;
    if (cell_null(info)) {
        return frz_fail(err, FRZ_E_CORRUPT, "manifest_info: a manifest has one, found null");
    }
    for (int i = 0; i < META_INFO_ROWS; i++) {
        FRZ_TRY(want_count(cell_member(info, META_INFO_FILES + i), "manifest_info: files count",
                           &files, err));
        FRZ_TRY(want_count(cell_member(info, META_INFO_ROWS + i), "manifest_info: rows count",
                           &rows, err));
        if (rows > 0 && files == 0) {
            return frz_fail(err, FRZ_E_CORRUPT, "manifest_info: %lld rows in no files",
                            (long long)rows);
        }
    }
    FRZ_TRY(want_count(cell_member(info, META_INFO_MIN_SEQUENCE),
                       "manifest_info: min_sequence_number", &sequence, err));
    FRZ_TRY(want_i64(cell_member(info, META_INFO_FORMAT_VERSION), "manifest_info: format_version",
                     &version, err));
    if (version != 0 && version < FRZ_FORMAT_VERSION) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "manifest_info: format_version: expected 0, or 4 or more, found %lld",
                        (long long)version);
    }
    if (content == FRZ_CONTENT_DELETE_MANIFEST && version != 0) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "format version %lld has no delete manifests, found one",
                        (long long)version);
    }
out:
    return rc;
}

static frz_code read_manifest(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (cell_list_size(row_cell(r, row, META_COLUMN_FILES)) > 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column files of manifests");
    }
    if (e->sequence_number != e->file_sequence_number) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "sequence_number %lld and file_sequence_number %lld of a manifest differ",
                        (long long)e->sequence_number, (long long)e->file_sequence_number);
    }
    FRZ_TRY(want_i64(row_cell(r, row, META_RECORD_COUNT), "record_count", &e->record_count, err));
    FRZ_TRY(check_info(row_cell(r, row, META_MANIFEST_INFO), e->content, err));
    if (e->content == FRZ_CONTENT_DELETE_MANIFEST && e->first_row_id != FRZ_NO_VALUE) {
        return frz_fail(err, FRZ_E_CORRUPT, "first_row_id: expected null, found %lld",
                        (long long)e->first_row_id);
    }
    missing(r, e, e->content == FRZ_CONTENT_DATA_MANIFEST ? "leaf manifests" : "delete manifests");
out:
    return rc;
}

/* ---- one entry ---- */

static frz_code read_content(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    int32_t content = 0;
    frz_code rc = want_i32(row_cell(r, row, META_CONTENT_TYPE), "content_type", &content, err);
    if (rc == FRZ_OK && content != FRZ_CONTENT_DATA && content != FRZ_CONTENT_DATA_MANIFEST &&
        content != FRZ_CONTENT_DELETE_MANIFEST) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "content_type: expected 0, 3 or 4 in a root, found %d%s",
                      (int)content,
                      content == 1   ? " (position deletes)"
                      : content == 2 ? " (equality deletes)"
                                     : "");
    }
    e->content = (frz_content)content;
    return rc;
}

static frz_code read_entry(manifest_reader *r, int64_t row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(want_text(r, row_cell(r, row, META_LOCATION), "location", &e->location, err));
    FRZ_TRY(read_content(r, row, e, err));
    FRZ_TRY(read_tracking(r, row, e, err));
    FRZ_TRY(want_text(r, row_cell(r, row, META_FILE_FORMAT), "file_format", &e->file_format, err));
    FRZ_TRY(want_count(row_cell(r, row, META_FILE_SIZE), "file_size_in_bytes", &e->file_size, err));
    e->spec_id = FRZ_MAX(cell_i32(row_cell(r, row, META_SPEC_ID), -1), -1);
    e->sort_order_id = FRZ_MAX(cell_i32(row_cell(r, row, META_SORT_ORDER_ID), -1), -1);
    rc = e->content == FRZ_CONTENT_DATA ? read_data(r, row, e, err) : read_manifest(r, row, e, err);
out:
    return rc;
}

static frz_code read_batch(manifest_reader *r, const struct ArrowArray *batch, frz_error *err)
{
    frz_manifest *m = r->manifest;
    r->batch = batch;
    for (int64_t row = 0; row < batch->length; row++) {
        frz_code rc = FRZ_GROW(m->env, &m->entries, &m->capacity, m->count, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        frz_entry *e = &m->entries[m->count];
        *e = (frz_entry){.status = FRZ_STATUS_EXISTING};
        rc = read_entry(r, row, e, err);
        if (rc != FRZ_OK) {
            return e->location.len > 0 ? frz_context(err, rc, "entry %zu (%.*s)", m->count,
                                                     FRZ_STR_ARG(e->location))
                                       : frz_context(err, rc, "entry %zu", m->count);
        }
        m->count++;
    }
    return FRZ_OK;
}

/* ---- the file ---- */

/* Same ids mean other fields in the layout of August 2026. Names are free, so it is told by ids
 * that only one of the layouts has. */
static bool is_august_draft(const frz_type *type)
{
    const frz_field *info = frz_type_field_by_id(type, FRZ_ID_MANIFEST_INFO);
    if (info != NULL && info->type->id == FRZ_TYPE_STRUCT &&
        frz_type_field_by_id(info->type, FRZ_ID_MANIFEST_FORMAT_VERSION) != NULL &&
        frz_type_field_by_id(info->type, FRZ_ID_MODIFIED_ROWS_COUNT) == NULL) {
        return true;
    }
    const frz_field *files = frz_type_field_by_id(type, FRZ_ID_COLUMN_FILES);
    return files != NULL && files->type->id == FRZ_TYPE_LIST &&
           files->type->fields[0].type->id == FRZ_TYPE_STRUCT &&
           frz_type_field_by_id(files->type->fields[0].type, FRZ_ID_CF_LOCATION) == NULL;
}

/* Status has the id 0, which also stands for no id: exactly one such field must be in tracking. */
static frz_code check_tracking(const frz_type *type, frz_error *err)
{
    const frz_field *tracking = frz_type_field_by_id(type, FRZ_ID_TRACKING);
    size_t zeros = 0;
    if (tracking->type->id != FRZ_TYPE_STRUCT) {
        return frz_fail(err, FRZ_E_CORRUPT, "field 147 (tracking): expected a struct");
    }
    for (size_t i = 0; i < tracking->type->field_count; i++) {
        zeros += tracking->type->fields[i].id == FRZ_ID_STATUS;
    }
    return zeros == 1
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT,
                          "tracking: expected one field with id 0 (status), found %zu", zeros);
}

static frz_code check_file_type(const frz_type *type, frz_error *err)
{
    static const struct {
        int32_t id;
        const char *name;
    } required[] = {
        {FRZ_ID_TRACKING, "tracking"},         {FRZ_ID_CONTENT_TYPE, "content_type"},
        {FRZ_ID_LOCATION, "location"},         {FRZ_ID_FILE_FORMAT, "file_format"},
        {FRZ_ID_RECORD_COUNT, "record_count"}, {FRZ_ID_FILE_SIZE, "file_size_in_bytes"},
    };
    bool any_id = false;
    for (size_t i = 0; i < type->field_count; i++) {
        any_id = any_id || type->fields[i].id != 0;
    }
    if (!any_id) {
        return frz_fail(err, FRZ_E_CORRUPT, "columns have no field ids");
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(required); i++) {
        if (frz_type_field_by_id(type, required[i].id) == NULL) {
            return frz_fail(err, FRZ_E_CORRUPT, "field %d (%s) is missing", (int)required[i].id,
                            required[i].name);
        }
    }
    if (is_august_draft(type)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: manifest in a draft layout of format version 4");
    }
    return check_tracking(type, err);
}

/* ---- which statistics to read ---- */

/* Metrics that the file has in the meaning of today, for a field of this type. */
static unsigned metrics_of(const frz_type *stats, int32_t base, const frz_type *type)
{
    unsigned metrics = 0;
    for (int metric = FRZ_STATS_LOWER_BOUND; metric <= FRZ_STATS_TOTAL_BYTES; metric++) {
        const frz_field *field = frz_type_field_by_id(stats, base + metric);
        if (field == NULL) {
            continue;
        }
        bool fits = false;
        switch (metric) {
        case FRZ_STATS_LOWER_BOUND:
        case FRZ_STATS_UPPER_BOUND:
            fits = frz_type_equal(field->type, type) || frz_type_promotes(field->type, type);
            break;
        case FRZ_STATS_TIGHT_BOUNDS:
            fits = field->type->id == FRZ_TYPE_BOOLEAN;
            break;
        default: /* an int at the place of total_bytes was another metric once */
            fits = field->type->id == FRZ_TYPE_LONG;
            break;
        }
        metrics |= fits ? 1u << metric : 0;
    }
    return metrics;
}

/* The type of a field's statistics: that of the schema that is read; NULL: not asked for. */
static const frz_type *stats_type_of(const manifest_reader *r, int32_t field_id)
{
    if (field_id == FRZ_ID_LAST_UPDATED || field_id == FRZ_ID_ROW_ID) {
        return frz_field_row_id.type;
    }
    const frz_field *field = field_id < 0 ? NULL : frz_type_find_id(r->schema->type, field_id);
    bool usable = field != NULL && !frz_type_is_nested(field->type) &&
                  field->type->id != FRZ_TYPE_UNKNOWN && field->type->id < FRZ_TYPE_VARIANT &&
                  bsearch(&field_id, r->rules.repeated_ids, r->rules.repeated_count,
                          sizeof field_id, compare_i32) == NULL;
    return usable ? field->type : NULL;
}

static frz_code choose_stats(manifest_reader *r, const frz_type *file_type, frz_error *err)
{
    const frz_field *stats = frz_type_field_by_id(file_type, FRZ_ID_CONTENT_STATS);
    if (stats == NULL || stats->type->id != FRZ_TYPE_STRUCT) {
        return FRZ_OK;
    }
    size_t count = stats->type->field_count;
    r->shapes = frz_arena_array(&r->scratch, count, sizeof *r->shapes);
    if (r->shapes == NULL) {
        return frz_fail_nomem(err, count * sizeof *r->shapes);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_field *in_file = &stats->type->fields[i];
        int32_t field_id = meta_stats_field(in_file->id);
        const frz_type *type = stats_type_of(r, field_id);
        unsigned metrics = type == NULL || in_file->type->id != FRZ_TYPE_STRUCT
                               ? 0
                               : metrics_of(in_file->type, in_file->id, type);
        if (metrics != 0) {
            r->shapes[r->shape_count++] = (meta_stats_shape){
                .field_id = field_id, .name = in_file->name, .type = type, .metrics = metrics};
        }
    }
    return FRZ_OK;
}

/* ---- after the last entry ---- */

static int compare_locations(const void *a, const void *b)
{
    return frz_str_compare(*(const frz_str *)a, *(const frz_str *)b);
}

/* spec: a location has at most one live entry in a snapshot; compared as resolved */
static frz_code check_unique(const manifest_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_manifest *m = r->manifest;
    frz_str *locations = frz_alloc_zero(m->env, m->live_count, sizeof *locations);
    if (locations == NULL) {
        return frz_fail_nomem(err, m->live_count * sizeof *locations);
    }
    for (size_t i = 0; i < m->live_count; i++) {
        locations[i] = frz_table_relativize(r->table, m->live[i]->location);
    }
    qsort(locations, m->live_count, sizeof *locations, compare_locations);
    for (size_t i = 1; i < m->live_count && rc == FRZ_OK; i++) {
        if (frz_str_equal(locations[i], locations[i - 1])) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "%.*s has two live entries",
                          FRZ_STR_ARG(locations[i]));
        }
    }
    frz_free(m->env, locations);
    return rc;
}

static frz_code collect_live(manifest_reader *r, frz_error *err)
{
    frz_manifest *m = r->manifest;
    m->live = frz_arena_array(&m->arena, m->count, sizeof(frz_entry *));
    if (m->live == NULL) {
        return frz_fail_nomem(err, m->count * sizeof(frz_entry *));
    }
    for (size_t i = 0; i < m->count; i++) {
        const frz_entry *e = &m->entries[i];
        if (e->content == FRZ_CONTENT_DATA && frz_status_is_live(e->status)) {
            m->live[m->live_count++] = e;
        }
    }
    return check_unique(r, err);
}

/* ---- opening ---- */

static frz_code open_file(manifest_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_manifest *m = r->manifest;
    FRZ_TRY(frz_data_file_open(m->env, m->location, NULL, &r->file, err));
    uint64_t size = frz_data_file_size(r->file);
    if (frz_data_file_row_count(r->file) < 0 || (uint64_t)frz_data_file_row_count(r->file) > size) {
        return frz_fail(err, FRZ_E_CORRUPT, "%lld entries cannot be in %llu bytes",
                        (long long)frz_data_file_row_count(r->file), (unsigned long long)size);
    }
    m->arena.limit = size > SIZE_MAX / MEMORY_PER_BYTE / 2
                         ? FRZ_ARENA_NO_LIMIT
                         : MEMORY_LEAST + (size_t)size * MEMORY_PER_BYTE;
    const frz_type *type = frz_data_file_type(r->file);
    FRZ_TRY(check_file_type(type, err));
    FRZ_TRY(meta_entry_rules_of(&r->table->metadata, r->schema, &r->scratch, &r->rules, err));
    FRZ_TRY(choose_stats(r, type, err));
    FRZ_TRY(meta_manifest_row_to_read(&r->scratch, r->shapes, r->shape_count, type, &r->row, err));
out:
    return rc;
}

static frz_code read_file(manifest_reader *r, frz_error *err)
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
    if (rc == FRZ_END) {
        rc = collect_live(r, err);
    }
out:
    frz_data_reader_close(reader);
    return rc;
}

static frz_code check_snapshot(const frz_table *table, const frz_snapshot *snapshot, frz_error *err)
{
    if (snapshot->root_manifest.ptr == NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: manifest lists (snapshot %lld is older than format version "
                        "4)",
                        (long long)snapshot->snapshot_id);
    }
    const json_t *list = json_object_get(table->metadata.json, "snapshots");
    size_t i;
    const json_t *json;
    json_array_foreach(list, i, json)
    {
        if (json_integer_value(json_object_get(json, "snapshot-id")) == snapshot->snapshot_id &&
            meta_json_member(json, "key-id") != NULL) {
            return frz_fail(err, FRZ_E_UNSUPPORTED,
                            "unsupported: encrypted root manifests (snapshot %lld)",
                            (long long)snapshot->snapshot_id);
        }
    }
    return FRZ_OK;
}

frz_code frz_manifest_open(const frz_table *table, const frz_snapshot *snapshot,
                           const frz_schema *schema, frz_manifest **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = table->env;
    manifest_reader r = {.table = table, .snapshot = snapshot, .schema = schema};
    frz_arena_init(&r.scratch, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(check_snapshot(table, snapshot, err));
    r.manifest = frz_alloc_zero(env, 1, sizeof *r.manifest);
    FRZ_TRY(r.manifest == NULL ? frz_fail_nomem(err, sizeof *r.manifest) : FRZ_OK);
    r.manifest->env = env;
    frz_arena_init(&r.manifest->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_table_resolve_access(table, snapshot->root_manifest, &r.manifest->location, err));
    rc = open_file(&r, err);
    if (rc == FRZ_OK) {
        rc = read_file(&r, err);
    }
    if (rc != FRZ_OK) {
        frz_context(err, rc, "manifest %s", r.manifest->location);
        goto out;
    }
    *out = r.manifest;
    r.manifest = NULL;
out:
    frz_data_file_close(r.file);
    frz_arena_reset(&r.scratch);
    frz_manifest_free(r.manifest);
    return rc;
}

void frz_manifest_free(frz_manifest *manifest)
{
    if (manifest == NULL) {
        return;
    }
    frz_arena_reset(&manifest->arena);
    frz_free(manifest->env, manifest->entries);
    frz_free(manifest->env, manifest->location);
    frz_free(manifest->env, manifest);
}

/* ---- looking up ---- */

const char *frz_manifest_location(const frz_manifest *manifest)
{
    return manifest->location;
}

size_t frz_manifest_count(const frz_manifest *manifest)
{
    return manifest->count;
}

const frz_entry *frz_manifest_entry(const frz_manifest *manifest, size_t i)
{
    assert(i < manifest->count);
    return &manifest->entries[i];
}

frz_code frz_manifest_live(const frz_manifest *manifest, const frz_entry *const **out,
                           size_t *count, frz_error *err)
{
    if (manifest->missing != NULL) {
        const frz_entry *e = &manifest->entries[manifest->missing_at];
        frz_code rc = frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: %s (entry %zu, %.*s)",
                               manifest->missing, manifest->missing_at, FRZ_STR_ARG(e->location));
        return frz_context(err, rc, "manifest %s", manifest->location);
    }
    *out = manifest->live;
    *count = manifest->live_count;
    return FRZ_OK;
}

const frz_field_stats *frz_entry_stats(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->stats_count; i++) {
        if (entry->stats[i].field_id == field_id) {
            return &entry->stats[i];
        }
    }
    return NULL;
}

const frz_column_file *frz_entry_provider(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        if (bsearch(&field_id, file->field_ids, file->field_id_count, sizeof field_id,
                    compare_i32) != NULL) {
            return file;
        }
    }
    return NULL;
}

const char *frz_status_name(frz_status status)
{
    static const char *const names[] = {"EXISTING", "ADDED", "DELETED", "REPLACED", "MODIFIED"};
    return (size_t)status < FRZ_ARRAY_COUNT(names) ? names[status] : "unknown";
}
