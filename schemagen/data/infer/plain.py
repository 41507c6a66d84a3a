"""Fields of single keys that state no more than what each key holds."""

from __future__ import annotations

from typing import Any

from ..formatting import plural
from .draft import Draft, Drafts
from .dtypes import guess_dtype
from .evidence import KeyEvidence
from .lists import is_bool, list_draft
from .pictures import broken_images
from .sizes import items_of
from .values import Contents

_ENOUGH = 20


def plain(drafts: Drafts, data: KeyEvidence) -> Draft:
    """Draft a field of numbers, text, bytes, or a list of them."""
    draft = plain_draft(data)
    if draft.kind != "Vector":
        return draft
    count = data.longest
    _, possible = items_of(data.key, count, drafts.evidence.counts)
    shapes = " or ".join(f"({items}, {count // items})" for items in possible)
    if not shapes:
        return draft
    return draft.with_doubts(
        f"always {count:,} numbers, taken as a row: or of the shape {shapes}?"
    )


def plain_draft(data: KeyEvidence) -> Draft:
    """Return the field that states no more than what one key holds."""
    if data.kind == "bytes":
        return _bytes_draft(data)
    if not data.is_single and not data.is_fixed:
        return list_draft(data)
    facts: dict[str, Any] = {"shape": (data.longest,)} if data.is_fixed else {}
    facts["dtype"] = "float32" if data.kind == "float" else "int64"
    draft = Draft(data.key, "Vector" if data.is_fixed else "Scalar", facts)
    if not data.is_finite:
        return draft.with_facts(finite=False)
    if is_bool(data):
        return draft.with_facts(dtype="bool").with_doubts("only 0 and 1 were seen")
    either = data.kind == "int64" and data.is_binary and data.is_single
    if either and len(data.present) >= _ENOUGH:
        return draft.with_doubts("only 0 and 1 were seen: a bool, or a class?")
    return draft


def _bytes_draft(data: KeyEvidence) -> Draft:
    values = data.values
    if data.is_single and values.text:
        draft = Draft(data.key, "Text")
        if values.most:
            return draft
        return draft.with_doubts("empty in all records: text, or other bytes?")
    opaque = Draft(data.key, "Scalar", {"dtype": "bytes"})
    draft = opaque if data.is_single else list_draft(data)
    if values.images:
        return draft.with_doubts(*broken_images(values))
    return _described(draft, values) if data.is_single else draft


def _described(draft: Draft, values: Contents) -> Draft:
    """Say what opaque bytes could be, by their number and their values."""
    if values.tensors and values.tensors.total() == values.all.count:
        dtypes = " and ".join(sorted({head.dtype for head in values.tensors}))
        ranks = " and ".join(sorted({str(len(head.shape)) for head in values.tensors}))
        return draft.with_doubts(
            f"serialized tensors of {dtypes} with {ranks} dimensions, so no Tensor "
            "can be declared"
        )
    if values.least == values.most:
        return draft.with_doubts(
            f"always {plural(values.most, 'byte')}, no text: what do they hold?"
        )
    sizes = f"{values.least:,} to {values.most:,} bytes, no text"
    guess = guess_dtype(values.samples)
    if guess.clear:
        return draft.with_doubts(f"{sizes}: {guess.dtype} numbers, of any shape?")
    return draft.with_notes(sizes)
