"""What the values under a key are like: histograms, and numbers that sum them up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..formatting import decoded, listed, number, one_line, plural, share, size
from ..statistics.histograms import merged_histogram, width_exponent
from ..statistics.model import KindStatistics
from ..statistics.numbers import Numbers, quantile
from .columns import Part, Subject
from .drawing import Bar, Line, bars, histogram
from .view import Column, Figure, Plot, Table

MOST_FIGURES = 24

_BINS = 32
_MOST_TEXTS = 8

# The most frequent texts are worth a plot if they are so large a part of all.
_WORTH = 0.25
_STATISTICS = (
    ("Least", 0.0),
    ("5 %", 0.05),
    ("Median", 0.5),
    ("95 %", 0.95),
    ("Greatest", 1.0),
)

Taken = Callable[[KindStatistics], Numbers | None]


def key_figure(subject: Subject, parts: Sequence[Part]) -> Figure | None:
    """Draw what is known of a key; None if there is nothing to draw or to say."""
    plots: list[tuple[str, Plot]] = []
    tables: list[tuple[str, Taken]] = []
    facts: list[tuple[str, str]] = []
    for what, taken in _measures(subject):
        by_part = _numbers(subject, parts, taken)
        constant = _constant(list(by_part.values()))
        if constant is not None:
            facts += _always(subject, what, constant)
            continue
        plot = numbers_plot(subject, what, parts, by_part)
        if plot is not None:
            plots.append((what.capitalize(), plot))
            tables.append((what, taken))
    texts = _texts(subject, parts)
    if texts is not None:
        plots.append(("Most frequent", texts))
    facts += _facts(subject, parts)
    if not plots and not facts:
        return None
    return Figure(
        title=subject.name,
        kind=subject.words,
        plots=tuple(plots),
        facts=tuple(facts),
        notes=(),
        table=_table(subject, parts, tables) if tables else None,
    )


def _always(
    subject: Subject, what: str, constant: int | float
) -> list[tuple[str, str]]:
    """Say what all have in common, where it is worth it."""
    value = number(constant)
    if what.startswith("values in"):
        single = constant == 1 and subject.field is not None
        return [] if single else [(what.replace(" a ", " each "), value)]
    if what == "sizes in bytes":
        return [("each", size(constant))]
    if what.endswith("in pixels"):
        return [("every " + what.split("s in")[0], f"{value} pixels")]
    return [("always", value)]


def _measures(subject: Subject) -> list[tuple[str, Taken]]:
    per = "values in a step" if subject.steps else "values in a record"
    found: list[tuple[str, Taken]] = [(per, lambda kind: kind.lengths)]
    if subject.wire_kind == "bytes":
        found += [
            ("sizes in bytes", lambda kind: kind.bytes.sizes if kind.bytes else None),
            (
                "heights in pixels",
                lambda kind: kind.bytes.heights if kind.bytes else None,
            ),
            (
                "widths in pixels",
                lambda kind: kind.bytes.widths if kind.bytes else None,
            ),
        ]
    else:
        found.insert(0, ("values", lambda kind: kind.numbers))
    return found


def _numbers(
    subject: Subject, parts: Sequence[Part], taken: Taken
) -> dict[str, Numbers]:
    found = {}
    for part in parts:
        kind = subject.kind_in(part)
        numbers = taken(kind) if kind is not None else None
        if numbers is not None and numbers.finite:
            found[part.split] = numbers
    return found


def _constant(found: Sequence[Numbers]) -> int | float | None:
    values = {numbers.constant for numbers in found}
    return values.pop() if len(values) == 1 else None


def numbers_plot(
    subject: Subject, what: str, parts: Sequence[Part], found: Mapping[str, Numbers]
) -> Plot | None:
    """Draw some numbers of the splits over each other."""
    shown = [part for part in parts if part.drawn and part.split in found]
    if not shown:
        return None
    every = [found[part.split] for part in shown]
    bins, logarithmic = _bins(every)
    lines = [
        Line(
            part.name,
            part.series,
            tuple(
                (low, high, count / max(1, numbers.count)) for low, high, count in some
            ),
        )
        for part, numbers, some in zip(shown, every, bins, strict=True)
    ]
    if not any(line.bins for line in lines):
        return None
    names = listed([part.name for part in shown])
    label = f"Histogram of {what} of {subject.name}, in {names}"
    whole = not every[0].floats
    return histogram(lines, label, logarithmic=logarithmic, whole=whole)


Bins = list[tuple[float, float, float]]


def _bins(every: Sequence[Numbers]) -> tuple[list[Bins], bool]:
    """Return the bins of each, the same for all, and whether they are of magnitudes."""
    low = min(each.minimum for each in every if each.minimum is not None)
    high = max(each.maximum for each in every if each.maximum is not None)
    exponent = max(
        width_exponent(low, high), *(each.histogram.exponent for each in every)
    )
    while True:
        merged = [merged_histogram([each.histogram], exponent) for each in every]
        filled = [index for each in merged for index in each.counts]
        if max(filled) - min(filled) < _BINS:
            break
        exponent += 1
    crowded = any(
        max(one.counts.values()) > 0.9 * each.finite
        for one, each in zip(merged, every, strict=True)
    )
    # A logarithmic scale has no place for zero.
    if crowded and low > 0 and high > 100 * low:
        magnitudes = [each.magnitudes.bins() for each in every]
        if all(magnitudes):
            return [
                [(one.low, one.high, one.values) for one in each] for each in magnitudes
            ], True
    # Whole numbers of a bin each stand in the middle of it.
    middle = 0.5 if exponent == 0 and not every[0].floats else 0.0
    return [
        [(one.low - middle, one.high - middle, one.values) for one in each.bins()]
        for each in merged
    ], False


def _texts(subject: Subject, parts: Sequence[Part]) -> Plot | None:
    """Draw the most frequent texts, where some come again."""
    counts: dict[bytes, int] = {}
    shown = [part for part in parts if part.drawn]
    by_part: dict[str, Mapping[bytes, int]] = {}
    for part in shown:
        kind = subject.kind_in(part)
        if kind is None or kind.bytes is None:
            continue
        if kind.bytes.distinct is None:
            return None
        by_part[part.split] = kind.bytes.distinct
        for value, count in kind.bytes.distinct.items():
            counts[value] = counts.get(value, 0) + count
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TEXTS]
    some = sum(count for _, count in top)
    if not top or top[0][1] < 2 or some < _WORTH * sum(counts.values()):
        return None
    if any(decoded(value) is None for value, _ in top):
        return None
    drawn, names = [], set()
    for value, _ in top:
        name = one_line(decoded(value) or "", 40) or "empty"
        while name in names:
            name += " "
        names.add(name)
        for part in shown:
            if part.split in by_part:
                whole = sum(by_part[part.split].values())
                count = by_part[part.split].get(value, 0)
                hint = f"{name}: {count:,} in {part.name}, {share(count, whole)}"
                drawn.append(Bar(name, part.series, count / max(1, whole), hint))
    label = f"Most frequent values of {subject.name}"
    return bars(drawn, len(by_part), label)


def _facts(subject: Subject, parts: Sequence[Part]) -> list[tuple[str, str]]:
    facts = []
    kinds = [kind for part in parts if (kind := subject.kind_in(part)) is not None]
    if len(subject.kinds) > 1:
        facts.append(("stored as", listed(subject.kinds)))
    numbers = [kind.numbers for kind in kinds if kind.numbers is not None]
    count = sum(each.count for each in numbers)
    for what, some in (
        ("zeros", sum(each.zeros for each in numbers)),
        ("NaN", sum(each.nan for each in numbers)),
        ("infinite", sum(sum(each.infinite) for each in numbers)),
    ):
        if some and not (what == "zeros" and some < count / 10):
            facts.append((what, share(some, count)))
    held = [kind.bytes for kind in kinds if kind.bytes is not None]
    formats: dict[str, int] = {}
    for each in held:
        for name, some in each.formats.items():
            formats[name] = formats.get(name, 0) + some
    total = sum(formats.values())
    if formats:
        ordered = sorted(formats, key=lambda name: -formats[name])
        words = [
            name if len(ordered) == 1 else f"{name} {share(formats[name], total)}"
            for name in ordered
        ]
        facts.append(("contents", listed(words)))
    values = [each.distinct for each in held]
    if values and all(each is not None for each in values):
        different = len({value for each in values if each for value in each})
        if different > 1:
            facts.append(("different", f"{different:,}"))
    return facts


def _table(
    subject: Subject, parts: Sequence[Part], tables: Sequence[tuple[str, Taken]]
) -> Table:
    rows = []
    for what, taken in tables:
        for part in parts:
            kind = subject.kind_in(part)
            numbers = taken(kind) if kind is not None else None
            if numbers is None or not numbers.finite:
                continue
            name = what if len(parts) == 1 else f"{what}, {part.name}"
            spread = [_quantile(numbers, at) for _, at in _STATISTICS]
            mean = number(float(numbers.mean)) if numbers.mean is not None else "–"
            rows.append((name, f"{numbers.count:,}", *spread, mean))
    titles = [title for title, _ in _STATISTICS]
    columns = [Column("What")] + [
        Column(title, True) for title in ("Values", *titles, "Mean")
    ]
    return Table(
        f"What the values of {subject.name} are like; percentiles between the least "
        "and the greatest are estimates where values are many",
        tuple(columns),
        tuple(rows),
    )


def _quantile(numbers: Numbers, at: float) -> str:
    value = {0.0: numbers.minimum, 1.0: numbers.maximum}.get(at)
    if value is None:
        value = quantile(numbers, at)
    if value is None:
        return "–"
    return number(value if numbers.floats else int(value))


def key_table(subjects: Sequence[Subject], parts: Sequence[Part], most: int) -> Table:
    """Return a line for each key."""
    rows = []
    read = sum(part.found.read for part in parts)
    for subject in subjects[:most]:
        kinds = [kind for part in parts if (kind := subject.kind_in(part)) is not None]
        there = sum(kind.present for kind in kinds)
        rows.append(
            (
                subject.name,
                one_line(subject.key, 80) if subject.name != subject.key else "",
                subject.words,
                plural(there, "step") if subject.steps else share(there, read),
                _range([kind.lengths for kind in kinds]),
                _contents(kinds),
            )
        )
    return Table(
        "Every key: what it is, who has it, how many values, and which",
        (
            Column("Name"),
            Column("Key"),
            Column("What"),
            Column("Present", True),
            Column("Length", True),
            Column("Values"),
        ),
        tuple(rows),
        max(0, len(subjects) - most),
    )


def _range(found: Sequence[Numbers]) -> str:
    lows = [each.minimum for each in found if each.minimum is not None]
    highs = [each.maximum for each in found if each.maximum is not None]
    if not lows:
        return "–"
    low, high = min(lows), max(highs)
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def _contents(kinds: Sequence[KindStatistics]) -> str:
    numbers = [kind.numbers for kind in kinds if kind.numbers is not None]
    if numbers:
        return _range(numbers)
    held = [kind.bytes for kind in kinds if kind.bytes is not None]
    formats = listed(
        list(dict.fromkeys(name for each in held for name in each.formats))
    )
    sizes = [each.sizes.mean for each in held if each.sizes.mean is not None]
    if not sizes:
        return "none"
    whole = sum(each.sizes.count for each in held)
    mean = sum((each.sizes.mean or 0) * each.sizes.count for each in held) / whole
    return f"{formats}, {size(mean)} each on average"
