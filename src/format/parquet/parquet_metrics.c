/*
 * What a footer tells about a file without its data being read.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"

static const parquet_file *as_parquet(const frz_data_file *file)
{
    assert(file->model == &frz_parquet_model);
    return (const parquet_file *)file;
}

int64_t frz_parquet_field_bytes(const frz_data_file *base, int32_t field_id)
{
    const parquet_file *file = as_parquet(base);
    const parquet_node *node = parquet_file_node(file, field_id);
    int64_t bytes = 0;
    for (size_t g = 0; node != NULL && g < file->metadata.group_count; g++) {
        const parquet_chunk *chunks = file->metadata.groups[g].chunks + node->first_leaf;
        for (size_t i = 0; i < node->leaf_count; i++) {
            int64_t size = FRZ_MAX(chunks[i].total_compressed_size, 0);
            if (!frz_add_i64(bytes, size, &bytes)) {
                return INT64_MAX;
            }
        }
    }
    return bytes;
}

const int64_t *frz_parquet_split_offsets(const frz_data_file *base, size_t *count)
{
    const parquet_file *file = as_parquet(base);
    *count = file->metadata.group_count;
    return file->split_offsets;
}

frz_str frz_parquet_key_value(const frz_data_file *base, const char *key)
{
    const parquet_file *file = as_parquet(base);
    frz_str wanted = frz_str_from(key);
    for (size_t i = 0; i < file->metadata.key_count; i++) {
        if (frz_str_equal(file->metadata.keys[i].key, wanted)) {
            return file->metadata.keys[i].value;
        }
    }
    return (frz_str){NULL, 0};
}
