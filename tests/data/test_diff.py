"""Two datasets compared: schemas, counts, distributions, records."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_line import run
from digit_rows import rows
from manifests import edited_manifest, reverse_classes, without_last_class

from data.documents import printed
from data.messages import write_file
from data.test_fail_on import record
from generated.digit.serializer import write_dataset


def diff(one: Path, other: Path, *more: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of a comparison, what differs, and the differences."""
    code, found = printed("diff", one, other, *more)
    return code, {**found["diff"], "differences": found["differences"]}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two equal datasets without manifests."""
    for name in ("v1", "v2"):
        for split, start in (("train", 0), ("test", 100)):
            some = [record(start + at) for at in range(60)]
            write_file(tmp_path / name / f"{split}-00000-of-00001", some)
    return tmp_path / "v1", tmp_path / "v2"


def test_equal_datasets_do_not_differ(two: tuple[Path, Path]) -> None:
    """Whatever their files are named and how many there are."""
    one, other = two
    code, found = diff(one, other)
    assert (code, found["same"], found["schema"]) == (0, True, None)
    assert [split["records"] for split in found["splits"]] == [[60, 60], [60, 60]]
    assert "No differences." in run("diff", one, other).stdout


def test_records_that_one_lacks_are_counted_and_named(two: tuple[Path, Path]) -> None:
    """By all of their bytes."""
    one, other = two
    some = [record(at) for at in (*range(55), *range(200, 207))]
    write_file(other / "train-00000-of-00001", some)
    code, found = diff(one, other)
    assert code == 1
    train, test = found["splits"]
    assert (train["name"], train["records"], train["only"]) == (
        "train",
        [60, 62],
        [5, 7],
    )
    assert [each["record"] for each in train["places"][0]] == [55, 56, 57]
    assert [each["record"] for each in train["places"][1]] == [55, 56, 57]
    assert test["only"] == [0, 0]
    assert "only in v1: record 55" in run("diff", one, other).stdout


def test_a_new_key_is_named(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In text of any width, which keeps all columns of its tables."""
    one, other = two
    some = [record(at, surge=1.5) for at in range(60)]
    write_file(other / "train-00000-of-00001", some)
    _, found = diff(one, other)
    assert found["keys"] == [[], ["surge"]]
    for columns in ("60", "80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        text = run("diff", one, other, "--key", "id").stdout
        assert "surge: only in v2." in text
        heading = next(line for line in text.splitlines() if line.startswith("split"))
        assert heading.split() == [
            "split",
            "dataset",
            "records",
            "only",
            "here",
            "changed",
        ]
        assert "train  v2       60       0          60" in text


def test_a_key_finds_records_that_were_changed(two: tuple[Path, Path]) -> None:
    """They are in both, with other bytes."""
    one, other = two
    some = [record(at, size=0.0) if at < 4 else record(at) for at in range(59)]
    write_file(other / "train-00000-of-00001", some)
    _, found = diff(one, other, "--key", "id")
    assert found["splits"][0]["only"] == [1, 0]
    assert found["splits"][0]["changed"] == 4
    assert [
        [each["record"] for each in pair] for pair in found["splits"][0]["changes"]
    ] == [
        [0, 0],
        [1, 1],
        [2, 2],
    ]
    wrong = run("diff", one, other, "--key", "kind")
    assert wrong.exit_code == 2
    assert "do not identify records" in wrong.stderr


def test_a_split_that_one_lacks_and_a_drift(two: tuple[Path, Path]) -> None:
    """A shifted column is a difference, with the size of its effect."""
    one, other = two
    (other / "test-00000-of-00001").unlink()
    some = [record(at, size=float(at % 3)) for at in range(60)]
    write_file(other / "train-00000-of-00001", some)
    code, found = diff(one, other)
    assert code == 1
    assert {s["name"]: s["records"] for s in found["splits"]}["test"] == [60, None]
    first = found["differences"][0]
    assert first["column"] == {"name": "size", "key": "size"}
    assert first["splits"] == ["v1 train", "v2 train"]


def test_the_schema_comes_first(tmp_path: Path) -> None:
    """What would keep readers of the one from reading the other."""
    for name in ("v1", "v2"):
        write_dataset(rows(40), tmp_path / name, "train")
    code, found = diff(tmp_path / "v1", tmp_path / "v2")
    assert (code, found["schema"]) == (0, [])
    with edited_manifest(tmp_path / "v2") as manifest:
        reverse_classes(manifest["spec"])
    code, found = diff(tmp_path / "v1", tmp_path / "v2")
    assert code == 1
    assert found["schema"][0]["rule"] == "SG221"
    assert "SG221" in run("diff", tmp_path / "v1", tmp_path / "v2").stdout


def older_and_newer(directory: Path) -> tuple[Path, Path]:
    """Two datasets; the schema of the second one has a class more, at the end."""
    for name in ("old", "new"):
        write_dataset(rows(120), directory / name, "train")
    with edited_manifest(directory / "old") as manifest:
        without_last_class(manifest["spec"])
    return directory / "old", directory / "new"


def test_an_added_class_is_named(tmp_path: Path) -> None:
    """It is a difference; the newer schema has the names, in either order."""
    old, new = older_and_newer(tmp_path)
    code, found = diff(old, new)
    assert (code, found["same"], found["schema"]) == (1, False, [])
    assert found["classes"] == [{"field": "digit", "only": [[], ["nine"]]}]
    page = tmp_path / "page.html"
    text = run("diff", old, new, "--html", page).stdout
    assert "digit: class nine only in the schema of new." in text
    assert "No differences." not in text
    assert '<li class="tone-bad"><a href="#diff">classes of digit' in page.read_text()
    some = [each for each in rows(120) if each["digit"] != 9]
    write_dataset(some, new, "train", overwrite=True)
    for pair in ((old, new), (new, old)):
        _, found = diff(*pair)
        [share] = [e for e in found["differences"] if e["column"]["key"] == "digit"]
        assert (share["measure"], share["category"]) == ("share", "nine")


def with_other_label(
    directory: Path, changed: Callable[[dict[str, Any]], dict[str, Any]]
) -> tuple[Path, Path]:
    """Two datasets of equal records; the second one declares its label otherwise."""
    for each in ("old", "new"):
        write_dataset(rows(40), directory / each, "train")
    with edited_manifest(directory / "new") as manifest:
        fields = manifest["spec"]["fields"]
        [label] = [each for each in fields if each["name"] == "digit"]
        label |= changed(label)
    return directory / "old", directory / "new"


def test_a_renamed_class_is_no_difference(tmp_path: Path) -> None:
    """The newer schema says what it was called, in either order."""
    old, new = with_other_label(
        tmp_path,
        lambda label: {
            "classes": ["null", *label["classes"][1:]],
            "renamed": [["zero", "null"]],
        },
    )
    code, found = diff(old, new)
    assert (code, found["same"], found["classes"]) == (0, True, [])
    assert diff(new, old)[1]["classes"] == []


@pytest.mark.parametrize(
    ("count", "only"),
    [
        (10, []),
        (12, [{"field": "digit", "only": [[], ["10", "11"]]}]),
        (8, [{"field": "digit", "only": [["eight", "nine"], []]}]),
    ],
)
def test_names_and_ids_of_classes_are_not_compared(
    tmp_path: Path, count: int, only: list[Any]
) -> None:
    """Only how many there are."""
    old, new = with_other_label(
        tmp_path, lambda _: {"classes": [], "num_classes": count}
    )
    assert diff(old, new)[1]["classes"] == only


def test_a_renamed_field_has_the_same_key(tmp_path: Path) -> None:
    """Also if its classes differ."""
    old, new = with_other_label(
        tmp_path,
        lambda label: {
            "name": "numeral",
            "classes": [*label["classes"], "ten"],
            "num_classes": 11,
        },
    )
    _, found = diff(old, new)
    assert found["keys"] == [[], []]
    assert found["classes"] == [{"field": "numeral", "only": [[], ["ten"]]}]


def test_a_key_of_a_record_that_is_matched_twice_is_a_difference(
    two: tuple[Path, Path],
) -> None:
    """Only the first of equal identifiers is compared."""
    for data, more in zip(two, ({}, {"surge": 1.5}), strict=True):
        some = [*map(record, range(60)), record(0, **more)]
        write_file(data / "train-00000-of-00001", some)
    code, found = diff(*two, "--key", "id")
    assert (code, found["same"], found["keys"]) == (1, False, [[], ["surge"]])


def test_single_splits_are_compared_whatever_their_names(
    two: tuple[Path, Path],
) -> None:
    """As of two files."""
    one, other = two
    shutil.copy(one / "train-00000-of-00001", other / "more.tfrecord")
    code, found = diff(one / "train-00000-of-00001", other / "more.tfrecord")
    assert (code, found["splits"][0]["records"]) == (0, [60, 60])


def test_a_page_shows_both(two: tuple[Path, Path], tmp_path: Path) -> None:
    """With the tables of the comparison, and plots of both."""
    one, other = two
    write_file(other / "train-00000-of-00001", [record(at) for at in range(50)])
    done: Result = run("diff", one, other, "--html", tmp_path / "page.html")
    assert done.exit_code == 1, done.output
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Schemas and records" in page
    assert 'id="findings"' not in page
    assert "<title>v1 and v2 – what differs</title>" in page
    assert '<li class="tone-bad"><a href="#diff">train: 10 records only in v1.' in page
    labels = re.findall(r'class="swatch s\d"></span>([^<]+)</th>', page)
    assert labels == ["v1 train", "v2 train", "v1 test", "v2 test"]
    assert "<dt>records</dt>" not in page


def test_a_page_of_equal_datasets_says_so(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    assert run("diff", *two, "--html", tmp_path / "page.html").exit_code == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<li class="tone-good"><a href="#diff">No records differ.</a>' in page


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        ([*range(1, 60), 200, 201], "1 record only in v1, 2 only in v2"),
        ([*range(60), 0], "60 records in v1, 61 in v2"),
        (None, "only in v1"),
    ],
)
def test_a_page_says_how_splits_differ(
    train: list[int] | None, expected: str, two: tuple[Path, Path], tmp_path: Path
) -> None:
    """In a sentence for each split."""
    path = two[1] / "train-00000-of-00001"
    path.unlink()
    if train is not None:
        write_file(path, [record(at) for at in train])
    run("diff", *two, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f">train: {expected}.<" in page


def test_a_page_counts_changed_records(two: tuple[Path, Path], tmp_path: Path) -> None:
    some = [record(at, size=0.0) if at < 4 else record(at) for at in range(59)]
    write_file(two[1] / "train-00000-of-00001", some)
    run("diff", *two, "--key", "id", "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert ">train: 1 record only in v1, 4 changed.<" in page
