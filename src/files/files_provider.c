/*
 * The column files of an entry, seen as a whole: which file provides a top-level field, and whether
 * two entries have the same ones. spec: field_ids, structs
 */
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
