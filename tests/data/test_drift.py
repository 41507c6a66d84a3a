"""Distances between splits: what chance explains is no drift, and what it does not is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon
from scipy.stats import ks_2samp

from .messages import example, write_file

Draw = Callable[[np.random.Generator, int], NDArray[Any]]

KS, JS = "Kolmogorov-Smirnov distance", "Jensen-Shannon distance"


def write(directory: Path, split: str, columns: Mapping[str, Any]) -> None:
    """Write a split; NaN of float columns is a value, None is missing."""
    names = [*columns]
    lists = [
        each.tolist() if isinstance(each, np.ndarray) else each
        for each in columns.values()
    ]
    records = [
        example({n: v for n, v in zip(names, row, strict=True) if v is not None})
        for row in zip(*lists, strict=True)
    ]
    write_file(directory / f"{split}-00000-of-00001", records)


def compared(
    directory: Path, train: Mapping[str, Any], test: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Write two splits, and return the facts that are distances and marked as drift."""
    for split, columns in (("train", train), ("test", test)):
        write(directory, split, columns)
    done = run("inspect", directory, "--format", "json", "--records", "0")
    facts = json.loads(done.stdout)["facts"]
    return [fact for fact in facts if fact["mark"] == "drift"]


def words(random: np.random.Generator, shares: Any, count: int) -> NDArray[Any]:
    """Return texts that have these shares, or shares in this proportion."""
    weights = np.asarray(shares, float)
    names = np.array([b"w%d" % at for at in range(len(weights))])
    return names[random.choice(len(weights), count, p=weights / weights.sum())]


ZIPF = 1 / np.arange(1, 301)


def lognormal(sigma: float, factor: float = 1) -> Draw:
    return lambda random, count: factor * random.lognormal(0, sigma, count)


def normal(mean: float = 0, deviation: float = 1) -> Draw:
    return lambda random, count: random.normal(mean, deviation, count)


def classes(*shares: float) -> Draw:
    return lambda random, count: words(random, shares, count)


def mixture(random: np.random.Generator, count: int) -> NDArray[Any]:
    """Return zeros, NaN, and values of both signs."""
    parts = [np.zeros(count), np.full(count, np.nan), random.normal(-5, 1, count)]
    parts.append(random.lognormal(2, 1, count))
    return np.choose(random.integers(0, 4, count), parts)


EQUAL: dict[str, Draw] = {
    "normal": normal(),
    **{f"lognormal {sigma}": lognormal(sigma) for sigma in (0.5, 1, 1.5, 2, 2.5)},
    "pareto": lambda random, count: random.pareto(1.5, count) + 1,
    "t": lambda random, count: random.standard_t(2, count),
    "uniform": lambda random, count: random.random(count),
    "rounded": lambda random, count: random.normal(0, 10, count).round(1),
    "poisson": lambda random, count: random.poisson(500, count),
    "geometric": lambda random, count: random.geometric(0.01, count),
    "mixture": mixture,
    "constant": lambda random, count: np.full(count, 2.5),
    "two classes": classes(97, 3),
    "ten classes": lambda random, count: random.integers(0, 10, count),
    "zipf": classes(*ZIPF),
    "texts": classes(*[1] * 900),
}


@pytest.mark.parametrize(("train", "test"), [(4_000, 1_000), (300, 30)])
def test_splits_of_one_distribution_do_not_drift(
    tmp_path: Path, train: int, test: int
) -> None:
    """Heavy tails, counts, mixtures, and many rare classes: three columns of each."""
    splits = [
        {
            f"{name} {seed}": draw(np.random.default_rng([seed, split]), count)
            for name, draw in EQUAL.items()
            for seed in range(3)
        }
        for split, count in enumerate((train, test))
    ]
    assert compared(tmp_path, *splits) == []


CHANGED: dict[str, tuple[Draw, Draw, str]] = {
    "shifted": (normal(), normal(0.4), KS),
    "scaled": (normal(5, 1), normal(5, 2), KS),
    "doubled": (lognormal(1), lognormal(1, 2), KS),
    "two points": (
        normal(),
        lambda random, count: random.choice([-1.0, 1.0], count),
        KS,
    ),
    "contaminated": (
        normal(),
        lambda random, count: np.where(
            random.random(count) < 0.2, 9.0, normal()(random, count)
        ),
        KS,
    ),
    "rounded": (
        normal(0, 10),
        lambda random, count: normal(0, 10)(random, count).round(),
        JS,
    ),
    # a population stability index of 0.42
    "shares": (classes(40, 30, 20, 10), classes(18, 25, 28, 29), JS),
    "new classes": (classes(1, 1), classes(1, 1, *[0.01] * 50), JS),
    "one of many": (classes(*[1] * 300), classes(1), JS),
    "counts": (
        lambda random, count: random.poisson(500, count),
        lambda random, count: random.poisson(510, count),
        KS,
    ),
    "amounts": (
        lambda random, count: random.integers(0, 60, count),
        lambda random, count: random.integers(10, 70, count),
        JS,
    ),
    "numbers of another type": (
        lambda random, count: random.poisson(50, count),
        lambda random, count: random.poisson(58, count).astype(float),
        KS,
    ),
}


