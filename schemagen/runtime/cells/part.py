"""Parts: the keys that a field is stored under, and the list under each.

A part is the only statement of how something is stored. Feature descriptions, required
keys, verification, comparisons of schemas and exports derive from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ..native import BYTES as BYTES_COLUMN
from ..native import FLOAT as FLOAT_COLUMN
from ..native import INT64 as INT64_COLUMN
from ..shared.dtypes import DTYPES, RAW_ONLY
from ..shared.requirements import lazy_tf as tf
from ..shared.values import Numbers
from ..shared.wire import BYTES_LIST, FLOAT_LIST, INT64_LIST, Entry
from ..tensorflow.graph import from_base64
from ..tensorflow.parsed import Parsed
from .checks import Constraints
from .decoding import Expected

INT, FLOAT, BYTES = "int64", "float32", "bytes"

_TAGS = {BYTES: BYTES_LIST, FLOAT: FLOAT_LIST, INT: INT64_LIST}
_KINDS = {BYTES: BYTES_COLUMN, FLOAT: FLOAT_COLUMN, INT: INT64_COLUMN}


@dataclass(frozen=True)
class Part:
    """A key and the list under it.

    Attributes:
        key: the feature's key; "" for the value of one step.
        stored: int64, float32 or bytes.
        count: the number of values; None if it varies.
        most: the largest number of values, if it varies and is limited.
        holds: "value", "size", "format", "row lengths" or "index".
        bounds: the least and the greatest integer; None for no limit.
        parameter: the parameter of the kind that names the key.
        content: a description. Fields may share a key of the same content.
        read: whether parsers read the feature.
        encoding: "list" for values as they are, "raw" for the little-endian bytes of
            numbers, "proto" for a serialized tensor, or the format of an image.
        dtype: of the values before they are encoded; "string" is UTF-8.
        transfer_encoding: "base64" for bytes that are stored as base64 text.
        sizes: the sizes in a part of sizes; None for one that varies.
        shape: the shape of a list of fixed count, as TensorFlow parses it; () for one
            value, or for as many in a row as it has.
        missing: the value that TensorFlow parses where the feature is missing, or one
            item of it; None if it has to be there.
        repeats: how often that item is repeated, in raw bytes.
        item_size: of the list that tells how many items a row has, how many of its
            numbers or raw bytes are one item; None for all others.
        in_list: whether it is a feature list of a SequenceExample, of as many items.
        size: how many raw bytes each value has; None for any number.
    """

    key: str
    stored: str
    count: int | None = 1
    most: int | None = None
    holds: str = "value"
    bounds: tuple[int | None, int | None] | None = None
    parameter: str = "key"
    content: str = ""
    read: bool = True
    encoding: str = "list"
    dtype: str = "int64"
    transfer_encoding: str | None = None
    sizes: tuple[int | None, ...] = ()
    shape: tuple[int, ...] = ()
    missing: Any = None
    repeats: int = 1
    item_size: int | None = None
    in_list: bool = False
    size: int | None = None

    def __post_init__(self) -> None:
        if not self.shape and self.count not in (None, 1):
            object.__setattr__(self, "shape", (self.count,))

    @property
    def kind(self) -> str:
        """The kind of the columns that hold it."""
        return _KINDS[self.stored]

    @property
    def is_media(self) -> bool:
        """Whether each value is an encoded image or sound."""
        return self.encoding not in ("list", "raw", "proto")

    @property
    def text(self) -> str:
        """The list in words: `2 float values`."""
        return amount(self.count, "float" if self.stored == FLOAT else self.stored)

    def entry(self) -> Entry:
        """Return what comes before the values in a serialized Example."""
        return Entry(self.key, _TAGS[self.stored])

    def feature(self) -> Any:
        """Return the description of the feature for `tf.io.parse_example`."""
        dtype = tf.string if self.stored == BYTES else tf.as_dtype(self.stored)
        if self.count is None:
            return tf.io.RaggedFeature(dtype, row_splits_dtype=tf.int64)
        return tf.io.FixedLenFeature(self.shape, dtype, default_value=self.default())

    def default(self) -> Any:
        """Return the value that TensorFlow parses where the feature is missing."""
        if self.missing is None or isinstance(self.missing, tuple):
            return self.missing
        if self.transfer_encoding:
            return b""  # which `tensor` replaces
        if isinstance(self.missing, bytes):
            if self.shape:
                return [self.missing] * prod(self.shape)
            return self.missing * self.repeats
        dtype = np.float32 if self.stored == FLOAT else np.int64
        return np.full(self.shape, self.missing, dtype) if self.shape else self.missing

    def tensor(self, parsed: Parsed, name: str) -> Any:
        """Return the parsed feature; base64 text is decoded."""
        stored = parsed[self.key]
        if not self.transfer_encoding:
            return stored
        data = from_base64(stored, name)
        if not self.missing:
            return data
        return tf.where(data == "", self.missing * self.repeats, data)

    def expected(self, plan: Constraints | None, *, optional: bool) -> Expected | None:
        """Return what the core checks of its values; None if it cannot check all.

        Args:
            plan: what is asked for beyond the part; None if no plan can say it.
            optional: whether records may be without.
        """
        if plan is None or plan.tests or self.transfer_encoding:
            return None
        if self.encoding == "raw":
            if self.size is None or plan != Constraints():
                return None  # the core does not look at numbers in bytes
        elif self.encoding != "list":
            return None
        return Expected(
            self.key,
            self.kind,
            optional,
            self.count,
            plan.most,
            self.size,
            text=plan.text,
            finite=plan.finite,
            bounds=plan.bounds,
        )


def list_of(dtype: str) -> str:
    """Return the type of the list that holds numbers or strings of a dtype."""
    return DTYPES[dtype].stored if dtype in DTYPES else BYTES


def values_part(
    key: str,
    dtype: str,
    count: int | None,
    most: int | None = None,
    *,
    raw: bool = False,
    transfer_encoding: str | None = None,
) -> Part:
    """Return the part of numbers or strings.

    Numbers that no list can hold are raw, in one bytes value.
    """
    if raw or dtype in RAW_ONLY:
        return Part(
            key,
            BYTES,
            encoding="raw",
            dtype=dtype,
            transfer_encoding=transfer_encoding,
            size=None if count is None else count * DTYPES[dtype].size,
        )
    return Part(
        key,
        list_of(dtype),
        count,
        most,
        bounds=DTYPES[dtype].limits if dtype in DTYPES else None,
        dtype=dtype,
        transfer_encoding=transfer_encoding,
    )


def size_part(
    key: str,
    parameter: str,
    content: str,
    length: int | None,
    missing: int | None = None,
) -> Part:
    """Return the part of one stored size.

    Args:
        key: the key.
        parameter: the parameter of the kind that names it.
        content: a description.
        length: the size; None if it varies.
        missing: what TensorFlow parses where it is missing.
    """
    bounds = (0, None) if length is None else (length, length)
    return Part(
        key,
        INT,
        holds="size",
        bounds=bounds,
        parameter=parameter,
        content=content,
        sizes=(length,),
        missing=missing,
    )


def amount(count: int | None, name: str) -> str:
    """Return values of a list in words: `2 float values`, `1 value of bytes`."""
    values = "value" if count == 1 else "values"
    words = f"{values} of bytes" if name == "bytes" else f"{name} {values}"
    return words if count is None else f"{count} {words}"


def with_missing(part: Part, dtype: str, value: Any, repeats: int = 1) -> Part:
    """State the numbers that TensorFlow parses where the feature is missing.

    Args:
        part: of the numbers.
        dtype: of the numbers.
        value: one or all of them.
        repeats: how often `value` is there, in raw bytes.
    """
    if part.encoding != "raw":
        return replace(part, missing=_as_stored(value, part.stored))
    numbers = Numbers(dtype)
    data = numbers.raw(numbers.convert(value)).tobytes()
    return replace(part, missing=data, repeats=repeats)


def _as_stored(value: Any, stored: str) -> Any:
    """Return a default as the numbers of a list: bools are integers."""
    if isinstance(value, tuple):
        return tuple(_as_stored(each, stored) for each in value)
    return int(value) if stored == "int64" else float(value)
