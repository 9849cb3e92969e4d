/*
 * Reading IPC files and streams as an Arrow stream. Both start with the schema; a stream is then
 * read message by message, a file through the blocks that its footer lists, dictionaries first.
 */
#include "arrow/arrow_ipc.h"

#define FILE_HEAD 8 /* the magic bytes, padded */
#define FILE_TAIL (4 + IPC_MAGIC_SIZE)
#define BLOCK 24
#define MAX_FOOTER (256u << 20)
#define DICTIONARIES_LEAST ((uint64_t)1 << 30)
#define DICTIONARIES_RATIO 64

typedef struct ipc_reader {
    const frz_env *env;
    frz_file *file;
    frz_arena arena; /* of the fields */
    ipc_field root;
    ipc_reading reading;
    uint64_t at, end; /* of a stream: the next message */
    bool is_file, done;
    frz_buffer *footer;
    flat_bytes in;
    flat_vector blocks; /* of a file's batches */
    size_t next_block;
    int64_t rows; /* of the batches so far */
} ipc_reader;

static void reader_free(void *ctx)
{
    ipc_reader *r = ctx;
    if (r != NULL) {
        ipc_dictionaries_reset(&r->reading);
        for (size_t i = 0; i < FRZ_ARRAY_COUNT(r->reading.codecs); i++) {
            frz_codec_free(r->reading.codecs[i]);
        }
        frz_buffer_unref(r->footer);
        frz_arena_reset(&r->arena);
        frz_file_close(r->file);
        frz_free(r->env, r);
    }
}

/* ---- dictionaries ---- */

/* A message on the heap, since dictionaries keep theirs. */
static frz_code read_message(ipc_reader *r, uint64_t at, ipc_message **out, frz_error *err)
{
    ipc_message *message = frz_alloc_zero(r->env, 1, sizeof *message);
    if (message == NULL) {
        return frz_fail_nomem(err, sizeof *message);
    }
    frz_code rc = ipc_message_read(r->env, r->file, at, r->end, message, err);
    if (rc != FRZ_OK) {
        ipc_message_reset(message);
        frz_free(r->env, message);
        return rc;
    }
    *out = message;
    return FRZ_OK;
}

static void free_message(const ipc_reader *r, ipc_message *message)
{
    if (message != NULL) {
        ipc_message_reset(message);
        frz_free(r->env, message);
    }
}

static frz_code wrong_kind(const ipc_message *message, const char *wanted, frz_error *err)
{
    static const char *const kinds[] = {"nothing",        "a schema", "a dictionary",
                                        "a record batch", "a tensor", "a sparse tensor"};
    bool known = message->kind >= 0 && message->kind < (int64_t)FRZ_ARRAY_COUNT(kinds);
    return frz_fail_at(err, FRZ_E_CORRUPT, message->at, "expected %s, found %s", wanted,
                       known ? kinds[message->kind] : "a message of an unknown kind");
}

/* ---- streams ---- */

static frz_code open_stream(ipc_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    ipc_message *message = NULL;
    rc = read_message(r, 0, &message, err);
    if (rc == FRZ_END) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "the stream has no schema");
    }
    FRZ_TRY(rc);
    if (message->kind != IPC_HEADER_SCHEMA) {
        rc = wrong_kind(message, "a schema", err);
        goto out;
    }
    r->at = message->size;
    FRZ_TRY(ipc_schema_get(&r->arena, &message->header, &r->root, err));
out:
    free_message(r, message);
    return rc;
}

/* The next record batch; dictionaries before it are taken. */
static frz_code next_of_stream(ipc_reader *r, ipc_message **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    ipc_message *message = NULL;
    for (;;) {
        FRZ_TRY(read_message(r, r->at, &message, err));
        r->at += message->size;
        if (message->kind != IPC_HEADER_DICTIONARY) {
            break;
        }
        ipc_message *moved = message;
        message = NULL;
        FRZ_TRY(ipc_dictionary_add(&r->reading, moved, false, err));
    }
    if (message->kind != IPC_HEADER_BATCH) {
        rc = wrong_kind(message, "a record batch", err);
        goto out;
    }
    *out = message;
    message = NULL;
out:
    free_message(r, message);
    return rc;
}

/* ---- files ---- */

