"""`generate --watch` for real: a process, files that are saved, and what it says."""

from __future__ import annotations

import os
import py_compile
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import pytest
from command_line import make_project, run, snapshot

PET = """\
from schemagen import Label, Record
from typing import Annotated

class Pet(Record):
    age: int
"""
_PATIENCE_SECONDS = 60


class Watcher:
    """A `schemagen generate --watch` that runs.

    Args:
        root: the project, in which it runs.
        log: the file that takes what it prints.
    """

    def __init__(self, root: Path, log: Path) -> None:
        self._log = log
        self._seen = 0
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "schemagen", "generate", "--watch"],
                cwd=root,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                # Shells let what they start in the background ignore it.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            )

    def prints_until(self, text: str) -> str:
        """Return what is printed from the last time on, as soon as a text is in it."""
        until = monotonic() + _PATIENCE_SECONDS
        while monotonic() < until:
            new = self._log.read_text()[self._seen :]
            if text in new:
                self._seen += new.index(text) + len(text)
                return new
            assert self.process.poll() is None, self._log.read_text()
            sleep(0.05)
        raise AssertionError(f"no {text!r} in {self._log.read_text()!r}")

    def after(self, change: Callable[[], object]) -> str:
        """Return what is printed after a change, until it waits for the next."""
        change()
        return self.prints_until("watching for changes")

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(_PATIENCE_SECONDS)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a module next to the schemas and one that they share."""
    root = make_project(
        tmp_path / "p",
        {
            "pets.py": PET,
            "dogs.py": "from breeds import BREEDS\n"
            + PET.replace("Pet", "Dog")
            + "    breed: Annotated[int, Label(classes=BREEDS)]\n"
            '    place: Annotated[int, Label(vocabulary="places.txt")]\n',
        },
    )
    (root / "breeds.py").write_text('BREEDS = ("pug", "tabby")\n')
    (root / "schemas/places.txt").write_text("home\nfarm\n")
    return root


@pytest.fixture
def watcher(project: Path, tmp_path: Path) -> Iterator[Watcher]:
    """A watcher that has generated for the first time."""
    found = Watcher(project, tmp_path / "log.txt")
    try:
        found.prints_until("watching for changes")
        yield found
    finally:
        found.process.kill()
        found.process.wait()


def saved(path: Path, text: str) -> Callable[[], object]:
    """Save a file at once, as editors do: under another name first."""

    def change() -> None:
        beside = path.with_name(f"{path.name}~")
        beside.write_text(text)
        beside.replace(path)

    return change


def replaced(path: Path, old: str, new: str) -> Callable[[], object]:
    """Save a file with other text."""
    text = path.read_text()
    assert old in text
    return saved(path, text.replace(old, new))


def spec(project: Path, record: str) -> str:
    return (project / f"generated/{record}/spec.json").read_text()


@pytest.mark.slow
def test_it_generates_when_a_schema_is_saved(project: Path, watcher: Watcher) -> None:
    """Only the record's files; a broken schema is told, and correcting it goes on."""
    pets = project / "schemas/pets.py"
    before = snapshot(project / "generated/dog")
    printed = watcher.after(replaced(pets, "age: int", "age: float"))
    assert "schemas/pets.py has changed\n" in printed
    assert "updated generated/pet (8 files)\n" in printed
    assert "updated generated/dog" not in printed
    assert "import make_dataset" not in printed
    assert "float32" in spec(project, "pet")
    printed = watcher.after(replaced(pets, "age: float", "age: dict"))
    assert "schemas/pets.py:5:5: SG111 Pet.age: " in printed
    assert "float32" in spec(project, "pet")
    printed = watcher.after(replaced(pets, "age: dict", "years: bool"))
    assert "updated generated/pet (8 files)\n" in printed
    assert '"years"' in spec(project, "pet")
    assert snapshot(project / "generated/dog") == before
    assert watcher.interrupt() == 0
    assert "Traceback" not in watcher._log.read_text()


@pytest.mark.slow
def test_what_schemas_read_is_watched(project: Path, watcher: Watcher) -> None:
    """Modules that they import, files that they name, and the settings."""
    printed = watcher.after(replaced(project / "breeds.py", "tabby", "siamese"))
    assert "breeds.py has changed\n" in printed
    assert "siamese" in spec(project, "dog")
    printed = watcher.after(replaced(project / "schemas/places.txt", "farm", "zoo"))
    assert "schemas/places.txt has changed\n" in printed
    assert "zoo" in spec(project, "dog")
    settings = project / "pyproject.toml"
    printed = watcher.after(replaced(settings, '"generated"', '"made"'))
    assert "pyproject.toml has changed\n" in printed
    assert (project / "made/pet/spec.json").exists()
    assert watcher.interrupt() == 0


@pytest.mark.slow
def test_files_that_come_and_go_are_seen(project: Path, watcher: Watcher) -> None:
    """New schemas, also in new folders; a module that becomes a folder; removed ones."""
    pets = project / "schemas/pets.py"
    cats = project / "schemas/cats.py"
    printed = watcher.after(saved(cats, PET.replace("Pet", "Cat")))
    assert "schemas/cats.py has changed\n" in printed
    assert '"age"' in spec(project, "cat")

    def to_folder() -> None:
        (project / "schemas/pets").mkdir()
        pets.rename(project / "schemas/pets/pets.py")

    watcher.after(to_folder)
    watcher.after(replaced(project / "schemas/pets/pets.py", "age:", "years:"))
    assert '"years"' in spec(project, "pet")
    printed = watcher.after(cats.unlink)
    assert "deleted generated/cat (8 files)\n" in printed
    assert not (project / "generated/cat").exists()
    assert watcher.interrupt() == 0


@pytest.mark.parametrize(
    ("options", "rule"),
    [(["--dry-run"], ""), (["--project", ".."], "SG402"), ([], "SG407")],
)
def test_watching_is_refused_without_project_or_package(
    project: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], rule: str
) -> None:
    """Nothing for a dry run, without a project, and without the package that watches."""
    monkeypatch.chdir(project)
    if rule == "SG407":
        monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = run("generate", "--watch", *options)
    assert result.exit_code == 2
    assert rule in result.stderr
    assert ("command line: " in result.stderr) == (rule == "SG407")
    assert ("--dry-run" in result.stderr) == (not rule)


@pytest.mark.slow
def test_files_that_are_written_do_not_start_a_run(
    project: Path, watcher: Watcher
) -> None:
    """Generated code, bytecode and data: each run would be the cause of the next."""
    (project / "data").mkdir()
    (project / "data/train-00000-of-00001.tfrecord").write_bytes(b"")
    (project / "generated/pet/parser.py").touch()
    py_compile.compile(str(project / "breeds.py"))
    printed = watcher.after(replaced(project / "breeds.py", "tabby", "siamese"))
    assert printed.count("has changed") == 1
    assert "\nbreeds.py has changed\n" in printed
