/*
 * What a statement costs in each mode, from what is known before it is carried out:
 *
 *   rows that match       the condition is evaluated, reading its columns only
 *   sizes of columns      of the column chunks, as footers tell them
 *   which rows match      their bitmap is compressed: so much is in a lineage column or row ids
 *   new values            are taken to be as long as the old ones, constants to be nothing
 *
 * Of many data files some are looked at, evenly spaced, and stand for the others.
 */
#include "files/files_cost.h"
#include <stdlib.h>

#include "codec/codec.h"

#define SAMPLE_FILES 16
#define FILE_BYTES 100 /* of a Parquet file without columns, about */
#define CHUNK_BYTES                                                                                \
    185 /* of a column chunk besides its values: headers, footer, indexes, about                   \
         */
#define VECTOR_FILE_BYTES 80
#define VECTOR_BYTES 190 /* of a deletion vector besides its containers: header, footer, about */
#define GROUP_BYTES ((int64_t)32 << 20)
/* What it costs that rows change their place, in bytes: others who update them at the same time
 * start again, change feeds hold all of their columns, and they come in another order. */
#define MOVE_BYTES ((int64_t)1 << 20)

/* Sums over data files. Doubles: they are scaled, and only their ratio matters. */
typedef struct cost_sums {
    double files, rows;  /* with rows that match; such rows */
    double whole;        /* files of which all rows match */
    double match_read;   /* bytes of the columns of the condition, in all files */
    double compute_read; /* of what else is read to compute, in files with matches */
    double all_bytes;    /* of the columns as they read now, in files with matches */
    double column_file;  /* written by column files */
    double column_tax;
    double rewritten; /* by copy-on-write */
    double moved;     /* by merge-on-read, the new files' own bytes aside */
    double vectors;
    double vector_count;
    double rest_read; /* of all other columns where merge-on-read moves rows */
    double dead;      /* bytes that are read of rows that are deleted: now, and with the matches */
    double dead_after;
} cost_sums;

typedef struct cost_work {
    const frz_cost_request *request;
    const frz_env *env;
    frz_arena *arena;
    frz_codec *codec;
    cost_sums sums;
    const frz_entry *partitions[SAMPLE_FILES]; /* one entry of each with rows that match */
    size_t partition_count;
    size_t leaves;   /* columns of primitive values in a row */
    size_t assigned; /* of these */
} cost_work;

/* One data file. */
typedef struct cost_file {
    const frz_entry *entry;
    frz_row_list rows; /* that match, ascending; empty for all rows */
    frz_row_list gone; /* those and the rows that were deleted before, ascending */
    double count, live, matches;
    double stored;      /* bytes of columns as they are read now */
    double moved_fresh; /* new values of the rows that match alone */
    double kept, fresh; /* of live rows: columns that are kept, and those with new values */
    double overhead;    /* of the base besides chunks */
    double pattern;     /* bytes of telling which rows match */
    double condition, compute;
    double row_ids, groups;
    double touched; /* the share of row groups with rows that match */
} cost_file;

/* ---- columns ---- */

static frz_code count_leaf(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    (void)in_repeated;
    (void)err;
    *(size_t *)ctx += !frz_type_is_nested(field->type);
    return FRZ_OK;
}

static const frz_cost_column *assigned_column(const cost_work *work, int32_t field_id)
{
    for (size_t i = 0; i < work->request->column_count; i++) {
        if (work->request->columns[i].field_id == field_id) {
            return &work->request->columns[i];
        }
    }
    return NULL;
}

static bool reads(const cost_work *work, int32_t field_id)
{
    for (size_t i = 0; i < work->request->read_count; i++) {
        if (work->request->reads[i] == field_id) {
            return true;
        }
    }
    return false;
}

static bool is_in_condition(const cost_work *work, int32_t field_id)
{
    const frz_type *type = work->request->condition->read_type;
    return type != NULL && frz_type_index_of_id(type, field_id) >= 0;
}

