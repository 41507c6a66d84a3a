"""The global shuffle: every record once, in an order that depends on keys alone."""

from __future__ import annotations

import errno
import pickle
import random
import shutil
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import Framed, frame, frame_records
from schemagen.runtime.writing import shuffle
from schemagen.runtime.writing.external_sort import add_block
from schemagen.runtime.writing.shuffle import (
    Buckets,
    DuplicateKeyError,
    digest_of,
    order_of,
)
from tiers import examples

Keyed = tuple[tuple[int, int], int, int, bytes]
"""A record with its key, part and row."""

TINY = 3000
"""So little memory that a few kilobytes are divided again and again."""


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
    """Sealed buckets of records."""
    buckets = Buckets(path, memory=memory)
    _add(buckets, records)
    buckets.seal()
    return buckets


def _split(framed: Framed) -> list[bytes]:
    data = bytes(framed.data)
    return [data[a:b] for a, b in pairwise([0, *framed.ends.tolist()])]


def _read(buckets: Buckets, skip: int = 0) -> list[bytes]:
    return [data for framed in buckets.ordered(skip) for data in _split(framed)]


def _expected(records: list[Keyed]) -> list[bytes]:
    return [data for *_, data in sorted(records)]


# Keys.


def test_the_order_of_positions_is_pinned() -> None:
    """A seed means the same order in every version: finished datasets stay as told."""
    found = order_of(42, 0, np.array([0, 1, 2**40]))
    assert found.dtype == np.uint64
    assert found.tolist() == PINNED_ORDER
    assert digest_of("name", 42) == PINNED_DIGEST


PINNED_ORDER = [
    [6009122171691369781, 10300724959563055787],
    [2204579171797807352, 738691356546969688],
    [17019075257782308130, 15685707475103555795],
]
PINNED_DIGEST = (14440086083084698808, 6695089215665286763)


def test_keys_of_positions_look_random() -> None:
    """Every byte of the keys is evenly distributed, and none follows the rows."""
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


@pytest.mark.slow
def test_keys_differ_by_row_part_and_seed() -> None:
    """No two positions of a part share a key; parts and seeds have orders of their own."""
    rows = np.arange(50_000)
    found = [
        order_of(seed, part, rows) for seed in (0, 1, -1, 2**70) for part in (0, 1)
    ]
    for keys in found:
        assert len(np.unique(keys[:, 0])) == len(np.unique(keys[:, 1])) == len(rows)
    assert len({key for keys in found for key in keys[:, 0].tolist()}) == 8 * len(rows)


def test_a_position_has_its_key_whatever_the_chunk() -> None:
    """Chunks of rows, in any order, have the keys that the rows have by themselves."""
    whole = order_of(9, 2, np.arange(1000))
    some = np.array([999, 0, 5, 5, 123])
    assert (order_of(9, 2, some) == whole[some]).all()
    assert order_of(9, 2, np.array([], np.int64)).shape == (0, 2)


def test_different_values_have_different_keys() -> None:
    """1, "1" and b"1" are three values; so are the same value with two seeds."""
    values: list[int | str | bytes] = [
        1,
        "1",
        b"1",
        11,
        -1,
        "",
        b"",
        "a",
        "\ud800",
        2**80,
        0,
    ]
    found = [digest_of(value, seed) for value in values for seed in (0, 1, 11)]
    assert len(set(found)) == len(found)
    assert all(0 <= word < 2**64 for key in found for word in key)


# The order.


