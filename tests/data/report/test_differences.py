"""What is marked as a difference: what chance does not explain, and nothing else."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from schemagen.data.decoding import decode
from schemagen.data.records import records_of
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
from schemagen.data.statistics.measuring import Measuring
from schemagen.data.statistics.model import RecordStatistics
from schemagen.data.statistics.numbers import numbers

from .scenes import Features, example


def measured(rows: list[Features]) -> RecordStatistics:
    """Return what records are like."""
    measuring = Measuring()
    measuring.add(decode(records_of([example(row) for row in rows])))
    return measuring.found()


def compared(**splits: list[Features]) -> tuple[Difference, ...]:
    """Return the differences of splits without a schema."""
    found = splits_of({name: measured(rows) for name, rows in splits.items()})
    columns = columns_of(found, None)
    counted = [class_counts(each, found) for each in columns]
    return differences_of(found, columns, [each for each in counted if each])


def marked(**splits: list[Features]) -> list[tuple[str, str, str]]:
    """Return field, measure and size of what is marked."""
    found = compared(**splits)
    return [(each.name, each.measure, each.size) for each in found if each.marked]


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


def test_splits_of_one_kind_have_no_marks() -> None:
    """Whatever differs a little by chance is there, and not marked."""
    found = compared(train=rows(500, 1), validation=rows(200, 2), test=rows(100, 3))
    assert len(found) >= 6
    assert not any(each.marked for each in found)


def test_a_shifted_number_is_marked() -> None:
    """With how far, in standard deviations."""
    found = marked(train=rows(500, 1), test=rows(200, 2, shift=1.0))
    assert found[0][:2] == ("size", "mean")
    assert found[0][2].endswith(" SD")
    assert 0.8 < float(found[0][2].split()[0]) < 1.2


def test_what_is_missing_more_often_is_marked() -> None:
    """In points, of the records."""
    found = marked(train=rows(500, 1), test=rows(200, 2, lack=0.6))
    assert ("note", "missing") in [(name, measure) for name, measure, _ in found]


def test_a_class_that_training_lacks_is_marked_even_once() -> None:
    """No model can learn it; while one that the test lacks may be chance."""
    train = [{"kind": [index % 4]} for index in range(200)]
    test = [{"kind": [index % 4]} for index in range(80)]
    assert marked(train=train, test=test) == []
    assert marked(train=train, test=[*test, {"kind": [7]}]) == [
        ("kind", "classes in one split only", "1 of 81")
    ]
    assert [m for _, m, _ in marked(train=train, test=test[:3])] == []
    lost = marked(train=train, test=[row for row in test if row["kind"] != [3]])
    assert ("kind", "classes in one split only", "1 class") in lost


def test_from_few_records_nothing_else_is_concluded() -> None:
    """And the page says so."""
    train, test = rows(500, 1), rows(12, 2, shift=3.0)
    assert [m for _, m, _ in marked(train=train, test=test)] == []
    splits = splits_of({"train": measured(train), "test": measured(test)})
    assert cautions_of(splits, 10)[0] == (
        "Fewer than 30 records: test (12). Nothing is concluded from so few but which "
        "classes they have."
    )


def test_a_key_that_one_split_lacks_is_marked() -> None:
    """If it should have had some."""
    train = [{"a": [1], "b": [2.0] if index % 2 else None} for index in range(100)]
    without = [{"a": [1]} for _ in range(60)]
    assert ("b", "key in one split only", "50 %") in marked(train=train, test=without)
    assert marked(train=train, test=without[:5]) == []


def test_train_is_what_others_are_compared_with() -> None:
    """By its name, or else by its size; then validation and test."""
    some = {name: measured(rows(5, 1)) for name in ("test", "b", "train", "val")}
    assert [split.label for split in splits_of(some)] == ["train", "val", "test", "b"]
    sizes = {"a": measured(rows(5, 1)), "b": measured(rows(9, 1))}
    assert [split.label for split in splits_of(sizes)] == ["b", "a"]
    assert Counter(split.series for split in splits_of(some)) == Counter(range(4))
