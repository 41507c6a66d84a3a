"""The messages that people meet most, as they read them.

`messages.txt` has them all: read a change of it as a user would. This is the only test
that knows sentences.
"""

from __future__ import annotations

import difflib
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_line import run

if TYPE_CHECKING:
    from conftest import Workspace

GOLDEN = Path(__file__).with_name("messages.txt")

SCHEMA = '''\
"""Photos of pets."""

from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record, Scalar, VarLen, Vector


class Pet(Record):
    """A pet."""

    photo: Annotated[np.ndarray | bytes, Image(shape=(2, 2, 3), encoding="png")]
    breed: Annotated[str | int, Label(classes=("beagle", "pug"))]
    age: Annotated[int, Scalar("uint8")]
    tags: Annotated[list[str], VarLen("string", max_length=2)]
    sizes: Annotated[np.ndarray, Vector(shape=(2,))]
'''

ROW: dict[str, Any] = {
    "photo": np.zeros((2, 2, 3), np.uint8),
    "breed": "pug",
    "age": 3,
    "tags": ["small"],
    "sizes": [0.5, 1.5],
}

# In the order of a project's life: a wrong line of the schema, and what replaces it.
WRONG_SCHEMAS = (
    ("VarLen(", "Varlen("),
    ('Scalar("uint8")', 'Scalar("uint9")'),
    ('Scalar("uint8")', "Scalar"),
    ("shape=(2, 2, 3)", "shape=(2, 2, 3), enc='png'"),
    ("    age: Annotated[int, ", "    age: Annotated[str, "),
    ('("beagle", "pug")', '("pug", "pug")'),
)

WRONG_VALUES: tuple[tuple[str, Any], ...] = (
    ("photo", np.zeros((2, 3, 3), np.uint8)),
    ("photo", b"<html>"),
    ("breed", "poodle"),
    ("breed", 2),
    ("age", 300),
    ("age", 2.5),
    ("age", None),
    ("tags", ["a", "b", "c"]),
    ("sizes", [0.5]),
)


@dataclass
class Project:
    """A project in a directory, with generated code and a split of data."""

    workspace: Workspace

    @property
    def root(self) -> Path:
        """Its directory."""
        return self.workspace.root

    @property
    def data(self) -> Path:
        """The directory of its data."""
        return self.root / "data"

    def module(self, part: str) -> ModuleType:
        """Import a module of the generated code."""
        return self.workspace.module("pet", part)

    def printed(self, *arguments: str | Path) -> str:
        """Return what a command of schemagen prints."""
        before = Path.cwd()
        os.chdir(self.root)
        try:
            return run(*arguments).output
        finally:
            os.chdir(before)

    def cleaned(self, text: str) -> str:
        """Return a message without what differs from run to run."""
        text = text.replace(str(self.root), "/project")
        text = re.sub(r"\bgenerated_\d+(_changed)?\b", "generated", text)
        # Versions of zlib differ in how they compress.
        text = re.sub(r"\b(?=[a-f]*\d)[0-9a-f]{8}\b", "CRC", text)
        return re.sub(r"\d+(?= bytes)|(?<=byte )[1-9]\d*|(?<=lists )\d{3,}", "N", text)


def raised(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return the message of the exception that a call ends with."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - of any class of ours
        call(*arguments, **options)
    return f"{type(caught.value).__name__}: {caught.value}"


def declaring(project: Project) -> Iterator[str]:
    """Yield what `generate` prints of wrong declarations, and then generate."""
    for right, wrong in WRONG_SCHEMAS:
        project.workspace.schema(SCHEMA.replace(right, wrong))
        yield project.printed("generate")
    project.workspace.schema(SCHEMA)
    yield project.printed("check")
    project.workspace.generate()


def writing(project: Project) -> Iterator[str]:
    """Yield the errors of wrong rows, and then write a split."""
    serializer = project.module("serializer")
    for name, value in WRONG_VALUES:
        yield raised(serializer.serialize, **{**ROW, name: value})
    yield raised(serializer.write_dataset, [ROW, {**ROW, "age": -1}], project.data, "a")
    misspelt = {**ROW, "agee": 3}
    yield raised(serializer.write_dataset, [misspelt], project.data, "a")
    serializer.write_dataset([ROW] * 3, project.data, "train")
    yield raised(serializer.write_dataset, [ROW], project.data, "train")


def reading(project: Project) -> Iterator[str]:
    """Yield the errors of directories and files that cannot be read."""
    make_dataset = project.module("pipeline").make_dataset
    yield raised(make_dataset, project.data, "tests", batch_size=1)
    yield raised(make_dataset, project.root / "dta", "train", batch_size=1)
    yield raised(make_dataset, project.data, "train", batch_size=0)
    [shard] = project.data.glob("*.tfrecord")
    intact = shard.read_bytes()
    damaged = bytearray(intact)
    (length,) = struct.unpack_from("<Q", intact)
    damaged[length // 2] ^= 1
    shard.write_bytes(damaged)
    yield raised(lambda: list(make_dataset(project.data, "train", batch_size=1)))
    yield project.printed("verify", "data")
    shard.write_bytes(intact[:-5])
    yield project.printed("verify", "data")
    shard.write_bytes(intact)


def changing(project: Project) -> Iterator[str]:
    """Yield what is said of edits, and of data that was written with another schema."""
    parser = project.root / project.workspace.package / "pet" / "parser.py"
    text = parser.read_text("utf-8")
    parser.write_text(text.replace("parse_batch", "parse_rows"), "utf-8")
    yield project.printed("check")
    parser.write_text(text, "utf-8")
    project.workspace.schema(SCHEMA.replace('("beagle", "pug")', '("pug", "beagle")'))
    yield project.printed("check")
    settings = project.root / "pyproject.toml"
    changed = f"{project.workspace.package}_changed"
    text = settings.read_text("utf-8")
    settings.write_text(text.replace(project.workspace.package, changed), "utf-8")
    project.workspace.package = changed
    project.workspace.generate()
    make_dataset = project.module("pipeline").make_dataset
    yield raised(make_dataset, project.data, "train", batch_size=1)


def asking(project: Project) -> Iterator[str]:
    """Yield what is said of command lines that cannot be carried out."""
    for arguments in (["verfy"], ["check", "--formt", "json"], ["init", "Photo"]):
        yield project.printed(*arguments).splitlines()[-1]
    (project.root / "pyproject.toml").unlink()
    yield project.printed("generate")


def test_the_most_frequent_messages_are_these(workspace: Workspace) -> None:
    """Each message has the words that were reviewed."""
    project = Project(workspace)
    found = [
        project.cleaned(message).strip()
        for situation in (declaring, writing, reading, changing, asking)
        for message in situation(project)
    ]
    text = "\n\n".join(found) + "\n"
    golden = GOLDEN.read_text("utf-8") if GOLDEN.exists() else ""
    lines = difflib.unified_diff(golden.splitlines(), text.splitlines(), lineterm="")
    if difference := "\n".join(lines):
        pytest.fail(f"messages.txt has other words:\n{difference}", pytrace=False)
