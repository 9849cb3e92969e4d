/**
 * Parquet files apart from tables.
 */
#ifndef FRAZIL_PARQUET_H
#define FRAZIL_PARQUET_H

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a stream of record batches to a new Parquet file (zstd). Field ids are taken from the
 * schema's "PARQUET:field_id" metadata where present, else numbered from 1.
 *
 * @param location  path or location; FRZ_E_EXISTS if it is there
 * @param stream    borrowed; read to its end, not released
 * @param rows      receives the number of rows; may be NULL
 *
 * A file that is not finished is removed.
 */
FRZ_API frz_code frz_parquet_write_stream(const frz_env *env, const char *location,
                                          struct ArrowArrayStream *stream, int64_t *rows,
                                          frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
