"""One schema, several sizes: schemas made by functions, and constants of a project."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import schemagen
from command_line import make_project, place, refusals, run
from pydantic import ValidationError

SETTINGS = """\
[tool.schemagen]
schemas = "schemas"
output = "generated"

[tool.schemagen.constants]
max_tokens = 33
breeds = ["beagle", "pug"]
"""

FACTORY = """\
from __future__ import annotations
from typing import Annotated
from pydantic import BaseModel, Field
from schemagen import Label, Record, VarLen, constants

SHARED = constants(__file__)


class Lengths(BaseModel):
    max_tokens: int = Field(default=128, le=4096)
    ragged: bool = False


def question(lengths: Lengths) -> type[Record]:
    class Question(Record):
        \"\"\"A question and the answer that was chosen.\"\"\"

        tokens: Annotated[
            list[int],
            VarLen("int64", max_length=lengths.max_tokens, ragged=lengths.ragged),
        ]
        \"\"\"Ids of its words.\"\"\"

        breed: Annotated[int, Label(classes=tuple(SHARED["breeds"]))]

    return Question


ShortQuestion = question(Lengths(max_tokens=SHARED["max_tokens"]))
LongQuestion = question(Lengths(max_tokens=512, ragged=True))
_Draft = question(Lengths())
"""


def project(root: Path, schema: str = FACTORY) -> Path:
    """Make a project with constants and one schema file."""
    make_project(root, {"questions.py": schema})
    (root / "pyproject.toml").write_text(SETTINGS)
    return root


def load(path: Path) -> ModuleType:
    """Import a schema file as a program does that uses its records."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    return module


def test_a_function_of_settings_makes_several_records(tmp_path: Path) -> None:
    """Each is called as the variable that holds it; a private one is no record."""
    root = project(tmp_path)
    paths = {change.path for change in schemagen.generate(root).changes}
    packages = {path.split("/")[0] for path in paths if "/" in path}
    assert packages == {"short_question", "long_question"}
    short = (root / "generated/short_question/serializer.py").read_text()
    long = (root / "generated/long_question/serializer.py").read_text()
    assert "max_length=33" in short
    assert "max_length=512" in long
    assert '("beagle", "pug")' in short
    assert "Ids of its words." in long
    assert "A question and the answer that was chosen." in long


def test_records_of_a_function_check_their_rows(tmp_path: Path) -> None:
    """Outside of the generator too, each by its own settings."""
    module = load(project(tmp_path) / "schemas" / "questions.py")
    row: dict[str, Any] = {"tokens": [1] * 34, "breed": "pug"}
    assert module.LongQuestion(**row).breed == 1
    with pytest.raises(ValidationError, match="found 34 items, expected at most 33"):
        module.ShortQuestion(**row)


def test_a_changed_constant_makes_generated_code_stale(tmp_path: Path) -> None:
    """`check` sees it, although no schema file has changed."""
    root = project(tmp_path)
    schemagen.generate(root)
    assert run("check", "--project", root).exit_code == 0
    settings = root / "pyproject.toml"
    settings.write_text(SETTINGS.replace("33", "34"))
    result = run("check", "--project", root)
    assert result.exit_code == 1
    assert "generated/short_question" in result.output
    assert "long_question" not in result.output


def test_an_unknown_constant_is_a_finding_at_its_line(tmp_path: Path) -> None:
    """With the name that was probably meant."""
    wrong = FACTORY.replace('SHARED["max_tokens"]', 'SHARED["max_token"]')
    (found,) = refusals(project(tmp_path, wrong))
    assert found["rule"] == "SG101"
    assert "no constant 'max_token'" in found["message"]
    assert "did you mean 'max_tokens'?" in found["message"]
    line = wrong.splitlines().index(
        'ShortQuestion = question(Lengths(max_tokens=SHARED["max_token"]))'
    )
    assert place(found).startswith(f"schemas/questions.py:{line + 1}:")


def test_pydantic_checks_the_settings(tmp_path: Path) -> None:
    """What the settings' own model refuses is a finding at the line that makes them."""
    wrong = FACTORY.replace("max_tokens=512", "max_tokens=5000")
    (found,) = refusals(project(tmp_path, wrong))
    assert found["rule"] == "SG101"
    assert "less than or equal to 4096" in found["message"]


def test_constants_are_a_table(tmp_path: Path) -> None:
    """Anything else would be lost."""
    root = project(tmp_path)
    (root / "pyproject.toml").write_text("[tool.schemagen]\nconstants = 3\n")
    (found,) = refusals(root)
    assert found["rule"] == "SG401"
    assert found["found"] == "3"
    assert place(found) == "pyproject.toml:2:1"


def test_records_of_a_function_with_findings_are_named_after_their_variable(
    tmp_path: Path,
) -> None:
    """The finding stands at the field in the function, and says which record it is."""
    wrong = FACTORY.replace('VarLen("int64"', 'VarLen("int46"')
    found = refusals(project(tmp_path, wrong))
    line = next(
        number
        for number, text in enumerate(wrong.splitlines(), start=1)
        if "tokens: Annotated" in text
    )
    assert {place(finding) for finding in found} == {f"schemas/questions.py:{line}:9"}
    messages = " ".join(finding["message"] for finding in found)
    assert "ShortQuestion.tokens" in messages
    assert "LongQuestion.tokens" in messages
