"""Schemas with mistakes: each is a finding at its place, and nothing is written."""

from __future__ import annotations

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


def of_field(tmp_path: Path, declaration: str) -> list[dict[str, Any]]:
    """Return the findings of a record `Pet` with one wrong field, indented by four."""
    base = "SequenceRecord" if "Steps(" in declaration else "Record"
    text = f"{HEAD}class Pet({base}):\n    {declaration}\n"
    found = refusals(make_project(tmp_path, {"pets.py": text}))
    for finding in found:
        assert place(finding) == f"schemas/pets.py:{FIELD_LINE}:5"
        assert finding["location"]["source"] == f"    {declaration}"
    return found


# Kind and parameters, found, the beginning of expected, a part of the advice.
PARAMETERS = [
    (*line.split("\t"), "", "")[:4]
    for line in (Path(__file__).parent / "bad_parameters.tsv")
    .read_text(encoding="utf-8")
    .splitlines()[1:]
]


@pytest.mark.quick_cases(47)
@pytest.mark.parametrize(("kind", "found", "expected", "advice"), PARAMETERS)
def test_a_wrong_parameter_is_named_at_its_field(
    tmp_path: Path, kind: str, found: str, expected: str, advice: str
) -> None:
    """Each parameter of each kind is checked, whatever it was given."""
    [finding] = of_field(tmp_path, f"x: Annotated[Any, {kind}]")
    name = kind.split("(")[0]
    assert finding["rule"] == "SG113"
    has = "has" if found == "no classes" else "cannot have"
    assert finding["message"].startswith(f"Pet.x: {name} {has} {found}")
    assert finding["found"].startswith(found)
    assert finding["expected"].startswith(expected)
    assert finding["expected"]
    assert advice in finding["advice"]


def test_every_parameter_of_every_kind_is_in_the_table() -> None:
    """A parameter that is added to a kind needs a row above."""
    from dataclasses import fields

    import schemagen
    from schemagen.kinds.kind import Kind

    shared = {field.name for field in fields(Kind)}
    given = " ".join(f"{kind} {found}" for kind, found, *_ in PARAMETERS)
    kinds = [getattr(schemagen, name) for name in schemagen.__all__]
    kinds = [k for k in kinds if isinstance(k, type) and issubclass(k, Kind)]
    for kind in kinds:
        of_kind = [row for row in PARAMETERS if row[0].startswith(f"{kind.__name__}(")]
        rows = " ".join(f"{row[0]} {row[1]}" for row in of_kind)
        for field in fields(kind):
            said = given if field.name in shared else rows
            assert field.name in said, (kind.__name__, field.name)


def test_an_unknown_parameter_is_named_at_its_line(tmp_path: Path) -> None:
    """With those that the kind has, and the one that was probably meant."""
    kind = "VarLen('int64', max_lenght=3)"
    text = f"{HEAD}class Pet(Record):\n    x: Annotated[Any, {kind}]\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG101"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE}:23"
    assert finding["message"].endswith("VarLen has no parameter 'max_lenght'")
    assert finding["expected"].startswith("one of dtype, max_length, ")
    assert finding["advice"] == "did you mean 'max_length'?"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("from schemagen import Imge, Record\n", "1:23"),
        ("from schemagen import (\n    Record,\n    Imge,\n)\n", "3:5"),
        ("import schemagen\n\nx = schemagen.Imge\n", "3:15"),
    ],
)
def test_a_name_that_schemagen_does_not_have_is_placed(
    tmp_path: Path, text: str, where: str
) -> None:
    """With the names that there are, and the nearest."""
    [finding] = refusals(make_project(tmp_path, {"x.py": text}))
    assert finding["rule"] == "SG101"
    assert place(finding) == f"schemas/x.py:{where}"
    assert finding["found"] == "Imge"
    assert "Image, Images, Label" in finding["expected"]
    assert "'Image'" in finding["advice"]


@pytest.mark.parametrize("expression", ["Image()", "VarLen"])
def test_what_python_refuses_is_placed(tmp_path: Path, expression: str) -> None:
    """A parameter that is missing, and a name that is not imported."""
    text = f"from schemagen import Image, Record\n\n\nclass Pet(Record):\n    x: {expression}\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG101"
    assert place(finding) == "schemas/pets.py:5:8"


