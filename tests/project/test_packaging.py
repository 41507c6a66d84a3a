"""The wheel: what is in it, and that it works where there is no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import schemagen
from command_line import make_project
from schemagen.codegen.templates.environment import templates_directory
from schemagen.runtime.shared.tfrecord import read_records

CHECKOUT = Path(__file__).parents[2]

PET = """\
from typing import Annotated

import numpy as np

from schemagen import Image, Label, Record, VarLen, Vector


class Pet(Record):
    \"\"\"A pet.\"\"\"

    photo: Annotated[np.ndarray, Image(shape=(4, 4, 3))]
    tokens: Annotated[list[int], VarLen("int64")]
    sizes: Annotated[np.ndarray, Vector(shape=(2,))]
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
    name: str | None = None
"""

# Writes a dataset where nothing but the writer's own needs can be imported.
WRITE = """\
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pydantic", "tensorflow", "jinja2", "click"):
            raise ImportError("refused: " + name)

sys.meta_path.insert(0, Refuse())
import numpy as np
from generated.pet.serializer import write_dataset

rows = (
    dict(
        photo=np.full((4, 4, 3), index, np.uint8),
        tokens=list(range(index)),
        sizes=np.array([index, 0.5], np.float32),
        breed="pug" if index % 2 else "tabby",
        name=None if index % 3 else "Ada",
    )
    for index in range(10)
)
print(write_dataset(rows, "data", "train", shards=2))
"""


def build(*arguments: str, source: Path, out: Path) -> list[Path]:
    """Build distributions; what is needed for it is installed with the tests."""
    command = [sys.executable, "-m", "build", "--no-isolation", *arguments]
    run([*command, "--outdir", str(out), str(source)], cwd=out.parent)
    return sorted(out.iterdir())


def run(command: list[str], cwd: Path) -> str:
    """Run a command far from the checkout; return what it printed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    result = subprocess.run(
        command, cwd=cwd, env=clean, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def interpreters() -> list[str]:
    """Return this Python and the other supported ones that are here and work."""
    found = [sys.executable]
    for minor in (11, 12, 13):
        path = shutil.which(f"python3.{minor}")
        if minor == sys.version_info.minor or path is None:
            continue
        works = subprocess.run([path, "-c", "import venv"], capture_output=True)
        if works.returncode == 0:
            found.append(path)
    return found


def test_the_wheel_has_what_the_generator_needs_and_no_more(tmp_path: Path) -> None:
    """Every module, template and shared source; no tests, schemas or generated code."""
    [wheel] = build("--wheel", source=CHECKOUT, out=tmp_path / "dist")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = CHECKOUT / "schemagen"
    code = {f"schemagen/{p.relative_to(package).as_posix()}" for p in sources(package)}
    templates = {
        f"schemagen/templates/{path.relative_to(CHECKOUT / 'templates').as_posix()}"
        for path in sources(CHECKOUT / "templates")
    }
    assert "schemagen/runtime/encoding/base.py" in code
    assert "schemagen/templates/kinds/image.jinja" in templates
    assert "schemagen/py.typed" in code
    about = {name for name in names if ".dist-info/" in name}
    assert names - about == code | templates
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = [n for n in names if n.endswith(".dist-info/METADATA")]
        lines = archive.read(metadata).decode().splitlines()
    assert "Requires-Python: >=3.11" in lines
    needs = [line for line in lines if line.startswith("Requires-Dist: ")]
    always = {n.split()[1].split(">")[0] for n in needs if "extra ==" not in n}
    assert always == {"click", "google-crc32c", "jinja2", "numpy", "pydantic"}


def sources(directory: Path) -> list[Path]:
    return [
        path
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]


@pytest.mark.slow
def test_the_source_distribution_builds_the_same_wheel(tmp_path: Path) -> None:
    """What is published is what `pip install .` gives."""
    [direct] = build("--wheel", source=CHECKOUT, out=tmp_path / "direct")
    through = build(source=CHECKOUT, out=tmp_path / "through")
    [wheel] = [path for path in through if path.suffix == ".whl"]
    assert len(through) == 2
    with zipfile.ZipFile(direct) as one, zipfile.ZipFile(wheel) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        for name in one.namelist():
            assert one.read(name) == other.read(name), name


def test_a_checkout_finds_its_templates(tmp_path: Path) -> None:
    """An editable install reads the templates where they are written."""
    assert templates_directory() == CHECKOUT / "templates"
    assert (templates_directory() / "serializer.py.jinja").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("python", interpreters())
def test_the_wheel_works_outside_the_checkout(tmp_path: Path, python: str) -> None:
    """In a clean environment, without tensorflow: every verb, and writing data.

    The generated code is byte for byte that of the checkout, so that all that is
    tested of one holds for the other.
    """
    [wheel] = build("--wheel", source=CHECKOUT, out=tmp_path / "dist")
    run([python, "-m", "venv", "--without-pip", "venv"], cwd=tmp_path)
    inside = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    clean = str(inside / "python")
    install = [sys.executable, "-m", "pip", "--python", clean, "install", "--quiet"]
    run([*install, "--disable-pip-version-check", str(wheel)], cwd=tmp_path)
    names = "import importlib.metadata as m; print([d.name for d in m.distributions()])"
    installed = run([clean, "-c", names], cwd=tmp_path).lower()
    assert "schemagen" in installed
    assert "tensorflow" not in installed
    assert "keras" not in installed

    command = str(inside / "schemagen")
    new = tmp_path / "new"
    new.mkdir()
    run([command, "init"], cwd=new)
    assert "created pet_photo/serializer.py" in run([command, "generate"], cwd=new)
    assert "files up to date" in run([clean, "-m", "schemagen", "check"], cwd=new)
    assert run([command, "describe"], cwd=new).startswith("PetPhoto (schemas/pet_photo")

    project = make_project(tmp_path / "project", {"pets.py": PET})
    run([command, "generate"], cwd=project)
    assert schemagen.check(project).findings == ()
    assert "wrote train.py" in run([command, "init", "--train", "pet"], cwd=project)

    assert run([clean, "-c", WRITE], cwd=project) == "10\n"
    shards = sorted((project / "data").glob("*.tfrecord"))
    assert [shard.name for shard in shards] == [
        "train-00000-of-00002.tfrecord",
        "train-00001-of-00002.tfrecord",
    ]
    assert sum(len(list(read_records(shard))) for shard in shards) == 10
    assert (project / "data" / "manifest.json").is_file()
