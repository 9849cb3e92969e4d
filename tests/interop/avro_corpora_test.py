"""Every Avro file of the corpora, data files, manifests and manifest lists alike: frazil cat against
fastavro, value by value."""
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("fastavro")
import avro_rows

CORPORA = Path(os.environ["FRAZIL_CORPORA"])

# Files that we, or fastavro, or both do not read, and what we say of them.
BOTH, OURS, THEIRS = "both", "ours", "theirs"
UNREAD = {
    "avro/c/avro-1237-bad-union-discriminant.avro": (BOTH, "values of the file are not records"),
    "avro/c/avro-1237-good.avro": (OURS, "values of the file are not records"),
    "avro/c/avro-1238-good.avro": (OURS, "values of the file are not records"),
    "avro/c/avro-1238-truncated.avro": (BOTH, "values of the file are not records"),
    "avro/data/schemas/withUnion/data.avro": (OURS, "\"data1\" is a union of several types"),
    # a metadata key that is not text
    "avro/data/syncInMeta.avro": (THEIRS, None),
    "iceberg-rust/manifests_lists/manifest-list-v3-encrypted.avro": (BOTH, "neither a Parquet nor"),
    # a byte is left behind the last sync marker
    "avro/js/person-10.no-codec.avro": (BOTH, "block at byte 494: its header is cut off"),
}


def files():
    if not CORPORA.is_dir():
        return []
    found = (p for p in CORPORA.rglob("*") if p.suffix == ".avro" and p.is_file())
    return sorted(str(p.relative_to(CORPORA)) for p in found)


def compare(name):
    """What is wrong; None: nothing."""
    path = CORPORA / name
    who, says = UNREAD.get(name, (None, None))
    try:
        schema, rows = avro_rows.load(path)
    except Exception as error:  # fastavro raises many kinds
        schema, rows = error, None
    table, refused = avro_rows.cat(path)
    if who == THEIRS:
        return None if refused is None and rows is None else f"{name}: {refused}"
    if who is not None:
        good = refused is not None and says in refused and (rows is None) == (who == BOTH)
        return None if good else f"{name}: {refused}, fastavro: {schema if rows is None else 'reads it'}"
    if refused is not None or rows is None:
        return f"{name}: {refused}, fastavro: {schema if rows is None else 'reads it'}"
    wrong = avro_rows.difference(avro_rows.rows_of(table), avro_rows.expected_rows(schema, rows))
    return None if wrong is None else f"{name}: {wrong}"


def test_every_file_of_the_corpora():
    names = files()
    if not names:
        pytest.skip(f"no corpora at {CORPORA}")
    with ThreadPoolExecutor(2) as pool:
        wrong = [found for found in pool.map(compare, names) if found is not None]
    assert not wrong, f"{len(wrong)} of {len(names)} files:\n" + "\n".join(wrong[:40])
    assert set(UNREAD) <= set(names)
