"""Values that readers deliver, as JSON: one batch of one record for each record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

Values = dict[str, Any]


def read_by_arrays(open_split: Any, directory: Path, split: str) -> list[Values]:
    """Return the batches of a split that `open_split` delivers."""
    return [stated(batch) for batch in open_split(directory, split).batches(1)]


def stated(batch: Mapping[str, Any], prefix: str = "") -> Values:
    """Return a batch with the dtype and the values of each field, those of models inside."""
    found: Values = {}
    for name, column in batch.items():
        if isinstance(column, Mapping):
            found |= stated(column, f"{prefix}{name}_")
        else:
            found[f"{prefix}{name}"] = [_dtype(column), plain(column)]
    return found


def _dtype(column: Any) -> str:
    """Return the name of a column's dtype; "" of texts and of lists of Python."""
    if isinstance(column, (list, tuple)):  # images, or indices with values
        return _dtype(column[-1]) if column else ""
    dtype = getattr(column, "dtype", np.dtype(object))
    return "" if dtype.name in ("object", "string") else str(dtype.name)


def plain(value: Any) -> Any:
    """Return a value of numpy or TensorFlow as JSON has it, bytes as Latin-1."""
    if hasattr(value, "dense_shape"):  # sparse, of one row
        return [[plain(value.indices[:, 1:]), plain(value.values)]]
    if hasattr(value, "to_list"):  # ragged
        return plain(value.to_list())
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (np.ndarray, np.generic)):
        exact = value.astype(np.float32) if value.dtype.kind == "V" else value
        return plain(exact.tolist())
    return (
        [plain(each) for each in value] if isinstance(value, (list, tuple)) else value
    )
