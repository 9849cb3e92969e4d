/*
 * The stitching reader.
 *
 * Invariants:
 *  1. Each projected field has one provider: the column file that lists it, else the base file if
 *     it stores the field, else a constant (its default, or null).
 *  2. A file is opened only if it provides something, or if only its schema can tell whether it
 *     does (the base file, for fields that no column file lists).
 *  3. Every opened file has exactly its recorded size and the entry's number of rows.
 *  4. All parts are read over the same row ranges. A batch that comes out covers rows of one batch
 *     of every part; columns are taken over by reference, never copied, except lineage columns in
 *     which nulls are replaced by what they stand for.
 *  5. Every part leaves out rows only by the fields that it provides, and the next part only looks
 *     at the rows that are left, so that the ranges are common to all.
 *
 * spec: column files, reader procedure
 */
#include "scan/scan_internal.h"

#define DEFAULT_ROWS 65536
#define LEAST_PARALLEL_ROWS 4096

/* A file that provides columns, and the batch that it stands in. */
typedef struct stitch_part {
    frz_data_file *file;
    frz_data_reader *reader;
    const frz_column_file *column_file; /* NULL: the base file */
    const frz_type *projection;
    frz_batch batch;
    int64_t used; /* rows of the batch handed out */
} stitch_part;

/* Where an output column comes from. */
typedef struct stitch_column {
    size_t part;  /* STITCH_CONSTANT: no file */
    size_t index; /* in the part's projection */
} stitch_column;

#define STITCH_CONSTANT SIZE_MAX

struct frz_stitch {
    const frz_env *env;
    const frz_table *table;
    const frz_entry *entry;
    frz_arena arena;
    const frz_type *projection;
    frz_row_range *ranges;
    size_t range_count;
    size_t range; /* for constants only: the range that is read */
    int64_t next_row;
    int64_t rows_left; /* of all ranges */
    int64_t max_rows, max_bytes;
    stitch_part *parts;
    size_t part_count;
    stitch_column *columns;
    frz_stitch_counts counts;
};

static frz_str entry_location(const frz_stitch *stitch)
{
    return stitch->entry->location;
}

/* ---- providers ---- */

static bool lists_id(const frz_column_file *file, int32_t id)
{
    for (size_t i = 0; i < file->field_id_count; i++) {
        if (file->field_ids[i] == id) {
            return true;
        }
    }
    return false;
}

static frz_code stored_partly(const frz_stitch *stitch, const frz_field *field, frz_error *err)
{
    return frz_fail(err, FRZ_E_UNSUPPORTED,
                    "unsupported: struct \"%.*s\" (field id %d) of %.*s is stored partly in a "
                    "column file",
                    FRZ_STR_ARG(field->name), field->id, FRZ_STR_ARG(entry_location(stitch)));
}

typedef struct stray_check {
    const frz_entry *entry;
    const frz_column_file *provider; /* of the top-level field */
    bool found;                      /* a descendant that another column file lists */
} stray_check;

static frz_code check_stray(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    stray_check *check = ctx;
    const frz_column_file *provider = frz_entry_provider(check->entry, field->id);
    (void)in_repeated;
    (void)err;
    check->found = check->found || (provider != NULL && provider != check->provider);
    return FRZ_OK;
}

/* The provider of a top-level field; a struct of which parts are listed elsewhere is refused. spec:
 * field_ids, structs */
static frz_code find_provider(const frz_stitch *stitch, const frz_field *field,
                              const frz_column_file **out, frz_error *err)
{
    stray_check check = {.entry = stitch->entry,
                         .provider = frz_entry_provider(stitch->entry, field->id)};
    if (field->type->id == FRZ_TYPE_STRUCT) {
        frz_code rc = frz_type_visit(field->type, check_stray, &check, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        if (check.found) {
            return stored_partly(stitch, field, err);
        }
    }
    *out = check.provider;
    return FRZ_OK;
}

/* ---- opening ---- */

static bool any_field_has_id(const frz_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id != FRZ_ID_NONE) {
            return true;
        }
    }
    return type->field_count == 0;
}

/* A file that was cut or exchanged shows in its size, before a byte of it is believed. */
static frz_code check_size(const frz_env *env, const char *location, int64_t recorded,
                           frz_error *err)
{
    uint64_t size = 0;
    frz_code rc = frz_file_stat(env, location, &size, err);
    if (rc == FRZ_OK && (recorded < 0 || size != (uint64_t)recorded)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: file has %llu bytes, its manifest entry says %lld",
                      location, (unsigned long long)size, (long long)recorded);
    }
    return rc;
}

