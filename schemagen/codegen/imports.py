"""The imports of a generated module, found from the names that it uses.

Templates print names and import nothing. `with_imports` looks up each name that a module
uses and does not define, and imports it below `from __future__ import annotations`.
What a module uses is therefore what it imports, whichever templates have printed it.
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

from ..kinds.literals import Code
from .layout import WIDTH

RUNTIME = "schemagen.runtime"
"""The installed runtime, as generated code imports it."""

_FUTURE = "from __future__ import annotations\n"

# A definition of a public name at the top level of a module.
_DEFINITION = re.compile(r"^(?:class |def |(?=\w+ = ))([A-Za-z]\w*)", re.MULTILINE)

# The module of each name of the standard library and numpy.
_STANDARD = {
    "collections.abc": ("Collection", "Iterable", "Mapping", "Sequence"),
    "functools": ("partial",),
    "typing": ("Any", "Literal", "NotRequired", "TypedDict"),
}
_NUMPY = {"ArrayLike": "numpy.typing", "NDArray": "numpy.typing"}

# Names that generated modules of a record take from each other.
_SIBLINGS = {
    ".fields": ("RECORD",),
    ".parser": ("FEATURE_DESCRIPTION", "KEYS", "SEQUENCE_DESCRIPTION", "parse_batch"),
}

# Packages of the runtime whose modules are used by their names, as in `images.resized`.
_BY_MODULE = ("datasets", "models")

# Modules of the runtime whose names are used by themselves, as in `Label`.
_BY_NAME = (
    "codecs/base.py",
    "codecs/classes.py",
    "codecs/images.py",
    "codecs/lists.py",
    "codecs/masks.py",
    "codecs/nesting.py",
    "codecs/numbers.py",
    "codecs/ragged.py",
    "codecs/records.py",
    "codecs/sparse.py",
    "codecs/steps.py",
    "codecs/strings.py",
    "codecs/tensors.py",
    "storage/schema.py",
    "distributed/part_writer.py",
    "writing/split_writer.py",
    "writing/writer.py",
    "datasets/reader.py",
    "models/builder.py",
)

# TensorFlow and Keras come from a module that says how to install them.
_REQUIRED = {"keras": "shared.requirements", "tf": "shared.requirements"}


def import_line(module: str, names: list[str]) -> str:
    """Write an import of names, one a line if they do not fit."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    listed = "".join(f"    {name},\n" for name in names)
    return f"from {module} import (\n{listed})"


def imports(*groups: list[str]) -> Code:
    """Write groups of imports, with an empty line between them."""
    return Code("\n\n".join("\n".join(group) for group in groups if group))


def with_imports(text: str) -> str:
    """Return a module with the imports of what it uses.

    Args:
        text: the module. One that is not Python is returned as it is.
    """
    before, future, after = text.partition(_FUTURE)
    try:
        found = imports(*_groups(_undefined(text)))
    except (SyntaxError, ValueError):
        return text
    return f"{before}{future}\n{found}\n{after}" if future and found else text


def _groups(used: set[str]) -> Iterator[list[str]]:
    """Yield groups of imports as isort would sort them."""
    standard = ["import os"] * ("os" in used)
    standard += _lines({module: used & {*names} for module, names in _STANDARD.items()})
    numpy = _by_module({n: _NUMPY[n] for n in used & _NUMPY.keys()})
    known = runtime_names()
    taken = _by_module({n: f"{RUNTIME}.{known[n]}" for n in used & known.keys()})
    third = ["import numpy as np"] * ("np" in used) + _lines(numpy)
    own = _lines({module: used & {*names} for module, names in _SIBLINGS.items()})
    yield standard
    yield [*third, *_lines(taken)]
    yield own


def _by_module(names: dict[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, module in names.items():
        found.setdefault(module, set()).add(name)
    return found


def _lines(names: dict[str, set[str]]) -> list[str]:
    return [
        import_line(module, sorted(names[module], key=_rank))
        for module in sorted(names)
        if names[module]
    ]


def _rank(name: str) -> tuple[int, str]:
    """Sort constants before classes before functions, as isort does."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


def runtime_directory() -> Path:
    """Return the directory of the runtime's source."""
    return Path(str(resources.files("schemagen").joinpath("runtime")))


@cache
def runtime_names() -> dict[str, str]:
    """Return the module of the runtime that each name is imported from.

    A name is a module of `parsing`, `datasets` or `models`, or a public class or function
    of the modules that generated code uses by name.
    """
    root = runtime_directory()
    found = dict(_REQUIRED)
    for package in _BY_MODULE:
        for path in sorted(root.joinpath(package).glob("[a-z]*.py")):
            found[path.stem] = package
    for place in _BY_NAME:
        path = root / place
        for module in sorted(path.glob("[a-z]*.py")) if path.is_dir() else [path]:
            name = ".".join(module.relative_to(root).with_suffix("").parts)
            found |= dict.fromkeys(_defined(module), name)
    return found


def _defined(path: Path) -> Iterator[str]:
    """Yield the public names that a module defines."""
    for definition in _DEFINITION.finditer(path.read_text(encoding="utf-8")):
        yield definition[1]


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
