/*
 * Writing IPC messages: the schema, then for each batch the dictionaries that are new or have
 * changed, inner before outer ones, and the batch. The file format wraps the same messages in magic
 * bytes and a footer that says where they are.
 *
 * Bodies are not gathered: buffers go from the arrays to the output, small ones through one
 * gathering buffer. Only a compressed body is held as a whole, since the sizes come before it.
 */
#include "arrow/arrow_ipc.h"
#include "io/io_file.h"

#define GATHER_BYTES (256u << 10)
#define BLOCK 24 /* bytes of a Block: offset, metadata length, body length */
#define BUFFER 16
#define NODE 16
#define MESSAGE_FIELDS 4
#define NOT_COMPRESSED (-1) /* instead of the size before a compressed buffer */

/* A dictionary as it was written last, to see whether it has changed. */
typedef struct written_dictionary {
    bool written;
    frz_buf bytes; /* the nodes, then each part's size and bytes */
} written_dictionary;

typedef struct ipc_writer {
    const frz_env *env;
    frz_write_fn write;
    void *ctx;
    frz_ipc_write_options opts;
    frz_arena arena; /* of the fields */
    ipc_field root;
    frz_codec *codec;
    ipc_body body;
    frz_buf message, packed, gathered;
    uint64_t position;
    frz_buf dictionary_blocks, batch_blocks;
    written_dictionary *dictionaries; /* by id */
    size_t dictionary_count;
    int64_t rows;
} ipc_writer;

/* ---- bytes ---- */

static frz_code flush(ipc_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (w->gathered.len > 0) {
        rc = w->write(w->ctx, w->gathered.data, w->gathered.len, err);
        frz_buf_clear(&w->gathered);
    }
    return rc;
}

static frz_code put(ipc_writer *w, const void *bytes, size_t len, frz_error *err)
{
    frz_code rc = FRZ_OK;
    w->position += len;
    if (w->gathered.len + len > GATHER_BYTES) {
        FRZ_TRY(flush(w, err));
    }
    rc = len >= GATHER_BYTES ? w->write(w->ctx, bytes, len, err)
                             : frz_buf_append(&w->gathered, bytes, len, err);
out:
    return rc;
}

static frz_code put_padding(ipc_writer *w, uint64_t multiple, frz_error *err)
{
    static const uint8_t zeros[IPC_ALIGNMENT];
    uint64_t over = w->position % multiple;
    return over == 0 ? FRZ_OK : put(w, zeros, (size_t)(multiple - over), err);
}

static uint64_t padded(uint64_t size)
{
    return (size + IPC_ALIGNMENT - 1) / IPC_ALIGNMENT * IPC_ALIGNMENT;
}

static uint64_t body_size(const ipc_body *body)
{
    uint64_t size = 0;
    for (size_t i = 0; i < body->count; i++) {
        size += padded(body->parts[i].size);
    }
    return size;
}

/* ---- messages ---- */

/* Message: version, header_type, header, bodyLength. *header is where the header is referred to. */
static frz_code start_message(ipc_writer *w, ipc_header kind, uint64_t body, size_t *header,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_field fields[MESSAGE_FIELDS] = {FLAT_VALUE(2, IPC_V5), FLAT_VALUE(1, kind), FLAT_REF,
                                         FLAT_VALUE(8, (int64_t)body)};
    frz_buf_clear(&w->message);
    FRZ_TRY(flat_start(&w->message, err));
    FRZ_TRY(flat_put_table(&w->message, 0, fields, MESSAGE_FIELDS, err));
    *header = fields[2].at;
out:
    return rc;
}

/* Block: offset, metaDataLength, bodyLength. */
static frz_code remember(frz_buf *blocks, uint64_t offset, uint64_t metadata, uint64_t body,
                         frz_error *err)
{
    uint8_t block[BLOCK] = {0};
    frz_store_le64(block, offset);
    frz_store_le32(block + 8, (uint32_t)metadata);
    frz_store_le64(block + 16, body);
    return frz_buf_append(blocks, block, sizeof block, err);
}

