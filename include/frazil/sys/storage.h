/**
 * Where files live. Plug-in interface: may change in minor releases.
 *
 * A location is a string of bytes that is never percent-decoded. The functions get the location
 * as the table metadata resolves it ("file:///p", "file:/p" and "/p" are one place for the local
 * storage). Files are immutable once closed.
 */
#ifndef FRAZIL_SYS_STORAGE_H
#define FRAZIL_SYS_STORAGE_H

#include <stddef.h>
#include <stdint.h>

#include "frazil/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called once per file by list(); a code other than FRZ_OK stops the listing and is returned. */
typedef frz_code (*frz_storage_visit)(void *ctx, const char *location, uint64_t size,
                                      int64_t modified_ms);

/**
 * Functions over one kind of storage. All may be called from several threads at once, but one
 * open file is used by one thread at a time, except that read_at on one file may run in parallel.
 * A failure leaves outputs untouched. FRZ_E_NOT_FOUND, FRZ_E_EXISTS and FRZ_E_IO are told apart.
 */
typedef struct frz_storage {
    size_t struct_size;
    /** Open an existing file for reading and tell its size in bytes. */
    frz_code (*open)(void *ctx, const char *location, void **file, uint64_t *size, frz_error *err);
    /** Create a new file for appending; FRZ_E_EXISTS if it is there. Makes parent folders, whose
     * names are no more durable than the file's until sync_dir. */
    frz_code (*create)(void *ctx, const char *location, void **file, frz_error *err);
    /** Read exactly len bytes; fewer is FRZ_E_IO. */
    frz_code (*read_at)(void *ctx, void *file, uint64_t offset, void *buf, size_t len,
                        frz_error *err);
    /** Append all len bytes. */
    frz_code (*append)(void *ctx, void *file, const void *buf, size_t len, frz_error *err);
    /** Append len bytes of another open file of this storage without passing through memory.
     * FRZ_E_UNSUPPORTED, with nothing appended: they have to, and the caller reads and appends
     * them. */
    frz_code (*append_from)(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                            frz_error *err);
    /** Make the file's bytes durable. Its name needs sync_dir. */
    frz_code (*sync)(void *ctx, void *file, frz_error *err);
    /** Close; the handle is gone even on failure. */
    frz_code (*close)(void *ctx, void *file, frz_error *err);
    /** Make the names in the folder of this location durable: of this folder only, so the folder's
     * own name needs a call with the folder as the location. Storages without folders do nothing.
     */
    frz_code (*sync_dir)(void *ctx, const char *location, frz_error *err);
    /** Make everything written so far durable; used instead of many single syncs. */
    frz_code (*sync_all)(void *ctx, const char *location, frz_error *err);
    /** Size of a file. */
    frz_code (*stat)(void *ctx, const char *location, uint64_t *size, frz_error *err);
    frz_code (*remove)(void *ctx, const char *location, frz_error *err);
    /** Visit every file below a location, in no order. */
    frz_code (*list)(void *ctx, const char *location, frz_storage_visit visit, void *visit_ctx,
                     frz_error *err);
    void *ctx;
    /** Optional, NULL if there is none: bytes that tell the content of this open file from every
     * other content that its location has had or will have, such as inode and times, or an entity
     * tag. Returns how many were written to id; 0 if that cannot be told, at least for now. What
     * was read from the file may then be kept for a later open of the location with the same size
     * and bytes. */
    size_t (*identity)(void *ctx, void *file, void *id, size_t capacity);
    /** Optional, NULL if there is none: len bytes from offset on were appended and will be synced
     * later; the storage may begin with it. */
    void (*sync_soon)(void *ctx, void *file, uint64_t offset, uint64_t len);
} frz_storage;

#ifdef __cplusplus
}
#endif

#endif
