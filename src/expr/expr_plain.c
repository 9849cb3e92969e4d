/*
 * Two steps: other layouts of the same values become the library's (type_normalize.h), and types
 * that tables lack become the next wider ones of tables, as they are read from files.
 */
#include "expr/expr_plain.h"

#include "arrow/arrow_take.h"
#include "type/type_normalize.h"
#include "type/type_value.h"

#define MICROS_PER_MILLI 1000

struct expr_plain {
    const frz_env *env;
    frz_arena arena;
    const frz_type *native;    /* of the columns, in the library's layouts */
    struct ArrowSchema schema; /* of the native type */
    ipc_field field;           /* the same; texts are views of the schema */
    frz_normalizer *normalizer;
};

/* ---- types ---- */

/* UNKNOWN: there is no such type. */
static frz_type_id table_type(frz_foreign_type foreign)
{
    switch (foreign) {
    case FRZ_FOREIGN_INT8:
    case FRZ_FOREIGN_INT16:
    case FRZ_FOREIGN_UINT8:
    case FRZ_FOREIGN_UINT16:
        return FRZ_TYPE_INT;
    case FRZ_FOREIGN_UINT32:
    case FRZ_FOREIGN_UINT64:
        return FRZ_TYPE_LONG;
    case FRZ_FOREIGN_FLOAT16:
        return FRZ_TYPE_FLOAT;
    case FRZ_FOREIGN_TIME_MS:
        return FRZ_TYPE_TIME;
    case FRZ_FOREIGN_TIMESTAMP_MS:
        return FRZ_TYPE_TIMESTAMP;
    case FRZ_FOREIGN_TIMESTAMPTZ_MS:
        return FRZ_TYPE_TIMESTAMPTZ;
    default:
        return FRZ_TYPE_UNKNOWN;
    }
}

/* A struct of the columns. */
static frz_code root_of(frz_arena *arena, const struct ArrowSchema *const *columns, size_t count,
                        struct ArrowSchema *out, frz_error *err)
{
    struct ArrowSchema **children = frz_arena_array(arena, count, sizeof(struct ArrowSchema *));
    if (children == NULL) {
        return frz_fail_nomem(err, count * sizeof(struct ArrowSchema *));
    }
    for (size_t i = 0; i < count; i++) {
        children[i] = (struct ArrowSchema *)(uintptr_t)columns[i]; /* only looked at */
    }
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = (int64_t)count, .children = children};
    return FRZ_OK;
}

frz_code expr_plain_field(frz_arena *arena, const struct ArrowSchema *column, frz_field *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema root;
    const frz_type *native;
    char text[64];
    FRZ_TRY(root_of(arena, &column, 1, &root, err));
    rc = frz_type_from_arrow_native(arena, &root, &native, err);
    FRZ_TRY(frz_context(err, rc, "an expression"));
    frz_field field = native->fields[0];
    if (field.type->id == FRZ_TYPE_FOREIGN) {
        frz_type_id id = table_type(field.type->foreign);
        if (id == FRZ_TYPE_UNKNOWN) {
            rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                          "unsupported: an expression over column \"%.*s\" of type %s",
                          FRZ_STR_ARG(field.name), frz_type_text(field.type, text, sizeof text));
            goto out;
        }
        field.type = frz_type_primitive(id);
    }
    *out = field;
out:
    return rc;
}

/* ---- values ---- */

static int64_t load_integer(frz_foreign_type foreign, const void *values, int64_t i)
{
    switch (foreign) {
    case FRZ_FOREIGN_INT8:
        return ((const int8_t *)values)[i];
    case FRZ_FOREIGN_UINT8:
        return ((const uint8_t *)values)[i];
    case FRZ_FOREIGN_INT16:
        return ((const int16_t *)values)[i];
    case FRZ_FOREIGN_UINT16:
        return ((const uint16_t *)values)[i];
    case FRZ_FOREIGN_TIME_MS:
        return ((const int32_t *)values)[i];
    case FRZ_FOREIGN_UINT32:
        return ((const uint32_t *)values)[i];
    default:
        return ((const int64_t *)values)[i];
    }
}

/* An integer, or milliseconds as microseconds; false if 64 bits do not hold it. */
static bool widen_integer(frz_foreign_type foreign, int64_t *value)
{
    switch (foreign) {
    case FRZ_FOREIGN_UINT64:
        return *value >= 0;
    case FRZ_FOREIGN_TIME_MS:
    case FRZ_FOREIGN_TIMESTAMP_MS:
    case FRZ_FOREIGN_TIMESTAMPTZ_MS:
        return frz_mul_i64(*value, MICROS_PER_MILLI, value);
    default:
        return true;
    }
}

static frz_code widen_values(const frz_field *field, const struct ArrowArray *src, size_t width,
                             uint8_t *out, frz_error *err)
{
    frz_foreign_type foreign = field->type->foreign;
    for (int64_t i = 0; i < src->length; i++) {
        if (foreign == FRZ_FOREIGN_FLOAT16) {
            ((float *)(void *)out)[i] = frz_half_to_float(((const uint16_t *)src->buffers[1])[i]);
            continue;
        }
        int64_t value = load_integer(foreign, src->buffers[1], i);
        if (!widen_integer(foreign, &value) && !frz_is_null(src, i)) {
            return frz_fail(
                err, FRZ_E_UNSUPPORTED,
                "unsupported: an expression over a value of column \"%.*s\" that is too "
                "large for long",
                FRZ_STR_ARG(field->name));
        }
        if (width == sizeof(int32_t)) {
            ((int32_t *)(void *)out)[i] = (int32_t)value;
        } else {
            ((int64_t *)(void *)out)[i] = value;
        }
    }
    return FRZ_OK;
}

