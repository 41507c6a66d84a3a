"""How pictures are varied in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

import numpy as np

from ..runtime.shared.errors import Problem
from ..runtime.shared.values import INTEGERS
from .parameters import Parameters, flag_problems, is_finite, is_positive

# Brightness and contrast calculate in float32, which does not hold all that these do.
_TOO_WIDE = ("int32", "int64", "uint32", "uint64", "float64")
_COLOURS = ("brightness", "contrast", "value_range")


@dataclass(frozen=True)
class Augment(Parameters):
    """How a picture is varied each time that it comes up in training.

    Flips and crop are the same for all pictures and masks of a record.

    Attributes:
        flip_left_right: mirror half of the pictures, by chance.
        flip_up_down: turn half of them upside down, by chance.
        crop: move the picture by up to so many pixels in each direction; its size
            stays, and at the edge it is mirrored.
        brightness: add up to this share of the range of values, or take it away.
        contrast: multiply the distance from the mean by 1 - contrast to 1 + contrast.
        value_range: black and white, if these are not those of the dtype.
    """

    _: KW_ONLY
    flip_left_right: bool = False
    flip_up_down: bool = False
    crop: int = 0
    brightness: float = 0.0
    contrast: float = 0.0
    value_range: tuple[float, float] | None = None

    def said(self) -> dict[str, Any]:
        """Return the parameters that are not their defaults, by name."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in given.items() if value}

    @property
    def moves(self) -> tuple[bool, bool, int]:
        """What it does to where things are: the flips, and the crop."""
        return self.flip_left_right, self.flip_up_down, self.crop


def augment_problems(
    augment: object, shape: object, resize: object, dtype: object = "uint8"
) -> Iterator[Problem]:
    """Yield what is wrong with the augmentation of pictures.

    Args:
        augment: as it was given.
        shape: of the pictures, from height and width on, be it right or wrong.
        resize: what they are brought to, if that is given.
        dtype: of their pixels.
    """
    if augment is None:
        return
    if not isinstance(augment, Augment):
        forgotten = augment is Augment
        found = "Augment without parentheses" if forgotten else repr(augment)
        yield Problem(f"augment={found}", "Augment(flip_left_right=True) or None")
        return
    yield from _move_problems(augment, delivered_size(shape, resize))
    for parameter in ("brightness", "contrast"):
        share = getattr(augment, parameter)
        if type(share) not in (int, float) or not 0 <= share <= 1:
            yield Problem(f"{parameter}={share!r}", "a share from 0 to 1")
    coloured = any((augment.brightness, augment.contrast))
    if coloured and dtype in _TOO_WIDE:
        yield Problem(
            f"brightness or contrast of {dtype} pixels",
            "flips and crop",
            f"they calculate in float32, which does not hold every {dtype}",
        )
    yield from _range_problems(augment.value_range, coloured, dtype)
    if augment == Augment():
        names = ", ".join(field.name for field in fields(Augment))
        yield Problem("augment=Augment(), which changes nothing", f"one of {names}")


def mask_augment_problems(
    augment: object, shape: object, resize: object
) -> Iterator[Problem]:
    """Yield what is wrong with the augmentation of masks.

    Arguments are those of `augment_problems`.
    """
    yield from augment_problems(augment, shape, resize)
    for parameter in _COLOURS:
        if isinstance(augment, Augment) and getattr(augment, parameter):
            yield Problem(
                f"{parameter}={getattr(augment, parameter)!r}",
                "flips and crop",
                "class ids have no colour: give it to the picture alone",
            )


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


def _range_problems(
    value_range: object, coloured: bool, dtype: object
) -> Iterator[Problem]:
    if value_range is None:
        return
    found = f"value_range={value_range!r}"
    if (
        not isinstance(value_range, tuple)
        or len(value_range) != 2
        or not all(map(is_finite, value_range))
        or value_range[0] >= value_range[1]
    ):
        yield Problem(found, "(black, white), two numbers with black below white")
        return
    if isinstance(dtype, str) and dtype in INTEGERS:
        bounds = np.iinfo(dtype)
        if value_range[0] < bounds.min or value_range[1] > bounds.max:
            expected = f"values that {dtype} holds, {bounds.min} to {bounds.max}"
            yield Problem(found, expected)
    if not coloured:
        yield Problem(
            f"{found} without brightness and contrast",
            "one of them: nothing else changes values",
        )
