"""Writing a split: whole or not at all, the same bytes each time."""

from __future__ import annotations

import errno
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from read_splits import records_of
from schemagen.runtime.shared.errors import (
    DatasetError,
    RecordError,
    SchemaMismatchError,
)
from schemagen.runtime.shared.tfrecord import read_records
from schemagen.runtime.sources.files import find_files
from schemagen.runtime.storage import manifest
from schemagen.runtime.storage.local import LocalFile
from schemagen.runtime.writing.writer import ShardedWriter
from splits import sharded_writer, write_split

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_FIELD = {"kind": "Text", "name": "word", "key": "word", "role": "input"}
SPEC: dict[str, Any] = {
    "record": "note",
    "fields": [{**_FIELD, "optional": False, "default": None, "doc": ""}],
}
_MORE = {
    **_FIELD,
    **{"name": "more", "key": "more", "optional": True, "default": None, "doc": ""},
}
_OTHER: dict[str, Any] = {
    "record": "note",
    "fields": [{**SPEC["fields"][0], "name": "words", "key": "words"}],
}
ROWS = [f"row {number}".encode() * (number % 3 + 1) for number in range(10)]


def make_writer(directory: Path, split: str = "train", **options: Any) -> ShardedWriter:
    """A writer of the test's own record, or of another as `options` say."""
    named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
    return sharded_writer(directory, split, **named)


def write(directory: Path, rows: list[bytes], **options: Any) -> None:
    """Write a whole split."""
    with make_writer(directory, **options) as writer:
        writer.extend(rows)


def names(directory: Path) -> list[str]:
    """All that is in a directory, hidden files too."""
    return sorted(path.name for path in directory.iterdir())


def readable(directory: Path, split: str = "train") -> list[bytes]:
    """The split's records as a reader of the directory gets them."""
    return list(records_of(find_files(directory, split, SPEC)).as_numpy_iterator())


def in_files(directory: Path) -> list[list[bytes]]:
    """The records of each shard, in the order of the shards' names."""
    return [list(read_records(p)) for p in sorted(directory.glob("*.tfrecord*"))]


# What is written.


@pytest.mark.parametrize(
    ("options", "rows", "expected"),
    [
        ({}, ROWS, [ROWS]),
        ({"shards": 3}, ROWS, [ROWS[0::3], ROWS[1::3], ROWS[2::3]]),
        ({"shards": 4}, ROWS[:2], [ROWS[:1], ROWS[1:2], [], []]),
        (
            {"shard_bytes": 3 * 26},
            [b"x" * 10] * 7,
            [[b"x" * 10] * n for n in (3, 3, 1)],
        ),
        (
            {"shard_bytes": 20},
            [b"a" * 50, b"b", b"c" * 50],
            [[b"a" * 50], [b"b"], [b"c" * 50]],
        ),
    ],
)
def test_records_go_to_shards_in_turn_or_by_size(
    tmp_path: Path,
    options: dict[str, Any],
    rows: list[bytes],
    expected: list[list[bytes]],
) -> None:
    """Each shard that was asked for is there, if need be without records."""
    write(tmp_path, rows, **options)
    assert in_files(tmp_path) == expected
    total = len(expected)
    assert names(tmp_path) == [
        "manifest.json",
        *(f"train-{at:05}-of-{total:05}.tfrecord" for at in range(total)),
    ]


@pytest.mark.parametrize(
    "options", [{}, {"shards": 3}, {"compression": "GZIP"}, {"compression": "ZLIB"}]
)
def test_a_split_without_rows_is_published_with_a_warning(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """It reads as an empty dataset; more often an iterator was used up."""
    with pytest.warns(RuntimeWarning, match=r"'train' was published without records"):
        write(tmp_path, [], **options)
    found = manifest.load(tmp_path)
    assert found is not None
    assert found.splits["train"].records == 0
    assert readable(tmp_path) == []


_STRANGE = ["", "a/b", "../x", "-a", "a-", "a b", "a--b", "ä", ".", "..", ".a", "a\n"]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        *((split, "expected letters, digits") for split in _STRANGE),
        ("manifest", "files of the directory have names like this"),
        ("train-00000-of-00001", "files of the directory have names like this"),
        ("a" * 151, "expected at most 150 characters"),
    ],
)
def test_bad_split_names_are_refused(tmp_path: Path, split: str, message: str) -> None:
    """A name becomes part of file names, which are never those of other files."""
    with pytest.raises(DatasetError, match=message):
        make_writer(tmp_path, split)
    assert names(tmp_path) == []


