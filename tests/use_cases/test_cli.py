"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import errno
import json
import re
import shutil
import tomllib
from importlib.metadata import version
from pathlib import Path

import click
import pytest
import schemagen
from command_line import make_project, run, snapshot
from schemagen.cli import main
from schemagen.findings import Finding, Location, render_github, render_text

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


def break_schema(project: Path) -> None:
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", "age: dict[str, int]"))


# init


def test_init_makes_a_project_that_works_at_once(tmp_path: Path) -> None:
    """In an empty directory: init, generate, check, and nothing else to do."""
    result = run("init", tmp_path)
    assert result.exit_code == 0
    assert result.stdout == (
        "wrote pyproject.toml\nwrote schemas/pet_photo.py\nwrote .gitattributes\n"
        "\n"
        "Next steps:\n"
        f"  1. Edit {tmp_path}/schemas/pet_photo.py: rename the record, and declare your "
        "fields.\n"
        "  2. Generate its code:\n"
        f"         schemagen generate --project {tmp_path}\n"
        "  3. Import the code (if the record is still called PetPhoto):\n"
        "         from generated.pet_photo.serializer import Writer, write_dataset\n"
        "         from generated.pet_photo.pipeline import make_dataset\n"
    )
    assert run("check", "--project", tmp_path).exit_code == 1
    result = run("generate", "--project", tmp_path)
    assert result.exit_code == 0
    assert "created generated/pet_photo (6 files)\n" in result.stdout
    result = run("check", "--project", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert re.fullmatch(r"\d+ files up to date\n", result.stdout)


def test_the_first_generate_says_where_to_import_from(project: Path) -> None:
    """Programs find the package from its directory, or by PYTHONPATH; told once."""
    advice = f"import generated in {project}, or set PYTHONPATH to it."
    assert advice not in run("generate", "--project", project).stdout
    shutil.rmtree(project / "generated")
    assert advice not in run("generate", "--dry-run", "--project", project).stdout
    assert advice in run("generate", "--project", project).stdout


def test_init_works_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No argument is needed, of init or of any other command."""
    monkeypatch.chdir(tmp_path)
    for command in ("init", "generate", "check", "describe"):
        assert run(command).exit_code == 0
    assert (tmp_path / "generated/pet_photo/model.py").exists()


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
    result = run("init", tmp_path)
    assert result.exit_code == 0
    assert result.stdout == (
        "wrote pyproject.toml\nwrote .gitattributes\n\nNext steps:\n"
        "  1. Generate the code of your schemas; the command prints its imports:\n"
        f"         schemagen generate --project {tmp_path}\n"
        "  2. Commit the schemas, the generated code and the files above.\n"
    )
    assert [path.name for path in (tmp_path / "schemas").iterdir()] == ["mine.py"]
    assert run("generate", "--project", tmp_path).exit_code == 0


@pytest.mark.parametrize(
    "text", [None, "[ tool.schemagen ]\n", "[tool]\nschemagen = {}\n"]
)
def test_a_second_init_is_refused(tmp_path: Path, text: str | None) -> None:
    """Settings that exist are kept, however they are written.

    In a project without a .gitattributes that one is still to be written.
    """
    if text is None:
        run("init", tmp_path)
    else:
        (tmp_path / "pyproject.toml").write_text(text)
        assert run("init", tmp_path).output.startswith("wrote .gitattributes\n\nNext")
    before = snapshot(tmp_path)
    result = run("init", tmp_path)
    assert result.exit_code == 2
    assert "SG404 pyproject.toml already has [tool.schemagen]" in result.stderr
    assert snapshot(tmp_path) == before


def test_init_does_not_add_to_a_file_that_is_broken(tmp_path: Path) -> None:
    """A pyproject.toml that is no TOML is told, not appended to."""
    (tmp_path / "pyproject.toml").write_text("[tool\n")
    before = snapshot(tmp_path)
    result = run("init", tmp_path)
    assert result.exit_code == 2
    assert "SG401" in result.stderr
    assert snapshot(tmp_path) == before


def test_init_tells_what_it_cannot_write(tmp_path: Path) -> None:
    """A file by the name of the schemas' directory is left alone."""
    (tmp_path / "schemas").write_text("mine")
    before = snapshot(tmp_path)
    result = run("init", tmp_path)
    assert result.exit_code == 2
    assert "SG403 schemas/pet_photo.py cannot be written" in result.stderr
    assert snapshot(tmp_path) == before


# generate and check


def test_a_dry_run_tells_and_writes_nothing(tmp_path: Path) -> None:
    """The same list as a real run, in the conditional."""
    root = make_project(tmp_path, {"pets.py": PET})
    before = snapshot(root)
    dry = run("generate", "--dry-run", "--project", root)
    assert dry.exit_code == 0
    assert dry.stdout == "would create generated/pet (6 files)\n"
    assert snapshot(root) == before
    real = run("generate", "--project", root)
    assert real.stdout.startswith(dry.stdout.replace("would create", "created"))


def test_generate_tells_every_change(project: Path) -> None:
    """A line for each package, with the number of files; a single file by its name."""
    (project / "schemas/photos.py").unlink()
    (project / "generated/pet/model.py").unlink()
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", "age: float"))
    result = run("generate", "--project", project)
    assert result.stdout.startswith(
        "updated generated/pet (6 files)\ndeleted generated/pet_photo (6 files)\n"
        "1 file up to date\n"
    )
    (project / "generated/pet/model.py").unlink()
    result = run("generate", "--project", project)
    assert result.stdout.startswith(
        "created generated/pet/model.py\n6 files up to date\n"
    )
    result = run("generate", "--project", project)
    assert result.stdout == "7 files up to date\n"


def test_force_overwrites_an_edited_file(project: Path) -> None:
    """Without it the edit is kept and the exit code is 2."""
    path = project / "generated/pet/model.py"
    text = path.read_text()
    path.write_text(text + "x = 1\n")
    refused = run("generate", "--project", project)
    assert refused.exit_code == 2
    assert "SG304 generated/pet/model.py was edited by hand" in refused.stderr
    assert f"`schemagen generate --project {project} --force`" in refused.stderr
    assert run("generate", "--force", "--project", project).exit_code == 0
    assert path.read_text() == text


def differ(project: Path) -> dict[str, str]:
    """Make files differ for every cause there is; return each one's rule by path."""
    output = project / "generated"

    def rewrite(name: str, old: bytes, new: bytes) -> None:
        data = (output / name).read_bytes()
        assert old in data
        (output / name).write_bytes(data.replace(old, new))

    (output / "pet_photo/model.py").unlink()
    rewrite("pet_photo/parser.py", b"def parse_batch", b"def parse_all")
    rewrite("pet_photo/pipeline.py", b'"""\n\n', b'"""\n\n\n')
    rewrite("pet_photo/serializer.py", b"\n", b"\r\n")
    (output / "notes.txt").write_text("mine")
    orphan = make_project(project / "other", {"x.py": PET.replace("Pet", "Old")})
    schemagen.generate(orphan)
    (orphan / "generated/old").rename(output / "old")
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", "age: float"))
    return {
        "generated/pet_photo/model.py": "SG301",
        "generated/pet/spec.json": "SG302",
        "generated/pet_photo/parser.py": "SG304",
        "generated/pet_photo/pipeline.py": "SG305",
        "generated/pet_photo/serializer.py": "SG306",
        "generated/old/spec.json": "SG307",
        "generated/notes.txt": "SG308",
    }


def test_check_names_every_cause_at_its_place(project: Path) -> None:
    """Exit code 1, and path:line:column, rule, message and advice of each file."""
    expected = differ(project)
    result = run("check", "--project", project)
    assert (result.exit_code, result.stdout) == (1, "")
    for path, rule in expected.items():
        line = (
            r"^{}:\d+:1: {} (the code in )?{} .+\n(    .+\n)*    to do:    .+"
            r"`schemagen generate .+`$"
        )
        subject = path.removesuffix("/spec.json")
        pattern = line.format(re.escape(path), rule, re.escape(subject))
        assert re.search(pattern, result.stderr, re.M), (path, rule)


def test_check_shows_a_diff(project: Path) -> None:
    """--diff is a unified diff on stdout, which `git apply` could read."""
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("A pet.", "A lovely pet."))
    (project / "generated/pet_photo/model.py").unlink()
    result = run("check", "--diff", "--project", project)
    assert result.exit_code == 1
    assert "--- a/generated/pet/serializer.py\n+++ b/generated/pet/" in result.stdout
    assert "\n-A pet.\n+A lovely pet.\n" in result.stdout
    assert "--- /dev/null\n+++ b/generated/pet_photo/model.py\n" in result.stdout
    assert "SG302" in result.stderr
    assert "SG302" not in result.stdout


