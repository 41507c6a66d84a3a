"""Tensors of tf.io.serialize_tensor, and lists of numbers with more dimensions than one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formatting import plural
from .draft import Draft, Scene
from .evidence import KeyEvidence
from .lists import list_facts
from .pictures import CHANNELS_OF_PIXELS, square_picture
from .sizes import Sizes, are_of, common_shape, each_of, size_candidates, sized_facts
from .words import item_size, names_picture

_DTYPES = {"int64": "int64", "float": "float32"}

_SHORTEST = 4


def take_protos(scene: Scene) -> None:
    """Make fields of tensors that tf.io.serialize_tensor has written."""
    for seen in list(scene.open()):
        tensors = seen.values.tensors
        if not (seen.is_single and tensors) or tensors.total() < seen.values.all.count:
            continue
        dtypes = {head.dtype for head in tensors}
        ranks = {len(head.shape) for head in tensors}
        if len(dtypes) > 1 or len(ranks) > 1:
            continue
        shapes = np.array([head.shape for head in tensors], np.int64)
        shape = common_shape(shapes.reshape(len(shapes), -1))
        facts = {"shape": shape, "dtype": dtypes.pop(), "encoding": "proto"}
        said = "written by tf.io.serialize_tensor"
        scene.add(Draft(seen.key, "Tensor", facts, notes=[said]))


def take_shaped(scene: Scene) -> None:
    """Make fields of lists of numbers that other keys or their names give a shape."""
    for seen in list(scene.open()):
        if seen.kind not in _DTYPES or seen.is_single or seen.longest < _SHORTEST:
            continue
        draft = _by_sizes(scene, seen)
        if draft is None and seen.is_fixed:
            draft = _by_name(scene, seen)
        if draft is not None:
            if not seen.is_finite:
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
        if each > 1 and (len(sizes.contents) > 2 or each not in CHANNELS_OF_PIXELS):
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


def _by_name(scene: Scene, seen: KeyEvidence) -> Draft | None:
    """Return the field of a picture, or of items such as the points of a cloud.

    Items are as many as another list is long.
    """
    count, each = seen.longest, item_size(seen.key)
    lengths = {
        other.longest for other in scene.evidence.keys.values() if other.is_fixed
    }
    shape: tuple[int, ...] | None = None
    if names_picture(seen.key):
        shape = square_picture(count)
    elif each and count % each == 0 and count // each in lengths:
        shape = (count // each, each)
    if shape is None:
        return None
    shape = shape[:2] if shape[-1] == 1 else shape
    draft = Draft(seen.key, "Vector", {"shape": shape, "dtype": _DTYPES[seen.kind]})
    draft.doubts.append(
        f"always {count:,} numbers, taken as {'x'.join(map(str, shape))} by the name: or "
        "in another order, or a row of them?"
    )
    return draft
