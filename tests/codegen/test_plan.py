"""Plans: why a file differs, what is done about it, and what a failure leaves."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, run, snapshot
from schemagen.codegen.plan import Action, Plan, make_plan
from schemagen.codegen.render import RenderedFile, render
from schemagen.config import find_project
from schemagen.findings import SchemagenError
from schemagen.use_cases.generate import load_specs, plan

PET = """\
from typing import Annotated
from schemagen import Label, Record


class Pet(Record):
    name: str
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
"""
DOG = PET.replace("Pet", "Dog")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the records Pet and Dog, generated; the user is in it."""
    root = make_project(tmp_path / "p", {"pets.py": PET, "dogs.py": DOG})
    schemagen.generate(root)
    monkeypatch.chdir(root)
    return root


def change_schema(project: Path) -> None:
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace('"tabby"', '"tabby", "siamese"'))


def edited(project: Path, old: str, new: str, name: str = "pet/parser.py") -> Path:
    """Replace text in a generated file, which has to be there."""
    path = project / "generated" / name
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())
    return path


def check(project: Path) -> dict[str, tuple[str, str, str]]:
    """Return the rule, message and advice of every file's finding by its path."""
    return {
        found.location.path: (found.rule, found.message, found.advice)
        for found in (file.finding for file in schemagen.check(project).files)
        if found is not None
    }


def test_a_project_is_up_to_date_after_generate(project: Path) -> None:
    """The plan of a generated project has nothing to do, and generate does nothing."""
    before = snapshot(project)
    found = schemagen.generate(project)
    assert (found.findings, found.changes) == ((), ())
    assert {file.action for file in found.files} == {Action.KEEP}
    assert snapshot(project) == before


def test_another_version_of_schemagen_is_the_cause(project: Path) -> None:
    """SG303: spec and file are intact, only the generator prints something else."""
    rendered = render(load_specs(find_project(project)))
    existing = {file.path: file.text.encode() for file in rendered}
    newer = [
        RenderedFile(file.path, file.text + "# more\n", file.source, file.spec)
        if file.path == "pet/parser.py"
        else file
        for file in rendered
    ]
    [finding] = make_plan(newer, existing, "generated").findings
    assert finding.rule == "SG303"
    assert finding.message == (
        "generated/pet/parser.py is out of date: its template changed; "
        "schemas/pets.py did not"
    )
    assert make_plan(newer, existing, "generated").changes[0].action is Action.UPDATE


# how a generated file is edited: in its body, its first line, its hashes
EDITS: list[tuple[str, str]] = [
    ("def parse_batch", "def parse_the_batch"),
    ("from schemas/pets.py.", "from schemas/cats.py."),
    ("body=", "body=0123456789abcdef"),
    ('"""', "'''not closed"),
    ("\n\n\n", "\n\n\n# Do not forget.\n"),
]


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_a_file_edited_by_hand_is_kept_unless_forced(
    project: Path, old: str, new: str
) -> None:
    """SG304: generate refuses and changes nothing; --force overwrites the edit."""
    path = edited(project, old, new)
    change_schema(project)
    assert check(project)["generated/pet/parser.py"][0] == "SG304"
    before = snapshot(project)
    with pytest.raises(SchemagenError) as refused:
        schemagen.generate(project)
    [finding] = refused.value.findings
    assert finding.message.startswith("generated/pet/parser.py was edited by hand")
    assert "schemagen generate --force" in finding.advice
    assert snapshot(project) == before
    schemagen.generate(project, force=True)
    assert new not in path.read_text()
    assert check(project) == {}


def test_other_line_endings_are_mended(project: Path) -> None:
    """SG306: a checkout with CRLF is told apart from an edit, in Python and JSON."""
    for path in (project / "generated").rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = check(project)
    assert set(found) > {"generated/pet/spec.json", "generated/pet/model.py"}
    assert {rule for rule, _, _ in found.values()} == {"SG306"}
    assert "eol=lf" in found["generated/pet/model.py"][2]
    schemagen.generate(project)
    assert check(project) == {}


