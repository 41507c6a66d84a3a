"""Where splits differ, measured so that chance alone is not taken for a difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..formatting import listed, number, percent, plural, share
from ..statistics.numbers import Numbers
from .classes import ClassCounts
from .columns import Part, Subject, holders
from .significance import (
    ERRORS,
    EXPECTED,
    FEWEST,
    beyond,
    deviation,
    differ,
    exceedances,
    total_variation,
)
from .view import Difference

_DISTANCE = 0.1
_MISSING = 0.02
_MEAN = 0.2
_LONGEST = 8
_CHANCE_WORDS = "chance may explain it"


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
            f"{math.ceil(EXPECTED)} records expected",
            expected >= EXPECTED,
        )
        return
    pooled = (of - has + among - here) / (of + among)
    error = math.sqrt(pooled * (1 - pooled) * (1 / of + 1 / among))
    threshold = max(_MISSING, ERRORS * error)
    gap = now - before
    yield Difference(
        subject.name,
        "missing",
        part.name,
        f"Missing in {percent(now)} of {part.name}, in {percent(before)} of "
        f"{reference.name}.",
        f"{_signed(100 * gap, 1)} points",
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
    distance = total_variation(before, now)
    far, sure = distance >= _DISTANCE, differ(before, now)
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
        _CHANCE_WORDS if far and not sure else percent(_DISTANCE),
        far and sure and min(of, among) >= FEWEST,
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
            "1 value",
            True,
        )
    enough = EXPECTED + math.log(len(before))
    lost = sorted(
        each
        for each in before
        if not now.get(each) and before[each] / of * among >= enough
    )
    if lost:
        yield Difference(
            name,
            "classes in one split only",
            part.name,
            f"No example of {listed(lost, _LONGEST)}, which {reference.name} has.",
            plural(len(lost), "class", "classes"),
            f"{math.ceil(enough)} values expected",
            True,
        )


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
    threshold = max(_MEAN, ERRORS * error)
    yield Difference(
        name,
        "mean",
        part.name,
        f"{number(now.mean)} on average in {part.name}, {number(before.mean)} in "
        f"{reference.name}.",
        f"{_signed(gap, 2)} SD",
        f"{number(round(threshold, 2))} SD",
        abs(gap) >= threshold and min(of, among) >= FEWEST,
    )


def _ranges(
    name: str,
    before: Numbers,
    now: Numbers,
    counts: tuple[int, int],
    reference: Part,
    part: Part,
) -> Iterator[Difference]:
    if before.minimum is None or before.maximum is None:
        return
    if now.minimum is None or now.maximum is None:
        return
    if before.minimum <= now.minimum and now.maximum <= before.maximum:
        return
    below, above = beyond(now, before.minimum, before.maximum)
    of, among = min(counts[0], before.finite), min(counts[1], now.finite)
    # Values of one record are alike: so many records may lie behind them.
    records = [math.floor(each * among / now.finite) for each in (below, above)]
    least = exceedances(of, among)
    yield Difference(
        name,
        "range",
        part.name,
        f"{number(now.minimum)} to {number(now.maximum)} in {part.name}, "
        f"{number(before.minimum)} to {number(before.maximum)} in {reference.name}.",
        f"{max(below, above):,} of {now.finite:,}",
        plural(least, "value"),
        max(records) >= least and min(of, among) >= FEWEST,
    )


def _signed(value: float, digits: int) -> str:
    return f"{'+' if value >= 0 else '−'}{abs(value):.{digits}f}"
