/*
 * Builders collect rows into arrays. Buffers double as they fill; the validity bitmap is made at
 * the first null. A builder whose call failed can only be freed.
 */
#include "type/type_internal.h"

#define FIRST_ROWS 64
#define FIRST_BYTES 1024

struct frz_builder {
    const frz_env *env;
    const frz_type *type;
    size_t width;         /* bytes per value; 0: bitmap, offsets or no values */
    int64_t length;       /* rows so far */
    int64_t capacity;     /* rows that fit in values and validity */
    int64_t null_count;   /* 0 exactly if there is no validity */
    frz_buffer *validity; /* NULL: no nulls so far */
    frz_buffer *values;   /* values, bits or 32-bit offsets */
    frz_buffer *bytes;    /* of strings and binaries */
    size_t bytes_len;
    struct frz_builder *children;
    size_t child_count;
};

static bool has_offsets(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return true;
    default:
        return false;
    }
}

static bool has_values(const frz_type *type)
{
    return type->id != FRZ_TYPE_UNKNOWN && type->id != FRZ_TYPE_STRUCT;
}

static void builder_release(frz_builder *b)
{
    for (size_t i = 0; i < b->child_count; i++) {
        builder_release(&b->children[i]);
    }
    frz_free(b->env, b->children);
    frz_buffer_unref(b->validity);
    frz_buffer_unref(b->values);
    frz_buffer_unref(b->bytes);
    *b = (frz_builder){0};
}

static frz_code builder_init(frz_builder *b, const frz_env *env, const frz_type *type,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    type = frz_type_storage(type);
    *b = (frz_builder){.env = env, .type = type, .width = frz_type_width(type)};
    if (type->field_count == 0) {
        return FRZ_OK;
    }
    b->children = frz_alloc_zero(env, type->field_count, sizeof *b->children);
    if (b->children == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *b->children);
    }
    for (; b->child_count < type->field_count; b->child_count++) {
        FRZ_TRY(builder_init(&b->children[b->child_count], env, type->fields[b->child_count].type,
                             err));
    }
out:
    if (rc != FRZ_OK) {
        builder_release(b);
    }
    return rc;
}

