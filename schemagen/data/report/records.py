"""The features of a sampled record, and their texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...runtime.shared import base64_text
from ...runtime.shared.errors import Problem
from ...runtime.shared.images import sniff
from ..formatting import decoded, hexadecimal, one_line, plural, record_value, size
from ..message import BYTES, Feature, MalformedError, Message, parse_message
from .columns import Column

MISSING = "not there"

_MOST_VALUES = 12
_MOST_TEXT = 400
_MOST_STEPS = 4


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
        if field is None or not field.storage[0].transfer_encoding:
            return values
        try:
            return [*map(base64_text.decoded, values)]
        except Problem:
            return values

    def numbers(self, key: str) -> list[Any]:
        """Return the values of a feature of numbers; none of another one."""
        found = self.feature(key)
        return [] if found is None or found.kind == BYTES else found.values

    def integer(self, key: str | None) -> int | None:
        """Return the value of an int64 feature that has one."""
        values = self.numbers(key) if key is not None else []
        return values[0] if len(values) == 1 and isinstance(values[0], int) else None

    def pixels(self, field: FieldSpec[Image | Mask]) -> NDArray[Any] | None:
        """Return raw pixels in their shape; None if they do not fit."""
        values = self.contents_of(field, field.key)
        if len(values) != 1:
            return None
        keys = (
            field.kind.height_key,
            field.kind.width_key,
            getattr(field.kind, "channels_key", None),
        )
        sizes = [
            self.integer(key) if size is None else size
            for size, key in zip(field.kind.shape, keys, strict=False)
        ]
        return shaped(values[0], field.kind.dtype, sizes)


def read(data: bytes) -> Features:
    """Parse a record."""
    try:
        return Features(data, parse_message(data))
    except MalformedError as error:
        return Features(data, trouble=f"{error} at byte {error.at}")


def shaped(data: bytes, dtype: str, shape: Sequence[int | None]) -> NDArray[Any] | None:
    """Return raw little-endian numbers in their shape, of which one size may be None.

    None if they do not fit, or if numpy does not know the dtype.
    """
    known = [size for size in shape if size is not None]
    if len(known) < len(shape) - 1 or any(size < 1 for size in known):
        return None
    try:
        if dtype == "bfloat16":
            high = np.frombuffer(data, "<u2").astype(np.uint32) << 16
            values: NDArray[Any] = high.view(np.float32)
        else:
            values = np.frombuffer(data, np.dtype(dtype).newbyteorder("<"))
        whole = values.reshape([-1 if size is None else size for size in shape])
    except (TypeError, ValueError):
        return None
    return whole if values.dtype.kind in "biuf" and values.size else None


def value_text(column: Column, features: Features) -> str:
    """Return the values of a record in a column; MISSING if there are none."""
    if not column.steps:
        feature = features.feature(column.key)
        return _feature_text(column.field, feature, features) if feature else MISSING
    steps = features.message.lists.get(column.key)
    if steps is None:
        return MISSING
    lines = [
        f"{index}: {_feature_text(column.field, step, features)}"
        for index, step in enumerate(steps[:_MOST_STEPS])
    ]
    more = len(steps) - len(lines)
    lines += [f"… {plural(more, 'more step')}"] if more else []
    return "\n".join([plural(len(steps), "step"), *lines])


def _feature_text(field: FieldSpec | None, feature: Feature, features: Features) -> str:
    if not feature.values:
        return "an empty list"
    if field is not None and isinstance(field.kind, Label | MultiLabel):
        return ", ".join(class_names(field, feature, features))
    values = features.bytes_of(feature)
    if len(values) == 1:
        return _bytes_text(values[0], _MOST_TEXT)
    texts = [_bytes_text(value, 80) for value in values[:_MOST_VALUES]]
    texts += [
        record_value(value) for value in feature.values[:_MOST_VALUES] if not values
    ]
    if len(feature.values) > _MOST_VALUES:
        texts.append(f"… ({plural(len(feature.values), 'value')})")
    return ("\n" if values else "  ").join(texts)


def _bytes_text(value: bytes, limit: int) -> str:
    text, form = decoded(value, limit), sniff(value)
    if text is not None:
        return text or '""'
    return f"{form.upper()} image, {size(len(value))}" if form else hexadecimal(value)


def class_names(
    field: FieldSpec[Label | MultiLabel], feature: Feature | None, features: Features
) -> list[str]:
    """Return the names of the classes in a feature of a record."""
    if feature is None:
        return []
    if feature.kind == BYTES:
        return [
            one_line(decoded(value) or hexadecimal(value), 60)
            for value in features.bytes_of(feature)[:_MOST_VALUES]
        ]
    return [class_name(field, value) for value in feature.values[:_MOST_VALUES]]


def class_name(
    field: FieldSpec[Label | MultiLabel], value: float, limit: int = 60
) -> str:
    """Return the name of a stored class id, or else the number."""
    id_ = value - field.kind.offset if isinstance(value, int) else -1
    known = 0 <= id_ < len(field.kind.class_names)
    return (
        one_line(field.kind.class_names[int(id_)], limit)
        if known
        else record_value(value)
    )