static frz_code read_footer(ipc_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t tail[FILE_TAIL];
    uint64_t size = r->end;
    if (size < FILE_HEAD + FILE_TAIL) {
        return frz_fail(err, FRZ_E_CORRUPT, "%llu bytes are too few for an Arrow file",
                        (unsigned long long)size);
    }
    FRZ_TRY(frz_file_read(r->file, size - FILE_TAIL, tail, FILE_TAIL, err));
    uint32_t length = frz_load_le32(tail);
    if (memcmp(tail + 4, IPC_MAGIC, IPC_MAGIC_SIZE) != 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "the file does not end with " IPC_MAGIC);
    }
    if (length > MAX_FOOTER || length > size - FILE_HEAD - FILE_TAIL) {
        return frz_fail(err, FRZ_E_CORRUPT, "a footer of %u bytes in a file of %llu", length,
                        (unsigned long long)size);
    }
    FRZ_TRY(frz_buffer_new(r->env, length, &r->footer, err));
    FRZ_TRY(frz_file_read(r->file, size - FILE_TAIL - length, r->footer->data, length, err));
    r->end = size - FILE_TAIL - length;
    r->in = (flat_bytes){.data = r->footer->data, .size = length};
out:
    return rc;
}

/* Blocks lie in the file one beside the other, so all of them are no longer than it. */
static frz_code check_blocks(const ipc_reader *r, const flat_vector *blocks, frz_error *err)
{
    uint64_t left = r->end;
    for (size_t i = 0; i < blocks->count; i++) {
        const uint8_t *block = flat_item(blocks, i);
        uint64_t at = frz_load_le64(block);
        uint64_t metadata = frz_load_le32(block + 8);
        uint64_t body = frz_load_le64(block + 16);
        if (at > r->end || metadata > left || body > left - metadata) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "block %zu of %llu and %llu bytes at %llu reaches beyond %llu", i,
                            (unsigned long long)metadata, (unsigned long long)body,
                            (unsigned long long)at, (unsigned long long)r->end);
        }
        left -= metadata + body;
    }
    return FRZ_OK;
}

/* The message of a block, which must be as long as the block says. */
static frz_code read_block(ipc_reader *r, const flat_vector *blocks, size_t i, ipc_header kind,
                           ipc_message **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const uint8_t *block = flat_item(blocks, i);
    ipc_message *message = NULL;
    rc = read_message(r, frz_load_le64(block), &message, err);
    if (rc == FRZ_END) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "block %zu has no message", i);
    }
    FRZ_TRY(rc);
    uint64_t size = frz_load_le32(block + 8) + frz_load_le64(block + 16);
    if (message->size != size) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, message->at,
                         "block %zu has %llu bytes, its message %llu", i, (unsigned long long)size,
                         (unsigned long long)message->size);
        goto out;
    }
    if (message->kind != (int64_t)kind) {
        rc = wrong_kind(message, kind == IPC_HEADER_BATCH ? "a record batch" : "a dictionary", err);
        goto out;
    }
    *out = message;
    message = NULL;
out:
    free_message(r, message);
    return rc;
}

/* Footer: version, schema, dictionaries, recordBatches. */
static frz_code open_file(ipc_reader *r, flat_vector *dictionaries, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(read_footer(r, err));
    flat_table root = flat_root(&r->in);
    flat_table schema = flat_get_table(&root, 1);
    *dictionaries = flat_get_vector(&root, 2, BLOCK);
    r->blocks = flat_get_vector(&root, 3, BLOCK);
    FRZ_TRY(flat_check(&r->in, err));
    if (schema.at == 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "the footer has no schema");
    }
    FRZ_TRY(check_blocks(r, dictionaries, err));
    FRZ_TRY(check_blocks(r, &r->blocks, err));
    FRZ_TRY(ipc_schema_get(&r->arena, &schema, &r->root, err));
out:
    return frz_context(err, rc, "footer");
}

static frz_code read_dictionaries(ipc_reader *r, const flat_vector *blocks, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < blocks->count; i++) {
        ipc_message *message;
        FRZ_TRY(read_block(r, blocks, i, IPC_HEADER_DICTIONARY, &message, err));
        FRZ_TRY(ipc_dictionary_add(&r->reading, message, true, err));
    }