@examples(60)
@given(data=st.data())
def test_as_sorted_in_memory(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any keys, equal ones too, any chunks and any memory: the order of sorted()."""
    # Some keys are equal, and some share the first word alone.
    word = st.integers(0, 30).map(lambda number: digest_of(number, 0)[0])
    keys = data.draw(st.lists(st.tuples(word, word), max_size=100))
    parts = sorted(data.draw(st.integers(0, 2)) for _ in keys)
    records = [
        (key, part, row, b"%d" % row * (row % 40))
        for row, (key, part) in enumerate(zip(keys, parts, strict=True))
    ]
    memory = data.draw(st.sampled_from([0, 500, 1024, 2000, 100_000]))
    buckets = Buckets(tmp_path_factory.mktemp("order") / "a", memory=memory)
    _add(buckets, records, data.draw(st.integers(1, 50)))
    assert buckets.records == len(records)
    skip = data.draw(st.integers(0, len(records) + 2))
    assert _read(buckets, skip) == _expected(records)[skip:]
    assert _read(buckets) == _expected(records)
    assert buckets.records == len(records)


def test_large_buckets_are_divided(tmp_path: Path) -> None:
    """What does not fit into memory is divided, more than once if need be."""
    records = _records(1500)
    buckets = _filled(tmp_path / "a", records)
    assert not _folders(tmp_path / "a")
    assert _read(buckets) == _expected(records)
    depths = {
        len(path.relative_to(tmp_path / "a").parts) for path in _folders(tmp_path)
    }
    assert max(depths) >= 2
    assert _read(buckets) == _expected(records)


def _folders(path: Path) -> list[Path]:
    return [found for found in path.rglob("??") if found.is_dir()]


def test_a_small_dataset_is_one_file(tmp_path: Path) -> None:
    """What fits into memory costs one file, not hundreds."""
    buckets = _filled(tmp_path / "a", _records(500), memory=1 << 20)
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == [
        "00.bucket",
        "index.json",
    ]
    assert _read(buckets) == _expected(_records(500))


def test_pieces_are_small_and_whole(tmp_path: Path) -> None:
    """A bucket is delivered piece by piece, with the ends of its records."""
    records = [frame(bytes([n % 250]) * 100_000) for n in range(60)]
    records.append(frame(b"large" * 500_000))
    rows = np.arange(len(records))
    buckets = Buckets(tmp_path / "a")
    ends = np.cumsum([len(record) for record in records])
    buckets.add(order_of(0, 0, rows), rows, 0, Framed(b"".join(records), ends))
    pieces = list(buckets.ordered())
    assert sorted(r for piece in pieces for r in _split(piece)) == sorted(records)
    for piece in pieces:
        assert len(piece) == 1 or len(piece.data) <= 1 << 20


def test_no_records(tmp_path: Path) -> None:
    """Nothing added is nothing delivered, also after reopening."""
    buckets = _filled(tmp_path / "a", [])
    assert _read(buckets) == []
    assert buckets.records == 0
    again = Buckets.reopen(tmp_path / "a")
    assert again is not None
    assert _read(again) == []


def test_what_was_handed_over_may_be_used_again(tmp_path: Path) -> None:
    """Records are copied: a worker's buffer can be filled with the next ones."""
    buffer = bytearray(frame(b"first"))
    buckets = Buckets(tmp_path / "a")
    for row, word in enumerate((b"first", b"other")):
        buffer[:] = frame(word)
        framed = Framed(memoryview(buffer), np.array([len(buffer)]))
        buckets.add(order_of(0, 0, np.array([row])), np.array([row]), 0, framed)
    assert sorted(_read(buckets)) == sorted([frame(b"first"), frame(b"other")])


def test_numbers_that_do_not_match(tmp_path: Path) -> None:
    """Keys, positions and records that are not equally many are refused."""
    buckets = Buckets(tmp_path / "a")
    rows = np.arange(2)
    with pytest.raises(ValueError, match="records of different numbers"):
        buckets.add(order_of(0, 0, rows), rows, 0, frame_records([b"one"]))
    with pytest.raises(ValueError, match="records of different numbers"):
        buckets.add(order_of(0, 0, rows[:1]), rows, 0, frame_records([b"one", b"two"]))


def test_sealed_buckets_take_no_more(tmp_path: Path) -> None:
    """The order of what follows could not be kept."""
    buckets = _filled(tmp_path / "a", _records(3))
    with pytest.raises(ValueError, match="the buckets are sealed"):
        _add(buckets, _records(1))


def test_a_folder_that_is_there(tmp_path: Path) -> None:
    """Buckets never mix with what is in a folder already."""
    _filled(tmp_path / "a", _records(3))
    with pytest.raises(FileExistsError):
        Buckets(tmp_path / "a")


# Skipping, going on after a crash, and forgetting.


def test_skipped_buckets_are_not_read(tmp_path: Path) -> None:
    """A bucket that is skipped may be gone or broken."""
    records = _records(300)
    buckets = _filled(tmp_path / "a", records)
    files = sorted((tmp_path / "a").glob("*.bucket"))
    files[0].write_bytes(b"")
    with pytest.raises(DatasetError):
        _read(buckets)
    assert _read(buckets, 200) == _expected(records)[200:]


def test_reopen(tmp_path: Path) -> None:
    """After a crash the sealed buckets are there, for any memory, and go on."""
    records = _records(1000)
    _filled(tmp_path / "a", records)
    for memory in (TINY, 50_000, 64 << 20, 700):
        again = Buckets.reopen(tmp_path / "a", memory=memory)
        assert again is not None
        assert again.records == 1000
        assert _read(again, 321) == _expected(records)[321:]


def test_what_was_not_sealed_is_not_reopened(tmp_path: Path) -> None:
    """Buckets that may lack records, and folders of other things, are None."""
    unsealed = Buckets(tmp_path / "a", memory=TINY)
    _add(unsealed, _records(1000))
    assert list((tmp_path / "a").glob("*.bucket"))
    assert Buckets.reopen(tmp_path / "a") is None
    assert Buckets.reopen(tmp_path / "nothing") is None
    assert Buckets.reopen(tmp_path) is None


def _shorter(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _other(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "damage"),
    [("00.bucket", _shorter), ("index.json", _shorter), ("index.json", _other)],
)
def test_torn_buckets_are_not_reopened(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    """After a power cut the index or the files may be torn: the caller begins again."""
    _filled(tmp_path / "a", _records(300))
    damage(tmp_path / "a" / name)
    assert Buckets.reopen(tmp_path / "a") is None


@pytest.mark.slow
def test_reopen_after_a_crash_while_dividing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A division that was cut short, wherever, is done again."""
    records = _records(1000)
    for step in (*range(8), 20, 40, 80, 160):
        path = tmp_path / str(step)
        buckets = _filled(path, records)
        with monkeypatch.context() as patched:
            patched.setattr(shuffle, "add_block", _failing_at(step))
            with pytest.raises(OSError, match="No space left"):
                _read(buckets)
        again = Buckets.reopen(path, memory=TINY)
        assert again is not None
        assert _read(again) == _expected(records)


def _failing_at(step: int) -> Callable[..., int]:
    calls = iter(range(100_000))

    def add(path: Path, *args: Any) -> int:
        if next(calls) == step:
            path.write_bytes(b"torn")
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return add_block(path, *args)

    return add


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("divided", [False, True])
def test_forget(tmp_path: Path, divided: bool) -> None:
    """Files go as their records are stored elsewhere; what follows can be read."""
    records = _records(1000)
    buckets = _filled(tmp_path / "a", records, TINY if divided else 100_000)
    if divided:
        _read(buckets)
    sizes = [_disk_bytes(tmp_path / "a")]
    for done in range(0, 1001, 50):
        buckets.forget(done)
        sizes.append(_disk_bytes(tmp_path / "a"))
        assert _read(buckets, done) == _expected(records)[done:]
        again = Buckets.reopen(tmp_path / "a", memory=TINY)
        assert again is not None
        assert _read(again, done) == _expected(records)[done:]
    assert sizes[1] == sizes[0]
    assert sorted(sizes, reverse=True) == sizes or not divided
    assert not list((tmp_path / "a").rglob("*.bucket"))


def _disk_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*.bucket"))


def test_what_was_forgotten_cannot_be_read(tmp_path: Path) -> None:
    """Asking for it is an error that says so, never a shorter dataset."""
    buckets = _filled(tmp_path / "a", _records(1000))
    buckets.forget(900)
    with pytest.raises(DatasetError) as caught:
        _read(buckets)
    assert str(caught.value) == (
        f"{tmp_path / 'a' / '00.bucket'}: this bucket of a shuffle is gone, and the "
        "records from it are asked for; write the split from the start"
    )


def test_forgetting_while_reading(tmp_path: Path) -> None:
    """What is being delivered stays whole although its file goes."""
    records = _records(1000)
    buckets = _filled(tmp_path / "a", records)
    found: list[bytes] = []
    for framed in buckets.ordered():
        found += _split(framed)
        buckets.forget(len(found))
    assert found == _expected(records)
    assert not list((tmp_path / "a").rglob("*.bucket"))


# Key fields.


def _keyed(values: Sequence[Any]) -> NDArray[np.uint64]:
    return np.array([digest_of(value, 3) for value in values], np.uint64)


def test_the_order_by_key_field_is_not_that_of_the_source(tmp_path: Path) -> None:
    """Rows that come in another order, from other parts, are delivered in the same."""
    names = [f"photo {number}" for number in range(500)]
    found = []
    for number in range(3):
        shuffled = random.Random(number).sample(names, len(names))
        buckets = Buckets(tmp_path / str(number), memory=TINY, key_field="name")
        for part in range(5):
            some = shuffled[part::5]
            framed = frame_records([name.encode() for name in some])
            buckets.add(_keyed(some), np.arange(len(some)), part, framed)
        found.append(_read(buckets))
    assert found[0] == found[1] == found[2]
    assert sorted(found[0]) == sorted(frame(name.encode()) for name in names)


def _add_named(
    buckets: Buckets, names: Sequence[Any], start: int, part: int = 0
) -> None:
    framed = frame_records([str(name).encode() for name in names])
    rows = np.arange(start, start + len(names))
    buckets.add(_keyed(names), rows, part, framed)


def _expect_duplicate(work: Callable[[], object], text: str) -> DuplicateKeyError:
    with pytest.raises(DuplicateKeyError) as caught:
        work()
    assert str(caught.value) == (
        f"key field 'name': {text} have the same value, expected one of its own in "
        "every row; remove one of them, or take another key field"
    )
    return caught.value


@pytest.mark.parametrize("memory", [TINY, 64 << 20])
@pytest.mark.parametrize("places", [(3, 4), (0, 999), (412, 700)])
def test_equal_keys(tmp_path: Path, memory: int, places: tuple[int, int]) -> None:
    """Two rows with one key are found in one chunk and far apart."""
    names = [f"photo {number}" for number in range(1000)]
    names[places[1]] = names[places[0]]
    buckets = Buckets(tmp_path / "a", memory=memory, key_field="name")

    def work() -> None:
        for start in range(0, 1000, 100):
            some = names[start : start + 100]
            _add_named(buckets, some, start)
        list(buckets.ordered())

    error = _expect_duplicate(work, f"rows {places[0]} and {places[1]}")
    assert (error.first, error.second) == ((0, places[0]), (0, places[1]))


def test_equal_keys_in_two_parts(tmp_path: Path) -> None:
    """Where rows are counted part by part, both parts are named."""
    buckets = Buckets(tmp_path / "a", key_field="name")
    for part, names in enumerate((["a", "b"], ["c", "a"])):
        _add_named(buckets, names, 0, part)
    error = _expect_duplicate(
        lambda: list(buckets.ordered()), "row 0 of part 0 and row 1 of part 1"
    )
    assert (error.first, error.second) == ((0, 0), (1, 1))


def test_the_error_goes_between_processes() -> None:
    """It can be pickled, as errors of workers are."""
    error = DuplicateKeyError("name", (0, 3), (1, 4), True)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.first, again.second) == (str(error), (0, 3), (1, 4))


def test_a_key_that_is_always_the_same_is_found_soon(tmp_path: Path) -> None:
    """A label taken for a key is noticed with the first chunks, not after all rows."""
    buckets = Buckets(tmp_path / "a", memory=TINY, key_field="name")

    def work() -> None:
        for start in range(0, 100_000, 100):
            _add_named(buckets, ["cat"] * 100, start)

    _expect_duplicate(work, "rows 0 and 1")
    assert buckets.records <= 200


def test_unique_keys_pass(tmp_path: Path) -> None:
    """As many different keys as fit into no memory are no error."""
    buckets = Buckets(tmp_path / "a", memory=TINY, key_field="name")
    for start in range(0, 2000, 100):
        _add_named(buckets, range(start, start + 100), start)
    list(buckets.ordered())
    assert buckets.records == 2000


def test_reopened_buckets_still_know_their_key_field(tmp_path: Path) -> None:
    """A duplicate is found after a crash as it would have been before."""
    names = [*range(199), 5]
    first = Buckets(tmp_path / "a", memory=TINY, key_field="name")
    for start in range(0, 200, 20):
        _add_named(first, names[start : start + 20], start, part=1)
    first.seal()
    again = Buckets.reopen(tmp_path / "a", memory=TINY)
    assert again is not None
    _expect_duplicate(
        lambda: list(again.ordered()), "row 5 of part 1 and row 199 of part 1"
    )


# Damage, full disks and memory.


@pytest.mark.parametrize("memory", [TINY, 64 << 20])
def test_no_damage_goes_unseen(tmp_path: Path, memory: int) -> None:
    """A flipped bit or a cut anywhere in a bucket is an error that names the file."""
    records = _records(60)
    _filled(tmp_path / "whole", records, memory)
    numbers = random.Random(0)
    files = sorted(p.name for p in (tmp_path / "whole").glob("*.bucket"))
    for _ in range(60):
        shutil.copytree(tmp_path / "whole", tmp_path / "a")
        buckets = Buckets.reopen(tmp_path / "a", memory=memory)
        assert buckets is not None
        path = tmp_path / "a" / numbers.choice(files)
        data = bytearray(path.read_bytes())
        place = numbers.randrange(len(data))
        if numbers.random() < 0.3:
            del data[place:]
        else:
            data[place] ^= 1 << numbers.randrange(8)
        path.write_bytes(data)
        with pytest.raises(DatasetError) as caught:
            _read(buckets)
        assert str(path) in str(caught.value)
        assert "write the split from the start" in str(caught.value)
        shutil.rmtree(tmp_path / "a")


def test_a_block_too_few(tmp_path: Path) -> None:
    """A file that ends between two blocks lacks records, and that is an error."""
    buckets = Buckets(tmp_path / "a", memory=TINY)
    _add(buckets, _records(100))
    buckets.seal()
    path = tmp_path / "a" / "00.bucket"
    sizes = [len(block) for block in path.read_bytes().split(b"SGB1")]
    path.write_bytes(path.read_bytes()[: -sizes[-1] - 4])
    with pytest.raises(DatasetError) as caught:
        _read(buckets)
    assert "this bucket of a shuffle has " in str(caught.value)
    assert str(caught.value).endswith(
        f"; delete the folder {tmp_path / 'a'} and write the split from the start"
    )


def test_a_full_disk(tmp_path: Path) -> None:
    """The error is the system's own, and names the file."""
    buckets = Buckets(tmp_path / "a", memory=TINY)
    (tmp_path / "a" / "00.bucket").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        _add(buckets, _records(1000))
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "a" / "00.bucket")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("size", [0, 20, 5000])
def test_memory_is_bounded(tmp_path: Path, size: int) -> None:
    """Many times the memory goes through without taking more than it."""
    memory = 4 << 20
    total = 16 << 20
    chunk = max(1, 20_000 // (size + 40))
    framed = Framed(bytes(size * chunk), np.arange(1, chunk + 1) * size)
    tracemalloc.start()
    try:
        buckets = Buckets(tmp_path / "a", memory=memory)
        for start in range(0, total // (size + 40), chunk):
            rows = np.arange(start, start + chunk)
            buckets.add(order_of(0, 0, rows), rows, 0, framed)
        buckets.seal()
        assert tracemalloc.get_traced_memory()[1] < memory
        tracemalloc.reset_peak()
        assert sum(len(framed) for framed in buckets.ordered()) == buckets.records
        # And the piece that is delivered.
        assert tracemalloc.get_traced_memory()[1] < memory + (1 << 20)
    finally:
        tracemalloc.stop()
