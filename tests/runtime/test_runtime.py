"""The runtime as a library: its interface number, and what generated code imports."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import schemagen
from command_line import make_project, run
from schemagen.codegen import render
from schemagen.codegen.header import with_header
from schemagen.runtime import interface

ROOT = Path(__file__).parents[2]

NOW = interface.INTERFACE

PET = """
from typing import Annotated

import numpy as np
from schemagen import Image, Label, Record


class Pet(Record):
    \"\"\"A pet of the shelter.\"\"\"

    photo: Annotated[np.ndarray, Image((4, 4, 3), encoding="png")]
    breed: Annotated[int, Label(classes=("beagle", "pug"))]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one record."""
    return make_project(tmp_path / "p", {"pets.py": PET})


def findings(project: Path) -> list[tuple[str, str]]:
    """The rule and the message of each finding of `check`."""
    return [(each.rule, each.message) for each in schemagen.check(project).findings]


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Forget the package `generated`, and put back afterwards what was imported of it."""

    def forget() -> dict[str, ModuleType]:
        names = [name for name in sys.modules if name.split(".")[0] == "generated"]
        return {name: sys.modules.pop(name) for name in names}

    loaded = forget()
    yield monkeypatch
    forget()
    sys.modules.update(loaded)


def imported(project: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a project's output package."""
    monkeypatch.syspath_prepend(project)
    importlib.invalidate_caches()
    return importlib.import_module("generated")


# The interface number


def test_code_for_a_later_interface_says_what_to_install(
    project: Path, generated: pytest.MonkeyPatch
) -> None:
    """The installed runtime is too old for it."""
    generated.setattr(render, "INTERFACE", NOW + 1)
    schemagen.generate(project)
    with pytest.raises(ImportError) as caught:
        imported(project, generated)
    text = str(caught.value)
    for word in (f" {NOW + 1} ", schemagen.__version__, f"{NOW}: install"):
        assert word in text


def test_code_for_an_interface_of_before_says_what_to_run(
    project: Path, generated: pytest.MonkeyPatch
) -> None:
    """The installed runtime does not support it any longer."""
    schemagen.generate(project)
    generated.setattr(interface, "OLDEST", NOW + 1)
    generated.setattr(interface, "INTERFACE", NOW + 2)
    with pytest.raises(ImportError) as caught:
        imported(project, generated)
    text = str(caught.value)
    supported = f"{NOW + 1} to {NOW + 2}"
    for word in (f" {NOW} ", schemagen.__version__, supported, "`schemagen generate`"):
        assert word in text


def test_code_works_with_a_later_runtime(
    project: Path, generated: pytest.MonkeyPatch
) -> None:
    """As long as that supports the interface."""
    schemagen.generate(project)
    generated.setattr(interface, "INTERFACE", NOW + 1)
    assert imported(project, generated).__all__


# What users import, and trees of before


def test_public_names_are_imported_from_the_output_package(
    project: Path, generated: pytest.MonkeyPatch
) -> None:
    """They are what generated code raises and calls."""
    schemagen.generate(project)
    package = imported(project, generated)
    serializer = importlib.import_module("generated.pet.serializer")
    errors = ["DatasetError", "RecordError", "SchemaMismatchError"]
    assert package.__all__ == [*errors, "check_files", "mix"]
    assert issubclass(package.SchemaMismatchError, package.DatasetError)
    with pytest.raises(package.RecordError):
        serializer.serialize(photo=b"", breed=7)
    assert package.RecordError.__module__ == "schemagen.runtime.shared.errors"


@pytest.mark.parametrize("name", ["_runtime", "_support"])
def test_a_copy_of_the_runtime_by_an_earlier_version_is_deleted(
    project: Path, name: str
) -> None:
    """It is left over, like the code of a record that is gone; an edited one is kept."""
    schemagen.generate(project)
    copy = project / "generated" / name / "wire.py"
    copy.parent.mkdir()
    text = with_header("wire.py", "X = 1\n", "schemagen/runtime/wire.py", "-")
    copy.write_text(text + "# mine\n")
    assert [rule for rule, _ in findings(project)] == ["SG304"]
    assert run("generate", "--project", project).exit_code == 2
    copy.write_text(text)
    assert [rule for rule, _ in findings(project)] == ["SG307"]
    schemagen.generate(project)
    assert not copy.parent.exists()


# What is committed


def test_generated_code_is_small() -> None:
    """Of this repository's own record of an image and a label, and of all."""
    package = ROOT / "generated/photo"
    lines = {
        path.name: path.read_text().count("\n")
        for path in package.iterdir()
        if path.is_file()
    }
    assert lines["fields.py"] <= 20
    assert lines["serializer.py"] <= 120
    assert lines["pipeline.py"] <= 60
    assert lines["reader.py"] <= 30
    assert lines["model.py"] <= 110
    assert lines["parser.py"] <= 75
    files = [
        *package.glob("*.*"),
        ROOT / "generated/__init__.py",
        ROOT / "schemas/photo.py",
    ]
    assert len(files) <= 10
    assert sum(path.read_text().count("\n") for path in files) < 500
