"""From a data directory, a glob or a list of files to the files that they name."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from ..shared.errors import DatasetError, no_split, nothing_at
from ..storage import manifest
from ..storage.directory import is_remote, open_directory, reader_of
from ..storage.folders import entries, folder_of, only_split, sealed_folders
from .manifests import OpenedManifest, manifest_path, open_manifest
from .shards import File, Shards, found

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A data directory, a glob or a file, or a list of files; by path or URL."""

Splits = str | Sequence[str] | None
"""Which splits of a directory: one, several as one, or the only one."""

# To list a directory takes no longer than to ask for so many files.
_FEW = 16

SHARD_NAME = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})(\.[^/]*)?", re.ASCII)
"""Suffixes stand after the numbers, before them, or nowhere."""

# With it, a name without numbers says records.
_SUFFIX = ".tfrec"


def find_shards(source: Paths, split: Splits = None) -> Shards:
    """Find the files that a reader names, with what manifests say of them.

    Args:
        source: a data directory, a glob, a file, or a list of files.
        split: which split of a directory, or several, which are read as one; may be left
            out if it holds one. In a directory without a manifest, it is the name of a
            folder that has one.

    Raises:
        DatasetError: nothing is there, shards of a split that a glob names are missing,
            or a manifest is damaged.
    """
    names = _split_names(split)
    is_glob = False
    if isinstance(source, (str, os.PathLike)):
        path = _path(source)
        if reader_of(path).is_dir(path):
            return _of_directory(path, names)
        is_glob = not reader_of(path).exists(path)
        paths = _matching(path) if is_glob else [path]
    else:
        paths = [_path(path) for path in source]
        if not paths:
            raise DatasetError("an empty list of files")
        for each in paths:
            if reader_of(each).is_dir(each):
                raise DatasetError(f"{each}: a directory in a list of files")
    if split is not None:
        if is_glob and reader_of(paths[0]).is_dir(paths[0]):
            raise DatasetError(directory_problem(paths[0]))
        raise DatasetError(
            f"{paths[0]}: a file, and split={split!r} needs a data directory; leave "
            "split out"
        )
    return replace(shards_at(paths), by="glob" if is_glob else "path")


def shards_of(opened: OpenedManifest, names: Sequence[str] | None = None) -> Shards:
    """Return the shards that the manifest of a directory lists.

    Args:
        opened: the manifest.
        names: of splits, in order; None for all.
    """
    chosen = tuple(opened.manifest.splits if names is None else names)
    files = [file for name in chosen for file in _listed(opened, name)]
    of_runs = all(opened.manifest.splits[name].run for name in chosen)
    is_listed = is_remote(opened.directory) and of_runs and len(files) > _FEW
    shards = found(files, opened.directory if is_listed else None)
    return Shards(shards, (replace(opened, names=chosen),), "directory")


def shards_at(paths: Sequence[str]) -> Shards:
    """Return files by their paths: shards, if a manifest next to them lists their names.

    Raises:
        DatasetError: a manifest is damaged.
    """
    keys = [directory_key(os.path.dirname(path)) for path in paths]
    opened: dict[str, OpenedManifest | None] = {}
    for key, path in zip(keys, paths, strict=True):
        if key not in opened:
            opened[key] = _manifest_next_to(path)
    manifests = {key: each for key, each in opened.items() if each is not None}
    entries = {
        (key, file.listed.file): file
        for key, each in manifests.items()
        for name in each.manifest.splits
        for file in _listed(each, name)
        if file.listed
    }
    files, read = [], set[tuple[str, str]]()
    for key, path in zip(keys, paths, strict=True):
        entry = entries.get((key, os.path.basename(path)))
        files.append(replace(entry, path=path) if entry else File(path))
        read |= {(key, entry.split)} if entry else set()
    return Shards(
        found(files),
        tuple(
            replace(each, names=tuple(sorted(name for at, name in read if at == key)))
            for key, each in manifests.items()
        ),
    )