/* The message with its frame, padded so that the body is aligned in the output; then the body. */
static frz_code put_message(ipc_writer *w, frz_buf *blocks, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t frame[8];
    uint64_t start = w->position;
    uint64_t end = padded(start + sizeof frame + w->message.len);
    uint64_t body = blocks == NULL ? 0 : body_size(&w->body);
    frz_store_le32(frame, IPC_CONTINUATION);
    frz_store_le32(frame + 4, (uint32_t)(end - start - sizeof frame));
    FRZ_TRY(put(w, frame, sizeof frame, err));
    FRZ_TRY(put(w, w->message.data, w->message.len, err));
    FRZ_TRY(put_padding(w, IPC_ALIGNMENT, err));
    if (blocks != NULL) {
        FRZ_TRY(remember(blocks, start, end - start, body, err));
        for (size_t i = 0; i < w->body.count; i++) {
            FRZ_TRY(put(w, w->body.parts[i].bytes, w->body.parts[i].size, err));
            FRZ_TRY(put_padding(w, IPC_ALIGNMENT, err));
        }
    }
out:
    return rc;
}

static frz_code put_schema(ipc_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t header;
    FRZ_TRY(start_message(w, IPC_HEADER_SCHEMA, 0, &header, err));
    FRZ_TRY(ipc_schema_put(&w->message, header, &w->root, err));
    FRZ_TRY(put_message(w, NULL, err));
out:
    return rc;
}

/* ---- bodies ---- */

/* One buffer behind its size; as it is where compression does not help. */
static frz_code pack_part(ipc_writer *w, const ipc_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t size[8];
    size_t start = w->packed.len;
    frz_store_le64(size, (uint64_t)part->size);
    FRZ_TRY(frz_buf_append(&w->packed, size, sizeof size, err));
    FRZ_TRY(frz_codec_compress(w->codec, part->bytes, part->size, &w->packed, err));
    if (w->packed.len - start - sizeof size >= part->size) {
        w->packed.len = start + sizeof size;
        frz_store_le64(w->packed.data + start, (uint64_t)(int64_t)NOT_COMPRESSED);
        FRZ_TRY(frz_buf_append(&w->packed, part->bytes, part->size, err));
    }
out:
    return rc;
}

/* Replace the parts of the body by their compressed form; empty ones stay empty. */
static frz_code pack_body(ipc_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf_clear(&w->packed);
    for (size_t i = 0; i < w->body.count; i++) {
        ipc_part *part = &w->body.parts[i];
        size_t start = w->packed.len;
        if (part->size > 0) {
            FRZ_TRY(pack_part(w, part, err));
        }
        part->size = w->packed.len - start;
    }
    size_t at = 0;
    for (size_t i = 0; i < w->body.count; i++) {
        ipc_part *part = &w->body.parts[i];
        part->bytes = part->size == 0 ? NULL : w->packed.data + at;
        at += part->size;
    }
out:
    return rc;
}

static frz_code put_copy(frz_buf *buf, size_t ref, const frz_buf *items, size_t width,
                         frz_error *err)
{
    size_t at;
    frz_code rc = flat_put_vector(buf, ref, items->len / width, width, &at, err);
    if (rc == FRZ_OK && items->len > 0) {
        memcpy(buf->data + at, items->data, items->len);
    }
    return rc;
}

static frz_code put_buffers(ipc_writer *w, size_t ref, frz_error *err)
{
    size_t at;
    uint64_t offset = 0;
    frz_code rc = flat_put_vector(&w->message, ref, w->body.count, BUFFER, &at, err);
    for (size_t i = 0; i < w->body.count && rc == FRZ_OK; i++) {
        frz_store_le64(w->message.data + at, offset);
        frz_store_le64(w->message.data + at + 8, (uint64_t)w->body.parts[i].size);
        offset += padded(w->body.parts[i].size);
        at += BUFFER;
    }
    return rc;
}

