/*
 * Small data files of one partition become fewer: which ones, and what becomes of their entries.
 * spec: compaction may change files, never rows
 */
#include <stdlib.h>

#include "maintain/maintain_internal.h"

/* Null before all others. */
static int compare_partitions(const frz_entry *a, const frz_entry *b)
{
    if (a->spec_id != b->spec_id || a->partition_count != b->partition_count) {
        return a->spec_id < b->spec_id ||
                       (a->spec_id == b->spec_id && a->partition_count < b->partition_count)
                   ? -1
                   : 1;
    }
    for (size_t i = 0; i < a->partition_count; i++) {
        const frz_value *x = &a->partition[i].value, *y = &b->partition[i].value;
        int order =
            x->is_null || y->is_null ? y->is_null - x->is_null : frz_value_compare(x, y, true);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

/* Within a partition in the order of the table. */
static int by_partition(const void *a, const void *b)
{
    const frz_small_file *x = a, *y = b;
    int order = compare_partitions(x->entry, y->entry);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

/* How many files from one on go together: one partition, and not more bytes than a file has. */
static size_t bin_of(const frz_compact_policy *policy, const frz_small_file *files, size_t count)
{
    size_t n = 0;
    int64_t bytes = 0;
    while (n < count && compare_partitions(files[0].entry, files[n].entry) == 0 &&
           (n == 0 || bytes + frz_entry_bytes(files[n].entry) <= policy->target_bytes)) {
        bytes = frz_maintain_sum(bytes, frz_entry_bytes(files[n++].entry));
    }
    return n;
}

size_t frz_compact_bin(const frz_compact_policy *policy, frz_small_file *files, size_t count)
{
    size_t bins = 0;
    if (count > 1) {
        qsort(files, count, sizeof *files, by_partition);
    }
    for (size_t at = 0, n; at < count; at += n) {
        n = bin_of(policy, files + at, count - at);
        bool enough = n > 1 && (int64_t)n >= policy->min_small_files;
        for (size_t i = at; i < at + n; i++) {
            files[i].bin = enough ? bins : FRZ_NO_BIN;
        }
        bins += enough;
    }
    return bins;
}

/* The first new file takes the place of the first old one, the others of nobody. */
frz_code frz_compact_plan_combined(const frz_commit_attempt *attempt,
                                   const frz_entry *const *entries, size_t count,
                                   const frz_row_file *files, size_t file_count,
                                   const frz_metrics_config *metrics, frz_commit_plan *plan,
                                   frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry like = *entries[0];
    like.sort_order_id = -1; /* rows of one file after those of another */
    for (size_t i = 0; i < FRZ_MAX(count, file_count); i++) {
        const frz_parquet_written *w = i < file_count ? &files[i].written : NULL;
        frz_rewritten file = {0};
        if (w != NULL) {
            file = (frz_rewritten){.location = files[i].location.ptr,
                                   .record_count = w->row_count,
                                   .file_size = w->file_size,
                                   .split_offsets = w->split_offsets,
                                   .split_count = w->split_count,
                                   .stats = w->stats,
                                   .stats_count = w->stats_count};
        }
        FRZ_TRY(frz_rewritten_plan(attempt, i < count ? entries[i] : NULL, &like, &file, metrics,
                                   plan, err));
        plan->rows += file.record_count;
    }
out:
    return rc;
}
