"""Iterators that are saved in mid-epoch go on with exactly the records that remain."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import every_kind
import pytest
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import Data, Workspace

_SHUFFLED: dict[str, Any] = {"training": True, "seed": 3}


def _noise(features: dict[str, Any], seed: Any) -> dict[str, Any]:
    shape = tf.shape(features["number"])
    drawn = tf.random.stateless_uniform(shape, seed, 0, 10**9, tf.int64)
    return {**features, "drawn": drawn}


def _numbers(elements: list[Any]) -> list[int]:
    return sorted(int(n) for features, _ in elements for n in features["number"])


# Fifty records in fours.
_BATCHES = 13

# what is asked for, and how many batches are read before the iterator is saved
CASES = {
    "in order": ({}, 5),
    "before the first": ({**_SHUFFLED}, 0),
    "shuffled": ({**_SHUFFLED}, 5),
    "shuffled without a seed": ({"training": True}, 5),
    "in a small buffer": ({**_SHUFFLED, "shuffle_buffer": 7}, 3),
    "at the end": ({**_SHUFFLED}, 13),
    "in an epoch before others": ({**_SHUFFLED, "repeat": 3}, 5),
    "augmented": ({**_SHUFFLED, "augment": _noise}, 5),
    "repeated": ({**_SHUFFLED, "repeat": 3}, 17),
    "repeated and augmented": ({**_SHUFFLED, "repeat": 2, "augment": _noise}, 17),
    "by length": (
        {**_SHUFFLED, "bucket_by": "tokens", "bucket_boundaries": (5, 10)},
        4,
    ),
    "a part": ({**_SHUFFLED, "shard": (1, 2)}, 3),
    "a part by records": ({**_SHUFFLED, "shard": (2, 5)}, 1),
    "a part of cut files": ({**_SHUFFLED, "shard": (1, 3), "shuffle_buffer": 5}, 2),
    "full batches": ({**_SHUFFLED, "drop_remainder": True}, 5),
    "skipping": ({**_SHUFFLED, "on_corrupt": "skip"}, 5),
    "cached": ({**_SHUFFLED, "cache": True}, 5),
    "cached and repeated": ({**_SHUFFLED, "cache": True, "repeat": 3}, 17),
    "padded": ({**_SHUFFLED, "pad_to_max_length": True}, 5),
    "some fields": ({**_SHUFFLED, "fields": ["number"]}, 5),
}


@pytest.mark.quick_cases(1)
@pytest.mark.filterwarnings("ignore:4 files for 5 readers:RuntimeWarning")
@pytest.mark.parametrize("case", CASES)
def test_what_remains_comes_once_and_in_order(
    case: str, data: Data, package: Workspace, tmp_path: Path
) -> None:
    """An iterator of a new dataset goes on as the first one does, value by value."""
    options, batches = CASES[case]
    make = package.module("small", "pipeline").make_dataset
    first = iter(make(data(), batch_size=4, **options))
    for _ in range(batches):
        next(first)
    path = tf.train.Checkpoint(iterator=first).save(str(tmp_path / "checkpoint"))
    again = iter(make(data(), batch_size=4, **options))
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    left, found = list(first), list(again)
    rest = _BATCHES - batches % _BATCHES if "repeat" in options else len(left)
    assert list(map(every_kind.values, found[:rest])) == [
        every_kind.values(element) for element in left[:rest]
    ]
    # Later epochs are whole, though files may come in another order in them.
    epochs = int(options.get("repeat", 1))
    assert len(found) == len(left)
    whole = epochs - 1 - batches // _BATCHES if epochs > 1 else 0
    assert _numbers(found[rest:]) == sorted([*range(50)] * whole)
    assert bool(left) == (case != "at the end")


@pytest.mark.slow
def test_an_iterator_goes_on_in_the_epoch_that_was_saved(
    data: Data, package: Workspace, tmp_path: Path
) -> None:
    """What is saved in the third epoch goes on in the third one's order."""
    make = package.module("small", "pipeline").make_dataset
    options: dict[str, Any] = {"batch_size": 4, "training": True, "seed": 3}
    dataset = make(data(), **options)
    for _ in range(2):
        list(dataset)
    first, again = iter(dataset), iter(make(data(), **options))
    seen = [next(first) for _ in range(6)]
    path = tf.train.Checkpoint(iterator=first).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(iterator=again).restore(path)
    left, found = (
        [f["number"].numpy().tolist() for f, _ in it] for it in (first, again)
    )
    assert found == left
    before = [features["number"].numpy().tolist() for features, _ in seen]
    assert sorted(chain(*before, *found)) == list(range(50))
