"""What templates see of several labels a record."""

from __future__ import annotations

from ...spec.model import MultiLabelSpec
from .field import Shape
from .label import ClassesView


class MultiLabelView(ClassesView):
    """Any number of classes, delivered as zeros and ones."""

    spec: MultiLabelSpec

    @property
    def dtype(self) -> str:
        return "float32"

    @property
    def shape(self) -> Shape:
        return (self.spec.num_classes,)

    @property
    def required_sequence(self) -> bool:
        return not self.spec.optional

    @property
    def python_type(self) -> str:
        named = "Sequence[int | str] | NDArray[Any]"
        return named if self.spec.classes else "Sequence[int] | NDArray[Any]"

    @property
    def wanted_value(self) -> str:
        text = f"the ids of its classes, from 0 to {self.spec.num_classes - 1}"
        text += ", or their names" if self.spec.classes else ""
        return text + self.stored_note

    @property
    def delivers_value(self) -> str:
        return f"{super().delivers_value}, 1 for each of its classes"

    @property
    def missing_text(self) -> str:
        return "zeros"

    @property
    def missing_target(self) -> float | None:
        return -1.0 if self.missing else None
