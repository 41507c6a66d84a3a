"""The features of one sample, with the bytes of their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..message import BYTES, Feature, MalformedError, Message, parse_message


@dataclass(frozen=True)
class Features:
    """One record.

    Attributes:
        data: its bytes.
        message: what they say; None if they are no tf.train.Example.
        trouble: why not.
    """

    data: bytes
    message: Message | None
    trouble: str = ""

    def feature(self, key: str) -> Feature | None:
        """Return a feature that holds a list, be that empty or not."""
        found = self.message.features.get(key) if self.message else None
        return found if found is not None and found.kind else None

    def steps(self, key: str) -> list[Feature] | None:
        """Return a feature list."""
        return self.message.lists.get(key) if self.message else None

    def bytes_of(self, feature: Feature) -> list[bytes]:
        """Return the values of a bytes feature."""
        return [self.data[start:stop] for start, stop in feature.values]

    def single_bytes(self, key: str) -> bytes | None:
        """Return the value of a bytes feature that has one."""
        found = self.feature(key)
        if found is None or found.kind != BYTES or len(found.values) != 1:
            return None
        return self.bytes_of(found)[0]

    def numbers(self, key: str) -> list[Any] | None:
        """Return the values of a feature of numbers."""
        found = self.feature(key)
        return None if found is None or found.kind == BYTES else found.values

    def integer(self, key: str | None) -> int | None:
        """Return the value of an int64 feature that has one."""
        values = self.numbers(key) if key is not None else None
        if values is None or len(values) != 1 or not isinstance(values[0], int):
            return None
        return values[0]


def read(data: bytes) -> Features:
    """Read a sample."""
    try:
        return Features(data, parse_message(data))
    except MalformedError as error:
        return Features(data, None, f"{error} at byte {error.at}")


def array_of(data: bytes, dtype: str) -> NDArray[Any] | None:
    """Return raw little-endian numbers; None if numpy does not know them."""
    if dtype == "bfloat16":
        if len(data) % 2:
            return None
        words = np.frombuffer(data, "<u2").astype(np.uint32) << 16
        return words.view(np.float32)
    try:
        known = np.dtype(dtype).newbyteorder("<")
    except TypeError:
        return None
    if known.kind not in "biuf" or len(data) % known.itemsize:
        return None
    return np.frombuffer(data, known)


def shaped(
    data: bytes, dtype: str, shape: tuple[int | None, ...], sizes: dict[int, int | None]
) -> NDArray[Any] | None:
    """Return raw numbers in their shape; None where it does not fit.

    Args:
        data: the bytes.
        dtype: by its TensorFlow name.
        shape: what the schema says; None for what the record says.
        sizes: what the record says, by axis.
    """
    values = array_of(data, dtype)
    whole = [
        size if size is not None else sizes.get(axis) for axis, size in enumerate(shape)
    ]
    known = [size for size in whole if size is not None]
    if values is None or any(size < 1 for size in known):
        return None
    if len(known) < len(whole) - 1 or (len(known) < len(whole) and not values.size):
        return None
    product = int(np.prod(known, dtype=object)) if known else 1
    if values.size % product or (len(known) == len(whole) and values.size != product):
        return None
    return values.reshape([-1 if size is None else size for size in whole])
