"""Templates of a project's own: in place of ours, their errors, `list` and `eject`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import make_project, place, refusals, run, snapshot
from schemagen.codegen.templates.catalogue import original, our_names

PET = """\
from schemagen import Record


class Pet(Record):
    \"\"\"A pet; it's ours.\"\"\"

    age: int
    name: str | None = None
"""

SETTINGS = '[tool.schemagen]\nschemas = "schemas"\noutput = "generated"\n'
OWN = SETTINGS + 'templates = "templates"\n'


def with_templates(root: Path, templates: dict[str, str], more: str = "") -> Path:
    """Make a project with a record and these templates."""
    project = make_project(root / "project", {"pets.py": PET})
    (project / "pyproject.toml").write_text(OWN + more, encoding="utf-8")
    (project / "templates").mkdir()
    for name, text in templates.items():
        path = project / "templates" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return project


def generated(project: Path, name: str) -> str:
    """Generate, see that it is up to date then, and return a file of the record."""
    result = run("generate", "--project", project)
    assert result.exit_code == 0, result.output
    assert run("check", "--project", project).exit_code == 0
    return text_of(project, name)


def text_of(project: Path, name: str) -> str:
    """Return a file of the record, which has been generated."""
    return (project / "generated" / "pet" / name).read_text(encoding="utf-8")


# in place of ours


def test_a_template_stands_for_ours_of_the_same_name(tmp_path: Path) -> None:
    """The others are ours, and so is what they include."""
    project = with_templates(tmp_path, {"__init__.py.jinja": '"""Mine."""\n'})
    assert generated(project, "__init__.py").endswith('\n"""Mine."""\n')
    assert "def serialize(" in text_of(project, "serializer.py")


def test_a_kind_s_macros_can_be_overridden(tmp_path: Path) -> None:
    """Templates of ours that use them get the project's."""
    text = original("kinds/scalar.jinja").replace("{{ parts.fixed(f, ()) }}", "None")
    project = with_templates(tmp_path, {"kinds/scalar.jinja": text})
    assert '"age": None,' in generated(project, "parser.py")


MODULES = ("__init__", "serializer", "parser", "pipeline", "model")


def test_a_template_can_extend_ours(tmp_path: Path) -> None:
    """What is added stands at the end, and the rest is as before, macros included."""
    plain = make_project(tmp_path / "plain", {"pets.py": PET})
    more = "{% block more %}\n\n\nMORE = 1\n{% endblock %}"
    templates = {
        f"{name}.py.jinja": f'{{% extends "schemagen/{name}.py.jinja" %}}{more}'
        for name in MODULES
    }
    project = with_templates(tmp_path, templates)
    generated(plain, "parser.py")
    generated(project, "parser.py")
    for name in MODULES:
        before = text_of(plain, f"{name}.py").split("\n", 2)[2]
        after = text_of(project, f"{name}.py").split("\n", 2)[2]
        assert after == f"{before}\n\nMORE = 1\n"


def test_every_block_can_be_printed_as_it_was(tmp_path: Path) -> None:
    """Each block works by itself, also with the macros at the template's beginning."""
    plain = make_project(tmp_path / "plain", {"pets.py": PET})
    templates = {}
    for module in MODULES:
        name = f"{module}.py.jinja"
        lines = original(name).splitlines()
        blocks = [line.split()[2] for line in lines if line.startswith("{% block")]
        assert blocks[0] == "docstring"
        assert blocks[-1] == "more"
        again = "".join(
            f"{{% block {block} %}}{{{{ super() }}}}{{% endblock %}}"
            for block in blocks
        )
        templates[name] = f'{{% extends "schemagen/{name}" %}}{again}'
    project = with_templates(tmp_path, templates)
    generated(plain, "parser.py")
    generated(project, "parser.py")
    for module in MODULES:
        assert text_of(project, f"{module}.py") == text_of(plain, f"{module}.py")


def test_a_training_program_is_made_by_the_project_s_template(tmp_path: Path) -> None:
    """`init --train` writes what the project's template prints."""
    text = "RUN = {{ training.run | literal }}\n"
    project = with_templates(tmp_path, {"init/train.py.jinja": text})
    schema = project / "schemas" / "pets.py"
    schema.write_text(
        "from typing import Annotated\nfrom schemagen import Label, Record\n"
        "class Pet(Record):\n    age: int\n    breed: Annotated[int, Label(num_classes=2)]\n"
    )
    assert run("init", project, "--train", "pet").exit_code == 0
    assert (project / "train.py").read_text() == 'RUN = "runs/pet"\n'


