"""Templates of a project's own, in place of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import make_project, place, refusals, run

PET = """\
from schemagen import Record


class Pet(Record):
    \"\"\"A pet; it's ours.\"\"\"

    age: int
    name: str | None = None
"""

OWN = '[tool.schemagen]\ntemplates = "templates"\n'
MODULES = ("__init__", "fields", "serializer", "parser", "pipeline", "reader", "model")


def with_templates(root: Path, templates: dict[str, str]) -> Path:
    """Make a project with a record and these templates."""
    project = make_project(root / "project", {"pets.py": PET})
    (project / "pyproject.toml").write_text(OWN, encoding="utf-8")
    (project / "templates").mkdir()
    for name, text in templates.items():
        path = project / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return project


def listed(project: Path) -> dict[str, Any]:
    """What `schemagen templates` says, as data."""
    result = run("templates", "--project", project, "--format", "json")
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = json.loads(result.stdout)
    return data


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Our templates by their names."""
    data = listed(with_templates(tmp_path_factory.mktemp("ours"), {}))
    names = [each["name"] for each in data["templates"]]
    return {name: Path(data["directory"], name).read_text("utf-8") for name in names}


def generated(project: Path) -> dict[str, str]:
    """Generate, see that it is up to date then, and return the record's modules."""
    result = run("generate", "--project", project)
    assert result.exit_code == 0, result.output
    assert run("check", "--project", project).exit_code == 0
    package = project / "generated" / "pet"
    return {name: (package / f"{name}.py").read_text("utf-8") for name in MODULES}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The record's modules as our templates make them."""
    root = tmp_path_factory.mktemp("plain")
    return generated(make_project(root, {"pets.py": PET}))


# In place of ours


def test_a_file_replaces_ours_of_the_same_name(
    tmp_path: Path, plain: dict[str, str]
) -> None:
    """The others are ours, and what a template includes may have any name."""
    templates = {
        "__init__.py.jinja": '{% include "house/doc.jinja" %}',
        "house/doc.jinja": '{% import "house/words.jinja" as words %}{{ words.doc() }}',
        "house/words.jinja": '{% macro doc() %}"""Mine."""\n{% endmacro %}',
        "notes.md": "What we changed, and why.",
    }
    found = generated(with_templates(tmp_path, templates))
    assert found["__init__"].split("\n", 3)[3] == '"""Mine."""\n'
    assert found["parser"] == plain["parser"]


def test_a_kind_s_macros_can_be_replaced(tmp_path: Path, ours: dict[str, str]) -> None:
    """Templates of ours that use them get the project's."""
    text = ours["kinds/scalar.jinja"].replace(
        "{{ tensor.encoded(f) }}", "NotImplemented"
    )
    found = generated(with_templates(tmp_path, {"kinds/scalar.jinja": text}))
    assert "NotImplemented" in found["model"]


def test_a_template_can_extend_ours(tmp_path: Path, plain: dict[str, str]) -> None:
    """What is added stands at the end, and the rest is as before, macros included."""
    more = "{% block more %}\n\n\nMORE = 1\n{% endblock %}"
    templates = {
        f"{name}.py.jinja": f'{{% extends "schemagen/{name}.py.jinja" %}}{more}'
        for name in MODULES
    }
    found = generated(with_templates(tmp_path, templates))
    for name in MODULES:
        before = plain[name].split("\n", 2)[2]
        assert found[name].split("\n", 2)[2] == f"{before}\n\nMORE = 1\n"


def test_every_block_can_be_printed_as_it_was(
    tmp_path: Path, ours: dict[str, str], plain: dict[str, str]
) -> None:
    """Each block works by itself, also with the macros at the template's beginning."""
    templates = {}
    for module in MODULES:
        name = f"{module}.py.jinja"
        blocks = re.findall(r"^{% block (\w+)", ours[name], re.M)
        assert (blocks[0], blocks[-1]) == ("docstring", "more")
        again = "".join(
            f"{{% block {block} %}}{{{{ super() }}}}{{% endblock %}}"
            for block in blocks
        )
        templates[name] = f'{{% extends "schemagen/{name}" %}}{again}'
    assert generated(with_templates(tmp_path, templates)) == plain


# Errors of templates

