/*
 * The join of a source with the rows of a table: reading the source, and answering for the rows of
 * a batch which row of the source each of them has.
 */
#include "source/source_join.h"

/* ---- types ---- */

static const frz_field number_field = {.id = FRZ_ID_NONE, .name = {"number", 6}, .required = true};

/* The columns and behind them the number. */
static frz_code make_types(frz_join *join, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *columns = join->options.columns;
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    frz_field *fields = frz_arena_array(&join->arena, columns->field_count + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, columns->field_count * sizeof *fields);
    }
    memcpy(fields, columns->fields, columns->field_count * sizeof *fields);
    fields[columns->field_count] = number_field;
    fields[columns->field_count].type = number;
    FRZ_TRY(frz_type_struct_of(&join->arena, fields, columns->field_count + 1, &join->type, err));
    const frz_field run[RUN_VALUES + 1] = {
        [RUN_FILE] = {.id = FRZ_ID_NONE, .name = {"file", 4}, .required = true, .type = number},
        [RUN_ROW] = {.id = FRZ_ID_NONE, .name = {"row", 3}, .required = true, .type = number},
        [RUN_NUMBER] = {.id = FRZ_ID_NONE, .name = {"place", 5}, .required = true, .type = number},
        [RUN_VALUES] = {.id = FRZ_ID_NONE, .name = {"values", 6}, .type = join->type}};
    FRZ_TRY(frz_type_struct_of(&join->arena, run, RUN_VALUES + 1, &join->run_type, err));
out:
    return rc;
}

/* ---- batches of the source ---- */

frz_code join_wrap(const frz_join *join, const struct ArrowArray *rows, struct ArrowArray *out,
                   frz_error *err)
{
    struct ArrowArray column = {0};
    frz_code rc = frz_batch_slice(join->env, rows, 0, rows->length, &column, err);
    return rc == FRZ_OK ? frz_batch_make(join->env, rows->length, &column, 1, out, err) : rc;
}

/* The rows that the filter lets through: a bit for each, free with frz_free. */
static frz_code filter_bits(const frz_join *join, const struct ArrowArray *batch, int64_t first,
                            uint8_t **out, int64_t *selected, frz_error *err)
{
    size_t bytes = frz_bitmap_bytes(batch->length) + 8;
    *out = frz_alloc_zero(join->env, 1, bytes);
    return *out == NULL ? frz_fail_nomem(err, bytes)
                        : frz_expr_select(join->options.filter, join->options.row_type, batch,
                                          first, NULL, *out, selected, err);
}

frz_code join_source_keys(const frz_join *join, const struct ArrowArray *rows, int64_t first,
                          join_keys *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray batch = {0};
    uint8_t *keyed = NULL;
    int64_t selected = 0;
    FRZ_TRY(join_wrap(join, rows, &batch, err));
    FRZ_TRY(join_keys_init(out, join->env, join->options.keys, join->options.key_count, err));
    if (join->options.filter != NULL && join->options.keeps) {
        FRZ_TRY(filter_bits(join, &batch, first, &keyed, &selected, err));
    }
    FRZ_TRY(join_keys_eval(out, join->options.row_type, &batch, first, keyed, err));
    if (keyed != NULL) {
        join_keys_restrict(out, keyed, batch.length);
        keyed = NULL;
    }
out:
    frz_free(join->env, keyed);
    frz_array_release(&batch);
    return rc;
}

frz_code join_fail_twice(const frz_join *join, const join_keys *keys, int64_t row, frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(join->env, FRZ_BUF_NO_LIMIT);
    frz_code rc = join_keys_text(keys, row, &text, err);
    if (rc == FRZ_OK) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "several rows of \"%.*s\" have the key %.*s",
                      FRZ_STR_ARG(join->source->name), FRZ_STR_ARG(frz_buf_view(&text)));
    }
    frz_buf_reset(&text);
    return rc;
}

