/*
 * Messages of a file or stream: the frame (with the mark before the length, or without as before
 * Arrow 0.15), the Message table, and the body. Lengths are compared with what is left of the file
 * before anything is allocated.
 */
#include "arrow/arrow_ipc.h"

#define MAX_METADATA (256u << 20)
#define WORD 4

/* Message */
enum { MESSAGE_VERSION, MESSAGE_KIND, MESSAGE_HEADER, MESSAGE_BODY, MESSAGE_CUSTOM };

/* Arrow 0.17 said so, before bodies had a field for it. */
#define OLD_COMPRESSION "ARROW:experimental_compression"

void ipc_message_reset(ipc_message *message)
{
    frz_buffer_unref(message->metadata);
    frz_buffer_unref(message->body);
    message->metadata = message->body = NULL;
}

/* The length of the metadata, and the frame's own size. */
static frz_code read_frame(const frz_file *file, uint64_t at, uint64_t end, uint32_t *length,
                           uint64_t *frame, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t word[WORD];
    *frame = WORD;
    if (at == end) {
        return FRZ_END;
    }
    if (end - at < WORD) {
        return frz_fail(err, FRZ_E_CORRUPT, "%d bytes are left, a message needs more",
                        (int)(end - at));
    }
    FRZ_TRY(frz_file_read(file, at, word, WORD, err));
    if (frz_load_le32(word) == IPC_CONTINUATION) {
        *frame += WORD;
        if (end - at < *frame) {
            return frz_fail(err, FRZ_E_CORRUPT, "the length of a message is missing");
        }
        FRZ_TRY(frz_file_read(file, at + WORD, word, WORD, err));
    }
    *length = frz_load_le32(word);
    rc = *length == 0 ? FRZ_END : FRZ_OK;
out:
    return rc;
}

/* Compression that is told in the message's own metadata would be taken for plain bytes. */
static frz_code check_custom(const flat_table *t, frz_error *err)
{
    flat_vector pairs = flat_get_vector(t, MESSAGE_CUSTOM, 4);
    for (size_t i = 0; i < pairs.count; i++) {
        flat_table pair = flat_item_table(&pairs, i);
        if (frz_str_equal(flat_get_string(&pair, 0), FRZ_STR(OLD_COMPRESSION))) {
            return frz_fail(err, FRZ_E_UNSUPPORTED,
                            "unsupported: compressed bodies as Arrow 0.17 wrote them");
        }
    }
    return FRZ_OK;
}

static frz_code parse_message(ipc_message *m, uint64_t *body, frz_error *err)
{
    frz_code rc = FRZ_OK;
    m->in = (flat_bytes){.data = m->metadata->data, .size = m->metadata->size};
    flat_table root = flat_root(&m->in);
    m->version = flat_i16(&root, MESSAGE_VERSION, 0);
    m->kind = (uint8_t)flat_i8(&root, MESSAGE_KIND, 0);
    m->header = flat_get_table(&root, MESSAGE_HEADER);
    int64_t length = flat_i64(&root, MESSAGE_BODY, 0);
    FRZ_TRY(check_custom(&root, err));
    FRZ_TRY(flat_check(&m->in, err));
    if (m->version != IPC_V4 && m->version != IPC_V5) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: metadata version V%d",
                        (int)m->version + 1);
    }
    if (m->header.at == 0 || length < 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "a message without a header or with a negative length");
    }
    *body = (uint64_t)length;
out:
    return rc;
}

static frz_code read_parts(const frz_env *env, const frz_file *file, uint64_t end, ipc_message *m,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint32_t length = 0;
    uint64_t frame;
    uint64_t body = 0;
    FRZ_TRY(read_frame(file, m->at, end, &length, &frame, err));
    if (length > MAX_METADATA || length > end - m->at - frame) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "a message claims %u bytes of metadata, %llu are left and at most %u read",
                        length, (unsigned long long)(end - m->at - frame), MAX_METADATA);
    }
    FRZ_TRY(frz_buffer_new(env, length, &m->metadata, err));
    FRZ_TRY(frz_file_read(file, m->at + frame, m->metadata->data, length, err));
    FRZ_TRY(parse_message(m, &body, err));
    m->size = frame + length;
    if (body > end - m->at - m->size) {
        return frz_fail(err, FRZ_E_CORRUPT, "a message claims a body of %llu bytes, %llu are left",
                        (unsigned long long)body, (unsigned long long)(end - m->at - m->size));
    }
    FRZ_TRY(frz_buffer_new(env, (size_t)body, &m->body, err));
    FRZ_TRY(frz_file_read(file, m->at + m->size, m->body->data, (size_t)body, err));
    m->size += body;
out:
    return rc;
}

frz_code ipc_message_read(const frz_env *env, const frz_file *file, uint64_t at, uint64_t end,
                          ipc_message *out, frz_error *err)
{
    *out = (ipc_message){.at = at};
    frz_code rc = read_parts(env, file, end, out, err);
    /* the tables point to where this message is */
    out->header.in = &out->in;
    return rc < 0 ? frz_context(err, rc, "message at byte %llu", (unsigned long long)at) : rc;
}
