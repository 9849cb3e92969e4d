/*
 * puffin: Puffin files, and deletion vectors, the blobs in them that tell the deleted rows of a
 * data file. spec: Puffin file; deletion-vector-v1 blob type
 */
#ifndef FRZ_PUFFIN_H
#define FRZ_PUFFIN_H

#include "format/puffin/puffin_positions.h"

/* ---- files (puffin_file.c) ---- */

typedef struct frz_puffin_property {
    frz_str key, value;
} frz_puffin_property;

typedef struct frz_puffin_blob {
    frz_str type; /* "deletion-vector-v1" */
    const int32_t *fields;
    size_t field_count;
    int64_t snapshot_id, sequence_number; /* -1: of the commit that the file is part of */
    uint64_t offset, length;              /* inside the file, in front of the footer */
    frz_str codec;                        /* ptr NULL: not compressed */
    const frz_puffin_property *properties;
    size_t property_count;
} frz_puffin_blob;

/* An open file; immutable. */
typedef struct frz_puffin frz_puffin;

/* Read and check the footer. */
frz_code frz_puffin_open(const frz_env *env, const char *location, frz_puffin **out,
                         frz_error *err);
void frz_puffin_close(frz_puffin *puffin); /* NULL is fine */
size_t frz_puffin_blob_count(const frz_puffin *puffin);
const frz_puffin_blob *frz_puffin_blob_at(const frz_puffin *puffin, size_t i);
/* Properties of the file. */
const frz_puffin_property *frz_puffin_properties(const frz_puffin *puffin, size_t *count);
/* Append the bytes of a blob, unpacked. */
frz_code frz_puffin_read_blob(const frz_puffin *puffin, size_t i, frz_buf *out, frz_error *err);

/* ---- deletion vectors (puffin_vector.c) ---- */

/* The positions of a deletion-vector-v1 blob. The memory of bytes moves, also on failure. Anything
 * that cannot be trusted is FRZ_E_CORRUPT. */
frz_code frz_vector_decode(frz_buf *bytes, frz_positions **out, frz_error *err);
/* The same from a place in a file, which need not be a whole Puffin file; cardinality as its
 * manifest entry says. */
frz_code frz_vector_read(const frz_env *env, const frz_file *file, int64_t offset, int64_t size,
                         int64_t cardinality, frz_positions **out, frz_error *err);
/* Append the blob of a set. */
frz_code frz_vector_encode(const frz_positions *set, frz_buf *out, frz_error *err);

/* ---- writing files of deletion vectors (puffin_write.c) ---- */

typedef struct frz_vector_writer frz_vector_writer;

frz_code frz_vector_writer_open(const frz_env *env, const char *location, frz_vector_writer **out,
                                frz_error *err);
/* Write the deleted rows of a data file, named as its manifest entry records it, and say where. */
frz_code frz_vector_writer_add(frz_vector_writer *writer, const frz_positions *set,
                               frz_str data_file, int64_t *offset, int64_t *size, frz_error *err);
/* Returns the file's size. Frees the writer, also on failure, which leaves no file. */
frz_code frz_vector_writer_finish(frz_vector_writer *writer, bool durable, int64_t *bytes,
                                  frz_error *err);
void frz_vector_writer_abort(frz_vector_writer *writer); /* NULL is fine */

#endif
