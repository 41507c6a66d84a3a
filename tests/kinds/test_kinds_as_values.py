"""Kinds as values: frozen, equal by their parameters, of Python's own types."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from enum import IntEnum, StrEnum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from command_line import make_project, refusals
from schemagen import Image, Label, Text, VarLen, Vector

from generated import RecordError

if TYPE_CHECKING:
    from conftest import PackageOf


class Pixels(int):
    """An int that is shown in another way."""

    def __repr__(self) -> str:
        return "?"


class Name(str):
    """A text that is shown in another way."""

    __slots__ = ()

    def __str__(self) -> str:
        return "?"

    __repr__ = __str__


class Size(NamedTuple):
    """A tuple of its own."""

    height: Any
    width: Any


class Number(IntEnum):
    TWO = 2


class Word(StrEnum):
    RAW = "raw"


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (lambda: Image((Pixels(4), 4, 3)), Image((4, 4, 3))),
        (lambda: Text(key=Name("a")), Text(key="a")),
        (lambda: Label(classes=(Name("a"), "b")), Label(classes=("a", "b"))),
        (lambda: Vector(Size(np.int64(2), Number.TWO)), Vector((2, 2))),
        (lambda: Image([4, 4, 3], encoding=Word.RAW), Image((4, 4, 3))),
        (
            lambda: VarLen("float32", padding_value=np.float32(2)),
            VarLen("float32", padding_value=2.0),
        ),
    ],
)
def test_parameters_are_of_pythons_own_types(
    given: Callable[[], Any], plain: Any
) -> None:
    """Generated code prints them."""
    found = given()
    assert found == plain
    assert hash(found) == hash(plain)
    assert repr(found) == repr(plain)


def test_kinds_cannot_be_changed() -> None:
    """Several fields may have the same one."""
    kind = Vector((2,))
    for name in ("shape", "dtpye"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(kind, name, (3,))
    bound = kind.bound("x")
    for copied in (
        copy.copy,
        copy.deepcopy,
        lambda each: pickle.loads(pickle.dumps(each)),
    ):
        assert copied(kind) == kind
        assert copied(bound).parts == bound.parts


@pytest.mark.parametrize("kind", ["Lower()", "Steps(Lower())", "Kind()"])
def test_classes_of_ones_own_are_no_kinds(tmp_path: Path, kind: str) -> None:
    """What they add would not be in generated code."""
    text = (
        "from typing import Annotated, Any\n"
        "from schemagen import SequenceRecord, Steps, Text\n"
        "from schemagen.runtime.kinds.kind import Kind\n"
        "class Lower(Text):\n    pass\n"
        f"class A(SequenceRecord):\n    x: Annotated[Any, {kind}]\n"
    )
    name = kind.removeprefix("Steps(").partition("(")[0]
    found = refusals(make_project(tmp_path, {"a.py": text}))
    assert any(name in each["found"] for each in found)


SCHEMA = """
from typing import Annotated
from schemagen import Record, Scalar, SequenceRecord, Steps, VarLen

class Blob(Record):
    data: Annotated[list[bytes], VarLen("bytes", padding_value="pad")]
    days: Annotated[list[int], VarLen("int64")] = []
"""


@pytest.fixture(scope="module")
def blob(package_of: PackageOf) -> Callable[[str], ModuleType]:
    package = package_of(SCHEMA)
    return lambda name: package.module("blob", name)


def test_bytes_are_padded_as_declared(
    blob: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    rows = [{"data": [b"x"]}, {"data": [b"x", b"y"]}]
    blob("serializer").write_dataset(rows, tmp_path, "train")
    found = blob("reader").open_split(tmp_path, "train")[:]["data"]
    assert found.tolist() == [[b"x", b"pad"], [b"x", b"y"]]
    messages = [blob("serializer").serialize(**row) for row in rows]
    assert (
        blob("parser").parse_batch(messages)["data"].numpy().tolist() == found.tolist()
    )


def test_a_duration_is_no_integer(blob: Callable[[str], ModuleType]) -> None:
    with pytest.raises(RecordError, match="field 'days'"):
        blob("serializer").serialize(data=[], days=[1, np.timedelta64(3, "s")])
