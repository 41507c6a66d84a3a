"""How well features tell a target: information, chance, ids, missing values, sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args

import numpy as np
import pytest
import schemagen
from command_line import run
from schemagen import Label, Record, Scalar, SequenceRecord, Steps, Text, VarLen, Vector
from scipy import stats

from .messages import example, record, sequence_example, write_data

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


def facts_of(directory: Path) -> dict[str, Any]:
    """Return the facts about targets, by the name and what of it is measured."""
    found = [
        each
        for each in schemagen.inspect(directory).facts
        if each.measure == "normalised mutual information"
    ]
    return {f"{each.subject} {each.of}": each for each in found}


def write(
    directory: Path,
    columns: Mapping[str, Any],
    base: type[Record] = Record,
    lists: tuple[str, ...] = (),
) -> Path:
    """Write data with these columns: annotations and values.

    Args:
        directory: where.
        columns: the annotation and the values of each field; None for no value.
        base: the class of the record.
        lists: the fields that are feature lists.
    """
    fields = {name: annotation for name, (annotation, _) in columns.items()}
    optional: dict[str, Any] = {
        name: None
        for name, annotation in fields.items()
        if NoneType in get_args(get_args(annotation)[0])
    }
    messages = []
    for row in zip(*(values for _, values in columns.values()), strict=True):
        values = {k: v for k, v in zip(fields, row, strict=True) if v is not None}
        steps = {key: values.pop(key) for key in lists if key in values}
        messages.append(sequence_example(values, steps) if lists else example(values))
    written_by = record("Animal", fields, base, **optional)
    return write_data(directory, written_by, {"train": messages}, shards=2)


def told(directory: Path, target: Any, **columns: Any) -> dict[str, Any]:
    """Return the facts about the target of data, which is the first of its columns."""
    return facts_of(write(directory, {"target": target, **columns}))


def in_bins(values: Any, most: int) -> Any:
    """Return numbers that are all different in bins of about equal counts."""
    return np.searchsorted(
        np.quantile(values, np.linspace(0, 1, most + 1)[1:-1]), values
    )


def information(target: Any, feature: Any) -> float:
    """Return the normalised mutual information of two columns of ids, by scipy."""
    table = stats.contingency.crosstab(target, feature)[1]
    shares = table / table.sum()
    outer = np.outer(shares.sum(1), shares.sum(0))
    mutual = stats.entropy(shares.ravel(), outer.ravel())
    by_chance = (table.shape[0] - 1) * (table.shape[1] - 1) / (2 * table.sum())
    entropy = stats.entropy(shares.sum(1))
    return float((mutual - by_chance) / (entropy - by_chance))


def test_information_is_that_of_the_formula(tmp_path: Path) -> None:
    """Of classes, numbers in 16 bins, and numbers with as many zeros as fill a bin."""
    wrong = np.where(SHARES < 0.2, (IDS + 1) % 3, IDS)
    size = np.float32(IDS + NOISE)
    found = told(
        tmp_path,
        (TARGET, IDS),
        code=(WORDS, [f"code {at}" for at in wrong]),
        number=(INTEGER, wrong * 7),
        size=(NUMBER, size),
        rest=(NUMBER, np.where(IDS == 0, 0, 1 + np.abs(NOISE))),
    )
    expected = information(IDS, wrong)
    assert 0.3 < expected < 0.7
    for name in ("code", "number"):
        assert found[f"{name} values"].value == pytest.approx(expected)
        assert found[f"{name} values"].note == "3 bins, 600 records"
    expected = information(IDS, in_bins(size, 16))
    assert found["size values"].value == pytest.approx(expected)
    assert found["size values"].note == "16 bins, 600 records"
    rest = np.abs(NOISE[IDS != 0])
    bins = np.zeros(COUNT, int)
    bins[IDS != 0] = 1 + in_bins(rest, 15)
    assert found["rest values"].value == pytest.approx(information(IDS, bins))
    values = [each.value for each in found.values()]
    assert values == sorted(values, reverse=True)


def test_numbers_as_targets_are_in_ten_bins(tmp_path: Path) -> None:
    price = np.float32(np.exp(2 * NOISE_2))
    age = np.float32(-np.log(price) + NOISE / 2)
    found = told(
        tmp_path,
        (Annotated[float, Scalar("float32", role="target")], price),
        age=(NUMBER, age),
        cents=(NUMBER, 100 * price),
    )
    expected = information(in_bins(price, 10), in_bins(age, 16))
    assert expected > 0.2
    assert found["age values"].value == pytest.approx(expected)
    assert found["age values"].category == "target"
    assert found["cents values"].mark == "target-leakage"


def test_zero_for_one_class_and_skewed_for_the_other_tells_the_target(
    tmp_path: Path,
) -> None:
    """The share of variance between the classes is small, and yet nothing is unknown."""
    two = (IDS > 0).astype(int)
    found = told(
        tmp_path,
        (Annotated[int, Label(classes=("no", "yes"), role="target")], two),
        amount=(NUMBER, two * np.exp(3 * NOISE)),
    )
    [fact] = found.values()
    assert fact.value == pytest.approx(1)
    assert fact.mark == "target-leakage"
    assert fact.note.endswith("; tells target on its own")


def test_what_tells_the_target_or_a_class_on_its_own_is_marked(tmp_path: Path) -> None:
    """Copies, texts that name the class, a flag of a class; not a copy with errors."""
    wrong = np.where(SHARES < 0.1, (IDS + 1) % 3, IDS)
    found = told(
        tmp_path,
        (TARGET, IDS),
        path=(WORDS, [f"data/{SPECIES[at]}" for at in IDS]),
        copied=(Annotated[int, Label(classes=SPECIES, role="input")], IDS),
        is_owl=(Annotated[bool, Scalar("bool")], (IDS == 2).astype(int)),
        nearly=(WORDS, [f"code {at}" for at in wrong]),
    )
    words = {
        each.subject: each.note.partition("; ")[2]
        for each in found.values()
        if each.mark == "target-leakage"
    }
    assert words == {
        "path": "tells target on its own",
        "copied": "tells target on its own",
        "is_owl": "tells owl on its own",
    }
    for name in ("path", "copied"):
        assert found[f"{name} values"].value == pytest.approx(1)
    assert 0.5 < found["is_owl values"].value < 0.7
    assert 0.6 < found["nearly values"].value < 0.9


def test_numbers_of_which_the_target_was_made_are_marked(tmp_path: Path) -> None:
    """The classes end within one of 16 bins, and so there are more."""
    ids = RANDOM.integers(0, 3, 2000)
    found = told(
        tmp_path,
        (TARGET, ids),
        shifted=(NUMBER, ids * 5.0 + RANDOM.random(2000)),
        near=(NUMBER, ids + RANDOM.normal(size=2000) / 4),
    )
    assert found["shifted values"].mark == "target-leakage"
    assert found["shifted values"].note.startswith("166 bins, 2,000 records")
    assert found["near values"].mark == ""
    assert found["near values"].note == "16 bins, 2,000 records"


def test_a_copy_of_many_classes_is_marked(tmp_path: Path) -> None:
    """Chance is subtracted from the entropy, too."""
    ids = np.arange(2000) % 60
    classes = tuple(f"c{at}" for at in range(60))
    label = Annotated[int, Label(classes=classes, role="target")]
    found = told(tmp_path, (label, ids), code=(WORDS, [f"{at}" for at in ids]))
    assert found["code values"].value == pytest.approx(1)


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
    number = Annotated[float, Scalar("float32", role="target")]
    for name, target in (
        ("classes", (TARGET, ids)),
        ("number", (number, random.lognormal(0, 2, count))),
    ):
        found = told(tmp_path / name, target, **values)
        assert [each.value for each in found.values() if each.value] == []
        assert "Target" not in run("inspect", tmp_path / name).stdout


def test_independent_columns_are_zero_for_nearly_all_seeds(tmp_path: Path) -> None:
    """In 99 of 100."""
    random = np.random.default_rng(0)
    ids = random.integers(0, 3, 1000)
    columns = {f"x{at}": (NUMBER, random.normal(size=1000)) for at in range(100)}
    found = told(tmp_path, (TARGET, ids), **columns)
    values = [each.value for each in found.values()]
    assert len(values) == 100
    assert values.count(0) >= 99


def test_ids_are_not_judged(tmp_path: Path) -> None:
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
    assert found == {}


def test_only_inputs_are_features(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        (TARGET, IDS),
        about=(Annotated[float, Scalar("float32", role="info")], IDS * 1.0),
        weight=(Annotated[float, Scalar("float32", role="weight")], IDS + 1.0),
        tame=(Annotated[bool, Scalar("bool")], (IDS + NOISE > 1).astype(int)),
    )
    assert [*found] == ["tame values"]


def test_missing_values_are_a_bin(tmp_path: Path) -> None:
    """Presence is a feature of its own only where nothing else adds to it."""
    owl = IDS == 2
    found = told(
        tmp_path,
        (TARGET, IDS),
        wings=(
            NUMBER,
            [n if is_owl else None for n, is_owl in zip(NOISE, owl, strict=True)],
        ),
        paws=(
            Annotated[list[int] | None, VarLen("int64")],
            [None if is_owl else [1, 2] for is_owl in owl],
        ),
        length=(
            NUMBER,
            [None if n > 1 else at + n for at, n in zip(IDS, NOISE, strict=True)],
        ),
    )
    assert {*found} == {"wings presence", "paws presence", "length values"}
    for name in ("wings", "paws"):
        fact = found[f"{name} presence"]
        assert fact.value == pytest.approx(information(IDS, owl))
        assert fact.note == "2 bins, 600 records; tells owl on its own"
    assert found["length values"].note == "17 bins, 600 records"


def test_lengths_and_means_of_lists_are_features(tmp_path: Path) -> None:
    """Of texts lengths only; a record with one value has the same mean."""
    count = np.where(IDS == 2, 3, 1)
    found = told(
        tmp_path,
        (TARGET, IDS),
        tokens=(Annotated[list[str], VarLen("string")], [["a"] * n for n in count]),
        audio=(
            Annotated[list[float], VarLen("float32")],
            [
                [at - 1.0, at + 1.0][: n % 3 + 1]
                for at, n in zip(IDS, count, strict=True)
            ],
        ),
    )
    assert found["tokens lengths"].value == pytest.approx(information(IDS, IDS == 2))
    means = np.where(count == 1, IDS, IDS - 1)
    assert found["audio means"].value == pytest.approx(information(IDS, means))
    text = run("inspect", tmp_path, "--records", "0").stdout
    assert "Target: target, normalised mutual information\n" in text
    assert "length of tokens" in text
    assert "mean of audio" in text


def test_steps_and_means_of_feature_lists_are_features(tmp_path: Path) -> None:
    """The mean is that of the values of all steps."""
    step = [[-1.0, 1.0], [2.0, 7.0]]
    columns = {
        "target": (TARGET, IDS),
        "frames": (
            Annotated[list[np.ndarray], Steps(Vector((2,)))],
            [step if at == 1 else step[: at + 1] + step[:1] for at in IDS],
        ),
        "notes": (
            Annotated[list[str], Steps(Text())],
            [["x"] * (5 if at == 2 else 4) for at in IDS],
        ),
    }
    data = write(tmp_path, columns, SequenceRecord, ("frames", "notes"))
    found = facts_of(data)
    one = information(IDS, IDS == 2)
    assert found["notes steps"].value == pytest.approx(one)
    assert found["frames steps"].value == pytest.approx(one)
    means = np.select([IDS == 0, IDS == 1], [0, 2.25], 1.5)
    assert found["frames means"].value == pytest.approx(information(IDS, means))
    assert "steps of frames" in run("inspect", data, "--records", "0").stdout


def test_the_strongest_and_the_marked_are_shown(tmp_path: Path) -> None:
    """JSON has all of them."""
    columns = {f"x{at}": (NUMBER, IDS + (at + 1) / 30 * NOISE) for at in range(9)}
    columns["flag"] = (INTEGER, (IDS == 2).astype(int))
    data = write(tmp_path, {"target": (TARGET, IDS), **columns})
    shown = run("inspect", data, "--records", "0").stdout.partition("Target: ")[2]
    names = [line.split()[0] for line in shown.splitlines() if " bins" in line]
    assert names[6:] == ["flag"]
    assert all(name.startswith("x") for name in names[:6])
    facts = json.loads(run("inspect", data, "--format", "json").stdout)["facts"]
    every = [each for each in facts if each["measure"].endswith("mutual information")]
    assert len(every) == 10
    assert {each["split"] for each in every} == {"train"}


def test_there_is_nothing_without_a_target(tmp_path: Path) -> None:
    columns = {"one": (NUMBER, NOISE), "other": (NUMBER, NOISE)}
    assert facts_of(write(tmp_path, columns)) == {}
