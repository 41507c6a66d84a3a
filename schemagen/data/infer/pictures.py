"""Encoded images, and what is stored next to them: sizes, formats, masks."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from ...runtime.shared.images import CHANNELS
from ..formatting import plural
from ..statistics.numbers import Numbers, quantile
from .draft import Draft, Scene, listed, quoted
from .evidence import KeyEvidence
from .sizes import keys_of_axis
from .values import Contents
from .words import AXES, parent_of, says, speaks_of

CHANNELS_OF_PIXELS = (1, 3, 4, 2)
"""How many numbers a pixel may have, if that is not stored."""

_SMALLEST_SIDE = 8

# Ids below this are classes next to 255, which then is none.
_BORDER = 200


def take_pictures(scene: Scene) -> None:
    """Make fields of all keys that hold encoded images."""
    # Pictures that may be masks of others come behind them.
    for seen in sorted(scene.open(), key=lambda seen: seen.values.grey > 0):
        facts = image_facts(seen.values)
        if facts is None:
            continue
        if seen.is_single:
            _take_picture(scene, seen, facts)
        elif not seen.values.empty and facts.pop("dtype") == "uint8":
            scene.add(_images_draft(seen, facts))


def image_facts(look: Contents) -> dict[str, Any] | None:
    """Return shape, encoding and dtype of images; None if not all values are images.

    Empty values may stand for images that are missing.
    """
    found = look.all
    readable = sum(found.channels.values())
    if not readable or look.refused or readable + look.empty < found.count:
        return None
    if not (found.heights.minimum and found.widths.minimum):
        return None
    encoding = next(iter(look.images)) if len(look.images) == 1 else "any"
    channels = min(c for c in CHANNELS[encoding] if c >= max(found.channels))
    bits = found.depths.keys()
    deep = encoding == "png" and bits == {16}
    if not deep and (max(bits) > 8 or (min(bits) < 8 and channels == 4)):
        return None
    height, width = (
        int(axis.constant) if axis.constant else None
        for axis in (found.heights, found.widths)
    )
    return {
        "shape": (height, width, channels),
        "encoding": encoding,
        "dtype": "uint16" if deep else "uint8",
    }


def _images_draft(seen: KeyEvidence, facts: dict[str, Any]) -> Draft:
    """Return the field of a list of images."""
    draft = Draft(seen.key, "Images", facts)
    if seen.is_fixed:
        facts["count"] = seen.longest
    else:
        draft.notes.append(f"{seen.shortest:,} to {seen.longest:,} in each record")
    add_resize(draft, seen.values)
    return draft


def square_picture(size: int) -> tuple[int, int, int] | None:
    """Return the shape of a square picture of so many numbers; None if there is none."""
    for channels in (3, 1):
        side = isqrt(size // channels)
        if side >= _SMALLEST_SIDE and side * side * channels == size:
            return side, side, channels
    return None


def resize_doubt(heights: Numbers, widths: Numbers, then: str = "") -> str:
    """Say between which sizes pictures are, and what that asks for."""
    least, most = (heights.minimum, widths.minimum), (heights.maximum, widths.maximum)
    low, high = ("x".join(map(str, size)) for size in (least, most))
    then = then or ": batches of several need resize=(height, width)"
    return f"sizes from {low} to {high}{then}"


def add_resize(draft: Draft, look: Contents) -> None:
    """Bring images to one size, as there may be several in a record.

    Half of them are as high or less, and half as wide.
    """
    if None not in draft.facts["shape"][:2]:
        return
    height, width = (
        int(quantile(axis, 0.5) or 1) for axis in (look.all.heights, look.all.widths)
    )
    draft.facts["resize"] = height, width
    brought = f"; brought to the middle, {height}x{width}"
    draft.doubts.append(resize_doubt(look.all.heights, look.all.widths, brought))


def _take_picture(scene: Scene, seen: KeyEvidence, facts: dict[str, Any]) -> None:
    draft = Draft(seen.key, "Image", facts)
    look = seen.values
    if look.empty:
        draft.optional = True
        draft.notes.append(f"empty in {plural(look.empty, 'record')}")
    other = _picture_of(scene, seen)
    if other is not None:
        _as_mask(draft, other, seen)
    if not look.empty:
        _add_sizes(scene, draft, seen)
        _add_format(scene, draft, seen)
    if None in facts["shape"][:2]:
        draft.doubts.append(resize_doubt(look.all.heights, look.all.widths))
    scene.add(draft)


def _picture_of(scene: Scene, seen: KeyEvidence) -> str | None:
    """Return the picture that has the sizes of this one, which may be its mask."""
    if seen.values.grey < seen.values.all.count:
        return None
    sizes = seen.values.heads(scene.records)[:, :2]
    for key, draft in scene.drafts.items():
        other = scene.evidence.keys[key].values
        if not _is_image(draft) or other.grey == other.all.count:
            continue
        found = other.heads(scene.records)[:, :2]
        both = (sizes[:, 0] >= 0) & (found[:, 0] >= 0)
        if both.any() and (sizes[both] == found[both]).all():
            return key
    return None


def _is_image(draft: Draft) -> bool:
    """Tell one image from several, and from a mask."""
    codec = draft.codec
    return codec.of_pixels and codec.parts[0].count == 1 and not draft.can_be_target


def _as_mask(draft: Draft, other: str, seen: KeyEvidence) -> None:
    """Make a mask of a picture that is named so, or ask whether it is one."""
    said = f"as large as {quoted(other)} in every record: "
    bits = seen.values.all.depths.keys()
    if not speaks_of(draft.key, "mask") or not bits <= {8, 16}:
        draft.doubts.append(
            f"{said}a picture, or a class for each pixel, "
            "Mask((None, None), num_classes=...)?"
        )
        return
    make_mask(draft)
    give_classes(draft, seen.values, said)


def make_mask(draft: Draft) -> None:
    """Make a mask of an image of one channel."""
    draft.kind = "Mask"
    draft.facts["shape"] = draft.facts["shape"][:2]
    draft.facts.pop("channels_key", None)


def give_classes(draft: Draft, look: Contents, said: str = "") -> None:
    """Give a mask the classes that occur; 255 next to few others is no class."""
    ids = np.flatnonzero(look.present)
    draft.facts["num_classes"] = None
    if not len(ids):
        draft.doubts.append(
            f"{said}a class for each pixel? Then say num_classes=, and ignore="
        )
        return
    border = 255 in ids and len(ids) > 1 and ids[-2] < _BORDER
    highest = int(ids[-2] if border else ids[-1])
    draft.facts["num_classes"] = max(2, highest + 1)
    if border:
        draft.facts["ignore"] = 255
    shown = listed(map(str, ids))
    draft.doubts.append(
        f"{said}a class for each pixel? The ids are {shown}: is {highest} the highest id?"
    )


def _add_sizes(scene: Scene, draft: Draft, seen: KeyEvidence) -> None:
    """Find the keys that hold the image's own sizes."""
    heads = seen.values.heads(scene.records)
    there = seen.lengths >= 0
    axes = AXES[: len(draft.facts["shape"])]
    if len(seen.values.all.channels) > 1:
        axes = AXES[:2]
    for axis, word in enumerate(axes):
        for key in keys_of_axis(scene, seen, word):
            if not scene.may_share(key, word):
                continue
            stored = scene.evidence.keys[key].lists.firsts(scene.records)
            wrong = int((stored[there] != heads[there, axis]).sum())
            if not wrong:
                draft.facts[f"{word}_key"] = key
                scene.share(key, word)
                break
            if parent_of(key) == parent_of(seen.key):
                draft.doubts.append(
                    f"{quoted(key)} is not the {word} of the image in "
                    f"{plural(wrong, 'record')}, and so a field of its own"
                )
                break


