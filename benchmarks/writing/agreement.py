"""Whether all ways write the same records: nothing is timed before they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..measure import Different
from ..shapes import Row


def records_of(framed: Iterable[Any]) -> Iterator[bytes]:
    """Yield the records out of framed ones, without the lengths and checksums."""
    for some in framed:
        start = 0
        for end in some.ends.tolist():
            yield bytes(some.data[start + 12 : end - 4])
            start = end


def records_in(files: Iterable[Path], compression: str = "") -> Iterator[bytes]:
    """Yield the records of files as tensorflow reads them, which tests checksums."""
    import tensorflow as tf

    names = [str(file) for file in files]
    for record in tf.data.TFRecordDataset(names, compression):
        yield record.numpy()


class Agreement:
    """Sees that records are those of rows, as protobuf parses them.

    Args:
        rows: what was to be written.
    """

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._right: list[list[bytes]] = []

    def check(self, way: str, records: Iterable[bytes]) -> None:
        """Compare each value of each record.

        Args:
            way: which wrote them.
            records: serialized. The same bytes are not parsed a second time.

        Raises:
            Different: naming the way, the record and the feature.
        """
        found = list(records)
        if found in self._right:
            return
        if len(found) != len(self._rows):
            raise Different(f"{way}: {len(found)} records of {len(self._rows)} rows")
        for number, (record, row) in enumerate(zip(found, self._rows, strict=True)):
            features = _features(record)
            if features.keys() != row.keys():
                raise Different(f"{way}: record {number}: features {sorted(features)}")
            for name, value in row.items():
                if not np.array_equal(features[name], _stored(value)):
                    raise Different(
                        f"{way}: record {number}: feature {name!r} has other values"
                    )
        self._right.append(found)


def _features(record: bytes) -> dict[str, Any]:
    """Return the lists of an Example by their keys."""
    import tensorflow as tf

    example = tf.train.Example.FromString(record)
    found = {}
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        values = getattr(feature, kind).value
        dtype = {"int64_list": np.int64, "float_list": np.float32}.get(kind)
        found[name] = np.array(values, dtype) if dtype else list(values)
    return found


def _stored(value: Any) -> Any:
    """Return what is to be in the list of a value."""
    if isinstance(value, bytes):
        return [value]
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        return [value.tobytes()]
    return np.asarray(value).reshape(-1)
