/*
 * Arrow streams over functions, and over batches that exist already.
 */
#include <stdio.h>

#include "arrow/arrow_array.h"

/* A stream has no place for hints: one follows the message on a line of its own. */
#define HINT_LINE "\nhint: "

typedef struct stream_owner {
    const frz_env *env;
    frz_stream_ops ops;
    void *ctx;
    frz_error error;
    char text[sizeof(frz_error)];
} stream_owner;

static int stream_result(stream_owner *owner, frz_code rc)
{
    if (rc == FRZ_OK || rc == FRZ_END) {
        owner->text[0] = '\0';
        return 0;
    }
    size_t len = frz_error_format(&owner->error, owner->text, sizeof owner->text);
    if (owner->error.hint[0] != '\0' && len < sizeof owner->text) {
        snprintf(owner->text + len, sizeof owner->text - len, HINT_LINE "%s", owner->error.hint);
    }
    return frz_code_errno(rc);
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    stream_owner *owner = stream->private_data;
    return stream_result(owner, owner->ops.schema(owner->ctx, out, &owner->error));
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    stream_owner *owner = stream->private_data;
    *out = (struct ArrowArray){0}; /* a released array means the end */
    return stream_result(owner, owner->ops.next(owner->ctx, out, &owner->error));
}

static const char *stream_get_last_error(struct ArrowArrayStream *stream)
{
    stream_owner *owner = stream->private_data;
    return owner->text[0] == '\0' ? NULL : owner->text;
}

static void stream_release(struct ArrowArrayStream *stream)
{
    stream_owner *owner = stream->private_data;
    owner->ops.release(owner->ctx);
    frz_free(owner->env, owner);
    stream->release = NULL;
}

frz_code frz_stream_make(const frz_env *env, const frz_stream_ops *ops, void *ctx,
                         struct ArrowArrayStream *out, frz_error *err)
{
    stream_owner *owner = frz_alloc_zero(env, 1, sizeof *owner);
    if (owner == NULL) {
        ops->release(ctx);
        return frz_fail_nomem(err, sizeof *owner);
    }
    owner->env = env;
    owner->ops = *ops;
    owner->ctx = ctx;
    *out = (struct ArrowArrayStream){stream_get_schema, stream_get_next, stream_get_last_error,
                                     stream_release, owner};
    return FRZ_OK;
}

/* ---- failures ---- */

/* A stream tells an errno value and a text; where the stream is one of ours, the value was made
 * from a code. */
frz_code frz_stream_fail(struct ArrowArrayStream *stream, int os_error, frz_error *err)
{
    frz_code code = FRZ_E_IO;
    for (int c = FRZ_E_ARGUMENT; c >= FRZ_E_CANCELLED; c--) {
        if (c != FRZ_E_COMMIT_UNKNOWN && frz_code_errno((frz_code)c) == os_error) {
            code = (frz_code)c;
            break;
        }
    }
    const char *text = stream->get_last_error(stream);
    text = text != NULL ? text : "the stream failed without a reason";
    const char *hint = strstr(text, HINT_LINE);
    /* the reason is at the end: of a text that is too long, its beginning is left out */
    size_t len = hint != NULL ? (size_t)(hint - text) : strlen(text);
    size_t most = sizeof err->message - 1, left_out = len <= most ? 0 : len - (most - 3);
    frz_fail(err, code, "%s%.*s", left_out > 0 ? "..." : "", (int)(len - left_out),
             text + left_out);
    if (hint != NULL) {
        frz_hint(err, "%s", hint + strlen(HINT_LINE));
    }
    return code;
}

/* ---- given batches ---- */

typedef struct batch_list {
    const frz_env *env;
    struct ArrowSchema schema; /* every request gets a copy */
    size_t next, count;
    struct ArrowArray batches[];
} batch_list;

static frz_code list_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    batch_list *list = ctx;
    return frz_arrow_schema_copy(list->env, &list->schema, out, err);
}

static frz_code list_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    batch_list *list = ctx;
    (void)err;
    if (list->next == list->count) {
        return FRZ_END;
    }
    frz_array_move(&list->batches[list->next++], out);
    return FRZ_OK;
}

static void list_release(void *ctx)
{
    batch_list *list = ctx;
    frz_schema_release(&list->schema);
    for (size_t i = list->next; i < list->count; i++) {
        frz_array_release(&list->batches[i]);
    }
    frz_free(list->env, list);
}

frz_code frz_stream_of_batches(const frz_env *env, struct ArrowSchema *schema,
                               struct ArrowArray *batches, size_t n_batches,
                               struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {list_schema, list_next, list_release};
    size_t bytes = sizeof(batch_list) + n_batches * sizeof *batches;
    batch_list *list = frz_alloc_zero(env, 1, bytes);
    if (list == NULL) {
        frz_schema_release(schema);
        for (size_t i = 0; i < n_batches; i++) {
            frz_array_release(&batches[i]);
        }
        return frz_fail_nomem(err, bytes);
    }
    list->env = env;
    list->schema = *schema;
    schema->release = NULL;
    list->count = n_batches;
    for (size_t i = 0; i < n_batches; i++) {
        frz_array_move(&batches[i], &list->batches[i]);
    }
    return frz_stream_make(env, &ops, list, out, err);
}
