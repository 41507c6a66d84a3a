"""A target against the features that are associated most with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...display.blocks import Table
from ..formatting import one_line, plural, share
from ..profile.associations import (
    INFORMATION,
    Association,
    Associations,
    Variable,
    leakage_text,
)
from ..profile.columns import SplitProfile
from ..statistics.numbers import NumericStatistics, numbers
from ..statistics.style import measure_texts
from .charts import SERIES, Bar, Figure, Plot, distribution_plot, scatter, stacks
from .densities import distribution_of

_MOST_TARGETS = 4
_MOST_POINTS = 500
_MOST_BARS = 8
_MOST_ROWS = 100
_MOST_COLUMNS = 24
_PARTS = 5
_LARGEST_WHOLE = 2**53

_MEASURES = ("5 %", "median", "95 %", "mean")
_TITLES = ("Records", *map(str.capitalize, _MEASURES))

Rows = NDArray[np.bool_]
Values = NDArray[np.float64]
Key = list[tuple[str, str]]
Captioned = tuple[str, Table]
Drawn = tuple[Key, Plot, Captioned]


def association_figures(
    targets: Sequence[Associations], split: SplitProfile
) -> list[Figure]:
    """Draw each target against its features, after a table of all their associations.

    Args:
        targets: with at least one feature each.
        split: of which the sample is.
    """
    return [
        figure
        for of_target in targets[:_MOST_TARGETS]
        for figure in (
            _overview(of_target, split),
            *(_figure(of_target.target, each) for each in of_target.shown),
        )
    ]


def _overview(of_target: Associations, split: SplitProfile) -> Figure:
    target = of_target.target.name
    rows = [
        (each.feature.name, _strength(each), f"{each.bins}", f"{each.records:,}")
        for each in of_target.shown
    ]
    return Figure(
        title=target,
        kind=f"from {plural(of_target.records, 'record')} of {split.label}",
        tables={
            f"The features that tell the most about {target}": Table(
                ("Feature", INFORMATION.capitalize(), "Bins", "Records"),
                rows,
                (1, 2, 3),
            )
        },
        folded=False,
        wide=True,
    )


def _strength(found: Association) -> str:
    return f"{found.strength:.2f}"


def _figure(target: Variable, found: Association) -> Figure:
    feature, notes = found.feature, []
    if found.marked:
        notes.append(
            f"{feature.name}: {leakage_text(target, found)}. Is it known when the model is "
            "used?"
        )
    key, plot, table = _drawn(target, feature)
    return Figure(
        title=feature.name,
        kind=f"{target.name}: {INFORMATION} {_strength(found)}",
        plots=[(plot.label, plot)],
        notes=notes,
        tables=dict([table]),
        key=key,
    )


def _drawn(target: Variable, feature: Variable) -> Drawn:
    if feature.numbers is None:
        if target.numbers is None:
            return _shares(target, feature)
        return _by_class(feature, target, target.numbers)
    if target.numbers is None:
        return _by_class(target, feature, feature.numbers)
    both = np.flatnonzero(~np.isnan(target.numbers + feature.numbers))
    across, up = feature.numbers[both], target.numbers[both]
    return [], _points(target, feature, across, up), _parts(target, feature, across, up)


def _frequent(classes: Variable, rows: Rows) -> list[tuple[str, Rows]]:
    """Return the classes of some records, the most frequent first, and their records."""
    counts = np.bincount(classes.ids[rows], minlength=len(classes.names))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    return [(classes.names[at], rows & (classes.ids == at)) for at in order.tolist()]


def _shares(target: Variable, feature: Variable) -> Drawn:
    """Draw the share of each class of the target among records of one class."""
    rows = (target.ids >= 0) & (feature.ids >= 0)
    columns = _frequent(target, rows)[:_MOST_COLUMNS]
    categories = _frequent(feature, rows)
    bars, cells = [], []
    for at, (category, own) in enumerate(categories[:_MOST_ROWS]):
        total = int(own.sum())
        row = [category, f"{total:,}"]
        for series, (name, of_class) in enumerate(columns):
            count = int((own & of_class).sum())
            row.append(share(count, total))
            if series < SERIES and at < _MOST_BARS:
                hint = f"{category}: {share(count, total)} {name}"
                bars.append(Bar(category, series, count / total, hint))
        cells.append(row)
    what = f"Share of each {target.name} by {feature.name}"
    titles = ["Value", "Records", *(name for name, _ in columns)]
    table = what, Table(titles, cells, range(1, len(titles)))
    return _key("swatch", columns), stacks(bars, what), table


def _by_class(classes: Variable, values: Variable, numbers: Values) -> Drawn:
    """Draw the numbers of each class over each other."""
    rows = (classes.ids >= 0) & ~np.isnan(numbers)
    groups = _frequent(classes, rows)
    every = _measured([numbers[own] for _, own in groups])
    what = f"{values.name} by {classes.name}"
    plot = distribution_plot(
        distribution_of(every[:SERIES], few=values.style.time is None),
        range(len(every[:SERIES])),
        what,
        whole=not every[0].floats,
        time=values.style.time,
    )
    cells = [
        (name, *_spread(found, values))
        for (name, _), found in zip(groups[:_MOST_ROWS], every, strict=False)
    ]
    titles = (classes.name, *_TITLES)
    table = what, Table(titles, cells, range(1, len(titles)))
    return _key("line", groups), plot, table


def _key(mark: str, classes: Sequence[tuple[str, Rows]]) -> Key:
    some = enumerate(classes[:SERIES])
    return [(f"{mark} s{at}", one_line(name, 40)) for at, (name, _) in some]


def _points(target: Variable, feature: Variable, across: Values, up: Values) -> Plot:
    """Draw some records as points."""
    across, up = across[:_MOST_POINTS], up[:_MOST_POINTS]
    return scatter(
        list(zip(across.tolist(), up.tolist(), strict=True)),
        f"{target.name} by {feature.name}, {plural(len(up), 'record')}",
        whole=(_whole(across), _whole(up)),
        time=feature.style.time,
    )


def _parts(
    target: Variable, feature: Variable, across: Values, up: Values
) -> Captioned:
    """Return what the target is like in parts of the feature's range."""
    parts = np.array_split(np.argsort(across, kind="stable"), _PARTS)
    edges = _measured([across[part] for part in parts])
    found = _measured([up[part] for part in parts])
    cells = [
        (
            f"{_measure(edge, 'minimum', feature)} to "
            f"{_measure(edge, 'maximum', feature)}",
            *_spread(numbers, target),
        )
        for edge, numbers in zip(edges, found, strict=True)
    ]
    titles = (feature.name, *_TITLES)
    what = f"{target.name} in fifths of the records by {feature.name}"
    return what, Table(titles, cells, range(1, len(titles)))


def _whole(values: Values) -> bool:
    return bool(((values == np.rint(values)) & (abs(values) < _LARGEST_WHOLE)).all())


def _measured(every: Sequence[Values]) -> list[NumericStatistics]:
    """Measure numbers, as integers if all of them are whole."""
    dtype = np.int64 if all(map(_whole, every)) else np.float64
    return [numbers(values.astype(dtype)) for values in every]


def _spread(found: NumericStatistics, variable: Variable) -> Iterator[str]:
    yield f"{found.count:,}"
    yield from (_measure(found, name, variable) for name in _MEASURES)


def _measure(found: NumericStatistics, name: str, variable: Variable) -> str:
    return measure_texts(found, variable.style).get(name, "-")
