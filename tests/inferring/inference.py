"""Records to infer from, and what `schemagen infer` writes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import schemagen
from command_line import run
from data.messages import example, write_file
from schema_files import record_class


@dataclass(frozen=True)
class Inferred:
    """A schema file that was written.

    Attributes:
        path: where.
        data: what it was inferred from.
        output: what the command printed.
    """

    path: Path
    data: Path | str
    output: str

    @property
    def read(self) -> str:
        """The records that it was inferred from, in the words of the command."""
        return re.search(r", from (.*)", self.output)[1]  # type: ignore[index]

    @property
    def text(self) -> str:
        """The content of the file."""
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """The content of the file in one line, without the marks of comments."""
        return " ".join(self.text.replace("#", "").split())

    @cached_property
    def spec(self) -> Any:
        """What the file declares."""
        return schemagen.describe(record_class(self.path))

    @property
    def fields(self) -> dict[str, Any]:
        """The declared fields by key."""
        return {each.key: each for each in self.spec.fields}

    @property
    def comments(self) -> dict[str, str]:
        """The comments of each key in one line; those of the class have the key ""."""
        comments: dict[str, str] = {}
        said: list[str] = []
        for line in self.text.splitlines():
            if line.lstrip().startswith("#"):
                said.append(line.strip(" #"))
            elif name := re.match(r"class Found\(|\s+(\w+):", line):
                comments[name[1] or ""] = " ".join(said)
                said = []
        fields = self.fields
        keys = {each.path[-1]: key for key, each in fields.items() if each.path}
        keys |= {each.name: key for key, each in fields.items()}
        return {keys.get(name, name): text for name, text in comments.items()}


def infer(data: Path | str, out: Path, **options: str | int | bool) -> Inferred:
    """Run `schemagen infer`, which has to write a schema file."""
    named = [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in options.items()
    ]
    result = run("infer", data, "--out", out, *named)
    assert result.exit_code in (0, 1), result.output
    return Inferred(out, data, result.output)


def found_in(
    directory: Path, messages: Sequence[bytes]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the inferred fields by key, and the comments of each."""
    data = write_file(directory / "records", messages)
    found = infer(data, directory / "found.py", force=True)
    return found.fields, found.comments


def many(row: Any, number: int = 30) -> list[bytes]:
    """Return records of rows that a function of their number makes."""
    return [example(row(at)) for at in range(number)]
