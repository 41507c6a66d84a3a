"""Schemas with mistakes: each is a finding at its place, and nothing is written."""

from __future__ import annotations

import textwrap
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
from pydantic import AliasChoices, Field
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


# declaration, found
UNSUPPORTED = [
    ("x: np.ndarray", "ndarray"),
    ("x: Any", "Any"),
    ("x: complex", "complex"),
    ("x: list", "list"),
    ("x: list[list[complex]]", "list[list[complex]]"),
    ("x: int | str", "int | str"),
    ("x: tuple[int, int]", "tuple[int, int]"),
    ("x: object | None = None", "object"),
    ("x: None = None", "None"),
]


@pytest.mark.parametrize(("declaration", "found"), UNSUPPORTED)
def test_a_type_without_a_kind_is_refused(
    tmp_path: Path, declaration: str, found: str
) -> None:
    """A type that does not say how it is stored is told what to write instead."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG111"
    assert finding["found"] == found
    assert "Annotated[type, kind]" in finding["expected"]
    assert "Annotated[np.ndarray, Vector(shape=(5,))]" in finding["advice"]


@pytest.mark.parametrize("kind", ["Scalar(dtype='float32')", "Ragged"])
def test_a_kind_in_place_of_the_type_is_refused(tmp_path: Path, kind: str) -> None:
    """The advice says where the kind is written."""
    [finding] = of_field(tmp_path, f"x: {kind}")
    assert finding["rule"] == "SG111"
    assert finding["found"] == kind
    assert f"Annotated[TYPE, {kind}]" in finding["advice"]


# declaration, found, expected
MISFITS = [
    ("x: Annotated[str, Scalar('int64')]", "str", "int, because dtype='int64'"),
    ("x: Annotated[int, Scalar('bool')]", "int", "bool, because dtype='bool'"),
    ("x: Annotated[float, Scalar('int64')]", "float", "int, because dtype='int64'"),
    ("x: Annotated[str, Scalar('float16')]", "str", "float, because dtype='float16'"),
    ("x: Annotated[str, Scalar('bytes')]", "str", "bytes, because dtype='bytes'"),
    ("x: Annotated[bytes, Text()]", "bytes", "str"),
    ("x: Annotated[float, Label(num_classes=2)]", "float", "int, str, a Literal"),
    (
        "x: Annotated[Literal[1, 2], Label(num_classes=2)]",
        "Literal[1, 2]",
        "int, str, a Literal of names",
    ),
    (
        "x: Annotated[str, Label(num_classes=3)]",
        "str",
        "int, because the classes have no names",
    ),
    (
        "x: Annotated[list[str], MultiLabel(num_classes=3)]",
        "list[str]",
        "list[int], because the classes have no names",
    ),
    (
        "x: Annotated[int, MultiLabel(num_classes=2)]",
        "int",
        "a list of int or str, or np.ndarray",
    ),
    (
        "x: Annotated[list[float], MultiLabel(num_classes=2)]",
        "list[float]",
        "a list of int or str, or np.ndarray",
    ),
    (
        "x: Annotated[list[int], Sparse((2,), 'ix')]",
        "list[int]",
        "tuple of indices and values, or dict",
    ),
    ("x: Annotated[int, VarLen('int64')]", "int", "a list or np.ndarray"),
    ("x: Annotated[list[str], VarLen('int64')]", "list[str]", "a list or np.ndarray"),
    ("x: Annotated[list[int], VarLen('string')]", "list[int]", "a list or np.ndarray"),
    ("x: Annotated[list[int], Ragged('int64')]", "list[int]", "a list of lists"),
    (
        "x: Annotated[list[list[str]], Ragged('int64')]",
        "list[list[str]]",
        "a list of lists",
    ),
    ("x: Annotated[int, Vector(shape=(2,))]", "int", "np.ndarray or a list"),
    (
        "x: Annotated[list[float], Vector(shape=(2,), dtype='int8')]",
        "list[float]",
        "np.ndarray or a list",
    ),
    ("x: Annotated[bytes, Image(shape=(2, 2, 3))]", "bytes", "np.ndarray, or bytes"),
    (
        "x: Annotated[str, Image(shape=(2, 2, 3), encoding='png')]",
        "str",
        "np.ndarray, or bytes",
    ),
]


@pytest.mark.parametrize(("declaration", "found", "expected"), MISFITS)
def test_an_annotation_has_to_fit_its_kind(
    tmp_path: Path, declaration: str, found: str, expected: str
) -> None:
    """Type checkers believe the annotation, so it has to say what the kind holds."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG112"
    assert finding["found"] == found
    assert finding["expected"].startswith(expected)
    assert finding["message"].startswith(f"Pet.x: declared as {found}")


