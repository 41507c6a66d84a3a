"""A Literal or an Enum and a Label next to it name the same classes, or are refused."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from command_line import make_project, refusals

from .generated_records import importable, project_record, write_project

SOURCE = """\
from enum import Enum, IntEnum
from typing import Annotated, Literal

from schemagen import Label, Record


class Words(Enum):
    A = "a"
    B = "b"


class Ids(IntEnum):
    LATER = 1
    FIRST = 0


class Gaps(IntEnum):
    X = 10
    Y = 20


class Declared(Record):
    x: {annotation}
"""

REFUSED = {
    "other names than the Enum's": "Annotated[Words, Label(classes=('p', 'q'))]",
    "one name too many": "Annotated[Words, Label(classes=('a', 'b', 'c'))]",
    "other names than the Literal's": "Annotated[Literal['a', 'b'], Label(classes=('p',))]",
    "another order than the Enum's ids": (
        "Annotated[Ids, Label(classes=('LATER', 'FIRST'))]"
    ),
    "ids with gaps": "Annotated[Gaps, Label(num_classes=30)]",
    "ids with gaps alone": "Gaps",
    "another number than the Enum's": "Annotated[Words, Label(num_classes=3)]",
    "a Literal of numbers": "Literal[1, 2]",
}


@pytest.mark.parametrize("case", REFUSED)
def test_classes_that_disagree_are_refused(case: str, tmp_path: Path) -> None:
    """No row could be right for both, so the schema is wrong."""
    source = SOURCE.format(annotation=REFUSED[case])
    findings = refusals(make_project(tmp_path, {"records.py": source}))
    assert {finding["rule"] for finding in findings} <= {"SG112", "SG113"}
    assert {finding["location"]["line"] for finding in findings} == {23}


ACCEPTED = {
    "Words": ("a", "b"),
    "Annotated[Words, Label(classes=('b', 'a'))]": ("b", "a"),
    "Annotated[Words, Label(num_classes=2)]": ("a", "b"),
    "Annotated[Literal['a', 'b'], Label(num_classes=2)]": ("a", "b"),
    "Annotated[Literal['a', 'b'], Label(classes=('b', 'a'))]": ("b", "a"),
    "Ids": ("FIRST", "LATER"),
    "Annotated[Ids, Label(classes=('FIRST', 'LATER'))]": ("FIRST", "LATER"),
}


@pytest.mark.parametrize("number", range(len(ACCEPTED)))
def test_classes_that_agree_have_one_order_of_ids(number: int, tmp_path: Path) -> None:
    """Names, ids and members of a class are one value for schema and writer."""
    annotation, classes = list(ACCEPTED.items())[number]
    package = f"contract_declared_{number}"
    root = tmp_path / "project"
    write_project(root, SOURCE.format(annotation=annotation), package)
    with importable(root):
        generated = project_record(root, package, "Declared")
        schema = importlib.import_module(generated.record.__module__)
        serialize = generated.serializer.serialize
    assert {"x": classes} == generated.serializer.CLASSES
    for index, name in enumerate(classes):
        member = schema.Ids[name] if "Ids" in annotation else schema.Words(name)
        forms = [index, name] if "Literal" in annotation else [index, name, member]
        for form in forms:
            assert serialize(x=form) == serialize(x=index)
            instance = generated.record(x=form)
            assert instance.x == (name if "Literal" in annotation else member)
            assert serialize(x=instance.x) == serialize(x=index)