static frz_code count_leaves(cost_work *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *schema = work->request->schema->type;
    for (size_t i = 0; i < schema->field_count; i++) {
        const frz_type *one = NULL;
        size_t leaves = 0;
        FRZ_TRY(frz_type_struct_of(work->arena, &schema->fields[i], 1, &one, err));
        FRZ_TRY(frz_type_visit(one, count_leaf, &leaves, err));
        work->leaves += leaves;
        work->assigned += assigned_column(work, schema->fields[i].id) == NULL ? 0 : leaves;
    }
out:
    return rc;
}

/* ---- one data file: sizes ---- */

/* Bytes of a value that no file stores yet, about. */
static double width_of(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        return 0.125;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DATE:
        return 4;
    case FRZ_TYPE_DECIMAL:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
        return 16;
    case FRZ_TYPE_FIXED:
        return (double)type->length;
    case FRZ_TYPE_STRUCT: {
        double sum = 0;
        for (size_t i = 0; i < type->field_count; i++) {
            sum += width_of(type->fields[i].type);
        }
        return sum;
    }
    default: /* times, long, double; lists and maps: who knows */
        return 8;
    }
}

/* Bytes of new values, and of the old ones in rows that do not match. */
static double fresh_bytes(const cost_file *file, const frz_field *field, bool is_constant,
                          double bytes)
{
    double others = (file->live - file->matches) * width_of(field->type);
    if (is_constant) { /* between other values a constant costs them some of their compression */
        return FRZ_MIN(bytes, others) + file->pattern;
    }
    return bytes > 0 ? bytes : file->matches * width_of(field->type);
}

/* A field that takes so many bytes; in_base: also those of deleted rows are among them. */
static void add_column(const cost_work *work, const frz_field *field, double bytes, bool in_base,
                       cost_file *file)
{
    const frz_cost_column *column = assigned_column(work, field->id);
    double of_live = in_base && file->count > 0 ? bytes * file->live / file->count : bytes;
    file->stored += bytes;
    if (is_in_condition(work, field->id)) {
        file->condition += bytes;
    } else if (reads(work, field->id)) {
        file->compute += bytes;
    }
    if (column == NULL) {
        file->kept += of_live;
    } else {
        file->fresh += fresh_bytes(file, field, column->is_constant, of_live);
        file->moved_fresh += column->is_constant || file->live <= 0 ? 0
                             : bytes > 0 ? of_live * file->matches / file->live
                                         : file->matches * width_of(field->type);
    }
}

/* Bytes of a field in one file; files of other formats are taken to have columns of equal size. */
static double field_bytes(const frz_data_file *file, int32_t field_id)
{
    const frz_type *type = frz_data_file_type(file);
    if (frz_data_file_model(file) == &frz_parquet_model) {
        return (double)frz_parquet_field_bytes(file, field_id);
    }
    return frz_data_file_has_field(file, field_id)
               ? (double)frz_data_file_size(file) / (double)FRZ_MAX(type->field_count, (size_t)1)
               : 0;
}

/* The share of row groups that have one of these rows; none given: all have. */
static double groups_with(const frz_row_list *list, const int64_t *ends, size_t count)
{
    double with = 0;
    if (list->count == 0 || count == 0) {
        return 1;
    }
    for (size_t g = 0, i = 0; g < count && i < list->count; g++) {
        with += list->rows[i] < ends[g];
        while (i < list->count && list->rows[i] < ends[g]) {
            i++;
        }
    }
    return with / (double)count;
}

static void add_base(const frz_data_file *base, cost_file *file)
{
    const frz_type *type = frz_data_file_type(base);
    size_t groups = 0;
    double chunks = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        chunks += field_bytes(base, type->fields[i].id);
    }
    const int64_t *ends = frz_data_file_group_ends(base, &groups);
    file->groups = (double)FRZ_MAX(groups, (size_t)1);
    file->touched = groups_with(&file->rows, ends, groups);
    file->overhead = FRZ_MAX((double)file->entry->file_size - chunks, 0);
    file->row_ids = field_bytes(base, FRZ_ID_ROW_ID);
}

