"""Memory for arrays that is used again once nothing refers to them.

A system fills each new page with zeros before a program may use it. For batches of records
that takes as long as copying the records.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Smaller arrays come from memory that the allocator keeps anyway.
_SMALLEST = 1 << 17

# As much is kept of each size.
_KEPT_BYTES = 1 << 25

_free: defaultdict[int, list[NDArray[np.uint8]]] = defaultdict(list)


class _Buffer:
    """A block of memory, which is free again when nothing refers to this."""

    def __init__(self, size: int) -> None:
        try:
            self._memory = _free[size].pop()
        except IndexError:
            self._memory = np.empty(size, np.uint8)
        self.__array_interface__ = self._memory.__array_interface__

    # Defaults, since the module's own names are gone when the interpreter ends.
    def __del__(self, free: Any = _free, kept_bytes: int = _KEPT_BYTES) -> None:
        size = self._memory.size
        if (len(free[size]) + 1) * size <= kept_bytes:
            free[size].append(self._memory)


def empty(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array whose values are anything, as `numpy.empty` does."""
    of_dtype = np.dtype(dtype)
    sizes = shape if isinstance(shape, tuple) else (shape,)
    size = int(np.prod(sizes)) * of_dtype.itemsize
    if size < _SMALLEST or size > _KEPT_BYTES:
        return np.empty(shape, of_dtype)
    # Of few sizes, so that one that is free fits.
    block = _Buffer(1 << (size - 1).bit_length())
    memory: NDArray[Any] = np.asarray(block)[:size]
    found: NDArray[Any] = memory.view(of_dtype).reshape(shape)
    return found
