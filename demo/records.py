"""The demo's records: what is written of each, and what is learned."""

from __future__ import annotations

from pathlib import Path

from generated.digit import model as digit_model
from generated.digit import pipeline as digit_pipeline
from generated.digit.serializer import write_dataset as write_digits
from generated.penguin import model as penguin_model
from generated.penguin import pipeline as penguin_pipeline
from generated.penguin.serializer import write_dataset as write_penguins
from generated.photo.serializer import write_dataset as write_photos

from . import digits, penguins, photos
from .training import Task

_SOURCES = {"digit": digits.rows, "penguin": penguins.rows, "photo": photos.rows}
_WRITERS = {"digit": write_digits, "penguin": write_penguins, "photo": write_photos}
_SHARDS = {"train": 4, "test": 1}


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


def tasks(data: Path) -> list[Task]:
    """Return what is learned from the records in a directory."""
    return [
        Task(
            record="digit",
            data=data / "digit",
            make_dataset=digit_pipeline.make_dataset,
            build_model=digit_model.build_model,
            adapt=digit_model.adapt,
            alone={
                "image": ("image",),
                "ink_runs": ("ink_runs",),
                "moments": ("moments",),
            },
            epochs=20,
        ),
        Task(
            record="penguin",
            data=data / "penguin",
            make_dataset=penguin_pipeline.make_dataset,
            build_model=penguin_model.build_model,
            adapt=penguin_model.adapt,
            alone={
                "bill_length_mm": ("bill_length_mm",),
                "bill_depth_mm": ("bill_depth_mm",),
                "flipper_length_mm": ("flipper_length_mm",),
                "body_mass_g": ("body_mass_g",),
                "delta_15_n": ("delta_15_n",),
                "delta_13_c": ("delta_13_c",),
                "sex": ("sex",),
                "full_clutch": ("full_clutch",),
                "comment": ("comment", "comment_present"),
                "comment_words": ("comment_words",),
            },
            epochs=20,
        ),
    ]
