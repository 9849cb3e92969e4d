/*
 * Who provides a field of a stitched file: the column file that lists it, the base file, or nobody.
 * Members of structs are asked one by one, each by its own id; a struct's own id stands for where
 * it is null. Only if a struct is listed and none of its members is, the file that lists it stands
 * for all of it that it stores (an older rule). Lists and maps are never taken apart.
 *
 * A field that nobody stores has the value of an identity partition, else its default, else null.
 *
 * spec: field_ids, structs; Column Projection
 */
#include "scan/scan_internal.h"
#include "type/type_transform.h"

/* A field on the way down through structs. */
typedef struct field_way {
    const struct field_way *up; /* the struct around; NULL: the row */
    const frz_field *field;
} field_way;

/* ---- what the files say ---- */

static bool any_field_has_id(const frz_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].id != FRZ_ID_NONE) {
            return true;
        }
    }
    return type->field_count == 0;
}

static const char mapping_hint[] = "set the table property schema.name-mapping.default";

/* Structs without any id inside could only be read as defaults, at any depth. */
static frz_code check_member_ids(const frz_data_file *file, const frz_field *stored,
                                 const frz_field *wanted, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = stored->type;
    bool is_struct = type->id == FRZ_TYPE_STRUCT;
    if (type->id != wanted->type->id || !frz_type_is_nested(type)) {
        return FRZ_OK; /* what is wrong about it, the reader says */
    }
    if (is_struct && !any_field_has_id(type)) {
        rc =
            frz_fail(err, FRZ_E_CORRUPT,
                     "%s: members of \"%.*s\" have no field ids and no name mapping gives them any",
                     frz_data_file_location(file), FRZ_STR_ARG(stored->name));
        frz_hint(err, mapping_hint);
        goto out;
    }
    for (size_t i = 0; i < wanted->type->field_count; i++) {
        const frz_field *field = &wanted->type->fields[i];
        const frz_field *below =
            is_struct ? frz_type_field_by_id(type, field->id) : &type->fields[i];
        if (below != NULL) {
            FRZ_TRY(check_member_ids(file, below, field, err));
        }
    }
out:
    return rc;
}

/* A file that was cut or exchanged shows in its size, before a byte of it is believed. Writers of
 * older versions got it wrong here and there, and no reader of theirs looks at it. */
static frz_code check_size(const frz_table *table, const frz_file *file, int64_t recorded,
                           bool strict, frz_error *err)
{
    uint64_t size = frz_file_size(file);
    if (recorded >= 0 && size == (uint64_t)recorded) {
        return FRZ_OK;
    }
    if (strict) {
        return frz_fail(err, FRZ_E_CORRUPT, "%s: file has %llu bytes, its manifest entry says %lld",
                        frz_file_location(file), (unsigned long long)size, (long long)recorded);
    }
    frz_log(table->env, "scan", FRZ_LOG_WARN,
            "%s: file has %llu bytes, its manifest entry says %lld", frz_file_location(file),
            (unsigned long long)size, (long long)recorded);
    return FRZ_OK;
}

frz_code frz_stitch_open_file(const frz_table *table, const frz_entry *entry,
                              const frz_column_file *column_file, frz_data_file **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_file *source = NULL;
    frz_data_file *file = NULL;
    /* column files always carry ids; names must not give them any */
    const frz_name_mapping *mapping =
        column_file == NULL && table->has_mapping ? &table->mapping : NULL;
    FRZ_TRY(frz_table_resolve_access(
        table, column_file == NULL ? entry->location : column_file->location, &location, err));
    FRZ_TRY(frz_file_open(table->env, location, &source, err));
    FRZ_TRY(check_size(table, source,
                       column_file == NULL ? entry->file_size : column_file->file_size,
                       !entry->is_legacy || column_file != NULL, err));
    frz_file *moved = source;
    source = NULL;
    FRZ_TRY(frz_data_file_open_in(table->env, moved, mapping, &file, err));
    if (frz_data_file_row_count(file) != entry->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: file has %lld rows, its manifest entry says %lld",
                      location, (long long)frz_data_file_row_count(file),
                      (long long)entry->record_count);
        goto out;
    }
    if (!any_field_has_id(frz_data_file_type(file))) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%s: columns have no field ids and no name mapping gives them any", location);
        frz_hint(err, mapping_hint);
        goto out;
    }
    *out = file;
    file = NULL;
