"""The associations of a target with its features: measures, chance, ids, missing values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args

import numpy as np
import pytest
import schemagen
from schemagen import Label, Scalar, Text, VarLen
from schemagen.data.inspect.inspecting import statistics_of
from schemagen.data.one_pass import Wanted, read_data
from schemagen.data.profile.associations import (
    CORRELATION_RATIO,
    CRAMERS_V,
    MOST,
    SPEARMAN,
    Association,
    Associations,
    Classes,
    associations_of,
    correlation_ratio,
    cramers_v,
    keys_of,
    spearman,
)
from schemagen.data.profile.columns import specs_by_split
from schemagen.data.profile.profile import profile_of
from schemagen.data.sources import find_data
from schemagen.data.verify.verifying import splits_of

from .messages import example, record, write_data

SPECIES = ("cat", "dog", "owl")
TARGET = Annotated[int, Label(classes=SPECIES, role="target")]
NUMBER = Annotated[float | None, Scalar("float32")]
INTEGER = Annotated[int, Scalar("int64")]
WORDS = Annotated[str | None, Text()]

RANDOM = np.random.default_rng(5)
COUNT = 600
IDS = RANDOM.integers(0, 3, COUNT)
NOISE, NOISE_2 = RANDOM.normal(size=(2, COUNT))
SHARES = RANDOM.random(COUNT)


def told(directory: Path, target: Any, **columns: Any) -> list[Associations]:
    """Return what is told of data with these columns: annotations and values.

    Args:
        directory: where to write the data.
        target: the annotation and the values of `target`.
        columns: those of the other fields.
    """
    columns = {"target": target, **columns}
    fields = {name: annotation for name, (annotation, _) in columns.items()}
    optional: dict[str, Any] = {
        name: None
        for name, annotation in fields.items()
        if NoneType in get_args(get_args(annotation)[0])
    }
    rows = zip(*(values for _, values in columns.values()), strict=True)
    messages = [
        example({k: v for k, v in zip(fields, row, strict=True) if v is not None})
        for row in rows
    ]
    of_fields = record("Animal", fields, **optional)
    data = find_data(write_data(directory, of_fields, {"train": messages}, shards=2))
    groups = [each.group for each in splits_of(data, None, 1)]
    keys = keys_of(each.spec for each in groups if each.spec is not None)
    wanted = Wanted(statistics=True, rows=keys)
    found = read_data(data, groups, wanted, workers=1, progress=None)
    specs = specs_by_split(data, None)
    profile = profile_of(data, statistics_of(data, found, None), specs, None)
    return associations_of(profile.columns, profile.splits[0])


def features(found: list[Associations]) -> dict[str, Association]:
    """Return the associations of the only target, by the names of features."""
    [one] = found
    return {each.feature.name: each for each in one.features}


def test_correlation_ratio_of_two_classes_is_that_of_the_formula() -> None:
    """Two classes of means 1 and 5, each with variance 1: η² is 0.8."""
    ids, values = np.repeat([0, 7], 20), np.array([0, 2] * 10 + [4, 6] * 10, float)
    corrected = 1 - (1 - 0.8) * 39 / 38
    assert correlation_ratio(ids, values) == pytest.approx(corrected**0.5)
    assert correlation_ratio(ids, values * 1e300) == pytest.approx(corrected**0.5)


def test_cramers_v_of_a_table_is_that_of_the_formula() -> None:
    """The table has 60 and 20, 20 and 60: χ² is 40 of 160 records."""
    one = np.repeat([0, 0, 4, 4], (60, 20, 20, 60))
    other = np.repeat([3, 1, 3, 1], (60, 20, 20, 60))
    side = 2 - 1 / 159
    expected = ((40 / 160 - 1 / 159) / (side - 1)) ** 0.5
    assert cramers_v(one, other) == pytest.approx(expected)
    assert cramers_v(one, one) == pytest.approx(1)


def test_spearmans_correlation_is_that_of_the_formula_also_with_ties() -> None:
    """Neighbors swap places: ρ is 1 - 6 * 40 / (40 * (40**2 - 1)); ties have a mean."""
    one = np.arange(40.0)
    swapped = one.reshape(20, 2)[:, ::-1].ravel()
    expected = 1 - 6 * 40 / (40 * (40**2 - 1))
    assert spearman(one, np.exp(swapped)) == pytest.approx(expected)
    ties = np.repeat([0.0, 1.0], 20)
    assert spearman(ties, 5 - ties) == pytest.approx(-1)
    assert spearman(np.repeat([0.0, 1, 1, 2], 10), np.repeat([0.0, 1, 1, 2], 10)) == 1


@pytest.mark.parametrize(
    "measured",
    [
        lambda count: correlation_ratio(np.zeros(count, int), np.arange(count * 1.0)),
        lambda count: correlation_ratio(np.arange(count), np.zeros(count)),
        lambda count: correlation_ratio(np.arange(count), np.arange(count * 1.0)),
        lambda count: cramers_v(np.zeros(count, int), np.arange(count)),
        lambda count: cramers_v(np.arange(count), np.arange(count)),
        lambda count: spearman(np.zeros(count), np.arange(count * 1.0)),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 2, 200])
def test_nothing_is_told_by_constants_and_by_all_different_classes(
    measured: Callable[[int], float], count: int
) -> None:
    assert measured(count) == 0


def test_features_are_ranked_by_the_strength_of_their_association(
    tmp_path: Path,
) -> None:
    """Numbers, classes and bools; only inputs are features."""
    found = told(
        tmp_path,
        (TARGET, IDS),
        weak=(NUMBER, IDS + 3 * NOISE),
        strong=(NUMBER, IDS + 0.1 * NOISE),
        color=(
            Annotated[str, Label(classes=("red", "blue"), stored="text", role="input")],
            [
                ("red", "blue")[int(at > 0 or n > 1)]
                for at, n in zip(IDS, NOISE, strict=True)
            ],
        ),
        tame=(Annotated[bool, Scalar("bool")], (IDS + NOISE > 1).astype(int)),
        place=(WORDS, [f"place {at}" for at in (IDS + NOISE).astype(int)]),
        about=(Annotated[float, Scalar("float32", role="info")], IDS * 1.0),
        weight=(Annotated[float, Scalar("float32", role="weight")], IDS + 1.0),
        several=(Annotated[list[int], VarLen("int64")], [[at, at] for at in IDS]),
    )
    assert isinstance(found[0].target, Classes)
    assert (found[0].records, found[0].target.names) == (COUNT, list(SPECIES))
    names = {name: each.measure for name, each in features(found).items()}
    assert names == {
        "strong": CORRELATION_RATIO,
        "color": CRAMERS_V,
        "place": CRAMERS_V,
        "tame": CRAMERS_V,
        "weak": CORRELATION_RATIO,
    }
    strengths = [each.strength for each in features(found).values()]
    assert strengths == sorted(strengths, reverse=True)
    assert next(iter(names)) == "strong"
    color = features(found)["color"].feature
    assert isinstance(color, Classes)
    assert set(color.names) == {"red", "blue"}


def test_number_as_target_is_measured_by_rank_or_by_class(tmp_path: Path) -> None:
    """By numbers Spearman's correlation with its sign, by classes a correlation ratio."""
    price = np.exp(2 * NOISE_2)
    kinds = np.digitize(price, [0.5, 2])
    found = told(
        tmp_path,
        (Annotated[float, Scalar("float32", role="target")], price),
        age=(NUMBER, -np.log(price) + NOISE),
        kind=(Annotated[int, Label(classes=SPECIES, role="input")], kinds),
    )
    age, kind = (features(found)[name] for name in ("age", "kind"))
    assert age.measure == SPEARMAN
    assert -0.95 < age.strength < -0.8
    assert kind.measure == CORRELATION_RATIO
    assert kind.strength == pytest.approx(correlation_ratio(kinds, price), rel=1e-5)


