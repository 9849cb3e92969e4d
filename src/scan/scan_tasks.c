/*
 * Plans as tasks: large files are split, small ones put together, in the order of the scan.
 *
 * Invariants:
 *  1. Each row of each planned file is in exactly one part. Parts by bytes cover all of the file,
 * and a row group belongs to the part in which it begins; parts by rows cover all rows.
 *  2. Parts come in the order of the scan, and so do tasks: one task is filled at a time.
 *  3. A task owns what it says; of the plan's entries only the one at hand is held.
 *
 * spec: split_offsets; properties read.split.target-size, read.split.open-file-cost
 */
#include "frazil/plan.h"

#include <stdlib.h>

#include "scan/scan_internal.h"

#define DEFAULT_TARGET ((int64_t)128 << 20)
#define DEFAULT_OPEN_COST ((int64_t)4 << 20)
/* Parts of a task if opening files is said to cost nothing. */
#define PARTS_MAX 4096

/* The file that is being split. */
typedef struct file_at_hand {
    const frz_entry *entry; /* NULL: there is none */
    int64_t size;           /* of it and the column files that are needed */
    int64_t delete_bytes;
    const frz_applied_delete *deletes;
    size_t delete_count;
    bool by_bytes;
    int64_t end;        /* of its rows or bytes */
    int64_t step;       /* by rows: of each part */
    int64_t at;         /* where the next part begins */
    size_t next_offset; /* by bytes: the first split offset behind at */
} file_at_hand;

/* Ids of the fields that are read, at every depth, ascending. */
typedef struct read_fields {
    int32_t *ids; /* NULL: only count */
    size_t count;
} read_fields;

struct frz_plan {
    const frz_env *env;
    frz_table *table; /* owned reference */
    frz_arena arena;
    const frz_schema *schema;
    scan_request request;
    scan_columns columns;
    const frz_bound_expr *filter; /* that chooses the files; NULL: none */
    read_fields read;
    frz_file_plan *files;      /* NULL: the table has no snapshot */
    frz_delete_index *deletes; /* NULL: there are no delete files */
    int64_t target, open_cost;
    bool row_groups, whole_files;
    bool (*skip)(void *ctx, const frz_entry *entry); /* NULL: none */
    void *skip_ctx;
    frz_arena file_arena; /* of the file at hand */
    file_at_hand file;
    frz_task *task;         /* that is being filled; NULL: none */
    int64_t task_weight;    /* of its parts */
    frz_entry *entry;       /* the file at hand, copied into the task; NULL: not yet */
    size_t *applying;       /* its deletes in the task */
    frz_plan_report report; /* without what the file plan counts */
};

/* ---- the next file ---- */

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

static bool reads_column_file(const frz_plan *plan, const frz_column_file *file)
{
    for (size_t i = 0; i < file->field_id_count; i++) {
        if (bsearch(&file->field_ids[i], plan->read.ids, plan->read.count, sizeof(int32_t),
                    compare_ids) != NULL) {
            return true;
        }
    }
    return false;
}

static int64_t add_size(int64_t a, int64_t b)
{
    int64_t sum;
    return frz_add_i64(a, b, &sum) ? sum : INT64_MAX;
}

static int64_t size_of(const frz_plan *plan, const frz_entry *entry)
{
    int64_t size = entry->file_size;
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        size = add_size(size, reads_column_file(plan, file) ? file->file_size : 0);
    }
    return size;
}

/* spec: split_offsets are ascending; others are not relied on */
static bool has_offsets(const frz_entry *entry)
{
    const frz_format_model *format = NULL;
    if (entry->split_count < 2 || frz_format_by_name(entry->file_format, &format, NULL) != FRZ_OK ||
        format->group_starts == NULL) {
        return false;
    }
    for (size_t i = 1; i < entry->split_count; i++) {
        if (entry->split_offsets[i] <= entry->split_offsets[i - 1]) {
            return false;
        }
    }
    return entry->split_offsets[0] >= 0 &&
           entry->split_offsets[entry->split_count - 1] < entry->file_size;
}

/* How to split it: by row groups if it is known where they are, else evenly. */
static void choose_split(const frz_plan *plan, file_at_hand *file)
{
    const frz_entry *entry = file->entry;
    bool split = file->size > plan->target && !plan->whole_files;
    file->by_bytes = split && has_offsets(entry);
    file->end = file->by_bytes ? entry->file_size : entry->record_count;
    file->next_offset = 1;
    file->step = FRZ_MAX(entry->record_count, (int64_t)1);
    if (!file->by_bytes && split) {
        int64_t parts = file->size / plan->target + (file->size % plan->target > 0);
        file->step =
            FRZ_MAX(entry->record_count / parts + (entry->record_count % parts > 0), (int64_t)1);
    }
}

