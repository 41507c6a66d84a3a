"""Each verdict of the table, seen on real bytes: written by one schema, read by another.

Nothing compares specs here: the old serializer writes, the new parser reads with
TensorFlow, and the reverse. What is said of wire and meaning has to be what happens.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image as Picture
from schemagen.evolution.comparison import Mode, compare
from schemagen.evolution.rule import BreakingRule
from schemagen.evolution.table import BREAKING_RULES
from schemagen.runtime.storage.schema import load_spec

if TYPE_CHECKING:
    from conftest import PackageOf, Workspace

_HEAD = """
from typing import Annotated, Any
import numpy as np
from schemagen import *
from schemagen import Image, Images, Label, Mask, Ragged, Record, Scalar
from schemagen import SequenceRecord, Sparse, Steps, Text, VarLen, Vector

"""

Rows = list[dict[str, Any]]


def _picture(shades: list[int], style: str) -> bytes:
    pixels = np.repeat(np.array(shades, np.uint8), 12).reshape(4, 4, 3)
    file = io.BytesIO()
    Picture.fromarray(pixels).save(file, style)
    return file.getvalue()


_SHADES = [0, 90, 180, 255]
_COLOURS = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)

_IDS = np.array([[0, 1], [1, 2]], np.uint8)

# Rows for the example of each rule, by the schema before and the one after it. What
# both can hold is the same, so that other values are the reader's doing.
_ROWS: dict[str, tuple[Rows, Rows]] = {
    "SG201": ([{}], [{"steps": [1, 2]}]),
    "SG202": ([{}], [{"age": 3}]),
    "SG203": ([{"age": None}, {"age": 3}], [{"age": 3}]),
    "SG204": ([{"age": 3}], [{"age": 3}]),
    "SG205": ([{"age": 3}], [{"age": 3.0}]),
    "SG206": ([{"size": [1.0, 2.0, 3.0]}], [{"size": [1.0, 2.0]}]),
    "SG207": (
        [{"photo": _picture(_SHADES, "png")}],
        [{"photo": _picture(_SHADES, "jpeg")}],
    ),
    "SG208": ([{"words": [1, 2, 3]}], [{"words": [1, 2]}]),
    "SG209": ([{"lists": [[1], [2, 3]]}], [{"lists": [[1], [2, 3]]}]),
    "SG210": (
        [{"xs": [1, 2], "ys": [1]}],
        [{"xs": [1, 2], "ys": [3, 4]}],
    ),
    "SG221": ([{"breed": "pug"}], [{"breed": "pug"}]),
    "SG222": ([{"breed": 1}, {"breed": 2}], [{"breed": 0}, {"breed": 1}]),
    "SG223": (
        [{"size": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]}],
        [{"size": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}],
    ),
    "SG224": ([{"size": [1.0, 2.0]}], [{"size": [1, 2]}]),
    "SG225": ([{"breed": 1}], [{"breed": 1}]),
    "SG226": ([{"age": None}], [{"age": None}]),
    "SG227": ([{"words": [1, 2]}], [{"words": [1, 2]}]),
    "SG228": ([{"size": [2, 4]}], [{"size": [2, 4]}]),
    "SG229": ([{"size": [np.nan, 1.0]}], [{"size": [0.0, 1.0]}]),
    "SG230": ([{"mask": _IDS}], [{"mask": _IDS}]),
    "SG231": (
        [{"grid": {(0, 1): 1.0, (2, 2): 2.0}}],
        [{"grid": {(0, 1): 1.0, (2, 2): 2.0}}],
    ),
    "SG232": ([{"photo": _COLOURS}], [{"photo": _COLOURS}]),
    "SG233": ([{"words": [1]}, {"words": [1, 2]}], [{"words": [1]}, {"words": [1, 2]}]),
    "SG234": ([{"words": [1, 2, 3]}], [{"words": [1, 2]}]),
    "SG235": ([{"photo": _COLOURS}], [{"photo": _COLOURS, "height": 180}]),
}

# These cannot be shown by two schemas of one record: other tests have them.
_ELSEWHERE = {"SG211", "SG220"}

# Here the tensors are the same, and what they stand for is not: a class or a number,
# padding or a value, a promise, a pixel that counts or does not; or it is a new field's
# tensor that is wrong.
_SAME_TENSORS = {"SG225", "SG227", "SG229", "SG230", "SG235"}

_DATA = [rule for rule in BREAKING_RULES.values() if rule.axis != "api"]


def _schema(example: str) -> str:
    """Return a schema file for an example of the table."""
    if example.startswith("class "):
        return _HEAD + example + "\n"
    lines = textwrap.indent(example, "    ")
    return f"{_HEAD}class Pet(Record):\n    number: int\n{lines}\n"


def _field_of(rule: BreakingRule) -> str:
    """Return what has to be in the error: the field, a key of its own, or the message."""
    named = {"SG201": "tf.train.", "SG209": "lengths"}
    return named.get(rule.id, rule.after.split(":")[0])


def _spec_of(package_of: PackageOf, example: str) -> dict[str, Any]:
    """Return what the generated spec.json of an example says."""
    package = package_of(_schema(example))
    return load_spec(str(package.root / package.package / "pet" / "parser.py"))


def _written(package: Workspace, rows: Rows) -> list[bytes]:
    serialize = package.module("pet", "serializer").serialize
    return [serialize(number=at, **row) for at, row in enumerate(rows)]


def _read(package: Workspace, records: list[bytes]) -> Mapping[str, Any]:
    """Parse records, with the names of classes in the place of their ids."""
    spec = load_spec(package.module("pet", "parser").__file__ or "")
    classes = {field["name"]: field.get("classes") for field in spec["fields"]}
    found = {}
    for name, value in package.module("pet", "parser").parse_batch(records).items():
        if isinstance(value, tf.RaggedTensor):
            value = value.to_tensor(-99)  # the ends of rows show
        elif isinstance(value, tf.SparseTensor):
            value = tf.sparse.to_dense(value)
        array = value.numpy()
        found[name] = np.array(classes[name])[array] if classes.get(name) else array
    return found


def _outcome(writer: Workspace, rows: Rows, reader: Workspace, field: str) -> str:
    """Return what becomes of records: "refused", "the same" or "something else"."""
    records = _written(writer, rows)
    meant = _read(writer, records)
    try:
        found = _read(reader, records)
    except tf.errors.InvalidArgumentError as error:
        return "refused" if field in str(error) else f"refused without {field}: {error}"
    same = all(
        np.array_equal(
            meant[name], found[name], equal_nan=meant[name].dtype.kind == "f"
        )
        for name in meant
        if name in found
    )
    return "the same" if same else "something else"


def test_every_rule_about_data_is_tried() -> None:
    """Who adds a rule adds rows that show it."""
    assert _ROWS.keys() | _ELSEWHERE == {rule.id for rule in _DATA}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    "rule", [r for r in _DATA if r.id not in _ELSEWHERE], ids=lambda rule: rule.id
)
def test_what_is_said_happens(package_of: PackageOf, rule: BreakingRule) -> None:
    """Old bytes with new code and new bytes with old code, in the directions named."""
    before, after = package_of(_schema(rule.before)), package_of(_schema(rule.after))
    old_rows, new_rows = _ROWS[rule.id]
    said = {"wire": "refused", "meaning": "something else"}[rule.axis]
    if rule.id in _SAME_TENSORS:
        said = "the same"
    field = _field_of(rule)
    backward = _outcome(before, old_rows, after, field)
    forward = _outcome(after, new_rows, before, field)
    assert backward == (said if rule.direction != "forward" else "the same")
    assert forward == (said if rule.direction != "backward" else "the same")


@pytest.mark.parametrize("rule", BREAKING_RULES.values(), ids=lambda rule: rule.id)
def test_the_example_comes_under_its_rule(
    package_of: PackageOf, rule: BreakingRule
) -> None:
    """And in its direction under no other one of the same axis."""
    if rule.id in ("SG211", "SG220", "SG249"):
        return  # no example says these
    old, new = _spec_of(package_of, rule.before), _spec_of(package_of, rule.after)
    for mode in (Mode.BACKWARD, Mode.FORWARD):
        found = {
            each.rule.id
            for each in compare({"pet": old}, {"pet": new}, mode, (rule.axis,))
        }
        meant = rule.direction in (mode.value, "both")
        assert found == ({rule.id} if meant else set())
