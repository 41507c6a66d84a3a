"""Tensors of any shape, raw numbers of every dtype, and quantized vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from numpy.typing import NDArray
from stored_features import blobs, ints

from ..strategies import COMPLEX, INTEGERS, numpy_dtype
from .case import Drawn, KindCase, Value, under_one_key
from .numbers import DTYPES, numbers

LISTED = ("bool", *(name for name in INTEGERS if name != "uint64"), "float32")

Shape = tuple[int | None, ...]


def _proto(array: NDArray[Any]) -> tf.train.Feature:
    return blobs(tf.io.serialize_tensor(tf.constant(array)).numpy())


# Keys end in the field's name: protobuf sorts a key after those that go on from it.


def _sizes(
    name: str, shape: Sequence[int], keys: tuple[str | None, ...] | str | None
) -> dict[str, tf.train.Feature]:
    if keys is None:
        return {}
    if isinstance(keys, str):
        return {f"{keys}{name}": ints(*shape)}
    return {
        f"{key}{name}": ints(size)
        for key, size in zip(keys, shape, strict=True)
        if key is not None
    }


def _keys_text(name: str, keys: tuple[str | None, ...] | str | None) -> str:
    if keys is None:
        return ""
    if isinstance(keys, str):
        return f", shape_key={keys + name!r}"
    return f", shape_key={tuple(None if k is None else k + name for k in keys)!r}"


def _tensor(
    dtype: str,
    shape: Shape,
    encoding: str,
    keys: tuple[str | None, ...] | str | None = None,
    padding: Any = 0,
    *,
    optional: bool = False,
) -> KindCase:
    def declare(name: str) -> str:
        own = f", key={'values/' + name!r}" if keys and encoding == "raw" else ""
        return (
            f"Annotated[np.ndarray, Tensor({shape!r}, dtype={dtype!r}, "
            f"encoding={encoding!r}{_keys_text(name, keys)}, padding_value={padding!r}"
            f"{own})]"
        )

    def drawn(name: str, value: Value) -> Drawn:
        array = np.asarray(value.delivered)
        own = f"values/{name}" if keys and encoding == "raw" else name
        feature = _proto(array) if encoding == "proto" else value.stored
        stored_sizes = _sizes(name, array.shape, keys)
        return Drawn(value.given, {own: feature, **stored_sizes}, {name: array})

    def draw(name: str) -> st.SearchStrategy[Drawn]:
        sizes = [st.integers(0, 3) if n is None else st.just(n) for n in shape]
        raw = encoding == "raw"
        values = st.tuples(*sizes).flatmap(lambda sizes: numbers(dtype, sizes, raw=raw))
        return values.map(partial(drawn, name))

    case = KindCase(declare, draw, padding={"": padding})
    filler = np.full([size or 0 for size in shape], padding, numpy_dtype(dtype))
    return case.optional(filler) if optional else case


def _quantized(dtype: str, encoding: str, default: str) -> KindCase:
    scale, offset = 4 / 255, 4 / 512 - 2

    def real(array: NDArray[Any]) -> NDArray[np.float32]:
        return array.astype(np.float32) * np.float32(scale) + np.float32(offset)

    def value(drawn: Value) -> Value:
        return drawn._replace(delivered=real(drawn.delivered))

    case = under_one_key(
        f"Annotated[np.ndarray, Vector((3,), dtype={dtype!r}, "
        f"encoding={encoding!r}, dequantize=({scale}, {offset}))]",
        numbers(dtype, (3,), raw=encoding == "raw", image=True).map(value),
    )
    if default == "None":
        return case.optional(np.full(3, np.nan, np.float32), masked=False)
    one_two_three = real(np.array([1, 2, 3], dtype))
    return case.optional(one_two_three, default=default) if default else case


def cases() -> Iterator[KindCase]:
    shapes: tuple[Shape, ...] = ((None,), (None, 3), (2, None), (None, 1, None), (2, 2))
    for at, dtype in enumerate(DTYPES):
        shape = shapes[at % len(shapes)]
        padding: Any = 0
        if dtype not in ("bool", *INTEGERS):
            padding = -0.5
        elif dtype != "bool":
            padding = at
        yield _tensor(dtype, shape, "raw", "shape/", padding)
        yield _tensor(dtype, shapes[(at + 1) % len(shapes)], "proto", None, padding)
        # The size that varies follows from the number of bytes.
        measured = ((None,), (None, 3), (2, None), (2, None, 1))[at % 4]
        yield _tensor(dtype, measured, "raw", None, padding, optional=bool(at % 2))
    for at, dtype in enumerate(LISTED):
        shape = shapes[at % len(shapes)]
        keys = tuple(f"size{n}/" for n in range(len(shape)))
        yield _tensor(dtype, shape, "list", keys if at % 2 else "shape/")
    for shape in shapes:
        stored = tuple(
            None if size is not None and at else f"size{at}/"
            for at, size in enumerate(shape)
        )
        yield _tensor("float32", shape, "raw", stored, -1)
        yield _tensor("int16", shape, "raw", "shape/", 7, optional=True)
        yield _tensor("bool", shape, "list", stored, True, optional=True)
        yield _tensor("float64", shape, "proto", padding=0.25, optional=True)
    for dtype in COMPLEX:
        yield _tensor(dtype, (None, 2), "raw", "shape/", 1)
        yield _tensor(dtype, (None, None), "proto", padding=0.5, optional=True)
        yield _tensor(dtype, (2, None), "raw")
    yield _tensor("float32", (), "proto")
    yield _tensor("float32", (None, None, None, 2), "raw", "shape/")
    for at, dtype in enumerate(INTEGERS):
        encoding = ("list", "raw")[at % 2]
        yield _quantized(dtype, encoding, ("", "None", "[1, 2, 3]")[at % 3])
    for encoding in ("list", "raw"):
        yield _quantized("uint8", encoding, "None")
        yield _quantized("uint8", encoding, "[1, 2, 3]")
