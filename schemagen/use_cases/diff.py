"""The use case: compare two datasets."""

from __future__ import annotations

from typing import Any

from ..data.inspect.inspecting import inspect_data
from ..data.profile.diff import Diff, diff_of, names_of


def diff(one: str, other: str, key: str = "", **reading: Any) -> Diff:
    """Compare two datasets.

    Args:
        one: a directory, a file or a glob, or the URL of one.
        other: likewise.
        key: a field whose values identify records; "" for their bytes.
        **reading: as `inspect_data` takes them.

    Raises:
        DatasetError: the data does not exist, or the key does not identify records.
    """
    first, second = (inspect_data(data, **reading) for data in (one, other))
    return diff_of(first, second, names_of(one, other), key)


def write_diff(path: str, found: Diff) -> int:
    """Write a page about two datasets, and return its size in bytes.

    Raises:
        SchemagenError: as `check_target` says.
    """
    from ..data.report.page import write_report

    return write_report(path, found.profile, None, found)
