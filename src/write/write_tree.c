/*
 * The tree of manifests of a new version: the parent's with the plan's changes.
 *
 * A manifest is never written again because of a change: what is no longer live in it is masked by
 * its entry in the root, and the new state of a data file is a row of the root.
 * spec: what one commit writes, manifest deletion vectors
 */
#include <stdlib.h>

#include "write/write_internal.h"

typedef struct tree_maker {
    const frz_commit_attempt *attempt;
    const frz_commit_plan *plan;
    const frz_entry_change **by_place; /* those with an entry before, by manifest and position */
    size_t placed_count;
    frz_new_tree *out;
} tree_maker;

/* ---- finding changes ---- */

static int compare_places(size_t manifest, int64_t position, const frz_entry *e)
{
    return manifest != e->manifest ? (manifest > e->manifest) - (manifest < e->manifest)
                                   : (position > e->position) - (position < e->position);
}

static int by_place(const void *a, const void *b)
{
    const frz_entry *x = (*(const frz_entry_change *const *)a)->before;
    return compare_places(x->manifest, x->position, (*(const frz_entry_change *const *)b)->before);
}

static frz_code sort_changes(tree_maker *m, frz_error *err)
{
    const frz_commit_plan *plan = m->plan;
    m->by_place = frz_arena_array(m->attempt->arena, plan->change_count, sizeof *m->by_place);
    if (m->by_place == NULL) {
        return frz_fail_nomem(err, plan->change_count * sizeof *m->by_place);
    }
    for (size_t i = 0; i < plan->change_count; i++) {
        if (plan->changes[i].before != NULL) {
            m->by_place[m->placed_count++] = &plan->changes[i];
        }
    }
    if (m->placed_count > 1) {
        qsort(m->by_place, m->placed_count, sizeof *m->by_place, by_place);
    }
    return FRZ_OK;
}

