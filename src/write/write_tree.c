/*
 * The tree of manifests of a new version: the parent's with the plan's changes.
 *
 * What is no longer live in a manifest is masked by its entry in the root. The new states of few
 * data files are rows of the root. If many entries of a leaf change, or few of its rows are live,
 * all of them move into a new leaf, which is mostly copied (meta_leaf_renew.c), and the old one is
 * masked whole: the next version leaves it out. spec: what one commit writes, manifest deletion
 * vectors
 */
#include <stdlib.h>

#include "write/write_internal.h"

typedef struct tree_maker {
    const frz_commit_attempt *attempt;
    const frz_commit_plan *plan;
    frz_entry_change **by_place; /* those with an entry before, by manifest and position */
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

static const frz_entry_change *find_change(const tree_maker *m, size_t manifest, int64_t position)
{
    size_t i = lower_bound(m, manifest, position);
    bool found =
        i < m->placed_count && compare_places(manifest, position, m->by_place[i]->before) == 0;
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
    const frz_entry_change *change = find_change(m, entry->manifest, entry->position);
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
        bool in_place = change->before != NULL && change->before->manifest == FRZ_IN_ROOT;
        if (!in_place && !change->is_placed && change->after != NULL) {
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

/* The changes of one manifest. */
typedef struct manifest_changes {
    size_t manifest; /* of the tree */
    const frz_manifest_file *parent;
    size_t from, to; /* by place */
    frz_mumbling *dv, *deleted, *replaced;
} manifest_changes;

static frz_code collect_positions(tree_maker *m, const manifest_changes *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (c->parent->dv != NULL) {
        FRZ_TRY(frz_mumbling_add_all(c->dv, c->parent->dv, err));
    }
    for (size_t i = c->from; i < c->to; i++) {
        const frz_entry_change *change = m->by_place[i];
        bool stays = frz_change_stays(change);
        uint64_t position = (uint64_t)change->before->position;
        FRZ_TRY(frz_mumbling_add(stays ? c->replaced : c->deleted, position, err));
        FRZ_TRY(frz_mumbling_add(c->dv, position, err));
    }
out:
    return rc;
}

/* ---- a leaf that is written anew ---- */

/* To encode an entry costs about so many times what it costs to copy it. */
#define ENCODE_COST 16
/* Fewer changes are rows of the root in any case. */
#define RENEW_LEAST 64
/* A leaf of which less than one in so many entries is live is not worth to be read. */
#define SPARSE 4

static bool is_worth_renewing(const manifest_changes *c)
{
    int64_t live = frz_manifest_live_files(c->parent);
    int64_t changes = (int64_t)(c->to - c->from);
    int64_t left = c->parent->entry_count - (int64_t)c->dv->cardinality;
    bool many = changes >= RENEW_LEAST && changes * ENCODE_COST >= live;
    bool sparse = left * SPARSE < c->parent->entry_count;
    return !c->parent->legacy && (many || sparse);
}

/* The changes that stay, and in gone the others. */
static frz_code leaf_changes(tree_maker *m, const manifest_changes *c, frz_leaf_renewal *what,
                             frz_error *err)
{
    size_t n = 0;
    frz_leaf_change *changes = frz_arena_array(m->attempt->arena, c->to - c->from, sizeof *changes);
    if (changes == NULL) {
        return frz_fail_nomem(err, (c->to - c->from) * sizeof *changes);
    }
    for (size_t i = c->from; i < c->to; i++) {
        const frz_entry_change *change = m->by_place[i];
        if (frz_change_stays(change)) {
            changes[n++] = (frz_leaf_change){.position = change->before->position,
                                             .after = change->after,
                                             .stats_ids = change->stats_ids,
                                             .stats_id_count = change->stats_id_count};
        }
    }
    *what = (frz_leaf_renewal){.tree = m->attempt->tree,
                               .manifest = c->manifest,
                               .changes = changes,
                               .count = n,
                               .gone = c->deleted->cardinality > 0 ? c->deleted : NULL};
    return FRZ_OK;
}

/* All entries of the old leaf are masked: they changed, went or moved. */
static frz_code leave_leaf(tree_maker *m, const manifest_changes *c, frz_error *err)
{
    for (size_t i = c->from; i < c->to; i++) {
        m->by_place[i]->is_placed = frz_change_stays(m->by_place[i]);
    }
    for (int64_t i = 0; i < c->parent->entry_count; i++) {
        frz_code rc = frz_mumbling_add(c->dv, (uint64_t)i, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

/* Whether anything would be in the new leaf. */
static bool has_rows(const manifest_changes *c)
{
    return frz_manifest_live_files(c->parent) > (int64_t)c->deleted->cardinality;
}

static frz_code renew_leaf(tree_maker *m, const manifest_changes *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_leaf_renewal what;
    bool done = false;
    frz_manifest_file *file = frz_arena_alloc(m->attempt->arena, sizeof *file);
    FRZ_TRY(file == NULL ? frz_fail_nomem(err, sizeof *file) : FRZ_OK);
    FRZ_TRY(leaf_changes(m, c, &what, err));
    FRZ_TRY(frz_new_leaf_renew(m->attempt, m->plan, &what, m->out->next_row_id, file, &done, err));
    if (done) {
        FRZ_TRY(leave_leaf(m, c, err));
        m->out->manifests[m->out->manifest_count++] = file;
    }
out:
    return rc;
}

/* ---- entries that become rows of the root ---- */

/* What is asked of the entries of one manifest: while it is decided which are wanted, they do not
 * say themselves where they are from. */
typedef struct completion {
    const tree_maker *m;
    size_t manifest;
} completion;

static bool is_completed(void *ctx, const frz_entry *entry)
{
    const completion *of = ctx;
    const frz_entry_change *change = find_change(of->m, of->manifest, entry->position);
    return change != NULL && change->is_partial && !change->is_placed;
}

/* Their statistics are read now, of as few entries as there are. */
static frz_code complete_changes(tree_maker *m, const manifest_changes *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    completion of = {m, c->manifest};
    const frz_entry_request request = {
        .stats = {.all = true}, .keep = is_completed, .keep_ctx = &of};
    FRZ_TRY(frz_entry_reader_open(m->attempt->tree, c->manifest, &request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, m->attempt->arena, &entries, &count, err)) ==
           FRZ_OK) {
        for (size_t i = 0; i < count; i++) {
            const frz_entry_change *change = find_change(m, c->manifest, entries[i].position);
            FRZ_TRY(frz_stats_overlay(m->attempt->arena, &entries[i], change->stats_ids,
                                      change->stats_id_count, change->after, err));
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_entry_reader_close(reader);
    return rc;
}

static bool has_partial(const tree_maker *m, const manifest_changes *c)
{
    for (size_t i = c->from; i < c->to; i++) {
        if (m->by_place[i]->is_partial && !m->by_place[i]->is_placed) {
            return true;
        }
    }
    return false;
}

/* ---- all manifests ---- */

static frz_code change_manifest(tree_maker *m, manifest_changes *c, frz_manifest_file *file,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    c->dv = new_set(m);
    c->deleted = new_set(m);
    c->replaced = new_set(m);
    FRZ_TRY(collect_positions(m, c, err));
    if (is_worth_renewing(c) && has_rows(c)) {
        FRZ_TRY(renew_leaf(m, c, err));
    }
    if (has_partial(m, c)) {
        FRZ_TRY(complete_changes(m, c, err));
    }
    file->status = FRZ_STATUS_MODIFIED;
    file->modified_snapshot_id = m->attempt->snapshot_id;
    file->dv = c->dv;
    file->deleted_positions = c->deleted->cardinality > 0 ? c->deleted : NULL;
    file->replaced_positions = c->replaced->cardinality > 0 ? c->replaced : NULL;
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
    m->out->manifests[m->out->manifest_count++] = file;
    manifest_changes c = {.manifest = i,
                          .parent = parent,
                          .from = lower_bound(m, i, 0),
                          .to = lower_bound(m, i + 1, 0)};
    if (c.to > c.from) {
        FRZ_TRY(change_manifest(m, &c, file, err));
    }
out:
    return rc;
}

static frz_code take_manifests(tree_maker *m, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_tree *tree = m->attempt->tree;
    size_t count = tree == NULL ? 0 : frz_tree_manifest_count(tree);
    m->out->manifests = frz_arena_array(m->attempt->arena, 2 * count, sizeof *m->out->manifests);
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
    FRZ_TRY(take_manifests(&m, err));
    FRZ_TRY(take_entries(&m, err));
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
