/*
 * io: files through the environment's storage, with byte counts and error context. A location is
 * what table metadata resolves to; see frazil/sys/storage.h.
 */
#ifndef FRZ_IO_FILE_H
#define FRZ_IO_FILE_H

#include "base/base.h"

/* ---- locations ---- */

/* True if the location starts with a URI scheme: ALPHA then ALPHA / DIGIT / + - . then a colon. */
bool frz_location_has_scheme(frz_str location);
/* The local path of "/p", "file:/p", "file:///p" or a relative path; false for other schemes or
 * authorities. The view points into location. */
bool frz_location_local_path(frz_str location, frz_str *path);
/* What a location names, in a form that can be compared: "/p", "file:/p" and "file:///p" are one
 * place, so are "./p" and "p", and s3, s3a and s3n are one scheme. Otherwise the text counts, byte
 * by byte. A location without scheme is local. Views into location, or constants. */
typedef struct frz_place {
    frz_str scheme; /* "file", "s3", "hdfs" */
    frz_str rest;   /* behind the colon; of "file" the path */
} frz_place;
frz_place frz_location_place(frz_str location);
bool frz_place_equal(frz_place a, frz_place b);
bool frz_location_same(frz_str a, frz_str b);
/* "file://" + absolute path of a local path as the shell gives it; the path need not exist.
 * Locations with a scheme are copied. Free with frz_free. */
frz_code frz_location_from_path(const frz_env *env, const char *path, char **out, frz_error *err);

/* The folder of a local file as the file system knows it, links and dots resolved; free with
 * frz_free. FRZ_E_NOT_FOUND: it is not local, or not there. */
frz_code frz_location_real_folder(const frz_env *env, frz_str location, char **out, frz_error *err);

/* ---- reading ---- */

typedef struct frz_file frz_file; /* an open, immutable file; read_at may run in parallel */

frz_code frz_file_open(const frz_env *env, const char *location, frz_file **out, frz_error *err);
void frz_file_close(frz_file *file); /* NULL is fine */
uint64_t frz_file_size(const frz_file *file);
const char *frz_file_location(const frz_file *file);
/* Exactly len bytes; a range beyond the end is FRZ_E_CORRUPT naming file and offset. */
frz_code frz_file_read(const frz_file *file, uint64_t offset, void *buf, size_t len,
                       frz_error *err);
/* A key for the environment's cache that names what was made of the file (kind, without a NUL) and
 * the file with its present content; free with frz_free. ptr NULL: the storage does not tell one
 * content from another, and nothing may be kept. */
frz_code frz_file_cache_key(const frz_file *file, const char *kind, frz_str *out, frz_error *err);
/* The whole file, at most max bytes. */
frz_code frz_file_read_all(const frz_env *env, const char *location, size_t max, frz_buf *out,
                           frz_error *err);
frz_code frz_file_stat(const frz_env *env, const char *location, uint64_t *size, frz_error *err);

/* ---- writing: a new file, visible under its name at once but referenced by nothing ---- */

typedef struct frz_file_writer frz_file_writer;

frz_code frz_file_create(const frz_env *env, const char *location, frz_file_writer **out,
                         frz_error *err);
frz_code frz_file_append(frz_file_writer *writer, const void *bytes, size_t len, frz_error *err);
frz_code frz_file_append_from(frz_file_writer *writer, const frz_file *src, uint64_t offset,
                              uint64_t len, frz_error *err);
/* What was appended so far will be synced when the file is finished: the storage may begin. */
void frz_file_sync_soon(frz_file_writer *writer);
uint64_t frz_file_writer_size(const frz_file_writer *writer); /* bytes appended so far */
/* Close; with durable the bytes are synced first (names need frz_sync_dir). Frees in any case. */
frz_code frz_file_finish(frz_file_writer *writer, bool durable, frz_error *err);
/* Close and remove. NULL is fine. */
void frz_file_abort(frz_file_writer *writer);

frz_code frz_file_remove(const frz_env *env, const char *location, frz_error *err);
/* Make names in the folder of this file durable. */
frz_code frz_sync_dir(const frz_env *env, const char *location, frz_error *err);
frz_code frz_sync_all(const frz_env *env, const char *location, frz_error *err);
frz_code frz_storage_list(const frz_env *env, const char *location, frz_storage_visit visit,
                          void *ctx, frz_error *err);

/* ---- scratch files (io_scratch.c): without a name, in TMPDIR, gone when they are closed ---- */

typedef struct frz_scratch frz_scratch;

frz_code frz_scratch_open(const frz_env *env, frz_scratch **out, frz_error *err);
void frz_scratch_close(frz_scratch *scratch); /* NULL is fine */
uint64_t frz_scratch_size(const frz_scratch *scratch);
frz_code frz_scratch_append(frz_scratch *scratch, const void *bytes, size_t len, frz_error *err);
/* Bytes that were appended. */
frz_code frz_scratch_read(const frz_scratch *scratch, uint64_t offset, void *buf, size_t len,
                          frz_error *err);
/* Its bytes [from, to) as a file, which the scratch file outlives. */
frz_code frz_scratch_file(const frz_env *env, const frz_scratch *scratch, uint64_t from,
                          uint64_t to, frz_file **out, frz_error *err);

/* The local file system as a storage (io_local.c). */
extern const frz_storage frz_storage_local;

#endif
