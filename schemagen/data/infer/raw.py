"""Raw numbers and pixels, whose sizes are stored under keys of their own.

The order of pixels is told by neighbours, which are alike in a picture. Read in another
order, pixels of other places or colours come to be neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..columns import Rows
from ..formatting import plural
from .draft import Draft, Scene, quoted
from .evidence import KeyEvidence
from .tensors import common_shape, likely_item, other_dtypes, tensor_facts
from .words import extends, nearest, parent_of, says_shape, says_size, stem_of_shape

_AXES = ("height", "width", "channels")

LAST, FIRST, SWAPPED = "last", "first", "swapped"

# How many times as much neighbours have to differ in every other order.
_MUCH = 2


class _Sizes(NamedTuple):
    """The stored sizes of raw numbers.

    Attributes:
        keys: the key of all of them, or one for each dimension.
        shapes: int64 [records, rank], the sizes.
        contents: of each key, in words that fields sharing it have to agree on.
    """

    keys: str | tuple[str, ...]
    shapes: Rows
    contents: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The key, for a comment."""
        return quoted(str(self.keys))

    def counted_by(self, channels: int) -> str:
        """Say how the sizes agree with the number of bytes."""
        if len(self.contents) == 3:
            return "as many bytes as height, width and channels say"
        if channels == 1:
            return "as many bytes as height and width say"
        return f"{channels} bytes for each pixel of height and width"


def take_raw(scene: Scene) -> None:
    """Make fields of raw numbers whose sizes are stored under keys of their own."""
    candidates = [seen for seen in scene.open() if _is_raw(seen)]
    for seen in candidates:
        for sizes in _size_candidates(scene, seen):
            item = _item(scene, seen, sizes)
            named = _is_named(scene, sizes.keys, seen.key)
            if item is None or named is None:
                continue
            if not named and len(candidates) > 1:
                _say_possible(scene, seen, sizes, *item)
                continue
            draft = _draft(scene, seen, sizes, *item)
            if draft is not None:
                if not named:
                    draft.doubts.append(f"are its sizes those in {sizes.shown}?")
                scene.add(draft)
                break


def _is_raw(seen: KeyEvidence) -> bool:
    """Return whether a key holds bytes of no known format."""
    look = seen.values
    if not (seen.kind == "bytes" and seen.is_single) or look.empty or look.text:
        return False
    return not (look.formats or look.damaged or look.tensors)


def _is_named(scene: Scene, keys: str | tuple[str, ...], of: str) -> bool | None:
    """Return whether a key of sizes names the key `of`; None if it names another."""
    if not isinstance(keys, str):
        return True
    stem = stem_of_shape(keys)
    if stem and extends(of, stem):
        return True
    others = (key for key in scene.evidence.keys if key != keys)
    return None if stem and any(extends(key, stem) for key in others) else False


def _say_possible(
    scene: Scene, seen: KeyEvidence, sizes: _Sizes, channels: int, dtype: str
) -> None:
    """Say of bytes that sizes would fit, which may be those of another key."""
    if channels > 1:
        return
    shape = common_shape(sizes.shapes[seen.lengths >= 0])
    size = np.dtype(dtype).itemsize
    words = "uint8, int8 or bool" if size == 1 else f"{dtype} or {other_dtypes(dtype)}"
    scene.possible.setdefault(seen.key, []).append(
        f"the sizes in {sizes.shown} would fit numbers of {plural(size, 'byte')}: are "
        f"they of this key, and is it {words}? "
        f"Tensor({shape}, dtype=..., shape_key=...)"
    )


