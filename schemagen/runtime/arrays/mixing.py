"""Views that are mixed of others, each with a share of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import tee
from math import lcm
from typing import Any

import numpy as np

from ..cells.columns import Rows
from ..cells.serialized import Records
from ..records.decoder import Batch, Row
from ..shared.errors import DatasetError
from ..sources.opening import check_weights
from .arrow import joined
from .collation import Collators, DTypes, check_alike, merged
from .order import STORED, Epoch
from .shards import decoded
from .views import Chunk, Result, View, row_count

# The largest denominator of a share, to which weights are rounded, and the longest pattern.
_FINEST, _LONGEST = 10_000, 100_000


class Mixture(View):
    """The records of several views, in fixed proportions, until the first is used up.

    Views take turns in a pattern that is repeated, in which each has its share as evenly as
    possible. Each comes in its own order, and no record comes twice.

    Args:
        views: which.
        weights: how often each is drawn from, relative to the others.

    Attributes:
        dtypes: those of the fields that functions have changed.
    """

    def __init__(self, views: Sequence[View], weights: Sequence[float]) -> None:
        self._views = tuple(views)
        self._weights = tuple(weights)
        self.decoder = self._views[0].decoder
        self.dtypes = DTypes()

    @cached_property
    def _counts(self) -> list[int]:
        """How many records of each view one pattern has."""
        total = Fraction(sum(map(Fraction, self._weights)))
        shares = [
            max(Fraction(weight) / total, Fraction(1, _FINEST)).limit_denominator(
                _FINEST
            )
            for weight in self._weights
        ]
        common = lcm(*(share.denominator for share in shares))
        if common > _LONGEST:
            return [max(1, round(share * _FINEST)) for share in shares]
        return [int(share * common) for share in shares]

    @cached_property
    def _pattern(self) -> tuple[Rows, Rows]:
        """The view at each place of the pattern, and how many of its own come before."""
        counts = self._counts
        views = np.repeat(np.arange(len(counts)), counts)
        turns = np.concatenate([np.arange(count) for count in counts])
        due = (turns + 0.5) / np.repeat(counts, counts)
        order = np.argsort(due, kind="stable")
        return views[order], turns[order]

    @cached_property
    def _bases(self) -> Rows:
        """How many numbers are below those of each view, and of all."""
        return np.cumsum([0, *(view.size for view in self._views)], dtype=np.int64)

    @cached_property
    def _total(self) -> int:
        views, _ = self._pattern
        ends = []
        for at, (view, count) in enumerate(zip(self._views, self._counts, strict=True)):
            # The place of the first record that the view does not have.
            rounds, rest = divmod(len(view), count)
            ends.append(rounds * len(views) + int(np.flatnonzero(views == at)[rest]))
        return min(ends)

    def __len__(self) -> int:
        return self._total

    @property
    def size(self) -> int:
        return int(self._bases[-1])

    @property
    def identity(self) -> str:
        each = (view.identity for view in self._views)
        return " ".join(map(str, (*each, *self._counts)))

    @property
    def where(self) -> str:
        return ", ".join(view.where for view in self._views)

    @property
    def changed(self) -> bool:
        return any(view.changed for view in self._views)

    def place(self, number: int) -> str:
        at = int(np.searchsorted(self._bases, number, "right")) - 1
        return self._views[at].place(number - int(self._bases[at]))

    def check_random(self) -> None:
        for view in self._views:
            view.check_random()

    @property
    def skips(self) -> bool:
        return any(view.skips for view in self._views)

    @property
    def is_sequential(self) -> bool:
        return any(view.is_sequential for view in self._views)

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        views, turns = self._pattern
        rounds, places = positions // len(views), positions % len(views)
        which, found = views[places], np.empty_like(positions)
        for at, view in enumerate(self._views):
            own = which == at
            inside = rounds[own] * self._counts[at] + turns[places[own]]
            found[own] = self._bases[at] + view.numbers(inside, epoch)
        return found

    def window(self, epoch: Epoch) -> int:
        windows = (
            view.window(epoch) * len(self._pattern[0]) // count
            for view, count in zip(self._views, self._counts, strict=True)
        )
        return max(windows) if any(v.window(epoch) > 1 for v in self._views) else 1

    def most(self, records: int, size: int) -> int:
        return sum(view.most(records, size) for view in self._views)

    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> Chunk:
        if not self.changed:
            skips = self.skips if skip is None else skip
            return decoded(self, *self.records(numbers), skip=skips)
        chunks = [
            view.read(self._asked(at, numbers), epoch, skip=skip)
            for at, view in enumerate(self._views)
        ]
        return MixedChunk(self, numbers, chunks)

    def records(self, numbers: Rows) -> tuple[Records, dict[int, str]]:
        memory, before = [], 0
        problems: dict[int, str] = {}
        starts, stops = np.empty_like(numbers), np.empty_like(numbers)
        for at, view in enumerate(self._views):
            rows = self.own(at, numbers)
            found, wrong = view.records(numbers[rows] - self._bases[at])
            starts[rows], stops[rows] = found.starts + before, found.stops + before
            memory.append(found.data)
            before += len(found.data)
            problems |= {int(rows[row]): problem for row, problem in wrong.items()}
        data = np.concatenate(memory)
        return Records("", data, starts, stops, numbers, starts), problems

    def chunks(
        self,
        parts: Iterable[Rows],
        epoch: Epoch,
        finish: Callable[[Rows, Chunk], Result],
        threads: int = 1,
    ) -> Iterator[Result]:
        if not self.is_sequential:
            yield from super().chunks(parts, epoch, finish, threads)
            return
        asked, *copies = tee(parts, len(self._views) + 1)

        def read(at: int, view: View) -> Iterator[Chunk]:
            own = (self._asked(at, numbers) for numbers in copies[at])
            return view.chunks(own, epoch, lambda _, chunk: chunk, threads)

        each = [read(at, view) for at, view in enumerate(self._views)]
        for numbers, *chunks in zip(asked, *each, strict=True):
            yield finish(numbers, MixedChunk(self, numbers, chunks))

    def only(self, fields: tuple[str, ...]) -> View:
        return Mixture([view.only(fields) for view in self._views], self._weights)

    def own(self, at: int, numbers: Rows) -> Rows:
        """Return which of some numbers are of a view: int64 [M]."""
        start, stop = self._bases[at : at + 2]
        return np.flatnonzero((numbers >= start) & (numbers < stop))

    def _asked(self, at: int, numbers: Rows) -> Rows:
        """Return a view's own numbers, of those of the mixture."""
        found: Rows = numbers[self.own(at, numbers)] - self._bases[at]
        return found

    def shifted(self, at: int, numbers: Rows) -> Rows:
        """Return the mixture's numbers, of a view's own."""
        found: Rows = numbers + self._bases[at]
        return found


