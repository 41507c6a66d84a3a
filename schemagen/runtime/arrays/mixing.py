"""Views that are mixed of others, each with a share of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Literal

import numpy as np

from ..cells.columns import Rows
from ..cells.serialized import Records
from ..kinds.classes import names_of
from ..kinds.kind import Kind
from ..native import Lengths
from ..records.codec import RecordCodec
from ..records.decoder import Batch, Collator, Row
from ..shared.errors import DatasetError
from ..shared.options import check_choice
from ..sources.opening import check_weights
from .ahead import ReadSteps
from .arrow import joined
from .collation import DTypes, check_alike, merged
from .lengths import check_list
from .order import STORED, Epoch
from .shards import decoded
from .views import LoadedRecords, View, row_count

Stop = Literal["first", "last"]

# The largest denominator of a share, to which weights are rounded, and the longest pattern.
_FINEST, _LONGEST = 10_000, 100_000


class Mixture(View):
    """The records of several views, in fixed proportions.

    Views take turns in a pattern that is repeated, in which each has its share as evenly as
    possible. Each comes in its own order. A view that is used up before the last one begins
    again, in another order and with other numbers.

    Args:
        views: which.
        weights: how often each is drawn from, relative to the others.
        stop: "first" ends where a view has no further record, "last" when all records of
            each have been read.
        weights_of: a list, of whose items weights are shares; None for shares of records.

    Attributes:
        dtypes: those of the fields that functions have changed.
    """

    def __init__(
        self,
        views: Sequence[View],
        weights: Sequence[float],
        stop: Stop = "first",
        weights_of: str | None = None,
    ) -> None:
        self.views = tuple(views)
        self._given = tuple(weights)
        self._stop = stop
        self._weights_of = weights_of
        self.decoder = self.views[0].decoder
        self.dtypes = DTypes()

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        """How often a record of each view is drawn."""
        name = self._weights_of
        if name is None:
            return self._given
        weights = []
        for view, weight in zip(self.views, self._given, strict=True):
            numbers = view.numbers(np.arange(len(view)))
            lengths = view.lengths(name, numbers, STORED)
            if not lengths.any():
                raise DatasetError(
                    f"{view.where}: weights_of={name!r}: all lists are empty"
                )
            weights.append(weight / float(lengths.mean()))
        return tuple(weights)

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
        ranks = np.concatenate([np.arange(count) for count in counts])
        due = (ranks + 0.5) / np.repeat(counts, counts)
        order = np.argsort(due, kind="stable")
        return views[order], ranks[order]

    @cached_property
    def _bases(self) -> Rows:
        """How many numbers are below those of each view, and of all."""
        each = zip(self.views, self._repeats, strict=True)
        sizes = (view.size * repeats for view, repeats in each)
        return np.cumsum([0, *sizes], dtype=np.int64)

    @cached_property
    def _total(self) -> int:
        views, _ = self._pattern
        ends, is_last = [], self._stop == "last"
        for at, (view, count) in enumerate(zip(self.views, self._counts, strict=True)):
            if is_last and not len(view):
                raise DatasetError(
                    f"{view.where}: mix: there is no record, and stop='last' would repeat "
                    "it without end; leave this split out"
                )
            # The first record that the view does not have, or what is behind its last one.
            rounds, rest = divmod(len(view) - is_last, count)
            place = int(np.flatnonzero(views == at)[rest]) + is_last
            ends.append(rounds * len(views) + place)
        return max(ends) if is_last else min(ends)

    @cached_property
    def _repeats(self) -> list[int]:
        """How often each view is begun in an epoch."""
        if self._stop == "first":
            return [1] * len(self.views)
        views, _ = self._pattern
        rounds, rest = divmod(self._total, len(views))
        more = np.bincount(views[:rest], minlength=len(self.views)).tolist()
        return [
            -(-(rounds * count + own) // len(view))
            for view, count, own in zip(self.views, self._counts, more, strict=True)
        ]

    def _epoch(self, at: int, epoch: Epoch, repeat: int) -> Epoch:
        """Return the epoch of a view that is begun the n-th time."""
        return replace(epoch, repeat=epoch.repeat * self._repeats[at] + repeat)

    @cached_property
    def _decodes_together(self) -> bool:
        """Whether one decoder reads the records of all views, which takes less time."""
        if self.changed:
            return False
        stored, own = [*_stored_views(self)], _declared(self.decoder.record)
        return (
            len({view.skips for view in stored}) == 1
            and not any(view.decoder.record.select for view in stored)
            and all(_declared(view.decoder.record) == own for view in stored)
        )

    def __len__(self) -> int:
        return self._total

    @property
    def size(self) -> int:
        return int(self._bases[-1])

    @property
    def identity(self) -> str:
        each = (view.identity for view in self.views)
        more = () if self._stop == "first" else (self._stop,)
        return " ".join(map(str, (*each, *self._counts, *more)))

    def place(self, number: int) -> str:
        at = int(np.searchsorted(self._bases, number, "right")) - 1
        view = self.views[at]
        return view.place((number - int(self._bases[at])) % view.size)

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        views, ranks = self._pattern
        rounds, places = positions // len(views), positions % len(views)
        which, found = views[places], np.empty_like(positions)
        for at, view in enumerate(self.views):
            own = np.flatnonzero(which == at)
            inside = rounds[own] * self._counts[at] + ranks[places[own]]
            repeats, inside = np.divmod(inside, max(1, len(view)))
            for repeat, some in _rows_by(repeats):
                numbers = view.numbers(inside[some], self._epoch(at, epoch, repeat))
                found[own[some]] = self._bases[at] + repeat * view.size + numbers
        return found

    def window(self, epoch: Epoch) -> int:
        windows = (
            view.window(epoch) * len(self._pattern[0]) // count
            for view, count in zip(self.views, self._counts, strict=True)
        )
        return max(windows) if any(v.window(epoch) > 1 for v in self.views) else 1

    def steps(
        self, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> ReadSteps[LoadedRecords]:
        def begun(at: int, repeat: int) -> ReadSteps[LoadedRecords]:
            return self.views[at].steps(self._epoch(at, epoch, repeat), skip=skip)

        # Of each view, the repeat that was read last. A compressed one that begins again
        # is read from its beginning.
        each = [(0, begun(at, 0)) for at in range(len(self.views))]

        def of(share: ViewShare) -> ReadSteps[LoadedRecords]:
            repeat, steps = each[share.view]
            if repeat != share.repeat:
                steps = begun(share.view, share.repeat)
                each[share.view] = share.repeat, steps
            return steps

        def fetch(numbers: Rows) -> Mixed:
            shares = self._shares(numbers)
            steps = [*map(of, shares)]
            pairs = zip(shares, steps, strict=True)
            fetched = [own.fetch(share.numbers) for share, own in pairs]
            return Mixed(numbers, shares, steps, fetched)

        def decode(mixed: Mixed) -> LoadedRecords:
            if self._decodes_together:
                skips = self.skips if skip is None else skip
                return decoded(self, *mixed.records(), skip=skips)
            pairs = zip(mixed.steps, mixed.fetched, strict=True)
            loaded = [own.decode(fetched) for own, fetched in pairs]
            return MixedRecords(self, mixed.numbers, mixed.shares, loaded)

        return ReadSteps(
            fetch,
            decode,
            Mixed.records,
            is_apart=any(steps.is_apart for _, steps in each),
            begins_alone=any(steps.begins_alone for _, steps in each),
        )

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        found = np.empty(len(numbers), np.int32)
        for each in self._shares(numbers):
            of_view = self._epoch(each.view, epoch, each.repeat)
            view = self.views[each.view]
            found[each.rows] = view.lengths(name, each.numbers, of_view)
        return found

    def only(self, fields: tuple[str, ...]) -> View:
        views = [view.only(fields) for view in self.views]
        return Mixture(views, self._weights, self._stop)

    def _own(self, at: int, numbers: Rows) -> Rows:
        """Return which of some numbers are of a view: int64 [M]."""
        start, stop = self._bases[at : at + 2]
        return np.flatnonzero((numbers >= start) & (numbers < stop))

    def _shares(self, numbers: Rows) -> list[ViewShare]:
        """Return whose some numbers are, of the views and repeats that occur."""
        found = []
        for at, view in enumerate(self.views):
            rows, size = self._own(at, numbers), max(1, view.size)
            repeats, own = np.divmod(numbers[rows] - self._bases[at], size)
            for repeat, some in _rows_by(repeats):
                found.append(ViewShare(at, repeat, rows[some], own[some]))
        none = np.empty(0, np.int64)
        return found or [ViewShare(0, 0, none, none)]


@dataclass(frozen=True)
class ViewShare:
    """Some records of a mixture that are of one view, begun the same time.

    Attributes:
        view: the number of the view.
        repeat: how often it was read before in the epoch.
        rows: int64 [N], which ones of the records they are.
        numbers: int64 [N], their numbers in the view.
    """

    view: int
    repeat: int
    rows: Rows
    numbers: Rows


@dataclass(frozen=True)
class Mixed:
    """Records of several shares, as they were fetched.

    Attributes:
        numbers: int64 [N], of the records.
        shares: whose they are.
        steps: how those of each share are read.
        fetched: those of each share.
    """

    numbers: Rows
    shares: Sequence[ViewShare]
    steps: Sequence[ReadSteps[LoadedRecords]]
    fetched: Sequence[Any]

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self.fetched)

    def only(self, rows: Rows) -> Mixed:
        shares, fetched = [], []
        for share, each in zip(self.shares, self.fetched, strict=True):
            own = np.flatnonzero(np.isin(share.rows, rows))
            places = np.searchsorted(rows, share.rows[own])
            shares.append(replace(share, rows=places, numbers=share.numbers[own]))
            fetched.append(each.only(own))
        return Mixed(self.numbers[rows], shares, self.steps, fetched)

    def records(self) -> tuple[Records, dict[int, str]]:
        """Return the records, and what is wrong with some, by their rows."""
        memory, before = [], 0
        problems: dict[int, str] = {}
        starts, stops = np.empty_like(self.numbers), np.empty_like(self.numbers)
        each = zip(self.shares, self.steps, self.fetched, strict=True)
        for share, steps, fetched in each:
            rows, (found, wrong) = share.rows, steps.records(fetched)
            last = found.stops.max(initial=0)
            first = found.starts.min(initial=last)
            moved = before - first
            starts[rows], stops[rows] = found.starts + moved, found.stops + moved
            memory.append(found.data[first:last])
            before += last - first
            problems |= {int(rows[row]): problem for row, problem in wrong.items()}
        data = np.concatenate(memory)
        return Records("", data, starts, stops, self.numbers, starts), problems


def _stored_views(view: View) -> Iterator[View]:
    """Yield the views of files that a view is made of."""
    if not view.views:
        yield view
    for each in view.views:
        yield from _stored_views(each)


def _declared(record: RecordCodec) -> Any:
    """Return what is equal for records that are decoded alike.

    All fields, as boxes are scaled with an image that need not be read.
    """
    fields = record.fields.items()
    return record.message, {
        n: (kind, kind.optional, kind.default) for n, kind in fields
    }


def _rows_by(values: Rows) -> Iterator[tuple[int, Rows]]:
    """Yield each value that occurs, and its rows."""
    if not values.any():
        if len(values):
            yield 0, np.arange(len(values))
        return
    order = np.argsort(values, kind="stable")
    found, starts = np.unique(values[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


def mixture_of(
    views: Sequence[View],
    weights: Sequence[float] | None,
    stop: Stop = "first",
    weights_of: str | None = None,
) -> Mixture:
    """Return a mixture of views.

    Raises:
        DatasetError: there are none, a weight is not a positive number, fields differ, or
            an option is wrong.
    """
    check_choice("stop", stop, Stop)
    if not views:
        raise DatasetError("mix: expected one split or more, found none")
    shares = [1.0] * len(views) if weights is None else list(weights)
    if len(shares) != len(views):
        raise DatasetError(
            f"mix: {len(shares)} weights for {len(views)} splits; expected one for each"
        )
    check_weights(dict(enumerate(shares)))
    own = views[0].decoder.collators
    for number, view in enumerate(views[1:], 1):
        theirs, changed = view.decoder.collators, view.changed or views[0].changed
        odd = [
            label
            for label in own | theirs
            if not _is_delivered_alike(own.get(label), theirs.get(label), changed)
        ]
        if odd:
            raise DatasetError(
                f"mix: split {number} has another field {odd[0]!r} than split 0; open both "
                "with the same fields and options, of records that declare them alike, with the "
                "same classes"
            )
    if weights_of is not None:
        for view in views:
            check_list(view, weights_of, f"weights_of={weights_of!r}")
    return Mixture(views, shares, stop, weights_of)


def _is_delivered_alike(
    one: Collator | None, other: Collator | None, changed: bool
) -> bool:
    """Tell whether two splits deliver a field in the same way.

    Args:
        one: of the field in a split; None if it does not have it.
        other: of the field in another split.
        changed: whether functions change it, which may give ids of classes a meaning of
            their own.
    """
    if one is None or other is None:
        return False
    first, second = (
        (each.codec.delivered.dtype, each.codec.delivered.shape, each.form, each.listed)
        for each in (one, other)
    )
    return first == second and (
        changed or one.form.names or _classes(one.codec) == _classes(other.codec)
    )


def _classes(kind: Kind) -> Any:
    """Return the names of the classes of a kind, or how many there are."""
    return names_of(kind) or getattr(kind.of_step, "num_classes", None)


class MixedRecords:
    """Records of several views.

    Args:
        mixture: of which.
        asked: int64 [N], the numbers that were asked for.
        shares: whose they are.
        loaded: what was read of each share.
    """

    def __init__(
        self,
        mixture: Mixture,
        asked: Rows,
        shares: Sequence[ViewShare],
        loaded: Sequence[LoadedRecords],
    ) -> None:
        self._loaded = loaded
        self._splits = [share.view for share in shares]
        self._decoder = mixture.decoder
        self._dtypes = mixture.dtypes
        places = []  # of what was read of each share, among what was asked for
        for share, each in zip(shares, loaded, strict=True):
            own = share.rows
            if len(each.numbers) < len(own):
                own = own[np.isin(share.numbers, each.numbers)]
            places.append(own)
        of_shares = np.repeat(np.arange(len(places)), list(map(len, places)))
        order = np.argsort(np.concatenate(places))
        self.numbers = asked[np.concatenate(places)[order]]
        self._shares = of_shares[order]

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        parts: list[tuple[Rows, Batch]] = []
        splits, count = [], 0
        for at, each in enumerate(self._loaded):
            own = self._shares == at
            rows = np.flatnonzero(own[start:stop])
            first = int(own[:start].sum())
            if not len(rows):
                continue
            batch = each.batch(first, first + len(rows), fields)
            if batch is not None:
                splits.append(self._splits[at])
                parts.append((rows[: row_count(batch)], batch))
                count += row_count(batch)
        if not parts:
            return None
        if count < stop - start:  # without corrupt images, which were found only now
            kept = np.sort(np.concatenate([rows for rows, _ in parts]))
            parts = [(np.searchsorted(kept, rows), batch) for rows, batch in parts]
        return merged(parts, splits, count, self._decoder.collators, self._dtypes)

    def rows(self) -> tuple[Rows, list[Row]]:
        each = [records.rows() for records in self._loaded]
        found: list[tuple[int, int, Row]] = []
        for at, (_, rows) in enumerate(each):
            places = np.flatnonzero(self._shares == at)[: len(rows)].tolist()
            numbers = self.numbers[places].tolist()
            found += zip(places, numbers, rows, strict=True)
        found.sort(key=lambda each: each[0])
        numbers = np.array([number for _, number, _ in found], np.int64)
        return numbers, [row for _, _, row in found]

    def lists(self, name: str) -> tuple[Any, Rows]:
        each = [records.lists(name) for records in self._loaded]
        lengths = np.zeros(len(self.numbers), np.int64)
        for at, (items, own) in enumerate(each):
            check_alike(self._dtypes, name, items, self._splits[at])
            lengths[self._shares == at] = own
        starts = np.cumsum(lengths) - lengths
        flats = [items for items, _ in each if len(items)] or [each[0][0]]
        flat = np.empty((int(lengths.sum()), *flats[0].shape[1:]), flats[0].dtype)
        for at, (items, own) in enumerate(each):
            begins = np.repeat(starts[self._shares == at], own)
            within = np.arange(len(items)) - np.repeat(np.cumsum(own) - own, own)
            if len(items):
                flat[begins + within] = items
        return flat, lengths

    def table(self) -> Any:
        table = joined(records.table() for records in self._loaded)
        return table.take(np.argsort(np.argsort(self._shares, kind="stable")))
