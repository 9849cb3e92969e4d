/*
 * What the files of write share among themselves.
 */
#ifndef FRZ_WRITE_INTERNAL_H
#define FRZ_WRITE_INTERNAL_H

#include "write/write_commit.h"

/* One run of the commit loop. */
typedef struct frz_commit {
    const frz_env *env;
    frz_catalog *catalog;
    const char *text; /* the table's name as given */
    frz_table_name name;
    frz_commit_build build;
    void *build_ctx;
    bool creating; /* the table does not exist yet */
    bool sync_all; /* this attempt has data files that were not synced one by one */
    frz_written_file *files;
    size_t file_count, file_capacity;
} frz_commit;

/* Where a new table goes: WAREHOUSE/namespace/table; free with frz_free. */
frz_code frz_commit_table_location(const frz_commit *commit, char **out, frz_error *err);

/* Fill in a snapshot (root_manifest is set already) with its summary, in the attempt's arena. */
frz_code frz_commit_snapshot(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                             int64_t next_row_id, frz_snapshot *snapshot, frz_error *err);

#endif
