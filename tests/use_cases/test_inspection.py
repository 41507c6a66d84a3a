"""What `schemagen.inspect` returns, as facts, a frame and a page."""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import pandas as pd
import pytest
import schemagen
from command_line import run
from data.messages import example, write_data, write_file
from schemagen import Label, Record


class Pet(Record):
    """A pet, whose age tells its kind."""

    age: float
    kind: Annotated[int, Label(classes=("cat", "dog"))]


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """Data with a target, whose page has all sections."""
    rows = [
        example({"age": float(at // 4), "kind": int(at >= 200)}) for at in range(400)
    ]
    return write_data(tmp_path / "pets", Pet, {"train": rows, "test": rows[:300]})


def test_the_page_is_that_of_the_command(pets: Path, tmp_path: Path) -> None:
    """As text, or written to a path; damage is in it, too."""
    [file] = pets.glob("test-*")
    file.write_bytes(file.read_bytes()[:-5])
    written, expected = tmp_path / "found.html", tmp_path / "expected.html"
    run("inspect", pets, "--html", expected)
    found = schemagen.inspect(pets)
    assert found.html() == expected.read_text("utf-8")
    found.html(written)
    assert written.read_bytes() == expected.read_bytes()
    assert 'id="target"' in found.html()
    assert not found.verification.clean


def test_a_page_replaces_no_other_file(pets: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.html"
    other.write_text("mine")
    with pytest.raises(Exception, match="left as it is"):
        schemagen.inspect(pets).html(other)
    assert other.read_text() == "mine"


def test_facts_are_a_frame(pets: Path) -> None:
    """A row for each, with its entries as columns."""
    found = schemagen.inspect(pets)
    frame = found.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == [each.name for each in fields(found.facts[0])]
    assert len(frame) == len(found.facts)
    means = frame[(frame.measure == "mean") & (frame.subject == "age")]
    assert dict(zip(means.split, means.value, strict=True)) == {
        "train": 49.5,
        "test": 37.0,
    }


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("vl_convert", lambda found: found.html(), "report"),
        ("pandas", lambda found: found.to_pandas(), "pandas"),
    ],
)
def test_a_package_that_is_missing_can_be_installed(
    tmp_path: Path,
    package: str,
    call: object,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert callable(call)
    found = schemagen.inspect(write_file(tmp_path / "part", [example({"a": 1})]))
    monkeypatch.setitem(sys.modules, package, None)
    advice = re.escape(f'pip install "schemagen-tfrecord[{extra}]"')
    with pytest.raises(Exception, match=advice):
        call(found)
