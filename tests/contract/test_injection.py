"""No text that a schema can hold becomes code, in any file that is made of it.

A record with hostile text in every place has a twin with harmless text in the same
places. What is made of the two has to differ in its literals and comments, and in nothing
else; and what is made of the hostile one is run, with a canary in reach.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import json
import os
import re
import tokenize
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import schemagen
from schemagen import Augment
from schemagen.codegen.render import render_training
from schemagen.config import find_project
from schemagen.runtime.kinds.registry import KINDS
from schemagen.spec.describe import describe_text
from schemagen.spec.model import FieldSpec, RecordSpec
from schemagen.use_cases.generate import load_specs

from .generated_records import importable
from .hostile_texts import FLAG, HOSTILE, write_hostile_project

PACKAGE = "contract_hostile"
SOURCE = 'it\'s {{ a }} %} "hostile" # -*- coding: utf-7 -*- name'
MODULES = ("__init__", "serializer", "parser", "pipeline", "model")
STEMS = ("flat", "stepped")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with every text in every place, generated."""
    root = tmp_path_factory.mktemp("hostile") / "project"
    write_hostile_project(root, PACKAGE, SOURCE)
    schemagen.generate(root)
    importlib.invalidate_caches()
    with importable(root):
        yield root


@pytest.fixture(scope="module")
def specs(project: Path) -> dict[str, RecordSpec]:
    return {spec.record: spec for spec in load_specs(find_project(project))}


def numbers() -> list[int]:
    return list(range(1, len(HOSTILE) + 1))


def shape(text: str, record: str) -> str:
    """Return the syntax of a module without what its literals hold."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            node.value = type(node.value)()
            node.kind = None
    name = "".join(word.capitalize() for word in record.split("_"))
    return ast.dump(tree).replace(record, "twin").replace(name, "Twin")


def twins(stem: str, number: int) -> tuple[str, str]:
    """Return the names of a hostile record and of the harmless one."""
    return f"{stem}{number:03}", f"{stem}000"


@pytest.mark.quick_cases(14)
@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("number", numbers())
def test_modules_have_no_statement_more(project: Path, stem: str, number: int) -> None:
    """Their syntax trees are those of the harmless twin, literals apart."""
    hostile, harmless = twins(stem, number)
    for module in MODULES:
        shapes = [
            shape((project / PACKAGE / name / f"{module}.py").read_text("utf-8"), name)
            for name in (hostile, harmless)
        ]
        assert shapes[0] == shapes[1], module


@pytest.mark.parametrize("number", numbers())
def test_training_programs_have_no_statement_more(
    specs: dict[str, RecordSpec], number: int
) -> None:
    """`init --train` makes the same program of both."""
    hostile, harmless = twins("flat", number)
    made = [render_training(specs[name], PACKAGE) for name in (hostile, harmless)]
    assert shape(made[0], hostile) == shape(made[1], harmless)


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_importing_what_is_made_calls_no_canary(project: Path, stem: str) -> None:
    """Each module of each hostile record is run."""
    for number in numbers():
        for module in MODULES:
            suffix = "" if module == "__init__" else f".{module}"
            importlib.import_module(f"{PACKAGE}.{stem}{number:03}{suffix}")
    assert not hasattr(builtins, FLAG)
    assert FLAG not in os.environ


def test_the_canary_would_be_called() -> None:
    """What closes a docstring and is printed as it is does set the flag."""
    try:
        exec(f'"""{HOSTILE[0]}"""', {})
        assert hasattr(builtins, FLAG)
    finally:
        delattr(builtins, FLAG)


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("number", numbers())
def test_headers_are_two_lines(project: Path, stem: str, number: int) -> None:
    """The schema file's name stands in one comment of every file, and breaks none."""
    name = f"{stem}{number:03}"
    for path in (project / PACKAGE / name).iterdir():
        if path.is_dir():
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        at = 1 if path.suffix == ".json" else 0
        assert "schemas/it's {{ a }}" in lines[at]
        assert "DO NOT EDIT." in lines[at]
        assert re.search(r"schemagen: spec=[0-9a-f]{16} body=", lines[at + 1])
        if path.suffix == ".py":
            with path.open("rb") as file:
                assert tokenize.detect_encoding(file.readline)[0] == "utf-8"
    spec = json.loads((project / PACKAGE / name / "spec.json").read_text("utf-8"))
    assert spec["source"] == f"schemas/{SOURCE}.py"


def test_what_terminals_show_commands_none(specs: dict[str, RecordSpec]) -> None:
    """`describe` prints letters and ends of lines, as many as for the harmless twin."""
    for spec in specs.values():
        text = describe_text(spec)
        assert all(line.isprintable() for line in text.split("\n"))
        twin = describe_text(specs[f"{spec.record[:-3]}000"])
        assert text.count("\n") == twin.count("\n")


# Every place of a schema that holds text


def holds_text(hint: Any) -> bool:
    """Tell whether an attribute of this type can hold text."""
    if hint in (str, bytes) or hint is typing.get_type_hints(FieldSpec)["default"]:
        return True
    return any(map(holds_text, typing.get_args(hint)))


def places() -> set[tuple[str, str]]:
    """Return the attributes of specs that can hold text, by the class that has them."""
    found = set()
    for cls in (RecordSpec, FieldSpec, Augment, *KINDS.values()):
        hints = typing.get_type_hints(cls)
        for parameter in fields(cls):
            if holds_text(hints[parameter.name]):
                found.add((cls.__name__, parameter.name))
    return found


def reached(value: Any, mark: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes in which text is found, by their classes."""
    for field in fields(value):
        held = getattr(value, field.name)
        if any(mark in text for text in texts_in(held)):
            yield type(value).__name__, field.name
        for below in held if isinstance(held, tuple) else (held,):
            if is_dataclass(below):
                yield from reached(below, mark)


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode()
    elif isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from texts_in(item)


# Attributes that hold no text of the schema's: names, which are identifiers, words of
# closed sets, and a file that specs have read.
NAMES = {"name", "path", "record", "class_name", "vocabulary", "box_image"}
CLOSED = {
    *("role", "message", "dtype", "encoding", "interpolation", "stored", "too_long"),
    *("decoder", "decoded_dtype"),  # the first one has identifiers
}


def test_every_place_for_text_is_reached(specs: dict[str, RecordSpec]) -> None:
    """The hostile records leave out no attribute of any spec that can hold text."""
    found = set()
    for stem in STEMS:
        found |= set(reached(specs[f"{stem}001"], HOSTILE[0].splitlines()[1]))
    found |= set(reached(specs["flat001"], "hostile"))
    named = {(cls, name) for cls, name in found if name in NAMES}
    wanted = {(cls, name) for cls, name in places() if name not in NAMES | CLOSED}
    assert found - named == wanted
