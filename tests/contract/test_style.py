"""Generated code is what a formatter, a linter and a type checker want it to be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .generated_records import write_project, write_random
from .hard_names import ACCEPTED, schema_of_names
from .hard_texts import schema_of_texts

ROOT = Path(__file__).parents[2]

# Rules that judge what a schema's author wrote: words in a docstring that read like
# headings, backslashes in it, and field names with capitals or of one letter.
AUTHORS_OWN = "D214,D301,D410,D411,D414,E741,N802,N803"

AUGMENTED = """
from typing import Annotated, Any
import numpy as np
from pydantic import BaseModel
from schemagen import *

EVERY = Augment(flip_left_right=True, flip_up_down=True, crop=1)

class View(BaseModel):
    seed: Annotated[Any | None, Image((4, 4, 4), encoding="png", augment=EVERY)] = None
    batch: Annotated[Any, Mask((4, 4), num_classes=2, augment=EVERY)]

class Augmented(Record):
    found: View
    frames: Annotated[Any, Images((4, 4, 4), "png", augment=EVERY)]

class Flat(Record):
    photo: Annotated[Any | None, Image((4, 4, 1), augment=EVERY)] = None
    mask: Annotated[Any, Mask((4, 4), augment=EVERY)]
"""

SOURCES: dict[str, Callable[[], str]] = {
    "texts": schema_of_texts,
    "augmented": lambda: AUGMENTED,
    "names": lambda: schema_of_names(ACCEPTED, "Names"),
}

PROJECTS = {"random": write_random}

MYPY = """\
[mypy]
strict = True
warn_unreachable = True

[mypy-tensorflow.*,keras.*,PIL.*,fsspec.*,tqdm.*]
ignore_missing_imports = True
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the type checker knows of libraries, once for all projects."""
    return tmp_path_factory.mktemp("mypy")


@pytest.fixture(scope="module", params=[*SOURCES, *PROJECTS])
def output(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The output directory of random records, hard texts and names, and all kinds."""
    root = tmp_path_factory.mktemp("style") / "project"
    if request.param in PROJECTS:
        PROJECTS[request.param](root, "output")
    else:
        write_project(root, SOURCES[request.param](), "output")
    return root / "output"


def run(*command: str, cwd: Path) -> tuple[int, str]:
    """Run a tool as a module of this Python; return its exit code and output."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.quick_cases(2)
def test_the_formatter_changes_nothing(output: Path) -> None:
    """Generated code is a fixed point of `ruff format`."""
    code, text = run("ruff", "format", "--isolated", "--diff", ".", cwd=output)
    assert code == 0, text


def test_the_linter_finds_nothing(output: Path) -> None:
    """Generated code is clean under ruff's default rules."""
    code, text = run(
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--ignore",
        "BLE001",
        ".",
        cwd=output,
    )
    assert code == 0, text


def test_the_linter_finds_nothing_by_the_rules_of_this_project(output: Path) -> None:
    """It is clean under stricter rules too, but for what the schema's author wrote."""
    config = str(ROOT / "pyproject.toml")
    options = ("--config", config, "--ignore", AUTHORS_OWN, "--no-cache")
    code, text = run("ruff", "check", *options, ".", cwd=output)
    assert code == 0, text


@pytest.mark.slow
def test_the_type_checker_finds_nothing(output: Path, cache: Path) -> None:
    """Generated code passes `mypy --strict`."""
    config = output.parent / "mypy.ini"
    config.write_text(MYPY)
    options = ("--config-file", str(config), "--cache-dir", str(cache))
    code, text = run("mypy", *options, output.name, cwd=output.parent)
    assert code == 0, text
