"""What check says of a file that is not as it should be, word for word."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, run, snapshot
from schemagen.codegen.drift import Action
from schemagen.codegen.header import find_conflict
from schemagen.codegen.plan import Plan, make_plan
from schemagen.codegen.render import RenderedFile
from schemagen.codegen.spec_changes import spec_changes
from schemagen.findings import Finding, SchemagenError

PET = """\
from typing import Annotated
from schemagen import Label, Record


class Pet(Record):
    name: str
    breed: Annotated[int, Label(classes=("pug", "tabby"))]
"""
PARSER = "generated/pet/parser.py"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the record Pet, generated; the user is in it."""
    root = make_project(tmp_path / "my project", {"pets.py": PET})
    schemagen.generate(root)
    monkeypatch.chdir(root)
    return root


def rewrite(path: Path, old: str, new: str) -> None:
    """Replace text in a file, which has to be there."""
    text = path.read_bytes().decode()
    assert old in text
    path.write_bytes(text.replace(old, new).encode())


def finding(path: str, directory: Path | str = ".") -> Finding:
    """Return what check says of one file."""
    [found] = [
        file.finding
        for file in schemagen.check(directory).files
        if file.finding is not None and file.finding.location.path == path
    ]
    return found


# What changed in the schema


def field(name: str, **attributes: object) -> dict[str, object]:
    return {"name": name, "kind": "Scalar", "key": name, **attributes}


def spec(*fields: dict[str, object], **attributes: object) -> str:
    return json.dumps({"record": "pet", "fields": fields, **attributes})


# the old spec, the new one, and what is said
CHANGES = [
    (spec(field("a", dtype="int64")), spec(field("a", dtype="bool")), "a.dtype"),
    (spec(field("a")), spec(field("a", offset=1)), "a.offset"),
    (spec(field("a"), field("b")), spec(field("a"), field("c")), "+c, -b"),
    (
        spec(field("a"), field("b")),
        spec(field("b"), field("a")),
        "the order of fields",
    ),
    (
        spec(field("a", kind="Text", x=1)),
        spec(field("a", kind="Scalar", y=1)),
        "a.kind",
    ),
    (
        spec(field("a", classes=["x"], num_classes=1)),
        spec(field("a", classes=["x", "y"], num_classes=2)),
        "a.classes",
    ),
    (spec(field("a", num_classes=1)), spec(field("a", num_classes=2)), "a.num_classes"),
    (
        spec(field("a", step={"kind": "Vector", "shape": [1]})),
        spec(field("a", step={"kind": "Vector", "shape": [2]})),
        "a.step.shape",
    ),
    (spec(field("a")), spec(field("a", augment={"crop": 1})), "a.augment"),
    (
        spec(field("a", augment={"crop": 2})),
        spec(field("a", augment={"crop": 1})),
        "a.augment.crop",
    ),
    (spec(doc="one", class_name="A"), spec(doc="two", class_name="B"),
     "the class's name, the docstring"),
    (spec(), spec(message="SequenceExample"), "the base class"),
    (spec(), spec(draft=True, reserved=["a"]), "draft, reserved"),
    (spec(source="a.py"), spec(source="b.py"), "moved from a.py"),
    (
        spec(*(field(f"f{n}") for n in range(3))),
        spec(*(field(f"g{n}") for n in range(5))),
        "+g0, +g1, +g2, +g3, +g4, -f0 and 2 more",
    ),
    ("[]", spec(), ""),
    ("{", spec(), ""),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), CHANGES)
def test_what_changed_in_a_spec_is_said_in_few_words(
    old: str, new: str, words: str
) -> None:
    """Fields and their attributes, then what is said of the record; "" if unknown."""
    assert spec_changes(old, new) == words


