"""What a data directory says about a split, before it is written and afterwards.

Publishing begins when all new files are durable under hidden names. The run's journal
then commits to it, with all that is needed to complete it. From there on it is
completed: by the run, or, if that is killed, by the next run in the directory. Before,
nothing of the old split has changed.

The manifest loses the split's entry, the old files are removed, the new ones get their
names, and the manifest gets the new entry. A reader that goes by the manifest sees the
old split, none, or the new one; one that goes by names finds files of one of them only.
"""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.pool import ThreadPool
from typing import Any

from ..codecs.compatibility import check_compatible
from ..shared.errors import DatasetError, warn
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.index import index_files, index_name
from ..storage.journal import (
    Journal,
    JournalFile,
    committed,
    journal_name,
    read_journal,
)
from ..storage.lock import Busy, Lock
from ..storage.manifest import Manifest, Shard, Split
from .markers import markers_of, remove_marker
from .plan import bucket_folder, shard_files, temporary_files, temporary_name

_THREADS = 16


LOCK = ".manifest.lock"
"""The lock of a directory, held while a split is published."""

_MANIFEST_LEFTOVER = re.compile(r"\.manifest\.json\.[0-9a-f]{12}\.tmp")


def load_or_new(directory: Directory, mine: Manifest) -> Manifest:
    """Read a directory's manifest; without one, return one like `mine` of no splits."""
    return manifest.load(directory) or replace(mine, splits={})


def check_place(
    directory: Directory,
    split: str,
    mine: Manifest,
    *,
    overwrite: bool,
    resume: bool = False,
) -> None:
    """Refuse to write a split for which the directory has no place.

    Args:
        directory: the data directory.
        split: the split's name.
        mine: a manifest of the writer's record.
        overwrite: whether the split may be replaced.
        resume: whether an interrupted run was to be gone on with.

    Raises:
        DatasetError: it has the split, or other records, or files that no one knows.
        SchemaMismatchError: it has splits that readers of this one could not read.
    """
    existing = load_or_new(directory, mine)
    where = f"{directory.where}/{manifest.FILE_NAME}"
    if existing.record != mine.record:
        raise DatasetError(
            f"{where}: this directory holds {existing.record!r} records, not "
            f"{mine.record!r}; write to a directory of its own"
        )
    for other in sorted(set(existing.splits) - {split}):
        # All splits of a directory are read by the same code.
        name = f"{where}: split {other!r}"
        check_compatible(existing.spec_of(other), mine.spec, name, directory.where)
    if overwrite:
        return
    if split in existing.splits:
        records = existing.splits[split].records
        nothing = "; it is complete, and there is nothing to resume" if resume else ""
        raise DatasetError(
            f"{where}: split {split!r} exists with {records} records{nothing}; pass "
            "overwrite=True to replace it"
        )
    unknown = sorted(shard_files(directory.names(), split))
    if unknown:
        raise DatasetError(
            f"{directory.where}: {len(unknown)} files of a split {split!r} that no "
            f"manifest lists, the first is {unknown[0]}: left by other code, or the "
            "manifest is lost; pass overwrite=True to replace them"
        )


def publish(
    directory: Directory,
    split: str,
    new: Manifest,
    files: Sequence[str],
    journal: JournalFile,
    *,
    index: bytes | None,
    overwrite: bool,
) -> None:
    """Commit to the publication of finished files, and carry it out.

    Args:
        directory: the data directory.
        split: the split's name.
        new: a manifest with this split and no other, as it is to be.
        files: the temporary name of each shard.
        journal: the journal of the run that has written the files. It is left in
            place; once it has the commitment, `recover` completes what fails here.
        index: the contents of the split's index, whose checksum `new` has; or None.
        overwrite: whether the split may be replaced.

    Raises:
        DatasetError: the directory has changed, so that the split does not belong
            there any more, or a file is missing. Nothing has changed by this run.
        OSError: the disk refuses.
    """
    with directory.lock(LOCK, wait=True) as lock:
        # Others may have written to the directory meanwhile, or died at it.
        _recover(directory, lock, split, overwrite=False)
        publish_locked(
            directory, split, new, files, journal, index=index, overwrite=overwrite
        )


