"""What is to be written is compiled before; what is there already is not, again."""

from __future__ import annotations

import pytest
from schemagen.codegen import render as rendering
from schemagen.codegen.render import render
from schemagen.kinds.field import FieldSpec
from schemagen.kinds.scalar import Scalar
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
