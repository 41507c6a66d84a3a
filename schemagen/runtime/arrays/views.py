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
from .ahead import FIRST, Ahead, Steps, Work
from .order import STORED, Epoch

Result = TypeVar("Result")

# How many records are read at a time where all are wanted.
_RUN = 1 << 12


class Columns(Protocol):
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


class Chunk(Columns, Protocol):
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


class View(ABC):
    """A sequence of records."""

    decoder: Decoder
    """The codecs of its records, and how their values are delivered."""

    unit = "records"
    """What to call what it is made of."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many records there are."""

    @property
    @abstractmethod
    def size(self) -> int:
        """What all numbers are below."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What is equal for equal data, wherever it is."""

    @property
    @abstractmethod
    def where(self) -> str:
        """What to call the data."""

    @property
    def changed(self) -> bool:
        """Whether a function may have changed the fields of its records."""
        return False

    @property
    def is_random(self) -> bool:
        """Whether its records depend on the epoch: a function takes random numbers."""
        return False

    def described(self, rows: int | None = None) -> dict[str, str]:
        """Return the dtype and the shape of the fields before any function, by label.

        Args:
            rows: of a batch of so many records; None for one record.
        """
        fields = self.decoder.collators.values()
        return {k: v for each in fields for k, v in each.described(rows).items()}

    @abstractmethod
    def place(self, number: int) -> str:
        """Return the file of a record and its number there, for messages."""

    @abstractmethod
    def check_random(self) -> None:
        """Refuse to be read in another order than the stored one.

        Raises:
            DatasetError: files are compressed.
        """

    @property
    @abstractmethod
    def skips(self) -> bool:
        """Whether corrupt records are left out."""

    @property
    @abstractmethod
    def is_sequential(self) -> bool:
        """Whether records can only be read in order: files are compressed."""

    @abstractmethod
    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        """Return the numbers of the records at some positions: int64 [N]."""

    @abstractmethod
    def window(self, epoch: Epoch) -> int:
        """Return how many positions have records that are near each other in files."""

    @abstractmethod
    def steps(self, epoch: Epoch = STORED, *, skip: bool | None = None) -> Steps[Chunk]:
        """Return how records are read, in any order, or of compressed files in theirs.

        Args:
            epoch: what random numbers depend on.
            skip: leave out corrupt records; None for what the reader says.

        Raises:
            DatasetError: while they are read: a record is corrupt, or a file cannot be read.
        """

    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> Chunk:
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

    def in_order(
        self, finish: Callable[[Chunk], Result], first: int = FIRST
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
                lambda _, chunk: [finish(chunk)],
                most=_RUN,
                first=first,
            )
        )


