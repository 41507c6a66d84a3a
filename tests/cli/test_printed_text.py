"""Text of files in the output, which services that keep logs could take for commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import tensorflow as tf
from command_line import COMMANDS, make_project, run
from tfrecord_files import frame

_COMMANDS = ("::error file=x::boom", " ::add-mask::b", "##[error]boom", "##vso[a]b")

_COMMAND_OF_A_SERVICE = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


def _example() -> bytes:
    """Return a record whose keys and values are commands."""
    found = tf.train.Example()
    for key in _COMMANDS:
        found.features.feature[key].bytes_list.value.append(f"\n{key}".encode())
    return bytes(found.SerializeToString())


def _output(*arguments: str | Path) -> str:
    result = run(*arguments)
    assert result.exit_code in (0, 1, 2), result.output
    return result.output


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of such records, whose name is a command, in the working directory."""
    monkeypatch.chdir(tmp_path)
    name = "::error file=x::train.tfrecord"
    records = [frame(_example()), b"cut"]
    Path(name).write_bytes(b"".join(records))
    return name


@pytest.mark.usefixtures("adopt_in_process")
def test_no_verb_prints_a_command_that_a_file_holds(data: str) -> None:
    """Keys, values, names of files and their errors: no line is such a command."""
    project = make_project(
        Path("project"), {"a.py": "raise ValueError('\\n::error::boom\\n##[error]x')"}
    )
    Path("other").write_bytes(frame(b"") * 2)
    outputs = [
        _output("inspect", data),
        _output("inspect", data, "--markdown"),
        _output("diff", data, "other"),
        _output("diff", "other", data),
        _output("describe", f"./{data}"),
        _output("describe", f"./{data}", "--markdown"),
        _output("verify", data),
        _output("infer", data, "--out", "schema.py"),
        _output("adopt", data, "--out", "schemas/b.py"),
        _output("inspect", f"missing\n{data}"),
        _output("inspect", data, "--records", f"\n{data}"),
        _output("generate", "--project", project),
        *(_output(verb, data, "--format", "json") for verb in ("inspect", "verify")),
    ]
    for output in outputs:
        assert "error" in output
        assert not _COMMAND_OF_A_SERVICE.search(output), output


def test_documents_for_programs_have_the_text_of_the_file(data: str) -> None:
    """What is escaped in JSON reads as what it was."""
    document = json.loads(run("inspect", data, "--format", "json").stdout)
    assert document["files"][0]["path"].endswith(data)
    shown = json.dumps(document)
    assert all(key in shown for key in _COMMANDS)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Returns what is printed of the message of a bug, which ends its traceback."""

    def printed(text: str) -> str:
        def fail(name: str) -> None:
            raise RuntimeError(f"{name}\n{text}")

        monkeypatch.setattr(COMMANDS["explain"], "callback", fail)
        result = run("explain", "SG101")
        assert result.exit_code == 3
        return result.output.partition("RuntimeError: SG101\n")[2]

    return printed


@pytest.mark.parametrize(
    "text",
    [
        *_COMMANDS,
        "a\n::b",
        "a\r::b",
        f"\n\t \u00a0{click.style('::b', bold=True)}",
        "\x1b[0K::b",
        "a ###[b]",
    ],
)
def test_a_line_that_begins_with_a_command_is_escaped(
    printed: Callable[[str], str], text: str
) -> None:
    """Behind a line break, space and colors too, which a log does not show."""
    shown = printed(text)
    assert not _COMMAND_OF_A_SERVICE.search(shown.replace("\r", "\n"))
    assert "b" in click.unstyle(shown)


@pytest.mark.parametrize("text", ["a::b", "std::vector", "# a [b]", "## a [b]", ":b"])
def test_other_text_is_printed_as_it_is(
    printed: Callable[[str], str], text: str
) -> None:
    """Two colons within a line, and headings of Markdown."""
    assert printed(text).startswith(f"{text}\n")