static frz_code add_columns(cost_work *work, cost_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry *entry = file->entry;
    const frz_type *schema = work->request->schema->type;
    size_t count = entry->column_file_count + 1;
    frz_data_file **parts = frz_alloc_zero(work->env, count, sizeof *parts);
    if (parts == NULL) {
        return frz_fail_nomem(err, count * sizeof *parts);
    }
    for (size_t i = 0; i < count; i++) {
        const frz_column_file *column_file = i == 0 ? NULL : &entry->column_files[i - 1];
        FRZ_TRY(frz_stitch_open_file(work->request->table, entry, column_file, &parts[i], err));
    }
    add_base(parts[0], file);
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t part = 0;
        FRZ_TRY(frz_entry_part(entry, &schema->fields[i], &part, err));
        part = part == FRZ_PART_MIXED ? 0 : part;
        add_column(work, &schema->fields[i], field_bytes(parts[part], schema->fields[i].id),
                   part == 0, file);
    }
out:
    for (size_t i = 0; i < count; i++) {
        frz_data_file_close(parts[i]);
    }
    frz_free(work->env, parts);
    return rc;
}

/* ---- one data file: rows ---- */

/* Bytes of the bitmap of the rows that match, compressed. */
static frz_code measure_pattern(cost_work *work, cost_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf compressed = FRZ_BUF_INIT(work->env, FRZ_BUF_NO_LIMIT);
    size_t bytes = frz_bitmap_bytes(file->entry->record_count);
    uint8_t *bits = frz_alloc_zero(work->env, 1, bytes + 8);
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    for (size_t i = 0; i < file->rows.count; i++) {
        frz_bit_set(bits, file->rows.rows[i]);
    }
    FRZ_TRY(frz_codec_compress(work->codec, bits, bytes, &compressed, err));
    file->pattern = (double)compressed.len;
out:
    frz_free(work->env, bits);
    frz_buf_reset(&compressed);
    return rc;
}

