"""Changes of a whole table in memory, for those that can only write it again."""

import pyarrow as pa
import pyarrow.compute as pc

from operations import ADDED
from values import keyed_values


def replace(table, name, values):
    i = table.schema.get_field_index(name)
    return table.set_column(i, table.schema.field(i), values)


def add_one(table, columns, share):
    mask = None if share == 1 else pa.array(table["id"].to_numpy() % share == 0)
    for name in columns:
        more = pc.add(table[name], 1.0)
        table = replace(table, name, more if mask is None else pc.if_else(mask, more, table[name]))
    return table


def doubled(table):
    """ADDED is there already, or comes last."""
    values = pc.multiply(table["c_1"], 2.0)
    if ADDED in table.column_names:
        return replace(table, ADDED, values)
    return table.append_column(ADDED, values)


def with_keyed(table, keyed):
    return replace(table, "c_1", pa.array(keyed_values(keyed, table["id"].to_numpy())))
