"""Plots and tables of the page. Vega-Lite renders the plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from ...display.blocks import Table
from ...runtime.shared.times import UNITS, Time
from ..formatting import number, share
from ..profile.columns import SplitProfile
from .densities import DensityBin, Distribution

SERIES = 6
"""The number of splits that have a color."""

_DASHES = ((), (), (5, 3), (2, 2), (7, 2, 2, 2), (1, 3))
_SIZED: dict[str, Any] = {
    "width": 290,
    "height": 112,
    "autosize": {"type": "fit", "contains": "padding"},
}
_CONFIG = {
    "axis": {
        "labelColor": "var(--soft)",
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
        "gridColor": "var(--rule)",
        "labelFontSize": 11,
        "labelLimit": 140,
        "tickSize": 4,
        "labelPadding": 4,
        "labelOverlap": True,
        "labelSeparation": 12,
    },
    "view": {"stroke": None},
    "font": "sans-serif",
}

_LARGEST = 1e15
"""The digits of larger numbers do not fit under an axis."""

_LONG = 1e6
"""Powers of ten from here on have a letter on a logarithmic axis."""

_LOW = 1e-3
"""The digits of smaller densities do not fit next to an axis."""

_DAY = 86_400_000  # milliseconds
_FEW_DAYS = 4
"""Times of no more days have an axis of hours."""

_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {"svg", "g", "path", "line", "rect", "circle", "text", "tspan"}
_ATTRIBUTES = {
    *("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "r"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin"),
    *("text-anchor", "font-size", "font-weight", "fill-opacity", "stroke-opacity"),
    *("opacity", "display", "viewBox"),
}


@dataclass(frozen=True)
class Plot:
    """A rendered plot; `label` describes it in a sentence."""

    label: str
    svg: Markup


def series(split: SplitProfile) -> int:
    """Return the index of a split's color and line; SERIES if it has none."""
    return min(split.index, SERIES)


@dataclass(frozen=True)
class Figure:
    """Plots and tables by caption, facts by name, and notes.

    Attributes:
        tone: of the first note in the overview: "good", "bad", or "note" for neither;
            "" if it is not there.
        folded: True if the reader has to open the tables.
        wide: True if it takes the whole width.
        key: names of series that are no splits, by the classes of their marks in the style
            sheet.
    """

    title: str = ""
    kind: str = ""
    plots: Sequence[tuple[str, Plot]] = ()
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    tone: str = ""
    folded: bool = True
    wide: bool = False
    key: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Bar:
    """A value of one category in one split; `hint` is its tooltip."""

    category: str
    series: int
    value: float
    hint: str


def distribution_plot(
    found: Distribution,
    series: Sequence[int],
    label: str,
    *,
    whole: bool = False,
    time: Time | None = None,
) -> Plot:
    """Draw distributions: the first series filled, the others as lines over it.

    Few values have a bar each, and so have zeros that are apart.

    Args:
        found: the distributions.
        series: the index of the color of each.
        label: describes the plot in a sentence.
        whole: whether all numbers are whole.
        time: what they are, if they are times.
    """
    if not found.drawn:
        return Plot(label, Markup())
    if found.values:
        values = [
            Bar(number(value), color, part, f"{number(value)}: {share(part)}")
            for color, parts in zip(series, found.shares, strict=True)
            for value, part in zip(found.values, parts, strict=True)
        ]
        return bars(values, len(series), label, upright=True)
    edges = [edge for bins in found.bins for each in bins for edge in each[:2]]
    x, unit = _numbers("x", edges, whole=whole, time=time)
    if found.logarithmic and x["type"] == "quantitative":
        x["scale"] |= {"type": "log"}
        form = "~s" if max(edges) >= _LONG and min(edges) >= 1 else "~g"
        x["axis"] |= {"format": form, "tickCount": 4}
    if found.zeros:
        x["scale"] |= {"range": [_ZEROS + 14, {"expr": "width"}]}
    per = _DAY / unit if x["type"] == "temporal" else 1.0
    highest = max(each.density for bins in found.bins for each in bins) * per
    form = "~g" if highest >= _LOW else "~e"
    encoding = {"x": x, "y": _quantity("y", _axis(3, form))}
    layers = [
        {
            "data": {"values": _steps(bins, unit, per)},
            "mark": _line(color, filled=index == 0),
            "encoding": encoding,
        }
        for index, (color, bins) in enumerate(zip(series, found.bins, strict=True))
    ]
    zeros = [
        {"data": {"values": [{}]}, "mark": mark} for mark in _zeros(found.zeros, series)
    ]
    return _plot(label, {"layer": [*layers, *zeros], **_SIZED})