def test_a_stale_file_names_what_changed(project: Path) -> None:
    """SG302: changed attributes, new and removed fields, and the command."""
    schema = project / "schemas/pets.py"
    rewrite(schema, "name: str", "age: int")
    rewrite(schema, '"tabby"', '"siamese"')
    found = finding(PARSER)
    assert found.rule == "SG302"
    assert found.message == (
        f"{PARSER} is out of date: schemas/pets.py changed: breed.classes, +age, -name"
    )
    assert found.advice == "run `schemagen generate`"
    [file] = [each for each in schemagen.check().files if each.path == "pet/parser.py"]
    old, new = (file.old or b"").decode(), file.new or ""
    lines = zip(old.split("\n"), new.split("\n"), strict=False)
    differ = [number for number, (one, two) in enumerate(lines, 1) if one != two]
    assert differ[:2] == [2, found.location.line], "the line of hashes is no cause"


def test_what_changed_is_told_only_if_it_is_known(project: Path) -> None:
    """Without an intact spec of that time next to it, the schema alone is named."""
    rewrite(project / "schemas/pets.py", "name: str", "age: int")
    rewrite(project / "generated/pet/spec.json", '"pug"', '"pig"')
    assert finding(PARSER).message == (
        f"{PARSER} is out of date: schemas/pets.py changed"
    )


def test_shared_code_of_another_version_is_told_as_such() -> None:
    """SG303 of a file that comes from no schema."""
    old = RenderedFile("shared.py", "", "pyproject.toml", "-")
    from schemagen.codegen.header import with_header

    texts = [with_header(old.path, body, old.source, "-") for body in ("a\n", "b\n")]
    new = RenderedFile(old.path, texts[1], old.source, "-")
    [found] = make_plan([new], {old.path: texts[0].encode()}, "generated").findings
    assert found.rule == "SG303"
    assert found.message == (
        "generated/shared.py is out of date: schemagen prints other code now"
    )
    [found] = make_plan([], {old.path: texts[0].encode()}, "generated").findings
    assert found.rule == "SG307"


# Edited by hand


def test_an_edit_is_shown(project: Path) -> None:
    """SG304: the first line that differs, what stood there, and the command."""
    rewrite(project / PARSER, "def parse_batch(", "def parse_all(")
    result = run("check")
    assert result.exit_code == 1
    lines = result.stderr.split("\n")
    text = (project / PARSER).read_text().split("\n")
    number = next(n for n, t in enumerate(text, 1) if t.startswith("def parse_all("))
    assert lines[0] == (
        f"{PARSER}:{number}:1: SG304 {PARSER} was edited by hand, first in line "
        f"{number}"
    )
    shown = text[number - 1]
    assert lines[1:] == [
        f"    | {shown}",
        "    | ^",
        f"    expected: {shown.replace('parse_all', 'parse_batch')}",
        "    to do:    move the change into the schema or your own code; to overwrite "
        "it, run `schemagen generate --force`",
        "",
    ]


def test_the_first_edit_is_known_after_the_schema_changed(project: Path) -> None:
    """What was generated then is made again from the spec on disk."""
    rewrite(project / "schemas/pets.py", "name: str", "age: int")
    path = project / PARSER
    path.write_text(path.read_text() + "x = 1\n")
    last = path.read_text().count("\n")
    found = finding(PARSER)
    assert (found.rule, found.location.line) == ("SG304", last)
    assert found.location.source == "x = 1"
    assert found.message == (
        f"{PARSER} was edited by hand, first in line {last}, and schemas/pets.py "
        "changed: +age, -name since"
    )


def test_an_edit_of_unknown_origin_is_in_no_line(project: Path) -> None:
    """Where the file of then cannot be made again, nothing is guessed."""
    rewrite(project / "schemas/pets.py", "name: str", "age: int")
    rewrite(project / PARSER, "def parse_batch(", "def parse_all(")
    (project / "generated/pet/spec.json").unlink()
    found = finding(PARSER)
    assert (found.location.line, found.location.source) == (1, "")
    assert found.message == (
        f"{PARSER} was edited by hand, and schemas/pets.py changed since"
    )


