"""`schemagen breaking`: against git revisions, files and data, and what was accepted."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import run, snapshot
from schemagen.git.attributes import with_attributes
from schemagen.runtime.storage.manifest import Manifest, Shard, Split, save
from schemagen.runtime.storage.schema import load_spec

_SCHEMA = '''from typing import Annotated
import numpy as np
from schemagen import Label, Record, Scalar, Text, VarLen, Vector


class Pet(Record):
    """A pet."""

    breed: Annotated[str, Label(classes=("pug", "tabby"))]
    words: Annotated[list[int], VarLen("int64", max_length=8)]
    age: float | None = None
'''


class Repository:
    """A git repository with a project in it."""

    def __init__(self, top: Path, inner: str = "") -> None:
        self.top = top
        self.root = top / inner
        self.root.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")
        settings = '[tool.schemagen]\nschemas = "schemas"\noutput = "generated"\n'
        (self.root / "pyproject.toml").write_text(settings, encoding="utf-8")
        (self.root / "schemas").mkdir()
        self.schema(_SCHEMA)
        self.commit("first")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.top,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    def schema(self, text: str, name: str = "pet.py") -> None:
        (self.root / "schemas" / name).write_text(text, encoding="utf-8")

    def change(self, old: str, new: str) -> None:
        assert old in _SCHEMA
        self.schema(_SCHEMA.replace(old, new))

    def commit(self, message: str) -> None:
        schemagen.generate(self.root)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def breaking(self, *arguments: str, code: int) -> list[dict[str, Any]]:
        """Run the command and return its findings."""
        call = ("breaking", "--project", self.root, "--format", "json", *arguments)
        result = run(*call)
        assert result.exit_code == code, result.output
        findings: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
        return findings


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "pets")


def ids(findings: list[dict[str, Any]]) -> list[str]:
    return [finding["rule"] for finding in findings]


SWAPPED = ('"pug", "tabby"', '"tabby", "pug"')


def test_nothing_has_changed(repository: Repository) -> None:
    """The answer says what was compared with what."""
    result = run("breaking", "--against", "HEAD", "--project", repository.root)
    commit = repository.git("rev-parse", "HEAD")[:10]
    assert result.exit_code == 0
    assert result.output == f"1 record compared with HEAD ({commit}): 0 breaks\n"


def test_a_break_in_full(repository: Repository) -> None:
    """Where, what was written and is expected, of which axis, and what to do."""
    repository.change(*SWAPPED)
    commit = repository.git("rev-parse", "HEAD")[:10]
    result = run("breaking", "--against", "main", "--project", repository.root)
    assert result.exit_code == 1
    assert result.stderr == (
        "schemas/pet.py:9:5: SG221 Pet: field 'breed': classes: written ['pug', "
        "'tabby'], expected ['tabby', 'pug']\n"
        '    |     breed: Annotated[str, Label(classes=("tabby", "pug"))]\n'
        "    |     ^\n"
        "    found:    meaning: class ids changed their names\n"
        f"    expected: data of main ({commit}) to read as before\n"
        "    to do:    add new classes at the end and keep the positions of the others; a "
        "removed class keeps its position; or `schemagen breaking --against main "
        "--accept SG221:pet.breed --reason TEXT`\n"
    )
    assert result.stdout == f"1 record compared with main ({commit}): 1 break\n"


def test_warnings_fail_no_run(repository: Repository) -> None:
    """More classes, and a further input, are said and let pass."""
    repository.change(
        '"pug", "tabby"))]',
        '"pug", "tabby", "beagle"))]\n    weight: float | None = None',
    )
    # What was there is there still, so that the new field was nothing before.
    findings = repository.breaking("--against", "HEAD", code=0)
    assert ids(findings) == ["SG247", "SG246"]
    assert {finding["severity"] for finding in findings} == {"warning"}
    result = run(
        *("breaking", "--against", "HEAD", "--format", "github"),
        *("--project", repository.root),
    )
    assert result.stdout.startswith("::warning file=schemas/pet.py,line=9,col=5,")
    text = run("breaking", "--against", "HEAD", "--project", repository.root)
    assert "SG247 warning: Pet: field 'breed': num_classes: written 2" in text.stderr
    assert text.stdout.endswith("): 0 breaks, 2 warnings\n")


@pytest.mark.parametrize(
    ("mode", "found"), [("backward", ["SG208"]), ("forward", []), ("full", ["SG208"])]
)
def test_modes(repository: Repository, mode: str, found: list[str]) -> None:
    """A narrower limit is new code's trouble with old data, and not the reverse."""
    repository.change("max_length=8", "max_length=4")
    code = 1 if found else 0
    findings = repository.breaking("--against", "HEAD", "--mode", mode, code=code)
    assert ids(findings) == found