def mixture_of(views: Sequence[View], weights: Sequence[float] | None) -> Mixture:
    """Return a mixture of views.

    Raises:
        DatasetError: there are none, a weight is not a positive number, or fields differ.
    """
    if not views:
        raise DatasetError("mix: expected one split or more, found none")
    shares = [1.0] * len(views) if weights is None else list(weights)
    if len(shares) != len(views):
        raise DatasetError(
            f"mix: {len(shares)} weights for {len(views)} splits; expected one for each"
        )
    check_weights(dict(enumerate(shares)))
    first, *others = (view.decoder for view in views)
    for number, other in enumerate(others, 1):
        own, theirs = first.collators, other.collators
        odd = [label for label in own | theirs if not _alike(own, theirs, label)]
        if odd:
            raise DatasetError(
                f"mix: split {number} has another field {odd[0]!r} than split 0; open both "
                "with the same fields and options, of records that declare them alike"
            )
    return Mixture(views, shares)


def _alike(own: Collators, theirs: Collators, label: str) -> bool:
    """Tell whether two splits deliver a field in the same way."""
    if label not in own or label not in theirs:
        return False
    one, other = own[label], theirs[label]
    return (
        one.codec.delivered.dtype,
        one.codec.delivered.shape,
        one.form,
        one.listed,
    ) == (
        other.codec.delivered.dtype,
        other.codec.delivered.shape,
        other.form,
        other.listed,
    )


class MixedChunk:
    """Records of several views.

    Args:
        mixture: of which.
        asked: int64 [N], the numbers that were asked for.
        chunks: what each view has read of them.
    """

    def __init__(self, mixture: Mixture, asked: Rows, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._decoder = mixture.decoder
        self._dtypes = mixture.dtypes
        places = []  # of what each view has read, among what was asked for
        for at, chunk in enumerate(chunks):
            own, numbers = mixture.own(at, asked), mixture.shifted(at, chunk.numbers)
            if len(numbers) < len(own):
                own = own[np.isin(asked[own], numbers)]
            places.append(own)
        views = np.repeat(np.arange(len(places)), list(map(len, places)))
        order = np.argsort(np.concatenate(places))
        self.numbers = asked[np.concatenate(places)[order]]
        self._views = views[order]

    def batch(self, start: int, stop: int) -> Batch | None:
        parts: list[tuple[Rows, Batch]] = []
        splits, count = [], 0
        for at, chunk in enumerate(self._chunks):
            own = self._views == at
            rows = np.flatnonzero(own[start:stop])
            first = int(own[:start].sum())
            batch = chunk.batch(first, first + len(rows)) if len(rows) else None
            if batch is not None:
                splits.append(at)
                parts.append((rows[: row_count(batch)], batch))
                count += row_count(batch)
        if not parts:
            return None
        if count < stop - start:  # without corrupt images, which were found only now
            kept = np.sort(np.concatenate([rows for rows, _ in parts]))
            parts = [(np.searchsorted(kept, rows), batch) for rows, batch in parts]
        return merged(parts, splits, count, self._decoder.collators, self._dtypes)

    def rows(self) -> tuple[Rows, list[Row]]:
        each = [chunk.rows() for chunk in self._chunks]
        found: list[tuple[int, int, Row]] = []
        for at, (_, rows) in enumerate(each):
            places = np.flatnonzero(self._views == at)[: len(rows)].tolist()
            numbers = self.numbers[places].tolist()
            found += zip(places, numbers, rows, strict=True)
        found.sort(key=lambda each: each[0])
        numbers = np.array([number for _, number, _ in found], np.int64)
        return numbers, [row for _, _, row in found]

    def lists(self, name: str) -> tuple[Any, Rows]:
        each = [chunk.lists(name) for chunk in self._chunks]
        lengths = np.zeros(len(self.numbers), np.int64)
        for at, (items, own) in enumerate(each):
            check_alike(self._dtypes, name, items, at)
            lengths[self._views == at] = own
        starts = np.cumsum(lengths) - lengths
        flats = [items for items, _ in each if len(items)] or [each[0][0]]
        flat = np.empty((int(lengths.sum()), *flats[0].shape[1:]), flats[0].dtype)
        for at, (items, own) in enumerate(each):
            begins = np.repeat(starts[self._views == at], own)
            within = np.arange(len(items)) - np.repeat(np.cumsum(own) - own, own)
            if len(items):
                flat[begins + within] = items
        return flat, lengths

    def table(self) -> Any:
        table = joined(chunk.table() for chunk in self._chunks)
        return table.take(np.argsort(np.argsort(self._views, kind="stable")))
