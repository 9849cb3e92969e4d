/*
 * Deleted rows of a data file whose columns are updated. They neither match nor fail, and come to
 * lie in column files as nulls. If delete files have part in it, the entry's deletion vector must
 * tell all deleted rows afterwards: the files no longer apply once the data sequence number has
 * risen. spec: column files, writer procedure, step 1
 */
#include "column_update/column_update_internal.h"

frz_code update_deletes_open(update_deletes *deletes, frz_delete_index *index,
                             const frz_table *table, const frz_entry *entry, frz_error *err)
{
    *deletes = (update_deletes){.env = table->env, .folds = index != NULL};
    return frz_file_deletes_find(index, table, entry, &deletes->found, err);
}

void update_deletes_reset(update_deletes *deletes)
{
    frz_file_deletes_free(deletes->found);
    frz_free(deletes->env, deletes->positions);
    *deletes = (update_deletes){.env = deletes->env};
}

void update_deletes_request(const update_deletes *deletes, frz_stitch_request *request)
{
    request->with_deleted = true;
    if (deletes->found != NULL) {
        request->deleted = frz_file_deletes_positions(deletes->found);
    }
}

frz_code update_deletes_read_type(const update_deletes *deletes, const frz_type *projection,
                                  frz_arena *arena, const frz_type **out, frz_error *err)
{
    *out = projection;
    return deletes->found == NULL
               ? FRZ_OK
               : frz_file_deletes_read_type(deletes->found, projection, arena, out, err);
}

frz_code update_deletes_live(const update_deletes *deletes, const frz_type *read_type,
                             frz_batch *batch, const frz_type *projection, uint8_t **live,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = batch->array.length;
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    uint8_t *bits = NULL;
    *live = NULL;
    if (deletes->found == NULL) {
        return FRZ_OK;
    }
    bits = frz_alloc(deletes->env, bytes);
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    memset(bits, 0xff, bytes);
    FRZ_TRY(frz_file_deletes_clear(deletes->found, read_type, batch, bits, err));
    for (size_t i = 0; i < projection->field_count; i++) {
        FRZ_TRY(frz_array_narrow(deletes->env, projection->fields[i].type, batch->array.children[i],
                                 err));
    }
    if (frz_bitmap_count(bits, 0, rows) < rows) {
        *live = bits;
        bits = NULL;
    }
out:
    frz_free(deletes->env, bits);
    return rc;
}

frz_code update_deletes_note(update_deletes *deletes, const frz_batch *batch, const uint8_t *live,
                             frz_error *err)
{
    for (int64_t i = 0; deletes->folds && live != NULL && i < batch->array.length; i++) {
        if (frz_bit_get(live, i)) {
            continue;
        }
        frz_code rc =
            FRZ_GROW(deletes->env, &deletes->positions, &deletes->capacity, deletes->count, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        deletes->positions[deletes->count++] = batch->first_row + i;
    }
    return FRZ_OK;
}

frz_code update_deletes_hide(const frz_env *env, const uint8_t *live, struct ArrowArray *array,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray whole;
    frz_buffer *validity = NULL;
    int64_t rows = array->length;
    if (live == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_buffer_new(env, frz_bitmap_bytes(rows), &validity, err));
    for (int64_t i = 0; i < rows; i++) {
        frz_bit_put(validity->data, i, frz_bit_get(live, i) && !frz_is_null(array, i));
    }
    frz_array_move(array, &whole);
    rc = frz_array_with_validity(env, &whole, validity, array, err);
    frz_array_release(&whole);
out:
    return rc;
}

frz_code update_deletes_take(update_deletes *deletes, frz_positions **out, frz_error *err)
{
    return deletes->count == 0
               ? FRZ_OK
               : frz_positions_of(deletes->env, deletes->positions, deletes->count, out, err);
}
