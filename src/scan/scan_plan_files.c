/*
 * Plans: the data files of a snapshot as a stream.
 *
 * Invariants:
 *  1. What comes out, in which order, and the counts do not depend on the number of threads:
 *     manifests that were read ahead count, and fail, only when it is their turn.
 *  2. A manifest that is read ahead stops at SLOT_ENTRIES wanted entries and goes on in its turn,
 * so that no more than WINDOW_MAX times as many are held.
 *  3. The window starts with one manifest and doubles, so that a plan which ends early has read
 *     little.
 */
#include "scan/scan_locations.h"
#include "scan/scan_partition.h"
#include "scan/scan_plan.h"

#define WINDOW_MAX 16
#define SLOT_ENTRIES 2048
#define SLOT_PARTS 64
/* Fields of a filter of which it is told whether their counts alone would have been enough. */
#define COUNTS_MAX 32

/* Entries that came at once. */
typedef struct plan_part {
    const frz_entry *entries;
    size_t count;
} plan_part;

/* Entries that were turned down, by what. */
typedef struct plan_skipped {
    int64_t by_partition, by_statistics, by_counts;
} plan_skipped;

/* A manifest that is being read. */
typedef struct plan_slot {
    const struct frz_file_plan *plan;
    size_t manifest;
    frz_entry_reader *reader; /* NULL: not open, or at its end */
    frz_arena arena;          /* of the entries */
    plan_part parts[SLOT_PARTS];
    size_t part_count, part, at; /* the next entry is entry at of this part */
    int64_t live;                /* entries, known at the end */
    plan_skipped skipped;
    frz_code rc; /* of reading ahead */
    frz_error error;
} plan_slot;

struct frz_file_plan {
    const frz_env *env;
    const frz_table *table;
    frz_entry_filter *filter; /* NULL: all files */
    frz_arena arena;          /* of stats */
    frz_stats_choice stats;
    bool reasons;
    frz_tree *tree, *own_tree; /* own_tree NULL: it was lent */
    frz_locations locations;
    size_t next_entry;    /* of the root */
    size_t next_manifest; /* not in a slot yet */
    size_t window;        /* manifests of the next window */
    plan_slot *slots;     /* WINDOW_MAX */
    size_t slot_count, slot;
    frz_file_plan_report report;
};

/* ---- reading a manifest ---- */

/* Would the partition alone have been enough? */
static bool partition_decides(const frz_file_plan *plan, const frz_entry *entry)
{
    frz_entry bare = *entry;
    bare.stats_count = 0;
    return plan->reasons && entry->partition_count > 0 &&
           !frz_entry_filter_may_match(plan->filter, &bare);
}

/* Would the statistics have been enough without their bounds? */
static bool counts_decide(const frz_file_plan *plan, const frz_entry *entry)
{
    frz_field_stats counts[COUNTS_MAX];
    frz_entry bare = *entry;
    if (!plan->reasons || entry->stats_count == 0 || entry->stats_count > COUNTS_MAX) {
        return false;
    }
    for (size_t i = 0; i < entry->stats_count; i++) {
        counts[i] = entry->stats[i];
        counts[i].has_lower = counts[i].has_upper = false;
    }
    bare.stats = counts;
    return !frz_entry_filter_may_match(plan->filter, &bare);
}

static bool may_match(const frz_file_plan *plan, const frz_entry *entry, plan_skipped *skipped)
{
    if (plan->filter == NULL || frz_entry_filter_may_match(plan->filter, entry)) {
        return true;
    }
    bool by_partition = partition_decides(plan, entry);
    skipped->by_partition += by_partition;
    skipped->by_statistics += !by_partition;
    skipped->by_counts += !by_partition && counts_decide(plan, entry);
    return false;
}

static bool keep_entry(void *ctx, const frz_entry *entry)
{
    plan_slot *slot = ctx;
    return may_match(slot->plan, entry, &slot->skipped);
}

static void count_skipped(frz_file_plan *plan, const plan_skipped *skipped)
{
    plan->report.files_by_partition += skipped->by_partition;
    plan->report.files_by_statistics += skipped->by_statistics;
    plan->report.files_by_counts += skipped->by_counts;
    plan->report.files_skipped += skipped->by_partition + skipped->by_statistics;
}

