"""Rows and columns of pandas."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import columns_of
from schemagen.runtime.shared.errors import RecordError

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import PackageOf

PAGE = Path(__file__).parents[2] / "docs" / "writing.md"
SECTION = PAGE.read_text("utf-8").partition("## Data frames")[2].partition("\n## ")[0]
SCHEMA, PROGRAM = re.findall(r"```python\n(.*?)```", SECTION, re.S)
CLEAN = re.search(r"^frame = (frame\..*)$", PROGRAM, re.M)[1]  # type: ignore[index]


@pytest.fixture(scope="module")
def house(package_of: PackageOf) -> ModuleType:
    """The serializer of the record on the page."""
    return package_of(SCHEMA).module("house", "serializer")


def _frame(**columns: Any) -> pd.DataFrame:
    """The houses of the page, after others that are filtered out."""
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(["flat", "house", "flat"]),
            "area": np.array([1.0, 80.1, 120.5]),
            "built": np.array([1, 1990, 2001]),
            "price": np.array([1, 0.1, 99_999.99]),
        }
    ).assign(**columns)
    return frame[frame["area"] > 2]


def _records(house: ModuleType, directory: Path, frame: pd.DataFrame, how: str) -> Any:
    """Write a frame, and return the bytes of its shard."""
    if how == "columns":
        with house.Writer(directory, "train") as writer:
            writer.write_batch(**frame)
    else:
        tuples = frame.itertuples(index=False)
        rows = frame.to_dict("records") if how == "dicts" else tuples
        house.write_dataset(rows, directory, "train")
    return (directory / "train-00000-of-00001.tfrecord").read_bytes()


HOW = pytest.mark.parametrize("how", ["columns", "dicts", "tuples"])


@HOW
@pytest.mark.parametrize("area", ["float64", "float32", "float16", "Float64"])
def test_frames_are_written_as_rows_of_python_are(
    house: ModuleType, tmp_path: Path, how: str, area: str
) -> None:
    """Floats of any dtype are rounded to the field's, and row labels are left out."""
    frame = _frame(area=pd.array([1.0, 80.5, 120.5], area))
    expected = [
        {"kind": "house", "area": 80.5, "built": 1990, "price": 0.1},
        {"kind": "flat", "area": 120.5, "built": 2001, "price": 99_999.99},
    ]
    house.write_dataset(expected, tmp_path / "rows", "train")
    plain = (tmp_path / "rows" / "train-00000-of-00001.tfrecord").read_bytes()
    assert _records(house, tmp_path / "frame", frame, how) == plain


@HOW
def test_missing_values_are_none(house: ModuleType, tmp_path: Path, how: str) -> None:
    """Those of pandas are refused with the row, and the page's line makes them None."""
    frame = _frame(built=[1.0, 1990.0, None], price=[1.0, 0.1, 2.0])
    nan = r"row 0: field 'built': found 1990.0.*pandas uses floats for integers"
    if how == "columns":
        nan = r"row 1: field 'built': found NaN.*missing values made pandas use floats"
    with pytest.raises(RecordError, match=nan):
        _records(house, tmp_path / "floats", frame, how)
    missing = _frame(price=[1.0, 0.1, np.nan])
    with pytest.raises(RecordError, match=r"row 1: field 'price'.*pandas' missing"):
        _records(house, tmp_path / "missing", missing, how)
    clean = eval(CLEAN, {"frame": frame})
    rows = [
        {"kind": "house", "area": 80.1, "built": 1990, "price": 0.1},
        {"kind": "flat", "area": 120.5, "price": 2.0},
    ]
    house.write_dataset(rows, tmp_path / "rows", "train")
    plain = (tmp_path / "rows" / "train-00000-of-00001.tfrecord").read_bytes()
    assert _records(house, tmp_path / "clean", clean, how) == plain


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with dtypes": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas with objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow in chunks": lambda columns: pa.concat_tables(
        [pa.table(columns)[:1], pa.table(columns)[1:]]
    ),
}

SOME = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, Scalar, VarLen

class Some(Record):
    number: int
    free: Annotated[float, Scalar("float64", finite=False)]
    count: int | None = None
    score: Annotated[float | None, Scalar("float32")] = None
    name: str | None = None
    flag: bool | None = None
    label: Annotated[int | None, Label(num_classes=3)] = None
    items: Annotated[list[int], VarLen("int64")] = []
"""


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "options", [{}, {"shuffle_seed": 1}, {"workers": 2, "shards": 2}]
)
def test_frames_are_written_with_gaps(
    package_of: PackageOf, tmp_path: Path, kind: str, options: dict[str, Any]
) -> None:
    """NaN, NA, NaT and null are missing, and integers among them stay integers."""
    package = package_of(SOME)
    write_dataset = package.module("some", "serializer").write_dataset
    rows = [
        {
            "number": number,
            "count": None if number % 3 else 2**40 + number,
            "score": None if number % 2 else number / 4,
            "name": None if number % 5 else f"name {number}",
            "flag": None if number % 4 else number % 8 == 0,
            "label": None if number % 7 else number % 3,
            "items": [number] * (number % 3),
            "free": number / 3,
        }
        for number in range(20)
    ]
    columns = columns_of(*rows)
    write_dataset(rows, tmp_path / "rows", "train", **options)
    write_dataset(FRAMES[kind](columns), tmp_path / "frame", "train", **options)
    for path in sorted((tmp_path / "rows").glob("train-*")):
        assert (tmp_path / "frame" / path.name).read_bytes() == path.read_bytes()


def test_a_gap_of_a_required_field_names_the_row(
    house: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match="row 1: field 'price'"):
        house.write_dataset(_frame(price=[1.0, 0.1, None]), tmp_path, "train")
    with pytest.raises(TypeError, match="'other'"):
        house.write_dataset(_frame(other=1), tmp_path, "train")
    with pytest.raises(RecordError, match=r"row 0: field 'built': found .*1990.5"):
        house.write_dataset(_frame(built=[1.0, 1990.5, None]), tmp_path, "train")


@pytest.mark.parametrize("value", [2.5, np.inf, 2.0**60])
def test_a_number_that_is_not_an_integer_names_its_row(
    house: ModuleType, tmp_path: Path, value: float
) -> None:
    """The integers before it are integers, though the column has floats."""
    frame = pd.concat([_frame(built=[1.0, 1990.0, None])] * 3)
    frame.iloc[4, 2] = value
    expected = r"row 4: field 'built': found (2\.5|inf|1\.15\S+) \(float64\)"
    with pytest.raises(RecordError, match=expected):
        house.write_dataset(frame, tmp_path, "train")


def test_a_nan_of_a_field_that_takes_it_stays(
    package_of: PackageOf, tmp_path: Path
) -> None:
    package = package_of(SOME)
    frame = pd.DataFrame({"number": [1, 2], "free": [np.nan, 1.5]})
    package.module("some", "serializer").write_dataset(frame, tmp_path, "train")
    split = package.module("some", "reader").open_split(tmp_path, "train")
    assert np.isnan(split[0]["free"])
    assert split[1]["count"] is None
