"""The same schemas give the same bytes: everywhere, in any order, under any seed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from command_line import make_project

SCHEMAS = {
    "pets.py": """\
from enum import Enum
from typing import Annotated, Literal

import numpy as np

from schemagen import Image, Label, Record, Scalar, Text, VarLen, Vector

Color = Enum("Color", {"RED": "red", "BLUE": "blue"})


class Pet(Record):
    \"\"\"A pet.\"\"\"

    photo: Annotated[np.ndarray, Image(shape=(None, None, 3), encoding="png")]
    sizes: Annotated[np.ndarray, Vector(shape=(2, 3))]
    tokens: Annotated[list[int], VarLen("int64")]
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
    weight: Annotated[float, Scalar("float32", role="weight")]
    note: Annotated[str, Text(key="pet/note")] = "-"
    size: Literal["small", "large"] | None = None
    color: Color
""",
    "deep/dogs.py": "from schemagen import Record\n\nclass Dog(Record):\n    age: int\n",
    "birds.py": "from schemagen import Record\n\nclass Bird(Record):\n    age: int\n",
}


def generated(project: Path, cwd: Path, **environment: str) -> dict[str, bytes]:
    """Generate in a process of its own and return the files."""
    command = [sys.executable, "-m", "schemagen", "generate", "--project", str(project)]
    subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, check=True, text=True
    )
    output = project / "generated"
    return {
        path.relative_to(output).as_posix(): path.read_bytes()
        for path in output.rglob("*.*")
    }


def test_the_same_schemas_give_the_same_bytes(tmp_path: Path) -> None:
    """Hash seed, time zone, locale, directory and order of files do not matter."""
    one = make_project(tmp_path / "one", SCHEMAS)
    order = dict(reversed(SCHEMAS.items()))
    other = make_project(tmp_path / "deep" / "in" / "other", order)
    first = generated(one, tmp_path, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    second = generated(
        other, other, PYTHONHASHSEED="2", TZ="Asia/Tokyo", PYTHONUTF8="0"
    )
    assert first == second
    assert {path.split("/")[0] for path in first} >= {"pet", "dog", "bird", "_support"}


def test_generated_code_tells_nothing_of_the_machine(tmp_path: Path) -> None:
    """No absolute path, no user and no version of the generator is in it."""
    project = make_project(tmp_path / "somewhere", SCHEMAS)
    files = generated(project, project)
    for path, data in files.items():
        assert str(tmp_path).encode() not in data, path
        assert b"\r" not in data, path
        assert data.endswith(b"\n"), path


def test_a_second_run_gives_what_the_first_gave(tmp_path: Path) -> None:
    """Generating over generated code is generating anew."""
    project = make_project(tmp_path / "p", SCHEMAS)
    first = generated(project, project)
    assert generated(project, project) == first
    shutil.rmtree(project / "generated")
    assert generated(project, project) == first
