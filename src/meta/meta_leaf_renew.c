/*
 * A leaf manifest written anew because many of its entries change or go.
 *
 * Rows stay in their order. Of a row group that keeps all its rows the encoded chunks of columns
 * whose values stay are copied, and only what changes is encoded: tracking, column files, and the
 * statistics of the fields that changed. What that costs does not grow with the columns of the
 * table. A row group that loses rows, or whose bounds have another type by now, is decoded column
 * by column and encoded again; entries with all their statistics are never made.
 *
 * It is not done, and the caller finds another way, if some row has no content_stats at all: copied
 * and encoded members would disagree.
 * spec: leaf manifest; field values per status
 */
#include <stdlib.h>

#include "meta/meta_ids.h"
#include "meta/meta_manifest_put.h"
#include "meta/meta_tracked.h"
#include "meta/meta_tree_internal.h"

/* Statistics that are decoded at once. */
#define DECODED_MOST ((size_t)1 << 20)

typedef struct renewal {
    const frz_leaf_renewal *what;
    const frz_tree *tree;
    const frz_manifest_file *file;
    const frz_schema *schema; /* of the new leaf */
    frz_arena arena;
    char *source; /* where the leaf is */
    meta_tracked tracked;
    frz_stats_choice changed; /* fields whose statistics change, of any entry */
    frz_entry *rows;          /* that stay, in their new state; statistics of these fields alone */
    size_t row_count, row_capacity;
    unsigned columns;         /* bit c: column c changes */
    meta_stats_shape *shapes; /* of the new leaf: those that are copied, then those that change */
    size_t copied_count, shape_count;
    bool promoted;          /* a bound of the copied ones has another type by now */
    meta_manifest_row row;  /* of the new leaf */
    meta_manifest_row kept; /* of the old one: content_stats of the shapes that are copied */
    meta_row_writer encode; /* rows with the shapes that change */
    frz_parquet_writer *out;
} renewal;

/* ---- the rows ---- */

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_changed(const renewal *r, int32_t field_id)
{
    return bsearch(&field_id, r->changed.field_ids, r->changed.field_count, sizeof field_id,
                   compare_ids) != NULL;
}

/* The fields of all changes, each once. */
static frz_code collect_changed(renewal *r, frz_error *err)
{
    size_t room = 0, n = 0, kept = 0;
    for (size_t i = 0; i < r->what->count; i++) {
        room += r->what->changes[i].stats_id_count;
    }
    int32_t *ids = frz_arena_array(&r->arena, room, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, room * sizeof *ids);
    }
    for (size_t i = 0; i < r->what->count; i++) {
        const frz_leaf_change *change = &r->what->changes[i];
        for (size_t k = 0; k < change->stats_id_count; k++) {
            ids[n++] = change->stats_ids[k];
        }
    }
    qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    r->changed = (frz_stats_choice){.field_ids = ids, .field_count = kept};
    return FRZ_OK;
}

static bool stays(const renewal *r, const frz_entry *entry)
{
    return frz_status_is_live(entry->status) && !entry->is_masked &&
           (r->what->gone == NULL || !frz_mumbling_has(r->what->gone, (uint64_t)entry->position));
}

