/*
 * Evaluation: each node computes a whole column. Conditions are evaluated under a selection that
 * narrows from argument to argument (AND, OR, CASE, COALESCE), so that a branch which a row does
 * not take cannot fail for it.
 */
#include "expr/expr_internal.h"

typedef struct vec_list {
    expr_vec *items;
    size_t count;
} vec_list;

/* ---- arguments ---- */

static void list_reset(expr_eval *eval, vec_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        expr_vec_reset(&list->items[i]);
    }
    frz_free(eval->env, list->items);
    *list = (vec_list){0};
}

static frz_code list_new(expr_eval *eval, size_t count, vec_list *out)
{
    out->items = frz_alloc_zero(eval->env, count, sizeof *out->items);
    if (out->items == NULL) {
        return frz_fail_nomem(eval->err, count * sizeof *out->items);
    }
    out->count = count;
    return FRZ_OK;
}

static frz_code eval_args(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                          vec_list *out)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(list_new(eval, node->arg_count, out));
    for (size_t i = 0; i < node->arg_count; i++) {
        FRZ_TRY(expr_eval_node(eval, node->args[i], selection, &out->items[i]));
    }
out:
    return rc;
}

static bool any_null_constant(const vec_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].constant && list->items[i].value.is_null) {
            return true;
        }
    }
    return false;
}

static bool all_constant(const vec_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i].constant) {
            return false;
        }
    }
    return true;
}

/* ---- selections ---- */

/* The rows of selection (NULL: all) that are in bits too; a new bitmap. */
static frz_code narrow(expr_eval *eval, const uint8_t *selection, const uint64_t *bits,
                       frz_buffer **out)
{
    frz_buffer *made = NULL;
    frz_code rc = expr_bits_new(eval, true, &made);
    if (rc != FRZ_OK) {
        return rc;
    }
    const uint64_t *outer = (const uint64_t *)(const void *)selection;
    uint64_t *words = expr_words_of(made);
    for (int64_t i = 0; i < expr_words(eval); i++) {
        words[i] &= bits[i] & (outer == NULL ? UINT64_MAX : outer[i]);
    }
    *out = made;
    return FRZ_OK;
}

static frz_code eval_truth(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                           expr_truth *out)
{
    expr_vec vec = {0};
    frz_code rc = expr_eval_node(eval, node, selection, &vec);
    if (rc == FRZ_OK) {
        rc = expr_truth_of(eval, &vec, out);
    }
    expr_vec_reset(&vec);
    return rc;
}

/* ---- columns ---- */

static frz_code eval_column(expr_eval *eval, const expr_node *node, expr_vec *out)
{
    struct ArrowArray array = {0};
    int64_t index =
        eval->batch_type == NULL ? -1 : frz_type_index_of_id(eval->batch_type, node->field_id);
    if (index < 0 || index >= eval->batch->n_children) {
        return frz_fail(eval->err, FRZ_E_INTERNAL, "column \"%.*s\" was not read",
                        FRZ_STR_ARG(node->name));
    }
    const struct ArrowArray *column = eval->batch->children[index];
    if (column->length < eval->length) {
        return frz_fail(eval->err, FRZ_E_INTERNAL, "column \"%.*s\" has %lld rows of %lld",
                        FRZ_STR_ARG(node->name), (long long)column->length,
                        (long long)eval->length);
    }
    frz_code rc = frz_array_slice(eval->env, column, 0, eval->length, &array, eval->err);
    if (rc == FRZ_OK && array.n_buffers == 0) {
        frz_array_release(&array); /* of type unknown: nothing but nulls */
        expr_vec_null(node->type, out);
    } else if (rc == FRZ_OK) {
        *out = (expr_vec){.array = array};
    }
    return rc;
}

/* A field of a struct is null where the struct is. */
static frz_code eval_child(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                           expr_vec *out)
{
    frz_code rc = FRZ_OK;
    expr_vec parent = {0};
    expr_vec child = {0};
    frz_buffer *validity = NULL;
    FRZ_TRY(expr_eval_node(eval, node->args[0], selection, &parent));
    if (parent.constant) {
        expr_vec_null(node->type, out);
        goto out;
    }
    FRZ_TRY(frz_array_slice(eval->env, parent.array.children[node->index], parent.array.offset,
                            eval->length, &child.array, eval->err));
    if (child.array.n_buffers == 0) {
        expr_vec_null(node->type, out);
        goto out;
    }
    FRZ_TRY(expr_validity(eval, &parent, 1, &validity));
    if (validity == NULL) {
        *out = child;
        child = (expr_vec){0};
        goto out;
    }
    expr_vec both[] = {parent, child}; /* borrowed */
    frz_buffer_unref(validity);
    validity = NULL;
    FRZ_TRY(expr_validity(eval, both, 2, &validity));
    rc = expr_vec_mask(eval, &child, validity, out);
    validity = NULL;
out:
    frz_buffer_unref(validity);
    expr_vec_reset(&parent);
    expr_vec_reset(&child);
    return rc;
}

