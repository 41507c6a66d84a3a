"""Batches as tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..shared.dtypes import DTYPES
from .split import BatchRows


def collate(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the rows that a data loader has read as a batch of tensors.

    For `torch.utils.data.DataLoader(split, batch_size=..., collate_fn=collate)`. Numbers
    are not copied; texts are lists, and so are rows of different shapes.

    Args:
        rows: what a split gives to the data loader.
    """
    if isinstance(rows, BatchRows):
        return tensors_of(rows.columns)
    from torch.utils.data import default_collate  # type: ignore[import-not-found, import-untyped, unused-ignore]

    collated: dict[str, Any] = default_collate(list(rows))
    return collated


def tensors_of(batch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a batch of arrays, such as one of `Split.batches`, as tensors."""
    return {name: _tensor(value) for name, value in batch.items()}


def _tensor(value: Any) -> Any:
    import torch  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if isinstance(value, Mapping):
        return tensors_of(value)
    if isinstance(value, (list, tuple)):
        return [_tensor(each) for each in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind == "O":
        return value.tolist()
    dtype = DTYPES.get(value.dtype.name)
    if dtype is not None and not dtype.in_numpy:  # which torch takes from numpy by bits
        bits = torch.from_numpy(value.view(f"int{8 * dtype.size}"))
        return bits.view(getattr(torch, dtype.name))
    return torch.from_numpy(value)
