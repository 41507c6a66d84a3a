"""The runtime as a library: its interface number, its copies, and trees of before."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import schemagen
from command_line import make_project, run
from schemagen.codegen import imports, render
from schemagen.codegen.header import with_header
from schemagen.runtime import interface

ROOT = Path(__file__).parents[2]

PET = """
from typing import Annotated

import numpy as np
from schemagen import Image, Label, Record


class Pet(Record):
    \"\"\"A pet of the shelter.\"\"\"

    photo: Annotated[np.ndarray, Image((4, 4, 3), encoding="png")]
    breed: Annotated[int, Label(classes=("beagle", "pug"))]
"""

# Writes and reads a split, in a process where there is no schemagen.
ALONE = """
import sys
sys.modules["schemagen"] = None
import numpy as np
from generated import RecordError, check_files
from generated.pet.serializer import write_dataset
row = {"photo": np.zeros((4, 4, 3), np.uint8), "breed": "pug"}
try:
    write_dataset([{**row, "breed": "cat"}], "data", "train")
except RecordError as error:
    print(error)
write_dataset([row], "data", "train")
print(check_files("data"))
from generated.pet.pipeline import make_dataset
for features, breed in make_dataset("data", batch_size=2):
    print(features["photo"].shape, breed.numpy().tolist())
from generated.pet.model import build_model
print(list(build_model().input))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one record."""
    return make_project(tmp_path / "p", {"pets.py": PET})


def vendor(project: Path) -> None:
    """Set `runtime` to "vendored"."""
    path = project / "pyproject.toml"
    path.write_text(path.read_text() + 'runtime = "vendored"\n')


def copies(project: Path) -> set[str]:
    """The modules of the runtime that a project has copies of."""
    root = project / "generated/_runtime"
    return {path.relative_to(root).as_posix() for path in root.rglob("*.py")}


def findings(project: Path) -> list[tuple[str, str]]:
    """The rule and the message of each finding of `check`."""
    return [(each.rule, each.message) for each in schemagen.check(project).findings]


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Forget the package `generated` before and after."""

    def forget() -> None:
        for name in [*sys.modules]:
            if name.split(".")[0] == "generated":
                del sys.modules[name]

    forget()
    yield monkeypatch
    forget()


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
    generated.setattr(render, "INTERFACE", interface.INTERFACE + 1)
    schemagen.generate(project)
    with pytest.raises(ImportError) as caught:
        imported(project, generated)
    assert str(caught.value) == (
        "the generated code needs interface 3 of schemagen.runtime, and schemagen "
        f"{schemagen.__version__} supports 1 to 2: install a later version of schemagen"
    )


def test_code_for_an_interface_of_before_says_what_to_run(
    project: Path, generated: pytest.MonkeyPatch
) -> None:
    """The installed runtime does not support it any longer."""
    schemagen.generate(project)
    generated.setattr(interface, "OLDEST", 3)
    generated.setattr(interface, "INTERFACE", 4)
    with pytest.raises(ImportError) as caught:
        imported(project, generated)
    assert str(caught.value) == (
        "the generated code needs interface 2 of schemagen.runtime, and schemagen "
        f"{schemagen.__version__} supports 3 to 4: run `schemagen generate` to bring the code up to date"
    )


def test_code_works_with_a_later_runtime(
    project: Path, generated: pytest.MonkeyPatch
) -> None:
    """As long as that supports the interface."""
    schemagen.generate(project)
    generated.setattr(interface, "INTERFACE", 3)
    assert imported(project, generated).__all__


# Copies


@pytest.mark.parametrize("mode", ["installed", "vendored"])
def test_public_names_are_imported_from_the_output_package(
    project: Path, generated: pytest.MonkeyPatch, mode: str
) -> None:
    """The same import in both modes, of what generated code raises and calls."""
    if mode == "vendored":
        vendor(project)
    schemagen.generate(project)
    package = imported(project, generated)
    serializer = importlib.import_module("generated.pet.serializer")
    names = ["DatasetError", "RecordError", "SchemaMismatchError", "check_files"]
    assert package.__all__ == names
    assert issubclass(package.SchemaMismatchError, package.DatasetError)
    with pytest.raises(package.RecordError):
        serializer.serialize(photo=b"", breed=7)
    root = "schemagen.runtime" if mode == "installed" else "generated._runtime"
    assert package.RecordError.__module__ == f"{root}.shared.errors"


