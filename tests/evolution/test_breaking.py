"""`schemagen breaking`: against git revisions, files and data, and what was accepted."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import findings_of, run, snapshot

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
        if (top / ".git").exists():
            return
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
        return findings_of("breaking", "--project", self.root, *arguments, code=code)

    def spec(self, record: str = "pet") -> dict[str, Any]:
        """Return the spec of a record that is generated."""
        path = self.root / "generated" / record / "spec.json"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose schema and code are committed."""
    return Repository(tmp_path_factory.mktemp("committed") / "pets").root


@pytest.fixture
def repository(committed: Path, tmp_path: Path) -> Repository:
    """A copy of it, to be changed."""
    shutil.copytree(committed, tmp_path / "pets")
    return Repository(tmp_path / "pets")


def ids(findings: list[dict[str, Any]]) -> list[str]:
    return [finding["rule"] for finding in findings]


SWAPPED = ('"pug", "tabby"', '"tabby", "pug"')
LIMITED = ("max_length=8", "max_length=4")
REASON = ("--reason", "No data yet.")


def test_break_is_printed_with_its_place_values_and_advice(
    repository: Repository,
) -> None:
    """Where, what was written and is expected, what to do; and what was compared."""
    commit = repository.git("rev-parse", "HEAD")[:10]
    result = run("breaking", "--against", "HEAD", "--project", repository.root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"HEAD ({commit})" in result.stdout
    repository.change(*SWAPPED)
    result = run("breaking", "--against", "main", "--project", repository.root)
    assert result.exit_code == 1
    first, source, *_ = result.stderr.split("\n")
    assert first.startswith("schemas/pet.py:9:5: SG221 Pet: ")
    for part in ("'breed'", "class id 0: written 'pug', expected 'tabby'"):
        assert part in first
    assert source.endswith('breed: Annotated[str, Label(classes=("tabby", "pug"))]')
    assert f"main ({commit})" in result.stdout
    assert "--against main --accept SG221:pet.breed --reason " in result.stderr


def test_warnings_fail_no_run(repository: Repository) -> None:
    """More classes, and a further input, are said and let pass."""
    repository.change(
        '"pug", "tabby"))]',
        '"pug", "tabby", "beagle"))]\n    weight: float | None = None',
    )
    findings = repository.breaking("--against", "HEAD", code=0)
    assert ids(findings) == ["SG247", "SG246"]
    assert {finding["severity"] for finding in findings} == {"warning"}
    call = ("breaking", "--against", "HEAD", "--project", repository.root)
    result = run(*call, "--format", "github")
    assert result.stdout.startswith("::warning file=schemas/pet.py,line=9,col=5,")
    assert "SG247 warning: " in run(*call).stderr


@pytest.mark.parametrize(
    ("limit", "mode", "found"),
    [
        (4, "backward", ["SG208"]),
        (4, "forward", []),
        (4, "full", ["SG208"]),
        (16, "backward", []),
        (16, "full", ["SG208"]),
    ],
)
def test_mode_decides_which_direction_can_break(
    repository: Repository, limit: int, mode: str, found: list[str]
) -> None:
    """A narrower limit is new code's trouble with old data, and a wider one the reverse."""
    repository.change("max_length=8", f"max_length={limit}")
    code = 1 if found else 0
    findings = repository.breaking("--against", "HEAD", "--mode", mode, code=code)
    assert ids(findings) == found


# Changes of the record, and the rules, with "!" for each that fails the run. What a
# single field may change is in `changes.py`.
_GONE = _SCHEMA.replace("    age: float | None = None\n", "")
_YEARS = _SCHEMA.replace("age: float", "years: float")
_KEY = 'years: Annotated[float, Scalar("float32", key="age", exact=False)]'
PASTS = {
    "removed": (_GONE, "SG242!"),
    "planned removal": (
        _GONE.replace("(Record)", '(Record, reserved=("age",))'),
        "SG252",
    ),
    "renamed": (_YEARS, "SG242! SG204!"),
    "renamed with its key": (_SCHEMA.replace("age: float", _KEY), "SG241!"),
    "renamed and reserved": (
        _YEARS.replace("(Record)", '(Record, reserved=("age",))'),
        "SG252 SG246",
    ),
    "another draft": (
        _SCHEMA.replace(*SWAPPED).replace("(Record)", "(Record, draft=True)"),
        "SG253! SG221!",
    ),
    "another record": (_SCHEMA.replace("class Pet", "class Animal"), "SG249!"),
}


@pytest.mark.parametrize("name", PASTS)
def test_what_a_record_says_of_its_past(repository: Repository, name: str) -> None:
    """A planned removal and a rename are recognised, and what to do is said."""
    text, rules = PASTS[name]
    repository.schema(text)
    found = repository.breaking("--against", "HEAD", code=int("!" in rules))
    marks = {"error": "!", "warning": ""}
    assert " ".join(f["rule"] + marks[f["severity"]] for f in found) == rules
    if name == "renamed":
        assert all("key='age'" in finding["message"] for finding in found)


def test_another_encoding_comes_with_advice_that_helps(repository: Repository) -> None:
    """`any` reads JPEG and PNG, and is not advised for raw pixels."""
    pixels = 'age: Annotated[np.ndarray, Image((2, 2, 3), encoding="{}")]'
    for before, after, code in (("raw", "any", 1), ("jpeg", "any", 0)):
        head = _SCHEMA.replace("import Label", "import Image, Label")
        old, new = (
            head.replace("age: float | None = None", pixels.format(encoding))
            for encoding in (before, after)
        )
        repository.schema(old)
        repository.commit(before)
        repository.schema(new)
        found = repository.breaking("--against", "HEAD", code=code)
        assert ids(found) == ["SG207"] * code
        assert all("if both are image formats" in each["advice"] for each in found)


def test_a_draft_may_change(repository: Repository) -> None:
    """What was a draft before; its data is refused when it is opened."""
    repository.change("(Record)", "(Record, draft=True)")
    repository.commit("a draft")
    repository.change(*SWAPPED)
    (finding,) = repository.breaking("--against", "HEAD", code=0)
    assert (finding["rule"], finding["severity"]) == ("SG221", "warning")
    _write_data(repository)
    (finding,) = repository.breaking("--against", str(repository.root / "data"), code=1)
    assert finding["severity"] == "error"


# What is compared with.


def test_a_revision_needs_no_python_of_its_own(repository: Repository) -> None:
    """Specs are read; schemas of the past, which may not even load, are not."""
    repository.schema("raise RuntimeError('never imported')\n", "broken.py")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "broken")
    (repository.root / "schemas" / "broken.py").unlink()
    repository.change(*SWAPPED)
    assert ids(repository.breaking("--against", "HEAD", code=1)) == ["SG221"]


