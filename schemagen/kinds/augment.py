"""How pictures are varied in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from ..runtime.shared.errors import Problem
from .parameters import Parameters, flag_problems, is_positive


@dataclass(frozen=True)
class Augment(Parameters):
    """How a picture is varied each time that it comes up in training.

    Flips and crop are the same for all pictures and masks of a record.

    Attributes:
        flip_left_right: mirror half of the pictures, by chance.
        flip_up_down: turn half of them upside down, by chance.
        crop: move the picture by up to so many pixels in each direction; its size
            stays, and at the edge it is mirrored.
    """

    _: KW_ONLY
    flip_left_right: bool = False
    flip_up_down: bool = False
    crop: int = 0

    def said(self) -> dict[str, Any]:
        """Return the parameters that are not their defaults, by name."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in given.items() if value}


def augment_problems(
    augment: object, shape: object, resize: object
) -> Iterator[Problem]:
    """Yield what is wrong with the augmentation of pictures or masks.

    Args:
        augment: as it was given.
        shape: of the pictures, from height and width on, be it right or wrong.
        resize: what they are brought to, if that is given.
    """
    if augment is None:
        return
    if not isinstance(augment, Augment):
        forgotten = augment is Augment
        found = "Augment without parentheses" if forgotten else repr(augment)
        yield Problem(f"augment={found}", "Augment(flip_left_right=True) or None")
        return
    yield from _move_problems(augment, delivered_size(shape, resize))
    if augment == Augment():
        names = ", ".join(field.name for field in fields(Augment))
        yield Problem("augment=Augment(), which changes nothing", f"one of {names}")


def delivered_size(shape: object, resize: object) -> tuple[Any, ...]:
    """Return (height, width) of pictures when read; anything, if they are not right."""
    size = shape if resize is None else resize
    return size[:2] if isinstance(size, tuple) else ()


def _move_problems(augment: Augment, size: tuple[Any, ...]) -> Iterator[Problem]:
    yield from flag_problems(
        flip_left_right=augment.flip_left_right, flip_up_down=augment.flip_up_down
    )
    crop = augment.crop
    known = [edge for edge in size if is_positive(edge)]
    if type(crop) is not int or crop < 0:
        yield Problem(f"crop={crop!r}", "a number of pixels from 0 on")
    elif crop and known and crop >= min(known):
        yield Problem(
            f"crop={crop} of pictures that are {min(known)} pixels high or wide",
            "fewer pixels than that",
            "it is how far a picture may be moved, and not the size of what is left",
        )
