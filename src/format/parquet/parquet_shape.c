/*
 * Passing over the column chunks of a wide footer.
 *
 * The generic walk looks at every field header and every varint and mispredicts most of its
 * branches. But neighbouring chunks are alike: the same fields in the same order, and mostly
 * numbers of the same lengths. So the bytes of one chunk are kept as an image with a mask: headers,
 * list headers and lengths must be equal, of a varint's bytes only the bits that say whether it
 * goes on, and the contents of strings do not matter. The next chunk is compared with the image,
 * eight bytes at a time. Where the lengths differ only in a value, that value is passed over by
 * itself and the comparison goes on behind it.
 *
 * Invariants:
 *  1. What matches an image is a chunk that the generic walk passes over, and it ends at the same
 *     byte: every byte that the walk decides by was compared, or its decision was taken anew.
 *  2. Whatever does not match any image goes through the generic walk, which makes the images.
 *  3. No byte behind the cursor's end is looked at: an image is only tried where the bytes left are
 *     more than it and a word.
 */
#include "format/parquet/parquet_internal.h"

#define WORD 8
#define LEAST_PATIENCE 8
#define MOST_PATIENCE 1024
#define CONTINUED UINT64_C(0x8080808080808080)

/* ---- making an image ---- */

typedef struct painter {
    parquet_image *image;
    parquet_thrift t; /* over bytes that the generic walk has passed */
    bool fits;
} painter;

/* The bytes from from on to the cursor. */
static void paint(painter *p, const uint8_t *from, uint8_t mask)
{
    parquet_image *image = p->image;
    size_t len = (size_t)(p->t.at - from);
    if (!p->fits || image->len + len > PARQUET_IMAGE_BYTES) {
        p->fits = false;
        return;
    }
    memcpy(image->bytes + image->len, from, len);
    memset(image->mask + image->len, mask, len);
    memset(image->value_of + image->len, (int)image->value_count, len);
    image->len += (uint16_t)len;
}

static void paint_value(painter *p, parquet_image_kind kind, size_t count)
{
    parquet_image *image = p->image;
    if (!p->fits || image->value_count == PARQUET_IMAGE_VALUES || count > UINT16_MAX) {
        p->fits = false;
        return;
    }
    parquet_image_value *value = &image->values[image->value_count];
    *value =
        (parquet_image_value){.start = image->len, .kind = (uint8_t)kind, .count = (uint16_t)count};
    const uint8_t *from = p->t.at;
    if (kind == PARQUET_IMAGE_VARINTS) {
        for (size_t i = 0; i < count; i++) {
            parquet_thrift_skip(&p->t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_I64));
        }
        paint(p, from, 0x80);
    } else {
        frz_str text = parquet_thrift_binary(&p->t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_BINARY));
        p->t.at -= text.len;
        paint(p, from, 0xFF);
        from = p->t.at;
        p->t.at += text.len;
        paint(p, from, 0);
    }
    value->end = image->len;
    image->value_count++;
}

static void paint_any(painter *p, parquet_thrift_type type, bool in_list);

static void paint_list(painter *p)
{
    const uint8_t *from = p->t.at;
    parquet_thrift_type element = (parquet_thrift_type)(*p->t.at & 0x0F);
    size_t count =
        parquet_thrift_list(&p->t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_LIST), element, 1);
    paint(p, from, 0xFF);
    if (element == PARQUET_THRIFT_I16 || element == PARQUET_THRIFT_I32 ||
        element == PARQUET_THRIFT_I64) {
        paint_value(p, PARQUET_IMAGE_VARINTS, count);
        return;
    }
    for (size_t i = 0; i < count && p->fits; i++) {
        paint_any(p, element, true);
    }
}

static void paint_struct(painter *p)
{
    parquet_thrift_field field = {0};
    const uint8_t *from = p->t.at;
    while (p->fits && parquet_thrift_next(&p->t, &field)) {
        paint(p, from, 0xFF);
        paint_any(p, field.type, false);
        from = p->t.at;
    }
    paint(p, from, 0xFF); /* the stop byte */
}

static void paint_any(painter *p, parquet_thrift_type type, bool in_list)
{
    const uint8_t *from = p->t.at;
    switch (type) {
    case PARQUET_THRIFT_TRUE:
    case PARQUET_THRIFT_FALSE:
        p->t.at += in_list ? 1 : 0;
        paint(p, from, 0);
        break;
    case PARQUET_THRIFT_BYTE:
    case PARQUET_THRIFT_DOUBLE:
    case PARQUET_THRIFT_UUID:
        parquet_thrift_skip(&p->t, PARQUET_THRIFT_ELEMENT(type));
        paint(p, from, 0);
        break;
    case PARQUET_THRIFT_I16:
    case PARQUET_THRIFT_I32:
    case PARQUET_THRIFT_I64:
        paint_value(p, PARQUET_IMAGE_VARINTS, 1);
        break;
    case PARQUET_THRIFT_BINARY:
        paint_value(p, PARQUET_IMAGE_BINARY, 1);
        break;
    case PARQUET_THRIFT_LIST:
    case PARQUET_THRIFT_SET:
        paint_list(p);
        break;
    case PARQUET_THRIFT_STRUCT:
        paint_struct(p);
        break;
    default: /* maps, which footers do not have */
        p->fits = false;
        break;
    }
}

