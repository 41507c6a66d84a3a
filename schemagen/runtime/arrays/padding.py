"""Batches of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codecs.decoder import Batch, Decoder
from ..shared.errors import NO_LIMIT, DatasetError


def padded_to_limits(decoder: Decoder) -> Callable[[Batch], Batch]:
    """Return what pads the lists of a batch to the lengths that the schema allows.

    Raises:
        DatasetError: no list that is read has a maximum length.
    """
    limits = {
        tuple(each.codec.label.split(".")): (limit, each.filler)
        for name, limit in decoder.record.max_lengths.items()
        for each in (decoder.collators.get(decoder.record[name].label),)
        if each and not each.listed
    }
    if not limits:
        raise DatasetError(NO_LIMIT)

    def padded(batch: Batch) -> Batch:
        found = dict(batch)
        for (*outer, last), (limit, filler) in limits.items():
            place = found
            for name in outer:
                place[name] = dict(place[name])
                place = place[name]
            if last in place:
                place[last] = _padded(place[last], limit, filler)
        return found

    return padded


def _padded(column: Any, limit: int, filler: Any) -> Any:
    """Pad a column [rows, length, ...] to a length; what is longer stays."""
    missing = limit - column.shape[1]
    if missing <= 0:
        return column
    ends = [(0, 0)] * column.ndim
    ends[1] = (0, missing)
    return np.pad(column, ends, constant_values=filler)
