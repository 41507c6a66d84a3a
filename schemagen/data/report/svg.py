"""Vega-Lite specs to SVG that is safe and small, with colours that follow the page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {"svg", "g", "path", "line", "rect", "circle", "text", "tspan"}
_KEPT = {
    *("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "r"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin"),
    *("text-anchor", "font-size", "font-weight", "fill-opacity", "stroke-opacity"),
    *("opacity", "viewBox"),
}
_IDLE = {("stroke-opacity", "1"), ("fill-opacity", "1"), ("opacity", "1")}
_EMPTY_PATHS = {"", "M0,0h0v0h0Z"}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")

AXIS = {
    "labelColor": "var(--soft)",
    "domainColor": "var(--rule)",
    "tickColor": "var(--rule)",
    "gridColor": "var(--rule)",
    "labelFontSize": 11,
    "titleFontSize": 11,
    "titleFontWeight": "normal",
    "titleColor": "var(--soft)",
    "labelLimit": 110,
    "tickSize": 4,
    "labelPadding": 4,
}


def render(spec: Mapping[str, Any]) -> str:
    """Render a Vega-Lite spec."""
    import vl_convert

    config = {"axis": AXIS, "view": {"stroke": None}, "font": "sans-serif"}
    whole = {"background": None, "padding": 2, "config": config, **spec}
    return cleaned(vl_convert.vegalite_to_svg(whole))


def cleaned(svg: str) -> str:
    """Keep shapes, words and their looks; make hints of the marks' descriptions.

    What is not known to be harmless is left out: scripts, links, styles, handlers.
    """
    root = ElementTree.fromstring(svg)
    for element in list(_shapes(root)):
        _strip(element)
    root.attrib.pop("transform", None)
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return _text(root)


def _shapes(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    yield element
    for child in list(element):
        name = child.tag.removeprefix(_SVG)
        idle = name == "path" and child.get("d") in _EMPTY_PATHS
        if name not in _SHAPES or idle or child.get("display") == "none":
            element.remove(child)
            continue
        yield from _shapes(child)
        if name == "g" and not len(child):
            element.remove(child)


def _strip(element: ElementTree.Element) -> None:
    element.tag = element.tag.removeprefix(_SVG)
    hint = element.get("aria-label") if element.tag in ("path", "rect") else None
    for name, value in list(element.attrib.items()):
        if name not in _KEPT or (name, value) in _IDLE:
            del element.attrib[name]
        else:
            element.set(name, _LONG_NUMBER.sub(_shorter, value))
    if element.get("transform") == "translate(0,0)":
        del element.attrib["transform"]
    if hint:
        title = ElementTree.Element("title")
        title.text = hint
        element.insert(0, title)


def _shorter(match: re.Match[str]) -> str:
    number = round(float(match[0]), 2)
    return f"{number:g}" if math.isfinite(number) else match[0]


def _text(root: ElementTree.Element) -> str:
    return ElementTree.tostring(root, encoding="unicode")
