/*
 * The columns of a projection in lock-step: which leaves they need, and batches out of one row
 * group after the other.
 *
 * Invariants:
 *  1. All columns stand at or behind the row that is handed out next. A column may hand out fewer
 *     rows than it was asked for (its values are large); what the others read beyond stays pending
 *     and is sliced into later batches.
 *  2. Where a batch ends depends on nothing but the row group, the rows that were asked for before
 *     in it, and the bounds: not on threads, and not on earlier groups unless it goes over groups.
 *  3. Columns are worked on in parts, several at once. A part has its scratch memory to itself, and
 *     a column belongs to one part at a time.
 *  4. A batch goes over the end of a row group if all columns came there with it: their leaves hold
 *     what belongs to it, and none has rows pending.
 */
#include <inttypes.h>

#include "format/parquet/parquet_read.h"
#include "type/type_variant.h"

#define LEAST_SHARED_ROWS 1024 /* a batch is not cut shorter than this to avoid a copy */
#define ABOUT 1.125            /* how much more bytes a batch may have than asked for */

/* Work is cut into parts for the threads, but not into crumbs: a part that decodes this many bytes
 * takes a multiple of what it costs to hand it over. */
#define MOST_PARTS 64
#define PARTS_PER_THREAD 24
#define LEAST_PART_BYTES (64u << 10)
#define START_BYTES 64 /* what starting a leaf at a row group costs, as bytes to decode */

/* ---- planning ---- */

static frz_code add_leaf(parquet_cursor *c, size_t index, const frz_type *type, bool flat,
                         parquet_leaf **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(FRZ_GROW(c->env, &c->leaves, &c->leaf_capacity, c->leaf_count, err));
    parquet_leaf *leaf = frz_alloc_zero(c->env, 1, sizeof *leaf);
    if (leaf == NULL) {
        rc = frz_fail_nomem(err, sizeof *leaf);
        goto out;
    }
    c->leaves[c->leaf_count++] = leaf;
    FRZ_TRY(parquet_leaf_init(leaf, c->source, index, type, flat, err));
    *out = leaf;
out:
    return rc;
}

static frz_code plan_field(parquet_cursor *c, const frz_field *field, const parquet_node *node,
                           const frz_type *file_type, bool top, parquet_plan *plan, frz_error *err);

/* Items of lists and maps go by their place; an id that is there must not differ. */
static frz_code check_item(const frz_field *item, const frz_field *field, const char *parent,
                           frz_error *err)
{
    if (item->id != FRZ_ID_NONE && field->id != FRZ_ID_NONE && item->id != field->id) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "column \"%s\": field \"%.*s\" has id %" PRId32
                        " in the file, expected %" PRId32,
                        parent, FRZ_STR_ARG(field->name), item->id, field->id);
    }
    return FRZ_OK;
}

static frz_code plan_missing(const frz_field *field, parquet_plan *plan, const char *parent,
                             frz_error *err)
{
    if (field->required && field->initial_default == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "column \"%s\" has no field \"%.*s\" (id %" PRId32
                        "), which is required and has no default",
                        parent, FRZ_STR_ARG(field->name), field->id);
    }
    *plan = (parquet_plan){.field = field};
    return FRZ_OK;
}

static frz_code plan_children(parquet_cursor *c, const parquet_node *node,
                              const frz_type *file_type, parquet_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = plan->field->type;
    size_t first = c->leaf_count;
    plan->child_count = type->field_count;
    plan->children = frz_arena_array(&c->arena, type->field_count, sizeof *plan->children);
    if (plan->children == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *plan->children);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        int64_t child = (int64_t)i;
        if (type->id == FRZ_TYPE_STRUCT) {
            child = frz_type_index_of_id(file_type, type->fields[i].id);
        } else {
            FRZ_TRY(check_item(&file_type->fields[i], &type->fields[i], node->path, err));
        }
        if (child < 0) {
            FRZ_TRY(plan_missing(&type->fields[i], &plan->children[i], node->path, err));
            continue;
        }
        FRZ_TRY(plan_field(c, &type->fields[i], &node->children[child],
                           file_type->fields[child].type, false, &plan->children[i], err));
    }
    if (c->leaf_count > first) {
        plan->levels = c->leaves[first];
    } else if (node->leaf_count > 0) {
        /* nothing below is read, but the levels say where there is a value */
        FRZ_TRY(add_leaf(c, node->first_leaf, NULL, false, &plan->levels, err));
    }
