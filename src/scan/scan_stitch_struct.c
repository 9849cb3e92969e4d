/*
 * Columns of a window out of the batches of the parts. What one part stores is taken over by
 * reference; a struct whose members lie in several parts gets its nulls from one of them and each
 * member from its own. spec: field_ids, structs
 */
#include "scan/scan_internal.h"

/* Rows of member i of a struct. */
static stitch_view member_view(const stitch_view *around, size_t i)
{
    return (stitch_view){around->array->children[i], around->array->offset + around->first};
}

/* The same rows of what each part has of a field. */
static void views_of(const frz_stitch *stitch, const stitch_source *source,
                     const stitch_view *around, stitch_view *out)
{
    for (size_t i = 0; i < stitch->part_count; i++) {
        out[i] = source->index[i] == STITCH_ABSENT ? (stitch_view){NULL, 0}
                                                   : member_view(&around[i], source->index[i]);
    }
}

/* Where the struct is null; *out stays NULL if it is nowhere. */
static frz_code copy_validity(const frz_env *env, const stitch_view *view, int64_t rows,
                              frz_buffer **out, int64_t *nulls, frz_error *err)
{
    const struct ArrowArray *array = view->array;
    const uint8_t *bits = array->buffers[0];
    int64_t first = array->offset + view->first;
    *nulls = bits == NULL ? 0 : rows - frz_bitmap_count(bits, first, rows);
    if (*nulls == 0) {
        return FRZ_OK;
    }
    frz_code rc = frz_buffer_new(env, frz_bitmap_bytes(rows), out, err);
    if (rc == FRZ_OK) {
        frz_bitmap_copy(bits, first, rows, (*out)->data, 0);
    }
    return rc;
}

static frz_code make_struct(const frz_stitch *stitch, const stitch_source *source,
                            const stitch_view *views, int64_t rows, struct ArrowArray *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = stitch->env;
    size_t n = source->field->type->field_count;
    size_t made = 0;
    int64_t nulls = 0;
    frz_buffer *validity = NULL;
    struct ArrowArray *members = frz_alloc_zero(env, n, sizeof *members);
    if (members == NULL) {
        return frz_fail_nomem(err, n * sizeof *members);
    }
    for (; made < n; made++) {
        FRZ_TRY(
            stitch_make_field(stitch, &source->members[made], views, rows, &members[made], err));
    }
    FRZ_TRY(copy_validity(env, &views[source->part], rows, &validity, &nulls, err));
    made = 0; /* all move, also on failure */
    frz_buffer *buffers[1] = {validity};
    validity = NULL;
    FRZ_TRY(frz_array_make(env, rows, nulls, buffers, 1, members, n, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&members[i]);
    }
    frz_buffer_unref(validity);
    frz_free(env, members);
    return rc;
}

frz_code stitch_make_field(const frz_stitch *stitch, const stitch_source *source,
                           const stitch_view *around, int64_t rows, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = source->field->type;
    if (source->place == STITCH_CONSTANT) {
        return frz_array_constant(stitch->env, type, source->value, rows, out, err);
    }
    if (source->place == STITCH_STORED) {
        stitch_view view = member_view(&around[source->part], source->index[source->part]);
        if (view.first == 0 && view.array->length == rows) { /* nothing is left for later */
            frz_array_move(view.array, out);
            return FRZ_OK;
        }
        return frz_array_slice(stitch->env, view.array, view.first, rows, out, err);
    }
    stitch_view *views = frz_alloc_zero(stitch->env, stitch->part_count, sizeof *views);
    if (views == NULL) {
        return frz_fail_nomem(err, stitch->part_count * sizeof *views);
    }
    views_of(stitch, source, around, views);
    rc = make_struct(stitch, source, views, rows, out, err);
    frz_free(stitch->env, views);
    return rc;
}
