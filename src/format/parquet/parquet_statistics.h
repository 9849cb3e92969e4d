/*
 * Statistics of column chunks of files that others may have written: what of them can be relied
 * on, and what it says in Iceberg's terms.
 */
#ifndef FRZ_PARQUET_STATISTICS_H
#define FRZ_PARQUET_STATISTICS_H

#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_internal.h"
#include "type/type_stats.h"

/* What of a chunk's statistics is reliable, as min_value and max_value in the order of the type:
 * bounds of an undefined order, NaN and bytes of a wrong length are gone, zeros are the outer
 * ones, counts are possible. The old pair (min, max) is never set. Views of the file's arena or
 * constants. chunk: of the column, in some row group. */
void parquet_statistics_check(const parquet_file *file, size_t column, const parquet_chunk *chunk,
                              parquet_statistics *out);
/* The same as metrics of a field that the column is read as. */
void parquet_statistics_metrics(const parquet_file *file, size_t column, size_t group,
                                const parquet_chunk *chunk, const frz_field *field,
                                frz_field_stats *out);
/* The same of one page of rows rows, of a column that is not repeated. Bounds are views of the
 * index or constants. */
void parquet_statistics_page(const parquet_file *file, size_t column,
                             const parquet_column_index *index, size_t page, int64_t rows,
                             const frz_field *field, frz_field_stats *out);
/* Whether the bounds of all pages can be relied on as they are. */
bool parquet_statistics_index_holds(const parquet_file *file, size_t column,
                                    const parquet_column_index *index);

#endif
