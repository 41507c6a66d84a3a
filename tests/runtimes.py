"""The runtime that generated packages of tests import: installed, or vendored.

`RUNTIME=vendored pytest tests/contract` runs the contract harness on copies.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

RUNTIME = os.environ.get("RUNTIME", "installed")


def runtime_module(package: str, name: str) -> ModuleType:
    """Import a module of the runtime that an output package imports."""
    root = "schemagen.runtime" if RUNTIME == "installed" else f"{package}._runtime"
    return importlib.import_module(f"{root}.{name}")
