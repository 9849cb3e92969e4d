/*
 * Reading the rows of a Parquet file through the public interface: columns and filter to one
 * request, batches filtered on their way out.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_api.h"

struct frz_parquet_reader {
    const frz_env *env;
    frz_parquet_file *file; /* owned reference */
    frz_arena arena;
    const frz_type *columns;   /* what is returned */
    const frz_type *read_type; /* and behind it what only the filter needs */
    frz_bound_expr *filter;
    const frz_type *table_type;  /* the native type, with the types that tables have */
    const frz_type *filter_type; /* the columns that the filter reads, */
    size_t *filter_index;        /* and where they are in read_type */
    struct ArrowArray **filter_arrays;
    frz_data_reader *rows;
    frz_parquet_read_report report;
};

/* ---- opening ---- */

static frz_code bind_filter(frz_parquet_reader *r, const char *where, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr = NULL;
    FRZ_TRY(frz_expr_parse(&r->arena, frz_str_from(where), &expr, err));
    FRZ_TRY(frz_expr_bind_filter(r->env, expr, r->table_type, &r->filter, err));
out:
    return rc;
}

/* The place of a field that is read already as it is; count: none. */
static size_t find_read(const frz_field *fields, size_t count, const frz_field *wanted)
{
    size_t i = 0;
    while (i < count &&
           (fields[i].id != wanted->id || !frz_type_equal(fields[i].type, wanted->type))) {
        i++;
    }
    return i;
}

/* The columns of the filter come behind those asked for, unless they are the same. */
static frz_code plan_fields(frz_parquet_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *asked = r->columns;
    size_t wanted = 0;
    const int32_t *ids = r->filter == NULL ? NULL : frz_bound_expr_fields(r->filter, &wanted);
    size_t count = asked->field_count;
    frz_field *fields = frz_arena_array(&r->arena, count + wanted, sizeof *fields);
    frz_field *filtered = frz_arena_array(&r->arena, wanted, sizeof *filtered);
    r->filter_index = frz_arena_array(&r->arena, wanted, sizeof *r->filter_index);
    r->filter_arrays = frz_arena_array(&r->arena, wanted, sizeof(struct ArrowArray *));
    if (fields == NULL || filtered == NULL || r->filter_index == NULL || r->filter_arrays == NULL) {
        return frz_fail_nomem(err, (count + wanted) * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] = asked->fields[i];
    }
    for (size_t i = 0; i < wanted; i++) {
        filtered[i] = *frz_type_field_by_id(r->table_type, ids[i]);
        size_t at = find_read(fields, count, &filtered[i]);
        if (at == count) {
            fields[count++] = filtered[i];
        }
        r->filter_index[i] = at;
    }
    FRZ_TRY(frz_type_struct_of(&r->arena, fields, count, &r->read_type, err));
    FRZ_TRY(frz_type_struct_of(&r->arena, filtered, wanted, &r->filter_type, err));
out:
    return rc;
}

static frz_code copy_ranges(frz_parquet_reader *r, const frz_parquet_read_options *opts,
                            frz_row_range **out, size_t *count, frz_error *err)
{
    int64_t rows = frz_data_file_row_count(r->file->data);
    int64_t before = 0;
    size_t n = opts->ranges == NULL ? 1 : opts->range_count;
    frz_row_range *ranges = frz_arena_array(&r->arena, n, sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(err, n * sizeof *ranges);
    }
    for (size_t i = 0; i < n; i++) {
        ranges[i] = opts->ranges == NULL
                        ? (frz_row_range){0, rows}
                        : (frz_row_range){opts->ranges[i].first, opts->ranges[i].end};
        if (ranges[i].start < before || ranges[i].end < ranges[i].start || ranges[i].end > rows) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "row range %lld to %lld is not in order or ends behind the %lld rows "
                            "of %s",
                            (long long)ranges[i].start, (long long)ranges[i].end, (long long)rows,
                            frz_data_file_location(r->file->data));
        }
        before = ranges[i].end;
        r->report.rows += ranges[i].end - ranges[i].start;
    }
    *out = ranges;
    *count = n;
    return FRZ_OK;
}

