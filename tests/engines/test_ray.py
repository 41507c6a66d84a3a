"""What Ray alone has: errors of earlier steps, reading, and a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import many_kinds
import numpy as np
import pytest
import ray
from digit_rows import listed, written
from digits import digit, digits, plan_of
from ray_engine import started
from schemagen.data.ray import read_dataset
from schemagen.runtime.engines import ray as engine
from schemagen.runtime.shared.compression import COMPRESSIONS
from schemagen.runtime.shared.errors import DatasetError, RecordError

from generated.digit import serializer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

KEYED: dict[str, Any] = {"shuffle_seed": 5, "key_field": "scan"}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two nodes with a processor each."""
    with started():
        yield


def test_a_wrong_row_is_an_error_of_its_own(tmp_path: Path) -> None:
    """Ray adds nothing to it."""
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    rows = [*digits(7), {**digit(7), "digit": 99}]
    with pytest.raises(RecordError, match=r"^row 7: field 'digit'") as caught:
        engine.write_dataset(ray.data.from_items(rows, override_num_blocks=1), plan)
    assert caught.value.field == "digit"


def test_an_error_of_an_earlier_step_is_reported_as_ray_does(tmp_path: Path) -> None:
    plan = plan_of(tmp_path / "found", shards=2, **KEYED)
    dataset = ray.data.from_items(digits(20)).map(lambda row: row["no such column"])
    with pytest.raises(ray.exceptions.RayTaskError, match="no such column"):
        engine.write_dataset(dataset, plan)
    serializer.abandon(plan)
    assert listed(tmp_path / "found") == {}


def test_a_dataset_that_may_drop_blocks_is_refused(tmp_path: Path) -> None:
    dataset = ray.data.from_items(digits(5))
    dataset.context.max_errored_blocks = 1
    plan = plan_of(tmp_path / "found", shards=1, **KEYED)
    with pytest.raises(DatasetError, match="max_errored_blocks=1"):
        engine.write_dataset(dataset, plan)
    assert not (tmp_path / "found").exists()


@pytest.mark.parametrize("compression", [None, *COMPRESSIONS])
def test_what_was_written_is_read(tmp_path: Path, compression: str | None) -> None:
    """Two of the shards are empty; rows are written back as the same bytes."""
    options: dict[str, Any] = {"compression": compression, **KEYED}
    wanted = written(tmp_path / "wanted", digits(3), shards=5, **options)
    dataset = read_dataset(tmp_path / "wanted", "train")
    assert dataset.count() == 3
    rows = sorted(dataset.iter_rows(), key=lambda row: row["scan"])
    for row, original in zip(rows, digits(3), strict=True):
        assert list(row) == list(original)
        for name, value in original.items():
            np.testing.assert_array_equal(row[name], value)
        assert row["image"].dtype == np.uint8
        assert row["moments"].dtype == np.float32
    plan = plan_of(tmp_path / "found", shards=5, **options)
    assert engine.write_dataset(dataset, plan) == 3
    assert listed(tmp_path / "found") == wanted


def test_values_of_all_kinds_are_read_and_written_back(tmp_path: Path) -> None:
    """Shards differ in sizes and in what is missing, and so do their blocks."""
    serializer = many_kinds.generated(tmp_path)
    shards = [partial(many_kinds.rows, shard) for shard in range(3)]
    serializer.write_dataset(shards, tmp_path / "data", "train")
    originals = {row["number"]: row for shard in shards for row in shard()}
    dataset = read_dataset(tmp_path / "data", "train").materialize()
    found = list(dataset.iter_rows())
    assert len(found) == len(originals) == 30
    for row in found:
        original = originals[row["number"]]
        given = {name: value for name, value in row.items() if value is not None}
        assert given.keys() == original.keys()
        again = serializer.serialize(**given)
        assert again == serializer.serialize(**original)
    (batch,) = dataset.iter_batches(batch_size=30)
    for number, tile in zip(batch["number"].tolist(), batch["tile"], strict=True):
        np.testing.assert_array_equal(tile, originals[number]["tile"])


def test_some_fields_are_read_as_arrays_of_a_batch(tmp_path: Path) -> None:
    written(tmp_path, digits(30), shards=2)
    dataset = read_dataset(tmp_path, "train", fields=["scan", "image"])
    (batch,) = dataset.iter_batches(batch_size=30)
    assert list(batch) == ["scan", "image"]
    assert sorted(batch["scan"].tolist()) == list(range(30))
    wanted = np.stack([digit(number)["image"] for number in batch["scan"]])
    np.testing.assert_array_equal(batch["image"], wanted)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:90] + bytes([data[90] ^ 1]) + data[91:],
    ],
)
def test_a_damaged_shard_is_an_error(tmp_path: Path, damage: Any) -> None:
    written(tmp_path, digits(30), shards=2)
    path = tmp_path / "train-00001-of-00002.tfrecord"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DatasetError, match=path.name):
        read_dataset(tmp_path, "train").materialize()


def test_a_replaced_shard_is_an_error(tmp_path: Path) -> None:
    """Its records are whole, and of the same size."""
    written(tmp_path, digits(7), shards=1)
    dataset = read_dataset(tmp_path, "train")
    others = [{**row, "scan": row["scan"] + 10} for row in digits(7)]
    serializer.write_dataset(others, tmp_path, "train", shards=1, overwrite=True)
    with pytest.raises(DatasetError, match="it was written again"):
        dataset.materialize()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"manifest\.json"):
        read_dataset(tmp_path, "train")
    written(tmp_path, digits(3), shards=1)
    with pytest.raises(DatasetError, match=r"'tain'.* train"):
        read_dataset(tmp_path, "tain")
    with pytest.raises(DatasetError, match=r"'scna'.* image"):
        read_dataset(tmp_path, "train", fields=["scna"])
