"""Relations between keys: what tells the target, measures another key, or names the record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...runtime.cells.columns import Rows
from ..formatting import plural
from .draft import Draft, quoted
from .evidence import Evidence, KeyEvidence
from .key_words import (
    AXES,
    counts_key,
    names_learned_id,
    names_tokens,
    says_axis,
    says_count,
    says_shape,
)

Fields = Mapping[str, Draft]


@dataclass(frozen=True)
class Thresholds:
    """How many records tell a relation from chance.

    Attributes:
        copy: the chance at which two unrelated keys would go one to one.
        function: the chance at which one key would be a function of another.
        repeats: how often each value of the key that tells the other occurs, in the mean.
        sizes: how many different sizes tell that a number is the size of another key.
        records: in how many records they have to be.
        names: how many records tell that a text names each of them.
        numbers: how many tell that a number does.
    """

    copy: float = 1e-4
    function: float = 1e-6
    repeats: int = 5
    sizes: int = 3
    records: int = 20
    names: int = 20
    numbers: int = 100


THRESHOLDS = Thresholds()

_GIVEN_AWAY = "As an input it gives the answer away"


@dataclass(frozen=True)
class Pairs:
    """The contents of two keys in the records that have both.

    Attributes:
        records: how many records these are.
        counts: how often each content of either key occurs.
        pairs: how many different pairs of contents there are.
    """

    records: int
    counts: tuple[Rows, Rows]
    pairs: int

    @classmethod
    def of(cls, one: Rows, other: Rows) -> Pairs:
        """Return the pairs of two keys: int64 [records], the codes of their contents."""
        both = (one >= 0) & (other >= 0)
        first, second = one[both], other[both]
        counts = np.bincount(first), np.bincount(second)
        pairs = np.unique(first * (len(counts[1]) + 1) + second)
        some = tuple(each[each > 0] for each in counts)
        return cls(int(both.sum()), (some[0], some[1]), len(pairs))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many different contents each key has."""
        return len(self.counts[0]), len(self.counts[1])

    @property
    def is_copy(self) -> bool:
        """Whether they go one to one, and not by chance."""
        one, other = self.sizes
        same = one == other == self.pairs >= 2
        return same and self._chance(0) < THRESHOLDS.copy

    def tells(self, first: int) -> bool:
        """Return whether the other key is a function of this one, 0 or 1.

        Not if it goes one to one, never varies, or does so by chance.
        """
        determinant, dependent = self.sizes[first], self.sizes[1 - first]
        return (
            self.pairs == determinant > dependent >= 2
            and self.records >= THRESHOLDS.repeats * determinant
            and self._chance(first) < THRESHOLDS.function
        )

    def _chance(self, first: int) -> float:
        """Return how likely unrelated contents of one key would each have one of the other."""
        shares = self.counts[1 - first] / self.records
        repeats = self.records - self.sizes[first]
        return math.exp(repeats * math.log(float((shares**2).sum())))


def with_relations(evidence: Evidence, fields: Fields) -> Fields:
    """Return fields with roles that follow from relations between keys.

    Args:
        evidence: all keys.
        fields: the fields, with the roles that their names tell.
    """
    return _without_names(
        evidence, _without_sizes(evidence, _without_copies(evidence, fields))
    )


def _without_copies(evidence: Evidence, fields: Fields) -> Fields:
    """Make info of what tells the target, or follows from it."""
    found, distinct = dict(fields), evidence.distinct
    targets = sorted(
        (key for key, draft in fields.items() if _is_told(evidence, draft)),
        key=lambda key: _as_target(fields[key]),
    )
    for target in targets:
        for key, draft in found.items():
            if found[target].model_role != "target":
                break  # a copy of an earlier one, or of tokens
            if key == target or not _may_tell(evidence, draft):
                continue
            one, other = evidence.keys[key], evidence.keys[target]
            if _holds_the_same(one, other):
                if _reads_and_says(one):
                    found[target] = _repeated_tokens(found[target], key)
                    continue
                said = f"the same values as the target {quoted(target)}. {_GIVEN_AWAY}"
            elif not (one.is_single or other.is_single):
                said = _copied_items(one, other)
            elif _may_relate(one, other, draft):
                pairs = Pairs.of(one.codes[distinct], other.codes[distinct])
                said = _relation_text(
                    pairs, target, copies_only=draft.model_role == "target"
                )
            else:
                continue
            if said:
                found[key] = draft.with_role("info").with_doubts(said)
    return found


