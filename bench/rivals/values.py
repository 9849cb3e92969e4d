"""The values that a table must have after an operation."""

import numpy as np
import pyarrow.parquet as pq

from operations import ADDED


def keyed_values(keyed, ids):
    """Of each id, in their order, what the file says."""
    table = pq.read_table(keyed)
    values = np.empty(len(ids))
    values[table["id"].to_numpy()] = table["c_1"].to_numpy()
    return values[ids]


def wanted_column(name, operation, source, keyed):
    """A column of the changed table, by ascending id."""
    ids = source["id"].to_numpy()
    values = source["c_1" if name == ADDED else name].to_numpy()
    if name not in operation.columns:
        return values
    if operation.what == "add":
        return values * 2
    if operation.what == "from file":
        return keyed_values(keyed, ids)
    return np.where(ids % operation.share == 0, values + 1, values)


def difference(found, operation, source, keyed):
    """None if the table, whose rows may have another order, is right; else what is not."""
    source = pq.read_table(source)
    names = set(source.column_names) | set(operation.columns)
    if set(found.column_names) != names:
        return f"columns differ: {sorted(set(found.column_names) ^ names)[:5]}"
    order = np.argsort(found["id"].to_numpy())
    for name in sorted(names):
        values = found[name].to_numpy()[order]
        if not np.array_equal(values, wanted_column(name, operation, source, keyed)):
            return f"values of {name} differ"
    return None
