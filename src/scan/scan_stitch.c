/*
 * The stitching reader.
 *
 * Invariants:
 *  1. Each projected field, and each member of a struct, has one provider: the column file that
 *     lists it, else the base file if it stores the field, else a constant (the value of an
 * identity partition, its default, or null).
 *  2. A file is opened only if it provides something, or if only its schema can tell whether it
 *     does (the base file, for fields that no column file lists).
 *  3. Every opened file has exactly its recorded size and the entry's number of rows.
 *  4. All parts are read over the same rows, in ranges that end where batches are to end. A batch
 *     that comes out covers rows of one batch of every part; columns and members are taken over,
 *     never copied, except lineage columns in which nulls are replaced by what they stand for.
 *  5. Every part leaves out rows only by the fields that it provides, and the next part only looks
 *     at the rows that are left, so that the ranges are common to all.
 *
 * Opening is here; scan_stitch_provider.c decides who provides a field, scan_stitch_read.c reads,
 * scan_stitch_struct.c puts structs together.
 *
 * spec: column files, reader procedure
 */
#include "scan/scan_internal.h"

#define DEFAULT_ROWS 65536
#define DEFAULT_BYTES (16 << 20)
#define ABOUT 1.125                   /* how much more bytes a batch may have than asked for */
#define MOST_SHARES ((size_t)1 << 20) /* files claim any number of rows */
#define LEAST_CUT 4096 /* rows: parts are not read in smaller batches to have them end together */

/* ---- what parts are asked for ---- */

/*
 * Deleted rows may be null in a column file whatever the table says, at any depth, and optional
 * columns of a base file may be read as required: nulls are checked after reading.
 */
static frz_code relax(frz_stitch *stitch, size_t part, frz_field *field, frz_error *err)
{
    field->required = false;
    return stitch->parts[part].column_file == NULL
               ? FRZ_OK
               : frz_type_make_optional(&stitch->arena, field->type, &field->type, err);
}

/* A struct of what a part provides of some fields. */
static frz_code project_fields(frz_stitch *stitch, size_t part, stitch_source *sources,
                               size_t count, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = 0;
    frz_field *fields = frz_arena_array(&stitch->arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        stitch_source *source = &sources[i];
        if (!stitch_source_uses(source, part)) {
            continue;
        }
        fields[n] = *source->field;
        if (source->place == STITCH_SPREAD) {
            FRZ_TRY(project_fields(stitch, part, source->members, source->field->type->field_count,
                                   &fields[n].type, err));
        }
        FRZ_TRY(relax(stitch, part, &fields[n], err));
        source->index[part] = n++;
    }
    FRZ_TRY(frz_type_struct_of(&stitch->arena, fields, n, out, err));
out:
    return rc;
}

/* The ranges are settled for now. */
static void count_rows(frz_stitch *stitch)
{
    stitch->rows_left = 0;
    for (size_t i = 0; i < stitch->range_count; i++) {
        stitch->rows_left += stitch->ranges[i].end - stitch->ranges[i].start;
    }
    stitch->next_row = stitch->range_count == 0 ? 0 : stitch->ranges[0].start;
}

/* ---- rows that need not be read ---- */

/* Is field i of the part's projection a member of the row as the part has it? */
static bool is_whole(const frz_stitch *stitch, size_t part, size_t i)
{
    for (size_t k = 0; k < stitch->projection->field_count; k++) {
        if (stitch->columns[k].index[part] == i) {
            return stitch->columns[k].place == STITCH_STORED;
        }
    }
    return false;
}

/* Fields of a part whose bounds mean what is read: a null in a lineage column stands for a number
 * that they do not know, and another part may know where a struct is null. */
static frz_code provided_by(frz_stitch *stitch, size_t part, const frz_type **out, frz_error *err)
{
    size_t n = 0;
    const frz_type *projection = stitch->parts[part].projection;
    frz_field *fields = frz_arena_array(&stitch->arena, projection->field_count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, projection->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < projection->field_count; i++) {
        if (!stitch_is_lineage(projection->fields[i].id) && is_whole(stitch, part, i)) {
            fields[n++] = projection->fields[i];
        }
    }
    return frz_type_struct_of(&stitch->arena, fields, n, out, err);
}

