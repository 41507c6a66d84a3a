"""From rows to chunks: positions, bounds and keys; wrong rows are in `test_rows.py`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np
import pytest
from schemagen.runtime.shared.errors import RecordError
from schemagen.runtime.shared.tfrecord import frame
from schemagen.runtime.writing import encoding
from schemagen.runtime.writing.encoding import (
    CHUNK_BYTES,
    CHUNK_ROWS,
    Chunk,
    Encoding,
    encode_rows,
)


def serialize(*, number: int, values: Any = (), size: int = 0) -> bytes:
    """Return a record that shows the row, of at least `size` bytes."""
    if number < 0:
        raise RecordError("number", f"{number}", "a number from 0")
    return (b"%d:" % number).ljust(size, b".")


RAISE = Encoding(serialize)
SKIP = Encoding(serialize, skip=True)


def numbered(count: int) -> list[dict[str, Any]]:
    return [{"number": number} for number in range(count)]


def encoded(
    rows: Iterable[object], how: Encoding = RAISE, **options: Any
) -> list[Chunk]:
    return list(encode_rows(rows, how, **options))


def test_chunks_are_consecutive_framed_records() -> None:
    """The chunks joined are the framed records, with the position of each."""
    rows = numbered(2 * CHUNK_ROWS + 5)
    found = encoded(rows, first=100, part=3)
    assert b"".join(chunk.framed.data for chunk in found) == b"".join(
        frame(serialize(**row)) for row in rows
    )
    positions = np.concatenate([chunk.rows for chunk in found])
    assert positions.dtype == np.int64
    assert positions.tolist() == list(range(100, 100 + len(rows)))
    assert [chunk.next_row for chunk in found] == [1124, 2148, 2153]
    assert [chunk.last for chunk in found] == [False, False, True]
    assert {chunk.part for chunk in found} == {3}
    assert {chunk.keys for chunk in found} == {None}


def test_slow_rows_are_handed_on_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that take half a second each make chunks of a second."""
    clock = itertools.count(0.0, 0.5)
    monkeypatch.setattr(encoding, "monotonic", lambda: next(clock))
    sizes = [len(chunk.framed) for chunk in encoded(numbered(5))]
    assert sizes == [2, 2, 1]


def test_rows_before_an_error_are_handed_on() -> None:
    """Whether a row, a value or the source is at fault, what came before is good."""

    def failing() -> Iterator[dict[str, Any]]:
        yield from numbered(3)
        raise OSError

    wrong = [*numbered(3), {"number": -1}]
    strange = [*numbered(3), 5]
    for rows, error in (
        (failing(), OSError),
        (wrong, RecordError),
        (strange, TypeError),
    ):
        found = []
        with pytest.raises(error):
            found.extend(encode_rows(rows, RAISE, first=10))
        (chunk,) = found
        assert chunk.rows.tolist() == [10, 11, 12]
        assert (chunk.next_row, chunk.last) == (13, False)


def test_a_chunk_ends_with_the_record_that_fills_it() -> None:
    """Large records make short chunks, and one is never cut."""
    rows = [{"number": number, "size": CHUNK_BYTES // 3} for number in range(7)]
    sizes = [len(chunk.framed) for chunk in encoded(rows)]
    assert sizes == [4, 3]


def test_rows_are_taken_as_they_are_needed() -> None:
    """A source is asked for the rows of one chunk before the chunk is given."""
    taken = []

    def rows() -> Iterator[dict[str, int]]:
        for number in range(10 * CHUNK_ROWS):
            taken.append(number)
            yield {"number": number}

    next(encode_rows(rows(), RAISE))
    assert len(taken) == CHUNK_ROWS


def test_no_rows_make_one_chunk_that_ends_the_part() -> None:
    """Who waits for the end of a part always sees it."""
    (chunk,) = encoded([], first=7)
    assert (len(chunk.framed), chunk.next_row, chunk.last) == (0, 7, True)
    (chunk,) = encoded(numbered(2), last=False)
    assert not chunk.last


def test_refused_rows_count_towards_a_chunk() -> None:
    """Where everything is refused, memory stays bounded all the same."""
    found = encoded([{"number": -1}] * (CHUNK_ROWS + 1), SKIP)
    assert [len(chunk.refused) for chunk in found] == [CHUNK_ROWS, 1]
    assert [chunk.next_row for chunk in found] == [CHUNK_ROWS, CHUNK_ROWS + 1]


class Colour(Enum):
    RED = "red"


def digests(values: list[object], seed: int = 0) -> list[tuple[int, ...]]:
    def name(*, key: object) -> bytes:
        return b""

    (chunk,) = encoded([{"key": v} for v in values], Encoding(name, False, "key", seed))
    assert chunk.keys is not None
    assert chunk.keys.dtype == np.uint64
    assert chunk.keys.shape == (len(values), 2)
    return [tuple(row) for row in chunk.keys.tolist()]


def test_keys_are_digested_by_value() -> None:
    """A key is what it means: numpy's and Enum's values are those of Python."""
    equal: list[list[object]] = [
        [7, np.int64(7), np.uint8(7), np.array(7)],
        ["red", np.str_("red"), Colour.RED],
        [b"red", np.bytes_(b"red")],
    ]
    for values in equal:
        assert len(set(digests(values))) == 1
    assert len(set(digests([7, "7", b"7", 8, "red"]))) == 5
    assert digests([7], seed=1) != digests([7], seed=2)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"number": 1, "values": 1.5}, "float 1.5"),
        ({"number": 1, "values": True}, "bool True"),
        ({"number": 1, "values": [1]}, "a list"),
        ({"number": 1}, "no value"),
    ],
)
def test_keys_of_other_types(row: dict[str, Any], found: str) -> None:
    """What makes no good key refuses the row, and can be left out as any other."""
    how = Encoding(serialize, key_field="values")
    with pytest.raises(RecordError) as caught:
        encoded([row], how)
    assert str(caught.value) == (
        f"row 0: field 'values': found {found}, expected an int, str or bytes, since "
        "it is the key of the records"
    )
    how = Encoding(serialize, skip=True, key_field="values")
    (chunk,) = encoded([row, {"number": 2, "values": 9}], how)
    assert chunk.rows.tolist() == [1]
    assert chunk.keys is not None
    assert len(chunk.keys) == len(chunk.framed) == len(chunk.refused) == 1
