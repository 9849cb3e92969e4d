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

frz_code parquet_waiting_append(parquet_waiting *waiting, const void *bytes, size_t len,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf *block = waiting->count == 0 ? NULL : &waiting->blocks[waiting->count - 1];
    if (len == 0) {
        return FRZ_OK;
    }
    if (block == NULL || block->capacity - block->len < len) {
        /* as much again as there is, so that there are few blocks and little is unused */
        size_t room = FRZ_MIN(FRZ_MAX(waiting->len, BLOCK_FIRST), BLOCK_MOST);
        FRZ_TRY(add_block(waiting, &block, err));
        FRZ_TRY(frz_buf_reserve(block, FRZ_MAX(room, len), err));
        waiting->count++;
    }
    FRZ_TRY(frz_buf_append(block, bytes, len, err));
    waiting->len += len;
out:
    return rc;
}

frz_code parquet_waiting_take(parquet_waiting *waiting, frz_buf *buf, frz_error *err)
{
    frz_buf *block;
    if (buf->len < TAKE_LEAST || buf->capacity - buf->len > buf->len / 2) {
        frz_code rc = parquet_waiting_append(waiting, buf->data, buf->len, err);
        if (rc == FRZ_OK) {
            frz_buf_clear(buf);
        }
        return rc;
    }
    frz_code rc = add_block(waiting, &block, err);
    if (rc == FRZ_OK) {
        *block = *buf;
        waiting->count++;
        waiting->len += buf->len;
        frz_buf_init(buf, buf->env, buf->max);
    }
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