def test_large_files_are_written_whole(tmp_path: Path) -> None:
    """More than the buffer, in small and in large records, arrives unharmed."""
    noise = np.random.default_rng(0)
    rows = [noise.bytes(size) for size in (3_000_000, 10, 1_048_576, 700_000, 1)]
    for compression in (None, "GZIP", "ZLIB"):
        write(tmp_path, rows, compression=compression, overwrite=True)
        assert readable(tmp_path) == rows


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_equal_rows_make_equal_directories(
    tmp_path: Path, compression: str | None
) -> None:
    """Two runs give the same files, byte for byte: no time, no name, no token."""
    for name in ("a", "b"):
        write(tmp_path / name, ROWS, shards=2, compression=compression)
    assert names(tmp_path / "a") == names(tmp_path / "b")
    for name in names(tmp_path / "a"):
        first, second = ((tmp_path / d / name).read_bytes() for d in "ab")
        assert first == second


# When it goes wrong.


class _Refused(Exception):
    """An error of the caller's own."""


def _write_and_fail(directory: Path, **options: Any) -> None:
    """Write rows, then leave the writer with an error, which has to come through."""
    with pytest.raises(_Refused), make_writer(directory, **options) as writer:
        _then_fail(writer.extend, ROWS)


def _then_fail(function: Callable[[Any], None], argument: Any) -> None:
    function(argument)
    raise _Refused


def test_leaving_with_an_error_publishes_nothing(tmp_path: Path) -> None:
    """An error inside `with` leaves no file behind and comes through."""
    for compression in (None, "GZIP", "ZLIB"):
        _write_and_fail(tmp_path, shards=2, compression=compression)
        assert names(tmp_path) == []


