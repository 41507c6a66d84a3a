"""Old data and new code: read alike, or refused with the field's name."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from schemagen import (
    Augment,
    Image,
    Images,
    Label,
    Mask,
    MultiLabel,
    Ragged,
    Scalar,
    Sparse,
    Steps,
    Tensor,
    Text,
    VarLen,
    Vector,
)
from schemagen.evolution.comparison import compare
from schemagen.kinds.field import FieldSpec, facts_of
from schemagen.kinds.registry import KINDS
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
    "opaque": FieldSpec.of(Scalar, dtype="bytes", **_NAMED),
    "raw vector": FieldSpec.of(Vector, shape=(2,), encoding="raw", **_NAMED),
    "Text": FieldSpec.of(Text, **_NAMED),
    "Steps": FieldSpec.of(
        Steps,
        step=_STEP,
        padding_value=0,
        max_length=5,
        **_NAMED,
    ),
}

# By base, what changes in it so that either reads what the other has written.
_HARMLESS: dict[str, list[dict[str, Any]]] = {
    "Steps": [
        {"padding_value": 1},
        {"ragged": True},
        {"group": "g"},
        {"too_long": "keep_head"},
        {"step": replace(_STEP, exact=False)},
    ],
    "Image": [
        {"resize": (4, 4)},
        {"interpolation": "nearest"},
        {"resize": (4, 4), "antialias": True},
        {"resize": (4, 4), "scaled_decoding": True},
        {"resize": (4, 4), "dtype": "float32"},
        {"augment": Augment(crop=1)},
        {"height_key": "k"},
        {"width_key": "k"},
        {"channels_key": "k"},
        {"format_key": "k"},
        {"format_key": "k", "format_text": "PNG"},
    ],
    "Images": [
        {"augment": Augment(crop=1)},
        {"resize": (4, 4)},
        {"interpolation": "nearest"},
        {"resize": (4, 4), "antialias": True},
        {"resize": (4, 4), "scaled_decoding": True},
        {"resize": (4, 4), "dtype": "float32"},
        {"group": "g"},
    ],
    "Mask": [
        {"augment": Augment(crop=1)},
        {"classes": ("a", "b", "c")},
        {"resize": (4, 4)},
        {"height_key": "h"},
        {"width_key": "w"},
        {"format_key": "f"},
    ],
    "raw": [
        {"resize": (4, 4)},
        {"height_key": "k"},
        {"width_key": "k"},
        {"channels_key": "k"},
        {"format_key": "k"},
    ],
    "sized": [{"height_key": "h"}],
    "Label without names": [{"classes": ("a", "b")}],
    "named on disk": [{"classes": ("b", "a")}],
    "Sparse": [{"dense": True}, {"exact": False}],
    "VarLen": [
        {"padding_value": -1},
        {"ragged": True},
        {"group": "boxes"},
        {"too_long": "keep_tail"},
        {"max_length": 3, "too_long": "keep_head"},
        {"exact": False},
    ],
    "Ragged": [
        {"padding_value": -1},
        {"ragged": False},
        {"group": "boxes"},
        {"exact": False},
    ],
    "Vector": [{"exact": False}],
    "Tensor": [{"padding_value": -1.0}, {"exact": False}],
    "Scalar": [{"exact": False}],
}

# By base, what changes in it, and the attribute that is named when the changed code reads
# the base's data and when the base's code reads the changed data; None if it passes.
_REFUSED: dict[str, list[tuple[dict[str, Any], str | None, str | None]]] = {
    "Scalar": [
        ({"optional": True, "default": 1.0}, None, "optional"),
        ({"dtype": "int64"}, "dtype", "dtype"),
        ({"finite": False}, None, "finite"),
    ],
    "Steps": [
        ({"max_length": 6}, None, "max_length"),
        (
            {"step": Scalar("uint8")},
            "kind",
            "kind",
        ),
        ({"step": replace(_STEP, dtype="int8")}, "dtype", "dtype"),
    ],
    "Image": [
        ({"shape": (None, 8, 3)}, None, "shape"),
        ({"shape": (9, 8, 3)}, "shape", "shape"),
        ({"shape": (8, 8, 1)}, "shape", "shape"),
        ({"encoding": "jpeg"}, "encoding", "encoding"),
        ({"encoding": "any"}, None, "encoding"),
        ({"transfer_encoding": "base64"}, "transfer_encoding", "transfer_encoding"),
    ],
    "raw": [
        ({"shape": (8, 3, 8)}, "shape", "shape"),
        ({"encoding": "png"}, "encoding", "encoding"),
        ({"dtype": "uint16"}, "dtype", "dtype"),
        ({"dtype": "int8"}, "dtype", "dtype"),
        ({"encoding": "any"}, "encoding", "encoding"),
        ({"shape": (None, 8, 3), "height_key": "k"}, "height_key", "shape"),
    ],
    "sized": [
        ({"width_key": "k"}, "width_key", "width_key"),
    ],
    "Images": [
        ({"shape": (8, 9, 3)}, "shape", "shape"),
        ({"encoding": "any"}, None, "encoding"),
        ({"encoding": "gif"}, "encoding", "encoding"),
        ({"max_count": 4}, None, "max_count"),
        ({"max_count": None}, None, "max_count"),
        ({"count": 3, "max_count": None}, "count", None),
    ],
    "ten": [
        ({"count": 9}, "count", "count"),
        ({"count": None}, None, "count"),
        ({"count": None, "max_count": 9}, "max_count", "count"),
    ],
    "Label without names": [
        ({"num_classes": 3}, None, "num_classes"),
    ],
    "Label": [
        ({"classes": ("a", "b", "c"), "num_classes": 3}, None, "classes"),
        ({"classes": ("b", "a")}, "classes", "classes"),
        ({"classes": ("c", "a", "b"), "num_classes": 3}, "classes", "classes"),
        ({"offset": 1}, "offset", "offset"),
        ({"stored": "text"}, "stored", "stored"),
    ],
    "named on disk": [
        ({"classes": ("c", "b", "a"), "num_classes": 3}, None, "classes"),
    ],
    "MultiLabel": [
        ({"classes": ("a", "b", "c"), "num_classes": 3}, None, "classes"),
        ({"classes": ("b", "a")}, "classes", "classes"),
        ({"offset": 1}, "offset", "offset"),
        ({"stored": "text"}, "stored", "stored"),
    ],
    "Sparse": [
        ({"shape": (5, 4)}, "shape", "shape"),
        ({"index_key": ("column", "row")}, "index_key", "index_key"),
        ({"dtype": "int64"}, "dtype", "dtype"),
        ({"finite": False}, None, "finite"),
    ],
    "Mask": [
        ({"shape": (None, 9)}, None, "shape"),
        ({"shape": (9, 8)}, "shape", "shape"),
        ({"encoding": "raw"}, "encoding", "encoding"),
        ({"dtype": "uint16"}, "dtype", "dtype"),
        ({"num_classes": 4}, None, "num_classes"),
        ({"num_classes": None}, None, "num_classes"),
        ({"ignore": 255}, None, "ignore"),
    ],
    "raw mask": [
        ({"shape": (8, None), "width_key": "w"}, "width_key", "shape"),
        ({"shape": (None, 9), "height_key": "h"}, "height_key", "shape"),
    ],
    "VarLen": [
        ({"dtype": "int32"}, "dtype", None),
        ({"dtype": "uint32"}, "dtype", None),
        ({"dtype": "uint64"}, "dtype", "dtype"),
        ({"dtype": "float32"}, "dtype", "dtype"),
        ({"max_length": 6}, None, "max_length"),
        ({"max_length": None}, None, "max_length"),
        ({"item_shape": (2,)}, "item_shape", "item_shape"),
        ({"pad_on_disk": True}, "pad_on_disk", "pad_on_disk"),
        ({"finite": False}, None, "finite"),
    ],
    "grouped": [
        ({"optional": True, "fill_value": 1}, None, "optional"),
    ],
    "filled up": [
        ({"max_length": 6}, "max_length", "max_length"),
        ({"padding_value": -1}, "padding_value", "padding_value"),
    ],
    "Ragged": [
        ({"dtype": "bool"}, "dtype", None),
        ({"row_lengths_key": "x/lengths"}, "row_lengths_key", "row_lengths_key"),
        ({"max_length": 6}, "max_length", None),
        ({"finite": False}, None, "finite"),
    ],
    "Vector": [
        ({"shape": (3, 2)}, "shape", "shape"),
        ({"shape": (6,)}, "shape", "shape"),
        ({"dtype": "int64"}, "dtype", "dtype"),
        ({"encoding": "raw"}, "encoding", "encoding"),
        ({"finite": False}, None, "finite"),
    ],
    "opaque": [
        ({"transfer_encoding": "base64"}, "transfer_encoding", "transfer_encoding"),
    ],
    "raw vector": [
        ({"transfer_encoding": "base64"}, "transfer_encoding", "transfer_encoding"),
    ],
    "quantized": [
        ({"dequantize": (0.5, -1.0)}, "dequantize", "dequantize"),
        ({"dequantize": None}, "dequantize", "dequantize"),
    ],
    "Tensor": [
        ({"shape": (None, None)}, None, "shape"),
        ({"shape": (None, 4)}, "shape", "shape"),
        ({"dtype": "int32", "padding_value": 0}, "dtype", "dtype"),
        ({"encoding": "list"}, "encoding", "encoding"),
        ({"shape_key": ("rows", None)}, "shape_key", "shape_key"),
        ({"finite": False}, None, "finite"),
        ({"transfer_encoding": "base64"}, "transfer_encoding", "transfer_encoding"),
    ],
}

# Of all kinds: the name, texts, and what only readers make of a field.
_OF_ALL: list[dict[str, Any]] = [
    {"name": "y"},
    {"role": "info"},
    {"doc": "Another text."},
    {"presence": True},
    {"path": ("outer", "x")},
]

_CHANGES = [
    *((base, change, None, None) for base in _BASES for change in _OF_ALL),
    *((base, {"optional": True}, None, "optional") for base in _BASES),
    *((base, {"key": "y"}, "key", "key") for base in _BASES),
    *(
        (base, change, None, None)
        for base, all_of in _HARMLESS.items()
        for change in all_of
    ),
    *((base, *row) for base, all_of in _REFUSED.items() for row in all_of),
]


def _spec(*specs: FieldSpec, record: str = "thing") -> dict[str, Any]:
    return to_data(RecordSpec(record, "Thing", "schemas/thing.py", "", specs))


def differences(written: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return the words for what keeps data from being opened."""
    found = compatibility.differences(written, expected)
    return [str(change) for change in found if not change.record_by_record]


