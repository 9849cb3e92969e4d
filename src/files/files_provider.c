/*
 * The column files of an entry, seen as a whole: which file provides a top-level field, whether two
 * entries have the same ones, and which ids a new one lists. spec: field_ids, structs
 */
#include <stdlib.h>

#include "files/files.h"

typedef struct nested_providers {
    const frz_entry *entry;
    const frz_column_file *top;
    bool any_listed, differs;
} nested_providers;

static size_t part_of(const frz_entry *entry, const frz_column_file *provider)
{
    return provider == NULL ? 0 : 1 + (size_t)(provider - entry->column_files);
}

static frz_code visit_nested(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    nested_providers *nested = ctx;
    (void)err;
    if (!in_repeated) {
        const frz_column_file *provider = frz_entry_provider(nested->entry, field->id);
        nested->any_listed = nested->any_listed || provider != NULL;
        nested->differs = nested->differs || provider != nested->top;
    }
    return FRZ_OK;
}

frz_code frz_entry_part(const frz_entry *entry, const frz_field *field, size_t *part,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    nested_providers nested = {.entry = entry, .top = frz_entry_provider(entry, field->id)};
    if (field->type->id == FRZ_TYPE_STRUCT) {
        rc = frz_type_visit(field->type, visit_nested, &nested, err);
    }
    *part = nested.any_listed && nested.differs ? FRZ_PART_MIXED : part_of(entry, nested.top);
    return rc;
}

static bool same_column_file(const frz_column_file *a, const frz_column_file *b)
{
    return frz_str_equal(a->location, b->location) && a->field_id_count == b->field_id_count &&
           memcmp(a->field_ids, b->field_ids, a->field_id_count * sizeof *a->field_ids) == 0;
}

bool frz_same_column_files(const frz_entry *a, const frz_entry *b)
{
    bool same = a->column_file_count == b->column_file_count;
    for (size_t i = 0; same && i < a->column_file_count; i++) {
        same = same_column_file(&a->column_files[i], &b->column_files[i]);
    }
    return same;
}

/* ---- ids that a column file lists ---- */

typedef struct id_list {
    int32_t *ids;
    size_t count, room;
} id_list;

/* As the writer stores them: nothing of type unknown, and no struct that has only such below. */
static bool is_stored(const frz_type *type)
{
    bool stored = type->id != FRZ_TYPE_UNKNOWN && type->id != FRZ_TYPE_STRUCT;
    for (size_t i = 0; type->id == FRZ_TYPE_STRUCT && !stored && i < type->field_count; i++) {
        stored = is_stored(type->fields[i].type);
    }
    return stored;
}

static frz_code count_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    (void)err;
    ((id_list *)ctx)->room += !in_repeated && is_stored(field->type);
    return FRZ_OK;
}

static frz_code add_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    id_list *list = ctx;
    (void)err;
    if (!in_repeated && is_stored(field->type)) {
        list->ids[list->count++] = field->id;
    }
    return FRZ_OK;
}

static int by_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

frz_code frz_column_file_ids(const frz_type *type, frz_arena *arena, int32_t **ids, size_t *count,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    id_list list = {.room = 0};
    FRZ_TRY(frz_type_visit(type, count_id, &list, err));
    list.ids = frz_arena_array(arena, list.room, sizeof *list.ids);
    FRZ_TRY(list.ids == NULL ? frz_fail_nomem(err, list.room * sizeof *list.ids) : FRZ_OK);
    FRZ_TRY(frz_type_visit(type, add_id, &list, err));
    if (list.count > 1) {
        qsort(list.ids, list.count, sizeof *list.ids, by_id);
    }
    *ids = list.ids;
    *count = list.count;
out:
    return rc;
}
