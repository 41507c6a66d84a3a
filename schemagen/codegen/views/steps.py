"""What templates see of steps: the field as a whole, and the kind of one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...spec.model import StepsSpec
from ..literals import Code, literal
from .field import FieldView, Shape

_LIMITS = {
    "error": ", at most {} steps",
    "keep_head": ", of which the first {} steps are kept",
    "keep_tail": ", of which the last {} steps are kept",
}
# What a list of them may be given as; of anything else, as what numpy takes.
_SEQUENCES = {"Text": "Sequence[str]", "Scalar": "Sequence[bytes]"}


@dataclass(frozen=True)
class StepsView(FieldView):
    """A value of another kind in each step; `step` is the view of that kind."""

    spec: StepsSpec
    step: FieldView

    in_list: ClassVar[bool] = True

    @property
    def encoder(self) -> str:
        """The block that encodes it: images, tokens or items."""
        kind = self.spec.step.kind
        return {"Image": "images", "Label": "tokens", "Text": "tokens"}.get(
            kind, "items"
        )

    @property
    def vocabulary(self) -> bool:
        return self.encoder == "tokens"

    @property
    def dtype(self) -> str:
        return self.step.dtype

    @property
    def row_dtype(self) -> str:
        return self.step.row_dtype

    @property
    def shape(self) -> Shape:
        return (None, *self.step.shape)

    @property
    def step_shape(self) -> Shape:
        """The shape of what is stored in one step."""
        strings = self.step.stored_dtype == "tf.string"
        return () if strings else self.step.shape

    @property
    def stored_dtype(self) -> Code:
        return self.step.stored_dtype

    @property
    def stored_text(self) -> str:
        return f"steps of {self.step.stored_text}"

    @property
    def named_on_disk(self) -> bool:
        return self.step.named_on_disk

    @property
    def present(self) -> Code:
        return Code(f"feature_lists.list_present(serialized, {literal(self.spec.key)})")

    @property
    def pixel_scale(self) -> Code:
        """What brings a pixel to about [0, 1]."""
        scale: Code = self.step.pixel_scale  # type: ignore[attr-defined]
        return scale

    @property
    def python_type(self) -> str:
        if self.dtype == "string":
            return _SEQUENCES[self.spec.step.kind]
        if self.step.python_type.startswith("bytes"):  # encoded images
            return f"Sequence[{self.step.python_type}]"
        return "ArrayLike"

    @property
    def wanted_value(self) -> str:
        text = f"in each step {self.step.wanted_value}"
        if self.spec.max_length is not None:
            text += _LIMITS[self.spec.too_long].format(self.spec.max_length)
        if self.group is not None:
            text += f", as many as the others of {self.group!r}"
        return text

    @property
    def delivers_value(self) -> str:
        steps = "(T)" if self.spec.ragged else "T"
        sizes = ", ".join(map(str, ("B", steps, *self.step.shape)))
        text = f"{self.dtype} [{sizes}]"
        if self.spec.ragged:
            return f"{text}, ragged"
        return f"{text}, padded with {self.spec.padding_value!r}"

    @property
    def missing_text(self) -> str:
        return "empty"
