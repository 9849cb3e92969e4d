/*
 * The changes of a table, row by row, against the states of the model: what was inserted, deleted
 * and updated between each snapshot and its parent.
 */
#include "model/model_changes.h"

enum { CHANGE_TYPE, CHANGE_ORDINAL, CHANGE_SNAPSHOT, CHANGE_FIXED };

/* A change that the states tell. */
typedef struct change {
    const char *type;
    int32_t ordinal;
    const model_row *row;
    bool seen;
} change;

typedef struct change_list {
    change *items;
    size_t count, capacity;
} change_list;

static void add_change(change_list *list, const char *type, int32_t ordinal, const model_row *row)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 64;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->count++] = (change){type, ordinal, row, false};
}

/* Rows are known by their ids, which ascend. */
static void compare_states(const model *before, const model *after, int32_t ordinal,
                           change_list *out)
{
    size_t i = 0, k = 0;
    while (i < before->count || k < after->count) {
        const model_row *a = i < before->count ? &before->rows[i] : NULL;
        const model_row *b = k < after->count ? &after->rows[k] : NULL;
        int64_t old = a == NULL ? INT64_MAX : a->values[COL_ID].i;
        int64_t new = b == NULL ? INT64_MAX : b->values[COL_ID].i;
        if (old < new) {
            add_change(out, "DELETE", ordinal, a);
        } else if (new < old) {
            add_change(out, "INSERT", ordinal, b);
        } else if (a->last_updated != b->last_updated) {
            add_change(out, "UPDATE_BEFORE", ordinal, a);
            add_change(out, "UPDATE_AFTER", ordinal, b);
        }
        i += old <= new;
        k += new <= old;
    }
}

static change *find_change(change_list *list, frz_str type, int32_t ordinal, int64_t id)
{
    for (size_t i = 0; i < list->count; i++) {
        change *c = &list->items[i];
        if (c->ordinal == ordinal && c->row->values[COL_ID].i == id &&
            frz_str_equal(frz_str_from(c->type), type)) {
            return c;
        }
    }
    return NULL;
}

/* The columns that all states from first to last and the names' own have. */
static column_set common_columns(const fixture *f, const model *named, size_t first, size_t last)
{
    column_set set = {.count = 0};
    for (size_t c = 0; c < named->columns; c++) {
        bool there = model_has(named, c);
        for (size_t i = first; i <= last; i++) {
            there = there && model_has(&f->history[i], c);
        }
        if (there) {
            set.columns[set.count++] = (int)c;
        }
    }
    return set;
}

static void compare_changes(fixture *f, const struct ArrowArray *batch, const column_set *set,
                            change_list *list)
{
    struct ArrowArray *const *columns = batch->children;
    for (int64_t i = 0; i < batch->length; i++) {
        frz_str type = frz_get_bytes(columns[CHANGE_TYPE], i);
        int32_t ordinal = frz_get_i32(columns[CHANGE_ORDINAL], i);
        int64_t id = frz_get_i64(columns[CHANGE_FIXED], i); /* COL_ID is the first */
        change *c = find_change(list, type, ordinal, id);
        assert_model(f, c != NULL && !c->seen, "unexpected change: %.*s of id %lld, number %d",
                     FRZ_STR_ARG(type), (long long)id, (int)ordinal);
        c->seen = true;
        for (size_t k = 0; k < set->count; k++) {
            compare_cell(f, set->columns[k], c->row, columns[CHANGE_FIXED + k], i);
        }
        compare_cell(f, OUT_ROW_ID, c->row, columns[CHANGE_FIXED + set->count], i);
    }
}

static void read_changes(fixture *f, frz_table *table, const frz_changes_options *options,
                         const column_set *set, change_list *list)
{
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    frz_code rc = frz_changes_rows(table, options, &stream, &f->err);
    assert_model(f, rc == FRZ_OK, "changes: %s", f->err.message);
    while (true) {
        int failed = stream.get_next(&stream, &batch);
        assert_model(f, failed == 0, "changes: %s", stream.get_last_error(&stream));
        if (batch.release == NULL) {
            break;
        }
        compare_changes(f, &batch, set, list);
        frz_array_release(&batch);
    }
    stream.release(&stream);
    for (size_t i = 0; i < list->count; i++) {
        assert_model(f, list->items[i].seen, "missing change: %s of id %lld, number %d",
                     list->items[i].type, (long long)list->items[i].row->values[COL_ID].i,
                     (int)list->items[i].ordinal);
    }
}

void model_check_changes(fixture *f, frz_table *table)
{
    frz_changes_options options = FRZ_CHANGES_OPTIONS_INIT;
    const char *names[COL_MOST + 1];
    change_list list = {0};
    if (f->history_count < 2) {
        return;
    }
    size_t last = f->history_count - 1;
    size_t to = random_below(&f->random, 2) == 0
                    ? last
                    : 1 + (size_t)random_below(&f->random, (int64_t)last);
    size_t from =
        random_below(&f->random, 2) == 0 ? to - 1 : (size_t)random_below(&f->random, (int64_t)to);
    const model *named = to == last ? &f->now : &f->history[to];
    column_set set = common_columns(f, named, from, to);
    for (size_t k = 0; k < set.count; k++) {
        names[k] = model_name(named, (size_t)set.columns[k]);
    }
    names[set.count] = "_row_id";
    for (size_t i = from; i < to; i++) {
        compare_states(&f->history[i], &f->history[i + 1], (int32_t)(i - from), &list);
    }
    options.columns = names;
    options.column_count = set.count + 1;
    options.from_snapshot_id = f->history[from].snapshot_id;
    options.to_snapshot_id = to == last ? 0 : f->history[to].snapshot_id;
    options.batch_rows = random_below(&f->random, 2) == 0 ? 0 : 1 + random_below(&f->random, 20);
    read_changes(f, table, &options, &set, &list);
    free(list.items);
}
