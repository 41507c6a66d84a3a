"""`schemagen import`: what it writes, prints and refuses, whatever the source is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import Result
from command_line import COMMANDS, findings_of, run
from contract.hard_texts import INJECTIONS

from .sources import TEXT, connector, dataset, refusals, tensor

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"


def run_import(source: object, out: Path, *options: str) -> Result:
    """Run `schemagen import --from tfds`."""
    return run("import", f"{source}", "--from", "tfds", "--out", out, *options)


def small(directory: Path) -> str:
    """Write a features.json with one doubt; return its path."""
    return dataset(directory, wide=tensor("float64"), text=TEXT)


def test_it_says_what_it_wrote(tmp_path: Path) -> None:
    """The file, its record, and each doubt that is a comment of the file too."""
    out = tmp_path / "schemas" / "my_pet.py"
    result = run_import(small(tmp_path), out)
    assert result.exit_code == 0
    first, second = result.output.splitlines()
    assert first == f"{out}: MyPet, 2 fields, 1 doubt"
    doubt = second.removeprefix("  doubt: wide: ")
    assert f"    # doubt: {doubt}\n" in out.read_text()
    assert os.listdir(out.parent) == ["my_pet.py"]


def test_what_has_no_counterpart_is_left_out(tmp_path: Path) -> None:
    """The rest is written, the file and the command say what is missing; exit code 1."""
    odd = connector("Odd", "text")
    source = dataset(tmp_path, a=TEXT, b=odd, wide=tensor("float64"))
    out = tmp_path / "x.py"
    result = run_import(source, out)
    assert result.exit_code == 1
    assert "X, 2 fields, 1 doubt, 1 left out\n" in result.output
    assert "  left out: b: " in result.output
    assert "# left out: b: " in out.read_text()
    call = ("import", source, "--from", "tfds", "--out", out, "--force")
    assert [
        (each["rule"], each["severity"], each["message"].partition(":")[0])
        for each in findings_of(*call, code=1)
    ] == [("SG463", "warning", "wide"), ("SG462", "error", "b")]


def test_nothing_is_written_if_no_part_has_a_counterpart(tmp_path: Path) -> None:
    """The reason for each part is a finding."""
    source = dataset(tmp_path, b=connector("Odd", "text"))
    (finding,) = refusals(source, "tfds", tmp_path)
    assert (finding["rule"], finding["found"]) == ("SG462", "Odd")


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    """`--force` writes over it."""
    out = tmp_path / "x.py"
    out.write_text("mine\n")
    result = run_import(small(tmp_path), out)
    assert result.exit_code == 2
    assert f"{out}: SG404 " in result.output
    assert out.read_text() == "mine\n"
    assert run_import(small(tmp_path), out, "--force").exit_code == 0
    assert "class X(Record):" in out.read_text()


@pytest.mark.parametrize(
    ("source", "out", "options", "found"),
    [
        ("", "x.txt", (), "SG404"),
        ("", "3.py", (), "SG105 '3'"),
        ("", "x.py", ("--name", "A B"), "SG105 'A B'"),
        ("", "x.py", ("--name", "Ärger"), "SG105 Ärger: "),
        ("", "features.json/x.py", (), "SG403"),
        ("", "x.py", ("--from", "tdfs"), "'tdfs'"),
        ("none", "x.py", (), "none: SG461"),
        ("empty.json", "x.py", (), "empty.json: SG461"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused(
    source: str, out: str, options: tuple[str, ...], found: str, tmp_path: Path
) -> None:
    """With a rule that tells which of both it is."""
    Path(dataset(tmp_path)).rename(tmp_path / "empty.json")
    path = tmp_path / source if source else small(tmp_path)
    result = run_import(path, tmp_path / out, *options)
    assert result.exit_code == 2
    assert found in result.output


@pytest.mark.parametrize("text", [*INJECTIONS, "\x1b]0;title\x07\x1b[2J", "class"])
def test_names_in_a_source_are_data(text: str, tmp_path: Path) -> None:
    """Keys, classes and descriptions reach neither the terminal nor Python as code."""
    label = connector("ClassLabel", "classLabel", numClasses="2")
    features = {text: TEXT, "label": label}
    inner = connector("FeaturesDict", "featuresDict", features=dict(features))
    features |= {"bad": connector(text, "text"), "inner": inner}
    features["text"] = {**TEXT, "description": text}
    source = dataset(tmp_path, **features)
    names = "".join(f"{name}\n" for name in (text.replace("\n", " "), "other"))
    (tmp_path / "label.labels.txt").write_text(names, encoding="utf-8")
    out = tmp_path / "x.py"
    result = run_import(source, out)
    assert result.exit_code == 1, result.output
    assert all(line.isprintable() for line in result.output.splitlines())
    refused = run_import(dataset(tmp_path, bad=connector(text, "text")), out, "--force")
    assert refused.exit_code == 2
    assert "\x1b" not in refused.output


def test_the_page_names_every_option() -> None:
    """Nothing that the verb takes is left out."""
    text = PAGE.read_text(encoding="utf-8")
    for option in COMMANDS["import"].params:
        name = option.opts[0]
        if name not in ("--format", "source"):
            assert name in text, name
