"""Publishing a split is committed first, and then completed by whichever run is next.

The quick tests fail every operation from some point on, which leaves on the disk what a
kill there leaves. `tests/net` breaks processes off.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from read_splits import records_of
from schemagen.data.verify import verify
from schemagen.runtime.shared.errors import DatasetError
from schemagen.runtime.shared.tfrecord import read_records
from schemagen.runtime.sources.files import find_files
from schemagen.runtime.storage import journal, manifest
from schemagen.runtime.storage.integrity import check_files
from schemagen.runtime.storage.journal import committed
from schemagen.runtime.storage.local import LocalDirectory, LocalFile
from schemagen.runtime.writing import pending, publication
from schemagen.runtime.writing.writer import ShardedWriter
from splits import sharded_writer, write_split

SPEC: dict[str, Any] = {"record": "note", "fields": []}
OLD = [b"old %d" % number for number in range(12)]
NEW = [b"new %d" % number for number in range(12)]

_DEAD = "the process is dead"


def write(
    directory: Path, rows: list[bytes], split: str = "train", **options: Any
) -> None:
    """Write a whole split."""
    named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
    with sharded_writer(directory, split, **named) as writer:
        writer.extend(rows)


def shards(directory: Path, split: str = "train") -> dict[str, bytes]:
    """The bytes of the files that are named as shards."""
    return {p.name: p.read_bytes() for p in sorted(directory.glob(f"{split}-*"))}


def names(directory: Path) -> list[str]:
    """All that is in a directory, hidden files too."""
    return sorted(path.name for path in directory.iterdir())


class Disk:
    """Counts what is done to local directories, and ends at some number of it.

    Args:
        stop: the number of the operation that is not carried out any more, nor is one
            after it; bytes that it would have written are there by half.
    """

    def __init__(self, stop: int | None) -> None:
        self.operations = 0
        self._stop = stop

    def take(self, half: Callable[[], object] | None = None) -> None:
        """Count an operation."""
        self.operations += 1
        if self._stop is None or self.operations < self._stop:
            return
        if self.operations == self._stop and half is not None:
            half()
        raise OSError(errno.EIO, _DEAD, "the disk")

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Take part in all operations that change something."""
        for owner, called in (
            (LocalFile, "__init__"),
            (LocalFile, "finish"),
            (LocalDirectory, "rename"),
            (LocalDirectory, "remove"),
            (LocalDirectory, "sync"),
        ):
            patch.setattr(owner, called, self._before(getattr(owner, called)))
        for owner, called in ((LocalFile, "write"), (LocalDirectory, "append")):
            patch.setattr(owner, called, self._amid(getattr(owner, called)))
        discard = LocalFile.discard

        def alive(file: LocalFile) -> None:
            if self._stop is None or self.operations < self._stop:
                discard(file)

        patch.setattr(LocalFile, "discard", alive)

    def _before(self, genuine: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.take()
            return genuine(*arguments)

        return call

    def _amid(self, genuine: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            *others, data = arguments
            half = bytes(data)[: len(data) // 2]
            self.take(lambda: genuine(*others, half))
            return genuine(*arguments)

        return call


def dying(
    patch: pytest.MonkeyPatch, stop: int | None, action: Callable[[], object]
) -> int:
    """Do something on a disk that ends at a step; return how many steps there were."""
    with patch.context() as patched:
        disk = Disk(stop)
        disk.watch(patched)
        with nullcontext() if stop is None else pytest.raises(OSError, match=_DEAD):
            action()
    return disk.operations


CASES = {
    "as many shards": (2, {"shards": 2}),
    "more shards": (2, {"shards": 3}),
    "fewer shards, another compression": (3, {"shards": 2, "compression": "GZIP"}),
    "no split before": (0, {"shards": 2}),
}


class Seen:
    """What readers get of a directory, looked at once for each state of its files."""

    def __init__(self) -> None:
        self._known: dict[Any, set[str]] = {}

    def generations(self, directory: Path) -> set[str]:
        """Return what the three ways of reading give: "old", "new", or nothing."""
        path = directory / "manifest.json"
        state = (*shards(directory).items(), path.exists() and path.read_bytes())
        if state not in self._known:
            self._known[state] = self._read(directory)
        return self._known[state]

    def _read(self, directory: Path) -> set[str]:
        found = set()
        # By the manifest: the whole split, or none.
        rows = self._rows(directory, "train")
        if rows is not None:
            assert sorted(rows) in (sorted(OLD), sorted(NEW))
            assert check_files(directory, "train") == []
            found |= _generations(rows)
        # By a glob, with the pipeline's reader.
        found |= _generations(self._rows(directory / "train-*", None) or [])
        # Each file by itself.
        for file in directory.glob("train-*"):
            found |= _generations(read_records(file))
        assert len(found) <= 1, f"a mixture of {found}"
        return found

    def _rows(self, source: Path, split: str | None) -> list[bytes] | None:
        try:
            files = find_files(source, split, SPEC)
        except DatasetError:
            return None
        return list(records_of(files).as_numpy_iterator())


def _generations(rows: Any) -> set[str]:
    return {row.split()[0].decode() for row in rows}


def _copies(template: Path, root: Path) -> Iterator[Path]:
    number = 0
    while True:
        directory = root / f"copy {number}"
        directory.mkdir()
        for path in template.iterdir():
            (directory / path.name).write_bytes(path.read_bytes())
        yield directory
        number += 1


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:.*interrupted run had")
def test_death_at_each_step_of_an_overwrite_leaves_one_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """All ways of reading see old rows, new rows or none; the next run completes it.

    Before the commitment nothing of the old split has changed. After it the next run of
    any split publishes the new one, whatever else that run is refused for.
    """
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # takes most of the time
    before, options = CASES[case]
    template = tmp_path / "template"
    write(template, [b"other"], "other")
    if before:
        write(template, OLD, shards=before)
    copies, seen = _copies(template, tmp_path), Seen()
    whole = next(copies)
    steps = dying(
        monkeypatch, None, lambda: write(whole, NEW, overwrite=True, **options)
    )
    was_committed = []
    for step in range(1, steps + 1):
        directory = next(copies)
        dying(
            monkeypatch,
            step,
            lambda path=directory: write(path, NEW, overwrite=True, **options),  # type: ignore[misc]
        )
        found = seen.generations(directory)
        is_new = shards(directory) == shards(whole)
        if committed(_opened(directory)):
            was_committed.append(step)
        elif not is_new:
            assert found == ({"old"} if before else set())
            assert shards(directory) == shards(template)
        if was_committed:
            _next_run(directory, step)
            assert not committed(_opened(directory))
            assert shards(directory) == shards(whole)
            assert seen.generations(directory) == {"new"}
            with pytest.raises(DatasetError, match="split 'train' exists with 12 rec"):
                write(directory, OLD)
        write(directory, OLD[:3], overwrite=True)
        assert [name for name in names(directory) if name.startswith(".")] == []
        assert check_files(directory) == []
    assert len(was_committed) > 8
    assert was_committed == list(range(was_committed[0], was_committed[-1] + 1))


def _opened(directory: Path) -> LocalDirectory:
    return LocalDirectory(directory)


def _next_run(directory: Path, number: int) -> None:
    """A run that completes what was committed, and of which the rest may fail."""
    if number % 4 == 0:
        write(directory, [b"another"], "another")
        return
    other = {"kind": "Text", "name": "a", "key": "a", "optional": False}
    wrong: list[dict[str, Any]] = [
        {},
        {"split": "x", "record": "pet"},
        {"split": "x", "spec": {"record": "note", "fields": [other]}},
    ]
    with pytest.raises(DatasetError):
        write(directory, NEW, **wrong[number % 4 - 1])


@pytest.mark.parametrize("options", [{}, {"shuffle_seed": 1}, {"compression": "GZIP"}])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_resuming_after_death_at_each_step_gives_equal_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """The last shard ends with the source: a run does not go on after it."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)

    def write_all(directory: Path, **more: Any) -> int:
        rows = [{"n": number} for number in range(400)]
        named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
        source = iter(rows) if options else rows
        return write_split(
            source, _serialize, directory, "train", shard_bytes=3000, **named, **more
        )

    steps = dying(monkeypatch, None, lambda: write_all(tmp_path / "whole"))
    whole = {
        name: (tmp_path / "whole" / name).read_bytes()
        for name in names(tmp_path / "whole")
    }
    assert len(whole) > 2
    for step in range(1, steps + 1):
        directory = tmp_path / str(step)
        dying(monkeypatch, step, lambda path=directory: write_all(path))  # type: ignore[misc]
        is_complete = not committed(_opened(directory)) and manifest.load(directory)
        assert write_all(directory, resume=True, overwrite=bool(is_complete)) == 400
        found = {name: (directory / name).read_bytes() for name in names(directory)}
        assert found == whole, f"after step {step}"


# What publishing looks at first.


def test_a_missing_new_file_leaves_the_old_split_as_it_was(tmp_path: Path) -> None:
    """All new files are looked for, with their sizes, before anything is changed."""
    write(tmp_path, OLD, shards=3)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    for found in (None, b"short"):
        writer = _writer(tmp_path, shards=3, overwrite=True)
        writer.extend(NEW)
        (hidden,) = tmp_path.glob(".train-00001.*.tmp")
        hidden.unlink()
        if found is not None:
            hidden.write_bytes(found)
        with pytest.raises(DatasetError) as caught:
            writer.close()
        held = "it is missing" if found is None else "found 5 bytes"
        assert str(caught.value) == (
            f"{hidden}: {held}, expected 85 bytes of split 'train', which is to be "
            "published; another program has changed it: write the split again with "
            "overwrite=True"
        )
        after = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
        assert after == before


def _writer(directory: Any, split: str = "train", **options: Any) -> ShardedWriter:
    named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
    return sharded_writer(directory, split, **named)


def test_overwriting_with_equal_rows_repairs_a_damaged_file(tmp_path: Path) -> None:
    """The manifest lists what is to be written already; the files are exchanged all the same."""
    write(tmp_path, NEW, shards=2)
    whole = shards(tmp_path)
    next(tmp_path.glob("train-00000-*")).write_bytes(b"damaged")
    write(tmp_path, NEW, shards=2, overwrite=True)
    assert shards(tmp_path) == whole
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


# What interrupted runs have committed.


def _commit_and_die(
    directory: Path, patch: pytest.MonkeyPatch, rows: list[bytes] = NEW
) -> None:
    """Write a split up to the commitment, and leave what a kill leaves there."""
    with patch.context() as patched:
        patched.setattr(publication, "_carry_out", _die)
        patched.setattr(pending.PendingSplit, "_leave", _die)
        with suppress(OSError):
            write(directory, rows, shards=2, overwrite=True)
    assert list(committed(_opened(directory))) == ["train"]


def _die(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EIO, _DEAD, "the disk")


def test_a_committed_split_is_published_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that completes it says so, and goes on with its own split."""
    _commit_and_die(tmp_path, monkeypatch)
    assert shards(tmp_path) == {}
    with pytest.warns(RuntimeWarning) as caught:
        write(tmp_path, OLD, "test")
    (warning,) = caught
    assert str(warning.message) == (
        f"{tmp_path}: an interrupted run had committed split 'train' with 12 records; "
        "its publication is completed now"
    )
    assert check_files(tmp_path) == []
    assert len(shards(tmp_path)) == 2


def test_verify_names_a_split_whose_publication_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error by itself, and a finding next to splits that are published."""
    _commit_and_die(tmp_path, monkeypatch)
    said = "split 'train' is being published, or its publication was interrupted; "
    for split in (None, "train"):
        with pytest.raises(DatasetError, match=re.escape(f"{tmp_path}: {said}")):
            verify(tmp_path, split=split, workers=1)
    other = tmp_path / "other"
    write(other, OLD, "test")
    _commit_and_die(other, monkeypatch)
    found = {each.rule: each.examples[0] for each in verify(other, workers=1).findings}
    assert found["SG502"].found == "split 'train'"
    assert "run any writer for this directory again" in found["SG502"].cause
    assert "SG504" not in found
    with pytest.raises(DatasetError, match=re.escape(said)):
        verify(other, split="train", workers=1)


def test_resuming_a_committed_run_completes_it_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """The same call with resume=True returns the number of records that it publishes."""
    with monkeypatch.context() as patched:
        patched.setattr(publication, "_carry_out", _die)
        with pytest.raises(OSError, match=_DEAD) as caught:
            _write_rows(tmp_path)
    assert (
        "split 'train' is complete, but not all of it has its name; the next run that "
        f"writes to {tmp_path} publishes it"
    ) in str(caught.value)
    assert not hasattr(caught.value, "__notes__")
    assert _write_rows(tmp_path, resume=True) == 30
    assert check_files(tmp_path) == []
    assert [name for name in names(tmp_path) if name.startswith(".")] == []
    assert RuntimeWarning not in {warning.category for warning in recwarn.list}
    with pytest.raises(DatasetError, match="it is complete, and there is nothing to"):
        _write_rows(tmp_path, resume=True)


def _write_rows(directory: Any, **options: Any) -> int:
    named = {"record": "note", "spec": SPEC, "fingerprint": "aaaa", **options}
    rows = [{"n": number} for number in range(30)]
    return write_split(rows, _serialize, directory, "train", shards=3, **named)


def _serialize(*, n: int) -> bytes:
    return b"%d" % n


@pytest.mark.filterwarnings("ignore:.*had finished 2 shards")
def test_a_commitment_whose_files_are_gone_is_refused_until_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other splits are written with a warning, and the old split is still there."""
    write(tmp_path, OLD, shards=3)
    _commit_and_die(tmp_path, monkeypatch)
    (hidden,) = tmp_path.glob(".train-00001.*.tmp")
    hidden.unlink()
    message = f"{hidden}: it is missing, expected "
    with pytest.raises(DatasetError) as caught:
        write(tmp_path, OLD)
    assert message in str(caught.value)
    with pytest.warns(RuntimeWarning) as told:
        write(tmp_path, OLD, "test")
    assert any(message in str(warning.message) for warning in told)
    assert check_files(tmp_path) == []
    assert len(shards(tmp_path)) == 3
    with pytest.warns(RuntimeWarning, match="was not completed"):
        write(tmp_path, NEW, overwrite=True)
    assert check_files(tmp_path) == []
    assert len(shards(tmp_path)) == 1
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_a_run_that_ends_completes_what_another_left_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So no split comes into the directory that the committed one does not go with."""
    other = {"kind": "Text", "name": "a", "key": "a", "optional": False}
    spec = {"record": "note", "fields": [other]}
    writer = _writer(tmp_path, "test", spec=spec, fingerprint="bbbb")
    _commit_and_die(tmp_path, monkeypatch)
    with pytest.raises(DatasetError, match="split 'train'"):
        writer.close()
    found = manifest.load(tmp_path)
    assert found is not None
    assert list(found.splits) == ["train"]


def test_lines_of_a_run_that_was_replaced_commit_to_nothing(tmp_path: Path) -> None:
    """It may write into its successor's journal before it notices."""
    made = LocalDirectory(tmp_path)
    new = manifest.Manifest("note", "aaaa", SPEC, {})
    mine, theirs = (
        journal.JournalFile(made, "train", journal.Journal(token, {}, {}))
        for token in ("a" * 12, "b" * 12)
    )
    theirs.write()
    mine.write()
    theirs.shuffled()
    theirs.commit(new, [])
    found = journal.read_journal(made, "train")
    assert found == journal.Journal("a" * 12, {}, {})
    mine.commit(new, [])
    found = journal.read_journal(made, "train")
    assert found is not None
    assert found.publication == new


def test_a_damaged_commitment_is_refused(tmp_path: Path) -> None:
    """It is sealed as a manifest is; what is to be done is in the message."""
    made = LocalDirectory(tmp_path)
    new = manifest.Manifest("note", "aaaa", SPEC, {})
    file = journal.JournalFile(made, "train", journal.Journal("a" * 12, {}, {}))
    file.commit(new, [])
    path = tmp_path / ".train.journal"
    path.write_bytes(path.read_bytes().replace(b"aaaa\\", b"aaab\\"))
    for split in ("train", "test"):
        with pytest.raises(
            DatasetError, match=r"\.train\.journal: not a whole manifest"
        ):
            write(tmp_path, OLD, split)
    for text in (b"[]\n", b"1\n{}\n", b"", b"\xff\n", b'{"format": 1}\n'):
        path.write_bytes(text)
        assert journal.read_journal(made, "train") is None