# A field's declaration, the rule, and what is found.
FIELDS = [
    ("x: np.ndarray", "SG111", "ndarray"),
    ("x: Any", "SG111", "Any"),
    ("x: complex", "SG111", "complex"),
    ("x: list", "SG111", "list"),
    ("x: list[list[complex]]", "SG111", "list[list[complex]]"),
    ("x: int | str", "SG111", "int | str"),
    ("x: tuple[int, int]", "SG111", "tuple[int, int]"),
    ("x: object | None = None", "SG111", "object"),
    ("x: None = None", "SG111", "None"),
    ("x: Scalar(dtype='float32')", "SG111", "Scalar(dtype='float32')"),
    ("x: Ragged", "SG111", "Ragged"),
    ("x: Annotated[str, Scalar('int64')]", "SG112", "str"),
    ("x: Annotated[int, Scalar('bool')]", "SG112", "int"),
    ("x: Annotated[float, Scalar('int64')]", "SG112", "float"),
    ("x: Annotated[str, Scalar('float16')]", "SG112", "str"),
    ("x: Annotated[str, Scalar('bytes')]", "SG112", "str"),
    ("x: Annotated[bytes, Text()]", "SG112", "bytes"),
    ("x: Annotated[float, Label(num_classes=2)]", "SG112", "float"),
    ("x: Annotated[Literal[1, 2], Label(num_classes=2)]", "SG112", "Literal[1, 2]"),
    ("x: Annotated[str, Label(num_classes=3)]", "SG112", "str"),
    ("x: Annotated[list[str], MultiLabel(num_classes=3)]", "SG112", "list[str]"),
    ("x: Annotated[int, MultiLabel(num_classes=2)]", "SG112", "int"),
    ("x: Annotated[list[float], MultiLabel(num_classes=2)]", "SG112", "list[float]"),
    ("x: Annotated[list[int], Sparse((2,), 'ix')]", "SG112", "list[int]"),
    ("x: Annotated[int, VarLen('int64')]", "SG112", "int"),
    ("x: Annotated[list[str], VarLen('int64')]", "SG112", "list[str]"),
    ("x: Annotated[list[int], VarLen('string')]", "SG112", "list[int]"),
    ("x: Annotated[list[int], Ragged('int64')]", "SG112", "list[int]"),
    ("x: Annotated[list[list[str]], Ragged('int64')]", "SG112", "list[list[str]]"),
    ("x: Annotated[int, Vector(shape=(2,))]", "SG112", "int"),
    (
        "x: Annotated[list[float], Vector(shape=(2,), dtype='int8')]",
        "SG112",
        "list[float]",
    ),
    ("x: Annotated[bytes, Image(shape=(2, 2, 3))]", "SG112", "bytes"),
    ("x: Annotated[str, Image(shape=(2, 2, 3), encoding='png')]", "SG112", "str"),
    ("x: Annotated[int, Field(ge=0)]", "SG117", "Ge(ge=0)"),
    ("x: int = Field(ge=0)", "SG117", "Ge(ge=0)"),
    ("x: Annotated[int, Scalar('int64'), Field(le=9)]", "SG117", "Le(le=9)"),
    ("x: Annotated[str, Field(max_length=3)]", "SG117", "MaxLen(max_length=3)"),
    ("x: int = Field(alias='y')", "SG117", "alias='y'"),
    ("x: int = Field(serialization_alias='y')", "SG117", "serialization_alias='y'"),
    ("x: int = Field(validation_alias='y')", "SG117", "validation_alias='y'"),
    ("x: Annotated[int, 'a remark']", "SG117", "'a remark'"),
    ("x: Annotated[str, Text]", "SG117", "Text without parentheses"),
    ("x: Annotated[str, Text(), Text(key='b')]", "SG117", "Text() and Text(key='b')"),
    ("x: int = 'one'", "SG116", "str 'one'"),
    ("x: int = 2.5", "SG116", "2.5 (float64)"),
    ("x: bool = 1", "SG116", "1 (int64)"),
    ("x: int = None", "SG116", "None"),
    ("x: str = 5", "SG116", "int 5"),
    ("x: Annotated[int, Scalar('int8')] = 300", "SG116", "300"),
    ("x: Annotated[float, Scalar('float32')] = 1e39", "SG116", "1e+39"),
    ("x: Annotated[float, Scalar('float16')] = 0.1", "SG116", "0.1"),
    ("x: float = float('nan')", "SG116", "nan"),
    ("x: Literal['a', 'b'] = 'c'", "SG116", "'c'"),
    ("x: Annotated[int, Label(num_classes=3)] = 3", "SG116", "3"),
    ("x: list[int] = [1]", "SG116", "[1]"),
    ("x: Annotated[list[int], MultiLabel(num_classes=2)] = [1]", "SG116", "[1]"),
    ("x: Annotated[dict[int, float], Sparse((2,), 'ix')] = {}", "SG116", "{}"),
    ("x: Annotated[list[int], VarLen('int64')] = 3", "SG116", "3"),
    ("x: list[str] = ''", "SG116", "''"),
    ("x: list[list[int]] = [[]]", "SG116", "[[]]"),
    (
        "x: Annotated[np.ndarray, Vector(shape=(2,))] = np.zeros(3, np.float32)",
        "SG116",
        "[3]",
    ),
    (
        "x: Annotated[np.ndarray, Image(shape=(1, 1, 1))] = np.zeros((1, 1, 1))",
        "SG116",
        "array",
    ),
    (
        "x: Annotated[bytes, Image(shape=(2, 2, 3), encoding='png')] = b''",
        "SG116",
        "b''",
    ),
    ("x: float = Text()", "SG116", "Text()"),
    ("x: int | None", "SG116", ""),
    ("x: Annotated[str, Text(role='target')]", "SG118", "role 'target'"),
    (
        "x: Annotated[list[int], VarLen('int64', role='target')]",
        "SG118",
        "role 'target'",
    ),
    (
        "x: Annotated[Any, Image(shape=(2, 2, 3), role='target')]",
        "SG118",
        "role 'target'",
    ),
    ("x: Annotated[int, Scalar('int64', role='weight')]", "SG118", "role 'weight'"),
    ("x: Annotated[str, Text(role='weight')]", "SG118", "role 'weight'"),
    ("x: Annotated[bytes, Scalar('bytes', role='input')]", "SG118", "role 'input'"),
    (
        "x: Annotated[float | None, Scalar('float32', role='target')] = None",
        "SG118",
        "role 'target'",
    ),
    (
        "x: Annotated[float | None, Scalar('float32', role='weight')] = None",
        "SG118",
        "role 'weight'",
    ),
    ("json: int", "SG115", ""),
    ("copy: int", "SG115", ""),
    ("dict: int", "SG115", ""),
    ("schema: int", "SG115", ""),
    ("validate: int", "SG115", ""),
    ("construct: int", "SG115", ""),
    ("self: int", "SG115", ""),
    ("serialize: int", "SG115", ""),
    ("columns_by_key: int", "SG115", ""),
    ("check_lengths: int", "SG115", ""),
    ("check_column_lengths: int", "SG115", ""),
    ("encode_example: int", "SG115", ""),
    ("encode_examples: int", "SG115", ""),
    ("schemagen_fields: int", "SG115", ""),
    ("model_dump: int", "SG115", ""),
    ("model_fields: int", "SG115", ""),
]


