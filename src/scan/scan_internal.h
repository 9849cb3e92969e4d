/*
 * What the files of scan share among themselves.
 */
#ifndef FRZ_SCAN_INTERNAL_H
#define FRZ_SCAN_INTERNAL_H

#include "expr/expr.h"
#include "frazil/scan.h"
#include "scan/scan_deletes.h"
#include "scan/scan_partition.h"
#include "scan/scan_plan.h"
#include "scan/scan_row_columns.h"
#include "scan/scan_stitch.h"
#include "scan/scan_task.h"

/* ---- what is read (scan_columns.c) ---- */

typedef struct scan_columns {
    const frz_type *stored_type; /* what is read of files for output and filter */
    const frz_type *read_type;   /* the same and, behind it, columns about rows */
    const frz_type *output_type;
    const size_t *output_index; /* of output column i in read_type */
    bool repeats;               /* a column is there twice in the output */
    bool shows_deleted;         /* _deleted is read: deleted rows are not taken out */
    frz_bound_expr *filter;     /* owned; NULL: none */
} scan_columns;

/* Types live in the arena. Reset also after a failure. */
frz_code scan_columns_init(scan_columns *columns, frz_arena *arena, const frz_table *table,
                           const frz_schema *schema, const scan_request *request, frz_error *err);
void scan_columns_reset(scan_columns *columns);

/* Bytes of a row in memory, about. */
size_t scan_row_bytes(const frz_type *type);

/* ---- a scan ---- */

struct frz_scan {
    const frz_env *env;
    frz_table *table; /* owned reference */
    frz_arena arena;
    frz_file_plan *plan;          /* NULL: the files are the task's, or the table has no snapshot */
    frz_task *task;               /* owned reference; NULL: none */
    size_t next_part;             /* of the task */
    frz_entry_filter *settled_by; /* of a task */
    frz_delete_index *deletes;    /* NULL: there are no delete files */
    scan_columns columns;
    int64_t left; /* rows to go; negative: all */
    int64_t batch_rows, batch_bytes;
    frz_scan_report report;
    /* the file at hand */
    frz_planned_file file;
    frz_file_deletes *file_deletes; /* NULL: none */
    frz_arena file_arena;
    const frz_type *file_type; /* of its batches: stored_type and keys of deletes */
    frz_thinning thinning;     /* by what deletes its rows */
    frz_stitch *stitch;        /* NULL: there is none */
};

/* ---- scan_open.c ---- */

/* The delete files of a plan's snapshot, if there are any; the plan decodes the statistics that
 * tell which apply. */
frz_code scan_open_deletes(const frz_table *table, frz_file_plan *plan,
                           const frz_delete_options *options, frz_arena *arena,
                           frz_delete_index **out, frz_error *err);

/* Add what a reader did. */
void scan_add_counts(const frz_stitch *stitch, frz_scan_report *report);

/* ---- scan_read.c ---- */

/* The rows of one batch that are wanted; out stays empty if there are none. Columns move out of the
 * batch. */
frz_code scan_take_batch(frz_scan *scan, frz_batch *batch, struct ArrowArray *out, frz_error *err);

/* ---- the stitching reader, taken apart ---- */

/* A file that provides columns, and the batch that it stands in. */
typedef struct stitch_part {
    frz_data_file *file;
    frz_data_reader *reader;
    const frz_column_file *column_file; /* NULL: the base file */
    const frz_type *projection;
    size_t row_bytes; /* of it, about */
    bool over_groups; /* its batches end where those of the largest part do */
    frz_batch batch;
    int64_t used; /* rows of the batch handed out */
} stitch_part;

/* Where a field comes from. */
typedef enum stitch_place {
    STITCH_CONSTANT, /* no file stores it: one value in all rows */
    STITCH_STORED,   /* one part stores all of it */
    STITCH_SPREAD    /* a struct whose members come from several places */
} stitch_place;

typedef struct stitch_source {
    const frz_field *field; /* of the schema that is read */
    stitch_place place;
    size_t part;   /* STORED, and of SPREAD the one that knows where the struct is null */
    size_t *index; /* by part, in its projection of what is around; STITCH_ABSENT: not there */
    const frz_value *value;        /* CONSTANT: NULL: null */
    bool from_tuple;               /* CONSTANT: the value is that of the partition */
    struct stitch_source *members; /* SPREAD: of each field of the struct */
} stitch_source;

#define STITCH_ABSENT SIZE_MAX

struct frz_stitch {
    const frz_env *env;
    const frz_table *table;
    const frz_entry *entry;
    frz_arena arena;
    const frz_type *projection;
    frz_row_range *ranges;
    size_t range_count;
    size_t range; /* that is read */
    int64_t next_row;
    int64_t rows_left; /* of all ranges */
    int64_t max_rows, max_bytes;
    const frz_positions *deleted; /* rows in which required columns may be null; NULL: none */
    const frz_thinning *thinning;
    stitch_part *parts;
    size_t part_count;
    size_t part_limit;      /* parts there can be */
    stitch_source *columns; /* of each field of the projection */
    frz_stitch_counts counts;
};

static inline frz_str stitch_location(const frz_stitch *stitch)
{
    return stitch->entry->location;
}

static inline bool stitch_is_lineage(int32_t id)
{
    return id == FRZ_ID_ROW_ID || id == FRZ_ID_LAST_UPDATED;
}

/* ---- who provides a field (scan_stitch_provider.c) ---- */

/* The part for a provider, opened on first use; NULL: the base file. */
frz_code stitch_part_for(frz_stitch *stitch, const frz_column_file *provider, size_t *index,
                         frz_error *err);
/* Where output column i comes from. */
frz_code stitch_choose_column(frz_stitch *stitch, size_t i, frz_error *err);
/* Does a part provide something of the field? */
bool stitch_source_uses(const stitch_source *source, size_t part);

/* ---- columns of a window (scan_stitch_struct.c) ---- */

/* Some rows of an array: first is counted without the array's own offset. */
typedef struct stitch_view {
    struct ArrowArray *array; /* NULL: the part has nothing of it */
    int64_t first;
} stitch_view;

/* The rows of a field out of the views, by part, of what is around it. An array all of whose rows
 * these are moves; each is the source of one field. */
frz_code stitch_make_field(const frz_stitch *stitch, const stitch_source *source,
                           const stitch_view *around, int64_t rows, struct ArrowArray *out,
                           frz_error *err);

/* ---- nulls in required fields (scan_stitch_required.c) ---- */

/* Refuses a null in a row that is not deleted. */
frz_code stitch_check_required(const frz_stitch *stitch, const stitch_source *source,
                               const struct ArrowArray *column, int64_t first_row, frz_error *err);

#endif
