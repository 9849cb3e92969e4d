/*
 * The header of a file: magic, metadata, sync marker. spec: Avro, Object Container Files.
 */
#include <inttypes.h>

#include "format/avro/avro_internal.h"

#define MAGIC_SIZE 4
#define FIRST_READ ((size_t)64 << 10) /* usually holds the whole header */
#define LONGEST_VARINT 10

typedef struct header_reader {
    frz_arena *arena;
    avro_window *window;
    avro_header *header;
    size_t capacity;
    uint64_t at;
    frz_error *err;
} header_reader;

static uint64_t left(const header_reader *r)
{
    return frz_file_size(r->window->file) - r->at;
}

static frz_code get(header_reader *r, size_t len, const uint8_t **out)
{
    if (len > left(r)) {
        return frz_fail_at(r->err, FRZ_E_CORRUPT, r->at,
                           "Avro header, byte %" PRIu64 ": %zu bytes are expected, %" PRIu64
                           " are left in the file",
                           r->at, len, left(r));
    }
    return avro_window_get(r->window, r->at, len, FIRST_READ, out, r->err);
}

static frz_code read_long(header_reader *r, int64_t *out)
{
    frz_code rc = FRZ_OK;
    const uint8_t *bytes;
    uint64_t folded;
    size_t len = (size_t)FRZ_MIN(left(r), (uint64_t)LONGEST_VARINT);
    FRZ_TRY(get(r, len, &bytes));
    const uint8_t *end = avro_varint(bytes, bytes + len, &folded);
    if (end == NULL) {
        return frz_fail_at(r->err, FRZ_E_CORRUPT, r->at,
                           "Avro header, byte %" PRIu64
                           ": a number is cut off or longer than %d bytes",
                           r->at, LONGEST_VARINT);
    }
    r->at += (uint64_t)(end - bytes);
    *out = avro_unfold(folded);
out:
    return rc;
}

static frz_code read_bytes(header_reader *r, frz_str *out)
{
    frz_code rc = FRZ_OK;
    int64_t len;
    const uint8_t *bytes;
    uint64_t at = r->at;
    FRZ_TRY(read_long(r, &len));
    if (len < 0 || (uint64_t)len > left(r)) {
        return frz_fail_at(r->err, FRZ_E_CORRUPT, at,
                           "Avro header, byte %" PRIu64 ": a length of %" PRId64 " with %" PRIu64
                           " bytes left",
                           at, len, left(r));
    }
    if ((uint64_t)len > AVRO_MAX_HEADER) {
        return frz_fail_at(r->err, FRZ_E_LIMIT, at,
                           "Avro header, byte %" PRIu64 ": a value of %" PRId64
                           " bytes, at most %zu are read",
                           at, len, AVRO_MAX_HEADER);
    }
    FRZ_TRY(get(r, (size_t)len, &bytes));
    FRZ_TRY(frz_arena_str(r->arena, (frz_str){(const char *)bytes, (size_t)len}, out, r->err));
    r->at += (uint64_t)len;
out:
    return rc;
}

static frz_code read_pair(header_reader *r)
{
    frz_code rc = FRZ_OK;
    avro_header *h = r->header;
    const frz_env *env = r->arena->env;
    FRZ_TRY(FRZ_GROW(env, &h->pairs, &r->capacity, h->pair_count, r->err));
    avro_pair *pair = &h->pairs[h->pair_count];
    FRZ_TRY(read_bytes(r, &pair->key));
    pair->offset = r->at;
    FRZ_TRY(read_bytes(r, &pair->value));
    h->pair_count++;
out:
    return rc;
}

/* A map: blocks of pairs, each with a count; a negative one is followed by the block's size. */
static frz_code read_pairs(header_reader *r)
{
    frz_code rc = FRZ_OK;
    int64_t count = 0;
    do {
        int64_t size = 0;
        uint64_t at = r->at;
        FRZ_TRY(read_long(r, &count));
        if (count < 0) {
            FRZ_TRY(read_long(r, &size));
        }
        uint64_t pairs = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
        uint64_t begin = r->at;
        if (pairs > left(r) / 2) {
            return frz_fail_at(r->err, FRZ_E_CORRUPT, at,
                               "Avro header, byte %" PRIu64 ": %" PRIu64
                               " pairs cannot be in the %" PRIu64 " bytes left",
                               at, pairs, left(r));
        }
        for (uint64_t i = 0; i < pairs; i++) {
            FRZ_TRY(read_pair(r));
        }
        if (count < 0 && r->at - begin != (uint64_t)size) {
            return frz_fail_at(r->err, FRZ_E_CORRUPT, at,
                               "Avro header, byte %" PRIu64 ": pairs are said to take %" PRId64
                               " bytes, found %" PRIu64,
                               at, size, r->at - begin);
        }
    } while (count != 0);
out:
    return rc;
}

const avro_pair *avro_header_find(const avro_header *header, frz_str key)
{
    for (size_t i = header->pair_count; i > 0; i--) {
        if (frz_str_equal(header->pairs[i - 1].key, key)) {
            return &header->pairs[i - 1];
        }
    }
    return NULL;
}

static frz_code read_all(header_reader *r)
{
    frz_code rc = FRZ_OK;
    const uint8_t *bytes;
    r->at = MAGIC_SIZE; /* the registry looked at it */
    FRZ_TRY(read_pairs(r));
    FRZ_TRY(get(r, AVRO_SYNC, &bytes));
    memcpy(r->header->sync, bytes, AVRO_SYNC);
    r->header->size = r->at + AVRO_SYNC;
    const avro_pair *codec = avro_header_find(r->header, FRZ_STR("avro.codec"));
    rc =
        avro_codec_of(codec == NULL ? (frz_str){NULL, 0} : codec->value, &r->header->codec, r->err);
out:
    return rc;
}

frz_code avro_header_read(frz_arena *arena, avro_window *w, avro_header *out, frz_error *err)
{
    header_reader r = {.arena = arena, .window = w, .header = out, .err = err};
    return read_all(&r);
}
