"""Which keys are missing, in which share of each split."""

from __future__ import annotations

from collections.abc import Sequence

from ..formatting import percent, plural, share
from .columns import Part, Subject, holders
from .drawing import Bar, bars
from .view import Column, Figure, Table

_MOST_MISSING = 24
_MOST_ROWS = 1_000


def missing_figure(subjects: Sequence[Subject], parts: Sequence[Part]) -> Figure:
    """Draw which share of the records of each split lacks which key."""
    lacking = []
    for subject in subjects:
        shares = {
            part.split: 1 - holders(subject, part) / part.found.read
            for part in parts
            if part.found.read
        }
        if any(shares.values()):
            lacking.append((max(shares.values()), subject, shares))
    lacking.sort(key=lambda each: -each[0])
    every = len(subjects) - len(lacking)
    notes = []
    if not lacking:
        notes.append(
            f"Nothing is missing: {'the one key is' if every == 1 else f'all {every:,} keys are'} in every record."
        )
    elif every:
        notes.append(
            f"{plural(every, 'other key is', 'other keys are')} in every record."
        )
    drawn, names = [], set()
    shown = [part for part in parts if part.drawn and part.found.read]
    for _, subject, shares in lacking[:_MOST_MISSING]:
        name = subject.name
        while name in names:
            name += " "
        names.add(name)
        for part in shown:
            value = shares[part.split]
            hint = f"{name}: missing in {percent(value)} of {part.name}"
            drawn.append(Bar(name, part.series, value, hint))
    label = "Share of the records in which a key is missing"
    columns = [Column("Name"), Column("Schema")]
    for part in parts:
        prefix = f"{part.name}: " if len(parts) > 1 else ""
        columns += [Column(f"{prefix}missing", True), Column(f"{prefix}empty", True)]
    rows = []
    for _, subject, shares in lacking[:_MOST_ROWS]:
        cells = [subject.name, "optional" if subject.optional else ""]
        if subject.field is not None and not subject.optional:
            cells[1] = "required"
        for part in parts:
            kind = None if subject.steps else subject.kind_in(part)
            missing = shares.get(part.split)
            cells.append("–" if missing is None else percent(missing))
            empty = kind.lengths.zeros if kind is not None else 0
            cells.append(share(empty, part.found.read) if part.found.read else "–")
        rows.append(tuple(cells))
    if len(lacking) > _MOST_MISSING:
        notes.append(
            f"{len(lacking) - _MOST_MISSING:,} keys that are missing less often are "
            "in the table only."
        )
    return Figure(
        title="",
        kind="",
        plots=((label, bars(drawn, len(shown), label)),) if drawn else (),
        facts=(),
        notes=tuple(notes),
        table=Table(
            "Keys that are missing in some record, and lists that are there but empty",
            tuple(columns),
            tuple(rows),
            max(0, len(lacking) - _MOST_ROWS),
        )
        if lacking
        else None,
        wide=len(lacking) > 12,
    )
