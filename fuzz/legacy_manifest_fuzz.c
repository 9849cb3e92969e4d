/*
 * fuzz: a manifest of versions 1 to 3, in Avro or Parquet, as data manifest of version 1, as one
 * that numbers and row ids are inherited from, and as delete manifest.
 */
#include "fuzz_manifest.h"
#include "meta/meta_tree_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = FUZZ_FILE, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = fuzz_table(
        env, FUZZ_DOCUMENT("2", "'manifests':['" FUZZ_FILE "','" FUZZ_FILE "','" FUZZ_FILE "']"));
    frz_tree *tree = NULL;
    if (fuzz_tree(table, &tree) != FRZ_OK) {
        abort();
    }
    tree->manifests[1].sequence_number = 7;
    tree->manifests[1].first_row_id = INT64_MAX - 1000;
    tree->manifests[1].spec_id = 1;
    tree->manifests[2].content = FRZ_CONTENT_DELETE_MANIFEST;
    for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
        fuzz_entries(env, tree, i, false);
        fuzz_entries(env, tree, i, true);
    }
    frz_tree_free(tree);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
