"""The section "inspect" of docs/inspecting.md is run, and prints what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import run
from schemagen.runtime.shared.tfrecord import frame

from .example_bytes import Value, example

PAGE = Path(__file__).parents[2] / "docs" / "inspecting.md"
SECTION = re.search(
    r"^## inspect\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.M | re.S
)
TEXT = SECTION[1] if SECTION else ""
PRINTED = re.compile(r"<!-- printed: (\w+) -->\n```\n(.*?)```", re.DOTALL)

CLASSES = ("daisy", "dandelion", "rose")


def jpeg(height: int, width: int) -> bytes:
    """Return what begins and ends as a JPEG does, with so many rows and columns."""
    sizes = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    frame_header = b"\xff\xc0\x00\x11\x08" + sizes + b"\x03" + bytes(9)
    pixels = bytes(height * width // 4)
    return (
        b"\xff\xd8\xff\xe0\x00\x04ab"
        + frame_header
        + (b"\xff\xda\x00\x02" + pixels + b"\xff\xd9")
    )


def flower(number: int) -> bytes:
    """Return a record as the program of the page wrote it."""
    kind = number * 7 % 11 % 3
    held: dict[str, Value] = {
        "image/encoded": ("bytes", [jpeg(60 + number % 20, 80)]),
        "image/class/label": ("int64", [kind + 1]),
        "image/class/text": ("bytes", [CLASSES[kind].encode()]),
        "image/filename": ("bytes", [b"%06d.jpg" % number]),
        "image/bbox/xmin": ("float", [at / 8 for at in range(number % 4)]),
        "tags": ("int64", [number * at % 37 for at in range(number % 6)]),
    }
    if number % 10:
        held["score"] = ("float", [number % 97 / 64])
    return example(held)


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page, next to which commands run."""
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "old"
    directory.mkdir()
    records = [frame(flower(number)) for number in range(700)]
    for shard in range(2):
        some = records[300 * shard : 300 * (shard + 1)]
        path = directory / f"train-0000{shard}-of-00002"
        path.write_bytes(b"".join(some))
    (directory / "val-00000-of-00001").write_bytes(b"".join(records[600:]))
    return directory


def shown() -> dict[str, str]:
    return dict(PRINTED.findall(TEXT))


def test_the_page_shows_what_is_printed(old: Path) -> None:
    """First of whole files, then of one that was cut."""
    found = run("inspect", "old", "--records", "1")
    assert found.exit_code == 0
    assert found.output == shown()["whole"]
    path = old / "val-00000-of-00001"
    path.write_bytes(path.read_bytes()[:-100])
    cut = run("inspect", "old", "--split", "val", "--records", "0")
    assert cut.exit_code == 1
    assert cut.output == shown()["cut"]


def test_the_page_s_python_runs(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what it says that it does."""
    [block] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(block, "page", "exec"), {})
    comments = re.findall(r"  # (.*)$", block, re.M)
    assert capsys.readouterr().out.splitlines() == comments


def test_every_option_is_on_the_page() -> None:
    """With its meaning."""
    from schemagen.cli.inspecting import inspect

    for parameter in inspect.params:
        option = parameter.opts[-1]
        if option.startswith("--"):
            assert f"| `{option}" in TEXT, option
