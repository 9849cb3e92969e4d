"""Field ids and statuses of manifests, and what the independent checker says."""

ROW_ID = 2147483540
LAST_UPDATED = 2147483539
LINEAGE = {ROW_ID: "_row_id", LAST_UPDATED: "_last_updated_sequence_number"}
STATS_OF_LINEAGE = {LAST_UPDATED: 9000, ROW_ID: 9200}

EXISTING, ADDED, DELETED, REPLACED, MODIFIED = range(5)
STATUS_NAMES = ["EXISTING", "ADDED", "DELETED", "REPLACED", "MODIFIED"]
LIVE = (EXISTING, ADDED, MODIFIED)

# Field ids of a manifest entry.
TRACKING, CONTENT_TYPE, LOCATION, FILE_FORMAT = 147, 134, 100, 101
RECORD_COUNT, FILE_SIZE, SPEC_ID, PARTITION = 103, 104, 141, 102
CONTENT_STATS, DELETION_VECTOR, MANIFEST_INFO, COLUMN_FILES = 146, 148, 150, 158
SPLIT_OFFSETS, SORT_ORDER, KEY_METADATA = 132, 140, 131
STATUS, SNAPSHOT_ID, MODIFIED_SNAPSHOT_ID = 0, 1, 5
SEQUENCE, FILE_SEQUENCE, FIRST_ROW_ID = 3, 4, 142
CF_LOCATION, CF_FIELD_IDS, CF_FORMAT, CF_SIZE, CF_KEY = 160, 161, 163, 164, 165
DV_LOCATION, DV_OFFSET, DV_SIZE, DV_CARDINALITY = 155, 144, 145, 156


class Unsupported(Exception):
    """Legal, but more than this checker knows."""


class Broken(Exception):
    """The table breaks a rule of the format."""


def require(condition, text):
    if not condition:
        raise Broken(text)
