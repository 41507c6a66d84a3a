"""Encoded images, and what is stored next to them: sizes, formats, masks."""

from __future__ import annotations

from typing import Any

from ...runtime.shared.images import CHANNELS
from .draft import Draft, Scene, counted, quoted
from .evidence import KeyEvidence
from .values import BytesValues
from .words import names_mask, nearest, parent_of, says_format, says_size

_AXES = ("height", "width", "channels")


def take_pictures(scene: Scene) -> None:
    """Make fields of all keys that hold encoded images."""
    pictures = [
        (seen, facts)
        for seen in scene.open()
        if seen.shortest and (facts := image_facts(seen.values)) is not None
        if seen.is_single or not seen.values.empty
    ]
    # What may be the mask of another is looked at when the others are known.
    pictures.sort(key=lambda one: one[0].values.grey > 0)
    lists = [
        (seen, facts)
        for seen in scene.open()
        if not seen.shortest and (facts := image_facts(seen.values)) is not None
        if not seen.values.empty
    ]
    for seen, facts in pictures:
        if seen.is_single:
            _take_picture(scene, seen, facts)
        else:
            lists.append((seen, facts))
    for seen, facts in lists:
        scene.add(images_draft(seen, facts))


def image_facts(look: BytesValues) -> dict[str, Any] | None:
    """Return shape, encoding and dtype of images; None if not all values are some.

    Empty values may stand for images that are not there.
    """
    images = sum(look.formats.values())
    if not images or images + look.empty < look.values:
        return None
    forms = list(look.formats)
    encoding = forms[0] if len(forms) == 1 else "any"
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


def size_range(look: BytesValues) -> str:
    """Say which sizes images have: 20x24 to 500x375."""
    sizes = sorted(look.sizes, key=lambda size: (size[0] * size[1], size))
    (low_height, low_width), (height, width) = sizes[0], sizes[-1]
    return f"{low_height}x{low_width} to {height}x{width}"


def usual_size(look: BytesValues) -> tuple[int, int]:
    """Return the (height, width) that most images have, of several the smallest."""
    most = max(look.sizes.values())
    return min(size for size, count in look.sizes.items() if count == most)


def images_draft(seen: KeyEvidence, facts: dict[str, Any]) -> Draft:
    """Return the field of a list of images."""
    facts = dict(facts)
    draft = Draft(seen.key, "Images", facts)
    if facts.pop("dtype") != "uint8":
        return Draft(
            seen.key,
            "VarLen",
            {"dtype": "bytes", "padding_value": ""},
            doubts=["lists of PNGs of 16 bits a channel, which Images does not read"],
        )
    if seen.is_fixed:
        facts["count"] = seen.longest
    else:
        draft.notes.append(f"{seen.shortest:,} to {seen.longest:,} in each record")
    add_resize(draft, facts, seen.values)
    return draft


def add_resize(draft: Draft, facts: dict[str, Any], look: BytesValues) -> None:
    """Bring images to one size where there have to be several in a record."""
    if None not in facts["shape"][:2]:
        return
    facts["resize"] = usual_size(look)
    height, width = facts["resize"]
    draft.doubts.append(
        f"sizes from {size_range(look)}; brought to the most frequent, {height}x{width}"
    )


def _take_picture(scene: Scene, seen: KeyEvidence, facts: dict[str, Any]) -> None:
    draft = Draft(seen.key, "Image", facts)
    look = seen.values
    if look.empty:
        draft.optional = True
        draft.notes.append(f"empty in {counted(look.empty, 'record')}")
    beside = _picture_of(scene, seen)
    if beside is not None:
        _as_mask(draft, beside, seen)
    _add_keys(scene, draft, seen)
    if None in facts["shape"][:2]:
        draft.doubts.append(
            f"sizes from {size_range(look)}: batches of several need "
            "resize=(height, width)"
        )
    scene.add(draft)


def _picture_of(scene: Scene, seen: KeyEvidence) -> str | None:
    """Return the picture that has the sizes of this one, which may be its mask."""
    if seen.values.grey < seen.values.values or seen.values.empty:
        return None
    sizes = seen.values.heads(scene.records)[:, :2]
    for key, draft in scene.drafts.items():
        other = scene.evidence.keys[key]
        if draft.kind != "Image" or other.values.grey == other.values.values:
            continue
        found = other.values.heads(scene.records)[:, :2]
        both = (sizes[:, 0] >= 0) & (found[:, 0] >= 0)
        if both.any() and (sizes[both] == found[both]).all():
            return key
    return None