/* Others go. */
static frz_code filter_rows(const frz_join *join, struct ArrowArray *rows, int64_t first,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t selected = 0;
    struct ArrowArray batch = {0}, kept = {0};
    uint8_t *bits = NULL;
    if (join->options.filter == NULL || join->options.keeps) {
        return FRZ_OK;
    }
    FRZ_TRY(join_wrap(join, rows, &batch, err));
    FRZ_TRY(filter_bits(join, &batch, first, &bits, &selected, err));
    if (selected < rows->length) {
        FRZ_TRY(
            frz_array_filter(join->env, join->options.columns, rows, bits, selected, &kept, err));
        frz_array_release(rows);
        frz_array_move(&kept, rows);
    }
out:
    frz_array_release(&kept);
    frz_array_release(&batch);
    frz_free(join->env, bits);
    return rc;
}

/* Put the numbers behind the columns. */
static frz_code number_rows(const frz_join *join, struct ArrowArray *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = join->options.columns->field_count;
    int64_t length = rows->length;
    frz_buffer *buffers[2] = {NULL, NULL};
    struct ArrowArray *columns = frz_alloc_zero(join->env, count + 1, sizeof *columns);
    FRZ_TRY(columns == NULL ? frz_fail_nomem(err, (count + 1) * sizeof *columns) : FRZ_OK);
    FRZ_TRY(frz_buffer_new(join->env, (size_t)length * sizeof(int64_t), &buffers[1], err));
    for (int64_t i = 0; i < length; i++) {
        ((int64_t *)(void *)buffers[1]->data)[i] = join->rows + i;
    }
    rc = frz_array_make(join->env, length, 0, buffers, 2, NULL, 0, &columns[count], err);
    buffers[1] = NULL; /* moved, also on failure */
    FRZ_TRY(rc);
    for (size_t i = 0; i < count; i++) {
        frz_array_move(rows->children[i], &columns[i]);
    }
    frz_array_release(rows);
    FRZ_TRY(frz_batch_make(join->env, length, columns, count + 1, rows, err));
out:
    frz_buffer_unref(buffers[1]);
    frz_free(join->env, columns);
    return rc;
}

/* ---- reading the source ---- */

/* What was held in memory goes to files. */
static frz_code start_spilling(frz_join *join, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t first = 0;
    join_keys keys = {0};
    join->spilled = true;
    FRZ_TRY(join_spill_open(join, 1, &first, err));
    for (size_t i = 0; i < join->table.count; i++) {
        struct ArrowArray *batch = &join->table.batches[i];
        FRZ_TRY(join_source_keys(join, batch, 0, &keys, err));
        FRZ_TRY(join_spill_deal(join, first, batch, &keys, err));
        join_keys_reset(&keys);
        frz_array_release(batch);
    }
    join_table_reset(&join->table);
out:
    join_keys_reset(&keys);
    return rc;
}

static bool is_full(const frz_join *join)
{
    return join_table_bytes(join->table.rows, join->table.bytes, join->options.key_count) >
           join->memory;
}

/* rows move, also on failure */
static frz_code take_rows(frz_join *join, struct ArrowArray *rows, int64_t first, frz_error *err)
{
    frz_code rc = FRZ_OK;
    join_keys keys = {0};
    int64_t twice = -1, length = 0;
    FRZ_TRY(filter_rows(join, rows, first, err));
    FRZ_TRY(number_rows(join, rows, err));
    length = rows->length;
    FRZ_TRY(join_source_keys(join, rows, first, &keys, err));
    if (join->spilled) {
        FRZ_TRY(join_spill_deal(join, 0, rows, &keys, err));
    } else {
        FRZ_TRY(join_table_add(&join->table, rows, &keys, &twice, err));
        if (twice >= 0 && join->options.unique) {
            rc = join_fail_twice(join, &keys, twice, err);
            goto out;
        }
        if (is_full(join)) {
            FRZ_TRY(start_spilling(join, err));
        }
    }
    join->rows += length;
out:
    join_keys_reset(&keys);
    frz_array_release(rows);
    return rc;
}

