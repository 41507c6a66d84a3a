"""From the features with which a program parses Examples to fields.

The parameters of the functions here are those of the classes of tf.io.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...schema import Ragged, Sparse, Steps
from ...schema.declaration import as_tuple
from .feature_calls import Call, feature_calls
from .parts import (
    MAYBE,
    Made,
    Place,
    Source,
    joined,
    part_of,
    places,
    read_bytes,
    unreadable,
)

_DTYPES = {"int64": "int64", "float32": "float32", "string": "bytes"}


def import_feature_spec(target: str) -> Source:
    """Read a dict of tf.io features, or a pair of them for SequenceExamples.

    Args:
        target: "file.py" or "file.py:NAME", which is parsed.

    Raises:
        SchemagenError: it is not found, or is not a literal.
    """
    path, name = target, ""
    if not target.endswith(".py"):
        path, _, name = target.rpartition(":")
    if not path.endswith(".py"):
        expected = "file.py or file.py:NAME"
        raise unreadable(target, "it does not name a Python file", expected=expected)
    found = feature_calls(read_bytes(Path(path)), path, name)
    here = places(key for features in found for key in features)
    parts = [
        part_of(key, call.source, partial(_made, call, place, makers))
        for features, makers in zip(found, (_OF_EXAMPLE, _OF_STEPS), strict=False)
        for (key, call), place in zip(features.items(), here, strict=False)
    ]
    return Source(
        tuple(parts), message="SequenceExample" if len(found) > 1 else "Example"
    )


def _made(call: Call, place: Place, makers: _Makers) -> Made:
    """Return what a feature becomes."""
    if call.name not in makers:
        raise ValueError(f"{call.name} of the values of each step")
    make = makers[call.name]
    given = signature(make).bind(place, *call.positional, **call.keywords)
    field, remark = make(*given.args, **given.kwargs)
    if given.arguments["dtype"] == "string":
        remark = joined(remark, MAYBE)
    return field, remark


def _fixed_len(
    place: Place, /, shape: Any, dtype: str, default_value: Any = None
) -> Made:
    sizes = _shape(shape, dtype)
    if default_value is not None:
        default = _default(default_value, dtype, sizes)
        place = replace(place, optional=True, default=default)
    return place.values(_DTYPES[dtype], sizes)


def _var_len(place: Place, /, dtype: str) -> Made:
    return _maybe_empty(place).values(_DTYPES[dtype], (None,))


def _fixed_len_sequence(
    place: Place,
    /,
    shape: Any,
    dtype: str,
    allow_missing: bool = False,
    default_value: Any = None,
) -> Made:
    if not allow_missing:
        raise ValueError("tf.io.parse_example requires allow_missing=True")
    facts = {}
    if default_value is not None:
        facts["padding_value"] = _default(default_value, dtype, ())
    sizes = (None, *_sizes(shape))
    return _maybe_empty(place).values(_DTYPES[dtype], sizes, **facts)


def _ragged(
    place: Place,
    /,
    dtype: str,
    value_key: str | None = None,
    partitions: Sequence[Call] = (),
    row_splits_dtype: str = "int32",
    validate: bool = False,
) -> Made:
    place = replace(_maybe_empty(place), key=value_key or place.key)
    if not partitions:
        ragged = dtype != "string"
        return place.values(_DTYPES[dtype], (None,), ragged=ragged)
    if [each.name for each in partitions] != ["RowLengths"]:
        raise ValueError("partitions other than one RowLengths")
    (key,) = (*partitions[0].positional, *partitions[0].keywords.values())
    return place.field(Ragged, dtype=_DTYPES[dtype], row_lengths_key=key), ""


def _sparse(
    place: Place,
    /,
    index_key: str | Sequence[str],
    value_key: str,
    dtype: str,
    size: Any,
    already_sorted: bool = False,
) -> Made:
    place = replace(place, key=value_key, optional=True)
    keys = (index_key,) if isinstance(index_key, str) else tuple(index_key)
    facts = {"dtype": _DTYPES[dtype], "shape": _sizes(size), "index_key": keys}
    return place.field(Sparse, **facts), ""


def _steps(
    place: Place,
    /,
    shape: Any,
    dtype: str,
    allow_missing: bool = False,
    default_value: Any = None,
) -> Made:
    """Return what a feature of each step of a SequenceExample becomes."""
    sizes = _shape(shape, dtype)
    step, remark = place.values(_DTYPES[dtype], sizes)
    if allow_missing:
        place = _maybe_empty(place)
    return place.field(Steps, step=replace(step.kind, key=None, role=None)), remark


_Makers = Mapping[str, Callable[..., Made]]
_OF_EXAMPLE: _Makers = {
    "FixedLenFeature": _fixed_len,
    "VarLenFeature": _var_len,
    "FixedLenSequenceFeature": _fixed_len_sequence,
    "RaggedFeature": _ragged,
    "SparseFeature": _sparse,
}
_OF_STEPS: _Makers = {"FixedLenSequenceFeature": _steps}


def _maybe_empty(place: Place) -> Place:
    return replace(place, optional=True, default=())


def _sizes(given: Any) -> tuple[int, ...]:
    """Return one or several sizes as a tuple."""
    sizes = given if isinstance(given, list) else [given]
    if not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError("its size is not fixed")
    return tuple(sizes)


def _shape(given: Any, dtype: str) -> tuple[int, ...]:
    """Return a shape, which one string has not."""
    sizes = _sizes(given)
    return () if dtype == "string" and prod(sizes) == 1 else sizes


def _default(value: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return a default in a shape; a single value stands for all."""
    given = value.encode() if isinstance(value, str) else value
    values = np.full(shape, given, float if dtype == "float32" else object)
    return as_tuple(values.tolist())
