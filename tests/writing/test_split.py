"""Writing a whole split from sources of all forms, in one go or after interruptions."""

from __future__ import annotations

import functools
import json
import operator
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from schemagen.runtime.shared.errors import DatasetError, RecordError
from schemagen.runtime.shared.tfrecord import read_records
from schemagen.runtime.storage import manifest
from schemagen.runtime.writing.progress import Progress
from splits import write_split

COUNT = 3000


def serialize(*, n: int) -> bytes:
    """A record whose size varies; negative numbers are refused."""
    if n < 0:
        raise RecordError("n", f"{n}", "0 or more")
    return b"%d " % n + b"x" * (n % 50)


class Stopped(Exception):
    """Ends a run in the middle."""


class Indexed:
    """Rows by index, until one that cannot be loaded."""

    def __init__(self, stop: int | None, numbers: range) -> None:
        self._stop = stop
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> dict[str, int]:
        # Those after it too: several workers may be at them at the same time.
        if self._stop is not None and index >= self._stop:
            raise Stopped
        return {"n": self._numbers[index]}


def stream(stop: int | None, numbers: range = range(COUNT)) -> Iterator[dict[str, int]]:
    """The same rows, one after the other."""
    source = Indexed(stop, numbers)
    return (source[index] for index in range(len(source)))


def indexed(stop: int | None, numbers: range = range(COUNT)) -> Indexed:
    """The same rows by index."""
    return Indexed(stop, numbers)


def parts(stop: int | None, numbers: range = range(COUNT)) -> list[Callable[[], Any]]:
    """The same rows, from a source for each of five shards."""
    source = Indexed(stop, numbers)
    size = len(source) // 5

    def part(number: int) -> Callable[[], Any]:
        return lambda: (source[i] for i in range(number * size, (number + 1) * size))

    return [part(number) for number in range(5)]


Make = Callable[..., Any]
SOURCES: dict[str, Make] = {"stream": stream, "indexed": indexed, "parts": parts}


def write(source: Any, directory: Path, **options: Any) -> int:
    """Write a split of the test's own record."""
    named = {"record": "note", "spec": {"record": "note", "fields": []}, **options}
    return write_split(
        source, serialize, directory, "train", fingerprint="aaaa", **named
    )


def contents(directory: Path) -> dict[str, bytes]:
    """The bytes of all files in a directory, hidden ones too."""
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def numbers_in(directory: Path) -> list[list[int]]:
    """The numbers in each shard, in order."""
    return [
        [int(record.split()[0]) for record in read_records(path)]
        for path in sorted(directory.glob("train*"))
    ]


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "by size": {"shard_bytes": 20_000},
    "by number": {"shards": 4},
    "shuffled": {"shuffle_seed": 3, "shard_bytes": 20_000},
    "shuffled by number": {"shuffle_seed": 3, "shards": 4},
    "shuffled by keys": {"key_field": "n", "shuffle_seed": 5},
    "GZIP": {"compression": "GZIP", "shard_bytes": 20_000, "compression_level": 1},
    "ZLIB": {"compression": "ZLIB", "shuffle_seed": 1, "shards": 2},
}
# Each option goes with an iterable, and those that a source takes part in with all. A
# function for each shard makes the number of shards.
CASES = [
    (source, name)
    for source in SOURCES
    for name in OPTIONS
    if source == "stream"
    or (
        (name in ("plain", "by size", "by number", "shuffled", "shuffled by keys"))
        and (source, name) != ("parts", "by number")
    )
]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("source", "options"), CASES)
def test_the_files_are_the_same_for_any_number_of_workers(
    tmp_path: Path, source: str, options: str
) -> None:
    """With 1, 2 and 3 workers there is each record once, and each file is the same."""
    found = []
    for workers in (1, 2, 3):
        directory = tmp_path / str(workers)
        rows = SOURCES[source](None)
        assert write(rows, directory, workers=workers, **OPTIONS[options]) == COUNT
        found.append(contents(directory))
    assert found[0] == found[1] == found[2]
    assert sorted(
        functools.reduce(operator.iadd, numbers_in(tmp_path / "1"), [])
    ) == list(range(COUNT))
    assert not [name for name in found[0] if name.startswith(".")]


