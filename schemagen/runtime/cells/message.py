"""One protobuf message: its fields one by one; an Example's features as Python values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..native import NOTHING
from .columns import Column
from .decoding import decode
from .serialized import records_of

_VARINT, _SIZED = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
_LONGEST_VARINT = 10


class MalformedError(Exception):
    """Bytes that are not a protobuf message, or not a tf.train.Example.

    Attributes:
        at: the position at which they stop being one.
    """

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        super().__init__(reason)


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
                tag_at,
                f"a field that ends {until - stop} bytes after the end of its message",
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
    raise MalformedError(at, "an unterminated number")


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature.

    Attributes:
        kind: BYTES, FLOAT, INT64 or NOTHING.
        values: ints, floats, or (start, stop) of each bytes value in the record.
    """

    kind: str = NOTHING
    values: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Message:
    """A record.

    Attributes:
        features: by key.
        lists: the steps of each feature list, by key.
        is_sequence: whether it has a field of feature lists, even an empty one.
        unknown: what no Example has, which readers pass over.
        repeated: keys that occur more than once, of which the last one counts.
    """

    features: dict[str, Feature] = field(default_factory=dict)
    lists: dict[str, list[Feature]] = field(default_factory=dict)
    is_sequence: bool = False
    unknown: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


def parse_message(data: bytes) -> Message:
    """Read the bytes of one record.

    Raises:
        MalformedError: they are not a tf.train.Example or SequenceExample.
    """
    columns = decode(records_of([data]))
    for damage in columns.malformed:
        raise MalformedError(damage.at, damage.reason)
    features = {
        key: feature
        for key, some in columns.by_key.items()
        for column in some
        for feature in _features(column)
    }
    lists = {}
    for key, of_steps in columns.steps.items():
        steps = [Feature()] * int(of_steps.steps.sum())
        for column in of_steps.columns:
            if not column.kind:
                continue
            for row, feature in zip(
                column.rows.tolist(), _features(column), strict=True
            ):
                steps[row] = feature
        lists[key] = steps
    return Message(
        features,
        lists,
        bool(columns.sequences[0]),
        frozenset(columns.unknown),
        frozenset(columns.repeated),
    )


def _features(column: Column) -> list[Feature]:
    """Return each row of a column as a feature."""
    values = column.values.tolist()
    if column.values.ndim > 1:
        values = list(map(tuple, values))
    bounds = zip(column.starts.tolist(), column.lengths.tolist(), strict=True)
    return [Feature(column.kind, values[at : at + size]) for at, size in bounds]
