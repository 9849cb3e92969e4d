/*
 * fuzz: a task. What parses is told, written and parsed again to the same text, and read: its table
 * is there, none of its files are.
 */
#include "frazil/task.h"
#include "fuzz_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static frz_code append(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_buf_append(ctx, bytes, len, err);
}

static void tell(const frz_task *task)
{
    for (size_t i = 0; i < frz_task_file_count(task); i++) {
        frz_task_file file;
        frz_task_file_get(task, i, &file);
        if (file.location == NULL || file.partition == NULL || file.end_row > file.record_count ||
            (file.first_row < 0) == (file.first_byte < 0)) {
            abort();
        }
    }
}

static void write_task(const frz_task *task, frz_buf *out)
{
    frz_error err = {0};
    if (frz_task_write(task, append, out, &err) != FRZ_OK) {
        abort();
    }
}

/* What was written is read back, and written as before. */
static void round_trip(const frz_env *env, const frz_task *task)
{
    frz_error err = {0};
    frz_task *again = NULL;
    frz_buf first = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_buf second = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    write_task(task, &first);
    if (frz_task_parse(env, (const char *)first.data, first.len, NULL, &again, &err) != FRZ_OK) {
        abort();
    }
    write_task(again, &second);
    if (!frz_str_equal(frz_buf_view(&first), frz_buf_view(&second))) {
        abort();
    }
    frz_task_unref(again);
    frz_buf_reset(&first);
    frz_buf_reset(&second);
}

/* Rows of which nothing is asked for that is in a file are there without any. */
static void read_rows(frz_task *task)
{
    frz_error err = {0};
    frz_scan *scan = NULL;
    frz_code rc = frz_task_scan(task, &scan, &err);
    for (int batches = 0; rc == FRZ_OK && batches < 4; batches++) {
        struct ArrowArray batch = {0};
        rc = frz_scan_next(scan, &batch, &err);
        if (rc == FRZ_OK) {
            batch.release(&batch);
        }
    }
    frz_scan_close(scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[FUZZ_DOCUMENT_MOST];
    fuzz_storage storage = fuzz_metadata(text);
    frz_env *env = fuzz_env(&storage);
    frz_task *task = NULL;
    frz_error err = {0};
    if (frz_task_parse(env, (const char *)data, size, NULL, &task, &err) == FRZ_OK) {
        tell(task);
        round_trip(env, task);
        read_rows(task);
    }
    frz_task_unref(task);
    fuzz_env_free(env);
    return 0;
}
