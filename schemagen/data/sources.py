"""The files that DATA on the command line names, and what is known of their directory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..runtime.shared.errors import DatasetError, no_split, nothing_at
from ..runtime.sources.finding import directory_key, shards_at, shards_of
from ..runtime.sources.manifests import OpenedManifest, open_manifest
from ..runtime.sources.shards import File, Shards, found
from ..runtime.storage import manifest
from ..runtime.storage.directory import is_remote
from ..runtime.storage.manifest import Manifest
from .files import FilePath, entries_of, file_path, matching
from .layouts import (
    DataDirectory,
    Gap,
    directories_below,
    gaps_of,
    glob_of,
    listed_names,
    names_in,
    says_records,
    sealed_below,
    several,
    split_of,
    split_order,
    splits_of_paths,
    tfds_of,
)


@dataclass(frozen=True)
class Data:
    """Files that are read together.

    Attributes:
        where: the user's name for them.
        shards: the files, sorted by split and name. Each has a split, by the manifest or
            else by its name; "" if neither says. Files that a manifest lists may be missing.
        directory: the data directory, if it was one or they are next to a manifest.
        problem: why the manifest cannot be read; empty if it can, and without one.
        unlisted: names of TFRecord files in the directory, or in folders of it, that the
            manifest next to them does not list.
        gaps: contradictions in names, where there is no manifest.
        other_files: names of what else is in a directory without a manifest, or of the
            folders that its manifest hides, as they have their own; those of directories
            end with "/".
        tfds: the directory of the TFDS dataset that the files are of; "" if they are of
            none.
    """

    where: str
    shards: Shards
    directory: FilePath | None = None
    problem: str = ""
    unlisted: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    other_files: tuple[str, ...] = ()
    tfds: str = ""

    @property
    def files(self) -> tuple[File, ...]:
        """The files of all splits."""
        return self.shards.files

    @property
    def manifest(self) -> Manifest | None:
        """The manifest of the directory, if it has one."""
        where = directory_key(str(self.directory))
        of = (each for each in self.shards.manifests if self.directory)
        own = (each.manifest for each in of if directory_key(each.directory) == where)
        return next(own, None)

    @property
    def splits(self) -> dict[str, tuple[File, ...]]:
        """The files of each split, by its name."""
        return {
            name: tuple(file for file in self.files if file.split == name)
            for name in dict.fromkeys(file.split for file in self.files)
        }


def find_data(source: str | os.PathLike[str], split: str | None = None) -> Data:
    """Find the files that a directory, a glob or a file's path names.

    Files next to a manifest that lists them are known by it, whatever their names. If it
    is damaged, they are known by their names.

    Args:
        source: the directory, glob or path; or its URL, which fsspec opens.
        split: only the files of this split.

    Raises:
        DatasetError: there are none, the name is too long, or the server of a URL does not
            answer.
        PermissionError: a directory may not be read.
    """
    where = os.fspath(source)
    try:
        path = file_path(where)
        data = _in_directory(where, path) if path.is_dir() else _named(where, path)
    except OSError as error:
        if isinstance(error, PermissionError) and not is_remote(where):
            raise
        raise DatasetError(
            f"{error.filename}: it cannot be read: {error.strerror}"
        ) from error
    if split is None:
        return data
    if split not in data.splits:
        raise DatasetError(f"{where}: {no_split(split, filter(None, data.splits))}")
    return replace(
        data,
        shards=data.shards.only(data.splits[split]),
        unlisted=(),
        gaps=tuple(gap for gap in data.gaps if gap.split == split),
        other_files=(),
    )


def _in_directory(where: str, path: FilePath) -> Data:
    try:
        opened = open_manifest(str(path))
    except DatasetError as error:
        problem = _manifest_problem(path) or str(error)
        try:
            return replace(_laid_out(where, path), problem=problem)
        except DatasetError:
            raise error from None  # there is nothing but the damaged manifest
    if opened is None:
        return _laid_out(where, path)
    shards = _arranged(shards_of(opened))
    if not shards.files:
        raise DatasetError(
            f"{path / manifest.FILE_NAME}: it lists no split; write one, or to "
            f"look at files that it does not list, name them by a glob: {glob_of(path)}"
        )
    # Of a split that is being published there may be old files, and new ones by now.
    names = {file.listed.file for file in shards.files if file.listed}
    unsettled = opened.manifest.unsettled
    unlisted = tuple(
        name
        for name in names_in(path)[0]
        if name not in names and split_of(name) not in unsettled
    )
    hidden = tuple(sealed_below(path))
    return Data(where, shards, path, unlisted=unlisted, other_files=hidden)


def _laid_out(where: str, path: FilePath) -> Data:
    """Return the files of a directory without a manifest, by their names.

    Folders of splits may have manifests of their own.
    """
    data, others = names_in(path)
    directories = [DataDirectory(path, (), data, others)]
    if not data:
        directories = directories_below(where, directories[0])
    manifests = _manifests_in(where, directories)
    if manifests:
        return _in_folders(where, path, directories, manifests)
    paths = [each.path / name for each in directories for name in each.data]
    if not paths:
        there = f"; there are: {listed_names(others)}" if others else ""
        raise DatasetError(
            f"{where}: no {manifest.FILE_NAME}, and no file whose name or first "
            "bytes say that it holds records, such as "
            f"train-00000-of-00008.tfrecord; name the files by a glob: "
            f"{glob_of(path)}{there}"
        )
    shards = _arranged(_without_manifest(paths), path)
    return Data(
        where,
        shards,
        path,
        gaps=gaps_of(paths, _splits_by_name(shards.files)),
        other_files=tuple(
            "/".join((*each.parts, name))
            for each in directories
            for name in each.others
        ),
        tfds=tfds_of(paths),
    )


def _manifests_in(
    where: str, directories: Iterable[DataDirectory]
) -> dict[FilePath, OpenedManifest]:
    """Return the manifests of folders, one for each split of one record.

    Raises:
        DatasetError: they are of other data directories; or one cannot be read.
    """
    found: dict[FilePath, OpenedManifest] = {}
    below = (each.path for each in directories if each.parts)
    own = [path for path in below if (path / manifest.FILE_NAME).exists()]
    for path in own:
        with suppress(DatasetError):
            opened = open_manifest(str(path))
            if opened is not None:
                found[path] = opened
    records = {opened.manifest.record for opened in found.values()}
    are_splits = all(len(opened.manifest.splits) == 1 for opened in found.values())
    if len(found) < len(own) or len(records) > 1 or not are_splits:
        reason = f"directories with a {manifest.FILE_NAME} of their own"
        raise several(where, reason, own)
    return found


def _in_folders(
    where: str,
    path: FilePath,
    directories: Sequence[DataDirectory],
    manifests: Mapping[FilePath, OpenedManifest],
) -> Data:
    """Return the files of folders that have manifests, and of those next to them.

    A folder with a manifest is a split of its name, as it is for readers.
    """
    files: list[File] = []
    opened: list[OpenedManifest] = []
    unlisted: list[str] = []
    for each in directories:
        listed = set[str]()
        if each.path in manifests:
            own = shards_of(manifests[each.path])
            files += [replace(file, split="/".join(each.parts)) for file in own.files]
            opened += own.manifests
            listed = {file.listed.file for file in own.files if file.listed}
            splits = manifests[each.path].manifest
            unlisted += [
                "/".join((*each.parts, name))
                for name in each.data
                if name not in listed and split_of(name) not in splits.unsettled
            ]
        else:
            files += found([File(str(each.path / name)) for name in each.data])
    names = splits_of_paths((file_path(file.path) for file in files), path)
    named = [
        file if file.listed else replace(file, split=names[file_path(file.path)])
        for file in files
    ]
    loose = [file for file in named if not file.listed]
    return Data(
        where,
        Shards(_in_order(named), tuple(opened)),
        path,
        unlisted=tuple(unlisted),
        gaps=gaps_of([file_path(file.path) for file in loose], _splits_by_name(loose)),
        other_files=tuple(
            "/".join((*each.parts, name))
            for each in directories
            for name in each.others
        ),
    )


def _named(where: str, path: FilePath) -> Data:
    """Return files of a glob or a path."""
    there = path.exists()
    paths = [path] if there else matching(where)
    paths = [each for each in paths if not each.is_dir()]
    if not paths:
        raise DatasetError(f"{where}: {nothing_at(where)}")
    directories = dict.fromkeys(each.parent for each in paths)
    problem, own = "", None
    try:
        shards = shards_at([str(each) for each in paths])
    except DatasetError:
        problems = ((each, _manifest_problem(each)) for each in directories)
        own, problem = next((each, said) for each, said in problems if said)
        shards = _without_manifest(paths)
    if shards.manifests and len(directories) == 1:
        (own,) = directories
    shards = _arranged(shards)
    is_glob = not (there or os.path.lexists(where))
    return Data(
        where,
        shards,
        own,
        problem,
        gaps=_gaps_of_glob(shards.files) if is_glob else (),
        tfds="" if shards.manifests else tfds_of(paths),
    )


def _without_manifest(paths: Iterable[FilePath]) -> Shards:
    return Shards(found([File(str(path)) for path in paths]))


def _manifest_problem(directory: FilePath) -> str:
    """Say why the manifest in a directory cannot be read, or return "" if it can."""
    try:
        with suppress(OSError):
            manifest.load(str(directory))
    except DatasetError as error:
        return str(error)
    return ""


def _arranged(shards: Shards, root: FilePath | None = None) -> Shards:
    """Return files that all have a split, sorted.

    Args:
        shards: the files.
        root: the directory that they were found in, if it has no manifest.
    """
    unlisted = (file_path(file.path) for file in shards.files if not file.listed)
    splits = splits_of_paths(unlisted, root)
    files = (
        replace(file, path=str(path), split=splits.get(path, file.split))
        for file in shards.files
        for path in [file_path(file.path)]
    )
    return replace(shards, files=_in_order(files))


def _in_order(files: Iterable[File]) -> tuple[File, ...]:
    """Return files sorted by split, and then by path."""
    return tuple(
        sorted(files, key=lambda file: (split_order(file.split), Path(file.path)))
    )


def _splits_by_name(files: Iterable[File]) -> dict[tuple[FilePath, str], str]:
    """Return the split of files by their directory and the split in their name."""
    paths = ((file_path(file.path), file.split) for file in files)
    return {(path.parent, split_of(path.name)): split for path, split in paths}


def _gaps_of_glob(files: Iterable[File]) -> tuple[Gap, ...]:
    """Find what is missing of the splits that a glob matches.

    Files that exist and that the glob leaves out are not missing.
    """
    asked = _splits_by_name(files)
    there = [file_path(file.path) for file in files]
    for directory in dict.fromkeys(directory for directory, _ in asked):
        with suppress(OSError):  # a glob need not list the last directory
            there += [
                directory / name
                for name in entries_of(directory)
                if (directory, split_of(name)) in asked and says_records(name)
            ]
    return gaps_of(there, asked)
