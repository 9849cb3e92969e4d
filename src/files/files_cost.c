/*
 * What a statement costs in each mode, from what is known before it is carried out:
 *
 *   rows that change      are looked for, reading only what that takes
 *   sizes of columns      of the column chunks, as footers tell them
 *   which rows match      their bitmap is compressed: so much is in a lineage column or row ids
 *   new values            are taken to be as long as the old ones, constants to be nothing, those
 *                         of new rows as long as those of the other rows
 *
 * Of many data files some are looked at, evenly spaced, and stand for the others, unless all are
 * asked for.
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
    double files, rows;  /* that change; rows that are updated or removed */
    double match_read;   /* bytes that finding them reads, in all files */
    double compute_read; /* of what else is read to compute, in files that change */
    /* by column files */
    double column_files, column_file; /* files and bytes */
    double column_tax;
    double holes, hole_count; /* deletion vectors of rows that are removed */
    double dead;              /* bytes of deleted rows that are read later */
    /* by copy-on-write */
    double rewritten_files, rewritten;
    double all_bytes; /* of the columns as they read now */
    /* by merge-on-read */
    double moved;     /* the new files' own bytes aside */
    double rest_read; /* of all other columns where rows move */
    double vectors, vector_count;
    double dead_after;
    /* in bounds: what column files may cost more, in files where they may */
    double over_rewritten, over_moved;
} cost_sums;

typedef struct cost_work {
    const frz_cost_request *request;
    const frz_env *env;
    frz_arena *arena;
    frz_codec *codec;
    int64_t reads_per_write;
    /* Rows are not looked for: column files cost at most what is told then. Copy-on-write has the
     * same data files to write, and of merge-on-read only the row group that it reads at least is
     * counted. */
    bool in_bounds;
    cost_sums sums;
    const frz_entry **partitions; /* one entry of each with rows that are updated */
    size_t partition_count;
    size_t leaves;       /* columns of primitive values in a row */
    size_t assigned;     /* of these */
    double *row_bytes;   /* of each column of the schema, in all files that are looked at */
    double looked_at;    /* live rows of these */
    double inserted;     /* rows, */
    double insert_files; /* files and */
    double insert_bytes; /* their bytes */
} cost_work;

