"""The report of `inspect --html`: its numbers, its pictures, and its file."""

from __future__ import annotations

import base64
import builtins
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from command_line import run
from damaged_files import flip_bit
from pictures import encoded
from PIL import Image as Pillow
from schemagen import Image, Label, Mask, Record, VarLen, Vector
from schemagen import inspect as inspected
from tfrecord_files import frame

from ..messages import example, number, record, write_data, write_file
from .conftest import make_report
from .pages import cells_of, page_about, section_of
from .scenes import box_lists

NAME = "train-00000-of-00001.tfrecord"
RECORDS = [example({"a": index, "b": "word"}) for index in range(20)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file of twenty records, without a manifest."""
    return write_file(tmp_path / "data" / NAME, RECORDS).parent


def pictures(page: str) -> list[Pillow.Image]:
    """Return all pictures of a page."""
    found = re.findall(r"data:image/\w+;base64,([\w+/=]+)", page)
    return [Pillow.open(io.BytesIO(base64.b64decode(each))) for each in found]


def test_numbers_are_those_of_the_json(scenes_data: Path, scenes_page: Path) -> None:
    """Of classes, missing values and files, for each split."""
    page = scenes_page.read_text("utf-8")
    result = run("inspect", scenes_data, "--format", "json")
    splits = {
        each["split"]: each["statistics"]
        for each in json.loads(result.stdout)["splits"]
    }
    records = {split: each["records"] for split, each in splits.items()}
    keys = {
        split: {key["key"]: key for key in each["keys"]}
        for split, each in splits.items()
    }
    order = ("train", "validation", "test")  # as they are used, not by name
    names = ("clear", "cloudy", "night")
    weather = cells_of(page, "class of weather")
    missing = cells_of(page, "is missing")
    for at, split in enumerate(order):
        [kind] = keys[split]["image/weather"]["by_kind"]
        counts = {each["value"]: each["count"] for each in kind["numbers"]["distinct"]}
        shown = {names.index(name): int(row[2 * at]) for name, row in weather.items()}
        assert shown == counts
        for field, key in (("speed_kmh", "speed"), ("note", "note")):
            absent = records[split] - keys[split][key]["present"]
            assert int(missing[field][2 * at]) == absent


def test_classes_of_a_schema_are_counted_by_their_stored_ids(tmp_path: Path) -> None:
    """Names that look alike are numbered; other ids and absent classes are named."""
    label = Label(classes=("cat", "cat\u200b", "dog"), offset=1)
    pet = record("Pet", {"a": Annotated[int, label]})
    messages = [example({"a": at % 2 * 8 + 1}) for at in range(9)]
    page = page_about(write_data(tmp_path / "data", pet, {"train": messages}))
    rows = cells_of(page, "class of a")
    assert rows["cat"] == ["5", "56 %"]
    [other] = [name for name in rows if "9" in name]
    assert rows[other] == ["4", "44 %"]
    assert "dog" in page


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (range(5), True),
        (range(1, 6), True),
        (range(40, 45), False),  # sizes come again as well
        (range(-1, 4), False),
        (range(20), False),
        (["cat", "dog"], True),
        ([b"cat", b"\x00\xff"], False),
    ],
)
def test_values_look_like_classes_if_they_are_few_and_begin_as_ids_do(
    values: Any, classes: bool, tmp_path: Path
) -> None:
    """Without a schema; each is counted."""
    held = [values[i % len(values)] for i in range(60)]
    write_file(tmp_path / "data" / NAME, [example({"size": each}) for each in held])
    page = page_about(tmp_path / "data")
    assert ('id="classes"' in page) is classes
    if classes:
        rows = cells_of(section_of(page, "classes"), "size")
        counts = Counter(map(str, held))
        assert {name: int(row[0]) for name, row in rows.items()} == counts


def test_bools_and_recurring_texts_are_bars(tmp_path: Path) -> None:
    """Two bars of a bool, also if one value never occurs; texts by their frequency."""
    fields = {"wet": bool, "old": bool, "place": str, "note": str}
    pet = record("Pet", fields)
    rows = [
        {"wet": at % 4 == 0, "old": 0, "place": f"p{at % 3}", "note": f"n{at}"}
        for at in range(60)
    ]
    messages = [example(row) for row in rows]
    page = page_about(write_data(tmp_path / "data", pet, {"train": messages}))
    assert cells_of(page, "each value of wet") == {
        "False": ["45", "75 %"],
        "True": ["15", "25 %"],
    }
    assert cells_of(page, "each value of old") == {
        "False": ["60", "100 %"],
        "True": ["0", "0 %"],
    }
    assert cells_of(page, "each value of place") == {
        name: ["20", "33 %"] for name in ("p0", "p1", "p2")
    }
    assert "each value of note" not in page


def test_an_opened_record_shows_long_texts(tmp_path: Path) -> None:
    """Each of several, and those with characters that are escaped."""
    words = "a dog runs over the meadow with a ball " * 6
    row = {"captions": [f"{words}{at}" for at in range(5)], "note": f"\u202e{words}"}
    write_file(tmp_path / "data" / NAME, [example(row)] * 9)
    page = unescape(page_about(tmp_path / "data"))
    record = page.partition('<template id="record-1-1">')[2].partition("</template")[0]
    assert f'["{words}0", "{words}1"' in record
    assert f'"{words}4"]' in record
    assert f'"\\u202e{words}"' in record
    assert " bytes)" not in record


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"id": "a", "kind": lambda at: ["cat", "dog"][at % 2]}, "cat"),
        ({"kind": lambda at: at % 2}, "kind 0"),
        ({"note": lambda at: f"note {at}"}, "note 0"),
        ({"note": lambda at: f"long {at} " * 20}, ""),
    ],
)
def test_pictures_without_a_schema_have_a_caption(
    more: Mapping[str, Any], expected: str, tmp_path: Path
) -> None:
    """What looks like a class, or the first short text."""
    image = encoded(np.zeros((4, 4), np.uint8), "PNG")
    rows = [
        {name: of(at) if callable(of) else f"{of}{at}" for name, of in more.items()}
        for at in range(20)
    ]
    write_file(tmp_path / "data" / NAME, [example({"image": image, **r}) for r in rows])
    page = page_about(tmp_path / "data")
    assert re.findall(r'class="caption"><b>(.*?)</b><span>record 0<', page) == [
        expected
    ]


def photo(form: str, mode: str = "RGB") -> bytes:
    """Return a red picture."""
    out = io.BytesIO()
    Pillow.new("RGB", (600, 900), (200, 40, 40)).convert(mode).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "BMP", "WEBP"])
def test_images_of_every_format_are_shown_as_small_copies(
    tmp_path: Path, form: str
) -> None:
    """Without a schema, too; comments of the original are not copied."""
    image = photo(form)
    if form == "JPEG":
        image = image[:2] + b"\xff\xfe\x00\x0a<script>" + image[2:]
    write_file(tmp_path / "data" / NAME, [example({"photo": image})])
    [shown, *_] = pictures(page_about(tmp_path / "data"))
    assert max(shown.size) == 400
    red, green, blue = shown.convert("RGB").getpixel((100, 100))  # type: ignore[misc]
    assert red > 180
    assert max(green, blue) < 60
    assert b"script" not in shown.info.get("comment", b"")


def shown_of(directory: Path, written: type[Record], row: Mapping[str, Any]) -> Any:
    """Return the pictures of the page about one record, as lists of pixels."""
    data = write_data(directory / "data", written, {"train": [example(row)]})
    return [np.asarray(each) for each in pictures(page_about(data))]


def test_raw_pixels_go_from_black_to_white(tmp_path: Path) -> None:
    """Those of 16 bits, too; small ones keep their pixels."""
    depth = record(
        "Scan", {"depth": Annotated[np.ndarray, Image((2, 2, 1), dtype="uint16")]}
    )
    row = {"depth": np.array([[100, 200], [300, 500]], "<u2").tobytes()}
    [shown, *_] = shown_of(tmp_path, depth, row)
    assert shown.tolist() == [[0, 64], [128, 255]]


def test_pictures_in_base64_are_shown(tmp_path: Path) -> None:
    """Of damaged text the page says that it is no image."""
    field = Image((4, 4, 3), encoding="png", transfer_encoding="base64")
    scan = record("Scan", {"b": Annotated[bytes, field]})
    text = base64.urlsafe_b64encode(encoded(np.zeros((4, 4, 3), np.uint8), "PNG"))
    for row, expected in (({"b": text}, 1), ({"b": text[:-1] + b"!"}, 0)):
        assert bool(shown_of(tmp_path, scan, row)) == expected


def test_a_palette_png_is_shown_in_its_colors(tmp_path: Path) -> None:
    """It is a drawing, as far as anything says."""
    image = Pillow.fromarray(np.array([[0, 1], [7, 7]], np.uint8), "P")
    image.putpalette([255, 0, 0, 0, 255, 0] + [9] * 762)
    out = io.BytesIO()
    image.save(out, "PNG")
    write_file(tmp_path / "data" / NAME, [example({"icon": out.getvalue()})])
    [shown, *_] = pictures(page_about(tmp_path / "data"))
    pixels = np.asarray(shown.convert("RGBA"))[..., :3]
    assert pixels[0].tolist() == [[255, 0, 0], [0, 255, 0]]


def test_a_mask_has_a_color_for_each_class(tmp_path: Path) -> None:
    """As its legend has it."""
    mask = Mask((2, 2), classes=("sky", "disc", "bar"), encoding="raw", role="info")
    scan = record("Scan", {"m": Annotated[np.ndarray, mask]})
    shown_of(tmp_path, scan, {"m": bytes([0, 1, 2, 2])})
    page = (tmp_path / "report.html").read_text("utf-8")
    shown = np.asarray(pictures(page)[0].convert("RGBA"))[..., :3]
    colors = [tuple(each) for each in shown.reshape(-1, 3).tolist()]
    assert colors[2] == colors[3]
    assert len(set(colors)) == 3
    for color in colors[1:]:  # the first one is the background
        assert f"#{bytes(color).hex()}" in page


def test_boxes_have_the_names_of_their_classes(tmp_path: Path) -> None:
    """Which are not in the file, where there are ids."""
    classes = VarLen("int64", classes=("car", "omnibus"), offset=1, group="box")
    fields = {
        "photo": Annotated[bytes, Image((50, 60, 3), encoding="png")],
        "category": Annotated[list[str], classes],
        **box_lists(),
    }
    row = {
        "photo": encoded(np.zeros((50, 60, 3), np.uint8), "PNG"),
        **{"category": [2], "xmin": [0.1], "xmax": [0.5], "ymin": [0.1], "ymax": [0.5]},
    }
    shown_of(tmp_path, record("Street", fields), row)
    page = (tmp_path / "report.html").read_text("utf-8")
    [legends] = re.findall(r'class="legends".*?</div>', page, re.DOTALL)
    assert "omnibus" in legends


def test_the_page_is_one_file(data: Path, tmp_path: Path) -> None:
    """Reproducible, and it replaces earlier reports and empty files."""
    out = tmp_path / "report.html"
    out.write_bytes(b"")
    result = run("inspect", data, "--html", out)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    first = out.read_bytes()
    assert first.startswith(b"<!doctype html>")
    assert re.findall(rb'(?:src|href)="(?!data:|#)', first) == []
    assert sorted(os.listdir(tmp_path)) == ["data", "report.html"]
    assert make_report(data, out).read_bytes() == first
    write_file(data / NAME, RECORDS[:5])
    assert make_report(data, out).read_bytes() != first


DAMAGES: dict[str, tuple[Callable[[Path], object], str, int]] = {
    "damaged": (lambda path: flip_bit(path, 60), "SG507", 1),
    "renamed": (lambda path: path.rename(path.with_name("a-0-of-2")), "SG502", 0),
    "other": (lambda path: path.write_bytes(frame(number(7, 1) * 4)), "SG513", 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_findings_are_on_the_page(data: Path, tmp_path: Path, damage: str) -> None:
    """Also what `verify` alone finds; the exit code is that of the text."""
    make, rule, code = DAMAGES[damage]
    make(data / NAME)
    out = tmp_path / "report.html"
    result = run("inspect", data, "--html", out)
    assert result.exit_code == run("inspect", data).exit_code == code
    assert run("verify", data).exit_code == 1
    assert f"<b>{rule}</b>" in out.read_text("utf-8")


def test_a_record_of_a_project_names_the_fields(
    data: Path, tmp_path: Path, workspace: Any
) -> None:
    """Of data without a manifest."""
    fields = "    a: int\n    b: str\n"
    workspace.schema(f"from schemagen import Record\n\n\nclass Word(Record):\n{fields}")
    out = tmp_path / "report.html"
    options = ("--record", "word", "--project", workspace.root)
    assert run("inspect", data, "--html", out, *options).exit_code == 0
    assert "Word, schemas/records.py" in out.read_text("utf-8")


@pytest.mark.parametrize("name", ["index.html", "no/report.html"])
def test_targets_that_cannot_be_written_are_refused_before_data_is_read(
    data: Path, tmp_path: Path, name: str
) -> None:
    """A file of somebody else, and a directory that does not exist."""
    mine = tmp_path / "index.html"
    mine.write_text("<!doctype html><title>mine</title>", encoding="utf-8")
    (data / NAME).unlink()
    result = run("inspect", data, "--html", tmp_path / name)
    assert result.exit_code == 2
    assert str(tmp_path / name) in result.stderr
    assert "mine" in mine.read_text(encoding="utf-8")
    assert sorted(os.listdir(tmp_path)) == ["data", "index.html"]


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an extra."""
    original: Callable[..., Any] = builtins.__import__

    def refusing(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refusing)
    result = run("inspect", data, "--html", tmp_path / "report.html")
    assert result.exit_code == 2
    assert result.stderr.startswith("command line: SG407 ")
    assert 'pip install "schemagen-tfrecord[report]"' in result.stderr


def test_a_report_that_cannot_be_finished_leaves_the_earlier_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no other file."""
    out = make_report(data, tmp_path / "report.html")
    before = out.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert run("inspect", data, "--html", out).exit_code == 2
    assert out.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["data", "report.html"]


@pytest.mark.parametrize(("size", "expected"), [(4, "always 0"), (100, "800 bytes")])
def test_values_are_described_as_inspect_does(
    size: int, expected: str, tmp_path: Path
) -> None:
    """A few raw numbers as numbers, and long arrays by their bytes."""
    held = {"raw": Annotated[Any, Vector((size,), "float64", encoding="raw")]}
    rows = [example({"raw": bytes(8 * size)}) for _ in range(5)]
    data = write_data(tmp_path / "data", record("Held", held), {"train": rows})
    facts = inspected(data).facts
    [words] = [each.text for each in facts if each.measure == "values"]
    assert words == expected
    assert f"<dd>{words}</dd>" in page_about(data)


@pytest.mark.slow
def test_many_keys_and_classes_are_summed_up(tmp_path: Path) -> None:
    """Of a thousand of each, the first ones are drawn."""
    names = tuple(f"kind {index}" for index in range(1000))
    wide = record("Wide", {"kind": Annotated[int, Label(classes=names)]})
    messages = [
        example({"kind": at, **{f"key{n:03}": n + at for n in range(1000)}})
        for at in range(60)
    ]
    splits = {"train": messages[:30], "test": messages[30:]}
    page = page_about(write_data(tmp_path / "data", wide, splits))
    assert len(page) < 5_000_000
    assert page.count("<figure ") < 60
    rows = cells_of(page, "All fields")
    assert len(rows) == 1_000
    assert "key999" not in rows
    assert ">key999<" in section_of(page, "fields")
