"""What DATA on the command line names: files, the splits they belong to, their specs."""

from __future__ import annotations

import glob
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..findings import printable
from ..runtime.shared.errors import DatasetError, did_you_mean
from ..runtime.storage import manifest
from ..runtime.storage.journal import committed, publishing_problem
from ..runtime.storage.manifest import Manifest, Shard
from ..runtime.storage.opening import open_directory
from ..runtime.storage.schema import Spec
from .compression import compression_of
from .names import Gap, gaps_of, is_beside, is_hidden, says_records, split_of
from .runs import HEADER, is_header

# So much of a compressed file is enough to inflate a record's header.
_START_BYTES = 4096

# So many names are told, and so many characters of each.
_NAMES, _CHARACTERS = 8, 60


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
        directory: the data directory, if it was one or they are next to a manifest.
        manifest: of the directory, if it has one.
        files: sorted by split and name; files that a manifest lists may be missing.
        unlisted: names of TFRecord files in the directory that its manifest does not
            list.
        gaps: what names say of further files, where no manifest says it.
        passed_over: names of what else is in a directory without a manifest; those of
            directories end with "/".
        publishing: splits of the directory whose publication was interrupted or goes on.
    """

    where: str
    directory: Path | None
    manifest: Manifest | None
    files: tuple[DataFile, ...]
    unlisted: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    passed_over: tuple[str, ...] = ()
    publishing: tuple[str, ...] = ()

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

    Files that are next to a manifest which lists them are known by it, however they
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
        if not os.path.lexists(where):
            data = replace(data, gaps=_gaps_beside(data.files))
    if split is None:
        return data
    if split in data.publishing:
        raise DatasetError(publishing_problem(where, split))
    if split not in data.splits:
        names = ", ".join(sorted(filter(None, data.splits))) or "none"
        near = did_you_mean(split, data.splits)
        raise DatasetError(
            f"{where}: no split {split!r}; there are: {names}" + (near and f"; {near}")
        )
    return replace(
        data,
        files=data.splits[split],
        unlisted=(),
        gaps=tuple(gap for gap in data.gaps if gap.split == split),
        passed_over=(),
    )


def has_damaged_manifest(where: str) -> bool:
    """Tell whether a manifest that cannot be read stands in, or next to, some data."""
    path = Path(where)
    try:
        manifest.load(path if path.is_dir() else path.parent)
    except DatasetError:
        return True
    except OSError:
        pass
    return False


def _directory(where: str, path: Path, *, use_manifest: bool) -> Data:
    found = manifest.load(path) if use_manifest else None
    listed = set(found.splits) if found else set()
    publishing = []
    if use_manifest:
        publishing = sorted(set(committed(open_directory(path))) - listed)
    if publishing and not listed:
        raise DatasetError(publishing_problem(where, publishing[0]))
    data, others = _held_by(path)
    if found is None:
        files = [DataFile(path / name, _split_in_directory(name)) for name in data]
        if not files:
            there = f"; there are: {listed_names(others)}" if others else ""
            raise DatasetError(
                f"{where}: no {manifest.FILE_NAME}, and no file whose name or first "
                "bytes say that it holds records, such as "
                f"train-00000-of-00008.tfrecord; name the files by a glob: "
                f"{path / '*'}{there}"
            )
        gaps = gaps_of(file.path for file in files)
        return Data(where, path, None, _sorted(files), (), gaps, tuple(others))
    files = [
        DataFile(path / shard.file, name, shard, found.spec_of(name))
        for name, split in found.splits.items()
        for shard in split.shards
    ]
    if not files:
        raise DatasetError(
            f"{path / manifest.FILE_NAME}: it lists no split; write one, or to "
            f"look at files that it does not list, name them by a glob: {path / '*'}"
        )
    names = {file.path.name for file in files}
    unlisted = tuple(
        name for name in data if name not in names and split_of(name) not in publishing
    )
    return Data(
        where, path, found, _sorted(files), unlisted, publishing=tuple(publishing)
    )


def _listed(where: str, paths: list[Path], *, use_manifest: bool) -> Data:
    """Return files as the manifests next to them know them."""
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


def _held_by(directory: Path) -> tuple[list[str], list[str]]:
    """Return the names in a directory of what holds records, and of what else is there.

    Links with such a name that lead nowhere are files that cannot be read.
    """
    data: list[str] = []
    others: list[str] = []
    for name in sorted(os.listdir(directory)):
        path = directory / name
        is_file = os.path.isfile(path)
        if is_hidden(name):
            continue
        if says_records(name) and (is_file or not os.path.exists(path)):
            data.append(name)
        elif is_file and is_beside(name):
            continue
        elif is_file and _begins_a_record(path):
            data.append(name)
        else:
            others.append(f"{name}/" if os.path.isdir(path) else name)
    return data, others


def _split_in_directory(name: str) -> str:
    """Return a file's split; any name has one where the file's bytes say records."""
    return split_of(name if says_records(name) else f"{name}.tfrecord")


def _begins_a_record(path: Path) -> bool:
    """Tell whether a length with its right checksum is what a file begins with."""
    try:
        with path.open("rb") as file:
            start = file.read(_START_BYTES)
    except OSError:
        return False
    compression = compression_of(start)
    if compression:
        bits = zlib.MAX_WBITS + (16 if compression == "GZIP" else 0)
        try:
            start = zlib.decompressobj(bits).decompress(start, HEADER)
        except zlib.error:
            return False
    return is_header(memoryview(start), 0)


def _gaps_beside(files: Iterable[DataFile]) -> tuple[Gap, ...]:
    """Find what is missing of the splits that a glob matches.

    What it leaves out although it is there has been left out by the user.
    """
    asked = {(file.path.parent, split_of(file.path.name)) for file in files}
    there: list[Path] = []
    for directory in dict.fromkeys(directory for directory, _ in asked):
        with suppress(OSError):  # a glob need not list the last directory
            there += [
                directory / name
                for name in os.listdir(directory)
                if (directory, split_of(name)) in asked and says_records(name)
            ]
    return gaps_of([*there, *(file.path for file in files)])


def listed_names(names: Iterable[str]) -> str:
    """Write the first of some names, so that a terminal shows them and no more."""
    every = list(names)
    shown = [
        printable(name if len(name) <= _CHARACTERS else f"{name[:_CHARACTERS]}...")
        for name in every[:_NAMES]
    ]
    more = len(every) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
