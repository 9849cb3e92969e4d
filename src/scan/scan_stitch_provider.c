/*
 * Who provides a field of a stitched file: the column file that lists it, the base file, or nobody.
 * What the manifest entry says is held against what the files store; structs that lie in several
 * files are refused.
 */
#include "scan/scan_internal.h"

/* ---- what the entry says ---- */

static bool lists_id(const frz_column_file *file, int32_t id)
{
    for (size_t i = 0; i < file->field_id_count; i++) {
        if (file->field_ids[i] == id) {
            return true;
        }
    }
    return false;
}

static frz_code stored_partly(const frz_stitch *stitch, const frz_field *field, frz_error *err)
{
    return frz_fail(err, FRZ_E_UNSUPPORTED,
                    "unsupported: struct \"%.*s\" (field id %d) of %.*s is stored partly in a "
                    "column file",
                    FRZ_STR_ARG(field->name), field->id, FRZ_STR_ARG(stitch_location(stitch)));
}

typedef struct stray_check {
    const frz_entry *entry;
    const frz_column_file *provider; /* of the top-level field */
    bool found;                      /* a descendant that another column file lists */
} stray_check;

static frz_code check_stray(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    stray_check *check = ctx;
    const frz_column_file *provider = frz_entry_provider(check->entry, field->id);
    (void)in_repeated;
    (void)err;
    check->found = check->found || (provider != NULL && provider != check->provider);
    return FRZ_OK;
}

/* The provider of a top-level field; a struct of which parts are listed elsewhere is refused. spec:
 * field_ids, structs */
static frz_code find_provider(const frz_stitch *stitch, const frz_field *field,
                              const frz_column_file **out, frz_error *err)
{
    stray_check check = {.entry = stitch->entry,
                         .provider = frz_entry_provider(stitch->entry, field->id)};
    if (field->type->id == FRZ_TYPE_STRUCT) {
        frz_code rc = frz_type_visit(field->type, check_stray, &check, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        if (check.found) {
            return stored_partly(stitch, field, err);
        }
    }
    *out = check.provider;
    return FRZ_OK;
}

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

/* A file that was cut or exchanged shows in its size, before a byte of it is believed. */
static frz_code check_size(const frz_env *env, const char *location, int64_t recorded,
                           frz_error *err)
{
    uint64_t size = 0;
    frz_code rc = frz_file_stat(env, location, &size, err);
    if (rc == FRZ_OK && (recorded < 0 || size != (uint64_t)recorded)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: file has %llu bytes, its manifest entry says %lld",
                      location, (unsigned long long)size, (long long)recorded);
    }
    return rc;
}

frz_code frz_stitch_open_file(const frz_table *table, const frz_entry *entry,
                              const frz_column_file *column_file, frz_data_file **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *location = NULL;
    frz_data_file *file = NULL;
    /* column files always carry ids; names must not give them any */
    const frz_name_mapping *mapping =
        column_file == NULL && table->has_mapping ? &table->mapping : NULL;
    FRZ_TRY(frz_table_resolve_access(
        table, column_file == NULL ? entry->location : column_file->location, &location, err));
    FRZ_TRY(check_size(table->env, location,
                       column_file == NULL ? entry->file_size : column_file->file_size, err));
    FRZ_TRY(frz_data_file_open(table->env, location, mapping, &file, err));
    if (frz_data_file_row_count(file) != entry->record_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "%s: file has %lld rows, its manifest entry says %lld",
                      location, (long long)frz_data_file_row_count(file),
                      (long long)entry->record_count);
        goto out;
    }
    if (!any_field_has_id(frz_data_file_type(file))) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "%s: columns have no field ids and no name mapping gives them any", location);
        frz_hint(err, "set the table property schema.name-mapping.default");
        goto out;
    }
    *out = file;
    file = NULL;
out:
    frz_data_file_close(file);
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

typedef struct listed_check {
    frz_stitch *stitch;
    const frz_field *top; /* a struct */
    const frz_column_file *provider;
    const frz_type *stored; /* the provider's schema */
    bool any_listed;        /* descendants are listed one by one, else the struct as a whole */
} listed_check;

static frz_code find_listed(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    listed_check *check = ctx;
    (void)err;
    check->any_listed = check->any_listed || (!in_repeated && lists_id(check->provider, field->id));
    return FRZ_OK;
}

/* What is listed must be stored. What is not listed, or not stored as part of a whole, comes from
 * the base file: that is refused, unless the base file has nothing either. */
static frz_code check_listed(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const listed_check *check = ctx;
    size_t base;
    bool listed = lists_id(check->provider, field->id);
    bool stored = frz_type_find_id(check->stored, field->id) != NULL;
    if (in_repeated || field->type->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK;
    }
    if (listed && !stored) {
        return not_stored(check->provider, field, err);
    }
    if (listed || (stored && !check->any_listed)) {
        return FRZ_OK;
    }
    FRZ_TRY(stitch_part_for(check->stitch, NULL, &base, err));
    if (stored ||
        frz_type_find_id(frz_data_file_type(check->stitch->parts[base].file), field->id) != NULL) {
        rc = stored_partly(check->stitch, check->top, err);
    }
out:
    return rc;
}

/* A struct that a column file provides is read from there alone. spec: field_ids, structs */
static frz_code check_struct(frz_stitch *stitch, const frz_field *field,
                             const frz_column_file *provider, size_t part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    listed_check check = {.stitch = stitch,
                          .top = field,
                          .provider = provider,
                          .stored = frz_data_file_type(stitch->parts[part].file)};
    FRZ_TRY(frz_type_visit(field->type, find_listed, &check, err));
    FRZ_TRY(frz_type_visit(field->type, check_listed, &check, err));
out:
    return rc;
}

/* No file stores the field: it reads as its default, or null. */
static frz_code check_constant(const frz_stitch *stitch, const frz_field *field, frz_error *err)
{
    if (field->required && field->initial_default == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%.*s: required column \"%.*s\" (field id %d) is not stored and has no "
                        "default",
                        FRZ_STR_ARG(stitch_location(stitch)), FRZ_STR_ARG(field->name), field->id);
    }
    return FRZ_OK;
}

frz_code stitch_choose_column(frz_stitch *stitch, size_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field *field = &stitch->projection->fields[i];
    const frz_column_file *provider = NULL;
    size_t part = STITCH_CONSTANT;
    stitch->columns[i].part = STITCH_CONSTANT;
    if (field->type->id == FRZ_TYPE_UNKNOWN) {
        return FRZ_OK; /* never stored, always null */
    }
    FRZ_TRY(find_provider(stitch, field, &provider, err));
    FRZ_TRY(stitch_part_for(stitch, provider, &part, err));
    if (frz_data_file_has_field(stitch->parts[part].file, field->id)) {
        stitch->columns[i].part = part;
        if (provider != NULL && field->type->id == FRZ_TYPE_STRUCT) {
            rc = check_struct(stitch, field, provider, part, err);
        }
    } else if (provider != NULL) {
        rc = not_stored(provider, field, err);
    } else if (!stitch_is_lineage(field->id)) {
        rc = check_constant(stitch, field, err);
    }
out:
    return rc;
}
