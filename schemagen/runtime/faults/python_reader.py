"""Reading files by Python, piece by piece, from the graphs of datasets.

For what TensorFlow has no file system or no compression for, and for what it does not
notice: it takes a compressed file that is cut off for a whole one, and cannot go on behind
a bad record.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import islice

from ..shared.errors import DatasetError
from ..shared.requirements import tf
from .calls import call_python

# How many files stay open. Those of iterators that stopped early are closed at last.
_MOST_OPEN = 32

# The number of a piece behind the last one of any file.
_END = 2**62


class PythonReader:
    """Reads pieces of files, each for any number of iterators.

    Args:
        read: returns the records of a part, by its number. It may raise a
            `DatasetError`, which becomes the graph's.
        size: how many records make a piece.
    """

    def __init__(self, read: Callable[[int], Iterator[bytes]], size: int) -> None:
        self._read = read
        self._size = size
        self._open: OrderedDict[bytes, Iterator[list[bytes]]] = OrderedDict()
        self._lock = threading.Lock()

    def pieces(self, part: tf.Tensor) -> tf.data.Dataset:
        """Return the records of a part, by its number: string [N]."""
        reading = call_python(self._begin, [])
        return (
            tf.data.Dataset.range(_END)
            .map(lambda number: call_python(self._next, [reading, part, number]))
            .take_while(lambda piece: tf.size(piece) > 0)
        )

    def close_with(self, dataset: tf.data.Dataset) -> None:
        """Close all files once nothing uses a dataset; a graph's Python stays for ever."""
        weakref.finalize(dataset, self._open.clear)

    def _begin(self) -> tuple[str, list[bytes]]:
        return "", [uuid.uuid4().bytes]

    def _next(
        self, reading: tf.Tensor, part: tf.Tensor, number: tf.Tensor
    ) -> tuple[str, list[bytes]]:
        """Return the next piece, an empty one at the end."""
        key = bytes(reading.numpy()[0])
        with self._lock:
            pieces = self._open.pop(key, None)
        if pieces is None:  # of an iterator that begins, or was restored
            pieces = islice(self._pieces(int(part)), int(number), None)
        message, piece = "", list[bytes]()
        try:
            piece = next(pieces, piece)
        except DatasetError as error:
            message, pieces = str(error), iter(())  # asked again, the file ends
        if piece or message:
            with self._lock:
                self._open[key] = pieces
                if len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
        return message, piece

    def _pieces(self, part: int) -> Iterator[list[bytes]]:
        """Yield pieces, the last one only when what comes behind it was read, too."""
        records = self._read(part)
        piece = list(islice(records, self._size))
        while piece:
            following = list(islice(records, self._size))
            yield piece
            piece = following
