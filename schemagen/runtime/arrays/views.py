"""Views: sequences of records that are made of others, and read as one.

A record has a number, which says what it is, and a position, which says when it comes: each
epoch has its own numbers at its positions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

import numpy as np

from ..cells.columns import Rows
from ..cells.serialized import Records
from ..native import Lengths
from ..records.decoder import Batch, Decoder, Row
from ..shared.errors import DatasetError
from .ahead import FIRST, Ahead, ReadSteps, Work
from .order import STORED, Epoch

Result = TypeVar("Result")

# How many records are read at a time where all are wanted.
_RUN = 1 << 12


class LoadedColumns(Protocol):
    """Records that were read together, without the corrupt ones that are left out."""

    @property
    def numbers(self) -> Rows:
        """Their numbers: int64 [N]."""
        ...

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        """Return some of them as columns; None if all of these are left out.

        Args:
            start: the first one.
            stop: the one behind the last.
            fields: the names of the columns, which are not nested; None for all.

        Raises:
            DatasetError: a record is corrupt, or a field does not exist.
        """
        ...


class LoadedRecords(LoadedColumns, Protocol):
    """The same, as rows, lists and tables, too."""

    def rows(self) -> tuple[Rows, list[Row]]:
        """Return all as dicts, with their numbers.

        Raises:
            DatasetError: a record is corrupt.
        """
        ...

    def lists(self, name: str) -> tuple[Any, Rows]:
        """Return the items of a field of all records, and how many each has.

        Returns:
            [sum of lengths, ...] and int64 [N].

        Raises:
            DatasetError: the field does not exist, or is not a list.
        """
        ...

    def table(self) -> Any:
        """Return all as a `pyarrow.Table`."""
        ...


class Readable(ABC):
    """A sequence that batches are made of: of records, or of rows of several records."""

    views: tuple[View, ...] = ()
    """The views that it is made of; what is not said here follows from them."""

    unit = "records"
    """What to call what it is made of."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many records there are."""

    @property
    def identity(self) -> str:
        """What is equal for equal data, wherever it is."""
        return " ".join(view.identity for view in self.views)

    @property
    def where(self) -> str:
        """What to call the data."""
        return ", ".join(dict.fromkeys(view.where for view in self.views))

    @property
    def changed(self) -> bool:
        """Whether a function may have changed the fields of its records."""
        return any(view.changed for view in self.views)

    @abstractmethod
    def described(self, rows: int | None = None) -> dict[str, str]:
        """Return the dtype and the shape of the fields before any function, by label.

        Args:
            rows: of a batch of so many records; None for one record.
        """

    @abstractmethod
    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        """Return the numbers of the records at some positions: int64 [N]."""

    @abstractmethod
    def window(self, epoch: Epoch) -> int:
        """Return how many positions have records that are near each other in files."""

    @abstractmethod
    def steps(self, epoch: Epoch = STORED) -> ReadSteps[LoadedColumns]:
        """Return how records are read, in any order, or of compressed files in theirs."""


