/*
 * A leaf manifest as its root describes it: counts by status, and statistics of all its entries.
 * spec: manifest_info; content stats in manifests
 */
#include "meta/meta_internal.h"
#include "meta/meta_tree.h"

/* ---- statistics: unknown as soon as one entry does not know ---- */

static int64_t add_counts(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || !frz_add_i64(a, b, &sum) ? FRZ_STAT_UNKNOWN : sum;
}

static bool take_bound(frz_value *bound, const frz_value *other, int direction)
{
    if (!frz_type_equal(bound->type, other->type)) {
        return false;
    }
    if (frz_value_compare(other, bound, true) * direction > 0) {
        *bound = *other;
    }
    return true;
}

static void add_stats(frz_field_stats *all, const frz_field_stats *s)
{
    all->has_lower = all->has_lower && s->has_lower && take_bound(&all->lower, &s->lower, -1);
    all->has_upper = all->has_upper && s->has_upper && take_bound(&all->upper, &s->upper, 1);
    all->tight_bounds = FRZ_MIN(all->tight_bounds, s->tight_bounds);
    all->value_count = add_counts(all->value_count, s->value_count);
    all->null_value_count = add_counts(all->null_value_count, s->null_value_count);
    all->nan_value_count = add_counts(all->nan_value_count, s->nan_value_count);
    all->total_bytes = add_counts(all->total_bytes, s->total_bytes);
}

/* Fields that an entry knows nothing of are left out. */
static size_t merge_stats(frz_field_stats *all, size_t count, const frz_entry *entry)
{
    size_t kept = 0, cursor = 0;
    for (size_t i = 0; i < count; i++) {
        const frz_field_stats *s =
            meta_find_stats(entry->stats, entry->stats_count, all[i].field_id, &cursor);
        if (s != NULL) {
            all[kept] = all[i];
            add_stats(&all[kept++], s);
        }
    }
    return kept;
}

static frz_code describe_stats(const frz_manifest_rows *rows, frz_arena *arena,
                               frz_manifest_file *out, frz_error *err)
{
    size_t count = rows->entry_count == 0 ? 0 : rows->entries[0]->stats_count;
    frz_field_stats *all = frz_arena_array(arena, count, sizeof *all);
    if (all == NULL) {
        return frz_fail_nomem(err, count * sizeof *all);
    }
    if (count > 0) {
        memcpy(all, rows->entries[0]->stats, count * sizeof *all);
    }
    for (size_t i = 1; i < rows->entry_count; i++) {
        count = merge_stats(all, count, rows->entries[i]);
    }
    out->stats = all;
    out->stats_count = count;
    return FRZ_OK;
}

/* ---- counts ---- */

static frz_code describe_counts(const frz_manifest_rows *rows, frz_manifest_file *out,
                                frz_error *err)
{
    out->min_sequence_number = INT64_MAX;
    for (size_t i = 0; i < rows->entry_count; i++) {
        const frz_entry *entry = rows->entries[i];
        out->files[entry->status]++;
        if (!frz_add_i64(out->rows[entry->status], entry->record_count,
                         &out->rows[entry->status])) {
            return frz_fail(err, FRZ_E_LIMIT, "rows of one manifest exceed 64 bits");
        }
        if (frz_status_is_live(entry->status)) {
            out->min_sequence_number = FRZ_MIN(out->min_sequence_number, entry->sequence_number);
        }
        if (entry->spec_id != out->spec_id) {
            out->spec_id = i == 0 ? entry->spec_id : -1;
        }
    }
    out->min_sequence_number = out->min_sequence_number == INT64_MAX ? 0 : out->min_sequence_number;
    return FRZ_OK;
}

frz_code frz_manifest_describe(const frz_manifest_rows *rows, frz_arena *arena,
                               frz_manifest_file *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = (frz_manifest_file){.content = FRZ_CONTENT_DATA_MANIFEST,
                               .status = FRZ_STATUS_ADDED,
                               .file_format = FRZ_STR("parquet"),
                               .spec_id = -1,
                               .snapshot_id = FRZ_NO_VALUE,
                               .modified_snapshot_id = FRZ_NO_VALUE,
                               .first_row_id = FRZ_NO_VALUE,
                               .entry_count = (int64_t)rows->entry_count};
    FRZ_TRY(describe_counts(rows, out, err));
    FRZ_TRY(describe_stats(rows, arena, out, err));
out:
    return rc;
}
