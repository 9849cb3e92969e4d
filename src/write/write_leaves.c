/*
 * Leaf manifests. The root is written at every commit, so it holds few entries: when there are more
 * than write.root-manifest.max-entries, all of them move into leaves, which stay as they are.
 * Entries keep their statuses there: in a leaf that is ADDED they are changes of this snapshot.
 * spec: leaf manifest; reading changes out of a leaf
 */
#include <stdio.h>

#include "write/write_internal.h"

#define ROOT_MOST 512
/* Far below what a leaf's masks can reach (meta_mumbling.h); several are read at once. */
#define LEAF_MOST 8192

frz_code frz_write_root_limit(const frz_metadata *metadata, int64_t *out, frz_error *err)
{
    frz_code rc =
        frz_metadata_property_i64(metadata, "write.root-manifest.max-entries", ROOT_MOST, out, err);
    return rc == FRZ_OK && *out < 0
               ? frz_fail(err, FRZ_E_ARGUMENT,
                          "table property write.root-manifest.max-entries: expected 0 or more, "
                          "found %lld",
                          (long long)*out)
               : rc;
}

/* The leaf was written there: it is the attempt's, and a row of the root. */
static frz_code enter_leaf(const frz_commit_attempt *attempt, const char *location,
                           int64_t next_row_id, frz_manifest_file *file, frz_error *err)
{
    frz_code rc = frz_commit_track(attempt, location, file->length, false, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
        return rc;
    }
    file->snapshot_id = attempt->snapshot_id;
    file->sequence_number = attempt->sequence_number;
    file->first_row_id = next_row_id; /* all entries have their own */
    return frz_arena_str(attempt->arena,
                         frz_table_relativize(attempt->table, frz_str_from(location)),
                         &file->location, err);
}

static frz_code write_leaf(const frz_commit_attempt *attempt, const frz_schema *schema,
                           const frz_manifest_rows *rows, int64_t next_row_id,
                           frz_manifest_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    FRZ_TRY(frz_manifest_describe(rows, attempt->arena, file, err));
    FRZ_TRY(frz_commit_manifest_path(attempt, "leaf", &location, err));
    FRZ_TRY(frz_manifest_write(attempt->table, location, schema, rows, attempt->durable,
                               &file->length, err));
    FRZ_TRY(enter_leaf(attempt, location, next_row_id, file, err));
out:
    frz_free(attempt->env, location);
    return rc;
}

frz_code frz_new_leaf_renew(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                            const frz_leaf_renewal *what, int64_t next_row_id,
                            frz_manifest_file *file, bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    const frz_schema *schema = plan->schema != NULL ? plan->schema : attempt->schema;
    FRZ_TRY(frz_commit_manifest_path(attempt, "leaf", &location, err));
    FRZ_TRY(
        frz_leaf_renew(what, location, schema, attempt->durable, attempt->arena, file, done, err));
    if (*done) {
        FRZ_TRY(enter_leaf(attempt, location, next_row_id, file, err));
    }
out:
    frz_free(attempt->env, location);
    return rc;
}

frz_code frz_new_tree_spill(const frz_commit_attempt *attempt, const frz_commit_plan *plan,
                            frz_new_tree *tree, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t limit = 0;
    const frz_schema *schema = plan->schema != NULL ? plan->schema : attempt->schema;
    FRZ_TRY(frz_write_root_limit(&attempt->table->metadata, &limit, err));
    if (tree->entry_count <= (size_t)limit) {
        return FRZ_OK;
    }
    size_t leaves = (tree->entry_count + LEAF_MOST - 1) / LEAF_MOST;
    size_t most = tree->manifest_count + leaves;
    const frz_manifest_file **manifests = frz_arena_array(attempt->arena, most, sizeof *manifests);
    frz_manifest_file *files = frz_arena_array(attempt->arena, leaves, sizeof *files);
    FRZ_TRY(manifests == NULL || files == NULL ? frz_fail_nomem(err, most * sizeof *files)
                                               : FRZ_OK);
    for (size_t i = 0; i < leaves; i++) {
        size_t first = i * LEAF_MOST;
        const frz_manifest_rows rows = {.entries = tree->entries + first,
                                        .entry_count =
                                            FRZ_MIN(tree->entry_count - first, (size_t)LEAF_MOST),
                                        .is_leaf = true};
        FRZ_TRY(write_leaf(attempt, schema, &rows, tree->next_row_id, &files[i], err));
        manifests[i] = &files[i]; /* in front, as the root's entries were */
    }
    if (tree->manifest_count > 0) {
        memcpy(manifests + leaves, tree->manifests, tree->manifest_count * sizeof *manifests);
    }
    tree->manifests = manifests;
    tree->manifest_count = most;
    tree->entry_count = 0;
out:
    return rc;
}
