"""The project whose generated code is changed in the tests: two records, a few files."""

from __future__ import annotations

PET = """\
from typing import Annotated
from schemagen import Label, Record


class Pet(Record):
    name: str
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
"""
PARSER = "generated/pet/parser.py"
SPEC = "generated/pet/spec.json"
_FILES = ("__init__", "fields", "model", "parser", "pipeline", "reader", "serializer")


def files_of(record: str) -> tuple[str, ...]:
    """Return the generated files of a record."""
    names = (*(f"{name}.py" for name in _FILES), "spec.json")
    return tuple(f"generated/{record}/{name}" for name in names)
