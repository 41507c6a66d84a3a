"""Rows that come one by one are encoded together, and no one can tell."""

from __future__ import annotations

import json
import runpy
from collections import namedtuple
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from digit_rows import row, rows, written
from published_splits import numbers_of, records_of

from generated import RecordError
from generated.digit.serializer import serialize, write_dataset

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

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


# Rows of every form, in a chunk with others.


_MIXED = """
from datetime import datetime
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from schemagen import *


class Arm(BaseModel):
    joints: Annotated[np.ndarray, Vector((2,))]
    gripper: float | None = None


class Robot(BaseModel):
    arm: Arm
    words: list[str]


class Mixed(Record):
    robot: Robot
    count: int
    grid: Annotated[np.ndarray | None, Vector((2, 2), dtype="int64")] = None
    path: Annotated[np.ndarray, VarLen("float32", item_shape=(2,))]
    at: Annotated[datetime | None, Scalar("int64", unit="s")] = None
    a: Annotated[list[int], VarLen("int64", group="pair")]
    b: Annotated[list[int], VarLen("int64", group="pair")]


class Alone(Record):
    values: Annotated[np.ndarray, VarLen("int64")]
"""


@pytest.fixture(scope="module")
def mixed(package_of: PackageOf) -> Workspace:
    return package_of(_MIXED)


def _arm(number: int) -> dict[str, Any]:
    return {"joints": np.float32([number, 2])} | (
        {"gripper": 0.5} if number % 3 else {}
    )


def _row(number: int, instances: SimpleNamespace) -> Any:
    """Return a row whose values have another form, dtype or length than those before."""
    arm: Any = _arm(number)
    robot: Any = {"arm": arm, "words": ["w"] * (number % 4)}
    if number % 5 == 0:
        robot["arm"] = instances.Arm(**arm)
    if number % 7 == 0:
        robot = instances.Robot(**robot)
    given: dict[str, Any] = {
        "robot": robot,
        "count": [number, np.int64(number), np.int32(number)][number % 3],
        "path": [
            np.full((2, 2), number, np.float32),
            np.full((number % 4, 2), number, np.float64),
            [[number, 0.5]],
            [],
        ][number % 4],
        "a": [],
        "b": [],
    }
    if number % 4:
        grid = np.arange(4).reshape(2, 2) + number
        given["grid"] = [grid, grid.T, grid.astype(np.int16), grid.tolist()][number % 3]
    if number % 2:
        times = [datetime(2026, 1, 1), np.datetime64("NaT"), np.datetime64(1, "s")]
        given["at"] = times[number % 3]
    if number % 11 == 0:
        return instances.Mixed(**{k: v for k, v in given.items() if k != "at"})
    if number % 13 == 0:
        return namedtuple("Given", given)(**given)
    return given


@pytest.fixture(scope="module")
def instances(mixed: Workspace) -> SimpleNamespace:
    path = mixed.root / "schemas" / "records.py"
    return SimpleNamespace(**runpy.run_path(str(path)))


def _fields(given: Any) -> dict[str, Any]:
    fields: dict[str, Any] = (
        given._asdict() if hasattr(given, "_asdict") else dict(given)
    )
    return fields


@pytest.mark.parametrize("step", [1, 4, 12])
def test_rows_of_any_form_have_the_bytes_of_serialize(
    mixed: Workspace, instances: SimpleNamespace, tmp_path: Path, step: int
) -> None:
    """Dicts, named tuples, instances and nested ones, whatever the other rows are."""
    serializer = mixed.module("mixed", "serializer")
    some = [_row(number, instances) for number in range(0, 400 * step, step)]
    serializer.write_dataset(iter(some), tmp_path, "train", shards=1)
    assert records_of(tmp_path) == [
        serializer.serialize(**_fields(each)) for each in some
    ]


