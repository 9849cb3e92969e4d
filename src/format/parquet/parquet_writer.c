/*
 * Writing Parquet files: row groups out of batches (rows) or of whole columns, then the footer.
 *
 *  1. Nothing of a file is referenced before its footer stands: a file that is not finished is
 *     removed.
 *  2. Chunks of a group lie one after the other in the order of the leaves.
 *  3. In a group of rows, encoded pages wait in memory and end the group when they are too many;
 *     in a group of columns one top-level field is open at a time, and a field of a single leaf
 *     goes to the file page by page.
 *  4. Top-level fields are encoded in parallel, each by one task at a time; the file is written,
 * and what all columns share is changed, by the caller alone. So the bytes do not depend on
 * threads.
 *  5. Row groups are kept in encoded form, so that the footer is built by appending.
 *
 *  IDLE --write--> ROWS --end_group--> IDLE
 *  IDLE --begin_group--> COLUMNS --end_group--> IDLE
 *  any failure: FAILED, from which only finish (which fails) and abort lead.
 */
#include "format/parquet/parquet_writer_internal.h"

#define STEP_FIRST 1024 /* rows after which a group's size is looked at */
#define STEP_MAX 16384

/* Fields are encoded in parts, several at once, if there is enough to do: of two fields often one
 * is as good as empty. */
#define PARTS_PER_THREAD 8
#define VALUE_BYTES 8 /* of a value, for want of a better guess */

static const uint8_t magic[4] = {'P', 'A', 'R', '1'};

/* ---- opening ---- */

static frz_code open_columns(frz_parquet_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = w->schema.leaf_count;
    parquet_write_scratch *scratch = NULL;
    w->columns = frz_alloc_zero(w->env, count, sizeof *w->columns);
    w->sums = frz_alloc_zero(w->env, count, sizeof *w->sums);
    w->chunks = frz_alloc_zero(w->env, count, sizeof *w->chunks);
    if (w->columns == NULL || w->sums == NULL || w->chunks == NULL) {
        return frz_fail_nomem(err, count * (sizeof *w->columns + sizeof *w->sums));
    }
    FRZ_TRY(parquet_write_scratch_take(&w->shared, &scratch, err));
    parquet_write_scratch_give(scratch);
    for (size_t i = 0; i < count; i++) {
        const parquet_write_leaf *leaf = &w->schema.leaves[i];
        parquet_column_writer_init(&w->columns[i], &w->shared, leaf);
        w->columns[i].scratch = scratch;
        if (!w->shared.opts.no_statistics && !leaf->repeated) {
            parquet_metrics_sum_init(&w->sums[i], w->env, leaf->field->id, leaf->field->type);
            w->columns[i].metrics = &w->sums[i];
        }
    }
out:
    return rc;
}

#define WRITER_BUFFERS 7

static void writer_buffers(frz_parquet_writer *w, frz_buf *out[WRITER_BUFFERS])
{
    parquet_write_shared *s = &w->shared;
    frz_buf *const all[WRITER_BUFFERS] = {&s->output.buffer,  &s->room,   &s->column_indexes,
                                          &s->offset_indexes, &w->groups, &w->marks,
                                          &w->offsets};
    memcpy(out, all, sizeof all);
}

static void writer_free(frz_parquet_writer *w)
{
    if (w == NULL) {
        return;
    }
    const frz_env *env = w->env;
    for (size_t i = 0; w->columns != NULL && w->sums != NULL && i < w->schema.leaf_count; i++) {
        parquet_column_writer_free(&w->columns[i]);
        if (w->columns[i].metrics != NULL) {
            parquet_metrics_sum_reset(&w->sums[i]);
        }
    }
    frz_free(env, w->columns);
    frz_free(env, w->sums);
    frz_free(env, w->chunks);
    frz_free(env, w->bloom_copies);
    parquet_write_scratches_free(&w->shared);
    frz_arena_reset(&w->shared.chunk_arena);
    frz_buf *bufs[WRITER_BUFFERS];
    writer_buffers(w, bufs);
    for (size_t i = 0; i < WRITER_BUFFERS; i++) {
        frz_buf_reset(bufs[i]);
    }
    frz_free(env, w->location);
    frz_arena_reset(&w->arena);
    frz_normalizer_free(w->normalizer);
    frz_arena_reset(&w->type_arena);
    frz_free(env, w);
}

