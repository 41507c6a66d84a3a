"""The global shuffle: every record once, in an order that depends on keys alone.

How splits use it is in `test_split.py`. Here it has so little memory that a few kilobytes
are divided again and again, which only gigabytes are otherwise.
"""

from __future__ import annotations

import random
import shutil
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digit_rows import rows
from hypothesis import given
from hypothesis import strategies as st
from published_splits import numbers_of
from schemagen.runtime.shared.tfrecord import Framed, frame, frame_records
from schemagen.runtime.writing.keys import digest_of, order_of
from schemagen.runtime.writing.shuffle import Buckets, DuplicateKeyError
from tiers import examples

from generated import DatasetError
from generated.digit.serializer import write_dataset

Keyed = tuple[tuple[int, int], int, int, bytes]
"""A record with its key, part and row."""

TINY = 3000


def _records(count: int, *, seed: int = 5, size: int = 60) -> list[Keyed]:
    """Records of a source of one part, of all sizes up to `size`."""
    numbers = random.Random(count)
    keys = order_of(seed, 0, np.arange(count)).tolist()
    return [
        ((high, low), 0, row, frame(b"%d:" % row + numbers.randbytes(row % size)))
        for row, (high, low) in enumerate(keys)
    ]


def _add(buckets: Buckets, records: list[Keyed], chunk: int = 50) -> None:
    """Hand records over in chunks, which hold one part each."""
    start = 0
    while start < len(records):
        part = records[start][1]
        some = [r for r in records[start : start + chunk] if r[1] == part]
        keys = np.array([key for key, *_ in some], np.uint64).reshape(-1, 2)
        rows = np.array([row for _, _, row, _ in some], np.int64)
        ends = np.cumsum([len(data) for *_, data in some])
        data = b"".join(data for *_, data in some)
        buckets.add(keys, rows, part, Framed(data, ends))
        start += len(some)


def _filled(path: Path, records: list[Keyed], memory: int = TINY) -> Buckets:
    """Buckets of records."""
    buckets = Buckets(path, memory=memory)
    _add(buckets, records)
    return buckets


def _split(framed: Framed) -> list[bytes]:
    data = bytes(framed.data)
    return [data[a:b] for a, b in pairwise([0, *framed.ends.tolist()])]


def _read(buckets: Buckets) -> list[bytes]:
    return [data for _, framed in buckets.ordered() for data in _split(framed)]


def _expected(records: list[Keyed]) -> list[bytes]:
    return [data for *_, data in sorted(records)]


# Keys.


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"shuffle_seed": 42}, [8, 1, 0, 11, 5, 9, 4, 6, 3, 10, 7, 2]),
        (
            {"shuffle_seed": 42, "key_field": "scan"},
            [0, 9, 4, 10, 1, 7, 8, 5, 11, 6, 2, 3],
        ),
    ],
)
def test_the_order_of_a_seed_is_pinned(
    tmp_path: Path, options: dict[str, Any], expected: list[int]
) -> None:
    """It may change with a minor version, and never without anybody noticing."""
    write_dataset(rows(12), tmp_path, "train", **options)
    assert numbers_of(tmp_path) == [expected]


def test_keys_of_positions_look_random() -> None:
    """Every byte is evenly distributed, and none follows the rows, parts or seeds."""
    rows = 200_000
    keys = order_of(1, 3, np.arange(rows))
    bytes_of = keys.view(np.uint8).reshape(rows, 16)
    for place in range(16):
        counts = np.bincount(bytes_of[:, place], minlength=256)
        chi_square = float(((counts - rows / 256) ** 2).sum() / (rows / 256))
        assert 160 < chi_square < 370, f"byte {place}"  # 255 +- 23
    for word in (0, 1):
        ranks = np.argsort(np.argsort(keys[:, word]))
        for shift in (0, 1, 2, 1000):
            pair = np.corrcoef(ranks[shift:], np.arange(rows - shift))
            assert abs(pair[0, 1]) < 0.01
            neighbours = np.corrcoef(ranks[shift + 1 :], ranks[: rows - shift - 1])
            assert abs(neighbours[0, 1]) < 0.01
    numbers = np.arange(10_000)
    found = [order_of(s, p, numbers)[:, 0] for s in (0, 1, -1, 2**70) for p in (0, 1)]
    assert len(np.unique(np.concatenate(found))) == 8 * len(numbers)


def test_a_position_has_its_key_whatever_the_chunk() -> None:
    """Chunks of rows, in any order, have the keys that the rows have by themselves."""
    whole = order_of(9, 2, np.arange(1000))
    some = np.array([999, 0, 5, 5, 123])
    assert (order_of(9, 2, some) == whole[some]).all()
    assert order_of(9, 2, np.array([], np.int64)).shape == (0, 2)


def test_different_values_have_different_keys() -> None:
    """1, "1" and b"1" are three values; so are the same value with two seeds."""
    values = [1, "1", b"1", 11, -1, "", b"", "a", "\ud800", 2**80, 0]
    found = [digest_of(value, seed) for value in values for seed in (0, 1, 11)]  # type: ignore[arg-type]
    assert len(set(found)) == len(found)
    assert all(0 <= word < 2**64 for key in found for word in key)


# The order.


