/*
 * From a batch of a file to rows of the feed: what each row means, and the columns about it.
 */
#include "changes/changes_rows_internal.h"

static const change_pass *pass_of(const rows_stream *s)
{
    return &s->work.passes[s->work.pass];
}

static bool is_update_in_place(const change_pass *pass)
{
    return pass->role == CHANGE_BEFORE || pass->role == CHANGE_AFTER;
}

static bool is_old(const change_pass *pass)
{
    return pass->role == CHANGE_LEAVES || pass->role == CHANGE_BEFORE;
}

/* ---- what rows mean ---- */

/* Rows of a batch by the kind of their change. */
typedef struct sorted {
    uint8_t *bits[CHANGE_KINDS]; /* inserted or deleted; updated */
    int64_t counts[CHANGE_KINDS];
} sorted;

enum { KIND_PLAIN, KIND_UPDATE };

/* A row that is on both sides: an update, or no change at all. */
static void move_matched(const rows_stream *s, const struct ArrowArray *ids, int64_t rows,
                         sorted *out)
{
    const frz_positions *others =
        pass_of(s)->role == CHANGE_LEAVES ? s->matches.arrived : s->matches.left;
    for (int64_t i = 0; others != NULL && i < rows; i++) {
        if (!frz_bit_get(out->bits[KIND_PLAIN], i) || frz_is_null(ids, i) ||
            frz_get_i64(ids, i) < 0 || !frz_positions_has(others, frz_get_i64(ids, i))) {
            continue;
        }
        frz_bit_clear(out->bits[KIND_PLAIN], i);
        if (s->matches.updated != NULL &&
            frz_positions_has(s->matches.updated, frz_get_i64(ids, i))) {
            frz_bit_set(out->bits[KIND_UPDATE], i);
        }
    }
}

static frz_code sort_rows(const rows_stream *s, const frz_batch *batch, sorted *out, frz_error *err)
{
    int64_t rows = batch->array.length;
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    for (size_t k = 0; k < CHANGE_KINDS; k++) {
        out->bits[k] = frz_alloc_zero(s->env, 1, bytes);
        if (out->bits[k] == NULL) {
            return frz_fail_nomem(err, bytes);
        }
    }
    if (is_update_in_place(pass_of(s))) {
        change_pass_select(pass_of(s), batch, out->bits[KIND_UPDATE]);
    } else {
        int64_t id = frz_type_index_of_id(s->work.read_type, FRZ_ID_ROW_ID);
        change_pass_select(pass_of(s), batch, out->bits[KIND_PLAIN]);
        move_matched(s, batch->array.children[id], rows, out);
    }
    for (size_t k = 0; k < CHANGE_KINDS; k++) {
        out->counts[k] = frz_bitmap_count(out->bits[k], 0, rows);
    }
    return FRZ_OK;
}

/* ---- columns about the change ---- */

static const char *type_text(const change_pass *pass, size_t kind)
{
    if (kind == KIND_UPDATE) {
        return is_old(pass) ? "UPDATE_BEFORE" : "UPDATE_AFTER";
    }
    return is_old(pass) ? "DELETE" : "INSERT";
}

/* The names of fields that have values; null: all have. */
static frz_code make_changed(const rows_stream *s, const frz_type *type, int64_t rows,
                             struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_builder *list = NULL;
    if (!is_update_in_place(pass_of(s))) {
        return frz_array_nulls(s->env, type, rows, out, err);
    }
    FRZ_TRY(frz_builder_new(s->env, type, &list, err));
    for (int64_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < s->work.changed_count; k++) {
            const frz_field *field = frz_type_field_by_id(s->readable, s->work.changed[k]);
            FRZ_TRY(frz_builder_bytes(frz_builder_child(list, 0), field->name, err));
        }
        FRZ_TRY(frz_builder_end(list, err));
    }
    rc = frz_builder_finish(list, out, err);
out:
    frz_builder_free(list);
    return rc;
}

/* One of the columns before the values. */
static frz_code make_about(const rows_stream *s, const frz_field *field, size_t kind, int64_t rows,
                           struct ArrowArray *out, frz_error *err)
{
    frz_value value = {.type = field->type};
    switch (field->id) {
    case CHANGE_ID_TYPE:
        value.as.bytes = frz_str_from(type_text(pass_of(s), kind));
        break;
    case CHANGE_ID_ORDINAL:
        value.as.i32 = (int32_t)(s->next - 1);
        break;
    case CHANGE_ID_SNAPSHOT_ID:
        value.as.i64 = s->set->after.snapshot->snapshot_id;
        break;
    default:
        return make_changed(s, field->type, rows, out, err);
    }
    return frz_array_constant(s->env, field->type, &value, rows, out, err);
}

/* ---- the batch ---- */

/* A column of values; one that this pass does not read is null. */
static frz_code make_value(const rows_stream *s, const frz_field *field,
                           const struct ArrowArray *batch, const uint8_t *bits, int64_t count,
                           struct ArrowArray *out, frz_error *err)
{
    int64_t at = frz_type_index_of_id(s->work.read_type, field->id);
    if (at < 0) {
        return frz_array_nulls(s->env, field->type, count, out, err);
    }
    return count == batch->length
               ? frz_array_slice(s->env, batch->children[at], 0, count, out, err)
               : frz_array_filter(s->env, field->type, batch->children[at], bits, count, out, err);
}

static frz_code make_batch(const rows_stream *s, const struct ArrowArray *batch, size_t kind,
                           const uint8_t *bits, int64_t count, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = s->output_type->field_count, made = 0;
    struct ArrowArray *columns = frz_alloc_zero(s->env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; made < n; made++) {
        const frz_field *field = &s->output_type->fields[made];
        FRZ_TRY(made < s->value_start
                    ? make_about(s, field, kind, count, &columns[made], err)
                    : make_value(s, field, batch, bits, count, &columns[made], err));
    }
    made = 0; /* they move, also on failure */
    rc = frz_batch_make(s->env, count, columns, n, out, err);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(s->env, columns);
    return rc;
}

frz_code change_rows_of_batch(const rows_stream *s, const frz_batch *batch,
                              struct ArrowArray out[CHANGE_KINDS], frz_error *err)
{
    sorted rows = {.counts = {0}};
    frz_code rc = sort_rows(s, batch, &rows, err);
    for (size_t k = 0; rc == FRZ_OK && k < CHANGE_KINDS; k++) {
        if (rows.counts[k] > 0) {
            rc = make_batch(s, &batch->array, k, rows.bits[k], rows.counts[k], &out[k], err);
        }
    }
    for (size_t k = 0; k < CHANGE_KINDS; k++) {
        frz_free(s->env, rows.bits[k]);
    }
    return rc;
}
