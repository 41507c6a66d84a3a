"""What bytes values hold: raw numbers, and bytes that are stored as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.shared.base64_text import decoded
from ..runtime.shared.errors import Problem
from ..runtime.shared.values import item_size
from .columns import Column
from .message import FLOAT, INT64
from .varint_arrays import gathered


def from_base64(column: Column) -> tuple[Column, dict[int, Problem]]:
    """Decode the base64 text of a column of kind bytes.

    Returns:
        The column of what the texts hold, and what is wrong with values, by their
        position. These are empty in the column.
    """
    contents: list[bytes] = []
    wrong: dict[int, Problem] = {}
    for at, text in enumerate(column.bytes_values()):
        try:
            contents.append(decoded(text))
        except Problem as problem:
            contents.append(b"")
            wrong[at] = problem
    bounds = np.cumsum([0, *map(len, contents)], dtype=np.int64)
    values = np.stack([bounds[:-1], bounds[1:]], axis=1)
    data = np.frombuffer(b"".join(contents), np.uint8)
    return replace(column, values=values, data=data), wrong


def from_raw(column: Column, dtype: str) -> Column:
    """Return the numbers of raw bytes, all those of a row together.

    Args:
        column: one value in each row, of whole numbers.
        dtype: of the numbers; those of bfloat16 become float32.
    """
    starts, stops = column.values[:, 0], column.values[:, 1]
    data = gathered(column.data, memoryview(column.data.data), starts, stops)
    values: NDArray[Any]
    if dtype == "bfloat16":  # the first half of a float32
        values = (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        values = data.view(np.dtype(dtype).newbyteorder("<"))
    kind = FLOAT if values.dtype.kind == "f" else INT64
    lengths = (stops - starts) // item_size(dtype)
    return replace(column, kind=kind, lengths=lengths, values=values)
