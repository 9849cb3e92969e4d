/*
 * New data files: rows go to the open file of their partition.
 *
 * Invariants:
 *  1. A file is tracked by the commit from the moment it is finished; one that is not is removed by
 *     its writer. So whatever fails, no file stays behind that nothing knows of.
 *  2. At most OPEN_MAX files are open, fewer of a wide table. If another partition turns up, the
 *     file that was written to least recently is ended; more rows of its partition begin another.
 *     Of each batch the partitions whose files are open come first, so that many of them stay so
 *     when partitions come again and again in the same order.
 *  3. Encoded rows that wait in memory for their row group's end are at most WAITING_MAX bytes, and
 *     those of one batch: the largest row group is ended early.
 */
#include "files/files.h"

#define OPEN_MAX 512
#define OPEN_MIN 16
#define OPEN_COLUMNS 65536 /* of all open files, each of which has buffers */
#define WAITING_MAX ((size_t)512 << 20)
#define FIRST_SLOTS 64

/* An open data file, and the rows of the present batch that go there. */
typedef struct open_file {
    frz_parquet_writer *writer; /* NULL: not open at present */
    char *location;
    const frz_partition_value *partition;
    frz_str key; /* equal for equal tuples */
    uint64_t last_used;
    uint8_t *selection; /* room for a batch; NULL until it is needed */
    int64_t selected;
} open_file;

struct frz_row_files {
    const frz_commit_attempt *attempt;
    frz_row_files_options options;
    frz_arena *arena;
    open_file *parts; /* one for each partition seen */
    size_t part_count, part_capacity;
    size_t *slots; /* by hash of the key: index in parts + 1; 0: free */
    size_t slot_count;
    size_t open_count, open_max;
    uint64_t clock;
    frz_row_file *finished;
    size_t finished_count, finished_capacity;
    frz_value *tuple; /* room for one */
    frz_buf key;
};

/* ---- one file ---- */

static frz_code end_file(frz_row_files *files, open_file *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_file done = {.partition = part->partition};
    const frz_commit_attempt *attempt = files->attempt;
    bool sync = frz_commit_sync_each(attempt, files->finished_count + 1);
    FRZ_TRY(FRZ_GROW(attempt->env, &files->finished, &files->finished_capacity,
                     files->finished_count, err));
    rc = frz_parquet_writer_finish(part->writer, sync, files->arena, &done.written, err);
    part->writer = NULL;
    files->open_count--;
    FRZ_TRY(rc);
    rc = frz_commit_track(attempt, part->location, done.written.file_size, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, part->location, NULL);
        goto out;
    }
    FRZ_TRY(frz_arena_str(files->arena, frz_str_from(part->location), &done.location, err));
    FRZ_TRY(frz_stats_own_types(files->arena, done.written.stats, done.written.stats_count, err));
    files->finished[files->finished_count++] = done;
out:
    frz_free(attempt->env, part->location);
    part->location = NULL;
    return rc;
}

static frz_code end_oldest(frz_row_files *files, frz_error *err)
{
    open_file *oldest = NULL;
    for (size_t i = 0; i < files->part_count; i++) {
        open_file *part = &files->parts[i];
        if (part->writer != NULL && (oldest == NULL || part->last_used < oldest->last_used)) {
            oldest = part;
        }
    }
    return oldest == NULL ? FRZ_OK : end_file(files, oldest, err);
}

static frz_code begin_file(frz_row_files *files, open_file *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_commit_attempt *attempt = files->attempt;
    if (files->open_count >= files->open_max) {
        FRZ_TRY(end_oldest(files, err));
    }
    FRZ_TRY(frz_commit_new_path(attempt, ".parquet", &part->location, err));
    FRZ_TRY(frz_parquet_writer_open(attempt->env, part->location, files->options.type,
                                    &files->options.write, &part->writer, err));
    files->open_count++;
out:
    if (rc != FRZ_OK) {
        frz_free(attempt->env, part->location);
        part->location = NULL;
    }
    return rc;
}

static frz_code write_rows(frz_row_files *files, open_file *part, const struct ArrowArray *batch,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (part->writer == NULL) {
        FRZ_TRY(begin_file(files, part, err));
    }
    part->last_used = ++files->clock;
    FRZ_TRY(frz_parquet_writer_write(part->writer, batch, err));
    if (frz_parquet_writer_bytes(part->writer) >= (uint64_t)files->options.target_bytes) {
        FRZ_TRY(end_file(files, part, err));
    }
out:
    return rc;
}

/* ---- partitions ---- */