def test_other_distributions_are_drift(tmp_path: Path) -> None:
    """Also with equal means and deviations: two points, rounded values."""
    splits: list[dict[str, Any]] = [{}, {}]
    for name, (*draws, _) in CHANGED.items():
        for at, (draw, count) in enumerate(zip(draws, (4_000, 1_000), strict=True)):
            splits[at][name] = draw(np.random.default_rng([len(name), at]), count)
    found = {(f["subject"], f["measure"]) for f in compared(tmp_path, *splits)}
    wanted = {(name, measure) for name, (*_, measure) in CHANGED.items()}
    assert wanted <= found
    assert {name for name, _ in found} == CHANGED.keys()


def test_distances_are_those_of_scipy(tmp_path: Path) -> None:
    """Numbers that are counted one by one are exact; of others, bins are below."""
    random = np.random.default_rng(3)
    draws = {
        "counts": (random.poisson(500, 4_000), random.poisson(520, 1_000)),
        "normal": (random.normal(9, 1, 4_000), random.normal(9.5, 2, 1_000)),
        "tail": (random.pareto(1, 4_000) + 1, 2 * random.pareto(1, 1_000) + 2),
        "rounded": (random.normal(0, 9, 4_000), random.normal(2, 9, 1_000).round()),
        "beyond": (random.normal(0, 1e-3, 4_000), np.repeat([-1e30, 1e30], 500)),
    }
    classes = words(random, [5, 3, 2], 4_000), words(random, [2, 3, 5], 1_000)
    train, test = (
        {name: both[at] for name, both in (draws | {"classes": classes}).items()}
        for at in (0, 1)
    )
    found = {
        (fact["subject"], fact["measure"]): fact["value"]
        for fact in compared(tmp_path, train, test)
    }
    exact = {
        name: ks_2samp(*(values.astype(np.float32) for values in both)).statistic
        for name, both in draws.items()
    }
    for name, distance in exact.items():
        tolerance = 1e-9 if name == "counts" else 0.02
        assert distance - tolerance <= found[name, KS] <= distance + 1e-9, name
    counts = [np.unique(each, return_counts=True)[1] for each in classes]
    by_chance = (3 - 1) * (1 / 4_000 + 1 / 1_000) / (8 * np.log(2))
    expected = (jensenshannon(*counts, base=2) ** 2 - by_chance) ** 0.5
    assert found["classes", JS] == pytest.approx(expected, rel=1e-9)


def test_values_of_a_record_are_not_independent(tmp_path: Path) -> None:
    """Each list repeats one value: 200 and 60 records are no more than so many numbers."""
    random = np.random.default_rng(8)
    splits: list[dict[str, Any]] = [
        {
            "floats": [[x] * 500 for x in random.normal(size=count)],
            "ids": [[int(x)] * 500 for x in random.integers(0, 2, count)],
            "names": [[x] * 50 for x in words(random, [1] * 5, count)],
            "some": [[1.5 * x] * 500 if x < 20 else None for x in range(count)],
            "long": [[x] * (9_000 if x > 2 else 1) for x in random.normal(size=count)],
        }
        for count in (200, 60)
    ]
    splits[1]["some"] = splits[1]["some"][:20] + [None] * 40
    found = compared(tmp_path, *splits)
    assert {(fact["subject"], fact["category"]) for fact in found} <= {
        ("some", "missing values")
    }
    other = {**splits[1], "floats": [[x] * 500 for x in random.normal(3, 1, 60)]}
    assert "floats" in {
        fact["subject"] for fact in compared(tmp_path / "other", splits[0], other)
    }


def test_columns_that_a_split_lacks_or_holds_otherwise_are_drift(
    tmp_path: Path,
) -> None:
    """Missing values, NaN and types are shares; what both lack is equal."""
    nan = float("nan")
    train = {
        "gone": [1.0] * 100,
        "nan": [float(at) for at in range(100)],
        "text": [*range(100)],
        "constant": [7] * 100,
        "same": [nan] * 100,
        "type": [7] * 100,
        "empty": [[]] * 100,
        "filled": [[]] * 100,
    }
    test = {
        "gone": [None] * 50,
        "nan": [nan] * 50,
        "text": [b"7"] * 50,
        "constant": [8] * 50,
        "same": [nan] * 50,
        "type": [7.0] * 50,
        "empty": [[]] * 50,
        "filled": [[1, 2]] * 50,
    }
    found = compared(tmp_path, train, test)
    assert {(f["subject"], f["of"], f["category"]) for f in found} == {
        ("gone", "", "missing values"),
        ("nan", "values", "NaN"),
        ("text", "", "bytes"),
        ("constant", "values", None),
        ("filled", "lengths", None),
    }
    notes = {fact["subject"]: fact["note"] for fact in found}
    assert notes["gone"] == "train: 0 %; test: 100 %"
    assert notes["constant"] == "train: 7 · 7 · 7 · 7 · 7; test: 8 · 8 · 8 · 8 · 8"
