/*
 * The dictionaries of a stream by their ids. A message is kept as it came until a batch needs the
 * values, so that the parts of a dictionary that grows are put together once, and dictionaries that
 * hold others may come in any order.
 */
#include <stdlib.h>

#include "arrow/arrow_ipc.h"

/* ---- the dictionaries of a schema ---- */

static frz_code collect(const ipc_field *field, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (field->encoded) {
        FRZ_TRY(frz_buf_append(out, &field, sizeof field, err));
    }
    for (size_t i = 0; i < field->child_count; i++) {
        FRZ_TRY(collect(&field->children[i], out, err));
    }
out:
    return rc;
}

static int compare_ids(const void *a, const void *b)
{
    const ipc_field *const *x = a;
    const ipc_field *const *y = b;
    int64_t i = (*x)->dictionary_id;
    int64_t k = (*y)->dictionary_id;
    return (i > k) - (i < k);
}

static bool same_choice(const ipc_union *a, const ipc_union *b)
{
    return a == b || (a != NULL && b != NULL && a->count == b->count &&
                      memcmp(a->ids, b->ids, a->count) == 0);
}

/* The values of two fields are of one type, so that a dictionary can serve both. */
static bool same_values(const ipc_field *a, const ipc_field *b)
{
    const ipc_type *t = &a->type;
    const ipc_type *u = &b->type;
    bool same = t->tag == u->tag && t->layout == u->layout && t->width == u->width &&
                t->a == u->a && t->b == u->b && t->c == u->c && frz_str_equal(t->zone, u->zone) &&
                same_choice(t->choice, u->choice) && a->child_count == b->child_count;
    for (size_t i = 0; i < a->child_count && same; i++) {
        const ipc_field *x = &a->children[i];
        const ipc_field *y = &b->children[i];
        same =
            x->encoded == y->encoded && same_values(x, y) &&
            (!x->encoded || (x->dictionary_id == y->dictionary_id && x->index.tag == y->index.tag &&
                             x->index.a == y->index.a && x->index.b == y->index.b));
    }
    return same;
}

frz_code ipc_dictionaries_init(ipc_reading *reading, frz_arena *arena, const ipc_field *root,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf found = FRZ_BUF_INIT(reading->env, FRZ_BUF_NO_LIMIT);
    FRZ_TRY(collect(root, &found, err));
    const ipc_field **fields = (const ipc_field **)(void *)found.data;
    size_t count = found.len / sizeof(ipc_field *);
    if (count > 1) {
        qsort(fields, count, sizeof(ipc_field *), compare_ids);
    }
    ipc_dictionary *made = frz_arena_array(arena, count, sizeof *made);
    if (made == NULL) {
        rc = frz_fail_nomem(err, count * sizeof *made);
        goto out;
    }
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++) {
        ipc_dictionary *last = distinct == 0 ? NULL : &made[distinct - 1];
        if (last == NULL || last->id != fields[i]->dictionary_id) {
            made[distinct++] = (ipc_dictionary){.id = fields[i]->dictionary_id, .field = fields[i]};
        } else if (!same_values(last->field, fields[i])) {
            rc = frz_fail(err, FRZ_E_CORRUPT, "dictionary %lld is used for values of two types",
                          (long long)last->id);
            goto out;
        }
    }
    reading->dictionaries = made;
    reading->dictionary_count = distinct;
out:
    frz_buf_reset(&found);
    return rc;
}

static int compare_key(const void *key, const void *item)
{
    int64_t id = *(const int64_t *)key;
    int64_t other = ((const ipc_dictionary *)item)->id;
    return (id > other) - (id < other);
}

static ipc_dictionary *find(const ipc_reading *reading, int64_t id)
{
    return reading->dictionary_count == 0
               ? NULL
               : bsearch(&id, reading->dictionaries, reading->dictionary_count,
                         sizeof(ipc_dictionary), compare_key);
}

/* ---- messages ---- */

