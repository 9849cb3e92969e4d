/*
 * fuzz: changes of a snapshot. The input is the snapshot's id and its root manifest; there are no
 * other files, so that rows end where the first one is opened.
 */
#include "frazil/changes.h"
#include "fuzz_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef frz_code (*changes_fn)(frz_table *table, const frz_changes_options *opts,
                               struct ArrowArrayStream *out, frz_error *err);

static void drain(frz_table *table, changes_fn changes)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    if (changes(table, NULL, &stream, NULL) != FRZ_OK) {
        return;
    }
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        batch.release(&batch);
        batch = (struct ArrowArray){0};
    }
    stream.release(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < sizeof(int64_t)) {
        return 0;
    }
    int64_t id = (int64_t)(frz_load_le64(data) & INT64_MAX);
    fuzz_storage storage = {
        .location = FUZZ_FILE, .data = data + sizeof id, .size = size - sizeof id};
    frz_env *env = fuzz_env(&storage);
    frz_table *table = fuzz_table(env, FUZZ_DOCUMENT("4", "'root-manifest':'metadata/file'"));
    frz_snapshot *snapshot = (frz_snapshot *)table->metadata.snapshots;
    snapshot->snapshot_id = table->metadata.current_snapshot_id = id == 0 ? 5 : id;
    drain(table, frz_changes_files);
    drain(table, frz_changes_rows);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
