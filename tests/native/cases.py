"""Bytes for the core: records of the tests' corpora, and what chance makes of them.

It imports no TensorFlow, so that programs under sanitizers can use it.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

import numpy as np
from data.messages import (
    Values,
    example,
    feature,
    features,
    mixed,
    number,
    sequence_example,
    sized,
)
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.shared.wire import varint

_KEYS = ("a", "b", "image", "label", "zwölf", "", "k" * 130)

_EDGES = (0, 1, 127, 128, 255, 16_383, 16_384, 2**31 - 1, 2**31, 2**32 - 1, 2**63)


def corpus() -> list[bytes]:
    """Return records of all forms, right and unusual ones."""
    packed = sized(3, sized(1, b"\x01\xac\x02"))
    single = sized(3, number(1, 1) + number(1, 300))
    floats = sized(2, b"\x0d" + struct.pack("<f", 1.5) + sized(1, bytes(8)))
    entry = sized(1, sized(1, b"k") + sized(2, packed))
    return [
        b"",
        *map(mixed, range(6)),
        sequence_example(
            {"a": [1, 2]}, {"s": [[1], [2, 3], [], None], "t": [b"x", b""]}
        ),
        sequence_example({}, {}),
        example({"a": np.arange(-3, 300), "b": [1.5] * 40, "c": [b"x" * 200, b""]}),
        sized(1, entry + entry),
        sized(1, sized(1, sized(2, single) + sized(1, b"k") + sized(2, packed))),
        sized(1, sized(1, sized(1, b"f") + sized(2, floats + packed))),
        sized(1, entry) + sized(1, features({"other": [7]})) + number(9, 4),
        sized(1, sized(1, sized(1, b"\xff") + sized(2, packed))),
        sized(1, sized(1, sized(2, feature([2**62, -1])))),
    ]


class Cases:
    """Records by chance.

    Args:
        seed: equal seeds give equal records.
    """

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._corpus = corpus()

    def __iter__(self) -> Iterator[list[bytes]]:
        """Yield batches of records, without end."""
        chance = self._chance
        while True:
            yield [self._record() for _ in range(chance.choice((1, 2, 9)))]

    def _record(self) -> bytes:
        chance = self._chance
        made = chance.random() < 0.3
        record = self._made() if made else chance.choice(self._corpus)
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            record = self._changed(record)
        return record

    def _made(self) -> bytes:
        chance = self._chance
        keys = chance.sample(_KEYS, chance.randrange(len(_KEYS)))
        values = {key: self._values() for key in keys}
        if chance.random() < 0.8:
            return example(values)
        steps = [self._values() for _ in range(chance.randrange(5))]
        return sequence_example(values, {"steps": steps})

    def _values(self) -> Values:
        chance = self._chance
        count = chance.choice((0, 1, 2, 9, 40))
        kind = chance.randrange(4)
        if kind == 0:
            return [chance.randbytes(chance.choice((0, 1, 130))) for _ in range(count)]
        if kind == 1:
            return [chance.uniform(-9, 9) for _ in range(count)]
        if kind == 2:
            return [
                chance.getrandbits(chance.choice((7, 14, 63))) for _ in range(count)
            ]
        return None

    def _changed(self, record: bytes) -> bytes:
        """Return a record with a change by chance."""
        chance, size = self._chance, len(record)
        at = chance.randrange(size + 1)
        change = chance.randrange(7)
        if change == 0:
            return record[:at]
        if change == 1 and size:
            at %= size
            return record[:at] + bytes((chance.randrange(256),)) + record[at + 1 :]
        if change == 2:
            return record[:at] + chance.randbytes(chance.randrange(1, 9)) + record[at:]
        if change == 3:
            return record[:at] + record[at + chance.randrange(1, 9) :]
        if change == 4:  # a size that is wrong, or not as short as it could be
            size_of = varint(
                chance.choice(_EDGES) + chance.choice((-1, 0, 1)) & 2**64 - 1
            )
            longer = chance.random() < 0.3
            size_of = (
                size_of[:-1] + bytes((size_of[-1] | 0x80, 0)) if longer else size_of
            )
            return record[:at] + size_of + record[at + 1 :]
        other = chance.choice(self._corpus)
        cut = chance.randrange(len(other) + 1)
        if change == 5:  # two records, whose maps are joined
            return record + other
        return record[:at] + other[cut:]


def framed_by_chance(records: list[bytes], chance: random.Random) -> bytes:
    """Return a file of some records, with a change in it by chance."""
    data = bytearray(b"".join(map(frame, records)))
    for _ in range(chance.choice((0, 1, 3))):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data[: chance.choice((len(data), chance.randrange(len(data) + 1)))])
