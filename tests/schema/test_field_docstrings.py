"""The strings below fields are their descriptions, wherever the class stands."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from schemagen import Record

HEAD = "from schemagen import Record\n\n"


def module_of(tmp_path: Path, text: str) -> ModuleType:
    """Import a file as a module that is called `written`."""
    path = tmp_path / "written.py"
    path.write_text(HEAD + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["written"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No other test sees the module."""
    yield
    sys.modules.pop("written", None)


def said(cls: type[Record]) -> dict[str, str | None]:
    """Return the descriptions of a record's fields."""
    return {name: info.description for name, info in cls.model_fields.items()}


def test_a_string_right_below_a_field_describes_it(tmp_path: Path) -> None:
    """It is cleaned as docstrings are; a comment or another line between ends it."""
    text = '''
class Pet(Record):
    """A pet."""

    age: int
    """In years,

    rounded down.
    """
    # Not that of the name.
    name: str
    limit = 3
    """Of no field."""
    if True:
        owner: str = ""
        "Who pays."
    tag: str = "x"; "On one line."

    class Inner:
        tag: str
        """Another one's."""
'''.replace("    limit = 3\n", "    def limit(self): pass\n")
    assert said(module_of(tmp_path, text).Pet) == {
        "age": "In years,\n\nrounded down.",
        "name": None,
        "owner": "Who pays.",
        "tag": "On one line.",
    }


def test_classes_of_one_name_have_their_own(tmp_path: Path) -> None:
    """Also those made by a function, and decorated ones over several lines."""
    text = """
def same(text):
    return lambda cls: cls

def make(large):
    if large:
        class Pet(Record):
            age: int
            "of a large one"
    else:
        @same(
            "x"
        )
        class Pet(
            Record,
        ):
            age: int
            "of a small one"
    return Pet

large, small = make(True), make(False)
class Line(Record): age: int; "of a line"
"""
    module = module_of(tmp_path, text)
    assert said(module.large) == {"age": "of a large one"}
    assert said(module.small) == {"age": "of a small one"}
    assert said(module.Line) == {"age": "of a line"}


def test_what_is_said_elsewhere_counts_first_and_is_inherited(tmp_path: Path) -> None:
    """`Field(description=...)` is explicit; a base's fields keep what it says."""
    text = """
from pydantic import Field

class Animal(Record):
    age: int
    "In years."
    name: str = Field(description="As called.")
    "Not this."

class Pet(Animal):
    owner: str
"""
    assert said(module_of(tmp_path, text).Pet) == {
        "age": "In years.",
        "name": "As called.",
        "owner": None,
    }


def test_a_file_that_has_changed_is_read_anew(tmp_path: Path) -> None:
    """As `--watch` does in one process."""
    for text in ("one", "another, longer one"):
        module = module_of(
            tmp_path, f"class Pet(Record):\n    age: int\n    '{text}'\n"
        )
        assert said(module.Pet) == {"age": text}


def test_a_class_without_source_has_no_descriptions() -> None:
    """What is typed into Python, or made by code, works all the same."""
    names: dict[str, type[Record]] = {}
    exec(f"{HEAD}class Pet(Record):\n    age: int\n    'lost'\n", names)
    assert said(names["Pet"]) == {"age": None}
    made = type("Pet", (Record,), {"__annotations__": {"age": int}})
    assert said(made) == {"age": None}
