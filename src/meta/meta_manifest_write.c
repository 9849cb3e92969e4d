/*
 * Entries -> a manifest: one Parquet file of tracked_file rows.
 *
 * A manifest of few entries is nearly all footer, and its size decides what a small update costs.
 * So there is one row group, no Parquet statistics, and content_stats holds only the metrics that
 * some entry knows, for the fields that the metrics configuration asks for.
 * spec: root manifest, leaf manifest, content stats in manifests
 */
#include <stdio.h>

#include "meta/meta_ids.h"
#include "meta/meta_manifest_put.h"

#define BATCH_ENTRIES 8192
/* Below so many entries a page is too small for a codec or a dictionary to pay. */
#define SMALL_ENTRIES 64

typedef struct manifest_writer {
    const frz_table *table;
    const frz_schema *schema;
    const frz_manifest_rows *rows;
    frz_arena arena;
    meta_stats_shape *shapes;
    size_t shape_count;
    meta_row_writer row;
    frz_parquet_writer *file;
} manifest_writer;

/* ---- which statistics are written ---- */

unsigned meta_known_metrics(const frz_field_stats *s, const frz_type *type, bool required)
{
    bool is_float = type->id == FRZ_TYPE_FLOAT || type->id == FRZ_TYPE_DOUBLE;
    bool is_variable = type->id == FRZ_TYPE_STRING || type->id == FRZ_TYPE_BINARY;
    bool bounds = s->has_lower || s->has_upper;
    return (s->has_lower ? 1u << FRZ_STATS_LOWER_BOUND : 0) |
           (s->has_upper ? 1u << FRZ_STATS_UPPER_BOUND : 0) |
           (bounds && s->tight_bounds >= 0 ? 1u << FRZ_STATS_TIGHT_BOUNDS : 0) |
           (s->value_count >= 0 ? 1u << FRZ_STATS_VALUE_COUNT : 0) |
           (!required && s->null_value_count >= 0 ? 1u << FRZ_STATS_NULL_VALUE_COUNT : 0) |
           (is_float && s->nan_value_count >= 0 ? 1u << FRZ_STATS_NAN_VALUE_COUNT : 0) |
           (is_variable && s->total_bytes >= 0 ? 1u << FRZ_STATS_TOTAL_BYTES : 0);
}

frz_code meta_stats_shape_name(const frz_schema *schema, meta_stats_shape *shape, frz_buf *name,
                               frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool lineage = shape->field_id == FRZ_ID_LAST_UPDATED;
    if (lineage || shape->field_id == FRZ_ID_ROW_ID) {
        shape->name = lineage ? frz_field_last_updated.name : frz_field_row_id.name;
        return FRZ_OK;
    }
    frz_buf_clear(name);
    FRZ_TRY(frz_type_dotted_name(schema->type, shape->field_id, name, err));
    FRZ_TRY(frz_arena_str(arena, frz_buf_view(name), &shape->name, err));
out:
    return rc;
}

static frz_code add_shape(manifest_writer *w, int32_t field_id, const frz_type *type, frz_buf *name,
                          frz_error *err)
{
    meta_stats_shape *shape = &w->shapes[w->shape_count++];
    *shape = (meta_stats_shape){.field_id = field_id, .type = type};
    return meta_stats_shape_name(w->schema, shape, name, &w->arena, err);
}

/* Add the bits of metrics that one row knows, shape by shape. */
static void note_metrics(manifest_writer *w, const frz_field_stats *stats, size_t count,
                         const bool *required)
{
    size_t cursor = 0;
    for (size_t i = 0; i < w->shape_count; i++) {
        const frz_field_stats *s = meta_find_stats(stats, count, w->shapes[i].field_id, &cursor);
        if (s != NULL) {
            w->shapes[i].metrics |= meta_known_metrics(s, w->shapes[i].type, required[i]);
        }
    }
}

/* Shapes whose metrics no row knows are dropped. */
static void find_metrics(manifest_writer *w, const bool *required)
{
    const frz_manifest_rows *rows = w->rows;
    size_t kept = 0;
    for (size_t i = 0; i < rows->entry_count; i++) {
        note_metrics(w, rows->entries[i]->stats, rows->entries[i]->stats_count, required);
    }
    for (size_t i = 0; i < rows->manifest_count; i++) {
        note_metrics(w, rows->manifests[i]->stats, rows->manifests[i]->stats_count, required);
    }
    for (size_t i = 0; i < w->shape_count; i++) {
        if (w->shapes[i].metrics != 0) {
            w->shapes[kept++] = w->shapes[i];
        }
    }
    w->shape_count = kept;
}

