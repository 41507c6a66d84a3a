"""Old data and new code: read alike, or refused with the field's name."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from schemagen.evolution.comparison import compare
from schemagen.kinds.augment import Augment
from schemagen.kinds.field import FieldSpec, facts_of
from schemagen.kinds.image import Image
from schemagen.kinds.images import Images
from schemagen.kinds.label import Label
from schemagen.kinds.mask import Mask
from schemagen.kinds.multilabel import MultiLabel
from schemagen.kinds.ragged import Ragged
from schemagen.kinds.registry import KINDS
from schemagen.kinds.scalar import Scalar
from schemagen.kinds.sparse import Sparse
from schemagen.kinds.steps import Steps
from schemagen.kinds.tensor import Tensor
from schemagen.kinds.text import Text
from schemagen.kinds.varlen import VarLen
from schemagen.kinds.vector import Vector
from schemagen.runtime.shared import compatibility
from schemagen.runtime.shared.compatibility import check_compatible
from schemagen.runtime.shared.errors import DatasetError, SchemaMismatchError
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_data

if TYPE_CHECKING:
    from conftest import PackageOf

_NAMED: dict[str, Any] = {"name": "x", "key": "x", "role": "input"}
_STEP = Vector(shape=(4,), dtype="uint8")
_BASES: dict[str, FieldSpec] = {
    "raw": FieldSpec.of(
        Image, shape=(8, 8, 3), encoding="raw", dtype="uint8", **_NAMED
    ),
    "Image": FieldSpec.of(
        Image, shape=(8, 8, 3), encoding="png", dtype="uint8", **_NAMED
    ),
    "sized": FieldSpec.of(
        Image,
        shape=(8, None, 3),
        encoding="raw",
        dtype="uint8",
        width_key="w",
        **_NAMED,
    ),
    "Images": FieldSpec.of(
        Images, shape=(8, 8, 3), encoding="png", max_count=3, **_NAMED
    ),
    "ten": FieldSpec.of(Images, shape=(8, 8, 3), encoding="png", count=10, **_NAMED),
    "Label": FieldSpec.of(Label, num_classes=2, classes=("a", "b"), **_NAMED),
    "Label without names": FieldSpec.of(Label, num_classes=2, **_NAMED),
    "named on disk": FieldSpec.of(
        Label, num_classes=2, classes=("a", "b"), stored="text", **_NAMED
    ),
    "MultiLabel": FieldSpec.of(MultiLabel, num_classes=2, classes=("a", "b"), **_NAMED),
    "Sparse": FieldSpec.of(Sparse, shape=(4, 4), index_key=("row", "column"), **_NAMED),
    "Mask": FieldSpec.of(
        Mask, shape=(8, 9), num_classes=3, encoding="png", dtype="uint8", **_NAMED
    ),
    "raw mask": FieldSpec.of(
        Mask, shape=(8, 9), num_classes=None, encoding="raw", dtype="int32", **_NAMED
    ),
    "VarLen": FieldSpec.of(VarLen, dtype="int64", max_length=5, **_NAMED),
    "grouped": FieldSpec.of(VarLen, dtype="int64", group="g", **_NAMED),
    "filled up": FieldSpec.of(
        VarLen, dtype="int64", max_length=5, pad_on_disk=True, **_NAMED
    ),
    "Ragged": FieldSpec.of(
        Ragged, dtype="int64", row_lengths_key="x/row_lengths", **_NAMED
    ),
    "Vector": FieldSpec.of(Vector, shape=(2, 3), dtype="float32", **_NAMED),
    "quantized": FieldSpec.of(
        Vector, shape=(4,), dtype="uint8", dequantize=(0.5, -2.0), **_NAMED
    ),
    "Tensor": FieldSpec.of(
        Tensor, shape=(None, 3), dtype="float32", shape_key="shape", **_NAMED
    ),
    "Scalar": FieldSpec.of(Scalar, dtype="float32", **_NAMED),
    "Text": FieldSpec.of(Text, **_NAMED),
    "Steps": FieldSpec.of(
        Steps,
        step=_STEP,
        padding_value=0,
        max_length=5,
        **_NAMED,
    ),
}

_ANY = None  # the change may go unseen: old data reads the same

# base, what changes in it, what is said when the changed code reads the base's data,
# and what is said when the base's code reads the changed data
_CHANGES: list[tuple[str, dict[str, Any], str | None, str | None]] = [
    # What all kinds have.
    *(
        (base, change, _ANY, _ANY)
        for base in _BASES
        for change in (
            {"name": "y"},
            {"role": "info"},
            {"doc": "Another text."},
            {"presence": True},
            {"path": ("outer", "x")},
        )
    ),
    *(
        (base, {"optional": True}, _ANY, "optional: written True, expected False")
        for base in _BASES
    ),
    *(
        (
            base,
            {"key": "y"},
            "key: written 'x', expected 'y'",
            "key: written 'y', expected 'x'",
        )
        for base in _BASES
    ),
    ("Scalar", {"optional": True, "default": 1.0}, _ANY, "optional: written True"),
    # What only some have.
    *(
        ("Steps", change, _ANY, _ANY)
        for change in (
            {"padding_value": 1},
            {"ragged": True},
            {"group": "g"},
            {"too_long": "keep_head"},
        )
    ),
    ("Steps", {"max_length": 6}, _ANY, "max_length: written 6, expected 5"),
    (
        "Steps",
        {"step": Scalar("uint8")},
        "field 'x': kind: written Vector, expected Scalar",
        "field 'x': kind: written Scalar, expected Vector",
    ),
    (
        "Steps",
        {"step": replace(_STEP, dtype="int8")},
        "field 'x': dtype: written 'uint8', expected 'int8'",
        "",
    ),
    ("Steps", {"step": replace(_STEP, exact=False)}, _ANY, _ANY),
    (
        "Image",
        {"shape": (None, 8, 3)},
        _ANY,
        "shape: written [None, 8, 3], expected [8, 8, 3]",
    ),
    ("Image", {"shape": (9, 8, 3)}, "shape: written [8, 8, 3], expected [9, 8, 3]", ""),
    ("Image", {"shape": (8, 8, 1)}, "shape: written [8, 8, 3], expected [8, 8, 1]", ""),
    ("raw", {"shape": (8, 3, 8)}, "shape: written [8, 8, 3], expected [8, 3, 8]", ""),
    ("Image", {"encoding": "jpeg"}, "encoding: written 'png', expected 'jpeg'", ""),
    ("raw", {"encoding": "png"}, "encoding: written 'raw', expected 'png'", ""),
    ("raw", {"dtype": "uint16"}, "dtype: written 'uint8', expected 'uint16'", ""),
    ("raw", {"dtype": "int8"}, "dtype: written 'uint8', expected 'int8'", ""),
    ("Image", {"resize": (4, 4)}, _ANY, _ANY),
    ("Image", {"interpolation": "nearest"}, _ANY, _ANY),
    *(
        (base, {"augment": Augment(crop=1)}, _ANY, _ANY)
        for base in ("Image", "Images", "Mask")
    ),
    ("Image", {"encoding": "any"}, _ANY, "encoding: written 'any', expected 'png'"),
    ("raw", {"encoding": "any"}, "encoding: written 'raw', expected 'any'", ""),
    ("raw", {"resize": (4, 4)}, _ANY, _ANY),
    *(
        (base, {parameter: "k"}, _ANY, _ANY)
        for base in ("Image", "raw")
        for parameter in ("height_key", "width_key", "channels_key", "format_key")
    ),
    ("Image", {"format_key": "k", "format_text": "PNG"}, _ANY, _ANY),
    ("sized", {"height_key": "h"}, _ANY, _ANY),
    (
        "sized",
        {"width_key": "k"},
        "width_key: written 'w', expected 'k'",
        "width_key: written 'k', expected 'w'",
    ),
    (
        "raw",
        {"shape": (None, 8, 3), "height_key": "k"},
        "height_key: written None, expected 'k'",
        "shape: written [None, 8, 3], expected [8, 8, 3]",
    ),
    (
        "Images",
        {"shape": (8, 9, 3)},
        "shape: written [8, 8, 3], expected [8, 9, 3]",
        "",
    ),
    ("Images", {"resize": (4, 4)}, _ANY, _ANY),
    ("Images", {"interpolation": "nearest"}, _ANY, _ANY),
    ("Images", {"group": "g"}, _ANY, _ANY),
    ("Images", {"encoding": "any"}, _ANY, "encoding: written 'any', expected 'png'"),
    ("Images", {"encoding": "gif"}, "encoding: written 'png', expected 'gif'", ""),
    ("Images", {"max_count": 4}, _ANY, "max_count: written 4, expected 3"),
    ("Images", {"max_count": None}, _ANY, "max_count: written None, expected 3"),
    (
        "Images",
        {"count": 3, "max_count": None},
        "count: written None, expected 3",
        _ANY,
    ),
    ("ten", {"count": 9}, "count: written 10, expected 9", ""),
    ("ten", {"count": None}, _ANY, "count: written None, expected 10"),
    (
        "ten",
        {"count": None, "max_count": 9},
        "max_count: written None, expected 9",
        "count: written None, expected 10",
    ),
    (
        "Label without names",
        {"num_classes": 3},
        _ANY,
        "num_classes: written 3, expected 2",
    ),
    ("Label without names", {"classes": ("a", "b")}, _ANY, _ANY),
    (
        "Label",
        {"classes": ("a", "b", "c"), "num_classes": 3},
        _ANY,
        "classes: written ['a', 'b', 'c'], expected ['a', 'b']",
    ),
    (
        "Label",
        {"classes": ("b", "a")},
        "classes: written ['a', 'b'], expected ['b', 'a']",
        "classes: written ['b', 'a'], expected ['a', 'b']",
    ),
    (
        "Label",
        {"classes": ("c", "a", "b"), "num_classes": 3},
        "classes: written ['a', 'b'], expected ['c', 'a', 'b']",
        "",
    ),
    ("Label", {"offset": 1}, "offset: written 0, expected 1", "offset: written 1"),
    ("Label", {"stored": "text"}, "stored: written 'id', expected 'text'", ""),
    ("named on disk", {"classes": ("b", "a")}, _ANY, _ANY),
    (
        "named on disk",
        {"classes": ("c", "b", "a"), "num_classes": 3},
        _ANY,
        "classes: written ['c', 'b', 'a'], expected ['a', 'b']",
    ),
    (
        "MultiLabel",
        {"classes": ("a", "b", "c"), "num_classes": 3},
        _ANY,
        "classes: written ['a', 'b', 'c'], expected ['a', 'b']",
    ),
    ("MultiLabel", {"classes": ("b", "a")}, "classes: written ['a', 'b']", ""),
    ("MultiLabel", {"offset": 1}, "offset: written 0, expected 1", ""),
    ("MultiLabel", {"stored": "text"}, "stored: written 'id', expected 'text'", ""),
    ("Sparse", {"shape": (5, 4)}, "shape: written [4, 4], expected [5, 4]", ""),
    ("Sparse", {"index_key": ("column", "row")}, "index_key: written ['row'", ""),
    ("Sparse", {"dtype": "int64"}, "dtype: written 'float32', expected 'int64'", ""),
    ("Sparse", {"dense": True}, _ANY, _ANY),
    ("Sparse", {"exact": False}, _ANY, _ANY),
    ("Sparse", {"finite": False}, _ANY, "finite: written False, expected True"),
    ("Mask", {"shape": (None, 9)}, _ANY, "shape: written [None, 9], expected [8, 9]"),
    ("Mask", {"shape": (9, 8)}, "shape: written [8, 9], expected [9, 8]", ""),
    ("Mask", {"encoding": "raw"}, "encoding: written 'png', expected 'raw'", ""),
    ("Mask", {"dtype": "uint16"}, "dtype: written 'uint8', expected 'uint16'", ""),
    ("Mask", {"num_classes": 4}, _ANY, "num_classes: written 4, expected 3"),
    ("Mask", {"num_classes": None}, _ANY, "num_classes: written None, expected 3"),
    ("Mask", {"classes": ("a", "b", "c")}, _ANY, _ANY),
    ("Mask", {"ignore": 255}, _ANY, "ignore: written 255, expected None"),
    ("Mask", {"resize": (4, 4)}, _ANY, _ANY),
    ("Mask", {"height_key": "h"}, _ANY, _ANY),
    ("Mask", {"width_key": "w"}, _ANY, _ANY),
    ("Mask", {"format_key": "f"}, _ANY, _ANY),
    (
        "raw mask",
        {"shape": (8, None), "width_key": "w"},
        "width_key: written None, expected 'w'",
        "shape: written [8, None], expected [8, 9]",
    ),
    (
        "raw mask",
        {"shape": (None, 9), "height_key": "h"},
        "height_key: written None, expected 'h'",
        "shape: written [None, 9], expected [8, 9]",
    ),
    ("VarLen", {"dtype": "int32"}, "dtype: written 'int64', expected 'int32'", _ANY),
    ("VarLen", {"dtype": "uint32"}, "dtype: written 'int64', expected 'uint32'", _ANY),
    ("VarLen", {"dtype": "uint64"}, "dtype: written 'int64', expected 'uint64'", ""),
    ("VarLen", {"dtype": "float32"}, "dtype: written 'int64', expected 'float32'", ""),
    ("VarLen", {"max_length": 6}, _ANY, "max_length: written 6, expected 5"),
    ("VarLen", {"max_length": None}, _ANY, "max_length: written None, expected 5"),
    ("VarLen", {"item_shape": (2,)}, "item_shape: written [], expected [2]", ""),
    ("VarLen", {"padding_value": -1}, _ANY, _ANY),
    ("VarLen", {"ragged": True}, _ANY, _ANY),
    ("VarLen", {"group": "boxes"}, _ANY, _ANY),  # readers check it
    ("VarLen", {"too_long": "keep_tail"}, _ANY, _ANY),
    ("VarLen", {"max_length": 3, "too_long": "keep_head"}, _ANY, _ANY),
    (
        "VarLen",
        {"pad_on_disk": True},
        "pad_on_disk: written None, expected True",
        "pad_on_disk: written True, expected None",
    ),
    (
        "filled up",
        {"max_length": 6},
        "max_length: written 5, expected 6",
        "max_length: written 6, expected 5",
    ),
    (
        "filled up",
        {"padding_value": -1},
        "padding_value: written 0, expected -1",
        "padding_value: written -1, expected 0",
    ),
    ("grouped", {"optional": True, "fill_value": 1}, _ANY, "optional: written True"),
    ("Ragged", {"dtype": "bool"}, "dtype: written 'int64', expected 'bool'", _ANY),
    (
        "Ragged",
        {"row_lengths_key": "x/lengths"},
        "row_lengths_key: written 'x/row_lengths', expected 'x/lengths'",
        "",
    ),
    ("Ragged", {"max_length": 6}, "max_length: written None, expected 6", _ANY),
    ("Ragged", {"padding_value": -1}, _ANY, _ANY),
    ("Ragged", {"ragged": False}, _ANY, _ANY),
    ("Ragged", {"group": "boxes"}, _ANY, _ANY),
    ("Ragged", {"exact": False}, _ANY, _ANY),
    ("Ragged", {"finite": False}, _ANY, "finite: written False, expected True"),
    ("VarLen", {"exact": False}, _ANY, _ANY),
    ("VarLen", {"finite": False}, _ANY, "finite: written False, expected True"),
    ("Vector", {"shape": (3, 2)}, "shape: written [2, 3], expected [3, 2]", ""),
    ("Vector", {"shape": (6,)}, "shape: written [2, 3], expected [6]", ""),
    ("Vector", {"dtype": "int64"}, "dtype: written 'float32', expected 'int64'", ""),
    ("Vector", {"encoding": "raw"}, "encoding: written 'list', expected 'raw'", ""),
    ("Vector", {"exact": False}, _ANY, _ANY),
    ("Vector", {"finite": False}, _ANY, "finite: written False, expected True"),
    (
        "quantized",
        {"dequantize": (0.5, -1.0)},
        "dequantize: written [0.5, -2.0], expected [0.5, -1.0]",
        "",
    ),
    (
        "quantized",
        {"dequantize": None},
        "dequantize: written [0.5, -2.0], expected None",
        "dequantize: written None, expected [0.5, -2.0]",
    ),
    ("Tensor", {"shape": (None, None)}, _ANY, "shape: written [None, None], expected"),
    ("Tensor", {"shape": (None, 4)}, "shape: written [None, 3], expected", ""),
    (
        "Tensor",
        {"dtype": "int32", "padding_value": 0},
        "dtype: written 'float32', expected 'int32'",
        "",
    ),
    ("Tensor", {"encoding": "list"}, "encoding: written 'raw', expected 'list'", ""),
    (
        "Tensor",
        {"shape_key": ("rows", None)},
        "shape_key: written 'shape', expected ['rows', None]",
        "shape_key: written ['rows', None], expected 'shape'",
    ),
    ("Tensor", {"padding_value": -1.0}, _ANY, _ANY),
    ("Tensor", {"exact": False}, _ANY, _ANY),
    ("Tensor", {"finite": False}, _ANY, "finite: written False, expected True"),
    ("Scalar", {"dtype": "int64"}, "dtype: written 'float32', expected 'int64'", ""),
    ("Scalar", {"exact": False}, _ANY, _ANY),
    ("Scalar", {"finite": False}, _ANY, "finite: written False, expected True"),
]


def _spec(*specs: FieldSpec, record: str = "thing") -> dict[str, Any]:
    return to_data(RecordSpec(record, "Thing", "schemas/thing.py", "", specs))


def differences(written: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return the words for what keeps data from being opened."""
    found = compatibility.differences(written, expected)
    return [str(change) for change in found if not change.record_by_record]