def test_a_reformatted_file_is_known_after_the_schema_changed(project: Path) -> None:
    """SG305, not an edit: generate fixes it without --force."""
    rewrite(project / PARSER, "(\n", "(\n\n")
    rewrite(project / "schemas/pets.py", "name: str", "age: int")
    found = finding(PARSER)
    assert found.rule == "SG305"
    assert found.message == (
        f"{PARSER} was reformatted; it says the same in other words"
    )
    assert found.advice == (
        "leave the directory out of formatters, and run `schemagen generate`"
    )
    schemagen.generate()
    assert schemagen.check().findings == ()


def test_reformatted_json_is_no_edit(project: Path) -> None:
    """SG305: as formatters of a whole repository leave it."""
    path = project / "generated/pet/spec.json"
    text = path.read_text()
    short = text.replace(
        '[\n        "pug",\n        "tabby"\n      ]', '["pug", "tabby"]'
    )
    assert short != text
    path.write_text(short)
    assert finding("generated/pet/spec.json").rule == "SG305"
    path.write_text(short.replace("tabby", "tubby"))
    assert finding("generated/pet/spec.json").rule == "SG304"


def test_a_file_that_goes_while_it_is_read_is_missing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may delete it; check has nothing to say of that."""
    from schemagen.codegen import existing

    contents = existing._contents

    def gone(path: str) -> bytes:
        if path.endswith("parser.py"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return contents(path)

    monkeypatch.setattr(existing, "_contents", gone)
    assert finding(PARSER).rule == "SG301"


def test_an_edit_after_the_template_changed_is_told_as_both(project: Path) -> None:
    """SG304, and no line, since no one knows what the template printed."""
    rendered = [
        RenderedFile(file.path, file.new or "", "schemas/pets.py", "0" * 16)
        for file in schemagen.check().files
        if file.path == "pet/parser.py"
    ]
    from schemagen.codegen.header import read_header, with_header

    header = read_header(rendered[0].text)
    assert header is not None
    body = rendered[0].text.split("\n", 2)[2]
    old = with_header("parser.py", body, "schemas/pets.py", header.spec)
    new = with_header("parser.py", body + "# new\n", "schemas/pets.py", header.spec)
    wanted = RenderedFile("pet/parser.py", new, "schemas/pets.py", header.spec)
    edited = old.replace("def parse_batch", "def parse_all").encode()
    [found] = make_plan([wanted], {"pet/parser.py": edited}, "generated").findings
    assert found.message == (
        f"{PARSER} was edited by hand, and its template changed since"
    )
    assert (found.rule, found.location.line) == ("SG304", 1)


# Merge conflicts


def git(root: Path, *arguments: str, check: bool = True) -> None:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments]
    subprocess.run(command, cwd=root, check=check, capture_output=True)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_conflict_is_solved_by_generating(project: Path, style: str) -> None:
    """SG309, in a real merge: the schema is merged by hand, the rest by generate."""
    schema = project / "schemas/pets.py"
    git(project, "init", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-m", "one")
    git(project, "checkout", "-b", "other")
    rewrite(schema, "name: str", "age: int")
    schemagen.generate()
    git(project, "commit", "-am", "two")
    git(project, "checkout", "main")
    rewrite(schema, "name: str", "call: str")
    schemagen.generate()
    git(project, "commit", "-am", "three")
    git(project, "-c", f"merge.conflictStyle={style}", "merge", "other", check=False)
    assert "<<<<<<< HEAD" in schema.read_text()
    schema.write_text(PET.replace("name: str", "call: str\n    age: int"))
    found = finding(PARSER)
    lines = (project / PARSER).read_text().split("\n")
    first = next(n for n, t in enumerate(lines, 1) if t.startswith("<<<<<<<"))
    assert (found.rule, found.location.line) == ("SG309", first)
    assert found.message == f"{PARSER} has merge conflicts, first in line {first}"
    assert found.advice == (
        "merge the schemas, not this file; then run `schemagen generate`"
    )
    assert finding("generated/pet/spec.json").rule == "SG309"
    schemagen.generate()
    assert schemagen.check().findings == ()
    assert "call" in (project / PARSER).read_text()


MARKERS = "<<<<<<< HEAD\n{}=======\n{}>>>>>>> branch\n"


def test_the_sides_of_a_conflict_are_told_apart() -> None:
    """Also with the common base, and several conflicts in a file."""
    text = f"a\n{MARKERS.format('b', 'c')}d\n".replace("b=", "b\n=").replace(
        "c>", "c\n>"
    )
    assert find_conflict(text) == (2, ("a\nb\nd\n", "a\nc\nd\n"))
    text = "<<<<<<<\nx\n||||||| base\ny\n=======\nz\n>>>>>>>\n" * 2
    assert find_conflict(text) == (1, ("x\nx\n", "z\nz\n"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Title\n=======\n",
        "<<<<<<< HEAD\na\n",
        "a\n=======\nb\n>>>>>>> c\n",
        "  <<<<<<< HEAD\na\n  =======\nb\n  >>>>>>> c\n",
        "<<<<<<<<<\na\n=======\nb\n>>>>>>>>>\n",
    ],
)
def test_what_only_looks_like_a_conflict_is_none(text: str) -> None:
    """Headings, doctests, and markers that somebody has begun to take out."""
    assert find_conflict(text) is None


def test_a_conflict_in_what_is_not_ours_is_not_ours(project: Path) -> None:
    """SG308: without our header on a side, a file is somebody else's."""
    (project / "generated/notes.md").write_text(MARKERS.format("a\n", "b\n"))
    assert finding("generated/notes.md").rule == "SG308"


