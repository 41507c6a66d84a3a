"""Rows that come one by one are encoded together, and no one can tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import row, rows, written
from published_splits import numbers_of, records_of

from generated import RecordError
from generated.digit.serializer import serialize, write_dataset

_COUNT = 3000


def _reusing() -> Iterator[dict[str, Any]]:
    """Give the same dict, array and list again and again, with other values."""
    given = row(0)
    given["moments"] = np.zeros(8, np.float32)
    for number in range(_COUNT):
        values = row(number)
        given["image"][:] = values["image"]
        given["ink_runs"][:] = values["ink_runs"]
        given["moments"][:] = values["moments"]
        given["digit"], given["scan"] = values["digit"], values["scan"]
        yield given


@pytest.mark.parametrize(
    "options", [{"shards": 2}, {"key_field": "scan", "shuffle_seed": 3}]
)
def test_a_source_may_use_the_memory_of_a_row_again(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """As loops that fill an array do; keys are those of the rows that were given."""
    found = written(tmp_path / "reused", _reusing(), **options)
    assert found == written(tmp_path / "new", iter(rows(_COUNT)), **options)


def test_the_first_of_several_wrong_rows_is_named(tmp_path: Path) -> None:
    """A wrong value is found later than a wrong name, and came first."""
    some = rows(900)
    some[700]["digit"] = 10
    some[702]["unknown"] = 1
    some[701]["scan"] = 0.5
    with pytest.raises(RecordError, match=r"row 700.*digit"):
        write_dataset(iter(some), tmp_path, "train")
    del some[700]["digit"]
    with pytest.raises(TypeError, match=r"row 700.*digit"):
        write_dataset(iter(some), tmp_path, "train")


@pytest.mark.parametrize("form", [list, iter])
def test_rows_before_a_wrong_one_are_written(tmp_path: Path, form: Any) -> None:
    """All of them: a run that goes on begins with the last shard before it."""
    some = rows(40)
    some[25]["scan"] = "x"
    options: dict[str, Any] = {"shard_bytes": 1}
    with pytest.raises(RecordError, match="row 25"):
        write_dataset(form(some), tmp_path / "data", "train", **options)
    seen: list[Any] = []
    options |= {"resume": True, "progress": seen.append}
    found = written(tmp_path / "data", form(rows(40)), **options)
    assert seen[-1].records in (15, 16)
    assert found == written(tmp_path / "whole", rows(40), shard_bytes=1)


def test_wrong_rows_side_by_side_are_left_out(tmp_path: Path) -> None:
    some = rows(40)
    some[25]["scan"] = "x"
    some[26]["scan"] = None
    report = tmp_path / "refused"
    with pytest.warns(RuntimeWarning, match="2 rows"):
        write_dataset(some, tmp_path / "data", "train", on_error="skip", refused=report)
    assert numbers_of(tmp_path / "data") == [[*range(25), *range(27, 40)]]
    lines = map(json.loads, report.read_text().splitlines())
    assert [line["row"] for line in lines] == [25, 26]


class _Array:
    """An array of another library."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype)


def test_values_that_cannot_be_copied_are_encoded_at_once(tmp_path: Path) -> None:
    """Among others, in the order of rows."""
    some = rows(50)
    for number in range(0, 50, 7):
        some[number]["moments"] = _Array(some[number]["moments"])
    write_dataset(iter(some), tmp_path, "train", shards=1)
    expected = [serialize(**each) for each in rows(50)]
    assert records_of(tmp_path) == expected
