"""The command line: `init`, findings in each format, `describe`, and the version."""

from __future__ import annotations

import errno
import json
import re
import tomllib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
import schemagen
from command_line import findings_of, make_project, run, snapshot
from data.messages import example, write_file

PET = """\
from schemagen import Record


class Pet(Record):
    \"\"\"A pet.\"\"\"

    age: int
    name: str | None = None
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the records Pet and PetPhoto, generated."""
    photo = PET.replace("class Pet(", "class PetPhoto(")
    root = make_project(tmp_path / "p", {"pets.py": PET, "photos.py": photo})
    schemagen.generate(root)
    return root


# init


def test_init_makes_a_project_that_works_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty directory: init, generate, check, and nothing else to do."""
    monkeypatch.chdir(tmp_path)
    result = run("init")
    assert result.exit_code == 0
    for name in ("pyproject.toml", "schemas/pet_photo.py", ".gitattributes"):
        assert f"wrote {name}\n" in result.stdout
        assert (tmp_path / name).is_file()
    assert "\n         schemagen generate\n" in result.stdout
    assert run("check").exit_code == 1
    assert run("generate").exit_code == 0
    assert (run("check").exit_code, run("describe").exit_code) == (0, 0)
    for code in re.findall(r"import \w+|from (\S+) import", result.stdout):
        module = tmp_path / f"{code.replace('.', '/')}.py"
        assert not code or module.is_file()


@pytest.mark.parametrize(
    "text",
    ['[project]\nname = "x"\n', '[project]\nname = "x"', "# grün\r\n[tool.x]\r\n", ""],
    ids=["ordinary", "no last line end", "CRLF", "empty"],
)
def test_init_adds_to_a_pyproject_that_exists(tmp_path: Path, text: str) -> None:
    """What was in the file stays as it was, byte for byte."""
    path = tmp_path / "pyproject.toml"
    path.write_bytes(text.encode())
    assert run("init", tmp_path).exit_code == 0
    data = path.read_bytes()
    assert data.startswith(text.encode())
    assert (b"\r\n" in data) == ("\r\n" in text)
    assert not re.search(rb"[^\r]\n", data) or "\r\n" not in text
    assert tomllib.loads(data.decode())["tool"]["schemagen"] == {
        "schemas": "schemas",
        "output": "generated",
    }


def test_init_keeps_schemas_that_exist(tmp_path: Path) -> None:
    """Where there are schemas, no example is put next to them."""
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas/mine.py").write_text(PET)
    assert run("init", tmp_path).exit_code == 0
    assert [path.name for path in (tmp_path / "schemas").iterdir()] == ["mine.py"]
    assert run("generate", "--project", tmp_path).exit_code == 0


# What stands in the way of `init`, and the rule and path of the finding.
IN_THE_WAY: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "init": (lambda root: run("init", root), "SG404", "pyproject.toml"),
    "settings in other words": (
        lambda root: [
            (root / "pyproject.toml").write_text("[tool]\nschemagen = {}\n"),
            run("init", root),
        ],
        "SG404",
        "pyproject.toml",
    ),
    "no TOML": (
        lambda root: (root / "pyproject.toml").write_text("[tool\n"),
        "SG401",
        "pyproject.toml",
    ),
    "a file for a directory": (
        lambda root: (root / "schemas").write_text("mine"),
        "SG403",
        "schemas/pet_photo.py",
    ),
    "a directory for a file": (
        lambda root: (root / ".gitattributes").mkdir(),
        "SG403",
        ".gitattributes",
    ),
}


@pytest.mark.parametrize("case", IN_THE_WAY)
def test_init_is_refused_and_changes_nothing(tmp_path: Path, case: str) -> None:
    """Whatever is there is kept."""
    step, rule, path = IN_THE_WAY[case]
    step(tmp_path)
    before = snapshot(tmp_path)
    result = run("init", tmp_path)
    assert result.exit_code == 2
    assert re.search(rf"{re.escape(path)}\S*: {rule} ", result.stderr), result.stderr
    assert snapshot(tmp_path) == before


# Findings in each format


def test_a_finding_in_each_format(project: Path) -> None:
    """A line with a caret for people, data for programs, an annotation for GitHub."""
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", "age: dict[str, int]"))
    for command in ("generate", "check"):
        result = run(command, "--project", project)
        assert (result.exit_code, result.stdout) == (2, "")
        first, source, caret, *rest = result.stderr.splitlines()
        assert first.startswith("schemas/pets.py:7:5: SG111 Pet.age: ")
        assert (source, caret) == ("    |     age: dict[str, int]", "    |     ^")
        assert [line.split(":")[0].strip() for line in rest] == [
            *("found", "expected", "to do")
        ]

        result = run(command, "--format", "json", "--project", project)
        assert (result.exit_code, result.stderr) == (2, "")
        [finding] = json.loads(result.stdout)["findings"]
        assert finding["location"] == {
            "path": "schemas/pets.py",
            "line": 7,
            "column": 5,
            "source": "    age: dict[str, int]",
        }
        assert (finding["rule"], finding["found"]) == ("SG111", "dict[str, int]")
        assert first == f"schemas/pets.py:7:5: SG111 {finding['message']}"

        result = run(command, "--format", "github", "--project", project)
        assert result.exit_code == 2
        place = "file=schemas/pets.py,line=7,col=5"
        message = f"::error {place},title=SG111::{finding['message']}%0A"
        assert result.stdout.startswith(message)
        assert result.stdout.count("\n") == 1


def test_no_findings_in_each_format(project: Path) -> None:
    """JSON is an empty list; GitHub has nothing to annotate."""
    for command in ("generate", "check"):
        result = run(command, "--format", "json", "--project", project)
        assert json.loads(result.stdout) == {"version": 1, "findings": []}
        result = run(command, "--format", "github", "--project", project)
        assert (result.exit_code, result.output) == (0, "")


def test_findings_of_one_field_are_shown_together(project: Path) -> None:
    """Of many splits the first ones and how many more; programs get all of them."""
    for fold in range(9):
        rows = [example({"age": b"x", "name": b"a"}), example({"age": 1})]
        write_file(project / f"data/fold{fold}/a-00000-of-00001.tfrecord", rows)
    arguments = ("verify", project / "data", "--record", "pet", "--project", project)
    found = findings_of(*arguments, code=1)
    assert len(found) == 9
    text = run(*arguments).stderr
    assert text.count(f": {found[0]['rule']} ") == 1
    for at, finding in enumerate(found):
        assert (finding["location"]["path"] in text) == (at < 6)
    assert text.endswith("    others:   3 more\n")
    annotations = run(*arguments, "--format", "github").stdout
    assert annotations.count("::error ") == 9


@pytest.mark.parametrize("style", ["json", "github"])
def test_a_file_as_a_whole_has_no_line(tmp_path: Path, style: str) -> None:
    """Nor has a path that does not exist."""
    path = tmp_path / "no"
    assert run("verify", path).stderr.startswith(f"{path}: SG441 ")
    shown = run("verify", path, "--format", style).stdout
    if style == "github":
        assert shown.startswith(f"::error file={path},title=SG441::")
    else:
        [finding] = json.loads(shown)["findings"]
        place = {"path": str(path), "line": None, "column": None, "source": ""}
        assert finding["location"] == place


def test_text_cannot_end_a_github_command(tmp_path: Path) -> None:
    """Line ends, percent signs, colons and commas are escaped where they count."""
    path = tmp_path / "a,b:c%\n::error::y\r.tfrecord"
    path.write_bytes(b"50% of it, no record")
    shown = run("verify", tmp_path / "*.tfrecord", "--format", "github").stdout
    place = f"{tmp_path}/a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ay%0D.tfrecord"
    assert shown.startswith(f"::error file={place},title=SG508::")
    assert "%0Afound: text: '50%25 of it, no record'%0A" in shown
    assert shown.count("\n") == 1


# describe


def test_describe_shows_records(project: Path) -> None:
    """For people a line a field; for programs the specs, as in spec.json."""
    text = run("describe", "Pet", "--project", project).stdout
    assert text.startswith("Pet (schemas/pets.py), ")
    assert "\nA pet.\n" in text
    assert re.search(r"^age +Scalar +input +age +int64_list +int64 \[B\]$", text, re.M)
    assert run("describe", "pet", "--project", project).stdout == text
    both = run("describe", "--project", project).stdout
    assert text in both
    assert "PetPhoto (schemas/photos.py)" in both
    result = run("describe", "pet_photo", "--format", "json", "--project", project)
    [spec] = json.loads(result.stdout)["records"]
    written = json.loads((project / "generated/pet_photo/spec.json").read_text())
    assert spec == {k: v for k, v in written.items() if not k.startswith("//")}


@pytest.mark.parametrize(
    ("name", "near"),
    [("pet_foto", "'pet_photo'"), ("PetPoto", "'PetPhoto'"), ("zzz", "")],
)
def test_describe_suggests_a_record(project: Path, name: str, near: str) -> None:
    """An unknown record is answered with the nearest name, if any, and all there are."""
    [finding] = findings_of("describe", name, "--project", project, code=2)
    assert finding["rule"] == "SG405"
    assert "pet, pet_photo" in finding["expected"]
    assert near in finding["advice"]


def test_a_closed_pipe_is_no_bug(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`schemagen describe | head` ends silently."""

    def closed(*arguments: object, **options: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("schemagen.use_cases.generate.describe", closed)
    assert run("describe", "--project", project).stderr == ""


def test_the_version_is_the_installed_one() -> None:
    """`--version` prints what `schemagen.__version__` is."""
    assert schemagen.__version__ == version("schemagen-tfrecord")
    assert run("--version").stdout.endswith(f" {schemagen.__version__}\n")