static frz_code read_source(frz_join *join, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rows = {0};
    int64_t first = 0;
    FRZ_TRY(frz_source_open(join->source, join->options.columns, err));
    while ((rc = frz_source_next(join->source, &rows, err)) == FRZ_OK) {
        int64_t length = rows.length;
        FRZ_TRY(take_rows(join, &rows, first, err));
        first += length;
        FRZ_TRY(frz_progress(join->env, "read source", (uint64_t)first, 0, err));
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    FRZ_TRY(rc);
    FRZ_TRY(join->spilled ? join_spill_close(join, 0, err) : join_table_finish(&join->table, err));
    size_t bytes = frz_bitmap_bytes(join->rows) + 8;
    join->marks = frz_alloc_zero(join->env, 1, bytes);
    rc = join->marks == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK;
out:
    frz_array_release(&rows);
    frz_source_close(join->source);
    return rc;
}

frz_code frz_join_new(frz_source *source, const frz_join_options *options, frz_join **out,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_join *join = frz_alloc_zero(source->env, 1, sizeof *join);
    if (join == NULL) {
        frz_bound_expr_free(options->filter);
        for (size_t i = 0; i < options->key_count; i++) {
            frz_bound_expr_free(options->keys[i]);
        }
        frz_free(source->env, options->keys);
        return frz_fail_nomem(err, sizeof *join);
    }
    join->env = source->env;
    join->source = source;
    join->options = *options;
    frz_arena_init(&join->arena, join->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_source_memory(source, &join->memory, err));
    FRZ_TRY(make_types(join, err));
    join->table = (join_table){.env = join->env, .type = join->type};
    FRZ_TRY(read_source(join, err));
    *out = join;
    join = NULL;
out:
    frz_join_free(join);
    return rc;
}

void frz_join_free(frz_join *join)
{
    if (join == NULL) {
        return;
    }
    const frz_env *env = join->env;
    if (join->rest.release != NULL) {
        join->rest.release(&join->rest);
    }
    join_spill_reset(join);
    join_table_reset(&join->table);
    frz_bound_expr_free(join->options.filter);
    for (size_t i = 0; i < join->options.key_count; i++) {
        frz_bound_expr_free(join->options.keys[i]);
    }
    frz_free(env, join->options.keys);
    frz_free(env, join->marks);
    frz_arena_reset(&join->arena);
    frz_free(env, join);
}

int64_t frz_join_rows(const frz_join *join)
{
    return join->rows;
}

int64_t frz_join_marked(const frz_join *join)
{
    return join->marked;
}

/* ---- rows of the target ---- */

frz_code frz_source_take(const frz_env *env, const frz_type *type, const struct ArrowArray *array,
                         const int64_t *places, int64_t count, struct ArrowArray *out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    ipc_field field;
    struct ArrowSchema schema = {0};
    frz_take_part whole = {.field = &field, .whole = true};
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_type_to_arrow(env, type, &schema, err));
    FRZ_TRY(ipc_field_from_schema(&arena, &schema, &field, err));
    FRZ_TRY(frz_array_take(env, &whole, array, places, count, out, err));
out:
    frz_schema_release(&schema);
    frz_arena_reset(&arena);
    return rc;
}

frz_code frz_join_match(frz_join *join, const frz_join_target *target, frz_error *err)
{
    return join->spilled ? join_spill_match(join, target, err) : FRZ_OK;
}

