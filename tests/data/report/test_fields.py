"""The table of all fields, the sentences above it, and what is said of each field."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from command_line import run
from damaged_files import flip_bit
from pictures import encoded
from schemagen import Image, Label, Mask, MultiLabel, Scalar, Text
from schemagen import inspect as inspected
from scipy.stats import spearmanr

from ..messages import example, record, write_data, write_file
from .conftest import Visit
from .pages import cells_of, page_about, rows_of, section_of, tones

KINDS = ("cat", "dog", "owl")
Animal = record(
    "Animal",
    {
        "name": Annotated[str, Text(role="info")],
        "kind": Annotated[int, Label(classes=KINDS)],
        "size": Annotated[float, Scalar("float32")],
        "age": Annotated[int, Scalar("int64")],
        "rain": Annotated[float | None, Scalar("float32")],
        "tags": Annotated[list[int], MultiLabel(classes=("a", "b", "c"))],
    },
    rain=None,
)


def animals(count: int, seed: int, size: float = 50, kinds: int = 3) -> list[bytes]:
    """Return records of animals; a fifth of them have no rain, and half have none of it."""
    random = np.random.default_rng(seed)
    return [
        example(
            {
                "name": f"n{seed}-{at}",
                "kind": at % kinds,
                "size": float(random.normal(size, 9)),
                "age": int(random.integers(0, 90)),
                "tags": [0, 1] if at % 3 else [1],
                **({"rain": float(at % 2 * random.gamma(2, 9))} if at % 5 else {}),
            }
        )
        for at in range(count)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train and test, of which test is unlike train."""
    train, test = animals(600, 1), animals(200, 2, size=90, kinds=2)
    test[10:13] = train[21], train[22], train[24]  # no owls
    splits = {"train": [*train, train[0]], "test": test}
    return write_data(tmp_path_factory.mktemp("fields") / "data", Animal, splits)


@pytest.fixture(scope="module")
def page(data: Path) -> str:
    """The report."""
    return page_about(data)


CAPTION = "click a heading to sort"


def test_fields_come_first_with_the_facts_of_each_split(data: Path, page: str) -> None:
    assert re.findall(r'<section id="(\w+)"', page)[:2] == ["overview", "fields"]
    heads, *rows = rows_of(page, CAPTION)
    fields = {
        each: rows[2 * at : 2 * at + 2]
        for at, each in enumerate(("name", "kind", "size", "age", "rain", "tags"))
    }
    assert [rows[at][0] for at in range(0, 12, 2)] == [*fields]
    facts = {
        (fact.subject, fact.split, fact.measure): fact.text
        for fact in inspected(data).facts
        if fact.of == "values"
    }
    for name in ("size", "age", "rain"):
        for split, row in zip(("train", "test"), fields[name], strict=True):
            cells = dict(zip(heads[-len(row) :], row, strict=True))
            assert cells["Split"] == split
            for head, measure in (
                ("Mean", "mean"),
                ("Deviation", "standard deviation"),
                ("Minimum", "minimum"),
                ("Median", "median"),
                ("Maximum", "maximum"),
            ):
                assert cells[head] == facts[name, split, measure]
    rain = dict(zip(heads, fields["rain"][0], strict=True))
    assert (rain["Missing"], rain["Zeros"]) == ("20 %", "50 %")
    kind = dict(zip(heads, fields["kind"][0], strict=True))
    assert (kind["Distinct"], kind["Mean"]) == ("3", "")
    assert fields["size"][1][-1].startswith("drift: ")
    assert section_of(page, "fields").count('class="marked"') == 2  # size and kind
    assert section_of(page, "fields").count('<svg class="spark') == 12


def test_data_of_one_split_has_no_columns_of_splits_and_drift(tmp_path: Path) -> None:
    page = page_about(write_data(tmp_path / "data", Animal, {"train": animals(60, 1)}))
    heads, *rows = rows_of(page, CAPTION)
    assert not {"Split", "Drift"} & set(heads)
    assert len(rows) == 6


def verdicts(page: str) -> dict[str, str]:
    """Return the sentences of the banner, and the sections that they link to."""
    [banner] = re.findall(r'<ul class="verdicts">(.*?)</ul>', page, re.DOTALL)
    items = re.findall(r'<li class="tone-\w+">(?:<a href="#(\w+)">)?([^<]*)', banner)
    return {unescape(text): section for section, text in items}


