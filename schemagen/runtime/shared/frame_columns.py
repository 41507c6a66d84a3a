"""Columns of pandas, polars and Arrow as arrays, in the resolution that they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

INT64_DECIMALS = 18
"""So many decimal places an int64 always has."""


class FrameColumn(NamedTuple):
    """The values of a column, and which of them are missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]

    def items(self) -> Sequence[Any]:
        """Return the values in turn, None for those that are missing."""
        if self.values.dtype.kind == "O" or self.missing.any():
            # Times stay as they are: those of Python are less exact.
            exact = self.values.dtype.kind in "mM"
            values = list(self.values) if exact else self.values.tolist()
            pairs = zip(values, self.missing.tolist(), strict=True)
            return [None if missing else value for value, missing in pairs]
        return self.values  # type: ignore[return-value]


def classes_of(value: object) -> list[tuple[str, str]]:
    """Return the package and the name of a value's class, and of those it derives from."""
    return [
        (cls.__module__.partition(".")[0].lstrip("_"), cls.__name__)
        for cls in type(value).__mro__
    ]


def plain_column(column: Any) -> Any:
    """Return a column of a frame with None for what is missing; any other as it is.

    One of pandas that has a dtype of numpy stays, and NaN in it.
    """
    if type(column) in (list, np.ndarray):
        return column
    for each in classes_of(column):
        if each in _COLUMNS and not isinstance(
            getattr(column, "dtype", None), np.dtype
        ):
            return _COLUMNS[each](column).items()
    return column


def of_pandas(series: Any) -> FrameColumn:
    """Return the column of a Series; None, NaN, NA and NaT are missing."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return of_arrow(series.array.__arrow_array__())
    if hasattr(dtype, "categories"):
        categories = of_pandas(dtype.categories.to_series())
        return _of_codes(categories.values, series.cat.codes.to_numpy())
    missing = series.isna().to_numpy()
    if isinstance(dtype, np.dtype):
        return FrameColumn(series.to_numpy(), missing)
    if hasattr(dtype, "tz"):
        return FrameColumn(series.to_numpy(dtype=f"M8[{dtype.unit}]"), missing)
    plain = getattr(dtype, "numpy_dtype", None)
    if plain is None:
        return FrameColumn(series.to_numpy(dtype=object), missing)
    return FrameColumn(series.to_numpy(dtype=plain, na_value=plain.type()), missing)


def _of_codes(categories: NDArray[Any], codes: NDArray[Any]) -> FrameColumn:
    """Return a column, given the place of each value among some; -1 is missing."""
    # The last place is that of the missing ones.
    places = np.append(categories, np.zeros(1, categories.dtype))
    return FrameColumn(places[codes], codes < 0)


def of_polars(series: Any) -> FrameColumn:
    """Return the column of a Series; null is missing, and decimals are floats."""
    dtype = series.dtype
    kind = dtype.base_type().__name__
    missing = series.is_null().to_numpy()
    if kind == "Array":
        series, kind = series.arr.to_list(), "List"
    if kind == "List":
        lengths = series.list.len()
        items = of_polars(series.filter(lengths > 0).explode())
        return _of_lists(items, lengths.fill_null(0).to_numpy(), missing)
    if kind == "Struct":
        names = series.struct.fields
        members = {name: of_polars(series.struct.field(name)) for name in names}
        return _of_members(members, missing)
    if kind in ("Datetime", "Duration", "Date", "Time"):
        numbers = series.to_physical().fill_null(0).to_numpy().astype(np.int64)
        unit = {"Date": "D", "Time": "ns"}.get(kind) or dtype.time_unit
        letter = "m" if kind in ("Duration", "Time") else "M"
        return FrameColumn(numbers.view(f"{letter}8[{unit}]"), missing)
    if kind == "Boolean":
        return FrameColumn(series.fill_null(value=False).to_numpy(), missing)
    if kind == "Decimal":
        import polars as pl  # type: ignore[import-not-found, import-untyped, unused-ignore]

        series = series.cast(pl.Float64 if dtype.scale else pl.Int128)
        return of_polars(series)
    if dtype.is_float() or (dtype.is_integer() and not kind.endswith("128")):
        return FrameColumn(series.fill_null(0).to_numpy(), missing)
    return FrameColumn(objects(series.to_list()), missing)


def of_arrow(column: Any) -> FrameColumn:
    """Return the column of an array, perhaps in chunks; null is missing.

    Decimals are floats, or integers if they have no fraction. Times of day are those since
    midnight.
    """
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.compute as pc  # type: ignore[import-not-found, import-untyped, unused-ignore]

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return of_arrow(column.cast(kind.value_type))
    missing = np.asarray(column.is_null())
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if is_list or types.is_fixed_size_list(kind):
        lengths = np.asarray(pc.list_value_length(column).fill_null(0))
        return _of_lists(of_arrow(pc.list_flatten(column)), lengths, missing)
    if types.is_struct(kind):
        parts = {
            kind.field(at).name: of_arrow(pc.struct_field(column, at))
            for at in range(kind.num_fields)
        }
        return _of_members(parts, missing)
    if types.is_boolean(kind):
        return FrameColumn(np.asarray(column.fill_null(False)), missing)
    if types.is_decimal(kind):
        whole = kind.scale <= 0 and kind.precision <= INT64_DECIMALS
        return of_arrow(column.cast(pa.int64() if whole else pa.float64()))
    if types.is_time(kind):  # the time since midnight
        column = column.cast(f"int{kind.bit_width}").cast(pa.int64())
        column, kind = column.cast(pa.duration(kind.unit)), pa.duration(kind.unit)
    is_time = types.is_timestamp(kind) or types.is_duration(kind) or types.is_date(kind)
    if is_time or types.is_integer(kind) or types.is_floating(kind):
        return FrameColumn(np.asarray(column.fill_null(0)), missing)
    return FrameColumn(objects(column.to_pylist()), missing)


def _of_lists(
    column: FrameColumn, lengths: NDArray[Any], missing: NDArray[np.bool_]
) -> FrameColumn:
    """Return a column of lists, given the items of all of them."""
    items = column.items()
    ends = np.cumsum(lengths, dtype=np.int64)
    bounds = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    # An empty list has no dtype, which some fields would refuse.
    found = [items[start:end] if start < end else [] for start, end in bounds]
    return FrameColumn(objects(found), missing)


def _of_members(
    members: Mapping[str, FrameColumn], missing: NDArray[np.bool_]
) -> FrameColumn:
    """Return a column of dicts, given the column of each member."""
    columns = (column.items() for column in members.values())
    rows = zip(*columns, strict=True) if members else ((),) * len(missing)
    found = [dict(zip(members, row, strict=True)) for row in rows]
    return FrameColumn(objects(found), missing)


def objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return an array of objects, also of lists and arrays."""
    return np.fromiter(values, object, len(values))


_COLUMNS: dict[tuple[str, str], Callable[[Any], FrameColumn]] = {
    ("pandas", "Series"): of_pandas,
    ("polars", "Series"): of_polars,
    ("pyarrow", "Array"): of_arrow,
    ("pyarrow", "ChunkedArray"): of_arrow,
}
