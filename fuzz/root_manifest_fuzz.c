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

static void write_again(const frz_table *table, const frz_manifest *manifest)
{
    const frz_entry *const *live = NULL;
    size_t count = 0;
    int64_t bytes = 0;
    if (frz_manifest_live(manifest, &live, &count, NULL) == FRZ_OK) {
        const frz_manifest_rows rows = {.entries = live, .entry_count = count};
        (void)frz_manifest_write(table, "file:///t/metadata/new.parquet",
                                 frz_metadata_current_schema(&table->metadata), &rows, false,
                                 &bytes, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = FUZZ_FILE, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = fuzz_table(env, FUZZ_DOCUMENT("4", "'root-manifest':'metadata/file'"));
    const frz_metadata *m = &table->metadata;
    frz_manifest *manifest = NULL;
    frz_tree *tree = NULL;
    frz_error err = {0};
    if (fuzz_tree(table, &tree) == FRZ_OK) {
        for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
            (void)frz_manifest_file_check_changes(frz_tree_manifest(tree, i), NULL);
        }
    }
    frz_tree_free(tree);
    if (frz_manifest_open(table, frz_metadata_current_snapshot(m), frz_metadata_current_schema(m),
                          &manifest, &err) == FRZ_OK) {
        list_view(table, FRZ_TABLE_VIEW_FILES);
        list_view(table, FRZ_TABLE_VIEW_MANIFESTS);
        write_again(table, manifest);
    }
    frz_manifest_free(manifest);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