# declaration, found
FOREIGN = [
    ("x: Annotated[int, Field(ge=0)]", "Ge(ge=0)"),
    ("x: int = Field(ge=0)", "Ge(ge=0)"),
    ("x: Annotated[int, Scalar('int64'), Field(le=9)]", "Le(le=9)"),
    ("x: Annotated[str, Field(max_length=3)]", "MaxLen(max_length=3)"),
    ("x: int = Field(alias='y')", "alias='y'"),
    ("x: int = Field(serialization_alias='y')", "serialization_alias='y'"),
    ("x: int = Field(validation_alias='y')", "validation_alias='y'"),
    ("x: Annotated[int, 'a remark']", "'a remark'"),
    ("x: Annotated[str, Text]", "Text without parentheses"),
]


@pytest.mark.parametrize(("declaration", "found"), FOREIGN)
def test_metadata_that_would_be_dropped_is_refused(
    tmp_path: Path, declaration: str, found: str
) -> None:
    """What the generated writer could not enforce is not silently ignored."""
    findings = of_field(tmp_path, declaration)
    assert {finding["rule"] for finding in findings} == {"SG117"}
    assert any(finding["found"].startswith(found) for finding in findings)
    advice = "write Text(...)" if found.startswith("Text without") else "key="
    assert all(advice in finding["advice"] for finding in findings)


def test_a_field_with_two_kinds_is_refused(tmp_path: Path) -> None:
    """Neither is ignored."""
    kinds = "Text(), Text(key='b')"
    [finding] = of_field(tmp_path, f"x: Annotated[str, {kinds}]")
    assert finding["rule"] == "SG117"
    assert finding["message"] == "Pet.x: a field has one kind"
    assert finding["found"] == "Text() and Text(key='b')"


@pytest.mark.parametrize(
    ("lines", "at", "found"),
    [
        ("    x: int\n    _y: str\n", 6, "a private name"),
        ("    x: float\n    y: int\n    x: int\n", 5, "another 'x' further down"),
    ],
)
def test_fields_that_python_would_lose_are_found(
    tmp_path: Path, lines: str, at: int, found: str
) -> None:
    """A private field, or the first of two of one name, does not vanish in silence."""
    head = "from typing import ClassVar\nfrom schemagen import Record\n\nclass R(Record):\n"
    body = lines + "    _shared: ClassVar[int] = 3\n"
    root = make_project(tmp_path, {"r.py": head + body})
    (finding,) = refusals(root)
    assert finding["rule"] == "SG119"
    assert place(finding) == f"schemas/r.py:{at}:5"
    assert finding["found"] == found


# declaration, found, expected
DEFAULTS = [
    ("x: int = 'one'", "str 'one'", "an int64 number"),
    ("x: int = 2.5", "2.5 (float64)", "int64 values"),
    ("x: bool = 1", "1 (int64)", "bool values"),
    ("x: int = None", "None", "a type that allows None"),
    ("x: str = 5", "int 5", "a str"),
    ("x: Annotated[int, Scalar('int8')] = 300", "300", "int8"),
    ("x: Annotated[float, Scalar('float32')] = 1e39", "1e+39", "float32"),
    ("x: Annotated[float, Scalar('float16')] = 0.1", "0.1", "float16"),
    ("x: float = float('nan')", "nan", "finite"),
    ("x: Literal['a', 'b'] = 'c'", "'c'", "a"),
    ("x: Annotated[int, Label(num_classes=3)] = 3", "3", "0 to 2"),
    ("x: list[int] = [1]", "[1]", "[] or None"),
    (
        "x: Annotated[list[int], MultiLabel(num_classes=2)] = [1]",
        "[1]",
        "[] or None",
    ),
    ("x: Annotated[dict[int, float], Sparse((2,), 'ix')] = {}", "{}", "None"),
    ("x: Annotated[list[int], VarLen('int64')] = 3", "3", "[] or None"),
    ("x: list[str] = ''", "''", "[] or None"),
    ("x: list[list[int]] = [[]]", "[[]]", "[] or None"),
    (
        "x: Annotated[np.ndarray, Vector(shape=(2,))] = np.zeros(3, np.float32)",
        "[3]",
        "[2]",
    ),
    (
        "x: Annotated[np.ndarray, Image(shape=(1, 1, 1))] = np.zeros((1, 1, 1))",
        "array",
        "None",
    ),
    ("x: Annotated[bytes, Image(shape=(2, 2, 3), encoding='png')] = b''", "b''", ""),
]


