"""From the features with which a program parses Examples to fields.

Literal dicts of tf.io features in Python source are parsed and never run.
"""

from __future__ import annotations

import ast
import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import signature
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...runtime.kinds.lists import VarLen
from ...runtime.kinds.ragged import Ragged
from ...runtime.kinds.sparse import Sparse
from ...runtime.kinds.steps import Steps
from ...runtime.shared.errors import did_you_mean
from ...schema.declaration import as_tuple
from .parts import (
    MAYBE,
    FieldPlace,
    ImportedRecord,
    Made,
    imported_field,
    joined,
    places,
    read_bytes,
    unreadable,
)

_FEATURES = (
    *("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature"),
    *("RaggedFeature", "SparseFeature"),
)
_PARTITIONS = (
    *("RowLengths", "RowLimits", "RowSplits", "RowStarts"),
    *("UniformRowLength", "ValueRowIds"),
)
_CHANGES = ("clear", "pop", "popitem", "setdefault", "update")
_EXPECTED = "a literal dict of tf.io features with literal arguments"


@dataclass(frozen=True)
class Call:
    """A call of a class of tf.io, with literal arguments.

    Attributes:
        name: of the class.
        source: the call in Python.
        positional: the arguments without a name.
        keywords: the arguments with a name.
    """

    name: str
    source: str
    positional: tuple[Any, ...]
    keywords: Mapping[str, Any]


Features = dict[str, Call]
"""The features of an Example, by their keys."""


def feature_calls(source: bytes, path: str, name: str = "") -> list[Features]:
    """Return the features of an Example, or of a SequenceExample's context and steps.

    Args:
        source: of the Python file.
        path: of the file, for errors.
        name: the name that the dict is assigned to; "" for the only dict.

    Raises:
        SchemagenError: none is found, or several; or something in it is not a literal.
    """
    return _SourceFile(source, path).features(name)


class _SourceFile:
    """Python source and its assignments."""

    def __init__(self, source: bytes, path: str) -> None:
        self._path = path
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about invalid escapes
                self._tree = ast.parse(importlib.util.decode_source(source))
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise unreadable(path, "it is not Python", str(error)) from None

    def features(self, name: str) -> list[Features]:
        assigned = list(self._assigned())
        dicts = [each for each in assigned if _has_features(each[1])]
        chosen = [each for each in assigned if each[0] == name] if name else dicts
        if not chosen:
            message = f"{name!r} not found" if name else "no dict of tf.io features"
            advice = did_you_mean(name, [known for known, _ in dicts])
            raise unreadable(self._path, message, "", _EXPECTED, advice)
        if len({(known, ast.dump(value)) for known, value in chosen}) > 1:
            names = ", ".join(known for known, _ in chosen)
            raise unreadable(self._path, "several dicts", names, "FILE.py:NAME")
        ((name, value), *_) = chosen
        for node in ast.walk(self._tree):
            if name == _changed(node):
                raise self._refused(node, f"a change of {name}")
        if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 2:
            return [self._dict(each) for each in value.elts]
        return [self._dict(value)]

    def _assigned(self) -> Iterator[tuple[str, ast.expr]]:
        """Yield the names that values are assigned to, anywhere in the source."""
        for node in ast.walk(self._tree):
            match node:
                case ast.Assign(targets=targets, value=ast.expr() as value):
                    names = [each for each in targets if isinstance(each, ast.Name)]
                    yield from ((each.id, value) for each in names)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    yield name, value

    def _dict(self, node: ast.expr) -> Features:
        if not isinstance(node, ast.Dict):
            raise self._refused(node)
        found = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name, call = self._value(key or value), self._value(value)
            if not isinstance(name, str):
                raise self._refused(key or value)
            if not isinstance(call, Call):
                raise self._refused(value)
            found[name] = call
        return found

    def _value(self, node: ast.expr) -> Any:
        """Return the value of a literal, the name of a dtype, or a call of tf.io."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(each) for each in items]
            case ast.Attribute() if _name(node):
                return _name(node)
            case ast.Call() if _name(node.func) in (*_FEATURES, *_PARTITIONS):
                return Call(
                    _name(node.func),
                    ast.unparse(node),
                    tuple(self._value(each) for each in node.args),
                    {
                        each.arg or "**": self._value(each.value)
                        for each in node.keywords
                    },
                )
        try:
            return ast.literal_eval(node)
        except ValueError:
            raise self._refused(node) from None

    def _refused(self, node: Any, found: str = "") -> SchemagenError:
        place = Location(printable(self._path), node.lineno, node.col_offset + 1)
        words = "cannot be imported: not a literal, and the file is not run"
        found = printable((found or ast.unparse(node))[:60])
        advice = "write the dict out; repr() of a dict of features is a literal"
        return refuse(Finding(place, "SG461", words, found, _EXPECTED, advice))


def _changed(node: ast.AST) -> str:
    """Return the name of the dict that a statement changes after its assignment."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return name
        case ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return name if attribute in _CHANGES else ""
    return ""


