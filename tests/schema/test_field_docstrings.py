"""The strings below fields are their descriptions, wherever the class stands."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from schema_files import load
from schemagen import Record

HEAD = "from schemagen import Record\n\n"


@pytest.fixture
def written(tmp_path: Path) -> ModuleType:
    """A module of records in every shape of class."""
    path = tmp_path / "written.py"
    path.write_text(HEAD + TEXT, encoding="utf-8")
    return load(path)


TEXT = '''
from pydantic import Field

class Pet(Record):
    """A pet."""

    age: int
    """In years,

    rounded down.
    """
    # Not that of the name.
    name: str
    def limit(self): pass
    """Of no field."""
    owner: str = ""
    "Who pays."
    tag: str = "x"; "On one line."
    explicit: str = Field(description="As called.")
    "Not this."

    class Inner:
        tag: str
        """Another one's."""

class Puppy(Pet):
    months: int

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
'''


def said(cls: type[Record]) -> dict[str, str | None]:
    """Return the descriptions of a record's fields."""
    return {name: info.description for name, info in cls.model_fields.items()}


def test_a_string_right_below_a_field_describes_it(written: ModuleType) -> None:
    """It is cleaned as docstrings are; a comment or another line between ends it.

    `Field(description=...)` is explicit; a base's fields keep what it says.
    """
    expected = {
        "age": "In years,\n\nrounded down.",
        "name": None,
        "owner": "Who pays.",
        "tag": "On one line.",
        "explicit": "As called.",
    }
    assert said(written.Pet) == expected
    assert said(written.Puppy) == {**expected, "months": None}


def test_classes_of_one_name_have_their_own(written: ModuleType) -> None:
    """Also those made by a function, and decorated ones over several lines."""
    assert said(written.large) == {"age": "of a large one"}
    assert said(written.small) == {"age": "of a small one"}
    assert said(written.Line) == {"age": "of a line"}


def test_a_class_without_source_has_no_descriptions() -> None:
    """What is typed into Python, or made by code, works all the same."""
    names: dict[str, type[Record]] = {}
    exec(f"{HEAD}class Pet(Record):\n    age: int\n    'lost'\n", names)
    assert said(names["Pet"]) == {"age": None}
    made = type("Pet", (Record,), {"__annotations__": {"age": int}})
    assert said(made) == {"age": None}
