/*
 * Scans: opening and planning them, what they report, and handing them over as streams.
 */
#include "scan/scan_internal.h"

/* ---- opening ---- */

frz_code scan_open_deletes(const frz_table *table, frz_file_plan *plan,
                           const frz_delete_options *options, frz_arena *arena,
                           frz_delete_index **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const int32_t *keys = NULL;
    size_t count = 0;
    const frz_tree *tree = frz_file_plan_tree(plan);
    if (!frz_tree_has_delete_files(tree)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_delete_index_open(table, tree, options, out, err));
    FRZ_TRY(frz_delete_index_keys(*out, arena, &keys, &count, err));
    rc = frz_file_plan_add_stats(plan, keys, count, err);
out:
    return rc;
}

static frz_code open_plan(frz_scan *scan, const frz_snapshot *snapshot, const frz_schema *schema,
                          frz_error *err)
{
    const frz_file_plan_options options = {
        .snapshot = snapshot, .schema = schema, .filter = scan->columns.filter};
    const frz_delete_options deletes = {.schema = schema, .filter = scan->columns.filter};
    frz_code rc = FRZ_OK;
    if (snapshot != NULL) {
        FRZ_TRY(frz_file_plan_open(scan->table, &options, &scan->plan, err));
        FRZ_TRY(scan_open_deletes(scan->table, scan->plan, &deletes, &scan->arena, &scan->deletes,
                                  err));
    }
out:
    return rc;
}

static frz_code new_scan(frz_table *table, frz_scan **out, frz_error *err)
{
    frz_scan *scan = frz_alloc_zero(table->env, 1, sizeof *scan);
    if (scan == NULL) {
        return frz_fail_nomem(err, sizeof *scan);
    }
    scan->env = table->env;
    scan->table = frz_table_ref(table);
    scan->left = -1;
    frz_arena_init(&scan->arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&scan->file_arena, table->env, FRZ_ARENA_NO_LIMIT);
    *out = scan;
    return FRZ_OK;
}

frz_code frz_scan_open(frz_table *table, const frz_scan_options *opts, frz_scan **out,
                       frz_error *err)
{
    frz_scan_options own = FRZ_SCAN_OPTIONS_INIT;
    frz_code rc = FRZ_OK;
    frz_scan *scan = NULL;
    const frz_snapshot *snapshot = NULL;
    const frz_schema *schema = NULL;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    const frz_snapshot_choice choice = {own.snapshot_id, own.as_of, own.ref};
    const scan_request request = {own.columns, own.column_count, own.where, own.with_lineage != 0,
                                  own.ignore_case != 0};
    FRZ_TRY(new_scan(table, &scan, err));
    scan->left = own.limit;
    scan->batch_rows = own.batch_rows;
    scan->batch_bytes = own.batch_bytes;
    FRZ_TRY(frz_table_choose(table, &choice, &snapshot, &schema, err));
    FRZ_TRY(scan_columns_init(&scan->columns, &scan->arena, table, schema, &request, err));
    FRZ_TRY(open_plan(scan, snapshot, schema, err));
    *out = scan;
    scan = NULL;
out:
    frz_scan_close(scan);
    return rc;
}

frz_code frz_task_scan(frz_task *task, frz_scan **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_scan *scan = NULL;
    const frz_schema *schema = task->schema;
    FRZ_TRY(new_scan(task->table, &scan, err));
    scan->task = frz_task_ref(task);
    FRZ_TRY(
        scan_columns_init(&scan->columns, &scan->arena, task->table, schema, &task->request, err));
    const frz_delete_options options = {.schema = schema, .filter = scan->columns.filter};
    FRZ_TRY(frz_entry_filter_new(scan->env, &task->table->metadata, schema, scan->columns.filter,
                                 &scan->settled_by, err));
    if (task->delete_count > 0) {
        FRZ_TRY(frz_delete_index_of(task->table, task->deletes, task->delete_count, &options,
                                    &scan->deletes, err));
    }
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
    frz_file_deletes_free(scan->file_deletes);
    frz_delete_index_free(scan->deletes);
    frz_file_plan_close(scan->plan);
    frz_entry_filter_free(scan->settled_by);
    frz_task_unref(scan->task);
    scan_columns_reset(&scan->columns);
    frz_arena_reset(&scan->file_arena);
    frz_arena_reset(&scan->arena);
    frz_table_unref(scan->table);
    frz_free(env, scan);
}

frz_code frz_scan_schema(const frz_scan *scan, struct ArrowSchema *out, frz_error *err)
{
    return frz_type_to_arrow(scan->env, scan->columns.output_type, out, err);
}

void scan_add_counts(const frz_stitch *stitch, frz_scan_report *report)
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
    frz_file_plan_report planned = {0};
    if (scan->plan != NULL) {
        frz_file_plan_report_get(scan->plan, &planned);
    }
    *out = scan->report;
    out->delete_files += scan->deletes == NULL ? 0 : frz_delete_index_files(scan->deletes);
    out->files = planned.files;
    out->files_skipped = planned.files_skipped;
    if (scan->task != NULL) {
        out->files = (int64_t)scan->task->part_count;
    }
    if (scan->stitch != NULL) {
        scan_add_counts(scan->stitch, out);
    }
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
