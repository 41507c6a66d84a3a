"""Differences between splits, and records that are repeated, as tables of the page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..formatting import listed, plural
from ..profile.columns import Column
from ..profile.comparison import DRIFT, FEWEST, FEWEST_OF_VALUE, Difference
from ..profile.profile import Profile
from ..profile.repetitions import Repetitions
from ..profile.tables import DIFFERENCES, REPETITIONS, difference_row, repetition_row
from .charts import Figure, Table


def differences_figure(profile: Profile) -> Figure:
    """Compare the first split with each other one."""
    compared = profile.differences
    marked = profile.drifts
    some = (
        plural(len(marked), "marked difference") if marked else "No marked differences"
    )
    verdict = f"{some} in {plural(len(compared), 'comparison')}."
    if not compared:
        verdict = f"No comparison: it requires two splits of at least {FEWEST} records."
    small = [
        f"{split.label} ({plural(split.found.read, 'record')})"
        for split in profile.splits
        if split.found.read < FEWEST
    ]
    counted = {each.column.key for each in profile.classes}
    left_out = listed([*small, "correlations", *_contents(profile.columns, counted)])
    notes = [
        f"{verdict} Not compared: {left_out}.",
        f"Differences are marked from these effects on: Cohen's h of {DRIFT} for shares, "
        f"Cohen's d of {DRIFT} for means, and a ratio of {1 + DRIFT} for standard "
        "deviations.",
    ]
    return Figure(notes=notes, table=_table(marked), folded=False, wide=True)


def _table(marked: Sequence[Difference]) -> Table | None:
    rows = [difference_row(each) for each in marked]
    title = "Marked differences, the largest first"
    return Table(title, DIFFERENCES, rows, (3, 4)) if rows else None


def _contents(columns: Sequence[Column], counted: Collection[str]) -> list[str]:
    """Return the columns of bytes of which only sizes are compared, as one item."""
    names = [
        column.name
        for column in columns
        if (held := column.whole.bytes) is not None
        and column.key not in counted
        and max((held.distinct or {}).values(), default=0) < FEWEST_OF_VALUE
    ]
    return [f"the contents of {listed(names)}"] if names else []


def repetitions_figure(found: Repetitions) -> Figure:
    """List what is there more than once."""
    compared = listed(["records", *(each.name for each in found.compared)], 12)
    if not found.found:
        return Figure(notes=[f"No repetitions. Compared: {compared}."])
    rows = [repetition_row(each) for each in found.found]
    first = [f"{count} {what} {where}" for what, where, count, *_ in rows]
    notes = [f"Repeated: {listed(first, 3)}. Compared: {compared}."]
    table = Table("Repetitions", REPETITIONS, rows, (2,))
    return Figure(notes=notes, table=table, folded=False, wide=True)
