/*
 * Names of the members of a task in JSON, for its writer and its reader.
 */
#ifndef FRZ_SCAN_TASK_JSON_H
#define FRZ_SCAN_TASK_JSON_H

#include "scan/scan_task.h"

#define TASK_VERSION_KNOWN 1

#define TASK_VERSION "task-version"
#define TASK_TABLE "table"
#define TASK_METADATA "metadata-location"
#define TASK_MAPS "location-maps"
#define TASK_FROM "from"
#define TASK_TO "to"
#define TASK_SNAPSHOT "snapshot-id"
#define TASK_SCHEMA "schema-id"
#define TASK_COLUMNS "columns"
#define TASK_WHERE "where"
#define TASK_LINEAGE "with-lineage"
#define TASK_IGNORE_CASE "ignore-case"
#define TASK_DATA_FILES "data-files"
#define TASK_DELETE_FILES "delete-files"
/* of a file */
#define TASK_LOCATION "location"
#define TASK_FILE_FORMAT "file-format"
#define TASK_FILE_SIZE "file-size-in-bytes"
#define TASK_RECORD_COUNT "record-count"
#define TASK_SEQUENCE "sequence-number"
#define TASK_SPEC_ID "spec-id"
#define TASK_LEGACY "legacy"
#define TASK_ENCRYPTED "encrypted"
#define TASK_PARTITION "partition"
#define TASK_FIELD_ID "field-id"
#define TASK_TYPE "type"
#define TASK_VALUE "value"
#define TASK_VECTOR "deletion-vector"
#define TASK_OFFSET "offset"
#define TASK_SIZE "size-in-bytes"
#define TASK_CARDINALITY "cardinality"
/* of a data file */
#define TASK_FIRST_ROW_ID "first-row-id"
#define TASK_COLUMN_FILES "column-files"
#define TASK_FIELD_IDS "field-ids"
#define TASK_ROWS "rows"
#define TASK_BYTES "bytes"
#define TASK_READ_SIZE "read-size"
#define TASK_REFERENCES "delete-file-references"
/* of a delete file */
#define TASK_CONTENT "content"
#define TASK_POSITION_DELETES "position-deletes"
#define TASK_EQUALITY_DELETES "equality-deletes"
#define TASK_EQUALITY_IDS "equality-ids"
#define TASK_REFERENCED "referenced-data-file"

#endif
