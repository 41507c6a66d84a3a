"""Tensors of tf.io.serialize_tensor, and lists of numbers with more dimensions than one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..formatting import plural
from .draft import Draft, Drafts
from .evidence import KeyEvidence
from .lists import list_facts
from .pictures import CHANNELS_OF_PIXELS
from .pixels import picture_shape
from .sizes import Sizes, common_shape, each_of, items_of, size_candidates, sized_facts
from .words import item_size, speaks_of

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
    return (
        _by_sizes(drafts, data)
        or _by_neighbors(data)
        or _by_items(data, drafts.evidence.counts)
    )


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
            draft = draft if data.is_finite else draft.with_facts(finite=False)
            return draft.with_notes(
                f"as many numbers as the sizes in {sizes.shown} say"
            )
    return None


def _counted(data: KeyEvidence, sizes: Sizes, each: int) -> Draft:
    """Return the field of a list whose items are counted under another key."""
    item = (each,) if each > 1 else ()
    draft = Draft(data.key, "VarLen", list_facts(data), counted_by=sizes.keys[0])
    if data.is_fixed:
        shape = (data.longest // each, *item)
        draft = replace(draft, kind="Vector").with_facts(shape=shape)
    elif item:
        draft = draft.with_facts(item_shape=item)
    doubts = sizes.row_doubts(each)
    if doubts:
        return draft.with_doubts(*doubts)
    return draft.with_notes(
        f"{plural(each, 'number')} for each item that {sizes.shown} counts"
    )


def _by_neighbors(data: KeyEvidence) -> Draft | None:
    """Return the field of numbers that are the pixels of a picture."""
    if not data.is_fixed or item_size(data.key):
        return None
    square = not speaks_of(data.key, "image")
    shape: tuple[int, ...] | None = picture_shape(data.lists.samples, square=square)
    if shape is None:
        return None
    shape = shape[:2] if shape[2] == 1 else shape
    pixels = "x".join(map(str, shape))
    return Draft(data.key, "Vector", list_facts(data) | {"shape": shape}).with_doubts(
        f"always {data.longest:,} numbers, taken as {pixels} pixels, since neighbors are "
        f"similar: or in another order, or a row of {data.longest:,}?"
    )


def _by_items(data: KeyEvidence, counts: Mapping[str, int]) -> Draft | None:
    """Return the field of a list that is several times as long as others next to it."""
    likely, _ = items_of(data.key, data.longest, counts)
    if not data.is_fixed or not likely:
        return None
    shape = (likely[0], data.longest // likely[0])
    return Draft(data.key, "Vector", list_facts(data) | {"shape": shape}).with_doubts(
        f"always {data.longest:,} numbers, {shape[1]:,} for each of {shape[0]:,}, as long "
        f"as other lists are: or in the order {shape[::-1]}, or a row of them?"
    )
