"""One tf.train.Example or SequenceExample, read from its bytes as protobuf reads it.

`decoding` reads thousands of records at once and leaves to this module the unusual ones:
lists in several pieces, numbers that are not packed, unknown fields, repeated keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BYTES, FLOAT, INT64 = "bytes", "float", "int64"
NOTHING = ""
"""The kind of a feature that holds no list at all."""

_KINDS = {1: BYTES, 2: FLOAT, 3: INT64}
_VARINT, _FIXED64, _SIZED, _START, _END, _FIXED32 = range(6)
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_VARINT = 10

# The map of features, and an entry of it, as they are named in errors.
_MAP, _ENTRY = "features", "an entry"


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
        unknown: field numbers that neither message has; readers ignore them.
        repeated: keys that occur more than once, of which the last one counts.
        unusual: the keys of features that are not as protobuf writes them, or "" for
            the map of features: other parsers refuse them or read something else.
    """

    features: dict[str, Feature] = field(default_factory=dict)
    lists: dict[str, list[Feature]] = field(default_factory=dict)
    is_sequence: bool = False
    unknown: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    unusual: set[str] = field(default_factory=set)


class MalformedError(Exception):
    """Bytes that are not a tf.train.Example.

    Attributes:
        at: the position in the record at which they stop being one.
    """

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        super().__init__(reason)


def parse_message(data: bytes) -> Message:
    """Read the bytes of one record.

    Raises:
        MalformedError: they are not a tf.train.Example or SequenceExample.
    """
    return _Parser(data).read()


class _Parser:
    """Reads one record into a message."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._message = Message()

    def read(self) -> Message:
        """Read the whole record."""
        message = self._message
        for number, start, stop in self._parts(0, len(self._data)):
            if number == 1:
                self._read_features(start, stop)
            elif number == 2:
                message.is_sequence = True
                self._read_lists(start, stop)
            else:
                message.unknown.add(f"field {number} of the record")
        return message

    def _read_features(self, start: int, stop: int) -> None:
        message = self._message
        for key, extents in self._entries(start, stop):
            feature = Feature()
            for begin, end in extents:
                self._read_feature(begin, end, feature)
                if not self._is_usual(begin, end):
                    message.unusual.add(key)
            if key in message.features:
                message.repeated.add(key)
            message.features[key] = feature

    def _is_usual(self, start: int, stop: int) -> bool:
        """Return whether a well-formed feature is as protobuf writes it.

        It has one list or none, and that values alone: packed ones in one piece, or all
        of them single.
        """
        lists = list(tagged(self._data, start, stop))
        if not lists:
            return True
        kind, _, at, until = lists[0]
        if len(lists) > 1 or kind not in _KINDS:
            return False
        fields = [(number, wire) for number, wire, *_ in tagged(self._data, at, until)]
        packed = _KINDS[kind] != BYTES and (1, _SIZED) in fields
        alike = all(each == (1, fields[0][1]) for each in fields)
        return alike and not (packed and len(fields) > 1)

    def _read_lists(self, start: int, stop: int) -> None:
        message = self._message
        for key, extents in self._entries(start, stop):
            steps: list[Feature] = []
            for begin, end in extents:
                for number, at, until in self._parts(begin, end, key):
                    if number == 1:
                        steps.append(Feature())
                        self._read_feature(at, until, steps[-1])
                    else:
                        message.unknown.add(f"field {number} of a feature list")
            if key in message.lists:
                message.repeated.add(key)
            message.lists[key] = steps

    def _entries(
        self, start: int, stop: int
    ) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """Yield the key of each map entry, and the extents of its value, mostly one."""
        message = self._message
        for number, begin, end in self._parts(start, stop, _MAP):
            if number != 1:
                message.unknown.add(f"field {number} of the map of features")
                message.unusual.add("")
                continue
            key, values = "", []
            parts: list[int] = []
            for part, at, until in self._parts(begin, end, _ENTRY):
                parts.append(part)
                if part == 1:
                    try:
                        key = self._data[at:until].decode()
                    except UnicodeDecodeError:
                        raise MalformedError(at, "a key that is not UTF-8") from None
                elif part == 2:
                    values.append((at, until))
                else:
                    message.unknown.add(f"field {part} of a map entry")
            if sorted(parts) != [1, 2]:
                message.unusual.add("")
            yield key, values

    def _read_feature(self, start: int, stop: int, feature: Feature) -> None:
        for number, at, until in self._parts(start, stop, "a feature"):
            kind = _KINDS.get(number)
            if kind is None:
                self._message.unknown.add(f"field {number} of a feature")
                continue
            if kind != feature.kind:
                feature.kind, feature.values = kind, []
            feature.values += self._values(at, until, kind)

    def _values(self, start: int, stop: int, kind: str) -> list[Any]:
        values: list[Any] = []
        for number, wire, at, until in tagged(self._data, start, stop):
            if number != 1:
                self._message.unknown.add(f"field {number} of a list of {kind} values")
            elif kind == BYTES:
                if wire != _SIZED:
                    raise MalformedError(at, "a bytes list that holds a number")
                values.append((at, until))
            elif kind == FLOAT:
                if wire not in (_SIZED, _FIXED32) or (until - at) % 4:
                    raise MalformedError(
                        at, f"{until - at} bytes in place of float values"
                    )
                values += np.frombuffer(self._data[at:until], "<f4").tolist()
            elif wire in (_VARINT, _SIZED):
                while at < until:
                    value, at = read_varint(self._data, at, until)
                    values.append(value - (1 << 64) if value >> 63 else value)
            else:
                raise MalformedError(at, "fixed-width numbers in an int64 list")
        return values

    def _parts(
        self, start: int, stop: int, where: str = ""
    ) -> Iterator[tuple[int, int, int]]:
        """Yield the number and extent of each sized field; others are unknown here."""
        for number, wire, at, until in tagged(self._data, start, stop):
            if wire == _SIZED:
                yield number, at, until
                continue
            field_of = f"field {number} of {where or 'the record'}"
            if number in (1, 2, 3):
                raise MalformedError(at, f"a number as {field_of}")
            self._message.unknown.add(field_of)
            if where in (_MAP, _ENTRY):
                self._message.unusual.add("")


def tagged(
    data: bytes | memoryview, start: int, stop: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the fields of a message: number, wire type, and extent.

    Raises:
        MalformedError: the bytes are not a message.
    """
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
    """Return a number and where it ends.

    Raises:
        MalformedError: it has no end.
    """
    value = shift = 0
    for position in range(at, min(stop, at + _LONGEST_VARINT)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise MalformedError(at, "a number that has no end")