def test_forward_findings_say_so(repository: Repository) -> None:
    """It is the code of the old schema that cannot read what the new one writes."""
    repository.change("max_length=8", "max_length=16")
    (finding,) = repository.breaking("--against", "HEAD", "--mode", "full", code=1)
    assert finding["message"] == (
        "Pet: field 'words': max_length: written 16, expected 8"
    )
    assert finding["expected"].startswith("code of HEAD (")
    assert finding["expected"].endswith(" to read the new data alike")


def test_a_revision_needs_no_python_of_its_own(repository: Repository) -> None:
    """Specs are read; schemas of the past, which may not even load, are not."""
    repository.schema("raise RuntimeError('never imported')\n", "broken.py")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "broken")
    (repository.root / "schemas" / "broken.py").unlink()
    repository.change(*SWAPPED)
    assert ids(repository.breaking("--against", "HEAD", code=1)) == ["SG221"]


def test_revisions_by_any_name(repository: Repository) -> None:
    """Hashes, tags, relative ones, and the commit where two branches have parted."""
    first = repository.git("rev-parse", "HEAD").strip()
    repository.git("tag", "v1")
    repository.git("switch", "--quiet", "--create", "topic")
    repository.change(*SWAPPED)
    repository.commit("second")
    for name in (first, first[:8], "v1", "HEAD~1", "main", "main..."):
        assert ids(repository.breaking("--against", name, code=1)) == ["SG221"]
    assert repository.breaking("--against", "HEAD", code=0) == []


def test_what_main_has_meanwhile_is_no_removal(repository: Repository) -> None:
    """Against `main...`, what others have added there is not missed on a branch."""
    repository.git("switch", "--quiet", "--create", "topic")
    repository.git("switch", "--quiet", "main")
    repository.change("age: float", "height: bool | None = None\n    age: float")
    repository.commit("height")
    repository.git("switch", "--quiet", "topic")
    assert ids(repository.breaking("--against", "main", code=1)) == ["SG242"]
    assert repository.breaking("--against", "main...", code=0) == []


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    """Paths of a revision begin at its top, those of a project do not."""
    repository = Repository(tmp_path / "mono", "teams/pets")
    repository.change(*SWAPPED)
    (finding,) = repository.breaking("--against", "HEAD", code=1)
    assert finding["location"]["path"] == "schemas/pet.py"


def test_the_output_had_another_place(repository: Repository) -> None:
    """Where a revision has its specs, its own settings say."""
    settings = repository.root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('"generated"', '"made"'), encoding="utf-8")
    shutil.rmtree(repository.root / "generated")
    repository.change(*SWAPPED)
    repository.commit("moved")
    assert ids(repository.breaking("--against", "HEAD~1", code=1)) == ["SG221"]


def test_the_first_commit_of_a_project(tmp_path: Path) -> None:
    """Nothing can be broken, which is said, since the gate then guards nothing."""
    repository = Repository(tmp_path / "pets")
    repository.git("rm", "-r", "--quiet", "--cached", "generated")
    repository.git("commit", "--quiet", "--message", "not generated")
    (finding,) = repository.breaking("--against", "HEAD", code=0)
    assert (finding["rule"], finding["severity"]) == ("SG431", "warning")
    assert "has no generated code: nothing can be broken" in finding["message"]


def test_before_the_first_commit(repository: Repository) -> None:
    """A hook that compares with HEAD lets a repository begin."""
    shutil.rmtree(repository.root / ".git")
    repository.git("init", "--quiet")
    (finding,) = repository.breaking("--against", "HEAD", code=0)
    assert finding["message"] == (
        "HEAD, before the first commit, has no generated code: nothing can be broken"
    )


