/*
 * The manifests of a snapshot, from whatever names them.
 * spec: snapshots, root manifest, manifest deletion vectors
 */
#include "meta/meta_root.h"
#include "meta/meta_tree_internal.h"

frz_code meta_tree_add_manifest(frz_tree *tree, const frz_manifest_file *file, frz_error *err)
{
    frz_code rc =
        FRZ_GROW(tree->env, &tree->manifests, &tree->manifest_capacity, tree->manifest_count, err);
    if (rc == FRZ_OK) {
        tree->manifests[tree->manifest_count++] = *file;
    }
    return rc;
}

/* ---- bitmaps of positions ---- */

static frz_code new_set(frz_tree *tree, frz_mumbling **out, frz_error *err)
{
    frz_code rc = FRZ_GROW(tree->env, &tree->sets, &tree->set_capacity, tree->set_count, err);
    frz_mumbling *set = rc == FRZ_OK ? frz_arena_alloc(&tree->arena, sizeof *set) : NULL;
    if (rc == FRZ_OK && set == NULL) {
        rc = frz_fail_nomem(err, sizeof *set);
    }
    if (rc == FRZ_OK) {
        frz_mumbling_init(set, tree->env);
        tree->sets[tree->set_count++] = set;
        *out = set;
    }
    return rc;
}

/* spec: a position at or behind the leaf's record_count is an error */
static frz_code read_set(frz_tree *tree, frz_str bytes, const char *name, int64_t entry_count,
                         const frz_mumbling **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_mumbling *set = NULL;
    if (bytes.ptr == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(new_set(tree, &set, err));
    FRZ_TRY(frz_mumbling_decode(set, bytes, err));
    if (entry_count != FRZ_NO_VALUE && frz_mumbling_last(set) >= entry_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "position %lld is not among the %lld entries",
                      (long long)frz_mumbling_last(set), (long long)entry_count);
        goto out;
    }
    *out = set;
out:
    return frz_context(err, rc, "%s", name);
}

frz_code frz_manifest_file_check_changes(const frz_manifest_file *file, frz_error *err)
{
    static const frz_mumbling none = {.env = NULL};
    const frz_mumbling *dv = file->dv == NULL ? &none : file->dv;
    const frz_mumbling *deleted = file->deleted_positions == NULL ? &none : file->deleted_positions;
    const frz_mumbling *replaced =
        file->replaced_positions == NULL ? &none : file->replaced_positions;
    if (!frz_mumbling_is_disjoint(deleted, replaced)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "manifest %.*s: deleted_positions and replaced_positions share a position",
                        FRZ_STR_ARG(file->location));
    }
    if (!frz_mumbling_is_subset(deleted, dv) || !frz_mumbling_is_subset(replaced, dv)) {
        return frz_fail(
            err, FRZ_E_CORRUPT, "manifest %.*s: a position of %s is not in the manifest's dv",
            FRZ_STR_ARG(file->location),
            frz_mumbling_is_subset(deleted, dv) ? "replaced_positions" : "deleted_positions");
    }
    return FRZ_OK;
}

/* ---- root manifests ---- */

static frz_code take_entry(frz_tree *tree, const frz_entry *entry, frz_error *err)
{
    frz_code rc =
        FRZ_GROW(tree->env, &tree->entries, &tree->entry_capacity, tree->entry_count, err);
    if (rc == FRZ_OK) {
        tree->entries[tree->entry_count] = *entry;
        tree->entries[tree->entry_count++].manifest = FRZ_IN_ROOT;
    }
    return rc;
}

static frz_code take_row(void *ctx, const frz_entry *entry, const meta_tracked_manifest *manifest,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_tree *tree = ctx;
    if (manifest == NULL) {
        return take_entry(tree, entry, err);
    }
    frz_manifest_file file = manifest->file;
    FRZ_TRY(read_set(tree, manifest->dv, "dv", file.entry_count, &file.dv, err));
    FRZ_TRY(read_set(tree, manifest->deleted_positions, "deleted_positions", file.entry_count,
                     &file.deleted_positions, err));
    FRZ_TRY(read_set(tree, manifest->replaced_positions, "replaced_positions", file.entry_count,
                     &file.replaced_positions, err));
    FRZ_TRY(meta_tree_add_manifest(tree, &file, err));
out:
    return rc;
}

