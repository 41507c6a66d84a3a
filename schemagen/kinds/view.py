"""A field as templates see it.

Templates see one object a field. Its members are in classes by subject: how the field is
declared and stored, what readers deliver, how a model uses it, and how texts describe it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, ClassVar, Self

from .field import FieldSpec, K
from .literals import Code, literal
from .stored_view import Shape, StoredView

__all__ = ["FieldView", "Shape", "field_view"]

_LISTS = {"bytes": "bytes_list", "float32": "float_list", "int64": "int64_list"}


class _Delivered(StoredView[K]):
    """A field in batches: its tensor, its mask, its padding."""

    in_band: ClassVar[bool] = False
    """Whether one of its own values stands for a missing one."""

    @property
    def masked(self) -> bool:
        """Whether a mask of its own says which values are there."""
        unmarked = self.missing and not self.in_band and not self.nan_if_missing
        return unmarked or self.field.presence

    @property
    def mask_name(self) -> str:
        return f"{self.name}_present"

    @property
    def mask_label(self) -> str:
        return f"{self.label}_present"

    @property
    def presence_key(self) -> str:
        """The key of the feature that is there if the field is."""
        return self.field.key

    @property
    def present(self) -> Code:
        """The expression for which records of a batch have it."""
        return Code(f"examples.present(serialized, {literal(self.presence_key)})")

    @property
    def filled(self) -> Code:
        """The same, of a field whose missing values and "" read alike."""
        return Code(f'tf.not_equal(stored[{literal(self.field.key)}], "")')

    @property
    def ragged(self) -> bool:
        """Whether it is delivered as a tf.RaggedTensor."""
        return bool(getattr(self.kind, "ragged", False))

    @property
    def sparse(self) -> bool:
        """Whether it is delivered as a tf.SparseTensor."""
        return False

    @property
    def layout(self) -> str:
        """The layout of a batch: dense, ragged or sparse."""
        return "ragged" if self.ragged else "sparse" if self.sparse else "dense"

    @property
    def padded(self) -> bool:
        """Whether rows are padded to the longest of their batch."""
        return None in self.shape and not (self.ragged or self.sparse)

    @property
    def filler(self) -> Any:
        """The value that pads shorter rows."""
        return getattr(self.kind, "padding_value", "" if self.dtype == "string" else 0)

    @property
    def is_list(self) -> bool:
        """Whether it holds any number of items."""
        return False

    @property
    def size(self) -> int:
        """The number of values in a row, of a field of fixed shape."""
        return prod(size or 0 for size in self.shape)

    @property
    def augmented(self) -> tuple[tuple[str, Any], ...]:
        """Its variation in training: options of the runtime's `augmentation`."""
        augment = getattr(self.kind, "augment", None)
        return tuple(augment.said().items()) if augment else ()


class _Modelled(_Delivered[K]):
    """A field in the generated model: an input, or a target."""

    def beside(self, inputs: Iterable[FieldView]) -> Self:
        """Return the view of a target that knows the record's inputs."""
        return self

    @property
    def vocabulary(self) -> bool:
        """Whether its encoder looks ids or words up in a vocabulary."""
        return False

    @property
    def pictured(self) -> bool:
        """Whether it is predicted from pictures, and not from the features alone."""
        return False

    @property
    def predicted_shape(self) -> Shape:
        """The shape of one record's predictions."""
        return self.shape

    @property
    def missing_target(self) -> float | None:
        """The value of a missing target; None if the parser delivers it itself."""
        return None


class FieldView(_Modelled[K]):
    """A field as templates see it, with the texts that describe it."""

    @property
    def python_type(self) -> str:
        """The type of the writer's keyword, None apart."""
        return "ArrayLike"

    @property
    def takes(self) -> Code:
        """The type of the writer's keyword."""
        return Code(f"{self.python_type} | None" if self.optional else self.python_type)

    @property
    def takes_column(self) -> Code:
        """The type of the batch writer's keyword."""
        return Code("Column | None" if self.optional else "Column")

    @property
    def wanted_value(self) -> str:
        """The values that the writer takes, in words, None apart."""
        raise NotImplementedError

    @property
    def wanted(self) -> str:
        """The values that the writer takes, in words."""
        text = self.wanted_value
        return f"{text}; None if missing" if self.optional else text

    @property
    def stored_text(self) -> str:
        """The list of an Example that holds it, in words."""
        if self.raw:
            return f"raw {self.row_dtype} bytes"
        return _LISTS[self.field.storage[0].stored]

    @property
    def batch_shape(self) -> str:
        return f"[{', '.join(map(str, ('B', *self.shape)))}]"

    @property
    def delivers_value(self) -> str:
        """The parsed batch's tensor, in words."""
        return f"{self.dtype} {self.batch_shape}"

    @property
    def delivers(self) -> str:
        """The parsed batch's tensor and the value of a missing one, in words."""
        text = self.delivers_value
        return f"{text}; {self.missing_text} if missing" if self.optional else text

    @property
    def missing_text(self) -> str:
        """The value that a missing one reads as, in words."""
        if self.field.default is not None:
            return repr(self.field.default)
        if self.nan_if_missing:
            return "NaN"
        return "''" if self.dtype == "string" else "0"


def field_view(field: FieldSpec) -> FieldView:
    """Return what templates see of a field."""
    view: FieldView = field.kind.view(field)
    return view
