/*
 * Validation of values: statistics contain them, _last_updated_sequence_number is a possible
 * number, row ids are unique. A column is decoded once for each file that provides it and each
 * version of its statistics. spec: content stats; row lineage
 */
#include <stdlib.h>

#include "maintain/maintain_internal.h"

#define PATH_DEPTH_MAX 64
#define NAME_TEXT 128
#define OVERLAPS_TOLD 8

/* One recorded statistic to be compared with the values. */
typedef struct value_check {
    const frz_field_stats *stats;
    const frz_field *leaf;
    bool top_required;
    size_t column; /* of the projection */
    size_t path[PATH_DEPTH_MAX];
    size_t depth; /* steps from the top-level column down to the leaf */
    frz_stats_collector *collector;
} value_check;

/* What is compared in one pass over one file. */
typedef struct value_pass {
    frz_validation *v;
    const frz_validate_root *root;
    const frz_validate_item *item;
    const frz_data_file *file;
    const frz_live_rows *rows;
    value_check *checks;
    size_t check_count, check_capacity;
    frz_field *fields; /* top-level fields to read */
    size_t field_count, field_capacity;
} value_pass;

/* ---- which columns ---- */

/* True if these statistics were compared with this file's values before. */
static frz_code stats_seen(value_pass *pass, const frz_field_stats *stats, bool *seen,
                           frz_error *err)
{
    bool added = true;
    frz_key key = frz_key_of("stats");
    frz_key_str(&key, frz_str_from(frz_data_file_location(pass->file)));
    frz_validate_stats_key(&key, stats);
    frz_key_i64(&key, pass->rows->count);
    frz_code rc = frz_key_map_put(&pass->v->done, key, 0, &added, err);
    *seen = !added;
    return rc;
}

/* Add the statistics of a field, or of the fields of a struct. base holds the path so far. */
static frz_code add_checks(value_pass *pass, const frz_field *field, const value_check *base,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (field->type->id == FRZ_TYPE_STRUCT && base->depth < PATH_DEPTH_MAX) {
        for (size_t i = 0; i < field->type->field_count; i++) {
            value_check below = *base;
            below.path[below.depth++] = i;
            FRZ_TRY(add_checks(pass, &field->type->fields[i], &below, err));
        }
        goto out;
    }
    const frz_field_stats *stats = frz_entry_stats(pass->item->entry, field->id);
    if (stats == NULL || frz_type_is_nested(field->type) ||
        !frz_type_same_shape(stats->type, field->type)) {
        goto out;
    }
    bool seen = false;
    FRZ_TRY(stats_seen(pass, stats, &seen, err));
    if (seen) {
        goto out;
    }
    FRZ_TRY(FRZ_GROW(pass->v->env, &pass->checks, &pass->check_capacity, pass->check_count, err));
    value_check *check = &pass->checks[pass->check_count++];
    *check = *base;
    check->stats = stats;
    check->leaf = field;
    FRZ_TRY(frz_stats_collector_new(pass->v->env, field->id, field->type, &check->collector, err));
out:
    return rc;
}

static frz_code plan_field(value_pass *pass, const frz_field *field, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t before = pass->check_count;
    value_check base = {.column = pass->field_count, .top_required = field->required};
    FRZ_TRY(add_checks(pass, field, &base, err));
    if (pass->check_count > before) {
        FRZ_TRY(
            FRZ_GROW(pass->v->env, &pass->fields, &pass->field_capacity, pass->field_count, err));
        pass->fields[pass->field_count++] = *field;
    }
out:
    return rc;
}

static frz_code plan_pass(value_pass *pass, size_t part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *schema = pass->root->schema->type;
    for (size_t i = 0; i < schema->field_count; i++) {
        size_t provider = 0;
        FRZ_TRY(frz_entry_part(pass->item->entry, &schema->fields[i], &provider, err));
        if (provider == part && frz_data_file_has_field(pass->file, schema->fields[i].id)) {
            FRZ_TRY(plan_field(pass, &schema->fields[i], err));
        }
    }
out:
    return rc;
}

/* ---- comparing ---- */