def test_revision_is_found_by_any_of_its_names(repository: Repository) -> None:
    """Hashes, tags, relative ones, and the commit where two branches have parted.

    Against that one, what others have added to main meanwhile is no removal.
    """
    first = repository.git("rev-parse", "HEAD").strip()
    repository.git("tag", "v1")
    repository.git("switch", "--quiet", "--create", "topic")
    repository.change(*SWAPPED)
    repository.commit("second")
    for name in (first, first[:8], "v1", "HEAD~1", "main", "main..."):
        assert ids(repository.breaking("--against", name, code=1)) == ["SG221"]
    repository.git("switch", "--quiet", "main")
    repository.change("age: float", "height: bool | None = None\n    age: float")
    repository.commit("height")
    repository.git("switch", "--quiet", "topic")
    assert "SG242" in ids(repository.breaking("--against", "main", code=1))
    assert ids(repository.breaking("--against", "main...", code=1)) == ["SG221"]


def test_output_that_had_another_place_is_found(tmp_path: Path) -> None:
    """A revision's own settings say where its specs are, below the repository's top."""
    repository = Repository(tmp_path / "mono", "teams/pets")
    settings = repository.root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('"generated"', '"made"'), encoding="utf-8")
    shutil.rmtree(repository.root / "generated")
    repository.change(*SWAPPED)
    repository.commit("moved")
    (finding,) = repository.breaking("--against", "HEAD~1", code=1)
    assert (finding["rule"], finding["location"]["path"]) == ("SG221", "schemas/pet.py")


@pytest.mark.parametrize("is_first", [True, False])
def test_where_nothing_was_generated_nothing_can_be_broken(
    repository: Repository, is_first: bool
) -> None:
    """Which is said, since the gate then guards nothing; so a repository can begin."""
    if is_first:
        shutil.rmtree(repository.root / ".git")
        repository.git("init", "--quiet")
    else:
        repository.git("rm", "-r", "--quiet", "--cached", "generated")
        repository.git("commit", "--quiet", "--message", "not generated")
    (finding,) = repository.breaking("--against", "HEAD", code=0)
    assert (finding["rule"], finding["severity"]) == ("SG431", "warning")


