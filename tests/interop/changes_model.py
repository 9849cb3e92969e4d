"""A model of change feeds: the parent's rows, with the feed applied, are the snapshot's rows."""
import json
from collections import Counter

from iceberg_corpus import same

ROW_ID, UPDATED = "_row_id", "_last_updated_sequence_number"


def value_columns(row):
    return {k: v for k, v in row.items() if k not in (ROW_ID, UPDATED) and not is_about(k)}


def is_about(name):
    return name in ("_change_type", "_change_ordinal", "_commit_snapshot_id", "_changed_columns")


def differing(ours, theirs, names):
    return [name for name in names if not same(ours[name], theirs[name])]


class Model:
    """Rows of a snapshot by their row ids."""

    def __init__(self, rows, common):
        self.rows = {row[ROW_ID]: row for row in rows}
        self.common, self.touched, self.inserted = common, set(), set()
        assert len(self.rows) == len(rows), "a row id stands twice"

    def given(self, change):
        """The columns of a change that have values."""
        names = change["_changed_columns"]
        return value_columns(change) if names is None else {n: change[n] for n in names}

    def remove(self, change):
        row = self.rows.pop(change[ROW_ID])
        assert not differing(change, row, self.common), f"{change} was {row}"

    def before(self, change):
        row, given = self.rows[change[ROW_ID]], self.given(change)
        wrong = differing(given, row, [n for n in given if n in self.common])
        assert not wrong, f"{change} was {row}"

    def after(self, change):
        self.rows[change[ROW_ID]] = {**self.rows[change[ROW_ID]], **self.given(change)}

    def insert(self, change):
        assert change[ROW_ID] not in self.rows, f"{change} was there"
        self.rows[change[ROW_ID]] = value_columns(change) | {ROW_ID: change[ROW_ID]}

    def apply(self, feed):
        steps = {"DELETE": self.remove, "UPDATE_BEFORE": self.before,
                 "INSERT": self.insert, "UPDATE_AFTER": self.after}
        seen = Counter((change["_change_type"], change[ROW_ID]) for change in feed)
        assert not [key for key, count in seen.items() if count > 1], "a change stands twice"
        for kind, step in steps.items():
            for change in feed:
                if change["_change_type"] == kind:
                    step(change)
        befores = {row for kind, row in seen if kind == "UPDATE_BEFORE"}
        self.touched = {row for kind, row in seen if kind in ("INSERT", "UPDATE_AFTER")}
        self.inserted = {row for kind, row in seen if kind == "INSERT"}
        assert befores == {row for kind, row in seen if kind == "UPDATE_AFTER"}


def check_by_id(before, after, feed, common, number):
    """number: the snapshot's sequence number; None: it is a replace."""
    model = Model(before, common)
    model.apply(feed)
    wanted = {row[ROW_ID]: row for row in after}
    assert set(model.rows) == set(wanted)
    for row_id, row in wanted.items():
        names = row if row_id in model.touched else common
        names = [n for n in names if n in model.rows[row_id] and n not in (ROW_ID, UPDATED)]
        assert not differing(model.rows[row_id], row, names), f"{model.rows[row_id]}, not {row}"
    # Whatever has the snapshot's number came or changed in it; what came may have an older one.
    new = {row[ROW_ID] for row in after if row[UPDATED] == number}
    if number is not None:
        assert new <= model.touched and model.touched - new <= model.inserted


def text_of(row, common):
    return json.dumps([row[name] for name in common])


def check_by_value(before, after, feed, common):
    """Without row ids: what was there, without what left, with what came."""
    old = ("DELETE", "UPDATE_BEFORE")
    left = Counter(text_of(c, common) for c in feed if c["_change_type"] in old)
    came = Counter(text_of(c, common) for c in feed if c["_change_type"] not in old)
    rows = Counter(text_of(row, common) for row in before)
    assert not left - rows
    assert rows - left + came == Counter(text_of(row, common) for row in after)