def directory_problem(path: str) -> str:
    """Say that a glob matches a directory."""
    return (
        f"{path}: a directory, and a glob names files; pass the directory itself, or a "
        f"glob of its files such as {os.path.join(path, '*')!r}"
    )


def directory_key(where: str) -> str:
    """Return a text that is equal for all spellings of a directory."""
    return where if "://" in where else os.path.normpath(where)


def _listed(opened: OpenedManifest, name: str) -> list[File]:
    """Return the files that a manifest lists of a split."""
    split, spec = opened.manifest.splits[name], opened.manifest.spec_of(name)
    where = os.path.join(opened.directory, "")
    return [
        File(f"{where}{shard.file}", name, shard, spec, split.compression)
        for shard in split.shards
    ]


def _manifest_next_to(path: str) -> OpenedManifest | None:
    where, name = os.path.split(path)
    try:
        return open_manifest(where)
    except DatasetError as error:
        raise DatasetError(
            f"{error}; to read {name} without what it says, move "
            f"{manifest.FILE_NAME} out of the directory"
        ) from None


def _split_names(split: Splits) -> Sequence[str] | None:
    names = [split] if isinstance(split, str) else split
    if names is not None and (
        not isinstance(names, (list, tuple))
        or not names
        or not all(isinstance(name, str) for name in names)
        or len({*names}) < len(names)
    ):
        raise DatasetError(
            f"split={split!r}: expected the name of a split, such as 'train', or a list "
            "of different ones"
        )
    return names


def _path(source: str | os.PathLike[str]) -> str:
    """Return a path or a URL; of this machine, a path."""
    path = os.fspath(source)
    scheme, separator, rest = path.partition("://")
    return rest if separator and scheme in ("file", "local") else path


def _of_directory(directory: str, names: Sequence[str] | None) -> Shards:
    path = manifest_path(directory)
    opened = open_manifest(directory)
    if opened is None:
        if names is None:
            raise DatasetError(_no_manifest(directory))
        folders = [_of_folder(directory, name) for name in names]
        return Shards(
            tuple(file for each in folders for file in each.files),
            tuple(opened for each in folders for opened in each.manifests),
            "directory",
        )
    splits = opened.manifest.splits
    if not splits:
        raise DatasetError(f"{path}: it lists no split; write one")
    if names is None and len(splits) > 1:
        raise DatasetError(
            f"{path}: no split was named; there are: {', '.join(sorted(splits))}"
        )
    for name in names or ():
        if name not in splits:
            alone = "; a slice cannot be in a list" * ("[" in name)
            raise DatasetError(f"{path}: {no_split(name, splits)}{alone}")
    return shards_of(opened, names)


def _of_folder(directory: str, name: str) -> Shards:
    """Return the shards of a split that has a folder, with a manifest, of its name.

    Raises:
        DatasetError: it has none, there are files of the split next to it, or it holds
            several splits.
    """
    where = folder_of(directory, name)
    opened = open_manifest(where) if where else None
    if opened is None:
        raise DatasetError(_no_manifest(directory, name))
    files, _ = entries(directory)
    loose = [each for each in files if _is_of(each, name)]
    if loose:
        raise DatasetError(
            f"{directory}: split {name!r} is a folder and files such as {loose[0]}; pass "
            f"the folder, {where!r}, or a glob of the files"
        )
    return shards_of(opened, [only_split(opened.manifest, where)])


def _is_of(file: str, split: str) -> bool:
    """Return whether the name of a file is that of records of a split."""
    shard = SHARD_NAME.fullmatch(file)
    stem = shard[1] if shard else file.lower().partition(_SUFFIX)[0]
    is_data = shard is not None or _SUFFIX in file.lower()
    return is_data and split in (stem, stem.rstrip("-_.0123456789"))