def _said(written: FieldSpec, expected: FieldSpec) -> list[str]:
    return differences(_spec(written), _spec(expected))


def _expect(written: FieldSpec, expected: FieldSpec, words: str | None) -> None:
    found = _said(written, expected)
    if words is None:
        assert found == []
    else:
        assert len(found) >= 1
        assert all(line.startswith(f"field {expected.name!r}: ") for line in found)
        assert any(words in line for line in found)


@pytest.mark.parametrize(
    ("base", "change", "forward", "backward"),
    _CHANGES,
    ids=[f"{base}-{change}" for base, change, *_ in _CHANGES],
)
def test_every_change_of_a_field(
    base: str, change: dict[str, Any], forward: str | None, backward: str | None
) -> None:
    """A change passes if old bytes mean the same, and is named if they may not."""
    old = _BASES[base]
    new = old.replaced(**change)
    _expect(old, new, forward)
    _expect(new, old, backward)


def test_every_attribute_is_in_the_table() -> None:
    """Whoever adds an attribute to a kind has to decide what a change of it means."""
    changed = {
        (_BASES[base].kind.name, name)
        for base, change, *_ in _CHANGES
        for name in change
    }
    # A default means something where the field is optional: it has its own test.
    every = {
        (name, fact)
        for name, kind in KINDS.items()
        for fact in facts_of(kind)
        if fact != "default" and fact not in kind.derived
    }
    assert changed - {("Scalar", "default")} == every


