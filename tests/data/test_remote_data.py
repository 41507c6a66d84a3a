"""Data behind URLs: what the verbs say of it is what they say of local files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import run
from damaged_files import flip_bit
from schemagen.runtime.shared.errors import DatasetError
from tfrecord_files import frame, frames

from .messages import Mixed, mixed, write_data

URL = "memory://bucket/data"
SHARDS = [f"train-{n:05}-of-00003.tfrecord" for n in range(3)]


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A data directory of three shards."""
    messages = [mixed(number) for number in range(30)]
    return write_data(tmp_path / "data", Mixed, {"train": messages}, shards=3)


def damage(data: Path) -> None:
    """Change a shard, take one away, and put a file there that is not listed."""
    flip_bit(data / SHARDS[1], 30)
    (data / "old.tfrecord").write_bytes(frame(b""))
    (data / SHARDS[2]).unlink()


def cut_manifest(data: Path) -> None:
    text = (data / "manifest.json").read_bytes()
    (data / "manifest.json").write_bytes(text[:-9])


def upload(data: Path, memory: Any) -> None:
    for path in data.iterdir():
        memory.pipe(f"/bucket/data/{path.name}", path.read_bytes())


CHANGES = {
    "sound": (lambda data: None, 0),
    "damaged": (damage, 1),
    "without a manifest": (lambda data: (data / "manifest.json").unlink(), 0),
    "with a cut manifest": (cut_manifest, 1),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "source", ["", f"/{SHARDS[1]}", "/train-*", "/train-0000[01]*"]
)
def test_a_verb_says_of_a_url_what_it_says_of_a_path(
    local: Path, memory: Any, tmp_path: Path, change: str, source: str
) -> None:
    """Of a directory, a file and globs; the schema that is inferred is the same."""
    make, code = CHANGES[change]
    make(local)
    upload(local, memory)
    out = tmp_path / "found.py"
    said: list[list[tuple[int, str]]] = []
    for where in (str(local), URL):
        shown = []
        for verb in ("verify", "inspect", "infer"):
            form = ("--out", out) if verb == "infer" else ("--format", "json")
            result = run(verb, f"{where}{source}", *form)
            shown.append((result.exit_code, result.output.replace(where, "DATA")))
        shown.append(
            (0, out.read_text().replace(where, "DATA") if out.exists() else "")
        )
        said.append(shown)
        out.unlink(missing_ok=True)
    assert said[0] == said[1]
    if not source:
        assert [each for each, _ in said[1][:2]] == [code, code]


def test_large_remote_files_are_requested_in_pieces(memory: Any) -> None:
    """Sound ones are read whole, however many requests that takes."""
    messages = [mixed(number % 30) for number in range(8_000)]
    data = frames(messages)
    memory.pipe("/bucket/large.tfrecord", data)
    found = schemagen.verify("memory://bucket/large.tfrecord")
    assert (found.records, found.clean) == (8_000, True)
    assert found.splits[0].bytes == len(data)


def test_a_server_that_ignores_ranges_is_an_error(
    local: Path, memory: Any, no_pauses: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer is not taken for the range."""
    upload(local, memory)
    whole = memory.cat_file
    monkeypatch.setattr(
        type(memory), "cat_file", lambda self, path, **options: whole(path) + b"more"
    )
    found = schemagen.verify(f"{URL}/{SHARDS[0]}")
    assert "SG510" in [each.rule for each in found.findings]


def test_data_that_no_server_answers_for_is_an_error(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the URL; so does data that is not there."""
    with pytest.raises(DatasetError, match="memory://b/no"):
        schemagen.verify("memory://b/no")

    def isdir(self: Any, path: str) -> bool:
        raise ConnectionError("refused by the test")

    monkeypatch.setattr(type(memory), "isdir", isdir)
    with pytest.raises(DatasetError, match=rf"{URL}: .*refused by the test"):
        schemagen.verify(URL)


@pytest.mark.parametrize(
    "arguments",
    [
        *[("inspect", URL), ("verify", URL), ("diff", URL, URL)],
        *[("infer", URL, "--out", "a.py"), ("adopt", URL, "--out", "schemas/a.py")],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_missing_package_is_not_a_fault_of_the_data(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is located at the command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("command line: SG407 ")
    assert 'pip install "schemagen-tfrecord[remote]"' in result.stderr
