"""Lists of any length: ragged and padded ones, items, and groups of equal ones."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

import numpy as np

from ...runtime.codecs.part import BYTES
from ...runtime.reading.columns import Rows
from ..formatting import plural
from .draft import Draft, Scene, quoted
from .evidence import KeyEvidence
from .naming import Names, Path
from .words import (
    is_flag,
    last_word,
    meaning_of,
    names_object,
    says,
)

_ROW_LENGTHS = ("ragged_row_lengths_0", "row_lengths")
_VALUES = ("ragged_flat_values", "values", "flat_values")
_TOKENS = frozenset(("ids", "tokens", "token"))

_LARGEST_ITEM = 1024
_SURE = 5
_SHORTEST_PADDED = 8


def list_facts(data: KeyEvidence) -> dict[str, Any]:
    """Return the parameters of a VarLen of these values."""
    if data.kind == "bytes":
        return {"dtype": "string" if data.values.text else "bytes"}
    if data.kind == "float":
        return {"dtype": "float32"} | ({} if data.is_finite else {"finite": False})
    return {"dtype": "bool" if is_bool(data) else "int64"}


def is_bool(data: KeyEvidence) -> bool:
    """Return whether integers are named like a yes or no, and are 0 or 1."""
    return (
        is_flag(data.key)
        and data.kind == "int64"
        and {data.numbers.minimum, data.numbers.maximum} <= {0, 1}
    )


def list_draft(data: KeyEvidence) -> Draft:
    """Return the field of a list whose length varies."""
    draft = Draft(data.key, "VarLen", list_facts(data))
    if not data.longest:
        draft.doubts.append("always empty: its type is unknown")
    elif data.longest == 1 and not data.is_single:
        empty = int((data.present == 0).sum())
        draft.doubts.append(
            f"no value in {plural(empty, 'record')}, 1 in the others: a list, or a "
            "value that may be missing?"
        )
    if draft.facts["dtype"] == "bool":
        draft.doubts.append("only 0 and 1 were seen")
    return draft


def take_ragged(scene: Scene) -> None:
    """Make fields of lists of lists, which are values and row lengths."""
    for lengths in list(scene.open()):
        if lengths.kind != "int64" or (lengths.numbers.minimum or 0) < 0:
            continue
        before, _, last = lengths.key.rpartition("/")
        if last not in _ROW_LENGTHS or not before:
            continue
        sums = lengths.lists.sums.array(scene.records)
        present = lengths.lengths >= 0
        for key in (before, *(f"{before}/{name}" for name in _VALUES)):
            data = scene.evidence.keys.get(key)
            if data is None or not data.kind or not scene.is_open(key):
                continue
            if data.is_with(lengths) and (sums == data.lengths)[present].all():
                facts = {"row_lengths_key": lengths.key, "max_length": None}
                scene.add(Draft(key, "Ragged", list_facts(data) | facts))
                break


def take_objects(scene: Scene) -> None:
    """Make lists of what is said of each object in a picture, even if there is one."""
    for data in list(scene.open()):
        if names_object(data.key) and (data.is_single or data.is_fixed):
            draft = scene.add(list_draft(data))
            note = f"{plural(data.longest, 'object')} in every record"
            draft.notes += [] if data.missing else [f"{note}, and there could be more"]


def take_padded(scene: Scene) -> None:
    """Make fields of lists that were filled up with zeros to one length."""
    fixed: dict[int, list[KeyEvidence]] = {}
    for data in scene.open():
        answer = meaning_of(data.key) == "answer"  # which a model has a head for
        if answer or data.kind == "bytes" or data.longest < _SHORTEST_PADDED:
            continue
        if data.is_fixed:
            fixed.setdefault(data.longest, []).append(data)
    for length, members in fixed.items():
        filled = {data.key: data.lists.filled.array(scene.records) for data in members}
        bases = [data for data in members if _ends_in_zeros(data, filled[data.key])]
        if not bases:
            continue
        base = max(bases, key=lambda data: int(filled[data.key].sum()))
        short = int((filled[base.key] < length).sum())
        inside = [
            data
            for data in members
            if not data.missing and (filled[data.key] <= filled[base.key]).all()
        ]
        for data in inside:
            facts = list_facts(data) | {"max_length": length, "pad_on_disk": True}
            draft = scene.add(Draft(data.key, "VarLen", facts))
            if data is base:
                draft.doubts.append(
                    f"always {length:,} values, zeros at the end in "
                    f"{short:,} of {plural(scene.records, 'record')}: filled up?"
                )


def _ends_in_zeros(data: KeyEvidence, filled: Rows) -> bool:
    if data.kind != "int64" or data.missing:
        return False
    only_there = int((data.lengths - filled).sum()) == data.numbers.zeros
    return only_there and len(np.unique(filled)) > 1 and int(filled.max()) > 1


def group_lists(scene: Scene, names: Names) -> None:
    """Group lists of a model that are equally long in every record.

    Args:
        scene: with a draft for each key.
        names: the models and names of the fields.
    """
    models = {key: path[:-1] for key, path in names.paths.items()}
    lengths: dict[str, Rows] = {}
    padded: dict[tuple[Path, int], list[str]] = {}
    for key, draft in scene.drafts.items():
        if draft.facts.get("pad_on_disk"):
            group = models[key], draft.facts["max_length"]
            padded.setdefault(group, []).append(key)
        data = scene.evidence.keys[key]
        varies = data.missing or data.shortest < data.longest or names_object(key)
        codec = draft.codec
        if varies and codec.item_size and codec.length_part.key == key:
            lengths[key] = data.lengths
    _find_items(scene, lengths)
    used: dict[Path, set[str]] = {}
    for members in (*padded.values(), *_equal(lengths, models)):
        if len(members) < 2:
            continue
        model = models[members[0]]
        name = _group_name(members, used.setdefault(model, set()))
        used[model].add(name)
        for key in members:
            scene.drafts[key].facts["group"] = names.prefix(key) + name


def _find_items(scene: Scene, lengths: dict[str, Rows]) -> None:
    """Find lists of items: always so many times as long as another.

    Their lengths become those in items.
    """
    bases = {key: value for key, value in lengths.items() if (value >= 0).all()}
    for key, own in sorted(bases.items()):
        draft = scene.drafts[key]
        if draft.codec.parts[0].stored == BYTES:
            continue
        found = [
            (size, other)
            for other, base in sorted(bases.items())
            if other != key and (size := _item_size(own, base))
        ]
        if not found:
            continue
        size, other = min(found)
        draft.facts["item_shape"] = (size,)
        lengths[key] = own // size
        what = f"always {size:,} numbers for each one of {quoted(other)}"
        sure = len(np.unique(bases[other])) >= _SURE
        (draft.notes if sure else draft.doubts).append(what)


def _item_size(own: Rows, base: Rows) -> int:
    """Return how many times as long as another a list always is; 0 if that varies."""
    some = np.flatnonzero(base)
    if not len(some) or len(np.unique(base[some])) < 2:
        return 0
    size = int(own[some[0]] // base[some[0]])
    return size if 2 <= size <= _LARGEST_ITEM and (own == base * size).all() else 0


def _equal(lengths: Mapping[str, Rows], models: Mapping[str, Path]) -> list[list[str]]:
    """Return keys of one model whose lists are equally long wherever they are."""
    found: dict[tuple[Any, ...], list[str]] = {}
    rest: list[str] = []
    for key in sorted(lengths):
        if (lengths[key] < 0).any():
            rest.append(key)
        else:
            found.setdefault((models[key], lengths[key].tobytes()), []).append(key)
    for key in rest:
        present = lengths[key] >= 0
        fitting = [
            members
            for (model, _), members in found.items()
            if model == models[key]
            and (lengths[members[0]][present] == lengths[key][present]).all()
            and lengths[key].max() > 0
        ]
        if fitting:
            max(fitting, key=len).append(key)
    return list(found.values())


def _group_name(members: list[str], used: set[str]) -> str:
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
    elif words & _TOKENS:
        name = "tokens"
    else:
        name = members[0].rpartition("/")[2] or "items"
    number, free = 2, name
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free
