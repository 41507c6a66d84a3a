"""Blocks of remote files are kept in a directory: what is read is right, whatever becomes of it."""

from __future__ import annotations

import errno
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from digit_rows import row, rows, scans
from remote_requests import watch_shards
from schemagen.runtime.arrays import cache as cache_module

from generated import DatasetError, mix
from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

URL = "memory://bucket/data"
COUNT, SHARDS = 4_000, 8

EPOCHS: list[dict[str, Any]] = [
    {},
    {"shuffle_seed": 1},
    {"shuffle_seed": 1, "block": 32},
]

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    """The files of a split whose shards have two blocks each."""
    store = fsspec.filesystem("memory").store
    store.clear()
    write_dataset(rows(COUNT), URL, "train", shards=SHARDS)
    return dict(store)


@pytest.fixture(autouse=True)
def system(written: dict[str, Any]) -> Iterator[Any]:
    """The file system in memory of fsspec, with the split."""
    found = fsspec.filesystem("memory")
    found.store.clear()
    found.store.update(written)
    yield found
    found.store.clear()


@pytest.fixture
def requests(system: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shards that something was asked of."""
    asked: list[str] = []

    def note(path: str, data: bytes) -> None:
        if len(data) > 16:  # not the last bytes, which are compared with the manifest
            asked.append(path)

    watch_shards(system, monkeypatch, note)
    return asked


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def segments(where: Path) -> list[Path]:
    return sorted(where.glob("*.segment"))


def taken(where: Path) -> int:
    """How many bytes of the disk the cache takes."""
    return sum(path.stat().st_blocks * 512 for path in segments(where))


def everything(split: Any, **options: Any) -> list[int]:
    return sorted(scans(split.batches(100, **options)))


def replace(first: int, count: int = COUNT) -> None:
    """Write other records over the split."""
    again = [row(number) for number in range(first, first + count)]
    write_dataset(again, URL, "train", shards=SHARDS, overwrite=True)


@pytest.mark.parametrize("first", EPOCHS, ids=str)
@pytest.mark.parametrize("second", EPOCHS, ids=str)
def test_second_epoch_requests_no_records(
    requests: list[str], where: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    split = open_split(URL, "train", cache_dir=where)
    assert everything(split, **first) == [*range(COUNT)]
    assert len(set(requests)) == SHARDS
    requests.clear()
    assert everything(split, **second) == [*range(COUNT)]
    assert requests == []


def test_other_programs_read_what_was_kept(requests: list[str], where: Path) -> None:
    everything(open_split(URL, "train", cache_dir=where))
    requests.clear()
    split = open_split(URL, "train", cache_dir=str(where))
    assert [each["scan"] for each in split] == [*range(COUNT)]
    assert requests == []


def test_near_records_come_with_the_first(requests: list[str], where: Path) -> None:
    split = open_split(URL, "train", cache_dir=where)
    assert [split[number]["scan"] for number in range(100)] == [*range(100)]
    assert len(requests) == 1


def test_absent_blocks_are_fetched_and_no_others(
    system: Any, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    split = open_split(URL, "train", cache_dir=where)
    split[0]
    watch_shards(system, monkeypatch, lambda _, data: sizes.append(len(data)))
    split[: COUNT // SHARDS]
    (shard,) = system.glob("/bucket/data/train-00000-*")
    assert sizes == [system.info(shard)["size"] - (1 << 16)]


def test_segments_that_were_used_last_stay(requests: list[str], where: Path) -> None:
    everything(open_split(URL, "train", cache_dir=where))
    for path in segments(where):
        os.utime(path, (1, 1))
    used = range(0, COUNT * 6 // SHARDS)  # the first six shards
    assert open_split(URL, "train", cache_dir=where)[used]["scan"][0] == used[0]
    size = taken(where)
    write_dataset(rows(100), URL, "test", shards=1)
    split = open_split(URL, "test", cache_dir=where, cache_bytes=size)
    assert everything(split) == [*range(100)]
    assert size // 2 < taken(where) <= size * 7 // 8
    requests.clear()
    again = open_split(URL, "train", cache_dir=where)
    assert again[used]["scan"].tolist() == [*used]
    assert everything(split) == [*range(100)]
    assert requests == []
    assert everything(again) == [*range(COUNT)]
    assert len(set(requests)) == 2


@pytest.mark.parametrize("share", [0, 0.3, 0.9])
def test_segments_stay_within_the_bound(where: Path, share: float) -> None:
    """Those of all splits together; other files are nobody's business."""
    where.mkdir()
    (where / "notes.segment").write_bytes(bytes(1 << 20))
    whole = COUNT * 200
    options: dict[str, Any] = {
        "cache_dir": where,
        "cache_bytes": max(1, int(whole * share)),
    }
    write_dataset(rows(COUNT), URL, "test", shards=SHARDS)
    splits = [open_split(URL, name, **options) for name in ("train", "test")]
    for epoch in range(3):
        for split in splits:
            found = everything(split, shuffle_seed=1, epoch=epoch)
            assert found == [*range(COUNT)]
            assert taken(where) - (1 << 20) <= options["cache_bytes"]
    assert (where / "notes.segment").stat().st_size == 1 << 20


def test_split_that_is_written_again_is_not_mixed(
    requests: list[str], where: Path
) -> None:
    """Who has opened it before reads what was kept, and no more; then others read new ones."""
    split = open_split(URL, "train", cache_dir=where)
    kept = [*range(50)]
    assert split[kept]["scan"].tolist() == kept
    replace(10_000)
    assert split[kept]["scan"].tolist() == kept
    with pytest.raises(DatasetError, match="it was written again"):
        split[COUNT - 50 :]
    again = open_split(URL, "train", cache_dir=where)
    for _ in range(2):
        assert everything(again) == [*range(10_000, 10_000 + COUNT)]
    assert split[kept]["scan"].tolist() == kept


def test_nothing_is_kept_if_the_split_is_written_again_meanwhile(
    system: Any, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a request and the comparison, and with names that do not say the generation."""

    def write_again(_: str, data: bytes) -> None:
        if len(data) > 16:
            monkeypatch.undo()
            replace(10_000)

    split = open_split(URL, "train", cache_dir=where)
    len(split)
    watch_shards(system, monkeypatch, write_again)
    with pytest.raises(DatasetError, match="it was written again"):
        everything(split)
    assert not any(path.stat().st_size > 4096 for path in segments(where))


def test_files_without_a_manifest_are_kept_by_their_version(
    system: Any, requests: list[str], where: Path
) -> None:
    for path in system.glob("/bucket/data/train-*"):
        system.mv(path, path.replace("/data/", "/plain/"))
    source = "memory://bucket/plain/*"
    split = open_split(source, cache_dir=where)
    assert everything(split) == [*range(COUNT)]
    requests.clear()
    assert everything(split) == [*range(COUNT)]
    assert requests == []
    replace(10_000)
    new = sorted(system.glob("/bucket/data/train-*"))
    for old, path in zip(sorted(system.glob("/bucket/plain/*")), new, strict=True):
        system.pipe(old, system.cat(path))
    split = open_split(source, cache_dir=where)
    assert everything(split) == [*range(10_000, 10_000 + COUNT)]


def test_files_without_a_version_are_read_and_not_kept(
    system: Any, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = type(system).info

    def without_time(self: Any, path: str, **options: Any) -> Any:
        return {**info(self, path, **options), "created": None}

    monkeypatch.setattr(type(system), "info", without_time)
    for path in system.glob("/bucket/data/train-*"):
        system.mv(path, path.replace("/data/", "/plain/"))
    split = open_split("memory://bucket/plain/*", cache_dir=where)
    assert everything(split) == [*range(COUNT)]
    assert segments(where) == []


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_local_and_compressed_files_are_not_kept(
    tmp_path: Path, where: Path, compression: str | None
) -> None:
    source = f"{URL}-gzip" if compression else tmp_path / "data"
    write_dataset(rows(COUNT), source, "train", compression=compression)
    split = open_split(source, "train", cache_dir=where)
    assert everything(split) == [*range(COUNT)]
    assert [*where.iterdir()] == []


def flip(first: int, stop: int, step: int) -> Damage:
    def change(path: Path) -> None:
        data = bytearray(path.read_bytes())
        for at in range(first, min(stop, len(data)), step):
            data[at] ^= 0x55
        path.write_bytes(data)

    return change


def cut(size: int) -> Damage:
    return lambda path: os.truncate(path, size)


DAMAGES: dict[str, Damage] = {
    "single bits": flip(4096, 1 << 20, 5_000),
    "all blocks": flip(4096, 1 << 20, 1),
    "which blocks there are": flip(16, 4096, 1),
    "the first bytes": flip(0, 16, 1),
    "all": flip(0, 1 << 20, 1),
    "cut to nothing": cut(0),
    "cut in the first bytes": cut(5),
    "cut in the header": cut(17),
    "cut in the first block": cut(10_000),
    "cut in the last block": cut(4096 + 70_000),
    "gone": Path.unlink,
    "of another program": lambda path: path.write_text("something else"),
}


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_blocks_are_fetched_again(
    requests: list[str], where: Path, damage: str, is_open: bool
) -> None:
    """Once each, and then they are whole."""
    split = open_split(URL, "train", cache_dir=where)
    everything(split)
    assert len(segments(where)) == SHARDS
    for path in segments(where):
        DAMAGES[damage](path)
    if not is_open:
        split = open_split(URL, "train", cache_dir=where)
    for epoch in range(3):
        requests.clear()
        assert everything(split, shuffle_seed=1, epoch=epoch) == [*range(COUNT)]
    assert requests == []
    assert len(segments(where)) == SHARDS


def test_segment_of_another_version_is_made_again(where: Path) -> None:
    everything(open_split(URL, "train", cache_dir=where))
    size = taken(where)
    for path in segments(where):
        flip(0, 16, 1)(path)
    open_split(URL, "train", cache_dir=where)[:: COUNT // SHARDS]
    assert taken(where) < 0.9 * size


def test_disk_that_damages_all_that_is_written_is_no_harm(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwrite = os.pwrite

    def damaging(handle: int, data: bytes, start: int) -> int:
        if start >= 4096:
            data = bytes(~byte & 255 for byte in data)
        return pwrite(handle, data, start)

    monkeypatch.setattr(os, "pwrite", damaging)
    split = open_split(URL, "train", cache_dir=where)
    for _ in range(2):
        assert everything(split, shuffle_seed=1) == [*range(COUNT)]


def test_blocks_that_are_absent_and_said_to_be_there_are_fetched(where: Path) -> None:
    """As after a power failure that has lost a block, or a file that is of another size."""
    split = open_split(URL, "train", cache_dir=where)
    split[0]
    (path,) = segments(where)
    with path.open("r+b") as file:
        file.seek(16)
        file.write(b"\1" * 1024)
    assert everything(split) == [*range(COUNT)]


def test_record_that_is_damaged_in_the_store_is_an_error(
    system: Any, requests: list[str], where: Path
) -> None:
    """It is fetched a second time, and the others are read."""
    (path,) = system.glob("/bucket/data/train-00003-*")
    data = bytearray(system.cat(path))
    data[len(data) // 2] ^= 1
    system.pipe(path, bytes(data))
    split = open_split(URL, "train", cache_dir=where, on_corrupt="skip")
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="train-00003-.*record 2"):
            assert len(everything(split)) == COUNT - 1
    requests.clear()
    with pytest.warns(RuntimeWarning, match="1 record is left out"):
        everything(split)
    assert len(requests) <= 2


@pytest.mark.parametrize("before", [0, 3], ids=["at once", "later"])
def test_full_disk_is_a_warning(
    where: Path, monkeypatch: pytest.MonkeyPatch, requests: list[str], before: int
) -> None:
    """One; what is there already is read from there."""
    split = open_split(URL, "train", cache_dir=where)
    kept = split[:10]["scan"].tolist()
    pwrite, left = os.pwrite, [before]

    def full(*arguments: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(*arguments)

    monkeypatch.setattr(os, "pwrite", full)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for epoch in range(2):
            found_scans = everything(split, shuffle_seed=1, epoch=epoch)
            assert found_scans == [*range(COUNT)]
    (warning,) = found
    assert "cache_dir=" in str(warning.message)
    assert "No space left on device" in str(warning.message)
    requests.clear()
    assert split[:10]["scan"].tolist() == kept
    assert requests == []
    everything(split)
    with_cache = len(requests)
    requests.clear()
    everything(open_split(URL, "train"))
    assert with_cache <= len(requests)


def test_directory_that_is_gone_is_a_warning(where: Path) -> None:
    split = open_split(URL, "train", cache_dir=where)
    where.rmdir()
    with pytest.warns(RuntimeWarning, match=r"cannot be written: No such file"):
        assert everything(split) == [*range(COUNT)]


def test_pickled_split_keeps_its_cache(
    requests: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is read."""
    monkeypatch.chdir(tmp_path)
    split = open_split(URL, "train", cache_dir="cache")
    everything(split)
    monkeypatch.chdir("/")
    requests.clear()
    again = pickle.loads(pickle.dumps(split))
    assert everything(again) == [*range(COUNT)]
    assert requests == []


def test_mixed_and_selected_splits_are_kept(requests: list[str], where: Path) -> None:
    write_dataset(rows(COUNT), f"{URL}-other", "train", shards=3)
    sources = {URL: 1.0, f"{URL}-other": 2.0}
    both = open_split(sources, "train", cache_dir=where)
    first = everything(both, shuffle_seed=1)
    requests.clear()
    assert everything(both, shuffle_seed=1) == first
    parts = [
        open_split(URL, f"train[{part}]", cache_dir=where) for part in (":9", "9:")
    ]
    assert everything(mix(parts), shuffle_seed=2)
    assert requests == []


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"cache_bytes": 1}, "cache_bytes=1: pass cache_dir, too"),
        ({"cache_dir": "c", "cache_bytes": 0}, "cache_bytes=0: expected a 64-bit"),
        ({"cache_dir": "c", "cache_bytes": 1.5}, "cache_bytes=1.5: expected a 64-bit"),
        ({"cache_dir": ""}, "cache_dir='': expected a directory of this machine"),
        ({"cache_dir": "s3://bucket/cache"}, "expected a directory of this machine"),
        ({"cache_dir": b"c"}, "cache_dir=b'c': expected a directory of this machine"),
        ({"cache_dir": "file"}, "file': the directory cannot be made: File exists"),
        ({"cache_dir": "file/c"}, "c': the directory cannot be made: Not a directory"),
    ],
    ids=str,
)
def test_wrong_options_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(DatasetError, match=problem):
        open_split(URL, "train", **options)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and segments of which one shard has many, and a record some."""
    monkeypatch.setattr(cache_module, "_BLOCK", 1 << 7)
    monkeypatch.setattr(cache_module, "_SEGMENT", 1 << 13)
    monkeypatch.setattr(cache_module, "_BLOCKS", 1 << 6)
    monkeypatch.setattr(cache_module, "_MOST_FETCHED", 1 << 15)


@pytest.mark.usefixtures("small")
def test_programs_that_store_little_stay_within_the_bound_together(where: Path) -> None:
    bound = 600_000
    for number in range(0, COUNT, 35):
        split = open_split(URL, "train", cache_dir=where, cache_bytes=bound)
        assert split[number]["scan"] == number
        assert taken(where) <= bound
    assert taken(where) > bound // 2


def test_removed_segments_take_no_room_while_they_are_open(where: Path) -> None:
    split = open_split(URL, "train", cache_dir=where)
    everything(split)
    for path in segments(where):
        os.utime(path, (1, 1))
    write_dataset(rows(100), URL, "test", shards=1)
    everything(open_split(URL, "test", cache_dir=where, cache_bytes=100_000))
    paths = {path: os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()}
    handles = [
        int(handle.name)
        for handle, path in paths.items()
        if path.startswith(str(where)) and path.endswith("(deleted)")
    ]
    assert len(handles) >= SHARDS
    assert sum(os.fstat(handle).st_blocks for handle in handles) == 0
    assert everything(split) == [*range(COUNT)]


@pytest.mark.usefixtures("small")
@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_read_and_becomes_of_the_cache_records_are_right(
    where: Path, seed: int
) -> None:
    """Records that are near or far, with damage and removals between."""
    random = np.random.default_rng(seed)
    most = [1, 100_000, 400_000, None][seed % 4]
    for _ in range(60):
        if random.random() < 0.2 or not _:
            split = open_split(URL, "train", cache_dir=where, cache_bytes=most)
        start, stop = sorted(random.integers(0, COUNT, 2).tolist())
        numbers = random.permutation(np.arange(start, stop))
        numbers = numbers[: random.choice([1, 5, 100, COUNT])]
        if random.random() < 0.3:
            numbers = np.sort(numbers)
        assert split[numbers].get("scan", numbers).tolist() == numbers.tolist()
        for path in segments(where):
            if random.random() < 0.02:
                names = [*DAMAGES]
                DAMAGES[names[random.integers(len(names))]](path)


@pytest.mark.usefixtures("small")
@pytest.mark.filterwarnings("ignore:cache_dir=")
@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("seed", range(6))
def test_whatever_the_disk_refuses_records_are_right(
    where: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """At any write, half of which is done, and at any segment that is opened."""
    random = np.random.default_rng(seed)
    pwrite, opened = os.pwrite, os.open

    def writing(handle: int, data: bytes, start: int) -> int:
        if random.random() < 0.03:
            pwrite(handle, data[: len(data) // 2], start)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(handle, data, start)

    def opening(path: Any, *arguments: Any, **options: Any) -> int:
        if str(path).endswith(".segment") and random.random() < 0.1:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "pwrite", writing)
    monkeypatch.setattr(os, "open", opening)
    for _ in range(20):
        split = open_split(URL, "train", cache_dir=where)
        for _ in range(3):
            count = int(random.choice([1, 20, COUNT]))
            numbers = random.choice(COUNT, count, replace=False)
            assert split[numbers]["scan"].tolist() == numbers.tolist()


@pytest.mark.usefixtures("small")
def test_threads_read_while_others_remove(where: Path) -> None:
    def read(seed: int) -> None:
        most = 50_000 if seed % 2 else 600_000
        split = open_split(URL, "train", cache_dir=where, cache_bytes=most)
        random = np.random.default_rng(seed)
        for _ in range(15):
            numbers = random.choice(COUNT, 300, replace=False)
            assert split[numbers]["scan"].tolist() == numbers.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(read, range(6))] == [None] * 6
