"""The files that a run reads, as they were found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..runtime.shared.errors import DatasetError
from .remote_path import FilePath, file_path
from .sources import Data, find_data, has_damaged_manifest


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
    where = os.fspath(source)
    try:
        data, problem = find_data(where, split), ""
    except DatasetError as error:
        if not has_damaged_manifest(where):
            raise
        path = file_path(where)
        directory = path if path.is_dir() else path.parent
        data = find_data(where, split, use_manifest=False)
        data, problem = replace(data, directory=directory), str(error)
    return Listing(data, {file.path: _size(file.path) for file in data.files}, problem)


def _size(path: FilePath) -> int | None:
    return path.stat().st_size if path.exists() else None
