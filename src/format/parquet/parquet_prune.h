/*
 * Pruning: row ranges of a file outside of which a filter is not true, proven by what the file says
 * of itself.
 */
#ifndef FRZ_PARQUET_PRUNE_H
#define FRZ_PARQUET_PRUNE_H

#include "expr/expr.h"
#include "format/parquet/parquet_internal.h"

struct parquet_scratches;

/* frz_format_model.prune */
frz_code parquet_file_prune(const frz_data_file *file, const frz_type *file_type,
                            const frz_prune_request *request, frz_arena *arena, frz_row_range **out,
                            size_t *count, frz_prune_report *report, frz_error *err);

/* ---- the values of a chunk, where its dictionary has them all (parquet_members.c) ---- */

typedef struct parquet_members {
    const frz_value *values; /* ascending, without NaN */
    size_t count;
} parquet_members;

/* False: data pages may hold other values. */
bool parquet_members_possible(const parquet_chunk *chunk);
/* Read the dictionary of a chunk as values of a type. *known is false if data pages may hold other
 * values, or the dictionary is large or damaged (which is logged). */
frz_code parquet_members_load(const parquet_file *file, const parquet_chunk *chunk, size_t column,
                              size_t group, const frz_type *type,
                              struct parquet_scratches *scratches, frz_arena *arena,
                              parquet_members *out, bool *known, frz_error *err);
/* Is a value in the interval? */
bool parquet_members_hold(const parquet_members *members, const frz_interval *interval);

#endif
