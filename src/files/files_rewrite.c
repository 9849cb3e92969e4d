/*
 * One data file written anew: the rows that are left of it, with what its column files say, become
 * one new file. So column files are folded back, and rows are taken out. Or its column files alone
 * become one, which then has what they provide, for every row.
 *
 * Invariants:
 *  1. The new file has the base's live rows in the base's order, and its row groups end where the
 *     base's do; a row group without a live row is left out.
 *  2. A field comes from the one file that the stitching reader would take it from. Fields that no
 *     file stores are left out, so that their defaults go on applying.
 *  3. Encoded chunks are copied as they are where a file has a row group of exactly the same rows
 *     that are all live, and stores the field in the layout that would be written; all else is
 * decoded with the current types and encoded anew, one column of one row group at a time.
 *  4. A written field is optional exactly where its source is, whatever the schema says: column
 *     files hold optional columns, and copied chunks keep their repetition. In a column file all
 *     are optional.
 *  5. _row_id and _last_updated_sequence_number are written as they read now, but for rows that
 * this commit changes: their number is null, because another attempt would give them another one.
 *     A column file has no _row_id.
 *
 * spec: column files, interactions; row lineage, moving rows to another file
 */
#include "files/files.h"

/* A file that provides fields: the base first, then column files in the entry's order. */
typedef struct rewrite_part {
    frz_data_file *file; /* NULL: provides nothing that is wanted */
} rewrite_part;

typedef struct rewrite_column {
    const frz_field *field;  /* of the table's schema */
    const frz_type *request; /* a struct of that field alone */
    size_t part;             /* FRZ_PART_MIXED: several files provide parts of a struct */
    bool can_splice;
} rewrite_column;

typedef struct rewriting {
    const frz_commit_attempt *attempt;
    const frz_entry *entry;
    bool columns_only; /* a column file is made */
    frz_arena arena;   /* lives as long as the work on this file */
    rewrite_part *parts;
    size_t part_count;
    rewrite_column *columns;
    frz_field *written; /* the fields of the new file, lineage last */
    size_t column_count;
    const frz_type *type;
    const frz_live_rows *rows;
    frz_row_range *groups; /* those of the base that have live rows */
    size_t group_count;
    frz_stitch *lineage[2]; /* _row_id, _last_updated_sequence_number */
    const frz_type *lineage_types[2];
    size_t lineage_count;
    frz_parquet_writer *writer;
} rewriting;

/* ---- providers ---- */

/* Open a provider once, and check that it fits its entry. */
static frz_code open_part(rewriting *work, size_t index, frz_error *err)
{
    rewrite_part *part = &work->parts[index];
    const frz_column_file *column_file = index == 0 ? NULL : &work->entry->column_files[index - 1];
    if (part->file != NULL) {
        return FRZ_OK;
    }
    return frz_stitch_open_file(work->attempt->table, work->entry, column_file, &part->file, err);
}

/* ---- which fields are written, and how ---- */

/* Same kinds and parameters with the same field ids in the same order at every depth. */
static bool same_layout(const frz_type *a, const frz_type *b)
{
    if (!frz_type_is_nested(a) || a->id != b->id) {
        return !frz_type_is_nested(a) && !frz_type_is_nested(b) && frz_type_same_shape(a, b);
    }
    if (a->field_count != b->field_count) {
        return false;
    }
    for (size_t i = 0; i < a->field_count; i++) {
        if (a->fields[i].id != b->fields[i].id ||
            !same_layout(a->fields[i].type, b->fields[i].type)) {
            return false;
        }
    }
    return true;
}

static const frz_field *child_by_id(const frz_type *type, int32_t id)
{
    for (size_t i = 0; type != NULL && i < type->field_count; i++) {
        if (type->fields[i].id == id) {
            return &type->fields[i];
        }
    }
    return NULL;
}

/* The field as the table has it, optional exactly where the source is. source NULL: everywhere;
 * map keys are never optional. */
