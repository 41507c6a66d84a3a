"""The types of what rows are written from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

# A dict, or an instance of a schema's class, which gives its fields one by one.
Row = Mapping[str, Any] | Iterable[tuple[str, Any]]


class Rows(Protocol):
    """What has a length, and a row at each index from 0."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Row: ...


RowSource = Iterable[Row] | Rows | Sequence[Callable[[], Iterable[Row]]]
"""What `write_dataset` takes rows from."""
