/*
 * changes: what a snapshot changed against its parent, file by file and row by row.
 * spec: change detection; reading changes out of a leaf
 */
#ifndef FRZ_CHANGES_INTERNAL_H
#define FRZ_CHANGES_INTERNAL_H

#include "frazil/changes.h"
#include "meta/meta_mumbling.h"
#include "scan/scan_deletes.h"
#include "scan/scan_locations.h"
#include "scan/scan_plan.h"
#include "scan/scan_stitch.h"

/* Reserved columns of changelogs, as other implementations of Iceberg number them. */
#define CHANGE_ID_TYPE 2147483543        /* _change_type */
#define CHANGE_ID_ORDINAL 2147483542     /* _change_ordinal */
#define CHANGE_ID_SNAPSHOT_ID 2147483541 /* _commit_snapshot_id */

static inline int change_compare_places(const frz_place *a, const frz_place *b)
{
    int order = frz_str_compare(a->scheme, b->scheme);
    return order != 0 ? order : frz_str_compare(a->rest, b->rest);
}

/* ---- sets in the making (changes_gather.c) ---- */

/* Positions, or row ids, on their way into a set. Zero bytes and an environment are an empty one.
 */
typedef struct change_gatherer {
    const frz_env *env;
    int64_t *numbers; /* CHANGE_GATHERED_MAX; NULL: none yet */
    size_t count;
    frz_positions *set; /* of those before; NULL: none */
} change_gatherer;

/* None negative, in any order. */
frz_code change_gather(change_gatherer *gatherer, int64_t number, frz_error *err);
/* The set, NULL if it is empty; the gatherer is empty then. */
frz_code change_gather_finish(change_gatherer *gatherer, frz_positions **out, frz_error *err);
void change_gatherer_reset(change_gatherer *gatherer);

/* ---- which snapshots (changes_chain.c) ---- */

typedef struct change_chain {
    const frz_schema *schema;             /* that all of them are read with */
    const frz_snapshot *const *snapshots; /* oldest first */
    size_t count;
} change_chain;

frz_code change_chain_of(const frz_table *table, const frz_changes_options *opts, frz_arena *arena,
                         change_chain *out, frz_error *err);

/* ---- what one snapshot changed ---- */

/* One side of a change: an entry of a data file, as a manifest of the snapshot has it. */
typedef struct change_half {
    frz_str location; /* absolute */
    frz_place place;
    frz_status status; /* ADDED, DELETED, REPLACED, MODIFIED */
    bool is_hint;      /* REPLACED, but maybe by an earlier snapshot */
    const frz_entry *entry;
} change_half;

/* A data file that changed; or a delete file of versions 1 to 3 (one of both sides). */
typedef struct change_file {
    frz_str location;     /* absolute */
    const frz_entry *old; /* in the parent; NULL: it is new */
    const frz_entry *new; /* in the snapshot; NULL: it is gone */
} change_file;

/* Of the newer side that there is. */
static inline const frz_entry *change_file_entry(const change_file *file)
{
    return file->new != NULL ? file->new : file->old;
}

/* A snapshot and the delete files that were in force in it. */
typedef struct change_side {
    const frz_snapshot *snapshot; /* NULL: there is none */
    frz_tree *tree;               /* NULL: not open */
    frz_delete_index *deletes;    /* NULL: there are no delete files */
    bool is_open;                 /* deletes is settled */
} change_side;

typedef struct change_set {
    const frz_env *env;
    const frz_table *table;
    const frz_schema *schema;
    frz_arena arena; /* entries and locations */
    change_side after, before;
    bool parent_expired; /* there is one, but the metadata no longer has it */
    change_half *halves;
    size_t half_count, half_capacity;
    change_file *files; /* by location */
    size_t file_count, file_capacity;
    change_file *delete_files; /* of versions 1 to 3 */
    size_t delete_file_count, delete_file_capacity;
} change_set;

/* Find the changes of a snapshot. Broken rules are FRZ_E_CORRUPT (changes_collect.c). */
frz_code change_set_open(const frz_table *table, const frz_schema *schema,
                         const frz_snapshot *snapshot, change_set **out, frz_error *err);
void change_set_free(change_set *set); /* NULL is fine */

/* Open the manifests of a side, if there is a snapshot. */
frz_code change_open_tree(change_set *set, change_side *side, frz_error *err);
/* Something is only known to a parent that has expired: FRZ_E_NOT_FOUND, with a hint at what is
 * known without it. */
frz_code change_fail_expired(const change_set *set, const char *unknown, frz_error *err);
/* Two recorded locations, compared as they are resolved (changes_compare.c). */
frz_code change_same_location(change_set *set, frz_str a, frz_str b, bool *same, frz_error *err);

