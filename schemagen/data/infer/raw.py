"""Raw numbers and pixels, with their sizes stored under other keys or always the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..formats import unread_content
from ..formatting import plural
from ..statistics.numbers import numbers
from .draft import Draft, Scene, quoted
from .dtypes import SIZES, Guess, as_numbers, guess_dtype, item_bytes
from .evidence import Evidence, KeyEvidence
from .pictures import (
    CHANNELS_OF_PIXELS,
    give_classes,
    make_mask,
    resize_doubt,
    square_picture,
)
from .pixels import picture_shape
from .sizes import (
    Sizes,
    are_of,
    common_shape,
    each_of,
    items_of,
    size_candidates,
    sized_facts,
)
from .words import speaks_of

# Fewer records have one size by chance.
_FEW = 3

_MOST_IDS = 64
_PIXELS = ("uint8", "uint16")


def take_raw(scene: Scene) -> None:
    """Make fields of raw numbers whose sizes are stored under keys of their own."""
    candidates = [data for data in scene.open() if _is_raw(data)]
    for data in candidates:
        for sizes in size_candidates(scene, data):
            item = _item(scene, data, sizes)
            named = are_of(sizes, data)
            if item is None or named is None or not (named or len(candidates) == 1):
                continue
            draft = _draft(scene, data, sizes, *item)
            if draft is not None:
                if not named:
                    draft.doubts.append(f"are its sizes those in {sizes.shown}?")
                scene.add(draft)
                break


def take_fixed_raw(scene: Scene) -> None:
    """Make fields of bytes that are equally many in all records, by their values."""
    lengths = lengths_in(scene.evidence)
    for data in list(scene.open()):
        draft = fixed_draft(data, lengths)
        if draft is not None:
            scene.add(draft)


def lengths_in(evidence: Evidence) -> dict[str, int]:
    """Return how many numbers each key always has, in a list or raw."""
    found = {}
    for key, data in evidence.keys.items():
        if data.is_fixed and data.kind != "bytes":
            found[key] = data.longest
        elif _is_raw(data) and data.values.least == data.values.most:
            dtype = guess_dtype(data.values.samples).dtype
            found[key] = data.values.most // item_bytes(dtype)
    return found


def fixed_draft(data: KeyEvidence, lengths: Mapping[str, int]) -> Draft | None:
    """Return the field of raw bytes that are always equally many; None for others.

    Args:
        data: the bytes.
        lengths: how many numbers other keys always have.
    """
    values = data.values
    if (
        not _is_raw(data)
        or values.least != values.most
        or unread_content(values.samples)
    ):
        return None
    guess = guess_dtype(values.samples)
    count = values.most // item_bytes(guess.dtype)
    shape: tuple[int, ...] | None = _picture_in(data, guess.dtype, count)
    likely, _ = items_of(data.key, count, lengths)
    if shape is None and likely:
        shape = (likely[0], count // likely[0])
    if shape is None and not guess.clear and len(data.present) < _FEW:
        return None
    facts: dict[str, Any] = {"dtype": guess.dtype, "encoding": "raw"}
    bits = not values.ids[2:].any()
    others = [other for other in guess.others if bits or other != "bool"]
    taken = f"{count:,} {guess.dtype} numbers"
    if shape is not None:
        taken = f"{guess.dtype} numbers of the shape {shape}"
        first = ["with their channels first"] if shape[2:] > (1,) else []
        others = [*first, f"a row of {count:,}", *others]
    is_picture = shape is not None and shape[2:] in ((1,), (3,), (4,))
    if is_picture and guess.dtype in _PIXELS:
        draft = Draft(data.key, "Image", {"shape": shape, **facts})
    else:
        draft = Draft(data.key, "Vector", {"shape": shape or (count,), **facts})
        if guess.dtype in values.unusual:
            draft.facts["finite"] = False
    draft.doubts.append(
        f"always {plural(values.most, 'byte')}, taken as {taken}: or {', '.join(others)}?"
    )
    return draft


def _picture_in(
    data: KeyEvidence, dtype: str, count: int
) -> tuple[int, int, int] | None:
    """Return the shape of the picture that so many raw numbers are; None for others."""
    named = speaks_of(data.key, "image")
    samples = [np.frombuffer(each, np.uint8) for each in data.values.samples]
    whole = [
        found for each in samples if len(found := as_numbers(each, dtype)) == count
    ]
    shape = picture_shape(whole, square=not (named or dtype in _PIXELS))
    return shape or (square_picture(count) if named and dtype == "uint8" else None)


def _is_raw(data: KeyEvidence) -> bool:
    """Return whether a key holds bytes of no known format."""
    values = data.values
    if not (data.kind == "bytes" and data.is_single) or values.empty or values.text:
        return False
    return not (values.images or values.tensors)


def _item(scene: Scene, data: KeyEvidence, sizes: Sizes) -> tuple[int, Guess] | None:
    """Return channels and dtype if sizes go with the bytes of every record."""
    present = data.lengths >= 0
    measured = data.values.measured.array(scene.records)[present]
    samples, size = data.values.samples, each_of(measured, sizes.shapes[present])
    if not size:
        return None
    if sizes.is_count:
        guess = guess_dtype(samples)
        return size // item_bytes(guess.dtype), guess
    if size == 1:
        return 1, guess_dtype(samples, 1)
    if len(sizes.contents) != 2:
        return (1, guess_dtype(samples, size)) if size in SIZES else None
    # The number of channels is not stored.
    guess = guess_dtype(samples)
    for channels in CHANNELS_OF_PIXELS:
        if guess.clear and size == channels * item_bytes(guess.dtype):
            return channels, guess_dtype(samples, size // channels)
    return (size, guess_dtype(samples, 1)) if size in CHANNELS_OF_PIXELS else None


def _draft(
    scene: Scene, data: KeyEvidence, sizes: Sizes, channels: int, guess: Guess
) -> Draft | None:
    """Return the field of numbers whose sizes go with their bytes."""
    dtype = guess.dtype
    if not isinstance(sizes.keys, str) and dtype == "uint8" and len(sizes.keys) > 1:
        return _pixels(scene, data, sizes, channels)
    facts = sized_facts(scene, data, sizes, channels, dtype, "raw")
    if facts is None:
        return None
    if dtype in data.values.unusual:
        facts["finite"] = False
    draft = Draft(data.key, "Tensor", facts)
    taken = f", which look like {dtype}: or" if guess.clear else f": {dtype}, or"
    each = plural(item_bytes(dtype), "byte")
    draft.doubts.append(f"numbers of {each}{taken} {' or '.join(guess.others)}?")
    return draft


def _pixels(
    scene: Scene, data: KeyEvidence, sizes: Sizes, channels: int
) -> Draft | None:
    """Return the field of pixels, which are taken channels last."""
    shapes = sizes.shapes[data.lengths >= 0]
    if shapes.shape[1] == 2:
        shapes = np.insert(shapes, 2, channels, axis=1)
    elif channels > 1:
        return None
    shared = list(zip(sizes.keys, sizes.contents, strict=True))
    if not scene.share_all(shared):
        return None
    shape = common_shape(shapes)
    facts: dict[str, Any] = {"shape": shape, "encoding": "raw", "dtype": "uint8"}
    facts |= {f"{axis}_key": key for key, axis in shared}
    draft = Draft(data.key, "Image", facts)
    each = f", times {channels}" if channels > 1 else ""
    draft.notes.append(f"as many bytes as {sizes.shown} say{each}")
    order, first = "height x width", ""
    if shape[2] != 1:
        depth = "channels" if shape[2] is None else str(shape[2])
        first = f"or {depth} x {order}, and "
        order = f"{order} x {depth}"
    height = quoted(sizes.keys[0])
    draft.doubts.append(f"raw pixels, taken as {order}: {first}is {height} the height?")
    few_ids = data.values.ids.sum() <= _MOST_IDS
    if shape[2] == 1 and len(shared) == 2 and few_ids and speaks_of(data.key, "mask"):
        make_mask(draft)
        give_classes(draft, data.values)
    if None in shape[:2]:
        draft.doubts.append(resize_doubt(numbers(shapes[:, 0]), numbers(shapes[:, 1])))
    return draft
