/*
 * Scans: plan, read file by file, filter, project.
 */
#include "scan/scan_internal.h"

struct frz_scan {
    const frz_env *env;
    frz_table *table; /* owned reference */
    frz_arena arena;
    frz_plan *plan;            /* NULL: the table has no snapshot */
    frz_task task;             /* the file at hand */
    const frz_type *read_type; /* what the stitching reader gives */
    const frz_type *output_type;
    const size_t *output_index; /* of output column i in read_type */
    frz_bound_expr *filter;
    frz_stitch *stitch;
    int64_t left; /* rows to go; negative: all */
    int64_t batch_rows, batch_bytes;
    frz_scan_report report;
};

/* ---- opening ---- */

/* Fields in the order asked for; a name may stand twice. */
static frz_code resolve_columns(frz_scan *scan, const frz_scan_options *opts,
                                const frz_schema *schema, const frz_type *readable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = opts->columns == NULL ? schema->type->field_count : opts->column_count;
    frz_field *fields = frz_arena_array(&scan->arena, n + 2, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, n * sizeof *fields);
    }
    for (size_t i = 0; i < n; i++) {
        const frz_field *field = &schema->type->fields[i];
        if (opts->columns != NULL) {
            FRZ_TRY(frz_type_resolve_name(readable, frz_str_from(opts->columns[i]), &field, err));
        }
        fields[i] = *field;
    }
    if (opts->with_lineage) {
        fields[n++] = frz_field_row_id;
        fields[n++] = frz_field_last_updated;
    }
    FRZ_TRY(frz_type_struct_of(&scan->arena, fields, n, &scan->output_type, err));
out:
    return rc;
}

static bool holds_id(const int32_t *ids, size_t count, int32_t id, size_t *at)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id) {
            *at = i;
            return true;
        }
    }
    return false;
}

/* Each field once: what the output needs, then what only the filter needs. */
static frz_code collect_read_type(frz_scan *scan, const frz_type *readable, frz_error *err)
{
    size_t filter_count = 0, n = 0, at = 0;
    const frz_type *output = scan->output_type;
    const int32_t *filter_ids =
        scan->filter == NULL ? NULL : frz_bound_expr_fields(scan->filter, &filter_count);
    int32_t *ids =
        frz_arena_array(&scan->arena, output->field_count + filter_count + 1, sizeof *ids);
    size_t *index = frz_arena_array(&scan->arena, output->field_count + 1, sizeof *index);
    if (ids == NULL || index == NULL) {
        return frz_fail_nomem(err, output->field_count * sizeof *index);
    }
    for (size_t i = 0; i < output->field_count; i++) {
        if (!holds_id(ids, n, output->fields[i].id, &at)) {
            at = n;
            ids[n++] = output->fields[i].id;
        }
        index[i] = at;
    }
    for (size_t i = 0; i < filter_count; i++) {
        if (!holds_id(ids, n, filter_ids[i], &at)) {
            ids[n++] = filter_ids[i];
        }
    }
    scan->output_index = index;
    return frz_project_ids(&scan->arena, readable, ids, n, &scan->read_type, err);
}

static frz_code bind_filter(frz_scan *scan, const char *where, const frz_type *readable,
                            frz_error *err)
{
    const frz_expr *expr = NULL;
    frz_code rc = frz_expr_parse(&scan->arena, frz_str_from(where), &expr, err);
    return rc != FRZ_OK ? rc : frz_expr_bind_filter(scan->env, expr, readable, &scan->filter, err);
}

/* Rows must not come back because deletes were not read. */
static frz_code check_deletes(const frz_tree *tree, frz_error *err)
{
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        if (file->content == FRZ_CONTENT_DELETE_MANIFEST && frz_status_is_live(file->status)) {
            return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: delete manifests (%.*s)",
                            FRZ_STR_ARG(file->location));
        }
    }
    return FRZ_OK;
}

