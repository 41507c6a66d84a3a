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
    for data in sorted(scene.open(), key=lambda data: data.values.grey > 0):
        facts = image_facts(data.values)
        if facts is None:
            continue
        if data.is_single:
            _take_picture(scene, data, facts)
        elif not data.values.empty and facts.pop("dtype") == "uint8":
            scene.add(_images_draft(data, facts))


def image_facts(values: Contents) -> dict[str, Any] | None:
    """Return shape, encoding and dtype of images; None if not all values are images.

    Empty values may stand for images that are missing.
    """
    found = values.all
    readable = sum(found.channels.values())
    if not readable or values.refused or readable + values.empty < found.count:
        return None
    if not (found.heights.minimum and found.widths.minimum):
        return None
    encoding = next(iter(values.images)) if len(values.images) == 1 else "any"
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


def _images_draft(data: KeyEvidence, facts: dict[str, Any]) -> Draft:
    """Return the field of a list of images."""
    draft = Draft(data.key, "Images", facts)
    if data.is_fixed:
        facts["count"] = data.longest
    else:
        draft.notes.append(f"{data.shortest:,} to {data.longest:,} in each record")
    add_resize(draft, data.values)
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


def add_resize(draft: Draft, values: Contents) -> None:
    """Bring images to one size, as there may be several in a record.

    Half of them are as high or less, and half as wide.
    """
    if None not in draft.facts["shape"][:2]:
        return
    height, width = (
        int(quantile(axis, 0.5) or 1)
        for axis in (values.all.heights, values.all.widths)
    )
    draft.facts["resize"] = height, width
    brought = f"; brought to the middle, {height}x{width}"
    draft.doubts.append(resize_doubt(values.all.heights, values.all.widths, brought))


def _take_picture(scene: Scene, data: KeyEvidence, facts: dict[str, Any]) -> None:
    draft = Draft(data.key, "Image", facts)
    values = data.values
    if values.empty:
        draft.optional = True
        draft.notes.append(f"empty in {plural(values.empty, 'record')}")
    other = _picture_of(scene, data)
    if other is not None:
        make_mask(draft)
        give_classes(draft, values, f"as large as {quoted(other)} in every record: ")
    if not values.empty:
        _add_sizes(scene, draft, data)
        _add_format(scene, draft, data)
    if None in facts["shape"][:2]:
        draft.doubts.append(resize_doubt(values.all.heights, values.all.widths))
    scene.add(draft)


def _picture_of(scene: Scene, data: KeyEvidence) -> str | None:
    """Return the picture that has the sizes of this one, if that is named as a mask."""
    grey = data.values.grey == data.values.all.count
    usual = data.values.all.depths.keys() <= {8, 16}
    if not (grey and usual and speaks_of(data.key, "mask")):
        return None
    sizes = data.values.heads(scene.records)[:, :2]
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


def make_mask(draft: Draft) -> None:
    """Make a mask of an image of one channel."""
    draft.kind = "Mask"
    draft.facts["shape"] = draft.facts["shape"][:2]
    draft.facts.pop("channels_key", None)


def give_classes(draft: Draft, values: Contents, text: str = "") -> None:
    """Give a mask the classes that occur; 255 next to few others is no class."""
    ids = np.flatnonzero(values.ids)
    draft.facts["num_classes"] = None
    if not len(ids):
        draft.doubts.append(
            f"{text}a class for each pixel? Then say num_classes=, and ignore="
        )
        return
    border = 255 in ids and len(ids) > 1 and ids[-2] < _BORDER
    highest = int(ids[-2] if border else ids[-1])
    draft.facts["num_classes"] = max(2, highest + 1)
    if border:
        draft.facts["ignore"] = 255
    shown = listed(map(str, ids))
    draft.doubts.append(
        f"{text}a class for each pixel? The ids are {shown}: is {highest} the highest id?"
    )


def _add_sizes(scene: Scene, draft: Draft, data: KeyEvidence) -> None:
    """Find the keys that hold the image's own sizes."""
    heads = data.values.heads(scene.records)
    present = data.lengths >= 0
    axes = AXES[: len(draft.facts["shape"])]
    if len(data.values.all.channels) > 1:
        axes = AXES[:2]
    for axis, word in enumerate(axes):
        for key in keys_of_axis(scene, data, word):
            if not scene.may_share(key, word):
                continue
            stored = scene.evidence.keys[key].lists.firsts(scene.records)
            wrong = int((stored[present] != heads[present, axis]).sum())
            if not wrong:
                draft.facts[f"{word}_key"] = key
                scene.share(key, word)
                break
            if parent_of(key) == parent_of(data.key):
                draft.doubts.append(
                    f"{quoted(key)} is not the {word} of the image in "
                    f"{plural(wrong, 'record')}, and so a field of its own"
                )
                break


def _add_format(scene: Scene, draft: Draft, data: KeyEvidence) -> None:
    """Find the key that holds the image's format."""
    encoding = draft.facts["encoding"]
    formats = {row: picture.format for row, picture in data.values.pictures.items()}
    for other in scene.open():
        if (
            other.kind != "bytes"
            or not other.is_single
            or not says(other.key, "format")
            or parent_of(other.key) not in (parent_of(data.key), data.key)
            or not other.is_with(data)
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


def say_what_is_broken(draft: Draft, values: Contents) -> None:
    """Say why bytes that begin as images are not images."""
    found = values.all
    images = plural(found.images, "image")
    for (_, channels), times in sorted(values.refused.items()):
        draft.doubts.append(
            f"{times:,} of {images} with {plural(channels, 'channel')}, which no Image "
            "has: without them this is an Image"
        )
    if values.damaged:
        reason = next(iter(found.troubles or ()), "")
        draft.doubts.append(
            f"{values.damaged:,} of {images} cannot be read, one of them {reason}: "
            "Image(...) would refuse it"
        )
    if values.damaged or values.refused:
        return
    text = f"{found.images:,} of {plural(found.count, 'value')} are images"
    if found.images == found.count:
        text = (
            f"images of {sorted(found.channels)} channels and {sorted(found.depths)} "
        )
        text += "bits, which no kind of images reads"
    draft.doubts.append(text)