static frz_parquet_writer *writer_alloc(const frz_env *env, const char *location)
{
    frz_parquet_writer *w = frz_alloc_zero(env, 1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->env = env;
    frz_arena_init(&w->arena, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&w->type_arena, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&w->shared.chunk_arena, env, FRZ_ARENA_NO_LIMIT);
    w->shared.env = env;
    frz_buf *bufs[WRITER_BUFFERS];
    writer_buffers(w, bufs);
    for (size_t i = 0; i < WRITER_BUFFERS; i++) {
        frz_buf_init(bufs[i], env, FRZ_BUF_NO_LIMIT);
    }
    w->location = frz_strdup(env, frz_str_from(location));
    if (w->location == NULL) {
        writer_free(w);
        return NULL;
    }
    return w;
}

frz_code parquet_writer_open(const frz_env *env, const char *location, const frz_type *struct_type,
                             bool whole, const frz_parquet_write_options *opts,
                             frz_parquet_writer **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_writer *w = writer_alloc(env, location);
    if (w == NULL) {
        return frz_fail_nomem(err, sizeof *w);
    }
    FRZ_TRY(parquet_options_open(w, opts, err));
    FRZ_TRY(parquet_write_schema_of(&w->arena, struct_type, whole, &w->schema, err));
    FRZ_TRY(open_columns(w, err));
    FRZ_TRY(parquet_options_apply(w, err));
    FRZ_TRY(frz_file_create(env, location, &w->shared.output.file, err));
    FRZ_TRY(parquet_output_write(&w->shared.output, magic, sizeof magic, err));
    *out = w;
    w = NULL;
out:
    if (w != NULL) {
        frz_file_abort(w->shared.output.file);
        writer_free(w);
        rc = frz_context(err, rc, "writing %s", location);
    }
    return rc;
}

frz_code frz_parquet_writer_open(const frz_env *env, const char *location,
                                 const frz_type *struct_type, const frz_parquet_write_options *opts,
                                 frz_parquet_writer **out, frz_error *err)
{
    return parquet_writer_open(env, location, struct_type, false, opts, out, err);
}

/* ---- groups ---- */

/* Remember a failure: what was written so far cannot be finished any more. */
static frz_code keep(frz_parquet_writer *w, frz_code rc, frz_error *err)
{
    if (rc != FRZ_OK) {
        w->state = PARQUET_WRITER_FAILED;
    }
    return frz_context(err, rc, "writing %s", w->location);
}

static frz_code check_usable(const frz_parquet_writer *w, frz_error *err)
{
    if (w->state == PARQUET_WRITER_FAILED) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a file whose writing failed before");
    }
    return FRZ_OK;
}

static void start_group(frz_parquet_writer *w, parquet_writer_state state, int64_t rows)
{
    w->state = state;
    w->group_rows = rows;
    w->group_start = w->shared.output.position;
    w->raw_size = w->packed_size = 0;
    w->field = 0;
    w->field_rows = 0;
    w->chunk_count = 0;
    frz_arena_reset(&w->shared.chunk_arena);
}

/* Behind the chunks of the group, so that they need not wait in memory for the file's end. */
static frz_code put_blooms(frz_parquet_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < w->chunk_count; i++) {
        parquet_bloom_copy *copy = w->bloom_copies == NULL ? NULL : &w->bloom_copies[i];
        if (copy != NULL && copy->src != NULL) {
            w->chunks[i].bloom_filter_offset = (int64_t)w->shared.output.position;
            w->chunks[i].bloom_filter_length = (int32_t)copy->len;
            FRZ_TRY(
                parquet_output_copy(&w->shared.output, copy->src, copy->offset, copy->len, err));
            *copy = (parquet_bloom_copy){.src = NULL};
        } else if (w->columns[i].bloom != NULL) {
            FRZ_TRY(parquet_bloom_out_write(w->columns[i].bloom, &w->shared.output, &w->shared.room,
                                            &w->chunks[i], err));
        }
    }
out:
    return rc;
}

