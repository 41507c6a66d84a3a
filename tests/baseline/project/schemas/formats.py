from typing import Annotated

from schemagen import Image, Images, Record


class Formats(Record):
    """Images of the formats that few need."""

    bmp: Annotated[bytes, Image((4, 6, 3), encoding="bmp")]
    gif: Annotated[bytes, Image((4, 6, 3), encoding="gif")]
    webp: Annotated[bytes, Image((4, 6, 3), encoding="webp")]
    any_of: Annotated[bytes, Image((4, 6, 3), encoding="any", format_key="format")]
    several: Annotated[list[bytes], Images((4, 6, 3), encoding="any")]