def test_other_line_endings_do_not_hide_an_edit(project: Path) -> None:
    """An edited file with CRLF is an edited file; a changed schema stays the cause."""
    path = edited(project, "def parse_batch", "def parse_the_batch")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert check(project)["generated/pet/parser.py"][0] == "SG304"
    path = project / "generated/dog/model.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    dogs = project / "schemas/dogs.py"
    dogs.write_text(dogs.read_text().replace("name", "call"))
    assert check(project)["generated/dog/model.py"][0] == "SG302"


def test_the_code_of_a_record_that_is_gone_is_deleted(project: Path) -> None:
    """SG307: the package goes with its bytecode, and nothing else does."""
    (project / "schemas/pets.py").unlink()
    cache = project / "generated/pet/__pycache__"
    cache.mkdir()
    (cache / "model.cpython-311.pyc").write_bytes(b"bytecode")
    found = check(project)
    assert set(found) == {
        f"generated/pet/{name}"
        for name in (
            "__init__.py",
            "model.py",
            "parser.py",
            "pipeline.py",
            "serializer.py",
            "spec.json",
        )
    }
    assert found["generated/pet/model.py"] == (
        "SG307",
        "generated/pet/model.py belongs to no record of the schemas",
        "to delete it, run `schemagen generate`",
    )
    schemagen.generate(project)
    assert not (project / "generated/pet").exists()
    assert (project / "generated/dog/model.py").exists()
    assert check(project) == {}


def test_an_edited_file_of_a_record_that_is_gone_is_kept(project: Path) -> None:
    """What is deleted has to be schemagen's own work, unless --force is given."""
    edited(project, "def parse_batch", "def parse_the_batch")
    (project / "schemas/pets.py").unlink()
    rule, message, _ = check(project)["generated/pet/parser.py"]
    assert rule == "SG304"
    assert "belongs to no record of the schemas and was edited by hand" in message
    before = snapshot(project)
    with pytest.raises(SchemagenError):
        schemagen.generate(project)
    assert snapshot(project) == before
    schemagen.generate(project, force=True)
    assert not (project / "generated/pet").exists()


# a file that schemagen did not write, and its contents
STRANGERS = {
    "next to the packages": ("notes.txt", b"mine"),
    "inside a package": ("pet/mine.py", b"x = 1\n"),
    "in the place of a file": ("pet/model.py", b"x = 1\n"),
    "in the place of a package": ("cat", b"mine"),
    "no text": ("blob.bin", b"\xff\x00"),
    "empty": ("pet/empty.py", b""),
    "with a header further down": (
        "pet/later.py",
        b"\n\n\n# Code generated by schemagen from x. DO NOT EDIT.\n"
        b"# schemagen: spec=- body=0123456789abcdef\n",
    ),
}


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("case", STRANGERS)
@pytest.mark.parametrize("force", [False, True])
def test_a_foreign_file_refuses_the_whole_run(
    project: Path, case: str, force: bool
) -> None:
    """SG308: what schemagen did not write is never touched, by --force neither."""
    name, data = STRANGERS[case]
    path = project / "generated" / name
    path.write_bytes(data)
    change_schema(project)
    (project / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))
    rule, message, advice = check(project)[f"generated/{name}"]
    assert rule == "SG308"
    assert "was not written by schemagen" in message
    assert advice == (
        "nothing is written while it is there: move it elsewhere, and run "
        "`schemagen generate`"
    )
    before = snapshot(project)
    with pytest.raises(SchemagenError) as refused:
        schemagen.generate(project, force=force)
    assert [finding.rule for finding in refused.value.findings] == ["SG308"]
    assert snapshot(project) == before


def test_all_that_stands_against_a_run_is_told_at_once(project: Path) -> None:
    """Edited and foreign files are listed together, in order of their paths."""
    edited(project, "def parse_batch", "def parse_the_batch")
    (project / "generated/a.txt").write_text("mine")
    (project / "generated/z.txt").write_text("mine")
    with pytest.raises(SchemagenError) as refused:
        schemagen.generate(project)
    assert [finding.location.path for finding in refused.value.findings] == [
        "generated/a.txt",
        "generated/pet/parser.py",
        "generated/z.txt",
    ]


