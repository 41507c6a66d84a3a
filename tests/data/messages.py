"""Records with fields of many kinds, made without tensorflow, and their spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from schemagen import Image, Label, Ragged, Scalar, Sparse, Text, VarLen, Vector
from schemagen.kinds.field import FieldSpec
from schemagen.runtime.shared.wire import varint
from schemagen.spec.model import RecordSpec
from schemagen.spec.serial import to_data

Values = Sequence[int] | Sequence[float] | Sequence[bytes]


def example(features: Mapping[str, Values | None]) -> bytes:
    """Return the bytes of a tf.train.Example; None is a feature without a list."""
    entries = (
        sized(1, sized(1, key.encode()) + sized(2, feature(values)))
        for key, values in features.items()
    )
    return sized(1, b"".join(entries))


def feature(values: Values | None) -> bytes:
    """Return the bytes of a tf.train.Feature; lists of no values are of int64."""
    if values is None:
        return b""
    if any(isinstance(value, bytes) for value in values):
        return sized(1, b"".join(sized(1, bytes(value)) for value in values))  # type: ignore[arg-type]
    if any(isinstance(value, float) for value in values):
        return sized(2, sized(1, np.asarray(values, "<f4").tobytes()))
    packed = b"".join(varint(int(value) & (1 << 64) - 1) for value in values)
    return sized(3, sized(1, packed) if packed else b"")


def sized(number: int, content: bytes) -> bytes:
    """Return a field of a message that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def record_of(*fields: FieldSpec, **more: Any) -> RecordSpec:
    """Return the spec of a record with some fields."""
    return RecordSpec("mixed", "Mixed", "schemas/mixed.py", "", fields, **more)


def common(name: str, **more: Any) -> dict[str, Any]:
    """Return what all fields have."""
    return {"name": name, "key": name, "role": "input", **more}


MIXED = to_data(
    record_of(
        FieldSpec.of(
            Image, **common("image"), shape=(4, 3, 1), encoding="raw", dtype="uint8"
        ),
        FieldSpec.of(Label, **common("label"), num_classes=3, classes=("a", "b", "c")),
        FieldSpec.of(Vector, **common("stats"), shape=(2,), dtype="float32"),
        FieldSpec.of(VarLen, **common("tokens"), dtype="int32", max_length=9),
        FieldSpec.of(
            VarLen, **common("boxes"), dtype="float32", item_shape=(2,), group="boxes"
        ),
        FieldSpec.of(VarLen, **common("words"), dtype="string", group="boxes"),
        FieldSpec.of(Scalar, **common("age", optional=True), dtype="int8"),
        FieldSpec.of(Text, **common("name")),
        FieldSpec.of(
            Ragged, **common("lists"), dtype="int64", row_lengths_key="lists/lengths"
        ),
        FieldSpec.of(Sparse, **common("sparse"), shape=(9,), index_key=("sparse/at",)),
    )
)
"""The spec of `mixed`, as JSON has it."""


def mixed(number: int) -> bytes:
    """Return a record of the spec MIXED."""
    return example(
        {
            "image": [bytes(range(number, number + 12))],
            "label": [number % 3],
            "stats": [0.5, float(number)],
            "tokens": [number, 300, 7][: number % 4],
            "boxes": [0.0, 1.0, 0.5, 0.25],
            "words": [b"one", "zwölf".encode()],
            "age": [number],
            "name": [b"n" * number],
            "lists": [1, 2, 3],
            "lists/lengths": [2, 0, 1],
            "sparse": [0.5],
            "sparse/at": [8],
        }
    )
