"""One tf.train.Example or SequenceExample, read from its bytes as protobuf reads it.

`columns` reads thousands of records at once and leaves to this module whatever does not
look as usual: lists in several pieces, numbers that are not packed, unknown fields,
keys that occur twice. Its word is what counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

BYTES, FLOAT, INT64 = "bytes", "float", "int64"
NOTHING = ""
"""The kind of a feature that holds no list at all."""

_KINDS = {1: BYTES, 2: FLOAT, 3: INT64}
_VARINT, _FIXED64, _SIZED, _START, _END, _FIXED32 = range(6)
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_FLOAT = struct.Struct("<f")
_LONGEST_VARINT = 10


@dataclass
class Feature:
    """One feature.

    Attributes:
        kind: BYTES, FLOAT, INT64 or NOTHING.
        values: ints, floats, or (start, stop) of each bytes value in the record.
    """

    kind: str = NOTHING
    values: list[Any] = field(default_factory=list)


@dataclass
class Message:
    """A whole record.

    Attributes:
        features: by key.
        lists: the feature lists of a SequenceExample, by key: a feature a step.
        is_sequence: whether there is a field of feature lists.
        unknown: field numbers that neither message has; readers pass over them.
        repeated: keys that occur more than once, of which the last one counts.
    """

    features: dict[str, Feature] = field(default_factory=dict)
    lists: dict[str, list[Feature]] = field(default_factory=dict)
    is_sequence: bool = False
    unknown: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)


class MalformedError(Exception):
    """Bytes that are no tf.train.Example.

    Attributes:
        at: the position in the record from which on they are not.
    """

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        super().__init__(reason)


def parse_message(data: bytes) -> Message:
    """Read the bytes of one record.

    Raises:
        MalformedError: they are no tf.train.Example or SequenceExample.
    """
    message = Message()
    for number, start, stop in _parts(data, 0, len(data), "", message):
        if number == 1:
            _read_features(data, start, stop, message)
        elif number == 2:
            message.is_sequence = True
            _read_lists(data, start, stop, message)
        else:
            message.unknown.add(f"field {number} of the record")
    return message


def _read_features(data: bytes, start: int, stop: int, message: Message) -> None:
    for key, entry in _entries(data, start, stop, message):
        feature = Feature()
        for begin, end in entry:
            _read_feature(data, begin, end, feature, message)
        if key in message.features:
            message.repeated.add(key)
        message.features[key] = feature


def _read_lists(data: bytes, start: int, stop: int, message: Message) -> None:
    for key, entry in _entries(data, start, stop, message):
        steps: list[Feature] = []
        for begin, end in entry:
            for number, at, until in _parts(data, begin, end, key, message):
                if number == 1:
                    steps.append(Feature())
                    _read_feature(data, at, until, steps[-1], message)
                else:
                    message.unknown.add(f"field {number} of a feature list")
        if key in message.lists:
            message.repeated.add(key)
        message.lists[key] = steps


def _entries(
    data: bytes, start: int, stop: int, message: Message
) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the key of each map entry, and where its value stands, mostly in one."""
    for number, begin, end in _parts(data, start, stop, "features", message):
        if number != 1:
            message.unknown.add(f"field {number} of the map of features")
            continue
        key, values = "", []
        for part, at, until in _parts(data, begin, end, "an entry", message):
            if part == 1:
                try:
                    key = data[at:until].decode()
                except UnicodeDecodeError:
                    raise MalformedError(at, "a key that is not UTF-8") from None
            elif part == 2:
                values.append((at, until))
            else:
                message.unknown.add(f"field {part} of a map entry")
        yield key, values


def _read_feature(
    data: bytes, start: int, stop: int, feature: Feature, message: Message
) -> None:
    for number, at, until in _parts(data, start, stop, "a feature", message):
        kind = _KINDS.get(number)
        if kind is None:
            message.unknown.add(f"field {number} of a feature")
            continue
        if kind != feature.kind:
            feature.kind, feature.values = kind, []
        feature.values += _values(data, at, until, kind, message)


def _values(
    data: bytes, start: int, stop: int, kind: str, message: Message
) -> list[Any]:
    values: list[Any] = []
    for number, wire, at, until in tagged(data, start, stop):
        if number != 1:
            message.unknown.add(f"field {number} of a list of {kind} values")
        elif kind == BYTES:
            if wire != _SIZED:
                raise MalformedError(at, "a bytes list that holds a number")
            values.append((at, until))
        elif kind == FLOAT:
            if wire not in (_SIZED, _FIXED32) or (until - at) % 4:
                raise MalformedError(at, f"{until - at} bytes in place of float values")
            values += [each for (each,) in _FLOAT.iter_unpack(data[at:until])]
        elif wire == _VARINT:
            values.append(_signed(read_varint(data, at, until)[0]))
        elif wire == _SIZED:
            while at < until:
                value, at = read_varint(data, at, until)
                values.append(_signed(value))
        else:
            raise MalformedError(at, "fixed-width numbers in an int64 list")
    return values


def _parts(
    data: bytes, start: int, stop: int, where: str, message: Message
) -> Iterator[tuple[int, int, int]]:
    """Yield the number and extent of each sized field; others are unknown here."""
    for number, wire, at, until in tagged(data, start, stop):
        if wire == _SIZED:
            yield number, at, until
        elif number in (1, 2, 3):
            what = where or "the record"
            raise MalformedError(at, f"a number as field {number} of {what}")
        else:
            message.unknown.add(f"field {number} of {where or 'the record'}")


def tagged(
    data: bytes | memoryview, start: int, stop: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the fields of a message: number, wire type, where it begins and ends."""
    at = start
    while at < stop:
        tag_at = at
        tag, at = read_varint(data, at, stop)
        number, wire = tag >> 3, tag & 7
        if not number or number >= 1 << 29:
            raise MalformedError(tag_at, f"the field number {number}")
        if wire == _SIZED:
            size, at = read_varint(data, at, stop)
            until = at + size
        elif wire == _VARINT:
            until = read_varint(data, at, stop)[1]
        elif wire in _FIXED_SIZES:
            until = at + _FIXED_SIZES[wire]
        else:
            raise MalformedError(tag_at, f"the wire type {wire}")
        if until > stop:
            raise MalformedError(
                tag_at, f"a field that ends {until - stop} bytes behind what holds it"
            )
        yield number, wire, at, until
        at = until


def read_varint(data: bytes | memoryview, at: int, stop: int) -> tuple[int, int]:
    value = shift = 0
    for position in range(at, min(stop, at + _LONGEST_VARINT)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise MalformedError(at, "a number that has no end")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