@pytest.mark.parametrize(
    ("against", "advice"),
    [
        ("nowhere", "fetch-depth: 0"),
        ("origin/main", "run `git fetch origin main`"),
        ("--help", "fetch-depth: 0"),
    ],
)
def test_no_such_revision(repository: Repository, against: str, advice: str) -> None:
    """The usual cause is a clone that holds one commit."""
    (finding,) = repository.breaking(f"--against={against}", code=2)
    assert finding["rule"] == "SG431"
    assert finding["message"] == f"{against}: nothing to compare with"
    assert advice in finding["advice"]


def test_without_git(tmp_path: Path) -> None:
    """Outside of a repository there are no revisions, and files do as well."""
    repository = Repository(tmp_path / "pets")
    shutil.rmtree(repository.root / ".git")
    (finding,) = repository.breaking("--against", "main", code=2)
    assert "a directory in a git repository" in finding["expected"]


def test_a_damaged_spec(repository: Repository) -> None:
    """A revision whose spec was half merged is no revision to compare with."""
    spec = repository.root / "generated" / "pet" / "spec.json"
    whole = spec.read_text(encoding="utf-8")
    spec.write_text("<<<<<<< HEAD\n" + whole, encoding="utf-8")
    repository.git("commit", "--quiet", "--all", "--message", "conflict")
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert "generated/pet/spec.json of HEAD (" in finding["found"]
    assert "not a whole spec" in finding["found"]
    later = json.dumps({**json.loads(whole), "format": 2})
    spec.write_text(later, encoding="utf-8")
    (finding,) = repository.breaking("--against", str(spec), code=2)
    assert finding["found"].endswith("a spec of format 2")
    assert "update schemagen" in finding["advice"]


def test_against_files(repository: Repository, tmp_path: Path) -> None:
    """One spec, a package, or a whole directory of generated code."""
    kept = tmp_path / "kept"
    shutil.copytree(repository.root / "generated", kept)
    repository.change(*SWAPPED)
    for path in (kept / "pet" / "spec.json", kept / "pet", kept):
        assert ids(repository.breaking("--against", str(path), code=1)) == ["SG221"]
    (finding,) = repository.breaking("--against", str(tmp_path / "pets"), code=2)
    assert finding["rule"] == "SG431"


def test_an_attribute_of_a_later_version(repository: Repository) -> None:
    """It may decide what the bytes mean, in either direction."""
    kept = repository.top / "kept.json"
    spec = json.loads((repository.root / "generated/pet/spec.json").read_text("utf-8"))
    spec["fields"][0]["compressed"] = "zstd"
    kept.write_text(json.dumps(spec), encoding="utf-8")
    for mode in ("backward", "forward"):
        call = ("--against", str(kept), "--mode", mode)
        (finding,) = repository.breaking(*call, code=1)
        assert finding["rule"] == "SG211"
        assert (
            "'compressed'" in finding["message"] or "compressed:" in finding["message"]
        )


def _data(directory: Path, spec: dict[str, Any]) -> None:
    """Make a manifest as writers do; no record is read."""
    directory.mkdir()
    split = Split("", (Shard("train-00000-of-00001.tfrecord", 0, 0, "0" * 8),))
    save(directory, Manifest(spec["record"], "0" * 16, spec, {"train": split}))


def test_against_data(repository: Repository, tmp_path: Path) -> None:
    """What matters is whether it can be read; programs do not come into it."""
    data = tmp_path / "data"
    _data(data, load_spec(str(repository.root / "generated" / "pet" / "x.py")))
    repository.change("age: float", "years: float")
    for path in (data, data / "manifest.json"):
        (finding,) = repository.breaking("--against", str(path), code=1)
        assert finding["rule"] == "SG204"
        assert finding["expected"] == (
            f"data of split 'train' of {path} to read as before"
        )
    (data / "manifest.json").unlink()
    assert repository.breaking("--against", str(data), code=2)[0]["rule"] == "SG431"