/* ---- conditions ---- */

/* AND and OR: what a row's answer is settled by needs no further argument. */
static frz_code eval_chain(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                           expr_vec *out)
{
    frz_code rc = FRZ_OK;
    bool conjunction = node->op == EXPR_OP_AND;
    expr_truth all = {0};
    expr_truth next = {0};
    expr_truth open = {0};
    frz_buffer *rows = NULL;
    FRZ_TRY(eval_truth(eval, node->args[0], selection, &all));
    for (size_t i = 1; i < node->arg_count; i++) {
        /* still open: not false for AND, not true for OR */
        FRZ_TRY(expr_bits_new(eval, false, &open.is_true));
        for (int64_t k = 0; k < expr_words(eval); k++) {
            uint64_t is_true = expr_words_of(all.is_true)[k];
            expr_words_of(open.is_true)[k] =
                conjunction ? is_true | expr_words_of(all.is_null)[k] : ~is_true;
        }
        FRZ_TRY(narrow(eval, selection, expr_words_of(open.is_true), &rows));
        if (!expr_bits_any(eval, expr_words_of(rows))) {
            break;
        }
        FRZ_TRY(eval_truth(eval, node->args[i], rows->data, &next));
        if (conjunction) {
            expr_truth_and(eval, &all, &next);
        } else {
            expr_truth_or(eval, &all, &next);
        }
        expr_truth_reset(&next);
        expr_truth_reset(&open);
        frz_buffer_unref(rows);
        rows = NULL;
    }
    FRZ_TRY(expr_truth_array(eval, &all, out));
out:
    expr_truth_reset(&all);
    expr_truth_reset(&next);
    expr_truth_reset(&open);
    frz_buffer_unref(rows);
    return rc;
}

static frz_code eval_not(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                         expr_vec *out)
{
    frz_code rc = FRZ_OK;
    expr_truth truth = {0};
    FRZ_TRY(eval_truth(eval, node->args[0], selection, &truth));
    expr_truth_not(eval, &truth);
    FRZ_TRY(expr_truth_array(eval, &truth, out));
out:
    expr_truth_reset(&truth);
    return rc;
}

static frz_code constant_boolean(bool value, expr_vec *out)
{
    *out = (expr_vec){.constant = true,
                      .value = {.type = frz_type_primitive(FRZ_TYPE_BOOLEAN), .as.boolean = value}};
    return FRZ_OK;
}

static frz_code eval_is_null(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                             expr_vec *out)
{
    frz_code rc = FRZ_OK;
    expr_vec vec = {0};
    frz_buffer *validity = NULL;
    FRZ_TRY(expr_eval_node(eval, node->args[0], selection, &vec));
    if (vec.constant) {
        rc = constant_boolean(vec.value.is_null, out);
        goto out;
    }
    FRZ_TRY(expr_validity(eval, &vec, 1, &validity));
    if (validity == NULL) {
        rc = constant_boolean(false, out);
        goto out;
    }
    expr_bits_invert(eval, expr_words_of(validity));
    rc = expr_array_of(eval, NULL, validity, out);
    validity = NULL;
out:
    frz_buffer_unref(validity);
    expr_vec_reset(&vec);
    return rc;
}

/* The truth of a comparison of two vectors, constants and nulls among them. */
static frz_code compare_truth(expr_eval *eval, const frz_type *type, expr_comparison comparison,
                              const expr_vec *a, const expr_vec *b, expr_truth *out)
{
    frz_code rc = FRZ_OK;
    expr_vec vec = {0};
    if (expr_vec_is_null(a) || expr_vec_is_null(b)) {
        expr_vec_null(frz_type_primitive(FRZ_TYPE_BOOLEAN), &vec);
    } else {
        FRZ_TRY(expr_kernel_compare(eval, type, comparison, a, b, &vec));
    }
    FRZ_TRY(expr_truth_of(eval, &vec, out));
out:
    expr_vec_reset(&vec);
    return rc;
}

