"""The order of names in a Literal is the order of class ids, whatever typing caches."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Optional

from schemagen.use_cases.generate import describe

SCHEMA = """
from typing import Annotated, Literal

from schemagen import Label, Record


class First(Record):
    plain: Literal["cat", "dog"]
    nullable: Literal["cat", "dog"] | None = None
    annotated: Annotated[Literal["cat", "dog"], Label(key="a")]


class Second(Record):
    plain: Literal["dog", "cat"]
    nullable: Literal["dog", "cat"] | None = None
    annotated: Annotated[Literal["dog", "cat"], Label(key="a")]
"""


def classes_of(root: Path) -> dict[str, set[tuple[str, ...]]]:
    """Return the classes of all fields of each record."""
    return {
        spec.class_name: {tuple(field.kind.class_names or ()) for field in spec.fields}
        for spec in describe(root)
    }


def project(root: Path, text: str) -> Path:
    """Make a project of one schema file."""
    (root / "schemas").mkdir(parents=True)
    (root / "pyproject.toml").write_text("[tool.schemagen]\n", encoding="utf-8")
    (root / "schemas" / "pets.py").write_text(text, encoding="utf-8")
    return root


def test_records_with_the_same_classes_in_another_order_keep_their_own(
    tmp_path: Path,
) -> None:
    """Two records in one file, in every way to write a Literal."""
    assert classes_of(project(tmp_path / "one", SCHEMA)) == {
        "First": {("cat", "dog")},
        "Second": {("dog", "cat")},
    }


def test_a_later_load_sees_the_order_that_is_written_then(tmp_path: Path) -> None:
    """In one process, after a schema's classes have changed places."""
    other = SCHEMA.replace('"cat", "dog"', '"dog", "cat"', 3)
    classes_of(project(tmp_path / "before", SCHEMA))
    assert classes_of(project(tmp_path / "after", other))["First"] == {("dog", "cat")}


def test_outside_of_loading_literals_are_what_python_makes_them(
    tmp_path: Path,
) -> None:
    """Loading leaves typing as it was: the order does not count there."""
    classes_of(project(tmp_path / "one", SCHEMA))
    assert Literal["cat", "dog"] == Literal["dog", "cat"]
    assert hash(Literal["cat", "dog"]) == hash(Literal["dog", "cat"])
    assert Optional[Literal["cow", "pig"]] == Optional[Literal["pig", "cow"]]  # noqa: UP045
