"""What records hold by the word of protobuf, held against what a parser delivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf


def check_readings(spec: Any, parser: Any, messages: Sequence[bytes]) -> None:
    """Assert that every record parses, and to what it holds.

    One by one, since images of any size make no batch.
    """
    for number, data in enumerate(messages):
        tensors = parser.parse_example(tf.constant(data))
        if spec.message == "SequenceExample":
            message = tf.train.SequenceExample.FromString(data)
            context = message.context.feature
            lists = message.feature_lists.feature_list
        else:
            context, lists = tf.train.Example.FromString(data).features.feature, {}
        for field in spec.fields:
            where = f"{field.name} of record {number}"
            found = _member(tensors, field)
            if field.kind.kind == "Steps":
                if field.key in lists:
                    steps = lists[field.key].feature
                    _check_steps(field, found, steps, where)
                continue
            if field.key not in context or not context[field.key].WhichOneof("kind"):
                assert field.optional, where
                continue
            _check(field, found, _values(context[field.key]), context, where)


def _member(tensors: Any, field: Any) -> Any:
    for name in field.path or (field.name,):
        tensors = tensors[name]
    return tensors


def _values(feature: Any) -> list[Any]:
    return list(getattr(feature, feature.WhichOneof("kind")).value)


def _check_steps(field: Any, found: Any, steps: Any, where: str) -> None:
    array = found.numpy()
    assert len(array) == len(steps), where
    for one, step in zip(array, steps, strict=True):
        _check(field.step, tf.constant(one), _values(step), {}, where)


def _check(field: Any, found: Any, values: list[Any], context: Any, where: str) -> None:
    kind = field.kind.kind
    if kind == "Images":
        assert len(found) == len(values), where
        for one, data in zip(found, values, strict=True):
            _same_pixels(field, one, data, where)
    elif kind == "Image" and field.kind.encoding == "raw":
        data = np.frombuffer(values[0], field.kind.dtype)
        _same(found, data.reshape(found.shape), where)
    elif kind in ("Image", "Mask"):
        if values[0]:
            _same_pixels(field, found, values[0], where)
    elif kind == "Label":
        (value,) = values
        if field.kind.stored == "text":
            value = field.kind.classes.index(value.decode())
        elif field.kind.values:
            value = field.kind.values.index(value)
        elif value >= 0:
            value -= field.kind.offset
        assert int(found) == value, where
    elif kind == "Ragged":
        lengths = iter(_values(context[field.kind.row_lengths_key]))
        rest = iter(values)
        wanted = [[next(rest) for _ in range(length)] for length in lengths]
        assert _plain(found) == wanted, where
    elif kind == "Tensor" and field.kind.encoding == "proto":
        _same(found, tf.io.parse_tensor(values[0], field.kind.dtype).numpy(), where)
    elif kind == "MultiLabel":
        assert np.flatnonzero(found.numpy()).tolist() == sorted(set(values)), where
    elif kind in ("Tensor", "Vector") and field.kind.encoding == "raw":
        data = np.frombuffer(values[0], found.dtype.as_numpy_dtype)
        _same(found, data.reshape(found.shape), where)
    elif kind == "VarLen" and field.kind.classes:
        names = [*map(str.encode, field.kind.classes)]
        text = field.kind.stored == "text"
        ids = [names.index(v) if text else v - field.kind.offset for v in values]
        assert found.numpy().tolist() == ids, where
    elif kind == "VarLen" and field.kind.dtype in ("string", "bytes"):
        assert found.numpy().tolist() == values, where
    elif kind in ("Text", "Scalar") and isinstance(values[0], bytes):
        assert found.numpy() == values[0], where
    else:
        wanted = np.array(values, found.dtype.as_numpy_dtype)
        _same(found, wanted.reshape(found.shape), where)


def _same(found: Any, wanted: Any, where: str) -> None:
    np.testing.assert_array_equal(found.numpy(), wanted, err_msg=where)


def _plain(found: Any) -> list[Any]:
    rows = found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy()
    return [list(row) for row in rows]


def _same_pixels(field: Any, found: Any, data: bytes, where: str) -> None:
    if field.kind.kind == "Mask" or (field.kind.kind != "Mask" and field.kind.resize):
        assert found.shape.rank in (2, 3), where
        return
    dtype = tf.uint16 if getattr(field.kind, "dtype", "uint8") == "uint16" else tf.uint8
    channels = field.kind.shape[2]
    pixels = tf.io.decode_image(
        data, channels=channels, dtype=dtype, expand_animations=False
    )
    _same(found, pixels.numpy(), where)
