"""Options that `make_dataset` does not have: the line in the error does what they did."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from every_kind import numbers

if TYPE_CHECKING:
    from conftest import Data, MakeDataset, PackageOf

_SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Image, Label, Record, Scalar

class Cat(Record):
    photo: Annotated[np.ndarray, Image((4, 6, 3))]
    kind: Annotated[int | None, Label(num_classes=3)] = None
    number: Annotated[int, Scalar("int64")]
"""
_ROWS = 40


class Cats:
    """A split of pictures whose labels are 0, 1, 2 and missing, in turn."""

    def __init__(self, package: Any, directory: Path) -> None:
        self.pipeline = package.module("cat", "pipeline")
        self.parse_batch = package.module("cat", "parser").parse_batch
        self.directory = directory
        rows = [
            {"photo": np.full((4, 6, 3), n, np.uint8), "number": n}
            | ({"kind": n % 4} if n % 4 < 3 else {})
            for n in range(_ROWS)
        ]
        write = package.module("cat", "serializer").write_dataset
        write(rows, directory, "train", shards=4)

    def dataset(self) -> Any:
        """Return all records as one batch, in order of the shards."""
        return self.pipeline.make_dataset(self.directory, batch_size=_ROWS)

    def replaced(self, option: str, port: int = 5000, **names: Any) -> Any:
        """Return the value of the line that an error says to write.

        Args:
            option: which the error names.
            port: of the service.
            names: what names in the line stand for.
        """
        with pytest.raises(TypeError, match=f"no option '{option}'") as caught:
            self.pipeline.make_dataset(self.directory, batch_size=8, **{option: 1})
        line = str(caught.value).partition("; write ")[2]
        for behind in (", of make_dataset with", ", as docs/"):
            line = line.partition(behind)[0]
        line = line.replace("data/train-*", f"{self.directory}/train-*")
        line = line.replace("'IMAGE'", "'photo'").replace("CLASSES", "3")
        line = line.replace("ADDRESS", f"'grpc://localhost:{port}'")
        known = {"tf": tf, "keras": keras, "signal": signal, "dataset": self.dataset()}
        return eval(line, known | {"parse_batch": self.parse_batch} | names)


@pytest.fixture
def cats(package_of: PackageOf, tmp_path: Path) -> Cats:
    """The split, in a directory of its own."""
    return Cats(package_of(_SCHEMA), tmp_path / "data")


def test_images_are_scaled(cats: Cats) -> None:
    """To float32 from 0 to 1; other features and the target are as they were."""
    ((features, kinds),) = cats.replaced("image_dtype")
    ((stored, same),) = cats.dataset()
    assert features["photo"].dtype == tf.float32
    pixels = stored["photo"].numpy().astype(np.float32) / 255
    np.testing.assert_array_equal(features["photo"], pixels)
    np.testing.assert_array_equal(features["number"], stored["number"])
    np.testing.assert_array_equal(kinds, same)


def test_labels_become_rows(cats: Cats) -> None:
    """A missing label is a row of zeros."""
    ((features, rows),) = cats.replaced("one_hot")
    wanted = np.concatenate([np.eye(3), np.zeros((1, 3))])[features["number"] % 4]
    np.testing.assert_array_equal(rows, wanted)
    assert rows.dtype == tf.float32


def test_decoded_records_are_cached(cats: Cats) -> None:
    """Later epochs read no files, and each has another order of all records."""
    cached = cats.replaced("cache_decoded")
    epochs = [numbers(cached)]
    for path in cats.directory.glob("train*"):
        path.unlink()
    epochs += [numbers(cached) for _ in range(2)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(_ROWS))] * 3
    assert len({tuple(epoch) for epoch in epochs}) == 3


def test_workers_of_a_service_read_each_record_once(cats: Cats) -> None:
    """They parse it, too; each takes its part of the files."""
    cluster = tf.data.experimental.service
    dispatcher = cluster.DispatchServer()
    address = dispatcher.target.removeprefix("grpc://")
    workers = [cluster.WorkerServer(cluster.WorkerConfig(address)) for _ in range(2)]
    port = int(address.rpartition(":")[2])
    batches = list(cats.replaced("service", port))
    assert sorted(int(n) for b in batches for n in b["number"]) == list(range(_ROWS))
    assert {b["photo"].shape[1:] for b in batches} == {(4, 6, 3)}
    del workers


def test_a_step_that_takes_too_long_ends_the_program(cats: Cats) -> None:
    """The clock starts again with each batch."""
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(loss="mse")
    arrays = tf.data.Dataset.from_tensors((np.ones((2, 3)), np.ones(2)))
    before = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        cats.replaced("service_timeout", model=model, dataset=arrays)
        assert 0 < signal.alarm(0) <= 600
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_sizes_of_buckets_are_batch_sizes(
    data: Data, make_dataset: MakeDataset
) -> None:
    """The name that tf.data has for them is not another option."""
    with pytest.raises(TypeError, match="no option 'bucket_batch_sizes'"):
        make_dataset(data(), batch_size=4, bucket_batch_sizes=[4, 2])


@pytest.mark.parametrize("option", [{"one_hot": False}, {"service": None}])
def test_options_that_changed_nothing_are_left_out(
    data: Data, make_dataset: MakeDataset, option: dict[str, Any]
) -> None:
    """No line stands for what was the default."""
    with pytest.raises(TypeError, match=r"leave it out$"):
        make_dataset(data(), batch_size=4, **option)
