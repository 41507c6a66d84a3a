"""Literal dicts of tf.io features in Python source, which is parsed and never run."""

from __future__ import annotations

import ast
import importlib.util
import warnings
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...runtime.shared.errors import did_you_mean
from .parts import unreadable

_CHANGES = ("clear", "pop", "popitem", "setdefault", "update")
_EXPECTED = "a literal dict of tf.io features with literal arguments"


# The parameters of tf.io's classes, and the defaults of the last ones.
_FEATURES: dict[str, Any] = {
    name: namedtuple(name, parameters, defaults=defaults)
    for name, parameters, defaults in (
        ("FixedLenFeature", "shape dtype default_value", [None]),
        (
            "FixedLenSequenceFeature",
            "shape dtype allow_missing default_value",
            [False, None],
        ),
        ("VarLenFeature", "dtype", []),
        ("SparseFeature", "index_key value_key dtype size already_sorted", [False]),
        (
            "RaggedFeature",
            "dtype value_key partitions row_splits_dtype validate",
            [None, (), None, False],
        ),
    )
}
_PARTITIONS: dict[str, Any] = {
    "UniformRowLength": namedtuple("UniformRowLength", "length"),
    **{
        name: namedtuple(name, "key")
        for name in ("RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds")
    },
}
Features = dict[str, Any]
"""Named tuples of the arguments of features, by their keys."""


def literal_features(source: bytes, path: str, name: str = "") -> list[Features]:
    """Return the features of an Example, or of a SequenceExample's context and steps.

    Args:
        source: of the Python file.
        path: of the file, for errors.
        name: the name that the dict is assigned to; "" for the only dict.

    Raises:
        SchemagenError: none is found, or several; or something in it is not a literal.
    """
    try:
        return _File(source, path).features(name)
    except RecursionError:
        raise unreadable("its expressions are nested too deeply") from None


class _File:
    """Python source and its assignments."""

    def __init__(self, source: bytes, path: str) -> None:
        self._path = path
        try:
            self._text = importlib.util.decode_source(source)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about invalid escapes
                self._tree = ast.parse(self._text)
        except (SyntaxError, ValueError, MemoryError) as error:
            raise unreadable("it is not Python", found=str(error)) from None

    def features(self, name: str) -> list[Features]:
        assigned = list(self._assigned())
        dicts = [each for each in assigned if _has_features(each[1])]
        chosen = [each for each in assigned if each[0] == name] if name else dicts
        if not chosen:
            message = f"{name!r} not found" if name else "no dict of tf.io features"
            advice = did_you_mean(name, [known for known, _ in dicts])
            raise unreadable(message, expected=_EXPECTED, advice=advice)
        if len({(known, ast.dump(value)) for known, value in chosen}) > 1:
            words, expected = "one of several dicts", "FILE.py:NAME"
            raise SchemagenError(
                self._finding(value, words, printable(known), expected)
                for known, value in chosen
            )
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
            name = self._value(key or value)
            if not isinstance(name, str):
                raise self._refused(key or value)
            found[name] = self._call(value, _FEATURES)
        return found

    def _call(self, node: ast.expr, known: Features) -> Any:
        if not isinstance(node, ast.Call) or _name(node.func) not in known:
            raise self._refused(node)
        make = known[_name(node.func)]
        given = [*zip(make._fields, node.args, strict=False)]
        given += [(each.arg or "**", each.value) for each in node.keywords]
        values = {name: self._value(value, name) for name, value in given}
        if len(values) < len(node.args) + len(node.keywords):
            raise self._refused(node)
        try:
            return make(**values)
        except TypeError:
            raise self._refused(node) from None

    def _value(self, node: ast.expr, parameter: str = "") -> Any:
        """Return a literal, the name of a dtype, or partitions."""
        if isinstance(node, (ast.List, ast.Tuple)):
            if parameter == "partitions":
                return [self._call(each, _PARTITIONS) for each in node.elts]
            return [self._value(each) for each in node.elts]
        if (
            parameter.endswith("dtype")
            and isinstance(node, ast.Attribute)
            and _name(node)
        ):
            return _name(node)
        try:
            value = ast.literal_eval(node)
        except ValueError:
            raise self._refused(node) from None
        if parameter == "partitions" or not isinstance(
            value, (int, float, str, bytes, type(None))
        ):
            raise self._refused(node)
        return value

    def _refused(self, node: ast.AST, found: str = "") -> SchemagenError:
        found = found or ast.get_source_segment(self._text, node) or ""
        words = printable(" ".join(found.split())[:60])
        message = "not a literal, and the file is not run"
        advice = "package.module:NAME runs the module"
        return refuse(self._finding(node, message, words, _EXPECTED, advice))

    def _finding(
        self, node: Any, message: str, found: str, expected: str, advice: str = ""
    ) -> Finding:
        place = Location(printable(self._path), node.lineno, node.col_offset + 1)
        return Finding(
            place, "SG461", f"cannot be imported: {message}", found, expected, advice
        )


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
