/*
 * Import: one table schema out of the schemas of several files. Struct fields are matched by name,
 * because files without ids have nothing else and files with ids must agree in both. Whatever does
 * not fit is refused naming file, column and both types. spec: name mapping; reserved field ids
 */
#include <stdio.h>
#include <stdlib.h>

#include "write/write_internal.h"

#define COLUMN_TEXT 256
#define TYPE_TEXT 160

/* Where in a tree a check is, from the leaf up; for messages. */
typedef struct import_place {
    const struct import_place *parent;
    frz_str name;
} import_place;

static size_t place_text(const import_place *place, char *text, size_t size)
{
    size_t at = 0;
    if (place->parent != NULL) {
        at = place_text(place->parent, text, size);
        at = FRZ_MIN(at + 1, size - 1);
        text[at - 1] = '.';
    }
    size_t len = FRZ_MIN(place->name.len, size - 1 - at);
    memcpy(text + at, place->name.len == 0 ? "" : place->name.ptr, len);
    text[at + len] = '\0';
    return at + len;
}

/* ---- what one file must fulfil ---- */

typedef struct id_list {
    const frz_env *env;
    const frz_field **fields;
    size_t count, capacity;
    const frz_field *without; /* a field that has no id, or NULL */
} id_list;

static frz_code collect_id(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    id_list *list = ctx;
    (void)in_repeated;
    if (field->id == FRZ_ID_NONE) {
        list->without = list->without == NULL ? field : list->without;
        return FRZ_OK;
    }
    frz_code rc = FRZ_GROW(list->env, &list->fields, &list->capacity, list->count, err);
    if (rc == FRZ_OK) {
        list->fields[list->count++] = field;
    }
    return rc;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = (*(const frz_field *const *)a)->id;
    int32_t y = (*(const frz_field *const *)b)->id;
    return x < y ? -1 : x > y;
}

static frz_code refuse_ids(frz_error *err, frz_code rc)
{
    frz_hint(err, "import with --rewrite to give the columns new ids");
    return rc;
}

static frz_code check_id_list(const char *path, id_list *list, frz_error *err)
{
    if (list->without != NULL) {
        return refuse_ids(err, frz_fail(err, FRZ_E_ARGUMENT,
                                        "file %s: column \"%.*s\" has field id %d, but column "
                                        "\"%.*s\" has none; all columns must have ids or none",
                                        path, FRZ_STR_ARG(list->fields[0]->name),
                                        list->fields[0]->id, FRZ_STR_ARG(list->without->name)));
    }
    qsort(list->fields, list->count, sizeof(const frz_field *), compare_ids);
    for (size_t i = 0; i < list->count; i++) {
        const frz_field *field = list->fields[i];
        if (field->id < 1 || field->id > FRZ_ID_USER_MAX) {
            return refuse_ids(
                err, frz_fail(err, FRZ_E_ARGUMENT, "file %s: column \"%.*s\" has field id %d, %s",
                              path, FRZ_STR_ARG(field->name), field->id,
                              field->id < 1 ? "which is not positive" : "which is reserved"));
        }
        if (i > 0 && list->fields[i - 1]->id == field->id) {
            return refuse_ids(err,
                              frz_fail(err, FRZ_E_ARGUMENT,
                                       "file %s: columns \"%.*s\" and \"%.*s\" both have field "
                                       "id %d",
                                       path, FRZ_STR_ARG(list->fields[i - 1]->name),
                                       FRZ_STR_ARG(field->name), field->id));
        }
    }
    return FRZ_OK;
}

static int compare_names(const void *a, const void *b)
{
    return frz_str_compare((*(const frz_field *const *)a)->name,
                           (*(const frz_field *const *)b)->name);
}

/* No struct at any depth may have a name twice: the files are matched by name. */
static frz_code check_names(const frz_env *env, const char *path, const import_place *parent,
                            const frz_type *type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field **sorted = frz_alloc_zero(env, type->field_count, sizeof(const frz_field *));
    if (sorted == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof(const frz_field *));
    }
    for (size_t i = 0; i < type->field_count; i++) {
        sorted[i] = &type->fields[i];
    }
    qsort(sorted, type->field_count, sizeof(const frz_field *), compare_names);
    for (size_t i = 0; i < type->field_count; i++) {
        import_place place = {parent, sorted[i]->name};
        if (i > 0 && frz_str_equal(sorted[i - 1]->name, sorted[i]->name)) {
            char text[COLUMN_TEXT];
            place_text(&place, text, sizeof text);
            rc = frz_fail(err, FRZ_E_ARGUMENT, "file %s: column \"%s\" is there twice", path, text);
            goto out;
        }
        if (frz_type_is_nested(sorted[i]->type)) {
            FRZ_TRY(check_names(env, path, &place, sorted[i]->type, err));
        }
    }
