"""Writing a whole split from sources of all forms, in one go or after interruptions."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import contents, row
from published_splits import hidden, names, numbers_of

from generated import DatasetError, RecordError
from generated.digit.serializer import Writer, write_dataset

COUNT = 3000


class Stopped(Exception):
    """Ends a run in the middle."""


class Indexed:
    """Rows by index, until one that cannot be loaded; those of negative numbers are wrong."""

    def __init__(self, stop: int | None, numbers: range) -> None:
        self._stop = stop
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> dict[str, Any]:
        # Those after it too: several workers may be at them at the same time.
        if self._stop is not None and index >= self._stop:
            raise Stopped
        number = self._numbers[index]
        return row(number) if number >= 0 else {**row(-number), "digit": 17}


def stream(stop: int | None, numbers: range = range(COUNT)) -> Iterator[dict[str, Any]]:
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
    """Write the split `train`."""
    return write_dataset(source, directory, "train", **options)


BY_SIZE = {"shard_bytes": 100_000}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "by size": BY_SIZE,
    "by number": {"shards": 4},
    "shuffled": {"shuffle_seed": 3, **BY_SIZE},
    "shuffled by number": {"shuffle_seed": 3, "shards": 4},
    "shuffled by keys": {"key_field": "scan", "shuffle_seed": 5},
    "GZIP": {"compression": "GZIP", **BY_SIZE, "compression_level": 1},
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


def processes(source: str, options: str) -> list[int]:
    """How many processes may write a source."""
    whole = source == "parts" and "shuffled" not in options
    return [1, 2, 3] if source == "indexed" or whole else [1]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("source", "options"), CASES)
def test_the_files_are_the_same_for_any_number_of_workers(
    tmp_path: Path, source: str, options: str
) -> None:
    """There is each record once, and each file is the same."""
    found: list[dict[str, bytes]] = []
    for workers in processes(source, options):
        directory = tmp_path / str(workers)
        rows = SOURCES[source](None)
        assert write(rows, directory, workers=workers, **OPTIONS[options]) == COUNT
        found.append(contents(directory))
    assert all(each == found[0] for each in found)
    assert sorted(chain(*numbers_of(tmp_path / "1"))) == list(range(COUNT))
    assert hidden(tmp_path / "1") == []


def test_rows_go_to_shards_in_turn_in_blocks_or_shuffled(tmp_path: Path) -> None:
    """In turn where the length is unknown, else in blocks; by function; or shuffled."""
    write(stream(None), tmp_path / "stream", shards=4)
    assert numbers_of(tmp_path / "stream") == [
        list(range(n, COUNT, 4)) for n in range(4)
    ]
    # More than one time around, and more shards than rows.
    write(stream(None, range(50)), tmp_path / "few", shards=60)
    assert numbers_of(tmp_path / "few") == [[n] for n in range(50)] + [[]] * 10
    write(indexed(None), tmp_path / "indexed", shards=4)
    assert numbers_of(tmp_path / "indexed") == [
        list(range(750 * n, 750 * (n + 1))) for n in range(4)
    ]
    write(indexed(None, range(5)), tmp_path / "uneven", shards=3)
    assert sorted(map(len, numbers_of(tmp_path / "uneven"))) == [1, 2, 2]
    write(parts(None), tmp_path / "parts")
    assert numbers_of(tmp_path / "parts") == [
        list(range(600 * n, 600 * (n + 1))) for n in range(5)
    ]
    write(stream(None), tmp_path / "shuffled", shards=4, shuffle_seed=1)
    shuffled = numbers_of(tmp_path / "shuffled")
    assert all(abs(len(shard) - 750) < 120 for shard in shuffled)
    assert sorted(chain(*shuffled)) == list(range(COUNT))
    assert all(len({n // 300 for n in shard}) == 10 for shard in shuffled)


# Interrupted runs.


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("source", "options", "workers"),
    [
        (*case, workers)
        for case in CASES
        if "key" not in case[1]
        for workers in processes(*case)[:2]
    ],
)
def test_resuming_gives_the_bytes_of_an_uninterrupted_run(
    tmp_path: Path, source: str, options: str, workers: int
) -> None:
    """Runs that stop at three rows, then one that does not: the same files."""
    make, named = SOURCES[source], {**OPTIONS[options], "workers": workers}
    write(make(None), tmp_path / "whole", **named)
    for stop in (100, 1700, 2900):
        with pytest.raises(Stopped):
            write(make(stop), tmp_path / "resumed", resume=True, **named)
        assert hidden(tmp_path / "resumed") == names(tmp_path / "resumed")
    assert write(make(None), tmp_path / "resumed", resume=True, **named) == COUNT
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


def test_finished_shards_are_not_written_again(tmp_path: Path) -> None:
    """Only rows after the last one are encoded, and a note of the error counts them."""
    with pytest.raises(Stopped) as caught:
        write(indexed(2900), tmp_path, shards=4)
    assert "2250 records of split 'train'" in caught.value.__notes__[-1]
    before = contents(tmp_path)
    with pytest.raises(DatasetError) as refused:
        write(indexed(None, range(5)), tmp_path, shards=3, resume=True)
    for changed in ("rows=3000 (now 5)", "shards=4 (now 3)"):
        assert changed in str(refused.value)
    assert contents(tmp_path) == before
    seen: list[Any] = []
    assert write(indexed(None), tmp_path, shards=4, resume=True, progress=seen.append)
    assert seen[-1].records == 750
    # What is complete is not resumed, and nothing is replaced.
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match=f"'train'.* {COUNT} "):
        write(indexed(None), tmp_path, resume=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("source", "options", "numbers"),
    [
        ("stream", BY_SIZE, range(1, COUNT + 1)),
        ("indexed", BY_SIZE, range(1, COUNT + 1)),
        ("indexed", {"shards": 4}, range(1, COUNT + 1)),
        ("stream", BY_SIZE, range(400)),
    ],
)
def test_a_source_that_has_changed_is_not_resumed(
    tmp_path: Path, source: str, options: dict[str, Any], numbers: range
) -> None:
    """The last row that was written is compared with what the source has there now."""
    make = SOURCES[source]
    with pytest.raises(Stopped):
        write(make(2900), tmp_path, **options)
    place = r"row \d+" if len(numbers) == COUNT else "400 rows"
    with pytest.raises(DatasetError, match=place) as caught:
        write(make(None, numbers), tmp_path, resume=True, **options)
    assert len(numbers) < COUNT or not hasattr(caught.value, "__notes__")


def test_a_run_without_resume_begins_again_with_a_warning(tmp_path: Path) -> None:
    """What an interrupted run had finished is removed."""
    with pytest.raises(Stopped):
        write(indexed(2900), tmp_path, shards=4)
    with pytest.warns(RuntimeWarning, match="'train' with 2250 records"):
        write(indexed(None), tmp_path, **BY_SIZE)
    assert hidden(tmp_path) == []


# Rows that are refused.


def _some_wrong(source: str) -> Any:
    """Rows of which every hundredth is refused."""
    rows = list(stream(None))
    for each in rows[7::100]:
        each["digit"] = 17
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
    found: list[tuple[dict[str, bytes], str]] = []
    for workers in processes(source, options):
        report = tmp_path / f"{workers}.jsonl"
        named = {"on_error": "skip", "refused": report, "workers": workers}
        with pytest.warns(RuntimeWarning, match=r"30 rows .*30 .*'digit'"):
            count = write(
                _some_wrong(source),
                tmp_path / str(workers),
                **{**named, **OPTIONS[options]},
            )
        assert count == COUNT - 30
        found.append((contents(tmp_path / str(workers)), report.read_text()))
    assert all(each == found[0] for each in found)
    lines = [json.loads(line) for line in found[0][1].splitlines()]
    places = [line.get("shard", 0) * 600 + line["row"] for line in lines]
    assert places == list(range(7, COUNT, 100))
    assert {line["field"] for line in lines} == {"digit"}


@pytest.mark.parametrize("source", list(SOURCES))
def test_the_report_of_a_resumed_run_is_whole(tmp_path: Path, source: str) -> None:
    """Refused rows are reported once each; half lines of a killed run are not kept."""
    report = tmp_path / "refused"
    options = {"on_error": "skip", "refused": report, **BY_SIZE}

    def rows(stop: int | None) -> Any:
        return SOURCES[source](stop, range(-50, COUNT - 50))

    directory = tmp_path / "data"
    with pytest.raises(Stopped):
        write(rows(2000), directory, **options)
    with report.open("a", encoding="utf-8") as file:
        file.write('[]\n"x"\n{"row": "1"}\n{"shard": 0, "ro')
    with pytest.warns(RuntimeWarning, match="50 rows"):
        write(rows(None), directory, resume=True, **options)
    lines = map(json.loads, report.read_text().splitlines())
    assert [line["row"] for line in lines] == list(range(50))


# Keys.


@pytest.mark.parametrize("options", [{}, {"shards": 3}])
@pytest.mark.parametrize("workers", [1, 2])
def test_equal_keys_are_an_error(
    tmp_path: Path, options: dict[str, Any], workers: int
) -> None:
    """Both positions are named, and nothing is published."""
    rows = list(stream(None))
    rows[2500]["scan"] = 40
    with pytest.raises(DatasetError, match=r"'scan'.* 40 and 2500 "):
        write(
            rows, tmp_path, key_field="scan", shuffle_seed=3, workers=workers, **options
        )
    assert names(tmp_path) == []
    sources = [lambda: iter([row(1), row(2)]), lambda: iter([row(3), row(2)])]
    with pytest.raises(DatasetError, match="row 1 of part 0 and row 1 of part 1"):
        write(sources, tmp_path, key_field="scan", shuffle_seed=3)


def test_an_order_by_keys_depends_on_values_alone(tmp_path: Path) -> None:
    """Not on the order of the source, nor on whether they are numpy's or Python's."""
    options: dict[str, Any] = {"key_field": "scan", "shuffle_seed": 2}
    write(stream(None), tmp_path / "a", **options)
    write(stream(None, range(COUNT - 1, -1, -1)), tmp_path / "b", **options)
    kinds = (int, np.int64, np.uint16, np.array)
    given = ({**row(n), "scan": kinds[n % 4](n)} for n in range(COUNT))
    write(given, tmp_path / "c", **options)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "c")


@pytest.mark.parametrize(
    ("field", "key", "error"),
    [
        ("scan", 1.5, RecordError),
        ("scan", [1], RecordError),
        ("scan", None, TypeError),
        ("moments", [0.5] * 8, RecordError),
        ("image", np.zeros((8, 8, 1), np.uint8), RecordError),
    ],
)
def test_a_key_of_another_type_refuses_its_row(
    tmp_path: Path, field: str, key: Any, error: type[Exception]
) -> None:
    """It can be left out as any other."""
    rows = [{**row(0), field: key}, row(1)]
    if key is None:
        del rows[0][field]
    options: dict[str, Any] = {"key_field": field, "shuffle_seed": 1}
    with pytest.raises(error, match=f"row 0: field '{field}'"):
        write(rows, tmp_path, **options)
    if field == "scan":
        with pytest.warns(RuntimeWarning, match="1 row .*'scan'"):
            assert write(rows, tmp_path, on_error="skip", **options) == 1


# Options.


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"overwrite": "no"}, "overwrite='no'"),
        ({"overwrite": 1}, "overwrite=1"),
        ({"shards": 0}, "shards=0"),
        ({"shards": 100_001}, "shards=100001"),
        ({"shards": 1.5}, "shards=1.5"),
        ({"shards": "2"}, "shards='2'"),
        ({"shards": True}, "shards=True"),
        ({"shard_bytes": 0}, "shard_bytes=0"),
        ({"shard_bytes": None}, "shard_bytes=None"),
        ({"shard_bytes": 1.5e4}, "shard_bytes=15000.0"),
        ({"shards": 2, "shard_bytes": 100}, "shard_bytes=100 and shards=2"),
        ({"compression": "zlib"}, "compression='zlib'"),
        ({"compression_level": 3}, "compression_level=3"),
        ({"compression": "GZIP", "compression_level": 10}, "compression_level=10"),
        ({"workers": 0}, "workers=0"),
        ({"workers": True}, "workers=True"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"refused": "rows"}, "refused='rows'"),
        ({"shuffle_seed": 0.5}, "shuffle_seed=0.5"),
        ({"key_field": "scan"}, "key_field='scan'"),
        ({"key_field": "m", "shuffle_seed": 1}, "key_field='m'"),
    ],
)
def test_options_out_of_range_are_refused(
    tmp_path: Path, options: dict[str, Any], named: str
) -> None:
    """Before anything is touched; by both ways to write."""
    with pytest.raises(DatasetError, match=f"^{named}"):
        write(indexed(None), tmp_path / "data", **options)
    if options.keys() <= {"overwrite", "shards", "shard_bytes", "compression"}:
        with pytest.raises(DatasetError, match=f"^{named}"):
            Writer(tmp_path / "data", "train", **options)
    assert not (tmp_path / "data").exists()


def test_shards_and_functions_must_agree(tmp_path: Path) -> None:
    """A function for each shard leaves no choice of their number."""
    with pytest.raises(DatasetError, match=r"shards=4: .* 5 "):
        write(parts(None), tmp_path, shards=4)


@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize("shards", [1, 3])
def test_all_rows_may_be_refused(
    tmp_path: Path, compression: str | None, shards: int
) -> None:
    """All of an iterable, and all of those that are encoded together."""
    wrong = [{**row(at), "digit": 99} for at in range(COUNT)]
    options: dict[str, Any] = {"compression": compression, "shards": shards}
    for split, good in ("none", []), ("train", [row(7)]):
        rows = chain(wrong, good)
        with pytest.warns(RuntimeWarning, match="were left out"):
            write_dataset(
                rows, tmp_path, split, on_error="skip", allow_empty=True, **options
            )
        numbers = chain.from_iterable(numbers_of(tmp_path, split))
        assert [*numbers] == [each["scan"] for each in good]


def test_the_level_of_compression_reaches_the_files(tmp_path: Path) -> None:
    """They hold the same records."""
    sizes = []
    for level in (1, 6, None, 9):
        options = {"compression": "GZIP", "compression_level": level}
        write(indexed(None), tmp_path, overwrite=True, **options)
        assert numbers_of(tmp_path) == [list(range(COUNT))]
        sizes.append(len(contents(tmp_path)["train-00000-of-00001.tfrecord.gz"]))
    assert sizes[0] > sizes[1] == sizes[2] >= sizes[3]


def test_a_usual_run_warns_of_nothing(tmp_path: Path) -> None:
    """Warnings are for what somebody should look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(indexed(None), tmp_path, shards=3, workers=2, shuffle_seed=1)
        write(indexed(None), tmp_path, resume=True, overwrite=True)
