"""Inferred from all 24 records of a file.

What the data does not tell is marked with "doubt:".
"""

from typing import Annotated

from schemagen import Scalar, SequenceRecord, Steps, Text


class Youtube8mFrame(SequenceRecord):
    # doubt: each once, up to 3,861: classes? MultiLabel(num_classes=3862)
    labels: list[int]

    # 4 to 300 steps
    # doubt: always 128 bytes, no text: 128 uint8 numbers?
    audio: Annotated[list[bytes], Steps(Scalar("bytes"), group="steps")]
    id: Annotated[str, Text(role="info")]

    # 4 to 300 steps
    # doubt: always 1,024 bytes, no text: 32x32x1 uint8 pixels or 1,024 uint8 numbers?
    rgb: Annotated[list[bytes], Steps(Scalar("bytes"), group="steps")]
