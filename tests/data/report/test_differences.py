"""What is marked as a difference: what chance does not explain, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from schemagen import Scalar
from schemagen.data.report.classes import class_counts
from schemagen.data.report.columns import columns_of, splits_of
from schemagen.data.report.differences import (
    Difference,
    cautions_of,
    deviation,
    differences_of,
    exceedances,
    share_gaps,
    shares_differ,
    values_beyond,
)
from schemagen.data.statistics.model import RecordStatistics
from schemagen.data.statistics.numbers import numbers

from .conftest import measured
from .scenes import Features, field, record_spec


def compared(**splits: list[Features]) -> tuple[Difference, ...]:
    """Return the differences of splits without a schema."""
    found = splits_of({name: measured(rows) for name, rows in splits.items()})
    columns = columns_of(found, None)
    counted = [class_counts(each, found) for each in columns]
    return differences_of(found, columns, [each for each in counted if each])


@pytest.mark.parametrize(
    ("counts", "gaps"),
    [([[3, 1], [30, 10]], 0), ([[1, 1], [3, 1]], 0.25), ([[5, 0], [0, 2]], 1)],
)
def test_gaps_of_shares_add_up_to_twice_what_would_have_to_change(
    counts: list[list[int]], gaps: float
) -> None:
    assert share_gaps(np.array(counts, np.float64)).tolist() == [gaps, gaps]


def test_samples_of_one_kind_are_seldom_told_apart() -> None:
    """At most a few in a thousand, with two classes or a hundred."""
    random = np.random.default_rng(0)
    for classes in (2, 10, 100):
        shares = random.dirichlet(np.ones(classes))
        draws = [random.multinomial(n, shares, 1000) for n in (400, 150)]
        told = sum(map(shares_differ, np.stack(draws, axis=1).astype(np.float64)))
        assert told <= 6, classes


@pytest.mark.parametrize(
    ("counts", "differ"),
    [
        ([[300, 300], [60, 140]], True),
        ([[30, 30], [6, 14]], False),
        ([[10, 0], [500, 0]], False),
        ([[300] * 3 + [0] * 9, [100] * 3 + [3] * 9], True),  # rare ones together
    ],
)
def test_samples_of_two_kinds_are_told_apart(
    counts: list[list[int]], differ: bool
) -> None:
    """With as many records as that takes."""
    assert shares_differ(np.array(counts, np.float64)) is differ


@pytest.mark.parametrize(("of", "among", "least"), [(100, 100, 10), (1000, 10, 2)])
def test_how_many_values_may_lie_beyond_all_others(
    of: int, among: int, least: int
) -> None:
    """By drawing: the k greatest of both are of the second less than once in 1000."""
    found = exceedances(of, among)
    assert found == least
    random = np.random.default_rng(1)
    draws = 20_000
    ranks = random.random((draws, of + among))
    beyond_all = (ranks[:, of:] > ranks[:, :of].max(axis=1)[:, None]).sum(axis=1)
    assert (beyond_all >= least).mean() < 0.0017
    assert (beyond_all >= least - 1).mean() > 0.0007


def test_of_three_values_none_is_too_far_out() -> None:
    """There is no number of them that chance would not bring."""
    assert exceedances(5, 3) == 4


def test_values_beyond_a_range_are_counted_surely() -> None:
    """Exactly while values are few; else those in bins of their own, and at least one."""
    few = numbers(np.array([1, 2, 3, 10, 11, 12], np.int64))
    assert values_beyond(few, 2, 10) == (1, 2)
    many = numbers(np.arange(5000, dtype=np.int64))
    below, above = values_beyond(many, 100, 4000)
    assert 80 <= below <= 100
    assert 960 <= above <= 999
    assert values_beyond(many, 1, 4999) == (1, 0)


def test_deviations_are_those_of_the_values() -> None:
    """Exact while values are few, and close to it when they are many."""
    random = np.random.default_rng(2)
    values = random.normal(5, 3, 20_000).astype(np.float32)
    assert deviation(numbers(values)) == pytest.approx(float(values.std()), rel=0.01)
    few = numbers(np.array([1, 1, 4], np.int64))
    assert deviation(few) == pytest.approx(2**0.5)
    assert deviation(numbers(np.array([], np.int64))) == 0


def rows(count: int, seed: int, **shifts: float) -> list[Features]:
    """Return rows with a number, a class and a key that some lack."""
    random = np.random.default_rng(seed)
    shift, lack = shifts.get("shift", 0.0), shifts.get("lack", 0.1)
    return [
        {
            "size": [float(random.normal(shift, 1))],
            "kind": [int(random.choice(4, p=(0.4, 0.3, 0.2, 0.1)))],
            "note": None if random.random() < lack else [b"seen"],
        }
        for _ in range(count)
    ]


def classes(*counts: int) -> list[Features]:
    """Return rows with so many of each class."""
    return [{"kind": [i]} for i, count in enumerate(counts) for _ in range(count)]


ROWS = rows(500, 1)
KINDS = classes(50, 50, 50, 50)
HALF = [{"a": [1], "b": [2.0] if index % 2 else None} for index in range(100)]
WITHOUT: list[Features] = [{"a": [1]} for _ in range(60)]
TEXTS = [[{"a": [b"\xff" * (n % 9 + more)]} for n in range(90)] for more in (0, 8)]


@pytest.mark.parametrize(
    ("train", "test", "marks"),
    [
        (ROWS, rows(100, 3), []),
        (ROWS, rows(200, 2, shift=1.0), ["size: mean +0.93 SD"]),
        (ROWS, rows(200, 2, shift=3.0), ["size: mean", "size: range"]),
        (ROWS, rows(200, 2, lack=0.6), ["note: missing +44.0 points"]),
        (KINDS, classes(20, 20, 20, 20), []),
        (KINDS, classes(80, 80, 20, 20), ["kind: class shares 30 %"]),
        (KINDS, classes(0, 0, 0, 20), []),
        (
            KINDS,
            classes(20, 20, 20, 20, 1),
            ["kind: classes in one split only 1 of 81"],
        ),
        (
            KINDS,
            classes(20, 20, 20),
            ["kind: class shares 25 %", "kind: classes in one split only 1 class"],
        ),
        (KINDS, classes(1, 1, 1), []),
        (HALF, WITHOUT, ["b: key in one split only 50 %"]),
        (WITHOUT, HALF, ["b: key in one split only 50 %"]),
        (HALF, WITHOUT[:5], []),
        (TEXTS[0], TEXTS[1], ["a (sizes in bytes): mean", "a (sizes in bytes): range"]),
        (ROWS, rows(12, 2, shift=3.0), []),
    ],
)
def test_differences_are_marked_if_they_are_large_and_no_chance(
    train: list[Features], test: list[Features], marks: list[str]
) -> None:
    found = [
        f"{each.name}: {each.measure} {each.size}"
        for each in compared(train=train, test=test)
        if each.marked
    ]
    assert len(found) == len(marks)
    assert all(map(str.startswith, found, marks)), found


def test_differences_of_info_fields_are_not_marked() -> None:
    spec = record_spec("a", field(Scalar, "size", role="info", dtype="float32"))
    splits = {"train": measured(ROWS), "test": measured(rows(200, 2, shift=3.0))}
    found = splits_of(splits)
    differences = differences_of(found, columns_of(found, spec), [])
    assert [d.threshold for d in differences if d.name == "size"] == [
        "no model sees it",
        "no model sees it",
    ]
    assert not any(d.marked for d in differences)


@pytest.mark.parametrize(
    ("sizes", "compared", "cautions"),
    [
        ((500, 12), 10, ["Fewer than 30 records: test (12)."]),
        ((500, 100), 900, ["With 100 records", "Of 900 comparisons chance marks"]),
        ((2000, 1000), 499, []),
    ],
)
def test_cautions_tell_what_cannot_be_concluded(
    sizes: tuple[int, int], compared: int, cautions: list[str]
) -> None:
    found = {"train": RecordStatistics(sizes[0]), "test": RecordStatistics(sizes[1])}
    texts = cautions_of(splits_of(found), compared)
    starts = [*cautions, "Keys are compared one by one."]
    assert len(texts) == len(starts)
    assert all(map(str.startswith, texts, starts)), texts


def test_reference_is_train_or_the_largest_split() -> None:
    """Behind it come validation, test and others by name."""
    some = {name: RecordStatistics(5) for name in ("test", "b", "train", "val")}
    found = splits_of(some)
    assert [split.label for split in found] == ["train", "val", "test", "b"]
    assert [split.series for split in found] == [0, 1, 2, 3]
    sizes = {"a": RecordStatistics(5), "b": RecordStatistics(9)}
    assert [split.label for split in splits_of(sizes)] == ["b", "a"]
