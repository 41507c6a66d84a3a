"""Where classes and fields stand in a file, by its syntax tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

from ..findings import Location


@dataclass(frozen=True)
class ClassPlaces:
    """Where a class and its annotated fields stand."""

    location: Location
    fields: dict[str, Location] = field(default_factory=dict)


class SourceMap:
    """Finds classes and fields in files, reading each file once.

    Args:
        root: the project's directory; paths are shown relative to it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[Path, dict[str, ClassPlaces]] = {}

    def place_of_class(self, path: Path, name: str) -> ClassPlaces:
        """Return where a class stands, or the file's first line if it is not found."""
        if path not in self._files:
            self._files[path] = self._read(path)
        unknown = ClassPlaces(Location(self.shown(path)))
        return self._files[path].get(name, unknown)

    def shown(self, path: Path) -> str:
        """Return a path as it is shown: relative to the project if it is inside."""
        try:
            return path.resolve().relative_to(self._root.resolve()).as_posix()
        except ValueError:
            return path.as_posix()

    def _read(self, path: Path) -> dict[str, ClassPlaces]:
        try:
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
        except (OSError, SyntaxError, ValueError):
            return {}
        lines = text.splitlines()
        shown = self.shown(path)

        def at(node: ast.stmt) -> Location:
            # The tree counts columns in bytes of UTF-8.
            line = lines[node.lineno - 1]
            column = len(line.encode()[: node.col_offset].decode()) + 1
            return Location(shown, node.lineno, column, line)

        return {
            node.name: ClassPlaces(
                at(node),
                {
                    statement.target.id: at(statement)
                    for statement in node.body
                    if isinstance(statement, ast.AnnAssign)
                    and isinstance(statement.target, ast.Name)
                },
            )
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        }
