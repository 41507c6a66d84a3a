"""Opening what a reader has named: files that are whole, of a schema that it reads.

Several sources may be read as one, each with a weight (`open_components`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..compatibility import check_compatible
from ..shared.errors import DatasetError, warn
from ..shared.tfrecord import detect_compression
from ..storage.manifest import FILE_NAME, unsettled_problem
from ..storage.schema import Spec
from .finding import (
    SHARD_NAME,
    Paths,
    Splits,
    directory_key,
    directory_problem,
    find_shards,
)
from .generation import check_listed
from .shards import File, Shards
from .shares import Share, ShareIndex, Slice, share_of, split_and_slice

# A directory, and the name of a split, which may have a slice behind it.
_SPLIT_BEHIND = re.compile(r"(.+):([^:/\[\]]+(?:\[[^/\]]*\])?)", re.DOTALL)

# More than 64 bits are in no other option either.
_TOO_HEAVY = 1 << 63


def open_shards(source: Paths, split: Splits, spec: Spec) -> Shards:
    """Find the files that a reader names, and see that they are whole.

    Args:
        source: a data directory, a glob, a file, or a list of files.
        split: which split of a directory, or several, which are read as one; may be left
            out if it holds one.
        spec: the reader's own spec, compared with those of the manifests that list files.

    Raises:
        DatasetError: nothing there, files missing or not those that were written.
        SchemaMismatchError: the data was written with an incompatible schema.
    """
    try:
        shards = find_shards(source, split)
        while True:
            try:
                check_schemas(shards, spec)
                return _whole(shards)
            except DatasetError:
                again = find_shards(source, split)
                if again.manifests == shards.manifests:
                    raise
                shards = again  # it was written meanwhile
    except OSError as error:
        raise DatasetError(
            f"{error.filename}: it cannot be read: {error.strerror}"
        ) from error


def check_schemas(shards: Shards, spec: Spec) -> None:
    """Compare the specs that wrote splits with a reader's own.

    Raises:
        SchemaMismatchError: one is incompatible.
        DatasetError: files by name are of a split that is being published.
    """
    by_directory = shards.by == "directory"
    for opened in shards.manifests:
        unsettled = () if by_directory else opened.manifest.unsettled
        for name, stated in opened.splits.items():
            if name in unsettled:
                raise DatasetError(unsettled_problem(opened.directory, name))
            where = opened.path if by_directory else f"{opened.path}: split {name!r}"
            written = opened.manifest.spec_of(name)
            check_compatible(written, spec, where, adopted=stated.adopted)


def _whole(shards: Shards) -> Shards:
    """Compare files with their manifests, and look at how others begin.

    Raises:
        DatasetError: a file is missing, or is not the one that a manifest lists; it is
            named twice, or holds no records.
    """
    check_listed(shards.files)
    if shards.by != "directory":
        _check_spellings(shards.files)
    files = tuple(file if file.listed else _begun(file) for file in shards.files)
    _check_unlisted(shards)
    read = tuple(opened for opened in shards.manifests if opened.names)
    return replace(shards, files=files, manifests=read)


def _check_spellings(files: Sequence[File]) -> None:
    """Refuse to read one shard by two spellings of its path."""
    known: dict[tuple[str, str], str] = {}
    for file in files:
        where, name = os.path.split(file.path)
        first = known.setdefault((directory_key(where), name), file.path)
        if file.listed and first != file.path:
            raise DatasetError(
                f"{file.path}: the same shard of split {file.split!r} as {first}, so "
                "that its records would be read twice; name one of the two"
            )


def _begun(file: File) -> File:
    """Return a file that no manifest lists with the compression that it shows.

    Raises:
        DatasetError: it cannot be read, or does not begin as a file of records.
    """
    path, error = file.path, file.error
    if isinstance(error, FileNotFoundError):
        raise DatasetError(f"{path}: no such file")
    if isinstance(error, IsADirectoryError):
        raise DatasetError(directory_problem(path))
    if error:
        raise DatasetError(f"{path}: {error.strerror}")
    try:
        return replace(file, compression=detect_compression(file.start))
    except DatasetError as refusal:
        where, name = os.path.split(path)
        if name == FILE_NAME:
            raise DatasetError(
                f"{path}: the manifest of a data directory; pass the directory, "
                f"{where or os.curdir!r}"
            ) from None
        raise DatasetError(f"{path}: {refusal}") from None


def _check_unlisted(shards: Shards) -> None:
    """Refuse files that the manifest next to them does not list, or warn of them.

    Raises:
        DatasetError: a file is named as a shard of a split that is being published,
            or of one that has other shards; or a glob finds listed files as well.
    """
    manifests = {directory_key(each.directory): each for each in shards.manifests}
    doubtful = []
    for file in shards.files:
        if file.listed:
            continue
        where, name = os.path.split(file.path)
        opened = manifests.get(directory_key(where))
        if opened is None:
            continue
        match = SHARD_NAME.fullmatch(name)
        held = opened.manifest.splits.get(match[1]) if match else None
        if match and held and held.is_unsettled:
            raise DatasetError(unsettled_problem(where, match[1]))
        if match and held:
            raise DatasetError(
                f"{file.path}: named as a shard of split {match[1]!r}, and "
                f"{opened.path} does not list it: of a write that has not ended, left "
                "over from an earlier one, or copied from elsewhere; to read the split, "
                "pass the directory"
            )
        if shards.by == "glob" and opened.names:
            raise DatasetError(
                f"{file.path}: {opened.path} does not list it, and lists other files of "
                "this glob; name the files of one split, such as data/train-*, "
                "or pass a list of files to read them all"
            )
        doubtful.append(file.path)
    if doubtful:
        files = "1 file" if len(doubtful) == 1 else f"{len(doubtful)} files"
        warn(
            f"{files} not listed by the {FILE_NAME} in the same directory, the "
            f"first is {doubtful[0]}: their schema is unknown, and they may be "
            "incomplete"
        )


@dataclass(frozen=True)
class Component:
    """What is read of one source.

    Attributes:
        shards: its files.
        slice: of their records; None for all.
        weight: how often a record is drawn from it, relative to the other sources.
    """

    shards: Shards
    slice: Slice | None = None
    weight: float = 1.0

    def share_of(self, index: ShareIndex | None) -> Share:
        """Return what one of several readers reads of it."""
        return share_of(index, len(self.shards.files), self.shards.records, self.slice)


def open_components(sources: Any, split: Splits, spec: Spec) -> list[Component]:
    """Open a source, or several that are mixed.

    Args:
        sources: a source; or a dict of sources, each with its weight. Where no split is
            named, one of a directory may stand behind it, as in "data:train".
        split: which split of each directory, or several; a slice may follow a single one.
        spec: the reader's own spec.

    Raises:
        DatasetError: there are none, a weight is not a positive number, or files are not
            those that were written.
        SchemaMismatchError: the data was written with an incompatible schema.
    """
    if isinstance(sources, Mapping):
        check_weights(sources)
        weighted = [*sources.items()]
    else:
        one = isinstance(sources, (str, os.PathLike))
        weighted = [(sources if one else tuple(sources), 1.0)]
    components = []
    for source, weight in weighted:
        named = split
        if isinstance(sources, Mapping) and split is None:
            behind = _SPLIT_BEHIND.fullmatch(os.fspath(source))
            source, named = behind.groups() if behind else (source, None)
        names, own = split_and_slice(named)
        components.append(Component(open_shards(source, names, spec), own, weight))
    return components


def check_weights(weights: Mapping[Any, float]) -> None:
    """Refuse weights that are no shares.

    Raises:
        DatasetError: there are none, or one is not a positive number.
    """
    if not weights:
        raise DatasetError("an empty dict of sources")
    for source, weight in weights.items():
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not 0 < weight < _TOO_HEAVY:
            raise DatasetError(
                f"source {source!r}: found the weight {weight!r}, expected a positive "
                "number below 2**63"
            )
