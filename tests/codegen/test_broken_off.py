"""What a run of the generator leaves that fails, is killed, or is not alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, run
from schemagen.codegen.apply import apply, lock, sweep
from schemagen.codegen.plan import make_plan
from schemagen.codegen.render import RenderedFile

PET = """\
from typing import Annotated
from schemagen import Label, Record


class Pet(Record):
    name: str
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with files to create, to update and to delete."""
    root = make_project(
        tmp_path / "p", {"pets.py": PET, "dogs.py": PET.replace("Pet", "Dog")}
    )
    schemagen.generate(root)
    cache = root / "generated/dog/__pycache__"
    cache.mkdir()
    (cache / "model.cpython-311.pyc").write_bytes(b"bytecode")
    (root / "schemas/dogs.py").rename(root / "schemas/cats.py")
    (root / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))
    (root / "schemas/pets.py").write_text(PET.replace("tabby", "siamese"))
    return root


@pytest.mark.slow
def test_runs_at_the_same_time_do_not_disturb_each_other(project: Path) -> None:
    """All end well, and the code is that of the schemas."""
    command = [sys.executable, "-m", "schemagen", "generate", "--project", str(project)]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    printed = [each.communicate()[0] for each in runs]
    assert [each.returncode for each in runs] == [0, 0, 0]
    unchanged = [
        bool(re.fullmatch(r"\d+ files up to date\n", text)) for text in printed
    ]
    assert sorted(unchanged) == [False, True, True]
    assert schemagen.check(project).findings == ()
    assert not list((project / "generated").rglob("*.tmp"))
    assert not (project / "generated/dog").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on directories there")
def test_a_run_waits_for_the_one_before(tmp_path: Path) -> None:
    """The second begins when the first has ended; no file is left over from it."""
    order = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with lock(tmp_path) as alone:
            order.append(("second", alone))

    with lock(tmp_path) as alone:
        thread = threading.Thread(target=second)
        thread.start()
        waiting.wait()
        thread.join(0.2)
        order.append(("first", alone))
    thread.join()
    assert order == [("first", True), ("second", True)]
    assert list(tmp_path.iterdir()) == []


def test_without_locks_each_run_writes_whole_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run in the middle of another one: both end, and the files are there."""
    files = [RenderedFile(f"a/{n}.py", f"x = {n}\n", "s.py", "-") for n in range(3)]
    planned = make_plan(files, {}, "out")
    replace = Path.replace

    def late(self: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(os, "getpid", lambda: 1)
        apply(planned, tmp_path / "out")  # another process
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", late)
    apply(planned, tmp_path / "out")
    found = {path.name: path.read_text() for path in (tmp_path / "out/a").iterdir()}
    assert found == {f"{n}.py": f"x = {n}\n" for n in range(3)}


def test_temporary_files_of_other_runs_are_left_alone(tmp_path: Path) -> None:
    """Unless no run goes on, or the file is an hour old; other hidden files stay."""
    young = tmp_path / ".model.py.1234.schemagen.tmp"
    old = tmp_path / ".parser.py.1234.schemagen.tmp"
    mine = tmp_path / ".notes.1234.tmp"
    for path in (young, old, mine):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    sweep(tmp_path, alone=False)
    assert sorted(tmp_path.iterdir()) == [young, mine]
    sweep(tmp_path, alone=True)
    assert list(tmp_path.iterdir()) == [mine]


def test_only_directories_without_files_are_removed(tmp_path: Path) -> None:
    """Bytecode goes with its package; links, other files and hidden ones stay."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "x.pyc").write_bytes(b"mine")
    output = tmp_path / "generated"
    for name in ("empty/inner", "old/__pycache__", "odd/__pycache__", "linked", ".git"):
        (output / name).mkdir(parents=True)
    (output / "old/__pycache__/model.cpython-311.pyc").write_bytes(b"")
    (output / "odd/__pycache__/notes.txt").write_bytes(b"mine")
    (output / "linked/__pycache__").symlink_to(elsewhere)
    (output / "link").symlink_to(elsewhere)
    sweep(output, alone=True)
    found = {path.relative_to(output).as_posix() for path in output.rglob("*")}
    assert found == {
        ".git",
        "link",
        "linked",
        "linked/__pycache__",
        "odd",
        "odd/__pycache__",
        "odd/__pycache__/notes.txt",
    }
    assert (elsewhere / "x.pyc").read_bytes() == b"mine"


def test_ctrl_c_ends_quietly(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130 as of any program, and nothing is half-done."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    before = (project / "generated/pet/model.py").read_bytes()
    monkeypatch.setattr(Path, "replace", interrupted)
    result = run("generate", "--project", project)
    assert (result.exit_code, result.output) == (130, "")
    assert (project / "generated/pet/model.py").read_bytes() == before
    assert not list((project / "generated").rglob(".*.tmp"))
    assert not (project / "generated/cat").exists()


def test_a_file_that_is_replaced_keeps_its_rights(project: Path) -> None:
    """Read-only files are written, too, and stay what they were."""
    code = project / "generated/pet/serializer.py"
    code.chmod(0o440)
    schemagen.generate(project)
    assert "siamese" in code.read_text()
    assert code.stat().st_mode & 0o777 == 0o440


def test_code_that_does_not_compile_is_not_written(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files are rendered and compiled before the first is written."""
    from schemagen.codegen import render

    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    monkeypatch.setattr(render, "wrap", lambda text: f"{text}\n)")
    with pytest.raises(SyntaxError):
        schemagen.generate(project)
    assert {path: path.read_bytes() for path in project.rglob("*.py")} == before
