"""The docstrings of fields: strings that stand below them in the source of a class."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from types import FrameType

_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def field_docstrings(cls: type) -> dict[str, str]:
    """Return the strings below the annotated names of a class that is being made.

    Pydantic can do this (`use_attribute_docstrings`), but before Python 3.13 it looks
    through all modules there are for each class: a third of what loading a hundred
    schemas takes, and more of a thousand.

    Args:
        cls: the class, as long as the statement that makes it is being run.

    Returns:
        The strings by name; none where there is no source, or none that says this.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == cls.__module__:
            definition = _definition(frame, cls.__name__)
            if definition is not None:
                return dict(_docstrings(definition))
        frame = frame.f_back
    return {}


@lru_cache(maxsize=1)  # a file is asked for by each of its classes, then by SourceMap
def syntax_tree(text: str) -> ast.Module:
    """Return the syntax tree of a file's text, which no one may change.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it has a null byte.
    """
    return ast.parse(text)


def _definition(frame: FrameType, name: str) -> ast.ClassDef | None:
    """Return the class statement of this name that a frame is at."""
    path = frame.f_code.co_filename
    linecache.checkcache(path)
    try:
        tree = syntax_tree("".join(linecache.getlines(path, frame.f_globals)))
    except (SyntaxError, ValueError):
        return None
    return next(
        (
            node
            for node in _statements(tree)
            if isinstance(node, ast.ClassDef)
            and node.name == name
            and _first_line(node) <= frame.f_lineno <= node.body[0].lineno
        ),
        None,
    )


def _first_line(node: ast.ClassDef) -> int:
    return min([node.lineno, *(item.lineno for item in node.decorator_list)])


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node, each before those inside it."""
    for node in ast.iter_child_nodes(parent):
        if not isinstance(node, ast.expr):
            yield node
            yield from _statements(node)


def _docstrings(parent: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield names and the strings next to them, in a class and the blocks in it."""
    for _, block in ast.iter_fields(parent):
        for node, below in pairwise([*block, None] if isinstance(block, list) else ()):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                if isinstance(below, ast.Expr) and isinstance(
                    below.value, ast.Constant
                ):
                    text = below.value.value
                    if isinstance(text, str):
                        yield node.target.id, inspect.cleandoc(text)
            elif not isinstance(node, (ast.expr, *_DEFINITIONS)):
                yield from _docstrings(node)