/* x BETWEEN low AND high is x >= low AND x <= high, with x evaluated once. */
static frz_code eval_between(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                             expr_vec *out)
{
    frz_code rc = FRZ_OK;
    vec_list args = {0};
    expr_truth low = {0};
    expr_truth high = {0};
    const frz_type *type = node->args[0]->type;
    FRZ_TRY(eval_args(eval, node, selection, &args));
    FRZ_TRY(expr_vec_expand(eval, type, &args.items[0]));
    FRZ_TRY(compare_truth(eval, type, EXPR_GREATER_EQUAL, &args.items[0], &args.items[1], &low));
    FRZ_TRY(compare_truth(eval, type, EXPR_LESS_EQUAL, &args.items[0], &args.items[2], &high));
    expr_truth_and(eval, &low, &high);
    FRZ_TRY(expr_truth_array(eval, &low, out));
out:
    list_reset(eval, &args);
    expr_truth_reset(&low);
    expr_truth_reset(&high);
    return rc;
}

static frz_code eval_in_list(expr_eval *eval, const expr_node *node, const expr_vec *x,
                             const uint8_t *selection, expr_vec *out)
{
    frz_code rc = FRZ_OK;
    expr_truth any = {0};
    expr_truth next = {0};
    expr_vec item = {0};
    FRZ_TRY(expr_truth_new(eval, false, &any));
    for (size_t i = 1; i < node->arg_count; i++) {
        FRZ_TRY(expr_eval_node(eval, node->args[i], selection, &item));
        FRZ_TRY(compare_truth(eval, node->args[0]->type, EXPR_EQUAL, x, &item, &next));
        expr_truth_or(eval, &any, &next);
        expr_truth_reset(&next);
        expr_vec_reset(&item);
    }
    FRZ_TRY(expr_truth_array(eval, &any, out));
out:
    expr_truth_reset(&any);
    expr_truth_reset(&next);
    expr_vec_reset(&item);
    return rc;
}

static frz_code eval_in(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                        expr_vec *out)
{
    frz_code rc = FRZ_OK;
    expr_vec x = {0};
    FRZ_TRY(expr_eval_node(eval, node->args[0], selection, &x));
    FRZ_TRY(expr_vec_expand(eval, node->args[0]->type, &x));
    rc = node->sorted != NULL ? expr_kernel_in_sorted(eval, node, &x, out)
                              : eval_in_list(eval, node, &x, selection, out);
out:
    expr_vec_reset(&x);
    return rc;
}

/* ---- branches ---- */

/* Which rows are still without an answer, and which branch each row takes. */
typedef struct branching {
    vec_list choices;
    uint32_t *pick;
    frz_buffer *open; /* bitmap of rows that look further */
    frz_buffer *taken;
} branching;

static frz_code branching_new(expr_eval *eval, const uint8_t *selection, size_t count,
                              branching *out)
{
    frz_code rc = FRZ_OK;
    frz_buffer *all = NULL;
    FRZ_TRY(list_new(eval, count, &out->choices));
    out->pick = frz_alloc_zero(eval->env, (size_t)eval->length, sizeof *out->pick);
    if (out->pick == NULL) {
        rc = frz_fail_nomem(eval->err, (size_t)eval->length * sizeof *out->pick);
        goto out;
    }
    FRZ_TRY(expr_bits_new(eval, true, &all));
    FRZ_TRY(narrow(eval, selection, expr_words_of(all), &out->open));
out:
    frz_buffer_unref(all);
    return rc;
}

static void branching_reset(expr_eval *eval, branching *b)
{
    list_reset(eval, &b->choices);
    frz_free(eval->env, b->pick);
    frz_buffer_unref(b->open);
    frz_buffer_unref(b->taken);
    *b = (branching){0};
}

/* Rows in bits that are open take branch k and are closed. */
static void branching_take(expr_eval *eval, branching *b, const uint64_t *bits, uint32_t k)
{
    uint64_t *open = expr_words_of(b->open);
    for (int64_t w = 0; w < expr_words(eval); w++) {
        uint64_t take = open[w] & bits[w];
        open[w] &= ~take;
        for (; take != 0; take &= take - 1) {
            b->pick[w * 64 + __builtin_ctzll(take)] = k;
        }
    }
}

/* Evaluate a result for the rows in bits; nothing is done if there are none. */
static frz_code branching_result(expr_eval *eval, branching *b, const expr_node *result,
                                 const uint64_t *bits, size_t k)
{
    expr_vec_null(result->type, &b->choices.items[k]);
    return expr_bits_any(eval, bits)
               ? expr_eval_node(eval, result, (const uint8_t *)bits, &b->choices.items[k])
               : FRZ_OK;
}