out:
    frz_free(env, sorted);
    return rc;
}

static bool is_lineage(const frz_field *field)
{
    return field->id == FRZ_ID_ROW_ID || field->id == FRZ_ID_LAST_UPDATED;
}

/* Names that mean row lineage beside every column. */
static frz_code check_lineage_names(const char *path, const frz_type *type, frz_error *err)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        bool reserved = frz_str_equal(field->name, frz_field_row_id.name) ||
                        frz_str_equal(field->name, frz_field_last_updated.name);
        if (reserved && !is_lineage(field)) {
            frz_code rc = frz_fail(err, FRZ_E_ARGUMENT,
                                   "file %s: column name \"%.*s\" is reserved for row lineage",
                                   path, FRZ_STR_ARG(field->name));
            frz_hint(err, "rename the column with the program that wrote the file");
            return rc;
        }
    }
    return FRZ_OK;
}

frz_code frz_import_check(const frz_env *env, const char *path, const frz_type *type, bool rewrite,
                          bool *has_ids, frz_error *err)
{
    frz_code rc = FRZ_OK;
    id_list list = {.env = env};
    if (type->field_count == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "file %s has no columns", path);
    }
    FRZ_TRY(check_names(env, path, NULL, type, err));
    FRZ_TRY(check_lineage_names(path, type, err));
    FRZ_TRY(frz_type_visit(type, collect_id, &list, err));
    if (!rewrite && list.count > 0) {
        FRZ_TRY(check_id_list(path, &list, err));
    }
    *has_ids = list.count > 0;
out:
    frz_free(env, list.fields);
    return rc;
}

/* ---- copies of trees ---- */

/* The field of a struct with this name, looked for at the likely index first. */
static const frz_field *field_by_name(const frz_type *type, size_t likely, frz_str name)
{
    if (likely < type->field_count && frz_str_equal(type->fields[likely].name, name)) {
        return &type->fields[likely];
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, name)) {
            return &type->fields[i];
        }
    }
    return NULL;
}

/* The counterpart of field i: by name in a struct, by place in lists and maps. */
static const frz_field *counterpart(const frz_type *type, const frz_type *other, size_t i)
{
    if (other == NULL || other->id != type->id) {
        return NULL;
    }
    return type->id == FRZ_TYPE_STRUCT ? field_by_name(other, i, type->fields[i].name)
                                       : &other->fields[i];
}

/* Copy a tree, giving every field the id of its counterpart in other (none without one). Top-level
 * lineage columns are left out. */
static frz_code copy_with_ids(frz_arena *arena, const frz_type *type, const frz_type *other,
                              bool top, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!frz_type_is_nested(type)) {
        return frz_type_copy(arena, type, out, err);
    }
    frz_type *copy = frz_arena_alloc(arena, sizeof *copy);
    frz_field *fields = frz_arena_array(arena, type->field_count, sizeof *fields);
    if (copy == NULL || fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        if (top && is_lineage(field)) {
            continue;
        }
        const frz_field *twin = counterpart(type, other, i);
        frz_field *made = &fields[count++];
        *made =
            (frz_field){.required = field->required, .id = twin == NULL ? FRZ_ID_NONE : twin->id};
        FRZ_TRY(frz_arena_str(arena, field->name, &made->name, err));
        FRZ_TRY(copy_with_ids(arena, field->type, twin == NULL ? NULL : twin->type, false,
                              &made->type, err));
    }
    *copy = (frz_type){.id = type->id, .fields = fields, .field_count = count};
    *out = copy;
out:
    return rc;
}

frz_code frz_import_strip(frz_arena *arena, const frz_type *type, const frz_type **out,
                          frz_error *err)
{
    return copy_with_ids(arena, type, NULL, true, out, err);
}

frz_code frz_import_number(frz_arena *arena, const frz_type *type, const frz_type *table_type,
                           const frz_type **out, frz_error *err)
{
    return copy_with_ids(arena, type, table_type, true, out, err);
}

/* ---- fitting one more file ---- */

typedef struct import_fit {
    const frz_import_schema *schema;
    const char *path;
    bool changes; /* the file adds ids or makes a column optional */
} import_fit;

static frz_code fail_types(const import_fit *fit, const import_place *place, const frz_type *want,
                           const frz_type *found, frz_error *err)
{
    char column[COLUMN_TEXT], a[TYPE_TEXT], b[TYPE_TEXT];
    place_text(place, column, sizeof column);
    return frz_fail(err, FRZ_E_ARGUMENT, "file %s, column \"%s\": expected %s as in %s, found %s",
                    fit->path, column, frz_type_text(want, a, sizeof a), fit->schema->path,
                    frz_type_text(found, b, sizeof b));
}

