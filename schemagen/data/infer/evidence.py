"""What data shows of itself: for each key who has it, how long, and what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..columns import Column, Columns
from ..message import BYTES, NOTHING
from .byte_values import BytesLook
from .numbers import NumberLook, Rows


@dataclass(frozen=True)
class KeyEvidence:
    """What was seen of one key.

    Attributes:
        key: the wire key.
        kinds: how many records have it with each kind of list.
        lengths: int64 [records], how many values each has; -1 for none at all. Of a
            step, each step is one of the records.
        numbers: what the numbers are.
        values: what the bytes values are.
        unit: what has it: a record, or a step.
    """

    key: str
    kinds: Mapping[str, int]
    lengths: Rows
    numbers: NumberLook
    values: BytesLook
    unit: str = "record"

    @property
    def kind(self) -> str:
        """The kind that it has everywhere; "" if it has none or several."""
        return next(iter(self.kinds)) if len(self.kinds) == 1 else NOTHING

    @property
    def there(self) -> Rows:
        """int64: the lengths where it is there."""
        return self.lengths[self.lengths >= 0]

    @property
    def missing(self) -> int:
        """How many records do not have it."""
        return int((self.lengths < 0).sum())

    @property
    def shortest(self) -> int:
        """The least number of values."""
        return int(self.there.min(initial=np.iinfo(np.int64).max))

    @property
    def longest(self) -> int:
        """The greatest number of values."""
        return int(self.there.max(initial=0))

    @property
    def is_single(self) -> bool:
        """Whether there is one value wherever it is."""
        return self.shortest == self.longest == 1

    @property
    def is_fixed(self) -> bool:
        """Whether there are equally many values, and more than one, wherever it is."""
        return self.shortest == self.longest > 1


@dataclass(frozen=True)
class StepEvidence:
    """What was seen of the feature lists of one key.

    Attributes:
        key: the wire key.
        steps: int64 [records], how many steps each has; -1 where it has no such key.
        each: what was seen of a step, all steps taken for records.
    """

    key: str
    steps: Rows
    each: KeyEvidence


@dataclass(frozen=True)
class Evidence:
    """What was seen of all records.

    Attributes:
        records: how many there are.
        keys: of each key, sorted.
        steps: of each key of feature lists.
        sequences: how many are SequenceExamples.
        malformed: how many are no Examples, and so are in nothing else.
        reason: what is wrong with the first of these, and where in its bytes.
        unknown: what no Example has, and in how many records it is.
        repeated: keys that stand twice in a record, and in how many.
        first: the bytes of the first record, or the beginning of them.
    """

    records: int
    keys: Mapping[str, KeyEvidence]
    steps: Mapping[str, StepEvidence]
    sequences: int = 0
    malformed: int = 0
    reason: str = ""
    unknown: Mapping[str, int] | None = None
    repeated: Mapping[str, int] | None = None
    first: bytes = b""


class _Look:
    """Looks at the columns of one key."""

    def __init__(self, key: str, unit: str = "record") -> None:
        self._key = key
        self._unit = unit
        self._kinds: Counter[str] = Counter()
        self._rows: list[Rows] = []
        self._lengths: list[Rows] = []
        self._numbers = NumberLook()
        self._values = BytesLook()

    def add(self, column: Column, start: int) -> None:
        if column.kind == NOTHING or not len(column):
            return
        rows = column.rows + start
        self._kinds[column.kind] += len(column)
        self._rows.append(rows)
        self._lengths.append(column.lengths)
        if column.kind == BYTES:
            self._values.add(column, rows)
        else:
            self._numbers.add(column, rows)

    def evidence(self, records: int) -> KeyEvidence:
        lengths = np.full(records, -1, np.int64)
        if self._rows:
            lengths[np.concatenate(self._rows)] = np.concatenate(self._lengths)
        return KeyEvidence(
            self._key,
            dict(self._kinds),
            lengths,
            self._numbers,
            self._values,
            self._unit,
        )


class _StepLook:
    """Looks at the feature lists of one key."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._each = _Look(key, "step")
        self._total = 0
        self._rows: list[Rows] = []
        self._steps: list[Rows] = []

    def add(self, rows: Rows, steps: Rows, columns: Iterable[Column]) -> None:
        self._rows.append(rows)
        self._steps.append(steps)
        for column in columns:
            self._each.add(column, self._total)
        self._total += int(steps.sum())

    def evidence(self, records: int) -> StepEvidence:
        steps = np.full(records, -1, np.int64)
        steps[np.concatenate(self._rows)] = np.concatenate(self._steps)
        return StepEvidence(self._key, steps, self._each.evidence(self._total))


def gather(batches: Iterable[Columns], most_keys: int | None = None) -> Evidence:
    """Look at all records, those that are no Examples aside.

    Args:
        batches: the records.
        most_keys: stop when there are more keys than this.
    """
    keys: dict[str, _Look] = {}
    steps: dict[str, _StepLook] = {}
    unknown: Counter[str] = Counter()
    repeated: Counter[str] = Counter()
    records = sequences = malformed = 0
    reason, first = "", b""
    for batch in batches:
        if not len(batch.records):
            continue
        first = first or batch.records[0][:64]
        bad = {each.row for each in batch.malformed}
        if bad and not reason:
            reason = f"{batch.malformed[0].reason}, at byte {batch.malformed[0].at}"
        malformed += len(bad)
        # Rows are numbered without the malformed ones.
        good = np.ones(len(batch.records), np.bool_)
        good[list(bad)] = False
        number = records + np.cumsum(good) - 1
        for key, columns in batch.by_key.items():
            for column in columns:
                look = keys.setdefault(key, _Look(key))
                look.add(_renumbered(column, number), 0)
        for key, found in batch.steps.items():
            steps.setdefault(key, _StepLook(key)).add(
                number[found.rows], found.steps, found.columns
            )
        if most_keys is not None and len(keys) + len(steps) > most_keys:
            records += int(good.sum())
            break
        sequences += int(batch.sequences[good].sum())
        records += int(good.sum())
        unknown.update({fact: len(rows) for fact, rows in batch.unknown.items()})
        repeated.update({key: len(rows) for key, rows in batch.repeated.items()})
    return Evidence(
        records=records,
        keys={key: keys[key].evidence(records) for key in sorted(keys)},
        steps={key: steps[key].evidence(records) for key in sorted(steps)},
        sequences=sequences,
        malformed=malformed,
        reason=reason,
        unknown=dict(unknown),
        repeated=dict(repeated),
        first=first,
    )


def _renumbered(column: Column, number: Rows) -> Column:
    return Column(
        column.key,
        column.kind,
        number[column.rows],
        column.lengths,
        column.values,
        column.data,
    )