@pytest.mark.parametrize(
    ("against", "advice"),
    [
        ("nowhere", "fetch-depth: 0"),
        ("origin/main", "`git fetch origin main`"),
        ("--help", "fetch-depth: 0"),
        ("data", ""),
        ("dataa", "did you mean 'data'?"),
        ("without git", ""),
    ],
)
def test_revision_that_cannot_be_compared_with_is_refused(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, against: str, advice: str
) -> None:
    """The usual cause is a clone that holds one commit."""
    monkeypatch.chdir(repository.root)
    (repository.root / "data").mkdir()
    if against == "without git":
        shutil.rmtree(repository.root / ".git")
    (finding,) = repository.breaking(f"--against={against}", code=2)
    assert finding["rule"] == "SG431"
    assert advice in finding["advice"]


def test_specs_that_cannot_be_read_are_refused(repository: Repository) -> None:
    """A revision whose spec was half merged; a format, or an attribute, of the future.

    That attribute may decide what the bytes mean, in either direction.
    """
    path = repository.root / "generated" / "pet" / "spec.json"
    spec, whole = repository.spec(), path.read_text(encoding="utf-8")
    path.write_text("<<<<<<< HEAD\n" + whole, encoding="utf-8")
    repository.git("commit", "--quiet", "--all", "--message", "conflict")
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert "generated/pet/spec.json" in finding["found"]
    path.write_text(json.dumps({**spec, "format": 2}), encoding="utf-8")
    (finding,) = repository.breaking("--against", str(path), code=2)
    assert finding["rule"] == "SG431"
    spec["fields"][0]["compressed"] = "zstd"
    path.write_text(json.dumps(spec), encoding="utf-8")
    for mode in ("backward", "forward"):
        call = ("--against", str(path), "--mode", mode)
        (finding,) = repository.breaking(*call, code=1)
        assert finding["rule"] == "SG211"
        assert "compressed" in finding["message"]


def _write_data(repository: Repository) -> Path:
    """Write two records with the generated writer; return the directory."""
    program = "from generated.pet.serializer import write_dataset\n"
    program += "rows = [{'breed': n, 'words': [n]} for n in ('pug', 'tabby')]\n"
    program = program.replace("[n]", "[len(n)]")
    program += "write_dataset(rows, 'data', 'train', shards=1)\n"
    command = [sys.executable, "-W", "ignore", "-c", program]
    subprocess.run(command, cwd=repository.root, check=True)
    return repository.root / "data"


def test_specs_packages_and_data_can_be_compared_with(
    repository: Repository, tmp_path: Path
) -> None:
    """Specs, packages, generated code; of data, whether it can be read is what counts.

    What was accepted at the gate cannot be read for that, and no one can accept it.
    """
    kept, data = tmp_path / "kept", _write_data(repository)
    result = run("breaking", "--against", data, "--project", repository.root)
    assert f" compared with {data}: " in result.stdout
    shutil.copytree(repository.root / "generated", kept)
    repository.schema(_YEARS.replace(*SWAPPED))
    for path in (kept / "pet" / "spec.json", kept / "pet", kept):
        found = ids(repository.breaking("--against", str(path), code=1))
        assert found == ["SG242", "SG221", "SG204"]
    for path in (data, data / "manifest.json"):
        found = ids(repository.breaking("--against", str(path), code=1))
        assert found == ["SG221", "SG204"]
    repository.breaking("--against", "HEAD", "--accept", "SG221", *REASON, code=1)
    finding, _ = repository.breaking("--against", str(data), code=1)
    assert finding["rule"] == "SG221"
    assert "--accept" not in finding["advice"]
    call = ("--against", str(data), "--accept", "SG221", *REASON)
    assert ids(repository.breaking(*call, code=2)) == ["SG433"]
    repository.schema(PASTS["another record"][0])
    assert ids(repository.breaking("--against", str(data), code=1)) == ["SG220"]


# Acceptance.


def test_accepted_break_passes_and_its_reason_is_kept(repository: Repository) -> None:
    """It passes from now on, and its reason stays next to the specs.

    Another change of the same field is another break. `check` and `generate` leave the
    file alone.
    """
    repository.schema(_SCHEMA.replace(*SWAPPED).replace(*LIMITED))
    call = ("--against", "HEAD", "--accept", "SG221", *REASON)
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
    before = file.read_bytes()
    assert run("generate", "--project", repository.root).exit_code == 0
    assert run("check", "--project", repository.root).exit_code == 0
    assert file.read_bytes() == before
    repository.change('"pug", "tabby"', '"tabby", "pug", "beagle"')
    assert "SG221" in ids(repository.breaking("--against", "HEAD", code=1))