/* Leave out rows for which a part proves that the filter is not true. */
static frz_code prune_part(frz_stitch *stitch, size_t part, const frz_bound_expr *filter,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_prune_report *total = &stitch->counts.pruned;
    frz_prune_report report = {0};
    frz_prune_request request = {
        .filter = filter, .ranges = stitch->ranges, .range_count = stitch->range_count};
    FRZ_TRY(provided_by(stitch, part, &request.provided, err));
    FRZ_TRY(frz_data_file_prune(stitch->parts[part].file, &request, &stitch->arena, &stitch->ranges,
                                &stitch->range_count, &report, err));
    total->groups += report.groups;
    total->groups_by_statistics += report.groups_by_statistics;
    total->groups_by_dictionary += report.groups_by_dictionary;
    total->groups_by_bloom += report.groups_by_bloom;
    total->pages_by_index += report.pages_by_index;
out:
    return rc;
}

static frz_code prune_parts(frz_stitch *stitch, const frz_bound_expr *filter, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_prune_report *total = &stitch->counts.pruned;
    total->rows = stitch->rows_left;
    for (size_t i = 0; i < stitch->part_count && filter != NULL; i++) {
        if (stitch->parts[i].projection->field_count > 0) {
            FRZ_TRY(prune_part(stitch, i, filter, err));
        }
    }
    count_rows(stitch);
    total->rows_left = stitch->rows_left;
    if (total->rows_left < total->rows) {
        frz_log(stitch->env, "scan", FRZ_LOG_DEBUG,
                "%.*s: %lld of %lld rows left; of %lld row groups skipped by statistics %lld, by "
                "dictionaries %lld, by bloom filters %lld; pages by the page index %lld",
                FRZ_STR_ARG(stitch_location(stitch)), (long long)total->rows_left,
                (long long)total->rows, (long long)total->groups,
                (long long)total->groups_by_statistics, (long long)total->groups_by_dictionary,
                (long long)total->groups_by_bloom, (long long)total->pages_by_index);
    }
out:
    return rc;
}

/* ---- where batches end ---- */

/* Batches end where row groups of their part do; so that those of all parts end there, ranges do.
 */
static frz_code cut_ranges(frz_stitch *stitch, const frz_data_file *file, frz_error *err)
{
    size_t count = 0, group = 0, n = 0;
    const int64_t *ends = frz_data_file_group_ends(file, &count);
    if (frz_data_file_group_starts(file, &count) == NULL) {
        return FRZ_OK; /* blocks, over which batches go */
    }
    size_t most = stitch->range_count + count;
    frz_row_range *cut = frz_arena_array(&stitch->arena, most, sizeof *cut);
    if (cut == NULL) {
        return frz_fail_nomem(err, most * sizeof *cut);
    }
    for (size_t i = 0; i < stitch->range_count; i++) {
        frz_row_range rest = stitch->ranges[i];
        for (; group < count && ends[group] < rest.end; group++) {
            if (ends[group] - rest.start >= LEAST_CUT) {
                cut[n++] = (frz_row_range){rest.start, ends[group]};
                rest.start = ends[group];
            }
        }
        cut[n++] = rest;
    }
    stitch->ranges = cut;
    stitch->range_count = n;
    return FRZ_OK;
}

/* Ranges of at most so many rows, equal as far as possible. */
static frz_code share_ranges(frz_stitch *stitch, int64_t most, frz_error *err)
{
    size_t n = 0, count = 0;
    for (size_t i = 0; i < stitch->range_count; i++) {
        count += (size_t)((stitch->ranges[i].end - stitch->ranges[i].start) / most) + 1;
    }
    if (count > MOST_SHARES) {
        return FRZ_OK; /* each part makes batches as it goes */
    }
    frz_row_range *shares = frz_arena_array(&stitch->arena, count, sizeof *shares);
    if (shares == NULL) {
        return frz_fail_nomem(err, count * sizeof *shares);
    }
    for (size_t i = 0; i < stitch->range_count; i++) {
        const frz_row_range *range = &stitch->ranges[i];
        int64_t rows = range->end - range->start;
        int64_t pieces = rows / most + (rows % most > 0);
        int64_t share = pieces == 0 ? 0 : rows / pieces + (rows % pieces > 0);
        for (int64_t at = range->start; at < range->end; at += share) {
            shares[n++] = (frz_row_range){at, FRZ_MIN(at + share, range->end)};
        }
    }
    stitch->ranges = shares;
    stitch->range_count = n;
    return FRZ_OK;
}

/* Rows of a batch of all parts: they have about as many bytes as the batch of a single file. */
static void choose_rows(frz_stitch *stitch)
{
    size_t row_bytes = 0;
    double bytes = (double)(stitch->max_bytes > 0 ? stitch->max_bytes : DEFAULT_BYTES) * ABOUT;
    for (size_t i = 0; i < stitch->part_count; i++) {
        row_bytes += stitch->parts[i].row_bytes;
    }
    double rows = FRZ_MAX(bytes / (double)FRZ_MAX(row_bytes, (size_t)1), 1.0);
    stitch->max_rows = (int64_t)FRZ_MIN((double)stitch->max_rows, rows);
}