def test_a_diff_does_not_corrupt_data(project: Path) -> None:
    """With --format json the diff goes to stderr and the findings stay data."""
    differ(project)
    result = run("check", "--diff", "--format", "json", "--project", project)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["findings"]
    assert "+++ b/generated/pet/serializer.py" in result.stderr
    assert "notes.txt" not in result.stderr, "nothing would be done to it"


# formats


def test_findings_as_text(project: Path) -> None:
    """Place, rule and message; the line with a caret; found, expected, what to do."""
    break_schema(project)
    result = run("check", "--project", project)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "schemas/pets.py:7:5: SG111 Pet.age: no kind goes with the type "
        "dict[str, int]\n"
        "    |     age: dict[str, int]\n"
        "    |     ^\n"
        "    found:    dict[str, int]\n"
        "    expected: int, float, bool, str, bytes, a list of these, a Literal of "
        "names, an Enum, or Annotated[type, kind]\n"
        "    to do:    write Annotated[TYPE, KIND], such as Annotated[np.ndarray, Vector(shape=(5,))]\n"
    )


def test_a_caret_stands_below_its_column_behind_tabs() -> None:
    """Tabs before the column are repeated, so that the caret lines up."""
    finding = Finding(Location("a.py", 2, 3, "\t\tx = 1"), "SG101", "no")
    assert render_text([finding]).split("\n")[1:] == ["    | \t\tx = 1", "    | \t\t^"]


