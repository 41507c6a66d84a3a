"""The docstrings of fields: strings that stand below them in the source of a class."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from itertools import pairwise
from types import FrameType

from .source_map import class_definitions


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
