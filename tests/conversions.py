"""What functions of records return, and the ways to read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from generated import DatasetError

COUNT = 40

ODD = 21
"""The record that has another value than all others."""


class Raises:
    """An object of which no array can be made."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")


def returned(values: Callable[[int], Any]) -> Callable[[Any], Any]:
    """Return a function of records with a field of some values, by the record's number."""

    def function(row: dict[str, Any]) -> dict[str, Any]:
        return {"scan": row["scan"], "x": values(int(row["scan"]))}

    return function


def table(split: Any) -> list[Any]:
    """Read the values as a table."""
    return split.to_arrow()["x"].to_pylist()


def columns(batches: Any) -> list[Any]:
    """Return the values of all batches in one list."""
    return [value for batch in batches for value in _plain(batch["x"])]


def _plain(column: Any) -> list[Any]:
    found = np.asarray(column.float() if hasattr(column, "float") else column)
    return found.astype(float).tolist() if found.dtype.kind == "V" else found.tolist()


WAYS: dict[str, Callable[[Any], Any]] = {
    "batches": lambda split: columns(split.batches(8)),
    "numbers": lambda split: columns([split[range(COUNT)]]),
    "rows of a loader": lambda split: columns(
        [split.__getitems__(range(COUNT)).columns]
    ),
    "table": table,
}

OTHERS: dict[str, Any] = {
    "an object": object(),
    "a class": Raises,
    "an object that raises": Raises(),
    "a set": {1},
    "a dict": {"a": 1.0},
    "lists of different lengths": [[1.0], [2.0, 3.0]],
    "a text": "text",
    "bytes": b"text",
    "a list of texts": ["a", "b"],
    "texts of numpy": np.array(["a", "b"]),
    "a text and a number": ["a", 1.0],
    "a text and bytes": ["a", b"b"],
    "an integer": 1,
    "a bool": True,
    "a rounded number": np.float32(0.5),
    "a complex number": 1j,
    "an integer beyond int64": 2**63,
    "an integer beyond uint64": 2**64,
    "integers that numpy rounds": [1, 2**63],
    "a masked array": np.ma.masked_array([1.0], [True]),
    "masked": np.ma.masked,
    "a time": np.datetime64("2020-01-01"),
    "no time": np.datetime64("NaT"),
    "a duration": np.timedelta64(1, "s"),
    "a structure": np.zeros((), [("a", "f8")]),
    "an array of objects": np.array([None, 1.0], object),
    "a number that only this machine has": np.longdouble(1),
    "a list with None": [1.0, None],
    "an array": np.zeros((2, 2)),
}
"""What no record may have where all others have a float."""

SAME: dict[str, Any] = {
    "a scalar": np.float64(0.5),
    "an array without dimensions": np.array(0.5),
    "the other order of bytes": np.array(0.5, ">f8"),
}
"""What is equal to 0.5, which all others have."""


def refusal(split: Any, way: Callable[[Any], Any]) -> str:
    """Return the text of the error of reading a split."""
    try:
        found = way(split)
    except DatasetError as error:
        return str(error)
    raise AssertionError(f"no error: {found}")