static frz_code with_repetition(frz_arena *arena, const frz_field *field, const frz_field *source,
                                frz_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type *type = NULL;
    *out = *field;
    out->required = source != NULL && source->required;
    if (!frz_type_is_nested(field->type)) {
        return FRZ_OK;
    }
    type = frz_arena_alloc(arena, sizeof *type);
    frz_field *fields = frz_arena_array(arena, field->type->field_count, sizeof *fields);
    if (type == NULL || fields == NULL) {
        return frz_fail_nomem(err, field->type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < field->type->field_count; i++) {
        const frz_field *child = &field->type->fields[i];
        const frz_field *twin = source == NULL ? NULL : child_by_id(source->type, child->id);
        FRZ_TRY(with_repetition(arena, child, twin, &fields[i], err));
        fields[i].required = fields[i].required || (field->type->id == FRZ_TYPE_MAP && i == 0);
    }
    *type = *field->type;
    type->fields = fields;
    out->type = type;
out:
    return rc;
}

static frz_code add_column(rewriting *work, const frz_field *field, size_t part,
                           const frz_field *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    rewrite_column *column = &work->columns[work->column_count];
    *column = (rewrite_column){.field = field, .part = part};
    column->can_splice = source != NULL && same_layout(source->type, field->type);
    FRZ_TRY(frz_type_struct_of(&work->arena, field, 1, &column->request, err));
    FRZ_TRY(with_repetition(&work->arena, field, work->columns_only ? NULL : source,
                            &work->written[work->column_count], err));
    work->column_count++;
out:
    return rc;
}

static frz_code plan_column(rewriting *work, const frz_field *field, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t part = 0;
    const frz_field *source = NULL;
    if (field->type->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK; /* never stored: always null */
    }
    FRZ_TRY(frz_entry_part(work->entry, field, &part, err));
    if (part == 0 && work->columns_only) {
        goto out;
    }
    if (part == FRZ_PART_MIXED) {
        FRZ_TRY(add_column(work, field, part, NULL, err));
        goto out;
    }
    FRZ_TRY(open_part(work, part, err));
    source = frz_type_field_by_id(frz_data_file_type(work->parts[part].file), field->id);
    if (source != NULL) {
        FRZ_TRY(add_column(work, field, part, source, err));
    } else if (part > 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "column file %s does not store field %d (\"%.*s\"), which its manifest "
                      "entry lists",
                      frz_data_file_location(work->parts[part].file), field->id,
                      FRZ_STR_ARG(field->name));
    }
out:
    return rc;
}

static frz_code plan_columns(rewriting *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *schema = work->attempt->schema->type;
    size_t most = schema->field_count;
    work->columns = frz_arena_array(&work->arena, most, sizeof *work->columns);
    work->written = frz_arena_array(&work->arena, most + 2, sizeof *work->written);
    if (work->columns == NULL || work->written == NULL) {
        return frz_fail_nomem(err, most * sizeof *work->columns);
    }
    FRZ_TRY(open_part(work, 0, err)); /* its row groups are kept in any case */
    for (size_t i = 0; i < schema->field_count; i++) {
        FRZ_TRY(plan_column(work, &schema->fields[i], err));
    }
    size_t count = work->column_count;
    if (!work->columns_only) {
        work->written[count++] = frz_field_row_id;
    }
    work->written[count++] = frz_field_last_updated;
    work->lineage_count = count - work->column_count;
    FRZ_TRY(frz_type_struct_of(&work->arena, work->written, count, &work->type, err));
out:
    return rc;
}

/* ---- row groups ---- */

static frz_code plan_groups(rewriting *work, frz_error *err)
{
    size_t count;
    int64_t start = 0;
    const int64_t *ends = frz_data_file_group_ends(work->parts[0].file, &count);
    work->groups = frz_arena_array(&work->arena, count, sizeof *work->groups);
    if (work->groups == NULL) {
        return frz_fail_nomem(err, count * sizeof *work->groups);
    }
    for (size_t i = 0; i < count; i++) {
        frz_row_range rows = {start, ends[i]};
        if (frz_live_rows_count(work->rows, rows) > 0) {
            work->groups[work->group_count++] = rows;
        }
        start = ends[i];
    }
    return FRZ_OK;
}

