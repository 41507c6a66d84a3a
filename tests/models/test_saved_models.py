"""Saved models, loaded by programs that know nothing of the record."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from conftest import PackageOf

SCHEMA = """\
from typing import Annotated
from schemagen import *


class Visit(Record):
    words: list[str]
    amount: float | None = None
    paid: Annotated[bool, Scalar("bool", role="target")]
    tags: Annotated[list[int], MultiLabel(num_classes=3)]
"""

LOAD = """\
import sys
import keras, numpy as np, tensorflow as tf
import schemagen.runtime.models
model = keras.models.load_model(sys.argv[1])
words, amount = tf.constant([["a", "b"]]), tf.constant([0.0])
found = model({"words": words, "amount": amount})
np.savez(sys.argv[2], **found)
"""


def test_a_model_is_loaded_without_generated_code(
    package_of: PackageOf, tmp_path: Path
) -> None:
    """It predicts the same; the runtime alone registers what the file names."""
    package = package_of(SCHEMA)
    serializer, pipeline, generated = (
        package.module("visit", part) for part in ("serializer", "pipeline", "model")
    )
    rows = [
        {"words": ["a", "b"], "amount": at / 2, "paid": at > 3, "tags": [1]}
        for at in range(8)
    ]
    serializer.write_dataset(rows, tmp_path / "data", "train")
    dataset = pipeline.make_dataset(tmp_path / "data", "train", batch_size=1)
    model = generated.build_model()
    generated.adapt(model, dataset)
    model.save(tmp_path / "model.keras")
    command = [sys.executable, "-c", LOAD, tmp_path / "model.keras", tmp_path / "found"]
    subprocess.run(command, check=True)
    features = next(iter(dataset))[0]
    found = np.load(tmp_path / "found.npz")
    for name, expected in model(features).items():
        np.testing.assert_array_equal(found[name], expected.numpy())
