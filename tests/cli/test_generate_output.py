"""What `generate` prints of a plan, and how it says to import the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import make_project, run
from schemagen.cli.plan_text import import_place
from schemagen.config import find_project
from schemagen.runtime.interface import INTERFACE

PET = "from schemagen import Record\n\n\nclass {}(Record):\n    age: int\n"
IMPORTS = """\
    from {0}.serializer import Writer, write_dataset
    from {0}.pipeline import make_dataset
"""


def generated(root: Path, *options: str) -> str:
    """Return what a run prints, which has to succeed."""
    result = run("generate", "--project", root, *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def with_output(root: Path, output: str) -> Path:
    """Make a project that generates into a directory."""
    make_project(root, {"pets.py": PET.format("Pet")})
    path = root / "pyproject.toml"
    path.write_text(path.read_text().replace("generated", output))
    return root


def test_a_new_project(tmp_path: Path) -> None:
    """The package, the runtime, the imports, and where Python finds them."""
    root = make_project(tmp_path, {"pets.py": PET.format("Pet")})
    text = generated(root)
    assert text.startswith(
        "created generated/pet (6 files)\n"
        "The code imports schemagen.runtime, which is installed: schemagen "
    )
    assert text.endswith(
        f", interface {INTERFACE}.\nWrite and read data with:\n"
        + IMPORTS.format("generated.pet")
        + f"Run programs that import generated in {root}, or set PYTHONPATH to it.\n"
    )


def test_many_records(tmp_path: Path) -> None:
    """A line for each package up to twenty; imports of the first new one."""
    names = [f"R{at:02}" for at in range(30)]
    root = make_project(tmp_path, {f"{n}.py": PET.format(n) for n in names})
    text = generated(root)
    assert text.count("created generated/r") == 20
    assert "\nand 10 more packages\n" in text
    assert "data with (and likewise 29 other records):\n    from generated.r00." in text
    (root / "schemas/x.py").write_text(PET.format("X"))
    (root / "schemas/R00.py").write_text(PET.format("R00").replace("int", "float"))
    text = generated(root)
    assert text.startswith(
        "updated generated/r00 (6 files)\ncreated generated/x (6 files)\n"
        f"{29 * 6 + 1} files up to date\n"
    )
    assert "(and likewise 1 other record):\n    from generated.x." in text


def test_brief_output_has_the_changes_only(tmp_path: Path) -> None:
    """As --watch prints them after the first run."""
    root = make_project(tmp_path, {"pets.py": PET.format("Pet")})
    assert generated(root, "--brief") == "created generated/pet (6 files)\n"


def test_deleted_records_have_no_imports(tmp_path: Path) -> None:
    """Nothing is written that could be imported."""
    schemas = {"pets.py": PET.format("Pet"), "old.py": PET.format("Old")}
    root = make_project(tmp_path, schemas)
    generated(root)
    (root / "schemas/old.py").unlink()
    assert generated(root, "--dry-run") == (
        "would delete generated/old (6 files)\n7 files up to date\n"
    )
    assert generated(root) == "deleted generated/old (6 files)\n7 files up to date\n"


@pytest.mark.parametrize(
    ("output", "packages", "package", "directory"),
    [
        ("generated", [], "generated", ""),
        ("my_package/generated", ["my_package"], "my_package.generated", ""),
        ("my_package/generated", [], "my_package.generated", ""),
        ("src/generated", [], "generated", "src"),
        ("src/mine/made", ["src/mine"], "mine.made", "src"),
        ("src/mine/made", [], "mine.made", "src"),
        ("code/mine/made", ["code/mine"], "mine.made", "code"),
        ("src", [], "src", ""),
        ("src/made", ["src"], "src.made", ""),
    ],
)
def test_the_import_is_that_of_the_output_directory(
    tmp_path: Path, output: str, packages: list[str], package: str, directory: str
) -> None:
    """A program in the directory that is named imports what is printed."""
    root = with_output(tmp_path, output)
    for name in packages:
        (root / name).mkdir(parents=True)
        (root / name / "__init__.py").touch()
    text = generated(root)
    place = import_place(find_project(root))
    assert place == (package, root / directory)
    assert IMPORTS.format(f"{package}.pet") in text
    assert f"import {package} in {root / directory}, or" in text
    program = f"from {package}.pet.serializer import Writer, write_dataset"
    subprocess.run([sys.executable, "-c", program], cwd=root / directory, check=True)


def test_a_file_has_a_line_of_its_own(tmp_path: Path) -> None:
    """And so has a package of which some files change."""
    root = make_project(tmp_path, {"pets.py": PET.format("Pet")})
    generated(root)
    output = root / "generated"
    (output / "__init__.py").write_bytes(b"")
    assert generated(root, "--dry-run") == (
        "would update generated/__init__.py\n6 files up to date\n"
    )
    generated(root)
    (output / "pet/model.py").unlink()
    (output / "pet/parser.py").write_bytes(b"")
    assert generated(root, "--brief") == (
        "updated generated/pet (2 of 6 files)\n5 files up to date\n"
    )
    assert generated(root) == "7 files up to date\n"
