/*
 * Entries -> root manifest: one Parquet file of tracked_file rows, with all numbers explicit.
 *
 * A manifest of few entries is nearly all footer, and its size decides what a small update costs.
 * So there is one row group, no Parquet statistics, and content_stats holds only the metrics that
 * some entry knows, for the fields that the metrics configuration asks for.
 * spec: root manifest, values in root entries, content stats in manifests
 */
#include <stdio.h>

#include "format/parquet/parquet.h"
#include "meta/meta_ids.h"
#include "meta/meta_internal.h"

#define BATCH_ENTRIES 8192
/* Below so many entries a page is too small for a codec or a dictionary to pay. */
#define SMALL_ENTRIES 64

typedef struct manifest_writer {
    const frz_table *table;
    const frz_schema *schema;
    const frz_entry *const *entries;
    size_t entry_count;
    frz_arena arena;
    meta_stats_shape *shapes;
    size_t shape_count;
    meta_manifest_row row;
    frz_builder *builder;
    frz_parquet_writer *file;
} manifest_writer;

/* ---- what can be written ---- */

static frz_code check_entry(const frz_metadata *metadata, const frz_entry *e, frz_error *err)
{
    const char *lacking = e->content != FRZ_CONTENT_DATA ? "leaf manifests"
                          : e->has_deletion_vector       ? "deletion vectors"
                          : e->spec_id >= 0 && meta_spec_is_partitioned(metadata, e->spec_id)
                              ? "partitioned data files"
                              : NULL;
    if (lacking != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: writing %s (%.*s)", lacking,
                        FRZ_STR_ARG(e->location));
    }
    if (e->first_row_id < 0 || e->sequence_number < 0 || e->file_sequence_number < 0 ||
        e->snapshot_id <= 0) {
        return frz_fail(err, FRZ_E_INTERNAL, "entry %.*s lacks a number that a root must hold",
                        FRZ_STR_ARG(e->location));
    }
    return FRZ_OK;
}

/* ---- which statistics are written ---- */

static unsigned known_metrics(const frz_field_stats *s, const frz_type *type, bool required)
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

static frz_code add_shape(manifest_writer *w, const frz_field *field, frz_buf *name, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_stats_shape *shape = &w->shapes[w->shape_count];
    *shape = (meta_stats_shape){.field_id = field->id, .type = field->type, .name = field->name};
    if (field->name.ptr == NULL) {
        frz_buf_clear(name);
        FRZ_TRY(frz_type_dotted_name(w->schema->type, field->id, name, err));
        FRZ_TRY(frz_arena_str(&w->arena, frz_buf_view(name), &shape->name, err));
    }
    w->shape_count++;
out:
    return rc;
}

/* Bits of metrics that some entry knows, shape by shape; shapes without any are dropped. */
static void find_metrics(manifest_writer *w, const bool *required)
{
    size_t kept = 0;
    for (size_t e = 0; e < w->entry_count; e++) {
        size_t cursor = 0;
        for (size_t i = 0; i < w->shape_count; i++) {
            const frz_field_stats *s = meta_find_stats(
                w->entries[e]->stats, w->entries[e]->stats_count, w->shapes[i].field_id, &cursor);
            if (s != NULL) {
                w->shapes[i].metrics |= known_metrics(s, w->shapes[i].type, required[i]);
            }
        }
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
            FRZ_TRY(add_shape(
                w, &(frz_field){.id = config.fields[i].field_id, .type = config.fields[i].type},
                &name, err));
        }
    }
    FRZ_TRY(add_shape(w, &frz_field_last_updated, &name, err));
    FRZ_TRY(add_shape(w, &frz_field_row_id, &name, err));
    find_metrics(w, required);
out:
    frz_buf_reset(&name);
    return rc;
}

/* ---- building rows ---- */

static frz_builder *column(manifest_writer *w, meta_column c)
{
    return frz_builder_child(w->builder, (size_t)w->row.at[c]);
}

static frz_code put_i64(frz_builder *b, int64_t value, frz_error *err)
{
    return value == FRZ_NO_VALUE ? frz_builder_null(b, err) : frz_builder_i64(b, value, err);
}

static frz_code put_i32(frz_builder *b, int32_t value, frz_error *err)
{
    return value < 0 ? frz_builder_null(b, err) : frz_builder_i32(b, value, err);
}

