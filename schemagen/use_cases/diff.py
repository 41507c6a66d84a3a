"""The use case: compare two datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..data.formatting import one_line
from ..data.inspect.inspecting import inspect_data
from ..data.profile.changes import Dataset
from ..data.profile.columns import ColumnProfile, specs_by_split
from ..data.profile.diff import Diff, diff_of, names_of
from ..data.profile.record_values import read, value_text
from ..data.sources import find_data
from ..data.statistics.declared import numbered_of
from ..runtime.shared.tfrecord import MOST_RECORD_BYTES
from .refusing import refusing_data

# A value is shown in about so many characters.
_CHARACTERS = 60


def diff(
    one: str,
    other: str,
    key: str = "",
    split: str | None = None,
    *,
    max_record_bytes: int = MOST_RECORD_BYTES,
    **reading: Any,
) -> Diff:
    """Compare two datasets.

    Args:
        one: a directory, a file or a glob, or the URL of one.
        other: likewise.
        key: a field whose values identify records; "" for their bytes.
        split: only this split.
        max_record_bytes: longer records are damage and are not read.
        **reading: as `inspect_data` takes them.

    Raises:
        SchemagenError: the data does not exist.
        DatasetError: the key does not identify records, or a file was changed meanwhile.
    """
    found = []
    numbered: dict[str, Sequence[str]] = {}  # one of the datasets may have no schema
    for source in (one, other):
        with refusing_data(source):
            found.append(find_data(source, split))
        for spec in specs_by_split(found[-1], None).values():
            numbered |= numbered_of(spec)
    reading |= {
        "max_record_bytes": max_record_bytes,
        "numbered": numbered,
        "rows": False,
    }
    datasets = []
    names = names_of(one, other)
    for name, source, data in zip(names, (one, other), found, strict=True):
        with refusing_data(source):
            profile = inspect_data(data, **reading)
        datasets.append(Dataset(name, data, profile, max_record_bytes))
    return diff_of((datasets[0], datasets[1]), key, _shown)


def _shown(column: ColumnProfile, record: bytes) -> str:
    """Return the values of a record in a column, on one line."""
    text = value_text(column, read(record), _CHARACTERS, lines=True)
    return one_line(text, 2 * _CHARACTERS)
