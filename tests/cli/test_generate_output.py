"""What `generate` prints of a plan, and how it says to import the code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import findings_of, make_project, run

PET = "from schemagen import Record\n\n\nclass {}(Record):\n    age: int\n"


def generated(root: Path, *options: str) -> str:
    """Return what a run prints, which has to succeed."""
    result = run("generate", "--project", root, *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_every_change_is_told(tmp_path: Path) -> None:
    """A line for each package, with the number of files; a single file by its name.

    A dry run says the same in the conditional.
    """
    schemas = {name: PET.format(name.title()[:-3]) for name in ("pet.py", "old.py")}
    root = make_project(tmp_path, schemas)
    output = root / "generated"

    def told() -> str:
        dry = generated(root, "--dry-run")
        real = generated(root).partition("Write and read data")[0]
        words = {"create": "created", "update": "updated", "delete": "deleted"}
        done = re.sub("would (create|update|delete)", lambda m: words[m[1]], dry)
        assert real == done
        return real

    assert (
        told() == "created generated/old (8 files)\ncreated generated/pet (8 files)\n"
        "old: input age; no target\npet: input age; no target\n"
    )
    (root / "schemas/old.py").unlink()
    (root / "schemas/pet.py").write_text(PET.format("Pet").replace("int", "float"))
    assert told() == (
        "deleted generated/old (8 files)\nupdated generated/pet (8 files)\n"
        "1 file up to date\n"
    )
    (output / "__init__.py").write_bytes(b"")
    assert told() == "updated generated/__init__.py\n8 files up to date\n"
    (output / "pet/model.py").unlink()
    (output / "pet/parser.py").write_bytes(b"")
    assert told() == "updated generated/pet (2 of 8 files)\n7 files up to date\n"
    assert told() == "9 files up to date\n"


def test_generate_prints_up_to_twenty_packages(tmp_path: Path) -> None:
    """A line for each package up to twenty; imports of the first one."""
    names = [f"R{at:02}" for at in range(30)]
    root = make_project(tmp_path, {f"{n}.py": PET.format(n) for n in names})
    text = generated(root)
    assert text.count("created generated/r") == 20
    assert "\n    from generated.r00." in text
    (root / "schemas/x.py").write_text(PET.format("X"))
    (root / "schemas/R00.py").write_text(PET.format("R00").replace("int", "float"))
    text = generated(root)
    assert text.startswith(
        "updated generated/r00 (8 files)\ncreated generated/x (8 files)\n"
        f"{29 * 8 + 1} files up to date\nx: input age; no target\n"
    )


@pytest.mark.parametrize(
    ("output", "packages", "package", "directory"),
    [
        ("generated", [], "generated", ""),
        ("my_package/generated", ["my_package"], "my_package.generated", ""),
        ("my_package/generated", [], "my_package.generated", ""),
        ("src/generated", [], "generated", "src"),
        ("src/mine/made", ["src/mine"], "mine.made", "src"),
        ("code/mine/made", ["code/mine"], "mine.made", "code"),
        ("src/made", ["src"], "src.made", ""),
    ],
)
def test_the_import_is_that_of_the_output_directory(
    tmp_path: Path, output: str, packages: list[str], package: str, directory: str
) -> None:
    """A program in the directory that is named imports what is printed, once."""
    root = make_project(tmp_path, {"pets.py": PET.format("Pet")})
    path = root / "pyproject.toml"
    path.write_text(path.read_text().replace("generated", output))
    for name in packages:
        (root / name).mkdir(parents=True)
        (root / name / "__init__.py").touch()
    text = generated(root)
    imports = re.findall(r"^    (from \S+ import .*)$", text, re.M)
    assert [line.split()[1] for line in imports] == [
        f"{package}.pet.{part}" for part in ("serializer", "pipeline", "reader")
    ]
    assert f" {package} in {root / directory}, " in text
    program = f"{imports[0]}\n{imports[2]}"
    subprocess.run([sys.executable, "-c", program], cwd=root / directory, check=True)
    assert " import " not in generated(root)


HOUSE = """
from typing import Annotated, Literal

from schemagen import Label, Record, Scalar


class House(Record):
    sqft: float
    rooms: int
    size: {}
    price: Annotated[int, Label(num_classes=3{})]
    share: Annotated[float, Scalar("float32", role="weight")]
    id: bytes
"""
LITERAL = 'Literal["small", "large"]'
SG124 = "SG124 warning: House.price: 'size' and 'price' are both targets by default"


def test_the_roles_of_a_new_record_are_printed_once(tmp_path: Path) -> None:
    """With a warning of targets that no one has declared; later runs do not repeat it."""
    root = make_project(tmp_path, {"house.py": HOUSE.format(LITERAL, "")})
    before = run("check", "--project", root)
    assert "SG124" not in before.output
    done = run("generate", "--project", root)
    assert done.exit_code == 0
    roles = (
        "house: inputs sqft and rooms; targets size and price; weight share; info id\n"
    )
    assert f"created generated/house (8 files)\n{roles}" in done.stdout
    assert SG124 in done.stderr
    for command in ("generate", "check"):
        again = run(command, "--project", root)
        assert again.exit_code == 0
        assert again.output == "9 files up to date\n"


@pytest.mark.parametrize(
    ("size", "price"),
    [
        (f'Annotated[{LITERAL}, Label(role="input")]', ""),
        (f'Annotated[{LITERAL}, Label(role="target")]', ', role="target"'),
        (LITERAL, ', role="target"'),
    ],
)
def test_roles_that_a_schema_states_are_no_reason_to_warn(
    tmp_path: Path, size: str, price: str
) -> None:
    """Of the targets, no more than one is one by default."""
    root = make_project(tmp_path, {"house.py": HOUSE.format(size, price)})
    done = run("generate", "--project", root)
    assert "house: inputs sqft" in done.stdout
    assert done.stderr == ""


def test_the_warning_of_targets_is_in_the_document(tmp_path: Path) -> None:
    """As a finding that does not fail the run."""
    root = make_project(tmp_path, {"house.py": HOUSE.format(LITERAL, "")})
    [found] = findings_of("generate", "--project", root, code=0)
    assert (found["rule"], found["severity"]) == ("SG124", "warning")
    assert found["location"]["line"] == 11