def test_the_banner_names_what_is_marked(page: str) -> None:
    """Fields, splits and classes, each mark in one sentence with a link."""
    assert [*verdicts(page).items()] == [
        ("Leakage: 3 records of train in test.", "duplicates"),
        ("Duplicates: 1 record in train.", "duplicates"),
        ("Drift: size 0.97 and kind 0.43 in test.", "differences"),
        (
            "Missing classes: owl of kind and c of tags in test; c of tags in train.",
            "classes",
        ),
        ("Format and schema: no errors in 801 records.", ""),
    ]
    assert tones(page) == [*["bad"] * 4, "good"]


def test_the_banner_says_what_was_checked_if_nothing_is_marked(tmp_path: Path) -> None:
    labels = [{"id": f"i{at:03}", "kind": at % 3} for at in range(300)]
    kinds = record("Kinds", {"id": str, "kind": Annotated[int, Label(classes=KINDS)]})
    rows = [*map(example, labels)]
    splits = {"train": rows[:200], "test": rows[200:]}
    page = page_about(write_data(tmp_path / "data", kinds, splits))
    assert [*verdicts(page)] == [
        "Nothing is marked. Checked: files; duplicates of records and id; drift in test; "
        "missing classes of kind.",
        "Format and schema: no errors in 300 records.",
    ]


def test_the_banner_names_what_tells_a_target(tmp_path: Path) -> None:
    rows = [{"hint": at % 3, "kind": at % 3} for at in range(300)]
    kinds = record(
        "Kinds",
        {
            "hint": Annotated[int, Scalar("int64")],
            "kind": Annotated[int, Label(classes=KINDS)],
        },
    )
    splits = {"train": [*map(example, rows)]}
    found = verdicts(page_about(write_data(tmp_path / "data", kinds, splits)))
    assert found["Target leakage: hint tells kind."] == "target"


def test_cells_in_bytes_say_so_and_have_no_count_of_texts(page: str) -> None:
    rows = rows_of(page, CAPTION)
    [name] = [row for row in rows if row[0] == "name"]
    cells = dict(zip(rows[0], name, strict=True))
    assert cells["Kind"].endswith(", sizes in bytes")
    assert cells["Minimum"] == "4"
    assert cells["Distinct"] == ""


def test_texts_that_look_like_classes_are_in_quotes_and_most_are_in_the_table(
    tmp_path: Path,
) -> None:
    rows = [{"word": ["and", "or"][at % 2], "many": f"w{at % 20}"} for at in range(400)]
    for name in ("train", "test"):
        path = tmp_path / "data" / f"{name}-0-of-1.tfrecord"
        write_file(path, [example(row) for row in rows])
    classes = section_of(page_about(tmp_path / "data"), "classes")
    assert "Balanced; &#34;and&#34; has 400 records." in classes
    assert "8 more are only in the table." in classes


def test_damage_is_in_the_banner(tmp_path: Path) -> None:
    path = write_file(tmp_path / "data" / "train-0-of-1", animals(40, 1))
    flip_bit(path, 60)
    found = verdicts(page_about(path.parent))
    [damage] = [text for text in found if text.startswith("Damage: ")]
    assert "train-0-of-1: record 0 at byte 0" in damage
    assert found[damage] == "findings"


def numeric_rows(count: int, columns: int) -> list[dict[str, Any]]:
    """Return rows of numbers of which each goes with the one before it."""
    random = np.random.default_rng(3)
    found = [random.normal(size=count)]
    for _ in range(columns - 1):
        found.append(-0.7 * found[-1] + random.normal(size=count))
    found[1] = np.exp(found[1])
    names = [f"c{at}" for at in range(columns)]
    rows = [
        dict(zip(names, map(float, row), strict=True))
        for row in zip(*found, strict=True)
    ]
    for row in rows[::4]:
        del row["c2"]
    return rows