frz_code join_target_keyed(const frz_join *join, const frz_join_target *target,
                           const frz_type *type, const frz_batch *batch, const uint8_t *live,
                           uint8_t **out, frz_error *err)
{
    int64_t selected = 0;
    size_t bytes = frz_bitmap_bytes(batch->array.length) + 8;
    if (target->filter == NULL) {
        return FRZ_OK;
    }
    uint8_t *bits = frz_alloc_zero(join->env, 1, bytes);
    if (bits == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    frz_code rc = frz_expr_select(target->filter, type, &batch->array, batch->first_row, live, bits,
                                  &selected, err);
    if (rc == FRZ_OK) {
        *out = bits;
        bits = NULL;
    }
    frz_free(join->env, bits);
    return rc;
}

/* Find the places of a batch's rows among values; these are borrowed from the table, or made. */
static frz_code find_places(frz_join *join, const join_keys *keys, size_t place,
                            const frz_batch *batch, int64_t *places, struct ArrowArray *made,
                            const struct ArrowArray **values, frz_error *err)
{
    int64_t length = batch->array.length;
    if (join->spilled) {
        *values = made;
        return join_spill_rows(join, place, batch->first_row, length, places, made, err);
    }
    *values = &join->table.values;
    for (int64_t i = 0; i < length; i++) {
        places[i] = FRZ_KEY_ABSENT;
    }
    if (join->table.set != NULL) {
        frz_key_set_find(join->table.set, keys->columns, length, places);
    }
    return FRZ_OK;
}

/* Rows without a match get the place of the null, which is the last one. */
static frz_code settle_places(const frz_join *join, const join_keys *keys, const uint8_t *live,
                              int64_t null_place, int64_t *places, int64_t length, frz_joined *out,
                              frz_error *err)
{
    for (int64_t i = 0; i < length; i++) {
        if (places[i] == FRZ_KEY_ABSENT || (live != NULL && !frz_bit_get(live, i))) {
            places[i] = null_place;
            continue;
        }
        if (places[i] == FRZ_KEY_TWICE) {
            return join_fail_twice(join, keys, i, err);
        }
        frz_bit_set(out->found, i);
        out->count++;
    }
    return FRZ_OK;
}

/* The structs have the number behind the columns, where nobody looks for it. */
static frz_code take_values(const frz_join *join, const struct ArrowArray *values,
                            const int64_t *places, int64_t length, frz_joined *out, frz_error *err)
{
    frz_code rc =
        out->count == 0
            ? frz_array_nulls(join->env, join->type, length, &out->values, err)
            : frz_source_take(join->env, join->type, values, places, length, &out->values, err);
    if (rc == FRZ_OK) {
        const struct ArrowArray *numbers = out->values.children[join->options.columns->field_count];
        for (int64_t i = 0; i < length; i++) {
            out->numbers[i] = frz_get_i64(numbers, i);
        }
    }
    return rc;
}

frz_code frz_join_rows_of(frz_join *join, const frz_join_target *target, size_t place,
                          const frz_type *batch_type, const frz_batch *batch, const uint8_t *live,
                          frz_joined *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = batch->array.length;
    join_keys keys = {0};
    struct ArrowArray made = {0};
    const struct ArrowArray *values = NULL;
    frz_joined joined = {0};
    size_t bytes = frz_bitmap_bytes(length) + 8;
    uint8_t *keyed = NULL;
    int64_t *places = frz_alloc_zero(join->env, (size_t)length, sizeof *places);
    joined.found = frz_alloc_zero(join->env, 1, bytes);
    joined.numbers = frz_alloc_zero(join->env, (size_t)length, sizeof *joined.numbers);
    if (places == NULL || joined.found == NULL || joined.numbers == NULL) {
        rc = frz_fail_nomem(err, (size_t)length * sizeof *places);
        goto out;
    }
    FRZ_TRY(join_target_keyed(join, target, batch_type, batch, live, &keyed, err));
    live = keyed == NULL ? live : keyed;
    FRZ_TRY(join_keys_init(&keys, join->env, target->keys, join->options.key_count, err));
    FRZ_TRY(join_keys_eval(&keys, batch_type, &batch->array, batch->first_row, live, err));
    FRZ_TRY(find_places(join, &keys, place, batch, places, &made, &values, err));
    FRZ_TRY(settle_places(join, &keys, live, values->length - 1, places, length, &joined, err));
    FRZ_TRY(take_values(join, values, places, length, &joined, err));
    *out = joined;
    joined = (frz_joined){0};
out:
    frz_joined_reset(join->env, &joined);
    frz_array_release(&made);
    join_keys_reset(&keys);
    frz_free(join->env, keyed);
    frz_free(join->env, places);
    return rc;
}

void frz_joined_reset(const frz_env *env, frz_joined *joined)
{
    frz_array_release(&joined->values);
    frz_free(env, joined->found);
    frz_free(env, joined->numbers);
    *joined = (frz_joined){0};
}

static void mark(frz_join *join, int64_t number)
{
    join->marked += !frz_bit_get(join->marks, number);
    frz_bit_set(join->marks, number);
}

void frz_join_mark(frz_join *join, const int64_t *numbers, const uint8_t *selected, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        if (frz_bit_get(selected, i)) {
            mark(join, numbers[i]);
        }
    }
}

