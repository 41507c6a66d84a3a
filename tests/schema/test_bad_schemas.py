"""Schemas with mistakes: each is a finding at its place, and nothing is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from command_line import make_project, place, refusals, run

HEAD = """\
import datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
import numpy as np
from pydantic import AliasChoices, BaseModel, Field
from schemagen import *

"""
FIELD_LINE = HEAD.count("\n") + 2
KINDS = Path(__file__).parent / "bad_parameters.tsv"

# A kind with a wrong parameter, and what is found.
PARAMETERS = [
    tuple(line.split("\t")) for line in KINDS.read_text("utf-8").splitlines()[1:]
]

# By rule: a field's declaration, and what is found.
FIELDS = {
    "SG111": [
        ("x: np.ndarray", "ndarray"),
        ("x: Any", "Any"),
        ("x: complex", "complex"),
        ("x: list", "list"),
        ("x: list[list[complex]]", "list[list[complex]]"),
        ("x: int | str", "int | str"),
        ("x: object | None = None", "object"),
        ("x: None = None", "None"),
        ("x: Scalar(dtype='float32')", "Scalar(dtype='float32')"),
        ("x: Ragged", "Ragged"),
    ],
    "SG112": [
        ("x: Annotated[str, Scalar('int64')]", "str"),
        ("x: Annotated[float, Scalar('int64')]", "float"),
        ("x: Annotated[bytes, Text()]", "bytes"),
        ("x: Annotated[Literal[1, 2], Label(num_classes=2)]", "Literal[1, 2]"),
        ("x: Annotated[str, Label(num_classes=3)]", "str"),
        ("x: Annotated[list[str], MultiLabel(num_classes=3)]", "list[str]"),
        ("x: Annotated[list[int], Sparse((2,), 'ix')]", "list[int]"),
        ("x: Annotated[list[int], VarLen('string')]", "list[int]"),
        ("x: Annotated[list[list[str]], Ragged('int64')]", "list[list[str]]"),
        ("x: Annotated[int, Vector(shape=(2,))]", "int"),
        ("x: Annotated[list[float], Vector((2,), dtype='int8')]", "list[float]"),
        ("x: Annotated[bytes, Image(shape=(2, 2, 3))]", "bytes"),
        ("x: Annotated[str, Image((2, 2, 3), encoding='png')]", "str"),
    ],
    "SG115": [
        (f"{name}: int", "")
        for name in ("copy", "schema", "self", "serialize", "model_dump")
    ],
    "SG116": [
        ("x: int = 'one'", "str 'one'"),
        ("x: int = 2.5", "2.5 (float64)"),
        ("x: bool = 1", "1 (int64)"),
        ("x: int = None", "None"),
        ("x: int | None", ""),
        ("x: Annotated[int, Scalar('int8')] = 300", "300"),
        ("x: Annotated[float, Scalar('float32')] = 1e39", "1e+39"),
        ("x: Annotated[float, Scalar('float16', exact=True)] = 0.1", "0.1"),
        ("x: float = float('nan')", "nan"),
        ("x: Literal['a', 'b'] = 'c'", "'c'"),
        ("x: Annotated[int, Label(num_classes=3)] = 3", "3"),
        ("x: list[int] = [1]", "[1]"),
        ("x: Annotated[list[int], MultiLabel(num_classes=2)] = [1]", "[1]"),
        ("x: Annotated[dict[int, float], Sparse((2,), 'ix')] = {}", "{}"),
        ("x: list[list[int]] = [[]]", "[[]]"),
        ("x: Annotated[Any, Vector((2,))] = np.zeros(3, np.float32)", "[3]"),
        ("x: Annotated[bytes, Image((2, 2, 3), encoding='png')] = b''", "b''"),
        ("x: float = Text()", "Text()"),
    ],
    "SG117": [
        ("x: Annotated[int, Field(ge=0)]", "Ge(ge=0)"),
        ("x: int = Field(ge=0)", "Ge(ge=0)"),
        ("x: int = Field(alias='y')", "alias='y'"),
        ("x: Annotated[int, 'a remark']", "'a remark'"),
        ("x: Annotated[str, Text]", "Text without parentheses"),
        ("x: Annotated[str, Text(), Text(key='b')]", "Text() and Text(key='b')"),
    ],
    "SG118": [
        ("x: Annotated[str, Text(role='target')]", "role 'target'"),
        ("x: Annotated[list[int], VarLen('int64', role='target')]", "role 'target'"),
        ("x: Annotated[int, Scalar('int64', role='weight')]", "role 'weight'"),
        ("x: Annotated[bytes, Scalar('bytes', role='input')]", "role 'input'"),
        (
            "x: Annotated[float | None, Scalar('float32', role='target')] = None",
            "role 'target'",
        ),
    ],
}

DECLARED = [
    *(("SG113", f"x: Annotated[Any, {kind}]", found) for kind, found in PARAMETERS),
    *((rule, *row) for rule, rows in FIELDS.items() for row in rows),
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """The findings of each declaration, which is the only field of its record."""
    text = HEAD
    for number, (_, declaration, _) in enumerate(DECLARED):
        base = "SequenceRecord" if "Steps(" in declaration else "Record"
        text += f"class Pet{number}({base}):\n    {declaration}\n\n\n"
    found: list[list[dict[str, Any]]] = [[] for _ in DECLARED]
    for each in refusals(make_project(tmp_path_factory.mktemp("p"), {"pets.py": text})):
        number, rest = divmod(each["location"]["line"] - FIELD_LINE, 4)
        assert rest == 0, each
        found[number].append(each)
    return found


@pytest.mark.parametrize("number", range(len(DECLARED)), ids=lambda n: DECLARED[n][1])
def test_a_wrong_field_is_a_finding_at_its_line(
    judged: list[list[dict[str, Any]]], number: int
) -> None:
    """With what it is and what to do."""
    rule, declaration, found = DECLARED[number]
    name = declaration.partition(":")[0]
    assert {each["rule"] for each in judged[number]} == {rule}
    assert any(found in each["found"] for each in judged[number])
    for each in judged[number]:
        assert each["location"]["column"] == 5
        assert each["location"]["source"] == f"    {declaration}"
        assert each["message"].startswith(f"Pet{number}.{name}: ")
        assert each["expected" if rule == "SG113" else "advice"]


# What the advice for a type is to have; any code in it has to be right.
ADVISED = {
    "np.ndarray": ("Vector(", "VarLen(", "Image("),
    "np.ndarray | None": ("Vector(",),
    "NDArray[np.int64]": ('dtype="int64"',),
    "Any": ("Vector(",),
    "Tensor": ("Vector(",),
    "PIL.Image.Image": ("Image(",),
    "datetime.datetime": ('unit="ms"',),
    "datetime.timedelta": ('unit="ms"',),
    "dict[str, float]": ("BaseModel",),
    "dict": ("BaseModel",),
    "list[Inner]": ("group=",),
    "list[Color]": ("MultiLabel(",),
    "list[Literal['a', 'b']]": ("MultiLabel(",),
    "list[np.ndarray]": ("item_shape=", "Images("),
    "list[list[list[float]]]": ("Vector(",),
    "list": ("list[",),
    "set[str]": ("list[str]",),
    "frozenset[int]": ("list[int]",),
    "tuple[float, ...]": ("list[float]",),
    "tuple[int, int]": ("Vector(shape=(2,)", '"int64"'),
    "tuple[int, str]": ("each",),
    "Sequence[int]": ("list[int]",),
    "float | int": ("`float`",),
    "np.float32": ('Scalar("float32")',),
    "np.uint8": ('Scalar("uint8")',),
    "Scalar('int8')": ("Annotated[TYPE, Scalar(",),
    "Decimal": ("convert",),
    "Path": ("convert",),
    "list[int | None]": ("convert",),
}
_TYPES = """\
from collections.abc import Sequence
import PIL.Image
from numpy.typing import NDArray


