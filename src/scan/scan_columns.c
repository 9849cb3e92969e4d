/*
 * Which columns are read for what is asked for, and the filter: what scans, plans and tasks have in
 * common.
 */
#include "scan/scan_internal.h"

#define CELL_BYTES 24 /* of a value without fixed width, about */

/* ---- names ---- */

/* A struct in which two names differ only in case, if they are not told apart. */
static bool has_twins(const frz_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        for (size_t k = i + 1; k < type->field_count; k++) {
            if (frz_str_equal_nocase(type->fields[i].name, type->fields[k].name)) {
                return true;
            }
        }
        if (has_twins(type->fields[i].type)) {
            return true;
        }
    }
    return false;
}

/* If case is ignored, what was found must be the only one that could have been meant. */
static frz_code check_case(const frz_type *readable, const frz_field *field, frz_error *err)
{
    bool ambiguous = has_twins(field->type);
    for (size_t i = 0; i < readable->field_count; i++) {
        ambiguous |= readable->fields[i].id != field->id &&
                     frz_str_equal_nocase(readable->fields[i].name, field->name);
    }
    return !ambiguous
               ? FRZ_OK
               : frz_fail(err, FRZ_E_ARGUMENT,
                          "column \"%.*s\" is ambiguous if case is ignored: several names differ "
                          "only in it",
                          FRZ_STR_ARG(field->name));
}

/* Fields in the order asked for; a name may stand twice. */
static frz_code resolve_columns(scan_columns *c, frz_arena *arena, const scan_request *request,
                                const frz_schema *schema, const frz_type *readable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = request->columns == NULL ? schema->type->field_count : request->column_count;
    frz_field *fields = frz_arena_array(arena, n + 2, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, n * sizeof *fields);
    }
    for (size_t i = 0; i < n; i++) {
        const frz_field *field = request->columns == NULL ? &schema->type->fields[i] : NULL;
        if (field == NULL) {
            FRZ_TRY(
                frz_type_resolve_name(readable, frz_str_from(request->columns[i]), &field, err));
            FRZ_TRY(request->ignore_case ? check_case(readable, field, err) : FRZ_OK);
        }
        fields[i] = *field;
    }
    if (request->with_lineage) {
        fields[n++] = frz_field_row_id;
        fields[n++] = frz_field_last_updated;
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, n, &c->output_type, err));
out:
    return rc;
}

static frz_code bind_filter(scan_columns *c, frz_arena *arena, const scan_request *request,
                            const frz_type *readable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr = NULL;
    size_t count = 0;
    FRZ_TRY(frz_expr_parse(arena, frz_str_from(request->where), &expr, err));
    FRZ_TRY(frz_expr_bind_filter(arena->env, expr, readable, &c->filter, err));
    const int32_t *ids = frz_bound_expr_fields(c->filter, &count);
    for (size_t i = 0; i < count && request->ignore_case; i++) {
        FRZ_TRY(check_case(readable, frz_type_field_by_id(readable, ids[i]), err));
    }
out:
    return rc;
}

/* ---- what is read for it ---- */

/* Ids of top-level fields, each once: those in files first, then columns about rows. */
typedef struct read_ids {
    int32_t *ids;
    size_t stored, count;
} read_ids;

static size_t place_of(const read_ids *list, int32_t id)
{
    size_t i = 0;
    while (i < list->count && list->ids[i] != id) {
        i++;
    }
    return i;
}

static void add_id(read_ids *list, int32_t id, bool row_columns)
{
    if (frz_is_row_column(id) == row_columns && place_of(list, id) == list->count) {
        list->ids[list->count++] = id;
    }
}

/* What the output needs, then what only the filter needs. */
static void add_ids(const scan_columns *c, read_ids *list, bool row_columns)
{
    size_t filter_count = 0;
    const frz_type *output = c->output_type;
    const int32_t *filter_ids =
        c->filter == NULL ? NULL : frz_bound_expr_fields(c->filter, &filter_count);
    for (size_t i = 0; i < output->field_count; i++) {
        add_id(list, output->fields[i].id, row_columns);
    }
    for (size_t i = 0; i < filter_count; i++) {
        add_id(list, filter_ids[i], row_columns);
    }
}

static frz_code collect_read_type(scan_columns *c, frz_arena *arena, const frz_type *readable,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t filter_count = 0;
    const frz_type *output = c->output_type;
    if (c->filter != NULL) {
        frz_bound_expr_fields(c->filter, &filter_count);
    }
    size_t most = output->field_count + filter_count + 1;
    read_ids list = {.ids = frz_arena_array(arena, most, sizeof *list.ids)};
    size_t *index = frz_arena_array(arena, output->field_count + 1, sizeof *index);
    bool *taken = frz_arena_array(arena, most, sizeof *taken);
    if (list.ids == NULL || index == NULL || taken == NULL) {
        rc = frz_fail_nomem(err, most * sizeof *index);
        goto out;
    }
    add_ids(c, &list, false);
    list.stored = list.count;
    add_ids(c, &list, true);
    for (size_t i = 0; i < output->field_count; i++) {
        index[i] = place_of(&list, output->fields[i].id);
        c->repeats = c->repeats || taken[index[i]];
        taken[index[i]] = true;
    }
    c->output_index = index;
    c->shows_deleted = place_of(&list, FRZ_ID_ROW_DELETED) < list.count;
    FRZ_TRY(frz_project_ids(arena, readable, list.ids, list.stored, &c->stored_type, err));
    FRZ_TRY(frz_project_ids(arena, readable, list.ids, list.count, &c->read_type, err));
out:
    return rc;
}

/* ---- all of it ---- */

frz_code scan_columns_init(scan_columns *c, frz_arena *arena, const frz_table *table,
                           const frz_schema *schema, const scan_request *request, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_metadata *metadata = &table->metadata;
    const frz_type *readable = NULL, *projectable = NULL;
    FRZ_TRY(frz_readable_type(arena, schema, &readable, err));
    FRZ_TRY(frz_row_columns_add(arena, metadata, readable, true, &readable, err));
    FRZ_TRY(frz_projectable_type(arena, schema, &projectable, err));
    FRZ_TRY(frz_row_columns_add(arena, metadata, projectable, false, &projectable, err));
    FRZ_TRY(resolve_columns(c, arena, request, schema, readable, err));
    if (request->where != NULL) {
        FRZ_TRY(bind_filter(c, arena, request, readable, err));
    }
    FRZ_TRY(collect_read_type(c, arena, projectable, err));
out:
    return rc;
}

void scan_columns_reset(scan_columns *c)
{
    frz_bound_expr_free(c->filter);
    c->filter = NULL;
}

size_t scan_row_bytes(const frz_type *type)
{
    size_t bytes = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        size_t width = frz_type_width(type->fields[i].type);
        bytes += width > 0 ? width : CELL_BYTES;
    }
    return bytes;
}
