"""How pictures and sound are varied in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le

from ..shared.errors import Problem
from .parameters import Count, Instance, Parameters

Share = Annotated[float, Ge(0), Le(1), "a share from 0 to 1"]


@dataclass(frozen=True, eq=False)
class Augment(Parameters):
    """How a picture is varied each time that it comes up in training.

    Flips and crop are the same for all pictures and masks of a record.

    Attributes:
        flip_left_right: mirror half of the pictures, by chance.
        flip_up_down: turn half of them upside down, by chance.
        crop: move the picture by up to so many pixels in each direction; its size
            stays, and at the edge it is mirrored.
        brightness: add up to this share of the range of values, or subtract it.
        contrast: multiply the distance from the mean by 1 - contrast to 1 + contrast.
    """

    _: KW_ONLY
    flip_left_right: bool = False
    flip_up_down: bool = False
    crop: Count = 0
    brightness: Share = 0.0
    contrast: Share = 0.0

    def rules(self) -> Iterator[Problem]:
        if not self.stated():
            names = ", ".join(self.by_name())
            yield Problem("augment=Augment(), which changes nothing", f"one of {names}")

    def stated(self) -> dict[str, Any]:
        """Return the parameters that are not their defaults, by name."""
        return {name: value for name, value in self.by_name().items() if value}

    @property
    def moves(self) -> tuple[bool, bool, int]:
        """What it does to places, of masks too: the flips, and the crop."""
        return self.flip_left_right, self.flip_up_down, self.crop

    @property
    def recolors(self) -> bool:
        """Whether it changes values."""
        return bool(self.brightness or self.contrast)


def augment_of(kind: Any) -> Augment | None:
    """Return how the pictures of a kind are varied in training; None if they are not."""
    return getattr(kind, "augment", None)


def variation_of(kind: Any) -> dict[str, Any]:
    """Return what varies values in training, by the names of parameters; {} if nothing."""
    augment, crop = augment_of(kind), getattr(kind, "crop", None)
    if augment is not None:
        return augment.stated()
    return {"crop": crop} if crop else {}


Augmentation = Annotated[Augment, Instance(), "Augment(flip_left_right=True)"]


def crop_problems(
    augment: Augment | None, size: tuple[int | None, ...]
) -> Iterator[Problem]:
    """Yield a crop that is as large as the pictures, whose (height, width) are given."""
    least = min((edge for edge in size if edge), default=None)
    if augment and least and augment.crop >= least:
        yield Problem(
            f"crop={augment.crop} of pictures that are {least} pixels high or wide",
            "fewer pixels: how far a picture may be moved",
        )
