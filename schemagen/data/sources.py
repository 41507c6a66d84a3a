"""The files that DATA on the command line names, their splits, and their specs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..runtime.shared.errors import DatasetError, no_split, nothing_at
from ..runtime.sources.manifests import paths_of
from ..runtime.storage import manifest
from ..runtime.storage.directory import is_remote
from ..runtime.storage.manifest import Manifest, Shard
from ..runtime.storage.schema import Spec
from .layouts import (
    Directory,
    directories_below,
    glob_of,
    listed_names,
    names_in,
    splits_of_paths,
    tfds_of,
)
from .names import Gap, gaps_of, says_records, split_of, split_order
from .remote_path import FilePath, entries_of, file_path, matching


@dataclass(frozen=True)
class DataFile:
    """One file of data.

    Attributes:
        path: where it is.
        split: by the manifest or else by its name; "" if neither says.
        shard: its entry in the manifest, or None.
        spec: the spec that wrote it, by the manifest, or None.
        compression: "", "GZIP" or "ZLIB" by the manifest, or None.
        adopted: whether another program wrote it, and it was sealed later.
    """

    path: FilePath
    split: str
    shard: Shard | None = None
    spec: Spec | None = None
    compression: str | None = None
    adopted: bool = False


@dataclass(frozen=True)
class Data:
    """Files that are read together.

    Attributes:
        where: the user's name for them.
        directory: the data directory, if it was one or they are next to a manifest.
        manifest: of the directory, if it has one.
        files: sorted by split and name; files that a manifest lists may be missing.
        unlisted: names of TFRecord files in the directory that its manifest does not
            list.
        gaps: contradictions in names, where there is no manifest.
        other_files: names of what else is in a directory without a manifest; those of
            directories end with "/".
        tfds: the directory of the TFDS dataset that the files are of; "" if they are of
            none.
    """

    where: str
    directory: FilePath | None
    manifest: Manifest | None
    files: tuple[DataFile, ...]
    unlisted: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    other_files: tuple[str, ...] = ()
    tfds: str = ""

    @property
    def splits(self) -> dict[str, tuple[DataFile, ...]]:
        """The files of each split, by its name."""
        return {
            name: tuple(file for file in self.files if file.split == name)
            for name in dict.fromkeys(file.split for file in self.files)
        }


def find_data(
    source: str | os.PathLike[str],
    split: str | None = None,
    *,
    use_manifest: bool = True,
) -> Data:
    """Find the files that a directory, a glob or a file's path names.

    Files next to a manifest that lists them are known by it, whatever their names.

    Args:
        source: the directory, glob or path; or its URL, which fsspec opens.
        split: only the files of this split.
        use_manifest: whether to look for manifests, as one may be damaged.

    Raises:
        DatasetError: there are none, the manifest is damaged, or the server of a URL
            does not answer.
    """
    where = os.fspath(source)
    try:
        return _find_data(where, split, use_manifest=use_manifest)
    except OSError as error:
        if not is_remote(where):
            raise
        raise DatasetError(
            f"{error.filename}: it cannot be read: {error.strerror}"
        ) from error


def _find_data(where: str, split: str | None, *, use_manifest: bool) -> Data:
    path = file_path(where)
    if path.is_dir():
        data = _in_directory(where, path, use_manifest=use_manifest)
    else:
        there = path.exists()
        paths = [path] if there else matching(where)
        paths = [each for each in paths if not each.is_dir()]
        if not paths:
            raise DatasetError(f"{where}: {nothing_at(where)}")
        data = _listed(where, paths, use_manifest=use_manifest)
        if not (there or os.path.lexists(where)):
            data = replace(data, gaps=_gaps_of_glob(data.files))
    if split is None:
        return data
    if split not in data.splits:
        raise DatasetError(f"{where}: {no_split(split, filter(None, data.splits))}")
    return replace(
        data,
        files=data.splits[split],
        unlisted=(),
        gaps=tuple(gap for gap in data.gaps if gap.split == split),
        other_files=(),
    )


def _in_directory(where: str, path: FilePath, *, use_manifest: bool) -> Data:
    found = manifest.load(str(path)) if use_manifest else None
    data, others = names_in(path)
    if found is None:
        directories = [Directory(path, (), data, others)]
        if not data:
            directories = directories_below(where, directories[0])
        paths = [each.path / name for each in directories for name in each.data]
        if not paths:
            there = f"; there are: {listed_names(others)}" if others else ""
            raise DatasetError(
                f"{where}: no {manifest.FILE_NAME}, and no file whose name or first "
                "bytes say that it holds records, such as "
                f"train-00000-of-00008.tfrecord; name the files by a glob: "
                f"{glob_of(path)}{there}"
            )
        files = _files_of_names(splits_of_paths(paths, path))
        return Data(
            where,
            path,
            None,
            files,
            gaps=gaps_of(paths, _splits_by_name(files)),
            other_files=tuple(
                "/".join((*each.parts, name))
                for each in directories
                for name in each.others
            ),
            tfds=tfds_of(paths),
        )
    known = _files_of(path, found).values()
    if not known:
        raise DatasetError(
            f"{path / manifest.FILE_NAME}: it lists no split; write one, or to "
            f"look at files that it does not list, name them by a glob: {glob_of(path)}"
        )
    # Of a split that is being published there may be old files, and new ones by now.
    names = {file.shard.file for file in known if file.shard is not None}
    unlisted = tuple(
        name
        for name in data
        if name not in names and split_of(name) not in found.unsettled
    )
    return Data(where, path, found, _sorted(known), unlisted)


def _files_of_names(splits: Mapping[FilePath, str]) -> tuple[DataFile, ...]:
    return _sorted(DataFile(path, split) for path, split in splits.items())


def _splits_by_name(files: Iterable[DataFile]) -> dict[tuple[FilePath, str], str]:
    """Return the split of files by their directory and the split in their name."""
    return {(each.path.parent, split_of(each.path.name)): each.split for each in files}


def _listed(where: str, paths: list[FilePath], *, use_manifest: bool) -> Data:
    """Return files as the manifests next to them know them."""
    found: dict[FilePath, Manifest | None] = dict.fromkeys(
        each.parent for each in paths
    )
    known: dict[FilePath, DataFile] = {}
    for directory in found if use_manifest else ():
        found[directory] = loaded = manifest.load(str(directory))
        if loaded is not None:
            known |= _files_of(directory, loaded)
    unknown = [path for path in paths if path not in known]
    listed = [known[path] for path in paths if path in known]
    files = _sorted([*listed, *_files_of_names(splits_of_paths(unknown))])
    if not any(found.values()):
        return Data(where, None, None, files, tfds=tfds_of(paths))
    if len(found) > 1:
        return Data(where, None, None, files)
    ((directory, loaded),) = found.items()
    return Data(where, directory, loaded, files)


def _files_of(directory: FilePath, found: Manifest) -> dict[FilePath, DataFile]:
    """Return the files of a manifest, by their paths."""
    files = {}
    for name, split in found.splits.items():
        spec = found.spec_of(name)
        paths = map(file_path, paths_of(str(directory), split))
        for path, shard in zip(paths, split.shards, strict=True):
            files[path] = DataFile(
                path, name, shard, spec, split.compression, bool(split.adopted)
            )
    return files


def _sorted(files: Iterable[DataFile]) -> tuple[DataFile, ...]:
    return tuple(
        sorted(files, key=lambda each: (split_order(each.split), Path(str(each.path))))
    )


def _gaps_of_glob(files: Iterable[DataFile]) -> tuple[Gap, ...]:
    """Find what is missing of the splits that a glob matches.

    Files that exist and that the glob leaves out are not missing.
    """
    asked = _splits_by_name(files)
    there: list[FilePath] = []
    for directory in dict.fromkeys(directory for directory, _ in asked):
        with suppress(OSError):  # a glob need not list the last directory
            there += [
                directory / name
                for name in entries_of(directory)
                if (directory, split_of(name)) in asked and says_records(name)
            ]
    return gaps_of([*there, *(file.path for file in files)], asked)
