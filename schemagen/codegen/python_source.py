"""Python source: data as literals, the imports of the names used, and lines not too long."""

from __future__ import annotations

import keyword
import re
import symtable
import sys
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import pairwise
from pathlib import Path

from ..runtime.kinds.registry import KINDS


class Code(str):
    """Text that is safe to print into generated code.

    Templates print nothing else. Joining, formatting or cutting it returns a plain str,
    so no other text gets in next to it.
    """

    __slots__ = ()


def literal(value: object) -> Code:
    """Write a value of a spec as a Python literal, as `ruff format` would.

    Raises:
        TypeError: a value that has no literal.
    """
    return Code(_literal(value))


def _literal(value: object) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bytes):
        return "b" + _quoted(value.decode("latin-1"), hexadecimal=True)
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, float):
        finite = value == value and value not in (float("inf"), float("-inf"))
        return repr(value) if finite else f'float("{value!r}")'
    if isinstance(value, tuple):
        items = ", ".join(map(_literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    raise TypeError(f"no literal for the {type(value).__name__} {value}")


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Letters, marks and digits, punctuation, symbols. Controls, separators, surrogates
# and the characters that reorder a line are written as escapes.
_SHOWN = ("Lu", "Ll", "Lt", "Lo", "Nd", "Pc", "Pd", "Ps", "Pe", "Po", "Sm", "Sc")


def _quoted(text: str, *, hexadecimal: bool = False) -> str:
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + _shown(text, hexadecimal).replace(quote, f"\\{quote}") + quote


def _shown(text: str, hexadecimal: bool = False) -> str:
    if text.isascii() and text.isprintable():  # nearly all text, and all at once
        return text.replace("\\", "\\\\")
    return "".join(_shown_character(character, hexadecimal) for character in text)


def _shown_character(character: str, hexadecimal: bool) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    point = ord(character)
    if 0x20 <= point < 0x7F:
        return character
    if hexadecimal or point < 0xA0:
        return f"\\x{point:02x}"
    if unicodedata.category(character) in _SHOWN:
        return character
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def identifier(name: str) -> Code:
    """Let a name through that is a Python identifier.

    Raises:
        ValueError: it is not one.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"not an identifier: {name!r}")
    return Code(name)


# Three quotes in a row would end a docstring, and so would one next to its end.
_QUOTES = re.compile(r'"{3,}')
_LAST_QUOTES = re.compile(r'"{3,}|"+\Z')


def _escaped_quotes(run: re.Match[str]) -> str:
    return '\\"' * len(run[0])


def prose(text: str, indent: int = 0) -> Code:
    """Write text for the inside of a docstring.

    Lines after the first are indented; nothing in the text can end the docstring.
    """
    lines = [_shown(line).rstrip() for line in text.split("\n")]
    last = _LAST_QUOTES.sub(_escaped_quotes, lines.pop())
    lines = [*(_QUOTES.sub(_escaped_quotes, line) for line in lines), last]
    pad = "\n" + " " * indent
    return Code(pad.join(lines).replace(pad + "\n", "\n\n").replace(pad + "\n", "\n\n"))


# By such a comment in its first lines a Python file says that it is not UTF-8: the name
# of an encoding follows, without quotes.
_ENCODING = re.compile(r"(?<=coding)[:=](?=[ \t]*[-\w.])")


def comment(text: str) -> Code:
    """Write text for a comment of one line."""
    return Code(_ENCODING.sub(lambda match: f"\\x{ord(match[0]):02x}", _shown(text)))


WIDTH = 88
STEP = 4
_MARKS = re.compile(r"[()\[\]{},]")
_STRINGS = re.compile(r""" "(?:[^"\\]|\\.)*"? | '(?:[^'\\]|\\.)*'? """, re.X)
_SUBSCRIPT = re.compile(r"[\w)\]]\[\Z")


def wrap(text: str) -> str:
    """Break the long lines of Python source that has each statement on one line.

    Each item has its own line, with a comma: a form that formatters keep as it is.
    Docstrings and comments stay.
    """
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        start = line.lstrip()
        if inside or start.startswith(('"""', "#")):
            found.append(line)
            ends = '"""' in (line if inside else start[3:])
            inside = not ends and (inside or start.startswith('"""'))
        else:
            found += broken(line)
    return "\n".join(found)


def broken(line: str, tail: str = "") -> list[str]:
    """Return a statement or an item on as many lines as it needs.

    A line that is too long is opened at its last brackets of the outermost level.

    Args:
        line: with its indentation.
        tail: what follows it on its last line.
    """
    cuts = [] if display_width(line + tail) <= WIDTH else _cuts(line)
    if not cuts:
        return [line + tail]
    first, last = line[: cuts[0] + 1], line[cuts[-1] :]
    items = [line[a + 1 : b].strip() for a, b in pairwise(cuts)]
    pad = " " * (len(line) - len(line.lstrip()))
    inner = pad + " " * STEP
    # A comprehension takes no comma, and in a subscript it would make a tuple.
    takes_comma = len(items) > 1 or not (
        _SUBSCRIPT.search(first) or " for " in _without_strings(items[0])
    )
    each = (
        row
        for item in filter(None, items)
        for row in broken(inner + item, "," if takes_comma else "")
    )
    return [first, *each, pad + last + tail]


