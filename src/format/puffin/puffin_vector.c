/*
 * Deletion vectors: a length, a magic number, a 64-bit roaring bitmap (32-bit ones by their upper
 * half) and a checksum. Whatever does not fit together is refused: a vector that cannot be trusted
 * is never taken for "no deletes". spec: deletion-vector-v1 blob type
 */
#include "codec/codec.h"
#include "format/puffin/puffin_internal.h"

#define LENGTH_SIZE 4
#define CRC_SIZE 4
#define MAX_KEY 0x7fffffffu /* a position is a positive 64-bit number */
#define SMALLEST_BITMAP 12  /* key and an empty roaring bitmap */

static const uint8_t magic[] = {0xd1, 0xd3, 0x39, 0x64};
#define FRAME_SIZE (LENGTH_SIZE + sizeof magic + CRC_SIZE)

static uint32_t load_be32(const uint8_t *p)
{
    return __builtin_bswap32(frz_load_le32(p));
}

static frz_code check_frame(const uint8_t *bytes, size_t len, frz_error *err)
{
    if (len < FRAME_SIZE) {
        return frz_fail(err, FRZ_E_CORRUPT, "a deletion vector of %zu bytes, expected %zu at least",
                        len, FRAME_SIZE);
    }
    uint32_t said = load_be32(bytes);
    if (said != len - LENGTH_SIZE - CRC_SIZE) {
        return frz_fail_at(err, FRZ_E_CORRUPT, 0,
                           "the deletion vector says that it has %u bytes, but is %zu bytes long",
                           said, len - LENGTH_SIZE - CRC_SIZE);
    }
    if (memcmp(bytes + LENGTH_SIZE, magic, sizeof magic) != 0) {
        return frz_fail_at(err, FRZ_E_CORRUPT, LENGTH_SIZE,
                           "there is no deletion vector: magic number %08x, expected d1d33964",
                           load_be32(bytes + LENGTH_SIZE));
    }
    uint32_t found = frz_crc32(0, bytes + LENGTH_SIZE, said);
    uint32_t expected = load_be32(bytes + LENGTH_SIZE + said);
    if (found != expected) {
        return frz_fail_at(err, FRZ_E_CORRUPT, LENGTH_SIZE + said,
                           "checksum of the deletion vector is %08x, its bytes give %08x", expected,
                           found);
    }
    return FRZ_OK;
}

static frz_code read_bitmap(frz_cursor *c, uint64_t least_key, frz_positions *set,
                            uint64_t *next_key, frz_error *err)
{
    const uint8_t *p = frz_cursor_take(c, 4);
    if (p == NULL) {
        return frz_fail_at(err, FRZ_E_CORRUPT, c->at, "a key of the deletion vector is cut off");
    }
    uint64_t key = frz_load_le32(p);
    if (key > MAX_KEY || key < least_key) {
        return frz_fail_at(err, FRZ_E_CORRUPT, c->at - 4,
                           "keys of the deletion vector do not ascend below 2^31");
    }
    *next_key = key + 1;
    return puffin_roaring_read(c, key, set, err);
}

static frz_code read_vector(frz_cursor *c, frz_positions *set, frz_error *err)
{
    uint64_t next_key = 0;
    const uint8_t *p = frz_cursor_take(c, 8);
    if (p == NULL) {
        return frz_fail_at(err, FRZ_E_CORRUPT, c->at, "the deletion vector is cut off");
    }
    uint64_t count = frz_load_le64(p);
    if (count > (c->len - c->at) / SMALLEST_BITMAP) {
        return frz_fail_at(err, FRZ_E_CORRUPT, c->at - 8,
                           "%llu bitmaps of a deletion vector cannot fit in the %zu bytes left",
                           (unsigned long long)count, c->len - c->at);
    }
    frz_code rc = FRZ_OK;
    for (uint64_t i = 0; rc == FRZ_OK && i < count; i++) {
        rc = read_bitmap(c, next_key, set, &next_key, err);
    }
    if (rc == FRZ_OK && c->at != c->len) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, c->at,
                         "%zu bytes follow the last bitmap of the deletion vector", c->len - c->at);
    }
    return rc;
}

