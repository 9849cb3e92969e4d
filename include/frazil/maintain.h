/**
 * Maintenance: compaction, upgrades and validation.
 */
#ifndef FRAZIL_MAINTAIN_H
#define FRAZIL_MAINTAIN_H

#include "frazil/catalog.h"
#include "frazil/commit.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fold column files back into new data files. Encoded column chunks that did not change are copied
 * byte for byte; _row_id and _last_updated_sequence_number survive. Data files without column
 * files stay as they are.
 *
 * @param report  receives figures; may be NULL
 */
FRZ_API frz_code frz_compact(frz_catalog *catalog, const char *table, frz_commit_report *report,
                             frz_error *err);

/**
 * Make a table one of a newer format version. Only a metadata file is written: data, deletes and
 * manifests stay as they are, and old snapshots stay readable. There is no way back.
 *
 * @param format_version  2, 3 or 4; the table's own is not an error, and nothing is committed
 * @param report          receives figures; may be NULL
 * @return FRZ_OK; FRZ_E_ARGUMENT for a version below the table's or above 4; FRZ_E_UNSUPPORTED for
 * a table that records relative paths, which mean something else in version 4
 */
FRZ_API frz_code frz_upgrade(frz_catalog *catalog, const char *table, int format_version,
                             frz_commit_report *report, frz_error *err);

/** Called once per finding with the file concerned and one line of text. */
typedef void (*frz_finding_fn)(void *ctx, const char *location, const char *text);

/**
 * Prove from the files themselves that a table is sound: every referenced file exists with its
 * recorded size, column files have their base's row count, each field id has one provider,
 * statistics contain the values, lineage and sequence numbers are possible. All retained snapshots
 * are checked.
 *
 * @param visit     called for each finding; may be NULL
 * @param findings  receives the number of findings
 * @return FRZ_OK if the check ran, whatever it found
 */
FRZ_API frz_code frz_validate(frz_table *table, frz_finding_fn visit, void *ctx, int64_t *findings,
                              frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