static frz_code find_deletes(frz_plan *plan, file_at_hand *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (plan->deletes != NULL) {
        FRZ_TRY(frz_delete_index_list(plan->deletes, file->entry, &plan->file_arena, &file->deletes,
                                      &file->delete_count, err));
    }
    plan->report.delete_files += file->entry->has_deletion_vector;
    for (size_t i = 0; i < file->delete_count; i++) {
        const frz_entry *entry = file->deletes[i].entry;
        plan->report.delete_files += file->deletes[i].is_new;
        file->delete_bytes =
            add_size(file->delete_bytes,
                     entry->has_deletion_vector ? entry->deletion_vector.size : entry->file_size);
    }
out:
    return rc;
}

/* What the file itself tells of the rows that match. */
static frz_code count_groups(frz_plan *plan, const frz_planned_file *planned, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_scan_report counts = {0};
    const frz_stitch_request request = {.projection = plan->columns.stored_type,
                                        .filter = planned->settled ? NULL : plan->filter,
                                        .with_deleted = true,
                                        .only_prune = true};
    FRZ_TRY(frz_stitch_open(plan->table, planned->entry, &request, &stitch, err));
    scan_add_counts(stitch, &counts);
    plan->report.groups += counts.groups;
    plan->report.groups_by_statistics += counts.groups_by_statistics;
    plan->report.groups_by_dictionary += counts.groups_by_dictionary;
    plan->report.groups_by_bloom += counts.groups_by_bloom;
    plan->report.pages_by_index += counts.pages_by_index;
    plan->report.rows_skipped += counts.rows_skipped;
out:
    frz_stitch_close(stitch);
    return rc;
}

static frz_code next_file(frz_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_planned_file planned;
    plan->file = (file_at_hand){.entry = NULL};
    plan->entry = NULL;
    frz_arena_reset(&plan->file_arena);
    do {
        FRZ_TRY(plan->files == NULL ? FRZ_END : frz_file_plan_next(plan->files, &planned, err));
    } while (plan->skip != NULL && plan->skip(plan->skip_ctx, planned.entry));
    file_at_hand file = {.entry = planned.entry, .size = size_of(plan, planned.entry)};
    FRZ_TRY(find_deletes(plan, &file, err));
    if (plan->row_groups) {
        FRZ_TRY(count_groups(plan, &planned, err));
    }
    choose_split(plan, &file);
    plan->report.files_planned++;
    plan->report.rows_planned = add_size(plan->report.rows_planned, planned.entry->record_count);
    plan->report.bytes_planned = add_size(plan->report.bytes_planned, file.size);
    plan->file = file;
out:
    return rc;
}

/* ---- parts of it ---- */

/* Row groups up to the target, one at least. */
static int64_t end_of_groups(const frz_plan *plan, file_at_hand *file)
{
    const frz_entry *entry = file->entry;
    double share = (double)file->size / (double)entry->file_size;
    int64_t end = file->end;
    while (file->next_offset < entry->split_count) {
        size_t i = file->next_offset++;
        int64_t behind = i + 1 < entry->split_count ? entry->split_offsets[i + 1] : file->end;
        if ((double)(behind - file->at) * share > (double)plan->target) {
            end = entry->split_offsets[i];
            break;
        }
    }
    return end;
}

static int64_t share_of(const file_at_hand *file, int64_t count)
{
    return file->end == 0 ? file->size
                          : (int64_t)((double)file->size * ((double)count / (double)file->end));
}

/* The next part of the file at hand. */
static void cut_part(const frz_plan *plan, file_at_hand *file, task_part *out)
{
    int64_t end = file->by_bytes ? end_of_groups(plan, file)
                                 : FRZ_MIN(add_size(file->at, file->step), file->end);
    *out = (task_part){.by_bytes = file->by_bytes,
                       .first = file->at,
                       .end = end,
                       .size = share_of(file, end - file->at)};
    file->at = end;
}

static int64_t weight_of(const frz_plan *plan, const file_at_hand *file, const task_part *part)
{
    int64_t opened;
    int64_t count = (int64_t)file->delete_count + file->entry->has_deletion_vector + 1;
    opened = frz_mul_i64(count, plan->open_cost, &opened) ? opened : INT64_MAX;
    return FRZ_MAX(add_size(part->size, file->delete_bytes), opened);
}

/* ---- tasks ---- */

