/*
 * Columns being filled: values that gather in buffers until they become an array. What a decoder
 * writes for each value is bytes, for validity and booleans too, since a byte is stored without
 * looking at its neighbours; they become bits at once in the end.
 */
#include "format/avro/avro_internal.h"

#define LEAST_VALUES 16
#define LEAST_BYTES 256

static avro_shape shape_of(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_UNKNOWN:
    case FRZ_TYPE_STRUCT:
        return AVRO_SHAPE_NOTHING;
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return AVRO_SHAPE_ITEMS;
    default:
        return type->id != FRZ_TYPE_BOOLEAN && frz_type_width(type) == 0 ? AVRO_SHAPE_BYTES
                                                                         : AVRO_SHAPE_FIXED;
    }
}

void avro_column_init(avro_column *c, const frz_env *env, const frz_type *type, bool nullable)
{
    *c = (avro_column){.env = env, .type = type, .shape = shape_of(type), .nullable = nullable};
    c->width = c->shape == AVRO_SHAPE_NOTHING ? 0
               : c->shape == AVRO_SHAPE_FIXED ? FRZ_MAX(frz_type_width(type), (size_t)1)
                                              : sizeof(int32_t);
}

static void forget_buffers(avro_column *c)
{
    c->value_buffer = c->byte_buffer = NULL;
    c->values = c->bytes = NULL;
    c->count = c->capacity = c->bytes_len = c->bytes_capacity = 0;
}

void avro_column_reset(avro_column *c)
{
    frz_buffer_unref(c->value_buffer);
    frz_buffer_unref(c->byte_buffer);
    frz_free(c->env, c->valid);
    c->valid = NULL;
    c->valid_capacity = 0;
    forget_buffers(c);
}

/* ---- room ---- */

static frz_code resize(const frz_env *env, frz_buffer **buffer, size_t used, size_t size,
                       frz_error *err)
{
    if (*buffer == NULL) {
        return frz_buffer_new(env, size, buffer, err);
    }
    (*buffer)->size = used; /* what is worth copying */
    return frz_buffer_resize(buffer, size, err);
}

static frz_code reserve_valid(avro_column *c, size_t capacity, frz_error *err)
{
    if (!c->nullable || capacity <= c->valid_capacity) {
        return FRZ_OK;
    }
    uint8_t *valid = frz_realloc(c->env, c->valid, capacity);
    if (valid == NULL) {
        return frz_fail_nomem(err, capacity);
    }
    c->valid = valid;
    c->valid_capacity = capacity;
    return FRZ_OK;
}

frz_code avro_column_reserve(avro_column *c, size_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t wanted, size;
    size_t places = c->shape == AVRO_SHAPE_FIXED ? 0 : 1; /* offsets are one more than values */
    if (n <= c->capacity - c->count) {
        return FRZ_OK;
    }
    if (!frz_add_size(c->count, n, &wanted) || wanted >= INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "one array holds at most %d values", INT32_MAX);
    }
    size_t capacity = FRZ_MAX(FRZ_MAX(c->usual, c->capacity * 2), (size_t)LEAST_VALUES);
    capacity = FRZ_MAX(capacity, wanted);
    if (c->width > 0) {
        if (!frz_mul_size(capacity + places, c->width, &size)) {
            return frz_fail_nomem(err, SIZE_MAX);
        }
        FRZ_TRY(resize(c->env, &c->value_buffer, (c->count + places) * c->width, size, err));
        c->values = c->value_buffer->data;
        if (c->count == 0 && places > 0) {
            memset(c->values, 0, c->width);
        }
    }
    FRZ_TRY(reserve_valid(c, capacity, err));
    c->capacity = capacity;
out:
    return rc;
}

frz_code avro_column_reserve_bytes(avro_column *c, size_t n, frz_error *err)
{
    size_t wanted;
    if (n <= c->bytes_capacity - c->bytes_len) {
        return FRZ_OK;
    }
    if (!frz_add_size(c->bytes_len, n, &wanted) || wanted > INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "one array holds at most %d bytes", INT32_MAX);
    }
    size_t capacity = FRZ_MAX(FRZ_MAX(c->usual_bytes, c->bytes_capacity * 2), (size_t)LEAST_BYTES);
    capacity = FRZ_MAX(FRZ_MIN(capacity, (size_t)INT32_MAX), wanted);
    frz_code rc = resize(c->env, &c->byte_buffer, c->bytes_len, capacity, err);
    if (rc == FRZ_OK) {
        c->bytes = c->byte_buffer->data;
        c->bytes_capacity = capacity;
    }
    return rc;
}

