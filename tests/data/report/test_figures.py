"""The figures of classes, values, missing keys and files, and what they note."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from schemagen import Label
from schemagen.data.report.charts import Line, histogram
from schemagen.data.report.classes import class_counts, class_figure
from schemagen.data.report.columns import columns_of, splits_of
from schemagen.data.report.files import files_figure
from schemagen.data.report.values import column_figure, common_bins, missing_figure
from schemagen.data.statistics.model import FileStatistics, RecordStatistics
from schemagen.data.statistics.numbers import numbers

from .conftest import measured
from .scenes import Features, field, record_spec


def test_histograms_fall_to_zero_between_bins_that_are_apart() -> None:
    plot = histogram([Line(0, [(0.0, 1.0, 0.5), (3.0, 4.0, 0.5)])], "label")
    joined = histogram([Line(0, [(0.0, 1.0, 0.5), (1.0, 4.0, 0.5)])], "label")
    assert plot.svg.count("L") > joined.svg.count("L")


@pytest.mark.parametrize(
    ("values", "notes"),
    [
        (
            [0] * 30 + [1] * 10,
            ["0 is 3 times as frequent as 1, which is there 10 times."],
        ),
        ([0] * 30 + [1] * 30, ["Balanced: between 30 (0) and 30 (1)."]),
    ],
)
def test_notes_of_classes_tell_how_balanced_they_are(
    values: list[int], notes: list[str]
) -> None:
    splits = splits_of({"train": measured([{"a": [value]} for value in values])})
    classes = class_counts(columns_of(splits, None)[0], splits)
    assert classes is not None
    assert class_figure(classes, splits).notes == notes


def test_classes_of_a_schema_are_counted_by_their_stored_ids() -> None:
    """Names that look alike are numbered; other ids and absent classes are noted."""
    names = ("cat", "cat", "dog")
    label = field(Label, "a", num_classes=3, classes=names, offset=1)
    splits = splits_of({"train": measured([{"a": [i % 2 * 8 + 1]} for i in range(9)])})
    [column] = columns_of(splits, record_spec("pet", label))
    classes = class_counts(column, splits)
    assert classes is not None
    assert classes.counts == {"train": {"cat": 5, "not a class: 9": 4}}
    figure = class_figure(classes, splits)
    assert figure.notes == [
        "Never there: cat (2) and dog.",
        "Outside of the schema: not a class: 9.",
    ]
    assert figure.table is not None
    assert list(figure.table.rows[0]) == ["cat", "5", "56 %"]


def test_missing_keys_are_sorted_and_others_counted() -> None:
    rows: list[Features] = [
        {
            "all": [1],
            "some": [1] if n % 4 else None,
            "few": [] if n % 4 else [n],
            "none": None,
        }
        for n in range(40)
    ]
    splits = splits_of({"train": measured(rows), "test": measured(rows[:3])})
    figure = missing_figure(columns_of(splits, None), splits)
    assert figure.notes == ["2 other keys are in every record."]
    assert figure.table is not None
    assert [list(row) for row in figure.table.rows] == [
        ["some", "", "25 %", "0 %", "33 %", "0 %"]
    ]


def test_files_are_noted_if_they_are_empty_or_uneven() -> None:
    counts = (0, 10, 25)
    files = [FileStatistics(f"{n}", "train", 9, "", n) for n in counts]
    splits = splits_of({"train": RecordStatistics(35)})
    figure = files_figure(files, splits)
    assert figure.notes[0] == "1 file of train without records."
    assert figure.notes[1].startswith(
        "The files of train are uneven: the fullest has 2.5"
    )
    even = files_figure(
        [FileStatistics("a", "train", 9, "", n) for n in (10, 19)], splits
    )
    assert even.notes == []


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
            lambda n: [b"t%d" % n] if n < 8 else None,
            [],
            {
                "values in each record": "1",
                "each": "2 bytes",
                "contents": "text",
                "different": "8",
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
    values: Callable[[int], list[object] | None],
    captions: list[str],
    facts: dict[str, str],
) -> None:
    rows: list[Features] = [{"a": values(n)} for n in range(40)]
    splits = splits_of({"train": measured(rows)})
    figure = column_figure(columns_of(splits, None)[0], splits)
    assert figure is not None
    assert [caption for caption, _ in figure.plots] == captions
    assert dict(figure.facts) == facts


def test_splits_are_in_the_order_of_their_use() -> None:
    """train, validation, test, others by name; without train, the largest one first."""
    some = {name: RecordStatistics(5) for name in ("test", "b", "train", "val")}
    found = splits_of(some)
    assert [split.label for split in found] == ["train", "val", "test", "b"]
    assert [split.series for split in found] == [0, 1, 2, 3]
    sizes = {"a": RecordStatistics(5), "b": RecordStatistics(9)}
    assert [split.label for split in splits_of(sizes)] == ["b", "a"]
