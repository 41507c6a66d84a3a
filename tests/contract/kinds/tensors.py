"""Tensors of any shape, raw numbers of every dtype, and quantized vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from ..strategies import numpy_dtype
from .case import Drawn, KindCase, blobs, floats, int64s

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = (
    "bool",
    *INTEGERS,
    "float16",
    "bfloat16",
    "float32",
    "float64",
)
LISTED = ("bool", *(name for name in INTEGERS if name != "uint64"), "float32")

Shape = tuple[int | None, ...]


def _values(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[NDArray[Any]]:
    """Draw finite arrays, little-endian, of foreign byte order or in another layout."""
    if dtype == "bfloat16":
        single = arrays.arrays(
            np.float32, shape, elements=st.floats(-(2.0**99), 2.0**99, width=32)
        )
        return single.map(lambda array: array.astype(numpy_dtype(dtype)))
    options = {} if dtype in ("bool", *INTEGERS) else {"allow_nan": False}
    if options:
        options["allow_infinity"] = False
    elements = arrays.from_dtype(np.dtype(dtype), **options)
    plain = arrays.arrays(np.dtype(dtype), shape, elements=elements)
    foreign = plain.map(lambda array: array.astype(array.dtype.newbyteorder(">")))
    other_layout = plain.map(lambda array: array.T.copy().T)
    return plain | foreign | other_layout


def _little(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in this machine's order, row by row."""
    native = (
        array.astype(array.dtype.newbyteorder("="))
        if array.dtype.kind != "V"
        else array
    )
    return np.ascontiguousarray(native).reshape(array.shape)


def _listed(array: NDArray[Any]) -> tf.train.Feature:
    flat = array.reshape(-1).tolist()
    return floats(*flat) if array.dtype == np.float32 else int64s(*map(int, flat))


def _proto(array: NDArray[Any]) -> tf.train.Feature:
    return blobs(tf.io.serialize_tensor(tf.constant(array)).numpy())


# Keys end in the field's name: protobuf sorts a key after those that go on from it.


def _sizes(
    name: str, shape: Sequence[int], keys: tuple[str | None, ...] | str | None
) -> dict[str, tf.train.Feature]:
    if keys is None:
        return {}
    if isinstance(keys, str):
        return {f"{keys}{name}": int64s(*shape)}
    return {
        f"{key}{name}": int64s(size)
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
        text = (
            f"Annotated[np.ndarray, Tensor({shape!r}, dtype={dtype!r}, "
            f"encoding={encoding!r}{_keys_text(name, keys)}, padding_value={padding!r}"
            f"{own})]"
        )
        return f"{text} | None" if optional else text

    def drawn(name: str, array: NDArray[Any]) -> Drawn:
        plain = _little(array)
        own = f"values/{name}" if keys and encoding == "raw" else name
        held = {"raw": lambda a: blobs(a.tobytes()), "list": _listed, "proto": _proto}
        stored = {own: held[encoding](plain), **_sizes(name, plain.shape, keys)}
        delivered: dict[str, Any] = {name: plain}
        if optional:
            delivered[f"{name}_present"] = True
        return Drawn(array, stored, delivered)

    def draw(name: str) -> st.SearchStrategy[Drawn]:
        sizes = [st.integers(0, 3) if n is None else st.just(n) for n in shape]
        return (
            st.tuples(*sizes).flatmap(partial(_values, dtype)).map(partial(drawn, name))
        )

    def missing(name: str) -> Drawn:
        filler = np.full([size or 0 for size in shape], padding, numpy_dtype(dtype))
        return Drawn(None, {}, {name: filler, f"{name}_present": False})

    return KindCase(
        declare,
        draw,
        missing=missing if optional else None,
        default="None" if optional else "",
        padding={"": padding},
    )


def _quantized(dtype: str, encoding: str, default: str) -> KindCase:
    scale, offset = 4 / 255, 4 / 512 - 2

    def declare(name: str) -> str:
        text = (
            f"Annotated[np.ndarray, Vector((3,), dtype={dtype!r}, "
            f"encoding={encoding!r}, dequantize=({scale}, {offset}))]"
        )
        return f"{text} | None" if default == "None" else text

    def real(array: NDArray[Any]) -> NDArray[np.float32]:
        return array.astype(np.float32) * np.float32(scale) + np.float32(offset)

    def drawn(name: str, array: NDArray[Any]) -> Drawn:
        plain = _little(array)
        raw = encoding == "raw" or dtype == "uint64"
        held = blobs(plain.tobytes()) if raw else _listed(plain)
        return Drawn(array, {name: held}, {name: real(plain)})

    def missing(name: str) -> Drawn:
        nothing = np.full(3, np.nan, np.float32)
        if default != "None":
            nothing = real(np.array([1, 2, 3], dtype))
        return Drawn(None, {}, {name: nothing})

    return KindCase(
        declare,
        lambda name: _values(dtype, (3,)).map(partial(drawn, name)),
        missing=missing if default else None,
        default=default,
    )


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
    yield _tensor("float32", (), "proto")
    yield _tensor("float32", (None, None, None, 2), "raw", "shape/")
    for at, dtype in enumerate(INTEGERS):
        encoding = ("list", "raw")[at % 2]
        yield _quantized(dtype, encoding, ("", "None", "[1, 2, 3]")[at % 3])
    for encoding in ("list", "raw"):
        yield _quantized("uint8", encoding, "None")
        yield _quantized("uint8", encoding, "[1, 2, 3]")