/* ---- the end ---- */

/* Bytes of 0 and 1 to bits. Up to 7 bytes behind the last may be read. */
static void pack_bits(const uint8_t *bytes, size_t count, uint8_t *bits)
{
    size_t i = 0;
    for (; count - i >= 8; i += 8) {
        /* each product moves a byte's lowest bit to a place of its own in the highest byte */
        bits[i / 8] = (uint8_t)(frz_load_le64(bytes + i) * UINT64_C(0x0102040810204080) >> 56);
    }
    if (i < count) {
        unsigned last = 0;
        for (size_t k = i; k < count; k++) {
            last |= (unsigned)bytes[k] << (k - i);
        }
        bits[i / 8] = (uint8_t)last;
    }
}

static frz_code bits_of(const frz_env *env, const uint8_t *bytes, size_t count, frz_buffer **out,
                        frz_error *err)
{
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes((int64_t)count), out, err);
    if (rc == FRZ_OK) {
        pack_bits(bytes, count, (*out)->data);
    }
    return rc;
}

static frz_code finish_validity(avro_column *c, frz_buffer **out, int64_t *nulls, frz_error *err)
{
    *out = NULL;
    *nulls = 0;
    if (!c->nullable || c->count == 0) {
        return FRZ_OK;
    }
    size_t valid = 0;
    for (size_t i = 0; i < c->count; i++) {
        valid += c->valid[i];
    }
    *nulls = (int64_t)(c->count - valid);
    return *nulls == 0 ? FRZ_OK : bits_of(c->env, c->valid, c->count, out, err);
}

/* Text as a whole is text in each value if none begins inside a character. */
static size_t not_text(const avro_column *c)
{
    const int32_t *offsets = (const int32_t *)(const void *)c->values;
    const char *bytes = (const char *)c->bytes;
    bool good = frz_utf8_valid((frz_str){bytes, c->bytes_len});
    for (size_t i = 0; good && i < c->count; i++) {
        good = offsets[i] == offsets[i + 1] || (c->bytes[offsets[i]] & 0xC0) != 0x80;
    }
    size_t i = good ? c->count : 0;
    while (i < c->count &&
           frz_utf8_valid((frz_str){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])})) {
        i++;
    }
    return i;
}

static frz_code finish_values(avro_column *c, frz_buffer *buffers[3], frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(avro_column_reserve(c, 1, err)); /* an array of no values has buffers, too */
    if (c->type->id == FRZ_TYPE_BOOLEAN) {
        return bits_of(c->env, c->values, c->count, &buffers[1], err);
    }
    if (c->shape == AVRO_SHAPE_BYTES) {
        FRZ_TRY(avro_column_reserve_bytes(c, 1, err));
        c->byte_buffer->size = c->bytes_len;
    }
    if (c->value_buffer != NULL) {
        c->value_buffer->size = (c->count + (c->shape != AVRO_SHAPE_FIXED)) * c->width;
    }
    buffers[1] = c->value_buffer;
    buffers[2] = c->byte_buffer;
    c->value_buffer = c->byte_buffer = NULL;
out:
    return rc;
}

frz_code avro_column_finish(avro_column *c, frz_buffer *buffers[3], int64_t *nulls, size_t *bad,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = c->count, bytes = c->bytes_len;
    buffers[0] = buffers[1] = buffers[2] = NULL;
    *bad = count;
    if (c->type->id == FRZ_TYPE_STRING) {
        *bad = not_text(c);
    }
    FRZ_TRY(finish_validity(c, &buffers[0], nulls, err));
    FRZ_TRY(finish_values(c, buffers, err));
    frz_buffer_unref(c->value_buffer); /* booleans as bytes */
    forget_buffers(c);
    c->usual = count + count / 8;
    c->usual_bytes = bytes + bytes / 8;
out:
    if (rc != FRZ_OK) {
        frz_buffer_unref(buffers[0]);
        frz_buffer_unref(buffers[1]);
        frz_buffer_unref(buffers[2]);
        buffers[0] = buffers[1] = buffers[2] = NULL;
    }
    return rc;
}