@pytest.mark.parametrize("count", [40, 1000])
@pytest.mark.parametrize("rare", [False, True])
def test_fifty_random_columns_tell_nothing(
    tmp_path: Path, count: int, rare: bool
) -> None:
    """Of any distribution, also of a class with few records and of a number."""
    random = np.random.default_rng(count)
    ids = random.choice(3, count, p=(0.9, 0.07, 0.03) if rare else (0.4, 0.3, 0.3))
    values: dict[str, Any] = {}
    for at in range(10):
        lacking = random.random(count) < 0.3
        values |= {
            f"normal{at}": (
                NUMBER,
                [None if each else random.normal() for each in lacking],
            ),
            f"heavy{at}": (NUMBER, random.standard_cauchy(count)),
            f"few{at}": (INTEGER, random.poisson(0.1, count)),
            f"word{at}": (WORDS, [f"{each}" for each in random.zipf(1.6, count)]),
            f"rare{at}": (WORDS, np.where(random.random(count) < 0.03, "a", "b")),
        }
    assert told(tmp_path / "classes", (TARGET, ids), **values) == []
    number = Annotated[float, Scalar("float32", role="target")]
    assert told(tmp_path / "n", (number, random.lognormal(0, 2, count)), **values) == []


def test_ids_are_not_associated_with_a_target(tmp_path: Path) -> None:
    """Even if records are in the order of their classes."""
    at = np.arange(COUNT)
    found = told(
        tmp_path,
        (TARGET, np.sort(IDS)),
        number=(INTEGER, at + 10_000),
        whole=(NUMBER, at * 1.0),
        called=(WORDS, [f"animal {each}" for each in at]),
        pair=(WORDS, [f"pair {each // 2}" for each in at]),
    )
    assert found == []


