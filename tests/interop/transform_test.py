"""Partition transforms give what PyIceberg's give, for random values of every type."""
import datetime
import decimal
import os
import random
import subprocess
import uuid
from pathlib import Path

import pytest
from pyiceberg import transforms, types

BUILD = Path(os.environ["FRAZIL_BUILD"])
EPOCH = datetime.date(1970, 1, 1)
NANOS = {"timestamp_ns", "timestamptz_ns"}


def integer(bits):
    def make(rng):
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        return rng.choice([rng.randint(-50, 50), rng.randint(low, high), low + (1 << (bits - 2)), high])
    return make


def text(rng):
    return "".join(rng.choice("ab\u00e9\u4e16\U0001f600 z") for _ in range(rng.randint(0, 12)))


def raw(rng):
    return bytes(rng.randrange(256) for _ in range(rng.randint(0, 12)))


def number(rng):
    return decimal.Decimal(rng.randint(-10**rng.randint(1, 9) + 1, 10**9 - 10**5)).scaleb(-2)


def micros(rng):
    return rng.choice([rng.randint(-10**7, 10**7), rng.randint(-62135596800, 253402300799) * 10**6
                       + rng.randint(0, 999999)])


def nanos(rng):
    return rng.choice([rng.randint(-10**7, 10**7), rng.randint(-9 * 10**18, 9 * 10**18)])


def days(rng):
    return rng.choice([rng.randint(-800, 800), rng.randint(-719162, 2932896)])


def day_text(value):
    return (EPOCH + datetime.timedelta(days=value)).isoformat()


def clock(value, digits):
    seconds, rest = divmod(value, 10**digits)
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f"{moment.isoformat()}.{rest:0{digits}d}"


def time_text(value):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=value)).time().isoformat()


# name: PyIceberg's type, values in PyIceberg's form, their text for us
TYPES = {
    "int": (types.IntegerType(), integer(32), str),
    "long": (types.LongType(), integer(64), str),
    "decimal(9,2)": (types.DecimalType(9, 2), number, lambda v: format(v, "f")),
    "date": (types.DateType(), days, day_text),
    "time": (types.TimeType(), lambda rng: rng.randrange(86400 * 10**6), time_text),
    "timestamp": (types.TimestampType(), micros, lambda v: clock(v, 6)),
    "timestamptz": (types.TimestamptzType(), micros, lambda v: clock(v, 6) + "+00:00"),
    "timestamp_ns": (types.TimestampNanoType(), nanos, lambda v: clock(v, 9)),
    "timestamptz_ns": (types.TimestamptzNanoType(), nanos, lambda v: clock(v, 9) + "+00:00"),
    "string": (types.StringType(), text, str),
    "uuid": (types.UUIDType(), lambda rng: uuid.UUID(int=rng.getrandbits(128)), str),
    "binary": (types.BinaryType(), raw, bytes.hex),
    "fixed[5]": (types.FixedType(5), lambda rng: rng.randbytes(5), bytes.hex),
}
TIMES = ["timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"]
CASES = ([("bucket", name) for name in TYPES]
         + [("truncate", name) for name in ("int", "long", "decimal(9,2)", "string", "binary")]
         + [(kind, name) for kind in ("year", "month", "day") for name in ["date", *TIMES]]
         + [("hour", name) for name in TIMES])


def made(kind, rng):
    if kind == "bucket":
        n = rng.choice([1, 2, 16, 1000, 2**31 - 1])
        return f"bucket[{n}]", transforms.BucketTransform(n)
    if kind == "truncate":
        n = rng.choice([1, 2, 3, 10, 97])
        return f"truncate[{n}]", transforms.TruncateTransform(n)
    return kind, {"year": transforms.YearTransform(), "month": transforms.MonthTransform(),
                  "day": transforms.DayTransform(), "hour": transforms.HourTransform()}[kind]


def printed(kind, name, value):
    """A result as our values are printed."""
    if kind == "day":
        return day_text(value)
    if kind == "truncate" and name == "binary":
        return value.hex()
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


@pytest.mark.parametrize("kind,name", CASES)
def test_random_values(kind, name):
    rng = random.Random(f"{kind} {name}")
    theirs, make, show = TYPES[name]
    lines, wanted = [], []
    for _ in range(400):
        label, transform = made(kind, rng)
        value = make(rng)
        lines.append(f"{label}\t{name}\t{show(value)}\n")
        wanted.append(printed(kind, name, transform.transform(theirs)(value)))
    done = subprocess.run([BUILD / "bin" / "transform_values"], input="".join(lines),
                          capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    assert len(found) == len(wanted)
    assert [(line, a) for line, a, b in zip(lines, found, wanted) if a != b] == []