def _is_told(evidence: Evidence, draft: Draft) -> bool:
    known = draft.key in evidence.keys and not draft.codec.of_pixels
    return known and draft.model_role == "target"


def _may_tell(evidence: Evidence, draft: Draft) -> bool:
    """Return whether a field could be a copy of a target."""
    used = draft.model_role in ("input", "target")
    return used and draft.key in evidence.keys and not draft.codec.of_pixels


def _repeated_tokens(target: Draft, key: str) -> Draft:
    return target.with_role("info").with_doubts(
        f"the same values as {quoted(key)}: ids of tokens, which the generated model would "
        "learn as quantities"
    )


def _holds_the_same(one: KeyEvidence, other: KeyEvidence) -> bool:
    """Return whether two keys have the same contents, of which there are several."""
    return one.content == other.content and one.contents > 1


def _reads_and_says(data: KeyEvidence) -> bool:
    """Return whether a key has the tokens of a sequence, which a decoder reads and says."""
    return not data.is_single and names_tokens(data.key)


def _may_relate(one: KeyEvidence, target: KeyEvidence, draft: Draft) -> bool:
    """Return whether there are few enough contents to look at their pairs."""
    if one.contents == target.contents:
        return True
    most = max(one.contents, target.contents) * THRESHOLDS.repeats
    return draft.model_role != "target" and most <= len(one.present)


def _copied_items(one: KeyEvidence, target: KeyEvidence) -> str:
    """Say that the items of two lists go one to one; "" if they do not.

    Not those of tokens, which a decoder both reads and says.
    """
    items = one.items, target.items
    known = all(each.known for each in items) and not _reads_and_says(one)
    if not known or (one.lengths != target.lengths).any():
        return ""
    count = min(len(each.codes) for each in items)
    pairs = Pairs.of(*(each.codes[:count] for each in items))
    if not pairs.is_copy:
        return ""
    return (
        f"its items go one to one with those of the target {quoted(target.key)}: "
        f"{pairs.sizes[0]:,} values in {plural(count, 'item')}. {_GIVEN_AWAY}"
    )


def _as_target(draft: Draft) -> tuple[bool, ...]:
    """Order targets: classes by id, classes by name, other single values, lists."""
    by_name = draft.facts.get("stored") == "text"
    return not draft.codec.of_classes, by_name, not draft.is_plain


def _relation_text(pairs: Pairs, target: str, *, copies_only: bool) -> str:
    """Say how a key and the target tell each other; "" if they do not."""
    records, (count, classes) = plural(pairs.records, "record"), pairs.sizes
    if pairs.is_copy:
        return (
            f"one to one with the target {quoted(target)}: {count:,} values in {records}. "
            f"{_GIVEN_AWAY}"
        )
    if copies_only:
        return ""
    if pairs.tells(0):
        return (
            f"each of its {count:,} values goes with one of the {classes:,} of the target "
            f"{quoted(target)} in {records}. {_GIVEN_AWAY}"
        )
    if pairs.tells(1):
        return (
            f"the target {quoted(target)} determines it: each of {classes:,} values goes with "
            f"one of {count:,} in {records}. As an input it gives part of the answer away"
        )
    return ""


