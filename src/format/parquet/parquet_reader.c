/*
 * The reader of a Parquet file: which leaves a request needs, and batches over row ranges.
 *
 * All columns advance in lock-step. A column may hand out fewer rows than it was asked for (its
 * values are large); what the others read beyond stays pending and is sliced into later batches.
 * A batch never crosses a range or a row group.
 */
#include <inttypes.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_read.h"

#define DEFAULT_ROWS 65536
#define DEFAULT_BYTES (16u << 20)
#define LEAST_SHARED_ROWS 1024 /* a batch is not cut shorter than this to avoid a copy */

/* Bytes read ahead, over all columns and for one. */
#define AHEAD_ALL (16u << 20)
#define AHEAD_MOST (1u << 20)
#define AHEAD_LEAST (16u << 10)

typedef struct column {
    parquet_plan plan;
    size_t first_leaf, leaf_count; /* of the reader's leaves */
    struct ArrowArray pending;     /* rows from reader->row on that were not handed out */
} column;

typedef struct parquet_reader {
    frz_data_reader base;
    parquet_scratch *scratch;
    frz_arena arena; /* plans and ranges */
    const parquet_file *file;
    parquet_leaf **leaves; /* in the order of the columns */
    size_t leaf_count, leaf_capacity;
    column *columns;
    size_t column_count;
    struct ArrowArray *slices; /* room for one batch */
    const frz_row_range *ranges;
    size_t range_count;
    size_t range; /* at hand */
    size_t group; /* at hand */
    int64_t row;  /* next to hand out */
    int64_t max_rows;
    size_t max_bytes;
} parquet_reader;

/* ---- planning ---- */

static frz_code add_leaf(parquet_reader *r, size_t index, const frz_type *type, bool flat,
                         parquet_leaf **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = r->base.file->env;
    FRZ_TRY(FRZ_GROW(env, &r->leaves, &r->leaf_capacity, r->leaf_count, err));
    parquet_leaf *leaf = frz_alloc_zero(env, 1, sizeof *leaf);
    if (leaf == NULL) {
        rc = frz_fail_nomem(err, sizeof *leaf);
        goto out;
    }
    r->leaves[r->leaf_count++] = leaf;
    FRZ_TRY(parquet_leaf_init(leaf, r->scratch, index, type, flat, err));
    *out = leaf;
out:
    return rc;
}

static frz_code plan_field(parquet_reader *r, const frz_field *field, const parquet_node *node,
                           const frz_type *file_type, bool top, parquet_plan *plan, frz_error *err);

/* The child of a struct whose id is 0, as a manifest's status has it, if it can be no other. */
static int64_t find_zero(const frz_type *file_type)
{
    int64_t found = -1;
    for (size_t i = 0; i < file_type->field_count; i++) {
        if (file_type->fields[i].id == 0) {
            if (found >= 0) {
                return -1;
            }
            found = (int64_t)i;
        }
    }
    return found;
}

/* The file's child of a node that a requested child is read from; -1: none. */
static int64_t find_child(const frz_type *file_type, const frz_field *field, size_t position)
{
    if (file_type->id == FRZ_TYPE_STRUCT) {
        return field->id == 0 ? find_zero(file_type) : frz_type_index_of_id(file_type, field->id);
    }
    /* items of lists and maps go by their place; an id that is there must not differ */
    int32_t id = file_type->fields[position].id;
    return id == 0 || field->id == 0 || id == field->id ? (int64_t)position : -1;
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

static frz_code plan_children(parquet_reader *r, const parquet_node *node,
                              const frz_type *file_type, parquet_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = plan->field->type;
    size_t first = r->leaf_count;
    plan->child_count = type->field_count;
    plan->children = frz_arena_array(&r->arena, type->field_count, sizeof *plan->children);
    if (plan->children == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *plan->children);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        int64_t child = find_child(file_type, &type->fields[i], i);
        if (child < 0) {
            FRZ_TRY(plan_missing(&type->fields[i], &plan->children[i], node->path, err));
            continue;
        }
        FRZ_TRY(plan_field(r, &type->fields[i], &node->children[child],
                           file_type->fields[child].type, false, &plan->children[i], err));
    }
    if (r->leaf_count > first) {
        plan->levels = r->leaves[first];
    } else {
        /* nothing below is read, but the levels say where there is a value */
        FRZ_TRY(add_leaf(r, node->first_leaf, NULL, false, &plan->levels, err));
    }
out:
    return rc;
}