frz_code frz_builder_new(const frz_env *env, const frz_type *type, frz_builder **out,
                         frz_error *err)
{
    frz_builder *made = frz_alloc(env, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    frz_code rc = builder_init(made, env, type, err);
    if (rc != FRZ_OK) {
        frz_free(env, made);
        return rc;
    }
    *out = made;
    return FRZ_OK;
}

void frz_builder_free(frz_builder *builder)
{
    if (builder != NULL) {
        const frz_env *env = builder->env;
        builder_release(builder);
        frz_free(env, builder);
    }
}

const frz_type *frz_builder_type(const frz_builder *builder)
{
    return builder->type;
}

int64_t frz_builder_length(const frz_builder *builder)
{
    return builder->length;
}

frz_builder *frz_builder_child(frz_builder *builder, size_t i)
{
    assert(i < builder->child_count);
    return &builder->children[i];
}

/* ---- growth ---- */

static frz_code ensure(const frz_env *env, frz_buffer **buffer, size_t size, frz_error *err)
{
    return *buffer == NULL ? frz_buffer_new(env, size, buffer, err)
                           : frz_buffer_resize(buffer, size, err);
}

static size_t values_size(const frz_builder *b, int64_t rows)
{
    if (b->width > 0) {
        size_t size;
        return frz_mul_size((size_t)rows, b->width, &size) ? size : SIZE_MAX;
    }
    return has_offsets(b->type) ? ((size_t)rows + 1) * sizeof(int32_t) : frz_bitmap_bytes(rows);
}

static frz_code more_rows(frz_builder *b, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = FRZ_MAX(FIRST_ROWS, b->capacity * 2);
    if (has_values(b->type)) {
        FRZ_TRY(ensure(b->env, &b->values, values_size(b, rows), err));
    }
    if (b->capacity == 0 && has_offsets(b->type)) {
        ((int32_t *)b->values->data)[0] = 0;
    }
    if (b->validity != NULL) {
        FRZ_TRY(frz_buffer_resize(&b->validity, frz_bitmap_bytes(rows), err));
    }
    b->capacity = rows;
out:
    return rc;
}

static inline frz_code one_more(frz_builder *b, frz_error *err)
{
    return b->length < b->capacity ? FRZ_OK : more_rows(b, err);
}

/* The row at length has its value. */
static inline void row_done(frz_builder *b)
{
    if (b->validity != NULL) {
        frz_bit_put(b->validity->data, b->length, true);
    }
    b->length++;
}

static frz_code row_null(frz_builder *b, frz_error *err)
{
    if (b->validity == NULL) {
        frz_code rc = frz_buffer_new(b->env, frz_bitmap_bytes(b->capacity), &b->validity, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        frz_bitmap_fill(b->validity->data, 0, b->length, true);
    }
    frz_bit_put(b->validity->data, b->length, false);
    b->null_count++;
    b->length++;
    return FRZ_OK;
}

static frz_code end_offset(frz_builder *b, int64_t end, frz_error *err)
{
    if (end > INT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "one array holds at most %d bytes or elements",
                        INT32_MAX);
    }
    ((int32_t *)b->values->data)[b->length + 1] = (int32_t)end;
    return FRZ_OK;
}

static frz_code append_bytes(frz_builder *b, frz_str value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t end;
    if (!frz_add_size(b->bytes_len, value.len, &end) || end > INT32_MAX) {
        return end_offset(b, INT64_MAX, err);
    }
    if (b->bytes == NULL || end > b->bytes->size) {
        size_t doubled = b->bytes == NULL ? FIRST_BYTES : b->bytes->size * 2;
        FRZ_TRY(ensure(b->env, &b->bytes, FRZ_MAX(doubled, end), err));
    }
    if (value.len > 0) {
        memcpy(b->bytes->data + b->bytes_len, value.ptr, value.len);
    }
    b->bytes_len = end;
out:
    return rc;
}

/* ---- rows ---- */

frz_code frz_builder_null(frz_builder *builder, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (builder->type->id == FRZ_TYPE_UNKNOWN) {
        builder->length++;
        return FRZ_OK;
    }
    FRZ_TRY(one_more(builder, err));
    if (builder->type->id == FRZ_TYPE_STRUCT) {
        for (size_t i = 0; i < builder->child_count; i++) {
            FRZ_TRY(frz_builder_null(&builder->children[i], err));
        }
    } else if (has_offsets(builder->type)) {
        int32_t *offsets = (int32_t *)builder->values->data;
        offsets[builder->length + 1] = offsets[builder->length];
    } else if (builder->width > 0) {
        memset(builder->values->data + (size_t)builder->length * builder->width, 0, builder->width);
    } else {
        frz_bit_put(builder->values->data, builder->length, false);
    }
    FRZ_TRY(row_null(builder, err));
out:
    return rc;
}

frz_code frz_builder_bool(frz_builder *builder, bool value, frz_error *err)
{
    assert(builder->type->id == FRZ_TYPE_BOOLEAN);
    frz_code rc = one_more(builder, err);
    if (rc == FRZ_OK) {
        frz_bit_put(builder->values->data, builder->length, value);
        row_done(builder);
    }
    return rc;
}

frz_code frz_builder_i32(frz_builder *builder, int32_t value, frz_error *err)
{
    assert(builder->type->id == FRZ_TYPE_INT || builder->type->id == FRZ_TYPE_DATE);
    frz_code rc = one_more(builder, err);
    if (rc == FRZ_OK) {
        ((int32_t *)builder->values->data)[builder->length] = value;
        row_done(builder);
    }
    return rc;
}

frz_code frz_builder_i64(frz_builder *builder, int64_t value, frz_error *err)
{
    assert(builder->width == 8 && builder->type->id != FRZ_TYPE_DOUBLE);
    frz_code rc = one_more(builder, err);
    if (rc == FRZ_OK) {
        ((int64_t *)builder->values->data)[builder->length] = value;
        row_done(builder);
    }
    return rc;
}

frz_code frz_builder_f64(frz_builder *builder, double value, frz_error *err)
{
    assert(builder->type->id == FRZ_TYPE_FLOAT || builder->type->id == FRZ_TYPE_DOUBLE);
    frz_code rc = one_more(builder, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (builder->type->id == FRZ_TYPE_FLOAT) {
        ((float *)builder->values->data)[builder->length] = (float)value;
    } else {
        ((double *)builder->values->data)[builder->length] = value;
    }
    row_done(builder);
    return FRZ_OK;
}

frz_code frz_builder_bytes(frz_builder *builder, frz_str value, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(has_offsets(builder->type) || builder->type->id == FRZ_TYPE_UUID ||
           builder->type->id == FRZ_TYPE_FIXED);
    FRZ_TRY(one_more(builder, err));
    if (builder->width == 0) {
        FRZ_TRY(append_bytes(builder, value, err));
        FRZ_TRY(end_offset(builder, (int64_t)builder->bytes_len, err));
    } else if (value.len != builder->width) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected %zu bytes, found %zu", builder->width,
                        value.len);
    } else {
        memcpy(builder->values->data + (size_t)builder->length * builder->width, value.ptr,
               value.len);
    }
    row_done(builder);
out:
    return rc;
}

