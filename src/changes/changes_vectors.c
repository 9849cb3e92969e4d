/*
 * Deletion vectors of delete manifests (version 3), put together by data file.
 *
 * spec: delete files, referenced_data_file
 */
#include <stdlib.h>

#include "changes/changes_internal.h"

static int compare_vectors(const void *a, const void *b)
{
    const change_vector *x = a, *y = b;
    return change_compare_places(&x->place, &y->place);
}

static int compare_found(const void *a, const void *b)
{
    return change_compare_places(a, b);
}

/* Places of data files that came or went in the snapshot, ascending. */
static frz_code changed_places(const change_set *set, frz_place **out, frz_error *err)
{
    frz_place *places = frz_alloc_zero(set->env, set->file_count, sizeof *places);
    if (places == NULL) {
        return frz_fail_nomem(err, set->file_count * sizeof *places);
    }
    for (size_t i = 0; i < set->file_count; i++) {
        places[i] = frz_location_place(set->files[i].location);
    }
    if (set->file_count > 1) {
        qsort(places, set->file_count, sizeof *places, compare_found);
    }
    *out = places;
    return FRZ_OK;
}

static frz_code vector_of(change_set *set, const change_file *file, change_vector *out,
                          frz_error *err)
{
    const frz_entry *entry = change_file_entry(file);
    int64_t rows = entry->deletion_vector.cardinality;
    frz_code rc = frz_table_resolve_legacy(set->table, entry->referenced_data_file, &set->arena,
                                           &out->location, err);
    out->place = frz_location_place(out->location);
    out->old_rows = file->old != NULL ? rows : 0;
    out->new_rows = file->new != NULL ? rows : 0;
    return rc;
}

static size_t merge(change_vector *vectors, size_t count)
{
    size_t kept = 0;
    if (count > 1) {
        qsort(vectors, count, sizeof *vectors, compare_vectors);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && frz_place_equal(vectors[kept - 1].place, vectors[i].place)) {
            vectors[kept - 1].old_rows += vectors[i].old_rows;
            vectors[kept - 1].new_rows += vectors[i].new_rows;
        } else {
            vectors[kept++] = vectors[i];
        }
    }
    return kept;
}

frz_code change_list_vectors(change_set *set, const change_vector **out, size_t *count,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_place *changed = NULL;
    size_t found = 0;
    change_vector *vectors = frz_arena_array(&set->arena, set->delete_file_count, sizeof *vectors);
    if (vectors == NULL) {
        return frz_fail_nomem(err, set->delete_file_count * sizeof *vectors);
    }
    FRZ_TRY(changed_places(set, &changed, err));
    for (size_t i = 0; i < set->delete_file_count; i++) {
        const change_file *file = &set->delete_files[i];
        if (change_file_entry(file)->has_deletion_vector) {
            FRZ_TRY(vector_of(set, file, &vectors[found], err));
            found += bsearch(&vectors[found].place, changed, set->file_count, sizeof *changed,
                             compare_found) == NULL;
        }
    }
    *out = vectors;
    *count = merge(vectors, found);
out:
    frz_free(set->env, changed);
    return rc;
}
