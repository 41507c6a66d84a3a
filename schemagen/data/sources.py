"""What DATA on the command line names: files, the splits they belong to, their specs."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..support import manifest
from ..support.errors import DatasetError, did_you_mean
from ..support.manifest import Manifest, Shard, Spec

_SHARD = re.compile(r"(?P<split>.+?)(?:\.tfrecords?)?-\d{5,}-of-\d{5,}(?:\..*)?")
_TFRECORD = re.compile(r"(?P<split>.+?)\.tfrecords?(?:\.\w+)?")


@dataclass(frozen=True)
class DataFile:
    """One file of data.

    Attributes:
        path: where it is.
        split: what the manifest or else its name says; "" if neither does.
        shard: what the manifest says of it, or None.
        spec: the spec that wrote it, by the manifest, or None.
    """

    path: Path
    split: str
    shard: Shard | None = None
    spec: Spec | None = None


@dataclass(frozen=True)
class Data:
    """Files that are looked at together.

    Attributes:
        where: what the user has called them.
        directory: the data directory, if it was one or they stand beside a manifest.
        manifest: of the directory, if it has one.
        files: sorted by split and name; files that a manifest lists may be missing.
        unlisted: names of TFRecord files in the directory that its manifest does not
            list.
    """

    where: str
    directory: Path | None
    manifest: Manifest | None
    files: tuple[DataFile, ...]
    unlisted: tuple[str, ...] = ()

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

    Files that stand beside a manifest which lists them are known by it, however they
    are named.

    Args:
        source: what the user has given.
        split: only the files of this split.
        use_manifest: whether to look for manifests; one that is damaged is no help.

    Raises:
        DatasetError: there are none, or the manifest is damaged.
    """
    where = os.fspath(source)
    path = Path(where)
    if path.is_dir():
        data = _directory(where, path, use_manifest=use_manifest)
    else:
        paths = [path] if path.exists() else sorted(map(Path, glob.glob(where)))
        paths = [each for each in paths if not each.is_dir()]
        if not paths:
            what = "file matches" if glob.has_magic(where) else "such directory or file"
            raise DatasetError(f"{where}: no {what}")
        data = _listed(where, paths, use_manifest=use_manifest)
    if split is None:
        return data
    if split not in data.splits:
        names = ", ".join(sorted(filter(None, data.splits))) or "none"
        near = did_you_mean(split, data.splits)
        raise DatasetError(
            f"{where}: no split {split!r}; there are: {names}" + (near and f"; {near}")
        )
    return Data(where, data.directory, data.manifest, data.splits[split], ())


def _directory(where: str, path: Path, *, use_manifest: bool) -> Data:
    found = manifest.load(path) if use_manifest else None
    names = sorted(each.name for each in path.iterdir() if each.is_file())
    if found is None:
        files = [
            DataFile(path / name, split_of(name)) for name in names if _is_data(name)
        ]
        if not files:
            raise DatasetError(
                f"{where}: no {manifest.FILE_NAME}, and no file whose name says that it "
                "holds records, such as train-00000-of-00008.tfrecord; name the files "
                f"by a glob: {path / '*'}"
            )
        return Data(where, path, None, _sorted(files))
    files = [
        DataFile(path / shard.file, name, shard, found.spec_of(name))
        for name, split in found.splits.items()
        for shard in split.shards
    ]
    listed = {file.path.name for file in files}
    unlisted = tuple(n for n in names if _is_data(n) and n not in listed)
    return Data(where, path, found, _sorted(files), unlisted)


def _listed(where: str, paths: list[Path], *, use_manifest: bool) -> Data:
    """Return files as the manifests beside them know them."""
    known: dict[Path, dict[str, DataFile]] = {}
    manifests: dict[Path, Manifest] = {}
    for directory in dict.fromkeys(path.parent for path in paths):
        found = manifest.load(directory) if use_manifest else None
        if found is not None:
            manifests[directory] = found
            known[directory] = {
                shard.file: DataFile(
                    directory / shard.file, name, shard, found.spec_of(name)
                )
                for name, split in found.splits.items()
                for shard in split.shards
            }
    files = [
        known.get(path.parent, {}).get(path.name) or DataFile(path, split_of(path.name))
        for path in paths
    ]
    if len(manifests) == 1 and len({path.parent for path in paths}) == 1:
        ((directory, found),) = manifests.items()
        return Data(where, directory, found, _sorted(files))
    return Data(where, None, None, _sorted(files))


def _sorted(files: list[DataFile]) -> tuple[DataFile, ...]:
    return tuple(sorted(files, key=lambda file: (file.split, file.path)))


def _is_data(name: str) -> bool:
    return not name.startswith((".", "_")) and bool(
        _SHARD.fullmatch(name) or _TFRECORD.fullmatch(name)
    )


def split_of(name: str) -> str:
    """Return the split that a file's name speaks of: `train` of train-00000-of-00008.

    It is what stands before the shard's number, or before the suffix; without either
    it is "".
    """
    match = _SHARD.fullmatch(name) or _TFRECORD.fullmatch(name)
    return match["split"] if match else ""
