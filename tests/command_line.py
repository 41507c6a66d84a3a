"""Running the command line in this process, and seeing what it did to the disk."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module, invalidate_caches
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import click
from click.testing import CliRunner, Result
from schemagen.cli import main

COMMANDS: dict[str, click.Command] = dict(main.commands)
"""The commands by name."""

SETTINGS = '[tool.schemagen]\nschemas = "schemas"\noutput = "{}"\n'
"""Of a project, with the name of its output package."""

Snapshot = dict[str, tuple[int, bytes | None]]


def run(*arguments: str | Path, terminal: bool = False) -> Result:
    """Run `schemagen` with arguments; a terminal is one that shows colors."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, words, color=terminal)


def run_program(
    command: Sequence[str], *, cwd: Path, **options: object
) -> CompletedProcess[str]:
    """Run `python -m MODULE COUNT PACKAGE ...` as `subprocess.run` does, in this process.

    So `adopt` does not start TensorFlow once more. The package is imported from `cwd`, and
    one of the same name is there again afterwards.
    """
    _, _, module, *arguments = command
    package = arguments[1].partition(".")[0]

    def taken() -> dict[str, Any]:
        names = [name for name in sys.modules if name.partition(".")[0] == package]
        return {name: sys.modules.pop(name) for name in names}

    before, out = taken(), StringIO()
    sys.path.insert(0, str(cwd))
    invalidate_caches()
    try:
        with redirect_stdout(out):
            import_module(module).main(*arguments)
    except Exception:
        return CompletedProcess(command, 1, "", traceback.format_exc())
    finally:
        sys.path.remove(str(cwd))
        taken()
        sys.modules.update(before)
    return CompletedProcess(command, 0, out.getvalue(), "")


def snapshot(root: Path) -> Snapshot:
    """Return every path below a directory with its time of change and contents."""
    return {
        path.relative_to(root).as_posix(): (
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(root.rglob("*"))
    }


def findings_of(*arguments: str | Path, code: int) -> list[dict[str, Any]]:
    """Return the findings that a command prints as JSON, with this exit code."""
    result = run(*arguments, "--format", "json")
    assert result.exit_code == code, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return found


def refusals(root: Path, command: str = "generate") -> list[dict[str, Any]]:
    """Return the findings of a command that has to refuse a project.

    It has to end with exit code 2, to print its findings as JSON and nothing else,
    and to leave the disk as it was, to the last time stamp.
    """
    before = snapshot(root)
    result = run(command, "--project", root, "--format", "json")
    assert result.exit_code == 2, result.output
    assert snapshot(root) == before
    data = json.loads(result.stdout)
    assert set(data) == {"version", "findings"}
    assert data["version"] == 1
    found: list[dict[str, Any]] = data["findings"]
    assert found
    return found


def place(finding: dict[str, Any]) -> str:
    """Return a finding's place as path:line:column, or the path of a file as a whole."""
    at = finding["location"]
    parts = (at["path"], at["line"], at["column"])
    return ":".join(str(part) for part in parts if part is not None)


def make_project(
    root: Path, schemas: dict[str, str], output: str = "generated"
) -> Path:
    """Make a directory a project with schema files, and return it."""
    (root / "schemas").mkdir(parents=True)
    (root / "pyproject.toml").write_text(SETTINGS.format(output), encoding="utf-8")
    for name, text in schemas.items():
        path = root / "schemas" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
