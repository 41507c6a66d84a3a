"""Lengths of lists, which are read once, before their items are read in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..cells.columns import Rows
from ..kinds.audio import Audio
from ..kinds.kind import Kind
from ..kinds.lists import VarLen
from ..native import Lengths
from ..records.decoder import Decoder
from ..records.groups import group_of, has_length
from ..shared.errors import DatasetError, with_suggestion
from .ahead import FIRST, Ahead, Work
from .order import Epoch
from .views import LoadedRecords, View

# How many records are read at a time.
_RUN = 1 << 12

# The numbers of records, ascending, and the lengths of their lists.
_Read = tuple[range | Rows, Lengths]


class KnownLengths:
    """Lengths that were read, those of one epoch if they depend on random numbers."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, Epoch], _Read] = {}

    def of(self, view: View, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        """Return how many items a list has in some records, and read what is not known.

        Args:
            view: of which.
            name: of the list.
            numbers: int64 [N], of the records.
            epoch: what random numbers depend on.

        Returns:
            int32 [N]; 0 for a corrupt record that is left out.

        Raises:
            DatasetError: a record is corrupt, or the field is not a list.
        """
        key = (name, replace(epoch, block=None) if view.is_random else Epoch())
        known, lengths = self._read.get(key, (range(0), np.empty(0, np.int32)))
        places, found = _places(known, numbers)
        if not found.all():
            more = np.sort(numbers[~found])  # np.unique takes a hundred times as long
            more = more[np.diff(more, prepend=-1) > 0]
            every = np.concatenate([np.array(known, np.int64), more])
            order = np.argsort(every, kind="stable")
            both = np.concatenate([lengths, _lengths(view, name, more, epoch)])
            known, lengths = _compact(every[order]), both[order]
            places, _ = _places(known, numbers)
            self._read = {
                each: read for each, read in self._read.items() if _alike(each, key)
            } | {key: (known, lengths)}
        return lengths[places]


def _alike(one: tuple[str, Epoch], other: tuple[str, Epoch]) -> bool:
    return (one[1].seed, one[1].number) == (other[1].seed, other[1].number)


def _places(known: range | Rows, numbers: Rows) -> tuple[Rows, NDArray[np.bool_]]:
    """Return where numbers are among those that are known, and which of them are."""
    if isinstance(known, range):
        places = numbers - known.start
        return places, (places >= 0) & (places < len(known))
    places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return places, known[places] == numbers


def _compact(numbers: Rows) -> range | Rows:
    first, last = int(numbers[0]), int(numbers[-1])
    return range(first, last + 1) if last - first < len(numbers) else numbers


def _lengths(view: View, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
    """Read lengths of a list, in the order in which records are stored."""
    narrow = view.only((name,))

    def lengths(asked: Rows, loaded: LoadedRecords) -> list[Lengths]:
        found = np.zeros(len(asked), np.int32)
        found[np.isin(asked, loaded.numbers)] = loaded.lists(name)[1]
        return [found]

    work = Work(
        len(numbers),
        lambda units: numbers[units.start : units.stop],
        narrow.steps(epoch),
        lengths,
        most=_RUN,
        first=FIRST,
    )
    return np.concatenate([*Ahead(work)])


def lists_of(decoder: Decoder) -> Mapping[str, Kind]:
    """Return the lists of a schema that can be packed: of one dimension, or of items."""
    codecs = {name: decoder.record[name] for name in decoder.fields}
    return {
        name: codec
        for name, codec in codecs.items()
        if isinstance(codec, (Audio, VarLen))
        and has_length(codec)
        and "." not in codec.label
    }


def check_list(view: View, name: str, option: str) -> None:
    """Refuse a name that no list has, as far as no function can have added it.

    Args:
        view: the records.
        name: of the list.
        option: what names it, for the message.

    Raises:
        DatasetError: no list has the name.
    """
    listed = lists_of(view.decoder)
    added = view.changed and not group_of(view.decoder.record.fields.get(name))
    if name not in listed and not added:
        words = (
            f"{option}: no list {name!r}: expected one of {', '.join(listed) or 'none'}"
        )
        raise DatasetError(with_suggestion(words, str(name), listed))
