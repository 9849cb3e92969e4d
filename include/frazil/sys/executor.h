/**
 * Who runs work in parallel. Plug-in interface: may change in minor releases.
 */
#ifndef FRAZIL_SYS_EXECUTOR_H
#define FRAZIL_SYS_EXECUTOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Runs the tasks of one call on any threads, the caller's included.
 *
 * run() calls task(arg, index) once for every index from 0 to count - 1, in any order, and returns
 * when all calls have returned; what the tasks wrote is then visible to the caller. It may be
 * called from several threads at once and from inside a task, and must not wait for a thread that
 * may wait for it: an executor all of whose threads are busy runs the tasks on the caller's.
 *
 * Tasks do not end threads, and signals that interrupt them are harmless.
 */
typedef struct frz_executor {
    size_t struct_size;
    /** How many tasks run at once at best; work is cut into pieces by it. 1 or less: run() is not
     * called, everything happens on the caller's thread. */
    int threads;
    void (*run)(void *ctx, size_t count, void (*task)(void *arg, size_t index), void *arg);
    void *ctx;
} frz_executor;

#ifdef __cplusplus
}
#endif

#endif