_ZEROS = 22
"""The width of the bars of zeros, left of the axis."""


def _zeros(shares: Sequence[float], series: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield bars of the shares of zeros, which are as high as the plot for all."""
    if shares:
        name = {"type": "text", "text": "0", "fontSize": 11, "color": "var(--soft)"}
        yield name | {"x": _ZEROS / 2, "y": {"expr": "height + 13"}, "aria": False}
    for at, (color, part) in enumerate(zip(series, shares, strict=False)):
        wide = _ZEROS / len(shares)
        yield {
            "type": "rect",
            "x": at * wide,
            "x2": (at + 0.9) * wide,
            "y": {"expr": f"height * {1 - part}"},
            "y2": {"expr": "height"},
            "color": f"var(--s{color})",
            "description": f"zeros: {share(part)}",
        }


def _steps(
    bins: Sequence[DensityBin], unit: float, per: float
) -> list[dict[str, float]]:
    """Return the corners of a histogram; of times in milliseconds, and shares for a day."""
    if not bins:
        return []
    points = [(bins[0].low, 0.0), *((each.low, each.density) for each in bins)]
    points.append((bins[-1].high, 0.0))
    return [{"x": x * unit, "y": y * per} for x, y in points]


_SPARK = 96, 22
"""The width and the height of a sparkline."""


def sparkline(found: Distribution, at: int, color: int) -> Markup:
    """Return a small picture of the distribution of one series, on the axis of all."""
    width, height = _SPARK
    start, shapes = 0.0, []
    if found.zeros:
        start = 16.0
        shapes.append((0.0, 10.0, found.zeros[at]))
    if found.values:
        each = width / len(found.values)
        tallest = max(map(max, found.shares)) or 1.0
        shapes += [
            (n * each, (n + 0.8) * each, share / tallest)
            for n, share in enumerate(found.shares[at])
        ]
    else:
        every = [each for bins in found.bins for each in bins]
        low, high = min(each.low for each in every), max(each.high for each in every)
        tallest = max(each.density for each in every) or 1.0
        axis = math.log if found.logarithmic else float
        scale = (width - start) / ((axis(high) - axis(low)) or 1.0)
        shapes += [
            (
                start + (axis(each.low) - axis(low)) * scale,
                start + (axis(each.high) - axis(low)) * scale,
                each.density / tallest,
            )
            for each in found.bins[at]
        ]
    path = "".join(
        f"M{left:.1f} {height}V{height * (1 - tall):.1f}H{right:.1f}V{height}"
        for left, right, tall in shapes
        if tall
    )
    svg = '<svg class="spark s{}" viewBox="0 0 {} {}" aria-hidden="true"><path d="{}"/></svg>'
    return Markup(svg).format(color, width, height, path)


def _line(series: int, *, filled: bool) -> dict[str, Any]:
    color, dash = f"var(--s{series})", list(_DASHES[series])
    line: dict[str, Any] = {"stroke": color, "strokeWidth": 1.6, "strokeDash": dash}
    if filled:
        line = {"fill": color, "fillOpacity": 0.25, "line": line}
    mark = {"type": "area" if filled else "line", "interpolate": "step-after"}
    return {**mark, "clip": True, "aria": False, **line}


def bars(
    bars: Sequence[Bar],
    series: int,
    label: str,
    *,
    upright: bool = False,
    stacked: bool = False,
) -> Plot:
    """Draw shares as bars, in each category one for each series.

    Args:
        bars: the bars.
        series: how many series there are.
        label: describes the plot in a sentence.
        upright: whether they are vertical.
        stacked: whether those of a category are pieces of one bar.
    """
    thick = 7 if series > 1 else 13
    step = thick * series + (10 if series > 1 else 7)
    axis = {"title": None, "ticks": False, "domain": upright, "labelPadding": 8}
    scale = {"paddingInner": 1 - thick * series / step, "paddingOuter": 0.15}
    if upright:
        axis, scale = axis | {"labelAngle": 0, "labelPadding": 4}, {"paddingInner": 0.2}
    category = {"field": "category", "type": "nominal", "sort": None, "axis": axis}
    across, along = ("x", "y") if upright else ("y", "x")
    encoding: dict[str, Any] = {
        across: category | {"scale": {} if stacked else scale},
        along: _quantity("value", _axis(3 if upright or stacked else 5, "~%")),
        "color": {"field": "color", "type": "nominal", "scale": None},
        "description": {"field": "hint"},
    }
    if stacked:
        encoding[along] |= {"scale": {"domain": [0, 1]}}
        encoding["order"] = {"field": "series", "type": "ordinal"}
    elif series > 1:
        encoding[f"{across}Offset"] = {
            "field": "series",
            "type": "nominal",
            "sort": "ascending",
            "scale": {"paddingInner": 0.1, "paddingOuter": 0},
        }
    fit = {"type": "fit-x", "contains": "padding"}
    height = (22 if stacked else step) * len({each.category for each in bars})
    size = _SIZED if upright else _SIZED | {"height": height, "autosize": fit}
    pieces = {"stroke": "var(--raised)", "strokeWidth": 1}
    mark = pieces if stacked else {"cornerRadiusEnd": 1}
    values = [vars(bar) | {"color": f"var(--s{bar.series})"} for bar in bars]
    spec = {"data": {"values": values}, "encoding": encoding}
    return _plot(label, spec | {"mark": {"type": "bar", **mark}} | size)


def stacks(pieces: Sequence[Bar], label: str) -> Plot:
    """Draw shares as one horizontal bar for each category, of one piece a series."""
    return bars(pieces, 1, label, stacked=True)


def scatter(
    points: Sequence[tuple[float, float]],
    label: str,
    *,
    whole: tuple[bool, bool] = (False, False),
    time: Time | None = None,
) -> Plot:
    """Draw points (x, y).

    Args:
        points: at least one.
        label: describes the plot in a sentence.
        whole: whether all x, and all y, are whole numbers.
        time: what x is, if these are times.
    """
    across, up = zip(*points, strict=True)
    x, unit = _numbers("x", across, whole=whole[0], time=time)
    y, _ = _numbers("y", up, whole=whole[1])
    spec = {
        "data": {"values": [{"x": x * unit, "y": y} for x, y in points]},
        "mark": {
            "type": "point",
            "filled": True,
            "size": 12,
            "color": "var(--s0)",
            "opacity": 0.5,
            "aria": False,
        },
        "encoding": {"x": x, "y": y},
    }
    return _plot(label, spec | _SIZED | {"height": 180})


def _numbers(
    field: str, values: Sequence[float], *, whole: bool, time: Time | None = None
) -> tuple[dict[str, Any], float]:
    """Return how to encode numbers, and their unit: milliseconds if they are times."""
    greatest = max(map(abs, values))
    form = "~e" if greatest >= _LARGEST or 0 < greatest < 1e-2 else ",f"
    ticks = 3 if greatest >= 1e5 else 5
    if whole:  # More ticks than this would be between whole numbers.
        ticks = min(ticks, max(1, int(max(values) - min(values))))
    axis = _axis(ticks, form, domain=True, grid=False)
    found = _quantity(field, axis) | {"scale": {"nice": False, "zero": False}}
    if time is None or time.duration:
        return found, 1.0
    unit = UNITS[time.unit][1] / 10**6
    days = (max(values) - min(values)) * unit / _DAY
    form = "%Y-%m-%d" if days > _FEW_DAYS else "%m-%d %H:%M"
    axis |= {"format": form, "tickCount": 3}
    return found | {"type": "temporal", "scale": {"nice": False, "type": "utc"}}, unit


def _quantity(field: str, axis: dict[str, Any] | None) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": axis}


def _axis(ticks: int, form: str, **more: Any) -> dict[str, Any]:
    axis = {"title": None, "tickCount": ticks, "format": form, "domain": False}
    if form == "~e":
        axis["labelExpr"] = "datum.value ? datum.label : '0'"
    return axis | more


def _plot(label: str, spec: dict[str, Any]) -> Plot:
    import vl_convert

    spec = {"background": None, "padding": 2, "config": _CONFIG, **spec}
    return Plot(label, inline_svg(vl_convert.vegalite_to_svg(spec)))


def inline_svg(svg: str) -> Markup:
    """Return a copy of the known shapes, texts and attributes of an SVG.

    Everything else is left out, such as scripts, links, styles and handlers. Labels of
    marks become tooltips.
    """
    [root] = _copies([ElementTree.fromstring(svg)])
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _copies(
    elements: Iterable[ElementTree.Element],
) -> Iterator[ElementTree.Element]:
    for element in elements:
        tag = element.tag.removeprefix(_SVG)
        if tag not in _SHAPES:
            continue
        kept = {name: text for name, text in element.items() if name in _ATTRIBUTES}
        copy = ElementTree.Element(tag, kept)
        copy.text = element.text
        hint = element.get("aria-label")
        if hint and tag in ("path", "rect"):
            ElementTree.SubElement(copy, "title").text = hint
        copy.extend(_copies(element))
        yield copy
