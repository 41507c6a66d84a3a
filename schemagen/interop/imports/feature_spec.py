"""From the features with which a program parses Examples to fields."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...schema import Ragged, Steps
from ..extras import not_installed
from .literal_features import literal_features
from .parts import (
    MAYBE,
    Made,
    Part,
    Place,
    Source,
    part_of,
    places,
    read_bytes,
    unreadable,
)

_DTYPES = {"int64": "int64", "float32": "float32", "string": "bytes"}


def import_feature_spec(target: str) -> Source:
    """Read a dict of tf.io features, or a pair of them for SequenceExamples.

    Args:
        target: "file.py" or "file.py:NAME", which is parsed; or "package.module:NAME",
            which is imported.

    Raises:
        SchemagenError: it is not found, or its module needs tensorflow.
    """
    where, colon, name = target.rpartition(":")
    if target.endswith(".py"):
        found = literal_features(read_bytes(Path(target)), target)
    elif where.endswith(".py"):
        found = literal_features(read_bytes(Path(where)), where, name)
    elif colon and where and name:
        found = literal_features(_source_of(target, where), target, "SPEC")
    else:
        expected = "file.py, file.py:NAME or package.module:NAME"
        raise unreadable("it does not name a dict", target, expected)
    keys = [key for features in found for key in features]
    where_of = iter(places(keys))
    parts = [
        part_of(key, repr(feature), partial(make, feature, place))
        for features, make in zip(found, (_of_example, _of_steps), strict=False)
        for (key, feature), place in zip(features.items(), where_of, strict=False)
    ]
    message = "SequenceExample" if len(found) > 1 else "Example"
    return Source(tuple(_without_shared(parts)), message=message)


def _source_of(target: str, where: str) -> bytes:
    """Return the features of a module as the source of a literal dict.

    A Python process of its own imports the module, so that tensorflow is not loaded
    into this one.
    """
    program = Path(__file__).with_name("feature_spec_child.py").read_text("utf-8")
    with TemporaryDirectory() as directory:
        out = Path(directory) / "features.json"
        done = subprocess.run(
            [sys.executable, "-c", program, target, str(out)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )
        try:
            answer: dict[str, str] = json.loads(out.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            last = done.stderr.strip().rpartition("\n")[2]
            answer = {"failed": last or f"exit code {done.returncode}"}
    if answer.get("missing") == "tensorflow":
        raise not_installed("tensorflow", f"importing {where}")
    if "failed" in answer:
        raise unreadable(f"importing {where} failed", answer["failed"])
    return f"SPEC = {answer['source']}\n".encode()


def _without_shared(parts: list[Part]) -> Iterator[Part]:
    """Refuse a feature that reads a key which another feature has read before."""
    owners: dict[str, str] = {}
    for part in parts:
        keys = {each.key for field in part.fields for each in field.parts}
        shared = sorted(keys & owners.keys())
        if shared:
            found = f"the key {shared[0]!r} is that of {owners[shared[0]]!r} too"
            yield Part(part.name, (), found, "cannot be imported: a shared key")
        else:
            owners.update(dict.fromkeys(keys, part.name))
            yield part


def _of_example(feature: Any, place: Place) -> Made:
    """Return what a feature of an Example, or of a context, becomes."""
    dtype = _DTYPES[feature.dtype]
    empty = replace(place, optional=True, default=())
    match type(feature).__name__:
        case "FixedLenFeature":
            return _fixed(feature, dtype, place)
        case "VarLenFeature":
            return _listed(dtype, empty)
        case "FixedLenSequenceFeature" if feature.allow_missing:
            given = {}
            if feature.default_value is not None:
                given = {"padding_value": _default(feature.default_value, dtype, ())}
            return _listed(dtype, empty, _sizes(feature.shape), **given)
        case "RaggedFeature":
            return _ragged(feature, dtype, replace(empty, key=_key(feature, place)))
        case "SparseFeature":
            return _sparse(feature, dtype, replace(empty, key=_key(feature, place)))
    raise ValueError("tf.io does not parse it either")


def _of_steps(feature: Any, place: Place) -> Made:
    """Return what a feature of each step of a SequenceExample becomes."""
    if type(feature).__name__ != "FixedLenSequenceFeature":
        raise ValueError("the values of all steps need one size")
    dtype, shape = _DTYPES[feature.dtype], _sizes(feature.shape)
    if dtype == "bytes" and prod(shape) == 1:
        shape = ()
    step = place.array(dtype, shape).kind
    if feature.allow_missing:
        place = replace(place, optional=True, default=())
    field = place.field(Steps, step=replace(step, key=None, role=None))
    return (field,), MAYBE if dtype == "bytes" else ""


def _sizes(given: Any) -> tuple[int, ...]:
    """Return one or several sizes as a tuple."""
    sizes = given if isinstance(given, (list, tuple)) else [given]
    if not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError("its size is not fixed")
    return tuple(sizes)


def _key(feature: Any, place: Place) -> str:
    return str(feature.value_key or place.key)


def _default(value: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """Return a default in a shape; a single value stands for all."""
    flat = np.array(value, object).ravel().tolist()
    if dtype == "float32":
        flat = [float(each) for each in flat]
    if dtype == "bytes":
        flat = [each.encode() if isinstance(each, str) else each for each in flat]
    full = flat * prod(shape) if len(flat) == 1 else flat
    return _nested(np.array(full, object).reshape(shape).tolist())


def _nested(value: Any) -> Any:
    return tuple(map(_nested, value)) if isinstance(value, list) else value


def _fixed(feature: Any, dtype: str, place: Place) -> Made:
    shape = _sizes(feature.shape)
    size, opaque = prod(shape), dtype == "bytes"
    if opaque and size == 1:
        shape = ()
    if feature.default_value is not None:
        default = (
            () if opaque and shape else _default(feature.default_value, dtype, shape)
        )
        place = replace(place, optional=True, default=default)
    if not opaque or not shape:
        return (place.array(dtype, shape),), MAYBE if opaque else ""
    remark = f"always {size} values, of shape {shape}; {MAYBE}"
    return (place.array(dtype, (None,), max_length=size),), remark


def _listed(
    dtype: str, place: Place, items: tuple[int, ...] = (), **facts: Any
) -> Made:
    field = place.array(dtype, (None, *items), **facts)
    if dtype != "bytes":
        return (field,), ""
    return (field,), f"flat: reshape{(-1, *items)}; {MAYBE}" if items else MAYBE


def _ragged(feature: Any, dtype: str, place: Place) -> Made:
    match [(type(each).__name__, *each) for each in feature.partitions]:
        case []:
            return _listed(dtype, place, ragged=dtype != "bytes")
        case [("UniformRowLength", length)]:
            return _listed(dtype, place, _sizes(length))
        case [("RowLengths", str(key))]:
            return (place.field(Ragged, dtype=dtype, row_lengths_key=key),), ""
        case partitions:
            words = ", ".join(f"{kind}({given!r})" for kind, given in partitions)
            keys = {f"_partition_{n}": g for n, (_, g) in enumerate(partitions)}
            remark = f"all values; its rows, from the outermost: {words}"
            return _split(dtype, place, keys, remark)


def _sparse(feature: Any, dtype: str, place: Place) -> Made:
    index, shape = feature.index_key, _sizes(feature.size)
    keys = tuple(index) if isinstance(index, (list, tuple)) else (index,)
    if dtype != "bytes":
        place = replace(place, default=None)
        return (place.sparse(dtype, shape, keys),), ""
    remark = f"values of a sparse tensor of shape {shape}, and their indices"
    indices = {f"_index_{number}": key for number, key in enumerate(keys)}
    return _split(dtype, place, indices, remark)


def _split(dtype: str, place: Place, keys: dict[str, Any], remark: str) -> Made:
    """Return the values, and a list of integers for each further key."""
    more = [
        place.at(suffix, key).array("int64", (None,), role="info")
        for suffix, key in keys.items()
        if isinstance(key, str)
    ]
    return (place.array(dtype, (None,)), *more), remark