/* The changes of one manifest follow each other: the first one at or after a position. */
static size_t lower_bound(const tree_maker *m, size_t manifest, int64_t position)
{
    size_t low = 0, high = m->placed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_places(manifest, position, m->by_place[middle]->before) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const frz_entry_change *find_change(const tree_maker *m, const frz_entry *entry)
{
    size_t i = lower_bound(m, entry->manifest, entry->position);
    bool found = i < m->placed_count &&
                 compare_places(entry->manifest, entry->position, m->by_place[i]->before) == 0;
    return found ? m->by_place[i] : NULL;
}

/* ---- data files of the root ---- */

/* A row of the root: a copy with another status. */
static frz_code add_row(tree_maker *m, const frz_entry *entry, frz_status status, frz_error *err)
{
    frz_entry *row = frz_arena_alloc(m->attempt->arena, sizeof *row);
    if (row == NULL) {
        return frz_fail_nomem(err, sizeof *row);
    }
    *row = *entry;
    row->status = status;
    if (status == FRZ_STATUS_DELETED || status == FRZ_STATUS_REPLACED) {
        row->snapshot_id = m->attempt->snapshot_id;
    }
    m->out->entries[m->out->entry_count++] = row;
    return FRZ_OK;
}

/* The new state. spec: row lineage, assigning first_row_id */
static frz_code add_after(tree_maker *m, frz_entry *after, frz_error *err)
{
    if (after->first_row_id == FRZ_NO_VALUE) {
        after->first_row_id = m->out->next_row_id;
        if (!frz_add_i64(m->out->next_row_id, after->record_count, &m->out->next_row_id)) {
            return frz_fail(err, FRZ_E_LIMIT, "row ids beyond %lld are needed",
                            (long long)INT64_MAX);
        }
    }
    m->out->entries[m->out->entry_count++] = after;
    return FRZ_OK;
}

static frz_code take_root_entry(tree_maker *m, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry_change *change = find_change(m, entry);
    if (change == NULL) {
        return add_row(m, entry, FRZ_STATUS_EXISTING, err);
    }
    bool stays = frz_change_stays(change);
    FRZ_TRY(add_row(m, entry, stays ? FRZ_STATUS_REPLACED : FRZ_STATUS_DELETED, err));
    if (change->after != NULL) {
        FRZ_TRY(add_after(m, change->after, err));
    }
out:
    return rc;
}

/* Entries of the root in their order, then the new states of others, then new files. */
static frz_code take_entries(tree_maker *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_tree *tree = m->attempt->tree;
    size_t in_root = tree == NULL ? 0 : frz_tree_entry_count(tree);
    size_t most = in_root + 2 * m->plan->change_count;
    m->out->entries = frz_arena_array(m->attempt->arena, most, sizeof *m->out->entries);
    FRZ_TRY(m->out->entries == NULL ? frz_fail_nomem(err, most * sizeof *m->out->entries) : FRZ_OK);
    for (size_t i = 0; i < in_root; i++) {
        const frz_entry *entry = frz_tree_entry(tree, i);
        if (frz_status_is_live(entry->status)) { /* others were the parent's news */
            FRZ_TRY(take_root_entry(m, entry, err));
        }
    }
    for (size_t i = 0; i < m->plan->change_count; i++) {
        const frz_entry_change *change = &m->plan->changes[i];
        bool placed = change->before != NULL && change->before->manifest == FRZ_IN_ROOT;
        if (!placed && change->after != NULL) {
            FRZ_TRY(add_after(m, change->after, err));
        }
    }
out:
    return rc;
}

/* ---- manifests ---- */

static frz_mumbling *new_set(tree_maker *m)
{
    frz_mumbling *set = &m->out->sets[m->out->set_count++];
    frz_mumbling_init(set, m->attempt->env);
    return set;
}

/* Mask what changes in one manifest. */
static frz_code mask(tree_maker *m, frz_manifest_file *file, size_t from, size_t to, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_mumbling *dv = new_set(m), *deleted = new_set(m), *replaced = new_set(m);
    if (file->dv != NULL) {
        FRZ_TRY(frz_mumbling_add_all(dv, file->dv, err));
    }
    for (size_t i = from; i < to; i++) {
        const frz_entry_change *change = m->by_place[i];
        bool stays = frz_change_stays(change);
        uint64_t position = (uint64_t)change->before->position;
        FRZ_TRY(frz_mumbling_add(stays ? replaced : deleted, position, err));
        FRZ_TRY(frz_mumbling_add(dv, position, err));
    }
    file->status = FRZ_STATUS_MODIFIED;
    file->modified_snapshot_id = m->attempt->snapshot_id;
    file->dv = dv;
    file->deleted_positions = deleted->cardinality > 0 ? deleted : NULL;
    file->replaced_positions = replaced->cardinality > 0 ? replaced : NULL;
out:
    return frz_context(err, rc, "manifest %.*s", FRZ_STR_ARG(file->location));
}

static frz_code take_manifest(tree_maker *m, size_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_manifest_file *parent = frz_tree_manifest(m->attempt->tree, i);
    if (!frz_manifest_is_live(parent)) {
        return FRZ_OK; /* emptied by the parent, or long before */
    }
    frz_manifest_file *file = frz_arena_alloc(m->attempt->arena, sizeof *file);
    FRZ_TRY(file == NULL ? frz_fail_nomem(err, sizeof *file) : FRZ_OK);
    *file = *parent;
    file->status = FRZ_STATUS_EXISTING;
    file->deleted_positions = file->replaced_positions = NULL;
    if (file->snapshot_id == FRZ_NO_VALUE) { /* version 1 did not say */
        file->snapshot_id = m->attempt->parent->snapshot_id;
    }
    size_t from = lower_bound(m, i, 0), to = lower_bound(m, i + 1, 0);
    if (to > from) {
        FRZ_TRY(mask(m, file, from, to, err));
    }
    m->out->manifests[m->out->manifest_count++] = file;
out:
    return rc;
}

static frz_code take_manifests(tree_maker *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_tree *tree = m->attempt->tree;
    size_t count = tree == NULL ? 0 : frz_tree_manifest_count(tree);
    m->out->manifests = frz_arena_array(m->attempt->arena, count, sizeof *m->out->manifests);
    m->out->sets = frz_arena_array(m->attempt->arena, 3 * count, sizeof *m->out->sets);
    if (m->out->manifests == NULL || m->out->sets == NULL) {
        return frz_fail_nomem(err, 3 * count * sizeof *m->out->sets);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(take_manifest(m, i, err));
    }
out:
    return rc;
}

frz_code frz_new_tree_make(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                           frz_new_tree *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    tree_maker m = {.attempt = attempt, .plan = plan, .out = out};
    *out = (frz_new_tree){.next_row_id = attempt->next_row_id};
    FRZ_TRY(sort_changes(&m, err));
    FRZ_TRY(take_entries(&m, err));
    FRZ_TRY(take_manifests(&m, err));
out:
    return rc;
}

void frz_new_tree_reset(frz_new_tree *tree)
{
    for (size_t i = 0; i < tree->set_count; i++) {
        frz_mumbling_reset(&tree->sets[i]);
    }
    tree->set_count = 0;
}
