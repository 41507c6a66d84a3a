"""The distributions: what is in them, what they state, and that they work alone."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest
import schemagen
from command_line import make_project
from schemagen.runtime.interface import DISTRIBUTION, install
from tfrecord_files import read_records

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
ALWAYS = {
    *("annotated-types", "click", "jinja2", "numpy", "pillow", "pydantic", "rich"),
    *("simplejpeg", "tqdm"),
}
ENGINES = {
    path.stem for path in (CHECKOUT / "schemagen/runtime/engines").glob("[!_]*.py")
} - {"steps"}
EXTRAS = {
    *("all", "ml-dtypes", "pandas", "remote", "report", "tables", "tensorflow"),
    *("audio", "avif", "tfmd", "tiff", "watch", "zstd"),
    *ENGINES,
}
"""The extras for users; the others of pyproject.toml are for development."""

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


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a source distribution, and the wheel that is built from it."""
    out = tmp_path_factory.mktemp("distributions") / "dist"
    wheel, source = sorted(
        build(source=CHECKOUT, out=out), key=lambda p: p.suffix != ".whl"
    )
    return source, wheel


@pytest.fixture(scope="module")
def metadata(distributions: tuple[Path, Path]) -> Message:
    """Return the metadata of the wheel; the payload is the description."""
    with zipfile.ZipFile(distributions[1]) as archive:
        [name] = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        return email.message_from_string(archive.read(name).decode())


def test_the_wheel_has_what_the_generator_needs_and_no_more(
    distributions: tuple[Path, Path],
) -> None:
    """Every module, template and shared source; no tests, schemas or generated code."""
    with zipfile.ZipFile(distributions[1]) as archive:
        names = set(archive.namelist())
    package = CHECKOUT / "schemagen"
    code = {f"schemagen/{p.relative_to(package).as_posix()}" for p in sources(package)}
    templates = {
        f"schemagen/templates/{path.relative_to(CHECKOUT / 'templates').as_posix()}"
        for path in sources(CHECKOUT / "templates")
    }
    assert "schemagen/runtime/kinds/kind.py" in code
    assert "schemagen/templates/kinds/image.jinja" in templates
    assert "schemagen/py.typed" in code
    about = {name for name in names if ".dist-info/" in name}
    assert names - about == code | templates | {"schemagen/runtime/native/_core.so"}


def sources(directory: Path) -> list[Path]:
    return [
        path
        for path in directory.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.name != "_core.so"
    ]


