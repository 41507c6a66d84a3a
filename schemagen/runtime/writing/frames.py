"""Frames of pandas and polars, and tables of Arrow, as rows.

Columns are taken as arrays, so that values keep the resolution that the frame has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import FLOATS, INTEGERS
from ..shared.errors import with_suggestion
from ..storage.schema import Spec


class _Column(NamedTuple):
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

    Raises:
        TypeError: the frame has not been computed yet, or has a column twice or one that
            is not a field.
    """
    # A class of a user's own may derive from that of the package.
    classes = [
        (cls.__module__.partition(".")[0].lstrip("_"), cls.__name__)
        for cls in type(source).__mro__
    ]
    for each in classes:
        if each in _LAZY:
            raise TypeError(
                f"the source is a {type(source).__name__}, which has no rows yet: pass "
                f"what its {_LAZY[each]} returns"
            )
    column_of = next((_COLUMNS[each] for each in classes if each in _COLUMNS), None)
    if column_of is None:
        return source
    if hasattr(source, "read_all"):  # a reader of Arrow's batches, as of DuckDB
        source = source.read_all()
    names = list(source.schema.names if column_of is _of_arrow else source.columns)
    fields = {
        (field.get("path") or [field["name"]])[0]: field for field in spec["fields"]
    }
    _check_names(names, fields)
    columns = {
        name: _as_declared(column_of(source[name]), fields[name]) for name in names
    }
    return FrameRows(columns, len(source))


def _check_names(names: Sequence[Any], fields: Mapping[str, Any]) -> None:
    if len(set(names)) < len(names):
        raise TypeError(
            f"the source has duplicate columns: {', '.join(map(str, names))}"
        )
    for name in names:
        if name not in fields:
            words = (
                f"the source has the column {name!r}, expected only the fields "
                f"{', '.join(fields)}; select their columns first"
            )
            raise TypeError(with_suggestion(words, name, fields))


def _as_declared(column: _Column, field: Mapping[str, Any]) -> _Column:
    """Return a column in the type of numbers that its field takes."""
    values, missing = column
    if values.dtype.kind != "f":
        return column
    nan = np.isnan(values)
    if field.get("dtype") in FLOATS and not field["optional"]:
        return _Column(values, missing & ~nan)
    missing = missing | nan
    if field.get("dtype") not in INTEGERS and field["kind"] != "Label":
        return _Column(values, missing)
    # A float of this size or more may stand for several integers.
    end = 2.0 ** min(np.finfo(values.dtype).nmant + 1, 53)
    whole = ~missing & (abs(values) < end)
    whole[whole] = (there := values[whole]) == np.rint(there)
    integers = np.where(whole, values, 0).astype(np.int64)
    if (whole | missing).all():
        return _Column(integers, missing)
    # What is not an integer is refused in its own row.
    mixed = _objects(list(values))
    mixed[whole] = integers[whole]
    return _Column(mixed, missing)


def _of_pandas(series: Any) -> _Column:
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(series.array.__arrow_array__())
    if hasattr(dtype, "categories"):
        categories = _of_pandas(dtype.categories.to_series())
        return _of_codes(categories.values, series.cat.codes.to_numpy())
    missing = series.isna().to_numpy()
    if isinstance(dtype, np.dtype):
        return _Column(series.to_numpy(), missing)
    if hasattr(dtype, "tz"):
        return _Column(series.to_numpy(dtype=f"M8[{dtype.unit}]"), missing)
    plain = getattr(dtype, "numpy_dtype", None)
    if plain is None:
        return _Column(series.to_numpy(dtype=object), missing)
    return _Column(series.to_numpy(dtype=plain, na_value=plain.type()), missing)


def _of_codes(categories: NDArray[Any], codes: NDArray[Any]) -> _Column:
    """Return a column, given the place of each value among some; -1 is missing."""
    # The last place is that of the missing ones.
    places = np.append(categories, np.zeros(1, categories.dtype))
    return _Column(places[codes], codes < 0)


