"""Numbers of every dtype: single ones, arrays of a fixed shape, sequences, raw images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from stored_features import blobs, floats, ints

from ..strategies import COMPLEX, FLOATS, INTEGERS, RAW_ONLY, arrays, forms, numpy_dtype
from .case import KindCase, Value, under_one_key

DTYPES = ("bool", *INTEGERS, *FLOATS)


def stored(array: Any, *, raw: bool = False) -> tf.train.Feature:
    """Return the feature that has to hold an array."""
    if raw or array.dtype.name in RAW_ONLY:
        return blobs(array.tobytes())
    flat = array.reshape(-1).tolist()
    return floats(*flat) if array.dtype == np.float32 else ints(*map(int, flat))


@st.composite
def numbers(
    draw: st.DrawFn,
    dtype: str,
    shape: tuple[int | None, ...] = (),
    *,
    raw: bool = False,
    finite: bool = True,
    exact: bool = True,
    image: bool = False,
    longest: int = 6,
    ragged: bool = False,
) -> Value:
    """Values of a shape; its first size may be None, for sequences."""
    fixed = tuple(size or 0 for size in shape)
    if shape[:1] == (None,):
        length = draw(st.integers(0, longest) | st.just(longest))
        fixed = (length, *fixed[1:])
        if length == 0 and draw(st.booleans()):
            empty = np.empty(fixed, numpy_dtype(dtype))
            return Value([], stored(empty, raw=raw), [] if ragged else empty)
    # Python's own floats are rounded to float32; arrays are where `exact` is False.
    rounded = dtype == "float32" and not image
    if (rounded or not exact) and draw(st.booleans()):
        size = int(np.prod(fixed))
        wide = draw(st.lists(st.floats(-1e38, 1e38), min_size=size, max_size=size))
        real = np.array(wide, np.float64).reshape(fixed)
        array = real.astype(dtype)
        given: Any = real.tolist() if rounded else real
        if rounded and not exact and fixed:
            given = draw(st.sampled_from([given, real]))
        if not array.size:  # lists do not tell the sizes that come after
            given = array
    else:
        array = draw(arrays(dtype, fixed, finite=finite))
        given = draw(forms(array, lists=not image))
    delivered = array.tolist() if ragged else array[()] if not fixed else array
    return Value(given, stored(array, raw=raw), delivered)


def python_type(dtype: str) -> str:
    """Return the name of Python's type of a number."""
    return "bool" if dtype == "bool" else "float" if "float" in dtype else "int"


def _own(dtype: str) -> Any:
    """Return a number that is not the dtype's zero."""
    return True if dtype == "bool" else 7 if "int" in dtype else -0.5


def _missing(dtype: str, shape: tuple[int, ...]) -> tuple[Any, bool]:
    """Return what a missing value of a fixed shape is, and whether None has a mask."""
    is_float = "float" in dtype
    return np.full(shape, np.nan if is_float else 0, numpy_dtype(dtype)), not is_float


def _vectors() -> Iterator[KindCase]:
    shapes = ((1,), (3,), (2, 2), (2, 1, 3))
    for index, dtype in enumerate(DTYPES):
        for offset, encoding in enumerate(("list", "raw")):
            shape = shapes[(index + offset) % len(shapes)]
            kind = f"Vector({shape}, {dtype!r}, encoding={encoding!r})"
            values = numbers(dtype, shape, raw=encoding == "raw")
            yield under_one_key(f"Annotated[np.ndarray, {kind}]", values)
        kind, encoding = f"Vector((2, 2), {dtype!r})", ("list", "raw")[index % 2]
        filler, masked = _missing(dtype, (2, 2))
        plain = under_one_key(f"Annotated[Any, {kind}]", numbers(dtype, (2, 2)))
        yield plain.optional(filler, masked=masked)
        one = _own(dtype)
        kind = f"Vector((3,), {dtype!r}, encoding={encoding!r})"
        yield under_one_key(
            f"Annotated[list[{python_type(dtype)}], {kind}]",
            numbers(dtype, (3,), raw=encoding == "raw"),
        ).optional(np.full(3, one, numpy_dtype(dtype)), default=f"{[one] * 3}")
    for dtype in COMPLEX:
        plain = under_one_key(
            f"Annotated[np.ndarray, Vector((2, 2), {dtype!r})]", numbers(dtype, (2, 2))
        )
        yield plain
        yield plain.optional(np.zeros((2, 2), dtype))
    for dtype in (*FLOATS, *COMPLEX):
        kind = f"Vector((3,), {dtype!r}, finite=False)"
        values = numbers(dtype, (3,), finite=False)
        yield under_one_key(f"Annotated[np.ndarray, {kind}]", values)
    yield under_one_key(
        "Annotated[np.ndarray, Vector((2,), exact=False, role='target')]",
        numbers("float32", (2,), exact=False),
    )