static frz_code close_group(frz_parquet_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_group group = {
        .chunk_count = w->schema.leaf_count,
        .total_byte_size = (int64_t)w->raw_size,
        .num_rows = w->group_rows,
        .file_offset = (int64_t)w->group_start,
        .sorting = w->sorting,
        .sorting_count = w->sorting_count,
    };
    w->state = PARQUET_WRITER_IDLE;
    if (w->group_rows == 0) {
        return FRZ_OK; /* a group without rows is not written */
    }
    assert(w->chunk_count == w->schema.leaf_count);
    FRZ_TRY(put_blooms(w, err));
    FRZ_TRY(parquet_group_write(&group, (int64_t)w->packed_size, w->group_count, w->chunks,
                                w->schema.leaves, &w->groups, &w->marks, err));
    frz_arena_reset(&w->shared.chunk_arena);
    FRZ_TRY(frz_buf_append(&w->offsets, &group.file_offset, sizeof group.file_offset, err));
    w->group_count++;
    w->row_count += w->group_rows;
    /* a copied range may not outlive its source */
    FRZ_TRY(parquet_output_flush(&w->shared.output, err));
out:
    return rc;
}

void parquet_writer_add_chunk(frz_parquet_writer *w, const parquet_chunk *chunk)
{
    assert(w->chunk_count < w->schema.leaf_count);
    w->chunks[w->chunk_count++] = *chunk;
    w->raw_size += (uint64_t)chunk->total_uncompressed_size;
    w->packed_size += (uint64_t)chunk->total_compressed_size;
}

frz_code parquet_writer_end_columns(frz_parquet_writer *w, const parquet_write_node *node,
                                    frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < node->leaf_count; i++) {
        parquet_chunk chunk;
        FRZ_TRY(parquet_column_writer_end(&w->columns[node->first_leaf + i], &chunk, err));
        parquet_writer_add_chunk(w, &chunk);
    }
out:
    return rc;
}

/* ---- tasks: top-level fields, in parts ---- */

typedef struct writer_parts {
    frz_parquet_writer *w;
    frz_code (*work)(const struct writer_parts *p, const parquet_write_node *node, frz_error *err);
    size_t count;
    /* of the rows that are taken */
    const struct ArrowArray *batch;
    int64_t first, rows;
} writer_parts;

static frz_code run_part(void *ctx, size_t index, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const writer_parts *p = ctx;
    frz_parquet_writer *w = p->w;
    const parquet_write_node *root = &w->schema.root;
    parquet_write_scratch *scratch = NULL;
    FRZ_TRY(parquet_write_scratch_take(&w->shared, &scratch, err));
    size_t end = (index + 1) * root->child_count / p->count;
    for (size_t i = index * root->child_count / p->count; i < end; i++) {
        const parquet_write_node *node = &root->children[i];
        for (size_t k = 0; k < node->leaf_count; k++) {
            w->columns[node->first_leaf + k].scratch = scratch;
        }
        if (node->stored) {
            FRZ_TRY(p->work(p, node, err));
        }
    }
out:
    if (scratch != NULL) {
        parquet_write_scratch_give(scratch);
    }
    return rc;
}

/* bytes: about what there is to do. */
static frz_code for_fields(writer_parts *p, size_t bytes, frz_error *err)
{
    size_t threads = frz_threads(p->w->env);
    p->count = FRZ_MIN(threads * PARTS_PER_THREAD, p->w->schema.root.child_count);
    if (!frz_is_shared(p->w->env, (double)bytes / 2) || p->count == 0) {
        p->count = 1;
    }
    return frz_parallel(p->w->env, p->count, run_part, p, err);
}

static frz_code close_field(const writer_parts *p, const parquet_write_node *node, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < node->leaf_count; i++) {
        FRZ_TRY(parquet_column_writer_close(&p->w->columns[node->first_leaf + i], err));
    }
out:
    return rc;
}

/* ---- rows ---- */

static size_t pending_bytes(const frz_parquet_writer *w)
{
    size_t bytes = 0;
    for (size_t i = 0; i < w->schema.leaf_count; i++) {
        bytes += parquet_column_writer_pending(&w->columns[i]);
    }
    return bytes;
}

/* How many rows to take before the size is looked at again: about as many as still fit. */
static int64_t next_step(const frz_parquet_writer *w, size_t pending)
{
    if (w->group_rows == 0) {
        return STEP_FIRST;
    }
    size_t row_bytes = pending / (size_t)w->group_rows + 1;
    size_t left = w->shared.opts.group_bytes - FRZ_MIN(pending, w->shared.opts.group_bytes);
    return (int64_t)FRZ_MAX(FRZ_MIN(left / row_bytes, (size_t)STEP_MAX), (size_t)1);
}

