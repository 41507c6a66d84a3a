"""The record classes of schema files that tests write."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from types import ModuleType

from schemagen import Record

_numbers = itertools.count()


def load(path: Path) -> ModuleType:
    """Return a schema file as a module, as a program that imports it has it."""
    module = ModuleType(f"schema_file_{next(_numbers)}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    source = path.read_text(encoding="utf-8")
    exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
    return module


def record_class(path: Path) -> type[Record]:
    """Return the record class that a schema file declares last."""
    module = load(path)
    found: list[type[Record]] = [
        each
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, Record)
        and each.__module__ == module.__name__
    ]
    return found[-1]
