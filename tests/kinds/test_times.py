"""Times: those of Python, numpy and pandas are stored as integers of a unit, or refused."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command_line import run
from schemagen.runtime.shared.errors import RecordError

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

SCHEMA = """
from datetime import date, datetime, timedelta
from typing import Annotated
from schemagen import *

class Visit(Record):
    seconds: Annotated[datetime, Scalar("int64", unit="s")]
    millis: Annotated[datetime | None, Scalar("int64", unit="ms")] = None
    micros: Annotated[int | None, Scalar("int64", unit="us")] = None
    nanos: Annotated[datetime | None, Scalar("int64", unit="ns")] = None
    day: Annotated[date | None, Scalar("int64", unit="s")] = None
    took: Annotated[timedelta | None, Scalar("int64", unit="ms")] = None
    since: Annotated[datetime, Scalar("int64", unit="s", role="info")] = datetime(2024, 5, 1)

class Walk(SequenceRecord):
    number: int
    at: Annotated[list[datetime], Steps(Scalar("int64", unit="s"))]
"""

MAY = 1_714_521_600  # 2024-05-01 in UTC
BERLIN = timezone(timedelta(hours=2))
NOON = MAY + 12 * 3600

TAKEN: list[tuple[str, Any, int]] = [
    ("seconds", datetime(2024, 5, 1, 12), NOON),
    ("seconds", datetime(2024, 5, 1, 14, tzinfo=BERLIN), NOON),
    ("seconds", date(2024, 5, 1), MAY),
    ("seconds", datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), -1),
    ("seconds", np.datetime64("2024-05-01T12:00:00.000"), NOON),
    ("seconds", np.datetime64("2024-05-01"), MAY),
    ("seconds", pd.Timestamp("2024-05-01 14:00", tz="Europe/Berlin"), NOON),
    ("seconds", NOON, NOON),
    ("millis", datetime(2024, 5, 1, 0, 0, 0, 7000), MAY * 1000 + 7),
    ("micros", pd.Timestamp("2024-05-01 00:00:00.000007"), MAY * 10**6 + 7),
    ("nanos", pd.Timestamp("2024-05-01 00:00:00.000000007"), MAY * 10**9 + 7),
    ("nanos", np.datetime64("2024-05-01T00:00:00.000000007"), MAY * 10**9 + 7),
    ("took", timedelta(seconds=2), 2000),
    ("took", np.timedelta64(2, "s"), 2000),
    ("took", pd.Timedelta(milliseconds=-3), -3),
    ("took", 5, 5),
]

REFUSED: list[tuple[str, Any, str]] = [
    ("seconds", datetime(2024, 5, 1, 0, 0, 0, 7), "expected whole seconds"),
    ("seconds", np.datetime64("2024-05-01T00:00:00.5"), "expected whole seconds"),
    ("nanos", np.datetime64("9999-01-01T00:00:00", "s"), "expected whole nanoseconds"),
    ("nanos", datetime(9999, 1, 1), "int64"),
    ("millis", pd.Timestamp("2024-05-01 00:00:00.000000007"), "whole milliseconds"),
    ("seconds", pd.NaT, "default None"),
    ("seconds", np.datetime64("NaT"), "default None"),
    ("seconds", timedelta(1), "a point in time"),
    ("took", datetime(2024, 5, 1), "a duration"),
    ("took", np.datetime64("2024-05-01"), "a duration"),
    ("seconds", 1.5, "int64"),
    ("seconds", "2024-05-01", "expected a point in time"),
    ("seconds", None, "expected a point in time; the field is not optional"),
    ("took", "2 h", "expected a duration"),
]


@pytest.fixture(scope="module")
def visit(package_of: PackageOf) -> Workspace:
    """The package of a record with times."""
    return package_of(SCHEMA)


def _row(name: str, value: Any) -> dict[str, Any]:
    return {"seconds": 0, name: value}


def _stored(visit: Workspace, data: bytes) -> dict[str, Any]:
    parse = visit.module("visit", "parser").parse_example
    return {name: each.numpy().item() for name, each in parse(data).items()}


@pytest.mark.parametrize(("name", "value", "expected"), TAKEN)
def test_times_are_stored_as_integers(
    visit: Workspace, name: str, value: Any, expected: int
) -> None:
    """By row and by column, as the integer is."""
    serializer = visit.module("visit", "serializer")
    data = serializer.serialize(**_row(name, value))
    assert _stored(visit, data)[name] == expected
    assert data == serializer.serialize(**_row(name, expected))
    columns = {"seconds": [0, 0], name: [value, value]}
    assert serializer.serialize_batch(**columns) == [data, data]


@pytest.mark.parametrize(("name", "value", "words"), REFUSED)
def test_what_a_unit_cannot_hold_is_refused(
    visit: Workspace, name: str, value: Any, words: str
) -> None:
    """Nothing is cut off, and a duration is not a point in time."""
    serializer = visit.module("visit", "serializer")
    with pytest.raises(RecordError, match=name) as caught:
        serializer.serialize(**_row(name, value))
    assert words in str(caught.value)
    with pytest.raises(RecordError, match="row 1") as caught:
        serializer.serialize_batch(**{"seconds": [0, 0], name: [0, value]})
    assert words in str(caught.value)


@pytest.mark.parametrize("column", [list, np.array, pd.Series])
def test_a_text_among_times_is_refused(visit: Workspace, column: Any) -> None:
    """In its row, whatever holds the column."""
    serializer = visit.module("visit", "serializer")
    with pytest.raises(RecordError, match=r"row 0: .*expected a point in time"):
        serializer.serialize_batch(seconds=column(["2024-05-01", "2024-05-02"]))


@pytest.mark.parametrize("nat", [pd.NaT, np.datetime64("NaT"), None])
def test_nat_is_missing(visit: Workspace, nat: Any) -> None:
    """In rows and in columns of an optional field."""
    serializer = visit.module("visit", "serializer")
    without = serializer.serialize(seconds=0)
    assert serializer.serialize(seconds=0, millis=nat) == without
    assert serializer.serialize_batch(seconds=[0], millis=[nat]) == [without]


def test_columns_of_numpy_and_pandas_are_taken(
    visit: Workspace, tmp_path: Path
) -> None:
    """Of a batch and of a frame, with missing ones and with time zones."""
    serializer = visit.module("visit", "serializer")
    times = pd.Series(pd.to_datetime(["2024-05-01 00:00", None, "2024-05-01 12:00"]))
    took = pd.to_timedelta([1, None, 3], unit="s")
    rows = [
        serializer.serialize(seconds=0, millis=MAY * 1000, took=1000),
        serializer.serialize(seconds=1),
        serializer.serialize(seconds=2, millis=NOON * 1000, took=3000),
    ]
    for millis in (times, times.dt.tz_localize("UTC"), times.to_numpy(), list(times)):
        for lengths in (took, took.to_numpy(), list(took)):
            columns = {"seconds": [0, 1, 2], "millis": millis, "took": lengths}
            assert serializer.serialize_batch(**columns) == rows
            frame = pd.DataFrame(columns)
            data = tmp_path / "data"
            serializer.write_dataset(frame, data, "train", overwrite=True)
            split = visit.module("visit", "reader").open_split(data, "train")
            assert [row["millis"] for row in split] == [MAY * 1000, None, NOON * 1000]
            assert [row["took"] for row in split] == [1000, None, 3000]


def test_tables_have_times(visit: Workspace, tmp_path: Path) -> None:
    """Timestamps in UTC, and durations."""
    rows = [{"seconds": datetime(2024, 5, 1, 12), "took": timedelta(seconds=2)}]
    rows += [{"seconds": date(2024, 5, 1), "millis": datetime(2024, 5, 1)}]
    serializer = visit.module("visit", "serializer")
    serializer.write_dataset(rows, tmp_path, "train")
    split = visit.module("visit", "reader").open_split(tmp_path, "train")
    assert split[0]["seconds"] == NOON
    table = split.to_arrow()
    assert table.schema.field("seconds").type == pa.timestamp("s", tz="UTC")
    assert table.schema.field("took").type == pa.duration("ms")
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    midnight = datetime(2024, 5, 1, tzinfo=UTC)
    assert table["seconds"].to_pylist() == [noon, midnight]
    assert table["millis"].to_pylist() == [None, midnight]
    assert table["took"].to_pylist() == [timedelta(seconds=2), None]
    assert table["since"].to_pylist() == [midnight] * 2


def test_steps_have_times(visit: Workspace) -> None:
    """One in each step."""
    serialize = visit.module("walk", "serializer").serialize
    assert serialize(number=1, at=[datetime(2024, 5, 1), MAY + 1]) == serialize(
        number=1, at=[MAY, MAY + 1]
    )


def test_tools_show_dates(visit: Workspace, tmp_path: Path) -> None:
    """Of the first and the last."""
    days = pd.date_range("2024-05-01", "2024-11-30")
    rows = [{"seconds": day} for day in days]
    visit.module("visit", "serializer").write_dataset(rows, tmp_path, "train")
    assert "2024-05-01 to 2024-11-30" in run("inspect", tmp_path).output
    report = tmp_path / "report.html"
    assert run("inspect", tmp_path, "--html", report).exit_code == 0
    page = re.sub("<[^>]+>", "", report.read_text(encoding="utf-8"))
    assert "2024-05-01 to 2024-11-30" in page
    card = run("inspect", tmp_path, "--markdown").output
    assert "2024-05-01 to 2024-11-30" in card


def test_a_time_without_a_unit_is_advised(make_package: Any) -> None:
    """The advice depends on no time zone."""
    text = "from schemagen import *\n\nclass Visit(Record):\n    x: int\n"
    serialize = make_package(text).module("visit", "serializer").serialize
    for value in (datetime(2024, 5, 1), np.datetime64("2024-05-01"), timedelta(1)):
        with pytest.raises(RecordError, match="unit='s'"):
            serialize(x=value)


def test_records_keep_times(visit: Workspace) -> None:
    """An instance of the class has what it was given."""
    moment = datetime(2024, 5, 1, 12)
    record = visit.record("Visit")(seconds=moment, took=timedelta(seconds=1))
    assert record.seconds == moment
    assert record.took == timedelta(seconds=1)