/* Replace an array of our own, without offset, by one of the type that tables have. */
static frz_code widen(const frz_env *env, const frz_field *field, struct ArrowArray *array,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type_id id = table_type(field->type->foreign);
    size_t width = frz_type_width(frz_type_primitive(id));
    struct ArrowArray wide = {0};
    frz_buffer *buffers[2] = {NULL, NULL};
    size_t bytes = frz_bitmap_bytes(array->length);
    FRZ_TRY(frz_buffer_new(env, (size_t)array->length * width, &buffers[1], err));
    FRZ_TRY(widen_values(field, array, width, buffers[1]->data, err));
    if (array->buffers[0] != NULL) {
        FRZ_TRY(frz_buffer_new(env, bytes, &buffers[0], err));
        memcpy(buffers[0]->data, array->buffers[0], bytes);
    }
    rc = frz_array_make(env, array->length, array->null_count, buffers, 2, NULL, 0, &wide, err);
    buffers[0] = buffers[1] = NULL; /* moved, also on failure */
    FRZ_TRY(rc);
    frz_array_release(array);
    frz_array_move(&wide, array);
out:
    frz_buffer_unref(buffers[0]);
    frz_buffer_unref(buffers[1]);
    return rc;
}

/* ---- batches ---- */

void expr_plain_free(expr_plain *plain)
{
    if (plain != NULL) {
        const frz_env *env = plain->env;
        frz_normalizer_free(plain->normalizer);
        frz_schema_release(&plain->schema);
        frz_arena_reset(&plain->arena);
        frz_free(env, plain);
    }
}

static frz_code plan(expr_plain *p, const struct ArrowSchema *const *columns, size_t count,
                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema root;
    FRZ_TRY(root_of(&p->arena, columns, count, &root, err));
    FRZ_TRY(frz_type_from_arrow_native(&p->arena, &root, &p->native, err));
    FRZ_TRY(frz_type_to_arrow(p->env, p->native, &p->schema, err));
    FRZ_TRY(ipc_field_from_schema(&p->arena, &p->schema, &p->field, err));
    FRZ_TRY(frz_normalizer_new(p->env, &root, p->native, &p->normalizer, err));
out:
    return rc;
}

frz_code expr_plain_new(const frz_env *env, const struct ArrowSchema *const *columns, size_t count,
                        expr_plain **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    expr_plain *p = frz_alloc_zero(env, 1, sizeof *p);
    if (p == NULL) {
        return frz_fail_nomem(err, sizeof *p);
    }
    p->env = env;
    frz_arena_init(&p->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(plan(p, columns, count, err));
    *out = p;
    p = NULL;
out:
    expr_plain_free(p);
    return rc;
}

/* A column in the library's layout as one of our own, in the type of tables. */
static frz_code own_column(const expr_plain *p, size_t i, const struct ArrowArray *src,
                           const int64_t *rows, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray made = {0};
    frz_take_part part = {.field = &p->field.children[i], .whole = true};
    FRZ_TRY(frz_array_take(p->env, &part, src, rows, src->length, &made, err));
    if (p->native->fields[i].type->id == FRZ_TYPE_FOREIGN) {
        FRZ_TRY(widen(p->env, &p->native->fields[i], &made, err));
    }
    frz_array_move(&made, out);
out:
    frz_array_release(&made);
    return rc;
}

static frz_code own_batch(const expr_plain *p, const struct ArrowArray *batch,
                          struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = p->native->field_count;
    size_t made = 0;
    struct ArrowArray *columns = frz_alloc_zero(p->env, n, sizeof *columns);
    int64_t *rows = frz_alloc_zero(p->env, (size_t)batch->length, sizeof *rows);
    if (columns == NULL || rows == NULL) {
        rc = frz_fail_nomem(err, (size_t)batch->length * sizeof *rows);
        goto out;
    }
    for (int64_t i = 0; i < batch->length; i++) {
        rows[i] = i;
    }
    for (; made < n; made++) {
        FRZ_TRY(own_column(p, made, batch->children[made], rows, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(p->env, batch->length, columns, n, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(p->env, rows);
    frz_free(p->env, columns);
    return rc;
}

/* The columns stay their owner's. */
static void keep_columns(struct ArrowArray *batch)
{
    batch->release = NULL;
}

frz_code expr_plain_batch(expr_plain *plain, struct ArrowArray **columns, int64_t first,
                          int64_t count, struct ArrowArray *out, frz_error *err)
{
    static const void *no_validity[1] = {NULL};
    struct ArrowArray batch = {.length = first + count,
                               .n_buffers = 1,
                               .buffers = (const void **)(uintptr_t)no_validity,
                               .n_children = (int64_t)plain->native->field_count,
                               .children = columns,
                               .release = keep_columns};
    struct ArrowArray normal;
    frz_code rc = frz_normalizer_batch(plain->normalizer, &batch, first, count, &normal, err);
    return rc == FRZ_OK ? own_batch(plain, &normal, out, err) : rc;
}