static frz_code read_rows(renewal *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry_request request = {.stats = r->changed, .all_entries = true};
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    FRZ_TRY(frz_entry_reader_open(r->tree, r->what->manifest, &request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &r->arena, &entries, &count, err)) == FRZ_OK) {
        for (size_t i = 0; i < count; i++) {
            if (stays(r, &entries[i])) {
                FRZ_TRY(FRZ_GROW(r->tree->env, &r->rows, &r->row_capacity, r->row_count, err));
                r->rows[r->row_count] = entries[i];
                r->rows[r->row_count++].status = FRZ_STATUS_EXISTING;
            }
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_entry_reader_close(reader);
    return rc;
}

/* The first row at or behind a position. */
static size_t row_at(const renewal *r, int64_t position)
{
    size_t low = 0, high = r->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->rows[middle].position < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool same_vector(const frz_entry *a, const frz_entry *b)
{
    const frz_deletion_vector *x = &a->deletion_vector, *y = &b->deletion_vector;
    return a->has_deletion_vector == b->has_deletion_vector &&
           (!a->has_deletion_vector ||
            (frz_str_equal(x->location, y->location) && x->offset == y->offset &&
             x->size == y->size && x->cardinality == y->cardinality));
}

/* Columns besides those that any change changes. */
static unsigned columns_between(const frz_entry *before, const frz_entry *after)
{
    return (same_vector(before, after) ? 0 : 1u << META_DELETION_VECTOR) |
           (before->spec_id == after->spec_id ? 0 : 1u << META_SPEC_ID | 1u << META_PARTITION) |
           (before->sort_order_id == after->sort_order_id ? 0 : 1u << META_SORT_ORDER_ID);
}

static frz_code apply_changes(renewal *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    r->columns = 1u << META_TRACKING | 1u << META_COLUMN_FILES;
    for (size_t i = 0; i < r->what->count; i++) {
        const frz_leaf_change *change = &r->what->changes[i];
        frz_entry *row = &r->rows[row_at(r, change->position)];
        frz_entry after = *change->after;
        assert(row < r->rows + r->row_count && row->position == change->position);
        after.position = row->position;
        r->columns |= columns_between(row, &after);
        FRZ_TRY(frz_stats_overlay(&r->arena, row, change->stats_ids, change->stats_id_count, &after,
                                  err));
        *row = after;
    }
out:
    return rc;
}

/* ---- the columns ---- */

/* content_stats is there in every row of the leaf: members of the new one are made to be. */
static frz_code check_stats_present(renewal *r, bool *present, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    meta_manifest_row row;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    *present = true;
    if (r->tracked.shape_count == 0) {
        return FRZ_OK;
    }
    frz_arena_init(&arena, r->tree->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(meta_manifest_row_to_read(&arena, r->tracked.shapes, 1, NULL,
                                      frz_data_file_type(r->tracked.file), 1u << META_CONTENT_STATS,
                                      &row, err));
    const frz_read_request request = {.projection = row.type, .no_ahead = true};
    FRZ_TRY(frz_data_reader_open(r->tracked.file, &request, &reader, err));
    while (*present && (rc = frz_data_reader_next(reader, &batch, err)) == FRZ_OK) {
        *present = frz_null_count(batch.array.children[0]) == 0;
        frz_array_release(&batch.array);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_data_reader_close(reader);
    frz_arena_reset(&arena);
    return rc;
}

/* Fields that the table has statistics of today, lineage included. */
static frz_code wanted_fields(renewal *r, frz_stats_choice *out, frz_error *err)
{
    frz_metrics_config config = {0};
    size_t n = 0;
    frz_code rc =
        frz_metrics_config_of(&r->tree->table->metadata, r->schema, &r->arena, &config, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int32_t *ids = frz_arena_array(&r->arena, config.field_count + 2, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, config.field_count * sizeof *ids);
    }
    for (size_t i = 0; i < config.field_count; i++) {
        if (config.fields[i].mode != FRZ_METRICS_NONE) {
            ids[n++] = config.fields[i].field_id;
        }
    }
    ids[n++] = FRZ_ID_LAST_UPDATED;
    ids[n++] = FRZ_ID_ROW_ID;
    qsort(ids, n, sizeof *ids, compare_ids);
    *out = (frz_stats_choice){.field_ids = ids, .field_count = n};
    return FRZ_OK;
}

/* Metrics of the fields that change are those that a row knows. */
static void add_changed_shapes(renewal *r, const frz_stats_choice *wanted)
{
    for (size_t i = 0; i < wanted->field_count; i++) {
        int32_t id = wanted->field_ids[i];
        const frz_type *type = is_changed(r, id) && meta_stats_base(id) >= 0
                                   ? meta_stats_type_of(&r->tree->rules, r->schema, id)
                                   : NULL;
        const frz_field *field = type == NULL ? NULL : frz_type_find_id(r->schema->type, id);
        meta_stats_shape shape = {.field_id = id, .type = type};
        for (size_t k = 0; type != NULL && k < r->row_count; k++) {
            size_t cursor = 0;
            const frz_field_stats *s =
                meta_find_stats(r->rows[k].stats, r->rows[k].stats_count, id, &cursor);
            shape.metrics |=
                s == NULL ? 0 : meta_known_metrics(s, type, field != NULL && field->required);
        }
        if (shape.metrics != 0) {
            r->shapes[r->shape_count++] = shape;
        }
    }
}

static frz_code name_shapes(renewal *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf name = FRZ_BUF_INIT(r->tree->env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < r->shape_count; i++) {
        FRZ_TRY(meta_stats_shape_name(r->schema, &r->shapes[i], &name, &r->arena, err));
    }
out:
    frz_buf_reset(&name);
    return rc;
}

/* The bounds of a shape have today's type in the old leaf. */
static bool has_type_of(const renewal *r, const meta_stats_shape *shape)
{
    int32_t base = meta_stats_base(shape->field_id);
    const frz_type *stats =
        frz_type_field_by_id(frz_data_file_type(r->tracked.file), FRZ_ID_CONTENT_STATS)->type;
    const frz_type *file = frz_type_field_by_id(stats, base)->type;
    const frz_field *lower = frz_type_field_by_id(file, base + FRZ_STATS_LOWER_BOUND);
    const frz_field *upper = frz_type_field_by_id(file, base + FRZ_STATS_UPPER_BOUND);
    return (lower == NULL || frz_type_equal(lower->type, shape->type)) &&
           (upper == NULL || frz_type_equal(upper->type, shape->type));
}

static frz_code choose_shapes(renewal *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stats_choice wanted = {0};
    const meta_tracked *t = &r->tracked;
    FRZ_TRY(wanted_fields(r, &wanted, err));
    r->shapes = frz_arena_array(&r->arena, t->shape_count + wanted.field_count, sizeof *r->shapes);
    FRZ_TRY(r->shapes == NULL ? frz_fail_nomem(err, t->shape_count * sizeof *r->shapes) : FRZ_OK);
    for (size_t i = 0; i < t->shape_count; i++) {
        int32_t id = t->shapes[i].field_id;
        if (!is_changed(r, id) &&
            bsearch(&id, wanted.field_ids, wanted.field_count, sizeof id, compare_ids) != NULL) {
            r->promoted = r->promoted || !has_type_of(r, &t->shapes[i]);
            r->shapes[r->shape_count++] = t->shapes[i];
        }
    }
    r->copied_count = r->shape_count;
    add_changed_shapes(r, &wanted);
    FRZ_TRY(name_shapes(r, err));
out:
    return rc;
}

static frz_code choose_columns(renewal *r, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *partition = NULL;
    meta_row_writer *e = &r->encode;
    FRZ_TRY(choose_shapes(r, err));
    FRZ_TRY(meta_partition_type(&r->tree->table->metadata, &r->arena, &partition, err));
    FRZ_TRY(
        meta_manifest_row_to_write(&r->arena, r->shapes, r->shape_count, partition, &r->row, err));
    FRZ_TRY(meta_manifest_row_to_read(&r->arena, r->shapes, r->copied_count, NULL,
                                      frz_data_file_type(r->tracked.file), 1u << META_CONTENT_STATS,
                                      &r->kept, err));
    e->shapes = r->shapes + r->copied_count;
    e->shape_count = r->shape_count - r->copied_count;
    e->partition = partition;
    e->stats_always = true;
    FRZ_TRY(
        meta_manifest_row_to_write(&r->arena, e->shapes, e->shape_count, partition, &e->row, err));
    FRZ_TRY(frz_builder_new(r->tree->env, e->row.type, &e->builder, err));
out:
    return rc;
}

/* ---- writing ---- */

/* Rows that become a row group. */
typedef struct group_rows {
    size_t group;                   /* of the old leaf */
    size_t first, count;            /* among the rows that stay */
    const struct ArrowArray *stats; /* content_stats with the kept shapes; NULL: they are copied */
    struct ArrowArray batch;        /* all columns, content_stats with the shapes that change */
} group_rows;

/* Copied or decoded members, and behind them the encoded ones of the batch. */
static frz_code write_stats(renewal *r, const group_rows *g, bool *done, frz_error *err)
{
    const struct ArrowArray **members = frz_arena_array(&r->arena, r->shape_count, sizeof *members);
    if (members == NULL) {
        return frz_fail_nomem(err, r->shape_count * sizeof *members);
    }
    int at = r->encode.row.at[META_CONTENT_STATS];
    for (size_t i = 0; i < r->shape_count; i++) {
        members[i] = i >= r->copied_count ? g->batch.children[at]->children[i - r->copied_count]
                     : g->stats != NULL   ? g->stats->children[i]
                                          : NULL;
    }
    return frz_parquet_writer_splice_members(r->out, (size_t)r->row.at[META_CONTENT_STATS],
                                             r->tracked.file, g->group, FRZ_ID_CONTENT_STATS,
                                             members, done, err);
}

/* Columns of few bytes are encoded if they cannot be copied, whatever the reason. */
static frz_code write_column(renewal *r, meta_column c, const group_rows *g, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t field = (size_t)r->row.at[c];
    bool done = false;
    if (g->stats == NULL && (r->columns >> c & 1) == 0) {
        FRZ_TRY(frz_parquet_writer_splice(r->out, field, r->tracked.file, g->group,
                                          r->row.type->fields[field].id, &done, err));
    }
    if (!done) {
        rc = frz_parquet_writer_append_column(r->out, field, g->batch.children[r->encode.row.at[c]],
                                              err);
    }
out:
    return rc;
}

/* *done is false if statistics were to be copied and cannot be: columns before them are written. */
static frz_code write_columns(renewal *r, const group_rows *g, bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_parquet_writer_begin_group(r->out, (int64_t)g->count, err));
    *done = true;
    for (int c = 0; *done && c < META_COLUMN_COUNT; c++) {
        if (r->row.at[c] >= 0) {
            FRZ_TRY(c == META_CONTENT_STATS ? write_stats(r, g, done, err)
                                            : write_column(r, (meta_column)c, g, err));
        }
    }
    FRZ_TRY(*done ? frz_parquet_writer_end_group(r->out, err) : FRZ_OK);
out:
    return rc;
}

static frz_code write_rows(renewal *r, group_rows *g, bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        FRZ_TRY(meta_put_entry(&r->encode, &r->rows[i], err));
    }
    FRZ_TRY(frz_builder_finish(r->encode.builder, &g->batch, err));
    FRZ_TRY(write_columns(r, g, done, err));
out:
    frz_array_release(&g->batch);
    return rc;
}

/* Rows of a decoded batch of the old leaf's statistics, which become a row group. */
static frz_code write_decoded(renewal *r, size_t group, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool done = false;
    struct ArrowArray stats = {0};
    int64_t rows = batch->array.length;
    group_rows g = {.group = group, .first = row_at(r, batch->first_row), .stats = &stats};
    g.count = row_at(r, batch->first_row + rows) - g.first;
    uint8_t *bits = frz_alloc_zero(r->tree->env, 1, frz_bitmap_bytes(rows) + 8);
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, frz_bitmap_bytes(rows)) : FRZ_OK);
    for (size_t i = g.first; i < g.first + g.count; i++) {
        frz_bit_put(bits, r->rows[i].position - batch->first_row, true);
    }
    if (g.count > 0) {
        FRZ_TRY(frz_array_filter(r->tree->env, r->kept.type->fields[0].type,
                                 batch->array.children[0], bits, (int64_t)g.count, &stats, err));
        FRZ_TRY(write_rows(r, &g, &done, err));
        FRZ_TRY(done ? FRZ_OK
                     : frz_fail(err, FRZ_E_INTERNAL, "statistics of a manifest do not fit it"));
    }
out:
    frz_array_release(&stats);
    frz_free(r->tree->env, bits);
    return rc;
}

