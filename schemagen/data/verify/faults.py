"""What checks look at and what they say: columns in, faults of many rows out.

A check is a generator of faults which returns the rows that passed, so that one check
stands behind another and a row has one fault a field.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...kinds.storage import Entry
from ...runtime.shared.errors import did_you_mean
from ..columns import Column, Rows, column_of
from ..message import BYTES, FLOAT, INT64, NOTHING

Passed = Generator["Fault", None, Column]

_KINDS = {"bytes": BYTES, "float32": FLOAT, "int64": INT64}
_WORDS = {BYTES: "bytes", FLOAT: "float", INT64: "int64"}
_SHOWN_BYTES, _SHOWN_KEYS, _SHOWN_TEXT = 16, 12, 60

# What is beyond these takes too long to compare, and is not what anybody has meant.
_LONGEST_WORD, _MOST_WORDS = 100, 2000


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in some rows.

    Attributes:
        rule: the rule's id.
        what: what is wrong, the same for all rows.
        expected: what should be there.
        rows: int64 [M], which rows, ascending.
        found: what stands there, by the position in `rows`; asked for examples only.
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


@dataclass(frozen=True)
class Units:
    """What checks look at: records, or the steps of records.

    Attributes:
        live: bool [N], which of them are to be looked at.
        by_key: their columns, in which no others are.
        known: the keys of all fields of the schema.
        optional: whether they may lack what is checked.
    """

    live: NDArray[np.bool_]
    by_key: Mapping[str, tuple[Column, ...]]
    known: Set[str] = frozenset()
    optional: bool = False

    def keys_of(self, row: int) -> list[str]:
        """Return the keys that one of them has."""
        return [
            key
            for key, columns in self.by_key.items()
            if any(_has(column.rows, row) for column in columns)
        ]

    def present(self, key: str) -> NDArray[np.bool_]:
        """Tell which of them have a list, be it empty, under a key: bool [N]."""
        some = (c.rows for c in self.by_key.get(key, ()) if c.kind != NOTHING)
        return self.among(*some)

    def among(self, *some: Rows) -> NDArray[np.bool_]:
        """Tell which of them some rows are: bool [N]."""
        found = np.zeros(len(self.live), np.bool_)
        for rows in some:
            found[rows] = True
        return found

    def spread(self, rows: Rows, values: Rows) -> Rows:
        """Return values of some rows as values of all of them: int64 [N], or 0."""
        found = np.zeros(len(self.live), np.int64)
        found[rows] = values
        return found

    def single(self, key: str, kind: str) -> Column:
        """Return those that have one value of a kind under a key."""
        column = column_of(self.by_key, key, kind)
        return only(column, column.lengths == 1)


class FieldCheck(Protocol):
    """Checks one field."""

    def __call__(self, units: Units) -> Generator[Fault, None, Any]:
        """Yield what is wrong with it."""


def _has(rows: Rows, row: int) -> bool:
    at = int(np.searchsorted(rows, row))
    return at < len(rows) and int(rows[at]) == row


def stored(units: Units, entry: Entry, expected: str) -> Passed:
    """Check the list under a key by its storage: its type, and its count if it has one.

    Returns:
        The rows that have the list.
    """
    column = yield from typed(units, entry, expected)
    if entry.count is None:
        return column
    return (yield from counted(column, entry.count, expected))


def typed(units: Units, entry: Entry, expected: str) -> Passed:
    """Check that rows have a key, with a list of its type; return those that do."""
    key, kind = entry.key, kind_of(entry)
    for column in units.by_key.get(key, ()):
        if column.kind not in (kind, NOTHING):
            yield Fault(
                "SG523",
                "wrong feature type",
                expected,
                column.rows,
                partial(_amount_of, column),
                partial(_cause_of_kind, kind, column),
                key,
            )
    right = column_of(units.by_key, key, kind)
    if not units.optional and len(right) < len(units.live):
        missing = np.flatnonzero(units.live & ~units.present(key))
        yield _missing(units, key, missing, expected)
    return right


def kind_of(entry: Entry) -> str:
    """Return the kind of list that an entry is stored in."""
    return _KINDS[entry.stored]


def _missing(units: Units, key: str, rows: Rows, expected: str) -> Fault:
    bare = units.among(column_of(units.by_key, key, NOTHING).rows)[rows]

    def found(at: int) -> str:
        if bare[at]:
            return "a feature without a list of any type"
        return f"no feature {key!r}; there are: {listed(units.keys_of(int(rows[at])))}"

    def cause(at: int) -> str:
        if bare[at]:
            return "written as an empty tf.train.Feature: readers take it for none"
        return near(key, units.keys_of(int(rows[at])), units.known)

    what = "required feature is missing"
    return Fault("SG522", what, expected, rows, found, cause, key)


def listed(keys: list[str]) -> str:
    """Write some keys: the first few of them."""
    shown = ", ".join(map(shown_text, keys[:_SHOWN_KEYS]))
    rest = len(keys) - _SHOWN_KEYS
    return (f"{shown} and {rest} more" if rest > 0 else shown) or "none"


def near(word: str, choices: Sequence[str], known: Set[str] = frozenset()) -> str:
    """Ask whether another word was meant; not of words as no person writes them.

    Args:
        word: what is not there.
        choices: what is.
        known: choices that mean something else.
    """
    if len(word) > _LONGEST_WORD:
        return ""
    usual = [
        each for each in choices if len(each) <= _LONGEST_WORD and each not in known
    ]
    return did_you_mean(word, usual[:_MOST_WORDS])


def amount(count: int | None, kind: str) -> str:
    """Write a number of values: `2 float values`."""
    if count is None:
        return f"{_WORDS[kind]} values"
    return f"{count} {_WORDS[kind]} value{'' if count == 1 else 's'}"


def _amount_of(column: Column, at: int) -> str:
    return amount(int(column.lengths[at]), column.kind)


def _cause_of_kind(kind: str, column: Column, at: int) -> str:
    if {column.kind, kind} == {FLOAT, INT64}:
        return "written as another type of number: declare the dtype it has"
    if kind == BYTES:
        return "written as a list of numbers, declared as bytes"
    if column.lengths[at]:
        data = column.bytes_at(int(column.starts[at]))
        if data and len(data) <= 32 and all(48 <= byte < 58 for byte in data):
            return "numbers written as text"
    return "written as bytes, declared as a list of numbers"


def only(column: Column, keep: NDArray[np.bool_]) -> Column:
    """Return some rows of a column."""
    if keep.all():
        return column
    values = column.values[np.repeat(keep, column.lengths)]
    return Column(
        column.key,
        column.kind,
        column.rows[keep],
        column.lengths[keep],
        values,
        column.data,
    )


def counted(column: Column, count: int, expected: str) -> Passed:
    """Check that every row has so many values."""
    bad = column.lengths != count
    what = "wrong number of values"
    return (yield from refused(column, bad, "SG524", what, expected, _amount_of))


def refused(
    column: Column,
    bad: NDArray[np.bool_],
    rule: str,
    what: str,
    expected: str,
    found: Callable[[Column, int], str],
    cause: Callable[[Column, int], str] = lambda column, at: "",
) -> Passed:
    """Refuse some rows of a column.

    Args:
        column: the rows.
        bad: bool [rows], which of them.
        rule: the rule's id.
        what: what is wrong.
        expected: what should be there.
        found: what is, of the column of the bad rows at a position.
        cause: likewise.
    """
    if not bad.any():
        return column
    wrong = only(column, bad)
    texts = partial(found, wrong), partial(cause, wrong)
    yield Fault(rule, what, expected, wrong.rows, *texts, column.key)
    return only(column, ~bad)


def refused_values(
    column: Column,
    bad: NDArray[np.bool_],
    rule: str,
    what: str,
    expected: str,
    cause: Callable[[Any], str] = lambda value: "",
    found: Callable[[Any], str] | None = None,
) -> Passed:
    """Refuse the rows in which some values are wrong.

    Args:
        column: the rows.
        bad: bool [values], which values.
        rule: the rule's id.
        what: what is wrong.
        expected: what should be there.
        cause: the likely cause, by the first wrong value.
        found: what is there, likewise; None for a number and its place.
    """
    if not bad.any():
        return column
    rows, first = firsts(np.cumsum(column.lengths), np.flatnonzero(bad))

    def value(number: int) -> Any:
        at = first[number]
        return column.bytes_at(at) if column.kind == BYTES else column.values[at]

    def words(number: int) -> str:
        if found is not None:
            return found(value(number))
        row = rows[number]
        place = f" at [{first[number] - column.starts[row]}]"
        return f"{value(number)}{place if column.lengths[row] > 1 else ''}"

    wrong = np.zeros(len(column), np.bool_)
    wrong[rows] = True
    return (
        yield from refused(
            column,
            wrong,
            rule,
            what,
            expected,
            lambda _, number: words(number),
            lambda _, number: cause(value(number)),
        )
    )


def firsts(ends: Rows, at: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows that some places are in, and the first place in each.

    Args:
        ends: where each row ends.
        at: the places, ascending.
    """
    rows, index = np.unique(np.searchsorted(ends, at, "right"), return_index=True)
    return rows, at[index]


def sizes_of(column: Column) -> Rows:
    """Return how many bytes each value of a bytes column has."""
    sizes: Rows = column.values[:, 1] - column.values[:, 0]
    return sizes


def sums_of(lengths: Rows, values: Rows) -> Rows:
    """Return the sum of the values of each row: int64 [rows]."""
    totals = np.concatenate([[0], np.cumsum(values)])
    ends = np.cumsum(lengths)
    sums: Rows = totals[ends] - totals[ends - lengths]
    return sums


def shown_bytes(data: bytes) -> str:
    """Write bytes for people, so that nothing in them acts on a terminal."""
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
    """Write a text for people: quoted, control characters escaped, cut if long."""
    if len(text) <= _SHOWN_TEXT:
        return repr(text)
    return f"{text[:_SHOWN_TEXT]!r}... ({len(text):,} characters)"
