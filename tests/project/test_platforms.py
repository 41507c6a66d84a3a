"""schemagen needs nothing that Linux alone has, and says that Windows is not supported."""

from __future__ import annotations

import ast
import importlib
import os
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import mypy
import pytest
from command_line import make_project

CHECKOUT = Path(__file__).parents[2]
STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"

MODULES = (
    "errno",
    "fcntl",
    "mmap",
    "os",
    "resource",
    "select",
    "signal",
    "socket",
    "time",
)
"""The modules of Python that have names of Linux alone."""

PET = """\
from typing import Annotated

import numpy as np

from schemagen import Label, Record, Text, Vector


class Pet(Record):
    \"\"\"A pet.\"\"\"

    sizes: Annotated[np.ndarray, Vector(shape=(2,))]
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
    name: Annotated[str, Text()]
"""

# Python imports a module of this name first, in processes that others start, too.
REMOVE = """\
import importlib

for module, names in {names!r}.items():
    for name in names:
        delattr(importlib.import_module(module), name)
"""

PROGRAM = """\
import os

import schemagen
from schemagen.cli import main

assert not hasattr(os, "sched_getaffinity")


rows = [dict(sizes=[n, 0.5], breed=n % 2, name=f"pet {n}") for n in range(1000)]

if __name__ == "__main__":
    schemagen.generate()
    from generated.pet.reader import open_split
    from generated.pet.serializer import write_dataset

    assert write_dataset(rows, "data", "train", shards=2, workers=2) == 1000
    split = open_split("data", "train")
    for batch in split.batches(100, shuffle_seed=1):
        numbers = batch["sizes"][:, 0].astype(int)
        assert [*batch["name"]] == [f"pet {number}" for number in numbers]
    write_dataset(rows, "memory://data", "train")
    for _ in range(2):
        cached = open_split("memory://data", "train", cache_dir="cache")
        assert [*cached[:]["name"]] == [row["name"] for row in rows]
    assert os.listdir("cache")
    main(["verify", "data", "--workers", "2"], standalone_mode=False)
    main(["inspect", "data"], standalone_mode=False)
"""


def names_of(body: Iterable[ast.stmt], platform: str) -> Iterator[str]:
    """Yield the names that a stub has on a platform."""
    of = SimpleNamespace(platform=platform, version_info=sys.version_info)
    for node in body:
        if isinstance(node, ast.If):
            holds = eval(ast.unparse(node.test), {"sys": of})
            yield from names_of(node.body if holds else node.orelse, platform)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (ast.unparse(target) for target in targets)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def names_of_linux(module: str) -> list[str]:
    """Return the names of a module that macOS lacks, by the stubs of type checkers."""
    stub = next(
        path
        for path in (STUBS / f"{module}.pyi", STUBS / module / "__init__.pyi")
        if path.exists()
    )
    body = ast.parse(stub.read_text(encoding="utf-8")).body
    lacking = {*names_of(body, "linux")} - {*names_of(body, "darwin")}
    there = importlib.import_module(module)
    return sorted(name for name in lacking if hasattr(there, name))


def test_splits_are_written_and_read_without_what_linux_alone_has(
    tmp_path: Path,
) -> None:
    """By several processes, from a store with a cache, with `verify` and `inspect`."""
    names = {module: names_of_linux(module) for module in MODULES}
    assert {"sched_getaffinity", "posix_fadvise", "memfd_create"} <= {*names["os"]}
    assert "epoll" in names["select"]
    project = make_project(tmp_path / "project", {"pets.py": PET})
    (project / "sitecustomize.py").write_text(REMOVE.format(names=names))
    (project / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": f"{project}{os.pathsep}{CHECKOUT}"}
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1,000 records" in done.stdout


@pytest.mark.slow
def test_types_are_right_on_macos(tmp_path: Path) -> None:
    """No module uses a name that macOS lacks without asking for it."""
    command = [sys.executable, "-m", "mypy", "--platform", "darwin", "-p", "schemagen"]
    subprocess.run([*command, "--cache-dir", tmp_path], cwd=CHECKOUT, check=True)


def test_windows_is_refused_at_import() -> None:
    """With what to do, before a module that Windows lacks is imported."""
    program = "import os; os.name = 'nt'; import schemagen.runtime"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.endswith(
        "ImportError: schemagen runs on Linux and macOS, not on Windows: use the Windows "
        "Subsystem for Linux or a container\n"
    )


def test_windows_is_refused_at_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is compiled; a source distribution is built anywhere."""
    hook = runpy.run_path(str(CHECKOUT / "hatch_build.py"))["CoreBuildHook"]
    monkeypatch.setattr(sys, "platform", "win32")
    for target in ("wheel", "sdist"):
        build = hook(str(CHECKOUT), {}, None, None, "", target)
        if target == "sdist":
            build.initialize("standard", {})
            continue
        with pytest.raises(
            SystemExit, match="not on Windows: install it in the Windows"
        ):
            build.initialize("standard", {})
