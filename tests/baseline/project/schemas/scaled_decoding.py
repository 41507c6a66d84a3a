from typing import Annotated

from schemagen import Image, Record


class ScaledDecoding(Record):
    """A JPEG that is decoded at a part of its size."""

    photo: Annotated[
        bytes,
        Image((None, None, 3), encoding="jpeg", resize=(4, 4), scaled_decoding=True),
    ]