void frz_join_mark_range(frz_join *join, frz_row_range numbers)
{
    for (int64_t number = numbers.start; number < numbers.end; number++) {
        mark(join, number);
    }
}

const uint8_t *frz_join_marks(const frz_join *join)
{
    return join->marks;
}

/* ---- what is left ---- */

#define REST_ROWS 65536

void frz_join_forget_marks(frz_join *join)
{
    memset(join->marks, 0, frz_bitmap_bytes(join->rows));
    join->marked = 0;
}

frz_code frz_join_rest_open(frz_join *join, frz_error *err)
{
    (void)err;
    if (join->rest.release != NULL) {
        join->rest.release(&join->rest);
    }
    join->rest = (struct ArrowArrayStream){0};
    join->rest_part = 0;
    join->rest_row = 0;
    return FRZ_OK;
}

static frz_code next_of_table(frz_join *join, struct ArrowArray *out, frz_error *err)
{
    int64_t count = FRZ_MIN((int64_t)REST_ROWS, join->table.rows - join->rest_row);
    if (count <= 0) {
        return FRZ_END;
    }
    frz_code rc = frz_batch_slice(join->env, &join->table.values, join->rest_row, count, out, err);
    join->rest_row += count;
    return rc;
}

static frz_code next_of_parts(frz_join *join, struct ArrowArray *out, frz_error *err)
{
    for (;;) {
        frz_code rc =
            join->rest.release == NULL ? FRZ_END : join_stream_next(&join->rest, out, err);
        if (rc != FRZ_END) {
            return rc;
        }
        while (join->rest_part < join->part_count && join->parts[join->rest_part].rows == 0) {
            join->rest_part++;
        }
        if (join->rest_part == join->part_count) {
            return FRZ_END;
        }
        if (join->rest.release != NULL) {
            join->rest.release(&join->rest);
            join->rest = (struct ArrowArrayStream){0};
        }
        rc = join_part_open(join, &join->parts[join->rest_part++], &join->rest, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
}

/* rows: with numbers, moves, also on failure */
static frz_code leave_marked_out(const frz_join *join, struct ArrowArray *rows,
                                 struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t length = rows->length, left = 0;
    size_t bytes = frz_bitmap_bytes(length) + 8;
    struct ArrowArray kept = {0};
    const struct ArrowArray *numbers = rows->children[join->options.columns->field_count];
    uint8_t *bits = frz_alloc_zero(join->env, 1, bytes);
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    for (int64_t i = 0; i < length; i++) {
        bool is_left = !frz_bit_get(join->marks, frz_get_i64(numbers, i));
        frz_bit_put(bits, i, is_left);
        left += is_left;
    }
    FRZ_TRY(frz_array_filter(join->env, join->options.columns, rows, bits, left, &kept, err));
    FRZ_TRY(join_wrap(join, &kept, out, err));
out:
    frz_array_release(&kept);
    frz_array_release(rows);
    frz_free(join->env, bits);
    return rc;
}

frz_code frz_join_rest_next(frz_join *join, struct ArrowArray *out, frz_error *err)
{
    struct ArrowArray rows = {0};
    frz_code rc = join->spilled ? next_of_parts(join, &rows, err) : next_of_table(join, &rows, err);
    return rc == FRZ_OK ? leave_marked_out(join, &rows, out, err) : rc;
}
