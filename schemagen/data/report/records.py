"""Sampled records: read again by their places, their features, and texts of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.message import Feature, MalformedError, Message, parse_message
from ...runtime.native import BYTES, INT64, follow_lengths
from ...runtime.shared import base64_text
from ...runtime.shared.errors import Problem
from ...runtime.shared.tfrecord import FOOTER_SIZE, HEADER_SIZE
from ...runtime.storage.directory import is_remote
from ..files import compression_of
from ..formatting import decoded, listed, one_line
from ..inspect.text import feature_text, steps_text
from ..profile.classes import value_name
from ..profile.columns import Column
from ..profile.duplicates import Duplicates, Place
from ..statistics.raw import raw_numbers
from ..statistics.samples import Sample

if TYPE_CHECKING:
    from ...spec.model import FieldSpec
    from ..profile.diff import Diff


_MOST = 24
"""So many places of duplicates, or of changed records, are read."""

# Longer records are not shown, in bytes.
_LONGEST = 1 << 24


def places_of(found: Duplicates) -> list[Place]:
    """Return the places of duplicates, those of marked ones first."""
    every = [each.places for each in found.marked]
    every += [each.places[:1] for each in found.found]
    places = (place for pairs in every for pair in pairs for place in pair)
    return list(islice(dict.fromkeys(places), _MOST))


def changed_places(found: Diff) -> list[Place]:
    """Return the places of the first records that changed between two datasets."""
    examples = (each for split in found.splits for each in split.changes.examples)
    places = (place for each in examples for place in (each.before, each.after))
    return list(islice(places, _MOST))


def records_at(places: Iterable[Place]) -> Iterator[Sample]:
    """Yield the records at some places, in order.

    Records of compressed and remote files are left out: their files would have to be read
    in full.
    """
    known = sorted(place for place in places if place.record >= 0)
    for path, some in groupby(known, key=lambda place: place.file):
        if not is_remote(path):
            with suppress(OSError, ValueError):  # the file is gone, or empty
                # All at once: who cuts a file that is mapped ends this process.
                yield from [*_records(path, [place.record for place in some])]


def _records(path: str, numbers: Iterable[int]) -> Iterator[Sample]:
    data = np.memmap(path, np.uint8, "r")
    if compression_of(data[:HEADER_SIZE].tobytes()) != "":
        return
    start = first = 0
    for number in numbers:
        _, start = follow_lengths(data, start, data.size, number - first)
        found, stop = follow_lengths(data, start, data.size, 1)
        if found and stop - start <= _LONGEST:
            begin = start + HEADER_SIZE
            record = data[begin : stop - FOOTER_SIZE].tobytes()
            yield Sample(0, path, number, begin, record)
        start, first = stop, number + 1


MISSING = "missing"

_AXES = ("height", "width", "channels")

_MOST_VALUES = 12


@dataclass(frozen=True)
class Features:
    """The features of a record; `trouble` tells why its bytes are malformed."""

    data: bytes
    message: Message = field(default_factory=Message)
    trouble: str = ""

    def feature(self, key: str) -> Feature | None:
        """Return a feature that holds a list, which may be empty."""
        found = self.message.features.get(key)
        return found if found is not None and found.kind else None

    def bytes_of(self, feature: Feature | None) -> list[bytes]:
        """Return the values of a bytes feature; none of another one."""
        if feature is None or feature.kind != BYTES:
            return []
        return [self.data[start:stop] for start, stop in feature.values]

    def contents_of(self, field: FieldSpec | None, key: str) -> list[bytes]:
        """Return the values of a bytes feature, those in base64 decoded.

        Values that are not the base64 text of their schema are returned as they are.
        """
        values = self.bytes_of(self.feature(key))
        if field is None or not field.parts[0].transfer_encoding:
            return values
        try:
            return [*map(base64_text.decoded, values)]
        except Problem:
            return values

    def numbers(self, key: str) -> list[Any]:
        """Return the values of a feature of numbers; none of another one."""
        found = self.feature(key)
        return [] if found is None or found.kind == BYTES else found.values

    def pixels(self, field: FieldSpec) -> NDArray[Any] | None:
        """Return raw pixels in their shape; None if they do not fit."""
        values = self.contents_of(field, field.key)
        if len(values) != 1:
            return None
        keys = {part.content: part.key for part in field.parts if part.holds == "size"}
        dtype, shape = field.codec.delivered.decoded
        sizes = [
            next(iter(self.numbers(keys.get(axis, ""))), -1) if size is None else size
            for axis, size in zip(_AXES, shape, strict=False)
        ]
        try:
            pixels = np.frombuffer(values[0], np.dtype(dtype).newbyteorder("<"))
            pixels = pixels.reshape(sizes)
        except (TypeError, ValueError):  # numpy does not know the dtype, or it is short
            return None
        return pixels if pixels.size else None


def read(data: bytes) -> Features:
    """Parse a record."""
    try:
        return Features(data, parse_message(data))
    except MalformedError as error:
        return Features(data, trouble=f"{error} at byte {error.at}")


def value_text(column: Column, features: Features, most: int = 400) -> str:
    """Return the values of a record in a column; MISSING if there are none.

    Args:
        column: the column.
        features: of the record.
        most: about how many characters of long ones, and of each of a few texts.
    """
    raw = raw_numbers(column.declared) if column.declared else None
    if column.steps:
        steps = features.message.lists.get(column.key)
        return steps_text(steps, features.data, most, raw) if steps else MISSING
    feature = features.feature(column.key)
    if feature is None:
        return MISSING
    field = column.field
    if field is not None and field.codec.of_classes:
        return ", ".join(class_names(field, features))
    if column.time is not None and feature.kind == INT64:
        return listed([*map(column.time.text, feature.values)], _MOST_VALUES)
    if raw is not None:
        feature = raw.read(feature, features.data)
    values = features.bytes_of(feature)
    text = decoded(values[0], most) if len(values) == 1 else None
    room = most * _MOST_VALUES if values else most
    return text or feature_text(feature, features.data, room, most)


def class_names(field: FieldSpec, features: Features) -> list[str]:
    """Return the names of the first classes of a record, or the values of no class."""
    feature = features.feature(field.key)
    if feature is None:
        return []
    codec: Any = field.codec
    names = dict(zip(codec.stored_as, codec.classes, strict=False))
    values = features.bytes_of(feature) or feature.values
    return [
        one_line(names[value], 60) if value in names else value_name(value)
        for value in values[:_MOST_VALUES]
    ]
