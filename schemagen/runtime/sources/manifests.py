"""Manifests as readers open them, and the shards that they list."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.directory import reader_of
from ..storage.files import Result, in_threads
from ..storage.manifest import Manifest, Shard, Split, difference


@dataclass(frozen=True)
class Opened:
    """A manifest as it was when a dataset was made.

    Attributes:
        path: its file.
        text: its text.
        splits: what it says about the splits that are read, by name.
    """

    path: str
    text: bytes
    splits: dict[str, Split]


def manifest_path(directory: str) -> str:
    """Return where a directory's manifest is."""
    return os.path.join(directory, manifest.FILE_NAME)


def read_manifest(directory: str) -> tuple[bytes, Manifest] | None:
    """Read a directory's manifest, or return None if it has none.

    Returns:
        Its text, and what that says.

    Raises:
        DatasetError: there is one, but it cannot be read.
    """
    path = manifest_path(directory)
    text = text_of(path)
    return None if text is None else (text, manifest.loads(text, path))


def text_of(path: str) -> bytes | None:
    """Return the contents of a file, or None if it does not exist.

    Raises:
        DatasetError: it is there, but it cannot be read.
    """
    try:
        return reader_of(path).read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatasetError(f"{path}: it cannot be read: {error.strerror}") from None


def stated(found: Manifest, split: str) -> Split:
    """Return what a manifest says about a split, the spec by its fingerprint."""
    fingerprint = found.fingerprint_of(split)
    return replace(found.splits[split].settled, fingerprint=fingerprint, spec=None)


def at_its_name(
    path: str, shard: Shard | None, function: Callable[[str], Result]
) -> Result:
    """Apply a function to a file by the name that it has now.

    A shard has a hidden name until its split is settled.

    Args:
        path: of the file, once it has the name that the manifest lists.
        shard: the manifest's entry; None for a file that no manifest lists.
        function: takes a path, and raises a FileNotFoundError if nothing is there.
    """
    if shard and shard.hidden:
        with suppress(FileNotFoundError):
            return function(os.path.join(os.path.dirname(path), shard.hidden))
    return function(path)


def check_shards(paths: Sequence[str], shards: Sequence[Shard]) -> None:
    """Compare sizes and last bytes of files with what a manifest lists.

    Raises:
        DatasetError: a file is missing or is another one.
    """
    for problem in in_threads(_problem, list(zip(paths, shards, strict=True))):
        if problem:
            raise DatasetError(problem)


def _problem(listed: tuple[str, Shard]) -> str:
    path, shard = listed

    def compare(name: str) -> str:
        reader = reader_of(name)
        return difference(
            path, shard, reader.state(name).size, partial(reader.read, name)
        )

    try:
        return at_its_name(path, shard, compare)
    except FileNotFoundError:
        return f"{path}: missing, and the manifest lists it; restore it from a copy, or write the split again"
    except OSError as error:
        return f"{path}: it cannot be read: {error.strerror}"


def paths_of(directory: str, split: Split) -> tuple[str, ...]:
    """Return where the files of a split are: those without their names are hidden yet."""
    there = set[str]()
    if split != split.settled:
        there = set(reader_of(directory).names(directory))
    return tuple(
        os.path.join(directory, shard.hidden if shard.hidden in there else shard.file)
        for shard in split.shards
    )


def unsettled_splits(directory: str) -> list[str]:
    """Return the splits of a directory whose files do not all have their names."""
    opened = read_manifest(directory)
    return sorted(opened[1].unsettled) if opened else []