static const stitch_part *largest_part(const frz_stitch *stitch)
{
    const stitch_part *largest = &stitch->parts[0];
    for (size_t i = 1; i < stitch->part_count; i++) {
        largest = stitch->parts[i].row_bytes > largest->row_bytes ? &stitch->parts[i] : largest;
    }
    return largest;
}

/* Can batches go over row groups? */
static bool is_flat(const frz_type *projection)
{
    bool flat = true;
    for (size_t i = 0; i < projection->field_count; i++) {
        const frz_type *type = projection->fields[i].type;
        flat = flat && !frz_type_is_nested(type) && type->id != FRZ_TYPE_VARIANT;
    }
    return flat;
}

/* Does a row group of the file end inside of a range? */
static bool ends_inside(const frz_stitch *stitch, const frz_data_file *file)
{
    size_t count = 0, group = 0;
    const int64_t *ends = frz_data_file_group_ends(file, &count);
    for (size_t i = 0; i < stitch->range_count; i++) {
        const frz_row_range *range = &stitch->ranges[i];
        while (group < count && ends[group] <= range->start) {
            group++;
        }
        if (group < count && ends[group] < range->end) {
            return true;
        }
    }
    return false;
}

/* Have batches of all parts end in the same rows as far as that can be known before reading: by the
 * rows of a batch, and by the row groups of the largest part and of those that cannot go over them.
 */
static frz_code align_parts(frz_stitch *stitch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (stitch->part_count < 2) {
        return FRZ_OK;
    }
    choose_rows(stitch);
    const stitch_part *largest = largest_part(stitch);
    for (size_t i = 0; i < stitch->part_count; i++) {
        const stitch_part *part = &stitch->parts[i];
        if (part == largest || !is_flat(part->projection)) {
            FRZ_TRY(cut_ranges(stitch, part->file, err));
        }
    }
    if (stitch->max_rows >= LEAST_CUT) {
        FRZ_TRY(share_ranges(stitch, stitch->max_rows, err));
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        stitch_part *part = &stitch->parts[i];
        part->over_groups = part != largest && ends_inside(stitch, part->file);
    }
out:
    return rc;
}

/* ---- opening ---- */

static frz_data_reader *first_reader(const frz_stitch *stitch)
{
    size_t i = 0;
    while (i < stitch->part_count && stitch->parts[i].reader == NULL) {
        i++;
    }
    return i < stitch->part_count ? stitch->parts[i].reader : NULL;
}

/* Rows are left out where one file has all columns, so that no other is to keep step. Numbers of
 * rows, which lineage columns are made of, are lost. */
static const frz_thinning *thinning_of(const frz_stitch *stitch, const stitch_part *part)
{
    for (size_t i = 0; i < stitch->projection->field_count; i++) {
        assert(stitch->thinning == NULL || !stitch_is_lineage(stitch->projection->fields[i].id));
    }
    bool alone =
        stitch->part_count == 1 && part->projection->field_count == stitch->projection->field_count;
    return alone ? stitch->thinning : NULL;
}

static size_t columns_beside(const frz_stitch *stitch, const stitch_part *part)
{
    size_t count = 0;
    for (size_t i = 0; i < stitch->part_count; i++) {
        count += &stitch->parts[i] == part ? 0 : stitch->parts[i].projection->field_count;
    }
    return count;
}

static frz_code open_reader(frz_stitch *stitch, stitch_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (part->projection->field_count == 0) {
        return FRZ_OK; /* opened only to learn that it stores nothing of use */
    }
    frz_read_request request = {.projection = part->projection,
                                .ranges = stitch->ranges,
                                .range_count = stitch->range_count,
                                .max_rows = stitch->max_rows,
                                .max_bytes = stitch->max_bytes,
                                .beside = first_reader(stitch),
                                .columns_beside = columns_beside(stitch, part),
                                .no_ahead = stitch->part_count > 1,
                                .over_groups = part->over_groups,
                                .thinning = thinning_of(stitch, part)};
    FRZ_TRY(frz_data_reader_open(part->file, &request, &part->reader, err));
out:
    return rc;
}

/* spec: row lineage: row i has the id first_row_id + i */
static frz_code check_row_ids(const frz_entry *entry, frz_error *err)
{
    int64_t end;
    if (entry->first_row_id != FRZ_NO_VALUE &&
        !frz_add_i64(entry->first_row_id, entry->record_count, &end)) {
        return frz_fail(err, FRZ_E_CORRUPT, "%.*s: first_row_id %lld leaves no ids for %lld rows",
                        FRZ_STR_ARG(entry->location), (long long)entry->first_row_id,
                        (long long)entry->record_count);
    }
    return FRZ_OK;
}