_WRONG: list[tuple[str, Any]] = [
    ("count", "x"),
    ("count", 2**70),
    ("count", None),
    ("path", [[1.0, float("inf")]]),
    ("path", np.zeros((2, 3))),
    ("grid", np.zeros((2, 2))),
    ("grid", [[1, 2], [3]]),
    ("at", np.datetime64(1, "ms")),
    ("robot", {"arm": {}, "words": []}),
    ("robot", {"arm": _arm(1), "words": [], "other": 1}),
    ("robot", None),
    ("a", [1]),  # and b has no item
    ("more", 1),
]


@pytest.mark.parametrize("every", [1, 2, 9, 100])
def test_rows_that_are_left_out_are_those_that_serialize_refuses(
    mixed: Workspace, instances: SimpleNamespace, tmp_path: Path, every: int
) -> None:
    """For the same reason, however many are wrong; the other rows are written."""
    serializer = mixed.module("mixed", "serializer")
    some = [_fields(_row(number, instances)) for number in range(300)]
    for number in range(0, 300, every):
        name, value = _WRONG[number // every % len(_WRONG)]
        some[number] |= {name: value}
    expected, reasons = [], {}
    for number, each in enumerate(some):
        try:
            expected.append(serializer.serialize(**each))
        except RecordError as error:
            reasons[number] = (error.field, error.found, error.expected, error.advice)
        except TypeError:
            reasons[number] = ("more", "an unknown field")
    report = tmp_path / "refused"
    with pytest.warns(RuntimeWarning, match=r"rows? w(as|ere) left out"):
        serializer.write_dataset(
            *(some, tmp_path / "data", "train"),
            **{"on_error": "skip", "refused": report, "allow_empty": True},
        )
    assert records_of(tmp_path / "data") == expected
    lines = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert [line["row"] for line in lines] == [*reasons]
    for line, reason in zip(lines, reasons.values(), strict=True):
        found = [line[key] for key in ("field", "found", "expected", "advice")]
        assert found[: len(reason)] == [*reason]


def test_an_array_of_a_row_that_is_not_kept_is_not_that_of_the_next(
    mixed: Workspace, instances: SimpleNamespace, tmp_path: Path
) -> None:
    """Such as of a row with a value that cannot be copied, and is encoded at once."""
    serializer = mixed.module("mixed", "serializer")
    first, second = (_fields(_row(number, instances)) for number in (1, 2))
    first["at"] = _Array(7)
    second["grid"] = None
    serializer.write_dataset([first, second], tmp_path, "train")
    assert records_of(tmp_path) == [
        serializer.serialize(**{**first, "at": 7}),
        serializer.serialize(**second),
    ]


def test_arrays_of_any_size_may_be_used_again(mixed: Workspace, tmp_path: Path) -> None:
    """Also where their length differs from row to row, and in a record of one field."""
    serializer = mixed.module("alone", "serializer")
    memory = np.zeros(300_000, np.int64)
    lengths = [3, 3, 300_000, 5, 0, 0, 300_000, 3]

    def reusing() -> Iterator[dict[str, Any]]:
        for number, length in enumerate(lengths):
            memory[:] = number
            yield {"values": memory[:length]}

    serializer.write_dataset(reusing(), tmp_path, "train")
    assert records_of(tmp_path) == [
        serializer.serialize(values=[number] * length)
        for number, length in enumerate(lengths)
    ]


def test_what_object_arrays_hold_may_be_used_again(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """A copy of such an array would hold the same lists."""
    module = package_of(
        """
from typing import Annotated

from schemagen import Ragged, Record


class Listed(Record):
    lists: Annotated[list[list[int]], Ragged("int64")]
"""
    ).module("listed", "serializer")

    def source() -> Iterator[dict[str, Any]]:
        first, second = np.array([0]), np.array([0, 0])
        lists = np.empty(2, object)
        lists[:] = [first, second]
        for number in range(4):
            first[:], second[:] = number, 10 * number
            yield {"lists": lists}

    module.write_dataset(source(), tmp_path / "reused", "train")
    rows = [{"lists": [[n], [10 * n, 10 * n]]} for n in range(4)]
    module.write_dataset(rows, tmp_path / "new", "train")
    name = "train-00000-of-00001.tfrecord"
    assert (tmp_path / "reused" / name).read_bytes() == (
        tmp_path / "new" / name
    ).read_bytes()
