"""Type checkers understand schema files, and find what is wrong in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]

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
    """Rows by index, no one knows how many."""

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


READING = """\
from generated import DatasetError, check_files
from generated.digit.model import adapt, build_model, export_serving
from generated.digit.pipeline import make_dataset


def use() -> list[str]:
    dataset = make_dataset("data", "train", batch_size=8, training=True, seed=1)
    make_dataset({"one": 0.5, "other": 0.5}, batch_size=8, bucket_by="ink_runs")
    make_dataset("data", "train", batch_size="8")  # wrong
    make_dataset("data", "train", batchsize=8)  # wrong
    make_dataset("data", "train", 8)  # wrong
    make_dataset("data", batch_size=8, on_corrupt="ignore")  # wrong
    model = build_model(fields=["image"], optimizer="sgd")
    build_model(field=["image"])  # wrong
    adapt(model)  # wrong
    adapt(model, dataset)
    export_serving(model, "served", replace=True)  # wrong
    try:
        return check_files("data")
    except DatasetError as error:
        return error.nothing  # wrong
"""


def wrong_lines(text: str) -> set[int]:
    return {
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.endswith("# wrong")
    }


TEXTS = {
    "pets.py": SCHEMA,
    "pets_writing.py": WRITING,
    "pets_reading.py": READING,
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What is checked: these texts, our schemas, those of the formats in the tests."""
    found = sorted((ROOT / "schemas").glob("*.py"))
    found += sorted((ROOT / "tests" / "formats" / "schemas").glob("*.py"))
    assert len(found) > 3
    directory = tmp_path_factory.mktemp("typing")
    for name, text in TEXTS.items():
        (directory / name).write_text(text)
    return [*found, *(directory / name for name in TEXTS)]


@pytest.fixture(scope="module", params=["mypy", "pyright"])
def errors(request: pytest.FixtureRequest, paths: list[Path]) -> list[tuple[str, int]]:
    """What a checker finds in one run over all: file names and lines from 1."""
    return CHECKERS[request.param](paths)


def mypy(paths: list[Path]) -> list[tuple[str, int]]:
    """Return the errors that mypy finds in its strict mode."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental"]
    command += map(str, paths)
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert f"(checked {len(paths)} source files)" in result.stdout, result.stdout
    found = re.findall(r"(\w+\.py):(\d+): error", result.stdout)
    return [(name, int(line)) for name, line in found]


def pyright(paths: list[Path]) -> list[tuple[str, int]]:
    """Return the errors that pyright finds, as editors show them."""
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


CHECKERS = {"mypy": mypy, "pyright": pyright}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_wrong_is_found_and_nothing_else(
    errors: list[tuple[str, int]], name: str
) -> None:
    """By both checkers, each mistake at its line."""
    assert {line for file, line in errors if file == name} == wrong_lines(TEXTS[name])


def test_the_schemas_of_this_repository_are_clean(
    errors: list[tuple[str, int]],
) -> None:
    """For both checkers: ours, and those of the formats in the tests."""
    assert [error for error in errors if error[0] not in TEXTS] == []
