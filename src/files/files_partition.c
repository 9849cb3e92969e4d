/*
 * Which partition of a table a row belongs to. spec: Partitioning, Partition Transforms
 */
#include <math.h>

#include "files/files.h"

#define DEPTH_MAX 64

/* ---- the spec ---- */

/* The way to a field through structs; 0: there is none. */
static size_t find_path(const frz_type *type, int32_t id, size_t *path, size_t depth)
{
    for (size_t i = 0; depth < DEPTH_MAX && i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        path[depth] = i;
        if (field->id == id) {
            return depth + 1;
        }
        size_t found =
            field->type->id == FRZ_TYPE_STRUCT ? find_path(field->type, id, path, depth + 1) : 0;
        if (found > 0) {
            return found;
        }
    }
    return 0;
}

static frz_code fail_field(const frz_partition_field *field, const char *why, frz_error *err)
{
    return frz_fail(err, FRZ_E_UNSUPPORTED,
                    "unsupported: appending to a table partitioned by \"%.*s\", %s (%.*s)",
                    FRZ_STR_ARG(field->name), why, FRZ_STR_ARG(field->transform.text));
}

static frz_code plan_source(const frz_partition_field *field, const frz_type *table,
                            frz_arena *arena, frz_partition_part *out, frz_error *err)
{
    size_t path[DEPTH_MAX];
    const frz_type *type = table;
    if (field->source_count != 1) {
        return fail_field(field, "a transform of several columns", err);
    }
    if (field->transform.kind == FRZ_TRANSFORM_UNKNOWN) {
        return fail_field(field, "a transform that is not known", err);
    }
    out->depth = find_path(table, field->source_ids[0], path, 0);
    for (size_t i = 0; i < out->depth; i++) {
        type = type->fields[path[i]].type;
    }
    out->result = out->depth == 0 ? NULL : frz_transform_result(&field->transform, type);
    if (out->result == NULL) {
        return fail_field(field,
                          out->depth == 0 ? "whose column is gone"
                                          : "a transform that its column's type does not have",
                          err);
    }
    size_t *kept = frz_arena_array(arena, out->depth, sizeof *kept);
    if (kept == NULL) {
        return frz_fail_nomem(err, out->depth * sizeof *kept);
    }
    memcpy(kept, path, out->depth * sizeof *kept);
    out->path = kept;
    out->source = type;
    return FRZ_OK;
}

frz_code frz_partitioning_of(const frz_metadata *metadata, const frz_type *table, frz_arena *arena,
                             frz_partitioning *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_partition_spec *spec = frz_metadata_spec(metadata, metadata->default_spec_id);
    frz_partitioning made = {.spec_id = -1};
    if (spec == NULL || spec->field_count == 0) {
        *out = made;
        return FRZ_OK;
    }
    made.spec_id = spec->spec_id;
    made.fields = frz_arena_array(arena, spec->field_count, sizeof *made.fields);
    if (made.fields == NULL) {
        return frz_fail_nomem(err, spec->field_count * sizeof *made.fields);
    }
    for (size_t i = 0; i < spec->field_count; i++) {
        const frz_partition_field *field = &spec->fields[i];
        frz_partition_part *part = &made.fields[made.field_count++];
        *part = (frz_partition_part){.field_id = field->field_id, .transform = field->transform};
        part->transform.text = (frz_str){0}; /* of the metadata, which may go first */
        if (field->transform.kind == FRZ_TRANSFORM_VOID) {
            part->result = frz_type_primitive(FRZ_TYPE_UNKNOWN);
            continue;
        }
        FRZ_TRY(plan_source(field, table, arena, part, err));
    }
    *out = made;
out:
    return rc;
}

/* ---- rows ---- */

/* NULL: the value, or a struct around it, is null. */
static const struct ArrowArray *find_value(const frz_partition_part *field,
                                           const struct ArrowArray *batch, int64_t *row)
{
    const struct ArrowArray *array = batch;
    for (size_t i = 0; i < field->depth; i++) {
        *row += array->offset; /* children of a struct are counted from its buffers' first row */
        array = array->children[field->path[i]];
        if (frz_is_null(array, *row)) {
            return NULL;
        }
    }
    return array;
}

static frz_code put(frz_buf *key, const void *bytes, size_t size, frz_error *err)
{
    return frz_buf_append(key, bytes, size, err);
}

/* All NaN are one partition. */
static frz_code put_double(frz_buf *key, double value, frz_error *err)
{
    value = isnan(value) ? (double)NAN : value;
    return put(key, &value, sizeof value, err);
}

static frz_code put_value(frz_buf *key, const frz_value *value, frz_error *err)
{
    frz_code rc = frz_buf_append_byte(key, value->is_null, err);
    if (rc != FRZ_OK || value->is_null) {
        return rc;
    }
    switch (value->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return frz_buf_append_byte(key, value->as.boolean, err);
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
        return put(key, &value->as.i32, sizeof value->as.i32, err);
    case FRZ_TYPE_FLOAT:
        return put_double(key, (double)value->as.f32, err);
    case FRZ_TYPE_DOUBLE:
        return put_double(key, value->as.f64, err);
    case FRZ_TYPE_DECIMAL:
        return put(key, &value->as.i128, sizeof value->as.i128, err);
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        rc = put(key, &value->as.bytes.len, sizeof value->as.bytes.len, err);
        return rc == FRZ_OK ? put(key, value->as.bytes.ptr, value->as.bytes.len, err) : rc;
    default: /* times and long */
        return put(key, &value->as.i64, sizeof value->as.i64, err);
    }
}

frz_code frz_partition_tuple(const frz_partitioning *partitioning, const struct ArrowArray *batch,
                             int64_t row, frz_value *values, frz_buf *key, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < partitioning->field_count; i++) {
        const frz_partition_part *field = &partitioning->fields[i];
        int64_t at = row;
        values[i] = (frz_value){.type = field->result, .is_null = true};
        const struct ArrowArray *array =
            field->source == NULL ? NULL : find_value(field, batch, &at);
        if (array != NULL) {
            frz_value value = frz_value_at(field->source, array, at);
            FRZ_TRY(frz_transform_apply(&field->transform, &value, &values[i], err));
        }
        FRZ_TRY(put_value(key, &values[i], err));
    }
out:
    return rc;
}
