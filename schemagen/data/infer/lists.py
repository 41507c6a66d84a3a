"""Lists of any length: groups of equal ones, items, ragged and sparse ones, padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..columns import Rows
from .draft import Draft, Scene, counted, quoted
from .evidence import KeyEvidence
from .words import is_flag, last_word, names_classes, parent_of

_ROW_LENGTHS = ("ragged_row_lengths_0", "row_lengths")
_VALUES = ("ragged_flat_values", "values", "flat_values")
_INDICES = ("indices", "index", "indexes")

_LARGEST_ITEM = 1024
_SURE = 5
_SHORTEST_PADDED = 8


def list_facts(seen: KeyEvidence) -> dict[str, Any]:
    """Return what a VarLen of these values says."""
    if seen.kind == "bytes":
        dtype = "string" if seen.values.text else "bytes"
        return {"dtype": dtype, "padding_value": ""}
    if seen.kind == "float":
        facts: dict[str, Any] = {"dtype": "float32", "padding_value": 0.0}
        if seen.numbers.unusual:
            facts["finite"] = False
        return facts
    if is_bool(seen):
        return {"dtype": "bool", "padding_value": False}
    return {"dtype": "int64"}


def is_bool(seen: KeyEvidence) -> bool:
    """Tell whether integers are called a yes or no, and are 0 or 1."""
    return (
        is_flag(seen.key)
        and seen.kind == "int64"
        and seen.numbers.low is not None
        and {seen.numbers.low, seen.numbers.high} <= {0, 1}
    )


def list_draft(seen: KeyEvidence) -> Draft:
    """Return the field of a list whose length varies."""
    draft = Draft(seen.key, "VarLen", list_facts(seen))
    if not seen.longest:
        draft.doubts.append("empty wherever it is: nothing says what it holds")
    elif seen.longest == 1:
        empty = int((seen.there == 0).sum())
        draft.doubts.append(
            f"no value in {counted(empty, 'record')}, 1 in the others: a list, or a "
            "value that may be missing?"
        )
    elif seen.kind == "int64" and names_classes(seen.key) and _may_be_classes(seen):
        high = int(seen.numbers.high or 0)
        draft.doubts.append(
            f"each once, up to {high:,}: classes? MultiLabel(num_classes={high + 1})"
        )
    if draft.facts["dtype"] == "bool":
        draft.doubts.append("only 0 and 1 were seen")
    return draft


def _may_be_classes(seen: KeyEvidence) -> bool:
    return not seen.numbers.repeats and (seen.numbers.low or 0) >= 0


def take_ragged(scene: Scene) -> None:
    """Make fields of lists of lists, which are values and row lengths."""
    for lengths in list(scene.open()):
        if lengths.kind != "int64" or (lengths.numbers.low or 0) < 0:
            continue
        before, _, last = lengths.key.rpartition("/")
        if last not in _ROW_LENGTHS or not before:
            continue
        sums = lengths.numbers.sums.array(scene.records)
        for key in (before, *(f"{before}/{name}" for name in _VALUES)):
            seen = scene.evidence.keys.get(key)
            if seen is None or not seen.kind or not scene.is_open(key):
                continue
            there = lengths.lengths >= 0
            same = ((seen.lengths >= 0) == there).all()
            if not same or (sums[there] != seen.lengths[there]).any():
                continue
            facts = list_facts(seen)
            facts["row_lengths_key"] = lengths.key
            facts["max_length"] = None
            scene.add(Draft(key, "Ragged", facts))
            scene.share(lengths.key, f"the row lengths of {key!r}")
            break


def take_sparse(scene: Scene) -> None:
    """Make fields of indices with values."""
    for indices in list(scene.open()):
        if indices.kind != "int64" or indices.longest < 1:
            continue
        if last_word(indices.key) not in _INDICES or "/" not in indices.key:
            continue
        if indices.numbers.repeats or (indices.numbers.low or 0) < 0:
            continue
        before = indices.key.rpartition("/")[0]
        seen = scene.evidence.keys.get(f"{before}/values")
        if seen is None or seen.kind not in ("int64", "float"):
            continue
        if not scene.is_open(seen.key) or (seen.lengths != indices.lengths).any():
            continue
        if indices.shortest == indices.longest:
            continue
        high = int(indices.numbers.high or 0)
        facts = list_facts(seen)
        facts.pop("padding_value", None)
        facts["shape"] = (high + 1,)
        facts["index_key"] = (indices.key,)
        draft = scene.add(Draft(seen.key, "Sparse", facts))
        draft.doubts.append(
            f"indices up to {high:,}: how large is it? Or lists of equal length?"
        )
        scene.share(indices.key, "indices")


def take_padded(scene: Scene) -> None:
    """Make fields of lists that were filled up with zeros to one length."""
    fixed: dict[int, list[KeyEvidence]] = {}
    for seen in scene.open():
        if seen.is_fixed and seen.kind != "bytes" and seen.longest >= _SHORTEST_PADDED:
            fixed.setdefault(seen.longest, []).append(seen)
    for length, members in fixed.items():
        filled = {
            seen.key: seen.numbers.filled.array(scene.records) for seen in members
        }
        bases = [seen for seen in members if _ends_in_zeros(seen, filled[seen.key])]
        if not bases:
            continue
        base = max(bases, key=lambda seen: int(filled[seen.key].sum()))
        short = int((filled[base.key] < length).sum())
        inside = [
            seen
            for seen in members
            if not seen.missing and (filled[seen.key] <= filled[base.key]).all()
        ]
        group = f"padded to {length}"  # its name is given with those of all others
        for seen in inside:
            facts = list_facts(seen)
            facts |= {"max_length": length, "pad_on_disk": True}
            if len(inside) > 1:
                facts["group"] = group
            draft = scene.add(Draft(seen.key, "VarLen", facts))
            if seen is base:
                draft.doubts.append(
                    f"always {length:,} values, zeros at the end in "
                    f"{short:,} of {counted(scene.records, 'record')}: filled up?"
                )


def _ends_in_zeros(seen: KeyEvidence, filled: Rows) -> bool:
    if seen.kind != "int64" or not seen.numbers.solid or seen.missing:
        return False
    return len(np.unique(filled)) > 1 and int(filled.max()) > 1


def _group_name(keys: list[str]) -> str:
    words = {last_word(key) for key in keys}
    if words & {"ids", "tokens", "token"}:
        return "tokens"
    return keys[0].rpartition("/")[2] or "items"


def group_lists(
    scene: Scene,
    models: dict[str, tuple[str, ...]],
    prefixes: dict[tuple[str, ...], str],
) -> None:
    """Say of lists that are equally long in every record that they are.

    Args:
        scene: with a draft for each key.
        models: for each key the path of the model in which it is nested.
        prefixes: how the keys of each model begin, which its groups begin with too.
    """
    lengths = {
        key: scene.evidence.keys[key].lengths
        for key, draft in scene.drafts.items()
        if _may_be_grouped(draft) and _may_vary(scene.evidence.keys[key])
    }
    _find_items(scene, lengths)
    groups = [*_padded_groups(scene, models), *_equal(lengths, models)]
    used: dict[tuple[str, ...], set[str]] = {}
    for members in groups:
        model = models[members[0]]
        name = _group_words(members, used.setdefault(model, set()))
        used[model].add(name)
        for key in members:
            scene.drafts[key].facts["group"] = prefixes[model] + name


def _padded_groups(scene: Scene, models: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """Return keys of one model whose lists were filled up to one length together."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for key, draft in scene.drafts.items():
        group = draft.facts.pop("group", None)
        if group is not None:
            found.setdefault((models[key], group), []).append(key)
    return [members for members in found.values() if len(members) > 1]


