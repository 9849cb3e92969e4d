/*
 * Changes of rows as a stream: snapshot by snapshot, file by file, and of a file pass by pass: rows
 * that left it, updated rows before and after, or rows that arrived in it.
 *
 * Invariants:
 *  1. A row is deleted, inserted or updated once in a snapshot, or it did not change.
 *  2. A row that is deleted in a snapshot is no update of it, whatever its number says.
 *  3. What is held at once: the changed entries of one snapshot, the row ids that moved between
 *     files, and of one file its deleted and its updated positions.
 *
 * spec: change detection, row level
 */
#include "changes/changes_rows_internal.h"

#define BATCH_ROWS 65536
#define BATCH_BYTES ((int64_t)16 << 20)

/* ---- the file at hand ---- */

static void close_work(change_work *work)
{
    frz_stitch_close(work->stitch);
    work->stitch = NULL;
    change_deletes_reset(&work->deletes);
    frz_positions_free(work->gone);
    frz_positions_free(work->updated);
    work->gone = work->updated = NULL;
    work->pass_count = work->pass = 0;
    work->changed_count = 0;
    frz_arena_reset(&work->arena);
}

static void add_pass(change_work *work, change_role role, const frz_entry *entry,
                     const frz_positions *deleted, const frz_positions *wanted)
{
    work->passes[work->pass_count++] =
        (change_pass){.role = role, .entry = entry, .deleted = deleted, .wanted = wanted};
}