static void free_message(const frz_env *env, ipc_message *message)
{
    ipc_message_reset(message);
    frz_free(env, message);
}

static void drop_pending(const ipc_reading *reading, ipc_dictionary *d)
{
    for (size_t i = 0; i < d->pending_count; i++) {
        free_message(reading->env, d->pending[i]);
    }
    d->pending_count = 0;
}

static void drop_values(ipc_reading *reading, ipc_dictionary *d)
{
    frz_array_release(&d->values);
    reading->dictionary_bytes -= d->bytes;
    d->bytes = 0;
}

void ipc_dictionaries_reset(ipc_reading *reading)
{
    for (size_t i = 0; i < reading->dictionary_count; i++) {
        ipc_dictionary *d = &reading->dictionaries[i];
        drop_pending(reading, d);
        drop_values(reading, d);
        frz_free(reading->env, d->pending);
    }
    reading->dictionary_count = 0;
}

/* DictionaryBatch: id, data, isDelta. */
frz_code ipc_dictionary_add(ipc_reading *reading, ipc_message *message, bool once, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t id = flat_i64(&message->header, 0, 0);
    bool delta = flat_bool(&message->header, 2);
    ipc_dictionary *d = find(reading, id);
    bool there = d != NULL && (d->values.release != NULL || d->pending_count > 0);
    FRZ_TRY(flat_check(&message->in, err));
    if (d == NULL || (delta && !there)) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      d == NULL ? "no field uses dictionary %lld"
                                : "a delta of dictionary %lld, which is not there",
                      (long long)id);
        goto out;
    }
    if (there && !delta && once) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "dictionary %lld is there twice", (long long)id);
        goto out;
    }
    FRZ_TRY(FRZ_GROW(reading->env, &d->pending, &d->pending_capacity, d->pending_count, err));
    if (!delta) {
        drop_pending(reading, d);
        drop_values(reading, d);
    }
    d->pending[d->pending_count++] = message;
    message = NULL;
out:
    if (message != NULL) {
        free_message(reading->env, message);
    }
    return rc;
}

/* ---- values ---- */

/* What is there and the messages since, as arrays; then as one. */
static frz_code load(ipc_reading *reading, ipc_dictionary *d, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = 0;
    struct ArrowArray whole = {.release = NULL};
    struct ArrowArray *parts = frz_alloc_zero(reading->env, d->pending_count + 1, sizeof *parts);
    if (parts == NULL) {
        return frz_fail_nomem(err, (d->pending_count + 1) * sizeof *parts);
    }
    if (d->values.release != NULL) {
        FRZ_TRY(frz_array_slice(reading->env, &d->values, 0, d->values.length, &parts[0], err));
        count++;
    }
    for (size_t i = 0; i < d->pending_count; i++) {
        FRZ_TRY(ipc_array_values(reading, d->field, d->pending[i], &d->bytes, &parts[count], err));
        count++;
    }
    if (count == 1) {
        frz_array_move(&parts[0], &whole);
    } else {
        uint64_t joined = reading->dictionary_most;
        FRZ_TRY(ipc_array_concat(reading->env, d->field, parts, count, &joined, &whole, err));
    }
    frz_array_release(&d->values);
    frz_array_move(&whole, &d->values);
    drop_pending(reading, d);
out:
    for (size_t i = 0; i < count; i++) {
        frz_array_release(&parts[i]);
    }
    frz_free(reading->env, parts);
    return frz_context(err, rc, "dictionary %lld", (long long)d->id);
}

frz_code ipc_dictionary_get(ipc_reading *reading, int64_t id, struct ArrowArray *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    ipc_dictionary *d = find(reading, id);
    if (d->pending_count > 0) {
        FRZ_TRY(load(reading, d, err));
    }
    if (d->values.release == NULL) {
        return FRZ_END;
    }
    rc = frz_array_slice(reading->env, &d->values, 0, d->values.length, out, err);
out:
    return rc;
}