class Tensor:
    \"\"\"Has the name of those of PyTorch and TensorFlow.\"\"\"


class Inner(BaseModel):
    y: int


class Color(Enum):
    RED = "red"


"""


def test_advice_for_a_type_fits_it_and_can_be_followed(tmp_path: Path) -> None:
    """It names a kind for the values of the type, and not the same one for all."""
    lines = [f"    x{at}: {each}" for at, each in enumerate(ADVISED)]
    config = "    model_config = {'arbitrary_types_allowed': True}"
    text = "\n".join([HEAD + _TYPES + "class Pet(Record):", config, *lines, ""])
    found = refusals(make_project(tmp_path / "wrong", {"pets.py": text}))
    assert {each["rule"] for each in found} == {"SG111"}
    advised = []
    for words, finding in zip(ADVISED.values(), found, strict=True):
        assert [word for word in words if word not in finding["advice"]] == []
        advised += re.findall(r"`([^`]+)`", finding["advice"])
    # `unit` is new, and TYPE is the author's to replace.
    right = [each for each in advised if "unit=" not in each and "TYPE" not in each]
    assert len(right) > 20
    fields = "\n".join(f"    x{at}: {each}" for at, each in enumerate(right))
    fields += '\n    y: Annotated[list[int], VarLen("int64", group="items")]'
    project = make_project(
        tmp_path / "right", {"pets.py": f"{HEAD}class Pet(Record):\n{fields}\n"}
    )
    result = run("generate", "--project", project)
    assert result.exit_code == 0, result.output


# Schema files after `HEAD`, with the rule of each finding at the end of its line.
FILES = [
    "class R(Record):\n    x: int\n    _y: str  # SG119\n",
    "class R(Record):\n    a: Annotated[float, Scalar('float32', role='weight')]\n"
    "    b: Annotated[float, Scalar('float32', role='weight')]  # SG118\n",
    "class R(Record):\n    note: str | None = None\n    note_present: bool  # SG115\n",
    "class R(Record):  # SG106\n    pass\n",
    "class R(Record):\n    m: Annotated[Any, Mask((4, 4), num_classes=2)]  # SG118\n",
    "class R(Record):\n    pair: Annotated[Any, Tensor((None, None))]  # SG113\n"
    "    remark: Annotated[str, Text(key='pair')]  # SG114\n",
    "class R(Record):\n    note: str\n"
    "    remark: Annotated[str, Text(key='note')]  # SG114\n",
    "class PetPhoto(Record):\n    x: int\n\n\n"
    "class Pet_Photo(Record):  # SG104\n    x: int\n",
    "class Class(Record):  # SG105\n    x: int\n",
    "class 猫(Record):  # SG105\n    x: int\n",
    "class R(Record):  # SG101\n    x: int\n    model_config: int\n",
    "class R(Record):  # SG101\n    x: int\n    age = 5\n",
    "class R(Record):  # SG101\n    x: int\n    age: 'Unknown'\n",
    "class R(Record):\n    x: Annotated[Any, VarLen('int64', max_lenght=3)]  # SG101\n",
    "x = Imge  # SG101\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_wrong_file_has_findings_at_its_lines(tmp_path: Path, text: str) -> None:
    """Each in the statement that is wrong, with what to do."""
    expected = [
        (line.rpartition("# ")[2], number)
        for number, line in enumerate(f"{HEAD}{text}".split("\n"), start=1)
        if "# SG" in line
    ]
    findings = refusals(make_project(tmp_path, {"pets.py": HEAD + text}))
    assert [(f["rule"], f["location"]["line"]) for f in findings] == expected
    for finding in findings:
        assert finding["advice"]
        assert "\n" not in finding["message"]


def test_a_field_that_needs_no_mask_leaves_its_name_free(tmp_path: Path) -> None:
    """A required `note` has no mask, and `note_present` is a name like others."""
    text = HEAD + "class Pet(Record):\n    note: str\n    note_present: bool\n"
    project = make_project(tmp_path, {"pets.py": text})
    assert run("generate", "--project", project).exit_code == 0


@pytest.mark.parametrize(
    "schemas",
    [
        {},
        {"empty.py": ""},
        {"base.py": f"{HEAD}class _Base(Record):\n    x: int\n"},
        {"_hidden.py": f"{HEAD}class Pet(Record):\n    x: int\n"},
    ],
    ids=["no file", "no class", "only a base", "only a private file"],
)
def test_a_project_without_records_is_refused(
    tmp_path: Path, schemas: dict[str, str]
) -> None:
    """No record at all is a mistake and deletes nothing."""
    [finding] = refusals(make_project(tmp_path, schemas))
    assert finding["rule"] == "SG103"
    assert finding["location"]["path"] == "schemas"
    assert "schemagen init" in finding["advice"]


_MODELS = """\
class Inner(BaseModel):
    point: Annotated[list[float], Vector((2,))]


