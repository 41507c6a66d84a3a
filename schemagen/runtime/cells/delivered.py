"""What readers deliver for a field: one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .decoded import Shape

Layout = Literal["dense", "ragged", "sparse"]
Mark = Literal["", "mask", "nan", "value"]


@dataclass(frozen=True)
class Absence:
    """What a missing value is in a batch.

    Attributes:
        value: what it is in an array; of lists, what each of their items is.
        mark: what tells it from other values: "nan"; "value", if `value` means nothing
            else; or else "mask", a mask alone. "" if no batch has a missing value: the
            field has a default, or is not optional.
        presence: whether the schema asks for a mask.
        target: what a missing target is in place of `value`, next to a mask; None for
            no other value.
    """

    value: Any
    mark: Mark = ""
    presence: bool = False
    target: float | None = None

    @property
    def possible(self) -> bool:
        """Whether batches may have a missing value."""
        return self.mark != ""

    @property
    def masked(self) -> bool:
        """Whether a mask tells which records have a value."""
        return self.mark == "mask" or self.presence


@dataclass(frozen=True)
class Delivered:
    """What readers deliver for a field.

    Attributes:
        dtype: of the tensor of a batch, by its TensorFlow name.
        shape: of one record's tensor; None for a size that varies.
        decoded: dtype and shape of one decoded value, before it takes the form that is
            asked for: an encoded picture is bytes, several classes are a list of ids.
        filler: the value that pads shorter rows.
        absence: what a missing value is.
        layout: of a batch.
        limit: the largest length of a list; None for no limit.
        batchable: whether the values of several records make one tensor.
    """

    dtype: str
    shape: Shape
    decoded: tuple[str, Shape]
    filler: Any
    absence: Absence
    layout: Layout = "dense"
    limit: int | None = None
    batchable: bool = True

    @property
    def padded(self) -> bool:
        """Whether rows are padded to the longest of their batch."""
        return None in self.shape and self.layout == "dense"
