/*
 * What the files of scan_deletes share among themselves.
 */
#ifndef FRZ_SCAN_DELETES_INTERNAL_H
#define FRZ_SCAN_DELETES_INTERNAL_H

#include "format/puffin/puffin.h"
#include "scan/scan_deletes.h"
#include "scan/scan_key_set.h"

/* Positions of the rows of one data file, as one delete file has them. */
typedef struct delete_rows {
    frz_place place; /* of the data file */
    frz_positions *positions;
} delete_rows;

/* A position delete file that was read. */
typedef struct delete_table {
    frz_arena arena;   /* of the places */
    delete_rows *rows; /* by ascending place */
    size_t count;
    size_t bytes; /* about */
} delete_table;

/* One entry of a delete manifest. */
typedef struct delete_file {
    const frz_entry *entry;
    frz_str location;  /* absolute */
    frz_str partition; /* delete_partition_key of its spec and tuple */
    frz_place place;   /* of the only data file that it is for; rest.ptr NULL: of many */
    frz_str lower_path, upper_path; /* bounds of the paths as recorded; ptr NULL: none */
    delete_table *table;            /* of a position delete file that is kept; NULL: is not */
    uint64_t used;                  /* when last */
    bool listed;                    /* it was found to apply to some file before */
    bool in_set;                    /* of an equality delete file: its keys are in the group's */
} delete_file;

typedef struct delete_list {
    delete_file *files;
    size_t count, capacity;
} delete_list;

/* Equality delete files of one partition (or of all) that compare the same fields. */
typedef struct key_group {
    frz_str partition; /* empty: of all */
    const int32_t *ids;
    size_t id_count;
    delete_file *files; /* by falling sequence number */
    size_t file_count;
    const frz_type **types;   /* of the fields; NULL: not known yet */
    const frz_type **sources; /* structs that have the fields, at any depth */
    frz_key_set *set;
    uint64_t used;
} key_group;

struct frz_delete_index {
    const frz_env *env;
    const frz_table *table;
    frz_delete_options options;
    frz_arena arena;      /* of entries and what belongs to them */
    delete_list vectors;  /* by place of their data file */
    delete_list single;   /* position deletes for one data file, by its place */
    delete_list shared;   /* position deletes for many, by partition, falling sequence number */
    delete_list equality; /* by group */
    key_group *groups;    /* by partition, fields */
    size_t group_count, group_capacity;
    uint64_t clock;
    size_t position_bytes; /* of the tables that are kept */
    frz_file *puffin;      /* that was read last */
    frz_str puffin_location;
    int64_t files_read;
};

struct frz_file_deletes {
    const frz_env *env;
    uint64_t started;        /* the index's clock when it was asked */
    int64_t sequence_number; /* of the data file */
    const frz_positions *positions;
    frz_positions *own_positions; /* the same if they are not the index's */
    const key_group **groups;     /* whose keys delete rows */
    size_t group_count, group_capacity;
};

/* ---- scan_deletes.c ---- */

/* Append what tells apart the partitions that deletes are limited to: nothing if the spec has no
 * fields that partition. Equal values of types that promote into each other are the same. */
frz_code delete_partition_key(const frz_metadata *metadata, int32_t spec_id,
                              const frz_partition_value *values, size_t count, frz_buf *out,
                              frz_error *err);
int delete_compare_places(const frz_place *a, const frz_place *b);
/* A delete file as the table's locations are opened; ids NULL: those of the table's mapping. */
frz_code delete_open_file(frz_delete_index *index, const delete_file *file,
                          const frz_name_mapping *mapping, frz_data_file **out, frz_error *err);

/* ---- scan_deletes_position.c ---- */

/* The positions of a data file that a position delete file has; NULL: none. They belong to the
 * index. */
frz_code delete_positions_of(frz_delete_index *index, delete_file *file, const frz_place *place,
                             const frz_positions **out, frz_error *err);
/* Give back memory of tables that were not used for longest, down to the limit. */
void delete_trim_tables(frz_delete_index *index);
void delete_table_free(const frz_env *env, delete_table *table); /* NULL is fine */

/* ---- scan_deletes_equality.c ---- */

/* Make groups of the equality delete files. */
frz_code delete_make_groups(frz_delete_index *index, frz_error *err);
/* Add the group to those of a data file if it can delete rows of it, with its keys read. */
frz_code delete_use_group(frz_delete_index *index, key_group *group, const frz_entry *entry,
                          frz_file_deletes *deletes, frz_error *err);
/* False only if the statistics of both prove that no row is deleted. */
bool delete_keys_may_match(const delete_file *file, const frz_entry *entry);
/* Read the keys of a file into the group's set. full is called after each batch; NULL: nothing. */
frz_code delete_read_keys(frz_delete_index *index, key_group *group, const delete_file *file,
                          frz_code (*full)(void *ctx, frz_error *err), void *ctx, frz_error *err);
/* The columns of the group's fields in a batch; free with the other. */
frz_code delete_key_columns(const frz_env *env, const key_group *group, const frz_type *type,
                            const struct ArrowArray *batch, frz_key_column **out, frz_error *err);
void delete_key_columns_free(const frz_env *env, const key_group *group, frz_key_column *columns);

/* ---- scan_deletes_portion.c ---- */

/* Find the rows of a data file that a group deletes with no more than the limit of keys at once,
 * and add their positions. */
frz_code delete_in_portions(frz_delete_index *index, const key_group *group, const frz_entry *entry,
                            frz_file_deletes *deletes, frz_error *err);

/* ---- scan_deletes_match.c ---- */

/* A data file, as deletes look for it. */
typedef struct delete_sought {
    const frz_entry *entry;
    frz_str location; /* absolute */
    frz_place place;
    frz_str partition;
} delete_sought;

/* Called for what applies to a data file; of a group perhaps nothing does. */
typedef struct delete_visitor {
    frz_code (*vector)(void *ctx, const delete_sought *data, delete_file *file, frz_error *err);
    frz_code (*positions)(void *ctx, const delete_sought *data, delete_file *file, frz_error *err);
    frz_code (*group)(void *ctx, const delete_sought *data, key_group *group, frz_error *err);
    void *ctx;
} delete_visitor;

frz_code delete_visit(frz_delete_index *index, const frz_entry *entry,
                      const delete_visitor *visitor, frz_error *err);

/* ---- scan_deletes_file.c ---- */

/* Add positions to those of a data file; they move, also on failure. */
frz_code delete_add_positions(frz_file_deletes *deletes, frz_positions *more, frz_error *err);

/* ---- scan_deletes_type.c ---- */

/* The field of an id in the newest schema, from the one that is read on, that has it; NULL: none
 * has. source receives the schema's struct. */
const frz_field *delete_find_field(const frz_delete_index *index, int32_t field_id,
                                   const frz_type **source);
/* A struct with all of base and, if it has no such field, the field of source with this id, inside
 * of the structs that hold it there. leaf: its type; NULL: as in source. */
frz_code delete_add_field(frz_arena *arena, const frz_type *base, const frz_type *source,
                          int32_t field_id, const frz_type *leaf, const frz_type **out,
                          frz_error *err);

#endif
