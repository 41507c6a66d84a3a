"""Publishing a split: the manifest lists its files first, then they get their names.

All new files are durable under hidden names when a new manifest lists them by these names:
that is the commit. Then the split is settled: its old files are removed, the new ones get
their names, and the manifest is replaced by one without hidden names. If a run is
interrupted, the next one in the directory settles what it has committed.

A reader that goes by the manifest takes a file by its hidden name until it has the other,
so it finds the old split or the new one at any time. One that goes by names finds files of
one of them only, since all old ones are removed before the first new one gets its name.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.pool import ThreadPool
from typing import Any

from ..codecs.compatibility import check_compatible
from ..shared.errors import DatasetError, warn
from ..storage import manifest
from ..storage.directory import Directory
from ..storage.index import index_files, index_name, index_of
from ..storage.journal import journal_name, read_journal
from ..storage.lock import Busy
from ..storage.manifest import Manifest, Shard, Split, checksum_of
from .markers import remove_marker
from .plan import bucket_folder, shard_files, temporary_files

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
) -> Manifest:
    """Refuse to write a split for which the directory has no place.

    Args:
        directory: the data directory.
        split: the split's name.
        mine: a manifest of the writer's record.
        overwrite: whether the split may be replaced.
        resume: whether an interrupted run was to be gone on with.

    Returns:
        The directory's manifest; one like `mine` if there is none yet.

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
        return existing
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
    return existing


def publish(
    directory: Directory,
    split: str,
    new: Manifest,
    files: Sequence[str],
    *,
    lengths: Iterable[str | None] | None,
    overwrite: bool,
) -> None:
    """Publish finished files, in a directory that the caller has locked.

    Args:
        directory: the data directory.
        split: the split's name.
        new: a manifest with this split and no other, as it is to be.
        files: the temporary name of each shard.
        lengths: those of each shard's frames, from which the index is written; None to
            write none.
        overwrite: whether the split may be replaced.

    Raises:
        DatasetError: the directory has changed, so that the split does not belong
            there any more, or a file is missing. Nothing has changed by this run.
        OSError: the disk refuses. If the manifest lists the split, it is committed, and
            the next run completes what fails here.
    """
    settle(directory, split, overwrite=overwrite)
    current = check_place(directory, split, new, overwrite=overwrite)
    held = new.splits[split]
    _check_files(directory, split, held.hidden_as(files), is_begun=False)
    index = None if lengths is None else index_of(lengths)
    if index is not None:
        checksum = checksum_of(index)
        held = replace(held, index=checksum)
        directory.replace(index_name(split, checksum), index)
    directory.sync()
    splits = {name: _described(current, name, new) for name in current.splits}
    splits[split] = hidden = held.hidden_as(files)
    _save(directory, replace(new, splits=splits))
    _exchange(directory, split, hidden)
    splits[split] = held
    _save(directory, replace(new, splits=splits))


def settle_if_needed(
    directory: Directory, split: str, *, overwrite: bool
) -> dict[str, Split]:
    """Do as `settle`, for a caller without the lock, which is taken if there is a need."""
    found = manifest.load(directory)
    if found is None or not found.unsettled:
        return {}
    with directory.lock(LOCK, wait=True):
        return settle(directory, split, overwrite=overwrite)


def settle(directory: Directory, mine: str, *, overwrite: bool) -> dict[str, Split]:
    """Complete what interrupted runs have committed, and remove what they have left.

    The caller has locked the directory.

    Args:
        directory: the data directory.
        mine: the split that is to be written; what cannot be completed of others is left
            as it is, with a warning.
        overwrite: whether that split may be replaced, so that it need not be completed.

    Returns:
        The splits that were completed, with the hidden names of their files.

    Raises:
        DatasetError: files of the split are missing.
        OSError: the disk refuses.
    """
    found = manifest.load(directory)
    waiting = found.unsettled if found else {}
    settled = dict[str, Split]()
    for name, split in waiting.items():
        try:
            _check_files(directory, name, split, is_begun=True)
            _exchange(directory, name, split)
        except DatasetError as error:
            if name == mine and not overwrite:
                raise
            warn(f"{error}; this publication was not completed")
        else:
            settled[name] = split
    if found and settled:
        splits = found.splits | {name: each.settled for name, each in settled.items()}
        _save(directory, replace(found, splits=splits))
    for name, split in settled.items():
        remove_run(directory, name, token_of(name, split))
    return settled