def test_what_a_template_includes_is_no_stray(tmp_path: Path) -> None:
    """Parts may have any name, if something uses them."""
    templates = {
        "__init__.py.jinja": '{% include "house/doc.jinja" %}',
        "house/doc.jinja": '{% import "house/words.jinja" as words %}{{ words.doc() }}',
        "house/words.jinja": '{% macro doc() %}"""Mine."""\n{% endmacro %}',
        "notes.md": "What we changed, and why.",
        ".hidden": "",
    }
    project = with_templates(tmp_path, templates)
    assert generated(project, "__init__.py").endswith('"""Mine."""\n')


# what can be wrong with them


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("parsr.py.jinja", "parser.py.jinja"),
        ("parser.py", "parser.py.jinja"),
        ("kinds/images_.jinja", "kinds/images.jinja"),
        ("kind/text.jinja", "kinds/text.jinja"),
    ],
)
def test_a_mistyped_name_is_an_error(tmp_path: Path, name: str, near: str) -> None:
    """It would change nothing, and no one would know why."""
    [finding] = refusals(with_templates(tmp_path, {name: "x\n"}))
    assert finding["rule"] == "SG413"
    assert place(finding) == f"templates/{name}:1:1"
    assert finding["advice"] == f"did you mean '{near}'?"


def test_a_block_that_replaces_none_is_an_error(tmp_path: Path) -> None:
    """Jinja would leave it out silently; a block within a block is a new one."""
    text = (
        '{% extends "schemagen/parser.py.jinja" %}\n'
        "{% block more %}{% block inner %}\n\nMORE = 1\n{% endblock %}{% endblock %}\n"
    )
    project = with_templates(tmp_path, {"parser.py.jinja": text})
    assert "MORE = 1" in generated(project, "parser.py")
    path = project / "templates" / "parser.py.jinja"
    path.write_text(text + "{% block moer %}X = 1\n{% endblock %}\n", encoding="utf-8")
    [finding] = refusals(project)
    assert finding["rule"] == "SG413"
    assert place(finding) == "templates/parser.py.jinja:6:1"
    assert finding["message"] == (
        "parser.py.jinja has a block 'moer', and what it extends has none"
    )
    assert finding["advice"] == "did you mean 'more'?"


def test_a_template_that_nothing_uses_is_a_warning(tmp_path: Path) -> None:
    """An output may have been taken out for a day."""
    project = with_templates(tmp_path, {"zebra.sql.jinja": "x\n"})
    result = run("generate", "--project", project)
    assert result.exit_code == 0
    result = run("check", "--project", project)
    assert result.exit_code == 0
    assert (
        "templates/zebra.sql.jinja:1:1: SG413 warning: schemagen has" in result.stderr
    )
    data = json.loads(run("check", "--project", project, "--format", "json").stdout)
    assert [finding["severity"] for finding in data["findings"]] == ["warning"]


PLAIN = "which is plain text: it might be read as code"
FILTERS = "a filter makes data of it: | literal, | identifier, | prose"

# a template's second line, what is wrong
FAULTS = [
    (
        "{{ record.fieldz }}",
        "RecordView has no attribute 'fieldz'; did you mean 'fields'?",
    ),
    (
        "{% if record.fields[0].shap %}{% endif %}",
        "ScalarView has no attribute 'shap'; did you mean 'shape'?",
    ),
    (
        "{{ record.spec.dok | prose }}",
        "RecordSpec has no attribute 'dok'; did you mean 'doc'?",
    ),
    (
        "{{ record.spec.recrod | literal }}",
        "RecordSpec has no attribute 'recrod'; did you mean 'record'?",
    ),
    ("{{ recrod.fields }}", "'recrod' is not defined; did you mean 'record'?"),
    ("{{ zzz }}", "'zzz' is not defined"),
    (
        "{{ macros(record.fields[0]).fetur() }}",
        "kinds/scalar.jinja has no macro 'fetur'; did you mean 'feature'?",
    ),
    (
        "{{ record.spec.doc }}",
        f"""this prints "A pet; it's ours.", {PLAIN}; {FILTERS}""",
    ),
    (
        '{{ "x = " ~ record.spec.doc }}',
        f"""this prints "x = A pet; it's ours.", {PLAIN}; {FILTERS}""",
    ),
    (
        "{{ (record.spec.record | literal) + record.spec.doc }}",
        f"""this prints '"pet"A pet; it\\'s ours.', {PLAIN}; {FILTERS}""",
    ),
    (
        "{{ [record.spec.record | literal, record.spec.doc] | join }}",
        f"""this prints '"pet"A pet; it\\'s ours.', {PLAIN}; {FILTERS}""",
    ),
    (
        "{{ '%s' | format(record.spec.doc) }}",
        f"""this prints "A pet; it's ours.", {PLAIN}; {FILTERS}""",
    ),
    (
        "{{ (record.spec.record | literal) | replace('pet', record.spec.doc) }}",
        f"""this prints '"A pet; it\\'s ours."', {PLAIN}; {FILTERS}""",
    ),
    ("{{ record.sequence }}", f"this prints False, a bool, as it is; {FILTERS}"),
    ("{{ none }}", f"this prints None, a NoneType, as it is; {FILTERS}"),
    (
        "{{ record.spec.doc | proze }}",
        "there is no filter 'proze'; did you mean 'prose'?",
    ),
    ("{{ record.spec.doc | safe }}", "there is no filter 'safe'"),
    ("{{ record.spec.doc | e }}", "there is no filter 'e'"),
    (
        "{% if 1 is evenn %}{% endif %}",
        "there is no test 'evenn'; did you mean 'even'?",
    ),
    ("{% if %}", "Expected an expression, got 'end of statement block'"),
    ("{% for x in y %}", "Unexpected end of template."),
    ("{{ 'open }}", "unexpected char"),
    (
        '{% include "schemagen/parser.py.jinj" %}',
        "there is no template 'schemagen/parser.py.jinj'; did you mean "
        "'schemagen/parser.py.jinja'?",
    ),
    ("{{ record.spec.doc | identifier }}", "ValueError: not an identifier: "),
    ("{{ record.spec | literal }}", "TypeError: no literal for a RecordSpec"),
    ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
]


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(("line", "message"), FAULTS)
def test_errors_name_template_and_line(tmp_path: Path, line: str, message: str) -> None:
    """Each is a finding, and nothing is written."""
    project = with_templates(tmp_path, {"parser.py.jinja": f"{{# first #}}\n{line}\n"})
    [finding] = refusals(project)
    assert finding["rule"] == "SG411"
    assert finding["message"].startswith(message)
    assert place(finding) == "templates/parser.py.jinja:2:1"
    assert finding["location"]["source"] == line
    assert "schemagen templates list" in finding["advice"]
    assert not (project / "generated").exists()


def test_an_error_in_a_part_of_ours_is_named_where_it_is(tmp_path: Path) -> None:
    """An override that lacks a macro is felt in a template of ours."""
    project = with_templates(tmp_path, {"kinds/scalar.jinja": "{# nothing #}\n"})
    findings = refusals(project)
    assert findings[0]["location"]["path"].startswith("schemagen/")
    assert findings[0]["message"].startswith("kinds/scalar.jinja has no macro '")


def test_a_wrong_call_of_ours_is_named_where_it_stands(tmp_path: Path) -> None:
    """The line is that of the project's template, not of the macro that it calls."""
    text = (
        '{% import "schemagen/kinds/parts.jinja" as parts %}\n\n{{ parts.offset(1) }}\n'
    )
    [finding] = refusals(with_templates(tmp_path, {"parser.py.jinja": text}))
    assert place(finding) == "templates/parser.py.jinja:3:1"
    assert finding["message"] == "int has no attribute 'spec'"