def _size_candidates(scene: Scene, seen: KeyEvidence) -> Iterator[_Sizes]:
    numbers = {
        other.key: other
        for other in scene.evidence.keys.values()
        if other.kind == "int64"
        and other.is_with(seen)
        and _is_near(other.key, seen.key)
    }
    lists = [
        key
        for key, other in numbers.items()
        if says_shape(key) and other.shortest == other.longest
    ]
    for key in nearest(lists, seen.key):
        shapes = numbers[key].numbers.shapes(scene.records)
        if shapes is None:
            continue
        contents = f"the {shapes.shape[1]} sizes of a tensor"
        if scene.may_share(key, contents):
            yield _Sizes(key, shapes, (contents,))
    singles = [key for key, other in numbers.items() if other.is_single]
    found = [
        next(iter(nearest([k for k in singles if says_size(k, axis)], seen.key)), None)
        for axis in _AXES
    ]
    for rank in (3, 2):
        keys = tuple(key for key in found[:rank] if key is not None)
        if len(keys) == rank:
            sizes = [numbers[key].numbers.firsts.array(scene.records) for key in keys]
            yield _Sizes(keys, np.stack(sizes, 1), _AXES[:rank])


def _is_near(key: str, other: str) -> bool:
    """Return whether a key is next to another, below or above it."""
    above, around = parent_of(key), parent_of(other)
    return not above or above in (around, other) or f"{around}/".startswith(f"{above}/")


def _item(scene: Scene, seen: KeyEvidence, sizes: _Sizes) -> tuple[int, str] | None:
    """Return channels and dtype if sizes go with the bytes of every record."""
    there = seen.lengths >= 0
    measured = seen.values.measured.array(scene.records)[there]
    shapes = sizes.shapes[there]
    if (shapes < 1).any():
        return None
    each = measured / np.prod(shapes.astype(np.float64), axis=1)
    if not len(each) or (each != each[0]).any() or each[0] != int(each[0]):
        return None
    open_end = len(sizes.contents) == 2
    return likely_item(int(each[0]), seen.values.samples, open_end=open_end)


def _draft(
    scene: Scene, seen: KeyEvidence, sizes: _Sizes, channels: int, dtype: str
) -> Draft | None:
    """Return the field of numbers whose sizes go with their bytes."""
    if not isinstance(sizes.keys, str) and dtype == "uint8":
        return _pixels(scene, seen, sizes, channels)
    keys: Any = sizes.keys
    contents = sizes.contents
    shape = common_shape(sizes.shapes[seen.lengths >= 0])
    if isinstance(keys, str):
        if channels > 1:
            return None
        shared = [(keys, contents[0])]
    else:
        shared = [(key, _content(key)) for key in keys]
        if channels > 1:
            shape, keys = (*shape, channels), (*keys, None)
    if not scene.share_all(shared):
        return None
    facts = tensor_facts(shape, dtype, "raw") | {"shape_key": keys}
    draft = Draft(seen.key, "Tensor", facts)
    if dtype != "uint8":
        draft.doubts.append(
            f"numbers of {np.dtype(dtype).itemsize} bytes, which look like {dtype}: or "
            f"{other_dtypes(dtype)}?"
        )
    else:
        draft.doubts.append("numbers of one byte: uint8, int8 or bool?")
    return draft


def _content(key: str) -> str:
    """Name one size, as fields that share its key have to agree on it."""
    last = key.rpartition("/")[2]
    return last if last in _AXES else "one size"


def _pixels(
    scene: Scene, seen: KeyEvidence, sizes: _Sizes, channels: int
) -> Draft | None:
    there = sizes.shapes[seen.lengths >= 0]
    if there.shape[1] == 3:
        if channels > 1:
            return None
    else:
        there = np.insert(there, 2, channels, axis=1)
    shared = list(zip(sizes.keys, sizes.contents, strict=True))
    if not scene.share_all(shared):
        return None
    shape = common_shape(there)
    order = _order_of(seen.values.samples, there)
    if order.clear == FIRST:
        return _channels_first(seen, sizes, shape, order)
    facts: dict[str, Any] = {"shape": shape, "encoding": "raw", "dtype": "uint8"}
    facts |= {f"{axis}_key": key for key, axis in shared}
    draft = Draft(seen.key, "Image", facts, notes=[sizes.counted_by(channels)])
    draft.doubts.append(_order_doubt(order, shape[2], quoted(sizes.keys[0])))
    if None in shape[:2]:
        area = there[:, 0] * there[:, 1]
        low, high = there[area.argmin()], there[area.argmax()]
        draft.doubts.append(
            f"sizes from {low[0]}x{low[1]} to {high[0]}x{high[1]}: batches of several "
            "need resize=(height, width)"
        )
    return draft


