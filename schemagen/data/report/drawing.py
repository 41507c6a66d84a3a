"""Vega-Lite specs of the page's plots, rendered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import svg
from .palette import DASHES
from .view import Plot

_WIDTH = 290
_HEIGHT = 112


@dataclass(frozen=True)
class Line:
    """A histogram of one split.

    Attributes:
        name: the split.
        series: its colour and line.
        bins: (low, high, share of all) of the bins that hold something, in order.
    """

    name: str
    series: int
    bins: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Bar:
    """A share, or an amount, of one thing in one split; `hint` says it in words."""

    thing: str
    series: int
    value: float
    hint: str


def histogram(
    lines: Sequence[Line], label: str, *, logarithmic: bool = False, whole: bool = False
) -> Plot:
    """Draw histograms over each other: the first one filled, the others as lines."""
    scale: dict[str, Any] = {"zero": False, "nice": False}
    if logarithmic:
        scale = {"type": "log", "nice": False}
    greatest = max(
        abs(edge) for line in lines for bin_ in line.bins for edge in bin_[:2]
    )
    form = "~s" if greatest >= 1e4 or 0 < greatest < 1e-2 else ",f"
    axis: dict[str, Any] = {
        "grid": False,
        "title": None,
        "tickCount": 5,
        "format": form,
        "labelFlush": True,
        "labelOverlap": True,
    }
    if whole:
        axis["tickMinStep"] = 1
    y = {
        "field": "y",
        "type": "quantitative",
        "axis": {"title": None, "tickCount": 3, "format": "~%", "domain": False},
    }
    x = {"field": "x", "type": "quantitative", "axis": axis, "scale": scale}
    layers = [_step(line, x, y, index) for index, line in enumerate(lines)]
    return Plot(label, svg.render(_sized(_WIDTH, _HEIGHT) | {"layer": layers}))


def _step(line: Line, x: Any, y: Any, index: int) -> dict[str, Any]:
    points: list[dict[str, float]] = []
    end: float | None = None
    for low, high, share in line.bins:
        if end is None or low > end:
            points += [{"x": low if end is None else end, "y": 0.0}]
        points.append({"x": low, "y": share})
        end = high
    points.append({"x": end or 0.0, "y": 0.0})
    color = f"var(--s{line.series})"
    dash = {"strokeDash": list(DASHES[line.series])} if DASHES[line.series] else {}
    stroke = {"stroke": color, "strokeWidth": 1.6, **dash}
    mark: dict[str, Any] = {"interpolate": "step-after", "clip": True, "aria": False}
    mark |= (
        {"type": "area", "fill": color, "fillOpacity": 0.25, "line": stroke}
        if index == 0
        else {"type": "line", **stroke}
    )
    return {"data": {"values": points}, "mark": mark, "encoding": {"x": x, "y": y}}


def bars(bars: Sequence[Bar], series: int, label: str, *, shares: bool = True) -> Plot:
    """Draw things below each other, with a bar for each split."""
    values = [
        {"thing": each.thing, "s": each.series, "v": each.value, "hint": each.hint}
        for each in bars
    ]
    thick = 13 if series == 1 else 7
    step = thick * series + (7 if series == 1 else 10)
    things = list(dict.fromkeys(each.thing for each in bars))
    y = {
        "field": "thing",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "ticks": False, "domain": False, "labelPadding": 8},
        "scale": {"paddingInner": 1 - thick * series / step, "paddingOuter": 0.15},
    }
    split = {
        "field": "s",
        "type": "nominal",
        "sort": "ascending",
        "scale": {"paddingInner": 0.1, "paddingOuter": 0},
    }
    x = {
        "field": "v",
        "type": "quantitative",
        "axis": {
            "title": None,
            "tickCount": 5,
            "format": "~%" if shares else "~s",
            "domain": False,
        },
    }
    encoding: dict[str, Any] = {
        "y": y,
        "x": x,
        "color": _colors(sorted({each.series for each in bars})),
        "description": {"field": "hint"},
    }
    if series > 1:
        encoding["yOffset"] = split
    spec = {
        "data": {"values": values},
        "mark": {"type": "bar", "cornerRadiusEnd": 1},
        "encoding": encoding,
        "width": _WIDTH,
        "height": step * len(things),
        "autosize": {"type": "fit-x", "contains": "padding"},
    }
    return Plot(label, svg.render(spec))


def columns(bars: Sequence[Bar], label: str) -> Plot:
    """Draw amounts next to each other, in their order."""
    values = [
        {"i": index, "s": each.series, "v": each.value, "hint": each.hint}
        for index, each in enumerate(bars)
    ]
    hidden = {"labels": False, "ticks": False, "title": None, "grid": False}
    amount = {"title": None, "tickCount": 3, "format": "~s", "domain": False}
    spec = {
        "data": {"values": values},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "i",
                "type": "ordinal",
                "axis": hidden,
                "scale": {
                    "paddingInner": 0.15 if len(bars) < 100 else 0,
                    "paddingOuter": max(0.1, (8 - len(bars)) / 2),
                },
            },
            "y": {"field": "v", "type": "quantitative", "axis": amount},
            "color": _colors(sorted({each.series for each in bars})),
            "description": {"field": "hint"},
        },
        **_sized(_WIDTH, _HEIGHT),
    }
    return Plot(label, svg.render(spec))


def _colors(series: list[int]) -> dict[str, Any]:
    shades = [f"var(--s{each})" for each in series]
    return {
        "field": "s",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": series, "range": shades},
    }


def _sized(width: int, height: int) -> dict[str, Any]:
    # The axis and its words are inside of the width, whatever their length.
    return {
        "width": width,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
    }
