"""The errors that generated code raises, with their parts as attributes."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable

_REQUIRED = (
    "the field is not optional: leave such rows out, or declare it as "
    "`... | None = None`"
)
NO_LIMIT = (
    "pad_to_max_length=True: no field of the record is padded and has a maximum length; "
    "declare one, such as VarLen(max_length=128)"
)
UNDECODABLE = "it cannot be decoded"
"""How errors of values begin whose bytes pass all checks, and which no decoder takes."""

_PANDAS = "NaN is pandas' missing value: pass None if the field is optional"

# Where the code of the runtime is, and that of its context managers.
_INNER = (f"{os.path.dirname(os.path.dirname(__file__))}{os.sep}", contextlib.__file__)


def did_you_mean(word: object, choices: Iterable[str]) -> str:
    """Return a question that names the nearest of some words; "" if that is the word."""
    from difflib import get_close_matches  # seldom needed, and slow to import

    near = get_close_matches(str(word), choices, n=1)
    same = isinstance(word, str) and near == [word]
    return f"did you mean {near[0]!r}?" if near and not same else ""


def with_suggestion(words: str, name: object, choices: Iterable[str]) -> str:
    """Return the message of an unknown name, with the nearest known one if there is one."""
    return "; ".join(filter(None, (words, did_you_mean(name, choices))))


def did_you_mean_path(path: str) -> str:
    """Return a question that names the nearest entry of a path's directory, or ""."""
    where, name = os.path.split(path)
    try:
        there = [] if "://" in path else os.listdir(where or os.curdir)
    except OSError:
        there = []
    return did_you_mean(name, there)


def nothing_at(path: str) -> str:
    """Say that a path or glob names no file, and which one could be meant."""
    words = "no file matches" if set(path) & set("*?[") else "no such directory or file"
    return "; ".join(filter(None, (words, did_you_mean_path(path))))


def no_split(split: str, names: Iterable[str]) -> str:
    """Say that a directory does not hold a split, and which ones it holds."""
    known = sorted(names)
    words = f"no split {split!r}; there are: {', '.join(known) or 'none'}"
    return with_suggestion(words, split, known)


def position(row: int, shard: int | None = None) -> str:
    """Say where a row stands: in the source, or in the source of one shard."""
    return f"row {row}" if shard is None else f"shard {shard}, row {row}"


def warn(message: str) -> None:
    """Warn of what happens at the line that has called generated code."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INNER):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, RuntimeWarning, stacklevel=level)


class Problem(ValueError):
    """What is wrong with a value; the field is added later.

    Attributes:
        found: the value that was given, as text.
        expected: what the schema allows, as text.
        advice: what to do about it; may be empty.
    """

    def __init__(self, found: str, expected: str, advice: str = "") -> None:
        super().__init__(found, expected, advice)
        self.found = found
        self.expected = expected
        self.advice = advice

    def __str__(self) -> str:
        advice = f"; {self.advice}" if self.advice else ""
        return f"found {self.found}, expected {self.expected}{advice}"

    def about(self, value: object) -> Problem:
        """Return the problem of a field's whole value, with advice if that is missing."""
        if value is None:
            return Problem(self.found, self.expected, self.advice or _REQUIRED)
        missing = isinstance(value, float) and float.__ne__(value, value)
        if missing or type(value).__name__ in ("NAType", "NaTType"):
            return Problem(self.found, self.expected, self.advice or _PANDAS)
        return self


class RecordError(ValueError):
    """A row that the schema refuses. No part of it has been written.

    Attributes:
        field: the name of the field that is wrong; empty if it is the whole row.
        row: the row's position in the batch or source, or None for one row.
        shard: the index of the source that the row is from, one for each shard; None
            where there is one source.
        found: the value that was given, as text.
        expected: what the schema allows, as text.
        advice: what to do about it; may be empty.
    """

    def __init__(
        self,
        field: str,
        found: str,
        expected: str,
        advice: str = "",
        row: int | None = None,
        shard: int | None = None,
    ) -> None:
        super().__init__(field, found, expected, advice, row, shard)
        self.field = field
        self.found = found
        self.expected = expected
        self.advice = advice
        self.row = row
        self.shard = shard

    @classmethod
    def of(cls, problem: Problem, field: str, row: int | None = None) -> RecordError:
        """Return the error of a field's value, of the row at this position."""
        return cls(field, problem.found, problem.expected, problem.advice, row)

    def at_row(self, row: int, shard: int | None = None) -> RecordError:
        """Return the same error, of the row at this position of this shard's source."""
        return RecordError(
            self.field, self.found, self.expected, self.advice, row, shard
        )

    def __str__(self) -> str:
        where = "" if self.row is None else f"{position(self.row, self.shard)}: "
        advice = f"; {self.advice}" if self.advice else ""
        field = f"field {self.field!r}: " if self.field else ""
        return f"{where}{field}found {self.found}, expected {self.expected}{advice}"


class DatasetError(Exception):
    """A data directory that cannot be written or read as requested.

    The message names the directory, the split or the file, and what to do.
    """


class ChangedSourceError(DatasetError):
    """A source whose rows differ from those that an interrupted run has written."""


class SchemaMismatchError(DatasetError):
    """Data that was written with an incompatible schema.

    The message lists each field with the written and the expected value.
    """
