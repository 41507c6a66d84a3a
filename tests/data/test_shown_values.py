"""Numbers, shares, times, ids, classes and samples, as text, card and page show them."""

from __future__ import annotations

import base64
import datetime as dt
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import schemagen
from command_line import run
from hypothesis import given
from hypothesis import strategies as st
from schemagen import (
    Label,
    MultiLabel,
    Record,
    Scalar,
    SequenceRecord,
    Steps,
    Text,
    Vector,
)
from tiers import examples

from .messages import example, sequence_example, write_data, write_file
from .report.pages import page_about, rows_of

SPRING = 1_710_000_000  # 2024-03-09 16:00:00


def words_of(path: Path) -> dict[str, str]:
    """Return what text, card and page say of the values of each field."""
    facts = schemagen.inspect(path).facts
    return {each.subject: each.text for each in facts if each.measure == "values"}


def samples_of(path: Path) -> dict[str, str]:
    """Return what the text shows of the first record, by its lines' first words."""
    text = run("inspect", path, "--records", "1").stdout
    text = text.partition("\nrecord 0 of ")[2].partition("\n\n")[0]
    lines = (re.split(r"\s{2,}", line.strip(), maxsplit=2) for line in text.split("\n"))
    return {line[0]: line[2] for line in lines if len(line) == 3}


# The values of a key in records, and what is said of them.
VALUES: list[tuple[Sequence[Any], str]] = [
    ([0.1], "always 0.1"),
    ([-0.0], "always 0"),
    ([-1.5], "always -1.5"),
    ([1e-9], "always 1e-9"),
    ([6e23], "always 6e+23"),
    ([9999.0], "always 9,999"),
    ([1234567], "always 1,234,567"),
    ([-(2**63)], "always -9,223,372,036,854,775,808"),
    ([float("nan"), 1.0], "1; 1 NaN"),
    ([float("inf"), -float("inf"), 0.5], "0.5; 1 -inf; 1 inf"),
    ([1, 1, 2], "1 (67 %), 2 (33 %)"),
    ([1] * 1999 + [2], "1 (99.9 %), 2 (<0.1 %)"),
    (range(100), "0 to 99, mean 49.5; 100 different"),
    (
        range(10**9, 10**9 + 39_998),
        "1,000,000,000 to 1,000,039,997, mean 1,000,020,000; more than 1,024 different",
    ),
    (
        [1e6 + at / 8 for at in range(8)],
        "1,000,000 to 1,000,000.9, mean 1,000,000.44; 8 different",
    ),
    ([6e23 + at * 1e17 for at in range(8)], "6e+23 to 6.000007e+23"),
    ([float(at) for at in range(8)], "0 to 7, mean 3.5; 8 different; whole numbers"),
]


@pytest.mark.parametrize(
    ("values", "expected"), VALUES, ids=lambda each: str(each)[:30]
)
def test_numbers_are_shown_by_their_range(
    tmp_path: Path, values: Sequence[Any], expected: str
) -> None:
    """With the digits that tell them apart, and exact where it says so."""
    path = write_file(tmp_path / "part", [example({"x": each}) for each in values])
    shown = words_of(path)["x"]
    assert shown.startswith(expected)
    assert ("whole numbers" in shown) == ("whole numbers" in expected)


@pytest.mark.parametrize("key", ["id", "image/id", "user_id", "imageId", "ids"])
def test_ids_have_no_separators(tmp_path: Path, key: str) -> None:
    """Their mean says nothing; other integers have both."""
    rows = [{key: 10**6 + at, "paid": 10**6 + at} for at in range(2000)]
    path = write_file(tmp_path / "part", map(example, rows))
    words = words_of(path)
    assert words[key] == "1000000 to 1001999; more than 1,024 different"
    assert words["paid"].startswith("1,000,000 to 1,001,999, mean 1,001,000; ")
    facts = [each for each in schemagen.inspect(path).facts if each.of == "values"]
    shown = {(each.subject, each.measure): each.text for each in facts}
    assert shown[key, "maximum"] == "1001999"
    assert shown["paid", "maximum"] == "1,001,999"
    assert rows_of(page_about(path), f"Values of {key}")[2] == ["Minimum", "1000000"]


class Visitor(Record):
    """What has names, dates and numbers of all kinds."""

    visit: Annotated[int, Scalar("uint64", role="info")]
    when: Annotated[dt.datetime, Scalar("int64", unit="ms")]
    spent: Annotated[dt.timedelta, Scalar("int64", unit="s")]
    member: bool
    flags: Annotated[np.ndarray, Vector((3,), "bool")]
    area: Annotated[float, Scalar("float64", key="zz/area")]
    ratio: float
    page: Annotated[int, Label(classes=("home", "cart"), key="aa/page")]
    kind: Annotated[str, Label(classes=("new", "old"), stored="text")]
    likes: Annotated[list[str], MultiLabel(classes=("tea", "milk"))]
    secret: Annotated[bytes, Scalar("bytes", transfer_encoding="base64")]
    note: Annotated[str, Text(role="info")]


def visitor(at: int) -> dict[str, Any]:
    return {
        "visit": np.array([2**64 - 1 - at], "<u8").tobytes(),
        "when": SPRING * 1000 + 86_400_000 * at + 250,
        "spent": 90 + at,
        "member": at % 2,
        "flags": [1, 0, at % 2],
        "zz/area": np.array([0.1 + at], "<f8").tobytes(),
        "ratio": 0.1 + at,
        "aa/page": at % 3,
        "kind": ("new", "old")[at % 2],
        "likes": [0, 1],
        "secret": base64.b64encode(b"\xff\x00"),
        "note": "a\nb",
        "other": 7,
        "also": "x",
    }