def test_copies_are_what_the_records_reach(project: Path) -> None:
    """Kinds that no record uses are not copied, and nothing is missing."""
    vendor(project)
    schemagen.generate(project)
    found = copies(project)
    assert found >= {"__init__.py", "encoding/image.py", "models/builder.py"}
    unused = {"sparse", "ragged", "steps", "mask", "images", "nested", "shaped"}
    assert not found & {f"encoding/{name}.py" for name in unused}
    assert "interface.py" not in found
    for path in (project / "generated").rglob("*.py"):
        assert "schemagen.runtime" not in path.read_text().split("from __future__")[-1]
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    refused, *rest = done.stdout.splitlines()
    assert refused.startswith("row 0: field 'breed'")
    assert rest == ["[]", "(1, 4, 4, 3) [1]", "['photo']"]


def test_another_kind_brings_its_copies(project: Path) -> None:
    """And takes them away again."""
    vendor(project)
    schemagen.generate(project)
    before = copies(project)
    path = project / "schemas/pets.py"
    path.write_text(
        PET.replace("Record\n", "Record, VarLen\n", 1)
        + "    toys: Annotated[list[int], VarLen(dtype='int64')]\n"
    )
    schemagen.generate(project)
    assert "encoding/sequence.py" in copies(project) - before
    path.write_text(PET)
    schemagen.generate(project)
    assert copies(project) == before


def test_check_covers_copies(project: Path) -> None:
    """Missing, edited, and no longer wanted ones."""
    vendor(project)
    schemagen.generate(project)
    assert findings(project) == []
    wire = project / "generated/_runtime/shared/wire.py"
    text = wire.read_text()
    wire.unlink()
    assert findings(project) == [
        ("SG301", "generated/_runtime/shared/wire.py is missing; all records need it")
    ]
    wire.write_text(text + "# mine\n")
    [(rule, message)] = findings(project)
    assert rule == "SG304"
    assert message.startswith("generated/_runtime/shared/wire.py was edited by hand")
    wire.write_text(text)
    settings = project / "pyproject.toml"
    settings.write_text(settings.read_text().replace("vendored", "installed"))
    assert {rule for rule, _ in findings(project)} == {"SG303", "SG307"}
    schemagen.generate(project)
    assert not (project / "generated/_runtime").exists()


def test_an_unknown_runtime_is_refused(project: Path) -> None:
    """The message names both."""
    path = project / "pyproject.toml"
    path.write_text(path.read_text() + 'runtime = "copied"\n')
    result = run("check", "--project", project)
    assert result.exit_code == 2
    assert "setting 'runtime' has an unknown value" in result.output
    assert '"installed" or "vendored"' in result.output


# Trees of before


def old_tree(project: Path) -> Path:
    """Leave what versions left that always copied the runtime."""
    schemagen.generate(project)
    support = project / "generated/_support"
    (support / "reading").mkdir(parents=True)
    for name in ("__init__.py", "wire.py", "reading/checks.py"):
        source = f"schemagen/support/{name}"
        text = with_header(name, '"""Copied."""\n', source, "-")
        (support / name).write_text(text)
    parser = project / "generated/pet/parser.py"
    body = (
        parser.read_text().split("\n", 2)[2].replace("schemagen.runtime", ".._support")
    )
    spec = parser.read_text().split("spec=")[1][:16]
    parser.write_text(with_header("parser.py", body, "schemas/pets.py", spec))
    return support