static frz_code open_plan(frz_scan *scan, const frz_snapshot *snapshot, const frz_schema *schema,
                          frz_error *err)
{
    const frz_plan_options options = {
        .snapshot = snapshot, .schema = schema, .filter = scan->filter};
    frz_code rc = FRZ_OK;
    if (snapshot != NULL) {
        FRZ_TRY(frz_plan_open(scan->table, &options, &scan->plan, err));
        FRZ_TRY(check_deletes(frz_plan_tree(scan->plan), err));
    }
out:
    return rc;
}

static frz_code plan(frz_scan *scan, const frz_scan_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    const frz_type *readable = NULL, *projectable = NULL;
    const frz_snapshot_choice choice = {opts->snapshot_id, opts->as_of, opts->ref};
    FRZ_TRY(frz_table_choose(scan->table, &choice, &snapshot, &schema, err));
    FRZ_TRY(frz_readable_type(&scan->arena, schema, &readable, err));
    FRZ_TRY(frz_projectable_type(&scan->arena, schema, &projectable, err));
    FRZ_TRY(resolve_columns(scan, opts, schema, readable, err));
    if (opts->where != NULL) {
        FRZ_TRY(bind_filter(scan, opts->where, readable, err));
    }
    FRZ_TRY(collect_read_type(scan, projectable, err));
    FRZ_TRY(open_plan(scan, snapshot, schema, err));
out:
    return rc;
}

