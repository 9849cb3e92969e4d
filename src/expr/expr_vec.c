/*
 * Vectors and bitmaps of evaluation, and messages about rows.
 */
#include <stdio.h>

#include "expr/expr_internal.h"

/* ---- vectors ---- */

void expr_vec_reset(expr_vec *vec)
{
    if (!vec->constant) {
        frz_array_release(&vec->array);
    }
    *vec = (expr_vec){0};
}

void expr_vec_null(const frz_type *type, expr_vec *out)
{
    *out = (expr_vec){.constant = true, .value = {.type = type, .is_null = true}};
}

frz_value expr_vec_at(const expr_vec *vec, const frz_type *type, int64_t i)
{
    return vec->constant ? vec->value : frz_value_at(type, &vec->array, i);
}

frz_code expr_vec_expand(expr_eval *eval, const frz_type *type, expr_vec *vec)
{
    struct ArrowArray array = {0};
    if (!vec->constant) {
        return FRZ_OK;
    }
    frz_code rc = frz_array_constant(eval->env, type, &vec->value, eval->length, &array, eval->err);
    if (rc == FRZ_OK) {
        *vec = (expr_vec){.array = array};
    }
    return rc;
}

const void *expr_values_of(const expr_vec *vec, size_t width)
{
    return vec->constant
               ? (const void *)&vec->value.as
               : (const uint8_t *)vec->array.buffers[1] + (size_t)vec->array.offset * width;
}

frz_code expr_vec_share(expr_eval *eval, const expr_vec *vec, expr_vec *out)
{
    assert(!vec->constant);
    struct ArrowArray array = {0};
    frz_code rc = frz_array_slice(eval->env, &vec->array, 0, vec->array.length, &array, eval->err);
    if (rc == FRZ_OK) {
        *out = (expr_vec){.array = array};
    }
    return rc;
}

frz_code expr_vec_mask(expr_eval *eval, const expr_vec *vec, frz_buffer *validity, expr_vec *out)
{
    assert(!vec->constant);
    struct ArrowArray array = {0};
    frz_code rc = frz_array_with_validity(eval->env, &vec->array, validity, &array, eval->err);
    if (rc == FRZ_OK) {
        *out = (expr_vec){.array = array};
    }
    return rc;
}

frz_code expr_values_new(expr_eval *eval, size_t width, frz_buffer **out)
{
    size_t bytes;
    return frz_mul_size((size_t)eval->length, width, &bytes)
               ? frz_buffer_new(eval->env, bytes, out, eval->err)
               : frz_fail(eval->err, FRZ_E_LIMIT, "a batch of %lld rows is too large",
                          (long long)eval->length);
}

frz_code expr_array_of(expr_eval *eval, frz_buffer *validity, frz_buffer *values, expr_vec *out)
{
    struct ArrowArray array = {0};
    frz_buffer *buffers[] = {validity, values};
    frz_code rc =
        frz_array_make(eval->env, eval->length, -1, buffers, 2, NULL, 0, &array, eval->err);
    if (rc == FRZ_OK) {
        *out = (expr_vec){.array = array};
    }
    return rc;
}

/* ---- bitmaps ---- */

/* Zero what lies behind the last row. */
static void clear_tail(const expr_eval *eval, uint64_t *bits)
{
    if ((eval->length & 63) != 0) {
        bits[eval->length / 64] &= (UINT64_C(1) << (eval->length & 63)) - 1;
    }
}

frz_code expr_bits_new(expr_eval *eval, bool value, frz_buffer **out)
{
    size_t bytes = (size_t)expr_words(eval) * sizeof(uint64_t);
    frz_code rc = frz_buffer_new(eval->env, bytes, out, eval->err);
    if (rc == FRZ_OK) {
        memset((*out)->data, value ? 0xFF : 0, bytes);
        clear_tail(eval, expr_words_of(*out));
    }
    return rc;
}

void expr_bits_invert(const expr_eval *eval, uint64_t *bits)
{
    for (int64_t i = 0; i < expr_words(eval); i++) {
        bits[i] = ~bits[i];
    }
    clear_tail(eval, bits);
}

