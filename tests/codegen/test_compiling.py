"""What is compiled: generated code that is to be written, and templates once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment
from schemagen import Scalar
from schemagen.codegen import render as rendering
from schemagen.codegen import templates
from schemagen.codegen.render import render
from schemagen.codegen.templates import Templates
from schemagen.kinds.field import FieldSpec
from schemagen.spec.model import RecordSpec

_AGE = FieldSpec.of(Scalar, name="age", key="age", role="input", dtype="int64")
_SPECS = (RecordSpec("pet", "Pet", "schemas/pet.py", "A pet.", (_AGE,)),)


def compiled(monkeypatch: pytest.MonkeyPatch, existing: dict[str, bytes]) -> list[str]:
    """Return the files that rendering compiles, where some are there already."""
    found: list[str] = []
    monkeypatch.setattr(
        rendering, "check_python", lambda file, *_: found.append(file.path)
    )
    render(_SPECS, existing=existing)
    return found


def test_only_what_is_new_or_changed_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`check` compiles nothing of a tree that is up to date, which is most of them."""
    files = {file.path: file.text.encode() for file in render(_SPECS)}
    every = [path for path in files if path.startswith("pet/") and path[-3:] == ".py"]
    assert sorted(compiled(monkeypatch, {})) == sorted(every)
    assert compiled(monkeypatch, files) == []
    files["pet/model.py"] += b"# edited"
    assert compiled(monkeypatch, files) == ["pet/model.py"]


# Compiled templates


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory in which compiled templates are kept; it is not there yet."""
    directory = tmp_path / "bytecode"
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(directory))
    return directory


def compilations(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many templates a new process compiles that renders a record."""
    compiled: list[object] = []
    compile_ = Environment.compile

    def counted(*arguments: Any, **options: Any) -> Any:
        compiled.append(arguments)
        return compile_(*arguments, **options)

    templates._ours.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(Environment, "compile", counted)
        assert render(_SPECS, Templates()) == _RENDERED
    templates._ours.cache_clear()
    return len(compiled)


_RENDERED = render(_SPECS)


def test_a_template_is_compiled_once(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process takes what is kept, in the place where Python keeps bytecode."""
    count = compilations(monkeypatch)
    assert count > 5
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert len(files) == count
    assert {path.suffix for path in files} == {".pyc"}
    assert compilations(monkeypatch) == 0
    monkeypatch.setattr(templates, "_COMPILERS", (__file__,))  # another version
    assert compilations(monkeypatch) == count


@pytest.mark.parametrize("damage", [b"", b"x", "half", "other"])
def test_a_damaged_compiled_template_is_replaced(
    kept: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | str
) -> None:
    """Nothing is run that is not whole, and no run fails of it."""
    count = compilations(monkeypatch)
    assert count
    for path in kept.rglob("*.pyc"):
        data = path.read_bytes()
        other = data[:-1] + bytes([data[-1] ^ 1])
        known = {"half": data[: len(data) // 2], "other": other}
        path.write_bytes(damage if isinstance(damage, bytes) else known[damage])
    assert compilations(monkeypatch) == count
    assert compilations(monkeypatch) == 0


def test_compiled_templates_are_not_kept_where_that_is_impossible_or_unwanted(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PYTHONDONTWRITEBYTECODE applies, and a full disk or missing rights are no error."""
    kept.write_text("a file in the place of the directory")
    assert compilations(monkeypatch) == compilations(monkeypatch) > 0
    kept.unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert compilations(monkeypatch) > 0
    assert not kept.exists()


def test_templates_of_a_project_are_not_kept(kept: Path, tmp_path: Path) -> None:
    """Only ours are: nothing is written next to those of users."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "model.py.jinja").write_text('"""A model."""\n')
    render(_SPECS, Templates(own, "own"))
    names = {path.name.partition(".")[0] for path in kept.rglob("*.pyc")}
    assert {"parser", "scalar"} <= names
    assert "model" not in names
