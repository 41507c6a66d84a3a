"""Importing schema files: what fails is placed, what works leaves no trace."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Literal

import pytest
import schemagen
from command_line import make_project, place, refusals, run, snapshot

IMPORT = "from schemagen import Record\n\n"
PET = f"{IMPORT}class Pet(Record):\n    age: int\n"


def described(project: Path) -> dict[str, dict[str, Any]]:
    """Return the spec of each record, by its name."""
    result = run("describe", "--project", project, "--format", "json")
    assert result.exit_code == 0, result.output
    return {spec["record"]: spec for spec in json.loads(result.stdout)["records"]}


def names(spec: dict[str, Any]) -> list[str]:
    return [field["name"] for field in spec["fields"]]


# The file, its place of failure, and what the message has of it.
FAILURES = [
    ("class Pet(:\n", "1:11", "SyntaxError"),
    ("<<<<<<< HEAD\nx = 1\n=======\n", "1:1", "SyntaxError"),
    ("import no_such_module\n", "1:1", "'no_such_module'"),
    ("from schemagen import Recrod\n", "1:1", "'Recrod'"),
    ("x = 1\ny = (x + 1) / (x - 1)\n", "2:5", "ZeroDivisionError: division by zero"),
    ("grün = 1; raise ValueError('a\\nb')\n", "1:11", "ValueError: a b"),
    ("def f():\n    raise OSError('no')\n\nf()\n", "2:5", "OSError: no"),
    ("import sys\nsys.exit(3)\n", "2:1", ""),
    (
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E\n",
        "3:1",
        "E: ",
    ),
    ("class E(BaseException): pass\nraise E('x')\n", "2:1", "E: x"),
]


@pytest.mark.parametrize(("text", "at", "message"), FAILURES)
def test_a_file_that_does_not_load_is_placed_at_the_line_that_raised(
    tmp_path: Path, text: str, at: str, message: str
) -> None:
    """Whatever a schema raises is one finding, and the other files are still read."""
    bad = f"{IMPORT}class Cat(Record):\n    x: set[int]\n"
    [finding, other] = refusals(make_project(tmp_path, {"a.py": text, "b.py": bad}))
    assert finding["rule"] == "SG101"
    assert place(finding) == f"schemas/a.py:{at}"
    assert message in finding["message"]

    line = int(at.split(":")[0])
    assert finding["location"]["source"] == text.split("\n")[line - 1]
    assert finding["advice"]
    assert (place(other), other["rule"]) == ("schemas/b.py:4:5", "SG111")


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("Scalar('float32')", "add `from schemagen import Scalar`"),
        ("Lable()", "did you mean 'Label'?"),
        ("from schemagen import Imge", "did you mean 'Image'?"),
        ("schemagen.Imge", "did you mean 'Image'?"),
        ("schemagen.VarLen('int64', max_lenght=3)", "did you mean 'max_length'?"),
        ("schemagen.Text(max_length=3)", "leave it out: other kinds have max_length"),
        ("schemagen.Text(prescence=True)", "did you mean 'presence'?"),
    ],
)
def test_unknown_name_gets_advice_at_its_line(
    tmp_path: Path, line: str, advice: str
) -> None:
    """With the nearest name that exists, if any."""
    text = f"import schemagen\n{line}\n"
    [finding] = refusals(make_project(tmp_path, {"a.py": text}))
    assert finding["rule"] == "SG101"
    assert place(finding) == "schemas/a.py:2:1"
    assert advice in finding["advice"]


@pytest.mark.parametrize("error", ["ValueError('no')", "SystemExit(0)"])
def test_code_of_a_schema_that_raises_later_is_placed_in_the_schema(
    tmp_path: Path, error: str
) -> None:
    """Checking a default calls the schema's code, whatever that raises."""
    bad = f"class Bad(int):\n    def __int__(self, *_): raise {error}\n"
    bad += "    __eq__ = __float__ = __index__ = __int__\n"
    text = f"{IMPORT}{bad}class Cat(Record):\n    x: int = Bad()\n"
    [finding] = refusals(make_project(tmp_path, {"a.py": text}))
    assert finding["rule"] == "SG101"
    assert place(finding) == "schemas/a.py:4:28"


