"""What is a source of rows, and what is not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbered_rows import Part, Table
from schemagen.runtime.shared.errors import DatasetError, RecordError
from schemagen.runtime.writing.sources import (
    Indexed,
    Parts,
    Stream,
    Unreadable,
    source_of,
)

ROW = {"number": 1}


class IterableDataset:
    """As PyTorch's: it has a length and an index that only says no."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[dict[str, int]]:
        return iter([ROW])


class OfUnknownLength:
    """As tf.data's: it has a length that is sometimes not known."""

    def __len__(self) -> int:
        raise TypeError("The dataset length is unknown.")

    def __iter__(self) -> Iterator[dict[str, int]]:
        return iter([ROW])


class OldSequence:
    """Rows by index until there are no more, without a length."""

    def __getitem__(self, index: int) -> dict[str, int]:
        return [ROW][index]


@pytest.mark.parametrize(
    ("value", "kind", "length"),
    [
        ([ROW, ROW], Indexed, 2),
        ((ROW,), Indexed, 1),
        ([], Indexed, 0),
        (np.array([ROW, ROW], object), Indexed, 2),
        (deque([ROW]), Indexed, 1),
        (Table(9), Indexed, 9),
        ((row for row in [ROW]), Stream, None),
        ({1: ROW}.values(), Stream, 1),
        (map(dict, [ROW]), Stream, None),
        (IterableDataset(), Stream, 1),
        (OfUnknownLength(), Stream, None),
        (OldSequence(), Stream, None),
        ([lambda: [ROW]], Parts, None),
        ((Part(Table(1)), Part(Table(1))), Parts, None),
    ],
)
def test_kinds_of_sources(value: Any, kind: type, length: int | None) -> None:
    """Rows are loaded by index where that can be, and else as they come."""
    found = source_of(value)
    assert type(found) is kind
    assert found.length == length
    if kind is Stream:
        assert list(found.rows(0)) == [ROW]


class Columns:
    """Has what tells a table of each library."""

    def __iter__(self) -> Iterator[str]:
        return iter(["number"])


class DataFrame(Columns):
    """As pandas has it."""

    iloc = ()


class Frame(Columns):
    """As polars has it."""

    def to_dicts(self) -> None: ...


class Table_(Columns):
    """As pyarrow has it."""

    def to_pylist(self) -> None: ...


class Model(Columns):
    """As pydantic has it."""

    model_fields: dict[str, Any] = {}


NOT_ROWS = [
    ({"number": [1, 2]}, "a dict"),
    ("rows.csv", "str 'rows.csv'"),
    (b"rows", "bytes b'rows'"),
    (DataFrame(), "a DataFrame"),
    (Frame(), "a Frame"),
    (Table_(), "a Table_"),
    (Model(), "a Model"),
    (lambda: [ROW], "a function"),
    (5, "int 5"),
    (None, "None"),
    (Path("rows"), "a PosixPath"),
]


@pytest.mark.parametrize(("value", "found"), NOT_ROWS)
def test_what_is_no_source(value: Any, found: str) -> None:
    """A wrong source is refused at once."""
    with pytest.raises(TypeError) as caught:
        source_of(value)
    assert str(caught.value).startswith(f"the source is {found}, expected ")


@pytest.mark.parametrize(("value", "found"), NOT_ROWS)
def test_what_a_shards_source_may_not_return(value: Any, found: str) -> None:
    """The same mistakes are told of what a callable returns, with its shard."""
    with pytest.raises(TypeError) as caught:
        source_of([lambda: [ROW], lambda: value]).rows(1)
    assert str(caught.value).startswith(f"shard 1: its source is {found}, expected ")


def test_callables_and_rows_do_not_mix() -> None:
    """A list is of callables or of rows."""
    with pytest.raises(TypeError) as caught:
        source_of([lambda: [ROW], ROW])
    assert str(caught.value) == (
        "the source has callables and at 1 a dict, expected a callable for each "
        "shard, or rows alone"
    )


def counted(count: int) -> Iterator[dict[str, int]]:
    for number in range(count):
        yield {"number": number}


SOURCES: list[Callable[[], Iterable[object]]] = [
    lambda: list(counted(6)),
    lambda: counted(6),
    lambda: [lambda: counted(9), lambda: counted(6)],
]


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize(("start", "stop"), [(0, None), (2, 5), (6, None), (3, 4)])
def test_rows_between_positions(
    make: Callable[[], Any], start: int, stop: int | None
) -> None:
    """Any source can begin at a row, and end before another."""
    found: Any = list(source_of(make()).rows(1, start, stop))
    assert [row["number"] for row in found] == list(range(6))[start:stop]


@pytest.mark.parametrize("make", SOURCES)
def test_a_source_that_has_become_shorter(make: Callable[[], Any]) -> None:
    """Going on after rows that are not there any more is an error."""
    with pytest.raises(DatasetError) as caught:
        list(source_of(make()).rows(1, 7))
    assert str(caught.value) == (
        "the source has 6 rows, expected at least 7, which an earlier run has read "
        "from it; start again without resume"
    )


def test_blocks_cover_all_rows() -> None:
    """Blocks are contiguous, differ by one row at most, and leave nothing out."""
    for length in (0, 1, 5, 10, 1000):
        for blocks in (1, 2, 3, 7, 11):
            source = Indexed([], length)
            found = [source.block(part, blocks) for part in range(blocks)]
            assert [row for block in found for row in block] == list(range(length))
            assert max(map(len, found)) - min(map(len, found)) <= 1


def test_an_unreadable_row_by_index_is_known_to_be_there() -> None:
    """A RecordError of __getitem__ stands for its row, and the next can be had."""
    first, second, third = source_of(Table(3, {1: "unreadable"})).rows(0)
    assert isinstance(second, Unreadable)
    assert str(second.error).startswith("field 'photo': found half a file")
    assert isinstance(first, dict)
    assert isinstance(third, dict)


@pytest.mark.parametrize(
    ("source", "note"),
    [
        (Table(9, {5: "error"}), "while the source loaded row 5"),
        (Part(Table(9, {5: "error"}))(), "while the source made row 5"),
        ([Part(Table(9, {5: "error"}))], "while the source made shard 0, row 5"),
        ([Table(9).load], "when shard 0 asked its source for rows"),
    ],
)
def test_what_a_source_raises(source: Any, note: str) -> None:
    """An error of the source comes through, and says how far the source was."""
    with pytest.raises((OSError, TypeError)) as caught:
        list(source_of(source).rows(0))
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize(("several", "where"), [(False, ""), (True, "shard 0, ")])
def test_an_unreadable_row_ends_a_generator(several: bool, where: str) -> None:
    """A generator that raises gives nothing more: the error says what could."""
    part = Part(Table(9, {5: "unreadable"}))
    with pytest.raises(RecordError) as caught:
        list(source_of([part] if several else part()).rows(0))
    assert str(caught.value) == (
        f"{where}row 5: field 'photo': found half a file, expected a whole one; the "
        "source itself raised this and cannot go on; only one with a length and rows "
        "by index can leave out what it cannot read"
    )
    assert isinstance(caught.value.__cause__, RecordError)
