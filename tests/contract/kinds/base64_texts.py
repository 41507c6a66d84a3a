"""Images, numbers and bytes that are stored as base64 text."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from stored_features import blobs, ints

from .case import Drawn, KindCase, Value, declared, under_one_key


def _text(data: bytes) -> tf.train.Feature:
    return blobs(base64.standard_b64encode(data))


def _pixels(*shape: int) -> st.SearchStrategy[Any]:
    return arrays.arrays(np.uint8, shape)


def _case(
    kind: str,
    values: st.SearchStrategy[Any],
    stored: Callable[[Any], bytes],
    *,
    python_type: str = "np.ndarray",
    delivered: Callable[[Any], Any] = lambda value: value,
) -> KindCase:
    """Return the case of one declaration, from what would be stored without base64."""
    return under_one_key(
        f"Annotated[{python_type}, {kind}]",
        values.map(lambda v: Value(v, _text(stored(v)), delivered(v))),
    )


def _png(pixels: Any) -> bytes:
    data: bytes = tf.io.encode_png(pixels).numpy()
    return data


def _sized(name: str, array: Any, sizes: dict[str, tf.train.Feature]) -> Drawn:
    return Drawn(array, {f"a/{name}": _text(_raw(array)), **sizes}, {name: array})


def _image(name: str, pixels: Any) -> Drawn:
    sizes = {f"height/{name}": ints(pixels.shape[0])}
    sizes[f"width/{name}"] = ints(pixels.shape[1])
    return _sized(name, pixels, {**sizes, f"format/{name}": blobs(b"raw")})


def _tensor(name: str, array: Any) -> Drawn:
    return _sized(name, array, {f"shape/{name}": ints(*array.shape)})


def _with_sizes() -> Iterator[KindCase]:
    sizes = st.tuples(st.integers(1, 3), st.integers(1, 3))
    images = sizes.flatmap(lambda size: _pixels(*size, 3))
    yield declared(
        "Annotated[np.ndarray, Image((None, None, 3), transfer_encoding='base64', "
        "height_key='height/NAME', width_key='width/NAME', "
        "format_key='format/NAME', key='a/NAME')]",
        lambda name: images.map(partial(_image, name)),
        one_row_batches=True,
    )
    shapes = st.tuples(st.integers(0, 3), st.just(2))
    numbers = shapes.flatmap(lambda shape: arrays.arrays("<i2", shape))
    yield declared(
        "Annotated[np.ndarray, Tensor((None, 2), dtype='int16', "
        "shape_key='shape/NAME', key='a/NAME', transfer_encoding='base64')]",
        lambda name: numbers.map(partial(_tensor, name)),
    )


def _raw(array: Any) -> bytes:
    return bytes(array.astype(array.dtype.newbyteorder("<")).tobytes())


def _numbers(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    finite = {"allow_nan": False, "allow_infinity": False} if dtype[0] == "f" else {}
    elements = arrays.from_dtype(np.dtype(dtype), **finite)
    return arrays.arrays(dtype, shape, elements=elements)


def cases() -> Iterator[KindCase]:
    base64_ = "transfer_encoding='base64'"
    for height, width in ((1, 1), (2, 3), (3, 3)):  # with all three kinds of padding
        shape = (height, width, 1)
        case = _case(f"Image({shape}, {base64_})", _pixels(*shape), _raw)
        yield case
        yield case.optional(np.zeros(shape, np.uint8))
    for encoding, of in (("any", "bytes"), ("png", "bytes | np.ndarray")):
        case = _case(
            f"Image((2, 3, 3), encoding={encoding!r}, {base64_})",
            _pixels(2, 3, 3).map(_png),
            bytes,
            python_type=of,
            delivered=lambda data: tf.io.decode_png(data, 3).numpy(),
        )
        yield case
    yield case.optional(np.zeros((2, 3, 3), np.uint8))
    yield from _with_sizes()
    for dtype, sizes in (("float32", (2, 2)), ("int16", (5,)), ("float64", (1,))):
        kind = f"Vector({sizes}, dtype={dtype!r}, encoding='raw', {base64_})"
        case = _case(kind, _numbers(dtype, sizes), _raw)
        floats = dtype[0] == "f"
        yield case
        filler = np.full(sizes, np.nan if floats else 0, dtype)
        yield case.optional(filler, masked=not floats)
    yield _case(
        f"Tensor((2, 2), encoding='proto', {base64_})",
        _numbers("float32", (2, 2)),
        lambda array: bytes(tf.io.serialize_tensor(array).numpy()),
    )
    case = _case(f"Scalar('bytes', {base64_})", st.binary(), bytes, python_type="bytes")
    yield case
    yield case.optional(b"")
    yield _case(
        f"Scalar('float64', {base64_})",
        st.floats(allow_nan=False, allow_infinity=False).map(np.float64),
        lambda number: np.array(number, "<f8").tobytes(),
        python_type="float",
    )
