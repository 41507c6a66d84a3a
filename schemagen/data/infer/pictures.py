"""Encoded images, and what is stored next to them: sizes, formats, masks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...runtime.cells.columns import Rows
from ...runtime.images.formats import ANY, FORMATS_OF, channels_of, dtypes_of
from ...runtime.kinds.masks import Mask
from ...runtime.records.relations import image_of
from ..formatting import plural
from ..statistics.numbers import NumericStatistics, quantile
from .draft import Draft, Drafts, odd_doubt, quoted, ranges, with_commas
from .evidence import Evidence, KeyEvidence, is_rare
from .key_words import AXES, parent_of, says, speaks_of
from .sizes import keys_of_axis
from .values import Contents

CHANNELS_OF_PIXELS = (1, 3, 4, 2)
"""How many numbers a pixel may have, if that is not stored."""

# Ids below this are classes next to 255, which then is none.
_BORDER = 200


def picture(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of encoded images that cannot be masks of others."""
    return None if may_be_mask(data) else mask_or_picture(drafts, data)


def mask_or_picture(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of encoded images, which are masks of one that is mostly as large."""
    draft, values = image_draft(data), data.values
    if draft is None:
        return None
    if not data.is_single:
        return None if values.empty else _images(draft, data)
    of_picture = _picture_of(drafts, data) if may_be_mask(data) else None
    if of_picture is not None:
        said = f"as large as {quoted(of_picture)}: "
        draft = as_mask(draft, values, said)
    if values.empty:
        note = f"empty in {plural(values.empty, 'record')}"
        draft = replace(draft, optional=True).with_notes(note)
    else:
        draft = _with_sizes(drafts, draft, data)
        draft = _with_format(drafts, draft, data)
    if None in draft.facts["shape"][:2]:
        draft = draft.with_doubts(resize_doubt(values.all.heights, values.all.widths))
    return draft


def image_draft(data: KeyEvidence) -> Draft | None:
    """Return the field of encoded images; None if not all values are images.

    Empty values may stand for images that are missing.
    """
    found, values = data.values.all, data.values
    readable = sum(found.channels.values())
    if not readable or values.refused or readable + values.empty < found.count:
        return None
    if not (found.heights.minimum and found.widths.minimum):
        return None
    encoding = next(iter(values.images)) if len(values.images) == 1 else ANY
    if encoding == ANY and not values.images.keys() <= FORMATS_OF[ANY].keys():
        return None  # no field takes all of them
    channels = min(c for c in channels_of(encoding) if c >= max(found.channels))
    bits = found.depths.keys()
    dtype = {16: "uint16", 32: "float32"}.get(max(bits), "uint8")
    if dtype != "uint8":
        if len(bits) > 1 or dtype not in dtypes_of(encoding):
            return None
    elif max(bits) > 8 or (min(bits) < 8 and channels == 4):
        return None
    height, width = (
        int(axis.constant) if axis.constant else None
        for axis in (found.heights, found.widths)
    )
    facts = {"shape": (height, width, channels), "encoding": encoding}
    return Draft(data.key, "Image", {**facts, "dtype": dtype})


def _images(draft: Draft, data: KeyEvidence) -> Draft | None:
    """Return the field of a list of images."""
    axes = data.values.all.heights, data.values.all.widths
    draft = resized(replace(draft, kind="Images", facts=draft.facts), *axes)
    if data.is_fixed:
        return draft.with_facts(count=data.longest)
    return draft.with_notes(f"{data.shortest:,} to {data.longest:,} in each record")


def resized(
    draft: Draft, heights: NumericStatistics, widths: NumericStatistics
) -> Draft:
    """Bring images to one size, as there may be several in a record.

    Half of them are as high or less, and half as wide.

    Args:
        draft: of the images.
        heights: of all of them.
        widths: likewise.
    """
    if None not in draft.facts["shape"][:2]:
        return draft
    height, width = (int(quantile(axis, 0.5) or 1) for axis in (heights, widths))
    then = f"; brought to the middle, {height}x{width}"
    return draft.with_facts(resize=(height, width)).with_doubts(
        resize_doubt(heights, widths, then)
    )


def resize_doubt(
    heights: NumericStatistics,
    widths: NumericStatistics,
    then: str = ": batches of several need resize=(height, width)",
) -> str:
    """Say between which sizes pictures are, and what that asks for."""
    least = f"{heights.minimum}x{widths.minimum}"
    return f"sizes from {least} to {heights.maximum}x{widths.maximum}{then}"


def may_be_mask(data: KeyEvidence) -> bool:
    """Return whether grey images have a key that speaks of masks."""
    grey = data.values.grey == data.values.all.count > 0
    return grey and data.is_single and speaks_of(data.key, "mask")


def _picture_of(drafts: Drafts, data: KeyEvidence) -> str | None:
    """Return the picture that is as large as a mask in most records."""
    if not data.values.all.depths.keys() <= {8, 16}:
        return None
    sizes = data.values.heads(data.records)[:, :2]
    for key, draft in drafts.fields.items():
        other = drafts.evidence.keys[key].values
        if not _is_image(draft) or other.grey == other.all.count:
            continue
        found = other.heads(data.records)[:, :2]
        both = (sizes[:, 0] >= 0) & (found[:, 0] >= 0)
        alike = (sizes[both] == found[both]).all(axis=1)
        if alike.sum() * 2 > len(alike):
            return key
    return None


def with_own_sizes(evidence: Evidence, fields: Mapping[str, Draft]) -> dict[str, Draft]:
    """Return fields in which masks may differ in size from their image, if they do."""
    found = dict(fields)
    codecs = [draft.codec for draft in fields.values()]
    for key, draft in fields.items():
        mask = draft.codec
        image = image_of(mask, codecs) if isinstance(mask, Mask) else None
        if image is None:
            continue
        own, other = _sizes_of(evidence, draft), _sizes_of(evidence, fields[image.key])
        compared = (own[:, 0] >= 0) & (other[:, 0] >= 0)
        differ = int((compared & (own != other).any(axis=1)).sum())
        if is_rare(differ, int(compared.sum())):
            records = plural(int(compared.sum()), "record")
            what = f"a mask of another size than {quoted(image.key)}"
            found[key] = draft.with_doubts(odd_doubt(differ, records, what))
        elif differ:
            found[key] = draft.with_facts(own_size=True).with_doubts(
                f"of another size than {quoted(image.key)} in "
                f"{plural(differ, 'record')}: is it the mask of another image?"
            )
    return found


def _sizes_of(evidence: Evidence, draft: Draft) -> Rows:
    """Return int64 [records, 2]: height and width of a picture; -1 for none."""
    data = evidence.keys[draft.key]
    if draft.facts.get("encoding") != "raw":
        return data.values.heads(data.records)[:, :2]
    axes = [
        np.full(data.records, size)
        if size is not None
        else evidence.keys[draft.facts[f"{axis}_key"]].lists.first_values(data.records)
        for axis, size in zip(AXES[:2], draft.facts["shape"], strict=False)
    ]
    return np.where(data.lengths[:, np.newaxis] > 0, np.stack(axes, axis=1), -1)


def _is_image(draft: Draft) -> bool:
    """Tell one image from several, and from a mask."""
    return draft.is_picture and draft.codec.parts[0].count == 1


def as_mask(draft: Draft, values: Contents, said: str = "") -> Draft:
    """Return an image of one channel as a mask of the classes that occur.

    255 next to few others is no class.
    """
    ids = np.flatnonzero(values.ids)
    shape = draft.facts["shape"][:2]
    mask = replace(draft, kind="Mask").with_facts(shape=shape, num_classes=None)
    if not len(ids):
        return mask.with_doubts(
            f"{said}a class for each pixel? Then say num_classes=, and ignore="
        )
    border = 255 in ids and len(ids) > 1 and ids[-2] < _BORDER
    highest = int(ids[-2] if border else ids[-1])
    mask = mask.with_facts(num_classes=max(2, highest + 1))
    mask = mask.with_facts(ignore=255) if border else mask
    return mask.with_doubts(
        f"{said}a class for each pixel? The ids are {with_commas(ranges(ids.tolist()))}: is "
        f"{highest} the highest id?"
    )


def _with_sizes(drafts: Drafts, draft: Draft, data: KeyEvidence) -> Draft:
    """Return an image with the keys that hold its own sizes."""
    heads = data.values.heads(data.records)
    axes = AXES[: len(draft.facts["shape"])]
    if len(data.values.all.channels) > 1:
        axes = AXES[:2]
    for axis, word in enumerate(axes):
        draft = _with_size(drafts, draft, data, word, heads[:, axis])
    return draft


def _with_size(
    drafts: Drafts, draft: Draft, data: KeyEvidence, axis: str, sizes: Rows
) -> Draft:
    present = data.lengths >= 0
    for key in keys_of_axis(drafts.evidence, data, axis):
        sized = draft.with_facts(**{f"{axis}_key": key})
        if not drafts.admits(sized):
            continue
        stored = drafts.evidence.keys[key].lists.first_values(data.records)
        wrong = int((stored != sizes)[present].sum())
        if not wrong:
            return sized
        if parent_of(key) == parent_of(data.key):
            upright = data.values.heads(data.records, upright=True)
            turned = bool((stored == upright[:, AXES.index(axis)])[present].all())
            return draft.with_doubts(
                f"{quoted(key)} is not the {axis} of the image in "
                f"{plural(wrong, 'record')}, and so a separate field"
                + turned
                * ": it is that of the image as EXIF turns it, which "
                "orientation='apply' reads"
            )
    return draft


def _with_format(drafts: Drafts, draft: Draft, data: KeyEvidence) -> Draft:
    """Return an image with the key that holds its format."""
    encoding = draft.facts["encoding"]
    formats = {row: picture.format for row, picture in data.values.pictures.items()}
    for other in drafts.evidence.keys.values():
        named = draft.with_facts(format_key=other.key)
        if (
            other.kind != "bytes"
            or not other.is_single
            or not says(other.key, "format")
            or parent_of(other.key) not in (parent_of(data.key), data.key)
            or not other.is_with(data)
            or other.values.texts is None
            or not drafts.admits(named)
        ):
            continue
        text, *more = map(bytes.decode, other.values.texts)
        if encoding == "any":
            if other.values.single_texts == formats:
                return named
        elif not more and text == encoding:
            return named
        elif not more and text and _is_image(draft):
            return named.with_facts(format_text=text)
    return draft


def broken_images(values: Contents) -> tuple[str, ...]:
    """Say why bytes that begin as images are not images."""
    found = values.all
    images = plural(found.images, "image")
    doubts = [
        f"{times:,} of {images} with {plural(channels, 'channel')}, which no Image "
        "has: without them this is an Image"
        for (_, channels), times in sorted(values.refused.items())
    ]
    if values.damaged:
        reason = next(iter(found.troubles or ()), "")
        doubts.append(
            f"{values.damaged:,} of {images} cannot be read, one of them {reason}: "
            "Image(...) would refuse it"
        )
    if doubts:
        return tuple(doubts)
    if found.images < found.count:
        return (f"{found.images:,} of {plural(found.count, 'value')} are images",)
    return (
        f"images of {sorted(found.channels)} channels and {sorted(found.depths)} "
        "bits, which no kind of images reads",
    )
