"""Views whose records a function changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..cells.columns import Rows
from ..native import Lengths
from ..records.decoder import Batch, Row
from ..shared.errors import DatasetError
from .ahead import ReadSteps
from .arrow import table_of_rows
from .collation import Collation
from .lengths import KnownLengths
from .order import STORED, Epoch
from .views import LoadedRecords, View, row_count, rows_of


@dataclass(frozen=True)
class Function:
    """A function of records, and what it is called with.

    Attributes:
        call: the function.
        batched: whether it takes columns, in place of a record.
        random: whether it takes a generator of random numbers, too.
        depth: how many functions have changed the records before.
    """

    call: Callable[..., Any]
    batched: bool
    random: bool
    depth: int

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return str(getattr(self.call, "__name__", self.call))


def function_of(call: Any, batched: bool, depth: int) -> Function:
    """Return a function with what it takes.

    Raises:
        TypeError: it is no function of one or two arguments.
    """
    if not callable(call):
        raise TypeError(f"map: {call!r}: expected a function of a record")
    try:
        parameters = inspect.signature(call).parameters.values()
    except ValueError:  # of some functions in C nothing is known
        return Function(call, batched, False, depth)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    return Function(call, batched, len(needed) > 1, depth)


class Mapped(View):
    """The records of a view, changed by a function.

    Args:
        view: of which.
        function: takes and returns a record, or columns.

    Attributes:
        collation: makes columns of what the function returns.
    """

    def __init__(self, view: View, function: Function) -> None:
        self.view = view
        self.views = (view,)
        self.decoder = view.decoder
        self._function = function
        self.collation = Collation(self.decoder.collators, self.error, self.place)
        self._known = KnownLengths()

    def __len__(self) -> int:
        return len(self.view)

    @property
    def size(self) -> int:
        return self.view.size

    @property
    def changed(self) -> bool:
        return True

    @property
    def is_random(self) -> bool:
        is_of_epoch = self.own_epoch is not None
        return (self._function.random and not is_of_epoch) or self.view.is_random

    @property
    def own_epoch(self) -> Epoch | None:
        return self.view.own_epoch

    def place(self, number: int) -> str:
        return self.view.place(number)

    def numbers(self, positions: Rows, epoch: Epoch = STORED) -> Rows:
        return self.view.numbers(positions, epoch)

    def window(self, epoch: Epoch) -> int:
        return self.view.window(epoch)

    def steps(
        self, epoch: Epoch = STORED, *, skip: bool | None = None
    ) -> ReadSteps[LoadedRecords]:
        inner = self.view.steps(epoch, skip=skip)
        own = self.own_epoch or epoch

        def decode(fetched: Any) -> LoadedRecords:
            return self._mapped(inner.decode(fetched), own)

        return replace(inner, decode=decode, begins_alone=True)

    def only(self, fields: tuple[str, ...]) -> View:
        return self

    def repeated(self, chosen: Rows) -> View:
        return Mapped(self.view.repeated(chosen), self._function)

    def lengths(self, name: str, numbers: Rows, epoch: Epoch) -> Lengths:
        return self._known.of(self, name, numbers, epoch)

    def _mapped(self, loaded: LoadedRecords, epoch: Epoch) -> LoadedRecords:
        if self._function.batched:
            return MappedBatches(self, loaded, epoch)
        numbers, rows = loaded.rows()
        return MappedRows(self, numbers, [*map(self._caller(epoch), numbers, rows)])

    def _caller(self, epoch: Epoch) -> Callable[[Any, Row], Row]:
        """Return what applies the function to the record of a number."""
        call, generator = self._function.call, None
        if self._function.random:
            generator = epoch.generators(self._function.depth)

        def changed(number: Any, row: Row) -> Row:
            try:
                found = call(row, generator(number)) if generator else call(row)
            except Exception as error:
                raise self.error([number], error) from error
            if not isinstance(found, dict):
                raise self.error([number], f"it returned {_a(found)}, expected a dict")
            return found

        return changed

    def change_batch(self, numbers: Rows, batch: Batch, epoch: Epoch) -> Batch:
        """Return columns that the function has changed.

        Raises:
            DatasetError: it raises an error, or returns something else.
        """
        function, listed = self._function, numbers.tolist()
        more: list[Any] = []
        if function.random:
            more = [[epoch.generator(function.depth, number) for number in listed]]
        try:
            found = function.call(batch, *more)
        except Exception as error:
            raise self.error(listed, error) from error
        if not isinstance(found, Mapping) or not found:
            raise self.error(listed, f"it returned {_a(found)}, expected columns")
        return self.collation.checked(found, listed)

    def lists(
        self, values: Sequence[Any], numbers: Rows, name: str
    ) -> tuple[Any, Rows]:
        """Return the items of lists that the function has returned, as `LoadedRecords.lists`."""
        return self.collation.items(values, numbers.tolist(), name)

    def table(self, rows: Sequence[Row], numbers: Rows) -> Any:
        """Return rows that the function has returned as a `pyarrow.Table`.

        Raises:
            DatasetError: a value has another dtype than others, or none in Arrow.
        """
        listed = numbers.tolist()
        self.collation.check(rows, listed)

        def error(row: int, reason: str) -> DatasetError:
            return self.error(listed[row : row + 1], reason)

        return table_of_rows(rows, self.decoder, error)

    def error(self, numbers: Sequence[Any], reason: Exception | str) -> DatasetError:
        """Return the error of the function for some records."""
        if isinstance(reason, Exception):
            reason = f"{type(reason).__name__}: {reason}"
        more = len(numbers) - 1
        others = f" and {more} more" if more > 0 else ""
        place = self.place(int(numbers[0]))
        return DatasetError(f"{place}{others}: map({self._function.name}): {reason}")


def _a(value: object) -> str:
    return "None" if value is None else f"a value of the type {type(value).__name__}"


class MappedRows:
    """Records that a function has changed one by one.

    Args:
        view: of which.
        numbers: int64 [N], of the records.
        rows: the records.
    """

    def __init__(self, view: Mapped, numbers: Rows, rows: list[Row]) -> None:
        self.numbers = numbers
        self._view = view
        self._rows = rows

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        if start == stop:
            return {}
        rows, numbers = self._rows[start:stop], self.numbers[start:stop].tolist()
        if fields is not None:
            for name in fields:
                self._check_known(name)
            rows = [{name: row[name] for name in fields if name in row} for row in rows]
        return self._view.collation.columns(rows, numbers)

    def rows(self) -> tuple[Rows, list[Row]]:
        return self.numbers, self._rows

    def _check_known(self, name: str) -> None:
        for number, row in zip(self.numbers.tolist(), self._rows, strict=True):
            if name not in row:
                raise self._view.error([number], f"no field {name!r} is left")

    def lists(self, name: str) -> tuple[Any, Rows]:
        self._check_known(name)
        return self._view.lists([row[name] for row in self._rows], self.numbers, name)

    def table(self) -> Any:
        return self._view.table(self._rows, self.numbers)


class MappedBatches:
    """Records whose batches a function changes.

    Args:
        view: of which.
        loaded: the records.
        epoch: what random numbers depend on.
    """

    def __init__(self, view: Mapped, loaded: LoadedRecords, epoch: Epoch) -> None:
        self._view = view
        self._loaded = loaded
        self._epoch = epoch

    @property
    def numbers(self) -> Rows:
        return self._loaded.numbers

    def batch(
        self, start: int, stop: int, fields: tuple[str, ...] | None = None
    ) -> Batch | None:
        whole = fields is not None and stop - start == len(self.numbers)
        batch = self._whole if whole else self._changed(start, stop)
        if batch is None or fields is None:
            return batch
        self._check_known(batch, fields)
        masks = (f"{name}_present" for name in fields)
        of_images = self._view.decoder.record.sizes
        sizes = (name for name, image in of_images.items() if image in fields)
        return {n: batch[n] for n in (*fields, *masks, *sizes) if n in batch}

    def _changed(self, start: int, stop: int) -> Batch | None:
        batch = self._loaded.batch(start, stop)
        if batch is None:
            return None
        numbers = self.numbers[start:stop]
        return self._view.change_batch(numbers[: row_count(batch)], batch, self._epoch)

    @cached_property
    def _whole(self) -> Batch | None:
        return self._changed(0, len(self.numbers))

    def _check_known(self, batch: Batch, fields: Iterable[str]) -> None:
        for name in fields:
            if name not in batch:
                raise self._view.error(
                    self.numbers.tolist(), f"no field {name!r} is left"
                )

    def rows(self) -> tuple[Rows, list[Row]]:
        if not len(self.numbers):  # all are left out
            return self.numbers, []
        batch = self._whole
        rows = [] if batch is None else rows_of(batch)
        return self.numbers[: len(rows)], rows

    def lists(self, name: str) -> tuple[Any, Rows]:
        batch = self._whole or {name: []}
        self._check_known(batch, (name,))
        column = batch[name]
        if isinstance(column, np.ndarray):
            raise DatasetError(
                f"field {name!r}: its lists are padded before a function of batches is "
                "called; open the split with ragged='list' to pack them"
            )
        return self._view.lists(column, self.numbers[: len(column)], name)

    def table(self) -> Any:
        numbers, rows = self.rows()
        return self._view.table(rows, numbers)
