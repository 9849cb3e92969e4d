/*
 * Columns about rows: which there are, and their values for some rows of a data file.
 */
#include "scan/scan_row_columns.h"

#include <stdlib.h>

#define COLUMN(field_id, text, is_required)                                                        \
    {                                                                                              \
        .id = (field_id), .required = (is_required), .name = FRZ_STR(text)                         \
    }

/* ---- _partition ---- */

static const frz_field *find_source(const frz_metadata *metadata, int32_t id)
{
    const frz_schema *current = frz_metadata_current_schema(metadata);
    const frz_field *found = current == NULL ? NULL : frz_type_find_id(current->type, id);
    for (size_t i = metadata->schema_count; found == NULL && i-- > 0;) {
        found = frz_type_find_id(metadata->schemas[i]->type, id);
    }
    return found;
}

/* The type of a partition field's values; NULL: it has none that are known. */
static const frz_type *type_of(const frz_metadata *metadata, const frz_partition_field *field)
{
    const frz_field *source =
        field->source_count == 0 ? NULL : find_source(metadata, field->source_ids[0]);
    return source == NULL ? NULL : frz_transform_result(&field->transform, source->type);
}

static bool is_void(const frz_partition_field *field)
{
    return field->transform.kind == FRZ_TRANSFORM_VOID;
}

/* The field of an id in the newest spec that partitions by it; else in the newest that has it. */
static const frz_partition_field *find_partition_field(const frz_metadata *metadata, int32_t id)
{
    const frz_partition_field *best = NULL;
    int32_t best_spec = -1;
    for (size_t s = 0; s < metadata->spec_count; s++) {
        const frz_partition_spec *spec = &metadata->specs[s];
        for (size_t i = 0; i < spec->field_count; i++) {
            const frz_partition_field *field = &spec->fields[i];
            bool better = best == NULL || (is_void(best) && !is_void(field)) ||
                          (is_void(best) == is_void(field) && spec->spec_id > best_spec);
            if (field->field_id == id && better) {
                best = field;
                best_spec = spec->spec_id;
            }
        }
    }
    return best;
}

static int compare_ids(const void *a, const void *b)
{
    const frz_field *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* One field for each id that a spec has. */
static size_t collect_fields(const frz_metadata *metadata, frz_field *fields)
{
    size_t count = 0, kept = 0;
    for (size_t s = 0; s < metadata->spec_count; s++) {
        for (size_t i = 0; i < metadata->specs[s].field_count; i++) {
            fields[count++] = (frz_field){.id = metadata->specs[s].fields[i].field_id};
        }
    }
    if (count > 1) {
        qsort(fields, count, sizeof *fields, compare_ids);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_partition_field *field = find_partition_field(metadata, fields[i].id);
        const frz_type *type = type_of(metadata, field);
        if (type != NULL && (kept == 0 || fields[kept - 1].id != fields[i].id)) {
            fields[kept++] = (frz_field){.id = field->field_id, .name = field->name, .type = type};
        }
    }
    return kept;
}

static frz_code partition_type(frz_arena *arena, const frz_metadata *metadata, const frz_type **out,
                               frz_error *err)
{
    size_t most = 0;
    for (size_t s = 0; s < metadata->spec_count; s++) {
        most += metadata->specs[s].field_count;
    }
    frz_field *fields = frz_arena_array(arena, most + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, most * sizeof *fields);
    }
    size_t count = collect_fields(metadata, fields);
    if (count == 0) {
        *out = frz_type_primitive(FRZ_TYPE_UNKNOWN);
        return FRZ_OK;
    }
    return frz_type_struct_of(arena, fields, count, out, err);
}

/* ---- the columns ---- */

static bool has_name(const frz_type *type, frz_str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, name)) {
            return true;
        }
    }
    return false;
}

frz_code frz_row_columns_add(frz_arena *arena, const frz_metadata *metadata, const frz_type *base,
                             bool by_name, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *partition = NULL;
    size_t n = base->field_count;
    FRZ_TRY(partition_type(arena, metadata, &partition, err));
    frz_field columns[] = {
        COLUMN(FRZ_ID_ROW_FILE, "_file", true), COLUMN(FRZ_ID_ROW_POS, "_pos", true),
        COLUMN(FRZ_ID_ROW_DELETED, "_deleted", true), COLUMN(FRZ_ID_ROW_SPEC_ID, "_spec_id", false),
        COLUMN(FRZ_ID_ROW_PARTITION, "_partition", false)};
    columns[0].type = frz_type_primitive(FRZ_TYPE_STRING);
    columns[1].type = frz_type_primitive(FRZ_TYPE_LONG);
    columns[2].type = frz_type_primitive(FRZ_TYPE_BOOLEAN);
    columns[3].type = frz_type_primitive(FRZ_TYPE_INT);
    columns[4].type = partition;
    frz_field *fields = frz_arena_array(arena, n + FRZ_ARRAY_COUNT(columns), sizeof *fields);
    if (fields == NULL) {
        rc = frz_fail_nomem(err, (n + FRZ_ARRAY_COUNT(columns)) * sizeof *fields);
        goto out;
    }
    if (n > 0) {
        memcpy(fields, base->fields, n * sizeof *fields);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(columns); i++) {
        if (!by_name || !has_name(base, columns[i].name)) {
            fields[n++] = columns[i];
        }
    }
    rc = frz_type_struct_of(arena, fields, n, out, err);
out:
    return rc;
}

