/*
 * A table's folder: which of its metadata files is the newest. File system tables say so in
 * version-hint.text, which may lag behind; catalogs do not, so there the highest number counts.
 * What cannot be told is an error that names the files. spec: File System Tables, Metastore Tables
 */
#include "meta/meta_internal.h"

#define HINT_NAME "version-hint.text"
#define HINT_MAX 4096
#define FILES_MAX 1000000 /* in one folder */

/* "v3.metadata.json" of file system tables, "00003-UUID.metadata.json" of catalogs. */
typedef struct metadata_file {
    frz_str name;
    frz_str stem;   /* the name up to its endings */
    int64_t number; /* -1: none */
    bool is_v;
} metadata_file;

typedef struct folder {
    const frz_env *env;
    frz_arena arena;
    frz_str location; /* where it is read */
    metadata_file *files;
    size_t count, capacity;
    bool has_hint;
    frz_error *err; /* of add_file, inside a listing */
} folder;

/* ---- what is in it ---- */

static bool cut_end(frz_str *text, frz_str end)
{
    bool ends =
        text->len > end.len && memcmp(text->ptr + text->len - end.len, end.ptr, end.len) == 0;
    text->len -= ends ? end.len : 0;
    return ends;
}

/* Packed files carry ".gz" or ".zst" before or behind ".metadata.json". */
static bool stem_of(frz_str name, frz_str *stem)
{
    static const char *const packed[] = {".gz", ".zst", ".zstd"};
    *stem = name;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(packed); i++) {
        (void)cut_end(stem, frz_str_from(packed[i]));
    }
    if (!cut_end(stem, FRZ_STR(".metadata.json"))) {
        return false;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(packed); i++) {
        (void)cut_end(stem, frz_str_from(packed[i]));
    }
    return true;
}

static frz_code add_file(folder *f, frz_str name)
{
    frz_error *err = f->err;
    frz_code rc = FRZ_OK;
    metadata_file file = {0};
    if (f->count == FILES_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "more than %d metadata files", FILES_MAX);
    }
    FRZ_TRY(frz_arena_str(&f->arena, name, &file.name, err));
    (void)stem_of(file.name, &file.stem);
    file.number = frz_metadata_version_of(file.name.ptr);
    file.is_v = file.number >= 0 && file.name.ptr[0] == 'v';
    FRZ_TRY(FRZ_GROW(f->env, &f->files, &f->capacity, f->count, err));
    f->files[f->count++] = file;
out:
    return rc;
}

static frz_code visit_file(void *ctx, const char *location, uint64_t size, int64_t modified_ms)
{
    folder *f = ctx;
    frz_str stem, name = frz_str_from(location);
    (void)size;
    (void)modified_ms;
    const char *slash = strrchr(location, '/');
    if (slash == NULL ||
        !frz_location_same((frz_str){location, (size_t)(slash - location)}, f->location)) {
        return FRZ_OK; /* in a folder below */
    }
    name = frz_str_from(slash + 1);
    f->has_hint = f->has_hint || frz_str_equal(name, FRZ_STR(HINT_NAME));
    return stem_of(name, &stem) ? add_file(f, name) : FRZ_OK;
}

/* ---- choosing ---- */

static frz_code ambiguous(const metadata_file *a, const metadata_file *b, frz_error *err)
{
    bool in_order = frz_str_compare(a->name, b->name) < 0; /* whatever order files are listed in */
    frz_code rc = frz_fail(err, FRZ_E_ARGUMENT, "which metadata file is the newest, %.*s or %.*s?",
                           FRZ_STR_ARG(in_order ? a->name : b->name),
                           FRZ_STR_ARG(in_order ? b->name : a->name));
    frz_hint(err, "name the file instead of the folder");
    return rc;
}

/* The only file of this number, or NULL; v: "v3.metadata.json" only. */
static frz_code find_number(const folder *f, int64_t number, bool v, const metadata_file **out,
                            frz_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < f->count; i++) {
        const metadata_file *file = &f->files[i];
        if (file->number != number || (v && !file->is_v)) {
            continue;
        }
        if (*out != NULL) {
            return ambiguous(*out, file, err);
        }
        *out = file;
    }
    return FRZ_OK;
}

