"""Groups of lists that are equally long in every record, and lists of their items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

import numpy as np

from ...runtime.codecs.part import BYTES
from ...runtime.reading.columns import Rows
from .draft import Draft, quoted
from .evidence import Evidence
from .naming import Names, Path
from .words import last_word, names_object, says

Fields = Mapping[str, Draft]

_TOKENS = frozenset(("ids", "tokens", "token"))

_LARGEST_ITEM = 1024
_SURE = 5


def with_groups(evidence: Evidence, fields: Fields, names: Names) -> Fields:
    """Return fields with the groups of lists that are equally long.

    Args:
        evidence: all keys.
        fields: the fields, by key.
        names: the models and names of the fields.
    """
    fields, lengths = _with_items(fields, _varying(evidence, fields))
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
        if varies and codec.item_size and codec.length_part.key == key:
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
    elif words & _TOKENS:
        name = "tokens"
    else:
        name = members[0].rpartition("/")[2] or "items"
    number, free = 2, name
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free
