"""A field under numbered keys is one field, wherever people look at data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command_line import run
from pictures import picture

from data.documents import document, facts_of, printed, splits_of
from data.messages import example, write_file
from data.report.pages import cells_of, page_about
from data.test_diff import diff

if TYPE_CHECKING:
    from conftest import Workspace

_SCHEMA = """
from typing import Annotated
from schemagen import Images, Label, Record, Text

class Clip(Record):
    id: Annotated[str, Text(role="info")]
    frames: Annotated[
        list[bytes],
        Images((None, None, 3), encoding="png", keys="at/{}", keys_from=9, count=12,
               resize=(8, 8)),
    ]
    label: Annotated[str, Label(classes=["a", "b"])]
"""
_KEYS = [f"at/{number}" for number in range(9, 21)]


def row(number: int, frames: int | None = None) -> dict[str, Any]:
    """A row; `frames` is the number of the row whose images it has."""
    first = 100 * (number if frames is None else frames)
    images = [picture(4, 6, seed=first + at) for at in range(12)]
    return {"id": f"c{number}", "frames": images, "label": "ab"[number % 2]}


def stored(number: int, without: str = "") -> bytes:
    """The Example of a row, perhaps without one of its images."""
    values = row(number)
    images = dict(zip(_KEYS, values["frames"], strict=True))
    images.pop(without, None)
    label = "ab".index(values["label"])
    return example({**images, "id": values["id"].encode(), "label": label})


@pytest.fixture
def clips(workspace: Workspace) -> Any:
    """The generated serializer of clips."""
    workspace.schema(_SCHEMA)
    workspace.generate()
    return workspace.module("clip", "serializer")


@pytest.fixture
def data(clips: Any, tmp_path: Path) -> Path:
    """A directory of 40 and 3 clips; one of test has the images of one of train."""
    clips.write_dataset(map(row, range(40)), tmp_path / "v1", "train")
    some = [row(50), row(51, frames=7), row(52)]
    clips.write_dataset(some, tmp_path / "v1", "test")
    return tmp_path / "v1"


def test_it_is_one_column(data: Path) -> None:
    """Its statistics are those of all images: so many in a record."""
    found = document(data)
    for split, records in zip(splits_of(found), (40, 3), strict=True):
        assert [each["key"] for each in split["keys"]] == ["at/9", "id", "label"]
        frames = split["keys"][0]
        [kind] = frames["by_kind"]
        assert (frames["present"], kind["present"]) == (records, records)
        lengths = kind["lengths"]
        assert (lengths["minimum"], lengths["maximum"]) == (12, 12)
        assert (lengths["count"], kind["bytes"]["count"]) == (records, 12 * records)
    assert {each["key"] for each in found["facts"]} == {"", "id", "at/9", "label"}
    [length] = facts_of(found, subject="frames", measure="length")
    assert length["value"] == [12, 12]
    text = run("inspect", data).stdout
    assert "43 records of tf.train.Example, 3 keys" in text
    assert re.search(r"frames +at/9 +bytes +100 % +12 +png 4x6x3", text)
    assert re.search(r"  frames +bytes +\[png 4x6x3, .*12 values\]", text)
    assert "at/10" not in text
    assert "more" not in text.partition("record 0 of")[2].partition("\n\n")[0]


def test_images_in_two_splits_are_named_once(data: Path) -> None:
    """As images of one key are, where the whole list of a record is there again."""
    [leak] = document(data)["duplicates"]
    assert leak["column"] == {"name": "frames", "key": "at/9"}
    assert (leak["count"], leak["mark"]) == (1, "leakage")
    assert leak["places"][0][0]["record"] == 1
    assert leak["places"][0][1]["record"] == 7


def test_the_page_shows_its_first_images(data: Path) -> None:
    """The names of the others are nowhere."""
    page = page_about(data)
    assert "at/10" not in page
    assert "frames 1 of 4" in page
    assert cells_of(page, "Each field")["frames"][0].startswith("Images, png")


def test_diff_names_the_field_and_the_key_that_changed(
    clips: Any, data: Path, tmp_path: Path
) -> None:
    """The texts of a dozen images are alike, so the values that differ are shown."""
    some = [*map(row, range(40))]
    for each in some[:2]:
        each["frames"][11] = picture(4, 6, seed=9_999)
    clips.write_dataset(some, tmp_path / "v2", "train")
    _, found = diff(data, tmp_path / "v2", "--key", "id", "--split", "train")
    changes = found["splits"][0]["changes"]
    assert changes["fields"] == [{"field": "frames", "key": "at/9", "records": 2}]
    for each in changes["examples"]:
        [value] = each["fields"]
        assert value["before"].startswith("at/20, byte ")
        assert value["after"].startswith("at/20, byte ")


def test_diff_with_files_of_no_schema(data: Path, tmp_path: Path) -> None:
    """They are compared as the same fields, and no lost image goes unnoticed."""
    plain = tmp_path / "plain" / "train-00000-of-00001"
    write_file(plain, map(stored, range(40)))
    for pair in ((data, plain.parent), (plain.parent, data)):
        code, found = diff(*pair, "--split", "train")
        assert (code, found["same"], found["keys"]) == (0, True, [[], []])
    write_file(plain, [stored(at, "at/10" if at == 3 else "") for at in range(40)])
    _, found = diff(data, plain.parent, "--key", "id", "--split", "train")
    [change] = found["splits"][0]["changes"]["examples"]
    [value] = change["fields"]
    assert (change["key_value"], value["key"]) == ("c3", "at/9")
    assert value["before"].endswith("12 values]")
    assert value["after"].endswith("11 values]")


def test_equal_images_under_other_keys_are_a_change(clips: Any, tmp_path: Path) -> None:
    """Both records lack one image, and the rest is alike."""
    for name, key in (("one", "at/9"), ("other", "at/20")):
        clips.write_dataset(map(row, range(40)), tmp_path / name, "train")
        [path] = (tmp_path / name).glob("train*")
        values = dict.fromkeys([each for each in _KEYS if each != key], picture(4, 6))
        ids = (b"c%d" % number for number in range(40))
        write_file(path, [example({**values, "id": each, "label": 0}) for each in ids])
    [split] = splits_of(printed("inspect", tmp_path / "one")[1])
    [kind] = split["keys"][0]["by_kind"]
    assert (kind["present"], kind["lengths"]["minimum"]) == (40, 11)
    _, found = diff(tmp_path / "one", tmp_path / "other", "--key", "id")
    changes = found["splits"][0]["changes"]
    assert changes["fields"] == [{"field": "frames", "key": "at/9", "records": 40}]
    [value] = changes["examples"][0]["fields"]
    assert (value["before"], value["after"]) == ("at/9: no list", "at/9: bytes")
