/**
 * Avro object container files apart from tables: what is in a file, and its rows as Arrow batches.
 */
#ifndef FRAZIL_AVRO_H
#define FRAZIL_AVRO_H

#include <stddef.h>

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open file. Immutable: all functions over it may be called from several threads at once. */
typedef struct frz_avro_file frz_avro_file;

/**
 * Open a file, read its header and find its blocks.
 *
 * @param env       borrowed; must outlive the file and its readers
 * @param location  path or location
 * @param out       receives the file; free with frz_avro_file_close(). Untouched on error.
 * @return FRZ_OK, FRZ_E_NOT_FOUND, FRZ_E_CORRUPT if it is no Avro file or a damaged one,
 *         FRZ_E_UNSUPPORTED if its values are not records or its codec is unknown
 */
FRZ_API frz_code frz_avro_file_open(const frz_env *env, const char *location, frz_avro_file **out,
                                    frz_error *err);

/** Close. Streams that are still open keep the file. NULL is fine. */
FRZ_API void frz_avro_file_close(frz_avro_file *file);

typedef struct frz_avro_file_info {
    int64_t rows;
    int64_t file_size;
    int64_t header_size; /**< bytes before the first block */
    int64_t blocks;
    const char *codec; /**< Avro's name of it, such as "deflate"; valid while the file is open */
    size_t key_count;  /**< pairs of metadata */
} frz_avro_file_info;

FRZ_API void frz_avro_file_info_get(const frz_avro_file *file, frz_avro_file_info *out);

/** One pair of the metadata, i < key_count: bytes that are valid while the file is open. */
FRZ_API void frz_avro_file_key(const frz_avro_file *file, size_t i, const char **key,
                               size_t *key_size, const char **value, size_t *value_size);

/**
 * The columns as an Arrow struct. Field ids are "PARQUET:field_id" metadata. A column that cannot
 * be read, such as a union of several types, is of type null. The caller releases it.
 */
FRZ_API frz_code frz_avro_file_schema(const frz_avro_file *file, struct ArrowSchema *out,
                                      frz_error *err);

typedef struct frz_avro_read_options {
    size_t struct_size;
    /** Names of columns and of parts of them, as in frz_stream_select_options; NULL: all. */
    const char *const *columns;
    size_t column_count;
    int64_t first_row; /**< rows before are left out */
    int64_t end_row;   /**< rows from here on are left out; negative: none */
} frz_avro_read_options;

#define FRZ_AVRO_READ_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(frz_avro_read_options), 0, 0, 0, -1                                                 \
    }

/**
 * The rows as an Arrow stream. Only the columns that are asked for are decoded; blocks before the
 * first row are passed over.
 *
 * @param opts  NULL: everything
 * @param out   receives the stream; the caller releases it. Untouched on error.
 * @return FRZ_OK, FRZ_E_NOT_FOUND for a column that is not there, FRZ_E_UNSUPPORTED for one that
 *         cannot be read. Damaged data is FRZ_E_CORRUPT where it is come upon.
 */
FRZ_API frz_code frz_avro_file_read(frz_avro_file *file, const frz_avro_read_options *opts,
                                    struct ArrowArrayStream *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
