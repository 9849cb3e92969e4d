/**
 * Import: Parquet files of any writer become a v4 table, their bytes kept.
 */
#ifndef FRAZIL_IMPORT_H
#define FRAZIL_IMPORT_H

#include "frazil/catalog.h"
#include "frazil/commit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A table property. */
typedef struct frz_property {
    const char *key;
    const char *value;
} frz_property;

typedef struct frz_import_options {
    size_t struct_size;
    const frz_property *properties; /**< set on the new table */
    size_t property_count;
    int rewrite; /**< non-zero: decode and write afresh instead of keeping the bytes */
} frz_import_options;

#define FRZ_IMPORT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(frz_import_options), 0, 0, 0                                                        \
    }

/**
 * Create a table from Parquet files. Files are copied (by reflink where the file system can) into
 * the table's folder; only footers are read. All files must fit one schema; otherwise nothing is
 * created and the error names file, column and both types.
 *
 * @param name     "namespace.table"; FRZ_E_EXISTS if it is there
 * @param files    paths; at least one
 * @param report   receives figures; may be NULL
 */
FRZ_API frz_code frz_import(frz_catalog *catalog, const char *name, const char *const *files,
                            size_t file_count, const frz_import_options *opts,
                            frz_commit_report *report, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
