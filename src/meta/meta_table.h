/*
 * meta: the in-memory model of table metadata, its newest version (4). Older and newer shapes live
 * in the readers and writers only. spec: Table Metadata Fields, Snapshots; v4 changes
 */
#ifndef FRZ_META_TABLE_H
#define FRZ_META_TABLE_H

#include "frazil/table.h"
#include "io/io_file.h"
#include "type/type_schema.h"
#include "type/type_transform.h"

#define FRZ_FORMAT_VERSION 4

#define FRZ_NO_VALUE INT64_MIN /* null or absent, of an optional long */

typedef struct frz_property_kv {
    frz_str key, value;
} frz_property_kv;

/* spec: Partition Specs. Fields with unknown transforms are kept and never used for pruning. */
typedef struct frz_partition_field {
    int32_t field_id; /* 1000 and up */
    const int32_t *source_ids;
    size_t source_count;
    frz_str name;
    frz_transform transform;
} frz_partition_field;

typedef struct frz_partition_spec {
    int32_t spec_id;
    const frz_partition_field *fields;
    size_t field_count;
} frz_partition_spec;

/* spec: Sorting */
typedef struct frz_sort_field {
    const int32_t *source_ids;
    size_t source_count;
    frz_transform transform;
    bool descending, nulls_last;
} frz_sort_field;

typedef struct frz_sort_order {
    int32_t order_id;
    const frz_sort_field *fields;
    size_t field_count;
} frz_sort_order;

/* spec: Snapshot References */
typedef struct frz_ref {
    frz_str name;
    int64_t snapshot_id;
    bool is_tag;
    int64_t max_ref_age_ms, max_snapshot_age_ms, min_snapshots_to_keep; /* FRZ_NO_VALUE: none */
} frz_ref;

typedef struct frz_snapshot_log_entry {
    int64_t timestamp_ms, snapshot_id;
} frz_snapshot_log_entry;

typedef struct frz_metadata_log_entry {
    int64_t timestamp_ms;
    frz_str metadata_file; /* as recorded */
} frz_metadata_log_entry;

typedef struct frz_snapshot {
    int64_t snapshot_id;
    int64_t parent_id; /* 0: none */
    int64_t sequence_number;
    int64_t timestamp_ms;
    frz_str root_manifest;    /* as recorded, may be relative; ptr NULL: has a manifest list */
    frz_str manifest_list;    /* ptr NULL: has a root manifest, or manifests of version 1 */
    const frz_str *manifests; /* version 1 without a manifest list */
    size_t manifest_count;
    int32_t schema_id;                /* -1: none recorded */
    int64_t first_row_id, added_rows; /* FRZ_NO_VALUE: none recorded (before version 3) */
    frz_str key_id;                   /* of the key of its root manifest or list; ptr NULL: none */
    const frz_property_kv *summary;   /* "operation" among them */
    size_t summary_count;
} frz_snapshot;

/* One immutable version of a table's metadata. All pointers live in the owner's arena. Members
 * that this library does not interpret stay in json and are written back unchanged. */
typedef struct frz_metadata {
    int32_t format_version;
    frz_str table_uuid; /* ptr NULL: none (version 1) */
    frz_str location;   /* without trailing slash; ptr NULL: none. Before version 4 it may have no
                           scheme */
    int64_t last_sequence_number;
    int64_t last_updated_ms;
    int32_t last_column_id; /* at least that of every schema */
    int64_t next_row_id;    /* 0 before version 3 */
    const frz_schema *const *schemas;
    size_t schema_count;
    int32_t current_schema_id;
    const frz_partition_spec *specs;
    size_t spec_count;
    int32_t default_spec_id;
    int32_t last_partition_id;
    const frz_sort_order *sort_orders;
    size_t sort_order_count;
    int32_t default_sort_order_id;
    const frz_ref *refs; /* "main" among them as soon as there is a current snapshot */
    size_t ref_count;
    const frz_snapshot_log_entry *snapshot_log;
    size_t snapshot_log_count;
    const frz_metadata_log_entry *metadata_log;
    size_t metadata_log_count;
    const frz_property_kv *properties;
    size_t property_count;
    const frz_snapshot *snapshots; /* in the order of the file */
    size_t snapshot_count;
    const frz_snapshot *const *snapshots_by_id; /* the same, ids ascending */
    int64_t current_snapshot_id;                /* 0: none */
    json_t *json;                               /* the whole document as read; owned */
} frz_metadata;

