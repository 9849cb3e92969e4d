/*
 * Some columns and rows of an Arrow stream: the public frz_stream_select.
 *
 * A batch is passed on as it is if all of it is wanted, by reference if whole columns and
 * neighbouring rows of arrays made here are, and copied otherwise.
 */
#include "arrow/arrow_take.h"
#include "expr/expr.h"
#include "expr/expr_plain.h"
#include "frazil/stream.h"
#include "type/type_pick.h"

typedef struct selecting {
    const frz_env *env;
    struct ArrowArrayStream source;
    struct ArrowSchema schema; /* of the source */
    frz_arena arena;
    ipc_field root;
    frz_take_part part; /* what of the root is returned */
    frz_bound_expr *filter;
    const frz_type *filter_type;       /* the columns that the filter reads, */
    size_t *filter_places;             /* which of the source's they are, */
    struct ArrowArray **filter_arrays; /* and room for those of a batch */
    expr_plain *plain;                 /* makes them what the filter reads */
    int64_t row;                       /* of the source, the next batch's first */
    int64_t first, end;
} selecting;

/* ---- columns ---- */

static size_t field_child_count(const void *node)
{
    return ((const ipc_field *)node)->child_count;
}

static const void *field_child(const void *node, size_t i)
{
    return &((const ipc_field *)node)->children[i];
}

static bool field_spelling(const void *node, size_t i, size_t n, frz_spelling *out)
{
    const ipc_field *field = node;
    const ipc_field *child = &field->children[i];
    if (field->encoded) {
        return false; /* parts of a dictionary's values are not told apart */
    }
    switch (field->type.tag) {
    case IPC_STRUCT:
        *out = (frz_spelling){.first = child->name};
        return n == 0;
    case IPC_MAP: /* the struct of key and value is passed through */
        *out = (frz_spelling){.first = n == 0 ? (frz_str){0} : child->name};
        return n < 2;
    case IPC_LIST:
    case IPC_LARGE_LIST:
    case IPC_LIST_VIEW:
    case IPC_LARGE_LIST_VIEW:
    case IPC_FIXED_LIST:
        *out = (frz_spelling){.first = n == 0 ? FRZ_STR("element") : child->name};
        return n < 2;
    default:
        return false;
    }
}

static frz_code part_of_pick(frz_arena *arena, const ipc_field *field, const frz_pick *pick,
                             bool in_map, frz_take_part *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = (frz_take_part){.field = field, .whole = pick == NULL || pick->whole};
    if (out->whole) {
        return FRZ_OK;
    }
    /* a map keeps its keys and values, whichever was asked for */
    size_t count = in_map ? field->child_count : pick->count;
    size_t *places = frz_arena_array(arena, count, sizeof *places);
    frz_take_part *children = frz_arena_array(arena, count, sizeof *children);
    if (places == NULL || children == NULL) {
        return frz_fail_nomem(err, count * sizeof *children);
    }
    for (size_t i = 0; i < count; i++) {
        places[i] = in_map ? i : pick->order[i];
        FRZ_TRY(part_of_pick(arena, &field->children[places[i]], pick->below[places[i]],
                             field->type.tag == IPC_MAP, &children[i], err));
    }
    out->places = places;
    out->children = children;
    out->child_count = count;
out:
    return rc;
}

static frz_code choose_columns(selecting *s, const frz_stream_select_options *opts, frz_error *err)
{
    static const frz_name_tree tree = {field_child_count, field_child, field_spelling};
    frz_code rc = FRZ_OK;
    const frz_pick *pick;
    FRZ_TRY(
        frz_pick_names(&s->arena, &tree, &s->root, opts->columns, opts->column_count, &pick, err));
    FRZ_TRY(part_of_pick(&s->arena, &s->root, pick, false, &s->part, err));
out:
    return rc;
}

