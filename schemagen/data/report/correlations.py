"""The figure of how numbers go together."""

from __future__ import annotations

from markupsafe import Markup

from ...display.blocks import Table
from ..formatting import listed, plural
from ..profile.columns import SplitProfile
from ..profile.correlations import Correlations
from .charts import Figure

_MATRIX = 20
"""Of more columns the strongest pairs are listed."""

_PAIRS = 40

# Weaker ones are not named.
_NAMED, _LEAST = 3, 0.1


def correlation_figure(found: Correlations, split: SplitProfile) -> Figure:
    """Return a matrix of correlations, or the strongest ones of many."""
    first = [each for each in found.pairs[:_NAMED] if abs(each.strength) >= _LEAST]
    named = [f"{e.one.name} and {e.other.name} ({_text(e.strength)})" for e in first]
    caption = (
        f"Spearman's correlation, in {plural(found.records, 'record')} of {split.label}"
    )
    return Figure(
        notes=[f"The strongest: {listed(named)}."] if named else [],
        tables={caption: _table(found)},
        folded=False,
        wide=True,
    )


def _table(found: Correlations) -> Table:
    if len(found.columns) > _MATRIX:
        pairs = [
            (each.one.name, each.other.name, _text(each.strength), f"{each.records:,}")
            for each in found.pairs[:_PAIRS]
        ]
        return Table(("Name", "Other name", "Correlation", "Records"), pairs, (2, 3))
    strengths = {}
    for each in found.pairs:
        strengths[id(each.one), id(each.other)] = each.strength
        strengths[id(each.other), id(each.one)] = each.strength
    names = [each.name for each in found.columns]
    cells = [
        [_cell(strengths.get((id(one), id(other)))) for other in found.columns]
        for one in found.columns
    ]
    rows = [(name, *row) for name, row in zip(names, cells, strict=True)]
    return Table(("Name", *names), rows, range(1, len(names) + 1))


def _cell(strength: float | None) -> str:
    """Return a correlation with a background that shows its sign and its strength."""
    if strength is None:
        return ""
    sign, level = "neg" if strength < 0 else "pos", round(abs(strength) * 5)
    text = '<span class="heat {} h{}">{}</span>'
    return Markup(text).format(sign, level, _text(strength))


def _text(strength: float) -> str:
    return f"{round(strength, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")
