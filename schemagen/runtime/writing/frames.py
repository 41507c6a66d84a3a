"""Frames of pandas and polars, and tables of Arrow, as rows.

Columns are taken as arrays, so that values keep the resolution that the frame has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.dtypes import FLOATS, INTEGERS
from ..shared.errors import warn, with_suggestion
from ..shared.frame_columns import (
    FrameColumn,
    classes_of,
    objects,
    of_arrow,
    of_pandas,
    of_polars,
)
from ..storage.schema import Spec


class FrameRows(Sequence[dict[str, Any]]):
    """The rows of a frame, with None for what is missing.

    Args:
        columns: by name.
        count: how many rows there are.
    """

    def __init__(self, columns: Mapping[str, FrameColumn], count: int) -> None:
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

    A column has the name or the key of its field. What pandas has stored in a table of Arrow
    as the labels of rows is left out, unless a field has its name. Missing are None, NA, NaT,
    null, and NaN, which in a field that is not optional stays a number. Integers that a frame
    holds as floats, as pandas does where one is missing, are integers again. Decimals are
    floats, and times of day durations since midnight.

    Args:
        source: what `write_dataset` was given.
        spec: of the record.

    Raises:
        TypeError: the frame has not been computed yet, or has a column twice or one that
            is not a field.
    """
    check_computed(source)
    classes = classes_of(source)
    column_of = next((_COLUMNS[each] for each in classes if each in _COLUMNS), None)
    if column_of is None:
        return source
    if hasattr(source, "read_all"):  # a reader of Arrow's batches, as of DuckDB
        source = source.read_all()
    fields = {
        (field.get("path") or [field["name"]])[0]: field for field in spec["fields"]
    }
    keys = {field["key"]: name for name, field in fields.items()}
    if column_of is of_arrow:
        labels = index_columns(source)
        known = {*fields, *keys}
        stored = source.schema.names
        names = [name for name in stored if name in known or name not in labels]
    else:
        names = list(source.columns)
    by_field = {
        name if name in fields else keys.get(str(name), name): name for name in names
    }
    _check_names(names, by_field, fields)
    optional = [name for name, field in fields.items() if field["optional"]]
    if absent := [name for name in optional if name not in by_field]:
        warn(
            f"the source has no column {', '.join(map(repr, absent))}, which is missing in "
            "all rows then; add a column of None if that is meant"
        )
    columns = {
        name: _as_declared(column_of(source[column]), fields[name])
        for name, column in by_field.items()
    }
    return FrameRows(columns, len(source))


def index_columns(table: Any) -> Sequence[Any]:
    """Return the columns of a table of Arrow that pandas has stored as labels of rows."""
    found: Sequence[Any] = (table.schema.pandas_metadata or {}).get("index_columns", ())
    return found


def check_computed(source: Any) -> None:
    """Check that a frame has rows.

    Raises:
        TypeError: it has not been computed yet.
    """
    for each in classes_of(source):
        if each in _LAZY:
            raise TypeError(
                f"the source is a {type(source).__name__}, which has no rows yet: pass "
                f"what its {_LAZY[each]} returns"
            )


def _check_names(
    names: Sequence[Any], by_field: Mapping[Any, Any], fields: Mapping[str, Any]
) -> None:
    if len(by_field) < len(names):
        raise TypeError(
            f"the source has duplicate columns: {', '.join(map(str, names))}"
        )
    for name in by_field:
        if name not in fields:
            words = (
                f"the source has the column {name!r}, expected only the fields "
                f"{', '.join(fields)}; select their columns first"
            )
            raise TypeError(with_suggestion(words, name, fields))


def _as_declared(column: FrameColumn, field: Mapping[str, Any]) -> FrameColumn:
    """Return a column in the type of numbers that its field takes."""
    if column.values.dtype.kind == "O":
        column = _of_objects(column, integers=field.get("dtype") in INTEGERS)
    values, missing = column
    if values.dtype.kind != "f":
        return column
    nan = np.isnan(values)
    if field.get("dtype") in FLOATS and not field["optional"]:
        return FrameColumn(values, missing & ~nan)
    missing = missing | nan
    if field.get("dtype") not in INTEGERS and field["kind"] != "Label":
        return FrameColumn(values, missing)
    # A float of this size or more may stand for several integers.
    end = 2.0 ** min(np.finfo(values.dtype).nmant + 1, 53)
    whole = ~missing & (abs(values) < end)
    whole[whole] = (there := values[whole]) == np.rint(there)
    integers = np.where(whole, values, 0).astype(np.int64)
    if (whole | missing).all():
        return FrameColumn(integers, missing)
    # What is not an integer is refused in its own row.
    mixed = objects(list(values))
    mixed[whole] = integers[whole]
    return FrameColumn(mixed, missing)


def _of_objects(column: FrameColumn, *, integers: bool) -> FrameColumn:
    """Return decimals as numbers, and times of day as durations; others as they are.

    Arrays of arrays, which pandas has for lists of lists, become lists of arrays.
    """
    values, missing = column
    there = values[~missing]
    kinds = {*map(type, there)}
    found: NDArray[Any]
    if kinds == {Decimal}:
        whole = integers and all(each == each.to_integral_value() for each in there)
        found = np.array([*map(int if whole else float, there)])
    elif kinds == {time}:
        start = datetime.min
        since = [datetime.combine(start, each) - start for each in there]
        found = np.array(since, "m8[us]")
    elif kinds == {np.ndarray}:
        found = objects([*map(_unpacked, there)])
    else:
        return column
    every = np.zeros(len(values), found.dtype)
    every[~missing] = found
    return FrameColumn(every, missing)


def _unpacked(value: Any) -> Any:
    """Return lists of arrays for arrays of arrays, at any depth."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return [*map(_unpacked, value)]
    return value


_COLUMNS: dict[tuple[str, str], Callable[[Any], FrameColumn]] = {
    ("pandas", "DataFrame"): of_pandas,
    ("polars", "DataFrame"): of_polars,
    ("pyarrow", "Table"): of_arrow,
    ("pyarrow", "RecordBatch"): of_arrow,
    ("pyarrow", "RecordBatchReader"): of_arrow,
}

_LAZY = {
    ("polars", "LazyFrame"): ".collect()",
    ("duckdb", "DuckDBPyRelation"): ".arrow()",
}
"""What has a frame once one of its methods is called."""
