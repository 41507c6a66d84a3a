"""The names that a schema file uses, and where they come from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from .. import schema
from ..codegen.imports import import_block

_MODULES = {
    "Annotated": "typing",
    "Literal": "typing",
    "BaseModel": "pydantic",
    "np": "numpy",
    **dict.fromkeys(schema.__all__, "schemagen"),
}
_BUILTINS = ("bool", "bytes", "complex", "dict", "float", "int", "list", "str", "tuple")
_ROOTS = re.compile(r"(?<![\w.])[A-Za-z_]\w*")

KNOWN = frozenset({*_MODULES, *_BUILTINS})
"""The names that a schema file may use."""


class Words:
    """The names that one file has used so far.

    A field hides what it is named like from the lines around it. Such a thing gets a
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
        if name not in KNOWN:
            return name
        self._used.add(name)
        return f"_{name}" if name in self._hidden else name

    def imports(self) -> Iterator[str]:
        """Yield the lines that bring in what was used."""
        modules = {n: _MODULES[n] for n in self._used & _MODULES.keys()}
        yield from import_block(modules).splitlines()
        second = [f"_{name} = {name}" for name in sorted(self._used & self._hidden)]
        yield from (["", *second] if second else ())