frz_code frz_builder_value(frz_builder *builder, const frz_value *value, frz_error *err)
{
    if (value->is_null) {
        return frz_builder_null(builder, err);
    }
    assert(value->type->id == builder->type->id);
    switch (builder->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return frz_builder_bool(builder, value->as.boolean, err);
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return frz_builder_bytes(builder, value->as.bytes, err);
    default:
        break;
    }
    assert(builder->width > 0);
    frz_code rc = one_more(builder, err);
    if (rc == FRZ_OK) {
        memcpy(builder->values->data + (size_t)builder->length * builder->width, &value->as,
               builder->width);
        row_done(builder);
    }
    return rc;
}

frz_code frz_builder_end(frz_builder *builder, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(frz_type_is_nested(builder->type));
    FRZ_TRY(one_more(builder, err));
    for (size_t i = 0; i < builder->child_count; i++) {
        int64_t length = builder->children[i].length;
        assert(builder->type->id != FRZ_TYPE_STRUCT || length == builder->length + 1);
        assert(length == builder->children[0].length);
        (void)length;
    }
    if (builder->type->id != FRZ_TYPE_STRUCT) {
        FRZ_TRY(end_offset(builder, builder->children[0].length, err));
    }
    row_done(builder);
out:
    return rc;
}

/* ---- the array ---- */

static frz_code finish_children(frz_builder *b, struct ArrowArray **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *children = frz_alloc_zero(b->env, b->child_count, sizeof *children);
    if (children == NULL) {
        return frz_fail_nomem(err, b->child_count * sizeof *children);
    }
    for (size_t i = 0; i < b->child_count; i++) {
        FRZ_TRY(frz_builder_finish(&b->children[i], &children[i], err));
    }
    *out = children;
    children = NULL;
out:
    for (size_t i = 0; i < b->child_count && children != NULL; i++) {
        frz_array_release(&children[i]);
    }
    frz_free(b->env, children);
    return rc;
}

/* The children of a map become one array of entries. */
static frz_code wrap_entries(frz_builder *b, int64_t entries, struct ArrowArray *children,
                             frz_error *err)
{
    frz_buffer *none = NULL;
    struct ArrowArray wrapped = {0};
    frz_code rc = frz_array_make(b->env, entries, 0, &none, 1, children, 2, &wrapped, err);
    if (rc == FRZ_OK) {
        frz_array_move(&wrapped, &children[0]);
    }
    return rc;
}

/* Cut the buffers to what is used, making those that a column without rows must still have. */
static frz_code trim(frz_builder *b, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool is_bytes = has_offsets(b->type) && b->child_count == 0;
    if (has_values(b->type)) {
        bool fresh = b->values == NULL;
        FRZ_TRY(ensure(b->env, &b->values, values_size(b, b->length), err));
        if (fresh && has_offsets(b->type)) {
            ((int32_t *)b->values->data)[0] = 0;
        }
    }
    if (is_bytes) {
        FRZ_TRY(ensure(b->env, &b->bytes, b->bytes_len, err));
    }
    if (b->validity != NULL) {
        b->validity->size = frz_bitmap_bytes(b->length);
    }
out:
    return rc;
}

frz_code frz_builder_finish(frz_builder *builder, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *b = builder;
    size_t n_buffers = b->type->id == FRZ_TYPE_UNKNOWN  ? 0
                       : b->type->id == FRZ_TYPE_STRUCT ? 1
                       : b->child_count > 0             ? 2
                       : has_offsets(b->type)           ? 3
                                                        : 2;
    size_t n_children = b->type->id == FRZ_TYPE_MAP ? 1 : b->child_count;
    struct ArrowArray *children = NULL;
    struct ArrowArray made = {0};
    int64_t child_length = b->child_count > 0 ? b->children[0].length : 0;
    FRZ_TRY(trim(b, err));
    if (b->child_count > 0) {
        FRZ_TRY(finish_children(b, &children, err));
    }
    if (b->type->id == FRZ_TYPE_MAP) {
        FRZ_TRY(wrap_entries(b, child_length, children, err));
    }
    frz_buffer *buffers[] = {b->validity, b->values, b->bytes};
    b->validity = b->values = b->bytes = NULL;
    FRZ_TRY(frz_array_make(b->env, b->length, b->null_count, buffers, n_buffers, children,
                           n_children, &made, err));
    b->length = b->capacity = b->null_count = 0;
    b->bytes_len = 0;
    *out = made;
out:
    frz_free(b->env, children);
    return rc;
}