static void find_stats(value_pass *pass, const value_check *check, const char *what,
                       const frz_value *recorded, const char *relation, const frz_value *actual,
                       frz_error *err)
{
    frz_buf a = FRZ_BUF_INIT(pass->v->env, NAME_TEXT * 64);
    frz_buf b = FRZ_BUF_INIT(pass->v->env, NAME_TEXT * 64);
    /* a value too long to print is told by what was printed of it */
    (void)frz_value_print(recorded, &a, err);
    (void)frz_value_print(actual, &b, err);
    frz_error_reset(err);
    frz_validate_find(pass->v, pass->item->location,
                      "statistics of field %d (\"%.*s\"): %s %.*s is %s %.*s, which %s holds",
                      check->leaf->id, FRZ_STR_ARG(check->leaf->name), what,
                      (int)FRZ_MIN(a.len, (size_t)NAME_TEXT), (const char *)a.data, relation,
                      (int)FRZ_MIN(b.len, (size_t)NAME_TEXT), (const char *)b.data,
                      frz_data_file_location(pass->file));
    frz_buf_reset(&a);
    frz_buf_reset(&b);
}

static void check_count_of(value_pass *pass, const value_check *check, const char *what,
                           int64_t recorded, int64_t actual)
{
    if (recorded != FRZ_STAT_UNKNOWN && actual != FRZ_STAT_UNKNOWN && recorded != actual) {
        frz_validate_find(pass->v, pass->item->location,
                          "statistics of field %d (\"%.*s\"): %s is %lld, but %s holds %lld",
                          check->leaf->id, FRZ_STR_ARG(check->leaf->name), what,
                          (long long)recorded, frz_data_file_location(pass->file),
                          (long long)actual);
    }
}

/* Bounds contain zeros of both signs in Iceberg's order; whether they are exact does not depend on
 * the sign of a zero, because writers may not tell it. */
static void check_bounds(value_pass *pass, const value_check *check, const frz_field_stats *actual,
                         frz_error *err)
{
    const frz_field_stats *recorded = check->stats;
    bool tight = recorded->tight_bounds == 1 && pass->rows->bits == NULL;
    if (recorded->has_lower && actual->has_lower) {
        if (frz_value_compare(&recorded->lower, &actual->lower, true) > 0) {
            find_stats(pass, check, "lower bound", &recorded->lower, "above", &actual->lower, err);
        } else if (tight && frz_value_compare(&recorded->lower, &actual->lower, false) != 0) {
            find_stats(pass, check, "lower bound", &recorded->lower, "said to be exact, but below",
                       &actual->lower, err);
        }
    }
    if (recorded->has_upper && actual->has_upper) {
        if (frz_value_compare(&recorded->upper, &actual->upper, true) < 0) {
            find_stats(pass, check, "upper bound", &recorded->upper, "below", &actual->upper, err);
        } else if (tight && frz_value_compare(&recorded->upper, &actual->upper, false) != 0) {
            find_stats(pass, check, "upper bound", &recorded->upper, "said to be exact, but above",
                       &actual->upper, err);
        }
    }
}

static frz_code compare_check(value_pass *pass, const value_check *check, frz_arena *arena,
                              frz_error *err)
{
    frz_field_stats actual;
    frz_code rc = frz_stats_collector_finish(check->collector, arena, &actual, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    check_bounds(pass, check, &actual, err);
    if (pass->rows->bits != NULL) {
        return FRZ_OK; /* counts may be those of the rows before some were deleted */
    }
    check_count_of(pass, check, "value count", check->stats->value_count, actual.value_count);
    check_count_of(pass, check, "null count", check->stats->null_value_count,
                   actual.null_value_count);
    check_count_of(pass, check, "NaN count", check->stats->nan_value_count, actual.nan_value_count);
    if (check->depth == 0 && check->top_required && actual.null_value_count > 0) {
        frz_validate_find(pass->v, frz_data_file_location(pass->file),
                          "required field %d (\"%.*s\") has %lld nulls", check->leaf->id,
                          FRZ_STR_ARG(check->leaf->name), (long long)actual.null_value_count);
    }
    return FRZ_OK;
}

/* ---- reading ---- */

/* What lies in deleted rows means nothing. */
static frz_code add_rows(value_pass *pass, const value_check *check, const struct ArrowArray *array,
                         int64_t first_row, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray picked = {0};
    FRZ_TRY(frz_array_slice(pass->v->env, array, 0, array->length, &picked, err));
    FRZ_TRY(frz_live_rows_pick(pass->rows, check->leaf->type, first_row, &picked, err));
    FRZ_TRY(frz_stats_collector_add(check->collector, &picked, err));
out:
    frz_array_release(&picked);
    return rc;
}

static frz_code add_batch(value_pass *pass, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < pass->check_count; i++) {
        const value_check *check = &pass->checks[i];
        const struct ArrowArray *array = batch->array.children[check->column];
        for (size_t k = 0; k < check->depth; k++) {
            array = array->children[check->path[k]];
        }
        FRZ_TRY(add_rows(pass, check, array, batch->first_row, err));
    }
out:
    return rc;
}

