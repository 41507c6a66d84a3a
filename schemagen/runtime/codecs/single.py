"""Codecs of one feature: with one value of bytes, or with the numbers of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared.values import Numbers, check_shape, shape_text
from ..shared.wire import Buffer, Pieces, buffer_of, pack_row
from .base import Codec
from .decoded import Shape
from .entry_columns import EntryColumn, bytes_column
from .part import INT

# Up to here it takes less time to copy an array's bytes than to refer to them.
_SHORT = 1 << 13


class BytesCodec(Codec):
    """A codec of one value of bytes."""

    def contents(self, value: Any) -> Buffer:
        """Return a converted value as the bytes that are stored.

        Raises:
            Problem: they cannot be made.
        """
        data: Buffer = value
        return data

    def _pieces(self, value: Any) -> Pieces:
        data = self.contents(self.convert(value))
        return self._entry.packed_head(len(data)), data

    def _column(self, values: Any, rows: int) -> EntryColumn:
        contents = [self.contents(self.convert(value)) for value in values]
        return bytes_column(self._entry, contents)


@dataclass(eq=False, kw_only=True)
class NumbersCodec(Codec):
    """A codec of the numbers of an array, as a list or as raw bytes.

    Attributes:
        dtype: by its TensorFlow name.
        exact: refuse floats that `dtype` cannot hold exactly.
        finite: refuse NaN and infinities.
    """

    dtype: str = "float32"
    exact: bool = False
    finite: bool = True

    @property
    def shape_of_rows(self) -> Shape:
        """The shape of one row's value; None for a size that varies."""
        return ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._shape = self.shape_of_rows
        self._numbers = Numbers(
            self.dtype, self.exact, self.finite, single=self._shape == ()
        )
        self._varints = self.parts[0].stored == INT
        self._raw = self.parts[0].encoding != "list"

    def convert(self, value: Any) -> NDArray[Any]:
        array = self._numbers.convert(value)
        if array.shape == (0,) and self._shape[:1] == (None,):
            # [] has no item to tell the sizes that come after.
            array = array.reshape(tuple(size or 0 for size in self._shape))
        check_shape(array, self._shape)
        return array

    def contents(self, value: NDArray[Any]) -> Buffer:
        """Return a converted value as the bytes that are stored, of raw numbers."""
        return buffer_of(self._numbers.raw(value))

    def _stored(self, array: NDArray[Any]) -> Pieces:
        """Encode an array of little-endian numbers of the declared dtype."""
        run: Buffer
        if self._varints:
            run = pack_row(array.astype(np.int64, copy=False).reshape(-1))
        elif array.nbytes <= _SHORT:
            run = array.tobytes()
        else:
            run = buffer_of(np.ascontiguousarray(array))
        # An empty list has no packed run, but empty bytes are still one value.
        if not run and not self._raw:
            return (self._entry.empty,)
        return self._entry.packed_head(len(run)), run

    def _pieces(self, value: Any) -> Pieces:
        return self._stored(self._numbers.raw(self.convert(value)))

    @property
    def takes(self) -> str:
        if not self.shape_of_rows:
            return f"one {self.dtype}"
        return f"{self.dtype} {shape_text(self.shape_of_rows)}"
