"""`schemagen.testing`, in the tests of scratch projects, run by pytest itself."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from command_line import snapshot
from schemagen.testing import assert_fresh, assert_no_breaks
from scratch import CHECKOUT, PET, Repository, project_in

TEST = """\
from schemagen.testing import assert_fresh, assert_no_breaks


def test_generated_code_is_fresh() -> None:
    assert_fresh()


def test_the_schemas_are_compatible() -> None:
    assert_no_breaks("HEAD")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A generated project with the tests above, in a repository."""
    root = project_in(Repository(tmp_path), "ml")
    (root / "tests").mkdir()
    (root / "tests/test_schemas.py").write_text(TEST)
    return root


def change_age(project: Path, to: str) -> None:
    path = project / "schemas/pets.py"
    path.write_text(PET.replace("age: int", f"age: {to}"))


def pytest_in(directory: Path) -> str:
    """Run pytest as its users do; return what it prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    return subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=directory,
        env={**environment, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.mark.integration
def test_one_line_is_a_test(project: Path) -> None:
    """It passes while the code is fresh, and writes nothing."""
    before = snapshot(project)
    assert "2 passed" in pytest_in(project)
    assert snapshot(project) == before


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("directory", [".", "ml/tests"])
def test_a_failure_shows_the_findings_and_the_users_line(
    project: Path, directory: str
) -> None:
    """Wherever pytest is started; nothing of schemagen's inside is shown."""
    change_age(project, to="float")
    printed = pytest_in(project.parent / directory)
    assert "2 failed" in printed
    for line in (
        *(">       assert_fresh()", '>       assert_no_breaks("HEAD")'),
        *("generated/pet/spec.json:", "schemas/pets.py:7:5: SG2"),
        "E           to do:    run `schemagen generate",
    ):
        assert line in printed
    assert "schemagen/testing.py" not in printed


def test_a_schema_that_does_not_load_fails_the_test(project: Path) -> None:
    """The finding is the failure, and no traceback of the loader."""
    change_age(project, to="dict[str, int]")
    with pytest.raises(AssertionError, match="SG111") as caught:
        assert_fresh(project)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_project_can_be_given(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a directory in it, in text or as a path; or it is the current one."""
    change_age(project, to="float")
    for directory in (str(project), project / "tests"):
        with pytest.raises(AssertionError, match="SG302"):
            assert_fresh(directory)
    outside = {"__file__": str(tmp_path / "test_it.py"), "assert_fresh": assert_fresh}
    monkeypatch.chdir(project / "schemas")
    with pytest.raises(AssertionError, match="SG302"):
        exec("assert_fresh()", outside)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="SG402"):
        exec("assert_fresh()", outside)
    for asserting in (assert_fresh, partial(assert_no_breaks, "HEAD")):
        with pytest.raises(AssertionError, match="nope"):
            asserting(project / "nope")  # does not stand for the project above it


def test_it_needs_no_pytest_and_no_tensorflow(project: Path) -> None:
    """Any runner will do, on a machine that only checks."""
    program = (
        "import sys; from schemagen.testing import assert_fresh; assert_fresh('.');"
        "print([m for m in ('pytest', 'tensorflow', 'keras') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-c", program]
    assert subprocess.check_output(command, cwd=project, env=environment) == b"[]\n"


def test_breaks_fail_a_test(project: Path) -> None:
    """Those of one mode; warnings and what is alike do not."""
    assert_no_breaks("HEAD", project)
    (project / "schemas/pets.py").write_text(PET + "    colour: str | None = None\n")
    assert_no_breaks("HEAD", project)
    change_age(project, to="float")
    with pytest.raises(AssertionError, match=r"schemas/pets.py:7:5: SG2"):
        assert_no_breaks("HEAD", project / "schemas")
    with pytest.raises(AssertionError, match="SG431"):
        assert_no_breaks("no-such-branch", project)