def test_an_aborted_writer_leaves_no_trace(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """Half-filled compressed buffers are dropped silently."""
    import gc

    writer = make_writer(tmp_path, compression="GZIP")
    writer.append(np.random.default_rng(0).bytes(2_500_000))
    writer.abort()
    del writer
    gc.collect()
    assert names(tmp_path) == []
    assert not recwarn.list


def test_an_error_keeps_the_old_split(tmp_path: Path) -> None:
    """What was published before is still there after a failed replacement."""
    write(tmp_path, ROWS)
    before = names(tmp_path)
    _write_and_fail(tmp_path, overwrite=True)
    assert names(tmp_path) == before
    assert readable(tmp_path) == ROWS


def _disk_full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


_MUCH = b"x" * 2_000_000


def test_a_full_disk_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OSError in the middle removes everything, and the writer takes no more."""
    writer = make_writer(tmp_path)
    writer.append(ROWS[0])
    with monkeypatch.context() as patched:
        patched.setattr(LocalFile, "write", _disk_full)
        with pytest.raises(OSError, match="No space left"):
            writer.append(_MUCH)
    assert names(tmp_path) == []
    with pytest.raises(DatasetError, match="the writer is closed"):
        writer.append(ROWS[2])


def test_a_caught_disk_error_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who swallows OSError inside `with` is told at the end: nothing is there."""
    writer = make_writer(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(LocalFile, "write", _disk_full)
        with pytest.raises(OSError, match="No space left"):
            writer.append(_MUCH)
    with pytest.raises(DatasetError) as caught:
        writer.__exit__(None, None, None)
    assert str(caught.value) == (
        "split 'train': an earlier error ended the writing, and nothing was "
        "published: [Errno 28] No space left on device; nothing of split 'train' was "
        "published"
    )
    assert names(tmp_path) == []


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("old", [False, True])
@pytest.mark.filterwarnings("ignore:.*its publication is completed now")
def test_a_disk_error_while_publishing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, old: bool
) -> None:
    """Whichever step of publication fails, old, new or nothing can be read."""
    genuine = getattr(os, call)
    for step in range(20):
        directory = tmp_path / str(step)
        directory.mkdir()
        if old:
            write(directory, ROWS, shards=2)
        calls = iter(range(100))

        def fail_at_step(
            *args: Any, step: int = step, calls: Any = calls, **more: Any
        ) -> Any:
            return _disk_full() if next(calls) == step else genuine(*args, **more)

        with monkeypatch.context() as patched:
            patched.setattr(os, call, fail_at_step)
            try:
                write(directory, ROWS[:4], shards=3, overwrite=True)
            except OSError:
                failed = True
            else:
                failed = False
        assert _outcome(directory) in ((ROWS,) if old else ()) + (ROWS[:4], None)
        if not failed:
            assert _outcome(directory) == ROWS[:4]
            return
        write(directory, ROWS[:2], overwrite=True)
        assert _outcome(directory) == ROWS[:2]
        assert len(names(directory)) == 2
    pytest.fail("publication takes more steps than this test knows")


def _outcome(directory: Path) -> list[bytes] | None:
    """What a reader gets, or None if the directory is refused."""
    try:
        found = readable(directory)
    except DatasetError:
        return None
    # Round robin over shards: back to the order in which it was written.
    return sorted(found, key=ROWS.index)


def test_files_that_nobody_knows_are_refused(tmp_path: Path) -> None:
    """Shards that no manifest lists are not silently mixed with new ones."""
    (tmp_path / "train-00000-of-00002.tfrecord").write_bytes(b"")
    with pytest.raises(DatasetError) as caught:
        make_writer(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: 1 files of a split 'train' that no manifest lists, "
        "the first is train-00000-of-00002.tfrecord: left by other code, or the "
        "manifest is lost; pass overwrite=True to replace them"
    )


def test_stray_shards_are_replaced_when_asked(tmp_path: Path) -> None:
    """overwrite=True removes stray shards of this split and of no other."""
    for name in ("train-00000-of-00009.tfrecord", "train-x-00000-of-00001.tfrecord"):
        (tmp_path / name).write_bytes(b"")
    write(tmp_path, ROWS, overwrite=True)
    assert names(tmp_path) == [
        "manifest.json",
        "train-00000-of-00001.tfrecord",
        "train-x-00000-of-00001.tfrecord",
    ]


# What is there already.


def test_an_existing_split_is_kept(tmp_path: Path) -> None:
    """Without overwrite=True a split is never replaced."""
    write(tmp_path, ROWS)
    with pytest.raises(DatasetError) as caught:
        make_writer(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/manifest.json: split 'train' exists with 10 records; pass "
        "overwrite=True to replace it"
    )
    assert readable(tmp_path) == ROWS


@pytest.mark.parametrize(("before", "after"), [(2, 5), (5, 2), (3, 3)])
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_overwriting_leaves_no_stale_file(
    tmp_path: Path, before: int, after: int, compression: str | None
) -> None:
    """A replaced split leaves the new files and no old one, whatever their number."""
    write(tmp_path, ROWS, shards=before)
    write(tmp_path, ROWS[:6], shards=after, overwrite=True, compression=compression)
    suffix = {"GZIP": ".gz", "ZLIB": ".zlib"}.get(compression or "", "")
    expected = [f"train-{i:05}-of-{after:05}.tfrecord{suffix}" for i in range(after)]
    assert names(tmp_path) == ["manifest.json", *expected]
    assert sorted(readable(tmp_path)) == sorted(ROWS[:6])


def test_splits_are_added_beside_each_other(tmp_path: Path) -> None:
    """A second split leaves the first as it is, and one shared manifest lists both."""
    write(tmp_path, ROWS)
    write(tmp_path, ROWS[:2], split="test")
    assert readable(tmp_path, "train") == ROWS
    assert readable(tmp_path, "test") == ROWS[:2]


def test_replacing_one_split_keeps_the_other(tmp_path: Path) -> None:
    """A split whose name begins with another's is not taken for it."""
    write(tmp_path, ROWS, split="train")
    write(tmp_path, ROWS[:5], split="train-b")
    write(tmp_path, ROWS[:1], split="train", overwrite=True)
    assert readable(tmp_path, "train") == ROWS[:1]
    assert readable(tmp_path, "train-b") == ROWS[:5]


def test_two_writers_at_once(tmp_path: Path) -> None:
    """Splits that are open at the same time are both published."""
    with make_writer(tmp_path, "train") as train, make_writer(tmp_path, "test") as test:
        train.extend(ROWS)
        test.extend(ROWS[:3])
    assert readable(tmp_path, "train") == ROWS
    assert readable(tmp_path, "test") == ROWS[:3]


def test_two_writers_of_one_split(tmp_path: Path) -> None:
    """A second writer of a split is refused as long as the first is at work."""
    with make_writer(tmp_path) as first:
        first.extend(ROWS)
        with pytest.raises(DatasetError) as caught:
            make_writer(tmp_path)
    assert str(caught.value).startswith(
        f"{tmp_path}: another writer is writing split 'train': "
        f"{tmp_path}/.train.lock: held by process {os.getpid()} on "
    )
    assert readable(tmp_path) == ROWS
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_another_schema_in_the_meantime(tmp_path: Path) -> None:
    """What was written next to an open writer is checked again when it closes."""
    first = make_writer(tmp_path, "train")
    write(tmp_path, ROWS, split="test", fingerprint="bbbb", spec=_OTHER)
    with pytest.raises(SchemaMismatchError, match=r"split 'test': .*another schema"):
        first.close()
    assert (
        list(records_of(find_files(tmp_path, "test", _OTHER)).as_numpy_iterator())
        == ROWS
    )


def test_another_records_directory(tmp_path: Path) -> None:
    """A directory holds one record: another one is refused, also with overwrite."""
    write(tmp_path, ROWS)
    with pytest.raises(DatasetError) as caught:
        make_writer(tmp_path, record="pet", overwrite=True)
    assert str(caught.value) == (
        f"{tmp_path}/manifest.json: this directory holds 'note' records, not 'pet'; "
        "write to a directory of its own"
    )


def test_another_schema_beside_old_splits(tmp_path: Path) -> None:
    """Splits that one reader cannot read are not put together; it is said why."""
    write(tmp_path, ROWS)
    with pytest.raises(SchemaMismatchError) as caught:
        make_writer(tmp_path, "test", fingerprint="bbbb", spec=_OTHER)
    assert str(caught.value) == (
        f"{tmp_path}/manifest.json: split 'train': the data was written with another "
        "schema:\n  field 'words': nothing was written under the key 'words', expected "
        "a Text; if it is 'word' renamed, give it key='word' (SG202)\n"
        "Give a new field a default, such as `= None` for a type with `| None`, which "
        "records without it then have. Or write to another directory; or change the "
        f"schema back; or delete {tmp_path} if its other splits are no longer needed. "
        "`schemagen explain SG202` says more."
    )
    number = {**SPEC["fields"][0], "kind": "Scalar", "dtype": "int64"}
    with pytest.raises(SchemaMismatchError) as caught:
        make_writer(
            tmp_path,
            "test",
            fingerprint="bbbb",
            spec={**SPEC, "fields": [number]},
            overwrite=True,
        )
    assert str(caught.value).splitlines()[2:] == [
        "Write to another directory; or change the schema back; or delete "
        f"{tmp_path} if its other splits are no longer needed. "
        "`schemagen explain SG205` says more."
    ]


def test_a_compatible_schema_beside_old_splits(tmp_path: Path) -> None:
    """A schema that reads the old splits is added, and each split keeps its own."""
    wider = {**SPEC, "fields": [*SPEC["fields"], _MORE]}
    write(tmp_path, ROWS)
    write(tmp_path, ROWS[:2], split="test", fingerprint="bbbb", spec=wider)
    found = manifest.load(tmp_path)
    assert found is not None
    assert (found.fingerprint, found.spec) == ("bbbb", wider)
    assert (found.fingerprint_of("train"), found.spec_of("train")) == ("aaaa", SPEC)
    assert (found.fingerprint_of("test"), found.spec_of("test")) == ("bbbb", wider)
    for split, rows in (("train", ROWS), ("test", ROWS[:2])):
        assert (
            list(records_of(find_files(tmp_path, split, wider)).as_numpy_iterator())
            == rows
        )
    # Back to the old schema: what the new one wrote is read without the field.
    write(tmp_path, ROWS[:1], split="val")
    found = manifest.load(tmp_path)
    assert found is not None
    assert {name: found.fingerprint_of(name) for name in found.splits} == {
        "train": "aaaa",
        "test": "bbbb",
        "val": "aaaa",
    }


def test_each_split_is_compared_by_its_own_schema(tmp_path: Path) -> None:
    """A field that came, went and came again as another is not read from old data."""
    number = {"dtype": "int64", "encoding": "list", "exact": True, "finite": True}
    scalar = {**_MORE, "kind": "Scalar", **number}
    old = {**SPEC, "fields": [*SPEC["fields"], scalar]}
    new = {**SPEC, "fields": [*SPEC["fields"], _MORE]}
    write(tmp_path, ROWS, split="a", fingerprint="a", spec=old)
    write(tmp_path, ROWS, split="b", fingerprint="b")
    with pytest.raises(
        SchemaMismatchError, match=r"split 'a': (.|\n)*field 'more': kind"
    ):
        make_writer(tmp_path, "c", fingerprint="c", spec=new)


def test_another_fingerprint_may_replace_the_only_split(tmp_path: Path) -> None:
    """Where nothing else is left of the old schema, the new one takes its place."""
    write(tmp_path, ROWS)
    write(tmp_path, ROWS[:2], fingerprint="bbbb", overwrite=True)
    found = manifest.load(tmp_path)
    assert found is not None
    assert found.fingerprint == "bbbb"


@pytest.mark.parametrize(
    "split", ["train", "v1.2", "fold_0", "train-2024-01", "a" * 150, "manifest-2"]
)
def test_good_split_names(tmp_path: Path, split: str) -> None:
    """Usual names work, with inner dots and dashes."""
    write(tmp_path, ROWS, split=split)
    assert readable(tmp_path, split) == ROWS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overwrite": "no"}, "overwrite='no': expected True or False"),
        ({"overwrite": 1}, "overwrite=1: expected True or False"),
        ({"shards": 0}, "shards=0: expected 1 to 99999, or None"),
        ({"shards": 100_000}, "shards=100000: expected 1 to 99999, or None"),
        ({"shards": 1.5}, "shards=1.5: expected 1 to 99999, or None"),
        ({"shards": "2"}, "shards='2': expected 1 to 99999, or None"),
        ({"shards": True}, "shards=True: expected 1 to 99999, or None"),
        ({"shard_bytes": 0}, "shard_bytes=0: expected an integer from 1"),
        ({"shard_bytes": None}, "shard_bytes=None: expected an integer from 1"),
        ({"shard_bytes": 1.5e4}, "shard_bytes=15000.0: expected an integer from 1"),
        (
            {"shards": 2, "shard_bytes": 100},
            "shard_bytes=100 and shards=2: expected one of them, the number of files "
            "or their size",
        ),
        (
            {"compression": "zlib"},
            "compression='zlib': expected None, 'GZIP' or 'ZLIB'",
        ),
    ],
)
def test_bad_arguments(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    """An argument out of range is an error before anything is written."""
    with pytest.raises(DatasetError) as caught:
        make_writer(tmp_path / "data", **options)
    assert str(caught.value) == message
    assert not (tmp_path / "data").exists()


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    """After closing, writing is an error, and closing again changes nothing."""
    writer = make_writer(tmp_path)
    writer.extend(ROWS)
    writer.close()
    writer.close()
    with pytest.raises(DatasetError, match="split 'train': the writer is closed"):
        writer.append(b"late")
    assert readable(tmp_path) == ROWS


# What the generated writer makes of rows.

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, VarLen, Vector

class Fruit(Record):
    weight: Annotated[np.ndarray, Vector(shape=(2,), dtype="float64")]
    seeds: Annotated[list[int], VarLen(dtype="int64")]
    kind: Annotated[str, Label(classes=("apple", "pear"))]
    note: str | None = None
"""


def fruits(count: int) -> list[dict[str, Any]]:
    """Rows for the schema above, each different."""
    return [
        {
            "weight": np.array([number, number / 3]),
            "seeds": list(range(number)),
            "kind": ("apple", "pear")[number % 2],
            **({"note": f"no. {number}"} if number % 3 else {}),
        }
        for number in range(count)
    ]


@pytest.fixture
def fruit(package_of: PackageOf) -> Workspace:
    """The generated package for the schema above."""
    return package_of(_SCHEMA)


@pytest.fixture
def read_fruits(fruit: Workspace) -> Callable[[Path], list[float]]:
    """The weights of all records that a reader of the directory gets."""
    make_dataset = fruit.module("fruit", "pipeline").make_dataset

    def read(directory: Path) -> list[float]:
        dataset = make_dataset(directory, batch_size=4).unbatch()
        return [float(features["weight"][0]) for features, _ in dataset]

    return read


def test_a_refused_row_is_not_written(
    tmp_path: Path, fruit: Workspace, read_fruits: Callable[[Path], list[float]]
) -> None:
    """Who catches the error of a row gets exactly the rows that were good."""
    rows = fruits(6)
    rows[2]["weight"] = np.zeros(3)
    rows[4]["kind"] = "plum"
    refused = []
    with fruit.module("fruit", "serializer").Writer(tmp_path, "train") as writer:
        for number, row in enumerate(rows):
            try:
                writer.write(**row)
            except ValueError as error:
                refused.append((number, str(error)))
        assert writer.records == 4
    assert refused == [
        (2, "field 'weight': found shape [3], expected shape [2]"),
        (
            4,
            "field 'kind': found the class 'plum', expected a class id from 0 to 1 "
            "or one of 'apple', 'pear'",
        ),
    ]
    assert read_fruits(tmp_path) == [0, 1, 3, 5]


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    fields = ("weight", "seeds", "kind", "note")
    return {name: [row.get(name) for row in rows] for name in fields}


def test_a_batch_is_written_whole_or_not(
    tmp_path: Path, fruit: Workspace, read_fruits: Callable[[Path], list[float]]
) -> None:
    """One bad row refuses its batch, by its number, and no other batch."""
    bad = fruits(4)
    bad[3]["weight"] = np.array([np.nan, 0])
    with fruit.module("fruit", "serializer").Writer(tmp_path, "train") as writer:
        writer.write_batch(**_columns(fruits(2)))
        with pytest.raises(ValueError, match=r"^row 3: field 'weight': found nan at"):
            writer.write_batch(**_columns(bad))
        assert writer.records == 2
        writer.write_batch(**_columns(fruits(3)))
    assert read_fruits(tmp_path) == [0, 1, 0, 1, 2]


def test_batches_and_rows_make_the_same_files(tmp_path: Path, fruit: Workspace) -> None:
    """Records written by column are those written one by one."""
    Writer = fruit.module("fruit", "serializer").Writer
    with Writer(tmp_path / "a", "train", shards=2) as writer:
        for row in fruits(9):
            writer.write(**row)
    with Writer(tmp_path / "b", "train", shards=2) as writer:
        writer.write_batch(**_columns(fruits(5)))
        writer.write_batch(**_columns(fruits(9)[5:]))
    for name in names(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()


def test_write_dataset(
    tmp_path: Path, fruit: Workspace, read_fruits: Callable[[Path], list[float]]
) -> None:
    """write_dataset takes any iterable of rows and says how many there were."""
    write_dataset = fruit.module("fruit", "serializer").write_dataset
    assert write_dataset(iter(fruits(7)), tmp_path, "train", compression="GZIP") == 7
    assert read_fruits(tmp_path) == [0, 1, 2, 3, 4, 5, 6]


def test_write_dataset_takes_records(tmp_path: Path, fruit: Workspace) -> None:
    """Instances of the schema's class are rows, and give the bytes of their dicts."""
    Fruit = runpy.run_path(str(fruit.root / "schemas" / "records.py"))["Fruit"]
    records = [Fruit(**row) for row in fruits(5)]
    write_dataset = fruit.module("fruit", "serializer").write_dataset
    write_dataset(records, tmp_path / "a", "train")
    write_dataset(fruits(5), tmp_path / "b", "train")
    for name in names(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()


def test_errors_can_be_told_apart() -> None:
    """A refused row is a ValueError, a refused directory is not."""
    assert issubclass(RecordError, ValueError)
    assert not issubclass(DatasetError, ValueError)


@pytest.mark.filterwarnings("always::RuntimeWarning")
def test_a_writer_that_nobody_closed_says_so(tmp_path: Path) -> None:
    """Forgetting `with` loses no records in silence, and leaves no files."""
    writer = make_writer(tmp_path)
    writer.extend([b"one", b"two"])
    with pytest.warns(RuntimeWarning, match=r"never closed, and its records are not"):
        del writer
    assert list(tmp_path.iterdir()) == []


def test_arguments_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    """Rows in the place of another argument are named by their type, and not printed."""
    rows = [{"x": 1}]
    with pytest.raises(TypeError, match=r"^split is a list, expected "):
        make_writer(tmp_path, rows)  # type: ignore[arg-type]
    named: dict[str, Any] = {"record": "note", "spec": SPEC, "fingerprint": "aaaa"}
    wrong: list[tuple[tuple[Any, ...], str]] = [
        (("data", "train", rows), "split is a list"),
        (("data", rows, "train"), "directory is a list"),
        ((rows, "train", tmp_path), f"split is a {type(tmp_path).__name__}"),
        (("data", "train", "rows"), "the source is str 'data'"),
    ]
    for (source, directory, split), message in wrong:
        with pytest.raises(TypeError) as caught:
            write_split(source, bytes, directory, split, **named)
        assert str(caught.value).startswith(f"{message}, expected ")
    assert names(tmp_path) == []