frz_code frz_stitch_open_file(const frz_table *table, const frz_entry *entry,
                              const frz_column_file *column_file, frz_data_file **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_data_file *file = NULL;
    /* column files always carry ids; names must not give them any */
    const frz_name_mapping *mapping =
        column_file == NULL && table->has_mapping ? &table->mapping : NULL;
    FRZ_TRY(frz_table_resolve_access(
        table, column_file == NULL ? entry->location : column_file->location, &location, err));
    FRZ_TRY(check_size(table->env, location,
                       column_file == NULL ? entry->file_size : column_file->file_size, err));
    FRZ_TRY(frz_data_file_open(table->env, location, mapping, &file, err));
    if (frz_data_file_row_count(file) != entry->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: file has %lld rows, its manifest entry says %lld",
                      location, (long long)frz_data_file_row_count(file),
                      (long long)entry->record_count);
        goto out;
    }
    if (!any_field_has_id(frz_data_file_type(file))) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%s: columns have no field ids and no name mapping gives them any", location);
        frz_hint(err, "set the table property schema.name-mapping.default");
        goto out;
    }
    *out = file;
    file = NULL;
out:
    frz_data_file_close(file);
    frz_free(table->env, location);
    return rc;
}

/* The part for a provider, opened on first use. */
static frz_code part_for(frz_stitch *stitch, const frz_column_file *provider, size_t *index,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < stitch->part_count; i++) {
        if (stitch->parts[i].column_file == provider) {
            *index = i;
            return FRZ_OK;
        }
    }
    stitch_part *part = &stitch->parts[stitch->part_count];
    *part = (stitch_part){.column_file = provider};
    FRZ_TRY(frz_stitch_open_file(stitch->table, stitch->entry, provider, &part->file, err));
    if (provider == NULL) {
        stitch->counts.base_files_opened++;
    } else {
        stitch->counts.column_files_opened++;
    }
    *index = stitch->part_count++;
out:
    return rc;
}

static bool is_lineage(int32_t id)
{
    return id == FRZ_ID_ROW_ID || id == FRZ_ID_LAST_UPDATED;
}

static frz_code not_stored(const frz_column_file *file, const frz_field *field, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT,
                    "%.*s: column file lists field id %d (\"%.*s\") but does not store it",
                    FRZ_STR_ARG(file->location), field->id, FRZ_STR_ARG(field->name));
}

typedef struct listed_check {
    frz_stitch *stitch;
    const frz_field *top; /* a struct */
    const frz_column_file *provider;
    const frz_type *stored; /* the provider's schema */
    bool any_listed;        /* descendants are listed one by one, else the struct as a whole */
} listed_check;

static frz_code find_listed(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    listed_check *check = ctx;
    (void)err;
    check->any_listed = check->any_listed || (!in_repeated && lists_id(check->provider, field->id));
    return FRZ_OK;
}

/* What is listed must be stored. What is not listed, or not stored as part of a whole, comes from
 * the base file: that is refused, unless the base file has nothing either. */
static frz_code check_listed(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const listed_check *check = ctx;
    size_t base;
    bool listed = lists_id(check->provider, field->id);
    bool stored = frz_type_find_id(check->stored, field->id) != NULL;
    if (in_repeated || field->type->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK;
    }
    if (listed && !stored) {
        return not_stored(check->provider, field, err);
    }
    if (listed || (stored && !check->any_listed)) {
        return FRZ_OK;
    }
    FRZ_TRY(part_for(check->stitch, NULL, &base, err));
    if (stored ||
        frz_type_find_id(frz_data_file_type(check->stitch->parts[base].file), field->id) != NULL) {
        rc = stored_partly(check->stitch, check->top, err);
    }
out:
    return rc;
}

/* A struct that a column file provides is read from there alone. spec: field_ids, structs */
static frz_code check_struct(frz_stitch *stitch, const frz_field *field,
                             const frz_column_file *provider, size_t part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    listed_check check = {.stitch = stitch,
                          .top = field,
                          .provider = provider,
                          .stored = frz_data_file_type(stitch->parts[part].file)};
    FRZ_TRY(frz_type_visit(field->type, find_listed, &check, err));
    FRZ_TRY(frz_type_visit(field->type, check_listed, &check, err));
out:
    return rc;
}