def _add_format(scene: Scene, draft: Draft, seen: KeyEvidence) -> None:
    """Find the key that holds the image's format."""
    encoding = draft.facts["encoding"]
    formats = {row: picture.format for row, picture in seen.values.pictures.items()}
    for other in scene.open():
        if (
            other.kind != "bytes"
            or not other.is_single
            or not says(other.key, "format")
            or parent_of(other.key) not in (parent_of(seen.key), seen.key)
            or not other.is_with(seen)
            or other.values.texts is None
        ):
            continue
        text, *more = map(bytes.decode, other.values.texts)
        if encoding == "any":
            if other.values.single_texts != formats:
                continue
        elif more or not text or not (text == encoding or _is_image(draft)):
            continue
        elif text != encoding:
            draft.facts["format_text"] = text
        draft.facts["format_key"] = other.key
        return


def say_what_is_broken(draft: Draft, look: Contents) -> None:
    """Say why bytes that begin as images are not images."""
    found = look.all
    images = plural(found.images, "image")
    for (_, channels), times in sorted(look.refused.items()):
        draft.doubts.append(
            f"{times:,} of {images} with {plural(channels, 'channel')}, which no Image "
            "has: without them this is an Image"
        )
    if look.damaged:
        reason = next(iter(found.troubles or ()), "")
        draft.doubts.append(
            f"{look.damaged:,} of {images} cannot be read, one of them {reason}: "
            "Image(...) would refuse it"
        )
    if look.damaged or look.refused:
        return
    said = f"{found.images:,} of {plural(found.count, 'value')} are images"
    if found.images == found.count:
        said = (
            f"images of {sorted(found.channels)} channels and {sorted(found.depths)} "
        )
        said += "bits, which no Image reads"
    draft.doubts.append(said)