static bool holds_id(const int32_t *ids, size_t count, int32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* Did the field move, or a part of it? */
static bool has_moved(const frz_field *field, const int32_t *moved, size_t count)
{
    bool has_part = holds_id(moved, count, field->id);
    for (size_t k = 0; !has_part && field->type->id == FRZ_TYPE_STRUCT && k < count; k++) {
        has_part = frz_type_find_id(field->type, moved[k]) != NULL;
    }
    return has_part;
}

static frz_code choose_changed(rows_stream *s, const int32_t *moved, size_t count, frz_error *err)
{
    const frz_type *schema = s->chain.schema->type;
    change_work *work = &s->work;
    int32_t *changed = frz_arena_array(&work->arena, schema->field_count, sizeof *changed);
    if (changed == NULL) {
        return frz_fail_nomem(err, schema->field_count * sizeof *changed);
    }
    work->changed_count = 0;
    for (size_t i = 0; i < schema->field_count; i++) {
        if (has_moved(&schema->fields[i], moved, count)) {
            changed[work->changed_count++] = schema->fields[i].id;
        }
    }
    work->changed = changed;
    return FRZ_OK;
}

/* spec: rows of MODIFIED files whose number is the snapshot's were updated in it */
static frz_code plan_updates(rows_stream *s, const change_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_work *work = &s->work;
    const int32_t *moved = NULL;
    size_t count = 0;
    FRZ_TRY(change_moved_fields(s->set, file, &moved, &count, err));
    if (count == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(choose_changed(s, moved, count, err));
    if (!work->deletes.compared) {
        FRZ_TRY(change_deleted_rows(s->set, &s->set->after, file->new, &work->deletes.new, err));
    }
    const frz_positions *deleted = work->deletes.new;
    FRZ_TRY(change_updated_rows(s->set, file->new, deleted, &work->updated, err));
    if (work->updated != NULL) {
        add_pass(work, CHANGE_BEFORE, file->old,
                 work->deletes.compared ? work->deletes.old : deleted, work->updated);
        add_pass(work, CHANGE_AFTER, file->new, deleted, work->updated);
    }
out:
    return rc;
}

static frz_code plan_file(rows_stream *s, const change_file *file, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_work *work = &s->work;
    if (file->old == NULL) {
        FRZ_TRY(change_deleted_rows(s->set, &s->set->after, file->new, &work->deletes.new, err));
        add_pass(work, CHANGE_ARRIVES, file->new, work->deletes.new, NULL);
        return FRZ_OK;
    }
    if (file->new == NULL) {
        FRZ_TRY(change_deleted_rows(s->set, &s->set->before, file->old, &work->deletes.old, err));
        add_pass(work, CHANGE_LEAVES, file->old, work->deletes.old, NULL);
        return FRZ_OK;
    }
    FRZ_TRY(change_compare_deletes(s->set, file, &work->deletes, err));
    if (work->deletes.grew) {
        FRZ_TRY(change_deletes_beyond(s->env, &work->deletes, &work->gone, err));
        add_pass(work, CHANGE_LEAVES, file->old, work->deletes.old, work->gone);
    }
    rc = plan_updates(s, file, err);
out:
    return rc;
}

/* ---- what a pass reads ---- */

static void add_id(int32_t *ids, size_t *count, int32_t id)
{
    if (!holds_id(ids, *count, id)) {
        ids[(*count)++] = id;
    }
}

/* Values of the output that this pass gives, and the row id, which tells of moved rows. */
static frz_code choose_read_type(rows_stream *s, const change_pass *pass, frz_error *err)
{
    change_work *work = &s->work;
    bool some = s->is_whole && (pass->role == CHANGE_BEFORE || pass->role == CHANGE_AFTER);
    size_t n = s->output_type->field_count, count = 0;
    int32_t *ids = frz_arena_array(&work->arena, n + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, n * sizeof *ids);
    }
    for (size_t i = s->value_start; i < n; i++) {
        int32_t id = s->output_type->fields[i].id;
        if (!some || id == FRZ_ID_ROW_ID || holds_id(work->changed, work->changed_count, id)) {
            add_id(ids, &count, id);
        }
    }
    add_id(ids, &count, FRZ_ID_ROW_ID);
    return frz_project_ids(&work->arena, s->readable, ids, count, &work->read_type, err);
}

/* Columns without values take memory, too, which the reader does not know of. */
static void limit_rows(const rows_stream *s, frz_changes_options *opts)
{
    size_t absent = s->output_type->field_count - s->value_start - s->work.read_type->field_count;
    int64_t bytes = opts->batch_bytes > 0 ? opts->batch_bytes : BATCH_BYTES;
    int64_t rows = opts->batch_rows > 0 ? opts->batch_rows : BATCH_ROWS;
    if (s->output_type->field_count > s->value_start + s->work.read_type->field_count) {
        bytes = FRZ_MAX(bytes / (int64_t)(absent * sizeof(int64_t)), 1);
        opts->batch_rows = FRZ_MIN(rows, bytes);
    }
}

static frz_code open_pass(rows_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_work *work = &s->work;
    const change_pass *pass = &work->passes[work->pass];
    frz_changes_options opts = s->opts;
    FRZ_TRY(choose_read_type(s, pass, err));
    limit_rows(s, &opts);
    FRZ_TRY(
        change_pass_open(s->set, pass, work->read_type, &opts, &work->arena, &work->stitch, err));
    work->pass += work->stitch == NULL; /* it has no rows */
out:
    return rc;
}

/* ---- snapshots ---- */

static void close_set(rows_stream *s)
{
    close_work(&s->work);
    change_matches_reset(&s->matches);
    change_set_free(s->set);
    s->set = NULL;
    s->next_file = 0;
}

static frz_code open_set(rows_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_snapshot *snapshot = s->chain.snapshots[s->next];
    s->next++;
    if (frz_snapshot_is(snapshot, "replace")) { /* spec: no rows change, only where they are */
        return FRZ_OK;
    }
    FRZ_TRY(change_set_open(s->table, s->chain.schema, snapshot, &s->set, err));
    FRZ_TRY(change_add_touched(s->set, err));
    rc = change_match_rows(s->set, &s->matches, err);
out:
    return frz_context(err, rc, "changes of snapshot %lld", (long long)snapshot->snapshot_id);
}

/* ---- the stream ---- */

/* One step on: open what comes next, or read a batch of it. FRZ_END: there is nothing left. */
static frz_code step(rows_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_batch batch = {0};
    change_work *work = &s->work;
    if (work->stitch != NULL) {
        rc = frz_stitch_next(work->stitch, &batch, err);
        if (rc == FRZ_OK) {
            rc = change_rows_of_batch(s, &batch, s->ready, err);
            frz_array_release(&batch.array);
        } else if (rc == FRZ_END) {
            frz_stitch_close(work->stitch);
            work->stitch = NULL;
            work->pass++;
            rc = FRZ_OK;
        }
        return rc;
    }
    if (work->pass < work->pass_count) {
        return open_pass(s, err);
    }
    close_work(work);
    if (s->set != NULL && s->next_file < s->set->file_count) {
        return plan_file(s, &s->set->files[s->next_file++], err);
    }
    close_set(s);
    return s->next == s->chain.count ? FRZ_END : open_set(s, err);
}

static frz_code rows_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    rows_stream *s = ctx;
    return frz_type_to_arrow(s->env, s->output_type, out, err);
}

