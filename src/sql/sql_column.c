/*
 * A column that ALTER TABLE names, at any depth: found by the parts of its name, and replaced in a
 * copy of the schema's type that shares everything else.
 */
#include "sql/sql_internal.h"

const frz_type *sql_column_parent(const sql_column *column)
{
    return column->types[column->depth - 1];
}

/* Lists and maps have parts of fixed names, "element", "key" and "value". */
static frz_code find_part(const frz_type *type, frz_str part, frz_str above, const frz_field **out,
                          frz_error *err)
{
    if (!frz_type_is_nested(type)) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "column \"%.*s\" has no field \"%.*s\"",
                        FRZ_STR_ARG(above), FRZ_STR_ARG(part));
    }
    return frz_type_resolve_name(type, part, out, err);
}

frz_code sql_column_find(frz_arena *arena, const frz_type *struct_type, const frz_str *path,
                         size_t count, sql_column *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = struct_type;
    sql_column found = {.types = frz_arena_array(arena, count, sizeof *found.types),
                        .places = frz_arena_array(arena, count, sizeof *found.places)};
    frz_buf name = FRZ_BUF_INIT(arena->env, FRZ_BUF_NO_LIMIT);
    if (found.types == NULL || found.places == NULL) {
        return frz_fail_nomem(err, count * sizeof *found.types);
    }
    for (; found.depth < count; found.depth++) {
        FRZ_TRY(find_part(type, path[found.depth], frz_buf_view(&name), &found.field, err));
        found.types[found.depth] = type;
        found.places[found.depth] = (size_t)(found.field - type->fields);
        found.below_key |= type->id == FRZ_TYPE_MAP && found.places[found.depth] == 0;
        if (found.depth > 0) {
            FRZ_TRY(frz_buf_append_byte(&name, '.', err));
        }
        FRZ_TRY(frz_buf_append(&name, found.field->name.ptr, found.field->name.len, err));
        type = found.field->type;
    }
    FRZ_TRY(frz_arena_str(arena, frz_buf_view(&name), &found.name, err));
    *out = found;
out:
    frz_buf_reset(&name);
    return rc;
}

bool sql_column_is_taken(const frz_type *type, frz_str name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        frz_str first = type->fields[i].name;
        size_t below = first.len + 1;
        if (frz_str_equal(first, name) ||
            (name.len > below && name.ptr[first.len] == '.' && frz_str_starts_with(name, first) &&
             sql_column_is_taken(type->fields[i].type,
                                 (frz_str){name.ptr + below, name.len - below}))) {
            return true;
        }
    }
    return false;
}

frz_code sql_column_new_name(frz_arena *arena, const sql_column *column, frz_str last, frz_str *out,
                             frz_error *err)
{
    size_t above = column->name.len - column->field->name.len;
    char *text =
        frz_arena_printf(arena, "%.*s%.*s", (int)above, column->name.ptr, FRZ_STR_ARG(last));
    *out = frz_str_from(text == NULL ? "" : text);
    return text == NULL ? frz_fail_nomem(err, above + last.len) : FRZ_OK;
}

/* A copy of a nested type in which one field is another; NULL: is left out. */
static frz_code with_field(frz_arena *arena, const frz_type *type, size_t place,
                           const frz_field *field, const frz_type **out, frz_error *err)
{
    frz_type *made = frz_arena_alloc(arena, sizeof *made);
    frz_field *fields = frz_arena_array(arena, type->field_count, sizeof *fields);
    size_t count = 0;
    if (made == NULL || fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (i != place) {
            fields[count++] = type->fields[i];
        } else if (field != NULL) {
            fields[count++] = *field;
        }
    }
    *made = *type;
    made->fields = fields;
    made->field_count = count;
    *out = made;
    return FRZ_OK;
}

frz_code sql_column_replace(frz_arena *arena, const sql_column *column, const frz_field *field,
                            const frz_type **out, frz_error *err)
{
    const frz_type *type = NULL;
    frz_field holder;
    for (size_t i = column->depth; i-- > 0;) {
        frz_code rc = with_field(arena, column->types[i], column->places[i], field, &type, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        if (i > 0) { /* the field above holds the new type */
            holder = column->types[i - 1]->fields[column->places[i - 1]];
            holder.type = type;
            field = &holder;
        }
    }
    *out = type;
    return FRZ_OK;
}