static void log_pruning(const frz_parquet_reader *r)
{
    const frz_parquet_read_report *report = &r->report;
    frz_log(r->env, "parquet", FRZ_LOG_DEBUG,
            "%s: %lld of %lld rows left; of %lld row groups skipped by statistics %lld, by "
            "dictionary %lld, by bloom filter %lld; pages by index %lld",
            frz_data_file_location(r->file->data), (long long)report->rows_kept,
            (long long)report->rows, (long long)report->groups,
            (long long)report->groups_by_statistics, (long long)report->groups_by_dictionary,
            (long long)report->groups_by_bloom, (long long)report->pages_by_index);
}

/* Leave out what the file proves to hold no row for the filter. */
static frz_code prune(frz_parquet_reader *r, frz_row_range **ranges, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_prune_report report = {0};
    frz_prune_request request = {
        .filter = r->filter, .provided = r->filter_type, .ranges = *ranges, .range_count = *count};
    r->report.rows_kept = r->report.rows;
    if (r->filter == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_data_file_prune(r->file->data, &request, &r->arena, ranges, count, &report, err));
    r->report.rows_kept = 0;
    for (size_t i = 0; i < *count; i++) {
        r->report.rows_kept += (*ranges)[i].end - (*ranges)[i].start;
    }
    r->report.groups = report.groups;
    r->report.groups_by_statistics = report.groups_by_statistics;
    r->report.groups_by_dictionary = report.groups_by_dictionary;
    r->report.groups_by_bloom = report.groups_by_bloom;
    r->report.pages_by_index = report.pages_by_index;
    log_pruning(r);
out:
    return rc;
}

static frz_code plan(frz_parquet_reader *r, const frz_parquet_read_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range *ranges;
    size_t count;
    if (opts->where != NULL || opts->table_types) {
        FRZ_TRY(frz_parquet_filter_type(r->file->data, &r->arena, &r->table_type, err));
    }
    FRZ_TRY(parquet_api_choose(r->file, &r->arena,
                               opts->table_types ? r->table_type : r->file->native, opts->columns,
                               opts->column_count, &r->columns, err));
    if (opts->where != NULL) {
        FRZ_TRY(bind_filter(r, opts->where, err));
    }
    FRZ_TRY(plan_fields(r, err));
    FRZ_TRY(copy_ranges(r, opts, &ranges, &count, err));
    FRZ_TRY(prune(r, &ranges, &count, err));
    frz_read_request request = {.projection = r->read_type,
                                .ranges = ranges,
                                .range_count = count,
                                .max_rows = opts->batch_rows,
                                .max_bytes = opts->batch_bytes};
    FRZ_TRY(frz_data_reader_open(r->file->data, &request, &r->rows, err));
out:
    return rc;
}

