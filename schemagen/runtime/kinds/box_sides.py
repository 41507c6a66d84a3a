"""The sides of boxes: their names, and how fields declare them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ..shared.dtypes import RAW_ONLY, STRINGS
from ..shared.errors import Problem
from ..shared.values import shape_text

BEGINS = ("xmin", "ymin")

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
    """

    sides: tuple[str, ...]
    image: str | None


def box_of(kind: Any) -> BoxSides | None:
    """Return what the values of a kind are of boxes; None if nothing."""
    box = getattr(kind, "box", None)
    if not box:
        return None
    return BoxSides((box,) if isinstance(box, str) else box, kind.box_image)


def are_of_box(sides: Collection[str]) -> bool:
    """Return whether they are four sides that make a box."""
    begins = {ENDS[side] for side in sides if side in ENDS}
    return len(sides) == 4 and {*BEGINS} == begins == {*BEGINS} & {*sides}


def box_problems(kind: Any, shape: tuple[int, ...]) -> Iterator[Problem]:
    """Yield what does not go together in a kind whose values are sides of boxes.

    Args:
        kind: with the parameters `box` and `box_image`.
        shape: of one item; () for single numbers.
    """
    box = kind.box
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
