/*
 * Several data files become fewer: the rows that are left of each, one file after the other, are
 * read as anybody reads them and written anew, with their row ids and the numbers of their last
 * updates. Row groups of small files are too small to be worth copying.
 */
#include "files/files.h"

typedef struct combining {
    const frz_commit_attempt *attempt;
    frz_delete_index *deletes;
    const frz_type *type; /* of the new files: columns, then lineage */
    frz_row_files *files;
    frz_arena *arena;
} combining;

static frz_code add_batch(combining *work, const frz_live_rows *rows, frz_batch *batch,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray *array = &batch->array;
    for (int64_t i = 0; i < array->n_children; i++) {
        FRZ_TRY(frz_live_rows_pick(rows, work->type->fields[i].type, batch->first_row,
                                   array->children[i], err));
    }
    array->length = array->children[0]->length; /* the lineage is always among them */
    FRZ_TRY(frz_row_files_write(work->files, array, err));
out:
    frz_array_release(array);
    return rc;
}

static frz_code add_entry(combining *work, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_table *table = work->attempt->table;
    frz_live_rows rows = {.live.env = table->env};
    frz_stitch *stitch = NULL;
    frz_stitch_request request = {.projection = work->type};
    FRZ_TRY(frz_live_rows_find(table, entry, work->deletes, work->arena, &rows, err));
    if (rows.count == 0) {
        goto out;
    }
    frz_live_rows_request(&rows, &request);
    FRZ_TRY(frz_stitch_open(table, entry, &request, &stitch, err));
    for (;;) {
        frz_batch batch = {0};
        FRZ_TRY(frz_stitch_next(stitch, &batch, err));
        FRZ_TRY(add_batch(work, &rows, &batch, err));
    }
out:
    frz_stitch_close(stitch);
    frz_live_rows_reset(&rows);
    return rc == FRZ_END ? FRZ_OK : rc;
}

frz_code frz_combine_files(const frz_commit_attempt *attempt, const frz_entry *const *entries,
                           size_t count, frz_delete_index *deletes,
                           const frz_row_files_options *options, frz_arena *arena,
                           const frz_row_file **out, size_t *out_count, frz_error *err)
{
    static const frz_partitioning one = {.spec_id = -1}; /* the entries are of one partition */
    frz_code rc = FRZ_OK;
    frz_row_files_options all = *options;
    combining work = {.attempt = attempt, .deletes = deletes, .arena = arena};
    FRZ_TRY(frz_carried_type(arena, attempt->schema->type, &work.type, err));
    all.type = work.type;
    all.partitioning = &one;
    FRZ_TRY(frz_row_files_new(attempt, &all, arena, &work.files, err));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(add_entry(&work, entries[i], err));
    }
    FRZ_TRY(frz_row_files_finish(work.files, out, out_count, err));
out:
    frz_row_files_free(work.files);
    return rc;
}
