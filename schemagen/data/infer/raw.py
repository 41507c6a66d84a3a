"""Raw numbers and pixels, with their sizes stored under other keys or always the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats import unread_content
from ..formatting import plural
from .draft import Draft, Scene, quoted
from .dtypes import SIZES, Guess, as_numbers, guess_dtype, item_bytes
from .evidence import Evidence, KeyEvidence
from .pictures import give_classes, image_draft, make_mask
from .pixels import (
    FIRST,
    Order,
    order_doubt,
    order_name,
    order_of,
    picture_shape,
    picture_shapes,
    resize_doubt,
)
from .sizes import CHANNELS, Sizes, are_of, each_of, items_of, size_candidates
from .tensors import common_shape, sized_facts
from .words import speaks_of

# Fewer records have one size by chance.
_FEW = 3

_MOST_CLASSES, _MOST_IDS = 10_000, 64
_MOST_SHAPES = 4


def take_raw(scene: Scene) -> None:
    """Make fields of raw numbers whose sizes are stored under keys of their own."""
    candidates = [seen for seen in scene.open() if _is_raw(seen)]
    for seen in candidates:
        for sizes in size_candidates(scene, seen):
            item = _item(scene, seen, sizes)
            named = are_of(scene, sizes, seen)
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


def take_fixed_raw(scene: Scene) -> None:
    """Make fields of bytes that are equally many in all records, by their values."""
    lengths = lengths_in(scene.evidence)
    for seen in list(scene.open()):
        draft = fixed_draft(seen, lengths)
        if draft is not None:
            scene.add(draft)


def lengths_in(evidence: Evidence) -> dict[str, int]:
    """Return how many numbers each key always has, in a list or raw."""
    found = {}
    for key, seen in evidence.keys.items():
        if seen.is_fixed and seen.kind != "bytes":
            found[key] = seen.longest
        elif _is_raw(seen) and seen.values.least == seen.values.most:
            dtype = guess_dtype(seen.values.samples).dtype
            found[key] = seen.values.most // item_bytes(dtype)
    return found


def fixed_draft(seen: KeyEvidence, lengths: Mapping[str, int]) -> Draft | None:
    """Return the field of raw bytes that are always equally many; None for others.

    Args:
        seen: the bytes.
        lengths: how many numbers other keys always have.
    """
    look = seen.values
    if not _is_raw(seen) or look.least != look.most or unread_content(look.samples):
        return None
    guess = guess_dtype(look.samples)
    draft = _guessed_draft(seen, guess, lengths)
    sure = guess.clear or len(draft.facts["shape"]) > 1
    return draft if sure or len(seen.there) >= _FEW else None


def _guessed_draft(
    seen: KeyEvidence, guess: Guess, lengths: Mapping[str, int]
) -> Draft:
    look, dtype = seen.values, guess.dtype
    count = look.most // item_bytes(dtype)
    shape, why = _shape_of(seen, dtype, count, lengths)
    pixels = dtype in ("uint8", "uint16") and len(shape) == 3 and shape[2] <= 4
    facts: dict[str, Any] = {"shape": shape, "dtype": dtype, "encoding": "raw"}
    if not pixels and dtype in look.unusual:
        facts["finite"] = False
    draft = image_draft(seen.key, facts)
    if not pixels:
        draft = Draft(seen.key, "Vector", facts)
    what = f"{count:,} {dtype} numbers"
    if len(shape) > 1:
        what = f"{dtype} {'pixels' if pixels else 'numbers'} of the shape {shape}{why}"
    draft.doubts.append(
        f"always {plural(look.most, 'byte')}, taken as {what}: or "
        f"{', '.join(_other_readings(seen, guess, shape, lengths))}?"
    )
    if pixels and shape[2] == 1 and dtype == "uint8":
        _may_be_mask(draft, seen)
    return draft


def _shape_of(
    seen: KeyEvidence, dtype: str, count: int, lengths: Mapping[str, int]
) -> tuple[tuple[int, ...], str]:
    """Return the likely shape of raw numbers, and why it is likely."""
    samples = [np.frombuffer(each, np.uint8) for each in seen.values.samples]
    numbers = [as_numbers(each, dtype) for each in samples]
    whole = [each for each in numbers if len(each) == count]
    image = speaks_of(seen.key, "image")
    picture = picture_shape(whole, square=not (image or dtype in ("uint8", "uint16")))
    if picture is not None:
        return picture, ", since neighboring pixels are similar"
    square = next((each for each in picture_shapes(count) if each[0] == each[1]), None)
    if square is not None and image and dtype == "uint8":
        return square, ""
    rows = _one_hot(numbers, count)
    if rows is not None:
        return rows, ", with a single 1 in each row"
    likely, _ = items_of(seen.key, count, lengths)
    if likely:
        return (likely[0], count // likely[0]), f", as others have {likely[0]:,}"
    return (count,), ""


def _other_readings(
    seen: KeyEvidence, guess: Guess, shape: tuple[int, ...], lengths: Mapping[str, int]
) -> list[str]:
    """Return what else raw numbers could be: of other shapes, or of other dtypes."""
    look, size = seen.values, item_bytes(guess.dtype)
    count = look.most // size
    _, possible = items_of(seen.key, count, lengths)
    shapes = [*picture_shapes(count), *((each, count // each) for each in possible)]
    others = [str(each) for each in shapes if each != shape][:_MOST_SHAPES]
    if len(shape) > 1:
        others.append(f"a row of {count:,}")
    if others:
        others[0] = f"of the shape {others[0]}"
    return others + [
        other
        if item_bytes(other) == size
        else f"{look.most // item_bytes(other):,} {other}"
        for other in guess.others
        if other != "bool" or not look.present[2:].any()
    ]


def _may_be_mask(draft: Draft, seen: KeyEvidence) -> None:
    """Make a mask of grey pixels that are named so."""
    if not speaks_of(seen.key, "mask") or seen.values.present.sum() > _MOST_IDS:
        return
    make_mask(draft)
    give_classes(draft, seen.values)


def _one_hot(numbers: Sequence[NDArray[Any]], count: int) -> tuple[int, int] | None:
    """Return the shape of rows that have one 1 each, and zeros; None for others."""
    ones = sum(int((each == 1).sum()) for each in numbers)
    size = round(sum(map(len, numbers)) / ones) if ones else 0
    if not 2 <= size <= min(_MOST_CLASSES, count // 2) or count % size:
        return None
    rows = [each[: len(each) // size * size].reshape(-1, size) for each in numbers]
    each_one = all(((each == 1).sum(1) == 1).all() for each in rows)
    zeros = all((np.count_nonzero(each, axis=1) == 1).all() for each in rows)
    return (count // size, size) if each_one and zeros else None


def _is_raw(seen: KeyEvidence) -> bool:
    """Return whether a key holds bytes of no known format."""
    look = seen.values
    if not (seen.kind == "bytes" and seen.is_single) or look.empty or look.text:
        return False
    return not (look.holds_images or look.tensors)


def _say_possible(
    scene: Scene, seen: KeyEvidence, sizes: Sizes, channels: int, guess: Guess
) -> None:
    """Say of bytes that sizes would fit, which may be those of another key."""
    if channels > 1:
        return
    shape = common_shape(sizes.shapes[seen.lengths >= 0])
    size = item_bytes(guess.dtype)
    words = " or ".join((guess.dtype, *guess.others))
    scene.possible.setdefault(seen.key, []).append(
        f"the sizes in {sizes.shown} would fit numbers of {plural(size, 'byte')}: are "
        f"they of this key, and is it {words}? "
        f"Tensor({shape}, dtype=..., shape_key=...)"
    )


def _item(scene: Scene, seen: KeyEvidence, sizes: Sizes) -> tuple[int, Guess] | None:
    """Return channels and dtype if sizes go with the bytes of every record."""
    there = seen.lengths >= 0
    measured = seen.values.measured.array(scene.records)[there]
    samples, size = seen.values.samples, each_of(measured, sizes.shapes[there])
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
    for channels in CHANNELS:
        if guess.clear and size == channels * item_bytes(guess.dtype):
            return channels, guess_dtype(samples, size // channels)
    return (size, guess_dtype(samples, 1)) if size in CHANNELS else None


def _draft(
    scene: Scene, seen: KeyEvidence, sizes: Sizes, channels: int, guess: Guess
) -> Draft | None:
    """Return the field of numbers whose sizes go with their bytes."""
    dtype = guess.dtype
    if not isinstance(sizes.keys, str) and dtype == "uint8" and len(sizes.keys) > 1:
        return _pixels(scene, seen, sizes, channels)
    facts = sized_facts(scene, seen, sizes, channels, dtype, "raw")
    if facts is None:
        return None
    if dtype in seen.values.unusual:
        facts["finite"] = False
    draft = Draft(seen.key, "Tensor", facts)
    taken = f", which look like {dtype}: or" if guess.clear else f": {dtype}, or"
    each = plural(item_bytes(dtype), "byte")
    draft.doubts.append(f"numbers of {each}{taken} {' or '.join(guess.others)}?")
    return draft


def _pixels(
    scene: Scene, seen: KeyEvidence, sizes: Sizes, channels: int
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
    order = order_of(seen.values.samples, there)
    if order.clear == FIRST:
        return _channels_first(seen, sizes, shape, order)
    facts: dict[str, Any] = {"shape": shape, "encoding": "raw", "dtype": "uint8"}
    facts |= {f"{axis}_key": key for key, axis in shared}
    draft = image_draft(seen.key, facts)
    draft.notes.append(_agreement(sizes, channels))
    draft.doubts.append(order_doubt(order, shape[2], quoted(sizes.keys[0])))
    if shape[2] == 1 and len(shared) == 2:
        _may_be_mask(draft, seen)
    if None in shape[:2]:
        draft.doubts.append(resize_doubt(there.tolist()))
    return draft


def _channels_first(
    seen: KeyEvidence, sizes: Sizes, shape: tuple[int | None, ...], order: Order
) -> Draft:
    """Return the field of pixels that an Image would read in the wrong order."""
    height, width, channels = shape
    keys = (*sizes.keys, None)
    facts: dict[str, Any] = {"shape": (channels, height, width), "dtype": "uint8"}
    facts |= {"encoding": "raw", "shape_key": (keys[2], keys[0], keys[1])}
    draft = Draft(seen.key, "Tensor", facts, notes=[_agreement(sizes, channels)])
    draft.doubts.append(
        f"raw pixels, taken as {order_name(FIRST, channels)}; {order.said(channels)}: "
        "an Image has its channels last"
    )
    return draft


def _agreement(sizes: Sizes, channels: int | None) -> str:
    """Say how sizes agree with the number of bytes; None for channels that vary."""
    each = f", times {channels}" if channels != 1 and len(sizes.contents) == 2 else ""
    return f"as many bytes as {sizes.shown} say{each}"
