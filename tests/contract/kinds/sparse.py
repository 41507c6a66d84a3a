"""Sparse tensors: values under one key, indices under one for each dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from stored_features import floats, ints

from .case import Drawn, KindCase

# Some values of each dtype, its extremes among them.
_EXTREMES = {
    "float32": [0.0, -1.5, 0.1, 3.4028234663852886e38],
    "int64": [0, -(2**63), 2**63 - 1],
    "int8": [-128, 127],
    "uint32": [0, 2**32 - 1],
    "bool": [True, False],
}


def _keys(name: str, rank: int) -> list[str]:
    return [f"index{axis}/{name}" for axis in range(rank)]


def _declared(name: str, shape: tuple[int, ...], dtype: str, more: str) -> str:
    keys = _keys(name, len(shape))
    index_key = repr(keys[0] if len(keys) == 1 else tuple(keys))
    dtype = "" if dtype == "float32" else f", dtype={dtype!r}"
    return f"Sparse(shape={shape}, index_key={index_key}{dtype}{more})"


def _drawn(
    shape: tuple[int, ...], dtype: str, *, as_dict: bool
) -> Callable[[str], st.SearchStrategy[Drawn]]:
    def store(values: list[Any]) -> tf.train.Feature:
        return floats(*values) if dtype == "float32" else ints(*map(int, values))

    def draw(name: str) -> st.SearchStrategy[Drawn]:
        def make(places: dict[int, Any]) -> Drawn:
            flat = np.array(list(places), np.int64)
            indices = np.stack(np.unravel_index(flat, shape), axis=-1)
            numbers = list(places.values())
            values = np.array(numbers, dtype)
            tensor = np.zeros(prod(shape), dtype)
            tensor[flat] = values
            stored = {
                key: ints(*indices[:, axis].tolist())
                for axis, key in enumerate(_keys(name, len(shape)))
            }
            listed = indices[:, 0].tolist() if len(shape) == 1 else map(tuple, indices)
            given: Any = dict(zip(listed, numbers, strict=True))
            if not as_dict:
                given = (indices if len(shape) > 1 else indices[:, 0], values)
            return Drawn(
                given,
                {name: store(values.tolist()), **stored},
                {name: tensor.reshape(shape)},
            )

        places = st.integers(0, prod(shape) - 1)
        return st.dictionaries(
            places, st.sampled_from(_EXTREMES[dtype]), max_size=4
        ).map(make)

    return draw


def cases() -> Iterator[KindCase]:
    for shape, dtype, more, as_dict in (
        ((50,), "float32", "", False),
        ((1,), "int64", "", True),
        ((4, 3, 2), "float32", "", True),
        ((7, 5), "int8", ", dense=True", False),
        ((30,), "uint32", ", exact=True", False),
        ((2, 9), "bool", ", dense=True, role='info'", True),
    ):
        yield KindCase(
            lambda name, shape=shape, dtype=dtype, more=more, as_dict=as_dict: (
                f"Annotated[{'dict' if as_dict else 'tuple'}[Any, Any], "
                f"{_declared(name, shape, dtype, more)}]"
            ),
            _drawn(shape, dtype, as_dict=as_dict),
        )
    yield KindCase(
        lambda name: (
            "Annotated[tuple[Any, Any], "
            f"{_declared(name, (6, 6), 'float32', ', finite=True')}]"
        ),
        _drawn((6, 6), "float32", as_dict=False),
    ).optional(np.zeros((6, 6), np.float32))