def _may_be_grouped(draft: Draft) -> bool:
    if draft.kind == "Images":
        return "count" not in draft.facts
    return draft.kind == "VarLen" and not draft.facts.get("pad_on_disk")


def _may_vary(seen: KeyEvidence) -> bool:
    return bool(seen.missing) or seen.shortest < seen.longest


def follows_another(scene: Scene, seen: KeyEvidence) -> bool:
    """Tell whether an optional list has one length only because it is seldom there.

    Its records are those in which another list next to it, that varies, is as long.
    """
    there = seen.lengths >= 0
    above = parent_of(seen.key).split("/")[0]
    return bool(seen.missing and above) and any(
        other.key.startswith(f"{above}/")
        and not other.missing
        and other.shortest < other.longest
        and other.kind
        and (other.lengths[there] == seen.lengths[there]).all()
        for other in scene.evidence.keys.values()
    )


def _find_items(scene: Scene, lengths: dict[str, Rows]) -> None:
    """Tell lists of items from lists of numbers: always 7 times as long as another."""
    bases = {key: value for key, value in lengths.items() if (value >= 0).all()}
    for key, own in sorted(bases.items()):
        draft = scene.drafts[key]
        if draft.kind != "VarLen" or draft.facts["dtype"] in ("string", "bytes"):
            continue
        best: tuple[int, str] | None = None
        for other, base in sorted(bases.items()):
            some = np.flatnonzero(base)
            if other == key or not len(some) or len(np.unique(base[some])) < 2:
                continue
            size = int(own[some[0]] // base[some[0]])
            if not 2 <= size <= _LARGEST_ITEM or (own != base * size).any():
                continue
            if best is None or size < best[0]:
                best = size, other
        if best is None:
            continue
        size, other = best
        draft.facts["item_shape"] = (size,)
        what = f"always {size:,} numbers for each one of {quoted(other)}"
        different = len(np.unique(lengths[other]))
        (draft.doubts if different < _SURE else draft.notes).append(what)
    for key in bases:
        item = scene.drafts[key].facts.get("item_shape")
        if item:
            lengths[key] = lengths[key] // item[0]


def _equal(
    lengths: dict[str, Rows], models: dict[str, tuple[str, ...]]
) -> list[list[str]]:
    """Return keys of one model whose lists are equally long wherever they are."""
    found: dict[tuple[Any, ...], list[str]] = {}
    rest: list[str] = []
    for key in sorted(lengths):
        if (lengths[key] < 0).any():
            rest.append(key)
        else:
            found.setdefault((models[key], lengths[key].tobytes()), []).append(key)
    for key in rest:
        there = lengths[key] >= 0
        fitting = [
            members
            for (model, _), members in found.items()
            if model == models[key]
            and (lengths[members[0]][there] == lengths[key][there]).all()
            and lengths[key].max() > 0
        ]
        if fitting:
            max(fitting, key=len).append(key)
    return [members for members in found.values() if len(members) > 1]


def _group_words(members: list[str], used: set[str]) -> str:
    """Name a group: boxes, or what all of its keys stand under, or its first field."""
    words = {last_word(key) for key in members}
    parts = [key.split("/")[:-1] for key in members]
    above = ""
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        above = level[0]
    if len(words & {"xmin", "xmax", "ymin", "ymax"}) > 1:
        name = "boxes"
    elif above:
        plurals = [part for part in parts[0] if part.endswith("s")]
        name = plurals[0] if plurals else f"{above}s"
    else:
        name = _group_name(members)
    number, free = 2, name
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free