/* Visit all batches of some columns of a file. */
typedef frz_code (*batch_visit)(void *ctx, const frz_batch *batch, frz_error *err);

static frz_code read_columns(const frz_env *env, const frz_data_file *file,
                             const frz_live_rows *rows, const frz_field *fields, size_t count,
                             batch_visit visit, void *ctx, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = count};
    frz_read_request request = {.projection = &type};
    frz_data_reader *reader = NULL;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    if (rows->bits != NULL) { /* deleted rows may lack what is required */
        FRZ_TRY(frz_type_make_optional(&arena, &type, &request.projection, err));
    }
    FRZ_TRY(frz_data_reader_open(file, &request, &reader, err));
    for (;;) {
        frz_batch batch = {0};
        FRZ_TRY(frz_data_reader_next(reader, &batch, err));
        rc = visit(ctx, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
out:
    frz_data_reader_close(reader);
    frz_arena_reset(&arena);
    return rc == FRZ_END ? FRZ_OK : rc;
}

static frz_code visit_stats(void *ctx, const frz_batch *batch, frz_error *err)
{
    return add_batch(ctx, batch, err);
}

static void pass_reset(value_pass *pass)
{
    for (size_t i = 0; i < pass->check_count; i++) {
        frz_stats_collector_free(pass->checks[i].collector);
    }
    frz_free(pass->v->env, pass->checks);
    frz_free(pass->v->env, pass->fields);
}

static frz_code check_stats(frz_validation *v, const frz_validate_root *root,
                            const frz_validate_item *item, const frz_data_file *file, size_t part,
                            const frz_live_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    value_pass pass = {.v = v, .root = root, .item = item, .file = file, .rows = rows};
    frz_arena_init(&arena, v->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(plan_pass(&pass, part, err));
    if (pass.check_count == 0) {
        goto out;
    }
    rc = read_columns(v->env, file, rows, pass.fields, pass.field_count, visit_stats, &pass, err);
    if (rc != FRZ_OK) {
        rc = frz_validate_failure(v, frz_data_file_location(file), rc, err);
        goto out;
    }
    for (size_t i = 0; i < pass.check_count; i++) {
        FRZ_TRY(compare_check(&pass, &pass.checks[i], &arena, err));
    }
out:
    pass_reset(&pass);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- _last_updated_sequence_number ---- */

#define LEAST_NUMBER 0 /* of rows from before there were sequence numbers */

typedef struct updated_check {
    const frz_live_rows *rows;
    int64_t most;
    bool found;
    int64_t row, value; /* of the first impossible value */
} updated_check;

static frz_code visit_updated(void *ctx, const frz_batch *batch, frz_error *err)
{
    updated_check *check = ctx;
    const struct ArrowArray *array = batch->array.children[0];
    (void)err;
    for (int64_t i = 0; i < array->length && !check->found; i++) {
        int64_t value = frz_is_null(array, i) ? check->most : frz_get_i64(array, i);
        int64_t row = batch->first_row + i;
        bool live = check->rows->bits == NULL || frz_bit_get(check->rows->bits, row);
        if (live && (value < LEAST_NUMBER || value > check->most)) {
            check->found = true;
            check->row = row;
            check->value = value;
        }
    }
    return FRZ_OK;
}

static frz_code check_last_updated(frz_validation *v, const frz_validate_item *item,
                                   frz_data_file *const *files, const frz_live_rows *rows,
                                   frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t part = 0;
    updated_check check = {.rows = rows, .most = item->entry->sequence_number};
    bool added = true;
    FRZ_TRY(frz_entry_part(item->entry, &frz_field_last_updated, &part, err));
    const frz_data_file *file = files[part];
    if (file == NULL || !frz_data_file_has_field(file, FRZ_ID_LAST_UPDATED)) {
        goto out;
    }
    frz_key key = frz_key_of("last updated");
    frz_key_str(&key, frz_str_from(frz_data_file_location(file)));
    frz_key_i64(&key, item->entry->sequence_number);
    FRZ_TRY(frz_key_map_put(&v->done, key, 0, &added, err));
    if (!added) {
        goto out;
    }
    rc = read_columns(v->env, file, rows, &frz_field_last_updated, 1, visit_updated, &check, err);
    FRZ_TRY(frz_validate_failure(v, frz_data_file_location(file), rc, err));
    if (check.found) {
        frz_validate_find(
            v, frz_data_file_location(file),
            "row %lld: _last_updated_sequence_number %lld is not between %d and the entry's "
            "sequence number %lld",
            (long long)check.row, (long long)check.value, LEAST_NUMBER, (long long)check.most);
    }
out:
    return rc;
}

/* ---- row ids ---- */

typedef struct runs_reader {
    frz_validation *v;
    const frz_entry *entry;
    const frz_live_rows *rows;
    frz_row_runs *runs;
} runs_reader;

/* A row that is not live may be live elsewhere: merge-on-read moves it. */
static frz_code add_row_id(const runs_reader *reader, int64_t row, int64_t id, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_runs *runs = reader->runs;
    if (reader->rows->bits != NULL && !frz_bit_get(reader->rows->bits, row)) {
        return FRZ_OK;
    }
    if (runs->count > 0 && runs->runs[runs->count - 1].end == id) {
        runs->runs[runs->count - 1].end++;
        return FRZ_OK;
    }
    FRZ_TRY(FRZ_GROW(reader->v->env, &runs->runs, &runs->capacity, runs->count, err));
    runs->runs[runs->count++] = (frz_row_range){id, id < INT64_MAX ? id + 1 : id};
out:
    return rc;
}

static frz_code visit_row_ids(void *ctx, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const runs_reader *reader = ctx;
    const struct ArrowArray *array = batch->array.children[0];
    for (int64_t i = 0; i < array->length && rc == FRZ_OK; i++) {
        int64_t row = batch->first_row + i;
        int64_t id = frz_is_null(array, i) ? frz_maintain_sum(reader->entry->first_row_id, row)
                                           : frz_get_i64(array, i);
        rc = add_row_id(reader, row, id, err);
    }
    return rc;
}

static frz_code count_row_ids(const runs_reader *reader, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t i = 0; i < reader->entry->record_count && rc == FRZ_OK; i++) {
        rc = add_row_id(reader, i, frz_maintain_sum(reader->entry->first_row_id, i), err);
    }
    return rc;
}

/* Of a file, and of the rows that its own vector deletes. Delete files are not in it: snapshots are
 * checked newest first, and older ones have no more of them. */
static frz_key runs_key(const frz_validate_item *item)
{
    const frz_entry *entry = item->entry;
    frz_key key = frz_key_of("row ids");
    frz_key_i64(&key, (int64_t)item->where.a);
    frz_key_i64(&key, (int64_t)item->where.b);
    frz_key_i64(&key, entry->first_row_id);
    if (entry->has_deletion_vector) {
        frz_key_str(&key, entry->deletion_vector.location);
        frz_key_i64(&key, entry->deletion_vector.offset);
    }
    return key;
}

/* Remember the row ids of live rows, unless they are all those of the entry. */
static frz_code read_row_ids(frz_validation *v, const frz_validate_item *item,
                             const frz_data_file *base, const frz_live_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_key key = runs_key(item);
    bool stored = base != NULL && frz_data_file_has_field(base, FRZ_ID_ROW_ID);
    if (base == NULL || (!stored && (rows->bits == NULL || item->entry->first_row_id < 0)) ||
        frz_key_map_get(&v->runs_of, key, NULL)) {
        return FRZ_OK;
    }
    FRZ_TRY(FRZ_GROW(v->env, &v->runs, &v->run_capacity, v->run_count, err));
    FRZ_TRY(frz_key_map_put(&v->runs_of, key, v->run_count, NULL, err));
    v->runs[v->run_count] = (frz_row_runs){0};
    runs_reader reader = {v, item->entry, rows, &v->runs[v->run_count++]};
    rc = stored
             ? read_columns(v->env, base, rows, &frz_field_row_id, 1, visit_row_ids, &reader, err)
             : count_row_ids(&reader, err);
    rc = frz_validate_failure(v, frz_data_file_location(base), rc, err);
out:
    return rc;
}

frz_code frz_validate_values(frz_validation *v, const frz_validate_root *root,
                             const frz_validate_item *item, frz_data_file *const *files,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_live_rows rows = {.live.env = v->env};
    frz_arena arena;
    frz_arena_init(&arena, v->env, FRZ_ARENA_NO_LIMIT);
    rc = frz_live_rows_find(v->table, item->entry, root->deletes, &arena, &rows, err);
    if (rc != FRZ_OK) {
        rc = frz_validate_failure(v, item->location, rc, err);
        goto out;
    }
    for (size_t part = 0; part <= item->entry->column_file_count; part++) {
        if (files[part] != NULL) {
            FRZ_TRY(check_stats(v, root, item, files[part], part, &rows, err));
        }
    }
    FRZ_TRY(check_last_updated(v, item, files, &rows, err));
    FRZ_TRY(read_row_ids(v, item, files[0], &rows, err));
out:
    frz_live_rows_reset(&rows);
    frz_arena_reset(&arena);
    return rc;
}

/* ---- row ids of a snapshot ---- */

typedef struct owned_run {
    frz_row_range ids;
    const frz_validate_item *item;
} owned_run;

typedef struct owned_runs {
    owned_run *items;
    size_t count, capacity;
} owned_runs;

static int compare_runs(const void *a, const void *b)
{
    const owned_run *x = a, *y = b;
    return x->ids.start < y->ids.start ? -1 : x->ids.start > y->ids.start;
}

static frz_code add_run(frz_validation *v, owned_runs *runs, const frz_validate_item *item,
                        frz_row_range ids, frz_error *err)
{
    frz_code rc = FRZ_GROW(v->env, &runs->items, &runs->capacity, runs->count, err);
    if (rc == FRZ_OK) {
        runs->items[runs->count++] = (owned_run){ids, item};
    }
    return rc;
}

static frz_code add_runs_of(frz_validation *v, owned_runs *runs, const frz_validate_item *item,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t index;
    const frz_entry *entry = item->entry;
    int64_t end;
    if (!frz_key_map_get(&v->runs_of, runs_key(item), &index)) {
        bool sound = entry->first_row_id >= 0 && entry->record_count > 0 &&
                     frz_add_i64(entry->first_row_id, entry->record_count, &end);
        return sound ? add_run(v, runs, item, (frz_row_range){entry->first_row_id, end}, err)
                     : FRZ_OK;
    }
    for (size_t i = 0; i < v->runs[index].count; i++) {
        FRZ_TRY(add_run(v, runs, item, v->runs[index].runs[i], err));
    }
out:
    return rc;
}

static void check_runs(frz_validation *v, const frz_validate_root *root, const owned_runs *runs)
{
    int64_t most = frz_maintain_sum(root->snapshot->first_row_id, root->snapshot->added_rows);
    int told = 0;
    size_t widest = 0; /* the run so far that ends last */
    for (size_t i = 0; i < runs->count && told < OVERLAPS_TOLD; i++) {
        const owned_run *run = &runs->items[i];
        if (run->ids.start < 0 || run->ids.end > most) {
            frz_validate_find(v, run->item->location,
                              "row ids %lld to %lld are not between 0 and the snapshot's end of "
                              "row ids, %lld",
                              (long long)run->ids.start, (long long)run->ids.end - 1,
                              (long long)most);
            told++;
        }
        if (i > 0 && run->ids.start < runs->items[widest].ids.end) {
            frz_validate_find(v, run->item->location, "row ids %lld to %lld are also in %s",
                              (long long)run->ids.start,
                              (long long)FRZ_MIN(run->ids.end, runs->items[widest].ids.end) - 1,
                              runs->items[widest].item->location);
            told++;
        }
        widest = run->ids.end > runs->items[widest].ids.end ? i : widest;
    }
}

frz_code frz_validate_row_ids(frz_validation *v, const frz_validate_root *root, frz_error *err)
{
    frz_code rc = FRZ_OK;
    owned_runs runs = {0};
    for (size_t i = 0; i < root->count; i++) {
        if (frz_status_is_live(root->items[i].entry->status)) {
            FRZ_TRY(add_runs_of(v, &runs, &root->items[i], err));
        }
    }
    if (runs.count > 0) {
        qsort(runs.items, runs.count, sizeof *runs.items, compare_runs);
    }
    check_runs(v, root, &runs);
out:
    frz_free(v->env, runs.items);
    return rc;
}
