"""The end of each command: exit codes, documents for programs, and interruptions."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command_line import COMMANDS, main, make_project, run, snapshot
from jsonschema import Draft202012Validator

CHECKOUT = Path(__file__).parents[2]
SCHEMA = json.loads((CHECKOUT / "docs/findings.schema.json").read_text("utf-8"))

PET = """\
from typing import Annotated

from schemagen import Label, Record


class Pet(Record):
    age: int
    breed: Annotated[int, Label(num_classes=2)]
"""

# What each command with --format needs to be called.
ARGUMENTS = {
    "generate": (),
    "check": (),
    "breaking": ("--against", "main"),
    "describe": (),
    "templates": (),
    "diff": ("data", "more"),
    "inspect": ("data",),
    "verify": ("data",),
    "import": ("x.pbtxt", "--from", "tfmd", "--out", "x.py"),
    "infer": ("data", "--out", "x.py"),
    "adopt": ("data", "--out", "schemas/x.py"),
    "export": ("pet", "--to", "tfmd", "--out", "x.pbtxt"),
}


FORMATTED = {
    name: command
    for name, command in COMMANDS.items()
    if any("--format" in parameter.opts for parameter in command.params)
}


def findings_of(stdout: str) -> list[dict[str, Any]]:
    """Return the findings of a document, which has to follow its schema."""
    data = json.loads(stdout)
    Draft202012Validator(SCHEMA).validate(data)
    found: list[dict[str, Any]] = data["findings"]
    return found


def test_every_command_with_a_format_is_called_below() -> None:
    """A new command with --format is tested like the others."""
    assert set(FORMATTED) == set(ARGUMENTS)


@pytest.mark.parametrize(
    "words",
    [
        *(f"{name} --format json --nope" for name in COMMANDS),
        "check --nope --format=json",
        "nope --format json",
        "check --format text --format json --nope",
        "generate --format json --project /no/such/directory",
        "describe --format json a b",
    ],
)
def test_a_wrong_command_line_is_a_document_too(words: str) -> None:
    """Usage errors exit with 2 and a finding, whatever the command."""
    result = run(*words.split())
    assert result.exit_code == 2
    [finding] = findings_of(result.stdout)
    assert finding["rule"] == "SG408"
    assert finding["location"]["path"] == "command line"


@pytest.mark.parametrize("words", ["check --format", "check --format xml", "x --help"])
def test_other_wrong_command_lines_are_for_people(words: str) -> None:
    """Nothing is on stdout then."""
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize("name", FORMATTED)
@pytest.mark.parametrize(
    ("error", "code", "rule"),
    [
        (ValueError("oops"), 3, "SG410"),
        (KeyboardInterrupt(), 130, "SG409"),
        (OSError(errno.ENOSPC, "disk full", "x.py"), 2, "SG403"),
    ],
)
def test_an_end_by_an_error_is_a_document(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    error: BaseException,
    code: int,
    rule: str,
) -> None:
    """A bug, Ctrl-C and a full disk print findings, with their exit codes."""

    def fails(**options: object) -> None:
        raise error

    monkeypatch.setattr(FORMATTED[name], "callback", fails)
    result = run(name, *ARGUMENTS[name], "--format", "json")
    assert result.exit_code == code
    [finding] = findings_of(result.stdout)
    assert finding["rule"] == rule
    shown = run(name, *ARGUMENTS[name])
    assert shown.exit_code == code
    assert shown.stdout == ""
    assert ("Traceback" in shown.stderr) is (code == 3)


def test_a_request_that_is_refused_is_a_document(tmp_path: Path) -> None:
    """Exit code 2 without a project, without data and without a source."""
    with_project = {
        *("generate", "check", "breaking", "describe", "templates"),
        "export",
    }
    for name, arguments in ARGUMENTS.items():
        more = ("--project", tmp_path) if name in with_project else ()
        result = run(name, *arguments, *more, "--format", "json")
        assert result.exit_code == 2, name
        assert findings_of(result.stdout), name


def test_one_document_is_printed_though_an_error_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the document ends with 130 and adds nothing."""
    project = make_project(tmp_path / "p", {"pets.py": PET})

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("schemagen.cli.generating.leave", interrupted)
    result = run("check", "--project", project, "--format", "json")
    assert result.exit_code == 130
    assert {finding["rule"] for finding in findings_of(result.stdout)} == {"SG301"}


# Output that cannot be written


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments", ["--help", "explain SG101", "check --format json"]
)
def test_output_into_a_full_device_is_exit_code_2_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: str,
) -> None:
    """No traceback is shown, and nothing is said if stderr is full, too."""
    make_project(tmp_path / "p", {"pets.py": PET})
    monkeypatch.chdir(tmp_path / "p")
    for full in (["stdout"], ["stdout", "stderr"]):
        with monkeypatch.context() as patched:
            opened = [open("/dev/full", "w") for _ in full]  # noqa: SIM115
            for name, file in zip(full, opened, strict=True):
                patched.setattr(sys, name, file)
            with pytest.raises(SystemExit) as ended:
                main(arguments.split())
        for file in opened:
            with suppress(OSError):  # what could not be written
                file.close()
        assert ended.value.code == 2
        said = capfd.readouterr().err
        assert said.count("\n") == (len(full) == 1)
        assert ("No space left on device" in said) == (len(full) == 1)


@pytest.mark.parametrize("arguments", ["init {new}", "init {project} --train Pet"])
def test_a_disk_that_is_full_has_no_half_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    """What is written once for users to change appears whole or not at all."""
    project = make_project(tmp_path / "project", {"pets.py": PET})
    new = tmp_path / "new"
    new.mkdir()
    (new / "schemas").mkdir()
    (project / "templates").mkdir()
    before = snapshot(tmp_path)

    def full(file: Any, data: bytes) -> None:
        file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("schemagen.runtime.storage.local._write_all", full)
    result = run(*(part.format(new=new, project=project) for part in arguments.split()))
    assert result.exit_code == 2
    assert "SG403" in result.stderr
    found = snapshot(tmp_path)
    assert {path: file[1] for path, file in found.items()} == {
        path: file[1] for path, file in before.items()
    }


# Ctrl-C


_INTERRUPT = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
_START = "from schemagen.interrupts import *; end_at_interrupts()"


# A program, its exit code, and what it prints.
INTERRUPTED = {
    "import": (
        f"{_START}\ntry:\n    import interrupting\nexcept BaseException: pass",
        130,
        "",
    ),
    "work": (
        f"{_START}\ntry:\n    {_INTERRUPT}\nexcept KeyboardInterrupt: print(1)",
        0,
        "1\n",
    ),
}


@pytest.mark.parametrize("case", INTERRUPTED)
def test_an_interrupt_ends_at_once_where_it_could_be_swallowed(
    tmp_path: Path, case: str
) -> None:
    """In imports it ends the process; in work it is an exception."""
    program, code, stdout = INTERRUPTED[case]
    (tmp_path / "interrupting.py").write_text(_INTERRUPT)
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout, found.stderr) == (code, stdout, "")
