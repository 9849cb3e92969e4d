/*
 * scan: which data files of a snapshot can hold rows that a filter lets through, and which columns
 * can be read of a table.
 */
#ifndef FRZ_SCAN_PLAN_H
#define FRZ_SCAN_PLAN_H

#include "expr/expr.h"
#include "meta/meta_manifest.h"

/* False only if the entry's statistics prove that no row can match. filter may be NULL. */
bool frz_entry_may_match(const frz_entry *entry, const frz_bound_expr *filter);

/* The schema's fields and, behind them, the lineage columns (unless the schema has their names):
 * what expressions and column lists may name. */
frz_code frz_readable_type(frz_arena *arena, const frz_schema *schema, const frz_type **out,
                           frz_error *err);

/* The schema's fields and, behind them, the lineage columns in any case: what ids may stand for. */
frz_code frz_projectable_type(frz_arena *arena, const frz_schema *schema, const frz_type **out,
                              frz_error *err);

/* A struct of the top-level fields of a type with these ids, in the order given. */
frz_code frz_project_ids(frz_arena *arena, const frz_type *struct_type, const int32_t *ids,
                         size_t count, const frz_type **out, frz_error *err);

#endif