/* Read on until there are enough entries or no more. */
static frz_code fill(plan_slot *slot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t held = 0;
    frz_arena_reset(&slot->arena);
    slot->part_count = slot->part = slot->at = 0;
    while (slot->reader != NULL && held < SLOT_ENTRIES && slot->part_count < SLOT_PARTS) {
        plan_part *part = &slot->parts[slot->part_count];
        rc = frz_entry_reader_next(slot->reader, &slot->arena, &part->entries, &part->count, err);
        if (rc == FRZ_END) {
            slot->live = frz_entry_reader_live_count(slot->reader);
            frz_entry_reader_close(slot->reader);
            slot->reader = NULL;
            rc = FRZ_OK;
            break;
        }
        FRZ_TRY(rc);
        held += part->count;
        slot->part_count += part->count > 0;
    }
out:
    return rc;
}

/* Failures wait for the manifest's turn. */
static frz_code read_ahead(void *ctx, size_t index, frz_error *err)
{
    frz_file_plan *plan = ctx;
    plan_slot *slot = &plan->slots[index];
    frz_entry_request request = {
        .stats = plan->stats, .keep = plan->filter == NULL ? NULL : keep_entry, .keep_ctx = slot};
    (void)err;
    slot->rc =
        frz_entry_reader_open(plan->tree, slot->manifest, &request, &slot->reader, &slot->error);
    if (slot->rc == FRZ_OK) {
        slot->rc = fill(slot, &slot->error);
    }
    return FRZ_OK;
}

static void close_slot(plan_slot *slot)
{
    frz_entry_reader_close(slot->reader);
    slot->reader = NULL;
    frz_arena_reset(&slot->arena);
}

/* ---- windows of manifests ---- */

static void skip_manifest(frz_file_plan *plan, const frz_manifest_file *file)
{
    int64_t files = FRZ_MAX(frz_manifest_live_files(file), 0);
    plan->report.manifests_skipped++;
    plan->report.files += files;
    plan->report.files_skipped += files;
    frz_log(plan->env, "scan", FRZ_LOG_DEBUG, "manifest %.*s: skipped",
            FRZ_STR_ARG(file->location));
}

static bool manifest_may_match(frz_file_plan *plan, const frz_manifest_file *file)
{
    if (!frz_manifest_is_live(file)) {
        plan->report.manifests_empty++;
        return false;
    }
    if (plan->filter == NULL || frz_entry_filter_may_match_manifest(plan->filter, file)) {
        return true;
    }
    frz_manifest_file bare = *file;
    bare.stats_count = 0;
    bool by_partition =
        file->partition_count > 0 &&
        (file->stats_count == 0 || !frz_entry_filter_may_match_manifest(plan->filter, &bare));
    plan->report.manifests_by_partition += by_partition;
    plan->report.manifests_by_statistics += !by_partition;
    return false;
}

/* The next manifests that can hold wanted entries become slots. */
static void choose_manifests(frz_file_plan *plan)
{
    size_t window = frz_threads(plan->env) > 1 ? plan->window : 1;
    plan->slot_count = plan->slot = 0;
    while (plan->slot_count < window && plan->next_manifest < frz_tree_manifest_count(plan->tree)) {
        size_t i = plan->next_manifest++;
        const frz_manifest_file *file = frz_tree_manifest(plan->tree, i);
        if (file->content != FRZ_CONTENT_DATA_MANIFEST || !frz_status_is_live(file->status)) {
            continue;
        }
        plan->report.manifests++;
        if (!manifest_may_match(plan, file)) {
            skip_manifest(plan, file);
            continue;
        }
        plan_slot *slot = &plan->slots[plan->slot_count++];
        *slot = (plan_slot){.plan = plan, .manifest = i};
        frz_arena_init(&slot->arena, plan->env, FRZ_ARENA_NO_LIMIT);
    }
    plan->window = FRZ_MIN(plan->window * 2, (size_t)WINDOW_MAX);
}

/* FRZ_END if there are no more. */
static frz_code next_window(frz_file_plan *plan, frz_error *err)
{
    choose_manifests(plan);
    return plan->slot_count == 0 ? FRZ_END
                                 : frz_parallel(plan->env, plan->slot_count, read_ahead, plan, err);
}

/* ---- entries in their order ---- */

static const frz_entry *next_held(plan_slot *slot)
{
    while (slot->part < slot->part_count) {
        const plan_part *part = &slot->parts[slot->part];
        if (slot->at < part->count) {
            return &part->entries[slot->at++];
        }
        slot->part++;
        slot->at = 0;
    }
    return NULL;
}

static frz_code slot_failed(plan_slot *slot, frz_error *err)
{
    if (err != NULL) {
        *err = slot->error;
    }
    return slot->rc;
}