def test_all_templates_are_judged_in_one_run(tmp_path: Path) -> None:
    """Errors of several templates come together, each once for all records."""
    templates = {"parser.py.jinja": "{{ nix }}", "model.py.jinja": "{{ nix }}"}
    project = with_templates(tmp_path, templates)
    (project / "schemas" / "more.py").write_text(PET.replace("Pet(", "Cat("))
    assert [place(finding) for finding in refusals(project)] == [
        "templates/model.py.jinja:1:1",
        "templates/parser.py.jinja:1:1",
    ]


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("x = 1\ny = (\n", 4, "y = ("),
        ("def {{ record.spec.record | literal }}(): ...\n", 3, 'def "pet"(): ...'),
        ("  x = 1\n", 3, "x = 1"),
    ],
)
def test_what_is_no_python_is_shown(
    tmp_path: Path, text: str, line: int, found: str
) -> None:
    """The finding has the template, the line of what it printed, and its text."""
    [finding] = refusals(with_templates(tmp_path, {"parser.py.jinja": text}))
    assert finding["rule"] == "SG412"
    assert finding["location"]["path"] == "templates/parser.py.jinja"
    start = "parser.py.jinja prints no valid Python for pet/parser.py: "
    assert finding["message"].startswith(f"{start}line {line}: ")
    assert finding["found"] == found


def test_a_part_that_makes_no_python_is_looked_for(tmp_path: Path) -> None:
    """Where the template is ours, what is wrong is what the project has of its parts."""
    text = original("kinds/scalar.jinja").replace("{{ parts.fixed(f, ()) }}", "((")
    findings = refusals(with_templates(tmp_path, {"kinds/scalar.jinja": text}))
    assert findings[0]["location"]["path"] == "schemagen/parser.py.jinja"
    assert "with what templates has of its parts" in findings[0]["message"]


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A mistyped directory would silently change nothing."""
    project = make_project(tmp_path, {"pets.py": PET})
    (project / "pyproject.toml").write_text(OWN.replace('"templates"', '"tmplates"'))
    [finding] = refusals(project)
    assert finding["rule"] == "SG401"
    assert finding["message"] == "there is no directory tmplates"
    assert place(finding) == "pyproject.toml:4:1"


# list and eject


def test_the_list_has_every_template(tmp_path: Path) -> None:
    """Each with what it makes, its type, and the project's own in its place."""
    more = (
        '[[tool.schemagen.outputs]]\ntemplate = "x.sql.jinja"\n'
        'path = "generated/x.sql"\nper = "project"\n'
    )
    templates = {"parser.py.jinja": "x = 1\n", "x.sql.jinja": "SELECT 1;\n"}
    project = with_templates(tmp_path, templates, more)
    result = run("templates", "list", "--project", project)
    assert result.exit_code == 0
    rows = [line.split("  ") for line in result.stdout.splitlines()]
    assert [row[0].strip() for row in rows[1:-1]] == list(our_names())
    [line] = [row for row in result.stdout.splitlines() if row.startswith("parser.py")]
    assert "generated/<record>/parser.py" in line
    assert "RecordView, schemagen/codegen/record_view.py" in line
    assert line.endswith("templates/parser.py.jinja")
    assert rows[-1][0] == "templates/x.sql.jinja"
    assert "ProjectView" in result.stdout.splitlines()[-1]
    shown = run("templates", "list", "--project", project, "--format", "json").stdout
    data = json.loads(shown)
    assert data["version"] == 1
    [entry] = [e for e in data["templates"] if e["own"]]
    assert entry == {
        "name": "parser.py.jinja",
        "makes": "generated/<record>/parser.py",
        "context": {
            "type": "RecordView",
            "name": "record",
            "module": "schemagen/codegen/record_view.py",
        },
        "own": "templates/parser.py.jinja",
        "changed": False,
    }
    assert data["outputs"] == [
        {
            "template": "templates/x.sql.jinja",
            "makes": "generated/x.sql",
            "per": "project",
        }
    ]


