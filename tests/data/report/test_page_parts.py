"""Parts of pages: axes of plots, SVG that is copied, and texts that are made once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from schemagen.data.profile.columns import Column
from schemagen.data.report import samples
from schemagen.data.report.charts import Bar, Plot, bars, histogram, inline_svg, scatter
from schemagen.data.report.samples import value_text

from ..messages import example, write_file
from .conftest import Visit
from .pages import page_about

GAPS = """() => {
  const shown = [...document.querySelectorAll('text')].filter(e => e.getAttribute('opacity') !== '0')
  const boxes = shown.map(e => e.getBoundingClientRect())
  const low = Math.max(...boxes.map(b => b.top))
  const row = boxes.filter(b => b.top > low - 2)
  return row.slice(1).map((b, at) => b.left - row[at].right)
}"""


@pytest.mark.parametrize(
    "plot",
    [
        bars([Bar("a long name...", 0, 0.57, ""), Bar("b", 0, 0.43, "")], 1, "shares"),
        histogram({0: [(0, 50_161, 0.2)]}, "values", whole=True),
    ],
    ids=["shares", "values"],
)
def test_labels_of_an_axis_keep_apart(plot: Plot, tmp_path: Path, visit: Visit) -> None:
    """Also at its right end, where the last one moves to the left."""
    path = tmp_path / "plot.html"
    path.write_text(f"<!doctype html><title>A plot</title>{plot.svg}", "utf-8")
    gaps = visit(path).evaluate(GAPS)
    assert len(gaps) > 1
    assert min(gaps) > 4


@pytest.mark.parametrize("most", [1, 2, 3, 30])
def test_counts_have_whole_ticks(most: int) -> None:
    """A number between two of them cannot be."""
    points = [(float(at), float(at)) for at in range(most + 1)]
    bins = [(at - 0.5, at + 0.5, 1 / most) for at in range(1, most + 2)]
    plots = [
        scatter(points, "points", whole=(True, True)),
        histogram({0: bins}, "values", whole=True),
    ]
    for plot in plots:
        labels = re.findall(r">([\d.]+)</text>", str(plot.svg))
        assert len(labels) > 1
        assert not [each for each in labels if "." in each]


def test_plots_are_copied_without_scripts_links_and_styles() -> None:
    kept = inline_svg(
        '<svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)" viewBox="0 0 1 1">'
        '<script>alert(1)</script><a xlink:href="javascript:alert(1)"><text>x</text></a>'
        '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>'
        '<image href="http://127.0.0.1/"/><style>*{fill:red}</style>'
        '<g onclick="alert(1)" style="fill:red" aria-label="not of a mark">'
        '<text fill="var(--ink)">&lt;b&gt;</text>'
        '<path d="M0,0" aria-label="&lt;b&gt;: 1"/></g></svg>'
    )
    assert kept == (
        '<svg viewBox="0 0 1 1" aria-hidden="true" focusable="false">'
        '<g><text fill="var(--ink)">&lt;b&gt;</text>'
        '<path d="M0,0"><title>&lt;b&gt;: 1</title></path></g></svg>'
    )
    with pytest.raises(ValueError, match="not enough values"):
        inline_svg("<script>alert(1)</script>")


def test_texts_of_a_sample_are_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is too long for a cell of the table is made for it again."""
    made: list[str] = []

    def counted(column: Column, *arguments: Any, **options: Any) -> str:
        made.append(column.key)
        return value_text(column, *arguments, **options)

    monkeypatch.setattr(samples, "value_text", counted)
    held = {"short": "a", "long": "b" * 200}
    page_about(write_file(tmp_path / "train.tfrecord", [example(held)]))
    assert sorted(made) == ["long", "long", "short"]
