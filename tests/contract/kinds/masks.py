"""Masks: grey PNGs, PNGs with a palette as Pillow writes them, and raw ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from PIL import Image
from stored_features import blobs, ints

from .case import Drawn, KindCase, declared
from .images import nearest

Ids = NDArray[Any]
# From a field's name and drawn ids to a row's value.
Row = Callable[[str, Ids, bytes], Drawn]


def _png(ids: Ids, palette: bytes) -> bytes:
    """Return a grey PNG, or one of these colours: three bytes for each id."""
    image = Image.fromarray(ids)
    if palette:
        image.putpalette(palette)
    out = BytesIO()
    image.save(out, "png")
    return out.getvalue()


def _ids(dtype: str, values: st.SearchStrategy[int], *sizes: int) -> Any:
    """Draw ids of a fixed shape, or of any small one."""
    shape: Any = sizes or st.tuples(st.integers(1, 5), st.integers(1, 5))
    return arrays.arrays(dtype, shape, elements=values)


def _drawn(ids: Any, row: Row) -> Callable[[str], st.SearchStrategy[Drawn]]:
    # Two indices of a palette may have one colour, and are two ids all the same.
    palettes = st.just(b"") | st.binary(min_size=768, max_size=768)
    few = st.just(b"\x07" * 768)
    pairs = st.tuples(ids, palettes | few)
    return lambda name: pairs.map(lambda pair: row(name, *pair))


def _encoded(name: str, ids: Ids, palette: bytes) -> Drawn:
    data = _png(ids, palette)
    return Drawn(data, {name: blobs(data)}, {name: ids})


def _resized(name: str, ids: Ids, palette: bytes) -> Drawn:
    data = _png(ids, palette)
    stored = {name: blobs(data), f"height/{name}": ints(ids.shape[0])}
    return Drawn(data, stored, {name: nearest(ids, 4, 6)})


def _raw(name: str, ids: Ids, _: bytes) -> Drawn:
    return Drawn(ids[..., np.newaxis], {name: blobs(ids.tobytes())}, {name: ids})


def _raw_resized(name: str, ids: Ids, _: bytes) -> Drawn:
    return Drawn(ids, {name: blobs(ids.tobytes())}, {name: nearest(ids, 2, 6)})


def _sized(name: str, ids: Ids, _: bytes) -> Drawn:
    stored = {
        name: blobs(ids.tobytes()),
        f"height/{name}": ints(ids.shape[0]),
        f"width/{name}": ints(ids.shape[1]),
        f"format/{name}": blobs(b"raw"),
    }
    return Drawn(ids, stored, {name: ids})


def cases() -> Iterator[KindCase]:
    """Masks of sizes of their own: random records have images of other sizes."""
    bytes_or_few = st.integers(0, 255) | st.integers(0, 2)
    voc = st.integers(0, 20) | st.just(255)
    words = st.integers(0, 2**16 - 1)
    integers = st.integers(-(2**31), 2**31 - 1)
    yield declared(
        "Annotated[bytes, Mask((3, 5), own_size=True)]",
        _drawn(_ids("uint8", bytes_or_few, 3, 5), _encoded),
    )
    for of in ("Any", "bytes | np.ndarray"):
        kind = "Mask((3, 5), own_size=True, num_classes=21, ignore=255, role='input')"
        of_voc = declared(
            f"Annotated[{of}, {kind}]", _drawn(_ids("uint8", voc, 3, 5), _encoded)
        )
        yield of_voc
    yield of_voc.optional(np.full((3, 5), 255, np.uint8), masked=False)
    yield declared(
        "Annotated[bytes, Mask((3, 5), own_size=True, classes=('a', 'b'), role='info')]",
        _drawn(_ids("uint8", st.integers(0, 1), 3, 5), _encoded),
    ).optional(np.zeros((3, 5), np.uint8))
    yield declared(
        "Annotated[bytes, Mask((None, None), own_size=True, resize=(4, 6), height_key='height/NAME')]",
        _drawn(_ids("uint8", bytes_or_few), _resized),
    )
    yield declared(
        "Annotated[bytes, Mask((3, None), own_size=True)]",
        _drawn(
            st.integers(1, 5).flatmap(lambda n: _ids("uint8", bytes_or_few, 3, n)),
            _encoded,
        ),
        one_row_batches=True,
    )
    yield declared(
        "Annotated[Any, Mask((2, 3), own_size=True, dtype='uint16', num_classes=2**16, role='info')]",
        _drawn(_ids("uint16", words, 2, 3), lambda n, ids, _: _encoded(n, ids, b"")),
    )
    yield declared(
        "Annotated[np.ndarray, Mask((4, 3), own_size=True, encoding='raw', dtype='uint16', "
        "num_classes=1000, ignore=0, role='info', resize=(2, 6))]",
        _drawn(_ids("uint16", st.integers(0, 999), 4, 3), _raw_resized),
    )
    yield declared(
        "Annotated[np.ndarray, Mask((2, 2), own_size=True, encoding='raw', dtype='int32', ignore=-2)]",
        _drawn(_ids("int32", integers, 2, 2), _raw),
    ).optional(np.full((2, 2), -2, np.int32), masked=False)
    yield declared(
        "Annotated[np.ndarray, Mask((None, None), own_size=True, encoding='raw', dtype='int32', "
        "height_key='height/NAME', width_key='width/NAME', format_key='format/NAME')]",
        _drawn(_ids("int32", integers), _sized),
        one_row_batches=True,
    )
