"""Plots and tables of the page. Vega-Lite renders the plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from ...display.blocks import Table
from ...runtime.shared.times import UNITS, Time
from ..profile.columns import Split

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
        "labelSeparation": 8,
    },
    "view": {"stroke": None},
    "font": "sans-serif",
}

_LARGEST = 1e15
"""The digits of larger numbers do not fit under an axis."""

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


def series(split: Split) -> int:
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


Bins = Sequence[tuple[float, float, float]]
"""A histogram: (low, high, share) of each bin that is not empty."""


@dataclass(frozen=True)
class Bar:
    """A value of one category in one split; `hint` is its tooltip."""

    category: str
    series: int
    value: float
    hint: str


def histogram(
    lines: Mapping[int, Bins],
    label: str,
    *,
    logarithmic: bool = False,
    whole: bool = False,
    time: Time | None = None,
) -> Plot:
    """Draw histograms by series: the first one filled, the others as lines over it."""
    edges = [edge for bins in lines.values() for bin_ in bins for edge in bin_[:2]]
    x, unit = _numbers("x", edges, whole=whole, time=time)
    if logarithmic and x["type"] == "quantitative":
        x["scale"] = {"nice": False, "type": "log"}
    encoding = {"x": x, "y": _quantity("y", _axis(3, "~%"))}
    layers = [
        {
            "data": {"values": _steps(bins, unit)},
            "mark": _line(series, filled=index == 0),
            "encoding": encoding,
        }
        for index, (series, bins) in enumerate(lines.items())
    ]
    return _plot(label, {"layer": layers, **_SIZED})


def _steps(bins: Bins, unit: float) -> list[dict[str, float]]:
    """Return the corners of a histogram; x is in milliseconds if it is a time."""
    points: list[dict[str, float]] = []
    end: float | None = None
    for low, high, share in bins:
        if end is None or low > end:
            points.append({"x": low if end is None else end, "y": 0.0})
        points.append({"x": low, "y": share})
        end = high
    points.append({"x": end or 0.0, "y": 0.0})
    return [{"x": point["x"] * unit, "y": point["y"]} for point in points]


def _line(series: int, *, filled: bool) -> dict[str, Any]:
    color, dash = f"var(--s{series})", list(_DASHES[series])
    line: dict[str, Any] = {"stroke": color, "strokeWidth": 1.6, "strokeDash": dash}
    if filled:
        line = {"fill": color, "fillOpacity": 0.25, "line": line}
    mark = {"type": "area" if filled else "line", "interpolate": "step-after"}
    return {**mark, "clip": True, "aria": False, **line}


def bars(bars: Sequence[Bar], series: int, label: str) -> Plot:
    """Draw shares as horizontal bars, in each category one for each split."""
    thick = 13 if series == 1 else 7
    step = thick * series + (7 if series == 1 else 10)
    axis = {"title": None, "ticks": False, "domain": False, "labelPadding": 8}
    encoding = {
        "y": {
            "field": "category",
            "type": "nominal",
            "sort": None,
            "axis": axis,
            "scale": {"paddingInner": 1 - thick * series / step, "paddingOuter": 0.15},
        },
        "x": _quantity("value", _axis(5, "~%")),
        "color": {"field": "color", "type": "nominal", "scale": None},
        "description": {"field": "hint"},
    }
    if series > 1:
        encoding["yOffset"] = {
            "field": "series",
            "type": "nominal",
            "sort": "ascending",
            "scale": {"paddingInner": 0.1, "paddingOuter": 0},
        }
    size = {
        **_SIZED,
        "height": step * len({each.category for each in bars}),
        "autosize": {"type": "fit-x", "contains": "padding"},
    }
    spec = {
        "data": {"values": [_values(bar) for bar in bars]},
        "mark": {"type": "bar", "cornerRadiusEnd": 1},
        "encoding": encoding,
    }
    return _plot(label, spec | size)


def stacks(bars: Sequence[Bar], label: str) -> Plot:
    """Draw shares as one horizontal bar for each category, of one piece a series."""
    axis = {"title": None, "ticks": False, "domain": False, "labelPadding": 8}
    encoding = {
        "y": {"field": "category", "type": "nominal", "sort": None, "axis": axis},
        "x": _quantity("value", _axis(3, "~%")) | {"scale": {"domain": [0, 1]}},
        "order": {"field": "series", "type": "ordinal"},
        "color": {"field": "color", "type": "nominal", "scale": None},
        "description": {"field": "hint"},
    }
    size = {
        **_SIZED,
        "height": 22 * len({each.category for each in bars}),
        "autosize": {"type": "fit-x", "contains": "padding"},
    }
    spec = {
        "data": {"values": [_values(bar) for bar in bars]},
        "mark": {"type": "bar", "stroke": "var(--raised)", "strokeWidth": 1},
        "encoding": encoding,
    }
    return _plot(label, spec | size)


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


def _values(bar: Bar) -> dict[str, Any]:
    return vars(bar) | {"color": f"var(--s{bar.series})"}


def _quantity(field: str, axis: dict[str, Any]) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": axis}


def _axis(ticks: int, form: str, **more: Any) -> dict[str, Any]:
    axis = {"title": None, "tickCount": ticks, "format": form, "domain": False}
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