@pytest.mark.parametrize("before", sorted(KINDS))
@pytest.mark.parametrize("after", sorted(KINDS))
def test_kinds_are_not_mixed(before: str, after: str) -> None:
    """Data of one kind is never read as another, even where the bytes would fit."""
    found = _said(_BASES[before], _BASES[after])
    line = f"field 'x': kind: written {before}, expected {after}"
    assert found == ([] if before == after else [line])


def test_the_gate_and_the_data_have_one_judgement() -> None:
    """What `breaking` finds of wire and meaning is what opening data finds, and no less.

    For each pair of kinds, and each field with all others' attributes.
    """
    for old, new in product(_BASES.values(), repeat=2):
        written, expected = _spec(old), _spec(new)
        found = compare(
            {"thing": written}, {"thing": expected}, axes=("wire", "meaning")
        )
        opened = compatibility.differences(written, expected)
        assert sorted(map(repr, (each.change for each in found))) == sorted(
            map(repr, opened)
        )


def test_a_changed_fill_value() -> None:
    """As a default: what old rows lack would read as something else."""
    old = _BASES["grouped"].replaced(optional=True)
    new = old.replaced(fill_value=1)
    assert _said(old, new) == ["field 'x': fill_value: written None, expected 1"]
    assert _said(new, old) == ["field 'x': fill_value: written 1, expected None"]
    assert _said(old.replaced(optional=False), new) == []


