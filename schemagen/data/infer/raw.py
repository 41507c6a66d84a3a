"""Raw numbers and pixels, with sizes that are stored, always the same, or those of the bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..formatting import plural
from ..statistics.numbers import numbers
from .draft import Draft, Drafts, quoted
from .evidence import KeyEvidence
from .guesses import SIZES, Guess, item_bytes, square_picture
from .key_words import AXES, speaks_of
from .pictures import CHANNELS_OF_PIXELS, as_mask, resize_doubt
from .sizes import Sizes, common_shape, each_of, items_of, size_candidates, sized_facts

# Fewer records have one size by chance.
_FEW = 3

# Items of so many numbers are coordinates and channels; many sizes are multiples of more
# by chance of how data is cut.
_MOST_OF_ITEM = 16
# That all sizes are multiples has to be less likely by chance than one in so many.
_CHANCE = 256

_MOST_IDS = 64
_PIXELS = ("uint8", "uint16")


def sized_raw(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of raw numbers whose sizes are stored under keys of their own."""
    if not data.is_raw:
        return None
    alone = sum(other.is_raw for other in drafts.evidence.keys.values()) == 1
    for sizes in size_candidates(drafts.evidence, data):
        draft = _sized(data, sizes) if sizes.certain or alone else None
        if draft is None or not drafts.admits(draft):
            continue
        if sizes.certain:
            return draft
        return draft.with_doubts(f"are its sizes those in {sizes.shown}?")
    return None