/* The ranges to read; all rows if none are asked for. */
static frz_code copy_ranges(frz_stitch *stitch, const frz_stitch_request *request, frz_error *err)
{
    size_t n = request->ranges == NULL ? 1 : request->range_count;
    stitch->ranges = frz_arena_array(&stitch->arena, FRZ_MAX(n, (size_t)1), sizeof *stitch->ranges);
    if (stitch->ranges == NULL) {
        return frz_fail_nomem(err, n * sizeof *stitch->ranges);
    }
    if (request->ranges == NULL) {
        stitch->ranges[0] = (frz_row_range){0, stitch->entry->record_count};
    } else if (n > 0) {
        memcpy(stitch->ranges, request->ranges, n * sizeof *stitch->ranges);
    }
    stitch->range_count = n;
    count_rows(stitch);
    return FRZ_OK;
}

frz_code frz_stitch_open(const frz_table *table, const frz_entry *entry,
                         const frz_stitch_request *request, frz_stitch **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = frz_alloc_zero(table->env, 1, sizeof *stitch);
    if (stitch == NULL) {
        return frz_fail_nomem(err, sizeof *stitch);
    }
    stitch->env = table->env;
    stitch->table = table;
    stitch->entry = entry;
    stitch->max_rows = request->max_rows > 0 ? request->max_rows : DEFAULT_ROWS;
    stitch->max_bytes = request->max_bytes;
    stitch->deleted = request->deleted;
    stitch->thinning = request->thinning;
    frz_arena_init(&stitch->arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (entry->has_deletion_vector && !request->with_deleted) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: deletion vector of %.*s",
                      FRZ_STR_ARG(entry->location));
        goto out;
    }
    FRZ_TRY(check_row_ids(entry, err));
    FRZ_TRY(frz_type_copy(&stitch->arena, request->projection, &stitch->projection, err));
    FRZ_TRY(copy_ranges(stitch, request, err));
    stitch->part_limit = entry->column_file_count + 1;
    stitch->parts = frz_arena_array(&stitch->arena, stitch->part_limit, sizeof *stitch->parts);
    stitch->columns = frz_arena_array(&stitch->arena, stitch->projection->field_count + 1,
                                      sizeof *stitch->columns);
    if (stitch->parts == NULL || stitch->columns == NULL) {
        rc = frz_fail_nomem(err, sizeof *stitch->parts);
        goto out;
    }
    for (size_t i = 0; i < stitch->projection->field_count; i++) {
        FRZ_TRY(stitch_choose_column(stitch, i, err));
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        stitch_part *part = &stitch->parts[i];
        FRZ_TRY(project_fields(stitch, i, stitch->columns, stitch->projection->field_count,
                               &part->projection, err));
        part->row_bytes = scan_row_bytes(part->projection);
    }
    FRZ_TRY(prune_parts(stitch, request->filter, err));
    FRZ_TRY(align_parts(stitch, err));
    for (size_t i = 0; i < stitch->part_count && !request->only_prune; i++) {
        FRZ_TRY(open_reader(stitch, &stitch->parts[i], err));
    }
    *out = stitch;
    stitch = NULL;
out:
    frz_stitch_close(stitch);
    return rc;
}

void frz_stitch_close(frz_stitch *stitch)
{
    if (stitch == NULL) {
        return;
    }
    const frz_env *env = stitch->env;
    for (size_t i = stitch->part_count; i-- > 0;) { /* the first lends its working memory */
        frz_array_release(&stitch->parts[i].batch.array);
        frz_data_reader_close(stitch->parts[i].reader);
        frz_data_file_close(stitch->parts[i].file);
    }
    frz_arena_reset(&stitch->arena);
    frz_free(env, stitch);
}

bool frz_stitch_thins(const frz_stitch *stitch)
{
    const frz_data_reader *reader = first_reader(stitch);
    return reader != NULL && frz_data_reader_thins(reader);
}

void frz_stitch_counts_get(const frz_stitch *stitch, frz_stitch_counts *out)
{
    *out = stitch->counts;
}

frz_code frz_stitch_group_ends(frz_stitch *stitch, const int64_t **ends, size_t *count,
                               frz_error *err)
{
    size_t best = 0;
    if (stitch->part_count == 0) {
        frz_code rc = stitch_part_for(stitch, NULL, &best, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        best = stitch->parts[i].column_file == NULL ? i : best;
    }
    *ends = frz_data_file_group_ends(stitch->parts[best].file, count);
    return FRZ_OK;
}
