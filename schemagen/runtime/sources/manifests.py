"""Manifests as readers open them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from ..shared.errors import DatasetError
from ..storage import manifest
from ..storage.directory import reader_of
from ..storage.manifest import Manifest, SplitEntry


@dataclass(frozen=True)
class OpenedManifest:
    """The manifest of a directory as it was when files were found.

    Attributes:
        directory: where it is.
        text: its text.
        manifest: what it says.
        names: the splits that are read.
    """

    directory: str
    text: bytes
    manifest: Manifest = field(compare=False)
    names: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Name the directory from anywhere: another process may be in another one."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**state, "directory": absolute(self.directory)}

    @property
    def path(self) -> str:
        """Its file."""
        return manifest_path(self.directory)

    @cached_property
    def splits(self) -> dict[str, SplitEntry]:
        """What it says about the splits that are read, by name."""
        return {name: stated(self.manifest, name) for name in self.names}


def absolute(path: str) -> str:
    """Return a path that is valid in any working directory; a URL is."""
    # Without `os.path.abspath`, for which a link and its parent are ".".
    return path if "://" in path else os.path.join(os.getcwd(), path)


def manifest_path(directory: str) -> str:
    """Return where a directory's manifest is."""
    return os.path.join(directory, manifest.FILE_NAME)


def open_manifest(directory: str) -> OpenedManifest | None:
    """Read a directory's manifest, or return None if it has none.

    Raises:
        DatasetError: there is one, but it cannot be read.
    """
    path = manifest_path(directory)
    text = text_of(path)
    if text is None:
        return None
    return OpenedManifest(directory, text, manifest.loads(text, path))


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


def stated(found: Manifest, split: str) -> SplitEntry:
    """Return what a manifest says about a split, the spec by its fingerprint."""
    fingerprint = found.fingerprint_of(split)
    return replace(found.splits[split].settled, fingerprint=fingerprint, spec=None)