def publish_locked(
    directory: Directory,
    split: str,
    new: Manifest,
    files: Sequence[str],
    journal: JournalFile,
    *,
    index: bytes | None,
    overwrite: bool,
) -> None:
    """Do as `publish`, for a caller that holds the directory's lock."""
    check_place(directory, split, new, overwrite=overwrite)
    _check_files(directory, split, new, files, is_begun=False)
    checksum = new.splits[split].index
    if index is not None and checksum is not None:
        directory.replace(index_name(split, checksum), index)
    directory.sync()
    journal.commit(new, files)
    _carry_out(directory, split, new, files)


def recover(directory: Directory, split: str, *, overwrite: bool) -> dict[str, Journal]:
    """Complete the publications that interrupted runs have committed.

    Args:
        directory: the data directory.
        split: the split that is to be written now; what cannot be completed of others
            is left as it is, with a warning.
        overwrite: whether that split may be replaced, also if a run of it seems to be
            going on elsewhere, or if its publication cannot be completed.

    Returns:
        The journals of the runs whose splits are published now; they are removed.

    Raises:
        DatasetError: files of the split are missing.
        OSError: the disk refuses.
    """
    if not committed(directory):
        return {}
    with directory.lock(LOCK, wait=True) as lock:
        return _recover(directory, lock, split, overwrite=overwrite)


def _recover(
    directory: Directory, lock: Lock, mine: str, *, overwrite: bool
) -> dict[str, Journal]:
    completed = {}
    for split, run in committed(directory).items():
        is_mine = split == mine and overwrite
        if not is_mine and _goes_on(directory, lock, split, run):
            continue
        try:
            complete(directory, split, run)
        except DatasetError as error:
            if split == mine and not overwrite:
                raise
            warn(f"{error}; this publication was not completed")
            continue
        completed[split] = run
    return completed


def complete(directory: Directory, split: str, run: Journal) -> None:
    """Carry out what a run has committed to publish, and remove what it has left.

    Args:
        directory: the data directory, locked by the caller.
        split: the split's name.
        run: its journal.

    Raises:
        DatasetError: a file is missing; nothing has changed.
        OSError: the disk refuses.
    """
    assert run.publication is not None
    files = _files_of(run, split)
    _check_files(directory, split, run.publication, files, is_begun=True)
    _carry_out(directory, split, run.publication, files)
    shutil.rmtree(bucket_folder(directory, split), ignore_errors=True)
    remove_run(directory, split, run.token)


def remove_run(directory: Directory, split: str, token: str) -> None:
    """Remove all that a run has left in a directory.

    The journal goes last: as long as it is there, the next run does the same again.
    """
    names = directory.names()
    temporary = temporary_files(names, split).items()
    left = [name for name, id in temporary if id in (token, "")]
    _for_each(directory, directory.remove, left)
    lock = f".{split}.lock"
    if lock in names:
        with suppress(Busy), directory.lock(lock):
            pass  # of a process that was killed: releasing it removes the file
    remove_marker(directory, split, token)
    if journal_name(split) in names:
        found = read_journal(directory, split)
        if found is not None and found.token == token:
            directory.remove(journal_name(split))


def _files_of(run: Journal, split: str) -> Sequence[str]:
    """Return the temporary names of the shards that a run publishes."""
    assert run.publication is not None
    shards = len(run.publication.splits[split].shards)
    return run.files or [temporary_name(split, at, run.token) for at in range(shards)]


def _goes_on(directory: Directory, lock: Lock, split: str, run: Journal) -> bool:
    """Whether the run that publishes a split may be alive."""
    # On this machine it would hold the lock.
    found = {marker.id: marker for marker in markers_of(directory, split)}
    marker = found.get(run.token)
    if marker is None:
        return False
    if marker.plan is not None:
        return not (lock.held and run.host == socket.gethostname())
    return not marker.is_dead(lock)