static frz_code put_tracking(manifest_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = column(w, META_TRACKING);
    FRZ_TRY(frz_builder_i32(frz_builder_child(b, META_STATUS), (int32_t)e->status, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_SNAPSHOT_ID), e->snapshot_id, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_MODIFIED_SNAPSHOT_ID), e->modified_snapshot_id, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_SEQUENCE_NUMBER), e->sequence_number, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_FILE_SEQUENCE_NUMBER), e->file_sequence_number, err));
    FRZ_TRY(put_i64(frz_builder_child(b, META_FIRST_ROW_ID), e->first_row_id, err));
    FRZ_TRY(frz_builder_null(frz_builder_child(b, META_DELETED_POSITIONS), err));
    FRZ_TRY(frz_builder_null(frz_builder_child(b, META_REPLACED_POSITIONS), err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_code put_bound(frz_builder *b, bool has, const frz_value *bound, const frz_type *type,
                          frz_error *err)
{
    frz_value promoted;
    if (has && frz_type_equal(bound->type, type)) {
        return frz_builder_value(b, bound, err);
    }
    if (!has || !frz_type_promotes(bound->type, type)) {
        return frz_builder_null(b, err); /* unknown is always right */
    }
    frz_code rc = frz_value_promote(bound, type, &promoted, err);
    return rc == FRZ_OK ? frz_builder_value(b, &promoted, err) : rc;
}

static frz_code put_metric(frz_builder *b, const meta_stats_shape *shape, const frz_field_stats *s,
                           int metric, frz_error *err)
{
    int place = meta_stats_place(shape->metrics, metric);
    if (place < 0) {
        return FRZ_OK;
    }
    frz_builder *child = frz_builder_child(b, (size_t)place);
    int64_t count = FRZ_STAT_UNKNOWN;
    switch (metric) {
    case FRZ_STATS_LOWER_BOUND:
        return put_bound(child, s->has_lower, &s->lower, shape->type, err);
    case FRZ_STATS_UPPER_BOUND:
        return put_bound(child, s->has_upper, &s->upper, shape->type, err);
    case FRZ_STATS_TIGHT_BOUNDS:
        return s->tight_bounds < 0 || !(s->has_lower || s->has_upper)
                   ? frz_builder_null(child, err)
                   : frz_builder_bool(child, s->tight_bounds != 0, err);
    case FRZ_STATS_VALUE_COUNT:
        count = s->value_count;
        break;
    case FRZ_STATS_NULL_VALUE_COUNT:
        count = s->null_value_count;
        break;
    case FRZ_STATS_NAN_VALUE_COUNT:
        count = s->nan_value_count;
        break;
    default:
        count = s->total_bytes;
        break;
    }
    return count < 0 ? frz_builder_null(child, err) : frz_builder_i64(child, count, err);
}

static frz_code put_stats(manifest_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t cursor = 0;
    if (w->shape_count == 0) {
        return FRZ_OK;
    }
    frz_builder *all = column(w, META_CONTENT_STATS);
    if (e->stats_count == 0) {
        return frz_builder_null(all, err);
    }
    for (size_t i = 0; i < w->shape_count; i++) {
        frz_builder *b = frz_builder_child(all, i);
        const frz_field_stats *s =
            meta_find_stats(e->stats, e->stats_count, w->shapes[i].field_id, &cursor);
        if (s == NULL) {
            FRZ_TRY(frz_builder_null(b, err));
            continue;
        }
        for (int metric = FRZ_STATS_LOWER_BOUND; metric <= FRZ_STATS_TOTAL_BYTES; metric++) {
            FRZ_TRY(put_metric(b, &w->shapes[i], s, metric, err));
        }
        FRZ_TRY(frz_builder_end(b, err));
    }
    FRZ_TRY(frz_builder_end(all, err));
out:
    return rc;
}

static frz_code put_split_offsets(manifest_writer *w, const frz_entry *e, frz_error *err)
{
    frz_builder *b = column(w, META_SPLIT_OFFSETS);
    if (e->split_count == 0) {
        return frz_builder_null(b, err);
    }
    for (size_t i = 0; i < e->split_count; i++) {
        frz_code rc = frz_builder_i64(frz_builder_child(b, 0), e->split_offsets[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_end(b, err);
}

static frz_code put_column_file(frz_builder *b, const frz_column_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *ids = frz_builder_child(b, META_CF_FIELD_IDS);
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, META_CF_LOCATION), file->location, err));
    for (size_t i = 0; i < file->field_id_count; i++) {
        FRZ_TRY(frz_builder_i32(frz_builder_child(ids, 0), file->field_ids[i], err));
    }
    FRZ_TRY(frz_builder_end(ids, err));
    FRZ_TRY(frz_builder_bytes(frz_builder_child(b, META_CF_FILE_FORMAT), file->file_format, err));
    FRZ_TRY(frz_builder_i64(frz_builder_child(b, META_CF_FILE_SIZE), file->file_size, err));
    FRZ_TRY(frz_builder_null(frz_builder_child(b, META_CF_KEY_METADATA), err));
    FRZ_TRY(frz_builder_end(b, err));
out:
    return rc;
}

static frz_code put_column_files(manifest_writer *w, const frz_entry *e, frz_error *err)
{
    frz_builder *b = column(w, META_COLUMN_FILES);
    if (e->column_file_count == 0) {
        return frz_builder_null(b, err); /* never an empty list */
    }
    for (size_t i = 0; i < e->column_file_count; i++) {
        frz_code rc = put_column_file(frz_builder_child(b, 0), &e->column_files[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_end(b, err);
}

static frz_code put_entry(manifest_writer *w, const frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(check_entry(&w->table->metadata, e, err));
    FRZ_TRY(put_tracking(w, e, err));
    FRZ_TRY(frz_builder_i32(column(w, META_CONTENT_TYPE), (int32_t)e->content, err));
    FRZ_TRY(frz_builder_bytes(column(w, META_LOCATION), e->location, err));
    FRZ_TRY(frz_builder_bytes(column(w, META_FILE_FORMAT), e->file_format, err));
    FRZ_TRY(frz_builder_i64(column(w, META_RECORD_COUNT), e->record_count, err));
    FRZ_TRY(frz_builder_i64(column(w, META_FILE_SIZE), e->file_size, err));
    FRZ_TRY(put_i32(column(w, META_SPEC_ID), e->spec_id, err));
    FRZ_TRY(put_i32(column(w, META_SORT_ORDER_ID), e->sort_order_id, err));
    FRZ_TRY(put_stats(w, e, err));
    FRZ_TRY(frz_builder_null(column(w, META_DELETION_VECTOR), err));
    FRZ_TRY(frz_builder_null(column(w, META_MANIFEST_INFO), err));
    FRZ_TRY(frz_builder_null(column(w, META_KEY_METADATA), err));
    FRZ_TRY(put_split_offsets(w, e, err));
    FRZ_TRY(put_column_files(w, e, err));
    FRZ_TRY(frz_builder_end(w->builder, err));
out:
    return rc;
}

/* ---- the file ---- */

static frz_code write_batch(manifest_writer *w, frz_error *err)
{
    struct ArrowArray batch = {0};
    frz_code rc = frz_builder_finish(w->builder, &batch, err);
    if (rc == FRZ_OK) {
        rc = frz_parquet_writer_write(w->file, &batch, err);
    }
    frz_array_release(&batch);
    return rc;
}

static frz_code write_entries(manifest_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_builder_new(w->table->env, w->row.type, &w->builder, err));
    for (size_t i = 0; i < w->entry_count; i++) {
        FRZ_TRY(put_entry(w, w->entries[i], err));
        if (frz_builder_length(w->builder) == BATCH_ENTRIES) {
            FRZ_TRY(write_batch(w, err));
        }
    }
    if (frz_builder_length(w->builder) > 0) {
        FRZ_TRY(write_batch(w, err));
    }
out:
    return rc;
}

static frz_code open_file(manifest_writer *w, const char *location, frz_error *err)
{
    char schema_id[16];
    const char *const keys[] = {"schema-id", "format-version"};
    const char *const values[] = {schema_id, "4"};
    bool small = w->entry_count <= SMALL_ENTRIES;
    frz_parquet_write_options opts = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    snprintf(schema_id, sizeof schema_id, "%d", (int)w->schema->schema_id);
    opts.codec = small ? FRZ_PARQUET_UNCOMPRESSED : FRZ_PARQUET_ZSTD;
    opts.no_dictionary = small;
    opts.no_byte_stream_split = true;
    opts.no_statistics = true;
    opts.keys = keys;
    opts.values = values;
    opts.key_count = FRZ_ARRAY_COUNT(keys);
    return frz_parquet_writer_open(w->table->env, location, w->row.type, &opts, &w->file, err);
}

frz_code frz_manifest_write(const frz_table *table, const char *location, const frz_schema *schema,
                            const frz_entry *const *entries, size_t entry_count, bool durable,
                            int64_t *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_written written = {0};
    manifest_writer w = {
        .table = table, .schema = schema, .entries = entries, .entry_count = entry_count};
    frz_arena_init(&w.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(choose_shapes(&w, err));
    FRZ_TRY(meta_manifest_row_to_write(&w.arena, w.shapes, w.shape_count, &w.row, err));
    FRZ_TRY(open_file(&w, location, err));
    FRZ_TRY(write_entries(&w, err));
    frz_parquet_writer *file = w.file;
    w.file = NULL;
    FRZ_TRY(frz_parquet_writer_finish(file, durable, &w.arena, &written, err));
    *bytes = written.file_size;
out:
    frz_parquet_writer_abort(w.file);
    frz_builder_free(w.builder);
    frz_arena_reset(&w.arena);
    return frz_context(err, rc, "writing manifest %s", location);
}
