"""Importing schema files: what fails is placed, what works leaves no trace."""

from __future__ import annotations

import json
import os
import py_compile
import sys
import types
from pathlib import Path

import pytest
import schemagen
from command_line import make_project, place, refusals, run, snapshot
from schemagen.use_cases.generate import describe

IMPORT = "from schemagen import Record\n\n"
PET = f"{IMPORT}class Pet(Record):\n    age: int\n"


# the file, its place of failure, message
FAILURES = [
    ("class Pet(:\n", "1:11", "SyntaxError: invalid syntax"),
    ("x = 1\n  y = 2\n", "2:2", "IndentationError: unexpected indent"),
    ("<<<<<<< HEAD\nx = 1\n=======\n", "1:1", "SyntaxError: invalid syntax"),
    ("import no_such_module\n", "1:1", "No module named 'no_such_module'"),
    (
        "from schemagen import Recrod\n",
        "1:23",
        "the schema file does not load: schemagen has no 'Recrod'",
    ),
    ("x = 1\ny = (x + 1) / (x - 1)\n", "2:5", "ZeroDivisionError: division by zero"),
    ("grün = 1; raise ValueError('a\\nb')\n", "1:11", "ValueError: a b"),
    ("def f():\n    raise OSError('no')\n\nf()\n", "2:5", "OSError: no"),
    ("import sys\nsys.exit(3)\n", "2:1", "it ends the process"),
    ("import os\nos._exit(0)\n", "2:1", "it ends the process"),
    ("import os\ntry:\n    os._exit(0)\nexcept Exception: pass\n", "3:5", "ends the"),
    (
        "class E(Exception):\n    def __str__(self): raise KeyError\nraise E\n",
        "3:1",
        "E: (its __str__ raises KeyError)",
    ),
    (
        "class E(Exception):\n    def __str__(self): return 5\nraise E\n",
        "3:1",
        "E: (its __str__ raises TypeError)",
    ),
    (
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\nraise E\n",
        "3:1",
        "E: (its __str__ raises SystemExit)",
    ),
    ("raise KeyError\n", "1:1", "KeyError"),
    ("class E(BaseException): pass\nraise E('x')\n", "2:1", "E: x"),
    ("compile('(', 'no file', 'exec')\n", "1:1", "SyntaxError: '(' was never closed"),
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


def test_code_of_a_schema_that_raises_later_is_placed_in_the_schema(
    tmp_path: Path,
) -> None:
    """Checking a default calls the schema's code, whatever that raises."""
    for number, error in enumerate(("ValueError('no')", "SystemExit(0)")):
        bad = f"class Bad(int):\n    def __int__(self, *_): raise {error}\n"
        bad += "    __eq__ = __float__ = __index__ = __int__\n"
        text = f"{IMPORT}{bad}class Cat(Record):\n    x: int = Bad()\n"
        project = make_project(tmp_path / str(number), {"a.py": text})
        [finding] = refusals(project)
        assert finding["rule"] == "SG101"
        assert place(finding) == "schemas/a.py:4:28"


def test_a_file_that_is_not_text_does_not_load(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a finding in their file."""
    project = make_project(tmp_path, {"a.py": PET})
    (project / "schemas" / "b.py").write_bytes(b"x = '\xff'\n")
    [finding] = refusals(project)
    assert finding["rule"] == "SG101"
    assert finding["location"]["path"] == "schemas/b.py"
    assert "utf-8" in finding["message"]


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


# files of the project, settings, the place
GENERATED = {
    "absolute": ({"schemas/a.py": "import generated\n"}, "schemas/a.py:1:1"),
    "a part of it": (
        {"schemas/a.py": "x = 1\nfrom generated.pet.parser import parse_batch\n"},
        "schemas/a.py:2:1",
    ),
    "inside a function": (
        {"schemas/a.py": "def f():\n    import generated.pet\nf()\n"},
        "schemas/a.py:2:5",
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
def test_a_schema_cannot_import_what_is_generated_from_it(
    tmp_path: Path, case: str
) -> None:
    """Generated or not yet, the output package cannot be imported by a schema."""
    files, at = GENERATED[case]
    project = make_project(tmp_path, {"pet.py": PET})
    for generated in (False, True):
        if generated:
            assert run("generate", "--project", project).exit_code == 0
        for name, text in files.items():
            (project / name).write_text(text, encoding="utf-8")
        [finding] = refusals(project)
        assert finding["rule"] == "SG102"
        assert place(finding) == at
        assert finding["expected"] == "schemas that do not need generated/"
        for name in files:
            (project / name).unlink()


def test_a_relative_import_of_generated_code_is_refused(tmp_path: Path) -> None:
    """Where schemas and output share a parent package, `..generated` is seen too."""
    project = make_project(tmp_path, {})
    (project / "pyproject.toml").write_text(
        '[tool.schemagen]\nschemas = "src/schemas"\noutput = "src/generated"\n'
    )
    (project / "src/schemas").mkdir(parents=True)
    (project / "src/schemas/a.py").write_text("from ..generated import pet\n")
    [finding] = refusals(project)
    assert finding["rule"] == "SG102"
    assert place(finding) == "src/schemas/a.py:1:1"
    assert finding["expected"] == "schemas that do not need src/generated/"


def test_schemas_are_ordinary_python(tmp_path: Path) -> None:
    """Bases, several records a file, folders, relative imports, future annotations."""
    base = f"{IMPORT}class _Base(Record):\n    shelter: str\n"
    pets = (
        "from __future__ import annotations\n"
        "from typing import Annotated\n"
        "from schemagen import Label\n"
        "from ._base import _Base\n"
        'KINDS = ("cat", "dog")\n'
        "class _Weighed(_Base):\n    weight: float\n"
        "class Cat(_Weighed):\n    lives: int = 9\n"
        "class Dog(_Weighed):\n"
        "    breed: Annotated[int, Label(classes=KINDS)]\n"
        "Hound = Dog\n"
    )
    bird = "from ..pets import Cat\nfrom .._base import _Base\n"
    bird += "class Bird(_Base):\n    wings: int\n"
    project = make_project(
        tmp_path, {"_base.py": base, "pets.py": pets, "wild/birds.py": bird}
    )
    found = {spec.record: spec for spec in describe(project)}
    assert list(found) == ["bird", "cat", "dog"]
    assert [field.name for field in found["cat"].fields] == [
        "shelter",
        "weight",
        "lives",
    ]
    assert [field.name for field in found["dog"].fields] == [
        "shelter",
        "weight",
        "breed",
    ]
    assert found["bird"].source == "schemas/wild/birds.py"
    assert found["cat"].source == found["dog"].source == "schemas/pets.py"


def test_schemas_may_import_from_their_project(tmp_path: Path) -> None:
    """Lists of classes and the like can live in the project's own modules."""
    text = f"import shared\n{IMPORT}class Pet(Record):\n    age: int = shared.AGE\n"
    project = make_project(tmp_path, {"pets.py": text})
    (project / "shared.py").write_text("AGE = 7\n")
    assert describe(project)[0].fields[0].default == 7


def test_an_installed_package_of_the_same_name_does_not_hide_the_schemas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `schemas` package elsewhere on the path is not taken for the project's."""
    other = tmp_path / "site"
    (other / "schemas").mkdir(parents=True)
    (other / "schemas" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(other)
    project = make_project(tmp_path / "project", {"pets.py": PET})
    assert [spec.record for spec in describe(project)] == ["pet"]


def test_a_second_load_sees_the_files_of_then(tmp_path: Path) -> None:
    """A long-lived process, such as a notebook, never works with an old schema."""
    project = make_project(
        tmp_path, {"_base.py": "AGE = 1\n", "pets.py": f"from ._base import AGE\n{PET}"}
    )
    pets, base = project / "schemas/pets.py", project / "schemas/_base.py"
    assert [field.name for field in describe(project)[0].fields] == ["age"]
    pets.write_text(pets.read_text().replace("age: int", "egg: int = AGE"))
    assert [field.default for field in describe(project)[0].fields] == [1]
    base.write_text("AGE = 2\n")
    assert [field.default for field in describe(project)[0].fields] == [2]
    (project / "schemas/dogs.py").write_text(PET.replace("Pet", "Dog"))
    assert [spec.record for spec in describe(project)] == ["dog", "pet"]


def test_bytecode_is_not_believed(tmp_path: Path) -> None:
    """It cannot tell two texts of one length that were saved in the same second."""
    root = make_project(tmp_path, {"pets.py": PET})
    path = root / "schemas/pets.py"
    py_compile.compile(str(path))
    before = path.stat()
    path.write_text(PET.replace("age:", "yrs:"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    [spec] = describe(root)
    assert [field.name for field in spec.fields] == ["yrs"]


def test_nested_schemas_are_not_taken_from_another_project(tmp_path: Path) -> None:
    """A package `src` that the process knows already is not the project's."""
    settings = '[tool.schemagen]\nschemas = "src/schemas"\noutput = "src/generated"\n'
    project = make_project(tmp_path, {})
    (project / "pyproject.toml").write_text(settings)
    (project / "src/schemas").mkdir(parents=True)
    (project / "src/schemas/pets.py").write_text(PET)
    other = types.ModuleType("src")
    other.__path__ = ["/somewhere/else"]
    sys.modules["src"] = other
    try:
        assert [spec.record for spec in describe(project)] == ["pet"]
        assert sys.modules["src"] is other
        assert not hasattr(other, "schemas")
    finally:
        del sys.modules["src"]


@pytest.mark.parametrize("text", [PET, "import shared\n1 / 0\n"], ids=["good", "bad"])
def test_loading_leaves_no_trace_in_the_process(tmp_path: Path, text: str) -> None:
    """Paths, finders, modules and flags are what they were, after errors too."""
    project = make_project(tmp_path, {"pets.py": text, "_b.py": "", "c.py": PET})
    (project / "shared.py").write_text("")
    mine = types.ModuleType("schemas")
    sys.modules["schemas"] = mine
    try:
        before = list(sys.path), list(sys.meta_path), sys.dont_write_bytecode
        modules = set(sys.modules)
        run("generate", "--project", project, "--dry-run")
        assert (list(sys.path), list(sys.meta_path), sys.dont_write_bytecode) == before
        assert sys.modules["schemas"] is mine
        new = set(sys.modules) - modules
        assert not {name for name in new if name.startswith(("schemas", "shared"))}
    finally:
        del sys.modules["schemas"]


def test_loading_writes_nothing_into_the_schemas(tmp_path: Path) -> None:
    """No bytecode appears next to schema files, nested or shared ones either."""
    schemas = {"pets.py": f"from ._b import x\n{PET}", "_b.py": "x = 1\n"}
    schemas["deep/dogs.py"] = PET.replace("Pet", "Dog")
    project = make_project(tmp_path, schemas)
    before = snapshot(project)
    assert run("describe", "--project", project).exit_code == 0
    assert run("generate", "--dry-run", "--project", project).exit_code == 0
    assert run("check", "--project", project).exit_code == 1
    assert snapshot(project) == before


def test_what_schemas_print_does_not_reach_the_output(tmp_path: Path) -> None:
    """Findings and specs on stdout are data; a schema's own words go to stderr."""
    project = make_project(tmp_path, {"pets.py": f"print('hello')\n{PET}"})
    result = run("describe", "--project", project, "--format", "json")
    assert json.loads(result.stdout)["records"][0]["record"] == "pet"
    assert "hello" in result.stderr
    result = run("check", "--project", project, "--format", "json")
    assert json.loads(result.stdout)["version"] == 1


def test_the_words_of_a_schema_file_are_the_packages_own() -> None:
    """Every word is there to import, listed, and an unknown one is an error."""
    for name in schemagen.__all__:
        assert getattr(schemagen, name).__name__ == name
        assert name in dir(schemagen)
    with pytest.raises(AttributeError):
        schemagen.Recrod  # noqa: B018
    with pytest.raises(ImportError):
        exec("from schemagen import Recrod")
