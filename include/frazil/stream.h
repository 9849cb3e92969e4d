/**
 * Arrow streams: some columns and rows of one.
 */
#ifndef FRAZIL_STREAM_H
#define FRAZIL_STREAM_H

#include <stddef.h>

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_stream_select_options {
    size_t struct_size;
    /** Names of columns; NULL: all. "a.b" is the part b of the struct a, "list.element.x" and
     * "map.value.x" are parts of elements and values; the rules are those of
     * frz_parquet_read_options. */
    const char *const *columns;
    size_t column_count;
    const char *where; /**< SQL expression over the stream's columns; NULL: all rows */
    int64_t first_row; /**< rows before are left out */
    int64_t end_row;   /**< rows from here on are left out; negative: none */
} frz_stream_select_options;

#define FRZ_STREAM_SELECT_OPTIONS_INIT                                                             \
    {                                                                                              \
        sizeof(frz_stream_select_options), 0, 0, 0, 0, -1                                          \
    }

/**
 * Some columns and rows of a stream, as a stream. All Arrow types are passed on as they are. The
 * filter sees its columns in the types of tables: text and lists of any layout, dictionaries as
 * their values, narrow and unsigned integers as int and long, milliseconds as microseconds.
 *
 * @param source  moves into the new stream, also on failure. Its batches may come from any
 * producer.
 * @param opts    NULL: everything
 * @param out     receives the stream; the caller releases it
 * @return FRZ_OK, FRZ_E_NOT_FOUND for a column that is not there, FRZ_E_ARGUMENT for a filter that
 *         makes no sense, FRZ_E_UNSUPPORTED naming a filter's column of a type that tables have no
 *         like of (unions, durations, intervals, decimals of more than 38 digits)
 */
FRZ_API frz_code frz_stream_select(const frz_env *env, struct ArrowArrayStream *source,
                                   const frz_stream_select_options *opts,
                                   struct ArrowArrayStream *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