/* Bytes of the containers that a deletion vector has for ascending rows. */
static double vector_bytes(const frz_row_list *list)
{
    double bytes = 0;
    for (size_t i = 0; i < list->count;) {
        int64_t key = list->rows[i] >> 16;
        double cardinality = 0, runs = 0;
        for (int64_t last = -2; i < list->count && list->rows[i] >> 16 == key; i++) {
            runs += list->rows[i] != last + 1;
            cardinality++;
            last = list->rows[i];
        }
        bytes += 8 + FRZ_MIN(FRZ_MIN(2 * cardinality, 8192), 2 + 4 * runs);
    }
    return bytes;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static frz_code find_rows(cost_work *work, cost_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_cost_request *request = work->request;
    const frz_entry *entry = file->entry;
    frz_live live = {.env = work->env};
    FRZ_TRY(frz_live_open(&live, request->files->deletes, request->table, entry, err));
    FRZ_TRY(frz_row_list_add_deleted(work->env, &file->gone, &live, entry->record_count, err));
    file->count = (double)entry->record_count;
    file->live = file->count - (double)file->gone.count;
    file->matches = file->live;
    if (request->in_bounds) {
        file->pattern = file->count / 8;
    } else if (request->condition->filter != NULL) {
        FRZ_TRY(frz_match_rows(request->table, entry, &live, request->condition, &file->rows, err));
        file->matches = (double)file->rows.count;
        for (size_t i = 0; i < file->rows.count; i++) {
            FRZ_TRY(frz_row_list_add(work->env, &file->gone, file->rows.rows[i], err));
        }
        if (file->gone.count > 1) {
            qsort(file->gone.rows, file->gone.count, sizeof *file->gone.rows, by_number);
        }
        FRZ_TRY(measure_pattern(work, file, err));
    }
out:
    frz_live_reset(&live);
    return rc;
}

/* ---- sums ---- */

static double overhead_of(double leaves, double groups)
{
    return FILE_BYTES + leaves * groups * CHUNK_BYTES;
}

static bool same_partition(const frz_entry *a, const frz_entry *b)
{
    bool same = a->spec_id == b->spec_id && a->partition_count == b->partition_count;
    for (size_t i = 0; same && i < a->partition_count; i++) {
        const frz_value *x = &a->partition[i].value, *y = &b->partition[i].value;
        same = x->is_null == y->is_null &&
               (x->is_null || (x->type->id == y->type->id && frz_value_compare(x, y, true) == 0));
    }
    return same;
}

/* Rows that move go to one new file for each partition. */
static void add_partition(cost_work *work, const frz_entry *entry)
{
    for (size_t i = 0; i < work->partition_count; i++) {
        if (same_partition(work->partitions[i], entry)) {
            return;
        }
    }
    work->partitions[work->partition_count++] = entry;
}

static void add_sums(cost_work *work, const cost_file *f)
{
    cost_sums *s = &work->sums;
    double gone = f->count > 0 ? (f->count - f->live) / f->count : 0;
    double share = f->live > 0 ? f->matches / f->live : 0;
    bool whole = f->matches >= f->live;
    bool deletes = work->request->column_count == 0;
    double footer = overhead_of((double)work->assigned + 1, f->groups);
    double lineage = f->row_ids + f->pattern + 2 * f->groups * CHUNK_BYTES;
    s->match_read += f->condition;
    if (f->matches == 0) {
        return;
    }
    add_partition(work, f->entry);
    s->files++;
    s->rows += f->matches;
    s->whole += whole;
    s->compute_read += f->compute;
    s->all_bytes += f->stored;
    s->rest_read +=
        (work->request->in_bounds ? 1 / f->groups : f->touched) * (f->stored - f->compute);
    s->column_file += f->fresh + f->pattern + footer;
    s->column_tax += f->pattern + footer;
    s->rewritten += whole && deletes
                        ? 0
                        : (deletes ? 1 - share : 1) * (f->kept + f->fresh) + f->overhead + lineage;
    s->moved += share * f->kept + f->moved_fresh + f->pattern;
    s->dead += gone * f->stored;
    s->dead_after += whole ? 0 : (gone + share * (1 - gone)) * f->stored;
    if (!whole) {
        s->vectors += VECTOR_BYTES + vector_bytes(&f->gone);
        s->vector_count++;
    }
}

static frz_code look_at(cost_work *work, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cost_file file = {.entry = entry};
    FRZ_TRY(find_rows(work, &file, err));
    FRZ_TRY(add_columns(work, &file, err));
    add_sums(work, &file);
out:
    frz_row_list_reset(work->env, &file.rows);
    frz_row_list_reset(work->env, &file.gone);
    return rc;
}

/* Let those that were looked at stand for all. */
static void scale(cost_sums *sums, double factor)
{
    double *each[] = {&sums->files,       &sums->rows,         &sums->whole,
                      &sums->match_read,  &sums->compute_read, &sums->all_bytes,
                      &sums->column_file, &sums->column_tax,   &sums->rewritten,
                      &sums->moved,       &sums->vectors,      &sums->vector_count,
                      &sums->dead,        &sums->dead_after,   &sums->rest_read};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(each); i++) {
        *each[i] *= factor;
    }
}

static frz_code look_at_some(cost_work *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_live_files *files = work->request->files;
    size_t some = FRZ_MIN(files->count, (size_t)SAMPLE_FILES);
    double all_rows = 0, rows = 0;
    for (size_t i = 0; i < files->count; i++) {
        all_rows += (double)files->entries[i]->record_count;
    }
    for (size_t i = 0; i < some; i++) {
        const frz_entry *entry = files->entries[i * files->count / some];
        FRZ_TRY(look_at(work, entry, err));
        rows += (double)entry->record_count;
    }
    if (rows > 0 && rows < all_rows) {
        scale(&work->sums, all_rows / rows);
    }
out:
    return rc;
}

/* ---- modes ---- */

static int64_t rounded(double number)
{
    return number >= 9e18 ? INT64_MAX : (int64_t)(number + 0.5);
}

