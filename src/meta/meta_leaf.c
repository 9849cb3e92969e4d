/*
 * The entries of a v4 leaf manifest. If the request turns entries down, the columns that it decides
 * by are read first, and the others of the rows that are left only.
 * spec: leaf manifest, inheritance when reading a leaf
 */
#include "meta/meta_tree_internal.h"

/* Rows between two wanted ones that are read along rather than skipped. */
#define GAP 64

/* ---- opening ---- */

static frz_code open_rows(frz_entry_reader *reader, const meta_manifest_row *shape,
                          const frz_row_range *ranges, size_t range_count, frz_data_reader **out,
                          frz_error *err)
{
    frz_read_request request = {.projection = shape->type,
                                .ranges = ranges,
                                .range_count = range_count,
                                .max_rows = META_PART_ROWS,
                                .no_ahead = true};
    return frz_data_reader_open(reader->tracked.file, &request, out, err);
}

static frz_code make_lent(frz_entry_reader *reader, frz_error *err)
{
    const meta_tracked *t = &reader->tracked;
    size_t fields = t->partition == NULL ? 0 : t->partition->field_count;
    reader->lent_stats =
        frz_arena_array(&reader->arena, t->shape_count, sizeof *reader->lent_stats);
    reader->lent_partition =
        frz_arena_array(&reader->arena, fields, sizeof *reader->lent_partition);
    return reader->lent_stats == NULL || reader->lent_partition == NULL
               ? frz_fail_nomem(err, t->shape_count * sizeof *reader->lent_stats)
               : FRZ_OK;
}

frz_code meta_leaf_open(frz_entry_reader *reader, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_tree *tree = reader->tree;
    meta_tracked *t = &reader->tracked;
    t->table = tree->table;
    t->schema = tree->schema;
    t->rules = &tree->rules;
    FRZ_TRY(meta_tracked_open(t, reader->location, &reader->request.stats, err));
    if (frz_data_file_row_count(t->file) != reader->file->entry_count) {
        return frz_fail(err, FRZ_E_CORRUPT, "holds %lld entries, its record_count is %lld",
                        (long long)frz_data_file_row_count(t->file),
                        (long long)reader->file->entry_count);
    }
    bool decides = reader->request.keep != NULL;
    FRZ_TRY(make_lent(reader, err));
    FRZ_TRY(open_rows(reader, decides ? &t->brief : &t->full, NULL, 0, &reader->rows, err));
out:
    return rc;
}

void meta_leaf_close(frz_entry_reader *reader)
{
    meta_tracked_close(&reader->tracked);
}

/* ---- deciding ---- */

/* Is this row wanted? Fills in the entry as far as that takes. */
static frz_code decide(frz_entry_reader *reader, const meta_tracked_row *row, frz_entry *e,
                       bool *wanted, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const meta_tracked *t = row->tracked;
    *wanted = false;
    FRZ_TRY(meta_tracked_head(row, &reader->parent, e, err));
    FRZ_TRY(meta_reader_take(reader, e, wanted, err));
    if (!*wanted || reader->request.keep == NULL) {
        return FRZ_OK;
    }
    if (t->partition != NULL) {
        FRZ_TRY(meta_tracked_partition(row, NULL, reader->lent_partition, NULL, e, err));
    }
    FRZ_TRY(meta_tracked_stats(row, reader->lent_stats, NULL, &e->stats, &e->stats_count, err));
    *wanted = meta_reader_keeps(reader, e);
out:
    return rc;
}

static frz_code keep(frz_entry_reader *reader, const frz_entry *e, frz_error *err)
{
    frz_code rc =
        FRZ_GROW(reader->tree->env, &reader->kept, &reader->kept_capacity, reader->kept_count, err);
    if (rc == FRZ_OK) {
        reader->kept[reader->kept_count++] =
            (meta_kept){e->position, e->first_row_id, e->is_masked};
    }
    return rc;
}

/* The wanted rows of the next batch. */
static frz_code decide_batch(frz_entry_reader *reader, const meta_manifest_row *shape,
                             const struct ArrowArray *batch, frz_error *err)
{
    meta_tracked_row row = {.tracked = &reader->tracked, .shape = shape, .batch = batch};
    reader->kept_count = 0;
    for (row.row = 0; row.row < batch->length; row.row++) {
        frz_entry e = {.position = reader->position++};
        bool wanted = false;
        frz_code rc = decide(reader, &row, &e, &wanted, err);
        rc = rc == FRZ_OK && wanted ? keep(reader, &e, err) : rc;
        if (rc != FRZ_OK) {
            return frz_context(err, rc, "entry %lld", (long long)e.position);
        }
    }
    return FRZ_OK;
}

/* ---- making entries ---- */

/* What the entries of one part are made in. */
typedef struct part {
    frz_entry_reader *reader;
    frz_arena *arena;
    const frz_type **partition_types;
    frz_entry *entries;
    size_t made;
} part;

