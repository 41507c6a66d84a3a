"""Shards that another program changes, while the manifest stays as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import tensorflow as tf
from digit_rows import row

from generated.digit.pipeline import make_dataset
from generated.digit.serializer import write_dataset

COUNT = 40


def write(directory: Path, first: int) -> None:
    """Write records that all have the same size."""
    rows = [{**row(first + n), "ink_runs": [1], "digit": 3} for n in range(COUNT)]
    write_dataset(rows, directory, "train", shards=2)


@pytest.mark.parametrize("before", [0, 1])
def test_shards_of_another_split_in_their_place_are_an_error(
    tmp_path: Path, before: int
) -> None:
    """At the beginning of an epoch, or at its end. Sizes and checksums are right."""
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, 1_000)
    write(there, 2_000)
    batches = iter(make_dataset(here, "train", batch_size=5))
    for _ in range(before):
        next(batches)
    for path in there.glob("train-*"):
        shutil.copyfile(path, here / path.name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="found the last bytes"):
        for _ in batches:
            pass