/* The place in the task of an entry that deletes rows; the entry is copied if it is new there. */
static frz_code place_delete(frz_task *task, const frz_applied_delete *deletes, size_t *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry *copy = NULL;
    for (size_t i = 0; i < task->delete_count; i++) {
        const frz_entry *there = task->deletes[i];
        if (frz_str_equal(there->location, deletes->entry->location) &&
            there->deletion_vector.offset == deletes->entry->deletion_vector.offset &&
            there->sequence_number == deletes->entry->sequence_number) {
            *out = i;
            return FRZ_OK;
        }
    }
    FRZ_TRY(task_copy_entry(&task->arena, deletes->entry, &copy, err));
    if (copy->referenced_data_file.len == 0 && deletes->data_file.ptr != NULL) {
        FRZ_TRY(frz_arena_str(&task->arena, deletes->data_file, &copy->referenced_data_file, err));
    }
    *out = task->delete_count;
    FRZ_TRY(task_add_delete(task, copy, err));
out:
    return rc;
}

/* The file at hand comes into the task. */
static frz_code enter_file(frz_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const file_at_hand *file = &plan->file;
    FRZ_TRY(task_copy_entry(&plan->task->arena, file->entry, &plan->entry, err));
    plan->applying = frz_arena_array(&plan->task->arena, file->delete_count + 1, sizeof(size_t));
    if (plan->applying == NULL) {
        rc = frz_fail_nomem(err, file->delete_count * sizeof(size_t));
        goto out;
    }
    for (size_t i = 0; i < file->delete_count; i++) {
        FRZ_TRY(place_delete(plan->task, &file->deletes[i], &plan->applying[i], err));
    }
out:
    return rc;
}

static frz_code add_part(frz_plan *plan, task_part *part, int64_t weight, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (plan->task == NULL) {
        plan->task_weight = 0;
        plan->entry = NULL;
        FRZ_TRY(task_new(plan->table, plan->report.snapshot_id, plan->schema, &plan->request,
                         &plan->task, err));
    }
    if (plan->entry == NULL) {
        FRZ_TRY(enter_file(plan, err));
    }
    part->entry = plan->entry;
    part->applying = plan->applying;
    part->applying_count = plan->file.delete_count;
    FRZ_TRY(task_add_part(plan->task, part, err));
    plan->task_weight = add_size(plan->task_weight, weight);
out:
    return rc;
}

static bool is_full(const frz_plan *plan, int64_t weight)
{
    return plan->task != NULL && (add_size(plan->task_weight, weight) > plan->target ||
                                  plan->task->part_count >= PARTS_MAX);
}

static frz_code give_task(frz_plan *plan, frz_task **out)
{
    if (plan->task == NULL) {
        return FRZ_END;
    }
    *out = plan->task;
    plan->task = NULL;
    plan->entry = NULL;
    plan->report.tasks++;
    return FRZ_OK;
}

static bool is_used_up(const file_at_hand *file)
{
    return file->entry == NULL || file->at >= file->end;
}

void task_plan_skip(frz_plan *plan, bool (*skip)(void *ctx, const frz_entry *entry), void *ctx)
{
    plan->skip = skip;
    plan->skip_ctx = ctx;
}

frz_code frz_plan_next(frz_plan *plan, frz_task **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (;;) {
        while (is_used_up(&plan->file)) {
            rc = next_file(plan, err);
            if (rc == FRZ_END) {
                return give_task(plan, out);
            }
            FRZ_TRY(rc);
        }
        task_part part;
        file_at_hand before = plan->file;
        cut_part(plan, &plan->file, &part);
        int64_t weight = weight_of(plan, &plan->file, &part);
        if (is_full(plan, weight)) {
            plan->file = before;
            return give_task(plan, out);
        }
        FRZ_TRY(add_part(plan, &part, weight, err));
    }
out:
    return rc;
}

/* ---- opening ---- */

static frz_code collect_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    read_fields *read = ctx;
    (void)in_repeated;
    (void)err;
    if (read->ids != NULL) {
        read->ids[read->count] = field->id;
    }
    read->count++;
    return FRZ_OK;
}

static frz_code collect_ids(frz_plan *plan, frz_error *err)
{
    frz_code rc = FRZ_OK;
    read_fields *read = &plan->read;
    FRZ_TRY(frz_type_visit(plan->columns.stored_type, collect_id, read, err));
    int32_t *ids = frz_arena_array(&plan->arena, read->count + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, read->count * sizeof *ids);
    }
    *read = (read_fields){.ids = ids};
    FRZ_TRY(frz_type_visit(plan->columns.stored_type, collect_id, read, err));
    qsort(ids, read->count, sizeof *ids, compare_ids);
out:
    return rc;
}

static frz_code choose_sizes(frz_plan *plan, const frz_plan_options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &plan->table->metadata;
    plan->target = opts->target_bytes;
    plan->open_cost = opts->open_file_bytes;
    if (plan->target < 0 || plan->open_cost < 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "sizes of tasks cannot be negative");
    }
    if (plan->target == 0) {
        FRZ_TRY(frz_metadata_property_i64(metadata, "read.split.target-size", DEFAULT_TARGET,
                                          &plan->target, err));
    }
    if (plan->open_cost == 0) {
        FRZ_TRY(frz_metadata_property_i64(metadata, "read.split.open-file-cost", DEFAULT_OPEN_COST,
                                          &plan->open_cost, err));
    }
    if (plan->target <= 0 || plan->open_cost < 0) {
        rc = frz_fail(err, FRZ_E_ARGUMENT,
                      "read.split.target-size %lld and read.split.open-file-cost %lld: expected a "
                      "positive number and one that is not negative",
                      (long long)plan->target, (long long)plan->open_cost);
    }