def test_a_conflict_in_a_file_of_no_record_is_kept(project: Path) -> None:
    """SG309: nothing is deleted whose hash does not say that it is ours alone."""
    path = project / PARSER
    path.write_text(path.read_text() + MARKERS.format("a\n", "b\n"))
    (project / "schemas/pets.py").write_text(PET.replace("Pet", "Cat"))
    found = finding(PARSER)
    assert found.rule == "SG309"
    assert found.message == (
        f"{PARSER} has merge conflicts and belongs to no record of the schemas"
    )
    assert found.advice == "delete it, or run `schemagen generate --force`"
    with pytest.raises(SchemagenError):
        schemagen.generate()
    schemagen.generate(force=True)
    assert not path.exists()


# Broken headers


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# schemagen: spec=", "# schemagen: spec=?"),
        ("# schemagen: ", "# "),
        ("# Code generated by", "# Code written by"),
    ],
)
def test_a_broken_header_is_not_overwritten(project: Path, old: str, new: str) -> None:
    """SG310: either line of it; kept unless --force is given."""
    path = project / PARSER
    rewrite(path, old, new)
    found = finding(PARSER)
    assert found.rule == "SG310"
    assert found.message == (
        f"{PARSER} has a broken header, so that no one can tell whether it was edited"
    )
    assert found.location.source == path.read_text().split("\n")[0]
    assert found.advice == (
        "take what is yours out of it; to overwrite it, run `schemagen generate --force`"
    )
    before = snapshot(project)
    with pytest.raises(SchemagenError):
        schemagen.generate()
    assert snapshot(project) == before
    schemagen.generate(force=True)
    assert schemagen.check().findings == ()


def test_a_broken_header_of_no_record_is_kept(project: Path) -> None:
    """SG310: deleted with --force only."""
    path = project / "generated/pet/more.py"
    path.write_text("# Code generated by schemagen from x. DO NOT EDIT.\n")
    assert finding("generated/pet/more.py").advice == (
        "take what is yours out of it; to delete it, run `schemagen generate --force`"
    )
    schemagen.generate(force=True)
    assert not path.exists()