static frz_code schema_of_part(const selecting *s, const struct ArrowSchema *src,
                               const frz_take_part *part, struct ArrowSchema *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema made = {0};
    frz_str ignored;
    size_t metadata_size = 0;
    if (part->whole) {
        return frz_arrow_schema_copy(s->env, src, out, err);
    }
    FRZ_TRY(frz_schema_metadata(src, FRZ_STR(""), &ignored, &metadata_size, err));
    frz_schema_spec spec = {.format = frz_str_from(src->format),
                            .name = frz_str_from(src->name == NULL ? "" : src->name),
                            .metadata = {src->metadata, metadata_size},
                            .flags = src->flags,
                            .n_children = part->child_count};
    FRZ_TRY(frz_schema_make(s->env, &spec, &made, err));
    for (size_t i = 0; i < part->child_count; i++) {
        FRZ_TRY(schema_of_part(s, src->children[part->places[i]], &part->children[i],
                               made.children[i], err));
    }
    *out = made;
    made.release = NULL;
out:
    frz_schema_release(&made);
    return rc;
}

/* ---- the filter ---- */

/* All columns by name; those of other types have the type UNKNOWN for now. */
static frz_code column_types(selecting *s, const frz_type **out, bool *known, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = s->root.child_count;
    int32_t last;
    frz_field *fields = frz_arena_array(&s->arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] = (frz_field){.id = FRZ_ID_NONE,
                                .name = s->root.children[i].name,
                                .type = frz_type_primitive(FRZ_TYPE_UNKNOWN)};
        rc = expr_plain_field(&s->arena, s->schema.children[i], &fields[i], err);
        known[i] = rc == FRZ_OK;
        if (rc != FRZ_E_UNSUPPORTED) {
            FRZ_TRY(rc);
        }
    }
    FRZ_TRY(frz_type_struct_of(&s->arena, fields, count, out, err));
    FRZ_TRY(frz_type_assign_ids(&s->arena, *out, 1, out, &last, err));
out:
    return rc;
}

static frz_code bind_filter(selecting *s, const char *where, const frz_type *all, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr = NULL;
    FRZ_TRY(frz_expr_parse(&s->arena, frz_str_from(where), &expr, err));
    FRZ_TRY(frz_expr_bind_filter(s->env, expr, all, &s->filter, err));
out:
    return rc;
}

/* Which columns the filter reads, and their schemas. */
static frz_code find_filtered(selecting *s, const frz_type *all, const bool *known,
                              const struct ArrowSchema ***columns, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t used;
    const int32_t *ids = frz_bound_expr_fields(s->filter, &used);
    frz_field *fields = frz_arena_array(&s->arena, used, sizeof *fields);
    *columns = frz_arena_array(&s->arena, used, sizeof(struct ArrowSchema *));
    s->filter_places = frz_arena_array(&s->arena, used, sizeof *s->filter_places);
    s->filter_arrays = frz_arena_array(&s->arena, used, sizeof(struct ArrowArray *));
    if (fields == NULL || *columns == NULL || s->filter_places == NULL ||
        s->filter_arrays == NULL) {
        return frz_fail_nomem(err, used * sizeof *fields);
    }
    for (size_t i = 0; i < used; i++) {
        size_t place = (size_t)frz_type_index_of_id(all, ids[i]);
        fields[i] = all->fields[place];
        s->filter_places[i] = place;
        (*columns)[i] = s->schema.children[place];
        if (!known[place]) {
            FRZ_TRY(expr_plain_field(&s->arena, (*columns)[i], &fields[i], err)); /* says why */
        }
    }
    FRZ_TRY(frz_type_struct_of(&s->arena, fields, used, &s->filter_type, err));
out:
    return rc;
}

