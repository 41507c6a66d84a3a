"""The storage of a field in an Example: its keys, and the list under each.

A field may have several keys. The storage states the list's type, count and bounds. The
meaning of the values (ids, pixels, text) is a matter of the field's kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from ..runtime.shared.values import INTEGERS, RAW_ONLY

TransferEncoding = Literal["base64"] | None

INT, FLOAT, BYTES = "int64", "float32", "bytes"


@dataclass(frozen=True)
class Entry:
    """A key and the list under it.

    Attributes:
        key: the feature's key.
        stored: int64, float32 or bytes.
        count: how many values; None for any number, as far as `most` allows.
        most: the most values; None for any number.
        part: the part of the field: "value", "size", "format", "row lengths" or
            "index".
        bounds: the least and the greatest integer, if they are known.
        parameter: the parameter of the kind that names the key.
        content: a description of the part. Fields may share a key of the same content.
        read: whether parsers read the feature.
        encoding: "list" for values as they are, "raw" for the little-endian bytes of
            numbers, "proto" for a serialized tensor, or the format of an image.
        dtype: of the values before they are encoded; "string" is UTF-8.
        transfer_encoding: "base64" for bytes that are stored as base64 text.
        sizes: what a part of sizes holds; None for one that varies.
    """

    key: str
    stored: str
    count: int | None
    most: int | None = None
    part: str = "value"
    bounds: tuple[int | None, int | None] | None = None
    parameter: str = "key"
    content: str = ""
    read: bool = True
    encoding: str = "list"
    dtype: str = "int64"
    transfer_encoding: TransferEncoding = None
    sizes: tuple[int | None, ...] = ()


def list_of(dtype: str) -> str:
    """Return the type of the list that holds numbers or strings of a dtype."""
    if dtype in ("string", "bytes", *RAW_ONLY):
        return BYTES
    return FLOAT if dtype == "float32" else INT


def values(key: str, dtype: str, count: int | None, most: int | None = None) -> Entry:
    """Return the entry of numbers or strings; None for any number of them.

    Numbers that no list can hold are raw, in one bytes value.
    """
    if dtype in RAW_ONLY:
        return raw(key, dtype)
    stored, bounds = list_of(dtype), bounds_of(dtype)
    return Entry(key, stored, count, most, bounds=bounds, dtype=dtype)


def raw(key: str, dtype: str, transfer_encoding: TransferEncoding = None) -> Entry:
    """Return the entry of the little-endian bytes of numbers."""
    return Entry(
        key,
        BYTES,
        1,
        encoding="raw",
        dtype=dtype,
        transfer_encoding=transfer_encoding,
    )


def size(key: str, parameter: str, content: str, length: int | None) -> Entry:
    """Return the entry of one stored size; None for a length that varies."""
    bounds = (0, None) if length is None else (length, length)
    return Entry(key, INT, 1, None, "size", bounds, parameter, content, sizes=(length,))


def described(
    shape: tuple[int | None, ...],
    keys: tuple[str | None, ...],
    format_key: str | None,
    encoding: str,
    format_text: str,
) -> tuple[Entry, ...]:
    """Return the entries of a picture's size and format, as far as they are stored.

    Readers need the sizes of raw pixels that vary. Encoded pictures contain their own.
    """
    words = ("height", "width", "channels")
    found = [
        replace(
            size(key, f"{word}_key", word, length),
            read=encoding == "raw" and length is None,
        )
        for word, key, length in zip(words, keys, shape, strict=False)
        if isinstance(key, str)
    ]
    if isinstance(format_key, str):
        content = f"format {format_text}"
        found.append(
            Entry(
                format_key,
                BYTES,
                1,
                part="format",
                parameter="format_key",
                content=content,
                read=False,
                dtype="string",
            )
        )
    return tuple(found)


def bounds_of(dtype: str) -> tuple[int, int] | None:
    """Return the least and the greatest integer of a dtype; None if int64 holds more."""
    if dtype == "bool":
        return (0, 1)
    if dtype not in INTEGERS or dtype in ("int64", "uint64"):
        return None
    bits = int(dtype.lstrip("uint"))
    if dtype.startswith("u"):
        return (0, 2**bits - 1)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def count_of(shape: tuple[int | None, ...]) -> int | None:
    """Return how many numbers a shape has; None if that varies."""
    return None if None in shape else prod(length or 1 for length in shape)
