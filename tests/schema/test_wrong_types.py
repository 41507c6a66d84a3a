"""Values of any type as parameters of kinds and records: findings at their lines."""

from __future__ import annotations

import re
import typing
from dataclasses import fields, replace
from enum import IntEnum, StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
import schemagen
from pydantic import BaseModel
from schemagen.codegen.render import render
from schemagen.findings import Finding, Location
from schemagen.kinds.kind import Kind
from schemagen.kinds.parameters import Parameters
from schemagen.kinds.registry import KINDS
from schemagen.schema.loading import LoadedRecord, load_schemas
from schemagen.schema.record import Record, SequenceRecord
from schemagen.spec.model import RecordSpec
from schemagen.spec.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator


class Hostile:
    """An object of which nothing can be asked."""

    def _raise(self, *_: object) -> Any:
        raise ZeroDivisionError

    __repr__ = __str__ = __eq__ = __bool__ = __len__ = __iter__ = _raise
    __getattr__ = __lt__ = __contains__ = __index__ = __float__ = _raise
    __hash__ = cast("Any", _raise)


class Word(StrEnum):
    """Text that is a member of an Enum."""

    FLOAT = "float32"
    RAW = "raw"
    KEY = "a key"


class Number(IntEnum):
    """An integer that is a member of an Enum."""

    TWO = 2


_ENDLESS: list[Any] = []
_ENDLESS.append(_ENDLESS)

BAD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    5,
    -1,
    10**30,
    10**400,
    2**63 - 1,
    0.5,
    float("nan"),
    float("inf"),
    1j,
    "",
    "x",
    "a\0b",
    "\ud800",
    b"",
    b"x",
    (),
    [],
    [[1], [2]],
    (1, (2, (3, (4,)))),
    ("a", 5),
    ("a", None),
    (None, None),
    (5, 5, 3),
    (2**62, 2**62, 2**62),
    {},
    {"a": 1},
    set(),
    {1},
    _ENDLESS,
    int,
    Hostile,
    Hostile(),
    [Hostile()],
    (1, Hostile()),
    np.float32,
    np.dtype("int8"),
    np.zeros(3),
    np.array(["a", "b"]),
    np.int64(3),
    np.float64("nan"),
    np.str_("x"),
    np.bool_(True),
    lambda: None,
    range(3),
    Ellipsis,
    NotImplemented,
    Word.FLOAT,
    Word.RAW,
    Word.KEY,
    Number.TWO,
    Path("x"),
    schemagen.Label,
    schemagen.Label(num_classes=2),
    schemagen.Label(classes=cast("Any", 5)),
    schemagen.Augment,
    schemagen.Augment(crop=cast("Any", "x")),
)

# Good parameters of each kind, of which one at a time is replaced.
GOOD: dict[type[Kind], tuple[dict[str, Any], Any]] = {
    schemagen.Image: ({"shape": (4, 4, 3)}, Any),
    schemagen.Images: ({"shape": (4, 4, 3)}, Any),
    schemagen.Label: ({"num_classes": 3}, int),
    schemagen.Mask: ({"shape": (4, 4)}, Any),
    schemagen.MultiLabel: ({"num_classes": 3}, list[int]),
    schemagen.Ragged: ({"dtype": "float32", "ragged": False}, list[list[float]]),
    schemagen.Scalar: ({"dtype": "float32"}, float),
    schemagen.Sparse: ({"shape": (4,), "index_key": "at"}, Any),
    schemagen.Steps: ({"step": schemagen.Scalar("float32")}, list[float]),
    schemagen.Tensor: ({"shape": (None,), "shape_key": "size"}, Any),
    schemagen.Text: ({}, str),
    schemagen.VarLen: ({"dtype": "float32"}, list[float]),
    schemagen.Vector: ({"shape": (4,)}, Any),
}

_AT = Location("schemas/pets.py", 3, 5)


Fields = dict[str, tuple[Any, ...]]
"""Annotations and, if there is one, the default of each, by name."""


def record_of(declared: Fields, base: type = Record, **parameters: Any) -> LoadedRecord:
    """Make a record class of fields."""
    names: dict[str, Any] = {"__module__": __name__, "__qualname__": "Pet"}
    names["__annotations__"] = {name: field[0] for name, field in declared.items()}
    names |= {name: field[1] for name, field in declared.items() if field[1:]}
    cls = cast("Any", type(base))("Pet", (base,), names, **parameters)
    found = cls.schemagen_fields()
    places = {field.name: _AT for field in found}
    return LoadedRecord(cls, "Pet", "schemas/pets.py", _AT, places, (), found)


def findings_of(record: LoadedRecord) -> list[Finding]:
    """Resolve a record, and render it if nothing is wrong with it."""
    resolved = resolve([record])
    if not resolved.findings:
        _rendered(resolved.specs)
    return list(resolved.findings)


@cache
def _rendered(specs: tuple[RecordSpec, ...]) -> None:
    render(specs)


def each_alone(record: LoadedRecord) -> Iterator[tuple[str, list[Finding]]]:
    """Yield what is wrong with each of the fields as the only one, by name."""
    for field in record.declared:
        yield field.name, findings_of(replace(record, declared=(field,)))


def _declared(python_type: Any, kind: Any) -> Any:
    """Return an annotation that typing has not seen: to it 0 and False are equal."""
    for clear in cast("Any", typing)._cleanups:
        clear()
    return typing.Annotated[python_type, kind]


def _check(found: list[Finding], name: str) -> None:
    for finding in found:
        assert finding.location == _AT
        assert finding.message
        assert finding.rule.startswith("SG1"), finding
        assert "Unfit" not in str(finding), name


def test_every_kind_is_tried() -> None:
    """Who adds a kind adds its parameters."""
    assert set(GOOD) == set(KINDS.values())