static frz_code shred_field(const writer_parts *p, const parquet_write_node *node, frz_error *err)
{
    frz_parquet_writer *w = p->w;
    size_t field = (size_t)(node - w->schema.root.children);
    return parquet_shred(w->env, node, w->columns, p->batch->children[field],
                         p->batch->offset + p->first, p->rows, w->row_count + w->group_rows, err);
}

static frz_code write_rows(frz_parquet_writer *w, const struct ArrowArray *batch, int64_t first,
                           int64_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    writer_parts p = {.w = w, .work = shred_field, .batch = batch, .first = first, .rows = count};
    FRZ_TRY(for_fields(&p, (size_t)count * w->schema.leaf_count * VALUE_BYTES, err));
    w->group_rows += count;
out:
    return rc;
}

static frz_code end_rows(frz_parquet_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    writer_parts p = {.w = w, .work = close_field};
    w->group_start = w->shared.output.position;
    if (frz_threads(w->env) > 1) { /* else each column closes when it is written, and is freed */
        FRZ_TRY(for_fields(&p, pending_bytes(w), err));
    }
    FRZ_TRY(parquet_writer_end_columns(w, &w->schema.root, err));
    FRZ_TRY(close_group(w, err));
out:
    return rc;
}

static frz_code write_batch(frz_parquet_writer *w, const struct ArrowArray *batch, frz_error *err)
{
    const frz_parquet_write_options *opts = &w->shared.opts;
    frz_code rc = FRZ_OK;
    size_t pending = pending_bytes(w);
    FRZ_TRY(parquet_check_batch(&w->schema, batch, err));
    for (int64_t done = 0; done < batch->length;) {
        if (w->state == PARQUET_WRITER_IDLE) {
            start_group(w, PARQUET_WRITER_ROWS, 0);
            for (size_t i = 0; i < w->schema.leaf_count; i++) {
                parquet_column_writer_begin(&w->columns[i], false);
            }
        }
        int64_t step = FRZ_MIN(next_step(w, pending), batch->length - done);
        if (opts->group_rows > 0) {
            step = FRZ_MIN(step, opts->group_rows - w->group_rows);
        }
        FRZ_TRY(write_rows(w, batch, done, step, err));
        done += step;
        pending = pending_bytes(w);
        if (pending >= opts->group_bytes ||
            (opts->group_rows > 0 && w->group_rows >= opts->group_rows)) {
            FRZ_TRY(end_rows(w, err));
            pending = 0;
        }
    }
out:
    return rc;
}

