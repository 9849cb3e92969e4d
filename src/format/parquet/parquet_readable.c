/*
 * Whether a whole file can be read, told from its footer: what import asks before a file becomes
 * part of a table. Reading itself does not need every column to be readable.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_read.h"

/* Types that tables may have and that are read, but not written yet. */
static const char *read_only(const frz_type *type)
{
    return type->id == FRZ_TYPE_VARIANT     ? "variant"
           : type->id == FRZ_TYPE_GEOMETRY  ? "geometry"
           : type->id == FRZ_TYPE_GEOGRAPHY ? "geography"
                                            : NULL;
}

static frz_code check_node(const parquet_node *node, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *reason = node->unsupported != NULL ? node->unsupported : read_only(node->type);
    if (reason != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: %s (column \"%s\")", reason,
                        node->path);
    }
    for (size_t i = 0; i < node->child_count; i++) {
        FRZ_TRY(check_node(&node->children[i], err));
    }
out:
    return rc;
}

/* Unsigned 64-bit integers are read as long; a larger one could never be read. */
static frz_code check_unsigned(const parquet_column *column, const parquet_chunk *chunk,
                               frz_error *err)
{
    const parquet_element *e = column->element;
    frz_str most = chunk->statistics.max_value;
    if (e->physical != PARQUET_INT64 || e->logical != PARQUET_LOGICAL_INTEGER || e->is_signed ||
        most.ptr == NULL || most.len != sizeof(uint64_t)) {
        return FRZ_OK;
    }
    uint64_t value = frz_load_le64(most.ptr);
    if (value <= INT64_MAX) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_UNSUPPORTED,
                    "unsupported: unsigned 64-bit integers above %lld (column \"%s\" holds %llu)",
                    (long long)INT64_MAX, column->node->path, (unsigned long long)value);
}

static frz_code check_chunk(const parquet_column *column, const parquet_chunk *chunk,
                            frz_error *err)
{
    if (chunk->encrypted) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: encrypted columns (column \"%s\")",
                        column->node->path);
    }
    if (chunk->file_path.ptr != NULL && chunk->file_path.len > 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: column chunks in other files (column \"%s\")",
                        column->node->path);
    }
    frz_codec_id codec;
    frz_code rc = parquet_codec_of(chunk->codec, &codec, err);
    if (rc != FRZ_OK) {
        return frz_context(err, rc, "column \"%s\"", column->node->path);
    }
    return check_unsigned(column, chunk, err);
}

frz_code frz_parquet_check_readable(const frz_data_file *base, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(base->model == &frz_parquet_model);
    const parquet_file *file = (const parquet_file *)base;
    FRZ_TRY(check_node(&file->root, err));
    for (size_t g = 0; g < file->metadata.group_count; g++) {
        for (size_t i = 0; i < file->column_count; i++) {
            parquet_chunk chunk;
            FRZ_TRY(parquet_file_chunk(file, g, i, &chunk, err));
            FRZ_TRY(check_chunk(&file->columns[i], &chunk, err));
        }
    }
out:
    return rc;
}