def test_check_says_of_an_old_tree_in_one_line_what_to_run(project: Path) -> None:
    """Not once for each of a hundred files."""
    old_tree(project)
    [found] = schemagen.check(project).findings
    assert found.rule == "SG313"
    assert found.message == (
        "generated/_support is the copy of the runtime of an earlier version of "
        "schemagen; generated code now imports the installed schemagen.runtime"
    )
    assert found.advice.startswith("run `schemagen generate --project")
    assert "generated/_support/wire.py" in found.files
    assert "generated/pet/parser.py" in found.files


def test_generate_migrates_an_old_tree(project: Path) -> None:
    """Copies go, and the code imports the installed runtime."""
    support = old_tree(project)
    result = run("generate", "--project", project)
    assert result.exit_code == 0, result.output
    assert not support.exists()
    assert findings(project) == []
    assert "_support" not in (project / "generated/pet/parser.py").read_text()


def test_an_edited_copy_is_reported_and_kept(project: Path) -> None:
    """It does not stop the run, since nothing imports it any longer."""
    support = old_tree(project)
    edited = support / "wire.py"
    edited.write_text(edited.read_text() + "# mine\n")
    message = (
        "generated/_support/wire.py is a copy of the runtime that generated code does "
        "not import, and was edited by hand"
    )
    assert [rule for rule, _ in findings(project)] == ["SG313"]
    result = run("generate", "--project", project)
    assert result.exit_code == 0, result.output
    assert message in result.output
    assert [path.name for path in support.iterdir()] == ["wire.py"]
    assert edited.read_text().endswith("# mine\n")
    result = run("check", "--project", project)
    assert result.exit_code == 0, result.output
    assert message in result.output
    schemagen.generate(project, force=True)
    assert not support.exists()


# What is committed


def test_generated_code_is_small() -> None:
    """Of this repository's own record of an image and a label, and of all."""
    package = ROOT / "generated/photo"
    lines = {
        path.name: path.read_text().count("\n")
        for path in package.iterdir()
        if path.is_file()
    }
    assert lines["serializer.py"] <= 140
    assert lines["pipeline.py"] <= 80
    assert lines["model.py"] <= 110
    assert lines["parser.py"] <= 80
    files = [
        *package.glob("*.*"),
        ROOT / "generated/__init__.py",
        ROOT / "schemas/photo.py",
    ]
    assert len(files) <= 8
    assert sum(path.read_text().count("\n") for path in files) < 500


# Imports of generated code


def test_names_of_the_runtime_are_not_ambiguous() -> None:
    """Each name that generated code uses is in one module of the runtime."""
    root = ROOT / "schemagen/runtime"
    names = Counter([*imports._REQUIRED])
    for package in imports._BY_MODULE:
        names.update(path.stem for path in root.joinpath(package).glob("[a-z]*.py"))
    for place in imports._BY_NAME:
        path = root / place
        for module in path.glob("[a-z]*.py") if path.is_dir() else [path]:
            names.update({*imports._defined(module)})
    used = {*imports.runtime_names()}
    assert {name for name in used if names[name] > 1} == set()


SOURCE = '''"""A module."""

from __future__ import annotations


def serialize(*, np: Any, images: int) -> bytes:
    """Names of parameters are not imported."""
    return encode_example(np, images, lambda tf: tf, labels.class_ids)


CLASSES = {}
print(CLASSES, KEYS)
'''


def test_what_a_module_uses_is_imported() -> None:
    """And nothing that it defines, or that is a parameter."""
    start = '"""A module."""\n\nfrom __future__ import annotations\n\nfrom typing import Any\n\n'
    assert imports.with_imports(SOURCE).startswith(
        f"{start}from schemagen.runtime.encoding.examples import encode_example\n"
        "from schemagen.runtime.parsing import labels\n\n"
        "from .parser import KEYS\n\n"
    )
    assert imports.with_imports(SOURCE, ".._runtime").startswith(
        f"{start}from .._runtime.encoding.examples import encode_example\n"
        "from .._runtime.parsing import labels\n"
        "from .parser import KEYS\n\n"
    )
    assert imports.with_imports("print(1)\n") == "print(1)\n"
