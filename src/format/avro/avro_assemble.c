/*
 * From filled columns to an array of the requested type.
 */
#include <inttypes.h>

#include "format/avro/avro_internal.h"
#include "type/type_variant.h"

static frz_code assemble(const frz_env *env, avro_part *part, int64_t length,
                         struct ArrowArray *out, frz_error *err);

/* The buffers of a part's column; *nulls is 0 if it has none. */
static frz_code finish(avro_part *part, int64_t length, frz_buffer *buffers[3], int64_t *nulls,
                       frz_error *err)
{
    char path[256];
    size_t bad;
    frz_code rc;
    buffers[0] = buffers[1] = buffers[2] = NULL;
    *nulls = 0;
    if (!part->has_column) {
        return FRZ_OK;
    }
    assert(part->column.count == (size_t)length);
    rc = avro_column_finish(&part->column, buffers, nulls, &bad, err);
    if (rc == FRZ_OK && bad < (size_t)length) {
        for (size_t i = 0; i < 3; i++) {
            frz_buffer_unref(buffers[i]);
            buffers[i] = NULL;
        }
        rc = frz_fail(err, FRZ_E_CORRUPT, "column \"%s\": value %zu of a batch is not UTF-8",
                      avro_node_path(part->node, path, sizeof path), bad);
    }
    return rc;
}

static frz_code assemble_children(const frz_env *env, avro_part *part, int64_t length,
                                  struct ArrowArray **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *children = frz_alloc_zero(env, part->child_count, sizeof *children);
    if (children == NULL) {
        return frz_fail_nomem(err, part->child_count * sizeof *children);
    }
    for (size_t i = 0; i < part->child_count; i++) {
        FRZ_TRY(assemble(env, &part->children[i], length, &children[i], err));
    }
    *out = children;
    children = NULL;
out:
    for (size_t i = 0; children != NULL && i < part->child_count; i++) {
        frz_array_release(&children[i]);
    }
    frz_free(env, children);
    return rc;
}

static frz_code assemble_struct(const frz_env *env, avro_part *part, int64_t length,
                                struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *buffers[3] = {NULL, NULL, NULL};
    struct ArrowArray *children = NULL;
    int64_t nulls;
    FRZ_TRY(assemble_children(env, part, length, &children, err));
    rc = finish(part, length, buffers, &nulls, err);
    if (rc != FRZ_OK) {
        for (size_t i = 0; i < part->child_count; i++) {
            frz_array_release(&children[i]);
        }
        goto out;
    }
    rc = frz_array_make(env, length, nulls, buffers, 1, children, part->child_count, out, err);
out:
    frz_free(env, children);
    return rc;
}

/* The record as it is stored, and the variants in it. */
static frz_code assemble_variant(const frz_env *env, avro_part *part, int64_t length,
                                 struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char path[256];
    struct ArrowArray stored = {0};
    FRZ_TRY(assemble_struct(env, part, length, &stored, err));
    rc = frz_variant_unshred(env, part->field->type, &stored, out, err);
    FRZ_TRY(frz_context(err, rc, "column \"%s\"", avro_node_path(part->node, path, sizeof path)));
out:
    frz_array_release(&stored);
    return rc;
}

/* A map's items are structs of key and value. */
static frz_code items_of(const frz_env *env, const avro_part *part, int64_t items,
                         struct ArrowArray *children, struct ArrowArray *out, frz_error *err)
{
    frz_buffer *none = NULL;
    if (part->field->type->id == FRZ_TYPE_LIST) {
        frz_array_move(&children[0], out);
        return FRZ_OK;
    }
    return frz_array_make(env, items, 0, &none, 1, children, part->child_count, out, err);
}

static frz_code assemble_items(const frz_env *env, avro_part *part, int64_t length,
                               struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buffer *buffers[3] = {NULL, NULL, NULL};
    struct ArrowArray *children = NULL;
    struct ArrowArray content = {0};
    int64_t nulls;
    int64_t items = (int64_t)part->column.bytes_len;
    FRZ_TRY(assemble_children(env, part, items, &children, err));
    FRZ_TRY(items_of(env, part, items, children, &content, err));
    FRZ_TRY(finish(part, length, buffers, &nulls, err));
    rc = frz_array_make(env, length, nulls, buffers, 2, &content, 1, out, err);
    content.release = NULL; /* it moved */
out:
    frz_array_release(&content);
    frz_free(env, children);
    return rc;
}

static frz_code assemble(const frz_env *env, avro_part *part, int64_t length,
                         struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = part->field->type;
    frz_buffer *buffers[3];
    int64_t nulls;
    if (part->node == NULL || part->only_nulls) {
        const frz_value *value = part->node == NULL ? part->field->initial_default : NULL;
        return frz_array_constant(env, type, value, length, out, err);
    }
    switch (type->id) {
    case FRZ_TYPE_STRUCT:
        return part->variant ? assemble_variant(env, part, length, out, err)
                             : assemble_struct(env, part, length, out, err);
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return assemble_items(env, part, length, out, err);
    default:
        break;
    }
    FRZ_TRY(finish(part, length, buffers, &nulls, err));
    rc = frz_array_make(env, length, nulls, buffers, part->column.shape == AVRO_SHAPE_BYTES ? 3 : 2,
                        NULL, 0, out, err);
out:
    return rc;
}

frz_code avro_assemble(const frz_env *env, avro_part *part, int64_t length, struct ArrowArray *out,
                       frz_error *err)
{
    return assemble(env, part, length, out, err);
}
