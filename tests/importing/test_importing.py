"""`schemagen import`: what it writes, prints and refuses, whatever the source is."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from contract.hard_texts import INJECTIONS
from schemagen.cli import main

from .sources import connector, dataset, shape

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"


def run(source: object, out: Path, *options: str) -> Result:
    """Run `schemagen import --from tfds`."""
    arguments = ["import", str(source), "--from", "tfds", "--out", str(out), *options]
    return CliRunner().invoke(main, arguments)


def small(directory: Path) -> str:
    """Write a features.json with one doubt; return its path."""
    wide = connector("Tensor", "tensor", shape=shape(), dtype="float64")
    return dataset(directory, wide=wide, text=connector("Text", "text"))


def test_it_says_what_it_wrote(tmp_path: Path) -> None:
    """The file, its record, and each doubt that stands in it too."""
    out = tmp_path / "schemas" / "my_pet.py"
    result = run(small(tmp_path), out)
    assert result.exit_code == 0
    assert result.output == (
        f"{out}: MyPet, 2 fields, 1 doubt\n"
        "  doubt: wide: float64, which TFDS stores as float32\n"
    )
    assert "    # doubt: float64, which TFDS stores as float32\n" in out.read_text()
    assert os.listdir(out.parent) == ["my_pet.py"]


def test_what_is_refused_is_exit_code_2(tmp_path: Path) -> None:
    """Nothing is written; `--skip-refused` writes the rest and says so."""
    source = dataset(tmp_path, a=connector("Text", "text"), b=connector("Odd", "text"))
    out = tmp_path / "x.py"
    result = run(source, out)
    assert (result.exit_code, out.exists()) == (2, False)
    assert f"{source}:1:1: SG462 b: " in result.output
    assert "--skip-refused" in result.output
    (finding,) = json.loads(run(source, out, "--format", "json").stdout)["findings"]
    assert (finding["rule"], finding["found"]) == ("SG462", "Odd")
    result = run(source, out, "--skip-refused")
    assert result.exit_code == 0
    assert "X, 1 field, 1 left out\n  left out: b: " in result.output


def test_doubts_are_findings_for_programs(tmp_path: Path) -> None:
    """Warnings, and so are the parts that were left out."""
    wide = connector("Tensor", "tensor", shape=shape(), dtype="float64")
    source = dataset(tmp_path, wide=wide, odd=connector("Odd", "text"))
    result = run(source, tmp_path / "x.py", "--skip-refused", "--format", "json")
    assert result.exit_code == 0
    assert [
        (found["rule"], found["severity"], found["message"].partition(":")[0])
        for found in json.loads(result.stdout)["findings"]
    ] == [("SG463", "warning", "wide"), ("SG462", "warning", "odd")]


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    """`--force` writes over it."""
    out = tmp_path / "x.py"
    out.write_text("mine\n")
    result = run(small(tmp_path), out)
    assert result.exit_code == 2
    assert f"SG404 {out} exists, and is yours" in result.output
    assert out.read_text() == "mine\n"
    assert run(small(tmp_path), out, "--force").exit_code == 0
    assert "class X(Record):" in out.read_text()


@pytest.mark.parametrize(
    ("source", "out", "options", "message"),
    [
        ("", "x.txt", (), "SG404 a schema file ends in .py"),
        ("", "3.py", (), "SG105 no record can be called '3'"),
        ("", "x.py", ("--name", "A B"), "SG105 no record can be called 'A B'"),
        ("", "x.py", ("--name", "Ärger"), "SG105 record 'Ärger' would be generated as"),
        ("", "features.json/x.py", (), "x.py cannot be written"),
        ("", "x.py", ("--from", "tdfs"), "'tdfs' is not one of 'tfds', 'tfmd', 'feat"),
        ("none", "x.py", (), "SG461 it cannot be imported: it cannot be read: No such"),
        ("empty.json", "x.py", (), "SG461 nothing in it can be imported"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused(
    source: str, out: str, options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    Path(dataset(tmp_path)).rename(tmp_path / "empty.json")
    found = tmp_path / source if source else small(tmp_path)
    result = run(found, tmp_path / out, *options)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("text", [*INJECTIONS, "\x1b]0;title\x07\x1b[2J", "class"])
def test_names_in_a_source_are_data(text: str, tmp_path: Path) -> None:
    """Keys, classes and descriptions reach neither the terminal nor Python as code."""
    label = connector("ClassLabel", "classLabel", numClasses="2")
    features = {text: connector("Text", "text"), "label": label}
    features["bad"] = connector(text, "text")
    features["inner"] = connector(
        "FeaturesDict", "featuresDict", features=dict(features)
    )
    features["text"] = {**connector("Text", "text"), "description": text}
    del features["inner"]["featuresDict"]["features"]["bad"]
    source = dataset(tmp_path, **features)
    names = "".join(f"{name}\n" for name in (text.replace("\n", " "), "other"))
    (tmp_path / "label.labels.txt").write_text(names, encoding="utf-8")
    out = tmp_path / "x.py"
    result = run(source, out, "--skip-refused")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert all(line.isprintable() for line in result.output.splitlines())
    refused = run(source, out, "--force")
    assert refused.exit_code == 2
    assert "\x1b" not in refused.output


def test_the_page_names_every_option() -> None:
    """Nothing that the verb takes is left out."""
    text = PAGE.read_text(encoding="utf-8")
    for option in main.commands["import"].params:
        name = option.opts[0]
        if name not in ("--format", "source"):
            assert name in text, name
