/*
 * The rows for which a condition is true, found in all rows of a file and in those that pruning
 * leaves: the two must be the same.
 */
#ifndef FRZ_TEST_PARQUET_PRUNE_CHECK_H
#define FRZ_TEST_PARQUET_PRUNE_CHECK_H

#include "expr/expr.h"
#include "format/format.h"

typedef struct prune_rows {
    int64_t *items;
    size_t count, capacity;
} prune_rows;

typedef struct prune_checker {
    const frz_env *env;
    const frz_data_file *file;
    const frz_type *type;
    const frz_bound_expr *filter;
    frz_arena arena; /* of one condition */
} prune_checker;

/* Matching rows of one batch. */
static inline frz_code prune_select(const prune_checker *c, const frz_type *type,
                                    const frz_batch *batch, prune_rows *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t selected;
    uint8_t *bits = frz_alloc(c->env, (size_t)batch->array.length / 8 + 16);
    if (bits == NULL) {
        return frz_fail_nomem(err, (size_t)batch->array.length);
    }
    FRZ_TRY(frz_expr_select(c->filter, type, &batch->array, batch->first_row, NULL, bits, &selected,
                            err));
    for (int64_t i = 0; i < batch->array.length; i++) {
        if (frz_bit_get(bits, i)) {
            FRZ_TRY(FRZ_GROW(c->env, &out->items, &out->capacity, out->count, err));
            out->items[out->count++] = batch->first_row + i;
        }
    }
out:
    frz_free(c->env, bits);
    return rc;
}

static inline frz_code prune_read(const prune_checker *c, const frz_type *projection,
                                  const frz_row_range *ranges, size_t count, prune_rows *out,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_read_request request = {.projection = projection, .ranges = ranges, .range_count = count};
    FRZ_TRY(frz_data_reader_open(c->file, &request, &reader, err));
    for (;;) {
        rc = frz_data_reader_next(reader, &batch, err);
        if (rc == FRZ_END) {
            rc = FRZ_OK;
            break;
        }
        FRZ_TRY(rc);
        rc = prune_select(c, projection, &batch, out, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
out:
    frz_data_reader_close(reader);
    return rc;
}

static inline frz_code prune_fields(prune_checker *c, const frz_type **out, frz_error *err)
{
    size_t count;
    const int32_t *ids = frz_bound_expr_fields(c->filter, &count);
    frz_field *fields = frz_arena_array(&c->arena, count + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] = *frz_type_field_by_id(c->type, ids[i]);
    }
    return frz_type_struct_of(&c->arena, fields, count, out, err);
}

/* Rows that match in all, in those that are left, and what was pruned. The filter is bound. Rows
 * are freed by the caller, also on failure. *scanned: all rows could be filtered. */
static inline frz_code prune_both(prune_checker *c, prune_rows *all, prune_rows *left,
                                  frz_prune_report *report, bool *scanned, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *fields;
    frz_row_range *ranges;
    size_t count;
    *scanned = false;
    FRZ_TRY(prune_fields(c, &fields, err));
    FRZ_TRY(prune_read(c, fields, NULL, 0, all, err));
    *scanned = true;
    frz_prune_request request = {.filter = c->filter, .provided = fields};
    FRZ_TRY(frz_data_file_prune(c->file, &request, &c->arena, &ranges, &count, report, err));
    FRZ_TRY(prune_read(c, fields, ranges, count, left, err));
out:
    return rc;
}

/* The first row that only one of the two has; -1: none. */
static inline int64_t prune_difference(const prune_rows *all, const prune_rows *left)
{
    size_t same = 0;
    while (same < all->count && same < left->count && all->items[same] == left->items[same]) {
        same++;
    }
    return same < all->count ? all->items[same] : same < left->count ? left->items[same] : -1;
}

#endif
