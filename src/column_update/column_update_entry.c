/*
 * What a column update changes on a manifest entry: the list of column files.
 */
#include <stdlib.h>

#include "column_update/column_update_internal.h"

static int by_number(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a;
    int32_t right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

static bool contains(const int32_t *ids, size_t count, int32_t id)
{
    return bsearch(&id, ids, count, sizeof id, by_number) != NULL;
}

static int by_location(const void *a, const void *b)
{
    return frz_str_compare(((const frz_column_file *)a)->location,
                           ((const frz_column_file *)b)->location);
}

/* The file without the ids that go; field_id_count 0 if nothing is left of it. */
static frz_code strip_ids(frz_arena *arena, const frz_column_file *file, const update_ids *schema,
                          const update_ids *gone, frz_column_file *out, frz_error *err)
{
    int32_t *left = frz_arena_array(arena, file->field_id_count, sizeof *left);
    size_t n = 0;
    if (left == NULL) {
        return frz_fail_nomem(err, file->field_id_count * sizeof *left);
    }
    for (size_t i = 0; i < file->field_id_count; i++) {
        int32_t id = file->field_ids[i];
        bool exists = id == FRZ_ID_LAST_UPDATED || contains(schema->ids, schema->count, id);
        if (exists && !contains(gone->ids, gone->count, id)) {
            left[n++] = id;
        }
    }
    *out = *file;
    out->field_ids = left;
    out->field_id_count = n;
    return FRZ_OK;
}

frz_code update_column_files(frz_arena *arena, frz_entry *entry, const update_ids *schema,
                             const update_ids *gone, const frz_column_file *added,
                             size_t added_count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = 0;
    frz_column_file *files =
        frz_arena_array(arena, entry->column_file_count + added_count, sizeof *files);
    if (files == NULL) {
        return frz_fail_nomem(err, (entry->column_file_count + added_count) * sizeof *files);
    }
    for (size_t i = 0; i < entry->column_file_count; i++) {
        FRZ_TRY(strip_ids(arena, &entry->column_files[i], schema, gone, &files[n], err));
        n += files[n].field_id_count > 0;
    }
    for (size_t i = 0; i < added_count; i++) {
        files[n++] = added[i];
    }
    qsort(files, n, sizeof *files, by_location);
    entry->column_files = files;
    entry->column_file_count = n;
out:
    return rc;
}