def test_data_of_a_record_that_is_gone(repository: Repository, tmp_path: Path) -> None:
    """Nothing reads it any more, whatever the new record has."""
    data = tmp_path / "data"
    _data(data, load_spec(str(repository.root / "generated" / "pet" / "x.py")))
    repository.schema(_SCHEMA.replace("class Pet", "class Animal"))
    (finding,) = repository.breaking("--against", str(data), code=1)
    assert finding["rule"] == "SG220"
    assert finding["message"] == (
        "pet: record: written 'pet', and no record of this name is declared"
    )


def test_data_accepts_nothing(repository: Repository, tmp_path: Path) -> None:
    """What was accepted at the gate cannot be read for that, and no one can accept it."""
    data = tmp_path / "data"
    _data(data, load_spec(str(repository.root / "generated" / "pet" / "x.py")))
    repository.change(*SWAPPED)
    call = ("--accept", "SG221", "--reason", "No data yet.")
    repository.breaking("--against", "HEAD", *call, code=0)
    (finding,) = repository.breaking("--against", str(data), code=1)
    assert finding["rule"] == "SG221"
    assert "--accept" not in finding["advice"]
    (finding,) = repository.breaking("--against", str(data), *call, code=2)
    assert finding["rule"] == "SG433"


def test_data_of_a_draft(repository: Repository, tmp_path: Path) -> None:
    """It is refused when it is opened, and so it is here."""
    data = tmp_path / "data"
    spec = load_spec(str(repository.root / "generated" / "pet" / "x.py"))
    _data(data, {**spec, "draft": True})
    repository.change(*SWAPPED)
    (finding,) = repository.breaking("--against", str(data), code=1)
    assert finding["severity"] == "error"


@pytest.mark.parametrize("kind", ["int", "str", "bool", "list[int]", "list[float]"])
def test_kinds_of_all_lists(repository: Repository, kind: str) -> None:
    """The gate says what opening data says, whatever becomes of a field's kind."""
    repository.change("age: float | None = None", f"age: {kind}")
    findings = repository.breaking("--against", "HEAD", code=1)
    assert "SG205" in ids(findings) or "SG225" in ids(findings)


def test_a_removed_record(repository: Repository) -> None:
    """All of its code would be gone."""
    repository.schema(_SCHEMA.replace("class Pet", "class Animal"))
    assert repository.breaking("--against", "HEAD", "--mode", "forward", code=0) == []
    (finding,) = repository.breaking("--against", "HEAD", code=1)
    assert finding["rule"] == "SG249"
    assert finding["message"] == (
        "pet: record 'pet' is gone, and its package with it; if it is 'animal' now, its "
        "data is not read under the new name, and what else has changed is not "
        "compared: keep the name of the class"
    )


# Acceptance.


def test_an_accepted_break(repository: Repository) -> None:
    """It passes, alone and from now on, and its reason stays next to the specs."""
    repository.schema(_SCHEMA.replace(*SWAPPED).replace("max_length=8", "max_length=4"))
    call = ("--against", "HEAD", "--accept", "SG221", "--reason", "No data yet.")
    assert ids(repository.breaking(*call, code=1)) == ["SG208"]
    assert ids(repository.breaking("--against", "HEAD", code=1)) == ["SG208"]
    file = repository.root / "generated" / "accepted_breaks.jsonl"
    assert json.loads(file.read_text(encoding="utf-8")) == {
        "rule": "SG221",
        "record": "pet",
        "field": "breed",
        "attribute": "classes",
        "written": ["pug", "tabby"],
        "expected": ["tabby", "pug"],
        "reason": "No data yet.",
    }
    call = ("--against", "HEAD", "--accept", "SG208:pet.words", "--reason", "Never.")
    assert repository.breaking(*call, code=0) == []
    text = run("breaking", "--against", "HEAD", "--project", repository.root).stdout
    assert text.endswith(": 0 breaks, 2 accepted\n")


def test_the_gate_stays_on(repository: Repository) -> None:
    """Another change of the same field is another break."""
    repository.change(*SWAPPED)
    call = ("--against", "HEAD", "--accept", "SG221", "--reason", "No data yet.")
    repository.breaking(*call, code=0)
    repository.change('"pug", "tabby"', '"tabby", "pug", "beagle"')
    assert "SG221" in ids(repository.breaking("--against", "HEAD", code=1))


