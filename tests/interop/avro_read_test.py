"""Avro files of random schemas that fastavro writes: frazil cat against what was written, whole, in
parts of columns and in ranges of rows."""
import random
import string

import pytest

pytest.importorskip("fastavro")
import fastavro

import avro_rows

CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]
fastavro.write.LOGICAL_WRITERS.clear()  # values are given as they are stored


class Maker:
    """Schemas, and values of them."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = 0

    def name(self):
        self.names += 1
        return f"n{self.names}"

    # ---- schemas ----

    def primitive(self):
        logical = self.rng.choice([
            ("int", "date"), ("int", "time-millis"), ("long", "time-micros"),
            ("long", "timestamp-millis"), ("long", "timestamp-micros"), ("long", "timestamp-nanos"),
            ("long", "local-timestamp-micros"), ("string", "uuid")])
        return self.rng.choice([
            "boolean", "int", "long", "float", "double", "string", "bytes", "null",
            {"type": "fixed", "name": self.name(), "size": self.rng.randint(1, 20)},
            {"type": "enum", "name": self.name(), "symbols": ["A", "BB", "C_C"]},
            {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 5},
            {"type": "fixed", "name": self.name(), "size": 7, "logicalType": "decimal",
             "precision": 15, "scale": 0},
            {"type": "fixed", "name": self.name(), "size": 12, "logicalType": "duration"},
            {"type": logical[0], "logicalType": logical[1]}])

    def record(self, depth, least=1):
        fields = []
        for _ in range(self.rng.randint(least, 5)):
            field = {"name": self.name(), "type": self.schema(depth - 1)}
            if self.rng.random() < 0.5:
                field["field-id"] = self.rng.randrange(1000)
            fields.append(field)
        return {"type": "record", "name": self.name(), "fields": fields}

    def pairs(self, depth):
        key = self.rng.choice(["int", "string", "long"])
        fields = [{"name": "key", "type": key}, {"name": "value", "type": self.schema(depth - 1)}]
        return {"type": "array", "logicalType": "map",
                "items": {"type": "record", "name": self.name(), "fields": fields}}

    def schema(self, depth):
        if depth == 0 or self.rng.random() < 0.5:
            made = self.primitive()
        else:
            made = self.rng.choice([
                lambda: self.record(depth), lambda: self.pairs(depth),
                lambda: {"type": "array", "items": self.schema(depth - 1)},
                lambda: {"type": "map", "values": self.schema(depth - 1)}])()
        if made != "null" and self.rng.random() < 0.4:
            return self.rng.choice([["null", made], [made, "null"]])
        return made

    # ---- values ----

    def number(self, bits):
        value = self.rng.getrandbits(self.rng.randint(1, bits)) >> 1
        return self.rng.choice([value, -value - 1])

    def text(self):
        alphabet = string.ascii_letters + self.rng.choice(["", "äß€😀"])
        return "".join(self.rng.choices(alphabet, k=self.rng.choice([0, 1, 5, 15, 16, 17, 100])))

    def value(self, schema):
        if isinstance(schema, list):
            (other,) = [s for s in schema if s != "null"]
            return None if self.rng.random() < 0.4 else self.value(other)
        kind = schema if isinstance(schema, str) else schema["type"]
        logical = None if isinstance(schema, str) else schema.get("logicalType")
        if logical == "decimal":
            return self.number(40).to_bytes(schema.get("size", self.rng.randint(6, 20)), "big", signed=True)
        if logical == "duration":
            return b"".join(self.rng.getrandbits(31).to_bytes(4, "little") for _ in range(3))
        if logical == "uuid":
            return str(avro_rows.uuid.UUID(int=self.rng.getrandbits(128)))
        if logical is not None and logical.startswith("time-"):
            return self.rng.randrange(86_400_000)
        if logical == "date":
            return self.number(20)
        if kind == "record":
            return {f["name"]: self.value(f["type"]) for f in schema["fields"]}
        if kind == "array":
            return [self.value(schema["items"]) for _ in range(self.rng.randint(0, 4))]
        if kind == "map":
            return {self.text(): self.value(schema["values"]) for _ in range(self.rng.randint(0, 4))}
        return {
            "null": lambda: None,
            "boolean": lambda: self.rng.random() < 0.5,
            "int": lambda: self.number(32),
            "long": lambda: self.number(52 if logical else 64),
            "float": lambda: self.rng.choice([0.0, -0.0, 1.5, -2.25, float("inf"), float("nan")]),
            "double": lambda: self.rng.choice([self.rng.random(), float("nan"), 1e300]),
            "string": self.text,
            "bytes": lambda: self.rng.randbytes(self.rng.choice([0, 1, 16, 17, 300])),
            "fixed": lambda: self.rng.randbytes(schema["size"]),
            "enum": lambda: self.rng.choice(schema["symbols"]),
        }[kind]()


def write(path, seed):
    maker = Maker(seed)
    schema = maker.record(3)
    rows = [maker.value(schema) for _ in range(maker.rng.choice([0, 1, 50, 300]))]
    codec = CODECS[seed % len(CODECS)]
    with open(path, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(schema), rows, codec=codec,
                        sync_interval=maker.rng.choice([1, 200, 16_000]))
    return maker, schema, avro_rows.expected_rows(schema, rows)


def assert_same(path, wanted, *arguments):
    table, refused = avro_rows.cat(path, *arguments)
    assert refused is None
    assert avro_rows.difference(avro_rows.rows_of(table), wanted) is None


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_files(tmp_path, first):
    for seed in range(first, first + 10):
        path = tmp_path / f"{seed}.avro"
        maker, schema, rows = write(path, seed)
        assert_same(path, rows)
        start, end = sorted(maker.rng.randint(0, len(rows)) for _ in range(2))
        assert_same(path, rows[start:end], "--rows", f"{start}:{end}")
        names = [f["name"] for f in schema["fields"]]
        names = maker.rng.sample(names, maker.rng.randint(1, len(names)))
        part = [{name: row[name] for name in names} for row in rows]
        assert_same(path, part[start:], "--rows", f"{start}:", "--columns", ",".join(names))


def test_parts_of_structs(tmp_path):
    inner = {"type": "record", "name": "p", "fields": [
        {"name": "a", "type": "int"}, {"name": "b", "type": ["null", "string"]},
        {"name": "c", "type": {"type": "array", "items": "long"}}]}
    schema = {"type": "record", "name": "r", "fields": [
        {"name": "s", "type": ["null", inner]},
        {"name": "l", "type": {"type": "array", "items": "p"}},
        {"name": "m", "type": {"type": "map", "values": ["null", "p"]}}]}
    rows = []
    for i in range(40):
        point = {"a": i, "b": None if i % 3 else f"b{i}", "c": list(range(i % 4))}
        rows.append({"s": None if i % 5 == 0 else point, "l": [point] * (i % 3),
                     "m": {"k": point if i % 2 else None}})
    path = tmp_path / "parts.avro"
    with open(path, "wb") as file:
        fastavro.writer(file, fastavro.parse_schema(schema), rows, sync_interval=100)
    table, refused = avro_rows.cat(path, "--columns", "l.element.c,s.b,m.value.a")
    assert refused is None
    wanted = [{"l": [{"c": p["c"]} for p in row["l"]],
               "s": None if row["s"] is None else {"b": row["s"]["b"]},
               "m": [(k, None if p is None else {"a": p["a"]}) for k, p in row["m"].items()]}
              for row in rows]
    assert avro_rows.difference(avro_rows.rows_of(table), wanted) is None
