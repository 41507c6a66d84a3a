"""The places of classes and fields in a file, and the strings below fields."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import FrameType

from ..findings import Location


@dataclass(frozen=True)
class ClassPlaces:
    """Where a class and its annotated fields stand.

    Attributes:
        location: where the class begins.
        fields: its annotated names; the last of one name counts, as in Python.
    """

    location: Location
    fields: dict[str, Location] = field(default_factory=dict)


class SourceMap:
    """Finds classes and fields in files, reading each file once.

    Args:
        root: the project's directory; paths are shown relative to it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._shown: dict[Path, str] = {}
        self._files: dict[Path, dict[str, ClassPlaces]] = {}

    def place_of_class(self, path: Path, name: str) -> ClassPlaces:
        """Return where a class stands, or its file if it is not found."""
        if path not in self._files:
            self._files[path] = dict(self._read(path))
        unknown = ClassPlaces(Location(self.shown(path)))
        return self._files[path].get(name, unknown)

    def shown(self, path: Path) -> str:
        """Return a path as it is shown: relative to the project if it is inside."""
        if path not in self._shown:
            whole = path.resolve()
            inside = whole.is_relative_to(self._root)
            found = whole.relative_to(self._root) if inside else path
            self._shown[path] = found.as_posix()
        return self._shown[path]

    def _read(self, path: Path) -> Iterator[tuple[str, ClassPlaces]]:
        try:
            with tokenize.open(path) as file:  # in the encoding that Python sees
                text = file.read()
        except (OSError, SyntaxError, ValueError):
            return
        lines = text.split("\n")

        def at(node: ast.stmt) -> Location:
            # The tree counts columns in bytes of UTF-8.
            line = lines[node.lineno - 1]
            column = len(line.encode()[: node.col_offset].decode()) + 1
            return Location(self.shown(path), node.lineno, column, line)

        for name, definition in class_definitions(text):
            fields = {item: at(line) for item, line in _fields(definition)}
            yield name, ClassPlaces(at(definition), fields)


@lru_cache(maxsize=1)  # a file is asked for by each of its classes, then by SourceMap
def class_definitions(text: str) -> tuple[tuple[str, ast.ClassDef], ...]:
    """Return the classes in a file's text by their qualified names, in order."""
    try:
        return tuple(_classes(ast.parse(text)))
    except (SyntaxError, ValueError):
        return ()


def _classes(parent: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.expr):  # where no class can be
            continue
        inner = prefix
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            inner = f"{prefix}{node.name}."
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = f"{prefix}{node.name}.<locals>."
        yield from _classes(node, inner)


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the annotated names of a class with their lines."""
    for line in node.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, line


def field_docstrings(cls: type) -> dict[str, str]:
    """Return the strings below the annotated names of a class that is being made.

    Pydantic can do this (`use_attribute_docstrings`), but before Python 3.13 it looks
    through all modules there are for each class: a third of what loading a hundred
    schemas takes, and more of a thousand.

    Args:
        cls: the class, as long as the statement that makes it is being run.

    Returns:
        The strings by name; empty where the source is missing or has no strings.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == cls.__module__:
            linecache.checkcache(frame.f_code.co_filename)
            lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
            for _, node in class_definitions("".join(lines)):
                if node.name == cls.__name__ and _is_at(node, frame.f_lineno):
                    return _docstrings(node)
        frame = frame.f_back
    return {}


def _is_at(node: ast.ClassDef, line: int) -> bool:
    """Tell whether a line is in the head of a class, its decorators included."""
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    return first <= line <= node.body[0].lineno


def _docstrings(definition: ast.ClassDef) -> dict[str, str]:
    found = {}
    for pair in pairwise(definition.body):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found
