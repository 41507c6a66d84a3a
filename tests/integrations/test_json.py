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
from command_line import make_project, run
from jsonschema import Draft202012Validator
from scratch import CHECKOUT, Repository, project_in

DOCS = CHECKOUT / "docs"
PAGE = (DOCS / "json-output.md").read_text(encoding="utf-8")
FINDINGS = json.loads((DOCS / "findings.schema.json").read_text(encoding="utf-8"))
RECORDS = json.loads((DOCS / "describe.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A generated project with the record Pet, committed."""
    return project_in(Repository(tmp_path))


def change_age(project: Path, to: str) -> None:
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


@pytest.mark.parametrize("name", ["data", "steps"])
def test_the_generated_schemas_are_up_to_date(name: str) -> None:
    """`python docs/generators/schemas.py NAME` prints what is committed."""
    printed = subprocess.run(
        [sys.executable, DOCS / "generators/schemas.py", name],
        capture_output=True,
        check=True,
    )
    assert (DOCS / f"{name}.schema.json").read_bytes() == printed.stdout


def test_findings_have_the_documented_shape(project: Path) -> None:
    """Each key is in the schema and on the page, and no other is; breaks have all, too."""
    breaking = ("breaking", "--against", "HEAD")
    for command, code in ((("check",), 0), (("generate",), 0), (breaking, 0)):
        result = run(*command, "--format", "json", "--project", project)
        assert (result.exit_code, result.stderr) == (code, "")
        assert valid(result.stdout, FINDINGS) == {"version": 1, "findings": []}
    change_age(project, to="float")
    for command in (("check",), breaking):
        result = run(*command, "--format", "json", "--project", project)
        assert result.exit_code == 1
        found = valid(result.stdout, FINDINGS)["findings"]
        assert "error" in {finding["severity"] for finding in found}
        for finding in found:
            for name, part in (("finding", finding), ("location", finding["location"])):
                definition = FINDINGS["$defs"][name]
                assert set(part) == set(definition["properties"])
                assert set(part) == set(definition["required"])
    table = PAGE.split("\n## Findings\n")[1]
    for key in (*finding, *finding["location"], "version", "findings"):
        assert re.search(rf"^\|[^|]*`{key}`", table, re.M), key


def test_the_page_shows_a_refusal_as_it_is(project: Path) -> None:
    """Key by key, in the order in which they are printed, also by `describe`."""
    change_age(project, to="dict[str, int]")
    [shown] = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    for command in ("check", "generate", "describe"):
        result = run(command, "--format", "json", "--project", project)
        assert (result.exit_code, result.stderr) == (2, "")
        assert valid(result.stdout, FINDINGS)
        assert result.stdout == shown


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("command", [["check", "--diff"], ["generate"], ["describe"]])
def test_stdout_is_nothing_but_json(project: Path, command: list[str]) -> None:
    """In a process of its own, with a schema that prints when it is imported."""
    change_age(project, to="float")
    path = project / "schemas/pets.py"
    path.write_text(path.read_text() + "\nprint('imported')\n")
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
