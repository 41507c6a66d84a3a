"""Instances of a schema's class refuse the pictures that its writer refuses."""

from __future__ import annotations

from io import BytesIO
from typing import Annotated, Any

import numpy as np
import pytest
from PIL import Image as Pillow
from pydantic import ValidationError
from schemagen import Image, Mask, Record, SequenceRecord, Steps

PIXELS = np.zeros((4, 5, 3), np.uint8)


class Described(Record):
    """Pictures with further keys."""

    photo: Annotated[bytes, Image((4, 5, 3), encoding="png", width_key="width")]
    mask: Annotated[Any, Mask((4, 5), num_classes=2, format_key="form")]


class Clip(SequenceRecord):
    """Pictures in steps."""

    frames: Annotated[
        list[bytes], Steps(Image((4, 5, 3), encoding="png"), max_length=2)
    ]


def _png(pixels: Any) -> bytes:
    file = BytesIO()
    Pillow.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    "wrong",
    [
        {"photo": b"junk"},
        {"photo": _png(PIXELS)[:-20]},
        {"photo": _png(PIXELS[:3])},
        {"mask": _png(PIXELS)},
    ],
)
def test_encoded_pictures_are_checked(wrong: dict[str, Any]) -> None:
    """Also where sizes or formats are stored next to them."""
    right = {"photo": _png(PIXELS), "mask": np.zeros((4, 5), np.uint8)}
    Described(**right)
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Described(**{**right, **wrong})


@pytest.mark.parametrize("frame", [_png(PIXELS), PIXELS])
def test_steps_of_pictures_have_a_limit(frame: Any) -> None:
    """Before any of them is encoded."""
    Clip(frames=[frame] * 2)
    with pytest.raises(ValidationError, match="3 steps, expected at most 2"):
        Clip(frames=[frame] * 3)