@pytest.mark.parametrize("kind", ["Scalar", "Vector", "Label", "Text"])
def test_a_changed_default(kind: str) -> None:
    """A new default would change what old rows read as, unless none uses it."""
    defaults: dict[str, tuple[Any, Any]] = {
        "Scalar": (1.0, 2.0),
        "Vector": (((0.0,) * 3,) * 2, ((1.0,) * 3,) * 2),
        "Label": (0, 1),
        "Text": ("", "unknown"),
    }
    first, second = defaults[kind]
    base = _BASES[kind]
    old = base.replaced(optional=True, default=first)
    new = base.replaced(optional=True, default=second)
    nothing = base.replaced(optional=True, default=None)
    _expect(old, new, "default: written ")
    _expect(new, old, "default: written ")
    _expect(old, nothing, "expected None")
    _expect(nothing, old, "default: written None")
    _expect(base, new, None)


def test_equal_specs_pass() -> None:
    """Every kind's data is read by the code that wrote it."""
    specs = [s.replaced(name=n, key=n) for n, s in _BASES.items()]
    assert differences(_spec(*specs), _spec(*specs)) == []


def test_the_order_of_fields_is_free() -> None:
    """Fields are found by their key, wherever they are declared."""
    a, b = _BASES["Text"], _BASES["Scalar"].replaced(name="b", key="b")
    assert differences(_spec(a, b), _spec(b, a)) == []


