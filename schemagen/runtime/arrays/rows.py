"""The rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..codecs.decoder import Batch, Row


class BatchRows(Sequence[Row]):
    """The rows of a batch, of which `collate` of `arrays.torch` takes the columns.

    They are padded as the batch is, and `<name>_present` tells what is there.

    Args:
        columns: the batch.
    """

    def __init__(self, columns: Batch) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return row_count(self.columns)

    def __getitem__(self, row: Any) -> Any:
        return {
            name: BatchRows(column)[row] if isinstance(column, dict) else column[row]
            for name, column in self.columns.items()
        }


def row_count(columns: Any) -> int:
    """Return how many rows a column has, or the columns of nested dicts."""
    while isinstance(columns, Mapping):
        columns = next(iter(columns.values()), ())
    return len(columns)
