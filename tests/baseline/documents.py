"""What commands print as JSON about the baseline, reduced to facts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from schemagen.cli import main

from .damage import DAMAGES, SPLIT, write_wrong_records
from .rows import BASELINES, HERE

_PROJECT, _DATA = HERE / "project", HERE / "data"
_CHANGES = HERE / "changes"

Document = dict[str, Any]
Documents = dict[str, Document]

# Texts for people, which may change in any release, and come and go.
_TEXTS = ("advice", "cause", "described_by", "expected", "found", "message", "source")

# Texts whose presence is a fact.
_TOLD = ("batch", "foreign", "manifest_problem", "title", "trouble", "values", "what")


def facts(value: Any) -> Any:
    """Return a document without its texts."""
    if isinstance(value, dict):
        return {
            key: _fact(key, each)
            for key, each in value.items()
            if key not in _TEXTS or not isinstance(each, str)
        }
    return [facts(each) for each in value] if isinstance(value, list) else value


def _fact(key: str, value: Any) -> Any:
    items = value if isinstance(value, list) else []
    if key in ("splits", "files") and all(isinstance(each, dict) for each in items):
        # In which order they are listed is no fact.
        items.sort(key=lambda each: (str(each.get("split")), str(each.get("path"))))
    if not isinstance(value, str):
        return facts(value)
    if key in _TOLD:
        return "a text" if value else ""
    # `describe` has the kinds of a schema.
    return value if key != "kind" or value.isidentifier() else "a text"


def run(*arguments: str) -> Document:
    """Run a command, and return its exit code with the facts that it printed."""
    result = CliRunner().invoke(main, [*arguments, "--format", "json"])
    if not result.stdout.startswith("{"):
        raise AssertionError(f"{arguments}: no JSON, but {result.output[:500]}")
    return {"exit": int(result.exit_code), **facts(json.loads(result.stdout))}


@contextmanager
def _inside(directory: Path) -> Iterator[Path]:
    """Make a directory with the project and the data the current one."""
    before = Path.cwd()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(_PROJECT, directory, ignore=ignored)
    shutil.copytree(_DATA, directory / "data")
    os.chdir(directory)
    try:
        yield directory
    finally:
        os.chdir(before)


def verified(directory: Path) -> Documents:
    """Verify all data, and each kind of damage."""
    found = {}
    with _inside(directory):
        found["sealed"] = run("verify", "data/sealed")
        for record in BASELINES:
            found[record] = run("verify", f"data/{record}")
            found[f"{record} --record"] = run(
                "verify", f"data/{record}", "--record", record, "--limit", "5"
            )
        for name in _damaged():
            found[name] = run("verify", "damaged")
        write_wrong_records(Path("wrong"))
        for path in sorted(Path("wrong").iterdir()):
            found[path.name] = run("verify", str(path), "--record", "reading")
        found["all wrong"] = run("verify", "wrong", "--record", "reading")
        found["no record"] = run("verify", "wrong")
        found["other record"] = run("verify", "data/clip", "--record", "reading")
        with Path("pyproject.toml").open("a") as settings:
            settings.write("max-record-bytes = 350\n")
        found["long records"] = run("verify", "data/reading", "--split", SPLIT)
        shutil.copy(_PROJECT / "pyproject.toml", directory)
        found["nothing there"] = run("verify", "data/nothing")
        found["unknown split"] = run("verify", "data/reading", "--split", "unknown")
    return found


def _damaged() -> Iterator[str]:
    """Yield the name of each damage, with a directory `damaged` that has it."""
    for name, spoil in DAMAGES.items():
        shutil.copytree("data/reading", "damaged")
        spoil(Path("damaged"))
        yield name
        shutil.rmtree("damaged")


def described(directory: Path) -> Documents:
    """Describe the project."""
    with _inside(directory):
        return {"project": run("describe"), "unknown": run("describe", "unknown")}


def compared(directory: Path) -> Documents:
    """Compare pairs of schemas, in each mode, and data with a schema."""
    found = {}
    for name in sorted(path.stem for path in (_CHANGES / "newer").glob("*.py")):
        project = directory / name
        with _changed_project(project, name):
            for mode in ("backward", "forward", "full"):
                found[f"{name} {mode}"] = run(
                    *("breaking", "--against", "HEAD", "--mode", mode)
                )
            for path in sorted(Path("older").iterdir()) if name == "plain" else ():
                found[f"{name} {path.stem}"] = run("breaking", "--against", str(path))
    with _inside(directory / "data"):
        for record in BASELINES:
            found[record] = run("breaking", "--against", f"data/{record}")
        path = Path("schemas/reading.py")
        text = path.read_text(encoding="utf-8")
        changed = text.replace('"hare", "fox"', '"fox", "hare"').replace(
            "uint8", "int8"
        )
        path.write_text(changed, encoding="utf-8")
        found["changed"] = run("breaking", "--against", "data/reading")
    return found


@contextmanager
def _changed_project(root: Path, name: str) -> Iterator[None]:
    """Make a project whose schemas have changed since the last commit."""
    specs = json.loads((_CHANGES / "older" / f"{name}.json").read_text("utf-8"))
    (root / "schemas").mkdir(parents=True)
    shutil.copy(_PROJECT / "pyproject.toml", root)
    shutil.copy(_CHANGES / "newer" / f"{name}.py", root / "schemas" / "records.py")
    (root / "older").mkdir()
    for record, spec in specs.items():
        path = root / "baseline_code" / record / "spec.json"
        path.parent.mkdir(parents=True)
        text = json.dumps(spec, ensure_ascii=False, indent=2)
        path.write_text(text, encoding="utf-8")
        (root / "older" / f"{record}.json").write_text(text, encoding="utf-8")
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Older schemas")):
        subprocess.run([*git, *command], cwd=root, check=True)
    before = Path.cwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)


DOCUMENTS = {
    "verify": verified,
    "describe": described,
    "breaking": compared,
}