def test_fields_that_came_or_went() -> None:
    """A field may be dropped, or added as optional; a new required one has no data."""
    a, b = _BASES["Text"], _BASES["Scalar"].replaced(name="b", key="b")
    assert differences(_spec(a, b), _spec(a)) == []
    assert differences(_spec(a), _spec(a, b.replaced(optional=True))) == []
    assert differences(_spec(a), _spec(a, b)) == [
        "field 'b': nothing was written under the key 'b', expected a Scalar"
    ]


def test_a_misspelt_key_is_guessed() -> None:
    """Where a key looks like one that was written, the message says so."""
    old = _BASES["Text"].replaced(key="image/caption")
    new = _BASES["Text"].replaced(name="captions", key="image/captions")
    assert _said(old, new)[0].endswith(
        "expected a Text; did it have the key 'image/caption'?"
    )


@pytest.mark.parametrize("optional", [True, False])
def test_a_changed_key_is_not_a_missing_field(optional: bool) -> None:
    """A field whose key changed is refused; if optional it would read as defaults."""
    old = _BASES["Scalar"].replaced(key="age", optional=optional)
    new = old.replaced(key="age_years")
    assert _said(old, new) == [
        f"field {old.name!r}: key: written 'age', expected 'age_years'"
    ]


def test_fields_that_have_changed_keys() -> None:
    """The key of another field is another key: its values would be read for one's own."""
    a, b = (
        _BASES["Scalar"].replaced(name="a", key="a"),
        _BASES["Scalar"].replaced(name="b"),
    )
    swapped = _spec(a.replaced(key="x"), b.replaced(key="a"))
    assert differences(_spec(a, b), swapped) == [
        "field 'a': key: written 'a', expected 'x'",
        "field 'b': key: written 'x', expected 'a'",
    ]
    assert differences(_spec(a, b), _spec(a.replaced(key="x"))) == [
        "field 'a': key: written 'a', expected 'x'"
    ]


