"""Mumbling bitmaps, read: which entries of a leaf manifest are not live. Of its own, for the
independent checker. Format: a header, PFOR coded descriptors of containers for 256 positions each,
the containers."""

MOST_BITS, MOST_CONTAINERS, CHUNK = 1 << 21, 8192, 256


def need(condition, text):
    if not condition:
        raise ValueError(f"Mumbling bitmap: {text}")


def unpack(data, count, width):
    """So many numbers of width bits, the highest bit first, and the bytes they take."""
    size = (count * width + 7) // 8
    need(len(data) >= size, "cut off")
    bits = int.from_bytes(data[:size], "big")
    all_bits = size * 8
    mask = (1 << width) - 1
    return [(bits >> (all_bits - (i + 1) * width)) & mask for i in range(count)], size


def descriptors(data, count):
    """All descriptors, and the bytes behind them."""
    found = []
    while count > len(found):
        n = min(CHUNK, count - len(found))
        need(len(data) >= 3, "cut off")
        low, high, exceptions, least = data[0] & 15, data[0] >> 4, data[1], data[2]
        need(low <= 8 and low + high <= 8 and exceptions <= n, "widths of a chunk")
        data = data[3:]
        numbers, size = unpack(data, n, low)
        data = data[size:]
        need(len(data) >= exceptions, "cut off")
        places, data = list(data[:exceptions]), data[exceptions:]
        need(all(p < n for p in places) and places == sorted(set(places)), "places of exceptions")
        rest, size = unpack(data, exceptions, high)
        data = data[size:]
        for place, more in zip(places, rest):
            numbers[place] |= more << low
        found += [least + number for number in numbers]
    need(all(d <= 255 for d in found), "a descriptor of more than a byte")
    return found, data


def container(data, kind):
    """Offsets of one container, and the bytes behind it."""
    if kind < 32:
        need(len(data) >= kind, "cut off")
        offsets = list(data[:kind])
        need(offsets == sorted(set(offsets)), "positions do not ascend")
        return offsets, data[kind:]
    need(kind < 64, f"a container of kind {kind >> 5}")
    need(len(data) >= 32, "cut off")
    return [p for p in range(256) if data[p >> 3] & (0x80 >> (p & 7))], data[32:]


def decode(data):
    """The set positions."""
    need(len(data) >= 6, "cut off")
    need(data[0] == 1, f"version {data[0]}")
    cardinality, count = int.from_bytes(data[1:4], "little"), int.from_bytes(data[4:6], "little")
    need(cardinality <= MOST_BITS and count <= MOST_CONTAINERS, "sizes")
    kinds, data = descriptors(data[6:], count)
    positions = set()
    for i, kind in enumerate(kinds):
        offsets, data = container(data, kind)
        positions.update(256 * i + offset for offset in offsets)
    need(not data, "bytes behind the last container")
    need(len(positions) == cardinality, "cardinality")
    return frozenset(positions)