out:
    return rc;
}

/* All columns of a variant's group are read, whether it is shredded or not. */
static frz_code plan_variant(parquet_cursor *c, const frz_field *field, const parquet_node *node,
                             parquet_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *stored = NULL;
    frz_field *group = frz_arena_alloc(&c->arena, sizeof *group);
    if (group == NULL) {
        return frz_fail_nomem(err, sizeof *group);
    }
    FRZ_TRY(parquet_native_group(c->source->file, &c->arena, node, &stored, err));
    rc = frz_variant_check_shape(c->env, stored, err);
    FRZ_TRY(frz_context(err, rc, "column \"%s\"", node->path));
    *group = *field;
    group->type = stored;
    *plan = (parquet_plan){.field = group, .node = node, .variant = true};
    FRZ_TRY(plan_children(c, node, stored, plan, err));
out:
    return rc;
}

static frz_code plan_field(parquet_cursor *c, const frz_field *field, const parquet_node *node,
                           const frz_type *file_type, bool top, parquet_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char from[64];
    char to[64];
    *plan = (parquet_plan){.field = field, .node = node};
    /* what only Iceberg cannot read has a type if the file's type is the native one */
    if (node->unsupported != NULL && file_type->id == FRZ_TYPE_UNKNOWN) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column \"%s\" is %s", node->path,
                        node->unsupported);
    }
    if (file_type->id == FRZ_TYPE_UNKNOWN) {
        if (field->required && field->type->id != FRZ_TYPE_UNKNOWN) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "column \"%s\" holds only nulls and is to be read as required",
                            node->path);
        }
        return FRZ_OK;
    }
    if (field->type->id == FRZ_TYPE_VARIANT && node->kind == FRZ_TYPE_STRUCT) {
        return plan_variant(c, field, node, plan, err);
    }
    if (node->kind != FRZ_TYPE_UNKNOWN || frz_type_is_nested(field->type)) {
        if (node->kind != field->type->id) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "column \"%s\" is %s in the file and is to be read as %s", node->path,
                            frz_type_text(file_type, from, sizeof from),
                            frz_type_text(field->type, to, sizeof to));
        }
        return plan_children(c, node, file_type, plan, err);
    }
    bool flat = top;
    FRZ_TRY(add_leaf(c, node->first_leaf, field->type, flat, &plan->leaf, err));
    plan->leaf->required = field->required;
out:
    return rc;
}

/* The column of an id, at hint if columns are asked for as they are stored; -1: none. */
static int64_t find_column(const frz_type *file_type, int32_t id, size_t hint)
{
    if (id == FRZ_ID_NONE) {
        return -1;
    }
    if (hint < file_type->field_count && file_type->fields[hint].id == id) {
        return (int64_t)hint;
    }
    return frz_type_index_of_id(file_type, id);
}

static frz_code plan_columns(parquet_cursor *c, const frz_type *file_type,
                             const frz_type *projection, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = projection->field_count;
    c->columns = frz_arena_array(&c->arena, count, sizeof *c->columns);
    c->order = frz_arena_array(&c->arena, count, sizeof *c->order);
    c->slices = frz_arena_array(&c->arena, count, sizeof *c->slices);
    if (c->columns == NULL || c->order == NULL || c->slices == NULL) {
        return frz_fail_nomem(err, count * sizeof *c->columns);
    }
    c->column_count = count;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = &projection->fields[i];
        parquet_cursor_column *column = &c->columns[i];
        int64_t index = find_column(file_type, field->id, next);
        if (index < 0) {
            rc = frz_fail(err, FRZ_E_ARGUMENT, "the file has no field \"%.*s\" (id %" PRId32 ")",
                          FRZ_STR_ARG(field->name), field->id);
            goto out;
        }
        next = (size_t)index + 1;
        c->order[i] = i;
        column->type = field->type;
        column->first_leaf = c->leaf_count;
        FRZ_TRY(plan_field(c, field, &c->source->file->root.children[index],
                           file_type->fields[index].type, true, &column->plan, err));
        column->leaf_count = c->leaf_count - column->first_leaf;
    }
