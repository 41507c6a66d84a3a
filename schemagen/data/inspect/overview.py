"""Everything that inspecting has found, in short, as blocks for a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...display.blocks import Block, Heading, Items, Paragraph, Picture, Pictures
from ...runtime.native import BYTES
from ...runtime.reading.fields import MalformedError
from ...runtime.reading.message import parse_message
from ..statistics.bytes_values import content_of
from ..statistics.model import DataStatistics, RecordStatistics
from .text import advice_of, inspection_blocks, troubles_of

# So many keys are listed of each split, each of no more than so many characters.
_KEYS = 100
_CHARACTERS = 60

# So many pictures are shown, of so many bytes together.
_PICTURES = 6
_PICTURE_BYTES = 40_000


def overview_blocks(found: DataStatistics) -> list[Block]:
    """Return the tables of the splits and keys, a few pictures, and what is wrong."""
    blocks = inspection_blocks(found, _samples, characters=_CHARACTERS, keys=_KEYS)
    if troubles := troubles_of(found):
        blocks += [Heading("What is wrong", 3), Items(troubles)]
        blocks.append(Paragraph(advice_of(found)))
    return blocks


def _samples(found: RecordStatistics) -> Iterator[Block]:
    if pictures := list(islice(_pictures(found), _PICTURES)):
        yield Pictures(pictures)


def _pictures(found: RecordStatistics) -> Iterator[Picture]:
    """Yield copies of the first image of samples."""
    from ..thumbnails import Budget, copy_of

    budget = Budget(left=_PICTURE_BYTES, ample=_PICTURE_BYTES)
    for sample in found.samples:
        image = _first_image(sample.data)
        copy = image and copy_of(image[1], budget)
        if image and copy and copy.url:
            yield Picture(
                copy.url, f"{image[0]}, record {sample.number:,}: {copy.about}"
            )


def _first_image(record: bytes) -> tuple[str, bytes] | None:
    """Return the key and the bytes of the first encoded image in a record."""
    try:
        message = parse_message(record)
    except MalformedError:
        return None
    for key, feature in sorted(message.features.items()):
        if feature.kind == BYTES and len(feature.values) == 1:
            ((start, stop),) = feature.values
            value = record[start:stop]
            if content_of(value).picture is not None:
                return key, value
    return None
