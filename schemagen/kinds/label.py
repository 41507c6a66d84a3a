"""Class labels, one a record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from ..runtime.codecs.decoded import Shape
from .classes import Classes
from .python_types import class_names, is_enum


@dataclass(frozen=True)
class Label(Classes):
    """One class out of several, stored as its id. Its default role is target.

    A Literal or an Enum in the field's type gives the classes too.

    Attributes:
        classes: the classes' names in the order of their ids.
        num_classes: how many classes there are, if they have no names.
        vocabulary: a file of the names, one a line, next to the schema file.
        offset: what is added to a class id where it is stored.
        stored: "id", or "text" for the class's name itself.
    """

    name: ClassVar[str] = "Label"
    holds: ClassVar[str] = (
        "int; or str, a Literal or an Enum of the names, if its classes have names"
    )
    can_be_target: ClassVar[bool] = True
    step_block: ClassVar[str] = "tokens"

    @property
    def python_type(self) -> str:
        return "str" if self.stored == "text" else "int"

    def declared_with(self, python_type: Any) -> Self:
        names = class_names(python_type) or ()
        words = bool(names) and isinstance(names[0], str)
        if not names or self.classes or self.vocabulary:
            return self
        return replace(self, classes=names) if words or not self.num_classes else self

    def predicted_shape(self, shape: Shape) -> Shape:
        return (self.count,)

    def accepts(self, python_type: Any) -> bool:
        if python_type in (int, int | str, Any):
            return True
        if python_type is str:
            return bool(self.class_names)
        names = class_names(python_type)
        if not names or not all(isinstance(name, str) for name in names):
            return False
        by_value = is_enum(python_type) and type(next(iter(python_type)).value) is int
        if by_value:  # the members' values are the ids
            return names == self.class_names
        return sorted(names) == sorted(self.class_names)
