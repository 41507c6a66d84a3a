"""Class labels, one a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..runtime.encoding import label
from .classes import Classes, ClassesView, Codec
from .field import FieldSpec
from .literals import Code, literal
from .python_types import class_names, is_enum
from .storage import Entry
from .view import FieldView, Shape


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
    codec: ClassVar[Codec] = label.Label

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

    def storage(self, key: str) -> tuple[Entry, ...]:
        return (self.ids(key, 1),)

    def view(self, field: FieldSpec) -> FieldView:
        return LabelView(field)


class LabelView(ClassesView[Label]):
    """One class out of several; -1 stands for a missing one."""

    in_band: ClassVar[bool] = True

    @property
    def dtype(self) -> str:
        return "int64"

    @property
    def predicted_shape(self) -> Shape:
        return (self.kind.count,)

    @property
    def default_value(self) -> Code:
        default: Any = self.field.default
        if self.named_on_disk:
            return literal(
                b"" if default is None else self.kind.class_names[default].encode()
            )
        return literal(-1 if default is None else default + self.kind.offset)

    @property
    def python_type(self) -> str:
        return "int | str" if self.kind.class_names else "int"

    @property
    def wanted_value(self) -> str:
        text = f"a class id from 0 to {self.kind.count - 1}"
        text += ", or its name" if self.kind.class_names else ""
        return text + self.stored_note

    @property
    def present(self) -> Code:
        if self.missing:  # then -1 is not one, wherever it comes from
            return Code(f"tf.greater_equal(batch[{literal(self.name)}], 0)")
        return super().present

    @property
    def missing_text(self) -> str:
        return "-1" if self.field.default is None else repr(self.field.default)