/* RecordBatch: length, nodes, buffers, compression, variadicBufferCounts. */
static frz_code put_batch_table(ipc_writer *w, size_t ref, int64_t length, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool packed = w->codec != NULL;
    flat_field fields[] = {FLAT_VALUE(8, length),
                           FLAT_REF,
                           FLAT_REF,
                           {.width = packed ? 4 : 0},
                           {.width = w->body.views.len > 0 ? 4 : 0}};
    FRZ_TRY(flat_put_table(&w->message, ref, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(put_copy(&w->message, fields[1].at, &w->body.nodes, NODE, err));
    FRZ_TRY(put_buffers(w, fields[2].at, err));
    if (packed) { /* BodyCompression: codec (0 lz4 frame, 1 zstd), method (0: each buffer) */
        flat_field compression[] = {FLAT_VALUE(1, w->opts.compression == FRZ_IPC_ZSTD),
                                    FLAT_VALUE(1, 0)};
        FRZ_TRY(flat_put_table(&w->message, fields[3].at, compression, FRZ_ARRAY_COUNT(compression),
                               err));
    }
    if (w->body.views.len > 0) {
        FRZ_TRY(put_copy(&w->message, fields[4].at, &w->body.views, sizeof(int64_t), err));
    }
out:
    return rc;
}

/* ---- dictionaries ---- */

static bool take_same(const uint8_t **p, const uint8_t *end, const void *bytes, size_t len)
{
    if (len > (size_t)(end - *p) || (len > 0 && memcmp(*p, bytes, len) != 0)) {
        return false;
    }
    *p += len;
    return true;
}

/* The body is the same as the dictionary was last time. */
static bool is_same(const written_dictionary *d, const ipc_body *body)
{
    if (!d->written) {
        return false;
    }
    const uint8_t *p = d->bytes.data;
    const uint8_t *end = p + d->bytes.len;
    bool same = take_same(&p, end, body->nodes.data, body->nodes.len);
    for (size_t i = 0; i < body->count && same; i++) {
        uint64_t size = body->parts[i].size;
        same = take_same(&p, end, &size, sizeof size) &&
               take_same(&p, end, body->parts[i].bytes, body->parts[i].size);
    }
    return same && p == end;
}

static frz_code keep(written_dictionary *d, const ipc_body *body, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf_clear(&d->bytes);
    FRZ_TRY(frz_buf_append(&d->bytes, body->nodes.data, body->nodes.len, err));
    for (size_t i = 0; i < body->count; i++) {
        uint64_t size = body->parts[i].size;
        FRZ_TRY(frz_buf_append(&d->bytes, &size, sizeof size, err));
        FRZ_TRY(frz_buf_append(&d->bytes, body->parts[i].bytes, body->parts[i].size, err));
    }
    d->written = true;
out:
    return rc;
}

/* DictionaryBatch: id, data, isDelta. */
static frz_code put_dictionary(ipc_writer *w, const ipc_field *field,
                               const struct ArrowArray *values, frz_error *err)
{
    frz_code rc = FRZ_OK;
    written_dictionary *d = &w->dictionaries[field->dictionary_id];
    flat_field fields[] = {FLAT_VALUE(8, field->dictionary_id), FLAT_REF};
    size_t header;
    ipc_body_clear(&w->body);
    FRZ_TRY(ipc_body_add_values(&w->body, field, values, err));
    if (is_same(d, &w->body)) {
        goto out;
    }
    if (d->written && w->opts.format == FRZ_IPC_FILE) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                      "unsupported: column \"%.*s\": a dictionary that changes in the file format",
                      FRZ_STR_ARG(field->name));
        frz_hint(err, "the stream format can hold it");
        goto out;
    }
    FRZ_TRY(keep(d, &w->body, err));
    if (w->codec != NULL) {
        FRZ_TRY(pack_body(w, err));
    }
    FRZ_TRY(start_message(w, IPC_HEADER_DICTIONARY, body_size(&w->body), &header, err));
    FRZ_TRY(flat_put_table(&w->message, header, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(put_batch_table(w, fields[1].at, values->length, err));
    FRZ_TRY(put_message(w, &w->dictionary_blocks, err));
out:
    return rc;
}

/* The dictionaries in and below an array. */
static frz_code put_dictionaries(ipc_writer *w, const ipc_field *field, const struct ArrowArray *a,
                                 frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowArray *values = field->encoded ? a->dictionary : a;
    if (values == NULL || (size_t)values->n_children != field->child_count) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\": an array lacks its dictionary or its children",
                        FRZ_STR_ARG(field->name));
    }
    for (size_t i = 0; i < field->child_count; i++) {
        FRZ_TRY(put_dictionaries(w, &field->children[i], values->children[i], err));
    }
    if (field->encoded) {
        FRZ_TRY(put_dictionary(w, field, values, err));
    }
out:
    return rc;
}

static size_t count_dictionaries(const ipc_field *field)
{
    size_t count = field->encoded;
    for (size_t i = 0; i < field->child_count; i++) {
        count += count_dictionaries(&field->children[i]);
    }
    return count;
}

/* ---- the whole ---- */

static frz_code put_batch(ipc_writer *w, const struct ArrowArray *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t header;
    if (w->dictionary_count > 0) {
        FRZ_TRY(put_dictionaries(w, &w->root, batch, err));
    }
    ipc_body_clear(&w->body);
    FRZ_TRY(ipc_body_add_batch(&w->body, &w->root, batch, err));
    if (w->codec != NULL) {
        FRZ_TRY(pack_body(w, err));
    }
    FRZ_TRY(start_message(w, IPC_HEADER_BATCH, body_size(&w->body), &header, err));
    FRZ_TRY(put_batch_table(w, header, batch->length, err));
    FRZ_TRY(put_message(w, &w->batch_blocks, err));
    w->rows += batch->length;
out:
    return rc;
}