/* The rows that take branch k from it, the others from what there is so far. */
static frz_code merge_choice(expr_eval *eval, const branching *b, const frz_type *type, uint32_t k,
                             expr_vec *so_far)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    struct ArrowArray merged = {0};
    expr_vec *choice = &b->choices.items[k];
    FRZ_TRY(expr_bits_new(eval, false, &bits));
    for (int64_t i = 0; i < eval->length; i++) {
        frz_bit_put(bits->data, i, b->pick[i] == k);
    }
    FRZ_TRY(expr_vec_expand(eval, type, choice));
    FRZ_TRY(frz_array_merge(eval->env, type, &choice->array, &so_far->array, bits->data, &merged,
                            eval->err));
    expr_vec_reset(so_far);
    *so_far = (expr_vec){.array = merged};
out:
    frz_buffer_unref(bits);
    return rc;
}

static frz_code choose_nested(expr_eval *eval, const branching *b, const frz_type *type,
                              expr_vec *out)
{
    frz_code rc = FRZ_OK;
    expr_vec made = b->choices.items[0];
    b->choices.items[0] = (expr_vec){0};
    FRZ_TRY(expr_vec_expand(eval, type, &made));
    for (size_t k = 1; k < b->choices.count; k++) {
        FRZ_TRY(merge_choice(eval, b, type, (uint32_t)k, &made));
    }
    *out = made;
    made = (expr_vec){0};
out:
    expr_vec_reset(&made);
    return rc;
}

static frz_code branching_finish(expr_eval *eval, branching *b, const frz_type *type, expr_vec *out)
{
    if (frz_type_is_nested(type)) {
        return choose_nested(eval, b, type, out);
    }
    if (type->id == FRZ_TYPE_UNKNOWN) {
        expr_vec_null(type, out); /* nothing but NULLs to choose from */
        return FRZ_OK;
    }
    return expr_kernel_choose(eval, type, b->choices.items, b->choices.count, b->pick, out);
}

static frz_code eval_case(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                          expr_vec *out)
{
    frz_code rc = FRZ_OK;
    size_t branches = node->arg_count / 2;
    branching b = {0};
    expr_truth condition = {0};
    frz_buffer *rows = NULL;
    FRZ_TRY(branching_new(eval, selection, branches + 1, &b));
    for (int64_t i = 0; i < eval->length; i++) {
        b.pick[i] = (uint32_t)branches; /* ELSE */
    }
    for (size_t k = 0; k < branches; k++) {
        expr_vec_null(node->type, &b.choices.items[k]);
        if (!expr_bits_any(eval, expr_words_of(b.open))) {
            continue;
        }
        FRZ_TRY(eval_truth(eval, node->args[k * 2], b.open->data, &condition));
        FRZ_TRY(narrow(eval, b.open->data, expr_words_of(condition.is_true), &rows));
        FRZ_TRY(branching_result(eval, &b, node->args[k * 2 + 1], expr_words_of(rows), k));
        branching_take(eval, &b, expr_words_of(rows), (uint32_t)k);
        expr_truth_reset(&condition);
        frz_buffer_unref(rows);
        rows = NULL;
    }
    FRZ_TRY(branching_result(eval, &b, node->args[node->arg_count - 1], expr_words_of(b.open),
                             branches));
    FRZ_TRY(branching_finish(eval, &b, node->type, out));
out:
    branching_reset(eval, &b);
    expr_truth_reset(&condition);
    frz_buffer_unref(rows);
    return rc;
}

/* Bits of the rows where a vector is not null. */
static frz_code not_null_bits(expr_eval *eval, const expr_vec *vec, frz_buffer **out)
{
    if (vec->constant) {
        return expr_bits_new(eval, !vec->value.is_null, out);
    }
    frz_code rc = expr_validity(eval, vec, 1, out);
    return rc == FRZ_OK && *out == NULL ? expr_bits_new(eval, true, out) : rc;
}

