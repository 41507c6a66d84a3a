"""The generated code of the measured records."""

from __future__ import annotations

import importlib
import itertools
import shutil
import sys
from pathlib import Path
from typing import Any

import schemagen

_SCHEMAS = Path(__file__).parent / "schemas"

# Generated packages are imported by name, and a process keeps a name for good.
_numbers = itertools.count()


class Generated:
    """The records' code, generated into a directory of its own.

    Args:
        root: an empty directory, or none yet.

    Attributes:
        root: what has to be on the path of a process that imports the code.
        package: the name of the generated package.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = f"bench_generated_{next(_numbers)}"
        shutil.copytree(_SCHEMAS, root / "schemas")
        settings = f'[tool.schemagen]\noutput = "{self.package}"\n'
        (root / "pyproject.toml").write_text(settings, encoding="utf-8")
        schemagen.generate(root)
        sys.path.insert(0, str(root))
        importlib.invalidate_caches()

    def module(self, path: str) -> Any:
        """Import a module of the package, such as "mix.serializer"."""
        return importlib.import_module(f"{self.package}.{path}")