out:
    frz_data_file_close(file);
    frz_file_close(source);
    frz_free(table->env, location);
    return rc;
}

frz_code stitch_part_for(frz_stitch *stitch, const frz_column_file *provider, size_t *index,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < stitch->part_count; i++) {
        if (stitch->parts[i].column_file == provider) {
            *index = i;
            return FRZ_OK;
        }
    }
    stitch_part *part = &stitch->parts[stitch->part_count];
    *part = (stitch_part){.column_file = provider};
    FRZ_TRY(frz_stitch_open_file(stitch->table, stitch->entry, provider, &part->file, err));
    if (provider == NULL) {
        stitch->counts.base_files_opened++;
    } else {
        stitch->counts.column_files_opened++;
    }
    *index = stitch->part_count++;
out:
    return rc;
}

static frz_code not_stored(const frz_column_file *file, const frz_field *field, frz_error *err)
{
    return frz_fail(err, FRZ_E_CORRUPT,
                    "%.*s: column file lists field id %d (\"%.*s\") but does not store it",
                    FRZ_STR_ARG(file->location), field->id, FRZ_STR_ARG(field->name));
}

/* The field in a file's schema, if it lies in the same structs there. */
static const frz_field *find_stored(const frz_type *file, const field_way *way)
{
    const frz_field *around = way->up == NULL ? NULL : find_stored(file, way->up);
    if (way->up != NULL) {
        file = around != NULL && around->type->id == FRZ_TYPE_STRUCT ? around->type : NULL;
    }
    return file == NULL ? NULL : frz_type_field_by_id(file, way->field->id);
}

static frz_code is_stored(frz_stitch *stitch, const frz_column_file *provider, const field_way *way,
                          size_t *part, bool *stored, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(stitch_part_for(stitch, provider, part, err));
    const frz_data_file *file = stitch->parts[*part].file;
    const frz_field *found = find_stored(frz_data_file_type(file), way);
    *stored = found != NULL;
    if (found != NULL) {
        FRZ_TRY(check_member_ids(file, found, way->field, err));
    }
out:
    return rc;
}

/* ---- fields that nobody stores ---- */

static frz_code take_tuple_value(frz_stitch *stitch, const frz_value *value, stitch_source *out,
                                 frz_error *err)
{
    char from[64], to[64];
    const frz_field *field = out->field;
    frz_value *copy = frz_arena_alloc(&stitch->arena, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, sizeof *copy);
    }
    *copy = (frz_value){.type = field->type, .is_null = true};
    if (!value->is_null && !frz_value_as_source(value, field->type, copy)) {
        return frz_fail(
            err, FRZ_E_CORRUPT,
            "%.*s: column \"%.*s\" (field id %d) is not stored, and its partition value "
            "of type %s cannot be read as %s",
            FRZ_STR_ARG(stitch_location(stitch)), FRZ_STR_ARG(field->name), field->id,
            frz_type_text(value->type, from, sizeof from),
            frz_type_text(field->type, to, sizeof to));
    }
    out->value = copy;
    out->from_tuple = true;
    return FRZ_OK;
}

static frz_code choose_constant(frz_stitch *stitch, stitch_source *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = out->field;
    const frz_value *value =
        frz_entry_identity_value(&stitch->table->metadata, stitch->entry, field->id);
    if (stitch_is_lineage(field->id) || field->type->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK;
    }
    out->value = field->initial_default;
    if (value != NULL && !frz_type_is_nested(field->type)) {
        FRZ_TRY(take_tuple_value(stitch, value, out, err));
    }
    if (field->required && (out->value == NULL || out->value->is_null)) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%.*s: required column \"%.*s\" (field id %d) is not stored and has no "
                      "default",
                      FRZ_STR_ARG(stitch_location(stitch)), FRZ_STR_ARG(field->name), field->id);
    }
out:
    return rc;
}

/* ---- fields, and members of structs ---- */

static frz_code find_listed(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    frz_stitch *stitch = ctx;
    (void)err;
    return !in_repeated && frz_entry_provider(stitch->entry, field->id) != NULL ? FRZ_END : FRZ_OK;
}

