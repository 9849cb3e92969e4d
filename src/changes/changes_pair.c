/*
 * Old and new halves of files, put together by location.
 *
 * spec: change detection, step 3; content file uniqueness
 */
#include <stdlib.h>

#include "changes/changes_internal.h"

static int compare_halves(const void *a, const void *b)
{
    const change_half *x = a, *y = b;
    int order = change_compare_places(&x->place, &y->place);
    return order != 0 ? order : (int)x->status - (int)y->status;
}

static frz_code add_file(change_set *set, const change_half *named, const frz_entry *old,
                         const frz_entry *new, frz_error *err)
{
    frz_code rc = FRZ_GROW(set->env, &set->files, &set->file_capacity, set->file_count, err);
    if (rc == FRZ_OK) {
        set->files[set->file_count++] =
            (change_file){.location = named->location, .old = old, .new = new};
    }
    return rc;
}

/* The halves of one location. */
typedef struct group {
    const change_half *added, *deleted, *replaced, *modified;
    const change_half *hint;
    size_t count; /* hints apart */
} group;

static void put_in_group(group *g, const change_half *half)
{
    if (half->is_hint) {
        g->hint = half;
        return;
    }
    g->count++;
    switch (half->status) {
    case FRZ_STATUS_ADDED:
        g->added = half;
        break;
    case FRZ_STATUS_DELETED:
        g->deleted = half;
        break;
    case FRZ_STATUS_REPLACED:
        g->replaced = half;
        break;
    default:
        g->modified = half;
        break;
    }
}

static frz_code fail_group(const group *g, const change_half *half, frz_error *err)
{
    if (g->count == 1 && g->replaced != NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%.*s has a REPLACED entry without a MODIFIED entry of the same location",
                        FRZ_STR_ARG(half->location));
    }
    if (g->count == 1 && g->modified != NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%.*s has a MODIFIED entry without a REPLACED entry of the same location",
                        FRZ_STR_ARG(half->location));
    }
    return frz_fail(err, FRZ_E_CORRUPT,
                    "%.*s has %zu entries that change it in one snapshot, which are not one "
                    "REPLACED and one MODIFIED entry",
                    FRZ_STR_ARG(half->location), g->count);
}

static frz_code settle(change_set *set, const group *g, const change_half *half, frz_error *err)
{
    const change_half *replaced = g->replaced != NULL ? g->replaced : g->hint;
    if (g->count == 0) {
        return FRZ_OK; /* an earlier snapshot's old half that nobody dropped */
    }
    if (g->count == 1 && g->added != NULL) {
        return add_file(set, g->added, NULL, g->added->entry, err);
    }
    if (g->count == 1 && g->deleted != NULL) {
        return add_file(set, g->deleted, g->deleted->entry, NULL, err);
    }
    if (g->modified == NULL || replaced == NULL || g->count != (g->replaced != NULL ? 2 : 1)) {
        return fail_group(g, half, err);
    }
    if (replaced->entry->record_count != g->modified->entry->record_count) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%.*s: record_count %lld of the MODIFIED entry differs from %lld of the "
                        "REPLACED entry",
                        FRZ_STR_ARG(half->location), (long long)g->modified->entry->record_count,
                        (long long)replaced->entry->record_count);
    }
    return add_file(set, g->modified, replaced->entry, g->modified->entry, err);
}

/* Before version 4 files have no halves, and one may stand in a table twice. */
static frz_code take_each(change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; rc == FRZ_OK && i < set->half_count; i++) {
        const change_half *half = &set->halves[i];
        bool added = half->status == FRZ_STATUS_ADDED;
        rc = add_file(set, half, added ? NULL : half->entry, added ? half->entry : NULL, err);
    }
    return rc;
}

frz_code change_set_pair(change_set *set, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (set->half_count > 1) {
        qsort(set->halves, set->half_count, sizeof *set->halves, compare_halves);
    }
    if (!frz_tree_has_root(set->after.tree)) {
        return take_each(set, err);
    }
    for (size_t i = 0, next; i < set->half_count; i = next) {
        group g = {.count = 0};
        for (next = i; next < set->half_count &&
                       frz_place_equal(set->halves[next].place, set->halves[i].place);
             next++) {
            put_in_group(&g, &set->halves[next]);
        }
        FRZ_TRY(settle(set, &g, &set->halves[i], err));
    }
out:
    return rc;
}
