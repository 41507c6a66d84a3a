"""Fields of classes: their names and ids, and vocabularies that list the names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field

from ..runtime.shared.errors import Problem
from .kind import Kind, Role
from .parameters import Count, Name, Size, seldom

if TYPE_CHECKING:
    from .mask import Mask

Stored = Literal["id", "text"]
Names = Annotated[
    tuple[Name, ...],
    Field(description="a tuple of non-empty texts, such as ('beagle', 'pug')"),
]
Renamed = Annotated[
    tuple[tuple[Name, Name], ...] | dict[str, str],
    Field(description="a dict from former names to those of today"),
]


@dataclass(frozen=True)
class Classes(Kind):
    """A field that holds one or several of a fixed number of classes.

    Attributes:
        classes: the classes' names in the order of their ids.
        num_classes: how many classes there are, if they have no names.
        vocabulary: a file of the names, one a line, in the order of their ids; its
            path from the directory of the schema file. Read when generating.
        offset: what is added to a class id where it is stored; 1 for files that
            count classes from 1. Rows and batches count from 0 in any case.
        stored: "id", or "text" for the class's name itself, as UTF-8.
        renamed: from the names that classes had in earlier data to those of today.
    """

    classes: Names | None = ()
    num_classes: Size | None = None
    vocabulary: Name | None = seldom(None)
    offset: Count = seldom(0)
    stored: Stored = seldom("id")
    renamed: Renamed = seldom(())

    marks_missing: ClassVar[bool] = True

    @property
    def default_role(self) -> Role:
        return "target"

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.classes) if self.classes else self.num_classes or 0

    def settled(self, name: str) -> Self:
        return replace(
            super().settled(name),
            classes=self.class_names,
            num_classes=self.count,
            vocabulary=None,
        )

    def in_file(self, directory: Path | None) -> Self:
        if self.classes or not isinstance(self.vocabulary, str):
            return self
        names = read_vocabulary(self.vocabulary, directory)
        return replace(self, classes=names, vocabulary=None)

    def rules(self) -> Iterator[Problem]:
        if self.classes and self.vocabulary:
            yield Problem("classes and vocabulary", "one or the other")
        if not (self.classes or self.vocabulary or self.num_classes):
            yield Problem(
                "no classes",
                "classes=('beagle', 'pug'), num_classes=2 or vocabulary='names.txt'",
            )
        yield from class_name_problems(self)
        named = self.classes or self.vocabulary
        if self.stored == "text" and (self.offset or self.renamed or not named):
            yield Problem(
                "stored='text' with an offset, renamed, or no names",
                "names of the classes, and no ids: the file holds the names",
            )


def class_name_problems(kind: Classes | Mask) -> Iterator[Problem]:
    """Yield what is wrong with the names of classes, and with their former names."""
    names = kind.classes or ()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        yield Problem(f"the class {twice!r} twice", "each name once")
    if names and kind.num_classes not in (None, len(names)):
        yield Problem(
            f"num_classes={kind.num_classes} and {len(names)} classes",
            "one or the other",
        )
    renamed = dict(kind.renamed)
    if renamed.keys() & set(names) or not set(renamed.values()) <= set(names):
        yield Problem(
            f"renamed={renamed!r}",
            "a dict from names that are not in `classes` to names that are",
        )


def read_vocabulary(vocabulary: str, directory: Path | None) -> tuple[str, ...]:
    """Read the names of classes, in the order of their ids.

    The file is UTF-8; lines end with LF or CRLF, the last one with or without. No
    other character ends a line, and none is taken off a name.

    Args:
        vocabulary: the file's path.
        directory: where that path begins: the directory of the schema file.

    Raises:
        Problem: no such file, another encoding, or a line that is not a new name.
    """
    given = f"vocabulary={vocabulary!r}"
    if directory is None or Path(vocabulary).is_absolute():
        raise Problem(given, "a path from the directory of the schema file")
    path = directory / vocabulary
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:  # not UTF-8; a path may have a null byte
        reason = getattr(error, "strerror", None) or str(error)
        expected = "a UTF-8 file of names, one a line, next to the schema file"
        raise Problem(f"{given}: {path}: {reason}", expected) from None
    names: dict[str, None] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        name = line.removesuffix("\r")
        if not name.strip() or name in names:
            expected = "a name a line, each once: line n is the class n - 1"
            raise Problem(f"{given}: line {number} is {name!r}", expected)
        names[name] = None
    return tuple(names)