out:
    return rc;
}

/* ---- lifetime ---- */

frz_code parquet_cursor_init(parquet_cursor *c, const parquet_source *source,
                             parquet_scratches *scratches, const frz_type *file_type,
                             const frz_type *projection, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *c = (parquet_cursor){
        .env = source->env, .source = source, .scratches = scratches, .group = SIZE_MAX};
    frz_arena_init(&c->arena, c->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(plan_columns(c, file_type, projection, err));
    c->pieces = frz_arena_array(&c->arena, c->leaf_count, sizeof *c->pieces);
    if (c->pieces == NULL) {
        rc = frz_fail_nomem(err, c->leaf_count * sizeof *c->pieces);
    }
out:
    return rc;
}

void parquet_cursor_reset(parquet_cursor *c)
{
    if (c->env == NULL) {
        return;
    }
    parquet_thin_reset(c);
    for (size_t i = 0; i < c->column_count; i++) {
        frz_array_release(&c->columns[i].pending);
    }
    for (size_t i = 0; i < c->leaf_count; i++) {
        parquet_leaf_reset(c->leaves[i]);
        frz_free(c->env, c->leaves[i]);
    }
    frz_free(c->env, c->leaves);
    frz_arena_reset(&c->arena);
    *c = (parquet_cursor){0};
}

/* ---- work on columns, in parts ---- */

typedef frz_code (*column_work)(parquet_cursor *c, parquet_cursor_column *column, frz_error *err);

typedef struct cursor_parts {
    parquet_cursor *c;
    column_work work;
    size_t count;
    size_t ends[MOST_PARTS]; /* places in the order of columns */
} cursor_parts;

static frz_code run_part(void *ctx, size_t index, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const cursor_parts *p = ctx;
    parquet_cursor *c = p->c;
    parquet_scratch *scratch = NULL;
    FRZ_TRY(parquet_scratch_take(c->scratches, &scratch, err));
    for (size_t i = index == 0 ? 0 : p->ends[index - 1]; i < p->ends[index]; i++) {
        parquet_cursor_column *column = &c->columns[c->order[i]];
        column->row_bytes = 0;
        for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
            c->leaves[k]->pages.scratch = scratch;
        }
        FRZ_TRY(p->work(c, column, err));
        for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
            column->row_bytes += c->leaves[k]->row_bytes;
            parquet_leaf_rest(c->leaves[k]);
        }
    }
out:
    if (scratch != NULL) {
        parquet_scratch_give(scratch);
    }
    return rc;
}

double parquet_cursor_row_bytes(const parquet_cursor *c)
{
    double bytes = 0;
    for (size_t i = 0; i < c->column_count; i++) {
        bytes += c->columns[i].row_bytes;
    }
    return bytes;
}

/* Cut the columns into parts of about the same bytes. Each column counts its bytes of a row times
 * rows, and at least the bytes given. */
static void cut_parts(cursor_parts *p, double rows, double least)
{
    const parquet_cursor *c = p->c;
    size_t threads = frz_threads(c->env);
    double total = parquet_cursor_row_bytes(c) * rows + least * (double)c->column_count;
    double most = (double)FRZ_MIN(threads * PARTS_PER_THREAD, (size_t)MOST_PARTS);
    size_t count = (size_t)FRZ_MIN(most, total / LEAST_PART_BYTES);
    double sum = 0;
    if (!frz_is_shared(c->env, total)) {
        count = 1;
    }
    for (size_t i = 0; i < c->column_count && p->count + 1 < count; i++) {
        sum += c->columns[c->order[i]].row_bytes * rows + least;
        if (sum * (double)count >= total * (double)(p->count + 1)) {
            p->ends[p->count++] = i + 1;
        }
    }
    p->ends[p->count++] = c->column_count;
}

static frz_code for_columns(parquet_cursor *c, column_work work, int64_t rows, double least,
                            frz_error *err)
{
    cursor_parts p = {.c = c, .work = work};
    cut_parts(&p, (double)rows, least);
    return frz_parallel(c->env, p.count, run_part, &p, err);
}

/* ---- steps of a batch ---- */

