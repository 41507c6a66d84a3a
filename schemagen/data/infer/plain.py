"""Fields that state no more than what a key holds, and those of the steps of a sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...runtime.kinds.registry import KINDS
from ..formatting import plural
from .draft import Draft, Drafts
from .evidence import Evidence, KeyEvidence, StepEvidence
from .lists import is_bool, list_draft, list_facts
from .pictures import broken_images, image_draft, resized
from .raw import raw_draft
from .sizes import items_of
from .sounds import other_sounds
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
    if values.sounds:
        return draft.with_doubts(*other_sounds(values))
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
    guess = values.samples.guess()
    if guess.clear:
        return draft.with_doubts(f"{sizes}: {guess.dtype} numbers, of any shape?")
    return draft.with_notes(sizes)


def step_drafts(evidence: Evidence) -> dict[str, Draft]:
    """Return the fields of feature lists that can have one."""
    drafts = {
        key: _draft(lists)
        for key, lists in evidence.steps.items()
        if not step_problem(evidence, key)
    }
    return _with_groups(drafts, evidence.steps)


def step_problem(evidence: Evidence, key: str) -> str:
    """Say why feature lists can have no field; "" if they can."""
    each = evidence.steps[key].each
    if key in evidence.keys:
        return "a key of the context and of feature lists"
    if not key:
        return "a feature list without a key"
    if not each.longest:
        return "no value in any step"
    if len(each.kinds) > 1:
        return f"steps of several kinds, {' and '.join(sorted(each.kinds))}"
    return ""


def _draft(lists: StepEvidence) -> Draft:
    step = _step(lists.each)
    facts = {"step": KINDS[step.kind](**step.facts)}
    missing = bool((lists.steps < 0).any())
    draft = Draft(lists.key, "Steps", facts, missing, "", step.doubts, step.notes)
    present = lists.steps[lists.steps >= 0]
    low, high = int(present.min()), int(present.max())
    return draft.with_notes(f"{low:,} to {high:,} steps") if low < high else draft


def _step(each: KeyEvidence) -> Draft:
    one_size = each.is_single or (each.is_fixed and each.kind != "bytes")
    if each.missing or not one_size:
        shortest = 0 if each.missing else each.shortest
        lengths = f"{shortest:,} to {each.longest:,} values in a step"
        return Draft(each.key, "VarLen", list_facts(each)).with_notes(lengths)
    image = image_draft(each) if each.is_single else None
    if image is None or each.values.empty:
        return raw_draft(each, {}) or plain_draft(each)
    return resized(image, each.values.all.heights, each.values.all.widths)


def _with_groups(
    drafts: dict[str, Draft], steps: Mapping[str, StepEvidence]
) -> dict[str, Draft]:
    """Return feature lists with groups of those that have equally many steps."""
    found: dict[bytes, list[str]] = {}
    for key in drafts:
        counts = steps[key].steps
        if len(np.unique(counts[counts >= 0])) > 1:
            found.setdefault(counts.tobytes(), []).append(key)
    groups = [members for members in found.values() if len(members) > 1]
    names = {
        key: "steps" if number == 1 else f"steps_{number}"
        for number, members in enumerate(groups, 1)
        for key in members
    }
    return drafts | {
        key: drafts[key].with_facts(group=name) for key, name in names.items()
    }
