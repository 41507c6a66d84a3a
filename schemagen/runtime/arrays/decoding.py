"""Records that are decoded and checked together, without the corrupt ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codecs.decoded import RaggedRows
from ..codecs.decoder import Batch, CorruptError, Row, Run
from ..reading.columns import Rows
from ..reading.records import Records
from ..shared.errors import DatasetError, warn
from ..sources.records import with_command
from .arrow import table_of
from .collation import flat_items
from .views import Result, View


def decoded(
    view: View, records: Records, problems: dict[int, str], *, skip: bool
) -> DecodedChunk:
    """Decode records, and leave out corrupt ones.

    Args:
        view: whose records they are.
        records: the records.
        problems: what is wrong with some, by their rows.
        skip: leave out corrupt ones.

    Raises:
        DatasetError: one is corrupt, and none is left out.
    """
    run = _sound(view, records, problems, view.decoder.run, skip=skip)
    return DecodedChunk(view, run, skip=skip)


class DecodedChunk:
    """Records that were decoded together.

    Args:
        view: whose records they are.
        run: the records.
        skip: leave out those that turn out to be corrupt.

    Attributes:
        run: the records.
    """

    def __init__(self, view: View, run: Run, *, skip: bool) -> None:
        self.run = run
        self._view = view
        self._skip = skip

    @property
    def numbers(self) -> Rows:
        return self.run.numbers

    def batch(self, start: int, stop: int) -> Batch | None:
        try:
            return self.run.batch(start, stop)
        except CorruptError as error:
            records = self.run.records.only(slice(start, stop))
            problems = _placed(self._view, records, error.problems)
            if self._skip and len(problems) == len(records):
                _without(records, problems)
                return None
            decode = self._view.decoder.batch
            return _sound(self._view, records, problems, decode, skip=self._skip)

    def rows(self) -> tuple[Rows, list[Row]]:
        try:
            return self.numbers, self.run.rows()
        except CorruptError as error:
            records = self.run.records
            problems = _placed(self._view, records, error.problems)

            def decode(records: Records) -> tuple[Rows, list[Row]]:
                return records.numbers, self._view.decoder.run(records).rows()

            return _sound(self._view, records, problems, decode, skip=self._skip)

    def lists(self, name: str) -> tuple[Any, Rows]:
        found, lengths = self.run.values(name), np.zeros(len(self.numbers), np.int64)
        values = found.values()
        if isinstance(values, RaggedRows):
            lengths[found.rows] = values.lengths
            return values.flat, lengths
        lengths[found.rows] = list(map(len, values))
        return flat_items([*values]), lengths

    def table(self) -> Any:
        return table_of(self.run)


def _sound(
    view: View,
    records: Records,
    problems: dict[int, str],
    decode: Callable[[Records], Result],
    *,
    skip: bool,
) -> Result:
    """Return what becomes of records, or of those that are not corrupt."""
    while True:
        if problems:
            if not skip:
                row = min(problems)
                place = view.place(int(records.numbers[row]))
                raise DatasetError(with_command(place, problems[row]))
            records, problems = _without(records, problems), {}
        try:
            return decode(records)
        except CorruptError as error:
            problems = _placed(view, records, error.problems)


def _placed(view: View, records: Records, problems: dict[int, str]) -> dict[int, str]:
    """Return problems with the files and numbers of their records."""
    numbers = records.numbers.tolist()
    return {
        row: f"{view.place(numbers[row])}: {problem}"
        for row, problem in problems.items()
    }


def _without(records: Records, problems: dict[int, str]) -> Records:
    """Leave out corrupt records, with a warning."""
    count = len(problems)
    many = "1 record is" if count == 1 else f"{count} records are"
    warn(f"{many} left out, the first is {problems[min(problems)]}")
    good = np.ones(len(records), np.bool_)
    good[list(problems)] = False
    return records.only(good)
