from typing import Annotated

from schemagen import Mask, Record


class Palette(Record):
    """A mask whose PNG has a palette: its indices are the ids."""

    number: int
    mask: Annotated[bytes, Mask((4, 6), num_classes=5, role="info")]
