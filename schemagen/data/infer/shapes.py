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
    for data in list(scene.open()):
        tensors = data.values.tensors
        if not (data.is_single and tensors) or tensors.total() < data.values.all.count:
            continue
        dtypes = {head.dtype for head in tensors}
        ranks = {len(head.shape) for head in tensors}
        if len(dtypes) > 1 or len(ranks) > 1:
            continue
        shapes = np.array([head.shape for head in tensors], np.int64)
        shape = common_shape(shapes.reshape(len(shapes), -1))
        facts = {"shape": shape, "dtype": dtypes.pop(), "encoding": "proto"}
        note = "written by tf.io.serialize_tensor"
        scene.add(Draft(data.key, "Tensor", facts, notes=[note]))


def take_shaped(scene: Scene) -> None:
    """Make fields of lists of numbers that other keys or their names give a shape."""
    for data in list(scene.open()):
        if data.kind not in _DTYPES or data.is_single or data.longest < _SHORTEST:
            continue
        draft = _by_sizes(scene, data)
        if draft is None and data.is_fixed:
            draft = _by_name(scene, data)
        if draft is not None:
            if not data.is_finite:
                draft.facts["finite"] = False
            scene.add(draft)


def _by_sizes(scene: Scene, data: KeyEvidence) -> Draft | None:
    present = data.lengths >= 0
    for sizes in size_candidates(scene, data):
        each = each_of(data.present, sizes.shapes[present])
        if not each or not are_of(sizes, data):
            continue
        if sizes.is_count:
            return _counted(scene, data, sizes, each)
        if each > 1 and (len(sizes.contents) > 2 or each not in CHANNELS_OF_PIXELS):
            continue
        facts = sized_facts(scene, data, sizes, each, _DTYPES[data.kind], "list")
        if facts is None:
            continue
        note = f"as many numbers as the sizes in {sizes.shown} say"
        return Draft(data.key, "Tensor", facts, notes=[note])
    return None


def _counted(scene: Scene, data: KeyEvidence, sizes: Sizes, each: int) -> Draft | None:
    """Return the field of a list whose items are counted under another key."""
    note = f"{plural(each, 'number')} for each item that {sizes.shown} counts"
    scene.counts.add(sizes.keys[0])
    if data.is_fixed:
        if each == 1:
            return None
        shape = (data.longest // each, each)
        facts: dict[str, Any] = {"shape": shape, "dtype": _DTYPES[data.kind]}
        return Draft(data.key, "Vector", facts, notes=[note])
    facts = list_facts(data)
    if each > 1:
        facts["item_shape"] = (each,)
    return Draft(data.key, "VarLen", facts, notes=[note])


def _by_name(scene: Scene, data: KeyEvidence) -> Draft | None:
    """Return the field of a picture, or of items such as the points of a cloud.

    Items are as many as another list is long.
    """
    count, each = data.longest, item_size(data.key)
    lengths = {
        other.longest for other in scene.evidence.keys.values() if other.is_fixed
    }
    shape: tuple[int, ...] | None = None
    if names_picture(data.key):
        shape = square_picture(count)
    elif each and count % each == 0 and count // each in lengths:
        shape = (count // each, each)
    if shape is None:
        return None
    shape = shape[:2] if shape[-1] == 1 else shape
    draft = Draft(data.key, "Vector", {"shape": shape, "dtype": _DTYPES[data.kind]})
    draft.doubts.append(
        f"always {count:,} numbers, taken as {'x'.join(map(str, shape))} by the name: or "
        "in another order, or a row of them?"
    )
    return draft
