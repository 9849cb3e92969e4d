/*
 * Tasks as JSON: names of the members, and what writes and reads them one by one. Tasks that say
 * more (column_update) have members beside those of scans.
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

/* ---- writing (scan_task_json.c) ---- */

/* Failures stick, so that a task is put together straight through and asked about once. */
typedef struct task_writer {
    bool no_memory, no_text;
} task_writer;

/* A text as a value. */
json_t *task_text(task_writer *w, frz_str text);
/* Each takes value, which may be NULL: no memory. */
void task_put(task_writer *w, json_t *object, const char *key, json_t *value);
void task_append(task_writer *w, json_t *list, json_t *value);
/* ptr NULL, and FRZ_NO_VALUE: nothing is put. */
void task_put_text(task_writer *w, json_t *object, const char *key, frz_str text);
void task_put_number(task_writer *w, json_t *object, const char *key, int64_t value);
void task_put_ids(task_writer *w, json_t *object, const char *key, const int32_t *ids,
                  size_t count);
void task_put_range(task_writer *w, json_t *object, const char *key, int64_t first, int64_t end);
void task_put_column_files(task_writer *w, json_t *object, const frz_entry *entry);
void task_put_vector(task_writer *w, json_t *object, const frz_entry *entry);
frz_code task_writer_end(const task_writer *w, frz_error *err);
/* All members of a task. */
frz_code task_put_all(const frz_task *task, json_t *object, frz_error *err);

/* ---- reading (scan_task_read.c); prefix as in meta_json.h ---- */

/* Room for a prefix. */
#define TASK_PREFIX 96

frz_code task_read_count(const json_t *object, const char *prefix, const char *key, int64_t *out,
                         frz_error *err);
frz_code task_read_count_or(const json_t *object, const char *prefix, const char *key,
                            int64_t fallback, int64_t *out, frz_error *err);
/* Absent: false. */
frz_code task_read_flag(const json_t *object, const char *prefix, const char *key, bool *out,
                        frz_error *err);
/* Not empty. */
frz_code task_read_text(const json_t *object, const char *prefix, const char *key, frz_str *out,
                        frz_error *err);
/* Two integers, 0 <= first <= end <= most: rows or bytes from first up to before end. */
frz_code task_read_pair(const json_t *list, const char *prefix, const char *key, int64_t most,
                        int64_t *first, int64_t *end, frz_error *err);
/* The column files of an entry; texts are views into the document. */
frz_code task_read_column_files(frz_arena *arena, const json_t *object, const char *prefix,
                                frz_entry *entry, frz_error *err);
/* Its deletion vector, if it has one. */
frz_code task_read_vector(const json_t *object, const char *prefix, frz_entry *entry,
                          frz_error *err);
/* A task of a document, which it holds. opts as of frz_task_parse. */
frz_code task_read_all(const frz_env *env, json_t *root, const frz_table_open_options *opts,
                       frz_task **out, frz_error *err);

#endif