def _has_features(node: ast.expr) -> bool:
    """Tell whether an expression is a dict of features, or a pair with one."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return len(node.elts) == 2 and any(map(_has_features, node.elts))
    calls = node.values if isinstance(node, ast.Dict) else []
    return any(isinstance(c, ast.Call) and _name(c.func) in _FEATURES for c in calls)


def _name(node: ast.expr) -> str:
    """Return the last part of a name of tensorflow: `VarLenFeature`, `tf.int64`."""
    *before, last = ast.unparse(node).split(".")
    known = not before or before[0] in ("tf", "tensorflow", *_FEATURES)
    return last if known else ""


_DTYPES = {"int64": "int64", "float32": "float32", "string": "bytes"}


def import_feature_spec(target: str) -> ImportedRecord:
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
        imported_field(key, call.source, partial(_made, call, place, makers))
        for features, makers in zip(found, (_OF_EXAMPLE, _OF_STEPS), strict=False)
        for (key, call), place in zip(features.items(), here, strict=False)
    ]
    return ImportedRecord(
        tuple(parts), message="SequenceExample" if len(found) > 1 else "Example"
    )


def _made(call: Call, place: FieldPlace, makers: _Makers) -> Made:
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
    place: FieldPlace, /, shape: Any, dtype: str, default_value: Any = None
) -> Made:
    sizes = _shape(shape, dtype)
    if default_value is not None:
        default = _default(default_value, dtype, sizes)
        place = replace(place, optional=True, default=default)
    return place.values(_DTYPES[dtype], sizes)


def _var_len(place: FieldPlace, /, dtype: str) -> Made:
    return _maybe_empty(place).values(_DTYPES[dtype], (None,))


def _fixed_len_sequence(
    place: FieldPlace,
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
    place: FieldPlace,
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
    place: FieldPlace,
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
    place: FieldPlace,
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


def _in_steps(make: Callable[..., Made]) -> Callable[..., Made]:
    """Return a function of lists in each step, given that of one list."""

    @wraps(make)
    def made(place: FieldPlace, /, *positional: Any, **keywords: Any) -> Made:
        field, remark = make(place, *positional, **keywords)
        kind = field.kind
        if not isinstance(kind, VarLen):
            raise ValueError("partitions in a feature list")
        here = replace(_maybe_empty(place), key=str(kind.key))
        return here.field(Steps, step=VarLen(kind.dtype), ragged=kind.ragged), remark

    return made


_Makers = Mapping[str, Callable[..., Made]]
_OF_EXAMPLE: _Makers = {
    "FixedLenFeature": _fixed_len,
    "VarLenFeature": _var_len,
    "FixedLenSequenceFeature": _fixed_len_sequence,
    "RaggedFeature": _ragged,
    "SparseFeature": _sparse,
}
_OF_STEPS: _Makers = {
    "FixedLenSequenceFeature": _steps,
    "RaggedFeature": _in_steps(_ragged),
    "VarLenFeature": _in_steps(_var_len),
}


def _maybe_empty(place: FieldPlace) -> FieldPlace:
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
