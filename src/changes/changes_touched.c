/*
 * Data files of versions 1 to 3 in which a snapshot's own delete files can delete rows. Which they
 * are no manifest says of position deletes for many files and of equality deletes, so that every
 * live data file is held against the delete files that the snapshot added, and no others.
 */
#include "changes/changes_internal.h"

/* What reading the rows of a data file of these versions takes: no statistics. */
static frz_code copy_entry(frz_arena *arena, const frz_entry *from, const frz_entry **out,
                           frz_error *err)
{
    frz_entry plain = *from;
    frz_entry *to = frz_arena_alloc(arena, sizeof *to);
    if (to == NULL) {
        return frz_fail_nomem(err, sizeof *to);
    }
    plain.stats_count = plain.split_count = 0;
    *out = to;
    return frz_entry_copy(arena, &plain, to, err);
}

static frz_code add_file(change_set *set, const frz_entry *found, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_file file = {.old = NULL};
    FRZ_TRY(copy_entry(&set->arena, found, &file.old, err));
    file.new = file.old;
    FRZ_TRY(
        frz_table_resolve_view(set->table, file.old->location, &set->arena, &file.location, err));
    FRZ_TRY(FRZ_GROW(set->env, &set->files, &set->file_capacity, set->file_count, err));
    set->files[set->file_count++] = file;
out:
    return rc;
}

/* Files of the snapshot itself had no rows before. */
static bool is_older(const change_set *set, const frz_entry *entry)
{
    return entry->status != FRZ_STATUS_ADDED ||
           entry->snapshot_id != set->after.snapshot->snapshot_id;
}

static frz_code find_touched(change_set *set, frz_file_plan *plan, frz_delete_index *added,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_planned_file task;
    while ((rc = frz_file_plan_next(plan, &task, err)) == FRZ_OK) {
        frz_file_deletes *deletes = NULL;
        if (!is_older(set, task.entry)) {
            continue;
        }
        FRZ_TRY(frz_file_deletes_find(added, set->table, task.entry, &deletes, err));
        bool touched = deletes != NULL;
        frz_file_deletes_free(deletes);
        if (touched) {
            FRZ_TRY(add_file(set, task.entry, err));
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    return rc;
}

static bool adds_deletes(const change_set *set)
{
    for (size_t i = 0; i < set->delete_file_count; i++) {
        if (set->delete_files[i].new != NULL) {
            return true;
        }
    }
    return false;
}

frz_code change_add_touched(change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_plan *plan = NULL;
    frz_delete_index *added = NULL;
    const int32_t *keys = NULL;
    size_t count = 0;
    const frz_file_plan_options plan_options = {.snapshot = set->after.snapshot,
                                                .schema = set->schema};
    const frz_delete_options options = {.schema = set->schema,
                                        .added_by = set->after.snapshot->snapshot_id};
    if (!adds_deletes(set)) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_file_plan_open(set->table, &plan_options, &plan, err));
    FRZ_TRY(frz_delete_index_open(set->table, frz_file_plan_tree(plan), &options, &added, err));
    FRZ_TRY(frz_delete_index_keys(added, &set->arena, &keys, &count, err));
    FRZ_TRY(frz_file_plan_add_stats(plan, keys, count, err));
    rc = find_touched(set, plan, added, err);
out:
    frz_delete_index_free(added);
    frz_file_plan_close(plan);
    return rc;
}
