"""Evidence in the data: for each key the records that have it, and what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...runtime.cells.columns import Column, Columns, Rows, StepColumn
from ...runtime.cells.in_numpy import of_bytes
from ...runtime.native import BYTES, INT64, NOTHING
from ...runtime.shared import base64_text
from ...runtime.shared.errors import Problem
from ..formatting import plural
from ..statistics.bytes_values import RAW
from ..statistics.numbers import NumericStatistics, merged_numbers, numbers
from .guesses import item_bytes
from .key_words import meaning_of, names_object, speaks_of
from .values import (
    Contents,
    Forms,
    Listed,
    Lists,
    PerRecord,
    digests,
)

RARE = 0.01
"""What at most so many of the records have is a doubt, rather than a wider type."""

_SHORTEST_PADDED = 8

# Shorter text is no base64 that is worth a question: words may be base64, too.
_SHORTEST = 24

_CHARACTERS = bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))
_CHARACTERS += b"+/-_=\r\n"


class KeyEvidence:
    """The features of one key.

    Args:
        key: the wire key.

    Attributes:
        records: how many there are, with it or without; steps, of a feature list.
        kinds: how many records have it with each kind of list.
        numbers: the statistics of its numbers.
        lists: what these do not say about lists of numbers.
        values: its bytes values.
        decoded: what its bytes values hold as base64 text; None if one is no such text.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.records = 0
        self.kinds: Counter[str] = Counter()
        self.numbers = NumericStatistics()
        self.lists = Lists()
        self.values = Contents(masks=speaks_of(key, "mask"))
        self.decoded: KeyEvidence | None = None
        self._kinds, self._lengths = Forms(), PerRecord(-1)
        self._digests = PerRecord()

    def add(self, column: Column, rows: Rows) -> None:
        """Add a column; `rows` are its records, counted over all columns."""
        if column.kind == NOTHING or not len(column):
            return
        first = not self.kinds
        self.kinds[column.kind] += len(column)
        self._kinds.add(rows, [f"{column.kind} values"] * len(rows))
        self._lengths.add(rows, column.lengths)
        self._digests.add(rows, digests(column))
        if column.kind == BYTES:
            self.values.add(column, rows)
            self._add_decoded(column, rows, first=first)
        elif self.kind:  # keys of several kinds are in no field
            self.numbers = merged_numbers([self.numbers, numbers(column.values)])
            self.lists.add(column, rows)

    def _add_decoded(self, column: Column, rows: Rows, *, first: bool) -> None:
        content = _decoded(column) if first or self.decoded is not None else None
        if content is None:
            self.decoded = None
            return
        self.decoded = self.decoded or KeyEvidence(self.key)
        self.decoded.add(content, rows)

    @property
    def items(self) -> Listed:
        """The values of all lists, one after the other."""
        return self.values.listed if self.kind == BYTES else self.lists.listed

    @property
    def kind(self) -> str:
        """The kind that it has everywhere; "" if it has none or several."""
        return next(iter(self.kinds)) if len(self.kinds) == 1 else NOTHING

    @cached_property
    def lengths(self) -> Rows:
        """int64 [records]: how many values each has; -1 for none at all."""
        return self._lengths.array(self.records)

    @cached_property
    def codes(self) -> Rows:
        """int64 [records]: a number for each content, from 0 as they occur; -1 for none."""
        found = self.lengths.copy()
        present = found >= 0
        contents = self._digests.array(self.records)[present]
        _, first, same = np.unique(contents, return_index=True, return_inverse=True)
        found[present] = np.argsort(np.argsort(first))[same]
        return found

    @cached_property
    def contents(self) -> int:
        """How many different contents there are."""
        return int(self.codes.max(initial=-1)) + 1

    @cached_property
    def content(self) -> int:
        """A number that is the same for keys of the same contents in all records."""
        return hash(self._digests.array(self.records).tobytes())

    @cached_property
    def filled(self) -> Rows:
        """int64 [records]: how many numbers each has without the zeros at its end."""
        return self.lists.filled.array(self.records)

    @cached_property
    def present(self) -> Rows:
        """int64: the lengths in the records that have it."""
        return self.lengths[self.lengths >= 0]

    @property
    def missing(self) -> int:
        """How many records do not have it."""
        return int((self.lengths < 0).sum())

    @cached_property
    def shortest(self) -> int:
        """The least number of values."""
        return int(self.present.min(initial=np.iinfo(np.int64).max))

    @cached_property
    def longest(self) -> int:
        """The greatest number of values."""
        return int(self.present.max(initial=0))

    @property
    def is_finite(self) -> bool:
        """Whether few records, or none, have NaN or infinities."""
        return self.is_like(self.lists.unusual)

    @property
    def is_binary(self) -> bool:
        """Whether 0 and 1 occur, and no number below or above."""
        return (self.numbers.minimum, self.numbers.maximum) == (0, 1)

    @property
    def is_single(self) -> bool:
        """Whether all records that have it have one value."""
        return self.shortest == self.longest == 1

    @property
    def is_fixed(self) -> bool:
        """Whether all records that have it have equally many values, two or more."""
        return self.shortest == self.longest > 1

    @property
    def is_raw(self) -> bool:
        """Whether it is one bytes value of no known format."""
        values = self.values
        if self.kind != BYTES or not self.is_single or values.empty or values.text:
            return False
        return not (values.images or values.tensors or values.sounds)

    @property
    def is_padded(self) -> bool:
        """Whether it has equally many integers everywhere, and zeros only at the end."""
        if not self.is_fixed or self.missing or self.kind != INT64:
            return False
        only_there = int((self.lengths - self.filled).sum()) == self.numbers.zeros
        return only_there and len(np.unique(self.filled)) > 1 < int(self.filled.max())

    def is_like(self, different: int) -> bool:
        """Return whether so few of the records that have it differ, or none."""
        return not different or is_rare(different, len(self.present))

    def forms(self) -> Iterator[tuple[Rows, Callable[[int], str]]]:
        """Yield what a few records may have another form of, and the names of forms.

        Int64 [records], the number of a form, and -1 for none.
        """
        yield self._kinds.array(self.records), self._kinds.name
        some = np.count_nonzero(self.lengths > 0)
        if not names_object(self.key) and 2 * some > len(self.present):
            yield self.lengths, lambda length: plural(length, "value")
        values, raw = self.values, self.values.all.formats.get(RAW, 0)
        ignored = "text" if 2 * raw > values.all.count else "an empty value"
        yield values.formats.array(self.records, ignored), values.formats.name
        yield values.extents.array(self.records, ""), values.extents.name

    def is_with(self, other: KeyEvidence) -> bool:
        """Return whether the same records have it and another key."""
        return bool(((self.lengths >= 0) == (other.lengths >= 0)).all())


