"""The program of the README, in a project that `schemagen init` has made.

Run it with `python pets.py EPOCHS`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
from generated.pet_photo.model import adapt, build_model
from generated.pet_photo.pipeline import make_dataset
from generated.pet_photo.reader import open_split
from generated.pet_photo.serializer import write_dataset

_COUNTS = {"train": 240, "test": 60}
_BATCH = 32


def rows(split: str) -> Iterator[dict[str, Any]]:
    """Yield pets: a breed has a brightness, and measurements around its own."""
    random = np.random.default_rng(list(_COUNTS).index(split))
    for index in range(_COUNTS[split]):
        breed = index % 3
        yield {
            "photo": random.integers(0, 80 * (1 + breed), (64, 64, 3)),
            "note": random.integers(1, 50, random.integers(0, 9)),
            "measurements": random.normal(breed, 1, 5),
            "breed": breed,
            "age_years": None if index % 4 else 2.5,
        }


def main(epochs: int) -> None:
    """Write both splits, and train on each way to read them."""
    for split in _COUNTS:
        print(f"{write_dataset(rows(split), 'data', split):>5,} records of {split}")
    train = make_dataset("data", "train", batch_size=_BATCH, training=True, seed=0)
    test = make_dataset("data", "test", batch_size=_BATCH)
    ways = {
        "make_dataset (tf.data)": train,
        "open_split (numpy, exact shuffle)": open_split("data", "train").keras(
            _BATCH, shuffle_seed=0
        ),
    }
    for way, batches in ways.items():
        keras.utils.set_random_seed(0)
        model = build_model(max_tokens=64)
        adapt(model, train)
        model.fit(batches, epochs=epochs, verbose=0)
        _, accuracy = model.evaluate(test, verbose=0)
        print(f"trained on {way:<34} accuracy on test {accuracy:6.1%}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