def test_acceptances_are_no_generated_code(repository: Repository) -> None:
    """`check` and `generate` leave them alone."""
    repository.change(*SWAPPED)
    call = ("--against", "HEAD", "--accept", "SG221", "--reason", "No data yet.")
    repository.breaking(*call, code=0)
    file = repository.root / "generated" / "accepted_breaks.jsonl"
    before = file.read_bytes()
    assert run("generate", "--project", repository.root).exit_code == 0
    assert run("check", "--project", repository.root).exit_code == 0
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("SG22", "--accept SG22: there is no such break"),
        ("SG208:pet.wodrs", "--accept SG208:pet.wodrs: there is no such break"),
        ("SG208", "--accept SG208: several breaks are meant"),
    ],
)
def test_what_cannot_be_accepted(
    repository: Repository, selector: str, said: str
) -> None:
    """One acceptance is of one break; nothing is recorded otherwise."""
    text = _SCHEMA.replace("max_length=8", "max_length=4")
    repository.schema(text.replace('classes=("pug", "tabby")', 'classes=("pug",)'))
    before = snapshot(repository.root / "generated")
    call = ("--against", "HEAD", "--accept", selector, "--reason", "Because.")
    (finding,) = repository.breaking(*call, code=2)
    assert (finding["rule"], finding["message"]) == ("SG433", said)
    assert "SG208:pet.words" in finding["found"]
    assert snapshot(repository.root / "generated") == before
    if selector == "SG208:pet.wodrs":
        assert finding["advice"] == "did you mean 'SG208:pet.words'?"


@pytest.mark.parametrize("options", [("--accept", "SG221"), ("--reason", "Why not.")])
def test_a_reason_goes_with_it(
    repository: Repository, options: tuple[str, str]
) -> None:
    """Neither is of use without the other."""
    call = ("breaking", "--against", "HEAD", "--project", repository.root, *options)
    result = run(*call)
    assert result.exit_code == 2
    assert "--accept and --reason go together" in result.stderr


def test_acceptances_that_cannot_be_read(repository: Repository) -> None:
    """A half-merged file must not let breaks pass, or find them again."""
    file = repository.root / "generated" / "accepted_breaks.jsonl"
    for text in ("<<<<<<< HEAD\n", "{}\n", "[]\n"):
        file.write_text("\n" + text, encoding="utf-8")
        (finding,) = repository.breaking("--against", "HEAD", code=2)
        assert finding["rule"] == "SG432"
        assert finding["message"].endswith("line 2 is no accepted break")
        assert "keep the lines of both sides" in finding["advice"]


def test_acceptances_of_two_branches_merge(repository: Repository) -> None:
    """Git keeps the lines of both sides, by what `init` tells it, and both count."""
    attributes = with_attributes("", "generated")
    (repository.root / ".gitattributes").write_text(attributes, encoding="utf-8")
    repository.commit("attributes")
    for branch, selector, change in (
        ("one", "SG221", SWAPPED),
        ("other", "SG208", ("=8", "=4")),
    ):
        repository.git("switch", "--quiet", "--create", branch, "main")
        repository.change(*change)
        call = ("--against", "HEAD", "--accept", selector, "--reason", "Why not.")
        repository.breaking(*call, code=0)
        repository.schema(_SCHEMA)
        repository.commit(selector)
    repository.git("merge", "--quiet", "--no-edit", "one")
    repository.schema(_SCHEMA.replace(*SWAPPED).replace("=8", "=4"))
    assert repository.breaking("--against", "main", code=0) == []


# What a record says of its past.


def test_a_planned_removal(repository: Repository) -> None:
    """A name that is reserved was meant to go."""
    gone = _SCHEMA.replace("    age: float | None = None\n", "")
    repository.schema(gone)
    assert ids(repository.breaking("--against", "HEAD", code=1)) == ["SG242"]
    repository.schema(gone.replace("(Record)", '(Record, reserved=("age",))'))
    assert ids(repository.breaking("--against", "HEAD", code=0)) == ["SG252"]


