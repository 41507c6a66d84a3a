"""Literal dicts of tf.io features in a Python file, which is parsed and never run."""

from __future__ import annotations

import ast
import importlib.util
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...findings import Finding, Location, SchemagenError, printable, refuse
from ...runtime.shared.errors import did_you_mean
from .outcome import unreadable

Features = Mapping[str, Mapping[str, Any]]
"""The arguments of each feature and its class, as "kind", by its key."""

_LONGEST_FOUND = 60
_CHANGES = ("clear", "pop", "popitem", "setdefault", "update")

# The parameters of tf.io's classes, in order; those with "?" have a default.
_FEATURES: Mapping[str, Sequence[str]] = {
    "FixedLenFeature": ("shape", "dtype", "default_value?"),
    "FixedLenSequenceFeature": ("shape", "dtype", "allow_missing?", "default_value?"),
    "VarLenFeature": ("dtype",),
    "SparseFeature": ("index_key", "value_key", "dtype", "size", "already_sorted?"),
    "RaggedFeature": (
        *("dtype", "value_key?", "partitions?", "row_splits_dtype?", "validate?"),
    ),
}
_PARTITIONS: Mapping[str, Sequence[str]] = {
    "UniformRowLength": ("length",),
    **dict.fromkeys(("RowSplits", "RowLengths", "RowStarts", "RowLimits"), ("key",)),
    "ValueRowIds": ("key",),
}


def literal_features(path: str, name: str) -> list[Features]:
    """Return the features of an Example, or of a SequenceExample's context and steps.

    Args:
        path: the file.
        name: the name that the dict is assigned to; "" for the only one.

    Raises:
        SchemagenError: there is none, or several; or something in it is not a literal.
    """
    try:
        return _File(path).features(name)
    except RecursionError:
        raise unreadable("its expressions are nested too deeply") from None


class _File:
    """A Python file and its assignments."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._text = importlib.util.decode_source(Path(path).read_bytes())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the file's texts
                self._tree = ast.parse(self._text)
        except OSError as error:
            raise unreadable(f"it cannot be read: {error.strerror or error}") from None
        except (SyntaxError, ValueError, MemoryError) as error:
            raise unreadable("it is not Python", found=str(error)) from None

    def features(self, name: str) -> list[Features]:
        assigned = list(self._assigned())
        dicts = [each for each in assigned if _has_features(each[1])]
        chosen = [each for each in assigned if each[0] == name] if name else dicts
        if not chosen:
            raise unreadable(
                f"nothing in it is called {name!r}" if name else "nothing to import",
                expected="a dict of tf.io features that is assigned to a name",
                advice=did_you_mean(name, [known for known, _ in dicts]),
            )
        if len({(known, ast.dump(value)) for known, value in chosen}) > 1:
            raise self._several(chosen)
        ((name, value), *_) = chosen
        self._check_unchanged(name)
        if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) == 2:
            return [self._dict(each) for each in value.elts]
        return [self._dict(value)]

    def _assigned(self) -> Iterator[tuple[str, ast.expr]]:
        """Yield the names that values are assigned to, anywhere in the file."""
        for node in ast.walk(self._tree):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value

    def _several(self, chosen: list[tuple[str, ast.expr]]) -> SchemagenError:
        return SchemagenError(
            Finding(
                self._at(value),
                "SG461",
                f"it cannot be imported: one of {len(chosen)} dicts of tf.io features",
                found=printable(name),
                expected="one dict, or FILE.py:NAME and one dict of that name",
            )
            for name, value in chosen
        )

    def _check_unchanged(self, name: str) -> None:
        """Refuse a dict that the file changes after its assignment."""
        for node in ast.walk(self._tree):
            changed: ast.expr | None = None
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                changed = node.value
            elif isinstance(node, ast.AugAssign):
                changed = node.target
            elif isinstance(node, ast.Attribute) and node.attr in _CHANGES:
                changed = node.value
            if isinstance(changed, ast.Name) and changed.id == name:
                raise self._refused(changed, f"a change of {name}")

    def _dict(self, node: ast.expr) -> Features:
        if not isinstance(node, ast.Dict):
            raise self._refused(node)
        features = {}
        for key, value in zip(node.keys, node.values, strict=True):
            text = self._value(key or value)
            if not isinstance(text, str):
                raise self._refused(key or value)
            features[text] = self._call(value, _FEATURES)
        return features

    def _call(
        self, node: ast.expr, known: Mapping[str, Sequence[str]]
    ) -> dict[str, Any]:
        """Return the arguments of a call, by name, with its class as "kind"."""
        name = _name(node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or name not in known:
            raise self._refused(node)
        parameters = [each.rstrip("?") for each in known[name]]
        given = list(zip(parameters, node.args, strict=False))
        given += [(each.arg or "**", each.value) for each in node.keywords]
        required = {each for each in known[name] if not each.endswith("?")}
        passed = dict(given)
        count = len(node.args) + len(node.keywords)
        if len(passed) < count or not required <= set(passed) <= set(parameters):
            raise self._refused(node)
        return {"kind": name} | {key: self._value(passed[key], key) for key in passed}

    def _value(self, node: ast.expr, parameter: str = "") -> Any:
        """Return a literal, a dtype of tensorflow, or the partitions of ragged values."""
        if isinstance(node, (ast.List, ast.Tuple)):
            if parameter == "partitions":
                return [self._call(each, _PARTITIONS) for each in node.elts]
            return [self._value(each) for each in node.elts]
        if parameter == "partitions":
            raise self._refused(node)
        if parameter.endswith("dtype") and isinstance(node, ast.Attribute):
            if not _name(node):
                raise self._refused(node)
            return _name(node)
        try:
            value = ast.literal_eval(node)
        except ValueError:
            raise self._refused(node) from None
        if value is not None and not isinstance(value, (int, float, str, bytes)):
            raise self._refused(node)
        return value

    def _refused(self, node: ast.expr, found: str = "") -> SchemagenError:
        found = found or ast.get_source_segment(self._text, node) or ""
        return refuse(
            Finding(
                self._at(node),
                "SG461",
                "it cannot be imported: a file is read and not run",
                found=printable(" ".join(found.split())[:_LONGEST_FOUND]),
                expected="a literal dict of tf.io features with literal arguments",
                advice="package.module:NAME runs the module",
            )
        )

    def _at(self, node: ast.expr) -> Location:
        return Location(printable(self._path), node.lineno, node.col_offset + 1)


def _has_features(node: ast.expr) -> bool:
    """Return whether an expression is a dict of features, or a pair with one."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return len(node.elts) == 2 and any(map(_has_features, node.elts))
    calls = node.values if isinstance(node, ast.Dict) else []
    return any(isinstance(c, ast.Call) and _name(c.func) in _FEATURES for c in calls)


def _name(node: ast.expr) -> str:
    """Return the last part of a name of tensorflow: `VarLenFeature`, `tf.int64`."""
    *before, last = ast.unparse(node).split(".")
    known = not before or before[0] in ("tf", "tensorflow", *_FEATURES)
    return last if known else ""
