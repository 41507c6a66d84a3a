"""The bins of histograms, and the facts about values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from schemagen.data.report.columns import columns_of, splits_of
from schemagen.data.report.values import column_figure, common_bins
from schemagen.data.statistics.numbers import numbers

from .conftest import measured
from .scenes import Features


def test_bins_of_integers_are_centered() -> None:
    """Also that of zeros, of which there are few."""
    bins, logarithmic = common_bins([numbers(np.array([0] + [1] * 99, np.int64))])
    assert bins == [[(-0.5, 0.5, 1), (0.5, 1.5, 99)]]
    assert not logarithmic


def test_bins_of_all_splits_are_the_same() -> None:
    left = numbers(np.arange(1000, dtype=np.int64))
    right = numbers(np.arange(90_000, 95_000, dtype=np.int64))
    (one, other), _ = common_bins([left, right])
    assert {high - low for low, high, _ in (*one, *other)} == {4096}
    assert sum(count for *_, count in other) == 5000


@pytest.mark.parametrize(("low", "logarithmic"), [(3.0, True), (-3.0, False)])
def test_bins_are_logarithmic_if_most_positive_values_share_one(
    low: float, logarithmic: bool
) -> None:
    values = np.concatenate([np.full(990, low), np.full(10, 1e6)]).astype(np.float32)
    (bins,), found = common_bins([numbers(values)])
    assert found is logarithmic
    assert [count for *_, count in bins] == [990, 10]


JPEG = b"\xff\xd8\xff\xe0" + bytes(9)


@pytest.mark.parametrize(
    ("values", "captions", "facts"),
    [
        (
            lambda n: [7, 7, 7],
            [],
            {"always": "7", "values in each record": "3"},
        ),
        (
            lambda n: [[1.5, float("nan"), 0.0, float("inf")][n % 4]],
            ["Values"],
            {
                "values in each record": "1",
                "zeros": "25 %",
                "NaN": "25 %",
                "infinite": "25 %",
            },
        ),
        (
            lambda n: [b"x" if n % 2 else b"yy"],
            ["Sizes in bytes", "Most frequent"],
            {"values in each record": "1", "contents": "text", "different": "2"},
        ),
        (
            lambda n: [b"name %02d" % n],
            [],
            {
                "values in each record": "1",
                "each": "7 bytes",
                "contents": "text",
                "different": "40",
            },
        ),
        (
            lambda n: [JPEG if n % 4 else b"text", b""],
            ["Sizes in bytes"],
            {
                "values in each record": "2",
                "contents": "empty 50 %, jpeg 38 % and text 12 %",
                "different": "3",
            },
        ),
        (
            lambda n: [n] if n % 4 else [b"a"],
            ["Values"],
            {"stored as": "int64 and bytes", "values in each record": "1"},
        ),
    ],
)
def test_columns_have_plots_of_what_varies_and_facts(
    values: Callable[[int], list[object]], captions: list[str], facts: dict[str, str]
) -> None:
    rows: list[Features] = [{"a": values(n)} for n in range(40)]
    splits = splits_of({"train": measured(rows)})
    figure = column_figure(columns_of(splits, None)[0], splits)
    assert figure is not None
    assert [caption for caption, _ in figure.plots] == captions
    assert dict(figure.facts) == facts
