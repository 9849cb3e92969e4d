/*
 * meta: what the files of this module share among themselves.
 */
#ifndef FRZ_META_INTERNAL_H
#define FRZ_META_INTERNAL_H

#include "meta/meta_json.h"
#include "meta/meta_manifest.h"

/* Metadata documents beyond this are refused, packed or not. */
#define META_JSON_MAX ((size_t)1 << 30)

/* ---- members of JSON objects, beside those of meta_json.h (meta_json_member.c) ---- */

/* An object of strings as pairs; none if absent. */
frz_code meta_json_pairs(const json_t *object, const char *prefix, const char *key,
                         frz_arena *arena, const frz_property_kv **out, size_t *count,
                         frz_error *err);

/* An error if two of so many items have one id. */
frz_code meta_check_unique(const frz_env *env, const void *items, size_t count,
                           int64_t (*id_of)(const void *items, size_t i), const char *list,
                           frz_error *err);

/* ---- putting members into objects (meta_json_put.c): false or NULL: no memory ---- */

bool meta_json_put(json_t *object, const char *key, json_t *value); /* takes value, may be NULL */
bool meta_json_put_i64(json_t *object, const char *key, int64_t value);
bool meta_json_put_str(json_t *object, const char *key, frz_str value);
/* The member as a list or object of its own, so that it can be changed; made if it is not there. */
json_t *meta_json_own(json_t *object, const char *key, json_type type);
/* The same of an element that is a list or object; the list is its holder's own. */
json_t *meta_json_own_element(json_t *list, size_t index);
frz_code meta_json_no_memory(frz_error *err);

/* ---- parts of a document, each on top of those before it ---- */

frz_code meta_read_schemas(frz_table *table, frz_error *err);     /* meta_json_schema.c */
frz_code meta_read_specs(frz_table *table, frz_error *err);       /* meta_json_spec.c */
frz_code meta_read_sort_orders(frz_table *table, frz_error *err); /* meta_json_spec.c */
frz_code meta_read_snapshots(frz_table *table, frz_error *err);   /* meta_json_snapshot.c */
/* References and logs (meta_json_ref.c). */
frz_code meta_read_refs(frz_table *table, frz_error *err);
frz_code meta_read_logs(frz_table *table, frz_error *err);

/* Where a location is by the map with the longest prefix, or itself; free with frz_free
 * (meta_path.c). */
frz_code meta_map_location(const frz_env *env, const frz_location_map *maps, size_t count,
                           const char *location, char **out, frz_error *err);

/* frz_metadata_json_change for a document of any version. */
frz_code meta_json_change(const frz_env *env, const json_t *base, const char *previous_location,
                          const frz_metadata_change *change, json_t **out, frz_error *err);
/* Take expired snapshots and references out of a document (meta_json_expire.c). */
frz_code meta_json_expire(json_t *document, const frz_expired *expired, frz_error *err);

/* A location that a file of an older version records, in a table of version 4: without a scheme it
 * would be taken for relative there, so it becomes absolute (meta_path.c). */
frz_code meta_settle_legacy(const frz_table *table, frz_arena *arena, frz_str *location,
                            frz_error *err);
/* FOLDER/NAME; free with frz_free. */
frz_code meta_join_location(const frz_env *env, frz_str folder, frz_str name, char **out,
                            frz_error *err);
/* The newest metadata file of a table's folder, or of its folder "metadata"; free with frz_free
 * (meta_folder.c). */
frz_code meta_find_newest(const frz_env *env, const char *location, const frz_location_map *maps,
                          size_t map_count, char **out, frz_error *err);
/* Unpack a gzip or zstd metadata file in place; other bytes stay as they are (meta_packed.c). */
frz_code meta_unpack(const frz_env *env, frz_buf *bytes, frz_error *err);

/* ---- memory of what is read as a whole ---- */

/* Bytes that the entries of a manifest or list may take: statistics of a field take more than the
 * bytes of the file that they come from, but not without end. */
static inline size_t meta_memory_limit(uint64_t file_size)
{
    const size_t per_byte = 1024, least = (size_t)64 << 20;
    return file_size > SIZE_MAX / per_byte / 2 ? FRZ_ARENA_NO_LIMIT
                                               : least + (size_t)file_size * per_byte;
}

/* ---- types from tables (meta_type_table.c) ---- */

/* A field of a structure of the specification. */
typedef struct meta_field_row {
    const char *name;
    int32_t id;
    frz_type_id type;
    bool required;
} meta_field_row;

/* type NULL: the row's own. */
frz_field meta_field_of(const meta_field_row *row, const frz_type *type);
/* list<element: required type> */
frz_code meta_list_type(frz_arena *arena, int32_t element_id, const frz_type *element,
                        const frz_type **out, frz_error *err);
/* map<key: int, value: required type>, with the ids that follow each other from key_id on */
frz_code meta_map_type(frz_arena *arena, int32_t key_id, const frz_type *value,
                       const frz_type **out, frz_error *err);

/* ---- the row type of manifests (meta_manifest_type.c) ---- */

