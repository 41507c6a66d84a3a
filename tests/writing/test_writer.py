"""Writing a split with `Writer`: whole or not at all, next to what is there already."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import resource
import runpy
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from columns import columns_of
from command_line import run
from digit_rows import contents, row, rows
from published_splits import names, numbers_of, records_of, shards_of

from generated import DatasetError, RecordError, SchemaMismatchError
from generated.digit.serializer import Writer, write_dataset
from generated.photo import serializer as photo

if TYPE_CHECKING:
    from conftest import PackageOf

ROOT = Path(__file__).parents[2]
ROWS = [f"row {number}".encode() * (number % 3 + 1) for number in range(10)]


def write(
    directory: Path, rows: list[bytes], split: str = "train", **more: Any
) -> None:
    """Write a whole split of records that need not be digits."""
    with Writer(directory, split, **more) as writer:
        writer.extend(rows)


# What is written.


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "ZSTD"])
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
    compression: str | None,
) -> None:
    """In whatever pieces they come; each shard that was asked for is there."""
    with Writer(tmp_path, "train", compression=compression, **options) as writer:
        writer.append(rows[0])
        writer.extend(rows[1:4])
        for record in rows[4:]:
            writer.append(record)
        assert writer.records == len(rows)
    assert shards_of(tmp_path) == expected
    total, suffix = len(expected), {"GZIP": ".gz", "ZLIB": ".zlib", "ZSTD": ".zst"}
    assert names(tmp_path) == [
        "manifest.json",
        *(
            f"train-{at:05}-of-{total:05}.tfrecord{suffix.get(compression or '', '')}"
            for at in range(total)
        ),
    ]


@pytest.mark.parametrize("shards", [None, 3])
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "ZSTD"])
def test_a_split_without_rows_is_published_only_if_asked_for(
    tmp_path: Path, shards: int | None, compression: str | None
) -> None:
    """It reads as an empty dataset; more often an iterator was used up."""
    options = {"shards": shards, "compression": compression, "overwrite": True}
    write(tmp_path, ROWS)
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match="'train'"):
        write(tmp_path, [], **options)
    for source in (iter(()), [], [lambda: iter(())] * (shards or 1)):
        with pytest.raises(DatasetError, match="'train'"):
            write_dataset(source, tmp_path, "train", **options)
    with pytest.raises(DatasetError, match="'train'"), pytest.warns(RuntimeWarning):
        write_dataset([{"scan": 0}], tmp_path, "train", on_error="skip", **options)
    assert contents(tmp_path) == before
    write(tmp_path, [], allow_empty=True, **options)
    assert records_of(tmp_path) == []


def test_large_records_are_written_whole(tmp_path: Path) -> None:
    """More than the buffer, in small and in large records, arrives unharmed."""
    noise = np.random.default_rng(0)
    rows = [noise.bytes(size) for size in (3_000_000, 10, 1_048_576, 700_000, 1)]
    for compression in (None, "GZIP", "ZLIB", "ZSTD"):
        write(tmp_path, rows, compression=compression, overwrite=True)
        assert records_of(tmp_path) == rows


_STRANGE = ["", "a/b", "../x", "-a", "a-", "a b", "a--b", "ä", ".", "..", ".a", "a\n"]


@pytest.mark.parametrize(
    "split",
    [*_STRANGE, "manifest", "train-00000-of-00001", "train-00000-of", "a" * 151],
)
def test_a_split_name_that_makes_no_file_name_is_refused(
    tmp_path: Path, split: str
) -> None:
    """A name becomes part of file names, which are never those of other files."""
    with pytest.raises(DatasetError):
        Writer(tmp_path, split)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "split", ["train", "v1.2", "fold_0", "train-2024-01", "a" * 150, "manifest-2"]
)
def test_usual_split_names_are_taken(tmp_path: Path, split: str) -> None:
    """With inner dots and dashes."""
    write(tmp_path, ROWS, split=split)
    assert records_of(tmp_path, split) == ROWS


# When it goes wrong.


def _write_a_wrong_row(directory: Path, **options: Any) -> None:
    with Writer(directory, "train", **options) as writer:
        writer.extend(ROWS)
        writer.write(**{**row(2), "digit": 17})


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB", "ZSTD"])
@pytest.mark.parametrize("old", [False, True])
def test_an_error_in_the_block_publishes_nothing(
    tmp_path: Path, compression: str | None, old: bool
) -> None:
    """It comes through, and the directory is as it was before."""
    before: dict[str, bytes] = {}
    if old:
        write(tmp_path, ROWS, shards=3)
        before = contents(tmp_path)
    options = {"shards": 2, "compression": compression, "overwrite": old}
    with pytest.raises(RecordError, match="'digit'"):
        _write_a_wrong_row(tmp_path, **options)
    assert contents(tmp_path) == before


def test_an_aborted_writer_leaves_no_trace(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """Half-filled compressed buffers are dropped silently."""
    writer = Writer(tmp_path, "train", compression="GZIP")
    writer.append(np.random.default_rng(0).bytes(2_500_000))
    writer.abort()
    del writer
    gc.collect()
    assert names(tmp_path) == []
    assert not recwarn.list


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to make files larger than a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_caught_disk_error_is_not_forgotten(tmp_path: Path) -> None:
    """It names the file; who goes on after it learns at the end that nothing is there."""
    writer = Writer(tmp_path, "train")
    writer.append(ROWS[0])
    with files_of_at_most(1_500_001):
        with pytest.raises(OSError, match="train-00000") as caught:
            writer.append(b"x" * 2_000_000)
        assert caught.value.errno == errno.EFBIG
    assert names(tmp_path) == []
    for late in (lambda: writer.append(ROWS[2]), writer.close):
        with pytest.raises(DatasetError, match="'train'"):
            late()
    assert names(tmp_path) == []


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    """After closing, writing is an error, and closing again changes nothing."""
    writer = Writer(tmp_path, "train")
    writer.extend(ROWS)
    writer.close()
    writer.close()
    with pytest.raises(DatasetError, match="'train'"):
        writer.append(b"late")
    assert records_of(tmp_path) == ROWS


def test_a_writer_that_was_never_closed_warns(tmp_path: Path) -> None:
    """Forgetting `with` loses no records in silence, and leaves no files."""
    writer = Writer(tmp_path, "train")
    writer.extend([b"one", b"two"])
    with pytest.warns(RuntimeWarning, match="'train'"):
        del writer
    assert names(tmp_path) == []


# What is there already.


def test_shards_that_no_manifest_lists_are_replaced_when_asked_alone(
    tmp_path: Path,
) -> None:
    """They are not mixed with new ones, and those of other splits are kept."""
    stray = "train-00000-of-00009.tfrecord"
    for name in (stray, "train-x-00000-of-00001.tfrecord"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(DatasetError, match=stray):
        Writer(tmp_path, "train")
    write(tmp_path, ROWS, overwrite=True)
    assert names(tmp_path) == [
        "manifest.json",
        "train-00000-of-00001.tfrecord",
        "train-x-00000-of-00001.tfrecord",
    ]


def test_an_existing_split_is_kept(tmp_path: Path) -> None:
    """Without overwrite=True a split is never replaced."""
    write(tmp_path, ROWS)
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match=r"manifest\.json: .*'train'.* 10 "):
        Writer(tmp_path, "train")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("before", "after"), [(2, 5), (5, 2), (3, 3)])
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_overwriting_leaves_the_files_of_a_new_split(
    tmp_path: Path, before: int, after: int, compression: str | None
) -> None:
    """Whatever the numbers and names of the old ones were."""
    options = {"shards": after, "compression": compression}
    write(tmp_path / "new", ROWS[:6], **options)
    write(tmp_path / "data", ROWS, shards=before)
    write(tmp_path / "data", ROWS[:6], overwrite=True, **options)
    assert contents(tmp_path / "data") == contents(tmp_path / "new")


def test_splits_of_a_directory_do_not_touch_each_other(tmp_path: Path) -> None:
    """Not one whose name begins with another's, nor those that are open at once."""
    write(tmp_path, ROWS)
    with Writer(tmp_path, "train-b") as one, Writer(tmp_path, "test") as other:
        one.extend(ROWS[:5])
        other.extend(ROWS[:3])
    write(tmp_path, ROWS[:1], overwrite=True)
    assert records_of(tmp_path, "train") == ROWS[:1]
    assert records_of(tmp_path, "train-b") == ROWS[:5]
    assert records_of(tmp_path, "test") == ROWS[:3]


