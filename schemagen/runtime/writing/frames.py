"""Frames of pandas and polars, and tables of Arrow, as rows.

Columns are taken as arrays, so that values keep the resolution that the frame has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..shared.dtypes import FLOATS, INTEGERS
from ..shared.errors import with_suggestion
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
    classes = classes_of(source)
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
    names = list(source.schema.names if column_of is of_arrow else source.columns)
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


def _as_declared(column: FrameColumn, field: Mapping[str, Any]) -> FrameColumn:
    """Return a column in the type of numbers that its field takes."""
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