@pytest.mark.parametrize("selector", ["SG22", "SG208:pet.wodrs", "SG208"])
def test_break_is_not_accepted_without_a_reason_or_by_a_wrong_selector(
    repository: Repository, selector: str
) -> None:
    """One acceptance is of one break, with a reason; nothing is recorded otherwise."""
    text = _SCHEMA.replace(*LIMITED)
    repository.schema(text.replace('classes=("pug", "tabby")', 'classes=("pug",)'))
    before = snapshot(repository.root / "generated")
    call = ("--against", "HEAD", "--accept", selector)
    (finding,) = repository.breaking(*call, *REASON, code=2)
    assert finding["rule"] == "SG433"
    assert f"--accept {selector}:" in finding["message"]
    assert "SG208:pet.words" in finding["found"]
    if selector == "SG208:pet.wodrs":
        assert "'SG208:pet.words'" in finding["advice"]
    assert ids(repository.breaking(*call, code=2)) == ["SG408"]
    assert ids(repository.breaking("--against=HEAD", *REASON, code=2)) == ["SG408"]
    assert snapshot(repository.root / "generated") == before


def test_breaks_of_a_rule_in_a_record_are_accepted_together(
    repository: Repository,
) -> None:
    """One of two fields is accepted before, and other rules are not."""
    text = _SCHEMA.replace(*SWAPPED).replace(*LIMITED)
    more = '    more: Annotated[list[int], VarLen("int64", max_length={})]\n'
    repository.schema(_SCHEMA + more.format(8))
    repository.commit("more")
    repository.schema(text + more.format(4))
    call = ("--against", "HEAD", *REASON, "--accept")
    repository.breaking(*call, "SG208:pet.words", code=1)
    assert ids(repository.breaking(*call, "SG208:pet", code=1)) == ["SG221"]
    assert ids(repository.breaking(*call, "SG208:pet", code=2)) == ["SG433"]


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n", "{}\n", "[]\n"])
def test_acceptances_that_cannot_be_read_are_refused(
    repository: Repository, text: str
) -> None:
    """A half-merged file must not let breaks pass, or find them again."""
    file = repository.root / "generated" / "accepted_breaks.jsonl"
    file.write_text("\n" + text, encoding="utf-8")
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert finding["rule"] == "SG432"
    assert "line 2" in finding["message"]


def test_acceptances_of_two_branches_merge(repository: Repository) -> None:
    """Git keeps the lines of both sides, by what `init` tells it, and both count."""
    run("init", repository.root)
    repository.commit("attributes")
    for branch, selector, change in (("1", "SG221", SWAPPED), ("2", "SG208", LIMITED)):
        repository.git("switch", "--quiet", "--create", branch, "main")
        repository.change(*change)
        call = ("--against", "HEAD", "--accept", selector, *REASON)
        repository.breaking(*call, code=0)
        repository.schema(_SCHEMA)
        repository.commit(selector)
    repository.git("merge", "--quiet", "--no-edit", "1")
    repository.schema(_SCHEMA.replace(*SWAPPED).replace(*LIMITED))
    assert repository.breaking("--against", "main", code=0) == []


# What a record cannot say: parameters and a field, the rule, and what is named.
_RAGGED = 'x: Annotated[list[list[int]], Ragged("int64", row_lengths_key="age")]'
WRONG = [
    ("darft=True", "age: float", "SG101", "'draft'"),
    ('reserved=("age",)', "age: float", "SG122", "Pet.age: 'age'"),
    ('reserved=("age",)', _KEY, "SG122", "Pet.years: 'age'"),
    ('reserved=("age",)', _RAGGED, "SG122", "Pet.x: 'age'"),
    ('reserved="age"', "age: float", "SG122", "Pet: "),
    ("reserved=(1,)", "age: float", "SG122", "Pet: "),
    ("draft=1", "age: float", "SG122", "Pet: "),
]


@pytest.mark.parametrize(("parameters", "field", "rule", "said"), WRONG)
def test_record_that_contradicts_its_reserved_names_is_refused(
    repository: Repository, parameters: str, field: str, rule: str, said: str
) -> None:
    """A finding at the field that takes a reserved name or key, or at the class."""
    text = _SCHEMA.replace("(Record)", f"(Record, {parameters})")
    text = text.replace("import Label", "import Label, Ragged")
    repository.schema(text.replace("age: float | None = None", field))
    (finding,) = repository.breaking("--against", "HEAD", code=2)
    assert finding["rule"] == rule
    assert said in finding["message"]
    assert finding["location"]["line"] == (11 if 'reserved=("' in parameters else 6)
