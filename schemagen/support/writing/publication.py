"""What a data directory says about a split, before it is written and afterwards.

Publishing gives durable files their names and, last of all, enters them into the
manifest. A reader that goes by the manifest sees the old split or the new one, or,
for the moment in which the one takes the names of the other, none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from .. import manifest
from ..compatibility import check_compatible
from ..errors import DatasetError
from ..manifest import Manifest, Shard, Split
from .directory import Directory
from .journal import Journal
from .shard_file import SUFFIXES

_MANIFEST_LOCK = ".manifest.lock"
_MANIFEST_LEFTOVER = re.compile(r"\.manifest\.json\.[0-9a-f]{12}\.tmp")


def shard_name(split: str, index: int, total: int, compression: str) -> str:
    """Return a shard's file name, such as `train-00000-of-00008.tfrecord`."""
    return f"{split}-{index:05d}-of-{total:05d}.tfrecord{SUFFIXES[compression]}"


def temporary_name(split: str, index: int, token: str) -> str:
    """Return the hidden name under which a run with this token writes a shard."""
    return f".{split}-{index:05d}.{token}.tmp"


def temporary_files(names: Iterable[str], split: str) -> list[str]:
    """Return those of a directory's files that some run has written for a split."""
    pattern = re.compile(
        rf"\.{re.escape(split)}(-\d{{5,}}|\.journal)\.[0-9a-f]{{12}}\.tmp"
    )
    return [name for name in names if pattern.fullmatch(name)]


def names_of(split: str, run: Journal | None) -> set[str]:
    """Return the names that an interrupted run was giving to its shards."""
    if run is None or run.total is None:
        return set()
    form = run.request["compression"]
    return {shard_name(split, at, run.total, form) for at in range(run.total)}


def strays(directory: Directory, split: str, existing: Manifest) -> set[str]:
    """Return files that are named as a split's shards and are not in the manifest."""
    mine = existing.splits.get(split)
    listed = {shard.file for shard in mine.shards} if mine else set()
    pattern = re.compile(
        re.escape(split) + r"-\d{5,}-of-\d{5,}\.tfrecord(\.gz|\.zlib)?"
    )
    named = {name for name in directory.names() if pattern.fullmatch(name)}
    return named - listed


def load_or(directory: Directory, empty: Manifest) -> Manifest:
    """Read a directory's manifest, or return `empty` if there is none."""
    return manifest.load(directory) or empty


def check_place(
    directory: Directory,
    split: str,
    mine: Manifest,
    *,
    overwrite: bool,
    leftovers: set[str],
    resume: bool = False,
) -> None:
    """Refuse to write a split for which the directory has no place.

    Args:
        directory: the data directory.
        split: the split's name.
        mine: a manifest of the writer's record.
        overwrite: whether the split may be replaced.
        leftovers: names that are known to be those of an interrupted run.
        resume: whether an interrupted run was to be gone on with.

    Raises:
        DatasetError: it has the split, or other records, or files that nobody knows.
        SchemaMismatchError: it has splits that readers of this one could not read.
    """
    existing = load_or(directory, mine)
    where = f"{directory.where}/{manifest.FILE_NAME}"
    if existing.record != mine.record:
        raise DatasetError(
            f"{where}: this directory holds {existing.record!r} records, not "
            f"{mine.record!r}; write to a directory of its own"
        )
    for other in sorted(set(existing.splits) - {split}):
        # All splits of a directory are read by the same code.
        check_compatible(
            existing.spec_of(other), mine.spec, f"{where}: split {other!r}"
        )
    if overwrite:
        return
    if split in existing.splits:
        records = existing.splits[split].records
        nothing = "; it is complete, and there is nothing to resume" if resume else ""
        raise DatasetError(
            f"{where}: split {split!r} exists with {records} records{nothing}; pass "
            "overwrite=True to replace it"
        )
    unknown = sorted(strays(directory, split, existing) - leftovers)
    if unknown:
        raise DatasetError(
            f"{directory.where}: {len(unknown)} files of a split {split!r} that no "
            f"manifest lists, the first is {unknown[0]}: left by other code, or the "
            "manifest is lost; pass overwrite=True to replace them"
        )


def is_published(existing: Manifest, split: str, run: Journal) -> bool:
    """Tell whether the manifest has a run's shards, which only its journal denies."""
    found = existing.splits.get(split)
    if found is None or run.total is None:
        return False
    checksums = [shard.crc32c for shard in found.shards]
    return checksums == [
        run.finished[at].contents.crc32c for at in sorted(run.finished)
    ]


def publish(
    directory: Directory,
    split: str,
    mine: Manifest,
    files: dict[str, Shard],
    compression: str,
    *,
    overwrite: bool,
) -> None:
    """Give finished files their names and enter them into the manifest.

    It can be done again if it was interrupted: files that have their names keep them.

    Args:
        directory: the data directory.
        split: the split's name.
        mine: a manifest of the writer's record.
        files: the shards in order, by the names that their files have until now.
        compression: "", "GZIP" or "ZLIB".
        overwrite: whether the split may be replaced.

    Raises:
        DatasetError: the directory has changed, so that the split does not belong
            there any more.
        OSError: the disk refuses.
    """
    with directory.lock(_MANIFEST_LOCK, wait=True):
        # The manifest is read again: others may have written to it meanwhile.
        names = {shard.file for shard in files.values()}
        check_place(directory, split, mine, overwrite=overwrite, leftovers=names)
        current = load_or(directory, mine)
        splits = {name: _described(current, name, mine) for name in current.splits}
        replaced = splits.pop(split, None)
        stale = strays(directory, split, current)
        if replaced is not None:
            # Old and new files may share names. Without an entry in the manifest
            # neither can be taken for the other while they are exchanged.
            stale |= {shard.file for shard in replaced.shards}
            _save(directory, mine, splits)
        there = set(directory.names())
        for name in filter(_MANIFEST_LEFTOVER.fullmatch, there):
            directory.remove(name)
        for name, shard in files.items():
            if name in there:
                directory.rename(name, shard.file)
            elif directory.size(shard.file) != shard.bytes:
                raise DatasetError(
                    f"{directory.where}: neither {name} nor {shard.file} is there with "
                    f"{shard.bytes} bytes; somebody has removed it: write the split anew"
                )
        for name in stale - names:
            directory.remove(name)
        directory.sync()
        splits[split] = Split(compression, tuple(files.values()))
        _save(directory, mine, splits)


def _described(existing: Manifest, split: str, mine: Manifest) -> Split:
    """Return a split that says by which spec it was written, if that is another."""
    held, fingerprint = existing.splits[split], existing.fingerprint_of(split)
    if fingerprint == mine.fingerprint:
        return replace(held, fingerprint=None, spec=None)
    return replace(held, fingerprint=fingerprint, spec=existing.spec_of(split))


def _save(directory: Directory, mine: Manifest, splits: dict[str, Split]) -> None:
    new = Manifest(mine.record, mine.fingerprint, mine.spec, splits)
    manifest.save(directory, new)
    directory.sync()
