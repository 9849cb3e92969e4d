/*
 * Arrow arrays of callers before they are written: what an array says of itself must be possible,
 * so that no row leads out of its buffers and children. How long a buffer really is cannot be seen.
 */
#include "format/parquet/parquet_write.h"

static frz_code wrong(const parquet_write_node *node, const char *what, frz_error *err)
{
    return frz_fail(err, FRZ_E_ARGUMENT, "the array of column \"%.*s\" %s",
                    FRZ_STR_ARG(node->dotted), what);
}

/* rows: that must be there, the array's offset not counted. */
static frz_code check_frame(const parquet_write_node *node, const struct ArrowArray *array,
                            int64_t buffers, int64_t children, int64_t rows, frz_error *err)
{
    if (array == NULL || array->release == NULL) {
        return wrong(node, "is missing or released", err);
    }
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX - array->offset) {
        return wrong(node, "has an impossible length or offset", err);
    }
    if (array->length < rows) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "the array of column \"%.*s\" has %lld rows, expected %lld",
                        FRZ_STR_ARG(node->dotted), (long long)array->length, (long long)rows);
    }
    if (array->null_count < -1 || array->null_count > array->length) {
        return wrong(node, "has an impossible null count", err);
    }
    if (array->n_buffers != buffers || (buffers > 0 && array->buffers == NULL)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "the array of column \"%.*s\" has %lld buffers, its type has %lld",
                        FRZ_STR_ARG(node->dotted), (long long)array->n_buffers, (long long)buffers);
    }
    if (array->n_children != children || (children > 0 && array->children == NULL)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "the array of column \"%.*s\" has %lld children, its type has %lld",
                        FRZ_STR_ARG(node->dotted), (long long)array->n_children,
                        (long long)children);
    }
    return FRZ_OK;
}

/* A buffer may be missing only where no row needs it. */
static frz_code check_buffer(const parquet_write_node *node, const struct ArrowArray *array,
                             int64_t i, frz_error *err)
{
    if (array->buffers[i] == NULL && frz_null_count(array) < array->length) {
        return wrong(node, "lacks a buffer", err);
    }
    return FRZ_OK;
}

/* Offsets that never go back, and where they end. */
static frz_code check_offsets(const parquet_write_node *node, const struct ArrowArray *array,
                              int64_t *end, frz_error *err)
{
    const int32_t *offsets = array->buffers[1];
    *end = 0;
    if (offsets == NULL) {
        return FRZ_OK;
    }
    offsets += array->offset;
    bool back = offsets[0] < 0;
    for (int64_t i = 0; i < array->length; i++) {
        back |= offsets[i + 1] < offsets[i];
    }
    *end = offsets[array->length];
    return back ? wrong(node, "has offsets that go back", err) : FRZ_OK;
}

static frz_code check_leaf(const parquet_write_schema *schema, const parquet_write_node *node,
                           const struct ArrowArray *array, int64_t rows, frz_error *err)
{
    const bool fixed = schema->leaves[node->first_leaf].width != 0;
    frz_code rc = FRZ_OK;
    int64_t end;
    if (node->field->type->id == FRZ_TYPE_UNKNOWN) {
        return check_frame(node, array, 0, 0, rows, err);
    }
    FRZ_TRY(check_frame(node, array, fixed ? 2 : 3, 0, rows, err));
    FRZ_TRY(check_buffer(node, array, 1, err));
    if (!fixed) {
        FRZ_TRY(check_offsets(node, array, &end, err));
        if (end > 0 && array->buffers[2] == NULL) {
            rc = wrong(node, "lacks a buffer", err);
        }
    }
out:
    return rc;
}

static frz_code check_node(const parquet_write_schema *schema, const parquet_write_node *node,
                           const struct ArrowArray *array, int64_t rows, frz_error *err);

static frz_code check_children(const parquet_write_schema *schema, const parquet_write_node *node,
                               struct ArrowArray **children, int64_t rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < node->child_count; i++) {
        FRZ_TRY(check_node(schema, &node->children[i], children[i], rows, err));
    }
out:
    return rc;
}

static frz_code check_list(const parquet_write_schema *schema, const parquet_write_node *node,
                           const struct ArrowArray *array, int64_t rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t end;
    FRZ_TRY(check_frame(node, array, 2, 1, rows, err));
    FRZ_TRY(check_buffer(node, array, 1, err));
    FRZ_TRY(check_offsets(node, array, &end, err));
    if (node->kind == PARQUET_NODE_MAP) {
        const struct ArrowArray *entries = array->children[0];
        FRZ_TRY(check_frame(node, entries, 1, 2, end, err));
        FRZ_TRY(check_children(schema, node, entries->children, entries->offset + entries->length,
                               err));
    } else {
        FRZ_TRY(check_children(schema, node, array->children, end, err));
    }
out:
    return rc;
}

static frz_code check_node(const parquet_write_schema *schema, const parquet_write_node *node,
                           const struct ArrowArray *array, int64_t rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!node->stored) {
        return FRZ_OK; /* not looked at */
    }
    switch (node->kind) {
    case PARQUET_NODE_STRUCT:
        FRZ_TRY(check_frame(node, array, 1, (int64_t)node->child_count, rows, err));
        FRZ_TRY(check_children(schema, node, array->children, array->offset + array->length, err));
        break;
    case PARQUET_NODE_LIST:
    case PARQUET_NODE_MAP:
        FRZ_TRY(check_list(schema, node, array, rows, err));
        break;
    default:
        FRZ_TRY(check_leaf(schema, node, array, rows, err));
    }
out:
    return rc;
}

/* Only columns have nulls in a file: a row without a value would be written as what its columns
 * happen to hold. */
static frz_code check_no_null_rows(const struct ArrowArray *batch, frz_error *err)
{
    const uint8_t *validity =
        batch->n_buffers > 0 && batch->buffers != NULL ? batch->buffers[0] : NULL;
    if (batch->null_count > 0 && validity == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a batch has %lld null rows, but no validity",
                        (long long)batch->null_count);
    }
    if (batch->null_count == 0 || validity == NULL ||
        frz_bitmap_count(validity, batch->offset, batch->length) == batch->length) {
        return FRZ_OK;
    }
    int64_t row = 0;
    while (!frz_is_null(batch, row)) {
        row++;
    }
    frz_fail(err, FRZ_E_ARGUMENT, "row %lld of a batch is null as a whole", (long long)row);
    frz_hint(err, "a file has nulls in columns only: leave the row out, or make each column null");
    return FRZ_E_ARGUMENT;
}

frz_code parquet_check_rows(const struct ArrowArray *batch, frz_error *err)
{
    if (batch->length < 0 || batch->offset < 0 || batch->length > INT64_MAX - batch->offset) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a batch has an impossible length or offset");
    }
    return check_no_null_rows(batch, err);
}

frz_code parquet_check_batch(const parquet_write_schema *schema, const struct ArrowArray *batch,
                             frz_error *err)
{
    const parquet_write_node *root = &schema->root;
    if (batch->n_children != (int64_t)root->child_count) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a batch has %lld columns, the file has %zu",
                        (long long)batch->n_children, root->child_count);
    }
    return check_children(schema, root, batch->children, batch->offset + batch->length, err);
}
