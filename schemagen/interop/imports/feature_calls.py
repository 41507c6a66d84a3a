"""Literal dicts of tf.io features in Python source, which is parsed and never run."""

from __future__ import annotations

import ast
import importlib.util
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...runtime.shared.errors import did_you_mean
from .parts import unreadable

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
    return _File(source, path).features(name)


class _File:
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
