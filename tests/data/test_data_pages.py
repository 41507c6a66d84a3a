"""The pages about data, such as docs/inspect.md, are run and print what they show."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schemagen
from command_line import make_project, run
from damaged_files import flip_bit
from lived_pages import assert_shown
from tfrecord_files import frames

from .messages import example, write_file

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    name: (DOCS / f"{name}.md").read_text("utf-8")
    for name in ("inspect", "verify", "compare")
}
PRINTED = re.compile(r"<!-- printed: (\w+) -->\n```\n(.*?)```", re.DOTALL)
SHOWN = {name: dict(PRINTED.findall(text)) for name, text in PAGES.items()}
CLASSES = ("daisy", "dandelion", "rose")


def program(page: str) -> dict[str, Any]:
    """Run the only Python block of a page."""
    [block] = re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, "page", "exec"), names)
    return names


def jpeg(height: int, width: int) -> bytes:
    """Return what begins and ends as a JPEG does, with so many rows and columns."""
    sizes = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    header = b"\xff\xc0\x00\x11\x08" + sizes + b"\x03" + bytes(9)
    pixels = b"\xff\xda\x00\x02" + bytes(height * width // 4) + b"\xff\xd9"
    return b"\xff\xd8\xff\xe0\x00\x04ab" + header + pixels


def flower(number: int) -> bytes:
    """Return a record as the program of the page wrote it."""
    kind = number * 7 % 11 % 3
    held: dict[str, Any] = {
        "image/encoded": jpeg(60 + number % 20, 80),
        "image/class/label": kind + 1,
        "image/class/text": CLASSES[kind],
        "image/filename": f"{number:06}.jpg",
        "image/bbox/xmin": np.arange(number % 4, dtype=np.float32) / 8,
        "tags": [number * at % 37 for at in range(number % 6)],
    }
    if number % 10:
        held["score"] = number % 97 / 64
    return example(held)


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page on inspect, next to which commands run."""
    monkeypatch.chdir(tmp_path)
    records = [flower(number) for number in range(700)]
    write_file(tmp_path / "old/train-00000-of-00002", records[:300])
    write_file(tmp_path / "old/train-00001-of-00002", records[300:600])
    return write_file(tmp_path / "old/val-00000-of-00001", records[600:])


def test_the_page_shows_what_inspect_prints(old: Path) -> None:
    """And what it says of damage: exit code 1, and the rest of the records."""
    found = run("inspect", "old", "--records", "1")
    assert found.exit_code == 0
    assert_shown([(SHOWN["inspect"]["whole"], found.output)])
    old.write_bytes(old.read_bytes()[:-100])
    cut = run("inspect", "old", "--records", "0")
    assert cut.exit_code == 1
    assert "val-00000-of-00001: record 99 at byte 160,864" in cut.output


def test_the_page_shows_how_splits_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a test split with other values of a key and five records of train."""
    monkeypatch.chdir(tmp_path)
    records = [flower(number) for number in range(360)]
    write_file(tmp_path / "data/train-00000-of-00001", records[5:305])
    write_file(tmp_path / "data/test-00000-of-00001", records[300:])
    found = run("inspect", "data", "--records", "0")
    assert found.exit_code == 0
    assert_shown([(SHOWN["compare"]["splits"], found.output)])
    failed = run("inspect", "data", "--fail-on", "leakage")
    assert failed.exit_code == 1


def test_the_page_s_python_inspects(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints what it says that it does."""
    program("inspect")
    comments = re.findall(r"  # (.*)$", PAGES["inspect"], re.M)
    assert capsys.readouterr().out.splitlines() == comments


SCHEMA = '''\
from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record, Text


class Shelter(Record):
    """An animal of the shelter."""

    photo: Annotated[np.ndarray, Image((8, 8, 3))]
    breed: Annotated[int, Label(classes=("beagle", "pug", "tabby"))]
    note: Annotated[str, Text(role="info")]
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with the data of the page on verify, where commands run."""
    root = make_project(tmp_path, {"shelter.py": SCHEMA}, output="page_of_verify")
    schemagen.generate(root)
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.chdir(root)
    from page_of_verify.shelter.serializer import (  # type: ignore[import-not-found]
        write_dataset,
    )

    def rows(count: int) -> Iterator[dict[str, object]]:
        for number in range(count):
            photo = np.full((8, 8, 3), number % 256, np.uint8)
            yield {"photo": photo, "breed": number % 3, "note": f"animal {number}"}

    write_dataset(rows(1200), root / "data", "train", shards=3)
    write_dataset(rows(90), root / "data", "test", shards=1)
    yield root
    for name in [each for each in sys.modules if each.startswith("page_of_verify")]:
        del sys.modules[name]


def damage(root: Path) -> None:
    """Do what the page says has happened."""
    first, second, third = sorted((root / "data").glob("train-*"))
    first.unlink()
    flip_bit(second, 70_000)
    rows: list[dict[str, Any]] = [
        {"photo": bytes(768), "breed": 3, "note": "Zoë".encode("latin-1")},
        {"photo": bytes(768), "breed": 1, "note": b"Rex"},
    ]
    more = frames(example(row) for row in rows)
    third.write_bytes(third.read_bytes() + more)


def test_the_page_shows_what_verify_prints(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """First of whole data, then of damaged data; its Python lists the findings."""
    clean = run("verify", "data")
    assert clean.exit_code == 0
    assert_shown([(SHOWN["verify"]["clean"], clean.output)])
    damage(project)
    wrong = run("verify", "data")
    assert wrong.exit_code == 1
    assert_shown([(SHOWN["verify"]["wrong"], wrong.stderr + wrong.stdout)])
    program("verify")
    assert "SG527 breed 1 3" in capsys.readouterr().out.splitlines()


def test_the_commands_of_several_machines_check_every_shard(project: Path) -> None:
    """Each has an exit code, and together they find what one run finds."""
    section = PAGES["verify"].partition("## Several machines")[2]
    commands = re.findall(r"^schemagen verify (.*?)(?:  +#.*)?$", section, re.M)[:4]
    runs = [shlex.split(each) for each in commands]
    assert [found(*each) for each in runs] == [set()] * 4
    damage(project)
    (project / "data/extra-00000-of-00001.tfrecord").write_bytes(b"")
    assert set().union(*(found(*each) for each in runs)) == found("data")


def found(*arguments: str) -> set[tuple[str, str]]:
    """Return the rules and files of what a run finds, and check its exit code."""
    result = run("verify", *arguments, "--format", "json")
    findings = json.loads(result.stdout)["findings"]
    assert result.exit_code == (1 if findings else 0)
    return {
        (each["rule"], example["path"])
        for each in findings
        for example in each["data"]["examples"]
    }
