"""`infer`, `adopt` and `export` print what they have done as one JSON document."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from data.messages import example, write_file
from jsonschema import Draft202012Validator

from generated.digit.serializer import write_dataset

CHECKOUT = Path(__file__).parents[2]

SCHEMA = json.loads((CHECKOUT / "docs/steps.schema.json").read_text("utf-8"))
FINDINGS = json.loads((CHECKOUT / "docs/findings.schema.json").read_text("utf-8"))


def steps(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """Return the steps that a command prints and nothing else, without the other ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = run(*arguments, "--format", "json")
    assert (result.exit_code, result.stderr) == (code, "")
    assert result.stdout.isascii()
    found: dict[str, Any] = json.loads(result.stdout, parse_constant=pytest.fail)
    Draft202012Validator(SCHEMA).validate(found)
    assert found.keys() == SCHEMA["properties"].keys()
    return {name: step for name, step in found.items() if step is not None}


@pytest.fixture
def animals(tmp_path: Path) -> Path:
    """Records of which one key never has a value."""
    some = [
        example({"kind": at % 2, "size": at / 3, "odd\x1b[31m": None})
        for at in range(40)
    ]
    write_file(tmp_path / "animals/train-00000-of-00001", some)
    return tmp_path / "animals"


def test_infer_prints_fields_and_doubts(animals: Path, tmp_path: Path) -> None:
    """With the lines of the schema file, and what is not declared."""
    out = tmp_path / "animal.py"
    found = steps("infer", animals, "--out", out)
    assert found.keys() == {"version", "inferred"}
    inferred = found["inferred"]
    assert (inferred["path"], inferred["spec"]) == (str(out), "Animal")
    assert inferred["records"] == 40
    assert inferred["files"] == [str(animals / "train-00000-of-00001")]
    fields = {each["name"]: each for each in inferred["fields"]}
    assert (fields["size"]["key"], fields["size"]["kind"]) == ("size", "Scalar")
    assert {each["role"] for each in inferred["fields"]} <= {"input", "target", "info"}
    assert [each["key"] for each in inferred["left_out"]] == ["odd\x1b[31m"]
    lines = out.read_text("utf-8").splitlines()
    assert inferred["doubts"]
    assert all("# doubt: " in lines[each["line"] - 1] for each in inferred["doubts"])
    assert len(inferred["doubts"]) == out.read_text("utf-8").count("# doubt: ")


def test_a_refusal_is_a_finding(animals: Path, tmp_path: Path) -> None:
    """As of every command."""
    (out := tmp_path / "animal.py").touch()
    result = run("infer", animals, "--out", out, "--format", "json")
    assert (result.exit_code, result.stderr) == (2, "")
    found = json.loads(result.stdout)
    Draft202012Validator(FINDINGS).validate(found)
    assert [each["rule"] for each in found["findings"]] == ["SG404"]


@pytest.mark.parametrize("seal", [False, True])
def test_adopt_prints_its_steps(
    animals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seal: bool
) -> None:
    """The schema, the code, the findings, the manifest, and what the code reads."""
    (root := tmp_path / "project").mkdir()
    monkeypatch.chdir(root)
    options = ["--seal"] * seal
    found = steps("adopt", animals, "--out", "schemas/animal.py", *options)
    names = {"version", "inferred", "generated", "checked", "read"}
    assert found.keys() == names | ({"sealing"} if seal else set())
    assert found["inferred"]["path"] == "schemas/animal.py"
    assert "pyproject.toml" in found["generated"]["written"]
    assert "animal/parser.py" in found["generated"]["plan"]
    assert found["generated"]["project"] == str(root)
    verification = found["checked"]["verification"]
    Draft202012Validator(FINDINGS).validate(verification)
    assert [each["records"] for each in verification["splits"]] == [40]
    assert (found["read"]["records"], found["read"]["problem"]) == (10, "")
    assert {"name", "dtype", "shape"} == found["read"]["features"][0].keys()
    if seal:
        [sealed] = found["sealing"]["sealed"]
        assert sealed["splits"] == {"train": 40}


def test_export_prints_the_files(tmp_path: Path) -> None:
    """With the tool that reads them."""
    from digit_rows import rows

    data, out = tmp_path / "digits", tmp_path / "croissant.json"
    write_dataset(rows(4), data, "train")
    arguments = ("digit", "--to", "croissant", "--data", data, "--out", out)
    found = steps("export", *arguments, "--project", CHECKOUT)
    assert found == {
        "version": 1,
        "exported": {
            "target": "croissant",
            "files": [str(out)],
            "notes": found["exported"]["notes"],
        },
    }
    assert out.exists()