# The second line of a template, and the error that it is
FAULTS = [
    ("{{ record.fieldz }}", "UndefinedError"),
    ("{{ macros(record.fields[0]).fetur() }}", "UndefinedError"),
    ("{{ record.spec.doc | proze }}", "TemplateAssertionError"),
    ("{% if %}", "TemplateSyntaxError"),
    ('{% include "schemagen/parser.py.jinj" %}', "TemplateNotFound"),
    ("{{ record.spec.doc | identifier }}", "ValueError"),
    ("{{ record.spec | literal }}", "TypeError"),
    ("{{ 1 / 0 }}", "ZeroDivisionError"),
    # What prints text that no filter of ours has made
    ("{{ record.spec.doc }}", "TypeError"),
    ("{{ record.spec.doc | safe }}", "TypeError"),
    ("{{ record.spec.doc | prose | upper }}", "TypeError"),
    ("{{ record.spec | tojson }}", "TypeError"),
    ('{{ "x = " ~ record.spec.doc }}', "TypeError"),
    ("{{ (record.spec.record | literal) + record.spec.doc }}", "TypeError"),
    ("{{ '%s' | format(record.spec.doc) }}", "TypeError"),
    ("{% set x %}{{ record.spec.doc }}{% endset %}", "TypeError"),
    ("{{ none }}", "TypeError"),
    ("{{ record.spec.no_such_name | literal }}", "UndefinedError"),
]


@pytest.mark.parametrize(("line", "error"), FAULTS)
def test_an_error_is_a_finding_at_its_line(
    tmp_path: Path, line: str, error: str
) -> None:
    """It has Jinja's message, and nothing is written."""
    project = with_templates(tmp_path, {"parser.py.jinja": f"{{# first #}}\n{line}\n"})
    [finding] = refusals(project)
    assert finding["rule"] == "SG411"
    assert finding["message"].startswith(f"{error}: ")
    assert place(finding) == "templates/parser.py.jinja:2:1"
    assert not (project / "generated").exists()


# Templates, the rule and the place of the finding; `None` is ours with a mistake.
MISPLACED = [
    (
        "parser.py.jinja",
        '{% import "schemagen/kinds/parts.jinja" as p %}\n\n{{ p.offset(1) }}\n',
        "SG411",
        "templates/parser.py.jinja:3:1",
    ),
    ("kinds/scalar.jinja", "{# - #}\n", "SG411", "templates"),
    ("parser.py.jinja", "x = 1\ny = (\n", "SG412", "templates/parser.py.jinja"),
    ("kinds/scalar.jinja", None, "SG412", "templates"),
]


@pytest.mark.parametrize(("name", "text", "rule", "at"), MISPLACED)
def test_an_error_is_placed_in_the_project_s_own_templates(
    tmp_path: Path,
    ours: dict[str, str],
    name: str,
    text: str | None,
    rule: str,
    at: str,
) -> None:
    """At the line that calls ours, or in their directory; also if no module comes out."""
    if text is None:
        text = ours[name].replace("{{ tensor.encoded(f) }}", "((")
    project = with_templates(tmp_path, {name: text})
    [finding] = refusals(project)
    assert (finding["rule"], place(finding)) == (rule, at)
    assert (" for pet/" in finding["message"]) == (rule == "SG412")
    assert not (project / "generated").exists()


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A mistyped directory would silently change nothing."""
    project = with_templates(tmp_path, {})
    (project / "pyproject.toml").write_text(OWN.replace('"templates"', '"tmplates"'))
    [finding] = refusals(project)
    assert (finding["rule"], place(finding)) == ("SG401", "pyproject.toml:2:1")


# The list


def test_the_list_says_which_templates_are_replaced(tmp_path: Path) -> None:
    """As data and as a table, in the order of the names."""
    project = with_templates(tmp_path, {"parser.py.jinja": "x = 1\n", "other": ""})
    data = listed(project)
    names = [each["name"] for each in data["templates"]]
    assert names == sorted(names)
    own = {each["name"]: each["own"] for each in data["templates"] if each["own"]}
    assert own == {"parser.py.jinja": "templates/parser.py.jinja"}
    lines = run("templates", "--project", project).stdout.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(names)]] == names
    assert data["directory"] in lines[-1]
    assert [line.split()[0] for line in lines if "templates/parser" in line] == [
        "parser.py.jinja"
    ]