def _no_manifest(directory: str, split: str | None = None) -> str:
    """Say that a directory has no manifest, and what it has to read instead."""
    files, folders = entries(directory)
    if split in folders:
        return _no_manifest(os.path.join(directory, split))
    sealed = sealed_folders(directory, folders)
    no = f"{directory}: no {manifest.FILE_NAME}"
    if sealed:
        said = "no split was named" if split is None else f"no split {split!r}"
        return f"{no}, and {said}; folders with one are: {', '.join(sealed)}"
    own = [each for each in files if split is not None and _is_of(each, split)]
    patterns = [_glob_of(directory, own or files)]
    for name in sorted(folders, key=lambda each: each != "train")[:_FEW]:
        below = os.path.join(directory, name)
        patterns.append(_glob_of(below, entries(below)[0]))
    pattern = next(filter(None, patterns), "")
    advice = "it has no files whose names say that they hold records"
    if pattern:
        advice = f"to read files without one, pass a glob such as {pattern!r}"
    of = "" if split is None else f", and no folder {split!r} with one"
    return f"{no}, which lists the files and their schema{of}; {advice}"


def _glob_of(directory: str, files: Sequence[str]) -> str:
    """Return a glob of the first files of records of a directory; "" if it has none."""
    where = directory if is_remote(directory) else glob.escape(directory)
    for name in files:
        shard = SHARD_NAME.fullmatch(name)
        if shard:
            return os.path.join(where, f"{glob.escape(shard[1])}-*")
        at = name.lower().find(_SUFFIX)
        if at >= 0 and not name.startswith("."):
            return os.path.join(where, f"*{name[at:]}")
    return ""


def _matching(path: str) -> list[str]:
    """Return the files that match a glob.

    Raises:
        DatasetError: there are none, or some shards of a split are missing.
    """
    paths = reader_of(path).glob(path)
    try:
        _check_complete(paths)
        if not paths:
            raise DatasetError(f"{path}: {nothing_at(path)}")
    except DatasetError:
        # Between the old shards and the new ones there are some, or none.
        where, name = os.path.split(path)
        start = re.split(r"[*?[]", name)[0]
        opened = open_manifest(where or ".")
        for split in sorted(opened.manifest.unsettled) if opened else ():
            if f"{split}-".startswith(start) or start.startswith(f"{split}-"):
                raise DatasetError(manifest.unsettled_problem(where, split)) from None
        raise
    return paths


def _check_runs(paths: Sequence[str]) -> None:
    """Refuse shards of a run that is not published, or of two runs of one split.

    In remote directories they are there from the moment each is written.
    """
    from ..writing.claims import unfinished_shards
    from ..writing.plan import shards_of_runs

    of_runs = shards_of_runs(paths)
    unfinished = set[str]()
    for where in {os.path.dirname(path) for path in of_runs}:
        directory = open_directory(where)
        names = unfinished_shards(directory, directory.names())
        unfinished |= {os.path.join(where, name) for name in names}
    known: dict[str, str] = {}
    for path, (split, run) in of_runs.items():
        if known.setdefault(split, run) != run or path in unfinished:
            raise DatasetError(
                f"{path}: split {os.path.basename(split)!r} is being written or replaced, or "
                "a killed run has left shards: pass the directory, whose manifest says which "
                "shards are current, or complete the split with resume=True"
            )


def _check_complete(paths: Sequence[str]) -> None:
    """Refuse a glob that finds some shards of a split and not the others.

    Only files that exist are counted, whatever number a name states.
    """
    if paths and is_remote(paths[0]):
        _check_runs(paths)
    numbers: dict[tuple[str, str], set[int]] = {}
    for path in paths:
        match = SHARD_NAME.fullmatch(path)
        if match:
            numbers.setdefault((match[1], match[3]), set()).add(int(match[2]))
    for (stem, total), indices in numbers.items():
        start = 1 if int(total) in indices and 0 not in indices else 0
        stop = start + int(total)
        missing = int(total) - sum(start <= index < stop for index in indices)
        if missing > 0:
            first = next(index for index in count(start) if index not in indices)
            raise DatasetError(
                f"{stem}-*-of-{total}: {missing} of {int(total)} shards are "
                f"missing, the first is {first:05d}; pass a list of files to read "
                "only a part"
            )