# Other schemas.


_NOTE = """
from schemagen import Record

class Note(Record):
    {}
"""
_WORD = _NOTE.format("word: str")
_WORDS = _NOTE.format("words: str")
_MORE = _NOTE.format("word: str\n    more: str | None = None")
_COUNT = _NOTE.format("word: str\n    more: int | None = None")


def note(package_of: PackageOf, schema: str, part: str = "serializer") -> Any:
    """Return a module that is generated for one of the schemas above."""
    return package_of(schema).module("note", part)


def write_notes(
    package_of: PackageOf, schema: str, *where: Any, **options: Any
) -> None:
    """Write two rows."""
    field = "words" if schema is _WORDS else "word"
    note(package_of, schema).write_dataset([{field: "a"}] * 2, *where, **options)


def test_another_record_has_a_directory_of_its_own(tmp_path: Path) -> None:
    """Also with overwrite."""
    write(tmp_path, ROWS)
    before = contents(tmp_path)
    with pytest.raises(DatasetError, match=r"manifest\.json: .*'digit'.*'photo'"):
        photo.Writer(tmp_path, "train", overwrite=True)
    assert contents(tmp_path) == before


def test_a_schema_that_cannot_read_the_other_splits_is_refused(
    tmp_path: Path, package_of: PackageOf
) -> None:
    """By split, field and rule, which is looked at again when the writer closes."""
    late = note(package_of, _WORDS).Writer(tmp_path, "late")
    late.write(words="a")
    write_notes(package_of, _WORD, tmp_path, "train")
    with pytest.raises(SchemaMismatchError, match=r"'train'(.|\n)*'words'.*SG202"):
        note(package_of, _WORDS).Writer(tmp_path, "test")
    with pytest.raises(SchemaMismatchError, match=r"'train'(.|\n)*'words'.*SG202"):
        late.close()
    assert names(tmp_path) == ["manifest.json", "train-00000-of-00001.tfrecord"]
    assert records_of(tmp_path) == [note(package_of, _WORD).serialize(word="a")] * 2
    # Where nothing else is left of the old schema, the new one takes its place.
    write_notes(package_of, _WORDS, tmp_path, "train", overwrite=True)


