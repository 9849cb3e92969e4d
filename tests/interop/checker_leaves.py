"""Leaf manifests, for the independent checker: their entries as a snapshot sees them, and the rules
of the entries in the root that point to them."""
import copy

import checker_fields as c
import mumbling

# Field ids of a manifest entry in the root.
DELETED_POSITIONS, REPLACED_POSITIONS = 6, 7
FORMAT_VERSION, MASK, LEAST_SEQUENCE = 521, 522, 516
FILES = {c.ADDED: 504, c.EXISTING: 505, c.DELETED: 506, c.REPLACED: 523, c.MODIFIED: 525}
ROWS = {c.ADDED: 512, c.EXISTING: 513, c.DELETED: 514, c.REPLACED: 524, c.MODIFIED: 526}
DATA_MANIFEST = 3


def positions(bitmap):
    try:
        return frozenset() if bitmap is None else mumbling.decode(bitmap)
    except ValueError as error:
        raise c.Broken(str(error)) from None


def masks(entry):
    """Positions that are not live; that were deleted, and replaced, in the root's snapshot."""
    tracking = entry[c.TRACKING]
    return (positions(entry[c.MANIFEST_INFO].get(MASK)), positions(tracking.get(DELETED_POSITIONS)),
            positions(tracking.get(REPLACED_POSITIONS)))


def stored(table, entry):
    """Entries of a leaf with what they inherit."""
    root = entry[c.TRACKING]
    c.require(entry.get(c.MANIFEST_INFO), f"{entry[c.LOCATION]}: a manifest without manifest_info")
    if not entry[c.MANIFEST_INFO][FORMAT_VERSION] >= 4:
        raise c.Unsupported("a manifest of an earlier version")
    entries = copy.deepcopy(table.file(entry[c.LOCATION]).records())
    next_row_id = root.get(c.FIRST_ROW_ID)
    for each in entries:
        tracking = each[c.TRACKING]
        c.require(tracking[c.STATUS] in range(5), f"status {tracking[c.STATUS]}")
        c.require(each[c.CONTENT_TYPE] == 0, f"content_type {each[c.CONTENT_TYPE]} in a leaf")
        for key in (c.SNAPSHOT_ID, c.SEQUENCE, c.FILE_SEQUENCE):
            tracking[key] = root[key] if tracking.get(key) is None else tracking[key]
        if root.get(c.FIRST_ROW_ID) is None:
            tracking[c.FIRST_ROW_ID] = None
        elif tracking[c.STATUS] in c.LIVE and tracking.get(c.FIRST_ROW_ID) is None:
            tracking[c.FIRST_ROW_ID] = next_row_id
            next_row_id += each[c.RECORD_COUNT]
    return entries


def emptied(entries, root, gone):
    """The leaf went with its last live entries, of which no other manifest tells."""
    return root[c.STATUS] == c.DELETED and gone >= {
        i for i, each in enumerate(entries) if each[c.TRACKING][c.STATUS] in c.LIVE}


def seen(table, snapshot, entry):
    """Entries as this snapshot's root shows them: with the status that they have in it."""
    root = entry[c.TRACKING]
    entries = stored(table, entry)
    gone, deleted, replaced = masks(entry)
    if emptied(entries, root, gone):
        deleted = gone
    elif root[c.STATUS] not in c.LIVE:
        return []
    found = []
    for position, each in enumerate(entries):
        tracking = each[c.TRACKING]
        if root[c.STATUS] == c.ADDED:
            c.require(not gone, f"{entry[c.LOCATION]}: a mask in the snapshot that added it")
            found.append(each)
        elif position in deleted | replaced:
            tracking[c.STATUS] = c.DELETED if position in deleted else c.REPLACED
            tracking[c.SNAPSHOT_ID] = snapshot["snapshot-id"]
            found.append(each)
        elif position not in gone and tracking[c.STATUS] in c.LIVE:
            tracking[c.STATUS] = c.EXISTING
            found.append(each)
    return found


def check(table, snapshot, entry, before):
    """before: the same manifest's entry in the parent's root, or None."""
    where = f"snapshot {snapshot['snapshot-id']}, {entry[c.LOCATION]}"
    root, info = entry[c.TRACKING], entry[c.MANIFEST_INFO]
    entries = stored(table, entry)
    gone, deleted, replaced = masks(entry)
    for key in (c.SNAPSHOT_ID, c.SEQUENCE, c.FILE_SEQUENCE):
        c.require(root.get(key) is not None, f"{where}: null in tracking, field {key}")
    for key in (c.COLUMN_FILES, c.DELETION_VECTOR):
        c.require(entry.get(key) is None, f"{where}: field {key} of a manifest")
    c.require(root[c.SEQUENCE] == root[c.FILE_SEQUENCE], f"{where}: two sequence numbers")
    c.require(entry[c.RECORD_COUNT] == len(entries), f"{where}: record_count")
    for status in range(5):
        rows = [e[c.RECORD_COUNT] for e in entries if e[c.TRACKING][c.STATUS] == status]
        name = c.STATUS_NAMES[status]
        c.require(info[FILES[status]] == len(rows), f"{where}: number of {name} entries")
        c.require(info[ROWS[status]] == sum(rows), f"{where}: number of {name} rows")
    live = [e[c.TRACKING][c.SEQUENCE] for e in entries if e[c.TRACKING][c.STATUS] in c.LIVE]
    c.require(not live or info[LEAST_SEQUENCE] == min(live), f"{where}: min_sequence_number")
    c.require(all(p < len(entries) for p in gone), f"{where}: a mask behind the end")
    c.require(deleted | replaced <= gone and not deleted & replaced, f"{where}: masks differ")
    if root[c.STATUS] == c.EXISTING:
        c.require(not deleted | replaced, f"{where}: changes of a manifest that did not change")
    if before is not None:
        earlier = masks(before)[0]
        # others may have moved to another manifest
        c.require(earlier | deleted | replaced <= gone, f"{where}: the mask lost entries")
        c.require(before[c.LOCATION] == entry[c.LOCATION] and
                  root[c.SNAPSHOT_ID] == before[c.TRACKING][c.SNAPSHOT_ID] or
                  root[c.STATUS] not in c.LIVE, f"{where}: snapshot_id changed")