def test_another_record() -> None:
    """Records of another name are refused even if their fields agree."""
    text = _BASES["Text"]
    found = differences(_spec(text, record="pet"), _spec(text, record="digit"))
    assert found == ["record: written 'pet', expected 'digit'"]


def test_another_message() -> None:
    """Records with steps are not read as records without, nor the reverse."""
    text = _BASES["Text"]
    plain = _spec(text)
    sequence = {**plain, "message": "SequenceExample"}
    said = "message: written tf.train.{}, expected tf.train.{}"
    assert differences(plain, sequence) == [said.format("Example", "SequenceExample")]
    assert differences(sequence, plain) == [said.format("SequenceExample", "Example")]
    assert differences(sequence, sequence) == []


def test_what_a_later_schemagen_says() -> None:
    """An attribute that this code does not know may decide what the bytes mean: SG211."""
    known = _spec(_BASES["Scalar"])
    later = _spec(_BASES["Scalar"])
    later["fields"][0]["compressed"] = "zstd"
    line = "field 'x': compressed: written {}, expected {}"
    assert differences(later, known) == [line.format("'zstd'", None)]
    assert differences(known, later) == [line.format(None, "'zstd'")]
    (change,) = compatibility.differences(later, known)
    assert change.rule == "SG211"


def test_an_optional_field_that_may_have_been_renamed() -> None:
    """It would read as its default throughout, so that whoever renamed it has to say.

    What holds something else cannot have been it, and what is reserved was not.
    """
    old = _BASES["Scalar"].replaced(name="age", key="age")
    new = old.replaced(name="years", key="years", optional=True)
    (line,) = differences(_spec(old), _spec(new))
    assert line == (
        "field 'years': nothing was written under the key 'years', and what was "
        "written under the key 'age' is read by no field; if it is the same, give it "
        "key='age'; if not, reserve 'age'"
    )
    other = _BASES["Text"].replaced(name="age", key="age")
    assert differences(_spec(other), _spec(new)) == []
    assert differences(_spec(old), {**_spec(new), "reserved": ["age"]}) == []
    assert differences(_spec(old), _spec(old, new)) == []


def test_the_error_names_every_field() -> None:
    """All that differs is told at once, with what to do."""
    written = _spec(_BASES["Text"], _BASES["Scalar"].replaced(name="b", key="b"))
    expected = _spec(
        _BASES["Label"], _BASES["Scalar"].replaced(name="b", key="b", dtype="int32")
    )
    with pytest.raises(SchemaMismatchError) as caught:
        check_compatible(written, expected, "data/pets")
    assert isinstance(caught.value, DatasetError)
    assert str(caught.value) == (
        "data/pets: the data was written with another schema:\n"
        "  field 'x': kind: written Text, expected Label (SG205)\n"
        "  field 'b': dtype: written 'float32', expected 'int32' (SG205)\n"
        "Read it with code generated from that schema, which the manifest holds; or "
        "change the schema back; or write the data again into another directory. "
        "`schemagen explain SG205` says more."
    )


def test_long_values_are_cut() -> None:
    """Thousands of class names do not fill the screen."""
    names = tuple(f"class {number}" for number in range(5000))
    old = FieldSpec.of(Label, num_classes=5000, classes=names, **_NAMED)
    (line,) = _said(old, old.replaced(classes=names[::-1]))
    assert len(line) < 500