/* ---- their values ---- */

/* The base file, wherever its location is recorded relative to. */
static frz_code make_file(const frz_row_window *w, const frz_type *type, struct ArrowArray *out,
                          frz_error *err)
{
    char *location = NULL;
    frz_code rc = frz_table_resolve(w->table, w->entry->location, &location, err);
    if (rc == FRZ_OK) {
        const frz_value value = {.type = type, .as.bytes = frz_str_from(location)};
        rc = frz_array_constant(w->table->env, type, &value, w->rows, out, err);
    }
    frz_free(w->table->env, location);
    return rc;
}

static frz_code make_pos(const frz_row_window *w, struct ArrowArray *out, frz_error *err)
{
    frz_buffer *buffers[2] = {NULL, NULL};
    frz_code rc =
        frz_buffer_new(w->table->env, (size_t)w->rows * sizeof(int64_t), &buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int64_t *values = (int64_t *)(void *)buffers[1]->data;
    for (int64_t i = 0; i < w->rows; i++) {
        values[i] = w->first_row + i;
    }
    return frz_array_make(w->table->env, w->rows, 0, buffers, 2, NULL, 0, out, err);
}

static frz_code make_deleted(const frz_row_window *w, struct ArrowArray *out, frz_error *err)
{
    frz_buffer *buffers[2] = {NULL, NULL};
    size_t bytes = frz_bitmap_bytes(w->rows);
    frz_code rc = frz_buffer_new(w->table->env, bytes, &buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < bytes; i++) {
        buffers[1]->data[i] = w->live == NULL ? 0 : (uint8_t)~w->live[i];
    }
    return frz_array_make(w->table->env, w->rows, 0, buffers, 2, NULL, 0, out, err);
}

static bool partitions_nothing(const frz_partition_spec *spec)
{
    for (size_t i = 0; i < spec->field_count; i++) {
        if (!is_void(&spec->fields[i])) {
            return false;
        }
    }
    return true;
}

/* spec: in v4 an entry without a spec id is of any spec that partitions nothing */
static frz_code make_spec_id(const frz_row_window *w, const frz_type *type, struct ArrowArray *out,
                             frz_error *err)
{
    const frz_metadata *metadata = &w->table->metadata;
    frz_value value = {.type = type, .as.i32 = w->entry->spec_id};
    for (size_t i = 0; value.as.i32 < 0 && i < metadata->spec_count; i++) {
        if (partitions_nothing(&metadata->specs[i])) {
            value.as.i32 = metadata->specs[i].spec_id;
        }
    }
    value.is_null = value.as.i32 < 0;
    return frz_array_constant(w->table->env, type, &value, w->rows, out, err);
}

/* NULL: the file's spec has no such field, or the value is null. */
static const frz_value *tuple_value(const frz_entry *entry, int32_t field_id)
{
    for (size_t i = 0; i < entry->partition_count; i++) {
        if (entry->partition[i].field_id == field_id) {
            return &entry->partition[i].value;
        }
    }
    return NULL;
}

static frz_code make_partition(const frz_row_window *w, const frz_type *type,
                               struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = w->table->env;
    size_t made = 0;
    frz_buffer *buffers[1] = {NULL};
    struct ArrowArray *children = frz_alloc_zero(env, type->field_count, sizeof *children);
    if (children == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *children);
    }
    for (; made < type->field_count; made++) {
        const frz_field *field = &type->fields[made];
        FRZ_TRY(frz_array_constant(env, field->type, tuple_value(w->entry, field->id), w->rows,
                                   &children[made], err));
    }
    made = 0; /* they move, also on failure */
    rc = frz_array_make(env, w->rows, 0, buffers, 1, children, type->field_count, out, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&children[i]);
    }
    frz_free(env, children);
    return rc;
}

frz_code frz_row_column_make(const frz_row_window *window, const frz_field *field,
                             struct ArrowArray *out, frz_error *err)
{
    switch (field->id) {
    case FRZ_ID_ROW_FILE:
        return make_file(window, field->type, out, err);
    case FRZ_ID_ROW_POS:
        return make_pos(window, out, err);
    case FRZ_ID_ROW_DELETED:
        return make_deleted(window, out, err);
    case FRZ_ID_ROW_SPEC_ID:
        return make_spec_id(window, field->type, out, err);
    default:
        return field->type->id == FRZ_TYPE_UNKNOWN
                   ? frz_array_nulls(window->table->env, field->type, window->rows, out, err)
                   : make_partition(window, field->type, out, err);
    }
}