static frz_code start_column(parquet_cursor *c, parquet_cursor_column *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
        FRZ_TRY(parquet_leaf_start(c->leaves[k], c->group, c->ranges, c->range_count, err));
    }
out:
    return rc;
}

/* Have chunks that are small and near each other read together. */
static frz_code join_pieces(parquet_cursor *c, frz_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < c->leaf_count; i++) {
        parquet_piece *piece = &c->pieces[count];
        count += parquet_pages_piece(&c->leaves[i]->pages, piece);
    }
    return parquet_pieces_join(c->source->file, c->pieces, count, err);
}

/* Go to a row group, if the columns do not stand in it already. */
static frz_code start_group(parquet_cursor *c, size_t group, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (c->group == group) {
        return FRZ_OK;
    }
    c->group = group;
    FRZ_TRY(for_columns(c, start_column, 0, START_BYTES, err));
    FRZ_TRY(join_pieces(c, err));
out:
    if (rc != FRZ_OK) {
        c->group = SIZE_MAX;
    }
    return rc;
}

/* Bring a column to the row and see what could be handed out as it is in the page. */
static frz_code seek_column(parquet_cursor *c, parquet_cursor_column *column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    column->shareable = 0;
    for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
        parquet_leaf *leaf = c->leaves[k];
        /* pending rows and rows of an unfinished batch already are beyond the row */
        if (leaf->row < c->row) {
            FRZ_TRY(parquet_leaf_skip(leaf, c->row - leaf->row, err));
        }
    }
    if (column->pending.release == NULL && column->plan.leaf != NULL && !c->over_groups) {
        FRZ_TRY(parquet_leaf_shareable(column->plan.leaf, &column->shareable, err));
    }
out:
    return rc;
}

/* Mostly there is nothing to do: columns stand where the last batch ended, and none is shared. */
static frz_code seek_columns(parquet_cursor *c, int64_t end, frz_error *err)
{
    bool needed = false;
    for (size_t i = 0; i < c->leaf_count && !needed; i++) {
        needed = (c->leaves[i]->may_share && !c->over_groups) || c->leaves[i]->row < c->row;
    }
    if (needed) {
        return for_columns(c, seek_column, FRZ_MIN(end - c->row, c->max_rows), 0, err);
    }
    for (size_t i = 0; i < c->column_count; i++) {
        c->columns[i].shareable = 0;
    }
    return FRZ_OK;
}

/* Rows of the first of several batches that are about equal and have at most most rows. */
static int64_t equal_share(int64_t rows, int64_t most)
{
    int64_t pieces = (rows + most - 1) / most;
    return (rows + pieces - 1) / pieces;
}

/* Rows of the next batch by the bounds on rows and bytes, and so that pages are shared. That on
 * bytes is kept about, so that no few rows remain for a last batch. */
static int64_t choose_rows(const parquet_cursor *c, int64_t end)
{
    int64_t n = FRZ_MIN(end - c->row, c->max_rows);
    double bytes = parquet_cursor_row_bytes(c);
    double most = (double)c->max_bytes * ABOUT;
    if (bytes > 0 && (double)n * bytes > most) {
        n = equal_share(end - c->row, (int64_t)FRZ_MAX(most / bytes, 1.0));
    }
    int64_t shared = INT64_MAX;
    for (size_t i = 0; i < c->column_count; i++) {
        if (c->columns[i].shareable >= LEAST_SHARED_ROWS) {
            shared = FRZ_MIN(shared, c->columns[i].shareable);
        }
    }
    if (shared < n) {
        n = shared;
    } else if (shared < INT64_MAX) {
        n = equal_share(shared, n);
    }
    return n;
}

static frz_code read_nested(parquet_cursor *c, parquet_cursor_column *column, int64_t n,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
        int64_t rows;
        FRZ_TRY(parquet_leaf_nested(c->leaves[k], n, &rows, err));
        n = rows;
    }
    FRZ_TRY(parquet_assemble(c->env, &column->plan, n, &column->pending, err));
    for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
        parquet_leaf_drop(c->leaves[k], n);
    }
out:
    return rc;
}