@pytest.mark.parametrize("command", ["generate", "check"])
def test_findings_as_json(project: Path, command: str) -> None:
    """A version, and each finding with all its parts; stderr is silent."""
    break_schema(project)
    result = run(command, "--format", "json", "--project", project)
    assert (result.exit_code, result.stderr) == (2, "")
    data = json.loads(result.stdout)
    assert set(data) == {"version", "findings"}
    assert data["version"] == 1
    [finding] = data["findings"]
    assert finding == {
        "location": {
            "path": "schemas/pets.py",
            "line": 7,
            "column": 5,
            "source": "    age: dict[str, int]",
        },
        "rule": "SG111",
        "message": "Pet.age: no kind goes with the type dict[str, int]",
        "found": "dict[str, int]",
        "expected": "int, float, bool, str, bytes, a list of these, a Literal of "
        "names, an Enum, or Annotated[type, kind]",
        "advice": "write Annotated[TYPE, KIND], such as Annotated[np.ndarray, Vector(shape=(5,))]",
        "severity": "error",
        "files": [],
    }


@pytest.mark.parametrize("command", ["generate", "check"])
def test_no_findings_in_every_format(project: Path, command: str) -> None:
    """JSON is an empty list; GitHub has nothing to annotate."""
    result = run(command, "--format", "json", "--project", project)
    assert json.loads(result.stdout) == {"version": 1, "findings": []}
    result = run(command, "--format", "github", "--project", project)
    assert (result.exit_code, result.output) == (0, "")


def test_findings_for_github(project: Path) -> None:
    """One workflow command a finding, which annotates the line in a pull request."""
    break_schema(project)
    result = run("check", "--format", "github", "--project", project)
    assert result.exit_code == 2
    assert result.stdout == (
        "::error file=schemas/pets.py,line=7,col=5,title=SG111::Pet.age: no kind goes "
        "with the type dict[str, int]%0Afound: dict[str, int]%0Aexpected: int, float, "
        "bool, str, bytes, a list of these, a Literal of names, an Enum, or "
        "Annotated[type, kind]%0Awrite Annotated[TYPE, KIND], such as "
        "Annotated[np.ndarray, Vector(shape=(5,))]\n"
    )


def test_text_cannot_end_a_github_command() -> None:
    """Line ends, percent signs, colons and commas are escaped where they count."""
    finding = Finding(Location("a,b:c%.py", 1, 1), "SG101", "x\n::error::y\r50%")
    assert render_github([finding]) == (
        "::error file=a%2Cb%3Ac%25.py,line=1,col=1,title=SG101::x%0A::error::y%0D50%25"
    )


# describe


