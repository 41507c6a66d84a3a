"""Lists of any length: ragged ones, those of objects, and padded ones."""

from __future__ import annotations

from typing import Any

from ..formatting import plural
from .draft import Draft, Drafts
from .evidence import KeyEvidence
from .words import is_flag, meaning_of, names_object

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
            f"no value in {plural(empty, 'record')}, 1 in the others: a list, or a "
            "value that may be missing?"
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
