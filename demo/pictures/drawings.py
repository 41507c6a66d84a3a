"""Drawings as SVG: a program by hand and with schemagen, and the flow of a record."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String
from schemagen import describe
from schemagen.spec.words import delivers_or_missing

THEMES: Mapping[str, Mapping[str, str]] = {
    "light": {
        "card": "#f6f8fa",
        "line": "#d0d7de",
        "text": "#1f2328",
        "muted": "#59636e",
        "blue": "#0969da",
        "green": "#1a7f37",
        "orange": "#bc4c00",
        "purple": "#8250df",
    },
    "dark": {
        "card": "#151b23",
        "line": "#3d444d",
        "text": "#f0f6fc",
        "muted": "#9198a1",
        "blue": "#4493f8",
        "green": "#3fb950",
        "orange": "#f0883e",
        "purple": "#ab7df8",
    },
}
"""Colors by their use, for light and for dark pages."""

_BLOCK = re.compile(r"```python\n# (\S+)\n(.*?)```", re.DOTALL)

# The number of records and the name of each split that the README writes.
_WRITTEN = re.compile(r'range\((\d+)\)\), "data", "(\w+)"')

# The parts of by_hand.py: the function or name that each begins with, and its color.
_PARTS = {
    "_bytes_feature": ("serializer", "blue"),
    "FEATURES": ("parser", "green"),
    "make_dataset": ("pipeline", "orange"),
    "build_model": ("model", "purple"),
}

_FIELDS = ("photo", "note", "measurements", "breed", "age_years")

_TOKENS = {
    Comment: "muted",
    String: "green",
    Number: "orange",
    Keyword: "purple",
    Name.Class: "blue",
    Name.Function: "blue",
}


@dataclass(frozen=True)
class Part:
    """A part of a program.

    Attributes:
        title: what it is.
        color: its name in a theme.
        first: its first line, counted from 0.
        lines: each line as (indentation, length without it).
        code_lines: how many lines are not empty.
        fields: how many fields of the record it names.
    """

    title: str
    color: str
    first: int
    lines: tuple[tuple[int, int], ...]
    code_lines: int
    fields: int


def comparison(page: str, theme: str) -> str:
    """Draw both programs of `docs/comparison.md`: one as its outline, one as text.

    Args:
        page: the text of the page.
        theme: a key of `THEMES`.
    """
    code = dict(_BLOCK.findall(page))
    by_hand = code["by_hand.py"].rstrip("\n").splitlines()
    starts = {
        name: node.lineno - 1
        for node in ast.parse("\n".join(by_hand)).body
        for name in _PARTS
        if name in _defined(node)
    }
    end = next(i for i, line in enumerate(by_hand) if line.startswith("if __name__"))
    bounds = pairwise([*starts.values(), end])
    parts = [
        _part(by_hand, first, last, *_PARTS[name])
        for name, (first, last) in zip(starts, bounds, strict=True)
    ]
    fields = code["schemas/pet_photo.py"].partition('"""\n\n')[2].rstrip("\n")
    program = code["with_schemagen.py"].strip("\n").splitlines()
    return _render(
        "comparison.svg.jinja",
        theme,
        parts=parts,
        outside=[
            _part(by_hand, 0, min(starts.values()), "imports", "muted"),
            _part(by_hand, end, len(by_hand), "program", "muted"),
        ],
        lines=sum(bool(line.strip()) for line in by_hand),
        schema=[
            _colored(line) for line in ["class PetPhoto(Record):", *fields.splitlines()]
        ],
        program=[_colored(line) for line in program],
        program_lines=sum(bool(line.strip()) for line in program),
    )


def _defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _part(lines: list[str], first: int, last: int, title: str, color: str) -> Part:
    shapes = [(len(line) - len(line.lstrip()), len(line.strip())) for line in lines]
    found = tuple(shapes[first:last])
    text = "\n".join(lines[first:last])
    return Part(
        title,
        color,
        first,
        found,
        code_lines=sum(length > 0 for _, length in found),
        fields=sum(f'"{name}"' in text for name in _FIELDS),
    )


def _colored(line: str) -> list[tuple[str, str]]:
    """Return a line of Python as pieces: the name of a color, and the text."""
    found = []
    for token, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(line):
        colors = (color for kind, color in _TOKENS.items() if token in kind)
        found.append((next(colors, "text"), text))
    return found


def flow(readme: str, theme: str) -> str:
    """Draw what follows from the record that the README declares.

    Args:
        readme: the text of the README.
        theme: a key of `THEMES`.
    """
    schema = dict(_BLOCK.findall(readme))["schemas/pet_photo.py"]
    names: dict[str, Any] = {"__name__": "pet_photo"}
    exec(compile(schema, "pet_photo.py", "exec", dont_inherit=True), names)
    spec = describe(names["PetPhoto"])
    return _render(
        "flow.svg.jinja",
        theme,
        fields=[(field.name, field.kind.kind) for field in spec.fields],
        splits={name: records for records, name in _WRITTEN.findall(readme)},
        batch=[
            (field.name, re.sub(r"\[B\b", "[32", delivers_or_missing(field.codec)))
            for field in spec.fields
        ],
    )


def _render(template: str, theme: str, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(colors=THEMES[theme], **values)
