"""Records as tables of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..cells.decoded import Decoded, Form, Shape, Values
from ..kinds.classes import names_of
from ..kinds.kind import Kind
from ..kinds.numbers import time_of
from ..records.decoder import DecodedRun, Decoder, Row
from ..shared.dtypes import DTYPES, PARTS
from ..shared.errors import DatasetError, Problem
from ..shared.tensors import as_arrays
from ..shared.times import Time
from ..shared.values import masked


def table_of(run: DecodedRun) -> Any:
    """Return records as a `pyarrow.Table` with a column for each field.

    Encoded images are bytes, and missing values are the field's default or null.
    """
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    names = run.decoder.form.names
    columns = {
        name: column_of(codec, decoded, len(run.numbers), names=names)
        for name, codec, decoded in run.fields()
    }
    return pa.table(columns)


def table_of_rows(
    rows: Sequence[Row], decoder: Decoder, error: Callable[[int, str], DatasetError]
) -> Any:
    """Return rows as a `pyarrow.Table`, of types that follow from their values.

    Args:
        rows: what a function has returned.
        decoder: of the fields of the schema.
        error: returns the error of a row, given its number and the reason.

    Raises:
        DatasetError: Arrow has no type for a value, or values have different types.
    """
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ..records.nesting import flattened

    flat = [*map(flattened, rows)]
    names = dict.fromkeys(name for row in flat for name in row)
    columns = {}
    for name in names:
        values = []
        for at, row in enumerate(flat):
            try:
                values.append(_as_given(row.get(name)))
            except Problem as problem:
                raise error(at, f"field {name!r}: {problem}") from None
        known = decoder.record[name] if name in decoder.fields else None
        if known and known.delivered.layout == "sparse":
            values = [*map(_plain, values)]
        try:
            columns[name] = pa.array(values)
        except Exception as wrong:  # Arrow, and what values raise
            raise error(_odd(values), f"field {name!r}: to_arrow: {wrong}") from None
    return pa.table(columns)


def _odd(values: Sequence[Any]) -> int:
    """Return the first of some values of which Arrow makes no array."""
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    first = next(value for value in values if value is not None)
    for at, value in enumerate(values):
        try:
            pa.array([first, value])
        except Exception:
            return at
    return 0


def _as_given(value: Any) -> Any:
    """Return a value as what Arrow takes the type of an array from.

    Raises:
        Problem: a tensor has no array, or an array has a mask.
    """
    plain = as_arrays(value, detach=True)
    if isinstance(plain, np.ma.MaskedArray):
        raise masked()
    if isinstance(plain, (np.ndarray, np.generic)):
        dtype = DTYPES.get(plain.dtype.name)
        if dtype and not dtype.in_numpy:
            plain = plain.astype(dtype.memory)
        if plain.ndim != isinstance(plain, np.ndarray) or plain.dtype.kind in "OUST":
            return plain.tolist()
        return plain
    if isinstance(plain, tuple):
        return tuple(map(_as_given, plain))
    return [*map(_as_given, plain)] if isinstance(plain, list) else plain


def joined(tables: Iterable[Any]) -> Any:
    """Return tables of the same columns as one.

    Raises:
        DatasetError: a column has different types.
    """
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    found: dict[str, Any] = {}
    each = [*tables]
    for table in each:
        for column in table.schema:
            known = found.setdefault(column.name, column.type)
            if "null" in str(known):  # of empty lists, and of what is missing
                found[column.name] = column.type
            elif "null" not in str(column.type) and column.type != known:
                raise DatasetError(
                    f"to_arrow: field {column.name!r} is {known} in some records, and "
                    f"{column.type} in others; return one type"
                )
    try:
        return pa.concat_tables(each, promote_options="permissive")
    except pa.ArrowException as error:
        raise DatasetError(f"to_arrow: {error}") from None


def column_of(codec: Kind, decoded: Decoded, rows: int, *, names: bool = False) -> Any:
    """Return values as an Arrow array, of a type that depends on the field alone.

    Args:
        codec: of the field.
        decoded: the values of the rows that have one.
        rows: how many there are.
        names: whether labels are the names of their classes, in place of ids from 0.
    """
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    dtype, shape = codec.delivered.decoded
    if dtype in PARTS:
        raise DatasetError(
            f"field {codec.label!r}: to_arrow: Arrow has no complex numbers: leave the "
            "field out with open_split(..., fields=...)"
        )
    values, default = decoded.values(), codec.default
    step = codec.of_step
    if names and step.of_classes and names_of(step):
        dtype, values = "string", _named(codec, values)
        default = default if default is None else _named(codec, [default])[0]
    if len(decoded.rows) < rows:
        found = [default] * rows
        for row, value in zip(decoded.rows.tolist(), values, strict=True):
            found[row] = value
        values = found
    plain = isinstance(values, np.ndarray) and not shape
    found = pa.array(
        values if plain else list(map(_plain, values)), _type_of(dtype, shape)
    )
    time = time_of(step)
    return found.cast(_type_of(dtype, shape, time)) if time else found


def _named(codec: Kind, values: Values) -> Values:
    """Return labels by the names of their classes, None for those that are missing."""
    valid, named = codec.validity(values), codec.in_form(values, Form(names=True))
    if valid is None:
        return named
    return [name if known else None for name, known in zip(named, valid, strict=True)]


def _plain(value: Any) -> Any:
    """Return a value as what Arrow makes lists of."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):  # a sparse tensor
        return dict(zip(("indices", "values"), map(_plain, value), strict=True))
    return list(map(_plain, value)) if isinstance(value, list) else value


def _type_of(dtype: str, shape: Shape, time: Time | None = None) -> Any:
    """Return the type of numbers, times, texts or bytes, in lists of lists."""
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if dtype.startswith("sparse "):
        values = _type_of(dtype.removeprefix("sparse "), (None,))
        indices = _type_of("int64", (None, None))
        return pa.struct({"indices": indices, "values": values})
    named = {"string": pa.string(), "bytes": pa.binary()}
    if time is not None:
        unit = time.unit
        named[dtype] = (
            pa.duration(unit) if time.duration else pa.timestamp(unit, tz="UTC")
        )
    found = named.get(dtype) or pa.from_numpy_dtype(DTYPES[dtype].memory)
    for _ in shape:
        found = pa.list_(found)
    return found