class Derived(View):
    """A view of the records of another one; by itself, the same one.

    Args:
        view: the other one.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.decoder = view.decoder

    def __len__(self) -> int:
        return len(self.view)

    @property
    def size(self) -> int:
        return self.view.size

    @property
    def identity(self) -> str:
        return self.view.identity

    @property
    def where(self) -> str:
        return self.view.where

    @property
    def changed(self) -> bool:
        return self.view.changed

    @property
    def is_random(self) -> bool:
        return self.view.is_random

    def place(self, number: int) -> str:
        return self.view.place(number)

    def check_random(self) -> None:
        self.view.check_random()

    @property
    def skips(self) -> bool:
        return self.view.skips

    @property
    def is_sequential(self) -> bool:
        return self.view.is_sequential

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return self.view.numbers(positions, epoch)

    def window(self, epoch: Epoch) -> int:
        return self.view.window(epoch)

    def steps(self, epoch: Epoch = STORED, *, skip: bool | None = None) -> Steps[Chunk]:
        return self.view.steps(epoch, skip=skip)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, numbers, epoch)

    def only(self, fields: tuple[str, ...]) -> View:
        return self.view.only(fields)


class Selection(Derived):
    """Some records of a view, in an order of their own.

    Args:
        view: of which.
        chosen: int64 [N], the positions of the records in the stored order, or a range.
    """

    def __init__(self, view: View, chosen: range | Rows) -> None:
        super().__init__(view)
        self._chosen = chosen

    def _stored(self, places: Rows) -> Rows:
        """Return the numbers in the view of the records at some places."""
        chosen = self._chosen
        if isinstance(chosen, range):
            return self.view.numbers(chosen.start + places * chosen.step)
        return self.view.numbers(chosen[places])

    def __len__(self) -> int:
        return len(self._chosen)

    @property
    def identity(self) -> str:
        chosen = self._chosen
        made = f"{chosen}".encode() if isinstance(chosen, range) else chosen.tobytes()
        return f"{self.view.identity} {blake2b(made, digest_size=16).hexdigest()}"

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return self._stored(epoch.order(len(self)).at(positions))

    def window(self, epoch: Epoch) -> int:
        return epoch.order(len(self)).window

    def only(self, fields: tuple[str, ...]) -> View:
        return Selection(self.view.only(fields), self._chosen)


class Repetition(Selection):
    """Some records of a view, of which some come several times.

    Each time has a number of its own, so that functions get other random numbers.
    """

    @property
    def size(self) -> int:
        return len(self)

    def place(self, number: int) -> str:
        return self.view.place(int(self._stored(np.array([number]))[0]))

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return epoch.order(len(self)).at(positions)

    def steps(self, epoch: Epoch = STORED, *, skip: bool | None = None) -> Steps[Chunk]:
        inner = self.view.steps(epoch, skip=skip)

        def fetch(numbers: Rows) -> Again:
            stored = self._stored(numbers)
            return Again(inner.fetch(stored), stored, numbers)

        def decode(again: Again) -> Chunk:
            chunk = inner.decode(again.fetched)
            return Renumbered(chunk, again.stored, again.numbers)

        def records(again: Again) -> tuple[Records, dict[int, str]]:
            records, problems = inner.records(again.fetched)
            return replace(records, numbers=again.numbers), problems

        return replace(inner, fetch=fetch, decode=decode, records=records)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, self._stored(numbers), epoch)

    def only(self, fields: tuple[str, ...]) -> View:
        return Repetition(self.view.only(fields), self._chosen)


class OfEpoch(Derived):
    """The records of a view in the order of an epoch, with its random numbers.

    Args:
        view: of which.
        epoch: which epoch.
    """

    def __init__(self, view: View, epoch: Epoch) -> None:
        super().__init__(view)
        self._epoch = epoch

    @property
    def identity(self) -> str:
        return f"{self.view.identity} {self._epoch}"

    @property
    def is_random(self) -> bool:
        return False

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        places = epoch.order(len(self)).at(positions)
        return self.view.numbers(places, self._epoch)

    def window(self, epoch: Epoch) -> int:
        return epoch.order(len(self)).window

    def steps(self, epoch: Epoch = STORED, *, skip: bool | None = None) -> Steps[Chunk]:
        return self.view.steps(self._epoch, skip=skip)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, numbers, self._epoch)

    def only(self, fields: tuple[str, ...]) -> View:
        return OfEpoch(self.view.only(fields), self._epoch)


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
        chunk: the records.
        asked: int64 [N], the numbers that were asked for.
        numbers: int64 [N], those in place of them.
    """

    def __init__(self, chunk: Chunk, asked: Rows, numbers: Rows) -> None:
        self._chunk = chunk
        self._asked = asked
        self._numbers = numbers
        self.numbers = self._of(chunk.numbers)

    def _of(self, found: Rows) -> Rows:
        if len(found) == len(self._asked):
            return self._numbers
        return self._numbers[np.isin(self._asked, found)]

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        return self._chunk.batch(start, stop, fields)

    def rows(self) -> tuple[Rows, list[Row]]:
        numbers, rows = self._chunk.rows()
        return self._of(numbers), rows

    def lists(self, name: str) -> tuple[Any, Rows]:
        return self._chunk.lists(name)

    def table(self) -> Any:
        return self._chunk.table()


def selected(view: View, chosen: range | Rows) -> View:
    """Return some records of a view, by their positions in the stored order."""
    if isinstance(chosen, range) or len(np.unique(chosen)) == len(chosen):
        return Selection(view, chosen)
    return Repetition(view, chosen)


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
        self._chunk = view.read(numbers, epoch)

    @cached_property
    def columns(self) -> Batch:
        """The records as columns, padded.

        Raises:
            DatasetError: a record is corrupt, or all are left out.
        """
        asked, count = self._asked, len(self._chunk.numbers)
        found: Batch = {}
        if count or not len(asked):
            found = self._chunk.batch(0, count) or {}
        if self._view.skips and len(asked) and not row_count(found):
            others = f" and {len(asked) - 1} more" if len(asked) > 1 else ""
            raise DatasetError(
                f"{self._view.place(int(asked[0]))}{others}: all records of a batch are "
                "corrupt, so nothing is left to collate; to_torch leaves such batches out"
            )
        return found

    @cached_property
    def _rows(self) -> list[Row]:
        return self._chunk.rows()[1]

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
