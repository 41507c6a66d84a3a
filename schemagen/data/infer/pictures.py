"""Encoded images, and what is stored next to them: sizes, formats, masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isqrt
from typing import Any

import numpy as np

from ...runtime.shared.images import CHANNELS
from ..formatting import plural
from .draft import Draft, Scene, listed, quoted
from .evidence import KeyEvidence
from .sizes import is_near
from .values import BytesValues
from .words import AXES, nearest, parent_of, says, speaks_of

CHANNELS_OF_PIXELS = (1, 3, 4, 2)
"""How many numbers a pixel may have, if that is not stored."""

_SMALLEST_SIDE = 8

# Ids below this are classes next to 255, which then is none.
_BORDER = 200


def take_pictures(scene: Scene) -> None:
    """Make fields of all keys that hold encoded images."""
    found = [
        (seen, facts)
        for seen in scene.open()
        if (facts := image_facts(seen.values)) is not None
        if seen.is_single or not seen.values.empty
    ]
    # Pictures that may be masks of others come behind them.
    for seen, facts in sorted(found, key=lambda one: one[0].values.grey > 0):
        if seen.is_single:
            _take_picture(scene, seen, facts)
        else:
            scene.add(_images_draft(seen, facts))


def image_facts(look: BytesValues) -> dict[str, Any] | None:
    """Return shape, encoding and dtype of images; None if not all values are images.

    Empty values may stand for images that are missing.
    """
    images = look.formats.total()
    if not images or images + look.empty < look.values:
        return None
    encoding = next(iter(look.formats)) if len(look.formats) == 1 else "any"
    channels = next((c for c in CHANNELS[encoding] if c >= max(look.channels)), None)
    if channels is None:
        return None
    bits = set(look.bits)
    deep = encoding == "png" and bits == {16}
    if not deep and (max(bits) > 8 or (min(bits) < 8 and channels == 4)):
        return None
    heights, widths = ({size[axis] for size in look.sizes} for axis in (0, 1))
    return {
        "shape": (_same(heights), _same(widths), channels),
        "encoding": encoding,
        "dtype": "uint16" if deep else "uint8",
    }


def _same(sizes: set[int]) -> int | None:
    return next(iter(sizes)) if len(sizes) == 1 else None


def _images_draft(seen: KeyEvidence, facts: dict[str, Any]) -> Draft:
    """Return the field of a list of images."""
    if facts.pop("dtype") != "uint8":
        return Draft(
            seen.key,
            "VarLen",
            {"dtype": "bytes"},
            doubts=["lists of PNGs of 16 bits a channel, which Images does not read"],
        )
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


def resize_doubt(sizes: Iterable[Sequence[int]], then: str = "") -> str:
    """Say which sizes pictures have, heights and widths, and what that asks for."""
    ordered = sorted(sizes, key=lambda size: (size[0] * size[1], size))
    low, high = ("x".join(map(str, ordered[at][:2])) for at in (0, -1))
    then = then or ": batches of several need resize=(height, width)"
    return f"sizes from {low} to {high}{then}"


def image_draft(key: str, facts: dict[str, Any]) -> Draft:
    """Return the field of one image in each record, or in each step."""
    return Draft(key, "Image", facts)


def add_resize(draft: Draft, look: BytesValues) -> None:
    """Bring images to one size, as there may be several in a record.

    It is the size that most images have, of several the smallest.
    """
    if None not in draft.facts["shape"][:2]:
        return
    most = max(look.sizes.values())
    height, width = min(size for size, times in look.sizes.items() if times == most)
    draft.facts["resize"] = height, width
    brought = f"; brought to the most frequent, {height}x{width}"
    draft.doubts.append(resize_doubt(look.sizes, brought))


def _take_picture(scene: Scene, seen: KeyEvidence, facts: dict[str, Any]) -> None:
    draft = image_draft(seen.key, facts)
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
        draft.doubts.append(resize_doubt(look.sizes))
    scene.add(draft)


def _picture_of(scene: Scene, seen: KeyEvidence) -> str | None:
    """Return the picture that has the sizes of this one, which may be its mask."""
    if seen.values.grey < seen.values.values or seen.values.empty:
        return None
    sizes = seen.values.heads(scene.records)[:, :2]
    for key, draft in scene.drafts.items():
        other = scene.evidence.keys[key].values
        if not _is_image(draft) or other.grey == other.values:
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
    bits = set(seen.values.bits)
    if not speaks_of(draft.key, "mask") or bits not in ({8}, {16}):
        draft.doubts.append(
            f"{said}a picture, or a class for each pixel, "
            "Mask((None, None), num_classes=...)?"
        )
        return
    make_mask(draft)
    draft.facts["num_classes"] = None
    if bits == {8} and not seen.values.undecoded:
        give_classes(draft, seen.values, said)
        return
    draft.doubts.append(
        f"{said}a class for each pixel? Then say num_classes=, and ignore="
    )


def make_mask(draft: Draft) -> None:
    """Make a mask of an image of one channel."""
    draft.kind = "Mask"
    draft.facts["shape"] = draft.facts["shape"][:2]
    draft.facts.pop("channels_key", None)


def give_classes(draft: Draft, look: BytesValues, said: str = "") -> None:
    """Give a mask the classes that were seen; 255 next to few others is no class."""
    ids = np.flatnonzero(look.present)
    border = 255 in ids and len(ids) > 1 and ids[-2] < _BORDER
    highest = int(ids[-2] if border else ids[-1]) if len(ids) else 0
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
    several = len(seen.values.channels) > 1
    there = seen.lengths >= 0
    for axis, word in enumerate(
        AXES[:2] if several else AXES[: len(draft.facts["shape"])]
    ):
        near = [
            other.key
            for other in scene.evidence.keys.values()
            if other.kind == "int64"
            and other.is_single
            and says(other.key, word)
            and is_near(other.key, seen.key)
            and scene.may_share(other.key, word)
            and other.is_with(seen)
        ]
        for key in nearest(near, seen.key):
            stored = scene.evidence.keys[key].numbers.firsts.array(scene.records)
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
    forms = {row: form for row, (*_, form) in seen.values.pictures.items()}
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
        texts = other.values.single_texts
        text, *more = set(texts.values())
        if encoding == "any":
            if texts != forms:
                continue
        elif more or not text:
            continue
        elif text != encoding:
            if not _is_image(draft):
                continue
            draft.facts["format_text"] = text
        draft.facts["format_key"] = other.key
        return


def say_what_is_broken(draft: Draft, look: BytesValues) -> None:
    """Say why bytes that begin as images are not images."""
    images = look.formats.total()
    everything = plural(images + look.damaged, "image")
    for (_, channels), times in sorted(look.refused.items()):
        draft.doubts.append(
            f"{times:,} of {everything} with {plural(channels, 'channel')}, which no Image "
            "has: without them this is an Image"
        )
    broken = look.damaged - look.refused.total()
    if broken:
        draft.doubts.append(
            f"{broken:,} of {everything} cannot be read, the first of them "
            f"{look.broken}: Image(...) would refuse it"
        )
    if look.damaged:
        return
    said = f"{images:,} of {plural(look.values, 'value')} are images"
    if images == look.values:
        found, bits = (
            ", ".join(map(str, sorted(each))) for each in (look.channels, look.bits)
        )
        said = (
            f"images of {found} channels and {bits} bits, which no single Image reads"
        )
    draft.doubts.append(said)
