"""Sealing files that other programs have written: a manifest next to them.

The files stay as they are, with their names. What the manifest says of them is what a
whole check has found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.directory import Directory, open_directory
from ..storage.index import ends_of, index_files, index_name, indexed
from ..storage.manifest import (
    TAIL_BYTES,
    CheckedFile,
    Manifest,
    Shard,
    SplitEntry,
    checksum_of,
)
from ..storage.schema import Schema
from .publish import LOCK, check_record, described, settle

if TYPE_CHECKING:
    from ..cells.columns import Rows


def seal(
    where: str,
    files: Sequence[CheckedFile],
    schema: Schema,
    *,
    add: bool,
    dry_run: bool = False,
) -> Manifest:
    """Write the manifest of files of one directory, or replace it.

    Args:
        where: the directory, as a path or URL.
        files: what it holds, in the order in which readers should deliver it.
        schema: the schema that the records were compared with.
        add: keep the files that the splits have, and put these behind them.
        dry_run: see whether it is allowed, and write nothing.

    Returns:
        What the directory holds now, or would hold.

    Raises:
        DatasetError: a split does not have all its files, or would get other ones than
            schemagen has written; or a file has changed. Nothing is written.
        OSError: the directory cannot be written.
    """
    with open_directory(where).locked(LOCK) as directory:
        found, _ = settle(directory, "", overwrite=False)
        existing = found or manifest.of_schema(schema)
        by_split: dict[str, list[CheckedFile]] = {}
        listed = {
            shard.file: name
            for name, split in existing.splits.items()
            for shard in split.shards
        }
        for file in files:
            by_split.setdefault(listed.get(file.name, file.split), []).append(file)
        for name, own in by_split.items():
            # A file keeps its place, and with it the numbers of records.
            places = _places(existing, name)
            own.sort(key=lambda file: places.get(file.name, len(places)))
        new = {
            name: _split(directory, name, own, existing, schema, add=add)
            for name, own in by_split.items()
        }
        mine = manifest.of_schema(schema)
        kept = existing.splits.keys() - new.keys()
        if kept:
            check_record(directory, mine, existing, but=list(new))
        splits = {name: described(existing, name, mine) for name in kept}
        for name, (split, index) in new.items():
            if index is not None and not dry_run:
                directory.replace(index_name(name, split), index)
            splits[name] = split
        sealed = replace(mine, splits=splits)
        if dry_run:
            return sealed
        directory.sync()
        manifest.save(directory, sealed)
        directory.sync()
        _remove_old_indexes(directory, sealed)
    return sealed


def _places(existing: Manifest, split: str) -> dict[str, int]:
    """Return the place of each file in a split, by its name."""
    held = existing.splits.get(split)
    return {each.file: at for at, each in enumerate(held.shards if held else ())}


def _split(
    directory: Directory,
    name: str,
    files: Sequence[CheckedFile],
    existing: Manifest,
    schema: Schema,
    *,
    add: bool,
) -> tuple[SplitEntry, bytes | None]:
    """Return a split as it will be, and its index if it has one."""
    where = f"{directory.where}/{manifest.FILE_NAME}: split {name!r}"
    held = existing.splits.get(name)
    names = {file.name for file in files}
    own = {shard.file for shard in held.shards} if held is not None else set()
    if held is not None and not held.adopted and (add or names - own):
        raise DatasetError(
            f"{where} was written by schemagen: another program's files cannot be added; "
            "give them the name of another split"
        )
    before: tuple[Shard, ...] = ()
    if held is not None and add:
        before = held.shards
        if names & own:
            raise DatasetError(
                f"{where}: another process has sealed {min(names & own)} meanwhile"
            )
        if existing.fingerprint_of(name) != schema.fingerprint:
            raise DatasetError(
                f"{where} was sealed with another schema; seal all of its files again "
                "with `schemagen verify DATA --record NAME --seal`"
            )
    elif held is not None:
        lacking = [shard.file for shard in held.shards if shard.file not in names]
        if lacking:
            raise DatasetError(
                f"{where} has {len(held.shards)} files, and {len(lacking)} of them were "
                f"not checked now, the first is {lacking[0]}; name all files of the split"
            )
    if held is not None and not held.adopted:
        return replace(held, fingerprint=None, spec=None), None
    compressions = compressions_of(files) or {""}
    if before and held is not None:
        compressions.add(held.compression)
    if len(compressions) > 1:
        said = " and ".join(sorted(each or "none" for each in compressions))
        raise DatasetError(
            f"{where}: found files of the compressions {said}, expected one; give the "
            "files of each compression names of a split of their own"
        )
    shards = tuple(directory.for_each(_listed, [directory] * len(files), files))
    split = SplitEntry(compressions.pop(), before + shards, adopted=True, shuffled=None)
    lengths = _lengths(directory, name, held if before else None, split, files)
    return (split, None) if lengths is None else indexed(split, lengths)


def compressions_of(files: Iterable[CheckedFile]) -> set[str]:
    """Return the compressions of some files; an empty file is one of any."""
    return {file.compression for file in files if file.bytes}


def _listed(directory: Directory, file: CheckedFile) -> Shard:
    """Return the entry of a file, which is still the one that was checked."""
    size = directory.size(file.name)
    if size != file.bytes:
        raise DatasetError(
            f"{file.path}: found {size or 0} bytes, expected the {file.bytes} that were "
            "checked: another program writes to it; seal it when that has ended"
        )
    path = directory.path(file.name)
    tail = directory.files.read(path, max(0, size - TAIL_BYTES), size)
    return Shard(file.name, file.records, size, f"{file.crc32c:08x}", tail.hex())


def _lengths(
    directory: Directory,
    name: str,
    held: SplitEntry | None,
    split: SplitEntry,
    files: Sequence[CheckedFile],
) -> list[Rows] | None:
    """Return the lengths of all frames; None if it is compressed, or had no index."""
    if split.compression:
        return None
    lengths = [
        np.empty(0, np.int64),
        *(some for file in files for some in file.lengths),
    ]
    if held is not None:
        index = held.index and directory.read(index_name(name, held))
        if not index or checksum_of(index) != held.index:
            return None
        lengths = [np.diff(ends_of(index), prepend=0), *lengths]
    return lengths


def _remove_old_indexes(directory: Directory, sealed: Manifest) -> None:
    names = directory.names()
    for name, split in sealed.splits.items():
        if split.adopted:
            current = index_name(name, split)
            directory.remove(*sorted(index_files(names, name) - {current}))