def _channels_first(
    seen: KeyEvidence, sizes: _Sizes, shape: tuple[int | None, ...], order: _Order
) -> Draft:
    """Return the field of pixels that an Image would read in the wrong order."""
    height, width, channels = shape
    facts = tensor_facts((channels, height, width), "uint8", "raw")
    keys = (*sizes.keys, None)
    facts["shape_key"] = (keys[2], keys[0], keys[1])
    draft = Draft(seen.key, "Tensor", facts, notes=[sizes.counted_by(channels or 0)])
    draft.doubts.append(
        f"raw pixels, taken as {_order_name(FIRST, channels)}; {order.said(channels)}: "
        "an Image has its channels last"
    )
    return draft


class _Order(NamedTuple):
    """How much neighbouring pixels differ in the mean, in each order."""

    differences: dict[str, float]

    @property
    def clear(self) -> str:
        """The order in which they differ much less than in all others; "" if none."""
        if len(self.differences) < 2:
            return ""
        (best, least), (_, next_best), *_ = self._sorted()
        return best if least * _MUCH < next_best else ""

    def _sorted(self) -> list[tuple[str, float]]:
        return sorted(self.differences.items(), key=lambda item: item[1])

    def said(self, channels: int | None) -> str:
        """Say by how much neighbours differ in each order."""
        each = (
            f"by {much:.1f} as {_order_name(name, channels)}"
            for name, much in self._sorted()
        )
        return f"neighbouring pixels differ {', '.join(each)}"


def _order_name(order: str, channels: int | None) -> str:
    """Return an order in words: height x width x 3; None for channels that vary."""
    sizes = "width x height" if order == SWAPPED else "height x width"
    if channels == 1:
        return sizes
    depth = "channels" if channels is None else str(channels)
    return f"{depth} x {sizes}" if order == FIRST else f"{sizes} x {depth}"


def _order_doubt(order: _Order, channels: int | None, height_key: str) -> str:
    """Ask for the order of pixels that are taken channels last, and say what is seen."""
    said = f"raw pixels, taken as {_order_name(LAST, channels)}: "
    if channels != 1:
        said += f"or {_order_name(FIRST, channels)}, and "
    said += f"is {height_key} the height?"
    if order.clear:
        said += f" {order.said(channels).capitalize()}"
    if order.clear == SWAPPED:
        said += f", so that {height_key} seems to be the width"
    return said


def _order_of(samples: Sequence[bytes], sizes: Rows) -> _Order:
    """Compare neighbours in all orders that pixels may have.

    Args:
        samples: some pictures, of uint8.
        sizes: int64 [n, 3], the heights, widths and channels that there are.
    """
    found: dict[str, list[float]] = {}
    for sample in samples:
        fitting = np.unique(sizes[np.prod(sizes, axis=1) == len(sample)], axis=0)
        if len(fitting) != 1:
            continue  # cut, or of one of several sizes
        height, width, channels = map(int, fitting[0])
        if min(height, width) < 2:
            continue
        pixels = np.frombuffer(sample, np.uint8).astype(np.int16)
        orders = {LAST: pixels.reshape(height, width, channels)}
        if channels > 1:
            orders[FIRST] = pixels.reshape(channels, height, width).transpose(1, 2, 0)
        if height != width:
            orders[SWAPPED] = pixels.reshape(width, height, channels)
        for name, picture in orders.items():
            found.setdefault(name, []).append(_difference(picture))
    return _Order(
        {
            name: float(np.mean(each))
            for name, each in found.items()
            if len(each) == len(found[LAST])
        }
    )


def _difference(picture: NDArray[np.int16]) -> float:
    """Return how much pixels differ from those below and next to them, in the mean."""
    down = np.abs(np.diff(picture, axis=0)).mean()
    right = np.abs(np.diff(picture, axis=1)).mean()
    return float(down + right) / 2
