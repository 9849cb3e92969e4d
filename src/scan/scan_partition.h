/*
 * scan: what a filter can be for the rows of a data file, or of all data files of a manifest, told
 * by their partitions together with their statistics. spec: Scan Planning
 */
#ifndef FRZ_SCAN_PARTITION_H
#define FRZ_SCAN_PARTITION_H

#include "expr/expr.h"
#include "meta/meta_tree.h"

/* A filter with what the partition specs of a table say of its fields. Immutable; may serve several
 * threads at once. */
typedef struct frz_entry_filter frz_entry_filter;

/* The filter is bound to the schema (or to its readable type); NULL: every row matches. All three
 * must outlive the result. */
frz_code frz_entry_filter_new(const frz_env *env, const frz_metadata *metadata,
                              const frz_schema *schema, const frz_bound_expr *filter,
                              frz_entry_filter **out, frz_error *err);
void frz_entry_filter_free(frz_entry_filter *filter); /* NULL is fine */
/* False only if no row of the data file matches. */
bool frz_entry_filter_may_match(const frz_entry_filter *filter, const frz_entry *entry);
/* True only if all its rows match, deleted ones too. */
bool frz_entry_filter_must_match(const frz_entry_filter *filter, const frz_entry *entry);
/* The same by its partition alone, which holds whatever its writer made of statistics: then the
 * filter need not be evaluated. spec: strict projection, residual predicates */
bool frz_entry_filter_is_settled(const frz_entry_filter *filter, const frz_entry *entry);
/* False only if no row of any file of the manifest matches, by its partition summaries and
 * statistics. */
bool frz_entry_filter_may_match_manifest(const frz_entry_filter *filter,
                                         const frz_manifest_file *manifest);

#endif