def _scalars() -> Iterator[KindCase]:
    for dtype in DTYPES:
        of, values = python_type(dtype), numbers(dtype)
        plain = under_one_key(f"Annotated[{of}, Scalar({dtype!r})]", values)
        yield plain
        filler, masked = _missing(dtype, ())
        yield plain.optional(filler, masked=masked)
        yield under_one_key(
            f"Annotated[{of}, Scalar({dtype!r}, role='target')]", values
        ).optional(numpy_dtype(dtype).type(_own(dtype)), default=repr(_own(dtype)))
        if dtype in FLOATS:
            kind = f"Scalar({dtype!r}, finite=False)"
            some = numbers(dtype, finite=False)
            yield under_one_key(f"Annotated[float, {kind}]", some)
    for kind in ("unit='s'", "unit='ns', duration=True, min=-(2**62)"):
        some = numbers("int64").filter(lambda value: value.delivered >= -(2**62))
        yield under_one_key(f"Annotated[int, Scalar('int64', {kind})]", some)
    for of, dtype in (("int", "int64"), ("float", "float32"), ("bool", "bool")):
        plain = under_one_key(of, numbers(dtype, exact=of != "float"))
        filler, masked = _missing(dtype, ())
        one = _own(dtype)
        yield plain
        yield plain.optional(filler, masked=masked)
        yield plain.optional(numpy_dtype(dtype).type(one), default=repr(one))


def _sequences() -> Iterator[KindCase]:
    """As it is; limited, with a padding of its own; ragged and optional."""
    shapes: tuple[tuple[int, ...], ...] = ((), (2,), (), (2, 3), ())
    for index, dtype in enumerate(DTYPES):
        shape, zero = shapes[index % len(shapes)], False if dtype == "bool" else 0
        item = f", item_shape={shape}" if shape else ""
        yield under_one_key(
            f"Annotated[np.ndarray, VarLen({dtype!r})]",
            numbers(dtype, (None,)),
            padding=zero,
        )
        own = _own(dtype)
        more = f"max_length=4{item}, padding_value={own}"
        yield under_one_key(
            f"Annotated[np.ndarray, VarLen({dtype!r}, {more})]",
            numbers(dtype, (None, *shape), longest=4),
            padding=own,
        )
        yield under_one_key(
            f"Annotated[np.ndarray, VarLen({dtype!r}{item}, ragged=True)]",
            numbers(dtype, (None, *shape), ragged=True),
        ).optional([], default=("[]", "None")[index % 2])
        raw = under_one_key(
            f"Annotated[np.ndarray, VarLen({dtype!r}, encoding='raw'{item})]",
            numbers(dtype, (None, *shape), raw=True),
            padding=zero,
        )
        nothing = np.empty((0, *shape), numpy_dtype(dtype))
        yield raw.optional(nothing, default="[]") if index % 2 else raw
        if dtype in FLOATS:
            kind = f"VarLen({dtype!r}, finite=False)"
            some = numbers(dtype, (None,), finite=False)
            yield under_one_key(f"Annotated[np.ndarray, {kind}]", some)
    for dtype in ("int64", "uint16"):  # so many that they are encoded together
        kind, many = (
            f"VarLen({dtype!r}, role='info')",
            numbers(dtype, (None,), longest=200),
        )
        yield under_one_key(f"Annotated[np.ndarray, {kind}]", many)
    for of, dtype in (("int", "int64"), ("float", "float32"), ("bool", "bool")):
        yield under_one_key(f"list[{of}]", numbers(dtype, (None,), exact=of != "float"))
    yield under_one_key("list[int]", numbers("int64", (None,))).optional(
        np.empty(0, np.int64)
    )


def _images() -> Iterator[KindCase]:
    shapes = ((1, 1, 1), (2, 3, 1), (3, 2, 3), (4, 4, 4), (1, 5, 2))
    for index, dtype in enumerate((*INTEGERS, *FLOATS)):
        shape = shapes[index % len(shapes)]
        case = under_one_key(
            f"Annotated[np.ndarray, Image({shape}, dtype={dtype!r})]",
            numbers(dtype, shape, raw=True, image=True),
        )
        yield case
        if index % 4 == 0:
            yield case.optional(np.zeros(shape, numpy_dtype(dtype)))


def _ranges() -> Iterator[KindCase]:
    for dtype in ("uint8", "int64", "uint64"):  # a missing one is 0, which none may be
        values = numbers(dtype).filter(lambda value: value.delivered > 0)
        case = under_one_key(f"Annotated[int, Scalar({dtype!r}, min=1)]", values)
        yield case.optional(numpy_dtype(dtype).type(0), masked=True)
    for index, dtype in enumerate(FLOATS):
        encoding = ("list", "raw")[index % 2]
        kind = f"Vector((1,), {dtype!r}, {encoding!r}, max=0.5, finite=False)"
        values = numbers(dtype, (1,), raw=encoding == "raw", finite=False)
        values = values.filter(lambda value: not (value.delivered > 0.5).any())
        yield under_one_key(f"Annotated[np.ndarray, {kind}]", values)
    for dtype in ("uint16", "uint64"):
        high = np.iinfo(dtype).max
        kind = f"VarLen({dtype!r}, min=0, max={high})"
        values = numbers(dtype, (None,))
        yield under_one_key(f"Annotated[np.ndarray, {kind}]", values, padding=0)


def cases() -> Iterator[KindCase]:
    yield from _vectors()
    yield from _ranges()
    yield from _scalars()
    yield from _sequences()
    yield from _images()