def is_rare(count: int, of: int) -> bool:
    """Return whether some records of so many are few, which a hundred have to tell."""
    return 0 < count <= RARE * of


def _decoded(column: Column) -> Column | None:
    """Return what a column of bytes holds if all of it is base64 text; else None."""
    for start, stop in column.values.tolist():
        head = column.data[start : min(start + _SHORTEST, stop)].tobytes()
        if len(head) < _SHORTEST or head.translate(None, _CHARACTERS):
            return None
    try:
        contents = list(map(base64_text.decoded, column.bytes_values()))
    except Problem:
        return None
    return of_bytes(column, contents) if contents else None


class StepEvidence:
    """The feature lists of one key.

    Attributes:
        key: the wire key.
        records: how many there are, with it or without.
        each: the features of all steps.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.records = 0
        self.each = KeyEvidence(key)
        self._steps = PerRecord(-1)

    def add(self, column: StepColumn, rows: Rows) -> None:
        """Add a column; `rows` are its records, counted over all columns."""
        self._steps.add(rows, column.steps)
        for features in column.columns:
            self.each.add(features, features.rows + self.each.records)
        self.each.records += int(column.steps.sum())

    @cached_property
    def steps(self) -> Rows:
        """int64 [records]: how many steps each has; -1 without the key."""
        return self._steps.array(self.records)

    @property
    def owners(self) -> Rows:
        """int64 [steps]: the record of each step."""
        return np.repeat(np.arange(self.records), np.maximum(self.steps, 0))


@dataclass
class Evidence:
    """All records.

    Attributes:
        records: how many there are.
        keys: the features of each key, sorted.
        steps: the feature lists of each key, sorted.
        sequences: how many are SequenceExamples.
        malformed: how many are not Examples, and so are in nothing else.
        reason: what is wrong with the first of these, and where in its bytes.
        unknown: what no Example has, and in how many records it is.
        repeated: keys that occur twice in a record, and in how many.
        odd: doubts about a key, which say in what few records differ that were read,
            and are not among these.
        is_table: whether they are rows of a table, which nothing has stored yet.
    """

    records: int = 0
    keys: dict[str, KeyEvidence] = field(default_factory=dict)
    steps: dict[str, StepEvidence] = field(default_factory=dict)
    sequences: int = 0
    malformed: int = 0
    reason: str = ""
    unknown: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)
    odd: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_table: bool = False

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many numbers each key always has, in a list or raw."""
        found: dict[str, int] = {}
        for key, data in self.keys.items():
            if data.is_fixed and data.kind != BYTES:
                found[key] = data.longest
            elif data.is_raw and data.values.least == data.values.most:
                dtype = data.values.samples.guess().dtype
                found[key] = data.values.most // item_bytes(dtype)
        return found

    @cached_property
    def padding(self) -> dict[int, KeyEvidence]:
        """Of each length, the integers that are filled up with the fewest zeros."""
        found: dict[int, KeyEvidence] = {}
        for key, data in self.keys.items():
            if data.longest < _SHORTEST_PADDED or meaning_of(key) == "answer":
                continue
            base = found.get(data.longest)
            if data.is_padded and (
                base is None or data.filled.sum() > base.filled.sum()
            ):
                found[data.longest] = data
        return found

    @cached_property
    def distinct(self) -> Rows:
        """int64: the first record of each content, in which all keys hold the same."""
        found, first = np.zeros(self.records, np.int64), np.arange(min(1, self.records))
        for data in self.keys.values():
            both = found * (self.records + 1) + data.codes + 1
            _, first, found = np.unique(both, return_index=True, return_inverse=True)
            if len(first) == self.records:
                break
        return np.sort(first)

    def add(self, batch: Columns) -> None:
        """Add some records."""
        if not len(batch.records):
            return
        # Rows are numbered without the malformed ones.
        good = np.ones(len(batch.records), np.bool_)
        for bad in batch.malformed:
            good[bad.row] = False
            self.reason = self.reason or f"{bad.reason}, at byte {bad.at}"
        self.malformed += int((~good).sum())
        number = self.records + np.cumsum(good) - 1
        for key, columns in batch.by_key.items():
            for column in columns:
                data = self.keys.setdefault(key, KeyEvidence(key))
                data.add(column, number[column.rows])
        for key, found in batch.steps.items():
            steps = self.steps.setdefault(key, StepEvidence(key))
            steps.add(found, number[found.rows])
        self.sequences += int(batch.sequences[good].sum())
        self.records += int(good.sum())
        self.unknown.update({fact: len(rows) for fact, rows in batch.unknown.items()})
        self.repeated.update({key: len(rows) for key, rows in batch.repeated.items()})

    def of(self, key: str) -> KeyEvidence:
        """Return the features of a key; those of all steps, of feature lists."""
        return self.keys[key] if key in self.keys else self.steps[key].each


def gather(batches: Iterable[Columns]) -> Evidence:
    """Return the evidence in some records."""
    found = Evidence()
    for batch in batches:
        found.add(batch)
    found.keys = dict(sorted(found.keys.items()))
    found.steps = dict(sorted(found.steps.items()))
    for data in found.keys.values():
        data.records = found.records
        if data.decoded is not None:
            data.decoded.records = found.records
    for steps in found.steps.values():
        steps.records = found.records
    return found