class View(Readable):
    """A sequence of records."""

    decoder: Decoder
    """The codecs of its records, and how their values are delivered."""

    @property
    @abstractmethod
    def size(self) -> int:
        """What all numbers are below."""

    @property
    def is_random(self) -> bool:
        """Whether its records depend on the epoch: a function takes random numbers."""
        return any(view.is_random for view in self.views)

    @property
    def own_epoch(self) -> Epoch | None:
        """The epoch that its records are of, whichever is read; None for the one read."""
        return None

    @property
    def skips(self) -> bool:
        """Whether corrupt records are left out."""
        return any(view.skips for view in self.views)

    @property
    def is_sequential(self) -> bool:
        """Whether records can only be read in order: files are compressed."""
        return any(view.is_sequential for view in self.views)

    def check_random(self) -> None:
        """Refuse to be read in another order than the stored one.

        Raises:
            DatasetError: files are compressed.
        """
        for view in self.views:
            view.check_random()

    def described(self, rows: int | None = None) -> dict[str, str]:
        fields = self.decoder.collators.values()
        return {k: v for each in fields for k, v in each.described(rows).items()}

    @abstractmethod
    def place(self, number: int) -> str:
        """Return the file of a record and its number there, for messages."""

    @abstractmethod
    def steps(
        self, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> ReadSteps[LoadedRecords]:
        """Return how records are read, in any order, or of compressed files in theirs.

        Args:
            epoch: what random numbers depend on.
            skip: leave out corrupt records; None for what the reader says.

        Raises:
            DatasetError: while they are read: a record is corrupt, or a file cannot be read.
        """

    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> LoadedRecords:
        """Read records in any order.

        Args:
            numbers: int64 [N], of the records.
            epoch: what random numbers depend on.
            skip: leave out corrupt records; None for what the reader says.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read or is compressed.
        """
        if self.is_sequential:
            self.check_random()
        return self.steps(epoch, skip=skip).read(numbers)

    @abstractmethod
    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        """Return how many items a list has in some records, which is read once.

        Args:
            name: of the list.
            numbers: int64 [N], of the records.
            epoch: what random numbers depend on.

        Returns:
            int32 [N]; 0 for a corrupt record that is left out.

        Raises:
            DatasetError: a record is corrupt, or the field is not a list.
        """

    @abstractmethod
    def only(self, fields: tuple[str, ...]) -> View:
        """Return the view with some of its fields, as far as none has to be computed."""

    def repeated(self, chosen: Rows) -> View:
        """Return records of which some come several times, with other random numbers.

        Args:
            chosen: int64 [N], their positions in the stored order.
        """
        return Repeated(self, chosen)

    def in_order(
        self, finish: Callable[[LoadedRecords], Result], first: int = FIRST
    ) -> Iterator[Result]:
        """Yield what becomes of all records, in the order in which they are stored.

        Args:
            finish: called with some at a time, in threads.
            first: how many come first.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """
        steps = self.steps()
        if not len(self):
            yield finish(steps.read(np.empty(0, np.int64)))
        yield from Ahead(
            Work(
                len(self),
                lambda units: self.numbers(np.arange(units.start, units.stop)),
                steps,
                lambda _, loaded: [finish(loaded)],
                most=_RUN,
                first=first,
            )
        )


class Reordered(View):
    """Records of a view in an order of their own, and with random numbers of an epoch.

    Args:
        view: of which.
        chosen: int64 [N], the positions of the records in the stored order, or a range;
            None for all of them.
        epoch: the epoch whose order and random numbers these are; None for the stored
            order, and random numbers of the epoch that is read.
    """

    def __init__(
        self,
        view: View,
        chosen: range | Rows | None = None,
        epoch: Epoch | None = None,
    ) -> None:
        self.view = view
        self.views = (view,)
        self.decoder = view.decoder
        self._chosen = chosen
        self._epoch = epoch

    def _positions(self, places: Rows) -> Rows:
        """Return the positions in the view of the records at some places."""
        chosen = self._chosen
        if isinstance(chosen, range):
            return chosen.start + places * chosen.step
        return places if chosen is None else chosen[places]

    def _numbers(self, places: Rows) -> Rows:
        """Return the numbers in the view of the records at some places."""
        return self.view.numbers(self._positions(places), self._epoch or STORED)

    def repeated(self, chosen: Rows) -> View:
        if self._epoch is not None:  # which has random numbers of its own
            return Repeated(self, chosen)
        return self.view.repeated(self._positions(chosen))

    def __len__(self) -> int:
        return len(self.view if self._chosen is None else self._chosen)

    @property
    def size(self) -> int:
        return self.view.size

    @property
    def identity(self) -> str:
        chosen, found = self._chosen, self.view.identity
        if chosen is not None:
            made = (
                f"{chosen}".encode() if isinstance(chosen, range) else chosen.tobytes()
            )
            found += f" {blake2b(made, digest_size=16).hexdigest()}"
        return found if self._epoch is None else f"{found} {self._epoch}"

    @property
    def is_random(self) -> bool:
        return self._epoch is None and self.view.is_random

    @property
    def own_epoch(self) -> Epoch | None:
        return self._epoch or self.view.own_epoch

    def place(self, number: int) -> str:
        return self.view.place(number)

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return self._numbers(epoch.order(len(self)).at(positions))

    def window(self, epoch: Epoch) -> int:
        return epoch.order(len(self)).window

    def steps(
        self, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> ReadSteps[LoadedRecords]:
        return self.view.steps(self._epoch or epoch, skip=skip)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, numbers, self._epoch or epoch)

    def only(self, fields: tuple[str, ...]) -> View:
        return type(self)(self.view.only(fields), self._chosen, self._epoch)


class Repeated(Reordered):
    """Records of a view, of which some come several times.

    Each time has a number of its own, so that functions get other random numbers.
    """

    @property
    def size(self) -> int:
        return len(self)

    def place(self, number: int) -> str:
        return self.view.place(int(self._numbers(np.array([number]))[0]))

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return epoch.order(len(self)).at(positions)

    def steps(
        self, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> ReadSteps[LoadedRecords]:
        inner = self.view.steps(epoch, skip=skip)

        def fetch(numbers: Rows) -> Again:
            stored = self._numbers(numbers)
            return Again(inner.fetch(stored), stored, numbers)

        def decode(again: Again) -> LoadedRecords:
            loaded = inner.decode(again.fetched)
            return Renumbered(loaded, again.stored, again.numbers)

        def records(again: Again) -> tuple[Records, dict[int, str]]:
            records, problems = inner.records(again.fetched)
            return replace(records, numbers=again.numbers), problems

        return replace(inner, fetch=fetch, decode=decode, records=records)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, self._numbers(numbers), epoch)


@dataclass(frozen=True)
class Again:
    """Records of which some come several times, as they were fetched.

    Attributes:
        fetched: the records.
        stored: int64 [N], their numbers.
        numbers: int64 [N], those in place of them.
    """

    fetched: Any
    stored: Rows
    numbers: Rows

    @property
    def nbytes(self) -> int:
        return int(self.fetched.nbytes)

    def only(self, rows: Rows) -> Again:
        return Again(self.fetched.only(rows), self.stored[rows], self.numbers[rows])


class Renumbered:
    """Records with other numbers.

    Args:
        loaded: the records.
        asked: int64 [N], the numbers that were asked for.
        numbers: int64 [N], those in place of them.
    """

    def __init__(self, loaded: LoadedRecords, asked: Rows, numbers: Rows) -> None:
        self._loaded = loaded
        self._asked = asked
        self._numbers = numbers
        self.numbers = self._of(loaded.numbers)

    def _of(self, found: Rows) -> Rows:
        if len(found) == len(self._asked):
            return self._numbers
        return self._numbers[np.isin(self._asked, found)]

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        return self._loaded.batch(start, stop, fields)

    def rows(self) -> tuple[Rows, list[Row]]:
        numbers, rows = self._loaded.rows()
        return self._of(numbers), rows

    def lists(self, name: str) -> tuple[Any, Rows]:
        return self._loaded.lists(name)

    def table(self) -> Any:
        return self._loaded.table()


def selected(view: View, chosen: range | Rows) -> View:
    """Return some records of a view, by their positions in the stored order."""
    if isinstance(chosen, range) or len(np.unique(chosen)) == len(chosen):
        return Reordered(view, chosen)
    return view.repeated(chosen)


class BatchRows(Sequence[Row]):
    """Records as rows, of which `collate` of `arrays.torch` takes the columns.

    Corrupt ones are left out if the view leaves them out.

    Args:
        view: of which.
        numbers: int64 [N], of the records.
        epoch: what random numbers depend on.
    """

    def __init__(self, view: View, numbers: Rows, epoch: Epoch = STORED) -> None:
        self._view = view
        self._asked = numbers
        self._loaded = view.read(numbers, epoch)

    @cached_property
    def columns(self) -> Batch:
        """The records as columns, padded.

        Raises:
            DatasetError: a record is corrupt, or all are left out.
        """
        asked, count = self._asked, len(self._loaded.numbers)
        found: Batch = {}
        if count or not len(asked):
            found = self._loaded.batch(0, count) or {}
        if self._view.skips and len(asked) and not row_count(found):
            others = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
            raise DatasetError(
                f"{self._view.place(int(asked[0]))}{others}: all records of a batch are "
                "corrupt, so nothing is left to collate; to_torch leaves such batches out"
            )
        return found

    @cached_property
    def _rows(self) -> list[Row]:
        return self._loaded.rows()[1]

    def __len__(self) -> int:
        if self._view.skips:  # corrupt images are found when they are decoded
            return len(self._rows)
        return len(self._asked)

    def __getitem__(self, row: Any) -> Any:
        return self._rows[row]


def rows_of(columns: Batch) -> list[Row]:
    """Return the rows of a batch, padded as it is."""
    values = (
        rows_of(column) if isinstance(column, dict) else column
        for column in columns.values()
    )
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def row_count(columns: Any) -> int:
    """Return how many rows a column has, or the columns of nested dicts."""
    while isinstance(columns, Mapping):
        columns = next(iter(columns.values()), ())
    return len(columns)
