"""What the demo writes: the rows of each record, and where they go."""

from __future__ import annotations

from pathlib import Path

from generated.digit.serializer import write_dataset as write_digits
from generated.penguin.serializer import write_dataset as write_penguins
from generated.photo.serializer import write_dataset as write_photos

from . import digits, penguins, photos

_SOURCES = {"digit": digits.rows, "penguin": penguins.rows, "photo": photos.rows}
_WRITERS = {"digit": write_digits, "penguin": write_penguins, "photo": write_photos}
_SHARDS = {"train": 4, "test": 1}

RECORDS = tuple(_SOURCES)
"""The names of the records."""


def write(record: str, data: Path) -> dict[str, int]:
    """Write a record's splits, in place of those that are there.

    Args:
        record: its name.
        data: the directory in which each record has its own.

    Returns:
        The number of records in each split.
    """
    write_dataset = _WRITERS[record]
    return {
        split: write_dataset(
            rows, data / record, split, shards=_SHARDS[split], overwrite=True
        )
        for split, rows in _SOURCES[record]().items()
    }
