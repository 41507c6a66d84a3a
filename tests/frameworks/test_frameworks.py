"""`open_split` under PyTorch, JAX, Grain and Keras, where TensorFlow is not installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import grain
import numpy as np
import pytest
import torch
from digit_rows import rows
from schemagen.runtime.arrays.torch import collate, tensors_of
from torch.utils.data import DataLoader

from generated.digit.reader import open_split
from generated.digit.serializer import write_dataset

COUNT = 300


@pytest.fixture
def split(tmp_path: Path) -> Any:
    """A split of numbered records, opened."""
    write_dataset(rows(COUNT), tmp_path, "train", shards=4)
    return open_split(tmp_path, "train")


def test_tensorflow_is_not_installed() -> None:
    assert find_spec("tensorflow") is None


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader_read_all_records(split: Any, start: str) -> None:
    split[0]  # files that are open here are not in the way
    loader = DataLoader(
        split,
        batch_size=32,
        shuffle=True,
        num_workers=2,
        collate_fn=collate,
        multiprocessing_context=start,
    )
    scans = torch.cat([batch["scan"] for batch in loader])
    assert sorted(scans.tolist()) == list(range(COUNT))


def test_the_collation_of_pytorch_works_too(split: Any) -> None:
    """On fields of one shape."""
    fixed = split.map(lambda row: {name: row[name] for name in ("image", "scan")})
    batch = next(iter(DataLoader(fixed, batch_size=6)))
    again = collate(fixed.__getitems__(range(6)))
    assert batch.keys() == again.keys()
    for name, tensor in batch.items():
        torch.testing.assert_close(tensor, again[name])


def test_a_collation_of_ones_own_gets_records_as_they_are(split: Any) -> None:
    """Not padded, as `split[i]` has them."""
    loader = DataLoader(split, batch_size=6, collate_fn=list)
    for number, row in enumerate(next(iter(loader))):
        np.testing.assert_equal(row, split[number])


def test_tensors_share_the_memory_of_arrays(split: Any) -> None:
    batch = split[:5]
    tensors = tensors_of(batch)
    batch["image"][0, 0, 0, 0] = 77
    assert tensors["image"][0, 0, 0, 0] == 77


def test_texts_and_lists_are_lists() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensors = tensors_of(
        {
            "text": np.array(["one", "two"], object),
            "rows": [np.arange(2), np.arange(3)],
            "inner": {"half": np.ones(2, ml_dtypes.bfloat16)},
        }
    )
    assert tensors["text"] == ["one", "two"]
    assert [len(row) for row in tensors["rows"]] == [2, 3]
    assert tensors["inner"]["half"].dtype == torch.bfloat16


def test_grain_shuffles_and_batches_records(split: Any) -> None:
    source = grain.MapDataset.source(split).shuffle(seed=1)
    scans = [record["scan"] for record in source]
    assert sorted(scans) == list(range(COUNT))
    assert scans != sorted(scans)
    several = source.map(lambda record: record["moments"]).batch(50)
    assert several[0].shape == (50, 8)
