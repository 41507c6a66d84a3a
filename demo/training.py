"""Training a generated model on all inputs of a record, and on each of them alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

ALL = "all inputs together"
_METRIC = "sparse_categorical_accuracy"


@dataclass(frozen=True)
class Task:
    """A record to learn, by the functions that were generated for it.

    Attributes:
        record: its name.
        data: its data directory, with the splits train and test.
        make_dataset: from its pipeline module.
        build_model: from its model module.
        adapt: from its model module.
        alone: the inputs to try alone, by what to call them.
        epochs: how often to go through the training data. It is given beforehand:
            the held-out data choose nothing.
        batch_size: records in a batch.
    """

    record: str
    data: Path
    make_dataset: Callable[..., tf.data.Dataset]
    build_model: Callable[..., keras.Model]
    adapt: Callable[[keras.Model, tf.data.Dataset], None]
    alone: Mapping[str, tuple[str, ...]]
    epochs: int
    batch_size: int = 32


@dataclass(frozen=True)
class Run:
    """A trained model and how it did.

    Attributes:
        name: what it learned from.
        model: the model.
        train: its accuracy on the training data in each epoch, while it learned.
        test: its accuracy on the held-out data after each epoch.
    """

    name: str
    model: keras.Model
    train: list[float]
    test: list[float]

    @property
    def accuracy(self) -> float:
        """The accuracy on the held-out data at the end."""
        return self.test[-1]


def runs(task: Task) -> Iterator[Run]:
    """Train on all inputs, then on each alone."""
    yield fit(task, ALL, None)
    for name, inputs in task.alone.items():
        yield fit(task, name, inputs)


def fit(task: Task, name: str, inputs: tuple[str, ...] | None) -> Run:
    """Train a new model, always from the same random numbers.

    Args:
        task: the record.
        name: what to call the run.
        inputs: the inputs to learn from; None for all.
    """
    keras.utils.set_random_seed(0)
    train = task.make_dataset(
        task.data,
        "train",
        batch_size=task.batch_size,
        training=True,
        seed=0,
        cache=True,
    )
    # Held-out records always come in the same batches, which are kept.
    test = task.make_dataset(task.data, "test", batch_size=task.batch_size).cache()
    # Smaller and smaller steps, so that the last epoch is no matter of luck.
    steps = keras.optimizers.schedules.CosineDecay(2e-3, task.epochs * len(train))
    options: dict[str, Any] = {"optimizer": keras.optimizers.Adam(steps)}
    if inputs is not None:
        options["inputs"] = inputs
    model = task.build_model(**options)
    task.adapt(model, train)
    history = model.fit(
        train,
        validation_data=test,
        epochs=task.epochs,
        verbose=0,
        callbacks=[_Progress(name, task.epochs)],
    ).history
    return Run(name, model, history[_METRIC], history[f"val_{_METRIC}"])


@dataclass(frozen=True)
class Answers:
    """Held-out records next to what a model says of them, in the order of the shards.

    Attributes:
        features: every input, by name.
        truth: the class ids.
        predicted: the class ids that the model finds most probable.
        confidence: the probability it gives them.
    """

    features: dict[str, NDArray[Any]]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    confidence: NDArray[np.float32]


def answers(task: Task, model: keras.Model) -> Answers:
    """Ask a model about all held-out records."""
    everything = task.make_dataset(task.data, "test", batch_size=100_000)
    features, truth = next(iter(everything))
    probabilities = model.predict_on_batch(features)
    return Answers(
        features={name: tensor.numpy() for name, tensor in features.items()},
        truth=truth.numpy(),
        predicted=probabilities.argmax(axis=1),
        confidence=probabilities.max(axis=1),
    )


class _Progress(keras.callbacks.Callback):  # type: ignore[misc]
    """Shows a run on one line: as it goes on a terminal, else once at its end."""

    def __init__(self, name: str, epochs: int) -> None:
        super().__init__()
        self._name = name
        self._epochs = epochs

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Rewrite the line."""
        last = epoch + 1 == self._epochs
        if not (last or sys.stdout.isatty()):
            return
        done = 20 * (epoch + 1) // self._epochs
        accuracy = (logs or {})[f"val_{_METRIC}"]
        print(
            f"\r  {self._name:<22} {'━' * done}{'·' * (20 - done)} "
            f"epoch {epoch + 1:>2}/{self._epochs}  held-out accuracy {accuracy:.3f}",
            end="\n" if last else "",
            flush=True,
        )