/* What the hint says, and versions that were committed after it was written. */
static frz_code follow_hint(const folder *f, frz_str hint, const metadata_file **out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t number;
    *out = NULL;
    for (size_t i = 0; i < f->count; i++) {
        if (frz_str_equal(f->files[i].name, hint) || frz_str_equal(f->files[i].stem, hint)) {
            *out = &f->files[i];
        }
    }
    if (*out == NULL && frz_str_to_i64(hint, &number) && number >= 0) {
        FRZ_TRY(find_number(f, number, false, out, err));
    }
    if (*out == NULL) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND,
                      "%s says \"%.*s\", but there is no metadata file of that version", HINT_NAME,
                      FRZ_STR_ARG(hint));
        frz_hint(err, "name the metadata file instead of the folder");
        goto out;
    }
    for (const metadata_file *next = *out; next != NULL && next->is_v;) {
        *out = next;
        FRZ_TRY(find_number(f, next->number + 1, true, &next, err));
    }
out:
    return rc;
}

static frz_code find_newest(const folder *f, const metadata_file **out, frz_error *err)
{
    const metadata_file *best = &f->files[0];
    const metadata_file *rival = NULL;
    for (size_t i = 1; i < f->count; i++) {
        const metadata_file *file = &f->files[i];
        if (file->number >= 0 && best->number >= 0 && file->is_v != best->is_v) {
            return ambiguous(best, file, err); /* two ways of counting */
        }
        if (file->number > best->number) {
            best = file;
            rival = NULL;
        } else if (file->number == best->number) {
            rival = file;
        }
    }
    if (rival != NULL) {
        return ambiguous(best, rival, err);
    }
    *out = best;
    return FRZ_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static frz_code choose(const folder *f, const metadata_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(f->env, HINT_MAX);
    char *path = NULL;
    frz_str hint = {NULL, 0};
    if (f->has_hint) {
        FRZ_TRY(meta_join_location(f->env, f->location, FRZ_STR(HINT_NAME), &path, err));
        FRZ_TRY(frz_file_read_all(f->env, path, HINT_MAX, &text, err));
        hint = frz_buf_view(&text);
    }
    while (hint.len > 0 && is_blank(hint.ptr[0])) {
        hint = (frz_str){hint.ptr + 1, hint.len - 1};
    }
    while (hint.len > 0 && is_blank(hint.ptr[hint.len - 1])) {
        hint.len--;
    }
    FRZ_TRY(hint.len > 0 ? follow_hint(f, hint, out, err) : find_newest(f, out, err));
out:
    frz_free(f->env, path);
    frz_buf_reset(&text);
    return rc;
}

/* ---- the folder ---- */

/* FRZ_END if the folder is not there or holds no metadata file. */
static frz_code look_into(const frz_env *env, const char *location, const frz_location_map *maps,
                          size_t map_count, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *access = NULL;
    const metadata_file *found = NULL;
    folder f = {.env = env, .err = err};
    frz_arena_init(&f.arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(meta_map_location(env, maps, map_count, location, &access, err));
    f.location = frz_str_from(access);
    rc = frz_storage_list(env, access, visit_file, &f, err);
    if (rc == FRZ_E_NOT_FOUND || (rc == FRZ_OK && f.count == 0)) {
        frz_error_reset(err);
        rc = FRZ_END;
        goto out;
    }
    FRZ_TRY(rc);
    rc = choose(&f, &found, err);
    FRZ_TRY(frz_context(err, rc, "folder %s", location));
    FRZ_TRY(meta_join_location(env, frz_str_from(location), found->name, out, err));
out:
    frz_free(env, f.files);
    frz_arena_reset(&f.arena);
    frz_free(env, access);
    return rc;
}

static bool is_metadata_folder(frz_str location)
{
    frz_str end = location;
    return cut_end(&end, FRZ_STR("/metadata"));
}

frz_code meta_find_newest(const frz_env *env, const char *location, const frz_location_map *maps,
                          size_t map_count, char **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *folder_location = NULL, *inner = NULL;
    frz_str table = frz_str_from(location);
    while (table.len > 1 && table.ptr[table.len - 1] == '/') {
        table.len--;
    }
    folder_location = frz_strdup(env, table);
    FRZ_TRY(folder_location != NULL ? FRZ_OK : frz_fail_nomem(err, table.len));
    FRZ_TRY(meta_join_location(env, table, FRZ_STR("metadata"), &inner, err));
    rc = look_into(env, inner, maps, map_count, out, err);
    if (rc == FRZ_END && is_metadata_folder(table)) {
        rc = look_into(env, folder_location, maps, map_count, out, err);
    }
    if (rc == FRZ_END) {
        rc = frz_fail(err, FRZ_E_NOT_FOUND,
                      "there is no table at %s: no metadata file in its folder metadata", location);
    }
out:
    frz_free(env, inner);
    frz_free(env, folder_location);
    return rc;
}
