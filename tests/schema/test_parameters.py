"""One schema, several sizes: schemas made by functions, and constants of a project."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
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


def test_a_function_of_settings_makes_several_records(tmp_path: Path) -> None:
    """Each is called as the variable that holds it; a private one is no record."""
    root = project(tmp_path)
    paths = {change.path for change in schemagen.generate(root).changes}
    packages = {path.split("/")[0] for path in paths if "/" in path}
    assert packages == {"short_question", "long_question"}
    short = (root / "generated/short_question/fields.py").read_text()
    long = (root / "generated/long_question/fields.py").read_text()
    documented = (root / "generated/long_question/serializer.py").read_text()
    assert "max_length=33" in short
    assert "max_length=512" in long
    assert '("beagle", "pug")' in short
    assert "Ids of its words." in documented
    assert "A question and the answer that was chosen." in documented


def test_records_of_a_function_check_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of the generator too, each by its own settings."""
    monkeypatch.syspath_prepend(project(tmp_path) / "schemas")
    module = importlib.import_module("questions")
    monkeypatch.delitem(sys.modules, "questions")
    row: dict[str, Any] = {"tokens": [1] * 34, "breed": "pug"}
    assert module.LongQuestion(**row).breed == 1
    with pytest.raises(ValidationError):
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


# What is wrong in the schema, the end of the line that has the finding, and what it says.
WRONG = [
    ('SHARED["max_tokens"]', 'SHARED["max_token"]', "ShortQuestion", "'max_tokens'"),
    ("max_tokens=512", "max_tokens=5000", "LongQuestion", "4096"),
    ('VarLen("int64"', 'VarLen("int46"', "        tokens: ", "LongQuestion.tokens"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG)
def test_a_mistake_is_a_finding_at_its_line(
    tmp_path: Path, old: str, new: str, line: str, said: str
) -> None:
    """Of a constant, of a model of settings, and of a record that a function makes."""
    wrong = FACTORY.replace(old, new)
    found = refusals(project(tmp_path, wrong))
    [number] = [n for n, t in enumerate(wrong.split("\n"), 1) if t.startswith(line)]
    assert {finding["location"]["line"] for finding in found} == {number}
    assert said in "".join(finding["message"] for finding in found)


def test_constants_are_a_table(tmp_path: Path) -> None:
    """Anything else would be lost."""
    root = project(tmp_path)
    (root / "pyproject.toml").write_text("[tool.schemagen]\nconstants = 3\n")
    (found,) = refusals(root)
    assert (found["rule"], found["found"]) == ("SG401", "3")
    assert place(found) == "pyproject.toml:2:1"
