"""The table of all fields: one row for each field and split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from ..formatting import share
from ..profile.columns import SIZES, SplitProfile
from ..profile.profile import Profile
from ..statistics.numbers import DISTINCT
from .charts import SERIES, series, sparkline
from .columns import Described, text_of
from .densities import Distribution

MOST_ROWS = 6_000
"""So many rows are on the page."""

_MOST_BARS = 48

_MEASURES = {
    "mean": "Mean",
    "standard deviation": "Deviation",
    "minimum": "Minimum",
    "median": "Median",
    "maximum": "Maximum",
}


_Place = tuple[str, bool, str]  # the key, whether it has steps, and the split


class Cell(NamedTuple):
    """A text, the number that it is sorted by, and whether it is marked."""

    text: str
    value: float | None = None
    marked: bool = False


class FieldRows(NamedTuple):
    """A field: its name and kind, and a row of cells for each split."""

    name: str
    kind: str
    rows: Sequence[tuple[SplitProfile, Sequence[Cell]]]


class Overview(NamedTuple):
    """The fields, the titles of their cells, and how many fields are left out."""

    titles: Sequence[str]
    groups: Sequence[FieldRows]
    left_out: int


def overview_of(profile: Profile, fields: Sequence[Described]) -> Overview:
    """Return the table of all fields, with what differs from the first split."""
    drifts = _drifts(profile)
    last = ["Drift"] if drifts else []
    titles = [
        "Missing",
        "Zeros",
        "Distinct",
        *_MEASURES.values(),
        "Distribution",
        *last,
    ]
    most = max(1, MOST_ROWS // max(1, len(profile.splits)))
    groups = [_group(each, drifts) for each in fields[:most]]
    return Overview(titles, groups, len(fields[most:]))


def _drifts(profile: Profile) -> Mapping[_Place, Cell]:
    """Return the largest difference of each column in each split that is compared."""
    found: dict[_Place, Cell] = {}
    for each in profile.differences:  # marked first, then by distance
        place = each.column.key, each.column.steps, each.splits[1].name
        if place not in found:
            text = f"{'drift: ' if each.marked else ''}{each.distance:.2f}"
            found[place] = Cell(text, each.distance, each.marked)
    return found


def _group(field: Described, drifts: Mapping[_Place, Cell]) -> FieldRows:
    column, rows, pictures = field.column, [], _pictures(field)
    for split in field.splits:
        cells = [*_cells(field, split), Cell(pictures.get(split.name, ""))]
        if drifts:
            cells.append(drifts.get((column.key, column.steps, split.name), Cell("")))
        rows.append((split, cells))
    kinds = [column.type] if len(column.kinds) < 2 else []
    kinds += [SIZES.title] if _of_sizes(field) else []
    return FieldRows(column.name, ", ".join(kinds), rows)


def _of_sizes(field: Described) -> bool:
    """Return whether its cells are about the sizes of bytes, and not about values."""
    return field.main == SIZES and not field.classes


def _cells(field: Described, split: SplitProfile) -> Iterator[Cell]:
    """Yield what is known of a field in a split."""
    missing, read = field.column.missing_in(split), split.found.read
    yield Cell(share(missing, read), missing / read if read else None)
    quantity = field.main
    measures = field.facts.get(quantity.name, {}) if quantity else {}
    found = {name: by.get(split.name) for name, by in measures.items()}
    zeros = found.get("zeros") if quantity and quantity.of_values else None
    numbers = field.numbers[quantity].get(split.name) if quantity else None
    if zeros and numbers and not field.classes:
        yield Cell(share(zeros.count, numbers.finite), zeros.count / numbers.finite)
    else:
        yield Cell("")
    yield _distinct(field, split)
    time = field.column.time_of(quantity) if quantity else None
    for name in _MEASURES:
        fact = None if field.classes else found.get(name)
        value = fact.value if fact and isinstance(fact.value, (int, float)) else None
        text = text_of(fact) if fact else ""
        is_date = time and not time.duration and name != "standard deviation"
        yield Cell(text.split(" ")[0] if is_date else text, value)


def _distinct(field: Described, split: SplitProfile) -> Cell:
    kind = field.column.kind_in(split)
    held = kind and (kind.numbers or kind.contents)
    if not held or not held.count or _of_sizes(field):
        return Cell("")
    if held.distinct is None:
        return Cell(f"> {DISTINCT:,}", DISTINCT + 1)
    return Cell(f"{len(held.distinct):,}", len(held.distinct))


def _pictures(field: Described) -> dict[str, Markup]:
    """Return a sparkline for each split."""
    if field.classes is not None:
        splits = [each for each in field.splits if series(each) < SERIES]
        counts = [field.classes.counts.get(each.name, {}) for each in splits]
        names = field.classes.classes[:_MOST_BARS]
        shares = [
            [own.get(name, 0) / (sum(own.values()) or 1) for name in names]
            for own in counts
        ]
        found = Distribution(values=range(len(names)), shares=shares)
    elif field.main is not None:
        splits, found = field.shown(field.main), field.distribution(field.main)
    else:
        return {}
    if not found.drawn or len(found.values) == 1:
        return {}
    return {
        split.name: sparkline(found, at, series(split))
        for at, split in enumerate(splits)
    }