def test_an_empty_file_is_written(project: Path) -> None:
    """SG310: what a crash of the machine may leave holds nothing to lose."""
    (project / PARSER).write_bytes(b"")
    found = finding(PARSER)
    assert (found.rule, found.message) == ("SG310", f"{PARSER} is empty")
    schemagen.generate()
    assert schemagen.check().findings == ()


# Links, other files and names


def test_nothing_is_written_through_a_link(project: Path, tmp_path: Path) -> None:
    """SG311: links to files and directories, also with --force."""
    elsewhere = tmp_path / "elsewhere"
    (project / "generated/pet").rename(elsewhere)
    (project / "generated/pet").symlink_to(elsewhere)
    copy = project / "generated/__init__.py"
    copy.rename(elsewhere / "package.py")
    copy.symlink_to(elsewhere / "package.py")
    rewrite(project / "schemas/pets.py", "name", "call")
    assert [
        (each.rule, each.message, each.advice) for each in schemagen.check().findings
    ] == [
        (
            "SG311",
            f"{path} is a symbolic link, and nothing is written or deleted through one",
            "remove the link, and run `schemagen generate`",
        )
        for path in ("generated/__init__.py", "generated/pet")
    ], "a link to an equal file is not the file"
    before = snapshot(tmp_path)
    for force in (False, True):
        with pytest.raises(SchemagenError):
            schemagen.generate(force=force)
    assert snapshot(tmp_path) == before


def test_an_output_outside_the_project_is_not_written(
    project: Path, tmp_path: Path
) -> None:
    """SG311 of the output directory; one that stays in the project is no matter."""
    output = project / "generated"
    output.rename(project / "inside")
    output.symlink_to(project / "inside")
    rewrite(project / "schemas/pets.py", "name", "call")
    schemagen.generate()
    assert "call" in (project / "inside/pet/parser.py").read_text()
    output.unlink()
    (project / "inside").rename(tmp_path / "outside")
    output.symlink_to(tmp_path / "outside")
    schemagen.generate()  # nothing to do
    rewrite(project / "schemas/pets.py", "call", "name")
    before = snapshot(tmp_path / "outside")
    with pytest.raises(SchemagenError) as refused:
        schemagen.generate()
    [found] = refused.value.findings
    assert found.rule == "SG311"
    assert found.message == ("generated leads out of the project by a symbolic link")
    assert snapshot(tmp_path / "outside") == before


def test_a_users_file_in_a_package_that_is_gone_is_kept(project: Path) -> None:
    """SG308 refuses the run; once it is elsewhere, the package goes."""
    mine = project / "generated/pet/mine.py"
    mine.write_text("x = 1\n")
    (project / "schemas/pets.py").write_text(PET.replace("Pet", "Cat"))
    with pytest.raises(SchemagenError) as refused:
        schemagen.generate()
    [found] = refused.value.findings
    assert found.message == (
        "generated/pet/mine.py was not written by schemagen and is in its output "
        "directory"
    )
    assert mine.read_text() == "x = 1\n"
    mine.rename(project / "mine.py")
    schemagen.generate()
    assert not (project / "generated/pet").exists()


def test_what_is_no_file_is_not_read(project: Path) -> None:
    """A pipe would be read forever; it is somebody else's."""
    import os

    os.mkfifo(project / "generated/pipe")
    assert finding("generated/pipe").rule == "SG308"