def _cuts(line: str) -> list[int]:
    """Return where the last outermost brackets that hold anything begin and end.

    The places of the commas between their items are in between.
    """
    found: list[int] = []
    cuts: list[int] = []
    depth = 0
    for mark in _MARKS.finditer(_without_strings(line)):
        at, character = mark.start(), mark[0]
        if character in "([{":
            cuts = cuts if depth else [at]
            depth += 1
        elif character != ",":
            depth -= 1
            if depth == 0 and at > cuts[0] + 1:
                found = [*cuts, at]
        elif depth == 1:
            cuts.append(at)
    return found


def _without_strings(line: str) -> str:
    """Return a line as long as it is, with nothing where its strings are."""
    return _STRINGS.sub(lambda string: "\0" * len(string[0]), line)


def display_width(text: str) -> int:
    """Return how many columns a line takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


RUNTIME = "schemagen.runtime"
"""The installed runtime, as generated code imports it."""

_FUTURE = "from __future__ import annotations\n"

# A definition of a public name at the top level of a module.
_DEFINITION = re.compile(r"^(?:class |def |(?=\w+ = ))([A-Za-z]\w*)", re.MULTILINE)

# Names that are modules.
_MODULES = {"np": "import numpy as np", "os": "import os"}

# The names that generated code takes from each module other than the runtime's own.
# TensorFlow and Keras come from a module that says how to install them.
_NAMES = {
    "collections.abc": ("Collection", "Iterable", "Mapping", "Sequence"),
    "datetime": ("date", "timedelta"),
    "functools": ("partial",),
    "typing": ("Any", "Literal", "NotRequired", "TypedDict"),
    "numpy.typing": ("ArrayLike", "NDArray"),
    f"{RUNTIME}.shared.requirements": ("keras", "tf"),
    ".fields": ("RECORD",),
    ".parser": ("FEATURE_DESCRIPTION", "KEYS", "SEQUENCE_DESCRIPTION", "parse_batch"),
}

# Packages of the runtime whose modules are used by their names, as in `images.resized`.
_BY_MODULE = ("datasets", "models")

# Modules of the runtime whose names are used by themselves, as in `Label`.
_BY_NAME = (
    "kinds/kind.py",
    "records/nesting.py",
    "records/codec.py",
    "storage/schema.py",
    "writing/serializer.py",
    "writing/writer.py",
    "arrays/reader.py",
    "datasets/reader.py",
    "models/builder.py",
)


def import_line(module: str, names: list[str]) -> str:
    """Write an import of names, one a line if they do not fit."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    listed = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{listed})"


def import_block(modules: Mapping[str, str]) -> Code:
    """Write imports in the order of isort, with an empty line between their sections.

    Args:
        modules: the module of each name; of `np` and `os` the module itself.
    """
    sections: list[list[str]] = [[], [], []]
    names: dict[str, list[str]] = {}
    for name in sorted(modules, key=_rank):
        if name in _MODULES:
            sections[_section(modules[name])].append(_MODULES[name])
        else:
            names.setdefault(modules[name], []).append(name)
    for module in sorted(names):
        sections[_section(module)].append(import_line(module, names[module]))
    return Code("\n\n".join("\n".join(lines) for lines in sections if lines))


def _section(module: str) -> int:
    """Sort Python's own modules before installed ones before those of the package."""
    if module.partition(".")[0] in sys.stdlib_module_names:
        return 0
    return 2 if module.startswith(".") else 1


def _rank(name: str) -> tuple[int, str]:
    """Sort constants before classes before functions."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


def with_imports(text: str) -> str:
    """Return a module with the imports of what it uses.

    Args:
        text: the module. One that is not Python is returned as it is.
    """
    before, future, after = text.partition(_FUTURE)
    try:
        used = _undefined(text)
    except (SyntaxError, ValueError):
        return text
    known = known_names()
    found = import_block({name: known[name] for name in used & known.keys()})
    return f"{before}{future}\n{found}\n{after}" if future and found else text


@cache
def known_names() -> dict[str, str]:
    """Return the module that each name of generated code is imported from.

    Of the runtime these are the modules of `parsing`, `datasets` and `models`, and the
    public classes and functions of the modules that generated code uses by name.
    """
    root = Path(str(resources.files("schemagen").joinpath("runtime")))
    found = {"np": "numpy", "os": "os"}
    for origin, taken in _NAMES.items():
        found |= dict.fromkeys(taken, origin)
    for package in _BY_MODULE:
        for path in sorted(root.joinpath(package).glob("[a-z]*.py")):
            found[path.stem] = f"{RUNTIME}.{package}"
    for place in _BY_NAME:
        for module in sorted(root.glob(place)):
            dotted = ".".join(module.relative_to(root).with_suffix("").parts)
            names = _DEFINITION.findall(module.read_text(encoding="utf-8"))
            found |= dict.fromkeys(names, f"{RUNTIME}.{dotted}")
    return found | {name: kind.__module__ for name, kind in KINDS.items()}


def _undefined(text: str) -> set[str]:
    """Return the global names that a module uses and does not define.

    Raises:
        SyntaxError: it is not Python.
        ValueError: it contains a null character.
    """
    used: set[str] = set()
    defined: set[str] = set()
    # With the future import, the names in annotations would not count as used.
    scopes = [symtable.symtable(text.replace(_FUTURE, "", 1), "<generated>", "exec")]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_global():
                if symbol.is_referenced():
                    used.add(symbol.get_name())
                if symbol.is_assigned() or symbol.is_imported():
                    defined.add(symbol.get_name())
    return used - defined