SHOWN = {
    "visit": "18446744073709551615",
    "when": "2024-03-09 16:00:00.25",
    "spent": "90 s",
    "member": "False",
    "flags": "[True, False, False]",
    "area": "0.1",
    "ratio": "0.1",
    "page": '0 "home"',
    "kind": '"new"',
    "likes": '[0 "tea", 1 "milk"]',
    "secret": "2 bytes: ff 00",
    "note": '"a\\nb"',
    "also": '"x"',
    "other": "7",
}


@pytest.fixture(scope="module")
def visitors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data with a schema, and with two keys that it does not have."""
    messages = [example(visitor(at)) for at in range(40)]
    return write_data(tmp_path_factory.mktemp("data"), Visitor, {"train": messages})


def test_samples_show_names_and_dates_in_the_order_of_the_schema(
    visitors: Path,
) -> None:
    """Fields by their names, then other keys, as the table of fields lists them."""
    assert list(samples_of(visitors).items()) == list(SHOWN.items())
    table = run("inspect", visitors, "--records", "0").stdout
    names = re.findall(
        r"^(\w+)  .*%", table.partition("keys\n")[2].partition("\nTarget")[0], re.M
    )
    assert names == list(SHOWN)
    assert re.search(r"^area +zz/area +bytes", table, re.M)


def test_the_page_shows_the_same_values(visitors: Path) -> None:
    """A text is shown as it is, over its lines."""
    page = page_about(visitors)
    record = page.partition('<template id="record-1-1">')[2].partition("</template")[0]
    for name, text in SHOWN.items():
        shown = {"note": "a\nb", "also": "x"}.get(name, text).replace('"', "&#34;")
        assert re.search(rf"{name}\b.*?{re.escape(shown)}<", record, re.DOTALL), name


def test_times_and_bools_are_shown_in_every_measure(visitors: Path) -> None:
    facts = schemagen.inspect(visitors).facts
    shown = {(each.subject, each.measure, each.of): each.text for each in facts}
    assert shown["when", "minimum", "values"] == "2024-03-09 16:00:00.25"
    assert shown["when", "median", "values"].startswith("2024-03-2")
    assert shown["when", "mean", "values"].startswith("2024-03-2")
    assert shown["when", "standard deviation", "values"].endswith(" ms")
    assert shown["spent", "maximum", "values"] == "129 s"
    assert shown["member", "minimum", "values"] == "False"
    assert shown["member", "maximum", "values"] == "True"
    assert shown["member", "mean", "values"] == "0.5"
    assert shown["member", "zeros", "values"] == "20"
    words = words_of(visitors)
    assert words["member"] == "False (50 %), True (50 %)"
    assert words["page"] == '0 "home" (35 %), 1 "cart" (32 %), 2 no class (32 %)'
    assert words["when"].startswith("2024-03-09 16:00:00.25 to 2024-04-17 16:00:00.25")


def test_steps_are_shown_with_names(tmp_path: Path) -> None:
    class Walk(SequenceRecord):
        """A walk."""

        ways: Annotated[list[int], Steps(Label(classes=("left", "right")))]

    message = sequence_example({}, {"ways": [0, 1, 1]})
    data = write_data(tmp_path, Walk, {"train": [message]})
    assert samples_of(data)["ways"] == '3 steps: 0 "left" | 1 "right" | 1 "right"'


def test_a_class_far_down_the_list_has_its_name(tmp_path: Path) -> None:
    class Leaf(Record):
        """A leaf."""

        species: Annotated[int, Label(classes=tuple(f"s{at}" for at in range(2000)))]

    data = write_data(tmp_path, Leaf, {"train": [example({"species": 1999})] * 3})
    assert samples_of(data)["species"] == '1999 "s1999"'
    assert words_of(data)["species"] == '1999 "s1999" (100 %)'


def _parsed(text: str) -> float:
    return float(text.removeprefix("always ").replace(",", ""))


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@examples(60)
@given(st.lists(FLOATS, min_size=1, max_size=40))
def test_numbers_can_be_read_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    """Words have six digits and keep the order; samples are exact."""
    path = tmp_path_factory.mktemp("any") / "part"
    row: Mapping[str, Any] = {f"k{at:02}": value for at, value in enumerate(values)}
    write_file(path, [example(row)])
    words, held = words_of(path), samples_of(path)
    shown = {value: _parsed(words[key]) for key, value in row.items()}
    for key, value in row.items():
        assert shown[value] == pytest.approx(value, rel=5e-6, abs=1e-45)
        assert np.float32(held[key]) == np.float32(value)
        assert "−" not in words[key] + held[key]
    for low, high in itertools.pairwise(sorted(shown)):
        assert shown[low] <= shown[high]


@examples(40)
@given(st.integers(1, 3000), st.integers(0, 3000))
def test_shares_are_whole_only_if_they_are(
    tmp_path_factory: pytest.TempPathFactory, ones: int, twos: int
) -> None:
    """0 % and 100 % are said of none and all."""
    path = tmp_path_factory.mktemp("any") / "part"
    rows = [example({"x": 1})] * ones + [example({})] * twos
    write_file(path, rows)
    [fact] = [
        each
        for each in schemagen.inspect(path).facts
        if (each.measure, each.split) == ("present", None)
    ]
    assert (fact.text == "100 %") == (not twos)
    assert fact.text != "0 %"
    if fact.text != "<0.1 %":
        share = float(fact.text.removesuffix(" %"))
        assert share == pytest.approx(100 * ones / (ones + twos), abs=0.51)