/* The next wanted entry of the manifests. */
static frz_code next_of_manifests(frz_file_plan *plan, const frz_entry **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (;;) {
        if (plan->slot == plan->slot_count) {
            FRZ_TRY(next_window(plan, err));
        }
        plan_slot *slot = &plan->slots[plan->slot];
        FRZ_TRY(slot->rc == FRZ_OK ? FRZ_OK : slot_failed(slot, err));
        *out = next_held(slot);
        if (*out != NULL) {
            return FRZ_OK;
        }
        if (slot->reader != NULL) {
            FRZ_TRY(fill(slot, err));
            continue;
        }
        plan->report.files += slot->live;
        count_skipped(plan, &slot->skipped);
        close_slot(slot);
        plan->slot++;
    }
out:
    return rc;
}

/* The next wanted entry of the root itself; NULL behind the last. */
static const frz_entry *next_of_root(frz_file_plan *plan)
{
    while (plan->next_entry < frz_tree_entry_count(plan->tree)) {
        const frz_entry *entry = frz_tree_entry(plan->tree, plan->next_entry++);
        if (!frz_status_is_live(entry->status)) {
            continue;
        }
        plan_skipped skipped = {0};
        plan->report.files++;
        if (may_match(plan, entry, &skipped)) {
            return entry;
        }
        count_skipped(plan, &skipped);
        frz_log(plan->env, "scan", FRZ_LOG_DEBUG, "%.*s: skipped", FRZ_STR_ARG(entry->location));
    }
    return NULL;
}

/* spec: within a snapshot a content file has at most one live entry (v4) */
static frz_code check_unique(frz_file_plan *plan, const frz_entry *entry, frz_error *err)
{
    bool added = true;
    frz_code rc = FRZ_OK;
    if (frz_tree_has_root(plan->tree)) {
        rc = frz_locations_add(&plan->locations, plan->table, entry->location, &added, err);
    }
    return rc == FRZ_OK && !added
               ? frz_fail(err, FRZ_E_CORRUPT, "manifest %s: %.*s has two live entries",
                          frz_tree_location(plan->tree), FRZ_STR_ARG(entry->location))
               : rc;
}

frz_code frz_file_plan_next(frz_file_plan *plan, frz_planned_file *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *entry = next_of_root(plan);
    if (entry == NULL) {
        FRZ_TRY(next_of_manifests(plan, &entry, err));
    }
    FRZ_TRY(check_unique(plan, entry, err));
    *out = (frz_planned_file){.entry = entry,
                              .settled = plan->filter != NULL &&
                                         frz_entry_filter_is_settled(plan->filter, entry)};
out:
    return rc;
}

/* ---- all at once ---- */

/* Entries of the root live as long as the tree, others in a part that is read over. */
static frz_code keep_task(frz_arena *arena, const frz_entry *entry, const frz_entry **out,
                          frz_error *err)
{
    if (entry->manifest == FRZ_IN_ROOT) {
        *out = entry;
        return FRZ_OK;
    }
    frz_entry *copy = frz_arena_alloc(arena, sizeof *copy);
    *out = copy;
    return copy == NULL ? frz_fail_nomem(err, sizeof *copy)
                        : frz_entry_copy(arena, entry, copy, err);
}

static frz_code collect(frz_file_plan *plan, frz_arena *arena, const frz_entry ***list,
                        size_t *capacity, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_planned_file task;
    while ((rc = frz_file_plan_next(plan, &task, err)) == FRZ_OK) {
        FRZ_TRY(FRZ_GROW(plan->env, list, capacity, *count, err));
        FRZ_TRY(keep_task(arena, task.entry, &(*list)[*count], err));
        ++*count;
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    return rc;
}

frz_code frz_file_plan_collect(frz_file_plan *plan, frz_arena *arena, const frz_entry *const **out,
                               size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t capacity = 0;
    const frz_entry **list = NULL, **kept = NULL;
    *count = 0;
    FRZ_TRY(collect(plan, arena, &list, &capacity, count, err));
    kept = frz_arena_array(arena, *count, sizeof *kept);
    FRZ_TRY(kept == NULL ? frz_fail_nomem(err, *count * sizeof *kept) : FRZ_OK);
    if (*count > 0) {
        memcpy(kept, list, *count * sizeof *kept);
    }
    *out = kept;
out:
    frz_free(plan->env, list);
    return rc;
}

/* ---- which statistics ---- */

typedef struct id_collector {
    int32_t *ids; /* NULL: only count */
    size_t count;
} id_collector;

static void add_id(id_collector *c, int32_t id)
{
    if (c->ids != NULL) {
        c->ids[c->count] = id;
    }
    c->count++;
}

static frz_code collect_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    (void)err;
    if (!in_repeated && !frz_type_is_nested(field->type)) {
        add_id(ctx, field->id);
    }
    return FRZ_OK;
}

