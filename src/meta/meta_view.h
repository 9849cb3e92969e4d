/*
 * Views: what can be listed about a table, as streams of Arrow rows. Names and types of columns are
 * a promise (docs/formats/views.md).
 */
#ifndef FRZ_META_VIEW_H
#define FRZ_META_VIEW_H

#include "meta/meta_internal.h"
#include "meta/meta_tree.h"

typedef struct meta_view meta_view;

typedef struct meta_view_kind {
    /* Set the type of the rows. */
    frz_code (*open)(meta_view *v, frz_error *err);
    /* Add some rows, or none yet; FRZ_END: there are no more. */
    frz_code (*fill)(meta_view *v, frz_error *err);
    bool of_snapshot; /* lists what one snapshot has: the tree is open */
} meta_view_kind;

extern const meta_view_kind meta_view_describe, meta_view_schema, meta_view_properties,
    meta_view_snapshots, meta_view_history, meta_view_refs, meta_view_statistics,
    meta_view_manifests, meta_view_files, meta_view_delete_files, meta_view_entries,
    meta_view_partitions;

/* Walks the entries of a snapshot: those of the root, then manifest by manifest. */
typedef struct meta_view_walk {
    size_t next_manifest;
    bool root_done;
    frz_entry_reader *reader;          /* of the manifest before next_manifest; NULL: none */
    const frz_manifest_file *manifest; /* of the entries at hand; NULL: the root */
    frz_arena arena;                   /* of the entries at hand */
} meta_view_walk;

/* A view in the making: rows go into the builder in the order of its columns. */
struct meta_view {
    const meta_view_kind *kind;
    frz_table *table; /* owned reference */
    int64_t snapshot_id;
    frz_arena arena; /* types, and what lasts as long as the view */
    const frz_type *type;
    frz_builder *rows;
    size_t next;                  /* column of the row in the making */
    bool filled;                  /* for views that are filled at once */
    const frz_snapshot *snapshot; /* NULL: the table has none */
    const frz_schema *schema;     /* that a read of the snapshot uses */
    frz_tree *tree;               /* NULL: no snapshot */
    meta_view_walk walk;
};

/* ---- types (meta_view.c) ---- */

typedef struct meta_view_column {
    const char *name;
    frz_type_id type; /* nested: it is given beside */
    bool required;
    const frz_type *nested;
} meta_view_column;

frz_code meta_view_set_columns(meta_view *v, const meta_view_column *columns, size_t count,
                               frz_error *err);
frz_code meta_view_struct(meta_view *v, const meta_view_column *columns, size_t count,
                          const frz_type **out, frz_error *err);
frz_code meta_view_list_of(meta_view *v, const frz_type *element, bool required,
                           const frz_type **out, frz_error *err);
frz_code meta_view_text_map(meta_view *v, const frz_type **out, frz_error *err);

/* ---- cells, in the order of the columns (meta_view.c) ---- */

frz_builder *meta_view_next(meta_view *v);
frz_code meta_view_put_str(meta_view *v, frz_str text, frz_error *err); /* ptr NULL: null */
frz_code meta_view_put_text(meta_view *v, const char *text, frz_error *err);
frz_code meta_view_put_i64(meta_view *v, int64_t value, frz_error *err); /* FRZ_NO_VALUE: null */
frz_code meta_view_put_i32(meta_view *v, int32_t value, frz_error *err); /* negative: null */
frz_code meta_view_put_bool(meta_view *v, bool value, frz_error *err);
frz_code meta_view_put_ms(meta_view *v, int64_t ms, frz_error *err); /* as timestamptz */
frz_code meta_view_put_location(meta_view *v, frz_str recorded, frz_error *err); /* absolute */
frz_code meta_view_put_ids(meta_view *v, const int32_t *ids, size_t count,
                           frz_error *err); /* a list; null if there are none */
frz_code meta_view_end_row(meta_view *v, frz_error *err);

/* ---- entries (meta_view_walk.c) ---- */

/* The next entries, live ones only unless all; maybe none. FRZ_END behind the last manifest. They
 * last until the next call. */
frz_code meta_view_walk_next(meta_view *v, bool all, const frz_entry **out, size_t *count,
                             frz_error *err);
void meta_view_walk_reset(meta_view_walk *walk);
/* True if the entry is not live although its status is: its manifest's bitmap has its position. */
bool meta_view_is_masked(const meta_view *v, const frz_entry *entry);

/* ---- partitions (meta_view_partition.c) ---- */

frz_code meta_view_put_partition(meta_view *v, const frz_entry *entry, frz_error *err);

#endif
