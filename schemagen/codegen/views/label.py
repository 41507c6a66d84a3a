"""What templates see of a label."""

from __future__ import annotations

from typing import Any, ClassVar

from ...spec.model import LabelSpec
from ..literals import Code, literal
from .field import FieldView, Shape


class ClassesView(FieldView):
    """One or several classes out of a fixed number."""

    @property
    def named_on_disk(self) -> bool:
        """Whether the file holds the classes' names."""
        spec: Any = self.spec
        return bool(spec.stored == "text")

    @property
    def stored_note(self) -> str:
        """How the file says it, if it says it otherwise, in words."""
        if self.named_on_disk:
            return "; stored by name"
        offset: int = self.spec.offset
        return f"; stored from {offset} on" if offset else ""

    @property
    def stored_dtype(self) -> Code:
        return Code("tf.string" if self.named_on_disk else "tf.int64")


class LabelView(ClassesView):
    """One class out of several; -1 stands for a missing one."""

    spec: LabelSpec
    in_band: ClassVar[bool] = True

    @property
    def dtype(self) -> str:
        return "int64"

    @property
    def predicted_shape(self) -> Shape:
        return (self.spec.num_classes,)

    @property
    def default_value(self) -> Code:
        default: Any = self.spec.default
        if self.named_on_disk:
            return literal(
                b"" if default is None else self.spec.classes[default].encode()
            )
        return literal(-1 if default is None else default + self.spec.offset)

    @property
    def python_type(self) -> str:
        return "int | str" if self.spec.classes else "int"

    @property
    def wanted_value(self) -> str:
        text = f"a class id from 0 to {self.spec.num_classes - 1}"
        text += ", or its name" if self.spec.classes else ""
        return text + self.stored_note

    @property
    def present(self) -> Code:
        if self.missing:  # then -1 is not one, wherever it comes from
            return Code(f"tf.greater_equal(batch[{literal(self.name)}], 0)")
        return super().present

    @property
    def missing_text(self) -> str:
        return "-1" if self.spec.default is None else repr(self.spec.default)