static frz_code read_root(frz_tree *tree, const frz_snapshot *snapshot,
                          const frz_stats_choice *stats, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_root root = {.table = tree->table,
                      .snapshot = snapshot,
                      .schema = tree->schema,
                      .rules = &tree->rules,
                      .stats = *stats,
                      .arena = &tree->arena,
                      .row = take_row,
                      .ctx = tree};
    FRZ_TRY(meta_root_check(snapshot, err));
    FRZ_TRY(frz_table_resolve_access(tree->table, snapshot->root_manifest, &tree->location, err));
    root.location = tree->location;
    tree->has_root = true;
    rc = meta_root_read(&root, err);
    frz_context(err, rc, "manifest %s", tree->location);
out:
    return rc;
}

/* ---- opening ---- */

frz_code frz_tree_open(const frz_table *table, const frz_snapshot *snapshot,
                       const frz_schema *schema, const frz_stats_choice *stats, frz_tree **out,
                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = table->env;
    frz_tree *tree = frz_alloc_zero(env, 1, sizeof *tree);
    if (tree == NULL) {
        return frz_fail_nomem(err, sizeof *tree);
    }
    tree->env = env;
    tree->table = table;
    tree->schema = schema;
    frz_arena_init(&tree->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(meta_entry_rules_of(&table->metadata, schema, &tree->arena, &tree->rules, err));
    if (snapshot->root_manifest.ptr != NULL) {
        FRZ_TRY(read_root(tree, snapshot, stats, err));
    } else if (snapshot->manifest_list.ptr != NULL) {
        FRZ_TRY(meta_list_read(tree, snapshot, err));
    } else {
        FRZ_TRY(meta_inline_read(tree, snapshot, err));
    }
    *out = tree;
    tree = NULL;
out:
    frz_tree_free(tree);
    return rc;
}

void frz_tree_free(frz_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    const frz_env *env = tree->env;
    for (size_t i = 0; i < tree->set_count; i++) {
        frz_mumbling_reset(tree->sets[i]);
    }
    frz_free(env, tree->sets);
    frz_free(env, tree->entries);
    frz_free(env, tree->manifests);
    frz_free(env, tree->location);
    frz_arena_reset(&tree->arena);
    frz_free(env, tree);
}

const char *frz_tree_location(const frz_tree *tree)
{
    return tree->location;
}

bool frz_tree_has_root(const frz_tree *tree)
{
    return tree->has_root;
}

size_t frz_tree_manifest_count(const frz_tree *tree)
{
    return tree->manifest_count;
}

const frz_manifest_file *frz_tree_manifest(const frz_tree *tree, size_t i)
{
    assert(i < tree->manifest_count);
    return &tree->manifests[i];
}

size_t frz_tree_entry_count(const frz_tree *tree)
{
    return tree->entry_count;
}

const frz_entry *frz_tree_entry(const frz_tree *tree, size_t i)
{
    assert(i < tree->entry_count);
    return &tree->entries[i];
}

/* ---- how many entries are live ---- */

/* Entries that were live when the manifest was written, or FRZ_NO_VALUE. */
static int64_t live_of(const int64_t counts[5])
{
    int64_t sum = 0;
    for (int status = FRZ_STATUS_EXISTING; status <= FRZ_STATUS_MODIFIED; status++) {
        if (frz_status_is_live((frz_status)status) &&
            (counts[status] == FRZ_NO_VALUE || !frz_add_i64(sum, counts[status], &sum))) {
            return FRZ_NO_VALUE;
        }
    }
    return sum;
}

int64_t frz_manifest_live_files(const frz_manifest_file *file)
{
    int64_t live = live_of(file->files);
    int64_t masked = file->dv == NULL ? 0 : file->dv->cardinality;
    return live == FRZ_NO_VALUE ? live : FRZ_MAX(live - masked, 0);
}

bool frz_manifest_is_live(const frz_manifest_file *file)
{
    bool all_masked = file->dv != NULL && file->dv->cardinality == file->entry_count;
    return frz_status_is_live(file->status) && !all_masked && live_of(file->files) != 0;
}