/* No file stores the field: it reads as its default, or null. */
static frz_code check_constant(const frz_stitch *stitch, const frz_field *field, frz_error *err)
{
    if (field->required && field->initial_default == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%.*s: required column \"%.*s\" (field id %d) is not stored and has no "
                        "default",
                        FRZ_STR_ARG(entry_location(stitch)), FRZ_STR_ARG(field->name), field->id);
    }
    return FRZ_OK;
}

static frz_code choose_column(frz_stitch *stitch, size_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = &stitch->projection->fields[i];
    const frz_column_file *provider = NULL;
    size_t part = STITCH_CONSTANT;
    stitch->columns[i].part = STITCH_CONSTANT;
    if (field->type->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK; /* never stored, always null */
    }
    FRZ_TRY(find_provider(stitch, field, &provider, err));
    FRZ_TRY(part_for(stitch, provider, &part, err));
    if (frz_data_file_has_field(stitch->parts[part].file, field->id)) {
        stitch->columns[i].part = part;
        if (provider != NULL && field->type->id == FRZ_TYPE_STRUCT) {
            rc = check_struct(stitch, field, provider, part, err);
        }
    } else if (provider != NULL) {
        rc = not_stored(provider, field, err);
    } else if (!is_lineage(field->id)) {
        rc = check_constant(stitch, field, err);
    }
out:
    return rc;
}

/* Deleted rows may be null in a column file whatever the table says, and optional columns of a
 * base file may be read as required: nulls are checked after reading. */
static frz_field relaxed(const frz_field *field)
{
    frz_field copy = *field;
    copy.required = false;
    return copy;
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

/* What a part is asked for. */
static frz_code project_part(frz_stitch *stitch, size_t part_index, frz_error *err)
{
    size_t n = 0;
    frz_field *fields =
        frz_arena_array(&stitch->arena, stitch->projection->field_count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, stitch->projection->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < stitch->projection->field_count; i++) {
        if (stitch->columns[i].part == part_index) {
            stitch->columns[i].index = n;
            fields[n++] = relaxed(&stitch->projection->fields[i]);
        }
    }
    return frz_type_struct_of(&stitch->arena, fields, n, &stitch->parts[part_index].projection,
                              err);
}

/* Fields of a part whose bounds mean what is read: a null in a lineage column stands for a number
 * that they do not know. */
static frz_code provided_by(frz_stitch *stitch, const stitch_part *part, const frz_type **out,
                            frz_error *err)
{
    size_t n = 0;
    size_t all = part->projection->field_count;
    frz_field *fields = frz_arena_array(&stitch->arena, all, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, all * sizeof *fields);
    }
    for (size_t i = 0; i < all; i++) {
        if (!is_lineage(part->projection->fields[i].id)) {
            fields[n++] = part->projection->fields[i];
        }
    }
    return frz_type_struct_of(&stitch->arena, fields, n, out, err);
}