out:
    return rc;
}

/* ---- the Arrow stream ---- */

static frz_code read_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const ipc_reader *r = ctx;
    return ipc_field_to_schema(r->env, &r->root, out, err);
}

/* The batch of a message. Rows without bytes cost nothing, so that a small file can have more of
 * them than whoever counts them has numbers. */
static frz_code read_rows(ipc_reader *r, const ipc_message *message, struct ArrowArray *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray batch = {.release = NULL};
    FRZ_TRY(ipc_array_batch(&r->reading, &r->root, message, &batch, err));
    if (!frz_add_i64(r->rows, batch.length, &r->rows)) {
        rc = frz_fail(err, FRZ_E_LIMIT, "batches of more than 2^63 rows");
        goto out;
    }
    frz_array_move(&batch, out);
out:
    frz_array_release(&batch);
    return rc;
}

static frz_code next_batch(ipc_reader *r, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    ipc_message *message = NULL;
    if (!r->is_file) {
        FRZ_TRY(next_of_stream(r, &message, err));
    } else if (r->next_block == r->blocks.count) {
        return FRZ_END;
    } else {
        FRZ_TRY(read_block(r, &r->blocks, r->next_block++, IPC_HEADER_BATCH, &message, err));
    }
    rc = read_rows(r, message, out, err);
    frz_context(err, rc, "message at byte %llu", (unsigned long long)message->at);
out:
    free_message(r, message);
    return rc;
}

/* After the end or a failure there is nothing more. */
static frz_code read_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    ipc_reader *r = ctx;
    if (r->done) {
        return FRZ_END;
    }
    frz_code rc = next_batch(r, out, err);
    r->done = rc != FRZ_OK;
    return rc < 0 ? frz_context(err, rc, "reading %s", frz_file_location(r->file)) : rc;
}

static frz_code reader_open(ipc_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t magic[IPC_MAGIC_SIZE] = {0};
    flat_vector dictionaries = {.count = 0};
    r->end = frz_file_size(r->file);
    r->reading.dictionary_most = FRZ_MAX(DICTIONARIES_LEAST, r->end * DICTIONARIES_RATIO);
    if (r->end >= sizeof magic) {
        FRZ_TRY(frz_file_read(r->file, 0, magic, sizeof magic, err));
    }
    r->is_file = memcmp(magic, IPC_MAGIC, sizeof magic) == 0;
    FRZ_TRY(r->is_file ? open_file(r, &dictionaries, err) : open_stream(r, err));
    FRZ_TRY(ipc_dictionaries_init(&r->reading, &r->arena, &r->root, err));
    FRZ_TRY(read_dictionaries(r, &dictionaries, err));
out:
    return frz_context(err, rc, "reading %s", frz_file_location(r->file));
}

/* file moves, also on failure */
static frz_code open_file_stream(const frz_env *env, frz_file *file, struct ArrowArrayStream *out,
                                 frz_error *err)
{
    static const frz_stream_ops ops = {read_schema, read_next, reader_free};
    frz_code rc = FRZ_OK;
    ipc_reader *r = frz_alloc_zero(env, 1, sizeof *r);
    if (r == NULL) {
        frz_file_close(file);
        return frz_fail_nomem(err, sizeof *r);
    }
    r->env = r->reading.env = env;
    r->file = file;
    frz_arena_init(&r->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(reader_open(r, err));
    ipc_reader *moved = r;
    r = NULL;
    FRZ_TRY(frz_stream_make(env, &ops, moved, out, err));
out:
    reader_free(r);
    return rc;
}

frz_code frz_ipc_open(const frz_env *env, const char *location, struct ArrowArrayStream *out,
                      frz_error *err)
{
    frz_file *file = NULL;
    frz_code rc = frz_file_open(env, location, &file, err);
    return rc == FRZ_OK ? open_file_stream(env, file, out, err) : rc;
}

frz_code ipc_scratch_open(const frz_env *env, const frz_scratch *scratch, uint64_t from,
                          uint64_t to, struct ArrowArrayStream *out, frz_error *err)
{
    frz_file *file = NULL;
    frz_code rc = frz_scratch_file(env, scratch, from, to, &file, err);
    return rc == FRZ_OK ? open_file_stream(env, file, out, err) : rc;
}
