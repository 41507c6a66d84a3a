"""Training the generated model of digits, on both ways to read them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import keras

from generated.digit.model import adapt, build_model
from generated.digit.pipeline import make_dataset
from generated.digit.reader import open_split

_BATCH = 32
_METRIC = "sparse_categorical_accuracy"


def baseline(data: Path) -> float:
    """Return the accuracy of always answering the most frequent class."""
    train, test = (
        open_split(data, split, fields=["digit"])[:]["digit"].tolist()
        for split in ("train", "test")
    )
    [(most, _)] = Counter(train).most_common(1)
    return float(test.count(most) / len(test))


def with_make_dataset(data: Path, epochs: int) -> float:
    """Train on a `tf.data` pipeline, and return the accuracy on held-out records."""
    return _trained(
        data,
        make_dataset(data, "train", batch_size=_BATCH, training=True, seed=0),
        epochs,
    )


def with_open_split(data: Path, epochs: int) -> float:
    """Train on a sequence of records that is shuffled exactly; return the same."""
    split = open_split(data, "train")
    return _trained(data, split.keras(_BATCH, shuffle_seed=0), epochs)


def _trained(data: Path, batches: Any, epochs: int) -> float:
    """Train a new model, always from the same random numbers."""
    keras.utils.set_random_seed(0)
    model = build_model()
    adapt(model, make_dataset(data, "train", batch_size=_BATCH))
    test = make_dataset(data, "test", batch_size=_BATCH)
    history = model.fit(batches, validation_data=test, epochs=epochs, verbose=0)
    return float(history.history[f"val_{_METRIC}"][-1])
