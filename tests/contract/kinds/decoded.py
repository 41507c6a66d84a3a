"""Opaque bytes that a function decodes: here, files of numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from stored_features import blobs

from contract.decoders import saved

from .case import KindCase, Value, under_one_key

_SIZES = st.integers(0, 3)


def _values(dtype: str, *sizes: int | None) -> st.SearchStrategy[Value]:
    shapes = st.tuples(*(_SIZES if n is None else st.just(n) for n in sizes))
    found = shapes.flatmap(lambda shape: arrays.arrays(dtype, shape))
    return found.map(_value)


def _value(array: Any) -> Value:
    data = saved(array)
    return Value(data, blobs(data), array)


def _declared(dtype: str, shape: str, more: str = "") -> str:
    named = "decoder='contract.decoders:load'"
    return (
        f"Annotated[bytes, Scalar('bytes', {named}, shape={shape}, "
        f"decoded_dtype={dtype!r}{more})]"
    )


def cases() -> Iterator[KindCase]:
    yield under_one_key(_declared("uint8", "(2, 3)"), _values("uint8", 2, 3))
    yield under_one_key(_declared("float32", "()"), _values("float32"))
    yield under_one_key(
        _declared("int16", "(None, 2)"), _values("int16", None, 2), padding=0
    )
    yield under_one_key(
        _declared("bool", "(2, None, None)"),
        _values("bool", 2, None, None),
        padding=False,
    )
    yield under_one_key(_declared("uint8", "(2, 3)"), _values("uint8", 2, 3)).optional(
        np.zeros((2, 3), np.uint8)
    )
    yield under_one_key(
        _declared("float64", "(None,)"), _values("float64", None)
    ).optional(np.zeros(0))
    info = _declared("uint16", "(2,)", ", role='info'")
    yield under_one_key(info, _values("uint16", 2))
