/*
 * Reading variants. Every length and offset is checked against the bytes that there are before it
 * is followed; what lies inside an object or array is looked at only when it is asked for. spec:
 * Variant Binary Encoding
 */
#include "type/type_variant.h"

static frz_code corrupt(frz_error *err, const char *what)
{
    return frz_fail(err, FRZ_E_CORRUPT, "variant: %s", what);
}

/* width: 1 to 4 bytes, which are there */
static uint32_t load(frz_str bytes, size_t at, size_t width)
{
    uint32_t value = 0;
    memcpy(&value, bytes.ptr + at, width);
    return value;
}

/* ---- the dictionary ---- */

frz_code frz_variant_names_read(frz_str metadata, frz_variant_names *out, frz_error *err)
{
    if (metadata.len == 0) {
        return corrupt(err, "the metadata is empty");
    }
    uint8_t header = (uint8_t)metadata.ptr[0];
    size_t width = (size_t)(header >> 6) + 1;
    if ((header & 0x0F) != 1) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: variant of version %d",
                        header & 0x0F);
    }
    if (metadata.len < 1 + width) {
        return corrupt(err, "the metadata ends before its dictionary");
    }
    uint32_t count = load(metadata, 1, width);
    size_t offsets = 1 + width;
    if (count >= (metadata.len - offsets) / width) {
        return frz_fail(err, FRZ_E_CORRUPT, "variant: %u names cannot be in %zu bytes of metadata",
                        count, metadata.len);
    }
    *out = (frz_variant_names){.metadata = metadata,
                               .count = count,
                               .width = (uint8_t)width,
                               .sorted = (header & 0x10) != 0,
                               .offsets = offsets,
                               .bytes = offsets + ((size_t)count + 1) * width};
    return FRZ_OK;
}

static bool name_at(const frz_variant_names *names, uint32_t id, frz_str *out)
{
    if (id >= names->count) {
        return false;
    }
    size_t at = names->offsets + (size_t)id * names->width;
    uint32_t from = load(names->metadata, at, names->width);
    uint32_t to = load(names->metadata, at + names->width, names->width);
    if (from > to || to > names->metadata.len - names->bytes) {
        return false;
    }
    *out = (frz_str){names->metadata.ptr + names->bytes + from, to - from};
    return true;
}

frz_code frz_variant_name(const frz_variant_names *names, uint32_t id, frz_str *out, frz_error *err)
{
    if (id >= names->count) {
        return frz_fail(err, FRZ_E_CORRUPT, "variant: name %u of a dictionary of %u", id,
                        names->count);
    }
    if (!name_at(names, id, out)) {
        return frz_fail(err, FRZ_E_CORRUPT, "variant: name %u lies outside of the metadata", id);
    }
    return frz_utf8_valid(*out) ? FRZ_OK : corrupt(err, "a name is not UTF-8");
}

