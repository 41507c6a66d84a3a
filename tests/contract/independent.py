"""Readers of the wire format that share nothing with schemagen.

Two of them: protobuf's own message, and plain `tf.io.parse_example` with numpy. Both
give, for each row and field, an array, bytes, a list of bytes, or ABSENT.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from .fields import FieldCase
from .strategies import numpy_dtype

ABSENT = object()


def from_message(data: bytes, fields: Sequence[FieldCase]) -> dict[str, Any]:
    """Read one record as protobuf does; it must hold these fields and no others."""
    features = tf.train.Example.FromString(data).features.feature
    assert set(features) <= {field.wire_key for field in fields}
    found: dict[str, Any] = {}
    for field in fields:
        if field.wire_key not in features:
            found[field.name] = ABSENT
            continue
        feature = features[field.wire_key]
        assert feature.WhichOneof("kind") == field.listed
        items = list(getattr(feature, field.listed).value)
        found[field.name] = decoded(items, field)
    return found


def decoded(items: list[Any], field: FieldCase) -> Any:
    """Turn the items of a stored list into what the row held."""
    if field.listed == "bytes_list" and not field.raw:
        if field.kind == "VarLen":
            return items
        (value,) = items
        return value
    array: NDArray[Any]
    if field.raw:
        (data,) = items
        array = np.frombuffer(data, numpy_dtype(field.dtype).newbyteorder("<"))
    else:
        stored = np.array(items, np.float32 if field.dtype == "float32" else np.int64)
        array = stored.astype(numpy_dtype(field.dtype))
        assert np.array_equal(array, stored, equal_nan=field.is_float)
    shape = (-1,) if field.kind == "VarLen" else ()
    return array.reshape((*shape, *field.shape))


def from_description(
    serialized: Sequence[bytes],
    description: dict[str, Any],
    fields: Sequence[FieldCase],
) -> list[dict[str, Any]]:
    """Read records with plain tensorflow and a description of their features.

    A missing feature reads as what the description says.
    """
    parsed = tf.io.parse_example(tf.constant(list(serialized), tf.string), description)
    assert set(parsed) == {field.wire_key for field in fields}
    return [
        {field.name: _row_of(parsed[field.wire_key], row, field) for field in fields}
        for row in range(len(serialized))
    ]


def _row_of(column: Any, row: int, field: FieldCase) -> Any:
    value = column[row].numpy()
    items = value.reshape(-1).tolist() if isinstance(value, np.ndarray) else [value]
    if field.raw and field.kind == "VarLen" and not column.shape.rank:
        raise AssertionError("raw sequences are one value")
    return decoded(items, field)


def same(found: Any, expected: Any) -> bool:
    """Tell whether two values are equal to the bit, all NaNs taken as one."""
    if isinstance(expected, (bytes, list)):
        return bool(found == expected)
    a, b = np.asarray(found), np.asarray(expected)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return _canonical(a) == _canonical(b)


def _canonical(array: NDArray[Any]) -> bytes:
    if array.dtype.kind in "fV":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()