def _of_polars(series: Any) -> _Column:
    dtype = series.dtype
    kind = dtype.base_type().__name__
    missing = series.is_null().to_numpy()
    if kind == "Array":
        series, kind = series.arr.to_list(), "List"
    if kind == "List":
        lengths = series.list.len()
        items = _of_polars(series.filter(lengths > 0).explode())
        return _of_lists(items, lengths.fill_null(0).to_numpy(), missing)
    if kind == "Struct":
        names = series.struct.fields
        members = {name: _of_polars(series.struct.field(name)) for name in names}
        return _of_members(members, missing)
    if kind in ("Datetime", "Duration", "Date"):
        numbers = series.to_physical().fill_null(0).to_numpy().astype(np.int64)
        unit = "D" if kind == "Date" else dtype.time_unit
        letter = "m" if kind == "Duration" else "M"
        return _Column(numbers.view(f"{letter}8[{unit}]"), missing)
    if kind == "Boolean":
        return _Column(series.fill_null(value=False).to_numpy(), missing)
    if dtype.is_float() or (dtype.is_integer() and not kind.endswith("128")):
        return _Column(series.fill_null(0).to_numpy(), missing)
    return _Column(_objects(series.to_list()), missing)


def _of_arrow(column: Any) -> _Column:
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.compute as pc  # type: ignore[import-not-found, import-untyped, unused-ignore]

    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _of_arrow(column.cast(kind.value_type))
    missing = np.asarray(column.is_null())
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if is_list or types.is_fixed_size_list(kind):
        lengths = np.asarray(pc.list_value_length(column).fill_null(0))
        return _of_lists(_of_arrow(pc.list_flatten(column)), lengths, missing)
    if types.is_struct(kind):
        parts = {
            kind.field(at).name: _of_arrow(pc.struct_field(column, at))
            for at in range(kind.num_fields)
        }
        return _of_members(parts, missing)
    if types.is_boolean(kind):
        return _Column(np.asarray(column.fill_null(False)), missing)
    is_time = types.is_timestamp(kind) or types.is_duration(kind) or types.is_date(kind)
    if is_time or types.is_integer(kind) or types.is_floating(kind):
        return _Column(np.asarray(column.fill_null(0)), missing)
    return _Column(_objects(column.to_pylist()), missing)


def _of_lists(
    column: _Column, lengths: NDArray[Any], missing: NDArray[np.bool_]
) -> _Column:
    """Return a column of lists, given the items of all of them."""
    items = column.items()
    ends = np.cumsum(lengths, dtype=np.int64)
    bounds = zip((ends - lengths).tolist(), ends.tolist(), strict=True)
    # An empty list has no dtype, which some fields would refuse.
    found = [items[start:end] if start < end else [] for start, end in bounds]
    return _Column(_objects(found), missing)


def _of_members(members: Mapping[str, _Column], missing: NDArray[np.bool_]) -> _Column:
    """Return a column of dicts, given the column of each member."""
    columns = (column.items() for column in members.values())
    rows = zip(*columns, strict=True) if members else ((),) * len(missing)
    found = [dict(zip(members, row, strict=True)) for row in rows]
    return _Column(_objects(found), missing)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Return an array of objects, also of lists and arrays."""
    return np.fromiter(values, object, len(values))


_COLUMNS: dict[tuple[str, str], Callable[[Any], _Column]] = {
    ("pandas", "DataFrame"): _of_pandas,
    ("polars", "DataFrame"): _of_polars,
    ("pyarrow", "Table"): _of_arrow,
    ("pyarrow", "RecordBatch"): _of_arrow,
    ("pyarrow", "RecordBatchReader"): _of_arrow,
}

_LAZY = {
    ("polars", "LazyFrame"): ".collect()",
    ("duckdb", "DuckDBPyRelation"): ".arrow()",
}
"""What has a frame once one of its methods is called."""
