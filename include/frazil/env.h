/**
 * The environment: everything ambient (allocator, storage, clock, randomness, log, threads) in one
 * object.
 */
#ifndef FRAZIL_ENV_H
#define FRAZIL_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "frazil/error.h"
#include "frazil/export.h"
#include "frazil/sys/allocator.h"
#include "frazil/sys/executor.h"
#include "frazil/sys/storage.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct frz_env frz_env;

typedef enum frz_log_level {
    FRZ_LOG_NONE = 0,
    FRZ_LOG_ERROR,
    FRZ_LOG_WARN,
    FRZ_LOG_INFO,
    FRZ_LOG_DEBUG,
    FRZ_LOG_TRACE
} frz_log_level;

/** Receives one log line without a line end. May be called from several threads. */
typedef void (*frz_log_fn)(void *ctx, const char *component, frz_log_level level, const char *line);

/** Called from long work with units done and units in all; return non-zero to cancel. */
typedef int (*frz_progress_fn)(void *ctx, const char *what, uint64_t done, uint64_t total);

/** What an environment is made of. NULL members mean the built-in choice. */
typedef struct frz_env_options {
    size_t struct_size;
    const frz_allocator *allocator; /**< default: the C library's; copied */
    const frz_storage *storage;     /**< default: local files; copied */
    int64_t (*now_ms)(void *ctx);   /**< milliseconds since 1970; default: the system's clock */
    frz_code (*random_bytes)(void *ctx, void *buf, size_t len); /**< default: the system's */
    void *clock_ctx;      /**< passed to now_ms and random_bytes */
    const char *log_spec; /**< "scan=debug,parquet=trace" or "info"; default: FRZ_LOG */
    frz_log_fn log;       /**< default: lines on standard error */
    void *log_ctx;
    frz_progress_fn progress; /**< default: none */
    void *progress_ctx;
    const char *sqlite_vfs; /**< name of a registered SQLite VFS; default: SQLite's own */
    /** Runs work in parallel; copied. Default: a pool of the environment's own, see threads. */
    const frz_executor *executor;
    /** Threads of the pool, the caller's among them, 1024 at most. 0 and 1: no pool, all work is
     * done on the caller's thread. FRZ_THREADS_ALL: as many as the process has processors. The pool
     * starts threads when they are first needed and ends them in frz_env_free(). Results do not
     * depend on it. Not used if there is an executor. */
    int threads;
    /** Most bytes of parsed footers and indexes of files that are kept for opening the same files
     * again. 0: 64 MiB; 1 keeps nothing. A file that has changed is read anew. */
    size_t cache_bytes;
} frz_env_options;

/** As many threads as processors that the process may run on. */
#define FRZ_THREADS_ALL (-1)

#define FRZ_ENV_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(frz_env_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                          \
    }

/** What an environment has done since it was made. */
typedef struct frz_env_counters {
    uint64_t allocations;     /**< calls that asked for memory */
    uint64_t bytes_allocated; /**< bytes held now */
    uint64_t bytes_peak;      /**< most bytes held at once */
    uint64_t bytes_read;      /**< bytes read from storage */
    uint64_t bytes_written;   /**< bytes appended to storage */
    uint64_t files_opened;
    uint64_t files_created;
    uint64_t syncs;
} frz_env_counters;

/**
 * Make an environment. It must outlive everything made with it.
 *
 * @param opts  NULL means defaults; strings are copied, contexts borrowed
 * @param out   receives the environment; free with frz_env_free(). Untouched on error.
 * @return FRZ_OK; FRZ_E_ARGUMENT for a log_spec or a number of threads that makes no sense;
 *         FRZ_E_NOMEM
 */
FRZ_API frz_code frz_env_new(const frz_env_options *opts, frz_env **out, frz_error *err);

/** Free an environment and end its threads. NULL is fine. */
FRZ_API void frz_env_free(frz_env *env);

/** Forget everything that is kept for opening files again. Safe from any thread. */
FRZ_API void frz_env_drop_cache(const frz_env *env);

/** Read the counters. Safe from any thread. */
FRZ_API void frz_env_counters_get(const frz_env *env, frz_env_counters *out);

#ifdef __cplusplus
}
#endif

#endif
