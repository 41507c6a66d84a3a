"""Numbers that are stored as raw bytes are measured as numbers, where a schema tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import schemagen
from command_line import run
from schemagen import Label, Record, Scalar, SequenceRecord, Steps, Vector

from .messages import example, sequence_example, write_data

PRICES = np.round(np.random.default_rng(1).normal(50, 9, 100), 2)


class Sale(Record):
    """A sale."""

    price: Annotated[float, Scalar("float64")]
    place: Annotated[np.ndarray, Vector((2,), dtype="float64")]
    code: Annotated[int, Scalar("uint64")]
    sold: Annotated[int, Label(num_classes=2)]


def sale(at: int, price: float) -> bytes:
    """A record whose bytes differ from those of every other place."""
    return example(
        {
            "price": np.float64(price).tobytes(),
            "place": np.array([at, -at], np.float64).tobytes(),
            "code": np.uint64(2**63 - 1 - at).tobytes(),
            "sold": at % 2,
        }
    )


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Equal prices in both splits, each of which has no other twice; later ones are higher."""
    train = [sale(at, price) for at, price in enumerate(PRICES)]
    test = [
        sale(at, price) for at, price in enumerate([*PRICES[:50], *PRICES + 60], 200)
    ]
    return write_data(tmp_path / "sales", Sale, {"train": train, "test": test})


def numbers(found: Any, split: str, key: str) -> Any:
    """Return the statistics of a key's numbers in a split."""
    [kind] = found.splits[split].keys[key].by_kind.values()
    assert kind.bytes.count == kind.present == kind.lengths.count
    return kind.numbers


def test_they_are_measured(sales: Path) -> None:
    """Without the rounding of float32, whatever the number of values in a record."""
    found = schemagen.inspect(sales)
    price = numbers(found, "train", "price")
    assert (price.minimum, price.maximum) == (PRICES.min(), PRICES.max())
    assert price.mean == pytest.approx(PRICES.mean())
    assert sum(each.values for each in price.histogram.bins()) == 100
    place = numbers(found, "train", "place")
    assert (place.count, place.minimum, place.maximum) == (200, -99, 99)
    code = numbers(found, "train", "code")
    assert (code.minimum, code.maximum) == (2**63 - 100, 2**63 - 1)
    text = run("inspect", sales, "--records", "0").stdout
    assert f"{PRICES.min()} to" in text
    assert "bytes:" not in text


def test_they_drift_and_do_not_leak(sales: Path, tmp_path: Path) -> None:
    """Equal prices are no sign of equal records, in contrast to equal codes."""
    drift = run("inspect", sales, "--fail-on", "drift", "--format", "json")
    [values] = [
        each
        for each in json.loads(drift.stdout)["differences"]
        if (each["column"]["name"], each["quantity"]) == ("price", "values")
        and each["category"] is None
    ]
    assert values["distance"] > 0.5
    leakage = run("inspect", sales, "--fail-on", "leakage")
    assert leakage.exit_code == 0, leakage.output
    copies = write_data(
        tmp_path / "copies",
        Sale,
        {
            "train": [sale(at, price) for at, price in enumerate(PRICES)],
            "test": [sale(at, 1.0) for at in range(40)],
        },
    )
    leakage = run("inspect", copies, "--fail-on", "leakage")
    assert "SG541 field 'code'" in leakage.stderr
    page = tmp_path / "page.html"
    assert run("inspect", sales, "--html", page).exit_code == 0
    assert "Distribution of values of price" in page.read_text("utf-8")


def test_a_record_shows_them(sales: Path) -> None:
    text = run("inspect", sales, "--records", "1").stdout
    assert re.search(rf"^  price  bytes  {PRICES[0]}$", text, re.M)
    assert re.search(r"^  place  bytes  \[0, -?0\]$", text, re.M)


def test_bytes_of_another_size_are_no_numbers(tmp_path: Path) -> None:
    """They are damage, which is for `verify` to find."""
    some = [example({"price": np.float64(3).tobytes()}), example({"price": b"abc"})]
    data = write_data(tmp_path / "data", Sale, {"train": some})
    [price] = schemagen.inspect(data).splits["train"].keys["price"].by_kind.values()
    assert price.numbers is not None
    assert price.bytes is not None
    assert (price.present, price.numbers.count, price.bytes.count) == (2, 1, 2)


@pytest.mark.parametrize("largest", [1e308, 5e-324])
def test_extreme_values_are_measured(largest: float, tmp_path: Path) -> None:
    """Sums that float64 cannot hold have a mean, and no standard deviation."""
    values = [largest, largest, -largest / 2, 0.0, np.nan, np.inf]
    some = [sale(at, value) for at, value in enumerate(values * 6)]
    data = write_data(tmp_path / "data", Sale, {"train": some, "test": some})
    price = numbers(schemagen.inspect(data), "train", "price")
    assert (price.maximum, price.nan, price.infinite) == (largest, 6, (0, 6))
    assert price.mean == pytest.approx(largest * 0.375)
    assert (price.deviation is None) == (largest > 1)
    assert run("inspect", data, "--format", "json").exit_code == 0
    assert run("inspect", data, "--html", tmp_path / "page.html").exit_code == 0


class Trip(SequenceRecord):
    """A trip."""

    speed: Annotated[np.ndarray, Steps(Scalar("float64"))]


def test_those_of_steps_are_measured(tmp_path: Path) -> None:
    speeds = [np.float64(at).tobytes() for at in (1.5, 2.5)]
    some = [sequence_example({}, {"speed": speeds})]
    data = write_data(tmp_path / "data", Trip, {"train": some})
    found = schemagen.inspect(data).splits["train"].steps["speed"].values
    [speed] = found.by_kind.values()
    assert speed.numbers is not None
    assert (speed.numbers.minimum, speed.numbers.maximum) == (1.5, 2.5)
