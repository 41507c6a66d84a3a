"""Generated models that are trained and served, as users do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from conftest import Workspace


@dataclass(frozen=True)
class Trained:
    """A model of a record, trained on some rows.

    Attributes:
        module: the generated module.
        model: the model.
        dataset: of the rows.
        history: metrics by name, for each epoch.
    """

    module: ModuleType
    model: Any
    dataset: tf.data.Dataset
    history: dict[str, list[float]]

    def served(self, path: Path) -> Callable[[Iterable[bytes]], dict[str, Any]]:
        """Export the model; return what answers serialized records, by target."""
        self.module.export_serving(self.model, path)
        serve = tf.saved_model.load(str(path)).signatures["serving_default"]

        def answer(records: Iterable[bytes]) -> dict[str, Any]:
            found = serve(examples=tf.constant([*records]))
            return {name: tensor.numpy() for name, tensor in found.items()}

        return answer


def train(
    package: Workspace,
    record: str,
    rows: Iterable[Any],
    path: Path,
    *,
    batch_size: int = 4,
    epochs: int = 1,
) -> Trained:
    """Write rows, and train a model on them, whose loss stays finite."""
    package.module(record, "serializer").write_dataset(rows, path, "train")
    make_dataset = package.module(record, "pipeline").make_dataset
    dataset = make_dataset(path, batch_size=batch_size)
    module = package.module(record, "model")
    model = module.build_model()
    module.adapt(model, dataset)
    history = model.fit(dataset, epochs=epochs, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    return Trained(module, model, dataset, history)
