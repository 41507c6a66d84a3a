"""What a kind refuses more than the one that it derives from is refused by all ways."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

import numpy as np
import pytest
import tensorflow as tf
from schemagen.runtime.cells.checks import Check, Checks
from schemagen.runtime.cells.decoded import Form
from schemagen.runtime.cells.serialized import records_of
from schemagen.runtime.kinds.classes import Label
from schemagen.runtime.kinds.kind import Kind, optional
from schemagen.runtime.kinds.lists import VarLen
from schemagen.runtime.kinds.numbers import Scalar, Vector
from schemagen.runtime.kinds.parameters import declared
from schemagen.runtime.kinds.tensors import Tensor
from schemagen.runtime.records.codec import RecordCodec
from schemagen.runtime.records.decoder import CorruptError, Decoder

_TWOS = Check(
    "SG535",
    "another number",
    "twos",
    lambda cells, *_: cells.values == 2,
    dtype="int64",
)


class _Twos(Kind):
    kind: ClassVar[str] = "Twos"

    @property
    def checks(self) -> Checks:
        return (*super().checks, _TWOS)


@declared
class TwoScalar(_Twos, Scalar):
    """A number that is two."""


@declared
class TwoVector(_Twos, Vector):
    """Numbers that are twos."""


@declared
class TwoList(_Twos, VarLen):
    """A list of twos."""


@declared
class TwoTensor(_Twos, Tensor):
    """A tensor of twos."""


@declared
class TwoLabel(_Twos, Label):
    """The class of id two."""


RIGHT, WRONG = np.array([2, 2]), np.array([2, 3])

KINDS: dict[str, tuple[Kind, Any, Any]] = {
    "scalar": (TwoScalar("int64"), 2, 3),
    "vector": (TwoVector((2,), "int64"), RIGHT, WRONG),
    "raw vector": (TwoVector((2,), "int64", "raw"), RIGHT, WRONG),
    "list": (TwoList("int64"), [2, 2], [2, 3]),
    "raw list": (TwoList("int64", encoding="raw"), [2, 2], [2, 3]),
    "filled list": (
        TwoList("int64", 2, padding_value=2, pad_on_disk=True),
        [2],
        [3],
    ),
    "tensor": (TwoTensor((None,), "int64"), RIGHT, WRONG),
    "tensor with its sizes": (
        TwoTensor((None,), "int64", shape_key="sizes"),
        RIGHT,
        WRONG,
    ),
    "serialized tensor": (TwoTensor((None,), "int64", "proto"), RIGHT, WRONG),
    "label": (TwoLabel(num_classes=4), 2, 3),
}


@pytest.mark.parametrize("may_be_missing", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_a_derived_kind_keeps_its_checks(name: str, may_be_missing: bool) -> None:
    """Whatever class stores what its parameters declare; a missing value passes."""
    kind, right, wrong = KINDS[name]
    kind = optional(kind) if may_be_missing else kind
    record = RecordCodec({"x": kind, "other": Scalar("int64")})
    for same in (record, pickle.loads(pickle.dumps(record))):
        for columns in ([right, wrong], np.array([right, wrong])):
            with pytest.raises(ValueError, match=r"row 1: field 'x'.*expected twos"):
                same.encode_columns(x=columns, other=[1, 2])
        with pytest.raises(ValueError, match=r"field 'x'.*expected twos"):
            same.encode(x=wrong, other=1)
    unchecked = RecordCodec(
        {"x": _base(kind), "other": Scalar("int64")}  # the same bytes
    )
    good, bad = record.encode(x=right, other=1), unchecked.encode(x=wrong, other=1)
    decoder = Decoder(record, ("x", "other"), Form(), "padded")
    decoder.batch(records_of([good]))
    with pytest.raises(CorruptError, match="twos"):
        decoder.batch(records_of([good, bad]))

    @tf.function
    def parse(serialized: Any) -> Any:
        parsed = record.parse(serialized, record.description(), ["x", "other"])
        return record["x"].parse(parsed)

    missing = [record.encode(x=None, other=2)] if may_be_missing else []
    parse(tf.constant([good, *missing]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected twos"):
        parse(tf.constant([good, bad]))


def _base(kind: Kind) -> Kind:
    """Return the kind without the check."""
    base = type(kind).__mro__[2]
    found: Kind = base(**kind.by_name())
    return optional(found) if kind.optional else found
