/*
 * length, lower, upper, substr, concatenation over columns of text; and choosing each row from one
 * of several columns.
 */
#include "expr/expr_internal.h"

static size_t character_count(frz_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += ((uint8_t)text.ptr[i] & 0xC0) != 0x80;
    }
    return count;
}

static frz_code kernel_length(expr_eval *eval, const expr_node *node, const expr_vec *arg,
                              expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *values = NULL;
    frz_buffer *validity = NULL;
    bool characters = node->args[0]->type->id == FRZ_TYPE_STRING;
    FRZ_TRY(expr_values_new(eval, sizeof(int32_t), &values));
    FRZ_TRY(expr_validity(eval, arg, 1, &validity));
    int32_t *to = (int32_t *)(void *)values->data;
    for (int64_t i = 0; i < eval->length; i++) {
        frz_str text = frz_get_bytes(&arg->array, i);
        to[i] = (int32_t)(characters ? character_count(text) : text.len);
    }
    rc = expr_array_of(eval, validity, values, out);
    values = validity = NULL;
out:
    frz_buffer_unref(values);
    frz_buffer_unref(validity);
    return rc;
}

/* ASCII letters only: other characters are left as they are. */
static void change_case(frz_str text, bool upper, char *to)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool change = upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z';
        to[i] = (char)(change ? c ^ 0x20 : c);
    }
}

/* Bytes in front of character number n (from 0). */
static size_t byte_of_character(frz_str text, bool characters, int64_t n)
{
    if (!characters) {
        return n < (int64_t)text.len ? (size_t)n : text.len;
    }
    size_t i = 0;
    for (; i < text.len; i++) {
        if (((uint8_t)text.ptr[i] & 0xC0) != 0x80 && n-- == 0) {
            break;
        }
    }
    return i;
}

/* Positions from first on, count of them; those outside the text are empty. */
static frz_str substring(frz_str text, bool characters, int64_t first, int64_t count)
{
    int64_t end;
    if (__builtin_add_overflow(first, count, &end)) {
        end = INT64_MAX;
    }
    first = FRZ_MAX(first, 1);
    if (end <= first) {
        return (frz_str){text.ptr, 0};
    }
    size_t from = byte_of_character(text, characters, first - 1);
    frz_str rest = {text.ptr + from, text.len - from};
    return (frz_str){rest.ptr, byte_of_character(rest, characters, end - first)};
}

/* One row of lower, upper or substr. */
static frz_code text_row(expr_eval *eval, const expr_node *node, const expr_vec *args, int64_t i,
                         frz_buf *scratch, frz_str *out)
{
    frz_code rc = FRZ_OK;
    frz_str text = expr_vec_at(&args[0], node->args[0]->type, i).as.bytes;
    if (node->code != EXPR_FUNCTION_SUBSTR) {
        frz_buf_clear(scratch);
        FRZ_TRY(frz_buf_reserve(scratch, text.len + 1, eval->err));
        change_case(text, node->code == EXPR_FUNCTION_UPPER, (char *)scratch->data);
        *out = (frz_str){(const char *)scratch->data, text.len};
        return FRZ_OK;
    }
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    int64_t first = expr_vec_at(&args[1], number, i).as.i64;
    int64_t count = node->arg_count == 3 ? expr_vec_at(&args[2], number, i).as.i64 : INT64_MAX;
    if (count < 0) {
        return expr_fail_row(eval, node, i, "negative length of a part", "%lld", (long long)count);
    }
    *out = substring(text, node->type->id == FRZ_TYPE_STRING, first, count);
out:
    return rc;
}

static frz_code concat_row(expr_eval *eval, const expr_node *node, const expr_vec *args, int64_t i,
                           frz_buf *scratch, frz_str *out)
{
    frz_code rc = FRZ_OK;
    frz_buf_clear(scratch);
    for (size_t k = 0; k < node->arg_count; k++) {
        frz_str part = expr_vec_at(&args[k], node->type, i).as.bytes;
        FRZ_TRY(frz_buf_append(scratch, part.ptr, part.len, eval->err));
    }
    *out = frz_buf_view(scratch);
out:
    return rc;
}

typedef frz_code (*row_function)(expr_eval *eval, const expr_node *node, const expr_vec *args,
                                 int64_t i, frz_buf *scratch, frz_str *out);

