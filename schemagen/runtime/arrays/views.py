"""Views: sequences of records that are made of others, and read as one.

A record has a number, which says what it is, and a position, which says when it comes: each
epoch has its own numbers at its positions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from sys import getsizeof
from typing import Any, Protocol, TypeVar

import numpy as np

from ..cells.columns import Rows
from ..cells.serialized import Records
from ..native import Lengths
from ..records.decoder import Batch, Decoder, Row
from ..shared.errors import DatasetError
from .ahead import in_order
from .order import STORED, Epoch

Result = TypeVar("Result")

# How many records are read at a time where all are wanted.
_RUN, _RUN_BYTES = 1 << 12, 1 << 24


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
    def most(self, records: int, size: int) -> int:
        """Return how many records to read at once: as many, or of as many bytes."""

    @abstractmethod
    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> Chunk:
        """Read records in any order.

        Args:
            numbers: int64 [N], of the records.
            epoch: what random numbers depend on.
            skip: leave out corrupt records; None for what the reader says.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """

    @abstractmethod
    def records(self, numbers: Rows) -> tuple[Records, dict[int, str]]:
        """Read records, before any function changes them, and decode none.

        Args:
            numbers: int64 [N], of the records.

        Returns:
            The records, and what is wrong with some, by their rows.

        Raises:
            DatasetError: a file cannot be read.
        """

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

    def chunks(
        self,
        parts: Iterable[Rows],
        epoch: Epoch,
        finish: Callable[[Rows, Chunk], Result],
        threads: int = 1,
    ) -> Iterator[Result]:
        """Read records part by part, ahead of what is asked for.

        Args:
            parts: int64 [N], the numbers of the records of each part.
            epoch: what random numbers depend on.
            finish: called in threads, with the part itself and what was read.
            threads: how many.

        Raises:
            DatasetError: a record is corrupt, or a file cannot be read.
        """
        return in_order(
            lambda numbers: finish(numbers, self.read(numbers, epoch)), parts, threads
        )

    @abstractmethod
    def only(self, fields: tuple[str, ...]) -> View:
        """Return the view with some of its fields, as far as none has to be computed."""

    def in_order(self, size: Callable[[], int] | None = None) -> Iterator[Chunk]:
        """Read all records in the order in which they are stored, some at a time.

        Args:
            size: returns how many come next; None for many.
        """
        most = self.most(_RUN, _RUN_BYTES)
        parts = self.parts(size or (lambda: most))
        yield from self.chunks(parts, STORED, lambda _, chunk: chunk)

    def parts(self, size: Callable[[], int]) -> Iterator[Rows]:
        """Yield the numbers of all records in the order in which they are stored.

        Args:
            size: returns how many come next.
        """
        start, total = 0, len(self)
        while not start or start < total:
            stop = start + size()
            yield self.numbers(np.arange(start, min(total, stop)))
            start = stop


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

    def most(self, records: int, size: int) -> int:
        return self.view.most(records, size)

    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> Chunk:
        return self.view.read(numbers, epoch, skip=skip)

    def records(self, numbers: Rows) -> tuple[Records, dict[int, str]]:
        return self.view.records(numbers)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, numbers, epoch)

    def chunks(
        self,
        parts: Iterable[Rows],
        epoch: Epoch,
        finish: Callable[[Rows, Chunk], Result],
        threads: int = 1,
    ) -> Iterator[Result]:
        return self.view.chunks(parts, epoch, finish, threads)

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

    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> Chunk:
        stored = self._stored(numbers)
        return Renumbered(self.view.read(stored, epoch, skip=skip), stored, numbers)

    def records(self, numbers: Rows) -> tuple[Records, dict[int, str]]:
        records, problems = self.view.records(self._stored(numbers))
        return replace(records, numbers=numbers), problems

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, self._stored(numbers), epoch)

    def chunks(
        self,
        parts: Iterable[Rows],
        epoch: Epoch,
        finish: Callable[[Rows, Chunk], Result],
        threads: int = 1,
    ) -> Iterator[Result]:
        return View.chunks(self, parts, epoch, finish, threads)

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

    def read(
        self, numbers: Rows, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> Chunk:
        return self.view.read(numbers, self._epoch, skip=skip)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self.view.lengths(name, numbers, self._epoch)

    def chunks(
        self,
        parts: Iterable[Rows],
        epoch: Epoch,
        finish: Callable[[Rows, Chunk], Result],
        threads: int = 1,
    ) -> Iterator[Result]:
        return self.view.chunks(parts, self._epoch, finish, threads)

    def only(self, fields: tuple[str, ...]) -> View:
        return OfEpoch(self.view.only(fields), self._epoch)


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


def byte_count(values: Any) -> int:
    """Return about how many bytes a batch has in memory, or a column."""
    if isinstance(values, Mapping):
        return sum(map(byte_count, values.values()))
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return values.nbytes
    if isinstance(values, (list, tuple, np.ndarray)):
        each = values.flat if isinstance(values, np.ndarray) else values
        return sum(map(byte_count, each))
    found = getattr(values, "nbytes", None)
    return found if isinstance(found, int) else getsizeof(values)
