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
import schemagen
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
    """A project with a module beside the schemas and one that they share."""
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
    """Only the record's files; a broken schema is told, and mending it goes on."""
    pets = project / "schemas/pets.py"
    before = snapshot(project / "generated/dog")
    printed = watcher.after(replaced(pets, "age: int", "age: float"))
    assert "schemas/pets.py has changed\n" in printed
    assert "updated pet/parser.py\n" in printed
    assert "updated dog" not in printed
    assert "float32" in spec(project, "pet")
    printed = watcher.after(replaced(pets, "age: float", "age: dict"))
    assert "schemas/pets.py:5:5: SG111 Pet.age: no kind goes with" in printed
    assert "float32" in spec(project, "pet")
    printed = watcher.after(replaced(pets, "age: dict", "years: bool"))
    assert "updated pet/parser.py\n" in printed
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
    assert "deleted cat/parser.py\n" in printed
    assert not (project / "generated/cat").exists()
    assert watcher.interrupt() == 0


def test_a_dry_run_cannot_be_watched(project: Path) -> None:
    """Exit code 2: one of the two options has to go."""
    result = run("generate", "--watch", "--dry-run", "--project", project)
    assert result.exit_code == 2
    assert "--watch writes; leave out --dry-run or --watch" in result.stderr


def test_without_a_project_there_is_nothing_to_watch(tmp_path: Path) -> None:
    """SG402, as without --watch."""
    result = run("generate", "--watch", "--project", tmp_path)
    assert result.exit_code == 2
    assert "SG402" in result.stderr


def test_the_package_that_watches_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SG407: it belongs to an extra, which the message says how to install."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = run("generate", "--watch", "--project", project)
    assert result.exit_code == 2
    assert "SG407 --watch needs the package watchfiles" in result.stderr
    assert 'to do:    run `pip install "schemagen[watch]"`' in result.stderr


def test_bytecode_counts_as_its_source(project: Path, tmp_path: Path) -> None:
    """A module beside the schemas is an input, whether or not it was compiled before."""
    from schemagen.inputs import read_inputs

    py_compile.compile(str(project / "breeds.py"))
    assert list((project / "__pycache__").glob("breeds.*.pyc"))
    report = tmp_path / "inputs.json"
    command = [sys.executable, "-m", "schemagen.watched", str(report), "."]
    subprocess.run(command, cwd=project, check=True)
    inputs = read_inputs(report)
    assert inputs is not None
    assert {
        Path(path).relative_to(project).as_posix()
        for path in inputs.files
        if Path(path).is_relative_to(project)
    } == {
        "breeds.py",
        "pyproject.toml",
        "schemas/dogs.py",
        "schemas/pets.py",
        "schemas/places.txt",
    }
    assert inputs.changed() is None
    assert str(project / "schemas") in inputs.directories()


def test_a_file_that_was_missed_is_an_input(project: Path, tmp_path: Path) -> None:
    """What a schema looked for in vain is waited for."""
    from schemagen.inputs import read_inputs

    (project / "schemas/places.txt").unlink()
    report = tmp_path / "inputs.json"
    command = [sys.executable, "-m", "schemagen.watched", str(report), "."]
    done = subprocess.run(command, cwd=project, check=False, capture_output=True)
    assert done.returncode == 2
    inputs = read_inputs(report)
    assert inputs is not None
    assert inputs.changed() is None
    (project / "schemas/places.txt").write_text("home\n")
    assert inputs.changed() == str(project / "schemas/places.txt")


@pytest.mark.slow
def test_a_file_that_schemas_write_is_no_input(project: Path, tmp_path: Path) -> None:
    """Each run would be the cause of the next."""
    from schemagen.inputs import read_inputs

    (project / "schemas/dogs.py").write_text(
        "from pathlib import Path\n"
        'path = Path(__file__).with_name("count.txt")\n'
        "count = int(path.read_text()) if path.exists() else 0\n"
        "path.write_text(str(count + 1))\n" + PET.replace("Pet", "Dog")
    )
    report = tmp_path / "inputs.json"
    command = [sys.executable, "-m", "schemagen.watched", str(report), "."]
    for _ in range(2):
        subprocess.run(command, cwd=project, check=True)
        inputs = read_inputs(report)
        assert inputs is not None
        assert inputs.changed() is None
    assert (project / "schemas/count.txt").read_text() == "2"


def test_a_run_that_says_nothing_is_not_repeated(project: Path) -> None:
    """After a crash the next run comes with the next change."""
    from schemagen.inputs import Inputs

    inputs = Inputs({}, str(project / "schemas"))
    assert inputs.changed() is not None
    inputs = inputs.renewed()
    assert inputs.changed() is None
    (project / "schemas/pets.py").write_text("")
    assert inputs.changed() == str(project / "schemas/pets.py")


def test_what_cannot_be_watched_is_looked_at(project: Path) -> None:
    """Where the system refuses to watch, time alone is the hint."""
    from types import SimpleNamespace

    from schemagen import watching
    from schemagen.inputs import Inputs

    def refuses(*_: object, **__: object) -> Iterator[None]:
        (project / "schemas/pets.py").write_text("")
        raise OSError("OS file watch limit reached")
        yield

    inputs = Inputs({}, str(project / "schemas")).renewed()
    module = SimpleNamespace(watch=refuses)
    changed = watching._next_change(inputs, module)  # type: ignore[arg-type]
    assert changed == str(project / "schemas/pets.py")


def test_generate_in_one_process_sees_a_module_become_a_folder(tmp_path: Path) -> None:
    """As a notebook or a test would do it: no module of before is served."""
    root = make_project(tmp_path, {"x.py": PET})
    schemagen.generate(root)
    for round_ in range(2):
        (root / "schemas/x.py").unlink()
        (root / "schemas/x").mkdir(exist_ok=True)
        inner = root / "schemas/x/y.py"
        inner.write_text(PET.replace("age:", f"inner_{round_}:"))
        schemagen.generate(root)
        assert f'"inner_{round_}"' in spec(root, "pet")
        inner.unlink()
        (root / "schemas/x").rmdir()
        (root / "schemas/x.py").write_text(PET.replace("age:", f"outer_{round_}:"))
        schemagen.generate(root)
        assert f'"outer_{round_}"' in spec(root, "pet")
