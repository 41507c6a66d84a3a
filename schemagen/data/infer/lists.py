"""Lists: of any length, of several dimensions, in groups of equal lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from ...runtime.cells.columns import Rows
from ...runtime.cells.part import BYTES
from ...runtime.records.groups import has_length, length_part
from ..formatting import plural
from .draft import Draft, Drafts, quoted
from .evidence import Evidence, KeyEvidence
from .key_words import (
    TOKENS,
    is_flag,
    item_size,
    last_word,
    meaning_of,
    names_object,
    says,
    speaks_of,
    words_of,
)
from .naming import Names, Path
from .pictures import CHANNELS_OF_PIXELS
from .sizes import Sizes, common_shape, each_of, items_of, size_candidates, sized_facts

_ROW_LENGTHS = ("ragged_row_lengths_0", "row_lengths")
_VALUES = ("ragged_flat_values", "values", "flat_values")


def list_facts(data: KeyEvidence) -> dict[str, Any]:
    """Return the parameters of a VarLen of these values."""
    if data.kind == "bytes":
        return {"dtype": "string" if data.values.text else "bytes"}
    if data.kind == "float":
        return {"dtype": "float32"} | ({} if data.is_finite else {"finite": False})
    return {"dtype": "bool" if is_bool(data) else "int64"}


def is_bool(data: KeyEvidence) -> bool:
    """Return whether integers are named like a yes or no, and are 0 or 1."""
    numbers = {data.numbers.minimum, data.numbers.maximum}
    return is_flag(data.key) and data.kind == "int64" and numbers <= {0, 1}


def list_draft(data: KeyEvidence) -> Draft:
    """Return the field of a list whose length varies."""
    draft = Draft(data.key, "VarLen", list_facts(data))
    if not data.longest:
        draft = draft.with_doubts("always empty: its type is unknown")
    elif data.longest == 1 and not data.is_single:
        empty = int((data.present == 0).sum())
        draft = draft.with_doubts(
            f"no value in {plural(empty, 'record')}, 1 in the others: these files need "
            "a list, since a value that may be missing has no key where it is missing"
        )
    if draft.facts["dtype"] == "bool":
        return draft.with_doubts("only 0 and 1 were seen")
    return draft


def ragged(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a field of lists of lists, which are values and row lengths."""
    above, _, last = data.key.rpartition("/")
    above = above if last in _VALUES else data.key
    for name in _ROW_LENGTHS:
        lengths = drafts.evidence.keys.get(f"{above}/{name}")
        if lengths is None or lengths is data or lengths.kind != "int64":
            continue
        if (lengths.numbers.minimum or 0) < 0 or not data.is_with(lengths):
            continue
        sums, present = lengths.lists.sums.array(data.records), data.lengths >= 0
        facts = {"row_lengths_key": lengths.key, "max_length": None}
        draft = Draft(data.key, "Ragged", list_facts(data) | facts)
        if (sums == data.lengths)[present].all() and drafts.admits(draft):
            return draft
    return None