/* Is a member of the struct listed, at any depth? */
static bool any_member_listed(frz_stitch *stitch, const frz_type *type)
{
    return frz_type_visit(type, find_listed, stitch, NULL) == FRZ_END;
}

/* Would the part that knows where the struct is null read this member in the same way? */
static bool member_follows(const frz_stitch *stitch, const stitch_source *member, size_t part,
                           const field_way *way)
{
    const frz_type *file = frz_data_file_type(stitch->parts[part].file);
    return member->field->type->id == FRZ_TYPE_UNKNOWN ||
           (member->place == STITCH_STORED && member->part == part) ||
           (member->place == STITCH_CONSTANT && !member->from_tuple &&
            find_stored(file, way) == NULL);
}

static frz_code choose(frz_stitch *stitch, const field_way *way, const frz_column_file *whole,
                       stitch_source *out, frz_error *err);

static frz_code choose_members(frz_stitch *stitch, const field_way *way,
                               const frz_column_file *whole, stitch_source *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = way->field->type;
    bool all_follow = true;
    out->members = frz_arena_array(&stitch->arena, type->field_count, sizeof *out->members);
    if (out->members == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *out->members);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        field_way member = {way, &type->fields[i]};
        FRZ_TRY(choose(stitch, &member, whole, &out->members[i], err));
        all_follow = all_follow && member_follows(stitch, &out->members[i], out->part, &member);
    }
    out->place = all_follow ? STITCH_STORED : STITCH_SPREAD;
out:
    return rc;
}

/* Who stores a field: who lists it, or else who stands for the struct around it, or else the base
 * file. *whole becomes who stands for the members of this one. */
static frz_code find_part(frz_stitch *stitch, const field_way *way, const frz_column_file **whole,
                          size_t *part, bool *stored, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = way->field;
    const frz_column_file *listed = frz_entry_provider(stitch->entry, field->id);
    *stored = false;
    if (listed != NULL) {
        FRZ_TRY(is_stored(stitch, listed, way, part, stored, err));
        FRZ_TRY(*stored ? FRZ_OK : not_stored(listed, field, err));
        *whole = any_member_listed(stitch, field->type) ? NULL : listed;
        return FRZ_OK;
    }
    if (*whole != NULL) {
        FRZ_TRY(is_stored(stitch, *whole, way, part, stored, err));
        *whole = *stored ? *whole : NULL;
    }
    if (!*stored) {
        FRZ_TRY(is_stored(stitch, NULL, way, part, stored, err));
    }
out:
    return rc;
}

static frz_code choose(frz_stitch *stitch, const field_way *way, const frz_column_file *whole,
                       stitch_source *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool stored = false;
    *out = (stitch_source){.field = way->field, .place = STITCH_CONSTANT};
    out->index = frz_arena_array(&stitch->arena, stitch->part_limit, sizeof *out->index);
    if (out->index == NULL) {
        return frz_fail_nomem(err, stitch->part_limit * sizeof *out->index);
    }
    for (size_t i = 0; i < stitch->part_limit; i++) {
        out->index[i] = STITCH_ABSENT;
    }
    if (way->field->type->id != FRZ_TYPE_UNKNOWN) { /* else never stored, always null */
        FRZ_TRY(find_part(stitch, way, &whole, &out->part, &stored, err));
    }
    if (!stored) {
        FRZ_TRY(choose_constant(stitch, out, err));
    } else if (way->field->type->id == FRZ_TYPE_STRUCT) {
        FRZ_TRY(choose_members(stitch, way, whole, out, err));
    } else {
        out->place = STITCH_STORED;
    }
out:
    return rc;
}

frz_code stitch_choose_column(frz_stitch *stitch, size_t i, frz_error *err)
{
    field_way way = {NULL, &stitch->projection->fields[i]};
    return choose(stitch, &way, NULL, &stitch->columns[i], err);
}

bool stitch_source_uses(const stitch_source *source, size_t part)
{
    bool uses = source->place != STITCH_CONSTANT && source->part == part;
    for (size_t i = 0;
         source->place == STITCH_SPREAD && !uses && i < source->field->type->field_count; i++) {
        uses = stitch_source_uses(&source->members[i], part);
    }
    return uses;
}
