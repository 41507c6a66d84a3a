"""What templates see of a record's model: its inputs and targets, by what they need."""

from __future__ import annotations

from dataclasses import dataclass

from .literals import Code
from .views import FieldView


@dataclass(frozen=True)
class ModelView:
    """The fields that a model takes, and those that it predicts."""

    inputs: tuple[FieldView, ...]
    targets: tuple[FieldView, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that `fields=` is chosen from."""
        return tuple(field.name for field in self.inputs)

    @property
    def adapted(self) -> tuple[FieldView, ...]:
        """The inputs whose encoders learn from data first."""
        return tuple(field for field in self.inputs if field.adapts)

    @property
    def only_tensorflow(self) -> tuple[FieldView, ...]:
        """The inputs that Keras takes with one backend only."""
        return tuple(field for field in self.inputs if field.only_tensorflow)

    @property
    def pictured(self) -> bool:
        """Whether a target is predicted from pictures."""
        return any(field.pictured for field in self.targets)

    @property
    def expected_targets(self) -> Code:
        """The expression for the specs of the targets, by name."""
        return Code("TARGETS" if self.targets else "{}")
