/*
 * Metadata files of versions that the metadata log no longer names go after a commit, if
 * write.metadata.delete-after-commit.enabled asks for it. spec: table properties, write behavior
 */
#include "base/base_json.h"
#include "write/write_internal.h"

static bool log_names(const json_t *log, frz_str file)
{
    size_t i;
    const json_t *item;
    json_array_foreach((json_t *)(uintptr_t)log, i, item)
    {
        const json_t *name = json_object_get(item, "metadata-file");
        if (frz_str_equal((frz_str){json_string_value(name), json_string_length(name)}, file)) {
            return true;
        }
    }
    return false;
}

frz_code frz_commit_note_old_versions(const frz_commit_attempt *attempt, const json_t *json,
                                      frz_error *err)
{
    frz_commit *commit = attempt->commit;
    const frz_metadata *before = &attempt->table->metadata;
    const json_t *log = json_object_get(json, "metadata-log");
    const json_t *value = json_object_get(json_object_get(json, "properties"),
                                          "write.metadata.delete-after-commit.enabled");
    frz_str text = {json_string_value(value), json_string_length(value)};
    commit->old_version_count = 0;
    if (!frz_str_equal_nocase(text, FRZ_STR("true")) || before->metadata_log_count == 0) {
        return FRZ_OK;
    }
    frz_str *files = frz_arena_array(attempt->arena, before->metadata_log_count, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, before->metadata_log_count * sizeof *files);
    }
    commit->old_versions = files;
    for (size_t i = 0; i < before->metadata_log_count; i++) {
        frz_str file = before->metadata_log[i].metadata_file;
        if (!log_names(log, file)) {
            files[commit->old_version_count++] = file;
        }
    }
    return FRZ_OK;
}

void frz_commit_remove_old_versions(const frz_commit_attempt *attempt)
{
    const frz_commit *commit = attempt->commit;
    for (size_t i = 0; i < commit->old_version_count; i++) {
        char *location = NULL;
        if (frz_table_resolve(attempt->table, commit->old_versions[i], &location, NULL) == FRZ_OK) {
            /* best effort: what stays behind is referenced by nothing */
            (void)frz_file_remove(commit->env, location, NULL);
        }
        frz_free(commit->env, location);
    }
}
