/*
 * What a footer tells about a file without its data being read.
 */
#include "format/parquet/parquet_statistics.h"
#include "format/parquet/parquet_write.h"

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
        for (size_t i = 0; i < node->leaf_count; i++) {
            parquet_chunk chunk;
            if (parquet_file_chunk(file, g, node->first_leaf + i, &chunk, NULL) != FRZ_OK) {
                continue; /* whoever reads it is told */
            }
            if (!frz_add_i64(bytes, FRZ_MAX(chunk.total_compressed_size, 0), &bytes)) {
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

/* ---- statistics of fields ---- */

typedef struct metrics_walk {
    const parquet_file *file;
    frz_arena *arena;
    frz_field_stats *stats;
    size_t count, capacity;
} metrics_walk;

static frz_code add_leaf_metrics(metrics_walk *walk, const parquet_node *node,
                                 const frz_field *field, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_file *file = walk->file;
    parquet_metrics_sum sum;
    parquet_metrics_sum_init(&sum, file->base.env, field->id, field->type);
    for (size_t g = 0; g < file->metadata.group_count; g++) {
        parquet_chunk chunk;
        frz_field_stats stats;
        if (file->metadata.groups[g].num_rows > 0) {
            FRZ_TRY(parquet_file_chunk(file, g, node->first_leaf, &chunk, err));
            parquet_statistics_metrics(file, node->first_leaf, g, &chunk, field, &stats);
            FRZ_TRY(parquet_metrics_sum_add(&sum, &stats, err));
        }
    }
    assert(walk->count < walk->capacity);
    FRZ_TRY(parquet_metrics_sum_finish(&sum, walk->arena, &walk->stats[walk->count], err));
    walk->count++;
out:
    parquet_metrics_sum_reset(&sum);
    return rc;
}

/* Fields of the wanted struct that the file has, in the struct's order. own: the file's struct, to
 * which the node's children are parallel. */
static frz_code add_struct_metrics(metrics_walk *walk, const parquet_node *node,
                                   const frz_type *own, const frz_type *wanted, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < wanted->field_count; i++) {
        const frz_field *field = &wanted->fields[i];
        int64_t at = frz_type_index_of_id(own, field->id);
        if (at < 0 || node->children[at].unsupported != NULL) {
            continue;
        }
        const parquet_node *child = &node->children[at];
        const frz_type *child_type = own->fields[at].type;
        if (field->type->id == FRZ_TYPE_STRUCT && child_type->id == FRZ_TYPE_STRUCT) {
            FRZ_TRY(add_struct_metrics(walk, child, child_type, field->type, err));
        } else if (!frz_type_is_nested(field->type) && !frz_type_is_nested(child_type)) {
            FRZ_TRY(add_leaf_metrics(walk, child, field, err));
        }
    }
out:
    return rc;
}

static frz_code count_field(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    size_t *count = ctx;
    (void)err;
    *count += !in_repeated && !frz_type_is_nested(field->type);
    return FRZ_OK;
}

frz_code frz_parquet_metrics(const frz_data_file *base, const frz_type *struct_type,
                             frz_arena *arena, frz_field_stats **out, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    metrics_walk walk = {.file = as_parquet(base), .arena = arena};
    FRZ_TRY(frz_type_visit(struct_type, count_field, &walk.capacity, err));
    walk.stats = frz_arena_array(arena, FRZ_MAX(walk.capacity, (size_t)1), sizeof *walk.stats);
    if (walk.stats == NULL) {
        rc = frz_fail_nomem(err, walk.capacity * sizeof *walk.stats);
        goto out;
    }
    FRZ_TRY(add_struct_metrics(&walk, &walk.file->root, base->type, struct_type, err));
    *out = walk.stats;
    *count = walk.count;
out:
    return frz_context(err, rc, "metrics of %s", frz_file_location(base->file));
}