def test_hidden_files_and_bytecode_are_nobodys_business(project: Path) -> None:
    """Editors and tools keep their own in there; check and generate do not mind."""
    for name in (".gitattributes", "pet/.DS_Store", ".cache/x.py", "__pycache__/y.pyc"):
        path = project / "generated" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"mine")
    assert check(project) == {}
    (project / "schemas/pets.py").unlink()
    schemagen.generate(project)
    assert (project / "generated/pet/.DS_Store").read_bytes() == b"mine"
    assert list((project / "generated/pet").iterdir()) == [
        project / "generated/pet/.DS_Store"
    ]


def test_only_files_that_differ_are_written(project: Path) -> None:
    """Equal files keep their times, so that build tools and editors see no change."""
    before = snapshot(project / "generated")
    change_schema(project)
    schemagen.generate(project)
    after = snapshot(project / "generated")
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed
    assert {path.split("/")[0] for path in changed} == {"pet"}


def test_a_plan_writes_nothing(project: Path) -> None:
    """check, --diff and --dry-run look at the disk and leave it as it is."""
    change_schema(project)
    (project / "schemas/dogs.py").unlink()
    before = snapshot(project)
    planned = schemagen.generate(project, dry_run=True)
    assert schemagen.check(project) == planned
    assert run("check", "--diff", "--project", project).exit_code == 1
    assert snapshot(project) == before
    actions = {file.action for file in planned.changes}
    assert actions == {Action.UPDATE, Action.DELETE}


def pending(project: Path) -> Plan:
    """Leave files to create, to update and to delete, and return the plan."""
    change_schema(project)
    (project / "schemas/dogs.py").unlink()
    (project / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))
    found = plan(find_project(project))
    actions = {file.action for file in found.changes}
    assert actions == {Action.CREATE, Action.UPDATE, Action.DELETE}
    return found


def contents(project: Path) -> dict[str, bytes | None]:
    return {path: data for path, (_, data) in snapshot(project).items()}


def failing(
    monkeypatch: pytest.MonkeyPatch, method: str, step: int
) -> Callable[[], int]:
    """Let the step-th call of a method of Path fail; return the count of calls."""
    original = getattr(Path, method)
    calls = 0

    def fails(self: Path, *arguments: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == step:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, method, fails)
    return lambda: calls


def steps(count: int) -> Iterator[int]:
    return iter(range(1, count + 1))


def test_a_failure_before_the_first_rename_changes_nothing(project: Path) -> None:
    """Whichever file cannot be staged, the disk is as it was, without leavings."""
    planned = pending(project)
    before = contents(project)
    writes = sum(file.new is not None for file in planned.changes)
    assert writes > 6
    for method in ("write_bytes", "mkdir"):
        for step in steps(writes if method == "write_bytes" else 1):
            with pytest.MonkeyPatch.context() as patch:
                calls = failing(patch, method, step)
                with pytest.raises(SchemagenError) as refused:
                    schemagen.generate(project)
                assert calls() == step
            [finding] = refused.value.findings
            assert finding.rule == "SG403"
            assert "cannot be written: No space left on device" in finding.message
            assert finding.location.path.startswith("generated/")
            assert contents(project) == before


