"""Values of any type as parameters of kinds and records: findings at their lines."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
import schemagen
from command_line import findings_of, make_project, run

VALUES = '''\
"""Values of every sort, most of them wrong wherever they stand."""

from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel
from schemagen import *


class Hostile:
    """An object of which nothing can be asked."""

    def _raise(self, *_):
        raise ZeroDivisionError

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = _raise
    __getattr__ = __lt__ = __contains__ = __index__ = __float__ = __hash__ = _raise


class Word(StrEnum):
    FLOAT = "float32"
    RAW = "raw"
    KEY = "a key"


class Number(IntEnum):
    TWO = 2


class Inner(BaseModel):
    y: int


ENDLESS = []
ENDLESS.append(ENDLESS)
BAD = (
    *(None, True, False, 0, 5, -1, 10**30, 10**400, 2**63 - 1, 0.5, 1j),
    *(float("nan"), float("inf"), "", "x", "a\\0b", "\\ud800", b"", b"x"),
    *((), [], [[1], [2]], (1, (2, (3, (4,)))), ("a", 5), ("a", None), (None, None)),
    *((5, 5, 3), (2**62, 2**62, 2**62), {}, {"a": 1}, set(), {1}, ENDLESS, dict),
    *(np.float32, np.dtype("int8"), np.zeros(3), np.array(["a", "b"]), np.int64(3)),
    *(np.float64("nan"), np.str_("x"), np.bool_(True), lambda: None, range(3)),
    *(Ellipsis, NotImplemented, *Word, Number.TWO, Path("x"), Label),
    *(Label(num_classes=2), Label(classes=5), Augment, Augment(crop="x"), Hostile),
    *(Hostile(), [Hostile()], (1, Hostile())),
)
'''
COUNT = 60
HOSTILE = 3
"""The last values raise an error of their own as soon as Python looks at them."""

# Good parameters of each kind, of which one at a time is replaced; and a type.
GOOD = {
    "Audio": ("{'rate': 8000}", "Any"),
    "Image": ("{'shape': (4, 4, 3)}", "Any"),
    "Images": ("{'shape': (4, 4, 3)}", "Any"),
    "Label": ("{'num_classes': 3}", "int"),
    "Mask": ("{'shape': (4, 4)}", "Any"),
    "MultiLabel": ("{'num_classes': 3}", "list[int]"),
    "Ragged": ("{'dtype': 'float32', 'ragged': False}", "list[list[float]]"),
    "Scalar": ("{'dtype': 'float32'}", "float"),
    "Sparse": ("{'shape': (4,), 'index_key': 'at'}", "Any"),
    "Steps": ("{'step': Scalar('float32')}", "list[float]"),
    "Tensor": ("{'shape': (None,), 'shape_key': 'size'}", "Any"),
    "Text": ("{}", "str"),
    "VarLen": ("{'dtype': 'float32'}", "list[float]"),
    "Vector": ("{'shape': (4,)}", "Any"),
}
_PLAIN = ("int", "float", "bool", "str", "bytes", "list[int]", "list[list[str]]")


def _with(kind: str, parameter: str, of_type: str = "") -> str:
    """Return a field whose kind has the value for one of its parameters."""
    given, usual = GOOD[kind]
    parameters = f"**{{**{given}, '{parameter}': VALUE}}"
    return f"x: Annotated[{of_type or usual}, {kind}({parameters})]"


# By what is tried: fields, or parameters of a class, with `VALUE` for the value.
TRIED = {
    kind: [_with(kind, each.name) for each in fields(getattr(schemagen, kind))]
    for kind in GOOD
}
TRIED["optional fields"] = [
    f"{_with(kind, 'key', f'{of_type} | None')} = None"
    for kind, (_, of_type) in GOOD.items()
]
TRIED["nested"] = ["x: Annotated[Inner, Nested(key=VALUE)]"]
TRIED["augment"] = [
    f"x: Annotated[Any, Image((8, 8, 3), augment=Augment({each.name}=VALUE))]"
    for each in fields(schemagen.Augment)
]
TRIED["defaults"] = [
    *(f"x: {of_type} = VALUE" for of_type in _PLAIN),
    *(
        f"x: Annotated[{of_type}, {kind}(**{given})] = VALUE"
        for kind, (given, of_type) in GOOD.items()
        if kind != "Steps"
    ),
]
TRIED["metadata"] = ["x: Annotated[int, VALUE]"]
TRIED["parameters of the class"] = ["reserved=VALUE", "draft=VALUE"]


def test_every_kind_is_tried() -> None:
    """Who adds a kind adds its parameters."""
    others = {"Augment", "Nested", "Record", "SequenceRecord"}
    assert set(GOOD) == {n for n in schemagen.__all__ if n[0].isupper()} - others


def classes_of(tried: str) -> list[str]:
    """Return a record of two lines for each value in each place."""
    count = (
        COUNT if tried in GOOD or tried in ("nested", "augment") else COUNT - HOSTILE
    )
    texts = []
    for template in TRIED[tried]:
        for value in range(count):
            field, base = template.replace("VALUE", f"BAD[{value}]"), "Record"
            if "Steps(" in field:
                base = "SequenceRecord"
            if not field.startswith("x: "):
                field, base = "x: int", f"Record, {field}"
            texts.append(f"class P{len(texts)}({base}):\n    {field}\n")
    return texts


@pytest.mark.quick_cases(12)
@pytest.mark.parametrize("tried", [*TRIED][::-1])
def test_a_value_of_a_wrong_type_is_a_finding_or_is_generated(
    tmp_path: Path, tried: str
) -> None:
    """For every parameter and every value; never an error of schemagen's own."""
    classes = classes_of(tried)
    head = "from ._values import *\n"
    root = make_project(
        tmp_path, {"_values.py": VALUES, "pets.py": head + "".join(classes)}
    )
    wrong = set()
    for finding in findings_of("check", "--project", root, code=2):
        assert finding["rule"].startswith("SG1"), finding
        assert finding["location"]["path"] == "schemas/pets.py"
        wrong.add((finding["location"]["line"] - 2) // 2)
        assert finding["message"].startswith(f"P{max(wrong)}"), finding
    right = "".join(text for at, text in enumerate(classes) if at not in wrong)
    (root / "schemas/pets.py").write_text(head + right)
    found = findings_of("check", "--project", root, code=1 if right else 2)
    assert {each["rule"] for each in found} == ({"SG301"} if right else {"SG103"})


def test_a_value_of_a_type_that_says_the_same_is_taken(tmp_path: Path) -> None:
    """Lists for tuples, members of a StrEnum for text, numpy's numbers as padding."""
    text = """\
from ._values import *

class Pet(Record):
    a: Annotated[Any, Vector([4], Word.FLOAT, Word.RAW)]
    b: Annotated[list[bool], VarLen("bool", padding_value=True)]
    c: Annotated[list[bool], VarLen("bool", padding_value=np.True_)]
    d: Annotated[list[int], VarLen("int64", padding_value=np.int64(3))]
    e: Annotated[str, Label(classes=["a", Word.KEY])]
    f: Annotated[Any, Sparse((4, 4), ["row", "column"])]
"""
    root = make_project(tmp_path, {"_values.py": VALUES, "pets.py": text})
    result = run("generate", "--project", root)
    assert result.exit_code == 0, result.output