def test_a_compatible_schema_goes_with_the_other_splits(
    tmp_path: Path, package_of: PackageOf
) -> None:
    """Each split keeps its own, and either reads all of them; so also the way back."""
    for schema, split in ((_WORD, "train"), (_MORE, "test"), (_WORD, "val")):
        write_notes(package_of, schema, tmp_path, split)
    for schema in (_WORD, _MORE):
        make_dataset = note(package_of, schema, "pipeline").make_dataset
        for split in ("train", "test", "val"):
            features = next(iter(make_dataset(tmp_path, split, batch_size=2)))
            assert features["word"].numpy().tolist() == [b"a", b"a"]
    assert run("verify", tmp_path).exit_code == 0


def test_each_split_is_compared_by_its_own_schema(
    tmp_path: Path, package_of: PackageOf
) -> None:
    """A field that came, went and came again as another is not read from old data."""
    write_notes(package_of, _COUNT, tmp_path, "a")
    write_notes(package_of, _WORD, tmp_path, "b")
    with pytest.raises(SchemaMismatchError, match=r"split 'a': (.|\n)*field 'more'"):
        note(package_of, _MORE).Writer(tmp_path, "c")


# Rows and batches.


def test_a_refused_row_or_batch_is_not_written(tmp_path: Path) -> None:
    """Who catches the error gets exactly the others: a batch is written whole or not."""
    wrong = {**row(2), "moments": [0.5] * 7}
    with Writer(tmp_path, "train") as writer:
        writer.write(**row(0))
        with pytest.raises(RecordError) as caught:
            writer.write(**wrong)
        assert (caught.value.field, caught.value.row) == ("moments", None)
        with pytest.raises(RecordError) as caught:
            writer.write_batch(**columns_of(*rows(3), wrong))
        assert (caught.value.field, caught.value.row) == ("moments", 3)
        assert writer.records == 1
        writer.write_batch(**columns_of(*rows(3)))
    assert numbers_of(tmp_path) == [[0, 0, 1, 2]]


