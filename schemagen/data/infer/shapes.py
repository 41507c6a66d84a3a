"""Tensors of tf.io.serialize_tensor, and lists of numbers with more dimensions than one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..formatting import plural
from .draft import Draft, Scene
from .evidence import KeyEvidence
from .lists import list_facts
from .pictures import CHANNELS_OF_PIXELS
from .pixels import picture_shape
from .raw import lengths_in
from .sizes import (
    Sizes,
    are_of,
    common_shape,
    each_of,
    items_of,
    size_candidates,
    sized_facts,
)
from .words import item_size, speaks_of

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
    """Make fields of lists of numbers that sizes, neighbors or other lists give a shape."""
    lengths = lengths_in(scene.evidence)
    for data in list(scene.open()):
        if data.kind not in _DTYPES or data.is_single or data.longest < _SHORTEST:
            continue
        draft = _by_sizes(scene, data)
        if draft is None and data.is_fixed:
            named = item_size(data.key) > 0
            draft = (None if named else _by_neighbors(data)) or _by_another(
                scene, data, lengths
            )
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


def _by_neighbors(data: KeyEvidence) -> Draft | None:
    """Return the field of numbers that are the pixels of a picture."""
    shape: tuple[int, ...] | None = picture_shape(
        data.lists.samples, square=not speaks_of(data.key, "image")
    )
    if shape is None:
        return None
    shape = shape[:2] if shape[2] == 1 else shape
    pixels = "x".join(map(str, shape))
    draft = Draft(data.key, "Vector", {"shape": shape, "dtype": _DTYPES[data.kind]})
    draft.doubts.append(
        f"always {data.longest:,} numbers, taken as {pixels} pixels, since neighbors are "
        f"similar: or in another order, or a row of {data.longest:,}?"
    )
    return draft


def _by_another(
    scene: Scene, data: KeyEvidence, lengths: Mapping[str, int]
) -> Draft | None:
    """Return the field of a list that is several times as long as others next to it."""
    count = data.longest
    likely, possible = items_of(data.key, count, lengths)
    if not likely:
        shapes = " or ".join(f"({items}, {count // items})" for items in possible)
        if shapes:
            scene.possible.setdefault(data.key, []).append(
                f"always {count:,} numbers: of the shape {shapes}, or of another order?"
            )
        return None
    shape = (likely[0], count // likely[0])
    draft = Draft(data.key, "Vector", {"shape": shape, "dtype": _DTYPES[data.kind]})
    draft.doubts.append(
        f"always {count:,} numbers, {shape[1]:,} for each of {shape[0]:,}, as long as other "
        f"lists are: or in the order {shape[::-1]}, or a row of them?"
    )
    return draft
