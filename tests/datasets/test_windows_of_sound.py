"""`crop` of sound: a random window of each record in training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_line import make_project, refusals

if TYPE_CHECKING:
    from conftest import PackageOf

CROP, LENGTHS = 50, (10, 50, 51, 400)

SCHEMA = f"""
from typing import Annotated
import numpy as np
from schemagen import Audio, Record

class One(Record):
    sound: Annotated[np.ndarray, Audio(8000, encoding="raw", dtype="int16", crop={CROP}, max_length=500)]
    same: Annotated[np.ndarray, Audio(8000, encoding="raw", dtype="int16", ragged=True, crop={CROP})]
    whole: Annotated[np.ndarray, Audio(8000, encoding="raw", dtype="int16")]
"""


def rows() -> list[dict[str, Any]]:
    """Return sound that counts from 1, so that samples tell their place."""
    counted = [np.arange(1, length + 1, dtype=np.int16) for length in LENGTHS]
    return [{"sound": each, "same": each, "whole": each} for each in counted]


@pytest.fixture(scope="module")
def data(package_of: PackageOf, tmp_path_factory: pytest.TempPathFactory) -> Any:
    package = package_of(SCHEMA)
    directory = tmp_path_factory.mktemp("windows")
    package.module("one", "serializer").write_dataset(rows(), directory, "train")
    make_dataset = package.module("one", "pipeline").make_dataset
    return lambda **options: make_dataset(directory, "train", batch_size=4, **options)


def epochs(dataset: Any, count: int) -> list[dict[str, Any]]:
    """Return the only batch of each epoch, records in the order of their lengths."""
    found = []
    for _ in range(count):
        (batch,) = dataset
        order = np.argsort((batch["whole"].numpy() > 0).sum(axis=(1, 2)))
        batch["same"] = batch["same"].to_tensor().numpy()
        found.append(
            {name: np.asarray(values)[order] for name, values in batch.items()}
        )
    return found


def test_each_epoch_has_other_windows_of_the_same_length(data: Any) -> None:
    """They are a part of the record; a shorter one is padded. Other fields are whole."""
    batches = epochs(data(training=True, seed=3), 40)
    firsts = np.array([batch["sound"][:, 0, 0] for batch in batches])
    for batch in batches:
        assert batch["sound"].shape == (4, CROP, 1)
        for row, length in zip(batch["sound"][..., 0], LENGTHS, strict=True):
            kept = min(length, CROP)
            assert row[:kept].tolist() == list(range(row[0], row[0] + kept))
            assert not row[kept:].any()
            assert row[kept - 1] <= length
        assert np.array_equal(batch["sound"], batch["same"])
        assert batch["whole"].shape == (4, max(LENGTHS), 1)
    assert (firsts[:, :2] == 1).all()
    assert set(firsts[:, 2]) == {1, 2}
    assert len(set(firsts[:, 3])) > 25
    assert firsts[:, 3].min() < 80 < 270 < firsts[:, 3].max()


def test_a_seed_makes_windows_the_same_in_every_run(data: Any) -> None:
    first, second = (epochs(data(training=True, seed=3), 3) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one["sound"], other["sound"])


def test_records_are_whole_without_training(data: Any) -> None:
    (batch,) = epochs(data(), 1)
    assert np.array_equal(batch["sound"], batch["whole"])


def test_padding_to_the_largest_length_leaves_windows(data: Any) -> None:
    """It is for the records that are whole."""
    spec = data(training=True, pad_to_max_length=True).element_spec
    assert spec["sound"].shape.as_list() == [None, CROP, 1]
    assert data(pad_to_max_length=True).element_spec["sound"].shape[1] == 500


@pytest.mark.parametrize("limit", ["max_length=49", "max_seconds=49 / 8000"])
def test_a_window_of_no_record_is_refused(tmp_path: Path, limit: str) -> None:
    source = SCHEMA.replace("max_length=500", limit)
    (finding,) = refusals(make_project(tmp_path, {"r.py": source}))
    assert "crop=50" in finding["found"]
    assert finding["expected"].startswith("at most 49")