static frz_code rows_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    rows_stream *s = ctx;
    for (;;) {
        for (size_t k = 0; k < CHANGE_KINDS; k++) {
            if (s->ready[k].release != NULL) {
                frz_array_move(&s->ready[k], out);
                return FRZ_OK;
            }
        }
        frz_code rc = step(s, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
}

static void rows_release(void *ctx)
{
    rows_stream *s = ctx;
    if (s == NULL) {
        return;
    }
    frz_table *table = s->table;
    for (size_t k = 0; k < CHANGE_KINDS; k++) {
        frz_array_release(&s->ready[k]);
    }
    close_set(s);
    frz_arena_reset(&s->arena);
    frz_free(s->env, s);
    frz_table_unref(table);
}

/* ---- opening ---- */

#define ABOUT(field_id, text, type_id, is_required)                                                \
    (frz_field)                                                                                    \
    {                                                                                              \
        .id = (field_id), .name = FRZ_STR(text), .required = (is_required),                        \
        .type = frz_type_primitive(type_id)                                                        \
    }

/* list<string> */
static frz_code type_of_names(frz_arena *arena, const frz_type **out, frz_error *err)
{
    frz_field *element = frz_arena_alloc(arena, sizeof *element);
    frz_type *list = frz_arena_alloc(arena, sizeof *list);
    if (element == NULL || list == NULL) {
        return frz_fail_nomem(err, sizeof *list);
    }
    *element = ABOUT(FRZ_ID_NONE, "element", FRZ_TYPE_STRING, true);
    *list = (frz_type){.id = FRZ_TYPE_LIST, .fields = element, .field_count = 1};
    *out = list;
    return FRZ_OK;
}

/* Columns that updates in place of a snapshot gave new values; *all: rows came or went. */
static frz_code show_changed(rows_stream *s, const frz_snapshot *snapshot, bool *all,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_set *set = NULL;
    const frz_type *schema = s->chain.schema->type;
    FRZ_TRY(change_set_open(s->table, s->chain.schema, snapshot, &set, err));
    FRZ_TRY(change_set_moves_rows(set, all, err));
    for (size_t i = 0; i < set->file_count && !*all; i++) {
        const int32_t *moved = NULL;
        size_t count = 0;
        FRZ_TRY(change_moved_fields(set, &set->files[i], &moved, &count, err));
        for (size_t k = 0; k < schema->field_count; k++) {
            s->is_shown[k] = s->is_shown[k] || has_moved(&schema->fields[k], moved, count);
        }
    }
out:
    change_set_free(set);
    return rc;
}

/* If there are but updates in place, columns that none of them changed are left out: of a table of
 * hundreds of columns little is left. */
static frz_code choose_shown(rows_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = s->chain.schema->type->field_count;
    bool all = false;
    s->is_shown = frz_arena_array(&s->arena, n + 1, sizeof *s->is_shown);
    FRZ_TRY(s->is_shown == NULL ? frz_fail_nomem(err, n) : FRZ_OK);
    for (size_t i = 0; i < s->chain.count && !all; i++) {
        if (!frz_snapshot_is(s->chain.snapshots[i], "replace")) {
            FRZ_TRY(show_changed(s, s->chain.snapshots[i], &all, err));
        }
    }
    for (size_t i = 0; i < n; i++) {
        s->is_shown[i] = s->is_shown[i] || all;
    }
out:
    return rc;
}

/* The values: the columns asked for, or the row id and the schema. All are optional: old rows may
 * lack what is required by now, and updates leave out what did not change. */
static frz_code choose_values(rows_stream *s, frz_field *fields, size_t *count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *named = NULL, *schema = s->chain.schema->type;
    if (s->is_whole) {
        fields[(*count)++] = frz_field_row_id;
        for (size_t i = 0; i < schema->field_count; i++) {
            if (s->is_shown[i]) {
                fields[(*count)++] = schema->fields[i];
            }
        }
        return FRZ_OK;
    }
    FRZ_TRY(frz_readable_type(&s->arena, s->chain.schema, &named, err));
    for (size_t i = 0; i < s->opts.column_count; i++) {
        const frz_field *field = NULL;
        FRZ_TRY(frz_type_resolve_name(named, frz_str_from(s->opts.columns[i]), &field, err));
        fields[(*count)++] = *field;
    }
out:
    return rc;
}

static frz_code choose_output(rows_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *names = NULL, *values = NULL;
    size_t most = 6 + (s->is_whole ? s->chain.schema->type->field_count : s->opts.column_count);
    size_t count = 0;
    frz_field *fields = frz_arena_array(&s->arena, most, sizeof *fields);
    FRZ_TRY(fields == NULL ? frz_fail_nomem(err, most * sizeof *fields) : FRZ_OK);
    fields[count++] = ABOUT(CHANGE_ID_TYPE, "_change_type", FRZ_TYPE_STRING, true);
    fields[count++] = ABOUT(CHANGE_ID_ORDINAL, "_change_ordinal", FRZ_TYPE_INT, true);
    fields[count++] = ABOUT(CHANGE_ID_SNAPSHOT_ID, "_commit_snapshot_id", FRZ_TYPE_LONG, true);
    if (s->is_whole) {
        FRZ_TRY(choose_shown(s, err));
        FRZ_TRY(type_of_names(&s->arena, &names, err));
        fields[count++] =
            (frz_field){.id = FRZ_ID_NONE, .name = FRZ_STR("_changed_columns"), .type = names};
    }
    s->value_start = count;
    FRZ_TRY(choose_values(s, fields, &count, err));
    FRZ_TRY(frz_type_struct_of(&s->arena, fields + s->value_start, count - s->value_start, &values,
                               err));
    FRZ_TRY(frz_type_make_optional(&s->arena, values, &values, err));
    if (values->field_count > 0) {
        memcpy(fields + s->value_start, values->fields, values->field_count * sizeof *fields);
    }
    rc = frz_type_struct_of(&s->arena, fields, count, &s->output_type, err);
out:
    return rc;
}

/* Only the first snapshot can have a parent that has expired. Said at once, and not half way. */
static frz_code check_first(const rows_stream *s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    change_set *set = NULL;
    const frz_snapshot *first = s->chain.count == 0 ? NULL : s->chain.snapshots[0];
    if (first == NULL || first->parent_id == 0 || frz_snapshot_is(first, "replace") ||
        frz_metadata_snapshot(&s->table->metadata, first->parent_id) != NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(change_set_open(s->table, s->chain.schema, first, &set, err));
    rc = change_check_before(set, err);
out:
    change_set_free(set);
    return rc;
}

frz_code frz_changes_rows(frz_table *table, const frz_changes_options *opts,
                          struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {rows_schema, rows_next, rows_release};
    frz_code rc = FRZ_OK;
    frz_changes_options own = FRZ_CHANGES_OPTIONS_INIT;
    if (opts != NULL) {
        memcpy(&own, opts, FRZ_MIN(opts->struct_size, sizeof own));
    }
    rows_stream *s = frz_alloc_zero(table->env, 1, sizeof *s);
    if (s == NULL) {
        return frz_fail_nomem(err, sizeof *s);
    }
    s->env = table->env;
    s->table = frz_table_ref(table);
    s->opts = own;
    s->is_whole = own.columns == NULL;
    frz_arena_init(&s->arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&s->work.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(change_chain_of(table, &own, &s->arena, &s->chain, err));
    FRZ_TRY(check_first(s, err));
    FRZ_TRY(frz_projectable_type(&s->arena, s->chain.schema, &s->readable, err));
    FRZ_TRY(choose_output(s, err));
    s->opts.columns = NULL; /* the caller's */
    rc = frz_stream_make(table->env, &ops, s, out, err);
    s = NULL;
out:
    rows_release(s);
    return rc;
}