static frz_code choose_shapes(manifest_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metrics_config config = {0};
    frz_buf name = FRZ_BUF_INIT(w->table->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_metrics_config_of(&w->table->metadata, w->schema, &w->arena, &config, err));
    size_t most = config.field_count + 2;
    w->shapes = frz_arena_array(&w->arena, most, sizeof *w->shapes);
    bool *required = frz_arena_array(&w->arena, most, sizeof *required);
    FRZ_TRY(w->shapes == NULL || required == NULL ? frz_fail_nomem(err, most) : FRZ_OK);
    for (size_t i = 0; i < config.field_count; i++) {
        if (config.fields[i].mode != FRZ_METRICS_NONE &&
            meta_stats_base(config.fields[i].field_id) >= 0) {
            required[w->shape_count] = config.fields[i].required;
            FRZ_TRY(add_shape(w, config.fields[i].field_id, config.fields[i].type, &name, err));
        }
    }
    FRZ_TRY(add_shape(w, FRZ_ID_LAST_UPDATED, frz_field_last_updated.type, &name, err));
    FRZ_TRY(add_shape(w, FRZ_ID_ROW_ID, frz_field_row_id.type, &name, err));
    find_metrics(w, required);
out:
    frz_buf_reset(&name);
    return rc;
}

/* ---- the file ---- */

static frz_code write_batch(manifest_writer *w, int64_t at_least, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray batch = {0};
    if (frz_builder_length(w->row.builder) < at_least) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_builder_finish(w->row.builder, &batch, err));
    FRZ_TRY(frz_parquet_writer_write(w->file, &batch, err));
out:
    frz_array_release(&batch);
    return rc;
}

static frz_code write_rows(manifest_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_manifest_rows *rows = w->rows;
    frz_buf bytes = FRZ_BUF_INIT(w->table->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_builder_new(w->table->env, w->row.row.type, &w->row.builder, err));
    for (size_t i = 0; i < rows->entry_count; i++) {
        FRZ_TRY(meta_put_entry(&w->row, rows->entries[i], err));
        FRZ_TRY(write_batch(w, BATCH_ENTRIES, err));
    }
    for (size_t i = 0; i < rows->manifest_count; i++) {
        FRZ_TRY(meta_put_manifest(&w->row, rows->manifests[i], &bytes, err));
        FRZ_TRY(write_batch(w, BATCH_ENTRIES, err));
    }
    FRZ_TRY(write_batch(w, 1, err));
out:
    frz_buf_reset(&bytes);
    return rc;
}

frz_code meta_manifest_open_writer(const frz_table *table, const frz_schema *schema,
                                   const frz_type *row_type, size_t row_count, const char *location,
                                   frz_parquet_writer **out, frz_error *err)
{
    char schema_id[16];
    const char *const keys[] = {"schema-id", "format-version"};
    const char *const values[] = {schema_id, "4"};
    bool small = row_count <= SMALL_ENTRIES;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    snprintf(schema_id, sizeof schema_id, "%d", (int)schema->schema_id);
    opts.codec = small ? FRZ_PARQUET_UNCOMPRESSED : FRZ_PARQUET_ZSTD;
    opts.no_dictionary = small;
    opts.no_byte_stream_split = true;
    opts.no_statistics = true;
    opts.keys = keys;
    opts.values = values;
    opts.key_count = FRZ_ARRAY_COUNT(keys);
    return frz_parquet_writer_open(table->env, location, row_type, &opts, out, err);
}

static frz_code choose_row(manifest_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *partition = NULL;
    FRZ_TRY(choose_shapes(w, err));
    FRZ_TRY(meta_partition_type(&w->table->metadata, &w->arena, &partition, err));
    FRZ_TRY(meta_manifest_row_to_write(&w->arena, w->shapes, w->shape_count, partition, &w->row.row,
                                       err));
    w->row.shapes = w->shapes;
    w->row.shape_count = w->shape_count;
    w->row.partition = partition;
    w->row.is_leaf = w->rows->is_leaf;
out:
    return rc;
}

frz_code frz_manifest_write(const frz_table *table, const char *location, const frz_schema *schema,
                            const frz_manifest_rows *rows, bool durable, int64_t *bytes,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_written written = {0};
    manifest_writer w = {.table = table, .schema = schema, .rows = rows};
    frz_arena_init(&w.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(choose_row(&w, err));
    FRZ_TRY(meta_manifest_open_writer(table, schema, w.row.row.type,
                                      rows->entry_count + rows->manifest_count, location, &w.file,
                                      err));
    FRZ_TRY(write_rows(&w, err));
    frz_parquet_writer *file = w.file;
    w.file = NULL;
    FRZ_TRY(frz_parquet_writer_finish(file, durable, &w.arena, &written, err));
    *bytes = written.file_size;
out:
    frz_parquet_writer_abort(w.file);
    frz_builder_free(w.row.builder);
    frz_arena_reset(&w.arena);
    return frz_context(err, rc, "writing manifest %s", location);
}
