/*
 * Rows from files, a stream or another table, read as often as that can be: the columns that are
 * asked for, in the types of tables.
 */
#include "source/source.h"

#include "catalog/catalog_store.h"
#include "frazil/scan.h"
#include "type/type_value.h"

#define DEFAULT_NAME "source"
#define DEFAULT_MEMORY ((size_t)256 << 20)
#define FIRST_ID (-1000000000) /* of its fields: no table has such ids */

/* ---- what it is ---- */

static frz_code copy_what(frz_source *source, const frz_row_source *what, frz_error *err)
{
    frz_row_source own = FRZ_ROW_SOURCE_INIT;
    memcpy(&own, what, FRZ_MIN(what->struct_size, sizeof own));
    int kinds = (own.file_count > 0) + (own.stream != NULL) + (own.table != NULL);
    if (kinds != 1) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "expected files, a stream or a table to read from, found %d of them",
                        kinds);
    }
    source->what = own;
    return frz_arena_str(&source->arena, frz_str_from(own.name == NULL ? DEFAULT_NAME : own.name),
                         &source->name, err);
}

frz_code frz_source_memory(const frz_source *source, size_t *out, frz_error *err)
{
    const char *text = frz_variable(source->env, "FRZ_JOIN_MEMORY");
    int64_t bytes = (int64_t)DEFAULT_MEMORY;
    if (source->what.memory_bytes == 0 && text != NULL &&
        (!frz_str_to_i64(frz_str_from(text), &bytes) || bytes <= 0)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "FRZ_JOIN_MEMORY: expected bytes, found \"%s\"", text);
    }
    *out = source->what.memory_bytes == 0 ? (size_t)bytes : source->what.memory_bytes;
    return FRZ_OK;
}

bool frz_source_is_readable(const frz_source *source)
{
    return source->what.stream == NULL || !source->was_read;
}

/* ---- its columns ---- */

/* Names of columns as a reader takes them. */
static frz_code names_of(frz_arena *arena, const frz_type *columns, const char ***out,
                         frz_error *err)
{
    const char **names = frz_arena_array(arena, columns->field_count, sizeof *names);
    for (size_t i = 0; names != NULL && i < columns->field_count; i++) {
        names[i] = frz_arena_strdup(arena, columns->fields[i].name);
        names = names[i] == NULL ? NULL : names;
    }
    *out = names;
    return names == NULL ? frz_fail_nomem(err, columns->field_count * sizeof *names) : FRZ_OK;
}

static frz_code open_table(frz_source *source, const char *const *names, size_t count,
                           frz_error *err)
{
    frz_scan *scan = NULL;
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    options.columns = names;
    options.column_count = count;
    frz_code rc = frz_scan_open(source->table, &options, &scan, err);
    return rc == FRZ_OK ? frz_scan_export(scan, &source->own, err) : rc;
}

static frz_code open_file(frz_source *source, const char *const *names, size_t count,
                          frz_error *err)
{
    const char *file = source->what.files[source->file];
    frz_code rc = source_file_open(source->env, file, names, count, NULL, &source->own, err);
    return frz_context(err, rc, "reading %s", file);
}

/* Columns as those of a source: optional, and numbered where no table's are. */
static frz_code number_columns(frz_arena *arena, const frz_type *type, const frz_type **out,
                               frz_error *err)
{
    int32_t last = 0;
    frz_code rc = frz_type_make_optional(arena, type, &type, err);
    return rc == FRZ_OK ? frz_type_assign_ids(arena, type, FIRST_ID, out, &last, err) : rc;
}

/* The columns of what is open, with names and types; the struct lives in the arena. */
static frz_code type_of(frz_source *source, frz_arena *arena, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowSchema *schema = &source->plain.schema;
    const frz_type *type = NULL;
    size_t count = (size_t)schema->n_children;
    frz_field *fields = frz_arena_array(arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(expr_plain_field(arena, schema->children[i], &fields[i], err));
        fields[i].id = FRZ_ID_NONE;
    }
    FRZ_TRY(frz_type_struct_of(arena, fields, count, &type, err));
    FRZ_TRY(number_columns(arena, type, out, err));
out:
    return rc;
}

/* ---- opening ---- */

/* names NULL: all columns */
static frz_code open_stream(frz_source *source, const char *const *names, size_t count,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (source->what.stream != NULL) {
        source->open = source->what.stream;
    } else {
        FRZ_TRY(source->table != NULL ? open_table(source, names, count, err)
                                      : open_file(source, names, count, err));
        source->open = &source->own;
    }
    FRZ_TRY(source_plain_open(&source->plain, source->env, source->open, err));
out:
    return rc;
}

void frz_source_close(frz_source *source)
{
    source_plain_reset(&source->plain);
    if (source->own.release != NULL) {
        source->own.release(&source->own);
        source->own.release = NULL;
    }
    source->open = NULL;
}

static frz_code load_columns(frz_source *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(open_stream(source, NULL, 0, err));
    FRZ_TRY(type_of(source, &source->arena, &source->type, err));
out:
    frz_source_close(source);
    return rc;
}

static frz_code begin(frz_source *source, const frz_env *env, const frz_row_source *what,
                      frz_error *err)
{
    *source = (frz_source){.env = env};
    frz_arena_init(&source->arena, env, FRZ_ARENA_NO_LIMIT);
    return copy_what(source, what, err);
}

