/*
 * fuzz: a task of an update, and results. The same bytes are run as a task, whose table is there
 * but none of its files are, and read as results by a plan of the same table and as a commit does.
 * The only file that can be a source is the table's metadata.
 */
#include "column_update/column_update_task.h"
#include "fuzz_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static frz_code drop(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    (void)ctx;
    (void)bytes;
    (void)err;
    return len > 0 ? FRZ_OK : FRZ_E_INTERNAL;
}

static void read_results(frz_table *table, const uint8_t *data, size_t size)
{
    static const frz_assignment set[] = {{"x", "x + 1"}, {"d", "d"}, {"s", "s"}};
    frz_update_plan_options opts = FRZ_UPDATE_PLAN_OPTIONS_INIT;
    frz_update_plan *plan = NULL;
    frz_error err = {0};
    opts.results = (const char *)data;
    opts.results_len = size;
    frz_code rc =
        frz_update_plan_open(table, set, FRZ_ARRAY_COUNT(set), "id > 0", &opts, &plan, &err);
    while (rc == FRZ_OK) {
        rc = frz_update_plan_next(plan, drop, NULL, &err);
    }
    frz_update_plan_close(plan);
}

/* Of any statement, which they tell themselves. */
static void read_as_commit(const frz_table *table, const uint8_t *data, size_t size)
{
    update_job job;
    update_job_init(&job, table->env);
    job.apart = true;
    (void)update_job_read(&job, table, NULL, (frz_str){(const char *)data, size}, NULL);
    update_job_reset(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[FUZZ_DOCUMENT_MOST];
    fuzz_storage storage = fuzz_metadata(text);
    frz_env *env = fuzz_env(&storage);
    frz_table *table = NULL;
    frz_error err = {0};
    (void)frz_update_task_run(env, (const char *)data, size, drop, NULL, &err);
    if (frz_table_open(env, FUZZ_METADATA, NULL, &table, NULL) != FRZ_OK) {
        abort();
    }
    read_results(table, data, size);
    read_as_commit(table, data, size);
    frz_table_unref(table);
    fuzz_env_free(env);
    return 0;
}
