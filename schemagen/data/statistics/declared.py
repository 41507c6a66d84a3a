"""What only a schema says of keys: raw numbers, sound without a header, numbered keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cells.columns import Column, Columns, OnDemand
from ...runtime.cells.message import Feature
from ...runtime.native import BYTES, FLOAT, INT64
from ...runtime.shared.dtypes import DTYPES, FLOATS, PARTS, from_bits
from .model import by_name
from .sounds import Sound, raw_sound

if TYPE_CHECKING:
    from ...spec.model import FieldSpec, RecordSpec

# Longer arrays are contents, as images are.
_MOST_NUMBERS = 64


Numbered = Mapping[str, Sequence[str]]
"""The keys of fields under numbered keys, by the first one."""


@dataclass(frozen=True)
class RawNumbers:
    """What a bytes value holds.

    Attributes:
        dtype: of its little-endian numbers.
        count: how many there are.
    """

    dtype: str
    count: int

    @property
    def size(self) -> int:
        """The size of the value."""
        return self.count * DTYPES[self.dtype].size

    def values(self, data: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the numbers of values, one after the other.

        They are int64, float32 or float64, or uint64 if some are beyond int64.
        """
        found = DTYPES[self.dtype]
        if not found.in_numpy:
            return from_bits(data, found)
        values: NDArray[Any] = data.view(found.numpy.newbyteorder("<"))
        if self.dtype in FLOATS:
            return values.astype(np.float64 if found.size == 8 else np.float32)
        beyond = self.dtype == "uint64" and (values > np.iinfo(np.int64).max).any()
        return values.astype(np.uint64 if beyond else np.int64)

    def read(self, feature: Feature, record: bytes) -> Feature:
        """Return a feature of a record with numbers, or as it is if it has other bytes."""
        if feature.kind != BYTES or len(feature.values) != 1:
            return feature
        start, stop = feature.values[0]
        if stop - start != self.size:
            return feature
        data = np.frombuffer(record[start:stop], np.uint8)
        values = self.values(data)
        return Feature(_kind_of(values), values.tolist())


def _kind_of(values: NDArray[Any]) -> str:
    return FLOAT if values.dtype.kind == "f" else INT64


@dataclass(frozen=True)
class Declared:
    """What a schema says of the values of keys.

    Attributes:
        numbers: the keys whose bytes values are numbers, and which.
        sounds: the keys whose bytes values are sound without a header, and which.
        numbered: the keys of fields under numbered keys, by the first one.
    """

    numbers: Mapping[str, RawNumbers] = field(default_factory=dict)
    sounds: Mapping[str, Sound] = field(default_factory=dict)
    numbered: Numbered = field(default_factory=dict)


def declared_by(spec: RecordSpec | None, numbered: Numbered) -> Declared:
    """Return what a schema says.

    Args:
        spec: the schema; None for none.
        numbered: fields under numbered keys, further than those of the schema.
    """
    fields = spec.fields if spec is not None else ()
    numbers = {each.key: raw_numbers(each) for each in fields}
    sounds = {each.key: raw_sound(each) for each in fields}
    return Declared(
        {key: found for key, found in numbers.items() if found is not None},
        {key: found for key, found in sounds.items() if found is not None},
        {**numbered, **numbered_of(spec)},
    )


def raw_numbers(field: FieldSpec) -> RawNumbers | None:
    """Return the raw numbers in each record or step of a field; None if it has none."""
    from ...runtime.kinds.numbers import FixedNumbers

    found = field.step if field.parts[0].in_list else field
    codec, part = found.codec, found.parts[0]
    if not isinstance(codec, FixedNumbers) or part.encoding != "raw":
        return None
    count = prod(codec.shape)
    # Complex numbers have no order: they are not summarized.
    plain = not part.transfer_encoding and part.dtype not in PARTS
    readable = plain and 0 < count <= _MOST_NUMBERS
    return RawNumbers(part.dtype, count) if readable else None


def with_numbers(columns: Columns, raw: Mapping[str, RawNumbers]) -> Columns:
    """Return columns with numbers in place of the raw bytes of keys.

    Bytes of another size stay as they are, and so do steps.

    Args:
        columns: some records.
        raw: what bytes values hold, by key.
    """
    if not raw:
        return columns

    def decoded(key: str, some: tuple[Column, ...]) -> tuple[Column, ...]:
        return tuple(_decoded(some, raw[key])) if key in raw else some

    return replace(columns, by_key=OnDemand(columns.by_key, decoded))


def _decoded(columns: tuple[Column, ...], raw: RawNumbers) -> Iterator[Column]:
    for column in columns:
        if column.kind != BYTES:
            yield column
            continue
        right = _right(column, raw)
        if right.any():
            yield numbers_of(column, raw)
        if not right.all():
            yield column.only(~right)


def _right(column: Column, raw: RawNumbers) -> NDArray[np.bool_]:
    """Return which rows of a bytes column hold one value of the right size: bool [M]."""
    right: NDArray[np.bool_] = column.lengths == 1
    right[right] = column.sizes[column.starts[right]] == raw.size
    return right


def numbers_of(column: Column, raw: RawNumbers) -> Column:
    """Return the numbers in the values of a bytes column that have the right size."""
    column = column.only(_right(column, raw))
    places = column.values[:, :1] + np.arange(raw.size)
    values = raw.values(column.data[places].ravel())
    return Column(
        column.key,
        _kind_of(values),
        column.rows,
        np.full(len(column), raw.count, np.int64),
        values,
        column.data,
    )


def numbered_of(spec: RecordSpec | None) -> dict[str, Sequence[str]]:
    """Return the fields whose values have a key each."""
    every = {field.key: field.numbered_keys for field in (spec.fields if spec else ())}
    return {key: keys for key, keys in every.items() if len(keys) > 1}


def with_numbered(columns: Columns, numbered: Numbered) -> Columns:
    """Return columns in which the first key of a field has the values of all of them."""
    if not numbered:
        return columns
    first = {key: keys[0] for keys in numbered.values() for key in keys}
    kept = sorted({first.get(key, key) for key in columns.by_key})

    def made(key: str, _: str) -> tuple[Column, ...]:
        if key not in numbered:
            return columns.by_key[key]
        every = (columns.by_key.get(each, ()) for each in numbered[key])
        kinds = by_name({each.kind: each} for some in every for each in some)
        return tuple(
            _joined_keys(key, same, len(numbered[key])) for same in kinds.values()
        )

    return replace(columns, by_key=OnDemand({key: key for key in kept}, made))


def _joined_keys(key: str, columns: Sequence[Column], count: int) -> Column:
    """Return the values of columns of one kind, one after the other in each row."""
    owners = np.concatenate([np.repeat(each.rows, each.lengths) for each in columns])
    values = np.concatenate([each.values for each in columns])
    rows = np.unique(np.concatenate([each.rows for each in columns]))
    lengths = np.bincount(np.searchsorted(rows, owners), minlength=len(rows))
    keys = tuple(each.key for each in columns)
    return replace(
        columns[0],
        key=key,
        rows=rows,
        lengths=lengths,
        values=values[np.argsort(owners, kind="stable")],
        keys=keys if (lengths == count).all() else (),
    )
