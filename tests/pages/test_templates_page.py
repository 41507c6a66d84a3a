"""`docs/templates.md` is run: its files make what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import run

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "templates.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has followed the page to its end."""
    root = tmp_path_factory.mktemp("templates_page")
    assert run("init", root).exit_code == 0
    for name, text in BLOCK.findall(TEXT):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    generated = run("generate", "--project", root)
    assert generated.exit_code == 0, generated.output
    return root


def test_the_page_s_commands_work(project: Path) -> None:
    """Each `schemagen` line of the page ends with exit code 0."""
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL):
        for line in block.splitlines():
            words = line.split("#")[0].split()[1:]
            result = run(*words, "--project", project)
            assert result.exit_code == 0, result.output
    assert run("check", "--project", project).exit_code == 0


def test_the_added_function_is_in_every_parser(project: Path) -> None:
    """A block that is said again stands in the module, and the rest of it is ours."""
    text = (project / "generated/pet_photo/parser.py").read_text(encoding="utf-8")
    assert "def parse_example(" in text
    assert text.endswith("    return len(parse_example(serialized))\n")
    assert "of the 5 fields of pet_photo a record has" in text


def test_every_template_and_filter_is_on_the_page(project: Path) -> None:
    """What can be replaced and what can be printed is explained."""
    listed = json.loads(
        run("templates", "--project", project, "--format", "json").stdout
    )
    names = [each["name"] for each in listed["templates"]]
    for name in names:
        assert f"`{name}`" in TEXT or name.startswith("kinds/"), name
    for name in ("literal", "prose", "identifier", "indent(n)", "spaces(n)"):
        assert f"`{name}`" in TEXT, name
