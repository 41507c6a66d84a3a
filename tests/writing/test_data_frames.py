"""Rows and columns of pandas."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
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
    with pytest.raises(RecordError, match=r"row 0: field 'built': found 1990.0"):
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


def test_the_page_runs(tmp_path: Path) -> None:
    """Its schema and program, which writes three splits of three records."""
    (tmp_path / "schemas").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.schemagen]\n", encoding="utf-8")
    (tmp_path / "schemas" / "house.py").write_text(SCHEMA, encoding="utf-8")
    # Programs that tests start have no pandas, as `lean` says.
    given = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    for command in (("-m", "schemagen", "generate"), ("-c", PROGRAM)):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=given,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    names = {path.name.partition("-")[0] for path in (tmp_path / "data").glob("*-*")}
    assert names == {"train", "val", "test"}
