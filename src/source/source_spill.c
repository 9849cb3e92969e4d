/*
 * Rows of a source on disk. Parts hold the rows whose keys' hashes have some digits in common; runs
 * hold what was found for the target's rows, in the order of these. All are Arrow streams in
 * scratch files: one for each part, one for all runs.
 */
#include "source/source_join.h"

#define DIGIT_BITS 4 /* JOIN_WAYS of them */
#define REMIX 0xd6e8feb86659fd93u

/* ---- files ---- */

/* A stream behind what is in a file, which is made if it is not there. */
static frz_code open_sink(const frz_join *join, const frz_type *type, frz_scratch **file,
                          ipc_sink **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {0};
    FRZ_TRY(frz_type_to_arrow(join->env, type, &schema, err));
    if (*file == NULL) {
        FRZ_TRY(frz_scratch_open(join->env, file, err));
    }
    FRZ_TRY(ipc_sink_open(join->env, *file, &schema, out, err));
out:
    frz_schema_release(&schema);
    return frz_context(err, rc, "keeping rows of \"%.*s\" on disk",
                       FRZ_STR_ARG(join->source->name));
}

static frz_code finish_sink(ipc_sink **sink, frz_error *err)
{
    ipc_sink *last = *sink;
    *sink = NULL; /* freed in any case */
    return last == NULL ? FRZ_OK : ipc_sink_finish(last, err);
}

static void drop_part(join_part *part)
{
    ipc_sink_abort(part->sink);
    frz_scratch_close(part->file);
    *part = (join_part){.level = part->level};
}

frz_code join_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out, frz_error *err)
{
    int failed = stream->get_next(stream, out);
    if (failed != 0) {
        out->release = NULL;
        return frz_stream_fail(stream, failed, err);
    }
    return out->release == NULL ? FRZ_END : FRZ_OK;
}

static void close_stream(struct ArrowArrayStream *stream)
{
    if (stream->release != NULL) {
        stream->release(stream);
        stream->release = NULL;
    }
}

/* ---- parts ---- */

frz_code join_spill_open(frz_join *join, int level, size_t *first_part, frz_error *err)
{
    *first_part = join->part_count;
    for (size_t i = 0; i < JOIN_WAYS; i++) {
        frz_code rc =
            FRZ_GROW(join->env, &join->parts, &join->part_capacity, join->part_count, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        join->parts[join->part_count++] = (join_part){.level = level};
    }
    return FRZ_OK;
}

/* Rows with a null in their key have no match; they are kept for those who ask for the rest. */
static size_t way_of(const join_keys *keys, int64_t row, uint64_t hash, int level)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (frz_is_null(&keys->arrays[i], row)) {
            return 0;
        }
    }
    return (size_t)(hash * REMIX >> (64 - DIGIT_BITS * level)) % JOIN_WAYS;
}

static frz_code write_part(frz_join *join, join_part *part, const struct ArrowArray *batch,
                           const uint8_t *bits, int64_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rows = {0};
    if (count == 0) {
        return FRZ_OK;
    }
    if (part->sink == NULL) {
        FRZ_TRY(open_sink(join, join->type, &part->file, &part->sink, err));
    }
    FRZ_TRY(frz_array_filter(join->env, join->type, batch, bits, count, &rows, err));
    FRZ_TRY(ipc_sink_write(part->sink, &rows, err));
    part->rows += count;
out:
    frz_array_release(&rows);
    return rc;
}

