"""The names that a schema file uses, and where they come from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from .. import schema
from ..codegen.layout import WIDTH

_MODULES = {
    "Annotated": "typing",
    "Literal": "typing",
    "BaseModel": "pydantic",
    **dict.fromkeys(schema.__all__, "schemagen"),
}
_BUILTINS = ("bool", "bytes", "complex", "dict", "float", "int", "list", "str", "tuple")
_ROOTS = re.compile(r"(?<![\w.])[A-Za-z_]\w*")

# In the order in which imports are sorted: Python's own, others, this project's.
_SECTIONS = (("typing",), ("numpy", "pydantic", "schemagen"))

_KNOWN = frozenset({*_MODULES, *_BUILTINS, "np"})

# What any file may use, whatever the kinds of its fields are.
COMMON = frozenset(
    (
        "Annotated",
        "Augment",
        "BaseModel",
        "Literal",
        "Nested",
        "Record",
        "SequenceRecord",
    )
)


class Words:
    """The names that one file has used so far.

    A field hides what it is named like from the lines around it. Such a thing bears a
    second name, which begins with `_` as no field does.

    Args:
        hidden: the names of the fields and of the record itself.
    """

    def __init__(self, hidden: Collection[str]) -> None:
        self._hidden = frozenset(hidden)
        self._used: set[str] = set()

    def __call__(self, expression: str) -> str:
        """Return a type or a name as this file has to write it."""
        return _ROOTS.sub(lambda root: self._word(root[0]), expression)

    def _word(self, name: str) -> str:
        if name not in _KNOWN:
            return name
        self._used.add(name)
        return f"_{name}" if name in self._hidden else name

    def imports(self) -> Iterator[str]:
        """Yield the lines that bring in what was used, sorted as linters want it."""
        sections = []
        for modules in _SECTIONS:
            section: list[str] = []
            for module in modules:
                section += self._imports_of(module)
            sections.append(section)
        second = [f"_{name} = {name}" for name in sorted(self._used & self._hidden)]
        sections.append(second)
        for number, section in enumerate(filter(None, sections)):
            if number:
                yield ""
            yield from section

    def _imports_of(self, module: str) -> list[str]:
        if module == "numpy":
            return ["import numpy as np"] if "np" in self._used else []
        names = sorted(name for name in self._used if _MODULES.get(name) == module)
        if not names:
            return []
        flat = f"from {module} import {', '.join(names)}"
        if len(flat) <= WIDTH:
            return [flat]
        return [f"from {module} import (", *(f"    {name}," for name in names), ")"]