def test_rows_batches_and_instances_make_the_same_files(tmp_path: Path) -> None:
    """One by one, by column, as dicts and as instances of the schema's class."""
    with Writer(tmp_path / "rows", "train", shards=2) as writer:
        for each in rows(9):
            writer.write(**each)
    with Writer(tmp_path / "batches", "train", shards=2) as writer:
        writer.write_batch(**columns_of(*rows(5)))
        writer.write_batch(**columns_of(*rows(9)[5:]))
    made = runpy.run_path(str(ROOT / "schemas" / "digit.py"))["Digit"]
    instances = [made(**each) for each in rows(9)]
    write_dataset(iter(instances), tmp_path / "instances", "train", shards=2)
    expected = contents(tmp_path / "rows")
    assert contents(tmp_path / "batches") == expected
    assert contents(tmp_path / "instances") == expected


def test_arguments_in_the_wrong_order_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in the place of another argument are named by their type, and not printed."""
    monkeypatch.chdir(tmp_path)
    secret = [{"secret": 1}]
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: Writer(tmp_path, secret), "split"),  # type: ignore[arg-type]
        (lambda: write_dataset("data", "train", secret), "split"),
        (lambda: write_dataset("data", secret, "train"), "directory"),
        (lambda: write_dataset(secret, "train", tmp_path), "split"),
        (lambda: write_dataset("data", "train", "rows"), "source"),
    ]
    for call, argument in calls:
        with pytest.raises(TypeError, match=argument) as caught:
            call()
        assert "secret" not in str(caught.value)
    assert names(tmp_path) == []


def test_errors_of_rows_and_of_directories_can_be_told_apart() -> None:
    """A refused row is a ValueError, a refused directory is not."""
    assert issubclass(RecordError, ValueError)
    assert not issubclass(DatasetError, ValueError)


# A process that is not its own, and one that is killed.


def test_writer_in_a_forked_process_raises_and_loses_no_row(tmp_path: Path) -> None:
    """Each method does, and what its own process has written is published."""
    with Writer(tmp_path, "train") as writer:
        writer.write(**row(0))
        child = os.fork()
        if not child:
            calls = (
                lambda: writer.write(**row(1)),
                lambda: writer.write_batch(**columns_of(*rows(2))),
                lambda: writer.append(b""),
                lambda: writer.extend([b""]),
                lambda: writer.extend_framed([]),
                writer.close,
                writer.abort,
                lambda: writer.__exit__(None, None, None),
            )
            os._exit(sum(not _says_what_to_do(call) for call in calls))
        assert os.waitpid(child, 0)[1] == 0
        writer.write(**row(1))
    assert numbers_of(tmp_path) == [[0, 1]]


def _says_what_to_do(call: Callable[[], object]) -> bool:
    try:
        call()
    except DatasetError as error:
        return "'train'" in str(error) and "write_part" in str(error)
    return False


def test_exception_in_a_forked_process_ends_no_writer_of_another(
    tmp_path: Path,
) -> None:
    """It leaves the block as it is, and the rows are published."""
    with Writer(tmp_path, "train") as writer:
        writer.write(**row(0))
        child = os.fork()
        if not child:
            status = 1
            try:
                with writer:
                    raise KeyError
            except KeyError:
                status = 0
            os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    assert numbers_of(tmp_path) == [[0]]


def test_writer_cannot_be_sent_to_another_process(tmp_path: Path) -> None:
    """Spawned processes get what they are given by pickle."""
    writer = Writer(tmp_path, "train")
    with pytest.raises(DatasetError, match=r"'train'.*write_part"):
        pickle.dumps(writer)
    writer.abort()


def _killed(directory: Path, write: Callable[[Writer], object], **options: Any) -> None:
    child = os.fork()
    if not child:
        writer = Writer(directory, "train", shard_bytes=20_000, **options)
        write(writer)
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _write_rows(some: list[Any]) -> Callable[[Writer], object]:
    def write(writer: Writer) -> None:
        for each in some:
            writer.write(**each)

    return write


def _write_batches(some: list[Any]) -> Callable[[Writer], object]:
    def write(writer: Writer) -> None:
        for start in range(0, len(some), 7):
            writer.write_batch(**columns_of(*some[start : start + 7]))

    return write


@pytest.mark.parametrize(
    "write", [_write_rows, _write_batches], ids=["rows", "batches"]
)
@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_killed_writer_is_resumed_after_its_last_durable_record(
    tmp_path: Path,
    write: Callable[[list[Any]], Callable[[Writer], object]],
    compression: str | None,
) -> None:
    """However often; files are those of a run that was not killed."""
    options = {"compression": compression}
    data, all_rows = tmp_path / "data", rows(1200)
    _killed(data, write(all_rows[:700]), **options)

    def go_on(writer: Writer) -> None:
        write(all_rows[writer.written : 1000])(writer)

    _killed(data, go_on, resume=True, **options)
    with Writer(data, "train", shard_bytes=20_000, resume=True, **options) as writer:
        assert 300 < writer.written == writer.records < 1000
        write(all_rows[writer.written :])(writer)
        assert writer.records == 1200
    with Writer(tmp_path / "whole", "train", shard_bytes=20_000, **options) as writer:
        write(all_rows)(writer)
    assert contents(data) == contents(tmp_path / "whole")


def test_writer_warns_of_what_a_killed_one_had_finished(tmp_path: Path) -> None:
    """As `write_dataset` does; it begins again, and nothing of the old one is left."""
    _killed(tmp_path, _write_rows(rows(700)))
    with pytest.warns(RuntimeWarning, match=r"removing .*'train' with \d{3} records"):
        writer = Writer(tmp_path, "train")
    with writer:
        assert writer.written == 0
        writer.write(**row(5))
    assert numbers_of(tmp_path) == [[5]]
    assert len(contents(tmp_path)) == 3


def test_write_dataset_goes_on_with_a_killed_writer(tmp_path: Path) -> None:
    """And compares the last row that it has finished."""
    _killed(tmp_path, _write_rows(rows(700)))
    source = map(row, range(800))
    write_dataset(source, tmp_path, "train", shard_bytes=20_000, resume=True)
    assert [*chain(*numbers_of(tmp_path))] == list(range(800))


def test_error_in_a_writer_leaves_finished_shards_to_resume(tmp_path: Path) -> None:
    """The error says how many records they have."""

    def fail() -> None:
        with Writer(tmp_path, "train", shard_bytes=20_000) as writer:
            _write_rows(rows(700))(writer)
            writer.write(**{**row(2), "digit": 17})

    with pytest.raises(RecordError, match="'digit'") as caught:
        fail()
    (note,) = caught.value.__notes__
    with Writer(tmp_path, "train", shard_bytes=20_000, resume=True) as writer:
        assert note.startswith(f"{writer.written} records")
        assert writer.written > 400
        _write_rows(rows(700)[writer.written :])(writer)
    assert [*chain(*numbers_of(tmp_path))] == list(range(700))


def test_resume_with_other_options_is_refused(tmp_path: Path) -> None:
    """The error names the option."""
    _killed(tmp_path, _write_rows(rows(700)))
    with pytest.raises(DatasetError, match=r"resumed.*shard_bytes=20000"):
        Writer(tmp_path, "train", shard_bytes=30_000, resume=True)
