/*
 * meta: manifests of format v4. A manifest is a Parquet file whose rows are tracked_file structs;
 * it is read into columns, and single entries are looked up as structs when they are needed.
 * spec: manifests, tracked_file
 */
#ifndef FRZ_META_MANIFEST_H
#define FRZ_META_MANIFEST_H

#include "meta/meta_table.h"
#include "type/type_stats.h"

typedef enum frz_status {
    FRZ_STATUS_EXISTING = 0,
    FRZ_STATUS_ADDED = 1,
    FRZ_STATUS_DELETED = 2,
    FRZ_STATUS_REPLACED = 3,
    FRZ_STATUS_MODIFIED = 4
} frz_status;

static inline bool frz_status_is_live(frz_status status)
{
    return status == FRZ_STATUS_EXISTING || status == FRZ_STATUS_ADDED ||
           status == FRZ_STATUS_MODIFIED;
}
const char *frz_status_name(frz_status status);

typedef enum frz_content {
    FRZ_CONTENT_DATA = 0,
    FRZ_CONTENT_POSITION_DELETES = 1, /* in delete manifests of versions 2 and 3 only */
    FRZ_CONTENT_EQUALITY_DELETES = 2,
    FRZ_CONTENT_DATA_MANIFEST = 3,
    FRZ_CONTENT_DELETE_MANIFEST = 4
} frz_content;

typedef struct frz_column_file {
    frz_str location;         /* as recorded */
    const int32_t *field_ids; /* ascending, no duplicates, not empty */
    size_t field_id_count;
    frz_str file_format;
    int64_t file_size;
    frz_str key_metadata; /* ptr NULL: none */
} frz_column_file;

/* One value of a partition tuple, by partition field id; of the transform's result type. */
typedef struct frz_partition_value {
    int32_t field_id;
    frz_value value;
} frz_partition_value;

/* A deletion vector: a blob of a Puffin file. spec: deletion_vector; v3 content_offset */
typedef struct frz_deletion_vector {
    frz_str location; /* as recorded */
    int64_t offset, size;
    int64_t cardinality;
    frz_str key_metadata; /* of the Puffin file; ptr NULL: none */
} frz_deletion_vector;

#define FRZ_IN_ROOT SIZE_MAX

/* One row of a manifest. Values that may be null say how. */
typedef struct frz_entry {
    frz_status status;
    int64_t snapshot_id;          /* resolved */
    int64_t modified_snapshot_id; /* FRZ_NO_VALUE: null */
    int64_t sequence_number;      /* resolved */
    int64_t file_sequence_number; /* resolved */
    int64_t first_row_id;
    frz_content content;
    frz_str location; /* as recorded */
    frz_str file_format;
    int64_t record_count;
    int64_t file_size;
    int32_t spec_id;       /* -1: null */
    int32_t sort_order_id; /* -1: null */
    const int64_t *split_offsets;
    size_t split_count;
    const frz_column_file *column_files;
    size_t column_file_count;
    const frz_field_stats *stats; /* known ones only, any order */
    size_t stats_count;
    bool has_deletion_vector;
    frz_deletion_vector deletion_vector;  /* of a data file in v4, of a delete file in v3 */
    const frz_partition_value *partition; /* fields of the entry's spec, in the spec's order */
    size_t partition_count;
    const int32_t *equality_ids; /* EQUALITY_DELETES */
    size_t equality_id_count;
    frz_str referenced_data_file; /* delete files for one data file, as recorded; ptr NULL: none */
    size_t manifest;      /* of the tree that it was read from; FRZ_IN_ROOT: the root itself */
    int64_t position;     /* ordinal number of the entry in its manifest */
    bool is_masked;       /* not live by the manifest's deletion vector */
    bool is_legacy;       /* of a manifest of versions 1 to 3 */
    frz_str key_metadata; /* ptr NULL: none */
} frz_entry;

/* A copy that leans on nothing but the arena and the types of its statistics. */
frz_code frz_entry_copy(frz_arena *arena, const frz_entry *entry, frz_entry *out, frz_error *err);
/* The same of the tuple or the statistics alone, in place. */
frz_code frz_entry_own_partition(frz_arena *arena, frz_entry *entry, frz_error *err);
frz_code frz_entry_own_stats(frz_arena *arena, frz_entry *entry, frz_error *err);