def test_which_rows_go_where(tmp_path: Path) -> None:
    """In turn where the length is unknown, else in blocks; by function; or shuffled."""
    write(stream(None), tmp_path / "stream", shards=4)
    assert numbers_in(tmp_path / "stream") == [
        list(range(n, COUNT, 4)) for n in range(4)
    ]
    blocks = [list(range(750 * n, 750 * (n + 1))) for n in range(4)]
    write(indexed(None), tmp_path / "indexed", shards=4)
    assert numbers_in(tmp_path / "indexed") == blocks
    write(parts(None), tmp_path / "parts")
    assert numbers_in(tmp_path / "parts") == [
        list(range(600 * n, 600 * (n + 1))) for n in range(5)
    ]
    write(stream(None), tmp_path / "shuffled", shards=4, shuffle_seed=1)
    shuffled = numbers_in(tmp_path / "shuffled")
    assert [len(shard) for shard in shuffled] == [750] * 4
    assert sorted(functools.reduce(operator.iadd, shuffled, [])) == list(range(COUNT))
    assert all(len({n // 300 for n in shard}) == 10 for shard in shuffled)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("source", "options"), [c for c in CASES if "key" not in c[1]])
def test_resuming_gives_the_bytes_of_an_uninterrupted_run(
    tmp_path: Path, source: str, options: str, workers: int
) -> None:
    """Runs that stop at three rows, then one that does not: the same files."""
    make, named = SOURCES[source], {**OPTIONS[options], "workers": workers}
    write(make(None), tmp_path / "whole", **named)
    for stop in (100, 1700, 2900):
        with pytest.raises(Stopped):
            write(make(stop), tmp_path / "resumed", resume=True, **named)
        assert manifest.load(tmp_path / "resumed") is None
    assert write(make(None), tmp_path / "resumed", resume=True, **named) == COUNT
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


def test_resuming_does_not_write_anew_what_is_finished(tmp_path: Path) -> None:
    """Only rows after the last finished shard are encoded, and the error counts."""
    with pytest.raises(Stopped) as caught:
        write(indexed(2900), tmp_path, shards=4)
    assert caught.value.__notes__[-1] == (
        "2250 records of split 'train' are in finished shards: resume=True goes on "
        "after them, and a run without it removes them"
    )
    seen: list[Progress] = []
    assert write(indexed(None), tmp_path, shards=4, resume=True, progress=seen.append)
    assert seen[-1].records == 750


def test_what_is_resumed_must_be_the_same_run(tmp_path: Path) -> None:
    """Other arguments or another number of rows are refused, and named."""
    with pytest.raises(Stopped):
        write(indexed(2900), tmp_path, shards=4)
    before = contents(tmp_path)
    with pytest.raises(DatasetError) as caught:
        write(indexed(None, range(5)), tmp_path, shards=3, resume=True)
    assert str(caught.value) == (
        f"{tmp_path}: split 'train' cannot be resumed: the run that was interrupted had "
        "rows=3000 (now 5), parts=4 (now 3), shards=4 (now 3); ask for the same, or "
        "begin again with resume=False"
    )
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("stream", {"shard_bytes": 20_000}),
        ("indexed", {"shard_bytes": 20_000}),
        ("indexed", {"shards": 4}),
    ],
)
def test_a_source_that_has_changed_is_not_resumed(
    tmp_path: Path, source: str, options: dict[str, Any]
) -> None:
    """The last row that was written is compared with what the source has there now."""
    make = SOURCES[source]
    with pytest.raises(Stopped):
        write(make(2900), tmp_path, **options)
    with pytest.raises(
        DatasetError, match=r"the source has changed: row \d+ is not"
    ) as caught:
        write(make(None, range(1, COUNT + 1)), tmp_path, resume=True, **options)
    assert not hasattr(caught.value, "__notes__")


def test_a_source_that_has_become_shorter_is_not_resumed(tmp_path: Path) -> None:
    """Going on after rows that are not there any more is an error."""
    with pytest.raises(Stopped):
        write(stream(2900), tmp_path, shard_bytes=20_000)
    with pytest.raises(
        DatasetError, match="the source has 600 rows, expected at least"
    ):
        write(stream(None, range(600)), tmp_path, resume=True, shard_bytes=20_000)


def test_a_complete_split_is_not_resumed(tmp_path: Path) -> None:
    """It says that nothing is left to do, and replaces nothing."""
    write(indexed(None), tmp_path, resume=True)
    with pytest.raises(DatasetError) as caught:
        write(indexed(None), tmp_path, resume=True)
    assert str(caught.value) == (
        f"{tmp_path}/manifest.json: split 'train' exists with {COUNT} records; it is "
        "complete, and there is nothing to resume; pass overwrite=True to replace it"
    )


def test_a_run_without_resume_begins_anew_and_says_so(tmp_path: Path) -> None:
    """What an interrupted run had finished is removed, with a word on what it was."""
    with pytest.raises(Stopped):
        write(indexed(2900), tmp_path, shards=4)
    with pytest.warns(
        RuntimeWarning, match="3 shards of split 'train' with 2250 records"
    ):
        write(indexed(None), tmp_path, shard_bytes=20_000)
    assert not [name for name in contents(tmp_path) if name.startswith(".")]


# Rows that are refused.


def _some_bad(source: str) -> Any:
    """Rows of which every hundredth is refused."""
    rows = [{"n": -n if n % 100 == 7 else n} for n in range(COUNT)]
    if source == "parts":
        return [lambda at=at: iter(rows[at : at + 600]) for at in range(0, COUNT, 600)]
    return rows if source == "indexed" else iter(rows)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("source", list(SOURCES))
@pytest.mark.parametrize("options", ["plain", "shuffled", "by size"])
def test_refused_rows_are_left_out_and_reported(
    tmp_path: Path, source: str, options: str
) -> None:
    """The same rows, reasons and files for any number of workers."""
    found = []
    for workers in (1, 2):
        report = tmp_path / f"{workers}.jsonl"
        with pytest.warns(
            RuntimeWarning, match=r"30 rows were left out \(30 for field"
        ):
            count = write(
                _some_bad(source),
                tmp_path / str(workers),
                on_error="skip",
                refused=report,
                workers=workers,
                **OPTIONS[options],
            )
        assert count == COUNT - 30
        found.append((contents(tmp_path / str(workers)), report.read_text()))
    assert found[0] == found[1]
    lines = [json.loads(line) for line in found[0][1].splitlines()]
    places = [line.get("shard", 0) * 600 + line["row"] for line in lines]
    assert places == list(range(7, COUNT, 100))
    assert lines[0] | {"shard": 0} == {
        "shard": 0,
        "row": 7,
        "field": "n",
        "found": "-7",
        "expected": "0 or more",
        "advice": "",
    }


@pytest.mark.parametrize("source", list(SOURCES))
def test_the_report_of_a_resumed_run_is_whole(tmp_path: Path, source: str) -> None:
    """Refused rows before and after the interruption are reported once each."""
    options = {"on_error": "skip", "refused": tmp_path / "refused", "shard_bytes": 9000}

    def rows(stop: int | None) -> Any:
        return SOURCES[source](stop, range(-50, COUNT - 50))

    directory = tmp_path / "data"
    with pytest.raises(Stopped):
        write(rows(2000), directory, **options)
    with pytest.warns(RuntimeWarning, match="50 rows were left out"):
        write(rows(None), directory, resume=True, **options)
    lines = map(json.loads, (tmp_path / "refused").read_text().splitlines())
    assert [line["row"] for line in lines] == list(range(50))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("source", list(SOURCES))
def test_the_first_refused_row_ends_the_writing(
    tmp_path: Path, source: str, workers: int
) -> None:
    """It is named with its position, and nothing is left behind."""
    with pytest.raises(RecordError) as caught:
        write(_some_bad(source), tmp_path / "data", workers=workers)
    shard = {"parts": "shard 0, "}.get(source, "")
    if source != "parts" or workers == 1:
        assert str(caught.value) == (
            f"{shard}row 7: field 'n': found -7, expected 0 or more"
        )
    assert contents(tmp_path / "data") == {}


# Keys.


@pytest.mark.parametrize("options", [{}, {"shards": 3}])
@pytest.mark.parametrize("workers", [1, 2])
def test_equal_keys_are_an_error(
    tmp_path: Path, options: dict[str, Any], workers: int
) -> None:
    """Both positions are named, and nothing is published."""
    rows = [{"n": n if n != 2500 else 40} for n in range(COUNT)]
    with pytest.raises(DatasetError) as caught:
        write(rows, tmp_path, key_field="n", shuffle_seed=3, workers=workers, **options)
    assert "rows 40 and 2500 have the same value" in str(caught.value)
    assert contents(tmp_path) == {}


def test_keys_of_shards_count_in_all_of_them(tmp_path: Path) -> None:
    """Equal keys in different sources are named with their shards."""
    sources = [lambda: iter([{"n": 1}, {"n": 2}]), lambda: iter([{"n": 3}, {"n": 2}])]
    with pytest.raises(DatasetError, match="row 1 of part 0 and row 1 of part 1"):
        write(sources, tmp_path, key_field="n", shuffle_seed=3)


def test_an_order_by_keys_does_not_depend_on_the_source(tmp_path: Path) -> None:
    """The same records in another order make the same files."""
    backwards = range(COUNT - 1, -1, -1)
    for name, numbers in (("a", range(COUNT)), ("b", backwards)):
        write(stream(None, numbers), tmp_path / name, key_field="n", shuffle_seed=2)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


# What is asked for.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers=0: expected an integer from 1"),
        ({"workers": True}, "workers=True: expected an integer from 1"),
        ({"on_error": "ignore"}, "on_error='ignore': expected 'raise' or 'skip'"),
        (
            {"refused": "rows"},
            "refused='rows' is for on_error='skip': otherwise no row is left out",
        ),
        (
            {"key_field": "n"},
            "key_field='n' without shuffle_seed: keys are compared while shuffling; pass "
            "shuffle_seed too",
        ),
        (
            {"compression_level": 3},
            "compression_level=3 without compression: pass compression='GZIP' or 'ZLIB' "
            "with it",
        ),
        (
            {"compression": "GZIP", "compression_level": 10},
            "compression_level=10: expected 1 to 9, or None",
        ),
        ({"shuffle_seed": 0.5}, "shuffle_seed=0.5: expected an integer, or None"),
        (
            {"key_field": "m", "shuffle_seed": 1},
            "key_field='m': expected one of the fields n",
        ),
    ],
)
def test_what_cannot_be_asked_for(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    """It is refused before anything is touched."""
    with pytest.raises(DatasetError) as caught:
        write(indexed(None), tmp_path / "data", **options)
    assert str(caught.value) == message
    assert not (tmp_path / "data").exists()


def test_shards_and_functions_must_agree(tmp_path: Path) -> None:
    """A function for each shard leaves no choice of their number."""
    with pytest.raises(DatasetError) as caught:
        write(parts(None), tmp_path, shards=4)
    assert str(caught.value) == (
        "shards=4: the source has a function for each of 5 shards; leave `shards` out, "
        "or shuffle with shuffle_seed"
    )


@pytest.mark.parametrize("level", [1, 9])
def test_levels_of_compression(tmp_path: Path, level: int) -> None:
    """The level reaches the files, which hold the same records."""
    options = {"compression": "GZIP", "compression_level": level}
    write(indexed(None), tmp_path, **options)
    assert numbers_in(tmp_path) == [list(range(COUNT))]
    size = sum(len(data) for data in contents(tmp_path).values())
    write(indexed(None), tmp_path, compression="GZIP", overwrite=True)
    usual = sum(len(data) for data in contents(tmp_path).values())
    assert size > usual if level == 1 else size <= usual


def test_progress_counts_every_record(tmp_path: Path) -> None:
    """The last call has all records, their bytes, and how many there were to be."""
    seen: list[Progress] = []
    write(indexed(None), tmp_path, progress=seen.append)
    size = sum(path.stat().st_size for path in tmp_path.glob("train*"))
    assert (seen[-1].records, seen[-1].bytes, seen[-1].total) == (COUNT, size, COUNT)


def test_a_usual_run_warns_of_nothing(tmp_path: Path) -> None:
    """Warnings are for what somebody should look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(indexed(None), tmp_path, shards=3, workers=2, shuffle_seed=1)
        write(indexed(None), tmp_path, resume=True, overwrite=True)