static frz_code make_stats(part *p, const meta_tracked_row *row, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t stats = row->tracked->shape_count;
    size_t fields = row->tracked->partition == NULL ? 0 : row->tracked->partition->field_count;
    if (fields > 0 && e->spec_id >= 0) {
        frz_partition_value *room = frz_arena_array(p->arena, fields, sizeof *room);
        FRZ_TRY(room == NULL ? frz_fail_nomem(err, fields * sizeof *room) : FRZ_OK);
        FRZ_TRY(meta_tracked_partition(row, p->partition_types, room, p->arena, e, err));
    }
    if (stats > 0) {
        frz_field_stats *room = frz_arena_array(p->arena, stats, sizeof *room);
        FRZ_TRY(room == NULL ? frz_fail_nomem(err, stats * sizeof *room) : FRZ_OK);
        FRZ_TRY(meta_tracked_stats(row, room, p->arena, &e->stats, &e->stats_count, err));
    }
out:
    return rc;
}

static frz_code make_entry(part *p, const meta_tracked_row *row, const meta_kept *kept,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry *e = &p->entries[p->made];
    *e = (frz_entry){.manifest = p->reader->manifest, .position = kept->position};
    FRZ_TRY(meta_tracked_file(row, p->arena, e, err));
    FRZ_TRY(meta_tracked_head(row, &p->reader->parent, e, err));
    e->first_row_id = kept->first_row_id;
    e->is_masked = kept->is_masked;
    FRZ_TRY(make_stats(p, row, e, err));
    FRZ_TRY(meta_tracked_data(row, p->arena, e, err));
    p->made++;
out:
    return e->location.len > 0 ? frz_context(err, rc, "entry %lld (%.*s)", (long long)e->position,
                                             FRZ_STR_ARG(e->location))
                               : frz_context(err, rc, "entry %lld", (long long)e->position);
}

/* The wanted rows that a batch of all columns holds. */
static frz_code make_entries(part *p, const frz_batch *batch, frz_error *err)
{
    const frz_entry_reader *reader = p->reader;
    meta_tracked_row row = {
        .tracked = &reader->tracked, .shape = &reader->tracked.full, .batch = &batch->array};
    while (p->made < reader->kept_count) {
        const meta_kept *kept = &reader->kept[p->made];
        row.row = kept->position - batch->first_row;
        assert(row.row >= 0);
        if (row.row >= batch->array.length) {
            break;
        }
        frz_code rc = make_entry(p, &row, kept, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

/* ---- reading on ---- */

static frz_code wanted_ranges(const frz_entry_reader *reader, frz_row_range **out, size_t *count,
                              frz_error *err)
{
    size_t n = 0;
    frz_row_range *ranges = frz_alloc_zero(reader->tree->env, reader->kept_count, sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(err, reader->kept_count * sizeof *ranges);
    }
    for (size_t i = 0; i < reader->kept_count; i++) {
        int64_t position = reader->kept[i].position;
        if (n > 0 && position - ranges[n - 1].end <= GAP) {
            ranges[n - 1].end = position + 1;
        } else {
            ranges[n++] = (frz_row_range){position, position + 1};
        }
    }
    *out = ranges;
    *count = n;
    return FRZ_OK;
}

/* All columns of the wanted rows. */
static frz_code read_wanted(part *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range *ranges = NULL;
    size_t count = 0;
    frz_data_reader *rows = NULL;
    frz_batch batch = {0};
    FRZ_TRY(wanted_ranges(p->reader, &ranges, &count, err));
    FRZ_TRY(open_rows(p->reader, &p->reader->tracked.full, ranges, count, &rows, err));
    for (rc = frz_data_reader_next(rows, &batch, err); rc == FRZ_OK;
         rc = frz_data_reader_next(rows, &batch, err)) {
        rc = make_entries(p, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_data_reader_close(rows);
    frz_free(p->reader->tree->env, ranges);
    return rc;
}

static frz_code make_part(part *p, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = p->reader;
    bool decides = reader->request.keep != NULL;
    FRZ_TRY(decide_batch(reader, decides ? &reader->tracked.brief : &reader->tracked.full,
                         &batch->array, err));
    if (reader->kept_count == 0) {
        return FRZ_OK;
    }
    p->entries = frz_arena_array(p->arena, reader->kept_count, sizeof *p->entries);
    FRZ_TRY(p->entries == NULL ? frz_fail_nomem(err, reader->kept_count * sizeof *p->entries)
                               : FRZ_OK);
    FRZ_TRY(meta_tracked_partition_types(&reader->tracked, p->arena, &p->partition_types, err));
    FRZ_TRY(decides ? read_wanted(p, err) : make_entries(p, batch, err));
out:
    return rc;
}

frz_code meta_leaf_next(frz_entry_reader *reader, frz_arena *arena, const frz_entry **out,
                        size_t *count, frz_error *err)
{
    frz_batch batch = {0};
    part p = {.reader = reader, .arena = arena};
    frz_code rc = frz_data_reader_next(reader->rows, &batch, err);
    if (rc == FRZ_OK) {
        rc = make_part(&p, &batch, err);
        frz_array_release(&batch.array);
    }
    if (rc == FRZ_OK) {
        *out = p.entries;
        *count = p.made;
    }
    return rc;
}