def test_the_source_distribution_has_all_that_git_tracks(
    distributions: tuple[Path, Path],
) -> None:
    """A packager can build, test and document from it; only the script of CI is left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is no clone")
    tracked = {
        name
        for name in listed.stdout.split("\0")
        if name and (CHECKOUT / name).exists() and not name.startswith(".ci/")
    }
    with tarfile.open(distributions[0]) as archive:
        inside = {
            str(PurePosixPath(*PurePosixPath(n).parts[1:])) for n in archive.getnames()
        }
    assert tracked <= inside
    assert not {name for name in inside if name.startswith((".venv", "data/", "dist/"))}


@pytest.mark.integration
def test_the_source_distribution_builds_the_same_wheel(
    tmp_path: Path, distributions: tuple[Path, Path]
) -> None:
    """What is published is what `pip install .` gives."""
    [direct] = build("--wheel", source=CHECKOUT, out=tmp_path / "direct")
    with zipfile.ZipFile(direct) as one, zipfile.ZipFile(distributions[1]) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        # Compilers put names of temporary files into what they make.
        for name in {*one.namelist()} - {"schemagen/runtime/native/_core.so"}:
            assert one.read(name) == other.read(name), name


def test_an_index_accepts_both_distributions(distributions: tuple[Path, Path]) -> None:
    """`twine check --strict` has no errors and no warnings."""
    paths = [str(path) for path in distributions]
    run([sys.executable, "-m", "twine", "check", "--strict", *paths], cwd=CHECKOUT)


def test_the_description_has_no_dead_links(metadata: Message) -> None:
    """It is the README without relative links and pictures; its code is unchanged."""
    description = str(metadata.get_payload())
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    code = re.compile(r"^( *)```\w*\n.*?^\1```$", re.M | re.S)
    assert [m[0] for m in code.finditer(description)] == [
        m[0] for m in code.finditer(readme)
    ]
    prose = code.sub("", description)
    targets = re.findall(r"\]\(([^)\s]*)", prose)
    targets += re.findall(r"""(?:href|src|srcset)=["']([^"']*)""", prose)
    assert [t for t in targets if not t.startswith(("https://", "mailto:", "#"))] == []


def test_the_metadata_states_what_is_known(metadata: Message) -> None:
    """Authors, Python and classifiers; no license and no address, which do not exist."""
    assert metadata["Author"] == "the schemagen developers"
    assert metadata["Requires-Python"] == ">=3.11"
    assert "training record" in metadata["Summary"]
    assert "tfrecord" in metadata["Keywords"]
    for absent in (
        "License",
        "License-Expression",
        "License-File",
        "Project-URL",
        "Home-page",
    ):
        assert metadata[absent] is None
    needs = metadata.get_all("Requires-Dist") or []
    assert {n.split(">")[0] for n in needs if "extra ==" not in n} == ALWAYS


def test_the_classifiers_are_known_to_indexes() -> None:
    """An index refuses others. The Pythons are those of docs/versions.md."""
    from trove_classifiers import classifiers

    stated = PROJECT["classifiers"]
    assert set(stated) <= classifiers
    assert stated == sorted(set(stated))
    page = (CHECKOUT / "docs" / "versions.md").read_text(encoding="utf-8")
    for minor in (11, 12, 13):
        assert f"Programming Language :: Python :: 3.{minor}" in stated
    assert "Python 3.11 to 3.13" in page


def test_messages_install_extras_of_the_distribution() -> None:
    """One function words the command, and each extra that is named exists."""
    assert PROJECT["name"] == DISTRIBUTION
    assert install("report") == f'pip install "{DISTRIBUTION}[report]"'
    named: set[str] = set()
    for directory in ("schemagen", "templates"):
        for path in sources(CHECKOUT / directory):
            text = path.read_text("utf-8")
            assert ("pip install" in text) == (
                path == CHECKOUT / "schemagen/runtime/interface.py"
            ), path
            named.update(re.findall(r"\binstall\('([a-z-]+)'\)", text))
    assert named == EXTRAS - ENGINES - {"all"}


def test_pages_never_install_schemagen_by_the_name_of_the_package() -> None:
    """The package index has another project of that name."""
    for path in [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]:
        if path.name not in ("CHANGELOG.md", "questions.md"):  # which tell of it
            for line in path.read_text("utf-8").splitlines():
                assert not re.search(r"pip install \S*schemagen(?!-tfrecord)", line), (
                    path
                )
                for found in re.findall(r"PATH/TO/CLONE\[([a-z,-]+)\]", line):
                    assert set(found.split(",")) <= EXTRAS, path


def test_pages_name_the_version_of_the_project() -> None:
    """The changelog begins with it, docs/ci.md shows its tag; the interface is that of now."""
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d[\d.]*)", changelog, re.M)
    assert newest is not None
    assert newest[1] == PROJECT["version"]
    tags = re.findall(
        r"\bv(\d+\.\d+\.\d+)\b", (CHECKOUT / "docs" / "ci.md").read_text("utf-8")
    )
    assert set(tags) == {PROJECT["version"]}
    generated = (CHECKOUT / "generated/__init__.py").read_text(encoding="utf-8")
    [interface] = re.findall(r"require\((\d+)\)", generated)
    with pytest.raises(ImportError) as refused:
        exec(generated.replace(f"require({interface})", "require(0)"), {})
    [supported] = re.findall(r"supports ([\dto ]+):", str(refused.value))
    versions = (CHECKOUT / "docs" / "versions.md").read_text(encoding="utf-8")
    *_, row = re.findall(r"^\| (\d+\.\d+) \| (\d+) \| ([\dto ]+) \|$", versions, re.M)
    assert row[1:] == (interface, supported)


@pytest.mark.integration
@pytest.mark.parametrize("python", interpreters())
def test_the_wheel_works_outside_the_checkout(
    tmp_path: Path, distributions: tuple[Path, Path], python: str
) -> None:
    """In a clean environment, without tensorflow: every verb, and writing data.

    The generated code is byte for byte that of the checkout, so that all that is
    tested of one holds for the other.
    """
    _, wheel = distributions
    run([python, "-m", "venv", "--without-pip", "venv"], cwd=tmp_path)
    inside = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    clean = str(inside / "python")
    install = [sys.executable, "-m", "pip", "--python", clean, "install", "--quiet"]
    run([*install, "--disable-pip-version-check", str(wheel)], cwd=tmp_path)
    names = "import importlib.metadata as m; print([d.name for d in m.distributions()])"
    installed = run([clean, "-c", names], cwd=tmp_path).lower()
    assert f"'{DISTRIBUTION}'" in installed
    assert "tensorflow" not in installed
    assert "keras" not in installed

    command = str(inside / "schemagen")
    version = f"schemagen, version {PROJECT['version']}\n"
    assert run([command, "--version"], cwd=tmp_path) == version
    new = tmp_path / "new"
    new.mkdir()
    run([command, "init"], cwd=new)
    assert "created generated/pet_photo (8 files)" in run(
        [command, "generate"], cwd=new
    )
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
    assert sum(len(read_records(shard)) for shard in shards) == 10
    assert (project / "data" / "manifest.json").is_file()
