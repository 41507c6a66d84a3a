"""Records as tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..cells.decoded import Decoded, Form, Shape, Values
from ..kinds.classes import names_of
from ..kinds.kind import Kind
from ..kinds.numbers import time_of
from ..records.decoder import DecodedRun, Row
from ..shared.dtypes import DTYPES
from ..shared.times import Time


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


def table_of_rows(rows: Sequence[Row]) -> Any:
    """Return rows as a `pyarrow.Table`, of types that follow from their values."""
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ..records.nesting import flattened

    flat = [*map(flattened, rows)]
    names = dict.fromkeys(name for row in flat for name in row)
    return pa.table(
        {name: pa.array([_as_given(row.get(name)) for row in flat]) for name in names}
    )


def _as_given(value: Any) -> Any:
    """Return a value as what Arrow takes the type of an array from."""
    if isinstance(value, np.ndarray) and (value.ndim != 1 or value.dtype.kind == "O"):
        return value.tolist()
    return [*map(_as_given, value)] if isinstance(value, (list, tuple)) else value


def joined(tables: Iterable[Any]) -> Any:
    """Return tables of the same columns as one."""
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return pa.concat_tables(tables, promote_options="permissive")


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
