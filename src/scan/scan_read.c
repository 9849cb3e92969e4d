/*
 * Scans: reading file by file.
 */
#include "scan/scan_internal.h"

/* Runs of deleted rows that are worth to be left out when a file is read: about a page. */
#define LEAST_GAP 4096

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
    FRZ_TRY(frz_file_deletes_read_type(deletes, scan->stored_type, &scan->file_arena,
                                       &scan->file_type, err));
    if (positions != NULL && !scan->shows_deleted) {
        FRZ_TRY(frz_positions_ranges(positions, scan->task.entry->record_count, LEAST_GAP,
                                     &scan->file_arena, &ranges, &request->range_count, err));
        request->ranges = ranges;
        *none = request->range_count == 0;
    }
out:
    return rc;
}

/* Open the next data file of the plan; it stays closed if all its rows are deleted. */
static frz_code open_next(frz_scan *scan, frz_error *err)
{
    bool none = false;
    frz_code rc = scan->plan == NULL ? FRZ_END : frz_plan_next(scan->plan, &scan->task, err);
    FRZ_TRY(rc);
    const frz_entry *entry = scan->task.entry;
    frz_stitch_request request = {.filter = scan->task.settled ? NULL : scan->filter,
                                  .with_deleted = true,
                                  .max_rows = scan->batch_rows,
                                  .max_bytes = scan->batch_bytes};
    scan->file_type = scan->stored_type;
    FRZ_TRY(frz_file_deletes_find(scan->deletes, scan->table, entry, &scan->file_deletes, err));
    scan->report.delete_files += entry->has_deletion_vector;
    FRZ_TRY(leave_out(scan, &request, &none, err));
    if (none) {
        close_file(scan);
        return FRZ_OK;
    }
    request.projection = scan->file_type;
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
