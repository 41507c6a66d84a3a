"""Lists of numbers with more dimensions than one, by sizes and lengths next to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..formatting import plural
from .draft import Draft, Scene
from .evidence import KeyEvidence
from .lists import list_facts
from .pixels import picture_shape
from .raw import lengths_in
from .sizes import CHANNELS, Sizes, are_of, each_of, items_of, size_candidates
from .tensors import sized_facts
from .words import item_size, speaks_of

_DTYPES = {"int64": "int64", "float": "float32"}

_SHORTEST = 4


def take_shaped(scene: Scene) -> None:
    """Make fields of lists of numbers that sizes under other keys give a shape."""
    lengths = lengths_in(scene.evidence)
    for seen in list(scene.open()):
        if seen.kind not in _DTYPES or seen.is_single or seen.longest < _SHORTEST:
            continue
        draft = _by_sizes(scene, seen)
        if draft is None and seen.is_fixed:
            named = item_size(seen.key) > 0
            draft = (None if named else _by_neighbors(seen)) or _by_another(
                scene, seen, lengths
            )
        if draft is not None:
            if seen.numbers.unusual:
                draft.facts["finite"] = False
            scene.add(draft)


def _by_sizes(scene: Scene, seen: KeyEvidence) -> Draft | None:
    there = seen.lengths >= 0
    for sizes in size_candidates(scene, seen):
        each = each_of(seen.there, sizes.shapes[there])
        if not each or not are_of(scene, sizes, seen):
            continue
        if sizes.is_count:
            return _counted(scene, seen, sizes, each)
        if each > 1 and (len(sizes.contents) > 2 or each not in CHANNELS):
            continue
        facts = sized_facts(scene, seen, sizes, each, _DTYPES[seen.kind], "list")
        if facts is None:
            continue
        said = f"as many numbers as the sizes in {sizes.shown} say"
        return Draft(seen.key, "Tensor", facts, notes=[said])
    return None


def _counted(scene: Scene, seen: KeyEvidence, sizes: Sizes, each: int) -> Draft | None:
    """Return the field of a list whose items are counted under another key."""
    said = f"{plural(each, 'number')} for each item that {sizes.shown} counts"
    scene.counts.add(sizes.keys[0])
    if seen.is_fixed:
        if each == 1:
            return None
        shape = (seen.longest // each, each)
        facts: dict[str, Any] = {"shape": shape, "dtype": _DTYPES[seen.kind]}
        return Draft(seen.key, "Vector", facts, notes=[said])
    facts = list_facts(seen)
    if each > 1:
        facts["item_shape"] = (each,)
    return Draft(seen.key, "VarLen", facts, notes=[said])


def _by_neighbors(seen: KeyEvidence) -> Draft | None:
    """Return the field of numbers that are the pixels of a square picture."""
    shape: tuple[int, ...] | None = picture_shape(
        seen.numbers.samples, square=not speaks_of(seen.key, "image")
    )
    if shape is None:
        return None
    shape = shape[:2] if shape[2] == 1 else shape
    said = "x".join(map(str, shape))
    draft = Draft(seen.key, "Vector", {"shape": shape, "dtype": _DTYPES[seen.kind]})
    draft.doubts.append(
        f"always {seen.longest:,} numbers, taken as {said} pixels, since neighbors are "
        f"similar: or a row of {seen.longest:,}?"
    )
    return draft


def _by_another(
    scene: Scene, seen: KeyEvidence, lengths: Mapping[str, int]
) -> Draft | None:
    """Return the field of a list that is several times as long as others next to it."""
    count = seen.longest
    likely, possible = items_of(seen.key, count, lengths)
    if not likely:
        said = " or ".join(f"({items}, {count // items})" for items in possible)
        if said:
            scene.possible.setdefault(seen.key, []).append(
                f"always {count:,} numbers: of the shape {said}, or of another order?"
            )
        return None
    shape = (likely[0], count // likely[0])
    draft = Draft(seen.key, "Vector", {"shape": shape, "dtype": _DTYPES[seen.kind]})
    draft.doubts.append(
        f"always {count:,} numbers, {shape[1]:,} for each of {shape[0]:,}, as long as "
        f"other lists are: or in the order {shape[::-1]}, or a row of them?"
    )
    return draft