out:
    return rc;
}

static frz_code open_files(frz_plan *plan, const frz_snapshot *snapshot, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_file_plan_options options = {
        .snapshot = snapshot, .schema = plan->schema, .filter = plan->filter, .reasons = true};
    const frz_delete_options deletes = {.schema = plan->schema,
                                        .filter = plan->whole_files ? NULL : plan->filter};
    if (snapshot != NULL) {
        plan->report.snapshot_id = snapshot->snapshot_id;
        FRZ_TRY(frz_file_plan_open(plan->table, &options, &plan->files, err));
        FRZ_TRY(scan_open_deletes(plan->table, plan->files, &deletes, &plan->arena, &plan->deletes,
                                  err));
    }
out:
    return rc;
}

/* What is read of the files, and which of them. */
static frz_code choose_columns(frz_plan *plan, bool is_bound, const frz_bound_expr *filter,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    scan_request request = plan->request;
    request.where = is_bound ? NULL : request.where;
    FRZ_TRY(
        scan_columns_init(&plan->columns, &plan->arena, plan->table, plan->schema, &request, err));
    plan->filter = is_bound ? filter : plan->columns.filter;
    FRZ_TRY(collect_ids(plan, err));
out:
    return rc;
}

static frz_code plan_open(frz_table *table, const frz_plan_options *opts, bool is_bound,
                          const frz_bound_expr *filter, frz_plan **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_plan_options own = FRZ_PLAN_OPTIONS_INIT;
    const frz_snapshot *snapshot = NULL;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    const frz_snapshot_choice choice = {own.snapshot_id, own.as_of, own.ref};
    const scan_request request = {own.columns, own.column_count, own.where, own.with_lineage != 0,
                                  own.ignore_case != 0};
    frz_plan *plan = frz_alloc_zero(table->env, 1, sizeof *plan);
    if (plan == NULL) {
        return frz_fail_nomem(err, sizeof *plan);
    }
    plan->env = table->env;
    plan->table = frz_table_ref(table);
    plan->row_groups = own.row_groups != 0;
    plan->whole_files = own.whole_files != 0;
    frz_arena_init(&plan->arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&plan->file_arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(choose_sizes(plan, &own, err));
    FRZ_TRY(frz_table_choose(table, &choice, &snapshot, &plan->schema, err));
    FRZ_TRY(scan_request_copy(&plan->arena, &request, &plan->request, err));
    FRZ_TRY(choose_columns(plan, is_bound, filter, err));
    FRZ_TRY(open_files(plan, snapshot, err));
    *out = plan;
    plan = NULL;
out:
    frz_plan_close(plan);
    return rc;
}

frz_code frz_plan_open(frz_table *table, const frz_plan_options *opts, frz_plan **out,
                       frz_error *err)
{
    return plan_open(table, opts, false, NULL, out, err);
}

frz_code task_plan_open(frz_table *table, const frz_plan_options *opts,
                        const frz_bound_expr *filter, frz_plan **out, frz_error *err)
{
    frz_plan_options own = *opts;
    own.whole_files = 1;
    return plan_open(table, &own, true, filter, out, err);
}

void frz_plan_report_get(const frz_plan *plan, frz_plan_report *out)
{
    frz_file_plan_report files = {0};
    if (plan->files != NULL) {
        frz_file_plan_report_get(plan->files, &files);
    }
    *out = plan->report;
    out->manifests = files.manifests;
    out->manifests_empty = files.manifests_empty;
    out->manifests_by_partition = files.manifests_by_partition;
    out->manifests_by_statistics = files.manifests_by_statistics;
    out->files = files.files;
    out->files_by_partition = files.files_by_partition;
    out->files_by_counts = files.files_by_counts;
    out->files_by_bounds = files.files_by_statistics - files.files_by_counts;
    out->files_in_manifests =
        files.files_skipped - files.files_by_partition - files.files_by_statistics;
}

void frz_plan_close(frz_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    const frz_env *env = plan->env;
    frz_task_unref(plan->task);
    frz_delete_index_free(plan->deletes);
    frz_file_plan_close(plan->files);
    scan_columns_reset(&plan->columns);
    frz_arena_reset(&plan->file_arena);
    frz_arena_reset(&plan->arena);
    frz_table_unref(plan->table);
    frz_free(env, plan);
}
