"""The sides of boxes: their names, and how fields declare them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ..shared.dtypes import RAW_ONLY, STRINGS
from ..shared.errors import Problem
from ..shared.values import shape_text

XYXY = ("xmin", "ymin", "xmax", "ymax")
YXYX = ("ymin", "xmin", "ymax", "xmax")
XYWH = ("xmin", "ymin", "width", "height")

BEGINS = ("xmin", "ymin")

_ACROSS = ("xmin", "xmax", "width")

ENDS = {"xmax": "xmin", "ymax": "ymin", "width": "xmin", "height": "ymin"}
"""The sides that end a box, or its sizes, and where these are counted from."""

Side = Literal["xmin", "ymin", "xmax", "ymax", "width", "height"]
Sides = Annotated[
    Side | tuple[Side, Side, Side, Side],
    'a side, such as "xmin", or four in their order: ("ymin", "xmin", "ymax", "xmax")',
]


@dataclass(frozen=True)
class BoxSides:
    """What the values of a field are of boxes.

    Attributes:
        sides: the one of a list, or the four of an item in their order.
        image: the field of the image inside of which the boxes are, if in pixels.
        scaled: whether readers scale them as they resize this image; None for what is
            usual of the image.
    """

    sides: tuple[str, ...]
    image: str | None
    scaled: bool | None = None

    @property
    def axes(self) -> list[int]:
        """The axis of each side: 0 for those that count rows of pixels, 1 for columns."""
        return [int(side in _ACROSS) for side in self.sides]


def box_of(kind: Any) -> BoxSides | None:
    """Return what the values of a kind are of boxes; None if nothing."""
    box = getattr(kind, "box", None)
    if not box:
        return None
    sides = (box,) if isinstance(box, str) else box
    return BoxSides(sides, kind.box_image, kind.box_scaled)


def images_of(kinds: Iterable[Any]) -> list[Any]:
    """Return the images that the boxes of some bound kinds are scaled with."""
    found = (getattr(kind, "image", None) for kind in kinds)
    return [image for image in found if image is not None]


def are_of_box(sides: Collection[str]) -> bool:
    """Return whether they are four sides that make a box."""
    begins = {ENDS[side] for side in sides if side in ENDS}
    return len(sides) == 4 and {*BEGINS} == begins == {*BEGINS} & {*sides}


def box_problems(kind: Any, shape: tuple[int, ...]) -> Iterator[Problem]:
    """Yield what does not go together in a kind whose values are sides of boxes.

    Args:
        kind: with the parameters `box`, `box_image` and `box_scaled`.
        shape: of one item; () for single numbers.
    """
    box = kind.box
    if kind.box_scaled and not kind.box_image:
        yield Problem("box_scaled=True without box_image", "box_image=")
    if kind.box_scaled and getattr(kind, "dequantize", None):
        yield Problem("box_scaled=True with dequantize", "one of the two")
    if box is None:
        if kind.box_image:
            yield Problem(f"box_image={kind.box_image!r} without box", "box=")
        return
    if isinstance(box, str):
        if shape or kind.group is None:
            yield Problem(
                f"box={box!r} of items of shape {shape_text(shape)} without a group"
                if shape
                else f"box={box!r} without a group",
                "single numbers, in one group with the other sides",
            )
    elif not are_of_box(box) or shape[-1:] != (4,):
        yield Problem(
            f"box={box!r} of items of shape {shape_text(shape)}",
            "items of 4 numbers: xmin, ymin, and xmax or width, ymax or height",
        )
    if kind.dtype in (*RAW_ONLY, *STRINGS, "bool") or kind.encoding == "raw":
        yield Problem(
            f"box of {kind.dtype!r}, encoding {kind.encoding!r}",
            "numbers in a list: float32, or integers",
        )
