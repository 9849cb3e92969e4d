/**
 * Result codes and the error object.
 *
 * Every function that can fail returns frz_code and takes a frz_error as its last argument. The
 * caller owns the error and may pass NULL. The place that detects a failure writes the message;
 * places above it add context frames and pass the code on.
 */
#ifndef FRAZIL_ERROR_H
#define FRAZIL_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "frazil/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a caller may decide upon. Negative: failure. FRZ_END: an iterator has no more items. */
typedef enum frz_code {
    FRZ_OK = 0,
    FRZ_END = 1,
    FRZ_E_ARGUMENT = -1,        /**< the caller asked for something that makes no sense */
    FRZ_E_NOMEM = -2,           /**< an allocation failed */
    FRZ_E_LIMIT = -3,           /**< a stated bound would be exceeded */
    FRZ_E_IO = -4,              /**< storage failed; os_error says how */
    FRZ_E_NOT_FOUND = -5,       /**< table, snapshot, column or file does not exist */
    FRZ_E_EXISTS = -6,          /**< something of that name is there already */
    FRZ_E_CORRUPT = -7,         /**< bytes that break their format's rules */
    FRZ_E_UNSUPPORTED = -8,     /**< legal, but this library lacks it; the message names it */
    FRZ_E_AUTH = -9,            /**< access was denied */
    FRZ_E_CONFLICT = -10,       /**< another writer won; retrying is safe */
    FRZ_E_COMMIT_UNKNOWN = -11, /**< the commit may have happened; never clean up */
    FRZ_E_CANCELLED = -12,      /**< the caller asked to stop */
    FRZ_E_INTERNAL = -13        /**< a fault of this library */
} frz_code;

#define FRZ_ERROR_FRAMES 6

/**
 * Why a call failed. Fixed size: reporting a failure allocates nothing. A zeroed struct is a valid
 * empty error.
 */
typedef struct frz_error {
    frz_code code;
    int os_error;   /**< errno, or 0 */
    int64_t offset; /**< byte offset in the file at fault; only valid if has_offset */
    int has_offset;
    unsigned frame_count; /**< frames in use; frames[0] is the innermost */
    char message[512];    /**< what was expected, what was found; one line */
    char hint[512];       /**< what to do about it, or empty; may span lines (a caret) */
    char frames[FRZ_ERROR_FRAMES][256];
} frz_error;

/** Make an error empty again. NULL is fine. */
FRZ_API void frz_error_reset(frz_error *err);

/**
 * Write "outer context: inner context: message" as one line, always terminated. The hint is not
 * part of it.
 *
 * @return the length of the whole text, which may exceed size - 1
 */
FRZ_API size_t frz_error_format(const frz_error *err, char *buf, size_t size);

/** The name of a code in lower case, such as "not found". Static storage. */
FRZ_API const char *frz_code_name(frz_code code);

/** The errno value that fits a code best, as Arrow streams need it. */
FRZ_API int frz_code_errno(frz_code code);

#ifdef __cplusplus
}
#endif

#endif
