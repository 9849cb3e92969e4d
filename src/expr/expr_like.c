/*
 * LIKE: % stands for any text, _ for any one character of UTF-8. A pattern is compiled into steps;
 * matching goes back only to the last %, which is enough.
 */
#include "expr/expr_internal.h"

size_t expr_like_compile(frz_str pattern, int64_t escape, expr_like_step *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        expr_like_step step = {EXPR_LIKE_BYTE, (uint8_t)pattern.ptr[i]};
        if (pattern.ptr[i] == escape && i + 1 < pattern.len) {
            step.byte = (uint8_t)pattern.ptr[++i];
        } else if (pattern.ptr[i] == '%') {
            step.kind = EXPR_LIKE_ANY;
        } else if (pattern.ptr[i] == '_') {
            step.kind = EXPR_LIKE_ONE;
        }
        bool again =
            step.kind == EXPR_LIKE_ANY && count > 0 && steps[count - 1].kind == EXPR_LIKE_ANY;
        if (!again) {
            steps[count++] = step;
        }
    }
    return count;
}

/* Behind the character at i. */
static size_t next_character(frz_str text, size_t i)
{
    for (i++; i < text.len && ((uint8_t)text.ptr[i] & 0xC0) == 0x80; i++) {
    }
    return i;
}

bool expr_like_match(const expr_like_step *steps, size_t count, frz_str text)
{
    size_t at = 0;
    size_t step = 0;
    size_t again_step = SIZE_MAX; /* behind the last % */
    size_t again_at = 0;
    while (at < text.len) {
        if (step < count && steps[step].kind == EXPR_LIKE_ANY) {
            again_step = ++step;
            again_at = at;
        } else if (step < count && steps[step].kind == EXPR_LIKE_ONE) {
            at = next_character(text, at);
            step++;
        } else if (step < count && steps[step].byte == (uint8_t)text.ptr[at]) {
            at++;
            step++;
        } else if (again_step != SIZE_MAX) {
            again_at = next_character(text, again_at);
            at = again_at;
            step = again_step;
        } else {
            return false;
        }
    }
    while (step < count && steps[step].kind == EXPR_LIKE_ANY) {
        step++;
    }
    return step == count;
}

static frz_code compile(expr_eval *eval, frz_str pattern, int64_t escape, expr_like_step **steps,
                        size_t *capacity, size_t *count)
{
    if (pattern.len > *capacity || *steps == NULL) {
        *steps = frz_arena_array(&eval->scratch, pattern.len + 1, sizeof **steps);
        *capacity = pattern.len;
    }
    if (*steps == NULL) {
        return frz_fail_nomem(eval->err, pattern.len * sizeof **steps);
    }
    *count = expr_like_compile(pattern, escape, *steps);
    return FRZ_OK;
}

frz_code expr_kernel_like(expr_eval *eval, const expr_node *node, const expr_vec *args,
                          expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    frz_buffer *validity = NULL;
    expr_like_step *steps = NULL;
    size_t capacity = 0;
    size_t count = 0;
    const frz_type *string = node->args[0]->type;
    FRZ_TRY(expr_bits_new(eval, false, &bits));
    FRZ_TRY(expr_validity(eval, args, 2, &validity));
    if (args[1].constant) {
        FRZ_TRY(compile(eval, args[1].value.as.bytes, node->index, &steps, &capacity, &count));
    }
    int64_t i = expr_next_row(eval, NULL, validity, 0);
    for (; i >= 0; i = expr_next_row(eval, NULL, validity, i + 1)) {
        if (!args[1].constant) {
            FRZ_TRY(compile(eval, expr_vec_at(&args[1], string, i).as.bytes, node->index, &steps,
                            &capacity, &count));
        }
        frz_bit_put(bits->data, i,
                    expr_like_match(steps, count, expr_vec_at(&args[0], string, i).as.bytes));
    }
    rc = expr_array_of(eval, validity, bits, out);
    validity = bits = NULL;
out:
    frz_buffer_unref(validity);
    frz_buffer_unref(bits);
    return rc;
}