frz_code frz_vector_decode(frz_buf *bytes, frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *set = frz_alloc_zero(bytes->env, 1, sizeof *set);
    if (set == NULL) {
        rc = frz_fail_nomem(err, sizeof *set);
        goto out;
    }
    *set = (frz_positions){.env = bytes->env, .bytes = bytes->data, .size = bytes->len};
    bytes->data = NULL; /* moved */
    FRZ_TRY(check_frame(set->bytes, set->size, err));
    frz_cursor c = {set->bytes, set->size - CRC_SIZE, LENGTH_SIZE + sizeof magic};
    FRZ_TRY(read_vector(&c, set, err));
    *out = set;
    set = NULL;
out:
    frz_positions_free(set);
    frz_buf_reset(bytes);
    return rc;
}

/* The place is compared with the file before anything is allocated. */
static frz_code check_place(const frz_file *file, int64_t offset, int64_t size, frz_error *err)
{
    uint64_t file_size = frz_file_size(file);
    if (offset < 0 || size < 0 || (uint64_t)offset > file_size ||
        (uint64_t)size > file_size - (uint64_t)offset) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "a deletion vector of %lld bytes at byte %lld cannot lie in a file of %llu",
                        (long long)size, (long long)offset, (unsigned long long)file_size);
    }
    return FRZ_OK;
}

frz_code frz_vector_read(const frz_env *env, const frz_file *file, int64_t offset, int64_t size,
                         int64_t cardinality, frz_positions **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *set = NULL;
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(check_place(file, offset, size, err));
    FRZ_TRY(frz_buf_reserve(&bytes, (size_t)size, err));
    FRZ_TRY(frz_file_read(file, (uint64_t)offset, bytes.data, (size_t)size, err));
    bytes.len = (size_t)size;
    FRZ_TRY(frz_vector_decode(&bytes, &set, err));
    if (cardinality < 0 || set->cardinality != (uint64_t)cardinality) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "the deletion vector has %llu positions, its manifest entry says %lld",
                      (unsigned long long)set->cardinality, (long long)cardinality);
        goto out;
    }
    *out = set;
    set = NULL;
out:
    frz_positions_free(set);
    frz_buf_reset(&bytes);
    return frz_context(err, rc, "reading the deletion vector at byte %lld of %s", (long long)offset,
                       frz_file_location(file));
}

/* ---- writing ---- */

/* How many blocks from the first on have the same upper half of their positions. */
static size_t same_high(const puffin_block *blocks, size_t count)
{
    size_t n = 0;
    while (n < count && blocks[n].key >> 16 == blocks[0].key >> 16) {
        n++;
    }
    return n;
}

static frz_code write_bitmaps(const frz_positions *set, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t count = 0;
    uint8_t number[8];
    size_t n;
    for (size_t i = 0; i < set->block_count; i += n, count++) {
        n = same_high(set->blocks + i, set->block_count - i);
    }
    frz_store_le64(number, count);
    FRZ_TRY(frz_buf_append(out, number, sizeof number, err));
    for (size_t i = 0; i < set->block_count; i += n) {
        n = same_high(set->blocks + i, set->block_count - i);
        frz_store_le32(number, (uint32_t)(set->blocks[i].key >> 16));
        FRZ_TRY(frz_buf_append(out, number, 4, err));
        FRZ_TRY(puffin_roaring_write(set->blocks + i, n, out, err));
    }
out:
    return rc;
}

frz_code frz_vector_encode(const frz_positions *set, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t start = out->len;
    uint8_t number[4] = {0};
    FRZ_TRY(frz_buf_append(out, number, sizeof number, err));
    FRZ_TRY(frz_buf_append(out, magic, sizeof magic, err));
    FRZ_TRY(write_bitmaps(set, out, err));
    size_t len = out->len - start - LENGTH_SIZE;
    if (len > UINT32_MAX) {
        rc = frz_fail(err, FRZ_E_LIMIT, "a deletion vector of %zu bytes is too long", len);
        goto out;
    }
    frz_store_le32(out->data + start, __builtin_bswap32((uint32_t)len));
    frz_store_le32(number, __builtin_bswap32(frz_crc32(0, out->data + start + LENGTH_SIZE, len)));
    FRZ_TRY(frz_buf_append(out, number, sizeof number, err));
out:
    return rc;
}