class Settings(BaseModel):
    length: int = 3


class _Private(BaseModel):
    kind: Annotated[int, Label(num_classes=2)]


class Base(BaseModel):
    number: Annotated[int, Scalar("int64")]


class Outer(Base):
    inner: Inner


class Pet(Record):
    outer: Outer


class Bird(BaseModel):  # SG107
    wing: Annotated[float | None, Scalar('float32')]
"""


def test_a_model_with_kinds_that_no_record_nests_is_a_warning(tmp_path: Path) -> None:
    """Models that records nest, bases, private ones and settings are meant as they are."""
    text = HEAD + _MODELS
    schema = text.replace("  # SG107", "")
    root = make_project(tmp_path, {"pets.py": schema})
    result = run("generate", "--project", root)
    assert result.exit_code == 0
    assert result.output.count(" SG107 warning: ") == 1
    for number, line in enumerate(text.splitlines(), start=1):
        expected = f"schemas/pets.py:{number}:1: SG107 warning: "
        assert (expected in result.output) == line.endswith("# SG107")


@pytest.mark.parametrize(
    "others", [{}, {"a.py": f"{HEAD}class A(Record):\n    x: int\n"}]
)
def test_a_model_alone_in_its_file_is_named(
    tmp_path: Path, others: dict[str, str]
) -> None:
    """Whoever derives from BaseModel learns it, with and without other records."""
    models = (
        "class _Base(BaseModel):\n    x: int\n\n\nclass Photo(_Base):\n    y: int\n"
    )
    root = make_project(tmp_path, {**others, "pets.py": HEAD + models})
    result = run("generate", "--project", root)
    assert result.exit_code == (0 if others else 2)
    line = HEAD.count("\n") + 5
    assert f"schemas/pets.py:{line}:1: SG107 warning: " in result.output
    assert result.output.count("SG107") == 1
    assert "'Photo'" in result.output


def test_all_mistakes_of_all_files_are_reported_in_one_run(tmp_path: Path) -> None:
    """In files that do not load, in shared bases, and one after another in a file."""
    one = """\
class _Base(Record):
    a: dict[str, int]
"""
    two = """\
class Two(_Base):
    b: Annotated[int, Scalar('int65')]
    json: int


class Class(Record):
    x: Annotated[Any, VarLen("int8", max_length=0, ragged=3, role="?")]
"""
    schemas = {"_1.py": HEAD + one, "3.py": "class (:"}
    schemas["4.py"] = f"{HEAD}class TWO(Record):\n    x: int\n"
    schemas["2.py"] = f"{HEAD}from ._1 import _Base\n{two}"
    found = refusals(make_project(tmp_path, schemas))
    line = FIELD_LINE + 1
    assert [(place(finding), finding["rule"]) for finding in found] == [
        (f"schemas/2.py:{line}:5", "SG113"),
        (f"schemas/2.py:{line + 1}:5", "SG115"),
        (f"schemas/2.py:{line + 4}:1", "SG105"),
        *[(f"schemas/2.py:{line + 5}:5", "SG113")] * 3,
        ("schemas/3.py:1:7", "SG101"),
        (f"schemas/4.py:{FIELD_LINE - 1}:1", "SG104"),
        (f"schemas/_1.py:{FIELD_LINE}:5", "SG111"),
    ]
