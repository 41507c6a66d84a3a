"""`schemagen.testing`, in the tests of scratch projects, run by pytest itself."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import schemagen
from command_line import make_project
from schemagen.testing import assert_fresh, assert_no_breaks
from scratch import CHECKOUT, PET, Repository, project_in

TEST = """\
from schemagen.testing import assert_fresh


def test_generated_code_is_fresh() -> None:
    assert_fresh()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A generated project with the test above."""
    root = make_project(tmp_path / "ml", {"pets.py": PET})
    schemagen.generate(root)
    (root / "tests").mkdir()
    (root / "tests/test_schemas.py").write_text(TEST)
    return root


def make_stale(project: Path) -> None:
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", "age: float"))


def pytest_in(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as its users do."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment["PYTHONPATH"] = str(CHECKOUT)
    return subprocess.run(
        command,
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.integration
def test_one_line_is_a_test(project: Path) -> None:
    """It passes while the code is fresh, and writes nothing."""
    before = sorted(project.rglob("generated/**/*"))
    done = pytest_in(project)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert sorted(project.rglob("generated/**/*")) == before


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("directory", [".", "ml/tests"])
def test_a_failure_shows_the_findings_and_the_users_line(
    project: Path, directory: str
) -> None:
    """Wherever pytest is started; nothing of schemagen's inside is shown."""
    make_stale(project)
    done = pytest_in(project.parent / directory)
    assert done.returncode == 1
    assert (
        "AssertionError: the generated code does not follow from the schemas:"
        in done.stdout
    )
    assert "E           to do:    run `schemagen generate" in done.stdout
    assert "SG302 the code in generated/pet (6 files) is out of date" in done.stdout
    assert ">       assert_fresh()" in done.stdout
    assert "settings_directory" not in done.stdout
    assert "schemagen/testing.py" not in done.stdout


def test_a_schema_that_does_not_load_fails_the_test(project: Path) -> None:
    """The finding is the failure, and no traceback of the loader."""
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", "age: dict[str, int]"))
    with pytest.raises(AssertionError, match="SG111") as caught:
        assert_fresh(project)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_project_can_be_given(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a directory in it, in text or as a path; or it is the current one."""
    make_stale(project)
    for directory in (str(project), project / "tests"):
        with pytest.raises(AssertionError, match="SG302"):
            assert_fresh(directory)
    outside = {"__file__": str(tmp_path / "test_it.py"), "assert_fresh": assert_fresh}
    monkeypatch.chdir(project / "schemas")
    with pytest.raises(AssertionError, match="SG302"):
        exec("assert_fresh()", outside)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="SG402 no project here"):
        exec("assert_fresh()", outside)


def test_it_needs_no_pytest_and_no_tensorflow(project: Path) -> None:
    """Any runner will do, on a machine that only checks."""
    program = (
        "import sys; from schemagen.testing import assert_fresh; assert_fresh('.');"
        "print([m for m in ('pytest', 'tensorflow', 'keras') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-c", program]
    assert subprocess.check_output(command, cwd=project, env=environment) == b"[]\n"


def test_breaks_fail_a_test(tmp_path: Path) -> None:
    """Those of one mode, each with what to do; warnings and what is alike do not."""
    root = project_in(Repository(tmp_path))
    assert_no_breaks("HEAD", root)
    make_stale(root)
    with pytest.raises(AssertionError) as caught:
        assert_no_breaks("HEAD", root / "schemas")
    assert str(caught.value).startswith("the schemas are not compatible with HEAD:\n")
    assert "schemas/pets.py:7:5: SG2" in str(caught.value)
    path = root / "schemas/pets.py"
    path.write_text(PET + "    colour: str | None = None\n")
    assert_no_breaks("HEAD", root)
    with pytest.raises(AssertionError, match="SG431"):
        assert_no_breaks("no-such-branch", root)


@pytest.mark.integration
def test_breaks_are_looked_for_in_the_callers_project(tmp_path: Path) -> None:
    """As `assert_fresh` finds it, and the failure is shown alike."""
    root = project_in(Repository(tmp_path), "ml")
    test = TEST.replace("assert_fresh()", 'assert_no_breaks("HEAD")')
    test = test.replace("assert_fresh", "assert_no_breaks")
    (root / "tests").mkdir()
    (root / "tests/test_schemas.py").write_text(test)
    make_stale(root)
    done = pytest_in(tmp_path)
    assert done.returncode == 1
    assert ">       assert_no_breaks(" in done.stdout
    assert "schemas/pets.py:7:5: SG2" in done.stdout
    assert "schemagen/testing.py" not in done.stdout


def test_a_directory_that_is_not_there(project: Path) -> None:
    """It does not stand for the project above it."""
    for asserting in (assert_fresh, partial(assert_no_breaks, "HEAD")):
        with pytest.raises(AssertionError, match=r"there is no directory .*nope"):
            asserting(project / "nope")