def test_missing_values_tell_as_a_class(tmp_path: Path) -> None:
    """Of classes one more, of numbers and of lists two: missing and present."""
    owl = IDS == 2
    found = told(
        tmp_path,
        (TARGET, IDS),
        wings=(
            NUMBER,
            [n if is_owl else None for n, is_owl in zip(NOISE, owl, strict=True)],
        ),
        call=(WORDS, [None if is_owl else "loud" for is_owl in owl]),
        paws=(
            Annotated[list[int] | None, VarLen("int64")],
            [None if is_owl else [1, 2] for is_owl in owl],
        ),
        length=(
            NUMBER,
            [None if n > 1 else at + n for at, n in zip(IDS, NOISE, strict=True)],
        ),
    )
    some = features(found)
    for name in ("wings", "call", "paws"):
        feature = some[name].feature
        assert isinstance(feature, Classes)
        assert "missing" in feature.names
        assert feature.presence == (name != "call")
        assert some[name].strength == pytest.approx(1, abs=0.01)
        assert some[name].alone
        assert not some[name].every_class
    assert some["length"].measure == CORRELATION_RATIO
    assert some["length"].records == np.count_nonzero(NOISE <= 1)


def test_a_feature_that_tells_its_target_alone(tmp_path: Path) -> None:
    """A copy of it does; a feature with errors does not."""
    wrong = np.where(SHARES < 0.1, (IDS + 1) % 3, IDS)
    found = told(
        tmp_path,
        (TARGET, IDS),
        code=(WORDS, [f"code {at}" for at in IDS]),
        number=(NUMBER, IDS * 5.0 + SHARES / 10),
        nearly=(WORDS, [f"code {at}" for at in wrong]),
    )
    alone = {name: each.alone for name, each in features(found).items()}
    assert alone == {"code": True, "number": True, "nearly": False}
    assert all(each.every_class for each in features(found).values())


def test_the_strongest_features_are_returned(tmp_path: Path) -> None:
    """At most so many."""
    columns = {f"x{at}": (NUMBER, IDS + (at + 1) / 5 * NOISE) for at in range(9)}
    found = told(tmp_path, (TARGET, IDS), **columns)
    assert [*features(found)] == [f"x{at}" for at in range(MOST)]


def test_the_first_keys_of_a_schema_with_a_target_are_sampled() -> None:
    inputs = {f"x{at}": NUMBER for at in range(300)}
    none: dict[str, Any] = dict.fromkeys(inputs)
    wide = schemagen.describe(record("Wide", {**inputs, "target": TARGET}, **none))
    assert keys_of([wide]) == ("target", *[*inputs][:199])
    assert keys_of([schemagen.describe(record("Bare", inputs, **none))]) == ()
