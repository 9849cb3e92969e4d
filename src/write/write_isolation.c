/*
 * Isolation: what an operation that began with one version does about rows that came into the table
 * before it commits. Values that it read and that have changed since are always read again, so no
 * level loses an update; the levels differ in data files that were not there when it began.
 *
 *   serializable   their rows are changed, too, as if the operation ran behind the append
 *   snapshot       files that an append added are left alone, as if it ran before
 *
 * Only appends bring new rows for certain: a file that a compaction or an overwrite wrote holds
 * rows that were there before. docs/isolation.md has the pairs of operations.
 */
#include <stdio.h>

#include "write/write_internal.h"

#define KEY "write.%s.isolation-level"

frz_code frz_write_isolation(const frz_metadata *metadata, const char *operation,
                             frz_isolation *out, frz_error *err)
{
    char key[64];
    snprintf(key, sizeof key, KEY, operation);
    frz_str value = frz_metadata_property(metadata, key, "serializable");
    *out = FRZ_ISOLATION_SERIALIZABLE;
    if (frz_str_equal_nocase(value, FRZ_STR("snapshot"))) {
        *out = FRZ_ISOLATION_SNAPSHOT;
        return FRZ_OK;
    }
    return frz_str_equal_nocase(value, FRZ_STR("serializable"))
               ? FRZ_OK
               : frz_fail(err, FRZ_E_ARGUMENT,
                          "table property %s: expected serializable or snapshot, found \"%.*s\"",
                          key, FRZ_STR_ARG(value));
}

frz_code frz_commit_scope_enter(frz_commit_scope *scope, const frz_commit_attempt *attempt,
                                const char *operation, frz_error *err)
{
    if (scope->base == FRZ_NO_VALUE) {
        scope->base = attempt->sequence_number - 1;
    }
    return frz_write_isolation(&attempt->table->metadata, operation, &scope->isolation, err);
}

bool frz_commit_leaves(const frz_commit_attempt *attempt, const frz_commit_scope *scope,
                       const frz_entry *entry)
{
    return scope->isolation == FRZ_ISOLATION_SNAPSHOT &&
           entry->file_sequence_number > scope->base &&
           frz_snapshot_is(frz_metadata_snapshot(&attempt->table->metadata, entry->snapshot_id),
                           "append");
}