static uint64_t hash_of(frz_str key)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < key.len; i++) {
        hash = (hash ^ (uint8_t)key.ptr[i]) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* The slot of a key, or the free one where it belongs. */
static size_t *find_slot(const frz_row_files *files, frz_str key)
{
    size_t at = (size_t)hash_of(key) & (files->slot_count - 1);
    while (files->slots[at] != 0 && !frz_str_equal(files->parts[files->slots[at] - 1].key, key)) {
        at = (at + 1) & (files->slot_count - 1);
    }
    return &files->slots[at];
}

static frz_code grow_slots(frz_row_files *files, frz_error *err)
{
    const frz_env *env = files->attempt->env;
    size_t count = files->slot_count == 0 ? FIRST_SLOTS : files->slot_count * 2;
    size_t *slots = frz_alloc_zero(env, count, sizeof *slots);
    if (slots == NULL) {
        return frz_fail_nomem(err, count * sizeof *slots);
    }
    frz_free(env, files->slots);
    files->slots = slots;
    files->slot_count = count;
    for (size_t i = 0; i < files->part_count; i++) {
        *find_slot(files, files->parts[i].key) = i + 1;
    }
    return FRZ_OK;
}

static frz_code keep_tuple(frz_row_files *files, open_file *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_partitioning *p = files->options.partitioning;
    frz_partition_value *kept = frz_arena_array(files->arena, p->field_count, sizeof *kept);
    if (kept == NULL) {
        return frz_fail_nomem(err, p->field_count * sizeof *kept);
    }
    for (size_t i = 0; i < p->field_count; i++) {
        kept[i].field_id = p->fields[i].field_id;
        FRZ_TRY(frz_value_copy(files->arena, &files->tuple[i], &kept[i].value, err));
    }
    FRZ_TRY(frz_arena_str(files->arena, frz_buf_view(&files->key), &part->key, err));
    part->partition = kept;
out:
    return rc;
}

/* The partition of the tuple and the key that are set. */
static frz_code find_part(frz_row_files *files, size_t *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    open_file part = {0};
    if (files->part_count * 2 >= files->slot_count) {
        FRZ_TRY(grow_slots(files, err));
    }
    size_t *slot = find_slot(files, frz_buf_view(&files->key));
    if (*slot == 0) {
        FRZ_TRY(FRZ_GROW(files->attempt->env, &files->parts, &files->part_capacity,
                         files->part_count, err));
        FRZ_TRY(keep_tuple(files, &part, err));
        files->parts[files->part_count++] = part;
        *slot = files->part_count;
    }
    *out = *slot - 1;
out:
    return rc;
}

/* ---- batches ---- */

/* Neighbouring rows are often of one partition. */
static frz_code route(frz_row_files *files, const struct ArrowArray *batch, size_t *parts,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf last = FRZ_BUF_INIT(files->attempt->env, FRZ_BUF_NO_LIMIT);
    for (int64_t row = 0; row < batch->length; row++) {
        frz_buf_clear(&files->key);
        rc = frz_partition_tuple(files->options.partitioning, batch, row, files->tuple, &files->key,
                                 err);
        FRZ_TRY(frz_context(err, rc, "the partition of row %lld of a batch", (long long)row));
        if (row > 0 && frz_str_equal(frz_buf_view(&files->key), frz_buf_view(&last))) {
            parts[row] = parts[row - 1];
            continue;
        }
        FRZ_TRY(find_part(files, &parts[row], err));
        frz_buf_clear(&last);
        FRZ_TRY(frz_buf_append(&last, files->key.data, files->key.len, err));
    }
out:
    frz_buf_reset(&last);
    return rc;
}

static frz_code write_selected(frz_row_files *files, open_file *part,
                               const struct ArrowArray *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = files->attempt->env;
    struct ArrowArray rows = {0};
    if (part->selected == batch->length) {
        return write_rows(files, part, batch, err);
    }
    FRZ_TRY(frz_array_filter(env, files->options.type, batch, part->selection, part->selected,
                             &rows, err));
    FRZ_TRY(write_rows(files, part, &rows, err));
out:
    frz_array_release(&rows);
    return rc;
}

static frz_code select_row(frz_row_files *files, open_file *part, int64_t row, int64_t length,
                           frz_error *err)
{
    if (part->selection == NULL) {
        size_t bytes = frz_bitmap_bytes(length) + 8;
        part->selection = frz_alloc_zero(files->attempt->env, 1, bytes);
        if (part->selection == NULL) {
            return frz_fail_nomem(err, bytes);
        }
    }
    frz_bit_set(part->selection, row);
    part->selected++;
    return FRZ_OK;
}

static void drop_selection(frz_row_files *files, open_file *part)
{
    frz_free(files->attempt->env, part->selection);
    part->selection = NULL;
    part->selected = 0;
}

/* Those whose files are open, or all that are left. */
static frz_code write_routed(frz_row_files *files, const struct ArrowArray *batch,
                             const size_t *parts, bool only_open, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t row = 0; row < batch->length; row++) {
        open_file *part = &files->parts[parts[row]];
        if (part->selected > 0 && (part->writer != NULL || !only_open)) {
            FRZ_TRY(write_selected(files, part, batch, err));
            drop_selection(files, part);
        }
    }
out:
    return rc;
}