def object_list(_: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a list of what is said of each object in a picture, even if there is one."""
    if not (names_object(data.key) and (data.is_single or data.is_fixed)):
        return None
    draft = list_draft(data)
    if data.missing:
        return draft
    note = f"{plural(data.longest, 'object')} in every record, and there could be more"
    return draft.with_notes(note)


def padded(drafts: Drafts, data: KeyEvidence) -> Draft | None:
    """Draft a list that is filled up with zeros to one length, as the key that says so."""
    base = drafts.evidence.padding.get(data.longest)
    if (
        base is None
        or data.kind == "bytes"
        or not data.is_fixed
        or data.missing
        or meaning_of(data.key) == "answer"  # which a model has a head for
        or (data.filled > base.filled).any()
    ):
        return None
    facts = {"max_length": data.longest, "pad_on_disk": True}
    draft = Draft(data.key, "VarLen", list_facts(data) | facts)
    if data is not base:
        return draft
    short = int((data.filled < data.longest).sum())
    return draft.with_doubts(
        f"always {data.longest:,} values, zeros at the end in {short:,} of "
        f"{plural(data.records, 'record')}: are these padding?"
    )


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
        product = each == 1 and sizes.shapes.shape[1] > 1
        if not each or not (sizes.certain or product):
            continue
        if sizes.is_count:
            return _counted(data, sizes, each)
        if each > 1 and (sizes.shapes.shape[1] > 2 or each not in CHANNELS_OF_PIXELS):
            continue
        facts = sized_facts(sizes, each, _DTYPES[data.kind], "list")
        draft = None if facts is None else Draft(data.key, "Tensor", facts)
        if draft is not None and drafts.admits(draft):
            draft = draft if data.is_finite else draft.with_facts(finite=False)
            said = f"as many numbers as the sizes in {sizes.shown} say"
            if sizes.certain:
                return draft.with_notes(said)
            return draft.with_doubts(f"{said}: are these its own?")
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
    shape: tuple[int, ...] | None = data.lists.samples.picture(square=square)
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


Fields = Mapping[str, Draft]


def with_one_shape(fields: Fields) -> Fields:
    """Return fields in which numbers of one prefix and length have one shape.

    These are bands or views of one thing. Their neighbors may be alike in some only.
    """
    alike: dict[tuple[Any, ...], list[Draft]] = {}
    for key, draft in fields.items():
        prefix = tuple(words_of(key)[:-1])
        shape = draft.facts.get("shape", ())
        if draft.kind in ("Vector", "Image") and prefix and None not in shape:
            facts = (draft.facts.get(name) for name in ("dtype", "encoding"))
            alike.setdefault((prefix, math.prod(shape), *facts), []).append(draft)
    found = dict(fields)
    for members in alike.values():
        best = max(members, key=_likely_shape)
        for draft in members:
            if draft.facts["shape"] != best.facts["shape"]:
                found[draft.key] = replace(
                    best, key=draft.key, optional=draft.optional
                ).with_doubts(f"the shape is that of {quoted(best.key)}")
    return found


def _likely_shape(draft: Draft) -> tuple[bool, bool]:
    """Order shapes: squares, others of several dimensions, rows."""
    shape = draft.facts["shape"]
    return len(shape) > 1 and shape[0] == shape[1], len(shape) > 1


_LARGEST_ITEM = 1024
_SURE = 5


def with_groups(evidence: Evidence, fields: Fields, names: Names) -> Fields:
    """Return fields with the groups of lists that are equally long.

    Args:
        evidence: all keys.
        fields: the fields, by key.
        names: the models and names of the fields.
    """
    lengths: Mapping[str, Rows] = _varying(evidence, fields)
    if not evidence.is_table:  # whose lists are flat where they are written, too
        fields, lengths = _with_items(fields, lengths)
    models = {key: path[:-1] for key, path in names.paths.items()}
    padded: dict[tuple[Path, int], list[str]] = {}
    for key, draft in fields.items():
        if draft.facts.get("pad_on_disk"):
            model_and_length = models[key], draft.facts["max_length"]
            padded.setdefault(model_and_length, []).append(key)
    used: dict[Path, set[str]] = {}
    grouped = dict(fields)
    for members in (*padded.values(), *_equal(lengths, models)):
        if len(members) > 1:
            model = models[members[0]]
            name = _group_name(members, used.setdefault(model, set()))
            used[model].add(name)
            for key in members:
                grouped[key] = fields[key].with_facts(group=names.prefix(key) + name)
    return grouped


def _varying(evidence: Evidence, fields: Fields) -> dict[str, Rows]:
    """Return the lengths of lists that vary, or may do so."""
    lengths: dict[str, Rows] = {}
    for key, data in evidence.keys.items():
        if key not in fields:
            continue
        codec = fields[key].codec
        varies = data.missing or data.shortest < data.longest or names_object(key)
        if varies and has_length(codec) and length_part(codec).key == key:
            lengths[key] = data.lengths
    return lengths


def _with_items(
    fields: Fields, lengths: Mapping[str, Rows]
) -> tuple[Fields, Mapping[str, Rows]]:
    """Return lists that are always so many times as long as another as lists of items.

    Their lengths become those in items.
    """
    whole = {key: own for key, own in sorted(lengths.items()) if (own >= 0).all()}
    found, in_items = dict(fields), dict(lengths)
    for key, own in whole.items():
        if fields[key].codec.parts[0].stored == BYTES:
            continue
        sizes = [
            (size, other)
            for other, base in whole.items()
            if other != key and (size := _item_size(own, base))
        ]
        if not sizes:
            continue
        size, other = min(sizes)
        items = fields[key].with_facts(item_shape=(size,))
        text = f"always {size:,} numbers for each one of {quoted(other)}"
        sure = len(np.unique(whole[other])) >= _SURE
        found[key] = items.with_notes(text) if sure else items.with_doubts(text)
        in_items[key] = own // size
    return found, in_items


def _item_size(own: Rows, base: Rows) -> int:
    """Return how many times as long as another a list always is; 0 if that varies."""
    some = np.flatnonzero(base)
    if not len(some) or len(np.unique(base[some])) < 2:
        return 0
    size = int(own[some[0]] // base[some[0]])
    return size if 2 <= size <= _LARGEST_ITEM and (own == base * size).all() else 0


def _equal(lengths: Mapping[str, Rows], models: Mapping[str, Path]) -> list[list[str]]:
    """Return keys of one model whose lists are equally long in the records of both."""
    found: dict[tuple[Path, bytes], list[str]] = {}
    for key in sorted(lengths):
        found.setdefault((models[key], lengths[key].tobytes()), []).append(key)
    # Those that more records have come first, and others join them.
    wholes: list[list[str]] = []
    for members in sorted(
        found.values(), key=lambda some: (lengths[some[0]] < 0).sum()
    ):
        model, own = models[members[0]], lengths[members[0]]
        present = own >= 0
        fitting = [
            others
            for others in wholes
            if not present.all() and own.max() > 0 and models[others[0]] == model
            if (lengths[others[0]][present] == own[present]).all()
        ]
        if fitting:
            max(fitting, key=len).extend(members)
        else:
            wholes.append(members)
    return wholes


def _group_name(members: Sequence[str], used: set[str]) -> str:
    """Name a group: boxes, or the parent that all keys share, or its first field."""
    words = {last_word(key) for key in members}
    parts = [key.split("/")[:-1] for key in members]
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*parts, strict=False))
    shared = [level[0] for level in levels]
    if sum(says(word, "corner") for word in words) > 1:
        name = "boxes"
    elif shared:
        plurals = [part for part in parts[0] if part.endswith("s")]
        name = plurals[0] if plurals else f"{shared[-1]}s"
    elif words & TOKENS:
        name = "tokens"
    else:
        name = members[0].rpartition("/")[2] or "items"
    number, free = 2, name
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free
