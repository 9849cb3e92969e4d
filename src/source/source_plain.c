/*
 * Rows of a stream in the layouts and types of tables, as many at a time as have less than 2 GiB of
 * text.
 */
#include "source/source.h"

#define STEP_ROWS 65536

frz_code source_plain_open(source_plain *p, const frz_env *env, struct ArrowArrayStream *stream,
                           frz_error *err)
{
    *p = (source_plain){.env = env, .stream = stream, .step = STEP_ROWS};
    int failed = stream->get_schema(stream, &p->schema);
    if (failed != 0) {
        p->schema.release = NULL;
        return frz_stream_fail(stream, failed, err);
    }
    return FRZ_OK;
}

frz_code source_plain_choose(source_plain *p, const size_t *places, size_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowSchema **schemas = NULL;
    count = places == NULL ? (size_t)p->schema.n_children : count;
    schemas = frz_alloc_zero(p->env, count, sizeof(struct ArrowSchema *));
    p->places = frz_alloc_zero(p->env, count, sizeof *p->places);
    p->columns = frz_alloc_zero(p->env, count, sizeof(struct ArrowArray *));
    if (schemas == NULL || p->places == NULL || p->columns == NULL) {
        rc = frz_fail_nomem(err, count * sizeof *p->places);
        goto out;
    }
    p->column_count = count;
    for (size_t i = 0; i < count; i++) {
        p->places[i] = places == NULL ? i : places[i];
        schemas[i] = p->schema.children[p->places[i]];
    }
    rc = expr_plain_new(p->env, schemas, count, &p->plain, err);
out:
    frz_free(p->env, (void *)(uintptr_t)schemas);
    return rc;
}

void source_plain_reset(source_plain *p)
{
    if (p->env != NULL) {
        frz_array_release(&p->batch);
        expr_plain_free(p->plain);
        frz_schema_release(&p->schema);
        frz_free(p->env, p->columns);
        frz_free(p->env, p->places);
    }
    *p = (source_plain){0};
}

static frz_code check_batch(const source_plain *p, frz_error *err)
{
    const struct ArrowArray *batch = &p->batch;
    if (batch->n_children != p->schema.n_children || batch->length < 0 || batch->offset < 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a batch of %lld columns in a stream of %lld",
                        (long long)batch->n_children, (long long)p->schema.n_children);
    }
    bool may_have_nulls =
        batch->null_count != 0 && batch->n_buffers == 1 && batch->buffers[0] != NULL;
    for (int64_t i = 0; may_have_nulls && i < batch->length; i++) {
        if (frz_is_null(batch, i)) {
            return frz_fail(err, FRZ_E_ARGUMENT, "row %lld is null as a whole",
                            (long long)(p->row + i));
        }
    }
    return FRZ_OK;
}

/* FRZ_END: the stream has no more. */
static frz_code next_batch(source_plain *p, frz_error *err)
{
    p->row += p->batch.release == NULL ? 0 : p->batch.length;
    p->done = 0;
    frz_array_release(&p->batch);
    int failed = p->stream->get_next(p->stream, &p->batch);
    if (failed != 0) {
        p->batch.release = NULL;
        return frz_stream_fail(p->stream, failed, err);
    }
    return p->batch.release == NULL ? FRZ_END : check_batch(p, err);
}

frz_code source_plain_next(source_plain *p, struct ArrowArray *out, int64_t *first, frz_error *err)
{
    while (p->batch.release == NULL || p->done >= p->batch.length) {
        frz_code rc = next_batch(p, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    for (size_t i = 0; i < p->column_count; i++) {
        p->columns[i] = p->batch.children[p->places[i]];
    }
    for (;;) {
        frz_error why = {0};
        int64_t count = FRZ_MIN(p->step, p->batch.length - p->done);
        frz_code rc =
            expr_plain_batch(p->plain, p->columns, p->batch.offset + p->done, count, out, &why);
        if (rc == FRZ_E_LIMIT && count > 1) {
            p->step = count / 2;
            continue;
        }
        if (rc != FRZ_OK && err != NULL) {
            *err = why;
        }
        *first = p->row + p->done;
        p->done += rc == FRZ_OK ? count : 0;
        return rc;
    }
}
