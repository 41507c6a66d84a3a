"""The imports of a generated module, found from the names that it uses.

Templates print names and import nothing. `with_imports` looks up each name that a module
uses and does not define, and imports it below `from __future__ import annotations`.
What a module uses is therefore what it imports, whichever templates have printed it.
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from ..runtime.codecs.registry import KINDS
from .layout import WIDTH
from .literals import Code

RUNTIME = "schemagen.runtime"
"""The installed runtime, as generated code imports it."""

_FUTURE = "from __future__ import annotations\n"

# A definition of a public name at the top level of a module.
_DEFINITION = re.compile(r"^(?:class |def |(?=\w+ = ))([A-Za-z]\w*)", re.MULTILINE)

# Names that are modules.
_MODULES = {"np": "import numpy as np", "os": "import os"}

_STANDARD = ("collections.abc", "datetime", "functools", "os", "typing")

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
    "codecs/kind.py",
    "codecs/nesting.py",
    "codecs/records.py",
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
    return 0 if module in _STANDARD else 2 if module.startswith(".") else 1


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
