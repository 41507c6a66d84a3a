"""A key that changes its owner: refused, or a field without data reads as its default.

One record has a key as a field's own or as that of its sizes, row lengths or indices;
the other one has it for another field. Rows are written with the code of the one and
read with that of the other, for all pairs of owners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from schemagen import Image, Mask, Ragged, Scalar, Sparse, Tensor, Text, VarLen, Vector
from schemagen.evolution.comparison import Mode
from schemagen.evolution.comparison import compare as compare_specs
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.kind import Kind
from schemagen.kinds.registry import KINDS
from schemagen.runtime.shared.compatibility import check_compatible
from schemagen.runtime.shared.errors import SchemaMismatchError
from schemagen.runtime.shared.field_keys import FURTHER_KEYS, is_read, keys_of
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_data

from .old_and_new import Code, refusals, render_all
from .random_rows import random_rows

if TYPE_CHECKING:
    from conftest import PackageOf

Owner = Callable[[str, str], FieldSpec]

_ANY = (None, None, 3)


def _common(name: str, key: str) -> dict[str, Any]:
    return {"name": name, "key": key, "role": "info"}


def _own(kind: type[Kind], **facts: Any) -> Owner:
    return lambda name, key: FieldSpec.of(kind, **facts, **_common(name, key))


def _further(kind: type[Kind], attribute: str, **facts: Any) -> Owner:
    """Return a field that has the key for one of its sizes, lengths or indices."""

    def make(name: str, key: str) -> FieldSpec:
        value: Any = (key,) if attribute == "index_key" else key
        if attribute == "shape_key" and facts["shape"] == (None, 2):
            value = (key, None)
        return FieldSpec.of(
            kind, **facts, **{attribute: value}, **_common(name, f"{name}/own")
        )

    return make


_RAW = {"encoding": "raw", "dtype": "uint8", "resize": (2, 2)}
_PNG = {"encoding": "png", "dtype": "uint8", "resize": (2, 2), "shape": _ANY}

_OWN: dict[str, Owner] = {
    "Scalar": _own(Scalar, dtype="uint8"),  # a size that memory holds
    "Scalar of float32": _own(Scalar, dtype="float32"),
    "Text": _own(Text),
    "VarLen": _own(VarLen, dtype="int64"),
    "Vector": _own(Vector, shape=(2,), dtype="uint8"),
}
_FURTHER: dict[str, Owner] = {
    "height": _further(Image, "height_key", shape=(None, 2, 3), **_RAW),
    "width": _further(Image, "width_key", shape=(2, None, 3), **_RAW),
    "channels": _further(Image, "channels_key", shape=(2, 2, None), **_RAW),
    "height of a mask": _further(
        Mask, "height_key", shape=(None, 2), num_classes=3, **_RAW
    ),
    "height of a PNG": _further(Image, "height_key", **_PNG),
    "format": _further(Image, "format_key", **_PNG),
    "row lengths": _further(Ragged, "row_lengths_key", dtype="int64"),
    "indices": _further(Sparse, "index_key", shape=(9,)),
    "sizes": _further(
        Tensor,
        "shape_key",
        shape=(None, None),
        dtype="uint8",
        encoding="list",
    ),
    "one size": _further(
        Tensor, "shape_key", shape=(None, 2), dtype="uint8", encoding="list"
    ),
}

# What readers do not look at may be anything, and a size may be a field's number.
_UNREAD = {"format", "height of a PNG"}
_SINGLE = {"height", "width", "channels", "height of a mask", "one size"}
_LEGIT = {
    *((old, new) for old in (*_OWN, *_FURTHER) for new in _UNREAD),
    *((old, new) for old in ("Scalar", *_SINGLE) for new in _SINGLE),
    *(("height of a PNG", new) for new in _SINGLE),
    ("Vector", "sizes"),
}


def _record(*found: FieldSpec) -> RecordSpec:
    number = FieldSpec.of(Scalar, dtype="int64", **_common("number", "number"))
    return RecordSpec("pet", "Pet", "pets.py", "", (number, *found))


@pytest.fixture(scope="module")
def codes() -> Iterator[tuple[dict[str, Code], dict[str, Code]]]:
    """The generated code of old and new records, by the owner of the key "k"."""
    tf.config.run_functions_eagerly(True)
    owners = _OWN | _FURTHER
    old = {name: Code(_record(make("before", "k"))) for name, make in owners.items()}
    new = {
        name: Code(_record(make("after", "k").replaced(optional=True)))
        for name, make in owners.items()
    }
    render_all([*old.values(), *new.values()])
    yield old, new
    tf.config.run_functions_eagerly(False)


def _outcome(old: Code, new: Code) -> str:
    """Return what the new field reads as where nothing was written for it."""
    records = [old.write(row) for row in random_rows(old.spec, 4, seed=5)]
    field = new.spec.fields[1]
    try:
        found = new.read(records, [field.key])[field.key]
    except tf.errors.OpError:
        return "an error"
    if field.kind.name == "Scalar" and getattr(field.kind, "dtype", "") == "float32":
        return "other" if any(one["value"] == one["value"] for one in found) else ""
    return "other" if any(one["present"] for one in found) else ""


@pytest.mark.slow
def test_a_key_of_another_owner_is_refused_or_not_read(
    codes: tuple[dict[str, Code], dict[str, Code]],
) -> None:
    """For each pair of owners but those that other rules judge.

    These are a field's own key in both, and two fields of one kind, which are taken for
    one that was renamed.
    """
    olds, news = codes
    for before, old in olds.items():
        for after, new in news.items():
            if before == after or (before in _OWN and after in _OWN):
                continue
            pair = (before, after)
            found = refusals(old, new)
            assert bool(found) == (pair not in _LEGIT), pair
            if not found:
                assert _outcome(old, new) == "", pair
            for change in found:
                assert change.rule == "SG235", pair
                assert change.field == "after"
                words = str(change)
                assert "'after'" in words, pair
                assert "'before'" in words, pair
                assert "key 'k'" in words, pair


def test_a_key_that_is_freed_and_taken_up_is_refused_in_each_comparison(
    package_of: PackageOf, tmp_path: Any
) -> None:
    """When data is opened, and at the gate, by both names and the key."""
    head = "from typing import Annotated\nimport numpy as np\nfrom schemagen import *\n"
    with_key = (
        f"{head}\n\nclass Pet(Record):\n    number: int\n"
        '    photo: Annotated[np.ndarray, Image((2, 2, 3), height_key="age")]\n'
    )
    without = with_key.replace(', height_key="age"', "") + "    age: int | None = 5\n"
    old, new = package_of(with_key), package_of(without)
    row = {"number": 1, "photo": np.zeros((2, 2, 3), np.uint8)}
    old.module("pet", "serializer").write_dataset([row], tmp_path, "train")
    words = "field 'age': key 'age': written the height of 'photo', expected the Scalar 'age'"
    error = SchemaMismatchError
    with pytest.raises(error, match=words):
        new.module("pet", "pipeline").make_dataset(tmp_path, "train", batch_size=1)
    specs = [
        Code(_record(_OWN["Scalar"]("a", "k"))).data,
        Code(_record(_FURTHER["row lengths"]("b", "k"))).data,
    ]
    for mode in Mode:
        for before, after in (specs, specs[::-1]):
            found = compare_specs({"pet": before}, {"pet": after}, mode)
            assert "SG235" in {each.rule.id for each in found}


def test_each_key_of_each_kind_is_owned() -> None:
    """Each attribute of a spec that names a key is in the one table of them."""
    named = {
        each.name
        for kind in KINDS.values()
        for each in fields(kind)
        if each.name.endswith("_key")
    }
    assert named == set(FURTHER_KEYS)
    for make in _FURTHER.values():
        (field,) = to_data(_record(make("x", "k")))["fields"][1:]
        assert [owned.key for owned in keys_of(field)] == ["x/own", "k"]
        storage = make("x", "k").storage
        assert [(e.key, e.parameter) for e in storage] == [
            (owned.key, owned.attribute) for owned in keys_of(field)
        ]
        for entry in storage[1:]:
            assert entry.read == is_read(field, entry.parameter)
    tensor = _FURTHER["one size"]("x", "k").replaced(shape_key=("a", None, "b"))
    field = to_data(_record(tensor))["fields"][1]
    assert [owned.key for owned in keys_of(field)] == ["x/own", "a", "b"]


def test_a_mismatch_names_the_field_and_the_rule() -> None:
    """In the words that readers raise."""
    old = Code(_record(_FURTHER["indices"]("words", "ids")))
    new = Code(_record(_OWN["VarLen"]("ids", "ids")))
    with pytest.raises(SchemaMismatchError) as caught:
        check_compatible(old.data, new.data, "data")
    assert (
        "  field 'ids': key 'ids': written the indices of 'words', expected the VarLen "
        "'ids'; give it a key that no field had (SG235)"
    ) in str(caught.value)