# With real data.

_HEAD = """
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector

class Thing(Record):
    number: int
    x: """

_PICTURES = [np.full((4, 4, 3), shade, np.uint8) for shade in (0, 90, 255)]
_VECTORS = [np.arange(6, dtype=np.float32).reshape(2, 3) + row for row in range(3)]
_LISTS: list[list[int]] = [[1, 2, 3], [], [4]]
_PADDED = [[1, 2, 3], [0, 0, 0], [4, 0, 0]]

# old declaration, new declaration, the rows' values, and what the new code delivers:
# the values, or the words of the refusal
_READ: dict[str, tuple[str, str, list[Any], Any]] = {
    "wider image": (
        "Annotated[Any, Image(shape=(4, 4, 3), encoding='png')]",
        "Annotated[Any, Image(shape=(None, None, 3), encoding='png', resize=(4, 4))]",
        _PICTURES,
        _PICTURES,
    ),
    "narrower image": (
        "Annotated[Any, Image(shape=(None, None, 3), encoding='png', resize=(4, 4))]",
        "Annotated[Any, Image(shape=(4, 4, 3), encoding='png')]",
        _PICTURES,
        "field 'x': shape: written [None, None, 3], expected [4, 4, 3]",
    ),
    "transposed image": (
        "Annotated[Any, Image(shape=(4, 3, 4))]",
        "Annotated[Any, Image(shape=(4, 4, 3))]",
        [np.zeros((4, 3, 4), np.uint8)] * 3,
        "field 'x': shape: written [4, 3, 4], expected [4, 4, 3]",
    ),
    "same bytes, other dtype": (
        "Annotated[Any, Image(shape=(4, 4, 3), dtype='uint8')]",
        "Annotated[Any, Image(shape=(4, 4, 3), dtype='int8')]",
        _PICTURES,
        "field 'x': dtype: written 'uint8', expected 'int8'",
    ),
    "more classes": (
        "Annotated[str, Label(classes=('a', 'b'))]",
        "Annotated[str, Label(classes=('a', 'b', 'c'))]",
        ["b", "a", "b"],
        [1, 0, 1],
    ),
    "fewer classes": (
        "Annotated[str, Label(classes=('a', 'b', 'c'))]",
        "Annotated[str, Label(classes=('a', 'b'))]",
        ["b", "a", "b"],
        "field 'x': classes: written ['a', 'b', 'c'], expected ['a', 'b']",
    ),
    "classes in another order": (
        "Annotated[str, Label(classes=('a', 'b'))]",
        "Annotated[str, Label(classes=('b', 'a'))]",
        ["b", "a", "b"],
        "field 'x': classes: written ['a', 'b'], expected ['b', 'a']",
    ),
    "classes counted from 1": (
        "Annotated[int, Label(num_classes=3)]",
        "Annotated[int, Label(num_classes=3, offset=1)]",
        [0, 1, 2],
        "field 'x': offset: written 0, expected 1",
    ),
    "classes by name in another order": (
        "Annotated[str, Label(classes=('a', 'b'), stored='text')]",
        "Annotated[str, Label(classes=('b', 'c', 'a'), stored='text')]",
        ["b", "a", "b"],
        [0, 2, 0],
    ),
    "label as scalar": (
        "Annotated[int, Label(num_classes=3)]",
        "Annotated[int, Scalar('int64')]",
        [0, 1, 2],
        "field 'x': kind: written Label, expected Scalar",
    ),
    "longer sequences": (
        "Annotated[Any, VarLen('int64', max_length=3)]",
        "Annotated[Any, VarLen('int64', max_length=30)]",
        _LISTS,
        _PADDED,
    ),
    "shorter sequences": (
        "Annotated[Any, VarLen('int64', max_length=30)]",
        "Annotated[Any, VarLen('int64', max_length=3)]",
        _LISTS,
        "field 'x': max_length: written 30, expected 3",
    ),
    "padded again": (
        "Annotated[Any, VarLen('int64')]",
        "Annotated[Any, VarLen('int64', padding_value=-7)]",
        _LISTS,
        [[1, 2, 3], [-7, -7, -7], [4, -7, -7]],
    ),
    "items of a shape": (
        "Annotated[Any, VarLen('int64')]",
        "Annotated[Any, VarLen('int64', item_shape=(1,))]",
        _LISTS,
        "field 'x': item_shape: written [], expected [1]",
    ),
    "reshaped vector": (
        "Annotated[Any, Vector(shape=(2, 3))]",
        "Annotated[Any, Vector(shape=(3, 2))]",
        _VECTORS,
        "field 'x': shape: written [2, 3], expected [3, 2]",
    ),
    "vector stored otherwise": (
        "Annotated[Any, Vector(shape=(2, 3))]",
        "Annotated[Any, Vector(shape=(2, 3), encoding='raw')]",
        _VECTORS,
        "field 'x': encoding: written 'list', expected 'raw'",
    ),
    "vector that may be missing": (
        "Annotated[Any, Vector(shape=(2, 3))]",
        "Annotated[np.ndarray | None, Vector(shape=(2, 3))] = None",
        _VECTORS,
        _VECTORS,
    ),
    "vector that may not be missing": (
        "Annotated[np.ndarray | None, Vector(shape=(2, 3))] = None",
        "Annotated[Any, Vector(shape=(2, 3))]",
        [*_VECTORS[:2], None],
        "field 'x': optional: written True, expected False",
    ),
    "another default": (
        "Annotated[float | None, Scalar('float32')] = 1.0",
        "Annotated[float | None, Scalar('float32')] = 2.0",
        [None, 0.5, None],
        "field 'x': default: written 1.0, expected 2.0",
    ),
    "finite no more": (
        "Annotated[float, Scalar('float32')]",
        "Annotated[float, Scalar('float32', finite=False)]",
        [0.5, 1.0, -1.0],
        [0.5, 1.0, -1.0],
    ),
    "finite from now on": (
        "Annotated[float, Scalar('float32', finite=False)]",
        "Annotated[float, Scalar('float32')]",
        [0.5, float("nan"), -1.0],
        "field 'x': finite: written False, expected True",
    ),
    "renamed with its key": ("int", "int\n    y: int = 5", [1, 2, 3], [1, 2, 3]),
    "text as bytes": (
        "str",
        "Annotated[bytes, Scalar('bytes')]",
        ["a", "b", "c"],
        "field 'x': kind: written Text, expected Scalar",
    ),
    "another key": (
        "Annotated[int, Scalar('int64', key='a')]",
        "Annotated[int, Scalar('int64', key='b')]",
        [1, 2, 3],
        "field 'x': key: written 'a', expected 'b'",
    ),
    "the same key": (
        "Annotated[int, Scalar('int64', key='x')]",
        "int",
        [1, 2, 3],
        [1, 2, 3],
    ),
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("change", _READ)
def test_real_data(tmp_path: Path, package_of: PackageOf, change: str) -> None:
    """What the table lets pass reads as it was written; the rest is refused."""
    before, after, values, expected = _READ[change]
    write = package_of(_HEAD + before).module("thing", "serializer").write_dataset
    rows = [{"number": at, "x": value} for at, value in enumerate(values)]
    write(rows, tmp_path, "train")
    make_dataset = package_of(_HEAD + after).module("thing", "pipeline").make_dataset
    if isinstance(expected, str):
        with pytest.raises(Exception, match=re.escape(expected)) as caught:
            make_dataset(tmp_path, batch_size=3)
        assert type(caught.value).__name__ == "SchemaMismatchError"
        assert str(tmp_path) in str(caught.value)
        return
    (element,) = make_dataset(tmp_path, batch_size=3)
    features, target = element if isinstance(element, tuple) else (element, None)
    found = target if target is not None else features["x"]
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    assert features["number"].numpy().tolist() == [0, 1, 2]


def test_files_that_a_manifest_lists(tmp_path: Path, package_of: PackageOf) -> None:
    """A glob or a list is compared, too, and a damaged manifest is refused; files without
    a manifest are read as they are.
    """
    before = package_of(_HEAD + "Annotated[str, Label(classes=('a', 'b'))]")
    after = package_of(_HEAD + "Annotated[str, Label(classes=('b', 'a'))]")
    rows = [{"number": at, "x": "a"} for at in range(3)]
    before.module("thing", "serializer").write_dataset(rows, tmp_path, "train")
    make_dataset = after.module("thing", "pipeline").make_dataset
    (shard,) = tmp_path.glob("train-*")
    said = (
        "split 'train': the data was written with another schema:\n  field 'x': classes"
    )
    for source in (str(tmp_path / "train-*"), [shard], str(shard)):
        with pytest.raises(Exception, match=re.escape(said)):
            make_dataset(source, batch_size=3)
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(Exception, match="not a whole manifest"):
        make_dataset([shard], batch_size=3)
    (tmp_path / "manifest.json").unlink()
    ((_, labels),) = make_dataset([shard], batch_size=3)
    assert labels.numpy().tolist() == [0, 0, 0]
