"""A mistake that schemagen catches: sorting the class names of the digits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_SETTINGS = "[tool.schemagen]\n"
_CLASSES = re.compile(r"classes=\((.*?)\)", re.DOTALL)

_READER = (
    "from generated.digit.pipeline import make_dataset\n"
    "make_dataset({data!r}, 'train', batch_size=32)\n"
)


def sorted_classes(schema: str) -> str:
    """Return a schema file with its class names in alphabetical order."""
    found = _CLASSES.search(schema)
    assert found is not None
    names = sorted(re.findall(r'"(\w+)"', found[1]))
    return schema.replace(found[1], ", ".join(f'"{name}"' for name in names))


def caught(schema: Path, data: Path, scratch: Path) -> Iterator[tuple[str, str]]:
    """Make the mistake in a copy of the project, and yield commands and what they say.

    Args:
        schema: the schema file of the digits.
        data: their data directory.
        scratch: where the copy goes; replaced.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "schemas").mkdir(parents=True)
    (scratch / "pyproject.toml").write_text(_SETTINGS)
    copy = scratch / "schemas" / schema.name
    copy.write_text(schema.read_text("utf-8"), "utf-8")
    _run(["-m", "schemagen", "generate"], scratch)
    copy.write_text(sorted_classes(copy.read_text("utf-8")), "utf-8")
    directory = str(data.resolve())
    check = ["-m", "schemagen", "check"]
    breaking = ["-m", "schemagen", "breaking", "--against", directory]
    yield "schemagen check", _run(check, scratch)
    said = _run(breaking, scratch).replace(directory, data.name)
    yield f"schemagen breaking --against {data.name}", said
    _run(["-m", "schemagen", "generate"], scratch)
    failed = _run(["-c", _READER.format(data=directory)], scratch)
    _, _, error = failed.replace(directory, data.name).rpartition(
        "SchemaMismatchError: "
    )
    yield "schemagen generate; python train.py", error


def _run(arguments: list[str], directory: Path) -> str:
    """Run Python in a directory, and return what it prints."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout
