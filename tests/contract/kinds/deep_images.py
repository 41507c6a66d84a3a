"""Images of 16 and 32 bits a channel, as tensorflow and tifffile write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import tensorflow as tf
import tifffile
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
    yield declared(
        "Annotated[list[bytes], Images((2, 3, 3), 'png', count=2, dtype='uint16')]",
        lambda name: st.lists(_pixels(3), min_size=2, max_size=2).map(
            partial(_list, name)
        ),
    )
    for channels in (1, 3, 4):
        for dtype in ("uint16", "float32"):
            kind = f"Image((2, 3, {channels}), 'tiff', dtype={dtype!r})"
            yield declared(
                f"Annotated[bytes, {kind}]", partial(_tiff, dtype, channels, channels)
            )
    yield declared(
        "Annotated[bytes, Image((2, 3, 4), 'tiff', dtype='float32', "
        "height_key='height/NAME', format_key='format/NAME')]",
        partial(_tiff, "float32", 1, 4),
    ).optional(np.zeros((2, 3, 4), np.float32))


def _list(name: str, pictures: list[Any]) -> Drawn:
    data = [tf.io.encode_png(pixels).numpy() for pixels in pictures]
    return Drawn(data, {name: blobs(*data)}, {name: np.stack(pictures)})


def _tiff(
    dtype: str, channels: int, wanted: int, name: str
) -> st.SearchStrategy[Drawn]:
    """A TIFF, some of them BigTIFF, big-endian or compressed, and read as RGBA."""

    def drawn(pixels: Any, seed: int) -> Drawn:
        pixels = pixels.astype(dtype) / (7 if dtype == "float32" else 1)
        pixels = pixels.astype(dtype)
        out = BytesIO()
        tifffile.imwrite(
            out,
            pixels if channels > 1 else pixels[:, :, 0],
            photometric="rgb" if channels > 1 else "minisblack",
            planarconfig="contig" if channels > 1 else None,
            byteorder="<>"[seed % 2],
            bigtiff=seed % 3 == 0,
            compression=(None, "zlib", "lzw")[seed % 3],
        )
        stored = {name: blobs(out.getvalue())}
        if wanted > channels:
            color, alpha = np.repeat(pixels, 3, axis=2), np.ones((2, 3, 1), dtype)
            pixels = np.concatenate([color, alpha], 2)
            stored |= {f"height/{name}": ints(2), f"format/{name}": blobs(b"tiff")}
        return Drawn(out.getvalue(), stored, {name: pixels})

    return st.builds(drawn, _pixels(channels), st.integers(0, 5))


def _of(
    channels: int, row: Callable[[str, Any], Drawn], name: str
) -> st.SearchStrategy[Drawn]:
    found: st.SearchStrategy[Drawn] = _pixels(channels).map(partial(row, name))
    return found