/* The row group of a file that holds exactly these rows. Groups without rows may stand between. */
static bool find_group(const frz_data_file *file, frz_row_range rows, size_t *out)
{
    size_t count;
    const int64_t *ends = frz_data_file_group_ends(file, &count);
    size_t low = 0, high = count;
    while (low < high) { /* the first group that ends at rows.end or later */
        size_t middle = low + (high - low) / 2;
        if (ends[middle] < rows.end) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *out = low;
    return low < count && ends[low] == rows.end && (low == 0 ? 0 : ends[low - 1]) == rows.start;
}

/* ---- writing ---- */

/* Rows that this commit changes have no number of their own. */
static frz_code inherit_number(const rewriting *work, struct ArrowArray *numbers, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = work->attempt->env;
    size_t bytes = frz_bitmap_bytes(numbers->length) + 8;
    uint8_t *older = frz_alloc_zero(env, 1, bytes);
    if (older == NULL) {
        return frz_fail_nomem(err, bytes);
    }
    for (int64_t i = 0; i < numbers->length; i++) {
        frz_bit_put(older, i, frz_get_i64(numbers, i) != work->attempt->sequence_number);
    }
    if (frz_bitmap_count(older, 0, numbers->length) < numbers->length) {
        rc = frz_live_hide(env, older, numbers, err);
    }
    frz_free(env, older);
    return rc;
}

/* Append the live rows of the one column that a batch has, and release it. */
static frz_code append_batch(rewriting *work, const frz_type *type, size_t index, frz_batch *batch,
                             frz_error *err)
{
    struct ArrowArray *column = batch->array.children[0];
    frz_code rc =
        frz_live_rows_pick(work->rows, type->fields[0].type, batch->first_row, column, err);
    if (rc == FRZ_OK && type->fields[0].id == FRZ_ID_LAST_UPDATED) {
        rc = inherit_number(work, column, err);
    }
    if (rc == FRZ_OK && column->length > 0) {
        rc = frz_parquet_writer_append_column(work->writer, index, column, err);
    }
    frz_array_release(&batch->array);
    return rc;
}

static frz_code decode_column(rewriting *work, const rewrite_column *column, size_t index,
                              frz_row_range rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_reader *reader = NULL;
    frz_read_request request = {.projection = column->request, .ranges = &rows, .range_count = 1};
    FRZ_TRY(frz_data_reader_open(work->parts[column->part].file, &request, &reader, err));
    for (;;) {
        frz_batch batch = {0};
        FRZ_TRY(frz_data_reader_next(reader, &batch, err));
        FRZ_TRY(append_batch(work, column->request, index, &batch, err));
    }
out:
    frz_data_reader_close(reader);
    return rc == FRZ_END ? FRZ_OK : rc;
}

/* Append what a stitching reader yields until the given row. */
static frz_code append_stitched(rewriting *work, frz_stitch *stitch, const frz_type *type,
                                size_t index, int64_t end, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t at = -1; at < end;) {
        frz_batch batch = {0};
        rc = frz_stitch_next(stitch, &batch, err);
        if (rc == FRZ_END) {
            return frz_fail(err, FRZ_E_INTERNAL, "rows of %s end before row %lld",
                            frz_data_file_location(work->parts[0].file), (long long)end);
        }
        FRZ_TRY(rc);
        at = batch.first_row + batch.array.length;
        FRZ_TRY(append_batch(work, type, index, &batch, err));
    }
out:
    return rc;
}

static frz_code stitch_column(rewriting *work, const rewrite_column *column, size_t index,
                              frz_row_range rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_stitch_request request = {.projection = column->request, .ranges = &rows, .range_count = 1};
    frz_live_rows_request(work->rows, &request);
    FRZ_TRY(frz_stitch_open(work->attempt->table, work->entry, &request, &stitch, err));
    FRZ_TRY(append_stitched(work, stitch, column->request, index, rows.end, err));
out:
    frz_stitch_close(stitch);
    return rc;
}