int64_t frz_variant_find_name(const frz_variant_names *names, frz_str name)
{
    uint32_t low = 0;
    uint32_t high = names->count;
    frz_str found;
    while (names->sorted && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (!name_at(names, middle, &found)) {
            return -1;
        }
        int order = frz_str_compare(found, name);
        if (order == 0) {
            return middle;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    for (uint32_t i = 0; !names->sorted && i < names->count; i++) {
        if (name_at(names, i, &found) && frz_str_equal(found, name)) {
            return i;
        }
    }
    return -1;
}

/* ---- primitives ---- */

/* Bytes behind the header of primitives of one size; -1: they say themselves. */
static const int8_t primitive_sizes[] = {
    [FRZ_VARIANT_NULL] = 0,           [FRZ_VARIANT_TRUE] = 0,         [FRZ_VARIANT_FALSE] = 0,
    [FRZ_VARIANT_INT8] = 1,           [FRZ_VARIANT_INT16] = 2,        [FRZ_VARIANT_INT32] = 4,
    [FRZ_VARIANT_INT64] = 8,          [FRZ_VARIANT_DOUBLE] = 8,       [FRZ_VARIANT_DECIMAL4] = 5,
    [FRZ_VARIANT_DECIMAL8] = 9,       [FRZ_VARIANT_DECIMAL16] = 17,   [FRZ_VARIANT_DATE] = 4,
    [FRZ_VARIANT_TIMESTAMPTZ] = 8,    [FRZ_VARIANT_TIMESTAMP] = 8,    [FRZ_VARIANT_FLOAT] = 4,
    [FRZ_VARIANT_BINARY] = -1,        [FRZ_VARIANT_STRING] = -1,      [FRZ_VARIANT_TIME] = 8,
    [FRZ_VARIANT_TIMESTAMPTZ_NS] = 8, [FRZ_VARIANT_TIMESTAMP_NS] = 8, [FRZ_VARIANT_UUID] = 16,
};

static frz_code cut_short(frz_error *err, size_t wanted, size_t left)
{
    return frz_fail(err, FRZ_E_CORRUPT, "variant: a value of %zu bytes in %zu", wanted, left);
}

/* Signed, of size bytes. */
static frz_i128 load_signed(const char *at, size_t size)
{
    frz_i128 value = (at[size - 1] & 0x80) != 0 ? -1 : 0;
    memcpy(&value, at, size);
    return value;
}

static frz_code take_primitive(frz_variant *v, const char *data, size_t size, frz_error *err)
{
    float f32;
    switch (v->kind) {
    case FRZ_VARIANT_NULL:
    case FRZ_VARIANT_TRUE:
    case FRZ_VARIANT_FALSE:
        return FRZ_OK;
    case FRZ_VARIANT_DOUBLE:
        memcpy(&v->f64, data, sizeof v->f64);
        return FRZ_OK;
    case FRZ_VARIANT_FLOAT:
        memcpy(&f32, data, sizeof f32);
        v->f64 = (double)f32;
        return FRZ_OK;
    case FRZ_VARIANT_DECIMAL4:
    case FRZ_VARIANT_DECIMAL8:
    case FRZ_VARIANT_DECIMAL16:
        v->scale = (uint8_t)data[0];
        v->i128 = load_signed(data + 1, size - 1);
        return v->scale <= 38 ? FRZ_OK : corrupt(err, "a decimal has a scale above 38");
    case FRZ_VARIANT_UUID:
        v->bytes = (frz_str){data, size};
        return FRZ_OK;
    default:
        v->i64 = (int64_t)load_signed(data, size);
        return FRZ_OK;
    }
}

static frz_code read_string(frz_variant *v, frz_str bytes, size_t at, size_t len, frz_error *err)
{
    if (len > bytes.len - at) {
        return cut_short(err, len, bytes.len - at);
    }
    v->bytes = (frz_str){bytes.ptr + at, len};
    v->all = (frz_str){bytes.ptr, at + len};
    return v->kind == FRZ_VARIANT_BINARY || frz_utf8_valid(v->bytes)
               ? FRZ_OK
               : corrupt(err, "a string is not UTF-8");
}

static frz_code read_primitive(frz_variant *v, frz_str bytes, uint8_t type, frz_error *err)
{
    if (type >= FRZ_ARRAY_COUNT(primitive_sizes)) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: variant of primitive type %d", type);
    }
    v->kind = (frz_variant_kind)type;
    size_t left = bytes.len - 1;
    if (primitive_sizes[type] < 0) {
        return left < 4 ? cut_short(err, 4, left)
                        : read_string(v, bytes, 5, load(bytes, 1, 4), err);
    }
    size_t size = (size_t)primitive_sizes[type];
    if (size > left) {
        return cut_short(err, size, left);
    }
    v->all = (frz_str){bytes.ptr, 1 + size};
    return take_primitive(v, bytes.ptr + 1, size, err);
}

/* ---- objects and arrays ---- */

/* Counts, ids and offsets must fit before the items do, whose end is the last offset. */
static frz_code read_container(frz_variant *v, frz_str bytes, uint8_t header, frz_error *err)
{
    bool is_object = v->kind == FRZ_VARIANT_OBJECT;
    size_t count_width = (header & (is_object ? 0x10 : 0x04)) != 0 ? 4 : 1;
    v->offset_width = (uint8_t)((header & 0x03) + 1);
    v->id_width = is_object ? (uint8_t)(((header >> 2) & 0x03) + 1) : 0;
    if (bytes.len < 1 + count_width) {
        return cut_short(err, count_width, bytes.len - 1);
    }
    v->count = load(bytes, 1, count_width);
    v->ids = 1 + count_width;
    size_t each = (size_t)v->id_width + v->offset_width;
    if (v->count > (bytes.len - v->ids) / each ||
        v->count * each + v->offset_width > bytes.len - v->ids) {
        return frz_fail(err, FRZ_E_CORRUPT, "variant: %u items cannot be in %zu bytes", v->count,
                        bytes.len);
    }
    v->offsets = v->ids + (size_t)v->count * v->id_width;
    v->items = v->offsets + ((size_t)v->count + 1) * v->offset_width;
    size_t end = load(bytes, v->offsets + (size_t)v->count * v->offset_width, v->offset_width);
    if (end > bytes.len - v->items) {
        return cut_short(err, end, bytes.len - v->items);
    }
    v->all = (frz_str){bytes.ptr, v->items + end};
    return FRZ_OK;
}

frz_code frz_variant_read(frz_str bytes, frz_variant *out, frz_error *err)
{
    *out = (frz_variant){.kind = FRZ_VARIANT_NULL};
    if (bytes.len == 0) {
        return corrupt(err, "a value is empty");
    }
    uint8_t first = (uint8_t)bytes.ptr[0];
    uint8_t header = first >> 2;
    switch (first & 0x03) {
    case 0:
        return read_primitive(out, bytes, header, err);
    case 1:
        out->kind = FRZ_VARIANT_STRING;
        return read_string(out, bytes, 1, header, err);
    case 2:
        out->kind = FRZ_VARIANT_OBJECT;
        return read_container(out, bytes, header, err);
    default:
        out->kind = FRZ_VARIANT_ARRAY;
        return read_container(out, bytes, header, err);
    }
}

frz_code frz_variant_item(const frz_variant *variant, uint32_t i, frz_variant *out, frz_error *err)
{
    assert(i < variant->count);
    frz_str all = variant->all;
    size_t offset =
        load(all, variant->offsets + (size_t)i * variant->offset_width, variant->offset_width);
    if (offset >= all.len - variant->items) {
        return frz_fail(err, FRZ_E_CORRUPT, "variant: item %u lies outside of its %zu bytes", i,
                        all.len);
    }
    size_t at = variant->items + offset;
    return frz_variant_read((frz_str){all.ptr + at, all.len - at}, out, err);
}

frz_code frz_variant_field_name(const frz_variant *object, const frz_variant_names *names,
                                uint32_t i, uint32_t *id, frz_str *out, frz_error *err)
{
    assert(object->kind == FRZ_VARIANT_OBJECT && i < object->count);
    *id = load(object->all, object->ids + (size_t)i * object->id_width, object->id_width);
    return frz_variant_name(names, *id, out, err);
}
