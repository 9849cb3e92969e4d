/**
 * Files of any format: which one it is.
 */
#ifndef FRAZIL_FILE_H
#define FRAZIL_FILE_H

#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frz_file_format {
    FRZ_FILE_UNKNOWN = 0,
    FRZ_FILE_PARQUET,
    FRZ_FILE_ARROW,        /**< Arrow IPC, the file format; Feather 2 */
    FRZ_FILE_ARROW_STREAM, /**< Arrow IPC, the stream format since Arrow 0.15 */
    FRZ_FILE_AVRO,
    FRZ_FILE_ORC,
    FRZ_FILE_PUFFIN
} frz_file_format;

/**
 * Tell the format of a file by its first bytes, whatever its name.
 *
 * @param location  path or location
 * @return FRZ_OK, also for FRZ_FILE_UNKNOWN; FRZ_E_NOT_FOUND and other failures to read it
 */
FRZ_API frz_code frz_file_format_get(const frz_env *env, const char *location, frz_file_format *out,
                                     frz_error *err);

/** The name of a format, such as "Arrow stream"; "unknown" for a number that is none. */
FRZ_API const char *frz_file_format_name(frz_file_format format);

#ifdef __cplusplus
}
#endif

#endif