@examples(60)
@given(data=st.data())
def test_records_come_as_sorted_in_memory(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any keys, equal ones too, any chunks and memory: as sorted()."""
    # Some keys are equal, and some share the first word alone.
    word = st.integers(0, 30).map(lambda number: digest_of(number, 0)[0])
    keys = data.draw(st.lists(st.tuples(word, word), max_size=100))
    parts = sorted(data.draw(st.integers(0, 2)) for _ in keys)
    records = [
        (key, part, row, b"%d" % row * (row % 40))
        for row, (key, part) in enumerate(zip(keys, parts, strict=True))
    ]
    memory = st.sampled_from([0, 500, 1024, 2000, 100_000])
    path = tmp_path_factory.mktemp("order") / "a"
    buckets = Buckets(path, memory=data.draw(memory))
    _add(buckets, records, data.draw(st.integers(1, 50)))
    assert _read(buckets) == _expected(records)


@pytest.mark.parametrize("memory", [TINY, 100_000])
def test_a_file_goes_when_it_has_been_read(tmp_path: Path, memory: int) -> None:
    """Large buckets are divided, again and again; what fits into memory has no files."""
    records = _records(1000)
    buckets = _filled(tmp_path / "a", records, memory)
    found: list[bytes] = []
    sizes, depths = [], set()
    for _, framed in buckets.ordered():
        found += _split(framed)
        files = list((tmp_path / "a").rglob("*.*"))
        sizes.append(sum(path.stat().st_size for path in files))
        depths |= {len(path.relative_to(tmp_path / "a").parts) for path in files}
    assert found == _expected(records)
    assert depths >= {1, 2, 3} if memory == TINY else depths == {1}
    assert sizes[-1] < sizes[0] / 2
    assert not list((tmp_path / "a").rglob("*.*"))
    buckets = _filled(tmp_path / "b", records, 64 << 20)
    assert _read(buckets) == _expected(records)
    assert not (tmp_path / "b").exists()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("size", [0, 20, 5000])
def test_a_shuffle_takes_no_more_than_its_memory(tmp_path: Path, size: int) -> None:
    """Many times the memory goes through without taking more than it."""
    memory = 4 << 20
    total = 16 << 20
    chunk = max(1, 20_000 // (size + 40))
    framed = Framed(bytes(size * chunk), np.arange(1, chunk + 1) * size)
    # pathlib interns names, and the table of all interned strings may grow just then.
    ends = ("", ".entries", ".records")
    names = [tmp_path / f"{number:02x}{end}" for number in range(256) for end in ends]
    tracemalloc.start()
    try:
        buckets = Buckets(tmp_path / "a", memory=memory)
        for start in range(0, total // (size + 40), chunk):
            rows = np.arange(start, start + chunk)
            buckets.add(order_of(0, 0, rows), rows, 0, framed)
        assert tracemalloc.get_traced_memory()[1] < memory
        tracemalloc.reset_peak()
        found = sum(len(framed) for _, framed in buckets.ordered())
        assert found == len(range(0, total // (size + 40), chunk)) * chunk
        # And the piece that is delivered.
        assert tracemalloc.get_traced_memory()[1] < memory + (1 << 20)
    finally:
        tracemalloc.stop()
        names.clear()


# Key fields.


def _add_named(
    buckets: Buckets, names: Sequence[Any], start: int, part: int = 0
) -> None:
    framed = frame_records([str(name).encode() for name in names])
    keys = np.array([digest_of(name, 3) for name in names], np.uint64)
    buckets.add(keys, np.arange(start, start + len(names)), part, framed)


@pytest.mark.parametrize("memory", [TINY, 64 << 20])
@pytest.mark.parametrize("places", [(3, 4), (0, 999), (412, 700), None])
def test_equal_keys_are_an_error_with_both_places(
    tmp_path: Path, memory: int, places: tuple[int, int] | None
) -> None:
    """In one chunk and far apart; unique ones are none."""
    names = [*range(1000)]
    if places:
        names[places[1]] = names[places[0]]
    buckets = Buckets(tmp_path / "a", memory=memory, key_field="name")
    try:
        for start in range(0, 1000, 100):
            _add_named(buckets, names[start : start + 100], start, part=start // 500)
        list(buckets.ordered())
    except DuplicateKeyError as error:
        assert places
        expected = tuple((place // 500, place) for place in places)
        assert (error.first, error.second) == expected  # noqa: PT017
    else:
        assert not places


def test_a_key_that_is_always_the_same_is_found_soon(tmp_path: Path) -> None:
    """A label taken for a key is noticed with the first chunks, not after all rows."""
    buckets = Buckets(tmp_path / "a", memory=TINY, key_field="name")
    with pytest.raises(DuplicateKeyError):
        _add_named(buckets, ["cat"] * 100, 0)


# Damage.


def test_no_damage_goes_unseen(tmp_path: Path) -> None:
    """A flipped bit or a cut anywhere, also between blocks, is an error with the file."""
    numbers = random.Random(0)
    for turn in range(60):
        buckets = _filled(tmp_path / "a", _records(60))
        files = sorted((tmp_path / "a").glob("*.*"))
        path = numbers.choice(files)
        data = bytearray(path.read_bytes())
        if not turn:
            del data[:]
        elif numbers.random() < 0.3:
            del data[numbers.randrange(len(data)) :]
        else:
            data[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
        path.write_bytes(data)
        with pytest.raises(DatasetError, match=str(path.with_suffix(""))):
            _read(buckets)
        shutil.rmtree(tmp_path / "a")