/* Empty, and false, if chunks like this one have no image. */
static bool image_make(parquet_image *image, const uint8_t *from, const uint8_t *to)
{
    painter p = {.image = image, .fits = true};
    parquet_thrift_init(&p.t, from, (size_t)(to - from), 0, NULL);
    image->len = 0;
    image->value_count = 0;
    image->hits = 0;
    image->misses = 0;
    paint_struct(&p);
    assert(!p.fits || (p.t.rc == FRZ_OK && p.t.at == to));
    image->len = p.fits ? image->len : 0;
    memset(image->bytes + image->len, 0, WORD);
    memset(image->mask + image->len, 0, WORD);
    return p.fits;
}

/* ---- matching ---- */

/* The first place of the image, from at on, where the bytes differ; its length if none does. */
static size_t first_difference(const parquet_image *image, size_t at, const uint8_t *bytes)
{
    for (size_t i = at; i < image->len; i += WORD, bytes += WORD) {
        uint64_t diff = (frz_load_le64(bytes) ^ frz_load_le64(image->bytes + i)) &
                        frz_load_le64(image->mask + i);
        if (diff != 0) {
            return i + (size_t)__builtin_ctzll(diff) / 8;
        }
    }
    return image->len;
}

/* Behind a varint of at most eight bytes of which a word can be loaded; else NULL. */
static const uint8_t *pass_varint(const uint8_t *at, const uint8_t *end)
{
    if (end - at < WORD) {
        return NULL;
    }
    uint64_t last = ~frz_load_le64(at) & CONTINUED;
    return last == 0 ? NULL : at + __builtin_ctzll(last) / 8 + 1;
}

static const uint8_t *pass_binary(const uint8_t *at, const uint8_t *end)
{
    uint64_t len = 0;
    for (unsigned shift = 0; shift < 28 && at < end; shift += 7) {
        uint8_t byte = *at++;
        len |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return len <= (size_t)(end - at) ? at + len : NULL;
        }
    }
    return NULL;
}

static const uint8_t *pass_value(const parquet_image_value *value, const uint8_t *at,
                                 const uint8_t *end)
{
    if (value->kind == PARQUET_IMAGE_BINARY) {
        return pass_binary(at, end);
    }
    for (size_t i = 0; i < value->count && at != NULL; i++) {
        at = pass_varint(at, end);
    }
    return at;
}

/* The end of a chunk that begins at bytes; NULL if it is not like the image. */
static const uint8_t *image_match(parquet_image *image, const uint8_t *bytes, const uint8_t *end)
{
    size_t at = 0;
    if (image->len == 0) {
        return NULL;
    }
    while ((size_t)(end - bytes) >= image->len - at + WORD) {
        size_t differs = first_difference(image, at, bytes);
        if (differs == image->len) {
            *(at == 0 ? &image->hits : &image->misses) += 1;
            return bytes + (image->len - at);
        }
        size_t index = image->value_of[differs];
        const parquet_image_value *value = &image->values[index];
        if (index == image->value_count || differs < value->start) {
            return NULL; /* not in a value */
        }
        bytes = pass_value(value, bytes + (value->start - at), end);
        if (bytes == NULL) {
            return NULL;
        }
        at = value->end;
    }
    return NULL;
}

/* ---- a cursor's way ---- */

static const uint8_t *match_any(parquet_shapes *shapes, const uint8_t *bytes, const uint8_t *end,
                                size_t *which)
{
    size_t guess = shapes->count == 0 ? 0 : shapes->followed_by[shapes->last];
    for (size_t i = 0; i < shapes->count; i++) {
        size_t k = i == 0 ? guess : (i <= guess ? i - 1 : i);
        const uint8_t *found = image_match(&shapes->images[k], bytes, end);
        if (found != NULL) {
            *which = k;
            return found;
        }
    }
    return NULL;
}

/* Lengths have changed for good (the columns' names became longer), or they always change: then an
 * image made anew is no better, and the next one has to wait for longer. */
static void renew(parquet_image *image, const uint8_t *from, const uint8_t *to)
{
    bool in_vain = image->hits < image->misses;
    image->patience =
        (uint16_t)(in_vain ? FRZ_MIN(image->patience * 2, MOST_PATIENCE) : LEAST_PATIENCE);
    (void)image_make(image, from, to);
}

static void note(parquet_shapes *shapes, size_t which)
{
    shapes->followed_by[shapes->last] = (uint8_t)which;
    shapes->last = (uint8_t)which;
}

/* The image of a chunk that was like none. */
static void learn(parquet_shapes *shapes, const uint8_t *from, const uint8_t *to)
{
    size_t slot = shapes->count < PARQUET_SHAPES ? shapes->count : shapes->oldest;
    if (!image_make(&shapes->images[slot], from, to)) {
        return;
    }
    shapes->images[slot].patience = LEAST_PATIENCE;
    if (slot == shapes->count) {
        shapes->count++;
    } else {
        shapes->oldest = (uint8_t)((slot + 1) % PARQUET_SHAPES);
    }
    note(shapes, slot);
}

void parquet_shapes_init(parquet_shapes *shapes)
{
    shapes->count = shapes->last = shapes->oldest = 0;
    memset(shapes->followed_by, 0, sizeof shapes->followed_by);
}

void parquet_shapes_skip(parquet_shapes *shapes, parquet_thrift *t)
{
    size_t which = 0;
    const uint8_t *from = t->at;
    const uint8_t *to = match_any(shapes, from, t->end, &which);
    if (to != NULL) {
        t->at = to;
        note(shapes, which);
        if (shapes->images[which].misses >= shapes->images[which].patience) {
            renew(&shapes->images[which], from, to);
        }
        return;
    }
    parquet_thrift_skip(t, PARQUET_THRIFT_ELEMENT(PARQUET_THRIFT_STRUCT));
    if (t->rc == FRZ_OK) {
        learn(shapes, from, t->at);
    }
}
