"""Directories with a folder for each split, each of which has a manifest of its own."""

from __future__ import annotations

import os
from contextlib import suppress

from ..shared.errors import DatasetError
from .directory import reader_of
from .manifest import FILE_NAME, Manifest


def folder_of(directory: str, split: str) -> str:
    """Return the path of a split's folder; "" if no folder has such a name."""
    parts = split.split("/")
    return "" if {"", ".", ".."} & {*parts} else os.path.join(directory, *parts)


def only_split(found: Manifest, where: str) -> str:
    """Return the split of a folder, whatever its name is.

    Args:
        found: the folder's manifest.
        where: the folder.

    Raises:
        DatasetError: it holds none, or several.
    """
    if len(found.splits) == 1:
        return next(iter(found.splits))
    names = ", ".join(sorted(found.splits)) or "none"
    raise DatasetError(
        f"{os.path.join(where, FILE_NAME)}: expected one split in a folder, found: "
        f"{names}; pass the folder, {where!r}, and the name of a split"
    )


def entries(directory: str) -> tuple[list[str], list[str]]:
    """Return the names of the files and of the folders in a directory; none without it."""
    found: list[str] = []
    with suppress(OSError):
        found = reader_of(directory).names(directory)
    folders = [name[:-1] for name in found if name.endswith("/")]
    return [name for name in found if not name.endswith("/")], folders


def sealed_folders(directory: str, names: list[str]) -> list[str]:
    """Return the folders that have a manifest."""
    return [
        name
        for name in names
        if reader_of(directory).exists(os.path.join(directory, name, FILE_NAME))
    ]
