/*
 * fuzz: a manifest list, of any version and format.
 */
#include "fuzz_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {.location = FUZZ_FILE, .data = data, .size = size};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = fuzz_table(env, FUZZ_DOCUMENT("3", "'manifest-list':'" FUZZ_FILE "'"));
    frz_tree *tree = NULL;
    if (fuzz_tree(table, &tree) == FRZ_OK) {
        for (size_t i = 0; i < frz_tree_manifest_count(tree); i++) {
            const frz_manifest_file *file = frz_tree_manifest(tree, i);
            if (file->location.len == 0 || !file->legacy || file->dv != NULL) {
                abort();
            }
        }
    }
    frz_tree_free(tree);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
