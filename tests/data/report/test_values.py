"""Which bins and which facts stand for values."""

from __future__ import annotations

import numpy as np
from schemagen.data.decoding import decode
from schemagen.data.records import records_of
from schemagen.data.report.columns import columns_of, splits_of
from schemagen.data.report.values import column_figure, common_bins
from schemagen.data.statistics.measuring import Measuring
from schemagen.data.statistics.numbers import numbers

from .scenes import Features, example


def figure_of(rows: list[Features]) -> tuple[list[str], dict[str, str]]:
    """Return the captions of the plots of the first key, and its facts."""
    measuring = Measuring()
    measuring.add(decode(records_of([example(row) for row in rows])))
    splits = splits_of({"train": measuring.found()})
    figure = column_figure(columns_of(splits, None)[0], splits)
    assert figure is not None
    return [caption for caption, _ in figure.plots], dict(figure.facts)


def test_whole_numbers_stand_in_the_middle_of_their_bins() -> None:
    """Also zeros, of which there are few, next to many ones."""
    bins, logarithmic = common_bins([numbers(np.array([0] + [1] * 99, np.int64))])
    assert bins == [[(-0.5, 0.5, 1), (0.5, 1.5, 99)]]
    assert not logarithmic


def test_bins_are_the_same_for_all_splits() -> None:
    """However far apart their values are."""
    left = numbers(np.arange(1000, dtype=np.int64))
    right = numbers(np.arange(90_000, 95_000, dtype=np.int64))
    (one, other), _ = common_bins([left, right])
    assert {high - low for low, high, _ in (*one, *other)} == {4096}
    assert sum(count for *_, count in other) == 5000


def test_a_few_huge_values_do_not_hide_the_others() -> None:
    """Bins are of magnitudes then."""
    values = np.concatenate([np.full(990, 3.0), np.full(10, 1e6)]).astype(np.float32)
    (bins,), logarithmic = common_bins([numbers(values)])
    assert logarithmic
    assert [count for *_, count in bins] == [990, 10]


def test_what_all_have_in_common_is_said_and_not_drawn() -> None:
    """A constant is a fact."""
    captions, facts = figure_of([{"a": [7, 7, 7]} for _ in range(9)])
    assert captions == []
    assert facts == {"always": "7", "values in each record": "3"}


def test_texts_that_come_again_are_drawn() -> None:
    """Names of which each stands once are only counted."""
    captions, facts = figure_of([{"a": [b"x" if n % 2 else b"yy"]} for n in range(40)])
    assert captions == ["Sizes in bytes", "Most frequent"]
    assert facts["different"] == "2"
    captions, _ = figure_of([{"a": [b"name %02d" % n]} for n in range(40)])
    assert captions == []
