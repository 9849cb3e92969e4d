"""Parquet files that today's writers no longer make: any schema, any physical type, values with
their levels written out. One row group unless told otherwise, one page a column, nothing compressed."""
import struct

from parquet_thrift import BINARY, BYTE, FALSE, I32, I64, LIST, STRUCT, TRUE  # noqa: F401

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = range(8)
REQUIRED, OPTIONAL, REPEATED = range(3)
PLAIN, RLE, DELTA, RLE_DICTIONARY = 0, 3, 5, 8
# converted types
MAP, MAP_KEY_VALUE, LIST_OF, DECIMAL = 1, 2, 3, 5


# ---- Thrift's compact protocol ----


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def zigzag(number):
    return varint((number << 1) ^ (number >> 63))


def element(kind, value):
    if kind in (I32, I64):
        return zigzag(value)
    if kind == BINARY:
        value = value.encode() if isinstance(value, str) else value
        return varint(len(value)) + value
    if kind == LIST:
        inner, values = value
        head = bytes([len(values) << 4 | inner]) if len(values) < 15 else \
            bytes([0xF0 | inner]) + varint(len(values))
        return head + b"".join(element(inner, v) for v in values)
    assert kind == STRUCT
    return value


def thrift(*fields):
    """A struct of (number, type, value), numbers ascending; those of value None are left out."""
    out, last = b"", 0
    for number, kind, value in fields:
        if value is None:
            continue
        if isinstance(value, bool):
            out += bytes([(number - last) << 4 | (TRUE if value else FALSE)])
        else:
            out += bytes([(number - last) << 4 | kind]) + element(kind, value)
        last = number
    return out + b"\0"


# ---- schemas ----


def leaf(name, physical, repetition=OPTIONAL, number=None, length=None, converted=None, scale=None,
         precision=None):
    return {"name": name, "repetition": repetition, "number": number, "physical": physical,
            "length": length, "converted": converted, "scale": scale, "precision": precision}


def group(name, *children, repetition=OPTIONAL, number=None, converted=None):
    return {"name": name, "repetition": repetition, "number": number, "converted": converted,
            "children": children}


def schema_elements(node, root=False):
    children = node.get("children")
    text = thrift((1, I32, node.get("physical")), (2, I32, node.get("length")),
                  (3, I32, None if root else node["repetition"]), (4, BINARY, node["name"]),
                  (5, I32, len(children) if children is not None else None),
                  (6, I32, node["converted"]), (7, I32, node.get("scale")),
                  (8, I32, node.get("precision")), (9, I32, node["number"]))
    return [text] + [e for child in children or () for e in schema_elements(child)]


def leaves(node, path=(), definition=0, repetition=0):
    for child in node["children"]:
        here = path + (child["name"],)
        d = definition + (child["repetition"] != REQUIRED)
        r = repetition + (child["repetition"] == REPEATED)
        if "children" in child:
            yield from leaves(child, here, d, r)
        else:
            yield ".".join(here), child, d, r


# ---- pages ----


def runs(numbers, most):
    """The hybrid of runs and bits, as runs of one."""
    width = (most.bit_length() + 7) // 8
    return b"".join(varint(1 << 1) + n.to_bytes(width, "little") for n in numbers)


def levels(numbers, most):
    data = runs(numbers, most) if most else b""
    return struct.pack("<I", len(data)) + data if most else b""


def plain(physical, values):
    if physical == INT32:
        return struct.pack(f"<{len(values)}i", *values)
    if physical == INT64:
        return struct.pack(f"<{len(values)}q", *values)
    if physical == BYTE_ARRAY:
        return b"".join(struct.pack("<I", len(v)) + v for v in values)
    assert physical in (INT96, FIXED)
    return b"".join(values)


def page(kind, body, header):
    """header: the member of the page header for this kind of page."""
    return thrift((1, I32, kind), (2, I32, len(body)), (3, I32, len(body)), header) + body


def data_page(column, triples, encoding, body):
    node, d, r = column
    body = levels([t[0] for t in triples], r) + levels([t[1] for t in triples], d) + body
    return page(0, body, (5, STRUCT, thrift((1, I32, len(triples)), (2, I32, encoding),
                                            (3, I32, RLE), (4, I32, RLE))))


def chunk_pages(column, triples, how):
    """The pages of a chunk, and whether the first is a dictionary. how: "plain", "dictionary", "both"
    (first half dictionary, then plain), or (encoding, bytes) as they are."""
    node, d, _ = column
    physical = node["physical"]
    values = [t[2] for t in triples if t[1] == d]
    if isinstance(how, tuple):
        return [data_page(column, triples, *how)], False
    if how == "plain":
        return [data_page(column, triples, PLAIN, plain(physical, values))], False
    half = len(triples) if how == "dictionary" else len(triples) // 2
    known = list(dict.fromkeys(values))
    dictionary = page(2, plain(physical, known), (7, STRUCT, thrift((1, I32, len(known)), (2, I32, PLAIN))))
    indices = [known.index(t[2]) for t in triples[:half] if t[1] == d]
    width = max(1, (len(known) - 1).bit_length())
    pages = [dictionary, data_page(column, triples[:half], RLE_DICTIONARY,
                                   bytes([width]) + runs(indices, (1 << width) - 1))]
    if half < len(triples):
        rest = [t[2] for t in triples[half:] if t[1] == d]
        pages.append(data_page(column, triples[half:], PLAIN, plain(physical, rest)))
    return pages, True


# ---- files ----


def write(path, root, rows, columns, how="plain", statistics=None):
    """root: a group; columns: dotted path -> [(repetition, definition, value)] in the order of the
    rows; statistics: dotted path -> (least, greatest) as bytes."""
    out = b"PAR1"
    chunks = []
    for name, node, d, r in leaves(root):
        triples = columns[name]
        pages, has_dictionary = chunk_pages((node, d, r), triples, how)
        start, size = len(out), sum(map(len, pages))
        data_start = start + (len(pages[0]) if has_dictionary else 0)
        out += b"".join(pages)
        bounds = (statistics or {}).get(name)
        stats = thrift((3, I64, sum(t[1] != d for t in triples)), (5, BINARY, bounds[1]),
                       (6, BINARY, bounds[0])) if bounds else None
        metadata = thrift((1, I32, node["physical"]), (2, LIST, (I32, [PLAIN, RLE, DELTA, RLE_DICTIONARY])),
                          (3, LIST, (BINARY, name.split("."))), (4, I32, 0), (5, I64, len(triples)),
                          (6, I64, size), (7, I64, size), (9, I64, data_start),
                          (11, I64, start if has_dictionary else None), (12, STRUCT, stats))
        chunks.append(thrift((2, I64, start), (3, STRUCT, metadata)))
    row_group = thrift((1, LIST, (STRUCT, chunks)), (2, I64, len(out) - 4), (3, I64, rows))
    footer = thrift((1, I32, 1), (2, LIST, (STRUCT, schema_elements(root, True))), (3, I64, rows),
                    (4, LIST, (STRUCT, [row_group])), (6, BINARY, "by hand version 1.0.0"))
    path.write_bytes(out + footer + struct.pack("<I", len(footer)) + b"PAR1")


def flat(values, definition=1):
    """The levels of an optional column at the top."""
    return [(0, definition if v is not None else definition - 1, v) for v in values]