def fixed_raw(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of bytes that are equally many in all records."""
    return raw_draft(data, drafts.evidence.counts)


def raw_draft(data: KeyEvidence, counts: Mapping[str, int]) -> Draft | None:
    """Return the field of bytes that are equally many everywhere, by their values.

    Args:
        data: the bytes.
        counts: how many numbers other keys always have.
    """
    values = data.values
    if not data.is_raw or values.least != values.most or values.samples.unread:
        return None
    guess = values.samples.guess()
    count = values.most // item_bytes(guess.dtype)
    picture = _picture_shape(data, guess.dtype, count)
    likely, _ = items_of(data.key, count, counts)
    shape = picture or ((likely[0], count // likely[0]) if likely else (count,))
    if shape == (count,) and not guess.clear and len(data.present) < _FEW:
        return None
    taken = plural(count, f"{guess.dtype} number")
    bits = not values.ids[2:].any()
    others = [other for other in guess.others if bits or other != "bool"]
    if shape != (count,):
        taken = f"{guess.dtype} numbers of the shape {shape}"
        first = ["with their channels first"] if shape[2:] > (1,) else []
        others = [*first, f"a row of {count:,}", *others]
    of_pixels = guess.dtype in _PIXELS or (
        guess.dtype == "float32"
        and picture is not None
        and speaks_of(data.key, "image")
    )
    pixels = of_pixels and shape[2:] in ((1,), (3,), (4,))
    facts = {"shape": shape, "dtype": guess.dtype, "encoding": "raw"}
    draft = Draft(data.key, "Image" if pixels else "Vector", facts)
    return (draft if pixels else _with_finite(draft, data)).with_doubts(
        f"always {plural(values.most, 'byte')}, taken as {taken}: or {', '.join(others)}?"
    )


def varying_raw(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a list of raw numbers, of bytes that look like whole numbers everywhere."""
    values = data.values
    if not data.is_raw or values.least == values.most or values.samples.unread:
        return None
    measured = values.measured.array(data.records)
    sizes = np.unique(measured[data.lengths >= 0])
    guess = values.samples.guess()
    item = item_bytes(guess.dtype)
    if not guess.clear or item ** len(sizes) < _CHANCE or (sizes % item).any():
        return None
    each = int(np.gcd.reduce(sizes)) // item
    facts: dict[str, Any] = {"dtype": guess.dtype, "encoding": "raw"}
    taken, others = f"{guess.dtype} numbers", [*guess.others]
    if 1 < each <= _MOST_OF_ITEM and each ** len(sizes) >= _CHANCE:
        facts["item_shape"] = (each,)
        taken = f"{guess.dtype} numbers in items of {each}"
        others = ["single ones", *others]
    elif each > 1:
        others = [f"in items of {each:,}", *others]
    span = f"{values.least:,} to {values.most:,} bytes"
    return _with_finite(Draft(data.key, "VarLen", facts), data).with_doubts(
        f"{span}, taken as {taken}: or {', '.join(others)}?"
    )


def _picture_shape(
    data: KeyEvidence, dtype: str, count: int
) -> tuple[int, int, int] | None:
    """Return the shape of the picture that so many raw numbers are; None for others."""
    named = speaks_of(data.key, "image")
    square = not (named or dtype in _PIXELS)
    shape = data.values.samples.picture(dtype, count, square=square)
    return shape or (square_picture(count) if named and dtype == "uint8" else None)


def _with_finite(draft: Draft, data: KeyEvidence) -> Draft:
    """Return raw numbers as they are declared if many are NaN or infinite."""
    unusual = data.values.unusual[draft.facts["dtype"]]
    return draft if data.is_like(unusual) else draft.with_facts(finite=False)


def _sized(data: KeyEvidence, sizes: Sizes) -> Draft | None:
    """Return the field of numbers if sizes go with the bytes of every record."""
    item = _item(data, sizes)
    if item is None:
        return None
    channels, guess = item
    dtype = guess.dtype
    if dtype == "uint8" and sizes.of_pixels:
        return _pixels(data, sizes, channels)
    facts = sized_facts(sizes, channels, dtype, "raw")
    if facts is None:
        return None
    taken = f", which look like {dtype}: or" if guess.clear else f": {dtype}, or"
    each = plural(item_bytes(dtype), "byte")
    return _with_finite(Draft(data.key, "Tensor", facts), data).with_doubts(
        f"numbers of {each}{taken} {' or '.join(guess.others)}?",
        *sizes.row_doubts(channels),
    )


def _item(data: KeyEvidence, sizes: Sizes) -> tuple[int, Guess] | None:
    """Return how many numbers of which dtype there are for each element of a shape."""
    measured, samples = data.values.measured.array(data.records), data.values.samples
    size = each_of(measured[data.lengths >= 0], sizes.shapes)
    guess = samples.guess()
    if not size:
        return None
    if sizes.is_count:
        return size // item_bytes(guess.dtype), guess
    if size == 1:
        return 1, samples.guess(1)
    if isinstance(sizes.keys, str) or len(sizes.keys) != 2:
        return (1, samples.guess(size)) if size in SIZES else None
    # The number of channels is not stored.
    for channels in CHANNELS_OF_PIXELS:
        if guess.clear and size == channels * item_bytes(guess.dtype):
            return channels, samples.guess(size // channels)
    return (size, samples.guess(1)) if size in CHANNELS_OF_PIXELS else None


def _pixels(data: KeyEvidence, sizes: Sizes, channels: int) -> Draft | None:
    """Return the field of pixels, which are taken channels last."""
    shapes = sizes.shapes
    if shapes.shape[1] == 2:
        shapes = np.insert(shapes, 2, channels, axis=1)
    elif channels > 1:
        return None
    shape = common_shape(shapes)
    facts: dict[str, Any] = {"shape": shape, "encoding": "raw", "dtype": "uint8"}
    facts |= {f"{axis}_key": key for axis, key in zip(AXES, sizes.keys, strict=False)}
    each = f", times {channels}" if channels > 1 else ""
    order, first = "height x width", ""
    if shape[2] != 1:
        depth = "channels" if shape[2] is None else str(shape[2])
        first = f"or {depth} x {order}, and "
        order = f"{order} x {depth}"
    height = quoted(sizes.keys[0])
    draft = (
        Draft(data.key, "Image", facts)
        .with_notes(f"as many bytes as {sizes.shown} say{each}")
        .with_doubts(f"raw pixels, taken as {order}: {first}is {height} the height?")
    )
    few_ids = data.values.ids.sum() <= _MOST_IDS
    if (
        shape[2] == 1
        and len(sizes.keys) == 2
        and few_ids
        and speaks_of(data.key, "mask")
    ):
        draft = as_mask(draft, data.values)
    if None not in shape[:2]:
        return draft
    return draft.with_doubts(resize_doubt(numbers(shapes[:, 0]), numbers(shapes[:, 1])))
