/*
 * Which rows of a data file are left when it is rewritten.
 */
#include "files/files.h"

void frz_live_rows_reset(frz_live_rows *rows)
{
    frz_free(rows->live.env, rows->bits);
    frz_live_reset(&rows->live);
    rows->bits = NULL;
    rows->deleted = NULL;
}

static frz_code all_bits(const frz_env *env, int64_t rows, uint8_t **out, frz_error *err)
{
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    *out = frz_alloc(env, bytes);
    if (*out == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    memset(*out, 0xff, bytes);
    return FRZ_OK;
}

/* Keys of equality deletes are compared with the rows themselves. */
static frz_code read_keys(const frz_table *table, const frz_entry *entry, const frz_type *read_type,
                          frz_live_rows *rows, frz_error *err)
{
    static const frz_type nothing = {.id = FRZ_TYPE_STRUCT};
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    uint8_t *bits = NULL;
    frz_stitch_request request = {.projection = read_type};
    frz_live_rows_request(rows, &request);
    FRZ_TRY(frz_stitch_open(table, entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        FRZ_TRY(frz_live_bits(&rows->live, read_type, &batch, &nothing, &bits, err));
        if (bits != NULL) {
            frz_bitmap_copy(bits, 0, batch.array.length, rows->bits, batch.first_row);
        }
        frz_free(table->env, bits);
        bits = NULL;
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_array_release(&batch.array);
    frz_stitch_close(stitch);
    return rc;
}

frz_code frz_live_rows_find(const frz_table *table, const frz_entry *entry, frz_delete_index *index,
                            frz_arena *arena, frz_live_rows *rows, frz_error *err)
{
    static const frz_type nothing = {.id = FRZ_TYPE_STRUCT};
    frz_code rc = FRZ_OK;
    const frz_type *read_type = NULL;
    *rows = (frz_live_rows){
        .live.env = table->env, .record_count = entry->record_count, .count = entry->record_count};
    FRZ_TRY(frz_live_open(&rows->live, index, table, entry, err));
    if (rows->live.found == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(all_bits(table->env, entry->record_count, &rows->bits, err));
    FRZ_TRY(frz_live_read_type(&rows->live, &nothing, arena, &read_type, err));
    rows->deleted = frz_file_deletes_positions(rows->live.found);
    if (read_type->field_count > 0) {
        FRZ_TRY(read_keys(table, entry, read_type, rows, err));
    } else if (rows->deleted != NULL) {
        frz_positions_clear(rows->deleted, 0, entry->record_count, rows->bits);
    }
    rows->count = frz_bitmap_count(rows->bits, 0, entry->record_count);
out:
    return rc;
}

frz_code frz_live_rows_of(const frz_env *env, const frz_positions *deleted, int64_t record_count,
                          frz_live_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *rows = (frz_live_rows){
        .live.env = env, .deleted = deleted, .record_count = record_count, .count = record_count};
    if (deleted == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(all_bits(env, record_count, &rows->bits, err));
    frz_positions_clear(deleted, 0, record_count, rows->bits);
    rows->count = frz_bitmap_count(rows->bits, 0, record_count);
out:
    return rc;
}

frz_code frz_live_rows_remove(frz_live_rows *rows, const int64_t *positions, size_t count,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (rows->bits == NULL) {
        FRZ_TRY(all_bits(rows->live.env, rows->record_count, &rows->bits, err));
    }
    for (size_t i = 0; i < count; i++) {
        frz_bit_put(rows->bits, positions[i], false);
    }
    rows->count = frz_bitmap_count(rows->bits, 0, rows->record_count);
out:
    return rc;
}

void frz_live_rows_request(const frz_live_rows *rows, frz_stitch_request *request)
{
    request->with_deleted = true;
    request->deleted = rows->deleted;
}

int64_t frz_live_rows_count(const frz_live_rows *rows, frz_row_range range)
{
    return rows->bits == NULL ? range.end - range.start
                              : frz_bitmap_count(rows->bits, range.start, range.end - range.start);
}

frz_code frz_live_rows_pick(const frz_live_rows *rows, const frz_type *type, int64_t first_row,
                            struct ArrowArray *array, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = rows->live.env;
    int64_t length = array->length;
    int64_t count = frz_live_rows_count(rows, (frz_row_range){first_row, first_row + length});
    struct ArrowArray whole;
    uint8_t *bits = NULL;
    if (count == length) {
        return FRZ_OK;
    }
    FRZ_TRY(all_bits(env, length, &bits, err));
    frz_bitmap_copy(rows->bits, first_row, length, bits, 0);
    frz_array_move(array, &whole);
    rc = frz_array_filter(env, type, &whole, bits, count, array, err);
    frz_array_release(&whole);
out:
    frz_free(env, bits);
    return rc;
}

/* ---- lists of rows ---- */

frz_code frz_row_list_add(const frz_env *env, frz_row_list *list, int64_t row, frz_error *err)
{
    frz_code rc = FRZ_GROW(env, &list->rows, &list->capacity, list->count, err);
    if (rc == FRZ_OK) {
        list->rows[list->count++] = row;
    }
    return rc;
}

frz_code frz_row_list_add_deleted(const frz_env *env, frz_row_list *list, const frz_live *live,
                                  int64_t record_count, frz_error *err)
{
    const frz_positions *positions =
        live->found == NULL ? NULL : frz_file_deletes_positions(live->found);
    frz_row_range run = {0, 0};
    while (positions != NULL && frz_positions_next_run(positions, run.end, &run) &&
           run.start < record_count) {
        run.end = FRZ_MIN(run.end, record_count);
        for (int64_t row = run.start; row < run.end; row++) {
            frz_code rc = frz_row_list_add(env, list, row, err);
            if (rc != FRZ_OK) {
                return rc;
            }
        }
    }
    return FRZ_OK;
}

void frz_row_list_reset(const frz_env *env, frz_row_list *list)
{
    frz_free(env, list->rows);
    *list = (frz_row_list){0};
}
