"""From the fields of one row, or the columns of a batch, to records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.errors import Problem, RecordError
from ..shared.tfrecord import Framed, frame_pieces
from ..shared.wire import Pieces, example_head
from .base import Column, Compound, Feature
from .columns import (
    BufferColumns,
    Chunks,
    buffer_columns,
    chunks_of,
    joined,
    joined_rows,
    sizes_of,
)

ColumnOf = tuple[Feature, Column | None]
Columns = tuple[ColumnOf, ...]


def encode_example(*entries: Pieces) -> bytes:
    """Join the encoded fields of one row, in the order of their keys.

    Raises:
        RecordError: no field is there; readers could not tell whose record it is.
    """
    return _joined(entries, None)


def _joined(entries: Iterable[Pieces], row: int | None) -> bytes:
    pieces = [*chain.from_iterable(entries)]
    size = sum(map(len, pieces))
    if not size:
        raise nothing_there(row)
    return b"".join((example_head(size), *pieces))


def nothing_there(row: int | None) -> RecordError:
    """Return the error of a row without any field."""
    return RecordError("", "no field at all", "at least one that is not None", row=row)


def encode_fields(*fields: tuple[Feature, Any], row: int | None = None) -> bytes:
    """Encode one row, given as pairs of a feature and its value.

    For records with fields that are stored under several keys: those of all fields
    are put in order here. Fields may share a key if they agree on what it holds.

    Raises:
        RecordError: a value that cannot be held, or no field is there.
    """
    return _joined(merged_entries(*fields, row=row), row)


def merged_entries(
    *fields: tuple[Feature, Any], row: int | None = None
) -> list[Pieces]:
    """Encode the fields of one row: the entries of all keys, in their order.

    Raises:
        RecordError: a value that cannot be held, or two for one key.
    """
    found: dict[str, tuple[Feature, Pieces]] = {}
    for feature, value in fields:
        for key, pieces in feature.entries(value, row):
            other, known = found.setdefault(key, (feature, pieces))
            if known is not pieces and b"".join(known) != b"".join(pieces):
                given = next(theirs for each, theirs in fields if each is other)
                raise RecordError(
                    feature.name,
                    f"{feature.shown(value, key)} under the key {key!r}",
                    f"{other.shown(given, key)}, which the field {other.name!r} has "
                    "there",
                    "give each field a key of its own, unless they are to be equal",
                    row,
                )
    return [found[key][1] for key in sorted(found, key=str.encode)]


def encode_examples(columns: Columns) -> list[bytes]:
    """Encode a batch, given as pairs of a feature and its column, sorted by key.

    Raises:
        RecordError: columns of different lengths, or a value that cannot be held.
    """
    chunks, _ = _examples(columns)
    return joined(chunks)


def frame_examples(columns: Columns) -> Iterator[Framed]:
    """Encode and frame a batch; arguments and errors are those of `encode_examples`.

    All rows are checked at once. Their records are put together as they are asked
    for, about a megabyte at a time: the memory of one can serve the next, which takes
    less time than records of their own do. Until then the columns must stay as they
    are.
    """
    chunks, sizes = _examples(columns)
    return frame_pieces([*zip(*chunks, strict=True)], sizes)


def _examples(columns: Columns) -> tuple[Chunks, NDArray[np.int64]]:
    """Return the chunks of bytes of a batch's Examples, and the size of each."""
    rows = count_rows(columns)
    chunks = chunks_of(merged_columns(columns, rows))
    sizes = sizes_of(chunks, rows)
    if not sizes.all():
        raise nothing_there(int(np.argmin(sizes)))
    return headed(example_head, chunks, sizes)


def headed(
    head: Callable[[int], bytes], chunks: Chunks, sizes: NDArray[np.int64]
) -> tuple[Chunks, NDArray[np.int64]]:
    """Put what depends on the size of each row before it; return the new sizes too."""
    heads = [*map(head, sizes.tolist())]
    return [heads, *chunks], sizes + sizes_of([heads], len(heads))


def merged_columns(columns: Iterable[ColumnOf], rows: int) -> BufferColumns:
    """Encode columns: the entries of all keys, in their order.

    Raises:
        RecordError: a value that cannot be held, or two for one key.
    """
    columns = tuple(columns)
    if not rows:
        return []
    if not any(isinstance(feature, Compound) for feature, _ in columns):
        encoded = [feature.encode_column(column, rows) for feature, column in columns]
        return list(chain.from_iterable(encoded))
    try:
        return _by_key(columns, rows)
    except (Problem, TypeError, ValueError):
        each = [
            merged_entries(
                *((f, None if c is None else c[row]) for f, c in columns), row=row
            )
            for row in range(rows)
        ]
        return buffer_columns(tuple(chain.from_iterable(entries)) for entries in each)


def _by_key(columns: Columns, rows: int) -> BufferColumns:
    """Encode the columns of fields some of which are stored under several keys.

    Raises:
        Problem: two fields say different things under one key.
    """
    found: dict[str, BufferColumns] = {}
    for feature, column in columns:
        for key, buffers in feature.entry_columns(column, rows):
            known = found.setdefault(key, buffers)
            if known is not buffers:
                found[key] = [_agreed(known, buffers, rows)]
    return [buffer for key in sorted(found, key=str.encode) for buffer in found[key]]


def _agreed(first: BufferColumns, second: BufferColumns, rows: int) -> list[bytes]:
    """Return the entries of one key, where two fields have it; either may be absent.

    Raises:
        Problem: they differ in a row.
    """
    pairs = list(zip(joined_rows(first, rows), joined_rows(second, rows), strict=True))
    if any(a and b and a != b for a, b in pairs):
        raise Problem("two values for one key", "one")
    return [a or b for a, b in pairs]


def count_rows(columns: Iterable[ColumnOf]) -> int:
    """Return the number of rows that all columns have."""
    first: tuple[str, int] | None = None
    for feature, column in columns:
        if column is None and feature.optional:
            continue
        if not hasattr(column, "__len__") or isinstance(column, (str, bytes, Mapping)):
            problem = Problem(
                f"a column of type {type(column).__name__}",
                "a sequence or an array with one value for each row",
            )
            raise RecordError.of(problem.about(column), feature.name)
        rows = len(column)  # type: ignore[arg-type]
        if first is None:
            first = (feature.name, rows)
        elif rows != first[1]:
            raise RecordError(
                feature.name, f"{rows} rows", f"{first[1]}, as many as in {first[0]!r}"
            )
    if first is None:
        raise RecordError("", "only columns of None", "at least one column")
    return first[1]