/* One data file. */
typedef struct cost_file {
    const frz_entry *entry;
    frz_cost_rows found;
    double count, live, updated, removed;
    double stored;              /* bytes of columns as they are read now */
    double moved_fresh;         /* new values of the rows that are updated alone */
    double kept, fresh;         /* of live rows: columns that are kept, and those with new values */
    double overhead;            /* of the base besides chunks */
    double pattern;             /* bytes of telling which rows are updated */
    double holes;               /* the same of those that are removed */
    double hole_vector, vector; /* of deleted rows, without those that are updated and with them */
    double condition, compute;
    double row_ids, groups;
    double touched;   /* the share of row groups with rows that are updated */
    double scattered; /* how updated rows lie among the others: 0 together, 1 each for itself */
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

static bool finding_reads(const cost_work *work, int32_t field_id)
{
    const frz_type *type = work->request->finder.read_type;
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

/* Bytes of the values that are left where others get a constant. Their share of the bytes, if they
 * lie together. Between them a constant costs them some of their compression: of numbers all that
 * they have, if it comes in every other row. */
static double bytes_of_others(const cost_file *file, const frz_type *type, double bytes)
{
    double others = file->live - file->updated;
    double share = file->live > 0 ? bytes * others / file->live : 0;
    bool is_number =
        !frz_type_is_nested(type) && type->id != FRZ_TYPE_STRING && type->id != FRZ_TYPE_BINARY;
    double most = is_number ? FRZ_MIN(bytes, others * width_of(type)) : share;
    return share + file->scattered * FRZ_MAX(most - share, 0);
}

/* Bytes of new values, and of the old ones in rows that are not updated. */
static double fresh_bytes(const cost_work *work, const cost_file *file, const frz_field *field,
                          bool is_constant, double bytes)
{
    if (is_constant && !work->in_bounds) {
        return bytes_of_others(file, field->type, bytes) + file->pattern;
    }
    return bytes > 0 ? bytes : file->updated * width_of(field->type);
}

/* A field of the schema that takes so many bytes; in_base: also those of deleted rows are among
 * them. */
static void add_column(const cost_work *work, size_t index, double bytes, bool in_base,
                       cost_file *file)
{
    const frz_field *field = &work->request->schema->type->fields[index];
    const frz_cost_column *column = assigned_column(work, field->id);
    double of_live = in_base && file->count > 0 ? bytes * file->live / file->count : bytes;
    file->stored += bytes;
    work->row_bytes[index] += of_live;
    if (finding_reads(work, field->id)) {
        file->condition += bytes;
    } else if (reads(work, field->id)) {
        file->compute += bytes;
    }
    if (column == NULL) {
        file->kept += of_live;
    } else {
        file->fresh += fresh_bytes(work, file, field, column->is_constant, of_live);
        file->moved_fresh += column->is_constant || file->live <= 0 ? 0
                             : bytes > 0 ? of_live * file->updated / file->live
                                         : file->updated * width_of(field->type);
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

/* The share of row groups that have one of these rows. */
static double groups_with(const frz_row_list *list, const int64_t *ends, size_t count)
{
    double with = 0;
    for (size_t g = 0, i = 0; g < count && i < list->count; g++) {
        with += list->rows[i] < ends[g];
        while (i < list->count && list->rows[i] < ends[g]) {
            i++;
        }
    }
    return with / (double)FRZ_MAX(count, (size_t)1);
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
    file->touched =
        file->found.all ? file->updated > 0 : groups_with(&file->found.updated, ends, groups);
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
        add_column(work, i, field_bytes(parts[part], schema->fields[i].id), part == 0, file);
    }
out:
    for (size_t i = 0; i < count; i++) {
        frz_data_file_close(parts[i]);
    }
    frz_free(work->env, parts);
    return rc;
}

/* ---- one data file: rows ---- */

/* Bytes of the bitmap of some rows of a file, compressed. */
static frz_code measure_pattern(cost_work *work, const cost_file *file, const frz_row_list *rows,
                                double *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf compressed = FRZ_BUF_INIT(work->env, FRZ_BUF_NO_LIMIT);
    size_t bytes = frz_bitmap_bytes(file->entry->record_count);
    uint8_t *bits = rows->count == 0 ? NULL : frz_alloc_zero(work->env, 1, bytes + 8);
    if (rows->count == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(bits == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    for (size_t i = 0; i < rows->count; i++) {
        frz_bit_set(bits, rows->rows[i]);
    }
    FRZ_TRY(frz_codec_compress(work->codec, bits, bytes, &compressed, err));
    *out = (double)compressed.len;
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

/* Rows join a list, of which the bytes that a deletion vector has for them are told. */
static frz_code add_gone(const cost_work *work, frz_row_list *gone, const frz_row_list *more,
                         double *bytes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < more->count; i++) {
        FRZ_TRY(frz_row_list_add(work->env, gone, more->rows[i], err));
    }
    if (gone->count > 1) {
        qsort(gone->rows, gone->count, sizeof *gone->rows, by_number);
    }
    *bytes = vector_bytes(gone);
out:
    return rc;
}

/* Runs of updated rows, of as many as there could be. */
static double scattered(const cost_file *file)
{
    const frz_row_list *rows = &file->found.updated;
    double runs = 0, most = FRZ_MIN(file->updated, file->live - file->updated);
    for (size_t i = 0; i < rows->count; i++) {
        runs += i == 0 || rows->rows[i] != rows->rows[i - 1] + 1;
    }
    return most > 0 ? FRZ_MIN(runs / most, 1) : 0;
}

/* gone: the rows that were deleted before. */
static frz_code measure_rows(cost_work *work, frz_row_list *gone, cost_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_cost_request *request = work->request;
    const frz_cost_rows *found = &file->found;
    file->count = (double)file->entry->record_count;
    file->live = file->count - (double)gone->count;
    if (found->all) {
        file->updated = request->is_delete ? 0 : file->live;
        file->removed = request->is_delete ? file->live : 0;
        file->pattern = work->in_bounds ? file->count / 8 : 0;
        return FRZ_OK;
    }
    file->updated = (double)found->updated.count;
    file->removed = (double)found->removed.count;
    file->scattered = scattered(file);
    FRZ_TRY(measure_pattern(work, file, &found->updated, &file->pattern, err));
    FRZ_TRY(measure_pattern(work, file, &found->removed, &file->holes, err));
    FRZ_TRY(add_gone(work, gone, &found->removed, &file->hole_vector, err));
    FRZ_TRY(add_gone(work, gone, &found->updated, &file->vector, err));
out:
    return rc;
}

static frz_code find_rows(cost_work *work, cost_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_cost_request *request = work->request;
    const frz_entry *entry = file->entry;
    frz_row_list gone = {0};
    frz_live live = {.env = work->env};
    FRZ_TRY(frz_live_open(&live, request->files->deletes, request->table, entry, err));
    FRZ_TRY(frz_row_list_add_deleted(work->env, &gone, &live, entry->record_count, err));
    file->found.all = work->in_bounds;
    if (!work->in_bounds) {
        FRZ_TRY(request->finder.find(request->finder.ctx, entry, &live, &file->found, err));
    }
    FRZ_TRY(measure_rows(work, &gone, file, err));
out:
    frz_row_list_reset(work->env, &gone);
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

/* Bytes of rows that later reads read in vain when so many more are deleted; a file without rows
 * goes. */
static double dead_bytes(const cost_file *f, double deleted)
{
    double before = f->count > 0 ? (f->count - f->live) / f->count : 0;
    return deleted >= f->live ? 0 : (before + deleted / f->live * (1 - before)) * f->stored;
}

static void add_column_file(cost_work *work, const cost_file *f)
{
    cost_sums *s = &work->sums;
    double footer = overhead_of((double)work->assigned + 1, f->groups);
    double unstored = f->found.unstored == 0 ? 0 : overhead_of((double)f->found.unstored, 1);
    if (f->updated > 0) {
        s->column_files += 1 + (f->found.unstored > 0);
        s->column_file += (1 - f->removed / f->live) * f->fresh + f->pattern + footer + unstored;
        s->column_tax += f->pattern + footer + unstored;
    }
    if (f->removed > 0 && f->removed < f->live) {
        s->holes += VECTOR_BYTES + f->hole_vector;
        s->hole_count++;
    }
    s->dead += dead_bytes(f, f->removed);
}

static void add_rewritten(cost_work *work, const cost_file *f)
{
    cost_sums *s = &work->sums;
    double columns = 2 + (double)f->found.unstored; /* the lineage, and they */
    if (f->removed < f->live) {
        s->rewritten_files++;
        s->rewritten += (1 - f->removed / f->live) * (f->kept + f->fresh) + f->overhead +
                        f->row_ids + f->pattern + f->holes + columns * f->groups * CHUNK_BYTES;
        s->all_bytes += f->stored;
    }
}

static void add_moved(cost_work *work, const cost_file *f)
{
    cost_sums *s = &work->sums;
    double gone = f->updated + f->removed;
    if (f->updated > 0) {
        add_partition(work, f->entry);
        s->moved += f->updated / f->live * f->kept + f->moved_fresh + f->pattern;
        s->rest_read += (work->in_bounds ? 1 / f->groups : f->touched) * (f->stored - f->compute);
    }
    if (gone < f->live) {
        s->vectors += VECTOR_BYTES + f->vector;
        s->vector_count++;
    }
    s->dead_after += dead_bytes(f, gone);
}

/* What a data file has added to the sums without any rows looked for: at most by column files, at
 * least in the other modes. */
static void add_bounds(cost_work *work, const cost_sums *before)
{
    cost_sums *s = &work->sums;
    double compute = s->compute_read - before->compute_read;
    double tax = s->column_tax - before->column_tax + s->dead - before->dead;
    double column_file =
        s->column_file - before->column_file + compute + (double)work->reads_per_write * tax;
    double rewritten = s->rewritten - before->rewritten + s->all_bytes - before->all_bytes;
    double moved = compute + s->rest_read - before->rest_read;
    s->over_rewritten += FRZ_MAX(column_file - rewritten, 0);
    s->over_moved += FRZ_MAX(column_file - moved, 0);
}

static void add_sums(cost_work *work, const cost_file *f)
{
    cost_sums *s = &work->sums;
    const cost_sums before = *s;
    s->match_read += f->condition;
    if (f->updated + f->removed > 0) {
        s->files++;
        s->rows += f->updated + f->removed;
        s->compute_read += f->compute;
        add_column_file(work, f);
        add_rewritten(work, f);
        add_moved(work, f);
        add_bounds(work, &before);
    }
}

static frz_code look_at(cost_work *work, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    cost_file file = {.entry = entry};
    FRZ_TRY(find_rows(work, &file, err));
    FRZ_TRY(add_columns(work, &file, err));
    work->looked_at += file.live;
    add_sums(work, &file);
out:
    frz_row_list_reset(work->env, &file.found.updated);
    frz_row_list_reset(work->env, &file.found.removed);
    return rc;
}

/* Let those that were looked at stand for all. */
static void scale(cost_sums *sums, double times)
{
    double *each[] = {
        &sums->files,        &sums->rows,         &sums->match_read,     &sums->compute_read,
        &sums->all_bytes,    &sums->column_files, &sums->column_file,    &sums->column_tax,
        &sums->holes,        &sums->hole_count,   &sums->dead,           &sums->rewritten_files,
        &sums->rewritten,    &sums->moved,        &sums->rest_read,      &sums->vectors,
        &sums->vector_count, &sums->dead_after,   &sums->over_rewritten, &sums->over_moved};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(each); i++) {
        *each[i] *= times;
    }
}

/* All of the files, or as many as may be, evenly spaced. */
static frz_code choose_some(cost_work *work, const frz_entry ***out, size_t *count, frz_error *err)
{
    const frz_live_files *files = work->request->files;
    size_t most = work->request->every_file ? files->count : SAMPLE_FILES;
    *count = FRZ_MIN(files->count, most);
    const frz_entry **some = frz_arena_array(work->arena, *count + 1, sizeof *some);
    work->partitions = frz_arena_array(work->arena, *count + 1, sizeof *work->partitions);
    if (some == NULL || work->partitions == NULL) {
        return frz_fail_nomem(err, *count * sizeof *some);
    }
    for (size_t i = 0; i < *count; i++) {
        some[i] = files->entries[i * files->count / *count];
    }
    *out = some;
    return FRZ_OK;
}

static frz_code look_at_some(cost_work *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_live_files *files = work->request->files;
    const frz_cost_finder *finder = &work->request->finder;
    const frz_entry **some = NULL;
    size_t count = 0;
    double all_rows = 0, rows = 0;
    for (size_t i = 0; i < files->count; i++) {
        all_rows += (double)files->entries[i]->record_count;
    }
    FRZ_TRY(choose_some(work, &some, &count, err));
    if (finder->begin != NULL && !work->in_bounds) {
        FRZ_TRY(finder->begin(finder->ctx, some, count, err));
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(look_at(work, some[i], err));
        rows += (double)some[i]->record_count;
    }
    if (rows > 0 && rows < all_rows) {
        scale(&work->sums, all_rows / rows);
    }
out:
    return rc;
}

/* ---- new rows ---- */

static double bytes_of_row(const cost_work *work, int32_t field_id)
{
    const frz_type *schema = work->request->schema->type;
    int64_t index = frz_type_index_of_id(schema, field_id);
    if (index < 0) {
        return 0;
    }
    double known = work->looked_at > 0 ? work->row_bytes[index] / work->looked_at : 0;
    return known > 0 ? known : width_of(schema->fields[index].type);
}

static frz_code add_inserts(cost_work *work, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_cost_finder *finder = &work->request->finder;
    frz_cost_inserts inserts = {0};
    double row = 0;
    if (finder->insert == NULL) {
        return FRZ_OK;
    }
    assert(work->request->every_file);
    FRZ_TRY(finder->insert(finder->ctx, &inserts, err));
    for (size_t i = 0; i < inserts.column_count; i++) {
        row += bytes_of_row(work, inserts.columns[i]);
    }
    work->inserted = inserts.rows;
    work->insert_files = inserts.files;
    work->insert_bytes =
        inserts.rows * row +
        inserts.files * overhead_of((double)work->leaves, 1 + inserts.rows * row / GROUP_BYTES);
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

/* Of deletion vectors, which are all in one file. */
static double vector_file_bytes(double vectors, double count)
{
    return vectors + (count > 0 ? VECTOR_FILE_BYTES : 0);
}

static void add_column_files(const cost_work *work, frz_statement_estimate *out)
{
    const cost_sums *s = &work->sums;
    add_mode(out, FRZ_MODE_COLUMN_FILE, false,
             s->column_files + (s->hole_count > 0) + work->insert_files,
             s->column_file + vector_file_bytes(s->holes, s->hole_count) + work->insert_bytes,
             s->match_read + s->compute_read, s->column_tax + s->holes + s->dead);
}

static void add_copy_on_write(const cost_work *work, frz_statement_estimate *out)
{
    const cost_sums *s = &work->sums;
    add_mode(out, FRZ_MODE_COPY_ON_WRITE, s->rewritten_files > 0,
             s->rewritten_files + work->insert_files, s->rewritten + work->insert_bytes,
             s->match_read + s->all_bytes, 0);
}

static void add_merge_on_read(const cost_work *work, frz_statement_estimate *out)
{
    const cost_sums *s = &work->sums;
    double read = s->match_read + s->compute_read + s->rest_read;
    double files = (double)work->partition_count;
    double overhead = files * overhead_of((double)work->leaves + 2, 1 + s->moved / GROUP_BYTES);
    add_mode(
        out, FRZ_MODE_MERGE_ON_READ, files > 0, files + (s->vector_count > 0) + work->insert_files,
        s->moved + overhead + vector_file_bytes(s->vectors, s->vector_count) + work->insert_bytes,
        read, overhead + s->vectors + s->dead_after);
}

/* Free the codec afterwards, also after a failure. */
static frz_code look(cost_work *work, const frz_cost_request *request, frz_arena *arena,
                     bool in_bounds, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t columns = request->schema->type->field_count;
    *work = (cost_work){
        .request = request, .env = request->table->env, .arena = arena, .in_bounds = in_bounds};
    work->row_bytes = frz_arena_array(arena, columns + 1, sizeof *work->row_bytes);
    if (work->row_bytes == NULL) {
        return frz_fail_nomem(err, columns * sizeof *work->row_bytes);
    }
    for (size_t i = 0; i < columns; i++) {
        work->row_bytes[i] = 0;
    }
    FRZ_TRY(frz_write_reads(&request->table->metadata, &work->reads_per_write, err));
    FRZ_TRY(frz_codec_new(work->env, FRZ_CODEC_ZSTD, 0, &work->codec, err));
    FRZ_TRY(count_leaves(work, err));
    FRZ_TRY(look_at_some(work, err));
out:
    return rc;
}

frz_code frz_cost_is_certain(const frz_cost_request *request, frz_arena *arena, bool *out,
                             frz_error *err)
{
    cost_work work;
    frz_code rc = look(&work, request, arena, true, err);
    *out = work.sums.over_rewritten <= MOVE_BYTES && work.sums.over_moved <= MOVE_BYTES;
    frz_codec_free(work.codec);
    return rc;
}

frz_code frz_cost_estimate(const frz_cost_request *request, frz_arena *arena,
                           frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_statement_estimate made = {0};
    cost_work work;
    FRZ_TRY(look(&work, request, arena, false, err));
    FRZ_TRY(add_inserts(&work, err));
    made.reads_per_write = work.reads_per_write;
    made.rows = rounded(work.sums.rows + work.inserted);
    made.data_files = rounded(work.sums.files);
    if (request->is_delete) {
        add_merge_on_read(&work, &made);
        add_copy_on_write(&work, &made);
    } else {
        add_column_files(&work, &made);
        add_copy_on_write(&work, &made);
        add_merge_on_read(&work, &made);
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
