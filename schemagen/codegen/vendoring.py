"""Copies of the runtime in the output directory, for projects that vendor it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from .header import with_header
from .imports import COPY, runtime_directory
from .render import RenderedFile

_SOURCE = "schemagen/runtime"

# Type checkers take types from copies, and leave finding errors to schemagen's own tests:
# what TensorFlow says of its types is incomplete. Pyright cannot be told so of a whole file.
_RULES = (
    "ArgumentType",
    "AttributeAccessIssue",
    "CallIssue",
    "GeneralTypeIssues",
    "IndexIssue",
    "MissingImports",
    "MissingModuleSource",
    "OperatorIssue",
    "OptionalMemberAccess",
    "OptionalOperand",
    "OptionalSubscript",
    "PossiblyUnboundVariable",
    "ReturnType",
)
_UNCHECKED = (
    "# mypy: ignore-errors\n"
    f"# pyright: basic, {', '.join(f'report{rule}=false' for rule in _RULES)}\n"
)


def vendored(files: Iterable[RenderedFile]) -> tuple[RenderedFile, ...]:
    """Return the modules of the runtime that generated files reach by imports.

    Args:
        files: the generated files, whose imports are relative to the output directory.
    """
    wanted: set[str] = set()
    for file in files:
        if file.path.endswith(".py") and not file.path.startswith("../"):
            parts = file.path.split("/")[:-1]
            for name in _imported(ast.parse(file.text), parts):
                if name.split(".")[0] == COPY:
                    wanted.add(name.partition(".")[2])
    return tuple(map(_copy, sorted(_reached(wanted))))


def _reached(names: set[str]) -> set[str]:
    """Return the modules behind names, and all that they import, packages included."""
    modules = _modules()
    found: set[str] = set()
    waiting = [""] if names else []
    waiting += sorted(names)
    while waiting:
        name = waiting.pop()
        if name not in modules:  # an attribute: its module is wanted too
            name = name.rpartition(".")[0]
        if name in found or name not in modules:
            continue
        found.add(name)
        waiting.append(name.rpartition(".")[0])
        waiting += _imports_of(name)
    return found


@cache
def _modules() -> dict[str, Path]:
    """Return the files of the runtime's modules and packages, by name; "" is itself."""
    root = runtime_directory()
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _imports_of(name: str) -> frozenset[str]:
    """Return the names that a module of the runtime imports from it."""
    path = _modules()[name]
    parts = name.split(".") if name else []
    package = parts if path.name == "__init__.py" else parts[:-1]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(_imported(tree, package))


def _imported(tree: ast.Module, package: list[str]) -> Iterator[str]:
    """Yield the full names that a module's relative imports bind."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and 0 < node.level <= len(package) + 1:
            base = package[: len(package) - node.level + 1]
            origin = [*base, *(node.module or "").split(".")]
            prefix = ".".join(filter(None, origin))
            yield from (".".join(filter(None, (prefix, a.name))) for a in node.names)


def _copy(name: str) -> RenderedFile:
    path = _modules()[name]
    place = path.relative_to(runtime_directory()).as_posix()
    source = f"{_SOURCE}/{place}"
    body = _UNCHECKED + path.read_text(encoding="utf-8")
    text = with_header(place, body, source, "-")
    return RenderedFile(f"{COPY}/{place}", text, source, "-")
