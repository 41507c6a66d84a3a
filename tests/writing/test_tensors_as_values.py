"""Tensors of TensorFlow as the values of rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

from generated import RecordError

if TYPE_CHECKING:
    from conftest import PackageOf

SCHEMA = """
from typing import Annotated, Any
import numpy as np
from schemagen import Image, Label, Mask, MultiLabel, Record, Scalar, VarLen, Vector

class Mixed(Record):
    photo: Annotated[np.ndarray, Image((4, 4, 3), encoding="png")]
    mask: Annotated[np.ndarray, Mask((4, 4), num_classes=2, encoding="raw")]
    label: Annotated[int, Label(num_classes=3)]
    tags: Annotated[list[int], MultiLabel(num_classes=3)]
    words: Annotated[list[str], VarLen("string")]
    half: Annotated[np.ndarray, Vector((2,), dtype="bfloat16")]
    text: str
    data: bytes
    flag: Annotated[bool, Scalar("bool")]
    score: Annotated[float | None, Scalar("float32")] = None
"""

PLAIN: dict[str, Any] = {
    "photo": np.arange(48, dtype=np.uint8).reshape(4, 4, 3),
    "mask": np.eye(4, dtype=np.uint8),
    "label": 2,
    "tags": [0, 2],
    "words": ["one", "zwölf"],
    "half": [1.0, 2.0],
    "text": "text",
    "data": b"data",
    "flag": True,
    "score": 0.5,
}


@pytest.fixture(scope="module")
def serializer(package_of: PackageOf) -> Any:
    return package_of(SCHEMA).module("mixed", "serializer")


def test_tensors_are_written_as_what_they_hold(serializer: Any) -> None:
    plain = dict(PLAIN)
    plain["photo"] = png()
    expected = serializer.serialize(**plain)
    tensors = {name: tf.constant(value) for name, value in plain.items()}
    tensors["half"] = tf.constant([1, 2], tf.bfloat16)
    assert serializer.serialize(**tensors) == expected
    columns = {name: [value, value] for name, value in tensors.items()}
    assert serializer.serialize_batch(**columns) == [expected] * 2
    stacked = {name: tf.stack([value, value]) for name, value in tensors.items()}
    assert serializer.serialize_batch(**stacked) == [expected] * 2


def test_several_hot_classes_get_advice(serializer: Any) -> None:
    with pytest.raises(RecordError, match=r"pass np\.flatnonzero\(hot\)"):
        serializer.serialize(**{**PLAIN, "photo": png(), "tags": [1, 0, 1]})


def png() -> bytes:
    found: bytes = tf.io.encode_png(PLAIN["photo"]).numpy()
    return found
