"""What programs notice of a change: keywords, batches and models."""

from __future__ import annotations

from typing import Any

import pytest
from schemagen import (
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
from schemagen.codegen.record_view import RecordView
from schemagen.evolution.comparison import Mode, compare
from schemagen.evolution.interface import delivers_mask
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.registry import KINDS
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_data

_X: dict[str, Any] = {"name": "x", "key": "x", "role": "input"}
_STEP = Scalar("int64")
_FIELDS: tuple[FieldSpec, ...] = (
    FieldSpec.of(Image, shape=(8, 8, 3), encoding="png", dtype="uint8", **_X),
    FieldSpec.of(Images, shape=(8, 8, 3), encoding="png", max_count=3, **_X),
    FieldSpec.of(Label, num_classes=2, **_X),
    FieldSpec.of(
        Mask, shape=(8, 8), num_classes=3, encoding="png", dtype="uint8", **_X
    ),
    FieldSpec.of(
        Mask, shape=(8, 8), num_classes=3, encoding="png", dtype="uint8", ignore=9, **_X
    ),
    FieldSpec.of(MultiLabel, num_classes=2, **_X),
    FieldSpec.of(Ragged, dtype="int64", row_lengths_key="n", **_X),
    FieldSpec.of(Scalar, dtype="float32", **_X),
    FieldSpec.of(Scalar, dtype="float64", encoding="raw", **_X),
    FieldSpec.of(Scalar, dtype="int32", **_X),
    FieldSpec.of(Scalar, dtype="bytes", **_X),
    FieldSpec.of(Sparse, shape=(4,), index_key=("i",), **_X),
    FieldSpec.of(Steps, step=_STEP, padding_value=0, **_X),
    FieldSpec.of(Tensor, shape=(None, 3), dtype="float32", shape_key="s", **_X),
    FieldSpec.of(Text, **_X),
    FieldSpec.of(VarLen, dtype="float32", **_X),
    FieldSpec.of(Vector, shape=(2,), dtype="float32", **_X),
    FieldSpec.of(Vector, shape=(2,), dtype="int8", **_X),
    FieldSpec.of(Vector, shape=(2,), dtype="uint8", dequantize=(0.5, 0.0), **_X),
)


def _record(*fields: FieldSpec, **more: Any) -> RecordSpec:
    message = (
        "SequenceExample"
        if any(isinstance(f.kind, Steps) for f in fields)
        else "Example"
    )
    return RecordSpec("thing", "Thing", "schemas/thing.py", "", fields, message, **more)


def _said(before: RecordSpec, after: RecordSpec) -> list[str]:
    """Return the rules and words of what programs notice, looking forward too."""
    old, new = ({"thing": to_data(spec)} for spec in (before, after))
    found = compare(old, new, Mode.FULL, ("api",))
    return [f"{each.rule.id} {each.change}" for each in found]


def test_every_kind_is_here() -> None:
    assert {field.kind.name for field in _FIELDS} == set(KINDS)


@pytest.mark.parametrize("field", _FIELDS, ids=lambda field: field.kind.name)
@pytest.mark.parametrize("presence", [False, True])
def test_masks_are_those_that_are_generated(field: FieldSpec, presence: bool) -> None:
    """An optional field without a default has a mask, unless a value says as much."""
    for optional in (False, True):
        if presence and not optional:
            continue
        spec = field.replaced(optional=optional, presence=presence)
        (view,) = RecordView(_record(spec), "0" * 16).fields
        data = to_data(_record(spec))["fields"][0]
        assert delivers_mask(data) == view.masked


_AGE = FieldSpec.of(Scalar, dtype="int64", name="age", key="age", role="input")
_BREED = FieldSpec.of(Label, num_classes=2, name="breed", key="breed", role="target")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (_AGE, _AGE.replaced(name="years"), ["SG241 field 'years': name"]),
        (_AGE, _AGE.replaced(path=("pet", "age")), ["SG241 field 'age': name"]),
        (_AGE, _AGE.replaced(role="info"), ["SG244 field 'age': role"]),
        (_AGE, _AGE.replaced(doc="Other."), []),
        (_AGE, _AGE.replaced(optional=True, default=1), []),
        (_AGE, _AGE.replaced(optional=True), ["SG246 field 'age': batches and models"]),
        (
            _AGE,
            _AGE.replaced(optional=True, default=1, presence=True),
            ["SG245 field 'age': presence", "SG246 field 'age': batches and models"],
        ),
        (_AGE.replaced(dtype="int32"), _AGE, ["SG245 field 'age': dtype"]),
        (_AGE, _AGE.replaced(dtype="int32"), []),  # SG208 says it of the data
        (_AGE, _AGE.replaced(exact=False), []),
        (_AGE.replaced(exact=False), _AGE, ["SG248 field 'age': exact"]),
        (_BREED, _BREED.replaced(num_classes=3), ["SG247 field 'breed': num_classes"]),
        (_BREED.replaced(num_classes=3), _BREED, []),  # SG208 says it of the data
    ],
)
def test_changes_of_a_field(
    before: FieldSpec, after: FieldSpec, said: list[str]
) -> None:
    """Each is said once, and only to those who run old programs with new code."""
    found = _said(_record(before), _record(after))
    assert len(found) == len(said)
    for line, words in zip(found, said, strict=True):
        assert line.startswith(words)


def test_fields_that_come_and_go() -> None:
    """A new keyword may be demanded, and one that is gone has to be reserved."""
    both, one = _record(_AGE, _BREED), _record(_BREED)
    assert _said(one, both) == [
        "SG243 field 'age': `serialize` demands a value for the new Scalar"
    ]
    assert _said(both, one) == ["SG242 field 'age': removed, and not reserved"]
    for word in ("age", "meta/age"):
        old = _record(_AGE.replaced(key="meta/age"), _BREED)
        assert _said(old, _record(_BREED, reserved=(word,))) == [
            "SG252 field 'age': removed, and reserved"
        ]


def test_an_optional_info_field_is_noticed_by_nobody() -> None:
    """It is an input of no model."""
    info = _AGE.replaced(role="info", optional=True)
    assert _said(_record(_BREED), _record(_BREED, info)) == []


def test_the_parts_of_elements() -> None:
    """Loops unpack them: a further target makes a dict of one, a weight a third part."""
    info, target = _AGE.replaced(role="info"), _AGE.replaced(role="target")
    weight = FieldSpec.of(
        Scalar, dtype="float32", name="w", key="w", role="weight", optional=True
    )
    parts = {
        "features": _record(info),
        "(features, a target)": _record(info, _BREED),
        "(features, a dict of targets)": _record(target, _BREED),
        "(features, a target, weights)": _record(info, _BREED, weight),
    }
    for was, before in parts.items():
        for now, after in parts.items():
            line = f"SG251 elements of datasets are {now} now, and were {was}"
            assert (line in _said(before, after)) == (was != now)


def test_names_of_classes_that_are_dropped() -> None:
    """Writers take them no more, and no one can tell how they come back."""
    named = _BREED.replaced(classes=("a", "b"))
    assert _said(_record(named), _record(_BREED)) == [
        "SG248 field 'breed': classes: written ['a', 'b'], expected []"
    ]
    assert _said(_record(_BREED), _record(named)) == []


def test_a_name_that_is_free_again() -> None:
    """What was reserved stays so."""
    before, after = (
        _record(_AGE, reserved=("a", "b")),
        _record(_AGE, reserved=("b", "c")),
    )
    assert _said(before, after) == ["SG250 'a' was reserved and is no more"]