/* In the library's form, as many rows at a time as have less than 2 GiB of text. */
static frz_code write_normalized(frz_parquet_writer *w, const struct ArrowArray *batch,
                                 frz_error *err)
{
    int64_t step = batch->length;
    for (int64_t done = 0; done < batch->length;) {
        struct ArrowArray own;
        frz_error found = {0};
        int64_t count = FRZ_MIN(step, batch->length - done);
        frz_code rc = frz_normalizer_batch(w->normalizer, batch, done, count, &own, &found);
        if (rc == FRZ_E_LIMIT && count > 1) {
            step = count / 2;
            continue;
        }
        if (rc != FRZ_OK && err != NULL) {
            *err = found;
        }
        if (rc == FRZ_OK) {
            rc = write_batch(w, &own, err);
            done += count;
        }
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

frz_code frz_parquet_writer_write(frz_parquet_writer *writer, const struct ArrowArray *batch,
                                  frz_error *err)
{
    frz_code rc = check_usable(writer, err);
    assert(writer->state != PARQUET_WRITER_COLUMNS);
    rc = rc == FRZ_OK ? parquet_check_rows(batch, err) : rc;
    if (rc == FRZ_OK) {
        rc = writer->normalizer != NULL ? write_normalized(writer, batch, err)
                                        : write_batch(writer, batch, err);
    }
    return keep(writer, rc, err);
}

size_t frz_parquet_writer_waiting(const frz_parquet_writer *writer)
{
    return writer->state == PARQUET_WRITER_ROWS ? pending_bytes(writer) : 0;
}

uint64_t frz_parquet_writer_bytes(const frz_parquet_writer *writer)
{
    return writer->shared.output.position + frz_parquet_writer_waiting(writer);
}

frz_code frz_parquet_writer_end_group(frz_parquet_writer *writer, frz_error *err)
{
    frz_code rc = check_usable(writer, err);
    if (rc == FRZ_OK && writer->state == PARQUET_WRITER_ROWS) {
        rc = end_rows(writer, err);
    } else if (rc == FRZ_OK && writer->state == PARQUET_WRITER_COLUMNS) {
        rc = parquet_writer_skip_to(writer, writer->schema.root.child_count, err);
        rc = rc == FRZ_OK ? close_group(writer, err) : rc;
    }
    return keep(writer, rc, err);
}

/* ---- columns ---- */

frz_code frz_parquet_writer_begin_group(frz_parquet_writer *writer, int64_t rows, frz_error *err)
{
    frz_code rc = check_usable(writer, err);
    if (rc == FRZ_OK) {
        assert(writer->state == PARQUET_WRITER_IDLE && rows >= 0);
        start_group(writer, PARQUET_WRITER_COLUMNS, rows);
    }
    return keep(writer, rc, err);
}

frz_code parquet_writer_skip_to(frz_parquet_writer *w, size_t field, frz_error *err)
{
    const parquet_write_node *root = &w->schema.root;
    assert(w->state == PARQUET_WRITER_COLUMNS && field >= w->field);
    for (; w->field < field; w->field++) {
        const parquet_write_node *node = &root->children[w->field];
        if (node->stored && w->group_rows > 0) {
            return frz_fail(
                err, FRZ_E_ARGUMENT, "column \"%.*s\" got %lld rows, its row group has %lld",
                FRZ_STR_ARG(node->dotted), (long long)w->field_rows, (long long)w->group_rows);
        }
    }
    return FRZ_OK;
}

static frz_code append_column(frz_parquet_writer *w, size_t field_index,
                              const struct ArrowArray *values, frz_error *err)
{
    const parquet_write_node *node = &w->schema.root.children[field_index];
    frz_code rc = FRZ_OK;
    assert(field_index < w->schema.root.child_count);
    if (!node->stored || values->length == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(parquet_writer_skip_to(w, field_index, err));
    if (values->length > w->group_rows - w->field_rows) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" got %lld rows, its row group has %lld",
                      FRZ_STR_ARG(node->dotted), (long long)(w->field_rows + values->length),
                      (long long)w->group_rows);
        goto out;
    }
    for (size_t i = 0; w->field_rows == 0 && i < node->leaf_count; i++) {
        parquet_column_writer_begin(&w->columns[node->first_leaf + i], node->leaf_count == 1);
    }
    FRZ_TRY(parquet_shred(w->env, node, w->columns, values, 0, values->length,
                          w->row_count + w->field_rows, err));
    w->field_rows += values->length;
    if (w->field_rows == w->group_rows) {
        FRZ_TRY(parquet_writer_end_columns(w, node, err));
        w->field++;
        w->field_rows = 0;
    }
out:
    return rc;
}

frz_code frz_parquet_writer_append_column(frz_parquet_writer *writer, size_t field_index,
                                          const struct ArrowArray *values, frz_error *err)
{
    frz_code rc = check_usable(writer, err);
    if (rc == FRZ_OK) {
        rc = append_column(writer, field_index, values, err);
    }
    return keep(writer, rc, err);
}

frz_code frz_parquet_writer_splice(frz_parquet_writer *writer, size_t field_index,
                                   const frz_data_file *src, size_t src_group, int32_t src_field_id,
                                   bool *done, frz_error *err)
{
    frz_code rc = check_usable(writer, err);
    *done = false;
    if (rc == FRZ_OK) {
        rc = parquet_writer_splice_field(writer, field_index, src, src_group, src_field_id, done,
                                         err);
    }
    return keep(writer, rc, err);
}

frz_code frz_parquet_writer_splice_members(frz_parquet_writer *writer, size_t field_index,
                                           const frz_data_file *src, size_t src_group,
                                           int32_t src_field_id,
                                           const struct ArrowArray *const *members, bool *done,
                                           frz_error *err)
{
    frz_code rc = check_usable(writer, err);
    *done = false;
    if (rc == FRZ_OK) {
        rc = parquet_writer_splice_members(writer, field_index, src, src_group, src_field_id,
                                           members, done, err);
    }
    return keep(writer, rc, err);
}

/* ---- the end ---- */

/* Behind the last row group: column indexes of all chunks, then their offset indexes, so that a
 * reader that wants one kind finds it in one piece. */
static frz_code put_indexes(frz_parquet_writer *w, parquet_footer_out *footer, frz_error *err)
{
    parquet_write_shared *shared = &w->shared;
    frz_code rc = FRZ_OK;
    footer->marks = (const parquet_index_mark *)(const void *)w->marks.data;
    footer->mark_count = w->marks.len / sizeof *footer->marks;
    footer->column_indexes_at = shared->output.position;
    FRZ_TRY(parquet_output_write(&shared->output, shared->column_indexes.data,
                                 shared->column_indexes.len, err));
    footer->offset_indexes_at = shared->output.position;
    FRZ_TRY(parquet_output_write(&shared->output, shared->offset_indexes.data,
                                 shared->offset_indexes.len, err));
out:
    return rc;
}

static frz_code put_footer(frz_parquet_writer *w, frz_error *err)
{
    parquet_output *output = &w->shared.output;
    frz_code rc = FRZ_OK;
    frz_buf *out = &w->shared.room;
    uint8_t tail[8];
    parquet_footer_out footer = {
        .elements = w->schema.elements,
        .element_count = w->schema.element_count,
        .num_rows = w->row_count,
        .groups = frz_buf_view(&w->groups),
        .group_count = w->group_count,
        .keys = w->keys,
        .key_count = w->key_count,
        .leaf_count = w->schema.leaf_count,
        .with_orders = !w->shared.opts.no_statistics,
    };
    frz_buf_clear(out);
    FRZ_TRY(put_indexes(w, &footer, err));
    FRZ_TRY(parquet_footer_write(&footer, out, err));
    if (out->len > INT32_MAX) {
        rc = frz_fail(err, FRZ_E_LIMIT, "a footer of %zu bytes passes the format's 2147483647",
                      out->len);
        goto out;
    }
    frz_store_le32(tail, (uint32_t)out->len);
    memcpy(tail + 4, magic, sizeof magic);
    FRZ_TRY(parquet_output_write(output, out->data, out->len, err));
    FRZ_TRY(parquet_output_write(output, tail, sizeof tail, err));
    FRZ_TRY(parquet_output_flush(output, err));
out:
    return rc;
}

static frz_code report_written(const frz_parquet_writer *w, frz_arena *arena,
                               frz_parquet_written *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t leaves = w->schema.leaf_count;
    frz_parquet_written r = {.row_count = w->row_count,
                             .file_size = (int64_t)w->shared.output.position,
                             .split_count = w->group_count};
    r.split_offsets = frz_arena_array(arena, FRZ_MAX(w->group_count, (size_t)1), sizeof(int64_t));
    r.stats = frz_arena_array(arena, FRZ_MAX(leaves, (size_t)1), sizeof *r.stats);
    if (r.split_offsets == NULL || r.stats == NULL) {
        return frz_fail_nomem(err, leaves * sizeof *r.stats);
    }
    if (w->offsets.len > 0) {
        memcpy(r.split_offsets, w->offsets.data, w->offsets.len);
    }
    for (size_t i = 0; i < leaves; i++) {
        if (w->columns[i].metrics != NULL) {
            FRZ_TRY(parquet_metrics_sum_finish(&w->sums[i], arena, &r.stats[r.stats_count], err));
            r.stats_count++;
        }
    }
    *out = r;
out:
    return rc;
}

frz_code frz_parquet_writer_finish(frz_parquet_writer *writer, bool durable, frz_arena *arena,
                                   frz_parquet_written *out, frz_error *err)
{
    frz_parquet_writer *w = writer;
    frz_code rc = FRZ_OK;
    frz_parquet_written written;
    FRZ_TRY(check_usable(w, err));
    assert(w->state != PARQUET_WRITER_COLUMNS);
    if (w->state == PARQUET_WRITER_ROWS) {
        FRZ_TRY(end_rows(w, err));
    }
    FRZ_TRY(put_footer(w, err));
    if (out != NULL) {
        FRZ_TRY(report_written(w, arena, &written, err));
    }
    frz_file_writer *file = w->shared.output.file;
    w->shared.output.file = NULL;
    rc = frz_file_finish(file, durable, err);
    if (rc != FRZ_OK) {
        /* closed but not whole; nothing refers to it */
        (void)frz_file_remove(w->env, w->location, NULL);
    } else if (out != NULL) {
        *out = written;
    }
out:
    frz_file_abort(w->shared.output.file);
    rc = frz_context(err, rc, "writing %s", w->location);
    writer_free(w);
    return rc;
}

void frz_parquet_writer_abort(frz_parquet_writer *writer)
{
    if (writer != NULL) {
        frz_file_abort(writer->shared.output.file);
        writer_free(writer);
    }
}