/* Rows that are null in any argument are null, as are those that do not matter. */
static frz_code each_row(expr_eval *eval, const expr_node *node, const expr_vec *args,
                         const uint8_t *selection, row_function row, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_builder *builder = NULL;
    frz_buffer *validity = NULL;
    struct ArrowArray array = {0};
    frz_buf scratch = FRZ_BUF_INIT(eval->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(frz_builder_new(eval->env, node->type, &builder, eval->err));
    FRZ_TRY(expr_validity(eval, args, node->arg_count, &validity));
    for (int64_t i = 0; i < eval->length; i++) {
        frz_str text;
        if (!expr_selected(selection, i) || (validity != NULL && !frz_bit_get(validity->data, i))) {
            FRZ_TRY(frz_builder_null(builder, eval->err));
            continue;
        }
        FRZ_TRY(row(eval, node, args, i, &scratch, &text));
        FRZ_TRY(frz_builder_bytes(builder, text, eval->err));
    }
    FRZ_TRY(frz_builder_finish(builder, &array, eval->err));
    *out = (expr_vec){.array = array};
out:
    frz_builder_free(builder);
    frz_buffer_unref(validity);
    frz_buf_reset(&scratch);
    return rc;
}

frz_code expr_kernel_text(expr_eval *eval, const expr_node *node, const expr_vec *args,
                          const uint8_t *selection, expr_vec *out)
{
    return node->code == EXPR_FUNCTION_LENGTH
               ? kernel_length(eval, node, args, out)
               : each_row(eval, node, args, selection, text_row, out);
}

frz_code expr_kernel_concat(expr_eval *eval, const expr_node *node, const expr_vec *args,
                            const uint8_t *selection, expr_vec *out)
{
    return each_row(eval, node, args, selection, concat_row, out);
}

/* ---- choosing ---- */

static frz_code choose_rows(expr_eval *eval, const frz_type *type, const expr_vec *choices,
                            const uint32_t *pick, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_builder *builder = NULL;
    struct ArrowArray array = {0};
    FRZ_TRY(frz_builder_new(eval->env, type, &builder, eval->err));
    for (int64_t i = 0; i < eval->length; i++) {
        frz_value value = expr_vec_at(&choices[pick[i]], type, i);
        FRZ_TRY(frz_builder_value(builder, &value, eval->err));
    }
    FRZ_TRY(frz_builder_finish(builder, &array, eval->err));
    *out = (expr_vec){.array = array};
out:
    frz_builder_free(builder);
    return rc;
}

/* Where a choice's values and validity are; a constant's stride is 0. */
typedef struct choice_source {
    const uint8_t *values;
    size_t stride;
    const struct ArrowArray *array; /* with validity, or NULL */
    bool is_null;
} choice_source;

static choice_source choice_of(const expr_vec *vec, size_t width)
{
    choice_source source = {.values = expr_values_of(vec, width), .stride = width};
    if (vec->constant) {
        source.stride = 0;
        source.is_null = vec->value.is_null;
    } else if (vec->array.buffers[0] != NULL && vec->array.null_count != 0) {
        source.array = &vec->array;
    }
    return source;
}

static frz_code choose_validity(expr_eval *eval, const choice_source *sources, size_t count,
                                const uint32_t *pick, frz_buffer **out)
{
    bool nulls = false;
    for (size_t i = 0; i < count; i++) {
        nulls = nulls || sources[i].is_null || sources[i].array != NULL;
    }
    if (!nulls) {
        return FRZ_OK;
    }
    frz_code rc = expr_bits_new(eval, true, out);
    for (int64_t i = 0; i < eval->length && rc == FRZ_OK; i++) {
        const choice_source *source = &sources[pick[i]];
        if (source->is_null || (source->array != NULL && frz_is_null(source->array, i))) {
            frz_bit_clear((*out)->data, i);
        }
    }
    return rc;
}

static void choose_values(const choice_source *sources, const uint32_t *pick, int64_t n,
                          size_t width, uint8_t *restrict to)
{
#define CHOOSE_LOOP(bytes)                                                                         \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const choice_source *source = &sources[pick[i]];                                           \
        memcpy(to + (size_t)i * (bytes), source->values + (size_t)i * source->stride, (bytes));    \
    }
    if (width == 8) {
        CHOOSE_LOOP(8)
    } else if (width == 4) {
        CHOOSE_LOOP(4)
    } else {
        CHOOSE_LOOP(width)
    }
#undef CHOOSE_LOOP
}

static bool is_number_like(const frz_type *type)
{
    return frz_type_width(type) > 0 && type->id != FRZ_TYPE_UUID && type->id != FRZ_TYPE_FIXED;
}

frz_code expr_kernel_choose(expr_eval *eval, const frz_type *type, const expr_vec *choices,
                            size_t choice_count, const uint32_t *pick, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *values = NULL;
    frz_buffer *validity = NULL;
    size_t width = frz_type_width(type);
    if (!is_number_like(type)) {
        return choose_rows(eval, type, choices, pick, out);
    }
    choice_source *sources = frz_arena_array(&eval->scratch, choice_count, sizeof *sources);
    if (sources == NULL) {
        return frz_fail_nomem(eval->err, choice_count * sizeof *sources);
    }
    for (size_t i = 0; i < choice_count; i++) {
        sources[i] = choice_of(&choices[i], width);
    }
    FRZ_TRY(expr_values_new(eval, width, &values));
    FRZ_TRY(choose_validity(eval, sources, choice_count, pick, &validity));
    choose_values(sources, pick, eval->length, width, values->data);
    rc = expr_array_of(eval, validity, values, out);
    values = validity = NULL;
out:
    frz_buffer_unref(values);
    frz_buffer_unref(validity);
    return rc;
}