def token_of(name: str, split: Split) -> str:
    """Return the token of the run that has committed a split, as hidden names have it."""
    hidden = [shard.hidden or "" for shard in split.shards]
    return next(iter(temporary_files(hidden, name).values()), "")


def _exchange(directory: Directory, name: str, split: Split) -> None:
    """Exchange the old files of a split for the new ones, from wherever a run stopped."""
    there = set(directory.names())
    hidden = {shard.hidden or "": shard for shard in split.shards}
    moved = {shard.file for each, shard in hidden.items() if each not in there}
    old = sorted(shard_files(there, name) - moved)
    _for_each(directory, directory.remove, old)
    if old:
        directory.sync()
    waiting = [each for each, shard in hidden.items() if shard.file not in moved]
    names = [hidden[each].file for each in waiting]
    _for_each(directory, directory.rename, waiting, names)
    directory.sync()
    unlisted = index_files(there, name) - {index_name(name, split.index or "")}
    for each in (*filter(_MANIFEST_LEFTOVER.fullmatch, there), *unlisted):
        directory.remove(each)


def _check_files(
    directory: Directory, name: str, split: Split, *, is_begun: bool
) -> None:
    """See that the files of a split are there with their sizes.

    Args:
        directory: the data directory.
        name: the split's name.
        split: with the hidden names of its files.
        is_begun: whether some may have their names already.

    Raises:
        DatasetError: naming one that is not.
    """

    def problem(shard: Shard) -> str:
        file = shard.hidden or shard.file
        size = directory.size(file)
        if size is None and is_begun:
            size = directory.size(shard.file)
        if size == shard.bytes:
            return ""
        held = "it is missing" if size is None else f"found {size} bytes"
        return (
            f"{directory.where}/{file}: {held}, expected {shard.bytes} bytes of split "
            f"{name!r}, which is to be published; another program has changed it: write "
            "the split again with overwrite=True"
        )

    for found in filter(None, _for_each(directory, problem, split.shards)):
        raise DatasetError(found)


def remove_run(directory: Directory, split: str, token: str) -> None:
    """Remove all that a run has left in a directory.

    The marker goes first, so receipts that are left are those of a run that has ended. The
    journal goes last: as long as it is there, the next run does the same again.
    """
    names = directory.names()
    remove_marker(directory, split, token)
    temporary = temporary_files(names, split).items()
    left = [name for name, id in temporary if id in (token, "")]
    _for_each(directory, directory.remove, left)
    shutil.rmtree(bucket_folder(directory, split), ignore_errors=True)
    lock = f".{split}.lock"
    if lock in names:
        with suppress(Busy), directory.lock(lock):
            pass  # of a process that was killed: releasing it removes the file
    if journal_name(split) in names:
        found = read_journal(directory, split)
        if found is not None and found.token == token:
            directory.remove(journal_name(split))


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


def _described(existing: Manifest, split: str, mine: Manifest) -> Split:
    """Return a split that says by which spec it was written, if that is another."""
    held, fingerprint = existing.splits[split], existing.fingerprint_of(split)
    if fingerprint == mine.fingerprint:
        return replace(held, fingerprint=None, spec=None)
    return replace(held, fingerprint=fingerprint, spec=existing.spec_of(split))


def _save(directory: Directory, new: Manifest) -> None:
    manifest.save(directory, new)
    directory.sync()
