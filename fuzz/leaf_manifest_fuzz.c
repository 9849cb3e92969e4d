/*
 * fuzz: a leaf manifest of version 4.
 */
#include "format/format.h"
#include "fuzz_manifest.h"
#include "meta/meta_tree_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t rows_of(const frz_env *env)
{
    frz_data_file *file = NULL;
    int64_t rows = 0;
    if (frz_data_file_open(env, FUZZ_FILE, NULL, &file, NULL) == FRZ_OK) {
        rows = frz_data_file_row_count(file);
    }
    frz_data_file_close(file);
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = FUZZ_FILE, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = fuzz_table(env, FUZZ_DOCUMENT("4", "'manifests':['" FUZZ_FILE "']"));
    frz_tree *tree = NULL;
    if (fuzz_tree(table, &tree) != FRZ_OK) {
        abort();
    }
    tree->manifests[0].legacy = false;
    tree->manifests[0].sequence_number = 7;
    tree->manifests[0].first_row_id = 100;
    tree->manifests[0].entry_count = rows_of(env);
    fuzz_entries(env, tree, 0, false);
    fuzz_entries(env, tree, 0, true);
    frz_tree_free(tree);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