/* How many bytes of a leaf a batch may have before it ends early. */
static void set_soft_bytes(const parquet_cursor *c, const parquet_cursor_column *column)
{
    for (size_t k = column->first_leaf; k < column->first_leaf + column->leaf_count; k++) {
        parquet_leaf *leaf = c->leaves[k];
        double fair = leaf->row_bytes * (double)c->batch_rows * 2;
        double most = FRZ_MAX(fair, (double)c->max_bytes / 4);
        leaf->soft_bytes = (size_t)FRZ_MIN(FRZ_MAX(most, 65536.0), 1073741824.0);
    }
}

static frz_code read_column(parquet_cursor *c, parquet_cursor_column *column, frz_error *err)
{
    if (column->thinned || column->pending.release != NULL) {
        return FRZ_OK;
    }
    set_soft_bytes(c, column);
    if (column->plan.leaf != NULL) {
        return parquet_leaf_flat(column->plan.leaf, c->batch_rows - c->held_rows, c->rest_rows,
                                 &column->pending, err);
    }
    return read_nested(c, column, c->batch_rows, err);
}

frz_code parquet_cursor_cut(const frz_env *env, parquet_cursor_column *column, int64_t n,
                            struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rest = {0};
    FRZ_TRY(frz_array_slice(env, &column->pending, n, column->pending.length - n, &rest, err));
    FRZ_TRY(frz_array_slice(env, &column->pending, 0, n, out, err));
    frz_array_release(&column->pending);
    frz_array_move(&rest, &column->pending);
out:
    frz_array_release(&rest);
    return rc;
}

frz_code parquet_cursor_take(const frz_env *env, parquet_cursor_column *column, int64_t n,
                             struct ArrowArray *out, frz_error *err)
{
    if (column->pending.length == n) {
        frz_array_move(&column->pending, out);
        return FRZ_OK;
    }
    return parquet_cursor_cut(env, column, n, out, err);
}

static frz_code make_batch(parquet_cursor *c, int64_t n, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t done = 0;
    for (; done < c->column_count; done++) {
        FRZ_TRY(parquet_cursor_take(c->env, &c->columns[done], n, &c->slices[done], err));
    }
    done = 0; /* moved, also on failure */
    FRZ_TRY(frz_batch_make(c->env, n, c->slices, c->column_count, out, err));
out:
    for (size_t i = 0; i < done; i++) {
        frz_array_release(&c->slices[i]);
    }
    return rc;
}

/* ---- batches that rows are left out of ---- */

static frz_code read_thin(parquet_cursor *c, parquet_cursor_column *column, frz_error *err)
{
    frz_code rc = read_column(c, column, err);
    return rc == FRZ_OK ? parquet_thin_column(c, column, err) : rc;
}

/* Columns that were read before the rows were chosen are left. */
static bool all_are_thin(const parquet_cursor *c)
{
    size_t i = 0;
    while (i < c->column_count && c->columns[i].thinned) {
        i++;
    }
    return i == c->column_count;
}

static frz_code read_thinned(parquet_cursor *c, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (c->thin.rows > 0) {
        c->batch_rows = c->thin.rows;
    } else {
        FRZ_TRY(parquet_thin_begin(c, err));
    }
    FRZ_TRY(for_columns(c, read_thin, c->batch_rows, 0, err));
    if (!all_are_thin(c)) {
        FRZ_TRY(for_columns(c, read_thin, c->batch_rows, 0, err));
    }
    int64_t rows = c->thin.rows;
    for (size_t i = 0; i < c->column_count; i++) {
        if (!c->columns[i].thinned) {
            rows = FRZ_MIN(rows, c->columns[i].pending.length);
        }
    }
    rc = parquet_thin_take(c, rows, out, err);
out:
    return rc;
}

static frz_code read_whole(parquet_cursor *c, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(for_columns(c, read_column, c->batch_rows, 0, err));
    int64_t rows = c->batch_rows;
    for (size_t i = 0; i < c->column_count; i++) {
        rows = FRZ_MIN(rows, c->columns[i].pending.length);
    }
    frz_batch batch = {.first_row = c->row};
    FRZ_TRY(make_batch(c, rows, &batch.array, err));
    *out = batch;
out:
    return rc;
}

/* ---- batches that go over the ends of row groups ---- */

