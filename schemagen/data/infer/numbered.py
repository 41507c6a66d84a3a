"""Numbered keys: images under keys that differ in a number, such as the frames of a clip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...runtime.kinds.image_lists import MOST_KEYS
from ...runtime.kinds.numbering import Numbering
from ..statistics.numbers import merged_numbers
from .draft import Draft, Drafts, quoted
from .evidence import KeyEvidence
from .pictures import image_draft, may_be_mask, resized

# The two pictures of a stereo camera are fields of their own.
_FEWEST = 3

# No number that is longer counts anything.
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,9}(?![0-9])")


def numbered_images(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of images under numbered keys, of which this is the first."""
    if data.values.empty or not data.values.images:
        return None
    evidence = drafts.evidence
    found = _numbered(tuple(evidence.keys)).get(data.key)
    if found is None:
        return None
    numbering, first, count = found
    keys = numbering.keys(first, count)
    every = [evidence.keys[key] for key in keys]
    drafted = [image_draft(each) for each in every if _is_image(each, data)]
    shapes = [each.facts["shape"] for each in drafted if each]
    kinds = {(each.facts["encoding"], each.facts["dtype"]) for each in drafted if each}
    channels = {shape[2] for shape in shapes}
    if len(shapes) < count or len(channels) > 1 or len(kinds) > 1:
        return None
    if not all(map(drafts.is_open, keys)):
        return None
    ((encoding, dtype),) = kinds
    height, width = (
        sizes.pop() if len(sizes) == 1 else None
        for sizes in ({shape[axis] for shape in shapes} for axis in range(2))
    )
    facts: dict[str, Any] = {
        "shape": (height, width, channels.pop()),
        "encoding": encoding,
        "dtype": dtype,
        "count": count,
        "keys": numbering.text,
        "keys_from": first,
    }
    contents = [each.values.all for each in every]
    return resized(
        Draft(data.key, "Images", facts).with_notes(
            f"an image under each of {count} keys, from {quoted(keys[0])} to "
            f"{quoted(keys[-1])}"
        ),
        merged_numbers([each.heights for each in contents]),
        merged_numbers([each.widths for each in contents]),
    )


def _is_image(each: KeyEvidence, first: KeyEvidence) -> bool:
    """Return whether the same records have one image under two keys."""
    alone = each.is_single and each.is_with(first) and not each.values.empty
    return alone and not may_be_mask(each)


@lru_cache(maxsize=4)
def _numbered(keys: Sequence[str]) -> dict[str, tuple[Numbering, int, int]]:
    """Return formats of keys without a gap by their first key, and first number and count."""
    numbers: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        for match in _NUMBER.finditer(key):
            ends = key[: match.start()], key[match.end() :]
            numbers.setdefault(ends, []).append(match[0])
    found: dict[str, tuple[Numbering, int, int]] = {}
    taken: set[str] = set()
    # Where several numbers of a key vary, the longest row counts, or the last number.
    order = sorted(numbers, key=lambda ends: (-len(numbers[ends]), len(ends[1])))
    for head, tail in order:
        texts = sorted(numbers[head, tail], key=int)
        first, count = int(texts[0]), len(texts)
        width = min(map(len, texts))
        padded = any(len(text) > 1 and text[0] == "0" for text in texts)
        form = f"0{width}d" if padded else ""
        numbering = Numbering(head, form, tail)
        there = {f"{head}{text}{tail}" for text in texts}
        if (
            _FEWEST <= count <= MOST_KEYS
            and {*numbering.keys(first, count)} == there
            and not there & taken
        ):
            found[numbering.key(first)] = (numbering, first, count)
            taken |= there
    return found
