"""What templates see of a record's model: its inputs and targets, by what they need."""

from __future__ import annotations

from dataclasses import dataclass

from .literals import Code, literal
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
    def only_tensorflow(self) -> tuple[tuple[str, str], ...]:
        """The inputs that Keras takes with one backend only, and what they are."""
        found = ((field.name, _peculiarity(field)) for field in self.inputs)
        return tuple((name, words) for name, words in found if words)

    @property
    def target_specs(self) -> tuple[tuple[str, Code], ...]:
        """The specs of what a dataset delivers to learn from, by name."""
        return tuple((field.name, _target_spec(field)) for field in self.targets)

    @property
    def pictured(self) -> bool:
        """Whether a target is predicted from pictures."""
        return any(field.pictured for field in self.targets)

    @property
    def expected_targets(self) -> Code:
        """The expression for the specs of the targets, by name."""
        return Code("TARGETS" if self.targets else "{}")


def _peculiarity(field: FieldView) -> str:
    """Name what keeps a field from other backends of Keras; "" if nothing does."""
    if field.dtype == "string":
        return "ragged strings" if field.ragged else "strings"
    if field.ragged:
        return "ragged"
    return "sparse" if field.sparse else ""


def _target_spec(field: FieldView) -> Code:
    """Return the spec of what a dataset delivers of a target."""
    return Code(f"tf.TensorSpec({literal((None, *field.shape))}, tf.{field.dtype})")