@pytest.mark.parametrize(("declaration", "found", "expected"), DEFAULTS)
def test_a_default_has_to_be_a_value_of_the_field(
    tmp_path: Path, declaration: str, found: str, expected: str
) -> None:
    """Readers deliver the default, so it has to be one that a writer could write."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG116"
    assert "cannot have this default" in finding["message"]
    assert found in finding["found"]
    assert expected in finding["expected"]


def test_none_without_a_default_is_refused(tmp_path: Path) -> None:
    """A type that allows None, with no default, says two things at once."""
    [finding] = of_field(tmp_path, "x: int | None")
    assert finding["rule"] == "SG116"
    assert "add `= None`" in finding["advice"]


# declaration, expected
ROLES = [
    (
        "x: Annotated[str, Text(role='target')]",
        "a Label, Mask, MultiLabel, Scalar or Vector",
    ),
    ("x: Annotated[list[int], VarLen('int64', role='target')]", "a Label, Mask, Mul"),
    ("x: Annotated[Any, Image(shape=(2, 2, 3), role='target')]", "a Label, Mask, Mul"),
    ("x: Annotated[int, Scalar('int64', role='weight')]", "a Scalar of dtype float"),
    ("x: Annotated[str, Text(role='weight')]", "a Scalar of dtype float32"),
    ("x: Annotated[bytes, Scalar('bytes', role='input')]", "role='info' for opaque"),
    (
        "x: Annotated[float | None, Scalar('float32', role='target')] = None",
        "a default that is a number",
    ),
    (
        "x: Annotated[float | None, Scalar('float32', role='weight')] = None",
        "a default that is a number",
    ),
]


@pytest.mark.parametrize(("declaration", "expected"), ROLES)
def test_a_role_has_to_be_one_that_the_kind_can_play(
    tmp_path: Path, declaration: str, expected: str
) -> None:
    """A field that the model could not use as asked is refused, not ignored."""
    [finding] = of_field(tmp_path, declaration)
    assert finding["rule"] == "SG118"
    assert finding["expected"].startswith(expected)
    assert "'info' is carried along" in finding["advice"]


def test_a_record_has_one_weight(tmp_path: Path) -> None:
    """Keras takes one weight a sample; the second field is the finding's place."""
    text = HEAD + textwrap.dedent("""\
        class Pet(Record):
            a: Annotated[float, Scalar("float32", role="weight")]
            b: Annotated[float, Scalar("float32", role="weight")]
        """)
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG118"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"
    assert (finding["found"], finding["expected"]) == ("a, b", "one sample weight")


TAKEN = [
    "json",
    "copy",
    "dict",
    "schema",
    "validate",
    "construct",
    "self",
    "serialize",
    "columns_by_key",
    "check_lengths",
    "check_column_lengths",
    "encode_example",
    "encode_examples",
    "schemagen_fields",
    "model_dump",
    "model_fields",
]


@pytest.mark.parametrize("name", TAKEN)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str) -> None:
    """Names of pydantic's and of the generated writer's own are no field names."""
    [finding] = of_field(tmp_path, f"{name}: int")
    assert finding["rule"] == "SG115"
    assert f"{name!r} is taken" in finding["message"]
    assert f"key={name!r}" in finding["advice"]


def test_the_name_of_a_mask_is_refused(tmp_path: Path) -> None:
    """`note_present` is what readers call the mask of an optional `note`."""
    text = HEAD + "class Pet(Record):\n    note: str | None = None\n"
    text += "    note_present: bool\n"
    [finding] = refusals(make_project(tmp_path / "p", {"pets.py": text}))
    assert finding["rule"] == "SG115"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"


def test_a_field_that_needs_no_mask_leaves_its_name_free(tmp_path: Path) -> None:
    """A required `note` has no mask, and `note_present` is a name like others."""
    text = HEAD + "class Pet(Record):\n    note: str\n    note_present: bool\n"
    project = make_project(tmp_path, {"pets.py": text})
    assert run("generate", "--project", project).exit_code == 0


