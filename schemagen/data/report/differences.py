"""Where splits differ, measured so that chance alone is not taken for a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..statistics.numbers import Numbers
from .classes import ClassCounts
from .subjects import Part, Subject, holders
from .view import Difference
from .words import listed, number, percent, plural, share

FEWEST = 30
"""Of fewer values nothing is concluded but which classes there are."""

_DISTANCE = 0.1
_MISSING = 0.02
_MEAN = 0.2
_RANGE = 0.1
_NOISE = 3.0
_ENOUGH = 5.0
_SURE = 3.3
_LONGEST = 8

RULES = (
    (
        "class shares",
        "Total variation distance: half of the sum, over all classes, of how far the "
        "shares lie apart. It is the part of one split that would have to change its "
        "class to give the other: 0 % if the shares are the same, 100 % if no class is "
        "in both.",
        "from 10 %, if it is also three times what two random samples of these sizes "
        "would show on average",
    ),
    (
        "classes in one split only",
        "A class of the split of which the reference has no example, or one of the "
        "reference that the split lacks.",
        "in the first case always; in the second if the split would have five or more "
        "of it with the shares of the reference, so that chance leaves it out in less "
        "than one case of a hundred",
    ),
    (
        "missing",
        "The difference of the shares of records that lack the key.",
        "from 2 points, if it is also three times its standard error",
    ),
    (
        "mean",
        "The difference of the means, in standard deviations of the reference's values. "
        "Standard deviations are estimates from histograms of up to 256 bins.",
        "from 0.2, if it is also three times its standard error, with each record "
        "counted as one value",
    ),
    (
        "range",
        "How far values of the split lie outside of the least and the greatest of the "
        "reference, as a share of the width between these.",
        "from 10 %. A smaller excess is what chance brings: of two equal samples one "
        "has the greatest value",
    ),
    (
        "key in one split only",
        "No record of one split has the key, and some of the other do.",
        "if by the share of the other three records or more should have it",
    ),
)
"""What is measured: (measure, how, from where on it is marked)."""


def differences_of(
    parts: Sequence[Part], subjects: Sequence[Subject], classes: Sequence[ClassCounts]
) -> tuple[Difference, ...]:
    """Compare every split with the first one; what is marked comes first."""
    found: list[Difference] = []
    by_key = {(each.subject.key, each.subject.steps): each for each in classes}
    reference = parts[0]
    for part in parts[1:]:
        if not part.found.read or not reference.found.read:
            continue
        for subject in subjects:
            found += _missing(subject, reference, part)
            counts = by_key.get((subject.key, subject.steps))
            if counts is not None:
                found += _class_shares(counts, reference, part)
            else:
                numbers = _numbers(subject, reference, part)
                found += map(_unmarked, numbers) if _is_info(subject) else numbers
    return tuple(sorted(found, key=lambda each: not each.marked))


def _is_info(subject: Subject) -> bool:
    return subject.field is not None and subject.field.role == "info"


def _unmarked(difference: Difference) -> Difference:
    """Leave what no model sees unmarked: ids differ from split to split."""
    return replace(difference, threshold="no model sees it", marked=False)


def cautions_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """Say what cannot be concluded."""
    found = []
    few = [part for part in parts if part.found.read < FEWEST]
    if few:
        counts = [f"{part.name} ({part.found.read:,})" for part in few]
        found.append(
            f"Fewer than {FEWEST} records: {listed(counts)}. Nothing is concluded from "
            "so few but which classes they have."
        )
    small = min((part.found.read for part in parts), default=0)
    if FEWEST <= small < 1000:
        least = math.ceil(1000 / math.sqrt(small)) / 10
        found.append(
            f"With {small:,} records in the smallest split a share is known to about "
            f"{number(least)} points: smaller differences cannot be told from chance."
        )
    found.append(
        "No mark means that nothing was found by these measures, each key by itself; "
        "not that the splits are alike. How keys go together is not compared, nor what "
        "pictures show, nor whether records of one split are also in another."
    )
    return tuple(found)


def _missing(subject: Subject, reference: Part, part: Part) -> Iterator[Difference]:
    of, among = reference.found.read, part.found.read
    has, here = holders(subject, reference), holders(subject, part)
    before, now = 1 - has / of, 1 - here / among
    if before == now == 0:
        return
    if (has == 0) != (here == 0):
        expected = has / of * among if not here else here / among * of
        there = reference if has else part
        yield Difference(
            subject.name,
            "key in one split only",
            part.name,
            f"Only {there.name} has it, in {share(max(has, here), there.found.read)} "
            "of its records.",
            percent(abs(before - now)),
            "3 records expected",
            expected >= _SURE - 0.3,
        )
        return
    pooled = (of - has + among - here) / (of + among)
    error = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / among))
    threshold = max(_MISSING, _NOISE * error)
    gap = now - before
    yield Difference(
        subject.name,
        "missing",
        part.name,
        f"Missing in {percent(now)} of {part.name}, in {percent(before)} of "
        f"{reference.name}.",
        f"{_signed(100 * gap)} points",
        f"{number(round(100 * threshold, 1))} points",
        abs(gap) >= threshold and min(of, among) >= FEWEST,
    )


def _class_shares(
    classes: ClassCounts, reference: Part, part: Part
) -> Iterator[Difference]:
    before = classes.counts.get(reference.split, {})
    now = classes.counts.get(part.split, {})
    of, among = sum(before.values()), sum(now.values())
    if not of or not among:
        return
    distance, noise = total_variation(before, now)
    threshold = max(_DISTANCE, _NOISE * noise)
    widest = max(
        sorted({*before, *now}),
        key=lambda name: abs(now.get(name, 0) / among - before.get(name, 0) / of),
    )
    name = classes.subject.name
    yield Difference(
        name,
        "class shares",
        part.name,
        f"Most in {widest}: {share(now.get(widest, 0), among)} of {part.name}, "
        f"{share(before.get(widest, 0), of)} of {reference.name}.",
        percent(distance),
        percent(threshold),
        distance >= threshold and min(of, among) >= FEWEST,
    )
    new = sorted(each for each in now if now[each] and not before.get(each))
    if new:
        count = sum(now[each] for each in new)
        yield Difference(
            name,
            "classes in one split only",
            part.name,
            f"{reference.name} has no example of {listed(new, _LONGEST)}.",
            f"{count:,} of {among:,}",
            "1",
            True,
        )
    lost = sorted(
        each
        for each in before
        if not now.get(each) and before[each] / of * among >= _ENOUGH
    )
    if lost:
        yield Difference(
            name,
            "classes in one split only",
            part.name,
            f"No example of {listed(lost, _LONGEST)}, which {reference.name} has.",
            plural(len(lost), "class", "classes"),
            "1 class, 5 expected",
            True,
        )


def total_variation(
    before: Mapping[str, int], now: Mapping[str, int]
) -> tuple[float, float]:
    """Return the total variation distance of shares, and what chance would give.

    The latter is the mean for two random samples of these sizes from what both are
    together: of each class the difference of shares is about normal, and the mean of
    its size sqrt(2 / pi) times its standard deviation.
    """
    of, among = sum(before.values()), sum(now.values())
    distance = noise = 0.0
    for name in {**before, **now}:
        left, right = before.get(name, 0), now.get(name, 0)
        distance += abs(left / of - right / among) / 2
        pooled = (left + right) / (of + among)
        spread = pooled * (1 - pooled) * (1 / of + 1 / among)
        noise += math.sqrt(2 / math.pi * spread) / 2
    return distance, noise


def _numbers(subject: Subject, reference: Part, part: Part) -> Iterator[Difference]:
    before, now = subject.kind_in(reference), subject.kind_in(part)
    if before is None or now is None:
        return
    pairs = [("lengths", before.lengths, now.lengths, before.present, now.present)]
    if before.numbers is not None and now.numbers is not None:
        pairs.insert(0, ("", before.numbers, now.numbers, before.present, now.present))
    if before.bytes is not None and now.bytes is not None:
        for what, taken in (("heights", "heights"), ("widths", "widths")):
            one, other = getattr(before.bytes, taken), getattr(now.bytes, taken)
            pairs.append((what, one, other, one.count, other.count))
        if not before.bytes.images:
            one, other = before.bytes.sizes, now.bytes.sizes
            pairs.append(("sizes in bytes", one, other, one.count, other.count))
    for what, one, other, of, among in pairs:
        name = f"{subject.name} ({what})" if what else subject.name
        yield from _means(name, one, other, (of, among), reference, part)
        yield from _ranges(name, one, other, (of, among), reference, part)


def _means(
    name: str,
    before: Numbers,
    now: Numbers,
    counts: tuple[int, int],
    reference: Part,
    part: Part,
) -> Iterator[Difference]:
    if before.mean is None or now.mean is None:
        return
    if before.constant is not None and before.constant == now.constant:
        return
    width = deviation(before) or deviation(now)
    if not width:
        if before.mean == now.mean:
            return
        width = abs(before.mean - now.mean)
    gap = (now.mean - before.mean) / width
    # Values of one record are alike: a record counts once, however many it has.
    of, among = min(counts[0], before.finite), min(counts[1], now.finite)
    other = (deviation(now) / width) ** 2
    error = math.sqrt(1 / of + max(other, 1e-12) / among)
    threshold = max(_MEAN, _NOISE * error)
    yield Difference(
        name,
        "mean",
        part.name,
        f"{number(now.mean)} on average in {part.name}, {number(before.mean)} in "
        f"{reference.name}.",
        f"{_signed(gap)} SD",
        f"{number(round(threshold, 2))} SD",
        abs(gap) >= threshold and min(of, among) >= FEWEST,
    )


def deviation(found: Numbers) -> float:
    """Return the standard deviation of what is finite, estimated from the bins."""
    if not found.finite or found.mean is None:
        return 0.0
    if found.distinct is not None:
        pairs = [
            (value, n) for value, n in found.distinct.items() if math.isfinite(value)
        ]
    else:
        pairs = [
            ((low + high) / 2, count) for low, high, count in found.histogram.bins()
        ]
    try:
        squares = sum(count * (value - found.mean) ** 2 for value, count in pairs)
        return math.sqrt(squares / found.finite)
    except OverflowError:
        return 0.0


def _ranges(
    name: str,
    before: Numbers,
    now: Numbers,
    counts: tuple[int, int],
    reference: Part,
    part: Part,
) -> Iterator[Difference]:
    if None in (before.minimum, before.maximum, now.minimum, now.maximum):
        return
    low, high = float(before.minimum or 0), float(before.maximum or 0)
    least, greatest = float(now.minimum or 0), float(now.maximum or 0)
    beyond = max(low - least, greatest - high)
    if beyond <= 0:
        return
    width = high - low
    excess = beyond / width if width else math.inf
    yield Difference(
        name,
        "range",
        part.name,
        f"{number(least)} to {number(greatest)} in {part.name}, {number(low)} to "
        f"{number(high)} in {reference.name}.",
        percent(excess) if width else "one value before",
        percent(_RANGE),
        excess >= _RANGE and min(counts) >= FEWEST,
    )


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else '−'}{number(round(abs(value), 2))}"