def test_a_file_that_cannot_be_read_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SG403 at the file, not at the directory."""
    from schemagen.codegen import existing

    contents = existing._contents

    def denied(path: str) -> bytes:
        if path.endswith("parser.py"):
            raise PermissionError(13, "Permission denied", path)
        return contents(path)

    monkeypatch.setattr(existing, "_contents", denied)
    with pytest.raises(SchemagenError) as refused:
        schemagen.check()
    [found] = refused.value.findings
    assert (found.rule, found.location.path) == ("SG403", PARSER)
    assert found.message == f"{PARSER} cannot be read: Permission denied"
    assert found.advice == "make it readable, and run `schemagen generate`"


def test_names_that_differ_in_case_are_told(project: Path) -> None:
    """SG312: on some machines both are one file, which would be written and deleted."""
    planned = schemagen.check()
    rendered = [
        RenderedFile(file.path, file.new or "", "schemas/pets.py", "-")
        for file in planned.files
        if file.path.startswith("pet/")
    ]
    files = {file.path.replace("pet/", "Pet/"): file.text.encode() for file in rendered}
    clashing = make_plan(rendered, files, "generated", force=True)
    found = {each.location.path: each for each in clashing.refused}
    assert set(found) == {f"generated/{path}" for path in files}
    assert found["generated/Pet/parser.py"].rule == "SG312"
    assert found["generated/Pet/parser.py"].message == (
        "generated/Pet/parser.py differs from generated/pet/parser.py in upper and "
        "lower case only"
    )
    assert found["generated/Pet/parser.py"].advice == (
        "rename it: run `git mv generated/Pet generated/pet` and then `schemagen "
        "generate`"
    )
    both = {**files, **{file.path: file.text.encode() for file in rendered}}
    plain = make_plan(rendered, both, "generated")  # two directories: no clash
    assert {file.action for file in plain.changes} == {Action.DELETE}


# Commands


@pytest.mark.parametrize("place", ["the project", "inside", "outside", "next to"])
def test_the_command_is_right_for_where_the_user_is(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """--project is a part of it where, and only where, it is needed."""
    (project / PARSER).unlink()
    other = make_project(tmp_path / "other", {"pets.py": PET})
    here = {
        "the project": project,
        "inside": project / "schemas",
        "outside": tmp_path,
        "next to": other,
    }[place]
    monkeypatch.chdir(here)
    given = "." if place in ("the project", "inside") else project
    command = "schemagen generate"
    if given == project:
        command += f" --project {shlex.quote(str(project))}"
    assert finding(PARSER, given).advice == f"run `{command}`"
    result = run(*shlex.split(command)[1:])
    assert result.exit_code == 0
    assert schemagen.check(project).findings == ()


# The diff


def untidy(project: Path) -> None:
    """Leave files to create, to update in several ways, and to delete."""
    rewrite(project / PARSER, "(\n", "(\n\n")
    (project / "generated/pet/model.py").unlink()
    path = project / "generated/pet/pipeline.py"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    (project / "schemas/cats.py").write_text(PET.replace("Pet", "Cat"))
    schemagen.generate(force=True)
    (project / "schemas/cats.py").unlink()
    rewrite(project / PARSER, "(\n", "(\n\n")
    (project / "generated/pet/model.py").unlink()
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    rewrite(
        project / "schemas/pets.py",
        "class Pet(Record):\n",
        'class Pet(Record):\n    """A pet\\x0cor two\\u2028more."""\n\n',
    )


def test_a_diff_can_be_applied(project: Path) -> None:
    """What git makes of the diff is what generate would write, byte for byte."""
    untidy(project)
    git(project, "init")
    found: Plan = schemagen.check()
    assert {file.action for file in found.changes} >= {
        Action.CREATE,
        Action.UPDATE,
        Action.DELETE,
    }
    text = run("check", "--diff").stdout
    assert "\\ No newline at end of file\n" in text
    (project / "changes.diff").write_bytes(text.encode())
    git(project, "apply", "changes.diff")
    assert schemagen.check().findings == ()


def test_a_diff_is_coloured_in_a_terminal_only(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not where NO_COLOR is set."""
    from click.testing import CliRunner
    from schemagen.cli import main

    rewrite(project / PARSER, "(\n", "(\n\n")
    arguments = ["check", "--diff"]
    plain = CliRunner().invoke(main, arguments).stdout
    assert "\x1b" not in plain
    coloured = CliRunner().invoke(main, arguments, color=True).stdout
    assert "\x1b[31m-" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert CliRunner().invoke(main, arguments, color=True).stdout == plain