/* Leave out rows for which a part proves that the filter is not true. */
static frz_code prune_part(frz_stitch *stitch, const stitch_part *part,
                           const frz_bound_expr *filter, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_prune_report *total = &stitch->counts.pruned;
    frz_prune_report report = {0};
    frz_prune_request request = {
        .filter = filter, .ranges = stitch->ranges, .range_count = stitch->range_count};
    FRZ_TRY(provided_by(stitch, part, &request.provided, err));
    FRZ_TRY(frz_data_file_prune(part->file, &request, &stitch->arena, &stitch->ranges,
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
            FRZ_TRY(prune_part(stitch, &stitch->parts[i], filter, err));
        }
    }
    count_rows(stitch);
    total->rows_left = stitch->rows_left;
    if (total->rows_left < total->rows) {
        frz_log(stitch->env, "scan", FRZ_LOG_DEBUG,
                "%.*s: %lld of %lld rows left; of %lld row groups skipped by statistics %lld, by "
                "dictionaries %lld, by bloom filters %lld; pages by the page index %lld",
                FRZ_STR_ARG(entry_location(stitch)), (long long)total->rows_left,
                (long long)total->rows, (long long)total->groups,
                (long long)total->groups_by_statistics, (long long)total->groups_by_dictionary,
                (long long)total->groups_by_bloom, (long long)total->pages_by_index);
    }
out:
    return rc;
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
                                .no_ahead = stitch->part_count > 1};
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
    frz_arena_init(&stitch->arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (entry->has_deletion_vector) {
        rc = frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: deletion vector of %.*s",
                      FRZ_STR_ARG(entry->location));
        goto out;
    }
    FRZ_TRY(check_row_ids(entry, err));
    FRZ_TRY(frz_type_copy(&stitch->arena, request->projection, &stitch->projection, err));
    FRZ_TRY(copy_ranges(stitch, request, err));
    stitch->parts =
        frz_arena_array(&stitch->arena, entry->column_file_count + 1, sizeof *stitch->parts);
    stitch->columns = frz_arena_array(&stitch->arena, stitch->projection->field_count + 1,
                                      sizeof *stitch->columns);
    if (stitch->parts == NULL || stitch->columns == NULL) {
        rc = frz_fail_nomem(err, sizeof *stitch->parts);
        goto out;
    }
    for (size_t i = 0; i < stitch->projection->field_count; i++) {
        FRZ_TRY(choose_column(stitch, i, err));
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        FRZ_TRY(project_part(stitch, i, err));
    }
    FRZ_TRY(prune_parts(stitch, request->filter, err));
    for (size_t i = 0; i < stitch->part_count; i++) {
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
    for (size_t i = 0; i < stitch->part_count; i++) {
        frz_array_release(&stitch->parts[i].batch.array);
        frz_data_reader_close(stitch->parts[i].reader);
        frz_data_file_close(stitch->parts[i].file);
    }
    frz_arena_reset(&stitch->arena);
    frz_free(env, stitch);
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
        frz_code rc = part_for(stitch, NULL, &best, err);
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

/* ---- reading ---- */

static bool wants_rows(const stitch_part *part)
{
    return part->reader != NULL && part->batch.array.release == NULL;
}

/* Have rows of a part at hand; FRZ_END at the end. */
static frz_code fill_part(void *ctx, size_t index, frz_error *err)
{
    const frz_stitch *stitch = ctx;
    stitch_part *part = &stitch->parts[index];
    if (!wants_rows(part)) {
        return FRZ_OK;
    }
    part->used = 0;
    frz_code rc = frz_data_reader_next(part->reader, &part->batch, err);
    return rc == FRZ_END && stitch->rows_left > 0
               ? frz_fail(err, FRZ_E_CORRUPT, "%s: file ends %lld rows early",
                          frz_data_file_location(part->file), (long long)stitch->rows_left)
               : rc;
}

/* Several parts are read at once if they hold enough rows to be worth it. */
static frz_code fill_parts(frz_stitch *stitch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t empty = 0;
    for (size_t i = 0; i < stitch->part_count; i++) {
        empty += wants_rows(&stitch->parts[i]);
    }
    if (empty > 1 && stitch->rows_left >= LEAST_PARALLEL_ROWS) {
        return frz_parallel(stitch->env, stitch->part_count, fill_part, stitch, err);
    }
    for (size_t i = 0; i < stitch->part_count; i++) {
        FRZ_TRY(fill_part(stitch, i, err));
    }
out:
    return rc;
}

/* If all columns are constants: rows of one range. */
static frz_code constant_window(frz_stitch *stitch, int64_t *first_row, int64_t *rows)
{
    while (stitch->range < stitch->range_count &&
           stitch->next_row >= stitch->ranges[stitch->range].end) {
        stitch->range++;
        stitch->next_row =
            stitch->range < stitch->range_count ? stitch->ranges[stitch->range].start : 0;
    }
    if (stitch->range == stitch->range_count) {
        return FRZ_END;
    }
    *first_row = stitch->next_row;
    *rows = FRZ_MIN(stitch->ranges[stitch->range].end - stitch->next_row, stitch->max_rows);
    return FRZ_OK;
}

/* Have rows in every part; the window is what all of them have. FRZ_END at the end. */
static frz_code next_window(frz_stitch *stitch, int64_t *first_row, int64_t *rows, frz_error *err)
{
    bool any = false;
    frz_code rc = FRZ_OK;
    FRZ_TRY(fill_parts(stitch, err));
    for (size_t i = 0; i < stitch->part_count; i++) {
        stitch_part *part = &stitch->parts[i];
        if (part->reader == NULL) {
            continue;
        }
        int64_t first = part->batch.first_row + part->used;
        int64_t left = part->batch.array.length - part->used;
        if (any && first != *first_row) {
            return frz_fail(err, FRZ_E_INTERNAL, "%.*s: parts stand at rows %lld and %lld",
                            FRZ_STR_ARG(entry_location(stitch)), (long long)*first_row,
                            (long long)first);
        }
        *rows = any ? FRZ_MIN(*rows, left) : left;
        *first_row = first;
        any = true;
    }
    rc = any ? FRZ_OK : constant_window(stitch, first_row, rows);
out:
    return rc;
}

/* The window is handed out: drop what is used up. */
static void advance(frz_stitch *stitch, int64_t rows)
{
    stitch->next_row += rows;
    stitch->rows_left -= rows;
    for (size_t i = 0; i < stitch->part_count; i++) {
        stitch_part *part = &stitch->parts[i];
        part->used += rows;
        if (part->batch.array.release != NULL && part->used >= part->batch.array.length) {
            frz_array_release(&part->batch.array);
        }
    }
}

/* A lineage column: what is stored, with nulls (or all rows, if nothing is stored) replaced by base
 * + step * row. spec: row lineage */
static frz_code fill_lineage(const frz_env *env, const struct ArrowArray *stored, int64_t rows,
                             int64_t base, int64_t step, int64_t first_row, struct ArrowArray *out,
                             frz_error *err)
{
    frz_buffer *buffers[2] = {NULL, NULL};
    frz_code rc = frz_buffer_new(env, (size_t)rows * sizeof(int64_t), &buffers[1], err);
    if (rc != FRZ_OK) {
        return rc;
    }
    int64_t *values = (int64_t *)(void *)buffers[1]->data;
    for (int64_t i = 0; i < rows; i++) {
        bool has = stored != NULL && !frz_is_null(stored, i);
        values[i] = has ? frz_get_i64(stored, i) : base + step * (first_row + i);
    }
    return frz_array_make(env, rows, 0, buffers, 2, NULL, 0, out, err);
}

static frz_code lineage_column(const frz_stitch *stitch, const frz_field *field,
                               const struct ArrowArray *stored, int64_t first_row, int64_t rows,
                               struct ArrowArray *out, frz_error *err)
{
    const frz_entry *entry = stitch->entry;
    if (field->id == FRZ_ID_LAST_UPDATED) {
        return fill_lineage(stitch->env, stored, rows, entry->sequence_number, 0, first_row, out,
                            err);
    }
    if (entry->first_row_id == FRZ_NO_VALUE) {
        return stored != NULL ? frz_array_slice(stitch->env, stored, 0, rows, out, err)
                              : frz_array_nulls(stitch->env, field->type, rows, out, err);
    }
    return fill_lineage(stitch->env, stored, rows, entry->first_row_id, 1, first_row, out, err);
}

/* One output column of the window. */
static frz_code make_column(const frz_stitch *stitch, size_t i, int64_t first_row, int64_t rows,
                            struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = &stitch->projection->fields[i];
    const stitch_column *column = &stitch->columns[i];
    struct ArrowArray slice = {0};
    if (column->part != STITCH_CONSTANT) {
        const stitch_part *part = &stitch->parts[column->part];
        FRZ_TRY(frz_array_slice(stitch->env, part->batch.array.children[column->index], part->used,
                                rows, &slice, err));
    }
    if (is_lineage(field->id)) {
        FRZ_TRY(lineage_column(stitch, field, slice.release == NULL ? NULL : &slice, first_row,
                               rows, out, err));
    } else if (column->part == STITCH_CONSTANT) {
        FRZ_TRY(
            frz_array_constant(stitch->env, field->type, field->initial_default, rows, out, err));
    } else if (field->required && frz_null_count(&slice) > 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%.*s: required column \"%.*s\" (field id %d) is null in rows %lld to %lld",
                      FRZ_STR_ARG(entry_location(stitch)), FRZ_STR_ARG(field->name), field->id,
                      (long long)first_row, (long long)(first_row + rows - 1));
    } else {
        frz_array_move(&slice, out);
    }
out:
    frz_array_release(&slice);
    return rc;
}

frz_code frz_stitch_next(frz_stitch *stitch, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t first_row = 0, rows = 0;
    size_t made = 0;
    size_t n = stitch->projection->field_count;
    struct ArrowArray *columns = NULL;
    FRZ_TRY(next_window(stitch, &first_row, &rows, err));
    columns = frz_alloc_zero(stitch->env, n, sizeof *columns);
    if (columns == NULL) {
        rc = frz_fail_nomem(err, n * sizeof *columns);
        goto out;
    }
    for (; made < n; made++) {
        FRZ_TRY(make_column(stitch, made, first_row, rows, &columns[made], err));
    }
    made = 0; /* the columns move, also on failure */
    FRZ_TRY(frz_batch_make(stitch->env, rows, columns, n, &out->array, err));
    out->first_row = first_row;
    advance(stitch, rows);
out:
    for (size_t i = 0; i < made; i++) {
        frz_array_release(&columns[i]);
    }
    frz_free(stitch->env, columns);
    return rc;
}
