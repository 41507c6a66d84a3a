"""Examples as bytes, made without tensorflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from schemagen.runtime.shared.wire import sized, varint

Value = tuple[str, Sequence[Any]]

_TAGS = {"bytes": b"\x0a", "float": b"\x12", "int64": b"\x1a"}


def _part(tag: bytes, contents: bytes) -> bytes:
    return tag + varint(len(contents)) + contents


def feature(value: Value) -> bytes:
    """Return a feature: of a kind and its values; of kind "" without a list."""
    kind, values = value
    if not kind:
        return b""
    if kind == "bytes":
        contents = b"".join(sized(each) for each in values)
    elif kind == "float":
        packed = np.array(values, "<f4").tobytes()
        contents = sized(packed) if packed else b""
    else:
        packed = b"".join(varint(each & (1 << 64) - 1) for each in values)
        contents = sized(packed) if packed else b""
    return _part(_TAGS[kind], contents)


def _features(held: Mapping[str, Value]) -> bytes:
    return b"".join(
        sized(sized(key.encode()) + _part(b"\x12", feature(value)))
        for key, value in held.items()
    )


def example(held: Mapping[str, Value]) -> bytes:
    """Return a tf.train.Example."""
    return sized(_features(held))


def sequence_example(
    context: Mapping[str, Value], lists: Mapping[str, Sequence[Value]]
) -> bytes:
    """Return a tf.train.SequenceExample."""
    contents = b"".join(
        sized(
            sized(key.encode())
            + _part(b"\x12", b"".join(sized(feature(step)) for step in steps))
        )
        for key, steps in lists.items()
    )
    return sized(_features(context)) + _part(b"\x12", contents)
