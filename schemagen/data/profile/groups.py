"""Groups of records, such as those of a speaker, that are in two splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from ...runtime.shared.errors import DatasetError, with_suggestion
from ..formatting import listed
from ..statistics.digests import GroupValues
from ..statistics.model import FileStatistics
from .classes import value_name
from .columns import ColumnProfile, SplitProfile
from .duplicates import SHOWN, Duplicate, Duplicates, SharedValue, SplitPositions

# An error lists so many names.
_MOST_NAMES = 30


def no_field(where: str, name: str, names: Sequence[str]) -> DatasetError:
    """Return the error about a name that no field and no key has."""
    message = f"no field or key {name!r}; there are: {listed(names, _MOST_NAMES)}"
    return DatasetError(f"{where}: {with_suggestion(message, name, names)}")


def check_groups(
    where: str, columns: Sequence[ColumnProfile], keys: Iterable[str]
) -> None:
    """Check that records can be grouped by the values of keys.

    Raises:
        DatasetError: no record has a key, or its values are lists or floats.
    """
    found = {column.key: column for column in columns if column.found}
    names = [column.name for column in found.values()]
    for key in keys:
        column = found.get(key)
        if column is None:
            raise no_field(where, key, names)
        if column.steps or _holds_more(column):
            raise DatasetError(
                f"{where}: {column.name!r} has lists or floats; records are grouped by "
                "a single integer, text or class in each"
            )


def _holds_more(column: ColumnProfile) -> bool:
    """Return whether a record has a float or several values."""
    return any(
        kind == "float"
        or (held.lengths.maximum or 0) > 1
        or (
            held.numbers is not None
            and (held.numbers.floats or held.numbers.count > held.present)
        )
        for found in column.found.values()
        for kind, held in found.by_kind.items()
    )


def shared_groups(
    columns: Sequence[ColumnProfile],
    splits: Sequence[SplitProfile],
    files: Sequence[FileStatistics],
) -> Duplicates:
    """Return the values of columns that are in two splits, for each two of them."""
    places = {each.name: SplitPositions.of(each, files) for each in splits}
    found = (each for column in columns for each in _of(column, splits, places))
    return Duplicates(tuple(found), tuple(columns))


def _of(
    column: ColumnProfile,
    splits: Sequence[SplitProfile],
    places: Mapping[str, SplitPositions],
) -> Iterator[Duplicate]:
    held = {each.name: each.found.digests.groups.get(column.key) for each in splits}
    for one, other in combinations(splits, 2):
        first, second = held[one.name], held[other.name]
        if first is not None and second is not None:
            yield from _shared(column, (one, other), (first, second), places)


def _shared(
    column: ColumnProfile,
    splits: tuple[SplitProfile, SplitProfile],
    groups: tuple[GroupValues, GroupValues],
    places: Mapping[str, SplitPositions],
) -> Iterator[Duplicate]:
    """Yield what two splits share, if they do: the values of the most records first."""
    first, second = groups
    both = np.intersect1d(first.digests, second.digests)
    if not len(both):
        return
    rows = second.rows[np.isin(second.digests, both)]
    _, at, counts = np.unique(second.digests, return_index=True, return_counts=True)
    at, counts = (each[np.isin(second.digests[at], both)] for each in (at, counts))
    order = np.lexsort((at, -counts))[:SHOWN]
    shown = second.digests[at[order]]
    earliest = [first.rows[np.argmax(first.digests == digest)] for digest in shown]
    one, other = (places[split.name] for split in splits)
    sizes = [len(split.found.digests.records) for split in splits]
    names = column.class_names
    values = [second.names[digest] for digest in shown.tolist()]
    yield Duplicate(
        column,
        splits,
        len(both),
        len(rows) / splits[1].found.read,
        other.pairs(
            second.rows[at[order]], one, np.array(earliest, np.int64), *sizes[::-1]
        ),
        other.files_of(rows, sizes[1]),
        records=len(rows),
        values=tuple(
            SharedValue(names.get(value) or _text(column, value), count)
            for value, count in zip(values, counts[order].tolist(), strict=True)
        ),
    )


def _text(column: ColumnProfile, value: int | bytes) -> str:
    if column.time is not None and isinstance(value, int):
        return column.time.text(value)
    return value_name(value)
