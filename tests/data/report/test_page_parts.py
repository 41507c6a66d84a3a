"""Parts of pages: axes of plots, SVG that is copied, and texts that are made once."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schemagen.data.profile.columns import ColumnProfile
from schemagen.data.report import samples
from schemagen.data.report.charts import (
    Bar,
    Plot,
    bars,
    distribution_plot,
    inline_svg,
    scatter,
)
from schemagen.data.report.densities import DensityBin, Distribution, distribution_of
from schemagen.data.report.samples import value_text
from schemagen.data.statistics import numbers as statistics
from schemagen.data.statistics.numbers import numbers

from ..messages import example, write_file
from .conftest import Visit
from .pages import cells_of, page_about

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
        distribution_plot(
            Distribution(bins=[[DensityBin(0, 50_161, 0.2)]]), [0], "values", whole=True
        ),
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
    found = Distribution(bins=[[DensityBin(0.5, most + 0.5, 3.0)]])
    plots = [
        scatter(points, "points", whole=(True, True)),
        distribution_plot(found, [0], "values", whole=True),
    ]
    for plot in plots:
        labels = re.findall(r">([\d.]+)</text>", str(plot.svg))
        assert len(labels) > 1
        assert not [each for each in labels if "." in each]


RANDOM = np.random.default_rng(7)
SHAPES = {
    "normal": RANDOM.normal(3, 2, 5000),
    "lognormal": RANDOM.lognormal(0, 2, 5000),
    "cents": np.round(RANDOM.gamma(2, 1, 3000), 2),
    "integers": RANDOM.integers(-500, 3000, 4000),
    "counts": (RANDOM.pareto(1.1, 4000) * 3).astype(np.int64) + 1,
    "zeros": np.where(RANDOM.random(4000) < 0.4, 0, RANDOM.normal(50, 9, 4000)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_densities_of_bins_make_one_and_end_where_the_data_does(name: str) -> None:
    """For each unit of the axis, and for each factor of ten of a logarithmic one."""
    values = SHAPES[name]
    found = distribution_of([numbers(values)])
    [bins] = found.bins
    widths = [
        np.log10(each.high / each.low) if found.logarithmic else each.high - each.low
        for each in bins
    ]
    mass = sum(each.density * width for each, width in zip(bins, widths, strict=True))
    assert mass + sum(found.zeros) == pytest.approx(1)
    # Of zeros and others, the least of the others is known by its magnitude.
    half = {"integers": 0.5, "counts": 0.5, "cents": 0.005, "zeros": 4}.get(name, 0)
    nonzero = values[values != 0] if found.zeros else values
    assert nonzero.min() - half - 1e-9 <= bins[0].low <= nonzero.min()
    assert nonzero.max() <= bins[-1].high <= nonzero.max() + half + 1e-9
    assert found.logarithmic == (name in ("lognormal", "counts"))


@pytest.mark.parametrize(
    "values",
    [
        range(37),
        range(0, 300, 5),
        range(3000),
        [round(0.1 * at, 1) for at in range(77)],
        np.arange(90, dtype=np.float32) / 4,
    ],
    ids=["integers", "fives", "many", "tenths", "quarters"],
)
def test_values_of_a_grid_that_are_equally_frequent_are_no_comb(
    values: Sequence[float],
) -> None:
    """However many of them are in a bin."""
    [bins] = distribution_of([numbers(np.array(values))]).bins
    densities = [each.density for each in bins[:-1]]
    assert max(densities) < 1.05 * min(densities)


def test_counts_on_a_logarithmic_axis_are_no_comb() -> None:
    """Those between 1 and 2 are none, and those from 8 to 16 are many."""
    found = distribution_of([numbers(SHAPES["counts"])])
    [bins] = found.bins
    assert found.logarithmic
    assert bins[0][:2] == (0.5, 1.5)
    assert all(one.high == other.low for one, other in itertools.pairwise(bins))
    assert all(each.density > 0.05 for each in bins[:12])


def test_zeros_beside_other_numbers_have_a_bar_of_their_own() -> None:
    """If they are many, and always where the axis is logarithmic."""
    many = distribution_of([numbers(SHAPES["zeros"])])
    assert many.zeros == [pytest.approx(0.4, abs=0.05)]
    assert many.bins[0][0].low > 10
    few = distribution_of([numbers(np.append(SHAPES["lognormal"], [0.0] * 5))])
    assert few.zeros == [5 / 5005]
    assert distribution_of([numbers(SHAPES["normal"])]).zeros == ()
    plot = distribution_plot(many, [0], "values")
    assert "<title>zeros: " in plot.svg


def test_few_whole_numbers_have_a_bar_each() -> None:
    """Also one that does not occur, unless they are far apart."""
    some = [numbers(np.array(each)) for each in ([1, 2, 2, 4], [4, 4])]
    found = distribution_of(some)
    assert [*found.values] == [1, 2, 3, 4]
    assert found.shares == [[0.25, 0.5, 0, 0.25], [0, 0, 0, 1]]
    far = distribution_of([numbers(np.array([3, 10**15, -7]))])
    assert [*far.values] == [-7, 3, 10**15]
    plot = distribution_plot(found, [0, 1], "values")
    assert "<title>2: 50 %</title>" in plot.svg


def test_a_new_measure_is_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a further change."""
    answer = statistics.Measure("answer", lambda found: 42)
    monkeypatch.setattr(statistics, "MEASURES", (*statistics.MEASURES, answer))
    monkeypatch.setitem(statistics.BY_NAME, "answer", answer)
    rows = [example({"a": at * 0.5}) for at in range(50)]
    page = page_about(write_file(tmp_path / "train.tfrecord", rows))
    assert cells_of(page, "Values of a")["Answer"] == ["42"]


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

    def counted(column: ColumnProfile, *arguments: Any, **options: Any) -> str:
        made.append(column.key)
        return value_text(column, *arguments, **options)

    monkeypatch.setattr(samples, "value_text", counted)
    held = {"short": "a", "long": "b" * 200}
    page_about(write_file(tmp_path / "train.tfrecord", [example(held)]))
    assert sorted(made) == ["long", "long", "short"]
