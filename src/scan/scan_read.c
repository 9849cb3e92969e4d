/*
 * Scans: reading file by file.
 */
#include "scan/scan_internal.h"

/* Runs of deleted rows that are worth to be left out when a file is read: about a page. */
#define LEAST_GAP 4096

/* Of a batch whose size nobody chose. */
#define CACHE_BYTES ((size_t)256 << 10)
#define LEAST_ROWS 2048
#define MOST_ROWS 65536

static void close_file(frz_scan *scan)
{
    if (scan->stitch != NULL) {
        scan_add_counts(scan->stitch, &scan->report);
    }
    frz_stitch_close(scan->stitch);
    scan->stitch = NULL;
    frz_file_deletes_free(scan->file_deletes);
    scan->file_deletes = NULL;
    frz_arena_reset(&scan->file_arena);
}

/* Leave deleted rows out of a request as far as that is worth it; *none: no row is left. */
static frz_code leave_out(frz_scan *scan, frz_stitch_request *request, bool *none, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range *ranges = NULL;
    const frz_file_deletes *deletes = scan->file_deletes;
    const frz_positions *positions = frz_file_deletes_positions(deletes);
    *none = false;
    if (deletes == NULL) {
        return FRZ_OK;
    }
    request->deleted = positions;
    FRZ_TRY(frz_file_deletes_read_type(deletes, scan->columns.stored_type, &scan->file_arena,
                                       &scan->file_type, err));
    if (positions != NULL && !scan->columns.shows_deleted) {
        FRZ_TRY(frz_positions_ranges(positions, scan->file.entry->record_count, LEAST_GAP,
                                     &scan->file_arena, &ranges, &request->range_count, err));
        request->ranges = ranges;
        *none = request->range_count == 0;
    }
out:
    return rc;
}

/* The rows of a part of the task's that are among the ranges; all are if there are none. */
static frz_code clip(frz_scan *scan, const frz_row_range *part, frz_stitch_request *request,
                     frz_error *err)
{
    const frz_row_range whole = {0, scan->file.entry->record_count};
    const frz_row_range *ranges = request->ranges == NULL ? &whole : request->ranges;
    size_t count = request->ranges == NULL ? 1 : request->range_count, n = 0;
    frz_row_range *clipped = frz_arena_array(&scan->file_arena, count + 1, sizeof *clipped);
    if (clipped == NULL) {
        return frz_fail_nomem(err, count * sizeof *clipped);
    }
    for (size_t i = 0; i < count; i++) {
        frz_row_range r = {FRZ_MAX(ranges[i].start, part->start),
                           FRZ_MIN(ranges[i].end, part->end)};
        if (r.start < r.end) {
            clipped[n++] = r;
        }
    }
    request->ranges = clipped;
    request->range_count = n;
    return FRZ_OK;
}

/* The next data file of the plan, or part of one of the task; *rows: those that are its. */
static frz_code next_file(frz_scan *scan, frz_row_range *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (scan->task == NULL) {
        rc = scan->plan == NULL ? FRZ_END : frz_file_plan_next(scan->plan, &scan->file, err);
        *rows = rc == FRZ_OK ? (frz_row_range){0, scan->file.entry->record_count}
                             : (frz_row_range){0, 0};
        return rc;
    }
    if (scan->next_part == scan->task->part_count) {
        return FRZ_END;
    }
    const task_part *part = &scan->task->parts[scan->next_part++];
    scan->file =
        (frz_planned_file){.entry = part->entry,
                           .settled = scan->columns.filter != NULL &&
                                      frz_entry_filter_is_settled(scan->settled_by, part->entry)};
    return task_part_rows(scan->task, part, rows, err);
}

/* ---- deleted rows that never get into a batch ---- */

static frz_code choose_live(void *ctx, const frz_batch *batch, uint8_t *bits, frz_error *err)
{
    const frz_scan *scan = ctx;
    return frz_file_deletes_clear(scan->file_deletes, scan->file_type, batch, bits, err);
}

/* Whoever wants to know of a row where it was in the file has to see all rows. */
static bool needs_places(const frz_scan *scan)
{
    const scan_columns *c = &scan->columns;
    bool needs = c->shows_deleted || (c->filter != NULL && !scan->file.settled) ||
                 c->read_type->field_count > c->stored_type->field_count;
    for (size_t i = 0; i < scan->file_type->field_count && !needs; i++) {
        needs = stitch_is_lineage(scan->file_type->fields[i].id);
    }
    return needs;
}

/* Have the reader leave deleted rows out, if it can. */
static frz_code thin_out(frz_scan *scan, frz_stitch_request *request, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (scan->file_deletes == NULL || needs_places(scan)) {
        return FRZ_OK;
    }
    scan->thinning = (frz_thinning){.choose = choose_live, .ctx = scan};
    FRZ_TRY(frz_file_deletes_columns(scan->file_deletes, scan->file_type, &scan->file_arena,
                                     &scan->thinning.columns, &scan->thinning.column_count, err));
    request->thinning = &scan->thinning;
out:
    return rc;
}

/* Rows of a batch, so that what was read of them is still in a processor's cache when deleted rows
 * are taken out, and the filters of their keys, too; 0: the reader chooses, since none are deleted
 * or so few rows would do too little. */
static int64_t choose_rows(const frz_scan *scan, bool thinned)
{
    size_t bytes = scan_row_bytes(scan->file_type);
    if (scan->batch_rows > 0 || scan->file_deletes == NULL || frz_threads(scan->env) > 1 ||
        thinned) {
        return scan->batch_rows;
    }
    int64_t rows = (int64_t)(CACHE_BYTES / FRZ_MAX(bytes, (size_t)1)) & ~(int64_t)1023;
    return rows < LEAST_ROWS || rows > MOST_ROWS ? 0 : rows;
}

/* Open the next data file of the plan; it stays closed if all its rows are deleted. */
static frz_code open_next(frz_scan *scan, frz_error *err)
{
    bool none = false;
    frz_row_range rows = {0, 0};
    frz_code rc = next_file(scan, &rows, err);
    FRZ_TRY(rc);
    const frz_entry *entry = scan->file.entry;
    frz_stitch_request request = {.filter = scan->file.settled ? NULL : scan->columns.filter,
                                  .with_deleted = true,
                                  .max_bytes = scan->batch_bytes};
    scan->file_type = scan->columns.stored_type;
    FRZ_TRY(frz_file_deletes_find(scan->deletes, scan->table, entry, &scan->file_deletes, err));
    scan->report.delete_files += entry->has_deletion_vector;
    FRZ_TRY(leave_out(scan, &request, &none, err));
    if (rows.start > 0 || rows.end < entry->record_count) {
        FRZ_TRY(clip(scan, &rows, &request, err));
        none = request.range_count == 0;
    }
    if (none) {
        close_file(scan);
        return FRZ_OK;
    }
    request.projection = scan->file_type;
    FRZ_TRY(thin_out(scan, &request, err));
    request.max_rows = choose_rows(scan, request.thinning != NULL && entry->column_file_count == 0);
    rc = frz_stitch_open(scan->table, entry, &request, &scan->stitch, err);
out:
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
        while (scan->stitch == NULL) {
            FRZ_TRY(open_next(scan, err));
        }
        rc = frz_stitch_next(scan->stitch, &batch, err);
        if (rc == FRZ_END) {
            close_file(scan);
            continue;
        }
        if (rc == FRZ_OK) {
            rc = scan_take_batch(scan, &batch, &rows, err);
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
