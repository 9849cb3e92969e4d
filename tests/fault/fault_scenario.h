/*
 * The operations that fault tests interrupt, and the checks of what is left.
 */
#ifndef FRZ_TEST_FAULT_SCENARIO_H
#define FRZ_TEST_FAULT_SCENARIO_H

#include "fault/fault.h"

#define SCENARIO_PATH 512

/* What a table is made of. */
typedef struct scenario_files {
    char one[SCENARIO_PATH + 32], two[SCENARIO_PATH + 32];
    const char *paths[2]; /* these two */
    const char *folder;
} scenario_files;

typedef struct fault_scenario {
    const char *name;
    frz_code (*run)(frz_catalog *catalog, const scenario_files *files, frz_error *err);
    /* sum(a) before and after; a table that does not exist has -1. */
    double before, after;
    int base; /* which prepared folder it starts from */
    int once; /* cannot be done twice, or gives something else then */
} fault_scenario;

/* Operations: import, update all, update some, compact; delete, and updates and compaction after
 * it; updates and a delete in other modes; updates from files, merge; append; changes that renew a
 * leaf; an update that leaves the partition; expiry and the removal of orphans. */
extern const fault_scenario scenarios[];
extern const size_t scenario_count;

/* Run an operation once. */
frz_code scenario_run(frz_code (*run)(frz_catalog *, const scenario_files *, frz_error *),
                      const frz_env *env, const char *folder, frz_error *err);

/* Group fixtures of cmocka: prepared folders below a temporary one; its removal. */
int scenario_setup(void **state);
int scenario_teardown(void **state);
/* A fresh copy of a scenario's prepared folder. */
int scenario_reset(const fault_scenario *scenario, char folder[SCENARIO_PATH]);

/* An environment over the fault storage and VFS, or over plain files; an allocator may be given. */
frz_env *scenario_env(int faults, const frz_allocator *allocator);

/* Check with plain files: the table is the old or the new one, validate is clean, the operation
 * works now and leaves the new one; without its orphans the table is the same. Returns 0, or prints
 * what is wrong and returns 1. was_new tells which it was; must_be_new: the operation had reported
 * success. */
int scenario_check(const fault_scenario *scenario, const char *folder, int must_be_new,
                   int *was_new);

/* Free-form helpers. */
frz_code scenario_sum(const frz_env *env, const char *folder, double *out, frz_error *err);
/* The same by tasks, each written and read again. */
frz_code scenario_task_sum(const frz_env *env, const char *folder, double *out, frz_error *err);
/* Add the rows of a stream to their number, and release it. */
frz_code scenario_count_rows(struct ArrowArrayStream *stream, int64_t *rows, frz_error *err);
/* Read what the newest snapshot changed, by files and by rows; how many of each. */
frz_code scenario_changes(const frz_env *env, const char *folder, int64_t *files, int64_t *rows,
                          frz_error *err);

#endif
