/**
 * Arrow IPC: record batches as files and streams of bytes (Apache Arrow columnar format,
 * "Serialization and Interprocess Communication").
 */
#ifndef FRAZIL_IPC_H
#define FRAZIL_IPC_H

#include "frazil/arrow.h"
#include "frazil/env.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum frz_ipc_format {
    FRZ_IPC_STREAM = 0, /**< messages one after the other; ".arrows" */
    FRZ_IPC_FILE = 1    /**< the same with a footer that finds the batches; ".arrow", Feather 2 */
} frz_ipc_format;

typedef enum frz_ipc_compression {
    FRZ_IPC_UNCOMPRESSED = 0,
    FRZ_IPC_LZ4_FRAME = 1,
    FRZ_IPC_ZSTD = 2
} frz_ipc_compression;

/** How to write. */
typedef struct frz_ipc_write_options {
    size_t struct_size;
    frz_ipc_format format;
    frz_ipc_compression compression; /**< of each buffer alone */
} frz_ipc_write_options;

#define FRZ_IPC_WRITE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(frz_ipc_write_options), FRZ_IPC_STREAM, FRZ_IPC_UNCOMPRESSED                        \
    }

/** Receives bytes in their order. A failure ends the writing and is passed on. */
typedef frz_code (*frz_write_fn)(void *ctx, const void *bytes, size_t len, frz_error *err);

/**
 * Write a stream of record batches through a function.
 *
 * Every Arrow type is written as it is. Of arrays with offsets only their own part is written.
 * Dictionaries are written before the first batch that uses them, and again when they change; the
 * file format allows that only once: there a changed dictionary is FRZ_E_UNSUPPORTED.
 *
 * @param write   called with pieces of up to some MiB
 * @param stream  borrowed; read to its end, not released
 * @param opts    NULL: stream format, not compressed
 * @param rows    receives the number of rows; may be NULL
 * @return FRZ_OK, FRZ_E_ARGUMENT for a schema or an array that breaks the rules of the C data
 *         interface, FRZ_E_UNSUPPORTED for what the format lacks, or what write or stream failed
 * with
 */
FRZ_API frz_code frz_ipc_write(const frz_env *env, frz_write_fn write, void *ctx,
                               struct ArrowArrayStream *stream, const frz_ipc_write_options *opts,
                               int64_t *rows, frz_error *err);

/**
 * The same to a new file; it is removed if it is not finished.
 *
 * @param location  path or location; FRZ_E_EXISTS if it is there
 */
FRZ_API frz_code frz_ipc_write_file(const frz_env *env, const char *location,
                                    struct ArrowArrayStream *stream,
                                    const frz_ipc_write_options *opts, int64_t *rows,
                                    frz_error *err);

/**
 * Open an IPC file or stream as an Arrow stream; its first bytes tell which it is.
 *
 * One batch is held at a time. Dictionaries stay dictionaries: fields have the type of their
 * indices, arrays have indices and a dictionary. Schema and field metadata are kept; metadata of
 * single messages is not.
 *
 * Bytes are not trusted: every length, offset, index and text is checked before a batch is given
 * out. Batches own their memory and may outlive the stream, but not the environment.
 *
 * @param location  path or location
 * @param out       receives the stream; the caller releases it. Untouched on error.
 * @return FRZ_OK, FRZ_E_NOT_FOUND, FRZ_E_CORRUPT for bytes that break the format's rules,
 *         FRZ_E_UNSUPPORTED for big-endian data and metadata before V4, FRZ_E_LIMIT for sizes
 *         beyond what is read (docs/formats/arrow-ipc.md)
 *
 * One stream is used by one thread at a time; several may be open at once.
 */
FRZ_API frz_code frz_ipc_open(const frz_env *env, const char *location,
                              struct ArrowArrayStream *out, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