/* The public table: metadata plus where it came from. */
struct frz_table {
    _Atomic int64_t refs;
    const frz_env *env;
    frz_arena arena;
    frz_metadata metadata;
    char *metadata_location; /* of the JSON file; NULL for a table that is being made */
    char *pointer;           /* the same as its catalog records it; NULL: like metadata_location */
    char *base;              /* base for relative paths: the table's location */
    char *name;              /* "db.wide" or NULL */
    frz_name_mapping mapping;
    bool has_mapping;
    const frz_location_map *maps; /* location maps for access */
    size_t map_count;
};

/* ---- reading (meta_json_read.c and its kin) ---- */

/* Parse a metadata JSON document. location is used in messages and as metadata_location. */
frz_code frz_table_parse(const frz_env *env, const char *location, frz_str json,
                         const frz_table_open_options *opts, frz_table **out, frz_error *err);

/* ---- looking up ---- */

const frz_snapshot *frz_metadata_snapshot(const frz_metadata *metadata, int64_t snapshot_id);
/* Whether its summary names this operation; NULL: no. */
bool frz_snapshot_is(const frz_snapshot *snapshot, const char *operation);
const frz_snapshot *frz_metadata_current_snapshot(const frz_metadata *metadata); /* or NULL */
const frz_schema *frz_metadata_schema(const frz_metadata *metadata,
                                      int32_t schema_id); /* or NULL */
const frz_schema *frz_metadata_current_schema(const frz_metadata *metadata);
const frz_partition_spec *frz_metadata_spec(const frz_metadata *metadata,
                                            int32_t spec_id);                /* or NULL */
const frz_ref *frz_metadata_ref(const frz_metadata *metadata, frz_str name); /* or NULL */

/* ---- choosing a snapshot (meta_choice.c) ---- */

/* At most one way; none: the current snapshot. */
typedef struct frz_snapshot_choice {
    int64_t snapshot_id; /* 0: not by id */
    const char *as_of;   /* "2026-11-01T00:00:00Z": what the snapshot log says was current */
    const char *ref;     /* name of a branch or tag */
} frz_snapshot_choice;

/* The snapshot (NULL if the current one is asked for and there is none) and the schema that a read
 * of it uses. Encrypted ones are FRZ_E_UNSUPPORTED. */
frz_code frz_table_choose(const frz_table *table, const frz_snapshot_choice *choice,
                          const frz_snapshot **snapshot, const frz_schema **schema, frz_error *err);
/* The same by id; 0: the current one. */
frz_code frz_table_snapshot(const frz_table *table, int64_t snapshot_id,
                            const frz_snapshot **snapshot, const frz_schema **schema,
                            frz_error *err);

/* A time as text, "2026-11-01T00:00:00Z" or "2026-11-01", UTC without a zone, as milliseconds. */
frz_code frz_time_parse(const frz_env *env, frz_str text, int64_t *ms, frz_error *err);

/* ---- properties ---- */

/* A property's value, or fallback. */
frz_str frz_metadata_property(const frz_metadata *metadata, const char *key, const char *fallback);
/* As a whole number; anything else is FRZ_E_ARGUMENT naming the property. */
frz_code frz_metadata_property_i64(const frz_metadata *metadata, const char *key, int64_t fallback,
                                   int64_t *out, frz_error *err);
/* As a number from 0 on. */
frz_code frz_metadata_property_ratio(const frz_metadata *metadata, const char *key, double fallback,
                                     double *out, frz_error *err);

/* ---- paths (meta_path.c): spec: Paths in Metadata; v4 relative paths ----
 *
 * A location is recorded relative or absolute in version 4; before, it was a whole path, at times
 * without a scheme. Locations are compared as places (frz_location_place) once they are absolute,
 * and before location maps apply, which only say where files are opened. */

