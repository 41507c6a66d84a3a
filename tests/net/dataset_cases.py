"""Splits that change while `make_dataset` reads two epochs of them.

    python dataset_cases.py <scratch> <form> <ways> <changes> <steps>

Arguments and output are those of `reader_cases.py`. TensorFlow reads the files, so that
steps are the requests for a batch alone: the dataset is made with the first. An error is
one of TensorFlow's, or where the dataset is made a DatasetError. Nothing is forked: a process that has tensorflow cannot be.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

# Before schemagen.
from reader_cases import Change, Place, Reading, run  # isort: skip

import tensorflow as tf
from numbered_records import SPLIT, Facts, facts_of
from reader_faults import SECONDS, Read

from generated import DatasetError
from generated.digit.pipeline import make_dataset

_RECORDS, _BATCH, _EPOCHS = 2400, 100, 2


def _again(place: Place) -> Iterator[Any]:
    """Read a dataset twice."""
    dataset = make_dataset(place.where, SPLIT, batch_size=_BATCH, info=True)
    for _ in range(_EPOCHS):
        yield from dataset


def _repeated(place: Place) -> Iterator[Any]:
    """Read a dataset that repeats itself."""
    yield from make_dataset(
        place.where, SPLIT, batch_size=_BATCH, info=True, repeat=_EPOCHS
    )


EPOCHS = {"again": _again, "repeated": _repeated}


class Epochs(Reading):
    """A way to read the epochs of a split, which changes meanwhile.

    Args:
        place: the split.
        form: the name of its form.
        way: how it is read, of `EPOCHS`.
    """

    def __init__(self, place: Place, form: str, way: str) -> None:
        self._place = place
        self._form = form
        self._way = way
        self._steps = cache(self._count)
        self._pool = ThreadPoolExecutor()

    def _once(self, change: Change, step: int) -> Read:
        self._place.reset(unsettled=change.unsettled)
        read = Read([_EPOCHS * self._place.count])
        ended = self._pool.submit(
            self._read, read, step, lambda: change.happens(self._place)
        )
        try:
            ended.result(timeout=SECONDS)
        except TimeoutError:
            read.fault = "hang"
        return read

    def _read(self, read: Read, step: int, change: Callable[[], object]) -> None:
        """Read all epochs, with a change before a step."""
        try:
            batches = EPOCHS[self._way](self._place)
            while True:
                read.steps += 1
                if read.steps == step:
                    read.changed = "next"
                    change()
                features, _, info = next(batches)
                columns = {**features, **info}
                batch = {name: column.numpy() for name, column in columns.items()}
                first = (read.steps - 1) * _BATCH // self._place.count
                read.delivered.append(_numbered(facts_of(batch), first))
        except StopIteration:
            return
        except (tf.errors.OpError, DatasetError) as error:
            read.error = str(error)
        except BaseException:
            read.fault, read.says = "raw", traceback.format_exc()


def _numbered(facts: Facts, epoch: int) -> Facts:
    """Number the records of all epochs on and on."""
    return [
        (generation, number + epoch * count, _EPOCHS * count)
        for generation, number, count in facts
    ]


def main() -> None:
    """Run what the command line says."""
    run(sys.argv[1:], dict.fromkeys(EPOCHS, _RECORDS), Epochs)
    sys.stdout.flush()
    os._exit(0)  # also where a thread waits for TensorFlow


if __name__ == "__main__":
    main()