def test_what_pydantic_refuses_is_placed_at_its_line(tmp_path: Path) -> None:
    """Errors of a whole class are brought to the statement that they name."""
    for statement, message in (
        ("model_config: int", "`model_config` cannot be used as a model field name"),
        ("age = 5", "A non-annotated attribute was detected: `age = 5`"),
        ("age: 'Unknown'", "name 'Unknown' is not defined"),
    ):
        text = f"{HEAD}class Pet(Record):\n    x: int\n    {statement}\n"
        [finding] = refusals(make_project(tmp_path / statement[:5], {"pets.py": text}))
        assert finding["rule"] == "SG101"
        assert message in finding["message"]
        assert "\n" not in finding["message"]
        assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"


def test_a_record_without_fields_is_refused(tmp_path: Path) -> None:
    """There would be nothing to write; a base class begins with an underscore."""
    text = HEAD + "class Pet(Record):\n    pass\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG106"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE - 1}:1"
    assert "begin the name of a base class with '_'" in finding["advice"]


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


def test_a_model_in_place_of_a_record_is_named(tmp_path: Path) -> None:
    """Where there is no record, each model may be meant; at the first one's line."""
    text = (
        HEAD + "from pydantic import BaseModel\n\n\nclass Pet(BaseModel):\n    x: int\n"
    )
    text += "\n\nclass Owner(BaseModel):\n    y: str\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    line = text.splitlines().index("class Pet(BaseModel):") + 1
    assert finding["rule"] == "SG103"
    assert place(finding) == f"schemas/pets.py:{line}:1"
    assert finding["found"] == "'Pet' and 'Owner', derived from pydantic.BaseModel"
    assert finding["advice"] == "write `class Pet(Record):`"


def test_a_class_without_a_base_is_named(tmp_path: Path) -> None:
    """It has fields, so it is meant as a record; helpers without fields are not."""
    text = HEAD + "class Helper:\n    LIMIT = 3\n\n\nclass Pet:\n    x: int\n"
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    line = text.splitlines().index("class Pet:") + 1
    assert finding["rule"] == "SG103"
    assert place(finding) == f"schemas/pets.py:{line}:1"
    assert finding["found"] == "'Pet', derived from no base class"
    assert finding["advice"] == "write `class Pet(Record):`"


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


def test_a_duplicate_key_is_found_beside_other_mistakes(tmp_path: Path) -> None:
    """A field that is wrong by itself still takes its key."""
    text = HEAD + textwrap.dedent("""\
        class Pet(Record):
            note: Annotated[str, Text(role="inptu")]
            remark: Annotated[str, Text(key="note")]
        """)
    found = refusals(make_project(tmp_path, {"pets.py": text}))
    assert [finding["rule"] for finding in found] == ["SG113", "SG114"]


def test_a_duplicate_wire_key_is_found_at_the_second_field(tmp_path: Path) -> None:
    """Two fields under one key would overwrite each other."""
    text = HEAD + textwrap.dedent("""\
        class Pet(Record):
            note: str
            remark: Annotated[str, Text(key="note")]
        """)
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG114"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 1}:5"
    assert finding["message"].startswith("Pet.remark: the wire key 'note' is that of")
    assert finding["found"] == "'note'"


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


def test_two_records_with_one_package_in_one_file(tmp_path: Path) -> None:
    """PetPhoto and Pet_Photo would both be generated as pet_photo."""
    text = HEAD + CLASS.format("PetPhoto") + CLASS.format("Pet_Photo")
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG104"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 3}:1"


def test_a_class_that_a_later_one_replaces_is_found(tmp_path: Path) -> None:
    """Python keeps the second of two classes of one name; the first is not lost."""
    text = HEAD + CLASS.format("Pet") + CLASS.format("Pet").replace("x", "y")
    [finding] = refusals(make_project(tmp_path, {"pets.py": text}))
    assert finding["rule"] == "SG104"
    assert place(finding) == f"schemas/pets.py:{FIELD_LINE + 3}:1"
    assert f"schemas/pets.py:{FIELD_LINE - 1}:1" in finding["found"]


@pytest.mark.parametrize("name", ["Class", "Import", "Größe", "猫"])
def test_a_record_name_has_to_be_a_package_name(tmp_path: Path, name: str) -> None:
    """Keywords and letters that not every file system keeps are refused."""
    project = make_project(tmp_path, {"pets.py": HEAD + CLASS.format(name)})
    [finding] = refusals(project)
    assert finding["rule"] == "SG105"
    assert finding["found"] == repr(name.lower())
    assert finding["advice"] == "rename the class"


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