/* Columns of tracked_file and members of its structs, in the order in which they are written. */
typedef enum meta_column {
    META_TRACKING,
    META_CONTENT_TYPE,
    META_LOCATION,
    META_FILE_FORMAT,
    META_RECORD_COUNT,
    META_FILE_SIZE,
    META_SPEC_ID,
    META_PARTITION,
    META_SORT_ORDER_ID,
    META_CONTENT_STATS,
    META_DELETION_VECTOR,
    META_MANIFEST_INFO,
    META_KEY_METADATA,
    META_SPLIT_OFFSETS,
    META_COLUMN_FILES,
    META_COLUMN_COUNT
} meta_column;

/* Sets of columns: bit c is column c. */
#define META_COLUMNS_ALL ((1u << META_COLUMN_COUNT) - 1)

enum { /* tracking */
       META_STATUS,
       META_SNAPSHOT_ID,
       META_MODIFIED_SNAPSHOT_ID,
       META_SEQUENCE_NUMBER,
       META_FILE_SEQUENCE_NUMBER,
       META_FIRST_ROW_ID,
       META_DELETED_POSITIONS,
       META_REPLACED_POSITIONS,
       META_TRACKING_COUNT
};

enum { /* deletion_vector */
       META_DV_LOCATION,
       META_DV_OFFSET,
       META_DV_SIZE,
       META_DV_CARDINALITY,
       META_DV_KEY_METADATA,
       META_DV_COUNT
};

/* The statuses in the order of manifest_info, ADDED first. */
#define META_STATUS_COUNT 5
extern const frz_status meta_info_order[META_STATUS_COUNT];

enum { /* manifest_info: files and rows counts of the five statuses stand in the same order */
       META_INFO_FILES,
       META_INFO_ROWS = 5,
       META_INFO_MIN_SEQUENCE = 10,
       META_INFO_DV,
       META_INFO_FORMAT_VERSION,
       META_INFO_COUNT
};

enum { /* column_file */
       META_CF_LOCATION,
       META_CF_FIELD_IDS,
       META_CF_FILE_FORMAT,
       META_CF_FILE_SIZE,
       META_CF_KEY_METADATA,
       META_CF_COUNT
};

/* Statistics of one field as a manifest's content_stats holds them. */
typedef struct meta_stats_shape {
    int32_t field_id;     /* of the table */
    frz_str name;         /* of the struct; informative */
    const frz_type *type; /* of the bounds */
    unsigned metrics;     /* bit k: metric k is stored */
} meta_stats_shape;

/* The place of a metric among those that a shape stores, or -1. */
static inline int meta_stats_place(unsigned metrics, int metric)
{
    return (metrics >> metric & 1) == 0 ? -1 : __builtin_popcount(metrics & ((1u << metric) - 1));
}

/* The id of the struct in content_stats, or -1 if the field has no place there. */
int32_t meta_stats_base(int32_t field_id);
/* The field whose statistics have this id, or -1. */
int32_t meta_stats_field(int32_t base);

typedef struct meta_manifest_row {
    const frz_type *type;      /* STRUCT */
    int at[META_COLUMN_COUNT]; /* place of each column in it, or -1 */
} meta_manifest_row;

/* The tracked_file struct with content_stats of these shapes, left out if there are none, and
 * partition tuples of this type; NULL: none. */
frz_code meta_manifest_row_to_write(frz_arena *arena, const meta_stats_shape *shapes, size_t count,
                                    const frz_type *partition, meta_manifest_row *out,
                                    frz_error *err);
/* The same as asked of a file: only those columns of a set that the file has, everything optional,
 * counts of files as long. partition: type of the tuple, NULL: none. */
frz_code meta_manifest_row_to_read(frz_arena *arena, const meta_stats_shape *shapes, size_t count,
                                   const frz_type *partition, const frz_type *file_type,
                                   unsigned columns, meta_manifest_row *out, frz_error *err);

/* The statistics of a field, or NULL. Lists mostly have the same order, so the search goes on from
 * the last hit: *cursor starts at 0 and belongs to one list. */
const frz_field_stats *meta_find_stats(const frz_field_stats *stats, size_t count, int32_t field_id,
                                       size_t *cursor);

/* ---- checks of entries (meta_manifest_check.c) ---- */

typedef struct meta_entry_rules {
    const frz_metadata *metadata;
    const int32_t *repeated_ids; /* fields inside lists and maps of the schema read, ascending */
    size_t repeated_count;
} meta_entry_rules;

frz_code meta_entry_rules_of(const frz_metadata *metadata, const frz_schema *schema,
                             frz_arena *arena, meta_entry_rules *out, frz_error *err);
/* Column files: every rule about field ids, formats and locations. */
frz_code meta_check_column_files(const meta_entry_rules *rules, const frz_entry *entry,
                                 const frz_env *env, frz_error *err);
frz_code meta_check_format(frz_str format, frz_error *err);
/* Primitive types with an order. */
bool meta_type_has_bounds(const frz_type *type);
/* The type of a field's statistics, that of the schema; NULL: it has none. */
const frz_type *meta_stats_type_of(const meta_entry_rules *rules, const frz_schema *schema,
                                   int32_t field_id);
/* The type of partition tuples in manifests: the fields of all specs of the table, each once, by
 * ascending id; NULL: none has a type. spec: partition tuple (meta_partition_type.c) */
frz_code meta_partition_type(const frz_metadata *metadata, frz_arena *arena, const frz_type **out,
                             frz_error *err);
/* True if the partition spec of this id has fields. */
bool meta_spec_is_partitioned(const frz_metadata *metadata, int32_t spec_id);

#endif