static frz_code plan_field(parquet_reader *r, const frz_field *field, const parquet_node *node,
                           const frz_type *file_type, bool top, parquet_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char from[64];
    char to[64];
    *plan = (parquet_plan){.field = field, .node = node};
    if (node->unsupported != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column \"%s\" is %s", node->path,
                        node->unsupported);
    }
    if (node->type->id == FRZ_TYPE_UNKNOWN) {
        if (field->required && field->type->id != FRZ_TYPE_UNKNOWN) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "column \"%s\" holds only nulls and is to be read as required",
                            node->path);
        }
        return FRZ_OK;
    }
    if (frz_type_is_nested(node->type) || frz_type_is_nested(field->type)) {
        if (node->type->id != field->type->id) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "column \"%s\" is %s in the file and is to be read as %s", node->path,
                            frz_type_text(node->type, from, sizeof from),
                            frz_type_text(field->type, to, sizeof to));
        }
        return plan_children(r, node, file_type, plan, err);
    }
    bool flat = top;
    FRZ_TRY(add_leaf(r, node->first_leaf, field->type, flat, &plan->leaf, err));
    plan->leaf->required = field->required;
out:
    return rc;
}

static frz_code plan_columns(parquet_reader *r, const frz_type *file_type,
                             const frz_type *projection, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = projection->field_count;
    r->columns = frz_arena_array(&r->arena, count, sizeof *r->columns);
    r->slices = frz_arena_array(&r->arena, count, sizeof *r->slices);
    if (r->columns == NULL || r->slices == NULL) {
        return frz_fail_nomem(err, count * sizeof *r->columns);
    }
    r->column_count = count;
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = &projection->fields[i];
        column *c = &r->columns[i];
        int64_t index = field->id == 0 ? -1 : frz_type_index_of_id(file_type, field->id);
        if (index < 0) {
            rc = frz_fail(err, FRZ_E_ARGUMENT, "the file has no field \"%.*s\" (id %" PRId32 ")",
                          FRZ_STR_ARG(field->name), field->id);
            goto out;
        }
        c->first_leaf = r->leaf_count;
        FRZ_TRY(plan_field(r, field, &r->file->root.children[index], file_type->fields[index].type,
                           true, &c->plan, err));
        c->leaf_count = r->leaf_count - c->first_leaf;
    }
out:
    return rc;
}

/* ---- opening ---- */

static frz_code copy_ranges(parquet_reader *r, const frz_read_request *request, frz_error *err)
{
    int64_t rows = r->file->metadata.num_rows;
    r->range_count = request->ranges == NULL ? 1 : request->range_count;
    frz_row_range *ranges = frz_arena_array(&r->arena, r->range_count, sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(err, r->range_count * sizeof *ranges);
    }
    r->ranges = ranges;
    if (request->ranges == NULL) {
        ranges[0] = (frz_row_range){0, rows};
        return FRZ_OK;
    }
    int64_t before = 0;
    for (size_t i = 0; i < r->range_count; i++) {
        ranges[i] = request->ranges[i];
        if (ranges[i].start < before || ranges[i].end < ranges[i].start || ranges[i].end > rows) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "row range %" PRId64 " to %" PRId64
                            " is not in order or ends behind the file's %" PRId64 " rows",
                            ranges[i].start, ranges[i].end, rows);
        }
        before = ranges[i].end;
    }
    return FRZ_OK;
}

static size_t read_ahead(size_t leaves)
{
    size_t each = AHEAD_ALL / FRZ_MAX(leaves, (size_t)1);
    return FRZ_MAX(FRZ_MIN(each, (size_t)AHEAD_MOST), (size_t)AHEAD_LEAST);
}

static void free_scratch(const frz_env *env, parquet_scratch *scratch)
{
    for (size_t i = 0; scratch != NULL && i < FRZ_ARRAY_COUNT(scratch->codecs); i++) {
        frz_codec_free(scratch->codecs[i]);
    }
    if (scratch != NULL) {
        frz_buf_reset(&scratch->bytes);
    }
    frz_free(env, scratch);
}