frz_code frz_parquet_reader_open(frz_parquet_file *file, const frz_parquet_read_options *opts,
                                 frz_parquet_reader **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_read_options own = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_reader *r = frz_alloc_zero(file->env, 1, sizeof *r);
    if (r == NULL) {
        return frz_fail_nomem(err, sizeof *r);
    }
    if (opts != NULL) { /* of a caller who may know fewer members */
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    r->env = file->env;
    r->file = parquet_api_ref(file);
    frz_arena_init(&r->arena, file->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(plan(r, &own, err));
    *out = r;
    r = NULL;
out:
    frz_parquet_reader_close(r);
    return rc;
}

void frz_parquet_reader_close(frz_parquet_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    const frz_env *env = reader->env;
    frz_data_reader_close(reader->rows);
    frz_bound_expr_free(reader->filter);
    frz_arena_reset(&reader->arena);
    frz_parquet_file_close(reader->file);
    frz_free(env, reader);
}

frz_code frz_parquet_reader_schema(const frz_parquet_reader *reader, struct ArrowSchema *out,
                                   frz_error *err)
{
    return frz_parquet_native_to_arrow(reader->env, reader->file->data, reader->columns, out, err);
}

void frz_parquet_reader_report_get(const frz_parquet_reader *reader, frz_parquet_read_report *out)
{
    *out = reader->report;
}

/* ---- batches ---- */

/* The rows for which the filter is true. */
static frz_code select_rows(frz_parquet_reader *r, const frz_batch *batch, uint8_t *selection,
                            int64_t *selected, frz_error *err)
{
    struct ArrowArray view = batch->array;
    view.children = r->filter_arrays;
    view.n_children = (int64_t)r->filter_type->field_count;
    for (size_t i = 0; i < r->filter_type->field_count; i++) {
        r->filter_arrays[i] = batch->array.children[r->filter_index[i]];
    }
    frz_code rc = frz_expr_select(r->filter, r->filter_type, &view, batch->first_row, NULL,
                                  selection, selected, err);
    return frz_context(err, rc, "filtering %s", frz_data_file_location(r->file->data));
}

/* The columns asked for of the rows selected (NULL: all), by reference where all are. */
static frz_code pick(const frz_parquet_reader *r, const struct ArrowArray *batch,
                     const uint8_t *selection, int64_t selected, struct ArrowArray *out,
                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = r->columns->field_count;
    size_t made = 0;
    struct ArrowArray *columns = frz_alloc_zero(r->env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; made < n; made++) {
        const struct ArrowArray *source = batch->children[made];
        FRZ_TRY(selection == NULL
                    ? frz_array_slice(r->env, source, 0, batch->length, &columns[made], err)
                    : frz_array_filter(r->env, r->columns->fields[made].type, source, selection,
                                       selected, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(r->env, selected, columns, n, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(r->env, columns);
    return rc;
}

/* What of a batch is returned; out stays empty if no row is. */
static frz_code filter_batch(frz_parquet_reader *r, const frz_batch *batch, struct ArrowArray *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length;
    int64_t selected = 0;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    uint8_t *selection = frz_alloc(r->env, bytes);
    if (selection == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    FRZ_TRY(select_rows(r, batch, selection, &selected, err));
    if (selected > 0) {
        FRZ_TRY(pick(r, &batch->array, selected == length ? NULL : selection, selected, out, err));
    }
out:
    frz_free(r->env, selection);
    return rc;
}

static frz_code next_batch(frz_parquet_reader *r, struct ArrowArray *out, int64_t *first_row,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_batch batch = {0};
    FRZ_TRY(frz_progress(r->env, "reading rows", (uint64_t)r->report.rows_read,
                         (uint64_t)r->report.rows_kept, err));
    FRZ_TRY(frz_data_reader_next(r->rows, &batch, err));
    r->report.rows_read += batch.array.length;
    if (r->filter == NULL) {
        frz_array_move(&batch.array, out);
    } else {
        FRZ_TRY(filter_batch(r, &batch, out, err));
    }
    *first_row = batch.first_row;
out:
    frz_array_release(&batch.array);
    return rc;
}

frz_code frz_parquet_reader_next(frz_parquet_reader *reader, struct ArrowArray *out,
                                 int64_t *first_row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rows = {0};
    int64_t first = 0;
    while (rows.release == NULL) {
        FRZ_TRY(next_batch(reader, &rows, &first, err));
    }
    reader->report.rows_returned += rows.length;
    frz_array_move(&rows, out);
    if (first_row != NULL) {
        *first_row = first;
    }
out:
    return rc;
}

/* ---- as a stream ---- */

static frz_code stream_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    return frz_parquet_reader_schema(ctx, out, err);
}

static frz_code stream_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    return frz_parquet_reader_next(ctx, out, NULL, err);
}

static void stream_release(void *ctx)
{
    frz_parquet_reader_close(ctx);
}

frz_code frz_parquet_reader_export(frz_parquet_reader *reader, struct ArrowArrayStream *out,
                                   frz_error *err)
{
    static const frz_stream_ops ops = {stream_schema, stream_next, stream_release};
    return frz_stream_make(reader->env, &ops, reader, out, err);
}
