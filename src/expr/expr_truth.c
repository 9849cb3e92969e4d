/*
 * Three-valued logic, 64 rows at a time.
 */
#include "expr/expr_internal.h"

frz_code expr_truth_new(expr_eval *eval, bool value, expr_truth *out)
{
    frz_code rc = FRZ_OK;
    expr_truth made = {0};
    FRZ_TRY(expr_bits_new(eval, value, &made.is_true));
    FRZ_TRY(expr_bits_new(eval, false, &made.is_null));
    *out = made;
    made = (expr_truth){0};
out:
    expr_truth_reset(&made);
    return rc;
}

void expr_truth_reset(expr_truth *truth)
{
    frz_buffer_unref(truth->is_true);
    frz_buffer_unref(truth->is_null);
    *truth = (expr_truth){0};
}

frz_code expr_truth_of(expr_eval *eval, const expr_vec *vec, expr_truth *out)
{
    frz_code rc = FRZ_OK;
    expr_truth made = {0};
    frz_buffer *validity = NULL;
    if (vec->constant) {
        FRZ_TRY(expr_truth_new(eval, !vec->value.is_null && vec->value.as.boolean, &made));
        if (vec->value.is_null) {
            expr_bits_invert(eval, expr_words_of(made.is_null));
        }
    } else {
        FRZ_TRY(expr_truth_new(eval, false, &made));
        frz_bitmap_copy(vec->array.buffers[1], vec->array.offset, eval->length, made.is_true->data,
                        0);
        FRZ_TRY(expr_validity(eval, vec, 1, &validity));
        for (int64_t i = 0; validity != NULL && i < expr_words(eval); i++) {
            expr_words_of(made.is_true)[i] &= expr_words_of(validity)[i];
            expr_words_of(made.is_null)[i] = expr_words_of(validity)[i];
        }
        if (validity != NULL) {
            expr_bits_invert(eval, expr_words_of(made.is_null));
        }
    }
    *out = made;
    made = (expr_truth){0};
out:
    frz_buffer_unref(validity);
    expr_truth_reset(&made);
    return rc;
}

/* False if either is false, true if both are, else null. */
void expr_truth_and(const expr_eval *eval, expr_truth *a, const expr_truth *b)
{
    uint64_t *true_a = expr_words_of(a->is_true);
    uint64_t *null_a = expr_words_of(a->is_null);
    const uint64_t *true_b = expr_words_of(b->is_true);
    const uint64_t *null_b = expr_words_of(b->is_null);
    for (int64_t i = 0; i < expr_words(eval); i++) {
        uint64_t both = true_a[i] & true_b[i];
        null_a[i] = (true_a[i] | null_a[i]) & (true_b[i] | null_b[i]) & ~both;
        true_a[i] = both;
    }
}

/* True if either is true, null if neither is and either is null, else false. */
void expr_truth_or(const expr_eval *eval, expr_truth *a, const expr_truth *b)
{
    uint64_t *true_a = expr_words_of(a->is_true);
    uint64_t *null_a = expr_words_of(a->is_null);
    const uint64_t *true_b = expr_words_of(b->is_true);
    const uint64_t *null_b = expr_words_of(b->is_null);
    for (int64_t i = 0; i < expr_words(eval); i++) {
        true_a[i] |= true_b[i];
        null_a[i] = (null_a[i] | null_b[i]) & ~true_a[i];
    }
}

void expr_truth_not(const expr_eval *eval, expr_truth *a)
{
    uint64_t *is_true = expr_words_of(a->is_true);
    const uint64_t *is_null = expr_words_of(a->is_null);
    expr_bits_invert(eval, is_true);
    for (int64_t i = 0; i < expr_words(eval); i++) {
        is_true[i] &= ~is_null[i];
    }
}

frz_code expr_truth_array(expr_eval *eval, expr_truth *truth, expr_vec *out)
{
    frz_buffer *validity = truth->is_null;
    frz_buffer *values = truth->is_true;
    *truth = (expr_truth){0};
    if (expr_bits_any(eval, expr_words_of(validity))) {
        expr_bits_invert(eval, expr_words_of(validity));
    } else {
        frz_buffer_unref(validity);
        validity = NULL;
    }
    return expr_array_of(eval, validity, values, out);
}