static frz_code decode_group(renewal *r, size_t group, frz_row_range range, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    size_t most = FRZ_MIN(FRZ_MAX(DECODED_MOST / r->copied_count, (size_t)1), META_PART_ROWS);
    const frz_read_request request = {.projection = r->kept.type,
                                      .ranges = &range,
                                      .range_count = 1,
                                      .max_rows = (int64_t)most,
                                      .no_ahead = true};
    FRZ_TRY(frz_data_reader_open(r->tracked.file, &request, &reader, err));
    while ((rc = frz_data_reader_next(reader, &batch, err)) == FRZ_OK) {
        rc = write_decoded(r, group, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_data_reader_close(reader);
    return rc;
}

/* Without shapes to copy there is nothing to decode. */
static frz_code write_group(renewal *r, size_t group, frz_row_range range, bool *done,
                            frz_error *err)
{
    group_rows g = {.group = group, .first = row_at(r, range.start)};
    g.count = row_at(r, range.end) - g.first;
    *done = true;
    if (g.count == 0) {
        return FRZ_OK;
    }
    bool loses = (int64_t)g.count < range.end - range.start;
    return (loses || r->promoted) && r->copied_count > 0 ? decode_group(r, group, range, err)
                                                         : write_rows(r, &g, done, err);
}

static frz_code write_file(renewal *r, const char *location, bool durable, int64_t *bytes,
                           bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_written written = {0};
    size_t groups = 0;
    frz_row_range range = {0, 0};
    const int64_t *ends = frz_data_file_group_ends(r->tracked.file, &groups);
    FRZ_TRY(meta_manifest_open_writer(r->tree->table, r->schema, r->row.type, r->row_count,
                                      location, &r->out, err));
    *done = true;
    for (size_t g = 0; *done && g < groups; g++) {
        range = (frz_row_range){range.end, ends[g]};
        FRZ_TRY(write_group(r, g, range, done, err));
    }
    if (*done) {
        frz_parquet_writer *out = r->out;
        r->out = NULL;
        FRZ_TRY(frz_parquet_writer_finish(out, durable, &r->arena, &written, err));
        *bytes = written.file_size;
    }
out:
    return rc;
}

/* ---- what the root says of it ---- */

/* Rows that stay keep what the root said of their leaf. */
static frz_code describe(renewal *r, frz_arena *arena, frz_manifest_file *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry **entries = frz_arena_array(&r->arena, r->row_count, sizeof(frz_entry *));
    FRZ_TRY(entries == NULL ? frz_fail_nomem(err, r->row_count * sizeof(frz_entry *)) : FRZ_OK);
    for (size_t i = 0; i < r->row_count; i++) {
        entries[i] = &r->rows[i];
    }
    const frz_manifest_rows rows = {
        .entries = entries, .entry_count = r->row_count, .is_leaf = true};
    FRZ_TRY(frz_manifest_describe(&rows, &r->arena, out, err));
    frz_entry whole = {.stats = out->stats, .stats_count = out->stats_count};
    const frz_entry before = {.stats = r->file->stats, .stats_count = r->file->stats_count};
    FRZ_TRY(frz_stats_overlay(&r->arena, &before, r->changed.field_ids, r->changed.field_count,
                              &whole, err));
    FRZ_TRY(frz_entry_copy(arena, &whole, &whole, err));
    out->stats = whole.stats;
    out->stats_count = whole.stats_count;
out:
    return rc;
}

frz_code frz_leaf_renew(const frz_leaf_renewal *what, const char *location,
                        const frz_schema *schema, bool durable, frz_arena *arena,
                        frz_manifest_file *out, bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_tree *tree = what->tree;
    static const frz_stats_choice all = {.all = true};
    renewal r = {.what = what,
                 .tree = tree,
                 .file = frz_tree_manifest(tree, what->manifest),
                 .schema = schema,
                 .tracked = {.table = tree->table, .schema = tree->schema, .rules = &tree->rules}};
    int64_t bytes = 0;
    *done = false;
    frz_arena_init(&r.arena, tree->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_table_resolve_access(tree->table, r.file->location, &r.source, err));
    FRZ_TRY(collect_changed(&r, err));
    FRZ_TRY(read_rows(&r, err));
    FRZ_TRY(meta_tracked_open(&r.tracked, r.source, &all, err));
    FRZ_TRY(check_stats_present(&r, done, err));
    if (*done) {
        FRZ_TRY(apply_changes(&r, err));
        FRZ_TRY(choose_columns(&r, err));
        FRZ_TRY(write_file(&r, location, durable, &bytes, done, err));
    }
    if (*done) {
        FRZ_TRY(describe(&r, arena, out, err));
        out->length = bytes;
    }
out:
    if (rc != FRZ_OK) {
        *done = false;
    }
    frz_parquet_writer_abort(r.out);
    frz_builder_free(r.encode.builder);
    meta_tracked_close(&r.tracked);
    frz_free(tree->env, r.rows);
    frz_free(tree->env, r.source);
    frz_arena_reset(&r.arena);
    return frz_context(err, rc, "renewing manifest %.*s", FRZ_STR_ARG(r.file->location));
}
