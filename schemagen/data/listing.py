"""The files that a run reads, as they were found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from ..runtime.shared.errors import DatasetError
from ..runtime.storage import manifest
from .remote_path import FilePath, file_path, size_of
from .sources import Data, find_data


@dataclass(frozen=True)
class Listing:
    """The files that a run reads.

    Attributes:
        data: the files, their splits and their manifest.
        sizes: of each file, in bytes; None if the file does not exist.
        problem: why the manifest cannot be read; empty if it can, and without one.
    """

    data: Data
    sizes: Mapping[FilePath, int | None]
    problem: str = ""


def list_data(source: str | os.PathLike[str], split: str | None = None) -> Listing:
    """Find the files that a directory, a glob or a path names, and their sizes.

    If a manifest is damaged, these are the files next to it.

    Raises:
        DatasetError: there are no such files.
    """
    where, problem = os.fspath(source), ""
    try:
        data = find_data(where, split)
    except DatasetError as error:
        directory = _with_damaged_manifest(where)
        if directory is None:
            raise
        try:
            data = find_data(where, split, use_manifest=False)
        except DatasetError:
            raise error from None  # there is nothing but the damaged manifest
        data, problem = replace(data, directory=directory), str(error)
    return Listing(
        data, {file.path: size_of(file.path) for file in data.files}, problem
    )


def _with_damaged_manifest(where: str) -> FilePath | None:
    """Return the directory of some data, if the manifest in it cannot be read."""
    path = file_path(where)
    with suppress(OSError):
        directory = path if path.is_dir() else path.parent
        try:
            manifest.load(str(directory))
        except DatasetError:
            return directory
    return None
