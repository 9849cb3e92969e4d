/*
 * Opening a v4 manifest: is it one, in the layout of today, and which of its columns are read.
 * spec: root manifest, tracked_file, content stats, ids that moved
 */
#include <stdlib.h>

#include "meta/meta_ids.h"
#include "meta/meta_tracked.h"

/* What pruning and inheritance look at. */
#define BRIEF_COLUMNS                                                                              \
    (1u << META_TRACKING | 1u << META_CONTENT_TYPE | 1u << META_RECORD_COUNT |                     \
     1u << META_SPEC_ID | 1u << META_PARTITION | 1u << META_CONTENT_STATS)

/* ---- is it a manifest? ---- */

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

/* Status has the id 0, which some writers give to fields without one: it must be there once. */
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
        any_id = any_id || type->fields[i].id != FRZ_ID_NONE;
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

static int compare_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

bool meta_type_has_bounds(const frz_type *type)
{
    return type->id != FRZ_TYPE_UNKNOWN && type->id < FRZ_TYPE_VARIANT;
}

const frz_type *meta_stats_type_of(const meta_entry_rules *rules, const frz_schema *schema,
                                   int32_t field_id)
{
    if (field_id == FRZ_ID_LAST_UPDATED || field_id == FRZ_ID_ROW_ID) {
        return frz_field_row_id.type;
    }
    if (field_id == FRZ_ID_DELETE_FILE_PATH) {
        return frz_type_primitive(FRZ_TYPE_STRING);
    }
    const frz_field *field = field_id < 0 ? NULL : frz_type_find_id(schema->type, field_id);
    bool usable = field != NULL && meta_type_has_bounds(field->type) &&
                  bsearch(&field_id, rules->repeated_ids, rules->repeated_count, sizeof field_id,
                          compare_i32) == NULL;
    return usable ? field->type : NULL;
}

static void add_shape(meta_tracked *t, const frz_field *in_file)
{
    int32_t field_id = meta_stats_field(in_file->id);
    const frz_type *type = meta_stats_type_of(t->rules, t->schema, field_id);
    unsigned metrics = type == NULL || in_file->type->id != FRZ_TYPE_STRUCT
                           ? 0
                           : metrics_of(in_file->type, in_file->id, type);
    if (metrics != 0) {
        t->shapes[t->shape_count++] = (meta_stats_shape){
            .field_id = field_id, .name = in_file->name, .type = type, .metrics = metrics};
    }
}

static frz_code choose_stats(meta_tracked *t, const frz_stats_choice *choice, frz_error *err)
{
    const frz_field *stats =
        frz_type_field_by_id(frz_data_file_type(t->file), FRZ_ID_CONTENT_STATS);
    if (stats == NULL || stats->type->id != FRZ_TYPE_STRUCT) {
        return FRZ_OK;
    }
    size_t count = choice->all ? stats->type->field_count : choice->field_count;
    t->shapes = frz_arena_array(&t->arena, count, sizeof *t->shapes);
    if (t->shapes == NULL) {
        return frz_fail_nomem(err, count * sizeof *t->shapes);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_field *in_file =
            choice->all ? &stats->type->fields[i]
                        : frz_type_field_by_id(stats->type, meta_stats_base(choice->field_ids[i]));
        if (in_file != NULL) {
            add_shape(t, in_file);
        }
    }
    return FRZ_OK;
}

/* ---- partition ---- */

/* Fields of types that hold no single value are of transforms that mean nothing here. */
static frz_code choose_partition(meta_tracked *t, frz_error *err)
{
    const frz_field *tuple = frz_type_field_by_id(frz_data_file_type(t->file), FRZ_ID_PARTITION);
    size_t n = 0;
    if (tuple == NULL || tuple->type->id != FRZ_TYPE_STRUCT) {
        return FRZ_OK;
    }
    frz_field *fields = frz_arena_array(&t->arena, tuple->type->field_count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, tuple->type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < tuple->type->field_count; i++) {
        const frz_field *field = &tuple->type->fields[i];
        if (meta_type_has_bounds(field->type)) {
            fields[n++] = *field;
        }
    }
    return n == 0 ? FRZ_OK : frz_type_struct_of(&t->arena, fields, n, &t->partition, err);
}

/* ---- opening ---- */

frz_code meta_tracked_open(meta_tracked *tracked, const char *location,
                           const frz_stats_choice *stats, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = tracked->table->env;
    frz_arena_init(&tracked->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_data_file_open(env, location, NULL, &tracked->file, err));
    const frz_type *type = frz_data_file_type(tracked->file);
    int64_t rows = frz_data_file_row_count(tracked->file);
    uint64_t size = frz_data_file_size(tracked->file);
    if (rows < 0 || (uint64_t)rows > size) {
        return frz_fail(err, FRZ_E_CORRUPT, "%lld entries cannot be in %llu bytes", (long long)rows,
                        (unsigned long long)size);
    }
    FRZ_TRY(check_file_type(type, err));
    FRZ_TRY(choose_stats(tracked, stats, err));
    FRZ_TRY(choose_partition(tracked, err));
    FRZ_TRY(meta_manifest_row_to_read(&tracked->arena, tracked->shapes, tracked->shape_count,
                                      tracked->partition, type, META_COLUMNS_ALL, &tracked->full,
                                      err));
    FRZ_TRY(meta_manifest_row_to_read(&tracked->arena, tracked->shapes, tracked->shape_count,
                                      tracked->partition, type, BRIEF_COLUMNS, &tracked->brief,
                                      err));
out:
    return rc;
}

void meta_tracked_close(meta_tracked *tracked)
{
    frz_data_file_close(tracked->file);
    tracked->file = NULL;
    frz_arena_reset(&tracked->arena);
}