bool parquet_cursor_is_flat(const parquet_cursor *c)
{
    bool flat = true;
    for (size_t i = 0; i < c->column_count; i++) {
        flat = flat && (c->columns[i].plan.leaf != NULL || c->columns[i].leaf_count == 0);
    }
    return flat;
}

static int64_t group_end(const parquet_cursor *c)
{
    const parquet_group *g = &c->source->file->metadata.groups[c->group];
    return g->first_row + g->num_rows;
}

static bool has_pending(const parquet_cursor *c)
{
    size_t i = 0;
    while (i < c->column_count && c->columns[i].pending.release == NULL) {
        i++;
    }
    return i < c->column_count;
}

static bool is_at_group_end(const parquet_cursor *c)
{
    size_t i = 0;
    while (i < c->leaf_count && c->leaves[i]->row == c->leaves[i]->group_end) {
        i++;
    }
    return i == c->leaf_count;
}

/* To the end of the row group; a constant has no leaf. */
static frz_code hold_column(parquet_cursor *c, parquet_cursor_column *column, frz_error *err)
{
    parquet_leaf *leaf = column->plan.leaf;
    if (leaf == NULL) {
        return FRZ_OK;
    }
    set_soft_bytes(c, column);
    return parquet_leaf_hold(leaf, leaf->group_end - leaf->row, c->batch_rows - c->held_rows, err);
}

/* Rows of this group that have room in the batch beside those that are held. */
static int64_t rows_with_room(const parquet_cursor *c)
{
    double room = FRZ_MAX((double)c->max_bytes * ABOUT - c->held_bytes, 0.0);
    double rows = room / FRZ_MAX(parquet_cursor_row_bytes(c), 1.0 / 64);
    return (int64_t)FRZ_MIN(rows, (double)c->batch_rows);
}

/* Have leaves hold the rows of the batch that lie in the row group at hand, and go to the next one
 * that has rows; if one came short, the batch ends here. */
static frz_code hold_group(parquet_cursor *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_group *groups = c->source->file->metadata.groups;
    size_t next = c->group + 1;
    int64_t held = group_end(c) - c->row;
    double bytes = (double)(held - c->held_rows) * parquet_cursor_row_bytes(c);
    FRZ_TRY(for_columns(c, hold_column, held - c->held_rows, 0, err));
    c->held_rows = held;
    c->held_bytes += bytes;
    if (!is_at_group_end(c)) {
        c->batch_rows = held;
        goto out;
    }
    while (groups[next].num_rows == 0) {
        next++;
    }
    FRZ_TRY(start_group(c, next, err));
    c->batch_rows = FRZ_MIN(c->batch_rows, c->held_rows + rows_with_room(c));
out:
    return rc;
}

static frz_code hold_groups(parquet_cursor *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (has_pending(c)) { /* in the group in which the last batch ended */
        c->batch_rows = FRZ_MIN(c->batch_rows, group_end(c) - c->row);
    }
    while (c->row + c->batch_rows > group_end(c)) {
        FRZ_TRY(hold_group(c, err));
    }
out:
    return rc;
}

/* ---- reading ---- */

/* Rows behind the batch that are all wanted: one more batch, in which the group ends. */
static int64_t choose_rest(const parquet_cursor *c)
{
    int64_t at = c->row, end = group_end(c);
    int64_t rest = end - (c->row + c->batch_rows);
    if (rest > c->batch_rows || c->thin.how != NULL || c->over_groups) {
        return 0;
    }
    for (size_t i = 0; i < c->range_count && c->ranges[i].start <= at && at < end; i++) {
        at = FRZ_MAX(at, c->ranges[i].end);
    }
    return at >= end ? rest : 0;
}

frz_code parquet_cursor_read(parquet_cursor *c, size_t group, int64_t row, int64_t end,
                             frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(row < end);
    c->row = row;
    c->held_rows = 0;
    c->held_bytes = 0;
    FRZ_TRY(start_group(c, group, err));
    FRZ_TRY(seek_columns(c, end, err));
    c->batch_rows = choose_rows(c, end);
    c->rest_rows = choose_rest(c);
    if (c->over_groups) {
        FRZ_TRY(hold_groups(c, err));
    }
    rc = c->thin.how == NULL ? read_whole(c, out, err) : read_thinned(c, out, err);
out:
    return rc;
}
