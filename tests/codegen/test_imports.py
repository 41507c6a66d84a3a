"""What is imported when: the generator never waits for tensorflow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import schemagen
from command_line import make_project
from tfrecord_files import frame

PET = "from schemagen import Record\n\nclass Pet(Record):\n    age: int\n"

_HEAVY = ("tensorflow", "keras", "pydantic", "numpy", "jinja2")
_PROBE = f"""
import json, sys
try:
    exec(sys.argv[1])
except SystemExit as ended:
    assert not ended.code, ended.code
found = [name for name in {_HEAVY} if name in sys.modules]
print("LOADED " + json.dumps(found))
"""


def loaded_by(code: str, project: Path, *path: Path) -> set[str]:
    """Run code in a process of its own; return what it has imported of the heavy."""
    result = subprocess.run(
        [sys.executable, "-c", _PROBE, code],
        cwd=project,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    last = result.stdout.splitlines()[-1]
    assert last.startswith("LOADED ")
    return set(json.loads(last.removeprefix("LOADED ")))


def command(*arguments: str) -> str:
    return f"from schemagen.cli import main; main({list(arguments)!r})"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A generated project."""
    root = make_project(tmp_path / "p", {"pets.py": PET})
    schemagen.generate(root)
    return root


@pytest.mark.parametrize("arguments", ["--help", "generate --help", "--version"])
def test_help_imports_nothing_heavy(project: Path, arguments: str) -> None:
    """A help text waits for neither tensorflow nor pydantic, numpy and jinja."""
    assert loaded_by(command(*arguments.split()), project) == set()


def test_importing_schemagen_imports_nothing_heavy(project: Path) -> None:
    """The package itself is light; its words come when they are asked for."""
    assert loaded_by("import schemagen", project) == set()
    words = "from schemagen import Record, Image, Label, VarLen, Vector, Scalar, Text"
    assert loaded_by(words, project) == {"pydantic", "numpy"}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "arguments", ["generate", "check --diff", "describe", "init schemas"]
)
def test_no_command_imports_tensorflow(project: Path, arguments: str) -> None:
    """A whole run of every verb stays without tensorflow and keras."""
    found = loaded_by(command(*arguments.split()), project)
    assert "jinja2" in found
    assert not found & {"tensorflow", "keras"}


def test_inspecting_data_imports_numpy_alone(project: Path) -> None:
    """No schema is loaded, no parser of tensorflow's, and few modules of schemagen."""
    one_key = b"\x0a\x09\x0a\x07\x0a\x01a\x12\x02\x1a\x00"
    (project / "records").write_bytes(frame(one_key))
    counting = f"""
try:
    {command("inspect", "records")}
finally:
    ours = [name for name in sys.modules if name.split(".")[0] == "schemagen"]
    assert len(ours) <= 117, sorted(ours)
"""
    assert loaded_by(counting, project) == {"numpy"}


SERIALIZER = """
import generated.pet.serializer
found = {name for name in sys.modules if name.startswith("schemagen.")}
assert {name.split(".")[1] for name in found} == {"runtime"}, found
parts = {name.split(".")[2] for name in found if name.count(".") > 1}
assert {name for name in found if "arrays." in name} == {"schemagen.runtime.arrays.mix"}
kinds = {"cells", "images", "kinds", "records", "tensorflow"}
assert parts == {"arrays", "interface", "native", "shared", "storage", "writing", *kinds}, parts
assert not {"click", "multiprocessing", "schemagen.runtime.writing.write"} & {*sys.modules}
"""


def test_the_generated_serializer_imports_no_tensorflow(project: Path) -> None:
    """Serializing needs numpy, and of schemagen the runtime's writing half alone."""
    found = loaded_by(SERIALIZER, project, project)
    assert found == {"numpy"}
