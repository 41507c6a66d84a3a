"""Guesses of what numbers are, by their values: the dtype of raw ones, and pictures.

Values are sampled, and samples are looked at nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.images.formats import FORMATS
from ..foreign import unread_content

Shape = tuple[int, int, int]

_SAMPLES, _SAMPLE_BYTES = 16, 1 << 18

_MOST_BYTES = 1 << 19

# By size, floats first, since their bits make no small integers.
SIZES = {
    8: ("float64", "int64"),
    4: ("float32", "int32", "uint32"),
    2: ("float16", "bfloat16", "int16", "uint16"),
    1: ("uint8", "int8", "bool"),
}

FLOATS = ("float64", "float32")

# Binary logarithms of numbers that people store, which integers do not have if they are
# read as floats, and the share of numbers that has to be usual.
_LOW, _HIGH = -120, 40
_USUAL_SHARE = 0.99

# By how much the high bytes of numbers have to differ from their low bytes.
_UNEVEN, _ALWAYS_UNEVEN = 0.35, 0.7
_BINS = 16

# The bits of the largest integers that people store in so many bytes.
_LARGEST_BITS = {8: 39, 4: 23}

# Fewer numbers tell nothing of that.
_FEW = 4


class Guess(NamedTuple):
    """A dtype that bytes may have.

    Attributes:
        dtype: the most likely one.
        others: others that have not been excluded, the likelier first.
        clear: whether the values say so, rather than that nothing else is known.
    """

    dtype: str
    others: tuple[str, ...]
    clear: bool


def guess_dtype(samples: Sequence[bytes], size: int = 0) -> Guess:
    """Return the likely dtype of raw numbers.

    Args:
        samples: some values.
        size: the bytes of a number, if they are known; 0 if they are not.
    """
    joined = _joined(samples)
    usable = (
        [size]
        if size
        else [s for s in SIZES if not any(len(each) % s for each in samples)]
    )
    if not size and {len(sample) for sample in samples} <= {4, 8}:
        usable = [item for item in usable if item >= 4]  # a number, rather than bytes
    found = {item: _dtype_of(joined, item) for item in usable} if joined.any() else {}
    for item, dtype in found.items():
        if dtype and (item in (1, size) or _is_uneven(joined, item)):
            others = [other for other in found.values() if other]
            return Guess(dtype, _others(dtype, [*SIZES[item], *others]), item > 1)
    # Zeros fit everything. Of a known size, numbers without a pattern are integers.
    dtype = {8: "int64", 4: "int32", 2: "uint16", 1: "uint8"}[min(usable)]
    every = [dtype for item in usable for dtype in SIZES[item]]
    return Guess(dtype, _others(dtype, every), False)


def _others(dtype: str, possible: Sequence[str]) -> tuple[str, ...]:
    return tuple(other for other in dict.fromkeys(possible) if other != dtype)


def item_bytes(dtype: str) -> int:
    """Return the bytes of one number."""
    return next(size for size, dtypes in SIZES.items() if dtype in dtypes)


def _joined(samples: Sequence[bytes]) -> NDArray[np.uint8]:
    """Return bytes of all samples, cut where numbers of 8 bytes end: uint8 [N]."""
    each = _MOST_BYTES // max(1, len(samples))
    parts = [sample[: min(each, len(sample)) // 8 * 8 or None] for sample in samples]
    return np.frombuffer(b"".join(parts), np.uint8)


def as_numbers(joined: NDArray[np.uint8], dtype: str) -> NDArray[Any]:
    """Return bytes as the numbers that they hold whole: [N]."""
    item = np.dtype(dtype).newbyteorder("<")
    return joined[: len(joined) // item.itemsize * item.itemsize].view(item)


def _is_uneven(joined: NDArray[np.uint8], size: int) -> bool:
    """Return whether the halves of numbers are unlike: two numbers would be alike."""
    rows = joined[: len(joined) // size * size].reshape(-1, size)
    rows = rows[rows.any(axis=1)]
    if len(rows) < _FEW:
        return True
    halves = rows[:, size // 2 :], rows[:, : size // 2]
    # Small integers have a half that only repeats their sign.
    signs = (
        (half == half[:, :1]).all(1) & np.isin(half[:, 0], (0, 255)) for half in halves
    )
    shares = (
        np.bincount(half[:, -1] >> 4, minlength=_BINS) / len(rows) for half in halves
    )
    high, low = (sign.mean() for sign in signs)
    # Few numbers differ by chance.
    least = min(_UNEVEN + 2 / len(rows) ** 0.5, _ALWAYS_UNEVEN)
    return bool(max(high - low, np.abs(np.subtract(*shares)).sum() / 2) > least)


def _is_float(joined: NDArray[np.uint8], dtype: str) -> bool:
    """Return whether numbers that are not 0 are of sizes that people store."""
    with np.errstate(all="ignore"):
        values = as_numbers(joined, dtype).astype(np.float64)
        sizes = np.log2(np.abs(values[values != 0]))
    usual = (sizes > _LOW) & (sizes < _HIGH)
    return bool(len(sizes)) and bool(usual.mean() >= _USUAL_SHARE)


def _dtype_of(joined: NDArray[np.uint8], size: int) -> str:
    """Return the dtype that numbers of so many bytes seem to have; "" for none."""
    if size == 1:
        return "uint8"
    if size < 8 and (joined[3::4] == 255).all():
        return ""  # pixels with an alpha channel
    values = as_numbers(joined, f"int{8 * size}")
    if size == 2:
        # Negative numbers near 0 have high bytes full of ones.
        negative = np.isin(joined[1::2], (0xFE, 0xFF)).any() and (values > 0).any()
        found = "int16" if negative else "uint16"
        return found if _is_uneven(joined, 2) else ""
    if _is_float(joined, f"float{8 * size}"):
        return f"float{8 * size}"
    limit = 1 << _LARGEST_BITS[size]
    small = ((values >= -limit) & (values < limit)).all()
    return f"int{8 * size}" if small else ""


# Of the difference of any two numbers, what that of neighbors may be in a picture.
_ALIKE, _ALIKE_UNLESS_SQUARE = 0.6, 0.4

_MORE_ALIKE = 1.2

# Of the difference of pixels a quarter of a row off, what that of rows may be.
_ALIKE_ROWS = 0.9
_SMALLEST_SIDE, _MOST_CHANNELS = 8, (3, 1, 4)
_MOST_NUMBERS = 1 << 19


def picture_shape(
    numbers: Sequence[NDArray[Any]], *, square: bool = False
) -> tuple[int, int, int] | None:
    """Return the shape of pictures, (height, width, channels); None if none fits.

    Args:
        numbers: some lists of equally many numbers, [N] each.
        square: whether pictures are squares.
    """
    size = len(numbers[0]) if numbers else 0
    if size < _SMALLEST_SIDE**2:
        return None
    some = numbers[: max(1, _MOST_NUMBERS // size)]
    values = np.stack([np.asarray(each, np.float64) for each in some])
    if not np.isfinite(values).all():
        return None
    mixed = np.random.default_rng(0).permuted(values, axis=1)
    any_two = float(np.abs(values - mixed).mean())
    found: dict[tuple[int, int, int], float] = {}
    for height, width, channels in _sides(size):
        if square and height != width:
            continue
        for shape, pixel in (
            ((height, width, channels), channels),
            ((channels, height, width), 1),
        ):
            row = width * pixel
            next_to, below, *off = (
                _step(values, step)
                for step in (pixel, row, row - row // 4, row + row // 4)
            )
            near = max(next_to, below)
            alike = _ALIKE if height == width else _ALIKE_UNLESS_SQUARE
            if near < alike * any_two and below < _ALIKE_ROWS * min(off):
                found.setdefault(shape, near)
    if not found:
        return None
    # A square is no accident, unless others are more alike, but for its own colors in a
    # row, which are often as alike as neighbors.
    best = min(found, key=lambda shape: (found[shape], 1 not in shape))
    least = found[best] * _MORE_ALIKE
    squares = [
        shape
        for shape in found
        if len({*shape}) < 3
        and (found[shape] <= least or best == (shape[0], shape[1] * 3, 1))
    ]
    # Of several channels, one after the other, any number would be as alike.
    return min(squares or [best], key=lambda shape: (found[shape], 1 not in shape))


def square_picture(size: int) -> tuple[int, int, int] | None:
    """Return the shape of a square picture of so many numbers; None if there is none."""
    for channels in (3, 1):
        side = isqrt(size // channels)
        if side >= _SMALLEST_SIDE and side * side * channels == size:
            return side, side, channels
    return None


def _sides(size: int) -> Iterator[tuple[int, int, int]]:
    """Yield heights, widths and channels of so many numbers, squares first."""
    for channels in _MOST_CHANNELS:
        pixels, rest = divmod(size, channels)
        side = isqrt(pixels)
        if rest or side < _SMALLEST_SIDE:
            continue
        if side * side == pixels:
            yield side, side, channels
        for height in range(max(_SMALLEST_SIDE, side // 2), 2 * side):
            width, rest = divmod(pixels, height)
            if not rest and height != width and width >= _SMALLEST_SIDE:
                yield height, width, channels


def _step(values: NDArray[np.float64], step: int) -> float:
    """Return how much numbers that are so far apart differ, in the mean."""
    return float(np.abs(values[:, step:] - values[:, :-step]).mean())


_SUFFIXES = [suffix for each in FORMATS for suffix in each.suffixes]
_PATH = re.compile(
    rf"[^\x00-\x1f]*[^\x00-\x1f/\\]\.({'|'.join(_SUFFIXES)}|npy|npz|exr|dcm)"
    r"(\?[^\s]*)?",
    re.IGNORECASE,
)


class ListSamples:
    """Some lists of numbers, and what they look like."""

    def __init__(self) -> None:
        self._lists: list[NDArray[Any]] = []

    @property
    def is_full(self) -> bool:
        """Whether there are enough."""
        return len(self._lists) >= _SAMPLES

    def add(self, lists: Sequence[NDArray[Any]]) -> None:
        """Add some lists, without the empty ones."""
        self._lists += [each for each in lists if len(each)]

    def picture(self, *, square: bool) -> Shape | None:
        """Return the shape of pictures, if lists of one length are pixels."""
        return picture_shape(self._lists, square=square)


class BytesSamples:
    """Some bytes values, cut if they are long, and what they look like."""

    def __init__(self) -> None:
        self._values: list[bytes] = []

    @property
    def is_full(self) -> bool:
        """Whether there are enough."""
        return len(self._values) >= _SAMPLES

    def add(self, value: bytes) -> None:
        """Add a value."""
        self._values.append(value[:_SAMPLE_BYTES])

    def guess(self, size: int = 0) -> Guess:
        """Return the likely dtype of raw numbers of so many bytes; 0 if that is unknown."""
        return guess_dtype(self._values, size)

    def picture(self, dtype: str, count: int, *, square: bool) -> Shape | None:
        """Return the shape of pictures of so many raw numbers, if these are pixels."""
        every = (
            as_numbers(np.frombuffer(each, np.uint8), dtype) for each in self._values
        )
        return picture_shape(
            [each for each in every if len(each) == count], square=square
        )

    @property
    def unread(self) -> str:
        """What all values are that no kind reads; "" if one may be anything else."""
        return unread_content(self._values)

    @property
    def are_paths(self) -> bool:
        """Whether all are the paths of files."""
        # Long samples may end within a letter.
        texts = [each.decode(errors="replace") for each in self._values]
        return bool(texts) and all(map(_PATH.fullmatch, texts))

    @property
    def first(self) -> str:
        """The first one, which is text."""
        return self._values[0].decode(errors="replace")