def _said(written: FieldSpec, expected: FieldSpec) -> list[str]:
    return differences(_spec(written), _spec(expected))


# What an attribute means where the JSON of a spec leaves it out.
_UNSAID = {"offset": 0, "stored": "id"}


def _expect(written: FieldSpec, expected: FieldSpec, attribute: str | None) -> None:
    """Assert that nothing is said, or one thing of an attribute and of both its values."""
    found = _said(written, expected)
    if attribute is None:
        assert found == []
        return
    sides = [_spec(each)["fields"][0] for each in (written, expected)]
    if "step" in sides[0] and sides[0].get(attribute) == sides[1].get(attribute):
        sides = [side["step"] for side in sides]
    before, after = (side.get(attribute, _UNSAID.get(attribute)) for side in sides)
    if attribute != "kind":
        before, after = repr(before), repr(after)
    line = f"field {expected.name!r}: {attribute}: written {before}, expected {after}"
    assert all(each.startswith(f"field {expected.name!r}: ") for each in found)
    assert line in found


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
    old = replace(base, optional=True, default=first)
    new = replace(base, optional=True, default=second)
    nothing = replace(base, optional=True, default=None)
    for one, other in permutations((old, new, nothing), 2):
        _expect(one, other, "default")
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
        f"expected a Text; if it is {old.name!r} renamed, give it key='image/caption'"
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


def test_the_error_of_a_new_field_names_the_default_first() -> None:
    """It is the way that neither changes the data nor takes the field back."""
    new = _BASES["Scalar"].replaced(name="b", key="b")
    with pytest.raises(SchemaMismatchError) as caught:
        check_compatible(_spec(_BASES["Text"]), _spec(_BASES["Text"], new), "data/pets")
    assert str(caught.value) == (
        "data/pets: the data was written with another schema:\n"
        "  field 'b': nothing was written under the key 'b', expected a Scalar (SG202)\n"
        "Give a new field a default, such as `= None` for a type with `| None`, which "
        "records without it then have. Or read it with code generated from that schema, "
        "which the manifest holds; or change the schema back; or write the data again "
        "into another directory. `schemagen explain SG202` says more."
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