static frz_code write_parts(frz_row_files *files, const struct ArrowArray *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = files->attempt->env;
    size_t *parts = frz_alloc_zero(env, (size_t)batch->length, sizeof *parts);
    if (parts == NULL) {
        return frz_fail_nomem(err, (size_t)batch->length * sizeof *parts);
    }
    FRZ_TRY(route(files, batch, parts, err));
    for (int64_t row = 0; row < batch->length; row++) {
        FRZ_TRY(select_row(files, &files->parts[parts[row]], row, batch->length, err));
    }
    FRZ_TRY(write_routed(files, batch, parts, true, err));
    FRZ_TRY(write_routed(files, batch, parts, false, err));
out:
    frz_free(env, parts);
    return rc;
}

/* End row groups early until what waits in memory is little enough. */
static frz_code limit_waiting(frz_row_files *files, frz_error *err)
{
    for (;;) {
        size_t all = 0, most = 0;
        open_file *largest = NULL;
        for (size_t i = 0; i < files->part_count; i++) {
            open_file *part = &files->parts[i];
            size_t waiting = part->writer == NULL ? 0 : frz_parquet_writer_waiting(part->writer);
            all += waiting;
            if (waiting > most) {
                most = waiting;
                largest = part;
            }
        }
        if (all <= WAITING_MAX || largest == NULL) {
            return FRZ_OK;
        }
        frz_code rc = frz_parquet_writer_end_group(largest->writer, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
}

frz_code frz_row_files_write(frz_row_files *files, const struct ArrowArray *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t only;
    if (batch->length == 0) {
        return FRZ_OK;
    }
    if (files->options.partitioning->field_count == 0) {
        frz_buf_clear(&files->key);
        FRZ_TRY(find_part(files, &only, err));
        FRZ_TRY(write_rows(files, &files->parts[only], batch, err));
        goto out;
    }
    FRZ_TRY(write_parts(files, batch, err));
    FRZ_TRY(limit_waiting(files, err));
out:
    return rc;
}

/* ---- all of them ---- */

frz_code frz_row_files_new(const frz_commit_attempt *attempt, const frz_row_files_options *options,
                           frz_arena *arena, frz_row_files **out, frz_error *err)
{
    size_t fields = options->partitioning->field_count;
    frz_row_files *files = frz_alloc_zero(attempt->env, 1, sizeof *files);
    frz_value *tuple = frz_alloc_zero(attempt->env, fields, sizeof *tuple);
    if (files == NULL || tuple == NULL) {
        frz_free(attempt->env, files);
        frz_free(attempt->env, tuple);
        return frz_fail_nomem(err, sizeof *files);
    }
    *files =
        (frz_row_files){.attempt = attempt, .options = *options, .arena = arena, .tuple = tuple};
    files->open_max = OPEN_COLUMNS / FRZ_MAX(options->type->field_count, (size_t)1);
    files->open_max = FRZ_MAX(FRZ_MIN(files->open_max, (size_t)OPEN_MAX), (size_t)OPEN_MIN);
    files->key = (frz_buf)FRZ_BUF_INIT(attempt->env, FRZ_BUF_NO_LIMIT);
    *out = files;
    return FRZ_OK;
}

void frz_row_files_free(frz_row_files *files)
{
    if (files == NULL) {
        return;
    }
    const frz_env *env = files->attempt->env;
    for (size_t i = 0; i < files->part_count; i++) {
        frz_parquet_writer_abort(files->parts[i].writer);
        frz_free(env, files->parts[i].location);
        frz_free(env, files->parts[i].selection);
    }
    frz_free(env, files->parts);
    frz_free(env, files->slots);
    frz_free(env, files->finished);
    frz_free(env, files->tuple);
    frz_buf_reset(&files->key);
    frz_free(env, files);
}

frz_code frz_row_files_finish(frz_row_files *files, const frz_row_file **out, size_t *count,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < files->part_count; i++) {
        if (files->parts[i].writer != NULL) {
            FRZ_TRY(end_file(files, &files->parts[i], err));
        }
    }
    frz_row_file *list = frz_arena_array(files->arena, files->finished_count, sizeof *list);
    if (list == NULL) {
        return frz_fail_nomem(err, files->finished_count * sizeof *list);
    }
    if (files->finished_count > 0) {
        memcpy(list, files->finished, files->finished_count * sizeof *list);
    }
    *out = list;
    *count = files->finished_count;
out:
    return rc;
}