static frz_code plan_filter(selecting *s, const char *where, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *all;
    const struct ArrowSchema **columns;
    bool *known = frz_arena_array(&s->arena, s->root.child_count, sizeof *known);
    if (known == NULL) {
        return frz_fail_nomem(err, s->root.child_count);
    }
    FRZ_TRY(column_types(s, &all, known, err));
    FRZ_TRY(bind_filter(s, where, all, err));
    FRZ_TRY(find_filtered(s, all, known, &columns, err));
    FRZ_TRY(expr_plain_new(s->env, columns, s->filter_type->field_count, &s->plain, err));
out:
    return rc;
}

/* ---- rows ---- */

/* Neighbouring rows of a column: by reference if it was made here. */
static frz_code slice_column(const selecting *s, const frz_take_part *part,
                             const struct ArrowArray *src, int64_t first, int64_t count,
                             struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (part->whole && frz_array_is_own(src)) {
        return frz_array_slice(s->env, src, first, count, out, err);
    }
    int64_t *rows = frz_alloc_zero(s->env, (size_t)count, sizeof *rows);
    if (rows == NULL) {
        return frz_fail_nomem(err, (size_t)count * sizeof *rows);
    }
    for (int64_t i = 0; i < count; i++) {
        rows[i] = first + i;
    }
    rc = frz_array_take(s->env, part, src, rows, count, out, err);
    frz_free(s->env, rows);
    return rc;
}

static frz_take_part column_part(const selecting *s, size_t i, size_t *place)
{
    *place = s->part.whole ? i : s->part.places[i];
    return s->part.whole ? (frz_take_part){.field = &s->root.children[i], .whole = true}
                         : s->part.children[i];
}

/* The columns of a batch, from rows if these are given, else the neighbouring ones from first on.
 */
