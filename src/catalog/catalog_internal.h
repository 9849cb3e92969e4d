/*
 * catalog: what the files of this module share among themselves.
 */
#ifndef FRZ_CATALOG_INTERNAL_H
#define FRZ_CATALOG_INTERNAL_H

#include "catalog/catalog_store.h"
#include "io/io_file.h"

/* The file path of "sqlite:///p", "sqlite:p", "jdbc:sqlite:p", or NULL: another kind of catalog. */
const char *catalog_sqlite_path(const char *uri);

/* How long an operation waits for another process's lock. */
void catalog_sqlite_set_wait(void *ctx, int milliseconds);

/* "no table x in …", with a hint. */
frz_code catalog_no_table(const frz_table_name *name, const char *where, frz_error *err);

/* A catalog_name into size bytes; NULL leaves them. */
frz_code catalog_set_name(const char *name, char *out, size_t size, frz_error *err);

#endif
