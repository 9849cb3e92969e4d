/*
 * When a data file is worth compacting. The properties are ratios and counts of what manifest
 * entries tell, so nothing is read to decide.
 */
#include "maintain/maintain_internal.h"

#define DELETED_RATIO 0.3
#define COLUMN_RATIO 0.5
#define PER_FILE 8
#define SMALL_RATIO 0.25
#define SMALL_FILES 5

frz_code frz_compact_policy_of(const frz_metadata *metadata, frz_compact_policy *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_metadata_property_ratio(metadata, "write.compact.max-deleted-ratio", DELETED_RATIO,
                                        &out->max_deleted_ratio, err));
    FRZ_TRY(frz_metadata_property_ratio(metadata, "write.column-file.max-ratio", COLUMN_RATIO,
                                        &out->max_column_ratio, err));
    FRZ_TRY(frz_metadata_property_ratio(metadata, "write.compact.small-file-ratio", SMALL_RATIO,
                                        &out->small_file_ratio, err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "write.column-file.max-per-file", PER_FILE,
                                      &out->max_per_file, err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "write.compact.min-small-files", SMALL_FILES,
                                      &out->min_small_files, err));
    FRZ_TRY(frz_write_target_bytes(metadata, &out->target_bytes, err));
out:
    return rc;
}

bool frz_compact_wants_rewrite(const frz_compact_policy *policy, const frz_entry *entry)
{
    double deleted = entry->has_deletion_vector ? (double)entry->deletion_vector.cardinality : 0;
    double columns = (double)(frz_entry_bytes(entry) - entry->file_size);
    return deleted > policy->max_deleted_ratio * (double)entry->record_count ||
           columns > policy->max_column_ratio * (double)entry->file_size;
}

bool frz_compact_wants_join(const frz_compact_policy *policy, const frz_entry *entry)
{
    return entry->column_file_count > 1 && (int64_t)entry->column_file_count > policy->max_per_file;
}

bool frz_compact_is_small(const frz_compact_policy *policy, const frz_entry *entry)
{
    return (double)frz_entry_bytes(entry) < policy->small_file_ratio * (double)policy->target_bytes;
}
