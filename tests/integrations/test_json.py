"""`--format json`: its documented shape, and nothing else on stdout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import schemagen
from command_line import make_project, run
from jsonschema import Draft202012Validator
from scratch import CHECKOUT, PET, Repository, project_in

DOCS = CHECKOUT / "docs"
PAGE = (DOCS / "json-output.md").read_text(encoding="utf-8")
FINDINGS = json.loads((DOCS / "findings.schema.json").read_text(encoding="utf-8"))
RECORDS = json.loads((DOCS / "describe.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A generated project with the record Pet."""
    root = make_project(tmp_path, {"pets.py": PET})
    schemagen.generate(root)
    return root


def break_schema(project: Path, to: str = "dict[str, int]") -> None:
    path = project / "schemas/pets.py"
    path.write_text(path.read_text().replace("age: int", f"age: {to}"))


def valid(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return JSON that a schema allows."""
    data: dict[str, Any] = json.loads(text)
    Draft202012Validator(schema).validate(data)
    return data


@pytest.mark.parametrize("schema", [FINDINGS, RECORDS])
def test_the_schemas_are_schemas(schema: dict[str, Any]) -> None:
    """By the rules of their draft."""
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("command", ["check", "generate"])
def test_a_clean_run_is_an_empty_list(project: Path, command: str) -> None:
    """Exit code 0."""
    result = run(command, "--format", "json", "--project", project)
    assert (result.exit_code, result.stderr) == (0, "")
    assert valid(result.stdout, FINDINGS) == {"version": 1, "findings": []}


def test_findings_have_the_documented_shape(project: Path) -> None:
    """Exit code 1; each key is in the schema and on the page, and no other is."""
    (project / "generated/pet/model.py").unlink()
    result = run("check", "--format", "json", "--project", project)
    assert result.exit_code == 1
    [finding] = valid(result.stdout, FINDINGS)["findings"]
    assert set(finding) == set(FINDINGS["$defs"]["finding"]["properties"])
    assert set(finding["location"]) == set(FINDINGS["$defs"]["location"]["properties"])
    table = PAGE.split("\n## Findings\n")[1]
    for key in (*finding, *finding["location"], "version", "findings"):
        assert re.search(rf"^\|[^|]*`{key}`", table, re.M), key
    for name in ("finding", "location"):
        definition = FINDINGS["$defs"][name]
        assert set(definition["required"]) == set(definition["properties"])


def test_breaks_have_the_same_shape(tmp_path: Path) -> None:
    """Every key of it."""
    root = project_in(Repository(tmp_path))
    command = ("breaking", "--against", "HEAD", "--format", "json", "--project", root)
    result = run(*command)
    assert result.exit_code == 0
    assert valid(result.stdout, FINDINGS)["findings"] == []
    break_schema(root, to="float")
    result = run(*command)
    assert result.exit_code == 1
    for finding in (found := valid(result.stdout, FINDINGS)["findings"]):
        assert set(finding) == set(FINDINGS["$defs"]["finding"]["properties"])
    assert "error" in {finding["severity"] for finding in found}


@pytest.mark.parametrize("command", ["check", "generate", "describe"])
def test_a_refusal_is_findings(project: Path, command: str) -> None:
    """Exit code 2: what stands against the request, also where records are asked for."""
    break_schema(project)
    result = run(command, "--format", "json", "--project", project)
    assert (result.exit_code, result.stderr) == (2, "")
    [finding] = valid(result.stdout, FINDINGS)["findings"]
    assert finding["rule"] == "SG111"


def test_the_page_shows_a_finding_as_it_is(project: Path) -> None:
    """Key by key, in the order in which they are printed."""
    break_schema(project)
    [shown] = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    result = run("check", "--format", "json", "--project", project)
    assert result.stdout == shown


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("command", [["check", "--diff"], ["generate"], ["describe"]])
def test_stdout_is_nothing_but_json(project: Path, command: list[str]) -> None:
    """In a process of its own, with a schema that prints when it is imported."""
    path = project / "schemas/pets.py"
    text = path.read_text().replace("age: int", "age: float")
    path.write_text(text + "\nprint('imported')\n")
    done = subprocess.run(
        [sys.executable, "-m", "schemagen", *command, "--format", "json"],
        cwd=project,
        env={"PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    valid(done.stdout, RECORDS if command == ["describe"] else FINDINGS)
    assert "imported" in done.stderr
    assert ("+++ b/generated/pet/parser.py" in done.stderr) == ("--diff" in command)


def test_records_have_the_documented_shape(tmp_path: Path) -> None:
    """Those of all public formats, which have fields of every sort."""
    schemas = CHECKOUT / "tests/formats/schemas"
    root = make_project(tmp_path / "formats", {})
    shutil.copytree(schemas, root / "schemas", dirs_exist_ok=True)
    result = run("describe", "--format", "json", "--project", root)
    records = valid(result.stdout, RECORDS)["records"]
    assert len(records) >= len(list(schemas.glob("*.py")))
    assert {record.get("message", "Example") for record in records} == {
        "Example",
        "SequenceExample",
    }
