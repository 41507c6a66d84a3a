"""The report of rows that were left out."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.writing.encoding import Refused
from schemagen.runtime.writing.refused import Report


def refused(row: int, field: str = "age", part: int | None = None) -> Refused:
    return Refused(row, field, f"found {row}", "an integer", "", part)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_line_for_each_row(tmp_path: Path) -> None:
    """What was there before is replaced; each line is there as soon as it is told."""
    path = tmp_path / "refused.jsonl"
    path.write_text("of an earlier run\n", encoding="utf-8")
    with Report(path, "train") as report:
        assert path.read_text("utf-8") == ""
        report.add([Refused(7, "größe", "'\ud800'", "text", "encode it", None)])
        assert lines(path) == [
            {
                "row": 7,
                "field": "größe",
                "found": "'\ud800'",
                "expected": "text",
                "advice": "encode it",
            }
        ]
    assert "größe" in path.read_text("utf-8")
    assert report.rows == 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_lines_are_in_the_order_of_shards_and_rows(tmp_path: Path) -> None:
    """However the chunks of several shards came, the file is the same."""
    path = tmp_path / "refused.jsonl"
    with Report(path, "train") as report:
        report.add([refused(10, "größe", 1), refused(11, "age", 1)])
        report.add([refused(5, "\ud800", 0)])
        report.add([refused(12, "age", 1)])
        report.add([refused(300, "age", 0)])
    found = [(line["shard"], line["row"]) for line in lines(path)]
    assert found == [(0, 5), (0, 300), (1, 10), (1, 11), (1, 12)]
    assert [line["found"] for line in lines(path)][2] == "found 10"
    assert [entry.name for entry in tmp_path.iterdir()] == ["refused.jsonl"]


def test_nothing_refused(tmp_path: Path) -> None:
    """An empty file says that there was nothing, and no warning is given."""
    path = tmp_path / "refused.jsonl"
    with warnings.catch_warnings(), Report(path, "train") as report:
        warnings.simplefilter("error")
        report.add([])
    assert path.read_text("utf-8") == ""


@pytest.mark.parametrize("several", [False, True])
def test_the_warning(tmp_path: Path, several: bool) -> None:
    """It counts rows by field, shows the first few, and says where all of them are."""
    path = tmp_path / "refused.jsonl"
    rows = [refused(9), refused(4, "kind"), refused(5, ""), refused(6), refused(7)]
    with (
        pytest.warns(RuntimeWarning) as caught,
        Report(path if several else None, "train") as report,
    ):
        report.add(rows)
    where = f"see {path}" if several else "pass refused=, a path, for a report of them"
    assert str(caught[0].message) == (
        "split 'train': 5 rows were left out (3 for field 'age', 1 for the row as a whole, 1 for "
        f"field 'kind'); {where}:\n"
        "  row 4: field 'kind': found found 4, expected an integer\n"
        "  row 5: found found 5, expected an integer\n"
        "  row 6: field 'age': found found 6, expected an integer\n"
        "  and 2 more"
    )


def test_one_row(tmp_path: Path) -> None:
    """One row is spoken of as one."""
    with (
        pytest.warns(
            RuntimeWarning,
            match=r"^split 'train': 1 row was left out \(1 for field 'age'\)",
        ),
        Report(None, "train") as report,
    ):
        report.add([refused(9)])


def test_an_error_leaves_the_lines(tmp_path: Path) -> None:
    """What was reported before an error can be read, without a warning next to it."""
    path = tmp_path / "refused.jsonl"

    def fail() -> None:
        with Report(path, "train") as report:
            report.add([refused(9)])
            raise OSError("disk full")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OSError, match="disk full"):
            fail()
    assert [line["row"] for line in lines(path)] == [9]


def test_going_on_from_an_earlier_run(tmp_path: Path) -> None:
    """Lines that still hold are kept and counted; others, and half ones, are not."""
    path = tmp_path / "refused.jsonl"
    with pytest.warns(RuntimeWarning), Report(path, "train") as report:
        report.add([refused(1, part=0), refused(2, part=0), refused(1, part=1)])
    with path.open("a", encoding="utf-8") as file:
        file.write('[]\n"x"\n{"row": "1"}\n{"shard": 0, "ro')
    with (
        pytest.warns(RuntimeWarning, match="^split 'train': 3 rows were left out"),
        Report(path, "train", keep=lambda shard, row: shard == 0) as report,
    ):
        report.add([refused(8, part=1)])
    found = [(line["shard"], line["row"]) for line in lines(path)]
    assert found == [(0, 1), (0, 2), (1, 8)]


def test_going_on_without_an_earlier_report(tmp_path: Path) -> None:
    """There may be none to keep lines of."""
    path = tmp_path / "refused.jsonl"
    with Report(path, "train", keep=lambda shard, row: True) as report:
        assert report.rows == 0
    assert path.read_text("utf-8") == ""


def test_a_remote_path() -> None:
    """The report grows line by line, which remote files cannot."""
    with pytest.raises(DatasetError) as caught:
        Report("gs://bucket/refused.jsonl", "train")
    assert str(caught.value) == (
        "refused='gs://bucket/refused.jsonl': expected a local path"
    )


def test_a_path_that_leads_to_no_file_is_refused(tmp_path: Path) -> None:
    """What is there is read and may be replaced: never a directory, device or pipe."""
    for path in (str(tmp_path), os.devnull):
        with pytest.raises(DatasetError) as caught:
            Report(path, "train")
        assert str(caught.value) == (
            f"refused={path!r}: expected the path of a file, found a directory, a device "
            "or a pipe"
        )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="it is of Linux")
def test_a_disk_error_names_the_report(tmp_path: Path) -> None:
    """The errors of open files do not say whose they are."""
    path = tmp_path / "refused.jsonl"
    report = Report(path, "train")
    report._file = open("/dev/full", "w")  # noqa: SIM115
    with pytest.raises(OSError, match="No space left") as caught:
        report.add([refused(9)])
    assert caught.value.filename == str(path)