/* False only if no row can have left a file or arrived in one: nothing but updates in place. */
frz_code change_set_moves_rows(change_set *set, bool *moves, frz_error *err);

/* Files out of the halves (changes_pair.c). */
frz_code change_set_pair(change_set *set, frz_error *err);

/* Deletion vectors of versions 1 to 3 that came or went for one data file, which itself stayed
 * (changes_vectors.c). */
typedef struct change_vector {
    frz_str location; /* of the data file, absolute */
    frz_place place;
    int64_t old_rows, new_rows; /* that they delete */
} change_vector;

frz_code change_list_vectors(change_set *set, const change_vector **out, size_t *count,
                             frz_error *err);

/* ---- how a file changed (changes_compare.c) ---- */

/* Fields whose provider is another one, ascending, _last_updated_sequence_number among them. */
frz_code change_moved_fields(change_set *set, const change_file *file, const int32_t **ids,
                             size_t *count, frz_error *err);

/* Rows that are deleted in a file, by whatever means; NULL: none. Free it. */
frz_code change_deleted_rows(change_set *set, change_side *side, const frz_entry *entry,
                             frz_positions **out, frz_error *err);
/* Rows deleted in a file that is on both sides. */
typedef struct change_deletes {
    bool compared;            /* else nothing was read: they are the same, whatever they are */
    frz_positions *old, *new; /* NULL: none */
    bool grew;                /* some of the new ones are not among the old ones */
} change_deletes;

/* True if both sides have one vector or none, and no delete file can count for one of them alone.
 */
frz_code change_is_untouched(change_set *set, const change_file *file, bool *untouched,
                             frz_error *err);
frz_code change_compare_deletes(change_set *set, const change_file *file, change_deletes *out,
                                frz_error *err);
void change_deletes_reset(change_deletes *deletes);
/* Rows that the new ones delete beyond the old ones: how many, and which (NULL: none). For the
 * number files of a parent that has expired are not read. */
frz_code change_count_deletes(change_set *set, const change_file *file, int64_t *rows,
                              frz_error *err);
frz_code change_deletes_beyond(const frz_env *env, const change_deletes *deletes,
                               frz_positions **out, frz_error *err);

/* ---- row by row ---- */

/* Rows before the snapshot are in files of its parent. If that has expired, those may have gone
 * with it that the snapshot itself does not reach: FRZ_E_NOT_FOUND if there are such files
 * (changes_compare.c). */
frz_code change_check_before(change_set *set, frz_error *err);

/* Add files of versions 1 to 3 in which delete files of the snapshot can delete rows: the same
 * entry on both sides (changes_touched.c). */
frz_code change_add_touched(change_set *set, frz_error *err);

/* Row ids of rows that left one file and arrived in another in one snapshot (changes_match.c). All
 * are older than the snapshot; NULL: none. */
typedef struct change_matches {
    frz_positions *arrived; /* in new files */
    frz_positions *updated; /* of these, with a new number */
    frz_positions *left;    /* of those that arrived, what also left some file */
} change_matches;

frz_code change_match_rows(change_set *set, change_matches *out, frz_error *err);
void change_matches_reset(change_matches *matches);

/* What a row of a file means. */
typedef enum change_role {
    CHANGE_LEAVES,  /* is gone from the file: DELETE, or it arrived elsewhere */
    CHANGE_ARRIVES, /* is new in the file: INSERT, or it left another one */
    CHANGE_BEFORE,  /* updated in place */
    CHANGE_AFTER
} change_role;

/* Some rows of an entry. */
typedef struct change_pass {
    change_role role;
    const frz_entry *entry;
    const frz_positions *deleted; /* rows that are not there; NULL: none */
    const frz_positions *wanted;  /* NULL: all others */
} change_pass;

/* The rows that a pass is to look at, as ranges; none may be left. */
frz_code change_pass_ranges(const change_pass *pass, frz_arena *arena, frz_row_range **out,
                            size_t *count, frz_error *err);
/* Open a reader of them; *out stays NULL if there are none. */
frz_code change_pass_open(const change_set *set, const change_pass *pass, const frz_type *type,
                          const frz_changes_options *opts, frz_arena *arena, frz_stitch **out,
                          frz_error *err);
/* A bit for each row of a batch that belongs to the pass. Eight bytes more than the bits are
 * touched. */
void change_pass_select(const change_pass *pass, const frz_batch *batch, uint8_t *bits);

/* Rows of a file that was updated in place: those whose number is the snapshot's. */
frz_code change_updated_rows(change_set *set, const frz_entry *entry, const frz_positions *deleted,
                             frz_positions **out, frz_error *err);

#endif