static frz_code make_batch(const selecting *s, const struct ArrowArray *batch, const int64_t *rows,
                           int64_t first, int64_t count, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = s->part.whole ? s->root.child_count : s->part.child_count;
    size_t made = 0;
    struct ArrowArray *columns = frz_alloc_zero(s->env, n, sizeof *columns);
    if (columns == NULL) {
        return frz_fail_nomem(err, n * sizeof *columns);
    }
    for (; made < n; made++) {
        size_t place;
        frz_take_part part = column_part(s, made, &place);
        const struct ArrowArray *src = batch->children[place];
        FRZ_TRY(rows != NULL ? frz_array_take(s->env, &part, src, rows, count, &columns[made], err)
                             : slice_column(s, &part, src, first, count, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(s->env, count, columns, n, out, err));
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(s->env, columns);
    return rc;
}

/* rows receives those of the rows from first on for which the filter is true. */
static frz_code select_rows(const selecting *s, const struct ArrowArray *batch, int64_t first,
                            int64_t count, int64_t *rows, int64_t *selected, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray view = {0};
    size_t bytes = frz_bitmap_bytes(count) + 8;
    int64_t at = 0;
    uint8_t *selection = frz_alloc(s->env, bytes);
    if (selection == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    for (size_t i = 0; i < s->filter_type->field_count; i++) {
        s->filter_arrays[i] = batch->children[s->filter_places[i]];
    }
    FRZ_TRY(expr_plain_batch(s->plain, s->filter_arrays, first, count, &view, err));
    FRZ_TRY(frz_expr_select(s->filter, s->filter_type, &view, s->row + first - batch->offset, NULL,
                            selection, selected, err));
    for (int64_t i = 0; i < count; i++) {
        if (frz_bit_get(selection, i)) {
            rows[at++] = first + i;
        }
    }
out:
    frz_array_release(&view);
    frz_free(s->env, selection);
    return rc;
}

/* first and count are rows of the batch's children. */
static frz_code filter_rows(const selecting *s, const struct ArrowArray *batch, int64_t first,
                            int64_t count, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t selected = 0;
    int64_t *rows = frz_alloc_zero(s->env, (size_t)count, sizeof *rows);
    if (rows == NULL) {
        return frz_fail_nomem(err, (size_t)count * sizeof *rows);
    }
    FRZ_TRY(select_rows(s, batch, first, count, rows, &selected, err));
    if (selected > 0) {
        FRZ_TRY(make_batch(s, batch, selected == count ? NULL : rows, first, selected, out, err));
    }
out:
    frz_free(s->env, rows);
    return rc;
}

/* What is wanted of a batch; out stays empty if nothing is. */
static frz_code take_batch(selecting *s, struct ArrowArray *batch, struct ArrowArray *out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t from = FRZ_MAX(s->first - s->row, 0);
    int64_t to = FRZ_MIN(s->end - s->row, batch->length);
    if (from >= to) {
        goto out;
    }
    if (s->filter != NULL) {
        FRZ_TRY(filter_rows(s, batch, batch->offset + from, to - from, out, err));
    } else if (s->part.whole && to - from == batch->length) {
        frz_array_move(batch, out);
    } else {
        FRZ_TRY(make_batch(s, batch, NULL, batch->offset + from, to - from, out, err));
    }
out:
    s->row += batch->length;
    return rc;
}

/* ---- the stream ---- */

static frz_code select_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    const selecting *s = ctx;
    return schema_of_part(s, &s->schema, &s->part, out, err);
}

static frz_code select_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    selecting *s = ctx;
    struct ArrowArray rows = {0};
    while (rows.release == NULL && rc == FRZ_OK) {
        struct ArrowArray batch = {0};
        if (s->row >= s->end) {
            return FRZ_END;
        }
        FRZ_TRY(frz_progress(s->env, "reading rows", (uint64_t)s->row, 0, err));
        int failed = s->source.get_next(&s->source, &batch);
        if (failed != 0) {
            return frz_stream_fail(&s->source, failed, err);
        }
        if (batch.release == NULL) {
            return FRZ_END;
        }
        rc = take_batch(s, &batch, &rows, err);
        frz_array_release(&batch);
    }
    frz_array_move(&rows, out);
out:
    return rc;
}

static void select_release(void *ctx)
{
    selecting *s = ctx;
    if (s->source.release != NULL) {
        s->source.release(&s->source);
    }
    frz_schema_release(&s->schema);
    frz_bound_expr_free(s->filter);
    expr_plain_free(s->plain);
    frz_arena_reset(&s->arena);
    frz_free(s->env, s);
}

static frz_code plan(selecting *s, const frz_stream_select_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int failed = s->source.get_schema(&s->source, &s->schema);
    if (failed != 0) {
        s->schema.release = NULL;
        return frz_stream_fail(&s->source, failed, err);
    }
    FRZ_TRY(ipc_field_from_schema(&s->arena, &s->schema, &s->root, err));
    FRZ_TRY(choose_columns(s, opts, err));
    if (opts->where != NULL) {
        FRZ_TRY(plan_filter(s, opts->where, err));
    }
    s->first = opts->first_row;
    s->end = opts->end_row < 0 ? INT64_MAX : opts->end_row;
out:
    return rc;
}

frz_code frz_stream_select(const frz_env *env, struct ArrowArrayStream *source,
                           const frz_stream_select_options *opts, struct ArrowArrayStream *out,
                           frz_error *err)
{
    static const frz_stream_ops ops = {select_schema, select_next, select_release};
    frz_code rc = FRZ_OK;
    frz_stream_select_options own = FRZ_STREAM_SELECT_OPTIONS_INIT;
    selecting *s = frz_alloc_zero(env, 1, sizeof *s);
    if (s == NULL) {
        source->release(source);
        return frz_fail_nomem(err, sizeof *s);
    }
    if (opts != NULL) { /* of a caller who may know fewer members */
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    s->env = env;
    s->source = *source;
    source->release = NULL;
    frz_arena_init(&s->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(plan(s, &own, err));
    selecting *last = s;
    s = NULL; /* moves, also on failure */
    FRZ_TRY(frz_stream_make(env, &ops, last, out, err));
out:
    if (s != NULL) {
        select_release(s);
    }
    return rc;
}
