"""What users can ask for is on the page that is about it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
import schemagen
from command_line import run
from running import ROOT, blocks_of, path_of
from schemagen.cli import main
from schemagen.rules import RULES

from generated.digit.pipeline import make_dataset
from generated.digit.serializer import Writer, plan_dataset, write_dataset


def _text(page: str) -> str:
    return path_of(page).read_text(encoding="utf-8")


def _parameters(*functions: object) -> list[str]:
    """Return parameters but those that each call has."""
    found = [name for each in functions for name in inspect.signature(each).parameters]
    return [name for name in found if name not in ("source", "split")]


def _templates() -> list[str]:
    listed = run("templates", "--project", ROOT, "--format", "json").stdout
    names = [each["name"] for each in json.loads(listed)["templates"]]
    return [name for name in names if not name.startswith("kinds/")]


FILTERS = ["literal", "prose", "identifier", r"indent\(n\)", r"spaces\(n\)"]
CODES = ["0 clean", "1 findings", "2 the request", "3 a bug"]
KINDS = [name for name in schemagen.__all__ if name[0].isupper()]


@pytest.mark.parametrize(
    ("page", "names", "pattern"),
    [
        ("README", main.commands, r"`(schemagen )?{}\b"),
        ("README", KINDS, r"\b{}\b"),
        ("README", CODES, "{}"),
        ("reading", [*_parameters(make_dataset), "targets"], r"`{}\b"),
        ("writing", _parameters(Writer, write_dataset), r"`{0}[=`]|{0}="),
        ("scale", _parameters(plan_dataset), r"`{0}[=`]|{0}="),
        ("templates", [*map(re.escape, _templates()), *FILTERS], "`{}`"),
    ],
    ids=["verbs", "kinds", "codes", "reading", "writing", "scale", "templates"],
)
def test_every_name_is_on_the_page(
    page: str, names: Iterable[str], pattern: str
) -> None:
    """Options, commands, kinds, templates."""
    text = " ".join(_text(page).split())
    missing = [name for name in names if not re.search(pattern.format(name), text)]
    assert missing == []


def test_every_rule_of_generated_files_is_on_the_page() -> None:
    """In the table, with what `generate` does."""
    rules = {rule for rule in RULES if rule.startswith("SG3")}
    listed = re.findall(r"^\| (SG3\d\d) \|", _text("generated-code"), re.M)
    assert set(listed) == rules


def test_every_option_of_the_training_program_is_one_that_it_has() -> None:
    """What the page names is there to be asked for."""
    template = ROOT / "templates" / "init" / "train.py.jinja"
    options = re.findall(r'add\("(--[a-z-]+)"', template.read_text(encoding="utf-8"))
    section = _text("training").partition("\n## A program to start from\n")[2]
    named = re.findall(r"--[a-z]+(?:-[a-z]+)*", section.partition("\n## ")[0])
    assert named
    assert set(named) - {"--train"} <= set(options)


def test_each_link_of_the_readme_leads_to_a_file() -> None:
    """It is read where no site is."""
    for target in re.findall(r"\]\(([^)]+)\)", _text("README")):
        assert (ROOT / target).is_file(), target


def _fields(declaration: str) -> dict[str, object]:
    """Return the kinds of the fields that a schema file declares, by name."""
    names: dict[str, Any] = {"__name__": "pet_photo"}
    exec(compile(declaration, "pet_photo.py", "exec", dont_inherit=True), names)
    return {
        field.name: field.kind for field in schemagen.describe(names["PetPhoto"]).fields
    }


@pytest.mark.parametrize("page", ["README", "index", "comparison"])
def test_the_first_pages_declare_the_record_of_init(page: str) -> None:
    """One record leads through them, and `schemagen init` writes it."""
    example = ROOT / "templates" / "init" / "pet_photo.py"
    files = {each.file: each.text for each in blocks_of(page)}
    found = _fields(files["schemas/pet_photo.py"])
    assert found == _fields(example.read_text("utf-8"))


def test_the_lines_that_the_comparison_counts_are_those_of_its_programs() -> None:
    """The table has the numbers of lines with code, without the name of the file."""

    def lines(text: str) -> int:
        return sum(bool(line.strip()) for line in text.splitlines())

    page = _text("comparison")
    files = {
        each.file: each.text.partition("\n")[2] for each in blocks_of("comparison")
    }
    parts, start, program = files["by_hand.py"].partition("if __name__")
    declared, ours = lines(files["schemas/pet_photo.py"]), files["with_schemagen.py"]
    assert f"| declaration | | {declared}, of which 5 are the fields |" in page
    assert f"| serializer, parser, pipeline, model | {lines(parts)} | |" in page
    by_hand = lines(start + program)
    assert f"| program that uses them | {by_hand} | {lines(ours)} |" in page
