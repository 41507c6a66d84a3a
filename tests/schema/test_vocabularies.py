"""Vocabularies: files of class names next to a schema file."""

from __future__ import annotations

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
    text = (root / "generated" / "pet" / "serializer.py").read_text(encoding="utf-8")
    return text.split("CLASSES")[1].split("\n}")[0]


@pytest.mark.parametrize(
    "breeds",
    [
        "pug\nłajka\ntoy poodle\n".encode(),
        "pug\nłajka\ntoy poodle".encode(),
        "pug\r\nłajka\r\ntoy poodle\r\n".encode(),
        b"\xef\xbb\xbf" + "pug\nłajka\ntoy poodle\n".encode(),
    ],
    ids=["lines", "no last line end", "CRLF", "byte order mark"],
)
def test_a_line_is_a_class(tmp_path: Path, breeds: bytes) -> None:
    """The names stand in the generated code, in the order of their lines."""
    found = classes(project(tmp_path, breeds))
    assert '"breed": ("pug", "łajka", "toy poodle")' in found
    assert '"traits": ("shy", "loud")' in found


def test_only_line_ends_end_a_name(tmp_path: Path) -> None:
    """Spaces around a name and unusual separators inside it are kept: ids depend on it."""
    found = classes(project(tmp_path, " pug\na\u2028b\n".encode()))
    assert r'(" pug", "a\u2028b")' in found


def test_another_file_makes_the_code_out_of_date(tmp_path: Path) -> None:
    """`check` reads the file again, and what is generated follows it."""
    root = project(tmp_path, b"pug\n")
    classes(root)
    assert run("check", "--project", root).exit_code == 0
    (root / "schemas" / "breeds.txt").write_bytes(b"pug\nbeagle\n")
    result = run("check", "--project", root)
    assert result.exit_code == 1
    assert "generated/pet (6 files)" in result.output
    assert "beagle" in classes(root)


# the file, what was found, what is expected
WRONG = [
    (b"pug\n\nbeagle\n", "line 2 is empty", "a name a line"),
    (b"pug\n  \n", "line 2 is empty", "a name a line"),
    (b"pug\nbeagle\n\n", "line 3 is empty", "a name a line"),
    (b"pug\nbeagle\npug\n", "'pug' in line 3 and in line 1", "each name once"),
    (b"", "the file is empty", "a name a line"),
    (b"pug\nb\xe9agle\n", "line 2 is not UTF-8", "UTF-8 text"),
]


@pytest.mark.parametrize(("breeds", "found", "expected"), WRONG)
def test_a_line_that_is_no_class_is_named(
    tmp_path: Path, breeds: bytes, found: str, expected: str
) -> None:
    """What is wrong with the file is a finding at the field, with the line's number."""
    (finding,) = refusals(project(tmp_path, breeds))
    assert finding["rule"] == "SG113"
    assert finding["message"].startswith("Pet.breed: Label cannot have vocabulary=")
    assert found in finding["found"]
    assert finding["expected"].startswith(expected)


def test_a_missing_file_is_named_with_its_path(tmp_path: Path) -> None:
    """The finding says where it was looked for."""
    root = project(tmp_path, b"")
    (root / "schemas" / "breeds.txt").unlink()
    (finding,) = refusals(root)
    assert str(root / "schemas" / "breeds.txt") in finding["found"]


def test_the_names_have_to_fit_what_the_type_says(tmp_path: Path) -> None:
    """A Literal next to a vocabulary has its names, and a number of classes its count."""
    schema = PET.replace("Annotated[str, Label(", 'Annotated[Literal["pug"], Label(')
    schema = schema.replace("import Annotated", "import Annotated, Literal")
    assert refusals(project(tmp_path / "a", b"pug\nbeagle\n", schema))
    assert '"pug"' in classes(project(tmp_path / "b", b"pug\n", schema))
    counted = PET.replace('breeds.txt"', 'breeds.txt", num_classes=2')
    (finding,) = refusals(project(tmp_path / "c", b"pug\n", counted))
    assert finding["found"] == "num_classes=2 and 1 classes"


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


def test_records_know_their_vocabularies(imported: Any) -> None:
    """A path begins at the file of the class that declares the field, base or nested."""
    row = {"breed": "beagle", "colour": "blue", "tag": {"name": "pug"}}
    ball = imported(**row, others=["pug", 1])
    assert ball.breed == "beagle"
    assert ball.others == ["pug", "beagle"]
    assert ball.colour == 2
    assert ball.tag.name == 0
    for wrong in ({"breed": "red"}, {"colour": "pug"}, {"tag": {"name": "red"}}):
        with pytest.raises(ValidationError, match="a class id from 0 to"):
            imported(**{**row, **wrong})


def test_bases_and_nested_models_generate(tmp_path: Path) -> None:
    """The generator looks for each file where the class stands that names it."""
    root = make_project(tmp_path, {})
    schemas = root / "schemas"
    (schemas / "kennel").mkdir(parents=True)
    (schemas / "kennel" / "names.txt").write_text("pug\nbeagle\n")
    (schemas / "kennel" / "_pets.py").write_text(
        f"{HEAD}class Tag(BaseModel):\n"
        '    name: Annotated[int, Label(vocabulary="names.txt")]\n'
    )
    (schemas / "names.txt").write_text("red\n")
    (schemas / "ball.py").write_text(
        f"{HEAD}from .kennel._pets import Tag\n\nclass Pet(Record):\n    tag: Tag\n"
        '    colour: Annotated[int, Label(vocabulary="names.txt")]\n'
    )
    found = classes(root)
    assert '"tag_name": ("pug", "beagle")' in found
    assert '"colour": ("red",)' in found