/* Put the statistics of from before those of the entry, except those of some fields (ids ascend):
 * these are the entry's. Lists lie in the arena. */
frz_code frz_stats_overlay(frz_arena *arena, const frz_entry *from, const int32_t *ids,
                           size_t count, frz_entry *entry, frz_error *err);

/* ---- what an entry says (meta_entry.c) ---- */

/* The statistics of a field, or NULL. */
const frz_field_stats *frz_entry_stats(const frz_entry *entry, int32_t field_id);
/* The column file that provides a field, or NULL: the base. */
const frz_column_file *frz_entry_provider(const frz_entry *entry, int32_t field_id);

/* The value of the entry's tuple for a field of its spec, by the partition field's id; and for a
 * field of the table that a partition has as it is (identity). NULL: there is none. */
const frz_value *frz_entry_tuple_value(const frz_entry *entry, int32_t partition_field_id);
const frz_value *frz_entry_identity_value(const frz_metadata *metadata, const frz_entry *entry,
                                          int32_t field_id);

/* "cat=c0/ts_day=2024-01-01", names and values encoded as in paths; nothing if unpartitioned
 * (meta_view_partition.c). Appended. */
frz_code frz_entry_partition_text(const frz_table *table, const frz_entry *entry, frz_buf *out,
                                  frz_error *err);
/* The rules of column files, of an entry that comes from elsewhere than a manifest. schema: the one
 * that is read. */
frz_code frz_entry_check_column_files(const frz_table *table, const frz_schema *schema,
                                      const frz_entry *entry, frz_error *err);

/* ---- writing (meta_manifest_write.c) ---- */

typedef struct frz_manifest_file frz_manifest_file; /* meta_tree.h */

/* The rows of a manifest: data files and, in a root, manifests behind them. */
typedef struct frz_manifest_rows {
    const frz_entry *const *entries;
    size_t entry_count;
    const frz_manifest_file *const *manifests;
    size_t manifest_count;
    bool is_leaf; /* added entries may lack the numbers that they inherit (FRZ_NO_VALUE) */
} frz_manifest_rows;

/* Write a manifest. Statistics are written for the fields that the metrics configuration names;
 * others are dropped. Returns its size. */
frz_code frz_manifest_write(const frz_table *table, const char *location, const frz_schema *schema,
                            const frz_manifest_rows *rows, bool durable, int64_t *bytes,
                            frz_error *err);

/* What a root says of a leaf with these rows (at least one): ADDED, counts and statistics, which
 * lie in the arena (meta_manifest_describe.c). Place and numbers are the caller's to fill in. */
frz_code frz_manifest_describe(const frz_manifest_rows *rows, frz_arena *arena,
                               frz_manifest_file *out, frz_error *err);

/* ---- metrics configuration (meta_metrics.c): write.metadata.metrics.* ---- */

/* NaN is never a bound. */
bool frz_bound_is_nan(const frz_value *value);

typedef enum frz_metrics_mode {
    FRZ_METRICS_NONE,
    FRZ_METRICS_COUNTS,
    FRZ_METRICS_TRUNCATE,
    FRZ_METRICS_FULL
} frz_metrics_mode;

typedef struct frz_metrics_config {
    size_t field_count; /* primitive fields not below a list or map, in schema order */
    struct {
        int32_t field_id;
        const frz_type *type;
        bool required;
        frz_metrics_mode mode;
        size_t length; /* of TRUNCATE */
    } * fields;
} frz_metrics_config;

/* Default mode truncate(16) for the first write.metadata.metrics.max-inferred-column-defaults (100)
 * columns, none for others, unless write.metadata.metrics.default or .column.NAME say more. */
frz_code frz_metrics_config_of(const frz_metadata *metadata, const frz_schema *schema,
                               frz_arena *arena, frz_metrics_config *out, frz_error *err);
/* Apply modes: drop statistics of fields without metrics, keep counts only, shorten bounds. */
frz_code frz_metrics_apply(const frz_metrics_config *config, const frz_field_stats *stats,
                           size_t count, frz_arena *arena, frz_field_stats **out, size_t *out_count,
                           frz_error *err);

#endif
