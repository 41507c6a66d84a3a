"""Frames of pandas and polars, and tables of Arrow, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import FLOATS
from ..storage.schema import Spec

_WHOLE = 2**53
"""Floats below it hold each integer."""


class _Column(NamedTuple):
    """The values of a column, and which of them are missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]


class FrameRows(Sequence[dict[str, Any]]):
    """The rows of a frame, with None for what is missing.

    Args:
        columns: by name.
        count: how many rows there are.
    """

    def __init__(self, columns: Mapping[str, _Column], count: int) -> None:
        self._columns = {
            name: (values, missing if missing.any() else None)
            for name, (values, missing) in columns.items()
        }
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, row: Any) -> Any:
        return {
            name: None if missing is not None and missing[row] else values[row]
            for name, (values, missing) in self._columns.items()
        }


def rows_of_frame(source: Any, spec: Spec) -> Any:
    """Return the rows of a frame; any other source as it is.

    Missing are None, NA, NaT, null, and NaN, which in a field that is not optional stays a
    number. Integers that a frame holds as floats, as pandas does where one is missing, are
    integers again.

    Args:
        source: what `write_dataset` was given.
        spec: of the record.
    """
    package = type(source).__module__.partition(".")[0]
    column_of = _COLUMNS.get((package, type(source).__name__))
    if column_of is None:
        return source
    fields = {
        (field.get("path") or [field["name"]])[0]: field for field in spec["fields"]
    }
    names = list(getattr(source, "column_names", None) or source.columns)
    if len(set(names)) < len(names):
        raise TypeError(
            f"the source has duplicate columns: {', '.join(map(str, names))}"
        )
    columns = {
        name: _as_declared(column_of(source[name]), fields.get(name, {}))
        for name in names
    }
    return FrameRows(columns, len(source))


def _as_declared(column: _Column, field: Mapping[str, Any]) -> _Column:
    """Return a column in the type of numbers that its field takes."""
    values, missing = column
    floats = field.get("dtype") in FLOATS
    if values.dtype.kind == "f":
        nan = np.isnan(values)
        if floats and not field.get("optional"):
            return _Column(values, missing & ~nan)
        missing = missing | nan
        if floats:
            return _Column(values, missing)
        whole = ~missing
        whole[whole] = (there := values[whole]) == np.rint(there)
        whole &= abs(values) < _WHOLE
        integers = np.where(whole, values, 0).astype(np.int64)
        if (whole | missing).all():
            return _Column(integers, missing)
        # What is not an integer is refused in its own row.
        values = values.astype(object)
        values[whole] = integers[whole]
    return _Column(values, missing)


def _of_pandas(series: Any) -> _Column:
    missing = series.isna().to_numpy()
    if isinstance(series.dtype, np.dtype):
        return _Column(series.to_numpy(), missing)
    return _Column(series.to_numpy(dtype=object), missing)


def _of_polars(series: Any) -> _Column:
    missing = series.is_null().to_numpy()
    if series.dtype.is_numeric():
        return _Column(series.fill_null(0).to_numpy(), missing)
    return _Column(_objects(series.to_list()), missing)


def _of_arrow(column: Any) -> _Column:
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    missing = np.asarray(column.is_null())
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _Column(np.asarray(column.fill_null(0)), missing)
    return _Column(_objects(column.to_pylist()), missing)


def _objects(values: list[Any]) -> NDArray[Any]:
    """Return an array of objects, also of lists."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


_COLUMNS: dict[tuple[str, str], Callable[[Any], _Column]] = {
    ("pandas", "DataFrame"): _of_pandas,
    ("polars", "DataFrame"): _of_polars,
    ("pyarrow", "Table"): _of_arrow,
}