/* The filter's fields, and what is below those that are structs. */
static frz_code collect_ids(const frz_bound_expr *filter, const frz_schema *schema, id_collector *c,
                            frz_error *err)
{
    size_t count = 0;
    const int32_t *ids = frz_bound_expr_fields(filter, &count);
    c->count = 0;
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = frz_type_field_by_id(schema->type, ids[i]);
        if (field == NULL || !frz_type_is_nested(field->type)) {
            add_id(c, ids[i]);
        } else if (field->type->id == FRZ_TYPE_STRUCT) {
            frz_code rc = frz_type_visit(field->type, collect_id, c, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
    }
    return FRZ_OK;
}

static frz_code choose_stats(frz_file_plan *plan, const frz_file_plan_options *options,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    id_collector c = {NULL, 0};
    FRZ_TRY(collect_ids(options->filter, options->schema, &c, err));
    c.ids = frz_arena_array(&plan->arena, c.count, sizeof *c.ids);
    FRZ_TRY(c.ids == NULL ? frz_fail_nomem(err, c.count * sizeof *c.ids) : FRZ_OK);
    FRZ_TRY(collect_ids(options->filter, options->schema, &c, err));
    plan->stats.field_ids = c.ids;
    plan->stats.field_count = c.count;
out:
    return rc;
}

static bool holds_id(const int32_t *ids, size_t count, int32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

frz_code frz_file_plan_add_stats(frz_file_plan *plan, const int32_t *field_ids, size_t count,
                                 frz_error *err)
{
    size_t before = plan->stats.field_count;
    int32_t *ids = frz_arena_array(&plan->arena, before + count, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, (before + count) * sizeof *ids);
    }
    if (before > 0) {
        memcpy(ids, plan->stats.field_ids, before * sizeof *ids);
    }
    plan->stats.field_ids = ids;
    for (size_t i = 0; i < count; i++) {
        if (!holds_id(ids, plan->stats.field_count, field_ids[i])) {
            ids[plan->stats.field_count++] = field_ids[i];
        }
    }
    return FRZ_OK;
}

/* ---- opening ---- */

frz_code frz_file_plan_open(const frz_table *table, const frz_file_plan_options *options,
                            frz_file_plan **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = table->env;
    frz_file_plan *plan = frz_alloc_zero(env, 1, sizeof *plan);
    if (plan == NULL) {
        return frz_fail_nomem(err, sizeof *plan);
    }
    plan->env = env;
    plan->table = table;
    plan->window = 1;
    plan->reasons = options->reasons;
    plan->locations.env = env;
    frz_arena_init(&plan->arena, env, FRZ_ARENA_NO_LIMIT);
    if (options->filter != NULL) {
        FRZ_TRY(frz_entry_filter_new(env, &table->metadata, options->schema, options->filter,
                                     &plan->filter, err));
        FRZ_TRY(choose_stats(plan, options, err));
    }
    plan->slots = frz_alloc_zero(env, WINDOW_MAX, sizeof *plan->slots);
    FRZ_TRY(plan->slots == NULL ? frz_fail_nomem(err, WINDOW_MAX * sizeof *plan->slots) : FRZ_OK);
    if (options->tree == NULL) {
        FRZ_TRY(frz_tree_open(table, options->snapshot, options->schema, &plan->stats,
                              &plan->own_tree, err));
    }
    plan->tree = options->tree != NULL ? options->tree : plan->own_tree;
    *out = plan;
    plan = NULL;
out:
    frz_file_plan_close(plan);
    return rc;
}

const frz_tree *frz_file_plan_tree(const frz_file_plan *plan)
{
    return plan->tree;
}

void frz_file_plan_report_get(const frz_file_plan *plan, frz_file_plan_report *out)
{
    *out = plan->report;
}

void frz_file_plan_close(frz_file_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    for (size_t i = plan->slot; i < plan->slot_count; i++) {
        close_slot(&plan->slots[i]);
    }
    frz_locations_reset(&plan->locations);
    frz_tree_free(plan->own_tree);
    frz_entry_filter_free(plan->filter);
    frz_arena_reset(&plan->arena);
    frz_free(plan->env, plan->slots);
    frz_free(plan->env, plan);
}