def _as_mask(draft: Draft, beside: str, seen: KeyEvidence) -> None:
    """Make a mask of a picture that is named so, and say that it may be one else."""
    bits = set(seen.values.bits)
    if not names_mask(draft.key) or not bits <= {8, 16} or len(bits) > 1:
        draft.doubts.append(
            f"as large as {quoted(beside)} in every record: a picture, or a class for "
            "each pixel, Mask((None, None), num_classes=...)?"
        )
        return
    height, width, _ = draft.facts["shape"]
    draft.kind = "Mask"
    draft.facts = {
        "shape": (height, width),
        "num_classes": None,
        "encoding": "png",
        "dtype": draft.facts["dtype"],
    }
    draft.doubts.append(
        f"as large as {quoted(beside)} in every record: a class for each pixel? Then "
        "say num_classes=, and ignore="
    )


def _add_keys(scene: Scene, draft: Draft, seen: KeyEvidence) -> None:
    """Find the keys under which the image's own sizes and format stand."""
    if seen.values.empty:
        return
    heads = seen.values.heads(scene.records)
    shape = draft.facts["shape"]
    axes = _AXES if draft.kind == "Image" else _AXES[:2]
    for axis, word in enumerate(axes):
        if word == "channels" and len(seen.values.channels) > 1:
            continue
        key = _size_key(scene, seen, heads[:, axis], word, draft)
        if key is None:
            continue
        if word == "channels" and shape[2] != int(heads[:, 2].max()):
            continue
        draft.facts[f"{word}_key"] = key
        scene.share(key, word)
    _add_format(scene, draft, seen)


def _size_key(
    scene: Scene, seen: KeyEvidence, sizes: Any, word: str, draft: Draft
) -> str | None:
    keys = [
        other.key
        for other in scene.evidence.keys.values()
        if other.kind == "int64"
        and other.is_single
        and says_size(other.key, word)
        and _goes_with(other.key, seen.key)
        and scene.may_share(other.key, word)
        and ((other.lengths >= 0) == (seen.lengths >= 0)).all()
    ]
    for key in nearest(keys, seen.key):
        stored = scene.evidence.keys[key].numbers.firsts.array(scene.records)
        there = seen.lengths >= 0
        wrong = int((stored[there] != sizes[there]).sum())
        if not wrong:
            return key
        if parent_of(key) == parent_of(seen.key):
            draft.doubts.append(
                f"{quoted(key)} is not the {word} of the image in "
                f"{counted(wrong, 'record')}, and so a field of its own"
            )
            return None
    return None


def _goes_with(key: str, picture: str) -> bool:
    """Tell whether a key is next to a picture's, or above it."""
    above = parent_of(key)
    return not above or f"{picture}/".startswith(f"{above}/")


def _add_format(scene: Scene, draft: Draft, seen: KeyEvidence) -> None:
    beside = [
        other.key
        for other in scene.open()
        if other.kind == "bytes"
        and other.is_single
        and says_format(other.key)
        and parent_of(other.key) in (parent_of(seen.key), seen.key)
        and ((other.lengths >= 0) == (seen.lengths >= 0)).all()
    ]
    for key in beside:
        look = scene.evidence.keys[key].values
        if look.texts is None:
            continue
        texts = look.single_texts
        encoding = draft.facts["encoding"]
        found = set(texts.values())
        if encoding == "any":
            pictures = seen.values.pictures
            fits = texts == {row: form for row, (*_, form) in pictures.items()}
        else:
            fits = len(found) == 1 and found != {""}
        if not fits:
            continue
        draft.facts["format_key"] = key
        (text, *_) = found
        if encoding != "any" and text != encoding:
            if draft.kind != "Image":
                del draft.facts["format_key"]
                continue
            draft.facts["format_text"] = text
        scene.share(key, f"format {key}")
        return


def say_what_is_broken(draft: Draft, look: BytesValues) -> None:
    """Say why bytes that begin as images are not images."""
    images = sum(look.formats.values())
    for (form, channels), count in sorted(look.refused.items()):
        has = "has" if count == 1 else "have"
        draft.doubts.append(
            f"{count:,} of {counted(images + look.damaged, 'image')} {has} "
            f"{counted(channels, 'channel')}, which decode_{form} would convert and "
            "this schema language refuses: without them this is an Image"
        )
    if look.damaged > look.refused.total():
        draft.doubts.append(
            f"{look.damaged - look.refused.total():,} of "
            f"{counted(images + look.damaged, 'image')} cannot be "
            f"read, the first of them {look.broken}: Image(...) would refuse it"
        )
    if look.damaged:
        return
    if images and images < look.values:
        draft.doubts.append(f"{images:,} of {counted(look.values, 'value')} are images")
    elif images:
        found = ", ".join(map(str, sorted(look.channels)))
        bits = ", ".join(map(str, sorted(look.bits)))
        draft.doubts.append(
            f"images of {found} channels and {bits} bits, which no Image reads alike"
        )
