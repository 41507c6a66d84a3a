"""Where classes and fields stand in a file, by its syntax tree."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..findings import Location
from .docstrings import syntax_tree


@dataclass(frozen=True)
class ClassPlaces:
    """Where a class and its annotated fields stand.

    Attributes:
        location: where the class begins.
        fields: its fields by name; the last of one name counts, as in Python.
        lost: names that look like fields and are not: private ones without a value,
            and the first of several of one name.
    """

    location: Location
    fields: dict[str, Location] = field(default_factory=dict)
    lost: tuple[tuple[str, Location], ...] = ()


@dataclass(frozen=True)
class _FilePlaces:
    """What is known of a file.

    Attributes:
        classes: its classes by qualified name.
        repeated: the names that several classes at its top level bear.
        statements: for each line at which a class begins, the statements in it.
    """

    classes: dict[str, ClassPlaces] = field(default_factory=dict)
    repeated: dict[str, tuple[Location, ...]] = field(default_factory=dict)
    statements: dict[int, list[tuple[Location, ast.stmt]]] = field(default_factory=dict)


class SourceMap:
    """Finds classes and fields in files, reading each file once.

    Args:
        root: the project's directory; paths are shown relative to it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shown: dict[Path, str] = {}
        self._files: dict[Path, _FilePlaces] = {}

    def place_of_class(self, path: Path, name: str) -> ClassPlaces:
        """Return where a class stands, or the file's first line if it is not found."""
        unknown = ClassPlaces(Location(self.shown(path)))
        return self._file(path).classes.get(name, unknown)

    def repeated_classes(self, path: Path) -> dict[str, tuple[Location, ...]]:
        """Return the names that several classes of a file bear, with their places."""
        return self._file(path).repeated

    def place_of_word(self, path: Path, line: int, word: str) -> Location | None:
        """Return the first statement with a name, of the class at a line."""
        statements = self._file(path).statements.get(line, [])
        return next((at for at, item in statements if word in _words(item)), None)

    def shown(self, path: Path) -> str:
        """Return a path as it is shown: relative to the project if it is inside."""
        if path not in self._shown:
            try:
                inside = path.resolve().relative_to(self._root.resolve())
            except ValueError:
                inside = path
            self._shown[path] = inside.as_posix()
        return self._shown[path]

    def _file(self, path: Path) -> _FilePlaces:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: Path) -> _FilePlaces:
        try:
            with tokenize.open(path) as file:  # in the encoding that Python sees
                text = file.read()
            tree = syntax_tree(text)
        except (OSError, SyntaxError, ValueError):
            return _FilePlaces()
        lines = text.split("\n")
        shown = self.shown(path)

        def at(node: ast.stmt) -> Location:
            # The tree counts columns in bytes of UTF-8.
            line = lines[node.lineno - 1]
            column = len(line.encode()[: node.col_offset].decode()) + 1
            return Location(shown, node.lineno, column, line)

        classes = {}
        found = list(_classes(tree))
        for name, definition in found:
            declared = [(line, item.id, at(line)) for item, line in _fields(definition)]
            fields = {item: place for _, item, place in declared}
            lost = [
                (item, place)
                for line, item, place in declared
                if (fields[item] != place)
                or (item.startswith("_") and line.value is None)
            ]
            classes[name] = ClassPlaces(at(definition), fields, tuple(lost))
        statements = {
            node.lineno: [(at(item), item) for item in node.body] for _, node in found
        }
        named: dict[str, tuple[Location, ...]] = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                named[node.name] = (*named.get(node.name, ()), at(node))
        repeated = {name: places for name, places in named.items() if len(places) > 1}
        return _FilePlaces(classes, repeated, statements)


def _classes(parent: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield all classes below a node by their qualified names, in order."""
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


def _fields(node: ast.ClassDef) -> Iterator[tuple[ast.Name, ast.AnnAssign]]:
    """Yield the annotated names of a class with their lines, class variables left out."""
    for line in node.body:
        if (
            isinstance(line, ast.AnnAssign)
            and isinstance(line.target, ast.Name)
            and "ClassVar" not in ast.unparse(line.annotation)
        ):
            yield line.target, line


def _words(statement: ast.stmt) -> frozenset[str]:
    """Return the names that a statement uses, those in quoted types included."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(re.findall(r"\w+", node.value))
    return frozenset(found)