@pytest.mark.parametrize(("declaration", "rule", "found"), FIELDS)
def test_a_wrong_field_is_a_finding(
    tmp_path: Path, declaration: str, rule: str, found: str
) -> None:
    """At its line, with what it is and what to do."""
    findings = of_field(tmp_path, declaration)
    assert {finding["rule"] for finding in findings} == {rule}
    assert any(found in finding["found"] for finding in findings)
    name = declaration.partition(":")[0]
    for finding in findings:
        assert finding["message"].startswith(f"Pet.{name}: ")
        assert finding["advice"]


# Schema files after `HEAD`, with the rule of each finding at the end of its line, and what
# is found, in the order of the lines.
FILES: list[tuple[str, tuple[str, ...]]] = [
    ("class R(Record):\n    x: int\n    _y: str  # SG119\n", ("a private name",)),
    (
        "class R(Record):\n    x: float  # SG119\n    y: int\n    x: int\n",
        ("another 'x' further down",),
    ),
    (
        "class R(Record):\n    a: Annotated[float, Scalar('float32', role='weight')]\n"
        "    b: Annotated[float, Scalar('float32', role='weight')]  # SG118\n",
        ("a, b",),
    ),
    (
        "class R(Record):\n    note: str | None = None\n    note_present: bool  # SG115\n",
        ("",),
    ),
    ("class R(Record):  # SG106\n    pass\n", ("",)),
    (
        "class R(Record):\n    note: Annotated[str, Text(role='inptu')]  # SG113\n"
        "    remark: Annotated[str, Text(key='note')]  # SG114\n",
        ("role='inptu'", "'note'"),
    ),
    (
        "class R(Record):\n    note: str\n"
        "    remark: Annotated[str, Text(key='note')]  # SG114\n",
        ("'note'",),
    ),
    (
        "class PetPhoto(Record):\n    x: int\n\n\n"
        "class Pet_Photo(Record):  # SG104\n    x: int\n",
        ("Pet_Photo, and PetPhoto at schemas/pets.py:10:1",),
    ),
    (
        "class Pet(Record):\n    x: int\n\n\nclass Pet(Record):  # SG104\n    y: int\n",
        ("schemas/pets.py:10:1",),
    ),
    ("class Class(Record):  # SG105\n    x: int\n", ("'class'",)),
    ("class Import(Record):  # SG105\n    x: int\n", ("'import'",)),
    ("class Größe(Record):  # SG105\n    x: int\n", ("'größe'",)),
    ("class 猫(Record):  # SG105\n    x: int\n", ("'猫'",)),
    ("class R(Record):\n    x: int\n    model_config: int  # SG101\n", ("",)),
    ("class R(Record):\n    x: int\n    age = 5  # SG101\n", ("",)),
    ("class R(Record):\n    x: int\n    age: 'Unknown'  # SG101\n", ("",)),
    (
        "class Pet(BaseModel):  # SG103\n    x: int\n\n\n"
        "class Owner(BaseModel):\n    y: str\n",
        ("'Pet' and 'Owner', derived from pydantic.BaseModel",),
    ),
    (
        "class Helper:\n    LIMIT = 3\n\n\nclass Pet:  # SG103\n    x: int\n",
        ("'Pet', derived from no base class",),
    ),
]