static frz_code write_column(rewriting *work, size_t index, frz_row_range rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const rewrite_column *column = &work->columns[index];
    size_t group;
    bool done = false;
    bool all_live = frz_live_rows_count(work->rows, rows) == rows.end - rows.start;
    if (column->part == FRZ_PART_MIXED || !all_live) {
        return stitch_column(work, column, index, rows, err);
    }
    const frz_data_file *file = work->parts[column->part].file;
    if (column->can_splice && find_group(file, rows, &group)) {
        FRZ_TRY(frz_parquet_writer_splice(work->writer, index, file, group, column->field->id,
                                          &done, err));
    }
    if (!done) {
        FRZ_TRY(decode_column(work, column, index, rows, err));
    }
out:
    return frz_context(err, rc, "rewriting %s, column \"%.*s\"",
                       frz_data_file_location(work->parts[0].file),
                       FRZ_STR_ARG(column->field->name));
}

static frz_code write_group(rewriting *work, frz_row_range rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(
        frz_parquet_writer_begin_group(work->writer, frz_live_rows_count(work->rows, rows), err));
    for (size_t i = 0; i < work->column_count; i++) {
        FRZ_TRY(write_column(work, i, rows, err));
    }
    for (size_t i = 0; i < work->lineage_count; i++) {
        FRZ_TRY(append_stitched(work, work->lineage[i], work->lineage_types[i],
                                work->column_count + i, rows.end, err));
    }
    FRZ_TRY(frz_parquet_writer_end_group(work->writer, err));
out:
    return rc;
}

/* Each lineage column has a reader of its own that moves from row group to row group, because a
 * group is written column by column. */
static frz_code open_lineage(rewriting *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < work->lineage_count && work->group_count > 0; i++) {
        frz_stitch_request request = {.ranges = work->groups, .range_count = work->group_count};
        FRZ_TRY(frz_type_struct_of(&work->arena, &work->written[work->column_count + i], 1,
                                   &work->lineage_types[i], err));
        request.projection = work->lineage_types[i];
        frz_live_rows_request(work->rows, &request);
        FRZ_TRY(
            frz_stitch_open(work->attempt->table, work->entry, &request, &work->lineage[i], err));
    }
out:
    return rc;
}

/* ---- statistics ---- */

/* What the chunks did not tell, the old entry may: it describes the same values, or, if rows were
 * left out, these and more. */
static frz_code complete_stats(frz_arena *arena, const frz_entry *entry, bool same_rows,
                               frz_field_stats *stats, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field_stats *old = frz_entry_stats(entry, stats->field_id);
    if (old == NULL || !frz_type_same_shape(old->type, stats->type)) {
        return FRZ_OK;
    }
    bool takes = false;
    if (!stats->has_lower && old->has_lower) {
        FRZ_TRY(frz_value_copy(arena, &old->lower, &stats->lower, err));
        stats->has_lower = takes = true;
    }
    if (!stats->has_upper && old->has_upper) {
        FRZ_TRY(frz_value_copy(arena, &old->upper, &stats->upper, err));
        stats->has_upper = takes = true;
    }
    if (takes) {
        stats->tight_bounds = same_rows ? old->tight_bounds : 0;
    }
    if (!same_rows) {
        return FRZ_OK;
    }
    if (stats->value_count == FRZ_STAT_UNKNOWN) {
        stats->value_count = old->value_count;
    }
    if (stats->null_value_count == FRZ_STAT_UNKNOWN) {
        stats->null_value_count = old->null_value_count;
    }
    if (stats->nan_value_count == FRZ_STAT_UNKNOWN) {
        stats->nan_value_count = old->nan_value_count;
    }
    if (stats->total_bytes == FRZ_STAT_UNKNOWN) {
        stats->total_bytes = old->total_bytes;
    }
out:
    return rc;
}

/* ---- one file ---- */

static frz_code rewriting_begin(rewriting *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    work->part_count = work->entry->column_file_count + 1;
    work->parts = frz_arena_array(&work->arena, work->part_count, sizeof *work->parts);
    if (work->parts == NULL) {
        return frz_fail_nomem(err, work->part_count * sizeof *work->parts);
    }
    FRZ_TRY(plan_columns(work, err));
    FRZ_TRY(plan_groups(work, err));
    FRZ_TRY(open_lineage(work, err));
out:
    return rc;
}

