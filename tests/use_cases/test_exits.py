"""The end of each command: exit codes, documents for programs, and interruptions."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import schemagen
from command_line import make_project, run, snapshot
from jsonschema import Draft202012Validator
from schemagen.cli import main
from schemagen.findings import COMMAND_LINE, Finding, render_json
from schemagen.interrupts import DOCUMENT, asked_format

CHECKOUT = Path(__file__).parents[2]
PACKAGE = Path(schemagen.__file__).parent
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
    "inspect": ("data",),
    "verify": ("data",),
    "import": ("x.pbtxt", "--from", "tfmd", "--out", "x.py"),
}


def commands(group: click.Group = main) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its name, those of groups too."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", each) for sub, each in commands(command))
        else:
            yield name, command


FORMATTED = {
    name: command
    for name, command in commands()
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


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_a_wrong_command_line_is_a_document_too(name: str) -> None:
    """Unknown options and formats exit with 2 and a finding, whatever the command."""
    for wrong in (("--format", "json", "--nope"), ("--nope", "--format=json")):
        result = run(*name.split(), *wrong)
        assert result.exit_code == 2
        [finding] = findings_of(result.stdout)
        assert finding["rule"] == "SG408"
        assert finding["location"]["path"] == "command line"
        assert finding["message"].startswith("No such option")


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
    result = run(*name.split(), *ARGUMENTS[name], "--format", "json")
    assert result.exit_code == code
    [finding] = findings_of(result.stdout)
    assert finding["rule"] == rule
    shown = run(*name.split(), *ARGUMENTS[name])
    assert shown.exit_code == code
    assert shown.stdout == ""
    assert ("Traceback" in shown.stderr) is (code == 3)


def test_a_request_that_is_refused_is_a_document(tmp_path: Path) -> None:
    """Exit code 2 without a project, without data and without a source."""
    with_project = {"generate", "check", "breaking", "describe", "templates"}
    for name, arguments in ARGUMENTS.items():
        more = ("--project", tmp_path) if name in with_project else ()
        result = run(*name.split(), *arguments, *more, "--format", "json")
        assert result.exit_code == 2, name
        assert findings_of(result.stdout), name


def test_an_import_as_json_is_a_document(tmp_path: Path) -> None:
    """What is only approximated is a warning, and a clean import an empty list."""
    source = tmp_path / "x.pbtxt"
    arguments = ("import", source, "--from", "tfmd", "--force", "--format", "json")
    for count, expected in [("", []), (" value_count { min: 1 max: 4 }", ["SG463"])]:
        source.write_text(f'feature {{ name: "a" type: INT{count} }}')
        result = run(*arguments, "--out", tmp_path / "x.py")
        assert result.exit_code == 0, result.output
        found = findings_of(result.stdout)
        assert [finding["rule"] for finding in found] == expected
        assert all(finding["severity"] == "warning" for finding in found)


def test_one_document_is_printed_though_an_error_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the document ends with 130 and adds nothing."""
    project = make_project(tmp_path / "p", {"pets.py": PET})

    def interrupted(code: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("schemagen.cli.generating.leave", interrupted)
    result = run("check", "--project", project, "--format", "json")
    assert result.exit_code == 130
    assert {finding["rule"] for finding in findings_of(result.stdout)} == {"SG301"}


def test_the_format_is_found_in_any_command_line() -> None:
    """The last one counts, `--` ends options, and unknown formats are for people."""
    for arguments, style in [
        ([], "text"),
        (["check", "--format", "json"], "json"),
        (["check", "--format=github", "--nope"], "github"),
        (["check", "--format", "json", "--format", "text"], "text"),
        (["check", "--format"], "text"),
        (["check", "--format", "xml"], "text"),
        (["inspect", "--", "--format", "json"], "text"),
    ]:
        assert asked_format(arguments) == style, arguments


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
            for name in full:
                patched.setattr(sys, name, open("/dev/full", "w"))  # noqa: SIM115
            with pytest.raises(SystemExit) as ended:
                main(arguments.split())
        assert ended.value.code == 2
        said = capfd.readouterr().err
        if len(full) == 1:
            expected = "Error: the output cannot be written: No space left on device\n"
            assert said == expected
        else:
            assert said == ""


@pytest.mark.parametrize(
    "arguments",
    [
        "init {new}",
        "init {project} --train Pet",
    ],
)
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

    def full(path: Path, data: bytes) -> None:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(
        Path, "write_text", lambda path, text, **_: full(path, text.encode())
    )
    result = run(*(part.format(new=new, project=project) for part in arguments.split()))
    assert result.exit_code == 2
    assert "SG403" in result.stderr
    assert "make room on the disk" in result.stderr
    found = snapshot(tmp_path)
    assert {path: file[1] for path, file in found.items()} == {
        path: file[1] for path, file in before.items()
    }


# Ctrl-C


def test_the_document_of_an_interruption_is_that_of_its_finding() -> None:
    """It is a constant, since it may be printed before anything is imported."""
    finding = Finding(
        COMMAND_LINE,
        "SG409",
        "the command was interrupted",
        advice="run the command again",
    )
    assert render_json([finding]) + "\n" == DOCUMENT


_INTERRUPT = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
_START = "from schemagen.interrupts import *; end_at_interrupts(['--format', 'json'])"


@pytest.mark.parametrize(
    ("program", "code", "stdout", "stderr"),
    [
        (
            f"{_START}\ntry:\n    import interrupting\nexcept BaseException: pass",
            130,
            DOCUMENT,
            "",
        ),
        (
            f"{_START}\ntry:\n    {_INTERRUPT}\nexcept KeyboardInterrupt: print(1)",
            0,
            "1\n",
            "",
        ),
        (
            f"{_START}\nclass A:\n    def __del__(self): {_INTERRUPT}\nA()\nprint(1)",
            130,
            DOCUMENT,
            "",
        ),
        (f"{_START}\nignore_interrupts()\n{_INTERRUPT}\nprint(1)", 0, "1\n", ""),
    ],
    ids=["import", "work", "destructor", "end"],
)
def test_an_interrupt_ends_at_once_where_it_could_be_swallowed(
    tmp_path: Path, program: str, code: int, stdout: str, stderr: str
) -> None:
    """In imports and destructors it ends the process; in work it is an exception."""
    (tmp_path / "interrupting.py").write_text(_INTERRUPT)
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout, found.stderr) == (code, stdout, stderr)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "first"), [(["check"], 0), (["generate", "--format", "json"], 15)]
)
def test_an_interrupt_at_any_time_shows_no_traceback_of_ours(
    tmp_path: Path, arguments: list[str], first: int
) -> None:
    """From its first line on, the program ends with 130; before, Python says so."""
    project = make_project(tmp_path / "p", {"pets.py": PET})
    schemagen.generate(project)
    codes, silent = [], 0
    for delay in range(first, 600, 30):
        process = subprocess.Popen(
            [sys.executable, "-m", "schemagen", *arguments],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate()
        assert str(PACKAGE) not in stderr
        if process.returncode == 130:
            assert stderr.strip() == ""
            if "json" in arguments and stdout:
                findings_of(stdout)
            silent += "json" in arguments and not stdout
        else:
            assert process.returncode == 0 or codes.count(130) == 0
        codes.append(process.returncode)
    assert 130 in codes
    assert silent <= 2  # before the arguments have been looked at