@pytest.mark.parametrize("declared", [True, False])
def test_correlations_of_numbers_are_a_matrix(declared: bool, tmp_path: Path) -> None:
    """Spearman's, with a schema and without; neither needs a target."""
    rows = numeric_rows(500, 4)
    optional = Annotated[float | None, Scalar("float32")]
    numbers = record(
        "Numbers",
        dict.fromkeys(("c0", "c1", "c3"), Annotated[float, Scalar("float32")])
        | {"c2": optional},
        c2=None,
    )
    messages = [*map(example, rows)]
    if declared:
        data = write_data(tmp_path / "data", numbers, {"train": messages})
    else:
        data = write_file(tmp_path / "data" / "train-0-of-1", messages).parent
    page = page_about(data)
    shown = cells_of(page, "Spearman's correlation, in 500 records of train")
    names = rows_of(page, "Spearman's correlation, in 500")[0][1:]
    assert sorted(names) == ["c0", "c1", "c2", "c3"]
    for one in names:
        for other, text in zip(names, shown[one], strict=True):
            if one == other:
                assert text == ""
                continue
            both = [
                (row[one], row[other]) for row in rows if one in row and other in row
            ]
            expected = spearmanr(*zip(*both, strict=True)).statistic
            assert float(text.replace("\N{MINUS SIGN}", "-")) == pytest.approx(
                expected, abs=0.006
            )
    assert "The strongest: c" in section_of(page, "correlations")


def test_the_strongest_of_many_correlations_are_listed(tmp_path: Path) -> None:
    rows = numeric_rows(200, 25)
    page = page_about(
        write_file(tmp_path / "data" / "a-0-of-1", map(example, rows)).parent
    )
    heads, *pairs = rows_of(page, "Spearman's correlation, in 200 records")
    assert heads == ["Name", "Other name", "Correlation", "Records"]
    assert len(pairs) == 40
    assert any(row[3] == "150" for row in pairs)


def test_constants_and_texts_have_no_correlations(tmp_path: Path) -> None:
    rows = [{"a": 1.0, "b": at, "c": "x"} for at in range(99)]
    page = page_about(
        write_file(tmp_path / "data" / "a-0-of-1", map(example, rows)).parent
    )
    assert 'id="correlations"' not in page


def test_frequent_and_extreme_values_are_listed(tmp_path: Path) -> None:
    """Of each split; texts by their length."""

    def rows(first: int, count: int) -> list[bytes]:
        return [
            example(
                {"n": at % 40, "text": "a" * (at % 30 + 1) + f"{at}", "x": at * 0.1}
            )
            for at in range(first, first + count)
        ]

    write_file(tmp_path / "data" / "train-0-of-1.tfrecord", rows(0, 130))
    write_file(tmp_path / "data" / "test-0-of-1.tfrecord", rows(200, 40))
    page = page_about(tmp_path / "data")
    frequent = rows_of(page, "Most frequent values of n")
    assert frequent[0] == [
        "Name",
        "train: count",
        "train: share",
        "test: count",
        "test: share",
    ]
    assert [row[:2] for row in frequent[1:]] == [[f"{n}", "4"] for n in range(10)]
    extremes = cells_of(page, "Lowest and highest values of n")
    assert [*extremes] == ["0", "1", "2", "3", "4", "35", "36", "37", "38", "39"]
    assert extremes["39"] == ["3", "2.3 %", "1", "2.5 %"]
    texts = [*cells_of(page, "Shortest and longest values of text")]
    assert (texts[0], texts[-1]) == ("a0", "a" * 30 + "239")
    assert "Most frequent values of text" not in page
    assert "Most frequent values of x" not in page


def test_shares_of_classes_among_pixels_are_of_the_samples(tmp_path: Path) -> None:
    """With ids that are not of a class, and classes that never occur."""
    scan = record(
        "Scan",
        {
            "photo": Annotated[bytes, Image((2, 4, 3), encoding="png")],
            "mask": Annotated[
                np.ndarray,
                Mask(
                    (2, 4), classes=("sky", "road", "tree"), encoding="raw", ignore=255
                ),
            ],
        },
    )
    photo = encoded(np.zeros((2, 4, 3), np.uint8), "PNG")
    row = {"photo": photo, "mask": bytes([0, 0, 0, 0, 1, 1, 255, 255])}
    data = write_data(tmp_path / "data", scan, {"train": [example(row)] * 5})
    page = page_about(data)
    shares = cells_of(page, "Share of the pixels of mask, in the 5 samples drawn")
    assert shares == {
        "sky": ["20", "50 %"],
        "road": ["10", "25 %"],
        "tree": ["0", "0 %"],
        "ignored (255)": ["10", "25 %"],
    }
    assert "Not in the 5 samples drawn: tree." in page