static void rewriting_end(rewriting *work)
{
    frz_parquet_writer_abort(work->writer);
    for (size_t i = 0; i < 2; i++) {
        frz_stitch_close(work->lineage[i]);
    }
    for (size_t i = 0; work->parts != NULL && i < work->part_count; i++) {
        frz_data_file_close(work->parts[i].file);
    }
    frz_arena_reset(&work->arena);
}

static frz_code write_file(rewriting *work, const char *location,
                           const frz_parquet_write_options *options, bool durable, frz_arena *arena,
                           frz_parquet_written *written, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_parquet_writer_open(work->attempt->env, location, work->type, options,
                                    &work->writer, err));
    for (size_t i = 0; i < work->group_count; i++) {
        FRZ_TRY(write_group(work, work->groups[i], err));
    }
    rc = frz_parquet_writer_finish(work->writer, durable, arena, written, err);
    work->writer = NULL;
out:
    return rc;
}

/* Write the file, track it, and say what it is. */
static frz_code rewrite(rewriting *work, const char *ending,
                        const frz_parquet_write_options *options, bool durable, frz_arena *arena,
                        frz_rewritten *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_commit_attempt *attempt = work->attempt;
    char *location = NULL;
    frz_parquet_written written = {0};
    FRZ_TRY(rewriting_begin(work, err));
    FRZ_TRY(frz_commit_new_path(attempt, ending, &location, err));
    FRZ_TRY(write_file(work, location, options, durable, arena, &written, err));
    rc = frz_commit_track(attempt, location, written.file_size, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(attempt->env, location, NULL);
        goto out;
    }
    *out = (frz_rewritten){.record_count = work->rows->count,
                           .file_size = written.file_size,
                           .split_offsets = written.split_offsets,
                           .split_count = written.split_count,
                           .stats = written.stats,
                           .stats_count = written.stats_count};
    out->location = frz_arena_strdup(arena, frz_str_from(location));
    rc = out->location == NULL ? frz_fail_nomem(err, strlen(location)) : FRZ_OK;
out:
    frz_free(attempt->env, location);
    return rc;
}

frz_code frz_rewrite_file(const frz_commit_attempt *attempt, const frz_entry *entry,
                          const frz_live_rows *rows, const frz_parquet_write_options *options,
                          bool durable, frz_arena *arena, frz_rewritten *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    rewriting work = {.attempt = attempt, .entry = entry, .rows = rows};
    frz_arena_init(&work.arena, attempt->env, FRZ_ARENA_NO_LIMIT);
    *out = (frz_rewritten){0};
    if (rows->count == 0) {
        goto out;
    }
    FRZ_TRY(rewrite(&work, ".parquet", options, durable, arena, out, err));
    for (size_t i = 0; i < out->stats_count; i++) {
        FRZ_TRY(complete_stats(arena, entry, rows->bits == NULL, &out->stats[i], err));
    }
    /* the result may outlive the version of the table that the types belong to */
    FRZ_TRY(frz_stats_own_types(arena, out->stats, out->stats_count, err));
out:
    rewriting_end(&work);
    return rc;
}

/* ---- one column file of several ---- */

frz_code frz_join_column_files(const frz_commit_attempt *attempt, const frz_entry *entry,
                               const frz_parquet_write_options *options, bool durable,
                               frz_arena *arena, frz_rewritten *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_live_rows all = {.live.env = attempt->env};
    rewriting work = {.attempt = attempt, .entry = entry, .rows = &all, .columns_only = true};
    frz_arena_init(&work.arena, attempt->env, FRZ_ARENA_NO_LIMIT);
    *out = (frz_rewritten){0};
    FRZ_TRY(frz_live_rows_of(attempt->env, NULL, entry->record_count, &all, err));
    FRZ_TRY(rewrite(&work, "-columns.parquet", options, durable, arena, out, err));
    out->stats = NULL; /* the entry's hold */
    out->stats_count = 0;
    FRZ_TRY(frz_column_file_ids(work.type, arena, &out->field_ids, &out->field_id_count, err));
out:
    rewriting_end(&work);
    frz_live_rows_reset(&all);
    return rc;
}