def _check_files(
    directory: Directory,
    split: str,
    new: Manifest,
    names: Sequence[str],
    *,
    is_begun: bool,
) -> None:
    """See that the files of a split are there with their sizes.

    Args:
        names: the temporary names of the shards.
        is_begun: whether they may have been given their names.

    Raises:
        DatasetError: naming one that is not.
    """
    current = load_or_new(directory, new)
    shards = new.splits[split].shards
    if is_begun and is_listed(current, split, new):
        # Published, unless an equal split is to be replaced and still listed.
        is_begun = not set(names) & set(directory.names())
    else:
        # Where another generation is listed, the shards' names are that one's.
        is_begun &= split not in current.splits

    def size_of(name: str, shard: Shard) -> tuple[str, int | None]:
        found = directory.size(name)
        if found is None and is_begun:
            return shard.file, directory.size(shard.file)
        return name, found

    sizes = _for_each(directory, size_of, names, shards)
    for (name, found), shard in zip(sizes, shards, strict=True):
        if found != shard.bytes:
            held = "it is missing" if found is None else f"found {found} bytes"
            raise DatasetError(
                f"{directory.where}/{name}: {held}, expected {shard.bytes} bytes of "
                f"split {split!r}, which is to be published; another program has "
                "changed it: write the split again with overwrite=True"
            )


def _for_each(
    directory: Directory, function: Callable[..., Any], *items: Sequence[Any]
) -> list[Any]:
    """Apply a function to many files, on a remote directory in threads.

    An object store takes half a second to rename a file.
    """
    calls = list(zip(*items, strict=True))
    if directory.local is not None or not calls:
        return [function(*call) for call in calls]
    with ThreadPool(min(_THREADS, len(calls))) as pool:
        return pool.starmap(function, calls, chunksize=1)


def is_listed(current: Manifest, split: str, new: Manifest) -> bool:
    """Whether a manifest lists a split as a new manifest does."""
    if split not in current.splits:
        return False
    found, wanted = current.splits[split], new.splits[split]
    return (
        (found.compression, found.shards) == (wanted.compression, wanted.shards)
        and current.fingerprint_of(split) == new.fingerprint
        and current.spec_of(split) == new.spec
    )


def _carry_out(
    directory: Directory, split: str, new: Manifest, files: Sequence[str]
) -> None:
    """Exchange the old files of a split for the new ones, from wherever a run stopped.

    At no time have files of two generations names of shards: the old ones are removed
    before the first new one gets its name, and the manifest lists neither meanwhile.
    """
    current = load_or_new(directory, new)
    there = directory.names()
    shards = new.splits[split].shards
    names = {name: shard.file for name, shard in zip(files, shards, strict=True)}
    hidden = [name for name in names if name in there]
    # Files of an equal split are exchanged too: they may have been damaged.
    if hidden or not is_listed(current, split, new):
        splits = {name: _described(current, name, new) for name in current.splits}
        if splits.pop(split, None) is not None:
            _save(directory, replace(new, splits=splits))
        renamed = {names[name] for name in names if name not in hidden}
        old = shard_files(there, split) - renamed
        _for_each(directory, directory.remove, sorted(old))
        if old:
            directory.sync()
        _for_each(directory, directory.rename, hidden, [names[each] for each in hidden])
        directory.sync()
        splits[split] = new.splits[split]
        _save(directory, replace(new, splits=splits))
    unlisted = index_files(there, split)
    unlisted -= {index_name(split, new.splits[split].index or "")}
    for name in (*filter(_MANIFEST_LEFTOVER.fullmatch, there), *unlisted):
        directory.remove(name)


def _described(existing: Manifest, split: str, mine: Manifest) -> Split:
    """Return a split that says by which spec it was written, if that is another."""
    held, fingerprint = existing.splits[split], existing.fingerprint_of(split)
    if fingerprint == mine.fingerprint:
        return replace(held, fingerprint=None, spec=None)
    return replace(held, fingerprint=fingerprint, spec=existing.spec_of(split))


def _save(directory: Directory, new: Manifest) -> None:
    manifest.save(directory, new)
    directory.sync()
