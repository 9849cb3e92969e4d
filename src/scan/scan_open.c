/*
 * Scans: opening and planning them, what they report, and handing them over as streams.
 */
#include "scan/scan_internal.h"

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

/* Ids of top-level fields, each once: those in files first, then columns about rows. */
typedef struct read_ids {
    int32_t *ids;
    size_t stored, count;
} read_ids;

static size_t place_of(const read_ids *list, int32_t id)
{
    size_t i = 0;
    while (i < list->count && list->ids[i] != id) {
        i++;
    }
    return i;
}

static void add_id(read_ids *list, int32_t id, bool row_columns)
{
    if (frz_is_row_column(id) == row_columns && place_of(list, id) == list->count) {
        list->ids[list->count++] = id;
    }
}

/* What the output needs, then what only the filter needs. */
static void add_ids(const frz_scan *scan, read_ids *list, bool row_columns)
{
    size_t filter_count = 0;
    const frz_type *output = scan->output_type;
    const int32_t *filter_ids =
        scan->filter == NULL ? NULL : frz_bound_expr_fields(scan->filter, &filter_count);
    for (size_t i = 0; i < output->field_count; i++) {
        add_id(list, output->fields[i].id, row_columns);
    }
    for (size_t i = 0; i < filter_count; i++) {
        add_id(list, filter_ids[i], row_columns);
    }
}

static frz_code collect_read_type(frz_scan *scan, const frz_type *readable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t filter_count = 0;
    const frz_type *output = scan->output_type;
    if (scan->filter != NULL) {
        frz_bound_expr_fields(scan->filter, &filter_count);
    }
    size_t most = output->field_count + filter_count + 1;
    read_ids list = {.ids = frz_arena_array(&scan->arena, most, sizeof *list.ids)};
    size_t *index = frz_arena_array(&scan->arena, output->field_count + 1, sizeof *index);
    if (list.ids == NULL || index == NULL) {
        rc = frz_fail_nomem(err, most * sizeof *index);
        goto out;
    }
    add_ids(scan, &list, false);
    list.stored = list.count;
    add_ids(scan, &list, true);
    for (size_t i = 0; i < output->field_count; i++) {
        index[i] = place_of(&list, output->fields[i].id);
    }
    scan->output_index = index;
    scan->shows_deleted = place_of(&list, FRZ_ID_ROW_DELETED) < list.count;
    FRZ_TRY(
        frz_project_ids(&scan->arena, readable, list.ids, list.stored, &scan->stored_type, err));
    FRZ_TRY(frz_project_ids(&scan->arena, readable, list.ids, list.count, &scan->read_type, err));
out:
    return rc;
}

static frz_code bind_filter(frz_scan *scan, const char *where, const frz_type *readable,
                            frz_error *err)
{
    const frz_expr *expr = NULL;
    frz_code rc = frz_expr_parse(&scan->arena, frz_str_from(where), &expr, err);
    return rc != FRZ_OK ? rc : frz_expr_bind_filter(scan->env, expr, readable, &scan->filter, err);
}

static bool has_delete_files(const frz_tree *tree)
{
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        if (file->content == FRZ_CONTENT_DELETE_MANIFEST && frz_status_is_live(file->status)) {
            return true;
        }
    }
    return false;
}

static frz_code open_deletes(frz_scan *scan, const frz_schema *schema, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const int32_t *keys = NULL;
    size_t count = 0;
    const frz_delete_options options = {.schema = schema, .filter = scan->filter};
    const frz_tree *tree = frz_plan_tree(scan->plan);
    if (!has_delete_files(tree)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_delete_index_open(scan->table, tree, &options, &scan->deletes, err));
    FRZ_TRY(frz_delete_index_keys(scan->deletes, &scan->arena, &keys, &count, err));
    rc = frz_plan_add_stats(scan->plan, keys, count, err);
out:
    return rc;
}

static frz_code open_plan(frz_scan *scan, const frz_snapshot *snapshot, const frz_schema *schema,
                          frz_error *err)
{
    const frz_plan_options options = {
        .snapshot = snapshot, .schema = schema, .filter = scan->filter};
    frz_code rc = FRZ_OK;
    if (snapshot != NULL) {
        FRZ_TRY(frz_plan_open(scan->table, &options, &scan->plan, err));
        FRZ_TRY(open_deletes(scan, schema, err));
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
    const frz_metadata *metadata = &scan->table->metadata;
    const frz_snapshot_choice choice = {opts->snapshot_id, opts->as_of, opts->ref};
    FRZ_TRY(frz_table_choose(scan->table, &choice, &snapshot, &schema, err));
    FRZ_TRY(frz_readable_type(&scan->arena, schema, &readable, err));
    FRZ_TRY(frz_row_columns_add(&scan->arena, metadata, readable, true, &readable, err));
    FRZ_TRY(frz_projectable_type(&scan->arena, schema, &projectable, err));
    FRZ_TRY(frz_row_columns_add(&scan->arena, metadata, projectable, false, &projectable, err));
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
    frz_arena_init(&scan->file_arena, table->env, FRZ_ARENA_NO_LIMIT);
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
    frz_file_deletes_free(scan->file_deletes);
    frz_delete_index_free(scan->deletes);
    frz_plan_close(scan->plan);
    frz_bound_expr_free(scan->filter);
    frz_arena_reset(&scan->file_arena);
    frz_arena_reset(&scan->arena);
    frz_table_unref(scan->table);
    frz_free(env, scan);
}

frz_code frz_scan_schema(const frz_scan *scan, struct ArrowSchema *out, frz_error *err)
{
    return frz_type_to_arrow(scan->env, scan->output_type, out, err);
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
    frz_plan_report planned = {0};
    if (scan->plan != NULL) {
        frz_plan_report_get(scan->plan, &planned);
    }
    *out = scan->report;
    out->delete_files += scan->deletes == NULL ? 0 : frz_delete_index_files(scan->deletes);
    out->files = planned.files;
    out->files_skipped = planned.files_skipped;
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
