"""Tensors of tf.io.serialize_tensor, and lists of numbers with more dimensions than one."""

from __future__ import annotations

import numpy as np

from ..formatting import plural
from .draft import Draft, Drafts
from .evidence import Evidence, KeyEvidence
from .lists import list_facts
from .pictures import CHANNELS_OF_PIXELS, square_picture
from .sizes import Sizes, common_shape, each_of, size_candidates, sized_facts
from .words import item_size, names_picture

_DTYPES = {"int64": "int64", "float": "float32"}

_SHORTEST = 4


def serialized_tensor(_: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of tensors that tf.io.serialize_tensor has written."""
    tensors = data.values.tensors
    if not (data.is_single and tensors) or tensors.total() < data.values.all.count:
        return None
    dtypes = {head.dtype for head in tensors}
    ranks = {len(head.shape) for head in tensors}
    if len(dtypes) > 1 or len(ranks) > 1:
        return None
    shapes = np.array([head.shape for head in tensors], np.int64)
    shape = common_shape(shapes.reshape(len(shapes), -1))
    facts = {"shape": shape, "dtype": dtypes.pop(), "encoding": "proto"}
    draft = Draft(data.key, "Tensor", facts)
    return draft.with_notes("written by tf.io.serialize_tensor")


def shaped_list(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of a list of numbers that other keys or its name give a shape."""
    if data.kind not in _DTYPES or data.is_single or data.longest < _SHORTEST:
        return None
    draft = _by_sizes(drafts, data) or _by_name(drafts.evidence, data)
    if draft is None or data.is_finite:
        return draft
    return draft.with_facts(finite=False)


def _by_sizes(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    for sizes in size_candidates(drafts.evidence, data):
        each = each_of(data.present, sizes.shapes)
        if not each or not sizes.certain:
            continue
        if sizes.is_count:
            return _counted(data, sizes, each)
        if each > 1 and (sizes.shapes.shape[1] > 2 or each not in CHANNELS_OF_PIXELS):
            continue
        facts = sized_facts(sizes, each, _DTYPES[data.kind], "list")
        draft = None if facts is None else Draft(data.key, "Tensor", facts)
        if draft is not None and drafts.admits(draft):
            return draft.with_notes(
                f"as many numbers as the sizes in {sizes.shown} say"
            )
    return None


def _counted(data: KeyEvidence, sizes: Sizes, each: int) -> Draft:
    """Return the field of a list whose items are counted under another key."""
    item = (each,) if each > 1 else ()
    draft = Draft(data.key, "VarLen", list_facts(data), counted_by=sizes.keys[0])
    if data.is_fixed:
        facts = {"shape": (data.longest // each, *item), "dtype": _DTYPES[data.kind]}
        draft = Draft(data.key, "Vector", facts, counted_by=sizes.keys[0])
    elif item:
        draft = draft.with_facts(item_shape=item)
    return draft.with_notes(
        f"{plural(each, 'number')} for each item that {sizes.shown} counts"
    )


def _by_name(evidence: Evidence, data: KeyEvidence) -> Draft | None:
    """Return the field of a picture, or of items such as the points of a cloud.

    Items are as many as another list is long.
    """
    if not data.is_fixed:
        return None
    count, each = data.longest, item_size(data.key)
    lengths = {other.longest for other in evidence.keys.values() if other.is_fixed}
    shape: tuple[int, ...] | None = None
    if names_picture(data.key):
        shape = square_picture(count)
    elif each and count % each == 0 and count // each in lengths:
        shape = (count // each, each)
    if shape is None:
        return None
    shape = shape[:2] if shape[-1] == 1 else shape
    draft = Draft(data.key, "Vector", {"shape": shape, "dtype": _DTYPES[data.kind]})
    return draft.with_doubts(
        f"always {count:,} numbers, taken as {'x'.join(map(str, shape))} by the name: or "
        "in another order, or a row of them?"
    )
