"""Batches in every order: each record once, and a wrong one is named in all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf
from every_kind import numbers
from tfrecord_files import read_records, write_records

if TYPE_CHECKING:
    from conftest import Workspace

SCHEMA = """
from typing import Annotated
import numpy as np
from schemagen import Label, Record, VarLen

class Row(Record):
    number: int
    tokens: Annotated[list[int], VarLen("int64", padding_value=-1)]
    points: Annotated[list, VarLen("float32", item_shape=(2,), ragged=True)]
    words: list[str]
    kind: Annotated[int, Label(num_classes=5)]
"""
_ROWS = 53


def _row(number: int) -> dict[str, Any]:
    return {
        "number": number,
        "tokens": [number] * (number % 7),
        "points": np.full((number % 3, 2), number, np.float32),
        "words": [f"w{number}"] * (number % 4),
        "kind": number % 5,
    }


@pytest.fixture
def data(package: Workspace, tmp_path: Path) -> Callable[..., Path]:
    """Write rows into three shards."""

    def make(rows: int = _ROWS, **options: Any) -> Path:
        write = package.module("row", "serializer").write_dataset
        write(
            [_row(number) for number in range(rows)],
            tmp_path / "data",
            "train",
            shards=3,
            **options,
        )
        return tmp_path / "data"

    return make


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("shuffle_buffer", [1, 20, 16, 1000])
def test_shuffled_batches_are_exact(
    data: Callable[..., Path],
    package: Workspace,
    shuffle_buffer: int,
) -> None:
    """Each row once with all of its values, in full batches but for the last one."""
    make = package.module("row", "pipeline").make_dataset
    directory = data()
    dataset = make(
        directory, batch_size=8, training=True, shuffle_buffer=shuffle_buffer
    )
    assert len(dataset) == 7
    assert dataset.element_spec == make(directory, batch_size=8).element_spec
    found = []
    for features, kinds in dataset:
        lengths = []
        for at, number in enumerate(features["number"].numpy().tolist()):
            row = _row(number)
            tokens = features["tokens"][at].numpy().tolist()
            lengths.append(len(row["tokens"]))
            assert tokens == row["tokens"] + [-1] * (len(tokens) - lengths[-1])
            assert features["points"][at].numpy().tolist() == row["points"].tolist()
            words = [w.decode() for w in features["words"][at].numpy() if w]
            assert words == row["words"]
            assert kinds[at] == row["kind"]
            found.append(number)
        # No longer than the longest of the batch itself.
        assert features["tokens"].shape[1] == max(lengths)
    assert sorted(found) == list(range(_ROWS))
    # With a buffer of one row only the shards are shuffled: once in a while into their order.
    assert shuffle_buffer == 1 or found != sorted(found)
    sizes = [len(kinds) for _, kinds in dataset]
    assert sizes == [8] * 6 + [5]


_PLACES = {
    "first record": (0, 0),
    "last record of a file": (0, -1),
    "last record": (2, -1),
    "in the middle": (1, 9),
}


@pytest.mark.parametrize("place", _PLACES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"training": True},
        {"training": True, "shuffle_buffer": 16},
        {"training": True, "repeat": 2},
        {"repeat": True},
        {"cache": True},
        {"bucket_by": "tokens", "bucket_boundaries": (3,)},
        {"drop_remainder": True, "batch_size": 1},
        {"training": True, "deterministic": False},
    ],
    ids=lambda options: "-".join(options) or "in order",
)
@pytest.mark.quick_cases(5)
def test_wrong_record_is_named_wherever_it_is(
    data: Callable[..., Path], package: Workspace, options: dict[str, Any], place: str
) -> None:
    """In any file and batch, and however records are read; with and without a manifest."""
    file, at = _PLACES[place]
    directory = data()
    path = sorted(directory.glob("train-*"))[file]
    records = read_records(path)
    number = range(len(records))[at]
    example = tf.train.Example.FromString(records[number])
    example.features.feature["kind"].int64_list.value[:] = [7]
    records[number] = example.SerializeToString(deterministic=True)
    write_records(path, records)
    make = package.module("row", "pipeline").make_dataset
    found = rf"{path}: record {number}: field `kind`: .*0 to 4"
    # Neither the size nor the last bytes of the other shards have changed.
    if at >= 0:
        with pytest.raises(tf.errors.InvalidArgumentError, match=found):
            list(make(directory, **{"batch_size": 8, **options}))
    (directory / "manifest.json").unlink()
    dataset = make(f"{directory}/train-*", **{"batch_size": 8, **options})
    with pytest.raises(tf.errors.InvalidArgumentError, match=found):
        list(dataset)


def test_good_batches_come_before_an_error(
    data: Callable[..., Path], package: Workspace
) -> None:
    """A fault is noticed at its batch, and not at the end of the epoch."""
    directory = data()
    first, second, _ = sorted(directory.glob("train-*"))
    good = len(read_records(first)) + 6
    records = read_records(second)
    write_records(second, [*records[:6], b"\xff", *records[7:]])
    (directory / "manifest.json").unlink()
    make = package.module("row", "pipeline").make_dataset
    iterator = iter(make(f"{directory}/train-*", batch_size=1))
    assert [int(next(iterator)[0]["number"][0]) for _ in range(good)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{second}: record 6: "):
        next(iterator)


def test_fault_that_is_mended_is_forgotten(
    data: Callable[..., Path], package: Workspace
) -> None:
    """The next epoch reads all records."""
    directory = data()
    dataset = package.module("row", "pipeline").make_dataset(directory, batch_size=8)
    path = sorted(directory.glob("train-*"))[1]
    away = path.rename(directory / "away")
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{path}: "):
        list(dataset)
    away.rename(path)
    assert Counter(numbers(dataset)) == Counter(range(_ROWS))