@pytest.mark.parametrize(("text", "found"), FILES)
def test_a_wrong_file_has_findings_at_its_lines(
    tmp_path: Path, text: str, found: tuple[str, ...]
) -> None:
    """Each at the beginning of its statement, with what to do."""
    lines = f"{HEAD}{text}".split("\n")
    places = [
        (line.rpartition("# ")[2], f"{number}:{len(line) - len(line.lstrip()) + 1}")
        for number, line in enumerate(lines, start=1)
        if "# SG" in line
    ]
    findings = refusals(make_project(tmp_path, {"pets.py": HEAD + text}))
    expected = [(rule, f"schemas/pets.py:{at}") for rule, at in places]
    assert [(finding["rule"], place(finding)) for finding in findings] == expected
    for finding, words in zip(findings, found, strict=True):
        assert words in finding["found"]
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
from pydantic import BaseModel


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


"""


def test_a_model_with_kinds_beside_records_is_a_warning(tmp_path: Path) -> None:
    """Models that records nest, bases, private ones and settings are meant as they are."""
    text = HEAD + _MODELS
    bird = f"{HEAD}from pydantic import BaseModel\n\n\nclass Bird(BaseModel):\n"
    bird += "    wing: Annotated[float | None, Scalar('float32')]\n"
    bird += "\n\nclass Fish:\n    fin: Annotated[float, Scalar('float32')]\n"
    bird += "\n\nclass Counts:\n    fins: int\n"
    pet = f"{text}class Pet(Record):\n    outer: Outer\n"
    root = make_project(tmp_path, {"pets.py": pet, "birds.py": bird})
    result = run("generate", "--project", root)
    assert result.exit_code == 0
    assert result.output.count("SG107") == 2
    assert "SG107 warning: nothing is generated from 'Fish'" in result.output
    assert "a class with kinds that derives from no base class" in result.output
    line = bird.splitlines().index("class Bird(BaseModel):") + 1
    said = f"schemas/birds.py:{line}:1: SG107 warning: nothing is generated from 'Bird'"
    assert said in result.output
    assert run("check", "--project", root).exit_code == 0


CLASS = "class {}(Record):\n    x: int\n\n\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [("PetPhoto", "PetPhoto"), ("Pet_Photo", "PetPhoto"), ("PETS", "Pets")],
)
def test_two_records_with_one_package_in_two_files(
    tmp_path: Path, first: str, second: str
) -> None:
    """Names that become the same package are found, with the place of the other."""
    schemas = {"a.py": HEAD + CLASS.format(first), "b.py": HEAD + CLASS.format(second)}
    [finding] = refusals(make_project(tmp_path, schemas))
    assert finding["rule"] == "SG104"
    assert place(finding) == f"schemas/b.py:{FIELD_LINE - 1}:1"
    assert f"{first} at schemas/a.py:{FIELD_LINE - 1}:1" in finding["found"]
    assert "rename one" in finding["advice"]


def test_inherited_fields_are_placed_where_they_are_declared(tmp_path: Path) -> None:
    """A mistake in a shared base class in another file is a finding in that file."""
    base = HEAD + "class _Base(Record):\n    x: dict[str, int]\n"
    cat = "from ._base import _Base\n\nclass Cat(_Base):\n    y: set[int]\n"
    found = refusals(make_project(tmp_path, {"_base.py": base, "cats.py": cat}))
    assert [(place(f), f["found"]) for f in found] == [
        (f"schemas/_base.py:{FIELD_LINE}:5", "dict[str, int]"),
        ("schemas/cats.py:4:5", "set[int]"),
    ]


def test_all_mistakes_of_all_files_are_reported_in_one_run(tmp_path: Path) -> None:
    """Ten mistakes in three files and a broken fourth: one run names them all."""
    one = """\