static frz_code fail_missing(const char *without, const char *with, const import_place *parent,
                             const frz_field *field, frz_error *err)
{
    char column[COLUMN_TEXT], type[TYPE_TEXT];
    import_place place = {parent, field->name};
    place_text(&place, column, sizeof column);
    return frz_fail(err, FRZ_E_ARGUMENT, "file %s has no column \"%s\", which is %s in file %s",
                    without, column, frz_type_text(field->type, type, sizeof type), with);
}

static frz_code check_fit(import_fit *fit, const import_place *parent, const frz_type *want,
                          const frz_type *found, frz_error *err);

static frz_code check_fit_field(import_fit *fit, const import_place *place, const frz_field *want,
                                const frz_field *found, frz_error *err)
{
    if (want->id != FRZ_ID_NONE && found->id != FRZ_ID_NONE && want->id != found->id) {
        char column[COLUMN_TEXT];
        place_text(place, column, sizeof column);
        return refuse_ids(err,
                          frz_fail(err, FRZ_E_ARGUMENT,
                                   "file %s, column \"%s\": expected field id %d as in %s, "
                                   "found %d",
                                   fit->path, column, want->id, fit->schema->ids_path, found->id));
    }
    fit->changes = fit->changes || (want->required && !found->required) ||
                   (want->id == FRZ_ID_NONE && found->id != FRZ_ID_NONE);
    if (want->type->id != found->type->id ||
        (!frz_type_is_nested(want->type) && !frz_type_same_shape(want->type, found->type))) {
        return fail_types(fit, place, want->type, found->type, err);
    }
    return frz_type_is_nested(want->type) ? check_fit(fit, place, want->type, found->type, err)
                                          : FRZ_OK;
}

/* want and found are nested types of the same kind. */
static frz_code check_fit(import_fit *fit, const import_place *parent, const frz_type *want,
                          const frz_type *found, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < want->field_count; i++) {
        const frz_field *twin = counterpart(want, found, i);
        import_place place = {parent, want->fields[i].name};
        if (twin == NULL) {
            return fail_missing(fit->path, fit->schema->path, parent, &want->fields[i], err);
        }
        FRZ_TRY(check_fit_field(fit, &place, &want->fields[i], twin, err));
    }
    /* names are unique on both sides: a field too many has no counterpart */
    for (size_t i = 0; i < found->field_count && found->field_count > want->field_count; i++) {
        if (counterpart(found, want, i) == NULL) {
            return fail_missing(fit->schema->path, fit->path, parent, &found->fields[i], err);
        }
    }
out:
    return rc;
}

/* A copy of a with the ids and the optional fields of b added; both fit. */
static frz_code merge(frz_arena *arena, const frz_type *a, const frz_type *b, const frz_type **out,
                      frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (!frz_type_is_nested(a)) {
        *out = a;
        return FRZ_OK;
    }
    frz_type *merged = frz_arena_alloc(arena, sizeof *merged);
    frz_field *fields = frz_arena_array(arena, a->field_count, sizeof *fields);
    if (merged == NULL || fields == NULL) {
        return frz_fail_nomem(err, a->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < a->field_count; i++) {
        const frz_field *twin = counterpart(a, b, i);
        fields[i] = a->fields[i];
        fields[i].id = fields[i].id == FRZ_ID_NONE ? twin->id : fields[i].id;
        fields[i].required = fields[i].required && twin->required;
        FRZ_TRY(merge(arena, a->fields[i].type, twin->type, &fields[i].type, err));
    }
    *merged = (frz_type){.id = a->id, .fields = fields, .field_count = a->field_count};
    *out = merged;
out:
    return rc;
}

frz_code frz_import_fit(frz_import_schema *schema, const char *path, const frz_type *type,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool has_ids = type->fields[0].id != FRZ_ID_NONE;
    const frz_type *merged = NULL;
    import_fit fit = {.schema = schema, .path = path};
    if (schema->type == NULL) {
        FRZ_TRY(frz_type_copy(schema->arena, type, &merged, err));
        schema->path = path;
    } else {
        FRZ_TRY(check_fit(&fit, NULL, schema->type, type, err));
        merged = schema->type;
        if (fit.changes) {
            FRZ_TRY(merge(schema->arena, schema->type, type, &merged, err));
        }
    }
    schema->type = merged;
    schema->ids_path = has_ids && schema->ids_path == NULL ? path : schema->ids_path;
out:
    return rc;
}