frz_code frz_scan_open(frz_table *table, const frz_scan_options *opts, frz_scan **out,
                       frz_error *err)
{
    frz_scan_options own = FRZ_SCAN_OPTIONS_INIT;
    frz_code rc = FRZ_OK;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    frz_scan *scan = frz_alloc_zero(table->env, 1, sizeof *scan);
    if (scan == NULL) {
        return frz_fail_nomem(err, sizeof *scan);
    }
    scan->env = table->env;
    scan->table = frz_table_ref(table);
    scan->left = own.limit;
    scan->batch_rows = own.batch_rows;
    scan->batch_bytes = own.batch_bytes;
    frz_arena_init(&scan->arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(plan(scan, &own, err));
    *out = scan;
    scan = NULL;
out:
    frz_scan_close(scan);
    return rc;
}

void frz_scan_close(frz_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    const frz_env *env = scan->env;
    frz_stitch_close(scan->stitch);
    frz_plan_close(scan->plan);
    frz_bound_expr_free(scan->filter);
    frz_arena_reset(&scan->arena);
    frz_table_unref(scan->table);
    frz_free(env, scan);
}

frz_code frz_scan_schema(const frz_scan *scan, struct ArrowSchema *out, frz_error *err)
{
    return frz_type_to_arrow(scan->env, scan->output_type, out, err);
}

static void add_counts(const frz_stitch *stitch, frz_scan_report *report)
{
    frz_stitch_counts counts;
    frz_stitch_counts_get(stitch, &counts);
    report->base_files_opened += counts.base_files_opened;
    report->column_files_opened += counts.column_files_opened;
    report->rows_skipped += counts.pruned.rows - counts.pruned.rows_left;
    report->groups += counts.pruned.groups;
    report->groups_by_statistics += counts.pruned.groups_by_statistics;
    report->groups_by_dictionary += counts.pruned.groups_by_dictionary;
    report->groups_by_bloom += counts.pruned.groups_by_bloom;
    report->pages_by_index += counts.pruned.pages_by_index;
}

void frz_scan_report_get(const frz_scan *scan, frz_scan_report *out)
{
    frz_plan_report planned = {0};
    if (scan->plan != NULL) {
        frz_plan_report_get(scan->plan, &planned);
    }
    *out = scan->report;
    out->files = planned.files;
    out->files_skipped = planned.files_skipped;
    if (scan->stitch != NULL) {
        add_counts(scan->stitch, out);
    }
}

/* ---- reading ---- */

static void close_entry(frz_scan *scan)
{
    add_counts(scan->stitch, &scan->report);
    frz_stitch_close(scan->stitch);
    scan->stitch = NULL;
}

/* Open the next data file that can hold matching rows; FRZ_END if there is none. */
static frz_code open_entry(frz_scan *scan, frz_error *err)
{
    frz_stitch_request request = {.projection = scan->read_type,
                                  .filter = scan->filter,
                                  .max_rows = scan->batch_rows,
                                  .max_bytes = scan->batch_bytes};
    frz_code rc = scan->plan == NULL ? FRZ_END : frz_plan_next(scan->plan, &scan->task, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    return frz_stitch_open(scan->table, scan->task.entry, &request, &scan->stitch, err);
}

/* The output columns of the rows that are selected (NULL: all); by reference where all are. */
static frz_code project(const frz_scan *scan, const struct ArrowArray *batch,
                        const uint8_t *selection, int64_t selected, struct ArrowArray *out,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = scan->output_type->field_count, made = 0;
    struct ArrowArray *columns = frz_alloc_zero(scan->env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; made < n; made++) {
        const struct ArrowArray *source = batch->children[scan->output_index[made]];
        FRZ_TRY(selection == NULL
                    ? frz_array_slice(scan->env, source, 0, batch->length, &columns[made], err)
                    : frz_array_filter(scan->env, scan->output_type->fields[made].type, source,
                                       selection, selected, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(scan->env, selected, columns, n, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(scan->env, columns);
    return rc;
}

/* Keep only the first rows of a batch. */
static frz_code cut(const frz_scan *scan, struct ArrowArray *batch, int64_t rows, frz_error *err)
{
    struct ArrowArray whole;
    frz_array_move(batch, &whole);
    frz_code rc = frz_batch_slice(scan->env, &whole, 0, rows, batch, err);
    frz_array_release(&whole);
    return rc;
}

/* The rows of one stitched batch that the filter lets through; out stays empty if there are none.
 */
static frz_code take_batch(frz_scan *scan, const frz_batch *batch, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t selected = batch->array.length;
    uint8_t *selection = NULL;
    scan->report.rows_read += batch->array.length;
    if (scan->filter != NULL) {
        selection = frz_alloc(scan->env, frz_bitmap_bytes(batch->array.length) + 8);
        if (selection == NULL) {
            return frz_fail_nomem(err, frz_bitmap_bytes(batch->array.length));
        }
        rc = frz_expr_select(scan->filter, scan->read_type, &batch->array, batch->first_row,
                             selection, &selected, err);
        FRZ_TRY(frz_context(err, rc, "filtering %.*s", FRZ_STR_ARG(scan->task.entry->location)));
    }
    if (selected > 0) {
        bool all = selected == batch->array.length;
        FRZ_TRY(project(scan, &batch->array, all ? NULL : selection, selected, out, err));
        if (scan->left >= 0 && scan->left < out->length) {
            FRZ_TRY(cut(scan, out, scan->left, err));
        }
    }
out:
    frz_free(scan->env, selection);
    return rc;
}

frz_code frz_scan_next(frz_scan *scan, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rows = {0};
    while (rows.release == NULL) {
        frz_batch batch = {0};
        if (scan->left == 0) {
            return FRZ_END;
        }
        if (scan->stitch == NULL) {
            FRZ_TRY(open_entry(scan, err));
        }
        rc = frz_stitch_next(scan->stitch, &batch, err);
        if (rc == FRZ_END) {
            close_entry(scan);
            continue;
        }
        if (rc == FRZ_OK) {
            rc = take_batch(scan, &batch, &rows, err);
            frz_array_release(&batch.array);
        }
        FRZ_TRY(rc);
    }
    scan->left -= scan->left > 0 ? rows.length : 0;
    scan->report.rows_returned += rows.length;
    frz_array_move(&rows, out);
    rc = FRZ_OK;
out:
    frz_array_release(&rows);
    return rc;
}

/* ---- as a stream ---- */

static frz_code stream_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    return frz_scan_schema(ctx, out, err);
}

static frz_code stream_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    return frz_scan_next(ctx, out, err);
}

static void stream_release(void *ctx)
{
    frz_scan_close(ctx);
}

frz_code frz_scan_export(frz_scan *scan, struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {stream_schema, stream_next, stream_release};
    return frz_stream_make(scan->env, &ops, scan, out, err);
}