/* Recorded location -> absolute location; free with frz_free. */
frz_code frz_table_resolve(const frz_table *table, frz_str recorded, char **out, frz_error *err);
/* The same; a view of what was recorded if it is absolute already, else in the arena. */
frz_code frz_table_resolve_view(const frz_table *table, frz_str recorded, frz_arena *arena,
                                frz_str *out, frz_error *err);
/* The same for what a manifest list, manifest or delete file of a version before 4 records, in a
 * table of any version: a path without a scheme, or without an authority, gets the table's. */
frz_code frz_table_resolve_legacy(const frz_table *table, frz_str recorded, frz_arena *arena,
                                  frz_str *out, frz_error *err);
/* frz_table_resolve with location maps applied: where to open the file. */
frz_code frz_table_resolve_access(const frz_table *table, frz_str recorded, char **out,
                                  frz_error *err);
/* Location maps of their own, in the arena; NULL if there are none. */
frz_code frz_location_maps_copy(frz_arena *arena, const frz_location_map *maps, size_t count,
                                const frz_location_map **out, frz_error *err);
/* Absolute -> as recorded: relative if below the table's location. A view into absolute. */
frz_str frz_table_relativize(const frz_table *table, frz_str absolute);
/* "LOCATION/metadata/NAME" or "LOCATION/data/NAME" by write.metadata.path, write.data.path. */
frz_code frz_table_new_metadata_path(const frz_table *table, const char *name, char **out,
                                     frz_error *err);
frz_code frz_table_new_data_path(const frz_table *table, const char *name, char **out,
                                 frz_error *err);

/* ---- writing (meta_json_write.c) ---- */

typedef struct frz_new_table {
    frz_str location; /* absolute */
    const frz_schema *schema;
    int32_t last_column_id;
    const frz_property_kv *properties;
    size_t property_count;
} frz_new_table;

/* The metadata of a new v4 table without snapshots, unpartitioned and unsorted; a json object. */
frz_code frz_metadata_json_new(const frz_env *env, const frz_new_table *table, json_t **out,
                               frz_error *err);

/* Snapshots that leave the table, by ascending id, and references, with all that is said of them.
 */
typedef struct frz_expired {
    const int64_t *snapshots;
    size_t snapshot_count;
    const frz_str *refs;
    size_t ref_count;
} frz_expired;

/* What a commit changes. Unset members (NULL, 0) leave things as they are. */
typedef struct frz_metadata_change {
    const frz_snapshot *snapshot; /* appended and made current; branch main follows */
    int64_t next_row_id;          /* with snapshot */
    const frz_schema *schema;     /* added and made current; its schema_id is given by callee */
    int32_t last_column_id;       /* with schema */
    const frz_property_kv *set_properties;
    size_t set_property_count;
    const frz_str *unset_keys; /* of properties; before others are set */
    size_t unset_key_count;
    bool unpartitioned_spec; /* have a spec without fields, not as the default */
    frz_expired expired;
} frz_metadata_change;

/* A changed copy of a document: snapshot-log, metadata-log (previous_location, capped by
 * write.metadata.previous-versions-max), last-updated-ms (never before the parent's + 1),
 * last-sequence-number. previous_location may be NULL for a new table. */
frz_code frz_metadata_json_change(const frz_env *env, const json_t *base,
                                  const char *previous_location, const frz_metadata_change *change,
                                  json_t **out, frz_error *err);
/* The table's document as one of a newer format version, with log and times of a new version of the
 * table. FRZ_E_ARGUMENT unless to is above the table's version (meta_json_upgrade.c). */
frz_code frz_metadata_json_upgrade(const frz_table *table, int32_t to,
                                   const char *previous_location, json_t **out, frz_error *err);
/* Write a new metadata file "NNNNN-UUID.metadata.json" next to its kin; location: free with
 * frz_free; bytes may be NULL. */
frz_code frz_metadata_write(const frz_table *table, const json_t *json, int64_t version,
                            bool durable, char **location, int64_t *bytes, frz_error *err);
/* NNNNN of a metadata location, or -1. */
int64_t frz_metadata_version_of(const char *location);

#endif