def _without_sizes(evidence: Evidence, fields: Fields) -> Fields:
    """Make info of numbers that always are the size or count of another key."""
    found = dict(fields)
    measured: dict[bytes, list[tuple[str, str]]] = {}
    for key, what, sizes in _sizes(evidence, fields):
        measured.setdefault(sizes.tobytes(), []).append((key, what))
    for key, draft in fields.items():
        data = evidence.keys.get(key)
        if data is None or data.kind != "int64" or draft.model_role != "input":
            continue
        if draft.is_number and data.is_single:
            own = np.where(data.lengths < 0, -1, data.lists.first_values(data.records))
            for other, what in measured.get(own.tobytes(), ()):
                if _counts(data, other, what):
                    said = f"always the {what} of {quoted(other)}"
                    found[key] = draft.with_role("info").with_notes(said)
                    break
    return found


def _counts(data: KeyEvidence, other: str, what: str) -> bool:
    """Return whether a number is equal to sizes of another key by more than chance."""
    many = len(data.present) >= THRESHOLDS.records
    if data.contents >= THRESHOLDS.sizes and many:
        return True
    of_axis = what in AXES or what.startswith("size ")
    if of_axis and says_axis(data.key):
        return True
    named = says_count(data.key) or says_shape(data.key)
    return named and (data.contents > 1 or counts_key(data.key, other))


def _sizes(evidence: Evidence, fields: Fields) -> Iterator[tuple[str, str, Rows]]:
    """Yield keys, and what is counted or measured of each: int64 [records], -1 for none."""
    for key, data in evidence.keys.items():
        if data.kind == "bytes":
            values = data.values
            for axis, sizes in zip(AXES, values.heads(data.records).T, strict=True):
                yield key, axis, sizes
            for place, sizes in enumerate(values.shapes(data.records).T):
                yield key, f"size {place} of the shape", sizes
            if data.is_single:
                yield key, "number of bytes", values.measured.array(data.records)
        if data.is_single or not data.kind:
            continue
        yield key, "number of values", data.lengths
        item = _item(fields.get(key))
        if item > 1:
            yield (
                key,
                "number of items",
                np.where(data.lengths < 0, -1, data.lengths // item),
            )
        if data.kind == "int64":
            if not data.is_fixed:
                continue
            yield key, "number of values without the zeros at the end", data.filled
            if data.is_binary:
                sums = data.lists.sums.array(data.records)
                yield key, "number of ones", np.where(data.lengths < 0, -1, sums)
    for key, steps in evidence.steps.items():
        yield key, "number of steps", steps.steps


def _item(draft: Draft | None) -> int:
    """Return how many numbers an item of a list has."""
    if draft is None:
        return 1
    shape = draft.facts.get("item_shape") or draft.facts.get("shape", ())[1:]
    return math.prod(size or 1 for size in shape)


def _without_names(evidence: Evidence, fields: Fields) -> Fields:
    """Make info of what names each record, and is nothing to learn from."""
    found = dict(fields)
    for key, draft in fields.items():
        data = evidence.keys.get(key)
        if data is None or draft.model_role != "input" or not data.is_single:
            continue
        unique = data.contents == len(data.present)
        said = _named(draft, data) if unique else ""
        if said:
            found[key] = draft.with_role("info").with_doubts(
                f"{said}, and not to learn from?"
            )
    return found


def _named(draft: Draft, data: KeyEvidence) -> str:
    """Say how contents that never repeat name the records; "" if they may say more."""
    low, high = data.numbers.minimum, data.numbers.maximum
    records = len(data.present)
    if draft.is_text and THRESHOLDS.names <= records == data.values.names:
        example = quoted(data.values.samples.first)
        return f"a name of its own in each of {records:,} records, such as {example}"
    if (
        low is None
        or high is None
        or data.kind != "int64"
        or names_learned_id(draft.key)
    ):
        return ""
    if records < THRESHOLDS.numbers or high - low != records - 1:
        return ""
    return f"each number from {low:,} to {high:,} once: the number of the record"