/* Footer: version, schema, dictionaries, recordBatches. */
static frz_code put_footer(ipc_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_field fields[] = {FLAT_VALUE(2, IPC_V5), FLAT_REF, FLAT_REF, FLAT_REF};
    uint8_t size[4];
    frz_buf_clear(&w->message);
    FRZ_TRY(flat_start(&w->message, err));
    FRZ_TRY(flat_put_table(&w->message, 0, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(ipc_schema_put(&w->message, fields[1].at, &w->root, err));
    FRZ_TRY(put_copy(&w->message, fields[2].at, &w->dictionary_blocks, BLOCK, err));
    FRZ_TRY(put_copy(&w->message, fields[3].at, &w->batch_blocks, BLOCK, err));
    frz_store_le32(size, (uint32_t)w->message.len);
    FRZ_TRY(put(w, w->message.data, w->message.len, err));
    FRZ_TRY(put(w, size, sizeof size, err));
    FRZ_TRY(put(w, IPC_MAGIC, IPC_MAGIC_SIZE, err));
out:
    return rc;
}

static frz_code put_head(ipc_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (w->opts.format == FRZ_IPC_FILE) {
        FRZ_TRY(put(w, IPC_MAGIC, IPC_MAGIC_SIZE, err));
        FRZ_TRY(put_padding(w, 8, err));
    }
    FRZ_TRY(put_schema(w, err));
out:
    return rc;
}

static frz_code put_tail(ipc_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t end[8] = {0};
    frz_store_le32(end, IPC_CONTINUATION);
    FRZ_TRY(put(w, end, sizeof end, err));
    if (w->opts.format == FRZ_IPC_FILE) {
        FRZ_TRY(put_footer(w, err));
    }
    FRZ_TRY(flush(w, err));
out:
    return rc;
}

/* Failures of the stream that is read are no failures of writing, and tell where they are from. */
static frz_code writing(frz_code rc, frz_error *err)
{
    return frz_context(err, rc, "writing Arrow IPC");
}

static frz_code put_batches(ipc_writer *w, struct ArrowArrayStream *stream, frz_error *err)
{
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        int failed = stream->get_next(stream, &batch);
        if (failed != 0) {
            return frz_stream_fail(stream, failed, err);
        }
        if (batch.release == NULL) {
            return FRZ_OK;
        }
        frz_code rc = writing(put_batch(w, &batch, err), err);
        frz_array_release(&batch);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
}

static frz_code writer_init(ipc_writer *w, const struct ArrowSchema *schema, frz_error *err)
{
    static const frz_codec_id codecs[] = {
        [FRZ_IPC_LZ4_FRAME] = FRZ_CODEC_LZ4_FRAME, [FRZ_IPC_ZSTD] = FRZ_CODEC_ZSTD};
    frz_code rc = FRZ_OK;
    if ((unsigned)w->opts.compression > FRZ_IPC_ZSTD || (unsigned)w->opts.format > FRZ_IPC_FILE) {
        return frz_fail(err, FRZ_E_ARGUMENT, "there is no IPC format %d with compression %d",
                        (int)w->opts.format, (int)w->opts.compression);
    }
    FRZ_TRY(ipc_field_from_schema(&w->arena, schema, &w->root, err));
    if (w->opts.compression != FRZ_IPC_UNCOMPRESSED) {
        FRZ_TRY(frz_codec_new(w->env, codecs[w->opts.compression], 0, &w->codec, err));
    }
    w->dictionary_count = count_dictionaries(&w->root);
    w->dictionaries = frz_arena_array(&w->arena, w->dictionary_count, sizeof *w->dictionaries);
    if (w->dictionaries == NULL) {
        w->dictionary_count = 0;
        return frz_fail_nomem(err, 0);
    }
    for (size_t i = 0; i < w->dictionary_count; i++) {
        frz_buf_init(&w->dictionaries[i].bytes, w->env, FRZ_BUF_NO_LIMIT);
    }
out:
    return rc;
}

static void writer_start(ipc_writer *w, const frz_env *env, const frz_ipc_write_options *opts)
{
    *w = (ipc_writer){.env = env, .opts = FRZ_IPC_WRITE_OPTIONS_INIT};
    if (opts != NULL) {
        memcpy(&w->opts, opts, FRZ_MIN(opts->struct_size, sizeof w->opts));
    }
    frz_arena_init(&w->arena, env, FRZ_ARENA_NO_LIMIT);
    ipc_body_init(&w->body, env);
    frz_buf_init(&w->message, env, FLAT_MAX);
    frz_buf_init(&w->packed, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&w->gathered, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&w->dictionary_blocks, env, FRZ_BUF_NO_LIMIT);
    frz_buf_init(&w->batch_blocks, env, FRZ_BUF_NO_LIMIT);
}

static void writer_reset(ipc_writer *w)
{
    for (size_t i = 0; i < w->dictionary_count; i++) {
        frz_buf_reset(&w->dictionaries[i].bytes);
    }
    frz_codec_free(w->codec);
    ipc_body_reset(&w->body);
    frz_buf_reset(&w->message);
    frz_buf_reset(&w->packed);
    frz_buf_reset(&w->gathered);
    frz_buf_reset(&w->dictionary_blocks);
    frz_buf_reset(&w->batch_blocks);
    frz_arena_reset(&w->arena);
}

frz_code frz_ipc_write(const frz_env *env, frz_write_fn write, void *ctx,
                       struct ArrowArrayStream *stream, const frz_ipc_write_options *opts,
                       int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema schema = {.release = NULL};
    ipc_writer w;
    writer_start(&w, env, opts);
    w.write = write;
    w.ctx = ctx;
    int failed = stream->get_schema(stream, &schema);
    if (failed != 0) {
        schema.release = NULL;
        rc = frz_stream_fail(stream, failed, err);
        goto out;
    }
    FRZ_TRY(writing(writer_init(&w, &schema, err), err));
    FRZ_TRY(writing(put_head(&w, err), err));
    FRZ_TRY(put_batches(&w, stream, err));
    FRZ_TRY(writing(put_tail(&w, err), err));
    if (rows != NULL) {
        *rows = w.rows;
    }
out:
    writer_reset(&w);
    frz_schema_release(&schema);
    return rc;
}

/* ---- a scratch file, batch by batch ---- */

struct ipc_sink {
    ipc_writer writer;
};

static frz_code write_to_scratch(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_scratch_append(ctx, bytes, len, err);
}

frz_code ipc_sink_open(const frz_env *env, frz_scratch *scratch, const struct ArrowSchema *schema,
                       ipc_sink **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    ipc_sink *sink = frz_alloc_zero(env, 1, sizeof *sink);
    if (sink == NULL) {
        return frz_fail_nomem(err, sizeof *sink);
    }
    writer_start(&sink->writer, env, NULL);
    sink->writer.write = write_to_scratch;
    sink->writer.ctx = scratch;
    FRZ_TRY(writing(writer_init(&sink->writer, schema, err), err));
    FRZ_TRY(writing(put_head(&sink->writer, err), err));
    *out = sink;
    sink = NULL;
out:
    ipc_sink_abort(sink);
    return rc;
}

frz_code ipc_sink_write(ipc_sink *sink, const struct ArrowArray *batch, frz_error *err)
{
    return writing(put_batch(&sink->writer, batch, err), err);
}

frz_code ipc_sink_finish(ipc_sink *sink, frz_error *err)
{
    frz_code rc = writing(put_tail(&sink->writer, err), err);
    ipc_sink_abort(sink);
    return rc;
}

void ipc_sink_abort(ipc_sink *sink)
{
    if (sink != NULL) {
        const frz_env *env = sink->writer.env;
        writer_reset(&sink->writer);
        frz_free(env, sink);
    }
}

/* ---- a file, all at once ---- */

static frz_code write_to_file(void *ctx, const void *bytes, size_t len, frz_error *err)
{
    return frz_file_append(ctx, bytes, len, err);
}

frz_code frz_ipc_write_file(const frz_env *env, const char *location,
                            struct ArrowArrayStream *stream, const frz_ipc_write_options *opts,
                            int64_t *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file_writer *file = NULL;
    int64_t count;
    FRZ_TRY(frz_file_create(env, location, &file, err));
    FRZ_TRY(frz_ipc_write(env, write_to_file, file, stream, opts, &count, err));
    frz_file_writer *last = file;
    file = NULL; /* freed in any case */
    rc = frz_file_finish(last, false, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(env, location, NULL); /* closed but not whole */
        goto out;
    }
    if (rows != NULL) {
        *rows = count;
    }
out:
    frz_file_abort(file);
    return rc;
}