def test_describe_shows_records_for_people(project: Path) -> None:
    """Name, source, docstring and a line a field; all records, or the one named."""
    text = run("describe", "Pet", "--project", project).stdout
    assert text.startswith("Pet (schemas/pets.py), fingerprint ")
    assert "\nA pet.\n" in text
    assert re.search(r"^age +Scalar +input +age +int64_list +int64 \[B\]$", text, re.M)
    assert re.search(r"^name +Text\? +input +name +bytes_list +string", text, re.M)
    assert run("describe", "pet", "--project", project).stdout == text
    both = run("describe", "--project", project).stdout
    assert text in both
    assert "PetPhoto (schemas/photos.py)" in both


def test_describe_gives_specs_to_programs(project: Path) -> None:
    """--format json is the specs, as in spec.json."""
    result = run("describe", "pet_photo", "--format", "json", "--project", project)
    data = json.loads(result.stdout)
    assert data["version"] == 1
    [spec] = data["records"]
    written = json.loads((project / "generated/pet_photo/spec.json").read_text())
    assert spec == {k: v for k, v in written.items() if not k.startswith("//")}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("pet_foto", "did you mean 'pet_photo'?"),
        ("PetPoto", "did you mean 'PetPhoto'"),
        ("zzz", "to do:    name one of these"),
    ],
)
def test_describe_suggests_a_record(project: Path, name: str, near: str) -> None:
    """An unknown record is answered with the nearest name, if any, and all there are."""
    result = run("describe", name, "--project", project)
    assert result.exit_code == 2
    assert f"SG405 no record {name!r}" in result.stderr
    assert "expected: one of pet, pet_photo" in result.stderr
    assert near in result.stderr


# exit codes


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-command",),
        ("generate", "--no-such-option"),
        ("check", "--format", "xml"),
        ("generate", "--project", "/no/such/directory"),
        ("describe", "a", "b"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    """Usage errors are requests that cannot be carried out."""
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("command", ["init", "generate", "check", "describe"])
@pytest.mark.parametrize("error", [ValueError("oops"), OSError(errno.ENOENT, "oops")])
def test_a_bug_is_exit_code_3_and_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, command: str, error: Exception
) -> None:
    """An unexpected error shows its traceback and asks for a report."""

    def fails(*arguments: object, **options: object) -> None:
        raise error

    home = "init" if command == "init" else "generate"
    monkeypatch.setattr(f"schemagen.use_cases.{home}.{command}", fails)
    where = () if command == "init" else ("--project", project)
    result = run(command, *where)
    assert result.exit_code == 3
    assert "This is a bug in schemagen" in result.stderr
    assert "Traceback (most recent call last)" in result.stderr
    assert "oops" in result.stderr
    assert result.stdout == ""


def test_a_closed_pipe_is_no_bug(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`schemagen describe | head` ends silently."""

    def closed(*arguments: object, **options: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("schemagen.use_cases.generate.describe", closed)
    assert run("describe", "--project", project).stderr == ""


# help

COMMANDS = [(), *((name,) for name in main.commands)]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_and_option_is_documented(
    command: tuple[str, ...], option: str
) -> None:
    """Each has a sentence in its help text, which --help prints."""
    result = run(*command, option)
    assert result.exit_code == 0
    found: click.Command = main.commands[command[0]] if command else main
    assert found.help
    assert found.help.split(".")[0].split("\n")[0] in result.stdout
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
            assert parameter.opts[-1] in result.stdout


def test_help_lists_the_verbs_and_exit_codes() -> None:
    """The first help text names every verb, and what each exit code means."""
    text = " ".join(run("--help").stdout.split())
    for name, command in main.commands.items():
        summary = command.get_short_help_str(limit=60)
        assert not summary.endswith("...")
        assert f"{name} {summary}" in text
    for code, meaning in enumerate(
        ("clean", "findings", "the request cannot be carried out", "a bug")
    ):
        assert f"{code} {meaning}" in text


def test_the_verbs_are_those_of_the_design() -> None:
    """A verb that is taken away or renamed breaks scripts."""
    assert {"init", "generate", "check", "describe"} <= set(main.commands)


def test_the_version_is_the_installed_one() -> None:
    """`--version` prints what `schemagen.__version__` is."""
    assert schemagen.__version__ == version("schemagen")
    assert run("--version").stdout.endswith(f", version {schemagen.__version__}\n")
