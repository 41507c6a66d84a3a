"""What codecs make of stored values, without a generated package around them."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
from schemagen.runtime.codecs.images import Image
from schemagen.runtime.codecs.kind import Kind
from schemagen.runtime.codecs.masks import Mask
from schemagen.runtime.codecs.parsed import Parsed


def parsed_by(codec: Kind, **features: Any) -> Any:
    """Return the tensor of a batch, given its features by key."""
    return codec.parse(Parsed(features, None, [codec.name]))


def decode_images(
    data: Any,
    name: str,
    encoding: str,
    shape: tuple[int | None, int | None, int],
    resize: tuple[int, int] | None = None,
    *,
    dtype: tf.DType = tf.uint8,
    **options: Any,
) -> Any:
    """Decode a batch of encoded images: string [B]."""
    own: Any = {
        "encoding": encoding,
        "shape": shape,
        "resize": resize,
        "dtype": dtype.name,
    }
    return parsed_by(Image(**own, **options).bound(name), **{name: data})


def decode_masks(
    data: Any,
    name: str,
    encoding: str,
    shape: tuple[int | None, int | None],
    dtype: tf.DType = tf.uint8,
    **options: Any,
) -> Any:
    """Decode a batch of masks: string [B]."""
    own: Any = {"encoding": encoding, "shape": shape, "dtype": dtype.name}
    return parsed_by(Mask(**own, **options).bound(name), **{name: data})


def values_of(faults: Any) -> Any:
    """Return the values that a check of records returns when it yields no fault."""
    with pytest.raises(StopIteration) as stopped:
        next(faults)
    return stopped.value.value
