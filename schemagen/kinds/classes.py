"""Fields of classes: their names and ids, and vocabularies that list the names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from ..runtime.shared.errors import Problem
from .kind import Kind, Role
from .parameters import (
    choice_problems,
    declared_only,
    is_positive,
    is_utf8,
    names_of_classes,
    seldom,
)

Stored = Literal["id", "text"]
Renamed = dict[str, str] | tuple[tuple[str, str], ...]


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

    classes: tuple[str, ...] | None = names_of_classes(seldom=False)
    num_classes: int | None = None
    vocabulary: str | None = declared_only(None)
    offset: int = seldom(0)
    stored: Stored = seldom("id")
    renamed: Renamed = seldom(())

    @property
    def default_role(self) -> Role:
        return "target"

    @property
    def marks_missing(self) -> bool:
        return True

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.classes) if self.classes else self.num_classes or 0

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes; empty if they have none."""
        return self.classes or ()

    def settled(self, name: str) -> Self:
        return replace(
            super().settled(name),
            classes=self.class_names,
            num_classes=self.count,
            vocabulary=None,
        )

    def in_file(self, name: str, directory: Path | None) -> Self:
        if self.classes is not None or any(path_problems(self.vocabulary)):
            return self
        if self.vocabulary is None:
            return self
        names = read_vocabulary(self.vocabulary, directory)
        return replace(self, classes=names, vocabulary=None)

    def problems(self) -> Iterator[Problem]:
        yield from path_problems(self.vocabulary)
        if self.classes is not None and self.vocabulary is not None:
            yield Problem(
                f"classes and vocabulary={self.vocabulary!r}", "one or the other"
            )
        yield from self._class_problems()
        yield from self._storage_problems()

    def misfit(self, python_type: Any) -> Problem:
        found = super().misfit(python_type)
        if not replace(self, classes=("name",)).accepts(python_type):
            return found
        ids = found.found.replace("str", "int")
        return Problem(
            found.found,
            f"{ids}, because the classes have no names",
            f"annotate {ids}, or name the classes: classes=('beagle', 'pug')",
        )

    def _class_problems(self) -> Iterator[Problem]:
        if self.classes is None:
            if self.vocabulary is None and not is_positive(self.num_classes):
                given = self.num_classes
                yield Problem(
                    "no classes"
                    if given is None
                    else f"num_classes={given!r} and no classes",
                    "classes=('beagle', 'pug'), num_classes=2 or vocabulary='names.txt'",
                )
            return
        names: object = self.classes
        if type(names) is int:
            yield Problem(
                f"classes={names}",
                "a tuple of names",
                f"write num_classes={names} for classes without names",
            )
            return
        yield from class_name_problems(self.classes, self.num_classes)

    def _storage_problems(self) -> Iterator[Problem]:
        yield from choice_problems("stored", self.stored, ("id", "text"))
        if type(self.offset) is not int or self.offset < 0:
            yield Problem(
                f"offset={self.offset!r}",
                "0 or a positive int, such as 1 for ids from 1 on",
            )
        elif type(self.count) is int and self.offset + self.count > 2**63:
            yield Problem(f"offset={self.offset}", "ids that int64 can hold")
        if self.stored != "text":
            yield from renaming_problems(self.renamed, self.classes)
            return
        if self.renamed:
            yield Problem("renamed with stored='text'", "ids in the file")
        if self.classes is None and self.vocabulary is None:
            yield Problem(
                "stored='text' and no classes",
                "classes=('name', ...) or vocabulary='names.txt'",
                "the file holds the names, so they have to be known",
            )
        if self.offset:
            yield Problem(
                f"offset={self.offset!r} with stored='text'",
                "offset=0: there are no ids in the file",
            )


def class_name_problems(classes: object, num_classes: object) -> Iterator[Problem]:
    """Yield what is wrong with the names of classes.

    Args:
        classes: the names that are given.
        num_classes: how many are said to be there; None if that is not said.
    """
    if not isinstance(classes, tuple) or not classes:
        one = "a tuple of one has a comma: ('name',)"
        advice = one if isinstance(classes, str) else ""
        yield Problem(f"classes={classes!r}", "a tuple of names", advice)
        return
    strange = [c for c in classes if not isinstance(c, str) or not c]
    if strange:
        advice = (
            f"write the names as text, such as {str(strange[0])!r}, and pass str(value); "
            f"or declare num_classes={len(classes)}, and pass ids that count from 0"
        )
        yield Problem(
            f"the class {strange[0]!r}",
            "a non-empty str",
            advice if type(strange[0]) is int else "",
        )
    elif len(set(classes)) < len(classes):
        twice = next(c for c in classes if classes.count(c) > 1)
        yield Problem(f"the class {twice!r} twice", "each name once")
    elif not all(map(is_utf8, classes)):
        broken = next(c for c in classes if not is_utf8(c))
        yield Problem(f"the class {broken!r}", "text that UTF-8 can hold")
    if num_classes is not None and (
        type(num_classes) is not int or num_classes != len(classes)
    ):
        yield Problem(
            f"num_classes={num_classes!r} and {len(classes)} classes",
            "one or the other",
        )


def renaming_problems(renamed: Any, classes: Any) -> Iterator[Problem]:
    """Yield what is wrong with the former names of classes."""
    names = set(classes or ())
    if not all(old not in names and new in names for old, new in renamed):
        yield Problem(
            f"renamed={dict(renamed)!r}",
            "a dict from names that are not in `classes` to names that are",
        )


def path_problems(vocabulary: object) -> Iterator[Problem]:
    """Yield what is wrong with the path of a vocabulary, its file apart."""
    if vocabulary is None:
        return
    if not isinstance(vocabulary, str) or not vocabulary:
        yield Problem(f"vocabulary={vocabulary!r}", "a path such as 'names.txt'")
    elif Path(vocabulary).is_absolute():
        yield Problem(
            f"vocabulary={vocabulary!r}",
            "a path from the schema file's directory, the same on every machine",
        )


def read_vocabulary(vocabulary: str, directory: Path | None) -> tuple[str, ...]:
    """Read the names of classes, in the order of their ids.

    The file is UTF-8; lines end with LF or CRLF, the last one with or without. No
    other character ends a line, and none is taken off a name.

    Args:
        vocabulary: the file's path.
        directory: where that path begins: the directory of the schema file.

    Raises:
        Problem: no such file, another encoding, or a line that is no name of its own.
    """
    given = f"vocabulary={vocabulary!r}"
    if directory is None:
        raise Problem(f"{given} of a class that is in no file", "a schema file")
    path = directory / vocabulary
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        broken = error.object[: error.start].count(b"\n") + 1
        raise Problem(f"{given}: line {broken} is not UTF-8", "UTF-8 text") from None
    except (OSError, ValueError) as error:  # a path may have a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem(
            f"{given}: {path}: {reason}",
            "a file of names, one a line",
            "the path begins at the directory of the schema file",
        ) from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise Problem(f"{given}: the file is empty", "a name a line")
    first: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise Problem(
                f"{given}: line {number} is empty",
                "a name a line: line n is the class n - 1",
            )
        if line in first:
            raise Problem(
                f"{given}: {line!r} in line {number} and in line {first[line]}",
                "each name once",
            )
        first[line] = number
    return tuple(lines)
