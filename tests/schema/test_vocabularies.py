"""Vocabularies: files of class names next to a schema file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import make_project, refusals, run
from pydantic import ValidationError

HEAD = """\
from typing import Annotated
from pydantic import BaseModel
from schemagen import Label, MultiLabel, Record

"""

PET = f"""{HEAD}
class Pet(Record):
    breed: Annotated[str, Label(vocabulary="breeds.txt")]
    traits: Annotated[list[str], MultiLabel(vocabulary="lists/traits.txt")]
"""


def project(tmp_path: Path, breeds: bytes, schema: str = PET) -> Path:
    """Make a project with a schema and its vocabularies."""
    root = make_project(tmp_path, {"pet.py": schema})
    (root / "schemas" / "breeds.txt").write_bytes(breeds)
    (root / "schemas" / "lists").mkdir()
    (root / "schemas" / "lists" / "traits.txt").write_bytes(b"shy\nloud\n")
    return root


def classes(root: Path) -> str:
    """Generate, and return the names in the generated writer."""
    result = run("generate", "--project", root)
    assert result.exit_code == 0, result.output
    return (root / "generated" / "pet" / "fields.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "breeds",
    [
        " pug\nłajka\na\u2028b\n".encode(),
        " pug\nłajka\na\u2028b".encode(),
        " pug\r\nłajka\r\na\u2028b\r\n".encode(),
        b"\xef\xbb\xbf" + " pug\nłajka\na\u2028b\n".encode(),
    ],
    ids=["lines", "no last line end", "CRLF", "byte order mark"],
)
def test_a_line_is_a_class(tmp_path: Path, breeds: bytes) -> None:
    """The names stand in the generated code, in the order of their lines.

    Spaces around a name and unusual separators inside it are kept: ids depend on it.
    """
    found = classes(project(tmp_path, breeds))
    assert r'"breed": Label(classes=(" pug", "łajka", "a\u2028b")' in found
    assert '"traits": MultiLabel(classes=("shy", "loud")' in found


def test_another_file_makes_the_code_out_of_date(tmp_path: Path) -> None:
    """`check` reads the file again, and what is generated follows it."""
    root = project(tmp_path, b"pug\n")
    classes(root)
    assert run("check", "--project", root).exit_code == 0
    (root / "schemas" / "breeds.txt").write_bytes(b"pug\nbeagle\n")
    result = run("check", "--project", root)
    assert (result.exit_code, "SG302" in result.output) == (1, True)
    assert "beagle" in classes(root)


# The file, and what was found.
WRONG = [
    (b"pug\n\nbeagle\n", "line 2"),
    (b"pug\n  \n", "line 2"),
    (b"pug\nbeagle\n\n", "line 3"),
    (b"pug\nbeagle\npug\n", "line 3 is 'pug'"),
    (b"", ""),
    (b"pug\nb\xe9agle\n", "position 5"),
    (None, "schemas/breeds.txt"),
]


@pytest.mark.parametrize(("breeds", "found"), WRONG)
def test_a_line_that_is_no_class_is_named(
    tmp_path: Path, breeds: bytes | None, found: str
) -> None:
    """What is wrong with the file is a finding at the field, with the line's number."""
    root = project(tmp_path, breeds or b"")
    if breeds is None:
        (root / "schemas" / "breeds.txt").unlink()
    (finding,) = refusals(root)
    assert (finding["rule"], finding["location"]["line"]) == ("SG113", 7)
    assert finding["message"].startswith("Pet.breed: ")
    assert found in finding["found"]
    assert finding["expected"]


def test_the_names_have_to_fit_what_the_type_says(tmp_path: Path) -> None:
    """A Literal next to a vocabulary has its names, and a number of classes its count."""
    schema = PET.replace("Annotated[str, Label(", 'Annotated[Literal["pug"], Label(')
    schema = schema.replace("import Annotated", "import Annotated, Literal")
    assert refusals(project(tmp_path / "a", b"pug\nbeagle\n", schema))
    assert '("pug",)' in classes(project(tmp_path / "b", b"pug\n", schema))
    counted = PET.replace('breeds.txt"', 'breeds.txt", num_classes=2')
    assert refusals(project(tmp_path / "c", b"pug\n", counted))


@pytest.fixture
def imported(tmp_path: Path) -> Iterator[Any]:
    """Import two schema files as a user's program does, one in a folder of its own."""
    root = tmp_path / "own_schemas"
    (root / "base").mkdir(parents=True)
    (root / "base" / "names.txt").write_text("pug\nbeagle\n")
    (root / "base" / "pets.py").write_text(
        f"{HEAD}class _Pet(Record):\n"
        '    breed: Annotated[str, Label(vocabulary="names.txt")]\n'
        '    others: Annotated[list[str], MultiLabel(vocabulary="names.txt")] = []\n\n'
        "class Tag(BaseModel):\n"
        '    name: Annotated[int, Label(vocabulary="names.txt")]\n'
    )
    (root / "names.txt").write_text("red\ngreen\nblue\n")
    (root / "balls.py").write_text(
        f"{HEAD}from own_schemas.base.pets import Tag, _Pet\n\n"
        "class Ball(_Pet):\n"
        '    colour: Annotated[int, Label(vocabulary="names.txt")]\n'
        "    tag: Tag\n"
    )
    sys.path.insert(0, str(tmp_path))
    from own_schemas.balls import Ball  # type: ignore[import-not-found]

    yield Ball
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("own_schemas")]:
        del sys.modules[name]


def test_records_know_their_vocabularies(tmp_path: Path, imported: Any) -> None:
    """A path begins at the file of the class that declares the field, base or nested.

    The generator looks for it there, too.
    """
    row = {"breed": "beagle", "colour": "blue", "tag": {"name": "pug"}}
    ball = imported(**row, others=["pug", 1])
    assert ball.breed == "beagle"
    assert ball.others == ["pug", "beagle"]
    assert ball.colour == 2
    assert ball.tag.name == 0
    for wrong in ({"breed": "red"}, {"colour": "pug"}, {"tag": {"name": "red"}}):
        with pytest.raises(ValidationError):
            imported(**{**row, **wrong})

    root = make_project(tmp_path / "generator", {})
    shutil.copytree(tmp_path / "own_schemas", root / "schemas", dirs_exist_ok=True)
    ball = (root / "schemas/balls.py").read_text(encoding="utf-8")
    ball = ball.replace("own_schemas.base", ".base").replace("class Ball", "class Pet")
    (root / "schemas/balls.py").write_text(ball, encoding="utf-8")
    found = classes(root)
    assert '"breed": Label(classes=("pug", "beagle")' in found
    assert '"colour": Label(classes=("red", "green", "blue")' in found
    assert '"tag.name": Label(classes=("pug", "beagle")' in found
