"""A project with records of every kind, for whichever versions are installed.

Nothing but schemagen with its extra `tensorflow` and pytest is needed.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

# As in the other tests: without oneDNN each graph is looked through once less.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

# These environments run this folder alone, without the conftest above it.
_TESTS = Path(__file__).parents[1]
sys.path += [str(_TESTS), str(_TESTS / "datasets")]

ModuleOf = Callable[[str, str], ModuleType]


@pytest.fixture(scope="session")
def module_of(tmp_path_factory: pytest.TempPathFactory) -> ModuleOf:
    """Generate all records once, and import a module of one, as ("every", "model")."""
    import schemagen
    from command_line import make_project
    from every_kind import SCHEMA

    schemas = {"records.py": SCHEMA}
    root = tmp_path_factory.mktemp("versions") / "project"
    make_project(root, schemas, output="generated_versions")
    schemagen.generate(root)
    sys.path.insert(0, str(root))
    return lambda record, part: importlib.import_module(
        f"generated_versions.{record}.{part}"
    )
