"""What tensorflow-datasets calls the features of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .measure import library
from .shapes import Row


def tfds_features(row: Row) -> Any:
    """Return a FeaturesDict for rows such as one, or raise `Missing`."""
    features = library("tensorflow_datasets", "tensorflow-datasets").features
    return features.FeaturesDict(
        {name: _feature(features, value) for name, value in row.items()}
    )


def _feature(features: Any, value: Any) -> Any:
    if isinstance(value, bytes):
        return features.Tensor(shape=(), dtype=np.object_)
    if isinstance(value, int):
        return features.Scalar(np.int64)
    if isinstance(value, float):
        return features.Scalar(np.float32)
    if value.dtype == np.uint8:
        return features.Tensor(
            shape=value.shape, dtype=np.uint8, encoding=features.Encoding.BYTES
        )
    if value.dtype == np.int64:  # of any length; a Sequence of Scalars is slower
        return features.Tensor(shape=(None,), dtype=np.int64)
    return features.Tensor(shape=value.shape, dtype=np.float32)
