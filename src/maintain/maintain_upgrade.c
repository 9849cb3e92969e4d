/*
 * Upgrades of the format version. What changes is in meta/meta_json_upgrade.c.
 */
#include "frazil/maintain.h"
#include "write/write_commit.h"

frz_code frz_upgrade(frz_catalog *catalog, const char *table, int format_version,
                     frz_commit_report *report, frz_error *err)
{
    if (format_version < 1 || format_version > FRZ_FORMAT_VERSION) {
        return frz_fail(err, FRZ_E_ARGUMENT, "format version: expected 1 to %d, found %d",
                        FRZ_FORMAT_VERSION, format_version);
    }
    return frz_commit_upgrade(catalog, table, format_version, report, err);
}
