"""The values of a record as text: text, page, notebook and `diff` show them alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.message import Feature, MalformedError, Message, parse_message
from ...runtime.native import BYTES
from ...runtime.shared import base64_text
from ...runtime.shared.errors import Problem
from ..formatting import decoded, number, plural, quoted, size
from ..statistics.bytes_values import EMPTY, TEXT, content_of
from ..statistics.declared import raw_numbers
from ..statistics.sounds import Sound, raw_sound
from .classes import class_text
from .columns import ColumnProfile
from .words import picture_text, tensor_text

if TYPE_CHECKING:
    from ...spec.model import FieldSpec

MISSING = "missing"
"""The text of a value that a record does not have."""

# Of a list so many values are looked at, and of other bytes so many are shown.
_VALUES = 64
_HEX_BYTES = 8

_AXES = ("height", "width", "channels")


@dataclass(frozen=True)
class DecodedFeatures:
    """The features of a record; `trouble` tells why its bytes are malformed."""

    data: bytes
    message: Message = field(default_factory=Message)
    trouble: str = ""

    def feature(self, key: str) -> Feature | None:
        """Return a feature that holds a list, which may be empty."""
        found = self.message.features.get(key)
        return found if found is not None and found.kind else None

    def held(self, column: ColumnProfile) -> Feature | None:
        """Return the feature of a column; of numbered keys, one with all of the values."""
        some = [each for key in column.keys if (each := self.feature(key))]
        if len(some) < 2:
            return some[0] if some else None
        kind = some[0].kind
        alike = (each.values for each in some if each.kind == kind)
        return Feature(kind, [*chain.from_iterable(alike)])

    def bytes_of(self, feature: Feature | None) -> list[bytes]:
        """Return the values of a bytes feature; none of another one."""
        if feature is None or feature.kind != BYTES:
            return []
        return [self.data[start:stop] for start, stop in feature.values]

    def contents_of(self, field: FieldSpec | None, feature: Feature) -> list[bytes]:
        """Return the values of a bytes feature, those in base64 decoded.

        Values that are not the base64 text of their schema are returned as they are.
        """
        values = self.bytes_of(feature)
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
        feature = self.feature(field.key)
        values = self.contents_of(field, feature) if feature else []
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


def read(data: bytes) -> DecodedFeatures:
    """Parse a record."""
    try:
        return DecodedFeatures(data, parse_message(data))
    except MalformedError as error:
        return DecodedFeatures(data, trouble=f"{error} at byte {error.at}")


def value_text(
    column: ColumnProfile,
    features: DecodedFeatures,
    most: int = 400,
    *,
    each: int = 60,
    lines: bool = False,
) -> str:
    """Return the values of a record in a column; MISSING if there are none.

    Classes have their names, times are dates, numbers are shown in full, and of images
    and other bytes it is said what they are.

    Args:
        column: the column.
        features: of the record.
        most: about how many characters there is room for: of a list as many values are
            shown, but at least one.
        each: so many characters of a text are shown.
        lines: show a single text as it is, in several lines, rather than in quotes.
    """
    if column.steps:
        steps = features.message.lists.get(column.key)
        return _steps_text(column, features, steps, most, each) if steps else MISSING
    feature = features.held(column)
    if feature is None:
        return MISSING
    if lines and len(feature.values) == 1 and not column.class_names:
        values = features.contents_of(column.field, _read(column, feature, features))
        text = decoded(values[0], each) if values else None
        if text:
            return text
    return _feature_text(column, features, feature, most, each)


def class_names(column: ColumnProfile, features: DecodedFeatures) -> list[str]:
    """Return the names of a record's classes, or the values of no class."""
    feature = features.feature(column.key)
    if feature is None:
        return []
    values = features.bytes_of(feature) or feature.values
    return [
        column.class_names.get(value) or class_text(value, column.class_names)
        for value in values[:_VALUES]
    ]


def _steps_text(
    column: ColumnProfile,
    features: DecodedFeatures,
    steps: Sequence[Feature],
    most: int,
    each: int,
) -> str:
    texts = [
        _feature_text(column, features, step, most // 2, each) if step.kind else MISSING
        for step in steps[:_VALUES]
    ]
    shown = _fitting(texts, most, 3)
    more = " | ..." if len(shown) < len(steps) else ""
    return f"{plural(len(steps), 'step')}: {' | '.join(shown)}{more}"


def _feature_text(
    column: ColumnProfile,
    features: DecodedFeatures,
    feature: Feature,
    most: int,
    each: int,
) -> str:
    feature = _read(column, feature, features)
    count = len(feature.values)
    texts = _texts(column, features, feature, each)
    if count == 1:
        return texts[0]
    tail = f", ... {count:,} values]"
    shown = _fitting(texts, most - len(tail), 2, whole=len(texts) == count)
    return f"[{', '.join(shown)}" + ("]" if len(shown) == count else tail)


def _read(
    column: ColumnProfile, feature: Feature, features: DecodedFeatures
) -> Feature:
    """Return a feature with the numbers that a schema says its bytes are."""
    raw = raw_numbers(column.declared) if column.declared else None
    return raw.read(feature, features.data) if raw else feature


def _texts(
    column: ColumnProfile, features: DecodedFeatures, feature: Feature, each: int
) -> list[str]:
    """Return the first values of a feature."""
    some = Feature(feature.kind, feature.values[:_VALUES])
    contents = features.contents_of(column.field, some)
    if names := column.class_names:
        return [class_text(value, names, each) for value in contents or some.values]
    if contents:
        raw = raw_sound(column.field)
        return [_bytes_text(value, each, raw) for value in contents]
    exact = column.style._replace(ids=True)
    return [exact.text(value) for value in some.values]


def _fitting(
    texts: Sequence[str], room: int, gap: int, whole: bool = False
) -> Sequence[str]:
    """Return the first texts that fit: at least one.

    Args:
        texts: the texts.
        room: how many columns there are.
        gap: how many of them a text takes in addition to its own.
        whole: whether the last text may take more, since it ends the list.
    """
    used = 0
    for at, text in enumerate(texts):
        used += len(text) + gap
        if at and used > room and not (whole and at + 1 == len(texts)):
            return texts[:at]
    return texts


def _bytes_text(value: bytes, most: int, raw: Sound | None) -> str:
    """Describe a bytes value, or sound without a header; show how a text begins."""
    content = content_of(value, raw)
    amount = size(len(value))
    if content.format == EMPTY:
        return '""'
    if content.format == TEXT:
        text = value.decode()
        shown = quoted(text, most)
        return shown if len(text) <= most else f"{shown} ({amount})"
    if content.picture is not None:
        return f"{picture_text(content.picture)}, {amount}"
    if content.sound is not None:
        seconds = number(content.seconds, 4)
        return f"{content.sound.text}, {seconds} s, {amount}"
    if content.trouble:
        return f"{content.trouble}, {amount}"
    if content.tensor is not None:
        return f"{tensor_text(content.tensor)}, {amount}"
    dots = " ..." if len(value) > _HEX_BYTES else ""
    return f"{amount}: {value[:_HEX_BYTES].hex(' ')}{dots}"
