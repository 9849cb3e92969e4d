/*
 * fuzz: a root manifest of a table with a column of every kind. What opens is listed and written
 * again.
 */
#include "fuzz_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_view(const frz_table *table, frz_table_view view)
{
    struct ArrowArrayStream stream = {0};
    if (frz_table_list(table, view, 0, &stream, NULL) == FRZ_OK) {
        stream.release(&stream);
    }
}

/* What is live of it, as the base of a new root. */
static frz_code write_again(const frz_env *env, const frz_table *table, frz_tree *tree)
{
    frz_code rc = FRZ_OK;
    size_t files = frz_tree_entry_count(tree), manifests = frz_tree_manifest_count(tree);
    int64_t bytes = 0, next_row_id = table->metadata.next_row_id;
    frz_manifest_rows rows = {.entry_count = 0};
    const frz_entry **entries = frz_alloc_zero(env, files, sizeof *entries);
    const frz_manifest_file **others = frz_alloc_zero(env, manifests, sizeof *others);
    FRZ_TRY(entries == NULL || others == NULL ? FRZ_E_NOMEM : FRZ_OK);
    FRZ_TRY(frz_tree_settle(tree, &next_row_id, NULL));
    for (size_t i = 0; i < files; i++) {
        const frz_entry *entry = frz_tree_entry(tree, i);
        if (frz_status_is_live(entry->status)) {
            entries[rows.entry_count++] = entry;
        }
    }
    for (size_t i = 0; i < manifests; i++) {
        const frz_manifest_file *file = frz_tree_manifest(tree, i);
        (void)frz_manifest_file_check_changes(file, NULL);
        if (frz_manifest_is_live(file)) {
            others[rows.manifest_count++] = file;
        }
    }
    rows.entries = entries;
    rows.manifests = others;
    rc = frz_manifest_write(table, "file:///t/metadata/new.parquet",
                            frz_metadata_current_schema(&table->metadata), &rows, false, &bytes,
                            NULL);
out:
    frz_free(env, entries);
    frz_free(env, others);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = FUZZ_FILE, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = fuzz_table(env, FUZZ_DOCUMENT("4", "'root-manifest':'metadata/file'"));
    frz_tree *tree = NULL;
    if (fuzz_tree(table, &tree) == FRZ_OK) {
        list_view(table, FRZ_TABLE_VIEW_FILES);
        list_view(table, FRZ_TABLE_VIEW_MANIFESTS);
        (void)write_again(env, table, tree);
    }
    frz_tree_free(tree);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