static void add_mode(frz_statement_estimate *out, frz_write_mode mode, bool moves, double files,
                     double written, double read, double tax)
{
    frz_mode_estimate *m = &out->modes[out->mode_count];
    *m = (frz_mode_estimate){.mode = frz_write_mode_name(mode),
                             .files_written = rounded(files),
                             .bytes_written = rounded(written),
                             .bytes_read = rounded(read),
                             .read_tax = rounded(tax)};
    m->cost = rounded(written + read + (double)out->reads_per_write * tax +
                      (moves && files > 0 ? MOVE_BYTES : 0));
    if (m->cost < out->modes[out->cheapest].cost) {
        out->cheapest = out->mode_count;
    }
    out->mode_count++;
}

static void add_update(const cost_work *work, frz_statement_estimate *out)
{
    const cost_sums *s = &work->sums;
    double read = s->match_read + s->compute_read;
    double new_files = (double)work->partition_count;
    double groups = 1 + s->moved / GROUP_BYTES;
    double overhead = new_files * overhead_of((double)work->leaves + 2, groups);
    double vector_file = s->vector_count > 0 ? VECTOR_FILE_BYTES : 0;
    add_mode(out, FRZ_MODE_COLUMN_FILE, false, s->files, s->column_file, read,
             s->column_tax + s->dead);
    add_mode(out, FRZ_MODE_COPY_ON_WRITE, true, s->files, s->rewritten,
             s->match_read + s->all_bytes, 0);
    if (work->request->in_bounds) {
        add_mode(out, FRZ_MODE_MERGE_ON_READ, true, new_files, 0, read + s->rest_read, 0);
        return;
    }
    add_mode(out, FRZ_MODE_MERGE_ON_READ, true, new_files + (s->vector_count > 0),
             s->moved + overhead + s->vectors + vector_file, read + s->rest_read,
             overhead + s->vectors + s->dead_after);
}

static void add_delete(const cost_work *work, frz_statement_estimate *out)
{
    const cost_sums *s = &work->sums;
    double vector_file = s->vector_count > 0 ? VECTOR_FILE_BYTES : 0;
    add_mode(out, FRZ_MODE_MERGE_ON_READ, false, s->vector_count > 0, s->vectors + vector_file,
             s->match_read, s->vectors + s->dead_after);
    add_mode(out, FRZ_MODE_COPY_ON_WRITE, true, s->files - s->whole, s->rewritten,
             s->match_read + (s->rewritten > 0 ? s->all_bytes : 0), 0);
}

frz_code frz_cost_estimate(const frz_cost_request *request, frz_arena *arena,
                           frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_statement_estimate made = {0};
    cost_work work = {.request = request, .env = request->table->env, .arena = arena};
    FRZ_TRY(frz_write_reads(&request->table->metadata, &made.reads_per_write, err));
    FRZ_TRY(frz_codec_new(work.env, FRZ_CODEC_ZSTD, 0, &work.codec, err));
    FRZ_TRY(count_leaves(&work, err));
    FRZ_TRY(look_at_some(&work, err));
    made.rows = rounded(work.sums.rows);
    made.data_files = rounded(work.sums.files);
    if (request->column_count == 0) {
        add_delete(&work, &made);
    } else {
        add_update(&work, &made);
    }
    *out = made;
out:
    frz_codec_free(work.codec);
    return rc;
}

/* ---- the files ---- */

frz_code frz_cost_files_find(const frz_table *table, const frz_bound_expr *filter, frz_arena *arena,
                             frz_cost_files *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const frz_stats_choice all = {.all = true};
    const frz_schema *schema = frz_metadata_current_schema(&table->metadata);
    const frz_snapshot *snapshot = frz_metadata_current_snapshot(&table->metadata);
    *out = (frz_cost_files){0};
    if (snapshot != NULL) {
        FRZ_TRY(frz_tree_open(table, snapshot, schema, &all, &out->tree, err));
    }
    FRZ_TRY(
        frz_live_files_list(table, snapshot, schema, out->tree, filter, arena, &out->files, err));
out:
    return rc;
}

void frz_cost_files_reset(frz_cost_files *files)
{
    frz_live_files_reset(&files->files);
    frz_tree_free(files->tree);
    files->tree = NULL;
}