def test_a_rename(repository: Repository) -> None:
    """It is recognised by what it holds; its key keeps the data, and reserving drops it."""
    repository.change("age: float", "years: float")
    removal, moved = repository.breaking("--against", "HEAD", code=1)
    assert removal["message"].endswith("if it is 'years' now, give that key='age'")
    assert moved["message"] == (
        "Pet: field 'years': nothing was written under the key 'years', and what was "
        "written under the key 'age' is read by no field; if it is the same, give it "
        "key='age'; if not, reserve 'age'"
    )
    kept = 'years: Annotated[float, Scalar("float32", key="age", exact=False)]'
    repository.change("age: float", kept)
    assert ids(repository.breaking("--against", "HEAD", code=1)) == ["SG241"]
    repository.schema(
        _SCHEMA.replace("age: float", "years: float").replace(
            "(Record)", '(Record, reserved=("age",))'
        )
    )
    assert ids(repository.breaking("--against", "HEAD", code=0)) == ["SG252", "SG246"]


def test_a_draft(repository: Repository) -> None:
    """What was a draft may change; what becomes one now was none before."""
    repository.schema(
        _SCHEMA.replace(*SWAPPED).replace("(Record)", "(Record, draft=True)")
    )
    findings = repository.breaking("--against", "HEAD", code=1)
    assert ids(findings) == ["SG253", "SG221"]
    assert {finding["severity"] for finding in findings} == {"error"}
    repository.commit("a draft")
    repository.schema(_SCHEMA)
    (finding,) = repository.breaking("--against", "HEAD", code=0)
    assert finding["severity"] == "warning"
    assert finding["found"] == ("meaning: class ids changed their names, in a draft")


def test_a_misspelt_parameter(repository: Repository) -> None:
    """It is named, with the one that was meant."""
    repository.change("(Record)", "(Record, darft=True)")
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert "no class parameter 'darft'; did you mean 'draft'?" in finding["message"]


@pytest.mark.parametrize(
    ("parameters", "line", "said"),
    [
        ('reserved=("age",)', 11, "Pet.age: 'age' is reserved"),
        ('reserved="age"', 6, "Pet: reserved is no list of names"),
        ("reserved=(1,)", 6, "Pet: reserved is no list of names"),
        ("draft=1", 6, "Pet: draft is no bool"),
    ],
)
def test_what_a_record_cannot_say(
    repository: Repository, parameters: str, line: int, said: str
) -> None:
    """SG122 stands at the field that takes a reserved name, or at the class."""
    repository.change("(Record)", f"(Record, {parameters})")
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert finding["rule"] == "SG122"
    assert (finding["location"]["line"], finding["message"]) == (line, said)


def test_a_reserved_key(repository: Repository) -> None:
    """Keys are reserved as names are."""
    field = 'years: Annotated[float, Scalar("float32", key="age")]\n    age: float'
    text = _SCHEMA.replace("age: float | None = None", field.split("\n")[0])
    repository.schema(text.replace("(Record)", '(Record, reserved=("age",))'))
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert finding["message"] == "Pet.years: 'age' is reserved"


def test_a_reserved_key_is_refused_as_a_further_key(repository: Repository) -> None:
    """A field owns the keys of its sizes, row lengths and indices as it owns its own."""
    field = 'nested: Annotated[list[list[int]], Ragged("int64", row_lengths_key="age")]'
    text = _SCHEMA.replace("age: float | None = None", field)
    text = text.replace("import Label", "import Label, Ragged")
    repository.schema(text.replace("(Record)", '(Record, reserved=("age",))'))
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert finding["message"] == "Pet.nested: 'age' is reserved"


def test_neither_is_inherited(repository: Repository) -> None:
    """A record says it for itself."""
    repository.schema(
        _SCHEMA.replace("(Record)", '(Record, reserved=("colour",), draft=True)')
        + '\n\nclass Puppy(Pet):\n    """A young one."""\n\n    colour: str\n'
    )
    schemagen.generate(repository.root)
    pet, puppy = (
        load_spec(str(repository.root / "generated" / name / "x.py"))
        for name in ("pet", "puppy")
    )
    assert (pet["reserved"], pet["draft"]) == (["colour"], True)
    assert not {"reserved", "draft"} & puppy.keys()