frz_code frz_source_init(frz_source *source, frz_catalog *catalog, const frz_row_source *what,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(begin(source, catalog->env, what, err));
    if (source->what.table != NULL) {
        FRZ_TRY(frz_catalog_load_table(catalog, source->what.table, &source->table, err));
    }
    FRZ_TRY(load_columns(source, err));
out:
    return rc;
}

frz_code frz_source_init_files(frz_source *source, const frz_env *env, const frz_row_source *what,
                               const frz_type *columns, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(begin(source, env, what, err));
    assert(source->what.file_count > 0);
    FRZ_TRY(columns == NULL ? load_columns(source, err)
                            : number_columns(&source->arena, columns, &source->type, err));
out:
    return rc;
}

/* Another writer changed the schema of the table that is read. */
static frz_code check_columns(const frz_source *source, const frz_type *columns, frz_error *err)
{
    for (size_t i = 0; columns != NULL && i < columns->field_count; i++) {
        const frz_field *field = NULL;
        frz_str name = columns->fields[i].name;
        if (frz_type_resolve_name(source->type, name, &field, NULL) != FRZ_OK) {
            return frz_fail(
                err, FRZ_E_CONFLICT,
                "another writer was first, and \"%.*s\" has no column \"%.*s\" any more",
                FRZ_STR_ARG(source->name), FRZ_STR_ARG(name));
        }
    }
    return FRZ_OK;
}

frz_code frz_source_follow(frz_source *source, const frz_table *newest, const frz_type *columns,
                           bool *moved, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table *before = source->table;
    *moved = false;
    if (before == NULL || before->metadata.table_uuid.ptr == NULL ||
        !frz_str_equal(before->metadata.table_uuid, newest->metadata.table_uuid)) {
        return FRZ_OK;
    }
    bool changed = before->metadata.current_schema_id != newest->metadata.current_schema_id;
    *moved =
        changed || before->metadata.current_snapshot_id != newest->metadata.current_snapshot_id;
    source->table = frz_table_ref((frz_table *)newest); /* one more owner is no change to it */
    frz_table_unref(before);
    if (changed) {
        FRZ_TRY(load_columns(source, err));
        FRZ_TRY(check_columns(source, columns, err));
    }
out:
    return rc;
}

void frz_source_reset(frz_source *source)
{
    if (source->env != NULL) {
        frz_source_close(source);
        frz_table_unref(source->table);
        frz_arena_reset(&source->arena);
    }
    *source = (frz_source){0};
}

/* ---- rows ---- */

/* Where columns are in what is open. Files that are read together must agree. */
static frz_code find_columns(frz_source *source, size_t *places, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const frz_type *found = NULL;
    char want[80], have[80];
    frz_arena_init(&arena, source->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(type_of(source, &arena, &found, err));
    for (size_t i = 0; i < source->columns->field_count; i++) {
        const frz_field *column = &source->columns->fields[i], *field = NULL;
        FRZ_TRY(frz_type_resolve_name(found, column->name, &field, err));
        if (!frz_type_same_shape(field->type, column->type)) {
            rc = frz_fail(err, FRZ_E_ARGUMENT,
                          "column \"%.*s\": expected %s, as in the first file, found %s",
                          FRZ_STR_ARG(column->name), frz_type_text(column->type, want, sizeof want),
                          frz_type_text(field->type, have, sizeof have));
            goto out;
        }
        places[i] = (size_t)(field - found->fields);
    }
out:
    frz_arena_reset(&arena);
    return rc;
}

static frz_code open_columns(frz_source *source, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    const char **names = NULL;
    size_t count = source->columns->field_count;
    size_t *places = frz_alloc_zero(source->env, count, sizeof *places);
    frz_arena_init(&arena, source->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(places == NULL ? frz_fail_nomem(err, count * sizeof *places) : FRZ_OK);
    FRZ_TRY(names_of(&arena, source->columns, &names, err));
    FRZ_TRY(open_stream(source, names, count, err));
    FRZ_TRY(find_columns(source, places, err));
    FRZ_TRY(source_plain_choose(&source->plain, places, count, err));
out:
    frz_free(source->env, places);
    frz_arena_reset(&arena);
    return rc;
}

static frz_code in_file(const frz_source *source, frz_error *err, frz_code rc)
{
    return source->what.file_count == 0
               ? rc
               : frz_context(err, rc, "reading %s", source->what.files[source->file]);
}

frz_code frz_source_open(frz_source *source, const frz_type *columns, frz_error *err)
{
    if (!frz_source_is_readable(source)) {
        return frz_fail(err, FRZ_E_CONFLICT,
                        "another writer was first, and a stream cannot be read again");
    }
    frz_source_close(source);
    source->was_read = true;
    source->columns = columns;
    source->file = 0;
    return in_file(source, err, open_columns(source, err));
}

frz_code frz_source_next(frz_source *source, struct ArrowArray *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t first = 0;
    for (;;) {
        rc = in_file(source, err, source_plain_next(&source->plain, out, &first, err));
        if (rc != FRZ_END || source->file + 1 >= source->what.file_count) {
            return rc;
        }
        frz_source_close(source);
        source->file++;
        FRZ_TRY(in_file(source, err, open_columns(source, err)));
    }
out:
    return rc;
}