def test_ejected_templates_make_what_the_originals_make(tmp_path: Path) -> None:
    """Copies change nothing until their user does."""
    project = make_project(tmp_path, {"pets.py": PET})
    assert run("generate", "--project", project).exit_code == 0
    for name in our_names():
        result = run("templates", "eject", name, "--project", project)
        assert result.exit_code == 0
        assert f"wrote templates/{name}\n" in result.stdout
        text = (project / "templates" / name).read_text(encoding="utf-8")
        first, second, rest = text.split("\n", 2)
        assert f"{first}\n{rest}" == original(name)
        assert second.startswith("{#- ejected from schemagen: original=")
    result = run("check", "--project", project)
    assert result.exit_code == 0
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SETTINGS, '[tool.schemagen]\ntemplates = "templates"\nschemas'),
        (
            "# [x]\r\n[tool.schemagen]\r\n",
            '[tool.schemagen]\r\ntemplates = "templates"\r\n',
        ),
        (
            "[tool.schemagen] # ours\n",
            '[tool.schemagen] # ours\ntemplates = "templates"\n',
        ),
        ("[tool.schemagen]", '[tool.schemagen]\ntemplates = "templates"\n'),
    ],
)
def test_eject_adds_the_setting(tmp_path: Path, before: str, after: str) -> None:
    """It is one line more, and the rest of the file stays as it is."""
    project = make_project(tmp_path, {"pets.py": PET})
    (project / "pyproject.toml").write_bytes(before.encode())
    result = run("templates", "eject", "parser.py.jinja", "--project", project)
    assert 'added templates = "templates" to [tool.schemagen]\n' in result.stdout
    assert after in (project / "pyproject.toml").read_bytes().decode()
    assert run("generate", "--project", project).exit_code == 0


@pytest.mark.parametrize(
    "text", ["# [tool.schemagen]\n[tool.schemagen]\n", "tool = {schemagen = {}}\n"]
)
def test_eject_says_what_to_add_where_it_cannot(tmp_path: Path, text: str) -> None:
    """Settings that are written in another way are left alone."""
    project = make_project(tmp_path, {"pets.py": PET})
    (project / "pyproject.toml").write_text(text)
    result = run("templates", "eject", "parser.py.jinja", "--project", project)
    assert result.exit_code == 0
    assert 'Next: add templates = "templates" to [tool.schemagen]' in result.stdout
    assert (project / "pyproject.toml").read_text() == text


def test_eject_overwrites_nothing(tmp_path: Path) -> None:
    """What is there is the user's."""
    project = with_templates(tmp_path, {"parser.py.jinja": "x = 1\n"})
    before = snapshot(project)
    result = run("templates", "eject", "parser.py.jinja", "--project", project)
    assert result.exit_code == 2
    assert "SG404 templates/parser.py.jinja exists, and is yours" in result.stderr
    assert snapshot(project) == before


@pytest.mark.parametrize("name", ["parse.py.jinja", "../x", "init/pet_photo.py", "zzz"])
def test_eject_knows_its_templates(tmp_path: Path, name: str) -> None:
    """Another name is refused with the nearest."""
    project = make_project(tmp_path, {"pets.py": PET})
    before = snapshot(project)
    result = run("templates", "eject", name, "--project", project)
    assert result.exit_code == 2
    assert f"SG416 schemagen has no template '{name}'" in result.stderr
    assert ("did you mean 'parser.py.jinja'?" in result.stderr) == (name[0] == "p")
    assert snapshot(project) == before


def test_eject_that_cannot_write_says_so(tmp_path: Path) -> None:
    """A file in the way of the directory is a finding."""
    project = make_project(tmp_path, {"pets.py": PET})
    (project / "templates").write_text("")
    result = run("templates", "eject", "kinds/text.jinja", "--project", project)
    assert result.exit_code == 2
    assert "SG403 templates/kinds/text.jinja cannot be written" in result.stderr


def test_a_changed_original_is_a_warning(tmp_path: Path) -> None:
    """`check` and `list` tell whose copy is of an older version; no run fails."""
    project = make_project(tmp_path, {"pets.py": PET})
    run("templates", "eject", "parser.py.jinja", "--project", project)
    path = project / "templates" / "parser.py.jinja"
    text = path.read_text(encoding="utf-8")
    mark = text.split("original=")[1][:16]
    path.write_text(text.replace(mark, "0123456789abcdef"), encoding="utf-8")
    result = run("generate", "--project", project)
    assert result.exit_code == 0
    warning = (
        "templates/parser.py.jinja:1:1: SG415 warning: schemagen's own parser.py.jinja "
        "has changed since templates/parser.py.jinja was ejected"
    )
    assert warning in result.stderr
    result = run("check", "--project", project)
    assert result.exit_code == 0
    assert warning in result.stderr
    shown = run("templates", "list", "--project", project).stdout
    assert "templates/parser.py.jinja, ejected from an older version" in shown
