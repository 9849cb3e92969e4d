/*
 * The deletion vectors of one attempt, all in one Puffin file.
 */
#include "format/puffin/puffin.h"
#include "write/write_internal.h"

void frz_commit_vectors_init(frz_commit_vectors *vectors, const frz_commit_attempt *attempt)
{
    *vectors = (frz_commit_vectors){.attempt = attempt};
}

static frz_code open_file(frz_commit_vectors *vectors, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_commit_attempt *attempt = vectors->attempt;
    FRZ_TRY(frz_commit_new_path(attempt, "-deletes.puffin", &vectors->location, err));
    frz_str recorded = frz_table_relativize(attempt->table, frz_str_from(vectors->location));
    FRZ_TRY(frz_arena_str(attempt->arena, recorded, &vectors->recorded, err));
    FRZ_TRY(frz_vector_writer_open(attempt->env, vectors->location, &vectors->writer, err));
out:
    return rc;
}

frz_code frz_commit_vectors_add(frz_commit_vectors *vectors, const frz_positions *set,
                                frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_deletion_vector *dv = &entry->deletion_vector;
    if (vectors->writer == NULL) {
        FRZ_TRY(open_file(vectors, err));
    }
    *dv = (frz_deletion_vector){.location = vectors->recorded,
                                .cardinality = (int64_t)frz_positions_count(set)};
    FRZ_TRY(
        frz_vector_writer_add(vectors->writer, set, entry->location, &dv->offset, &dv->size, err));
    entry->has_deletion_vector = true;
out:
    return frz_context(err, rc, "writing the deletion vector of %.*s",
                       FRZ_STR_ARG(entry->location));
}

frz_code frz_commit_vectors_finish(frz_commit_vectors *vectors, bool sync, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t bytes = 0;
    frz_vector_writer *writer = vectors->writer;
    if (writer == NULL) {
        return FRZ_OK;
    }
    vectors->writer = NULL;
    FRZ_TRY(frz_vector_writer_finish(writer, sync, &bytes, err));
    rc = frz_commit_track(vectors->attempt, vectors->location, bytes, true, err);
    if (rc != FRZ_OK) {
        (void)frz_file_remove(vectors->attempt->env, vectors->location, NULL);
    }
out:
    return rc;
}

void frz_commit_vectors_reset(frz_commit_vectors *vectors)
{
    frz_vector_writer_abort(vectors->writer);
    frz_free(vectors->attempt->env, vectors->location);
    vectors->writer = NULL;
    vectors->location = NULL;
}
