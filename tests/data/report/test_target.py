"""The section of the page that shows targets against the features that tell the most."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from command_line import run
from schemagen import Label, Scalar, Text

from ..messages import example, record, write_data
from .conftest import Visit, make_report
from .pages import cells_of, page_about, section_of

KINDS = ("cat", "dog", "owl")
RANDOM = np.random.default_rng(3)
COUNT = 2400
IDS = RANDOM.integers(0, 3, COUNT)
NOISE = RANDOM.normal(size=COUNT)

Animal = record(
    "Animal",
    {
        "kind": Annotated[int, Label(classes=KINDS, role="target")],
        "price": Annotated[float, Scalar("float32", role="target")],
        "size": Annotated[float, Scalar("float32")],
        "code": Annotated[str, Text()],
        "wings": Annotated[int | None, Scalar("int64")],
        "noise": Annotated[float, Scalar("float32")],
    },
    wings=None,
)


def rows() -> list[dict[str, Any]]:
    """Return animals: owls have wings, and larger ones have a higher price."""
    return [
        {
            "kind": int(at),
            "price": float(10 * at + noise),
            "size": float(at + 0.5 * noise),
            "code": f"<b>{'abc'[at]}",
            **({"wings": 2} if at == 2 else {}),
            "noise": float(other),
        }
        for at, noise, other in zip(IDS, NOISE, NOISE[::-1], strict=True)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = [*map(example, rows())]
    splits = {"train": messages, "test": messages[:50]}
    return write_data(tmp_path_factory.mktemp("target") / "animals", Animal, splits)


@pytest.fixture(scope="module")
def page(data: Path) -> str:
    """The report."""
    return page_about(data)


@pytest.fixture(scope="module")
def section(page: str) -> str:
    """Its section of targets."""
    return section_of(page, "target")


def test_features_are_listed_with_their_strength(page: str, section: str) -> None:
    """After the classes, from a sample of the first split."""
    order = re.findall(r'<section id="(\w+)"', page)
    assert order[order.index("target") - 1] == "classes"
    assert section.count("from 2,000 records of train") == 2
    kind = cells_of(section, "The features that tell the most about kind")
    assert [*kind] == ["code", "wings, missing or not", "size"]
    assert "Normalised mutual information" in section
    assert kind["code"] == ["1.00", "3", "2,000"]
    assert re.match(r"0\.[45]\d", kind["size"][0])
    price = cells_of(section, "The features that tell the most about price")
    assert price["size"][1:] == ["16", "2,000"]
    assert "noise" not in section


def test_a_feature_that_tells_its_target_alone_has_a_note(section: str) -> None:
    notes = re.findall(r'<p class="note">(.*?)</p>', section)
    question = "on its own. Is it known when the model is used?"
    assert notes == [
        f"code: tells kind {question}",
        f"wings, missing or not: tells owl {question}",
    ]


def test_plots_have_the_same_numbers_as_tables(section: str) -> None:
    """Shares of classes, numbers by class, and numbers in fifths of the records."""
    assert section.count("<figure ") == section.count("As a table") == 6
    shares = cells_of(section, "Share of each kind by code")
    for letter in "abc":
        assert sorted(shares[f"<b>{letter}"][1:]) == ["0 %", "0 %", "100 %"]
    sizes = cells_of(section, "size by kind")
    assert sum(int(row[0].replace(",", "")) for row in sizes.values()) == 2000
    for at, name in enumerate(KINDS):
        own = (IDS + 0.5 * NOISE)[at == IDS]
        low, median, high, mean = map(float, sizes[name][1:])
        expected = [*np.quantile(own, (0.05, 0.5, 0.95)), own.mean()]
        assert [low, median, high, mean] == pytest.approx(expected, abs=0.15)
    fifths = cells_of(section, "price in fifths of the records by size")
    assert [row[0] for row in fifths.values()] == ["400"] * 5
    medians = [float(row[2]) for row in fifths.values()]
    assert medians == sorted(medians)


def test_whole_numbers_keep_their_digits(tmp_path: Path) -> None:
    """As in the tables of values; means differ from their neighbors."""
    flat = record(
        "Flat",
        {
            "price": Annotated[int, Scalar("int64", role="target")],
            "area": Annotated[int, Scalar("int64")],
        },
    )
    rows = [
        {"price": 1_234_567 + at % 50, "area": 54_321 + at % 50} for at in range(500)
    ]
    data = write_data(tmp_path, flat, {"train": [*map(example, rows)]})
    fifths = cells_of(page_about(data), "price in fifths of the records by area")
    assert next(iter(fifths)) == "54,321 to 54,330"
    assert fifths["54,321 to 54,330"][1:] == [
        "1,234,567",
        "1,234,571",
        "1,234,576",
        "1,234,571.5",
    ]


def test_keys_of_plots_name_classes_and_not_splits(section: str) -> None:
    keys = re.findall(r'<p class="key" aria-hidden="true">(.*?)</p>', section)
    names = [re.findall(r"</span>(.*?)</span>", each) for each in keys]
    assert len(names) == 5  # points have one series
    assert all(sorted(each) == sorted(KINDS) for each in names[:3])
    assert "train" not in str(names)


def test_there_is_no_section_without_an_association(tmp_path: Path) -> None:
    messages = [
        example(
            {"kind": int(at), "price": float(n), "size": 1.0, "code": "", "noise": 0.0}
        )
        for at, n in zip(IDS[:300], NOISE, strict=False)
    ]
    directory = write_data(tmp_path / "data", Animal, {"train": messages})
    page = page_about(directory)
    assert section_of(page, "target") == ""
    assert "#target" not in page


def test_the_page_has_the_facts_of_the_text(data: Path, section: str) -> None:
    shown = run("inspect", data, "--records", "0").stdout.partition("Target: kind")[2]
    for line in filter(lambda line: " bins" in line, shown.splitlines()):
        name, value = line.split("  ")[0], re.search(r"\d\.\d\d", line)
        assert value is not None
        kind = cells_of(section, "The features that tell the most about kind")
        price = cells_of(section, "The features that tell the most about price")
        assert value[0] in {**price, **kind}[name] + {**kind, **price}[name]


@pytest.mark.integration
@pytest.mark.parametrize("width", [390, 1280])
def test_the_section_fits_the_screen(visit: Visit, data: Path, width: int) -> None:
    """And the table of features is whole."""
    shown = visit(make_report(data, data.parent / "report.html"), width=width)
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert shown.locator("#target h3").first.inner_text() == "kind"
    tables = shown.locator("#target .figure > .scroll")
    for at in range(tables.count()):
        assert tables.nth(at).evaluate("e => e.scrollWidth - e.clientWidth") == 0
