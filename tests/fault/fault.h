/*
 * Faults for tests: a storage and a SQLite VFS that count their steps and, at a chosen one, fail,
 * die, or lose power. Losing power forgets what was not synced: bytes, names of files, and names of
 * folders.
 */
#ifndef FRZ_TEST_FAULT_H
#define FRZ_TEST_FAULT_H

#include <stdint.h>

#include "frazil/frazil.h"

typedef enum fault_mode {
    FAULT_NONE,
    FAULT_ERROR, /* the step fails once with an I/O error; later ones work */
    FAULT_FULL,  /* this and all later writing steps fail: no space */
    FAULT_KILL,  /* the process ends before the step */
    FAULT_POWER  /* the same, and what was not synced is gone */
} fault_mode;

#define FAULT_EXIT 77 /* exit status of a process that was ended by a fault */
#define FAULT_VFS "frazil-fault"

/* Arm the faults of this process: counting starts anew. */
void fault_arm(fault_mode mode, int64_t step);
/* Steps counted since then. */
int64_t fault_steps(void);
/* The step to try after this one: each of the first ones, then each third; all with FRAZIL_LONG. */
int64_t fault_next_step(int64_t step);
/* True if the step was reached. */
int fault_reached(void);

/* Local files with faults. */
extern const frz_storage fault_storage;
/* Register the VFS under FAULT_VFS, once per process. */
void fault_vfs_register(void);

/* ---- between the two ---- */

/* Count a step: 0 to go on, 1 to fail. Ends the process if that is what is asked for. */
int fault_step(int writes);
/* What power-off does to the files that one of the two knows. */
void fault_storage_power_off(void);
void fault_vfs_power_off(void);

#endif
