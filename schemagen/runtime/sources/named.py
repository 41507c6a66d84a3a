"""Files that are named one by one or by a glob, held to the manifests next to them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..codecs.compatibility import check_compatible
from ..shared.errors import DatasetError, warn
from ..storage.manifest import FILE_NAME, Manifest, Shard, unsettled_problem
from ..storage.schema import Spec
from .manifests import (
    Opened,
    check_shards,
    manifest_path,
    read_manifest,
    stated,
)

SHARD_NAME = re.compile(r"(.+)-(\d{5,})-of-(\d{5,})(\.[^/]*)?", re.ASCII)
"""Suffixes stand after the numbers, before them, or nowhere."""


@dataclass(frozen=True)
class Entry:
    """What a manifest says about a file.

    Attributes:
        split: the split that the file is a part of.
        shard: the file as it was written.
        compression: of the split.
    """

    split: str
    shard: Shard
    compression: str


class _Directory:
    """A directory with a manifest.

    Attributes:
        path: of the manifest.
        text: of the manifest.
        manifest: what it says.
        by_name: what it says about files, by their names.
    """

    def __init__(self, path: str, text: bytes, manifest: Manifest) -> None:
        self.path = path
        self.text = text
        self.manifest = manifest
        self.by_name = {
            shard.file: Entry(name, shard, split.compression)
            for name, split in manifest.splits.items()
            for shard in split.shards
        }


class Listing:
    """What the manifests around some files say about them.

    A manifest counts for the files next to it, and for files that links lead to.

    Args:
        paths: the files.

    Attributes:
        entries: the manifest's entry of each file, or None.

    Raises:
        DatasetError: a manifest is damaged.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._known: dict[str, _Directory | None] = {}
        found = [_find(path, self._known) for path in paths]
        self.entries = [entry for _, entry in found]
        self._read: dict[str, tuple[_Directory, set[str]]] = {}
        for directory, entry in found:
            if directory and entry:
                _, splits = self._read.setdefault(directory.path, (directory, set()))
                splits.add(entry.split)

    def check(self, spec: Spec) -> tuple[Opened, ...]:
        """Compare the files that are listed with their manifests, which are returned.

        Args:
            spec: the reader's own.

        Raises:
            DatasetError: a file is missing, or is not the one that a manifest lists.
            SchemaMismatchError: the data was written with an incompatible schema.
        """
        opened = []
        for path, (directory, names) in self._read.items():
            splits = {name: stated(directory.manifest, name) for name in sorted(names)}
            for name in splits:
                if name in directory.manifest.unsettled:
                    raise DatasetError(unsettled_problem(os.path.dirname(path), name))
                written = directory.manifest.spec_of(name)
                where = f"{path}: split {name!r}"
                check_compatible(written, spec, where, adopted=splits[name].adopted)
            opened.append(Opened(path, directory.text, splits))
        listed = [
            (path, entry.shard)
            for path, entry in zip(self._paths, self.entries, strict=True)
            if entry
        ]
        check_shards([path for path, _ in listed], [shard for _, shard in listed])
        self._check_copies()
        return tuple(opened)

    def _check_copies(self) -> None:
        """Refuse to read one shard under two names."""
        known: dict[int, str] = {}
        for path, entry in zip(self._paths, self.entries, strict=True):
            first = known.setdefault(id(entry), path) if entry else path
            if entry and first != path:
                raise DatasetError(
                    f"{path}: the same shard of split {entry.split!r} as {first}, so "
                    "that its records would be read twice; remove the copy or the "
                    "link, or name one of the two"
                )

    def check_others(self, *, is_glob: bool) -> None:
        """Refuse files that no manifest lists where one should, or warn of them.

        Args:
            is_glob: whether the files are what matches a glob.

        Raises:
            DatasetError: a file is named as a shard of a split that is being published,
                or of one that has other shards; or a glob finds listed files as well.
        """
        doubtful = []
        for path, entry in zip(self._paths, self.entries, strict=True):
            if entry is None:
                near = self._manifest_near(path)
                if near and is_glob and near in self._read:
                    raise DatasetError(
                        f"{path}: {near} does not list it, and lists other files of "
                        "this glob; name the files of one split, such as data/train-*, "
                        "or pass a list of files to read them all"
                    )
                doubtful += [path] * bool(near)
        if doubtful:
            files = "1 file" if len(doubtful) == 1 else f"{len(doubtful)} files"
            warn(
                f"{files} not listed by the {FILE_NAME} in the same directory, the "
                f"first is {doubtful[0]}: their schema is unknown, and they may be "
                "incomplete"
            )

    def _manifest_near(self, path: str) -> str:
        """Return the manifest that does not list a file; "" without one.

        Raises:
            DatasetError: the file is named as a shard of a split that is being
                published, or of one that has other shards.
        """
        for place in _places(path):
            where, name = os.path.split(place)
            match = SHARD_NAME.fullmatch(name)
            directory = self._known[_key(where)]
            if directory is None:
                continue
            if match and match[1] in directory.manifest.unsettled:
                raise DatasetError(unsettled_problem(where, match[1]))
            if match and match[1] in directory.manifest.splits:
                raise DatasetError(
                    f"{path}: named as a shard of split {match[1]!r}, and "
                    f"{directory.path} does not list it: left over from an earlier "
                    "write, or copied from elsewhere; remove it, or move it to a "
                    "directory of its own to read it"
                )
            return directory.path
        return ""


def _places(path: str) -> list[str]:
    """Return a path, and where it leads to if there are links in it."""
    if "://" in path or not os.path.islink(path):
        return [path]
    return [path, os.path.realpath(path)]


def _directory_of(place: str, known: dict[str, _Directory | None]) -> _Directory | None:
    """Return the directory of a file, if it has a manifest."""
    where = os.path.dirname(place)
    if _key(where) not in known:
        try:
            found = read_manifest(where)
        except DatasetError as error:
            raise DatasetError(
                f"{error}; to read {os.path.basename(place)} without what it says, move "
                f"{FILE_NAME} out of the directory"
            ) from None
        known[_key(where)] = found and _Directory(manifest_path(where), *found)
    return known[_key(where)]


def _key(where: str) -> str:
    """Return what is equal for the spellings of a directory."""
    return where if "://" in where else os.path.realpath(where)


def _find(
    path: str, known: dict[str, _Directory | None]
) -> tuple[_Directory | None, Entry | None]:
    for place in _places(path):
        directory = _directory_of(place, known)
        entry = directory and directory.by_name.get(os.path.basename(place))
        if entry:
            return directory, entry
    return None, None
