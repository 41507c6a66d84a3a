"""The section "verify" of docs/inspecting.md is run, and prints what it shows."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, run
from schemagen.runtime.shared.tfrecord import frame

from .messages import example

PAGE = Path(__file__).parents[2] / "docs" / "inspecting.md"
SECTION = re.search(
    r"^## verify\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S
)
TEXT = SECTION[1] if SECTION else ""
PRINTED = re.compile(r"<!-- printed: (\w+) -->\n```\n(.*?)```", re.DOTALL)

SCHEMA = '''\
from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record, Text


class Shelter(Record):
    """An animal of the shelter."""

    photo: Annotated[np.ndarray, Image((8, 8, 3))]
    breed: Annotated[int, Label(classes=("beagle", "pug", "tabby"))]
    note: Annotated[str, Text(role="info")]
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with the data of the page, which is where commands run."""
    root = make_project(tmp_path, {"shelter.py": SCHEMA})
    settings = root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("generated", "page_of_verify"), encoding="utf-8")
    schemagen.generate(root)
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.chdir(root)
    from page_of_verify.shelter.serializer import (  # type: ignore[import-not-found]
        write_dataset,
    )

    write_dataset(rows(1200), root / "data", "train", shards=3)
    write_dataset(rows(90), root / "data", "test", shards=1)
    yield root
    for name in [each for each in sys.modules if each.startswith("page_of_verify")]:
        del sys.modules[name]


def rows(count: int) -> Iterator[dict[str, object]]:
    import numpy as np

    for number in range(count):
        photo = np.full((8, 8, 3), number % 256, np.uint8)
        yield {"photo": photo, "breed": number % 3, "note": f"animal {number}"}


def damage(root: Path) -> None:
    """Do what the page says has happened."""
    first, second, third = sorted((root / "data").glob("train-*"))
    first.unlink()
    contents = bytearray(second.read_bytes())
    contents[70_000] ^= 1
    second.write_bytes(contents)
    old = [
        {"photo": [bytes(4 * 192)], "breed": [3], "note": ["Zoë".encode("latin-1")]},
        {"photo": [bytes(4 * 192)], "breed": [1], "note": [b"Rex"]},
    ]
    third.write_bytes(third.read_bytes() + b"".join(frame(example(o)) for o in old))


def shown() -> dict[str, str]:
    return dict(PRINTED.findall(TEXT))


def test_the_page_shows_what_is_printed(project: Path) -> None:
    """First of whole data, then of damaged data."""
    clean = run("verify", "data")
    assert clean.exit_code == 0
    assert clean.output == shown()["clean"]
    damage(project)
    wrong = run("verify", "data")
    assert wrong.exit_code == 1
    assert wrong.stderr + wrong.stdout == shown()["wrong"]


def test_the_commands_of_several_machines_check_every_shard(project: Path) -> None:
    """Each has an exit code, and together they find what one run finds."""
    section = TEXT.partition("### Several machines")[2]
    commands = re.findall(r"^schemagen verify (.*?)(?:  +#.*)?$", section, re.M)[:4]
    runs = [shlex.split(each) for each in commands]
    assert [found(*each) for each in runs] == [set()] * 4
    damage(project)
    (project / "data/extra-00000-of-00001.tfrecord").write_bytes(b"")
    assert set().union(*(found(*each) for each in runs)) == found("data")


def found(*arguments: str) -> set[tuple[str, str]]:
    """Return the rules and files of what a run finds, and check its exit code."""
    result = run("verify", *arguments, "--format", "json")
    findings = json.loads(result.stdout)["findings"]
    assert result.exit_code == (1 if findings else 0)
    return {
        (each["rule"], example["path"])
        for each in findings
        for example in each["data"]["examples"]
    }


def test_the_page_s_python_runs(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints a line for each finding."""
    damage(project)
    [block] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(block, "page", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert "SG527 breed 1 3" in lines


def test_every_option_is_on_the_page() -> None:
    """With its meaning."""
    from schemagen.cli.verifying import verify

    for parameter in verify.params:
        option = parameter.opts[-1]
        if option.startswith("--") and option != "--project":
            assert f"`{option}" in TEXT, option
