/*
 * Writing a Puffin file of deletion vectors. spec: Puffin file; deletion-vector-v1
 */
#include <stdio.h>

#include "base/base_json.h"
#include "format/puffin/puffin_internal.h"

struct frz_vector_writer {
    const frz_env *env;
    frz_file_writer *file;
    frz_buf blob;
    json_t *blobs;
};

static frz_code no_memory(frz_error *err)
{
    return frz_fail_nomem(err, sizeof(json_t));
}

static frz_code append_magic(frz_vector_writer *w, frz_error *err)
{
    return frz_file_append(w->file, puffin_magic, PUFFIN_MAGIC_SIZE, err);
}

frz_code frz_vector_writer_open(const frz_env *env, const char *location, frz_vector_writer **out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_vector_writer *w = frz_alloc_zero(env, 1, sizeof *w);
    if (w == NULL) {
        return frz_fail_nomem(err, sizeof *w);
    }
    w->env = env;
    w->blob = (frz_buf)FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    w->blobs = json_array();
    FRZ_TRY(w->blobs == NULL ? no_memory(err) : FRZ_OK);
    FRZ_TRY(frz_file_create(env, location, &w->file, err));
    FRZ_TRY(append_magic(w, err));
    *out = w;
    w = NULL;
out:
    frz_vector_writer_abort(w);
    return rc;
}

/* What the footer says of a blob. Numbers that only the commit will know are -1. */
static json_t *describe(uint64_t offset, size_t length, frz_str data_file, uint64_t cardinality)
{
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)cardinality);
    json_t *blob = json_object(), *properties = json_object();
    bool made = blob != NULL && properties != NULL &&
                json_object_set_new(blob, "type", json_string("deletion-vector-v1")) == 0 &&
                json_object_set_new(blob, "fields", json_array()) == 0 &&
                json_object_set_new(blob, "snapshot-id", json_integer(-1)) == 0 &&
                json_object_set_new(blob, "sequence-number", json_integer(-1)) == 0 &&
                json_object_set_new(blob, "offset", json_integer((json_int_t)offset)) == 0 &&
                json_object_set_new(blob, "length", json_integer((json_int_t)length)) == 0 &&
                json_object_set_new(properties, "referenced-data-file",
                                    json_stringn(data_file.ptr, data_file.len)) == 0 &&
                json_object_set_new(properties, "cardinality", json_string(count)) == 0 &&
                json_object_set(blob, "properties", properties) == 0;
    json_decref(properties);
    if (!made) {
        json_decref(blob);
    }
    return made ? blob : NULL;
}

frz_code frz_vector_writer_add(frz_vector_writer *w, const frz_positions *set, frz_str data_file,
                               int64_t *offset, int64_t *size, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint64_t start = frz_file_writer_size(w->file);
    frz_buf_clear(&w->blob);
    FRZ_TRY(frz_vector_encode(set, &w->blob, err));
    json_t *blob = describe(start, w->blob.len, data_file, frz_positions_count(set));
    FRZ_TRY(blob == NULL || json_array_append_new(w->blobs, blob) != 0 ? no_memory(err) : FRZ_OK);
    FRZ_TRY(frz_file_append(w->file, w->blob.data, w->blob.len, err));
    *offset = (int64_t)start;
    *size = (int64_t)w->blob.len;
out:
    return rc;
}

static frz_code write_footer(frz_vector_writer *w, frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t tail[8] = {0}; /* size of the payload, flags */
    json_t *footer = json_object();
    FRZ_TRY(footer == NULL || json_object_set(footer, "blobs", w->blobs) != 0 ? no_memory(err)
                                                                              : FRZ_OK);
    frz_buf_clear(&w->blob);
    FRZ_TRY(frz_json_dump(footer, &w->blob, err));
    FRZ_TRY(
        w->blob.len <= INT32_MAX
            ? FRZ_OK
            : frz_fail(err, FRZ_E_LIMIT, "a Puffin footer of %zu bytes is too long", w->blob.len));
    frz_store_le32(tail, (uint32_t)w->blob.len);
    FRZ_TRY(append_magic(w, err));
    FRZ_TRY(frz_file_append(w->file, w->blob.data, w->blob.len, err));
    FRZ_TRY(frz_file_append(w->file, tail, sizeof tail, err));
    FRZ_TRY(append_magic(w, err));
out:
    json_decref(footer);
    return rc;
}

frz_code frz_vector_writer_finish(frz_vector_writer *w, bool durable, int64_t *bytes,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(write_footer(w, err));
    *bytes = (int64_t)frz_file_writer_size(w->file);
    frz_file_writer *file = w->file;
    w->file = NULL;
    rc = frz_file_finish(file, durable, err);
out:
    frz_vector_writer_abort(w);
    return rc;
}

void frz_vector_writer_abort(frz_vector_writer *w)
{
    if (w != NULL) {
        frz_file_abort(w->file);
        json_decref(w->blobs);
        frz_buf_reset(&w->blob);
        frz_free(w->env, w);
    }
}