def test_a_half_written_temporary_file_is_removed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full in the middle of a file leaves no piece of it."""
    pending(project)
    before = contents(project)
    original = Path.write_bytes

    def half(self: Path, data: bytes) -> int:
        original(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(SchemagenError):
        schemagen.generate(project)
    monkeypatch.undo()
    assert contents(project) == before


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("method", ["replace", "unlink"])
def test_a_failure_in_the_middle_is_repaired_by_the_next_run(
    project: Path, method: str
) -> None:
    """Each file is the old or the new one, none is refused, and a rerun ends it."""
    planned = pending(project)
    old = {file.path: file.old for file in planned.files}
    new = {
        file.path: file.new.encode() if file.new is not None else None
        for file in planned.files
    }
    kept = contents(project / "generated")
    step = 0
    while True:
        step += 1
        restore(project / "generated", kept)
        with pytest.MonkeyPatch.context() as patch:
            failing(patch, method, step)
            result = run("generate", "--project", project)
        if result.exit_code == 0:
            break
        assert result.exit_code == 2
        assert "SG403" in result.stderr
        found = contents(project / "generated")
        assert not [path for path in found if path.endswith(".tmp")]
        for path, data in found.items():
            assert data is None or data in (old.get(path), new.get(path)), path
        schemagen.generate(project)
        assert check(project) == {}
    assert step > 6


def restore(output: Path, files: dict[str, bytes | None]) -> None:
    """Bring a directory to given contents."""
    for path in sorted(output.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()
    for name, data in files.items():
        if data is None:
            (output / name).mkdir()
        else:
            (output / name).write_bytes(data)


def test_a_directory_in_the_place_of_a_file_refuses_the_run(project: Path) -> None:
    """It is seen before anything is written, and named."""
    pending(project)
    (project / "generated/pet/model.py").unlink()
    (project / "generated/pet/model.py").mkdir()
    before = contents(project)
    with pytest.raises(SchemagenError) as refused:
        schemagen.generate(project)
    [finding] = refused.value.findings
    assert (finding.rule, finding.location.path) == ("SG403", "generated/pet/model.py")
    assert "a directory is in its place" in finding.message
    assert contents(project) == before


@pytest.mark.parametrize(
    ("command", "output", "words"),
    [
        ("generate", "generated", "generated:1:1: SG403 generated cannot be read"),
        ("check", "generated", "expected: a directory, or nothing"),
        ("generate", "generated/code", "SG403 generated/code"),
    ],
)
def test_a_file_in_the_place_of_the_output_refuses_the_run(
    tmp_path: Path, command: str, output: str, words: str
) -> None:
    """A file by the name of the output directory, or of one above it, is left alone."""
    root = make_project(tmp_path, {"pets.py": PET})
    settings = f'[tool.schemagen]\noutput = "{output}"\n'
    (root / "pyproject.toml").write_text(settings)
    (root / "generated").write_text("mine")
    before = snapshot(root)
    result = run(command, "--project", root)
    assert result.exit_code == 2
    assert words in result.stderr
    assert snapshot(root) == before


def test_files_of_one_record_with_one_cause_are_one_finding(project: Path) -> None:
    """A stale record, a missing one, shared code and leftovers: each is told once."""
    change_schema(project)
    (found,) = schemagen.check(project).findings
    names = [path.name for path in sorted((project / "generated/pet").iterdir())]
    assert found.rule == "SG302"
    assert found.message == (
        "the code in generated/pet (6 files) is out of date: schemas/pets.py changed: "
        "breed.classes"
    )
    assert found.files == tuple(f"generated/pet/{name}" for name in names)
    assert found.location.path == "generated/pet/spec.json"
    schemagen.generate(project)
    shutil.rmtree(project / "generated/dog")
    (project / "schemas/pets.py").unlink()
    assert [
        (found.rule, found.message) for found in schemagen.check(project).findings
    ] == [
        (
            "SG301",
            "the code in generated/dog (6 files) is missing; schemas/dogs.py asks for it",
        ),
        (
            "SG307",
            "the code in generated/pet (6 files) belongs to no record of the schemas",
        ),
    ]


def test_what_refuses_a_run_is_told_file_by_file(project: Path) -> None:
    """Each edited file is to be looked at, and has a line of its own."""
    for name in ("pet/parser.py", "pet/pipeline.py"):
        edited(project, '"""\n', '"""  # mine\n', name)
    found = schemagen.check(project).findings
    assert [each.rule for each in found] == ["SG304", "SG304"]
    assert [each.files for each in found] == [
        ("generated/pet/parser.py",),
        ("generated/pet/pipeline.py",),
    ]
