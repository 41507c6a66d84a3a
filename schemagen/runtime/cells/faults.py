"""Faults in stored data, and the features that checks look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native import BYTES, NOTHING
from ..shared.errors import Problem, did_you_mean
from .columns import Column, Rows, StepColumn, column_of

_SHOWN_BYTES, _SHOWN_KEYS, _SHOWN_TEXT = 16, 12, 60

# Longer words and lists of words take too long to compare.
_LONGEST_WORD, _MOST_WORDS = 100, 2000


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in some rows.

    Attributes:
        rule: the rule's id.
        what: what is wrong, the same for all rows.
        expected: what should be there.
        rows: int64 [M], the rows, ascending.
        found: what is there, by the position in `rows`; only called for examples.
        cause: the likely cause, likewise.
        key: the key at which it is wrong.
    """

    rule: str
    what: str
    expected: str
    rows: Rows
    found: Callable[[int], str]
    cause: Callable[[int], str] = lambda _: ""
    key: str = ""

    @property
    def problem(self) -> Problem:
        """What is wrong with the first of the rows."""
        return Problem(self.found(0), self.expected, self.cause(0))


@dataclass(frozen=True)
class Features:
    """The stored features of some records, or of the steps of some records.

    Attributes:
        live: bool [N], the records to look at; no others are in the columns.
        by_key: the columns of each key.
        steps: the feature lists, by key.
        known: the keys of all fields of the schema.
        optional: whether the field that is read may be missing.
    """

    live: NDArray[np.bool_]
    by_key: Mapping[str, tuple[Column, ...]]
    steps: Mapping[str, StepColumn] = field(default_factory=dict)
    known: Set[str] = frozenset()
    optional: bool = False

    def column(self, key: str, kind: str) -> Column:
        """Return the column of a key and a kind, which may have no rows."""
        return column_of(self.by_key, key, kind)

    def contents(self, key: str) -> tuple[Rows, Iterable[Any]]:
        """Return the records that have one value of bytes under a key, and these."""
        column = self.column(key, BYTES)
        column = column.only(column.lengths == 1)
        return column.rows, column.bytes_values()

    def keys_of(self, row: int) -> list[str]:
        """Return the keys of one record."""
        return [
            key
            for key, columns in self.by_key.items()
            if any(_has(column.rows, row) for column in columns)
        ]

    def present(self, key: str) -> NDArray[np.bool_]:
        """Return which records have a list, even an empty one, under a key: bool [N]."""
        some = (c.rows for c in self.by_key.get(key, ()) if c.kind != NOTHING)
        return self.mask_of(*some)

    def mask_of(self, *some: Rows) -> NDArray[np.bool_]:
        """Return some rows as a mask of all: bool [N]."""
        found = np.zeros(len(self.live), np.bool_)
        for rows in some:
            found[rows] = True
        return found

    def spread(self, rows: Rows, values: Rows) -> Rows:
        """Return values of some rows as values of all: int64 [N], 0 for the others."""
        found = np.zeros(len(self.live), np.int64)
        found[rows] = values
        return found


def _has(rows: Rows, row: int) -> bool:
    at = int(np.searchsorted(rows, row))
    return at < len(rows) and int(rows[at]) == row


def missing(features: Features, key: str, expected: str, rows: Rows) -> Fault:
    """Return the fault of rows without a list under a required key."""
    bare = features.mask_of(features.column(key, NOTHING).rows)[rows]

    def found(at: int) -> str:
        if bare[at]:
            return "a feature without a list of any type"
        keys = features.keys_of(int(rows[at]))
        return f"no feature {key!r}; there are: {listed(keys)}"

    def cause(at: int) -> str:
        if bare[at]:
            return "written as an empty tf.train.Feature, which reads as missing"
        return near(key, features.keys_of(int(rows[at])), features.known)

    what = "required feature is missing"
    return Fault("SG522", what, expected, rows, found, cause, key)


def first_of_rows(ends: Rows, at: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows of some positions, and the first position in each.

    Args:
        ends: where each row ends.
        at: the positions, ascending.
    """
    rows, index = np.unique(np.searchsorted(ends, at, "right"), return_index=True)
    return rows, at[index]


def near(word: str, choices: Sequence[str], known: Set[str] = frozenset()) -> str:
    """Ask whether another word was meant.

    Args:
        word: the word that is missing.
        choices: the words that are.
        known: choices that mean something else.
    """
    if len(word) > _LONGEST_WORD:
        return ""
    usual = [
        each for each in choices if len(each) <= _LONGEST_WORD and each not in known
    ]
    return did_you_mean(word, usual[:_MOST_WORDS])


def listed(keys: Sequence[str]) -> str:
    """Write the first few of some keys."""
    shown = ", ".join(map(shown_text, keys[:_SHOWN_KEYS]))
    rest = len(keys) - _SHOWN_KEYS
    return (f"{shown} and {rest} more" if rest > 0 else shown) or "none"


def shown_bytes(data: bytes) -> str:
    """Write bytes as text if they are; otherwise the first of them as hex."""
    if not data:
        return "no bytes"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        head = data[:_SHOWN_BYTES].hex(" ")
        begins = "the bytes" if len(data) <= _SHOWN_BYTES else "bytes that begin with"
        return f"{begins} {head}"
    return shown_text(text)


def shown_text(text: str) -> str:
    """Write text in quotes, control characters escaped, cut if it is long."""
    if len(text) <= _SHOWN_TEXT:
        return repr(text)
    return f"{text[:_SHOWN_TEXT]!r}... ({len(text):,} characters)"
