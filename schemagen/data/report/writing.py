"""The use case: a file with a page about data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...atomic_write import write_whole
from ...runtime.shared.errors import DatasetError
from ...spec.model import RecordSpec
from ...spec.serial import from_data
from ..sources import find_data
from ..statistics.model import DataStatistics
from ..verify.model import Verification

_PACKAGES = ("vl_convert", "PIL")
_MARK = b'<meta name="generator" content="schemagen inspect">'


def check_target(path: str | os.PathLike[str]) -> None:
    """See that a report can be made and may be written there, before data is read.

    Raises:
        DatasetError: a package is not installed; there is no such directory; or what
            is there is not a report.
    """
    for package in _PACKAGES:
        try:
            __import__(package)
        except ImportError:
            raise DatasetError(
                "an HTML report needs packages that are not installed: run "
                "`pip install 'schemagen[report]'`"
            ) from None
    target = Path(path)
    if target.is_dir():
        raise DatasetError(
            f"{target}: a directory; name the file that is to be written"
        )
    if not target.parent.is_dir():
        raise DatasetError(f"{target}: there is no directory {target.parent}")
    if target.exists() and not _replaceable(target):
        raise DatasetError(
            f"{target}: this file is not a report of schemagen, and is left as it is; "
            "delete it, or choose another name"
        )


def _replaceable(target: Path) -> bool:
    """Whether a file is empty or an earlier report."""
    try:
        with target.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return not start or _MARK in start


def specs_of(
    source: str | os.PathLike[str], split: str | None = None
) -> dict[str, RecordSpec]:
    """Return what the manifest says of each split's records, if there is one.

    A spec that a later schemagen has written, and this one does not know, is left out:
    the page then shows what the files say by themselves.
    """
    found = {}
    for name, files in find_data(source, split).splits.items():
        for file in files[:1]:
            if file.spec is not None:
                with suppress(ValueError, KeyError, TypeError):
                    found[name] = from_data(file.spec)
    return found


def write_report(
    path: str | os.PathLike[str],
    statistics: DataStatistics,
    specs: Mapping[str, RecordSpec],
    verification: Verification | None = None,
) -> int:
    """Write a page about data; the file appears when it is whole.

    Args:
        path: the file; an earlier report there is replaced.
        statistics: what was measured.
        specs: what the schemas say of each split, by its name; none is needed.
        verification: what `verify` has found; None if it was not asked.

    Returns:
        The file's size in bytes.

    Raises:
        DatasetError: as `check_target` says.
        SchemagenError: the file cannot be written.
    """
    check_target(path)
    from .assembling import page_of
    from .html import html

    text = html(page_of(statistics, specs, verification)).encode()
    write_whole(Path(path), text)
    return len(text)