def test_labels_of_a_list_are_not_counted_as_records(page: str) -> None:
    notes = re.findall(r'<p class="note">([^<]*)</p>', section_of(page, "classes"))
    assert "Imbalanced 1.5:1; owl has 200 records." in notes
    assert "Imbalanced 1.5:1; a has 532 labels." in notes


def test_short_cells_with_markup_are_not_long(tmp_path: Path) -> None:
    rows = [{"a": at, **({"b": "x"} if at % 2 else {})} for at in range(20)]
    page = page_about(
        write_file(tmp_path / "data" / "a-0-of-1", map(example, rows)).parent
    )
    samples = section_of(page, "samples")
    assert '<span class="absent">' in samples
    assert 'class="long"' not in samples


def test_the_page_of_two_datasets_does_not_count_them_together(
    data: Path, tmp_path: Path
) -> None:
    other = write_data(tmp_path / "other", Animal, {"train": animals(60, 5)})
    out = tmp_path / "diff.html"
    assert run("diff", data, other, "--html", out).exit_code == 1
    page = out.read_text("utf-8")
    assert page.index('<section id="diff"') < page.index('<section id="fields"')
    assert "Made by <code>schemagen diff</code>" in page
    assert "All 6 fields in words" in page
    labels = {"data train", "data test", "other train"}
    notes = re.findall(r'<p class="note">([^<]*)</p>', section_of(page, "classes"))
    assert notes
    assert all(each.split(":")[0] in labels for each in notes)
    assert "<dt>values</dt>" not in page
    assert "on disk</dt>" not in page
    assert not [text for text in verdicts(page) if text.startswith(("Leakage", "Dupl"))]
    heads, *rows = rows_of(page, "All fields")
    assert heads[:2] == ["key", "dataset"]
    assert [row[1] for row in rows] == ["data", "other"] * 6


Order = Callable[[], Sequence[str]]


@pytest.mark.integration
def test_fields_are_sorted_by_their_headings(visit: Visit, data: Path) -> None:
    """By mouse and keyboard; splits stay with their field, and fields without a value last."""
    page_about(data)
    page = visit(data.parent / "report.html")
    names = page.locator(".fields tbody .name")
    first = names.all_inner_texts()
    head = page.locator(".fields thead th", has_text="Mean")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts()[:3] == ["size", "age", "rain"]
    assert page.locator(".fields tbody tr").nth(1).inner_text().startswith("test")
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert names.all_inner_texts()[:4] == ["name", "rain", "age", "size"]
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") is None
    assert names.all_inner_texts() == first
    page.get_by_role("button", name="Drift").click()
    assert set(names.all_inner_texts()[:2]) == {"size", "kind"}
    page.get_by_role("button", name="Field").click()
    assert names.all_inner_texts() == sorted(first)
    assert page.locator("[aria-sort]").count() == 1


@pytest.mark.integration
def test_fields_are_found_by_a_part_of_their_names(visit: Visit, data: Path) -> None:
    page_about(data)
    page = visit(data.parent / "report.html")
    count = page.locator(".search output")
    assert count.inner_text() == "6 fields"
    page.get_by_role("searchbox").fill("A")
    shown = page.locator(".fields tbody:visible .name").all_inner_texts()
    assert shown == ["name", "age", "rain", "tags"]
    assert count.inner_text() == "4 of 6 fields"
    page.get_by_role("searchbox").fill("")
    assert page.locator(".fields tbody:visible").count() == 6


@pytest.mark.integration
@pytest.mark.parametrize(("width", "columns"), [(390, 1), (1280, 3), (1600, 4)])
def test_wide_screens_have_more_columns_of_cards(
    visit: Visit, data: Path, width: int, columns: int
) -> None:
    page_about(data)
    page = visit(data.parent / "report.html", width=width)
    grid = (
        "getComputedStyle(document.querySelector('#keys .cards')).gridTemplateColumns"
    )
    assert len(page.evaluate(grid).split()) == columns
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("least", [0, -62_135_596_800_000_000])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_integers_that_are_equal_as_floats_warn_of_nothing(
    tmp_path: Path, least: int
) -> None:
    values = [*[least] * 50, *(2**62 + at for at in range(50))]
    path = write_file(tmp_path / "records", [example({"x": each}) for each in values])
    assert '<span class="name">x</span>' in page_about(path)