void parquet_reader_close(frz_data_reader *base)
{
    parquet_reader *r = (parquet_reader *)base;
    if (r == NULL) {
        return;
    }
    const frz_env *env = r->base.file->env;
    for (size_t i = 0; i < r->column_count; i++) {
        frz_array_release(&r->columns[i].pending);
    }
    for (size_t i = 0; i < r->leaf_count; i++) {
        parquet_leaf_reset(r->leaves[i]);
        frz_free(env, r->leaves[i]);
    }
    frz_free(env, r->leaves);
    free_scratch(env, r->scratch);
    frz_arena_reset(&r->arena);
    frz_free(env, r);
}

frz_code parquet_reader_open(const frz_data_file *file, const frz_type *file_type,
                             const frz_read_request *request, frz_data_reader **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = file->env;
    parquet_reader *r = frz_alloc_zero(env, 1, sizeof *r);
    if (r == NULL) {
        return frz_fail_nomem(err, sizeof *r);
    }
    r->base = (frz_data_reader){.model = file->model, .file = file};
    r->file = (const parquet_file *)file;
    r->max_rows = request->max_rows > 0 ? request->max_rows : DEFAULT_ROWS;
    r->max_bytes = request->max_bytes > 0 ? (size_t)request->max_bytes : DEFAULT_BYTES;
    frz_arena_init(&r->arena, env, FRZ_ARENA_NO_LIMIT);
    r->scratch = frz_alloc_zero(env, 1, sizeof *r->scratch);
    if (r->scratch == NULL) {
        rc = frz_fail_nomem(err, sizeof *r->scratch);
        goto out;
    }
    r->scratch->env = env;
    r->scratch->file = r->file;
    frz_buf_init(&r->scratch->bytes, env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(copy_ranges(r, request, err));
    FRZ_TRY(plan_columns(r, file_type, request->projection, err));
    r->scratch->window = read_ahead(r->leaf_count);
    *out = &r->base;
    r = NULL;
out:
    if (r != NULL) {
        parquet_reader_close(&r->base);
    }
    return frz_context(err, rc, "reading %s", frz_data_file_location(file));
}

/* ---- batches ---- */

/* Go to the next row that is wanted; false at the end. */
static bool next_row(parquet_reader *r)
{
    const parquet_metadata *m = &r->file->metadata;
    while (r->range < r->range_count) {
        const frz_row_range *range = &r->ranges[r->range];
        r->row = FRZ_MAX(r->row, range->start);
        if (r->row < range->end) {
            break;
        }
        r->range++;
    }
    if (r->range == r->range_count) {
        return false;
    }
    while (r->row >= m->groups[r->group].first_row + m->groups[r->group].num_rows) {
        r->group++;
    }
    return true;
}

/* Bring every leaf to the row. */
static frz_code seek_leaves(parquet_reader *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < r->column_count; i++) {
        column *c = &r->columns[i];
        for (size_t k = c->first_leaf; k < c->first_leaf + c->leaf_count; k++) {
            parquet_leaf *leaf = r->leaves[k];
            if (leaf->group != r->group) {
                FRZ_TRY(parquet_leaf_start(leaf, r->group, err));
            }
            /* pending rows and rows of an unfinished batch already are beyond the row */
            if (leaf->row < r->row) {
                FRZ_TRY(parquet_leaf_skip(leaf, r->row - leaf->row, err));
            }
        }
    }
out:
    return rc;
}

/* Rows of the next batch by the bounds on rows and bytes, and so that pages are shared. */
static frz_code choose_rows(parquet_reader *r, int64_t *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_group *g = &r->file->metadata.groups[r->group];
    int64_t n = FRZ_MIN(r->ranges[r->range].end, g->first_row + g->num_rows) - r->row;
    double bytes = 0;
    n = FRZ_MIN(n, r->max_rows);
    for (size_t i = 0; i < r->leaf_count; i++) {
        bytes += r->leaves[i]->row_bytes;
    }
    if (bytes > 0 && (double)n * bytes > (double)r->max_bytes) {
        n = (int64_t)FRZ_MAX((double)r->max_bytes / bytes, 1.0);
    }
    int64_t shared = INT64_MAX;
    for (size_t i = 0; i < r->column_count; i++) {
        int64_t rows = 0;
        if (r->columns[i].pending.release == NULL && r->columns[i].plan.leaf != NULL) {
            FRZ_TRY(parquet_leaf_shareable(r->columns[i].plan.leaf, &rows, err));
        }
        if (rows >= LEAST_SHARED_ROWS) {
            shared = FRZ_MIN(shared, rows);
        }
    }
    if (shared < n) {
        n = shared;
    } else if (shared < INT64_MAX) {
        int64_t pieces = (shared + n - 1) / n;
        n = (shared + pieces - 1) / pieces;
    }
    *out = n;
out:
    return rc;
}

