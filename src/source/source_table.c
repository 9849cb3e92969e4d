/*
 * Rows of a source in memory: batches as they come, and the numbers of their keys. What is asked
 * for row by row comes from one array, which is made when all rows are there.
 */
#include "source/source_join.h"
#include "type/type_value.h"

/* ---- keys ---- */

frz_code join_keys_init(join_keys *keys, const frz_env *env, frz_bound_expr *const *exprs,
                        size_t count, frz_error *err)
{
    *keys = (join_keys){.env = env, .exprs = exprs, .count = count};
    keys->arrays = frz_alloc_zero(env, count, sizeof *keys->arrays);
    keys->columns = frz_alloc_zero(env, count, sizeof *keys->columns);
    return keys->arrays == NULL || keys->columns == NULL
               ? frz_fail_nomem(err, count * sizeof *keys->columns)
               : FRZ_OK;
}

static void release_arrays(join_keys *keys)
{
    for (size_t i = 0; keys->arrays != NULL && i < keys->count; i++) {
        frz_array_release(&keys->arrays[i]);
    }
}

void join_keys_reset(join_keys *keys)
{
    if (keys->env != NULL) {
        release_arrays(keys);
        frz_free(keys->env, keys->keyed);
        frz_free(keys->env, keys->arrays);
        frz_free(keys->env, keys->columns);
    }
    *keys = (join_keys){0};
}

#define DEFINE_ZEROS(name, T)                                                                      \
    static bool has_##name(const T *values, int64_t count)                                         \
    {                                                                                              \
        bool found = false;                                                                        \
        for (int64_t i = 0; i < count; i++) {                                                      \
            found |= values[i] == 0;                                                               \
        }                                                                                          \
        return found;                                                                              \
    }                                                                                              \
    static void copy_##name(const T *values, int64_t count, T *out)                                \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            out[i] = values[i] == 0 ? 0 : values[i];                                               \
        }                                                                                          \
    }
DEFINE_ZEROS(floats, float)
DEFINE_ZEROS(doubles, double)

/* For SQL -0 equals 0, for sets of keys it does not. */
static frz_code unsign_zeros(const frz_env *env, const frz_type *type, struct ArrowArray *array,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray made = {0};
    frz_buffer *buffers[2] = {NULL, NULL};
    size_t width = frz_type_width(type);
    bool single = type->id == FRZ_TYPE_FLOAT;
    const uint8_t *values = (const uint8_t *)array->buffers[1] + (size_t)array->offset * width;
    if (!(single ? has_floats((const float *)(const void *)values, array->length)
                 : has_doubles((const double *)(const void *)values, array->length))) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_buffer_new(env, (size_t)array->length * width, &buffers[1], err));
    if (single) {
        copy_floats((const float *)(const void *)values, array->length,
                    (float *)(void *)buffers[1]->data);
    } else {
        copy_doubles((const double *)(const void *)values, array->length,
                     (double *)(void *)buffers[1]->data);
    }
    if (array->buffers[0] != NULL) {
        FRZ_TRY(frz_buffer_new(env, frz_bitmap_bytes(array->length), &buffers[0], err));
        frz_bitmap_copy(array->buffers[0], array->offset, array->length, buffers[0]->data, 0);
    }
    rc = frz_array_make(env, array->length, array->null_count, buffers, 2, NULL, 0, &made, err);
    buffers[0] = buffers[1] = NULL; /* moved, also on failure */
    FRZ_TRY(rc);
    frz_array_release(array);
    frz_array_move(&made, array);
out:
    frz_buffer_unref(buffers[0]);
    frz_buffer_unref(buffers[1]);
    return rc;
}

frz_code join_keys_eval(join_keys *keys, const frz_type *type, const struct ArrowArray *batch,
                        int64_t first, const uint8_t *live, frz_error *err)
{
    frz_code rc = FRZ_OK;
    release_arrays(keys);
    for (size_t i = 0; i < keys->count; i++) {
        struct ArrowArray *array = &keys->arrays[i];
        const frz_type *of = frz_bound_expr_type(keys->exprs[i]);
        FRZ_TRY(frz_expr_eval(keys->exprs[i], type, batch, first, live, array, err));
        if (frz_key_class_of(of) == FRZ_KEY_FLOAT) {
            FRZ_TRY(unsign_zeros(keys->env, of, array, err));
        }
        keys->columns[i] = (frz_key_column){.class = frz_key_class_of(of),
                                            .type = of,
                                            .array = array,
                                            .first = array->offset,
                                            .validity_first = array->offset};
        if (keys->columns[i].class != FRZ_KEY_NULL) {
            keys->columns[i].validity = array->buffers[0];
        }
    }
out:
    return rc;
}

