"""Images: encoded in every format, raw of any size with their size stored; lists."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from hypothesis import strategies as st
from PIL import Image
from stored_features import blobs, ints

from .case import Drawn, KindCase, Value, declared, under_one_key

FORMATS = ("png", "bmp", "gif", "webp")  # those that lose nothing

# A palette can be put in any order, and a TIFF be compressed in several ways, so that
# programs write other bytes.
AS_BYTES = ("gif", "tiff")
_OPTIONS: dict[str, dict[str, Any]] = {"webp": {"lossless": True, "exact": True}}

Shape = tuple[int, int, int]


def picture(shape: Shape, seed: int, dtype: str = "uint8") -> Any:
    """Return pixels of a few colours, none of them black."""
    chance = np.random.default_rng(seed)
    return (chance.integers(1, 6, shape) * 40).astype(dtype)


def encoded(pixels: Any, form: str) -> bytes:
    """Return pixels as Pillow encodes them."""
    out = io.BytesIO()
    plain = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    Image.fromarray(plain).save(out, format=form, **_OPTIONS.get(form, {}))
    return out.getvalue()


def nearest(pixels: Any, height: int, width: int) -> Any:
    """Take for each new pixel the old one below its middle."""
    rows = ((np.arange(height) + 0.5) * pixels.shape[0] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * pixels.shape[1] / width).astype(int)
    return pixels[rows][:, columns]


def _shapes(channels: int) -> st.SearchStrategy[Shape]:
    return st.tuples(st.integers(1, 6), st.integers(1, 6), st.just(channels))


def _one(form: str, shape: Shape) -> st.SearchStrategy[Value]:
    """An image of a fixed size, given as bytes or as pixels."""

    def value(seed: int, as_bytes: bool) -> Value:
        pixels = picture(shape, seed)
        data = encoded(pixels, form)
        given = data if as_bytes or form in AS_BYTES else pixels
        return Value(given, blobs(data), pixels)

    return st.builds(value, st.integers(0, 99), st.booleans())


def _of_any_format(name: str) -> st.SearchStrategy[Drawn]:
    def drawn(shape: Shape, form: str, seed: int) -> Drawn:
        pixels = picture(shape, seed)
        data = encoded(pixels, form)
        stored = {
            f"{name}/key": blobs(data),
            f"{name}/height": ints(shape[0]),
            f"{name}/width": ints(shape[1]),
            f"{name}/channels": ints(shape[2]),
            f"{name}/format": blobs(form.encode()),
        }
        return Drawn(data, stored, {name: nearest(pixels, 3, 2)})

    return st.builds(drawn, _shapes(3), st.sampled_from(FORMATS), st.integers(0, 99))


def _one_colour(name: str) -> st.SearchStrategy[Drawn]:
    """A grey or RGB JPEG without contrast, which no way of resizing changes."""

    def drawn(shape: Shape, grey: int) -> Drawn:
        data = encoded(np.full(shape, grey, np.uint8), "jpeg")
        pixels = np.full((4, 3, 3), grey, np.uint8)
        stored = {name: blobs(data), f"{name}/format": blobs(b"JPG")}
        return Drawn(data, stored, {name: pixels})

    grey, color = _shapes(1), _shapes(3)
    return st.builds(drawn, grey | color, st.integers(0, 255))


def _raw_sizes(name: str, shape: Sequence[int]) -> dict[str, tf.train.Feature]:
    sizes = zip(("height", "width", "channels"), shape, strict=True)
    return {f"{name}/{part}": ints(size) for part, size in sizes}


def _raw(
    dtype: str, channels: int, size: tuple[int, int] | None = None
) -> Callable[[str], st.SearchStrategy[Drawn]]:
    """Raw pixels of any size, brought to one by nearest neighbours or not at all."""

    def draw(name: str) -> st.SearchStrategy[Drawn]:
        def drawn(shape: Shape, seed: int) -> Drawn:
            pixels = picture(shape, seed, dtype)
            stored = {name: blobs(pixels.tobytes()), **_raw_sizes(name, shape)}
            delivered = nearest(pixels, *size) if size else pixels
            return Drawn(pixels, stored, {name: delivered})

        return st.builds(drawn, _shapes(channels), st.integers(0, 99))

    return draw


def _fixed_raw(name: str) -> st.SearchStrategy[Drawn]:
    def drawn(seed: int) -> Drawn:
        pixels = picture((4, 6, 1), seed, "int64") + 2**60
        stored = {name: blobs(pixels.tobytes()), f"{name}/format": blobs(b"raw")}
        return Drawn(pixels, stored, {name: nearest(pixels, 2, 3)})

    return st.builds(drawn, st.integers(0, 99))


def _flat_floats(value: float) -> Value:
    pixels = np.full((2, 3, 2), value, np.float32)
    delivered = np.full((4, 4, 2), value, np.float32)
    return Value(pixels, blobs(pixels.tobytes()), delivered)


def _list(
    form: str, counts: tuple[int, int], size: tuple[int, int] | None = None
) -> st.SearchStrategy[Value]:
    """A list of images, of one size or brought to it."""

    def value(shapes: list[Shape], seed: int, as_pixels: bool) -> Value:
        shapes = shapes if size else [(3, 4, 3)] * len(shapes)
        pixels = [picture(shape, seed + at) for at, shape in enumerate(shapes)]
        data = [encoded(one, form) for one in pixels]
        given: Any = pixels if as_pixels and form not in AS_BYTES else data
        if as_pixels and pixels and not size and form not in AS_BYTES:
            given = np.stack(pixels)
        read = [nearest(one, *size) if size else one for one in pixels]
        empty = np.zeros((0, *(size or (3, 4)), 3), np.uint8)
        return Value(given, blobs(*data), np.stack(read) if read else empty)

    least, most = counts
    shapes = st.lists(_shapes(3), min_size=least, max_size=most)
    return st.builds(value, shapes, st.integers(0, 99), st.booleans())


def _ratio(shape: Shape, size: tuple[int, int]) -> int:
    """Return by how much a JPEG may be scaled down while it is decoded."""
    for ratio in (8, 4, 2):
        scaled = (math.ceil(shape[0] / ratio), math.ceil(shape[1] / ratio))
        if scaled[0] >= size[0] and scaled[1] >= size[1]:
            return ratio
    return 1


def _resized(
    form: str,
    size: tuple[int, int],
    *,
    antialias: bool = False,
    scaled: bool = False,
    dtype: str = "uint8",
) -> Callable[[Shape, int], tuple[bytes, Any]]:
    """Return what makes an image, and what plain tensorflow reads of it."""

    def made(shape: Shape, seed: int) -> tuple[bytes, Any]:
        data = encoded(picture(shape, seed), form)
        options = {"ratio": _ratio(shape, size)} if scaled else {}
        decode = tf.io.decode_jpeg if form == "jpeg" else tf.io.decode_png
        pixels = decode(data, channels=shape[2], **options)
        found = tf.image.resize(pixels, size, antialias=antialias).numpy()
        return data, (np.rint(found) if dtype == "uint8" else found).astype(dtype)

    return made


def _large(channels: int) -> st.SearchStrategy[Shape]:
    return st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(channels))


def _decoded(
    made: Callable[[Shape, int], tuple[bytes, Any]], channels: int
) -> st.SearchStrategy[Value]:
    """An image that is delivered as `made` says."""

    def value(shape: Shape, seed: int) -> Value:
        data, delivered = made(shape, seed)
        return Value(data, blobs(data), delivered)

    return st.builds(value, _large(channels), st.integers(0, 99))


def _decoded_list(
    made: Callable[[Shape, int], tuple[bytes, Any]], size: tuple[int, int], count: int
) -> st.SearchStrategy[Value]:
    """A list of up to `count` such images."""

    def value(shapes: list[Shape], seed: int) -> Value:
        found = [made(shape, seed + at) for at, shape in enumerate(shapes)]
        empty = np.zeros((0, *size, 3), np.float32)
        delivered = np.stack([each for _, each in found]) if found else empty
        data = [each for each, _ in found]
        return Value(data, blobs(*data), delivered)

    shapes = st.lists(_large(3), max_size=count)
    return st.builds(value, shapes, st.integers(0, 99))


def _resizing() -> Iterator[KindCase]:
    """Images that are not rounded, antialiased or decoded at a scale."""
    floats = "dtype='float32'"
    for form, channels, size, more, options in (
        ("jpeg", 3, (4, 3), "role='input'", {}),
        ("jpeg", 1, (2, 2), "role='info'", {}),
        ("png", 3, (3, 4), "role='info'", {}),
        ("jpeg", 3, (4, 3), floats, {"dtype": "float32"}),
        ("png", 4, (2, 5), floats, {"dtype": "float32"}),
        ("jpeg", 1, (3, 4), "antialias=True", {"antialias": True}),
        ("jpeg", 3, (4, 5), "scaled_decoding=True", {"scaled": True}),
        (
            "jpeg",
            1,
            (5, 4),
            f"{floats}, antialias=True, scaled_decoding=True",
            {"dtype": "float32", "antialias": True, "scaled": True},
        ),
    ):
        shape = (None, None, channels)
        case = under_one_key(
            f"Annotated[bytes, Image({shape}, encoding={form!r}, resize={size}, {more})]",
            _decoded(_resized(form, size, **options), channels),
        )
        yield case
        if form == "png":
            dtype = "float32" if options else "uint8"
            yield case.optional(np.zeros((*size, channels), dtype))
    yield under_one_key(
        "Annotated[list[bytes], Images((None, None, 3), resize=(3, 5), "
        f"{floats}, antialias=True, scaled_decoding=True)]",
        _decoded_list(
            _resized("jpeg", (3, 5), antialias=True, scaled=True, dtype="float32"),
            (3, 5),
            3,
        ),
    )


def _any_size() -> Iterator[KindCase]:
    """Images that cannot be stacked: any size, and no size to bring them to."""

    def value(shape: Shape, seed: int, form: str) -> Value:
        data = encoded(picture(shape, seed), form)
        decode = tf.io.decode_jpeg if form == "jpeg" else tf.io.decode_png
        return Value(data, blobs(data), decode(data, channels=shape[2]).numpy())

    for form, channels in (("jpeg", 3), ("png", 4), ("jpeg", 1), ("png", 3)):
        case = under_one_key(
            f"Annotated[bytes, Image((None, None, {channels}), encoding={form!r})]",
            st.builds(value, _shapes(channels), st.integers(0, 99), st.just(form)),
            one_row_batches=True,
        )
        yield case
    yield case.optional(np.zeros((1, 1, 3), np.uint8))


def _upright(shape: Shape, seed: int) -> tuple[bytes, Any]:
    """Return a JPEG, some in CMYK, and its pixels as EXIF turns them."""
    mode = "CMYK" if seed % 3 == 0 else "RGB"
    plain = Image.fromarray(picture((*shape[:2], len(mode)), seed), mode)
    exif, orientation = Image.Exif(), seed % 8 + 1
    exif[0x0112] = orientation
    out = io.BytesIO()
    plain.save(out, "jpeg", exif=exif)
    pixels = tf.io.decode_jpeg(out.getvalue(), channels=3).numpy()
    if orientation > 4:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return out.getvalue(), nearest(pixels, 4, 3)


def _turned() -> Iterator[KindCase]:
    for encoding in ("jpeg", "any"):
        yield under_one_key(
            f"Annotated[bytes, Image((None, None, 3), {encoding!r}, resize=(4, 3), "
            "interpolation='nearest', orientation='apply')]",
            _decoded(_upright, 3),
        )


def _without_loss() -> Iterator[KindCase]:
    for form, channels in (
        *(("png", 1), ("png", 3), ("png", 4), ("bmp", 1), ("bmp", 3), ("bmp", 4)),
        *(("gif", 3), ("webp", 3), ("webp", 4)),
        *(("tiff", 1), ("tiff", 3), ("tiff", 4)),
    ):
        shape = (5, 3, channels)
        yield under_one_key(
            f"Annotated[np.ndarray | bytes, Image({shape}, encoding={form!r})]",
            _one(form, shape),
        )
    for form in ("webp", "bmp", "any"):
        stored_as = "png" if form == "any" else form
        yield under_one_key(
            f'Annotated[Any, Image((2, 3, 3), encoding="{form}", role="info")]',
            _one(stored_as, (2, 3, 3)),
        ).optional(np.zeros((2, 3, 3), np.uint8))


def _avif(shape: Shape, seed: int) -> tuple[bytes, Any]:
    """Return an AVIF, which loses something, and its pixels."""
    data = encoded(picture(shape, seed), "avif")
    return data, np.asarray(Image.open(io.BytesIO(data)))


def _of_python() -> Iterator[KindCase]:
    """Images of formats that TensorFlow has no decoder for."""

    def nearest_avif(shape: Shape, seed: int) -> tuple[bytes, Any]:
        data, pixels = _avif(shape, seed)
        return data, nearest(pixels, 3, 2)

    for channels in (3, 4):
        case = under_one_key(
            f"Annotated[bytes, Image((None, None, {channels}), encoding='avif')]",
            _decoded(_avif, channels),
            one_row_batches=True,
        )
        yield case
    yield case.optional(np.zeros((1, 1, 4), np.uint8))
    yield under_one_key(
        "Annotated[bytes, Image((None, None, 3), encoding='avif', resize=(3, 2), "
        "interpolation='nearest')]",
        _decoded(nearest_avif, 3),
    ).optional(np.zeros((3, 2, 3), np.uint8))
    yield under_one_key(
        "Annotated[list[bytes | np.ndarray], Images((None, None, 3), "
        "encoding='tiff', resize=(2, 3), interpolation='nearest')]",
        _list("tiff", (0, 2), (2, 3)),
    ).optional(np.zeros((0, 2, 3, 3), np.uint8), default="[]")
    yield under_one_key(
        "Annotated[np.ndarray, Images((3, 4, 3), encoding='tiff', count=2)]",
        _list("tiff", (2, 2)),
    ).optional(np.zeros((2, 3, 4, 3), np.uint8))


def _with_sizes() -> Iterator[KindCase]:
    keys = (
        "height_key='NAME/height', width_key='NAME/width', channels_key='NAME/channels'"
    )
    yield declared(
        "Annotated[bytes, Image((None, None, 3), encoding='any', resize=(3, 2), "
        f"interpolation='nearest', key='NAME/key', {keys}, format_key='NAME/format')]",
        _of_any_format,
    )
    yield declared(
        "Annotated[bytes, Image((None, None, 3), encoding='jpeg', resize=(4, 3), "
        "format_key='NAME/format', format_text='JPG')]",
        _one_colour,
    ).optional(np.zeros((4, 3, 3), np.uint8))
    for shape, dtype, channels in (
        ((None, None, 3), "uint16", 3),
        ((None, None, None), "float32", 2),
    ):
        yield declared(
            f"Annotated[np.ndarray, Image({shape}, dtype={dtype!r}, {keys})]",
            _raw(dtype, channels),
            one_row_batches=True,
        )
    yield declared(
        "Annotated[np.ndarray, Image((None, None, None), dtype='uint64', "
        f"resize=(2, 5), interpolation='nearest', {keys})]",
        _raw("uint64", 3, (2, 5)),
        one_row_batches=True,  # which makes a missing one of another depth than others
    ).optional(np.zeros((2, 5, 1), np.uint64))
    yield declared(
        "Annotated[np.ndarray, Image((4, 6, 1), dtype='int64', resize=(2, 3), "
        "interpolation='nearest', format_key='NAME/format')]",
        _fixed_raw,
    )


def _lists() -> Iterator[KindCase]:
    yield under_one_key(
        "Annotated[np.ndarray, Images((3, 4, 3), encoding='png', count=2)]",
        _list("png", (2, 2)),
    )
    yield under_one_key(
        "Annotated[Any, Images((3, 4, 3), encoding='webp', max_count=3)]",
        _list("webp", (0, 3)),
    )
    yield under_one_key(
        "Annotated[list[bytes | np.ndarray], Images((None, None, 3), "
        "encoding='bmp', resize=(2, 3), interpolation='nearest')]",
        _list("bmp", (0, 2), (2, 3)),
    ).optional(np.zeros((0, 2, 3, 3), np.uint8), default="[]")
    yield under_one_key(
        "Annotated[list[bytes], Images((3, 4, 3), encoding='gif')]",
        _list("gif", (0, 2)),
    ).optional(np.zeros((0, 3, 4, 3), np.uint8))
    yield under_one_key(
        "Annotated[list[Any], Images((3, 4, 3), encoding='any', count=2)]",
        _list("png", (2, 2)),
    ).optional(np.zeros((2, 3, 4, 3), np.uint8))


def _numbered(form: str, key: str, numbers: range) -> Callable[[str], Any]:
    """Images under keys of their own, some of which sort in another order."""

    def draw(name: str) -> st.SearchStrategy[Drawn]:
        def drawn(seed: int, as_pixels: bool) -> Drawn:
            pixels = [picture((3, 4, 3), seed + n) for n in numbers]
            data = [encoded(each, form) for each in pixels]
            keys = [key.format(n) for n in numbers]
            stored = {f"{name}/{k}": blobs(d) for k, d in zip(keys, data, strict=True)}
            given: Any = np.stack(pixels) if as_pixels else data
            return Drawn(given, stored, {name: np.stack(pixels)})

        return st.builds(drawn, st.integers(0, 99), st.booleans())

    return draw


def _under_numbers() -> Iterator[KindCase]:
    yield declared(
        "Annotated[Any, Images((3, 4, 3), encoding='png', keys='NAME/{}', count=12)]",
        _numbered("png", "{}", range(12)),
    )
    yield declared(
        "Annotated[Any, Images((3, 4, 3), encoding='webp', keys='NAME/{{é{:03d}}}/x', "
        "keys_from=9, count=2)]",
        _numbered("webp", "{{é{:03d}}}/x", range(9, 11)),
    ).optional(np.zeros((2, 3, 4, 3), np.uint8))


def cases() -> Iterator[KindCase]:
    yield from _under_numbers()
    yield from _resizing()
    yield from _any_size()
    yield from _turned()
    yield from _without_loss()
    yield from _of_python()
    yield from _with_sizes()
    flat = under_one_key(
        "Annotated[np.ndarray, Image((2, 3, 2), dtype='float32', resize=(4, 4))]",
        st.sampled_from([-1.5, 0.0, 0.25, 1e30]).map(_flat_floats),
    )
    yield flat
    yield flat.optional(np.zeros((4, 4, 2), np.float32))
    yield from _lists()
