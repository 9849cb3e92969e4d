"""A reader of Thrift's compact protocol and of what Parquet keeps in it, apart from the library that
is tested: structs become dictionaries by field number."""
import struct

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def take(self, count):
        assert 0 <= count <= len(self.data) - self.at
        self.at += count
        return bytes(self.data[self.at - count : self.at])

    def value(self, type_, in_list=False):
        if type_ in (TRUE, FALSE):
            return self.byte() == TRUE if in_list else type_ == TRUE
        if type_ == BYTE:
            return struct.unpack("b", self.take(1))[0]
        if type_ in (I16, I32, I64):
            return self.zigzag()
        if type_ == DOUBLE:
            return struct.unpack("<d", self.take(8))[0]
        if type_ == BINARY:
            return self.take(self.varint())
        if type_ in (LIST, SET):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.value(head & 15, True) for _ in range(count)]
        assert type_ == STRUCT, type_
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            assert last not in fields
            fields[last] = self.value(head & 15)


def read_struct(data, at=0):
    """The struct at a place, and where it ends."""
    reader = Reader(data, at)
    fields = reader.struct()
    return fields, reader.at


def read_footer(data):
    assert data[:4] == data[-4:] == b"PAR1"
    size = struct.unpack("<I", data[-8:-4])[0]
    start = len(data) - 8 - size
    footer, end = read_struct(data, start)
    assert end == len(data) - 8
    return footer, start


def leaves(footer):
    """Path, physical type, annotation and levels of every leaf."""
    elements = iter(footer[2])
    found = []

    def walk(path, def_, rep):
        element = next(elements)
        def_ += element.get(3) in (1, 2)
        rep += element.get(3) == 2
        here = path + [element[4].decode()] if path is not None else []
        if 5 in element:
            for _ in range(element[5]):
                walk(here, def_, rep)
        else:
            found.append({"path": here, "physical": element[1], "length": element.get(2),
                          "logical": element.get(10, {}), "def": def_, "rep": rep,
                          "scale": element.get(7)})

    walk(None, 0, 0)
    return found


def chunks(footer):
    """Row group number, leaf and ColumnChunk of all chunks."""
    columns = leaves(footer)
    for number, group in enumerate(footer[4]):
        for leaf, chunk in zip(columns, group[1], strict=True):
            yield number, leaf, chunk