@pytest.mark.parametrize(
    "end", ["os._exit(0)", "sys.exit()", "exit()", "quit()", "raise SystemExit"]
)
def test_a_schema_that_ends_the_interpreter_is_an_error(
    tmp_path: Path, end: str
) -> None:
    """Without output and with exit code 0, CI would take it for a clean check."""
    text = f"import os, sys\n{PET}{end}\n"
    project = make_project(tmp_path, {"a.py": text})
    command = [sys.executable, "-m", "schemagen", "check", "--project", project]
    result = subprocess.run(
        [*map(str, command), "--format", "json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert result.returncode == 2, result.stderr
    [finding] = json.loads(result.stdout)["findings"]
    assert finding["rule"] == "SG101"
    assert place(finding) == f"schemas/a.py:{text.count(chr(10))}:1"
    assert "ends the interpreter" in finding["message"]


def test_a_file_that_is_not_text_does_not_load(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a finding in their file."""
    project = make_project(tmp_path, {"a.py": PET})
    (project / "schemas" / "b.py").write_bytes(b"x = '\xff'\n")
    [finding] = refusals(project)
    assert (finding["rule"], finding["location"]["path"]) == ("SG101", "schemas/b.py")


def test_an_error_in_a_shared_file_is_placed_there_and_told_once(
    tmp_path: Path,
) -> None:
    """Two schemas that import a broken file have one cause, at its own line."""
    schemas = {
        "_base.py": "x = 1\nx.no_such_name\n",
        "cats.py": "from ._base import x\n",
        "deep/dogs.py": "from .._base import x\n",
    }
    [finding] = refusals(make_project(tmp_path, schemas))
    assert place(finding) == "schemas/_base.py:2:1"


# Files of the project, and the place of the finding.
GENERATED = {
    "one of its modules": (
        {"schemas/a.py": "x = 1\nfrom generated.pet.parser import parse_batch\n"},
        "schemas/a.py:2:1",
    ),
    "and does without it": (
        {"schemas/a.py": "try:\n    import generated\nexcept ImportError: pass\n"},
        "schemas/a.py:2:5",
    ),
    "through another schema file": (
        {
            "schemas/a.py": "from . import _b\n",
            "schemas/_b.py": "\nfrom generated import pet\n",
        },
        "schemas/_b.py:2:1",
    ),
    "through a module of the project": (
        {"schemas/a.py": "import shared\n", "shared.py": "import generated\n"},
        "schemas/a.py:1:1",
    ),
}


@pytest.mark.parametrize("case", GENERATED)
@pytest.mark.parametrize("generated", [False, True])
def test_a_schema_cannot_import_what_is_generated_from_it(
    tmp_path: Path, case: str, generated: bool
) -> None:
    """Generated or not yet, the output package cannot be imported by a schema."""
    files, at = GENERATED[case]
    project = make_project(tmp_path, {"pet.py": PET})
    if generated:
        assert run("generate", "--project", project).exit_code == 0
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8")
    [finding] = refusals(project)
    assert (finding["rule"], place(finding)) == ("SG102", at)


def nested(root: Path, text: str) -> Path:
    """Make a project whose schemas and output share a parent package."""
    (root / "src/schemas").mkdir(parents=True)
    (root / "src/schemas/a.py").write_text(text)
    (root / "pyproject.toml").write_text(
        '[tool.schemagen]\nschemas = "src/schemas"\noutput = "src/generated"\n'
    )
    return root


def test_a_relative_import_of_generated_code_is_refused(tmp_path: Path) -> None:
    """Where schemas and output share a parent package, `..generated` is seen too."""
    [finding] = refusals(nested(tmp_path, "from ..generated import pet\n"))
    assert (finding["rule"], place(finding)) == ("SG102", "src/schemas/a.py:1:1")


def test_schemas_are_ordinary_python(tmp_path: Path) -> None:
    """Bases, several records a file, folders, relative imports, the project's modules."""
    base = f"{IMPORT}class _Base(Record):\n    shelter: str\n"
    pets = (
        "from __future__ import annotations\n"
        "import shared\n"
        "from typing import Annotated\n"
        "from schemagen import Label\n"
        "from ._base import _Base\n"
        'KINDS = ("cat", "dog")\n'
        "class _Weighed(_Base):\n    weight: float\n"
        "class Cat(_Weighed):\n    lives: int = shared.LIVES\n"
        "class Dog(_Weighed):\n"
        "    breed: Annotated[int, Label(classes=KINDS)]\n"
        "Hound = Dog\n"
    )
    bird = "from ..pets import Cat\nfrom .._base import _Base\n"
    bird += "class Bird(_Base):\n    wings: int\n"
    project = make_project(
        tmp_path, {"_base.py": base, "pets.py": pets, "wild/birds.py": bird}
    )
    (project / "shared.py").write_text("LIVES = 9\n")
    found = described(project)
    assert list(found) == ["bird", "cat", "dog"]
    assert names(found["cat"]) == ["shelter", "weight", "lives"]
    assert names(found["dog"]) == ["shelter", "weight", "breed"]
    assert found["cat"]["fields"][2]["default"] == 9
    assert found["bird"]["source"] == "schemas/wild/birds.py"
    assert found["cat"]["source"] == found["dog"]["source"] == "schemas/pets.py"


def test_a_second_load_sees_the_files_of_then(tmp_path: Path) -> None:
    """A long-lived process, such as a notebook, never works with an old schema.

    Bytecode cannot tell two texts of one length that were saved in the same second.
    """
    project = make_project(
        tmp_path, {"_base.py": "AGE = 1\n", "pets.py": f"from ._base import AGE\n{PET}"}
    )
    pets, base = project / "schemas/pets.py", project / "schemas/_base.py"
    assert names(described(project)["pet"]) == ["age"]
    py_compile.compile(str(pets))
    before = pets.stat()
    pets.write_text(pets.read_text().replace("age:", "yrs:"))
    os.utime(pets, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert pets.stat().st_size == before.st_size
    assert names(described(project)["pet"]) == ["yrs"]
    pets.write_text(pets.read_text().replace("yrs: int", "egg: int = AGE"))
    base.write_text("AGE = 2\n")
    assert described(project)["pet"]["fields"][0]["default"] == 2
    (project / "schemas/dogs.py").write_text(PET.replace("Pet", "Dog"))
    assert list(described(project)) == ["dog", "pet"]


def test_schemas_are_not_taken_from_another_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages by the same names, known to the process or on its path, do not count."""
    other = tmp_path / "site"
    (other / "schemas").mkdir(parents=True)
    (other / "schemas" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(other)
    assert [*described(make_project(tmp_path / "p", {"pets.py": PET}))] == ["pet"]
    known = types.ModuleType("src")
    known.__path__ = ["/somewhere/else"]
    monkeypatch.setitem(sys.modules, "src", known)
    assert [*described(nested(tmp_path / "q", PET))] == ["pet"]
    assert sys.modules["src"] is known
    assert not hasattr(known, "schemas")


@pytest.mark.parametrize("text", [PET, "import shared\n1 / 0\n"], ids=["good", "bad"])
def test_loading_leaves_no_trace_in_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Paths, finders, modules and flags are what they were, after errors too."""
    project = make_project(tmp_path, {"pets.py": text, "_b.py": "", "c.py": PET})
    (project / "shared.py").write_text("")
    mine = types.ModuleType("schemas")
    monkeypatch.setitem(sys.modules, "schemas", mine)
    before = list(sys.path), list(sys.meta_path), sys.dont_write_bytecode
    modules = set(sys.modules)
    run("generate", "--project", project, "--dry-run")
    assert (list(sys.path), list(sys.meta_path), sys.dont_write_bytecode) == before
    assert sys.modules["schemas"] is mine
    new = set(sys.modules) - modules
    assert not {name for name in new if name.startswith(("schemas", "shared"))}


def test_loading_writes_nothing_into_the_schemas(tmp_path: Path) -> None:
    """No bytecode appears next to schema files, nested or shared ones either."""
    schemas = {"pets.py": f"from ._b import x\n{PET}", "_b.py": "x = 1\n"}
    schemas["deep/dogs.py"] = PET.replace("Pet", "Dog")
    project = make_project(tmp_path, schemas)
    before = snapshot(project)
    assert run("generate", "--dry-run", "--project", project).exit_code == 0
    assert snapshot(project) == before


def test_the_words_of_a_schema_file_are_the_packages_own() -> None:
    """Every word is there to import, listed, and an unknown one is an error."""
    for name in schemagen.__all__:
        assert getattr(schemagen, name).__name__ == name
        assert name in dir(schemagen)
    with pytest.raises(AttributeError):
        schemagen.Recrod  # noqa: B018
    with pytest.raises(ImportError):
        exec("from schemagen import Recrod")


ORDERS = """
from typing import Annotated, Literal

from schemagen import Label, Record


class First(Record):
    plain: Literal["cat", "dog"]
    nullable: Literal["cat", "dog"] | None = None
    annotated: Annotated[Literal["cat", "dog"], Label(key="a")]


class Second(Record):
    plain: Literal["dog", "cat"]
    nullable: Literal["dog", "cat"] | None = None
    annotated: Annotated[Literal["dog", "cat"], Label(key="a")]
"""


def test_the_order_in_a_literal_is_that_of_class_ids(tmp_path: Path) -> None:
    """In every way to write one, and in each load: typing takes them for equal.

    Outside of loading, literals are what Python makes them.
    """
    swapped = ORDERS.replace('"cat", "dog"', '"dog", "cat"', 3)
    for name, text, first in (("a", ORDERS, "cat"), ("b", swapped, "dog")):
        found = described(make_project(tmp_path / name, {"pets.py": text}))
        for record, expected in (("first", first), ("second", "dog")):
            classes = [field["classes"] for field in found[record]["fields"]]
            assert [each[0] for each in classes] == [expected] * 3
    assert Literal["cat", "dog"] == Literal["dog", "cat"]
    assert hash(Literal["cat", "dog"]) == hash(Literal["dog", "cat"])