@pytest.mark.parametrize("kind", GOOD, ids=lambda kind: kind.__name__)
def test_a_parameter_of_a_wrong_type_is_a_finding(kind: Any) -> None:
    """For every parameter and every value, required and optional; never an error."""
    given, python_type = GOOD[kind]
    base = SequenceRecord if kind is schemagen.Steps else Record
    for parameter in fields(kind):
        made, declared = {}, {}
        for number, value in enumerate(BAD):
            name = f"{parameter.name}_{number}"
            made[name] = kind(**{**given, parameter.name: value})
            hash(made[name])
            declared[name] = (_declared(python_type, made[name]),)
            if number % 4 == 0:
                either = _declared(python_type | None, made[name])
                declared[f"{name}_or_none"] = (either, None)
        for name, found in each_alone(record_of(declared, base)):
            _check(found, f"{kind.__name__}.{name}")
            if name in made and made[name].misfits():
                assert found, name
                for wrong in found:
                    words = f"Pet.{name}: {kind.__name__} cannot have "
                    assert wrong.message.startswith(words)


def test_a_parameter_of_a_type_that_says_the_same_is_taken() -> None:
    """Lists for tuples, members of a StrEnum for text, numpy's numbers as padding."""
    kinds = (
        (schemagen.Vector(cast("Any", [4]), Word.FLOAT, cast("Any", Word.RAW)), Any),
        (schemagen.VarLen("bool", padding_value=True), list[bool]),
        (schemagen.VarLen("bool", padding_value=cast("Any", np.True_)), list[bool]),
        (schemagen.VarLen("int64", padding_value=cast("Any", np.int64(3))), list[int]),
        (schemagen.Label(classes=cast("Any", ["a", Word.KEY])), str),
        (schemagen.Sparse((4, 4), cast("Any", ["a", "b"])), Any),
    )
    for kind, python_type in kinds:
        assert findings_of(record_of({"x": (_declared(python_type, kind),)})) == []


def test_a_parameter_of_augment_or_nested_of_a_wrong_type_is_a_finding() -> None:
    """What a kind's parameter holds has parameters too."""
    for parameter in fields(schemagen.Augment):
        declared: Fields = {}
        for number, value in enumerate(BAD):
            augment = schemagen.Augment(**{parameter.name: value})
            kinds = (schemagen.Image, schemagen.Images)
            kind = kinds[number % 2]((8, 8, 3), augment=augment)
            declared[f"x{number}"] = (_declared(Any, kind),)
            mask = schemagen.Mask((8, 8), augment=augment)
            declared[f"mask{number}"] = (_declared(Any, mask),)
        for name, found in each_alone(record_of(declared)):
            _check(found, f"{parameter.name} of {name}")
    inner = cast("Any", type(BaseModel))(
        "Inner", (BaseModel,), {"__module__": __name__, "__annotations__": {"y": int}}
    )
    for value in BAD:
        nested = schemagen.Nested(key=cast("Any", value))
        found = findings_of(record_of({"x": (_declared(inner, nested),)}))
        _check(found, f"Nested.key={type(value)}")
        assert found or isinstance(value, str)


def _is_hostile(value: Any) -> bool:
    items = value if isinstance(value, (list, tuple)) else (value,)
    return any(isinstance(item, Hostile) for item in items)


def test_a_default_of_a_wrong_type_is_a_finding() -> None:
    """Of each kind and of plain types; hostile ones fail as the class is made."""
    plain = (int, float, bool, str, bytes, list[int], list[float], list[list[str]])
    kinds = [
        _declared(types, kind(**given))
        for kind, (given, types) in GOOD.items()
        if kind is not schemagen.Steps
    ]
    for annotation in (*plain, *kinds):
        values = [v for v in BAD if v is not annotation and not _is_hostile(v)]
        declared = {f"x{at}": (annotation, value) for at, value in enumerate(values)}
        for name, found in each_alone(record_of(declared)):
            _check(found, f"{annotation} = {name}")


def test_metadata_of_a_wrong_type_is_a_finding() -> None:
    """What hash and repr of it raise is raised by the schema itself."""
    for value in BAD:
        try:
            record = record_of({"x": (_declared(int, value),)})
        except ZeroDivisionError:
            continue
        _check(findings_of(record), f"{type(value)}")


def test_class_parameters_of_a_wrong_type_are_findings() -> None:
    """`reserved` and `draft`, as far as a class can be made with them."""
    for value in BAD:
        for parameter in ("reserved", "draft"):
            try:
                record = record_of({"x": (int,)}, **{parameter: value})
            except ZeroDivisionError:
                continue
            _check(findings_of(record), f"{parameter}={type(value)}")


def test_a_wrong_parameter_of_a_schema_file_is_named_at_its_line(
    tmp_path: Path,
) -> None:
    """The value that was said to be a bug of schemagen."""
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "pets.py").write_text(
        "from typing import Annotated\nfrom schemagen import Label, Record\n\n\n"
        "class Pet(Record):\n    breed: Annotated[int, Label(classes=5)]\n"
    )
    loaded = load_schemas(tmp_path, "schemas", "generated")
    (finding,) = resolve(loaded.records).findings
    assert str(finding.location) == "schemas/pets.py:6:5"
    assert finding.message == "Pet.breed: Label cannot have classes=5"
    assert re.match("a tuple of names", finding.expected)


def test_a_wrong_parameter_is_hashed_and_shown() -> None:
    """So that kinds can stand in unions, and findings can be printed."""
    made = schemagen.Label(classes=cast("Any", [Hostile(), {"a": 1}]))
    assert repr(made.classes) == "(<Hostile>, {'a': 1})"
    assert isinstance(made, Parameters)
    assert hash(made)