/* As if the first column were null in the others. */
void join_keys_restrict(join_keys *keys, uint8_t *keyed, int64_t rows)
{
    frz_key_column *column = &keys->columns[0];
    keys->keyed = keyed;
    for (int64_t i = 0; column->validity != NULL && i < rows; i++) {
        if (!frz_bit_get(column->validity, column->validity_first + i)) {
            frz_bit_clear(keyed, i);
        }
    }
    column->validity = keyed;
    column->validity_first = 0;
}

frz_code join_keys_text(const join_keys *keys, int64_t row, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (keys->count > 1) {
        FRZ_TRY(frz_buf_append_byte(out, '(', err));
    }
    for (size_t i = 0; i < keys->count; i++) {
        frz_value value = frz_value_at(keys->columns[i].type, &keys->arrays[i], row);
        FRZ_TRY(frz_buf_append_str(out, i == 0 ? "" : ", ", err));
        FRZ_TRY(frz_value_print(&value, out, err));
    }
    if (keys->count > 1) {
        FRZ_TRY(frz_buf_append_byte(out, ')', err));
    }
out:
    return rc;
}

/* ---- rows ---- */

/* Bytes of an array's rows, about. */
static size_t bytes_of(const frz_type *type, const struct ArrowArray *array)
{
    size_t bytes = frz_bitmap_bytes(array->length);
    size_t width = frz_type_width(type);
    type = frz_type_storage(type);
    if (width > 0 || type->id == FRZ_TYPE_BOOLEAN || type->id == FRZ_TYPE_UNKNOWN) {
        return bytes + (size_t)array->length * width;
    }
    if (type->id == FRZ_TYPE_STRUCT) {
        for (size_t i = 0; i < type->field_count; i++) {
            bytes += bytes_of(type->fields[i].type, array->children[i]);
        }
        return bytes;
    }
    bytes += (size_t)array->length * sizeof(int32_t);
    if (type->id == FRZ_TYPE_LIST) {
        return bytes + bytes_of(type->fields[0].type, array->children[0]);
    }
    if (type->id == FRZ_TYPE_MAP) {
        const struct ArrowArray *entries = array->children[0];
        return bytes + bytes_of(type->fields[0].type, entries->children[0]) +
               bytes_of(type->fields[1].type, entries->children[1]);
    }
    const int32_t *offsets = (const int32_t *)array->buffers[1] + array->offset;
    return bytes + (size_t)(offsets[array->length] - offsets[0]);
}

static frz_code new_set(join_table *table, const join_keys *keys, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type **types = frz_alloc_zero(table->env, keys->count, sizeof *types);
    FRZ_TRY(types == NULL ? frz_fail_nomem(err, keys->count * sizeof *types) : FRZ_OK);
    for (size_t i = 0; i < keys->count; i++) {
        types[i] = keys->columns[i].type;
    }
    FRZ_TRY(frz_key_set_new(table->env, types, keys->count, &table->set, err));
out:
    frz_free(table->env, (void *)(uintptr_t)types);
    return rc;
}

frz_code join_table_add(join_table *table, struct ArrowArray *batch, const join_keys *keys,
                        int64_t *twice, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (table->set == NULL) {
        FRZ_TRY(new_set(table, keys, err));
    }
    FRZ_TRY(frz_key_set_number(table->set, keys->columns, batch->length, table->rows, twice, err));
    FRZ_TRY(FRZ_GROW(table->env, &table->batches, &table->capacity, table->count, err));
    table->rows += batch->length;
    table->bytes += bytes_of(table->type, batch);
    frz_array_move(batch, &table->batches[table->count++]);
out:
    frz_array_release(batch);
    return rc;
}

frz_code join_table_finish(join_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(FRZ_GROW(table->env, &table->batches, &table->capacity, table->count, err));
    FRZ_TRY(frz_array_nulls(table->env, table->type, 1, &table->batches[table->count], err));
    table->count++;
    FRZ_TRY(frz_array_concat(table->env, table->type, table->batches, table->count, &table->values,
                             err));
    for (size_t i = 0; i < table->count; i++) {
        frz_array_release(&table->batches[i]);
    }
    table->count = 0;
out:
    return rc;
}

void join_table_reset(join_table *table)
{
    const frz_env *env = table->env;
    const frz_type *type = table->type;
    if (env != NULL) {
        for (size_t i = 0; i < table->count; i++) {
            frz_array_release(&table->batches[i]);
        }
        frz_free(env, table->batches);
        frz_array_release(&table->values);
        frz_key_set_free(table->set);
    }
    *table = (join_table){.env = env, .type = type};
}

size_t join_table_bytes(int64_t rows, size_t bytes, size_t key_count)
{
    /* while it is finished, rows are there twice */
    return 2 * bytes + frz_key_set_bytes_of(rows, key_count);
}
