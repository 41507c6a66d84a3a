"""The tables of the page: samples, differences, duplicates and files; times in them."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
from command_line import run
from schemagen import Label, Scalar, Text
from tfrecord_files import frame

from ..messages import example, record, write_data, write_file
from .conftest import Visit
from .pages import page_about, rows_of, section_of, tones

Trip = record(
    "Trip",
    {
        "trip_id": Annotated[str, Text(role="info")],
        "fare": Annotated[float, Scalar("float32")],
        "start": Annotated[dt.datetime, Scalar("int64", unit="s")],
        "spell": Annotated[dt.timedelta, Scalar("int64", unit="s")],
        "seat": Annotated[int, Scalar("int64", role="info")],
        "tip": Annotated[int, Label(classes=("no", "yes"), role="target")],
    },
)
SPRING = 1_710_000_000  # 2024-03-09 16:00:00


def trips(first: int, count: int, shift: int = 0) -> list[dict[str, Any]]:
    """Return rows of `Trip`."""
    return [
        {
            "trip_id": f"t-{at:05d}",
            "fare": float(at % 7 + shift),
            "start": SPRING + 86_400 * (at % 30 + shift),
            "spell": at % 50,
            "seat": at % 9 + 1000 * shift,
            "tip": at % 2,
        }
        for at in range(first, first + count)
    ]


def page_of(root: Path, splits: Mapping[str, Sequence[Any]], **options: Any) -> str:
    """Return the page about splits of trips."""
    messages = {name: [*map(example, rows)] for name, rows in splits.items()}
    return page_about(write_data(root / "data", Trip, messages, **options))


def page_of_rows(root: Path, rows: Sequence[Any]) -> str:
    """Return the page about rows of any keys, which have no schema."""
    file = write_file(root / "data" / "train-0-of-1", map(example, rows))
    return page_about(file.parent)


def test_samples_without_pictures_are_a_table_with_targets_first(
    tmp_path: Path,
) -> None:
    """Info comes last, and times are dates."""
    page = page_of(tmp_path, {"train": trips(0, 40)})
    heads, first, *_ = rows_of(page, "Sample records of train")
    assert heads == ["Record", "tip", "fare", "start", "spell", "trip_id", "seat"]
    at = int(first[0].removeprefix("record "))
    day = dt.date(2024, 3, 9) + dt.timedelta(at % 30)
    expected = (f"{at % 7}", f"{day} 16:00:00", f"{at % 50} s", f"t-{at:05d}")
    assert tuple(first[2:6]) == expected


def test_a_malformed_record_is_a_row_of_the_table(tmp_path: Path) -> None:
    messages = [example({"a": 1}), b"\xff", example({"a": 2})]
    path = write_file(tmp_path / "data" / "train-00000-of-00001", messages)
    page = page_about(path.parent)
    rows = rows_of(page, "Sample records of train")
    assert rows[1:] == [["record 0", "1"], ["record 1", "malformed"], ["record 2", "2"]]


def test_a_wide_record_shows_as_many_columns_as_fit(tmp_path: Path) -> None:
    rows = [{f"a_long_name_of_a_column_{n:02d}": n for n in range(40)}] * 3
    page = page_of_rows(tmp_path, rows)
    heads, *_ = rows_of(page, "Sample records of train")
    assert 3 <= len(heads) <= 6


def test_each_pair_of_splits_has_a_table_in_which_info_comes_last(
    tmp_path: Path,
) -> None:
    """Splits name its columns; info alone is no bad difference."""
    splits = {
        "train": trips(0, 90),
        "validation": trips(90, 60, 1),
        "test": trips(150, 60, 20),
    }
    page = page_of(tmp_path, splits)
    heads, *rows = rows_of(page, "train and test: marked first, then by distance")
    assert heads == ["Name", "What", "Distance", "train", "test"]
    names = [row[0] for row in rows]
    assert names[-1] == "seat"
    assert {"fare", "start"} <= set(names[: names.index("seat")])
    [start] = [row for row in rows if row[:2] == ["start", "values"]]
    assert start[3].startswith("2024-03-1")
    heads, *_ = rows_of(page, "train and validation: marked first, then by distance")
    assert heads[3:] == ["train", "validation"]
    assert tones(page)[0] == "bad"
    rows = [{**row, "seat": 5_000} for row in trips(90, 60)]
    page = page_of(tmp_path / "info", {"train": trips(0, 90), "test": rows})
    assert tones(page) == ["good", "good"]
    assert "Never marked, as their role is info: seat." in page


def test_a_threshold_of_a_field_is_said(tmp_path: Path) -> None:
    page_of(tmp_path, {"train": trips(0, 90), "test": trips(90, 60)})
    text = "[tool.schemagen]\n[tool.schemagen.thresholds.fields.fare]\ndrift = 0.05\n"
    (tmp_path / "pyproject.toml").write_text(text)
    out = tmp_path / "page.html"
    options = ("--fail-on", "drift", "--project", tmp_path)
    run("inspect", tmp_path / "data", "--html", out, *options)
    page = out.read_text("utf-8")
    assert "threshold, 0.1 by default and 0.05 of fare, and" in page


def test_leakage_between_two_datasets_is_a_clause_for_each_pair(
    tmp_path: Path,
) -> None:
    for name, train, test in (("v1", 0, 100), ("v2", 101, 39)):
        for split, first in (("train", train), ("test", test)):
            messages = map(example, trips(first, 40))
            write_file(tmp_path / name / f"{split}-0-of-1", messages)
    out = tmp_path / "diff.html"
    run("diff", tmp_path / "v1", tmp_path / "v2", "--html", out)
    [banner] = re.findall(r">(Leakage: [^<]*)<", out.read_text("utf-8"))
    assert re.fullmatch(
        r"Leakage: 1 record (and .* )?of v1 train in v2 test; "
        r"39 records (and .* )?of v2 train in v1 test\.",
        banner,
    )


def test_times_are_dates_in_the_table_and_under_the_axis(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"train": trips(0, 60)})
    rows = dict(rows_of(page, "Values of start; percentiles of many are estimates"))
    assert rows["Minimum"] == "2024-03-09 16:00:00"
    assert rows["Maximum"] == "2024-04-07 16:00:00"
    labels = re.findall(r"<text[^>]*>(\d\d\d\d-\d\d-\d\d)</text>", page)
    assert labels
    assert set(labels) <= {f"2024-03-{day}" for day in range(10, 32)} | {"2024-04-07"}
    assert "Values in seconds" in page


def test_large_integers_have_all_their_digits_under_the_axis(tmp_path: Path) -> None:
    rows = [{"time": SPRING + 7_919 * at} for at in range(900)]
    page = page_of_rows(tmp_path, rows)
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    assert any(re.fullmatch(r"1,71\d,\d\d\d,000", label) for label in labels)
    assert not any(label.endswith("G") for label in labels)


def captions(count: int, seed: int) -> list[dict[str, Any]]:
    """Return rows of texts of which some occur again by chance."""
    draw = random.Random(seed)
    return [{"text": f"a dog on a {draw.randrange(9 * count)}"} for _ in range(count)]


def test_captions_that_repeat_are_noted_and_ids_in_two_splits_are_bad(
    tmp_path: Path,
) -> None:
    ids = [{"id": f"id{at}"} for at in range(600)]
    for name, rows, size in (("train", ids[:400], 400), ("test", ids[380:480], 100)):
        texts = captions(400, 1)[:size] if name == "train" else captions(400, 2)[:100]
        both = [{**row, **text} for row, text in zip(rows, texts, strict=True)]
        write_file(tmp_path / f"bad/{name}-0-of-1.tfrecord", map(example, both))
        write_file(tmp_path / f"noted/{name}-0-of-1.tfrecord", map(example, texts))
    page = page_about(tmp_path / "bad")
    _, *marked = rows_of(page, "Records, and values that identify them")
    assert [row[:3] for row in marked] == [
        ["values of id", "in train and in test", "20"]
    ]
    _, *natural = rows_of(page, "Values that repeat by nature or by chance")
    assert {row[0] for row in natural} == {"values of text"}
    assert "in train and in test" in {row[1] for row in natural}
    assert "bad" in tones(page)


def test_values_that_repeat_in_one_split_are_listed_and_not_marked(
    tmp_path: Path,
) -> None:
    rows = [{"id": at % 90, "n": float(at)} for at in range(100)]
    page = page_of_rows(tmp_path, rows)
    assert tones(page) == ["good", "good"]
    _, *natural = rows_of(page, "Values that repeat by nature or by chance")
    assert natural[0][:3] == ["values of id", "more than once in train", "10"]


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_repeated_records_are_read_again_unless_their_files_are_compressed(
    tmp_path: Path, compression: str
) -> None:
    """Samples are there already, and have their links."""
    splits = {"train": trips(0, 400), "test": trips(400, 90)}
    splits["test"][70:72] = splits["train"][300:302]
    page = page_of(tmp_path, splits, shards=2, compression=compression)
    _, *rows = rows_of(page, "Records, and values that identify them")
    pairs = [
        (
            f"record 35 of test-0000{n}-of-00002.tfrecord",
            f"record 150 of train-0000{n}-of-00002.tfrecord",
        )
        for n in range(2)
    ]
    shown = "".join(f"{again} = {first}" for again, first in pairs)
    assert rows == [["records", "in train and in test", "2", shown]]
    section = section_of(page, "duplicates")
    links = {
        text: id_ for id_, text in re.findall(r'data-sample="(.*?)">(.*?)<', section)
    }
    assert ("repeated-1" in links.values()) == (not compression)
    for at, pair in enumerate(pairs):
        for place in pair if not compression else ():
            template = page.partition(f'<template id="{links[place]}">')[2]
            assert f"t-{300 + at:05d}" in template.partition("</template>")[0]


def test_what_says_nothing_is_not_there(tmp_path: Path) -> None:
    """The section of a clean `verify`, and columns of files without texts."""
    page = page_of(tmp_path, {"train": trips(0, 40)})
    assert 'id="findings"' not in page
    caption = "Every file: its records and its size"
    assert rows_of(page, caption)[0] == ["File", "Split", "Records", "Size"]
    file = tmp_path / "data" / "train-00000-of-00001.tfrecord"
    file.write_bytes(file.read_bytes() + frame(b"x")[:-1])
    page = page_about(tmp_path / "data")
    assert '<a href="#findings">Verify</a>' in page
    assert rows_of(page, caption)[0][-1] == "State"


@pytest.mark.integration
def test_repeated_records_open_from_their_table(visit: Visit, tmp_path: Path) -> None:
    """The arrow key goes to the equal one, and closing back to the button."""
    train, test = trips(0, 400), trips(400, 90)
    test[70] = train[300]
    page_of(tmp_path, {"train": train, "test": test})
    page = visit(tmp_path / "report.html")
    page.locator("#duplicates .open").first.click()
    dialog = page.locator("dialog[open]")
    assert "record 70 of test-00000" in dialog.inner_text()
    page.keyboard.press("ArrowRight")
    assert "record 300 of train-00000" in dialog.inner_text()
    page.keyboard.press("Escape")
    # Browsers move the focus in a task of its own.
    button = "document.activeElement.textContent.includes('record 300 of train-00000')"
    page.wait_for_function(button)


@pytest.mark.integration
@pytest.mark.parametrize("width", [1280, 1600])
def test_no_table_is_cut_on_a_screen(visit: Visit, tmp_path: Path, width: int) -> None:
    """Also if all are open."""
    train, test = trips(0, 400), trips(400, 90, 3)
    test[70:80] = train[300:310]
    page_of(tmp_path, {"train": train, "test": test, "validation": trips(490, 60)})
    page = visit(tmp_path / "report.html", width=width)
    page.evaluate(
        "document.querySelectorAll('details').forEach(e => { e.open = true })"
    )
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.locator(".scroll").evaluate_all(cut) == 0
