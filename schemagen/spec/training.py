"""What training makes of a field: the roles that it can have, and its part in a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..runtime.cells.decoded import Shape
from ..runtime.kinds.classes import Classes, Label
from ..runtime.kinds.images import Image
from ..runtime.kinds.kind import K, Kind, Role
from ..runtime.kinds.lists import VarLen
from ..runtime.kinds.masks import Mask
from ..runtime.kinds.numbers import Scalar, Vector
from ..runtime.kinds.pictures import read_size
from ..runtime.kinds.ragged import Ragged
from ..runtime.kinds.steps import Steps
from ..runtime.kinds.tensors import Tensor
from ..runtime.kinds.text import Text
from ..runtime.shared.dtypes import FLOATS, PARTS
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import shape_text
from ..schema.parameters import problems


def role_of(kind: Kind) -> Role:
    """Return the role that a field plays: the one given, or its kind's own."""
    return kind.role or _default_role(kind)


def with_role(kind: K) -> K:
    """Return a kind that states its role."""
    return replace(kind, role=role_of(kind))


def _default_role(kind: Kind) -> Role:
    if isinstance(kind, Steps):
        # A model has no head for steps or for lists of classes, and a target should
        # not become its input unless someone says so.
        return "info" if isinstance(kind.step, Label) else _default_role(kind.step)
    if isinstance(kind, VarLen) and kind.classes:
        return "info"
    if isinstance(kind, Classes) or (isinstance(kind, Mask) and kind.count):
        return "target"
    return "info" if opaque(kind) else "input"


def opaque(kind: Kind) -> str:
    """Return values that no model can take, in words; "" if a model can."""
    kind = kind.of_step
    if isinstance(kind, Image) and kind.shape[2] is None:
        return "images of any number of channels"
    if isinstance(kind, Mask) and not kind.count:
        return "ids without num_classes"
    if kind.dtype in PARTS:
        return "complex numbers"
    undecoded = kind.dtype == "bytes" and not is_decoded(kind)
    return "opaque bytes" if undecoded else ""


def is_decoded(kind: Kind) -> bool:
    """Return whether its values are arrays of a decoder, which models take as a `Tensor`."""
    return isinstance(kind, Scalar) and kind.decoder is not None


def can_be_weight(kind: Kind) -> bool:
    """Return whether values can weigh the records of a batch."""
    return isinstance(kind, Scalar) and kind.dtype in ("float32", "float64")


def marks_missing(kind: Kind) -> bool:
    """Return whether one of the values of a kind marks a missing one, as -1 does."""
    return isinstance(kind, Classes) or (
        isinstance(kind, Mask) and kind.ignore is not None
    )


def is_picture(kind: Kind) -> bool:
    """Return whether masks can be predicted from it."""
    return isinstance(kind, Image)


def per_pixel(kind: Kind) -> bool:
    """Return whether it has a value for each pixel of an image, and is predicted from that."""
    return isinstance(kind, Mask)


def step_block(kind: Kind) -> str:
    """Return the block of the model that encodes steps, given the kind of one."""
    if isinstance(kind, Image):
        return "images"
    if isinstance(kind, VarLen):
        return "nested_tokens" if uses_vocabulary(kind) else "items"
    return "tokens" if isinstance(kind, (Label, Text)) else "items"


def uses_vocabulary(kind: Kind) -> bool:
    """Return whether the model looks up ids or words in a vocabulary."""
    if isinstance(kind, Steps):
        return "tokens" in step_block(kind.step)
    if isinstance(kind, (VarLen, Ragged)):
        if isinstance(kind, VarLen) and (kind.item_shape or kind.box_scaled):
            return False
        return kind.dtype not in ("bool", *FLOATS)
    return isinstance(kind, Text)


def layers(kind: Kind) -> tuple[str, ...]:
    """Return the suffixes of the names that the field's model layers have."""
    role = role_of(kind)
    if role == "target" and isinstance(kind, Vector):
        return ("flat",)
    if role != "input":
        return ()
    return Tensor.layers if is_decoded(kind) else kind.layers


def predicted_shape(kind: Kind, shape: Shape) -> Shape:
    """Return the shape of one record's predictions, given that of its tensor."""
    if isinstance(kind, Label):
        return (kind.count,)
    if isinstance(kind, Mask):
        return (*shape, kind.count)
    return (1,) if isinstance(kind, Scalar) else shape


def missing_beside(kind: Kind, inputs: Iterable[Kind]) -> Problem | None:
    """Return what a target of this kind lacks among the record's inputs."""
    if not isinstance(kind, Mask):
        return None
    pictures = [other for other in inputs if isinstance(other, Image)]
    if opaque(kind) or any(any(problems(each)) for each in (kind, *pictures)):
        return None
    found = [read_size(picture) for picture in pictures]
    if read_size(kind) in found:
        return None
    sizes = " and ".join(f"an Image of {shape_text(other)}" for other in found)
    return Problem(
        sizes or "no Image",
        f"an Image of {shape_text(read_size(kind))}, the mask's height and width",
        "declare the image of the mask; resize= brings both to one "
        "size; role='info' keeps the mask out of the model",
    )
