"""Type checkers understand schema files, and find what is wrong in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# What ends in `# wrong` has to be reported there, and nothing else.
SCHEMA = '''\
from enum import Enum
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from schemagen import Image, Label, Nested, Record, Scalar, Text, VarLen, Vector, constants

SHARED = constants(__file__)


class Grade(Enum):
    GOOD = "good"
    BAD = "bad"


class Notes(BaseModel):
    """What the vet wrote."""

    text: Annotated[str, Text(role="info")]
    codes: list[int] = []


class Pet(Record):
    """One pet."""

    photo: Annotated[NDArray[np.uint8] | bytes, Image((4, 4, 3), encoding="png")]
    tokens: Annotated[list[int], VarLen("int64", max_length=SHARED["max_tokens"])]
    box: Annotated[np.ndarray, Vector((4,), key="object/box")]
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
    size: Literal["small", "large"]
    grade: Grade | None = None
    age: float | None = None
    notes: Annotated[Notes, Nested(key="vet/notes")]


def sized(length: int) -> type[Record]:
    class Sized(Record):
        ids: Annotated[list[int], VarLen("int64", max_length=length)]

    return Sized


Short = sized(8)


def use(row: dict[str, Any], pet: Pet) -> float:
    Pet(**row)
    first: int = pet.notes.codes[0]
    grade: Grade | None = pet.grade
    text: int = pet.notes.text  # wrong
    pet.notes.txt  # wrong
    Image((4, 4, 3), encoding="jpg")  # wrong
    Image((4, 4), encoding="png")  # wrong
    Label(classes=("pug",), rolle="info")  # wrong
    Label(classes=2)  # wrong
    VarLen("int64", max_length="8")  # wrong
    Vector(4)  # wrong
    Scalar("float32", role="output")  # wrong
    Nested()  # wrong
    del first, grade, text
    return pet.age  # wrong
'''


WRITING = '''\
from collections.abc import Iterator
from functools import partial
from typing import Any

from generated.digit.serializer import Writer, write_dataset


class Table:
    """Rows by index."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"label": index}


class Endless:
    """Rows by index, nobody knows how many."""

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"label": index}


def rows(first: int) -> Iterator[dict[str, Any]]:
    yield {"label": first}


def use(table: Table) -> int:
    write_dataset(rows(0), "data", "train")
    write_dataset([{"label": 0}], "data", "train", shards=2, workers=2)
    write_dataset(table, "data", "train", shuffle_seed=1, progress=print)
    write_dataset([partial(rows, n) for n in range(3)], "data", "train")
    write_dataset(Endless(), "data", "train")  # wrong
    write_dataset([rows, rows], "data", "train")  # wrong
    write_dataset(3, "data", "train")  # wrong
    write_dataset(table, "data", "train", on_error="ignore")  # wrong
    write_dataset(table, "data", "train", worker=2)  # wrong
    with Writer("data", "train") as writer:
        writer.write(lable=3)  # wrong
    return write_dataset(table, "data", "train", compression="GZIP")
'''


def wrong_lines(text: str) -> set[int]:
    return {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.endswith("# wrong")
    }


USES = pytest.mark.parametrize("text", [SCHEMA, WRITING], ids=["schema", "writing"])


@pytest.mark.slow
@USES
def test_mypy_finds_what_is_wrong_and_nothing_else(tmp_path: Path, text: str) -> None:
    """In its strict mode, each mistake at its line."""
    path = tmp_path / "pets.py"
    path.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = re.findall(r"pets\.py:(\d+): error", result.stdout)
    assert set(map(int, found)) == wrong_lines(text), result.stdout


def pyright(*paths: Path) -> list[tuple[str, int]]:
    """Return the errors that pyright finds: file names and lines from 1."""
    command = [sys.executable, "-m", "pyright", "--outputjson", *map(str, paths)]
    command += ["--pythonpath", sys.executable]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    report = json.loads(result.stdout)
    assert report["summary"]["filesAnalyzed"] >= len(paths)
    return [
        (Path(item["file"]).name, item["range"]["start"]["line"] + 1)
        for item in report["generalDiagnostics"]
        if item["severity"] == "error"
    ]


@pytest.mark.slow
@USES
def test_pyright_finds_what_is_wrong_and_nothing_else(
    tmp_path: Path, text: str
) -> None:
    """The same mistakes, as editors show them."""
    path = tmp_path / "pets.py"
    path.write_text(text)
    assert {line for _, line in pyright(path)} == wrong_lines(text)


@pytest.mark.slow
def test_the_schemas_of_this_repository_are_clean() -> None:
    """For both checkers: ours, and those of the formats in the tests."""
    schemas = sorted((ROOT / "schemas").glob("*.py"))
    schemas += sorted((ROOT / "tests" / "formats" / "schemas").glob("*.py"))
    assert len(schemas) > 3
    assert pyright(*schemas) == []
    command = [sys.executable, "-m", "mypy", "--strict", *map(str, schemas)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