static frz_code eval_coalesce(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                              expr_vec *out)
{
    frz_code rc = FRZ_OK;
    branching b = {0};
    frz_buffer *found = NULL;
    FRZ_TRY(branching_new(eval, selection, node->arg_count, &b));
    for (size_t k = 0; k < node->arg_count; k++) {
        FRZ_TRY(branching_result(eval, &b, node->args[k], expr_words_of(b.open), k));
        FRZ_TRY(not_null_bits(eval, &b.choices.items[k], &found));
        branching_take(eval, &b, expr_words_of(found), (uint32_t)k);
        frz_buffer_unref(found);
        found = NULL;
        if (k == 0 && !expr_bits_any(eval, expr_words_of(b.open))) {
            *out = b.choices.items[0]; /* nothing is null */
            b.choices.items[0] = (expr_vec){0};
            goto out;
        }
    }
    FRZ_TRY(branching_finish(eval, &b, node->type, out));
out:
    branching_reset(eval, &b);
    frz_buffer_unref(found);
    return rc;
}

static frz_code eval_nullif(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                            expr_vec *out)
{
    frz_code rc = FRZ_OK;
    vec_list args = {0};
    expr_truth equal = {0};
    frz_buffer *validity = NULL;
    FRZ_TRY(eval_args(eval, node, selection, &args));
    if (expr_vec_is_null(&args.items[0])) {
        expr_vec_null(node->type, out);
        goto out;
    }
    FRZ_TRY(expr_vec_expand(eval, node->type, &args.items[0]));
    FRZ_TRY(expr_vec_expand(eval, node->args[1]->type, &args.items[1]));
    FRZ_TRY(compare_truth(eval, node->args[1]->type, EXPR_EQUAL, &args.items[1], &args.items[2],
                          &equal));
    FRZ_TRY(not_null_bits(eval, &args.items[0], &validity));
    for (int64_t i = 0; i < expr_words(eval); i++) {
        expr_words_of(validity)[i] &= ~expr_words_of(equal.is_true)[i];
    }
    rc = expr_vec_mask(eval, &args.items[0], validity, out);
    validity = NULL;
out:
    list_reset(eval, &args);
    expr_truth_reset(&equal);
    frz_buffer_unref(validity);
    return rc;
}

/* ---- strict nodes: null if any argument is ---- */

static frz_code run_kernel(expr_eval *eval, const expr_node *node, const expr_vec *args,
                           const uint8_t *selection, expr_vec *out)
{
    switch (node->op) {
    case EXPR_OP_NEGATE:
        return expr_kernel_negate(eval, node, args, selection, out);
    case EXPR_OP_ARITHMETIC:
        return expr_kernel_arithmetic(eval, node, args, selection, out);
    case EXPR_OP_COMPARE:
        return expr_kernel_compare(eval, node->args[0]->type, (expr_comparison)node->code, &args[0],
                                   &args[1], out);
    case EXPR_OP_IS_NAN:
        return expr_kernel_is_nan(eval, node->args[0]->type, args, out);
    case EXPR_OP_LIKE:
        return expr_kernel_like(eval, node, args, out);
    case EXPR_OP_CONVERT:
        return expr_kernel_convert(eval, node, args, selection, out);
    case EXPR_OP_CONCAT:
        return expr_kernel_concat(eval, node, args, selection, out);
    default:
        return node->code <= EXPR_FUNCTION_POWER
                   ? expr_kernel_math(eval, node, args, selection, out)
                   : expr_kernel_text(eval, node, args, selection, out);
    }
}

static frz_code eval_strict(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                            expr_vec *out)
{
    frz_code rc = FRZ_OK;
    vec_list args = {0};
    FRZ_TRY(eval_args(eval, node, selection, &args));
    if (any_null_constant(&args)) {
        expr_vec_null(node->type, out);
        goto out;
    }
    if (all_constant(&args)) {
        FRZ_TRY(expr_vec_expand(eval, node->args[0]->type, &args.items[0]));
    }
    FRZ_TRY(run_kernel(eval, node, args.items, selection, out));
out:
    list_reset(eval, &args);
    return rc;
}

frz_code expr_eval_node(expr_eval *eval, const expr_node *node, const uint8_t *selection,
                        expr_vec *out)
{
    switch (node->op) {
    case EXPR_OP_LITERAL:
        *out = (expr_vec){.constant = true, .value = node->value};
        return FRZ_OK;
    case EXPR_OP_COLUMN:
        return eval_column(eval, node, out);
    case EXPR_OP_CHILD:
        return eval_child(eval, node, selection, out);
    case EXPR_OP_NOT:
        return eval_not(eval, node, selection, out);
    case EXPR_OP_AND:
    case EXPR_OP_OR:
        return eval_chain(eval, node, selection, out);
    case EXPR_OP_IS_NULL:
        return eval_is_null(eval, node, selection, out);
    case EXPR_OP_BETWEEN:
        return eval_between(eval, node, selection, out);
    case EXPR_OP_IN:
        return eval_in(eval, node, selection, out);
    case EXPR_OP_CASE:
        return eval_case(eval, node, selection, out);
    case EXPR_OP_COALESCE:
        return eval_coalesce(eval, node, selection, out);
    case EXPR_OP_NULLIF:
        return eval_nullif(eval, node, selection, out);
    default:
        return eval_strict(eval, node, selection, out);
    }
}

