/*
 * rows: files of rows, whatever their format, as Arrow streams.
 */
#ifndef FRZ_ROWS_SOURCE_H
#define FRZ_ROWS_SOURCE_H

#include "frazil/arrow.h"
#include "frazil/env.h"

/* Some columns and rows of a Parquet, Arrow or Avro file. columns NULL: all; where NULL: all rows.
 */
frz_code rows_source_open(const frz_env *env, const char *file, const char *const *columns,
                          size_t column_count, const char *where, struct ArrowArrayStream *out,
                          frz_error *err);

#endif
