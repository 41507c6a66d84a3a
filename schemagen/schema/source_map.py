"""Where classes and fields stand in a file, by its syntax tree."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..findings import Location


@dataclass(frozen=True)
class ClassPlaces:
    """Where a class and its annotated fields stand.

    Attributes:
        name: the qualified name of the class.
        location: where the class begins.
        declared: its annotated names in order, class variables left out.
        private: those that pydantic ignores: with `_` first, and without a value.
    """

    name: str
    location: Location
    declared: tuple[tuple[str, Location], ...] = ()
    private: frozenset[str] = frozenset()

    @property
    def fields(self) -> dict[str, Location]:
        """Its fields by name; the last of one name counts, as in Python."""
        return dict(self.declared)

    @property
    def lost(self) -> tuple[tuple[str, Location], ...]:
        """What looks like a field and is not one: a private or a repeated name."""
        last = self.fields
        return tuple(
            (name, place)
            for name, place in self.declared
            if name in self.private or last[name] != place
        )


class SourceMap:
    """Finds classes and fields in files, reading each file once.

    Args:
        root: the project's directory; paths are shown relative to it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._shown: dict[Path, str] = {}
        self._files: dict[Path, dict[str, list[ClassPlaces]]] = {}

    def place_of_class(self, path: Path, name: str) -> ClassPlaces:
        """Return where a class stands, or the file's first line if it is not found."""
        unknown = ClassPlaces(name, Location(self.shown(path)))
        return self._classes_of(path).get(name, [unknown])[-1]

    def repeated_classes(self, path: Path) -> Iterator[tuple[ClassPlaces, ...]]:
        """Yield the classes at the top level of a file that have one name."""
        for places in self._classes_of(path).values():
            top = tuple(each for each in places if each.location.column == 1)
            if len(top) > 1:
                yield top

    def shown(self, path: Path) -> str:
        """Return a path as it is shown: relative to the project if it is inside."""
        if path not in self._shown:
            whole = path.resolve()
            inside = whole.is_relative_to(self._root)
            found = whole.relative_to(self._root) if inside else path
            self._shown[path] = found.as_posix()
        return self._shown[path]

    def _classes_of(self, path: Path) -> dict[str, list[ClassPlaces]]:
        if path not in self._files:
            self._files[path] = {}
            for each in self._read(path):
                self._files[path].setdefault(each.name, []).append(each)
        return self._files[path]

    def _read(self, path: Path) -> Iterator[ClassPlaces]:
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
            found = [*_fields(definition)]
            declared = tuple((item, at(line)) for item, line in found)
            private = [n for n, line in found if n[0] == "_" and line.value is None]
            yield ClassPlaces(name, at(definition), declared, frozenset(private))


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


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    """Yield the annotated names of a class with their lines, class variables left out."""
    for line in node.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                if "ClassVar" not in ast.unparse(annotation):
                    yield name, line