bool expr_bits_any(const expr_eval *eval, const uint64_t *bits)
{
    for (int64_t i = 0; i < expr_words(eval); i++) {
        if (bits[i] != 0) {
            return true;
        }
    }
    return false;
}

/* AND an array's validity into bits. */
static void and_validity(const expr_eval *eval, const struct ArrowArray *array, uint64_t *bits,
                         uint64_t *scratch)
{
    scratch[expr_words(eval) - 1] = 0;
    frz_bitmap_copy(array->buffers[0], array->offset, eval->length, (uint8_t *)scratch, 0);
    for (int64_t i = 0; i < expr_words(eval); i++) {
        bits[i] &= scratch[i];
    }
}

static bool may_have_nulls(const expr_vec *vec)
{
    return !vec->constant && vec->array.n_buffers > 0 && vec->array.buffers[0] != NULL &&
           vec->array.null_count != 0;
}

frz_code expr_validity(expr_eval *eval, const expr_vec *vecs, size_t count, frz_buffer **out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    frz_buffer *scratch = NULL;
    for (size_t i = 0; i < count && eval->length > 0; i++) {
        if (!may_have_nulls(&vecs[i])) {
            continue;
        }
        if (bits == NULL) {
            FRZ_TRY(expr_bits_new(eval, true, &bits));
            FRZ_TRY(frz_buffer_new(eval->env, bits->size, &scratch, eval->err));
        }
        and_validity(eval, &vecs[i].array, expr_words_of(bits), expr_words_of(scratch));
    }
    *out = bits;
    bits = NULL;
out:
    frz_buffer_unref(bits);
    frz_buffer_unref(scratch);
    return rc;
}

int64_t expr_next_row(const expr_eval *eval, const uint8_t *selection, const frz_buffer *validity,
                      int64_t from)
{
    for (int64_t i = from; i < eval->length; i++) {
        if (expr_selected(selection, i) && (validity == NULL || frz_bit_get(validity->data, i))) {
            return i;
        }
    }
    return -1;
}

/* ---- failures ---- */

static const expr_node *first_column(const expr_node *node)
{
    const expr_node *found = node->op == EXPR_OP_COLUMN ? node : NULL;
    for (size_t i = 0; i < node->arg_count && found == NULL; i++) {
        found = first_column(node->args[i]);
    }
    return found;
}

frz_code expr_fail_row(expr_eval *eval, const expr_node *node, int64_t i, const char *what,
                       const char *fmt, ...)
{
    char detail[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    frz_str column = eval->bound->column;
    const expr_node *read = column.len > 0 ? NULL : first_column(node);
    column = read != NULL ? read->name : column;
    long long row = (long long)(eval->first_row + i);
    return column.len > 0
               ? frz_fail(eval->err, FRZ_E_ARGUMENT, "column \"%.*s\": %s at row %lld: %s",
                          FRZ_STR_ARG(column), what, row, detail)
               : frz_fail(eval->err, FRZ_E_ARGUMENT, "%s at row %lld: %s", what, row, detail);
}

const char *expr_value_text(expr_eval *eval, const frz_value *value, char text[EXPR_VALUE_TEXT])
{
    frz_buf buf = FRZ_BUF_INIT(eval->env, FRZ_BUF_NO_LIMIT);
    bool quote = value->type->id == FRZ_TYPE_STRING && !value->is_null;
    frz_value shown = *value;
    if (quote && shown.as.bytes.len > 60) {
        shown.as.bytes.len = 60;
        while (shown.as.bytes.len > 0 &&
               ((uint8_t)shown.as.bytes.ptr[shown.as.bytes.len] & 0xC0) == 0x80) {
            shown.as.bytes.len--; /* not inside a character */
        }
    }
    bool printed =
        value->is_null ? false : frz_value_print(&shown, &buf, NULL) == FRZ_OK && buf.len > 0;
    snprintf(text, EXPR_VALUE_TEXT, quote ? "'%.*s'" : "%.*s",
             printed ? (int)FRZ_MIN(buf.len, (size_t)EXPR_VALUE_TEXT - 3) : 0,
             printed ? (const char *)buf.data : "");
    frz_buf_reset(&buf);
    return value->is_null ? "NULL" : text;
}