class One(Record):
    a: dict[str, int]
    b: Annotated[int, Scalar('int65')]
    c: Annotated[str, Scalar('int64')]
    d: int = "none"
"""
    two = """\
class Two(Record):
    a: str
    b: Annotated[str, Text(key="a")]
    json: int
    c: Annotated[int, Field(ge=0)]


class Class(Record):
    x: int
"""
    three = """\
class Three(Record):
    a: Annotated[str, Text(role="target")]


class One(Record):
    a: Annotated[Any, VarLen("int8", max_length=0, ragged=3, role="?")]
"""
    schemas = {"1.py": HEAD + one, "2.py": HEAD + two, "3.py": HEAD + three}
    schemas["4.py"] = "class (:"
    found = refusals(make_project(tmp_path, schemas))
    line = FIELD_LINE
    assert [(place(finding), finding["rule"]) for finding in found] == [
        (f"schemas/1.py:{line}:5", "SG111"),
        (f"schemas/1.py:{line + 1}:5", "SG113"),
        (f"schemas/1.py:{line + 2}:5", "SG112"),
        (f"schemas/1.py:{line + 3}:5", "SG116"),
        (f"schemas/2.py:{line + 1}:5", "SG114"),
        (f"schemas/2.py:{line + 2}:5", "SG115"),
        (f"schemas/2.py:{line + 3}:5", "SG117"),
        (f"schemas/2.py:{line + 6}:1", "SG105"),
        (f"schemas/3.py:{line}:5", "SG118"),
        (f"schemas/3.py:{line + 3}:1", "SG104"),
        *[(f"schemas/3.py:{line + 4}:5", "SG113")] * 3,
        ("schemas/4.py:1:7", "SG101"),
    ]


@pytest.mark.parametrize(
    ("declaration", "advice"),
    [
        ('x: Annotated[list[int], VarLen("int")]', "did you mean 'int64'?"),
        ("x: Annotated[np.ndarray, Vector(5)]", "a comma: (5,)"),
        (
            "x: Annotated[float, Scalar('int64')]",
            "annotate int, or declare dtype='float32'",
        ),
        ("x: Annotated[str, Scalar('int64')]", "annotate int, or declare Text()"),
        ("x: Annotated[list[int], Scalar('int8')]", "annotate int, or change the kind"),
        ("x: Annotated[str, Label(num_classes=2)]", "annotate int, or name the cl"),
        ("x: float = Text()", "write x: Annotated[TYPE, Text()]"),
    ],
)
def test_the_advice_is_what_the_author_meant(
    tmp_path: Path, declaration: str, advice: str
) -> None:
    """Not the nearest word, nor the same example for every type."""
    (finding,) = of_field(tmp_path, declaration)
    assert advice in finding["advice"]
