"""Whether all ways read the same records: nothing is timed before they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..measure import Different
from ..shapes import Columns, Row
from .shapes import decoded
from .ways import Reading

_Record = tuple[bytes, ...]

_ENOUGH = 10
"""Records that chance does not leave in their order."""


class Agreement:
    """Sees that each row is delivered once, with its values and dtypes.

    Args:
        rows: what was written, in order.
    """

    def __init__(self, rows: list[Row]) -> None:
        self._dtypes = {name: _array(value).dtype for name, value in rows[0].items()}
        pixels: dict[bytes, Any] = {}
        for row in rows:
            for value in row.values():
                if isinstance(value, bytes) and value not in pixels:
                    pixels[value] = decoded(value).numpy()
        self._rows = [
            {
                name: _identity(pixels[value] if isinstance(value, bytes) else value)
                for name, value in row.items()
            }
            for row in rows
        ]

    def check(self, way: str, reading: Reading) -> None:
        """Read once and compare.

        Args:
            way: the name of it.
            reading: which may leave out fields, but no rows.

        Raises:
            Different: naming the way, and the field or how many rows are other ones.
        """
        found: list[_Record] = []
        names: list[str] = []
        for batch in reading.batches():
            names = sorted(batch)
            for name, values in batch.items():
                if values.dtype != self._dtypes[name]:
                    raise Different(
                        f"{way}: field {name!r} is {values.dtype}, "
                        f"expected {self._dtypes[name]}"
                    )
            found += _records(batch, names)
        expected = [tuple(row[name] for name in names) for row in self._rows]
        other = Counter(expected)
        other.subtract(found)
        if any(other.values()):
            missed = sum(count for count in other.values() if count > 0)
            raise Different(
                f"{way}: {len(found)} records of {len(expected)} rows; "
                f"{missed} rows are not among them"
            )
        if reading.shuffled and len(expected) >= _ENOUGH and found == expected:
            raise Different(f"{way}: not shuffled")


def _records(batch: Columns, names: list[str]) -> Iterator[_Record]:
    columns = ([_identity(value) for value in batch[name]] for name in names)
    return zip(*columns, strict=True)


def _array(value: Any) -> Any:
    if isinstance(value, bytes):
        return np.empty(0, np.uint8)
    if isinstance(value, float):
        return np.asarray(value, np.float32)
    return np.asarray(value)


def _identity(value: Any) -> bytes:
    """Return a value's bytes, without the zeros that fill up a row of tokens."""
    array = _array(value)
    if array.ndim == 1 and array.dtype == np.int64:
        array = np.trim_zeros(array, "b")
    return bytes(array.tobytes())
