"""Bytes that are numbers: serialized tensors, and raw ones with sizes in other lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .draft import Draft, Scene, counted, quoted
from .evidence import KeyEvidence
from .numbers import Rows
from .pixels import FIRST, Order, order_doubt, order_name, order_of
from .words import extends, nearest, parent_of, says_shape, says_size, stem_of_shape

_SIZE_WORDS = ("height", "width", "channels")
_COMPLEX = ("complex64", "complex128")

# Numbers that people store lie between these, or are 0.
_LOW, _HIGH = 1e-9, 1e9
_MOST_SEEN = 4096


def take_protos(scene: Scene) -> None:
    """Make fields of what tf.io.serialize_tensor has written."""
    for seen in list(scene.open()):
        look = seen.values
        if not seen.is_single or not look.tensors:
            continue
        if sum(look.tensors.values()) < look.values:
            continue
        dtypes = {head.dtype for head in look.tensors}
        ranks = {len(head.shape) for head in look.tensors}
        if len(dtypes) > 1 or len(ranks) > 1:
            continue
        shapes = np.array([head.shape for head in look.tensors], np.int64)
        shape = _common(shapes.reshape(len(shapes), -1))
        dtype = dtypes.pop()
        draft = Draft(seen.key, "Tensor", tensor_facts(shape, dtype, "proto"))
        draft.notes.append("written by tf.io.serialize_tensor")
        scene.add(draft)


def tensor_facts(
    shape: tuple[int | None, ...], dtype: str, encoding: str
) -> dict[str, Any]:
    """Return what the spec of a Tensor says."""
    padding: bool | int | float = 0
    if dtype == "bool":
        padding = False
    elif "float" in dtype or dtype in _COMPLEX:
        padding = 0.0
    return {
        "shape": shape,
        "dtype": dtype,
        "encoding": encoding,
        "padding_value": padding,
    }


def _common(shapes: Rows) -> tuple[int | None, ...]:
    """Return each size that is the same in all rows; None for others, and for 0."""
    found: list[int | None] = []
    for column in shapes.T:
        size = int(column[0])
        found.append(size if size and (column == size).all() else None)
    return tuple(found)


class _Sizes(NamedTuple):
    """Where the sizes of a raw tensor stand.

    Attributes:
        keys: one with all of them, or one for each dimension, with None for one that
            is not stored.
        shapes: int64 [records, rank], the sizes.
        words: for each key what it holds, as fields that share it have to agree.
        last: how many numbers there are in a place of these sizes, if that is not
            stored.
    """

    keys: str | tuple[str | None, ...]
    shapes: Rows
    words: tuple[str, ...]


def take_raw(scene: Scene) -> None:
    """Make fields of raw numbers whose sizes stand under keys of their own."""
    candidates = [seen for seen in scene.open() if _is_raw(seen)]
    names = [seen.key for seen in candidates]
    for seen in candidates:
        for sizes in _size_candidates(scene, seen):
            fits = _fitting(scene, seen, sizes)
            if fits is None:
                continue
            named = _is_named(scene, sizes.keys, seen.key)
            if named is None:
                continue
            if not named and len(names) > 1:
                _say_possible(scene, seen, sizes, fits)
                continue
            draft = _raw_draft(scene, seen, sizes, fits)
            if draft is not None:
                if not named:
                    draft.doubts.append(
                        f"are its sizes those in {quoted(str(sizes.keys))}?"
                    )
                scene.add(draft)
                break


def _is_raw(seen: KeyEvidence) -> bool:
    """Tell whether a key holds bytes that say nothing of themselves."""
    look = seen.values
    if not (seen.kind == "bytes" and seen.is_single) or look.empty or look.text:
        return False
    return not (look.formats or look.damaged or look.tensors)


def _is_named(scene: Scene, keys: str | tuple[str | None, ...], of: str) -> bool | None:
    """Tell whether a key of sizes names the key `of`; None if it names another."""
    if not isinstance(keys, str):
        return True
    stem = stem_of_shape(keys)
    if stem and extends(of, stem):
        return True
    others = (key for key in scene.evidence.keys if key != keys)
    return None if stem and any(extends(key, stem) for key in others) else False


def _say_possible(
    scene: Scene, seen: KeyEvidence, sizes: _Sizes, fits: tuple[int, str]
) -> None:
    """Say of bytes that sizes would fit, which may be those of another key."""
    channels, dtype = fits
    if channels > 1:
        return
    there = _common(sizes.shapes[seen.lengths >= 0])
    size = np.dtype(_numpy(dtype)).itemsize
    words = "uint8, int8 or bool" if size == 1 else f"{dtype} or {_others(dtype)}"
    scene.possible.setdefault(seen.key, []).append(
        f"the sizes in {quoted(str(sizes.keys))} would fit numbers of "
        f"{counted(size, 'byte')}: are they of this key, and is it {words}? "
        f"Tensor({there}, dtype=..., shape_key=...)"
    )


def _size_candidates(scene: Scene, seen: KeyEvidence) -> Iterator[_Sizes]:
    there = seen.lengths >= 0
    numbers = {
        other.key: other
        for other in scene.evidence.keys.values()
        if other.kind == "int64"
        and ((other.lengths >= 0) == there).all()
        and _stands_near(other.key, seen.key)
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
        held = f"the {shapes.shape[1]} sizes of a tensor"
        if scene.may_share(key, held):
            yield _Sizes(key, shapes, (held,))
    axes = []
    for word in _SIZE_WORDS:
        found = nearest(
            [k for k, n in numbers.items() if n.is_single and says_size(k, word)],
            seen.key,
        )
        axes.append(found[0] if found else None)
    height, width, channels = axes
    if height is None or width is None:
        return
    for keys in ([height, width, channels], [height, width]):
        known = [key for key in keys if key is not None]
        if len(known) == len(keys):
            sizes = [numbers[key].numbers.singles(scene.records) for key in known]
            yield _Sizes(tuple(known), np.stack(sizes, 1), _SIZE_WORDS[: len(known)])


def _stands_near(key: str, other: str) -> bool:
    """Tell whether a key of sizes may speak of another: next to it, below or above."""
    above, around = parent_of(key), parent_of(other)
    return not above or above in (around, other) or f"{around}/".startswith(f"{above}/")


def _fitting(scene: Scene, seen: KeyEvidence, sizes: _Sizes) -> tuple[int, str] | None:
    """Return channels and dtype if sizes go with the bytes of every record."""
    there = seen.lengths >= 0
    measured = seen.values.measured(scene.records)[there]
    shapes = sizes.shapes[there]
    if (shapes < 1).any():
        return None
    places = np.prod(shapes.astype(np.float64), axis=1)
    each = measured / places
    if not len(each) or (each != each[0]).any() or each[0] != int(each[0]):
        return None
    return _item(int(each[0]), seen.values.samples, open_end=len(sizes.words) == 2)


def _raw_draft(
    scene: Scene, seen: KeyEvidence, sizes: _Sizes, fits: tuple[int, str]
) -> Draft | None:
    """Return the field of numbers whose sizes go with their bytes."""
    channels, dtype = fits
    several = isinstance(sizes.keys, tuple)
    shape = _common(sizes.shapes[seen.lengths >= 0])
    if not several or dtype != "uint8":
        return _tensor(scene, seen, sizes, shape, channels, dtype)
    return _image(scene, seen, sizes, shape, channels)


def _tensor(
    scene: Scene,
    seen: KeyEvidence,
    sizes: _Sizes,
    shape: tuple[int | None, ...],
    channels: int,
    dtype: str,
) -> Draft | None:
    keys = sizes.keys
    if isinstance(keys, tuple):
        given = [(key, _held(key)) for key in keys if key]
        if channels > 1:
            shape, keys = (*shape, channels), (*keys, None)
    else:
        given = [(keys, sizes.words[0])]
        if channels > 1:
            return None
    if not all(scene.may_share(key, held) for key, held in given):
        return None
    draft = Draft(seen.key, "Tensor", tensor_facts(shape, dtype, "raw"))
    draft.facts["shape_key"] = keys
    if dtype != "uint8":
        other = _others(dtype)
        draft.doubts.append(
            f"numbers of {np.dtype(_numpy(dtype)).itemsize} bytes, which look like "
            f"{dtype}: or {other}?"
        )
    else:
        draft.doubts.append("numbers of one byte: uint8, int8 or bool?")
    for key, held in given:
        scene.share(key, held)
    return draft


def _held(key: str) -> str:
    """Say what one size is, as fields that share its key have to agree on it."""
    last = key.rpartition("/")[2]
    return last if last in _SIZE_WORDS else "one size"


def _image(
    scene: Scene,
    seen: KeyEvidence,
    sizes: _Sizes,
    shape: tuple[int | None, ...],
    channels: int,
) -> Draft | None:
    assert isinstance(sizes.keys, tuple)
    if not all(
        key and scene.may_share(key, word)
        for key, word in zip(sizes.keys, sizes.words, strict=True)
    ):
        return None
    if len(shape) == 3 and channels > 1:
        return None
    full = shape if len(shape) == 3 else (*shape, channels)
    facts: dict[str, Any] = {"shape": full, "encoding": "raw", "dtype": "uint8"}
    draft = Draft(seen.key, "Image", facts)
    for key, word in zip(sizes.keys, sizes.words, strict=True):
        facts[f"{word}_key"] = key
        scene.share(str(key), word)
    known = np.atleast_2d(sizes.shapes[seen.lengths >= 0])
    if known.shape[1] == 2:
        known = np.insert(known, 2, channels, axis=1)
    order = order_of(seen.values.samples, known)
    if order.clear == FIRST:
        return _channels_first(seen, sizes, full, order)
    draft.doubts.append(order_doubt(order, full[2], quoted(str(sizes.keys[0]))))
    height, width = full[:2]
    if height is None or width is None:
        shapes = sizes.shapes[seen.lengths >= 0]
        area = shapes[:, 0] * shapes[:, 1]
        low, high = shapes[area.argmin()], shapes[area.argmax()]
        draft.doubts.append(
            f"sizes from {low[0]}x{low[1]} to {high[0]}x{high[1]}: batches of several "
            "need resize=(height, width)"
        )
    draft.notes.append(_counted_by(sizes, channels))
    return draft


def _counted_by(sizes: _Sizes, channels: int) -> str:
    """Say what goes with the number of bytes."""
    if len(sizes.words) == 3:
        return "as many bytes as height, width and channels say"
    if channels == 1:
        return "as many bytes as height and width say"
    return f"{channels} bytes for each pixel of height and width"


def _channels_first(
    seen: KeyEvidence, sizes: _Sizes, full: tuple[int | None, ...], order: Order
) -> Draft:
    """Return the field of pixels that an Image would read in the wrong order."""
    height, width, channels = full
    facts = tensor_facts((channels, height, width), "uint8", "raw")
    draft = Draft(seen.key, "Tensor", facts)
    keys = (*sizes.keys, None)[:3]
    facts["shape_key"] = (keys[2], keys[0], keys[1])
    draft.notes.append(_counted_by(sizes, channels or 0))
    draft.doubts.append(
        f"raw pixels, taken as {order_name(FIRST, channels)}"
        f"; {order.said(channels)}: an Image has its channels last"
    )
    return draft


def _item(size: int, samples: list[bytes], *, open_end: bool) -> tuple[int, str] | None:
    """Return channels and dtype of what takes `size` bytes a place.

    Args:
        size: how many.
        samples: some values.
        open_end: whether the number of channels is not stored.
    """
    if size == 1:
        return 1, "uint8"
    if open_end and size == 3:
        return 3, "uint8"
    if open_end and size == 12:
        return 3, likely_dtype(samples, 4)
    if open_end and size == 4 and likely_dtype(samples, 4) == "int32":
        values = _viewed(samples, "<i4")
        # Four bytes of a pixel make large numbers, ids do not.
        return (1, "int32") if np.abs(values).max(initial=0) < 1 << 24 else (4, "uint8")
    if size in (2, 4, 8):
        return 1, likely_dtype(samples, size)
    return None


def likely_dtype(samples: list[bytes], size: int) -> str:
    """Return the dtype of numbers of so many bytes: floats if they look so."""
    name, integer = {
        2: ("float16", "uint16"),
        4: ("float32", "int32"),
        8: ("float64", "int64"),
    }[size]
    return name if looks_like_floats(samples, name) else integer


def looks_like_floats(samples: list[bytes], dtype: str) -> bool:
    """Tell whether bytes are numbers that people store, if they are of this dtype.

    Small integers are the bits of tiny floats, text is that of huge ones.
    """
    with np.errstate(invalid="ignore"):  # of bits that are no number
        values = _viewed(samples, dtype).astype(np.float64)
    size = np.abs(values[values != 0])
    if not len(size):
        return False
    low, high = (1e-6, 6e4) if dtype == "float16" else (_LOW, _HIGH)
    usual = np.isfinite(size) & (size > low) & (size < high)
    if usual.mean() < 0.99:
        return False
    # Bytes at random make half of all exponents; what is measured lies near together.
    return bool(dtype != "float16" or len(np.unique(np.log2(size).round())) < 24)


def _viewed(samples: list[bytes], dtype: str) -> NDArray[Any]:
    item = np.dtype(_numpy(dtype))
    parts = [
        np.frombuffer(sample[: len(sample) // item.itemsize * item.itemsize], item)
        for sample in samples
    ]
    joined = np.concatenate(parts) if parts else np.empty(0, item)
    return joined[:_MOST_SEEN]


def _numpy(dtype: str) -> str:
    return dtype if dtype.startswith("<") else np.dtype(dtype).newbyteorder("<").str


def _others(dtype: str) -> str:
    return {
        "float16": "uint16",
        "uint16": "int16 or float16",
        "float32": "int32",
        "int32": "uint32 or float32",
        "float64": "int64",
        "int64": "float64",
    }[dtype]