frz_code join_spill_deal(frz_join *join, size_t first_part, const struct ArrowArray *batch,
                         const join_keys *keys, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int level = join->parts[first_part].level;
    int64_t counts[JOIN_WAYS] = {0};
    size_t bytes = frz_bitmap_bytes(batch->length) + 8;
    uint64_t *hashes = frz_alloc_zero(join->env, (size_t)batch->length, sizeof *hashes);
    uint8_t *bits = frz_alloc_zero(join->env, JOIN_WAYS, bytes);
    if (hashes == NULL || bits == NULL) {
        rc = frz_fail_nomem(err, JOIN_WAYS * bytes);
        goto out;
    }
    frz_key_hashes(keys->columns, keys->count, batch->length, hashes);
    for (int64_t i = 0; i < batch->length; i++) {
        size_t way = way_of(keys, i, hashes[i], level);
        frz_bit_set(bits + way * bytes, i);
        counts[way]++;
    }
    for (size_t i = 0; i < JOIN_WAYS; i++) {
        FRZ_TRY(write_part(join, &join->parts[first_part + i], batch, bits + i * bytes, counts[i],
                           err));
    }
out:
    frz_free(join->env, bits);
    frz_free(join->env, hashes);
    return rc;
}

frz_code join_spill_close(frz_join *join, size_t first_part, frz_error *err)
{
    for (size_t i = first_part; i < first_part + JOIN_WAYS; i++) {
        frz_code rc = finish_sink(&join->parts[i].sink, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

frz_code join_part_open(const frz_join *join, const join_part *part, struct ArrowArrayStream *out,
                        frz_error *err)
{
    return ipc_scratch_open(join->env, part->file, 0, frz_scratch_size(part->file), out, err);
}

/* ---- parts that are too large are dealt again ---- */

static size_t count_files(const frz_join *join)
{
    size_t count = 0;
    for (size_t i = 0; i < join->part_count; i++) {
        count += join->parts[i].file != NULL;
    }
    return count;
}

static bool is_too_large(const frz_join *join, const join_part *part)
{
    size_t bytes = (size_t)frz_scratch_size(part->file);
    return part->level < JOIN_LEVELS_MAX && part->rows > 1 &&
           join_table_bytes(part->rows, bytes, join->options.key_count) > join->memory &&
           count_files(join) + JOIN_WAYS <= JOIN_FILES_MAX;
}

static frz_code deal_again(frz_join *join, size_t place, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t first = 0;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    join_keys keys = {0};
    FRZ_TRY(join_spill_open(join, join->parts[place].level + 1, &first, err));
    FRZ_TRY(join_part_open(join, &join->parts[place], &stream, err));
    while ((rc = join_stream_next(&stream, &batch, err)) == FRZ_OK) {
        FRZ_TRY(join_source_keys(join, &batch, 0, &keys, err));
        FRZ_TRY(join_spill_deal(join, first, &batch, &keys, err));
        join_keys_reset(&keys);
        frz_array_release(&batch);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    FRZ_TRY(rc);
    FRZ_TRY(join_spill_close(join, first, err));
    close_stream(&stream);
    drop_part(&join->parts[place]);
out:
    join_keys_reset(&keys);
    frz_array_release(&batch);
    close_stream(&stream);
    return rc;
}

/* ---- runs ---- */

static frz_code load_part(frz_join *join, const join_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    join_keys keys = {0};
    int64_t twice = -1;
    join_table_reset(&join->table);
    FRZ_TRY(join_part_open(join, part, &stream, err));
    while ((rc = join_stream_next(&stream, &batch, err)) == FRZ_OK) {
        FRZ_TRY(join_source_keys(join, &batch, 0, &keys, err));
        FRZ_TRY(join_table_add(&join->table, &batch, &keys, &twice, err));
        if (twice >= 0 && join->options.unique) {
            rc = join_fail_twice(join, &keys, twice, err);
            goto out;
        }
        join_keys_reset(&keys);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    FRZ_TRY(rc);
    FRZ_TRY(join_table_finish(&join->table, err));
out:
    join_keys_reset(&keys);
    frz_array_release(&batch);
    close_stream(&stream);
    return rc;
}

/* The rows of a batch that have a match, and which: without memory of its own. */
typedef struct run_rows {
    size_t file;
    int64_t first_row;
    const int64_t *rows;  /* of the batch */
    const int64_t *found; /* places in the table; FRZ_KEY_TWICE */
    int64_t count;
} run_rows;

static frz_code fill_longs(const frz_env *env, int64_t count, int64_t **values,
                           struct ArrowArray *out, frz_error *err)
{
    frz_buffer *buffers[2] = {NULL, NULL};
    frz_code rc = frz_buffer_new(env, (size_t)count * sizeof(int64_t), &buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    *values = (int64_t *)(void *)buffers[1]->data;
    return frz_array_make(env, count, 0, buffers, 2, NULL, 0, out, err);
}

static frz_code run_values(const frz_join *join, const run_rows *rows, const int64_t *numbers,
                           struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t *places = frz_alloc_zero(join->env, (size_t)rows->count, sizeof *places);
    FRZ_TRY(places == NULL ? frz_fail_nomem(err, 0) : FRZ_OK);
    for (int64_t i = 0; i < rows->count; i++) {
        /* of several rows none is taken: the place of the null */
        places[i] = numbers[i] == FRZ_KEY_TWICE ? join->table.rows : rows->found[i];
    }
    FRZ_TRY(
        frz_source_take(join->env, join->type, &join->table.values, places, rows->count, out, err));
out:
    frz_free(join->env, places);
    return rc;
}

static frz_code write_run(frz_join *join, join_run *run, const run_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray columns[RUN_VALUES + 1] = {{0}};
    struct ArrowArray batch = {0};
    int64_t *files = NULL, *positions = NULL, *numbers = NULL;
    if (rows->count == 0) {
        return FRZ_OK;
    }
    if (run->sink == NULL) {
        FRZ_TRY(open_sink(join, join->run_type, &join->run_file, &run->sink, err));
    }
    FRZ_TRY(fill_longs(join->env, rows->count, &files, &columns[RUN_FILE], err));
    FRZ_TRY(fill_longs(join->env, rows->count, &positions, &columns[RUN_ROW], err));
    FRZ_TRY(fill_longs(join->env, rows->count, &numbers, &columns[RUN_NUMBER], err));
    for (int64_t i = 0; i < rows->count; i++) {
        files[i] = (int64_t)rows->file;
        positions[i] = rows->first_row + rows->rows[i];
        numbers[i] = rows->found[i];
    }
    FRZ_TRY(run_values(join, rows, numbers, &columns[RUN_VALUES], err));
    rc = frz_batch_make(join->env, rows->count, columns, RUN_VALUES + 1, &batch, err);
    memset(columns, 0, sizeof columns); /* moved, also on failure */
    FRZ_TRY(rc);
    FRZ_TRY(ipc_sink_write(run->sink, &batch, err));
out:
    for (size_t i = 0; i <= RUN_VALUES; i++) {
        frz_array_release(&columns[i]);
    }
    frz_array_release(&batch);
    return rc;
}

/* A file of the target, as its keys are read. */
typedef struct key_reader {
    const frz_join_target *target;
    size_t file;
    frz_live live;
    const frz_type *read_type;
    join_keys keys;
} key_reader;

/* One batch of the target against the table. */
static frz_code match_batch(frz_join *join, join_run *run, key_reader *reader, frz_batch *batch,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length;
    uint8_t *live = NULL, *keyed = NULL;
    int64_t *found = frz_alloc_zero(join->env, (size_t)length, sizeof *found);
    int64_t *matched = frz_alloc_zero(join->env, (size_t)length, sizeof *matched);
    run_rows rows = {
        .file = reader->file, .first_row = batch->first_row, .rows = matched, .found = found};
    FRZ_TRY(found == NULL || matched == NULL ? frz_fail_nomem(err, 0) : FRZ_OK);
    FRZ_TRY(frz_live_bits(&reader->live, reader->read_type, batch, reader->target->key_type, &live,
                          err));
    FRZ_TRY(join_target_keyed(join, reader->target, reader->read_type, batch, live, &keyed, err));
    const uint8_t *asked = keyed == NULL ? live : keyed;
    FRZ_TRY(join_keys_eval(&reader->keys, reader->read_type, &batch->array, batch->first_row, asked,
                           err));
    frz_key_set_find(join->table.set, reader->keys.columns, length, found);
    for (int64_t i = 0; i < length; i++) {
        if (found[i] != FRZ_KEY_ABSENT && (asked == NULL || frz_bit_get(asked, i))) {
            matched[rows.count] = i;
            found[rows.count++] = found[i];
        }
    }
    FRZ_TRY(write_run(join, run, &rows, err));
out:
    frz_free(join->env, live);
    frz_free(join->env, keyed);
    frz_free(join->env, found);
    frz_free(join->env, matched);
    return rc;
}

static frz_code match_file(frz_join *join, join_run *run, const frz_join_target *target,
                           size_t file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *entry = target->entries[file];
    key_reader reader = {.target = target, .file = file, .live = {.env = join->env}};
    frz_stitch_request request = {0};
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    frz_arena arena;
    frz_arena_init(&arena, join->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_live_open(&reader.live, target->deletes, target->table, entry, err));
    frz_live_request(&reader.live, &request);
    FRZ_TRY(frz_live_read_type(&reader.live, target->key_type, &arena, &reader.read_type, err));
    request.projection = reader.read_type;
    FRZ_TRY(join_keys_init(&reader.keys, join->env, target->keys, join->options.key_count, err));
    FRZ_TRY(frz_stitch_open(target->table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(match_batch(join, run, &reader, &batch, err));
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    join_keys_reset(&reader.keys);
    frz_live_reset(&reader.live);
    frz_arena_reset(&arena);
    return frz_context(err, rc, "reading the keys of %.*s", FRZ_STR_ARG(entry->location));
}

static uint64_t run_bytes(const frz_join *join)
{
    return join->run_file == NULL ? 0 : frz_scratch_size(join->run_file);
}

static frz_code match_part(frz_join *join, size_t place, const frz_join_target *target,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(load_part(join, &join->parts[place], err));
    FRZ_TRY(FRZ_GROW(join->env, &join->runs, &join->run_capacity, join->run_count, err));
    join_run *run = &join->runs[join->run_count++];
    *run = (join_run){0};
    run->from = run_bytes(join);
    for (size_t i = 0; i < target->entry_count; i++) {
        FRZ_TRY(match_file(join, run, target, i, err));
    }
    FRZ_TRY(finish_sink(&run->sink, err));
    run->to = run_bytes(join);
    if (run->from == run->to) {
        join->run_count--; /* nothing was found */
    }
out:
    join_table_reset(&join->table);
    return rc;
}

frz_code join_spill_match(frz_join *join, const frz_join_target *target, frz_error *err)
{
    frz_code rc = FRZ_OK;
    join_spill_forget_runs(join);
    for (size_t i = 0; i < join->part_count; i++) { /* those that are dealt again come behind */
        if (join->parts[i].rows == 0) {
            continue;
        }
        FRZ_TRY(frz_progress(join->env, "join", i, join->part_count, err));
        FRZ_TRY(is_too_large(join, &join->parts[i]) ? deal_again(join, i, err)
                                                    : match_part(join, i, target, err));
    }
    for (size_t i = 0; i < join->run_count; i++) {
        join_run *run = &join->runs[i];
        FRZ_TRY(ipc_scratch_open(join->env, join->run_file, run->from, run->to, &run->stream, err));
    }
out:
    return rc;
}

/* ---- reading runs ---- */

/* Have a row that is not behind us as the current one; FRZ_END: there are no more. */
static frz_code advance(join_run *run, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK && (run->batch.release == NULL || run->at >= run->batch.length)) {
        if (run->stream.release == NULL) {
            return FRZ_END;
        }
        frz_array_release(&run->batch);
        run->at = 0;
        rc = join_stream_next(&run->stream, &run->batch, err);
        if (rc == FRZ_END) {
            close_stream(&run->stream);
        }
    }
    return rc;
}

static bool is_before(const join_run *run, int64_t file, int64_t row)
{
    int64_t at = frz_get_i64(run->batch.children[RUN_FILE], run->at);
    return at < file || (at == file && frz_get_i64(run->batch.children[RUN_ROW], run->at) < row);
}

/* What was put together so far. */
typedef struct gathering {
    const frz_join *join;
    int64_t file, first, count;
    int64_t *places; /* of the rows that are asked for */
    struct ArrowArray *parts;
    size_t part_count, part_capacity;
    int64_t rows;
} gathering;

/* The current batch's rows that are asked for. */
static frz_code gather_batch(gathering *g, join_run *run, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t start = run->at;
    for (; run->at < run->batch.length && is_before(run, g->file, g->first + g->count); run->at++) {
        int64_t row = frz_get_i64(run->batch.children[RUN_ROW], run->at) - g->first;
        bool twice = frz_get_i64(run->batch.children[RUN_NUMBER], run->at) == FRZ_KEY_TWICE;
        g->places[row] = twice ? FRZ_KEY_TWICE : g->rows + run->at - start;
    }
    FRZ_TRY(FRZ_GROW(g->join->env, &g->parts, &g->part_capacity, g->part_count + 1, err));
    FRZ_TRY(frz_batch_slice(g->join->env, run->batch.children[RUN_VALUES], start, run->at - start,
                            &g->parts[g->part_count], err));
    g->part_count++;
    g->rows += run->at - start;
out:
    return rc;
}

static frz_code gather_run(gathering *g, join_run *run, frz_error *err)
{
    frz_code rc = FRZ_OK;
    while ((rc = advance(run, err)) == FRZ_OK && is_before(run, g->file, g->first)) {
        run->at++;
    }
    while (rc == FRZ_OK && is_before(run, g->file, g->first + g->count)) {
        FRZ_TRY(gather_batch(g, run, err));
        rc = advance(run, err);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    return rc;
}

frz_code join_spill_rows(frz_join *join, size_t file, int64_t first, int64_t count, int64_t *places,
                         struct ArrowArray *values, frz_error *err)
{
    frz_code rc = FRZ_OK;
    gathering g = {
        .join = join, .file = (int64_t)file, .first = first, .count = count, .places = places};
    for (int64_t i = 0; i < count; i++) {
        places[i] = FRZ_KEY_ABSENT;
    }
    for (size_t i = 0; i < join->run_count; i++) {
        FRZ_TRY(gather_run(&g, &join->runs[i], err));
    }
    FRZ_TRY(FRZ_GROW(join->env, &g.parts, &g.part_capacity, g.part_count, err));
    FRZ_TRY(frz_array_nulls(join->env, join->type, 1, &g.parts[g.part_count], err));
    g.part_count++;
    FRZ_TRY(frz_array_concat(join->env, join->type, g.parts, g.part_count, values, err));
out:
    for (size_t i = 0; i < g.part_count; i++) {
        frz_array_release(&g.parts[i]);
    }
    frz_free(join->env, g.parts);
    return rc;
}

/* ---- the end ---- */

void join_spill_forget_runs(frz_join *join)
{
    for (size_t i = 0; i < join->run_count; i++) {
        join_run *run = &join->runs[i];
        frz_array_release(&run->batch);
        close_stream(&run->stream);
        ipc_sink_abort(run->sink);
    }
    join->run_count = 0;
    frz_scratch_close(join->run_file);
    join->run_file = NULL;
}

void join_spill_reset(frz_join *join)
{
    join_spill_forget_runs(join);
    for (size_t i = 0; i < join->part_count; i++) {
        drop_part(&join->parts[i]);
    }
    join->part_count = 0;
    frz_free(join->env, join->runs);
    frz_free(join->env, join->parts);
}