/* ---- entries ---- */

/* The caller's selection in whole words, or NULL. */
static frz_code pad_selection(expr_eval *eval, const uint8_t *selection, frz_buffer **out)
{
    if (selection == NULL) {
        return FRZ_OK;
    }
    frz_code rc = expr_bits_new(eval, false, out);
    if (rc == FRZ_OK) {
        frz_bitmap_copy(selection, 0, eval->length, (*out)->data, 0);
    }
    return rc;
}

static void eval_init(expr_eval *eval, const frz_bound_expr *expr, const frz_type *batch_type,
                      const struct ArrowArray *batch, int64_t first_row, frz_error *err)
{
    *eval = (expr_eval){.bound = expr,
                        .env = expr->env,
                        .batch_type = batch_type,
                        .batch = batch,
                        .length = batch->length,
                        .first_row = first_row,
                        .err = err};
    frz_arena_init(&eval->scratch, expr->env, FRZ_ARENA_NO_LIMIT);
}

/* A column that takes no nulls got none, in the rows that matter. */
static frz_code check_required(expr_eval *eval, const expr_vec *vec, const uint8_t *selection)
{
    frz_code rc = FRZ_OK;
    frz_buffer *bits = NULL;
    if (!eval->bound->required) {
        return FRZ_OK;
    }
    FRZ_TRY(not_null_bits(eval, vec, &bits));
    expr_bits_invert(eval, expr_words_of(bits));
    int64_t i = expr_next_row(eval, selection, bits, 0);
    if (i >= 0) {
        rc = frz_fail(eval->err, FRZ_E_ARGUMENT,
                      "column \"%.*s\": null at row %lld: the column is required",
                      FRZ_STR_ARG(eval->bound->column), (long long)(eval->first_row + i));
    }
out:
    frz_buffer_unref(bits);
    return rc;
}

frz_code frz_expr_eval(const frz_bound_expr *expr, const frz_type *batch_type,
                       const struct ArrowArray *batch, int64_t first_row, const uint8_t *selection,
                       struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    expr_eval eval;
    expr_vec vec = {0};
    frz_buffer *rows = NULL;
    eval_init(&eval, expr, batch_type, batch, first_row, err);
    FRZ_TRY(pad_selection(&eval, selection, &rows));
    const uint8_t *padded = rows == NULL ? NULL : rows->data;
    FRZ_TRY(expr_eval_node(&eval, expr->root, padded, &vec));
    FRZ_TRY(check_required(&eval, &vec, padded));
    if (vec.constant && vec.value.is_null) {
        FRZ_TRY(frz_array_nulls(eval.env, expr->root->type, eval.length, out, err));
    } else {
        FRZ_TRY(expr_vec_expand(&eval, expr->root->type, &vec));
        frz_array_move(&vec.array, out);
    }
out:
    expr_vec_reset(&vec);
    frz_buffer_unref(rows);
    frz_arena_reset(&eval.scratch);
    return rc;
}

frz_code frz_expr_select(const frz_bound_expr *expr, const frz_type *batch_type,
                         const struct ArrowArray *batch, int64_t first_row, const uint8_t *among,
                         uint8_t *selection, int64_t *selected, frz_error *err)
{
    frz_code rc = FRZ_OK;
    expr_eval eval;
    expr_truth truth = {0};
    assert(expr->root->type->id == FRZ_TYPE_BOOLEAN);
    eval_init(&eval, expr, batch_type, batch, first_row, err);
    FRZ_TRY(eval_truth(&eval, expr->root, among, &truth));
    size_t bytes = frz_bitmap_bytes(eval.length);
    for (size_t i = 0; i < bytes; i++) {
        selection[i] = (uint8_t)(truth.is_true->data[i] & (among == NULL ? 0xff : among[i]));
    }
    *selected = frz_bitmap_count(selection, 0, eval.length);
out:
    expr_truth_reset(&truth);
    frz_arena_reset(&eval.scratch);
    return rc;
}
