"""Differences between splits and repeated records, as the report shows them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pictures import encoded

from ..messages import Values, example, write_file
from .pages import page_about, section_of

Rows = Sequence[Mapping[str, Values]]


def _section(page: str, name: str) -> str:
    """Return the text of a section, a cell or a paragraph a line."""
    lines = re.sub(r"(\s*<[^>]+>\s*)+", "\n", section_of(page, name)).split("\n")
    return unescape("\n".join(lines[1:]))


def _report(root: Path, splits: Mapping[str, Rows], shards: int = 2) -> tuple[str, str]:
    """Write splits, and return what the page says of differences and duplicates."""
    for name, rows in splits.items():
        for at in range(shards):
            path = root / "data" / f"{name}-{at:05d}-of-{shards:05d}.tfrecord"
            write_file(path, [example(row) for row in rows[at::shards]])
    page = page_about(root / "data")
    return _section(page, "differences"), _section(page, "duplicates")


def _rows(**columns: Sequence[Any]) -> Rows:
    names, values = columns.keys(), zip(*columns.values(), strict=True)
    return [
        {name: each for name, each in zip(names, row, strict=True) if each is not None}
        for row in values
    ]


def _normal(mean: float, deviation: float, count: int = 500) -> list[float]:
    """Return numbers with this mean and standard deviation."""
    return [mean + deviation * (-1) ** at for at in range(count)]


def _images(height: int) -> list[bytes]:
    """Return different images of the same height, longer than what is counted."""
    random = np.random.default_rng(height)
    pixels = random.integers(0, 256, (40, height, 20, 3), np.uint8)
    return [encoded(each, "PNG") for each in pixels]


def test_other_countries_spreads_and_repeated_ids_are_reported(tmp_path: Path) -> None:
    """The splits of a trial, which an earlier report called alike."""
    ids = [f"r{number:04d}" for number in range(2_000)]
    train = _rows(id=ids[:1600], country=["DE"] * 1600, x=_normal(0.0, 10.0, 1600))
    test = _rows(id=ids[1200:1700], country=["NG"] * 500, x=_normal(0.0, 3.0))
    dev = _rows(id=ids[1900:1910], country=["NG"] * 10, x=_normal(0.0, 3.0, 10))
    differences, duplicates = _report(
        tmp_path, {"train": train, "test": test, "dev": dev}
    )
    assert (
        "2 marked differences in 2 comparisons. "
        "Not compared: dev (10 records), correlations and the contents of id."
    ) in differences
    assert "\nName\nWhat\nDistance\ntrain\ntest\n" in differences
    assert "\ncountry\nshare of DE\n1.00\n100 %\n0 %\n" in differences
    quantiles = "-10 · -10 · -10 · 10 · 10\n-3 · -3 · -3 · 3 · 3\n"
    assert f"\nx\nvalues\n0.50\n{quantiles}" in differences
    assert "values of id\nin train and in test\n400\n" in duplicates


def test_splits_of_one_source_do_not_differ(tmp_path: Path) -> None:
    """Random records with all sorts of keys; what is not compared is said."""
    draw = random.Random(1)
    rows = _rows(
        label=[draw.randrange(10) for _ in range(900)],
        word=[draw.choice(["cat", "dog", "owl"]) for _ in range(900)],
        size=[draw.gauss(3, 2) for _ in range(900)],
        note=[draw.choice([None, "x"]) for _ in range(900)],
        text=[" ".join(draw.choices("abcdef", k=40)) for _ in range(900)],
        image=[
            encoded(np.full((2, 2), at % 256, np.uint8), "PNG") + bytes([at // 256])
            for at in range(900)
        ],
        tags=[
            [draw.randrange(900) for _ in range(draw.randrange(9))] for _ in range(900)
        ],
    )
    splits = {"train": rows[:600], "validation": rows[600:800], "test": rows[800:]}
    differences, duplicates = _report(tmp_path, splits)
    assert re.search(r"No marked differences in \d\d comparisons\.", differences)
    assert (
        "Not compared: correlations and the contents of image and text." in differences
    )
    assert "No duplicates. Compared: records, image and text." in duplicates


@pytest.mark.parametrize(
    ("train", "test", "marked"),
    [
        # less than what chance explains, and more
        (["a"] * 50 + ["b"] * 50, ["a"] * 20 + ["b"] * 80, ""),
        (["a"] * 50 + ["b"] * 50, ["a"] * 10 + ["b"] * 90, "share of a"),
        # less than the threshold in many records, and more
        (["a", "b"] * 2_500, ["a"] * 2_300 + ["b"] * 2_700, ""),
        (["a", "b"] * 2_500, ["a"] * 1_900 + ["b"] * 3_100, "share of a"),
        ([1] * 50 + [0] * 50, [1] * 95 + [0] * 5, "share of 0"),
        # texts that only differ beyond what is shown of them
        (["p" * 70 + "a"] * 40, ["p" * 70 + "b"] * 40, f"share of {'p' * 60}…"),
        (["x"] * 100, ["x"] * 92 + [None] * 8, ""),
        (["x"] * 100, ["x"] * 60 + [None] * 40, "share of missing values"),
        ([0.5] * 100, [0.5] * 60 + [float("nan")] * 40, "share of NaN"),
        ([0.5] * 100, [0.5] * 60 + [2.0] * 40, "share of whole numbers"),
        ([*range(5_000)], [*range(300, 5_300)], ""),
        ([*range(5_000)], [*range(600, 5_600)], "values"),
        ([*range(60)], [*range(20, 80)], ""),
        ([*range(60)], [*range(30, 90)], "values"),
        (_normal(5.0, 0.0), _normal(7.0, 0.0), "values"),
        ([[7]] * 40, [[7, 7]] * 40, "values in a record"),
        (_images(8), _images(9), "heights in pixels"),
    ],
)
def test_distances_from_a_threshold_on_are_marked(
    train: list[Any], test: list[Any], marked: str, tmp_path: Path
) -> None:
    """On both sides of the threshold, and of what chance explains."""
    splits = {"train": _rows(a=train), "test": _rows(a=test)}
    differences, _ = _report(tmp_path, splits)
    assert ("No marked differences" in differences) is not marked
    assert f"\na\n{marked}\n" in differences or not marked


def test_small_splits_are_not_compared(tmp_path: Path) -> None:
    """And no verdict is given where nothing is compared."""
    splits = {"train": _rows(a=["x"] * 99), "test": _rows(a=["y"] * 29)}
    differences, _ = _report(tmp_path, splits)
    assert (
        "No comparison: it requires two splits of at least 30 records." in differences
    )
    assert "test (29 records)" in differences
    assert "No marked" not in differences


def test_duplicates_are_counted_in_a_split_and_between_splits(tmp_path: Path) -> None:
    """Of whole records, and of values that differ from record to record.

    Values that are repeated because their records are have no row of their own.
    """
    image = [bytes([at, at]) * 300 for at in range(100)]
    rows = _rows(
        image=image,
        number=range(100),
        many=[at % 60 for at in range(100)],
        two=[[at, at] for at in range(100)],
    )
    relabeled = [{**row, "number": 500 + at} for at, row in enumerate(rows[:7])]
    splits = {"train": [*rows, *rows[:3]], "test": [*rows[40:50], *relabeled]}
    _, duplicates = _report(tmp_path, splits, shards=3)
    for line in (
        "records\nmore than once in train\n3\n",
        "records\nin train and in test\n10\n",
        "values of image\nin train and in test\n17\n",
    ):
        assert line in duplicates
    assert "values of number" not in duplicates
    assert "Compared: records, image and number." in duplicates


def test_one_repeated_value_is_named_in_the_singular(tmp_path: Path) -> None:
    train = _rows(number=range(60), x=range(60))
    test = _rows(number=range(59, 99), x=range(100, 140))
    _, duplicates = _report(tmp_path, {"train": train, "test": test})
    assert "Duplicates: 1 value of number in train and in test." in duplicates