static void set_soft_bytes(parquet_reader *r, int64_t rows)
{
    for (size_t i = 0; i < r->leaf_count; i++) {
        parquet_leaf *leaf = r->leaves[i];
        double fair = leaf->row_bytes * (double)rows * 2;
        double most = FRZ_MAX(fair, (double)r->max_bytes / 4);
        leaf->soft_bytes = (size_t)FRZ_MIN(FRZ_MAX(most, 65536.0), 1073741824.0);
    }
}

static frz_code read_nested(parquet_reader *r, column *c, int64_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t k = c->first_leaf; k < c->first_leaf + c->leaf_count; k++) {
        int64_t rows;
        FRZ_TRY(parquet_leaf_nested(r->leaves[k], n, &rows, err));
        n = rows;
    }
    FRZ_TRY(parquet_assemble(r->base.file->env, &c->plan, n, &c->pending, err));
    for (size_t k = c->first_leaf; k < c->first_leaf + c->leaf_count; k++) {
        parquet_leaf_drop(r->leaves[k], n);
    }
out:
    return rc;
}

static frz_code read_column(parquet_reader *r, column *c, int64_t n, frz_error *err)
{
    if (c->leaf_count == 0) {
        return frz_array_nulls(r->base.file->env, c->plan.field->type, n, &c->pending, err);
    }
    if (c->plan.leaf != NULL) {
        return parquet_leaf_flat(c->plan.leaf, n, &c->pending, err);
    }
    return read_nested(r, c, n, err);
}

/* The first n pending rows of a column; the rest stays. */
static frz_code take_pending(const frz_env *env, column *c, int64_t n, struct ArrowArray *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray rest = {0};
    if (c->pending.length == n) {
        frz_array_move(&c->pending, out);
        return FRZ_OK;
    }
    FRZ_TRY(frz_array_slice(env, &c->pending, n, c->pending.length - n, &rest, err));
    FRZ_TRY(frz_array_slice(env, &c->pending, 0, n, out, err));
    frz_array_release(&c->pending);
    frz_array_move(&rest, &c->pending);
out:
    frz_array_release(&rest);
    return rc;
}

static frz_code make_batch(parquet_reader *r, int64_t n, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = r->base.file->env;
    size_t done = 0;
    for (; done < r->column_count; done++) {
        FRZ_TRY(take_pending(env, &r->columns[done], n, &r->slices[done], err));
    }
    done = 0; /* moved, also on failure */
    FRZ_TRY(frz_batch_make(env, n, r->slices, r->column_count, out, err));
out:
    for (size_t i = 0; i < done; i++) {
        frz_array_release(&r->slices[i]);
    }
    return rc;
}

frz_code parquet_reader_next(frz_data_reader *base, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_reader *r = (parquet_reader *)base;
    int64_t n;
    if (!next_row(r)) {
        return FRZ_END;
    }
    FRZ_TRY(seek_leaves(r, err));
    FRZ_TRY(choose_rows(r, &n, err));
    set_soft_bytes(r, n);
    int64_t rows = n;
    for (size_t i = 0; i < r->column_count; i++) {
        column *c = &r->columns[i];
        if (c->pending.release == NULL) {
            FRZ_TRY(read_column(r, c, n, err));
        }
        rows = FRZ_MIN(rows, c->pending.length);
    }
    frz_batch batch = {.first_row = r->row};
    FRZ_TRY(make_batch(r, rows, &batch.array, err));
    r->row += rows;
    *out = batch;
out:
    return frz_context(err, rc, "reading %s", frz_data_file_location(base->file));
}
