"""Images of 16 bits a channel, as tensorflow writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from stored_features import blobs, ints

from .case import Drawn, KindCase, declared


def _pixels(channels: int) -> Any:
    return arrays.arrays(
        "uint16",
        (2, 3, channels),
        elements=st.integers(0, 2**16 - 1) | st.sampled_from([0, 255, 256, 65535]),
    )


def _drawn(name: str, pixels: Any) -> Drawn:
    data = tf.io.encode_png(pixels).numpy()
    return Drawn(data, {name: blobs(data)}, {name: pixels})


def _as_rgba(name: str, pixels: Any) -> Drawn:
    drawn = _drawn(name, pixels)
    color = np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
    alpha = np.full((2, 3, 1), 65535, np.uint16)
    return Drawn(drawn.given, drawn.stored, {name: np.concatenate([color, alpha], 2)})


def _described(name: str, pixels: Any) -> Drawn:
    drawn = _drawn(name, pixels)
    sizes = {f"height/{name}": ints(2), f"format/{name}": blobs(b"png")}
    return Drawn(drawn.given, {**drawn.stored, **sizes}, drawn.delivered)


def cases() -> Iterator[KindCase]:
    for channels in (1, 3, 4):
        yield declared(
            f"Annotated[bytes, Image((2, 3, {channels}), encoding='png', dtype='uint16')]",
            partial(_of, channels, _drawn),
        )
    kind = "Image((2, 3, 4), encoding='png', dtype='uint16')"
    yield declared(
        f"Annotated[bytes, {kind}]",
        lambda name: (_pixels(1) | _pixels(3)).map(lambda p: _as_rgba(name, p)),
    )
    yield declared(
        "Annotated[bytes, Image((2, None, 3), encoding='png', dtype='uint16', "
        "height_key='height/NAME', format_key='format/NAME')]",
        partial(_of, 3, _described),
        one_row_batches=True,
    ).optional(np.zeros((2, 1, 3), np.uint16))


def _of(
    channels: int, row: Callable[[str, Any], Drawn], name: str
) -> st.SearchStrategy[Drawn]:
    found: st.SearchStrategy[Drawn] = _pixels(channels).map(partial(row, name))
    return found
