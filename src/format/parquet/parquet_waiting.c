/*
 * Encoded pages that wait for their place in the file, in blocks that never move: a chunk grows
 * without being copied.
 */
#include "format/parquet/parquet_write.h"

#define BLOCK_FIRST ((size_t)256)
#define BLOCK_MOST ((size_t)256 << 10)
/* Less is copied rather than taken, and so is what leaves much of its buffer unused. */
#define TAKE_LEAST ((size_t)16 << 10)

void parquet_waiting_init(parquet_waiting *waiting, const frz_env *env)
{
    *waiting = (parquet_waiting){.env = env};
}

void parquet_waiting_reset(parquet_waiting *waiting)
{
    for (size_t i = 0; i < waiting->count; i++) {
        frz_buf_reset(&waiting->blocks[i]);
    }
    frz_free(waiting->env, waiting->blocks);
    parquet_waiting_init(waiting, waiting->env);
}

static frz_code add_block(parquet_waiting *waiting, frz_buf **out, frz_error *err)
{
    frz_code rc = FRZ_GROW(waiting->env, &waiting->blocks, &waiting->capacity, waiting->count, err);
    if (rc == FRZ_OK) {
        *out = &waiting->blocks[waiting->count];
        frz_buf_init(*out, waiting->env, FRZ_BUF_NO_LIMIT);
    }
    return rc;
}

/* A block that has room for len bytes: the last one, or a new one of least bytes or more. */
static frz_code block_for(parquet_waiting *waiting, size_t len, size_t least, frz_buf **out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = waiting->count == 0 ? NULL : &waiting->blocks[waiting->count - 1];
    if (*out == NULL || (*out)->capacity - (*out)->len < len) {
        FRZ_TRY(add_block(waiting, out, err));
        FRZ_TRY(frz_buf_reserve(*out, FRZ_MAX(len, least), err));
        waiting->count++;
    }
out:
    return rc;
}

frz_code parquet_waiting_add(parquet_waiting *waiting, frz_str head, frz_str body, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *block;
    /* as much again as there is, so that there are few blocks and little is unused */
    size_t least = FRZ_MIN(FRZ_MAX(waiting->len, BLOCK_FIRST), BLOCK_MOST);
    FRZ_TRY(block_for(waiting, head.len + body.len, least, &block, err));
    FRZ_TRY(frz_buf_append(block, head.ptr, head.len, err));
    FRZ_TRY(frz_buf_append(block, body.ptr, body.len, err));
    waiting->len += head.len + body.len;
out:
    return rc;
}

frz_code parquet_waiting_take(parquet_waiting *waiting, frz_str head, frz_buf *body, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *block;
    if (body->len < TAKE_LEAST || body->capacity - body->len > body->len / 2) {
        FRZ_TRY(parquet_waiting_add(waiting, head, frz_buf_view(body), err));
        frz_buf_clear(body);
        goto out;
    }
    FRZ_TRY(block_for(waiting, head.len, 0, &block, err));
    FRZ_TRY(frz_buf_append(block, head.ptr, head.len, err));
    waiting->len += head.len;
    FRZ_TRY(add_block(waiting, &block, err));
    *block = *body;
    waiting->count++;
    waiting->len += body->len;
    frz_buf_init(body, body->env, body->max);
out:
    return rc;
}

frz_code parquet_waiting_write(parquet_waiting *waiting, parquet_output *output, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < waiting->count; i++) {
        FRZ_TRY(parquet_output_write(output, waiting->blocks[i].data, waiting->blocks[i].len, err));
        frz_buf_reset(&waiting->blocks[i]);
    }
    parquet_waiting_reset(waiting);
out:
    return rc;
}
