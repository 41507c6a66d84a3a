"""What kinds of classes have in common: names, ids, and how the file says them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from ..runtime.shared.errors import Problem
from .class_names import class_name_problems
from .kind import Kind, Role, choice_problems, is_positive
from .vocabulary import path_problems, read_vocabulary

Stored = Literal["id", "text"]


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
    """

    classes: tuple[str, ...] | None = None
    num_classes: int | None = None
    vocabulary: str | None = None
    offset: int = 0
    stored: Stored = "id"

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

    def facts(self) -> dict[str, Any]:
        return {
            "num_classes": self.count,
            "classes": self.classes or (),
            "offset": self.offset,
            "stored": self.stored,
        }

    def beside(self, directory: Path | None) -> Self:
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

    def _class_problems(self) -> Iterator[Problem]:
        if self.classes is None:
            if self.vocabulary is None and not is_positive(self.num_classes):
                yield Problem(
                    f"num_classes={self.num_classes!r} and no classes",
                    "classes=('name', ...), num_classes=n or vocabulary='names.txt'",
                )
            return
        given: object = self.classes
        if type(given) is int:
            yield Problem(
                f"classes={given}",
                "a tuple of names",
                f"write num_classes={given} for classes without names",
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
            return
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
